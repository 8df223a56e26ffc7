//! The one place where Rust functions meet Lua's C API: how a function of ours is called from Lua and how it fails.
//!
//! mlua's own callbacks turn every error into userdata, which a script could tell from Valkey's strings and tables,
//! and a Lua wrapper around them would hide the line that called. So the functions that scripts see are C closures:
//! [`enter`] finds the body in its first two upvalues, runs it, and raises what it returns.
//!
//! The rule that makes this sound: Lua leaves an API call that fails by a jump over our frames. The calls that can
//! fail are those that make something or that run a metamethod; at such a call no frame of ours may hold a value
//! that needs dropping. Bodies therefore compute first, keep what they must in [`Shared`], and push last.

use std::ffi::{CStr, c_int, c_void};

use lua54::ffi;

use super::shared::Shared;

/// What a function of ours does: reads the arguments of `call`, pushes its results and says how many they are.
pub(super) type Body = fn(&Call) -> Result<c_int, Raise>;

/// How a function fails.
#[derive(Debug)]
pub(super) enum Raise {
    /// A message behind the position of the caller, as `luaL_error` makes it.
    Text(Vec<u8>),
    /// `bad argument #n to 'f' (…)`.
    Argument(c_int, Vec<u8>),
    /// The value on top of the stack, as it is.
    Top,
    /// The run is over: no script code may go on.
    Stop,
}

impl Raise {
    pub fn text(text: impl Into<Vec<u8>>) -> Raise {
        Raise::Text(text.into())
    }

    pub fn argument(at: c_int, text: impl Into<Vec<u8>>) -> Raise {
        Raise::Argument(at, text.into())
    }
}

/// The address stands for a run that was stopped; scripts never see it.
static STOP: u8 = 0;

/// One call of a function of ours.
pub(super) struct Call {
    pub lua: *mut ffi::lua_State,
    shared: *const Shared,
}

/// Pushes the closure that runs `body`, with the `extra` values on top of the stack as further upvalues.
///
/// # Safety
/// `shared` must outlive the Lua state.
pub(super) unsafe fn push_function(
    lua: *mut ffi::lua_State,
    shared: *const Shared,
    body: Body,
    extra: c_int,
) {
    unsafe {
        ffi::lua_pushlightuserdata(lua, shared.cast_mut().cast());
        ffi::lua_pushlightuserdata(lua, body as *mut c_void);
        ffi::lua_rotate(lua, -2 - extra, 2);
        ffi::lua_pushcclosure(lua, enter, 2 + extra);
    }
}

unsafe extern "C-unwind" fn enter(lua: *mut ffi::lua_State) -> c_int {
    // SAFETY: `push_function` made this closure, so its upvalues are a live `Shared` and a `Body`.
    unsafe {
        let shared = ffi::lua_touserdata(lua, ffi::lua_upvalueindex(1)).cast_const().cast::<Shared>();
        let call = Call { lua, shared };
        let body = ffi::lua_touserdata(lua, ffi::lua_upvalueindex(2));
        let body = std::mem::transmute::<*mut c_void, Body>(body);
        match body(&call) {
            Ok(results) => results,
            Err(raise) => throw(&call, raise),
        }
    }
}

unsafe fn throw(call: &Call, raise: Raise) -> ! {
    let lua = call.lua;
    unsafe {
        match raise {
            Raise::Text(text) => {
                call.shared().text.replace(text);
                ffi::luaL_where(lua, 1);
                call.push_text();
                ffi::lua_concat(lua, 2);
            }
            Raise::Argument(at, text) => {
                call.push_vec(text);
                ffi::luaL_argerror(lua, at, ffi::lua_tostring(lua, -1));
            }
            Raise::Top => {}
            Raise::Stop => stop(lua),
        }
        ffi::lua_error(lua)
    }
}

/// Raises the end of the run.
pub(super) unsafe fn stop(lua: *mut ffi::lua_State) -> ! {
    unsafe {
        ffi::lua_pushlightuserdata(lua, (&raw const STOP).cast_mut().cast());
        ffi::lua_error(lua)
    }
}

impl Call {
    pub fn shared(&self) -> &Shared {
        // SAFETY: see `push_function`.
        unsafe { &*self.shared }
    }

    /// See [`Shared::charge`].
    pub fn charge(&self, steps: u64) -> Result<(), Raise> {
        if self.shared().charge(steps) { Ok(()) } else { Err(Raise::Stop) }
    }

    pub fn top(&self) -> c_int {
        unsafe { ffi::lua_gettop(self.lua) }
    }

    pub fn set_top(&self, top: c_int) {
        unsafe { ffi::lua_settop(self.lua, top) }
    }

    /// One of `ffi::LUA_T…`; `LUA_TNONE` past the last argument.
    pub fn kind(&self, at: c_int) -> c_int {
        unsafe { ffi::lua_type(self.lua, at) }
    }

    pub fn is_nothing(&self, at: c_int) -> bool {
        self.kind(at) <= ffi::LUA_TNIL
    }

    pub fn truthy(&self, at: c_int) -> bool {
        unsafe { ffi::lua_toboolean(self.lua, at) != 0 }
    }

    pub fn type_name(&self, at: c_int) -> &'static str {
        match self.kind(at) {
            ffi::LUA_TNONE => "no value",
            ffi::LUA_TNIL => "nil",
            ffi::LUA_TBOOLEAN => "boolean",
            ffi::LUA_TNUMBER => "number",
            ffi::LUA_TSTRING => "string",
            ffi::LUA_TTABLE => "table",
            ffi::LUA_TFUNCTION => "function",
            ffi::LUA_TTHREAD => "thread",
            _ => "userdata",
        }
    }

    /// The bytes of a string (not of a number). They live as long as the string is on the stack or in a table.
    pub fn string(&self, at: c_int) -> Option<&[u8]> {
        if self.kind(at) != ffi::LUA_TSTRING {
            return None;
        }
        Some(self.text_of(at))
    }

    /// A number, or a string that reads as one.
    pub fn number(&self, at: c_int) -> Option<f64> {
        let mut is_number = 0;
        let x = unsafe { ffi::lua_tonumberx(self.lua, at, &raw mut is_number) };
        (is_number != 0).then_some(x)
    }

    pub fn is_number(&self, at: c_int) -> bool {
        self.kind(at) == ffi::LUA_TNUMBER
    }

    pub fn type_error(&self, at: c_int, expected: &str) -> Raise {
        Raise::argument(at, format!("{expected} expected, got {}", self.type_name(at)))
    }

    pub fn check_number(&self, at: c_int) -> Result<f64, Raise> {
        self.number(at).ok_or_else(|| self.type_error(at, "number"))
    }

    /// An integer argument as 5.1 reads it: fractions are cut off.
    pub fn check_integer(&self, at: c_int) -> Result<i64, Raise> {
        self.check_number(at).map(truncate)
    }

    pub fn integer_or(&self, at: c_int, default: i64) -> Result<i64, Raise> {
        if self.is_nothing(at) { Ok(default) } else { self.check_integer(at) }
    }

    /// A string argument; a number becomes its text in place.
    pub fn check_string(&self, at: c_int) -> Result<&[u8], Raise> {
        match self.kind(at) {
            ffi::LUA_TSTRING | ffi::LUA_TNUMBER => Ok(self.text_of(at)),
            _ => Err(self.type_error(at, "string")),
        }
    }

    pub fn check_table(&self, at: c_int) -> Result<(), Raise> {
        if self.kind(at) == ffi::LUA_TTABLE { Ok(()) } else { Err(self.type_error(at, "table")) }
    }

    pub fn check_any(&self, at: c_int) -> Result<(), Raise> {
        if self.kind(at) == ffi::LUA_TNONE { Err(Raise::argument(at, "value expected")) } else { Ok(()) }
    }

    fn text_of(&self, at: c_int) -> &[u8] {
        let mut len = 0;
        // SAFETY: the callers saw a string or a number there, for which the answer is never null.
        unsafe {
            let text = ffi::lua_tolstring(self.lua, at, &raw mut len);
            std::slice::from_raw_parts(text.cast(), len)
        }
    }

    /// Room for `n` more values; an error as in 5.1 when the stack is full.
    pub fn reserve(&self, n: c_int, what: &str) -> Result<(), Raise> {
        if unsafe { ffi::lua_checkstack(self.lua, n) } == 0 {
            return Err(Raise::text(format!("stack overflow ({what})")));
        }
        Ok(())
    }

    pub fn push(&self, at: c_int) {
        unsafe { ffi::lua_pushvalue(self.lua, at) }
    }

    pub fn push_nil(&self) {
        unsafe { ffi::lua_pushnil(self.lua) }
    }

    pub fn push_bool(&self, value: bool) {
        unsafe { ffi::lua_pushboolean(self.lua, c_int::from(value)) }
    }

    pub fn push_number(&self, x: f64) {
        unsafe { ffi::lua_pushnumber(self.lua, x) }
    }

    /// May leave by a jump: see the rule at the top of this file.
    pub fn push_bytes(&self, bytes: &[u8]) {
        push_bytes(self.lua, bytes);
    }

    /// Pushes bytes of ours; when Lua jumps they are kept and freed later.
    pub fn push_vec(&self, bytes: Vec<u8>) {
        self.shared().text.replace(bytes);
        self.push_text();
    }

    /// Pushes `Shared::text`.
    pub fn push_text(&self) {
        // SAFETY: nothing else uses the text while it is pushed; a borrow must not be held over a jump.
        push_bytes(self.lua, unsafe { &*self.shared().text.as_ptr() });
    }

    pub fn push_table(&self, array: usize, fields: usize) {
        push_table(self.lua, array, fields);
    }

    /// `table[name] = top`, without metamethods; takes the value off.
    pub fn set_field(&self, table: c_int, name: &str) {
        set_field(self.lua, table, name.as_bytes());
    }

    /// The first extra upvalue of `push_function`.
    pub fn push_upvalue(&self) {
        self.push(ffi::lua_upvalueindex(3));
    }

    /// Source line of the script that called this function; -1 when it was not Lua code.
    pub fn caller_line(&self) -> c_int {
        line_at(self.lua, 1)
    }
}

/// A float to an integer as C's cast on x86-64 does it.
#[expect(clippy::cast_possible_truncation, reason = "the bounds are checked")]
pub(super) fn truncate(x: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&x) { x as i64 } else { i64::MIN }
}

/// A float to an unsigned integer as C's cast on x86-64 does it; the bits of that integer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bounds are checked")]
pub(super) fn truncate_unsigned(x: f64) -> u64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if x < LIMIT || x.is_nan() {
        truncate(x).cast_unsigned()
    } else if x < 2.0 * LIMIT {
        x as u64
    } else {
        0
    }
}

pub(super) fn push_bytes(lua: *mut ffi::lua_State, bytes: &[u8]) {
    // SAFETY: Lua copies the bytes.
    unsafe { ffi::lua_pushlstring(lua, bytes.as_ptr().cast(), bytes.len()) };
}

pub(super) fn push_table(lua: *mut ffi::lua_State, array: usize, fields: usize) {
    let clip = |n: usize| c_int::try_from(n).unwrap_or(c_int::MAX);
    unsafe { ffi::lua_createtable(lua, clip(array), clip(fields)) }
}

pub(super) fn set_field(lua: *mut ffi::lua_State, table: c_int, name: &[u8]) {
    unsafe {
        let table = ffi::lua_absindex(lua, table);
        push_bytes(lua, name);
        ffi::lua_rotate(lua, -2, 1);
        ffi::lua_rawset(lua, table);
    }
}

/// The current line of the function at `level` (0 is the running one).
pub(super) fn line_at(lua: *mut ffi::lua_State, level: c_int) -> c_int {
    // SAFETY: `lua_Debug` is plain data that Lua fills in; zeroes are valid for it.
    unsafe {
        let mut info: ffi::lua_Debug = std::mem::zeroed();
        if ffi::lua_getstack(lua, level, &raw mut info) == 0 {
            return -1;
        }
        ffi::lua_getinfo(lua, c"l".as_ptr(), &raw mut info);
        info.currentline
    }
}

/// The text at `at` of a value that is a string or a number.
///
/// # Safety
/// The value must stay where it is while the slice is used.
pub(super) unsafe fn bytes_at<'a>(lua: *mut ffi::lua_State, at: c_int) -> &'a [u8] {
    unsafe {
        let mut len = 0;
        let text = ffi::lua_tolstring(lua, at, &raw mut len);
        if text.is_null() { &[] } else { std::slice::from_raw_parts(text.cast(), len) }
    }
}

pub(super) fn c_bytes<'a>(text: *const std::ffi::c_char) -> &'a [u8] {
    // SAFETY: Lua's own strings, alive while the function they describe is.
    if text.is_null() { b"?" } else { unsafe { CStr::from_ptr(text) }.to_bytes() }
}
