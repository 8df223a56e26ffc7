//! The connection: protocol, database, name. Everything here is the session's own and ends with it.

use super::generic::database;
use super::keys::NONE;
use super::server::version_text;
use super::{Answer, Args, Ctx, Flags, Row, container, data};
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
    data("quit", -1, GREETING, NONE, |_, _| Ok(Reply::OK)),
    data("reset", 1, GREETING, NONE, reset),
    container("client", CLIENT),
];

const GREETING: Flags =
    Flags::NOSCRIPT.union(Flags::ANYTIME).union(Flags::FAST).union(Flags::NO_AUTH).union(Flags::ALLOW_BUSY);
const OWN: Flags = Flags::NOSCRIPT.union(Flags::ANYTIME);
const OWN_BUSY: Flags = OWN.union(Flags::ALLOW_BUSY);

const CLIENT: &[Row] = &[
    data("client|id", 2, OWN_BUSY, NONE, |ctx, _| Ok(id(ctx.session))),
    data("client|setname", 3, OWN_BUSY, NONE, setname),
    data("client|getname", 2, OWN_BUSY, NONE, getname),
    data("client|setinfo", 4, OWN_BUSY, NONE, setinfo),
    data("client|info", 2, OWN, NONE, |ctx, _| Ok(Reply::bulk(describe(ctx.session, "client|info")))),
    data("client|no-evict", 3, Flags::ADMIN.union(OWN_BUSY), NONE, switch),
    data("client|no-touch", 3, OWN_BUSY, NONE, switch),
    data("client|getredir", 2, OWN_BUSY, NONE, |_, _| Ok(Reply::Integer(-1))),
    data("client|help", 2, Flags::ANYTIME, NONE, |_, _| Ok(super::help("CLIENT", CLIENT))),
];

fn ping(_ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
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

fn id(session: &Session) -> Reply {
    Reply::Integer(i64::try_from(session.id).unwrap_or(i64::MAX))
}

/// `HELLO [2|3 [AUTH user password] [SETNAME name]]`. There are no users: any password is right.
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
            at += 3;
        } else if args.is_with_value(at, "SETNAME") {
            name = Some(args.bytes(at + 1)?);
            at += 2;
        } else {
            let option = String::from_utf8_lossy(args.bytes(at)?);
            return Err(CommandError::other(format!("ERR Syntax error in HELLO option '{option}'")));
        }
    }
    if let Some(name) = name {
        rename(ctx.session, name)?;
    }
    ctx.session.protocol = protocol;
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
    *ctx.session = Session { id: ctx.session.id, ..Session::default() };
    Ok(Reply::status("RESET"))
}

/// Names end up in lists with spaces and newlines between them.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

fn rename(session: &mut Session, name: &[u8]) -> Result<(), CommandError> {
    if !is_plain(name) {
        return Err(CommandError::CLIENT_NAME);
    }
    name.clone_into(&mut session.name);
    Ok(())
}

fn setname(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    rename(ctx.session, args.bytes(2)?)?;
    Ok(Reply::OK)
}

fn getname(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    let name = &ctx.session.name;
    Ok(if name.is_empty() { Reply::Nil } else { Reply::bulk(name.as_slice()) })
}

fn setinfo(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (option, value) = (args.bytes(2)?, args.bytes(3)?);
    let library = &mut ctx.session.library;
    let place = if args.is(2, "LIB-NAME") {
        &mut library.name
    } else if args.is(2, "LIB-VER") {
        &mut library.version
    } else {
        let option = String::from_utf8_lossy(option);
        return Err(CommandError::other(format!("ERR Unrecognized option '{option}'")));
    };
    if !is_plain(value) {
        let option = String::from_utf8_lossy(option);
        let text = format!("ERR {option} cannot contain spaces, newlines or special characters.");
        return Err(CommandError::other(text));
    }
    value.clone_into(place);
    Ok(Reply::OK)
}

/// `ON` or `OFF` for what has no effect here: nothing is evicted and no use of a key is counted.
fn switch(_ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    if args.is(2, "ON") || args.is(2, "OFF") { Ok(Reply::OK) } else { Err(CommandError::Syntax) }
}

/// The line of CLIENT INFO, without what only a socket has.
fn describe(session: &Session, command: &str) -> String {
    let protocol = if session.protocol == Protocol::Resp3 { 3 } else { 2 };
    let queued = session
        .transaction
        .as_ref()
        .map_or(-1, |transaction| i64::try_from(transaction.queued.len()).unwrap_or(i64::MAX));
    format!(
        "id={} name={} db={} multi={queued} watch={} cmd={command} user=default resp={protocol} lib-name={} \
         lib-ver={}\n",
        session.id,
        String::from_utf8_lossy(&session.name),
        session.db,
        session.watched.len(),
        String::from_utf8_lossy(&session.library.name),
        String::from_utf8_lossy(&session.library.version),
    )
}
