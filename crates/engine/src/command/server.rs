//! The connection and the server.

use super::generic::database;
use super::keys::NONE;
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::session::{Protocol, Session};

pub(super) const ROWS: &[Row] = &[
    data("ping", -1, Flags::FAST, NONE, ping),
    data("echo", 2, Flags::ANYTIME.union(Flags::FAST), NONE, |_, args| Ok(Reply::bulk(args.bytes(1)?))),
    data("time", 1, Flags::ANYTIME.union(Flags::FAST), NONE, time),
    data("select", 2, Flags::ANYTIME.union(Flags::FAST).union(Flags::ALLOW_BUSY), NONE, select),
];

pub(super) fn nil_array(session: &Session) -> Reply {
    if session.protocol == Protocol::Resp3 { Reply::Nil } else { Reply::NilArray }
}

fn ping(_ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    match args.len() {
        1 => Ok(Reply::status("PONG")),
        2 => Ok(Reply::bulk(args.bytes(1)?)),
        _ => Err(CommandError::Arity { name: "ping".to_owned() }),
    }
}

/// Seconds and microseconds of the engine's clock, which stands still while a script or a transaction runs.
fn time(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    let now_us = ctx.clock.unix_us();
    let part = |n: u64| Reply::bulk(n.to_string());
    Ok(Reply::Array(vec![part(now_us / 1_000_000), part(now_us % 1_000_000)]))
}

fn select(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    ctx.session.db = database(args, 1)?;
    Ok(Reply::OK)
}
