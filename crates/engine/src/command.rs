//! From argv to a handler: lookup, arity, what the session and the caller allow, the call itself.

mod args;
mod string;
mod table;

pub(crate) use args::Args;

use crate::clock::Clock;
use crate::engine::{Config, Engine, State};
use crate::error::{CommandError, Failure, Interrupt};
use crate::keyspace::Keyspace;
use crate::reply::Reply;
use crate::session::Session;

bitflags::bitflags! {
    /// The flags that `COMMAND INFO` shows and that the dispatcher acts on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Flags: u32 {
        const WRITE = 1;
        const READONLY = 1 << 1;
        const DENYOOM = 1 << 2;
        const FAST = 1 << 3;
        const NOSCRIPT = 1 << 4;
        const ADMIN = 1 << 5;
        const LOADING = 1 << 6;
        const STALE = 1 << 7;
        const NO_MULTI = 1 << 8;
        const MOVABLE_KEYS = 1 << 9;
        const BLOCKING = 1 << 10;
    }
}

/// Where a command's keys are in argv (index 0 is the command's name).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySpec {
    None,
    /// From `first` to `last` (negative: counted from the end) in steps of `step`.
    Range {
        first: i32,
        last: i32,
        step: i32,
    },
    /// A count at `count`, that many keys after it, and before it, for some, a key of its own (a destination).
    Counted {
        count: usize,
        destination: Option<usize>,
    },
}

/// One command or subcommand. A family's file opens with its rows.
#[derive(Debug)]
pub(crate) struct Row {
    /// Lower case; a subcommand has its own name only.
    pub name: &'static str,
    /// As in Valkey: counts the name; negative means "at least".
    pub arity: i32,
    pub flags: Flags,
    pub keys: KeySpec,
    pub run: Run,
}

#[derive(Debug)]
pub(crate) enum Run {
    /// Works on the data only; callable from scripts (unless NOSCRIPT) and in transactions.
    Data(fn(&mut Ctx<'_>, &Args<'_>) -> Result<Reply, CommandError>),
    /// Drives the engine itself: scripts, transactions.
    Control(fn(&mut Engine, &mut Session, &Args<'_>) -> Result<Reply, Interrupt>),
    /// A container such as CONFIG: argv[1] chooses.
    Container(&'static [Row]),
}

/// What a data handler sees.
pub(crate) struct Ctx<'a> {
    pub keyspace: &'a mut Keyspace,
    pub session: &'a mut Session,
    pub clock: Clock,
    pub config: &'a Config,
}

/// A client's call.
pub(crate) fn run(engine: &mut Engine, session: &mut Session, argv: &[&[u8]]) -> Result<Reply, Failure> {
    let result = find(argv).map_err(Interrupt::from).and_then(|row| match row.run {
        Run::Control(handler) => handler(engine, session, &Args::new(argv)),
        _ => run_data(&mut engine.state.borrow_mut(), session, row, argv).map_err(Interrupt::from),
    });
    match result {
        Ok(reply) => Ok(reply),
        Err(Interrupt::Command(error)) => Ok(Reply::error(error)),
        Err(Interrupt::Failure(failure)) => Err(failure),
    }
}

/// A call from a script.
pub(crate) fn run_from_script(
    state: &mut State,
    session: &mut Session,
    argv: &[&[u8]],
) -> Result<Reply, CommandError> {
    let row = find(argv)?;
    if row.flags.contains(Flags::NOSCRIPT) {
        return Err(CommandError::NotFromScript);
    }
    run_data(state, session, row, argv)
}

fn run_data(
    state: &mut State,
    session: &mut Session,
    row: &Row,
    argv: &[&[u8]],
) -> Result<Reply, CommandError> {
    let Run::Data(handler) = row.run else {
        return Err(CommandError::NotFromScript);
    };
    let mut ctx = Ctx { keyspace: &mut state.keyspace, session, clock: state.clock, config: &state.config };
    handler(&mut ctx, &Args::new(argv))
}

/// The row that argv calls, its arity checked.
fn find(argv: &[&[u8]]) -> Result<&'static Row, CommandError> {
    table::find(argv)
}
