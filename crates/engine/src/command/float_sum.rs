//! The sums of INCRBYFLOAT and HINCRBYFLOAT, which Valkey makes and prints in extended precision.

use crate::error::CommandError;
use crate::value::{parse_float, score_text};

/// The text of `old` (0 when missing) plus `by`.
pub(super) fn float_sum(
    old: Option<&[u8]>,
    by: &[u8],
    old_invalid: CommandError,
    not_finite: CommandError,
) -> Result<Vec<u8>, CommandError> {
    let old = match old {
        Some(text) => parse_float(text).ok_or(old_invalid)?,
        None => 0.0,
    };
    let sum = old + parse_float(by).ok_or(CommandError::NotFloat)?;
    if sum.is_finite() { Ok(score_text(sum).into_bytes()) } else { Err(not_finite) }
}

/// HINCRBYFLOAT refuses an infinite increment before it looks at the hash.
pub(super) fn check_finite(by: &[u8]) -> Result<(), CommandError> {
    match parse_float(by) {
        Some(x) if x.is_infinite() => Err(CommandError::VALUE_NOT_FINITE),
        _ => Ok(()),
    }
}
