//! `cargo xtask test` and `ci`: every check by name, in order, timed; the first that is red stops the run and
//! says how to run it again.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use crate::{
    browser, budget,
    context::Context,
    run,
    setup::{self, Group},
    tidy, valkey, web,
};

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Context) -> Result<Count>,
}

/// How many tests a step ran. All of them passed, or the step would have failed.
type Count = Option<u64>;

/// The crates that go into the page.
const WASM_CRATES: &[(&str, &str)] = &[
    ("crates/lua54", "lua54"),
    ("crates/engine", "echomq-engine"),
    ("crates/core", "echomq-core"),
    ("crates/widget", "echomq-widget"),
];

const WASM_TARGET: &str = "wasm32-unknown-unknown";

const STEPS: &[Step] = &[
    Step {
        name: "setup",
        about: "install what is missing",
        run: |context| setup::setup(context, Group::Test).map(|()| None),
    },
    Step {
        name: "tidy",
        about: "style rules that are code",
        run: |context| tidy::tidy(context).map(|()| None),
    },
    Step {
        name: "fmt",
        about: "rustfmt changes nothing",
        run: |context| quiet(context.command("cargo").args(["fmt", "--all", "--check"])),
    },
    Step { name: "clippy", about: "no warning, natively", run: clippy },
    Step { name: "clippy-wasm", about: "no warning in what the page loads", run: clippy_wasm },
    Step { name: "deny", about: "licences, bans and sources of all dependencies", run: deny },
    Step {
        name: "page",
        about: "the optimised pages",
        run: |context| web::build_pages(context).map(|()| None),
    },
    Step {
        name: "imports",
        about: "the module needs nothing but its own JavaScript",
        run: |context| web::check_imports(context).map(|()| None),
    },
    Step {
        name: "budget",
        about: "what a page fetches stays under its budget",
        run: |context| budget::budget(context).map(|()| None),
    },
    Step {
        name: "nextest",
        about: "all tests: the crates, each Valkey, the pages in Chromium and Firefox",
        run: nextest,
    },
    Step { name: "doc", about: "the examples in the documentation", run: doc_tests },
    Step { name: "wasm-node", about: "the crates' wasm tests in Node.js", run: wasm_in_node },
    Step {
        name: "wasm-chromium",
        about: "the crates' wasm tests in headless Chromium",
        run: wasm_in_chromium,
    },
    Step {
        name: "rung",
        about: "emq-verify prints the golden transcript on the engine and on each Valkey",
        run: rung,
    },
];

pub fn list() {
    for step in STEPS {
        println!("{:<14} {}", step.name, step.about);
    }
}

/// Runs all steps, or the named ones.
pub fn test(context: &Context, only: &[&str]) -> Result<()> {
    if let Some(unknown) = only.iter().find(|name| STEPS.iter().all(|step| step.name != **name)) {
        bail!("there is no step `{unknown}`; `cargo xtask test --list` names them");
    }
    let chosen = STEPS.iter().filter(|step| only.is_empty() || only.contains(&step.name));
    let start = Instant::now();
    let mut done: Vec<(&str, Duration, Count)> = Vec::new();
    for step in chosen {
        println!("\n== {}: {}", step.name, step.about);
        let begun = Instant::now();
        match (step.run)(context) {
            Ok(count) => done.push((step.name, begun.elapsed(), count)),
            Err(error) => {
                table(&done, start.elapsed());
                println!("{:<14} {:>7.1} s  RED", step.name, begun.elapsed().as_secs_f64());
                bail!(
                    "{error:#}\n\n`{}` is red. To run it again: cargo xtask test --only {}",
                    step.name,
                    step.name
                );
            }
        }
    }
    table(&done, start.elapsed());
    let passed: u64 = done.iter().filter_map(|(_, _, count)| *count).sum();
    if passed > 0 {
        println!("\n{passed} passed, 0 failed");
    }
    Ok(())
}

fn table(done: &[(&str, Duration, Count)], total: Duration) {
    println!("\n{:<14} {:>9}  tests", "step", "time");
    for (name, took, count) in done {
        let count = count.map_or_else(String::new, |count| count.to_string());
        println!("{name:<14} {:>7.1} s  {count}", took.as_secs_f64());
    }
    println!("{:<14} {:>7.1} s", "in all", total.as_secs_f64());
}

fn clippy(context: &Context) -> Result<Count> {
    quiet(&mut context.cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))
}

fn clippy_wasm(context: &Context) -> Result<Count> {
    let mut command = context.cargo(&["clippy", "--target", WASM_TARGET]);
    for (_, package) in WASM_CRATES {
        command.args(["--package", package]);
    }
    quiet(command.args(["--", "--deny", "warnings"]))?;
    let mut smallest = context.cargo(&["clippy", "--target", WASM_TARGET, "--package", "echomq-widget"]);
    quiet(smallest.args(["--no-default-features", "--", "--deny", "warnings"]))
}

/// The advisory database is a git repository on a host that a build machine need not reach, so advisories are
/// left to `cargo deny check advisories` by hand; everything that Cargo.lock alone decides is checked here.
fn deny(context: &Context) -> Result<Count> {
    quiet(context.command("cargo").args(["deny", "--offline", "check", "licenses", "bans", "sources"]))
}

fn nextest(context: &Context) -> Result<Count> {
    let mut command = context.cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]);
    let lines = run::run_and_keep(with_browser(context, with_servers(context, &mut command)?)?)?;
    // `Summary [   1.2s] 12 tests run: 12 passed, 0 skipped`
    let summary = lines
        .iter()
        .rev()
        .find(|line| line.contains("Summary ["))
        .context("nextest closed with no summary")?;
    if !summary.ends_with(" 0 skipped") {
        bail!("tests were skipped: {}", summary.trim());
    }
    ran(number_before(summary, " tests run").or_else(|| number_before(summary, " test run")))
}

fn doc_tests(context: &Context) -> Result<Count> {
    let lines = run::run_and_keep(&mut context.cargo(&["test", "--doc", "--workspace"]))?;
    Ok(Some(passed(&lines)))
}

fn wasm_in_node(context: &Context) -> Result<Count> {
    wasm_tests(context, |_| Ok(()))
}

fn wasm_in_chromium(context: &Context) -> Result<Count> {
    let capabilities = browser::capabilities_file(context)?;
    let driver = browser::driver(context).context("there is no ChromeDriver: run `cargo xtask setup`")?;
    wasm_tests(context, |command| {
        command.env("WASM_BINDGEN_USE_BROWSER", "1").env("WASM_BINDGEN_TEST_TIMEOUT", "300");
        command.env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &capabilities).env("CHROMEDRIVER", &driver);
        Ok(())
    })
}

/// The test targets of the page's crates that use wasm-bindgen's harness.
fn wasm_tests(context: &Context, prepare: impl Fn(&mut Command) -> Result<()>) -> Result<Count> {
    let mut count = 0;
    for (folder, package) in WASM_CRATES {
        let targets = wasm_test_targets(&context.root.join(folder))?;
        if targets.is_empty() {
            continue;
        }
        let mut command = context.cargo(&["test", "--target", WASM_TARGET, "--package", package]);
        command.args(&targets);
        prepare(&mut command)?;
        count += passed(&run::run_and_keep(&mut command)?);
    }
    // Lua as the pages have it prints numbers by other functions.
    let mut command = context.cargo(&["test", "--target", WASM_TARGET, "--package", "lua54"]);
    command.args(["--no-default-features", "--test", "core"]);
    prepare(&mut command)?;
    count += passed(&run::run_and_keep(&mut command)?);
    ran(Some(count))
}

/// `--test name` for each `tests/name.rs` or `tests/name/main.rs` that mentions the harness.
fn wasm_test_targets(folder: &Path) -> Result<Vec<String>> {
    let mut targets = Vec::new();
    for entry in entries(&folder.join("tests")) {
        let is_target = entry.extension().is_some_and(|kind| kind == "rs") || entry.join("main.rs").is_file();
        if is_target && mentions(&entry, "wasm_bindgen_test") {
            let name =
                entry.file_stem().and_then(|stem| stem.to_str()).context("a test has no readable name")?;
            targets.extend(["--test".to_owned(), name.to_owned()]);
        }
    }
    Ok(targets)
}

/// Whether a file, or any file below a folder, holds the text.
fn mentions(path: &Path, text: &str) -> bool {
    if path.is_dir() {
        return entries(path).iter().any(|entry| mentions(entry, text));
    }
    fs::read_to_string(path).is_ok_and(|contents| contents.contains(text))
}

/// What a folder holds, by name; nothing if there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

/// The transcript, as the built binary prints it, against the golden file: on the engine and on every server.
fn rung(context: &Context) -> Result<Count> {
    let golden_path = context.root.join("tests/golden/rung.txt");
    let golden =
        fs::read_to_string(&golden_path).with_context(|| format!("cannot read {}", golden_path.display()))?;
    let mut wires = vec![("engine".to_owned(), None)];
    if std::env::var_os("VALKEY_URL").is_some_and(|url| !url.is_empty()) {
        wires.push(("valkey".to_owned(), None));
    } else {
        wires.extend(valkey::servers(context).into_iter().map(|server| ("valkey".to_owned(), Some(server))));
    }
    if wires.len() < 2 {
        bail!("there is no Valkey server: run `cargo xtask setup`");
    }
    let count = wires.len() as u64;
    for (on, server) in wires {
        let mut command =
            context.cargo(&["run", "--quiet", "--package", "emq-verify", "--", "rung", "--on", &on]);
        let version =
            server.as_deref().and_then(|server| valkey::version(context, server)).unwrap_or_default();
        if let Some(server) = &server {
            command.env(valkey::SERVERS_VARIABLE, server);
        }
        let transcript = run::output(&mut command)?;
        if transcript != golden {
            bail!("rung --on {on} {version} differs from tests/golden/rung.txt; it printed:\n{transcript}");
        }
        println!("{on} {version}: {}", transcript.lines().last().unwrap_or_default());
    }
    Ok(Some(count))
}

fn quiet(command: &mut Command) -> Result<Count> {
    run::run(command).map(|()| None)
}

fn with_servers<'a>(context: &Context, command: &'a mut Command) -> Result<&'a mut Command> {
    // An error that a test returns says what went wrong; the frames of the test runner below it say nothing.
    command.env("RUST_LIB_BACKTRACE", "0");
    Ok(command.env(valkey::SERVERS_VARIABLE, valkey::servers_list(context)?))
}

fn with_browser<'a>(context: &Context, command: &'a mut Command) -> Result<&'a mut Command> {
    let chromium = browser::chromium(context).context("there is no Chromium: run `cargo xtask setup`")?;
    let driver = browser::driver(context).context("there is no ChromeDriver: run `cargo xtask setup`")?;
    command.env("ECHOMQ_LAB_CACHE", &context.cache);
    Ok(command.env("CHROME", chromium).env("CHROMEDRIVER", driver))
}

/// A step that ran no test has shown nothing.
fn ran(count: Count) -> Result<Count> {
    match count {
        Some(0) | None => bail!("no test ran"),
        some => Ok(some),
    }
}

/// The sum of `test result: ok. N passed; …` lines.
fn passed(lines: &[String]) -> u64 {
    let results = lines.iter().filter(|line| line.starts_with("test result: ok."));
    results.filter_map(|line| number_before(line, " passed")).sum()
}

/// The number that stands before the first occurrence of a text.
fn number_before(line: &str, text: &str) -> Option<u64> {
    line[..line.find(text)?].split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{number_before, passed};

    #[test]
    fn reads_the_runners_closing_lines() {
        let summary = "     Summary [   1.204s] 12 tests run: 12 passed, 0 skipped";
        assert_eq!(number_before(summary, " tests run"), Some(12));
        let lines = [
            "test result: ok. 3 passed; 0 failed; 0 ignored",
            "noise 9 passed",
            "test result: ok. 4 passed; 0 failed",
        ];
        assert_eq!(passed(&lines.map(str::to_owned)), 7);
    }
}
