//! What a traced run records. Off, none of this runs but one test of an option per `redis.call`.

use lua54::ffi;

use super::shared::Shared;
use super::vm::c_bytes;
use crate::command;
use crate::engine::State;
use crate::keyspace::Entry;
use crate::reply::Reply;
use crate::session::Session;
use crate::trace::{CallTrace, KeyChange, ScriptTrace};

/// A loop may pass a line more often than a reader can use.
const MAX_LINES: usize = 100_000;

/// The keys of a call, as positions in argv, with what they held before it.
pub(super) struct Touched {
    keys: Vec<(usize, bool, Option<Entry>)>,
}

pub(super) fn start(name: &str, keys: &[&[u8]], args: &[&[u8]]) -> ScriptTrace {
    let copy = |list: &[&[u8]]| list.iter().map(|bytes| bytes.to_vec()).collect();
    ScriptTrace { sha: name.to_owned(), keys: copy(keys), args: copy(args), ..ScriptTrace::default() }
}

pub(super) fn before(state: &State, session: &Session, argv: &[&[u8]]) -> Touched {
    let keys = command::resolve(argv).map(|row| command::keys_of(row, argv)).unwrap_or_default();
    let entry = |at: usize| argv.get(at).and_then(|key| entry_of(state, session, key));
    Touched { keys: keys.into_iter().map(|(at, write)| (at, write, entry(at))).collect() }
}

pub(super) fn after(
    trace: &mut ScriptTrace,
    state: &State,
    session: &Session,
    argv: &[&[u8]],
    touched: Touched,
    reply: &Reply,
    line: i32,
) {
    let mut keys = Vec::new();
    for (at, write, before) in touched.keys {
        let Some(&key) = argv.get(at) else { continue };
        if !is_declared(&trace.keys, key) && !trace.undeclared.iter().any(|known| known == key) {
            trace.undeclared.push(key.to_vec());
        }
        keys.push(KeyChange { key: key.to_vec(), before, after: entry_of(state, session, key), write });
    }
    trace.calls.push(CallTrace {
        line: u32::try_from(line).unwrap_or(0),
        argv: argv.iter().map(|arg| arg.to_vec()).collect(),
        reply: reply.clone(),
        keys,
    });
}

/// KEYS holds the key, or the root of its row: an entry that ends in `:` and starts the key.
fn is_declared(declared: &[Vec<u8>], key: &[u8]) -> bool {
    declared.iter().any(|one| one == key || (one.ends_with(b":") && key.starts_with(one)))
}

fn entry_of(state: &State, session: &Session, key: &[u8]) -> Option<Entry> {
    state.keyspace.get(session.db, key, state.clock).cloned()
}

fn is_user_code(source: &[u8]) -> bool {
    #[cfg(feature = "functions")]
    if source == super::functions::CHUNK_NAME.to_bytes() {
        return true;
    }
    source == super::CHUNK_NAME.to_bytes()
}

/// The line hook of a traced run.
pub(super) fn line(lua: *mut ffi::lua_State, shared: &Shared, info: &mut ffi::lua_Debug) {
    // SAFETY: `info` comes from the hook that is running.
    let source = unsafe {
        ffi::lua_getinfo(lua, c"S".as_ptr(), info);
        c_bytes(info.source)
    };
    if !is_user_code(source) {
        return;
    }
    if let Ok(mut trace) = shared.trace.try_borrow_mut()
        && let Some(trace) = trace.as_mut()
        && trace.lines.len() < MAX_LINES
    {
        trace.lines.push(u32::try_from(info.currentline).unwrap_or(0));
    }
}
