//! Replies to Lua values and back, by Valkey's tables of conversions
//! (<https://valkey.io/topics/lua-api/#data-type-conversion>).
//!
//! Both directions recurse, so both have a bound on depth that fits the smallest stack the engine runs on: Valkey
//! goes some thousands of tables deep before it answers "reached lua stack limit", the engine [`MAX_DEPTH`].

use std::ffi::c_int;

use lua54::ffi;

use super::shared::Shared;
use super::vm::{bytes_at, push_bytes, push_table, set_field, truncate};
use crate::engine::Version;
use crate::reply::{Reply, before_zero};
use crate::session::Protocol;

/// How deep tables in a reply may nest.
pub(super) const MAX_DEPTH: usize = 200;

/// What one value of a reply counts against the budget of steps; it takes some 50 bytes.
const READ_COST: u64 = 16;

/// Pushes `reply`. May leave by a jump, so the caller keeps the reply where that loses nothing.
pub(super) fn push_reply(lua: *mut ffi::lua_State, reply: &Reply, protocol: Protocol) -> Result<(), ()> {
    // SAFETY: plain pushes; room for them is asked for first.
    unsafe {
        if ffi::lua_checkstack(lua, 6) == 0 {
            return Err(());
        }
        match reply {
            #[expect(clippy::cast_precision_loss, reason = "Lua 5.1 has doubles only")]
            Reply::Integer(n) => ffi::lua_pushnumber(lua, *n as f64),
            Reply::Bulk(bytes) => push_bytes(lua, bytes),
            Reply::Nil | Reply::NilArray if protocol == Protocol::Resp3 => ffi::lua_pushnil(lua),
            Reply::Nil | Reply::NilArray => ffi::lua_pushboolean(lua, 0),
            Reply::Boolean(value) => ffi::lua_pushboolean(lua, c_int::from(*value)),
            Reply::Status(text) => push_tagged(lua, b"ok", |lua| push_bytes(lua, text)),
            Reply::Error(text) => push_error(lua, text),
            Reply::BigNumber(text) => push_tagged(lua, b"big_number", |lua| push_bytes(lua, text)),
            Reply::Double(x) => push_tagged(lua, b"double", |lua| ffi::lua_pushnumber(lua, *x)),
            Reply::Verbatim { format, text } => push_tagged(lua, b"verbatim_string", |lua| {
                push_table(lua, 0, 2);
                push_bytes(lua, text);
                set_field(lua, -2, b"string");
                push_bytes(lua, format);
                set_field(lua, -2, b"format");
            }),
            Reply::Array(items) | Reply::Push(items) => return push_array(lua, items, protocol),
            Reply::Set(items) => return push_set(lua, items, protocol),
            Reply::Map(pairs) => return push_map(lua, pairs, protocol),
        }
    }
    Ok(())
}

/// The table for an error that no command gave.
pub(super) fn push_refusal(lua: *mut ffi::lua_State, text: &[u8]) {
    push_tagged(lua, b"err", |lua| push_bytes(lua, text));
}

/// The table that `redis.pcall` returns for an error.
pub(super) fn push_error(lua: *mut ffi::lua_State, text: &[u8]) {
    push_table(lua, 0, 2);
    push_bytes(lua, text);
    set_field(lua, -2, b"err");
    unsafe { ffi::lua_pushboolean(lua, 1) };
    set_field(lua, -2, b"ignore_error_stats_update");
}

fn push_tagged(lua: *mut ffi::lua_State, tag: &[u8], value: impl FnOnce(*mut ffi::lua_State)) {
    push_table(lua, 0, 1);
    value(lua);
    set_field(lua, -2, tag);
}

fn push_array(lua: *mut ffi::lua_State, items: &[Reply], protocol: Protocol) -> Result<(), ()> {
    push_table(lua, items.len(), 0);
    for (at, item) in (1..).zip(items) {
        push_reply(lua, item, protocol)?;
        unsafe { ffi::lua_rawseti(lua, -2, at) };
    }
    Ok(())
}

fn push_set(lua: *mut ffi::lua_State, items: &[Reply], protocol: Protocol) -> Result<(), ()> {
    push_table(lua, 0, 1);
    push_table(lua, 0, items.len());
    for item in items {
        push_reply(lua, item, protocol)?;
        unsafe {
            ffi::lua_pushboolean(lua, 1);
            ffi::lua_rawset(lua, -3);
        }
    }
    set_field(lua, -2, b"set");
    Ok(())
}

fn push_map(lua: *mut ffi::lua_State, pairs: &[(Reply, Reply)], protocol: Protocol) -> Result<(), ()> {
    push_table(lua, 0, 1);
    push_table(lua, 0, pairs.len());
    for (key, value) in pairs {
        push_reply(lua, key, protocol)?;
        push_reply(lua, value, protocol)?;
        unsafe { ffi::lua_rawset(lua, -3) };
    }
    set_field(lua, -2, b"map");
    Ok(())
}

/// The reply that the value on top of the stack stands for. Takes nothing off, makes nothing in Lua and runs no
/// metamethod, so it cannot jump.
///
/// `names` is where on the stack the table is that holds the names of [`FIELDS`].
pub(super) struct Reader<'a> {
    /// Counts what is read: tables that share tables stand for more than there is memory.
    pub shared: &'a Shared,
    pub lua: *mut ffi::lua_State,
    pub names: c_int,
    /// What the client speaks.
    pub protocol: Protocol,
    /// What the script asked for by setresp.
    pub script_protocol: Protocol,
}

/// The fields that make a table something else than an array, in the order in which Valkey looks for them.
pub(super) const FIELDS: [&[u8]; 9] =
    [b"err", b"ok", b"double", b"map", b"set", b"big_number", b"verbatim_string", b"string", b"format"];

#[derive(Clone, Copy)]
enum Field {
    Err = 1,
    Ok,
    Double,
    Map,
    Set,
    BigNumber,
    VerbatimString,
    String,
    Format,
}

impl Reader<'_> {
    pub fn read(&self, depth: usize) -> Reply {
        // SAFETY: room is asked for before anything is pushed, and the pushes make nothing new.
        unsafe {
            if !self.shared.charge(READ_COST) {
                return Reply::Nil;
            }
            if depth > MAX_DEPTH || ffi::lua_checkstack(self.lua, 6) == 0 {
                return Reply::Error(b"ERR reached lua stack limit".to_vec());
            }
            match ffi::lua_type(self.lua, -1) {
                ffi::LUA_TSTRING => Reply::Bulk(bytes_at(self.lua, -1).to_vec()),
                ffi::LUA_TNUMBER => Reply::Integer(truncate(ffi::lua_tonumber(self.lua, -1))),
                ffi::LUA_TBOOLEAN => self.boolean(ffi::lua_toboolean(self.lua, -1) != 0),
                ffi::LUA_TTABLE => self.table(depth),
                _ => Reply::Nil,
            }
        }
    }

    /// A script that asked for RESP3 answers booleans, which a RESP2 client sees as numbers.
    fn boolean(&self, value: bool) -> Reply {
        match (self.script_protocol, self.protocol) {
            (Protocol::Resp3, Protocol::Resp3) => Reply::Boolean(value),
            (Protocol::Resp3, Protocol::Resp2) => Reply::Integer(i64::from(value)),
            (Protocol::Resp2, _) if value => Reply::Integer(1),
            (Protocol::Resp2, _) => Reply::Nil,
        }
    }

    fn table(&self, depth: usize) -> Reply {
        self.special(depth).unwrap_or_else(|| self.array(depth))
    }

    fn special(&self, depth: usize) -> Option<Reply> {
        self.text_field(Field::Err)
            .map(|text| {
                let mut text = before_zero(text);
                let end = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |at| at + 1);
                text.truncate(end);
                Reply::Error(without_line_ends(text))
            })
            .or_else(|| self.text_field(Field::Ok).map(|text| Reply::Status(one_line(text).into())))
            .or_else(|| self.double())
            .or_else(|| self.map(depth))
            .or_else(|| self.set(depth))
            .or_else(|| self.text_field(Field::BigNumber).map(|text| self.big_number(text)))
            .or_else(|| self.verbatim())
    }

    /// Pushes the field of the table on top, without metamethods; its type.
    fn push_field(&self, field: Field) -> c_int {
        unsafe {
            ffi::lua_rawgeti(self.lua, self.names, field as i64);
            ffi::lua_rawget(self.lua, -2)
        }
    }

    fn pop(&self, n: c_int) {
        unsafe { ffi::lua_settop(self.lua, -n - 1) }
    }

    fn text_field(&self, field: Field) -> Option<Vec<u8>> {
        let kind = self.push_field(field);
        let text = (kind == ffi::LUA_TSTRING).then(|| unsafe { bytes_at(self.lua, -1) }.to_vec());
        self.pop(1);
        text
    }

    fn double(&self) -> Option<Reply> {
        let kind = self.push_field(Field::Double);
        let x = unsafe { ffi::lua_tonumber(self.lua, -1) };
        self.pop(1);
        (kind == ffi::LUA_TNUMBER).then(|| match self.protocol {
            Protocol::Resp3 => Reply::Double(x),
            Protocol::Resp2 => Reply::Bulk(crate::reply::double_text(x).into_bytes()),
        })
    }

    fn big_number(&self, text: Vec<u8>) -> Reply {
        let text = match self.shared.config.version {
            Version::V8_0 => without_line_ends(text),
            Version::V9_1 => one_line(text),
        };
        match self.protocol {
            Protocol::Resp3 => Reply::BigNumber(text),
            Protocol::Resp2 => Reply::Bulk(text),
        }
    }

    fn verbatim(&self) -> Option<Reply> {
        let mut reply = None;
        if self.push_field(Field::VerbatimString) == ffi::LUA_TTABLE {
            let parts = self.text_field(Field::String).zip(self.text_field(Field::Format));
            reply = parts.map(|(text, format)| match self.protocol {
                Protocol::Resp3 => {
                    let byte = |at: usize| format.get(at).copied().unwrap_or(b' ');
                    Reply::Verbatim { format: [byte(0), byte(1), byte(2)], text }
                }
                Protocol::Resp2 => Reply::Bulk(text),
            });
        }
        self.pop(1);
        reply
    }

    fn map(&self, depth: usize) -> Option<Reply> {
        let mut pairs = None;
        if self.push_field(Field::Map) == ffi::LUA_TTABLE {
            let pairs = pairs.insert(Vec::new());
            self.each(|| {
                let value = self.read(depth + 1);
                unsafe { ffi::lua_pushvalue(self.lua, -2) };
                let key = self.read(depth + 1);
                self.pop(1);
                pairs.push((key, value));
            });
        }
        self.pop(1);
        pairs.map(|pairs| match self.protocol {
            Protocol::Resp3 => Reply::Map(pairs),
            Protocol::Resp2 => Reply::Array(pairs.into_iter().flat_map(<[Reply; 2]>::from).collect()),
        })
    }

    fn set(&self, depth: usize) -> Option<Reply> {
        let mut items = None;
        if self.push_field(Field::Set) == ffi::LUA_TTABLE {
            let items = items.insert(Vec::new());
            self.each(|| {
                unsafe { ffi::lua_pushvalue(self.lua, -2) };
                items.push(self.read(depth + 1));
                self.pop(1);
            });
        }
        self.pop(1);
        items.map(|items| match self.protocol {
            Protocol::Resp3 => Reply::Set(items),
            Protocol::Resp2 => Reply::Array(items),
        })
    }

    /// Calls `visit` with each key and value of the table on top pushed.
    fn each(&self, mut visit: impl FnMut()) {
        unsafe {
            ffi::lua_pushnil(self.lua);
            while ffi::lua_next(self.lua, -2) != 0 {
                visit();
                self.pop(1);
            }
        }
    }

    /// The items up to the first nil.
    fn array(&self, depth: usize) -> Reply {
        let mut items = Vec::new();
        for at in 1.. {
            let kind = unsafe { ffi::lua_rawgeti(self.lua, -1, at) };
            if kind != ffi::LUA_TNIL {
                items.push(self.read(depth + 1));
            }
            self.pop(1);
            if kind == ffi::LUA_TNIL {
                break;
            }
        }
        Reply::Array(items)
    }
}

/// An error or a status is one line, and ends where C's strings end.
pub(super) fn one_line(text: Vec<u8>) -> Vec<u8> {
    without_line_ends(before_zero(text))
}

fn without_line_ends(mut text: Vec<u8>) -> Vec<u8> {
    for byte in &mut text {
        if matches!(byte, b'\r' | b'\n') {
            *byte = b' ';
        }
    }
    text
}
