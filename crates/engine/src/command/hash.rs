//! Hashes.

use super::float_sum::{check_finite, float_sum};
use super::keys::{READ_1, WRITE_1};
use super::random::{choose, count_and_word, push_pair};
use super::scan::{Page, ScanOptions, read_cursor};
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::value::{Hash, integer_text, parse_integer};

pub(super) const ROWS: &[Row] = &[
    data("hget", 3, Flags::READ_FAST, READ_1, hget),
    data("hset", -4, Flags::GROW_FAST, WRITE_1, |ctx, args| {
        Ok(Reply::integer(set_pairs(ctx, args, "hset")?))
    }),
    data("hgetall", 2, Flags::READONLY, READ_1, hgetall),
    data("hexists", 3, Flags::READ_FAST, READ_1, hexists),
    data("hdel", -3, Flags::WRITE_FAST, WRITE_1, hdel),
    data("hincrby", 4, Flags::GROW_FAST, WRITE_1, hincrby),
];

/// What a queue does without.
pub(super) const MORE: &[Row] = &[
    data("hmset", -4, Flags::GROW_FAST, WRITE_1, |ctx, args| {
        set_pairs(ctx, args, "hmset").map(|_| Reply::OK)
    }),
    data("hsetnx", 4, Flags::GROW_FAST, WRITE_1, hsetnx),
    data("hmget", -3, Flags::READ_FAST, READ_1, hmget),
    data("hkeys", 2, Flags::READONLY, READ_1, |ctx, args| list(ctx, args, |(field, _)| Reply::bulk(field))),
    data("hvals", 2, Flags::READONLY, READ_1, |ctx, args| list(ctx, args, |(_, value)| Reply::bulk(value))),
    data("hlen", 2, Flags::READ_FAST, READ_1, hlen),
    data("hstrlen", 3, Flags::READ_FAST, READ_1, hstrlen),
    data("hincrbyfloat", 4, Flags::GROW_FAST, WRITE_1, hincrbyfloat),
    data("hrandfield", -2, Flags::READONLY, READ_1, hrandfield),
    data("hscan", -3, Flags::READONLY, READ_1, hscan),
];

fn value_or_nil(value: Option<&[u8]>) -> Reply {
    value.map_or(Reply::Nil, Reply::bulk)
}

fn hget(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let field = args.bytes(2)?;
    Ok(value_or_nil(ctx.read::<Hash>(args.bytes(1)?)?.and_then(|hash| hash.get(field))))
}

/// How many fields are new.
fn set_pairs(ctx: &mut Ctx<'_>, args: &Args<'_>, name: &str) -> Result<usize, CommandError> {
    let (key, pairs) = (args.bytes(1)?, args.rest(2));
    if !pairs.len().is_multiple_of(2) {
        return Err(CommandError::Arity { name: name.to_owned() });
    }
    let hash = ctx.create::<Hash>(key)?;
    let mut new = 0;
    for pair in pairs.chunks_exact(2) {
        if let &[field, value] = pair {
            new += usize::from(hash.set(field, value));
        }
    }
    ctx.settle(key, true);
    Ok(new)
}

fn hsetnx(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, field) = (args.bytes(1)?, args.bytes(2)?);
    if ctx.read::<Hash>(key)?.is_some_and(|hash| hash.get(field).is_some()) {
        return Ok(Reply::Integer(0));
    }
    ctx.create::<Hash>(key)?.set(field, args.bytes(3)?);
    ctx.settle(key, true);
    Ok(Reply::Integer(1))
}

fn hmget(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let hash = ctx.read::<Hash>(args.bytes(1)?)?;
    let value = |field: &&[u8]| value_or_nil(hash.and_then(|hash| hash.get(field)));
    Ok(Reply::Array(args.rest(2).iter().map(value).collect()))
}

fn hgetall(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let hash = ctx.read::<Hash>(args.bytes(1)?)?;
    let pairs = hash.into_iter().flat_map(Hash::iter);
    Ok(ctx.map(pairs.map(|(field, value)| (Reply::bulk(field), Reply::bulk(value))).collect()))
}

fn list(ctx: &mut Ctx<'_>, args: &Args<'_>, show: fn((&[u8], &[u8])) -> Reply) -> Answer {
    let hash = ctx.read::<Hash>(args.bytes(1)?)?;
    Ok(Reply::Array(hash.into_iter().flat_map(Hash::iter).map(show).collect()))
}

fn hlen(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    Ok(Reply::integer(ctx.read::<Hash>(args.bytes(1)?)?.map_or(0, Hash::len)))
}

fn hexists(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let field = args.bytes(2)?;
    let exists = ctx.read::<Hash>(args.bytes(1)?)?.is_some_and(|hash| hash.get(field).is_some());
    Ok(Reply::Integer(exists.into()))
}

fn hstrlen(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let field = args.bytes(2)?;
    let value = ctx.read::<Hash>(args.bytes(1)?)?.and_then(|hash| hash.get(field));
    Ok(Reply::integer(value.map_or(0, <[u8]>::len)))
}

fn hdel(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let Some(hash) = ctx.write::<Hash>(key)? else { return Ok(Reply::Integer(0)) };
    let removed = args.rest(2).iter().filter(|field| hash.remove(field)).count();
    ctx.settle(key, removed > 0);
    Ok(Reply::integer(removed))
}

fn hincrby(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, field, by) = (args.bytes(1)?, args.bytes(2)?, args.integer(3)?);
    let old = match ctx.read::<Hash>(key)?.and_then(|hash| hash.get(field)) {
        Some(text) => parse_integer(text).ok_or(CommandError::HASH_NOT_INTEGER)?,
        None => 0,
    };
    let new = old.checked_add(by).ok_or(CommandError::OVERFLOW)?;
    ctx.create::<Hash>(key)?.update(field, &integer_text(new));
    ctx.settle(key, true);
    Ok(Reply::Integer(new))
}

fn hincrbyfloat(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, field, by) = (args.bytes(1)?, args.bytes(2)?, args.bytes(3)?);
    check_finite(by)?;
    let old = ctx.read::<Hash>(key)?.and_then(|hash| hash.get(field));
    let text = float_sum(old, by, CommandError::HASH_NOT_FLOAT)?;
    ctx.create::<Hash>(key)?.update(field, &text);
    ctx.settle(key, true);
    Ok(Reply::Bulk(text))
}

fn hrandfield(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    if args.len() == 2 {
        let len = ctx.read::<Hash>(key)?.map_or(0, Hash::len);
        let at = ctx.keyspace.random_below(len);
        let pair = ctx.read::<Hash>(key)?.and_then(|hash| hash.pair_at(at));
        return Ok(value_or_nil(pair.map(|(field, _)| field)));
    }
    let (count, with_values) = count_and_word(args, "WITHVALUES")?;
    let len = ctx.read::<Hash>(key)?.map_or(0, Hash::len);
    let chosen = choose(ctx.keyspace, len, count)?;
    let resp3 = ctx.is_resp3();
    let Some(hash) = ctx.read::<Hash>(key)? else { return Ok(Reply::Array(Vec::new())) };
    let mut items = Vec::new();
    for (field, value) in chosen.into_iter().filter_map(|at| hash.pair_at(at)) {
        push_pair(&mut items, Reply::bulk(field), with_values.then(|| Reply::bulk(value)), resp3);
    }
    Ok(Reply::Array(items))
}

fn hscan(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    read_cursor(args, 2)?;
    let Some(hash) = ctx.read::<Hash>(args.bytes(1)?)? else { return Ok(Page::end()) };
    let options = ScanOptions::read(args, 2, "NOVALUES")?;
    let whole = hash.encoding() == "listpack";
    let page = options.page(hash.iter(), |(field, _)| field, whole);
    let mut items = Vec::new();
    for (field, value) in page.items.iter().filter(|(field, _)| options.admits(field)) {
        items.push(Reply::bulk(*field));
        if !options.brief {
            items.push(Reply::bulk(*value));
        }
    }
    Ok(Page::reply(page.cursor, items))
}
