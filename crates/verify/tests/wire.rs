//! `RespWire` against real servers, and its reader against another implementation of the protocol.
//!
//! The server may be somebody's (`VALKEY_URL`), so every key begins with `emq-verify:` and is removed or expires.

use std::time::{Duration, Instant};

use echomq_core::{Reply, Wire};
use emq_verify::resp::{Address, RespWire, Target, read_reply};
use emq_verify::server::{Options, Server};
use proptest::prelude::*;
use redis_protocol::resp2;
use redis_protocol::resp2::types::OwnedFrame;

/// Runs `test` on every server.
fn on_each(test: impl Fn(&Server, &mut RespWire)) {
    let servers = Server::all().unwrap();
    assert!(!servers.is_empty());
    for server in servers {
        let mut wire = server.connect().unwrap();
        test(&server, &mut wire);
    }
}

fn call(wire: &mut RespWire, line: &str) -> Reply {
    let argv: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    wire.call(&argv).unwrap()
}

fn eval(wire: &mut RespWire, script: &str) -> Reply {
    wire.call(&[b"EVAL", script.as_bytes(), b"0"]).unwrap()
}

#[test]
fn arguments_and_values_are_any_bytes() {
    on_each(|_, wire| {
        let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        assert_eq!(wire.call(&[b"SET", b"emq-verify:k\0\r\n", &all]).unwrap(), Reply::OK);
        assert_eq!(wire.call(&[b"GET", b"emq-verify:k\0\r\n"]).unwrap(), Reply::Bulk(all));
        assert_eq!(wire.call(&[b"DEL", b"emq-verify:k\0\r\n"]).unwrap(), Reply::Integer(1));
        assert_eq!(wire.call(&[b"ECHO", b""]).unwrap(), Reply::bulk(""));
    });
}

#[test]
fn refusals_are_replies_and_the_connection_goes_on() {
    on_each(|_, wire| {
        let refused = call(wire, "NOSUCH a");
        assert_eq!(refused, Reply::error("ERR unknown command 'NOSUCH', with args beginning with: 'a' "));
        let stale = eval(wire, "return redis.error_reply('EMQSTALE complete token mismatch')");
        assert_eq!(stale, Reply::error("EMQSTALE complete token mismatch"));
        assert_eq!(stale.error_class(), Some(b"EMQSTALE".as_slice()));
        assert_eq!(call(wire, "PING"), Reply::status("PONG"));
    });
}

#[test]
fn the_two_nulls_stay_apart() {
    on_each(|_, wire| {
        assert_eq!(call(wire, "GET emq-verify:absent"), Reply::Nil);
        assert_eq!(call(wire, "LPOP emq-verify:absent 1"), Reply::NilArray);
        let nested = eval(wire, "return {1, {false, {}}, 'x'}");
        let inner = Reply::Array(vec![Reply::Nil, Reply::Array(vec![])]);
        assert_eq!(nested, Reply::Array(vec![Reply::Integer(1), inner, Reply::bulk("x")]));
        let replies = wire.pipeline([
            [b"MULTI".as_slice()].as_slice(),
            &[b"LPOP", b"emq-verify:absent", b"1"],
            &[b"GET", b"emq-verify:absent"],
            &[b"EXEC"],
        ]);
        assert_eq!(replies.unwrap()[3], Reply::Array(vec![Reply::NilArray, Reply::Nil]));
    });
}

#[test]
fn resp3_types_arrive_as_they_are() {
    on_each(|_, wire| {
        assert!(matches!(call(wire, "HELLO 3"), Reply::Map(_)));
        assert_eq!(call(wire, "GET emq-verify:absent"), Reply::Nil);
        assert_eq!(call(wire, "LPOP emq-verify:absent 1"), Reply::Nil);
        assert!(matches!(call(wire, "INFO server"), Reply::Verbatim { format: [b't', b'x', b't'], .. }));
        let scripts = [
            ("{double = 0.1}", Reply::Double(0.1)),
            ("{big_number = '12345678901234567890'}", Reply::BigNumber(b"12345678901234567890".to_vec())),
            ("{set = {[{1}] = true}}", { Reply::Set(vec![Reply::Array(vec![Reply::Integer(1)])]) }),
            ("{map = {a = {verbatim_string = {string = 'x', format = 'abc'}}}}", {
                let text = Reply::Verbatim { format: *b"abc", text: b"x".to_vec() };
                Reply::Map(vec![(Reply::bulk("a"), text)])
            }),
            ("true", Reply::Boolean(true)),
            ("false", Reply::Boolean(false)),
        ];
        for (value, expected) in scripts {
            assert_eq!(eval(wire, &format!("redis.setresp(3) return {value}")), expected, "{value}");
        }
        // Valkey keeps the fields of a small hash in the order in which they came.
        assert_eq!(call(wire, "HSET emq-verify:h b 1 a 2 c 3"), Reply::Integer(3));
        let pair = |field: &str, value: &str| (Reply::bulk(field), Reply::bulk(value));
        let expected = Reply::Map(vec![pair("b", "1"), pair("a", "2"), pair("c", "3")]);
        assert_eq!(call(wire, "HGETALL emq-verify:h"), expected);
        assert_eq!(call(wire, "DEL emq-verify:h"), Reply::Integer(1));
    });
}

#[test]
fn a_pipeline_answers_in_order() {
    on_each(|_, wire| {
        let numbers: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
        let commands: Vec<[&[u8]; 2]> = numbers.iter().map(|n| [b"ECHO".as_slice(), n.as_bytes()]).collect();
        let replies = wire.pipeline(commands.iter().map(<[&[u8]; 2]>::as_slice)).unwrap();
        let expected: Vec<Reply> = numbers.iter().map(|n| Reply::bulk(n.as_str())).collect();
        assert_eq!(replies, expected);
    });
}

#[test]
fn time_passes_on_the_servers_clock() {
    on_each(|_, wire| {
        let by = Duration::from_millis(40);
        let started = Instant::now();
        // A key is there through its last millisecond: it expires when the clock says more than its deadline.
        assert_eq!(call(wire, "SET emq-verify:leased 1 PX 39"), Reply::OK);
        wire.pass(by).unwrap();
        assert!(started.elapsed() >= by);
        assert_eq!(call(wire, "GET emq-verify:leased"), Reply::Nil);
    });
}

#[test]
fn a_missed_reply_ends_the_connection() {
    on_each(|server, wire| {
        wire.set_timeout(Duration::from_millis(50)).unwrap();
        let error = wire.call(&[b"BLPOP", b"emq-verify:absent", b"1"]).unwrap_err().to_string();
        assert!(error.contains("did not answer within 50 ms"), "{error}");
        let error = wire.call(&[b"PING"]).unwrap_err().to_string();
        assert!(error.starts_with("connection unusable since: "), "{error}");

        let mut wire = server.connect().unwrap();
        assert_eq!(call(&mut wire, "QUIT"), Reply::OK);
        let error = wire.call(&[b"PING"]).unwrap_err().to_string();
        assert!(error.contains(&server.target().to_string()), "{error}");
    });
}

#[test]
fn inline_commands_and_pushes() {
    on_each(|server, wire| {
        wire.send_raw(b"PING hello\r\n").unwrap();
        assert_eq!(wire.receive().unwrap(), Reply::bulk("hello"));

        assert!(matches!(call(wire, "HELLO 3"), Reply::Map(_)));
        assert!(matches!(call(wire, "SUBSCRIBE emq-verify"), Reply::Push(_)));
        let mut other = server.connect().unwrap();
        assert_eq!(call(&mut other, "PUBLISH emq-verify m"), Reply::Integer(1));
        let parts = ["message", "emq-verify", "m"].map(Reply::bulk);
        assert_eq!(wire.receive().unwrap(), Reply::Push(parts.to_vec()));
    });
}

#[test]
fn logins_and_databases() {
    let binaries = Server::binaries().unwrap();
    for binary in binaries {
        let options = Options::default().set("user", "ann on >p@ss ~* &* +@all");
        let server = Server::start_with(&binary, &options).unwrap();
        let Address::Tcp { host, port } = &server.target().address else { panic!("over TCP") };
        let connect = |login: &str, database: &str| {
            let target: Target = format!("redis://{login}{host}:{port}/{database}").parse().unwrap();
            RespWire::connect(&target)
        };
        let mut wire = connect("ann:p%40ss@", "3").unwrap();
        assert_eq!(call(&mut wire, "ACL WHOAMI"), Reply::bulk("ann"));
        let client = call(&mut wire, "CLIENT INFO").to_string();
        assert!(client.contains(" db=3 "), "{client}");

        let error = connect("ann:wrong@", "").unwrap_err().to_string();
        assert!(error.contains("wants a login or refuses it (") && error.contains("WRONGPASS"), "{error}");
        assert_eq!(call(&mut wire, "CONFIG SET requirepass hush"), Reply::OK);
        let error = Server::attach(server.target()).unwrap_err().to_string();
        assert!(error.contains("wants a login or refuses it (") && error.contains("NOAUTH"), "{error}");
        assert!(connect(":hush@", "").is_ok());
        let error = connect(":hush@", "99").unwrap_err().to_string();
        assert!(error.contains("/99 has no such database ("), "{error}");
    }
}

#[test]
fn nobody_there_is_said_so() {
    let error = RespWire::connect(&Target::tcp("127.0.0.1", 1)).unwrap_err().to_string();
    assert!(error.starts_with("nothing answers at redis://127.0.0.1:1 ("), "{error}");
    let error = RespWire::connect(&Target::unix("/nowhere/s")).unwrap_err().to_string();
    assert!(error.starts_with("nothing answers at unix:///nowhere/s ("), "{error}");
}

fn frame() -> impl Strategy<Value = OwnedFrame> {
    let line = "[ -~]{0,40}";
    let leaf = prop_oneof![
        line.prop_map(|text| OwnedFrame::SimpleString(text.into_bytes())),
        line.prop_map(OwnedFrame::Error),
        any::<i64>().prop_map(OwnedFrame::Integer),
        prop::collection::vec(any::<u8>(), 0..200).prop_map(OwnedFrame::BulkString),
        Just(OwnedFrame::Null),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| prop::collection::vec(inner, 0..8).prop_map(OwnedFrame::Array))
}

fn expected(frame: &OwnedFrame) -> Reply {
    match frame {
        OwnedFrame::SimpleString(text) => Reply::Status(text.clone().into()),
        OwnedFrame::Error(text) => Reply::Error(text.clone().into_bytes()),
        OwnedFrame::Integer(n) => Reply::Integer(*n),
        OwnedFrame::BulkString(bytes) => Reply::Bulk(bytes.clone()),
        OwnedFrame::Array(items) => Reply::Array(items.iter().map(expected).collect()),
        OwnedFrame::Null => Reply::Nil,
    }
}

proptest! {
    #[test]
    fn reads_what_redis_protocol_writes(frame in frame()) {
        let mut bytes = vec![0; 64 * 1024];
        let length = resp2::encode::encode(&mut bytes, &frame, false).unwrap();
        let mut from = &bytes[..length];
        prop_assert_eq!(read_reply(&mut from).unwrap(), expected(&frame));
        prop_assert!(from.is_empty());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_reply(&mut bytes.as_slice());
    }
}
