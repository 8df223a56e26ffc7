//! An in-memory Valkey: keyspace, command table, clock, replies, Lua scripts, transactions, expiry, and a
//! trace of every `redis.call`.
//!
//! The engine does no IO, reads no clock and uses no entropy: time stands still until the owner moves it
//! ([`Engine::set_clock`], [`Engine::advance`]), so that a run can be repeated to the byte. Copying its data is
//! cheap ([`Engine::snapshot`]): values are shared and copied when written.
//!
//! ```
//! use echomq_engine::{Config, Engine};
//!
//! let mut engine = Engine::new(Config::default());
//! let mut session = engine.session();
//! let reply = engine.call(&mut session, &[b"INCRBY", b"visits", b"2"])?;
//! assert_eq!(reply.to_string(), "(integer) 2");
//! # Ok::<(), echomq_engine::Failure>(())
//! ```

#![cfg_attr(
    not(feature = "full"),
    allow(dead_code, reason = "the structures are whole, whatever families use them")
)]

mod clock;
mod command;
mod engine;
mod error;
mod keyspace;
#[cfg(feature = "live")]
mod live;
#[cfg(feature = "dump")]
mod rdb;
mod reply;
mod script;
mod session;
mod trace;
mod value;

pub use clock::Clock;
pub use engine::{Config, Engine, Limits, Snapshot, Version};
pub use error::{CommandError, Failure};
pub use keyspace::Entry;
#[cfg(feature = "live")]
pub use live::{Busy, Delivery, Outgoing};
pub use reply::{Reply, double_text};
pub use session::{Protocol, Session};
pub use trace::{CallTrace, KeyChange, ScriptTrace};
#[cfg(feature = "list")]
pub use value::List;
#[cfg(feature = "set")]
pub use value::Set;
pub use value::{Hash, Value, Zset};
