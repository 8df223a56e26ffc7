//! The subcommands, one file each.

mod bench;
mod call;
mod fuzz;
mod keys;
mod parity;
mod rung;
mod serve;
mod sha;

use std::fmt;
use std::io::{self, Write};

use emq_verify::on::On;

/// What to do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Rung(rung::Rung),
    Serve(serve::Serve),
    Call(call::Call),
    Keys(keys::Keys),
    Sha(sha::Sha),
    Parity(parity::Parity),
    Fuzz(fuzz::Fuzz),
    Bench(bench::Bench),
}

// The option that commands share. (A doc comment here would take the place of theirs in the help.)
#[derive(Debug, clap::Args)]
pub struct Where {
    /// engine, valkey (each server at hand), or one that runs: redis://[user:password@]host[:port][/db], unix:///path
    #[arg(long, value_name = "WHERE", default_value = "engine")]
    on: On,
}

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// A check did not hold.
    Failed,
}

/// Where output goes: results to stdout, remarks to stderr.
pub struct Console {
    out: Box<dyn Write>,
    notes: Box<dyn Write>,
}

impl Command {
    pub fn run(&self, console: &mut Console) -> anyhow::Result<Outcome> {
        match self {
            Command::Rung(command) => command.run(console),
            Command::Serve(command) => command.run(console),
            Command::Call(command) => command.run(console),
            Command::Keys(command) => command.run(console),
            Command::Sha(command) => command.run(console),
            Command::Parity(command) => command.run(console),
            Command::Fuzz(command) => command.run(console),
            Command::Bench(command) => command.run(console),
        }
    }
}

impl Console {
    pub fn of_process() -> Console {
        Console { out: Box::new(io::stdout()), notes: Box::new(io::stderr()) }
    }

    /// Writes a result at once: a reader on a pipe sees each line when it is earned.
    pub fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Writes a remark. Nobody listening to remarks is no failure.
    pub fn note(&mut self, text: impl fmt::Display) {
        let _ = writeln!(self.notes, "{text}");
    }
}

impl Outcome {
    pub fn passed_if(passed: bool) -> Outcome {
        if passed { Outcome::Passed } else { Outcome::Failed }
    }
}
