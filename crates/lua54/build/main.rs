//! Compiles Lua 5.4 from the C sources inside the `lua-src` crate.
//!
//! mlua's `vendored` would do that for native targets, but its build refuses wasm32-unknown-unknown and takes
//! no edits. So one build serves both: the same files, the same edits ([`edits`]), and for wasm also the few
//! C functions that the platform lacks (`csrc/wasm`).

#![expect(clippy::print_stdout, reason = "a build script talks to cargo by printing")]

mod edits;
mod source;
mod toolchain;

use std::env;
use std::path::{Path, PathBuf};
use std::process::exit;

use source::Extent;

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=csrc");
    if let Err(message) = build() {
        println!("cargo::error={}", message.replace('\n', " "));
        exit(1);
    }
}

fn build() -> Result<(), String> {
    let csrc = dir_from_env("CARGO_MANIFEST_DIR")?.join("csrc");
    let out = dir_from_env("OUT_DIR")?;
    let wasm = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    let extent = match (has("MLUA"), has("LIBRARIES")) {
        (true, _) => Extent::Whole,
        (_, true) => Extent::Libraries,
        _ => Extent::Least,
    };
    let lua = source::locate()?;

    let mut c = if wasm { toolchain::wasm(&csrc.join("wasm"), &out)? } else { native() };
    c.warnings(false)
        .cargo_metadata(false)
        .include(&lua)
        // As lua-src builds it: math.pow and friends, which Valkey's Lua 5.1 has, come with this.
        .define("LUA_COMPAT_5_3", None);
    if extent == Extent::Least {
        c.define("LUA54_LEAST", None);
    }
    include_first(&mut c, &csrc.join("deterministic.h"));
    c.files(source::edited(&lua, &out, extent)?).file(csrc.join("absent.c"));
    c.try_compile("lua54").map_err(|e| format!("cannot compile Lua: {e}"))?;

    println!("cargo::rustc-link-search=native={}", out.display());
    // mlua-sys declares these functions without saying where they are, and in the order of a link line it
    // comes after this crate. Taking every object at once makes the order irrelevant; `--gc-sections` drops
    // the unused.
    println!("cargo::rustc-link-lib=static:+whole-archive=lua54");
    if env::var_os("CARGO_CFG_UNIX").is_some() {
        println!("cargo::rustc-link-lib=m");
    }
    Ok(())
}

/// The default C compiler of the host, always optimizing: an unoptimized Lua makes every test of the engine
/// slow.
fn native() -> cc::Build {
    let mut c = cc::Build::new();
    c.opt_level(2);
    if env::var_os("CARGO_CFG_UNIX").is_some() {
        // `_setjmp` in place of `setjmp`, which on some systems saves the signal mask at each pcall.
        c.define("LUA_USE_POSIX", None);
    }
    c
}

/// Includes `header` ahead of everything in each C file.
fn include_first(c: &mut cc::Build, header: &Path) {
    let flag = if c.get_compiler().is_like_msvc() { "/FI" } else { "-include" };
    c.flag(flag).flag(header);
}

fn dir_from_env(name: &str) -> Result<PathBuf, String> {
    env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("cargo did not set {name}"))
}
