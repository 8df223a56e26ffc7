//! MULTI, EXEC, DISCARD, WATCH, and what the dispatcher does while a transaction is open.

use super::keys::{NONE, READ_ALL};
use super::{Args, Flags, Row, control, resolve, run_row};
use crate::engine::{Engine, Version};
use crate::error::{CommandError, Interrupt};
use crate::reply::Reply;
use crate::session::{Protocol, Session, Transaction, WatchedKey};

pub(super) const ROWS: &[Row] = &[
    control("multi", 1, OPENING, NONE, multi),
    control("exec", 1, Flags::NOSCRIPT.union(Flags::ANYTIME).union(Flags::SKIP_COMMANDLOG), NONE, exec),
    control("discard", 1, CLOSING, NONE, discard),
    control("watch", -2, OPENING, READ_ALL, watch),
    control("unwatch", 1, CLOSING, NONE, unwatch),
];

const CLOSING: Flags = Flags::NOSCRIPT.union(Flags::ANYTIME).union(Flags::FAST).union(Flags::ALLOW_BUSY);
const OPENING: Flags = CLOSING.union(Flags::NO_MULTI);

/// The commands that run at once inside a transaction.
const NOT_QUEUED: &[&str] = &["exec", "discard", "multi", "watch", "quit", "reset"];

/// What becomes of a call because of an open transaction: refused, queued, or (`None`) run.
pub(super) fn admit(
    session: &mut Session,
    row: &Row,
    argv: &[&[u8]],
    version: Version,
) -> Option<Result<Reply, Interrupt>> {
    let transaction = session.transaction.as_mut()?;
    if row.flags.contains(Flags::NO_MULTI) {
        transaction.aborted = true;
        let error = match version {
            Version::V8_0 => CommandError::NOT_IN_TRANSACTION_8_0,
            Version::V9_1 => CommandError::NotInTransaction { name: row.name },
        };
        return Some(Err(error.into()));
    }
    if NOT_QUEUED.contains(&row.name) {
        return None;
    }
    transaction.queued.push(argv.iter().map(|arg| arg.to_vec()).collect());
    Some(Ok(Reply::status("QUEUED")))
}

/// A call was refused before it could be queued: EXEC will refuse too. A call of EXEC itself ends the transaction.
pub(super) fn refuse(session: &mut Session, error: CommandError) -> CommandError {
    if matches!(&error, CommandError::Arity { name } if name == "exec") {
        session.transaction = None;
        session.watched.clear();
        return CommandError::ExecArity;
    }
    if let Some(transaction) = &mut session.transaction {
        transaction.aborted = true;
    }
    error
}

fn multi(_engine: &mut Engine, session: &mut Session, _args: &Args<'_>) -> Result<Reply, Interrupt> {
    session.transaction = Some(Transaction::default());
    Ok(Reply::OK)
}

fn exec(engine: &mut Engine, session: &mut Session, _args: &Args<'_>) -> Result<Reply, Interrupt> {
    let transaction = session.transaction.take().ok_or(CommandError::EXEC_WITHOUT)?;
    let watched = std::mem::take(&mut session.watched);
    if transaction.aborted {
        return Err(CommandError::EXEC_ABORT.into());
    }
    let touched = {
        let state = engine.state.borrow();
        watched
            .iter()
            .any(|watched| state.keyspace.state_of(watched.db, &watched.key, state.clock) != watched.version)
    };
    if touched {
        return Ok(nil_array(session));
    }
    let mut replies = Vec::with_capacity(transaction.queued.len());
    for queued in &transaction.queued {
        let argv: Vec<&[u8]> = queued.iter().map(Vec::as_slice).collect();
        let result = resolve(&argv).map_err(Interrupt::from);
        replies.push(match result.and_then(|row| run_row(engine, session, row, &argv)) {
            Ok(reply) => reply,
            Err(Interrupt::Command(error)) => Reply::error(error),
            Err(failure) => return Err(failure),
        });
    }
    Ok(Reply::Array(replies))
}

fn nil_array(session: &Session) -> Reply {
    if session.protocol == Protocol::Resp3 { Reply::Nil } else { Reply::NilArray }
}

fn discard(_engine: &mut Engine, session: &mut Session, _args: &Args<'_>) -> Result<Reply, Interrupt> {
    session.transaction.take().ok_or(CommandError::DISCARD_WITHOUT)?;
    session.watched.clear();
    Ok(Reply::OK)
}

fn watch(engine: &mut Engine, session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    let mut state = engine.state.borrow_mut();
    let now = state.clock;
    for key in args.rest(1) {
        let db = session.db;
        if session.watched.iter().any(|watched| watched.db == db && watched.key == *key) {
            continue;
        }
        let version = state.keyspace.watch(db, key, now);
        session.watched.push(WatchedKey { db, key: key.to_vec(), version });
    }
    Ok(Reply::OK)
}

fn unwatch(_engine: &mut Engine, session: &mut Session, _args: &Args<'_>) -> Result<Reply, Interrupt> {
    session.watched.clear();
    Ok(Reply::OK)
}
