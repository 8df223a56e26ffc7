//! What belongs to one connection: database, protocol, an open transaction, watched keys.

#[cfg(feature = "commands")]
use std::cell::Cell;

use crate::keyspace::KeyVersion;

/// The protocol version that a connection speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    #[default]
    Resp2,
    Resp3,
}

/// One client's connection. Made by [`crate::Engine::session`].
#[derive(Clone, Debug, Default)]
pub struct Session {
    pub(crate) id: u64,
    pub(crate) db: usize,
    pub(crate) protocol: Protocol,
    pub(crate) name: Vec<u8>,
    pub(crate) transaction: Option<Transaction>,
    pub(crate) watched: Vec<WatchedKey>,
    /// A script that must not write runs for this session.
    pub(crate) read_only: bool,
    /// Commands of this session come from a script.
    #[cfg(feature = "sort")]
    pub(crate) in_script: bool,
    pub(crate) library: Library,
    /// There for a connection that the engine keeps ([`crate::Engine::connect`]).
    #[cfg(feature = "live")]
    pub(crate) link: Option<Box<crate::live::Link>>,
    /// See `Ctx::count_steps`.
    #[cfg(feature = "commands")]
    pub(crate) steps: Cell<u64>,
}

impl Session {
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }
}

/// What a client told about itself by CLIENT SETINFO.
#[derive(Clone, Debug, Default)]
pub(crate) struct Library {
    pub name: Vec<u8>,
    pub version: Vec<u8>,
}

/// The commands queued since MULTI.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transaction {
    pub queued: Vec<Vec<Vec<u8>>>,
    /// A command was refused while queueing, so EXEC will answer EXECABORT.
    pub aborted: bool,
}

/// A key under WATCH with the version that it had.
#[derive(Clone, Debug)]
pub(crate) struct WatchedKey {
    pub db: usize,
    pub key: Vec<u8>,
    pub version: KeyVersion,
}
