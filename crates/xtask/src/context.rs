//! Where things are: the repository, the cache of installed tools, cargo's target folder; and a command with
//! those tools on its PATH.

use std::{
    cell::Cell,
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

#[derive(Debug)]
pub struct Context {
    /// The root of the repository.
    pub root: PathBuf,
    /// Tools that `setup` installed: reused by the next run, safe to delete.
    pub cache: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
    /// Whether Cargo.lock must be used as it is.
    pub locked: bool,
    /// Whether `apt-get update` has run: package lists of a fresh machine are empty.
    pub apt_updated: Cell<bool>,
}

impl Context {
    pub fn new(locked: bool) -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .context("crates/xtask lies two folders below the root")?
            .to_path_buf();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => root.join(folder),
            None => root.join("target"),
        };
        Ok(Self { cache: cache_folder()?, root, target, locked, apt_updated: Cell::new(false) })
    }

    /// A command that runs in the repository's root and finds the tools in the cache.
    pub fn command(&self, program: &str) -> Command {
        let path = self.search_path();
        // The child's PATH is not what `Command` searches on every platform, so the program is looked up here.
        let found = self.find(program).map_or_else(|| OsString::from(program), PathBuf::into_os_string);
        let mut command = Command::new(found);
        command.current_dir(&self.root).env("PATH", path).env("CARGO_TERM_PROGRESS_WHEN", "never");
        // What `cargo run` told this program about its own package would make build scripts of others run again.
        for (name, _) in env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// Cargo, held to Cargo.lock where the task asked for it.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("cargo");
        // nextest is a program of its own: the options follow its subcommand, not Cargo's.
        let words = if arguments.first() == Some(&"nextest") { 2 } else { 1 };
        let (subcommand, rest) = arguments.split_at(arguments.len().min(words));
        command.args(subcommand);
        if self.locked {
            command.arg("--locked");
        }
        command.args(rest);
        command
    }

    /// The first program of that name in the cache or on PATH.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        let file_name = format!("{program}{}", env::consts::EXE_SUFFIX);
        env::split_paths(&self.search_path())
            .map(|folder| folder.join(&file_name))
            .find(|file| file.is_file())
    }

    fn search_path(&self) -> OsString {
        let ours = [self.cache.join("cargo/bin"), self.cache.join("npm/node_modules/.bin")];
        let inherited = env::var_os("PATH").unwrap_or_default();
        let folders = ours.into_iter().chain(env::split_paths(&inherited));
        env::join_paths(folders).unwrap_or(inherited)
    }
}

fn cache_folder() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("ECHOMQ_LAB_CACHE") {
        return std::path::absolute(&folder).with_context(|| format!("no such folder: {}", folder.display()));
    }
    if let Some(folder) = set("XDG_CACHE_HOME") {
        return Ok(folder.join("echomq-lab"));
    }
    let home = set("HOME").or_else(|| set("USERPROFILE"));
    Ok(home
        .context("HOME is not set; set ECHOMQ_LAB_CACHE to a folder for the tools")?
        .join(".cache/echomq-lab"))
}
