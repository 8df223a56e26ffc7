//! `emq-verify fuzz`: generated dialogues on the engine and on real servers side by side.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use emq_verify::fuzz::{Dialogue, Generator, Pair, What, shrink};
use emq_verify::on::{On, Place};

use super::{Console, Outcome};

/// How many dialogues go to the server at once.
const BATCH: u64 = 32;

/// How often the count is told.
const NOTE_EVERY: Duration = Duration::from_secs(10);

/// Generate dialogues, run them on the engine and on real servers, and compare every reply
///
/// A difference is shrunk and printed as a case for tests/cases. The same seed brings the same dialogues.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  emq-verify fuzz --seconds 60 --seed 7
  emq-verify fuzz --what scripts --count 100000 --version 9.1
  emq-verify fuzz --seed 7 --first 1234 --count 1   # one dialogue again")]
pub struct Fuzz {
    /// What to generate
    #[arg(long, value_enum, default_value = "commands")]
    what: What,

    /// Stops after so many commands, or scripts, on each server
    #[arg(long, value_name = "N", default_value = "100000")]
    count: u64,

    /// Stops after so much time on each server, too
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,

    /// Begins every dialogue
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,

    /// The number of the first dialogue
    #[arg(long, value_name = "N", default_value = "0")]
    first: u64,

    /// Stops after so many differences
    #[arg(long, value_name = "N", default_value = "1")]
    findings: usize,

    /// Servers of this release only, such as 9.1
    #[arg(long, value_name = "RELEASE", default_value = "")]
    version: String,

    /// valkey (each server at hand), or one that runs: redis://[user:password@]host[:port][/db], unix:///path
    #[arg(long, value_name = "WHERE", default_value = "valkey")]
    on: On,
}

impl Fuzz {
    pub fn run(&self, console: &mut Console) -> anyhow::Result<Outcome> {
        let mut servers = Vec::new();
        for place in self.on.places()? {
            match place {
                Place::Server(server) if server.version().starts_with(&self.version) => servers.push(server),
                Place::Server(_) => {}
                Place::Engine => bail!("--on names real servers; the engine is always compared with them"),
            }
        }
        if servers.is_empty() {
            bail!("no server of release {} is at hand", self.version);
        }
        let mut found = 0;
        for server in servers {
            found += self.run_on(&mut Pair::new(server)?, console)?;
        }
        Ok(Outcome::passed_if(found == 0))
    }

    /// How many differences there are.
    fn run_on(&self, pair: &mut Pair, console: &mut Console) -> anyhow::Result<usize> {
        let generator = Generator::of(self.what, pair)?;
        let started = Instant::now();
        let mut noted = started;
        let (mut number, mut count, mut found) = (self.first, 0, 0);
        let mut shown = HashSet::new();
        let is_over = |count| {
            count >= self.count
                || self.seconds.is_some_and(|seconds| started.elapsed() >= Duration::from_secs(seconds))
        };
        while !is_over(count) && found < self.findings {
            let last = number + if self.count == 1 { 1 } else { BATCH };
            let dialogues = (number..last).map(|number| generator.dialogue(self.seed, number));
            let dialogues = dialogues.collect::<Result<Vec<_>, _>>()?;
            let context = || match dialogues.as_slice() {
                [dialogue] => generator.as_case("unanswered", dialogue, &[], &[]),
                _ => format!("seed {}, dialogues {number} to {last}", self.seed),
            };
            let answers = pair.run(&generator, &dialogues).with_context(context)?;
            for (at, (dialogue, answers)) in (number..last).zip(dialogues.iter().zip(answers)) {
                count += self.counted(dialogue);
                if answers.differs_at.is_some() && pair.differs(&generator, dialogue)? {
                    let case = shortest_case(pair, &generator, dialogue)?;
                    if shown.insert(case.clone()) {
                        found += 1;
                        let name = format!("seed {}, dialogue {at}, on {}", self.seed, pair.version());
                        console.line(case.replace("name = ''", &format!("name = '{name}'")))?;
                    }
                }
            }
            number = last;
            if noted.elapsed() > NOTE_EVERY {
                noted = Instant::now();
                console.note(format_args!("{count} {}, {found} differences", self.name()));
            }
        }
        let (version, name, seed) = (pair.version(), self.name(), self.seed);
        let dialogues = number - self.first;
        console.line(format_args!(
            "valkey {version}: {count} {name} in {dialogues} dialogues, seed {seed}: {found} differences"
        ))?;
        Ok(found)
    }

    fn counted(&self, dialogue: &Dialogue) -> u64 {
        let steps = dialogue.steps.iter();
        match self.what {
            What::Commands => steps.count() as u64,
            What::Scripts => steps.filter(|step| step.is_script()).count() as u64,
        }
    }

    fn name(&self) -> &'static str {
        match self.what {
            What::Commands => "commands",
            What::Scripts => "scripts",
        }
    }
}

/// The difference as a case without a name: two dialogues that shrink to the same are one finding.
fn shortest_case(pair: &mut Pair, generator: &Generator, dialogue: &Dialogue) -> anyhow::Result<String> {
    let shortest = shrink(pair, generator, dialogue)?;
    let answers = pair.run(generator, std::slice::from_ref(&shortest))?;
    let answers = answers.first().context("no answers")?;
    Ok(generator.as_case("", &shortest, &answers.ours, &answers.theirs))
}
