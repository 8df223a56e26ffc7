//! Hashes. A small one is a [`Packed`] block, a large one an ordered map; both keep the order of insertion, also
//! over deletions, for as long as Valkey's listpack would (512 fields of 64 bytes). After that Valkey's order is
//! that of its hash table, which nobody can rely on, and here a deletion moves the last field into the gap.

use indexmap::IndexMap;

use super::packed::{Packed, Pairs};
use crate::keyspace::Hasher;

/// Valkey's hash-max-listpack-entries and hash-max-listpack-value.
const LISTPACK_FIELDS: usize = 512;
const LISTPACK_BYTES: usize = 64;

/// From here on a map is quicker than a search from the front.
const PACKED_FIELDS: usize = 24;

#[derive(Clone, Debug, Default)]
pub struct Hash {
    fields: Fields,
    /// Has outgrown the listpack once.
    wide: bool,
    /// Unix time in milliseconds from which on a field is gone; most hashes have none.
    #[cfg(feature = "field-expiry")]
    expiries: Option<Box<Expiries>>,
}

#[cfg(feature = "field-expiry")]
type Expiries = IndexMap<Box<[u8]>, u64, Hasher>;

type Map = IndexMap<Box<[u8]>, Vec<u8>, Hasher>;

#[derive(Clone, Debug)]
enum Fields {
    Packed(Packed),
    Map(Box<Map>),
}

impl Default for Fields {
    fn default() -> Fields {
        Fields::Packed(Packed::default())
    }
}

impl Hash {
    pub fn len(&self) -> usize {
        match &self.fields {
            Fields::Packed(packed) => packed.len(),
            Fields::Map(map) => map.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, field: &[u8]) -> Option<&[u8]> {
        match &self.fields {
            Fields::Packed(packed) => packed.get(field),
            Fields::Map(map) => map.get(field).map(Vec::as_slice),
        }
    }

    /// Fields and values in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(match &self.fields {
            Fields::Packed(packed) => Inner::Packed(packed.iter()),
            Fields::Map(map) => Inner::Map(map.iter()),
        })
    }

    /// Gives the field a value and takes its expiry; true when the field is new.
    pub fn set(&mut self, field: &[u8], value: &[u8]) -> bool {
        #[cfg(feature = "field-expiry")]
        self.set_expiry(field, None);
        self.update(field, value)
    }

    /// As [`Hash::set`]; the field keeps its expiry.
    pub(crate) fn update(&mut self, field: &[u8], value: &[u8]) -> bool {
        self.wide |= field.len() > LISTPACK_BYTES || value.len() > LISTPACK_BYTES;
        let new = match &mut self.fields {
            Fields::Packed(packed) => {
                let new = !packed.replace(field, value);
                if new {
                    packed.push(field, value);
                }
                new
            }
            Fields::Map(map) => match map.get_mut(field) {
                Some(old) => {
                    value.clone_into(old);
                    false
                }
                None => map.insert(field.into(), value.to_vec()).is_none(),
            },
        };
        if new {
            self.grown();
        }
        new
    }

    pub fn remove(&mut self, field: &[u8]) -> bool {
        #[cfg(feature = "field-expiry")]
        self.set_expiry(field, None);
        match &mut self.fields {
            Fields::Packed(packed) => packed.remove(field),
            Fields::Map(map) if self.wide => map.swap_remove(field).is_some(),
            Fields::Map(map) => map.shift_remove(field).is_some(),
        }
    }

    /// The pair at `at` in order.
    pub fn pair_at(&self, at: usize) -> Option<(&[u8], &[u8])> {
        match &self.fields {
            Fields::Packed(packed) => packed.iter().nth(at),
            Fields::Map(map) => map.get_index(at).map(|(field, value)| (&**field, value.as_slice())),
        }
    }

    pub(crate) fn encoding(&self) -> &'static str {
        if self.wide { "hashtable" } else { "listpack" }
    }

    /// When the field is gone, in Unix milliseconds.
    #[cfg(feature = "field-expiry")]
    pub fn expiry(&self, field: &[u8]) -> Option<u64> {
        self.expiries.as_ref()?.get(field).copied()
    }

    /// Sets or clears the expiry of a field that exists.
    #[cfg(feature = "field-expiry")]
    pub(crate) fn set_expiry(&mut self, field: &[u8], unix_ms: Option<u64>) {
        if let Some(at) = unix_ms {
            self.wide = true;
            self.expiries.get_or_insert_default().insert(field.into(), at);
        } else if let Some(expiries) = &mut self.expiries {
            expiries.swap_remove(field);
            if expiries.is_empty() {
                self.expiries = None;
            }
        }
    }

    /// The earliest moment at which a field goes; `None` when none does.
    #[cfg(feature = "field-expiry")]
    pub(crate) fn next_expiry(&self) -> Option<u64> {
        self.expiries.as_ref()?.values().copied().min()
    }

    /// Removes the fields that are gone at `now_ms`.
    #[cfg(feature = "field-expiry")]
    pub(crate) fn drop_expired(&mut self, now_ms: u64) {
        let expiries = self.expiries.as_ref();
        let due = expiries.into_iter().flat_map(|expiries| expiries.iter());
        let due: Vec<Box<[u8]>> =
            due.filter(|(_, at)| **at <= now_ms).map(|(field, _)| field.clone()).collect();
        for field in due {
            self.remove(&field);
        }
    }

    #[cfg(feature = "field-expiry")]
    fn expires_like(&self, other: &Hash) -> bool {
        self.expiries == other.expiries
    }

    #[cfg(not(feature = "field-expiry"))]
    fn expires_like(&self, _other: &Hash) -> bool {
        true
    }

    /// Leaves the listpack, as a hash with expiries has.
    #[cfg(feature = "field-expiry")]
    pub(crate) fn widen(&mut self) {
        self.wide = true;
    }

    fn grown(&mut self) {
        let len = self.len();
        self.wide |= len > LISTPACK_FIELDS;
        if let Fields::Packed(packed) = &self.fields
            && len > PACKED_FIELDS
        {
            let map: Map = packed.iter().map(|(field, value)| (field.into(), value.to_vec())).collect();
            self.fields = Fields::Map(Box::new(map));
        }
    }
}

/// Equal when they map the same fields to the same values with the same expiry, in whatever order.
impl PartialEq for Hash {
    fn eq(&self, other: &Hash) -> bool {
        self.len() == other.len()
            && self.expires_like(other)
            && self.iter().all(|(field, value)| other.get(field) == Some(value))
    }
}

#[derive(Clone, Debug)]
pub struct Iter<'a>(Inner<'a>);

#[derive(Clone, Debug)]
enum Inner<'a> {
    Packed(Pairs<'a>),
    Map(indexmap::map::Iter<'a, Box<[u8]>, Vec<u8>>),
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Inner::Packed(pairs) => pairs.next(),
            Inner::Map(pairs) => pairs.next().map(|(field, value)| (&**field, value.as_slice())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packed form and the map keep one order, and the same answers, over the change from one to the other.
    #[test]
    fn order_of_insertion_survives_growth_and_deletion() {
        let mut hash = Hash::default();
        let name = |n: usize| format!("field{n}").into_bytes();
        for n in 0..100 {
            assert!(hash.set(&name(n), b"x"));
            if n % 3 == 0 {
                assert!(hash.remove(&name(n)));
            } else {
                assert!(!hash.set(&name(n), n.to_string().as_bytes()));
            }
        }
        let fields: Vec<Vec<u8>> = hash.iter().map(|(field, _)| field.to_vec()).collect();
        let expected: Vec<Vec<u8>> = (0..100).filter(|n| n % 3 != 0).map(name).collect();
        assert_eq!(fields, expected);
        assert_eq!(hash.get(b"field98"), Some(b"98".as_slice()));
        assert_eq!(hash.get(b"field99"), None);
    }
}
