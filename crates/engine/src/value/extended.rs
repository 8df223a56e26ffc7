//! Sums in x87 extended precision, which INCRBYFLOAT and HINCRBYFLOAT make and print with 17 decimals.
//!
//! A number is a mantissa of 64 bits times a power of two. Reading, adding and printing are exact but for one
//! rounding each, to the nearest and to even in the middle, as the processor and the C library do it. Numbers
//! below the normal range, some 10 to the -4932, are not told apart from zero, for the 17 decimals do not show
//! them.

use super::natural::Natural;

/// A finite or infinite number, not NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Extended {
    Infinite {
        negative: bool,
    },
    /// `mantissa` times two to the `exponent`; the highest bit is set, or all is zero.
    Finite {
        negative: bool,
        mantissa: u64,
        exponent: i32,
    },
}

const ZERO: Extended = Extended::Finite { negative: false, mantissa: 0, exponent: 0 };

/// Numbers from two to this power on are infinite.
const MAX_EXPONENT: i32 = 16384;

/// Longer texts are no numbers to Valkey.
const MAX_TEXT_BYTES: usize = 5 * 1024;

/// Texts of more decimal digits before the point, or zeros after it, are out of range.
const MAX_DECIMAL_EXPONENT: i64 = 4940;

impl Extended {
    /// A decimal or hexadecimal number or `inf`, as strtold reads a whole text.
    pub fn parse(text: &[u8]) -> Option<Extended> {
        if text.len() >= MAX_TEXT_BYTES {
            return None;
        }
        let (negative, unsigned) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        if unsigned.eq_ignore_ascii_case(b"inf") || unsigned.eq_ignore_ascii_case(b"infinity") {
            return Some(Extended::Infinite { negative });
        }
        let found = match unsigned {
            [b'0', b'x' | b'X', digits @ ..] => parse_hexadecimal(digits)?,
            _ => parse_decimal(unsigned)?,
        };
        // What is out of range is no number, as with ERANGE.
        match found {
            Extended::Finite { mantissa, exponent, .. } => {
                Some(Extended::Finite { negative, mantissa, exponent })
            }
            Extended::Infinite { .. } => None,
        }
    }

    /// `None` for what would be NaN.
    pub fn add(self, other: Extended) -> Option<Extended> {
        use Extended::{Finite, Infinite};
        match (self, other) {
            (Infinite { negative: a }, Infinite { negative: b }) => (a == b).then_some(self),
            (Infinite { .. }, Finite { .. }) => Some(self),
            (Finite { .. }, Infinite { .. }) => Some(other),
            (Finite { mantissa: 0, .. }, Finite { .. }) => Some(other),
            (Finite { .. }, Finite { mantissa: 0, .. }) => Some(self),
            (Finite { exponent: a, mantissa: x, .. }, Finite { exponent: b, mantissa: y, .. }) => {
                Some(if (a, x) >= (b, y) { add_smaller(self, other) } else { add_smaller(other, self) })
            }
        }
    }

    pub fn is_finite(self) -> bool {
        matches!(self, Extended::Finite { .. })
    }

    /// Up to 17 decimals, without the zeros at the end.
    pub fn text(self) -> Vec<u8> {
        let Extended::Finite { negative, mantissa, exponent } = self else { return b"inf".to_vec() };
        let (whole, fraction) = if exponent >= 0 {
            (Natural::from(mantissa).shifted_left(exponent.unsigned_abs()), 0)
        } else {
            // At most 2 to the 121, and a shift by more than that leaves nothing.
            let scaled = shift_right_rounded(u128::from(mantissa) * DECIMALS_SCALE, exponent.unsigned_abs());
            let whole = u64::try_from(scaled / DECIMALS_SCALE).unwrap_or(u64::MAX);
            (Natural::from(whole), u64::try_from(scaled % DECIMALS_SCALE).unwrap_or(0))
        };
        let mut text = whole.decimal();
        if fraction > 0 {
            let digits = (fraction + SCALE).to_string();
            text.push(b'.');
            text.extend_from_slice(digits.trim_end_matches('0').get(1..).unwrap_or_default().as_bytes());
        }
        if negative && text != b"0" {
            text.insert(0, b'-');
        }
        text
    }
}

const SCALE: u64 = 100_000_000_000_000_000;
const DECIMALS_SCALE: u128 = SCALE as u128;

/// Ten to the `exponent` to the nearest: a mantissa with its highest bit set, and its power of two.
pub(super) fn power_of_ten(exponent: i32) -> (u64, i32) {
    let mut power = Natural::from(1);
    for _ in 0..exponent.unsigned_abs() {
        power.multiply_add(10, 0);
    }
    let bits = if exponent < 0 { Natural::from(1).quotient_bits(&power) } else { power.top_bits() };
    match nearest(bits) {
        Extended::Finite { mantissa, exponent, .. } => (mantissa, exponent),
        Extended::Infinite { .. } => (0, 0),
    }
}

/// The sum of two finite numbers that are not zero, the larger in magnitude first.
fn add_smaller(large: Extended, small: Extended) -> Extended {
    let (
        Extended::Finite { negative, mantissa: a, exponent },
        Extended::Finite { negative: other, mantissa: b, exponent: lower },
    ) = (large, small)
    else {
        return large;
    };
    // 62 bits below the mantissa and one above it: what is shifted out further than that only has to be noticed.
    let distance = exponent.saturating_sub(lower).unsigned_abs();
    let a = u128::from(a) << GUARD_BITS;
    let b = u128::from(b) << GUARD_BITS;
    let shifted = b.checked_shr(distance).unwrap_or(0);
    let lost = shifted.checked_shl(distance).unwrap_or(0) != b;
    let shifted = shifted | u128::from(lost);
    let sum = if negative == other { a + shifted } else { a - shifted };
    rounded(negative, sum, exponent - GUARD_BITS)
}

const GUARD_BITS: i32 = 62;

fn nearest((bits, exponent): (u128, i32)) -> Extended {
    rounded(false, bits, exponent)
}

/// `bits` times two to the `exponent`, rounded to 64 bits.
fn rounded(negative: bool, bits: u128, exponent: i32) -> Extended {
    if bits == 0 {
        return ZERO;
    }
    let length = 128 - bits.leading_zeros() as i32;
    let excess = length - 64;
    let (mut mantissa, mut exponent) = if excess <= 0 {
        (bits << excess.unsigned_abs(), exponent + excess)
    } else {
        (shift_right_rounded(bits, excess.unsigned_abs()), exponent + excess)
    };
    if mantissa >> 64 != 0 {
        mantissa >>= 1;
        exponent += 1;
    }
    if exponent + 64 > MAX_EXPONENT {
        return Extended::Infinite { negative };
    }
    Extended::Finite { negative, mantissa: mantissa as u64, exponent }
}

/// To the nearest, to even in the middle.
fn shift_right_rounded(bits: u128, by: u32) -> u128 {
    match by {
        0 => bits,
        1..128 => {
            let (quotient, rest, half) = (bits >> by, bits & ((1 << by) - 1), 1 << (by - 1));
            quotient + u128::from(rest > half || (rest == half && quotient & 1 == 1))
        }
        _ => 0,
    }
}

/// The digits with the power of ten of the last one.
fn parse_decimal(text: &[u8]) -> Option<Extended> {
    let (number, power) = match text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e')) {
        Some(at) => (text.get(..at)?, parse_exponent(text.get(at + 1..)?)?),
        None => (text, 0),
    };
    let mut digits = Natural::default();
    let (mut count, mut decimals, mut in_fraction) = (0_i64, 0_i64, false);
    for &byte in number {
        match byte {
            b'.' if !in_fraction => in_fraction = true,
            b'0'..=b'9' => {
                digits.multiply_add(10, u32::from(byte - b'0'));
                count += 1;
                decimals += i64::from(in_fraction);
            }
            _ => return None,
        }
    }
    if count == 0 {
        return None;
    }
    if digits.is_zero() {
        return Some(ZERO);
    }
    let power = power - decimals;
    if power + count > 2 * MAX_DECIMAL_EXPONENT || power < -2 * MAX_DECIMAL_EXPONENT {
        return None;
    }
    let mut scale = Natural::from(1);
    for _ in 0..power.unsigned_abs() {
        scale.multiply_add(10, 0);
    }
    if power >= 0 {
        Some(nearest(digits.times(&scale).top_bits()))
    } else {
        Some(nearest(digits.quotient_bits(&scale)))
    }
}

fn parse_exponent(text: &[u8]) -> Option<i64> {
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let exponent: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (text.first() != Some(&b'+')).then_some(exponent.clamp(-100_000, 100_000))
}

fn parse_hexadecimal(text: &[u8]) -> Option<Extended> {
    let (number, power) = match text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'p')) {
        Some(at) => (text.get(..at)?, parse_exponent(text.get(at + 1..)?)?),
        None => (text, 0),
    };
    let mut digits = Natural::default();
    let (mut count, mut fraction_bits, mut in_fraction) = (0, 0, false);
    for &byte in number {
        match (byte as char).to_digit(16) {
            None if byte == b'.' && !in_fraction => in_fraction = true,
            None => return None,
            Some(digit) => {
                digits.multiply_add(16, digit);
                count += 1;
                fraction_bits += if in_fraction { 4 } else { 0 };
            }
        }
    }
    if count == 0 {
        return None;
    }
    let shift = i32::try_from(power - fraction_bits).ok()?;
    Some(match nearest(digits.top_bits()) {
        Extended::Finite { mantissa, exponent, .. } if mantissa != 0 => {
            rounded(false, u128::from(mantissa), exponent + shift)
        }
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(a: &str, b: &str) -> String {
        let parse = |text: &str| Extended::parse(text.as_bytes()).unwrap();
        String::from_utf8(parse(a).add(parse(b)).unwrap().text()).unwrap()
    }

    /// The texts are those of a server on x86-64.
    #[test]
    fn sums_are_those_of_the_server() {
        let cases = [
            ("10.50", "0.1", "10.6"),
            ("0.1", "0.2", "0.3"),
            ("3", "1.000000000000000005", "4.00000000000000001"),
            ("0", "3.0e20", "300000000000000000000"),
            ("0", "1e-17", "0.00000000000000001"),
            ("0", "1e-18", "0"),
            ("0.1", "-0.1", "0"),
            (
                "0",
                "1e100",
                "9999999999999999999669353532207342619498699019828496079271391541752018669482644324418977840117055488",
            ),
            ("3.14159265358979324", "2.71828182845904523536", "5.85987448204883848"),
            ("123456789012345678", "0.5", "123456789012345678.5"),
            ("0", "0x1p3", "8"),
            ("-5", "2.5", "-2.5"),
        ];
        for (a, b, expected) in cases {
            assert_eq!(sum(a, b), expected, "{a} + {b}");
        }
    }

    /// f64 addition is exact on these, so the two precisions agree.
    #[test]
    fn small_dyadic_sums_are_exact() {
        for a in -40..40_i32 {
            for b in -40..40_i32 {
                let (x, y) = (f64::from(a) / 8.0, f64::from(b) / 16.0);
                assert_eq!(sum(&x.to_string(), &y.to_string()), (x + y + 0.0).to_string());
            }
        }
    }

    #[test]
    fn what_is_no_number() {
        for text in
            ["", ".", "-", "e5", "1e", "1 ", " 1", "1_0", "nan", "0x", "1e++5", "1e5000", "--1", "1.2.3"]
        {
            assert_eq!(Extended::parse(text.as_bytes()), None, "{text}");
        }
    }
}
