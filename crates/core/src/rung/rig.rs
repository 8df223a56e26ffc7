//! What the levels stand on: a fresh queue, exact comparisons, and the removal of what a level made.

use std::time::Duration;

use echomq_engine::Reply;

use super::Difference;
use crate::id::{JobId, Mint};
use crate::keys::Keys;
use crate::queue::{Queue, Set};
use crate::script::{Call, Script, Scripts};
use crate::wire::{Wire, server_time_ms};

/// Boxed: three texts handed on at each of a level's many checks would double its code.
pub(super) type Checked<T = ()> = Result<T, Box<Difference>>;

pub(super) type Check = fn(&mut Rig<'_, '_>) -> Checked;

pub(super) struct Rig<'w, 's> {
    wire: &'w mut dyn Wire,
    pub queue: Queue<'s>,
    pub scripts: &'s Scripts,
    mint: Mint,
    minted: Vec<JobId>,
}

impl<'w, 's> Rig<'w, 's> {
    /// # Errors
    /// When the queue's keys exist: a level would read another's jobs, and would delete them.
    pub fn new(wire: &'w mut dyn Wire, keys: Keys, scripts: &'s Scripts) -> Checked<Rig<'w, 's>> {
        let mint = Mint::new(0).map_err(|error| broken("a mint", &error))?;
        let queue = Queue::new(keys, scripts);
        let mut rig = Rig { wire, queue, scripts, mint, minted: Vec::new() };
        let exist = rig.command("EXISTS", &rig.queue.keys().shared())?;
        rig.same("a queue of this name does not exist", &exist, "(integer) 0")?;
        Ok(rig)
    }

    /// Runs one level's check and removes its keys, whatever came of it.
    pub fn run(&mut self, check: Check) -> Checked {
        let outcome = check(self);
        let keys = self.queue.keys().all(&self.minted);
        let removed = self.command("DEL", &keys);
        outcome.and(removed.map(drop))
    }

    /// New ids, in mint order.
    pub fn ids<const N: usize>(&mut self) -> Checked<[JobId; N]> {
        let now_ms = self.now_ms()?;
        let first = self.minted.len();
        for _ in 0..N {
            let id = self.mint.next(now_ms).map_err(|error| broken("an id", &error))?;
            self.minted.push(id);
        }
        let ids = self.minted.get(first..).and_then(|ids| ids.try_into().ok());
        ids.ok_or_else(|| difference("ids", "as many as asked for", "fewer"))
    }

    /// The server's clock in ms since 1970.
    pub fn now_ms(&mut self) -> Checked<u64> {
        server_time_ms(self.wire).map_err(|error| broken("TIME", &error))
    }

    pub fn pass(&mut self, ms: u64) -> Checked {
        self.wire.pass(Duration::from_millis(ms)).map_err(|error| broken("the passing of time", &error))
    }

    /// One command with text arguments.
    pub fn command(&mut self, name: &str, args: &[String]) -> Checked<Reply> {
        let argv: Vec<&[u8]> =
            std::iter::once(name).chain(args.iter().map(String::as_str)).map(str::as_bytes).collect();
        self.wire.call(&argv).map_err(|error| broken(name, &error))
    }

    /// Sends a call by its digest alone, without the way out of NOSCRIPT.
    pub fn send(&mut self, call: &Call<'_>) -> Checked<Reply> {
        let argv = call.evalsha();
        let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        self.wire.call(&argv).map_err(|error| broken(call.script.name(), &error))
    }

    /// Loads a script and answers the digest that the server gave it.
    pub fn load(&mut self, script: &Script) -> Checked<Reply> {
        self.command("SCRIPT", &["LOAD".to_owned(), script.source().to_owned()])
    }

    /// The call must answer exactly this, as valkey-cli prints it.
    pub fn answers(&mut self, what: &str, call: &Call<'_>, expected: &str) -> Checked {
        let reply = self.send(call)?;
        self.same(what, &reply, expected)
    }

    pub fn enqueues(&mut self, id: &JobId, payload: &[u8]) -> Checked {
        let call = self.queue.enqueue_call(id, payload);
        self.answers("enqueue", &call, "(integer) 1")
    }

    /// claim must hand out this job with this token.
    pub fn claims(&mut self, lease_ms: u64, id: &JobId, payload: &str, token: u64) -> Checked {
        let call = self.queue.claim_call(lease_ms);
        let expected = format!("1) \"{id}\"\n2) \"{payload}\"\n3) (integer) {token}");
        self.answers("claim", &call, &expected)
    }

    pub fn claims_nothing(&mut self) -> Checked {
        let call = self.queue.claim_call(1);
        self.answers("claim of nothing", &call, "(nil)")
    }

    pub fn completes(&mut self, what: &str, id: &JobId, token: u64) -> Checked {
        let call = self.queue.complete_call(id, token);
        self.answers(what, &call, "(integer) 1")
    }

    /// The call must answer this number of jobs.
    pub fn counts(&mut self, call: &Call<'_>, jobs: u64) -> Checked {
        self.answers(call.script.name(), call, &format!("(integer) {jobs}"))
    }

    /// browse must list exactly these jobs, in this order.
    pub fn browses(&mut self, set: Set, ids: &[JobId]) -> Checked {
        let call = self.queue.browse_call(set, 0, 10);
        self.answers(&format!("browse of {}", set.name()), &call, &listing(ids))
    }

    /// The row's state and attempts must be these.
    pub fn row(&mut self, id: &JobId, state: &str, attempts: u64) -> Checked {
        self.field(id, "state", &format!("\"{state}\""))?;
        self.field(id, "attempts", &format!("\"{attempts}\""))
    }

    /// A field of a job's row must be exactly this; nil: there is no such field.
    pub fn field(&mut self, id: &JobId, field: &str, expected: &str) -> Checked {
        let reply = self.command("HGET", &[self.queue.keys().row(id), field.to_owned()])?;
        self.same(&format!("the row's {field}"), &reply, expected)
    }

    pub fn counter(&mut self, key: String, expected: &str) -> Checked {
        let reply = self.command("GET", std::slice::from_ref(&key))?;
        self.same(&key, &reply, expected)
    }

    pub fn score(&mut self, key: String, id: &JobId, expected: &str) -> Checked {
        let reply = self.command("ZSCORE", &[key.clone(), id.to_string()])?;
        self.same(&format!("the job's score in {key}"), &reply, expected)
    }

    /// The score must lie `after_ms` after some moment between `before` and now, both on the server's clock.
    pub fn score_is_set(&mut self, key: String, id: &JobId, before: u64, after_ms: u64) -> Checked {
        let reply = self.command("ZSCORE", &[key.clone(), id.to_string()])?;
        let window = before + after_ms..=self.now_ms()? + after_ms;
        let score = match &reply {
            Reply::Bulk(text) => std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok()),
            _ => None,
        };
        if score.is_some_and(|score| window.contains(&score)) {
            return Ok(());
        }
        let expected =
            format!("{after_ms} ms from the server's clock, {} to {}", window.start(), window.end());
        Err(difference(&format!("the job's score in {key}"), &expected, &reply.to_string()))
    }

    /// None of the keys exists.
    pub fn nothing_remains(&mut self, what: &str, keys: &[String]) -> Checked {
        let reply = self.command("EXISTS", keys)?;
        self.same(what, &reply, "(integer) 0")
    }

    pub fn same(&self, what: &str, reply: &Reply, expected: &str) -> Checked {
        let got = reply.to_string();
        if got == expected { Ok(()) } else { Err(difference(what, expected, &got)) }
    }
}

/// What browse answers, as valkey-cli prints it.
pub(super) fn listing(ids: &[JobId]) -> String {
    let lines: Vec<String> = ids.iter().enumerate().map(|(at, id)| format!("{}) \"{id}\"", at + 1)).collect();
    lines.join("\n")
}

fn difference(what: &str, expected: &str, got: &str) -> Box<Difference> {
    Box::new(Difference { what: what.to_owned(), expected: expected.to_owned(), got: got.to_owned() })
}

fn broken(what: &str, error: &dyn std::error::Error) -> Box<Difference> {
    difference(what, "an answer", &error.to_string())
}
