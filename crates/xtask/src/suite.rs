//! `cargo xtask valkey-suite`: Valkey's own Tcl tests, pointed at `emq-verify serve`.
//!
//! `tests/valkey-suite.toml` lists the stanzas that the engine does not pass, each with its reason. A stanza that fails
//! and is not listed makes the command fail, and so does a listed one that passes.

mod list;
mod source;

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

pub use source::{install, present};

use crate::{context::Context, run, valkey};
use list::Listed;

/// The files that the engine is held to.
const FILES: &[&str] = &[
    "unit/type/string",
    "unit/type/hash",
    "unit/type/list",
    "unit/type/list-2",
    "unit/type/list-3",
    "unit/type/set",
    "unit/type/zset",
    "unit/type/incr",
    "unit/expire",
    "unit/keyspace",
    "unit/multi",
    "unit/scan",
    "unit/sort",
    "unit/scripting",
    "unit/functions",
    "unit/hashexpire",
    "unit/dump",
];

const TAGS: &str = "-slow -needs:debug -needs:repl -needs:save -needs:config-maxmemory";

/// After so many seconds without a sign of life the suite gives a stanza up.
const PATIENCE_S: &str = "120";

/// Runs these files, or all.
pub fn suite(context: &Context, only: &[&str]) -> Result<()> {
    if !source::is_there(context) {
        source::install(context)?;
    }
    if let Some(unknown) = only.iter().find(|file| !FILES.contains(file)) {
        bail!("`{unknown}` is none of: {}", FILES.join(", "));
    }
    let listed = list::read(&context.root.join("tests/valkey-suite.toml"))?;
    run::run(&mut context.cargo(&["build", "--package", "emq-verify"]))?;
    let mut wrong = Vec::new();
    let mut table = Vec::new();
    for file in FILES.iter().filter(|file| only.is_empty() || only.contains(file)) {
        let listed: Vec<&Listed> = listed.iter().filter(|stanza| stanza.file == *file).collect();
        let outcome = run_file(context, file, &listed)?;
        let (passed, all) = outcome.count(&listed);
        println!("{file}: {passed} of {all}");
        table.push(format!("{file:<20} {passed:>4} of {all}"));
        wrong.extend(outcome.differences(file, &listed));
    }
    println!("\n{}", table.join("\n"));
    if !wrong.is_empty() {
        bail!("tests/valkey-suite.toml says otherwise:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// What became of the stanzas of a file, by name. Loops run stanzas of one name several times.
#[derive(Debug, Default)]
struct Outcome {
    passed: BTreeMap<String, u64>,
    failed: BTreeMap<String, u64>,
    /// It came to its end.
    whole: bool,
}

impl Outcome {
    fn read(lines: &[String]) -> Outcome {
        let mut outcome = Outcome::default();
        for line in lines {
            if let Some(rest) = line.strip_prefix("[ok]: ") {
                // `name (3 ms)`
                let name = rest.rsplit_once(" (").map_or(rest, |(name, _)| name);
                *outcome.passed.entry(name.to_owned()).or_default() += 1;
            } else if let Some(rest) = line.strip_prefix("[err]: ") {
                let name = rest.rsplit_once(" in tests/").map_or(rest, |(name, _)| name);
                *outcome.failed.entry(name.to_owned()).or_default() += 1;
            }
            outcome.whole |= line.contains("The End");
        }
        outcome
    }

    fn count(&self, listed: &[&Listed]) -> (u64, u64) {
        let passed: u64 = self.passed.values().sum();
        let skipped = listed.iter().filter(|stanza| stanza.skip).count() as u64;
        (passed, passed + self.failed.values().sum::<u64>() + skipped)
    }

    /// What the list does not say.
    fn differences(&self, file: &str, listed: &[&Listed]) -> Vec<String> {
        let names: BTreeSet<&str> = listed.iter().map(|stanza| stanza.name.as_str()).collect();
        let unlisted = self.failed.keys().filter(|name| !names.contains(name.as_str()));
        let mut differences: Vec<String> =
            unlisted.map(|name| format!("{file}: fails and is not listed: {name}")).collect();
        let passing = listed.iter().filter(|stanza| !stanza.skip && !self.failed.contains_key(&stanza.name));
        differences.extend(passing.map(|stanza| format!("{file}: listed and passes: {}", stanza.name)));
        if !self.whole {
            differences.push(format!("{file}: the suite did not come to its end"));
        }
        differences
    }
}

fn run_file(context: &Context, file: &str, listed: &[&Listed]) -> Result<Outcome> {
    let server = Served::start(context)?;
    let folder = source::folder(context);
    let binary =
        valkey::servers(context).pop().context("there is no Valkey server: run `cargo xtask setup`")?;
    let binaries = binary.parent().context("a server lies in a folder")?;
    let mut command = context.command("./runtest");
    command.current_dir(&folder).env("VALKEY_BIN_DIR", binaries).env("TERM", "dumb");
    command.args(["--host", "127.0.0.1", "--port", &server.port, "--single", file]);
    command.args(["--singledb", "--ignore-encoding", "--durable", "--timeout", PATIENCE_S, "--tags", TAGS]);
    for stanza in listed.iter().filter(|stanza| stanza.skip) {
        command.args(["--skiptest", &stanza.name]);
    }
    // It ends with an error when a stanza fails; which one, its lines say.
    let output = command.stdin(Stdio::null()).output().context("cannot start ./runtest")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<String> = text.lines().map(plain).collect();
    let log = context.target.join(format!("valkey-suite/{}.log", file.replace('/', "-")));
    std::fs::create_dir_all(log.parent().context("a log lies in a folder")?)?;
    std::fs::write(&log, lines.join("\n"))?;
    Ok(Outcome::read(&lines))
}

/// A line without the colours of a terminal.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut parts = line.split("\u{1b}[");
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        text.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    text
}

/// `emq-verify serve`, which ends with this value.
struct Served {
    child: Child,
    port: String,
}

impl Served {
    fn start(context: &Context) -> Result<Served> {
        let mut command = Command::new(context.target.join("debug/emq-verify"));
        let mut child = command.args(["serve", "--port", "0"]).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("its stdout is a pipe")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line.trim().rsplit_once(':').map(|(_, port)| port.to_owned()).unwrap_or_default();
        Ok(Served { child, port })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A server that has ended already is what is wanted here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::{Listed, Outcome, plain};

    fn outcome(text: &str) -> Outcome {
        Outcome::read(&text.lines().map(plain).collect::<Vec<_>>())
    }

    #[test]
    fn holds_the_list_to_what_happened() {
        let outcome = outcome(
            "[\u{1b}[0;32;49mok\u{1b}[0m]: A (in a loop) (1 ms)\n[ok]: A (in a loop) (2 ms)\n\
             [err]: B in tests/unit/x.tcl\nExpected\n[err]: C in tests/unit/x.tcl\n The End\n",
        );
        let listed = |name: &str, skip| Listed { file: "x".to_owned(), name: name.to_owned(), skip };
        let (b, d, hangs) = (listed("B", false), listed("A (in a loop)", false), listed("hangs", true));
        assert_eq!(outcome.count(&[&b, &hangs]), (2, 5));
        assert_eq!(
            outcome.differences("x", &[&b, &d, &hangs]),
            ["x: fails and is not listed: C", "x: listed and passes: A (in a loop)"]
        );
    }

    #[test]
    fn an_end_is_wanted() {
        assert_eq!(
            outcome("[ok]: A (1 ms)\n").differences("x", &[]),
            ["x: the suite did not come to its end"]
        );
    }
}
