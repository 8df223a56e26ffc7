//! A real Chromium, driven over WebDriver. Each test has its own driver, browser, profile and site, so that tests run
//! in any order and at the same time; all of them go when the test ends, however it ends.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::{ChromiumLikeCapabilities, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver};

use crate::site::{Options, Site};

/// Root may not use the sandbox; the rest keeps the browser from talking to hosts of its own accord.
const ARGUMENTS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
];

/// How long a page may take to show what a test waits for, on a machine that builds something else meanwhile.
const PATIENCE: Duration = Duration::from_secs(30);

const MISSING: &str = "run `cargo xtask setup --for test`, or set CHROME and CHROMEDRIVER";

/// A browser with one page of the site open.
#[derive(Debug)]
pub struct Page {
    pub driver: WebDriver,
    site: Site,
    // Dropped in this order: first the driver with its browsers, then the profile they wrote to.
    _chromedriver: Chromedriver,
    _profile: TempDir,
}

/// Opens a page of the site, runs the test on it, and takes everything down. A test that fails leaves a screenshot.
///
/// # Errors
/// What the test says, or what kept the browser from running.
pub async fn visit(
    name: &str,
    path: &str,
    options: Options,
    test: impl AsyncFnOnce(&Page) -> Result<()>,
) -> Result<()> {
    let page = Page::open(path, options).await?;
    let outcome = test(&page).await;
    if outcome.is_err() {
        page.screenshot(&format!("{name}-failed")).await?;
    }
    let quit = page.driver.clone().quit().await;
    outcome.and(quit.context("the browser did not quit"))
}

impl Page {
    async fn open(path: &str, options: Options) -> Result<Page> {
        let site = Site::start(options).await?;
        let chromedriver = Chromedriver::start()?;
        let profile = tempfile::tempdir().context("no folder for the browser's profile")?;
        let mut wanted = DesiredCapabilities::chrome();
        wanted
            .set_binary(&program("CHROME", &["chromium", "chromium-browser", "google-chrome", "chrome"])?)?;
        for argument in ARGUMENTS {
            wanted.add_arg(argument)?;
        }
        wanted.add_arg(&format!("--user-data-dir={}", profile.path().display()))?;
        wanted.set_browser_log_level(LoggingPrefsLogLevel::All)?;
        wanted.set_logging_prefs("performance", LoggingPrefsLogLevel::All)?;
        let driver = WebDriver::new(chromedriver.url(), wanted).await.context("Chromium did not start")?;
        let page = Page { driver, site, _chromedriver: chromedriver, _profile: profile };
        page.goto(path).await?;
        Ok(page)
    }

    /// Opens another page of the same site.
    pub async fn goto(&self, path: &str) -> Result<()> {
        let address = format!("{}{path}", self.site.origin());
        self.driver.goto(&address).await.with_context(|| format!("cannot open {address}"))
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
        let entries = self.driver.browser_log().await.context("the browser gives no console log")?;
        let serious = entries.into_iter().filter(|entry| entry.level == "SEVERE" || entry.level == "WARNING");
        Ok(serious.map(|entry| entry.message).collect())
    }

    /// Every address that the page asked for since the last call.
    pub async fn requests(&self) -> Result<Vec<String>> {
        let entries = self.driver.get_log("performance").await.context("the browser gives no network log")?;
        let mut urls = Vec::new();
        for entry in entries {
            let event: Value = serde_json::from_str(&entry.message)?;
            let event = &event["message"];
            if event["method"] == "Network.requestWillBeSent" {
                urls.extend(event["params"]["request"]["url"].as_str().map(str::to_owned));
            }
        }
        // The tab that the browser starts with is no request of the page, and a data URL asks nobody.
        urls.retain(|url| !url.starts_with("chrome:") && !url.starts_with("data:"));
        Ok(urls)
    }
}

/// A running ChromeDriver; its browsers go with it when it is dropped.
#[derive(Debug)]
struct Chromedriver {
    child: Child,
    port: u16,
}

impl Chromedriver {
    fn start() -> Result<Chromedriver> {
        let path = program("CHROMEDRIVER", &["chromedriver"])?;
        let mut command = Command::new(&path);
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().with_context(|| format!("cannot start {path}: {MISSING}"))?;
        let mut driver = Chromedriver { child, port: 0 };
        let output = driver.child.stdout.take().context("ChromeDriver has no output")?;
        // `ChromeDriver was started successfully on port 41235.`
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let port = line.split_once("on port ").map(|(_, rest)| rest.trim_end_matches('.').parse());
            if let (true, Some(Ok(port))) = (line.contains("successfully"), port) {
                driver.port = port;
                return Ok(driver);
            }
        }
        bail!("{path} ended before it listened; does its version fit the browser's? {MISSING}")
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks it to end, which ends its browsers too; killing it would leave them.
    fn shut_down(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        stream.read_to_end(&mut Vec::new())?;
        Ok(())
    }
}

impl Drop for Chromedriver {
    fn drop(&mut self) {
        // Both may fail because it has ended already.
        let _ = self.shut_down();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program that a variable names, or the first of these names on PATH.
fn program(variable: &str, names: &[&str]) -> Result<String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = names.iter().flat_map(|name| env::split_paths(&path).map(move |folder| folder.join(name)));
    let named = env::var_os(variable).map(PathBuf::from);
    let found = named.into_iter().chain(on_path).find(|file| file.is_file());
    let found = found.with_context(|| format!("there is no {}: {MISSING}", names.join(" or ")))?;
    Ok(found.to_string_lossy().into_owned())
}

/// Cargo's target folder: the test's own program is in `<target>/<profile>/deps/`.
fn target() -> Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.ancestors().nth(3).unwrap_or(Path::new("target")).to_path_buf())
}
