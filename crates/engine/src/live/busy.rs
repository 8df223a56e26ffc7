//! What others are answered while a script runs for longer than it should.

use std::cell::RefCell;
use std::time::Duration;

use super::{Delivery, State};
use crate::command::{self, Args, Flags, Run};
use crate::error::CommandError;
use crate::reply::Reply;

/// Called by the script host every few thousand steps.
pub(crate) type Watchdog = Box<dyn FnMut(&mut Busy<'_>)>;

/// The engine while a script runs: it takes what Valkey's does then, and refuses the rest with BUSY.
pub struct Busy<'a> {
    state: &'a RefCell<State>,
    wrote: bool,
    /// A function runs, and no script of EVAL.
    in_function: bool,
    killed: bool,
    spent_us: u64,
}

impl<'a> Busy<'a> {
    pub(crate) fn new(state: &'a RefCell<State>, wrote: bool, in_function: bool) -> Busy<'a> {
        Busy { state, wrote, in_function, killed: false, spent_us: 0 }
    }

    /// Tells the script for how long it has run, which is what its `os.clock` counts.
    pub fn set_spent(&mut self, spent: Duration) {
        self.spent_us = u64::try_from(spent.as_micros()).unwrap_or(u64::MAX);
    }

    pub(crate) fn spent_us(&self) -> u64 {
        self.spent_us
    }

    /// For how long a script runs before others are answered BUSY; 0 is for ever.
    pub fn threshold_ms(&self) -> u64 {
        self.state.borrow().live.parameters.busy_reply_threshold_ms()
    }

    /// As [`Engine::connect`](crate::Engine::connect).
    pub fn connect(&mut self, peer: &str, local: &str) -> u64 {
        self.state.borrow_mut().open(peer, local)
    }

    /// As [`Engine::submit`](crate::Engine::submit). The connection whose script runs is not ready.
    pub fn submit(&mut self, id: u64, argv: &[&[u8]]) {
        let state = &mut *self.state.borrow_mut();
        let script = state.live.running;
        let Some(mut session) = state.begin(id) else { return };
        let mark = state.live.outbox.len();
        let refusal = if self.in_function { CommandError::BUSY_FUNCTION } else { CommandError::BUSY };
        let result = match command::resolve(argv) {
            Ok(row) if row.name == "script|kill" => self.kill(!self.in_function, refusal),
            Ok(row) if row.name == "function|kill" => self.kill(self.in_function, refusal),
            Ok(row) if row.name == "function|stats" && self.in_function => {
                let call = &state.live.script_call;
                Ok(command::stats_while_running(state, &session, call, self.spent_us / 1000))
            }
            Ok(row) if row.flags.contains(Flags::ALLOW_BUSY) && !matches!(row.run, Run::Control(_)) => {
                command::run_data(state, &mut session, row, &Args::new(argv, state.config.version))
            }
            Ok(row) => Err(command::refuse_row(&mut session, row, refusal)),
            Err(error) => Err(command::refuse(&mut session, error)),
        };
        let reply = result.unwrap_or_else(Reply::error);
        state.conclude(session, argv, mark, Ok(reply));
        state.live.running = script;
    }

    pub fn is_ready(&self, id: u64) -> bool {
        let state = self.state.borrow();
        state.live.sessions.contains_key(&id) && !state.live.is_waiting(id)
    }

    pub fn disconnect(&mut self, id: u64) {
        self.state.borrow_mut().close(id);
    }

    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        self.state.borrow_mut().live.take_outbox()
    }

    /// Whether SCRIPT KILL was accepted: the script ends when the watchdog returns.
    pub fn is_killed(&self) -> bool {
        self.killed
    }

    /// Ends the script whatever it has written, for the owner ends too.
    pub fn abandon(&mut self) {
        self.killed = true;
    }

    /// SCRIPT KILL or FUNCTION KILL; each is right for one kind of run.
    fn kill(&mut self, right: bool, refusal: CommandError) -> Result<Reply, CommandError> {
        if self.wrote {
            return Err(CommandError::UNKILLABLE);
        }
        if !right {
            return Err(refusal);
        }
        self.killed = true;
        Ok(Reply::OK)
    }
}

impl std::fmt::Debug for Busy<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Busy")
            .field("wrote", &self.wrote)
            .field("killed", &self.killed)
            .finish_non_exhaustive()
    }
}
