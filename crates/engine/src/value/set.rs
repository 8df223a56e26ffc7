//! Sets. One of integers only is a sorted array (Valkey's intset, so its order is numeric); any other is an ordered
//! table. The table keeps the order of insertion, also over deletions, for as long as Valkey's listpack would
//! (128 members of 64 bytes); after that a deletion moves the last member into the gap.

use std::borrow::Cow;

use indexmap::IndexSet;

use super::number::{integer_text, parse_integer};
use crate::keyspace::Hasher;

/// Valkey's set-max-intset-entries, set-max-listpack-entries and set-max-listpack-value.
const INTSET_MEMBERS: usize = 512;
const LISTPACK_MEMBERS: usize = 128;
const LISTPACK_BYTES: usize = 64;

#[derive(Clone, Debug)]
pub struct Set(Members);

#[derive(Clone, Debug)]
enum Members {
    /// In ascending order.
    Integers(Vec<i64>),
    Table(Box<Table>),
}

#[derive(Clone, Debug, Default)]
struct Table {
    members: IndexSet<Box<[u8]>, Hasher>,
    /// Has outgrown the listpack once.
    wide: bool,
}

impl Default for Set {
    fn default() -> Set {
        Set(Members::Integers(Vec::new()))
    }
}

impl Set {
    pub fn len(&self) -> usize {
        match &self.0 {
            Members::Integers(integers) => integers.len(),
            Members::Table(table) => table.members.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn contains(&self, member: &[u8]) -> bool {
        match &self.0 {
            Members::Integers(integers) => {
                parse_integer(member).is_some_and(|n| integers.binary_search(&n).is_ok())
            }
            Members::Table(table) => table.members.contains(member),
        }
    }

    /// An empty one that is no set of integers, whatever comes into it.
    pub(crate) fn of_texts() -> Set {
        Set(Members::Table(Box::default()))
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        (0..self.len()).filter_map(|at| self.at(at))
    }

    /// The member at `at` in order.
    pub fn at(&self, at: usize) -> Option<Cow<'_, [u8]>> {
        match &self.0 {
            Members::Integers(integers) => integers.get(at).map(|&n| Cow::Owned(integer_text(n))),
            Members::Table(table) => table.members.get_index(at).map(|member| Cow::Borrowed(&**member)),
        }
    }

    /// True when the member is new.
    pub(crate) fn insert(&mut self, member: &[u8]) -> bool {
        if let Members::Integers(integers) = &mut self.0 {
            match parse_integer(member) {
                Some(n) => {
                    let Err(at) = integers.binary_search(&n) else { return false };
                    integers.insert(at, n);
                    if integers.len() > INTSET_MEMBERS {
                        self.table();
                    }
                    return true;
                }
                None if integers.is_empty() => self.0 = Members::Table(Box::default()),
                None => {}
            }
        }
        let table = self.table();
        let new = table.members.insert(member.into());
        table.wide |= new && (table.members.len() > LISTPACK_MEMBERS || member.len() > LISTPACK_BYTES);
        new
    }

    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        match &mut self.0 {
            Members::Integers(integers) => match parse_integer(member).map(|n| integers.binary_search(&n)) {
                Some(Ok(at)) => {
                    integers.remove(at);
                    true
                }
                _ => false,
            },
            Members::Table(table) if table.wide => table.members.swap_remove(member),
            Members::Table(table) => table.members.shift_remove(member),
        }
    }

    pub(crate) fn encoding(&self) -> &'static str {
        match &self.0 {
            Members::Integers(_) => "intset",
            Members::Table(table) if table.wide => "hashtable",
            Members::Table(_) => "listpack",
        }
    }

    /// The members as a table, which they are from now on.
    fn table(&mut self) -> &mut Table {
        if let Members::Integers(integers) = &self.0 {
            let wide = integers.len() > LISTPACK_MEMBERS;
            let members = integers.iter().map(|&n| integer_text(n).into_boxed_slice()).collect();
            self.0 = Members::Table(Box::new(Table { members, wide }));
        }
        match &mut self.0 {
            Members::Table(table) => table,
            Members::Integers(_) => unreachable!("replaced above"),
        }
    }
}

/// Equal when they hold the same members, in whatever order.
impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        self.len() == other.len() && self.iter().all(|member| other.contains(&member))
    }
}
