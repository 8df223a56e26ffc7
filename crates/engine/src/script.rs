//! The script host: Lua with Valkey's surface.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;

use crate::engine::{Config, State};
use crate::error::{Failure, Interrupt};
use crate::keyspace::Hasher;
use crate::reply::Reply;
use crate::session::Session;

/// One script that can run.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// Lower-case hexadecimal SHA-1 of the source.
    pub sha: Rc<str>,
    pub source: Rc<[u8]>,
}

/// Whether a script may call commands that write: `EVAL_RO` and `EVALSHA_RO` run with `ReadOnly`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Full,
    ReadOnly,
}

/// Sources by SHA-1, part of every snapshot. What Lua compiled of them stays in the [`Host`], so that going back to
/// a snapshot compiles nothing again, and a script that the snapshot does not know is answered NOSCRIPT.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptCache {
    scripts: Rc<IndexMap<Rc<str>, Script, Hasher>>,
}

impl ScriptCache {
    /// The script of a digest as a client sends it, in either case (EVALSHA, SCRIPT SHOW).
    pub fn get(&self, sha: &[u8]) -> Option<&Script> {
        let sha = std::str::from_utf8(sha).ok()?;
        match self.scripts.get(sha) {
            None if sha.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                self.scripts.get(sha.to_ascii_lowercase().as_str())
            }
            found => found,
        }
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

    fn insert(&mut self, script: Script) {
        Rc::make_mut(&mut self.scripts).insert(Rc::clone(&script.sha), script);
    }
}

/// The Lua state, and the chunks it compiled.
pub(crate) struct Host {
    state: Rc<RefCell<State>>,
}

impl Host {
    pub fn new(state: Rc<RefCell<State>>, _config: &Config) -> Result<Host, Failure> {
        Ok(Host { state })
    }

    /// EVAL and SCRIPT LOAD: the script of `source`, compiled and put into the cache when it is not there yet.
    /// The state must not be borrowed by the caller.
    ///
    /// # Errors
    /// `ERR Error compiling script (new function): …`; nothing is cached then.
    pub fn load(&mut self, source: &[u8]) -> Result<Script, Interrupt> {
        let sha = sha1_smol::Sha1::from(source).hexdigest();
        let script = Script { sha: Rc::from(sha.as_str()), source: Rc::from(source) };
        self.state.borrow_mut().scripts.insert(script.clone());
        Ok(script)
    }

    /// Runs `script` for the client of `session`: EVAL after [`Host::load`], EVALSHA after [`ScriptCache::get`]. SELECT
    /// and setresp inside the script end with it. The reply fits the protocol of `session`. The state must not be
    /// borrowed by the caller.
    ///
    /// # Errors
    /// A script's own error is an `Ok(Reply::Error(…))`, class first. `Err` is a limit of the engine.
    pub fn run(
        &mut self,
        _session: &Session,
        _script: &Script,
        _keys: &[&[u8]],
        _args: &[&[u8]],
        _access: Access,
    ) -> Result<Reply, Interrupt> {
        Ok(Reply::Nil)
    }
}
