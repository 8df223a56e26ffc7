//! The reader of replies: any bytes are a reply or an error, and never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Ok(reply) = emq_verify::resp::read_reply(&mut rest) {
        let _ = reply.to_string();
    }
});
