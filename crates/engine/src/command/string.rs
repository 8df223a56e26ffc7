//! Strings and counters.

use super::{Args, Ctx, Flags, KeySpec, Row, Run};
use crate::error::CommandError;
use crate::reply::Reply;
use crate::value::Value;

const ONE_KEY: KeySpec = KeySpec::Range { first: 1, last: 1, step: 1 };

pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "get",
        arity: 2,
        flags: Flags::READONLY.union(Flags::FAST),
        keys: ONE_KEY,
        run: Run::Data(get),
    },
    Row {
        name: "set",
        arity: -3,
        flags: Flags::WRITE.union(Flags::DENYOOM),
        keys: ONE_KEY,
        run: Run::Data(set),
    },
];

fn get(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Result<Reply, CommandError> {
    match ctx.keyspace.get(ctx.session.db, args.bytes(1)?, ctx.clock).map(|entry| &*entry.value) {
        Some(Value::String(bytes)) => Ok(Reply::bulk(bytes.clone())),
        None => Ok(Reply::Nil),
    }
}

fn set(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Result<Reply, CommandError> {
    ctx.keyspace.put(ctx.session.db, args.bytes(1)?, Value::String(args.bytes(2)?.to_vec()), None);
    Ok(Reply::OK)
}
