//! CONFIG: the parameters that clients and test suites ask for, with a server's defaults, and what was set.
//!
//! Of these, `busy-reply-threshold`, `maxmemory`, `min-replicas-to-write` and the limits of encodings have an effect; the
//! rest are kept and shown, for nothing here depends on them.

use std::collections::BTreeMap;

use crate::value::parse_integer;

#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters {
    /// What differs from the default, as it is shown.
    set: BTreeMap<&'static str, String>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub name: &'static str,
    /// The older name, which works as well.
    pub alias: Option<&'static str>,
    default: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Switch,
    Number {
        min: i64,
        max: i64,
    },
    /// Bytes, with or without a unit.
    Memory,
    Choice(&'static [&'static str]),
    Text,
    /// Set when a server starts.
    Fixed,
}

/// Why a value is not taken, in the words of CONFIG SET.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Invalid {
    #[error("can't set immutable config")]
    Fixed,
    #[error("argument must be 'yes' or 'no'")]
    Switch,
    #[error("argument couldn't be parsed into an integer")]
    Number,
    #[error("argument must be between {min} and {max} inclusive")]
    Range { min: i64, max: i64 },
    #[error("argument must be a memory value")]
    Memory,
    #[error("argument(s) must be one of the following: {}", .0.join(", "))]
    Choice(&'static [&'static str]),
}

const LARGE: Kind = Kind::Number { min: 0, max: i64::MAX };
const INT: Kind = Kind::Number { min: 0, max: i32::MAX as i64 };
const POLICIES: &[&str] = &[
    "volatile-lru",
    "volatile-lfu",
    "volatile-random",
    "volatile-ttl",
    "allkeys-lru",
    "allkeys-lfu",
    "allkeys-random",
    "noeviction",
];

const fn row(name: &'static str, default: &'static str, kind: Kind) -> Parameter {
    Parameter { name, alias: None, default, kind }
}

const fn renamed(name: &'static str, alias: &'static str, default: &'static str, kind: Kind) -> Parameter {
    Parameter { name, alias: Some(alias), default, kind }
}

const PARAMETERS: &[Parameter] = &[
    row("active-defrag-cycle-us", "500", Kind::Number { min: 0, max: 100_000 }),
    row("activedefrag", "no", Kind::Switch),
    row("activerehashing", "yes", Kind::Switch),
    row("appendfsync", "everysec", Kind::Choice(&["always", "everysec", "no"])),
    row("appendonly", "no", Kind::Switch),
    row("auto-aof-rewrite-percentage", "100", INT),
    row("bind", "127.0.0.1", Kind::Fixed),
    renamed("busy-reply-threshold", "lua-time-limit", "5000", LARGE),
    row("client-query-buffer-limit", "1073741824", Kind::Memory),
    row("cluster-enabled", "no", Kind::Fixed),
    row("databases", "16", Kind::Fixed),
    row("enable-debug-command", "local", Kind::Fixed),
    renamed("hash-max-listpack-entries", "hash-max-ziplist-entries", "512", LARGE),
    renamed("hash-max-listpack-value", "hash-max-ziplist-value", "64", Kind::Memory),
    row("hz", "10", INT),
    row("import-mode", "no", Kind::Switch),
    row("io-threads", "1", Kind::Fixed),
    row("latency-monitor-threshold", "0", LARGE),
    row("lazyfree-lazy-expire", "yes", Kind::Switch),
    row("lazyfree-lazy-server-del", "yes", Kind::Switch),
    row("lazyfree-lazy-user-del", "yes", Kind::Switch),
    row("lazyfree-lazy-user-flush", "yes", Kind::Switch),
    row("list-compress-depth", "0", INT),
    renamed(
        "list-max-listpack-size",
        "list-max-ziplist-size",
        "-2",
        Kind::Number { min: i32::MIN as i64, max: i32::MAX as i64 },
    ),
    row("loglevel", "notice", Kind::Choice(&["debug", "verbose", "notice", "warning", "nothing"])),
    row("lua-enable-insecure-api", "no", Kind::Switch),
    row("maxclients", "10000", Kind::Number { min: 1, max: u32::MAX as i64 }),
    row("maxmemory", "0", Kind::Memory),
    row("maxmemory-policy", "noeviction", Kind::Choice(POLICIES)),
    renamed("min-replicas-to-write", "min-slaves-to-write", "0", INT),
    row("notify-keyspace-events", "", Kind::Text),
    row("port", "6379", Kind::Fixed),
    row("proto-max-bulk-len", "536870912", Kind::Memory),
    renamed("replica-read-only", "slave-read-only", "yes", Kind::Switch),
    renamed("replica-serve-stale-data", "slave-serve-stale-data", "yes", Kind::Switch),
    row("requirepass", "", Kind::Text),
    row("save", "", Kind::Text),
    row("set-max-intset-entries", "512", LARGE),
    row("set-max-listpack-entries", "128", LARGE),
    row("set-max-listpack-value", "64", Kind::Memory),
    row("slowlog-log-slower-than", "10000", Kind::Number { min: -1, max: i64::MAX }),
    row("slowlog-max-len", "128", LARGE),
    row("stop-writes-on-bgsave-error", "yes", Kind::Switch),
    row("stream-node-max-entries", "100", LARGE),
    row("timeout", "0", INT),
    row("tracking-table-max-keys", "1000000", LARGE),
    renamed("zset-max-listpack-entries", "zset-max-ziplist-entries", "128", LARGE),
    renamed("zset-max-listpack-value", "zset-max-ziplist-value", "64", Kind::Memory),
];

impl Parameters {
    /// The parameter of a name in either form, in whatever case.
    pub fn find(name: &[u8]) -> Option<&'static Parameter> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        PARAMETERS.iter().find(|row| is(row.name) || row.alias.is_some_and(is))
    }

    pub fn all() -> impl Iterator<Item = &'static Parameter> {
        PARAMETERS.iter()
    }

    pub fn get(&self, parameter: &Parameter) -> &str {
        self.set.get(parameter.name).map_or(parameter.default, String::as_str)
    }

    pub fn set(&mut self, parameter: &'static Parameter, shown: String) {
        self.set.insert(parameter.name, shown);
    }

    pub fn busy_reply_threshold_ms(&self) -> u64 {
        self.number("busy-reply-threshold")
    }

    /// The value of a parameter that is a number; 0 for any other.
    pub fn number(&self, name: &str) -> u64 {
        u64::try_from(self.signed(name)).unwrap_or(0)
    }

    pub fn signed(&self, name: &str) -> i64 {
        let default = || PARAMETERS.iter().find(|row| row.name == name).map(|row| row.default);
        let text = self.set.get(name).map(String::as_str).or_else(default);
        text.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Whether it has another value than the default.
    pub fn is_set(&self, name: &str) -> bool {
        self.set.get(name).is_some_and(|value| {
            PARAMETERS.iter().any(|row| row.name == name && row.default != value.as_str())
        })
    }
}

impl Parameter {
    /// The value as CONFIG GET will show it.
    pub fn read(&self, text: &[u8]) -> Result<String, Invalid> {
        let shown = String::from_utf8_lossy(text);
        match self.kind {
            Kind::Fixed => Err(Invalid::Fixed),
            Kind::Text => Ok(shown.into_owned()),
            Kind::Switch => match shown.to_ascii_lowercase().as_str() {
                word @ ("yes" | "no") => Ok(word.to_owned()),
                _ => Err(Invalid::Switch),
            },
            Kind::Number { min, max } => {
                let number = parse_integer(text).ok_or(Invalid::Number)?;
                let in_range = (min..=max).contains(&number);
                if in_range { Ok(number.to_string()) } else { Err(Invalid::Range { min, max }) }
            }
            Kind::Memory => bytes(&shown).map(|bytes| bytes.to_string()).ok_or(Invalid::Memory),
            Kind::Choice(words) => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(&shown));
                word.map(|word| (*word).to_owned()).ok_or(Invalid::Choice(words))
            }
        }
    }
}

/// `10`, `10k` (thousands), `10kb` (of 1024), and so on.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at_checked(digits)?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}
