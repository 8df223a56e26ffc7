//! The globals of functions: those of scripts without what only scripts have, and, while a library loads, nothing but
//! `redis` and `server` with what registers.
//!
//! All functions close over one read-only table of globals, as those of one chunk do in Lua; what it shows is switched
//! between loading and running.

use std::ffi::c_int;

use lua54::ffi;

use super::register::register_function;
use crate::script::api;
use crate::script::sandbox::{functions, look_through, push_read_only, unknown_global};
use crate::script::shared::Shared;
use crate::script::vm::{Call, Raise, bytes_at, push_bytes, push_function, push_table, set_field};

/// In the registry: a table with what is at the places below.
static WORLD: u8 = 0;
const GLOBALS: i64 = 1;
/// The metatable of [`GLOBALS`], whose `__index` decides what they show.
const METATABLE: i64 = 2;
/// What functions see.
pub(super) const RUN: i64 = 3;
/// What the source of a library sees.
pub(super) const LOAD: i64 = 4;
/// The globals of scripts.
const SCRIPTS: i64 = 5;
/// The compiled source of the library that loads, and the callbacks that it registered.
const SOURCE: i64 = 6;
const CALLBACKS: i64 = 7;

/// Globals that functions have not, or have in another form.
const NOT_SHARED: &[&[u8]] =
    &[b"ARGV", b"KEYS", b"_G", b"__redis__err__handler", b"__server__err__handler", b"redis", b"server"];
/// What `redis` has in scripts alone.
const SCRIPTS_ONLY: &[&[u8]] = &[b"breakpoint", b"debug", b"replicate_commands"];

/// Builds the world. Runs as the body of a protected call.
pub(super) fn build(call: &Call) -> Result<c_int, Raise> {
    let lua = call.lua;
    let shared: *const Shared = call.shared();
    unsafe {
        call.set_top(0);
        // 1: the world; 2: the real globals of scripts; 3: what functions see.
        push_table(lua, 8, 0);
        ffi::lua_rawgeti(lua, ffi::LUA_REGISTRYINDEX, ffi::LUA_RIDX_GLOBALS);
        ffi::lua_pushvalue(lua, -1);
        ffi::lua_rawseti(lua, 1, SCRIPTS);
        look_through(call, 2);
        push_table(lua, 0, 40);
        copy(lua, 2, 3, NOT_SHARED);
        run_library(call, shared);
        push_unknown(lua, shared);
        ffi::lua_pushvalue(lua, -1);
        ffi::lua_setmetatable(lua, 3);
        push_read_only(lua, shared, -1, false);
        push_read_only(lua, shared, 3, true);
        ffi::lua_pushvalue(lua, -1);
        set_field(lua, 3, b"_G");
        ffi::lua_getmetatable(lua, -1);
        ffi::lua_rawseti(lua, 1, METATABLE);
        ffi::lua_rawseti(lua, 1, GLOBALS);
        ffi::lua_pushvalue(lua, 3);
        ffi::lua_rawseti(lua, 1, RUN);
        load_globals(lua, shared);
        ffi::lua_rawseti(lua, 1, LOAD);
        ffi::lua_pushvalue(lua, 1);
        ffi::lua_rawsetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const WORLD).cast());
    }
    Ok(0)
}

/// `redis` and `server` for functions, into the table at 3.
unsafe fn run_library(call: &Call, shared: *const Shared) {
    let lua = call.lua;
    unsafe {
        push_bytes(lua, b"redis");
        ffi::lua_rawget(lua, 2);
        look_through(call, 4);
        push_table(lua, 0, 32);
        copy(lua, 4, 5, SCRIPTS_ONLY);
        push_read_only(lua, shared, 5, false);
        share(lua, 3);
        call.set_top(3);
    }
}

/// Pushes what the source of a library sees.
unsafe fn load_globals(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe {
        push_table(lua, 0, 2);
        let globals = ffi::lua_gettop(lua);
        push_table(lua, 0, 16);
        functions(lua, shared, &[("log", api::log), ("register_function", register_function)]);
        api::constants(lua, shared);
        push_unknown(lua, shared);
        ffi::lua_setmetatable(lua, -2);
        push_read_only(lua, shared, -1, false);
        share(lua, globals);
        push_unknown(lua, shared);
        ffi::lua_setmetatable(lua, globals);
        ffi::lua_settop(lua, globals);
    }
}

/// Pushes a metatable by which an unknown name is an error.
unsafe fn push_unknown(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe {
        push_table(lua, 0, 1);
        push_function(lua, shared, unknown_global, 0);
    }
    set_field(lua, -2, b"__index");
}

/// Sets the library on top as `redis` and `server` of the table at `globals`.
unsafe fn share(lua: *mut ffi::lua_State, globals: c_int) {
    unsafe { ffi::lua_pushvalue(lua, -1) };
    set_field(lua, globals, b"redis");
    set_field(lua, globals, b"server");
}

/// Copies the table at `from` into the one at `to`, but for the names of `but`.
unsafe fn copy(lua: *mut ffi::lua_State, from: c_int, to: c_int, but: &[&[u8]]) {
    unsafe {
        ffi::lua_pushnil(lua);
        while ffi::lua_next(lua, from) != 0 {
            if but.contains(&bytes_at(lua, -2)) {
                ffi::lua_settop(lua, -2);
                continue;
            }
            ffi::lua_pushvalue(lua, -2);
            ffi::lua_rotate(lua, -2, 1);
            ffi::lua_rawset(lua, to);
        }
    }
}

/// Makes the globals of functions those of new chunks, and lets them show what is at `shown`.
pub(super) fn enter(lua: *mut ffi::lua_State, shown: i64) {
    // SAFETY: replaces values at keys that are there, and Lua holds the name `__index` anyway, so nothing is made.
    unsafe {
        let top = ffi::lua_gettop(lua);
        ffi::lua_rawgetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const WORLD).cast());
        ffi::lua_rawgeti(lua, top + 1, METATABLE);
        ffi::lua_rawgeti(lua, top + 1, shown);
        set_field(lua, -2, b"__index");
        ffi::lua_rawgeti(lua, top + 1, GLOBALS);
        ffi::lua_rawseti(lua, ffi::LUA_REGISTRYINDEX, ffi::LUA_RIDX_GLOBALS);
        ffi::lua_settop(lua, top);
    }
}

/// Makes the globals of scripts those of new chunks again.
pub(super) fn leave(lua: *mut ffi::lua_State) {
    // SAFETY: see `enter`.
    unsafe {
        let top = ffi::lua_gettop(lua);
        ffi::lua_rawgetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const WORLD).cast());
        ffi::lua_rawgeti(lua, top + 1, SCRIPTS);
        ffi::lua_rawseti(lua, ffi::LUA_REGISTRYINDEX, ffi::LUA_RIDX_GLOBALS);
        ffi::lua_settop(lua, top);
    }
}

/// Takes the compiled source of a library from the top of the stack, and has no callbacks yet.
pub(super) fn start(lua: *mut ffi::lua_State) {
    // SAFETY: runs protected.
    unsafe {
        ffi::lua_rawgetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const WORLD).cast());
        ffi::lua_rotate(lua, -2, 1);
        ffi::lua_rawseti(lua, -2, SOURCE);
        ffi::lua_createtable(lua, 4, 0);
        ffi::lua_rawseti(lua, -2, CALLBACKS);
    }
}

/// Pushes the compiled source of the library that loads.
pub(in crate::script) fn push_source(lua: *mut ffi::lua_State) {
    push_part(lua, SOURCE);
}

/// Pushes the callbacks that the source registered.
pub(super) fn push_callbacks(lua: *mut ffi::lua_State) {
    push_part(lua, CALLBACKS);
}

fn push_part(lua: *mut ffi::lua_State, at: i64) {
    // SAFETY: reads only.
    unsafe {
        ffi::lua_rawgetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const WORLD).cast());
        ffi::lua_rawgeti(lua, -1, at);
        ffi::lua_remove(lua, -2);
    }
}
