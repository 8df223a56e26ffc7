//! Servers end with whoever started them: by a drop, by a panic, and when the program is killed.

use std::io::{BufRead, BufReader};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use echomq_core::{Reply, Wire};
use emq_verify::resp::{Address, RespWire, Target};
use emq_verify::server::{Options, Server, ServerError};

fn binaries() -> Vec<PathBuf> {
    let binaries = Server::binaries().unwrap();
    assert!(!binaries.is_empty());
    binaries
}

fn assert_stopped(target: &Target, directory: &Path) {
    let started = Instant::now();
    while RespWire::connect(target).is_ok() || directory.exists() {
        assert!(started.elapsed() < Duration::from_secs(10), "{target} or its directory is still there");
        thread::sleep(Duration::from_millis(5));
    }
}

fn directory_of(server: &Server) -> PathBuf {
    match server.socket().unwrap().address {
        Address::Unix(socket) => socket.parent().unwrap().to_owned(),
        Address::Tcp { .. } => panic!("a started server has a unix socket"),
    }
}

#[test]
fn each_server_answers_over_both_sockets() {
    let servers = Server::all().unwrap();
    assert!(!servers.is_empty());
    for server in servers {
        assert!(server.version().starts_with(|digit: char| digit.is_ascii_digit()), "{}", server.version());
        let mut wires = vec![server.connect().unwrap()];
        wires.extend(server.socket().map(|socket| RespWire::connect(&socket).unwrap()));
        for mut wire in wires {
            assert_eq!(wire.call(&[b"PING"]).unwrap(), Reply::status("PONG"));
        }
    }
}

#[test]
fn a_drop_and_a_panic_stop_the_server() {
    for binary in binaries() {
        let server = Server::start(&binary).unwrap();
        let (target, directory) = (server.target().clone(), directory_of(&server));
        drop(server);
        assert_stopped(&target, &directory);

        let server = Server::start(&binary).unwrap();
        let (target, directory) = (server.target().clone(), directory_of(&server));
        let panicked = panic::catch_unwind(AssertUnwindSafe(move || {
            let _held = server;
            panic::resume_unwind(Box::new("a failing test"));
        }));
        assert!(panicked.is_err());
        assert_stopped(&target, &directory);
    }
}

#[test]
fn a_killed_program_takes_its_server_along() {
    let home = tempfile::tempdir().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_emq-verify"))
        .args(["call", "--on", "valkey", "--", "BLPOP", "absent", "0"])
        .env("EMQ_VALKEY_SERVERS", binaries().remove(0))
        .env("TMPDIR", home.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(program.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let url = said.trim_end_matches(":\n").rsplit(' ').next().unwrap();
    let target: Target = url.parse().unwrap();
    let directory = fs::read_dir(home.path()).unwrap().next().unwrap().unwrap().path();
    assert!(RespWire::connect(&target).is_ok(), "the server runs while its owner does");

    program.kill().unwrap();
    program.wait().unwrap();
    assert_stopped(&target, &directory);
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let binary = binaries().remove(0);
    let error = Server::start_with(&binary, &Options::default().set("no-such-setting", "1")).unwrap_err();
    assert!(matches!(error, ServerError::Exited { .. }), "{error}");
    assert!(error.to_string().contains("no-such-setting"), "{error}");

    let error = Server::start(Path::new("/nowhere/valkey-server")).unwrap_err().to_string();
    assert!(error.starts_with("/nowhere/valkey-server: "), "{error}");
}

#[test]
fn attaching_leaves_the_server_running() {
    let started = Server::start(&binaries()[0]).unwrap();
    let attached = Server::attach(started.target()).unwrap();
    assert_eq!(attached.version(), started.version());
    assert_eq!(attached.pid(), None);
    drop(attached);
    assert!(started.connect().is_ok());
}
