//! The types of values. Plain structures that know no replies and no commands.

/// What a key can hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    String(Vec<u8>),
}

/// A sorted set's score as replies show it (`%.17g`, shortened as Valkey does).
pub(crate) fn score_text(x: f64) -> String {
    x.to_string()
}
