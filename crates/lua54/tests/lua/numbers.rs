//! Numbers: the arithmetic and text that Valkey's Lua shows, and the text of thousands of doubles against the
//! C library.
//!
//! The golden file holds a readable sample and, for all numbers, one digest per format and block. When a
//! digest differs, its number says which numbers to print.

use std::fmt::Write;

use lua54::mlua::{Function, Lua, LuaString, Value};
use lua54::num::{self, Conversion};
use wasm_bindgen_test::wasm_bindgen_test;

use crate::golden::check_golden;

#[track_caller]
fn check(script: &str, expected: &str) {
    let actual: String = Lua::new().load(format!("return {script}")).eval().unwrap();
    assert_eq!(actual, expected, "{script}");
}

/// Runs a file of tests/golden whose answer was recorded from Valkey.
#[track_caller]
fn check_recorded(script: &str, expected: &str) {
    let actual: String = Lua::new().load(script).eval().unwrap();
    let expected = expected.trim_end();
    for (place, (expected, actual)) in expected.split(' ').zip(actual.split(' ')).enumerate() {
        assert_eq!(actual, expected, "value {place}");
    }
    assert_eq!(actual, expected);
}

#[wasm_bindgen_test(unsupported = test)]
fn numbers_print_and_calculate_as_in_valkey() {
    let expected = include_str!("../golden/numbers-probe.expected");
    check_recorded(include_str!("../golden/numbers-probe.lua"), expected);
}

#[wasm_bindgen_test(unsupported = test)]
fn numbers_are_read_as_in_valkey() {
    let expected = include_str!("../golden/numerals-probe.expected");
    check_recorded(include_str!("../golden/numerals-probe.lua"), expected);
}

#[wasm_bindgen_test(unsupported = test)]
fn a_numeral_is_a_double_wherever_it_comes_from() {
    check("9223372036854775807 + 1 .. ''", "9.2233720368548e+18");
    check("'9223372036854775807' + 1 .. ''", "9.2233720368548e+18");
    check("tonumber('9223372036854775807') + 1 .. ''", "9.2233720368548e+18");
    check("0x7fffffffffffffff + 1 .. ''", "9.2233720368548e+18");
    check("math.type(1) .. math.type('1' + 1) .. math.type(tonumber('1'))", "floatfloatfloat");
}

#[wasm_bindgen_test(unsupported = test)]
fn an_integer_from_a_library_function_prints_as_a_double() {
    check("math.type(string.len('abc')) .. string.len('abc')", "integer3");
    check("math.type(#'abc') .. math.type(#{1, 2})", "floatfloat");
    check("tostring(math.maxinteger)", "9.2233720368548e+18");
    check("math.mininteger .. ''", "-9.2233720368548e+18");
    check("string.format('%s', math.tointeger(2^53))", "9.007199254741e+15");
    check("table.concat({math.tointeger(2^53)})", "9.007199254741e+15");
}

#[wasm_bindgen_test(unsupported = test)]
fn arithmetic_of_doubles() {
    check(
        "7 % -3 .. ' ' .. -7 % 3 .. ' ' .. -7.5 % 2 .. ' ' .. tostring(5.3 % math.huge == 5.3)",
        "-2 2 0.5 false",
    );
    check("2^0.5 .. ' ' .. 2^-1074 .. ' ' .. 2^1024", "1.4142135623731 4.9406564584125e-324 inf");
    check("1/0 .. ' ' .. -1/0 .. ' ' .. 0/-1", "inf -inf -0");
    check("math.floor(-0.5) .. ' ' .. math.ceil(1e15 + 0.5) .. ' ' .. math.fmod(-7, 3)", "-1 1e+15 -1");
    check(
        "tostring(0.1 + 0.2 == 0.3) .. tostring(0/0 == 0/0) .. tostring(2^53 == 2^53 + 1)",
        "falsefalsetrue",
    );
    check(
        "math.exp(0) .. ' ' .. math.log(8, 2) .. ' ' .. math.log(1000, 10) .. ' ' .. math.sin(0)",
        "1 3 3 0",
    );
    check("math.frexp(8) .. ' ' .. math.ldexp(0.5, 4) .. ' ' .. math.frexp(5e-324)", "0.5 8 0.5");
}

/// A fixed sequence of bits (xorshift64*), the same on every target.
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

const SPECIAL: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    0.5,
    1.5,
    2.5,
    9.5,
    1e-5,
    9.999_999_999_999_995e-5,
    99_999_999_999_999.5,
    123_456_789_012_345.0,
    1e15,
    1e21,
    1e22,
    9_007_199_254_740_993.0,
    1_700_000_000_123.0,
    5e-324,
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::EPSILON,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

/// Doubles of all kinds: the special ones, any bits, decimals of few digits, integers, and ties of rounding.
fn doubles() -> Vec<f64> {
    let mut bits = Bits(0x9e37_79b9_7f4a_7c15);
    let mut all = SPECIAL.to_vec();
    while all.len() < 4000 {
        let random = bits.next();
        all.push(match all.len() % 4 {
            0 => f64::from_bits(random),
            1 => (random >> 40) as f64 / 1000.0,
            2 => (random >> (random & 63)) as f64,
            _ => (random >> 44) as f64 * 2.0_f64.powi((random & 63) as i32 - 40),
        });
    }
    // A NaN has no digits, and its sign is the processor's choice.
    all.retain(|x| !x.is_nan());
    all
}

const FORMATS: [&str; 18] = [
    "%.14g",
    "%.17g",
    "%g",
    "%.3g",
    "%G",
    "%d",
    "%5.1f",
    "%f",
    "%.0f",
    "%.20f",
    "%e",
    "%.0e",
    "%.25e",
    "%a",
    "%.3a",
    "%x",
    "%+012.4g",
    "%-24.10g|",
];

const BLOCK: usize = 500;

#[wasm_bindgen_test(unsupported = test)]
fn numbers_are_written_as_the_c_library_writes_them() {
    let lua = Lua::new();
    let format: Function = lua.load("return string.format").eval().unwrap();
    let doubles = doubles();
    let mut golden = String::new();
    for template in FORMATS {
        let integral = matches!(template, "%d" | "%x");
        let write = |x: f64| -> String {
            // string.format wants a number that has an integer; 2^53 is far enough for the digits' sake.
            let x = if integral { (x % 9_007_199_254_740_992.0).trunc() } else { x };
            if integral && !x.is_finite() { String::new() } else { format.call((template, x)).unwrap() }
        };
        for x in &doubles[..60] {
            writeln!(golden, "{template} {:016x} {}", x.to_bits(), write(*x)).unwrap();
        }
        for (number, block) in doubles.chunks(BLOCK).enumerate() {
            writeln!(golden, "{template} block {number} {:016x}", digest(block.iter().map(|x| write(*x))))
                .unwrap();
        }
    }
    check_golden!("numbers-written.txt", &golden);
}

#[wasm_bindgen_test(unsupported = test)]
fn numbers_are_read_as_the_c_library_reads_them() {
    let lua = Lua::new();
    let tonumber: Function = lua.globals().get("tonumber").unwrap();
    let read = |text: &str| -> String {
        match tonumber.call(text).unwrap() {
            Value::Number(x) if x.is_nan() => "nan".to_owned(),
            Value::Number(x) => format!("{:016x}", x.to_bits()),
            Value::Nil => "nil".to_owned(),
            other => panic!("{text:?} gives a {}", other.type_name()),
        }
    };
    let mut golden = String::new();
    for text in TEXTS {
        writeln!(golden, "{text:?} {}", read(text)).unwrap();
    }
    for (number, block) in texts_of_doubles().chunks(BLOCK).enumerate() {
        writeln!(golden, "block {number} {:016x}", digest(block.iter().map(|text| read(text)))).unwrap();
    }
    check_golden!("numbers-read.txt", &golden);
}

/// Numerals at the borders of rounding, of range and of syntax; some are none.
const TEXTS: [&str; 66] = [
    "0",
    "-0",
    "+1",
    "  12  ",
    "\t1\n",
    "1.",
    ".5",
    "1.e2",
    "1e2",
    "1E+2",
    "1e-2",
    "1e",
    "1e+",
    "e5",
    ".",
    "-",
    "+-1",
    "",
    " ",
    "1 2",
    "1x",
    "1_000",
    "1,5",
    "0x",
    "0x10",
    "0X1p4",
    "0x.8",
    "0x8.",
    "0x1.8p1",
    "0x1p",
    "0x1p-1",
    "0xg",
    "-0x10",
    "0x1e2",
    "inf",
    "nan",
    "infinity",
    "0x1p1023",
    "0x1p1024",
    "0x1.fffffffffffff8p1023",
    "0x1.00000000000008p0",
    "0x1.000000000000080000000001p0",
    "0x1.00000000000018p0",
    "0x123456789abcdef0123456789",
    "1e308",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "1e309",
    "-1e309",
    "5e-324",
    "2.4703282292062327e-324",
    "2.4703282292062328e-324",
    "1e-400",
    "2.2250738585072011e-308",
    "2.2250738585072014e-308",
    "9007199254740993",
    "9007199254740992.5",
    "9007199254740993.0000000001",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "0.1000000000000000055511151231257827",
    "123456789012345678901234567890",
    "0.000000000000000000000000000001",
    "1e99999999999",
    "1e-99999999999",
];

/// Texts whose value has to be rounded: fewer digits than the double has, more, and shifted by an exponent.
fn texts_of_doubles() -> Vec<String> {
    let mut bits = Bits(0x0123_4567_89ab_cdef);
    let finite = doubles().into_iter().filter(|x| x.is_finite());
    finite
        .flat_map(|x| {
            let random = bits.next();
            [
                format!("{x:e}"),
                format!("{x:.15e}"),
                format!("{x:.30e}"),
                format!("{}.{}e{}", random >> 32, random & 0xffff_ffff, (random & 511) as i64 - 255),
                format!("0x{:x}.{:x}p{}", random >> 40, random, (random & 1023) as i64 - 511),
            ]
        })
        .collect()
}

/// FNV-1a over the texts, each ended by a zero byte.
fn digest(texts: impl Iterator<Item = String>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    texts.fold(0xcbf2_9ce4_8422_2325, |hash, text| step(text.bytes().fold(hash, step), 0))
}

#[wasm_bindgen_test(unsupported = test)]
fn the_num_module_agrees_with_lua() {
    let lua = Lua::new();
    let format: Function = lua.load("return string.format").eval().unwrap();
    let tonumber: Function = lua.globals().get("tonumber").unwrap();
    let cases = [
        ("%.14g", Conversion::General, Some(14)),
        ("%.17g", Conversion::General, Some(17)),
        ("%.3f", Conversion::Fixed, Some(3)),
        ("%e", Conversion::Exponent, None),
    ];
    for x in doubles() {
        for (template, conversion, precision) in cases {
            let text: LuaString = format.call((template, x)).unwrap();
            assert_eq!(num::fmt(x, conversion, precision).as_bytes(), &*text.as_bytes(), "{template} {x:e}");
        }
        let text = num::g17(x);
        assert_eq!(tonumber.call::<f64>(text.as_str()).unwrap().to_bits(), x.to_bits(), "{text}");
        let (read, len) = num::strtod(text.as_bytes());
        assert_eq!((read.to_bits(), len), (x.to_bits(), text.len()), "{text}");
        assert_eq!(num::g14(x), lua.load("return tostring(...)").call::<String>(x).unwrap());
    }
}
