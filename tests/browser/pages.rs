//! The pages as a whole: what they look like, what they fetch and when, what is left of them without JavaScript, and what
//! a link opens.

use anyhow::{Context as _, Result, ensure};
use echomq_core::{EngineWire, Scripts};
use echomq_widget::session::present::{Present, Verb};
use echomq_widget::session::shown::{Said, Shown};
use lab_tests::browser::{Page, Reader, visit, visit_in};
use lab_tests::driver::Browser;
use lab_tests::site::Options;
use lab_tests::tools::{cached, target};
use serde_json::{Value, json};
use thirtyfour::By;

const TAGS: [&str; 6] = ["emq-fence", "emq-complete", "emq-retry", "emq-round-trip", "emq-race", "emq-rung"];

/// Everything that is a readout on this page.
const ALL: &str = "[...document.querySelectorAll('.live')]";

/// Runs an accessibility check and waits for it.
const AXE: &str = "const done = arguments[arguments.length - 1]; \
                   axe.run(document, { resultTypes: ['violations'] }).then((found) => done(JSON.stringify(\
                   found.violations.map(({ id, help, nodes }) => [id, help, nodes.map((node) => [node.target, node.failureSummary])]))));";

async fn all_live(page: &Page) -> Result<()> {
    page.eval(&format!("{ALL}.forEach((element) => element.approach())")).await?;
    let live =
        format!("{ALL}.every((element) => element.shadowRoot?.querySelector('[part=bar]')) ? 'live' : ''");
    page.wait_for_text(&live).await.map(drop)
}

/// A page's name as one of a file.
fn file_name(page: &str) -> String {
    page.replace('/', "-")
}

/// Looks at a page on a phone and on a desk, in both schemes, and keeps the pictures.
async fn look(name: &str) -> Result<()> {
    visit(&file_name(name), &format!("{name}.html"), Options::default(), async |page| {
        all_live(page).await?;
        for scheme in ["light", "dark"] {
            for width in [360, 1280] {
                page.look(width, 800, scheme).await?;
                page.check_no_sideways_scroll().await?;
                let height = page.eval("document.documentElement.scrollHeight").await?;
                page.look(width, u32::try_from(height.as_u64().unwrap_or(800))?, scheme).await?;
                page.screenshot(&format!("{}-{width}-{scheme}", file_name(name))).await?;
                if name == "index" {
                    each_readout(page, &format!("{width}-{scheme}")).await?;
                }
            }
        }
        page.check_quiet().await
    })
    .await
}

/// A picture of every readout by itself, with an answer in it.
async fn each_readout(page: &Page, suffix: &str) -> Result<()> {
    let press = "['[part~=caller]', '[part~=primary]', '.choice'].forEach((control) => element.shadowRoot.querySelector(control)?.click())";
    page.eval(&format!("{ALL}.forEach((element) => {press})")).await?;
    let folder = target()?.join("screenshots");
    for tag in TAGS {
        let element = page.driver.find(By::Css(tag)).await?;
        element.screenshot(&folder.join(format!("{tag}-{suffix}.png"))).await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_front_page_fits_every_screen() -> Result<()> {
    look("index").await
}

#[tokio::test]
async fn the_fencing_token_fits_every_screen() -> Result<()> {
    look("fencing-token").await
}

#[tokio::test]
async fn read_decide_write_fits_every_screen() -> Result<()> {
    look("read-decide-write").await
}

#[tokio::test]
async fn the_rung_page_fits_every_screen() -> Result<()> {
    look("rung/index").await
}

/// No violation of axe-core's rules in either scheme, with the readouts at their start and after a press.
async fn accessible(name: &str) -> Result<()> {
    let axe = cached("npm/node_modules/axe-core/axe.min.js")?;
    let axe = std::fs::read_to_string(&axe).with_context(|| axe.display().to_string())?;
    visit(&file_name(name), &format!("{name}.html"), Options::default(), async |page| {
        all_live(page).await?;
        page.driver.execute(axe, vec![]).await.context("axe-core does not load")?;
        for scheme in ["light", "dark"] {
            page.look(1280, 900, scheme).await?;
            check_axe_at_start_and_pressed(page, scheme).await?;
        }
        Ok(())
    })
    .await
}

async fn check_axe_at_start_and_pressed(page: &Page, when: &str) -> Result<()> {
    check_axe(page, when).await?;
    let press = "(element) => [...element.shadowRoot.querySelectorAll('[part~=caller], .choice, [part~=primary]')].slice(0, 2).forEach((button) => button.click())";
    page.eval(&format!("{ALL}.forEach({press})")).await?;
    let unfold =
        "(element) => element.shadowRoot.querySelectorAll('details').forEach((fold) => fold.open = true)";
    page.eval(&format!("{ALL}.forEach({unfold})")).await?;
    check_axe(page, &format!("{when}, pressed")).await
}

/// In Firefox a page fits a desk and a phone, has no violation of axe-core's rules, and says nothing in the console, in
/// either scheme.
async fn in_firefox(name: &str) -> Result<()> {
    let axe = cached("npm/node_modules/axe-core/axe.min.js")?;
    let axe = std::fs::read_to_string(&axe).with_context(|| axe.display().to_string())?;
    let path = format!("{name}.html");
    for dark in [false, true] {
        let scheme = if dark { "dark" } else { "light" };
        let reader = Reader { dark, ..Browser::Firefox.into() };
        visit_in(reader, &file_name(name), &path, Options::default(), async |page| {
            for narrow in [false, true] {
                let width = if narrow { 360 } else { 1280 };
                if narrow {
                    page.goto_narrow(&path).await?;
                }
                all_live(page).await?;
                let is_dark = page.eval("matchMedia('(prefers-color-scheme: dark)').matches").await?;
                ensure!(is_dark == dark, "the browser is not in the {scheme} scheme");
                ensure!(page.eval("innerWidth <= 360").await? == narrow, "the page is not {width} wide");
                page.check_no_sideways_scroll().await?;
                page.check_quiet().await?;
                page.driver.execute(axe.clone(), vec![]).await.context("axe-core does not load")?;
                check_axe_at_start_and_pressed(page, &format!("{scheme}, {width}")).await?;
                page.check_no_sideways_scroll().await?;
                page.screenshot_whole(&format!("{}-{width}-{scheme}-firefox", file_name(name))).await?;
            }
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_front_page_in_firefox() -> Result<()> {
    in_firefox("index").await
}

#[tokio::test]
async fn the_fencing_token_in_firefox() -> Result<()> {
    in_firefox("fencing-token").await
}

#[tokio::test]
async fn read_decide_write_in_firefox() -> Result<()> {
    in_firefox("read-decide-write").await
}

#[tokio::test]
async fn the_rung_page_in_firefox() -> Result<()> {
    in_firefox("rung/index").await
}

async fn check_axe(page: &Page, when: &str) -> Result<()> {
    let found = page.driver.execute_async(AXE, vec![]).await.context("axe-core does not run")?;
    let found: Value = serde_json::from_str(found.json().as_str().unwrap_or_default())?;
    ensure!(found == json!([]), "{when}: axe-core found {found:#}");
    Ok(())
}

#[tokio::test]
async fn the_front_page_is_accessible() -> Result<()> {
    accessible("index").await
}

#[tokio::test]
async fn the_fencing_token_is_accessible() -> Result<()> {
    accessible("fencing-token").await
}

#[tokio::test]
async fn read_decide_write_is_accessible() -> Result<()> {
    accessible("read-decide-write").await
}

#[tokio::test]
async fn the_rung_page_is_accessible() -> Result<()> {
    accessible("rung/index").await
}

#[tokio::test]
async fn the_engine_is_fetched_once_and_not_before_it_is_needed() -> Result<()> {
    visit("fetch", "icon.svg", Options::default(), async |page| {
        page.look(360, 400, "light").await?;
        page.requests().await?;
        page.goto("fencing-token.html").await?;
        let wasm = |urls: &[String]| urls.iter().filter(|url| url.ends_with(".wasm")).count();
        page.wait_for_text("customElements.get('emq-rung') ? 'defined' : ''").await?;
        let early = page.requests().await?;
        ensure!(early.iter().any(|url| url.ends_with("/element.js")), "the page asked for {early:?}");
        ensure!(wasm(&early) == 0, "the engine was fetched for a reader who has not scrolled: {early:?}");
        for tag in ["emq-fence", "emq-retry", "emq-rung"] {
            page.element(tag).await?;
        }
        let late = page.requests().await?;
        ensure!(wasm(&late) == 1, "the engine was not fetched once: {late:?}");
        Ok(())
    })
    .await
}

async fn without_javascript(name: &str) -> Result<()> {
    visit(&file_name(name), "icon.svg", Options::default(), async |page| {
        page.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await?;
        page.look(1280, 900, "light").await?;
        page.goto(&format!("{name}.html")).await?;
        check_readable(page).await?;
        let height = page.eval("document.documentElement.scrollHeight").await?;
        page.look(1280, u32::try_from(height.as_u64().unwrap_or(900))?, "light").await?;
        page.screenshot(&format!("{}-1280-no-javascript", file_name(name))).await
    })
    .await?;
    let reader = Reader { scripts: false, ..Browser::Firefox.into() };
    visit_in(reader, &file_name(name), &format!("{name}.html"), Options::default(), async |page| {
        check_readable(page).await?;
        page.screenshot_whole(&format!("{}-1280-no-javascript-firefox", file_name(name))).await
    })
    .await
}

/// No script has run, and every readout can be read all the same.
async fn check_readable(page: &Page) -> Result<()> {
    ensure!(page.eval("customElements.get('emq-rung') === undefined").await? == true, "a script ran");
    let hidden = format!(
        "{ALL}.filter((element) => element.innerText.trim().length < 60 || element.offsetHeight < 60).map((element) => element.localName)"
    );
    let hidden = page.eval(&hidden).await?;
    ensure!(hidden == json!([]), "without JavaScript nothing is to be read in {hidden}");
    let tags = page.eval(&format!("{ALL}.map((element) => element.localName)")).await?;
    ensure!(tags.as_array().is_some_and(|tags| !tags.is_empty()), "the page has {tags}");
    Ok(())
}

#[tokio::test]
async fn the_front_page_can_be_read_without_javascript() -> Result<()> {
    without_javascript("index").await
}

#[tokio::test]
async fn the_fencing_token_can_be_read_without_javascript() -> Result<()> {
    without_javascript("fencing-token").await
}

#[tokio::test]
async fn read_decide_write_can_be_read_without_javascript() -> Result<()> {
    without_javascript("read-decide-write").await
}

#[tokio::test]
async fn the_rung_page_can_be_read_without_javascript() -> Result<()> {
    without_javascript("rung/index").await
}

fn fenced(token: &str) -> Result<Said> {
    let mut session = Present::new(Box::new(EngineWire::default().traced()), "fence", 1, Verb::Complete)?;
    session.press(token)?;
    Shown::new(&mut session.staged_mut(), &Scripts::bundled().complete)?
        .said
        .context("a press says something")
}

/// A link opens the readout that wrote it, in another browser too.
#[tokio::test]
async fn a_link_opens_the_same_readout() -> Result<()> {
    visit("link", "fencing-token.html", Options::default(), async |page| {
        let fence = page.element("emq-fence").await?;
        fence.click("the zombie presents token 99").await?;
        let hash = page.eval("location.hash").await?;
        ensure!(hash == "#fence=token:99", "the address says {hash}");
        fence.check(&fenced("99")?).await
    })
    .await?;
    for browser in [Browser::Chromium, Browser::Firefox] {
        visit_in(browser, "linked", "fencing-token.html#fence=token:99", Options::default(), async |page| {
            page.element("emq-fence").await?.check(&fenced("99")?).await?;
            // A reader who follows a second link on the same page.
            page.eval("(location.hash = '#fence=token:1', 1)").await?;
            page.element("emq-fence").await?.check(&fenced("1")?).await?;
            page.check_quiet().await
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_page_that_changes_an_attribute_sets_a_new_scene() -> Result<()> {
    visit("attributes", "index.html", Options::default(), async |page| {
        let fence = page.element("emq-fence").await?;
        fence.eval("(host.setAttribute('attempts', 3), host.setAttribute('token', 'x y'))").await?;
        fence.click("the zombie presents token x y").await?;
        let meaning = fence.text("meaning").await?;
        ensure!(meaning.starts_with("Token x y against attempts 3: mismatch"), "it says {meaning:?}");
        fence.eval("host.setAttribute('attempts', 'many')").await?;
        let problem = fence.text("problem").await?;
        ensure!(
            problem.contains("attempts=\"many\" is not a whole number from 1 to 99."),
            "it says {problem:?}"
        );
        let race = page.element("emq-race").await?;
        race.eval("(host.setAttribute('mode', 'evalsha'), host.setAttribute('schedule', 'WRN'))").await?;
        ensure!(race.text("verdict").await? == "handled once", "it says {:?}", race.text("verdict").await?);
        let walk = page.element("emq-round-trip").await?;
        walk.eval("host.setAttribute('step', 2)").await?;
        ensure!(
            walk.text("meaning").await?.starts_with("Step 2 of 4: retry."),
            "{:?}",
            walk.text("meaning").await?
        );
        page.check_quiet().await
    })
    .await
}

/// What the front page offers to copy works where it is pasted.
#[tokio::test]
async fn the_lines_to_embed_can_be_copied_and_work() -> Result<()> {
    visit("embed", "index.html", Options::default(), async |page| {
        page.driver.find(By::Css("button.copy")).await?.click().await?;
        // A browser without a clipboard selects the text instead.
        let told = "document.querySelector('button.copy').textContent.replace('Copy', '')";
        let told = page.wait_for_text(told).await?;
        let line = "document.querySelector('pre.copy').textContent";
        ensure!(told == "Copied" || told == "Selected", "the button says {told:?}");
        if told == "Selected" {
            ensure!(
                page.eval(&format!("`${{getSelection()}}`.trim() === {line}.trim()")).await? == true,
                "not all of it is selected"
            );
        }
        page.eval("document.querySelector('emq-fence').remove()").await?;
        page.eval(&format!("document.querySelector('main').insertAdjacentHTML('beforeend', {line})")).await?;
        let fence = page.element("emq-fence").await?;
        let said = fence.eval("host.textContent.replace(/\\s+/g, ' ').trim()").await?;
        fence.click("the zombie presents token 1").await?;
        let answer = fence.text("answer").await?;
        let answer = answer.trim_start_matches("(error) ");
        ensure!(
            said == format!("Token 1 against attempts 2: {answer}."),
            "it says {said}, and answers {answer}"
        );
        page.check_quiet().await
    })
    .await
}

/// Overwrites the module's memory. The glue keeps a flag of its own there: set, it would stop every call before the module
/// traps.
const SPOIL: &str = "
import init from './echomq-widget.js';
const { memory, __instance_terminated: flag } = await init();
new Uint8Array(memory.buffer).fill(255);
new Int32Array(memory.buffer)[flag.value / 4] = 0;
document.documentElement.dataset.spoilt = 'yes';
";

/// A trap in the module, from memory that something has overwritten: the engine starts anew, every element says so, and works.
#[tokio::test]
async fn a_trap_restarts_the_engine_and_says_so() -> Result<()> {
    for browser in [Browser::Chromium, Browser::Firefox] {
        let options = Options { script: Some(("spoil.js", SPOIL)), ..Options::default() };
        visit_in(browser, "trap", "index.html", options, async |page| {
            all_live(page).await?;
            let load = "document.head.append(Object.assign(document.createElement('script'), { type: 'module', src: 'spoil.js' }))";
            page.eval(&format!("({load}, 1)")).await?;
            page.wait_for_text("document.documentElement.dataset.spoilt").await?;
            let fence = page.element("emq-fence").await?;
            fence.click("the zombie presents token 99").await?;
            let told = "element.shadowRoot.querySelector('[part=bar]') && element.shadowRoot.querySelector('[part=failure]')?.textContent";
            let told = format!("{ALL}.map((element) => {told} || '')");
            page.wait_for_text(&format!("{told}.every((line) => line) ? 'told' : ''")).await?;
            let lines = page.eval(&told).await?;
            let line = lines[0].as_str().unwrap_or_default();
            let (start, end) = ("The engine was started again (the engine stopped: ", "). The readout is at its start.");
            ensure!(line.starts_with(start) && line.ends_with(end), "it says {line:?}");
            fence.click("the zombie presents token 99").await?;
            fence.check(&fenced("99")?).await
        })
        .await?;
    }
    Ok(())
}

/// What a reader does in one element, another of the same queue shows; the rest of the page stays as it is.
#[tokio::test]
async fn elements_of_one_queue_show_one_job() -> Result<()> {
    for browser in [Browser::Chromium, Browser::Firefox] {
        visit_in(browser, "shared", "index.html", Options::default(), async |page| {
            // The walk comes last, so the scene is its own: a pending job.
            for tag in ["emq-complete", "emq-round-trip"] {
                page.element(tag).await?;
                page.eval(&format!("document.querySelector('{tag}').setAttribute('queue', 'mail')")).await?;
            }
            let walk = page.element("emq-round-trip").await?;
            walk.click("Step").await?;
            let complete = page.element("emq-complete").await?;
            let meaning = complete.text("meaning").await?;
            ensure!(meaning.starts_with("Token 1 minted"), "it says {meaning:?}");
            complete.click("the worker of this life presents token 1").await?;
            let keys = walk.text("keys").await?;
            ensure!(keys.contains("emq:{mail}:job:"), "the walk shows {keys}");
            ensure!(walk.text("answer").await? == complete.text("answer").await?, "two answers to one call");
            page.element("emq-fence").await?.check_initial().await?;
            page.check_quiet().await
        })
        .await?;
    }
    Ok(())
}

/// Every element of a page keeps its text when the engine cannot be had, and each comes back by its own button.
#[tokio::test]
async fn without_the_engine_every_element_keeps_its_text() -> Result<()> {
    for browser in [Browser::Chromium, Browser::Firefox] {
        let options = Options { missing: Some("echomq-widget_bg.wasm"), ..Options::default() };
        visit_in(browser, "missing", "index.html", options, async |page| {
            page.eval(&format!("{ALL}.forEach((element) => element.approach())")).await?;
            let note = "element.shadowRoot?.querySelector('[part=failure]')?.textContent.startsWith('The live check did not run (')";
            page.wait_for_text(&format!("{ALL}.every((element) => {note}) ? 'told' : ''")).await?;
            let kept = "element.shadowRoot.querySelector('slot').assignedElements().some((text) => text.offsetHeight > 20)";
            let kept = page.eval(&format!("{ALL}.filter((element) => {kept}).map((element) => element.localName).sort()")).await?;
            let mut tags = TAGS;
            tags.sort_unstable();
            ensure!(kept == json!(tags), "only {kept} keep their text");
            Ok(())
        })
        .await?;
    }
    Ok(())
}
