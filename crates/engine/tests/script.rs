//! Scripts, their limits and their traces.

use echomq_engine::{Clock, Config, Engine, Failure, Limits, Reply, Session};

fn engine(limits: Limits) -> (Engine, Session) {
    let clock = Clock::from_unix_ms(1_764_443_000_000);
    let mut engine = Engine::new(Config { limits, clock, ..Config::default() });
    let session = engine.session();
    (engine, session)
}

fn eval(engine: &mut Engine, session: &mut Session, source: &str) -> Result<Reply, Failure> {
    let argv = ["EVAL", source, "2", "k1", "k2", "a1", "a2"];
    engine.call(session, &argv.map(str::as_bytes))
}

#[track_caller]
fn check(source: &str, expected: &str) {
    let (mut engine, mut session) = engine(Limits::default());
    assert_eq!(
        eval(&mut engine, &mut session, source).map(|reply| reply.to_string()),
        Ok(expected.to_owned())
    );
}

/// See the head of the file.
#[test]
fn scripts_are_answered_as_valkey_answers_them() {
    let (mut engine, mut session) = engine(Limits::default());
    let mut count = 0;
    for case in include_str!("scripts/valkey-9.1.txt").split("\n\n").filter(|case| case.starts_with("> ")) {
        let is_source = |line: &&str| line.starts_with("> ") || line.starts_with("| ");
        let source: Vec<&str> = case.lines().take_while(is_source).map(|line| &line[2..]).collect();
        let expected: Vec<&str> = case.lines().skip_while(is_source).collect();
        let source = source.join("\n");
        let reply = eval(&mut engine, &mut session, &source).map(|reply| reply.to_string());
        assert_eq!(reply.as_deref(), Ok(expected.join("\n").as_str()), "{source}");
        count += 1;
    }
    assert!(count > 700, "only {count} cases");
}

/// Numbers as text, over the whole range: recorded from Valkey 8.0.1 and 9.1.2, which agree.
#[test]
fn numbers_print_as_in_5_1() {
    let probe = include_str!("scripts/numbers-probe.lua");
    let (mut engine, mut session) = engine(Limits::default());
    let expected = include_str!("scripts/numbers-probe.expected").trim_end();
    assert_eq!(eval(&mut engine, &mut session, probe), Ok(Reply::bulk(expected)));
}

#[test]
fn random_numbers_are_valkeys() {
    check(
        "return {tostring(math.random()), tostring(math.random()), math.random(10)}",
        "1) \"0.39646477363839\"\n2) \"0.84048536971234\"\n3) (integer) 4",
    );
    check("math.randomseed(42) return tostring(math.random())", "\"0.74452500033403\"");
}

#[test]
fn the_sequence_of_random_numbers_belongs_to_a_snapshot() {
    let (mut engine, mut session) = engine(Limits::default());
    let snapshot = engine.snapshot();
    let first = eval(&mut engine, &mut session, "return tostring(math.random())");
    let second = eval(&mut engine, &mut session, "return tostring(math.random())");
    assert_ne!(first, second);
    engine.restore(&snapshot);
    assert_eq!(eval(&mut engine, &mut session, "return tostring(math.random())"), first);
}

fn small() -> Limits {
    Limits { script_steps: 200_000, lua_memory_bytes: 4 << 20, ..Limits::default() }
}

#[test]
fn endless_scripts_are_stopped_whatever_they_catch() {
    let (mut engine, mut session) = engine(small());
    let fill = "for i = 1, 1000 do redis.call('RPUSH', 'list', i) redis.call('SADD', 'set', 'm' .. i) end \
                redis.call('SET', 'long1', string.rep('a', 1000)) redis.call('SET', 'long2', string.rep('b', 1000))";
    assert!(eval(&mut engine, &mut session, fill).is_ok());
    for source in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do pcall(error) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "while true do coroutine.wrap(function() while true do end end)() end",
        "while true do local c = coroutine.create(function() while true do end end) coroutine.resume(c) end",
        "local t = setmetatable({}, {__index = function(t, k) while true do end end}) return t.x",
        "table.sort({3, 1, 2}, function(a, b) while true do end end)",
        "string.gsub('abc', '.', function() while true do end end)",
        "local function f() return f() end f()",
        "table.insert({}, -1e15, 1)",
        "load(function() return 'x = ' end)",
        "local t = {} for i = 1, 60 do t = {t, t} end return t",
        "local t = {} for i = 1, 60 do t = {t, t} end return cjson.encode(t)",
        "return ('a'):rep(30000):find('.-.-.-.-b')",
        "return ('a'):rep(30000):match('.*.*.*.*b')",
        "return ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40) .. 'b')",
        "return ('('):rep(30000):gsub('%b()', '')",
        "return ('a'):rep(10000):find('[' .. ('b'):rep(10000) .. 'a]*b')",
        "return ('a'):rep(30000):find(('a'):rep(15000) .. 'b', 1, true)",
        "for _ in ('a'):rep(30000):gmatch('(a*)b') do end",
        "pcall(string.find, ('a'):rep(30000), '.-.-.-.-b') return 1",
        "for i = 1, 1e9 do redis.call('LCS', 'long1', 'long2', 'LEN') end",
        "for i = 1, 1e9 do redis.call('LRANGE', 'list', 0, -1) end",
        "for i = 1, 1e9 do redis.call('LPOS', 'list', 'nope') end",
        "for i = 1, 1e9 do redis.call('SORT_RO', 'list', 'LIMIT', 0, 1) end",
        "for i = 1, 1e9 do redis.call('SINTERCARD', 2, 'set', 'set') end",
        "for i = 1, 1e9 do redis.call('GET', 'long1') end",
    ] {
        let result = eval(&mut engine, &mut session, source);
        assert!(matches!(result, Err(Failure::Endless { wrote: false, .. })), "{source}: {result:?}");
        assert_eq!(eval(&mut engine, &mut session, "return 1"), Ok(Reply::Integer(1)));
    }
    let result = eval(&mut engine, &mut session, "redis.call('SET', KEYS[1], 1) while true do end");
    assert!(matches!(result, Err(Failure::Endless { wrote: true, .. })), "{result:?}");
}

#[test]
fn memory_has_a_limit_and_the_next_script_runs() {
    let (mut engine, mut session) = engine(Limits { script_steps: 50_000_000, ..small() });
    for source in [
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "return string.rep('x', 1e8)",
        "return pcall(string.rep, 'x', 1e8)",
        "while true do pcall(function() local s = 'x' while true do s = s .. s end end) end",
        "coroutine.wrap(function() local s = 'x' while true do s = s .. s end end)()",
        "local c = coroutine.create(function() return string.rep('x', 1e8) end) return {coroutine.resume(c)}",
        "local t = {} for i = 1, 1e9 do t[i] = string.rep('x', 1000) .. i end return table.concat(t)",
    ] {
        let result = eval(&mut engine, &mut session, source);
        assert_eq!(result, Err(Failure::Memory { limit_bytes: 4 << 20 }), "{source}");
        assert_eq!(eval(&mut engine, &mut session, "return 1"), Ok(Reply::Integer(1)));
    }
}

#[test]
fn depth_ends_in_an_error() {
    let overflow = "(error) ERR user_script:1: stack overflow script: on @user_script:1.";
    check("local function f() return 1 + f() end return f()", overflow);
    check("local t = {} t[1] = t return #tostring(redis.pcall('SET', t))", "(integer) 21");
    let (mut engine, mut session) = engine(Limits::default());
    let reply =
        eval(&mut engine, &mut session, "local t = {} t[1] = t return t").map(|reply| reply.to_string());
    assert!(reply.is_ok_and(|text| text.ends_with("(error) ERR reached lua stack limit")));
}

#[test]
fn errors_do_not_pile_up() {
    let (mut engine, mut session) = engine(small());
    for source in
        ["error('x')", "return redis.call('NOPE')", "x = 1", "return {}..1", "local function f() f() end f()"]
    {
        for _ in 0..500 {
            assert!(eval(&mut engine, &mut session, source).is_ok_and(|reply| reply.is_error()), "{source}");
        }
    }
}

#[test]
fn a_trace_shows_calls_lines_keys_and_what_was_not_declared() {
    let (mut engine, mut session) = engine(Limits::default());
    engine.set_tracing(true);
    let source = "redis.call('SET', KEYS[1], 'v')\nlocal x = 1\nredis.pcall('GET', 'other')\nreturn redis.call('GET', KEYS[1])";
    assert_eq!(eval(&mut engine, &mut session, source), Ok(Reply::bulk("v")));
    let traces = engine.take_traces();
    let [trace] = traces.as_slice() else { panic!("{traces:?}") };
    assert_eq!(trace.lines, [1, 2, 3, 4]);
    assert_eq!(trace.calls.iter().map(|call| call.line).collect::<Vec<_>>(), [1, 3, 4]);
    assert_eq!(trace.undeclared, [b"other"]);
    assert_eq!(trace.calls[0].argv, [&b"SET"[..], b"k1", b"v"]);
    let change = &trace.calls[0].keys[0];
    assert!(change.write && change.changed() && change.before.is_none());
    assert!(!trace.calls[2].keys[0].changed());
    engine.set_tracing(false);
    assert!(eval(&mut engine, &mut session, source).is_ok());
    assert_eq!(engine.take_traces().len(), 0);
}

#[test]
fn nothing_of_a_run_is_left_for_the_next() {
    let (mut engine, mut session) = engine(Limits::default());
    for source in [
        "x = 1",
        "string.sub = nil",
        "getmetatable('').__index = nil",
        "rawset(_G, 'y', 1)",
        "setmetatable(_G, nil)",
        "table.insert(redis, 1)",
        "redis.call('SELECT', 1) redis.setresp(3)",
    ] {
        assert!(eval(&mut engine, &mut session, source).is_ok());
    }
    let check =
        "return {('abc'):sub(1, 1), type(redis.call('GET', 'none')), tostring(rawget(_G, 'y')), #redis}";
    let reply = eval(&mut engine, &mut session, check).map(|reply| reply.to_string());
    assert_eq!(reply.as_deref(), Ok("1) \"a\"\n2) \"boolean\"\n3) \"nil\"\n4) (integer) 0"));
}
