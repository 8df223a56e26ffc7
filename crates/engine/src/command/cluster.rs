//! CLUSTER: the slot of a key, which a queue's braces are for. There is no cluster.

use super::keys::NONE;
use super::{Args, Ctx, Flags, Row, container, data};
use crate::error::CommandError;
use crate::reply::Reply;

pub(super) const ROWS: &[Row] = &[container("cluster", CLUSTER)];

const CLUSTER: &[Row] = &[
    data("cluster|keyslot", 3, Flags::STALE, NONE, |_, args| {
        Ok(Reply::Integer(key_slot(args.bytes(2)?).into()))
    }),
    data("cluster|info", 2, Flags::ANYTIME, NONE, refuse),
    data("cluster|myid", 2, Flags::ANYTIME, NONE, refuse),
    data("cluster|slots", 2, Flags::ANYTIME, NONE, refuse),
    data("cluster|shards", 2, Flags::ANYTIME, NONE, refuse),
    data("cluster|nodes", 2, Flags::ANYTIME, NONE, refuse),
    data("cluster|reset", -2, Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::STALE), NONE, refuse),
    data("cluster|help", 2, Flags::ANYTIME, NONE, |_, _| Ok(super::help("CLUSTER", CLUSTER))),
];

fn refuse(_ctx: &mut Ctx<'_>, _args: &Args<'_>) -> super::Answer {
    Err(CommandError::NO_CLUSTER)
}

const SLOTS: u16 = 16384;

/// CRC16 (XMODEM) of what stands between the first `{` and the next `}`, if anything does, else of the whole key.
fn key_slot(key: &[u8]) -> u16 {
    let tag = key.iter().position(|&byte| byte == b'{').and_then(|open| {
        let rest = key.get(open + 1..)?;
        let close = rest.iter().position(|&byte| byte == b'}')?;
        rest.get(..close).filter(|tag| !tag.is_empty())
    });
    let crc = tag.unwrap_or(key).iter().fold(0_u16, |crc, &byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    });
    crc % SLOTS
}
