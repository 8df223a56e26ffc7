//! The scripts as text: pinned digests, and what the course quotes of them.

use echomq_core::Scripts;

/// `sha1sum *.lua` in `lua/`.
const PINNED: &str = include_str!("../../../lua/SHA1SUMS");

/// What the course pages quote, line by line and without their remarks.
const QUOTED: [(&str, &[&str]); 2] = [
    (
        "complete",
        &[
            "local att = redis.call('HGET', KEYS[2], 'attempts')",
            "if not att then return 0 end",
            "if att ~= ARGV[2] then",
            "return redis.error_reply('EMQSTALE complete token mismatch')",
            "end",
            "local was_active = redis.call('ZREM', KEYS[1], ARGV[1])",
            "redis.call('DEL', KEYS[2])",
        ],
    ),
    (
        "retry",
        &[
            "if att ~= ARGV[2] then",
            "return redis.error_reply('EMQSTALE retry token mismatch')",
            "end",
            "if tonumber(att) >= tonumber(ARGV[4]) then",
            "redis.call('HSET', KEYS[4], 'state', 'dead')",
            "redis.call('ZADD', KEYS[3], 0, ARGV[1])",
            "return 'dead'",
            "end",
            "redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), ARGV[1])",
        ],
    ),
];

#[test]
fn the_digests_are_the_pinned_ones() {
    let mut lines: Vec<String> = Scripts::bundled()
        .all()
        .iter()
        .map(|script| format!("{}  {}.lua\n", script.sha(), script.name()))
        .collect();
    lines.sort_by_key(|line| line.split_once("  ").map(|(_, file)| file.to_owned()));
    assert_eq!(lines.concat(), PINNED, "after a change of lua/: (cd lua && sha1sum *.lua > SHA1SUMS)");
}

#[test]
fn what_the_course_quotes_stands_in_one_piece() {
    for (name, quoted) in QUOTED {
        let script = Scripts::bundled().all().into_iter().find(|script| script.name() == name).unwrap();
        let lines: Vec<&str> = script.source().lines().map(str::trim).collect();
        assert!(
            lines.windows(quoted.len()).any(|window| window == quoted),
            "{name}.lua no longer holds, in one piece:\n{}",
            quoted.join("\n")
        );
    }
}

/// Headers are the contract's short form: each key and argument that a script uses stands in its header, and each
/// header entry is used or counted.
#[test]
fn headers_list_every_key_and_argument() {
    for script in Scripts::bundled().all() {
        let (header, body) = script.source().split_once("\n\n").unwrap();
        assert!(header.starts_with(&format!("-- {}: ", script.name())), "{}", script.name());
        for kind in ["KEYS", "ARGV"] {
            let listed = (1..9).filter(|at| header.contains(&format!("-- {kind}[{at}] "))).count();
            let counted = format!("#{kind} ~= {listed}");
            assert!(body.contains(&counted), "{}: the header lists {listed} {kind}", script.name());
            for at in 1..9 {
                let used = body.contains(&format!("{kind}[{at}]"));
                assert!(!used || at <= listed, "{}: {kind}[{at}] is not in the header", script.name());
            }
        }
    }
}

/// A reader of a page can count on it: a refusal names its class, its script, and leads with the class.
#[test]
fn refusals_lead_with_a_class_and_name_their_script() {
    for script in Scripts::bundled().all() {
        for refusal in script.source().split("redis.error_reply('").skip(1) {
            let mut words = refusal.split(' ');
            let class = words.next().unwrap_or_default();
            assert!(["EMQSTALE", "EMQKIND", "EMQARG"].contains(&class), "{}: {class}", script.name());
            assert_eq!(words.next(), Some(script.name()));
        }
    }
}
