//! From argv to a handler: lookup, arity, what the session and the caller allow, the call itself.
//!
//! Where an answer is not a server's, on purpose:
//! - Choices at random (SPOP, SRANDMEMBER, HRANDFIELD, ZRANDMEMBER, RANDOMKEY) follow a fixed sequence; the order
//!   of KEYS, of hashes and sets too large for a listpack, and of hashes whose fields expire, is a fixed one too. A
//!   SCAN cursor is a place in an order of hashes.
//! - Only a connection that the engine keeps ([`Engine::connect`]) waits: elsewhere a blocking command without data
//!   answers at once, as in a transaction.
//! - An expired key or field of a hash is gone at once everywhere, also for DBSIZE, INFO and HLEN, which on a server
//!   count it until it is collected.
//! - HELP lists subcommands only, COMMAND INFO and COMMAND DOCS have facts without sentences; INFO and CLIENT LIST leave
//!   out what only a process has; CONFIG SET keeps what it is told, and only `busy-reply-threshold`, `maxmemory`,
//!   `min-replicas-to-write` and the limits of encodings change anything; a value counts as encoded by the limits of
//!   the moment.
//! - OBJECT IDLETIME is 0 and REFCOUNT 1; the encoding of a string follows from its text, also
//!   after APPEND and SETRANGE (`raw` on a server) and INCRBYFLOAT (`embstr` there).
//! - FUNCTION LIST shows libraries and functions in the order in which they came, a server in that of hash tables.
//! - An error quotes what a client sent as UTF-8, with another character for bytes that are none.
//! - RESTORE knows the forms that 7.2 and later write of the types there are; older ones are a bad format.
//! - ZRANGEBYLEX over unequal scores, which the manual leaves open, may choose other members.
//! - SORT leaves elements that compare equal in their order, where a server may exchange them.
//! - Streams, geo, bitmaps and HyperLogLog are not there yet, nor client tracking.

mod args;
#[cfg(feature = "live")]
mod client;
#[cfg(feature = "live")]
mod client_filter;
mod cluster;
#[cfg(feature = "live")]
mod config;
mod connection;
#[cfg(feature = "live")]
mod debug;
#[cfg(feature = "dump")]
mod dump;
mod expire;
mod float_sum;
#[cfg(feature = "functions")]
mod function;
mod generic;
mod hash;
#[cfg(feature = "field-expiry")]
mod hash_expiry;
#[cfg(feature = "introspection")]
mod introspection;
mod keys;
#[cfg(feature = "lcs")]
mod lcs;
#[cfg(feature = "list")]
mod list;
#[cfg(feature = "live")]
mod memory;
#[cfg(feature = "live")]
mod pubsub;
mod random;
#[cfg(feature = "introspection")]
mod reference;
mod scan;
mod scripting;
mod server;
#[cfg(feature = "set")]
mod set;
#[cfg(feature = "sort")]
mod sort;
mod string;
mod table;
mod transaction;
mod zset;
mod zset_algebra;
mod zset_range;

pub(crate) use args::Args;
#[cfg(feature = "live")]
pub(crate) use function::stats_while_running;
pub(crate) use keys::{KeySpec, keys_of};
#[cfg(feature = "live")]
pub(crate) use memory::used_memory;
#[cfg(feature = "live")]
pub(crate) use transaction::{flags_of, may_write, refuse, refuse_row};

use crate::clock::Clock;
use crate::engine::{Config, Engine, State, Version};
use crate::error::{CommandError, Failure, Interrupt};
use crate::keyspace::{Entry, Keyspace};
use crate::reply::Reply;
use crate::session::{Protocol, Session};
use crate::value::{Kind, Value, score_text};

bitflags::bitflags! {
    /// The flags that `COMMAND INFO` shows and that the dispatcher acts on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Flags: u32 {
        const WRITE = 1;
        const READONLY = 1 << 1;
        const DENYOOM = 1 << 2;
        const ADMIN = 1 << 3;
        const NOSCRIPT = 1 << 4;
        const BLOCKING = 1 << 5;
        const LOADING = 1 << 6;
        const STALE = 1 << 7;
        const SKIP_MONITOR = 1 << 8;
        const SKIP_COMMANDLOG = 1 << 9;
        const FAST = 1 << 10;
        const NO_AUTH = 1 << 11;
        const NO_MANDATORY_KEYS = 1 << 12;
        const NO_MULTI = 1 << 13;
        const MOVABLE_KEYS = 1 << 14;
        const ALLOW_BUSY = 1 << 15;
        const PUBSUB = 1 << 16;
        const NO_ASYNC_LOADING = 1 << 17;

        const READ_FAST = Self::READONLY.bits() | Self::FAST.bits();
        const WRITE_FAST = Self::WRITE.bits() | Self::FAST.bits();
        const GROW = Self::WRITE.bits() | Self::DENYOOM.bits();
        const GROW_FAST = Self::GROW.bits() | Self::FAST.bits();
        const ANYTIME = Self::LOADING.bits() | Self::STALE.bits();
    }
}

/// What a handler of data answers.
pub(crate) type Answer = Result<Reply, CommandError>;

type DataHandler = fn(&mut Ctx<'_>, &Args<'_>) -> Answer;
type ControlHandler = fn(&mut Engine, &mut Session, &Args<'_>) -> Result<Reply, Interrupt>;

/// One command or subcommand. A family's file opens with its rows.
#[derive(Debug)]
pub(crate) struct Row {
    /// Lower case; a subcommand's is the whole one, `config|get`.
    pub name: &'static str,
    /// As in Valkey: counts the name; negative means "at least".
    pub arity: i32,
    pub flags: Flags,
    pub keys: &'static [KeySpec],
    pub run: Run,
}

#[derive(Debug)]
pub(crate) enum Run {
    /// Works on the data only; callable from scripts (unless NOSCRIPT) and in transactions.
    Data(DataHandler),
    /// Drives the engine itself: scripts, transactions.
    Control(ControlHandler),
    /// A container such as CONFIG: argv[1] chooses.
    Container(&'static [Row]),
    /// A container that is also a command, when called alone.
    ContainerOr(&'static [Row], DataHandler),
}

const fn data(
    name: &'static str,
    arity: i32,
    flags: Flags,
    keys: &'static [KeySpec],
    run: DataHandler,
) -> Row {
    Row { name, arity, flags, keys, run: Run::Data(run) }
}

const fn control(
    name: &'static str,
    arity: i32,
    flags: Flags,
    keys: &'static [KeySpec],
    run: ControlHandler,
) -> Row {
    Row { name, arity, flags, keys, run: Run::Control(run) }
}

const fn container(name: &'static str, rows: &'static [Row]) -> Row {
    Row { name, arity: -2, flags: Flags::empty(), keys: keys::NONE, run: Run::Container(rows) }
}

/// What a data handler sees: the data, who asks, and the time.
pub(crate) struct Ctx<'a> {
    pub keyspace: &'a mut Keyspace,
    pub session: &'a mut Session,
    pub clock: Clock,
    pub config: &'a Config,
    /// How many scripts the cache holds, for INFO.
    pub cached_scripts: usize,
    #[cfg(feature = "functions")]
    pub libraries: &'a crate::script::Libraries,
    #[cfg(feature = "live")]
    pub live: &'a mut crate::live::Live,
}

/// A client's call.
pub(crate) fn run(engine: &mut Engine, session: &mut Session, argv: &[&[u8]]) -> Result<Reply, Failure> {
    #[cfg(feature = "field-expiry")]
    engine.state.borrow_mut().drop_expired_fields();
    let result = match resolve(argv) {
        Ok(row) => transaction::admit(session, row, argv, engine.version())
            .unwrap_or_else(|| run_row(engine, session, row, argv)),
        Err(error) => {
            #[cfg(feature = "live")]
            note_rejected(engine, &error);
            Err(transaction::refuse(session, error).into())
        }
    };
    match result {
        Ok(reply) => Ok(reply),
        Err(Interrupt::Command(error)) => Ok(Reply::error(error)),
        Err(Interrupt::Failure(failure)) => Err(failure),
    }
}

/// A call from a script of the command that [`resolve`] found. `session.read_only` says that the script must not write.
pub(crate) fn run_from_script(
    state: &mut State,
    session: &mut Session,
    row: Result<&Row, CommandError>,
    argv: &[&[u8]],
) -> Answer {
    let row = row.map_err(|error| match error {
        CommandError::Arity { .. } => CommandError::ArityFromScript,
        CommandError::UnknownCommand { .. } => CommandError::UnknownFromScript,
        CommandError::UnknownSubcommand { .. } if state.config.version == Version::V8_0 => {
            CommandError::UnknownFromScript
        }
        other => other,
    })?;
    // A message goes to replicas, as a write does.
    let sends = cfg!(feature = "live") && matches!(row.name, "publish" | "spublish");
    let writes = sends || row.flags.contains(Flags::WRITE);
    let refused = if row.flags.contains(Flags::NOSCRIPT) {
        Some(CommandError::NotFromScript)
    } else if session.read_only && writes {
        Some(CommandError::WriteFromReadOnlyScript)
    } else {
        guarded(state, row)
    };
    if let Some(error) = refused {
        #[cfg(feature = "live")]
        state.live.stats.rejected(row.name);
        return Err(error);
    }
    let answer = run_data(state, session, row, &Args::new(argv, state.config.version));
    #[cfg(feature = "live")]
    state.live.note_run(row.name, is_error(&answer));
    #[cfg(feature = "live")]
    if !row.flags.intersects(Flags::SKIP_MONITOR.union(Flags::ADMIN)) {
        show(state, session, argv);
    }
    answer
}

/// What a server will not do for the time being.
#[cfg(feature = "live")]
fn guarded(state: &mut State, row: &Row) -> Option<CommandError> {
    let refused = state.live.guard.refuse(row.flags);
    if refused.is_none() {
        state.live.guard.called_by_script(row);
    }
    refused
}

#[cfg(not(feature = "live"))]
fn guarded(_state: &mut State, _row: &Row) -> Option<CommandError> {
    None
}

/// A call of a resolved command, not queued, not refused.
fn run_row(
    engine: &mut Engine,
    session: &mut Session,
    row: &Row,
    argv: &[&[u8]],
) -> Result<Reply, Interrupt> {
    let args = Args::new(argv, engine.version());
    // A script is shown before what it calls, all else once it has been run.
    #[cfg(feature = "live")]
    if row.flags.contains(Flags::SKIP_MONITOR) && matches!(row.run, Run::Control(_)) {
        let state = &mut *engine.state.borrow_mut();
        state.live.script_begins(session, argv);
        show(state, session, argv);
    }
    let answer = match row.run {
        Run::Control(handler) => handler(engine, session, &args),
        _ => run_data(&mut engine.state.borrow_mut(), session, row, &args).map_err(Interrupt::from),
    };
    #[cfg(feature = "live")]
    {
        let state = &mut *engine.state.borrow_mut();
        if session.link.as_ref().is_some_and(|link| link.wait.is_none()) {
            state.live.note_run(row.name, is_error(&answer));
        }
        if !row.flags.intersects(Flags::SKIP_MONITOR.union(Flags::ADMIN)) {
            show(state, session, argv);
        }
    }
    answer
}

#[cfg(feature = "live")]
fn is_error<E>(answer: &Result<Reply, E>) -> bool {
    matches!(answer, Err(_) | Ok(Reply::Error(_)))
}

/// A call with the wrong number of arguments was not run.
#[cfg(feature = "live")]
fn note_rejected(engine: &Engine, error: &CommandError) {
    if let CommandError::Arity { name } = error
        && let Some(row) = table::find(name.as_bytes())
    {
        engine.state.borrow_mut().live.stats.rejected(row.name);
    }
}

/// Shows a call to those who monitor.
#[cfg(feature = "live")]
fn show(state: &mut State, session: &Session, argv: &[&[u8]]) {
    if state.live.monitors.is_empty() {
        return;
    }
    let link = session.link.as_deref();
    // What waits has not been run yet.
    if link.is_none_or(|link| link.wait.is_none()) {
        let peer = link.map_or("lua", |link| &link.peer);
        state.live.show_to_monitors(argv, session.db, peer, state.clock);
    }
}

pub(crate) fn run_data(state: &mut State, session: &mut Session, row: &Row, args: &Args<'_>) -> Answer {
    let (Run::Data(handler) | Run::ContainerOr(_, handler)) = row.run else {
        return Err(CommandError::NotFromScript);
    };
    let mut ctx = Ctx {
        keyspace: &mut state.keyspace,
        session,
        clock: state.clock,
        config: &state.config,
        cached_scripts: state.scripts.len(),
        #[cfg(feature = "functions")]
        libraries: &state.libraries,
        #[cfg(feature = "live")]
        live: &mut state.live,
    };
    handler(&mut ctx, args)
}

/// The row that argv calls, with its arity checked.
pub(crate) fn resolve(argv: &[&[u8]]) -> Result<&'static Row, CommandError> {
    let name = argv.first().copied().unwrap_or_default();
    let mut row =
        table::find(name).ok_or_else(|| unknown_command(name, argv.get(1..).unwrap_or_default()))?;
    if let (Run::Container(rows) | Run::ContainerOr(rows, _), Some(sub)) = (&row.run, argv.get(1)) {
        row = table::find_sub(rows, sub).ok_or_else(|| CommandError::UnknownSubcommand {
            command: row.name.to_ascii_uppercase(),
            name: printable(sub, QUOTED_BYTES),
        })?;
    }
    let given = i32::try_from(argv.len()).unwrap_or(i32::MAX);
    let fits = if row.arity < 0 { given >= -row.arity } else { given == row.arity };
    if fits { Ok(row) } else { Err(CommandError::Arity { name: row.name.to_owned() }) }
}

/// How much of what a client sent Valkey puts into an error.
const QUOTED_BYTES: usize = 128;

fn unknown_command(name: &[u8], args: &[&[u8]]) -> CommandError {
    let mut quoted = String::new();
    for arg in args {
        if quoted.len() >= QUOTED_BYTES {
            break;
        }
        let arg = printable(arg, QUOTED_BYTES - quoted.len());
        quoted.push('\'');
        quoted.push_str(&arg);
        quoted.push_str("' ");
    }
    CommandError::UnknownCommand { name: printable(name, QUOTED_BYTES), args: quoted }
}

/// What a client sent, as Valkey puts it into an error.
fn quoted(text: &[u8]) -> String {
    printable(text, usize::MAX)
}

/// At most `limit` bytes of `text`, up to its first zero byte, on one line: an error is one line.
fn printable(text: &[u8], limit: usize) -> String {
    let text = text.get(..limit).unwrap_or(text);
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).replace(['\r', '\n'], " ")
}

impl Ctx<'_> {
    pub fn db(&self) -> usize {
        self.session.db
    }

    /// Counts work that grows with the data and not with the reply, in instructions of a script, so that no script does it
    /// for ever.
    #[cfg(feature = "commands")]
    pub fn count_steps(&self, steps: usize) {
        self.session.steps.set(self.session.steps.get().saturating_add(steps as u64));
    }

    /// The scripts of such a build are known.
    #[cfg(not(feature = "commands"))]
    #[expect(clippy::unused_self, reason = "counts nothing")]
    pub fn count_steps(&self, _steps: usize) {}

    pub fn entry(&self, key: &[u8]) -> Option<&Entry> {
        self.keyspace.get(self.session.db, key, self.clock)
    }

    /// The value of `key` if there is one; an error if it is of another type.
    pub fn read<K: Kind>(&self, key: &[u8]) -> Result<Option<&K>, CommandError> {
        self.keyspace.read(self.session.db, key, self.clock)
    }

    /// As [`Ctx::read`], to change it; [`Ctx::settle`] must follow.
    pub fn write<K: Kind>(&mut self, key: &[u8]) -> Result<Option<&mut K>, CommandError> {
        self.keyspace.write(self.session.db, key, self.clock)
    }

    /// As [`Ctx::write`]; a missing key begins empty.
    pub fn create<K: Kind>(&mut self, key: &[u8]) -> Result<&mut K, CommandError> {
        self.keyspace.create(self.session.db, key, self.clock)
    }

    /// Ends a change: counts it, and drops a collection that is empty now.
    pub fn settle(&mut self, key: &[u8], changed: bool) {
        self.keyspace.settle(self.session.db, key, changed);
    }

    /// Replaces whatever `key` held; its expiry is gone.
    pub fn put(&mut self, key: &[u8], value: Value) {
        self.keyspace.put(self.session.db, key, value, None);
    }

    /// True when there was a live one.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        self.keyspace.remove_live(self.session.db, key, self.clock).is_some()
    }

    pub fn is_resp3(&self) -> bool {
        self.session.protocol == Protocol::Resp3
    }

    pub fn double(&self, x: f64) -> Reply {
        if self.is_resp3() { Reply::Double(x) } else { Reply::Bulk(score_text(x).into_bytes()) }
    }

    /// The answer of a command that did not find in `keys` what it wants: to wait for it, where the session can.
    pub fn wait_for(&mut self, keys: &[&[u8]], type_name: &'static str, until_ms: Option<u64>) -> Reply {
        #[cfg(feature = "live")]
        {
            let keys = keys.iter().map(|key| key.to_vec()).collect();
            self.wait(crate::live::Wait { reason: crate::live::Reason::Keys { keys, type_name }, until_ms });
        }
        #[cfg(not(feature = "live"))]
        let _ = (keys, type_name, until_ms);
        self.nil_array()
    }

    #[cfg(feature = "live")]
    pub fn wait(&mut self, wait: crate::live::Wait) {
        if let Some(link) = self.session.link.as_deref_mut().filter(|link| link.may_wait) {
            link.wait = Some(wait);
        }
    }

    pub fn nil_array(&self) -> Reply {
        if self.is_resp3() { Reply::Nil } else { Reply::NilArray }
    }

    pub fn set(&self, items: Vec<Reply>) -> Reply {
        if self.is_resp3() { Reply::Set(items) } else { Reply::Array(items) }
    }

    pub fn map(&self, pairs: Vec<(Reply, Reply)>) -> Reply {
        if self.is_resp3() {
            Reply::Map(pairs)
        } else {
            Reply::Array(pairs.into_iter().flat_map(<[Reply; 2]>::from).collect())
        }
    }
}

/// The answer to a container's HELP: its subcommands.
fn help(name: &str, rows: &[Row]) -> Reply {
    let title = format!("{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
    let names = rows.iter().map(|row| table::sub_name(row).to_ascii_uppercase());
    Reply::Array(std::iter::once(title).chain(names).map(|line| Reply::status_text(&line)).collect())
}
