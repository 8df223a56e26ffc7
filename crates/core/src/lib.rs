//! EchoMQ: a job queue whose every state change is one Lua script.
//!
//! This crate holds what is the same on every wire: the key names, the ids, the scripts of `lua/`, the verbs, and
//! the rung check L1..L6 that a wire must pass. It talks through [`Wire`] alone and never asks what is behind it.

pub mod wire;

pub use echomq_engine::Reply;
pub use wire::{EngineWire, Wire, WireError};
