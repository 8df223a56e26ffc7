//! Every interleaving of a scenario, run.
//!
//! Depth first over snapshots of one engine. Two points of two runs are the same when the queue's keys and every
//! actor's replies are equal; what lies below such a point is explored once and counted as often as it is reached. So
//! the number of schedules is exact and the work is the number of states.

use echomq_engine::Reply;
use litemap::LiteMap;

use crate::scenario::{Run, Scenario};
use crate::schedule::Schedule;
use crate::state::QueueState;
use crate::wire::{EngineWire, WireError};

/// What all interleavings come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<O: Ord> {
    /// Complete schedules.
    pub schedules: u64,
    /// Distinct states, the first and the last ones included.
    pub states: usize,
    pub outcomes: LiteMap<O, Found>,
}

/// How often an outcome came about, and the shortest schedule that shows it (of equals, the first in actor order).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub schedules: u64,
    pub witness: Schedule,
}

/// Runs every interleaving. The engine behind `wire` starts from its present state, which must hold no key of the
/// scenario's queue, and is left there.
///
/// # Errors
/// When the engine stops a script at its limits.
pub fn explore<S: Scenario>(scenario: &S, wire: &mut EngineWire) -> Result<Report<S::Outcome>, WireError> {
    let before = wire.engine().snapshot();
    scenario.set_up(wire)?;
    let mut explorer = Explorer { scenario, wire, below: LiteMap::new() };
    let found = explorer.below(&Run::new(scenario.actors().len()));
    let states = explorer.below.len();
    wire.engine().restore(&before);
    let mut outcomes = LiteMap::new();
    for (outcome, ways) in found? {
        let witness = ways.shortest.into_iter().collect();
        outcomes.insert(outcome, Found { schedules: ways.count, witness });
    }
    Ok(Report { schedules: outcomes.values().map(|found: &Found| found.schedules).sum(), states, outcomes })
}

struct Explorer<'a, S: Scenario> {
    scenario: &'a S,
    wire: &'a mut EngineWire,
    below: LiteMap<Point, LiteMap<S::Outcome, Ways>>,
}

/// Where a run stands. Replies are compared by their text, which is exact.
type Point = (QueueState, Vec<Vec<String>>);

/// The ways from a point to one outcome.
#[derive(Clone, Debug)]
struct Ways {
    count: u64,
    shortest: Vec<char>,
}

impl<S: Scenario> Explorer<'_, S> {
    /// The outcomes below the engine's present state, where `run` has led.
    fn below(&mut self, run: &Run) -> Result<LiteMap<S::Outcome, Ways>, WireError> {
        let point = self.point(run)?;
        if let Some(known) = self.below.get(&point) {
            return Ok(known.clone());
        }
        let ready = run.ready(self.scenario);
        let mut outcomes = LiteMap::new();
        if ready.is_empty() {
            let outcome = self.scenario.outcome(&run.replies);
            outcomes.insert(outcome, Ways { count: 1, shortest: Vec::new() });
        }
        let here = self.wire.engine().snapshot();
        for actor in ready {
            let mut next = run.clone();
            next.step(self.scenario, self.wire, actor)?;
            let letter = self.scenario.actors().get(actor).map_or('?', |actor| actor.letter);
            for (outcome, ways) in self.below(&next)? {
                merge(&mut outcomes, outcome, letter, ways);
            }
            self.wire.engine().restore(&here);
        }
        self.below.insert(point, outcomes.clone());
        Ok(outcomes)
    }

    fn point(&mut self, run: &Run) -> Result<Point, WireError> {
        let state = QueueState::read(self.wire, self.scenario.queue().keys(), self.scenario.jobs())?;
        let replies = run.replies.iter().map(|replies| replies.iter().map(Reply::to_string).collect());
        Ok((state, replies.collect()))
    }
}

/// Adds the ways that begin with `letter`.
fn merge<O: Ord>(outcomes: &mut LiteMap<O, Ways>, outcome: O, letter: char, below: Ways) {
    let mut shortest = vec![letter];
    shortest.extend(below.shortest);
    match outcomes.get_mut(&outcome) {
        None => {
            outcomes.insert(outcome, Ways { count: below.count, shortest });
        }
        Some(ways) => {
            ways.count += below.count;
            if shortest.len() < ways.shortest.len() {
                ways.shortest = shortest;
            }
        }
    }
}
