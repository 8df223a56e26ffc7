//! CLIENT, MONITOR and SHUTDOWN: connections that look at each other.

use super::args::deadline;
use super::client_filter::Filter;
use super::connection::{id, is_plain, rename};
use super::keys::NONE;
use super::{Answer, Args, Ctx, Flags, Row, container, data};
use crate::clock::Clock;
use crate::error::CommandError;
use crate::live::{Live, Pause, Replies};
use crate::reply::Reply;
use crate::session::{Protocol, Session};

pub(super) const ROWS: &[Row] = &[
    container("client", CLIENT),
    data("monitor", 1, Flags::ADMIN.union(OWN), NONE, monitor),
    data("shutdown", -1, Flags::ADMIN.union(OWN_BUSY).union(Flags::NO_MULTI), NONE, shutdown),
];

const OWN: Flags = Flags::NOSCRIPT.union(Flags::ANYTIME);
const OWN_BUSY: Flags = OWN.union(Flags::ALLOW_BUSY);
const OTHERS: Flags = OWN.union(Flags::ADMIN);

const CLIENT: &[Row] = &[
    data("client|id", 2, OWN_BUSY, NONE, |ctx, _| Ok(id(ctx.session))),
    data("client|setname", 3, OWN_BUSY, NONE, setname),
    data("client|getname", 2, OWN_BUSY, NONE, getname),
    data("client|setinfo", 4, OWN_BUSY, NONE, setinfo),
    data("client|info", 2, OWN, NONE, |ctx, _| {
        let line = describe(ctx.session, ctx.live, ctx.clock) + "\n";
        Ok(text(ctx, line))
    }),
    data("client|list", -2, OTHERS, NONE, list),
    data("client|kill", -3, OTHERS, NONE, kill),
    data("client|pause", -3, OTHERS, NONE, pause),
    data("client|unpause", 2, OTHERS, NONE, |ctx, _| {
        ctx.live.pause = None;
        Ok(Reply::OK)
    }),
    data("client|unblock", -3, OTHERS, NONE, unblock),
    data("client|reply", 3, OWN_BUSY.union(Flags::NO_MULTI), NONE, reply),
    data("client|no-evict", 3, Flags::ADMIN.union(OWN_BUSY), NONE, |ctx, args| {
        switch(ctx, args, |link| &mut link.no_evict)
    }),
    data("client|no-touch", 3, OWN_BUSY, NONE, |ctx, args| switch(ctx, args, |link| &mut link.no_touch)),
    data("client|getredir", 2, OWN_BUSY, NONE, |_, _| Ok(Reply::Integer(-1))),
    data("client|help", 2, Flags::ANYTIME, NONE, |_, _| Ok(super::help("CLIENT", CLIENT))),
];

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
        let option = super::quoted(option);
        return Err(CommandError::other(format!("ERR Unrecognized option '{option}'")));
    };
    if !is_plain(value) {
        let option = super::quoted(option);
        let text = format!("ERR {option} cannot contain spaces, newlines or special characters.");
        return Err(CommandError::other(text));
    }
    value.clone_into(place);
    Ok(Reply::OK)
}

/// `ON` or `OFF` for what shows in the flags and has no other effect here: nothing is evicted and no use of a key is
/// counted.
fn switch(ctx: &mut Ctx<'_>, args: &Args<'_>, flag: fn(&mut crate::live::Link) -> &mut bool) -> Answer {
    let on = args.is(2, "ON");
    if !on && !args.is(2, "OFF") {
        return Err(CommandError::Syntax);
    }
    if let Some(link) = &mut ctx.session.link {
        *flag(link) = on;
    }
    Ok(Reply::OK)
}

fn list(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let filter = Filter::read(args, 2)?;
    let mut lines: Vec<(u64, String)> = Vec::new();
    for session in ctx.live.sessions.values().chain([&*ctx.session]) {
        if filter.admits(session, ctx.session.id, ctx.live, ctx.clock) {
            lines.push((session.id, describe(session, ctx.live, ctx.clock) + "\n"));
        }
    }
    lines.sort();
    let lines: String = lines.into_iter().map(|(_, line)| line).collect();
    Ok(text(ctx, lines))
}

fn kill(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let by_address = args.len() == 3;
    let filter = if by_address { Filter::address(args.bytes(2)?) } else { Filter::read(args, 2)? };
    let filter = filter.skipping_me_unless_said(!by_address);
    let admitted = |session: &&Session| filter.admits(session, ctx.session.id, ctx.live, ctx.clock);
    let others: Vec<u64> = ctx.live.sessions.values().filter(admitted).map(|session| session.id).collect();
    let myself = admitted(&&*ctx.session);
    for id in &others {
        ctx.live.kill(*id);
    }
    if let Some(link) = ctx.session.link.as_mut().filter(|_| myself) {
        link.closing = true;
    }
    let killed = others.len() + usize::from(myself);
    match (by_address, killed) {
        (false, killed) => Ok(Reply::integer(killed)),
        (true, 0) => Err(CommandError::NO_CLIENT),
        (true, _) => Ok(Reply::OK),
    }
}

fn pause(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let all = match args.len() {
        3 => true,
        4 if args.is(3, "WRITE") => false,
        4 if args.is(3, "ALL") => true,
        4 => return Err(CommandError::PAUSE_MODE),
        _ => return Err(CommandError::Syntax),
    };
    let timeout_ms = args.integer(2).map_err(|_| CommandError::TIMEOUT_INTEGER)?;
    let timeout_ms = u64::try_from(timeout_ms).map_err(|_| CommandError::TIMEOUT_NEGATIVE)?;
    let until_ms = deadline(timeout_ms, ctx.clock)?.unwrap_or(0);
    // A pause does not shorten or soften the one that holds already.
    let held = ctx.live.pause.filter(|pause| pause.holds(ctx.clock));
    let pause = held.map_or(Pause { until_ms, all }, |held| Pause {
        until_ms: held.until_ms.max(until_ms),
        all: held.all || all,
    });
    ctx.live.pause = Some(pause);
    Ok(Reply::OK)
}

fn unblock(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let with_error = match args.len() {
        3 => false,
        4 if args.is(3, "TIMEOUT") => false,
        4 if args.is(3, "ERROR") => true,
        4 => return Err(CommandError::UNBLOCK_REASON),
        _ => return Err(CommandError::Syntax),
    };
    let id = args.integer(2)?;
    let unblocked = u64::try_from(id).is_ok_and(|id| ctx.live.unblock(id, with_error));
    Ok(Reply::Integer(unblocked.into()))
}

fn reply(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let replies = if args.is(2, "ON") {
        Replies::On
    } else if args.is(2, "OFF") {
        Replies::Off
    } else if args.is(2, "SKIP") {
        Replies::SkipNext
    } else {
        return Err(CommandError::Syntax);
    };
    if let Some(link) = &mut ctx.session.link
        && !(link.replies == Replies::Off && replies == Replies::SkipNext)
    {
        link.replies = replies;
    }
    Ok(Reply::OK)
}

fn monitor(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    let id = ctx.session.id;
    if ctx.session.link.is_some() && !ctx.live.monitors.contains(&id) {
        ctx.live.monitors.push(id);
    }
    Ok(Reply::OK)
}

/// Ends the server that keeps the connection. Nothing is kept on disk, so every form is NOSAVE.
fn shutdown(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let known = ["NOSAVE", "SAVE", "NOW", "FORCE", "ABORT"];
    if (1..args.len()).any(|at| !known.iter().any(|word| args.is(at, word))) {
        return Err(CommandError::Syntax);
    }
    match ctx.session.link.as_mut().filter(|_| !args.is(1, "ABORT")) {
        Some(link) => {
            link.shutdown = true;
            Ok(Reply::OK)
        }
        None => Err(CommandError::NO_SHUTDOWN),
    }
}

fn text(ctx: &Ctx<'_>, text: String) -> Reply {
    let text = text.into_bytes();
    if ctx.is_resp3() { Reply::Verbatim { format: *b"txt", text } } else { Reply::Bulk(text) }
}

/// One letter for each thing that is true of a connection; N for none.
pub(super) fn flags(session: &Session, live: &Live) -> String {
    let link = session.link.as_deref();
    let known = [
        ('O', live.monitors.contains(&session.id)),
        ('P', live.is_subscriber(session.id)),
        ('x', session.transaction.is_some()),
        ('b', live.is_waiting(session.id)),
        ('c', link.is_some_and(|link| link.closing)),
        ('e', link.is_some_and(|link| link.no_evict)),
        ('T', link.is_some_and(|link| link.no_touch)),
    ];
    let letters: String = known.into_iter().filter(|(_, on)| *on).map(|(letter, _)| letter).collect();
    if letters.is_empty() { "N".to_owned() } else { letters }
}

/// The line of CLIENT LIST, without what only a socket and its buffers have.
fn describe(session: &Session, live: &Live, now: Clock) -> String {
    let nobody = crate::live::Link::default();
    let link = session.link.as_deref().unwrap_or(&nobody);
    let protocol = if session.protocol == Protocol::Resp3 { 3 } else { 2 };
    let queued = session
        .transaction
        .as_ref()
        .map_or(-1, |transaction| i64::try_from(transaction.queued.len()).unwrap_or(i64::MAX));
    let seconds_since = |then: Clock| now.unix_ms().saturating_sub(then.unix_ms()) / 1000;
    format!(
        "id={} addr={} laddr={} name={} age={} idle={} flags={} capa= db={} sub={} psub={} ssub={} multi={queued} \
         watch={} cmd={} user=default redir=-1 resp={protocol} lib-name={} lib-ver={} tot-cmds={}",
        session.id,
        link.peer,
        link.local,
        String::from_utf8_lossy(&session.name),
        seconds_since(link.opened),
        seconds_since(link.last),
        flags(session, live),
        session.db,
        live.channels.of(session.id).count(),
        live.patterns.of(session.id).count(),
        live.shard_channels.of(session.id).count(),
        session.watched.len(),
        link.last_command,
        String::from_utf8_lossy(&session.library.name),
        String::from_utf8_lossy(&session.library.version),
        link.requests,
    )
}
