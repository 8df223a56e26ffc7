//! Sorted sets: members and scores one by one. Ranges are in `zset_range`, unions and the like in `zset_algebra`.

use super::args::{counted_keys, pop_count, read_timeout};
use super::keys::{READ_1, WRITE_1, WRITE_ALL_BUT_LAST, WRITE_COUNTED_1, WRITE_COUNTED_2};
use super::random::{choose, count_and_word, push_pair};
use super::scan::{Page, ScanOptions, read_cursor};
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::value::{Zset, parse_decimal, parse_hexadecimal, score_text};

pub(super) const ROWS: &[Row] = &[
    data("zadd", -4, Flags::GROW_FAST, WRITE_1, zadd),
    data("zrem", -3, Flags::WRITE_FAST, WRITE_1, zrem),
    data("zcard", 2, Flags::READ_FAST, READ_1, zcard),
    data("zscore", 3, Flags::READ_FAST, READ_1, zscore),
];

/// What a queue does without.
pub(super) const MORE: &[Row] = &[
    data("zincrby", 4, Flags::GROW_FAST, WRITE_1, zincrby),
    data("zmscore", -3, Flags::READ_FAST, READ_1, zmscore),
    data("zrank", -3, Flags::READ_FAST, READ_1, |ctx, args| rank(ctx, args, false, "zrank")),
    data("zrevrank", -3, Flags::READ_FAST, READ_1, |ctx, args| rank(ctx, args, true, "zrevrank")),
    data("zpopmin", -2, Flags::WRITE_FAST, WRITE_1, |ctx, args| pop(ctx, args, Side::Min)),
    data("zpopmax", -2, Flags::WRITE_FAST, WRITE_1, |ctx, args| pop(ctx, args, Side::Max)),
    data("bzpopmin", -3, BLOCKING_POP, WRITE_ALL_BUT_LAST, |ctx, args| blocking_pop(ctx, args, Side::Min)),
    data("bzpopmax", -3, BLOCKING_POP, WRITE_ALL_BUT_LAST, |ctx, args| blocking_pop(ctx, args, Side::Max)),
    data("zmpop", -4, Flags::WRITE.union(Flags::MOVABLE_KEYS), WRITE_COUNTED_1, |ctx, args| {
        Ok(multi_pop(ctx, args, 1)?.0.unwrap_or_else(|| ctx.nil_array()))
    }),
    data("bzmpop", -5, BLOCKING_MULTI_POP, WRITE_COUNTED_2, |ctx, args| {
        let until_ms = read_timeout(args, 1, ctx.clock)?;
        let (popped, keys) = multi_pop(ctx, args, 2)?;
        Ok(popped.unwrap_or_else(|| ctx.wait_for(keys, ZSET, until_ms)))
    }),
    data("zrandmember", -2, Flags::READONLY, READ_1, zrandmember),
    data("zscan", -3, Flags::READONLY, READ_1, zscan),
];

/// The type that blocking commands wait for.
const ZSET: &str = "zset";
const BLOCKING_POP: Flags = Flags::WRITE_FAST.union(Flags::BLOCKING);
const BLOCKING_MULTI_POP: Flags = Flags::WRITE.union(Flags::BLOCKING).union(Flags::MOVABLE_KEYS);

/// The options of ZADD.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
    ch: bool,
    incr: bool,
}

impl Options {
    /// The options, and where the first score is.
    fn read(args: &Args<'_>) -> Result<(Options, usize), CommandError> {
        let mut found = Options::default();
        let mut at = 2;
        loop {
            let known = [
                ("NX", &mut found.nx),
                ("XX", &mut found.xx),
                ("GT", &mut found.gt),
                ("LT", &mut found.lt),
                ("CH", &mut found.ch),
                ("INCR", &mut found.incr),
            ];
            match known.into_iter().find(|(word, _)| args.is(at, word)) {
                Some((_, flag)) => *flag = true,
                None => break,
            }
            at += 1;
        }
        let left = args.len() - at;
        if left == 0 || !left.is_multiple_of(2) {
            return Err(CommandError::Syntax);
        }
        if found.nx && found.xx {
            return Err(CommandError::ZADD_NX_XX);
        }
        if (found.gt && found.lt) || (found.nx && (found.gt || found.lt)) {
            return Err(CommandError::ZADD_GT_LT_NX);
        }
        if found.incr && left > 2 {
            return Err(CommandError::ZADD_INCR_PAIR);
        }
        Ok((found, at))
    }
}

/// What became of one member of a ZADD.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Added(f64),
    Updated(f64),
    /// The score is what it was.
    Same(f64),
    /// An option stood against it.
    Refused,
}

fn add(zset: &mut Zset, options: Options, member: &[u8], score: f64) -> Result<Change, CommandError> {
    let Some(old) = zset.score(member) else {
        if options.xx {
            return Ok(Change::Refused);
        }
        zset.insert(member, score);
        return Ok(Change::Added(score));
    };
    if options.nx {
        return Ok(Change::Refused);
    }
    let new = if options.incr { old + score } else { score };
    if new.is_nan() {
        return Err(CommandError::SCORE_NAN);
    }
    if (options.gt && new <= old) || (options.lt && new >= old) {
        return Ok(Change::Refused);
    }
    if new == old {
        return Ok(Change::Same(old));
    }
    zset.insert(member, new);
    Ok(Change::Updated(new))
}

fn zadd(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (options, first) = Options::read(args)?;
    let key = args.bytes(1)?;
    // All scores are read before anything is written; the second reading, below, cannot fail.
    for at in (first..args.len()).step_by(2) {
        args.float(at)?;
    }
    let absent = ctx.read::<Zset>(key)?.is_none();
    if absent && options.xx {
        return Ok(if options.incr { Reply::Nil } else { Reply::Integer(0) });
    }
    let zset = ctx.create::<Zset>(key)?;
    let (mut added, mut updated) = (0, 0);
    let mut last = Ok(Change::Refused);
    for at in (first..args.len()).step_by(2) {
        last = add(zset, options, args.bytes(at + 1)?, args.float(at)?);
        match last {
            Ok(Change::Added(_)) => added += 1,
            Ok(Change::Updated(_)) => updated += 1,
            Ok(_) => {}
            Err(_) => break,
        }
    }
    ctx.settle(key, added + updated > 0);
    match last? {
        Change::Refused if options.incr => Ok(Reply::Nil),
        Change::Added(score) | Change::Updated(score) | Change::Same(score) if options.incr => {
            Ok(ctx.double(score))
        }
        _ => Ok(Reply::Integer(added + if options.ch { updated } else { 0 })),
    }
}

fn zincrby(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, by) = (args.bytes(1)?, args.float(2)?);
    let options = Options { incr: true, ..Options::default() };
    let change = add(ctx.create::<Zset>(key)?, options, args.bytes(3)?, by);
    ctx.settle(key, matches!(change, Ok(Change::Added(_) | Change::Updated(_))));
    match change? {
        Change::Added(score) | Change::Updated(score) | Change::Same(score) => Ok(ctx.double(score)),
        Change::Refused => Ok(Reply::Nil),
    }
}

fn zrem(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let Some(zset) = ctx.write::<Zset>(key)? else { return Ok(Reply::Integer(0)) };
    let removed = args.rest(2).iter().filter(|member| zset.remove(member).is_some()).count();
    ctx.settle(key, removed > 0);
    Ok(Reply::integer(removed))
}

fn zcard(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    Ok(Reply::integer(ctx.read::<Zset>(args.bytes(1)?)?.map_or(0, Zset::len)))
}

fn zscore(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let member = args.bytes(2)?;
    let score = ctx.read::<Zset>(args.bytes(1)?)?.and_then(|zset| zset.score(member));
    Ok(score.map_or(Reply::Nil, |score| ctx.double(score)))
}

fn zmscore(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let zset = ctx.read::<Zset>(args.bytes(1)?)?;
    let score = |member: &&[u8]| {
        let score = zset.and_then(|zset| zset.score(member));
        score.map_or(Reply::Nil, |score| ctx.double(score))
    };
    Ok(Reply::Array(args.rest(2).iter().map(score).collect()))
}

fn rank(ctx: &mut Ctx<'_>, args: &Args<'_>, reverse: bool, name: &str) -> Answer {
    let with_score = match args.len() {
        3 => false,
        4 if args.is(3, "WITHSCORE") => true,
        5.. => return Err(CommandError::Arity { name: name.to_owned() }),
        _ => return Err(CommandError::Syntax),
    };
    let member = args.bytes(2)?;
    let zset = ctx.read::<Zset>(args.bytes(1)?)?;
    let found = zset.and_then(|zset| Some((zset.rank(member)?, zset.score(member)?, zset.len())));
    let Some((rank, score, len)) = found else {
        return Ok(if with_score { ctx.nil_array() } else { Reply::Nil });
    };
    let rank = Reply::integer(if reverse { len - 1 - rank } else { rank });
    Ok(if with_score { Reply::Array(vec![rank, ctx.double(score)]) } else { rank })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Min,
    Max,
}

/// Takes up to `count` members from a key; as flat or nested pairs.
fn take(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    side: Side,
    count: usize,
    nested: bool,
) -> Result<Vec<Reply>, CommandError> {
    let Some(zset) = ctx.write::<Zset>(key)? else { return Ok(Vec::new()) };
    let mut taken = Vec::new();
    while taken.len() < count {
        let item = if side == Side::Min { zset.pop_first() } else { zset.pop_last() };
        match item {
            Some(item) => taken.push(item),
            None => break,
        }
    }
    ctx.settle(key, !taken.is_empty());
    let mut items = Vec::with_capacity(taken.len() * 2);
    for (member, score) in taken {
        push_pair(&mut items, Reply::bulk(&*member), Some(ctx.double(score)), nested);
    }
    Ok(items)
}

fn pop(ctx: &mut Ctx<'_>, args: &Args<'_>, side: Side) -> Answer {
    let key = args.bytes(1)?;
    let (count, nested) = match args.len() {
        2 => (1, false),
        3 => (args.positive(2)?, ctx.is_resp3()),
        _ => return Err(CommandError::Syntax),
    };
    Ok(Reply::Array(take(ctx, key, side, count, nested)?))
}

fn blocking_pop(ctx: &mut Ctx<'_>, args: &Args<'_>, side: Side) -> Answer {
    let last = args.len() - 1;
    let until_ms = read_timeout(args, last, ctx.clock)?;
    let keys = args.slice(1, last - 1).unwrap_or_default();
    for key in keys {
        let items = take(ctx, key, side, 1, false)?;
        if !items.is_empty() {
            let mut reply = vec![Reply::bulk(*key)];
            reply.extend(items);
            return Ok(Reply::Array(reply));
        }
    }
    Ok(ctx.wait_for(keys, ZSET, until_ms))
}

/// What ZMPOP and BZMPOP, whose number of keys is at `at`, popped if anything; and the keys.
fn multi_pop<'a>(
    ctx: &mut Ctx<'_>,
    args: &Args<'a>,
    at: usize,
) -> Result<(Option<Reply>, &'a [&'a [u8]]), CommandError> {
    let (keys, at) = counted_keys(args, at)?;
    let side = if args.is(at, "MIN") {
        Side::Min
    } else if args.is(at, "MAX") {
        Side::Max
    } else {
        return Err(CommandError::Syntax);
    };
    let count = pop_count(args, at + 1)?;
    for key in keys {
        let items = take(ctx, key, side, count, true)?;
        if !items.is_empty() {
            return Ok((Some(Reply::Array(vec![Reply::bulk(*key), Reply::Array(items)])), keys));
        }
    }
    Ok((None, keys))
}

fn zrandmember(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    if args.len() == 2 {
        let len = ctx.read::<Zset>(key)?.map_or(0, Zset::len);
        let at = ctx.keyspace.random_below(len);
        let item = ctx.read::<Zset>(key)?.and_then(|zset| zset.at(at));
        return Ok(item.map_or(Reply::Nil, |(member, _)| Reply::bulk(member)));
    }
    let (count, with_scores) = count_and_word(args, "WITHSCORES")?;
    let len = ctx.read::<Zset>(key)?.map_or(0, Zset::len);
    let chosen = choose(ctx.keyspace, len, count)?;
    let Some(zset) = ctx.read::<Zset>(key)? else { return Ok(Reply::Array(Vec::new())) };
    let mut items = Vec::new();
    for (member, score) in chosen.into_iter().filter_map(|at| zset.at(at)) {
        let score = with_scores.then(|| ctx.double(score));
        push_pair(&mut items, Reply::bulk(member), score, ctx.is_resp3());
    }
    Ok(Reply::Array(items))
}

fn zscan(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    read_cursor(args, 2)?;
    let Some(zset) = ctx.read::<Zset>(args.bytes(1)?)? else { return Ok(Page::end()) };
    let options = ScanOptions::read(args, 2, "NOSCORES")?;
    let whole = zset.encoding() == "listpack";
    let page = options.page(zset.iter(), |(member, _)| member, whole);
    let mut items = Vec::new();
    for (member, score) in page.items.iter().filter(|(member, _)| options.admits(member)) {
        items.push(Reply::bulk(*member));
        if !options.brief {
            // Text in both protocols; a skiplist's in 17 digits.
            items.push(Reply::bulk(if whole { score_text(*score) } else { lua54::num::g17(*score) }));
        }
    }
    Ok(Page::reply(page.cursor, items))
}

/// One end of a range of scores: nothing counts as 0, and what is out of range as infinite. 8.0 reads on as C does.
pub(super) fn bound(text: &[u8], is_8_0: bool) -> Option<f64> {
    if text.is_empty() {
        return Some(0.0);
    }
    let text = if is_8_0 { text.trim_ascii_start() } else { text };
    let hexadecimal = || parse_hexadecimal(text).filter(|_| is_8_0);
    let x = parse_decimal(text).or_else(hexadecimal)?;
    (!x.is_nan()).then_some(x)
}
