//! The front page with `<emq-rung>`: the transcript, and what becomes of an element when something fails.

use anyhow::{Result, ensure};
use lab_tests::browser::{Page, visit};
use lab_tests::site::{Options, STRICT};
use serde_json::json;

const GOLDEN: &str = include_str!("../golden/rung.txt");

const PAGE: &str = "index.html";

/// What the element computed, once it is there.
const LIVE: &str =
    "document.querySelector('emq-rung').shadowRoot?.querySelector('[part=transcript]')?.textContent";
/// What stands in the page's source, for readers without JavaScript.
const STATIC: &str = "document.querySelector('emq-rung > pre').textContent";
/// What the element says when it cannot run.
const FAILURE: &str =
    "document.querySelector('emq-rung').shadowRoot?.querySelector('[part=failure]')?.textContent";
const SLOT: &str = "String(document.querySelector('emq-rung').shadowRoot.querySelector('slot') !== null)";

#[tokio::test]
async fn the_page_computes_the_golden_transcript() -> Result<()> {
    visit("rung", PAGE, Options::default(), async |page| {
        near(page).await?;
        same("the page computed", &page.wait_for_text(LIVE).await?)?;
        same("the static text is", &page.wait_for_text(STATIC).await?)?;
        page.check_quiet().await
    })
    .await
}

#[tokio::test]
async fn a_second_run_gives_the_same_transcript_and_says_so() -> Result<()> {
    visit("rung-again", PAGE, Options::default(), async |page| {
        near(page).await?;
        page.wait_for_text(LIVE).await?;
        page.eval("(window.verdicts = [], addEventListener('emq:verdict', e => verdicts.push(e.detail)))")
            .await?;
        page.eval("document.querySelector('emq-rung').shadowRoot.querySelector('button').click()").await?;
        let status =
            "document.querySelector('emq-rung').shadowRoot.querySelector('[role=status]').textContent";
        page.wait_for_text(&format!("{status}.startsWith('Run 2 in this page: ') ? 'again' : ''")).await?;
        same("the second run gave", &page.wait_for_text(LIVE).await?)?;
        let verdicts = page.eval("JSON.stringify(verdicts)").await?;
        ensure!(verdicts == r#"[{"verdict":"PASS 6/6","passed":true}]"#, "the page was told {verdicts}");
        page.check_quiet().await
    })
    .await
}

#[tokio::test]
async fn without_the_wasm_the_text_stays_with_one_line_that_says_why() -> Result<()> {
    let options = Options { missing: Some("echomq-widget_bg.wasm"), ..Options::default() };
    visit("rung-missing", PAGE, options, async |page| {
        near(page).await?;
        let line = page.wait_for_text(FAILURE).await?;
        ensure!(line.starts_with("The live check did not run ("), "it says: {line}");
        still_readable(page).await?;
        page.look(360, 740, "light").await?;
        page.check_no_sideways_scroll().await?;
        page.screenshot("rung-missing-360-light").await
    })
    .await
}

#[tokio::test]
async fn a_policy_that_forbids_wasm_is_named_as_the_cause() -> Result<()> {
    let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'";
    ensure!(STRICT.contains("'wasm-unsafe-eval'"), "the strict policy must differ from this one");
    visit("rung-policy", PAGE, Options { policy, ..Options::default() }, async |page| {
        near(page).await?;
        let line = page.wait_for_text(FAILURE).await?;
        ensure!(line.contains("it needs 'wasm-unsafe-eval'"), "it says: {line}");
        still_readable(page).await
    })
    .await
}

/// A browser of before 2017 has no WebAssembly, one of before 2022 none with exceptions.
#[tokio::test]
async fn an_old_browser_is_named_as_the_cause() -> Result<()> {
    let refuse = "const refuse = async () => { throw new WebAssembly.CompileError('invalid section') }; \
                  Object.assign(WebAssembly, { instantiate: refuse, instantiateStreaming: refuse })";
    for (old, told) in [
        ("delete globalThis.WebAssembly", "this browser has no WebAssembly"),
        (refuse, "it lacks wasm exceptions"),
    ] {
        visit("rung-old", "icon.svg", Options::default(), async |page| {
            page.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": old })).await?;
            page.goto(PAGE).await?;
            near(page).await?;
            let line = page.wait_for_text(FAILURE).await?;
            ensure!(line.contains(told), "it says: {line}");
            still_readable(page).await
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn trying_again_works_once_the_cause_is_gone() -> Result<()> {
    let options = Options { missing: Some("echomq-widget_bg.wasm"), comes_back: true, ..Options::default() };
    visit("rung-retry", PAGE, options, async |page| {
        near(page).await?;
        page.wait_for_text(FAILURE).await?;
        still_readable(page).await?;
        page.eval("document.querySelector('emq-rung').shadowRoot.querySelector('[part=retry]').click()")
            .await?;
        same("the second attempt computed", &page.wait_for_text(LIVE).await?)
    })
    .await
}

/// It is loaded when it nears the viewport.
async fn near(page: &Page) -> Result<()> {
    page.eval("document.querySelector('emq-rung').scrollIntoView()").await.map(drop)
}

async fn still_readable(page: &Page) -> Result<()> {
    ensure!(page.eval(SLOT).await? == "true", "the static text is not shown");
    same("the static text is", &page.wait_for_text(STATIC).await?)
}

#[track_caller]
fn same(what: &str, text: &str) -> Result<()> {
    ensure!(text == GOLDEN, "{what} not what tests/golden/rung.txt holds:\n{text}");
    Ok(())
}
