//! The string library of Lua 5.1: `format` reads its arguments as 5.1 does, `gsub` forgives in the replacement what 5.1
//! forgives. The work itself is done by Lua's own functions.

use std::ffi::c_int;
use std::fmt::Write as _;

use lua54::mlua::ffi;

use super::sandbox;
use super::vm::{Call, Raise, truncate};

/// `string.gsub`; the upvalue is Lua's own.
pub(super) fn gsub(call: &Call) -> Result<c_int, Raise> {
    if matches!(call.kind(3), ffi::LUA_TNONE | ffi::LUA_TNIL | ffi::LUA_TBOOLEAN) {
        call.check_string(1)?;
        call.check_string(2)?;
        return Err(Raise::argument(3, "string/function/table expected"));
    }
    if let Some(replacement) = call.string(3).and_then(plain_escapes) {
        call.push_vec(replacement);
        unsafe { ffi::lua_replace(call.lua, 3) };
    }
    if !call.is_nothing(4) {
        let limit = call.check_integer(4)?;
        unsafe {
            ffi::lua_pushinteger(call.lua, limit);
            ffi::lua_replace(call.lua, 4);
        }
    }
    sandbox::call_original(call)
}

/// In 5.1 a `%` before anything but a digit gives that character, and a `%` at the end the zero behind the text.
fn plain_escapes(replacement: &[u8]) -> Option<Vec<u8>> {
    if !replacement.contains(&b'%') {
        return None;
    }
    let mut out = Vec::with_capacity(replacement.len());
    let mut bytes = replacement.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, byte == b'%') {
            (_, false) => out.push(byte),
            (_, true) => match bytes.next() {
                Some(escaped) if escaped.is_ascii_digit() || escaped == b'%' => out.extend([b'%', escaped]),
                Some(escaped) => out.push(escaped),
                None => out.push(0),
            },
        }
    }
    Some(out)
}

/// `string.format`; the upvalue is Lua's own. Each argument becomes what 5.4 needs to print it as 5.1 does, and the
/// format is rewritten where 5.4 lacks the conversion.
pub(super) fn format(call: &Call) -> Result<c_int, Raise> {
    let format = rewrite(call)?;
    call.push_vec(format);
    unsafe { ffi::lua_replace(call.lua, 1) };
    sandbox::call_original(call)
}

fn rewrite(call: &Call) -> Result<Vec<u8>, Raise> {
    let format = call.check_string(1)?;
    let mut out = Vec::with_capacity(format.len());
    let mut rest = format;
    let mut arg = 1;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        if let [b'%', tail @ ..] = rest {
            out.extend_from_slice(b"%%");
            rest = tail;
            continue;
        }
        arg += 1;
        if call.kind(arg) == ffi::LUA_TNONE {
            return Err(Raise::argument(arg, "no value"));
        }
        let (flags, tail) = rest.split_at(modifiers(rest)?);
        let Some((&conversion, tail)) = tail.split_first() else {
            return Err(Raise::text("invalid option '%' to 'format'"));
        };
        rest = tail;
        if let Some(text) = plain_text(call, arg, conversion)? {
            // Its text stands in the format itself, and the argument is gone.
            for byte in text {
                out.extend(std::iter::repeat_n(byte, if byte == b'%' { 2 } else { 1 }));
            }
            unsafe { ffi::lua_remove(call.lua, arg) };
            arg -= 1;
        } else {
            out.push(b'%');
            convert(call, arg, flags, conversion, &mut out)?;
        }
    }
    Ok(out)
}

/// The text of an argument for which 5.4 has no conversion that prints the same.
fn plain_text(call: &Call, arg: c_int, conversion: u8) -> Result<Option<Vec<u8>>, Raise> {
    match conversion {
        b'q' => Ok(Some(quote(call.check_string(arg)?))),
        b'u' => {
            let n = truncate(call.check_number(arg)?);
            Ok((n < 0).then(|| n.cast_unsigned().to_string().into_bytes()))
        }
        _ => Ok(None),
    }
}

/// How long the flags, the width and the precision at the start of `spec` are.
fn modifiers(spec: &[u8]) -> Result<usize, Raise> {
    let flags = spec.iter().take_while(|&&byte| b"-+ #0".contains(&byte)).count();
    if flags >= 6 {
        return Err(Raise::text("invalid format (repeated flags)"));
    }
    let digits = |at: usize| spec[at..].iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = flags + digits(flags);
    if spec.get(end) == Some(&b'.') {
        end += 1;
        end += digits(end);
    }
    if spec.get(end).is_some_and(u8::is_ascii_digit) {
        return Err(Raise::text("invalid format (width or precision too long)"));
    }
    Ok(end)
}

fn convert(call: &Call, arg: c_int, flags: &[u8], conversion: u8, out: &mut Vec<u8>) -> Result<(), Raise> {
    match conversion {
        b'd' | b'i' | b'c' | b'o' | b'x' | b'X' | b'u' => {
            let n = truncate(call.check_number(arg)?);
            replace_with(call, arg, |lua| unsafe { ffi::lua_pushinteger(lua, n) });
            out.extend_from_slice(&known_flags(flags, conversion));
            out.push(if conversion == b'u' { b'd' } else { conversion });
        }
        b'e' | b'E' | b'f' | b'g' | b'G' => {
            let x = call.check_number(arg)?;
            replace_with(call, arg, |lua| unsafe { ffi::lua_pushnumber(lua, x) });
            out.extend_from_slice(flags);
            out.push(conversion);
        }
        b's' => {
            if !matches!(call.kind(arg), ffi::LUA_TSTRING | ffi::LUA_TNUMBER) {
                return Err(call.type_error(arg, "string"));
            }
            out.extend_from_slice(&known_flags(flags, conversion));
            out.push(b's');
        }
        _ => {
            let mut text = String::from("invalid option '%");
            let _ = write!(text, "{}{}", String::from_utf8_lossy(flags), char::from(conversion));
            text.push_str("' to 'format'");
            return Err(Raise::text(text));
        }
    }
    Ok(())
}

/// The flags without those that mean nothing for this conversion, which 5.4 refuses and C ignores.
fn known_flags(flags: &[u8], conversion: u8) -> Vec<u8> {
    let useless: &[u8] = match conversion {
        b'd' | b'i' | b'u' => b"#",
        b'x' | b'X' | b'o' => b"+ ",
        b'c' | b's' => b"+ #0",
        _ => b"",
    };
    let count = flags.iter().take_while(|&&byte| b"-+ #0".contains(&byte)).count();
    let (signs, widths) = flags.split_at(count);
    signs.iter().filter(|byte| !useless.contains(byte)).chain(widths).copied().collect()
}

fn replace_with(call: &Call, arg: c_int, push: impl FnOnce(*mut ffi::lua_State)) {
    push(call.lua);
    unsafe { ffi::lua_replace(call.lua, arg) };
}

fn quote(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for &byte in text {
        match byte {
            b'"' | b'\\' | b'\n' => out.extend([b'\\', byte]),
            b'\r' => out.extend_from_slice(b"\\r"),
            0 => out.extend_from_slice(b"\\000"),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    out
}
