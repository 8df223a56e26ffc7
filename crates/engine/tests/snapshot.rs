//! Going back in time: a snapshot is exact, whatever happens after it, and cheap copies never leak writes.

use std::time::Duration;

use echomq_engine::{Clock, Config, Engine, Session};
use proptest::prelude::*;

/// Writes of every type on few keys, so that they meet.
const CALLS: &[&str] = &[
    "SET a 1",
    "SET a 2 PX 50",
    "APPEND a x",
    "INCR n",
    "HSET h f 1 g 2",
    "HINCRBY h f 3",
    "HPEXPIRE h 50 FIELDS 2 f g",
    "HDEL h f g",
    "ZADD z 1 m 2 n",
    "ZINCRBY z 5 m",
    "ZPOPMIN z",
    "SADD s 1 2 x",
    "SPOP s",
    "RPUSH l a b c",
    "LPOP l",
    "LMOVE l k LEFT RIGHT",
    "RENAME h k",
    "COPY z y",
    "EXPIRE z 1",
    "DEL a h",
    "FLUSHDB",
    "SWAPDB 0 1",
];

fn call(engine: &mut Engine, session: &mut Session, line: &str) -> String {
    let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    engine.call(session, &argv).unwrap().to_string()
}

/// Everything that a client can see.
fn dump(engine: &mut Engine, session: &mut Session) -> Vec<String> {
    let reads = ["GET a", "GET n", "HGETALL h", "HGETALL k", "LRANGE k 0 -1", "LRANGE l 0 -1", "SMEMBERS s"];
    let scores =
        ["ZRANGE z 0 -1 WITHSCORES", "ZRANGE y 0 -1 WITHSCORES", "TIME", "INFO keyspace", "PTTL z", "PTTL a"];
    let mut seen = Vec::new();
    for db in ["SELECT 1", "SELECT 0"] {
        call(engine, session, db);
        seen.extend(["KEYS *"].iter().chain(&reads).chain(&scores).map(|line| call(engine, session, line)));
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_snapshot_is_exact(
        before in proptest::collection::vec(0..CALLS.len(), 0..30),
        after in proptest::collection::vec(0..CALLS.len(), 1..30),
    ) {
        let clock = Clock::from_unix_ms(1_750_000_000_000);
        let mut engine = Engine::new(Config { clock, ..Config::default() });
        let mut session = engine.session();
        let mut run = |engine: &mut Engine, calls: &[usize]| -> Vec<String> {
            let step = |&at: &usize| {
                engine.advance(Duration::from_millis(10));
                call(engine, &mut session, CALLS[at])
            };
            calls.iter().map(step).collect()
        };
        run(&mut engine, &before);
        let snapshot = engine.snapshot();
        let mut reader = engine.session();
        let seen = dump(&mut engine, &mut reader);
        let replies = run(&mut engine, &after);

        engine.restore(&snapshot);
        prop_assert_eq!(dump(&mut engine, &mut reader), seen.clone());
        // The same calls from there get the same answers, also those that choose at random.
        prop_assert_eq!(run(&mut engine, &after), replies);
        engine.restore(&snapshot);
        prop_assert_eq!(dump(&mut engine, &mut reader), seen);
    }
}
