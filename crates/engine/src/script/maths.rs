//! The math library of Lua 5.1, with Valkey's random numbers.

use std::ffi::c_int;

use super::random::Lrand48;
use super::vm::{Body, Call, Raise};

pub(super) const FUNCTIONS: &[(&str, Body)] = &[("floor", |call| one(call, f64::floor))];

pub(super) const MORE: &[(&str, Body)] = &[
    ("atan2", |call| two(call, f64::atan2)),
    ("ceil", |call| one(call, f64::ceil)),
    ("cosh", |call| one(call, f64::cosh)),
    // Not `to_degrees`, which multiplies.
    ("deg", |call| one(call, |x| x / (std::f64::consts::PI / 180.0))),
    ("fmod", |call| two(call, |x, y| x % y)),
    ("frexp", frexp),
    ("ldexp", ldexp),
    ("log10", |call| one(call, f64::log10)),
    ("max", |call| extreme(call, |x, best| x > best)),
    ("min", |call| extreme(call, |x, best| x < best)),
    ("mod", |call| two(call, |x, y| x % y)),
    ("pow", |call| two(call, f64::powf)),
    ("random", random),
    ("randomseed", randomseed),
    ("sinh", |call| one(call, f64::sinh)),
    ("tanh", |call| one(call, f64::tanh)),
];

fn one(call: &Call, f: fn(f64) -> f64) -> Result<c_int, Raise> {
    let x = call.check_number(1)?;
    call.push_number(f(x));
    Ok(1)
}

fn two(call: &Call, f: fn(f64, f64) -> f64) -> Result<c_int, Raise> {
    let (x, y) = (call.check_number(1)?, call.check_number(2)?);
    call.push_number(f(x, y));
    Ok(1)
}

/// `x = m 2^e` with 0.5 <= |m| < 1.
fn frexp(call: &Call) -> Result<c_int, Raise> {
    let x = call.check_number(1)?;
    let (mantissa, exponent) = split(x);
    call.push_number(mantissa);
    call.push_number(f64::from(exponent));
    Ok(2)
}

fn split(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // A subnormal has no leading bit; 2^54 gives it one.
    let (x, shift) = if x.is_subnormal() { (x * 18_014_398_509_481_984.0, 54) } else { (x, 0) };
    let bits = x.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0) - 1022;
    (f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52)), exponent - shift)
}

fn ldexp(call: &Call) -> Result<c_int, Raise> {
    let x = call.check_number(1)?;
    let exponent = check_int(call, 2)?.clamp(-5000, 5000);
    call.push_number(scale(x, exponent));
    Ok(1)
}

/// In steps whose factors are exact, so that the result is rounded once at most.
fn scale(mut x: f64, mut exponent: i32) -> f64 {
    while exponent > 1000 {
        x *= 2.0_f64.powi(1000);
        exponent -= 1000;
    }
    while exponent < -900 {
        x *= 2.0_f64.powi(-900);
        exponent += 900;
    }
    x * 2.0_f64.powi(exponent)
}

fn random(call: &Call) -> Result<c_int, Raise> {
    let draw = call.shared().state.borrow_mut().scripts.random.draw();
    // Never 1: the largest draw counts as 0.
    let r = f64::from(draw % Lrand48::MAX) / f64::from(Lrand48::MAX);
    let value = match call.top() {
        0 => r,
        1 => {
            let high = check_int(call, 1)?;
            if high < 1 {
                return Err(Raise::argument(1, "interval is empty"));
            }
            (r * f64::from(high)).floor() + 1.0
        }
        2 => {
            let (low, high) = (check_int(call, 1)?, check_int(call, 2)?);
            if low > high {
                return Err(Raise::argument(2, "interval is empty"));
            }
            let width = high.wrapping_sub(low).wrapping_add(1);
            (r * f64::from(width)).floor() + f64::from(low)
        }
        _ => return Err(Raise::text("wrong number of arguments")),
    };
    call.push_number(value);
    Ok(1)
}

fn randomseed(call: &Call) -> Result<c_int, Raise> {
    let seed = check_int(call, 1)?;
    call.shared().state.borrow_mut().scripts.random = Lrand48::new(seed);
    Ok(0)
}

/// 5.1 holds these in 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "as C's cast: the low 32 bits")]
fn check_int(call: &Call, at: c_int) -> Result<i32, Raise> {
    Ok(call.check_integer(at)? as i32)
}

/// The first of the arguments for which `goes_before` holds against all others.
fn extreme(call: &Call, goes_before: fn(f64, f64) -> bool) -> Result<c_int, Raise> {
    let mut best = call.check_number(1)?;
    for at in 2..=call.top() {
        let x = call.check_number(at)?;
        if goes_before(x, best) {
            best = x;
        }
    }
    call.push_number(best);
    Ok(1)
}
