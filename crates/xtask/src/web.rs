//! The pages and the npm package: Trunk builds and serves the former, wasm-pack makes the latter.

use std::{env, fs, net::TcpListener, path::Path, process::Command};

use anyhow::{Context as _, Result, bail};

use crate::{context::Context, run};

/// The files' stem in dist/ and in the npm package, which is the package's name.
const WIDGET: &str = "echomq-widget";

/// The folders of dist/ that hold a module: all elements, and `<emq-rung>` alone.
const MODULES: [&str; 2] = ["dist", "dist/rung"];

/// Builds the optimised pages into dist/, and the page of `<emq-rung>` alone, with a module of its own, below it.
pub fn build_pages(context: &Context) -> Result<()> {
    for target in [&[][..], &["www/rung/index.html", "--dist", "dist/rung"]] {
        let mut trunk = trunk(context, "build");
        trunk.args(target).arg("--release");
        if context.locked {
            trunk.arg("--locked");
        }
        run::run(&mut trunk)?;
    }
    Ok(())
}

/// Serves the pages until Ctrl-C.
pub fn serve(context: &Context, port: u16, open: bool, dev: bool) -> Result<()> {
    if let Err(error) = TcpListener::bind(("127.0.0.1", port)) {
        bail!("cannot listen on 127.0.0.1:{port} ({error}); choose another port with --port");
    }
    let mut trunk = trunk(context, "serve");
    trunk.args(["--address", "127.0.0.1", "--port", &port.to_string()]);
    if open {
        trunk.arg("--open");
    }
    if !dev {
        trunk.arg("--release");
    }
    println!("Building the engine, Lua and the pages; the first time takes a few minutes.");
    println!(
        "Then the pages are at http://127.0.0.1:{port}/ and follow your edits. Ctrl-C stops the server.\n"
    );
    become_child(trunk)
}

/// Shortens the JavaScript of an optimised build, which Trunk tells of in the environment: see `hooks` in Trunk.toml.
pub fn minify(context: &Context) -> Result<()> {
    let told =
        |name: &str| env::var_os(name).with_context(|| format!("Trunk, which calls this, sets {name}"));
    if told("TRUNK_PROFILE")? != "release" {
        return Ok(());
    }
    for entry in fs::read_dir(told("TRUNK_STAGING_DIR")?)? {
        let file = entry?.path();
        if file.extension().is_some_and(|kind| kind == "js") {
            let mut terser = context.command("terser");
            terser.arg(&file).args(["--module", "--compress", "--mangle", "--output"]).arg(&file);
            run::run(&mut terser)?;
        }
    }
    Ok(())
}

/// Builds the npm package into target/npm.
pub fn build_package(context: &Context) -> Result<()> {
    let folder = context.target.join("npm");
    let mut pack = context.command("wasm-pack");
    pack.args(["build", "crates/widget", "--target", "web", "--mode", "no-install", "--profile", "wasm"]);
    pack.arg("--out-dir").arg(&folder).args(["--out-name", WIDGET]);
    pack.arg("--").arg("--offline");
    run::run(&mut pack)?;
    complete_package(context, &folder)?;
    println!("the npm package is in {}", folder.display());
    Ok(())
}

/// Adds what wasm-pack does not know of: the shell that defines the tags, which is the package's entry, and the
/// licences.
fn complete_package(context: &Context, folder: &Path) -> Result<()> {
    for file in ["crates/widget/src/element.js", "LICENSE-MIT", "LICENSE-APACHE"] {
        let from = context.root.join(file);
        let name = from.file_name().context("a file has a name")?;
        fs::copy(&from, folder.join(name))
            .with_context(|| format!("{file} could not be added to the npm package"))?;
    }
    let path = folder.join("package.json");
    let manifest =
        fs::read_to_string(&path).with_context(|| format!("wasm-pack wrote no {}", path.display()))?;
    fs::write(&path, with_shell(&manifest)?)?;
    Ok(())
}

/// The manifest with the shell as entry.
fn with_shell(manifest: &str) -> Result<String> {
    let edits = [
        (format!("\"main\": \"{WIDGET}.js\""), "\"main\": \"element.js\"".to_owned()),
        ("\"files\": [".to_owned(), "\"files\": [\n    \"element.js\",\n    \"LICENSE-*\",".to_owned()),
        ("\"sideEffects\": [".to_owned(), "\"sideEffects\": [\n    \"./element.js\",".to_owned()),
    ];
    edits.iter().try_fold(manifest.to_owned(), |text, (old, new)| {
        if text.matches(old).count() != 1 {
            bail!("wasm-pack wrote a package.json without {old}; `complete_package` must learn its new form:\n{text}");
        }
        Ok(text.replace(old, new))
    })
}

/// Every import of a finished module must be wasm-bindgen's: rustc turns a C symbol that is missing into an import
/// from `env` and says nothing.
pub fn check_imports(context: &Context) -> Result<()> {
    let script = "const m = new WebAssembly.Module(require('node:fs').readFileSync(process.argv[1])); \
                  for (const i of WebAssembly.Module.imports(m)) console.log(i.module, i.name);";
    for folder in MODULES {
        let file = format!("{folder}/{WIDGET}_bg.wasm");
        let imports = run::output(context.command("node").arg("-e").arg(script).arg(&file))
            .with_context(|| format!("{file} cannot be read: run `cargo xtask test --only page` first"))?;
        let expected = format!("./{WIDGET}_bg.js ");
        let foreign: Vec<&str> = imports.lines().filter(|import| !import.starts_with(&expected)).collect();
        if !foreign.is_empty() {
            bail!("{file} imports what no page provides: {}", foreign.join(", "));
        }
        println!("{file}: {} imports, all from ./{WIDGET}_bg.js", imports.lines().count());
    }
    Ok(())
}

fn trunk(context: &Context, subcommand: &str) -> Command {
    let mut trunk = context.command("trunk");
    trunk.args([subcommand, "--skip-version-check"]);
    // Trunk reads NO_COLOR as a boolean of its own and refuses the usual value 1.
    trunk.env_remove("NO_COLOR");
    trunk
}

/// On Unix the child takes this process's place, so that Ctrl-C and `kill` reach it alone and nothing is left.
#[cfg(unix)]
fn become_child(mut command: Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    bail!("cannot start {}: {error}", run::shown(&command));
}

#[cfg(not(unix))]
fn become_child(mut command: Command) -> Result<()> {
    run::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::with_shell;

    #[test]
    fn the_shell_is_the_entry_of_the_package() {
        let written = "{\n  \"files\": [\n    \"a.wasm\"\n  ],\n  \"main\": \"echomq-widget.js\",\n  \"sideEffects\": [\n    \"./snippets/*\"\n  ]\n}";
        let text = with_shell(written).unwrap();
        assert!(text.contains("\"main\": \"element.js\""), "{text}");
        assert!(text.contains("[\n    \"./element.js\",\n    \"./snippets/*\"\n  ]"), "{text}");
        assert!(with_shell("{}").is_err());
    }
}
