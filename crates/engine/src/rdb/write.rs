//! Values into the form of RDB files.

use super::{NO_EXPIRY, PACKED_NODE, PLAIN_NODE, kind, length, listpack, lzf};
use crate::value::{Hash, List, Set, Value, Zset, parse_integer, score_text};

#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

/// Only a string longer than this is compressed.
const COMPRESSED_BYTES: usize = 20;
/// An integer that could be longer than this in decimal is not looked for.
const INTEGER_BYTES: usize = 11;
/// What one node of a quicklist may take, and what Valkey adds for an element whose size it does not know yet.
const NODE_BYTES: usize = 8192;
const NODE_SLACK_BYTES: usize = 8;

impl Writer {
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub fn value(&mut self, value: &Value) {
        match value {
            Value::String(bytes) => {
                self.bytes.push(kind::STRING);
                self.string(bytes);
            }
            Value::List(list) => self.list(list),
            Value::Set(set) => self.set(set),
            Value::Zset(zset) => self.zset(zset),
            Value::Hash(hash) => self.hash(hash),
        }
    }

    /// The source of a library of functions.
    #[cfg(feature = "functions")]
    pub fn function(&mut self, code: &[u8]) {
        self.bytes.push(kind::FUNCTION);
        self.string(code);
    }

    fn list(&mut self, list: &List) {
        self.bytes.push(kind::LIST_QUICKLIST);
        let mut nodes = vec![Vec::new()];
        let (mut bytes, mut slack) = (listpack::HEAD_BYTES + 1, 0);
        for item in list.iter() {
            if bytes + item.len() + slack > NODE_BYTES {
                nodes.push(Vec::new());
                // A listpack that becomes the first node of a quicklist is filled further than the later ones.
                (bytes, slack) = (listpack::HEAD_BYTES + 1, NODE_SLACK_BYTES);
            }
            bytes += listpack::entry_bytes(item);
            if let Some(node) = nodes.last_mut() {
                node.push(item);
            }
        }
        nodes.retain(|node| !node.is_empty());
        self.length(nodes.len() as u64);
        for node in nodes {
            match node.as_slice() {
                [item] if item.len() > NODE_BYTES => {
                    self.length(PLAIN_NODE);
                    self.string(item);
                }
                items => {
                    self.length(PACKED_NODE);
                    self.string(&listpack::write(items.iter().copied()));
                }
            }
        }
    }

    fn set(&mut self, set: &Set) {
        match set.encoding() {
            "intset" => {
                self.bytes.push(kind::SET_INTSET);
                self.string(&intset(set));
            }
            "listpack" => {
                let members: Vec<_> = set.iter().collect();
                self.bytes.push(kind::SET_LISTPACK);
                self.string(&listpack::write(members.iter().map(|member| &**member)));
            }
            _ => {
                self.bytes.push(kind::SET);
                self.length(set.len() as u64);
                set.iter().for_each(|member| self.string(&member));
            }
        }
    }

    fn zset(&mut self, zset: &Zset) {
        if zset.encoding() == "listpack" {
            let scores: Vec<String> = zset.iter().map(|(_, score)| score_text(score)).collect();
            let items = zset.iter().zip(&scores).flat_map(|((member, _), score)| [member, score.as_bytes()]);
            self.bytes.push(kind::ZSET_LISTPACK);
            self.string(&listpack::write(items));
            return;
        }
        self.bytes.push(kind::ZSET);
        self.length(zset.len() as u64);
        // From the last to the first: so they are quickest to insert.
        for (member, score) in zset.iter().rev() {
            self.string(member);
            self.bytes.extend_from_slice(&score.to_le_bytes());
        }
    }

    fn hash(&mut self, hash: &Hash) {
        if hash.encoding() == "listpack" {
            self.bytes.push(kind::HASH_LISTPACK);
            self.string(&listpack::write(hash.iter().flat_map(<[&[u8]; 2]>::from)));
            return;
        }
        let expiring = hash.next_expiry().is_some();
        self.bytes.push(if expiring { kind::HASH_EXPIRING } else { kind::HASH });
        self.length(hash.len() as u64);
        for (field, value) in hash.iter() {
            self.string(field);
            self.string(value);
            if expiring {
                let at = hash.expiry(field).and_then(|at| i64::try_from(at).ok()).unwrap_or(NO_EXPIRY);
                self.bytes.extend_from_slice(&at.to_le_bytes());
            }
        }
    }

    /// A string in the shortest of its forms: as an integer, compressed, or as it is.
    fn string(&mut self, text: &[u8]) {
        if text.len() <= INTEGER_BYTES
            && let Some(n) = parse_integer(text)
            && self.integer(n)
        {
            return;
        }
        // Compression must save the bytes that say that there is one.
        if text.len() > COMPRESSED_BYTES
            && let Some(packed) = lzf::compress(text, text.len() - 4)
        {
            self.bytes.push(length::LZF);
            self.length(packed.len() as u64);
            self.length(text.len() as u64);
            self.bytes.extend_from_slice(&packed);
            return;
        }
        self.length(text.len() as u64);
        self.bytes.extend_from_slice(text);
    }

    /// False for an integer that needs more than four bytes.
    fn integer(&mut self, n: i64) -> bool {
        if let Ok(n) = i8::try_from(n) {
            self.bytes.push(length::INT_8);
            self.bytes.extend_from_slice(&n.to_le_bytes());
        } else if let Ok(n) = i16::try_from(n) {
            self.bytes.push(length::INT_16);
            self.bytes.extend_from_slice(&n.to_le_bytes());
        } else if let Ok(n) = i32::try_from(n) {
            self.bytes.push(length::INT_32);
            self.bytes.extend_from_slice(&n.to_le_bytes());
        } else {
            return false;
        }
        true
    }

    fn length(&mut self, n: u64) {
        if let Ok(n) = u8::try_from(n)
            && n < length::IN_14_BITS
        {
            self.bytes.push(n);
        } else if let Ok(n) = u16::try_from(n)
            && n < 1 << 14
        {
            self.bytes.extend_from_slice(&(n | u16::from(length::IN_14_BITS) << 8).to_be_bytes());
        } else if let Ok(n) = u32::try_from(n) {
            self.bytes.push(length::IN_32_BITS);
            self.bytes.extend_from_slice(&n.to_be_bytes());
        } else {
            self.bytes.push(length::IN_64_BITS);
            self.bytes.extend_from_slice(&n.to_be_bytes());
        }
    }
}

/// The width of the integers, their number, and the integers in ascending order.
fn intset(set: &Set) -> Vec<u8> {
    let integers: Vec<i64> = set.iter().filter_map(|member| parse_integer(&member)).collect();
    let fits = |least: i64, most: i64| integers.iter().all(|n| (least..=most).contains(n));
    let width = if fits(i16::MIN.into(), i16::MAX.into()) {
        2
    } else if fits(i32::MIN.into(), i32::MAX.into()) {
        4
    } else {
        8
    };
    let mut bytes = u32::to_le_bytes(width).to_vec();
    bytes.extend_from_slice(&u32::try_from(integers.len()).unwrap_or(u32::MAX).to_le_bytes());
    for n in integers {
        bytes.extend(n.to_le_bytes().into_iter().take(width as usize));
    }
    bytes
}
