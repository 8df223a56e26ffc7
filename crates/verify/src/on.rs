//! What `--on` names, and the places to run on that it stands for.

use std::fmt;
use std::str::FromStr;

use echomq_core::{EngineWire, Wire};

use crate::resp::{ConnectError, Target, TargetError};
use crate::server::{Server, ServerError};

/// The value of `--on`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// The in-memory engine, in this process.
    Engine,
    /// Every real server at hand: see [`Server::all`].
    Valkey,
    /// One server that runs already.
    At(Target),
}

/// Why a text is no [`On`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("expected engine, valkey, or where a server runs; {0}")]
pub struct OnError(#[from] TargetError);

/// Something that answers as Valkey does, ready for connections.
#[derive(Debug)]
pub enum Place {
    Engine,
    Server(Server),
}

impl On {
    /// The places, started where they don't run yet.
    ///
    /// # Errors
    /// When no server is at hand, or one does not start or answer.
    pub fn places(&self) -> Result<Vec<Place>, ServerError> {
        match self {
            On::Engine => Ok(vec![Place::Engine]),
            On::Valkey => Ok(Server::all()?.into_iter().map(Place::Server).collect()),
            On::At(target) => Ok(vec![Place::Server(Server::attach(target)?)]),
        }
    }
}

impl FromStr for On {
    type Err = OnError;

    fn from_str(text: &str) -> Result<On, OnError> {
        match text {
            "engine" => Ok(On::Engine),
            "valkey" => Ok(On::Valkey),
            other => Ok(On::At(other.parse()?)),
        }
    }
}

impl Place {
    /// A new connection. An engine is new with its connection, and empty; its clock stands at
    /// [`EngineWire::START`].
    ///
    /// # Errors
    /// When a server can't be reached.
    pub fn wire(&self) -> Result<Box<dyn Wire>, ConnectError> {
        match self {
            Place::Engine => Ok(Box::<EngineWire>::default()),
            Place::Server(server) => Ok(Box::new(server.connect()?)),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Engine => f.write_str("engine"),
            Place::Server(server) => write!(f, "valkey {} at {}", server.version(), server.target()),
        }
    }
}
