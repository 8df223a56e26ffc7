//! Connections that the engine keeps: they may wait for keys, be told of messages, and be seen by each other.
//!
//! The owner opens a connection, submits requests, moves the clock, and drains the deliveries. Nothing here reads or
//! writes: a delivery says to whom a reply or a message goes. A session made by [`Engine::session`] has none of
//! this, and what would wait answers it at once.

mod busy;
mod encoding;
mod guard;
mod link;
mod parameters;
mod stats;
mod topics;
mod wait;

pub use busy::Busy;
pub(crate) use busy::Watchdog;
pub(crate) use encoding::encoding;
pub(crate) use guard::Guard;
pub(crate) use link::{Link, Replies};
pub(crate) use parameters::{Invalid, Parameter, Parameters};
pub(crate) use stats::Stats;
pub(crate) use topics::Topics;
pub(crate) use wait::{Pause, Reason, Wait, Waiting};

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::clock::Clock;
use crate::command;
use crate::engine::{Engine, State};
use crate::error::{CommandError, Failure};
use crate::reply::Reply;
use crate::session::{Protocol, Session};

/// Something for one connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// The connection's number.
    pub to: u64,
    pub outgoing: Outgoing,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing {
    /// A reply or a message, for a connection that speaks this protocol.
    Reply(Reply, Protocol),
    /// Nothing more comes: the connection is to be closed when all before this has been written.
    Close,
    /// The client asked the whole server to end.
    Shutdown,
}

/// What the engine knows of its connections. No part of a snapshot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    /// All but the one whose call runs.
    pub sessions: BTreeMap<u64, Session>,
    /// In the order in which they began to wait.
    pub waiting: Vec<Waiting>,
    pub channels: Topics,
    pub patterns: Topics,
    pub shard_channels: Topics,
    pub monitors: Vec<u64>,
    pub pause: Option<Pause>,
    /// There was a connection: without one nobody asks for the counts.
    pub serves: bool,
    pub stats: Stats,
    pub guard: Guard,
    /// DEBUG SET-ACTIVE-EXPIRE 0.
    pub expiry_is_lazy: bool,
    /// When expired keys were last looked for, in Unix milliseconds.
    collected_ms: u64,
    pub parameters: Parameters,
    /// The connection whose call runs.
    running: Option<(u64, Protocol)>,
    /// The call that runs a script or a function.
    script_call: Vec<Vec<u8>>,
    /// How many sessions the engine has made.
    numbers: Rc<Cell<u64>>,
    outbox: Vec<Delivery>,
}

impl Engine {
    /// Opens a connection and returns its number. The addresses are what CLIENT LIST shows.
    ///
    /// ```
    /// use echomq_engine::{Config, Engine};
    ///
    /// let mut engine = Engine::new(Config::default());
    /// let waiter = engine.connect("a", "server");
    /// let pusher = engine.connect("b", "server");
    /// engine.submit(waiter, &[b"BLPOP", b"jobs", b"0"]);
    /// assert_eq!(engine.take_deliveries(), []);
    /// engine.submit(pusher, &[b"RPUSH", b"jobs", b"one"]);
    /// let delivered: Vec<u64> = engine.take_deliveries().iter().map(|delivery| delivery.to).collect();
    /// assert_eq!(delivered, [pusher, waiter]);
    /// ```
    pub fn connect(&mut self, peer: &str, local: &str) -> u64 {
        self.state.borrow_mut().open(peer, local)
    }

    /// Runs a request of a connection, then what it made possible for others that wait. A request of a connection
    /// that is not [ready](Engine::is_ready) is ignored.
    pub fn submit(&mut self, id: u64, argv: &[&[u8]]) {
        self.run_request(id, argv);
        self.serve();
    }

    /// Whether the connection is there and waits for nothing.
    pub fn is_ready(&self, id: u64) -> bool {
        let state = self.state.borrow();
        state.live.sessions.contains_key(&id) && !state.live.is_waiting(id)
    }

    /// Closes a connection, whatever it waits for.
    pub fn disconnect(&mut self, id: u64) {
        self.state.borrow_mut().close(id);
    }

    /// The earliest moment at which [`Engine::wake`] will have something to do.
    pub fn next_timeout(&self) -> Option<Clock> {
        self.state.borrow().live.next_timeout_ms().map(Clock::from_unix_ms)
    }

    /// Answers those whose waiting is over by now. To be called after the clock was moved.
    pub fn wake(&mut self) {
        {
            let state = &mut *self.state.borrow_mut();
            let now_ms = state.clock.unix_ms();
            state.live.expire(now_ms);
            if state.live.may_collect(now_ms) {
                state.collect_expired();
            }
            state.note_waiting();
        }
        self.serve();
    }

    /// What has come up for the connections since the last call of this, in order.
    pub fn take_deliveries(&mut self) -> Vec<Delivery> {
        self.state.borrow_mut().live.take_outbox()
    }

    /// Gives the owner a look at a script every few thousand steps, and the chance to answer others meanwhile.
    ///
    /// # Errors
    /// When there is no memory for Lua.
    pub fn set_watchdog(&mut self, watchdog: impl FnMut(&mut Busy<'_>) + 'static) -> Result<(), Failure> {
        self.host()?.set_watchdog(Box::new(watchdog));
        Ok(())
    }

    fn run_request(&mut self, id: u64, argv: &[&[u8]]) {
        let Some(mut session) = self.state.borrow_mut().begin(id) else { return };
        let mark = self.state.borrow().live.outbox.len();
        let refused = self.state.borrow_mut().admit(&mut session, argv);
        let result = match refused {
            None => command::run(self, &mut session, argv),
            Some(Refusal::Postponed) => Ok(Reply::Nil),
            Some(Refusal::Error(error)) => Ok(Reply::error(error)),
        };
        self.state.borrow_mut().conclude(session, argv, mark, result);
    }

    /// Serves those who wait for a key that is there now, in the order in which the keys came and, for one key, in
    /// which the connections began to wait; and those whom a pause held up.
    fn serve(&mut self) {
        loop {
            let ready = std::mem::take(&mut self.state.borrow_mut().keyspace.ready);
            let mut served = false;
            for (db, key) in ready {
                let ids = self.state.borrow().live.waiting_for(db, &key);
                for id in ids {
                    served |= self.serve_one(id, db, &key);
                }
            }
            served |= self.resume();
            if !served && self.state.borrow().keyspace.ready.is_empty() {
                return;
            }
        }
    }

    fn serve_one(&mut self, id: u64, db: usize, key: &[u8]) -> bool {
        let waiting = self.state.borrow_mut().take_servable(id, db, key);
        let Some(waiting) = waiting else { return false };
        self.run_again(&waiting);
        true
    }

    /// Runs what a pause held up, once the pause is over.
    fn resume(&mut self) -> bool {
        let held = {
            let state = &mut *self.state.borrow_mut();
            let now_ms = state.clock.unix_ms();
            state.live.take_postponed(now_ms)
        };
        for waiting in &held {
            self.run_again(waiting);
        }
        !held.is_empty()
    }

    fn run_again(&mut self, waiting: &Waiting) {
        let argv: Vec<&[u8]> = waiting.argv.iter().map(Vec::as_slice).collect();
        self.run_request(waiting.id, &argv);
    }
}

/// Expired keys are looked for this often, some at a time, and on while many are found. Valkey does so too.
const COLLECT_EVERY_MS: u64 = 100;
const COLLECT_KEYS: usize = 200;
const COLLECT_ROUNDS: usize = 50;
const MANY: usize = COLLECT_KEYS / 10;

/// Why a request is not run now.
enum Refusal {
    Postponed,
    Error(CommandError),
}

/// The commands that a subscriber may send in RESP2.
const FOR_SUBSCRIBERS: &[&str] = &[
    "ping",
    "subscribe",
    "ssubscribe",
    "psubscribe",
    "unsubscribe",
    "sunsubscribe",
    "punsubscribe",
    "quit",
    "reset",
];

impl State {
    fn open(&mut self, peer: &str, local: &str) -> u64 {
        let id = self.live.numbers.get() + 1;
        self.live.numbers.set(id);
        let link = Some(Box::new(Link::new(peer, local, self.clock)));
        self.live.serves = true;
        self.live.stats.connections += 1;
        self.live.sessions.insert(id, Session { id, link, ..Session::default() });
        id
    }

    fn close(&mut self, id: u64) {
        self.live.forget(id);
        self.live.sessions.remove(&id);
        self.note_waiting();
    }

    /// Takes a connection that waits for nothing out of the list, for the time of its call.
    fn begin(&mut self, id: u64) -> Option<Session> {
        if self.live.is_waiting(id) {
            return None;
        }
        let mut session = self.live.sessions.remove(&id)?;
        self.live.running = Some((id, session.protocol));
        if let Some(link) = &mut session.link {
            link.begin(self.clock);
        }
        Some(session)
    }

    /// What stands against a request before it is run or queued.
    fn admit(&mut self, session: &mut Session, argv: &[&[u8]]) -> Option<Refusal> {
        let row = command::resolve(argv).ok()?;
        if let Some(link) = &mut session.link {
            link.last_command = row.name;
        }
        self.live.guard = self.guard();
        if let Some(error) = self.live.guard.refuse(command::flags_of(session, row)) {
            self.live.stats.rejected(row.name);
            return Some(Refusal::Error(command::refuse_row(session, row, error)));
        }
        let subscribed = session.protocol == Protocol::Resp2 && self.live.is_subscriber(session.id);
        if subscribed && !FOR_SUBSCRIBERS.contains(&row.name) {
            let error = command::refuse_row(session, row, CommandError::InSubscriber { name: row.name });
            return Some(Refusal::Error(error));
        }
        let pause = self.live.pause.filter(|pause| pause.holds(self.clock))?;
        // A pause of everything holds up the UNPAUSE too.
        if pause.all || command::may_write(session, row) {
            if let Some(link) = &mut session.link {
                link.wait = Some(Wait::for_the_pause());
            }
            return Some(Refusal::Postponed);
        }
        None
    }

    /// Puts the connection back and its reply into the outbox: before the messages that its own call sent to it.
    fn conclude(
        &mut self,
        mut session: Session,
        argv: &[&[u8]],
        mark: usize,
        result: Result<Reply, Failure>,
    ) {
        let id = session.id;
        self.live.running = None;
        let Some(link) = &mut session.link else { return };
        if let Some(wait) = link.wait.take() {
            let argv = argv.iter().map(|arg| arg.to_vec()).collect();
            self.live.waiting.push(Waiting { id, db: session.db, argv, wait });
            self.live.sessions.insert(id, session);
            return self.note_waiting();
        }
        self.live.stats.commands += 1;
        let reply = result.unwrap_or_else(|failure| Reply::error(format_args!("ERR {failure}")));
        self.live.stats.replied(&reply);
        let confirmed = std::mem::take(&mut link.confirmations);
        let replies = if confirmed.is_empty() { vec![reply] } else { confirmed };
        let mark = mark.min(self.live.outbox.len());
        if !link.shutdown && link.replies.admit() {
            let outgoing = |reply| Delivery { to: id, outgoing: Outgoing::Reply(reply, session.protocol) };
            self.live.outbox.splice(mark..mark, replies.into_iter().map(outgoing));
        }
        let (closing, shutdown) = (link.closing, link.shutdown);
        self.live.sessions.insert(id, session);
        if shutdown {
            self.live.outbox.push(Delivery { to: id, outgoing: Outgoing::Shutdown });
        }
        if closing {
            self.live.kill(id);
        }
        self.note_waiting();
    }

    fn guard(&self) -> Guard {
        let parameters = &self.live.parameters;
        let limit = parameters.number("maxmemory");
        let is_full = limit > 0 && command::used_memory(&self.keyspace, self.clock) as u64 > limit;
        Guard { is_full, lacks_replicas: parameters.number("min-replicas-to-write") > 0 }
    }

    fn collect_expired(&mut self) {
        for _ in 0..COLLECT_ROUNDS {
            if self.keyspace.collect(self.clock, COLLECT_KEYS) < MANY {
                return;
            }
        }
    }

    /// The keyspace notes the keys that come only while somebody waits.
    fn note_waiting(&mut self) {
        self.keyspace.awaited = !self.live.waiting.is_empty();
    }

    /// Ends the waiting of `id` for `key` if the key is now what it waits for.
    fn take_servable(&mut self, id: u64, db: usize, key: &[u8]) -> Option<Waiting> {
        let type_name = self.keyspace.get(db, key, self.clock)?.value.type_name();
        let place = self.live.waiting.iter().position(|waiting| {
            waiting.id == id && waiting.db == db && waiting.wait.is_for(key, type_name)
        })?;
        Some(self.live.waiting.remove(place))
    }
}

impl Live {
    pub fn new(numbers: Rc<Cell<u64>>) -> Live {
        Live { numbers, ..Live::default() }
    }

    fn may_collect(&mut self, now_ms: u64) -> bool {
        let due = now_ms.saturating_sub(self.collected_ms) >= COLLECT_EVERY_MS;
        let may = due && self.pause.is_none() && !self.expiry_is_lazy;
        if may {
            self.collected_ms = now_ms;
        }
        may
    }

    pub fn is_waiting(&self, id: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.id == id)
    }

    pub fn is_subscriber(&self, id: u64) -> bool {
        [&self.channels, &self.patterns, &self.shard_channels].iter().any(|topics| topics.has(id))
    }

    /// The protocol that a connection speaks, whether its call runs or not.
    pub fn protocol_of(&self, id: u64) -> Protocol {
        match self.running {
            Some((running, protocol)) if running == id => protocol,
            _ => self.sessions.get(&id).map_or(Protocol::Resp2, |session| session.protocol),
        }
    }

    /// HELLO and RESET change the protocol of the connection whose call runs.
    pub fn set_protocol(&mut self, id: u64, protocol: Protocol) {
        if let Some((running, current)) = &mut self.running
            && *running == id
        {
            *current = protocol;
        }
    }

    /// Sends a message that is no reply.
    pub fn push(&mut self, to: u64, parts: Vec<Reply>) {
        let protocol = self.protocol_of(to);
        let message = if protocol == Protocol::Resp3 { Reply::Push(parts) } else { Reply::Array(parts) };
        self.tell(to, message, protocol);
    }

    pub fn tell(&mut self, to: u64, message: Reply, protocol: Protocol) {
        let link = self.sessions.get(&to).and_then(|session| session.link.as_deref());
        let silent =
            link.is_some_and(|link| link.replies == Replies::Off) && !matches!(message, Reply::Push(_));
        if !silent {
            self.outbox.push(Delivery { to, outgoing: Outgoing::Reply(message, protocol) });
        }
    }

    /// Ends a connection that is not the one whose call runs.
    pub fn kill(&mut self, id: u64) {
        self.forget(id);
        self.sessions.remove(&id);
        self.outbox.push(Delivery { to: id, outgoing: Outgoing::Close });
    }

    /// Ends all that a connection waits for or listens to.
    pub fn forget(&mut self, id: u64) {
        self.waiting.retain(|waiting| waiting.id != id);
        self.monitors.retain(|monitor| *monitor != id);
        for topics in [&mut self.channels, &mut self.patterns, &mut self.shard_channels] {
            topics.remove_all(id);
        }
    }

    /// Shows a call to those who monitor. `peer` is `lua` for a script.
    pub fn show_to_monitors(&mut self, argv: &[&[u8]], db: usize, peer: &str, now: Clock) {
        let (seconds, micros) = (now.unix_us() / 1_000_000, now.unix_us() % 1_000_000);
        let mut line = format!("{seconds}.{micros:06} [{db} {peer}]");
        for arg in argv {
            line.push(' ');
            // Writing into a String cannot fail.
            let _ = crate::reply::write_quoted(&mut line, arg);
        }
        for id in self.monitors.clone() {
            let protocol = self.protocol_of(id);
            self.tell(id, Reply::status_text(&line), protocol);
        }
    }

    /// A call was run.
    pub fn note_run(&mut self, name: &'static str, failed: bool) {
        if self.serves {
            self.stats.ran(name, failed);
        }
    }

    /// A call runs a script or a function.
    pub fn script_begins(&mut self, session: &Session, argv: &[&[u8]]) {
        self.stats.script_begins();
        if session.link.is_some() {
            self.script_call = argv.iter().map(|word| word.to_vec()).collect();
        }
    }

    fn take_outbox(&mut self) -> Vec<Delivery> {
        std::mem::take(&mut self.outbox)
    }
}
