//! Scenarios: a set-up, some actors, and what their interleavings come to.
//!
//! An actor is a pure function from the replies that it has had to the command that it sends next, so that a run is
//! its schedule and nothing else: replaying a schedule on another wire sends the same commands as long as the replies
//! are the same.

pub mod race;

use std::fmt::Debug;

use echomq_engine::Reply;

use crate::id::JobId;
use crate::queue::Queue;
use crate::schedule::Schedule;
use crate::wire::{Wire, WireError};

/// One participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Its letter in schedules.
    pub letter: char,
    pub name: &'static str,
}

/// What an actor sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// A few words: `HGET attempts`.
    pub label: &'static str,
    pub argv: Vec<Vec<u8>>,
}

/// A step that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Taken {
    pub actor: usize,
    pub step: Step,
    pub reply: Reply,
}

/// What can be explored and replayed.
pub trait Scenario {
    /// How a finished run is judged.
    type Outcome: Copy + Debug + Ord;

    fn actors(&self) -> &[Actor];

    /// The queue in which it plays.
    fn queue(&self) -> &Queue<'static>;

    /// The jobs whose rows belong to its state.
    fn jobs(&self) -> &[JobId];

    /// Brings an empty queue into the first state.
    ///
    /// # Errors
    /// When the wire brings no reply.
    fn set_up(&self, wire: &mut dyn Wire) -> Result<(), WireError>;

    /// The next step of an actor that has had these replies; `None`: it has finished.
    fn next(&self, actor: usize, replies: &[Reply]) -> Option<Step>;

    /// Judges a finished run by what each actor was answered.
    fn outcome(&self, replies: &[Vec<Reply>]) -> Self::Outcome;
}

/// A run as far as it has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub taken: Vec<Taken>,
    /// By actor.
    pub replies: Vec<Vec<Reply>>,
}

/// Why a schedule cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    #[error("step {at} of the schedule is {letter}, and there is no such actor")]
    NoActor { at: usize, letter: char },
    #[error("step {at} of the schedule is {letter}, who has nothing left to do by then")]
    Finished { at: usize, letter: char },
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl Run {
    pub fn new(actors: usize) -> Run {
        Run { taken: Vec::new(), replies: vec![Vec::new(); actors] }
    }

    /// The actors that have a step left.
    pub fn ready<S: Scenario>(&self, scenario: &S) -> Vec<usize> {
        let has_next = |actor: &usize| scenario.next(*actor, &self.replies[*actor]).is_some();
        (0..self.replies.len()).filter(has_next).collect()
    }

    /// Takes the actor's next step; `false`: it has none.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn step<S: Scenario>(
        &mut self,
        scenario: &S,
        wire: &mut dyn Wire,
        actor: usize,
    ) -> Result<bool, WireError> {
        let Some(replies) = self.replies.get_mut(actor) else { return Ok(false) };
        let Some(step) = scenario.next(actor, replies) else { return Ok(false) };
        let argv: Vec<&[u8]> = step.argv.iter().map(Vec::as_slice).collect();
        let reply = wire.call(&argv)?;
        replies.push(reply.clone());
        self.taken.push(Taken { actor, step, reply });
        Ok(true)
    }

    /// Takes the step that a schedule names next.
    ///
    /// # Errors
    /// When there is no such actor, it has finished, or the wire brings no reply.
    pub fn follow<S: Scenario>(
        &mut self,
        scenario: &S,
        wire: &mut dyn Wire,
        letter: char,
    ) -> Result<(), RunError> {
        let at = self.taken.len() + 1;
        let actor = scenario.actors().iter().position(|actor| actor.letter == letter);
        let actor = actor.ok_or(RunError::NoActor { at, letter })?;
        if self.step(scenario, wire, actor)? { Ok(()) } else { Err(RunError::Finished { at, letter }) }
    }

    pub fn schedule<S: Scenario>(&self, scenario: &S) -> Schedule {
        let letter = |taken: &Taken| scenario.actors().get(taken.actor).map(|actor| actor.letter);
        self.taken.iter().filter_map(letter).collect()
    }
}

/// Runs a schedule from the set-up on: the same commands on any wire.
///
/// # Errors
/// When the schedule names an actor that does not exist or has finished, or the wire brings no reply.
pub fn replay<S: Scenario>(scenario: &S, schedule: &Schedule, wire: &mut dyn Wire) -> Result<Run, RunError> {
    scenario.set_up(wire)?;
    let mut run = Run::new(scenario.actors().len());
    for letter in schedule.steps() {
        run.follow(scenario, wire, letter)?;
    }
    Ok(run)
}
