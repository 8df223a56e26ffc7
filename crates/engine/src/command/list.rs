//! Lists.
use super::{Args, Row};
use crate::error::CommandError;
use crate::value::parse_float;

pub(super) const ROWS: &[Row] = &[];

/// The timeout of a blocking command, in seconds; nothing waits here, but a wrong one is refused.
pub(super) fn read_timeout(args: &Args<'_>, at: usize) -> Result<(), CommandError> {
    let seconds =
        parse_float(args.bytes(at)?).filter(|x| x.is_finite()).ok_or(CommandError::TIMEOUT_FLOAT)?;
    if seconds < 0.0 { Err(CommandError::TIMEOUT_NEGATIVE) } else { Ok(()) }
}

/// A number of keys at `at` and the keys after it; and the place behind them.
pub(super) fn counted_keys<'a>(args: &Args<'a>, at: usize) -> Result<(&'a [&'a [u8]], usize), CommandError> {
    let count = args.integer(at).ok().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
    let count = count.ok_or(CommandError::NUMKEYS_POSITIVE)?;
    let keys = args.slice(at + 1, count).ok_or(CommandError::Syntax)?;
    Ok((keys, at + 1 + count))
}

/// `COUNT n` at `at`, and nothing after it; 1 when it is not there.
pub(super) fn pop_count(args: &Args<'_>, at: usize) -> Result<usize, CommandError> {
    match args.len().saturating_sub(at) {
        0 => Ok(1),
        2 if args.is(at, "COUNT") => {
            let count = args.integer(at + 1).ok().and_then(|n| usize::try_from(n).ok());
            count.filter(|&n| n > 0).ok_or(CommandError::COUNT_POSITIVE)
        }
        _ => Err(CommandError::Syntax),
    }
}
