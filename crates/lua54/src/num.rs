//! Text of doubles as C has it: `strtod`, and what `printf` makes of `%g`, `%e`, `%f` and `%a`.
//!
//! In wasm this is the number text of Lua itself; natively Lua uses the C library of the host, and the tests
//! hold the two to the same bytes. On every target it is here for those who have to print as Valkey does:
//! `%.14g` is how its Lua prints a number, `%.17g` how it writes a double that must come back unchanged.
//!
//! Rust's own `str::parse` and `{:.13e}` round as correctly, with tables that would weigh as much in a page as the
//! engine's commands; [`exact`] has none.

mod exact;
mod read;
pub(crate) mod write;

pub use read::strtod;
pub use write::{Conversion, MAX_PRECISION, fmt, g14, g17};

/// Bits of a double's mantissa behind its point.
const FRACTION_BITS: u32 = 52;

/// `value / 2^dropped`, to the nearest integer, a tie to the even one. `dropped` is 1 to 64.
fn round_half_even(value: u64, dropped: u32) -> u64 {
    let value = u128::from(value);
    let (quotient, rest, half) = (value >> dropped, value & ((1 << dropped) - 1), 1 << (dropped - 1));
    (quotient as u64) + u64::from(rest > half || rest == half && quotient & 1 == 1)
}
