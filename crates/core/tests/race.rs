//! The race, explored: exact counts, and witnesses that replay.

use std::collections::BTreeMap;

use echomq_core::explore::{Report, explore};
use echomq_core::scenario::race::{Completion, Handled, Race};
use echomq_core::scenario::{RunError, Scenario, replay};
use echomq_core::{EngineWire, QueueState, Schedule};

fn wire() -> EngineWire {
    EngineWire::default()
}

fn explored(completion: Completion) -> Report<Handled> {
    explore(&Race::new(completion, "race").unwrap(), &mut wire()).unwrap()
}

fn counts(report: &Report<Handled>) -> BTreeMap<Handled, u64> {
    report.outcomes.iter().map(|(outcome, found)| (*outcome, found.schedules)).collect()
}

/// Each interleaving run from the start, none merged: what the explorer's counting must come to.
fn brute_force(scenario: &Race) -> BTreeMap<Handled, u64> {
    let mut counts = BTreeMap::new();
    let mut open = vec![Schedule::default()];
    while let Some(schedule) = open.pop() {
        let run = replay(scenario, &schedule, &mut wire()).unwrap();
        let ready = run.ready(scenario);
        if ready.is_empty() {
            *counts.entry(scenario.outcome(&run.replies)).or_default() += 1;
        }
        open.extend(ready.into_iter().map(|actor| {
            let letter = scenario.actors()[actor].letter;
            schedule.steps().chain([letter]).collect()
        }));
    }
    counts
}

#[test]
fn split_commands_handle_the_job_twice_in_some_orders() {
    let report = explored(Completion::Split);
    assert!(report.outcomes.contains_key(&Handled::Twice), "the model is known to be broken");
    assert_eq!(counts(&report), brute_force(&Race::new(Completion::Split, "race").unwrap()));
    assert_eq!((report.schedules, report.states), (27, 38));
    assert_eq!(counts(&report), BTreeMap::from([(Handled::Once, 17), (Handled::Twice, 10)]));
    let witness = &report.outcomes[&Handled::Twice].witness;
    let race = Race::new(Completion::Split, "race").unwrap();
    let run = replay(&race, witness, &mut wire()).unwrap();
    assert_eq!(race.outcome(&run.replies), Handled::Twice);
    assert_eq!(run.schedule(&race), *witness);
}

#[test]
fn one_evalsha_handles_the_job_once_in_every_order() {
    let report = explored(Completion::OneEvalsha);
    assert_eq!((report.schedules, report.states), (7, 15));
    assert_eq!(counts(&report), BTreeMap::from([(Handled::Once, 7)]));
    assert_eq!(counts(&report), brute_force(&Race::new(Completion::OneEvalsha, "race").unwrap()));
}

#[test]
fn one_evalsha_leaves_every_state_lawful() {
    let race = Race::new(Completion::OneEvalsha, "race").unwrap();
    for text in ["WRN", "RWN", "RNW", "RNWN", "RNNW", "NWR", "NRW"] {
        let mut wire = wire();
        replay(&race, &text.parse().unwrap(), &mut wire).unwrap();
        let state = QueueState::read(&mut wire, race.queue().keys(), race.jobs()).unwrap();
        assert_eq!(state.broken_laws(), [], "after {text}: {state:?}");
    }
}

#[test]
fn the_explorer_leaves_the_engine_as_it_was() {
    let mut wire = wire();
    let race = Race::new(Completion::Split, "race").unwrap();
    explore(&race, &mut wire).unwrap();
    let state = QueueState::read(&mut wire, race.queue().keys(), race.jobs()).unwrap();
    assert_eq!(state, QueueState::default());
}

#[test]
fn a_schedule_that_cannot_be_run_says_where() {
    let race = Race::new(Completion::OneEvalsha, "race").unwrap();
    let run = |text: &str| replay(&race, &text.parse().unwrap(), &mut wire()).unwrap_err();
    assert_eq!(run("WX"), RunError::NoActor { at: 2, letter: 'X' });
    assert_eq!(run("WW"), RunError::Finished { at: 2, letter: 'W' });
    assert!("W-R".parse::<Schedule>().is_err());
    assert!("W".repeat(65).parse::<Schedule>().is_err());
}

/// The sentence of every finished schedule, each once, with the first schedule that earns it.
fn verdicts(completion: Completion) -> String {
    let scenario = Race::new(completion, "race").unwrap();
    let mut sentences = BTreeMap::new();
    let mut open = vec![Schedule::default()];
    while let Some(schedule) = open.pop() {
        let run = replay(&scenario, &schedule, &mut wire()).unwrap();
        let ready = run.ready(&scenario);
        if let Some(sentence) = scenario.verdict(&run) {
            assert!(ready.is_empty(), "{schedule} is not over");
            let words = scenario.outcome(&run.replies).words();
            assert!(sentence.contains(words), "{schedule} was {words}: {sentence}");
            sentences.entry(sentence).or_insert(schedule.to_string());
        }
        for actor in ready.into_iter().rev() {
            open.push(schedule.steps().chain([scenario.actors()[actor].letter]).collect());
        }
    }
    sentences.into_iter().map(|(sentence, schedule)| format!("{schedule}: {sentence}\n")).collect()
}

#[test]
fn each_order_is_told_with_its_outcome_and_why() {
    assert_eq!(
        verdicts(Completion::Split),
        "\
RNWN: The next worker had claimed the job before the read, and the worker stops at what it reads: handled once.
WRWNWN: The reaper re-queues the job between the read and the write, so it is handled twice.
RWWNWN: The reaper re-queues the job, and the next worker claims it between the read and the last write, so it is handled twice.
WRWWN: The reaper re-queues the job, and the row is gone before anybody claims it, by luck: handled once.
WNRWW: The reaper re-queues the job, but the next worker had asked already, by luck: handled once.
WWWRN: The write came before the reaper, by luck and not by rule: handled once.
"
    );
    assert_eq!(
        verdicts(Completion::OneEvalsha),
        "\
RNNW: The next worker had retired the job, and the script answers that it is gone — handled once.
RNWN: The next worker holds a newer token, and the script refuses the worker's before it writes — handled once.
RWN: The reaper had re-queued the job, and the script takes it from pending in the same step — handled once.
WRN: The script runs to completion first, so the job is already retired before the reaper runs — handled once.
"
    );
}
