//! What a command answers: the RESP2 and RESP3 types in one, with the text that `valkey-cli` prints for each.
//!
//! The text form (`Display`) follows valkey-cli on a terminal (`cliFormatReplyTTY`), without the final newline.
//! Readouts, goldens and diffs all use it, so that what a page shows is what a reader sees at home.

use std::borrow::Cow;
use std::fmt;

/// One reply. Byte strings need not be UTF-8.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A simple string such as `OK`.
    Status(Cow<'static, [u8]>),
    /// The whole error line without the leading `-`, class first: `EMQSTALE complete token mismatch`.
    Error(Vec<u8>),
    Integer(i64),
    Bulk(Vec<u8>),
    /// The null bulk string of RESP2, the null of RESP3.
    Nil,
    /// The null array of RESP2 (`*-1`); RESP3 has one null only.
    NilArray,
    Array(Vec<Reply>),
    // RESP3 only:
    Map(Vec<(Reply, Reply)>),
    Set(Vec<Reply>),
    Push(Vec<Reply>),
    Double(f64),
    Boolean(bool),
    BigNumber(Vec<u8>),
    Verbatim {
        format: [u8; 3],
        text: Vec<u8>,
    },
}

impl Reply {
    pub const OK: Reply = Reply::status("OK");

    pub const fn status(text: &'static str) -> Reply {
        Reply::Status(Cow::Borrowed(text.as_bytes()))
    }

    pub(crate) fn status_text(text: &str) -> Reply {
        Reply::Status(Cow::Owned(text.as_bytes().to_vec()))
    }

    pub fn bulk(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply::Bulk(bytes.into())
    }

    pub fn error(text: impl fmt::Display) -> Reply {
        Reply::Error(text.to_string().into_bytes())
    }

    pub fn integer(n: usize) -> Reply {
        Reply::Integer(i64::try_from(n).unwrap_or(i64::MAX))
    }

    pub fn is_error(&self) -> bool {
        matches!(self, Reply::Error(_))
    }

    /// The first word of an error: its class (`ERR`, `WRONGTYPE`, `EMQSTALE`).
    pub fn error_class(&self) -> Option<&[u8]> {
        match self {
            Reply::Error(text) => text.split(|&byte| byte == b' ').next(),
            _ => None,
        }
    }
}

/// What C's functions see of a text.
pub(crate) fn before_zero(mut text: Vec<u8>) -> Vec<u8> {
    if let Some(end) = text.iter().position(|&byte| byte == 0) {
        text.truncate(end);
    }
    text
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_reply(f, self, "")
    }
}

/// Writes `bytes` as valkey-cli quotes them: printable ASCII as it is, the rest escaped, in double quotes.
pub(crate) fn write_quoted(f: &mut impl fmt::Write, bytes: &[u8]) -> fmt::Result {
    f.write_char('"')?;
    for &byte in bytes {
        match byte {
            b'\\' | b'"' => write!(f, "\\{}", byte as char)?,
            b'\n' => f.write_str("\\n")?,
            b'\r' => f.write_str("\\r")?,
            b'\t' => f.write_str("\\t")?,
            0x07 => f.write_str("\\a")?,
            0x08 => f.write_str("\\b")?,
            0x20..=0x7e => f.write_char(byte as char)?,
            _ => write!(f, "\\x{byte:02x}")?,
        }
    }
    f.write_char('"')
}

fn write_reply(f: &mut fmt::Formatter<'_>, reply: &Reply, prefix: &str) -> fmt::Result {
    match reply {
        Reply::Status(text) => write!(f, "{}", String::from_utf8_lossy(text)),
        Reply::Error(text) => write!(f, "(error) {}", String::from_utf8_lossy(text)),
        Reply::Integer(n) => write!(f, "(integer) {n}"),
        Reply::Bulk(bytes) => write_quoted(f, bytes),
        Reply::Nil | Reply::NilArray => f.write_str("(nil)"),
        Reply::Array(items) => write_items(f, items, prefix, "(empty array)", ')'),
        Reply::Set(items) => write_items(f, items, prefix, "(empty set)", '~'),
        Reply::Push(items) => write_items(f, items, prefix, "(empty push)", '>'),
        Reply::Map(pairs) => write_pairs(f, pairs, prefix),
        Reply::Double(x) => write!(f, "(double) {}", double_text(*x)),
        Reply::Boolean(x) => write!(f, "({x})"),
        Reply::BigNumber(text) | Reply::Verbatim { text, .. } => {
            write!(f, "{}", String::from_utf8_lossy(text))
        }
    }
}

fn write_items(
    f: &mut fmt::Formatter<'_>,
    items: &[Reply],
    prefix: &str,
    empty: &str,
    separator: char,
) -> fmt::Result {
    if items.is_empty() {
        return f.write_str(empty);
    }
    let width = items.len().to_string().len();
    let inner = format!("{prefix}{:width$}", "", width = width + 2);
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            write!(f, "\n{prefix}")?;
        }
        write!(f, "{:width$}{separator} ", at + 1)?;
        write_reply(f, item, &inner)?;
    }
    Ok(())
}

fn write_pairs(f: &mut fmt::Formatter<'_>, pairs: &[(Reply, Reply)], prefix: &str) -> fmt::Result {
    if pairs.is_empty() {
        return f.write_str("(empty hash)");
    }
    let width = pairs.len().to_string().len();
    let inner = format!("{prefix}{:width$}", "", width = width + 2);
    for (at, (key, value)) in pairs.iter().enumerate() {
        if at > 0 {
            write!(f, "\n{prefix}")?;
        }
        write!(f, "{:width$}# ", at + 1)?;
        write_reply(f, key, &inner)?;
        f.write_str(" => ")?;
        write_reply(f, value, &inner)?;
    }
    Ok(())
}

/// A double as RESP3 carries it: the shortest text that reads back as the same number.
pub fn double_text(x: f64) -> String {
    if x.is_nan() {
        "nan".to_owned()
    } else if x.is_infinite() {
        if x > 0.0 { "inf" } else { "-inf" }.to_owned()
    } else {
        crate::value::score_text(x)
    }
}
