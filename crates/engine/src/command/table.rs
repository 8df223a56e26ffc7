//! Joins the families' rows into one table.

use super::Row;
use crate::error::CommandError;

const FAMILIES: &[&[Row]] = &[super::string::ROWS];

pub(crate) fn find(argv: &[&[u8]]) -> Result<&'static Row, CommandError> {
    let name = argv.first().copied().unwrap_or_default();
    let row = FAMILIES.iter().copied().flatten().find(|row| name.eq_ignore_ascii_case(row.name.as_bytes()));
    row.ok_or_else(|| CommandError::UnknownCommand {
        name: String::from_utf8_lossy(name).into_owned(),
        args: String::new(),
    })
}
