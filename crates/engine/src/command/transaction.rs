//! MULTI, EXEC, DISCARD, WATCH, and what the dispatcher does while a transaction is open.

use super::keys::{NONE, READ_ALL};
use super::{Answer, Args, Ctx, Flags, Row, control, data, resolve, run_row};
use crate::engine::{Engine, Version};
use crate::error::{CommandError, Interrupt};
use crate::reply::Reply;
use crate::session::{Protocol, Session, Transaction, WatchedKey};

pub(super) const ROWS: &[Row] = &[
    data("multi", 1, OPENING, NONE, multi),
    control("exec", 1, Flags::NOSCRIPT.union(Flags::ANYTIME).union(Flags::SKIP_COMMANDLOG), NONE, exec),
    data("discard", 1, CLOSING, NONE, discard),
    data("watch", -2, OPENING, READ_ALL, watch),
    data("unwatch", 1, CLOSING, NONE, unwatch),
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
pub(crate) fn refuse(session: &mut Session, error: CommandError) -> CommandError {
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

/// A call that was right, but not now.
#[cfg(feature = "live")]
pub(crate) fn refuse_row(session: &mut Session, row: &Row, error: CommandError) -> CommandError {
    if row.name == "exec" && session.transaction.take().is_some() {
        session.watched.clear();
        return CommandError::ExecRefused { error: Box::new(error) };
    }
    refuse(session, error)
}

/// The flags of a call: for EXEC those of everything queued.
#[cfg(feature = "live")]
pub(crate) fn flags_of(session: &Session, row: &Row) -> Flags {
    let queued = session.transaction.iter().filter(|_| row.name == "exec");
    queued.flat_map(|transaction| &transaction.queued).fold(row.flags, |flags, argv| {
        let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        resolve(&argv).map_or(flags, |row| flags | row.flags)
    })
}

/// Whether running this call may write: for EXEC, whether anything queued may.
#[cfg(feature = "live")]
pub(crate) fn may_write(session: &Session, row: &Row) -> bool {
    let writes = |row: &Row| {
        row.flags.contains(Flags::WRITE)
            || matches!(row.name, "publish" | "spublish")
            || (row.flags.contains(Flags::NO_MANDATORY_KEYS) && !row.flags.contains(Flags::READONLY))
    };
    let queued = session.transaction.iter().flat_map(|transaction| &transaction.queued);
    let queued_writes = |argv: &Vec<Vec<u8>>| {
        let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        resolve(&argv).is_ok_and(writes)
    };
    writes(row) || (row.name == "exec" && queued.into_iter().any(queued_writes))
}

fn multi(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    ctx.session.transaction = Some(Transaction::default());
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
    #[cfg(feature = "live")]
    if let Some(link) = &mut session.link {
        link.may_wait = false;
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
        #[cfg(feature = "live")]
        if let Some(reply) = replies.last() {
            engine.state.borrow_mut().live.stats.replied(reply);
        }
        #[cfg(feature = "live")]
        if let Some(link) = session.link.as_mut().filter(|link| !link.confirmations.is_empty()) {
            replies.pop();
            replies.append(&mut link.confirmations);
        }
    }
    Ok(Reply::Array(replies))
}

fn nil_array(session: &Session) -> Reply {
    if session.protocol == Protocol::Resp3 { Reply::Nil } else { Reply::NilArray }
}

fn discard(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    ctx.session.transaction.take().ok_or(CommandError::DISCARD_WITHOUT)?;
    ctx.session.watched.clear();
    Ok(Reply::OK)
}

fn watch(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let db = ctx.db();
    for key in args.rest(1) {
        if ctx.session.watched.iter().any(|watched| watched.db == db && watched.key == *key) {
            continue;
        }
        let version = ctx.keyspace.watch(db, key, ctx.clock);
        ctx.session.watched.push(WatchedKey { db, key: key.to_vec(), version });
    }
    Ok(Reply::OK)
}

fn unwatch(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    ctx.session.watched.clear();
    Ok(Reply::OK)
}
