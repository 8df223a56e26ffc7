//! What a script did: each `redis.call` with its source line, its reply and the keys that it changed.

use crate::keyspace::Entry;
use crate::reply::Reply;

/// One run of one script.
#[derive(Clone, Debug, Default)]
pub struct ScriptTrace {
    /// Lower-case hexadecimal SHA-1 of the source; of a function its name, of a library that loads nothing.
    pub sha: String,
    pub keys: Vec<Vec<u8>>,
    pub args: Vec<Vec<u8>>,
    pub calls: Vec<CallTrace>,
    /// Source lines in the order in which they ran, 1 for the first; a line in a loop appears once a pass.
    pub lines: Vec<u32>,
    /// Keys that were used though KEYS holds neither them nor a root of theirs (an entry that ends in `:` and
    /// starts the key).
    pub undeclared: Vec<Vec<u8>>,
}

/// One `redis.call` or `redis.pcall`.
#[derive(Clone, Debug)]
pub struct CallTrace {
    /// Source line of the call, 1 for the first.
    pub line: u32,
    pub argv: Vec<Vec<u8>>,
    pub reply: Reply,
    /// The keys that the command names, each with its entry before and after.
    pub keys: Vec<KeyChange>,
}

/// A key at a call: `before` and `after` share their value where the command changed nothing.
#[derive(Clone, Debug)]
pub struct KeyChange {
    pub key: Vec<u8>,
    pub before: Option<Entry>,
    pub after: Option<Entry>,
    /// The command may write this key (the flag of the command, not whether it did).
    pub write: bool,
}

impl KeyChange {
    pub fn changed(&self) -> bool {
        self.before != self.after
    }
}
