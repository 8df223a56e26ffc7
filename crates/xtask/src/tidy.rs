//! The style rules that matter, as code: each breach is printed as `file:line`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};

use crate::{context::Context, run};

/// Longer files hold more than one concern.
const MAX_LINES: usize = 500;

/// Words that mark unfinished or switched-off work; put together from halves, so that this file passes.
const UNFINISHED: [&str; 4] =
    [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("#[ig", "nore")];

/// Paths that exist on one machine only.
const LOCAL_PATHS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

const TEXT: &[&str] = &["rs", "lua", "c", "h", "toml", "md", "js", "css", "html", "yml", "json", "txt"];

pub fn tidy(context: &Context) -> Result<()> {
    let mut breaches = Vec::new();
    let files = tracked_files(context)?;
    for file in &files {
        let name = file.strip_prefix(&context.root).unwrap_or(file);
        let Ok(text) = fs::read_to_string(file) else { continue };
        check(name, &text, &mut breaches);
    }
    for breach in &breaches {
        println!("{breach}");
    }
    if !breaches.is_empty() {
        bail!("{} breaches of the style rules, listed above", breaches.len());
    }
    println!("{} files are tidy", files.len());
    Ok(())
}

/// What git knows and what it would add: new files count before they are committed.
fn tracked_files(context: &Context) -> Result<Vec<PathBuf>> {
    let mut command = context.command("git");
    command.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
    let list = run::output(&mut command).context("tidy lists files by git")?;
    Ok(list.split('\0').map(|name| context.root.join(name)).filter(|file| is_text(file)).collect())
}

fn is_text(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    file.is_file() && TEXT.contains(&extension)
}

fn check(name: &Path, text: &str, breaches: &mut Vec<String>) {
    let shown = name.display();
    let rust = name.extension().is_some_and(|extension| extension == "rs");
    let lines = text.lines().count();
    if rust && lines > MAX_LINES {
        breaches.push(format!("{shown}:{lines}: more than {MAX_LINES} lines; split the file by concern"));
    }
    for (index, line) in text.lines().enumerate() {
        let at = index + 1;
        for word in UNFINISHED {
            if has_word(line, word) {
                breaches.push(format!("{shown}:{at}: `{word}`: finish it, or say it in an issue"));
            }
        }
        for path in LOCAL_PATHS {
            if has_word(line, path) {
                breaches.push(format!("{shown}:{at}: `{path}`: a path of one machine"));
            }
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        breaches.push(format!("{shown}:{lines}: the last line does not end"));
    }
}

/// Whether the word stands alone: `word:` does, `words` and `a/word` do not.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let joins = |next: char| next.is_alphanumeric() || next == '_';
        let joins_before = before.is_some_and(|next| joins(next) || next == '.');
        let joins_after = word.ends_with(char::is_alphanumeric) && after.is_some_and(joins);
        !joins_before && !joins_after
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LOCAL_PATHS, MAX_LINES, UNFINISHED, check};

    #[track_caller]
    fn breaches(name: &str, text: &str) -> Vec<String> {
        let mut breaches = Vec::new();
        check(Path::new(name), text, &mut breaches);
        breaches
    }

    #[test]
    fn reports_file_and_line() {
        for word in UNFINISHED {
            let found = breaches("a.rs", &format!("fn a() {{}}\n// {word}: later\n"));
            assert!(found.len() == 1 && found[0].starts_with("a.rs:2: "), "{found:?}");
        }
        for path in LOCAL_PATHS {
            assert_eq!(breaches("a.rs", &format!("let a = \"{path}main\";\n")).len(), 1);
        }
        assert_eq!(breaches("a.rs", "no newline").len(), 1);
        assert_eq!(breaches("a.rs", &"//\n".repeat(MAX_LINES + 1)).len(), 1);
    }

    #[test]
    fn leaves_other_words_and_long_data_alone() {
        let word = UNFINISHED[0];
        assert_eq!(breaches("a.rs", &format!("{word}S and {word}_LIST\n")), [""; 0]);
        let path = LOCAL_PATHS[0];
        assert_eq!(breaches("a.md", &format!("see docs{path}x and .{path}x\n")), [""; 0]);
        assert_eq!(breaches("a.json", &"{}\n".repeat(MAX_LINES + 1)), [""; 0]);
    }
}
