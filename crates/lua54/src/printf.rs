//! C's `snprintf` for one value, which is how Lua calls it. Used in wasm only; natively the host has one.
//!
//! What is here is what Lua's formats can hold: the flags, a width, a precision, the length modifier `ll`
//! (all integers arrive as 64 bits) and the conversions of `string.format`. `*`, `%n` and wide characters are
//! not.

use std::fmt::{self, Write};

use crate::num::Conversion;
use crate::num::write::write_magnitude;
use crate::text::Text;

/// What is to be printed.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Float(f64),
    Integer(i64),
    Text(&'a [u8]),
    Address(usize),
}

/// Writes into `out` as much as fits, and gives the length of all of it. `None` when the format is no format,
/// or is not for such a value.
pub(crate) fn format(out: &mut [u8], format: &[u8], value: Value) -> Option<usize> {
    let mut sink = Sink { out, len: 0 };
    let mut rest = format;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            sink.push(&[first]);
        } else if let Some(after) = rest.strip_prefix(b"%") {
            sink.push(b"%");
            rest = after;
        } else {
            let spec;
            (spec, rest) = Spec::parse(rest)?;
            spec.write(&mut sink, value)?;
        }
    }
    Some(sink.len)
}

/// The conversion letter of a format's directive.
pub(crate) fn conversion(format: &[u8]) -> Option<u8> {
    let start = format.iter().position(|&c| c == b'%')?;
    Some(Spec::parse(&format[start + 1..])?.0.conversion)
}

struct Sink<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Sink<'_> {
    fn push(&mut self, bytes: &[u8]) {
        let free = self.out.get_mut(self.len..).unwrap_or_default();
        let n = free.len().min(bytes.len());
        free[..n].copy_from_slice(&bytes[..n]);
        self.len += bytes.len();
    }

    fn repeat(&mut self, byte: u8, times: usize) {
        for _ in 0..times {
            self.push(&[byte]);
        }
    }
}

/// One directive, `%-08.3f`.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    conversion: u8,
}

/// What a directive makes of a value, before it is padded.
#[derive(Default)]
struct Parts<'a> {
    negative: bool,
    /// Whether the flags `+` and space apply.
    signed: bool,
    prefix: &'static str,
    /// Zeros that the precision of an integer asks for.
    zeros: usize,
    body: &'a [u8],
    /// Whether the flag `0` applies.
    zero_fill: bool,
}

/// Room for the longest number: 309 digits before the point, 99 after it.
type Number = Text<420>;

impl Spec {
    /// From after the percent sign. Also gives what follows the directive.
    fn parse(mut text: &[u8]) -> Option<(Spec, &[u8])> {
        let mut spec = Spec::default();
        loop {
            let (&first, rest) = text.split_first()?;
            text = rest;
            match first {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                b'1'..=b'9' => (spec.width, text) = number(usize::from(first - b'0'), text),
                b'.' => {
                    let precision;
                    (precision, text) = number(0, text);
                    spec.precision = Some(precision);
                }
                b'l' => {}
                letter => {
                    spec.conversion = letter;
                    return Some((spec, text));
                }
            }
        }
    }

    fn write(&self, sink: &mut Sink, value: Value) -> Option<()> {
        let mut number = Number::new();
        let byte;
        let parts = match value {
            Value::Float(x) => self.float(&mut number, x)?,
            Value::Integer(n) if self.conversion == b'c' => {
                byte = [n as u8];
                Parts { body: &byte, ..Parts::default() }
            }
            Value::Integer(n) => self.integer(&mut number, n)?,
            Value::Address(address) if self.conversion == b'p' => {
                write!(number, "{address:#x}").ok()?;
                Parts { body: number.as_bytes(), ..Parts::default() }
            }
            Value::Text(text) if self.conversion == b's' => {
                let len = self.precision.map_or(text.len(), |most| most.min(text.len()));
                Parts { body: &text[..len], ..Parts::default() }
            }
            _ => return None,
        };
        self.pad(sink, &parts);
        Some(())
    }

    fn float<'n>(&self, number: &'n mut Number, x: f64) -> Option<Parts<'n>> {
        let upper = self.conversion.is_ascii_uppercase();
        let conversion = match self.conversion.to_ascii_lowercase() {
            b'f' => Conversion::Fixed,
            b'e' => Conversion::Exponent,
            b'g' => Conversion::General,
            b'a' => Conversion::Hexadecimal,
            _ => return None,
        };
        write_magnitude(number, x.abs(), conversion, self.precision, self.alternate).ok()?;
        if upper {
            number.make_ascii_uppercase();
        }
        let prefix = match conversion {
            Conversion::Hexadecimal if x.is_finite() => {
                if upper {
                    "0X"
                } else {
                    "0x"
                }
            }
            _ => "",
        };
        let body = number.as_bytes();
        Some(Parts {
            negative: x.is_sign_negative(),
            signed: true,
            prefix,
            zeros: 0,
            body,
            zero_fill: x.is_finite(),
        })
    }

    fn integer<'n>(&self, number: &'n mut Number, n: i64) -> Option<Parts<'n>> {
        let signed = matches!(self.conversion, b'd' | b'i');
        let mut prefix = "";
        // C prints nothing for a zero whose precision is zero.
        if n != 0 || self.precision != Some(0) {
            self.integer_digits(number, n).ok()??;
        }
        if self.alternate {
            prefix = match self.conversion {
                b'x' if n != 0 => "0x",
                b'X' if n != 0 => "0X",
                _ => "",
            };
        }
        let body = number.as_bytes();
        let mut zeros = self.precision.unwrap_or(0).saturating_sub(body.len());
        if self.alternate && self.conversion == b'o' && zeros == 0 && body.first() != Some(&b'0') {
            zeros = 1;
        }
        Some(Parts {
            negative: signed && n < 0,
            signed,
            prefix,
            zeros,
            body,
            zero_fill: self.precision.is_none(),
        })
    }

    fn integer_digits(&self, number: &mut Number, n: i64) -> Result<Option<()>, fmt::Error> {
        match self.conversion {
            b'd' | b'i' => write!(number, "{}", n.unsigned_abs())?,
            b'u' => write!(number, "{}", n as u64)?,
            b'o' => write!(number, "{n:o}")?,
            b'x' => write!(number, "{n:x}")?,
            b'X' => write!(number, "{n:X}")?,
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    fn pad(&self, sink: &mut Sink, parts: &Parts) {
        let sign = match (parts.negative, parts.signed) {
            (true, _) => "-",
            (false, true) if self.plus => "+",
            (false, true) if self.space => " ",
            _ => "",
        };
        let len = sign.len() + parts.prefix.len() + parts.zeros + parts.body.len();
        let fill = self.width.saturating_sub(len);
        let zero_fill = self.zero && parts.zero_fill;
        if !self.left && !zero_fill {
            sink.repeat(b' ', fill);
        }
        sink.push(sign.as_bytes());
        sink.push(parts.prefix.as_bytes());
        if !self.left && zero_fill {
            sink.repeat(b'0', fill);
        }
        sink.repeat(b'0', parts.zeros);
        sink.push(parts.body);
        if self.left {
            sink.repeat(b' ', fill);
        }
    }
}

/// Goes on reading a decimal number of which `value` is read. Far beyond Lua's two figures it stays where it
/// is.
fn number(mut value: usize, mut text: &[u8]) -> (usize, &[u8]) {
    while let Some((&digit @ b'0'..=b'9', rest)) = text.split_first() {
        value = (value * 10 + usize::from(digit - b'0')).min(1 << 16);
        text = rest;
    }
    (value, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlua::{self, IntoLua, Lua};

    /// Natively, string.format is the C library's snprintf.
    #[track_caller]
    fn check<'a>(formats: &[&str], values: impl IntoIterator<Item = Value<'a>>) {
        let lua = Lua::new();
        let values: Vec<_> = values.into_iter().collect();
        for text in formats {
            for &value in &values {
                let argument = match value {
                    Value::Float(x) => x.into_lua(&lua),
                    Value::Integer(n) => n.into_lua(&lua),
                    Value::Text(bytes) => lua.create_string(bytes).map(mlua::Value::String),
                    Value::Address(_) => unreachable!("an address prints in the host's own way"),
                };
                let chunk = lua.load("return string.format(...)");
                let expected: mlua::LuaString = chunk.call((*text, argument.unwrap())).unwrap();
                let mut out = [0; 512];
                let len = format(&mut out, text.as_bytes(), value).unwrap();
                assert_eq!(
                    out[..len].escape_ascii().to_string(),
                    expected.as_bytes().escape_ascii().to_string(),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn integers_as_the_c_library_prints_them() {
        let formats = [
            "%d", "%5d|", "%-5d|", "%05d", "%+d", "% d", "%.3d", "%8.3d", "%-8.3d|", "%+05d", "%.0d", "%i",
            "x%%%dy", "%u", "%x", "%X", "%#x", "%#X", "%08x", "%#010x", "%.5x", "%o", "%#o", "%#.3o",
            "%#.0o", "%#.0x", "%-#8x|",
        ];
        let values = [0, 1, -1, 7, 8, 42, -42, 255, 65_535, 1 << 53, i64::MAX, i64::MIN].map(Value::Integer);
        check(&formats, values);
        check(&["%c", "%5c", "%-5c|"], [0, 65, 127, 128, 255].map(Value::Integer));
    }

    #[test]
    fn floats_as_the_c_library_prints_them() {
        let formats = [
            "%g", "%.14g", "%.17g", "%.0g", "%10.3g|", "%-10.3g|", "%010.3g", "%+g", "% g", "%G", "%f",
            "%.0f", "%#.0f", "%10.2f", "%.20f", "%.99f", "%e", "%.0e", "%#.0e", "%.3e", "%E", "%+012.4e",
            "%a", "%A", "%.0a", "%.3a", "%.13a", "%.20a", "%20a", "%-20a|", "%020a", "%+a", "%.99g", "%.99e",
        ];
        let values = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            0.1,
            1e-5,
            123_456_789.0,
            1e22,
            5e-324,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::INFINITY,
        ];
        check(
            &formats,
            values
                .into_iter()
                .chain([f64::NEG_INFINITY, f64::NAN, -f64::NAN, 9.5, 0.5, 2.5])
                .map(Value::Float),
        );
    }

    #[test]
    fn strings_as_the_c_library_prints_them() {
        check(
            &["%s", "%10s|", "%-10s|", "%.2s", "%10.2s|", "a%sb%%"],
            [&b""[..], b"a", b"abc", b"\xff\xfe"].map(Value::Text),
        );
    }

    #[test]
    fn an_address_is_hexadecimal() {
        let mut out = [0; 32];
        let len = format(&mut out, b"%12p|", Value::Address(0xbeef)).unwrap();
        assert_eq!(&out[..len], b"      0xbeef|");
        assert_eq!(conversion(b"%12p|"), Some(b'p'));
    }

    #[test]
    fn text_that_does_not_fit_is_cut_and_its_length_told() {
        let mut out = [b'.'; 4];
        assert_eq!(format(&mut out, b"%d", Value::Integer(123_456)), Some(6));
        assert_eq!(&out, b"1234");
    }

    #[test]
    fn what_is_no_format_for_the_value_is_refused() {
        for text in ["%s", "%g", "%", "%5", "%y", "%lld %s"] {
            assert_eq!(format(&mut [0; 32], text.as_bytes(), Value::Integer(1)), None, "{text}");
        }
        assert_eq!(format(&mut [0; 32], b"%d", Value::Float(1.0)), None);
    }
}
