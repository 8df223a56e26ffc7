//! Publish and subscribe: channels, patterns, shard channels. A server alone is one shard.

use super::keys::{NONE, READ_1, READ_ALL};
use super::scan::matches;
use super::{Answer, Args, Ctx, Flags, Row, container, data};
use crate::error::CommandError;
use crate::live::{Live, Topics};
use crate::reply::Reply;

pub(super) const ROWS: &[Row] = &[
    data("publish", 3, PUBLISH, NONE, publish),
    data("spublish", 3, PUBLISH, READ_1, spublish),
    data("subscribe", -2, SUBSCRIBE, NONE, |ctx, args| subscribe(ctx, args, &CHANNELS)),
    data("unsubscribe", -1, SUBSCRIBE, NONE, |ctx, args| unsubscribe(ctx, args, &CHANNELS)),
    data("psubscribe", -2, SUBSCRIBE, NONE, |ctx, args| subscribe(ctx, args, &PATTERNS)),
    data("punsubscribe", -1, SUBSCRIBE, NONE, |ctx, args| unsubscribe(ctx, args, &PATTERNS)),
    data("ssubscribe", -2, SUBSCRIBE, READ_ALL, |ctx, args| subscribe(ctx, args, &SHARD)),
    data("sunsubscribe", -1, SUBSCRIBE, READ_ALL, |ctx, args| unsubscribe(ctx, args, &SHARD)),
    container("pubsub", PUBSUB),
];

const PUBLISH: Flags = Flags::PUBSUB.union(Flags::ANYTIME).union(Flags::FAST);
const SUBSCRIBE: Flags = Flags::PUBSUB.union(Flags::NOSCRIPT).union(Flags::ANYTIME);
const LOOK: Flags = Flags::PUBSUB.union(Flags::ANYTIME);

const PUBSUB: &[Row] = &[
    data("pubsub|channels", -2, LOOK, NONE, |ctx, args| channels(args, &ctx.live.channels)),
    data("pubsub|numsub", -2, LOOK, NONE, |ctx, args| numbers(args, &ctx.live.channels)),
    data("pubsub|numpat", 2, LOOK, NONE, |ctx, _| Ok(Reply::integer(ctx.live.patterns.len()))),
    data("pubsub|shardchannels", -2, LOOK, NONE, |ctx, args| channels(args, &ctx.live.shard_channels)),
    data("pubsub|shardnumsub", -2, LOOK, NONE, |ctx, args| numbers(args, &ctx.live.shard_channels)),
    data("pubsub|help", 2, Flags::ANYTIME, NONE, |_, _| Ok(super::help("PUBSUB", PUBSUB))),
];

/// One of the three things to listen to.
struct Kind {
    subscribed: &'static str,
    unsubscribed: &'static str,
    topics: fn(&mut Live) -> &mut Topics,
    /// How many of a kind a connection listens to, as its confirmations tell.
    count: fn(&Live, u64) -> usize,
}

const CHANNELS: Kind = Kind {
    subscribed: "subscribe",
    unsubscribed: "unsubscribe",
    topics: |live| &mut live.channels,
    count: |live, id| live.channels.of(id).count() + live.patterns.of(id).count(),
};
const PATTERNS: Kind = Kind {
    subscribed: "psubscribe",
    unsubscribed: "punsubscribe",
    topics: |live| &mut live.patterns,
    count: CHANNELS.count,
};
const SHARD: Kind = Kind {
    subscribed: "ssubscribe",
    unsubscribed: "sunsubscribe",
    topics: |live| &mut live.shard_channels,
    count: |live, id| live.shard_channels.of(id).count(),
};

fn publish(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (channel, message) = (args.bytes(1)?, args.bytes(2)?);
    let mut receivers = send(ctx.live, "message", channel, message, |live| &live.channels);
    let matching: Vec<(Vec<u8>, Vec<u64>)> = ctx
        .live
        .patterns
        .iter()
        .filter(|(pattern, _)| matches(pattern, channel))
        .map(|(pattern, ids)| (pattern.to_vec(), ids.to_vec()))
        .collect();
    for (pattern, ids) in matching {
        for id in ids {
            let parts: [&[u8]; 4] = [b"pmessage", &pattern, channel, message];
            ctx.live.push(id, parts.map(Reply::bulk).to_vec());
            receivers += 1;
        }
    }
    Ok(Reply::integer(receivers))
}

fn spublish(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let (channel, message) = (args.bytes(1)?, args.bytes(2)?);
    Ok(Reply::integer(send(ctx.live, "smessage", channel, message, |live| &live.shard_channels)))
}

fn send(live: &mut Live, kind: &str, channel: &[u8], message: &[u8], topics: fn(&Live) -> &Topics) -> usize {
    let ids = topics(live).subscribers(channel).to_vec();
    for id in &ids {
        live.push(*id, [kind.as_bytes(), channel, message].map(Reply::bulk).to_vec());
    }
    ids.len()
}

fn subscribe(ctx: &mut Ctx<'_>, args: &Args<'_>, kind: &Kind) -> Answer {
    if ctx.session.link.is_none() {
        let name = kind.subscribed.to_ascii_uppercase();
        return Err(CommandError::other(format!("ERR {name} isn't allowed for a DENY BLOCKING client")));
    }
    let id = ctx.session.id;
    for name in args.rest(1) {
        (kind.topics)(ctx.live).add(name, id);
        confirm(ctx, kind.subscribed, Reply::bulk(*name), kind);
    }
    Ok(Reply::Nil)
}

fn unsubscribe(ctx: &mut Ctx<'_>, args: &Args<'_>, kind: &Kind) -> Answer {
    let id = ctx.session.id;
    let mut names: Vec<Vec<u8>> = args.rest(1).iter().map(|name| name.to_vec()).collect();
    if names.is_empty() {
        names = (kind.topics)(ctx.live).of(id).map(<[u8]>::to_vec).collect();
    }
    if names.is_empty() {
        return Ok(confirm(ctx, kind.unsubscribed, Reply::Nil, kind));
    }
    let mut last = Reply::Nil;
    for name in names {
        (kind.topics)(ctx.live).remove(&name, id);
        last = confirm(ctx, kind.unsubscribed, Reply::Bulk(name), kind);
    }
    Ok(last)
}

/// Notes what goes out in place of the reply.
fn confirm(ctx: &mut Ctx<'_>, what: &str, name: Reply, kind: &Kind) -> Reply {
    let count = Reply::integer((kind.count)(ctx.live, ctx.session.id));
    let parts = vec![Reply::bulk(what), name, count];
    let confirmation = if ctx.is_resp3() { Reply::Push(parts) } else { Reply::Array(parts) };
    if let Some(link) = &mut ctx.session.link {
        link.confirmations.push(confirmation.clone());
    }
    confirmation
}

fn channels(args: &Args<'_>, topics: &Topics) -> Answer {
    let pattern = match args.len() {
        2 => None,
        3 => Some(args.bytes(2)?),
        _ => return Err(wrong_subcommand(args.bytes(1)?)),
    };
    let names = topics.iter().map(|(name, _)| name);
    let names = names.filter(|name| pattern.is_none_or(|pattern| matches(pattern, name)));
    Ok(Reply::Array(names.map(Reply::bulk).collect()))
}

fn numbers(args: &Args<'_>, topics: &Topics) -> Answer {
    let numbers = args
        .rest(2)
        .iter()
        .flat_map(|name| [Reply::bulk(*name), Reply::integer(topics.subscribers(name).len())]);
    Ok(Reply::Array(numbers.collect()))
}

fn wrong_subcommand(name: &[u8]) -> CommandError {
    let name = super::quoted(name);
    CommandError::other(format!(
        "ERR unknown subcommand or wrong number of arguments for '{name}'. Try PUBSUB HELP."
    ))
}
