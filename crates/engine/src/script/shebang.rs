//! The first line of a source that says who runs it and how: `#!lua flags=no-writes`, `#!lua name=library`.

use super::Access;
use crate::engine::Version;
use crate::error::CommandError;

bitflags::bitflags! {
    /// What a script or a function says about itself. `NO_WRITES` and `ALLOW_OOM` have an effect here: there is no
    /// stale replica and no cluster.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct ScriptFlags: u32 {
        const NO_WRITES = 1;
        const ALLOW_OOM = 1 << 1;
        const ALLOW_STALE = 1 << 2;
        const NO_CLUSTER = 1 << 3;
        const ALLOW_CROSS_SLOT_KEYS = 1 << 4;
    }
}

/// In the order in which FUNCTION LIST shows them.
const NAMES: &[(&str, ScriptFlags)] = &[
    ("no-writes", ScriptFlags::NO_WRITES),
    ("allow-oom", ScriptFlags::ALLOW_OOM),
    ("allow-stale", ScriptFlags::ALLOW_STALE),
    ("no-cluster", ScriptFlags::NO_CLUSTER),
    ("allow-cross-slot-keys", ScriptFlags::ALLOW_CROSS_SLOT_KEYS),
];

impl ScriptFlags {
    pub fn named(name: &[u8]) -> Option<ScriptFlags> {
        let known = NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
        known.map(|(_, flag)| *flag)
    }

    /// What code with these flags may do when it is called with `asked`.
    pub fn access(self, asked: Access) -> Result<Access, CommandError> {
        match (self.contains(ScriptFlags::NO_WRITES), asked) {
            (true, _) => Ok(Access::ReadOnly),
            (false, Access::Full) => Ok(Access::Full),
            (false, Access::ReadOnly) => Err(CommandError::READ_ONLY_CALL),
        }
    }

    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES.iter().filter(move |(_, flag)| self.contains(*flag)).map(|(name, _)| *name)
    }
}

/// A first line in parts.
#[derive(Debug)]
pub(super) struct Shebang {
    /// Between `#!` and the first space.
    pub engine: Vec<u8>,
    pub options: Vec<Vec<u8>>,
}

/// Why a first line cannot be read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Malformed {
    NoEnd,
    Quotes,
}

impl Shebang {
    /// `None` for a source that does not begin with `#!`.
    pub fn read(source: &[u8], version: Version) -> Option<Result<Shebang, Malformed>> {
        let rest = source.strip_prefix(b"#!")?;
        let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
            return Some(Err(Malformed::NoEnd));
        };
        let line = rest.get(..end).unwrap_or_default();
        // The mark belongs to the first word, which a space right behind it ends.
        let Some(words) = words(&[b"#!", line].concat(), version) else {
            return Some(Err(Malformed::Quotes));
        };
        let mut words = words.into_iter();
        let engine = words.next().map(|word| word.get(2..).unwrap_or_default().to_vec()).unwrap_or_default();
        Some(Ok(Shebang { engine, options: words.collect() }))
    }

    pub fn is_lua(&self) -> bool {
        self.engine.eq_ignore_ascii_case(b"lua")
    }
}

/// What is left of a source without its first line.
pub(super) fn code(source: &[u8]) -> &[u8] {
    let end = source.iter().position(|&byte| byte == b'\n').unwrap_or(source.len());
    source.get(end..).unwrap_or_default()
}

/// The flags of a script for EVAL; `None` without a first line with `#!`.
pub(super) fn script_flags(source: &[u8], version: Version) -> Result<Option<ScriptFlags>, CommandError> {
    let shebang = match Shebang::read(source, version) {
        None => return Ok(None),
        Some(Err(Malformed::NoEnd)) => return Err(CommandError::SHEBANG),
        Some(Err(Malformed::Quotes)) => return Err(CommandError::SHEBANG_ENGINE),
        Some(Ok(shebang)) => shebang,
    };
    let engine = String::from_utf8_lossy(&shebang.engine).into_owned();
    if version == Version::V8_0 && engine != "lua" {
        return Err(CommandError::ShebangEngine8 { engine });
    }
    let mut flags = ScriptFlags::default();
    for option in &shebang.options {
        let Some(list) = option.strip_prefix(b"flags=") else {
            return Err(CommandError::ShebangOption { option: String::from_utf8_lossy(option).into_owned() });
        };
        for name in list.split(|&byte| byte == b',').filter(|_| !list.is_empty()) {
            // Other than in a library, case matters.
            let flag = NAMES.iter().find(|(known, _)| name == known.as_bytes());
            let name = || String::from_utf8_lossy(name).into_owned();
            flags |= flag.ok_or_else(|| CommandError::ShebangFlag { flag: name() })?.1;
        }
    }
    if shebang.is_lua() { Ok(Some(flags)) } else { Err(CommandError::ScriptEngine { engine }) }
}

/// A line as a server takes it apart: words parted by spaces, `"…"` with escapes, `'…'` without. `None` for quotes
/// that are not closed, and in 8.0 for those that are closed in the middle of a word.
fn words(line: &[u8], version: Version) -> Option<Vec<Vec<u8>>> {
    let mut rest = line.trim_ascii_start();
    let mut words = Vec::new();
    while !rest.is_empty() {
        let mut word = Vec::new();
        while let Some((&first, tail)) = rest.split_first().filter(|(first, _)| !first.is_ascii_whitespace())
        {
            rest = tail;
            if first != b'"' && first != b'\'' {
                word.push(first);
                continue;
            }
            rest = quoted(tail, first, &mut word)?;
            if version == Version::V8_0 && rest.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
                return None;
            }
        }
        words.push(word);
        rest = rest.trim_ascii_start();
    }
    Some(words)
}

/// Reads up to the closing `quote`; what is behind it.
fn quoted<'a>(mut rest: &'a [u8], quote: u8, word: &mut Vec<u8>) -> Option<&'a [u8]> {
    let is_double = quote == b'"';
    loop {
        let (byte, tail) = match rest {
            [b'\\', b'x', high, low, tail @ ..] if is_double => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high * 16 + low, tail),
                _ => (b'x', &rest[2..]),
            },
            [b'\\', escaped, tail @ ..] if is_double => (unescape(*escaped), tail),
            [b'\\', b'\'', tail @ ..] => (b'\'', tail),
            [byte, tail @ ..] if *byte == quote => return Some(tail),
            [byte, tail @ ..] => (*byte, tail),
            [] => return None,
        };
        word.push(byte);
        rest = tail;
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        other => other,
    }
}
