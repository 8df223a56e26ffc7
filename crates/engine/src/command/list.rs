//! Lists. The blocking forms answer at once where the session cannot wait, as in a script or a transaction.

use super::args::{counted_keys, index_range, pop_count, read_timeout};
use super::keys::{READ_1, WRITE_1, WRITE_1_WRITE_2, WRITE_ALL_BUT_LAST, WRITE_COUNTED_1, WRITE_COUNTED_2};
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::value::{End, List};

pub(super) const ROWS: &[Row] = &[
    data("lpush", -3, Flags::GROW_FAST, WRITE_1, |ctx, args| push(ctx, args, End::Left)),
    data("rpush", -3, Flags::GROW_FAST, WRITE_1, |ctx, args| push(ctx, args, End::Right)),
    data("lpushx", -3, Flags::GROW_FAST, WRITE_1, |ctx, args| push_existing(ctx, args, End::Left)),
    data("rpushx", -3, Flags::GROW_FAST, WRITE_1, |ctx, args| push_existing(ctx, args, End::Right)),
    data("lpop", -2, Flags::WRITE_FAST, WRITE_1, |ctx, args| pop(ctx, args, End::Left, "lpop")),
    data("rpop", -2, Flags::WRITE_FAST, WRITE_1, |ctx, args| pop(ctx, args, End::Right, "rpop")),
    data("blpop", -3, BLOCKING, WRITE_ALL_BUT_LAST, |ctx, args| blocking_pop(ctx, args, End::Left)),
    data("brpop", -3, BLOCKING, WRITE_ALL_BUT_LAST, |ctx, args| blocking_pop(ctx, args, End::Right)),
    data("lmpop", -4, Flags::WRITE.union(Flags::MOVABLE_KEYS), WRITE_COUNTED_1, |ctx, args| {
        Ok(multi_pop(ctx, args, 1)?.0.unwrap_or_else(|| ctx.nil_array()))
    }),
    data("blmpop", -5, BLOCKING.union(Flags::MOVABLE_KEYS), WRITE_COUNTED_2, |ctx, args| {
        let until_ms = read_timeout(args, 1, ctx.clock)?;
        let (popped, keys) = multi_pop(ctx, args, 2)?;
        Ok(popped.unwrap_or_else(|| ctx.wait_for(keys, LIST, until_ms)))
    }),
    data("llen", 2, Flags::READ_FAST, READ_1, llen),
    data("lindex", 3, Flags::READONLY, READ_1, lindex),
    data("lrange", 4, Flags::READONLY, READ_1, lrange),
    data("lpos", -3, Flags::READONLY, READ_1, lpos),
    data("lset", 4, Flags::GROW, WRITE_1, lset),
    data("linsert", 5, Flags::GROW, WRITE_1, linsert),
    data("lrem", 4, Flags::WRITE, WRITE_1, lrem),
    data("ltrim", 4, Flags::WRITE, WRITE_1, ltrim),
    data("lmove", 5, Flags::GROW, WRITE_1_WRITE_2, lmove),
    data("blmove", 6, BLOCKING_GROW, WRITE_1_WRITE_2, |ctx, args| {
        let ends = (end(args, 3)?, end(args, 4)?);
        let until_ms = read_timeout(args, 5, ctx.clock)?;
        blocking_move(ctx, args, ends, until_ms)
    }),
    data("rpoplpush", 3, Flags::GROW, WRITE_1_WRITE_2, |ctx, args| {
        move_element(ctx, args, End::Right, End::Left)
    }),
    data("brpoplpush", 4, BLOCKING_GROW, WRITE_1_WRITE_2, |ctx, args| {
        let until_ms = read_timeout(args, 3, ctx.clock)?;
        blocking_move(ctx, args, (End::Right, End::Left), until_ms)
    }),
];

const BLOCKING: Flags = Flags::WRITE.union(Flags::BLOCKING);
/// The type that blocking commands wait for.
const LIST: &str = "list";
const BLOCKING_GROW: Flags = Flags::GROW.union(Flags::BLOCKING);

fn end(args: &Args<'_>, at: usize) -> Result<End, CommandError> {
    if args.is(at, "LEFT") {
        Ok(End::Left)
    } else if args.is(at, "RIGHT") {
        Ok(End::Right)
    } else {
        Err(CommandError::Syntax)
    }
}

fn push(ctx: &mut Ctx<'_>, args: &Args<'_>, end: End) -> Answer {
    let key = args.bytes(1)?;
    let list = ctx.create::<List>(key)?;
    for item in args.rest(2) {
        list.push(end, item);
    }
    let len = list.len();
    ctx.settle(key, true);
    Ok(Reply::integer(len))
}

fn push_existing(ctx: &mut Ctx<'_>, args: &Args<'_>, end: End) -> Answer {
    match ctx.read::<List>(args.bytes(1)?)? {
        Some(_) => push(ctx, args, end),
        None => Ok(Reply::Integer(0)),
    }
}

/// Takes up to `count` elements; none when there is no such key.
fn take(ctx: &mut Ctx<'_>, key: &[u8], end: End, count: usize) -> Result<Option<Vec<Reply>>, CommandError> {
    let Some(list) = ctx.write::<List>(key)? else { return Ok(None) };
    let mut taken = Vec::new();
    while taken.len() < count {
        match list.pop(end) {
            Some(item) => taken.push(Reply::bulk(item)),
            None => break,
        }
    }
    ctx.settle(key, !taken.is_empty());
    Ok(Some(taken))
}

fn pop(ctx: &mut Ctx<'_>, args: &Args<'_>, end: End, name: &str) -> Answer {
    let key = args.bytes(1)?;
    match args.len() {
        2 => Ok(take(ctx, key, end, 1)?.and_then(|mut items| items.pop()).unwrap_or(Reply::Nil)),
        3 => {
            let count = args.positive(2)?;
            Ok(take(ctx, key, end, count)?.map_or_else(|| ctx.nil_array(), Reply::Array))
        }
        _ => Err(CommandError::Arity { name: name.to_owned() }),
    }
}

fn blocking_pop(ctx: &mut Ctx<'_>, args: &Args<'_>, end: End) -> Answer {
    let last = args.len() - 1;
    let until_ms = read_timeout(args, last, ctx.clock)?;
    let keys = args.slice(1, last - 1).unwrap_or_default();
    for key in keys {
        if let Some(item) = take(ctx, key, end, 1)?.and_then(|mut items| items.pop()) {
            return Ok(Reply::Array(vec![Reply::bulk(*key), item]));
        }
    }
    Ok(ctx.wait_for(keys, LIST, until_ms))
}

/// What LMPOP and BLMPOP, whose number of keys is at `at`, popped if anything; and the keys.
fn multi_pop<'a>(
    ctx: &mut Ctx<'_>,
    args: &Args<'a>,
    at: usize,
) -> Result<(Option<Reply>, &'a [&'a [u8]]), CommandError> {
    let (keys, at) = counted_keys(args, at)?;
    let end = end(args, at)?;
    let count = pop_count(args, at + 1)?;
    for key in keys {
        if let Some(items) = take(ctx, key, end, count)? {
            return Ok((Some(Reply::Array(vec![Reply::bulk(*key), Reply::Array(items)])), keys));
        }
    }
    Ok((None, keys))
}

fn llen(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    Ok(Reply::integer(ctx.read::<List>(args.bytes(1)?)?.map_or(0, List::len)))
}

/// The position that an index means (negative: from the end), which may be outside.
fn position(index: i64, len: usize) -> Option<usize> {
    if index < 0 {
        len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)
    } else {
        usize::try_from(index).ok()
    }
}

fn lindex(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let Some(list) = ctx.read::<List>(args.bytes(1)?)? else { return Ok(Reply::Nil) };
    let item = position(args.integer(2)?, list.len()).and_then(|at| list.get(at));
    Ok(item.map_or(Reply::Nil, Reply::bulk))
}

fn lrange(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (start, end) = (args.integer(2)?, args.integer(3)?);
    let Some(list) = ctx.read::<List>(args.bytes(1)?)? else { return Ok(Reply::Array(Vec::new())) };
    let range = index_range(start, end, list.len());
    Ok(Reply::Array(list.range(range).map(Reply::bulk).collect()))
}

struct LposOptions {
    rank: i64,
    /// 0 for all; `None` for the first one, answered alone.
    count: Option<usize>,
    /// How many elements to look at; 0 for all.
    max_len: usize,
}

impl LposOptions {
    fn read(args: &Args<'_>) -> Result<LposOptions, CommandError> {
        let mut options = LposOptions { rank: 1, count: None, max_len: 0 };
        let mut at = 3;
        while at < args.len() {
            if args.is_with_value(at, "RANK") {
                options.rank = args.signed(at + 1)?;
                if options.rank == 0 {
                    return Err(CommandError::LPOS_RANK_ZERO);
                }
            } else if args.is_with_value(at, "COUNT") {
                let count = args.positive(at + 1).map_err(|_| CommandError::COUNT_NEGATIVE)?;
                options.count = Some(count);
            } else if args.is_with_value(at, "MAXLEN") {
                options.max_len = args.positive(at + 1).map_err(|_| CommandError::LPOS_MAXLEN)?;
            } else {
                return Err(CommandError::Syntax);
            }
            at += 2;
        }
        Ok(options)
    }

    /// The positions that match, in the order in which they are met.
    fn positions(&self, list: &List, wanted: &[u8]) -> Vec<usize> {
        let len = list.len();
        let looked_at = if self.max_len == 0 { len } else { self.max_len.min(len) };
        let skipped = usize::try_from(self.rank.unsigned_abs() - 1).unwrap_or(usize::MAX);
        let limit = match self.count {
            Some(0) => usize::MAX,
            Some(count) => count,
            None => 1,
        };
        let order = (0..looked_at).map(|at| if self.rank < 0 { len - 1 - at } else { at });
        order.filter(|&at| list.get(at) == Some(wanted)).skip(skipped).take(limit).collect()
    }
}

fn lpos(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let options = LposOptions::read(args)?;
    let wanted = args.bytes(2)?;
    let list = ctx.read::<List>(args.bytes(1)?)?;
    ctx.count_steps(list.map_or(0, List::len));
    let mut found = list.into_iter().flat_map(|list| options.positions(list, wanted)).map(Reply::integer);
    Ok(match options.count {
        Some(_) => Reply::Array(found.collect()),
        None => found.next().unwrap_or(Reply::Nil),
    })
}

fn lset(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, item) = (args.bytes(1)?, args.bytes(3)?);
    let list = ctx.write::<List>(key)?.ok_or(CommandError::NoSuchKey)?;
    // A server takes the index for one of 32 bits here, and here only.
    let at = position(i64::from(args.integer(2)? as i32), list.len());
    if !at.is_some_and(|at| list.set(at, item)) {
        return Err(CommandError::INDEX);
    }
    ctx.settle(key, true);
    Ok(Reply::OK)
}

/// The command goes through the whole list.
fn count_walk(ctx: &Ctx<'_>, key: &[u8]) -> Result<(), CommandError> {
    ctx.count_steps(ctx.read::<List>(key)?.map_or(0, List::len));
    Ok(())
}

fn linsert(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, pivot) = (args.bytes(1)?, args.bytes(3)?);
    let after = args.is(2, "AFTER");
    if !after && !args.is(2, "BEFORE") {
        return Err(CommandError::Syntax);
    }
    count_walk(ctx, key)?;
    let Some(list) = ctx.write::<List>(key)? else { return Ok(Reply::Integer(0)) };
    let Some(at) = list.iter().position(|item| item == pivot) else { return Ok(Reply::Integer(-1)) };
    list.insert(at + usize::from(after), args.bytes(4)?);
    let len = list.len();
    ctx.settle(key, true);
    Ok(Reply::integer(len))
}

fn lrem(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, item, count) = (args.bytes(1)?, args.bytes(3)?, args.signed(2)?);
    let end = if count < 0 { End::Right } else { End::Left };
    let limit = match usize::try_from(count.unsigned_abs()) {
        Ok(0) | Err(_) => usize::MAX,
        Ok(limit) => limit,
    };
    count_walk(ctx, key)?;
    let Some(list) = ctx.write::<List>(key)? else { return Ok(Reply::Integer(0)) };
    let removed = list.remove(item, end, limit);
    ctx.settle(key, removed > 0);
    Ok(Reply::integer(removed))
}

fn ltrim(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let (start, end) = (args.integer(2)?, args.integer(3)?);
    if let Some(list) = ctx.write::<List>(key)? {
        let range = index_range(start, end, list.len());
        list.trim(range.start, range.len());
        ctx.settle(key, true);
    }
    Ok(Reply::OK)
}

fn lmove(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (from, to) = (end(args, 3)?, end(args, 4)?);
    move_element(ctx, args, from, to)
}

fn blocking_move(ctx: &mut Ctx<'_>, args: &Args<'_>, ends: (End, End), until_ms: Option<u64>) -> Answer {
    let source = args.bytes(1)?;
    if ctx.read::<List>(source)?.is_none() {
        ctx.wait_for(&[source], LIST, until_ms);
        return Ok(Reply::Nil);
    }
    move_element(ctx, args, ends.0, ends.1)
}

fn move_element(ctx: &mut Ctx<'_>, args: &Args<'_>, from: End, to: End) -> Answer {
    let (source, destination) = (args.bytes(1)?, args.bytes(2)?);
    if ctx.read::<List>(source)?.is_none() {
        return Ok(Reply::Nil);
    }
    // Both types are known to be right before the element leaves the one list.
    ctx.read::<List>(destination)?;
    let Some(item) = ctx.write::<List>(source)?.and_then(|list| list.pop(from)) else {
        return Ok(Reply::Nil);
    };
    if source != destination {
        ctx.settle(source, true);
    }
    ctx.create::<List>(destination)?.push(to, &item);
    ctx.settle(destination, true);
    Ok(Reply::bulk(item))
}
