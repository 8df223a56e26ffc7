//! `emq-verify parity`: the case files, on the engine and on real servers side by side.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use emq_verify::cases::{self, Case, CaseFile, Clients, EngineClients, ServerClients, release};
use emq_verify::on::{On, Place};

use super::{Console, Outcome};

/// Run the case files on the engine and on real servers, and compare every reply
///
/// A dialogue holds when the engine, as the release of the server, and the server both answer what the file says. Of
/// a dialogue that does not, the first differing step is shown with both answers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  emq-verify parity                                  # every file of tests/cases, each server at hand
  emq-verify parity --on redis://127.0.0.1:6379 tests/cases/strings.toml
  emq-verify parity --record tests/cases/hashes.toml # fills in what is not expected yet")]
pub struct Parity {
    /// valkey (each server at hand), or one that runs: redis://[user:password@]host[:port][/db], unix:///path
    #[arg(long, value_name = "WHERE", default_value = "valkey")]
    on: Vec<On>,

    /// Writes the newest server's answers into the steps without any, and an 8.x server's where they differ
    #[arg(long)]
    record: bool,

    /// Case files; those of tests/cases unless given
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Parity {
    pub fn run(&self, console: &mut Console) -> anyhow::Result<Outcome> {
        let files =
            if self.files.is_empty() { files_of(Path::new(cases::FOLDER))? } else { self.files.clone() };
        let mut servers = self.servers()?;
        if self.record {
            return record(&files, servers, console);
        }
        let mut passed = true;
        for server in &mut servers {
            let mut engine = EngineClients::of_release(server.version());
            let (mut held, mut all) = (0, 0);
            for file in &files {
                let cases = CaseFile::read(file)?.cases;
                let (held_here, here) = compare(file, &cases, &mut engine, server, console)?;
                held += held_here;
                all += here;
            }
            console.line(format_args!("valkey {}: {held} of {all} dialogues", server.version()))?;
            passed &= held == all;
        }
        Ok(Outcome::passed_if(passed))
    }

    fn servers(&self) -> anyhow::Result<Vec<ServerClients>> {
        let mut servers = Vec::new();
        for on in &self.on {
            for place in on.places()? {
                match place {
                    Place::Server(server) => servers.push(ServerClients::new(server)),
                    Place::Engine => {
                        bail!("--on names real servers; the engine is always compared with them")
                    }
                }
            }
        }
        Ok(servers)
    }
}

fn files_of(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("{} (or name the files)", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    ensure!(!files.is_empty(), "there is no case file in {}", folder.display());
    Ok(files)
}

/// How many dialogues held, of how many that are for this release.
fn compare(
    file: &Path,
    cases: &[Case],
    engine: &mut EngineClients,
    server: &mut ServerClients,
    console: &mut Console,
) -> anyhow::Result<(usize, usize)> {
    let version = server.version().to_owned();
    let mut report = Vec::new();
    let cases: Vec<&Case> = cases.iter().filter(|case| !case.is_for_newer_than(&version)).collect();
    for case in &cases {
        let ours = cases::play(case, engine).with_context(|| format!("engine: {}", case.name))?;
        let theirs = cases::play(case, server).with_context(|| format!("valkey {version}: {}", case.name))?;
        report.extend(first_difference(case, &version, &ours, &theirs));
    }
    let held = cases.len() - report.len();
    console.line(format_args!("{}: {held} of {} dialogues", file.display(), cases.len()))?;
    for difference in report {
        console.line(difference)?;
    }
    Ok((held, cases.len()))
}

fn first_difference(case: &Case, version: &str, ours: &[String], theirs: &[String]) -> Option<String> {
    let mut answers = case.steps.iter().zip(ours.iter().zip(theirs)).enumerate();
    let (at, (step, (ours, theirs))) = answers.find(|(_, (step, (ours, theirs)))| {
        let expected = step.expected(version);
        expected != Some(ours.as_str()) || expected != Some(theirs.as_str())
    })?;
    Some(format!(
        "  {}, step {}: {}\n    recorded      {}\n    engine        {ours}\n    valkey {version:<6} {theirs}",
        case.name,
        at + 1,
        step.send,
        step.expected(version).unwrap_or("nothing yet: run with --record"),
    ))
}

fn record(
    files: &[PathBuf],
    mut servers: Vec<ServerClients>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    servers.sort_by_key(|server| release(server.version()));
    let mut newest = servers.pop().context("there is no server to record from")?;
    let mut older: Vec<Box<dyn Clients>> = Vec::new();
    older.extend(servers.into_iter().map(|server| Box::new(server) as Box<dyn Clients>));
    for file in files {
        let recorded = cases::record(file, &mut newest, &mut older)?;
        console.line(format_args!("{}: {recorded} answers recorded", file.display()))?;
    }
    Ok(Outcome::Passed)
}
