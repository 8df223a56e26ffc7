//! The facts of each command beyond its row: ACL categories, tips, key specifications, group, release and arguments. The
//! text beside this file comes from a 9.1.2 server; `tests/commands.rs` writes and checks it.
//!
//! A line is a name and four values, parted by tabs. A value is written as `"bulk string"`, `+"simple string"`, `12`,
//! `~` for nil, `(array)`, `<set>` or `{map}`.

use crate::reply::Reply;

const TEXT: &str = include_str!("reference.txt");

/// What there is about one command.
pub(super) struct Entry {
    pub categories: Reply,
    pub tips: Reply,
    pub keys: Reply,
    pub docs: Vec<(Reply, Reply)>,
}

/// The entry of a command or of a subcommand (`config|get`); empty for one that the text lacks.
pub(super) fn entry(name: &str, resp3: bool) -> Entry {
    let line = TEXT.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'));
    let mut values = line.unwrap_or_default().split('\t').map(|value| {
        let mut reader = Reader { rest: value.as_bytes(), resp3 };
        reader.value().unwrap_or(Reply::Array(Vec::new()))
    });
    let mut next = || values.next().unwrap_or(Reply::Array(Vec::new()));
    let (categories, tips, keys, docs) = (next(), next(), next(), next());
    let docs = match docs {
        Reply::Map(pairs) => pairs,
        Reply::Array(items) => pairs(items),
        _ => Vec::new(),
    };
    Entry { categories, tips, keys, docs }
}

fn pairs(items: Vec<Reply>) -> Vec<(Reply, Reply)> {
    let mut items = items.into_iter();
    std::iter::from_fn(|| Some((items.next()?, items.next()?))).collect()
}

struct Reader<'a> {
    rest: &'a [u8],
    resp3: bool,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<Reply> {
        let (first, rest) = self.rest.trim_ascii_start().split_first()?;
        self.rest = rest;
        Some(match first {
            b'"' => Reply::Bulk(self.text()),
            b'+' => {
                self.rest = self.rest.get(1..)?;
                Reply::Status(self.text().into())
            }
            b'~' => Reply::Nil,
            b'(' => Reply::Array(self.items(b')')),
            b'<' if self.resp3 => Reply::Set(self.items(b'>')),
            b'<' => Reply::Array(self.items(b'>')),
            b'{' if self.resp3 => Reply::Map(pairs(self.items(b'}'))),
            b'{' => Reply::Array(self.items(b'}')),
            digit => {
                let end = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let (digits, rest) = self.rest.split_at(end);
                let sign = if *digit == b'-' { -1 } else { 1 };
                let lead = i64::from(digit.saturating_sub(b'0')) * i64::from(digit.is_ascii_digit());
                let n = digits.iter().fold(lead, |n, digit| n * 10 + i64::from(digit - b'0'));
                self.rest = rest;
                Reply::Integer(sign * n)
            }
        })
    }

    /// Values up to `end`.
    fn items(&mut self, end: u8) -> Vec<Reply> {
        let mut items = Vec::new();
        loop {
            self.rest = self.rest.trim_ascii_start();
            if let Some(rest) = self.rest.strip_prefix(&[end]) {
                self.rest = rest;
                return items;
            }
            let Some(item) = self.value() else { return items };
            items.push(item);
        }
    }

    /// A text up to its closing quote.
    fn text(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        loop {
            match self.rest {
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    return text;
                }
                [b'\\', byte, rest @ ..] | [byte, rest @ ..] => {
                    text.push(*byte);
                    self.rest = rest;
                }
                [] => return text,
            }
        }
    }
}
