//! Every dialogue in `dialogues/`, on the engine's server and on every real one: the same text, to the byte.

use std::net::{IpAddr, Ipv4Addr};

use echomq_engine::Version;
use emq_verify::resp::Target;
use emq_verify::serve;
use emq_verify::server::Server;
use lab_tests::dialogue::{DialogueFile, run};

/// Runs all files and fails with every difference.
#[track_caller]
fn check(on: &str, target: &Target, version: &str) {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/dialogues");
    let mut report = String::new();
    let mut count = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let file: DialogueFile =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for dialogue in &file.dialogues {
            count += 1;
            if let Err(error) = run(dialogue, target, version) {
                report += &format!("{error:#}\n");
            }
        }
    }
    assert!(report.is_empty(), "on {on}:\n{report}");
    assert!(count > 0);
}

#[test]
fn the_engine_speaks_as_recorded() {
    for (version, name) in [(Version::V9_1, "9.1.2"), (Version::V8_0, "8.0.1")] {
        let options = serve::Options { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 0, version };
        let server = serve::Server::start(&options).unwrap();
        check(&format!("the engine as {name}"), &server.target(), name);
    }
}

#[test]
fn every_server_speaks_as_recorded() {
    for server in Server::all().unwrap() {
        check(&format!("valkey {}", server.version()), server.target(), server.version());
    }
}
