//! EVAL and its kin, SCRIPT. The run itself is the script host's.

use super::keys::{NONE, READ_COUNTED_2, WRITE_COUNTED_2};
use super::{Args, Flags, Row, container, control};
use crate::engine::Engine;
use crate::error::{CommandError, Interrupt};
use crate::reply::Reply;
use crate::script::{Access, Script};
use crate::session::Session;

pub(super) const ROWS: &[Row] = &[
    control("eval", -3, RUN, WRITE_COUNTED_2, |engine, session, args| {
        eval(engine, session, args, Access::Full)
    }),
    control("evalsha", -3, RUN, WRITE_COUNTED_2, |engine, session, args| {
        evalsha(engine, session, args, Access::Full)
    }),
    container("script", SCRIPT),
];

/// What a queue does without.
pub(super) const MORE: &[Row] = &[
    control("eval_ro", -3, RUN.union(Flags::READONLY), READ_COUNTED_2, |engine, session, args| {
        eval(engine, session, args, Access::ReadOnly)
    }),
    control("evalsha_ro", -3, RUN.union(Flags::READONLY), READ_COUNTED_2, |engine, session, args| {
        evalsha(engine, session, args, Access::ReadOnly)
    }),
];

pub(super) const RUN: Flags = Flags::NOSCRIPT
    .union(Flags::STALE)
    .union(Flags::SKIP_MONITOR)
    .union(Flags::NO_MANDATORY_KEYS)
    .union(Flags::MOVABLE_KEYS);

const SCRIPT: &[Row] = &[
    control("script|load", 3, Flags::NOSCRIPT.union(Flags::STALE), NONE, load),
    control("script|exists", -3, Flags::NOSCRIPT.union(Flags::STALE), NONE, exists),
    control("script|flush", -2, Flags::NOSCRIPT.union(Flags::STALE), NONE, flush),
    #[cfg(feature = "commands")]
    control("script|show", 3, Flags::NOSCRIPT.union(Flags::STALE), NONE, show),
    // A script that runs holds the engine, so nobody ever meets one.
    #[cfg(feature = "commands")]
    control("script|kill", 2, Flags::NOSCRIPT.union(Flags::ALLOW_BUSY), NONE, |_, _, _| {
        Err(CommandError::NOT_BUSY.into())
    }),
    #[cfg(feature = "commands")]
    control("script|help", 2, Flags::ANYTIME, NONE, |_, _, _| Ok(super::help("SCRIPT", SCRIPT))),
];

const SHA_DIGITS: usize = 40;

fn eval(
    engine: &mut Engine,
    session: &mut Session,
    args: &Args<'_>,
    access: Access,
) -> Result<Reply, Interrupt> {
    let count = key_count(args)?;
    let script = engine.host()?.load(args.bytes(1)?)?;
    run(engine, session, args, count, &script, access)
}

fn evalsha(
    engine: &mut Engine,
    session: &mut Session,
    args: &Args<'_>,
    access: Access,
) -> Result<Reply, Interrupt> {
    // A digest of the wrong length is answered first, whatever the number of keys is.
    if args.bytes(1)?.len() != SHA_DIGITS {
        return Err(CommandError::NoScript.into());
    }
    let count = key_count(args)?;
    let script = engine.state.borrow().scripts.get(args.bytes(1)?).cloned();
    let script = script.ok_or(CommandError::NoScript)?;
    run(engine, session, args, count, &script, access)
}

fn key_count(args: &Args<'_>) -> Result<usize, CommandError> {
    let count = args.integer(2)?;
    let left = args.len() - 3;
    let count = usize::try_from(count).map_err(|_| CommandError::NUMKEYS_NEGATIVE)?;
    if count > left { Err(CommandError::NUMKEYS_TOO_MANY) } else { Ok(count) }
}

fn run(
    engine: &mut Engine,
    session: &Session,
    args: &Args<'_>,
    count: usize,
    script: &Script,
    access: Access,
) -> Result<Reply, Interrupt> {
    let access = script.access(access)?;
    #[cfg(feature = "live")]
    if let Some(flags) = script.flags {
        engine.state.borrow_mut().live.guard.admit(flags)?;
    }
    let (keys, values) = args.rest(3).split_at_checked(count).unwrap_or_default();
    engine.host()?.run(session, script, keys, values, access)
}

fn load(engine: &mut Engine, _session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    let script = engine.host()?.load(args.bytes(2)?)?;
    Ok(Reply::bulk(script.sha.as_bytes()))
}

fn exists(engine: &mut Engine, _session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    let state = engine.state.borrow();
    let known = args.rest(2).iter().map(|sha| Reply::Integer(state.scripts.contains(sha).into()));
    Ok(Reply::Array(known.collect()))
}

fn flush(engine: &mut Engine, _session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    let known_mode = args.is(2, "SYNC") || args.is(2, "ASYNC");
    if args.len() > 3 || (args.len() == 3 && !known_mode) {
        return Err(CommandError::FLUSH_MODE.into());
    }
    engine.state.borrow_mut().scripts.flush();
    Ok(Reply::OK)
}

fn show(engine: &mut Engine, _session: &mut Session, args: &Args<'_>) -> Result<Reply, Interrupt> {
    let state = engine.state.borrow();
    let script = state.scripts.get(args.bytes(2)?).ok_or(CommandError::NoScript)?;
    Ok(Reply::bulk(&*script.source))
}
