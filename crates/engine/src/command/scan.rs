//! The options, the cursor and the pattern matching of SCAN, HSCAN, SSCAN and ZSCAN.
//!
//! A cursor is a place in an order that nothing moves: that of a hash of the item. So an item that is there all
//! the time is seen exactly once, whatever comes and goes meanwhile. Small values are answered whole, as Valkey
//! does for those in one block.

use super::Args;
use crate::error::CommandError;
use crate::keyspace::scan_place;
use crate::reply::Reply;
use crate::value::parse_integer;

#[derive(Clone, Copy, Debug)]
pub(super) struct ScanOptions<'a> {
    cursor: u64,
    count: usize,
    pattern: Option<&'a [u8]>,
    /// SCAN only.
    pub type_name: Option<&'a [u8]>,
    /// NOVALUES or NOSCORES.
    pub brief: bool,
}

/// What one call of a scan visits.
pub(super) struct Page<T> {
    pub cursor: u64,
    pub items: Vec<T>,
}

impl<'a> ScanOptions<'a> {
    /// `at` is the cursor's place; `word` is the option of this command alone: `TYPE` takes a value, others don't.
    pub fn read(args: &Args<'a>, at: usize, word: &str) -> Result<ScanOptions<'a>, CommandError> {
        let cursor = read_cursor(args, at)?;
        let mut options = ScanOptions { cursor, count: 10, pattern: None, type_name: None, brief: false };
        let mut at = at + 1;
        while at < args.len() {
            if args.is_with_value(at, "COUNT") {
                let count = args.integer(at + 1)?;
                options.count = usize::try_from(count).ok().filter(|&n| n > 0).ok_or(CommandError::Syntax)?;
                at += 2;
            } else if args.is_with_value(at, "MATCH") {
                options.pattern = Some(args.bytes(at + 1)?);
                at += 2;
            } else if word == "TYPE" && args.is_with_value(at, word) {
                options.type_name = Some(args.bytes(at + 1)?);
                at += 2;
            } else if word != "TYPE" && args.is(at, word) {
                options.brief = true;
                at += 1;
            } else if args.is(at, "NOVALUES") {
                return Err(CommandError::SCAN_NOVALUES);
            } else if args.is(at, "NOSCORES") {
                return Err(CommandError::SCAN_NOSCORES);
            } else {
                return Err(CommandError::Syntax);
            }
        }
        Ok(options)
    }

    pub fn admits(&self, item: &[u8]) -> bool {
        self.pattern.is_none_or(|pattern| matches(pattern, item))
    }

    /// The items of this call: all of them when `whole`.
    pub fn page<T>(
        &self,
        items: impl Iterator<Item = T>,
        name: impl Fn(&T) -> &[u8],
        whole: bool,
    ) -> Page<T> {
        if whole {
            return Page { cursor: 0, items: items.collect() };
        }
        let mut rest: Vec<(u64, T)> = items
            .map(|item| (scan_place(name(&item)), item))
            .filter(|(place, _)| *place >= self.cursor)
            .collect();
        rest.sort_by_key(|(place, _)| *place);
        // Items of one place stay together, for a cursor cannot point between them.
        let mut end = self.count.min(rest.len());
        while end > 0 && end < rest.len() && rest[end].0 == rest[end - 1].0 {
            end += 1;
        }
        let cursor = rest.get(end).map_or(0, |(place, _)| *place);
        rest.truncate(end);
        Page { cursor, items: rest.into_iter().map(|(_, item)| item).collect() }
    }
}

impl Page<()> {
    pub fn reply(cursor: u64, items: Vec<Reply>) -> Reply {
        Reply::Array(vec![Reply::bulk(cursor.to_string()), Reply::Array(items)])
    }

    /// The reply for a key that is not there.
    pub fn end() -> Reply {
        Page::reply(0, Vec::new())
    }
}

/// The cursor is looked at before the key, and the key before the options.
pub(super) fn read_cursor(args: &Args<'_>, at: usize) -> Result<u64, CommandError> {
    parse_cursor(args.bytes(at)?).ok_or(CommandError::CURSOR)
}

/// A plain integer, or what strtoul reads up to the first zero byte: after spaces an unsigned number of 64 bits, whose
/// sign turns it around.
fn parse_cursor(text: &[u8]) -> Option<u64> {
    if let Some(n) = parse_integer(text) {
        return u64::try_from(n).ok();
    }
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    let (negative, digits) = match text.trim_ascii_start() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(if negative { number.wrapping_neg() } else { number })
}

/// How many stars a pattern may have.
const MAX_STARS: usize = 1000;

/// Glob patterns: `*`, `?`, `[abc]`, `[^a-c]`, `\` before a literal. An unclosed class ends with the pattern.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where the last star was, and how much of the text it takes; one star to go back to is enough.
    let mut star: Option<(usize, usize)> = None;
    // Valkey descends at each star, and gives up below this depth.
    let mut depth = 0;
    loop {
        let step = match pattern.get(p) {
            Some(b'*') => {
                // A star at the end needs no descent, nor does one before another.
                if !matches!(pattern.get(p + 1), None | Some(b'*')) {
                    if depth == MAX_STARS {
                        return false;
                    }
                    depth += 1;
                }
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some(_) if t < text.len() => match_one(pattern, p, text[t]),
            Some(_) => None,
            None if t == text.len() => return true,
            None => None,
        };
        match (step, star) {
            (Some(next), _) => {
                p = next;
                t += 1;
            }
            (None, Some((after, taken))) if taken < text.len() => {
                star = Some((after, taken + 1));
                p = after;
                t = taken + 1;
            }
            (None, _) => return false,
        }
    }
}

/// Where the pattern goes on when its element at `at` (not a star) takes `byte`.
fn match_one(pattern: &[u8], at: usize, byte: u8) -> Option<usize> {
    match pattern.get(at)? {
        b'?' => Some(at + 1),
        b'\\' if at + 1 < pattern.len() => (pattern[at + 1] == byte).then_some(at + 2),
        b'[' => match_class(pattern, at + 1, byte),
        literal => (*literal == byte).then_some(at + 1),
    }
}

fn match_class(pattern: &[u8], mut at: usize, byte: u8) -> Option<usize> {
    let negated = pattern.get(at) == Some(&b'^');
    at += usize::from(negated);
    let mut found = false;
    loop {
        match pattern.get(at..).unwrap_or_default() {
            [] => break,
            [b'\\', literal, ..] => {
                found |= *literal == byte;
                at += 2;
            }
            [b']', ..] => {
                at += 1;
                break;
            }
            [low, b'-', high, ..] => {
                found |= (*low.min(high)..=*low.max(high)).contains(&byte);
                at += 3;
            }
            [literal, ..] => {
                found |= *literal == byte;
                at += 1;
            }
        }
    }
    (found != negated).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::{ScanOptions, matches};

    /// What is there from the first call to the last is met exactly once, whatever comes and goes.
    #[test]
    fn a_scan_meets_every_item_that_stays() {
        let name = |n: usize| format!("key{n}");
        let mut keys: Vec<String> = (0..500).map(name).collect();
        let mut met = Vec::new();
        let mut cursor = 0;
        for round in 0.. {
            let options = ScanOptions { cursor, count: 7, pattern: None, type_name: None, brief: false };
            let page = options.page(keys.iter(), |key| key.as_bytes(), false);
            met.extend(page.items.into_iter().cloned());
            cursor = page.cursor;
            if cursor == 0 {
                break;
            }
            // The first half stays, in another order; the other half makes room for new ones.
            keys.rotate_left(13);
            keys.retain(|key| *key != name(250 + round));
            keys.push(format!("new{round}"));
        }
        for key in (0..250).map(name) {
            assert_eq!(met.iter().filter(|other| **other == key).count(), 1, "{key}");
        }
    }

    #[test]
    fn patterns() {
        let yes = [
            ("*", ""),
            ("a*c", "abbc"),
            ("a*b*c", "aXbXbc"),
            ("h?llo", "hello"),
            ("h[ae]llo", "hallo"),
            ("h[^e]llo", "hallo"),
            ("h[a-c]llo", "hbllo"),
            ("h[c-a]llo", "hbllo"),
            ("\\*", "*"),
            ("[\\]]", "]"),
            ("a[bc", "ab"),
            ("**a", "a"),
        ];
        for (pattern, text) in yes {
            assert!(matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
        let no =
            [("", "a"), ("a", ""), ("h?llo", "hllo"), ("h[^e]llo", "hello"), ("*b", "abc"), ("a\\*", "ab")];
        for (pattern, text) in no {
            assert!(!matches(pattern.as_bytes(), text.as_bytes()), "{pattern} {text}");
        }
    }

    /// One star to go back to keeps the work within pattern times text.
    #[test]
    fn many_stars_are_quick() {
        let pattern = "a*".repeat(200) + "b";
        assert!(!matches(pattern.as_bytes(), "a".repeat(2000).as_bytes()));
    }
}
