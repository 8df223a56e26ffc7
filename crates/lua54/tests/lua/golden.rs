//! Golden files: written natively, where Lua prints and reads numbers by the host's C library, and compared
//! everywhere. `UPDATE_EXPECT=1 cargo test -p lua54` writes them anew, for a person to read the diff of.

/// Compares with the file of that name in tests/golden. In wasm there is no file system, so the text is
/// compiled in.
macro_rules! check_golden {
    ($name:literal, $actual:expr) => {
        crate::golden::check($name, include_str!(concat!("../golden/", $name)), $actual)
    };
}
pub(crate) use check_golden;

#[track_caller]
pub(crate) fn check(name: &str, expected: &str, actual: &str) {
    #[cfg(not(target_arch = "wasm32"))]
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
        std::fs::write(path, actual).expect("tests/golden is there");
        return;
    }
    let mut lines = 1..;
    for (expected, actual) in expected.lines().zip(actual.lines()) {
        let line = lines.next().unwrap_or(0);
        assert!(expected == actual, "{name}:{line}\nexpected: {expected}\n     got: {actual}");
    }
    assert_eq!(expected.lines().count(), actual.lines().count(), "{name}: the number of lines");
}
