//! The table `redis`, which is `server` too.

use std::ffi::c_int;

use lua54::ffi;

use super::call;
use super::sandbox::functions;
use super::shared::Shared;
use super::vm::{Body, Call, Raise, push_bytes, set_field};
use crate::engine::Version;
use crate::session::Protocol;

const FUNCTIONS: &[(&str, Body)] =
    &[("call", call::call), ("error_reply", error_reply), ("pcall", call::pcall)];

const MORE: &[(&str, Body)] = &[
    ("acl_check_cmd", call::acl_check_cmd),
    ("breakpoint", breakpoint),
    ("debug", |_| Ok(0)),
    ("log", log),
    ("replicate_commands", replicate_commands),
    ("set_repl", set_repl),
    ("setresp", setresp),
    ("sha1hex", sha1hex),
    ("status_reply", status_reply),
];

const NUMBERS: &[(&str, f64)] = &[
    ("LOG_DEBUG", 0.0),
    ("LOG_VERBOSE", 1.0),
    ("LOG_NOTICE", 2.0),
    ("LOG_WARNING", 3.0),
    // Valkey goes on to call itself the last free release of what it comes from.
    ("REDIS_VERSION_NUM", 459_268.0),
];

/// For `set_repl`.
const REPLICATION: &[(&str, f64)] =
    &[("REPL_NONE", 0.0), ("REPL_AOF", 1.0), ("REPL_REPLICA", 2.0), ("REPL_SLAVE", 2.0), ("REPL_ALL", 3.0)];

/// Fills the table on top.
pub(super) fn fill(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe { functions(lua, shared, FUNCTIONS) };
    if cfg!(feature = "libraries") {
        unsafe { functions(lua, shared, MORE) };
        constants(lua, shared);
        numbers(lua, REPLICATION);
    }
}

/// Sets the levels of `log` and the versions in the table on top.
pub(super) fn constants(lua: *mut ffi::lua_State, shared: *const Shared) {
    // SAFETY: the host owns `shared`, which outlives the state.
    let version = unsafe { (*shared).config.version };
    let (text, number) = match version {
        Version::V8_0 => ("8.0.1", 524_289.0),
        Version::V9_1 => ("9.1.2", 590_082.0),
    };
    numbers(lua, NUMBERS);
    numbers(lua, &[("VALKEY_VERSION_NUM", number)]);
    for (name, value) in [("REDIS_VERSION", "7.2.4"), ("SERVER_NAME", "valkey"), ("VALKEY_VERSION", text)] {
        push_bytes(lua, value.as_bytes());
        set_field(lua, -2, name.as_bytes());
    }
}

fn numbers(lua: *mut ffi::lua_State, list: &[(&str, f64)]) {
    for (name, value) in list {
        unsafe { ffi::lua_pushnumber(lua, *value) };
        set_field(lua, -2, name.as_bytes());
    }
}

fn error_reply(call: &Call) -> Result<c_int, Raise> {
    let Some(text) = single_string(call) else { return Ok(1) };
    // A class of its own is a first word; without one the error is an ERR.
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let text = &text[..text.len() - count_ends(text.iter().rev())];
    let (class, text) = match text.iter().position(|&byte| byte == b' ') {
        Some(space) => (&text[..space], &text[space + 1..]),
        None => (&b"ERR"[..], text),
    };
    let text = &text[count_ends(text.iter())..];
    push_field(call, "err", [class, b" ", text].concat());
    Ok(1)
}

/// How many line ends there are in front.
fn count_ends<'a>(bytes: impl Iterator<Item = &'a u8>) -> usize {
    bytes.take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

fn status_reply(call: &Call) -> Result<c_int, Raise> {
    let Some(text) = single_string(call) else { return Ok(1) };
    let text = text.to_vec();
    push_field(call, "ok", text);
    Ok(1)
}

/// The one argument, a string; otherwise the answer, which is an error, is pushed.
fn single_string(call: &Call) -> Option<&[u8]> {
    if call.top() == 1
        && let Some(text) = call.string(1)
    {
        return Some(text);
    }
    super::convert::push_refusal(call.lua, b"ERR wrong number or type of arguments");
    None
}

fn push_field(call: &Call, name: &str, text: Vec<u8>) {
    call.push_vec(text);
    call.push_table(0, 1);
    unsafe { ffi::lua_insert(call.lua, -2) };
    call.set_field(-2, name);
}

fn sha1hex(call: &Call) -> Result<c_int, Raise> {
    if call.top() != 1 {
        return Err(call::raise(call, "ERR wrong number of arguments"));
    }
    let bytes = if call.is_number(1) { call.check_string(1)? } else { call.string(1).unwrap_or_default() };
    let digest = sha1_smol::Sha1::from(bytes).digest().to_string();
    call.push_vec(digest.into_bytes());
    Ok(1)
}

/// The engine has no log: the arguments are checked and that is all.
pub(super) fn log(call: &Call) -> Result<c_int, Raise> {
    if call.top() < 2 {
        return Err(call::raise(call, "ERR server.log() requires two arguments or more."));
    }
    if call.number(1).is_none() {
        return Err(call::raise(call, "ERR First argument must be a number (log level)."));
    }
    if !(0..=3).contains(&call.check_integer(1)?) {
        return Err(call::raise(call, "ERR Invalid log level."));
    }
    Ok(0)
}

fn setresp(call: &Call) -> Result<c_int, Raise> {
    if call.top() != 1 {
        return Err(call::raise(call, "ERR server.setresp() requires one argument."));
    }
    let protocol = match call.number(1) {
        Some(2.0) => Protocol::Resp2,
        Some(3.0) => Protocol::Resp3,
        _ => return Err(call::raise(call, "ERR RESP version must be 2 or 3.")),
    };
    call.shared().session.borrow_mut().protocol = protocol;
    Ok(0)
}

/// There are no replicas to which anything would be sent: the argument is checked and that is all.
fn set_repl(call: &Call) -> Result<c_int, Raise> {
    if call.top() != 1 {
        return Err(call::raise(call, "ERR server.set_repl() requires one argument."));
    }
    let flags = call.number(1).map_or(0, super::vm::truncate);
    if flags & !3 != 0 {
        let text = "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.";
        return Err(call::raise(call, text));
    }
    Ok(0)
}

fn replicate_commands(call: &Call) -> Result<c_int, Raise> {
    call.push_bool(true);
    Ok(1)
}

/// No debugger is attached.
fn breakpoint(call: &Call) -> Result<c_int, Raise> {
    call.push_bool(false);
    Ok(1)
}

/// `os.clock`: processor time is the engine's clock, counted from its start.
pub(super) fn clock(call: &Call) -> Result<c_int, Raise> {
    let shared = call.shared();
    let now = shared.state.borrow().clock.unix_us();
    let elapsed_us = now.saturating_sub(shared.config.clock.unix_us());
    #[cfg(feature = "live")]
    let elapsed_us = elapsed_us.saturating_add(shared.spent_us.get());
    #[expect(clippy::cast_precision_loss, reason = "5.1 has doubles only")]
    call.push_number(elapsed_us as f64 / 1e6);
    Ok(1)
}

/// Valkey leaves the handler of uncaught errors among the globals: an error as a table, with its position.
pub(super) fn error_handler(call: &Call) -> Result<c_int, Raise> {
    call.set_top(1);
    if call.kind(1) != ffi::LUA_TTABLE {
        call.push_table(0, 3);
        call.push_bytes(b"ERR ");
        unsafe {
            ffi::luaL_tolstring(call.lua, 1, std::ptr::null_mut());
            ffi::lua_concat(call.lua, 2);
        }
        call.set_field(-2, "err");
    }
    call.push_bytes(b"@user_script");
    call.set_field(-2, "source");
    call.push_number(f64::from(call.caller_line()));
    call.set_field(-2, "line");
    Ok(1)
}
