//! `load` and `loadstring`: sources that a script makes.

use std::ffi::c_int;

use super::base::{caught, is_out_of_memory};
use super::shared::Stop;
use super::vm::{Call, Raise, bytes_at};
use super::{dialect, ffi};

pub(super) fn load(call: &Call) -> Result<c_int, Raise> {
    if call.kind(1) != ffi::LUA_TFUNCTION {
        return Err(call.type_error(1, "function"));
    }
    if !call.is_nothing(2) {
        call.check_string(2)?;
    }
    call.set_top(2);
    call.push_bytes(b"");
    loop {
        call.push(1);
        let status = unsafe { ffi::lua_pcall(call.lua, 0, 1, 0) };
        if status != ffi::LUA_OK {
            return reader_failed(call, status);
        }
        if call.is_number(-1) {
            call.check_string(-1)?;
        }
        match call.string(-1) {
            Some(b"") => break,
            Some(_) => unsafe {
                ffi::lua_concat(call.lua, 2);
                // Every piece copies what was there.
                call.charge(1 + ffi::lua_rawlen(call.lua, -1) as u64 / 16)?;
            },
            None if call.kind(-1) == ffi::LUA_TNIL => break,
            None => return Err(Raise::text("reader function must return a string")),
        }
    }
    call.set_top(3);
    compile(call, 3, b"=(load)")
}

/// Valkey's handler of uncaught errors has seen the error of a reader before `load` returns it: it is a table.
fn reader_failed(call: &Call, status: c_int) -> Result<c_int, Raise> {
    caught(call, status)?;
    if call.kind(-1) == ffi::LUA_TSTRING {
        call.push_table(0, 1);
        call.push_bytes(b"ERR ");
        call.push(-3);
        unsafe { ffi::lua_concat(call.lua, 2) };
        call.set_field(-2, "err");
    }
    call.push_nil();
    unsafe { ffi::lua_insert(call.lua, -2) };
    Ok(2)
}

pub(super) fn loadstring(call: &Call) -> Result<c_int, Raise> {
    call.check_string(1)?;
    if !call.is_nothing(2) {
        call.check_string(2)?;
    }
    call.set_top(2);
    let default = unsafe { bytes_at(call.lua, 1) };
    compile(call, 1, default)
}

/// The function of the source at `at`, or nil and what is wrong with it. A name for it may be at 2.
fn compile(call: &Call, at: c_int, default_name: &[u8]) -> Result<c_int, Raise> {
    let source = call.string(at).unwrap_or_default();
    let name = call.string(2).unwrap_or(default_name);
    match dialect::translate(source, name) {
        Ok(source) => {
            let name = std::ffi::CString::new(name.split(|&b| b == 0).next().unwrap_or_default());
            let name = name.unwrap_or_default();
            let status = unsafe {
                let text = source.as_ptr().cast();
                ffi::luaL_loadbufferx(call.lua, text, source.len(), name.as_ptr(), c"t".as_ptr())
            };
            if status == ffi::LUA_OK {
                return Ok(1);
            }
        }
        Err(message) => call.push_vec(message),
    }
    if is_out_of_memory(call) {
        call.shared().stopped.set(Some(Stop::Memory));
        return Err(Raise::Stop);
    }
    call.push_nil();
    unsafe { ffi::lua_insert(call.lua, -2) };
    Ok(2)
}
