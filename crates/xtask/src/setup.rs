//! `cargo xtask setup`: a table of things that must be there. Each row knows how to see that it is there and how
//! to bring it; a second run finds everything and changes nothing.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::{browser, clients, context::Context, suite, tools, valkey};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What building and serving the pages needs.
    Serve,
    /// What testing needs (which includes building the pages).
    Test,
    All,
}

struct Step {
    name: &'static str,
    /// Whether serving needs it too.
    serve: bool,
    /// What is there already, in a few words.
    present: fn(&Context) -> Option<String>,
    install: fn(&Context) -> Result<()>,
}

const STEPS: &[Step] = &[
    Step {
        name: "Rust's wasm target",
        serve: true,
        present: tools::wasm_target_present,
        install: tools::wasm_target_install,
    },
    Step {
        name: "clang for wasm",
        serve: true,
        present: tools::clang_present,
        install: tools::clang_install,
    },
    Step { name: "Node.js and npm", serve: true, present: tools::node_present, install: tools::node_install },
    Step {
        name: "wasm-opt",
        serve: true,
        present: tools::wasm_opt_present,
        install: tools::wasm_opt_install,
    },
    Step {
        name: "terser",
        serve: true,
        present: |context| tools::TERSER.present(context),
        install: |context| tools::npm_install(context, "terser"),
    },
    Step {
        name: "wasm-bindgen",
        serve: true,
        present: |context| tools::WASM_BINDGEN_CLI.present(context),
        install: |context| tools::WASM_BINDGEN_CLI.install(context),
    },
    Step {
        name: "Trunk",
        serve: true,
        present: |context| tools::TRUNK_TOOL.present(context),
        install: |context| tools::TRUNK_TOOL.install(context),
    },
    Step { name: "git", serve: false, present: tools::git_present, install: tools::git_install },
    Step {
        name: "wasm-pack",
        serve: false,
        present: |context| tools::WASM_PACK_TOOL.present(context),
        install: |context| tools::WASM_PACK_TOOL.install(context),
    },
    Step {
        name: "cargo-deny",
        serve: false,
        present: |context| tools::CARGO_DENY_TOOL.present(context),
        install: |context| tools::CARGO_DENY_TOOL.install(context),
    },
    Step {
        name: "cargo-nextest",
        serve: false,
        present: |context| tools::NEXTEST_TOOL.present(context),
        install: |context| tools::NEXTEST_TOOL.install(context),
    },
    Step { name: "Valkey", serve: false, present: valkey::present, install: valkey::install },
    Step { name: "Chromium", serve: false, present: browser::present, install: browser::install },
    Step {
        name: "Firefox",
        serve: false,
        present: clients::firefox_present,
        install: clients::firefox_install,
    },
    Step {
        name: "geckodriver",
        serve: false,
        present: |context| tools::GECKODRIVER_TOOL.present(context),
        install: |context| tools::GECKODRIVER_TOOL.install(context),
    },
    Step {
        name: "valkey-cli",
        serve: false,
        present: clients::valkey_cli_present,
        install: clients::valkey_cli_install,
    },
    Step {
        name: "Python's clients",
        serve: false,
        present: clients::python_present,
        install: clients::python_install,
    },
    Step { name: "Valkey's suite", serve: false, present: suite::present, install: suite::install },
    Step {
        name: "npm test packages",
        serve: false,
        present: clients::npm_present,
        install: clients::npm_install,
    },
];

/// Brings everything that the group needs, then the crates' sources, so that later steps work offline.
pub fn setup(context: &Context, group: Group) -> Result<()> {
    let start = Instant::now();
    println!("setup, tools in {}", context.cache.display());
    let mut installed = 0;
    for step in STEPS.iter().filter(|step| step.serve || group != Group::Serve) {
        installed += usize::from(bring(context, step)?);
    }
    if installed > 0 {
        tools::clean_builds(context);
    }
    fetch(context)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("setup done in {seconds:.1} s: {installed} installed, the rest was there\n");
    Ok(())
}

/// Returns whether something had to be installed.
fn bring(context: &Context, step: &Step) -> Result<bool> {
    let start = Instant::now();
    if let Some(found) = (step.present)(context) {
        report(step.name, start.elapsed(), &format!("there: {found}"));
        return Ok(false);
    }
    println!("  {:<18}          installing …", step.name);
    (step.install)(context).with_context(|| format!("setup stopped at: {}", step.name))?;
    let Some(found) = (step.present)(context) else {
        bail!(
            "setup installed {} but still cannot find it working; the log is in {}",
            step.name,
            context.cache.join("log").display()
        );
    };
    report(step.name, start.elapsed(), &format!("installed: {found}"));
    Ok(true)
}

/// Trunk and wasm-pack build offline; this is the one place where crates are downloaded.
fn fetch(context: &Context) -> Result<()> {
    let start = Instant::now();
    crate::run::run_logged(context, "fetch", &mut context.cargo(&["fetch"]))?;
    report("crates", start.elapsed(), "fetched");
    Ok(())
}

fn report(name: &str, took: Duration, text: &str) {
    println!("  {name:<18} {:>6.1} s  {text}", took.as_secs_f64());
}
