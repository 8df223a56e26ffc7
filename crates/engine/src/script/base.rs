//! The basic functions as Lua 5.1 has them, where 5.4's are others or would show what the sandbox hides.
//!
//! Everything that catches an error is here (`pcall`, `xpcall`, `coroutine.resume`): it gives the message 5.1's words,
//! and raises again when the run was stopped, so that no script outlives its budget.

use std::ffi::c_int;

use lua54::ffi;

use super::shared::Stop;
use super::vm::{Body, Call, Raise, push_function};
use super::{errors, load, sandbox};

/// The functions of `_G` that are ours, by name.
pub(super) const FUNCTIONS: &[(&str, Body)] = &[("ipairs", ipairs), ("next", next), ("tonumber", tonumber)];

pub(super) const MORE: &[(&str, Body)] = &[
    ("assert", assert),
    ("collectgarbage", collectgarbage),
    ("error", error),
    ("gcinfo", gcinfo),
    ("getmetatable", getmetatable),
    ("load", load::load),
    ("loadstring", load::loadstring),
    ("pcall", pcall),
    ("rawget", rawget),
    ("rawset", rawset),
    ("select", select),
    ("setmetatable", setmetatable),
    ("tostring", tostring),
    ("unpack", unpack),
    ("xpcall", xpcall),
];

fn assert(call: &Call) -> Result<c_int, Raise> {
    call.check_any(1)?;
    if call.truthy(1) {
        return Ok(call.top());
    }
    if call.is_nothing(2) {
        return Err(Raise::text("assertion failed!"));
    }
    Err(Raise::Text(call.check_string(2)?.to_vec()))
}

fn error(call: &Call) -> Result<c_int, Raise> {
    // 5.1 holds it in 32 bits.
    #[expect(clippy::cast_possible_truncation, reason = "as C's cast")]
    let level = call.integer_or(2, 1)? as c_int;
    call.set_top(1);
    if matches!(call.kind(1), ffi::LUA_TSTRING | ffi::LUA_TNUMBER) && level > 0 {
        unsafe {
            ffi::luaL_where(call.lua, level);
            call.push(1);
            ffi::lua_concat(call.lua, 2);
        }
    }
    Err(Raise::Top)
}

/// What has just failed is on top of the stack: as a script may see it, or the end of the run.
pub(super) fn caught(call: &Call, status: c_int) -> Result<(), Raise> {
    let shared = call.shared();
    if status == ffi::LUA_ERRMEM || is_out_of_memory(call) {
        shared.stopped.set(Some(Stop::Memory));
    }
    if shared.is_stopped() {
        return Err(Raise::Stop);
    }
    translate_top(call);
    Ok(())
}

/// Lua says so in a string when the error has passed through a coroutine.
pub(super) fn is_out_of_memory(call: &Call) -> bool {
    call.string(-1) == Some(b"not enough memory")
}

fn translate_top(call: &Call) {
    if let Some(text) = call.string(-1).and_then(errors::translate) {
        call.push_vec(text);
        unsafe { ffi::lua_replace(call.lua, -2) };
    }
}

/// Valkey's own `pcall`: an error table is seen as its `err`.
fn pcall(call: &Call) -> Result<c_int, Raise> {
    if call.top() == 0 {
        call.push_bool(false);
        call.push_bytes(b"attempt to call a boolean value");
        return Ok(2);
    }
    let status = unsafe { ffi::lua_pcall(call.lua, call.top() - 1, ffi::LUA_MULTRET, 0) };
    if status == ffi::LUA_OK {
        call.reserve(1, "pcall")?;
        call.push_bool(true);
        unsafe { ffi::lua_insert(call.lua, 1) };
        return Ok(call.top());
    }
    caught(call, status)?;
    if call.kind(-1) == ffi::LUA_TTABLE {
        call.push_bytes(b"err");
        unsafe {
            // As there: a table without a text keeps its place and a nil follows it.
            if matches!(ffi::lua_rawget(call.lua, -2), ffi::LUA_TSTRING | ffi::LUA_TNUMBER) {
                ffi::lua_replace(call.lua, -2);
            }
        }
    }
    call.push_bool(false);
    unsafe { ffi::lua_insert(call.lua, 1) };
    Ok(call.top())
}

fn xpcall(call: &Call) -> Result<c_int, Raise> {
    call.check_any(2)?;
    call.set_top(2);
    // SAFETY: the handler on top becomes the upvalue of ours, which goes below the function.
    let status = unsafe {
        push_function(call.lua, call.shared(), handle, 1);
        ffi::lua_insert(call.lua, 1);
        ffi::lua_pcall(call.lua, 0, ffi::LUA_MULTRET, 1)
    };
    if status != ffi::LUA_OK {
        caught(call, status)?;
    }
    call.push_bool(status == ffi::LUA_OK);
    unsafe { ffi::lua_replace(call.lua, 1) };
    Ok(call.top())
}

/// The message handler of `xpcall`: the script's own sees 5.1's words, and nothing of a run that was stopped.
fn handle(call: &Call) -> Result<c_int, Raise> {
    if !call.shared().is_stopped() {
        translate_top(call);
        call.push_upvalue();
        unsafe {
            ffi::lua_insert(call.lua, 1);
            ffi::lua_call(call.lua, 1, 1);
        }
    }
    Ok(1)
}

/// `coroutine.create` and `coroutine.wrap`; the upvalue is Lua's own.
pub(super) fn on_function(call: &Call) -> Result<c_int, Raise> {
    let is_lua = call.kind(1) == ffi::LUA_TFUNCTION && unsafe { ffi::lua_iscfunction(call.lua, 1) } == 0;
    if !is_lua {
        return Err(Raise::argument(1, "Lua function expected"));
    }
    sandbox::call_original(call)
}

/// `coroutine.status`; the upvalue is Lua's own.
pub(super) fn on_coroutine(call: &Call) -> Result<c_int, Raise> {
    if call.kind(1) != ffi::LUA_TTHREAD {
        return Err(Raise::argument(1, "coroutine expected"));
    }
    sandbox::call_original(call)
}

/// `coroutine.resume`; the upvalue is Lua's own.
pub(super) fn resume(call: &Call) -> Result<c_int, Raise> {
    let results = on_coroutine(call)?;
    if !call.truthy(-results) {
        caught(call, ffi::LUA_ERRRUN)?;
    }
    Ok(results)
}

/// `coroutine.running`: nil in the script itself.
pub(super) fn running(call: &Call) -> Result<c_int, Raise> {
    unsafe {
        if ffi::lua_pushthread(call.lua) != 0 {
            call.push_nil();
        }
    }
    Ok(1)
}

fn next(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    call.set_top(2);
    sandbox::look_through(call, 1);
    unsafe {
        if ffi::lua_next(call.lua, 1) == 0 {
            call.push_nil();
            return Ok(1);
        }
    }
    Ok(2)
}

/// `pairs`; the upvalue is `next`. Knows no `__pairs`, as 5.1.
pub(super) fn pairs(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    call.push_upvalue();
    call.push(1);
    call.push_nil();
    Ok(3)
}

fn ipairs(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    unsafe { push_function(call.lua, call.shared(), ipairs_step, 0) };
    call.push(1);
    call.push_number(0.0);
    Ok(3)
}

fn ipairs_step(call: &Call) -> Result<c_int, Raise> {
    let at = call.check_integer(2)?.wrapping_add(1);
    call.check_table(1)?;
    #[expect(clippy::cast_precision_loss, reason = "an index of a table in memory")]
    call.push_number(at as f64);
    let kind = unsafe { ffi::lua_rawgeti(call.lua, 1, at) };
    Ok(if kind == ffi::LUA_TNIL { 0 } else { 2 })
}

fn rawget(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    call.check_any(2)?;
    call.set_top(2);
    sandbox::look_through(call, 1);
    unsafe { ffi::lua_rawget(call.lua, 1) };
    Ok(1)
}

fn rawset(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    call.check_any(2)?;
    call.check_any(3)?;
    call.set_top(3);
    sandbox::refuse_read_only(call, 1)?;
    unsafe { ffi::lua_rawset(call.lua, 1) };
    Ok(1)
}

fn getmetatable(call: &Call) -> Result<c_int, Raise> {
    call.check_any(1)?;
    if !sandbox::push_face(call, 1) {
        unsafe {
            if ffi::lua_getmetatable(call.lua, 1) == 0 {
                call.push_nil();
            } else if ffi::luaL_getmetafield(call.lua, 1, c"__metatable".as_ptr()) == ffi::LUA_TNIL {
                // The metatable itself is on top.
            }
        }
    }
    Ok(1)
}

fn setmetatable(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    if !matches!(call.kind(2), ffi::LUA_TNIL | ffi::LUA_TTABLE) {
        return Err(Raise::argument(2, "nil or table expected"));
    }
    sandbox::refuse_read_only(call, 1)?;
    unsafe {
        if ffi::luaL_getmetafield(call.lua, 1, c"__metatable".as_ptr()) != ffi::LUA_TNIL {
            return Err(Raise::text("cannot change a protected metatable"));
        }
        call.set_top(2);
        if call.kind(2) == ffi::LUA_TTABLE {
            return set_without_finalizer(call);
        }
        ffi::lua_setmetatable(call.lua, 1);
    }
    Ok(1)
}

/// 5.1 has no finalizers for tables: `__gc` is out of sight while the metatable is set.
unsafe fn set_without_finalizer(call: &Call) -> Result<c_int, Raise> {
    unsafe {
        call.push_bytes(b"__gc");
        let has_gc = ffi::lua_rawget(call.lua, 2) != ffi::LUA_TNIL;
        if has_gc {
            call.push_nil();
            call.set_field(2, "__gc");
        }
        call.push(2);
        ffi::lua_setmetatable(call.lua, 1);
        if has_gc {
            call.set_field(2, "__gc");
        }
        call.set_top(1);
    }
    Ok(1)
}

fn select(call: &Call) -> Result<c_int, Raise> {
    let count = call.top();
    if call.string(1).is_some_and(|text| text.first() == Some(&b'#')) {
        call.push_number(f64::from(count - 1));
        return Ok(1);
    }
    let at = call.check_integer(1)?;
    let count = i64::from(count);
    let at = if at < 0 { count.saturating_add(at) } else { at.min(count) };
    if at < 1 {
        return Err(Raise::argument(1, "index out of range"));
    }
    Ok(c_int::try_from(count - at).unwrap_or(0))
}

fn tostring(call: &Call) -> Result<c_int, Raise> {
    call.check_any(1)?;
    unsafe {
        // Whatever `__tostring` returns is the answer, a string or not.
        if ffi::luaL_callmeta(call.lua, 1, c"__tostring".as_ptr()) == 0 {
            ffi::luaL_tolstring(call.lua, 1, std::ptr::null_mut());
        }
    }
    Ok(1)
}

fn tonumber(call: &Call) -> Result<c_int, Raise> {
    let base = call.integer_or(2, 10)?;
    if base == 10 {
        call.check_any(1)?;
        match call.number(1) {
            Some(x) => call.push_number(x),
            None => call.push_nil(),
        }
        return Ok(1);
    }
    let text = call.check_string(1)?;
    let Some(base) = u32::try_from(base).ok().filter(|base| (2..=36).contains(base)) else {
        return Err(Raise::argument(2, "base out of range"));
    };
    #[expect(clippy::cast_precision_loss, reason = "as C's cast")]
    match strtoul(text, base) {
        Some(n) => call.push_number(n as f64),
        None => call.push_nil(),
    }
    Ok(1)
}

/// C's `strtoul` over the whole text: a sign wraps around, what does not fit is the largest number.
fn strtoul(text: &[u8], base: u32) -> Option<u64> {
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default().trim_ascii();
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let digits = match text {
        [b'0', b'x' | b'X', rest @ ..] if base == 16 && !rest.is_empty() => rest,
        _ => text,
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: Option<u64> = Some(0);
    for &byte in digits {
        let digit = char::from(byte).to_digit(base)?;
        value = value.and_then(|v| v.checked_mul(u64::from(base))?.checked_add(u64::from(digit)));
    }
    Some(match value {
        Some(value) if negative => value.wrapping_neg(),
        Some(value) => value,
        None => u64::MAX,
    })
}

/// The most values that a C function of 5.1 may have on its stack.
const MAX_C_STACK: i64 = 8000;

fn unpack(call: &Call) -> Result<c_int, Raise> {
    call.check_table(1)?;
    let first = call.integer_or(2, 1)?;
    let length = unsafe { ffi::lua_rawlen(call.lua, 1) };
    let last = call.integer_or(3, i64::try_from(length).unwrap_or(i64::MAX))?;
    if first > last {
        return Ok(0);
    }
    let count = last.saturating_sub(first).saturating_add(1);
    if count > MAX_C_STACK - i64::from(call.top()) {
        return Err(Raise::text("too many results to unpack"));
    }
    let count = c_int::try_from(count).unwrap_or(c_int::MAX);
    if unsafe { ffi::lua_checkstack(call.lua, count) } == 0 {
        return Err(Raise::text("too many results to unpack"));
    }
    sandbox::look_through(call, 1);
    for at in first..=last {
        unsafe { ffi::lua_rawgeti(call.lua, 1, at) };
    }
    Ok(count)
}

fn kilobytes(call: &Call) -> f64 {
    unsafe {
        let whole = ffi::lua_gc(call.lua, ffi::LUA_GCCOUNT);
        f64::from(whole) + f64::from(ffi::lua_gc(call.lua, ffi::LUA_GCCOUNTB)) / 1024.0
    }
}

fn collectgarbage(call: &Call) -> Result<c_int, Raise> {
    let option = if call.is_nothing(1) { &b"collect"[..] } else { call.check_string(1)? };
    match option {
        b"count" => {
            let kilobytes = kilobytes(call);
            call.push_number(kilobytes);
        }
        b"step" => {
            call.integer_or(2, 0)?;
            let done = unsafe { ffi::lua_gc(call.lua, ffi::LUA_GCSTEP, 0 as c_int) } != 0;
            call.push_bool(done);
        }
        b"collect" => {
            unsafe { ffi::lua_gc(call.lua, ffi::LUA_GCCOLLECT) };
            call.push_number(0.0);
        }
        // The pace of the collector is the host's matter.
        b"stop" | b"restart" => call.push_number(0.0),
        b"setpause" | b"setstepmul" => call.push_number(200.0),
        _ => {
            let option = String::from_utf8_lossy(option);
            return Err(Raise::argument(1, format!("invalid option '{option}'")));
        }
    }
    Ok(1)
}

fn gcinfo(call: &Call) -> Result<c_int, Raise> {
    let kilobytes = kilobytes(call).floor();
    call.push_number(kilobytes);
    Ok(1)
}
