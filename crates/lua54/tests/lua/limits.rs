//! What a script may not do to its host: run for ever, take all memory, overflow a stack. Each ends in an
//! error, and the state works on.

use std::cell::Cell;
use std::rc::Rc;

use lua54::mlua::{Error, HookTriggers, Lua, VmState};
use wasm_bindgen_test::wasm_bindgen_test;

/// Stops every script of `lua` that takes more than `budget` steps, counted from now, for good. A step is a turn of a loop
/// or a call: see EDITS in build/source.rs.
///
/// The hook is global, because each coroutine would have one of its own. Once the budget is spent the hook
/// comes at every step: a pcall swallows an error of the hook, but then the first step after it throws
/// again, outside.
fn limit_steps(lua: &Lua, budget: u32) {
    const STEP: u32 = 1000;
    let left = Rc::new(Cell::new(budget));
    let stop = |_: &Lua| Err(Error::runtime("out of steps"));
    let hook = move |lua: &Lua| {
        left.set(left.get().saturating_sub(STEP));
        if left.get() > 0 {
            return Ok(VmState::Continue);
        }
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), move |lua, _| stop(lua))?;
        stop(lua)
    };
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(STEP), move |lua, _| hook(lua)).unwrap();
}

#[track_caller]
fn check_interrupted(script: &str) {
    let lua = Lua::new();
    for _ in 0..3 {
        limit_steps(&lua, 20_000);
        let error = lua.load(script).exec().unwrap_err();
        assert!(error.to_string().contains("out of steps"), "{script}: {error}");
        lua.remove_global_hook();
        assert_eq!(
            lua.load("local n = 0 for i = 1, 100 do n = n + i end return n").eval::<i32>().unwrap(),
            5050
        );
    }
}

#[wasm_bindgen_test(unsupported = test)]
fn an_endless_loop_is_interrupted() {
    check_interrupted("while true do end");
    check_interrupted("repeat local x = 1 until false");
    check_interrupted("::again:: goto again");
    check_interrupted("for i = 1, math.huge do end");
    check_interrupted("local function f() return f() end f()");
}

#[wasm_bindgen_test(unsupported = test)]
fn an_endless_loop_is_interrupted_even_if_it_swallows_errors() {
    check_interrupted("while true do pcall(function() while true do end end) end");
    check_interrupted("local function f() pcall(f) while true do end end while true do pcall(f) end");
    check_interrupted(
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
    );
    check_interrupted(
        "local t = setmetatable({}, {__index = function(t) while true do end end}) while true do pcall(function() return t.x end) end",
    );
}

/// In plain Lua the two run with hooks off.
#[wasm_bindgen_test(unsupported = test)]
fn an_endless_loop_is_interrupted_in_a_message_handler_and_in_no_finalizer() {
    check_interrupted("local function loop() while true do end end xpcall(loop, loop) loop()");
    check_interrupted("local function loop() while true do end end while true do xpcall(error, loop) end");
    check_interrupted("while true do setmetatable({}, {__gc = function() while true do end end}) end");
    let never_called = "
        local called = false
        setmetatable({}, {__gc = function() called = true end})
        collectgarbage()
        return called";
    assert!(!Lua::new().load(never_called).eval::<bool>().unwrap());
}

#[wasm_bindgen_test(unsupported = test)]
fn an_endless_loop_is_interrupted_inside_coroutines() {
    check_interrupted("coroutine.wrap(function() while true do end end)()");
    check_interrupted(
        "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
    );
    check_interrupted(
        "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do co() end",
    );
    check_interrupted(
        "while true do pcall(coroutine.wrap(function() while true do pcall(error) end end)) end",
    );
}

#[track_caller]
fn check_out_of_memory(script: &str) {
    let lua = Lua::new();
    lua.set_memory_limit(4 << 20).unwrap();
    for _ in 0..3 {
        let error = lua.load(script).exec().unwrap_err();
        assert!(matches!(error, Error::MemoryError(_)), "{script}: {error:?}");
        lua.gc_collect().unwrap();
        assert!(lua.used_memory() < 1 << 20, "{script} leaves {} bytes", lua.used_memory());
        assert_eq!(lua.load("return #string.rep('x', 100000)").eval::<usize>().unwrap(), 100_000);
    }
}

#[wasm_bindgen_test(unsupported = test)]
fn memory_is_limited() {
    check_out_of_memory("local s = 'x' while true do s = s .. s end");
    check_out_of_memory("local t = {} for i = 1, math.huge do t[i] = i end");
    check_out_of_memory("local t = {} for i = 1, math.huge do t['k' .. i] = {} end");
    check_out_of_memory("return string.rep('x', 1e8)");
    check_out_of_memory("return table.concat({string.rep('x', 3e6), string.rep('y', 3e6)})");
    check_out_of_memory("local t = {} while true do t[#t + 1] = coroutine.create(function() end) end");
}

#[wasm_bindgen_test(unsupported = test)]
fn lua_can_catch_that_memory_is_out() {
    let lua = Lua::new();
    lua.set_memory_limit(4 << 20).unwrap();
    let script = "local ok, e = pcall(string.rep, 'x', 1e8) return tostring(ok) .. ' ' .. tostring(e)";
    assert_eq!(lua.load(script).eval::<String>().unwrap(), "false not enough memory");
}

/// `script` is to fail with `expected` in its error, twice, and leave the state in order.
#[track_caller]
fn check_too_deep(script: &str, expected: &str) {
    let lua = Lua::new();
    let through = lua.create_function(|_, f: lua54::mlua::Function| f.call::<()>(f.clone()));
    lua.globals().set("through", through.unwrap()).unwrap();
    for _ in 0..2 {
        let error = lua.load(script).exec().unwrap_err().to_string();
        assert!(error.contains(expected), "{script}: {error}");
        assert_eq!(lua.load("return ('a'):rep(3)").eval::<String>().unwrap(), "aaa");
    }
}

#[wasm_bindgen_test(unsupported = test)]
fn deep_recursion_of_lua_functions_is_an_error() {
    check_too_deep("local function f() return 1 + f() end f()", "stack overflow");
    check_too_deep("local function f(...) return 1 + f(1, ...) end f()", "stack overflow");
    check_too_deep("return unpack and 1 or table.unpack({}, 1, 1e7)", "too many results to unpack");
}

#[wasm_bindgen_test(unsupported = test)]
fn deep_recursion_through_c_functions_is_an_error() {
    check_too_deep("local function f(s) return (s:gsub('.', f)) end f('x')", "stack overflow");
    check_too_deep("local function f() local ok, e = pcall(f) error(e, 0) end f()", "stack overflow");
    check_too_deep(
        "local t = {} setmetatable(t, {__index = function(t, k) return t[k + 1] end}) return t[1]",
        "stack overflow",
    );
    check_too_deep(
        "local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x",
        "'__index' chain too long",
    );
    check_too_deep(
        "local t t = setmetatable({}, {__tostring = function() return tostring(t) end}) tostring(t)",
        "stack overflow",
    );
    check_too_deep("local function f() table.sort({1, 2, 3}, f) end f()", "stack overflow");
    check_too_deep("local function f() coroutine.wrap(f)() end f()", "stack overflow");
}

#[wasm_bindgen_test(unsupported = test)]
fn deep_recursion_through_rust_functions_is_an_error() {
    check_too_deep("through(through)", "stack overflow");
    check_too_deep("local function f() through(f) end f()", "stack overflow");
    check_too_deep(
        "local function f() local ok, e = pcall(through, f) error(e, 0) end f()",
        "stack overflow",
    );
}

#[wasm_bindgen_test(unsupported = test)]
fn deep_nesting_in_the_parser_is_an_error() {
    let nested = |open: &str, times: usize| format!("assert(load(({open:?}):rep({times})))");
    check_too_deep(&nested("(", 100_000), "C stack overflow");
    check_too_deep(&nested("return {{", 1).replace("{{", &"{".repeat(100_000)), "C stack overflow");
    check_too_deep(&nested("return function() ", 100_000), "C stack overflow");
    check_too_deep(&nested("do ", 100_000), "C stack overflow");
    check_too_deep("assert(load('return ' .. ('-'):rep(99999, ' ') .. '1'))", "C stack overflow");
    check_too_deep("assert(load('return 1' .. (' .. 1'):rep(100000)))", "C stack overflow");
    check_too_deep("assert(load('local ' .. ('a,'):rep(300) .. 'a'))", "too many local variables");
}

#[wasm_bindgen_test(unsupported = test)]
fn deep_recursion_in_a_pattern_is_an_error() {
    check_too_deep("return ('a'):rep(300000):find(('a?'):rep(300000) .. 'b')", "pattern too complex");
    check_too_deep("return ('x'):rep(300000):match(('(x)'):rep(300000))", "too many captures");
    check_too_deep("return ('x'):find('[' .. ('x'):rep(300000))", "malformed pattern");
}
