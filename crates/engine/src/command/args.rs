//! Typed reading of argv.

use crate::clock::Clock;
use crate::engine::Version;
use crate::error::CommandError;
use crate::value::{parse_float, parse_hexadecimal, parse_integer};

/// The arguments of one call; index 0 is the command's name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args<'a> {
    argv: &'a [&'a [u8]],
    version: Version,
}

impl<'a> Args<'a> {
    /// `version` decides how numbers are read.
    pub fn new(argv: &'a [&'a [u8]], version: Version) -> Args<'a> {
        Args { argv, version }
    }

    pub fn is_8_0(&self) -> bool {
        self.version == Version::V8_0
    }

    pub fn len(&self) -> usize {
        self.argv.len()
    }

    /// The argument at `at`; a missing one is a syntax error.
    pub fn bytes(&self, at: usize) -> Result<&'a [u8], CommandError> {
        self.argv.get(at).copied().ok_or(CommandError::Syntax)
    }

    /// The arguments from `at` on.
    pub fn rest(&self, at: usize) -> &'a [&'a [u8]] {
        self.argv.get(at..).unwrap_or_default()
    }

    pub fn integer(&self, at: usize) -> Result<i64, CommandError> {
        parse_integer(self.bytes(at)?).ok_or(CommandError::NotInteger)
    }

    /// An integer that can be negated.
    pub fn signed(&self, at: usize) -> Result<i64, CommandError> {
        let n = self.integer(at)?;
        if n == i64::MIN { Err(CommandError::SIGNED_RANGE) } else { Ok(n) }
    }

    /// An integer that is not negative.
    pub fn positive(&self, at: usize) -> Result<usize, CommandError> {
        let n = self.integer(at).map_err(|_| CommandError::NOT_POSITIVE)?;
        usize::try_from(n).map_err(|_| CommandError::NOT_POSITIVE)
    }

    /// 8.0 reads hexadecimal numbers, too.
    pub fn float(&self, at: usize) -> Result<f64, CommandError> {
        let text = self.bytes(at)?;
        let hexadecimal = || parse_hexadecimal(text).filter(|_| self.is_8_0());
        parse_float(text).or_else(hexadecimal).ok_or(CommandError::NotFloat)
    }

    /// The argument at `at` is this word, in whatever case.
    pub fn is(&self, at: usize, word: &str) -> bool {
        self.argv.get(at).is_some_and(|arg| arg.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// As [`Args::is`] for an option that takes a value: the value must be there for the option to count.
    pub fn is_with_value(&self, at: usize, word: &str) -> bool {
        at + 1 < self.len() && self.is(at, word)
    }

    /// The `count` arguments from `at` on, if there are that many.
    pub fn slice(&self, at: usize, count: usize) -> Option<&'a [&'a [u8]]> {
        self.argv.get(at..at.checked_add(count)?)
    }
}

/// Positions from `start` to `end` as range commands take them (negative: from the end), cut to `len` elements.
pub(crate) fn index_range(start: i64, end: i64, len: usize) -> std::ops::Range<usize> {
    let len_signed = i64::try_from(len).unwrap_or(i64::MAX);
    let from_end = |at: i64| if at < 0 { at.saturating_add(len_signed) } else { at };
    let start = from_end(start).max(0);
    let end = from_end(end).min(len_signed - 1);
    if start > end {
        return 0..0;
    }
    let position = |at: i64| usize::try_from(at).unwrap_or(0);
    position(start)..position(end) + 1
}

/// When the waiting of a blocking command ends, in Unix milliseconds, from its timeout in seconds; `None` for never.
pub(crate) fn read_timeout(args: &Args<'_>, at: usize, now: Clock) -> Result<Option<u64>, CommandError> {
    let text = args.bytes(at)?;
    let seconds = parse_float(text).or_else(|| hexadecimal(text)).ok_or(CommandError::TIMEOUT_FLOAT)?;
    let timeout_ms = (seconds * 1000.0).ceil();
    if timeout_ms > i64::MAX as f64 {
        return Err(CommandError::TIMEOUT_RANGE);
    }
    if timeout_ms < 0.0 {
        return Err(CommandError::TIMEOUT_NEGATIVE);
    }
    deadline(timeout_ms as u64, now)
}

/// C's strtold, which reads timeouts, knows whole numbers in this form too.
fn hexadecimal(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X"))?;
    let digits = std::str::from_utf8(digits).ok()?;
    u64::from_str_radix(digits, 16).ok().map(|number| number as f64)
}

/// A timeout in whole milliseconds as the moment at which it ends; 0 never ends.
pub(crate) fn deadline(timeout_ms: u64, now: Clock) -> Result<Option<u64>, CommandError> {
    if timeout_ms == 0 {
        return Ok(None);
    }
    let until = now.unix_ms().checked_add(timeout_ms).filter(|until| i64::try_from(*until).is_ok());
    until.map(Some).ok_or(CommandError::TIMEOUT_RANGE)
}

/// A number of keys at `at` and the keys after it; and the place behind them.
pub(crate) fn counted_keys<'a>(args: &Args<'a>, at: usize) -> Result<(&'a [&'a [u8]], usize), CommandError> {
    let count = args.integer(at).ok().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
    let count = count.ok_or(CommandError::NUMKEYS_POSITIVE)?;
    let keys = args.slice(at + 1, count).ok_or(CommandError::Syntax)?;
    Ok((keys, at + 1 + count))
}

/// `COUNT n` at `at`, and nothing after it; 1 when it is not there.
pub(crate) fn pop_count(args: &Args<'_>, at: usize) -> Result<usize, CommandError> {
    if args.len() <= at {
        return Ok(1);
    }
    if !args.is_with_value(at, "COUNT") {
        return Err(CommandError::Syntax);
    }
    let count = args.integer(at + 1).ok().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
    let count = count.ok_or(CommandError::COUNT_POSITIVE)?;
    if args.len() > at + 2 { Err(CommandError::Syntax) } else { Ok(count) }
}

/// `LIMIT n` from `at` on; no limit is the largest one.
pub(crate) fn cardinality_limit(args: &Args<'_>, mut at: usize) -> Result<usize, CommandError> {
    let mut limit = 0;
    while at < args.len() {
        if !args.is_with_value(at, "LIMIT") {
            return Err(CommandError::Syntax);
        }
        limit = args.positive(at + 1).map_err(|_| CommandError::LIMIT_NEGATIVE)?;
        at += 2;
    }
    Ok(if limit == 0 { usize::MAX } else { limit })
}
