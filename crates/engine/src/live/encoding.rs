//! OBJECT ENCODING under limits that CONFIG SET has moved.
//!
//! The structures decide by a server's defaults when they grow, and remember it. Under other limits the answer is made
//! from what a value holds when it is asked for: a server would decide at the next write, and not go back.

use super::Parameters;
use crate::value::{Hash, List, Set, Value, Zset};

/// `None` where the limits of the type are the defaults.
pub(crate) fn encoding(parameters: &Parameters, value: &Value) -> Option<&'static str> {
    let moved = |names: &[&str]| names.iter().any(|name| parameters.is_set(name));
    match value {
        Value::String(_) => None,
        Value::List(list) => moved(&["list-max-listpack-size"]).then(|| of_list(parameters, list)),
        Value::Hash(hash) => moved(&["hash-max-listpack-entries", "hash-max-listpack-value"])
            .then(|| of_hash(&Limits::of(parameters, "hash"), hash)),
        Value::Zset(zset) => moved(&["zset-max-listpack-entries", "zset-max-listpack-value"])
            .then(|| of_zset(&Limits::of(parameters, "zset"), zset)),
        Value::Set(set) => {
            moved(&["set-max-intset-entries", "set-max-listpack-entries", "set-max-listpack-value"])
                .then(|| of_set(parameters, set))
        }
    }
}

/// Of a listpack.
struct Limits {
    entries: u64,
    bytes: u64,
}

impl Limits {
    fn of(parameters: &Parameters, type_name: &str) -> Limits {
        Limits {
            entries: parameters.number(&format!("{type_name}-max-listpack-entries")),
            bytes: parameters.number(&format!("{type_name}-max-listpack-value")),
        }
    }

    fn hold(&self, entries: usize, mut lengths: impl Iterator<Item = usize>) -> bool {
        entries as u64 <= self.entries && lengths.all(|length| length as u64 <= self.bytes)
    }
}

fn of_hash(limits: &Limits, hash: &Hash) -> &'static str {
    let lengths = hash.iter().flat_map(|(field, value)| [field.len(), value.len()]);
    if limits.hold(hash.len(), lengths) { "listpack" } else { "hashtable" }
}

fn of_zset(limits: &Limits, zset: &Zset) -> &'static str {
    let lengths = zset.iter().map(|(member, _)| member.len());
    if limits.hold(zset.len(), lengths) { "listpack" } else { "skiplist" }
}

fn of_set(parameters: &Parameters, set: &Set) -> &'static str {
    if set.encoding() == "intset" {
        let is_small = set.len() as u64 <= parameters.number("set-max-intset-entries");
        return if is_small { "intset" } else { "hashtable" };
    }
    let lengths = set.iter().map(|member| member.len());
    if Limits::of(parameters, "set").hold(set.len(), lengths) { "listpack" } else { "hashtable" }
}

/// A positive limit counts elements, a negative one names a size.
fn of_list(parameters: &Parameters, list: &List) -> &'static str {
    const KIB: usize = 1024;
    let fits = match parameters.signed("list-max-listpack-size") {
        -1 => list.listpack_bytes() <= 4 * KIB,
        -2 => list.listpack_bytes() <= 8 * KIB,
        -3 => list.listpack_bytes() <= 16 * KIB,
        -4 => list.listpack_bytes() <= 32 * KIB,
        ..=-5 => list.listpack_bytes() <= 64 * KIB,
        // Valkey takes 0 for 1.
        limit => list.len() as i64 <= limit.max(1),
    };
    if fits { "listpack" } else { "quicklist" }
}
