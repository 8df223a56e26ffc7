//! Case files: dialogues with a server, each reply as valkey-cli prints it.
//!
//! The files in `tests/cases/` are recorded from a real server ([`record`]). They are run on the engine and on every
//! real server at hand, and a reply must be the same text on all, so that a wrong expectation cannot stand.

mod clients;
mod line;
mod record;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use echomq_core::{Scripts, WireError};
use serde::Deserialize;

pub use clients::{Clients, EngineClients, ServerClients};
pub use line::{join, split};
pub use record::{literal, record};

/// The case files of the folder, in order of name.
pub const FOLDER: &str = "tests/cases";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    #[serde(rename = "case")]
    pub cases: Vec<Case>,
}

/// One dialogue. It begins with no keys and new connections.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub name: String,
    /// 2 or 3: what every connection of the case speaks.
    #[serde(default = "resp2")]
    pub protocol: u8,
    /// The first release that answers so, such as `9.0`; older servers are left out.
    pub since: Option<String>,
    /// Loads the eight scripts of `lua/` first; a word such as `@claim` then stands for a script's digest.
    #[serde(default)]
    pub queue: bool,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Lets time go by before the call.
    #[serde(default)]
    pub advance_ms: u64,
    /// Which connection sends; 0 unless said.
    #[serde(default)]
    pub client: usize,
    /// A line as it is typed into valkey-cli.
    pub send: String,
    /// What valkey-cli prints for the reply; a step without it waits to be recorded.
    pub expect: Option<String>,
    /// What releases before 9.0 answer, where that is another text.
    pub before_9: Option<String>,
}

fn resp2() -> u8 {
    2
}

impl CaseFile {
    /// # Errors
    /// When the file can't be read, or is no case file.
    pub fn read(path: &Path) -> anyhow::Result<CaseFile> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }
}

impl Case {
    /// Whether servers of this release are left out.
    pub fn is_for_newer_than(&self, version: &str) -> bool {
        self.since.as_ref().is_some_and(|since| release(version) < release(since))
    }
}

impl Step {
    /// What a server of this release answers; none for a step that waits to be recorded.
    pub fn expected(&self, version: &str) -> Option<&str> {
        match &self.before_9 {
            Some(text) if release(version) < (9, 0) => Some(text),
            _ => self.expect.as_deref(),
        }
    }
}

/// A reply that is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub case: String,
    /// 1 for the first.
    pub step: usize,
    pub send: String,
    pub expect: String,
    pub got: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { case, step, send, expect, got } = self;
        write!(f, "{case}, step {step}: {send}\n  expected {expect}\n  got      {got}")
    }
}

/// Runs one case and returns how many steps were compared and what differed. A case for newer releases compares
/// nothing.
///
/// # Errors
/// When a reply does not come.
pub fn run(case: &Case, clients: &mut dyn Clients) -> Result<(usize, Vec<Difference>), WireError> {
    if case.is_for_newer_than(clients.version()) {
        return Ok((0, Vec::new()));
    }
    let answers = play(case, clients)?;
    let mut differences = Vec::new();
    for (at, (step, got)) in case.steps.iter().zip(answers).enumerate() {
        let expect = step.expected(clients.version());
        if Some(got.as_str()) != expect {
            differences.push(Difference {
                case: case.name.clone(),
                step: at + 1,
                send: step.send.clone(),
                expect: expect.unwrap_or("(not recorded yet)").to_owned(),
                got,
            });
        }
    }
    Ok((case.steps.len(), differences))
}

/// The answers to all steps of a case, whatever is expected.
///
/// # Errors
/// When a reply does not come, or a line has unbalanced quotes.
pub fn play(case: &Case, clients: &mut dyn Clients) -> Result<Vec<String>, WireError> {
    clients.disconnect();
    clients.call(0, &[b"FLUSHALL"])?;
    let scripts = if case.queue { Scripts::bundled().all().to_vec() } else { Vec::new() };
    for script in &scripts {
        clients.call(0, &[b"SCRIPT", b"LOAD", script.source().as_bytes()])?;
    }
    let digest = |word: &[u8]| {
        let named = scripts.iter().find(|script| word.strip_prefix(b"@") == Some(script.name().as_bytes()));
        named.map_or(word.to_vec(), |script| script.sha().as_bytes().to_vec())
    };
    let mut greeted = Vec::new();
    let mut answers = Vec::new();
    for step in &case.steps {
        if !greeted.contains(&step.client) {
            greeted.push(step.client);
            clients.call(step.client, &[b"HELLO", case.protocol.to_string().as_bytes()])?;
        }
        if step.advance_ms > 0 {
            clients.pass(Duration::from_millis(step.advance_ms))?;
        }
        let argv = split(&step.send).ok_or_else(|| WireError(format!("unbalanced quotes: {}", step.send)))?;
        let argv: Vec<Vec<u8>> = argv.iter().map(|word| digest(word)).collect();
        let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        answers.push(clients.call(step.client, &argv)?.to_string());
    }
    Ok(answers)
}

/// The major and the minor number of a release.
pub fn release(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}
