//! The script host: Lua with Valkey's surface.

use std::cell::RefCell;
use std::rc::Rc;

use crate::engine::{Config, State};
use crate::error::{Failure, Interrupt};
use crate::reply::Reply;
use crate::session::Session;

/// Sources by SHA-1, part of every snapshot. What Lua compiled of them stays in the [`Host`].
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptCache {}

/// One script that can run.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// Lower-case hexadecimal SHA-1.
    pub sha: Rc<str>,
    pub source: Rc<[u8]>,
}

/// The Lua state, and the chunks it compiled.
pub(crate) struct Host {
    _state: Rc<RefCell<State>>,
}

impl Host {
    pub fn new(state: Rc<RefCell<State>>, _config: &Config) -> Result<Host, Failure> {
        Ok(Host { _state: state })
    }

    /// Runs `script` for the client of `session`. The state must not be borrowed by the caller.
    pub fn run(
        &mut self,
        _session: &Session,
        _script: &Script,
        _keys: &[&[u8]],
        _args: &[&[u8]],
    ) -> Result<Reply, Interrupt> {
        Ok(Reply::Nil)
    }
}
