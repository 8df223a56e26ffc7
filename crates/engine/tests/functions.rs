//! Libraries of functions beside snapshots, limits and traces; what they answer is in `tests/cases/functions.toml`.

use echomq_engine::{Clock, Config, Engine, Failure, Limits, Reply, Session};

const COUNTER: &str =
    "#!lua name=counter\nlocal n = 0\nredis.register_function('count', function() n = n + 1 return n end)";

fn engine() -> (Engine, Session) {
    let limits = Limits { script_steps: 1_000_000, lua_memory_bytes: 8 << 20, ..Limits::default() };
    let clock = Clock::from_unix_ms(1_764_443_000_000);
    let mut engine = Engine::new(Config { limits, clock, ..Config::default() });
    let session = engine.session();
    (engine, session)
}

fn call(engine: &mut Engine, session: &mut Session, argv: &[&str]) -> Result<Reply, Failure> {
    let argv: Vec<&[u8]> = argv.iter().map(|arg| arg.as_bytes()).collect();
    engine.call(session, &argv)
}

#[track_caller]
fn check(engine: &mut Engine, session: &mut Session, argv: &[&str], expected: &str) {
    assert_eq!(
        call(engine, session, argv).map(|reply| reply.to_string()),
        Ok(expected.to_owned()),
        "{argv:?}"
    );
}

#[test]
fn libraries_belong_to_a_snapshot_and_their_locals_do_not() {
    let (mut engine, mut session) = engine();
    let empty = engine.snapshot();
    check(&mut engine, &mut session, &["FUNCTION", "LOAD", COUNTER], "\"counter\"");
    check(&mut engine, &mut session, &["FCALL", "count", "0"], "(integer) 1");
    let loaded = engine.snapshot();
    check(&mut engine, &mut session, &["FCALL", "count", "0"], "(integer) 2");
    engine.restore(&empty);
    check(&mut engine, &mut session, &["FCALL", "count", "0"], "(error) ERR Function not found");
    engine.restore(&loaded);
    check(&mut engine, &mut session, &["FCALL", "count", "0"], "(integer) 3");
    // An engine that never ran the source runs it when it first needs it.
    let mut other = Engine::new(Config::default());
    let mut session = other.session();
    other.restore(&loaded);
    check(&mut other, &mut session, &["FCALL", "count", "0"], "(integer) 1");
}

#[test]
fn a_library_that_is_loaded_again_begins_again() {
    let (mut engine, mut session) = engine();
    for _ in 0..3 {
        check(&mut engine, &mut session, &["FUNCTION", "LOAD", "REPLACE", COUNTER], "\"counter\"");
        check(&mut engine, &mut session, &["FCALL", "count", "0"], "(integer) 1");
        check(&mut engine, &mut session, &["FCALL", "count", "0"], "(integer) 2");
    }
}

#[test]
fn an_endless_function_is_stopped_and_the_next_call_works() {
    let (mut engine, mut session) = engine();
    let source = "#!lua name=x\nredis.register_function('endless', function() while true do end end)\n\
                  redis.register_function('large', function() return string.rep('x', 1e8) end)";
    check(&mut engine, &mut session, &["FUNCTION", "LOAD", source], "\"x\"");
    check(&mut engine, &mut session, &["FUNCTION", "LOAD", COUNTER], "\"counter\"");
    for name in ["endless", "large"] {
        let result = call(&mut engine, &mut session, &["FCALL", name, "0"]);
        let stopped = matches!(result, Err(Failure::Endless { .. } | Failure::Memory { .. }));
        assert!(stopped, "{name}: {result:?}");
        check(&mut engine, &mut session, &["EVAL", "return #KEYS", "0"], "(integer) 0");
    }
    check(&mut engine, &mut session, &["FCALL", "count", "0"], "(integer) 1");
}

/// 9.1.2 ends with a crash of the server here.
#[test]
fn a_library_may_log_while_it_loads() {
    let (mut engine, mut session) = engine();
    let source = "#!lua name=x\nredis.log(redis.LOG_NOTICE, 'x') redis.register_function('f', function() return 1 end)";
    check(&mut engine, &mut session, &["FUNCTION", "LOAD", source], "\"x\"");
}

#[test]
fn thousands_of_libraries_leave_nothing() {
    let (mut engine, mut session) = engine();
    let filler = "x".repeat(20_000);
    let source = format!(
        "{COUNTER}\nlocal filler = '{filler}'\nredis.register_function('f', function() return #filler end)"
    );
    for _ in 0..1000 {
        check(&mut engine, &mut session, &["FUNCTION", "LOAD", "REPLACE", &source], "\"counter\"");
    }
    check(&mut engine, &mut session, &["FCALL", "f", "0"], "(integer) 20000");
}

#[test]
fn a_trace_shows_what_a_function_called() {
    let (mut engine, mut session) = engine();
    let source = "#!lua name=x\nredis.register_function('set', function(keys, args)\n\
                  return redis.call('SET', keys[1], args[1])\nend)";
    check(&mut engine, &mut session, &["FUNCTION", "LOAD", source], "\"x\"");
    engine.set_tracing(true);
    check(&mut engine, &mut session, &["FCALL", "set", "1", "k", "v"], "OK");
    let traces = engine.take_traces();
    let [trace] = traces.as_slice() else { panic!("{traces:?}") };
    assert_eq!((trace.sha.as_str(), trace.lines.as_slice()), ("set", [3].as_slice()));
    assert_eq!(trace.keys, [b"k"]);
    assert_eq!(trace.calls[0].argv, [&b"SET"[..], b"k", b"v"]);
}
