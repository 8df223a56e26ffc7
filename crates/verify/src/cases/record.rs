//! Writes a real server's answers into the steps of a case file that have none.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Value};

use super::{Case, CaseFile, Clients, play, release};

/// Records the missing answers of the file from `newest`, and from `older` those that differ. The rest of the file
/// stays as it is. Returns how many steps were recorded.
///
/// # Errors
/// When the file can't be read or written, a server does not answer, or a server that is no newest one answers
/// differently from 9.0 on, which the format can't say.
pub fn record(
    path: &Path,
    newest: &mut dyn Clients,
    older: &mut [Box<dyn Clients>],
) -> anyhow::Result<usize> {
    let cases = CaseFile::read(path)?.cases;
    let mut document: DocumentMut = fs::read_to_string(path)?.parse()?;
    let tables = document.get_mut("case").and_then(|item| item.as_array_of_tables_mut());
    let tables = tables.context("the file has no [[case]]")?;
    let mut recorded = 0;
    for (at, case) in cases.iter().enumerate() {
        if case.steps.iter().all(|step| step.expect.is_some()) {
            continue;
        }
        let name = || format!("{}: {}", path.display(), case.name);
        let answers = play(case, newest).with_context(name)?;
        let missing = case.steps.iter().enumerate().filter(|(_, step)| step.expect.is_none());
        for (step, _) in missing {
            set(tables, at, step, "expect", &answers[step]).with_context(name)?;
            recorded += 1;
        }
        for clients in older.iter_mut() {
            record_older(case, at, &answers, &mut **clients, tables).with_context(name)?;
        }
    }
    if recorded > 0 {
        fs::write(path, document.to_string())?;
    }
    Ok(recorded)
}

fn record_older(
    case: &Case,
    at: usize,
    answers: &[String],
    clients: &mut dyn Clients,
    tables: &mut ArrayOfTables,
) -> anyhow::Result<()> {
    if case.is_for_newer_than(clients.version()) {
        return Ok(());
    }
    let older = play(case, clients)?;
    for (step, (new, old)) in answers.iter().zip(&older).enumerate() {
        if old == new || case.steps[step].expect.is_some() {
            continue;
        }
        let send = &case.steps[step].send;
        let version = clients.version();
        anyhow::ensure!(
            release(version) < (9, 0),
            "{send}: valkey {version} answers {old}, a newer one {new}"
        );
        set(tables, at, step, "before_9", old)?;
    }
    Ok(())
}

fn set(tables: &mut ArrayOfTables, case: usize, step: usize, key: &str, text: &str) -> anyhow::Result<()> {
    let steps = tables.get_mut(case).and_then(|case| case.get_mut("steps"));
    let steps = steps.and_then(|steps| steps.as_array_mut());
    let step = steps.and_then(|steps| steps.get_mut(step)).and_then(Value::as_inline_table_mut);
    let step: &mut InlineTable = step.context("a step is not written as { … }")?;
    let mut value: Value = literal(text).parse().context("an answer that TOML can't hold")?;
    value.decor_mut().set_suffix(" ");
    // What stood last had the space before the brace.
    if let Some((_, last)) = step.iter_mut().last() {
        last.decor_mut().set_suffix("");
    }
    step.insert(key, value);
    Ok(())
}

/// A text as the case files write it: in single quotes where that can be, over several lines where it has some.
pub fn literal(text: &str) -> String {
    let plain = text.chars().all(|char| char == '\n' || !char.is_control());
    if plain && text.contains('\n') && !text.contains("'''") && !text.ends_with('\'') {
        return format!("'''\n{text}'''");
    }
    if plain && !text.contains(['\'', '\n']) {
        return format!("'{text}'");
    }
    let mut quoted = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(control))),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
