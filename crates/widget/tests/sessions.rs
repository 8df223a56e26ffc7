//! Every sequence of buttons up to some length, on the engine: no sequence breaks a session, a law of jobs, or the way
//! back.

use echomq_core::scenario::race::{Completion, Handled};
use echomq_core::{EngineWire, QueueState, Schedule};
use echomq_widget::session::present::{Present, Verb};
use echomq_widget::session::race::{PRESETS, Race, Transition};
use echomq_widget::session::round_trip::{RoundTrip, delay_of, step_of};
use echomq_widget::session::staged::Readout;

const LENGTH: u32 = 6;

fn wire() -> Box<EngineWire> {
    Box::new(EngineWire::default().traced())
}

/// All sequences of `LENGTH` buttons out of `buttons`, each as indices; shorter ones are their beginnings.
fn sequences(buttons: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..buttons.pow(LENGTH)).map(move |mut n| {
        let digit = |_| {
            let digit = n % buttons;
            n /= buttons;
            digit
        };
        (0..LENGTH).map(digit).collect()
    })
}

fn present(attempts: u64, verb: Verb) -> Present {
    Present::new(wire(), "page", attempts, verb).unwrap()
}

fn retry(max_attempts: &str) -> Verb {
    let word = str::to_owned;
    Verb::Retry { delay_ms: word("5000"), max_attempts: word(max_attempts), error: word("card declined") }
}

/// Presses tokens, resets and steps back in every order; after each press the queue is lawful and the readout is that
/// of `expected`.
#[track_caller]
fn check_presses(attempts: u64, verb: &Verb, tokens: [&str; 3], expected: fn(&str) -> &'static str) {
    let mut session = present(attempts, verb.clone());
    for sequence in sequences(tokens.len() + 2) {
        session.staged_mut().reset().unwrap();
        for &button in &sequence {
            match tokens.get(button) {
                Some(token) => {
                    assert_eq!(session.press(token).unwrap().answer, expected(token), "{sequence:?}")
                }
                None if button == tokens.len() => session.staged_mut().reset().unwrap(),
                None => drop(session.staged_mut().back().unwrap()),
            }
            assert_eq!(session.state().broken_laws(), [], "{sequence:?}");
        }
    }
}

const STALE: &str = "(error) EMQSTALE complete token mismatch";

#[test]
fn the_fence_answers_each_token_the_same_whatever_came_before() {
    check_presses(
        1,
        &Verb::Complete,
        ["1", "99", "x y"],
        |token| if token == "1" { "(integer) 1" } else { STALE },
    );
}

#[test]
fn complete_answers_each_token_the_same_whatever_came_before() {
    check_presses(
        2,
        &Verb::Complete,
        ["2", "1", "0"],
        |token| if token == "2" { "(integer) 1" } else { STALE },
    );
}

#[test]
fn retry_answers_each_token_the_same_whatever_came_before() {
    let stale = "(error) EMQSTALE retry token mismatch";
    check_presses(1, &retry("2"), ["1", "2", ""], |token| {
        if token == "1" { "\"scheduled\"" } else { "(error) EMQSTALE retry token mismatch" }
    });
    let mut session = present(2, retry("2"));
    assert_eq!(session.press("1").unwrap().answer, stale);
    assert_eq!(session.press("2").unwrap().answer, "\"dead\"");
}

#[test]
fn readouts_say_what_the_course_says() {
    let says = |session: &mut Present, token: &str| session.press(token).unwrap();
    let mut fence = present(1, Verb::Complete);
    assert_eq!(
        says(&mut fence, "99"),
        readout(
            STALE,
            "Token 99 against attempts 1: mismatch, the row stays active, the lease holder's work survives the \
             zombie's complete."
        )
    );
    assert_eq!(
        says(&mut fence, "1"),
        readout(
            "(integer) 1",
            "Token 1 matches attempts 1: the verify passes and the row retires — nothing remains."
        )
    );
    assert!(fence.staged().is_gone());
    let mut bury = present(2, retry("2"));
    assert_eq!(
        says(&mut bury, "2"),
        readout(
            "\"dead\"",
            "Attempts 2 against max 2: state dead, last_error \"card declined\" kept, metrics:failed 1."
        )
    );
    let mut later = present(1, retry("2"));
    assert_eq!(
        says(&mut later, "1"),
        readout(
            "\"scheduled\"",
            "The verify passes, attempts 1 is below max 2: the job parks in the schedule (state scheduled, pending \
             empty), due in 5000 ms."
        )
    );
    let mut bad =
        present(1, Verb::Retry { delay_ms: "soon".into(), max_attempts: "2".into(), error: String::new() });
    assert_eq!(
        says(&mut bad, "1"),
        readout(
            "(error) EMQARG retry delay is not a whole number of ms from 0",
            "The call is malformed, and was refused before anything was written."
        )
    );
}

fn readout(answer: &str, meaning: &str) -> Readout {
    Readout { answer: answer.to_owned(), meaning: meaning.to_owned() }
}

#[test]
fn the_walk_hands_out_token_1_and_token_2() {
    let mut walk = RoundTrip::new(wire(), "page", 5000).unwrap();
    let mut seen = Vec::new();
    while walk.step().unwrap().is_some() {
        let readout = walk.staged().readout().unwrap();
        seen.push(format!("{} | {}", readout.answer.replace('\n', " "), readout.meaning));
    }
    assert_eq!(
        seen,
        [
            "1) \"JOB0JZGkP8slns\" 2) \"charge the card\" 3) (integer) 1 | Token 1 minted, state active — the first life.",
            "\"scheduled\" | The verify passes, attempts 1 is below max 3: the job parks in the schedule (state scheduled, \
             pending empty), due in 5000 ms.",
            "(integer) 1 | One due job moved back to pending.",
            "1) \"JOB0JZGkP8slns\" 2) \"charge the card\" 3) (integer) 2 | HINCRBY mints token 2, state active — the \
             second life, fenced against the first.",
        ]
    );
}

#[test]
fn the_walk_goes_to_every_step_from_every_step() {
    let mut walk = RoundTrip::new(wire(), "page", 5000).unwrap();
    let mut states = vec![walk.staged().state().clone()];
    while walk.step().unwrap().is_some() {
        states.push(walk.staged().state().clone());
    }
    let of =
        |state: &echomq_core::QueueState| (state.pending.len(), state.active.len(), state.schedule.len());
    for from in 0..states.len() {
        for (to, state) in states.iter().enumerate() {
            walk.go_to(from).unwrap();
            walk.go_to(to).unwrap();
            assert_eq!(walk.at(), to);
            assert_eq!(of(walk.staged().state()), of(state), "from {from} to {to}");
            assert_eq!(walk.staged().state().broken_laws(), []);
        }
    }
}

#[test]
fn the_race_can_be_scheduled_taken_back_and_named_by_its_letters() {
    for (completion, text, handled) in [
        (Completion::Split, "WRNWWN", Handled::Twice),
        (Completion::Split, "WWWRN", Handled::Once),
        (Completion::OneEvalsha, "WRN", Handled::Once),
        (Completion::OneEvalsha, "RNWN", Handled::Once),
    ] {
        let mut race = Race::new(wire(), "page", completion).unwrap();
        let schedule: Schedule = text.parse().unwrap();
        race.play(&schedule).unwrap();
        assert_eq!(race.outcome(), Some(handled), "{text}");
        assert_eq!(race.schedule(), schedule);
        let mut states = untimed(&race);
        while race.back().unwrap() {
            states.pop();
            assert_eq!(race.states().len(), states.len());
            assert_eq!(untimed(&race), states, "{text} back to {}", race.schedule());
        }
        assert!(race.schedule().is_empty());
        assert!(race.play(&"WX".parse().unwrap()).is_err());
        assert!(race.schedule().is_empty(), "a schedule that cannot be run leaves the race at its start");
    }
}

/// The queue at each step. Server time goes on when a run starts over, so that deadlines say nothing.
fn untimed(race: &Race) -> Vec<QueueState> {
    let mut states: Vec<QueueState> = race.states().into_iter().cloned().collect();
    states.iter_mut().flat_map(|state| &mut state.active).for_each(|member| member.score.clear());
    states
}

/// Any actor at any time, also those that have finished.
#[test]
fn no_order_of_actors_breaks_the_race() {
    for completion in [Completion::Split, Completion::OneEvalsha] {
        let mut race = Race::new(wire(), "page", completion).unwrap();
        for sequence in sequences(4) {
            race.play(&Schedule::default()).unwrap();
            for &button in &sequence {
                if button < 3 {
                    race.choose(button).unwrap();
                } else {
                    race.back().unwrap();
                }
            }
            assert_eq!(race.states().len(), race.run().taken.len() + 1);
        }
    }
}

fn race(completion: Completion, schedule: &str) -> Race {
    let mut race = Race::new(wire(), "page", completion).unwrap();
    race.load(schedule).unwrap();
    race
}

#[test]
fn presets_come_to_the_verdicts_of_the_course() {
    let told = PRESETS.map(|preset| race(preset.completion, preset.schedule).verdict().unwrap());
    assert_eq!(
        told,
        [
            "The reaper re-queues the job between the read and the write, so it is handled twice.",
            "The script runs to completion first, so the job is already retired before the reaper runs — handled once.",
            "The next worker holds a newer token, and the script refuses the worker's before it writes — handled once.",
        ]
    );
}

#[test]
fn each_step_of_a_race_tells_its_answer_and_where_the_job_is() {
    let mut race = race(Completion::Split, "WRNWWN");
    let served = race.served();
    let told: Vec<String> = (1..=served.len())
        .map(|at| {
            race.select(at);
            let served = &served[at - 1];
            let laws = if served.lawful { "" } else { " (broken)" };
            format!(
                "{}: {} | {}{laws} | {}",
                served.label,
                served.brief,
                served.place,
                race.readout().unwrap().meaning
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "HGET attempts: \"1\" | active 1 | The row says attempts 1, the token that the worker holds: it decides to go on and write.",
            "EVALSHA @reap: (integer) 1 | pending 1 | One orphan returned to pending.",
            "EVALSHA @claim: … 3) (integer) 2 | active 2 | HINCRBY mints token 2, state active — the second life, fenced against the first.",
            "ZREM active: (integer) 1 | in no set (broken) | The id leaves active, but the lease that ends is the next worker's, who holds token 2.",
            "DEL row: (integer) 1 | gone | The row is deleted under the next worker, who holds token 2.",
            "EVALSHA @complete: (integer) 0 | gone | Gone: the row was already retired, and at-least-once semantics promised exactly this possibility.",
        ]
    );
    race.select(0);
    assert_eq!((race.at(), race.readout()), (0, None));
    race.select(99);
    assert_eq!(race.at(), 6);
}

#[test]
fn a_past_step_can_be_gone_on_from() {
    let mut race = race(Completion::Split, "WRNWWN");
    race.select(1);
    race.fork().unwrap();
    assert_eq!(race.schedule().to_string(), "W");
    assert!(race.choose(0).unwrap());
    assert_eq!((race.at(), race.schedule().to_string()), (2, "WW".to_owned()));
    race.set_completion(Completion::OneEvalsha).unwrap();
    assert_eq!((race.at(), race.lanes()[0].next), (0, Some("EVALSHA @complete")));
}

#[test]
fn a_transition_is_torn_when_somebody_is_served_inside_it() {
    let transition = |first, last, torn| Some(Transition { first, last, torn });
    for (completion, schedule, expected) in [
        (Completion::Split, "R", None),
        (Completion::Split, "W", transition(0, 0, false)),
        (Completion::Split, "WR", transition(0, 1, true)),
        (Completion::Split, "WRWWN", transition(0, 3, true)),
        (Completion::Split, "RWWWN", transition(1, 3, false)),
        (Completion::OneEvalsha, "RWN", transition(1, 1, false)),
    ] {
        assert_eq!(race(completion, schedule).transition(), expected, "{schedule}");
    }
}

#[test]
fn a_text_that_names_no_run_says_why_and_leaves_the_start() {
    let mut race = race(Completion::OneEvalsha, "wr");
    assert_eq!(race.schedule().to_string(), "WR");
    for (text, why) in [
        ("W-R", "a schedule is letters, one per step, such as WRWW: '-' is none"),
        ("WX", "step 2 of the schedule is X, and there is no such actor"),
        ("WW", "step 2 of the schedule is W, who has nothing left to do by then"),
    ] {
        assert_eq!(race.load(text).unwrap_err().to_string(), why);
        assert!(race.schedule().is_empty());
        assert_eq!(race.states().len(), 1);
    }
}

#[test]
fn only_split_commands_handle_the_job_twice() {
    let race = race(Completion::Split, "");
    let told: Vec<String> = race
        .compare()
        .unwrap()
        .into_iter()
        .flat_map(|(completion, report)| {
            report.outcomes.into_iter().map(move |(handled, found)| {
                format!(
                    "{}, {}: {} ({})",
                    completion.words(),
                    handled.words(),
                    found.schedules,
                    found.witness
                )
            })
        })
        .collect();
    assert_eq!(
        told,
        [
            "split commands, handled once: 17 (RNWN)",
            "split commands, handled twice: 10 (WRWNWN)",
            "one EVALSHA, handled once: 7 (WRN)",
        ]
    );
}

#[test]
fn the_walk_tells_its_steps_and_the_time_that_goes_by() {
    let mut walk = RoundTrip::new(wire(), "page", 5000).unwrap();
    assert_eq!((walk.told(), walk.attempts(), walk.elapsed_ms()), (None, "0".to_owned(), 0));
    let mut told = Vec::new();
    while walk.step().unwrap().is_some() {
        let (attempts, elapsed, passed) = (walk.attempts(), walk.elapsed_ms(), walk.passed_ms());
        told.push(format!("{} attempts {attempts}, {elapsed} ms, +{passed} ms", walk.told().unwrap()));
    }
    assert_eq!(
        told,
        [
            "Step 1 of 4: claim. Token 1 minted, state active — the first life. attempts 1, 0 ms, +0 ms",
            "Step 2 of 4: retry. The verify passes, attempts 1 is below max 3: the job parks in the schedule (state scheduled, \
             pending empty), due in 5000 ms. attempts 1, 0 ms, +0 ms",
            "Step 3 of 4: promote, 5,000 ms later. One due job moved back to pending. attempts 1, 5000 ms, +5000 ms",
            "Step 4 of 4: claim. HINCRBY mints token 2, state active — the second life, fenced against the first. attempts 2, \
             5000 ms, +0 ms",
        ]
    );
}

#[test]
fn attributes_of_the_walk_are_taken_or_refused() {
    assert_eq!(delay_of(None), Ok(5000));
    assert_eq!(delay_of(Some("0")), Ok(0));
    assert_eq!(step_of("4"), Ok(4));
    for bad in ["", "-1", "1.5", "+5", "1234567890123456"] {
        assert!(delay_of(Some(bad)).unwrap_err().to_string().contains(bad), "{bad}");
    }
    for bad in ["", "5", "-1", "two"] {
        assert!(step_of(bad).unwrap_err().to_string().contains(bad), "{bad}");
    }
}

#[test]
fn no_run_is_longer_than_the_lanes_have_room_for() {
    for completion in [Completion::Split, Completion::OneEvalsha] {
        let mut race = race(completion, "");
        let mut longest = 0;
        for sequence in sequences(3) {
            race.play(&Schedule::default()).unwrap();
            for &actor in &sequence {
                race.choose(actor).unwrap();
            }
            longest = longest.max(race.run().taken.len());
        }
        assert_eq!(longest, race.longest(), "{completion:?}");
    }
}

#[test]
fn a_step_of_a_race_is_shown_with_its_sender_and_at_the_end_the_verdict() {
    let mut race = race(Completion::Split, "WRNWWN");
    let shown = race.shown();
    let said = shown.said.unwrap();
    assert_eq!((&*said.prompt, &*said.readout.answer), ("@complete JOB… 2", "(integer) 0"));
    assert_eq!(
        said.readout.meaning,
        "Step 6, next worker. Gone: the row was already retired, and at-least-once semantics promised exactly this \
         possibility. The reaper re-queues the job between the read and the write, so it is handled twice."
    );
    assert_eq!((shown.place, shown.listing.name.as_str()), ("gone", "complete"));
    assert_eq!(shown.once.len(), 6);
    race.select(4);
    let shown = race.shown();
    assert_eq!(shown.said.unwrap().prompt, "ZREM 'emq:{page}:active' JOB00000000000");
    assert_eq!((shown.place, &*shown.attempts, shown.listing.ran()), ("nowhere", "2", false));
    race.select(0);
    let shown = race.shown();
    assert_eq!((shown.said, shown.place, shown.argv.len()), (None, "active", 0));
}

#[test]
fn the_walk_is_shown_step_by_step_with_what_a_server_needs_first() {
    let mut walk = RoundTrip::new(wire(), "page", 5000).unwrap();
    let shown = walk.shown().unwrap();
    assert_eq!((shown.said, shown.place, &*shown.listing.name), (None, "pending", "claim"));
    let loads: Vec<_> = shown.once.iter().filter(|line| line.contains("SCRIPT LOAD")).collect();
    assert_eq!(loads.len(), 4, "{loads:?}");
    walk.go_to(3).unwrap();
    let shown = walk.shown().unwrap();
    assert_eq!(
        shown.said.unwrap().readout.meaning,
        "Step 3 of 4: promote, 5,000 ms later. One due job moved back to pending."
    );
    walk.set_delay(1_234_567).unwrap();
    assert_eq!((walk.at(), walk.last()), (0, None));
    walk.go_to(3).unwrap();
    assert!(walk.told().unwrap().contains("1,234,567 ms later"));
}
