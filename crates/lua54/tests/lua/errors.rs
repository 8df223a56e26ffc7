//! Errors: Lua's longjmp, which in wasm is an exception, through frames of Lua, C and Rust, and back.

use std::cell::Cell;
use std::rc::Rc;

use lua54::mlua::{Error, Function, Lua, Result, Table, Value};
use wasm_bindgen_test::wasm_bindgen_test;

#[track_caller]
fn check(script: &str, expected: &str) {
    let actual: String = Lua::new().load(script).set_name("=script").eval().unwrap();
    assert_eq!(actual, expected, "{script}");
}

#[wasm_bindgen_test(unsupported = test)]
fn pcall_catches_what_error_throws() {
    check("local ok, e = pcall(error, 'oops', 0) return tostring(ok) .. e", "falseoops");
    check(
        "local ok, e = pcall(function() local x = nil; return x.y end) return e",
        "script:1: attempt to index a nil value (local 'x')",
    );
    check("return select('#', pcall(error)) .. tostring(select(2, pcall(error)))", "2nil");
    check(
        "return tostring(pcall(pcall, error, 'x')) .. tostring(select(2, pcall(pcall, error, 'x')))",
        "truefalse",
    );
    check("return select(2, xpcall(error, function(e) return 'handled ' .. e end, 'x'))", "handled x");
    check("return select(2, xpcall(error, error, 'x'))", "error in error handling");
    check(
        "return select(2, pcall(string.rep))",
        "bad argument #1 to 'string.rep' (string expected, got no value)",
    );
    check("return select(2, load('x ='))", "[string \"x =\"]:1: unexpected symbol near <eof>");
}

#[wasm_bindgen_test(unsupported = test)]
fn an_error_that_is_a_table_arrives_as_that_table() {
    check(
        "local e = {err = 'A'} local ok, got = pcall(error, e) return tostring(got == e) .. got.err",
        "trueA",
    );
    check(
        "local ok, e = pcall(error, setmetatable({}, {__tostring = function() return 'T' end})) return tostring(e)",
        "T",
    );
    check(
        "local co = coroutine.create(function() error({err = 'B'}) end) local ok, e = coroutine.resume(co) return e.err",
        "B",
    );
    check("local ok, e = pcall(coroutine.wrap(function() error({err = 'C'}) end)) return e.err", "C");
}

#[wasm_bindgen_test(unsupported = test)]
fn to_be_closed_variables_are_closed_on_the_way_out() {
    check(
        "local log = ''
        local function closing(name) return setmetatable({}, {__close = function(_, e) log = log .. name .. e .. ' ' end}) end
        pcall(function() local a <close> = closing('a'); local b <close> = closing('b'); error('x', 0) end)
        return log",
        "bx ax ",
    );
}

#[wasm_bindgen_test(unsupported = test)]
fn an_error_ends_a_script_with_its_text() {
    let lua = Lua::new();
    let error = lua.load("\n  error('EMQSTALE late')").set_name("=script").exec().unwrap_err();
    assert!(
        matches!(&error, Error::RuntimeError(text) if text.starts_with("script:2: EMQSTALE late\n")),
        "{error:?}"
    );
    let error = lua.load("return 1 +").set_name("=script").exec().unwrap_err();
    let Error::SyntaxError { message, .. } = &error else { panic!("{error:?}") };
    assert_eq!(message, "script:1: unexpected symbol near <eof>");
    assert_eq!(lua.load("return 1").eval::<i32>().unwrap(), 1);
}

#[wasm_bindgen_test(unsupported = test)]
fn an_error_of_a_rust_function_is_caught_by_lua() {
    let lua = Lua::new();
    let fail = lua.create_function(|_, text: String| -> Result<()> { Err(Error::runtime(text)) }).unwrap();
    lua.globals().set("fail", fail).unwrap();
    let script = "local ok, e = pcall(fail, 'from Rust') return tostring(ok) .. type(e) .. tostring(e)";
    let text: String = lua.load(script).eval().unwrap();
    assert!(text.starts_with("falseuserdataruntime error: from Rust\n"), "{text}");
    let error = lua.load("fail('uncaught')").exec().unwrap_err();
    let Error::CallbackError { cause, .. } = &error else { panic!("{error:?}") };
    assert!(matches!(&**cause, Error::RuntimeError(text) if text == "uncaught"), "{error:?}");
}

/// Lua calls Rust calls Lua, twenty deep; the innermost error passes through all of them, and every
/// destructor runs.
#[wasm_bindgen_test(unsupported = test)]
fn an_error_passes_through_nested_frames_of_lua_and_rust() {
    struct Counted(Rc<Cell<u32>>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    let lua = Lua::new();
    let dropped = Rc::new(Cell::new(0));
    let count = Rc::clone(&dropped);
    let descend = lua.create_function(move |lua, depth: u32| -> Result<u32> {
        let _counted = Counted(Rc::clone(&count));
        if depth == 0 {
            return Err(Error::runtime("the bottom"));
        }
        lua.globals().get::<Function>("step")?.call(depth - 1)
    });
    lua.globals().set("descend", descend.unwrap()).unwrap();
    lua.load("function step(depth) return descend(depth) end").exec().unwrap();
    let text: String = lua.load("return tostring(select(2, pcall(descend, 20)))").eval().unwrap();
    assert!(text.contains("the bottom"), "{text}");
    assert_eq!(dropped.get(), 21);
}

/// Each level catches what the one below throws, and throws another one.
#[wasm_bindgen_test(unsupported = test)]
fn pcalls_nest_through_lua_and_rust() {
    let lua = Lua::new();
    let through = lua.create_function(|_, f: Function| f.call::<String>(())).unwrap();
    lua.globals().set("through", through).unwrap();
    let script = "
        local function level(n)
          if n == 0 then error('0', 0) end
          local ok, e = pcall(through, function() return level(n - 1) end)
          error(n .. '<' .. tostring(e):match('%d[%d<]*'), 0)
        end
        return select(2, pcall(level, 12))";
    let text: String = lua.load(script).eval().unwrap();
    assert_eq!(text, "12<11<10<9<8<7<6<5<4<3<2<1<0");
}

#[wasm_bindgen_test(unsupported = test)]
fn a_rust_function_sees_the_error_of_the_lua_function_it_calls() {
    let lua = Lua::new();
    let attempt = lua.create_function(|lua, f: Function| -> Result<Value> {
        let Err(Error::RuntimeError(text)) = f.call::<()>(()) else { return Ok(Value::Nil) };
        lua.create_string(text.lines().next().unwrap_or("")).map(Value::String)
    });
    lua.globals().set("attempt", attempt.unwrap()).unwrap();
    let text: String = lua.load("return attempt(function() error('seen', 0) end)").eval().unwrap();
    assert_eq!(text, "seen");
}

#[wasm_bindgen_test(unsupported = test)]
fn errors_inside_coroutines_stay_inside() {
    check(
        "local co = coroutine.create(function(a)
          local b = coroutine.yield(a + 1)
          local ok, e = pcall(function() coroutine.yield('in pcall') error('caught', 0) end)
          coroutine.yield(e)
          error('dead', 0)
        end)
        local out = {}
        for i = 1, 5 do out[#out + 1] = tostring(select(2, coroutine.resume(co, i))) end
        return table.concat(out, ' ') .. ' ' .. coroutine.status(co)",
        "2 in pcall caught dead cannot resume dead coroutine dead",
    );
}

/// Seven kinds of error, 1,500 times each. A leak of Lua's stack, of its memory or of wasm's shadow stack
/// would show or trap.
#[wasm_bindgen_test(unsupported = test)]
fn ten_thousand_errors_leave_nothing_behind() {
    let lua = Lua::new();
    let fail = lua.create_function(|_, ()| -> Result<()> { Err(Error::runtime("x")) }).unwrap();
    let through = lua.create_function(|_, f: Function| f.call::<()>(())).unwrap();
    let globals: Table = lua.globals();
    globals.set("fail", fail).unwrap();
    globals.set("through", through).unwrap();
    let kinds: Function = lua
        .load(
            "local kinds = {
              function() error('text') end,
              function() error({err = 'table'}) end,
              function() local x = nil; return x.y end,
              fail,
              function() through(function() error('inner') end) end,
              function() coroutine.wrap(function() error('co') end)() end,
              function() string.rep('x', -1, {}) end,
            }
            return function(times)
              for i = 1, times do
                for _, kind in ipairs(kinds) do assert(not pcall(kind)) end
              end
            end",
        )
        .eval()
        .unwrap();
    let memory_after = |times: u32| {
        kinds.call::<()>(times).unwrap();
        // Twice: the first collection only finalizes the userdata that mlua makes of a Rust error.
        lua.gc_collect().unwrap();
        lua.gc_collect().unwrap();
        lua.used_memory()
    };
    let before = memory_after(100);
    let after = memory_after(1500);
    assert!(after <= before + 1024, "{before} bytes became {after}");
    for _ in 0..1000 {
        lua.load("error('uncaught')").exec().unwrap_err();
    }
    lua.gc_collect().unwrap();
    lua.gc_collect().unwrap();
    assert!(lua.used_memory() <= before + 1024, "{before} bytes became {}", lua.used_memory());
}
