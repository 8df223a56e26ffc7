//! The types of values. Plain structures that know no replies and no commands.

mod extended;
mod hash;
#[cfg(feature = "list")]
mod list;
mod natural;
mod number;
mod packed;
#[cfg(feature = "set")]
mod set;
mod shortest;
mod zset;

pub use hash::Hash;
#[cfg(feature = "list")]
pub use list::List;
#[cfg(feature = "set")]
pub use set::Set;
pub use zset::Zset;

pub(crate) use extended::Extended;
#[cfg(feature = "list")]
pub(crate) use list::End;
pub(crate) use number::{
    integer_text, parse_decimal, parse_float, parse_hexadecimal, parse_integer, score_text, shortest_text,
};
pub(crate) use zset::{LexBound, ScoreBound};

/// What a key can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    String(Vec<u8>),
    #[cfg(feature = "list")]
    List(List),
    #[cfg(feature = "set")]
    Set(Set),
    Zset(Zset),
    Hash(Hash),
}

impl Value {
    /// The name that `TYPE` answers.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::String(_) => "string",
            #[cfg(feature = "list")]
            Value::List(_) => "list",
            #[cfg(feature = "set")]
            Value::Set(_) => "set",
            Value::Zset(_) => "zset",
            Value::Hash(_) => "hash",
        }
    }

    /// The name that `OBJECT ENCODING` answers. Valkey chooses an encoding by size and content and, with few
    /// exceptions, never goes back to a smaller one; the structures here remember that much. For a string it
    /// depends on what shares its memory block, the key and the expiry, and here, other than there, not on its
    /// past: what APPEND and SETRANGE wrote is `raw` on a server.
    pub(crate) fn encoding(&self, key: &[u8], has_expiry: bool) -> &'static str {
        match self {
            Value::String(bytes) => string_encoding(bytes, key.len() + if has_expiry { 8 } else { 0 }),
            #[cfg(feature = "list")]
            Value::List(list) => list.encoding(),
            #[cfg(feature = "set")]
            Value::Set(set) => set.encoding(),
            Value::Zset(zset) => zset.encoding(),
            Value::Hash(hash) => hash.encoding(),
        }
    }

    /// Collections vanish with their last element; an empty string stays.
    pub(crate) fn is_empty_collection(&self) -> bool {
        match self {
            Value::String(_) => false,
            #[cfg(feature = "list")]
            Value::List(list) => list.is_empty(),
            #[cfg(feature = "set")]
            Value::Set(set) => set.is_empty(),
            Value::Zset(zset) => zset.is_empty(),
            Value::Hash(hash) => hash.is_empty(),
        }
    }
}

/// A type that a [`Value`] can hold, for the typed look-ups of the keyspace.
pub(crate) trait Kind: Sized {
    fn of(value: &Value) -> Option<&Self>;
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
    /// An empty one.
    fn empty() -> Value;
}

macro_rules! kind {
    ($type:ty, $variant:ident) => {
        impl Kind for $type {
            fn of(value: &Value) -> Option<&Self> {
                if let Value::$variant(inner) = value { Some(inner) } else { None }
            }

            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                if let Value::$variant(inner) = value { Some(inner) } else { None }
            }

            fn empty() -> Value {
                Value::$variant(Default::default())
            }
        }
    };
}

kind!(Vec<u8>, String);
#[cfg(feature = "list")]
kind!(List, List);
#[cfg(feature = "set")]
kind!(Set, Set);
kind!(Zset, Zset);
kind!(Hash, Hash);

/// What fits two cache lines with the headers of object, key and value (9.1; release 8.0 embeds 44 bytes).
const EMBEDDED_BYTES: usize = 113;

fn string_encoding(bytes: &[u8], beside_bytes: usize) -> &'static str {
    if parse_integer(bytes).is_some() {
        "int"
    } else if bytes.len() + beside_bytes <= EMBEDDED_BYTES {
        "embstr"
    } else {
        "raw"
    }
}
