//! The world of a script: which names there are, and that none of them can be changed.
//!
//! The lists are those of Valkey 9.1.2 (`for k in pairs(_G)` and for each library); what is not in them is not there,
//! and reading it is an error with Valkey's text. Valkey's Lua has tables with a read-only flag. Here a read-only table
//! is an empty one in front of the real one: reads go through `__index`, writes meet `__newindex`, and the functions
//! that look at tables raw ([`look_through`]) know the two.

use std::ffi::c_int;

use lua54::ffi;

use super::shared::Shared;
use super::vm::{Body, Call, Raise, push_bytes, push_function, push_table, set_field};
use super::{api, base, maths, strings, tables};

/// Lua's own functions that 5.1 has with the same meaning.
const BASE: &[&str] = &["rawequal", "type"];
const COROUTINE: &[&str] = &["yield"];

/// Lua's own functions whose integer arguments are cut to integers first; bit `n` stands for argument `n`.
const STRING: &[(&str, u32)] = &[
    ("byte", 0b1100),
    ("char", !0),
    ("dump", 0),
    ("len", 0),
    ("lower", 0),
    ("rep", 0b100),
    ("reverse", 0),
    ("sub", 0b1100),
    ("upper", 0),
];
const MATH: &[(&str, u32)] = &[
    ("abs", 0),
    ("acos", 0),
    ("asin", 0),
    ("atan", 0),
    ("cos", 0),
    ("exp", 0),
    ("log", 0),
    ("modf", 0),
    ("rad", 0),
    ("sin", 0),
    ("sqrt", 0),
    ("tan", 0),
];
/// 5.1 looks at no more arguments than these.
const ARITY: &[(&str, c_int)] = &[("atan", 1), ("log", 1), ("rep", 2)];

/// In the metatable of a read-only table: the real table, and what `getmetatable` shows.
static REAL: u8 = 0;
static FACE: u8 = 0;
/// In the registry: what `getmetatable` shows of strings.
static STRING_FACE: u8 = 0;

/// Builds the world and makes it the globals of all chunks; leaves the real table of globals on the stack.
///
/// Runs as the body of a protected call.
pub(super) fn build(call: &Call) -> Result<c_int, Raise> {
    let lua = call.lua;
    let shared: *const Shared = call.shared();
    unsafe {
        // 1: Lua's own globals; 2: ours.
        call.set_top(0);
        ffi::lua_rawgeti(lua, ffi::LUA_REGISTRYINDEX, ffi::LUA_RIDX_GLOBALS);
        push_table(lua, 0, 48);
        basics(lua, shared);
        library(lua, shared, "string", &|lua| string_library(lua, shared));
        library(lua, shared, "math", &|lua| math_library(lua, shared));
        if cfg!(feature = "libraries") {
            library(lua, shared, "table", &|lua| table_library(lua, shared));
            library(lua, shared, "coroutine", &|lua| coroutine_library(lua, shared));
            library(lua, shared, "os", &|lua| functions(lua, shared, &[("clock", api::clock)]));
        }
        for (name, open) in super::LIBRARIES {
            library(lua, shared, name, &|lua| open(lua, shared));
        }
        library(lua, shared, "redis", &|lua| api::fill(lua, shared));
        ffi::lua_getfield(lua, 2, c"redis".as_ptr());
        set_field(lua, 2, b"server");
        string_metatable(lua, shared);
        seal_globals(lua, shared);
        call.set_top(2);
    }
    Ok(1)
}

unsafe fn basics(lua: *mut ffi::lua_State, shared: *const Shared) {
    for name in BASE {
        unsafe { originals(lua, 1, name) };
        set_field(lua, 2, name.as_bytes());
    }
    unsafe {
        functions(lua, shared, base::FUNCTIONS);
        push_bytes(lua, b"next");
        ffi::lua_rawget(lua, 2);
        push_function(lua, shared, base::pairs, 1);
    }
    set_field(lua, 2, b"pairs");
    push_bytes(lua, b"Lua 5.1");
    set_field(lua, 2, b"_VERSION");
    if cfg!(feature = "libraries") {
        unsafe { functions(lua, shared, base::MORE) };
        error_handlers(lua, shared);
    }
}

fn error_handlers(lua: *mut ffi::lua_State, shared: *const Shared) {
    for name in ["__redis__err__handler", "__server__err__handler"] {
        if name == "__redis__err__handler" {
            unsafe { push_function(lua, shared, api::error_handler, 0) };
        } else {
            push_bytes(lua, b"__redis__err__handler");
            unsafe { ffi::lua_rawget(lua, 2) };
        }
        set_field(lua, 2, name.as_bytes());
    }
}

/// Sets functions of ours in the table on top.
pub(super) unsafe fn functions(lua: *mut ffi::lua_State, shared: *const Shared, list: &[(&str, Body)]) {
    for (name, body) in list {
        unsafe { push_function(lua, shared, *body, 0) };
        set_field(lua, -2, name.as_bytes());
    }
}

/// A read-only library `name` among our globals, filled by `fill`, which finds the table on top.
unsafe fn library(
    lua: *mut ffi::lua_State,
    shared: *const Shared,
    name: &str,
    fill: &dyn Fn(*mut ffi::lua_State),
) {
    push_table(lua, 0, 16);
    fill(lua);
    unsafe { push_read_only(lua, shared, -1, false) };
    set_field(lua, 2, name.as_bytes());
    unsafe { ffi::lua_settop(lua, -2) };
}

/// Pushes Lua's own `name` of the library table at `table`.
unsafe fn originals(lua: *mut ffi::lua_State, table: c_int, name: &str) {
    unsafe {
        let table = ffi::lua_absindex(lua, table);
        push_bytes(lua, name.as_bytes());
        ffi::lua_rawget(lua, table);
    }
}

/// Pushes a library of Lua's own; the one being filled is below it.
unsafe fn push_original_library(lua: *mut ffi::lua_State, name: &str) {
    unsafe { originals(lua, 1, name) };
}

/// For each name the function of Lua's own in the table on top, with its arguments read as 5.1 reads them, into the
/// table below.
unsafe fn fitted(lua: *mut ffi::lua_State, shared: *const Shared, list: &[(&str, u32)]) {
    for (name, cut) in list {
        unsafe {
            originals(lua, -1, name);
            let arity = ARITY.iter().find(|(known, _)| known == name).map_or(c_int::MAX, |&(_, n)| n);
            ffi::lua_pushinteger(lua, i64::from(*cut));
            ffi::lua_pushinteger(lua, i64::from(arity));
            push_function(lua, shared, fit, 3);
        }
        set_field(lua, -3, name.as_bytes());
    }
}

/// One of Lua's own functions behind 5.1's reading of arguments and numbers: what 5.4 gives as integers becomes floats,
/// so that arithmetic never wraps around.
fn fit(call: &Call) -> Result<c_int, Raise> {
    unsafe {
        let lua = call.lua;
        let original = ffi::lua_tocfunction(lua, ffi::lua_upvalueindex(3));
        let cut = ffi::lua_tointeger(lua, ffi::lua_upvalueindex(4));
        let arity = c_int::try_from(ffi::lua_tointeger(lua, ffi::lua_upvalueindex(5)));
        call.set_top(call.top().min(arity.unwrap_or(c_int::MAX)));
        for at in 1..=call.top() {
            if cut & (1 << at.min(31)) != 0 && !call.is_nothing(at) {
                let n = call.check_integer(at)?;
                ffi::lua_pushinteger(lua, n);
                ffi::lua_replace(lua, at);
            }
        }
        let Some(original) = original else { return Err(Raise::text("no such function")) };
        let results = original(lua);
        floats(call, results);
        Ok(results)
    }
}

/// Makes the `results` on top floats where they are integers.
#[expect(clippy::cast_precision_loss, reason = "5.1 has doubles only")]
fn floats(call: &Call, results: c_int) {
    unsafe {
        for at in 1..=results {
            if ffi::lua_isinteger(call.lua, -at) != 0 {
                let n = ffi::lua_tointeger(call.lua, -at);
                call.push_number(n as f64);
                ffi::lua_replace(call.lua, -at - 1);
            }
        }
    }
}

/// Calls the function of Lua's own that is the extra upvalue of the running one, in the same frame, so that its error
/// messages name the caller's words.
pub(super) fn call_original(call: &Call) -> Result<c_int, Raise> {
    call_original_at(call, 3)
}

/// As [`call_original`], for the upvalue at `upvalue`.
pub(super) fn call_original_at(call: &Call, upvalue: c_int) -> Result<c_int, Raise> {
    let original = unsafe { ffi::lua_tocfunction(call.lua, ffi::lua_upvalueindex(upvalue)) };
    let Some(original) = original else { return Err(Raise::text("no such function")) };
    let results = unsafe { original(call.lua) };
    floats(call, results);
    Ok(results)
}

/// Sets `name` in the table below to `body`, which calls the function of that name in the table on top.
unsafe fn wrapped(lua: *mut ffi::lua_State, shared: *const Shared, name: &str, body: Body) {
    unsafe { wrapped_as(lua, shared, name, name, body) };
}

/// As [`wrapped`], with the function `original`.
unsafe fn wrapped_as(
    lua: *mut ffi::lua_State,
    shared: *const Shared,
    original: &str,
    name: &str,
    body: Body,
) {
    unsafe {
        originals(lua, -1, original);
        push_function(lua, shared, body, 1);
    }
    set_field(lua, -3, name.as_bytes());
}

fn string_library(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe {
        push_original_library(lua, "string");
        wrapped(lua, shared, "find", strings::find_or_match);
        if cfg!(not(feature = "libraries")) {
            return ffi::lua_settop(lua, -2);
        }
        fitted(lua, shared, STRING);
        wrapped(lua, shared, "match", strings::find_or_match);
        wrapped(lua, shared, "format", strings::format);
        originals(lua, -1, "find");
        originals(lua, -2, "gsub");
        push_function(lua, shared, strings::gsub, 2);
        set_field(lua, -3, b"gsub");
        wrapped_as(lua, shared, "find", "gmatch", strings::gmatch);
        ffi::lua_settop(lua, -2);
        originals(lua, -1, "gmatch");
        set_field(lua, -2, b"gfind");
    }
}

fn table_library(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe {
        push_original_library(lua, "table");
        wrapped(lua, shared, "concat", tables::concat);
        ffi::lua_settop(lua, -2);
        functions(lua, shared, tables::FUNCTIONS);
    }
}

fn math_library(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe {
        functions(lua, shared, maths::FUNCTIONS);
        if cfg!(not(feature = "libraries")) {
            return;
        }
        push_original_library(lua, "math");
        fitted(lua, shared, MATH);
        ffi::lua_settop(lua, -2);
        functions(lua, shared, maths::MORE);
        ffi::lua_pushnumber(lua, std::f64::consts::PI);
        set_field(lua, -2, b"pi");
        ffi::lua_pushnumber(lua, f64::INFINITY);
        set_field(lua, -2, b"huge");
    }
}

fn coroutine_library(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe {
        push_original_library(lua, "coroutine");
        for name in COROUTINE {
            originals(lua, -1, name);
            set_field(lua, -3, name.as_bytes());
        }
        wrapped(lua, shared, "create", base::on_function);
        wrapped(lua, shared, "resume", base::resume);
        wrapped(lua, shared, "status", base::on_coroutine);
        wrapped(lua, shared, "wrap", base::on_function);
        ffi::lua_settop(lua, -2);
        functions(lua, shared, &[("running", base::running)]);
    }
}

/// Strings index the library; what a script sees of their metatable is read-only.
unsafe fn string_metatable(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe {
        push_bytes(lua, b"");
        ffi::lua_getmetatable(lua, -1);
        originals(lua, 2, "string");
        set_field(lua, -2, b"__index");
        push_table(lua, 0, 1);
        originals(lua, 2, "string");
        set_field(lua, -2, b"__index");
        push_read_only(lua, shared, -1, false);
        ffi::lua_rawsetp(lua, ffi::LUA_REGISTRYINDEX, (&raw const STRING_FACE).cast());
        ffi::lua_settop(lua, 2);
    }
}

/// The table at 2 becomes what scripts see as `_G`.
unsafe fn seal_globals(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe {
        // The metatable of the real table: an unknown name is an error.
        push_table(lua, 0, 1);
        push_function(lua, shared, unknown_global, 0);
        set_field(lua, -2, b"__index");
        ffi::lua_pushvalue(lua, -1);
        ffi::lua_setmetatable(lua, 2);
        // What `getmetatable(_G)` shows is that metatable, read-only itself.
        push_read_only(lua, shared, -1, false);
        push_read_only(lua, shared, 2, true);
        ffi::lua_pushvalue(lua, -1);
        set_field(lua, 2, b"_G");
        ffi::lua_rawseti(lua, ffi::LUA_REGISTRYINDEX, ffi::LUA_RIDX_GLOBALS);
    }
}

/// Pushes the read-only view of the table at `real`; with `face`, `getmetatable` of it shows the value on top, which is
/// taken off.
pub(super) unsafe fn push_read_only(
    lua: *mut ffi::lua_State,
    shared: *const Shared,
    real: c_int,
    face: bool,
) {
    unsafe {
        let real = ffi::lua_absindex(lua, real);
        push_table(lua, 0, 4);
        if face {
            ffi::lua_rotate(lua, -2, 1);
            ffi::lua_rawsetp(lua, -2, (&raw const FACE).cast());
        }
        ffi::lua_pushvalue(lua, real);
        ffi::lua_rawsetp(lua, -2, (&raw const REAL).cast());
        ffi::lua_pushvalue(lua, real);
        set_field(lua, -2, b"__index");
        push_function(lua, shared, refuse_write, 0);
        set_field(lua, -2, b"__newindex");
        push_table(lua, 0, 0);
        ffi::lua_rotate(lua, -2, 1);
        ffi::lua_setmetatable(lua, -2);
    }
}

const READ_ONLY: &str = "Attempt to modify a readonly table";

fn refuse_write(_call: &Call) -> Result<c_int, Raise> {
    Err(Raise::text(READ_ONLY))
}

pub(super) fn unknown_global(call: &Call) -> Result<c_int, Raise> {
    let name = call.string(2).map(|name| String::from_utf8_lossy(name).into_owned());
    let name = match name.as_deref() {
        // The dialect gave these other names.
        Some("_3NV") => "_ENV".to_owned(),
        Some("g0to") => "goto".to_owned(),
        _ => name.unwrap_or_else(|| call.type_name(2).to_owned()),
    };
    Err(Raise::text(format!("Script attempted to access nonexistent global variable '{name}'")))
}

/// Pushes the field `key` of the metatable of the value at `at`; false, and nothing pushed, without one.
fn push_mark(call: &Call, at: c_int, key: *const u8) -> bool {
    unsafe {
        if call.kind(at) != ffi::LUA_TTABLE || ffi::lua_getmetatable(call.lua, at) == 0 {
            return false;
        }
        let found = ffi::lua_rawgetp(call.lua, -1, key.cast()) != ffi::LUA_TNIL;
        ffi::lua_remove(call.lua, -2);
        if !found {
            call.set_top(-2);
        }
        found
    }
}

/// Puts the real table in the place of a read-only one.
pub(super) fn look_through(call: &Call, at: c_int) {
    if push_mark(call, at, &raw const REAL) {
        unsafe { ffi::lua_replace(call.lua, at) };
    }
}

/// An error, without a position as in Valkey, when the table at `at` is read-only.
pub(super) fn refuse_read_only(call: &Call, at: c_int) -> Result<(), Raise> {
    if !push_mark(call, at, &raw const REAL) {
        return Ok(());
    }
    call.push_bytes(READ_ONLY.as_bytes());
    Err(Raise::Top)
}

/// Pushes what `getmetatable` shows of a value whose real metatable is none of a script's business.
pub(super) fn push_face(call: &Call, at: c_int) -> bool {
    if call.kind(at) == ffi::LUA_TSTRING {
        unsafe { ffi::lua_rawgetp(call.lua, ffi::LUA_REGISTRYINDEX, (&raw const STRING_FACE).cast()) };
        return true;
    }
    if !push_mark(call, at, &raw const REAL) {
        return false;
    }
    if !push_mark(call, at, &raw const FACE) {
        call.push_nil();
    }
    true
}
