//! Who listens to what: channels, patterns or shard channels, each with its subscribers in the order in which they
//! came.

use indexmap::IndexMap;

use crate::keyspace::Hasher;

#[derive(Clone, Debug, Default)]
pub(crate) struct Topics {
    subscribers: IndexMap<Vec<u8>, Vec<u64>, Hasher>,
}

impl Topics {
    pub fn add(&mut self, name: &[u8], id: u64) {
        let ids = self.subscribers.entry(name.to_vec()).or_default();
        if !ids.contains(&id) {
            ids.push(id);
        }
    }

    pub fn remove(&mut self, name: &[u8], id: u64) {
        if let Some(ids) = self.subscribers.get_mut(name) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.subscribers.shift_remove(name);
            }
        }
    }

    pub fn remove_all(&mut self, id: u64) {
        self.subscribers.retain(|_, ids| {
            ids.retain(|other| *other != id);
            !ids.is_empty()
        });
    }

    /// What `id` listens to.
    pub fn of(&self, id: u64) -> impl Iterator<Item = &[u8]> {
        self.subscribers.iter().filter(move |(_, ids)| ids.contains(&id)).map(|(name, _)| name.as_slice())
    }

    pub fn has(&self, id: u64) -> bool {
        self.of(id).next().is_some()
    }

    pub fn subscribers(&self, name: &[u8]) -> &[u64] {
        self.subscribers.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u64])> {
        self.subscribers.iter().map(|(name, ids)| (name.as_slice(), ids.as_slice()))
    }

    pub fn len(&self) -> usize {
        self.subscribers.len()
    }
}
