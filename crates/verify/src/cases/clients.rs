//! Who answers a dialogue: the engine, or a real server.

use std::time::Duration;

use echomq_core::{EngineWire, Reply, Wire, WireError};
use echomq_engine::{Config, Engine, Session, Version};

use super::release;
use crate::resp::RespWire;
use crate::server::Server;

/// Something with connections, numbered from 0 and made when they are first used.
pub trait Clients {
    /// # Errors
    /// When there is no reply.
    fn call(&mut self, client: usize, argv: &[&[u8]]) -> Result<Reply, WireError>;

    /// Lets `by` go by on the server's clock.
    ///
    /// # Errors
    /// When the server's clock cannot be read.
    fn pass(&mut self, by: Duration) -> Result<(), WireError>;

    /// Closes all connections.
    fn disconnect(&mut self);

    /// The release, such as `9.1.2`.
    fn version(&self) -> &str;
}

#[derive(Debug)]
pub struct EngineClients {
    engine: Engine,
    version: Version,
    sessions: Vec<Session>,
}

impl EngineClients {
    pub fn new(config: Config) -> EngineClients {
        EngineClients { engine: Engine::new(config), version: config.version, sessions: Vec::new() }
    }

    /// An engine that speaks as a server of this release does.
    pub fn of_release(version: &str) -> EngineClients {
        let version = if release(version) < (9, 0) { Version::V8_0 } else { Version::V9_1 };
        EngineClients::new(Config { clock: EngineWire::START, version, ..Config::default() })
    }
}

impl Clients for EngineClients {
    fn call(&mut self, client: usize, argv: &[&[u8]]) -> Result<Reply, WireError> {
        while self.sessions.len() <= client {
            self.sessions.push(self.engine.session());
        }
        let reply = self.engine.call(&mut self.sessions[client], argv);
        reply.map_err(|failure| WireError(failure.to_string()))
    }

    fn pass(&mut self, by: Duration) -> Result<(), WireError> {
        self.engine.advance(by);
        Ok(())
    }

    fn disconnect(&mut self) {
        self.sessions.clear();
    }

    fn version(&self) -> &str {
        match self.version {
            Version::V8_0 => "8.0.1",
            Version::V9_1 => "9.1.2",
        }
    }
}

#[derive(Debug)]
pub struct ServerClients {
    server: Server,
    wires: Vec<RespWire>,
}

impl ServerClients {
    pub fn new(server: Server) -> ServerClients {
        ServerClients { server, wires: Vec::new() }
    }
}

impl Clients for ServerClients {
    fn call(&mut self, client: usize, argv: &[&[u8]]) -> Result<Reply, WireError> {
        while self.wires.len() <= client {
            let wire = self.server.connect().map_err(|error| WireError(error.to_string()))?;
            self.wires.push(wire);
        }
        self.wires[client].call(argv)
    }

    fn pass(&mut self, by: Duration) -> Result<(), WireError> {
        std::thread::sleep(by);
        Ok(())
    }

    fn disconnect(&mut self) {
        self.wires.clear();
    }

    fn version(&self) -> &str {
        self.server.version()
    }
}
