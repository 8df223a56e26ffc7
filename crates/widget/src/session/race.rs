//! The learner as the scheduler: `<emq-race>`.

use echomq_core::explore::{Report, explore};
use echomq_core::scenario::race::{
    Completion, Handled, LEASE_MS, NEXT_WORKER, PAYLOAD, REAPER, Race as Scene, WORKER,
};
use echomq_core::scenario::{Actor, Run, RunError, Scenario, Step, Taken};
use echomq_core::schedule::ScheduleError;
use echomq_core::stage::{Act, Stage};
use echomq_core::{EngineWire, JobId, QueueState, Reply, Schedule, Scripts, Wire, WireError};

use super::served::{Lane, Served, place, shown, typed_first};
use super::shown::Shown;
use super::staged::{Readout, SceneError};

/// Runs that are worth a button: the two that the course tells, and the one in which the fence refuses.
pub const PRESETS: [Preset; 3] = [
    Preset {
        name: "split: the reaper between read and write",
        completion: Completion::Split,
        schedule: "WRNWWN",
    },
    Preset { name: "one EVALSHA", completion: Completion::OneEvalsha, schedule: "WRN" },
    Preset { name: "one EVALSHA, too late", completion: Completion::OneEvalsha, schedule: "RNWN" },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub completion: Completion,
    pub schedule: &'static str,
}

/// One run of the race, as far as the learner has scheduled it, and the step that is looked at.
#[derive(Debug)]
pub struct Race {
    stage: Stage,
    scene: Scene,
    run: Run,
    /// The queue before the first step.
    start: QueueState,
    start_ms: u64,
    /// One per step of the run.
    acts: Vec<Act>,
    /// Steps up to and with the one that is looked at; 0 is the start.
    at: usize,
}

/// A way of finishing with all its interleavings.
pub type Explored = (Completion, Report<Handled>);

/// Why an address or an attribute names no run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    Schedule(ScheduleError),
    Run(RunError),
}

impl Race {
    /// # Errors
    /// When `queue` cannot name a queue, or the wire brings no reply.
    pub fn new(wire: Box<dyn Wire>, queue: &str, completion: Completion) -> Result<Race, SceneError> {
        let scene = Scene::new(completion, queue)?;
        let stage = Stage::new(wire, scene.queue().keys().clone(), scene.jobs())?;
        let run = Run::new(scene.actors().len());
        let start = QueueState::default();
        let mut race = Race { stage, scene, run, start, start_ms: 0, acts: Vec::new(), at: 0 };
        race.start_over()?;
        Ok(race)
    }

    /// Starts over, with the other way to finish if it is another.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn set_completion(&mut self, completion: Completion) -> Result<(), WireError> {
        self.scene = self.scene.with(completion);
        self.start_over()
    }

    /// Starts over and runs the schedule that a text names; the start is looked at when it is empty, else its last
    /// step. A text that names no run leaves the race at its start.
    ///
    /// # Errors
    /// When the text is no schedule, or see [`Race::play`].
    pub fn load(&mut self, text: &str) -> Result<(), LoadError> {
        match text.trim().to_ascii_uppercase().parse() {
            Ok(schedule) => self.play(&schedule).map_err(LoadError::Run),
            Err(error) => {
                self.start_over().map_err(|error| LoadError::Run(error.into()))?;
                Err(LoadError::Schedule(error))
            }
        }
    }

    /// Starts over and runs `schedule`. A schedule that cannot be run leaves the race at its start.
    ///
    /// # Errors
    /// When the schedule names an actor that does not exist or has finished, or the wire brings no reply.
    pub fn play(&mut self, schedule: &Schedule) -> Result<(), RunError> {
        self.start_over()?;
        for letter in schedule.steps() {
            let mut seen = Seen { stage: &mut self.stage, act: None };
            let followed = self.run.follow(&self.scene, &mut seen, letter);
            let act = seen.act;
            if let Err(error) = followed {
                self.start_over()?;
                return Err(error);
            }
            self.acts.extend(act);
        }
        self.at = self.acts.len();
        Ok(())
    }

    /// The actor takes its next step; `false`: it has none.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn choose(&mut self, actor: usize) -> Result<bool, WireError> {
        let mut seen = Seen { stage: &mut self.stage, act: None };
        let taken = self.run.step(&self.scene, &mut seen, actor)?;
        let act = seen.act;
        self.acts.extend(act);
        self.at = self.acts.len();
        Ok(taken)
    }

    /// Takes the last step back; `false`: there is none.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn back(&mut self) -> Result<bool, RunError> {
        let steps = self.acts.len();
        self.cut(steps.saturating_sub(1))?;
        Ok(steps > 0)
    }

    /// Takes back what came after the step that is looked at, so that the run can go on differently from there.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn fork(&mut self) -> Result<(), RunError> {
        self.cut(self.at)
    }

    /// Looks at the queue after `at` steps.
    pub fn select(&mut self, at: usize) {
        self.at = at.min(self.acts.len());
    }

    /// How many steps come up to and with the one that is looked at.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The step that is looked at; `None` at the start.
    pub fn act(&self) -> Option<&Act> {
        self.acts.get(self.at.checked_sub(1)?)
    }

    /// The step that is looked at: its answer and what it means.
    pub fn readout(&self) -> Option<Readout> {
        let act = self.act()?;
        Some(Readout { answer: act.reply.to_string(), meaning: self.scene.meaning(act).unwrap_or_default() })
    }

    /// The readout with who was served, and at the end of the run its verdict.
    fn told(&self) -> Option<Readout> {
        let Readout { answer, meaning } = self.readout()?;
        let taken = self.run.taken.get(self.at.checked_sub(1)?)?;
        let actor = self.scene.actors().get(taken.actor).map_or("", |actor| actor.name);
        let verdict = self.verdict().filter(|_| self.at == self.acts.len());
        let parts = [Some(format!("Step {}, {actor}.", self.at)), Some(meaning), verdict];
        Some(Readout { answer, meaning: parts.into_iter().flatten().collect::<Vec<_>>().join(" ") })
    }

    /// The queue at the step that is looked at.
    pub fn state(&self) -> &QueueState {
        self.act().map_or(&self.start, |act| &act.after)
    }

    pub fn job(&self) -> &JobId {
        self.stage.jobs().first().unwrap_or(&JobId::FIRST)
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

    pub fn lanes(&self) -> Vec<Lane> {
        let next = self.next();
        let lane = |(actor, next): (&Actor, &Option<Step>)| Lane::new(actor, next.as_ref());
        self.scene.actors().iter().zip(&next).map(lane).collect()
    }

    /// Where the job is before the first step.
    pub fn start_place(&self) -> String {
        place(&self.start, self.job())
    }

    /// How many steps the longest run of this way to finish has.
    pub fn longest(&self) -> usize {
        match self.completion() {
            Completion::Split => 6,
            Completion::OneEvalsha => 4,
        }
    }

    /// The steps in the order in which Valkey served them.
    pub fn served(&self) -> Vec<Served> {
        let steps = self.run.taken.iter().zip(&self.acts);
        steps.map(|(taken, act)| Served::new(taken, act, self.job())).collect()
    }

    /// What the parts draw of the step that is looked at.
    pub fn shown(&self) -> Shown {
        let act = self.act().zip(self.told());
        let shown = shown(self.scene.queue().keys(), self.job(), act, &self.start, self.start_ms);
        Shown { once: self.once(), steps: self.acts.len(), ..shown }
    }

    /// The actor whose letter this is, in either case.
    pub fn actor_of(&self, letter: &str) -> Option<usize> {
        self.scene
            .actors()
            .iter()
            .position(|actor| letter.eq_ignore_ascii_case(actor.letter.encode_utf8(&mut [0; 4])))
    }

    /// What a server of the reader's own needs before the first step: the scripts, and the job under a lease that
    /// runs out.
    fn once(&self) -> Vec<String> {
        let (queue, scripts) = (self.scene.queue(), Scripts::bundled());
        let scene = [queue.enqueue_call(self.job(), PAYLOAD), queue.claim_call(LEASE_MS)];
        typed_first(&scene, &[&scripts.reap, &scripts.complete])
    }

    /// The steps from the worker's first to its last, numbered from 0: what is one step with `EVALSHA`. An open
    /// transition reaches to the end of the run.
    pub fn transition(&self) -> Option<Transition> {
        let of_worker = |taken: &Taken| taken.actor == WORKER;
        let first = self.run.taken.iter().position(of_worker)?;
        let open = self.scene.next(WORKER, self.run.replies.get(WORKER)?).is_some();
        let last = match self.run.taken.iter().rposition(of_worker) {
            Some(last) if !open => last,
            _ => self.run.taken.len().saturating_sub(1),
        };
        let between = self.run.taken.get(first..=last).unwrap_or_default();
        let torn = between.iter().any(|taken| matches!(taken.actor, REAPER | NEXT_WORKER));
        Some(Transition { first, last, torn })
    }

    /// The queue at the start, then after each step.
    pub fn states(&self) -> Vec<&QueueState> {
        std::iter::once(&self.start).chain(self.acts.iter().map(|act| &act.after)).collect()
    }

    /// How often the job was handled; `None` while somebody has a step left.
    pub fn outcome(&self) -> Option<Handled> {
        self.run.ready(&self.scene).is_empty().then(|| self.scene.outcome(&self.run.replies))
    }

    /// The outcome in one sentence that says why.
    pub fn verdict(&self) -> Option<String> {
        self.scene.verdict(&self.run)
    }

    /// Every interleaving of this way to finish, on an engine of its own.
    ///
    /// # Errors
    /// When the engine stops a script at its limits.
    pub fn all_interleavings(&self) -> Result<Report<Handled>, WireError> {
        explore(&self.scene, &mut EngineWire::default())
    }

    /// Every interleaving of both ways to finish, on an engine of their own.
    ///
    /// # Errors
    /// When the engine stops a script at its limits.
    pub fn compare(&self) -> Result<Vec<Explored>, WireError> {
        let mut wire = EngineWire::default();
        let explored = |completion| Ok((completion, explore(&self.scene.with(completion), &mut wire)?));
        Completion::ALL.into_iter().map(explored).collect()
    }

    fn cut(&mut self, steps: usize) -> Result<(), RunError> {
        let schedule = self.schedule().steps().take(steps).collect();
        self.play(&schedule)
    }

    fn start_over(&mut self) -> Result<(), WireError> {
        self.run = Run::new(self.scene.actors().len());
        self.acts.clear();
        self.at = 0;
        self.stage.clear()?;
        self.scene.set_up(self.stage.wire())?;
        self.start = self.stage.state()?;
        self.start_ms = self.stage.clock_ms()?;
        Ok(())
    }
}

/// The worker's steps from its first to its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    pub first: usize,
    pub last: usize,
    /// Somebody else was served in between.
    pub torn: bool,
}

/// A stage as a wire that keeps its last act.
struct Seen<'a> {
    stage: &'a mut Stage,
    act: Option<Act>,
}

impl Wire for Seen<'_> {
    fn call(&mut self, argv: &[&[u8]]) -> Result<Reply, WireError> {
        let argv: Vec<Vec<u8>> = argv.iter().map(|word| word.to_vec()).collect();
        let act = self.stage.command(&argv)?;
        let reply = act.reply.clone();
        self.act = Some(act);
        Ok(reply)
    }

    fn pass(&mut self, by: std::time::Duration) -> Result<(), WireError> {
        self.stage.wire().pass(by)
    }
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Schedule(error) => error.fmt(f),
            LoadError::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}
