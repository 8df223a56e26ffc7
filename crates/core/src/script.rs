//! The eight scripts of `lua/` and how one of them is called.

use std::borrow::Cow;
use std::sync::OnceLock;

use echomq_engine::Reply;

use crate::wire::{Wire, WireError};

/// One script: its name, its bytes and the SHA-1 that `EVALSHA` takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    name: &'static str,
    source: Cow<'static, str>,
    sha: String,
}

/// The scripts of one bundle, by verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripts {
    pub enqueue: Script,
    pub claim: Script,
    pub complete: Script,
    pub retry: Script,
    pub promote: Script,
    pub reap: Script,
    pub browse: Script,
    pub pending_size: Script,
}

/// One call of a script: what a client sends, as a value that can be sent, shown and copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'s> {
    pub script: &'s Script,
    pub keys: Vec<String>,
    pub args: Vec<Vec<u8>>,
}

macro_rules! bundled {
    ($name:literal) => {
        Script::new($name, include_str!(concat!("../../../lua/", $name, ".lua")))
    };
}

impl Script {
    pub fn new(name: &'static str, source: impl Into<Cow<'static, str>>) -> Script {
        let source = source.into();
        let sha = sha1_smol::Sha1::from(source.as_bytes()).hexdigest();
        Script { name, source, sha }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    /// Lower-case hexadecimal SHA-1 of the source.
    pub fn sha(&self) -> &str {
        &self.sha
    }
}

impl Scripts {
    /// The files of `lua/`, embedded.
    pub fn bundled() -> &'static Scripts {
        static BUNDLED: OnceLock<Scripts> = OnceLock::new();
        BUNDLED.get_or_init(|| Scripts {
            enqueue: bundled!("enqueue"),
            claim: bundled!("claim"),
            complete: bundled!("complete"),
            retry: bundled!("retry"),
            promote: bundled!("promote"),
            reap: bundled!("reap"),
            browse: bundled!("browse"),
            pending_size: bundled!("pending_size"),
        })
    }

    /// All eight, in the order of the contract table of `lua/README.md`.
    pub fn all(&self) -> [&Script; 8] {
        [
            &self.enqueue,
            &self.claim,
            &self.complete,
            &self.retry,
            &self.promote,
            &self.reap,
            &self.browse,
            &self.pending_size,
        ]
    }
}

impl Call<'_> {
    /// The argv of this call by `EVALSHA`.
    pub fn evalsha(&self) -> Vec<Vec<u8>> {
        self.argv("EVALSHA", self.script.sha())
    }

    /// The argv of this call by `EVAL`, which brings the source along.
    pub fn eval(&self) -> Vec<Vec<u8>> {
        self.argv("EVAL", self.script.source())
    }

    /// Sends the call by its digest. A server that does not know the script yet (`NOSCRIPT`) gets it by one `EVAL`,
    /// which also runs it; from then on the digest is enough.
    ///
    /// # Errors
    /// When the wire brings no reply.
    pub fn send(&self, wire: &mut dyn Wire) -> Result<Reply, WireError> {
        let count = self.keys.len().to_string();
        let reply = wire.call(&self.words("EVALSHA", self.script.sha(), &count))?;
        if reply.error_class() == Some(b"NOSCRIPT") {
            wire.call(&self.words("EVAL", self.script.source(), &count))
        } else {
            Ok(reply)
        }
    }

    fn argv(&self, command: &str, script: &str) -> Vec<Vec<u8>> {
        let count = self.keys.len().to_string();
        self.words(command, script, &count).into_iter().map(<[u8]>::to_vec).collect()
    }

    fn words<'c>(&'c self, command: &'c str, script: &'c str, count: &'c str) -> Vec<&'c [u8]> {
        let mut words = Vec::with_capacity(3 + self.keys.len() + self.args.len());
        words.extend([command, script, count].map(str::as_bytes));
        words.extend(self.keys.iter().map(String::as_bytes));
        words.extend(self.args.iter().map(Vec::as_slice));
        words
    }
}
