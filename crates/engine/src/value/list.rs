//! Lists: a ring buffer of elements. Valkey's quicklist is a list of small blocks, which answers the same.

use std::collections::VecDeque;
use std::ops::Range;

/// Valkey's list-max-listpack-size of -2: eight KiB in one block, counted with the block's own bytes.
const LISTPACK_BYTES: usize = 8192;
const LISTPACK_HEADER_BYTES: usize = 7;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct List {
    items: VecDeque<Box<[u8]>>,
}

/// The side of a list that a command works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Left,
    Right,
}

impl List {
    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn get(&self, at: usize) -> Option<&[u8]> {
        self.items.get(at).map(|item| &**item)
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> + ExactSizeIterator {
        self.items.iter().map(|item| &**item)
    }

    pub(crate) fn range(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let end = range.end.min(self.len());
        self.items.range(range.start.min(end)..end).map(|item| &**item)
    }

    pub(crate) fn push(&mut self, end: End, item: &[u8]) {
        match end {
            End::Left => self.items.push_front(item.into()),
            End::Right => self.items.push_back(item.into()),
        }
    }

    pub(crate) fn pop(&mut self, end: End) -> Option<Box<[u8]>> {
        match end {
            End::Left => self.items.pop_front(),
            End::Right => self.items.pop_back(),
        }
    }

    /// False when there is no element at `at`.
    pub(crate) fn set(&mut self, at: usize, item: &[u8]) -> bool {
        match self.items.get_mut(at) {
            Some(old) => {
                *old = item.into();
                true
            }
            None => false,
        }
    }

    /// Inserts before the element at `at`, at the end when there is none.
    pub(crate) fn insert(&mut self, at: usize, item: &[u8]) {
        self.items.insert(at.min(self.items.len()), item.into());
    }

    /// Keeps `len` elements from `start` on.
    pub(crate) fn trim(&mut self, start: usize, len: usize) {
        self.items.truncate(start.saturating_add(len));
        self.items.drain(..start.min(self.items.len()));
    }

    /// Removes up to `limit` elements equal to `item`, counted from `end`; how many there were.
    pub(crate) fn remove(&mut self, item: &[u8], end: End, limit: usize) -> usize {
        let matches = self.items.iter().filter(|other| ***other == *item).count();
        let removed = matches.min(limit);
        // From the right, the first ones to be seen from the left stay.
        let mut spared = if end == End::Right { matches - removed } else { 0 };
        let mut left = removed;
        self.items.retain(|other| {
            if **other != *item || left == 0 {
                return true;
            }
            if spared > 0 {
                spared -= 1;
                return true;
            }
            left -= 1;
            false
        });
        removed
    }

    /// Valkey decides on the encoding after each change; the walk over the list is left to who asks for it.
    pub(crate) fn encoding(&self) -> &'static str {
        if self.listpack_bytes() > LISTPACK_BYTES { "quicklist" } else { "listpack" }
    }

    /// What the list would take in a listpack: the element, its length in front of it, and the way back behind it.
    pub(crate) fn listpack_bytes(&self) -> usize {
        let elements: usize = self.items.iter().map(|item| item.len() + 2).sum();
        LISTPACK_HEADER_BYTES + elements
    }
}
