//! Values in the form of RDB files, as DUMP and FUNCTION DUMP hand them out and RESTORE takes them.
//!
//! A payload is what an RDB file has for the value ([`write`], [`read`]), the number of the format in two bytes, and
//! the CRC-64 of all that. Bytes are those of a server, but where its choice depends on the past of a value (how a
//! long list is cut into nodes) or on the order of a hash table.

mod listpack;
mod lzf;
mod read;
mod write;

use crate::engine::Version;
use crate::error::CommandError;
use crate::value::Value;

pub(crate) use read::Reader;
pub(crate) use write::Writer;

const CRC: crc::Crc<u64> = crc::Crc::<u64>::new(&crc::CRC_64_REDIS);
const CHECKSUM_BYTES: usize = 8;

/// What the types of values are called in a payload.
mod kind {
    pub const STRING: u8 = 0;
    pub const LIST: u8 = 1;
    pub const SET: u8 = 2;
    pub const ZSET_TEXT: u8 = 3;
    pub const HASH: u8 = 4;
    pub const ZSET: u8 = 5;
    pub const SET_INTSET: u8 = 11;
    pub const HASH_LISTPACK: u8 = 16;
    pub const ZSET_LISTPACK: u8 = 17;
    pub const LIST_QUICKLIST: u8 = 18;
    pub const SET_LISTPACK: u8 = 20;
    /// With an expiry for each field, or [`super::NO_EXPIRY`].
    pub const HASH_EXPIRING: u8 = 22;
    /// The source of a library of functions.
    pub const FUNCTION: u8 = 245;
}

/// How a length or a string begins: two bits, or a whole byte where the string is packed.
mod length {
    pub const IN_14_BITS: u8 = 0x40;
    pub const IN_32_BITS: u8 = 0x80;
    pub const IN_64_BITS: u8 = 0x81;
    pub const INT_8: u8 = 0xc0;
    pub const INT_16: u8 = 0xc1;
    pub const INT_32: u8 = 0xc2;
    pub const LZF: u8 = 0xc3;
}

const NO_EXPIRY: i64 = -1;

/// The node of a quicklist that holds one large element, and the one that is a listpack.
const PLAIN_NODE: u64 = 1;
const PACKED_NODE: u64 = 2;

/// The number of the format that a release writes.
const fn format(version: Version) -> u16 {
    match version {
        Version::V8_0 => 11,
        Version::V9_1 => 80,
    }
}

/// The numbers that others gave their own formats after Valkey had gone its way.
const FOREIGN: std::ops::RangeInclusive<u16> = 12..=79;

/// The payload of `value`.
pub(crate) fn dump(value: &Value, version: Version) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.value(value);
    seal(writer, version)
}

/// The value of a payload.
///
/// # Errors
/// When the payload is damaged, of a later format, or of something that the engine has not.
pub(crate) fn restore(payload: &[u8], version: Version, limit_bytes: usize) -> Result<Value, CommandError> {
    let body = open(payload, version)?;
    Reader::new(body, limit_bytes).value().ok_or(CommandError::RESTORE_FORMAT)
}

/// What was written, with the number of the format and the checksum.
pub(crate) fn seal(writer: Writer, version: Version) -> Vec<u8> {
    let mut payload = writer.into_bytes();
    payload.extend_from_slice(&format(version).to_le_bytes());
    payload.extend_from_slice(&CRC.checksum(&payload).to_le_bytes());
    payload
}

/// What a payload holds before its format and checksum, which are right.
pub(crate) fn open(payload: &[u8], version: Version) -> Result<&[u8], CommandError> {
    let (signed, checksum) =
        payload.split_last_chunk::<CHECKSUM_BYTES>().ok_or(CommandError::RESTORE_CHECKSUM)?;
    let (body, number) = signed.split_last_chunk::<2>().ok_or(CommandError::RESTORE_CHECKSUM)?;
    let number = u16::from_le_bytes(*number);
    let readable = number <= format(version) && !FOREIGN.contains(&number);
    if readable && CRC.checksum(signed) == u64::from_le_bytes(*checksum) {
        Ok(body)
    } else {
        Err(CommandError::RESTORE_CHECKSUM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{End, Hash, List, Set, Zset, integer_text};
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Texts that compress, texts that do not, and integers of every size.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            vec(0_u8..3, 0..200),
            vec(any::<u8>(), 0..80),
            any::<i64>().prop_map(integer_text),
            (0_u32..63).prop_map(|bits| integer_text(1 << bits)),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let list = vec(text(), 1..400).prop_map(|items| {
            let mut list = List::default();
            items.iter().for_each(|item| list.push(End::Right, item));
            Value::List(list)
        });
        let set = vec(text(), 1..300).prop_map(|members| {
            let mut set = Set::default();
            for member in &members {
                set.insert(member);
            }
            Value::Set(set)
        });
        let zset = vec((text(), any::<i32>()), 1..300).prop_map(|members| {
            let mut zset = Zset::default();
            for (member, score) in &members {
                zset.insert(member, f64::from(*score) / 8.0);
            }
            Value::Zset(zset)
        });
        let hash = vec((text(), text(), any::<Option<u32>>()), 1..200).prop_map(|fields| {
            let mut hash = Hash::default();
            for (field, value, expiry) in &fields {
                hash.set(field, value);
                hash.set_expiry(field, expiry.map(u64::from));
            }
            Value::Hash(hash)
        });
        prop_oneof![text().prop_map(Value::String), list, set, zset, hash]
    }

    /// Seals a body that need not be one.
    fn sealed(body: &[u8]) -> Vec<u8> {
        let mut payload = [body, &format(Version::V9_1).to_le_bytes()].concat();
        payload.extend_from_slice(&CRC.checksum(&payload).to_le_bytes());
        payload
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn what_was_dumped_is_restored(value in value()) {
            for version in [Version::V8_0, Version::V9_1] {
                let payload = dump(&value, version);
                prop_assert_eq!(&restore(&payload, version, 1 << 20), &Ok(value.clone()));
            }
        }

        #[test]
        fn a_damaged_payload_is_an_error_or_a_value(value in value(), at: prop::sample::Index, byte: u8, cut: bool) {
            let payload = dump(&value, Version::V9_1);
            let mut body = payload[..payload.len() - 10].to_vec();
            let at = at.index(body.len());
            body[at] = byte;
            if cut {
                body.truncate(at);
            }
            let _ = restore(&sealed(&body), Version::V9_1, 1 << 20);
        }

        #[test]
        fn any_bytes_are_an_error_or_a_value(body: Vec<u8>) {
            let _ = restore(&sealed(&body), Version::V9_1, 1 << 20);
        }
    }
}
