//! The rung check L1..L6: what a wire must do before a page may vouch for it.
//!
//! Each level runs on a fresh queue, makes its checks on the wire, and earns its line; the lines and their order are
//! those of the transcript that the course quotes. A level that fails says what differed, and the next one still
//! runs.

mod levels;
mod rig;

use std::fmt;

use crate::keys::{Keys, QueueNameError};
use crate::script::Scripts;
use crate::wire::Wire;

/// What a run found: one line per level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub lines: Vec<Line>,
}

/// The outcome of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// `L1` to `L6`.
    pub level: &'static str,
    /// One word: `fence`.
    pub name: &'static str,
    /// What the level has shown, if it passed.
    pub sentence: &'static str,
    pub difference: Option<Difference>,
}

/// The first check of a level that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: expected {expected}, got {got}")]
pub struct Difference {
    pub what: String,
    pub expected: String,
    pub got: String,
}

/// Runs the bundled scripts through all levels. `queue` names the run: each level uses a queue of its own whose name
/// begins with it, and removes its keys.
///
/// # Errors
/// When `queue` cannot name a queue.
pub fn run(
    wire: &mut dyn Wire,
    queue: &str,
    on_line: &mut dyn FnMut(&Line),
) -> Result<Transcript, QueueNameError> {
    run_scripts(wire, queue, Scripts::bundled(), on_line)
}

/// The same for any bundle, so that a broken script can be shown to fail.
///
/// # Errors
/// When `queue` cannot name a queue.
pub fn run_scripts(
    wire: &mut dyn Wire,
    queue: &str,
    scripts: &Scripts,
    on_line: &mut dyn FnMut(&Line),
) -> Result<Transcript, QueueNameError> {
    let mut lines = Vec::new();
    for level in levels::LEVELS {
        let keys = Keys::new(&format!("{queue}-{}", level.level))?;
        let checked = rig::Rig::new(wire, keys, scripts).and_then(|mut rig| rig.run(level.check));
        let difference = checked.err().map(|difference| *difference);
        let line = Line { level: level.level, name: level.name, sentence: level.sentence, difference };
        on_line(&line);
        lines.push(line);
    }
    Ok(Transcript { lines })
}

impl Line {
    pub fn passed(&self) -> bool {
        self.difference.is_none()
    }
}

impl Transcript {
    pub fn passed(&self) -> bool {
        self.lines.iter().all(Line::passed)
    }

    /// The last line: `PASS 6/6`, or `FAIL n/6` where n levels passed.
    pub fn verdict(&self) -> String {
        let passed = self.lines.iter().filter(|line| line.passed()).count();
        format!("{} {passed}/{}", if self.passed() { "PASS" } else { "FAIL" }, self.lines.len())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.difference {
            None => write!(f, "{} {} ok -- {}", self.level, self.name, self.sentence),
            Some(difference) => write!(f, "{} {} FAILED -- {difference}", self.level, self.name),
        }
    }
}

/// Each line and the verdict, a newline after each.
impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        writeln!(f, "{}", self.verdict())
    }
}
