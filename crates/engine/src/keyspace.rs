//! Databases of keys: typed look-up with lazy expiry, versions for WATCH, copies that cost a counter.
//!
//! A database is one shared map; a snapshot shares it and the first write after the snapshot copies the map (not
//! the values), and a value is copied when it is first written while shared. An expired key is absent to every
//! reader and is dropped when it is next written; nothing is dropped in the background, and counts leave such keys
//! out.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::rc::Rc;

use indexmap::IndexMap;

use crate::clock::Clock;
use crate::error::CommandError;
#[cfg(feature = "field-expiry")]
use crate::value::Hash;
use crate::value::{Kind, Value};

/// Deterministic: no per-process seed, so that iteration is the same in every run.
pub(crate) type Hasher = BuildHasherDefault<rustc_hash::FxHasher>;

/// Counts writes; no two writes of one keyspace share a version.
pub(crate) type KeyVersion = u64;

/// Marks the state of an absent key, for its last deletion and its last write are counted by one counter.
const ABSENT: KeyVersion = 1 << 63;

/// Valkey's default number of databases.
pub(crate) const DATABASES: usize = 16;

/// What a key holds.
#[derive(Clone, Debug)]
pub struct Entry {
    pub value: Rc<Value>,
    /// Unix time in milliseconds from which on the key is gone.
    pub expires_ms: Option<u64>,
    pub(crate) version: KeyVersion,
}

impl Entry {
    pub(crate) fn is_live(&self, now: Clock) -> bool {
        self.expires_ms.is_none_or(|at| now.unix_ms() < at)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.expires_ms == other.expires_ms
            && (Rc::ptr_eq(&self.value, &other.value) || self.value == other.value)
    }
}

type Deletions = IndexMap<(usize, Rc<[u8]>), KeyVersion, Hasher>;
type Database = IndexMap<Rc<[u8]>, Entry, Hasher>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Keyspace {
    databases: Vec<Rc<Database>>,
    writes: KeyVersion,
    /// The last deletion of each key that was ever watched, for a key that came and went has been touched.
    deleted: Rc<Deletions>,
    /// Advanced by each random choice.
    random: u64,
    /// No field of a hash goes before this moment, in Unix milliseconds.
    #[cfg(feature = "field-expiry")]
    next_field_ms: u64,
    /// How many keys went because of their expiry.
    #[cfg(feature = "live")]
    pub expired: u64,
    /// Where [`Keyspace::collect`] goes on.
    #[cfg(feature = "live")]
    collected: usize,
    /// Somebody waits for a key.
    #[cfg(feature = "live")]
    pub awaited: bool,
    /// The keys that came while somebody waited, in order.
    #[cfg(feature = "live")]
    pub ready: Vec<(usize, Rc<[u8]>)>,
}

impl Keyspace {
    /// The live entry of `key`.
    pub fn get(&self, db: usize, key: &[u8], now: Clock) -> Option<&Entry> {
        self.databases.get(db)?.get(key).filter(|entry| entry.is_live(now))
    }

    /// The live value of `key` if it has the type asked for.
    pub fn read<K: Kind>(&self, db: usize, key: &[u8], now: Clock) -> Result<Option<&K>, CommandError> {
        match self.get(db, key, now) {
            Some(entry) => K::of(&entry.value).map(Some).ok_or(CommandError::WrongType),
            None => Ok(None),
        }
    }

    /// As [`Keyspace::read`], for a change in place. Call [`Keyspace::settle`] afterwards.
    pub fn write<K: Kind>(
        &mut self,
        db: usize,
        key: &[u8],
        now: Clock,
    ) -> Result<Option<&mut K>, CommandError> {
        let found = self.databases.get(db).and_then(|database| database.get_full(key));
        let Some((at, _, entry)) = found else { return Ok(None) };
        if !entry.is_live(now) {
            self.remove(db, key);
            #[cfg(feature = "live")]
            {
                self.expired += 1;
            }
            return Ok(None);
        }
        if K::of(&entry.value).is_none() {
            return Err(CommandError::WrongType);
        }
        let entry = self.databases.get_mut(db).and_then(|database| Rc::make_mut(database).get_index_mut(at));
        Ok(entry.and_then(|(_, entry)| K::of_mut(Rc::make_mut(&mut entry.value))))
    }

    /// As [`Keyspace::write`]; a missing key begins as an empty value of the type.
    pub fn create<K: Kind>(&mut self, db: usize, key: &[u8], now: Clock) -> Result<&mut K, CommandError> {
        if self.write::<K>(db, key, now)?.is_none() {
            self.put(db, key, K::empty(), None);
        }
        self.write::<K>(db, key, now)?.ok_or(CommandError::WrongType)
    }

    /// Ends a change in place: counts it if there was one, and removes a collection that is empty now.
    pub fn settle(&mut self, db: usize, key: &[u8], changed: bool) {
        let version = self.writes + 1;
        let Some(database) = self.databases.get_mut(db) else { return };
        let Some((at, _, entry)) = database.get_full(key) else { return };
        if entry.value.is_empty_collection() {
            self.remove(db, key);
        } else if changed {
            if let Some((_, entry)) = Rc::make_mut(database).get_index_mut(at) {
                entry.version = version;
                #[cfg(feature = "field-expiry")]
                note_field_expiry(&mut self.next_field_ms, &entry.value);
            }
            self.writes = version;
        }
    }

    pub fn put(&mut self, db: usize, key: &[u8], value: Value, expires_ms: Option<u64>) {
        self.put_shared(db, key, Rc::new(value), expires_ms);
    }

    pub fn put_shared(&mut self, db: usize, key: &[u8], value: Rc<Value>, expires_ms: Option<u64>) {
        self.writes += 1;
        let version = self.writes;
        #[cfg(feature = "field-expiry")]
        note_field_expiry(&mut self.next_field_ms, &value);
        let entry = Entry { value, expires_ms, version };
        #[cfg(feature = "live")]
        if self.awaited {
            self.ready.push((db, Rc::from(key)));
        }
        let database = self.database_mut(db);
        match database.get_mut(key) {
            Some(old) => *old = entry,
            None => {
                database.insert(Rc::from(key), entry);
            }
        }
    }

    /// Removes the fields of hashes that are gone. The keys are searched only when there can be one.
    #[cfg(feature = "field-expiry")]
    pub fn drop_expired_fields(&mut self, now: Clock) {
        let now_ms = now.unix_ms();
        if now_ms < self.next_field_ms {
            return;
        }
        self.next_field_ms = u64::MAX;
        for db in 0..self.databases.len() {
            let mut due = Vec::new();
            for (key, entry) in self.databases.get(db).into_iter().flat_map(|database| database.iter()) {
                match &*entry.value {
                    Value::Hash(hash) if hash.next_expiry().is_some_and(|at| at <= now_ms) => {
                        due.push(Rc::clone(key));
                    }
                    value => note_field_expiry(&mut self.next_field_ms, value),
                }
            }
            for key in due {
                if let Ok(Some(hash)) = self.write::<Hash>(db, &key, now) {
                    hash.drop_expired(now_ms);
                }
                self.settle(db, &key, true);
            }
        }
    }

    /// Sets or clears the expiry of a key that exists.
    pub fn set_expiry(&mut self, db: usize, key: &[u8], expires_ms: Option<u64>) {
        self.writes += 1;
        let version = self.writes;
        if let Some(entry) = self.database_mut(db).get_mut(key) {
            entry.expires_ms = expires_ms;
            entry.version = version;
        }
    }

    /// Removes `key`, live or expired.
    pub fn remove(&mut self, db: usize, key: &[u8]) -> Option<Entry> {
        let database = self.databases.get_mut(db)?;
        if !database.contains_key(key) {
            return None;
        }
        let entry = Rc::make_mut(database).swap_remove(key);
        self.writes += 1;
        self.note_deletion(db, key);
        entry
    }

    /// Removes `key` if it is live.
    pub fn remove_live(&mut self, db: usize, key: &[u8], now: Clock) -> Option<Entry> {
        self.remove(db, key).filter(|entry| entry.is_live(now))
    }

    /// The live keys in a fixed order: that of insertion, but a deletion moves the last key into the gap.
    pub fn iter(&self, db: usize, now: Clock) -> impl Iterator<Item = (&Rc<[u8]>, &Entry)> {
        let entries = self.databases.get(db).into_iter().flat_map(|database| database.iter());
        entries.filter(move |(_, entry)| entry.is_live(now))
    }

    pub fn len(&self, db: usize, now: Clock) -> usize {
        self.iter(db, now).count()
    }

    /// How many keys there are, live or expired.
    pub fn size(&self, db: usize) -> usize {
        self.databases.get(db).map_or(0, |database| database.len())
    }

    pub fn clear(&mut self, db: usize) {
        let Some(database) = self.databases.get_mut(db) else { return };
        let emptied = std::mem::take(database);
        self.writes += 1;
        for key in emptied.keys() {
            self.note_deletion(db, key);
        }
    }

    pub fn clear_all(&mut self) {
        for db in 0..self.databases.len() {
            self.clear(db);
        }
    }

    /// Exchanges two databases. Every key of both counts as written.
    pub fn swap(&mut self, first: usize, second: usize) {
        self.database_mut(first.max(second));
        self.databases.swap(first, second);
        for db in [first, second] {
            self.writes += 1;
            let version = self.writes;
            for entry in self.database_mut(db).values_mut() {
                entry.version = version;
            }
            let other = if db == first { second } else { first };
            let keys: Vec<Rc<[u8]>> = self.database_mut(db).keys().cloned().collect();
            for key in keys {
                self.note_deletion(other, &key);
                #[cfg(feature = "live")]
                if self.awaited {
                    self.ready.push((db, key));
                }
            }
        }
    }

    /// Begins to watch `key`: the state that [`Keyspace::state_of`] then answers changes with each write.
    pub fn watch(&mut self, db: usize, key: &[u8], now: Clock) -> KeyVersion {
        let writes = self.writes;
        Rc::make_mut(&mut self.deleted).entry((db, Rc::from(key))).or_insert(writes);
        self.state_of(db, key, now)
    }

    /// A number that is different after every change of a watched key.
    pub fn state_of(&self, db: usize, key: &[u8], now: Clock) -> KeyVersion {
        match self.get(db, key, now) {
            Some(entry) => entry.version,
            None => ABSENT | self.deleted.get(&(db, Rc::from(key))).copied().unwrap_or(0),
        }
    }

    /// Drops expired keys, looking at no more than `limit` keys of each database, and on from there the next time; how
    /// many there were.
    #[cfg(feature = "live")]
    pub fn collect(&mut self, now: Clock, limit: usize) -> usize {
        let mut found = 0;
        for db in 0..self.databases.len() {
            let Some(database) = self.databases.get(db) else { continue };
            let len = database.len();
            let start = if self.collected < len { self.collected } else { 0 };
            let expired: Vec<Rc<[u8]>> = (start..len.min(start + limit))
                .filter_map(|at| database.get_index(at))
                .filter(|(_, entry)| !entry.is_live(now))
                .map(|(key, _)| Rc::clone(key))
                .collect();
            self.expired += expired.len() as u64;
            found += expired.len();
            for key in expired {
                self.remove(db, &key);
            }
        }
        let longest = self.databases.iter().map(|database| database.len()).max().unwrap_or(0);
        self.collected = if self.collected + limit < longest { self.collected + limit } else { 0 };
        found
    }

    /// A number below `bound` (which is not 0) for the commands that choose at random. The sequence is a fixed
    /// one, part of every snapshot, so that a run can be repeated.
    pub fn random_below(&mut self, bound: usize) -> usize {
        // SplitMix64, by Steele, Lea and Flood (2014).
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.random;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        usize::try_from(x % (bound.max(1) as u64)).unwrap_or(0)
    }

    fn note_deletion(&mut self, db: usize, key: &[u8]) {
        if cfg!(not(feature = "commands")) {
            return; // without WATCH nobody asks
        }
        if !self.deleted.is_empty()
            && let Some(version) = Rc::make_mut(&mut self.deleted).get_mut(&(db, Rc::from(key)))
        {
            *version = self.writes;
        }
    }

    fn database_mut(&mut self, db: usize) -> &mut Database {
        if self.databases.len() <= db {
            self.databases.resize_with(db + 1, Rc::default);
        }
        Rc::make_mut(&mut self.databases[db])
    }
}

#[cfg(feature = "field-expiry")]
fn note_field_expiry(next_field_ms: &mut u64, value: &Value) {
    if let Value::Hash(hash) = value
        && let Some(at) = hash.next_expiry()
    {
        *next_field_ms = at.min(*next_field_ms);
    }
}

/// Where an iteration by cursor finds `item`: a place that does not move when others come and go.
pub(crate) fn scan_place(item: &[u8]) -> u64 {
    // 47 bits: a cursor fits a double, so a script can carry it, and 0 is left for the start.
    (Hasher::default().hash_one(item) >> 17).max(1)
}
