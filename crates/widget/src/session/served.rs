//! A run's steps as the lanes of a race show them, and one of them as the parts of a readout do.

use echomq_core::scenario::{Actor, Step, Taken};
use echomq_core::snippet::{Language, shell_word, snippet};
use echomq_core::stage::Act;
use echomq_core::{Call, JobId, Keys, QueueState, Reply, Script};

use super::diff::diff;
use super::listing::Listing;
use super::shown::{Said, Shown, prompt};
use super::staged::Readout;

/// A step in its lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    pub actor: usize,
    pub label: &'static str,
    /// The answer in as few words as can be: the whole of it is in the readout.
    pub brief: String,
    /// Where the job is afterwards and at which attempts: `active 1`, `gone`, and what no job should be: `in no set`.
    pub place: String,
    /// The laws of jobs hold afterwards.
    pub lawful: bool,
}

/// An actor with what it would do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    pub letter: char,
    pub name: &'static str,
    /// `None`: it has finished.
    pub next: Option<&'static str>,
}

impl Served {
    pub fn new(taken: &Taken, act: &Act, job: &JobId) -> Served {
        Served {
            actor: taken.actor,
            label: taken.step.label,
            brief: brief(&act.reply),
            place: place(&act.after, job),
            lawful: act.after.broken_laws().is_empty(),
        }
    }
}

impl Lane {
    pub fn new(actor: &Actor, next: Option<&Step>) -> Lane {
        Lane { letter: actor.letter, name: actor.name, next: next.map(|step| step.label) }
    }
}

/// Where a job is, at which attempts.
pub fn place(state: &QueueState, job: &JobId) -> String {
    match (state.place(job), state.field(job, "attempts")) {
        (Some(set), Some(attempts)) => format!("{} {attempts}", set.state()),
        (Some(set), None) => format!("{}, no row", set.state()),
        (None, Some(_)) => "in no set".to_owned(),
        (None, None) => "gone".to_owned(),
    }
}

/// What the parts draw of one step, or of the queue before the first.
pub fn shown(
    keys: &Keys,
    job: &JobId,
    act: Option<(&Act, Readout)>,
    start: &QueueState,
    clock_ms: u64,
) -> Shown {
    let seen = act.as_ref().map(|(act, _)| *act);
    let (before, state) = seen.map_or((start, start), |act| (&act.before, &act.after));
    let clock_ms = seen.map_or(clock_ms, |act| act.clock_ms);
    let field = |name| state.field(job, name).unwrap_or_default().to_owned();
    let script = seen.and_then(|act| act.script);
    Shown {
        said: act.map(|(act, readout)| Said {
            prompt: sent(act, job),
            refused: act.reply.is_error(),
            readout,
        }),
        listing: script.map(|script| Listing::new(script, seen)).unwrap_or_default(),
        keys: diff(keys, before, state, clock_ms),
        place: match state.place(job) {
            Some(set) => set.name(),
            None if state.rows.contains_key(job) => "nowhere",
            None => "gone",
        },
        state: field("state"),
        attempts: field("attempts"),
        argv: seen.map(|act| act.argv.clone()).unwrap_or_default(),
        ..Shown::default()
    }
}

/// What a reader types first, for a server of their own: the scripts, then the calls that set the scene.
pub fn typed_first(scene: &[Call<'static>], later: &[&Script]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for script in scene.iter().map(|call| call.script).chain(later.iter().copied()) {
        let line = format!("valkey-cli -x SCRIPT LOAD < {}.lua", script.name());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.extend(scene.iter().map(|call| snippet(Language::Shell, &call.evalsha())));
    lines
}

/// A number as people read it: `5,000`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let comma = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
    digits
        .chars()
        .enumerate()
        .flat_map(|(at, digit)| comma(at).then_some(',').into_iter().chain([digit]))
        .collect()
}

/// An act in short: a script as `@complete JOB… 1`, a plain command as it was sent.
fn sent(act: &Act, job: &JobId) -> String {
    if act.script.is_some() {
        return prompt(act, job);
    }
    let word = |word: &Vec<u8>| shell_word(&String::from_utf8_lossy(word));
    act.argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// An error's class, an array's last line, and else the whole answer.
fn brief(reply: &Reply) -> String {
    let text = reply.to_string();
    match reply {
        Reply::Error(_) => {
            let class = reply.error_class().map(String::from_utf8_lossy);
            format!("(error) {}", class.unwrap_or_default())
        }
        Reply::Array(_) => {
            let last = text.lines().last().unwrap_or_default().trim();
            if text.lines().count() > 1 { format!("… {last}") } else { last.to_owned() }
        }
        _ => text,
    }
}
