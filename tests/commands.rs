//! The table of commands: what the engine has is as a server has it, and `docs/commands.md` says what that is and what is
//! missing.
//!
//! `UPDATE_EXPECT=1 cargo test -p lab-tests --test commands` writes the document anew, and what the engine answers to
//! COMMAND INFO and COMMAND DOCS beyond its table.

use std::collections::{BTreeMap, BTreeSet};

use echomq_engine::{Config, Reply};
use emq_verify::cases::{Clients, EngineClients, ServerClients, release};
use emq_verify::server::Server;
use expect_test::expect_file;

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
    let mut engine = EngineClients::new(Config::default());
    let mut server = newest();
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

fn newest() -> ServerClients {
    let servers = Server::all().unwrap();
    ServerClients::new(servers.into_iter().max_by_key(|server| release(server.version())).unwrap())
}

/// All names of commands and subcommands.
fn names(clients: &mut dyn Clients) -> BTreeSet<String> {
    match clients.call(0, &[b"COMMAND", b"LIST", b"FILTERBY", b"PATTERN", b"*"]).unwrap() {
        Reply::Array(names) => names.into_iter().map(text).collect(),
        other => panic!("{other} is no list"),
    }
}

fn text(reply: Reply) -> String {
    match reply {
        Reply::Bulk(bytes) => String::from_utf8(bytes).unwrap(),
        other => panic!("{other} is no text"),
    }
}

/// Names and values in turn, as COMMAND DOCS answers them.
fn pairs(reply: Reply) -> Vec<(String, Reply)> {
    let Reply::Array(items) = reply else { panic!("{reply} is no list") };
    items.chunks(2).map(|pair| (text(pair[0].clone()), pair[1].clone())).collect()
}

/// The group of each command of a server; a subcommand is in that of its own.
fn groups(server: &mut dyn Clients) -> BTreeMap<String, String> {
    let mut groups = BTreeMap::new();
    let mut open = pairs(server.call(0, &[b"COMMAND", b"DOCS"]).unwrap());
    while let Some((name, docs)) = open.pop() {
        for (field, value) in pairs(docs) {
            match field.as_str() {
                "group" => drop(groups.insert(name.clone(), text(value))),
                "subcommands" => open.extend(pairs(value)),
                _ => {}
            }
        }
    }
    groups
}

/// What the engine has of each group of a server's commands, and what it lacks.
fn document(engine: &mut dyn Clients, server: &mut dyn Clients) -> String {
    let (ours, theirs, groups) = (names(engine), names(server), groups(server));
    let beyond: Vec<_> = ours.difference(&theirs).collect();
    assert!(beyond.is_empty(), "the server lacks {beyond:?}");
    let mut by_group: BTreeMap<&str, [Vec<String>; 2]> = BTreeMap::new();
    for name in &theirs {
        let group = by_group.entry(groups.get(name).map_or("other", String::as_str)).or_default();
        group[usize::from(!ours.contains(name))].push(format!("`{}`", name.replace('|', " ")));
    }
    let mut out = format!(
        "# Commands\n\nWhat the engine has of the commands of Valkey {}, subcommands counted, by the groups of its manual. \
         {} of {} are there.\nArity, flags and key positions are the server's; where an answer is not, on purpose, \
         stands at the top of\n`crates/engine/src/command.rs`, and for scripts in `lua/COMPATIBILITY.md`. The pages \
         carry only what the eight scripts call.\n\nThis file is written by `UPDATE_EXPECT=1 cargo test -p lab-tests \
         --test commands`, which also checks it.\n",
        server.version(),
        ours.len(),
        theirs.len(),
    );
    for (group, [there, missing]) in by_group {
        out += &format!("\n## {group}: {} of {}\n", there.len(), there.len() + missing.len());
        for (title, names) in [("There", there), ("Missing", missing)] {
            if !names.is_empty() {
                out += &format!("\n{title}: {}\n", names.join(", "));
            }
        }
    }
    out
}

/// What is prose in the answers of COMMAND INFO and COMMAND DOCS: the engine has the facts only.
const PROSE: &[&str] = &["summary", "complexity", "notes", "history"];

/// A RESP3 reply without prose, and without the subcommands of a container.
fn facts(reply: &Reply) -> Reply {
    let is_fact = |key: &Reply| {
        !PROSE.iter().chain(&["subcommands"]).any(|prose| *key == Reply::Bulk(prose.as_bytes().to_vec()))
    };
    match reply {
        Reply::Array(items) => Reply::Array(items.iter().map(facts).collect()),
        Reply::Set(items) => Reply::Set(items.iter().map(facts).collect()),
        Reply::Map(pairs) => {
            let pairs = pairs.iter().filter(|(key, _)| is_fact(key));
            Reply::Map(pairs.map(|(key, value)| (key.clone(), facts(value))).collect())
        }
        other => other.clone(),
    }
}

/// ACL categories, tips, key specifications and documentation of a command, by a connection that speaks RESP3.
fn described(clients: &mut dyn Clients, name: &str) -> [Reply; 4] {
    let Reply::Array(entries) = clients.call(0, &[b"COMMAND", b"INFO", name.as_bytes()]).unwrap() else {
        panic!("no entry");
    };
    let Reply::Array(fields) = &entries[0] else { panic!("{name} is unknown") };
    let Reply::Map(docs) = clients.call(0, &[b"COMMAND", b"DOCS", name.as_bytes()]).unwrap() else {
        panic!("no documentation");
    };
    [&fields[6], &fields[7], &fields[8], &docs[0].1].map(facts)
}

/// What a server says of the engine's commands, in the form that the engine reads.
fn reference(engine: &mut dyn Clients, server: &mut dyn Clients) -> String {
    let mut out = String::new();
    for name in names(engine) {
        out += &name;
        for value in described(server, &name) {
            out.push('\t');
            write(&mut out, &value);
        }
        out.push('\n');
    }
    out
}

fn write(out: &mut String, value: &Reply) {
    let mut list = |open: char, items: &mut dyn Iterator<Item = &Reply>, close: char| {
        out.push(open);
        for (at, item) in items.enumerate() {
            if at > 0 {
                out.push(' ');
            }
            write(out, item);
        }
        out.push(close);
    };
    match value {
        Reply::Array(items) => list('(', &mut items.iter(), ')'),
        Reply::Set(items) => list('<', &mut items.iter(), '>'),
        Reply::Map(pairs) => list('{', &mut pairs.iter().flat_map(|(key, value)| [key, value]), '}'),
        Reply::Integer(n) => *out += &n.to_string(),
        Reply::Nil => out.push('~'),
        Reply::Bulk(text) => quote(out, text),
        Reply::Status(text) => {
            out.push('+');
            quote(out, text);
        }
        other => panic!("{other} has no form here"),
    }
}

fn quote(out: &mut String, text: &[u8]) {
    let text = std::str::from_utf8(text).unwrap().replace('\\', "\\\\").replace('"', "\\\"");
    assert!(!text.contains(['\t', '\n']), "{text}");
    *out += &format!("\"{text}\"");
}

#[test]
fn the_reference_is_a_servers() {
    let (mut engine, mut server) = (EngineClients::new(Config::default()), newest());
    for clients in [&mut engine as &mut dyn Clients, &mut server] {
        clients.call(0, &[b"HELLO", b"3"]).unwrap();
    }
    let text = reference(&mut engine, &mut server);
    expect_file!["../crates/engine/src/command/reference.txt"].assert_eq(&text);
    for name in names(&mut engine) {
        assert_eq!(described(&mut engine, &name), described(&mut server, &name), "{name}");
    }
}

#[test]
fn the_document_lists_what_is_there_and_what_is_missing() {
    let document = document(&mut EngineClients::new(Config::default()), &mut newest());
    expect_file!["../docs/commands.md"].assert_eq(&document);
}
