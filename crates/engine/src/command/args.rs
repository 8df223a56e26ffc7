//! Typed reading of argv.

use crate::error::CommandError;
use crate::value::{parse_float, parse_integer};

/// The arguments of one call; index 0 is the command's name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args<'a> {
    argv: &'a [&'a [u8]],
}

impl<'a> Args<'a> {
    pub fn new(argv: &'a [&'a [u8]]) -> Args<'a> {
        Args { argv }
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

    /// An integer that is not negative.
    pub fn positive(&self, at: usize) -> Result<usize, CommandError> {
        let n = self.integer(at).map_err(|_| CommandError::NOT_POSITIVE)?;
        usize::try_from(n).map_err(|_| CommandError::NOT_POSITIVE)
    }

    pub fn float(&self, at: usize) -> Result<f64, CommandError> {
        parse_float(self.bytes(at)?).ok_or(CommandError::NotFloat)
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
