//! What a page costs a reader: every wasm, JavaScript and CSS file that it fetches, as brotli at its best setting
//! makes it, which is how static hosts send it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

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

/// Prints a row per file and one per page, and fails when a page is past the budget.
pub fn budget(context: &Context) -> Result<()> {
    let dist = context.root.join("dist");
    let mut files = Vec::new();
    files_in(&dist, &mut files).context("there is no dist/: run `cargo xtask build` first")?;
    files.sort();
    let of_kind = |kinds: &[&str]| -> Vec<PathBuf> {
        let is =
            |file: &&PathBuf| file.extension().is_some_and(|found| kinds.iter().any(|kind| found == *kind));
        files.iter().filter(is).cloned().collect()
    };
    let (pages, assets) = (of_kind(&["html"]), of_kind(&["wasm", "js", "css"]));
    if pages.is_empty() || of_kind(&["wasm"]).is_empty() {
        bail!("dist/ holds no pages with wasm: run `cargo xtask build` first");
    }
    let sizes = compressed(context, &dist, &assets)?;

    println!("\n{:>10}  page; the budget is {BUDGET_BYTES}", "brotli 11");
    let mut too_heavy = Vec::new();
    for page in &pages {
        let fetched = fetched_by(page, &assets)?;
        if !fetched.iter().any(|file| file.extension().is_some_and(|kind| kind == "wasm")) {
            bail!("{} fetches no wasm: is its script tag there?", page.display());
        }
        let total: usize = fetched.iter().filter_map(|file| sizes.get(file)).sum();
        let name = page.strip_prefix(&dist).unwrap_or(page).display();
        let left = BUDGET_BYTES.checked_sub(total);
        let note = left.map_or("past the budget".to_owned(), |left| format!("{left} left"));
        println!("{total:>10}  {name}  {note}");
        if left.is_none() {
            too_heavy.push(format!("{name} weighs {total}, {} more than it may", total - BUDGET_BYTES));
        }
    }
    if !too_heavy.is_empty() {
        bail!("{}", too_heavy.join("; "));
    }
    Ok(())
}

/// The compressed size of each file, told in a table.
fn compressed(context: &Context, dist: &Path, assets: &[PathBuf]) -> Result<BTreeMap<PathBuf, usize>> {
    let mut node = context.command("node");
    let told = run::output(node.arg("-e").arg(COMPRESS).args(assets))?;
    println!("{:>10} {:>10}  file", "bytes", "brotli 11");
    let mut sizes = BTreeMap::new();
    for line in told.lines() {
        let mut words = line.splitn(3, ' ');
        let mut size =
            || words.next().and_then(|word| word.parse::<usize>().ok()).context("node printed no size");
        let (raw, small) = (size()?, size()?);
        let file = PathBuf::from(words.next().unwrap_or_default());
        println!("{raw:>10} {small:>10}  {}", file.strip_prefix(dist).unwrap_or(&file).display());
        sizes.insert(file, small);
    }
    Ok(sizes)
}

/// The files that a page names, and those that its scripts name.
fn fetched_by(page: &Path, assets: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut fetched: Vec<PathBuf> = Vec::new();
    let mut to_read = vec![page.to_path_buf()];
    while let Some(file) = to_read.pop() {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        for asset in assets {
            let name = asset.file_name().unwrap_or_default().to_string_lossy();
            // Names are relative, and every page keeps what it fetches beside it.
            let beside = asset.parent() == page.parent();
            if !beside || fetched.contains(asset) || !text.contains(&*name) {
                continue;
            }
            fetched.push(asset.clone());
            if asset.extension().is_some_and(|kind| kind == "js") {
                to_read.push(asset.clone());
            }
        }
    }
    Ok(fetched)
}

fn files_in(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // Trunk's own folder of unfinished work is hidden.
        if path.is_dir() && !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            files_in(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::fetched_by;

    #[test]
    fn a_page_fetches_what_it_names_and_what_that_names() {
        let folder = std::env::temp_dir().join(format!("emq-budget-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder in the temporary one");
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).expect("a file in it");
            path
        };
        let page = write("a.html", "<script src=\"shell.js\"></script>");
        let assets: Vec<PathBuf> = [
            ("shell.js", "import('./view.js')"),
            ("view.js", "'view_bg.wasm'"),
            ("view_bg.wasm", ""),
            ("other.css", ""),
        ]
        .map(|(name, text)| write(name, text))
        .into();
        let mut fetched = fetched_by(&page, &assets).expect("all are there");
        fetched.sort();
        assert_eq!(fetched, assets[..3]);
        fs::remove_dir_all(&folder).expect("nobody else is in it");
    }
}
