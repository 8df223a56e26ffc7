//! Strings and counters. The algorithms follow Valkey's t_string.c; LCS is in a file of its own.

use super::expire::{Moment, read_moment};
use super::float_sum::float_sum;
use super::keys::{READ_1, READ_ALL, WRITE_1, WRITE_COUNTED_PAIRS, WRITE_PAIRS};
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::value::{Value, integer_text, parse_integer};

pub(super) const ROWS: &[Row] = &[
    data("get", 2, Flags::READ_FAST, READ_1, get),
    data("set", -3, Flags::GROW, WRITE_1, set),
    data("incr", 2, Flags::GROW_FAST, WRITE_1, |ctx, args| increment(ctx, args, 1)),
    data("incrby", 3, Flags::GROW_FAST, WRITE_1, |ctx, args| increment(ctx, args, args.integer(2)?)),
];

/// What a queue does without.
pub(super) const MORE: &[Row] = &[
    data("getex", -2, Flags::WRITE_FAST, WRITE_1, getex),
    data("getdel", 2, Flags::WRITE_FAST, WRITE_1, getdel),
    data("getset", 3, Flags::GROW_FAST, WRITE_1, getset),
    data("delifeq", 3, Flags::WRITE_FAST, WRITE_1, delifeq),
    data("mget", -2, Flags::READ_FAST, READ_ALL, mget),
    data("mset", -3, Flags::GROW, WRITE_PAIRS, mset),
    data("msetnx", -3, Flags::GROW, WRITE_PAIRS, msetnx),
    data("msetex", -4, Flags::GROW.union(Flags::MOVABLE_KEYS), WRITE_COUNTED_PAIRS, msetex),
    data("setnx", 3, Flags::GROW_FAST, WRITE_1, setnx),
    data("setex", 4, Flags::GROW, WRITE_1, setex),
    data("psetex", 4, Flags::GROW, WRITE_1, psetex),
    data("decr", 2, Flags::GROW_FAST, WRITE_1, |ctx, args| increment(ctx, args, -1)),
    data("decrby", 3, Flags::GROW_FAST, WRITE_1, decrby),
    data("incrbyfloat", 3, Flags::GROW_FAST, WRITE_1, incrbyfloat),
    data("append", 3, Flags::GROW_FAST, WRITE_1, append),
    data("strlen", 2, Flags::READ_FAST, READ_1, strlen),
    data("getrange", 4, Flags::READONLY, READ_1, getrange),
    data("substr", 4, Flags::READONLY, READ_1, getrange),
    data("setrange", 4, Flags::GROW, WRITE_1, setrange),
];

fn get(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    Ok(text_or_nil(ctx.read::<Vec<u8>>(args.bytes(1)?)?))
}

fn text_or_nil(value: Option<&Vec<u8>>) -> Reply {
    value.map_or(Reply::Nil, |bytes| Reply::Bulk(bytes.clone()))
}

/// When SET writes.
#[derive(Clone, Copy, Debug)]
enum Condition<'a> {
    Always,
    Absent,
    Present,
    Equal(&'a [u8]),
}

/// What is to become of the expiry of a key that is written.
#[derive(Clone, Copy, Debug)]
enum Expiry {
    Clear,
    Keep,
    At(Moment),
}

struct SetOptions<'a> {
    condition: Condition<'a>,
    expiry: Expiry,
    get: bool,
}

impl<'a> SetOptions<'a> {
    fn read(args: &Args<'a>, mut at: usize, can_get: bool) -> Result<SetOptions<'a>, CommandError> {
        let mut options = SetOptions { condition: Condition::Always, expiry: Expiry::Clear, get: false };
        while at < args.len() {
            let condition_free = matches!(options.condition, Condition::Always);
            let expiry_free = matches!(options.expiry, Expiry::Clear);
            if args.is(at, "NX") && (condition_free || matches!(options.condition, Condition::Absent)) {
                options.condition = Condition::Absent;
            } else if args.is(at, "XX") && (condition_free || matches!(options.condition, Condition::Present))
            {
                options.condition = Condition::Present;
            } else if can_get && args.is_with_value(at, "IFEQ") && condition_free && !args.is_8_0() {
                at += 1;
                options.condition = Condition::Equal(args.bytes(at)?);
            } else if can_get && args.is(at, "GET") {
                options.get = true;
            } else if args.is(at, "KEEPTTL") && (expiry_free || matches!(options.expiry, Expiry::Keep)) {
                options.expiry = Expiry::Keep;
            } else if let Some(moment) =
                read_moment(args, at).filter(|moment| expiry_free || options.expiry.is_same_option(*moment))
            {
                at += 1;
                options.expiry = Expiry::At(moment);
            } else {
                return Err(CommandError::Syntax);
            }
            at += 1;
        }
        Ok(options)
    }
}

impl Expiry {
    /// An option may be given again, and then its last value counts; two different ones exclude each other.
    fn is_same_option(self, moment: Moment) -> bool {
        matches!(self, Expiry::At(other) if other.is_same_option(moment))
    }

    /// The moment in Unix milliseconds; `None` for no expiry. `KEEPTTL` is not asked here.
    fn resolve(
        self,
        ctx: &Ctx<'_>,
        args: &Args<'_>,
        name: &'static str,
    ) -> Result<Option<u64>, CommandError> {
        match self {
            Expiry::At(moment) => moment.unix_ms(args, ctx.clock, name).map(Some),
            Expiry::Clear | Expiry::Keep => Ok(None),
        }
    }
}

fn set(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, value) = (args.bytes(1)?, args.bytes(2)?);
    if args.len() == 3 {
        ctx.put(key, Value::String(value.to_vec()));
        return Ok(Reply::OK);
    }
    let options = SetOptions::read(args, 3, true)?;
    let expires_ms = options.expiry.resolve(ctx, args, "set")?;
    let reads = options.get || matches!(options.condition, Condition::Equal(_));
    let old = if reads { ctx.read::<Vec<u8>>(key)? } else { None };
    let admitted = match options.condition {
        Condition::Always => true,
        Condition::Absent => ctx.entry(key).is_none(),
        Condition::Present => ctx.entry(key).is_some(),
        Condition::Equal(expected) => old.is_some_and(|old| old == expected),
    };
    let reply = if options.get {
        text_or_nil(old)
    } else if admitted {
        Reply::OK
    } else {
        Reply::Nil
    };
    if admitted {
        write_text(ctx, key, value, options.expiry, expires_ms);
    }
    Ok(reply)
}

fn write_text(ctx: &mut Ctx<'_>, key: &[u8], value: &[u8], expiry: Expiry, expires_ms: Option<u64>) {
    let expires_ms = match expiry {
        Expiry::Keep => ctx.entry(key).and_then(|entry| entry.expires_ms),
        _ => expires_ms,
    };
    let db = ctx.db();
    ctx.keyspace.put(db, key, Value::String(value.to_vec()), expires_ms);
}

fn getex(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    // PERSIST is `Some(Clear)`.
    let mut expiry = None;
    let mut at = 2;
    while at < args.len() {
        let admits = |moment: &Moment| expiry.is_none_or(|expiry: Expiry| expiry.is_same_option(*moment));
        if args.is(at, "PERSIST") && expiry.is_none_or(|expiry| matches!(expiry, Expiry::Clear)) {
            expiry = Some(Expiry::Clear);
            at += 1;
        } else if let Some(moment) = read_moment(args, at).filter(admits) {
            expiry = Some(Expiry::At(moment));
            at += 2;
        } else {
            return Err(CommandError::Syntax);
        }
    }
    if args.is_8_0() && ctx.read::<Vec<u8>>(key)?.is_none() {
        return Ok(Reply::Nil);
    }
    let expires_ms = expiry.map(|expiry| expiry.resolve(ctx, args, "getex")).transpose()?;
    let reply = text_or_nil(ctx.read::<Vec<u8>>(key)?);
    let Some(expires_ms) = expires_ms else { return Ok(reply) };
    if ctx.entry(key).is_some_and(|entry| entry.expires_ms != expires_ms) {
        let db = ctx.db();
        ctx.keyspace.set_expiry(db, key, expires_ms);
    }
    Ok(reply)
}

fn getdel(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let reply = text_or_nil(ctx.read::<Vec<u8>>(key)?);
    ctx.remove(key);
    Ok(reply)
}

fn getset(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let reply = text_or_nil(ctx.read::<Vec<u8>>(key)?);
    ctx.put(key, Value::String(args.bytes(2)?.to_vec()));
    Ok(reply)
}

fn delifeq(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, expected) = (args.bytes(1)?, args.bytes(2)?);
    let equal = ctx.read::<Vec<u8>>(key)?.is_some_and(|value| value == expected);
    if equal {
        ctx.remove(key);
    }
    Ok(Reply::Integer(equal.into()))
}

fn mget(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    // A key of another type counts as missing here.
    let text = |key: &&[u8]| text_or_nil(ctx.read::<Vec<u8>>(key).unwrap_or(None));
    Ok(Reply::Array(args.rest(1).iter().map(text).collect()))
}

/// The keys and values of MSET and MSETNX.
fn pairs<'a>(args: &Args<'a>, name: &str) -> Result<&'a [&'a [u8]], CommandError> {
    let pairs = args.rest(1);
    if pairs.len().is_multiple_of(2) { Ok(pairs) } else { Err(CommandError::Arity { name: name.to_owned() }) }
}

fn put_pairs(ctx: &mut Ctx<'_>, pairs: &[&[u8]]) {
    for pair in pairs.chunks_exact(2) {
        if let &[key, value] = pair {
            ctx.put(key, Value::String(value.to_vec()));
        }
    }
}

fn mset(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    put_pairs(ctx, pairs(args, "mset")?);
    Ok(Reply::OK)
}

fn msetnx(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let pairs = pairs(args, "msetnx")?;
    let free = pairs.iter().step_by(2).all(|key| ctx.entry(key).is_none());
    if free {
        put_pairs(ctx, pairs);
    }
    Ok(Reply::Integer(free.into()))
}

fn msetex(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let count = args.integer(1).ok().filter(|count| (1..=i64::from(i32::MAX)).contains(count));
    let count = count.and_then(|n| usize::try_from(n).ok()).ok_or(CommandError::MSETEX_COUNT)?;
    let pairs = count.checked_mul(2).and_then(|len| args.slice(2, len));
    let pairs = pairs.ok_or(CommandError::Syntax)?;
    let options = SetOptions::read(args, 2 + pairs.len(), false)?;
    let expires_ms = options.expiry.resolve(ctx, args, "msetex")?;
    let mut keys = pairs.iter().step_by(2);
    let admitted = match options.condition {
        Condition::Absent => keys.all(|key| ctx.entry(key).is_none()),
        Condition::Present => keys.all(|key| ctx.entry(key).is_some()),
        _ => true,
    };
    if admitted {
        for pair in pairs.chunks_exact(2) {
            if let &[key, value] = pair {
                write_text(ctx, key, value, options.expiry, expires_ms);
            }
        }
    }
    Ok(Reply::Integer(admitted.into()))
}

fn setnx(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let free = ctx.entry(key).is_none();
    if free {
        ctx.put(key, Value::String(args.bytes(2)?.to_vec()));
    }
    Ok(Reply::Integer(free.into()))
}

fn setex(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    set_for(ctx, args, Moment::seconds_from_now(2), "setex")
}

fn psetex(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    set_for(ctx, args, Moment::milliseconds_from_now(2), "psetex")
}

fn set_for(ctx: &mut Ctx<'_>, args: &Args<'_>, moment: Moment, name: &'static str) -> Answer {
    let expires_ms = moment.unix_ms(args, ctx.clock, name)?;
    write_text(ctx, args.bytes(1)?, args.bytes(3)?, Expiry::At(moment), Some(expires_ms));
    Ok(Reply::OK)
}

fn decrby(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let by = args.integer(2)?;
    increment(ctx, args, by.checked_neg().ok_or(CommandError::DECREMENT_OVERFLOW)?)
}

fn increment(ctx: &mut Ctx<'_>, args: &Args<'_>, by: i64) -> Answer {
    let key = args.bytes(1)?;
    let old = match ctx.read::<Vec<u8>>(key)? {
        Some(text) => parse_integer(text).ok_or(CommandError::NotInteger)?,
        None => 0,
    };
    let new = old.checked_add(by).ok_or(CommandError::OVERFLOW)?;
    *ctx.create::<Vec<u8>>(key)? = integer_text(new);
    ctx.settle(key, true);
    Ok(Reply::Integer(new))
}

fn incrbyfloat(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let old = ctx.read::<Vec<u8>>(key)?;
    let text = float_sum(old.map(Vec::as_slice), args.bytes(2)?, CommandError::NotFloat)?;
    ctx.create::<Vec<u8>>(key)?.clone_from(&text);
    ctx.settle(key, true);
    Ok(Reply::Bulk(text))
}

fn append(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, tail) = (args.bytes(1)?, args.bytes(2)?);
    let old_len = ctx.read::<Vec<u8>>(key)?.map_or(0, Vec::len);
    check_size(ctx, old_len.saturating_add(tail.len()))?;
    let text = ctx.create::<Vec<u8>>(key)?;
    text.extend_from_slice(tail);
    let len = text.len();
    ctx.settle(key, true);
    Ok(Reply::integer(len))
}

fn check_size(ctx: &Ctx<'_>, len: usize) -> Result<(), CommandError> {
    if len > ctx.config.limits.bulk_bytes { Err(CommandError::TOO_LONG) } else { Ok(()) }
}

fn strlen(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    Ok(Reply::integer(ctx.read::<Vec<u8>>(args.bytes(1)?)?.map_or(0, Vec::len)))
}

fn getrange(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (start, end) = (args.integer(2)?, args.integer(3)?);
    let Some(text) = ctx.read::<Vec<u8>>(args.bytes(1)?)? else { return Ok(Reply::bulk("")) };
    // Both before the beginning and the wrong way round: nothing, not the first byte.
    if start < 0 && end < 0 && start > end {
        return Ok(Reply::bulk(""));
    }
    let len = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let place = |at: i64| if at < 0 { at.saturating_add(len).max(0) } else { at };
    let range = super::args::index_range(place(start), place(end), text.len());
    Ok(Reply::bulk(text.get(range).unwrap_or_default()))
}

fn setrange(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (key, patch) = (args.bytes(1)?, args.bytes(3)?);
    let offset = usize::try_from(args.integer(2)?).map_err(|_| CommandError::OFFSET)?;
    let old_len = ctx.read::<Vec<u8>>(key)?.map_or(0, Vec::len);
    if patch.is_empty() {
        return Ok(Reply::integer(old_len));
    }
    let end = offset.saturating_add(patch.len());
    check_size(ctx, end)?;
    let text = ctx.create::<Vec<u8>>(key)?;
    if text.len() < end {
        text.resize(end, 0);
    }
    if let Some(place) = text.get_mut(offset..end) {
        place.copy_from_slice(patch);
    }
    let len = text.len();
    ctx.settle(key, true);
    Ok(Reply::integer(len))
}
