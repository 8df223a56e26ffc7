//! Keys of any type: existence, names, copies, scans, databases. Expiry is in `expire`.

use std::rc::Rc;

use super::keys::{NONE, READ_1, READ_1_WRITE_2, READ_2, READ_ALL, WRITE_1, WRITE_1_WRITE_2, WRITE_ALL};
use super::scan::{Page, ScanOptions, matches};
use super::{Answer, Args, Ctx, Flags, Row, container, data};
use crate::error::CommandError;
use crate::keyspace::{DATABASES, Entry};
use crate::reply::Reply;

pub(super) const ROWS: &[Row] = &[
    data("del", -2, Flags::WRITE, WRITE_ALL, del),
    data("exists", -2, Flags::READ_FAST, READ_ALL, count_existing),
    data("type", 2, Flags::READ_FAST, READ_1, type_of),
    data("flushall", -1, Flags::WRITE, NONE, flushall),
];

/// What a queue does without.
pub(super) const MORE: &[Row] = &[
    data("unlink", -2, Flags::WRITE_FAST, WRITE_ALL, del),
    data("touch", -2, Flags::READ_FAST, READ_ALL, count_existing),
    data("rename", 3, Flags::WRITE, WRITE_1_WRITE_2, rename),
    data("renamenx", 3, Flags::WRITE_FAST, WRITE_1_WRITE_2, renamenx),
    data("copy", -3, Flags::GROW, READ_1_WRITE_2, copy),
    data("move", 3, Flags::WRITE_FAST, WRITE_1, move_key),
    data("keys", 2, Flags::READONLY, NONE, keys),
    data("scan", -2, Flags::READONLY, NONE, scan),
    data("randomkey", 1, Flags::READONLY, NONE, randomkey),
    data("dbsize", 1, Flags::READ_FAST, NONE, dbsize),
    data("flushdb", -1, Flags::WRITE, NONE, flushdb),
    data("swapdb", 3, Flags::WRITE_FAST, NONE, swapdb),
    container("object", OBJECT),
];

const OBJECT: &[Row] = &[
    data("object|encoding", 3, Flags::READONLY, READ_2, |ctx, args| {
        let key = args.bytes(2)?;
        let encoding = |entry: &Entry| {
            #[cfg(feature = "live")]
            if let Some(encoding) = crate::live::encoding(&ctx.live.parameters, &entry.value) {
                return Reply::bulk(encoding);
            }
            Reply::bulk(entry.value.encoding(key, entry.expires_ms.is_some()))
        };
        Ok(ctx.entry(key).map_or(Reply::Nil, encoding))
    }),
    // Nobody keeps count here: each value has its one key, and was used just now.
    data("object|refcount", 3, Flags::READONLY, READ_2, |ctx, args| {
        Ok(ctx.entry(args.bytes(2)?).map_or(Reply::Nil, |_| Reply::Integer(1)))
    }),
    data("object|idletime", 3, Flags::READONLY, READ_2, |ctx, args| {
        Ok(ctx.entry(args.bytes(2)?).map_or(Reply::Nil, |_| Reply::Integer(0)))
    }),
    data("object|freq", 3, Flags::READONLY, READ_2, |ctx, args| match ctx.entry(args.bytes(2)?) {
        Some(_) => Err(CommandError::NO_LFU),
        None => Ok(Reply::Nil),
    }),
    data("object|help", 2, Flags::ANYTIME, NONE, |_, _| Ok(super::help("OBJECT", OBJECT))),
];

fn del(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    Ok(Reply::integer(args.rest(1).iter().filter(|key| ctx.remove(key)).count()))
}

fn count_existing(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    Ok(Reply::integer(args.rest(1).iter().filter(|key| ctx.entry(key).is_some()).count()))
}

fn type_of(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    Ok(Reply::status(ctx.entry(args.bytes(1)?).map_or("none", |entry| entry.value.type_name())))
}

fn rename(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (from, to) = (args.bytes(1)?, args.bytes(2)?);
    let entry = ctx.entry(from).ok_or(CommandError::NoSuchKey)?.clone();
    if from != to {
        let db = ctx.db();
        ctx.keyspace.remove(db, from);
        ctx.keyspace.put_shared(db, to, entry.value, entry.expires_ms);
    }
    Ok(Reply::OK)
}

fn renamenx(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    ctx.entry(args.bytes(1)?).ok_or(CommandError::NoSuchKey)?;
    if ctx.entry(args.bytes(2)?).is_some() {
        return Ok(Reply::Integer(0));
    }
    rename(ctx, args)?;
    Ok(Reply::Integer(1))
}

fn copy(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (from, to) = (args.bytes(1)?, args.bytes(2)?);
    let db = ctx.db();
    let (mut to_db, mut replace) = (db, false);
    let mut at = 3;
    while at < args.len() {
        if args.is(at, "REPLACE") {
            replace = true;
        } else if args.is_with_value(at, "DB") {
            at += 1;
            to_db = database(args, at)?;
        } else {
            return Err(CommandError::Syntax);
        }
        at += 1;
    }
    if db == to_db && from == to {
        return Err(CommandError::SAME_OBJECT);
    }
    let Some(entry) = ctx.entry(from).cloned() else { return Ok(Reply::Integer(0)) };
    if !replace && ctx.keyspace.get(to_db, to, ctx.clock).is_some() {
        return Ok(Reply::Integer(0));
    }
    ctx.keyspace.put_shared(to_db, to, entry.value, entry.expires_ms);
    Ok(Reply::Integer(1))
}

fn move_key(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let (db, to_db) = (ctx.db(), database(args, 2)?);
    if db == to_db {
        return Err(CommandError::SAME_OBJECT);
    }
    let Some(entry) = ctx.entry(key).cloned() else { return Ok(Reply::Integer(0)) };
    if ctx.keyspace.get(to_db, key, ctx.clock).is_some() {
        return Ok(Reply::Integer(0));
    }
    ctx.keyspace.remove(db, key);
    ctx.keyspace.put_shared(to_db, key, entry.value, entry.expires_ms);
    Ok(Reply::Integer(1))
}

/// The number of a database.
pub(super) fn database(args: &Args<'_>, at: usize) -> Result<usize, CommandError> {
    let number = usize::try_from(args.integer(at)?).ok();
    number.filter(|&db| db < DATABASES).ok_or(CommandError::DB_INDEX)
}

fn keys(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let pattern = args.bytes(1)?;
    ctx.count_steps(ctx.keyspace.size(ctx.db()));
    let keys = ctx.keyspace.iter(ctx.db(), ctx.clock).map(|(key, _)| key);
    Ok(Reply::Array(keys.filter(|key| matches(pattern, key)).map(|key| Reply::bulk(&**key)).collect()))
}

fn scan(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let options = ScanOptions::read(args, 1, "TYPE")?;
    if let Some(name) = options.type_name
        && !TYPES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
    {
        let name = super::quoted(name);
        return Err(CommandError::other(format!("ERR unknown type name '{name}'")));
    }
    ctx.count_steps(ctx.keyspace.size(ctx.db()));
    let page = options.page(ctx.keyspace.iter(ctx.db(), ctx.clock), |(key, _)| key, false);
    let admitted = page.items.into_iter().filter(|(key, entry)| {
        let fits = |name: &[u8]| name.eq_ignore_ascii_case(entry.value.type_name().as_bytes());
        options.admits(key) && options.type_name.is_none_or(fits)
    });
    Ok(Page::reply(page.cursor, admitted.map(|(key, _)| Reply::bulk(&**key)).collect()))
}

/// The types that `SCAN … TYPE` knows, whether there are values of them or not.
const TYPES: &[&str] = &["string", "list", "set", "zset", "hash", "stream"];

/// The choice is a fixed sequence, see [`crate::keyspace::Keyspace::random_below`].
fn randomkey(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    let db = ctx.db();
    ctx.count_steps(ctx.keyspace.size(db));
    let len = ctx.keyspace.len(db, ctx.clock);
    let at = ctx.keyspace.random_below(len);
    let key = ctx.keyspace.iter(db, ctx.clock).nth(at).map(|(key, _)| Rc::clone(key));
    Ok(key.map_or(Reply::Nil, |key| Reply::bulk(&*key)))
}

fn dbsize(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    ctx.count_steps(ctx.keyspace.size(ctx.db()));
    Ok(Reply::integer(ctx.keyspace.len(ctx.db(), ctx.clock)))
}

fn flushdb(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    check_flush_mode(args)?;
    let db = ctx.db();
    ctx.keyspace.clear(db);
    Ok(Reply::OK)
}

fn flushall(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    check_flush_mode(args)?;
    ctx.keyspace.clear_all();
    Ok(Reply::OK)
}

fn check_flush_mode(args: &Args<'_>) -> Result<(), CommandError> {
    match args.len() {
        1 => Ok(()),
        2 if args.is(1, "SYNC") || args.is(1, "ASYNC") => Ok(()),
        _ => Err(CommandError::Syntax),
    }
}

fn swapdb(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let first = args.integer(1).map_err(|_| CommandError::DB_FIRST)?;
    let second = args.integer(2).map_err(|_| CommandError::DB_SECOND)?;
    let number = |n: i64| usize::try_from(n).ok().filter(|&db| db < DATABASES).ok_or(CommandError::DB_INDEX);
    let (first, second) = (number(first)?, number(second)?);
    if first != second {
        ctx.keyspace.swap(first, second);
    }
    Ok(Reply::OK)
}
