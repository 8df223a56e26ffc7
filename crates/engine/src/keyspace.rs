//! Databases of keys: lookup with lazy expiry, versions for WATCH, copies that cost a counter.
//!
//! A database is one shared map; a snapshot shares it and the first write after the snapshot copies the map (not the
//! values). An expired key is absent to every reader and is dropped when it is next written.

use std::hash::BuildHasherDefault;
use std::rc::Rc;

use indexmap::IndexMap;

use crate::clock::Clock;
use crate::value::Value;

/// Deterministic: no per-process seed, so that iteration is the same in every run.
pub(crate) type Hasher = BuildHasherDefault<rustc_hash::FxHasher>;

/// Counts writes; no two writes of one keyspace share a version.
pub(crate) type KeyVersion = u64;

/// What a key holds.
#[derive(Clone, Debug)]
pub struct Entry {
    pub value: Rc<Value>,
    /// Unix time in milliseconds after which the key is gone.
    pub expires_ms: Option<u64>,
    pub(crate) version: KeyVersion,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.expires_ms == other.expires_ms
            && (Rc::ptr_eq(&self.value, &other.value) || self.value == other.value)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Keyspace {
    databases: Vec<Rc<IndexMap<Rc<[u8]>, Entry, Hasher>>>,
    writes: KeyVersion,
}

impl Keyspace {
    /// The live entry of `key`.
    pub fn get(&self, db: usize, key: &[u8], now: Clock) -> Option<&Entry> {
        let entry = self.databases.get(db)?.get(key)?;
        match entry.expires_ms {
            Some(at) if now.unix_ms() >= at => None,
            _ => Some(entry),
        }
    }

    pub fn put(&mut self, db: usize, key: &[u8], value: Value, expires_ms: Option<u64>) {
        if self.databases.len() <= db {
            self.databases.resize_with(db + 1, Rc::default);
        }
        self.writes += 1;
        let entry = Entry { value: Rc::new(value), expires_ms, version: self.writes };
        Rc::make_mut(&mut self.databases[db]).insert(Rc::from(key), entry);
    }
}
