//! The scripts that a server knows by their digests.

use std::rc::Rc;

use super::random::Lrand48;
#[cfg(feature = "functions")]
use super::shebang::ScriptFlags;
use crate::error::CommandError;

/// One script that can run.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// Lower-case hexadecimal SHA-1 of the source.
    pub sha: Rc<str>,
    pub source: Rc<[u8]>,
    /// What its first line says, if that is one with `#!`.
    #[cfg(feature = "functions")]
    pub flags: Option<ScriptFlags>,
}

impl Script {
    /// What Lua reads of the source: not a first line with `#!`, but its end, so that lines keep their numbers.
    pub(super) fn code(&self) -> &[u8] {
        #[cfg(feature = "functions")]
        if self.flags.is_some() {
            return super::shebang::code(&self.source);
        }
        &self.source
    }

    /// What the script may do when it is called with `asked`.
    ///
    /// # Errors
    /// When it is called as one that only reads and does not say that it does.
    pub fn access(&self, asked: Access) -> Result<Access, CommandError> {
        #[cfg(feature = "functions")]
        if let Some(flags) = self.flags {
            return flags.access(asked);
        }
        Ok(asked)
    }
}

/// Whether a script may call commands that write: `EVAL_RO` and `EVALSHA_RO` run with `ReadOnly`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Full,
    ReadOnly,
}

/// Sources by SHA-1, part of every snapshot. What Lua compiled of them stays in the [`super::Host`], so that going back to
/// a snapshot compiles nothing again, and a script that the snapshot does not know is answered NOSCRIPT.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptCache {
    /// In the order of their digests.
    scripts: Rc<Vec<Script>>,
    /// `math.random` goes on from script to script, so its state belongs to the server's.
    pub(super) random: Lrand48,
}

impl ScriptCache {
    /// The script of a digest as a client sends it, in either case (EVALSHA, SCRIPT SHOW).
    pub fn get(&self, sha: &[u8]) -> Option<&Script> {
        let place = self.place(sha).or_else(|_| self.place(&sha.to_ascii_lowercase())).ok()?;
        self.scripts.get(place)
    }

    /// SCRIPT EXISTS.
    pub fn contains(&self, sha: &[u8]) -> bool {
        self.get(sha).is_some()
    }

    /// SCRIPT FLUSH.
    pub fn flush(&mut self) {
        self.scripts = Rc::default();
    }

    pub fn len(&self) -> usize {
        self.scripts.len()
    }

    pub fn insert(&mut self, script: Script) {
        if let Err(place) = self.place(script.sha.as_bytes()) {
            Rc::make_mut(&mut self.scripts).insert(place, script);
        }
    }

    /// Where the script with this digest is, or else where it would be.
    fn place(&self, sha: &[u8]) -> Result<usize, usize> {
        self.scripts.binary_search_by(|script| script.sha.as_bytes().cmp(sha))
    }
}
