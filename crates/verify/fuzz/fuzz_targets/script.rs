//! The loader of scripts: any text compiles or is refused, and what compiles ends within its limits.

#![no_main]

use echomq_engine::{Config, Engine, Limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &[u8]| {
    let limits = Limits { script_steps: 20_000, lua_memory_bytes: 4 << 20, ..Limits::default() };
    let mut engine = Engine::new(Config { limits, ..Config::default() });
    let mut session = engine.session();
    // A failure is a script at its limits; both leave an engine that works.
    let _ = engine.call(&mut session, &[b"SCRIPT", b"LOAD", source]);
    let _ = engine.call(&mut session, &[b"EVAL", source, b"1", b"key", b"argument"]);
    let reply = engine.call(&mut session, &[b"EVAL", b"return 1", b"0"]);
    assert_eq!(reply.map(|reply| reply.to_string()).as_deref(), Ok("(integer) 1"));
});
