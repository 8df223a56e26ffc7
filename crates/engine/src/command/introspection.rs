//! COMMAND: the table, shown to clients, with what the manual says of each command ([`reference`]).

use super::keys::{NONE, keys_of, legacy_range};
use super::reference;
use super::scan::matches;
use super::table;
use super::{Answer, Args, Ctx, Flags, Row, Run, data, resolve};
use crate::error::CommandError;
use crate::reply::Reply;

pub(super) const ROWS: &[Row] = &[Row {
    name: "command",
    arity: -1,
    flags: Flags::ANYTIME,
    keys: NONE,
    run: Run::ContainerOr(COMMAND, |ctx, _| {
        Ok(Reply::Array(table::all().map(|row| show(ctx, row)).collect()))
    }),
}];

const COMMAND: &[Row] = &[
    data("command|count", 2, Flags::ANYTIME, NONE, |_, _| Ok(Reply::integer(table::all().count()))),
    data("command|info", -2, Flags::ANYTIME, NONE, info),
    data("command|list", -2, Flags::ANYTIME, NONE, list),
    data("command|docs", -2, Flags::ANYTIME, NONE, docs),
    data("command|getkeys", -3, Flags::ANYTIME, NONE, getkeys),
    data("command|help", 2, Flags::ANYTIME, NONE, |_, _| Ok(super::help("COMMAND", COMMAND))),
];

/// The names of the flags in the order in which a server lists them.
const FLAG_NAMES: &[(Flags, &str)] = &[
    (Flags::WRITE, "write"),
    (Flags::READONLY, "readonly"),
    (Flags::DENYOOM, "denyoom"),
    (Flags::ADMIN, "admin"),
    (Flags::PUBSUB, "pubsub"),
    (Flags::NOSCRIPT, "noscript"),
    (Flags::BLOCKING, "blocking"),
    (Flags::LOADING, "loading"),
    (Flags::STALE, "stale"),
    (Flags::SKIP_MONITOR, "skip_monitor"),
    (Flags::SKIP_COMMANDLOG, "skip_commandlog"),
    (Flags::FAST, "fast"),
    (Flags::NO_AUTH, "no_auth"),
    (Flags::NO_MANDATORY_KEYS, "no_mandatory_keys"),
    (Flags::NO_ASYNC_LOADING, "no_async_loading"),
    (Flags::NO_MULTI, "no_multi"),
    (Flags::MOVABLE_KEYS, "movablekeys"),
    (Flags::ALLOW_BUSY, "allow_busy"),
];

fn find(name: &[u8]) -> Option<&'static Row> {
    match name.iter().position(|&byte| byte == b'|') {
        Some(bar) => {
            let (parent, sub) = name.split_at_checked(bar)?;
            table::find_sub(table::subs(table::find(parent)?), sub.get(1..)?)
        }
        None => table::find(name),
    }
}

fn show(ctx: &Ctx<'_>, row: &Row) -> Reply {
    let (first, last, step) = legacy_range(row.keys);
    let flags = FLAG_NAMES.iter().filter(|(flag, _)| row.flags.contains(*flag));
    let subs = table::subs(row).iter().map(|sub| show(ctx, sub)).collect();
    let entry = reference::entry(row.name, ctx.is_resp3());
    Reply::Array(vec![
        Reply::bulk(row.name),
        Reply::Integer(row.arity.into()),
        ctx.set(flags.map(|(_, name)| Reply::status(name)).collect()),
        Reply::Integer(first),
        Reply::Integer(last),
        Reply::Integer(step),
        entry.categories,
        entry.tips,
        entry.keys,
        Reply::Array(subs),
    ])
}

fn info(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let names = args.rest(2);
    let replies = if names.is_empty() {
        table::all().map(|row| show(ctx, row)).collect()
    } else {
        let nil = ctx.nil_array();
        names.iter().map(|name| find(name).map_or_else(|| nil.clone(), |row| show(ctx, row))).collect()
    };
    Ok(Reply::Array(replies))
}

fn list(_ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let pattern = match args.len() {
        2 => None,
        5 if args.is(2, "FILTERBY") && args.is(3, "PATTERN") => Some(args.bytes(4)?.to_ascii_lowercase()),
        _ => return Err(CommandError::Syntax),
    };
    let names = table::all().flat_map(|row| std::iter::once(row).chain(table::subs(row))).map(|row| row.name);
    // Without a filter a server lists commands, with one also subcommands.
    let shown = names.filter(|name| match &pattern {
        Some(pattern) => matches(pattern, name.as_bytes()),
        None => !name.contains('|'),
    });
    Ok(Reply::Array(shown.map(Reply::bulk).collect()))
}

fn docs(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let asked = args.rest(2);
    let rows: Vec<&Row> = if asked.is_empty() {
        table::all().collect()
    } else {
        asked.iter().filter_map(|name| find(name)).collect()
    };
    Ok(ctx.map(rows.into_iter().map(|row| (Reply::bulk(row.name), docs_of(ctx, row))).collect()))
}

fn docs_of(ctx: &Ctx<'_>, row: &Row) -> Reply {
    // Clients expect a summary; the manual's sentences stay in the manual.
    let mut docs = vec![(Reply::bulk("summary"), Reply::bulk(table::sub_name(row)))];
    docs.extend(reference::entry(row.name, ctx.is_resp3()).docs);
    let subs = table::subs(row);
    if !subs.is_empty() {
        let subs = subs.iter().map(|sub| (Reply::bulk(sub.name), docs_of(ctx, sub))).collect();
        docs.push((Reply::bulk("subcommands"), ctx.map(subs)));
    }
    ctx.map(docs)
}

fn getkeys(_ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let call = args.rest(2);
    let row = resolve(call).map_err(|error| match error {
        CommandError::Arity { .. } => CommandError::GETKEYS_ARITY,
        _ => CommandError::GETKEYS_COMMAND,
    })?;
    // A shard channel has a place like a key's and is none.
    if row.keys.is_empty() || row.flags.contains(Flags::PUBSUB) {
        return Err(CommandError::GETKEYS_NONE);
    }
    let keys = keys_of(row, call);
    if keys.is_empty() && !row.flags.contains(Flags::NO_MANDATORY_KEYS) {
        return Err(CommandError::GETKEYS_ARGS);
    }
    Ok(Reply::Array(keys.iter().filter_map(|(at, _)| call.get(*at)).map(|key| Reply::bulk(*key)).collect()))
}
