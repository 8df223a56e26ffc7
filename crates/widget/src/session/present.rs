//! A token presented to the fence: `<emq-fence>`, `<emq-complete>` and `<emq-retry>`.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

use echomq_core::{QueueState, Wire, WireError};

use super::staged::{Move, Readout, SceneError, Staged};
use super::stages::SharedStage;

/// The script that the token is presented to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    Complete,
    Retry { delay_ms: String, max_attempts: String, error: String },
}

/// A job row at some attempts, and callers who present tokens.
#[derive(Debug)]
pub struct Present {
    staged: SharedStage,
    verb: Verb,
}

impl Present {
    /// # Errors
    /// See [`Staged::new`].
    pub fn new(wire: Box<dyn Wire>, queue: &str, attempts: u64, verb: Verb) -> Result<Present, SceneError> {
        Ok(Present::on(Rc::new(RefCell::new(Staged::new(wire, queue, attempts)?)), verb))
    }

    /// On a stage that others may show too.
    pub fn on(staged: SharedStage, verb: Verb) -> Present {
        Present { staged, verb }
    }

    /// Presents a token, any text. A job that the last call ended is staged again first: each press finds a job. Where
    /// others show the stage too, only a job that is gone is: what they did to it stays done.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn press(&mut self, token: &str) -> Result<Readout, WireError> {
        let shared = Rc::strong_count(&self.staged) > 1;
        let mut staged = self.staged.borrow_mut();
        let over = if shared { staged.is_gone() } else { !staged.is_under_lease() };
        if over {
            staged.reset()?;
        }
        let (queue, job) = (staged.queue(), staged.job());
        let call = match &self.verb {
            Verb::Complete => queue.complete_call(job, token),
            Verb::Retry { delay_ms, max_attempts, error } => {
                queue.retry_call(job, token, delay_ms, max_attempts, error.as_bytes())
            }
        };
        staged.play(Move::now(call))?;
        Ok(staged.readout().unwrap_or_default())
    }

    /// From now on the token is presented to this.
    pub fn set_verb(&mut self, verb: Verb) {
        self.verb = verb;
    }

    pub fn verb(&self) -> &Verb {
        &self.verb
    }

    /// The attempts in the row, which are the one token that passes.
    pub fn attempts(&self) -> Option<String> {
        let staged = self.staged();
        staged.state().field(staged.job(), "attempts").map(str::to_owned)
    }

    pub fn state(&self) -> Ref<'_, QueueState> {
        Ref::map(self.staged(), Staged::state)
    }

    pub fn staged(&self) -> Ref<'_, Staged> {
        self.staged.borrow()
    }

    pub fn staged_mut(&mut self) -> RefMut<'_, Staged> {
        self.staged.borrow_mut()
    }

    pub fn stage(&self) -> &SharedStage {
        &self.staged
    }
}
