//! Replies as Valkey writes them.

use echomq_engine::{Protocol, Reply};

/// Appends `reply` as a connection of this protocol is sent it.
pub fn write_reply(to: &mut Vec<u8>, reply: &Reply, protocol: Protocol) {
    match reply {
        Reply::Status(text) => line(to, b'+', text),
        Reply::Error(text) => line(to, b'-', text),
        Reply::Integer(number) => line(to, b':', number.to_string().as_bytes()),
        Reply::Bulk(bytes) => blob(to, b'$', bytes),
        Reply::Nil if protocol == Protocol::Resp3 => to.extend_from_slice(b"_\r\n"),
        Reply::NilArray if protocol == Protocol::Resp3 => to.extend_from_slice(b"_\r\n"),
        Reply::Nil => to.extend_from_slice(b"$-1\r\n"),
        Reply::NilArray => to.extend_from_slice(b"*-1\r\n"),
        Reply::Array(items) => aggregate(to, b'*', items, protocol),
        Reply::Set(items) => aggregate(to, b'~', items, protocol),
        Reply::Push(items) => aggregate(to, b'>', items, protocol),
        Reply::Map(pairs) => {
            line(to, b'%', pairs.len().to_string().as_bytes());
            for (key, value) in pairs {
                write_reply(to, key, protocol);
                write_reply(to, value, protocol);
            }
        }
        Reply::Double(number) => line(to, b',', echomq_engine::double_text(*number).as_bytes()),
        Reply::Boolean(true) => to.extend_from_slice(b"#t\r\n"),
        Reply::Boolean(false) => to.extend_from_slice(b"#f\r\n"),
        Reply::BigNumber(digits) => line(to, b'(', digits),
        Reply::Verbatim { format, text } => {
            let mut whole = format.to_vec();
            whole.push(b':');
            whole.extend_from_slice(text);
            blob(to, b'=', &whole);
        }
    }
}

fn line(to: &mut Vec<u8>, kind: u8, text: &[u8]) {
    to.push(kind);
    to.extend_from_slice(text);
    to.extend_from_slice(b"\r\n");
}

fn blob(to: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    line(to, kind, bytes.len().to_string().as_bytes());
    to.extend_from_slice(bytes);
    to.extend_from_slice(b"\r\n");
}

fn aggregate(to: &mut Vec<u8>, kind: u8, items: &[Reply], protocol: Protocol) {
    line(to, kind, items.len().to_string().as_bytes());
    for item in items {
        write_reply(to, item, protocol);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::read_reply;

    /// What is written is read back by the reader that reads a real server.
    #[test]
    fn the_reader_reads_what_is_written() {
        let leaves = vec![
            Reply::OK,
            Reply::error("ERR no"),
            Reply::Integer(-7),
            Reply::bulk("\r\n\0"),
            Reply::Double(0.1),
            Reply::Double(f64::INFINITY),
            Reply::Boolean(true),
            Reply::Boolean(false),
            Reply::BigNumber(b"123".to_vec()),
            Reply::Verbatim { format: *b"txt", text: b"a".to_vec() },
            Reply::Push(vec![Reply::Integer(1)]),
            Reply::Set(Vec::new()),
            Reply::Map(vec![(Reply::bulk("a"), Reply::Integer(1))]),
        ];
        for (protocol, nil) in [(Protocol::Resp2, Reply::NilArray), (Protocol::Resp3, Reply::Nil)] {
            let mut items = leaves.clone();
            items.extend([Reply::Nil, nil]);
            let reply = Reply::Array(items);
            let mut bytes = Vec::new();
            write_reply(&mut bytes, &reply, protocol);
            let mut from = bytes.as_slice();
            assert_eq!(read_reply(&mut from).unwrap(), reply);
            assert!(from.is_empty());
        }
    }
}
