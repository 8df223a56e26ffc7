//! The library `cmsgpack`: MessagePack as the library that Valkey ships writes and reads it. Our own, for it has choices of
//! its own: which numbers become integers, which tables arrays, and null from the sixteenth level on.

use std::ffi::c_int;

use lua54::ffi;

use super::sandbox::functions;
use super::shared::{Shared, Stop};
use super::vm::{Body, Call, Raise, bytes_at, push_bytes, set_field, truncate};

const FUNCTIONS: &[(&str, Body)] = &[
    ("pack", pack),
    ("unpack", |call| unpack_some(call, 0, 0, false)),
    ("unpack_limit", unpack_limit),
    ("unpack_one", unpack_one),
];

/// Tables deeper than this are written as nil.
const MAX_NESTING: usize = 16;
/// Deeper data than this is refused, for the sake of the stack.
const MAX_READ_NESTING: usize = 200;

pub(super) fn open(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe { functions(lua, shared, FUNCTIONS) };
    for (name, text) in [
        ("_NAME", "cmsgpack"),
        ("_VERSION", "lua-cmsgpack 0.4.0"),
        ("_COPYRIGHT", "Copyright (C) 2012, Redis Ltd."),
        ("_DESCRIPTION", "MessagePack C implementation for Lua"),
    ] {
        push_bytes(lua, text.as_bytes());
        set_field(lua, -2, name.as_bytes());
    }
}

fn pack(call: &Call) -> Result<c_int, Raise> {
    let count = call.top();
    if count == 0 {
        return Err(Raise::argument(0, "MessagePack pack needs input."));
    }
    let mut out = Vec::new();
    for at in 1..=count {
        call.push(at);
        write(call, &mut out, 0)?;
        call.set_top(-2);
    }
    call.push_vec(out);
    Ok(1)
}

/// Writes the value on top of the stack.
fn write(call: &Call, out: &mut Vec<u8>, depth: usize) -> Result<(), Raise> {
    call.charge(4)?;
    if out.len() > call.shared().config.limits.lua_memory_bytes {
        call.shared().stopped.set(Some(Stop::Memory));
        return Err(Raise::Stop);
    }
    call.reserve(4, "in function mp_encode")?;
    match call.kind(-1) {
        ffi::LUA_TSTRING => write_string(call.string(-1).unwrap_or_default(), out),
        ffi::LUA_TBOOLEAN => out.push(if call.truthy(-1) { 0xc3 } else { 0xc2 }),
        ffi::LUA_TNUMBER => write_number(call.number(-1).unwrap_or(0.0), out),
        ffi::LUA_TTABLE if depth < MAX_NESTING => write_table(call, out, depth)?,
        _ => out.push(0xc0),
    }
    Ok(())
}

/// The smallest of the headers that hold `n`: a value in the byte itself, then 8, 16 and 32 bits.
fn write_header(n: usize, fix: (u8, usize), wide: [u8; 3], out: &mut Vec<u8>) {
    let narrow = u8::try_from(n);
    if n < fix.1 {
        out.push(fix.0 | narrow.unwrap_or(0));
    } else if let (Ok(n), true) = (narrow, wide[0] != 0) {
        out.extend([wide[0], n]);
    } else if let Ok(n) = u16::try_from(n) {
        out.push(wide[1]);
        out.extend(n.to_be_bytes());
    } else {
        out.push(wide[2]);
        out.extend(u32::try_from(n).unwrap_or(u32::MAX).to_be_bytes());
    }
}

fn write_string(text: &[u8], out: &mut Vec<u8>) {
    write_header(text.len(), (0xa0, 32), [0xd9, 0xda, 0xdb], out);
    out.extend_from_slice(text);
}

fn write_number(x: f64, out: &mut Vec<u8>) {
    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "whether it is whole")]
    let whole = x.abs() < 9.3e18 && truncate(x) as f64 == x;
    #[expect(clippy::cast_possible_truncation, reason = "single precision is tried")]
    let single = x as f32;
    if whole {
        write_integer(truncate(x), out);
    } else if f64::from(single) == x {
        out.push(0xca);
        out.extend(single.to_be_bytes());
    } else {
        out.push(0xcb);
        out.extend(x.to_be_bytes());
    }
}

fn write_integer(n: i64, out: &mut Vec<u8>) {
    let bytes = n.to_be_bytes();
    let (tag, width) = match n {
        -32..=0x7f => return out.push(bytes[7]),
        0x80..=0xff => (0xcc, 1),
        0x100..=0xffff => (0xcd, 2),
        0x1_0000..=0xffff_ffff => (0xce, 4),
        0x1_0000_0000.. => (0xcf, 8),
        -0x80..=-33 => (0xd0, 1),
        -0x8000..=-0x81 => (0xd1, 2),
        -0x8000_0000..=-0x8001 => (0xd2, 4),
        _ => (0xd3, 8),
    };
    out.push(tag);
    out.extend_from_slice(&bytes[8 - width..]);
}

fn write_table(call: &Call, out: &mut Vec<u8>, depth: usize) -> Result<(), Raise> {
    let (items, is_array) = survey(call);
    if is_array {
        write_header(items, (0x90, 16), [0, 0xdc, 0xdd], out);
        for at in 1..=i64::try_from(items).unwrap_or(0) {
            unsafe { ffi::lua_rawgeti(call.lua, -1, at) };
            write(call, out, depth + 1)?;
            call.set_top(-2);
        }
        return Ok(());
    }
    write_header(items, (0x80, 16), [0, 0xde, 0xdf], out);
    call.push_nil();
    while unsafe { ffi::lua_next(call.lua, -2) } != 0 {
        call.push(-2);
        write(call, out, depth + 1)?;
        call.set_top(-2);
        write(call, out, depth + 1)?;
        call.set_top(-2);
    }
    Ok(())
}

/// How many entries the table on top has, and whether their keys are 1 to that number.
fn survey(call: &Call) -> (usize, bool) {
    let (mut count, mut largest, mut is_array) = (0_usize, 0.0_f64, true);
    call.push_nil();
    while unsafe { ffi::lua_next(call.lua, -2) } != 0 {
        call.set_top(-2);
        count += 1;
        match call.is_number(-1).then(|| call.number(-1)).flatten() {
            Some(key) if key > 0.0 && key.floor() == key => largest = largest.max(key),
            _ => is_array = false,
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of entries in memory")]
    (count, is_array && largest == count as f64)
}

struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

fn missing() -> Raise {
    Raise::text("Missing bytes in input.")
}

impl Reader<'_> {
    fn take(&mut self, n: usize) -> Result<&[u8], Raise> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.data.len()).ok_or_else(missing)?;
        let bytes = &self.data[self.at..end];
        self.at = end;
        Ok(bytes)
    }

    fn unsigned(&mut self, width: usize) -> Result<u64, Raise> {
        Ok(self.take(width)?.iter().fold(0, |n, &byte| (n << 8) | u64::from(byte)))
    }

    fn length(&mut self, width: usize) -> Result<usize, Raise> {
        Ok(usize::try_from(self.unsigned(width)?).unwrap_or(usize::MAX))
    }

    /// Pushes the next value.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "5.1 has doubles only")]
    fn read(&mut self, call: &Call, depth: usize) -> Result<(), Raise> {
        if depth > MAX_READ_NESTING {
            return Err(Raise::text("Bad data format in input."));
        }
        call.charge(1)?;
        call.reserve(4, "in function mp_decode_to_lua_type")?;
        let tag = self.take(1)?[0];
        match tag {
            0xcc..=0xce => call.push_number(self.unsigned(1 << (tag - 0xcc))? as f64),
            // The library reads it into a signed integer.
            0xcf => call.push_number(self.unsigned(8)?.cast_signed() as f64),
            0xd0 => call.push_number(f64::from(self.unsigned(1)? as i8)),
            0xd1 => call.push_number(f64::from(self.unsigned(2)? as i16)),
            0xd2 => call.push_number(f64::from(self.unsigned(4)? as i32)),
            0xd3 => call.push_number(self.unsigned(8)?.cast_signed() as f64),
            0xc0 => call.push_nil(),
            0xc2 | 0xc3 => call.push_bool(tag == 0xc3),
            0xca => call.push_number(f64::from(f32::from_bits(self.unsigned(4)? as u32))),
            0xcb => call.push_number(f64::from_bits(self.unsigned(8)?)),
            0xd9..=0xdb => {
                let length = self.length(1 << (tag - 0xd9))?;
                call.push_bytes(self.take(length)?);
            }
            0xdc | 0xdd => {
                let length = self.length(2 << (tag - 0xdc))?;
                self.array(call, length, depth)?;
            }
            0xde | 0xdf => {
                let length = self.length(2 << (tag - 0xde))?;
                self.map(call, length, depth)?;
            }
            0x00..=0x7f => call.push_number(f64::from(tag)),
            0xe0.. => call.push_number(f64::from(tag.cast_signed())),
            0xa0..=0xbf => call.push_bytes(self.take(usize::from(tag & 31))?),
            0x90..=0x9f => self.array(call, usize::from(tag & 15), depth)?,
            0x80..=0x8f => self.map(call, usize::from(tag & 15), depth)?,
            _ => return Err(Raise::text("Bad data format in input.")),
        }
        Ok(())
    }

    fn array(&mut self, call: &Call, length: usize, depth: usize) -> Result<(), Raise> {
        call.push_table(0, 0);
        for at in 1..=i64::try_from(length).unwrap_or(i64::MAX) {
            self.read(call, depth + 1)?;
            unsafe { ffi::lua_rawseti(call.lua, -2, at) };
        }
        Ok(())
    }

    fn map(&mut self, call: &Call, length: usize, depth: usize) -> Result<(), Raise> {
        call.push_table(0, 0);
        for _ in 0..length {
            self.read(call, depth + 1)?;
            self.read(call, depth + 1)?;
            if call.is_nothing(-2) {
                return Err(Raise::text("table index is nil"));
            }
            if call.number(-2).is_some_and(f64::is_nan) {
                return Err(Raise::text("table index is NaN"));
            }
            unsafe { ffi::lua_rawset(call.lua, -3) };
        }
        Ok(())
    }
}

fn unpack_one(call: &Call) -> Result<c_int, Raise> {
    let offset = call.integer_or(2, 0)?;
    call.set_top(1);
    unpack_some(call, 1, offset, true)
}

fn unpack_limit(call: &Call) -> Result<c_int, Raise> {
    let limit = call.check_integer(2)?;
    let offset = call.integer_or(3, 0)?;
    call.set_top(1);
    unpack_some(call, limit, offset, true)
}

/// Pushes up to `limit` values (all when it is 0); with `tell` before them where to go on, -1 at the end.
fn unpack_some(call: &Call, limit: i64, offset: i64, tell: bool) -> Result<c_int, Raise> {
    call.check_string(1)?;
    // SAFETY: the string stays at 1 while this runs.
    let data = unsafe { bytes_at(call.lua, 1) };
    if offset < 0 || limit < 0 {
        let length = data.len();
        let text = format!("Invalid request to unpack with offset of {offset} and limit of {length}.");
        return Err(Raise::text(text));
    }
    let Some(at) = usize::try_from(offset).ok().filter(|&at| at <= data.len()) else {
        let length = data.len();
        return Err(Raise::text(format!("Start offset {offset} greater than input length {length}.")));
    };
    call.set_top(1);
    let all = limit == 0;
    let mut reader = Reader { data, at };
    let mut count = 0;
    while reader.at < data.len() && (all || i64::from(count) < limit) {
        reader.read(call, 0)?;
        count += 1;
    }
    if tell && !all {
        call.reserve(1, "in function mp_unpack")?;
        #[expect(clippy::cast_precision_loss, reason = "a position in a string")]
        call.push_number(if reader.at == data.len() { -1.0 } else { reader.at as f64 });
        unsafe { ffi::lua_insert(call.lua, 2) };
        count += 1;
    }
    Ok(count)
}
