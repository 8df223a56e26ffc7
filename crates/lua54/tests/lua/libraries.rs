//! Which libraries there are, and what they do for a script; what is printed goes nowhere here.

use lua54::mlua::{Lua, LuaOptions, StdLib, Table};
use wasm_bindgen_test::wasm_bindgen_test;

#[track_caller]
fn check(script: &str, expected: &str) {
    let actual: String = Lua::new().load(script).eval().unwrap();
    assert_eq!(actual, expected, "{script}");
}

#[wasm_bindgen_test(unsupported = test)]
fn it_is_lua_5_4() {
    check("return _VERSION", "Lua 5.4");
}

#[wasm_bindgen_test(unsupported = test)]
fn libraries_that_reach_out_of_a_script_are_empty() {
    let lua = Lua::new();
    for name in ["io", "os", "utf8"] {
        assert!(lua.globals().get::<Table>(name).unwrap().is_empty(), "{name}");
    }
    check("return type(require) .. type(package.loadlib) .. #package.searchers", "nilfunction0");
    check(
        "return select(2, pcall(function() return os.time() end)):match('attempt.*')",
        "attempt to call a nil value (field 'time')",
    );
}

#[wasm_bindgen_test(unsupported = test)]
fn the_libraries_of_a_script_are_whole() {
    let libs = StdLib::STRING | StdLib::TABLE | StdLib::MATH | StdLib::COROUTINE;
    let lua = Lua::new_with(libs, LuaOptions::default()).unwrap();
    let script = "
        local names = {}
        for _, lib in ipairs({'string', 'table', 'math', 'coroutine', '_G'}) do
          local n = 0
          for _ in pairs(_G[lib]) do n = n + 1 end
          names[#names + 1] = lib .. ' ' .. n
        end
        return table.concat(names, ', ')";
    assert_eq!(lua.load(script).eval::<String>().unwrap(), "string 17, table 7, math 35, coroutine 8, _G 29");
}

#[wasm_bindgen_test(unsupported = test)]
fn strings_and_patterns() {
    check("return ('k=v, a=b'):gsub('(%w+)=(%w+)', '%2=%1')", "v=k, b=a");
    check("return ('emq:{q}:job:'):match('^emq:{(.-)}:(%a+):$')", "q");
    check("return table.concat({('a,b,,c'):find(',,', 1, true)}, ' ')", "4 5");
    check(
        "local t = {} for w in ('one two'):gmatch('%a+') do t[#t + 1] = w:upper() end return table.concat(t, '-')",
        "ONE-TWO",
    );
    check("return ('x'):rep(3, ',') .. ('abc'):reverse() .. ('\\0z'):byte() .. #'\\0z'", "x,x,xcba02");
    check("return ('%d items, %s'):format(3, true) .. ('%q'):format('a\\n\"')", "3 items, true\"a\\\n\\\"\"");
    check("return string.format('%5s|%-5s|%.2s|%c%c', 'a', 'b', 'cde', 72, 105)", "    a|b    |cd|Hi");
    check("return (('%p'):format(print):gsub('0x%x+', 'address'))", "address");
    check("return (tostring(print):gsub('0x%x+', 'address'))", "function: address");
    check(
        "return tostring('a' < 'b') .. tostring('a' < 'B') .. tostring('\\xff' > 'a') .. tostring('a\\0b' < 'a\\0c')",
        "truefalsetruetrue",
    );
    check(
        "return (string.pack('>I4d', 1, 0.5):gsub('.', function(c) return ('%02x'):format(c:byte()) end))",
        "000000013fe0000000000000",
    );
}

#[wasm_bindgen_test(unsupported = test)]
fn character_classes_are_those_of_the_c_locale() {
    let script = "
        local out = {}
        for _, class in ipairs({'a', 'c', 'd', 'g', 'l', 'p', 's', 'u', 'w', 'x'}) do
          local n, sum = 0, 0
          for c = 0, 255 do
            if string.char(c):find('%' .. class) then n, sum = n + 1, sum + c end
          end
          out[#out + 1] = class .. n .. '/' .. sum
        end
        local changed = 0
        for c = 0, 255 do
          local s = string.char(c)
          if s:upper() ~= s or s:lower() ~= s then changed = changed + 1 end
        end
        return table.concat(out, ' ') .. ' ' .. changed";
    check(script, "a52/4862 c33/623 d10/525 g94/7473 l26/2847 p32/2086 s6/87 u26/2015 w62/5387 x22/1527 52");
}

#[wasm_bindgen_test(unsupported = test)]
fn files_cannot_be_read() {
    let lua = Lua::new();
    let answer: String = lua.load("return tostring(loadfile('/no/such/file.lua'))").eval().unwrap();
    assert_eq!(answer, "nil");
}
