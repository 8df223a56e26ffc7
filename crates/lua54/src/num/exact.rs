//! Binary and decimal, exactly: the digits of a double, and the double nearest to digits.
//!
//! Both go by plain long arithmetic, on numbers of a few hundred words at the worst and of two or three for everyday
//! ones. The standard library has faster ways with tables of powers, which are 20 KB of a page that reads and writes
//! few fractions.

use super::FRACTION_BITS;

/// A natural number, least word first, no zero word at the end.
struct Natural(Vec<u32>);

/// The largest power of ten in a word, and of five.
const TEN_9: u32 = 1_000_000_000;
const FIVE_13: u32 = 1_220_703_125;

impl Natural {
    fn new(mut value: u64) -> Natural {
        let mut words = Vec::new();
        while value != 0 {
            words.push(value as u32);
            value >>= 32;
        }
        Natural(words)
    }

    /// `self * factor + carry`
    fn multiply(&mut self, factor: u32, mut carry: u32) {
        for word in &mut self.0 {
            let product = u64::from(*word) * u64::from(factor) + u64::from(carry);
            *word = product as u32;
            carry = (product >> 32) as u32;
        }
        if carry != 0 {
            self.0.push(carry);
        }
    }

    /// `self * base^exponent`, where `most` is `base^step` and the largest power in a word.
    fn scale(&mut self, base: u32, (most, step): (u32, u32), exponent: u32) {
        for _ in 0..exponent / step {
            self.multiply(most, 0);
        }
        self.multiply(base.pow(exponent % step), 0);
    }

    /// Makes this `self / divisor` and gives the remainder.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0;
        for word in self.0.iter_mut().rev() {
            let value = u64::from(rest) << 32 | u64::from(*word);
            *word = (value / u64::from(divisor)) as u32;
            rest = (value % u64::from(divisor)) as u32;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        rest
    }

    /// `self * 2^bits`
    fn shift(&mut self, bits: u32) {
        self.multiply(1 << (bits % 32), 0);
        self.0.splice(0..0, std::iter::repeat_n(0, bits as usize / 32));
    }

    fn bits(&self) -> u32 {
        self.0.last().map_or(0, |last| self.0.len() as u32 * 32 - last.leading_zeros())
    }

    /// The upper bits as 62 of them or fewer, and how many are below. A one among those sets the last of the upper ones.
    fn top(&self) -> (u64, u32) {
        let dropped = self.bits().saturating_sub(62);
        let (first, shift) = (dropped as usize / 32, dropped % 32);
        let word = |at: usize| u128::from(self.0.get(at).copied().unwrap_or(0));
        let value = (word(first) | word(first + 1) << 32 | word(first + 2) << 64) >> shift;
        let is_inexact =
            self.0[..first].iter().any(|word| *word != 0) || word(first) & ((1 << shift) - 1) != 0;
        (value as u64 | u64::from(is_inexact), dropped)
    }
}

/// More digits than these decide nothing but whether they are zeros: the middle between two doubles has at most 767.
const MAX_DIGITS: usize = 800;

/// A number near `digits * 10^exponent`, as `value * 2^binary`: one that rounds to the same double as it. `digits` are
/// ASCII, and other bytes among them are passed over.
pub(super) fn to_binary(digits: &[u8], mut exponent: i64) -> (u64, i64) {
    let mut number = Natural(Vec::new());
    let (mut count, mut is_inexact) = (0, false);
    for digit in digits.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0') {
        if count < MAX_DIGITS {
            number.multiply(10, u32::from(digit));
            count += usize::from(!number.0.is_empty());
        } else {
            is_inexact |= digit != 0;
            exponent += 1;
        }
    }
    if number.0.is_empty() {
        return (0, 0);
    }
    // The first digit's weight: beyond these everything is infinite, or zero.
    let leading = exponent + count as i64;
    if leading > 310 {
        return (1, 2000);
    }
    if leading < -330 {
        return (1, -2000);
    }
    let mut binary = 0;
    if exponent >= 0 {
        number.scale(10, (TEN_9, 9), exponent as u32);
    } else {
        // Room for the quotient to have 64 bits: ten takes less than 10/3 of one.
        let power = -exponent as u32;
        let room = (power * 10 / 3 + 66).saturating_sub(number.bits());
        number.shift(room);
        binary = -i64::from(room);
        for _ in 0..power / 9 {
            is_inexact |= number.divide(TEN_9) != 0;
        }
        is_inexact |= number.divide(10_u32.pow(power % 9)) != 0;
    }
    // Nothing is dropped of a number that is exact only: of a quotient and of so many digits there are more bits.
    let (value, dropped) = number.top();
    (value | u64::from(is_inexact), binary + i64::from(dropped))
}

/// All decimal digits of a finite `x`, which has no sign, the first of them not zero, and how many stand before the
/// point. Zero has no digits.
pub(super) fn to_decimal(x: f64) -> (Vec<u8>, i32) {
    let fraction = x.to_bits() & ((1 << FRACTION_BITS) - 1);
    let biased = (x.to_bits() >> FRACTION_BITS) as i32;
    let mantissa = if biased == 0 { fraction } else { fraction | 1 << FRACTION_BITS };
    let zeros = mantissa.trailing_zeros() % 64;
    let exponent = biased.max(1) - 1075 + zeros as i32;
    let mut number = Natural::new(mantissa >> zeros);
    // m / 2^k is m 5^k / 10^k.
    let places = exponent.min(0).unsigned_abs();
    number.scale(5, (FIVE_13, 13), places);
    number.shift(exponent.max(0).unsigned_abs());
    let mut digits = Vec::new();
    while !number.0.is_empty() {
        let mut part = number.divide(TEN_9);
        for _ in 0..9 {
            digits.push(b'0' + (part % 10) as u8);
            part /= 10;
        }
    }
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    digits.reverse();
    let point = digits.len() as i32 - places as i32;
    (digits, point)
}

/// Rounds to the first `kept` digits, a tie to an even one; missing ones become zeros. Whether it carried: then the
/// point is one further right, and there are still `kept` digits, or one when `kept` is zero.
pub(super) fn round(digits: &mut Vec<u8>, kept: usize) -> bool {
    if kept >= digits.len() {
        digits.resize(kept, b'0');
        return false;
    }
    let half = digits[kept].cmp(&b'5').then_with(|| {
        let rest = digits[kept + 1..].iter().any(|digit| *digit != b'0');
        if rest { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Equal }
    });
    let is_odd = kept > 0 && digits[kept - 1] & 1 == 1;
    digits.truncate(kept);
    if half.is_lt() || half.is_eq() && !is_odd {
        return false;
    }
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return false;
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
    digits.truncate(kept.max(1));
    true
}
