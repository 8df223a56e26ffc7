//! Doubles to text: the digits of [`exact`] rounded and in C's form.

use std::fmt::{self, Write};

use super::{FRACTION_BITS, exact, round_half_even};

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

/// What `printf` writes of `x` for this conversion. No precision means C's default: 6 decimals, or for `%a`
/// as many digits as are needed. Infinities and NaN are `inf` and `nan`, with a minus where the sign bit is
/// set (glibc).
pub fn fmt(x: f64, conversion: Conversion, precision: Option<usize>) -> String {
    let mut out = String::new();
    if x.is_sign_negative() {
        out.push('-');
    }
    // A String takes whatever is written, so there is no error to report.
    let _ = write_magnitude(&mut out, x.abs(), conversion, precision, false);
    out
}

/// The text of a number that has no sign, for `printf`, which places the sign itself. `alternate` is the flag
/// `#`.
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
        Conversion::Fixed => write_fixed(out, x, decimals, alternate),
        Conversion::Exponent => Decimal::new(x, decimals).write_exponent(out, alternate),
        Conversion::General => write_general(out, x, decimals.max(1), alternate),
        Conversion::Hexadecimal => write_hexadecimal(out, x, precision, alternate),
    }
}

fn write_general(out: &mut dyn Write, x: f64, significant: usize, alternate: bool) -> fmt::Result {
    // Most numbers of scripts are counts, ids and times: all their digits fit, and need no rounding.
    if significant >= 14 && x < 1e14 && x.trunc() == x && !alternate {
        return write!(out, "{}", x as u64);
    }
    let mut decimal = Decimal::new(x, significant - 1);
    if !alternate {
        decimal.drop_trailing_zeros();
    }
    if decimal.exponent < -4 || decimal.exponent >= significant as i32 {
        decimal.write_exponent(out, alternate)
    } else {
        decimal.write_plain(out, alternate)
    }
}

fn write_fixed(out: &mut dyn Write, x: f64, decimals: usize, alternate: bool) -> fmt::Result {
    let (mut digits, point) = exact::to_decimal(x);
    match usize::try_from(point + decimals as i32) {
        Ok(kept) => {
            if exact::round(&mut digits, kept) {
                digits.resize(kept + 1, b'0');
            }
        }
        Err(_) => digits.clear(),
    }
    let zeros = (decimals + 1).saturating_sub(digits.len());
    digits.splice(0..0, std::iter::repeat_n(b'0', zeros));
    let (whole, fraction) = text(&digits).split_at(digits.len() - decimals);
    let point = if alternate || decimals > 0 { "." } else { "" };
    write!(out, "{whole}{point}{fraction}")
}

fn text(digits: &[u8]) -> &str {
    std::str::from_utf8(digits).unwrap_or_default()
}

/// A number as decimal digits, the first of which has the weight 10^exponent.
struct Decimal {
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// Rounds to one digit and `decimals` more.
    fn new(x: f64, decimals: usize) -> Self {
        let (mut digits, mut point) = exact::to_decimal(x);
        if digits.is_empty() {
            point = 1;
        }
        let carried = exact::round(&mut digits, 1 + decimals);
        Decimal { digits, exponent: point - 1 + i32::from(carried) }
    }

    fn drop_trailing_zeros(&mut self) {
        let kept = text(&self.digits).trim_end_matches('0').len();
        self.digits.truncate(kept.max(1));
    }

    /// `d.ddde+XX`, the exponent with two figures at least.
    fn write_exponent(&self, out: &mut dyn Write, alternate: bool) -> fmt::Result {
        let (first, rest) = text(&self.digits).split_at(1);
        let point = if alternate || !rest.is_empty() { "." } else { "" };
        let sign = if self.exponent < 0 { '-' } else { '+' };
        write!(out, "{first}{point}{rest}e{sign}{:02}", self.exponent.abs())
    }

    /// The digits with the point where the exponent says, and zeros up to it.
    fn write_plain(&self, out: &mut dyn Write, alternate: bool) -> fmt::Result {
        let digits = text(&self.digits);
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

/// `0x` is the caller's, as the sign is. One hexadecimal digit before the point: 1, or 0 for zero and
/// subnormals.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_precision_than_there_is_room_for_is_cut() {
        assert_eq!(fmt(1.0, Conversion::Fixed, Some(100_000)).len(), 2 + MAX_PRECISION);
        assert_eq!(fmt(1.5, Conversion::Hexadecimal, Some(usize::MAX)).len(), "1.p+0".len() + MAX_PRECISION);
        assert_eq!(fmt(-0.0, Conversion::Exponent, Some(usize::MAX)).len(), "-0.e+00".len() + MAX_PRECISION);
    }
}
