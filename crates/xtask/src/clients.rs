//! What only the tests need: the clients that run the pages' do-it-yourself lines, the accessibility rules, and the
//! second browser.

use anyhow::{Context as _, Result};

use crate::{context::Context, packages::Need, run, tools, valkey};

/// valkey-py, whose lines the pages offer, and redis-py.
const PYTHON_CLIENT: &str = "6.2.0";
const REDIS_PY: &str = "8.1.0";

const PYTHON_NEED: Need = Need {
    what: "Python 3 with its venv module",
    debian: &["python3", "python3-venv"],
    fedora: "python3",
    brew: "python",
};

const FIREFOX_NEED: Need = Need {
    what: "Firefox (or FIREFOX set to its path)",
    debian: &["firefox-esr"],
    fedora: "firefox",
    brew: "--cask firefox",
};

pub fn valkey_cli_present(context: &Context) -> Option<String> {
    let text = run::output(context.command("valkey-cli").arg("--version")).ok()?;
    text.split_whitespace().nth(1).map(str::to_owned)
}

pub fn valkey_cli_install(context: &Context) -> Result<()> {
    valkey::install_tools(context)
}

pub fn python_present(context: &Context) -> Option<String> {
    let python = context.cache.join("python/bin/python");
    let print = "import redis, valkey; print(valkey.__version__, redis.__version__)";
    let text = run::output(context.command(python.to_str()?).args(["-c", print])).ok()?;
    let wanted = format!("{PYTHON_CLIENT} {REDIS_PY}");
    (text.trim() == wanted).then(|| format!("valkey {PYTHON_CLIENT}, redis {REDIS_PY}"))
}

pub fn python_install(context: &Context) -> Result<()> {
    if run::output(context.command("python3").args(["-c", "import ensurepip, venv"])).is_err() {
        PYTHON_NEED.install(context)?;
    }
    let folder = context.cache.join("python");
    let mut venv = context.command("python3");
    venv.args(["-m", "venv"]).arg(&folder);
    run::run_logged(context, "python-venv", &mut venv)?;
    let mut pip = context.command(folder.join("bin/pip").to_str().context("the cache's path is not UTF-8")?);
    pip.args(["install", &format!("valkey=={PYTHON_CLIENT}"), &format!("redis=={REDIS_PY}")]);
    run::run_logged(context, "python-valkey", &mut pip)
}

pub fn npm_present(context: &Context) -> Option<String> {
    tools::TEST_PACKAGES
        .iter()
        .map(|package| package.present(context))
        .collect::<Option<Vec<_>>>()
        .map(|names| names.join(", "))
}

pub fn npm_install(context: &Context) -> Result<()> {
    tools::npm_install(context, "npm-clients")
}

pub fn firefox_present(context: &Context) -> Option<String> {
    let named = std::env::var("FIREFOX").ok();
    let candidates = named.iter().map(String::as_str).chain(["firefox-esr", "firefox"]);
    candidates.into_iter().find_map(|firefox| {
        let text = run::output(context.command(firefox).arg("--version")).ok()?;
        Some(text.trim().to_owned())
    })
}

pub fn firefox_install(context: &Context) -> Result<()> {
    FIREFOX_NEED.install(context)
}
