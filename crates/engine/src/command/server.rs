//! The server: time, INFO, CONFIG, and what has no effect in one process without replicas.

use super::keys::NONE;
use super::scan::matches;
use super::{Answer, Args, Ctx, Flags, Row, container, data};
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
    container("config", CONFIG),
];

const CONFIGURE: Flags = Flags::ADMIN.union(Flags::NOSCRIPT).union(Flags::ANYTIME);

const CONFIG: &[Row] = &[
    data("config|get", -3, CONFIGURE, NONE, config_get),
    data("config|set", -4, CONFIGURE, NONE, config_set),
    data("config|resetstat", 2, CONFIGURE, NONE, |_, _| Ok(Reply::OK)),
    data("config|rewrite", 2, CONFIGURE, NONE, |_, _| Err(CommandError::NO_CONFIG_FILE)),
    data("config|help", 2, Flags::ANYTIME, NONE, |_, _| Ok(super::help("CONFIG", CONFIG))),
];

/// Seconds and microseconds of the engine's clock, which stands still while a script or a transaction runs.
fn time(ctx: &mut Ctx<'_>, _args: &Args<'_>) -> Answer {
    let now_us = ctx.clock.unix_us();
    let part = |n: u64| Reply::bulk(n.to_string());
    Ok(Reply::Array(vec![part(now_us / 1_000_000), part(now_us % 1_000_000)]))
}

/// There are no replicas, so none has acknowledged anything, and nobody waits for one.
fn wait(_ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    args.integer(1)?;
    if args.integer(2).map_err(|_| CommandError::TIMEOUT_INTEGER)? < 0 {
        return Err(CommandError::TIMEOUT_NEGATIVE);
    }
    Ok(Reply::Integer(0))
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
    if wants("server") {
        let version = version_text(ctx.config.version);
        sections.push(format!(
            "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:{version}\r\n\
             server_mode:standalone\r\narch_bits:64\r\nserver_time_usec:{}\r\n",
            ctx.clock.unix_us()
        ));
    }
    if wants("clients") {
        sections.push("# Clients\r\nconnected_clients:1\r\nblocked_clients:0\r\n".to_owned());
    }
    if wants("memory") {
        sections.push(format!("# Memory\r\nnumber_of_cached_scripts:{}\r\n", ctx.cached_scripts));
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

/// The parameters that clients and test suites ask for, with a server's defaults. They cannot be changed, for
/// nothing here depends on them: CONFIG SET takes the known names and forgets the values.
const PARAMETERS: &[(&str, &str)] = &[
    ("appendonly", "no"),
    ("databases", "16"),
    ("hash-max-listpack-entries", "512"),
    ("hash-max-listpack-value", "64"),
    ("list-max-listpack-size", "-2"),
    ("lua-time-limit", "5000"),
    ("busy-reply-threshold", "5000"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
    ("notify-keyspace-events", ""),
    ("proto-max-bulk-len", "536870912"),
    ("save", ""),
    ("set-max-intset-entries", "512"),
    ("set-max-listpack-entries", "128"),
    ("set-max-listpack-value", "64"),
    ("timeout", "0"),
    ("zset-max-listpack-entries", "128"),
    ("zset-max-listpack-value", "64"),
];

fn config_get(ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let mut found = Vec::new();
    for (name, value) in PARAMETERS {
        let name = name.as_bytes();
        let asked = |pattern: &&&[u8]| matches(&pattern.to_ascii_lowercase(), name);
        let Some(&pattern) = args.rest(2).iter().find(asked) else { continue };
        // A plain name comes back as it was sent.
        let shown = if pattern.eq_ignore_ascii_case(name) { pattern } else { name };
        found.push((Reply::bulk(shown), Reply::bulk(*value)));
    }
    Ok(ctx.map(found))
}

fn config_set(_ctx: &mut Ctx<'_>, args: &Args<'_>) -> Answer {
    let pairs = args.rest(2);
    if !pairs.len().is_multiple_of(2) {
        return Err(CommandError::Syntax);
    }
    for name in pairs.iter().step_by(2) {
        if !PARAMETERS.iter().any(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes())) {
            let name = String::from_utf8_lossy(name);
            let text = format!("ERR Unknown option or number of arguments for CONFIG SET - '{name}'");
            return Err(CommandError::other(text));
        }
    }
    Ok(Reply::OK)
}
