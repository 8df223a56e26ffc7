//! A real browser, driven over WebDriver. Each test has its own driver, browser, profile and site, so that tests run
//! in any order and at the same time; all of them go when the test ends, however it ends.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::common::capabilities::firefox::FirefoxPreferences;
use thirtyfour::{ChromiumLikeCapabilities, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver};

use crate::driver::{Browser, Driver};
use crate::site::{Options, Site};
use crate::tools::{program, target};

/// One a line, `cargo xtask` reads the same.
const ARGUMENTS: &str = include_str!("../browser/chromium.txt");

/// How long a page may take to show what a test waits for, on a machine that builds something else meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

/// Who looks at a page, as far as a browser is told when it starts.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    pub browser: Browser,
    /// Firefox only: [`Page::look`] tells Chromium at any time.
    pub dark: bool,
    /// Firefox only: in Chromium DevTools switch scripts off.
    pub scripts: bool,
}

impl From<Browser> for Reader {
    fn from(browser: Browser) -> Reader {
        Reader { browser, dark: false, scripts: true }
    }
}

/// A browser with one page of the site open.
#[derive(Debug)]
pub struct Page {
    pub driver: WebDriver,
    browser: Browser,
    site: Site,
    // Dropped in this order: first the driver with its browser, then the profile that it wrote to.
    _driver: Driver,
    _profile: TempDir,
}

/// Opens a page of the site in Chromium, runs the test on it, and takes everything down. A test that fails leaves a
/// screenshot.
///
/// # Errors
/// What the test says, or what kept the browser from running.
pub async fn visit(
    name: &str,
    path: &str,
    options: Options,
    test: impl AsyncFnOnce(&Page) -> Result<()>,
) -> Result<()> {
    visit_in(Browser::Chromium, name, path, options, test).await
}

/// [`visit`] as the reader of one's choice.
///
/// # Errors
/// As [`visit`].
pub async fn visit_in(
    reader: impl Into<Reader>,
    name: &str,
    path: &str,
    options: Options,
    test: impl AsyncFnOnce(&Page) -> Result<()>,
) -> Result<()> {
    let page = Page::open(reader.into(), path, options).await?;
    let outcome = test(&page).await;
    if outcome.is_err() {
        page.screenshot(&format!("{name}-{}-failed", page.browser.name())).await?;
    }
    let quit = page.driver.clone().quit().await;
    outcome.and(quit.context("the browser did not quit"))
}

impl Page {
    async fn open(reader: Reader, path: &str, options: Options) -> Result<Page> {
        let browser = reader.browser;
        // Only Chromium's driver hands out the console's log, so that in Firefox the page keeps it.
        let recorder = browser == Browser::Firefox && reader.scripts;
        let site = Site::start(Options { recorder, ..options }).await?;
        let mut driver = Driver::start(browser)?;
        let profile = tempfile::tempdir().context("no folder for the browser's profile")?;
        let web = match browser {
            Browser::Chromium => WebDriver::new(driver.url(), chromium(&profile)?).await,
            Browser::Firefox => WebDriver::new(driver.url(), firefox(reader)?).await,
        };
        let web = web.with_context(|| format!("{} did not start", browser.name()))?;
        driver.session = Some(web.session_id().to_string());
        let page = Page { driver: web, browser, site, _driver: driver, _profile: profile };
        page.goto(path).await?;
        Ok(page)
    }

    /// Opens another page of the same site.
    pub async fn goto(&self, path: &str) -> Result<()> {
        let address = format!("{}{path}", self.site.origin());
        self.driver.goto(&address).await.with_context(|| format!("cannot open {address}"))
    }

    /// Opens another page of the same site as wide as a phone. Firefox has no window as narrow as that, so the page
    /// stands in a frame, to which everything else that is asked of this page goes from now on.
    pub async fn goto_narrow(&self, path: &str) -> Result<()> {
        let source = format!("{}{path}", self.site.origin());
        let frame = format!("<iframe style=\"border:0;width:360px;height:800px\" src=\"{source}\"></iframe>");
        self.driver.goto(&format!("data:text/html,{frame}")).await.context("cannot open a frame")?;
        self.driver.enter_frame(0).await.with_context(|| format!("cannot open {source}"))
    }

    /// The value of a JavaScript expression.
    pub async fn eval(&self, expression: &str) -> Result<Value> {
        let result = self.driver.execute(format!("return {expression};"), vec![]).await;
        Ok(result.with_context(|| format!("cannot evaluate {expression}"))?.json().clone())
    }

    /// The text of an expression, once it is a string that is not empty.
    pub async fn wait_for_text(&self, expression: &str) -> Result<String> {
        let start = Instant::now();
        loop {
            match self.eval(expression).await? {
                Value::String(text) if !text.is_empty() => return Ok(text),
                other if start.elapsed() > PATIENCE => {
                    let console = self.console_errors().await?.join("\n");
                    bail!("{expression} is still {other} after {PATIENCE:?}; the console says: {console}")
                }
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// Sets the size of the viewport and the colour scheme that the reader prefers; nothing moves, so that a picture
    /// shows the end of a motion.
    pub async fn look(&self, width: u32, height: u32, scheme: &str) -> Result<()> {
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await?;
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features })).await
    }

    /// Sends one command of the DevTools protocol.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Result<()> {
        self.driver.cdp().send_raw(command, parameters).await.with_context(|| command.to_owned())?;
        Ok(())
    }

    /// Keeps a picture of the viewport in `target/screenshots/`.
    pub async fn screenshot(&self, name: &str) -> Result<()> {
        let folder = target()?.join("screenshots");
        fs::create_dir_all(&folder)?;
        let file = folder.join(format!("{name}.png"));
        self.driver.screenshot(&file).await.with_context(|| format!("cannot write {}", file.display()))
    }

    /// Keeps a picture of the page from top to bottom, in Firefox, where it may stand in a frame.
    pub async fn screenshot_whole(&self, name: &str) -> Result<()> {
        let height = self.eval("document.documentElement.scrollHeight").await?.as_u64().unwrap_or(800);
        let in_frame = self.eval("window !== top").await? == true;
        if in_frame {
            self.driver.enter_parent_frame().await?;
            self.eval(&format!("(document.querySelector('iframe').style.height = '{height}px')")).await?;
        }
        // A window has a frame of its own, of about a hundred pixels.
        self.driver.set_window_rect(0, 0, 1280, u32::try_from(height)? + 150).await?;
        self.screenshot(name).await?;
        if in_frame {
            self.driver.enter_frame(0).await?;
        }
        Ok(())
    }

    /// Fails when the page is wider than its viewport.
    pub async fn check_no_sideways_scroll(&self) -> Result<()> {
        let widths = self.eval("[document.documentElement.scrollWidth, innerWidth]").await?;
        ensure!(widths[0].as_u64() <= widths[1].as_u64(), "the page is wider than the screen: {widths}");
        Ok(())
    }

    /// Fails when the console has an error, or when anything but the site was asked for anything.
    pub async fn check_quiet(&self) -> Result<()> {
        let errors = self.console_errors().await?;
        ensure!(errors.is_empty(), "the console has errors:\n{}", errors.join("\n"));
        let requests = self.requests().await?;
        ensure!(!requests.is_empty(), "the browser reported no request at all");
        let origin = self.site.origin();
        let foreign: Vec<_> = requests.iter().filter(|url| !url.starts_with(&origin)).collect();
        ensure!(foreign.is_empty(), "the page asked other hosts: {foreign:?}");
        Ok(())
    }

    /// The console's errors and warnings since the last call.
    pub async fn console_errors(&self) -> Result<Vec<String>> {
        if self.browser == Browser::Firefox {
            let recorded = self.eval("window.recorded.splice(0)").await?;
            return serde_json::from_value(recorded).context("the page keeps no record of its errors");
        }
        let entries = self.driver.browser_log().await.context("the browser gives no console log")?;
        let serious = entries.into_iter().filter(|entry| entry.level == "SEVERE" || entry.level == "WARNING");
        Ok(serious.map(|entry| entry.message).collect())
    }

    /// Every address that the page asked for since the last call.
    pub async fn requests(&self) -> Result<Vec<String>> {
        if self.browser == Browser::Firefox {
            let entries =
                self.eval("performance.getEntriesByType('resource').map(entry => entry.name)").await?;
            return serde_json::from_value(entries).context("the page lists no requests");
        }
        let entries = self.driver.get_log("performance").await.context("the browser gives no network log")?;
        let mut urls = Vec::new();
        for entry in entries {
            let event: Value = serde_json::from_str(&entry.message)?;
            let event = &event["message"];
            if event["method"] == "Network.requestWillBeSent" {
                urls.extend(event["params"]["request"]["url"].as_str().map(str::to_owned));
            }
        }
        // The browser's own pages, such as its new tab, are not the page's doing, and `data:` asks nobody.
        let own = ["chrome:", "chrome-untrusted:", "data:"];
        urls.retain(|url| !own.iter().any(|scheme| url.starts_with(scheme)));
        Ok(urls)
    }
}

fn chromium(profile: &TempDir) -> Result<thirtyfour::ChromeCapabilities> {
    let mut wanted = DesiredCapabilities::chrome();
    let binary = program("CHROME", &["chromium", "chromium-browser", "google-chrome", "chrome"])?;
    wanted.set_binary(&binary.to_string_lossy())?;
    for argument in ARGUMENTS.lines().filter(|line| line.starts_with("--")) {
        wanted.add_arg(argument)?;
    }
    wanted.add_arg(&format!("--user-data-dir={}", profile.path().display()))?;
    wanted.set_browser_log_level(LoggingPrefsLogLevel::All)?;
    wanted.set_logging_prefs("performance", LoggingPrefsLogLevel::All)?;
    Ok(wanted)
}

/// Its profile is the driver's, which removes it.
fn firefox(reader: Reader) -> Result<thirtyfour::FirefoxCapabilities> {
    let mut wanted = DesiredCapabilities::firefox();
    wanted.set_firefox_binary(&program("FIREFOX", &["firefox-esr", "firefox"])?.to_string_lossy())?;
    wanted.add_arg("-headless")?;
    let mut preferences = FirefoxPreferences::new();
    // Tab goes to links and buttons on every system.
    preferences.set("accessibility.tabfocus", 7)?;
    preferences.set("ui.prefersReducedMotion", 1)?;
    preferences.set("layout.css.prefers-color-scheme.content-override", if reader.dark { 0 } else { 1 })?;
    preferences.set("javascript.enabled", reader.scripts)?;
    wanted.set_preferences(preferences)?;
    Ok(wanted)
}
