//! `emq-verify`: the same checks on the engine and on a real Valkey.

mod command;

use std::io;
use std::process::ExitCode;

use clap::Parser;

use crate::command::{Command, Console};

/// Checks EchoMQ's scripts on the in-memory engine and on a real Valkey.
#[derive(Debug, Parser)]
#[command(name = "emq-verify", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Where --on says valkey, these are used, the first that is there:
  EMQ_VALKEY_SERVERS  paths of valkey-server binaries, separated by colons; each is started and stopped
  VALKEY_URL          a server that runs already, and is left running
  valkey-server       on PATH, and those that `cargo xtask setup` brings

Exit status: 0 all is well; 1 a check failed; 2 it could not be checked.";

/// As a shell reports a program that SIGPIPE ended.
const BROKEN_PIPE: u8 = 128 + 13;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut console = Console::of_process();
    match cli.command.run(&mut console) {
        Ok(command::Outcome::Passed) => ExitCode::SUCCESS,
        Ok(command::Outcome::Failed) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::from(BROKEN_PIPE),
        Err(error) => {
            console.note(format_args!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Whoever read our output has seen enough, as `head` has.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let source = error.root_cause().downcast_ref::<io::Error>();
    source.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
