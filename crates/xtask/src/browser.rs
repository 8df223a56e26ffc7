//! A real Chromium and its driver, and what they must be told to run headless and quietly.

use std::{env, fs, path::PathBuf};

use anyhow::{Context as _, Result};

use crate::{context::Context, packages::Need, run};

const NEED: Need = Need {
    what: "Chromium with its ChromeDriver (or CHROME and CHROMEDRIVER set to their paths)",
    debian: &["chromium", "chromium-driver"],
    fedora: "chromium chromedriver",
    brew: "--cask chromium chromedriver",
};

/// One a line; the tests of the pages read the same.
const ARGUMENTS: &str = include_str!("../../../tests/browser/chromium.txt");

pub fn present(context: &Context) -> Option<String> {
    let chromium = chromium(context)?;
    let driver = driver(context)?;
    // The snap stub that Ubuntu installs under this name has no version: then it does not count as there.
    let version = run::output(context.command(chromium.to_str()?).arg("--version")).ok()?;
    run::output(context.command(driver.to_str()?).arg("--version")).ok()?;
    Some(version.trim().to_owned())
}

pub fn install(context: &Context) -> Result<()> {
    NEED.install(context)
}

pub fn chromium(context: &Context) -> Option<PathBuf> {
    let named = env::var_os("CHROME").map(PathBuf::from).filter(|path| path.is_file());
    named.or_else(|| {
        ["chromium", "chromium-browser", "google-chrome", "chrome"].iter().find_map(|name| context.find(name))
    })
}

pub fn driver(context: &Context) -> Option<PathBuf> {
    let named = env::var_os("CHROMEDRIVER").map(PathBuf::from).filter(|path| path.is_file());
    named.or_else(|| context.find("chromedriver"))
}

/// What Chromium is told.
pub fn arguments() -> impl Iterator<Item = &'static str> {
    ARGUMENTS.lines().filter(|line| line.starts_with("--"))
}

/// The capabilities file for wasm-bindgen's test runner, which otherwise leaves the sandbox on.
pub fn capabilities_file(context: &Context) -> Result<PathBuf> {
    let chromium = chromium(context).context("there is no Chromium: run `cargo xtask setup`")?;
    let arguments: Vec<String> = arguments().map(|argument| format!("\"{argument}\"")).collect();
    let text = format!(
        "{{\"goog:chromeOptions\": {{\"binary\": {:?}, \"args\": [{}]}}}}\n",
        chromium.display().to_string(),
        arguments.join(", ")
    );
    fs::create_dir_all(&context.target)?;
    let path = context.target.join("webdriver.json");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
