//! Numbers as text, read and written as Valkey does.

use super::shortest::digits;

/// An integer in the one form that Valkey takes for one: no plus, no leading zero, no space, no `-0`.
pub(crate) fn parse_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] => return (!negative).then_some(0),
        [b'1'..=b'9', ..] => {}
        _ => return None,
    }
    let mut n: i64 = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        let digit = i64::from(digit - b'0');
        // Counted downwards, for the least integer has no positive counterpart.
        n = n.checked_mul(10)?.checked_sub(digit)?;
    }
    if negative { Some(n) } else { n.checked_neg() }
}

/// The bytes of `n` in decimal.
pub(crate) fn integer_text(n: i64) -> Vec<u8> {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = n.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if n < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    digits[at..].to_vec()
}

/// A double as the commands take it: decimal or infinite, no space around it, not NaN. What is too large or too
/// small for a double is refused.
pub(crate) fn parse_float(text: &[u8]) -> Option<f64> {
    let x = parse_decimal(text)?;
    let digits = text.split(|byte| byte.eq_ignore_ascii_case(&b'e')).next().unwrap_or_default();
    let out_of_range = (x.is_infinite() && digits.iter().any(u8::is_ascii_digit))
        || (x == 0.0 && digits.iter().any(|digit| (b'1'..=b'9').contains(digit)));
    (!x.is_nan() && !out_of_range).then_some(x)
}

/// The whole of `text` as a decimal number, or one of `inf`, `infinity` and `nan` in whatever case; rounded to the
/// nearest double. Lua's reader does it, which a script needs anyway, without the spaces and the hexadecimal numbers
/// that it would take.
pub(crate) fn parse_decimal(text: &[u8]) -> Option<f64> {
    let is_foreign = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'\x0b' | b'x' | b'X' | b'(');
    if text.is_empty() || text.iter().any(is_foreign) {
        return None;
    }
    let (x, taken) = lua54::num::strtod(text);
    (taken == text.len()).then_some(x)
}

/// As C's strtod reads a hexadecimal number, the whole of `text`.
pub(crate) fn parse_hexadecimal(text: &[u8]) -> Option<f64> {
    let is_one = text.iter().any(|byte| matches!(byte, b'x' | b'X')) && !text.first()?.is_ascii_whitespace();
    let (x, taken) = lua54::num::strtod(text);
    (is_one && taken == text.len() && x.is_finite()).then_some(x)
}

/// Integers up to here print without an exponent, for they surely fit 64 bits.
const PLAIN_INTEGERS: f64 = (i64::MAX / 2) as f64;

/// A double as Valkey prints scores: the shortest digits that read back as the same number; an exponent only
/// where the plain form would be long.
pub(crate) fn score_text(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if x == 0.0 && x.is_sign_negative() {
        return "-0".to_owned();
    }
    if x.abs() <= PLAIN_INTEGERS && x.trunc() == x {
        return String::from_utf8(integer_text(x as i64)).unwrap_or_default();
    }
    shortest_text(x)
}

/// The shortest digits of `x`, which is finite and not 0, laid out by Valkey's rules, integer or not.
pub(crate) fn shortest_text(x: f64) -> String {
    let (digits, last) = digits(x.abs());
    let mut text = String::new();
    if x < 0.0 {
        text.push('-');
    }
    place_point(&mut text, std::str::from_utf8(&digits).unwrap_or_default(), last);
    text
}

/// Appends `digits`, of which the last one stands for ten to the `last`, with a decimal point or an exponent.
fn place_point(text: &mut String, digits: &str, last: i32) {
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let exponent = last + count - 1;
    let zeros = |text: &mut String, n: i32| (0..n).for_each(|_| text.push('0'));
    if last >= 0 && exponent < count + 7 {
        text.push_str(digits);
        zeros(text, last);
    } else if last < 0 && (last > -7 || exponent.abs() < 4) {
        let (whole, fraction) = digits.split_at(usize::try_from(exponent + 1).unwrap_or(0));
        text.push_str(if whole.is_empty() { "0" } else { whole });
        text.push('.');
        zeros(text, -exponent - 1);
        text.push_str(fraction);
    } else {
        let (first, rest) = digits.split_at(1);
        text.push_str(first);
        if !rest.is_empty() {
            text.push('.');
            text.push_str(rest);
        }
        text.push('e');
        text.push(if exponent < 0 { '-' } else { '+' });
        text.push_str(&exponent.unsigned_abs().to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_one_form() {
        for text in ["0", "-1", "42", "9223372036854775807", "-9223372036854775808"] {
            let n = parse_integer(text.as_bytes()).map(integer_text);
            assert_eq!(n.as_deref(), Some(text.as_bytes()));
        }
        for text in ["", "-", "-0", "+1", "01", " 1", "1 ", "1.0", "9223372036854775808", "1e3"] {
            assert_eq!(parse_integer(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn decimal_numbers_are_read_whole() {
        for (text, x) in
            [("1", 1.0), ("-1.5", -1.5), ("+.5", 0.5), ("5.", 5.0), ("1e3", 1e3), ("INF", f64::INFINITY)]
        {
            assert_eq!(parse_decimal(text.as_bytes()), Some(x), "{text}");
        }
        for text in ["", ".", "-", "1e", " 1", "1 ", "\x0b1", "0x10", "1f", "1\0", "nan(1)", "infinit"] {
            assert_eq!(parse_decimal(text.as_bytes()), None, "{text:?}");
        }
    }

    /// The texts are those of a 9.1.2 server.
    #[test]
    fn scores_print_as_the_server_prints_them() {
        let cases = [
            (3.0, "3"),
            (1.5, "1.5"),
            (1e20, "1e+20"),
            (1e8, "100000000"),
            (12345678901234567890.0, "12345678901234567000"),
            (1e17, "100000000000000000"),
            (-0.0, "-0"),
            (1e-7, "1e-7"),
            (1e-6, "0.000001"),
            (1e15, "1000000000000000"),
            (9007199254740993.0, "9007199254740992"),
            (f64::NEG_INFINITY, "-inf"),
            (-4.35, "-4.35"),
        ];
        for (x, text) in cases {
            assert_eq!(score_text(x), text);
        }
    }
}
