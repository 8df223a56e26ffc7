//! Expiry: moments as commands give them, and the commands that set, show and clear them.

use std::ops::Range;

use super::keys::{READ_1, WRITE_1};
use super::{Answer, Args, Ctx, Flags, Row, data, quoted};
use crate::clock::Clock;
use crate::error::CommandError;
use crate::reply::Reply;

pub(super) const ROWS: &[Row] = &[
    data("expire", -3, Flags::WRITE_FAST, WRITE_1, |ctx, args| {
        expire(ctx, args, Moment::seconds_from_now(2), "expire")
    }),
    data("pexpire", -3, Flags::WRITE_FAST, WRITE_1, |ctx, args| {
        expire(ctx, args, Moment::milliseconds_from_now(2), "pexpire")
    }),
    data("expireat", -3, Flags::WRITE_FAST, WRITE_1, |ctx, args| {
        expire(ctx, args, Moment::unix_seconds(2), "expireat")
    }),
    data("pexpireat", -3, Flags::WRITE_FAST, WRITE_1, |ctx, args| {
        expire(ctx, args, Moment::unix_milliseconds(2), "pexpireat")
    }),
    data("ttl", 2, Flags::READ_FAST, READ_1, |ctx, args| show(ctx, args, |at, now| in_seconds(at - now))),
    data("pttl", 2, Flags::READ_FAST, READ_1, |ctx, args| show(ctx, args, |at, now| at - now)),
    data("expiretime", 2, Flags::READ_FAST, READ_1, |ctx, args| show(ctx, args, |at, _| in_seconds(at))),
    data("pexpiretime", 2, Flags::READ_FAST, READ_1, |ctx, args| show(ctx, args, |at, _| at)),
    data("persist", 2, Flags::WRITE_FAST, WRITE_1, persist),
];

/// A moment as an argument gives it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    /// Where in argv the number is.
    at: usize,
    in_seconds: bool,
    from_now: bool,
}

impl Moment {
    pub const fn seconds_from_now(at: usize) -> Moment {
        Moment { at, in_seconds: true, from_now: true }
    }

    pub const fn milliseconds_from_now(at: usize) -> Moment {
        Moment { at, in_seconds: false, from_now: true }
    }

    pub const fn unix_seconds(at: usize) -> Moment {
        Moment { at, in_seconds: true, from_now: false }
    }

    pub const fn unix_milliseconds(at: usize) -> Moment {
        Moment { at, in_seconds: false, from_now: false }
    }

    pub fn is_same_option(self, other: Moment) -> bool {
        (self.in_seconds, self.from_now) == (other.in_seconds, other.from_now)
    }

    /// The moment in Unix milliseconds; `name` is the command's, for the error. A moment must be after 0.
    pub fn unix_ms(self, args: &Args<'_>, now: Clock, name: &'static str) -> Result<u64, CommandError> {
        let number = args.integer(self.at)?;
        if number <= 0 {
            return Err(CommandError::ExpireTime { name });
        }
        let moment = self.resolve(number, now).and_then(|at| u64::try_from(at).ok());
        moment.ok_or(CommandError::ExpireTime { name })
    }

    /// As [`Moment::unix_ms`]; a moment that is past may be given, but not one before 1970 or a time below 0.
    #[cfg(feature = "field-expiry")]
    pub fn unix_ms_or_now(
        self,
        args: &Args<'_>,
        now: Clock,
        name: &'static str,
    ) -> Result<u64, CommandError> {
        let number = args.integer(self.at)?;
        let moment = if number < 0 { None } else { self.resolve(number, now) };
        moment.and_then(|at| u64::try_from(at).ok()).ok_or(CommandError::ExpireTime { name })
    }

    fn resolve(self, number: i64, now: Clock) -> Option<i64> {
        let ms = if self.in_seconds { number.checked_mul(1000)? } else { number };
        if self.from_now { ms.checked_add(signed(now.unix_ms())) } else { Some(ms) }
    }
}

/// `EX seconds`, `PX ms`, `EXAT unix-seconds` or `PXAT unix-ms` at this place in argv.
pub(super) fn read_moment(args: &Args<'_>, at: usize) -> Option<Moment> {
    let kinds = [
        ("EX", Moment::seconds_from_now(at + 1)),
        ("PX", Moment::milliseconds_from_now(at + 1)),
        ("EXAT", Moment::unix_seconds(at + 1)),
        ("PXAT", Moment::unix_milliseconds(at + 1)),
    ];
    kinds.into_iter().find(|(word, _)| args.is_with_value(at, word)).map(|(_, moment)| moment)
}

/// NX: only without an expiry; XX: only with one; GT and LT: only later, only earlier.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conditions {
    nx: bool,
    xx: bool,
    gt: bool,
    lt: bool,
}

impl Conditions {
    /// The options at these places in argv.
    pub fn read(args: &Args<'_>, places: Range<usize>) -> Result<Conditions, CommandError> {
        let mut found = Conditions::default();
        for at in places {
            let known =
                [("NX", &mut found.nx), ("XX", &mut found.xx), ("GT", &mut found.gt), ("LT", &mut found.lt)];
            match known.into_iter().find(|(word, _)| args.is(at, word)) {
                Some((_, flag)) => *flag = true,
                None => {
                    let option = quoted(args.bytes(at)?);
                    return Err(CommandError::other(format!("ERR Unsupported option {option}")));
                }
            }
        }
        if found.nx && (found.xx || found.gt || found.lt) {
            return Err(CommandError::EXPIRE_NX);
        }
        if found.gt && found.lt {
            return Err(CommandError::EXPIRE_GT_LT);
        }
        Ok(found)
    }

    pub fn admit(self, old: Option<i64>, new: i64) -> bool {
        // A key without an expiry counts as one that never ends.
        match old {
            None => !self.xx && !self.gt,
            Some(old) => !(self.nx || self.gt && new <= old || self.lt && new >= old),
        }
    }
}

fn expire(ctx: &mut Ctx<'_>, args: &Args<'_>, moment: Moment, name: &'static str) -> Answer {
    let key = args.bytes(1)?;
    let conditions = Conditions::read(args, 3..args.len())?;
    let number = args.integer(2)?;
    let new = moment.resolve(number, ctx.clock).ok_or(CommandError::ExpireTime { name })?;
    let Some(entry) = ctx.entry(key) else { return Ok(Reply::Integer(0)) };
    if !conditions.admit(entry.expires_ms.map(signed), new) {
        return Ok(Reply::Integer(0));
    }
    if new <= signed(ctx.clock.unix_ms()) {
        ctx.remove(key);
        #[cfg(feature = "live")]
        {
            ctx.keyspace.expired += 1;
        }
    } else {
        let db = ctx.db();
        ctx.keyspace.set_expiry(db, key, u64::try_from(new).ok());
    }
    Ok(Reply::Integer(1))
}

/// Rounded, for a time up to the last that there is.
pub(super) fn in_seconds(ms: i64) -> i64 {
    ms / 1000 + i64::from(ms % 1000 >= 500)
}

/// -2 for no key, -1 for a key without expiry, else what `show` makes of the expiry and the time, both in ms.
fn show(ctx: &mut Ctx<'_>, args: &Args<'_>, show: fn(i64, i64) -> i64) -> Answer {
    let shown = match ctx.entry(args.bytes(1)?).map(|entry| entry.expires_ms) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => show(signed(at), signed(ctx.clock.unix_ms())),
    };
    Ok(Reply::Integer(shown))
}

fn persist(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let had_expiry = ctx.entry(key).is_some_and(|entry| entry.expires_ms.is_some());
    if had_expiry {
        let db = ctx.db();
        ctx.keyspace.set_expiry(db, key, None);
    }
    Ok(Reply::Integer(had_expiry.into()))
}

/// Unix milliseconds fit an i64 for some 300 million years.
pub(super) fn signed(unix_ms: u64) -> i64 {
    i64::try_from(unix_ms).unwrap_or(i64::MAX)
}
