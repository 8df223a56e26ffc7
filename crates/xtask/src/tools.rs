//! The tools that the project builds and tests with: where each version comes from, whether it is there, how it
//! is installed.

use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::{context::Context, packages::Need, run};

/// Trunk 0.22 wants Rust 1.96, which is newer than the stable toolchain this project builds with.
const TRUNK: &str = "0.21.14";
const WASM_PACK: &str = "0.15.1";
const CARGO_DENY: &str = "0.20.2";
const NEXTEST: &str = "0.9.143";
const GECKODRIVER: &str = "0.37.1";
/// Debian 12 ships binaryen 108, whose output ends in an uncaught WebAssembly.Exception with our module.
const BINARYEN: &str = "132.0.0";

/// The first LLVM whose setjmp/longjmp lowering is the one that crates/lua54 is written for.
const LLVM: u32 = 19;

const CLANG_NEED: Need = Need {
    what: "clang 19 or newer with the wasm32 backend, and its llvm-ar",
    debian: &["clang-19", "llvm-19"],
    fedora: "clang llvm",
    brew: "llvm",
};

const NODE_NEED: Need = Need {
    what: "Node.js 18 or newer with npm",
    debian: &["nodejs", "npm"],
    fedora: "nodejs npm",
    brew: "node",
};

/// A checkout can be there without git; `tidy` asks it which files are ours.
const GIT_NEED: Need = Need { what: "git", debian: &["git"], fedora: "git", brew: "git" };

/// A program from crates.io, in one pinned version.
#[derive(Debug, Clone, Copy)]
pub struct CargoTool {
    pub name: &'static str,
    program: &'static str,
    version: Version,
    /// Whether the package's own Cargo.lock is used. Trunk 0.21 does not compile with newer dependencies, and
    /// wasm-bindgen-cli not with its locked ones.
    locked: bool,
}

#[derive(Debug, Clone, Copy)]
enum Version {
    Exactly(&'static str),
    /// Any version will do; this one gets installed.
    Any(&'static str),
    /// The command-line tool and the library must be of one version; Cargo.lock says which.
    OfLockedCrate(&'static str),
}

pub const WASM_BINDGEN_CLI: CargoTool = CargoTool {
    name: "wasm-bindgen-cli",
    program: "wasm-bindgen",
    version: Version::OfLockedCrate("wasm-bindgen"),
    locked: false,
};
pub const TRUNK_TOOL: CargoTool =
    CargoTool { name: "trunk", program: "trunk", version: Version::Exactly(TRUNK), locked: true };
pub const WASM_PACK_TOOL: CargoTool = CargoTool {
    name: "wasm-pack",
    program: "wasm-pack",
    version: Version::Exactly(WASM_PACK),
    locked: false,
};
pub const CARGO_DENY_TOOL: CargoTool =
    CargoTool { name: "cargo-deny", program: "cargo-deny", version: Version::Any(CARGO_DENY), locked: true };
pub const NEXTEST_TOOL: CargoTool = CargoTool {
    name: "cargo-nextest",
    program: "cargo-nextest",
    version: Version::Any(NEXTEST),
    locked: true,
};

pub const GECKODRIVER_TOOL: CargoTool = CargoTool {
    name: "geckodriver",
    program: "geckodriver",
    version: Version::Any(GECKODRIVER),
    locked: true,
};

/// A package from npm, in one pinned version.
#[derive(Debug, Clone, Copy)]
pub struct NpmPackage {
    name: &'static str,
    version: &'static str,
}

const WASM_OPT: NpmPackage = NpmPackage { name: "binaryen", version: BINARYEN };

/// Shortens the pages' JavaScript.
pub const TERSER: NpmPackage = NpmPackage { name: "terser", version: "5.51.4" };

/// The accessibility rules, the client whose lines the pages offer, and the one that most queues use.
pub const TEST_PACKAGES: [NpmPackage; 3] = [
    NpmPackage { name: "axe-core", version: "4.14.1" },
    NpmPackage { name: "iovalkey", version: "0.4.0" },
    NpmPackage { name: "ioredis", version: "5.11.1" },
];

impl NpmPackage {
    /// The installed version, if it is the pinned one.
    pub fn present(&self, context: &Context) -> Option<String> {
        let manifest = context.cache.join("npm/node_modules").join(self.name).join("package.json");
        let text = fs::read_to_string(manifest).ok()?;
        text.contains(&format!("\"version\": \"{}\"", self.version))
            .then(|| format!("{} {}", self.name, self.version))
    }
}

impl CargoTool {
    /// The installed version, if it is one that will do.
    pub fn present(&self, context: &Context) -> Option<String> {
        context.find(self.program)?;
        let text = run::output(context.command(self.program).arg("--version")).ok()?;
        let found = text.split_whitespace().nth(1)?.to_owned();
        let will_do = match self.version {
            Version::Any(_) => true,
            Version::Exactly(wanted) => found == wanted,
            Version::OfLockedCrate(name) => found == locked_version(context, name).ok()?,
        };
        will_do.then_some(found)
    }

    pub fn install(&self, context: &Context) -> Result<()> {
        let version = match self.version {
            Version::Any(version) | Version::Exactly(version) => version.to_owned(),
            Version::OfLockedCrate(name) => locked_version(context, name)?,
        };
        let build = context.cache.join("build");
        let mut command = context.command("cargo");
        command.arg("install").arg("--root").arg(context.cache.join("cargo"));
        if self.locked {
            command.arg("--locked");
        }
        command.arg(format!("{}@{version}", self.name));
        // One folder for all tools, so that what they share is compiled once, and none of it in our target folder.
        command.env("CARGO_TARGET_DIR", &build).env("CARGO_PROFILE_RELEASE_DEBUG", "0");
        // These run for seconds; what counts is how soon they are there.
        command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
        command.env_remove("RUSTFLAGS");
        run::run_logged(context, self.name, &mut command)
    }
}

/// Removes what compiling the tools left behind: some gigabytes, needed only until each is installed.
pub fn clean_builds(context: &Context) {
    let _ = fs::remove_dir_all(context.cache.join("build"));
}

pub fn wasm_target_present(context: &Context) -> Option<String> {
    let sysroot = run::output(context.command("rustc").args(["--print", "sysroot"])).ok()?;
    let libraries = std::path::Path::new(sysroot.trim()).join("lib/rustlib/wasm32-unknown-unknown/lib");
    libraries.is_dir().then(|| "wasm32-unknown-unknown".to_owned())
}

pub fn wasm_target_install(context: &Context) -> Result<()> {
    if context.find("rustup").is_none() {
        bail!(
            "Rust has no wasm32-unknown-unknown here, and there is no rustup to add it: install it by the package \
             manager that Rust came from (Debian: libstd-rust-dev-wasm32, Fedora: rust-std-static-wasm32-unknown-unknown)"
        );
    }
    run::run_logged(
        context,
        "wasm-target",
        context.command("rustup").args(["target", "add", "wasm32-unknown-unknown"]),
    )
}

/// A clang that can make wasm, with its llvm-ar: crates/lua54's build script looks for the same.
pub fn clang_present(context: &Context) -> Option<String> {
    let versioned = (LLVM..LLVM + 8).map(|version| format!("clang-{version}"));
    versioned.chain(["clang".to_owned()]).find(|clang| {
        let says = |argument: &str| run::output(context.command(clang).arg(argument)).unwrap_or_default();
        major_version(context, clang).is_some_and(|version| version >= LLVM)
            && says("--print-targets").contains("wasm32")
            && context.find(says("--print-prog-name=llvm-ar").trim()).is_some()
    })
}

pub fn clang_install(context: &Context) -> Result<()> {
    CLANG_NEED.install(context)
}

fn major_version(context: &Context, program: &str) -> Option<u32> {
    context.find(program)?;
    let text = run::output(context.command(program).arg("-dumpversion")).ok()?;
    text.trim().split('.').next()?.parse().ok()
}

pub fn git_present(context: &Context) -> Option<String> {
    let text = run::output(context.command("git").arg("--version")).ok()?;
    Some(text.trim().trim_start_matches("git version ").to_owned())
}

pub fn git_install(context: &Context) -> Result<()> {
    GIT_NEED.install(context)
}

pub fn node_present(context: &Context) -> Option<String> {
    context.find("npm")?;
    let text = run::output(context.command("node").arg("--version")).ok()?;
    let major: u32 = text.trim().trim_start_matches('v').split('.').next()?.parse().ok()?;
    (major >= 18).then(|| text.trim().to_owned())
}

pub fn node_install(context: &Context) -> Result<()> {
    NODE_NEED.install(context)
}

pub fn wasm_opt_present(context: &Context) -> Option<String> {
    let ours = context.cache.join("npm/node_modules/.bin/wasm-opt");
    let text = run::output(context.command(ours.to_str()?).arg("--version")).ok()?;
    let major = BINARYEN.split('.').next()?;
    text.contains(&format!("version {major} ")).then(|| format!("binaryen {BINARYEN}"))
}

pub fn wasm_opt_install(context: &Context) -> Result<()> {
    npm_install(context, "wasm-opt")
}

/// Installs all packages at once: npm removes what the command does not name.
pub fn npm_install(context: &Context, log: &str) -> Result<()> {
    let folder = context.cache.join("npm");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut command = context.command("npm");
    command.arg("install").arg("--prefix").arg(&folder).args(["--no-save", "--no-audit", "--no-fund"]);
    for NpmPackage { name, version } in TEST_PACKAGES.iter().chain([&WASM_OPT, &TERSER]) {
        command.arg(format!("{name}@{version}"));
    }
    run::run_logged(context, log, &mut command)
}

/// The version of a package in Cargo.lock.
fn locked_version(context: &Context, name: &str) -> Result<String> {
    let path = context.root.join("Cargo.lock");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut lines = text.lines().skip_while(|line| *line != format!("name = \"{name}\""));
    let version = lines.nth(1).and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    Ok(version.with_context(|| format!("Cargo.lock names no {name}"))?.to_owned())
}
