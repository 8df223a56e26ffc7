//! Every sequence of buttons up to some length, on the engine: no sequence breaks a session, a law of jobs, or the way
//! back.

use echomq_core::scenario::race::{Completion, Handled};
use echomq_core::{EngineWire, Schedule};
use echomq_widget::session::present::{Present, Verb};
use echomq_widget::session::race::Race;
use echomq_widget::session::round_trip::RoundTrip;
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
            "1) \"JOB0Jkwr5Kq0CGG\" 2) \"charge the card\" 3) (integer) 1 | Token 1 minted, state active — the first life.",
            "\"scheduled\" | The verify passes, attempts 1 is below max 3: the job parks in the schedule (state scheduled, \
             pending empty), due in 5000 ms.",
            "(integer) 1 | One due job moved back to pending.",
            "1) \"JOB0Jkwr5Kq0CGG\" 2) \"charge the card\" 3) (integer) 2 | HINCRBY mints token 2, state active — the \
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
        for to in 0..states.len() {
            walk.go_to(from).unwrap();
            walk.go_to(to).unwrap();
            assert_eq!(walk.at(), to);
            assert_eq!(of(walk.staged().state()), of(&states[to]), "from {from} to {to}");
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
        let mut states = race.states().to_vec();
        while race.back().unwrap() {
            states.pop();
            assert_eq!(race.states().len(), states.len());
            assert_eq!(race.states(), states, "{text} back to {}", race.schedule());
        }
        assert!(race.schedule().is_empty());
        assert!(race.play(&"WX".parse().unwrap()).is_err());
        assert!(race.schedule().is_empty(), "a schedule that cannot be run leaves the race at its start");
    }
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
