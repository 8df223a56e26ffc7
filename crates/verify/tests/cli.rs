//! The program as a shell sees it: output, exit status, messages.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use echomq_core::Wire;
use emq_verify::resp::{RespWire, Target};
use emq_verify::server::{Options, Server};

const GOLDEN: &str = include_str!("../../../tests/golden/rung.txt");
const SHA1SUMS: &str = include_str!("../../../lua/SHA1SUMS");

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_emq-verify"));
    command.args(arguments);
    command
}

/// Runs it, and returns the exit status, stdout and stderr.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = program(arguments).output().unwrap();
    let code = status.code().expect("an exit status");
    (code, String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[track_caller]
fn check(arguments: &[&str], code: i32, stdout: &str) {
    let (got_code, got_stdout, stderr) = run(arguments);
    assert_eq!(got_stdout, stdout, "{stderr}");
    assert_eq!(got_code, code, "{stderr}");
}

/// A refusal names what is wrong, on stderr alone.
#[track_caller]
fn check_refused(arguments: &[&str], message: &str) {
    let (code, stdout, stderr) = run(arguments);
    assert!(stderr.contains(message), "{stderr}");
    assert_eq!((code, stdout.as_str()), (2, ""));
}

#[test]
fn rung_prints_the_golden_transcript_on_the_engine() {
    check(&["rung", "--on", "engine"], 0, GOLDEN);
}

#[test]
fn rung_prints_the_golden_transcript_on_valkey() {
    let (code, stdout, stderr) = run(&["rung", "--on", "valkey"]);
    assert_eq!(stdout, GOLDEN, "{stderr}");
    assert_eq!(code, 0);
    assert!(stderr.starts_with("on valkey "), "says which version: {stderr}");
}

#[test]
fn rung_fails_on_a_server_that_lacks_a_command() {
    let binary = Server::binaries().unwrap().remove(0);
    let server = Server::start_with(&binary, &Options::default().set("rename-command", "ZADD gone")).unwrap();
    let (code, stdout, _) = run(&["rung", "--on", &server.target().to_string()]);
    assert_eq!(code, 1);
    assert!(stdout.contains("\nL2 happy FAILED -- "), "{stdout}");
    assert!(stdout.lines().last().unwrap().starts_with("FAIL "), "{stdout}");
}

/// The scripts as they are, but for one change in one of them.
fn changed_scripts(script: &str, from: &str, to: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lua = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lua");
    for entry in fs::read_dir(lua).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let path = folder.path().join(script);
    let source = fs::read_to_string(&path).unwrap();
    assert!(source.contains(from), "{script} does not hold {from}");
    fs::write(&path, source.replace(from, to)).unwrap();
    folder
}

#[test]
fn rung_fails_on_a_broken_script_on_both_wires() {
    let folder = changed_scripts("complete.lua", "if att ~= ARGV[2] then", "if false then");
    let lua = folder.path().to_str().unwrap();
    let (code, on_engine, _) = run(&["rung", "--lua", lua]);
    assert_eq!(code, 1);
    assert!(on_engine.contains("\nL3 fence FAILED -- "), "{on_engine}");
    assert!(on_engine.ends_with("\nFAIL 3/6\n"), "{on_engine}");
    check(&["rung", "--lua", lua, "--on", "valkey"], 1, &on_engine);

    let whole = changed_scripts("complete.lua", "return 1", "return 1");
    check(&["rung", "--lua", whole.path().to_str().unwrap()], 0, GOLDEN);
    fs::remove_file(whole.path().join("reap.lua")).unwrap();
    check_refused(&["rung", "--lua", whole.path().to_str().unwrap()], "reap.lua: No such file");
}

#[test]
fn sha_prints_the_pinned_digests() {
    check(&["sha"], 0, SHA1SUMS);
}

#[test]
fn keys_prints_slots_and_keys() {
    let expected = " 4247 emq:{mail}:pending\n 4247 emq:{mail}:active\n 4247 emq:{mail}:schedule\n \
                    4247 emq:{mail}:dead\n 4247 emq:{mail}:metrics:completed\n 4247 emq:{mail}:metrics:failed\n";
    check(&["keys", "mail"], 0, expected);
    let row = format!("{expected} 4247 emq:{{mail}}:job:JOB00000000001\n");
    check(&["keys", "mail", "JOB00000000001"], 0, &row);
    check_refused(&["keys", "a{b"], "a queue name cannot hold '{'");
    check_refused(&["keys", "mail", "JOB1"], "not a job id: \"JOB1\"");
}

#[test]
fn call_prints_what_valkey_cli_prints() {
    let line = ["call", "--on", "valkey", "--", "EVAL", "return {1, {'a\\n', false}}", "0", ";", "PING"];
    let (code, stdout, stderr) = run(&line);
    let servers = stderr.lines().count();
    assert_eq!(stdout, "1) (integer) 1\n2) 1) \"a\\n\"\n   2) (nil)\nPONG\n".repeat(servers), "{stderr}");
    assert_eq!(code, 0);
    check(&["call", "--", "GET"], 1, "(error) ERR wrong number of arguments for 'get' command\n");
}

#[test]
fn bench_measures_every_place() {
    let (code, stdout, stderr) = run(&["bench", "--pairs", "20", "--rounds", "1"]);
    assert_eq!(code, 0, "{stderr}");
    let rows: Vec<&str> = stdout.lines().skip(1).collect();
    assert!(rows[0].starts_with("valkey ") && rows[0].ends_with(" 1.00"), "{stdout}");
    assert!(rows.iter().any(|row| row.contains("unix socket")), "{stdout}");
    assert!(rows.last().unwrap().starts_with("engine "), "{stdout}");
}

#[test]
fn a_wrong_place_is_explained() {
    check_refused(&["rung", "--on", "engin"], "expected engine, valkey, or where a server runs");
    check_refused(&["rung", "--on", "redis://127.0.0.1:1"], "is a server running there?");
    let nowhere = tempfile::tempdir().unwrap();
    let output = program(&["rung", "--on", "valkey"])
        .env_clear()
        .envs([("HOME", nowhere.path()), ("PATH", nowhere.path())])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("cargo xtask setup") && message.contains("VALKEY_URL"), "{message}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let output = program(&["rung"]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "on engine:\n");
}

#[test]
fn serve_stays_on_this_machine_unless_told() {
    check_refused(&["serve", "--port", "0", "--bind", "0.0.0.0"], "say --expose");
    check_refused(&["serve", "--port", "0", "--version", "7.2"], "9.1 and 8.0 are there");
}

#[test]
fn serve_says_where_and_ends_with_shutdown() {
    let mut server =
        program(&["serve", "--port", "0", "--version", "8.0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let target: Target = line.trim().parse().unwrap();
    let mut wire = RespWire::connect(&target).unwrap();
    let info = wire.call(&[b"INFO", b"server"]).unwrap().to_string();
    assert!(info.contains("valkey_version:8.0.1"), "{info}");
    assert!(wire.call(&[b"SHUTDOWN", b"NOSAVE"]).is_err());
    assert!(server.wait().unwrap().success());
}
