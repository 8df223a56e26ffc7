//! Clang for wasm32-unknown-unknown. The host's default compiler seldom has this target, and the names and
//! flags of WebAssembly's setjmp are LLVM's own, so it has to be clang, and not an old one.

use std::env;
use std::path::Path;
use std::process::Command;

/// From here on LLVM calls `__wasm_setjmp` and its siblings, which `csrc/wasm/sjlj.c` defines. Before,
/// others.
const OLDEST: u32 = 19;
/// Names to try, newest last: a distribution's default may be older than a versioned package beside it.
const NAMES: &[&str] = &["clang-19", "clang-20", "clang-21", "clang-22", "clang-23", "clang"];

const HINT: &str = "Install them with `apt-get install clang-19 llvm-19` (or `cargo xtask setup`), \
                    or name them in LUA54_CC and LUA54_AR";

/// A build for wasm, with our small C library in it. `csrc` is the folder that holds it.
pub fn wasm(csrc: &Path, out: &Path) -> Result<cc::Build, String> {
    let clang = clang()?;
    let archiver = archiver(&clang)?;
    // Never the host's headers: what Lua includes is in this folder or comes with clang.
    let include = csrc.join("include");

    // LLVM 19 puts a weak definition of the exception tag into each object that uses setjmp, later ones
    // expect one from a runtime. Our weak one serves both, but only from an object compiled without the
    // setjmp flag.
    let tag = cc::Build::new()
        .compiler(&clang)
        .out_dir(out)
        .file(csrc.join("sjlj_tag.c"))
        .try_compile_intermediates()
        .map_err(|e| format!("cannot compile for wasm32 with {clang}: {e}. {HINT}"))?;

    let mut c = cc::Build::new();
    c.compiler(&clang)
        .archiver(&archiver)
        .opt_level_str("z") // 8 KB less after brotli, for some 3 % of speed
        .flag("-nostdlibinc")
        .flag("-isystem")
        .flag(include)
        .flag("-fvisibility=hidden") // or the module would export every Lua function
        .flag("-mllvm")
        .flag("-wasm-enable-sjlj")
        .file(csrc.join("libc.c"))
        .file(csrc.join("sjlj.c"))
        .objects(tag);
    Ok(c)
}

fn clang() -> Result<String, String> {
    if let Some(name) = named_in("LUA54_CC") {
        return Ok(name);
    }
    NAMES
        .iter()
        .find(|name| version(name).is_some_and(|version| version >= OLDEST))
        .map(|name| name.to_string())
        .ok_or_else(|| {
            format!("compiling Lua for wasm32 needs clang {OLDEST} or newer and its llvm-ar. {HINT}")
        })
}

/// GNU ar writes no symbol index for wasm objects, so it has to be the `llvm-ar` beside that clang.
fn archiver(clang: &str) -> Result<String, String> {
    if let Some(name) = named_in("LUA54_AR") {
        return Ok(name);
    }
    stdout_of(clang, "--print-prog-name=llvm-ar")
        .map(|path| path.trim().to_owned())
        .filter(|path| stdout_of(path, "--version").is_some())
        .ok_or_else(|| format!("found {clang}, but not its llvm-ar. {HINT}"))
}

fn named_in(variable: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={variable}");
    env::var(variable).ok().filter(|name| !name.is_empty())
}

/// The major version, from a line such as `Debian clang version 19.1.7 (3~deb12u1)`.
fn version(clang: &str) -> Option<u32> {
    let text = stdout_of(clang, "--version")?;
    let (_, number) = text.split_once("clang version ")?;
    number.split('.').next()?.parse().ok()
}

fn stdout_of(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
