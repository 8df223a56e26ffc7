//! SORT and SORT_RO: the elements of a list, set or sorted set, ordered by themselves or by what other keys hold.
//!
//! Valkey sorts in place by an unstable algorithm; here elements that compare equal keep their order. Texts compare
//! byte by byte, as in the C locale: up to a zero byte when they are answered, whole when they are stored.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use super::keys::{READ_1, SORT};
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::engine::Version;
use crate::error::CommandError;
use crate::reply::{Reply, before_zero};
use crate::value::{End, Hash, List, Value, Zset, parse_float};

pub(super) const ROWS: &[Row] = &[
    data("sort", -2, Flags::GROW.union(Flags::MOVABLE_KEYS), SORT, |ctx, args| sort(ctx, args, true)),
    data("sort_ro", -2, Flags::READONLY.union(Flags::MOVABLE_KEYS), READ_1, |ctx, args| {
        sort(ctx, args, false)
    }),
];

#[derive(Default)]
struct Options<'a> {
    descending: bool,
    alpha: bool,
    /// `LIMIT offset count`.
    limit: Option<(i64, i64)>,
    by: Option<&'a [u8]>,
    get: Vec<&'a [u8]>,
    store: Option<&'a [u8]>,
}

impl<'a> Options<'a> {
    fn read(args: &Args<'a>, can_store: bool) -> Result<Options<'a>, CommandError> {
        let mut options = Options::default();
        let mut at = 2;
        while at < args.len() {
            let mut taken = 2;
            if args.is(at, "ASC") || args.is(at, "DESC") {
                options.descending = args.is(at, "DESC");
                taken = 1;
            } else if args.is(at, "ALPHA") {
                options.alpha = true;
                taken = 1;
            } else if args.is(at, "LIMIT") && at + 2 < args.len() {
                options.limit = Some((args.integer(at + 1)?, args.integer(at + 2)?));
                taken = 3;
            } else if can_store && args.is_with_value(at, "STORE") {
                options.store = Some(args.bytes(at + 1)?);
            } else if args.is_with_value(at, "BY") {
                options.by = Some(args.bytes(at + 1)?);
            } else if args.is_with_value(at, "GET") {
                options.get.push(args.bytes(at + 1)?);
            } else {
                return Err(CommandError::Syntax);
            }
            at += taken;
        }
        Ok(options)
    }

    /// BY a pattern that no element changes: the order is left as it is.
    fn keeps_order(&self) -> bool {
        self.by.is_some_and(|pattern| !pattern.contains(&b'*'))
    }

    /// The places that LIMIT leaves of `len`.
    fn range(&self, len: usize) -> Range<usize> {
        let Some((offset, count)) = self.limit else { return 0..len };
        let start = usize::try_from(offset.max(0)).unwrap_or(usize::MAX).min(len);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        start..start.saturating_add(count).min(len)
    }
}

fn sort(ctx: &mut Ctx<'_>, args: &Args<'_>, can_store: bool) -> Answer {
    let mut options = Options::read(args, can_store)?;
    let mut elements = elements(ctx, args.bytes(1)?, &mut options)?;
    ctx.count_steps(elements.len());
    if !options.keeps_order() {
        order(ctx, &mut elements, &options)?;
    }
    let range = options.range(elements.len());
    let chosen = elements.get(range).unwrap_or_default();
    let results = chosen.iter().flat_map(|element| results(ctx, element, &options.get));
    match options.store {
        None => Ok(Reply::Array(results.map(|text| text.map_or(Reply::Nil, Reply::Bulk)).collect())),
        Some(key) => {
            let results: Vec<Vec<u8>> = results.map(Option::unwrap_or_default).collect();
            Ok(store(ctx, key, &results))
        }
    }
}

/// The elements in their own order. The order of a set means nothing, so where it would show in data or in what a
/// script does, a set is sorted whatever was asked for.
fn elements(ctx: &mut Ctx<'_>, key: &[u8], options: &mut Options<'_>) -> Result<Vec<Vec<u8>>, CommandError> {
    // A server sorts a sorted set as a skiplist, and leaves it one.
    if let Ok(Some(zset)) = ctx.write::<Zset>(key) {
        zset.widen();
    }
    let Some(entry) = ctx.entry(key) else { return Ok(Vec::new()) };
    let backwards = options.keeps_order() && options.descending;
    Ok(match &*entry.value {
        Value::List(list) if backwards => list.iter().rev().map(<[u8]>::to_vec).collect(),
        Value::List(list) => list.iter().map(<[u8]>::to_vec).collect(),
        Value::Set(set) => {
            if options.keeps_order() && (options.store.is_some() || ctx.session.in_script) {
                options.alpha = true;
                options.by = None;
            }
            set.iter().map(Cow::into_owned).collect()
        }
        Value::Zset(zset) => {
            let members = zset.iter().map(|(member, _)| member.to_vec());
            if backwards { members.rev().collect() } else { members.collect() }
        }
        Value::String(_) | Value::Hash(_) => return Err(CommandError::WrongType),
    })
}

fn order(ctx: &Ctx<'_>, elements: &mut [Vec<u8>], options: &Options<'_>) -> Result<(), CommandError> {
    let weight = |element: &Vec<u8>| match options.by {
        Some(pattern) => look_up(ctx, pattern, element),
        None => Some(element.clone()),
    };
    if options.alpha {
        let stored = options.store.is_some();
        elements.sort_by_cached_key(|element| {
            let text = weight(element).map(|text| if stored { text } else { before_zero(text) });
            Directed { text, descending: options.descending }
        });
        return Ok(());
    }
    let mut scored = Vec::with_capacity(elements.len());
    for element in elements.iter_mut() {
        let score = match weight(element) {
            Some(text) => parse_score(&text, ctx.config.version).ok_or(CommandError::SORT_NUMBER)?,
            None => 0.0,
        };
        scored.push((score, std::mem::take(element)));
    }
    scored.sort_by(|(a, first), (b, second)| {
        directed(
            a.partial_cmp(b).unwrap_or(Ordering::Equal).then_with(|| first.cmp(second)),
            options.descending,
        )
    });
    for (place, (_, element)) in elements.iter_mut().zip(scored) {
        *place = element;
    }
    Ok(())
}

/// A text in the direction in which it sorts; one that is missing comes before all others.
#[derive(PartialEq, Eq)]
struct Directed {
    text: Option<Vec<u8>>,
    descending: bool,
}

impl Ord for Directed {
    fn cmp(&self, other: &Directed) -> Ordering {
        directed(self.text.cmp(&other.text), self.descending)
    }
}

impl PartialOrd for Directed {
    fn partial_cmp(&self, other: &Directed) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn directed(ordering: Ordering, descending: bool) -> Ordering {
    if descending { ordering.reverse() } else { ordering }
}

/// Up to a zero byte. 8.0 reads as C's strtod does: spaces in front, hexadecimal numbers, nothing at all for 0.
fn parse_score(text: &[u8], version: Version) -> Option<f64> {
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    if version == Version::V9_1 {
        return parse_float(text);
    }
    let (x, taken) = lua54::num::strtod(text);
    let whole = taken == text.len();
    let out_of_range =
        x.is_subnormal() || (parse_float(text).is_none() && (x == 0.0 || x.is_infinite()) && !is_zero(text));
    (whole && !x.is_nan() && !out_of_range).then_some(x)
}

/// No digit but zeros before an exponent.
fn is_zero(text: &[u8]) -> bool {
    let digits = text.split(|byte| matches!(byte, b'e' | b'E' | b'p' | b'P')).next().unwrap_or_default();
    !digits.iter().any(|byte| (b'1'..=b'9').contains(byte) || (b'a'..=b'f').contains(byte))
}

/// What one element answers: itself, or what each GET finds.
fn results(ctx: &Ctx<'_>, element: &[u8], get: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
    if get.is_empty() {
        return vec![Some(element.to_vec())];
    }
    get.iter().map(|pattern| look_up(ctx, pattern, element)).collect()
}

/// What `pattern` leads to for `element`: `#` to the element itself, `weight_*` to a string with the element in place
/// of the star, `row_*->field` to the field of a hash.
fn look_up(ctx: &Ctx<'_>, pattern: &[u8], element: &[u8]) -> Option<Vec<u8>> {
    if pattern == b"#" {
        return Some(element.to_vec());
    }
    let star = pattern.iter().position(|&byte| byte == b'*')?;
    let (head, tail) = (pattern.get(..star)?, pattern.get(star + 1..)?);
    let arrow = tail.windows(2).position(|pair| pair == b"->").filter(|&arrow| arrow + 2 < tail.len());
    let key = [head, element, tail.get(..arrow.unwrap_or(tail.len()))?].concat();
    match arrow {
        None => ctx.read::<Vec<u8>>(&key).ok()?.cloned(),
        Some(arrow) => ctx.read::<Hash>(&key).ok()??.get(tail.get(arrow + 2..)?).map(<[u8]>::to_vec),
    }
}

fn store(ctx: &mut Ctx<'_>, key: &[u8], results: &[Vec<u8>]) -> Reply {
    if results.is_empty() {
        ctx.remove(key);
    } else {
        let mut list = List::default();
        results.iter().for_each(|text| list.push(End::Right, text));
        ctx.put(key, Value::List(list));
    }
    Reply::integer(results.len())
}
