//! JSON to values.

use std::ffi::c_int;

use lua54::ffi;

use super::super::vm::{Call, Raise, bytes_at};
use super::{MAX_DEPTH, Settings, single};

pub(super) fn decode(call: &Call) -> Result<c_int, Raise> {
    single(call)?;
    call.check_string(1)?;
    // SAFETY: the string stays at 1 while this runs.
    let data = unsafe { bytes_at(call.lua, 1) };
    if data.len() >= 2 && (data[0] == 0 || data[1] == 0) {
        return Err(Raise::text("JSON parser does not support UTF-16 or UTF-32"));
    }
    let mut reader = Reader { call, settings: call.shared().cjson.get(), data, at: 0, depth: 0 };
    let token = reader.next();
    reader.value(token)?;
    match reader.next() {
        Token { kind: Kind::End, .. } => Ok(1),
        token => Err(reader.unexpected("the end", &token)),
    }
}

struct Token {
    kind: Kind,
    /// Where it begins, or where the error is.
    at: usize,
}

enum Kind {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    /// Its text is in `Shared::text`, for pushing it may jump.
    String,
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Wrong(&'static str),
}

struct Reader<'a> {
    call: &'a Call,
    settings: Settings,
    data: &'a [u8],
    at: usize,
    depth: i32,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.data.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Token {
        while matches!(self.peek(0), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        let at = self.at;
        let single = match self.peek(0) {
            b'{' => Kind::ObjectBegin,
            b'}' => Kind::ObjectEnd,
            b'[' => Kind::ArrayBegin,
            b']' => Kind::ArrayEnd,
            b',' => Kind::Comma,
            b':' => Kind::Colon,
            // A zero byte ends the text, as the end itself does.
            0 => return Token { kind: Kind::End, at },
            b'"' => return self.string(),
            b'-' | b'0'..=b'9' => {
                if !self.settings.decode_invalid && self.is_invalid_number() {
                    return Token { kind: Kind::Wrong("invalid number"), at };
                }
                return self.number();
            }
            _ => return self.word(),
        };
        self.at += 1;
        Token { kind: single, at }
    }

    fn word(&mut self) -> Token {
        let at = self.at;
        for (word, kind) in
            [("true", Kind::Boolean(true)), ("false", Kind::Boolean(false)), ("null", Kind::Null)]
        {
            if self.data[at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Token { kind, at };
            }
        }
        if self.settings.decode_invalid && self.is_invalid_number() {
            return self.number();
        }
        Token { kind: Kind::Wrong("invalid token"), at }
    }

    /// A number that JSON forbids: with a plus, hexadecimal, with leading zeros, infinite, none at all.
    fn is_invalid_number(&self) -> bool {
        let sign = usize::from(self.peek(0) == b'-');
        match (self.peek(0), self.peek(sign)) {
            (b'+', _) => true,
            (_, b'0') => matches!(self.peek(sign + 1), b'x' | b'X' | b'0'..=b'9'),
            (_, ..=b'9') => false,
            _ => self.data.get(self.at + sign..).is_some_and(is_named_number),
        }
    }

    fn number(&mut self) -> Token {
        let at = self.at;
        match strtod(&self.data[at..]) {
            Some((x, length)) => {
                self.at += length;
                Token { kind: Kind::Number(x), at }
            }
            None => Token { kind: Kind::Wrong("invalid number"), at },
        }
    }

    fn string(&mut self) -> Token {
        let at = self.at;
        self.at += 1;
        let mut text = Vec::new();
        loop {
            match self.peek(0) {
                0 => return Token { kind: Kind::Wrong("unexpected end of string"), at: self.at },
                b'"' => break,
                b'\\' => {
                    if let Err(wrong) = self.escape(&mut text) {
                        return Token { kind: Kind::Wrong(wrong), at: self.at };
                    }
                }
                byte => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        self.call.shared().text.replace(text);
        Token { kind: Kind::String, at }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), &'static str> {
        let byte = match self.peek(1) {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => 0x0c,
            b'r' => b'\r',
            b'u' => {
                let (code, length) = self.unicode().ok_or("invalid unicode escape code")?;
                let code = char::from_u32(code).ok_or("invalid unicode escape code")?;
                text.extend_from_slice(code.encode_utf8(&mut [0; 4]).as_bytes());
                self.at += length;
                return Ok(());
            }
            _ => return Err("invalid escape code"),
        };
        text.push(byte);
        self.at += 2;
        Ok(())
    }

    /// The code point of `\uXXXX` here, or of a pair of them, and how long that is.
    fn unicode(&self) -> Option<(u32, usize)> {
        let unit = |ahead: usize| {
            (0..4).try_fold(0, |code, digit| {
                Some(code * 16 + char::from(self.peek(ahead + digit)).to_digit(16)?)
            })
        };
        let high = unit(2)?;
        if high & 0xf800 != 0xd800 {
            return Some((high, 6));
        }
        if high & 0x400 != 0 || self.peek(6) != b'\\' || self.peek(7) != b'u' {
            return None;
        }
        let low = unit(8).filter(|low| low & 0xfc00 == 0xdc00)?;
        Some((0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff), 12))
    }

    fn unexpected(&self, expected: &str, token: &Token) -> Raise {
        let found = match token.kind {
            Kind::ObjectBegin => "T_OBJ_BEGIN",
            Kind::ObjectEnd => "T_OBJ_END",
            Kind::ArrayBegin => "T_ARR_BEGIN",
            Kind::ArrayEnd => "T_ARR_END",
            Kind::String => "T_STRING",
            Kind::Number(_) => "T_NUMBER",
            Kind::Boolean(_) => "T_BOOLEAN",
            Kind::Null => "T_NULL",
            Kind::Colon => "T_COLON",
            Kind::Comma => "T_COMMA",
            Kind::End => "T_END",
            Kind::Wrong(what) => what,
        };
        Raise::text(format!("Expected {expected} but found {found} at character {}", token.at + 1))
    }

    /// Pushes the value that begins with `token`.
    fn value(&mut self, token: Token) -> Result<(), Raise> {
        self.call.charge(1)?;
        match token.kind {
            Kind::String => self.call.push_text(),
            Kind::Number(x) => self.call.push_number(x),
            Kind::Boolean(value) => self.call.push_bool(value),
            Kind::Null => unsafe { ffi::lua_pushlightuserdata(self.call.lua, std::ptr::null_mut()) },
            Kind::ObjectBegin => self.nested(Reader::object)?,
            Kind::ArrayBegin => self.nested(Reader::array)?,
            _ => return Err(self.unexpected("value", &token)),
        }
        Ok(())
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<(), Raise>) -> Result<(), Raise> {
        self.depth += 1;
        if self.depth > self.settings.decode_depth.min(MAX_DEPTH) {
            let (depth, at) = (self.depth, self.at);
            let text = format!("Found too many nested data structures ({depth}) at character {at}");
            return Err(Raise::text(text));
        }
        self.call.reserve(4, "cjson")?;
        self.call.push_table(0, 0);
        read(self)?;
        self.depth -= 1;
        Ok(())
    }

    fn object(&mut self) -> Result<(), Raise> {
        let mut token = self.next();
        if matches!(token.kind, Kind::ObjectEnd) {
            return Ok(());
        }
        loop {
            if !matches!(token.kind, Kind::String) {
                return Err(self.unexpected("object key string", &token));
            }
            self.call.push_text();
            token = self.next();
            if !matches!(token.kind, Kind::Colon) {
                return Err(self.unexpected("colon", &token));
            }
            token = self.next();
            self.value(token)?;
            unsafe { ffi::lua_rawset(self.call.lua, -3) };
            token = self.next();
            match token.kind {
                Kind::ObjectEnd => return Ok(()),
                Kind::Comma => token = self.next(),
                _ => return Err(self.unexpected("comma or object end", &token)),
            }
        }
    }

    fn array(&mut self) -> Result<(), Raise> {
        let mut token = self.next();
        if matches!(token.kind, Kind::ArrayEnd) {
            return Ok(());
        }
        for at in 1.. {
            self.value(token)?;
            unsafe { ffi::lua_rawseti(self.call.lua, -2, at) };
            token = self.next();
            match token.kind {
                Kind::ArrayEnd => break,
                Kind::Comma => token = self.next(),
                _ => return Err(self.unexpected("comma or array end", &token)),
            }
        }
        Ok(())
    }
}

fn is_named_number(text: &[u8]) -> bool {
    text.get(..3).is_some_and(|name| name.eq_ignore_ascii_case(b"inf") || name.eq_ignore_ascii_case(b"nan"))
}

/// C's `strtod`: the number at the start of `text`, and how many bytes it takes.
fn strtod(text: &[u8]) -> Option<(f64, usize)> {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let negative = text.first() == Some(&b'-');
    let body = &text[sign..];
    let (x, length) = if is_named_number(body) {
        let long = body.get(..8).is_some_and(|name| name.eq_ignore_ascii_case(b"infinity"));
        let x = if body[0].eq_ignore_ascii_case(&b'i') { f64::INFINITY } else { f64::NAN };
        (x, if long { 8 } else { 3 })
    } else if body.len() > 2 && body[0] == b'0' && matches!(body[1], b'x' | b'X') && is_hex(body[2]) {
        hexadecimal(&body[2..]).map(|(x, length)| (x, length + 2))?
    } else {
        decimal(body)?
    };
    Some((if negative { -x } else { x }, sign + length))
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

fn count(text: &[u8], from: usize, is: fn(&u8) -> bool) -> usize {
    text.get(from..).unwrap_or_default().iter().take_while(|byte| is(byte)).count()
}

/// How long an exponent after `mark` is at `at`.
fn exponent_length(text: &[u8], at: usize, mark: u8) -> usize {
    if !text.get(at).is_some_and(|byte| byte.eq_ignore_ascii_case(&mark)) {
        return 0;
    }
    let sign = usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
    match count(text, at + 1 + sign, u8::is_ascii_digit) {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

fn decimal(text: &[u8]) -> Option<(f64, usize)> {
    let whole = count(text, 0, u8::is_ascii_digit);
    let mut end = whole;
    if text.get(end) == Some(&b'.') {
        let fraction = count(text, end + 1, u8::is_ascii_digit);
        if whole + fraction == 0 {
            return None;
        }
        end += 1 + fraction;
    } else if whole == 0 {
        return None;
    }
    end += exponent_length(text, end, b'e');
    let x = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    Some((x, end))
}

fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let whole = count(text, 0, u8::is_ascii_hexdigit);
    let digit = |byte: &u8| f64::from(char::from(*byte).to_digit(16).unwrap_or(0));
    let mut x = text[..whole].iter().fold(0.0, |x, byte| x * 16.0 + digit(byte));
    let mut end = whole;
    if text.get(end) == Some(&b'.') {
        let fraction = count(text, end + 1, u8::is_ascii_hexdigit);
        let mut scale = 1.0 / 16.0;
        for byte in &text[end + 1..end + 1 + fraction] {
            x += digit(byte) * scale;
            scale /= 16.0;
        }
        end += 1 + fraction;
    }
    let exponent = exponent_length(text, end, b'p');
    if exponent > 0 {
        let power = std::str::from_utf8(&text[end + 1..end + exponent]).ok()?;
        x *= 2.0_f64.powi(power.parse().unwrap_or(0));
        end += exponent;
    }
    Some((x, end))
}
