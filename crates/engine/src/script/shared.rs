//! What the functions that Lua calls share with the host: the data, the script's own client, the limits of the run.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::rc::Rc;

use super::Access;
use crate::engine::{Config, State};
#[cfg(feature = "live")]
use crate::error::CommandError;
use crate::error::Failure;
use crate::reply::Reply;
use crate::session::Session;
use crate::trace::ScriptTrace;

/// Lives in a box of the host, so that Lua can hold its address.
pub(super) struct Shared {
    pub state: Rc<RefCell<State>>,
    pub config: Config,
    /// The client that `redis.call` speaks for: SELECT and setresp change it and end with the run.
    pub session: RefCell<Session>,
    pub access: Cell<Access>,
    /// KEYS and ARGV of the run, for the time of `Host::run`.
    pub input: Cell<Input>,
    pub steps: Cell<u64>,
    pub wrote: Cell<bool>,
    /// Set when the run must not go on; every function that catches errors raises again then.
    pub stopped: Cell<Option<Stop>>,
    /// Where the error that ended the run was raised.
    pub error_line: Cell<c_int>,
    pub error_source: RefCell<String>,
    pub has_position: Cell<bool>,
    /// What is being pushed: kept here so that a jump out of the pushing loses nothing.
    pub reply: RefCell<Reply>,
    /// As `reply`, for bytes.
    pub text: RefCell<Vec<u8>>,
    /// Texts of the numbers among the arguments of the current `redis.call`.
    pub numbers: RefCell<Vec<u8>>,
    #[cfg(feature = "cjson")]
    pub cjson: Cell<super::cjson::Settings>,
    pub trace: RefCell<Option<ScriptTrace>>,
    #[cfg(feature = "functions")]
    pub registered: RefCell<super::functions::Registered>,
    /// For how long the owner says that the run has gone on: the clock stands still meanwhile.
    #[cfg(feature = "live")]
    pub spent_us: Cell<u64>,
    #[cfg(feature = "live")]
    pub watchdog: RefCell<Option<crate::live::Watchdog>>,
}

/// Instructions of a library that is being loaded. Valkey gives it half a second.
#[cfg(feature = "functions")]
const LOADING: u64 = 50_000_000;

#[derive(Clone, Copy)]
pub(super) struct Input {
    pub keys: *const [&'static [u8]],
    pub args: *const [&'static [u8]],
    pub work: Work,
}

/// What a run calls.
#[derive(Clone, Copy)]
pub(super) enum Work {
    /// The compiled chunk at this place in the host's table of chunks.
    Script(i64),
    /// The source of the library that is being loaded.
    #[cfg(feature = "functions")]
    Library,
    /// A function of a library, by their places.
    #[cfg(feature = "functions")]
    Function { library: i64, callback: i64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Endless,
    Memory,
    #[cfg(feature = "live")]
    ScriptKilled,
    #[cfg(feature = "live")]
    FunctionKilled,
}

#[cfg(feature = "live")]
impl Stop {
    /// What the client is told whose run somebody ended.
    pub fn killed(self) -> Option<CommandError> {
        match self {
            Stop::ScriptKilled => Some(CommandError::KILLED_SCRIPT),
            Stop::FunctionKilled => Some(CommandError::KILLED_FUNCTION),
            Stop::Endless | Stop::Memory => None,
        }
    }
}

impl Shared {
    pub fn new(state: Rc<RefCell<State>>, config: Config) -> Shared {
        Shared {
            state,
            config,
            session: RefCell::default(),
            access: Cell::new(Access::Full),
            input: Cell::new(Input::NONE),
            steps: Cell::new(0),
            wrote: Cell::new(false),
            stopped: Cell::new(None),
            error_line: Cell::new(-1),
            error_source: RefCell::default(),
            has_position: Cell::new(false),
            reply: RefCell::new(Reply::Nil),
            text: RefCell::default(),
            numbers: RefCell::default(),
            #[cfg(feature = "cjson")]
            cjson: Cell::default(),
            trace: RefCell::new(None),
            #[cfg(feature = "functions")]
            registered: RefCell::default(),
            #[cfg(feature = "live")]
            spent_us: Cell::new(0),
            #[cfg(feature = "live")]
            watchdog: RefCell::new(None),
        }
    }

    /// Makes everything as it is at the start of a run.
    pub fn begin(&self, session: &Session, access: Access) {
        *self.session.borrow_mut() = Session {
            id: session.id,
            db: session.db,
            #[cfg(feature = "sort")]
            in_script: true,
            ..Session::default()
        };
        self.access.set(access);
        self.steps.set(0);
        self.wrote.set(false);
        self.stopped.set(None);
        self.error_line.set(-1);
        #[cfg(feature = "live")]
        self.spent_us.set(0);
    }

    /// Counts work that Lua does not count, so that no loop of ours outlives the budget; false when it is used up.
    pub fn charge(&self, steps: u64) -> bool {
        let total = self.steps.get().saturating_add(steps);
        self.steps.set(total);
        let limit = self.config.limits.script_steps;
        #[cfg(feature = "functions")]
        let limit = if matches!(self.input.get().work, Work::Library) { limit.min(LOADING) } else { limit };
        if total >= limit {
            self.stopped.set(Some(Stop::Endless));
        }
        !self.is_stopped()
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.get().is_some()
    }

    /// The failure that `stop` is for the caller of the engine.
    pub fn failure(&self, stop: Stop) -> Failure {
        match stop {
            Stop::Endless => Failure::Endless { steps: self.steps.get(), wrote: self.wrote.get() },
            // These have a reply; see `Host::uncaught`.
            #[cfg(feature = "live")]
            Stop::ScriptKilled | Stop::FunctionKilled => Failure::Host("the run was killed".to_owned()),
            Stop::Memory => Failure::Memory { limit_bytes: self.config.limits.lua_memory_bytes },
        }
    }
}

impl Input {
    pub const NONE: Input = Input { keys: &[], args: &[], work: Work::Script(0) };
}
