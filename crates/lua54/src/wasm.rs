//! What the C code of the wasm build asks of Rust: `snprintf` (`csrc/wasm/include/stdio.h`) and `strtod`.
//!
//! Safety, for all of them: Lua passes C strings that live through the call, and a buffer of the size that it
//! says.

use std::ffi::{CStr, c_char};

use crate::num;

#[unsafe(no_mangle)]
unsafe extern "C" fn strtod(text: *const c_char, end: *mut *const c_char) -> f64 {
    unsafe {
        let (value, len) = num::strtod(CStr::from_ptr(text).to_bytes());
        if !end.is_null() {
            *end = text.add(len);
        }
        value
    }
}

#[cfg(feature = "libraries")]
mod formats {
    //! Any format of Lua's, for `string.format`.

    use std::ffi::{CStr, c_char, c_int, c_void};
    use std::slice;

    use crate::printf::{self, Value};

    #[unsafe(no_mangle)]
    unsafe extern "C" fn lua54_format_f64(
        to: *mut u8,
        size: usize,
        format: *const c_char,
        value: f64,
    ) -> c_int {
        unsafe { snprintf(to, size, CStr::from_ptr(format), Value::Float(value)) }
    }

    #[unsafe(no_mangle)]
    unsafe extern "C" fn lua54_format_i64(
        to: *mut u8,
        size: usize,
        format: *const c_char,
        value: i64,
    ) -> c_int {
        unsafe { snprintf(to, size, CStr::from_ptr(format), Value::Integer(value)) }
    }

    /// For `%s` and `%p`: in C the type of a pointer does not tell them apart.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn lua54_format_text(
        to: *mut u8,
        size: usize,
        format: *const c_char,
        value: *const c_void,
    ) -> c_int {
        unsafe {
            let format = CStr::from_ptr(format);
            let value = match printf::conversion(format.to_bytes()) {
                Some(b's') => Value::Text(CStr::from_ptr(value.cast()).to_bytes()),
                _ => Value::Address(value.addr()),
            };
            snprintf(to, size, format, value)
        }
    }

    /// As C's: the text is cut to fit and ends in a zero byte; the answer is the length of all of it, or negative
    /// when the format is none. No format of Lua's is such.
    unsafe fn snprintf(to: *mut u8, size: usize, format: &CStr, value: Value) -> c_int {
        let Some(room) = size.checked_sub(1) else { return -1 };
        let out = unsafe { slice::from_raw_parts_mut(to, size) };
        let len = printf::format(&mut out[..room], format.to_bytes(), value);
        out[len.unwrap_or(0).min(room)] = 0;
        len.and_then(|len| c_int::try_from(len).ok()).unwrap_or(-1)
    }
}

#[cfg(not(feature = "libraries"))]
mod formats {
    //! The two formats that the core of Lua has.

    use std::ffi::{c_int, c_void};
    use std::fmt::Write;
    use std::slice;

    use crate::num::Conversion;
    use crate::num::write::write_magnitude;
    use crate::text::Text;

    /// Room for the longest: `-1.2345678901234e-308`.
    type Number = Text<24>;

    /// `%.14g`
    #[unsafe(no_mangle)]
    unsafe extern "C" fn lua54_print_f64(to: *mut u8, size: usize, value: f64) -> c_int {
        let mut text = Number::new();
        if value.is_sign_negative() {
            let _ = text.write_str("-");
        }
        let _ = write_magnitude(&mut text, value.abs(), Conversion::General, Some(14), false);
        unsafe { copy(to, size, text.as_bytes()) }
    }

    /// `%p`
    #[unsafe(no_mangle)]
    unsafe extern "C" fn lua54_print_address(to: *mut u8, size: usize, value: *const c_void) -> c_int {
        let mut text = Number::new();
        let _ = write!(text, "{:#x}", value.addr());
        unsafe { copy(to, size, text.as_bytes()) }
    }

    /// Lua's buffers hold more than the longest text and its zero byte; if one did not, it would be left empty.
    unsafe fn copy(to: *mut u8, size: usize, text: &[u8]) -> c_int {
        let out = unsafe { slice::from_raw_parts_mut(to, size) };
        let Some(out) = out.get_mut(..=text.len()) else { return 0 };
        out[..text.len()].copy_from_slice(text);
        out[text.len()] = 0;
        text.len() as c_int
    }
}
