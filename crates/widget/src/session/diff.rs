//! A queue before and after an act, key by key: what is new, what is gone, what stayed.

use echomq_core::state::Member;
use echomq_core::{JobId, Keys, QueueState, Set};

/// One key that held or holds something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDiff {
    pub key: String,
    /// Valkey's word for its type.
    pub kind: &'static str,
    pub entries: Vec<Entry>,
}

/// A field of a row, a member of a set, or the value of a counter. A change is a removal and an addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub sign: Sign,
    pub name: String,
    pub value: String,
    /// What the value is at the server's clock; empty where there is nothing to say.
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Kept,
    Added,
    Removed,
}

/// The keys of the queue: rows first, then the sets, then the counters. `clock_ms` is the server's clock afterwards.
pub fn diff(keys: &Keys, before: &QueueState, after: &QueueState, clock_ms: u64) -> Vec<KeyDiff> {
    let mut changed = Vec::new();
    let mut add = |key, kind, entries: Vec<Entry>| {
        if !entries.is_empty() {
            changed.push(KeyDiff { key, kind, entries });
        }
    };
    let mut ids: Vec<JobId> = before.rows.keys().copied().collect();
    for id in after.rows.keys() {
        if let Err(place) = ids.binary_search(id) {
            ids.insert(place, *id);
        }
    }
    for id in &ids {
        let entries = entries(pairs(before.rows.get(id)), pairs(after.rows.get(id)), &|_| String::new());
        add(keys.row(id), "hash", entries);
    }
    for set in Set::ALL {
        let note = |score: &str| at_the_clock(set, score, clock_ms);
        add(set.key(keys), "zset", entries(members(before.set(set)), members(after.set(set)), &note));
    }
    for (key, before, after) in
        [(keys.completed(), before.completed, after.completed), (keys.failed(), before.failed, after.failed)]
    {
        add(key, "counter", entries(count(before), count(after), &|_| String::new()));
    }
    changed
}

/// How far a time is from the clock: `in 30 s`, `now`, `40 ms ago`.
pub fn relative(at_ms: u64, clock_ms: u64) -> String {
    let span = |ms: u64| match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 if ms.is_multiple_of(1_000) => format!("{} s", ms / 1_000),
        1_000..120_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min", ms / 60_000),
    };
    match at_ms.cmp(&clock_ms) {
        std::cmp::Ordering::Greater => format!("in {}", span(at_ms - clock_ms)),
        std::cmp::Ordering::Equal => "now".to_owned(),
        std::cmp::Ordering::Less => format!("{} ago", span(clock_ms - at_ms)),
    }
}

fn at_the_clock(set: Set, score: &str, clock_ms: u64) -> String {
    let what = match set {
        Set::Active => "lease ends",
        Set::Schedule => "due",
        Set::Pending | Set::Dead => return String::new(),
    };
    score.parse().map_or_else(|_| String::new(), |at| format!("{what} {}", relative(at, clock_ms)))
}

/// In the order of what is there now; what was removed stands where its successor does, else at the end.
fn entries(
    before: Vec<(&str, String)>,
    after: Vec<(&str, String)>,
    note: &dyn Fn(&str) -> String,
) -> Vec<Entry> {
    let entry = |sign, (name, value): &(&str, String)| Entry {
        sign,
        name: (*name).to_owned(),
        value: value.clone(),
        note: note(value),
    };
    let mut lines = Vec::new();
    for new in &after {
        match before.iter().find(|old| old.0 == new.0) {
            Some(old) if old == new => lines.push(entry(Sign::Kept, new)),
            old => {
                lines.extend(old.map(|old| entry(Sign::Removed, old)));
                lines.push(entry(Sign::Added, new));
            }
        }
    }
    let gone = before.iter().filter(|old| after.iter().all(|new| new.0 != old.0));
    lines.extend(gone.map(|old| entry(Sign::Removed, old)));
    lines
}

fn pairs(row: Option<&Vec<(String, String)>>) -> Vec<(&str, String)> {
    row.into_iter().flatten().map(|(name, value)| (name.as_str(), value.clone())).collect()
}

fn members(set: &[Member]) -> Vec<(&str, String)> {
    set.iter().map(|member| (member.id.as_str(), member.score.clone())).collect()
}

fn count(n: u64) -> Vec<(&'static str, String)> {
    if n == 0 { Vec::new() } else { vec![("", n.to_string())] }
}

#[cfg(test)]
mod tests {
    use echomq_core::{EngineWire, Wire};

    use super::{Sign, diff, relative};
    use crate::session::present::{Present, Verb};

    fn lines(verb: Verb, token: &str) -> Vec<String> {
        let wire: Box<dyn Wire> = Box::new(EngineWire::default());
        let mut session = Present::new(wire, "page", 1, verb).unwrap();
        session.press(token).unwrap();
        let staged = session.staged();
        let act = staged.last().unwrap();
        let keys = diff(staged.queue().keys(), &act.before, &act.after, act.clock_ms);
        let id = staged.job().to_string();
        let line = |key: &str, entry: &super::Entry| {
            let sign = match entry.sign {
                Sign::Kept => ' ',
                Sign::Added => '+',
                Sign::Removed => '-',
            };
            format!("{sign} {key} {} {} {}", entry.name, entry.value, entry.note)
                .trim_end()
                .replace(&id, "JOB…")
                // Every scene starts when the engine's clock does; only the distances matter here.
                .replace(&EngineWire::START.unix_ms().to_string()[..8], "T")
        };
        keys.iter().flat_map(|key| key.entries.iter().map(|entry| line(&key.key, entry))).collect()
    }

    #[test]
    fn a_refusal_changes_nothing() {
        let lines = lines(Verb::Complete, "99");
        assert!(lines.iter().all(|line| line.starts_with("  ")), "{lines:#?}");
        let active = "  emq:{page}:active JOB… T30000 lease ends in 30 s";
        assert!(lines.iter().any(|line| line == active), "{lines:#?}");
    }

    #[test]
    fn a_retired_job_leaves_its_counter() {
        let lines = lines(Verb::Complete, "1");
        let kept: Vec<_> = lines.iter().filter(|line| !line.starts_with('-')).collect();
        assert_eq!(kept, ["+ emq:{page}:metrics:completed  1"], "{lines:#?}");
    }

    #[test]
    fn a_retry_changes_the_state_and_the_set() {
        let word = str::to_owned;
        let verb = Verb::Retry { delay_ms: word("5000"), max_attempts: word("3"), error: word("no") };
        let lines = lines(verb, "1");
        for line in [
            "- emq:{page}:job:JOB… state active",
            "+ emq:{page}:job:JOB… state scheduled",
            "+ emq:{page}:job:JOB… last_error no",
            "- emq:{page}:active JOB… T30000 lease ends in 30 s",
            "+ emq:{page}:schedule JOB… T05000 due in 5 s",
        ] {
            assert!(lines.iter().any(|has| has == line), "{line:?} is not in {lines:#?}");
        }
    }

    #[test]
    fn times_are_told_from_the_clock() {
        for (at, told) in [
            (100_000, "now"),
            (130_000, "in 30 s"),
            (101_500, "in 1.5 s"),
            (99_960, "40 ms ago"),
            (700_000, "in 10 min"),
        ] {
            assert_eq!(relative(at, 100_000), told);
        }
    }
}
