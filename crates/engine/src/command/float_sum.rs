//! The sums of INCRBYFLOAT and HINCRBYFLOAT, which Valkey makes and prints in extended precision.

use crate::error::CommandError;
use crate::value::Extended;

/// The text of `old` (0 when missing) plus `by`.
pub(super) fn float_sum(
    old: Option<&[u8]>,
    by: &[u8],
    old_invalid: CommandError,
) -> Result<Vec<u8>, CommandError> {
    let old = Extended::parse(old.unwrap_or(b"0")).ok_or(old_invalid)?;
    let by = Extended::parse(by).ok_or(CommandError::NotFloat)?;
    let sum = old.add(by).filter(|sum| sum.is_finite());
    sum.map(Extended::text).ok_or(CommandError::NAN_OR_INFINITY)
}

/// HINCRBYFLOAT refuses an increment that is no finite number before it looks at the hash.
pub(super) fn check_finite(by: &[u8]) -> Result<(), CommandError> {
    let by = Extended::parse(by).ok_or(CommandError::NotFloat)?;
    if by.is_finite() { Ok(()) } else { Err(CommandError::VALUE_NOT_FINITE) }
}
