//! The server's protocol, byte by byte: on the engine's server and on a real one of the same release.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::time::Duration;

use bytes::BytesMut;
use echomq_engine::Version;
use emq_verify::resp::{Address, Target};
use emq_verify::serve::{Options, Requests, Server as Served};
use emq_verify::server::Server;
use proptest::prelude::*;
use redis_protocol::resp2;
use redis_protocol::resp2::types::OwnedFrame;
use tokio_util::codec::Decoder;

fn serve() -> Served {
    let options = Options { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 0, version: Version::V9_1 };
    Served::start(&options).unwrap()
}

/// Sends bytes, then the end of the stream or nothing more, and returns all that comes until the server closes.
fn ask(target: &Target, bytes: &[u8]) -> Vec<u8> {
    let Address::Tcp { host, port } = &target.address else { panic!("over TCP") };
    let mut stream = TcpStream::connect((host.as_str(), *port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    // A server that closes with our bytes unread resets the connection; what it said before has arrived.
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn what_is_no_request_is_refused_in_the_servers_words() {
    let engine = serve();
    let servers = Server::all().unwrap();
    let newest = servers.iter().find(|server| server.version().starts_with("9.1")).unwrap();
    let long_line = [b"*1\r\n$4\r\nPING\r\n".as_slice(), &[b'x'; 70_000]].concat();
    let long_count = [b"*".as_slice(), &[b'1'; 70_000]].concat();
    let long_length = [b"*1\r\n$".as_slice(), &[b'1'; 70_000]].concat();
    let cases: Vec<&[u8]> = vec![
        b"*x\r\n",
        b"*2147483648\r\n",
        b"*+1\r\n",
        b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n",
        b"*1\r\n$x\r\n",
        b"*1\r\n$-1\r\n",
        b"*1\r\n$536870913\r\n",
        b"*1\r\n$01\r\n",
        b"*1\r\n$4\r\nPINGxx",
        b"*1\rx",
        b"*1\r\n$4\rx",
        b"PING \"\r\n",
        b"PING 'a'b\r\nQUIT\r\n",
        &long_line,
        &long_count,
        &long_length,
        // What comes before it is answered first, and what comes after it is not.
        b"PING\r\n*1\r\n$4\r\nPING\r\n*1\r\n!\r\nPING\r\n",
    ];
    for bytes in cases {
        let expected = ask(newest.target(), bytes);
        assert!(!expected.is_empty());
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        assert_eq!(
            String::from_utf8_lossy(&ask(&engine.target(), bytes)),
            String::from_utf8_lossy(&expected),
            "{shown:?}"
        );
    }
}

#[test]
fn lines_arrays_and_pipelines_are_answered_alike() {
    let engine = serve();
    let servers = Server::all().unwrap();
    let cases: Vec<&[u8]> = vec![
        b"\r\n\n  \r\nPING\r\nQUIT\r\n",
        b"  SET  a \"x\\x41\\n\"\nGET a\r\nQUIT\r\n",
        b"ECHO 'it\\'s'\r\nECHO \"\"\r\nQUIT\r\n",
        b"*0\r\n*-5\r\n*1\r\n$4\r\nPING\r\nQUIT\r\n",
        b"*2\r\n$4\r\nECHO\r\n$0\r\n\r\n*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\nQUIT\r\n",
        b"*1\r\n$0\r\n\r\nQUIT\r\n",
        b"*2\r\n$5\r\nHELLO\r\n$1\r\n9\r\nGET no\r\nLPOP no 1\r\nHGETALL no\r\nQUIT\r\n",
        b"*3\r\n$3\r\nSET\r\n$1\r\nn\r\n$1\r\n1\r\nMULTI\r\nINCR n\r\nGET no\r\nLPOP no 1\r\nEXEC\r\nQUIT\r\n",
        b"EVAL \"return {1.9,'x',false,{},redis.status_reply('FINE')}\" 0\r\nQUIT\r\n",
        b"EVAL \"redis.setresp(3) return {double=0.1}\" 0\r\nQUIT\r\nPING\r\n",
        b"QUIT\r\nPING\r\n",
    ];
    for server in &servers {
        for bytes in &cases {
            let shown = String::from_utf8_lossy(bytes);
            let (ours, theirs) = (ask(&engine.target(), bytes), ask(server.target(), bytes));
            assert_eq!(
                String::from_utf8_lossy(&ours),
                String::from_utf8_lossy(&theirs),
                "{shown:?} on {}",
                server.version()
            );
        }
    }
}

#[test]
fn a_half_request_waits_for_its_other_half() {
    let engine = serve();
    let Address::Tcp { host, port } = &engine.target().address else { panic!("over TCP") };
    let mut stream = TcpStream::connect((host.as_str(), *port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in b"*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n" {
        stream.write_all(&[*byte]).unwrap();
    }
    let mut answer = [0; 11];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"$5\r\nhello\r\n");
}

#[test]
fn a_server_that_is_dropped_is_gone() {
    let engine = serve();
    let target = engine.target();
    // Not even a script without an end keeps it.
    let Address::Tcp { host, port } = &target.address else { panic!("over TCP") };
    let mut stream = TcpStream::connect((host.as_str(), *port)).unwrap();
    stream.write_all(b"CONFIG SET busy-reply-threshold 1\r\nEVAL 'while true do end' 0\r\n").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    drop(engine);
    assert!(TcpStream::connect((host.as_str(), *port)).is_err());
}

#[test]
fn shutdown_ends_it() {
    let engine = serve();
    let answer = ask(&engine.target(), b"SHUTDOWN NOSAVE\r\n");
    assert_eq!(answer, b"");
    engine.wait();
}

proptest! {
    /// What another implementation writes is read as it was meant, however it is cut.
    #[test]
    fn reads_what_redis_protocol_writes(
        requests in prop::collection::vec(
            prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..6), 1..5),
        cut in 1_usize..50,
    ) {
        let mut bytes = Vec::new();
        for request in &requests {
            let frame = OwnedFrame::Array(request.iter().cloned().map(OwnedFrame::BulkString).collect());
            let mut buffer = vec![0; 4096];
            let length = resp2::encode::encode(&mut buffer, &frame, false).unwrap();
            bytes.extend_from_slice(&buffer[..length]);
        }
        let (mut decoder, mut buffer, mut read) = (Requests::default(), BytesMut::new(), Vec::new());
        for part in bytes.chunks(cut) {
            buffer.extend_from_slice(part);
            while let Some(request) = decoder.decode(&mut buffer).unwrap() {
                read.push(request);
            }
        }
        prop_assert_eq!(read, requests);
        prop_assert!(buffer.is_empty());
    }

    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut buffer = BytesMut::from(bytes.as_slice());
        let mut decoder = Requests::default();
        while let Ok(Some(_)) = decoder.decode(&mut buffer) {}
    }
}
