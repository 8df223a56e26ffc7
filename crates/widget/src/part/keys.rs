//! The keys before and after: additions and removals by sign, by colour, and in words for a screen reader.

use super::escape;
use crate::session::diff::{Entry, KeyDiff, Sign};

pub fn html(keys: &[KeyDiff]) -> String {
    keys.iter().map(key).collect()
}

fn key(key: &KeyDiff) -> String {
    let entries: String = key.entries.iter().map(entry).collect();
    format!(
        r#"<section part="key"><h4><code>{}</code> <span class="kind">{}</span></h4><ul>{entries}</ul></section>"#,
        escape(&key.key),
        key.kind
    )
}

fn entry(entry: &Entry) -> String {
    let (class, sign, word) = match entry.sign {
        Sign::Kept => ("kept", "", ""),
        Sign::Added => ("added", "+", "added "),
        Sign::Removed => ("removed", "−", "removed "),
    };
    let name = if entry.name.is_empty() {
        String::new()
    } else {
        format!(r#"<code class="name">{}</code> "#, escape(&entry.name))
    };
    let note = if entry.note.is_empty() {
        String::new()
    } else {
        format!(r#" <span class="note">{}</span>"#, escape(&entry.note))
    };
    format!(
        r#"<li part="entry" class="{class}"><span class="sign" aria-hidden="true">{sign}</span><span class="sr">{word}</span>{name}<code class="value">{}</code>{note}</li>"#,
        escape(&entry.value)
    )
}
