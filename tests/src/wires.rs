//! The same session on every wire.

use anyhow::{Result, ensure};
use echomq_core::{EngineWire, Wire};
use emq_verify::server::Server;

/// What a session answers on the engine, after it answered the same on every real server at hand.
///
/// # Errors
/// When a server is missing or answers differently.
pub fn on_every_wire<T: PartialEq + std::fmt::Debug>(
    session: impl Fn(Box<dyn Wire>, &str) -> Result<T>,
) -> Result<T> {
    // A server that somebody lends us may be used by another test at the same time.
    let queue = format!("page-{}", std::process::id());
    let expected = session(Box::new(EngineWire::default().traced()), &queue)?;
    let servers = Server::all()?;
    ensure!(!servers.is_empty(), "there is no Valkey server");
    for server in servers {
        let answers = session(Box::new(server.connect()?), &queue)?;
        let version = server.version();
        ensure!(answers == expected, "valkey {version} says\n{answers:#?}\nthe engine\n{expected:#?}");
    }
    Ok(expected)
}
