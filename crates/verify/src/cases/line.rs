//! Commands as they are typed into valkey-cli.

use echomq_core::Reply;

use crate::words;

/// A line as valkey-cli reads it: words parted by spaces, `"…"` with escapes, `'…'` without. `None` for unbalanced
/// quotes.
pub fn split(line: &str) -> Option<Vec<Vec<u8>>> {
    words::split(line.as_bytes())
}

/// Argv as a line that [`split`] reads back.
pub fn join<'a>(argv: impl IntoIterator<Item = &'a [u8]>) -> String {
    let words: Vec<String> = argv.into_iter().map(word).collect();
    words.join(" ")
}

/// Plain words stand bare; a text without single quotes goes into those, for it reads best; the rest is escaped.
fn word(bytes: &[u8]) -> String {
    let is_bare = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\');
    if !bytes.is_empty() && bytes.iter().all(is_bare) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'\'' | b'\\')) {
        return format!("'{}'", String::from_utf8_lossy(bytes));
    }
    Reply::bulk(bytes).to_string()
}

#[cfg(test)]
mod tests {
    use super::{join, split};

    #[test]
    fn lines_are_split_as_in_valkey_cli() {
        let words = |line: &str| split(line).unwrap();
        assert_eq!(words(r#"SET "a b" 'c d' "#), [b"SET".to_vec(), b"a b".to_vec(), b"c d".to_vec()]);
        assert_eq!(words(r#""\x00\xff\n\"\\" '\''"#), [b"\x00\xff\n\"\\".to_vec(), b"'".to_vec()]);
        assert_eq!(words(r#""" x"#), [b"".to_vec(), b"x".to_vec()]);
        assert_eq!(split(r#""open"#), None);
    }

    #[test]
    fn a_joined_line_is_split_into_the_same_words() {
        let argv: [&[u8]; 5] = [b"SET", b"a b", b"it's", b"\x00\xff\"\\", b""];
        let line = join(argv);
        assert_eq!(line, r#"SET 'a b' "it's" "\x00\xff\"\\" ''"#);
        assert_eq!(split(&line).unwrap(), argv);
    }
}
