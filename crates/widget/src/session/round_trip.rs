//! One job through its two lives: `<emq-round-trip>`.

use std::cell::{Ref, RefCell, RefMut};
use std::rc::Rc;

use echomq_core::{Call, Scripts, Wire, WireError};

use super::served::{grouped, typed_first};
use super::shown::Shown;
use super::staged::{Move, SceneError, Staged};
use super::stages::SharedStage;

/// The steps of the walk, in order.
pub const STEPS: [Step; 4] = [Step::Claim, Step::Retry, Step::Promote, Step::ClaimAgain];

/// The retry's delay where the page asks for none.
pub const DELAY_MS: u64 = 5000;

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

/// Why an attribute is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeError {
    Delay(String),
    Step(String),
}

/// The walk, as far as it has come.
#[derive(Debug)]
pub struct RoundTrip {
    staged: SharedStage,
    delay_ms: u64,
}

impl RoundTrip {
    /// A pending job. `delay_ms` is what its retry will ask for.
    ///
    /// # Errors
    /// See [`Staged::new`].
    pub fn new(wire: Box<dyn Wire>, queue: &str, delay_ms: u64) -> Result<RoundTrip, SceneError> {
        Ok(RoundTrip { staged: Rc::new(RefCell::new(Staged::new(wire, queue, 0)?)), delay_ms })
    }

    /// On a stage that others may show too. Unless they have acted on it already, its job is pending from now on.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn on(staged: SharedStage, delay_ms: u64) -> Result<RoundTrip, WireError> {
        let untouched = staged.borrow().moves().is_empty();
        if untouched && staged.borrow().attempts() > 0 {
            staged.borrow_mut().set_attempts(0)?;
        }
        Ok(RoundTrip { staged, delay_ms })
    }

    /// Takes the next step; `None` at the end of the walk.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn step(&mut self) -> Result<Option<Step>, WireError> {
        let Some(&step) = STEPS.get(self.at()) else { return Ok(None) };
        let pass_ms = if step == Step::Promote { self.delay_ms } else { 0 };
        let call = self.call(step);
        self.staged_mut().play(Move { pass_ms, call, walked: true })?;
        Ok(Some(step))
    }

    /// Steps back or forward until `at` steps have been taken (the whole walk at most). What others did after the step
    /// that it goes back to is taken back too.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn go_to(&mut self, at: usize) -> Result<(), WireError> {
        if at == 0 {
            return self.staged_mut().set_attempts(0);
        }
        let back = at <= self.at();
        while self.at() > at || back && self.last().is_none() {
            self.staged_mut().back()?;
        }
        while self.at() < at && self.step()?.is_some() {}
        Ok(())
    }

    /// How many steps have been taken.
    pub fn at(&self) -> usize {
        self.staged().moves().iter().filter(|made| made.walked).count()
    }

    /// The step that was taken last; `None` at the start, and when others have acted since.
    pub fn last(&self) -> Option<Step> {
        self.staged().moves().last().filter(|made| made.walked)?;
        STEPS.get(self.at().checked_sub(1)?).copied()
    }

    /// Everything that the parts draw; the meaning says which step it is the meaning of.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn shown(&mut self) -> Result<Shown, WireError> {
        let scripts = Scripts::bundled();
        let mut staged = self.staged.borrow_mut();
        let mut shown = Shown::new(&mut staged, &scripts.claim)?;
        let scene: Vec<_> = staged.scene_moves().into_iter().map(|step| step.call).collect();
        shown.once = typed_first(&scene, &[&scripts.claim, &scripts.retry, &scripts.promote]);
        drop(staged);
        if let (Some(said), Some(told)) = (&mut shown.said, self.told()) {
            said.readout.meaning = told;
        }
        Ok(shown)
    }

    /// `Step 2 of 4: retry.` and what its answer means.
    pub fn told(&self) -> Option<String> {
        let (at, of, name) = (self.at(), STEPS.len(), self.last()?.name());
        let later = match self.passed_ms() {
            0 => String::new(),
            ms => format!(", {} ms later", grouped(ms)),
        };
        Some(format!("Step {at} of {of}: {name}{later}. {}", self.staged().readout()?.meaning))
    }

    /// The row's attempts, which count the lives and are the token.
    pub fn attempts(&self) -> String {
        let staged = self.staged();
        staged.state().field(staged.job(), "attempts").unwrap_or_default().to_owned()
    }

    /// Server time that has gone by between the first step and the last.
    pub fn elapsed_ms(&self) -> u64 {
        let staged = self.staged();
        let acts = staged.acts();
        let ends = acts.last().zip(acts.first());
        ends.map_or(0, |(last, first)| last.clock_ms.saturating_sub(first.clock_ms))
    }

    /// Server time that has gone by right before the last step.
    pub fn passed_ms(&self) -> u64 {
        match self.staged().acts() {
            [.., before, last] => last.clock_ms.saturating_sub(before.clock_ms),
            _ => 0,
        }
    }

    /// Starts over with another delay.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn set_delay(&mut self, delay_ms: u64) -> Result<(), WireError> {
        self.delay_ms = delay_ms;
        self.staged_mut().reset()
    }

    pub fn delay_ms(&self) -> u64 {
        self.delay_ms
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

    fn call(&self, step: Step) -> Call<'static> {
        let staged = self.staged();
        let (queue, job) = (staged.queue(), staged.job());
        match step {
            Step::Claim | Step::ClaimAgain => queue.claim_call(LEASE_MS),
            Step::Retry => queue.retry_call(job, 1, self.delay_ms, MAX_ATTEMPTS, b"card declined"),
            Step::Promote => queue.promote_call(10),
        }
    }
}

/// The delay that an attribute asks for; none: [`DELAY_MS`].
///
/// # Errors
/// When it is not a whole number of ms that the script takes: up to 15 digits.
pub fn delay_of(attribute: Option<&str>) -> Result<u64, AttributeError> {
    let Some(text) = attribute else { return Ok(DELAY_MS) };
    let taken = text.len() <= 15 && text.bytes().all(|byte| byte.is_ascii_digit());
    let delay_ms = text.parse().ok().filter(|_| taken);
    delay_ms.ok_or_else(|| AttributeError::Delay(text.to_owned()))
}

/// The step that an attribute or an address starts at; none: 0, before the first.
///
/// # Errors
/// When there is no such step.
pub fn step_of(text: &str) -> Result<usize, AttributeError> {
    let at = text.parse().ok().filter(|at| *at <= STEPS.len());
    at.ok_or_else(|| AttributeError::Step(text.to_owned()))
}

impl std::fmt::Display for AttributeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AttributeError::Delay(text) => {
                write!(f, "delay is a whole number of ms from 0, {text:?} is none: {DELAY_MS} ms it is")
            }
            AttributeError::Step(text) => {
                write!(f, "the walk has steps 0 to {}, {text:?} is none: it begins at the start", STEPS.len())
            }
        }
    }
}

impl std::error::Error for AttributeError {}

impl Step {
    pub fn name(self) -> &'static str {
        match self {
            Step::Claim | Step::ClaimAgain => "claim",
            Step::Retry => "retry",
            Step::Promote => "promote",
        }
    }
}
