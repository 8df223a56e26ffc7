//! MEMORY USAGE: what the bytes of a key and its value take, and a fixed sum for each element. It is an estimate, as a
//! server's is, of another memory.

use super::keys::READ_2;
use super::{Answer, Args, Ctx, Flags, Row, container, data, keys::NONE};
use crate::clock::Clock;
use crate::error::CommandError;
use crate::keyspace::{DATABASES, Keyspace};
use crate::reply::Reply;
use crate::value::Value;

pub(super) const ROWS: &[Row] = &[container("memory", MEMORY)];

const MEMORY: &[Row] = &[
    data("memory|usage", -3, Flags::READONLY, READ_2, usage),
    data("memory|help", 2, Flags::ANYTIME, NONE, |_, _| Ok(super::help("MEMORY", MEMORY))),
];

/// For a key, and for an element of a collection: lengths, links, a place in a table.
const KEY_BYTES: usize = 48;
const ELEMENT_BYTES: usize = 24;

fn usage(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let mut at = 3;
    while at < args.len() {
        if !args.is_with_value(at, "SAMPLES") {
            return Err(CommandError::Syntax);
        }
        if args.integer(at + 1)? < 0 {
            return Err(CommandError::Syntax);
        }
        at += 2;
    }
    let key = args.bytes(2)?;
    let Some(entry) = ctx.entry(key) else { return Ok(Reply::Nil) };
    Ok(Reply::integer(of_key(key, &entry.value)))
}

/// An engine without data, and with what scripts need.
const EMPTY_BYTES: usize = 1 << 20;

/// The keys of all databases.
pub(crate) fn used_memory(keyspace: &Keyspace, now: Clock) -> usize {
    let databases = (0..DATABASES).flat_map(|db| keyspace.iter(db, now));
    EMPTY_BYTES + databases.map(|(key, entry)| of_key(key, &entry.value)).sum::<usize>()
}

fn of_key(key: &[u8], value: &Value) -> usize {
    KEY_BYTES + key.len() + bytes(value)
}

fn bytes(value: &Value) -> usize {
    let sum = |lengths: &mut dyn Iterator<Item = usize>| lengths.map(|length| length + ELEMENT_BYTES).sum();
    match value {
        Value::String(text) => text.len(),
        Value::List(list) => sum(&mut list.iter().map(<[u8]>::len)),
        Value::Set(set) => sum(&mut set.iter().map(|member| member.len())),
        Value::Zset(zset) => sum(&mut zset.iter().map(|(member, _)| member.len() + size_of::<f64>())),
        Value::Hash(hash) => sum(&mut hash.iter().map(|(field, value)| field.len() + value.len())),
    }
}
