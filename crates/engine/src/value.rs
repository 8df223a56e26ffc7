//! The types of values. Plain structures that know no replies and no commands.

mod extended;
mod hash;
mod list;
mod number;
mod packed;
mod set;
mod zset;

pub use hash::Hash;
pub use list::List;
pub use set::Set;
pub use zset::Zset;

pub(crate) use extended::Extended;
pub(crate) use list::End;
pub(crate) use number::{integer_text, parse_float, parse_integer, score_text};
pub(crate) use zset::{LexBound, ScoreBound};

/// What a key can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    String(Vec<u8>),
    List(List),
    Set(Set),
    Zset(Zset),
    Hash(Hash),
}

impl Value {
    /// The name that `TYPE` answers.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::String(_) => "string",
            Value::List(_) => "list",
            Value::Set(_) => "set",
            Value::Zset(_) => "zset",
            Value::Hash(_) => "hash",
        }
    }

    /// The name that `OBJECT ENCODING` answers. Valkey chooses an encoding by size and content and, with few
    /// exceptions, never goes back to a smaller one; the structures here remember that much.
    pub fn encoding(&self) -> &'static str {
        match self {
            Value::String(bytes) => string_encoding(bytes),
            Value::List(list) => list.encoding(),
            Value::Set(set) => set.encoding(),
            Value::Zset(zset) => zset.encoding(),
            Value::Hash(hash) => hash.encoding(),
        }
    }

    /// Collections vanish with their last element; an empty string stays.
    pub(crate) fn is_empty_collection(&self) -> bool {
        match self {
            Value::String(_) => false,
            Value::List(list) => list.is_empty(),
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
kind!(List, List);
kind!(Set, Set);
kind!(Zset, Zset);
kind!(Hash, Hash);

/// Valkey embeds short strings in the object that holds them.
const EMBEDDED_BYTES: usize = 44;

fn string_encoding(bytes: &[u8]) -> &'static str {
    if parse_integer(bytes).is_some() {
        "int"
    } else if bytes.len() <= EMBEDDED_BYTES {
        "embstr"
    } else {
        "raw"
    }
}
