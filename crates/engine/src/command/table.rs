//! Joins the families' rows into one table, hashed while compiling.

use super::{Row, Run};

/// First what a queue needs, which no feature takes away.
pub(super) const FAMILIES: &[&[Row]] = &[
    super::string::ROWS,
    super::generic::ROWS,
    super::hash::ROWS,
    super::zset::ROWS,
    super::zset_range::ROWS,
    super::zset_algebra::ROWS,
    super::scripting::ROWS,
    super::connection::ROWS,
    super::server::ROWS,
    #[cfg(feature = "commands")]
    super::string::MORE,
    #[cfg(feature = "lcs")]
    super::lcs::ROWS,
    #[cfg(feature = "commands")]
    super::generic::MORE,
    #[cfg(feature = "commands")]
    super::expire::ROWS,
    #[cfg(feature = "commands")]
    super::hash::MORE,
    #[cfg(feature = "field-expiry")]
    super::hash_expiry::ROWS,
    #[cfg(feature = "commands")]
    super::zset::MORE,
    #[cfg(feature = "commands")]
    super::zset_range::MORE,
    #[cfg(feature = "algebra")]
    super::zset_algebra::MORE,
    #[cfg(feature = "list")]
    super::list::ROWS,
    #[cfg(feature = "set")]
    super::set::ROWS,
    #[cfg(feature = "sort")]
    super::sort::ROWS,
    #[cfg(feature = "commands")]
    super::scripting::MORE,
    #[cfg(feature = "dump")]
    super::dump::ROWS,
    #[cfg(feature = "functions")]
    super::function::ROWS,
    #[cfg(feature = "commands")]
    super::transaction::ROWS,
    #[cfg(feature = "commands")]
    super::connection::MORE,
    #[cfg(feature = "commands")]
    super::server::MORE,
    #[cfg(feature = "introspection")]
    super::introspection::ROWS,
    #[cfg(feature = "commands")]
    super::cluster::ROWS,
    #[cfg(feature = "live")]
    super::client::ROWS,
    #[cfg(feature = "live")]
    super::config::ROWS,
    #[cfg(feature = "live")]
    super::debug::ROWS,
    #[cfg(feature = "live")]
    super::memory::ROWS,
    #[cfg(feature = "live")]
    super::pubsub::ROWS,
];

/// Open addressing with steps of one; most of the table stays empty, so a look-up is one comparison.
const SLOTS: usize = 1024;

/// One more than the family's number times 256 plus the row's; 0 is empty.
static TABLE: [u16; SLOTS] = build();

pub(super) fn find(name: &[u8]) -> Option<&'static Row> {
    let mut slot = hash(name);
    loop {
        let place = usize::from(TABLE[slot].checked_sub(1)?);
        let row = FAMILIES.get(place >> 8)?.get(place & 0xff)?;
        if name.eq_ignore_ascii_case(row.name.as_bytes()) {
            return Some(row);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The subcommand `name` among the rows of a container.
pub(super) fn find_sub(rows: &'static [Row], name: &[u8]) -> Option<&'static Row> {
    rows.iter().find(|row| name.eq_ignore_ascii_case(sub_name(row).as_bytes()))
}

/// All commands, without the subcommands.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().copied().flatten()
}

/// The part of a subcommand's name that a client sends.
pub(super) fn sub_name(row: &Row) -> &'static str {
    row.name.split_once('|').map_or(row.name, |(_, sub)| sub)
}

/// The subcommands of a container; none for any other command.
pub(super) fn subs(row: &Row) -> &'static [Row] {
    match row.run {
        Run::Container(rows) | Run::ContainerOr(rows, _) => rows,
        Run::Data(_) | Run::Control(_) => &[],
    }
}

const fn build() -> [u16; SLOTS] {
    let mut table = [0; SLOTS];
    let mut family = 0;
    while family < FAMILIES.len() {
        let rows = FAMILIES[family];
        assert!(rows.len() <= 256);
        let mut row = 0;
        while row < rows.len() {
            let mut slot = hash(rows[row].name.as_bytes());
            while table[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            table[slot] = (family * 256 + row + 1) as u16;
            row += 1;
        }
        family += 1;
    }
    table
}

/// FNV-1a over the lower-case name, folded to a slot.
const fn hash(name: &[u8]) -> usize {
    let mut hash: u32 = 0x811c_9dc5;
    let mut at = 0;
    while at < name.len() {
        hash = (hash ^ name[at].to_ascii_lowercase() as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    ((hash >> 16) ^ hash) as usize % SLOTS
}
