//! Real clients run the queue's whole cycle against `emq-verify serve` and against every real server: the same answers.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Command;
use std::thread;
use std::time::Duration;

use echomq_core::queue::Set;
use echomq_core::{EngineWire, JobId, Keys, Queue, Reply, Scripts, Wire};
use echomq_engine::Version;
use emq_verify::resp::{Address, RespWire, Target};
use emq_verify::serve;
use emq_verify::server::Server;
use lab_tests::tools::{cached, program};
use serde_json::{Value, json};

/// A call, and the server's time that goes by before it.
struct Asked {
    argv: Vec<Vec<u8>>,
    pause_ms: u64,
}

/// Longer than the leases and delays that run out in the cycle.
const PAUSE_MS: u64 = 40;

/// Two jobs: one is completed, past a stale token; the other is reaped, retried, promoted, and retried to death.
fn cycle() -> Vec<Asked> {
    let queue = Queue::new(Keys::new("clients").unwrap(), Scripts::bundled());
    let (first, second) = (JobId::from_snowflake(1).unwrap(), JobId::from_snowflake(2).unwrap());
    let now = |call: echomq_core::Call<'_>| Asked { argv: call.evalsha(), pause_ms: 0 };
    let later = |call: echomq_core::Call<'_>| Asked { argv: call.evalsha(), pause_ms: PAUSE_MS };
    vec![
        now(queue.enqueue_call(&first, b"one")),
        now(queue.enqueue_call(&first, b"again")),
        now(queue.enqueue_call(&second, b"two")),
        now(queue.pending_size_call()),
        now(queue.claim_call(60_000)),
        now(queue.complete_call(&first, 9)),
        now(queue.complete_call(&first, 1)),
        now(queue.complete_call(&first, 1)),
        now(queue.claim_call(1)),
        now(queue.claim_call(1)),
        later(queue.reap_call(10)),
        now(queue.claim_call(60_000)),
        now(queue.retry_call(&second, 1, 1, 3, b"late")),
        now(queue.retry_call(&second, 2, 1, 3, b"it failed")),
        later(queue.promote_call(10)),
        now(queue.browse_call(Set::Pending, 0, 10)),
        now(queue.claim_call(60_000)),
        now(queue.retry_call(&second, 3, 1, 3, b"it failed for good")),
        now(queue.browse_call(Set::Dead, 0, 10)),
        now(queue.pending_size_call()),
    ]
}

/// What the engine answers, asked without any client.
fn expected() -> Vec<Reply> {
    let mut wire = EngineWire::default();
    for script in Scripts::bundled().all() {
        wire.call(&[b"SCRIPT", b"LOAD", script.source().as_bytes()]).unwrap();
    }
    let mut answers = Vec::new();
    for asked in cycle() {
        wire.pass(Duration::from_millis(asked.pause_ms)).unwrap();
        let argv: Vec<&[u8]> = asked.argv.iter().map(Vec::as_slice).collect();
        answers.push(wire.call(&argv).unwrap());
    }
    answers
}

/// Runs `client` on the engine's server in both releases and on every real one.
#[track_caller]
fn check<T: PartialEq + std::fmt::Debug>(expected: &[T], client: impl Fn(&str, u16) -> Vec<T>) {
    let servers = Server::all().unwrap();
    assert!(!servers.is_empty());
    let engines = [Version::V9_1, Version::V8_0].map(|version| {
        let options = serve::Options { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 0, version };
        serve::Server::start(&options).unwrap()
    });
    let mut targets: Vec<Target> = engines.iter().map(serve::Server::target).collect();
    targets.extend(servers.iter().map(|server| server.target().clone()));
    for target in targets {
        let mut wire = RespWire::connect(&target).unwrap();
        wire.call(&[b"FLUSHALL"]).unwrap();
        wire.call(&[b"SCRIPT", b"FLUSH"]).unwrap();
        let Address::Tcp { host, port } = &target.address else { panic!("the clients use TCP") };
        assert_eq!(client(host, *port), expected, "on {target}");
    }
}

/// The cycle as a file for programs in other languages.
fn file() -> tempfile::NamedTempFile {
    let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
    let calls: Vec<Value> = cycle()
        .iter()
        .map(|asked| {
            let argv: Vec<String> = asked.argv.iter().map(text).collect();
            json!({ "argv": argv, "pause_ms": asked.pause_ms })
        })
        .collect();
    let scripts: Vec<&str> = Scripts::bundled().all().iter().map(|script| script.source()).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    serde_json::to_writer(&file, &json!({ "scripts": scripts, "calls": calls })).unwrap();
    file
}

/// A reply as a client in another language sees it.
fn plain(reply: &Reply) -> Value {
    match reply {
        Reply::Integer(number) => json!(number),
        Reply::Bulk(bytes) => json!(String::from_utf8_lossy(bytes)),
        Reply::Status(text) => json!(String::from_utf8_lossy(text)),
        Reply::Array(items) => items.iter().map(plain).collect(),
        Reply::Error(text) => json!({ "error": String::from_utf8_lossy(text) }),
        Reply::Nil | Reply::NilArray => Value::Null,
        other => panic!("no script of the queue answers {other:?}"),
    }
}

fn expected_values() -> Vec<Value> {
    expected().iter().map(plain).collect()
}

#[track_caller]
fn lines(command: &mut Command) -> Vec<String> {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[track_caller]
fn values(command: &mut Command) -> Vec<Value> {
    lines(command).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn source(name: &str) -> String {
    format!("{}/clients/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn valkey_cli() {
    let client = program("VALKEY_CLI", &["valkey-cli"]).unwrap();
    let expected: Vec<String> = expected().iter().map(Reply::to_string).collect();
    check(&expected, |host, port| {
        let call = |argv: &[Vec<u8>]| {
            let argv = argv.iter().map(|word| String::from_utf8(word.clone()).unwrap());
            let mut command = Command::new(&client);
            command.args(["-h", host, "-p", &port.to_string(), "--no-raw"]).args(argv);
            lines(&mut command).join("\n")
        };
        for script in Scripts::bundled().all() {
            let load = [b"SCRIPT".to_vec(), b"LOAD".to_vec(), script.source().as_bytes().to_vec()];
            assert_eq!(call(&load), format!("\"{}\"", script.sha()));
        }
        cycle()
            .iter()
            .map(|asked| {
                thread::sleep(Duration::from_millis(asked.pause_ms));
                call(&asked.argv)
            })
            .collect()
    });
}

#[test]
fn redis_py() {
    let (python, file) = (cached("python/bin/python").unwrap(), file());
    check(&expected_values(), |host, port| {
        let mut command = Command::new(&python);
        values(command.args([&source("cycle.py"), host, &port.to_string()]).arg(file.path()))
    });
}

#[test]
fn ioredis() {
    let (node, file) = (program("NODE", &["node"]).unwrap(), file());
    let module = cached("npm/node_modules/ioredis").unwrap();
    check(&expected_values(), |host, port| {
        let mut command = Command::new(&node);
        command.arg(source("cycle.js")).arg(&module).args([host, &port.to_string()]).arg(file.path());
        values(&mut command)
    });
}

#[test]
fn redis_rs() {
    check(&expected_values(), |host, port| {
        let client = redis::Client::open(format!("redis://{host}:{port}/")).unwrap();
        let mut connection = client.get_connection().unwrap();
        for script in Scripts::bundled().all() {
            let load = redis::Script::new(script.source());
            assert_eq!(load.load(&mut connection).unwrap(), script.sha());
        }
        cycle()
            .iter()
            .map(|asked| {
                thread::sleep(Duration::from_millis(asked.pause_ms));
                let mut command = redis::Cmd::new();
                for word in &asked.argv {
                    command.arg(word);
                }
                match command.query::<redis::Value>(&mut connection) {
                    Ok(answer) => of_redis_rs(&answer),
                    Err(error) => json!({ "error": whole(&error) }),
                }
            })
            .collect()
    });
}

/// An error as the server sent it: redis-rs takes the class off the text.
fn whole(error: &redis::RedisError) -> String {
    [error.code(), error.detail()].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn of_redis_rs(value: &redis::Value) -> Value {
    match value {
        redis::Value::Nil => Value::Null,
        redis::Value::Int(number) => json!(number),
        redis::Value::BulkString(bytes) => json!(String::from_utf8_lossy(bytes)),
        redis::Value::SimpleString(text) => json!(text),
        redis::Value::Array(items) => items.iter().map(of_redis_rs).collect(),
        other => panic!("no script of the queue answers {other:?}"),
    }
}
