//! Sorted sets: unions, intersections and differences. A plain set takes part with score 1 for each member.

use std::borrow::Cow;

use super::args::cardinality_limit;
use super::keys::{READ_COUNTED_1, WRITE_1_READ_COUNTED};
use super::random::push_pair;
use super::zset_range::store;
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
#[cfg(feature = "set")]
use crate::value::Set;
use crate::value::{Value, Zset};

pub(super) const ROWS: &[Row] =
    &[data("zunion", -3, SHOW, READ_COUNTED_1, |ctx, args| show(ctx, args, Operation::Union, "zunion"))];

/// What the weighing of queues, by ZUNION, does without.
pub(super) const MORE: &[Row] = &[
    data("zinter", -3, SHOW, READ_COUNTED_1, |ctx, args| show(ctx, args, Operation::Intersection, "zinter")),
    data("zdiff", -3, SHOW, READ_COUNTED_1, |ctx, args| show(ctx, args, Operation::Difference, "zdiff")),
    data("zunionstore", -4, STORE, WRITE_1_READ_COUNTED, |ctx, args| {
        store_result(ctx, args, Operation::Union, "zunionstore")
    }),
    data("zinterstore", -4, STORE, WRITE_1_READ_COUNTED, |ctx, args| {
        store_result(ctx, args, Operation::Intersection, "zinterstore")
    }),
    data("zdiffstore", -4, STORE, WRITE_1_READ_COUNTED, |ctx, args| {
        store_result(ctx, args, Operation::Difference, "zdiffstore")
    }),
    data("zintercard", -3, SHOW, READ_COUNTED_1, zintercard),
];

const SHOW: Flags = Flags::READONLY.union(Flags::MOVABLE_KEYS);
const STORE: Flags = Flags::GROW.union(Flags::MOVABLE_KEYS);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Union,
    Intersection,
    Difference,
}

#[derive(Clone, Copy, Debug)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn join(self, a: f64, b: f64) -> f64 {
        match self {
            // The infinities cancel out to 0 here, as in Valkey.
            Aggregate::Sum => nan_to_zero(a + b),
            Aggregate::Min => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            Aggregate::Max => {
                if b > a {
                    b
                } else {
                    a
                }
            }
        }
    }
}

fn nan_to_zero(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x }
}

/// One input.
#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Missing,
    #[cfg(feature = "set")]
    Set(&'a Set),
    Zset(&'a Zset),
}

impl<'a> Source<'a> {
    fn len(self) -> usize {
        match self {
            Source::Missing => 0,
            #[cfg(feature = "set")]
            Source::Set(set) => set.len(),
            Source::Zset(zset) => zset.len(),
        }
    }

    fn score(self, member: &[u8]) -> Option<f64> {
        match self {
            Source::Missing => None,
            #[cfg(feature = "set")]
            Source::Set(set) => set.contains(member).then_some(1.0),
            Source::Zset(zset) => zset.score(member),
        }
    }

    fn items(self) -> Vec<(Cow<'a, [u8]>, f64)> {
        match self {
            Source::Missing => Vec::new(),
            #[cfg(feature = "set")]
            Source::Set(set) => set.iter().map(|member| (member, 1.0)).collect(),
            Source::Zset(zset) => zset.iter().map(|(member, score)| (Cow::Borrowed(member), score)).collect(),
        }
    }
}

fn source<'a>(ctx: &'a Ctx<'_>, key: &[u8]) -> Result<Source<'a>, CommandError> {
    let source = match ctx.entry(key).map(|entry| &*entry.value) {
        None => Source::Missing,
        #[cfg(feature = "set")]
        Some(Value::Set(set)) => Source::Set(set),
        Some(Value::Zset(zset)) => Source::Zset(zset),
        Some(_) => return Err(CommandError::WrongType),
    };
    ctx.count_steps(source.len());
    Ok(source)
}

struct Query<'a> {
    /// With their weights.
    sources: Vec<(Source<'a>, f64)>,
    aggregate: Aggregate,
    with_scores: bool,
}

impl<'a> Query<'a> {
    /// `at` is the place of the number of keys.
    fn read(
        ctx: &'a Ctx<'_>,
        args: &Args<'_>,
        at: usize,
        operation: Operation,
        name: &str,
    ) -> Result<Query<'a>, CommandError> {
        let keys = input_keys(args, at, name)?;
        let count = keys.len();
        let sources: Result<Vec<_>, _> = keys.iter().map(|key| Ok((source(ctx, key)?, 1.0))).collect();
        let mut query = Query { sources: sources?, aggregate: Aggregate::Sum, with_scores: false };
        let mut option = at + 1 + count;
        let (shows, weighs) = (at == 1, operation != Operation::Difference);
        while option < args.len() {
            if weighs && args.is(option, "WEIGHTS") && args.len() - option > count {
                for (source, at) in query.sources.iter_mut().zip(option + 1..) {
                    source.1 = args.float(at).map_err(|_| CommandError::WEIGHT_NOT_FLOAT)?;
                }
                option += 1 + count;
            } else if weighs && args.is_with_value(option, "AGGREGATE") {
                query.aggregate = aggregate(args, option + 1)?;
                option += 2;
            } else if shows && args.is(option, "WITHSCORES") {
                query.with_scores = true;
                option += 1;
            } else {
                return Err(CommandError::Syntax);
            }
        }
        Ok(query)
    }

    fn result(mut self, operation: Operation) -> Zset {
        if operation == Operation::Difference {
            return self.difference();
        }
        // Small inputs first: an intersection ends sooner, and the sums are made in Valkey's order.
        for source in std::mem::take(&mut self.sources) {
            let at = self.sources.partition_point(|(other, _)| other.len() <= source.0.len());
            self.sources.insert(at, source);
        }
        if operation == Operation::Union { self.union() } else { self.intersection() }
    }

    fn union(&self) -> Zset {
        let mut result = Zset::wide();
        for (source, weight) in &self.sources {
            for (member, score) in source.items() {
                let score = nan_to_zero(score * weight);
                let score = result.score(&member).map_or(score, |old| self.aggregate.join(old, score));
                result.insert(&member, score);
            }
        }
        result
    }

    fn intersection(&self) -> Zset {
        let mut result = Zset::wide();
        let Some(((first, weight), others)) = self.sources.split_first() else { return result };
        for (member, score) in first.items() {
            let first_score = nan_to_zero(score * weight);
            let joined = others.iter().try_fold(first_score, |joined, (source, weight)| {
                let score = source.score(&member)?;
                // NaN loses against either bound, and makes a sum 0.
                Some(self.aggregate.join(joined, score * weight))
            });
            if let Some(score) = joined {
                result.insert(&member, score);
            }
        }
        result
    }

    fn difference(&self) -> Zset {
        let mut result = Zset::wide();
        let Some(((first, _), others)) = self.sources.split_first() else { return result };
        for (member, score) in first.items() {
            if others.iter().all(|(source, _)| source.score(&member).is_none()) {
                result.insert(&member, score);
            }
        }
        result
    }
}

/// The keys after their number at `at`.
fn input_keys<'a>(args: &Args<'a>, at: usize, name: &str) -> Result<&'a [&'a [u8]], CommandError> {
    let count = usize::try_from(args.integer(at)?).ok().filter(|&n| n > 0).ok_or_else(|| {
        CommandError::other(format!("ERR at least 1 input key is needed for '{name}' command"))
    })?;
    args.slice(at + 1, count).ok_or(CommandError::Syntax)
}

fn aggregate(args: &Args<'_>, at: usize) -> Result<Aggregate, CommandError> {
    let known = [("SUM", Aggregate::Sum), ("MIN", Aggregate::Min), ("MAX", Aggregate::Max)];
    let found = known.into_iter().find(|(word, _)| args.is(at, word));
    found.map(|(_, aggregate)| aggregate).ok_or(CommandError::Syntax)
}

fn show(ctx: &mut Ctx<'_>, args: &Args<'_>, operation: Operation, name: &str) -> Answer {
    let query = Query::read(ctx, args, 1, operation, name)?;
    let with_scores = query.with_scores;
    let mut items = Vec::new();
    for (member, score) in query.result(operation).iter() {
        let score = with_scores.then(|| ctx.double(score));
        push_pair(&mut items, Reply::bulk(member), score, ctx.is_resp3());
    }
    Ok(Reply::Array(items))
}

fn store_result(ctx: &mut Ctx<'_>, args: &Args<'_>, operation: Operation, name: &str) -> Answer {
    let result = Query::read(ctx, args, 2, operation, name)?.result(operation).packed();
    Ok(store(ctx, args.bytes(1)?, result))
}

fn zintercard(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let keys = input_keys(args, 1, "zintercard")?;
    let sources: Result<Vec<_>, _> = keys.iter().map(|key| source(ctx, key)).collect();
    let mut sources = sources?;
    let limit = cardinality_limit(args, 2 + keys.len())?;
    sources.sort_by_key(|source| source.len());
    let Some((first, others)) = sources.split_first() else { return Ok(Reply::Integer(0)) };
    let items = first.items();
    let common =
        items.iter().filter(|(member, _)| others.iter().all(|source| source.score(member).is_some()));
    Ok(Reply::integer(common.take(limit).count()))
}
