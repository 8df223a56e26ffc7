//! The engine: the data, the script host, and the way in for a client's calls.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use crate::clock::Clock;
use crate::command;
use crate::error::Failure;
use crate::keyspace::Keyspace;
use crate::reply::Reply;
#[cfg(feature = "functions")]
use crate::script::Libraries;
use crate::script::{Host, ScriptCache};
use crate::session::Session;
use crate::trace::ScriptTrace;

/// Whose words the engine speaks where releases differ (`before_9` in `tests/cases`). Commands and options that
/// 8.0 has not yet (DELIFEQ, MSETEX, SET IFEQ, CLUSTER KEYSLOT without a cluster) are there in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    V8_0,
    #[default]
    V9_1,
}

/// Bounds on what one call may use, so that no script and no argument can take the page with it.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Turns of loops and calls of functions in one script run, and as many steps of what a function does by itself.
    pub script_steps: u64,
    /// Bytes that Lua may hold.
    pub lua_memory_bytes: usize,
    /// Bytes of one argument or value; Valkey's `proto-max-bulk-len` is 512 MiB.
    pub bulk_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { script_steps: 20_000_000, lua_memory_bytes: 64 << 20, bulk_bytes: 64 << 20 }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Config {
    pub version: Version,
    pub limits: Limits,
    /// The time when the engine starts.
    pub clock: Clock,
}

/// One node. Not `Send`: values are shared by reference counts without locks.
pub struct Engine {
    pub(crate) state: Rc<RefCell<State>>,
    /// Made at the first script, for a Lua state costs time and memory.
    host: Option<Host>,
    config: Config,
    /// How many sessions there were.
    sessions: Rc<Cell<u64>>,
}

/// The data at one moment: databases, script cache and clock. Cheap to take, to keep and to go back to.
#[derive(Clone, Debug)]
pub struct Snapshot(State);

/// All that a snapshot holds.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub keyspace: Keyspace,
    pub scripts: ScriptCache,
    #[cfg(feature = "functions")]
    pub libraries: Libraries,
    pub clock: Clock,
    pub config: Config,
    /// `Some` while tracing: the finished runs, oldest first.
    pub traces: Option<Vec<ScriptTrace>>,
    #[cfg(feature = "live")]
    pub live: crate::live::Live,
}

#[cfg(feature = "field-expiry")]
impl State {
    /// Time moves between calls only, so one look before each is enough.
    pub fn drop_expired_fields(&mut self) {
        self.keyspace.drop_expired_fields(self.clock);
    }
}

impl Engine {
    pub fn new(config: Config) -> Engine {
        let sessions: Rc<Cell<u64>> = Rc::default();
        let state = State {
            keyspace: Keyspace::default(),
            scripts: ScriptCache::default(),
            #[cfg(feature = "functions")]
            libraries: Libraries::default(),
            clock: config.clock,
            config,
            traces: None,
            #[cfg(feature = "live")]
            live: crate::live::Live::new(Rc::clone(&sessions)),
        };
        Engine { state: Rc::new(RefCell::new(state)), host: None, config, sessions }
    }

    /// A new connection.
    pub fn session(&mut self) -> Session {
        self.sessions.set(self.sessions.get() + 1);
        Session { id: self.sessions.get(), ..Session::default() }
    }

    /// Runs one command: `argv[0]` is its name. Server errors are replies; a [`Failure`] is the engine's own.
    ///
    /// # Errors
    /// When a script runs into one of the [`Limits`]. The engine stays usable.
    pub fn call(&mut self, session: &mut Session, argv: &[&[u8]]) -> Result<Reply, Failure> {
        command::run(self, session, argv)
    }

    pub fn clock(&self) -> Clock {
        self.state.borrow().clock
    }

    pub fn set_clock(&mut self, clock: Clock) {
        self.state.borrow_mut().clock = clock;
    }

    pub fn advance(&mut self, by: Duration) {
        let mut state = self.state.borrow_mut();
        state.clock = state.clock.after(by);
    }

    pub fn snapshot(&self) -> Snapshot {
        let state = self.state.borrow();
        // Copies of shared data only, but for the traces, which tell of runs and not of data.
        Snapshot(State {
            keyspace: state.keyspace.clone(),
            scripts: state.scripts.clone(),
            #[cfg(feature = "functions")]
            libraries: state.libraries.clone(),
            clock: state.clock,
            config: state.config,
            traces: None,
            #[cfg(feature = "live")]
            live: crate::live::Live::default(),
        })
    }

    /// Goes back (or over) to `snapshot`. Sessions and traces are not part of it: WATCH and MULTI stay as they
    /// are, connections stay open, and what was recorded stays recorded.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let mut state = self.state.borrow_mut();
        let traces = state.traces.take();
        #[cfg(feature = "live")]
        let live = std::mem::take(&mut state.live);
        *state = State {
            traces,
            #[cfg(feature = "live")]
            live,
            ..snapshot.0.clone()
        };
    }

    /// Starts or stops recording [`ScriptTrace`]s. Off, scripts run without hooks.
    pub fn set_tracing(&mut self, on: bool) {
        self.state.borrow_mut().traces = on.then(Vec::new);
    }

    /// The traces since the last call of this, oldest first.
    pub fn take_traces(&mut self) -> Vec<ScriptTrace> {
        self.state.borrow_mut().traces.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn version(&self) -> Version {
        self.config.version
    }

    pub(crate) fn host(&mut self) -> Result<&mut Host, Failure> {
        if self.host.is_none() {
            self.host = Some(Host::new(Rc::clone(&self.state), &self.config)?);
        }
        self.host.as_mut().ok_or_else(|| Failure::Host("no Lua state".to_owned()))
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("state", &self.state).finish_non_exhaustive()
    }
}
