//! Where a real Valkey may be. The order is that of `cargo xtask setup`, which looks in the same places.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::ServerError;
use crate::resp::Target;

const BINARY: &str = "valkey-server";

/// The servers at hand.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// At least one.
    Binaries(Vec<PathBuf>),
    Running(Target),
}

/// The value of a variable of the environment. An argument, because a test can't change the environment without
/// disturbing the others.
type Variable<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// What to run checks on.
pub(super) fn found() -> Result<Found, ServerError> {
    found_with(&of_process)
}

/// What can be started, at least one.
pub(super) fn binaries() -> Result<Vec<PathBuf>, ServerError> {
    binaries_with(&of_process)
}

fn of_process(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn found_with(variable: Variable<'_>) -> Result<Found, ServerError> {
    match (named(variable), variable("VALKEY_URL")) {
        (None, Some(url)) => Ok(Found::Running(url.to_string_lossy().parse()?)),
        _ => binaries_with(variable).map(Found::Binaries),
    }
}

fn binaries_with(variable: Variable<'_>) -> Result<Vec<PathBuf>, ServerError> {
    if let Some(paths) = named(variable) {
        return Ok(paths);
    }
    let cache = cache_folder(variable).map(|folder| folder.join("valkey"));
    let mut binaries = variable("PATH").map_or_else(Vec::new, |path| on_path(&path));
    binaries.extend(cache.iter().flat_map(|folder| cached(folder)));
    if binaries.is_empty() {
        let cache = cache.map_or("the cache (no HOME)".to_owned(), |folder| folder.display().to_string());
        return Err(ServerError::NoneFound { cache });
    }
    Ok(binaries)
}

fn named(variable: Variable<'_>) -> Option<Vec<PathBuf>> {
    let list = variable("EMQ_VALKEY_SERVERS")?;
    let paths: Vec<PathBuf> = env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect();
    (!paths.is_empty()).then_some(paths)
}

fn cache_folder(variable: Variable<'_>) -> Option<PathBuf> {
    if let Some(folder) = variable("ECHOMQ_LAB_CACHE") {
        return Some(PathBuf::from(folder));
    }
    if let Some(folder) = variable("XDG_CACHE_HOME") {
        return Some(Path::new(&folder).join("echomq-lab"));
    }
    Some(Path::new(&variable("HOME")?).join(".cache/echomq-lab"))
}

/// The first one only, as the shell would choose.
fn on_path(path: &OsStr) -> Vec<PathBuf> {
    let found = env::split_paths(path).map(|folder| folder.join(BINARY)).find(|file| file.is_file());
    found.into_iter().collect()
}

/// One folder per version, sorted by name.
fn cached(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path().join(BINARY)).filter(|file| file.is_file()).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &Path)]) -> Result<Found, ServerError> {
        found_with(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.as_os_str().to_owned())
        })
    }

    #[test]
    fn looks_in_the_documented_order() {
        let home = tempfile::tempdir().unwrap();
        let place = |folder: &str| {
            let folder = home.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(BINARY), "").unwrap();
            folder.join(BINARY)
        };
        let new = place(".cache/echomq-lab/valkey/9.1.2");
        let old = place(".cache/echomq-lab/valkey/8.1.4");
        let on_path = place("bin");
        let moved = place("moved/valkey/9.0.0");

        let home_is = ("HOME", home.path());
        let bin = home.path().join("bin");
        let cache = home.path().join("moved");
        assert_eq!(find(&[home_is]).unwrap(), Found::Binaries(vec![old.clone(), new.clone()]));
        assert_eq!(find(&[home_is, ("PATH", &bin)]).unwrap(), Found::Binaries(vec![on_path, old, new]));
        assert_eq!(find(&[home_is, ("ECHOMQ_LAB_CACHE", &cache)]).unwrap(), Found::Binaries(vec![moved]));
        let url = ("VALKEY_URL", Path::new("redis://h:1"));
        assert_eq!(find(&[home_is, ("PATH", &bin), url]).unwrap(), Found::Running(Target::tcp("h", 1)));
        let list = ("EMQ_VALKEY_SERVERS", Path::new("/a/valkey-server:/b/valkey-server"));
        assert_eq!(
            find(&[home_is, url, list]).unwrap(),
            Found::Binaries(vec!["/a/valkey-server".into(), "/b/valkey-server".into()])
        );
    }

    #[test]
    fn says_what_to_do_without_a_server() {
        let nowhere = tempfile::tempdir().unwrap();
        let error = find(&[("HOME", nowhere.path()), ("PATH", nowhere.path())]).unwrap_err().to_string();
        assert!(error.contains("cargo xtask setup") && error.contains("VALKEY_URL"), "{error}");
        let error = find(&[("VALKEY_URL", Path::new("localhost"))]).unwrap_err().to_string();
        assert!(error.starts_with("VALKEY_URL: \"localhost\" is no address"), "{error}");
    }
}
