//! DUMP and RESTORE: values in the form of RDB files.

use super::keys::{READ_1, WRITE_1};
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::rdb;
use crate::reply::Reply;

pub(super) const ROWS: &[Row] =
    &[data("dump", 2, Flags::READONLY, READ_1, dump), data("restore", -4, Flags::GROW, WRITE_1, restore)];

fn dump(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let entry = ctx.entry(args.bytes(1)?);
    Ok(entry.map_or(Reply::Nil, |entry| Reply::Bulk(rdb::dump(&entry.value, ctx.config.version))))
}

#[derive(Default)]
struct Options {
    replace: bool,
    absolute: bool,
}

impl Options {
    /// What eviction would go by is checked, and that is all.
    fn read(args: &Args<'_>) -> Result<Options, CommandError> {
        let mut options = Options::default();
        let (mut idle, mut frequency) = (false, false);
        let mut at = 4;
        while at < args.len() {
            if args.is(at, "REPLACE") {
                options.replace = true;
            } else if args.is(at, "ABSTTL") {
                options.absolute = true;
            } else if args.is_with_value(at, "IDLETIME") && !frequency {
                at += 1;
                idle = true;
                if args.integer(at)? < 0 {
                    return Err(CommandError::RESTORE_IDLETIME);
                }
            } else if args.is_with_value(at, "FREQ") && !idle {
                at += 1;
                frequency = true;
                if !(0..=255).contains(&args.integer(at)?) {
                    return Err(CommandError::RESTORE_FREQ);
                }
            } else {
                return Err(CommandError::Syntax);
            }
            at += 1;
        }
        Ok(options)
    }
}

fn restore(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let key = args.bytes(1)?;
    let options = Options::read(args)?;
    if !options.replace && ctx.entry(key).is_some() {
        return Err(CommandError::BUSY_KEY);
    }
    let ttl = u64::try_from(args.integer(2)?).map_err(|_| CommandError::RESTORE_TTL)?;
    let limit_bytes = ctx.config.limits.bulk_bytes;
    let value = rdb::restore(args.bytes(3)?, ctx.config.version, limit_bytes)?;
    let now = ctx.clock.unix_ms();
    let expires_ms = match ttl {
        0 => None,
        at if options.absolute => Some(at),
        ttl => Some(now.saturating_add(ttl)),
    };
    if expires_ms.is_some_and(|at| at <= now) {
        ctx.remove(key);
    } else {
        let db = ctx.db();
        ctx.keyspace.put(db, key, value, expires_ms);
    }
    Ok(Reply::OK)
}
