//! Programs and files that `cargo xtask setup` brings: named by a variable, on PATH, or in the cache of tools.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

/// What a test says whose tool is not there.
pub const MISSING: &str = "run `cargo xtask setup --for test`";

/// The program that a variable names, or the first of these names on PATH or among the installed tools.
///
/// # Errors
/// When there is none.
pub fn program(variable: &str, names: &[&str]) -> Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let tools = [cache()?.join("cargo/bin")];
    let folders: Vec<PathBuf> = env::split_paths(&path).chain(tools).collect();
    let on_path = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let named = env::var_os(variable).map(PathBuf::from);
    let found = named.into_iter().chain(on_path).find(|file| file.is_file());
    found.with_context(|| format!("there is no {}: {MISSING}, or set {variable}", names.join(" or ")))
}

/// A file that an npm or a PyPI package brought.
///
/// # Errors
/// When it is not there.
pub fn cached(file: &str) -> Result<PathBuf> {
    let found = cache()?.join(file);
    anyhow::ensure!(found.exists(), "there is no {}: {MISSING}", found.display());
    Ok(found)
}

/// Cargo's target folder: the test's own program is in `<target>/<profile>/deps/`.
///
/// # Errors
/// When the program does not know where it is.
pub fn target() -> Result<PathBuf> {
    let program = env::current_exe()?;
    Ok(program.ancestors().nth(3).unwrap_or(Path::new("target")).to_path_buf())
}

/// The folder that `cargo xtask` keeps its tools in.
fn cache() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let below = |folder: PathBuf, path: &str| folder.join(path);
    set("ECHOMQ_LAB_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| below(folder, "echomq-lab")))
        .or_else(|| set("HOME").map(|folder| below(folder, ".cache/echomq-lab")))
        .context("HOME is not set; set ECHOMQ_LAB_CACHE to the folder of the tools")
}
