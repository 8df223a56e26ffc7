//! One job through its two lives: `<emq-round-trip>`.

use echomq_core::{Call, Wire, WireError};

use super::staged::{Move, SceneError, Staged};

/// The steps of the walk, in order.
pub const STEPS: [Step; 4] = [Step::Claim, Step::Retry, Step::Promote, Step::ClaimAgain];

const LEASE_MS: u64 = 30_000;
const MAX_ATTEMPTS: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Claim,
    Retry,
    /// The retry's delay goes by first.
    Promote,
    ClaimAgain,
}

/// The walk, as far as it has come.
#[derive(Debug)]
pub struct RoundTrip {
    staged: Staged,
    delay_ms: u64,
}

impl RoundTrip {
    /// A pending job. `delay_ms` is what its retry will ask for.
    ///
    /// # Errors
    /// See [`Staged::new`].
    pub fn new(wire: Box<dyn Wire>, queue: &str, delay_ms: u64) -> Result<RoundTrip, SceneError> {
        Ok(RoundTrip { staged: Staged::new(wire, queue, 0)?, delay_ms })
    }

    /// Takes the next step; `None` at the end of the walk.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn step(&mut self) -> Result<Option<Step>, WireError> {
        let Some(&step) = STEPS.get(self.at()) else { return Ok(None) };
        let pass_ms = if step == Step::Promote { self.delay_ms } else { 0 };
        let call = self.call(step);
        self.staged.play(Move { pass_ms, call })?;
        Ok(Some(step))
    }

    /// Steps back or forward until `at` steps have been taken (the whole walk at most).
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn go_to(&mut self, at: usize) -> Result<(), WireError> {
        if at == 0 {
            return self.staged.reset();
        }
        while self.at() > at {
            self.staged.back()?;
        }
        while self.at() < at && self.step()?.is_some() {}
        Ok(())
    }

    /// How many steps have been taken.
    pub fn at(&self) -> usize {
        self.staged.acts().len()
    }

    pub fn delay_ms(&self) -> u64 {
        self.delay_ms
    }

    pub fn staged(&self) -> &Staged {
        &self.staged
    }

    pub fn staged_mut(&mut self) -> &mut Staged {
        &mut self.staged
    }

    fn call(&self, step: Step) -> Call<'static> {
        let (queue, job) = (self.staged.queue(), self.staged.job());
        match step {
            Step::Claim | Step::ClaimAgain => queue.claim_call(LEASE_MS),
            Step::Retry => queue.retry_call(job, 1, self.delay_ms, MAX_ATTEMPTS, b"card declined"),
            Step::Promote => queue.promote_call(10),
        }
    }
}

impl Step {
    pub fn name(self) -> &'static str {
        match self {
            Step::Claim | Step::ClaimAgain => "claim",
            Step::Retry => "retry",
            Step::Promote => "promote",
        }
    }
}
