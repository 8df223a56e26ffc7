//! LCS: the longest common subsequence of two strings, by the textbook table of lengths of all pairs of prefixes.

use super::keys::READ_1_2;
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::error::CommandError;
use crate::reply::Reply;

pub(super) const ROWS: &[Row] = &[data("lcs", -3, Flags::READONLY, READ_1_2, lcs)];

#[derive(Clone, Copy, Debug, Default)]
struct Options {
    len: bool,
    idx: bool,
    with_match_len: bool,
    min_match_len: usize,
}

impl Options {
    fn read(args: &Args<'_>) -> Result<Options, CommandError> {
        let mut options = Options::default();
        let mut at = 3;
        while at < args.len() {
            if args.is(at, "IDX") {
                options.idx = true;
            } else if args.is(at, "LEN") {
                options.len = true;
            } else if args.is(at, "WITHMATCHLEN") {
                options.with_match_len = true;
            } else if args.is_with_value(at, "MINMATCHLEN") {
                at += 1;
                // A negative one is none.
                options.min_match_len = usize::try_from(args.integer(at)?).unwrap_or(0);
            } else {
                return Err(CommandError::Syntax);
            }
            at += 1;
        }
        if options.len && options.idx { Err(CommandError::LCS_BOTH) } else { Ok(options) }
    }
}

/// The lengths for all pairs of prefixes, row by row.
struct Table<'a> {
    a: &'a [u8],
    b: &'a [u8],
    lengths: Vec<u32>,
}

impl<'a> Table<'a> {
    fn new(a: &'a [u8], b: &'a [u8]) -> Table<'a> {
        let width = b.len() + 1;
        let mut lengths = vec![0; (a.len() + 1) * width];
        for (row, x) in a.iter().enumerate() {
            for (column, y) in b.iter().enumerate() {
                let at = (row + 1) * width + column + 1;
                lengths[at] = if x == y {
                    lengths[at - width - 1] + 1
                } else {
                    lengths[at - width].max(lengths[at - 1])
                };
            }
        }
        Table { a, b, lengths }
    }

    fn length(&self, a_len: usize, b_len: usize) -> u32 {
        self.lengths.get(a_len * (self.b.len() + 1) + b_len).copied().unwrap_or(0)
    }

    /// The matches from the last to the first, each as the places of its first bytes and its length.
    fn matches(&self) -> Vec<(usize, usize, usize)> {
        let mut found: Vec<(usize, usize, usize)> = Vec::new();
        let (mut i, mut j) = (self.a.len(), self.b.len());
        while i > 0 && j > 0 {
            if self.a[i - 1] == self.b[j - 1] {
                match found.last_mut() {
                    Some((a, b, len)) if *a == i && *b == j => (*a, *b, *len) = (i - 1, j - 1, *len + 1),
                    _ => found.push((i - 1, j - 1, 1)),
                }
                i -= 1;
                j -= 1;
            } else if self.length(i - 1, j) > self.length(i, j - 1) {
                i -= 1;
            } else {
                j -= 1;
            }
        }
        found
    }
}

fn lcs(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let text = |at| match ctx.read::<Vec<u8>>(args.bytes(at)?) {
        Ok(text) => Ok(text.map(Vec::as_slice).unwrap_or_default()),
        Err(_) => Err(CommandError::LCS_TYPE),
    };
    let (a, b) = (text(1)?, text(2)?);
    let options = Options::read(args)?;
    let cells = (a.len() + 1).saturating_mul(b.len() + 1);
    if cells.saturating_mul(4) > ctx.config.limits.bulk_bytes {
        return Err(CommandError::LCS_MEMORY);
    }
    ctx.count_steps(a.len().saturating_mul(b.len()));
    let table = Table::new(a, b);
    let length = Reply::Integer(table.length(a.len(), b.len()).into());
    if options.len {
        return Ok(length);
    }
    let matches = table.matches();
    if !options.idx {
        let parts = matches.iter().rev().filter_map(|&(at, _, len)| a.get(at..at + len));
        return Ok(Reply::Bulk(parts.collect::<Vec<_>>().concat()));
    }
    let shown = matches.into_iter().filter(|(_, _, len)| *len >= options.min_match_len);
    let shown = shown.map(|(a, b, len)| {
        let range = |at: usize| Reply::Array(vec![Reply::integer(at), Reply::integer(at + len - 1)]);
        let mut parts = vec![range(a), range(b)];
        parts.extend(options.with_match_len.then(|| Reply::integer(len)));
        Reply::Array(parts)
    });
    let shown = Reply::Array(shown.collect());
    Ok(ctx.map(vec![(Reply::bulk("matches"), shown), (Reply::bulk("len"), length)]))
}
