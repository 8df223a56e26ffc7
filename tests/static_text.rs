//! What the pages say without JavaScript: each verdict in a tag is what the scripts answer, on the engine and on every
//! real Valkey; each quoted line stands in the script that it is quoted from.

use echomq_core::scenario::race::{Completion, Handled};
use echomq_core::{EngineWire, Scripts};
use echomq_widget::session::present::{Present, Verb};
use echomq_widget::session::race::{PRESETS, Race};
use echomq_widget::session::round_trip::RoundTrip;
use lab_tests::html::{elements, inner, text};
use lab_tests::wires::on_every_wire;

const GOLDEN: &str = include_str!("golden/rung.txt");

const PAGES: [(&str, &str); 4] = [
    ("index.html", include_str!("../www/index.html")),
    ("fencing-token.html", include_str!("../www/fencing-token.html")),
    ("read-decide-write.html", include_str!("../www/read-decide-write.html")),
    ("rung/index.html", include_str!("../www/rung/index.html")),
];

/// Every element of that tag on any page says these verdicts, in this order; `pages`: how many do.
#[track_caller]
fn check(tag: &str, opening: &str, pages: usize, verdicts: &[String]) {
    let mut found = 0;
    for (page, html) in PAGES {
        for element in elements(html, tag).into_iter().filter(|element| element.opening.contains(opening)) {
            let said: Vec<String> =
                elements(element.inner, "li").iter().map(|item| text(item.inner)).collect();
            assert_eq!(said, verdicts, "<{tag}> in www/{page}");
            found += 1;
        }
    }
    assert_eq!(found, pages, "<{tag}> on the pages");
}

/// The answer as a sentence quotes it, the meaning, and whether the call changed nothing.
struct Verdict {
    answer: String,
    meaning: String,
    untouched: bool,
    gone: bool,
}

fn press(attempts: u64, verb: &Verb, token: &str) -> Verdict {
    let (answer, meaning, untouched, gone) = on_every_wire(|wire, queue| {
        let mut session = Present::new(wire, queue, attempts, verb.clone())?;
        let readout = session.press(token)?;
        let mut staged = session.staged_mut();
        let act = staged.last().ok_or_else(|| anyhow::anyhow!("no act"))?;
        let (untouched, gone) = (act.before == act.after, staged.is_gone());
        staged.clear()?;
        Ok((readout.answer, readout.meaning, untouched, gone))
    })
    .unwrap();
    Verdict { answer: answer.trim_start_matches("(error) ").to_owned(), meaning, untouched, gone }
}

/// What a sentence says after its first part, without the full stop.
#[track_caller]
fn after<'m>(meaning: &'m str, first: &str) -> &'m str {
    let (_, rest) = meaning.split_once(first).unwrap_or_else(|| panic!("{meaning:?} has no {first:?}"));
    rest.trim_end_matches('.')
}

#[test]
fn the_fence() {
    let (stale, passed) = (press(1, &Verb::Complete, "99"), press(1, &Verb::Complete, "1"));
    let verdicts = [
        format!("token 99 against attempts 1 → {}, {}", stale.answer, after(&stale.meaning, "mismatch, ")),
        format!("token 1 against attempts 1 → {}", after(&passed.meaning, ": ")),
    ];
    check("emq-fence", "class=\"live\"", 2, &verdicts);
}

#[test]
fn complete() {
    let (passed, stale) = (press(2, &Verb::Complete, "2"), press(2, &Verb::Complete, "1"));
    assert!(passed.gone && passed.answer == "(integer) 1" && passed.meaning.contains("matches attempts 2"));
    assert!(stale.untouched);
    let verdicts = [
        "token 2 → matches attempts, the job is retired".to_owned(),
        format!("token 1 → mismatch, {}, the job is untouched", stale.answer),
    ];
    check("emq-complete", "", 2, &verdicts);
}

#[test]
fn retry() {
    let retry = |attempts, token| {
        let word = str::to_owned;
        let verb = Verb::Retry { delay_ms: word("5000"), max_attempts: word("2"), error: word("no") };
        press(attempts, &verb, token)
    };
    let (scheduled, dead, zombie, late) = (retry(1, "1"), retry(2, "2"), retry(1, "99"), retry(2, "1"));
    assert!(zombie.untouched && late.untouched);
    assert!(dead.meaning.contains("kept, metrics:failed 1"), "{}", dead.meaning);
    let buried =
        format!("token 2, attempts 2 against max 2 → {}, last_error kept, metrics:failed 1", dead.answer);
    let refused = |token, attempts, verdict: &Verdict| {
        format!("token {token} against attempts {attempts} → {}, the job is untouched", verdict.answer)
    };
    let first =
        format!("token 1, attempts 1 against max 2 → {}, due on the server's clock", scheduled.answer);
    check("emq-retry", "class=\"live\" attempts", 1, &[buried.clone(), refused(1, 2, &late)]);
    let verdicts = [first, buried, refused(99, 1, &zombie)];
    check("emq-retry", "class=\"live\">", 1, &verdicts);
    check("emq-retry", "class=\"live\" link", 1, &verdicts);
}

#[test]
fn the_round_trip() {
    let meanings = on_every_wire(|wire, queue| {
        let mut walk = RoundTrip::new(wire, queue, 40)?;
        let mut meanings = Vec::new();
        while walk.step()?.is_some() {
            meanings.extend(walk.staged().readout().map(|readout| readout.meaning));
        }
        walk.staged_mut().clear()?;
        Ok(meanings)
    })
    .unwrap();
    let [claim, retry, promote, again] = &meanings[..] else { panic!("{meanings:?}") };
    assert_eq!(promote, "One due job moved back to pending.");
    let parks = retry.split_once(": ").and_then(|(_, rest)| rest.split_once(", due in")).unwrap().0;
    let verdicts = [
        format!("claim: {}", claim.replacen('T', "t", 1).trim_end_matches('.')),
        format!("retry with token 1: the verify passes, {parks}"),
        "promote: the due job moves back to pending".to_owned(),
        format!("claim: {}", again.trim_end_matches('.')),
    ];
    check("emq-round-trip", "", 2, &verdicts);
}

fn verdict(completion: Completion, schedule: &str) -> String {
    let verdict = on_every_wire(|wire, queue| {
        let mut race = Race::new(wire, queue, completion)?;
        race.load(schedule)?;
        Ok(race.verdict())
    });
    let verdict = verdict.unwrap().unwrap();
    verdict.replacen("The", "the", 1).trim_end_matches('.').to_owned()
}

#[test]
fn the_race() {
    let [split, evalsha, _] = PRESETS.map(|preset| verdict(preset.completion, preset.schedule));
    check("emq-race", "", 2, &[format!("split → {split}"), format!("one EVALSHA → {evalsha}")]);
}

#[test]
fn how_many_orders_there_are() {
    let race = Race::new(Box::new(EngineWire::default()), "page", Completion::Split).unwrap();
    let html = PAGES[2].1;
    for (completion, report) in race.compare().unwrap() {
        let twice = report.outcomes.get(&Handled::Twice).map_or(0, |found| found.schedules);
        assert_eq!(report.outcomes.get(&Handled::Never).map_or(0, |found| found.schedules), 0);
        let (id, said) = match completion {
            Completion::Split => (
                "split-orders",
                format!("of {} orders of separate commands, {twice} handle the job twice", report.schedules),
            ),
            Completion::OneEvalsha => {
                assert_eq!(twice, 0);
                ("evalsha-orders", format!("of {} orders with one EVALSHA, none does", report.schedules))
            }
        };
        assert_eq!(inner(html, &format!("id=\"{id}\"")).map(text), Some(said));
    }
}

/// `tests/rung.rs` holds the golden transcript to the engine and to every server.
#[test]
fn the_transcript() {
    let mut found = 0;
    for (page, html) in PAGES {
        for element in elements(html, "emq-rung") {
            let lines: String =
                elements(element.inner, "span").iter().map(|line| line.inner.to_owned()).collect();
            assert_eq!(lines, GOLDEN, "www/{page}");
            found += 1;
        }
    }
    assert_eq!(found, 3);
}

#[test]
fn quoted_lines_stand_in_their_script() {
    let mut quotes = 0;
    for (page, html) in PAGES {
        for quote in elements(html, "pre") {
            let Some(name) = quote.attribute("data-script") else { continue };
            let bundled = Scripts::bundled();
            let script = match name {
                "complete" => &bundled.complete,
                "retry" => &bundled.retry,
                other => panic!("www/{page} quotes {other}"),
            };
            let mut lines = script.source().lines().map(str::trim);
            let quoted = lab_tests::html::lines(quote.inner);
            for line in quoted.iter().map(|line| line.trim()).filter(|line| !line.starts_with("--")) {
                assert!(lines.any(|own| own == line), "www/{page}: {name}.lua has no `{line}` from there on");
            }
            quotes += 1;
        }
    }
    assert_eq!(quotes, 3);
}
