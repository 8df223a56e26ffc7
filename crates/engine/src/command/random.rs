//! What the commands that choose members at random share. The choice is a fixed sequence (see
//! [`Keyspace::random_below`]), so only its form, not its members, is what a server would answer.

use super::Args;
use crate::error::CommandError;
use crate::keyspace::Keyspace;
use crate::reply::Reply;

/// How many choices with repetition one call may make. A server makes any number, at the cost of its memory.
const MAX_REPETITIONS: i64 = 1 << 20;

/// A count: positive for different members, negative for that many choices with repetition.
pub(super) fn random_count(args: &Args<'_>, at: usize) -> Result<i64, CommandError> {
    let count = args.integer(at)?;
    if count == i64::MIN {
        return Err(CommandError::SIGNED_RANGE);
    }
    if count < -MAX_REPETITIONS { Err(CommandError::OUT_OF_RANGE) } else { Ok(count) }
}

/// The positions chosen among `len`.
pub(super) fn choose(keyspace: &mut Keyspace, len: usize, count: i64) -> Vec<usize> {
    if len == 0 {
        return Vec::new();
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if count < 0 {
        return (0..wanted).map(|_| keyspace.random_below(len)).collect();
    }
    if wanted >= len {
        return (0..len).collect();
    }
    // The first steps of a Fisher-Yates shuffle.
    let mut positions: Vec<usize> = (0..len).collect();
    for at in 0..wanted {
        let other = at + keyspace.random_below(len - at);
        positions.swap(at, other);
    }
    positions.truncate(wanted);
    positions
}

/// A name with what belongs to it: side by side in RESP2, as a pair in RESP3.
pub(super) fn push_pair(items: &mut Vec<Reply>, name: Reply, second: Option<Reply>, resp3: bool) {
    match second {
        Some(second) if resp3 => items.push(Reply::Array(vec![name, second])),
        Some(second) => items.extend([name, second]),
        None => items.push(name),
    }
}
