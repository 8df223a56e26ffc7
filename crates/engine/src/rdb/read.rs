//! Values out of the form of RDB files. What is damaged, or more than the engine takes, is `None`.

use super::{NO_EXPIRY, PACKED_NODE, PLAIN_NODE, kind, length, listpack, lzf};
use crate::value::{End, Hash, List, Set, Value, Zset, integer_text, parse_float};

#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    /// The longest string.
    limit_bytes: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], limit_bytes: usize) -> Reader<'a> {
        Reader { bytes, limit_bytes }
    }

    /// The value that the bytes begin with; a server looks at no more.
    pub fn value(&mut self) -> Option<Value> {
        let value = match self.byte()? {
            kind::STRING => Value::String(self.string()?),
            kind::LIST => self.list(Reader::element)?,
            kind::LIST_QUICKLIST => self.list(Reader::node)?,
            kind::SET => self.set()?,
            kind::SET_INTSET => intset(&self.string()?)?,
            kind::SET_LISTPACK => set(listpack::read(&self.string()?)?)?,
            kind::ZSET_TEXT => self.zset(Reader::score_text)?,
            kind::ZSET => self.zset(Reader::score)?,
            kind::ZSET_LISTPACK => zset(&listpack::read(&self.string()?)?)?,
            kind::HASH => self.hash()?,
            kind::HASH_EXPIRING => self.expiring_hash()?,
            kind::HASH_LISTPACK => hash(&listpack::read(&self.string()?)?)?,
            _ => return None,
        };
        (!value.is_empty_collection()).then_some(value)
    }

    pub fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The source of a library of functions; `None` in a payload of anything else.
    #[cfg(feature = "functions")]
    pub fn function(&mut self) -> Option<Option<Vec<u8>>> {
        if self.byte()? == kind::FUNCTION { self.string().map(Some) } else { Some(None) }
    }

    fn list(&mut self, items: fn(&mut Self) -> Option<Vec<Vec<u8>>>) -> Option<Value> {
        let mut list = List::default();
        for _ in 0..self.length()? {
            items(self)?.iter().for_each(|item| list.push(End::Right, item));
        }
        Some(Value::List(list))
    }

    fn element(&mut self) -> Option<Vec<Vec<u8>>> {
        self.string().map(|item| vec![item])
    }

    fn node(&mut self) -> Option<Vec<Vec<u8>>> {
        match self.length()? {
            PLAIN_NODE => self.element(),
            PACKED_NODE => listpack::read(&self.string()?),
            _ => None,
        }
    }

    fn set(&mut self) -> Option<Value> {
        let len = self.length()?;
        set((0..len).map_while(|_| self.string()).collect::<Vec<_>>())
            .filter(|value| matches!(value, Value::Set(set) if set.len() as u64 == len))
    }

    fn zset(&mut self, score: fn(&mut Self) -> Option<f64>) -> Option<Value> {
        let mut zset = Zset::default();
        for _ in 0..self.length()? {
            let member = self.string()?;
            let score = score(self).filter(|score| !score.is_nan())?;
            if zset.insert(&member, score).is_some() {
                return None;
            }
        }
        Some(Value::Zset(zset))
    }

    fn score(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    /// A length and as many digits, or one of three marks.
    fn score_text(&mut self) -> Option<f64> {
        match self.byte()? {
            255 => Some(f64::NEG_INFINITY),
            254 => Some(f64::INFINITY),
            253 => None,
            len => parse_float(self.slice(len.into())?),
        }
    }

    fn hash(&mut self) -> Option<Value> {
        let mut hash = Hash::default();
        for _ in 0..self.length()? {
            let field = self.string()?;
            if !hash.set(&field, &self.string()?) {
                return None;
            }
        }
        Some(Value::Hash(hash))
    }

    fn expiring_hash(&mut self) -> Option<Value> {
        let mut hash = Hash::default();
        for _ in 0..self.length()? {
            let field = self.string()?;
            if !hash.set(&field, &self.string()?) {
                return None;
            }
            match i64::from_le_bytes(self.take()?) {
                NO_EXPIRY => hash.widen(),
                at => hash.set_expiry(&field, Some(u64::try_from(at).ok()?)),
            }
        }
        Some(Value::Hash(hash))
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        match *self.bytes.first()? {
            length::INT_8 => self.tagged().map(|[n]| integer_text(i8::from_le_bytes([n]).into())),
            length::INT_16 => self.tagged().map(|n| integer_text(i16::from_le_bytes(n).into())),
            length::INT_32 => self.tagged().map(|n| integer_text(i32::from_le_bytes(n).into())),
            length::LZF => {
                self.byte()?;
                let packed = self.size()?;
                let whole = self.size().filter(|&whole| whole <= self.limit_bytes)?;
                lzf::decompress(self.slice(packed)?, whole)
            }
            _ => {
                let len = self.size()?;
                self.slice(len).filter(|_| len <= self.limit_bytes).map(<[u8]>::to_vec)
            }
        }
    }

    /// What follows a byte that was looked at.
    fn tagged<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.byte()?;
        self.take()
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.length()?).ok()
    }

    fn length(&mut self) -> Option<u64> {
        let first = self.byte()?;
        match first & 0xc0 {
            0 => Some(first.into()),
            length::IN_14_BITS => Some(u64::from(first & 0x3f) << 8 | u64::from(self.byte()?)),
            _ if first == length::IN_32_BITS => self.take().map(|n| u32::from_be_bytes(n).into()),
            _ if first == length::IN_64_BITS => self.take().map(u64::from_be_bytes),
            _ => None,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        self.take().map(|[byte]| byte)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*taken)
    }

    fn slice(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(taken)
    }
}

fn set(members: Vec<Vec<u8>>) -> Option<Value> {
    let mut set = Set::default();
    members.iter().all(|member| set.insert(member)).then_some(Value::Set(set))
}

fn intset(bytes: &[u8]) -> Option<Value> {
    let (width, rest) = bytes.split_first_chunk()?;
    let (len, rest) = rest.split_first_chunk()?;
    let width = u32::from_le_bytes(*width);
    if !matches!(width, 2 | 4 | 8)
        || rest.len() as u64 != u64::from(width) * u64::from(u32::from_le_bytes(*len))
    {
        return None;
    }
    let integers = rest.chunks_exact(width as usize).map(|bytes| integer_text(listpack::signed(bytes)));
    set(integers.collect())
}

fn zset(items: &[Vec<u8>]) -> Option<Value> {
    let mut zset = Zset::default();
    for pair in items.chunks(2) {
        let [member, score] = pair else { return None };
        if zset.insert(member, parse_float(score)?).is_some() {
            return None;
        }
    }
    Some(Value::Zset(zset))
}

fn hash(items: &[Vec<u8>]) -> Option<Value> {
    let mut hash = Hash::default();
    for pair in items.chunks(2) {
        let [field, value] = pair else { return None };
        if !hash.set(field, value) {
            return None;
        }
    }
    Some(Value::Hash(hash))
}
