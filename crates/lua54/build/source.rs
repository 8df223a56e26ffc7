//! Where the C sources are, which of them are compiled, and how they are changed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::edits::{COUNTED, EDITS, Edit, TRIMS};

/// Library files that stay out, because no script of the engine may reach what is in them. `csrc/absent.c`
/// stands in for the functions that mlua refers to. What they would need of a C library is then not needed
/// either.
const LEFT_OUT: &[&str] = &["liolib.c", "loslib.c", "loadlib.c", "lutf8lib.c", "ldblib.c"];

/// A file, its list of functions, the names of those that stay.
type List = (&'static str, &'static str, &'static [&'static str]);

/// What stays of the libraries where nobody uses mlua. The other functions are replaced by the engine, or no script of it
/// may reach them.
const KEPT: &[List] = &[
    ("lbaselib.c", "base_funcs", &["rawequal", "type"]),
    ("lcorolib.c", "co_funcs", &["create", "resume", "status", "wrap", "yield"]),
    (
        "lmathlib.c",
        "mathlib",
        &["abs", "acos", "asin", "atan", "cos", "exp", "log", "modf", "rad", "sin", "sqrt", "tan"],
    ),
    ("lmathlib.c", "randfuncs", &[]),
    (
        "lstrlib.c",
        "strlib",
        &[
            "byte", "char", "dump", "find", "format", "gsub", "len", "lower", "match", "rep", "reverse",
            "sub", "upper",
        ],
    ),
    ("ltablib.c", "tab_funcs", &["concat"]),
];

/// What stays without the feature `libraries`; libraries not named here are not opened.
const LEAST: &[List] =
    &[("lbaselib.c", "base_funcs", &["rawequal", "type"]), ("lstrlib.c", "strlib", &["find"])];

/// How much of Lua is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    Whole,
    /// What the engine takes.
    Libraries,
    /// What the scripts of the pages take.
    Least,
}

/// The folder of Lua 5.4 inside the `lua-src` crate. That crate tells nobody where it is, so cargo is asked.
pub fn locate() -> Result<PathBuf, String> {
    println!("cargo::rerun-if-env-changed=LUA54_SRC");
    if let Some(dir) = env::var_os("LUA54_SRC") {
        return Ok(dir.into());
    }
    // Offline at first: this also has to work where only the tools' own downloads were allowed. Without the
    // flag cargo may fetch what the workspace's other members need and this build did not.
    let metadata = cargo_metadata(&["--offline"]).or_else(|_| cargo_metadata(&[]))?;
    let manifest = metadata["packages"]
        .as_array()
        .and_then(|all| all.iter().find(|package| package["name"] == "lua-src"))
        .and_then(|package| package["manifest_path"].as_str())
        .ok_or("`cargo metadata` knows no package lua-src; LUA54_SRC can name the folder of Lua's C files")?;
    let root = Path::new(manifest).parent().unwrap_or(Path::new(""));
    sorted_files(root)?
        .into_iter()
        .rfind(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lua-5.4.")))
        .ok_or_else(|| format!("no folder lua-5.4.* in {}", root.display()))
}

/// The C files to compile, in a fixed order: those with an edit as changed copies in `out`, the rest in
/// place.
pub fn edited(lua: &Path, out: &Path, extent: Extent) -> Result<Vec<PathBuf>, String> {
    let (trims, counted, kept) = match extent {
        Extent::Whole => (&[][..], COUNTED, &[][..]),
        Extent::Libraries => (TRIMS, COUNTED, KEPT),
        Extent::Least => (TRIMS, &[][..], LEAST),
    };
    let mut units = Vec::new();
    let (mut edits_made, mut lists_cut) = (0, 0);
    for path in sorted_files(lua)? {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !name.ends_with(".c") || LEFT_OUT.contains(&name) {
            continue;
        }
        let edits: Vec<_> =
            EDITS.iter().chain(trims).chain(counted).filter(|edit| edit.file == name).collect();
        let lists: Vec<_> = kept.iter().filter(|(file, ..)| *file == name).collect();
        if edits.is_empty() && lists.is_empty() {
            units.push(path);
            continue;
        }
        let mut text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        for edit in edits {
            text = apply(edit, &text)?;
            edits_made += 1;
        }
        for (file, list, names) in lists {
            text = keep(file, list, names, &text)?;
            lists_cut += 1;
        }
        let copy = out.join(name);
        fs::write(&copy, text).map_err(|e| format!("{}: {e}", copy.display()))?;
        units.push(copy);
    }
    if edits_made == EDITS.len() + trims.len() + counted.len() && lists_cut == kept.len() {
        Ok(units)
    } else {
        Err(format!("{} lacks a file that is to be edited", lua.display()))
    }
}

/// `text` with only the functions `names` in its list of functions `list`.
fn keep(file: &str, list: &str, names: &[&str], text: &str) -> Result<String, String> {
    let changed = || format!("{file} of lua-src has no list {list} with {names:?}: compare it with KEPT");
    let start = format!("static const luaL_Reg {list}[] = {{\n");
    let (before, rest) = text.split_once(&start).ok_or_else(changed)?;
    let (entries, after) = rest.split_once("};").ok_or_else(changed)?;
    let mut out = format!("{before}{start}");
    let mut found = 0;
    for line in entries.lines() {
        let name = line.trim_start().strip_prefix("{\"").and_then(|line| line.split('"').next());
        if name.is_some_and(|name| !names.contains(&name)) {
            continue;
        }
        found += usize::from(name.is_some());
        out.extend([line, "\n"]);
    }
    if found == names.len() { Ok(out + "};" + after) } else { Err(changed()) }
}

fn apply(edit: &Edit, text: &str) -> Result<String, String> {
    let found = text.matches(edit.find).count();
    if found == 1 {
        return Ok(text.replacen(edit.find, edit.replace, 1));
    }
    Err(format!(
        "{} of lua-src is not as expected: the text to edit is in it {found} times, not once. Has lua-src changed? Compare \
         its Lua 5.4 with EDITS in crates/lua54/build/source.rs, at {:?}",
        edit.file, edit.find
    ))
}

fn cargo_metadata(more: &[&str]) -> Result<serde_json::Value, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Only the host's packages, of which lua-src is one as a build dependency: cargo then needs no others on
    // disk.
    let host = env::var("HOST").map_err(|e| format!("HOST: {e}"))?;
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--filter-platform", &host])
        .args(more)
        .current_dir(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| ".".into()))
        .output()
        .map_err(|e| format!("cannot run cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))
}

fn sorted_files(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}
