//! Each readout, clicked through by mouse and by keyboard. What it must show is what its session answers, on the
//! engine and on every real Valkey.

use anyhow::{Context as _, Result, ensure};
use echomq_core::scenario::race::{Completion, Handled};
use echomq_core::{EngineWire, Script, Scripts, Wire};
use echomq_widget::session::present::{Present, Verb};
use echomq_widget::session::race::{PRESETS, Race};
use echomq_widget::session::round_trip::RoundTrip;
use echomq_widget::session::shown::{Said, Shown};
use lab_tests::browser::{Page, visit_in};
use lab_tests::driver::Browser;
use lab_tests::element::Element;
use lab_tests::site::Options;
use lab_tests::wires::on_every_wire;
use serde_json::json;
use thirtyfour::Key;

/// One test per browser.
macro_rules! in_both_browsers {
    ($($test:ident on $path:literal;)*) => {
        mod chromium { $(
            #[tokio::test]
            async fn $test() -> anyhow::Result<()> {
                super::run(super::Browser::Chromium, stringify!($test), $path, super::$test).await
            }
        )* }
        mod firefox { $(
            #[tokio::test]
            async fn $test() -> anyhow::Result<()> {
                super::run(super::Browser::Firefox, stringify!($test), $path, super::$test).await
            }
        )* }
    };
}

in_both_browsers! {
    the_fence on "fencing-token.html";
    complete on "read-decide-write.html";
    the_retry_branch on "fencing-token.html";
    the_round_trip_by_mouse on "fencing-token.html";
    the_round_trip_by_keyboard on "fencing-token.html";
    the_race_by_mouse on "read-decide-write.html";
    the_race_by_keyboard on "read-decide-write.html";
    the_rung_check on "index.html";
}

async fn run(
    browser: Browser,
    name: &str,
    path: &str,
    test: impl AsyncFnOnce(&Page) -> Result<()>,
) -> Result<()> {
    visit_in(browser, name, path, Options::default(), async |page| {
        page.listen().await?;
        test(page).await?;
        page.check_quiet().await
    })
    .await
}

/// What a row of tokens brings, each presented to whatever the one before left.
fn presented(
    attempts: u64,
    verb: &Verb,
    script: fn(&'static Scripts) -> &'static Script,
    tokens: &[&str],
) -> Result<Vec<Said>> {
    on_every_wire(|wire: Box<dyn Wire>, queue| {
        let mut session = Present::new(wire, queue, attempts, verb.clone())?;
        let mut said = Vec::new();
        for token in tokens {
            session.press(token)?;
            let shown = Shown::new(&mut session.staged_mut(), script(Scripts::bundled()))?;
            said.push(shown.said.context("a press says something")?);
        }
        session.staged_mut().clear()?;
        Ok(said)
    })
}

async fn the_fence(page: &Page) -> Result<()> {
    let (holder, zombie) = ("the lease holder presents token 1", "the zombie presents token 99");
    let said = presented(1, &Verb::Complete, |scripts| &scripts.complete, &["99", "1", "01"])?;
    ensure!(said[0].readout.answer == "(error) EMQSTALE complete token mismatch", "{:?}", said[0]);
    ensure!(said[1].readout.answer == "(integer) 1", "{:?}", said[1]);
    let fence = page.element("emq-fence").await?;
    tokens(&fence, [(zombie, &said[0]), (holder, &said[1])]).await?;

    fence.fill("any token", "01").await?;
    fence.click("Present").await?;
    fence.check(&said[2]).await?;
    fence.tab_to("any token").await?;
    fence.press_to(Key::Tab, "Present").await?;
    fence.click("Reset").await?;
    fence.check_initial().await
}

async fn complete(page: &Page) -> Result<()> {
    let (holder, late) =
        ("the worker of this life presents token 2", "a worker whose lease was reaped presents token 1");
    let said = presented(2, &Verb::Complete, |scripts| &scripts.complete, &["1", "2"])?;
    ensure!(said[0].readout.answer == "(error) EMQSTALE complete token mismatch", "{:?}", said[0]);
    ensure!(said[1].readout.answer == "(integer) 1", "{:?}", said[1]);
    let element = page.element("emq-complete").await?;
    tokens(&element, [(late, &said[0]), (holder, &said[1])]).await
}

/// A refused token, then one that passes: by mouse with the way back, then by keyboard.
async fn tokens(
    element: &Element<'_>,
    [(stale, refused), (current, passed)]: [(&str, &Said); 2],
) -> Result<()> {
    element.check_initial().await?;
    element.click(stale).await?;
    element.check(refused).await?;
    element.click(current).await?;
    element.check(passed).await?;
    element.click("Step back").await?;
    element.check(refused).await?;
    element.click("Reset").await?;
    element.check_initial().await?;

    element.tab_to(current).await?;
    element.press_to(Key::Right, stale).await?;
    element.press(Key::Enter).await?;
    element.check(refused).await?;
    element.press_to(Key::Home, current).await?;
    element.press(' ').await?;
    element.check(passed).await?;
    element.press_to(Key::End, stale).await?;
    element.press_to(Key::Left, current).await?;
    element.tab_to("Reset").await?;
    element.press(Key::Enter).await?;
    element.check_initial().await?;
    ensure!(element.focused().await? == "Reset", "the focus jumped");
    verdicts(element, &[refused, passed, refused, passed]).await
}

/// The page was told of each answer, in order.
async fn verdicts(element: &Element<'_>, said: &[&Said]) -> Result<()> {
    let heard = element.heard("emq:verdict").await?;
    let told = |at: usize| json!([heard[at]["answer"], heard[at]["meaning"]]);
    for (at, said) in said.iter().enumerate() {
        let expected = json!([said.readout.answer, said.readout.meaning]);
        ensure!(told(at) == expected, "the page was told {heard:#}");
    }
    Ok(())
}

async fn the_retry_branch(page: &Page) -> Result<()> {
    let verb = |max: &str| Verb::Retry {
        delay_ms: "5000".to_owned(),
        max_attempts: max.to_owned(),
        error: "card declined".to_owned(),
    };
    let (holder, zombie) = ("the lease holder presents token 1", "the zombie presents token 99");
    let scheduled = presented(1, &verb("2"), |scripts| &scripts.retry, &["99", "1"])?;
    let dead = presented(1, &verb("1"), |scripts| &scripts.retry, &["1"])?;
    ensure!(scheduled[1].readout.answer == "\"scheduled\"", "{:?}", scheduled[1]);
    ensure!(dead[0].readout.answer == "\"dead\"", "{:?}", dead[0]);
    let retry = page.element("emq-retry").await?;
    tokens(&retry, [(zombie, &scheduled[0]), (holder, &scheduled[1])]).await?;
    retry.fill("max", "1").await?;
    retry.click(holder).await?;
    retry.check(&dead[0]).await?;
    // Attempts go up by claims that are really made.
    retry.fill("attempts", "3").await?;
    retry.fill("max", "4").await?;
    let third = presented(3, &verb("4"), |scripts| &scripts.retry, &["3"])?;
    retry.click("the lease holder presents token 3").await?;
    retry.check(&third[0]).await
}

/// The delay of the retry: on a real server it is waited for.
const DELAY_MS: u64 = 40;

/// The walk on the page, with the delay of [`walked`].
async fn walk(page: &Page) -> Result<Element<'_>> {
    page.eval(&format!("document.querySelector('emq-round-trip').setAttribute('delay', {DELAY_MS})")).await?;
    page.element("emq-round-trip").await
}

/// What the walk says after each of its steps. A real server's clock goes on between them, so that what the page says of
/// the time is the engine's.
fn walked() -> Result<Vec<Said>> {
    let steps = |wire, queue: &str| {
        let mut walk = RoundTrip::new(wire, queue, DELAY_MS)?;
        let (mut said, mut readouts) = (Vec::new(), Vec::new());
        while walk.step()?.is_some() {
            said.push(walk.shown()?.said.context("a step says something")?);
            readouts.push(walk.staged().readout());
        }
        walk.staged_mut().clear()?;
        anyhow::Ok((said, readouts))
    };
    on_every_wire(|wire, queue| Ok(steps(wire, queue)?.1))?;
    Ok(steps(Box::new(EngineWire::default().traced()), "page")?.0)
}

async fn the_round_trip_by_mouse(page: &Page) -> Result<()> {
    let said = walked()?;
    let walk = walk(page).await?;
    walk.check_initial().await?;
    for said in &said {
        walk.click("Step").await?;
        walk.check(said).await?;
    }
    walk.click("Step").await?;
    walk.check(&said[3]).await?;
    walk.click("Back").await?;
    walk.check(&said[2]).await?;
    walk.click("Step 1 claim").await?;
    walk.check(&said[0]).await?;
    walk.click("Restart").await?;
    walk.check_initial().await?;
    walk.click("Play").await?;
    page.wait_for_text(
        "document.querySelector('emq-round-trip').shadowRoot.querySelector('[part=meaning]').textContent.startsWith('Step 2') ? 'there' : ''",
    )
    .await?;
    walk.click("Pause").await?;
    walk.check(&said[1]).await?;
    let heard = walk.heard("emq:step").await?;
    let heard: Vec<_> =
        heard.as_array().into_iter().flatten().map(|step| json!([step["step"], step["name"]])).collect();
    let names = ["", "claim", "retry", "promote", "claim"];
    // A step that is not there is no event.
    let steps = [1, 2, 3, 4, 3, 1, 0, 1, 2].map(|step| json!([step, names[step]]));
    ensure!(heard == steps, "the page was told {heard:#?}");
    Ok(())
}

async fn the_round_trip_by_keyboard(page: &Page) -> Result<()> {
    let said = walked()?;
    let walk = walk(page).await?;
    walk.tab_to("Step").await?;
    walk.press(Key::Enter).await?;
    walk.check(&said[0]).await?;
    walk.press_to(Key::Right, "Play").await?;
    walk.tab_to("Step 1 claim").await?;
    walk.press_to(Key::Right, "Step 2 retry").await?;
    walk.check(&said[1]).await?;
    walk.press_to(Key::End, "Step 4 claim").await?;
    walk.check(&said[3]).await?;
    walk.press_to(Key::Left, "Step 3 promote").await?;
    walk.check(&said[2]).await?;
    walk.press(Key::Home).await?;
    walk.check_initial().await?;
    ensure!(page.eval("scrollY > 0").await? == true, "Home went to the top of the page");
    Ok(())
}

/// What the race says after each step of a run, and how often the job was handled at its end.
fn raced(way: Completion, schedule: &str) -> Result<(Vec<Said>, Option<Handled>)> {
    let steps = |wire, queue: &str| {
        let mut race = Race::new(wire, queue, way)?;
        let (mut said, mut readouts) = (Vec::new(), Vec::new());
        for letter in schedule.chars() {
            let actor = race.actor_of(&letter.to_string()).context("no such actor")?;
            ensure!(race.choose(actor)?, "{letter} has no step left");
            said.push(race.shown().said.context("a step says something")?);
            readouts.push(race.readout());
        }
        Ok((said, readouts, race.outcome()))
    };
    on_every_wire(|wire, queue| steps(wire, queue).map(|(_, readouts, outcome)| (readouts, outcome)))?;
    // A plain command shows its key, and so the name of the queue.
    let (said, _, outcome) = steps(Box::new(EngineWire::default().traced()), "race")?;
    Ok((said, outcome))
}

async fn the_race_by_mouse(page: &Page) -> Result<()> {
    let (split, outcome) = raced(Completion::Split, "WRNWWN")?;
    ensure!(outcome == Some(Handled::Twice), "the split commands end in {outcome:?}");
    let race = page.element("emq-race").await?;
    race.check_initial().await?;
    let choices = [
        "completing worker: HGET attempts",
        "reaper: EVALSHA @reap",
        "next worker: EVALSHA @claim",
        "completing worker: ZREM active",
        "completing worker: DEL row",
        "next worker: EVALSHA @complete",
    ];
    for (choice, said) in choices.iter().zip(&split) {
        race.click(choice).await?;
        race.check(said).await?;
    }
    ensure!(race.text("verdict").await? == Handled::Twice.words(), "{}", race.text("verdict").await?);
    race.click("Back").await?;
    race.check(&split[4]).await?;
    race.click("Step 2, reaper: EVALSHA @reap").await?;
    race.click("Go on from here").await?;
    race.check(&split[1]).await?;
    race.click("Reset").await?;
    race.check_initial().await?;
    for preset in PRESETS {
        let (said, outcome) = raced(preset.completion, preset.schedule)?;
        race.click_last(preset.name).await?;
        race.check(said.last().context("a preset has steps")?).await?;
        let words = outcome.context("a preset runs to its end")?.words();
        ensure!(race.text("verdict").await? == words, "{}: not {words}", preset.name);
    }
    all_interleavings(page, &race).await
}

/// The counts are those of the explorer, and each witness loads.
async fn all_interleavings(page: &Page, race: &Element<'_>) -> Result<()> {
    let explored = on_every_interleaving()?;
    race.click("All interleavings").await?;
    page.wait_for_text("document.querySelector('emq-race').shadowRoot.querySelector('tbody')?.textContent")
        .await?;
    let shown = race
        .eval("[...root.querySelectorAll('tbody tr')].map((row) => [...row.children].slice(0, 2).map((cell) => cell.textContent.trim()).join(' '))")
        .await?;
    ensure!(shown == json!(explored), "the table says {shown:#}, the explorer {explored:#?}");
    race.eval("root.querySelector('[part~=witness]').scrollIntoView({ block: 'center' })").await?;
    race.eval("root.querySelector('[part~=witness]').click()").await?;
    ensure!(!race.text("verdict").await?.is_empty(), "a witness runs to its end");
    Ok(())
}

fn on_every_interleaving() -> Result<Vec<String>> {
    let race = Race::new(Box::new(EngineWire::default()), "page", Completion::Split)?;
    let rows = race.compare()?.into_iter().flat_map(|(_, report)| {
        Handled::ALL.map(|handled| {
            let found = report.outcomes.get(&handled).map_or(0, |found| found.schedules);
            format!("{} {found}", handled.words())
        })
    });
    Ok(rows.collect())
}

async fn the_race_by_keyboard(page: &Page) -> Result<()> {
    let (said, _) = raced(Completion::OneEvalsha, "RNWN")?;
    let race = page.element("emq-race").await?;
    race.tab_to("one EVALSHA").await?;
    race.press(Key::Enter).await?;
    race.tab_to("completing worker: EVALSHA @complete").await?;
    for (letter, said) in "rnwn".chars().zip(&said) {
        race.press(letter).await?;
        race.check(said).await?;
    }
    race.press(Key::Left).await?;
    race.check(&said[2]).await?;
    race.press(Key::Home).await?;
    race.check_initial().await?;
    race.press(Key::End).await?;
    race.check(&said[3]).await?;
    let heard = race.heard("emq:verdict").await?;
    let told = json!([{ "mode": "evalsha", "schedule": "RNWN", "handled": "once" }]);
    ensure!(heard == told, "the page was told {heard:#}");
    Ok(())
}

async fn the_rung_check(page: &Page) -> Result<()> {
    let golden = include_str!("../golden/rung.txt");
    let rung = page.element("emq-rung").await?;
    rung.tab_to("Run again").await?;
    rung.press(Key::Enter).await?;
    rung.click("Run again").await?;
    ensure!(rung.text("status").await?.starts_with("Run 3 in this page: "), "{}", rung.text("status").await?);
    let shown = rung.eval("root.querySelector('[part=transcript]').textContent").await?;
    ensure!(shown == golden, "the page computed {shown}");
    let told = rung.heard("emq:verdict").await?;
    ensure!(told[2] == json!({ "verdict": "PASS 6/6", "passed": true }), "the page was told {told:#}");
    Ok(())
}
