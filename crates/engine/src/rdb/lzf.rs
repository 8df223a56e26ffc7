//! LZF, the compression of strings in RDB files. The crate for it is no longer kept, and the bytes must be those of the
//! server's own compressor, which is LibLZF with a table of 65,536 places.
//!
//! A packed string is a row of runs and references. A run is its length less one, below 32, and that many bytes. A
//! reference is three bits with its length less two (7: a further byte is to be added), thirteen bits with how far
//! back it begins, less one.

const MAX_RUN: usize = 32;
const MAX_BACK: usize = 1 << 13;
const MAX_REFERENCE: usize = (1 << 8) + (1 << 3);
const TABLE_BITS: u32 = 16;

/// Packs `text` into at most `limit` bytes; `None` when that cannot be done.
pub(super) fn compress(text: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut packer = Packer { out: Vec::with_capacity(limit), limit, run_at: None };
    // One more than the place where three bytes with this hash were last seen.
    let mut table = vec![0_u32; 1 << TABLE_BITS];
    let mut at = 0;
    while at + 2 < text.len() {
        let slot = &mut table[slot(&text[at..])];
        let seen = *slot as usize;
        *slot = u32::try_from(at).ok()? + 1;
        // The very first place is never referred to.
        let earlier = seen.checked_sub(1).filter(|&earlier| earlier > 0 && at - earlier <= MAX_BACK);
        let Some(earlier) = earlier.filter(|&earlier| text[earlier..earlier + 3] == text[at..at + 3]) else {
            packer.literal(text[at])?;
            at += 1;
            continue;
        };
        // The last two bytes are never part of a longer one.
        let most = (text.len() - at - 2).min(MAX_REFERENCE);
        let len = same(&text[earlier..], &text[at..], most);
        packer.reference(at - earlier - 1, len)?;
        at += len;
        if at + 2 >= text.len() {
            break;
        }
        // The last two places inside what was referred to are remembered, the others are not.
        for inside in [at - 2, at - 1] {
            table[self::slot(&text[inside..])] = u32::try_from(inside).ok()? + 1;
        }
    }
    packer.finish(text.get(at..)?)
}

/// Where three bytes are looked up.
fn slot(bytes: &[u8]) -> usize {
    let hash = u32::from(bytes[0]) << 16 | u32::from(bytes[1]) << 8 | u32::from(bytes[2]);
    let slot = (hash >> (24 - TABLE_BITS)).wrapping_sub(hash.wrapping_mul(5));
    (slot & ((1 << TABLE_BITS) - 1)) as usize
}

/// How many bytes are the same, at least three and at most `most`.
fn same(earlier: &[u8], now: &[u8], most: usize) -> usize {
    let differs = |at: &usize| earlier.get(*at) != now.get(*at);
    (3..most).find(differs).unwrap_or(most.max(3))
}

struct Packer {
    out: Vec<u8>,
    limit: usize,
    /// Where the length of the run that is open stands.
    run_at: Option<usize>,
}

impl Packer {
    fn literal(&mut self, byte: u8) -> Option<()> {
        let run_at = *self.run_at.get_or_insert_with(|| {
            self.out.push(0);
            self.out.len() - 1
        });
        if self.out.len() >= self.limit {
            return None;
        }
        self.out.push(byte);
        let len = self.out.len() - run_at - 1;
        *self.out.get_mut(run_at)? = u8::try_from(len - 1).ok()?;
        if len == MAX_RUN {
            self.run_at = None;
        }
        Some(())
    }

    fn reference(&mut self, back: usize, len: usize) -> Option<()> {
        // The server leaves room for the longest form and for the length of a run behind it.
        if self.out.len() + 4 >= self.limit {
            return None;
        }
        self.run_at = None;
        let [low, high, ..] = back.to_le_bytes();
        let len = len - 2;
        if len < 7 {
            self.out.push(high | u8::try_from(len).ok()? << 5);
        } else {
            self.out.extend([high | 7 << 5, u8::try_from(len - 7).ok()?]);
        }
        self.out.push(low);
        Some(())
    }

    fn finish(mut self, rest: &[u8]) -> Option<Vec<u8>> {
        let open = usize::from(self.run_at.is_none());
        if self.out.len() + open + 3 > self.limit {
            return None;
        }
        self.limit = usize::MAX;
        for byte in rest {
            self.literal(*byte)?;
        }
        Some(self.out)
    }
}

/// Unpacks into exactly `len` bytes; `None` for anything else.
pub(super) fn decompress(mut packed: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(len);
    while let Some((&first, rest)) = packed.split_first() {
        packed = rest;
        let first = usize::from(first);
        if first < MAX_RUN {
            let (run, rest) = packed.split_at_checked(first + 1)?;
            text.extend_from_slice(run);
            packed = rest;
        } else {
            let mut count = first >> 5;
            if count == 7 {
                count += usize::from(next(&mut packed)?);
            }
            let back = ((first & 0x1f) << 8 | usize::from(next(&mut packed)?)) + 1;
            let start = text.len().checked_sub(back)?;
            if text.len() + count + 2 > len {
                return None;
            }
            // One by one, for a reference may reach into what it makes.
            for at in start..start + count + 2 {
                text.push(*text.get(at)?);
            }
        }
        if text.len() > len {
            return None;
        }
    }
    (text.len() == len).then_some(text)
}

fn next(bytes: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_packed_is_unpacked(text in proptest::collection::vec(0_u8..4, 0..3000)) {
            if let Some(packed) = compress(&text, text.len().saturating_sub(4)) {
                prop_assert!(packed.len() + 4 <= text.len());
                prop_assert_eq!(decompress(&packed, text.len()), Some(text));
            }
        }

        #[test]
        fn what_is_no_packed_string_is_refused(bytes: Vec<u8>, len in 0_usize..1000) {
            if let Some(text) = decompress(&bytes, len) {
                prop_assert_eq!(text.len(), len);
            }
        }
    }
}
