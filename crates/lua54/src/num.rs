//! Text of doubles as C has it: `strtod`, and what `printf` makes of `%g`, `%e`, `%f` and `%a`.
//!
//! In wasm this is the number text of Lua itself; natively Lua uses the C library of the host, and the tests hold the
//! two to the same bytes. On every target it is here for those who have to print as Valkey does: `%.14g` is how its
//! Lua prints a number, `%.17g` how it writes a double that must come back unchanged.
//!
//! The hard part, correctly rounded decimal digits, is Rust's own: `{:.13e}` gives the 14 digits that `%.14g` wants,
//! and `str::parse` reads as strtod does. What is left is where the point goes, and hexadecimal.

use std::fmt::{self, Write};

use crate::text::Text;

/// The letter of a float conversion in a `printf` format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// `%f`: no exponent.
    Fixed,
    /// `%e`: one digit before the point.
    Exponent,
    /// `%g`: significant digits, trailing zeros dropped, the shorter of the two above.
    General,
    /// `%a`: the bits in hexadecimal, exact.
    Hexadecimal,
}

/// The most digits a format can ask for; Lua's formats have two figures for it. More is cut down to this.
pub const MAX_PRECISION: usize = 99;

/// `%.14g`: how Valkey's Lua prints a number, and this one.
pub fn g14(x: f64) -> String {
    fmt(x, Conversion::General, Some(14))
}

/// `%.17g`: digits enough to read the same double back.
pub fn g17(x: f64) -> String {
    fmt(x, Conversion::General, Some(17))
}

/// What `printf` writes of `x` for this conversion. No precision means C's default: 6 decimals, or for `%a` as many
/// digits as are needed. Infinities and NaN are `inf` and `nan`, with a minus where the sign bit is set (glibc).
pub fn fmt(x: f64, conversion: Conversion, precision: Option<usize>) -> String {
    let mut out = String::new();
    if x.is_sign_negative() {
        out.push('-');
    }
    // A String takes whatever is written, so there is no error to report.
    let _ = write_magnitude(&mut out, x.abs(), conversion, precision, false);
    out
}

/// Reads the longest number at the start of `text`, as C's `strtod` does in the C locale: leading white space, a sign,
/// decimal or `0x` hexadecimal, `inf`, `infinity`, `nan`, `nan(1)`. Gives its value and how many bytes it took; `(0.0, 0)` when
/// there is none.
pub fn strtod(text: &[u8]) -> (f64, usize) {
    let mut scan = Scan { text, at: 0 };
    scan.skip_while(|c| matches!(c, b' ' | b'\t'..=b'\r'));
    let negative = scan.peek() == b'-';
    if negative || scan.peek() == b'+' {
        scan.at += 1;
    }
    match magnitude(&mut scan) {
        Some(value) => (if negative { -value } else { value }, scan.at),
        None => (0.0, 0),
    }
}

/// The text of a number that has no sign, for `printf`, which places the sign itself. `alternate` is the flag `#`.
pub(crate) fn write_magnitude(
    out: &mut dyn Write,
    x: f64,
    conversion: Conversion,
    precision: Option<usize>,
    alternate: bool,
) -> fmt::Result {
    if !x.is_finite() {
        return out.write_str(if x.is_nan() { "nan" } else { "inf" });
    }
    let precision = precision.map(|digits| digits.min(MAX_PRECISION));
    let decimals = precision.unwrap_or(6);
    match conversion {
        Conversion::Fixed => {
            write!(out, "{x:.decimals$}")?;
            if alternate && decimals == 0 { out.write_str(".") } else { Ok(()) }
        }
        Conversion::Exponent => Decimal::new(x, decimals)?.write_exponent(out, alternate),
        Conversion::General => write_general(out, x, decimals.max(1), alternate),
        Conversion::Hexadecimal => write_hexadecimal(out, x, precision, alternate),
    }
}

fn write_general(out: &mut dyn Write, x: f64, significant: usize, alternate: bool) -> fmt::Result {
    let mut decimal = Decimal::new(x, significant - 1)?;
    if !alternate {
        decimal.drop_trailing_zeros();
    }
    if decimal.exponent < -4 || decimal.exponent >= significant as i32 {
        decimal.write_exponent(out, alternate)
    } else {
        decimal.write_plain(out, alternate)
    }
}

/// A number as decimal digits, the first of which has the weight 10^exponent.
struct Decimal {
    digits: Text<{ MAX_PRECISION + 8 }>,
    exponent: i32,
}

impl Decimal {
    /// Rounds to one digit and `decimals` more.
    fn new(x: f64, decimals: usize) -> Result<Self, fmt::Error> {
        let mut digits = Text::new();
        write!(digits, "{x:.decimals$e}")?; // such as 1.25e-7
        let exponent =
            digits.as_str().split_once('e').and_then(|(_, text)| text.parse().ok()).ok_or(fmt::Error)?;
        digits.truncate(1 + usize::from(decimals > 0) + decimals);
        if decimals > 0 {
            digits.remove(1); // the point
        }
        Ok(Decimal { digits, exponent })
    }

    fn drop_trailing_zeros(&mut self) {
        let kept = self.digits.as_str().trim_end_matches('0').len();
        self.digits.truncate(kept.max(1));
    }

    /// `d.ddde+XX`, the exponent with two figures at least.
    fn write_exponent(&self, out: &mut dyn Write, alternate: bool) -> fmt::Result {
        let (first, rest) = self.digits.as_str().split_at(1);
        let point = if alternate || !rest.is_empty() { "." } else { "" };
        let sign = if self.exponent < 0 { '-' } else { '+' };
        write!(out, "{first}{point}{rest}e{sign}{:02}", self.exponent.abs())
    }

    /// The digits with the point where the exponent says, and zeros up to it.
    fn write_plain(&self, out: &mut dyn Write, alternate: bool) -> fmt::Result {
        let digits = self.digits.as_str();
        let Ok(whole) = usize::try_from(self.exponent + 1) else {
            let zeros = self.exponent.unsigned_abs() as usize - 1;
            return write!(out, "0.{:0<zeros$}{digits}", "");
        };
        if whole == 0 {
            return write!(out, "0.{digits}");
        }
        let (before, after) = digits.split_at(whole.min(digits.len()));
        let point = if alternate || !after.is_empty() { "." } else { "" };
        write!(out, "{before:0<whole$}{point}{after}")
    }
}

const FRACTION_BITS: u32 = 52;

/// `0x` is the caller's, as the sign is. One hexadecimal digit before the point: 1, or 0 for zero and subnormals.
fn write_hexadecimal(out: &mut dyn Write, x: f64, precision: Option<usize>, alternate: bool) -> fmt::Result {
    let biased = (x.to_bits() >> FRACTION_BITS) as i32;
    let fraction = x.to_bits() & ((1 << FRACTION_BITS) - 1);
    let exponent = if x == 0.0 { 0 } else { biased.max(1) - 1023 };
    let mut mantissa = if biased == 0 { fraction } else { fraction | 1 << FRACTION_BITS };
    let digits = precision.unwrap_or_else(|| 13 - (fraction.trailing_zeros() / 4).min(13) as usize);
    if digits < 13 {
        let dropped = FRACTION_BITS - 4 * digits as u32;
        mantissa = round_half_even(mantissa, dropped) << dropped;
    }
    write!(out, "{:x}", mantissa >> FRACTION_BITS)?;
    if digits > 0 || alternate {
        out.write_str(".")?;
    }
    for place in 1..=digits as u32 {
        let digit = if place <= 13 { mantissa >> (FRACTION_BITS - 4 * place) & 15 } else { 0 };
        write!(out, "{digit:x}")?;
    }
    write!(out, "p{exponent:+}")
}

/// `value / 2^dropped`, to the nearest integer, a tie to the even one. `dropped` is 1 to 64.
fn round_half_even(value: u64, dropped: u32) -> u64 {
    let value = u128::from(value);
    let (quotient, rest, half) = (value >> dropped, value & ((1 << dropped) - 1), 1 << (dropped - 1));
    (quotient as u64) + u64::from(rest > half || rest == half && quotient & 1 == 1)
}

/// A place in a text. Beyond its end are zero bytes, as in C.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> u8 {
        self.peek_after(0)
    }

    fn peek_after(&self, distance: usize) -> u8 {
        self.text.get(self.at + distance).copied().unwrap_or(0)
    }

    /// How many bytes were skipped.
    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) -> usize {
        let start = self.at;
        while self.at < self.text.len() && accept(self.peek()) {
            self.at += 1;
        }
        self.at - start
    }

    fn skip_digits(&mut self) -> usize {
        self.skip_while(|c| c.is_ascii_digit())
    }

    /// Skips `word`, whatever its case.
    fn skip_word(&mut self, word: &str) -> bool {
        let found =
            self.text[self.at..].get(..word.len()).is_some_and(|s| s.eq_ignore_ascii_case(word.as_bytes()));
        if found {
            self.at += word.len();
        }
        found
    }

    /// Skips letters, digits and underscores in parentheses. C lets them choose among NaNs; here there is one.
    fn skip_nan_payload(&mut self) {
        let start = self.at;
        if self.peek() == b'(' {
            self.at += 1;
            self.skip_while(|c| c.is_ascii_alphanumeric() || c == b'_');
            self.at = if self.peek() == b')' { self.at + 1 } else { start };
        }
    }

    /// Skips an exponent with this letter if it is one, with a digit, and gives its value, clamped.
    fn skip_exponent(&mut self, letter: u8) -> i64 {
        let signed = matches!(self.peek_after(1), b'+' | b'-');
        let first = 1 + usize::from(signed);
        if self.peek() | 32 != letter || !self.peek_after(first).is_ascii_digit() {
            return 0;
        }
        let negative = self.peek_after(1) == b'-';
        self.at += first;
        let mut exponent = 0;
        while self.peek().is_ascii_digit() {
            exponent = (exponent * 10 + i64::from(self.peek() - b'0')).min(1 << 40);
            self.at += 1;
        }
        if negative { -exponent } else { exponent }
    }
}

/// What follows the sign. Moves `scan` only past what belongs to the number.
fn magnitude(scan: &mut Scan) -> Option<f64> {
    if scan.skip_word("infinity") || scan.skip_word("inf") {
        return Some(f64::INFINITY);
    }
    if scan.skip_word("nan") {
        scan.skip_nan_payload();
        return Some(f64::NAN);
    }
    if scan.peek() == b'0' && scan.peek_after(1) | 32 == b'x' {
        scan.at += 2;
        return Some(hexadecimal(scan).unwrap_or_else(|| {
            scan.at -= 1; // then the number is the 0 alone
            0.0
        }));
    }
    let start = scan.at;
    let mut digits = scan.skip_digits();
    if scan.peek() == b'.' && (digits > 0 || scan.peek_after(1).is_ascii_digit()) {
        scan.at += 1;
        digits += scan.skip_digits();
    }
    if digits == 0 {
        return None;
    }
    scan.skip_exponent(b'e');
    std::str::from_utf8(&scan.text[start..scan.at]).ok()?.parse().ok()
}

/// What follows `0x`; `None`, without having moved, if that is no digit.
fn hexadecimal(scan: &mut Scan) -> Option<f64> {
    let start = scan.at;
    let (mut mantissa, mut exponent) = (0_u64, 0_i64);
    let (mut digits, mut after_point) = (0, false);
    loop {
        if scan.peek() == b'.' && !after_point {
            after_point = true;
        } else if let Some(digit) = char::from(scan.peek()).to_digit(16) {
            digits += 1;
            if mantissa >> 60 == 0 {
                mantissa = mantissa << 4 | u64::from(digit);
                exponent -= if after_point { 4 } else { 0 };
            } else {
                // 61 bits are more than a double keeps. Of the rest only matters whether all of it is zero.
                mantissa |= u64::from(digit != 0);
                exponent += if after_point { 0 } else { 4 };
            }
        } else {
            break;
        }
        scan.at += 1;
    }
    if digits == 0 {
        scan.at = start;
        return None;
    }
    Some(scaled(mantissa, exponent + scan.skip_exponent(b'p')))
}

/// `mantissa * 2^exponent`, rounded once.
fn scaled(mantissa: u64, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let leading = exponent + 63 - i64::from(mantissa.leading_zeros());
    if leading > 1023 {
        return f64::INFINITY;
    }
    // The weight of the last bit that the result can hold; a subnormal one holds fewer.
    let last = (leading - 52).max(-1074);
    let kept = match last - exponent {
        dropped @ ..=0 => mantissa << -dropped,
        dropped @ 1..=64 => round_half_even(mantissa, dropped as u32),
        _ => 0,
    };
    // Both factors and the product are exact, but for a product that rounding has carried up to infinity.
    kept as f64 * power_of_two(last)
}

/// 2^exponent, for -1074 to 1023.
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(if exponent >= -1022 {
        ((exponent + 1023) as u64) << FRACTION_BITS
    } else {
        1 << (exponent + 1074)
    })
}
