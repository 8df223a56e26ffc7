//! What the pages show, on every wire: the same buttons and the same schedules bring the same answers from the engine
//! and from each real server.

use echomq_core::scenario::race::{Completion, Race};
use echomq_core::scenario::{Run, Scenario, replay};
use echomq_core::{EngineWire, Schedule, Wire};
use echomq_widget::session::present::{Present, Verb};
use echomq_widget::session::round_trip::RoundTrip;
use echomq_widget::session::staged::{Readout, Staged};
use emq_verify::server::Server;

/// Presses per sequence of tokens.
const PRESSES: u32 = 6;
/// Presses per sequence with resets and steps back among them. These lead to where fewer presses lead: on the engine that
/// is held for [`PRESSES`] buttons too (`crates/widget/tests/sessions.rs`).
const LENGTH: u32 = 3;

/// What `session` answers on every wire must be what it answers on the engine.
#[track_caller]
fn check<T: PartialEq + std::fmt::Debug>(session: impl Fn(Box<dyn Wire>) -> T) {
    let expected = session(Box::new(EngineWire::default()));
    let servers = Server::all().unwrap();
    assert!(!servers.is_empty());
    for server in servers {
        let answers = session(Box::new(server.connect().unwrap()));
        assert_eq!(answers, expected, "on valkey {}", server.version());
    }
}

/// Every sequence of tokens, and shorter ones with a reset and a step back.
fn presses(wire: Box<dyn Wire>, attempts: u64, verb: Verb, tokens: [&str; 3]) -> Vec<Option<Readout>> {
    let mut session = Present::new(wire, "wires-present", attempts, verb).unwrap();
    let buttons = tokens.len() + 2;
    let mut seen = Vec::new();
    for mut sequence in 0..buttons.pow(LENGTH) {
        session.staged_mut().reset().unwrap();
        for _ in 0..LENGTH {
            match tokens.get(sequence % buttons) {
                Some(token) => drop(session.press(token).unwrap()),
                None if sequence % buttons == tokens.len() => session.staged_mut().reset().unwrap(),
                None => drop(session.staged_mut().back().unwrap()),
            }
            sequence /= buttons;
            seen.push(session.staged().readout());
        }
    }
    for mut sequence in 0..tokens.len().pow(PRESSES) {
        session.staged_mut().reset().unwrap();
        for _ in 0..PRESSES {
            seen.push(Some(session.press(tokens[sequence % tokens.len()]).unwrap()));
            sequence /= tokens.len();
        }
    }
    remove(&mut session.staged_mut());
    seen
}

/// Leaves a server that is not ours as it was.
fn remove(staged: &mut Staged) {
    staged.clear().unwrap();
}

#[test]
fn tokens_at_the_fence() {
    check(|wire| presses(wire, 1, Verb::Complete, ["1", "99", "x y"]));
}

#[test]
fn tokens_at_complete() {
    check(|wire| presses(wire, 2, Verb::Complete, ["2", "1", "0"]));
}

#[test]
fn tokens_at_retry_below_max_and_at_max() {
    let verb = |delay_ms: &str, max_attempts: &str| Verb::Retry {
        delay_ms: delay_ms.to_owned(),
        max_attempts: max_attempts.to_owned(),
        error: "card declined".to_owned(),
    };
    check(|wire| presses(wire, 1, verb("5000", "2"), ["1", "2", ""]));
    check(|wire| presses(wire, 2, verb("0", "2"), ["1", "2", "é"]));
    check(|wire| presses(wire, 1, verb("soon", "2"), ["1", "2", "3"]));
}

#[test]
fn the_walk() {
    check(|wire| {
        let mut walk = RoundTrip::new(wire, "wires-walk", 20).unwrap();
        let mut seen = Vec::new();
        while let Some(step) = walk.step().unwrap() {
            seen.push((step, walk.staged().readout()));
        }
        walk.go_to(2).unwrap();
        seen.push((walk.step().unwrap().unwrap(), walk.staged().readout()));
        remove(&mut walk.staged_mut());
        seen
    });
}

/// Every schedule of the race, found on the engine and replayed on every wire, reply by reply.
#[test]
fn every_schedule_of_the_race() {
    for completion in [Completion::Split, Completion::OneEvalsha] {
        let race = Race::new(completion, "wires-race").unwrap();
        let schedules = complete_schedules(&race);
        assert!(schedules.len() > 5);
        check(|mut wire| {
            let runs: Vec<_> = schedules.iter().map(|schedule| run(&race, schedule, &mut *wire)).collect();
            clear(&race, &mut *wire);
            runs
        });
    }
}

fn complete_schedules(race: &Race) -> Vec<Schedule> {
    let mut complete = Vec::new();
    let mut open = vec![Schedule::default()];
    while let Some(schedule) = open.pop() {
        let run = replay(race, &schedule, &mut EngineWire::default()).unwrap();
        let letters = run.ready(race).into_iter().map(|actor| race.actors()[actor].letter);
        let longer: Vec<Schedule> =
            letters.map(|letter| schedule.steps().chain([letter]).collect()).collect();
        if longer.is_empty() {
            complete.push(schedule);
        }
        open.extend(longer);
    }
    complete
}

fn run(race: &Race, schedule: &Schedule, wire: &mut dyn Wire) -> (Run, <Race as Scenario>::Outcome) {
    clear(race, wire);
    let run = replay(race, schedule, wire).unwrap();
    let outcome = race.outcome(&run.replies);
    (run, outcome)
}

fn clear(race: &Race, wire: &mut dyn Wire) {
    for key in race.queue().keys().all(race.jobs()) {
        wire.call(&[b"DEL", key.as_bytes()]).unwrap();
    }
}
