//! `tests/valkey-suite.toml`.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, bail};
use toml::Table;

/// A stanza that the engine does not pass.
#[derive(Debug)]
pub struct Listed {
    pub file: String,
    pub name: String,
    /// It is not run, because it would wait for ever or take the rest of its file with it.
    pub skip: bool,
}

pub fn read(path: &Path) -> Result<Vec<Listed>> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let table: Table = text.parse().with_context(|| format!("{shown} is not TOML"))?;
    let stanzas = table.get("stanza").and_then(|value| value.as_array()).cloned().unwrap_or_default();
    stanzas
        .iter()
        .map(|value| value.as_table().and_then(stanza))
        .enumerate()
        .map(|(at, stanza)| {
            stanza.with_context(|| format!("{shown}: stanza {} wants a file, a name and a reason", at + 1))
        })
        .collect::<Result<Vec<_>>>()
        .and_then(distinct)
}

fn stanza(table: &Table) -> Option<Listed> {
    let text = |key: &str| table.get(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    text("reason")?;
    let skip = table.get("skip").and_then(toml::Value::as_bool).unwrap_or(false);
    Some(Listed { file: text("file")?, name: text("name")?, skip })
}

fn distinct(stanzas: Vec<Listed>) -> Result<Vec<Listed>> {
    for (at, stanza) in stanzas.iter().enumerate() {
        if stanzas[..at].iter().any(|other| (&other.file, &other.name) == (&stanza.file, &stanza.name)) {
            bail!("tests/valkey-suite.toml lists {}: {} twice", stanza.file, stanza.name);
        }
    }
    Ok(stanzas)
}
