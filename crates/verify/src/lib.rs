//! What `emq-verify` and the tests share: a [`Wire`](echomq_core::Wire) to a real Valkey, and real servers that
//! start with a test and end with it.
//!
//! ```no_run
//! use echomq_core::Wire;
//! use emq_verify::server::Server;
//!
//! for server in Server::all()? {
//!     let mut wire = server.connect()?;
//!     let reply = wire.call(&[b"PING"])?;
//!     println!("{}: {reply}", server.version());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cases;
pub mod fuzz;
pub mod on;
pub mod resp;
pub mod serve;
pub mod server;
mod words;
