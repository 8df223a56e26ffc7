//! The learner as the scheduler: `<emq-race>`.

use echomq_core::explore::{Report, explore};
use echomq_core::scenario::race::{Completion, Handled, Race as Scene};
use echomq_core::scenario::{Run, RunError, Scenario, Step, replay};
use echomq_core::{EngineWire, QueueState, Schedule, Wire, WireError};

use super::staged::SceneError;

/// One run of the race, as far as the learner has scheduled it.
pub struct Race {
    wire: Box<dyn Wire>,
    scene: Scene,
    run: Run,
    /// The queue at the start and after each step.
    states: Vec<QueueState>,
}

impl Race {
    /// # Errors
    /// When `queue` cannot name a queue, or the wire brings no reply.
    pub fn new(wire: Box<dyn Wire>, queue: &str, completion: Completion) -> Result<Race, SceneError> {
        let scene = Scene::new(completion, queue)?;
        let run = Run::new(scene.actors().len());
        let mut race = Race { wire, scene, run, states: Vec::new() };
        race.play(&Schedule::default()).map_err(|error| WireError(error.to_string()))?;
        Ok(race)
    }

    /// Starts over and runs `schedule`. A schedule that cannot be run leaves the race at its start.
    ///
    /// # Errors
    /// When the schedule names an actor that does not exist or has finished, or the wire brings no reply.
    pub fn play(&mut self, schedule: &Schedule) -> Result<(), RunError> {
        self.start_over()?;
        for letter in schedule.steps() {
            if let Err(error) = self.run.follow(&self.scene, &mut *self.wire, letter) {
                self.start_over()?;
                return Err(error);
            }
            let state = self.read()?;
            self.states.push(state);
        }
        Ok(())
    }

    /// The actor takes its next step; `false`: it has none.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn choose(&mut self, actor: usize) -> Result<bool, WireError> {
        let taken = self.run.step(&self.scene, &mut *self.wire, actor)?;
        if taken {
            let state = self.read()?;
            self.states.push(state);
        }
        Ok(taken)
    }

    /// Takes the last step back; `false`: there is none.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn back(&mut self) -> Result<bool, RunError> {
        let mut schedule = self.schedule();
        let stepped = schedule.pop().is_some();
        self.play(&schedule)?;
        Ok(stepped)
    }

    pub fn completion(&self) -> Completion {
        self.scene.completion()
    }

    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    pub fn run(&self) -> &Run {
        &self.run
    }

    pub fn schedule(&self) -> Schedule {
        self.run.schedule(&self.scene)
    }

    /// What each actor would do next; `None`: it has finished.
    pub fn next(&self) -> Vec<Option<Step>> {
        let replies = self.run.replies.iter().enumerate();
        replies.map(|(actor, replies)| self.scene.next(actor, replies)).collect()
    }

    /// The queue at the start, then after each step.
    pub fn states(&self) -> &[QueueState] {
        &self.states
    }

    /// How often the job was handled; `None` while somebody has a step left.
    pub fn outcome(&self) -> Option<Handled> {
        self.run.ready(&self.scene).is_empty().then(|| self.scene.outcome(&self.run.replies))
    }

    /// Every interleaving, on an engine of its own.
    ///
    /// # Errors
    /// When the engine stops a script at its limits.
    pub fn all_interleavings(&self) -> Result<Report<Handled>, WireError> {
        explore(&self.scene, &mut EngineWire::default())
    }

    fn start_over(&mut self) -> Result<(), RunError> {
        let keys = self.scene.queue().keys();
        let rows = self.scene.jobs().iter().map(|id| keys.row(id));
        let keys: Vec<String> = keys.shared().into_iter().chain(rows).collect();
        let argv: Vec<&[u8]> =
            [&b"DEL"[..]].into_iter().chain(keys.iter().map(|key| key.as_bytes())).collect();
        self.wire.call(&argv)?;
        self.run = replay(&self.scene, &Schedule::default(), &mut *self.wire)?;
        self.states = vec![self.read()?];
        Ok(())
    }

    fn read(&mut self) -> Result<QueueState, WireError> {
        QueueState::read(&mut *self.wire, self.scene.queue().keys(), self.scene.jobs())
    }
}

impl std::fmt::Debug for Race {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Race")
            .field("scene", &self.scene)
            .field("schedule", &self.schedule())
            .finish_non_exhaustive()
    }
}
