//! Expiry of single fields of a hash: HEXPIRE and its kin, HGETEX, HGETDEL, HSETEX.
//!
//! An expired field goes when the clock passes its moment, before the next call, so that nothing ever meets one.

use super::expire::{Conditions, Moment, in_seconds, read_moment, signed};
use super::keys::{READ_1, WRITE_1};
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::value::Hash;

pub(super) const ROWS: &[Row] = &[
    data("hexpire", -6, Flags::WRITE_FAST, WRITE_1, |ctx, args| {
        hexpire(ctx, args, Moment::seconds_from_now(2), "hexpire")
    }),
    data("hpexpire", -6, Flags::WRITE_FAST, WRITE_1, |ctx, args| {
        hexpire(ctx, args, Moment::milliseconds_from_now(2), "hpexpire")
    }),
    data("hexpireat", -6, Flags::WRITE_FAST, WRITE_1, |ctx, args| {
        hexpire(ctx, args, Moment::unix_seconds(2), "hexpireat")
    }),
    data("hpexpireat", -6, Flags::WRITE_FAST, WRITE_1, |ctx, args| {
        hexpire(ctx, args, Moment::unix_milliseconds(2), "hpexpireat")
    }),
    data("httl", -5, Flags::READ_FAST, READ_1, |ctx, args| show(ctx, args, |at, now| in_seconds(at - now))),
    data("hpttl", -5, Flags::READ_FAST, READ_1, |ctx, args| show(ctx, args, |at, now| at - now)),
    data("hexpiretime", -5, Flags::READ_FAST, READ_1, |ctx, args| show(ctx, args, |at, _| in_seconds(at))),
    data("hpexpiretime", -5, Flags::READ_FAST, READ_1, |ctx, args| show(ctx, args, |at, _| at)),
    data("hpersist", -5, Flags::WRITE_FAST, WRITE_1, hpersist),
    data("hgetex", -5, Flags::WRITE_FAST, WRITE_1, hgetex),
    data("hgetdel", -5, Flags::WRITE_FAST, WRITE_1, hgetdel),
    data("hsetex", -6, Flags::GROW_FAST, WRITE_1, hsetex),
];

/// What the commands answer for a field.
const NO_FIELD: i64 = -2;
const NO_EXPIRY: i64 = -1;
const NOT_MET: i64 = 0;
const DONE: i64 = 1;
const EXPIRED: i64 = 2;

/// Where FIELDS is, from `start` on, which ends the options. (HGETEX and HSETEX take even a key of that name for it.)
fn fields_at(args: &Args<'_>, start: usize) -> Result<usize, CommandError> {
    (start..args.len() - 1).find(|&at| args.is(at, "FIELDS")).ok_or(CommandError::NUMFIELDS)
}

/// The fields behind `FIELDS count` at `at`, each of `width` arguments, to the end of argv.
fn fields<'a>(
    args: &Args<'a>,
    at: usize,
    width: usize,
    mismatch: CommandError,
) -> Result<&'a [&'a [u8]], CommandError> {
    let count = args.integer(at + 1)?;
    let fields = args.rest(at + 2);
    let expected = usize::try_from(count).ok().and_then(|count| count.checked_mul(width));
    if count > 0 && expected == Some(fields.len()) { Ok(fields) } else { Err(mismatch) }
}

/// As [`fields`], for a command that has no options before FIELDS.
fn plain_fields<'a>(args: &Args<'a>, mismatch: CommandError) -> Result<&'a [&'a [u8]], CommandError> {
    if args.is(2, "FIELDS") { fields(args, 2, 1, mismatch) } else { Err(CommandError::Syntax) }
}

/// Answers for each field what `visit` does with it; [`NO_FIELD`] where there is none.
fn visit_each(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    fields: &[&[u8]],
    mut visit: impl FnMut(&mut Hash, &[u8]) -> i64,
) -> Answer {
    let mut results = vec![Reply::Integer(NO_FIELD); fields.len()];
    let Some(hash) = ctx.write::<Hash>(key)? else { return Ok(Reply::Array(results)) };
    let mut changed = false;
    for (result, field) in results.iter_mut().zip(fields) {
        if hash.get(field).is_some() {
            let answer = visit(hash, field);
            changed |= answer > NOT_MET;
            *result = Reply::Integer(answer);
        }
    }
    ctx.settle(key, changed);
    Ok(Reply::Array(results))
}

fn hexpire(ctx: &mut Ctx<'_>, args: &Args<'_>, moment: Moment, name: &'static str) -> Answer {
    let at = fields_at(args, 3)?;
    let conditions = Conditions::read(args, 3..at)?;
    let fields = fields(args, at, 1, CommandError::NUMFIELDS)?;
    let expires_ms = moment.unix_ms_or_now(args, ctx.clock, name)?;
    let is_past = expires_ms <= ctx.clock.unix_ms();
    visit_each(ctx, args.bytes(1)?, fields, |hash, field| {
        if !conditions.admit(hash.expiry(field).map(signed), signed(expires_ms)) {
            NOT_MET
        } else if is_past {
            hash.remove(field);
            EXPIRED
        } else {
            hash.set_expiry(field, Some(expires_ms));
            DONE
        }
    })
}

fn hpersist(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let fields = plain_fields(args, CommandError::NUMFIELDS)?;
    visit_each(ctx, args.bytes(1)?, fields, |hash, field| {
        if hash.expiry(field).is_none() {
            return NO_EXPIRY;
        }
        hash.set_expiry(field, None);
        DONE
    })
}

/// For each field what `show` makes of its expiry and the time, both in ms.
fn show(ctx: &mut Ctx<'_>, args: &Args<'_>, show: fn(i64, i64) -> i64) -> Answer {
    let fields = plain_fields(args, CommandError::Syntax)?;
    let now = signed(ctx.clock.unix_ms());
    let hash = ctx.read::<Hash>(args.bytes(1)?)?;
    let answer = |field: &&[u8]| match hash.filter(|hash| hash.get(field).is_some()) {
        None => NO_FIELD,
        Some(hash) => hash.expiry(field).map_or(NO_EXPIRY, |at| show(signed(at), now)),
    };
    Ok(Reply::Array(fields.iter().map(answer).map(Reply::Integer).collect()))
}

/// What becomes of the expiry of fields that are read or written.
#[derive(Clone, Copy)]
enum Change {
    Keep,
    Clear,
    At(Moment),
}

impl Change {
    /// Reads the option at `at` if it is about expiry, or one more time the same; `keep` is the word without a moment
    /// that the command has. How many arguments were taken.
    fn read(&mut self, args: &Args<'_>, at: usize, word: (&str, Change), plain: bool) -> Option<usize> {
        let same = |change: Change| std::mem::discriminant(self) == std::mem::discriminant(&change);
        if args.is(at, word.0) && (plain || same(word.1)) {
            *self = word.1;
            return Some(1);
        }
        let moment = read_moment(args, at)?;
        let again = matches!(self, Change::At(other) if other.is_same_option(moment));
        if !plain && !again {
            return None;
        }
        *self = Change::At(moment);
        Some(2)
    }
}

/// The new expiry of a field: `None` keeps the old one.
fn resolve(
    change: Change,
    ctx: &Ctx<'_>,
    args: &Args<'_>,
    name: &'static str,
) -> Result<Option<Option<u64>>, CommandError> {
    Ok(match change {
        Change::Keep => None,
        Change::Clear => Some(None),
        Change::At(moment) => Some(Some(moment.unix_ms_or_now(args, ctx.clock, name)?)),
    })
}

/// Gives a field its new expiry; one that is past takes the field with it.
fn apply(hash: &mut Hash, field: &[u8], expiry: Option<Option<u64>>, now_ms: u64) {
    match expiry {
        Some(Some(at)) if at <= now_ms => {
            hash.remove(field);
        }
        Some(expiry) => hash.set_expiry(field, expiry),
        None => {}
    }
}

fn hgetex(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let end = fields_at(args, 1)?;
    let (mut change, mut has_option) = (Change::Keep, false);
    let mut at = end.min(2);
    while at < end {
        at += change.read(args, at, ("PERSIST", Change::Clear), !has_option).ok_or(CommandError::Syntax)?;
        has_option = true;
    }
    if at > end {
        return Err(CommandError::Syntax);
    }
    let fields = fields(args, end, 1, CommandError::NUMFIELDS)?;
    let key = args.bytes(1)?;
    ctx.read::<Hash>(key)?;
    let expiry = resolve(change, ctx, args, "hgetex")?;
    let now_ms = ctx.clock.unix_ms();
    take_each(ctx, key, fields, expiry.is_some(), |hash, field| apply(hash, field, expiry, now_ms))
}

fn hgetdel(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let fields = plain_fields(args, CommandError::NUMFIELDS)?;
    take_each(ctx, args.bytes(1)?, fields, true, |hash, field| {
        hash.remove(field);
    })
}

/// Answers the values of fields, and does to each that there is what `take` does.
fn take_each(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    fields: &[&[u8]],
    writes: bool,
    take: impl Fn(&mut Hash, &[u8]),
) -> Answer {
    let mut values = vec![Reply::Nil; fields.len()];
    let Some(hash) = ctx.write::<Hash>(key)? else { return Ok(Reply::Array(values)) };
    let mut changed = false;
    for (value, field) in values.iter_mut().zip(fields) {
        if let Some(found) = hash.get(field) {
            *value = Reply::bulk(found);
            take(hash, field);
            changed = writes;
        }
    }
    ctx.settle(key, changed);
    Ok(Reply::Array(values))
}

/// When HSETEX writes: by the key, and by its fields.
#[derive(Clone, Copy, Default)]
struct Presence {
    key: Option<bool>,
    fields: Option<bool>,
}

impl Presence {
    /// Reads the option at `at`; false when it is none, or the opposite of one before.
    fn read(&mut self, args: &Args<'_>, at: usize) -> bool {
        let words = [("NX", false), ("XX", true), ("FNX", false), ("FXX", true)];
        let Some(place) = words.iter().position(|(word, _)| args.is(at, word)) else { return false };
        let known = if place < 2 { &mut self.key } else { &mut self.fields };
        let wanted = words[place].1;
        known.replace(wanted).is_none_or(|before| before == wanted)
    }

    fn admits(self, hash: Option<&Hash>, pairs: &[&[u8]]) -> bool {
        let has = |field: &[u8]| hash.is_some_and(|hash| hash.get(field).is_some());
        self.key.is_none_or(|wanted| wanted == hash.is_some())
            && self.fields.is_none_or(|wanted| pairs.iter().step_by(2).all(|field| has(field) == wanted))
    }
}

fn hsetex(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let end = fields_at(args, 1)?;
    let (mut change, mut has_option, mut presence) = (Change::Clear, false, Presence::default());
    let mut at = end.min(2);
    while at < end {
        if let Some(taken) = change.read(args, at, ("KEEPTTL", Change::Keep), !has_option) {
            has_option = true;
            at += taken;
        } else if presence.read(args, at) {
            at += 1;
        } else {
            return Err(CommandError::Syntax);
        }
    }
    if at > end {
        return Err(CommandError::Syntax);
    }
    let pairs = fields(args, end, 2, CommandError::NUMFIELDS)?;
    let key = args.bytes(1)?;
    let admitted = presence.admits(ctx.read::<Hash>(key)?, pairs);
    let expiry = resolve(change, ctx, args, "hsetex")?;
    if !admitted {
        return Ok(Reply::Integer(0));
    }
    let now_ms = ctx.clock.unix_ms();
    let hash = ctx.create::<Hash>(key)?;
    for pair in pairs.chunks_exact(2) {
        if let &[field, value] = pair {
            hash.update(field, value);
            apply(hash, field, expiry, now_ms);
        }
    }
    ctx.settle(key, true);
    Ok(Reply::Integer(1))
}
