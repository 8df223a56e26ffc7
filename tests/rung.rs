//! The rung check on both wires, against the transcript that the course quotes.

use echomq_core::{EngineWire, Script, Scripts, Wire, rung};
use emq_verify::server::Server;

/// Transcribed from the course page, so a run that differs is what has to change.
const GOLDEN: &str = include_str!("golden/rung.txt");

/// Not the default of `emq-verify rung`, in case somebody runs it on the same server.
const QUEUE: &str = "lab-tests";

/// Runs `test` on the engine and on every real server; the name says which.
fn on_each_wire(test: impl Fn(&str, &mut dyn Wire)) {
    test("engine", &mut EngineWire::default());
    let servers = Server::all().unwrap();
    assert!(!servers.is_empty());
    for server in servers {
        test(&format!("valkey {}", server.version()), &mut server.connect().unwrap());
    }
}

#[test]
fn the_engine_prints_the_golden_transcript() {
    let mut lines = Vec::new();
    let transcript =
        rung::run(&mut EngineWire::default(), QUEUE, &mut |line| lines.push(line.clone())).unwrap();
    assert_eq!(transcript.to_string(), GOLDEN);
    assert_eq!(lines, transcript.lines, "each line is told once, in order");
}

#[test]
fn every_server_prints_the_golden_transcript() {
    let servers = Server::all().unwrap();
    assert!(!servers.is_empty());
    for server in servers {
        let transcript = rung::run(&mut server.connect().unwrap(), QUEUE, &mut |_| {}).unwrap();
        assert_eq!(transcript.to_string(), GOLDEN, "on valkey {}", server.version());
    }
}

/// A fence without its compare, tokens that never move, a lease that is never given back, leases a thousand times too
/// long, a write before the decision: each is told apart by the same checks on every wire.
#[test]
fn broken_scripts_fail_alike_on_every_wire() {
    let bundled = Scripts::bundled();
    let broken = |script: &Script, from: &str, to: &str| {
        let source = script.source().replace(from, to);
        assert_ne!(source, script.source(), "{} does not hold {from}", script.name());
        Script::new(script.name(), source)
    };
    let bundles = [
        Scripts {
            complete: broken(&bundled.complete, "if att ~= ARGV[2] then", "if false then"),
            ..bundled.clone()
        },
        Scripts {
            claim: broken(&bundled.claim, "redis.call('HINCRBY', row, 'attempts', 1)", "1"),
            ..bundled.clone()
        },
        Scripts {
            claim: broken(&bundled.claim, "now + tonumber(lease)", "now + tonumber(lease) * 1000"),
            ..bundled.clone()
        },
        Scripts {
            complete: broken(&bundled.complete, "redis.call('ZREM', KEYS[1], ARGV[1])", "1"),
            ..bundled.clone()
        },
        Scripts {
            complete: broken(
                &bundled.complete,
                "if not att then return 0 end",
                "if not att then return 0 end redis.call('ZREM', KEYS[1], ARGV[1])",
            ),
            ..bundled.clone()
        },
    ];
    for scripts in &bundles {
        let expected = rung::run_scripts(&mut EngineWire::default(), QUEUE, scripts, &mut |_| {}).unwrap();
        assert!(!expected.passed(), "{expected}");
        let expected = told(&expected);
        on_each_wire(|name, wire| {
            let transcript = rung::run_scripts(wire, QUEUE, scripts, &mut |_| {}).unwrap();
            assert_eq!(told(&transcript), expected, "on {name}");
        });
    }
}

/// Which levels passed, and the first check of the others that did not hold. What a check got instead may hold times
/// and digests, which differ from run to run.
fn told(transcript: &rung::Transcript) -> Vec<(&'static str, Option<String>)> {
    let line =
        |line: &rung::Line| (line.level, line.difference.as_ref().map(|difference| difference.what.clone()));
    transcript.lines.iter().map(line).collect()
}
