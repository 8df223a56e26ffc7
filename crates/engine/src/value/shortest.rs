//! The decimal digits of a double, as Valkey prints scores: Grisu2 (Florian Loitsch, "Printing Floating-Point
//! Numbers Quickly and Accurately with Integers", 2010).
//!
//! The digits always read back as the same number. They are the fewest that do in all but some 0.3 % of cases,
//! where one digit more comes out; Valkey's readers see those, so an algorithm that is always right would differ.
//! The paper's table of powers of ten is not stored: a power is computed when it is needed, which for everyday
//! numbers is a few multiplications.

use super::extended::power_of_ten;

/// A significand of 64 bits times a power of two.
#[derive(Clone, Copy, Debug)]
struct Scaled {
    significand: u64,
    exponent: i32,
}

const FRACTION_BITS: i32 = 52;
const HIDDEN_BIT: u64 = 1 << FRACTION_BITS;
const BIAS: i32 = 1023 + FRACTION_BITS;

/// The powers of ten to scale by are these: every eighth from the first on.
const FIRST_POWER: i32 = -348;
const POWER_STEP: i32 = 8;

/// The exponents of two that a scaled number may have, for its digits to be taken from 64 bits.
const SCALED_EXPONENTS: std::ops::RangeInclusive<i32> = -60..=-32;

/// The digits of a positive finite number, and the power of ten of the last one.
pub(crate) fn digits(x: f64) -> (Vec<u8>, i32) {
    let bits = x.to_bits();
    let fraction = bits & (HIDDEN_BIT - 1);
    let biased = ((bits >> FRACTION_BITS) & 0x7ff) as i32;
    let number = if biased == 0 {
        Scaled { significand: fraction, exponent: 1 - BIAS }
    } else {
        Scaled { significand: fraction | HIDDEN_BIT, exponent: biased - BIAS }
    };

    // The middles between the number and its neighbours; the one below a power of two is nearer.
    let upper =
        Scaled { significand: number.significand * 2 + 1, exponent: number.exponent - 1 }.normalized();
    let lower_shift = if number.significand == HIDDEN_BIT { 2 } else { 1 };
    let lower_exponent = number.exponent - lower_shift;
    let lower = Scaled {
        significand: ((number.significand << lower_shift) - 1) << (lower_exponent - upper.exponent),
        exponent: upper.exponent,
    };

    let (power, decimal_exponent) = scaling_power(upper.exponent);
    let number = number.normalized().times(power);
    let (upper, lower) = (upper.times(power), lower.times(power));
    // Each product may be off by one: the interval is taken smaller, to be on the safe side.
    let (upper_end, lower_end) = (upper.significand - 1, lower.significand + 1);
    let (digits, last) = generate(
        upper_end,
        upper_end.wrapping_sub(number.significand),
        upper_end.wrapping_sub(lower_end),
        upper.exponent.unsigned_abs(),
    );
    (digits, last - decimal_exponent)
}

impl Scaled {
    fn normalized(self) -> Scaled {
        let shift = self.significand.leading_zeros();
        Scaled { significand: self.significand << shift, exponent: self.exponent - shift as i32 }
    }

    /// The upper half of the product, rounded.
    fn times(self, other: Scaled) -> Scaled {
        let product = u128::from(self.significand) * u128::from(other.significand);
        let significand = ((product + (1 << 63)) >> 64) as u64;
        Scaled { significand, exponent: self.exponent + other.exponent + 64 }
    }
}

/// A power of ten that brings a number with this exponent of two into [`SCALED_EXPONENTS`], and its exponent.
fn scaling_power(exponent: i32) -> (Scaled, i32) {
    const POWERS: i32 = 87;
    const LOG10_2: f64 = 0.301_029_995_663_981_14;
    let estimate = (f64::from(-(exponent + POWERS)) * LOG10_2) as i32;
    let mut decimal = FIRST_POWER + (estimate - FIRST_POWER) / POWER_STEP * POWER_STEP;
    loop {
        let (significand, power_exponent) = power_of_ten(decimal);
        let scaled = exponent + power_exponent + 64;
        if scaled < *SCALED_EXPONENTS.start() {
            decimal += POWER_STEP;
        } else if scaled > *SCALED_EXPONENTS.end() {
            decimal -= POWER_STEP;
        } else {
            return (Scaled { significand, exponent: power_exponent }, decimal);
        }
    }
}

/// The digits of a number below `upper` by `distance`, as few as stay within `width` of it. The point is `point`
/// bits from the right. Also the power of ten of the last digit.
fn generate(upper: u64, mut distance: u64, mut width: u64, point: u32) -> (Vec<u8>, i32) {
    let one = 1_u64 << point;
    let mut whole = upper >> point;
    let mut fraction = upper & (one - 1);
    let mut digits = Vec::with_capacity(18);

    let mut unit = 1_000_000_000_u64;
    for power in (0..10).rev() {
        let digit = whole / unit;
        if digit > 0 || !digits.is_empty() {
            digits.push(b'0' + digit as u8);
        }
        whole -= digit * unit;
        let rest = (whole << point) + fraction;
        if rest <= width {
            round(&mut digits, rest, distance, width, unit << point);
            return (digits, power);
        }
        unit /= 10;
    }

    let mut power = 0;
    loop {
        fraction *= 10;
        width = width.wrapping_mul(10);
        distance = distance.wrapping_mul(10);
        power -= 1;
        let digit = fraction >> point;
        if digit > 0 || !digits.is_empty() {
            digits.push(b'0' + digit as u8);
        }
        fraction &= one - 1;
        if fraction < width {
            round(&mut digits, fraction, distance, width, one);
            return (digits, power);
        }
    }
}

/// Lowers the last digit while that brings the digits, which are below the upper end by `rest`, nearer to the
/// number.
fn round(digits: &mut [u8], mut rest: u64, distance: u64, width: u64, unit: u64) {
    let Some(last) = digits.last_mut() else { return };
    while rest < distance
        && width - rest >= unit
        && (rest + unit < distance || distance - rest > rest + unit - distance)
    {
        *last -= 1;
        rest += unit;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::digits;

    fn text(x: f64) -> String {
        let (digits, last) = digits(x);
        format!("{}e{last}", String::from_utf8(digits).unwrap())
    }

    /// Taken from a 9.1.2 server, with cases where a shorter text would do.
    #[test]
    fn digits_are_the_servers() {
        assert_eq!(text(1.5), "15e-1");
        assert_eq!(text(0.1), "1e-1");
        assert_eq!(text(5e-324), "5e-324");
        assert_eq!(text(f64::MAX), "17976931348623157e292");
        assert_eq!(text(37296865894.95541), "37296865894955406e-6");
        assert_eq!(text(73081600.658055), "7308160065805499e-8");
    }

    proptest! {
        #[test]
        fn digits_read_back_as_the_number(bits in 1..0x7ff0_0000_0000_0000_u64) {
            let x = f64::from_bits(bits);
            prop_assert_eq!(text(x).parse::<f64>().unwrap(), x);
        }
    }
}
