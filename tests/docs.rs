//! `docs/widgets.md` names every tag, attribute, event, custom property and part that the sources have, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const DOCS: &str = include_str!("../docs/widgets.md");
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/widget/src");

type Names = BTreeSet<String>;

/// The text of all sources with one of these endings.
fn sources(endings: &[&str]) -> String {
    sources_in("", endings)
}

fn sources_in(folder: &str, endings: &[&str]) -> String {
    fn read(folder: &Path, endings: &[&str], text: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().unwrap_or_default();
            if path.is_dir() {
                read(&path, endings, text);
            } else if endings.iter().any(|known| ending == *known) {
                text.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut text = String::new();
    read(&Path::new(SOURCES).join(folder), endings, &mut text);
    assert!(!text.is_empty());
    text
}

/// What stands between `before` and the next of `ends`, wherever `before` stands.
fn between(text: &str, before: &str, ends: &[char]) -> Names {
    let after = text.split(before).skip(1);
    after.filter_map(|rest| rest.split(ends).next()).map(str::to_owned).collect()
}

/// The names in the first column of every table with that heading.
fn documented(heading: &str) -> Names {
    let mut names = Names::new();
    let mut inside = false;
    for line in DOCS.lines() {
        let first = line.strip_prefix("| ").and_then(|row| row.split(" |").next());
        match first {
            Some(first) if first == heading => inside = true,
            Some(first) if inside => names.extend(first.split('`').skip(1).step_by(2).map(str::to_owned)),
            Some(_) => {}
            None if line.starts_with("|-") => {}
            None => inside = false,
        }
    }
    names
}

#[track_caller]
fn same(what: &str, documented: &Names, sources: &Names) {
    assert!(!sources.is_empty(), "no {what} found in the sources");
    let missing: Vec<_> = sources.difference(documented).collect();
    let extra: Vec<_> = documented.difference(sources).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "{what}: docs lack {missing:?}, and have {extra:?} of their own"
    );
}

#[test]
fn tags() {
    let shell = fs::read_to_string(Path::new(SOURCES).join("element.js")).unwrap();
    let shell = between(&shell, "'emq-", &['\'']);
    let table =
        between(&fs::read_to_string(Path::new(SOURCES).join("widget.rs")).unwrap(), "tag: \"emq-", &['"']);
    assert_eq!(shell, table, "element.js defines what the module has");
    let headings: String = DOCS.lines().filter(|line| line.starts_with("### ")).collect();
    same("tags", &between(&headings, "`<emq-", &['>']), &table);
}

#[test]
fn attributes() {
    let rust = ["session", "widget"].map(|folder| sources_in(folder, &["rs"])).concat();
    let mut read = Names::new();
    for reader in ["attribute(\"", "number(\"", "text(\""] {
        read.extend(between(&rust, reader, &['"']));
    }
    // What a view sets inside its own shadow root.
    read.retain(|name| !name.starts_with("data-") && !name.starts_with("aria-"));
    same("attributes", &documented("attribute"), &read);
}

#[test]
fn events() {
    let told: Names =
        between(&sources(&["rs"]), "\"emq:", &['"']).iter().map(|name| format!("emq:{name}")).collect();
    // A key of a queue begins like an event.
    let told = told.into_iter().filter(|name| !name.contains('{')).collect();
    same("events", &documented("event"), &told);
}

#[test]
fn custom_properties() {
    let used = between(&sources(&["css", "html", "rs"]), "var(--emq-", &[',', ')', ' ']);
    same(
        "custom properties",
        &documented("property"),
        &used.iter().map(|name| format!("--emq-{name}")).collect(),
    );
}

#[test]
fn parts() {
    let texts = sources(&["rs", "css", "html"]);
    let mut parts: Names = ["part=\"", "part~=\""]
        .into_iter()
        .flat_map(|attribute| between(&texts, attribute, &['"']))
        .flat_map(|names| names.split(' ').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    parts.extend(between(&sources(&["js"]), ".part = '", &['\'']));
    same("parts", &documented("part"), &parts);
}
