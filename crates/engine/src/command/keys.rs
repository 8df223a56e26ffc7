//! Where the keys of a call are: for the tracer, for the law of declared keys, and for `COMMAND GETKEYS`.
//!
//! A command has one specification per group of keys, as in Valkey's `key-specs`.

use super::Row;
use crate::value::parse_integer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeySpec {
    pub place: Place,
    /// The command may write these keys.
    pub write: bool,
}

/// Positions count from the command's name, which is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// From `first` in steps of `step`; `last` counts from `first`, or from the end of argv when negative.
    Range { first: usize, last: i32, step: usize },
    /// A number at `at`, and that many keys after it in steps of `step`.
    Counted { at: usize, step: usize },
    /// Behind the last STORE among the options of SORT.
    #[cfg(feature = "sort")]
    BehindStore,
}

const fn range(first: usize, last: i32, step: usize, write: bool) -> KeySpec {
    KeySpec { place: Place::Range { first, last, step }, write }
}

const fn counted(at: usize, write: bool) -> KeySpec {
    KeySpec { place: Place::Counted { at, step: 1 }, write }
}

pub(super) const NONE: &[KeySpec] = &[];
pub(super) const READ_1: &[KeySpec] = &[range(1, 0, 1, false)];
pub(super) const READ_1_2: &[KeySpec] = &[range(1, 1, 1, false)];
pub(super) const READ_2: &[KeySpec] = &[range(2, 0, 1, false)];
pub(super) const READ_ALL: &[KeySpec] = &[range(1, -1, 1, false)];
pub(super) const READ_COUNTED_1: &[KeySpec] = &[counted(1, false)];
pub(super) const READ_COUNTED_2: &[KeySpec] = &[counted(2, false)];
pub(super) const WRITE_1: &[KeySpec] = &[range(1, 0, 1, true)];
pub(super) const WRITE_ALL: &[KeySpec] = &[range(1, -1, 1, true)];
pub(super) const WRITE_ALL_BUT_LAST: &[KeySpec] = &[range(1, -2, 1, true)];
pub(super) const WRITE_PAIRS: &[KeySpec] = &[range(1, -1, 2, true)];
pub(super) const WRITE_1_WRITE_2: &[KeySpec] = &[range(1, 0, 1, true), range(2, 0, 1, true)];
pub(super) const READ_1_WRITE_2: &[KeySpec] = &[range(1, 0, 1, false), range(2, 0, 1, true)];
pub(super) const WRITE_1_READ_2: &[KeySpec] = &[range(1, 0, 1, true), range(2, 0, 1, false)];
pub(super) const WRITE_1_READ_REST: &[KeySpec] = &[range(1, 0, 1, true), range(2, -1, 1, false)];
pub(super) const WRITE_1_READ_COUNTED: &[KeySpec] = &[range(1, 0, 1, true), counted(2, false)];
pub(super) const WRITE_COUNTED_PAIRS: &[KeySpec] =
    &[KeySpec { place: Place::Counted { at: 1, step: 2 }, write: true }];
pub(super) const WRITE_COUNTED_1: &[KeySpec] = &[counted(1, true)];
pub(super) const WRITE_COUNTED_2: &[KeySpec] = &[counted(2, true)];

/// The keys that BY and GET lead to depend on the data, so nobody can name them.
#[cfg(feature = "sort")]
pub(super) const SORT: &[KeySpec] =
    &[range(1, 0, 1, false), KeySpec { place: Place::BehindStore, write: true }];

/// The positions in argv of the keys of a call, each with whether the command may write it. A call whose count of
/// keys makes no sense has none.
pub(crate) fn keys_of(row: &Row, argv: &[&[u8]]) -> Vec<(usize, bool)> {
    let mut keys = Vec::new();
    for spec in row.keys {
        let (first, end, step) = match spec.place {
            Place::Range { first, last, step } => (first, range_end(first, last, argv.len()), step),
            Place::Counted { at, step } => {
                let count = argv.get(at).and_then(|text| parse_integer(text));
                let count = count.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
                let end = count.saturating_mul(step).saturating_add(at + 1);
                if end > argv.len() {
                    continue;
                }
                (at + 1, end, step)
            }
            #[cfg(feature = "sort")]
            Place::BehindStore => match behind_store(argv) {
                Some(at) => (at, at + 1, 1),
                None => continue,
            },
        };
        keys.extend((first..end).step_by(step.max(1)).map(|at| (at, spec.write)));
    }
    keys
}

#[cfg(feature = "sort")]
fn behind_store(argv: &[&[u8]]) -> Option<usize> {
    let is = |at: usize, word: &[u8]| argv.get(at).is_some_and(|arg: &&[u8]| arg.eq_ignore_ascii_case(word));
    let mut found = None;
    let mut at = 2;
    while at < argv.len() {
        if is(at, b"STORE") && at + 1 < argv.len() {
            found = Some(at + 1);
        }
        at += if is(at, b"LIMIT") {
            3
        } else if is(at, b"GET") || is(at, b"BY") {
            2
        } else {
            1
        };
    }
    found
}

/// One past the last key of a range, inside argv.
fn range_end(first: usize, last: i32, len: usize) -> usize {
    let distance = usize::try_from(last.unsigned_abs()).unwrap_or(usize::MAX);
    if last < 0 { (len + 1).saturating_sub(distance) } else { (first + distance + 1).min(len) }
}

/// The three numbers that `COMMAND INFO` has for a command whose keys are one range: first, last, step.
pub(super) fn legacy_range(specs: &[KeySpec]) -> (i64, i64, i64) {
    let mut whole: Option<(i64, i64, i64)> = None;
    for spec in specs {
        let Place::Range { first, last, step } = spec.place else { continue };
        let first = i64::try_from(first).unwrap_or(0);
        let last = if last < 0 { i64::from(last) } else { first + i64::from(last) };
        let step = i64::try_from(step).unwrap_or(1);
        whole = Some(match whole {
            None => (first, last, step),
            Some((start, end, _)) if end + 1 == first => (start, last, 1),
            Some(other) => other,
        });
    }
    whole.unwrap_or((0, 0, 0))
}
