//! The library `struct`: values packed into strings by a format, after Roberto Ierusalimschy's library of that name.

use std::ffi::c_int;

use lua54::ffi;

use super::sandbox::functions;
use super::shared::Shared;
use super::vm::{Body, Call, Raise, bytes_at, truncate, truncate_unsigned};

const FUNCTIONS: &[(&str, Body)] = &[("pack", pack), ("size", size), ("unpack", unpack)];

pub(super) fn open(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe { functions(lua, shared, FUNCTIONS) };
}

const MAX_INTEGER_BYTES: usize = 32;
/// The alignment of `!` without a number: that of a double.
const MAX_ALIGN: usize = 8;

/// Reads a format from left to right.
struct Format<'a> {
    rest: &'a [u8],
    little: bool,
    align: usize,
}

/// One option of a format, with how many bytes it takes (0 where the data decides).
struct Item {
    option: u8,
    size: usize,
}

impl<'a> Format<'a> {
    fn of(call: &'a Call) -> Result<Format<'a>, Raise> {
        Ok(Format { rest: call.check_string(1)?, little: true, align: 1 })
    }

    /// The next option that stands for data; the ones that set something are done on the way.
    fn next(&mut self) -> Result<Option<Item>, Raise> {
        while let Some((&option, rest)) = self.rest.split_first() {
            self.rest = rest;
            let size = match option {
                b'b' | b'B' | b'x' => 1,
                b'h' | b'H' => 2,
                b'f' => 4,
                b'l' | b'L' | b'T' | b'd' => 8,
                b's' => 0,
                b'c' => self.number(1)?,
                b'i' | b'I' => {
                    let size = self.number(4)?;
                    if size > MAX_INTEGER_BYTES {
                        let limit = MAX_INTEGER_BYTES;
                        let text = format!("integral size {size} is larger than limit of {limit}");
                        return Err(Raise::text(text));
                    }
                    size
                }
                _ => {
                    self.control(option)?;
                    continue;
                }
            };
            return Ok(Some(Item { option, size }));
        }
        Ok(None)
    }

    fn control(&mut self, option: u8) -> Result<(), Raise> {
        match option {
            b' ' => {}
            b'>' => self.little = false,
            b'<' => self.little = true,
            b'!' => {
                self.align = self.number(MAX_ALIGN)?;
                if !self.align.is_power_of_two() {
                    let text = format!("alignment {} is not a power of 2", self.align);
                    return Err(Raise::text(text));
                }
            }
            _ => {
                let option = char::from(option);
                return Err(Raise::argument(1, format!("invalid format option '{option}'")));
            }
        }
        Ok(())
    }

    fn number(&mut self, default: usize) -> Result<usize, Raise> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Ok(default);
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        let value = digits
            .iter()
            .try_fold(0_i32, |value, digit| value.checked_mul(10)?.checked_add(i32::from(digit - b'0')));
        let value = value.and_then(|value| usize::try_from(value).ok());
        value.ok_or_else(|| Raise::text("integral size overflow"))
    }

    /// How many bytes go before an item at `at`.
    fn padding(&self, at: usize, item: &Item) -> usize {
        if item.size == 0 || item.option == b'c' {
            return 0;
        }
        let size = item.size.min(self.align);
        size.wrapping_sub(at & (size - 1)) & (size - 1)
    }
}

fn pack(call: &Call) -> Result<c_int, Raise> {
    call.check_string(1)?;
    // A missing argument reads as nil, as there.
    unsafe { ffi::lua_pushnil(call.lua) };
    let mut format = Format::of(call)?;
    let mut out = Vec::new();
    let mut arg = 1;
    while let Some(item) = format.next()? {
        let room = call.shared().config.limits.bulk_bytes;
        if item.size > room || out.len() > room {
            return Err(Raise::text("result too large"));
        }
        out.resize(out.len() + format.padding(out.len(), &item), 0);
        if item.option == b'x' {
            out.push(0);
            continue;
        }
        arg += 1;
        put(call, arg, &item, format.little, &mut out)?;
    }
    call.push_vec(out);
    Ok(1)
}

fn put(call: &Call, arg: c_int, item: &Item, little: bool, out: &mut Vec<u8>) -> Result<(), Raise> {
    match item.option {
        b'c' | b's' => {
            let text = call.check_string(arg)?;
            let size = if item.size == 0 { text.len() } else { item.size };
            let text = text.get(..size).ok_or_else(|| Raise::argument(arg + 1, "string too short"))?;
            out.extend_from_slice(text);
            if item.option == b's' {
                out.push(0);
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "single precision is asked for")]
        b'f' => put_bytes((call.check_number(arg)? as f32).to_le_bytes(), little, out),
        b'd' => put_bytes(call.check_number(arg)?.to_le_bytes(), little, out),
        _ => {
            let x = call.check_number(arg)?;
            let n = truncate_unsigned(x);
            // Longer integers than C's go on with zeros.
            let mut bytes = [0; MAX_INTEGER_BYTES];
            bytes[..8].copy_from_slice(&n.to_le_bytes());
            let bytes = &mut bytes[..item.size];
            if !little {
                bytes.reverse();
            }
            out.extend_from_slice(bytes);
        }
    }
    Ok(())
}

fn put_bytes<const N: usize>(mut bytes: [u8; N], little: bool, out: &mut Vec<u8>) {
    if !little {
        bytes.reverse();
    }
    out.extend_from_slice(&bytes);
}

fn unpack(call: &Call) -> Result<c_int, Raise> {
    let mut format = Format::of(call)?;
    call.check_string(2)?;
    // SAFETY: the string stays at 2 while this runs.
    let data = unsafe { bytes_at(call.lua, 2) };
    let start = call.integer_or(3, 1)?;
    if start == 0 {
        return Err(Raise::argument(3, "offset must be 1 or greater"));
    }
    let too_short = || Raise::argument(2, "data string too short");
    let mut at = usize::try_from(start - 1).map_err(|_| too_short())?;
    let mut results = 0;
    while let Some(mut item) = format.next()? {
        at = at.saturating_add(format.padding(at, &item));
        let in_reach = |size: usize| at.checked_add(size).is_some_and(|end| end <= data.len());
        if !in_reach(item.size) {
            return Err(too_short());
        }
        call.reserve(2, "too many results")?;
        if item.option == b'x' {
            at += 1;
            continue;
        }
        if item.option == b'c' && item.size == 0 {
            item.size = previous_size(call, results)?;
            results -= 1;
            if !in_reach(item.size) {
                return Err(too_short());
            }
        }
        if item.option == b's' {
            let length = data[at..].iter().position(|&byte| byte == 0);
            let length = length.ok_or_else(|| Raise::text("unfinished string in data"))?;
            call.push_bytes(&data[at..at + length]);
            item.size = length + 1;
        } else {
            push_item(call, &item, &data[at..at + item.size], format.little);
        }
        at += item.size;
        results += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "a position in a string")]
    call.push_number((at + 1) as f64);
    Ok(results + 1)
}

/// Takes the last result off: `c0` reads as many bytes as it says.
fn previous_size(call: &Call, results: c_int) -> Result<usize, Raise> {
    let size = if results > 0 { call.number(-1) } else { None };
    let size = size.ok_or_else(|| Raise::text("format 'c0' needs a previous size"))?;
    call.set_top(-2);
    usize::try_from(truncate(size)).map_err(|_| Raise::argument(2, "data string too short"))
}

#[expect(clippy::cast_precision_loss, reason = "5.1 has doubles only")]
fn push_item(call: &Call, item: &Item, bytes: &[u8], little: bool) {
    if item.option == b'c' {
        call.push_bytes(bytes);
        return;
    }
    let mut low = [0; 8];
    for (to, at) in low.iter_mut().zip(0..bytes.len()) {
        *to = bytes[if little { at } else { bytes.len() - 1 - at }];
    }
    let x = match item.option {
        b'f' => f64::from(f32::from_le_bytes([low[0], low[1], low[2], low[3]])),
        b'd' => f64::from_le_bytes(low),
        option => {
            let n = u64::from_le_bytes(low);
            if option.is_ascii_lowercase() {
                let unused = u32::try_from(8_usize.saturating_sub(bytes.len()) * 8).unwrap_or(0);
                if unused >= 64 { 0.0 } else { ((n << unused).cast_signed() >> unused) as f64 }
            } else {
                n as f64
            }
        }
    };
    call.push_number(x);
}

fn size(call: &Call) -> Result<c_int, Raise> {
    let mut format = Format::of(call)?;
    let mut at = 0_usize;
    while let Some(item) = format.next()? {
        if item.size == 0 {
            let zero = if item.option == b'c' { "0" } else { "" };
            let option = char::from(item.option);
            return Err(Raise::argument(1, format!("option '{option}{zero}' has no fixed size")));
        }
        at = at.saturating_add(format.padding(at, &item)).saturating_add(item.size);
    }
    #[expect(clippy::cast_precision_loss, reason = "a size in memory")]
    call.push_number(at as f64);
    Ok(1)
}
