//! What the commands that choose members at random share. The choice is a fixed sequence (see
//! [`Keyspace::random_below`]), so only its form, not its members, is what a server would answer.

use super::Args;
use crate::error::CommandError;
use crate::keyspace::Keyspace;
use crate::reply::Reply;

/// How many choices with repetition one call may make. A server makes any number, at the cost of its memory.
const MAX_REPETITIONS: i64 = 1 << 20;

/// A count (positive for different members, negative for that many choices with repetition), and whether `word` after
/// it asks for what belongs to each name, which takes up half of the range.
pub(super) fn count_and_word(args: &Args<'_>, word: &str) -> Result<(i64, bool), CommandError> {
    let count = args.signed(2)?;
    let with = match args.len() {
        3 => false,
        4 if args.is(3, word) => true,
        _ => return Err(CommandError::Syntax),
    };
    let is_half = (-i64::MAX / 2..=i64::MAX / 2).contains(&count);
    if with && !is_half { Err(CommandError::OUT_OF_RANGE) } else { Ok((count, with)) }
}

/// The positions chosen among `len`.
pub(super) fn choose(keyspace: &mut Keyspace, len: usize, count: i64) -> Result<Vec<usize>, CommandError> {
    if len == 0 {
        return Ok(Vec::new());
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if count < -MAX_REPETITIONS {
        return Err(CommandError::OUT_OF_RANGE);
    }
    if count < 0 {
        return Ok((0..wanted).map(|_| keyspace.random_below(len)).collect());
    }
    if wanted >= len {
        return Ok((0..len).collect());
    }
    // The first steps of a Fisher-Yates shuffle.
    let mut positions: Vec<usize> = (0..len).collect();
    for at in 0..wanted {
        let other = at + keyspace.random_below(len - at);
        positions.swap(at, other);
    }
    positions.truncate(wanted);
    Ok(positions)
}

/// A name with what belongs to it: side by side in RESP2, as a pair in RESP3.
pub(super) fn push_pair(items: &mut Vec<Reply>, name: Reply, second: Option<Reply>, resp3: bool) {
    match second {
        Some(second) if resp3 => items.push(Reply::Array(vec![name, second])),
        Some(second) => items.extend([name, second]),
        None => items.push(name),
    }
}
