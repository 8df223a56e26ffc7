//! Numbers among the arguments of `redis.call`, as Valkey writes them: an integer where the number is one, else the
//! shortest digits that read back as the same number, laid out by Valkey's own rules.

#[cfg(feature = "cjson")]
use lua54::num::{self, Conversion};

use crate::value::{integer_text, shortest_text};

/// Appends the text of `x`.
///
/// Integers count as such inside the range of 64 bits; 2^63 is a float already and ends in zeros therefore.
pub(super) fn write_argument(out: &mut Vec<u8>, x: f64) {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if x.trunc() == x && x.abs() < LIMIT {
        #[expect(clippy::cast_possible_truncation, reason = "whole, and in range")]
        let n = x as i64;
        out.extend_from_slice(&integer_text(n));
    } else {
        write_shortest(out, x);
    }
}

/// Appends `x` as C's `%.{precision}g` prints it.
#[cfg(feature = "cjson")]
pub(super) fn write_general(out: &mut Vec<u8>, x: f64, precision: usize) {
    if !x.is_finite() {
        return write_shortest(out, x);
    }
    out.extend_from_slice(num::fmt(x, Conversion::General, Some(precision)).as_bytes());
}

fn write_shortest(out: &mut Vec<u8>, x: f64) {
    if x.is_sign_negative() {
        out.push(b'-');
    }
    if x.is_nan() {
        out.extend_from_slice(b"nan");
        return;
    }
    if x.is_infinite() {
        out.extend_from_slice(b"inf");
        return;
    }
    out.extend_from_slice(shortest_text(x.abs()).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::write_argument;

    /// Texts recorded from `redis.call('SET', 'k', x)` and GET on Valkey 9.1.2.
    #[test]
    fn numbers_are_written_as_valkey_writes_them() {
        for (x, expected) in [
            (10.0 / 3.0, "3.3333333333333335"),
            (1e15, "1000000000000000"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (3.0, "3"),
            (-3.5, "-3.5"),
            (1e100, "1e+100"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (-0.0, "0"),
            (9_223_372_036_854_775_808.0, "9223372036854776000"),
            (-9_223_372_036_854_775_808.0, "-9223372036854776000"),
            (4_611_686_018_427_387_904.0, "4611686018427387904"),
            (1e17, "100000000000000000"),
            (123_456_789_012_345_678.0, "123456789012345680"),
            (0.1, "0.1"),
            (1e-5, "0.00001"),
        ] {
            let mut text = Vec::new();
            write_argument(&mut text, x);
            assert_eq!(String::from_utf8_lossy(&text), expected, "{x:e}");
        }
    }
}
