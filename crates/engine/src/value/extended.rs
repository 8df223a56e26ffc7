//! Sums in x87 extended precision, which INCRBYFLOAT and HINCRBYFLOAT make and print with 17 decimals.
//!
//! A number is a mantissa of 64 bits times a power of two. Reading, adding and printing are exact but for one rounding
//! each, to the nearest and to even in the middle, as the processor and the C library do it. Numbers below the
//! normal range, some 10 to the -4932, are not told apart from zero, for the 17 decimals do not show them.

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

/// Texts of more decimal digits before the point, or zeros after it, are out of range.
const MAX_DECIMAL_EXPONENT: i64 = 4940;

impl Extended {
    /// A decimal or hexadecimal number or `inf`, as strtold reads a whole text.
    pub fn parse(text: &[u8]) -> Option<Extended> {
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
    let nearest = if exponent < 0 { Natural::from(1).divided(&power) } else { power.rounded() };
    match nearest {
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
    if power >= 0 { Some(digits.times(&scale).rounded()) } else { Some(digits.divided(&scale)) }
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
    Some(match digits.rounded() {
        Extended::Finite { mantissa, exponent, .. } if mantissa != 0 => {
            rounded(false, u128::from(mantissa), exponent + shift)
        }
        other => other,
    })
}

/// A natural number of any size: 32 bits a limb, the lowest first, no zero limb on top.
#[derive(Clone, Debug, Default, PartialEq)]
struct Natural(Vec<u32>);

impl From<u64> for Natural {
    fn from(n: u64) -> Natural {
        let mut natural = Natural(vec![n as u32, (n >> 32) as u32]);
        natural.trim();
        natural
    }
}

impl Natural {
    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn bits(&self) -> u32 {
        let top = self.0.last().map_or(0, |limb| 32 - limb.leading_zeros());
        (self.0.len() as u32).saturating_sub(1) * 32 + top
    }

    fn bit(&self, at: u32) -> bool {
        self.0.get((at / 32) as usize).is_some_and(|limb| limb >> (at % 32) & 1 == 1)
    }

    fn multiply_add(&mut self, factor: u32, summand: u32) {
        let mut carry = u64::from(summand);
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn times(&self, other: &Natural) -> Natural {
        let mut product = vec![0_u32; self.0.len() + other.0.len()];
        for (at, &a) in self.0.iter().enumerate() {
            let mut carry = 0_u64;
            for (place, &b) in product.iter_mut().skip(at).zip(other.0.iter().chain(std::iter::once(&0))) {
                carry += u64::from(*place) + u64::from(a) * u64::from(b);
                *place = carry as u32;
                carry >>= 32;
            }
        }
        let mut product = Natural(product);
        product.trim();
        product
    }

    fn shifted_left(&self, by: u32) -> Natural {
        let mut limbs = vec![0; (by / 32) as usize];
        let mut carry = 0;
        for &limb in &self.0 {
            let wide = (u64::from(limb) << (by % 32)) | carry;
            limbs.push(wide as u32);
            carry = wide >> 32;
        }
        limbs.push(carry as u32);
        let mut shifted = Natural(limbs);
        shifted.trim();
        shifted
    }

    fn is_below(&self, other: &Natural) -> bool {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev())).is_lt()
    }

    /// Takes away what is not larger.
    fn subtract(&mut self, other: &Natural) {
        let mut borrow = 0_i64;
        for (limb, &b) in self.0.iter_mut().zip(other.0.iter().chain(std::iter::repeat(&0))) {
            let difference = i64::from(*limb) - i64::from(b) - borrow;
            borrow = i64::from(difference < 0);
            *limb = difference as u32;
        }
        self.trim();
    }

    /// The nearest number of 64 bits.
    fn rounded(&self) -> Extended {
        let bits = self.bits();
        let kept = bits.min(QUOTIENT_BITS);
        let dropped = bits - kept;
        let mut top = (0..kept).rev().fold(0_u128, |top, at| top << 1 | u128::from(self.bit(dropped + at)));
        top |= u128::from((0..dropped).any(|at| self.bit(at)));
        rounded(false, top, dropped as i32)
    }

    /// The nearest number of 64 bits to this one divided by another, which is not zero.
    fn divided(&self, divisor: &Natural) -> Extended {
        // The quotient gets one or two bits more than QUOTIENT_BITS, and then one for the rest.
        let shift = (divisor.bits() + QUOTIENT_BITS).saturating_sub(self.bits());
        let dividend = self.shifted_left(shift);
        let mut rest = Natural::default();
        let mut quotient = 0_u128;
        for at in (0..dividend.bits()).rev() {
            rest.multiply_add(2, u32::from(dividend.bit(at)));
            quotient <<= 1;
            if !rest.is_below(divisor) {
                rest.subtract(divisor);
                quotient |= 1;
            }
        }
        rounded(false, quotient << 1 | u128::from(!rest.is_zero()), -(shift as i32) - 1)
    }

    fn decimal(mut self) -> Vec<u8> {
        const CHUNK: u64 = 1_000_000_000;
        let mut digits = Vec::new();
        while !self.is_zero() {
            let mut rest = 0_u64;
            for limb in self.0.iter_mut().rev() {
                let wide = rest << 32 | u64::from(*limb);
                *limb = (wide / CHUNK) as u32;
                rest = wide % CHUNK;
            }
            self.trim();
            for _ in 0..9 {
                digits.push(b'0' + (rest % 10) as u8);
                rest /= 10;
            }
        }
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            digits.push(b'0');
        }
        digits.reverse();
        digits
    }
}

/// Enough for 64 bits of mantissa and the bits that decide on its rounding.
const QUOTIENT_BITS: u32 = 80;

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
