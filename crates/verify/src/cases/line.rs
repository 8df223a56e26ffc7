//! Commands as they are typed into valkey-cli.

use echomq_core::Reply;

/// A line as valkey-cli reads it: words parted by spaces, `"…"` with escapes, `'…'` without. `None` for unbalanced
/// quotes.
pub fn split(line: &str) -> Option<Vec<Vec<u8>>> {
    let mut rest = line.as_bytes();
    let mut words = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return Some(words);
        }
        let mut word = Vec::new();
        while let [first, tail @ ..] = rest {
            match first {
                b'"' => rest = double_quoted(tail, &mut word)?,
                b'\'' => rest = single_quoted(tail, &mut word)?,
                byte if byte.is_ascii_whitespace() => break,
                byte => {
                    word.push(*byte);
                    rest = tail;
                }
            }
        }
        words.push(word);
    }
}

fn double_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'"', tail @ ..] => return Some(tail),
            [b'\\', b'x', high, low, tail @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digits = [*high, *low];
                word.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
                tail
            }
            [b'\\', escaped, tail @ ..] => {
                word.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                tail
            }
            [byte, tail @ ..] => {
                word.push(*byte);
                tail
            }
            [] => return None,
        }
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'\'', tail @ ..] => return Some(tail),
            [b'\\', b'\'', tail @ ..] => {
                word.push(b'\'');
                tail
            }
            [byte, tail @ ..] => {
                word.push(*byte);
                tail
            }
            [] => return None,
        }
    }
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
