//! `emq-verify rung`: the check L1..L6, in the form that the course shows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use echomq_core::rung::{self, Transcript};
use echomq_core::{Script, Scripts, Wire};

use super::{Console, Outcome, Where};

/// Run the rung check L1..L6 and print its transcript
///
/// Each line is earned by checks made on the wire; a level that fails says what differed. On more than one server,
/// the transcript is printed once for all that agree with the first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  emq-verify rung --on engine
  emq-verify rung --on valkey
  emq-verify rung --on redis://127.0.0.1:6379 --queue my-check
  emq-verify rung --lua lua   # a changed script, without a new build")]
pub struct Rung {
    #[command(flatten)]
    place: Where,

    /// Begins the names of the queues that the check makes, one per level, and removes
    #[arg(long, value_name = "NAME", default_value = "emq-verify")]
    queue: String,

    /// Reads the eight scripts from this folder, not those built into this program
    #[arg(long, value_name = "FOLDER")]
    lua: Option<PathBuf>,
}

impl Rung {
    pub fn run(&self, console: &mut Console) -> anyhow::Result<Outcome> {
        let scripts = match &self.lua {
            Some(folder) => &read_scripts(folder)?,
            None => Scripts::bundled(),
        };
        let mut first: Option<Transcript> = None;
        let mut passed = true;
        for place in self.place.on.places()? {
            console.note(format_args!("on {place}:"));
            let mut wire = place.wire()?;
            let transcript = match &first {
                None => self.run_aloud(&mut *wire, scripts, console)?,
                Some(first) => {
                    let transcript = rung::run_scripts(&mut *wire, &self.queue, scripts, &mut |_| {})?;
                    if transcript == *first {
                        console.note("the same");
                    } else {
                        console.line(transcript.to_string().trim_end())?;
                    }
                    transcript
                }
            };
            passed &= transcript.passed();
            first.get_or_insert(transcript);
        }
        Ok(Outcome::passed_if(passed))
    }

    /// Prints each line as soon as it is earned: the levels wait for real leases.
    fn run_aloud(
        &self,
        wire: &mut dyn Wire,
        scripts: &Scripts,
        console: &mut Console,
    ) -> anyhow::Result<Transcript> {
        let mut written = Ok(());
        let transcript = rung::run_scripts(wire, &self.queue, scripts, &mut |line| {
            if written.is_ok() {
                written = console.line(line);
            }
        })?;
        written?;
        console.line(transcript.verdict())?;
        Ok(transcript)
    }
}

fn read_scripts(folder: &Path) -> anyhow::Result<Scripts> {
    let read = |bundled: &Script| {
        let path = folder.join(bundled.name()).with_extension("lua");
        let source = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        anyhow::Ok(Script::new(bundled.name(), source))
    };
    let bundled = Scripts::bundled();
    Ok(Scripts {
        enqueue: read(&bundled.enqueue)?,
        claim: read(&bundled.claim)?,
        complete: read(&bundled.complete)?,
        retry: read(&bundled.retry)?,
        promote: read(&bundled.promote)?,
        reap: read(&bundled.reap)?,
        browse: read(&bundled.browse)?,
        pending_size: read(&bundled.pending_size)?,
    })
}
