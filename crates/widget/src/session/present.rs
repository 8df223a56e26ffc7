//! A token presented to the fence: `<emq-fence>`, `<emq-complete>` and `<emq-retry>`.

use echomq_core::{QueueState, Wire, WireError};

use super::staged::{Move, Readout, SceneError, Staged};

/// The script that the token is presented to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    Complete,
    Retry { delay_ms: String, max_attempts: String, error: String },
}

/// A job row at some attempts, and callers who present tokens.
#[derive(Debug)]
pub struct Present {
    staged: Staged,
    verb: Verb,
}

impl Present {
    /// # Errors
    /// See [`Staged::new`].
    pub fn new(wire: Box<dyn Wire>, queue: &str, attempts: u64, verb: Verb) -> Result<Present, SceneError> {
        Ok(Present { staged: Staged::new(wire, queue, attempts)?, verb })
    }

    /// Presents a token, any text. A job that the last call ended is staged again first: each press finds a job.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn press(&mut self, token: &str) -> Result<Readout, WireError> {
        if self.is_over() {
            self.staged.reset()?;
        }
        let (queue, job) = (self.staged.queue(), self.staged.job());
        let call = match &self.verb {
            Verb::Complete => queue.complete_call(job, token),
            Verb::Retry { delay_ms, max_attempts, error } => {
                queue.retry_call(job, token, delay_ms, max_attempts, error.as_bytes())
            }
        };
        self.staged.play(Move { pass_ms: 0, call })?;
        Ok(self.staged.readout().unwrap_or_default())
    }

    /// From now on the token is presented to this.
    pub fn set_verb(&mut self, verb: Verb) {
        self.verb = verb;
    }

    pub fn verb(&self) -> &Verb {
        &self.verb
    }

    /// The attempts in the row, which are the one token that passes.
    pub fn attempts(&self) -> Option<&str> {
        self.staged.state().field(self.staged.job(), "attempts")
    }

    pub fn state(&self) -> &QueueState {
        self.staged.state()
    }

    pub fn staged(&self) -> &Staged {
        &self.staged
    }

    pub fn staged_mut(&mut self) -> &mut Staged {
        &mut self.staged
    }

    /// The lease is over: the job is retired, scheduled or dead.
    fn is_over(&self) -> bool {
        self.staged.state().place(self.staged.job()) != Some(echomq_core::Set::Active)
    }
}
