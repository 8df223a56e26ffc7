//! Listpacks: many short strings in one block, integers among them in as few bytes as they need.
//!
//! The block begins with its size in bytes and its number of entries; each entry is a byte or more that say what it
//! is, the entry, and its length again, so that a reader can go backwards; the block ends with 0xff.

use crate::value::{integer_text, parse_integer};

pub(super) const HEAD_BYTES: usize = 6;
const END: u8 = 0xff;
/// Stands for a number of entries that two bytes do not hold.
const MANY: u16 = u16::MAX;

pub(super) fn write<'a>(items: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes = vec![0; HEAD_BYTES];
    let mut count = 0_usize;
    for item in items {
        let start = bytes.len();
        match parse_integer(item) {
            Some(n) => integer(&mut bytes, n),
            None => string(&mut bytes, item),
        }
        let len = bytes.len() - start;
        way_back(&mut bytes, len);
        count += 1;
    }
    bytes.push(END);
    let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let count = u16::try_from(count).unwrap_or(MANY);
    for (place, byte) in bytes.iter_mut().zip(size.to_le_bytes().into_iter().chain(count.to_le_bytes())) {
        *place = byte;
    }
    bytes
}

/// What an entry takes in a block.
pub(super) fn entry_bytes(item: &[u8]) -> usize {
    write(std::iter::once(item)).len() - HEAD_BYTES - 1
}

fn integer(bytes: &mut Vec<u8>, n: i64) {
    let low = n.to_le_bytes();
    let (tag, len) = match n {
        0..=127 => return bytes.push(low[0]),
        -4096..=4095 => return bytes.extend([0xc0 | low[1] & 0x1f, low[0]]),
        -0x8000..=0x7fff => (0xf1, 2),
        -0x80_0000..=0x7f_ffff => (0xf2, 3),
        -0x8000_0000..=0x7fff_ffff => (0xf3, 4),
        _ => (0xf4, 8),
    };
    bytes.push(tag);
    bytes.extend(low.into_iter().take(len));
}

fn string(bytes: &mut Vec<u8>, text: &[u8]) {
    let len = u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes();
    match text.len() {
        0..64 => bytes.push(0x80 | len[0]),
        64..4096 => bytes.extend([0xe0 | len[1], len[0]]),
        _ => {
            bytes.push(0xf0);
            bytes.extend(len);
        }
    }
    bytes.extend_from_slice(text);
}

/// The length of an entry in groups of seven bits, the highest first; all but the first have the high bit.
fn way_back(bytes: &mut Vec<u8>, len: usize) {
    for group in (0..way_back_bytes(len)).rev() {
        let bits = (len >> (7 * group) & 0x7f) as u8;
        bytes.push(if group + 1 == way_back_bytes(len) { bits } else { bits | 0x80 });
    }
}

fn way_back_bytes(len: usize) -> usize {
    // A group is full before its last number: the limits are one less than powers of two.
    match len {
        0..=127 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    }
}

/// The entries as texts; `None` when the block is not whole.
pub(super) fn read(block: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (head, mut rest) = block.split_at_checked(HEAD_BYTES)?;
    let size = u32::from_le_bytes(head.get(..4)?.try_into().ok()?);
    let count = u16::from_le_bytes(head.get(4..)?.try_into().ok()?);
    if size as usize != block.len() {
        return None;
    }
    let mut items = Vec::new();
    while *rest.first()? != END {
        let (item, len) = entry(rest)?;
        items.push(item);
        rest = rest.get(len + way_back_bytes(len)..)?;
    }
    let counted = count == MANY || usize::from(count) == items.len();
    (rest.len() == 1 && counted).then_some(items)
}

/// The first entry, and how many bytes it takes without the way back.
fn entry(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let first = *bytes.first()?;
    let string = |head: usize, len: usize| {
        bytes.get(head..head.checked_add(len)?).map(|text| (text.to_vec(), head + len))
    };
    let integer = |len: usize| bytes.get(1..=len).map(|low| (integer_text(signed(low)), 1 + len));
    let second = bytes.get(1).copied().map(usize::from);
    match first {
        0..=0x7f => Some((integer_text(first.into()), 1)),
        0x80..=0xbf => string(1, usize::from(first & 0x3f)),
        0xc0..=0xdf => {
            let bits = i64::try_from(usize::from(first & 0x1f) << 8 | second?).ok()?;
            Some((integer_text(if bits < 4096 { bits } else { bits - 8192 }), 2))
        }
        0xe0..=0xef => string(2, usize::from(first & 0x0f) << 8 | second?),
        0xf0 => string(5, u32::from_le_bytes(bytes.get(1..5)?.try_into().ok()?) as usize),
        0xf1 => integer(2),
        0xf2 => integer(3),
        0xf3 => integer(4),
        0xf4 => integer(8),
        _ => None,
    }
}

/// A signed integer of up to eight bytes, the lowest first.
pub(super) fn signed(low: &[u8]) -> i64 {
    let negative = low.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut bytes = [if negative { 0xff } else { 0 }; 8];
    for (place, byte) in bytes.iter_mut().zip(low) {
        *place = *byte;
    }
    i64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let lengths = [0, 1, 63, 64, 127, 128, 4095, 4096, 16_382, 16_383, 70_000];
        let mut items: Vec<Vec<u8>> = lengths.map(|len| b"x".repeat(len)).to_vec();
        for bit in 0..63 {
            for n in [1_i64 << bit, (1 << bit) - 1, -(1 << bit), -(1 << bit) - 1] {
                items.push(integer_text(n));
            }
        }
        items.push(integer_text(i64::MIN));
        let block = write(items.iter().map(Vec::as_slice));
        assert_eq!(read(&block), Some(items));
        for end in 0..block.len() {
            assert_eq!(read(&block[..end]), None, "cut at {end}");
        }
    }
}
