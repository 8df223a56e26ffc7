//! What a page costs a reader: every wasm, JavaScript and CSS file in `dist/`, as brotli at its best setting
//! makes it, which is how static hosts send it.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, bail};

use crate::{context::Context, run};

/// 200 KB, where a KB is 1000 bytes: the smaller of the two readings.
const BUDGET_BYTES: usize = 200_000;

/// Node's zlib carries brotli, and Node is needed for the tests anyway. The window is the one that every
/// browser accepts (lgwin 22).
const COMPRESS: &str = "
const { readFileSync } = require('node:fs');
const { brotliCompressSync, constants } = require('node:zlib');
for (const file of process.argv.slice(1)) {
  const bytes = readFileSync(file);
  const small = brotliCompressSync(bytes, { params: {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 22,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  } });
  console.log(`${bytes.length} ${small.length} ${file}`);
}";

/// Prints a row per file, and fails past the budget.
pub fn budget(context: &Context) -> Result<()> {
    let dist = context.root.join("dist");
    let mut files = Vec::new();
    fetched_files(&dist, &mut files).context("there is no dist/: run `cargo xtask build` first")?;
    files.sort();
    let wasm = files.iter().filter(|file| file.ends_with(".wasm")).count();
    if wasm == 0 {
        bail!("dist/ holds no wasm: run `cargo xtask build` first");
    }
    let mut node = context.command("node");
    let sizes = run::output(node.arg("-e").arg(COMPRESS).args(&files))?;

    println!("{:>10} {:>10}  file", "bytes", "brotli 11");
    let (mut raw_total, mut small_total) = (0, 0);
    for line in sizes.lines() {
        let mut words = line.splitn(3, ' ');
        let mut size =
            || words.next().and_then(|word| word.parse::<usize>().ok()).context("node printed no size");
        let (raw, small) = (size()?, size()?);
        let file = Path::new(words.next().unwrap_or_default());
        println!("{raw:>10} {small:>10}  {}", file.strip_prefix(&dist).unwrap_or(file).display());
        raw_total += raw;
        small_total += small;
    }
    println!("{raw_total:>10} {small_total:>10}  in all; the budget is {BUDGET_BYTES}");
    if small_total > BUDGET_BYTES {
        bail!("what a page fetches is {} bytes over its budget", small_total - BUDGET_BYTES);
    }
    Ok(())
}

fn fetched_files(folder: &Path, files: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            fetched_files(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| ["wasm", "js", "css"].iter().any(|kind| extension == *kind))
        {
            files.push(path.to_string_lossy().into_owned());
        }
    }
    Ok(())
}
