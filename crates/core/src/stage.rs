//! One queue with its reader: every act with its answer, the queue before and after, and, on a wire that can tell,
//! what the script did line by line.

use std::time::Duration;

use echomq_engine::{Reply, ScriptTrace};

use crate::id::JobId;
use crate::keys::Keys;
use crate::queue::Queue;
use crate::script::{Call, Script, Scripts};
use crate::state::QueueState;
use crate::wire::{Wire, WireError, server_time_ms};

/// A queue of its own on some wire.
pub struct Stage {
    wire: Box<dyn Wire>,
    queue: Queue<'static>,
    jobs: Vec<JobId>,
}

/// One command and what came of it.
#[derive(Clone, Debug)]
pub struct Act {
    pub argv: Vec<Vec<u8>>,
    /// The script that argv runs.
    pub script: Option<&'static Script>,
    pub reply: Reply,
    /// `None`: no script ran, or the wire cannot tell.
    pub trace: Option<ScriptTrace>,
    pub before: QueueState,
    pub after: QueueState,
    /// The server's clock afterwards, ms since 1970.
    pub clock_ms: u64,
}

impl Stage {
    /// Takes over the queue: loads the scripts and removes what its keys held.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn new(wire: Box<dyn Wire>, keys: Keys, jobs: &[JobId]) -> Result<Stage, WireError> {
        let mut stage = Stage { wire, queue: Queue::new(keys, Scripts::bundled()), jobs: jobs.to_vec() };
        for script in Scripts::bundled().all() {
            stage.wire.call(&[b"SCRIPT", b"LOAD", script.source().as_bytes()])?;
        }
        stage.clear()?;
        Ok(stage)
    }

    pub fn queue(&self) -> &Queue<'static> {
        &self.queue
    }

    pub fn jobs(&self) -> &[JobId] {
        &self.jobs
    }

    /// The wire itself, for what need not become an act.
    pub fn wire(&mut self) -> &mut dyn Wire {
        &mut *self.wire
    }

    /// Calls a script by its digest.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn call(&mut self, call: &Call<'static>) -> Result<Act, WireError> {
        self.act(call.evalsha(), Some(call.script))
    }

    /// Sends a plain command.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn command(&mut self, argv: &[Vec<u8>]) -> Result<Act, WireError> {
        let script = argv.get(1).filter(|_| argv.first().is_some_and(|name| name == b"EVALSHA"));
        let script = script.and_then(|sha| {
            Scripts::bundled().all().into_iter().find(|script| script.sha().as_bytes() == sha.as_slice())
        });
        self.act(argv.to_vec(), script)
    }

    /// Lets server time go by.
    ///
    /// # Errors
    /// When the server's clock cannot be read.
    pub fn pass(&mut self, by: Duration) -> Result<(), WireError> {
        self.wire.pass(by)
    }

    /// # Errors
    /// When the wire brings no reply.
    pub fn clock_ms(&mut self) -> Result<u64, WireError> {
        server_time_ms(&mut *self.wire)
    }

    /// # Errors
    /// When the wire brings no reply.
    pub fn state(&mut self) -> Result<QueueState, WireError> {
        QueueState::read(&mut *self.wire, self.queue.keys(), &self.jobs)
    }

    /// Removes the queue's keys. Time stays where it is.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn clear(&mut self) -> Result<(), WireError> {
        let state = self.state()?;
        let keys = self.queue.keys().all(state.rows.keys());
        let argv: Vec<&[u8]> =
            std::iter::once("DEL").chain(keys.iter().map(|key| &**key)).map(str::as_bytes).collect();
        self.wire.call(&argv).map(drop)
    }

    fn act(&mut self, argv: Vec<Vec<u8>>, script: Option<&'static Script>) -> Result<Act, WireError> {
        let before = self.state()?;
        self.wire.traces();
        let words: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let reply = self.wire.call(&words)?;
        let trace = self.wire.traces().pop();
        let after = self.state()?;
        let clock_ms = self.clock_ms()?;
        Ok(Act { argv, script, reply, trace, before, after, clock_ms })
    }
}

impl Act {
    /// The argument of the script at `at`, 1 for the first, as text.
    pub fn arg(&self, at: usize) -> Option<String> {
        self.words().1.get(at.checked_sub(1)?).map(|word| String::from_utf8_lossy(word).into_owned())
    }

    /// The keys and the arguments of `EVALSHA`.
    fn words(&self) -> (&[Vec<u8>], &[Vec<u8>]) {
        let count = self.argv.get(2).and_then(|count| std::str::from_utf8(count).ok()?.parse().ok());
        match (self.script, count) {
            (Some(_), Some(count)) => self.argv.get(3..).and_then(|rest| rest.split_at_checked(count)),
            _ => None,
        }
        .unwrap_or_default()
    }
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("queue", &self.queue).field("jobs", &self.jobs).finish_non_exhaustive()
    }
}
