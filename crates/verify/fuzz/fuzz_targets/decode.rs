//! The decoders that a script can call: any bytes become values or an error, and what was decoded is encoded and
//! decoded to as much again. (The order of keys in a table depends on how it came about.)

#![no_main]

use std::cell::RefCell;

use echomq_engine::{Config, Engine, Session};
use libfuzzer_sys::fuzz_target;

const SCRIPT: &[u8] = b"
local function twice(decode, encode, text)
  local ok, value = pcall(decode, text)
  if not ok then return end
  local done, first = pcall(encode, value)
  if not done then return end
  local again = encode(decode(first))
  if #again ~= #first then error('not the same: ' .. first .. ' and ' .. again) end
end
twice(cjson.decode, cjson.encode, ARGV[1])
twice(cmsgpack.unpack, cmsgpack.pack, ARGV[1])
pcall(cmsgpack.unpack_limit, ARGV[1], 3)
for _, format in ipairs({'bHiL', '>s', '<dfx', 'c0', '!4bi8', ARGV[2]}) do
  pcall(struct.unpack, format, ARGV[1])
end
return 'decoded'";

thread_local! {
    static ENGINE: RefCell<(Engine, Session)> = RefCell::new({
        let mut engine = Engine::new(Config::default());
        let session = engine.session();
        (engine, session)
    });
}

fuzz_target!(|bytes: &[u8]| {
    let format = bytes.get(..bytes.len().min(6)).unwrap_or_default();
    ENGINE.with_borrow_mut(|(engine, session)| {
        let reply = engine.call(session, &[b"EVAL", SCRIPT, b"0", bytes, format]);
        if let Ok(reply) = reply {
            assert_eq!(reply.to_string(), "\"decoded\"");
        }
    });
});
