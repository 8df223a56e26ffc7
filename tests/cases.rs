//! Every dialogue in `cases/`, on the engine and on every real server at hand: the same text, to the byte.

use echomq_engine::{Clock, Config, Reply, Version};
use emq_verify::cases::{CaseFile, Clients, EngineClients, ServerClients, release, run};
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

/// Arity, flags and key positions of a `COMMAND INFO` entry, flags in order of name.
fn row(entry: &Reply) -> String {
    let Reply::Array(fields) = entry else { return entry.to_string() };
    let mut flags: Vec<String> = match &fields[2] {
        Reply::Array(flags) => flags.iter().map(Reply::to_string).collect(),
        other => vec![other.to_string()],
    };
    flags.sort();
    let numbers: Vec<String> = [1, 3, 4, 5].iter().map(|&at| fields[at].to_string()).collect();
    format!("{} {numbers:?} {flags:?}", fields[0])
}

/// Every command and subcommand of the engine has the row that a server has for it.
#[test]
fn the_table_is_that_of_the_servers() {
    let servers = Server::all().unwrap();
    let newest = servers.into_iter().max_by_key(|server| release(server.version())).unwrap();
    let mut engine = EngineClients::new(Config::default());
    let mut server = ServerClients::new(newest);
    let mut differences = Vec::new();
    let Reply::Array(names) = engine.call(0, &[b"COMMAND", b"LIST", b"FILTERBY", b"PATTERN", b"*"]).unwrap()
    else {
        panic!("no list of commands");
    };
    assert!(names.len() > 200, "{} commands", names.len());
    for name in names {
        let Reply::Bulk(name) = name else { panic!("{name} is no name") };
        let argv: [&[u8]; 3] = [b"COMMAND", b"INFO", &name];
        let entry = |reply: Reply| match reply {
            Reply::Array(entries) => row(&entries[0]),
            other => other.to_string(),
        };
        let (ours, theirs) = (entry(engine.call(0, &argv).unwrap()), entry(server.call(0, &argv).unwrap()));
        if ours != theirs {
            differences.push(format!("engine {ours}\nserver {theirs}"));
        }
    }
    assert!(differences.is_empty(), "on valkey {}:\n{}", server.version(), differences.join("\n"));
}
