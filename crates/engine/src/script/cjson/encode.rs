//! Values to JSON.

use std::ffi::c_int;

use lua54::ffi;

use super::super::number::write_general;
use super::super::shared::Stop;
use super::super::vm::{Call, Raise};
use super::{Invalid, MAX_DEPTH, Settings, single};

pub(super) fn encode(call: &Call) -> Result<c_int, Raise> {
    single(call)?;
    let mut writer = Writer { call, settings: call.shared().cjson.get(), out: Vec::new() };
    writer.value(0)?;
    call.push_vec(writer.out);
    Ok(1)
}

struct Writer<'a> {
    call: &'a Call,
    settings: Settings,
    out: Vec<u8>,
}

impl Writer<'_> {
    /// Writes the value on top of the stack.
    fn value(&mut self, depth: i32) -> Result<(), Raise> {
        let call = self.call;
        call.charge(4)?;
        if self.out.len() > call.shared().config.limits.lua_memory_bytes {
            call.shared().stopped.set(Some(Stop::Memory));
            return Err(Raise::Stop);
        }
        match call.kind(-1) {
            ffi::LUA_TSTRING => self.string(call.string(-1).unwrap_or_default()),
            ffi::LUA_TNUMBER => self.number(call.number(-1).unwrap_or(0.0))?,
            ffi::LUA_TBOOLEAN => self.text(if call.truthy(-1) { "true" } else { "false" }),
            ffi::LUA_TTABLE => self.table(depth + 1)?,
            ffi::LUA_TNIL => self.text("null"),
            ffi::LUA_TLIGHTUSERDATA => self.text("null"),
            _ => return Err(self.refused("type not supported")),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn refused(&self, reason: &str) -> Raise {
        Raise::text(format!("Cannot serialise {}: {reason}", self.call.type_name(-1)))
    }

    fn number(&mut self, x: f64) -> Result<(), Raise> {
        if !x.is_finite() {
            match self.settings.encode_invalid {
                Invalid::Refused => return Err(self.refused("must not be NaN or Inf")),
                Invalid::Null => {
                    self.text("null");
                    return Ok(());
                }
                Invalid::Allowed if x.is_nan() => {
                    self.text("nan");
                    return Ok(());
                }
                Invalid::Allowed => {}
            }
        }
        write_general(&mut self.out, x, usize::try_from(self.settings.precision).unwrap_or(14));
        Ok(())
    }

    fn string(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for &byte in text {
            let escape = match byte {
                b'"' | b'\\' | b'/' => byte,
                0x08 => b'b',
                b'\t' => b't',
                b'\n' => b'n',
                0x0c => b'f',
                b'\r' => b'r',
                0..0x20 | 0x7f => {
                    self.text(&format!("\\u{byte:04x}"));
                    continue;
                }
                _ => {
                    self.out.push(byte);
                    continue;
                }
            };
            self.out.extend([b'\\', escape]);
        }
        self.out.push(b'"');
    }

    fn table(&mut self, depth: i32) -> Result<(), Raise> {
        if depth > self.settings.encode_depth.min(MAX_DEPTH) {
            return Err(Raise::text(format!("Cannot serialise, excessive nesting ({depth})")));
        }
        self.call.reserve(4, "cjson")?;
        match self.array_length()? {
            Some(length) if length > 0 => self.array(length, depth),
            _ => self.object(depth),
        }
    }

    /// The largest key when all are positive integers and the holes are few.
    fn array_length(&self) -> Result<Option<i64>, Raise> {
        let call = self.call;
        let (mut largest, mut items) = (0.0_f64, 0.0_f64);
        call.push_nil();
        while unsafe { ffi::lua_next(call.lua, -2) } != 0 {
            call.set_top(-2);
            match call.is_number(-1).then(|| call.number(-1)).flatten() {
                Some(key) if key >= 1.0 && key.floor() == key => {
                    largest = largest.max(key);
                    items += 1.0;
                }
                _ => {
                    call.set_top(-2);
                    return Ok(None);
                }
            }
        }
        let ratio = f64::from(self.settings.sparse_ratio);
        if ratio > 0.0 && largest > items * ratio && largest > f64::from(self.settings.sparse_safe) {
            if !self.settings.sparse_convert {
                return Err(self.refused("excessively sparse array"));
            }
            return Ok(None);
        }
        Ok(Some(super::super::vm::truncate(largest)))
    }

    fn array(&mut self, length: i64, depth: i32) -> Result<(), Raise> {
        self.out.push(b'[');
        for at in 1..=length {
            if at > 1 {
                self.out.push(b',');
            }
            unsafe { ffi::lua_rawgeti(self.call.lua, -1, at) };
            self.value(depth)?;
            self.call.set_top(-2);
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, depth: i32) -> Result<(), Raise> {
        let call = self.call;
        self.out.push(b'{');
        let mut is_first = true;
        call.push_nil();
        while unsafe { ffi::lua_next(call.lua, -2) } != 0 {
            if !is_first {
                self.out.push(b',');
            }
            is_first = false;
            match call.kind(-2) {
                ffi::LUA_TSTRING => self.string(call.string(-2).unwrap_or_default()),
                ffi::LUA_TNUMBER => {
                    self.out.push(b'"');
                    self.number(call.number(-2).unwrap_or(0.0))?;
                    self.out.push(b'"');
                }
                _ => {
                    call.set_top(-2);
                    return Err(self.refused("table key must be a number or string"));
                }
            }
            self.out.push(b':');
            self.value(depth)?;
            call.set_top(-2);
        }
        self.out.push(b'}');
        Ok(())
    }
}
