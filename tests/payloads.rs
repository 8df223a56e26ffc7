//! What DUMP and FUNCTION DUMP hand out can be restored elsewhere: from the engine on every real server, and from there
//! on the engine, in the forms of each release.

use echomq_engine::{Config, Reply, Version};
use emq_verify::cases::{Clients, EngineClients, ServerClients};
use emq_verify::server::Server;

/// Fills a database with values of every type, small and large, that compress and that do not.
const FILL: &str = r"
local function text(n, seed)
  local t = {}
  for i = 1, n do seed = (seed * 75 + 74) % 65537 t[i] = string.char(seed % 256) end
  return table.concat(t)
end
for i = 0, 60 do
  local n = i * i * 3
  redis.call('SET', 'random' .. i, text(n, i))
  redis.call('SET', 'same' .. i, string.rep('ab', n))
  redis.call('SET', 'words' .. i, string.rep('some words ', i) .. text(i, 5) .. string.rep('some words ', i))
  redis.call('SET', 'power' .. i, string.format('%.0f', 2 ^ i))
  redis.call('SET', 'minus' .. i, string.format('%.0f', -2 ^ i))
  for _, at in ipairs{i, i * 7, i * 11} do
    redis.call('RPUSH', 'list' .. at, text(at, at), at, 'x')
    redis.call('HSET', 'hash' .. i, text(at, at) .. at, at - 100)
    redis.call('SADD', 'set' .. i, text(at, at), at - 100)
    redis.call('SADD', 'integers' .. i, 2 ^ (i / 2) - at)
    redis.call('ZADD', 'zset' .. i, (at - 100) / 8, text(at, at), 'inf', at)
  end
end
for i = 1, 700 do
  redis.call('RPUSH', 'long', i % 9, string.rep('z', i))
  redis.call('HSET', 'wide', 'field' .. i, i)
  redis.call('SADD', 'many', 'member' .. i)
  redis.call('SADD', 'numbers', i)
  redis.call('ZADD', 'scores', i / 3, 'member' .. i)
end
redis.call('RPUSH', 'huge', 'a', string.rep('y', 20000), 'b')
";

/// All that a key holds, in an order that is the same everywhere.
const SHOW: &str = r"
local key, kind = KEYS[1], redis.call('TYPE', KEYS[1]).ok
local all = ({string = {'GET', key}, list = {'LRANGE', key, 0, -1}, hash = {'HGETALL', key},
  set = {'SMEMBERS', key}, zset = {'ZRANGE', key, 0, -1, 'WITHSCORES'}})[kind]
all = redis.call(unpack(all))
if kind == 'set' then table.sort(all) end
if kind == 'hash' then
  local pairs = {}
  for i = 1, #all, 2 do pairs[#pairs + 1] = all[i] .. '=' .. all[i + 1] end
  table.sort(pairs)
  all = pairs
end
return {kind, all}
";

fn call(clients: &mut dyn Clients, argv: &[&[u8]]) -> Reply {
    let reply = clients.call(0, argv).unwrap();
    assert!(!reply.is_error(), "{reply} from {} {:?}", clients.version(), argv.first());
    reply
}

fn clear(clients: &mut dyn Clients) {
    call(clients, &[b"FLUSHALL"]);
    call(clients, &[b"FUNCTION", b"FLUSH"]);
}

fn bulk(reply: Reply) -> Vec<u8> {
    match reply {
        Reply::Bulk(bytes) => bytes,
        other => panic!("{other} is no string"),
    }
}

/// Every key of `from` goes to `to`; how many there were.
#[track_caller]
fn copy(from: &mut dyn Clients, to: &mut dyn Clients) -> usize {
    clear(from);
    clear(to);
    call(from, &[b"EVAL", FILL.as_bytes(), b"0"]);
    let Reply::Array(keys) = call(from, &[b"KEYS", b"*"]) else { panic!("no keys") };
    for key in &keys {
        let key = bulk(key.clone());
        let payload = bulk(call(from, &[b"DUMP", &key]));
        call(to, &[b"RESTORE", &key, b"0", &payload]);
        let shown = |clients: &mut dyn Clients| call(clients, &[b"EVAL", SHOW.as_bytes(), b"1", &key]);
        let (ours, theirs) = (shown(&mut *from), shown(&mut *to));
        assert!(ours == theirs, "{} is not the same on both", String::from_utf8_lossy(&key));
        // A server's strings remember how they were made.
        if call(from, &[b"TYPE", &key]) != Reply::Status(b"string".into()) {
            let encoding = |clients: &mut dyn Clients| call(clients, &[b"OBJECT", b"ENCODING", &key]);
            assert_eq!(encoding(&mut *from), encoding(&mut *to), "{}", String::from_utf8_lossy(&key));
        }
    }
    let library = b"#!lua name=one\nredis.register_function('answer', function() return 42 end)";
    call(from, &[b"FUNCTION", b"LOAD", library]);
    let payload = bulk(call(from, &[b"FUNCTION", b"DUMP"]));
    call(to, &[b"FUNCTION", b"RESTORE", &payload]);
    assert_eq!(call(to, &[b"FCALL", b"answer", b"0"]), Reply::Integer(42));
    keys.len()
}

#[test]
fn payloads_go_from_the_engine_to_every_server_and_back() {
    for server in Server::all().unwrap() {
        let version = if server.version().starts_with("8.") { Version::V8_0 } else { Version::V9_1 };
        let mut server = ServerClients::new(server);
        let mut engine = EngineClients::new(Config { version, ..Config::default() });
        let there = copy(&mut engine, &mut server);
        let back = copy(&mut server, &mut engine);
        assert!(there > 400 && back == there, "{there} keys there, {back} back");
    }
}
