//! The string library of Lua 5.1: `format` reads its arguments as 5.1 does, `gsub` forgives in the replacement what 5.1
//! forgives. The work itself is done by Lua's own functions, but for patterns that can match nothing at all: after a match
//! 5.1 looks for an empty one at its end, 5.4 does not. `gmatch` and, for such patterns, `gsub` are built on `find`.

use std::ffi::c_int;
use std::fmt::Write as _;

use lua54::ffi;

use super::sandbox;
use super::vm::{Call, Raise, bytes_at, push_function, truncate, truncate_unsigned};

/// `string.find` and `string.match`; the upvalue is Lua's own. A start behind the end is the end in 5.1.
pub(super) fn find_or_match(call: &Call) -> Result<c_int, Raise> {
    let length = call.check_string(1)?.len();
    call.check_string(2)?;
    let start = call.integer_or(3, 1)?.min(i64::try_from(length).unwrap_or(i64::MAX).saturating_add(1));
    let plain = call.truthy(4);
    call.set_top(2);
    unsafe { ffi::lua_pushinteger(call.lua, start) };
    call.push_bool(plain);
    sandbox::call_original(call)
}

/// `string.gsub`; the upvalues are Lua's own `find` and `gsub`.
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
    let limit = call.integer_or(4, i64::MAX)?;
    call.set_top(3);
    call.check_string(1)?;
    if can_match_nothing(call.check_string(2)?) {
        return replace_all(call, limit);
    }
    unsafe { ffi::lua_pushinteger(call.lua, limit) };
    sandbox::call_original_at(call, 4)
}

/// Whether the pattern may match the empty string; true when in doubt.
fn can_match_nothing(pattern: &[u8]) -> bool {
    let pattern = pattern.strip_prefix(b"^").unwrap_or(pattern);
    pattern.iter().all(|byte| b"()$".contains(byte))
        || pattern.iter().any(|byte| b"*-?".contains(byte))
        || pattern.windows(2).any(|pair| pair == b"%f" || pair == b"()")
}

/// `gsub` match by match. The stack: subject, pattern, replacement, a table of pieces.
fn replace_all(call: &Call, limit: i64) -> Result<c_int, Raise> {
    let lua = call.lua;
    // SAFETY: the strings stay at 1 and 2 while this runs.
    let (subject, pattern) = unsafe { (bytes_at(lua, 1), bytes_at(lua, 2)) };
    let is_anchored = pattern.first() == Some(&b'^');
    call.push_table(0, 0);
    let (mut at, mut pieces, mut count) = (0, 0, 0);
    while count < limit && at <= subject.len() {
        call.charge(1)?;
        let Some((start, end)) = find(call, at)? else { break };
        if start > at {
            add_piece(call, &mut pieces, &subject[at..start]);
        }
        push_replacement(call, start, end)?;
        if call.truthy(-1) {
            if !matches!(call.kind(-1), ffi::LUA_TSTRING | ffi::LUA_TNUMBER) {
                let text = format!("invalid replacement value (a {})", call.type_name(-1));
                return Err(Raise::text(text));
            }
            pieces += 1;
            unsafe { ffi::lua_rawseti(lua, 4, pieces) };
        } else {
            add_piece(call, &mut pieces, &subject[start..end]);
        }
        call.set_top(4);
        count += 1;
        at = end;
        if start == end {
            if let Some(byte) = subject.get(end) {
                add_piece(call, &mut pieces, std::slice::from_ref(byte));
            }
            at += 1;
        }
        if is_anchored {
            break;
        }
    }
    if let Some(rest) = subject.get(at..) {
        add_piece(call, &mut pieces, rest);
    }
    join(call, pieces)?;
    #[expect(clippy::cast_precision_loss, reason = "5.1 has doubles only")]
    call.push_number(count as f64);
    Ok(2)
}

fn add_piece(call: &Call, pieces: &mut i64, bytes: &[u8]) {
    *pieces += 1;
    call.push_bytes(bytes);
    unsafe { ffi::lua_rawseti(call.lua, 4, *pieces) };
}

/// Joins the pieces in a buffer of Lua's, so that its memory is counted.
fn join(call: &Call, pieces: i64) -> Result<(), Raise> {
    // SAFETY: the buffer lives on this frame and holds nothing that needs dropping.
    unsafe {
        let mut buffer: ffi::luaL_Buffer = std::mem::zeroed();
        ffi::luaL_buffinit(call.lua, &raw mut buffer);
        for at in 1..=pieces {
            ffi::lua_rawgeti(call.lua, 4, at);
            ffi::luaL_addvalue(&raw mut buffer);
        }
        ffi::luaL_pushresult(&raw mut buffer);
    }
    Ok(())
}

/// Looks for the pattern at 2 in the string at 1 from the offset `at` on; leaves the captures (the whole match without
/// any) on the stack from 5 on. The upvalue is Lua's own `find`.
fn find(call: &Call, at: usize) -> Result<Option<(usize, usize)>, Raise> {
    let base = call.top();
    call.push_upvalue();
    call.push(1);
    call.push(2);
    unsafe {
        ffi::lua_pushinteger(call.lua, i64::try_from(at).unwrap_or(i64::MAX).saturating_add(1));
        ffi::lua_call(call.lua, 3, ffi::LUA_MULTRET);
    }
    let position = |at: c_int| call.number(at).map(|x| usize::try_from(truncate(x)).unwrap_or(0));
    let (Some(first), Some(end)) = (position(base + 1), position(base + 2)) else {
        call.set_top(base);
        return Ok(None);
    };
    let start = first.saturating_sub(1);
    if call.top() == base + 2 {
        // SAFETY: the string stays at 1.
        let subject = unsafe { bytes_at(call.lua, 1) };
        call.push_bytes(subject.get(start..end).unwrap_or_default());
    }
    unsafe {
        ffi::lua_remove(call.lua, base + 1);
        ffi::lua_remove(call.lua, base + 1);
    }
    Ok(Some((start, end)))
}

/// Pushes what takes the place of the match whose captures are on the stack from 5 on.
fn push_replacement(call: &Call, start: usize, end: usize) -> Result<(), Raise> {
    let captures = call.top() - 4;
    unsafe {
        match call.kind(3) {
            ffi::LUA_TFUNCTION => {
                call.push(3);
                ffi::lua_insert(call.lua, 5);
                ffi::lua_call(call.lua, captures, 1);
            }
            ffi::LUA_TTABLE => {
                call.push(5);
                ffi::lua_gettable(call.lua, 3);
            }
            _ => return expand(call, start, end, captures),
        }
    }
    Ok(())
}

/// The replacement text with its captures put in.
fn expand(call: &Call, start: usize, end: usize, captures: c_int) -> Result<(), Raise> {
    for at in 5..5 + captures {
        call.check_string(at)?;
    }
    call.check_string(3)?;
    // SAFETY: the strings stay on the stack.
    let (subject, text) = unsafe { (bytes_at(call.lua, 1), bytes_at(call.lua, 3)) };
    let mut out = Vec::new();
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, if byte == b'%' { bytes.next() } else { None }) {
            (_, None) => out.push(byte),
            (_, Some(b'0')) => out.extend_from_slice(&subject[start..end]),
            (_, Some(digit @ b'1'..=b'9')) => {
                let number = c_int::from(digit - b'0');
                if number > captures {
                    return Err(Raise::text("invalid capture index"));
                }
                out.extend_from_slice(call.string(4 + number).unwrap_or_default());
            }
            (_, Some(other)) => out.push(other),
        }
    }
    call.push_vec(out);
    Ok(())
}

/// `string.gmatch`; the upvalue is Lua's own `find`. A `^` at the start is no anchor here.
pub(super) fn gmatch(call: &Call) -> Result<c_int, Raise> {
    call.check_string(1)?;
    let pattern = call.check_string(2)?;
    call.set_top(2);
    if pattern.first() == Some(&b'^') {
        let pattern = [b"%", pattern].concat();
        call.push_vec(pattern);
        unsafe { ffi::lua_replace(call.lua, 2) };
    }
    call.push_upvalue();
    unsafe { ffi::lua_insert(call.lua, 1) };
    call.push_number(0.0);
    // SAFETY: find, string, pattern and place become the upvalues.
    unsafe { push_function(call.lua, call.shared(), gmatch_step, 4) };
    Ok(1)
}

fn gmatch_step(call: &Call) -> Result<c_int, Raise> {
    call.set_top(0);
    for upvalue in 4..=5 {
        call.push(ffi::lua_upvalueindex(upvalue));
    }
    let place = ffi::lua_upvalueindex(6);
    let at = usize::try_from(truncate(call.number(place).unwrap_or(0.0))).unwrap_or(usize::MAX);
    let length = call.string(1).map_or(0, <[u8]>::len);
    if at > length {
        return Ok(0);
    }
    let Some((start, end)) = find(call, at)? else { return Ok(0) };
    #[expect(clippy::cast_precision_loss, reason = "a position in a string")]
    call.push_number(if start == end { end + 1 } else { end } as f64);
    unsafe { ffi::lua_replace(call.lua, place) };
    Ok(call.top() - 2)
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
        if let Some(text) = plain_text(call, arg, flags, conversion)? {
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
fn plain_text(call: &Call, arg: c_int, flags: &[u8], conversion: u8) -> Result<Option<Vec<u8>>, Raise> {
    match conversion {
        b'q' => Ok(Some(quote(call.check_string(arg)?))),
        // 5.1 does not give long strings to C, which would end them at a zero.
        b's' if !flags.contains(&b'.') => {
            Ok(call.string(arg).filter(|text| text.len() >= 100 && text.contains(&0)).map(<[u8]>::to_vec))
        }
        b'c' if truncate(call.check_number(arg)?) & 0xff == 0 => Ok(Some(Vec::new())),
        b'u' => {
            let n = truncate_unsigned(call.check_number(arg)?);
            Ok(i64::try_from(n).is_err().then(|| n.to_string().into_bytes()))
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
            let x = call.check_number(arg)?;
            let is_unsigned = matches!(conversion, b'o' | b'u' | b'x' | b'X');
            let n = if is_unsigned { truncate_unsigned(x).cast_signed() } else { truncate(x) };
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
            let end = call.string(arg).and_then(|text| text.iter().position(|&byte| byte == 0));
            if let Some(text) = call.string(arg).zip(end).map(|(text, end)| text[..end].to_vec()) {
                call.push_vec(text);
                unsafe { ffi::lua_replace(call.lua, arg) };
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
