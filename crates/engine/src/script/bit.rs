//! The library `bit`: 32-bit operations on doubles, as LuaBitOp has them.

use std::ffi::c_int;

use lua54::ffi;

use super::sandbox::functions;
use super::shared::Shared;
use super::vm::{Body, Call, Raise};

const FUNCTIONS: &[(&str, Body)] = &[
    ("arshift", |call| shift(call, |x, n| (x.cast_signed() >> n).cast_unsigned())),
    ("band", |call| fold(call, |x, y| x & y)),
    ("bnot", |call| one(call, |x| !x)),
    ("bor", |call| fold(call, |x, y| x | y)),
    ("bswap", |call| one(call, u32::swap_bytes)),
    ("bxor", |call| fold(call, |x, y| x ^ y)),
    ("lshift", |call| shift(call, |x, n| x << n)),
    ("rol", |call| shift(call, u32::rotate_left)),
    ("ror", |call| shift(call, u32::rotate_right)),
    ("rshift", |call| shift(call, |x, n| x >> n)),
    ("tobit", |call| one(call, |x| x)),
    ("tohex", tohex),
];

pub(super) fn open(lua: *mut ffi::lua_State, shared: *const Shared) {
    unsafe { functions(lua, shared, FUNCTIONS) };
}

/// The argument modulo 2^32, rounded to the even neighbour: adding 2^52 + 2^51 moves the integer part into the low bits.
#[expect(clippy::cast_possible_truncation, reason = "the low 32 bits are meant")]
fn bits(call: &Call, at: c_int) -> Result<u32, Raise> {
    let x = call.check_number(at)?;
    Ok((x + 6_755_399_441_055_744.0).to_bits() as u32)
}

fn push(call: &Call, x: u32) -> Result<c_int, Raise> {
    call.push_number(f64::from(x.cast_signed()));
    Ok(1)
}

fn one(call: &Call, f: fn(u32) -> u32) -> Result<c_int, Raise> {
    let x = bits(call, 1)?;
    push(call, f(x))
}

fn fold(call: &Call, f: fn(u32, u32) -> u32) -> Result<c_int, Raise> {
    let mut x = bits(call, 1)?;
    for at in 2..=call.top() {
        x = f(x, bits(call, at)?);
    }
    push(call, x)
}

fn shift(call: &Call, f: fn(u32, u32) -> u32) -> Result<c_int, Raise> {
    let (x, n) = (bits(call, 1)?, bits(call, 2)?);
    push(call, f(x, n & 31))
}

/// A negative count of digits asks for capital letters.
fn tohex(call: &Call) -> Result<c_int, Raise> {
    let x = bits(call, 1)?;
    let digits = if call.kind(2) == ffi::LUA_TNONE { 8 } else { bits(call, 2)?.cast_signed() };
    let count = usize::try_from(digits.unsigned_abs()).unwrap_or(8).min(8);
    let text = if digits < 0 { format!("{x:08X}") } else { format!("{x:08x}") };
    call.push_vec(text.into_bytes().split_off(8 - count));
    Ok(1)
}
