//! Every dialogue in `cases/`, on the engine and on every real server at hand: the same text, to the byte.

use echomq_engine::{Clock, Config, Version};
use emq_verify::cases::{CaseFile, Clients, EngineClients, ServerClients, run};
use emq_verify::server::Server;

fn files() -> Vec<(String, CaseFile)> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        files.push((name, CaseFile::read(&path).unwrap()));
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

/// Runs all files and fails with every difference.
#[track_caller]
fn check(on: &str, clients: &mut dyn Clients) {
    let mut compared = 0;
    let mut report = String::new();
    for (file, content) in files() {
        for case in &content.cases {
            let (steps, differences) =
                run(case, clients).unwrap_or_else(|error| panic!("{file}: {}: {error}", case.name));
            compared += steps;
            for difference in differences {
                report += &format!("{file}: {difference}\n");
            }
        }
    }
    let count = report.matches("\n  expected ").count();
    assert!(count == 0, "{count} of {compared} replies differ on {on}:\n{report}");
    assert!(compared > 0, "no case was run on {on}");
}

#[test]
fn the_engine_answers_as_recorded() {
    let clock = Clock::from_unix_ms(1_750_000_000_000);
    for version in [Version::V9_1, Version::V8_0] {
        let config = Config { clock, version, ..Config::default() };
        check(&format!("the engine as {version:?}"), &mut EngineClients::new(config));
    }
}

#[test]
fn every_server_answers_as_recorded() {
    for server in Server::all().unwrap() {
        let name = format!("valkey {}", server.version());
        check(&name, &mut ServerClients::new(server));
    }
}
