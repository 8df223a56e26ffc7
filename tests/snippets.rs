//! "Do it yourself": the lines that a readout offers, run as they stand by valkey-cli, Python and Node against every
//! real server, give the answers that the page showed.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use echomq_core::scenario::race::Completion;
use echomq_core::snippet::{Language, snippet};
use echomq_core::stage::Act;
use echomq_core::{EngineWire, Reply, Scripts, Wire};
use echomq_widget::session::present::{Present, Verb};
use echomq_widget::session::race::Race;
use echomq_widget::session::round_trip::RoundTrip;
use echomq_widget::session::shown::Shown;
use emq_verify::resp::Address;
use emq_verify::server::Server;
use lab_tests::tools::{cached, program};
use serde_json::{Value, json};

/// What an element offers: the lines to type once, and then its calls with what the engine answered.
#[derive(Default)]
struct Offered {
    once: Vec<String>,
    calls: Vec<Called>,
}

struct Called {
    argv: Vec<Vec<u8>>,
    reply: Reply,
}

/// Server time between any two lines. Leases that run out in a scene, and the walk's delay, are shorter.
const PAUSE_MS: u64 = 60;
const DELAY_MS: u64 = 40;

impl From<&Act> for Called {
    fn from(act: &Act) -> Called {
        Called { argv: act.argv.clone(), reply: act.reply.clone() }
    }
}

fn wire() -> Box<dyn Wire> {
    Box::new(EngineWire::default().traced())
}

/// One call per scene: what is typed once sets the scene for it.
fn present(attempts: u64, verb: &Verb, token: &str) -> Offered {
    let mut session = Present::new(wire(), "typed", attempts, verb.clone()).unwrap();
    session.press(token).unwrap();
    let script =
        if *verb == Verb::Complete { &Scripts::bundled().complete } else { &Scripts::bundled().retry };
    let once = Shown::new(&mut session.staged_mut(), script).unwrap().once;
    Offered { once, calls: session.staged().acts().iter().map(Called::from).collect() }
}

fn walk() -> Offered {
    let mut walk = RoundTrip::new(wire(), "typed", DELAY_MS).unwrap();
    while walk.step().unwrap().is_some() {}
    let once = walk.shown().unwrap().once;
    Offered { once, calls: walk.staged().acts().iter().map(Called::from).collect() }
}

fn race(completion: Completion, schedule: &str) -> Offered {
    let mut race = Race::new(wire(), "typed", completion).unwrap();
    race.load(schedule).unwrap();
    let once = race.shown().once;
    let mut calls = Vec::new();
    for at in 1..=schedule.len() {
        race.select(at);
        calls.extend(race.act().map(Called::from));
    }
    Offered { once, calls }
}

/// Runs the lines on every server in that language, and compares every answer.
#[track_caller]
fn check(language: Language, offered: &[Offered]) {
    let servers = Server::all().unwrap();
    assert!(!servers.is_empty());
    for server in servers {
        let mut wire = server.connect().unwrap();
        let Address::Tcp { host, port } = &server.target().address else { panic!("the clients use TCP") };
        for offered in offered {
            wire.call(&[b"FLUSHALL"]).unwrap();
            wire.call(&[b"SCRIPT", b"FLUSH"]).unwrap();
            type_once(&offered.once, host, *port);
            assert!(!offered.calls.is_empty());
            let lines: Vec<String> = offered.calls.iter().map(|call| snippet(language, &call.argv)).collect();
            let (answers, expected): (Vec<Value>, Vec<Value>) = match language {
                Language::Shell => {
                    let printed = shell(&lines, host, *port);
                    let expected = offered.calls.iter().map(|call| json!(call.reply.to_string()));
                    (printed.into_iter().map(Value::from).collect(), expected.collect())
                }
                _ => {
                    let expected = offered.calls.iter().map(|call| plain(&call.reply)).collect();
                    (evaluated(language, &lines, host, *port), expected)
                }
            };
            assert_eq!(answers, expected, "on valkey {}: {lines:#?}", server.version());
        }
    }
}

/// The scripts are loaded from their folder, as the lines say.
#[track_caller]
fn type_once(lines: &[String], host: &str, port: u16) {
    for (line, printed) in lines.iter().zip(shell(lines, host, port)) {
        assert!(!printed.is_empty() && !printed.starts_with("(error)"), "{line}\n{printed}");
    }
}

/// What each line prints in a POSIX shell.
#[track_caller]
fn shell(lines: &[String], host: &str, port: u16) -> Vec<String> {
    const END: &str = "-- end of a line --";
    let client = program("VALKEY_CLI", &["valkey-cli"]).unwrap();
    // The lines name neither host nor port, and to a terminal it prints without being asked.
    let folder = tempfile::tempdir().unwrap();
    let shim = folder.path().join("valkey-cli");
    let call = format!("#!/bin/sh\nexec '{}' -h '{host}' -p {port} --no-raw \"$@\"\n", client.display());
    fs::write(&shim, call).unwrap();
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    let mut text = format!("PATH='{}':$PATH\n", folder.path().display());
    for line in lines {
        writeln!(text, "sleep 0.0{PAUSE_MS}\n{line}\necho '{END}'").unwrap();
    }
    let mut command = Command::new("sh");
    command.arg("-c").arg(&text).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../lua"));
    let printed = output(&mut command);
    let mut parts: Vec<String> = printed.split(END).map(|part| part.trim().to_owned()).collect();
    assert_eq!(parts.pop().as_deref(), Some(""));
    assert_eq!(parts.len(), lines.len(), "{printed}");
    parts
}

/// What each line gives in a language, as JSON.
#[track_caller]
fn evaluated(language: Language, lines: &[String], host: &str, port: u16) -> Vec<Value> {
    let (mut command, text) = match language {
        Language::Python => {
            let python = cached("python/bin/python").unwrap();
            (Command::new(python), python_program(lines, host, port))
        }
        _ => (Command::new(program("NODE", &["node"]).unwrap()), node_program(lines, host, port)),
    };
    let flag = if language == Language::Python { "-c" } else { "-e" };
    let printed = output(command.arg(flag).arg(text));
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn python_program(lines: &[String], host: &str, port: u16) -> String {
    let mut text = format!(
        "import functools, json, time, valkey\n\
         valkey.Valkey = functools.partial(valkey.Valkey, host='{host}', port={port}, decode_responses=True)\n\
         def tell(call):\n    \
             try: print(json.dumps(call()))\n    \
             except valkey.ResponseError as error: print(json.dumps({{'error': str(error)}}))\n"
    );
    for line in lines {
        writeln!(text, "time.sleep(0.0{PAUSE_MS})\ntell(lambda: {line})").unwrap();
    }
    text
}

fn node_program(lines: &[String], host: &str, port: u16) -> String {
    let module = cached("npm/node_modules/iovalkey").unwrap();
    let mut text = format!(
        "const {{ Valkey: Client }} = require('{}');\n\
         class Valkey extends Client {{ constructor() {{ super({port}, '{host}'); }} }}\n\
         const tell = (value) => console.log(JSON.stringify(value));\n\
         const wait = () => new Promise((resolve) => setTimeout(resolve, {PAUSE_MS}));\n\
         (async () => {{\n",
        module.display()
    );
    for line in lines {
        let tried = "catch (error) { tell({ error: error.message }); }";
        writeln!(text, "await wait(); try {{ tell({line}); }} {tried}").unwrap();
    }
    text.push_str("process.exit(0); })();");
    text
}

/// A reply as a client in another language sees it.
fn plain(reply: &Reply) -> Value {
    match reply {
        Reply::Integer(number) => json!(number),
        Reply::Bulk(bytes) => json!(String::from_utf8_lossy(bytes)),
        Reply::Array(items) => items.iter().map(plain).collect(),
        Reply::Error(text) => json!({ "error": String::from_utf8_lossy(text) }),
        Reply::Nil | Reply::NilArray => Value::Null,
        other => panic!("no readout shows {other:?}"),
    }
}

#[track_caller]
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// One or more calls of each element, among them what a reader types: quotes, spaces, a dollar sign.
fn offered() -> Vec<Offered> {
    let word = str::to_owned;
    let retry = |max: &str| Verb::Retry {
        delay_ms: word("5000"),
        max_attempts: word(max),
        error: word("it's \"50%\" of $HOME\\n #{1}"),
    };
    vec![
        present(1, &Verb::Complete, "99"),
        present(1, &Verb::Complete, "1"),
        present(2, &Verb::Complete, "x 'y' \"z\" $HOME"),
        present(2, &Verb::Complete, "2"),
        present(1, &retry("2"), "1"),
        present(2, &retry("2"), "2"),
        walk(),
        race(Completion::Split, "WRNWWN"),
        race(Completion::OneEvalsha, "RNWN"),
    ]
}

#[test]
fn in_valkey_cli() {
    check(Language::Shell, &offered());
}

#[test]
fn in_python() {
    check(Language::Python, &offered());
}

#[test]
fn in_node() {
    check(Language::Node, &offered());
}
