//! The server: time, INFO, CONFIG, and what has no effect in one process without replicas.

use super::args::deadline;
use super::keys::NONE;
use super::{Answer, Args, Ctx, Flags, Row, data};
use crate::engine::Version;
use crate::error::CommandError;
use crate::keyspace::{DATABASES, Entry};
use crate::reply::Reply;
#[cfg(feature = "field-expiry")]
use crate::value::Value;

pub(super) const ROWS: &[Row] = &[data("time", 1, Flags::ANYTIME.union(Flags::FAST), NONE, time)];

/// What a queue does without.
pub(super) const MORE: &[Row] = &[
    data("info", -1, Flags::ANYTIME, NONE, info),
    data("wait", 3, Flags::BLOCKING, NONE, wait),
    data("waitaof", 4, Flags::BLOCKING, NONE, waitaof),
    // There is nowhere to save to, which a server answers so.
    data("save", 1, SAVE, NONE, |_, _| Err(CommandError::NOT_SAVED)),
];

const SAVE: Flags = Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::NO_ASYNC_LOADING).union(Flags::NO_MULTI);

/// Seconds and microseconds of the engine's clock, which stands still while a script or a transaction runs.
fn time(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    let now_us = ctx.clock.unix_us();
    let part = |n: u64| Reply::bulk(n.to_string());
    Ok(Reply::Array(vec![part(now_us / 1_000_000), part(now_us % 1_000_000)]))
}

/// There are no replicas, so none has acknowledged anything; who wants one waits for the time to go by.
fn wait(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let replicas = args.integer(1)?;
    let timeout_ms = args.integer(2).map_err(|_| CommandError::TIMEOUT_INTEGER)?;
    let timeout_ms = u64::try_from(timeout_ms).map_err(|_| CommandError::TIMEOUT_NEGATIVE)?;
    let until_ms = deadline(timeout_ms, ctx.clock)?;
    Ok(await_replicas(ctx, replicas, until_ms, Reply::Integer(0)))
}

/// As WAIT; there is no file either.
fn waitaof(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let local = args.integer(1)?;
    if !(0..=1).contains(&local) {
        return Err(CommandError::LOCAL_RANGE);
    }
    let replicas = args.positive(2)?;
    let timeout_ms = args.integer(3).map_err(|_| CommandError::TIMEOUT_INTEGER)?;
    let timeout_ms = u64::try_from(timeout_ms).map_err(|_| CommandError::TIMEOUT_NEGATIVE)?;
    let until_ms = deadline(timeout_ms, ctx.clock)?;
    if local > 0 {
        return Err(CommandError::NO_APPENDONLY);
    }
    let none = Reply::Array(vec![Reply::Integer(0), Reply::Integer(0)]);
    Ok(await_replicas(ctx, i64::try_from(replicas).unwrap_or(i64::MAX), until_ms, none))
}

/// What is answered when `replicas` did not acknowledge; `until_ms` is when that is, where the session can wait.
fn await_replicas(ctx: &mut Ctx<'_>, replicas: i64, until_ms: Option<u64>, in_vain: Reply) -> Reply {
    #[cfg(feature = "live")]
    if replicas > 0 {
        let reason = crate::live::Reason::Replicas { in_vain: in_vain.clone() };
        ctx.wait(crate::live::Wait { reason, until_ms });
    }
    #[cfg(not(feature = "live"))]
    let _ = (ctx, replicas, until_ms);
    in_vain
}

pub(super) fn version_text(version: Version) -> &'static str {
    match version {
        Version::V8_0 => "8.0.1",
        Version::V9_1 => "9.1.2",
    }
}

/// The sections that clients and test suites look at. What a machine would answer (memory, CPU, sockets) is left
/// out.
fn info(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let asked = args.rest(1);
    let wants = |section: &str| {
        asked.is_empty()
            || asked.iter().any(|name| {
                [section, "all", "everything", "default"]
                    .iter()
                    .any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
            })
    };
    let mut sections = Vec::new();
    // What is shown only when it is asked for.
    #[cfg(feature = "live")]
    let named = |section: &str| {
        let known = [section, "all", "everything"];
        asked.iter().any(|name| known.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes())))
    };
    if wants("server") {
        let version = version_text(ctx.config.version);
        sections.push(format!(
            "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:{version}\r\n\
             server_mode:standalone\r\narch_bits:64\r\nserver_time_usec:{}\r\n",
            ctx.clock.unix_us()
        ));
    }
    if wants("clients") {
        sections.push(clients_section(ctx));
    }
    if wants("memory") {
        sections.push(memory_section(ctx));
    }
    #[cfg(feature = "live")]
    if wants("stats") {
        sections.push(stats_section(ctx));
    }
    #[cfg(feature = "live")]
    for (name, section) in
        [("commandstats", ctx.live.stats.command_section()), ("errorstats", ctx.live.stats.error_section())]
    {
        if named(name) {
            sections.push(section);
        }
    }
    if wants("replication") {
        sections.push("# Replication\r\nrole:master\r\nconnected_slaves:0\r\n".to_owned());
    }
    if wants("cluster") {
        sections.push("# Cluster\r\ncluster_enabled:0\r\n".to_owned());
    }
    if wants("keyspace") {
        sections.push(keyspace_section(ctx));
    }
    let text = sections.join("\r\n").into_bytes();
    Ok(if ctx.is_resp3() { Reply::Verbatim { format: *b"txt", text } } else { Reply::Bulk(text) })
}

#[cfg(feature = "live")]
fn memory_section(ctx: &Ctx<'_>) -> String {
    format!(
        "# Memory\r\nused_memory:{}\r\nmaxmemory:{}\r\nnumber_of_cached_scripts:{}\r\n{}",
        super::used_memory(ctx.keyspace, ctx.clock),
        ctx.live.parameters.number("maxmemory"),
        ctx.cached_scripts,
        functions(ctx),
    )
}

#[cfg(not(feature = "live"))]
fn memory_section(ctx: &Ctx<'_>) -> String {
    format!("# Memory\r\nnumber_of_cached_scripts:{}\r\n{}", ctx.cached_scripts, functions(ctx))
}

#[cfg(feature = "functions")]
fn functions(ctx: &Ctx<'_>) -> String {
    let (functions, libraries) = (ctx.libraries.functions(), ctx.libraries.len());
    format!("number_of_functions:{functions}\r\nnumber_of_libraries:{libraries}\r\n")
}

#[cfg(not(feature = "functions"))]
fn functions(_ctx: &Ctx<'_>) -> String {
    String::new()
}

#[cfg(feature = "live")]
fn clients_section(ctx: &Ctx<'_>) -> String {
    let pubsub = ctx.live.sessions.keys().filter(|id| ctx.live.is_subscriber(**id)).count();
    format!(
        "# Clients\r\nconnected_clients:{}\r\nblocked_clients:{}\r\npubsub_clients:{pubsub}\r\n",
        ctx.live.sessions.len() + 1,
        ctx.live.waiting.len()
    )
}

#[cfg(not(feature = "live"))]
fn clients_section(_ctx: &Ctx<'_>) -> String {
    "# Clients\r\nconnected_clients:1\r\nblocked_clients:0\r\n".to_owned()
}

#[cfg(feature = "live")]
fn stats_section(ctx: &Ctx<'_>) -> String {
    let (live, expired) = (&ctx.live, ctx.keyspace.expired);
    format!(
        "# Stats\r\ntotal_connections_received:{}\r\ntotal_commands_processed:{}\r\nexpired_keys:{expired}\r\n\
         pubsub_channels:{}\r\npubsub_patterns:{}\r\npubsubshard_channels:{}\r\ntotal_error_replies:{}\r\n",
        live.stats.connections,
        live.stats.commands,
        live.channels.len(),
        live.patterns.len(),
        live.shard_channels.len(),
        live.stats.errors,
    )
}

fn keyspace_section(ctx: &Ctx<'_>) -> String {
    let mut text = "# Keyspace\r\n".to_owned();
    for db in 0..DATABASES {
        let keys = ctx.keyspace.len(db, ctx.clock);
        if keys > 0 {
            let expiring = ctx.keyspace.iter(db, ctx.clock).filter(|(_, entry)| entry.expires_ms.is_some());
            let expires = expiring.count();
            let mut volatile = String::new();
            if ctx.config.version != Version::V8_0 {
                let entries =
                    ctx.keyspace.iter(db, ctx.clock).filter(|(_, entry)| has_expiring_fields(entry));
                volatile = format!(",keys_with_volatile_items={}", entries.count());
            }
            text += &format!("db{db}:keys={keys},expires={expires},avg_ttl=0{volatile}\r\n");
        }
    }
    text
}

#[cfg(feature = "field-expiry")]
fn has_expiring_fields(entry: &Entry) -> bool {
    matches!(&*entry.value, Value::Hash(hash) if hash.next_expiry().is_some())
}

#[cfg(not(feature = "field-expiry"))]
fn has_expiring_fields(_entry: &Entry) -> bool {
    false
}
