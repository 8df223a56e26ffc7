//! `cargo xtask bench`: the queue's daily work on the engine, on Valkey and on the engine's peers, in one run; the ratios
//! go into `docs/performance.md`.

use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::{browser, context::Context, run, valkey};

/// Of npm, beside the engine; and the Node.js that the newest of them needs.
const PEERS: [&str; 4] = ["ioredis-mock@8.13.1", "js-redis-server@0.3.0", "ioredis@5.11.1", "node@24.21.0"];

const ROUNDS: &str = "7";

/// A place and how many pairs of claim and complete it does in a second.
type Lane = (String, f64);

pub fn bench(context: &Context) -> Result<()> {
    let natively = natively(context)?;
    let in_javascript = in_javascript(context)?;
    let text = page(&natively, &in_javascript)?;
    let path = context.root.join("docs/performance.md");
    fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("\n{text}");
    Ok(())
}

fn natively(context: &Context) -> Result<Vec<Lane>> {
    let mut command =
        context.cargo(&["run", "--release", "--package", "emq-verify", "--", "bench", "--plain"]);
    command.args(["--rounds", ROUNDS]).env(valkey::SERVERS_VARIABLE, newest_server(context)?);
    lanes(&run::run_and_keep(&mut command)?)
}

fn in_javascript(context: &Context) -> Result<Vec<Lane>> {
    let wasm = context.target.join("bench");
    let mut pack = context.command("wasm-pack");
    pack.args(["build", "crates/bench", "--target", "web", "--mode", "no-install", "--no-pack", "--release"]);
    run::run(pack.arg("--out-dir").arg(&wasm).args(["--", "--offline"]))?;
    // Node.js takes the module for one of its own kind only in a package that says so.
    fs::write(wasm.join("package.json"), "{\"type\": \"module\"}\n")?;
    let peers = peers(context)?;
    let node = peers.join("node_modules/node/bin/node");
    let mut command = context.command(node.to_str().context("the cache's path is not UTF-8")?);
    command.arg("tests/bench/lanes.mjs").args([&peers, &wasm, &context.root.join("lua")]);
    command.arg(newest_server(context)?).arg(browser::chromium(context).context("there is no Chromium")?);
    lanes(&run::run_and_keep(command.arg(ROUNDS))?)
}

fn newest_server(context: &Context) -> Result<PathBuf> {
    valkey::servers(context).pop().context("there is no Valkey server: run `cargo xtask setup`")
}

fn peers(context: &Context) -> Result<PathBuf> {
    let folder = context.cache.join("bench");
    fs::create_dir_all(&folder)?;
    let mut command = context.command("npm");
    // One of them brings its program by a script of its own.
    command.arg("install").arg("--prefix").arg(&folder).args(["--no-save", "--no-audit", "--no-fund"]);
    run::run_logged(context, "npm-bench", command.args(PEERS))?;
    Ok(folder)
}

/// `name<TAB>pairs per second`, among what else a program prints.
fn lanes(lines: &[String]) -> Result<Vec<Lane>> {
    let lane = |line: &String| {
        let (name, rate) = line.split_once('\t')?;
        Some((name.to_owned(), rate.trim().parse().ok()?))
    };
    let lanes: Vec<Lane> = lines.iter().filter_map(lane).collect();
    if lanes.is_empty() { bail!("the bench printed no lane") } else { Ok(lanes) }
}

fn page(natively: &[Lane], in_javascript: &[Lane]) -> Result<String> {
    let rate = |start: &str, end: &str| {
        let mut lanes = natively.iter().chain(in_javascript);
        let lane = lanes.find(|(name, _)| name.starts_with(start) && name.ends_with(end));
        lane.map(|(_, rate)| *rate).with_context(|| format!("no lane is called {start} … {end}"))
    };
    let base = natively.first().map(|(_, rate)| *rate).context("no server was measured")?;
    let mut table = String::from("| place | pairs/s | against Valkey over loopback |\n|---|---:|---:|\n");
    for (name, rate) in natively.iter().chain(in_javascript) {
        table += &format!("| {name} | {rate:.0} | {:.2} |\n", rate / base);
    }
    let (native, wasm) = (rate("engine", "")?, rate("engine in wasm", "")?);
    Ok(format!(
        "# Performance\n\n\
         Written by `cargo xtask bench`; every number is of one run on one machine, so only the ratios mean anything.\n\n\
         The work is a pair: one `claim` and one `complete` by EVALSHA, by one client that waits for each reply. Each place \
         is measured {ROUNDS} times, and the median stands here. Natively the rounds of all places take turns. The engine in \
         wasm is built for speed here (opt-level 3); the pages load one built for size.\n\n\
         {table}\n\
         - The engine natively, against a client of Valkey over loopback: {:.1} times.\n\
         - The engine in wasm in Node.js, against js-redis-server by its client: {:.1} times; in process: {:.1} times.\n\
         - The engine in wasm in Node.js, against ioredis-mock: {:.1} times.\n",
        native / base,
        wasm / rate("js-redis-server", "over loopback")?,
        wasm / rate("js-redis-server", "in process")?,
        wasm / rate("ioredis-mock", "")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::{lanes, page};

    #[test]
    fn ratios_are_against_the_first_server() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let natively = lanes(&lines("round 1 of 1\nvalkey 9\t1000\nengine 9\t20000")).unwrap();
        let others = "engine in wasm, Node\t12000\njs-redis-server 1, by ioredis over loopback\t50\njs-redis-server 1, in process\t100\nioredis-mock 1\t10";
        let text = page(&natively, &lanes(&lines(others)).unwrap()).unwrap();
        assert!(text.contains("| engine 9 | 20000 | 20.00 |"), "{text}");
        assert!(text.contains("by its client: 240.0 times; in process: 120.0 times."), "{text}");
        assert!(lanes(&lines("nothing")).is_err() && page(&natively, &[]).is_err());
    }
}
