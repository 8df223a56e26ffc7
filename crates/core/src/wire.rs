//! The one way out: argv in, reply out.

use std::time::Duration;

use echomq_engine::{Clock, Config, Engine, Reply, ScriptTrace, Session};

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

    /// What the scripts did since the last call of this, oldest first, on a wire that can tell.
    fn traces(&mut self) -> Vec<ScriptTrace> {
        Vec::new()
    }
}

/// The server's `TIME` in ms since 1970.
///
/// # Errors
/// When the wire brings no reply, or one that is no time.
pub fn server_time_ms(wire: &mut dyn Wire) -> Result<u64, WireError> {
    let reply = wire.call(&[b"TIME"])?;
    let part = |part: &Reply| match part {
        Reply::Bulk(digits) => std::str::from_utf8(digits).ok()?.parse::<u64>().ok(),
        _ => None,
    };
    let time = match &reply {
        Reply::Array(parts) => match parts.as_slice() {
            [seconds, micros] => part(seconds).zip(part(micros)),
            _ => None,
        },
        _ => None,
    };
    let ms = time.and_then(|(seconds, micros)| seconds.checked_mul(1000)?.checked_add(micros / 1000));
    ms.ok_or_else(|| WireError(format!("TIME answered what is no time: {reply}")))
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
    /// 2026-01-01T00:00:00Z.
    pub const START: Clock = Clock::from_unix_ms(1_767_225_600_000);

    pub fn new(mut engine: Engine) -> EngineWire {
        let session = engine.session();
        EngineWire { engine, session }
    }

    /// The same, with [`Wire::traces`] to read.
    #[must_use]
    pub fn traced(mut self) -> EngineWire {
        self.engine.set_tracing(true);
        self
    }

    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

/// A new engine whose clock stands at [`EngineWire::START`], so that every run in every browser is the same run.
impl Default for EngineWire {
    fn default() -> EngineWire {
        EngineWire::new(Engine::new(Config { clock: EngineWire::START, ..Config::default() }))
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

    fn traces(&mut self) -> Vec<ScriptTrace> {
        self.engine.take_traces()
    }
}
