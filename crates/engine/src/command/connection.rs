//! The connection: protocol, database, name. Everything here is the session's own and ends with it.

use super::generic::database;
use super::keys::NONE;
use super::server::version_text;
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::session::{Protocol, Session};
use crate::value::parse_integer;

pub(super) const ROWS: &[Row] = &[data("ping", -1, Flags::FAST, NONE, ping)];

/// What a queue does without.
pub(super) const MORE: &[Row] = &[
    data("echo", 2, Flags::ANYTIME.union(Flags::FAST), NONE, |_, args| Ok(Reply::bulk(args.bytes(1)?))),
    data("select", 2, Flags::ANYTIME.union(Flags::FAST).union(Flags::ALLOW_BUSY), NONE, select),
    data("hello", -1, GREETING, NONE, hello),
    data("quit", -1, GREETING, NONE, quit),
    data("reset", 1, GREETING, NONE, reset),
    data("auth", -2, GREETING, NONE, auth),
];

const GREETING: Flags =
    Flags::NOSCRIPT.union(Flags::ANYTIME).union(Flags::FAST).union(Flags::NO_AUTH).union(Flags::ALLOW_BUSY);
fn ping(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    #[cfg(feature = "live")]
    if args.len() < 3 && !ctx.is_resp3() && ctx.live.is_subscriber(ctx.session.id) {
        let text = args.rest(1).first().copied().unwrap_or_default();
        return Ok(Reply::Array(vec![Reply::bulk("pong"), Reply::bulk(text)]));
    }
    #[cfg(not(feature = "live"))]
    let _ = ctx;
    match args.len() {
        1 => Ok(Reply::status("PONG")),
        2 => Ok(Reply::bulk(args.bytes(1)?)),
        _ => Err(CommandError::Arity { name: "ping".to_owned() }),
    }
}

fn select(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    ctx.session.db = database(args, 1)?;
    Ok(Reply::OK)
}

pub(super) fn id(session: &Session) -> Reply {
    Reply::Integer(i64::try_from(session.id).unwrap_or(i64::MAX))
}

fn auth(_ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    match args.len() {
        2 => Err(CommandError::NO_PASSWORD),
        3 => log_in(args.bytes(1)?).map(|()| Reply::OK),
        _ => Err(CommandError::Syntax),
    }
}

/// There is one user, whom any password lets in.
fn log_in(user: &[u8]) -> Result<(), CommandError> {
    if user == b"default" { Ok(()) } else { Err(CommandError::WRONG_PASSWORD) }
}

/// `HELLO [2|3 [AUTH user password] [SETNAME name]]`.
fn hello(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let mut protocol = ctx.session.protocol;
    if args.len() > 1 {
        protocol = match parse_integer(args.bytes(1)?).ok_or(CommandError::PROTOVER_INTEGER)? {
            2 => Protocol::Resp2,
            3 => Protocol::Resp3,
            _ => return Err(CommandError::PROTOVER),
        };
    }
    let mut name = None;
    let mut at = 2;
    while at < args.len() {
        if args.is(at, "AUTH") && at + 2 < args.len() {
            log_in(args.bytes(at + 1)?)?;
            at += 3;
        } else if args.is_with_value(at, "SETNAME") {
            name = Some(args.bytes(at + 1)?);
            at += 2;
        } else {
            let option = super::quoted(args.bytes(at)?);
            return Err(CommandError::other(format!("ERR Syntax error in HELLO option '{option}'")));
        }
    }
    if let Some(name) = name {
        rename(ctx.session, name)?;
    }
    ctx.session.protocol = protocol;
    #[cfg(feature = "live")]
    ctx.live.set_protocol(ctx.session.id, protocol);
    Ok(greeting(ctx))
}

fn greeting(ctx: &Ctx<'_>) -> Reply {
    let text = |text: &str| Reply::bulk(text);
    let version = version_text(ctx.config.version);
    let protocol = if ctx.is_resp3() { 3 } else { 2 };
    // What a 9.1 server loads for scripts.
    let lua = ctx.map(vec![
        (text("name"), text("lua")),
        (text("ver"), Reply::Integer(1)),
        (text("path"), text("lua")),
        (text("args"), Reply::Array(Vec::new())),
    ]);
    ctx.map(vec![
        (text("server"), text("valkey")),
        (text("version"), text(version)),
        (text("proto"), Reply::Integer(protocol)),
        (text("id"), id(ctx.session)),
        (text("mode"), text("standalone")),
        (text("role"), text("master")),
        (text("modules"), Reply::Array(vec![lua])),
    ])
}

/// Back to a new connection, but for the number.
fn reset(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    *ctx.session = Session {
        id: ctx.session.id,
        #[cfg(feature = "live")]
        link: ctx.session.link.take(),
        ..Session::default()
    };
    #[cfg(feature = "live")]
    {
        ctx.live.forget(ctx.session.id);
        ctx.live.set_protocol(ctx.session.id, Protocol::Resp2);
        if let Some(link) = &mut ctx.session.link {
            link.reset();
        }
    }
    Ok(Reply::status("RESET"))
}

/// A connection that the engine keeps ends with the reply.
fn quit(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    #[cfg(feature = "live")]
    if let Some(link) = &mut ctx.session.link {
        link.closing = true;
    }
    #[cfg(not(feature = "live"))]
    let _ = ctx;
    Ok(Reply::OK)
}

/// Names end up in lists with spaces and newlines between them.
pub(super) fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

pub(super) fn rename(session: &mut Session, name: &[u8]) -> Result<(), CommandError> {
    if !is_plain(name) {
        return Err(CommandError::CLIENT_NAME);
    }
    name.clone_into(&mut session.name);
    Ok(())
}
