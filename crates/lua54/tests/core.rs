//! What is there whichever features are: a state on the C API, the core of Lua, `string.find`.
//!
//! In wasm without the features it prints numbers by other functions, so this wants `--no-default-features` too.

use lua54::{Error, State, ffi};
use wasm_bindgen_test::wasm_bindgen_test;

/// What the C function tostring makes of the value of `source`.
fn evaluate(state: &State, source: &str) -> Result<String, Error> {
    let lua = state.as_ptr();
    let (start, len) = (source.as_ptr().cast(), source.len());
    let mut text: (*const u8, usize) = (std::ptr::null(), 0);
    // SAFETY: loading protects itself; the rest is protected, holds nothing to drop, and leaves the text in the registry.
    unsafe {
        match ffi::luaL_loadbufferx(lua, start, len, c"=test".as_ptr(), c"t".as_ptr()) {
            ffi::LUA_OK => state.protected(1, |lua| {
                ffi::lua_call(lua, 0, 1);
                text.0 = ffi::luaL_tolstring(lua, -1, &raw mut text.1).cast();
                ffi::lua_setfield(lua, ffi::LUA_REGISTRYINDEX, c"text".as_ptr());
            })?,
            status => return Err(state.take_error(status)),
        }
        Ok(String::from_utf8_lossy(std::slice::from_raw_parts(text.0, text.1)).into_owned())
    }
}

#[track_caller]
fn check(source: &str, expected: &str) {
    let state = State::new().unwrap();
    assert_eq!(evaluate(&state, &format!("return {source}")).as_deref(), Ok(expected), "{source}");
}

#[wasm_bindgen_test(unsupported = test)]
fn numbers_are_read_and_printed() {
    check("10 / 2", "5");
    check("0.1", "0.1");
    check("-1 / 3", "-0.33333333333333");
    check("2 ^ 53", "9.007199254741e+15");
    check("1e-310", "1e-310");
    check("-1.7976931348623157e308", "-1.7976931348623e+308");
    check("1e400", "inf");
    check("-0.0", "-0");
    check("'10' + '0x10'", "26");
    check("1700000000123 .. ' ' .. 7 % 4", "1700000000123 3");
}

#[wasm_bindgen_test(unsupported = test)]
fn patterns_are_found() {
    check("string.find('JOB01', '^JOB[0-9]+$')", "1");
    check("(string.find('a.b', '.', 2, true))", "2");
    check("string.find('abc', 'd')", "nil");
}

#[wasm_bindgen_test(unsupported = test)]
fn what_has_no_text_prints_its_address() {
    let state = State::new().unwrap();
    let text = evaluate(&state, "return {}").unwrap();
    assert!(text.strip_prefix("table: 0x").is_some_and(|address| !address.is_empty()), "{text}");
}

#[wasm_bindgen_test(unsupported = test)]
fn an_error_is_its_text() {
    let state = State::new().unwrap();
    let error = evaluate(&state, "local x = nil\nreturn x.y").unwrap_err();
    assert_eq!(error.status, ffi::LUA_ERRRUN);
    assert_eq!(error.to_string(), "test:2: attempt to index a nil value (local 'x')");
    assert_eq!(evaluate(&state, "x =").unwrap_err().status, ffi::LUA_ERRSYNTAX);
    assert_eq!(evaluate(&state, "return 1").as_deref(), Ok("1"));
}

#[wasm_bindgen_test(unsupported = test)]
fn memory_ends_where_the_limit_is() {
    let state = State::new().unwrap();
    state.set_memory_limit(1 << 20);
    let error = evaluate(&state, "local t = {} for i = 1, 1e9 do t[i] = i end").unwrap_err();
    assert_eq!(error.status, ffi::LUA_ERRMEM);
    assert!(state.used_memory() <= 1 << 20);
    assert_eq!(evaluate(&state, "return 1").as_deref(), Ok("1"));
}
