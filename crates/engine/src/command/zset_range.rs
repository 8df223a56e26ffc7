//! Sorted sets: ranges by rank, by score and by bytes, to show, to store, to count and to remove.

use std::ops::Range;

use super::args::index_range;
use super::keys::{READ_1, WRITE_1, WRITE_1_READ_2};
use super::random::push_pair;
use super::zset::bound;
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::value::{LexBound, ScoreBound, Value, Zset};

pub(super) const ROWS: &[Row] = &[
    data("zrange", -4, Flags::READONLY, READ_1, |ctx, args| show(ctx, args, Form::ANY)),
    data("zrevrange", -4, Flags::READONLY, READ_1, |ctx, args| show(ctx, args, Form::of(By::Rank, true))),
    data("zrangebyscore", -4, Flags::READONLY, READ_1, |ctx, args| {
        show(ctx, args, Form::of(By::Score, false))
    }),
];

/// What a queue does without.
pub(super) const MORE: &[Row] = &[
    data("zrevrangebyscore", -4, Flags::READONLY, READ_1, |ctx, args| {
        show(ctx, args, Form::of(By::Score, true))
    }),
    data("zrangebylex", -4, Flags::READONLY, READ_1, |ctx, args| show(ctx, args, Form::of(By::Lex, false))),
    data("zrevrangebylex", -4, Flags::READONLY, READ_1, |ctx, args| show(ctx, args, Form::of(By::Lex, true))),
    data("zrangestore", -5, Flags::GROW, WRITE_1_READ_2, zrangestore),
    data("zcount", 4, Flags::READ_FAST, READ_1, |ctx, args| count(ctx, args, By::Score)),
    data("zlexcount", 4, Flags::READ_FAST, READ_1, |ctx, args| count(ctx, args, By::Lex)),
    data("zremrangebyrank", 4, Flags::WRITE, WRITE_1, |ctx, args| remove(ctx, args, By::Rank)),
    data("zremrangebyscore", 4, Flags::WRITE, WRITE_1, |ctx, args| remove(ctx, args, By::Score)),
    data("zremrangebylex", 4, Flags::WRITE, WRITE_1, |ctx, args| remove(ctx, args, By::Lex)),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Rank,
    Score,
    Lex,
}

/// What the command's name has decided; the rest is for the options to say.
#[derive(Clone, Copy, Debug)]
struct Form {
    by: Option<By>,
    reverse: Option<bool>,
    storing: bool,
}

impl Form {
    const ANY: Form = Form { by: None, reverse: None, storing: false };

    const fn of(by: By, reverse: bool) -> Form {
        Form { by: Some(by), reverse: Some(reverse), storing: false }
    }
}

/// The ends of a range as the client gave them, lower end first.
#[derive(Clone, Copy, Debug)]
enum Ends<'a> {
    Rank(i64, i64),
    Score(ScoreBound, ScoreBound),
    Lex(LexBound<'a>, LexBound<'a>),
}

#[derive(Clone, Copy, Debug)]
struct Query<'a> {
    ends: Ends<'a>,
    reverse: bool,
    offset: i64,
    /// Negative for all.
    limit: i64,
    with_scores: bool,
}

impl<'a> Ends<'a> {
    /// The arguments at `at` and `at + 1`, the lower end first unless `reverse`.
    fn read(args: &Args<'a>, at: usize, by: By, reverse: bool) -> Result<Ends<'a>, CommandError> {
        if by == By::Rank {
            return Ok(Ends::Rank(args.integer(at)?, args.integer(at + 1)?));
        }
        let (first, second) = (args.bytes(at)?, args.bytes(at + 1)?);
        let (low, high) = if reverse { (second, first) } else { (first, second) };
        if by == By::Score {
            let bound = |text| score_bound(text, args.is_8_0()).ok_or(CommandError::MIN_MAX_FLOAT);
            Ok(Ends::Score(bound(low)?, bound(high)?))
        } else {
            let bound = |text| lex_bound(text).ok_or(CommandError::MIN_MAX_LEX);
            Ok(Ends::Lex(bound(low)?, bound(high)?))
        }
    }

    /// The positions of this range in `zset`.
    fn positions(self, zset: &Zset) -> Range<usize> {
        match self {
            Ends::Rank(start, end) => index_range(start, end, zset.len()),
            Ends::Score(min, max) => zset.score_range(min, max),
            Ends::Lex(min, max) => zset.lex_range(min, max),
        }
    }
}

fn score_bound(text: &[u8], is_8_0: bool) -> Option<ScoreBound> {
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    let (text, exclusive) = match text {
        [b'(', rest @ ..] => (rest, true),
        _ => (text, false),
    };
    Some(ScoreBound { score: bound(text, is_8_0)?, exclusive })
}

fn lex_bound(text: &[u8]) -> Option<LexBound<'_>> {
    match text {
        b"-" => Some(LexBound::Lowest),
        b"+" => Some(LexBound::Highest),
        [b'(', member @ ..] => Some(LexBound::Member { member, exclusive: true }),
        [b'[', member @ ..] => Some(LexBound::Member { member, exclusive: false }),
        _ => None,
    }
}

impl<'a> Query<'a> {
    /// `at` is the place of the first end.
    fn read(args: &Args<'a>, at: usize, form: Form) -> Result<Query<'a>, CommandError> {
        let (mut by, mut reverse) = (form.by, form.reverse);
        let mut limit = None;
        let mut with_scores = false;
        let mut option = at + 2;
        while option < args.len() {
            if !form.storing && args.is(option, "WITHSCORES") {
                with_scores = true;
            } else if option + 2 < args.len() && args.is(option, "LIMIT") {
                limit = Some((args.integer(option + 1)?, args.integer(option + 2)?));
                option += 2;
            } else if reverse.is_none() && args.is(option, "REV") {
                reverse = Some(true);
            } else if by.is_none() && args.is(option, "BYLEX") {
                by = Some(By::Lex);
            } else if by.is_none() && args.is(option, "BYSCORE") {
                by = Some(By::Score);
            } else {
                return Err(CommandError::Syntax);
            }
            option += 1;
        }
        let by = by.unwrap_or(By::Rank);
        let reverse = reverse.unwrap_or(false);
        if limit.is_some_and(|(_, limit)| limit != -1) && by == By::Rank {
            return Err(CommandError::ZRANGE_LIMIT);
        }
        if with_scores && by == By::Lex {
            return Err(CommandError::ZRANGE_SCORES_LEX);
        }
        let (offset, limit) = limit.unwrap_or((0, -1));
        Ok(Query { ends: Ends::read(args, at, by, reverse)?, reverse, offset, limit, with_scores })
    }

    /// How many of the `len` in the range come before the first. A negative offset skips everything of a listpack, and
    /// counts from the end in a skiplist.
    fn skip(&self, len: usize, is_skiplist: bool) -> usize {
        let from_end = usize::try_from(self.offset.unsigned_abs()).unwrap_or(usize::MAX);
        match usize::try_from(self.offset) {
            Ok(skip) => skip.min(len),
            Err(_) if is_skiplist => len.checked_sub(from_end).unwrap_or(len),
            Err(_) => len,
        }
    }

    /// The positions that the query selects; to be walked backwards when it is reversed.
    fn positions(&self, zset: &Zset) -> Range<usize> {
        if let Ends::Rank(start, end) = self.ends {
            let range = index_range(start, end, zset.len());
            let mirror = |at: usize| zset.len() - at;
            return if self.reverse { mirror(range.end)..mirror(range.start) } else { range };
        }
        let range = self.ends.positions(zset);
        let skip = self.skip(range.len(), zset.encoding() == "skiplist");
        let left = range.len() - skip;
        let keep = usize::try_from(self.limit).map_or(left, |limit| limit.min(left));
        if self.reverse {
            let end = range.end - skip;
            end - keep..end
        } else {
            let start = range.start + skip;
            start..start + keep
        }
    }
}

fn show(ctx: &mut Ctx<'_>, args: &Args<'_>, form: Form) -> Answer {
    let query = Query::read(args, 2, form)?;
    let Some(zset) = ctx.read::<Zset>(args.bytes(1)?)? else { return Ok(Reply::Array(Vec::new())) };
    let range = query.positions(zset);
    let mut items = Vec::with_capacity(range.len() * (1 + usize::from(query.with_scores)));
    let mut push = |(member, score): (&[u8], f64)| {
        let score = query.with_scores.then(|| ctx.double(score));
        push_pair(&mut items, Reply::bulk(member), score, ctx.is_resp3());
    };
    if query.reverse {
        zset.range(range).rev().for_each(&mut push);
    } else {
        zset.range(range).for_each(&mut push);
    }
    Ok(Reply::Array(items))
}

fn zrangestore(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let query = Query::read(args, 3, Form { storing: true, ..Form::ANY })?;
    let mut result = Zset::default();
    if let Some(zset) = ctx.read::<Zset>(args.bytes(2)?)? {
        for (member, score) in zset.range(query.positions(zset)) {
            result.insert(member, score);
        }
    }
    Ok(store(ctx, args.bytes(1)?, result))
}

/// Replaces `key` by `result`, or removes it when that is empty; answers the size.
pub(super) fn store(ctx: &mut Ctx<'_>, key: &[u8], result: Zset) -> Reply {
    let len = result.len();
    if len == 0 {
        ctx.remove(key);
    } else {
        ctx.put(key, Value::Zset(result));
    }
    Reply::integer(len)
}

fn count(ctx: &mut Ctx<'_>, args: &Args<'_>, by: By) -> Answer {
    let ends = Ends::read(args, 2, by, false)?;
    Ok(Reply::integer(ctx.read::<Zset>(args.bytes(1)?)?.map_or(0, |zset| ends.positions(zset).len())))
}

fn remove(ctx: &mut Ctx<'_>, args: &Args<'_>, by: By) -> Answer {
    let ends = Ends::read(args, 2, by, false)?;
    let key = args.bytes(1)?;
    let Some(zset) = ctx.write::<Zset>(key)? else { return Ok(Reply::Integer(0)) };
    let range = ends.positions(zset);
    let removed = zset.remove_range(range);
    ctx.settle(key, removed > 0);
    Ok(Reply::integer(removed))
}
