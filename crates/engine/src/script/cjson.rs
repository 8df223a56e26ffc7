//! The library `cjson` with the settings that Valkey gives it.
//!
//! Our own reader and writer, not serde_json: scripts can see the text of numbers (`%.14g`), slashes are escaped, numbers
//! that JSON forbids are read (`0x10`, `inf`, `007`), and error messages name tokens and places in lua-cjson's words.

mod decode;
mod encode;

use std::ffi::c_int;

use lua54::ffi;

use super::sandbox::functions;
use super::shared::Shared;
use super::vm::{Body, Call, Raise, push_bytes, set_field};

/// What the configuration functions change; it stays changed for later scripts, as in Valkey.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    sparse_convert: bool,
    sparse_ratio: i32,
    sparse_safe: i32,
    encode_depth: i32,
    decode_depth: i32,
    precision: i32,
    keep_buffer: bool,
    encode_invalid: Invalid,
    decode_invalid: bool,
}

/// What becomes of NaN and infinities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Invalid {
    Refused,
    Allowed,
    Null,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            sparse_convert: false,
            sparse_ratio: 2,
            sparse_safe: 10,
            encode_depth: 1000,
            decode_depth: 1000,
            precision: 14,
            keep_buffer: true,
            encode_invalid: Invalid::Refused,
            decode_invalid: true,
        }
    }
}

/// Nothing nests deeper than this whatever the settings say, for the sake of the stack.
const MAX_DEPTH: i32 = 1000;

const FUNCTIONS: &[(&str, Body)] = &[
    ("decode", decode::decode),
    ("decode_invalid_numbers", decode_invalid_numbers),
    ("decode_max_depth", |call| integer(call, 1, 1, i32::MAX, |settings| &mut settings.decode_depth)),
    ("encode", encode::encode),
    ("encode_invalid_numbers", encode_invalid_numbers),
    ("encode_keep_buffer", |call| boolean(call, 1, |settings| &mut settings.keep_buffer)),
    ("encode_max_depth", |call| integer(call, 1, 1, i32::MAX, |settings| &mut settings.encode_depth)),
    ("encode_number_precision", |call| integer(call, 1, 1, 14, |settings| &mut settings.precision)),
    ("encode_sparse_array", encode_sparse_array),
    ("new", new),
];

pub(super) fn open(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe {
        functions(lua, shared, FUNCTIONS);
        ffi::lua_pushlightuserdata(lua, std::ptr::null_mut());
    }
    set_field(lua, -2, b"null");
    push_bytes(lua, b"cjson");
    set_field(lua, -2, b"_NAME");
    push_bytes(lua, b"2.1.0");
    set_field(lua, -2, b"_VERSION");
}

/// `cjson.new()`: the same functions in a table of its own. The settings are not its own.
fn new(call: &Call) -> Result<c_int, Raise> {
    call.push_table(0, 16);
    open(call.lua, call.shared());
    Ok(1)
}

/// The one argument that `encode` and `decode` want.
fn single(call: &Call) -> Result<(), Raise> {
    if call.top() == 1 { Ok(()) } else { Err(Raise::argument(1, "expected 1 argument")) }
}

fn change(call: &Call, f: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = call.shared().cjson.get();
    f(&mut settings);
    call.shared().cjson.set(settings);
    settings
}

fn too_many(call: &Call, count: c_int) -> Result<(), Raise> {
    if call.top() > count { Err(Raise::argument(count + 1, "found too many arguments")) } else { Ok(()) }
}

fn integer(
    call: &Call,
    at: c_int,
    low: i32,
    high: i32,
    field: fn(&mut Settings) -> &mut i32,
) -> Result<c_int, Raise> {
    too_many(call, at)?;
    set_integer(call, at, low, high, field)?;
    let value = *field(&mut call.shared().cjson.get());
    call.push_number(f64::from(value));
    Ok(1)
}

fn set_integer(
    call: &Call,
    at: c_int,
    low: i32,
    high: i32,
    field: fn(&mut Settings) -> &mut i32,
) -> Result<(), Raise> {
    if call.is_nothing(at) {
        return Ok(());
    }
    let value = i32::try_from(call.check_integer(at)?).ok().filter(|n| (low..=high).contains(n));
    let text = || Raise::argument(at, format!("expected integer between {low} and {high}"));
    let value = value.ok_or_else(text)?;
    change(call, |settings| *field(settings) = value);
    Ok(())
}

/// `true`, `false`, `"on"` or `"off"`.
fn switch(call: &Call, at: c_int) -> Result<Option<bool>, Raise> {
    match call.kind(at) {
        ffi::LUA_TNONE | ffi::LUA_TNIL => Ok(None),
        ffi::LUA_TBOOLEAN => Ok(Some(call.truthy(at))),
        _ => match call.check_string(at)? {
            b"on" => Ok(Some(true)),
            b"off" => Ok(Some(false)),
            other => {
                let other = String::from_utf8_lossy(other);
                Err(Raise::argument(at, format!("invalid option '{other}'")))
            }
        },
    }
}

fn boolean(call: &Call, at: c_int, field: fn(&mut Settings) -> &mut bool) -> Result<c_int, Raise> {
    too_many(call, at)?;
    if let Some(value) = switch(call, at)? {
        change(call, |settings| *field(settings) = value);
    }
    let value = *field(&mut call.shared().cjson.get());
    call.push_bool(value);
    Ok(1)
}

fn decode_invalid_numbers(call: &Call) -> Result<c_int, Raise> {
    boolean(call, 1, |settings| &mut settings.decode_invalid)
}

fn encode_invalid_numbers(call: &Call) -> Result<c_int, Raise> {
    too_many(call, 1)?;
    let value = if call.string(1) == Some(b"null") {
        Some(Invalid::Null)
    } else {
        switch(call, 1)?.map(|on| if on { Invalid::Allowed } else { Invalid::Refused })
    };
    let settings =
        change(call, |settings| settings.encode_invalid = value.unwrap_or(settings.encode_invalid));
    match settings.encode_invalid {
        Invalid::Refused => call.push_bool(false),
        Invalid::Allowed => call.push_bool(true),
        Invalid::Null => call.push_bytes(b"null"),
    }
    Ok(1)
}

fn encode_sparse_array(call: &Call) -> Result<c_int, Raise> {
    too_many(call, 3)?;
    if let Some(convert) = switch(call, 1)? {
        change(call, |settings| settings.sparse_convert = convert);
    }
    set_integer(call, 2, 0, i32::MAX, |settings| &mut settings.sparse_ratio)?;
    set_integer(call, 3, 0, i32::MAX, |settings| &mut settings.sparse_safe)?;
    let settings = call.shared().cjson.get();
    call.push_bool(settings.sparse_convert);
    call.push_number(f64::from(settings.sparse_ratio));
    call.push_number(f64::from(settings.sparse_safe));
    Ok(3)
}
