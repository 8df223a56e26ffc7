//! Two ways to finish a job, with a reaper running.
//!
//! A worker has done its work and completes the job, but its lease has run out. A reaper sweeps, and the next worker
//! claims and completes whatever is pending. The worker completes by split commands (read, decide, write, each a round
//! trip of its own) or by one `EVALSHA`.

mod words;

use echomq_engine::Reply;

use super::{Actor, Scenario, Step};
use crate::id::JobId;
use crate::keys::{Keys, QueueNameError};
use crate::queue::Queue;
use crate::script::{Call, Scripts};
use crate::wire::{Wire, WireError};

/// How the worker completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// `HGET`, compare on the client, `ZREM`, `DEL`.
    Split,
    /// `@complete`.
    OneEvalsha,
}

/// What became of the job.
///
/// A worker *handled* it if the fence let it pass, or if it holds the last token that was minted: the first retires
/// the job, the second has every right to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Handled {
    Once,
    Twice,
    /// By nobody, and nobody will.
    Never,
}

#[derive(Clone, Debug)]
pub struct Race {
    completion: Completion,
    queue: Queue<'static>,
    job: JobId,
}

pub const WORKER: usize = 0;
pub const REAPER: usize = 1;
pub const NEXT_WORKER: usize = 2;

const ACTORS: [Actor; 3] = [
    Actor { letter: 'W', name: "completing worker" },
    Actor { letter: 'R', name: "reaper" },
    Actor { letter: 'N', name: "next worker" },
];

pub const PAYLOAD: &[u8] = b"charge the card";

/// The token that the worker holds.
const TOKEN: &str = "1";
/// The lease that runs out.
pub const LEASE_MS: u64 = 40;
const LONG_LEASE_MS: u64 = 60_000;

impl Race {
    /// # Errors
    /// When `queue` cannot name a queue.
    pub fn new(completion: Completion, queue: &str) -> Result<Race, QueueNameError> {
        let queue = Queue::new(Keys::new(queue)?, Scripts::bundled());
        Ok(Race { completion, queue, job: JobId::FIRST })
    }

    /// The same job and queue, finished in this way.
    #[must_use]
    pub fn with(&self, completion: Completion) -> Race {
        Race { completion, ..self.clone() }
    }

    pub fn completion(&self) -> Completion {
        self.completion
    }

    fn worker(&self, replies: &[Reply]) -> Option<Step> {
        let (keys, id) = (self.queue.keys(), self.job.to_string());
        match (self.completion, replies.len()) {
            (Completion::OneEvalsha, 0) => {
                Some(script("EVALSHA @complete", &self.queue.complete_call(&self.job, TOKEN)))
            }
            (Completion::Split, 0) => {
                Some(command("HGET attempts", &["HGET", &keys.row(&self.job), "attempts"]))
            }
            // The client decides: what it read is not its token, so it stops here.
            (Completion::Split, 1) if !read_own_token(replies) => None,
            (Completion::Split, 1) => Some(command("ZREM active", &["ZREM", &keys.active(), &id])),
            (Completion::Split, 2) => Some(command("DEL row", &["DEL", &keys.row(&self.job)])),
            _ => None,
        }
    }

    fn next_worker(&self, replies: &[Reply]) -> Option<Step> {
        match replies {
            [] => Some(script("EVALSHA @claim", &self.queue.claim_call(LONG_LEASE_MS))),
            [Reply::Array(claimed)] => {
                let Some(Reply::Integer(token)) = claimed.get(2) else { return None };
                Some(script("EVALSHA @complete", &self.queue.complete_call(&self.job, token)))
            }
            _ => None,
        }
    }
}

impl Scenario for Race {
    type Outcome = Handled;

    fn actors(&self) -> &[Actor] {
        &ACTORS
    }

    fn queue(&self) -> &Queue<'static> {
        &self.queue
    }

    fn jobs(&self) -> &[JobId] {
        std::slice::from_ref(&self.job)
    }

    /// One job, claimed under a lease that has run out. The scripts are loaded, so that every step is one `EVALSHA`.
    fn set_up(&self, wire: &mut dyn Wire) -> Result<(), WireError> {
        for script in Scripts::bundled().all() {
            wire.call(&[b"SCRIPT", b"LOAD", script.source().as_bytes()])?;
        }
        self.queue.enqueue_call(&self.job, PAYLOAD).send(wire)?;
        self.queue.claim_call(LEASE_MS).send(wire)?;
        wire.pass(std::time::Duration::from_millis(LEASE_MS))
    }

    fn next(&self, actor: usize, replies: &[Reply]) -> Option<Step> {
        match actor {
            WORKER => self.worker(replies),
            REAPER if replies.is_empty() => Some(script("EVALSHA @reap", &self.queue.reap_call(10))),
            NEXT_WORKER => self.next_worker(replies),
            _ => None,
        }
    }

    fn outcome(&self, replies: &[Vec<Reply>]) -> Handled {
        let of = |actor: usize| replies.get(actor).map(Vec::as_slice).unwrap_or_default();
        let worker = match self.completion {
            Completion::Split => read_own_token(of(WORKER)),
            Completion::OneEvalsha => of(WORKER).first() == Some(&Reply::Integer(1)),
        };
        let next_worker = matches!(of(NEXT_WORKER), [Reply::Array(_), ..]);
        match (worker, next_worker) {
            (true, true) => Handled::Twice,
            (false, false) => Handled::Never,
            _ => Handled::Once,
        }
    }
}

/// The split worker's comparison, made on the client.
fn read_own_token(replies: &[Reply]) -> bool {
    replies.first() == Some(&Reply::bulk(TOKEN))
}

fn script(label: &'static str, call: &Call<'_>) -> Step {
    Step { label, argv: call.evalsha() }
}

fn command(label: &'static str, words: &[&str]) -> Step {
    Step { label, argv: words.iter().map(|word| word.as_bytes().to_vec()).collect() }
}
