//! Text to doubles, rounded correctly.

use super::{FRACTION_BITS, exact, round_half_even};

/// Reads the longest number at the start of `text`, as C's `strtod` does in the C locale: leading white
/// space, a sign, decimal or `0x` hexadecimal, `inf`, `infinity`, `nan`, `nan(1)`. Gives its value and how
/// many bytes it took; `(0.0, 0)` when there is none.
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

    /// Skips letters, digits and underscores in parentheses. C lets them choose among NaNs; here there is
    /// one.
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
    let mut count = scan.skip_digits();
    let mut places = 0;
    if scan.peek() == b'.' && (count > 0 || scan.peek_after(1).is_ascii_digit()) {
        scan.at += 1;
        places = scan.skip_digits();
        count += places;
    }
    if count == 0 {
        return None;
    }
    let digits = &scan.text[start..scan.at];
    let exponent = scan.skip_exponent(b'e') - i64::try_from(places).ok()?;
    Some(decimal(digits, exponent))
}

/// `digits * 10^exponent`, rounded once. A point among the digits says nothing.
fn decimal(digits: &[u8], exponent: i64) -> f64 {
    // Up to here a double holds all integers, and all powers of ten up to the 22nd.
    const WHOLE: u64 = 1 << (FRACTION_BITS + 1);
    let step = |value: u64, byte: &u8| match byte {
        b'0'..=b'9' => Some(value * 10 + u64::from(byte - b'0')).filter(|value| *value <= WHOLE),
        _ => Some(value),
    };
    match digits.iter().try_fold(0, step) {
        Some(value) if exponent.abs() <= 22 => {
            let power = (0..exponent.abs()).fold(1.0, |power, _| power * 10.0);
            if exponent < 0 { value as f64 / power } else { value as f64 * power }
        }
        _ => {
            let (value, binary) = exact::to_binary(digits, exponent);
            scaled(value, binary)
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{CString, c_char};

    unsafe extern "C" {
        #[link_name = "strtod"]
        fn c_strtod(text: *const c_char, end: *mut *mut c_char) -> f64;
    }

    /// How much of `text` is a number, and which: the answer of the C library.
    #[track_caller]
    fn check(text: &str) {
        let c_text = CString::new(text).unwrap();
        let mut end = std::ptr::null_mut();
        let value = unsafe { c_strtod(c_text.as_ptr(), &mut end) };
        let expected = (value, end.addr() - c_text.as_ptr().addr());
        let actual = strtod(text.as_bytes());
        let same = actual.0.to_bits() == expected.0.to_bits() || actual.0.is_nan() && expected.0.is_nan();
        assert!(same && actual.1 == expected.1, "{text:?}: {actual:?}, not {expected:?}");
    }

    #[test]
    fn strtod_reads_as_much_as_the_c_library() {
        for text in [
            "",
            " ",
            "x",
            "-",
            "+",
            "+-1",
            ".",
            "-.",
            ".e1",
            "e1",
            "1",
            "-1",
            " \t\n\x0b\x0c\r1",
            "1x",
            "1.",
            "1.x",
            ".5x",
            "1..2",
            "1e",
            "1e+",
            "1e-",
            "1ex",
            "1e5x",
            "1E-5",
            "1e+05",
            "00012",
            "-0",
            "0x",
            "0xg",
            "-0x.",
            "0x.p1",
            "0x1",
            "0X1.8P1",
            "0x1p",
            "0x1p+",
            "0x1p-1z",
            "0x.8",
            "0x8.",
            "0x1..2",
            "inf",
            "-inf",
            "INFINITY",
            "infinit",
            "infx",
            "nan",
            "-nan",
            "nan()",
            "nan(1_a)",
            "nan(",
            "nan(-)",
            "nanx",
            "in",
            "1e400",
            "-1e400",
            "1e-400",
            "1e99999999999999999999",
            "1_0",
            "1,5",
        ] {
            check(text);
        }
    }

    /// Where doubles are hard to tell apart, and where their range ends.
    #[test]
    fn decimal_is_rounded_once_and_to_even() {
        let middle = "2.4703282292062327208299439634110e-324";
        let ten_to_23 = "99999999999999991611392"; // between two doubles, in the middle
        for text in [
            middle,
            ten_to_23,
            "9007199254740991",
            "9007199254740993",
            "9007199254740993.0000000000000000000000000001",
            "1.7976931348623157e308",
            "1.7976931348623158079e308",
            "1.7976931348623159e308",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "4.9406564584124654e-324",
            "2.4703282292062328e-324",
            "1e23",
            "8.5e22",
            "1e-22",
            "1e310",
            "0e999999999999",
            "0.0000000000000000000000000000000001e35",
            "123456789012345678901234567890e-10",
        ] {
            check(text);
            check(&format!("{text}x"));
        }
        for zeros in [700, 766, 767, 799, 800, 801, 2000] {
            let zeros = "0".repeat(zeros);
            check(&format!("9007199254740993.{zeros}1"));
            check(&format!("9007199254740993{zeros}1e-{}", zeros.len() + 1));
            check(&format!("0.{zeros}1e{}", zeros.len()));
            check(&format!("1{zeros}e-{}", zeros.len()));
        }
    }

    /// Random texts, with as many digits as doubles have and with more.
    #[test]
    fn decimal_is_read_as_the_standard_library_reads_it() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 11 ^ seed << 31
        };
        for _ in 0..100_000 {
            let x = f64::from_bits(random());
            let digits = random() % 30;
            let texts = [
                format!("{x:e}"),
                format!("{x:.0$e}", digits as usize),
                format!("{}.{}e{}", random(), random(), digits as i64 - 15),
                format!("{}", random() as f64 / 1e6),
            ];
            for text in texts.iter().filter(|_| x.is_finite()) {
                let expected: f64 = text.parse().unwrap();
                let (actual, len) = strtod(text.as_bytes());
                assert_eq!((actual.to_bits(), len), (expected.to_bits(), text.len()), "{text}");
            }
        }
    }

    /// All short texts over the characters that matter.
    #[test]
    fn strtod_reads_every_short_text_as_the_c_library() {
        let alphabet = ['0', '1', '9', '.', '-', 'e', 'x', 'p', 'a', ' '];
        for number in 0..1_000_000_u32 {
            let mut rest = number;
            let mut text = String::new();
            for _ in 0..6 {
                text.push(alphabet[(rest % 10) as usize]);
                rest /= 10;
            }
            check(&text);
        }
    }

    /// Mantissas around each tie, at the borders of the range. Subnormal results are left out: glibc 2.36
    /// rounds some of them wrongly.
    #[test]
    fn hexadecimal_is_rounded_once_and_to_even() {
        for low in ["", "7", "8", "80000001", "7ffffffffff", "80000000000000000001"] {
            for last in ["0", "1", "2", "f"] {
                for exponent in ["", "p0", "p-1000", "p970", "p971", "p1023", "p1024", "p-1022"] {
                    check(&format!("0x1.00000000000{last}{low}{exponent}"));
                    check(&format!("0x1.fffffffffff{last}{low}{exponent}"));
                    check(&format!("-0x1fffffffffff{last}{low}{exponent}"));
                }
            }
        }
    }

    #[test]
    fn subnormal_hexadecimal_is_rounded_once_and_to_even() {
        let smallest = f64::from_bits(1);
        for (text, units) in [
            ("0x1p-1074", 1_u64),
            ("0x1p-1075", 0), // a tie with zero, which is even
            ("0x1.0000000000000001p-1075", 1),
            ("0x1.8p-1074", 2),
            ("0x2.8p-1074", 2),
            ("0x1p-1076", 0),
            ("0x1p-99999", 0),
            ("0x0.fffffffffffff8p-1022", 1 << 52), // carries into the normal numbers
            ("0x0.ffffffffffffe8p-1022", (1 << 52) - 2),
        ] {
            assert_eq!(strtod(text.as_bytes()), (units as f64 * smallest, text.len()), "{text}");
        }
    }
}
