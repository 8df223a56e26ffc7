//! What a race comes to, in sentences in the words of the course. Each is read off the order of the steps and what
//! they were answered, so that the same run is told the same way on every wire.

use echomq_engine::Reply;

use super::{Completion, Handled, NEXT_WORKER, REAPER, Race, TOKEN, WORKER};
use crate::meaning::meaning;
use crate::queue::Set;
use crate::scenario::{Run, Scenario};
use crate::stage::Act;

impl Handled {
    pub const ALL: [Handled; 3] = [Handled::Once, Handled::Twice, Handled::Never];

    /// One word, for events and styles.
    pub fn name(self) -> &'static str {
        match self {
            Handled::Once => "once",
            Handled::Twice => "twice",
            Handled::Never => "lost",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Handled::Once => "handled once",
            Handled::Twice => "handled twice",
            Handled::Never => "lost",
        }
    }
}

impl Completion {
    pub const ALL: [Completion; 2] = [Completion::Split, Completion::OneEvalsha];

    /// The one of a [`Completion::name`].
    pub fn named(name: &str) -> Option<Completion> {
        Completion::ALL.into_iter().find(|completion| completion.name() == name)
    }

    /// One word, for addresses and attributes.
    pub fn name(self) -> &'static str {
        match self {
            Completion::Split => "split",
            Completion::OneEvalsha => "evalsha",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Completion::Split => "split commands",
            Completion::OneEvalsha => "one EVALSHA",
        }
    }
}

impl Race {
    /// One sentence: how often the job was handled, and why. `None` while somebody has a step left.
    pub fn verdict(&self, run: &Run) -> Option<String> {
        if !run.ready(self).is_empty() {
            return None;
        }
        let handled = self.outcome(&run.replies);
        let order = Order::of(run);
        let sentence = match (self.completion, handled) {
            (_, Handled::Never) => "Nobody handled the job, and nobody will: it is lost.",
            (Completion::Split, Handled::Twice) => order.split_twice(),
            (Completion::Split, Handled::Once) => order.split_once(),
            (Completion::OneEvalsha, Handled::Once) => order.evalsha_once(),
            (Completion::OneEvalsha, Handled::Twice) => {
                "The script let the worker pass and the job was claimed again, so it is handled twice."
            }
        };
        Some(sentence.to_owned())
    }

    /// One sentence about a step's answer.
    pub fn meaning(&self, act: &Act) -> Option<String> {
        if act.script.is_some() {
            return meaning(act, &self.job);
        }
        match act.argv.first()?.as_slice() {
            b"HGET" => Some(read(&act.reply)),
            b"ZREM" => Some(self.released(act)),
            b"DEL" => Some(self.deleted(act)),
            _ => None,
        }
    }

    fn released(&self, act: &Act) -> String {
        let token = act.before.field(&self.job, "attempts").unwrap_or_default();
        match &act.reply {
            Reply::Integer(1) if token == TOKEN => "The id leaves active, the lease is released.".to_owned(),
            Reply::Integer(1) => format!(
                "The id leaves active, but the lease that ends is the next worker's, who holds token {token}."
            ),
            _ => {
                "The id was not in active any more. A plain command does not ask why, and the worker goes on."
                    .to_owned()
            }
        }
    }

    fn deleted(&self, act: &Act) -> String {
        let token = act.before.field(&self.job, "attempts").unwrap_or_default();
        match (&act.reply, act.after.place(&self.job)) {
            (Reply::Integer(0), _) => "The row was gone already.".to_owned(),
            _ if token != TOKEN => {
                format!("The row is deleted under the next worker, who holds token {token}.")
            }
            (_, Some(Set::Pending)) => {
                "The row retires, and its id stays behind in pending, where the reaper put it.".to_owned()
            }
            _ => "The row retires.".to_owned(),
        }
    }
}

/// The client's comparison, told.
fn read(reply: &Reply) -> String {
    match reply {
        Reply::Nil => "The row is gone: the worker stops here.".to_owned(),
        reply if *reply == Reply::bulk(TOKEN) => {
            format!(
                "The row says attempts {TOKEN}, the token that the worker holds: it decides to go on and write."
            )
        }
        Reply::Bulk(attempts) => format!(
            "The row says attempts {}, and the worker holds token {TOKEN}: it stops here.",
            String::from_utf8_lossy(attempts)
        ),
        _ => "That is no token: the worker stops here.".to_owned(),
    }
}

/// When the steps that decide came, counted in steps of the run.
struct Order {
    /// The worker's read, or its only step.
    read: Option<usize>,
    /// The worker's first write.
    write: Option<usize>,
    reap: Option<usize>,
    claim: Option<usize>,
    /// The reaper found the job in active, past its deadline.
    reaped: bool,
    claimed: bool,
    /// What the worker's first step was answered.
    first: Option<Reply>,
}

impl Order {
    fn of(run: &Run) -> Order {
        let at = |actor: usize, nth: usize| {
            let mut steps = run.taken.iter().enumerate().filter(|(_, taken)| taken.actor == actor);
            steps.nth(nth).map(|(at, _)| at)
        };
        let first = |actor: usize| run.replies.get(actor).and_then(|replies| replies.first());
        Order {
            read: at(WORKER, 0),
            write: at(WORKER, 1),
            reap: at(REAPER, 0),
            claim: at(NEXT_WORKER, 0),
            reaped: first(REAPER) == Some(&Reply::Integer(1)),
            claimed: matches!(first(NEXT_WORKER), Some(Reply::Array(_))),
            first: first(WORKER).cloned(),
        }
    }

    fn split_twice(&self) -> &'static str {
        if self.read < self.reap {
            "The reaper re-queues the job between the read and the write, so it is handled twice."
        } else {
            "The reaper re-queues the job, and the next worker claims it between the read and the last write, so it is \
             handled twice."
        }
    }

    fn split_once(&self) -> &'static str {
        if self.claimed {
            "The next worker had claimed the job before the read, and the worker stops at what it reads: handled once."
        } else if !self.reaped {
            "The write came before the reaper, by luck and not by rule: handled once."
        } else if self.claim < self.reap {
            "The reaper re-queues the job, but the next worker had asked already, by luck: handled once."
        } else if self.reap < self.write {
            "The reaper re-queues the job, and the row is gone before anybody claims it, by luck: handled once."
        } else {
            "The job was handled once."
        }
    }

    fn evalsha_once(&self) -> &'static str {
        match &self.first {
            Some(Reply::Integer(1)) if self.read < self.reap => {
                "The script runs to completion first, so the job is already retired before the reaper runs — handled once."
            }
            Some(Reply::Integer(1)) => {
                "The reaper had re-queued the job, and the script takes it from pending in the same step — handled once."
            }
            Some(Reply::Integer(0)) => {
                "The next worker had retired the job, and the script answers that it is gone — handled once."
            }
            _ => {
                "The next worker holds a newer token, and the script refuses the worker's before it writes — handled once."
            }
        }
    }
}
