//! `emq-verify parity` on small files: what it records, what it says of a difference.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const UNRECORDED: &str = r#"# A comment that stays.
[[case]]
name = 'an unrecorded one'
steps = [
    { send = 'SET k v', expect = 'OK' },
    # Another.
    { send = 'MGET k missing' },
    { client = 1, send = "EVAL \"return redis.pcall('MULTI')\" 0" },
]
"#;

const RECORDED: &str = r#"# A comment that stays.
[[case]]
name = 'an unrecorded one'
steps = [
    { send = 'SET k v', expect = 'OK' },
    # Another.
    { send = 'MGET k missing', expect = '''
1) "v"
2) (nil)''' },
    { client = 1, send = "EVAL \"return redis.pcall('MULTI')\" 0", expect = '(error) ERR This Valkey command is not allowed from script', before_9 = '(error) ERR This Redis command is not allowed from script' },
]
"#;

fn parity(arguments: &[&str], file: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_emq-verify"));
    let Output { status, stdout, stderr } = command.arg("parity").args(arguments).arg(file).output().unwrap();
    assert!(status.code() != Some(2), "{}", String::from_utf8_lossy(&stderr));
    (status.code(), String::from_utf8(stdout).unwrap())
}

#[test]
fn records_what_is_missing_and_leaves_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.toml");
    fs::write(&file, UNRECORDED).unwrap();
    let (code, stdout) = parity(&[], &file);
    assert_eq!(code, Some(1));
    assert!(stdout.contains("step 2: MGET k missing\n    recorded      nothing yet"), "{stdout}");

    let (code, stdout) = parity(&["--record"], &file);
    assert_eq!((code, stdout), (Some(0), format!("{}: 2 answers recorded\n", file.display())));
    assert_eq!(fs::read_to_string(&file).unwrap(), RECORDED);

    let (code, stdout) = parity(&[], &file);
    assert_eq!(code, Some(0), "{stdout}");
}

#[test]
fn shows_the_first_step_that_differs_with_both_answers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.toml");
    let wrong = RECORDED.replace("1) \"v\"", "1) \"w\"").replace("This Valkey", "No");
    fs::write(&file, wrong).unwrap();
    let (code, stdout) = parity(&[], &file);
    assert_eq!(code, Some(1));
    let shown = "  an unrecorded one, step 2: MGET k missing\n    recorded      1) \"w\"\n2) (nil)\n    engine        1) \"v\"";
    assert!(stdout.contains(shown), "{stdout}");
    assert!(!stdout.contains("step 3"), "{stdout}");
}
