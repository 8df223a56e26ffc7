//! EchoMQ: a job queue whose every state change is one Lua script.
//!
//! This crate holds what is the same on every wire: the key names, the ids, the scripts of `lua/`, the verbs, and
//! the rung check L1..L6 that a wire must pass. It talks through [`Wire`] alone and never asks what is behind it.

pub mod explore;
pub mod id;
pub mod keys;
pub mod meaning;
pub mod queue;
pub mod rung;
pub mod scenario;
pub mod schedule;
pub mod script;
pub mod snippet;
pub mod stage;
pub mod state;
pub mod wire;

pub use echomq_engine::Reply;
pub use id::{JobId, Mint};
pub use keys::Keys;
pub use queue::{CallError, Claim, Queue, Retried, Set};
pub use schedule::Schedule;
pub use script::{Call, Script, Scripts};
pub use state::QueueState;
pub use wire::{EngineWire, Wire, WireError};
