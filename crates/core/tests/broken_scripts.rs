//! The rung check can fail: each script broken on purpose is caught, and this says by which level.

use echomq_core::{EngineWire, Script, Scripts, rung};

/// One way to break one script: the text that goes, and what comes in its place.
struct Break {
    what: &'static str,
    script: &'static str,
    from: &'static str,
    to: &'static str,
    /// The levels that fail.
    caught_by: &'static [&'static str],
}

#[track_caller]
fn check(broken: &Break) {
    let scripts = broken_bundle(broken);
    let mut wire = EngineWire::default();
    let transcript = rung::run_scripts(&mut wire, "broken", &scripts, &mut |_| {}).unwrap();
    let caught: Vec<&str> =
        transcript.lines.iter().filter(|line| !line.passed()).map(|line| line.level).collect();
    assert_eq!(caught, broken.caught_by, "{} in {}:\n{transcript}", broken.what, broken.script);
    assert!(transcript.verdict().starts_with("FAIL "));
}

fn broken_bundle(broken: &Break) -> Scripts {
    let mut scripts = Scripts::bundled().clone();
    let slot = match broken.script {
        "enqueue" => &mut scripts.enqueue,
        "claim" => &mut scripts.claim,
        "complete" => &mut scripts.complete,
        "retry" => &mut scripts.retry,
        "promote" => &mut scripts.promote,
        "reap" => &mut scripts.reap,
        "browse" => &mut scripts.browse,
        "pending_size" => &mut scripts.pending_size,
        other => panic!("no script {other}"),
    };
    let source = slot.source().replace(broken.from, broken.to);
    assert_ne!(source, slot.source(), "{}: the text to break is not in {}", broken.what, broken.script);
    *slot = Script::new(slot.name(), source);
    scripts
}

macro_rules! breaks {
    ($($test:ident: $script:literal, $from:literal => $to:literal, caught by $levels:expr;)*) => {
        $(#[test]
        fn $test() {
            check(&Break {
                what: stringify!($test),
                script: $script,
                from: $from,
                to: $to,
                caught_by: &$levels,
            });
        })*
    };
}

breaks! {
    complete_without_the_compare: "complete", "if att ~= ARGV[2] then" => "if false then",
        caught by ["L3", "L4", "L6"];
    retry_without_the_compare: "retry", "if att ~= ARGV[2] then" => "if false then",
        caught by ["L3"];
    complete_that_compares_numbers: "complete", "if att ~= ARGV[2] then" => "if tonumber(att) ~= tonumber(ARGV[2]) then",
        caught by ["L3"];
    complete_that_writes_before_it_decides: "complete",
        "if not att then return 0 end" => "if not att then return 0 end redis.call('ZREM', KEYS[1], ARGV[1])",
        caught by ["L3"];
    complete_that_takes_token_0: "complete", "if ARGV[2] == '0' and" => "if false and",
        caught by ["L1"];
    complete_that_leaves_the_lease: "complete", "redis.call('ZREM', KEYS[1], ARGV[1])" => "1",
        caught by ["L2", "L3", "L6"];
    complete_that_leaves_the_row: "complete", "redis.call('DEL', KEYS[2])" => "",
        caught by ["L2", "L3", "L6"];
    complete_that_forgets_pending: "complete", "redis.call('ZREM', KEYS[3], ARGV[1])" => "",
        caught by ["L6"];
    complete_that_counts_nothing: "complete", "redis.call('INCR', KEYS[6])" => "",
        caught by ["L2"];
    claim_that_mints_nothing: "claim", "redis.call('HINCRBY', row, 'attempts', 1)" => "1",
        caught by ["L2", "L3", "L4", "L5", "L6"];
    claim_that_leaves_pending: "claim", "    redis.call('ZREM', KEYS[1], id)\n    return" => "    return",
        caught by ["L2", "L6"];
    claim_that_hands_out_the_youngest: "claim", "'ZRANGE', KEYS[1], 0, 0" => "'ZRANGE', KEYS[1], -1, -1",
        caught by ["L2"];
    claim_with_the_lease_a_second_long: "claim", "now + tonumber(lease)" => "now + tonumber(lease) + 1000",
        caught by ["L2", "L6"];
    claim_with_the_lease_off_by_1000: "claim", "now + tonumber(lease)" => "now + tonumber(lease) * 1000",
        caught by ["L2", "L6"];
    claim_with_the_lease_in_seconds: "claim", "local now = time[1] * 1000" => "local now = time[1]",
        caught by ["L2", "L6"];
    claim_that_sets_no_state: "claim", "redis.call('HSET', row, 'state', 'active')" => "",
        caught by ["L2"];
    claim_that_takes_any_lease: "claim", "not string.find(lease, '^[1-9][0-9]*$')" => "false",
        caught by ["L1"];
    retry_that_leaves_the_lease: "retry", "redis.call('ZREM', KEYS[1], ARGV[1])" => "",
        caught by ["L4", "L5"];
    retry_that_leaves_pending: "retry", "redis.call('ZREM', KEYS[5], ARGV[1])" => "",
        caught by ["L6"];
    retry_without_a_delay: "retry", "now + tonumber(ARGV[3])" => "now",
        caught by ["L4"];
    retry_that_buries_too_late: "retry", "tonumber(att) >= tonumber(ARGV[4])" => "tonumber(att) > tonumber(ARGV[4])",
        caught by ["L5"];
    retry_that_forgets_why: "retry", "redis.call('HSET', KEYS[4], 'last_error', ARGV[5])" => "",
        caught by ["L4", "L5"];
    retry_that_counts_nothing: "retry", "redis.call('INCR', KEYS[6])" => "",
        caught by ["L5"];
    retry_that_counts_twice: "retry", "== 'dead' then return 'dead' end" => "== 'dead' then end",
        caught by ["L5"];
    retry_that_swaps_schedule_and_dead: "retry",
        "redis.call('ZADD', KEYS[3], 0, ARGV[1])" => "redis.call('ZADD', KEYS[2], 0, ARGV[1])",
        caught by ["L5"];
    promote_before_the_time: "promote", "'-inf', now," => "'-inf', '+inf',",
        caught by ["L4"];
    promote_past_its_limit: "promote", "limit - moved)" => "1000)",
        caught by ["L4"];
    promote_that_leaves_the_schedule: "promote", "redis.call('ZREM', KEYS[1], id)" => "",
        caught by ["L4", "L5"];
    promote_that_sets_no_state: "promote", "redis.call('HSET', row, 'state', 'pending')" => "",
        caught by ["L4"];
    reap_before_the_deadline: "reap", "'-inf', now," => "'-inf', '+inf',",
        caught by ["L6"];
    reap_past_its_limit: "reap", "limit - moved)" => "1000)",
        caught by ["L6"];
    reap_that_moves_the_token: "reap",
        "redis.call('HSET', row, 'state', 'pending')" =>
        "redis.call('HSET', row, 'state', 'pending') redis.call('HINCRBY', row, 'attempts', 1)",
        caught by ["L6"];
    reap_that_loses_the_job: "reap", "redis.call('ZADD', KEYS[2], 0, id)" => "",
        caught by ["L6"];
    enqueue_that_takes_any_kind: "enqueue", "not string.find(id, '^JOB[0-9A-Za-z]+$')" => "false",
        caught by ["L1"];
    enqueue_that_overwrites: "enqueue", "if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end" => "",
        caught by ["L1"];
    browse_by_arrival: "browse", "redis.call('ZRANGE', KEYS[1], first, last)" => "redis.call('ZREVRANGE', KEYS[1], first, last)",
        caught by ["L2", "L4", "L5", "L6"];
    browse_by_deadline: "browse", "if highest and highest ~= '0' then" => "if false then",
        caught by ["L6"];
    browse_of_everything: "browse", "redis.call('ZRANGE', KEYS[1], first, last)" => "redis.call('ZRANGE', KEYS[1], 0, -1)",
        caught by ["L2"];
    pending_size_off_by_one: "pending_size", "return redis.call('ZCARD', KEYS[1])" => "return redis.call('ZCARD', KEYS[1]) + 1",
        caught by ["L1", "L2"];
}
