//! The one way out: argv in, reply out.

use std::time::Duration;

use echomq_engine::{Engine, Reply, Session};

/// A connection to something that answers as Valkey does.
pub trait Wire {
    /// Sends one command and waits for its reply. What the server refuses is a reply ([`Reply::Error`]).
    ///
    /// # Errors
    /// When there is no reply: the connection broke, or the engine stopped a script at its limits.
    fn call(&mut self, argv: &[&[u8]]) -> Result<Reply, WireError>;

    /// Returns when at least `by` more has gone by on the server's clock. A real server is waited for, the
    /// engine's clock is moved.
    ///
    /// # Errors
    /// When the server's clock cannot be read.
    fn pass(&mut self, by: Duration) -> Result<(), WireError>;
}

/// Why a call brought no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WireError(pub String);

/// The in-memory engine with one connection to it.
#[derive(Debug)]
pub struct EngineWire {
    engine: Engine,
    session: Session,
}

impl EngineWire {
    pub fn new(mut engine: Engine) -> EngineWire {
        let session = engine.session();
        EngineWire { engine, session }
    }

    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl Wire for EngineWire {
    fn call(&mut self, argv: &[&[u8]]) -> Result<Reply, WireError> {
        self.engine.call(&mut self.session, argv).map_err(|failure| WireError(failure.to_string()))
    }

    fn pass(&mut self, by: Duration) -> Result<(), WireError> {
        self.engine.advance(by);
        Ok(())
    }
}
