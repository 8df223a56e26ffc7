//! The script host: Lua with Valkey's surface.
//!
//! One Lua state serves all scripts of an engine. A script is compiled once and kept under its SHA-1; what it can
//! reach cannot be changed ([`sandbox`]), so nothing of a run is left for the next one. The dialect is that of Lua 5.1
//! ([`dialect`], [`errors`], [`base`], [`strings`], [`tables`], [`maths`]); `lua/COMPATIBILITY.md` lists what differs.

mod vm;

mod api;
mod base;
mod cache;
mod call;
mod convert;
mod dialect;
mod errors;
#[cfg(feature = "functions")]
mod functions;
mod hook;
#[cfg(feature = "functions")]
mod library;
mod load;
mod maths;
mod number;
mod random;
mod sandbox;
mod shared;
#[cfg(feature = "functions")]
mod shebang;
mod strings;
mod tables;
mod tracing;

#[cfg(feature = "bit")]
mod bit;
#[cfg(feature = "cjson")]
mod cjson;
#[cfg(feature = "cmsgpack")]
mod cmsgpack;
#[cfg(feature = "struct")]
mod struct_;

pub(crate) use cache::{Access, Script, ScriptCache};
#[cfg(feature = "functions")]
pub(crate) use library::{Libraries, Library, library_name};
#[cfg(feature = "live")]
pub(crate) use shebang::ScriptFlags;

use std::cell::RefCell;
use std::ffi::{CStr, c_int};
use std::rc::Rc;

use lua54::ffi;

use crate::engine::{Config, State, Version};
use crate::error::{CommandError, Failure, Interrupt};
use crate::reply::Reply;
use crate::session::Session;
use convert::{FIELDS, Reader};
use shared::{Input, Shared, Stop, Work};
use vm::{Call, Raise};

/// The Lua state, and the chunks it compiled.
pub(crate) struct Host {
    // Lua holds the address of `shared`: the fields drop in this order.
    lua: lua54::State,
    shared: Box<Shared>,
    /// Where each compiled chunk is in the table of chunks, in the order of their digests.
    chunks: Vec<(Rc<str>, i64)>,
    /// The script that ran last: a client calls the same one again and again.
    last: Option<(Rc<str>, i64)>,
    #[cfg(feature = "functions")]
    compiled: functions::Compiled,
}

const CHUNK_NAME: &CStr = c"@user_script";
/// Lua counts this many steps (turns of loops, calls) before it asks.
const COUNT: c_int = 2_000;
/// How deep calls may nest in 5.1. The hook looks, so it may be a few thousand more.
const MAX_CALLS: c_int = 20_000;
/// More compiled chunks than this are forgotten together, for they hold Lua memory.
const MAX_CHUNKS: usize = 2_000;

/// In the registry: the compiled chunks, the names that tables in replies have.
static CHUNKS: u8 = 0;
static NAMES: u8 = 0;

/// Libraries that can be left out: name, and what fills the table on top of the stack.
type Open = fn(*mut ffi::lua_State, *const Shared);
const LIBRARIES: &[(&str, Open)] = &[
    #[cfg(feature = "bit")]
    ("bit", bit::open),
    #[cfg(feature = "cjson")]
    ("cjson", cjson::open),
    #[cfg(feature = "cmsgpack")]
    ("cmsgpack", cmsgpack::open),
    #[cfg(feature = "struct")]
    ("struct", struct_::open),
];

impl Host {
    pub fn new(state: Rc<RefCell<State>>, config: &Config) -> Result<Host, Failure> {
        let host = Host {
            lua: lua54::State::new().map_err(broken)?,
            shared: Box::new(Shared::new(state, *config)),
            chunks: Vec::new(),
            last: None,
            #[cfg(feature = "functions")]
            compiled: functions::Compiled::default(),
        };
        host.set_up()?;
        host.lua.set_memory_limit(config.limits.lua_memory_bytes);
        Ok(host)
    }

    #[cfg(feature = "live")]
    pub fn set_watchdog(&mut self, watchdog: crate::live::Watchdog) {
        self.shared.watchdog.replace(Some(watchdog));
    }

    /// EVAL and SCRIPT LOAD: the script of `source`, compiled and put into the cache when it is not there yet.
    /// The state must not be borrowed by the caller.
    ///
    /// # Errors
    /// `ERR Error compiling script (new function): …`; nothing is cached then.
    pub fn load(&mut self, source: &[u8]) -> Result<Script, Interrupt> {
        let digest = sha1_smol::Sha1::from(source).digest();
        let mut text = [0; 40];
        let sha = hexadecimal(digest.bytes(), &mut text);
        if let Some(script) = self.shared.state.borrow().scripts.get(sha) {
            return Ok(script.clone());
        }
        let sha = String::from_utf8_lossy(sha);
        let script = Script {
            sha: Rc::from(&*sha),
            source: Rc::from(source),
            #[cfg(feature = "functions")]
            flags: shebang::script_flags(source, self.shared.config.version)?,
        };
        self.chunk(&script)?;
        self.shared.state.borrow_mut().scripts.insert(script.clone());
        Ok(script)
    }

    /// Runs `script` for the client of `session`: EVAL after [`Host::load`], EVALSHA after [`ScriptCache::get`]. SELECT
    /// and setresp inside the script end with it. The reply fits the protocol of `session`. The state must not be
    /// borrowed by the caller.
    ///
    /// # Errors
    /// A script's own error is an `Ok(Reply::Error(…))`, class first. `Err` is a limit of the engine.
    pub fn run(
        &mut self,
        session: &Session,
        script: &Script,
        keys: &[&[u8]],
        args: &[&[u8]],
        access: Access,
    ) -> Result<Reply, Interrupt> {
        let work = Work::Script(self.chunk(script)?);
        Ok(self.perform(session, &script.sha, work, (keys, args), access)?)
    }

    /// A run of `work` with keys and arguments; `name` is what the trace and 8.0's errors call it.
    fn perform(
        &mut self,
        session: &Session,
        name: &str,
        work: Work,
        (keys, args): (&[&[u8]], &[&[u8]]),
        access: Access,
    ) -> Result<Reply, Failure> {
        let shared = &*self.shared;
        shared.begin(session, access);
        let tracing = shared.state.borrow().traces.is_some();
        shared.trace.replace(tracing.then(|| tracing::start(name, keys, args)));
        // SAFETY: Lua reads the two lists while this function runs, and nothing keeps them after it.
        let (keys, args) = unsafe { (std::mem::transmute(keys), std::mem::transmute(args)) };
        shared.input.set(Input { keys, args, work });
        let result = self.protected_run(session, name, tracing);
        shared.input.set(Input::NONE);
        if let Some(trace) = shared.trace.take()
            && let Some(traces) = shared.state.borrow_mut().traces.as_mut()
        {
            traces.push(trace);
        }
        result
    }

    fn protected_run(&self, session: &Session, name: &str, tracing: bool) -> Result<Reply, Failure> {
        let shared = &*self.shared;
        let lua = self.lua.as_ptr();
        // SAFETY: `START` and what it calls are protected by `lua_pcall`; reading the result makes nothing in Lua.
        unsafe {
            let lines = if tracing { ffi::LUA_MASKLINE } else { 0 };
            ffi::lua_sethook(lua, Some(hook::hook), ffi::LUA_MASKCOUNT | lines, COUNT);
            let base = ffi::lua_gettop(lua);
            ffi::lua_rawgetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const NAMES).cast());
            ffi::lua_rawgeti(lua, -1, HANDLER);
            ffi::lua_rawgeti(lua, -2, START);
            let status = ffi::lua_pcall(lua, 0, 1, base + 2);
            ffi::lua_sethook(lua, None, 0, 0);
            let result = if status == ffi::LUA_OK {
                let script_protocol = shared.session.borrow().protocol;
                let names = base + 1;
                let reader = Reader { shared, lua, names, protocol: session.protocol, script_protocol };
                let reply = reader.read(1);
                shared.stopped.get().map_or(Ok(reply), |stop| Err(shared.failure(stop)))
            } else {
                self.uncaught(lua, status, name)
            };
            ffi::lua_settop(lua, base);
            if matches!(result, Err(Failure::Memory { .. })) {
                ffi::lua_gc(lua, ffi::LUA_GCCOLLECT);
            }
            result
        }
    }

    /// The error on top of the stack as a reply, or the end that the engine put to the run.
    fn uncaught(&self, lua: *mut ffi::lua_State, status: c_int, name: &str) -> Result<Reply, Failure> {
        let shared = &*self.shared;
        // SAFETY: reads strings only.
        let text = unsafe {
            match ffi::lua_type(lua, -1) {
                ffi::LUA_TSTRING => vm::bytes_at(lua, -1),
                _ => b"ERR unknown error",
            }
        };
        if status == ffi::LUA_ERRMEM || text == b"ERR not enough memory" {
            return Err(shared.failure(Stop::Memory));
        }
        let stop = shared.stopped.get();
        #[cfg(feature = "live")]
        if let Some(killed) = stop.and_then(Stop::killed) {
            return Ok(self.error_reply(killed.to_string().into_bytes(), name));
        }
        match stop {
            Some(stop) => Err(shared.failure(stop)),
            None => Ok(self.error_reply(text.to_vec(), name)),
        }
    }

    /// An error with the place where it was raised.
    fn error_reply(&self, text: Vec<u8>, name: &str) -> Reply {
        let shared = &*self.shared;
        let source = shared.error_source.borrow();
        let line = shared.error_line.get();
        let tail = match shared.config.version {
            Version::V8_0 => format!(" script: {name}, on {source}:{line}."),
            Version::V9_1 => format!(" script: on {source}:{line}."),
        };
        let mut text = convert::one_line(text);
        if shared.has_position.get() && !name.is_empty() {
            text.extend_from_slice(&convert::one_line(tail.into_bytes()));
        }
        Reply::Error(text)
    }

    /// Where the compiled chunk of `script` is; compiles it when there is none.
    fn chunk(&mut self, script: &Script) -> Result<i64, Interrupt> {
        if let Some((sha, chunk)) = &self.last
            && Rc::ptr_eq(sha, &script.sha)
        {
            return Ok(*chunk);
        }
        let chunk = match self.place(&script.sha) {
            Ok(place) => self.chunks[place].1,
            Err(_) => self.compile(script)?,
        };
        self.last = Some((Rc::clone(&script.sha), chunk));
        Ok(chunk)
    }

    fn compile(&mut self, script: &Script) -> Result<i64, Interrupt> {
        let refuse = |message: &[u8]| {
            let message = String::from_utf8_lossy(message);
            CommandError::other(format!("ERR Error compiling script (new function): {message}"))
        };
        let source = match dialect::translate(script.code(), CHUNK_NAME.to_bytes()) {
            Ok(source) => source,
            Err(message) => return Err(refuse(&message).into()),
        };
        let (lua, start) = (self.lua.as_ptr(), source.as_ptr().cast());
        // SAFETY: `lua_load` protects itself, and copies what it keeps of the source.
        let status =
            unsafe { ffi::luaL_loadbufferx(lua, start, source.len(), CHUNK_NAME.as_ptr(), c"t".as_ptr()) };
        if status != ffi::LUA_OK {
            let error = self.lua.take_error(status);
            return Err(match status {
                ffi::LUA_ERRSYNTAX => refuse(&error.message).into(),
                // Nested deeper than 5.4 reads, though not deeper than 5.1 does.
                ffi::LUA_ERRRUN => refuse(b"user_script:1: chunk has too many syntax levels").into(),
                ffi::LUA_ERRMEM => self.shared.failure(Stop::Memory).into(),
                _ => broken(error).into(),
            });
        }
        if self.chunks.len() >= MAX_CHUNKS {
            self.chunks.clear();
            self.last = None;
            self.new_chunk_table()?;
        }
        let at = i64::try_from(self.chunks.len()).unwrap_or(i64::MAX) + 1;
        let keep = |lua: *mut ffi::lua_State| unsafe {
            ffi::lua_rawgetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const CHUNKS).cast());
            ffi::lua_insert(lua, -2);
            ffi::lua_rawseti(lua, -2, at);
        };
        // SAFETY: the function is on the stack, and `keep` holds nothing to drop.
        unsafe { self.lua.protected(1, keep) }.map_err(broken)?;
        let place = self.place(&script.sha).unwrap_or_else(|place| place);
        self.chunks.insert(place, (Rc::clone(&script.sha), at));
        Ok(at)
    }

    /// Where the chunk of the script with this digest is among [`Host::chunks`], or else where it would be.
    fn place(&self, sha: &str) -> Result<usize, usize> {
        self.chunks.binary_search_by(|(other, _)| (**other).cmp(sha))
    }

    fn new_chunk_table(&self) -> Result<(), Failure> {
        let make = |lua: *mut ffi::lua_State| unsafe {
            ffi::lua_createtable(lua, 0, 0);
            ffi::lua_rawsetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const CHUNKS).cast());
        };
        // SAFETY: `make` holds nothing to drop.
        unsafe { self.lua.protected(0, make) }.map_err(broken)
    }

    /// Builds the sandbox, and the table that holds what a run needs: the names of reply fields, the message handler
    /// and the function that starts a script.
    fn set_up(&self) -> Result<(), Failure> {
        self.new_chunk_table()?;
        let shared: *const Shared = &raw const *self.shared;
        let build = move |lua: *mut ffi::lua_State| unsafe {
            vm::push_function(lua, shared, sandbox::build, 0);
            ffi::lua_call(lua, 0, 1);
            vm::push_table(lua, FIELDS.len() + 2, 0);
            for (at, name) in (1..).zip(FIELDS) {
                vm::push_bytes(lua, name);
                ffi::lua_rawseti(lua, -2, at);
            }
            vm::push_function(lua, shared, handle_uncaught, 0);
            ffi::lua_rawseti(lua, -2, HANDLER);
            ffi::lua_insert(lua, -2);
            vm::push_function(lua, shared, start, 1);
            ffi::lua_rawseti(lua, -2, START);
            ffi::lua_rawsetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const NAMES).cast());
            ffi::lua_pushlightuserdata(lua, shared.cast_mut().cast());
            ffi::lua_rawsetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const SHARED).cast());
        };
        // SAFETY: `build` holds nothing to drop; `shared` is in a box that lives as long as the state.
        unsafe { self.lua.protected(0, build) }.map_err(broken)
    }
}

/// Behind the names in the table of [`NAMES`].
const HANDLER: i64 = FIELDS.len() as i64 + 1;
const START: i64 = HANDLER + 1;
/// In the registry: where [`Shared`] is, for the hook.
static SHARED: u8 = 0;

fn broken(error: lua54::Error) -> Failure {
    Failure::Host(error.to_string())
}

fn hexadecimal(bytes: [u8; 20], text: &mut [u8; 40]) -> &[u8] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (pair, byte) in text.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    text
}

/// Sets KEYS and ARGV in the globals, which are the upvalue, and runs the chunk; or what else the run is of.
fn start(call: &Call) -> Result<c_int, Raise> {
    let input = call.shared().input.get();
    let arguments = match input.work {
        Work::Script(chunk) => {
            call.push_upvalue();
            // SAFETY: `Host::perform` keeps the lists alive while the script runs.
            unsafe {
                push_list(call, &*input.keys);
                call.set_field(1, "KEYS");
                push_list(call, &*input.args);
                call.set_field(1, "ARGV");
                ffi::lua_rawgetp(call.lua, ffi::LUA_REGISTRYINDEX, (&raw const CHUNKS).cast());
                ffi::lua_rawgeti(call.lua, -1, chunk);
            }
            0
        }
        #[cfg(feature = "functions")]
        Work::Library => {
            functions::push_source(call.lua);
            0
        }
        #[cfg(feature = "functions")]
        Work::Function { library, callback } => {
            functions::push_call(call, library, callback);
            2
        }
    };
    unsafe { ffi::lua_call(call.lua, arguments, 1) };
    Ok(1)
}

fn push_list(call: &Call, items: &[&[u8]]) {
    call.push_table(items.len(), 0);
    for (at, item) in (1..).zip(items) {
        call.push_bytes(item);
        unsafe { ffi::lua_rawseti(call.lua, -2, at) };
    }
}

/// The message handler of a run: an uncaught error becomes its reply's text, and where it was raised is noted.
fn handle_uncaught(call: &Call) -> Result<c_int, Raise> {
    let shared = call.shared();
    if shared.is_stopped() {
        return Ok(1);
    }
    note_position(call);
    match call.kind(1) {
        ffi::LUA_TTABLE => {
            call.push_bytes(b"err");
            let kind = unsafe { ffi::lua_rawget(call.lua, 1) };
            if kind == ffi::LUA_TNUMBER {
                call.check_string(-1)?;
            } else if kind != ffi::LUA_TSTRING {
                call.push_bytes(b"ERR unknown error");
            }
        }
        _ => {
            call.push_bytes(b"ERR ");
            unsafe { ffi::luaL_tolstring(call.lua, 1, std::ptr::null_mut()) };
            if let Some(text) = call.string(-1).and_then(errors::translate) {
                call.push_vec(text);
                unsafe { ffi::lua_replace(call.lua, -2) };
            }
            unsafe { ffi::lua_concat(call.lua, 2) };
        }
    }
    Ok(1)
}

/// The function that raised, or the one that called it when that is not Lua code.
fn note_position(call: &Call) {
    // SAFETY: `lua_Debug` is plain data that Lua fills in.
    unsafe {
        let mut info: ffi::lua_Debug = std::mem::zeroed();
        let shared = call.shared();
        shared.has_position.set(false);
        for level in 1..=2 {
            if ffi::lua_getstack(call.lua, level, &raw mut info) == 0 {
                return;
            }
            ffi::lua_getinfo(call.lua, c"Sl".as_ptr(), &raw mut info);
            shared.has_position.set(true);
            if vm::c_bytes(info.what) != b"C" {
                break;
            }
        }
        shared.error_line.set(info.currentline);
        let source = String::from_utf8_lossy(vm::c_bytes(info.source)).into_owned();
        shared.error_source.replace(source);
    }
}
