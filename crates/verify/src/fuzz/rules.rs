//! Where a generated dialogue may be answered in two ways, all in one place: what is never generated, and how the
//! replies of the rest are compared. Each with its reason.

use echomq_core::Reply;

use crate::cases::release;

/// Commands that are not generated.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("acl", "the engine has one user"),
    ("auth", "asks for users, and there is one"),
    ("client", "tells of connections, which count on from dialogue to dialogue"),
    ("cluster", "a lone server and a lone node differ by what they are asked first"),
    ("command", "compared whole by the tests of the command table"),
    ("config", "tells of the process"),
    ("debug", "for the server's own tests"),
    ("eval", "generated around other commands, and as whole scripts"),
    ("evalsha", "a digest meets no script by chance"),
    ("evalsha_ro", "a digest meets no script by chance"),
    ("fcall", "a library outlives a dialogue"),
    ("fcall_ro", "a library outlives a dialogue"),
    ("flushall", "empties the databases between dialogues"),
    ("function", "a library outlives a dialogue"),
    ("hello", "names the connection and the release"),
    ("info", "tells of the process"),
    ("memory", "tells of the process"),
    ("monitor", "turns the connection that all dialogues share into a listener's"),
    ("object|idletime", "reads the real clock"),
    ("psubscribe", "turns the connection into a subscriber's"),
    ("punsubscribe", "answers as often as there are subscriptions"),
    ("quit", "ends the connection that all dialogues share"),
    ("randomkey", "chooses at random from two orders"),
    ("reset", "begins each dialogue"),
    ("object|refcount", "a server may hold a value twice for a while"),
    ("restore", "what it reads grows from no grammar"),
    ("save", "writes a file"),
    ("script|exists", "the cache outlives a dialogue"),
    ("script|flush", "forgets what no dialogue can see"),
    ("script|show", "a digest meets no script by chance"),
    ("shutdown", "ends the server"),
    ("ssubscribe", "turns the connection into a subscriber's"),
    ("subscribe", "turns the connection into a subscriber's"),
    ("sunsubscribe", "answers as often as there are subscriptions"),
    ("time", "reads the real clock"),
    ("unsubscribe", "answers as often as there are subscriptions"),
    ("wait", "waits for real time"),
    ("waitaof", "waits for real time"),
    // Blocking commands are generated inside scripts, where none waits.
    ("blmove", "would wait"),
    ("blmpop", "would wait"),
    ("blpop", "would wait"),
    ("brpop", "would wait"),
    ("brpoplpush", "would wait"),
    ("bzmpop", "would wait"),
    ("bzpopmax", "would wait"),
    ("bzpopmin", "would wait"),
];

/// How far two remaining or absolute times may lie apart: the server's clock runs on while the dialogue does, and
/// is read anew for each command.
const CLOCK_TOLERANCE_MS: i64 = 2_000;

/// Longer values turn a listpack into a hash table, whose order is the server's seed's.
const LISTPACK_VALUE_BYTES: usize = 64;

/// How the replies to one command are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Exact,
    /// Times: integers may lie apart by what the clock runs on.
    Clock,
    /// The server iterates over a hash table: in any order.
    Unordered,
    /// As unordered, where names and values stand in turn.
    UnorderedPairs,
    /// Chosen at random: the same kind and number only.
    Chosen,
    /// What APPEND, SETRANGE and INCRBYFLOAT wrote has another encoding on the server until it is set anew.
    StringEncoding,
    /// As unordered, and either may say that an element is no number.
    SortMayFail,
    /// Where in memory a table or a function lies.
    Addresses,
}

impl Rule {
    /// The rule for a command of a dialogue that may hold hash `tables` or not, on a server of this release.
    pub fn of(argv: &[Vec<u8>], tables: bool, version: &str) -> Rule {
        let argv = called(argv);
        let name = argv.first().map(|name| String::from_utf8_lossy(name).to_ascii_lowercase());
        match name.as_deref().unwrap_or_default() {
            "ttl" | "pttl" | "expiretime" | "pexpiretime" | "httl" | "hpttl" | "hexpiretime"
            | "hpexpiretime" => Rule::Clock,
            "keys" | "scan" => Rule::Unordered,
            "hscan" | "zscan" if tables && argv.iter().any(|word| is_brief(word)) => Rule::Unordered,
            "hgetall" | "hscan" | "zscan" if tables => Rule::UnorderedPairs,
            // 8.0 looks at an errno that an earlier call has left.
            "sort" | "sort_ro" if release(version) < (9, 0) => Rule::SortMayFail,
            "hkeys" | "hvals" | "smembers" | "sinter" | "sunion" | "sdiff" | "sscan" | "spop" | "sort"
            | "sort_ro"
                if tables =>
            {
                Rule::Unordered
            }
            // 8.0 makes unions and differences in a hash table, and takes whole sets as unions.
            "sunion" | "sdiff" | "spop" if release(version) < (9, 0) => Rule::Unordered,
            "eval" | "eval_ro" => Rule::Addresses,
            // The bytes of a table are in its order, and a checksum is over them.
            "dump" if tables => Rule::Chosen,
            "srandmember" | "hrandfield" | "zrandmember" => Rule::Chosen,
            "object" => Rule::StringEncoding,
            _ => Rule::Exact,
        }
    }

    /// Whether the two answers are one by this rule.
    pub fn allows(self, ours: &Reply, theirs: &Reply) -> bool {
        if same(ours, theirs) {
            return true;
        }
        match self {
            Rule::Exact => false,
            Rule::Clock => nearly(ours, theirs),
            Rule::SortMayFail => {
                is_sort_error(ours) || is_sort_error(theirs) || Rule::Unordered.allows(ours, theirs)
            }
            Rule::Unordered => same(&sorted(ours, 1), &sorted(theirs, 1)),
            Rule::UnorderedPairs => same(&sorted(ours, 2), &sorted(theirs, 2)),
            Rule::Chosen => alike(ours, theirs),
            Rule::Addresses => same(&without_addresses(ours), &without_addresses(theirs)),
            Rule::StringEncoding => is_string_encoding(ours) && is_string_encoding(theirs),
        }
    }
}

/// Asks for the names alone.
fn is_brief(word: &[u8]) -> bool {
    word.eq_ignore_ascii_case(b"NOVALUES") || word.eq_ignore_ascii_case(b"NOSCORES")
}

/// The command that a script runs for a dialogue, or the command itself.
fn called(argv: &[Vec<u8>]) -> &[Vec<u8>] {
    match argv {
        [name, script, _, wrapped @ ..]
            if name.to_ascii_lowercase().starts_with(b"eval") && script.ends_with(b"(unpack(ARGV))") =>
        {
            wrapped
        }
        [name, script, _, wrapped @ ..]
            if name.eq_ignore_ascii_case(b"eval") && script.starts_with(b"local r = redis.call(unpack") =>
        {
            wrapped
        }
        _ => argv,
    }
}

/// Whether a dialogue's collections may have turned into hash tables: for what was sent, or what was counted, or
/// because SORT looked at a sorted set, fields expire, or 8.0 stored a union.
pub fn may_hold_tables<'a>(argvs: impl IntoIterator<Item = &'a Vec<Vec<u8>>>, replies: &'a [Reply]) -> bool {
    let is_long = |word: &Vec<u8>| word.len() > LISTPACK_VALUE_BYTES && !word.starts_with(b"return");
    let makes = |word: &Vec<u8>| {
        let word = word.to_ascii_uppercase();
        [b"SORT".as_slice(), b"SUNIONSTORE", b"SDIFFSTORE", b"HEXPIRE", b"HPEXPIRE", b"HSETEX", b"HGETEX"]
            .iter()
            .any(|maker| word.starts_with(maker))
    };
    let sorts = |argv: &Vec<Vec<u8>>| argv.iter().any(makes);
    argvs.into_iter().any(|argv| sorts(argv) || argv.iter().any(is_long))
        || replies.iter().any(|reply| holds(reply, &is_long))
}

fn holds(reply: &Reply, is_wanted: &impl Fn(&Vec<u8>) -> bool) -> bool {
    match reply {
        Reply::Bulk(text) => is_wanted(text),
        Reply::Array(items) | Reply::Set(items) => items.iter().any(|item| holds(item, is_wanted)),
        _ => false,
    }
}

/// Equal to the bit: a NaN is itself, and 0 is not -0. What a client sent stands in the engine's errors as UTF-8.
fn same(a: &Reply, b: &Reply) -> bool {
    if let (Reply::Error(a), Reply::Error(b)) = (a, b) {
        return String::from_utf8_lossy(a) == String::from_utf8_lossy(b);
    }
    a == b && !matches!(a, Reply::Double(_)) || format!("{a:?}") == format!("{b:?}")
}

fn nearly(a: &Reply, b: &Reply) -> bool {
    match (a, b) {
        (Reply::Integer(a), Reply::Integer(b)) => (a - b).abs() <= CLOCK_TOLERANCE_MS,
        (Reply::Array(a), Reply::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b) || nearly(a, b))
        }
        _ => false,
    }
}

/// The reply with the items of each array and set sorted in groups of `group`.
fn sorted(reply: &Reply, group: usize) -> Reply {
    let by_text = |items: &[Reply]| {
        let mut groups: Vec<Vec<Reply>> =
            items.chunks(group).map(|items| items.iter().map(|item| sorted(item, group)).collect()).collect();
        groups.sort_by_key(|items| format!("{items:?}"));
        groups.concat()
    };
    match reply {
        // A cursor and what it found: the order of these two says something.
        Reply::Array(items) if matches!(items.as_slice(), [Reply::Bulk(_), Reply::Array(_)]) => {
            Reply::Array(items.iter().map(|item| sorted(item, group)).collect())
        }
        Reply::Array(items) => Reply::Array(by_text(items)),
        Reply::Set(items) => Reply::Set(by_text(items)),
        Reply::Map(pairs) => {
            let mut pairs = pairs.clone();
            pairs.sort_by_key(|pair| format!("{pair:?}"));
            Reply::Map(pairs)
        }
        other => other.clone(),
    }
}

fn alike(a: &Reply, b: &Reply) -> bool {
    match (a, b) {
        (Reply::Array(a), Reply::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Reply::Error(_), _) | (_, Reply::Error(_)) => false,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

fn without_addresses(reply: &Reply) -> Reply {
    let all = |items: &[Reply]| items.iter().map(without_addresses).collect();
    match reply {
        Reply::Bulk(text) => Reply::Bulk(without_digits(text)),
        Reply::Error(text) => Reply::Error(without_digits(text)),
        Reply::Status(text) => Reply::Status(without_digits(text).into()),
        Reply::BigNumber(text) => Reply::BigNumber(without_digits(text)),
        Reply::Verbatim { format, text } => Reply::Verbatim { format: *format, text: without_digits(text) },
        Reply::Array(items) => Reply::Array(all(items)),
        Reply::Set(items) => Reply::Set(all(items)),
        Reply::Map(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| (without_addresses(key), without_addresses(value)));
            Reply::Map(pairs.collect())
        }
        other => other.clone(),
    }
}

/// `table: 0x55d0…` as `table: 0x`, in whatever case.
fn without_digits(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        out.push(byte);
        rest = tail;
        if out.to_ascii_lowercase().ends_with(b": 0x") {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            rest = &rest[digits..];
        }
    }
    out
}

fn is_sort_error(reply: &Reply) -> bool {
    matches!(reply, Reply::Error(text) if text.ends_with(b"can't be converted into double"))
}

fn is_string_encoding(reply: &Reply) -> bool {
    matches!(reply, Reply::Bulk(text) if matches!(text.as_slice(), b"raw" | b"embstr" | b"int"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, ours: &Reply, theirs: &Reply, allowed: bool) {
        let argv = crate::cases::split(line).unwrap();
        assert_eq!(
            Rule::of(&argv, true, "9.1.2").allows(ours, theirs),
            allowed,
            "{line}: {ours} and {theirs}"
        );
    }

    #[test]
    fn a_rule_loosens_what_it_names_and_no_more() {
        let texts = |texts: &[&str]| Reply::Array(texts.iter().map(|text| Reply::bulk(*text)).collect());
        check("GET k", &Reply::Integer(1), &Reply::Integer(2), false);
        check("PTTL k", &Reply::Integer(1000), &Reply::Integer(999), true);
        check("PTTL k", &Reply::Integer(9000), &Reply::Integer(999), false);
        check("HGETALL h", &texts(&["a", "1", "b", "2"]), &texts(&["b", "2", "a", "1"]), true);
        check("HGETALL h", &texts(&["a", "1", "b", "2"]), &texts(&["b", "1", "a", "2"]), false);
        check("SMEMBERS s", &texts(&["a", "b"]), &texts(&["b", "a"]), true);
        check("LRANGE l 0 -1", &texts(&["a", "b"]), &texts(&["b", "a"]), false);
        check("SRANDMEMBER s 1", &texts(&["a"]), &texts(&["b"]), true);
        check("SRANDMEMBER s 1", &texts(&["a"]), &texts(&["b", "a"]), false);
        check("OBJECT ENCODING k", &Reply::bulk("raw"), &Reply::bulk("embstr"), true);
        check("OBJECT ENCODING k", &Reply::bulk("raw"), &Reply::bulk("listpack"), false);
        check("EVAL '' 0", &Reply::bulk("table: 0x1f"), &Reply::bulk("table: 0x20a"), true);
        check("EVAL '' 0", &Reply::bulk("table: 0x1f"), &Reply::bulk("thread: 0x1f"), false);
        check("ZSCORE z m", &Reply::Double(0.0), &Reply::Double(-0.0), false);
        check(
            "EVAL 'return redis.call(unpack(ARGV))' 0 KEYS *",
            &texts(&["a", "b"]),
            &texts(&["b", "a"]),
            true,
        );
    }
}
