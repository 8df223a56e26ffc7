//! What `lua/COMPATIBILITY.md` says that a script can tell: each difference is what it was, on the engine and on every
//! real server. A row that goes away must go away here and there.

use echomq_engine::Config;
use emq_verify::cases::{Clients, EngineClients, ServerClients};
use emq_verify::server::Server;

/// A script, what the engine answers, and what a server answers.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("return tostring(pcall(string.gsub, 'x', '(', ''))", r#""false""#, r#""true""#),
    ("local z = 0 return tostring(-0.0)", r#""-0""#, r#""0""#),
    (
        "return select(2, loadstring(string.dump(function() end)))",
        r#""[string \"\x1bLuaT\"]:1: unexpected symbol near 'char(27)'""#,
        r#""[string \"\x1bLuaQ\"]:1: unexpected symbol near 'char(27)'""#,
    ),
    (
        "return (select(2, loadstring(string.rep('local x ', 201))):gsub('^.*:1: ', ''))",
        r#""too many local variables (limit is 200) in main function near <eof>""#,
        r#""main function has more than 200 local variables""#,
    ),
    (
        "local s = 'return ' .. string.rep('(', 197) .. '1' .. string.rep(')', 197) return type(loadstring(s))",
        r#""nil""#,
        r#""function""#,
    ),
    (
        "local t = {} for k in pairs({a = 1, b = 2, c = 3, d = 4}) do t[#t + 1] = k end return table.concat(t)",
        r#""bcda""#,
        r#""adcb""#,
    ),
    (
        "return cjson.encode({a = 1, b = 2, c = 3, d = 4})",
        r#""{\"b\":2,\"c\":3,\"d\":4,\"a\":1}""#,
        r#""{\"a\":1,\"d\":4,\"c\":3,\"b\":2}""#,
    ),
    (
        "return cmsgpack.pack({a = 1, b = 2, c = 3, d = 4})",
        r#""\x84\xa1b\x02\xa1c\x03\xa1d\x04\xa1a\x01""#,
        r#""\x84\xa1a\x01\xa1d\x04\xa1c\x03\xa1b\x02""#,
    ),
    (
        "local t = {} for i = 1, 8 do t[i] = i end t[4] = nil t[8] = nil t[12] = 1 return #t",
        "(integer) 7",
        "(integer) 3",
    ),
    (
        "local start = os.clock() for i = 1, 1e6 do end return tostring(os.clock() > start)",
        r#""false""#,
        r#""true""#,
    ),
    (
        "collectgarbage('setpause', 100) return collectgarbage('setpause', 200)",
        "(integer) 200",
        "(integer) 100",
    ),
    (
        "local d = {} for i = 1, 1200 do d = {d} end cjson.encode_max_depth(5000) \
         local ok = pcall(cjson.encode, d) cjson.encode_max_depth(1000) return tostring(ok)",
        r#""false""#,
        r#""true""#,
    ),
    (
        "cjson.new().encode_max_depth(1) local ok = pcall(cjson.encode, {{}}) cjson.encode_max_depth(1000) \
         return tostring(ok)",
        r#""false""#,
        r#""true""#,
    ),
    ("return tostring(pcall(cmsgpack.unpack, string.rep('\\145', 250) .. '\\1'))", r#""false""#, r#""true""#),
];

/// Where releases differ the engine speaks as the newer one, but for what only the older one has.
const OF_8_0: &[(&str, &str, &str)] = &[
    (
        "local t = {} for _, name in ipairs({'getfenv', 'setfenv', 'newproxy', '__server__err__handler'}) do \
         t[#t + 1] = type(rawget(_G, name)) end return table.concat(t, ' ')",
        r#""nil nil nil function""#,
        r#""function function function nil""#,
    ),
    (
        "local _, e = pcall(function() getmetatable('').__index = string end) return e or 'changed'",
        r#""user_script:1: Attempt to modify a readonly table""#,
        r#""changed""#,
    ),
];

fn eval(clients: &mut dyn Clients, script: &str) -> String {
    clients.call(0, &[b"EVAL", script.as_bytes(), b"0"]).unwrap().to_string()
}

#[test]
fn what_scripts_can_tell_is_what_is_listed() {
    let mut engine = EngineClients::new(Config::default());
    for (script, expected, _) in DIFFERENCES.iter().chain(OF_8_0) {
        assert_eq!(eval(&mut engine, script), *expected, "{script}");
    }
    for server in Server::all().unwrap() {
        let is_8_0 = server.version().starts_with("8.");
        let mut server = ServerClients::new(server);
        for (script, _, expected) in DIFFERENCES {
            assert_eq!(eval(&mut server, script), *expected, "on {}: {script}", server.version());
        }
        for (script, as_9_1, as_8_0) in OF_8_0 {
            let expected = if is_8_0 { as_8_0 } else { as_9_1 };
            assert_eq!(eval(&mut server, script), *expected, "on {}: {script}", server.version());
        }
    }
}

/// Tables in replies: a server goes on for thousands of levels, which valkey-cli would print.
#[test]
fn a_deep_reply_ends_sooner_than_on_a_server() {
    let script = "local t = {} for i = 1, 300 do t = {t} end return t";
    let mut engine = EngineClients::new(Config::default());
    assert!(eval(&mut engine, script).ends_with("(error) ERR reached lua stack limit"));
    for server in Server::all().unwrap() {
        let mut server = ServerClients::new(server);
        assert!(eval(&mut server, script).ends_with("(empty array)"), "on {}", server.version());
    }
}
