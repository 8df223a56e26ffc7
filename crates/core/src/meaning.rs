//! What an answer means, in one sentence: read off the answer and the queue before and after it.
//!
//! The sentences say what is there to see, in the words of the course: the states, tokens and counts in them come
//! from the wire.

use echomq_engine::Reply;

use crate::id::JobId;
use crate::queue::Set;
use crate::stage::Act;
use crate::state::QueueState;

/// One sentence about a script's answer. `job` is the one that the act is about. Plain commands have none.
pub fn meaning(act: &Act, job: &JobId) -> Option<String> {
    let script = act.script?;
    if let Reply::Error(text) = &act.reply {
        return Some(refused(act, job, text));
    }
    Some(match script.name() {
        "enqueue" => enqueued(&act.reply),
        "claim" => claimed(act, job),
        "complete" => completed(act, job),
        "retry" => retried(act, job),
        "promote" => moved(
            &act.reply,
            "due job",
            "moved back to pending",
            "Nothing is due: the schedule keeps what it holds.",
        ),
        "reap" => moved(
            &act.reply,
            "orphan",
            "returned to pending",
            "No lease has run out: active keeps what it holds.",
        ),
        _ => return None,
    })
}

fn refused(act: &Act, job: &JobId, text: &[u8]) -> String {
    if act.before != act.after {
        return "The call was refused, and yet something changed.".to_owned();
    }
    if !text.starts_with(b"EMQSTALE ") {
        return "The call is malformed, and was refused before anything was written.".to_owned();
    }
    let attempts = act.before.field(job, "attempts").unwrap_or("nothing");
    let survives = match act.before.place(job) {
        Some(Set::Active) => "the row stays active, the lease holder's work survives the zombie's".to_owned(),
        Some(set) => format!("the row stays {}, the job is untouched by", set.state()),
        None => "the job is untouched by".to_owned(),
    };
    let verb = act.script.map_or("call", |script| script.name());
    format!(
        "Token {} against attempts {attempts}: mismatch, {survives} {verb}.",
        act.arg(2).unwrap_or_default()
    )
}

fn enqueued(reply: &Reply) -> String {
    match reply {
        Reply::Integer(1) => "The job waits in pending, attempts 0.",
        _ => "A row of this id exists already: nothing changed.",
    }
    .to_owned()
}

fn claimed(act: &Act, job: &JobId) -> String {
    let Reply::Array(_) = &act.reply else { return "Nothing is pending.".to_owned() };
    let token = act.after.field(job, "attempts").unwrap_or_default();
    let state = act.after.field(job, "state").unwrap_or_default();
    match token.parse::<u64>() {
        Ok(1) => format!("Token 1 minted, state {state} — the first life."),
        Ok(n) => format!(
            "HINCRBY mints token {n}, state {state} — the {} life, fenced against the {}.",
            ordinal(n),
            ordinal(n - 1)
        ),
        Err(_) => format!("Another job was older; this one's state is {state}."),
    }
}

fn completed(act: &Act, job: &JobId) -> String {
    if act.reply == Reply::Integer(0) {
        return "Gone: the row was already retired, and at-least-once semantics promised exactly this possibility.".to_owned();
    }
    let token = act.arg(2).unwrap_or_default();
    let attempts = act.before.field(job, "attempts").unwrap_or_default();
    let late = match act.before.place(job) {
        Some(Set::Active) | None => String::new(),
        Some(set) => format!(" The job had left active for {}; it leaves that too.", set.name()),
    };
    let remains = if remains(&act.after, job) { "but something remains" } else { "nothing remains" };
    format!(
        "Token {token} matches attempts {attempts}: the verify passes and the row retires — {remains}.{late}"
    )
}

fn retried(act: &Act, job: &JobId) -> String {
    if act.reply == Reply::Integer(0) {
        return "Gone: the row was already retired; there is nothing left to retry.".to_owned();
    }
    let state = act.after.field(job, "state").unwrap_or_default();
    let attempts = act.before.field(job, "attempts").unwrap_or_default();
    let max = act.arg(4).unwrap_or_default();
    match act.after.place(job) {
        Some(Set::Dead) => {
            let error = act.after.field(job, "last_error").unwrap_or_default();
            let failed = act.after.failed;
            format!(
                "Attempts {attempts} against max {max}: state {state}, last_error {error:?} kept, metrics:failed {failed}."
            )
        }
        _ => {
            let pending = if act.after.pending.is_empty() {
                "pending empty".to_owned()
            } else {
                format!("{} pending", act.after.pending.len())
            };
            let delay = act.arg(3).unwrap_or_default();
            format!(
                "The verify passes, attempts {attempts} is below max {max}: the job parks in the schedule (state {state}, {pending}), due in {delay} ms."
            )
        }
    }
}

fn moved(reply: &Reply, what: &str, how: &str, none: &str) -> String {
    match reply {
        Reply::Integer(1) => format!("One {what} {how}."),
        Reply::Integer(n) if *n > 1 => format!("{n} {what}s {how}."),
        _ => none.to_owned(),
    }
}

fn remains(state: &QueueState, job: &JobId) -> bool {
    state.rows.contains_key(job) || state.place(job).is_some()
}

fn ordinal(n: u64) -> String {
    match n {
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        n => {
            let suffix = match (n % 10, n % 100) {
                (1, tens) if tens != 11 => "st",
                (2, tens) if tens != 12 => "nd",
                (3, tens) if tens != 13 => "rd",
                _ => "th",
            };
            format!("{n}{suffix}")
        }
    }
}
