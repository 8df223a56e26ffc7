//! A line as it is typed, to valkey-cli and to a server: words parted by spaces, `"…"` with escapes, `'…'` without.

/// `None` for quotes that do not balance.
pub fn split(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut rest = line;
    let mut words = Vec::new();
    loop {
        rest = skip_spaces(rest);
        if rest.is_empty() {
            return Some(words);
        }
        let mut word = Vec::new();
        while let [first, tail @ ..] = rest {
            match first {
                b'"' => rest = double_quoted(tail, &mut word)?,
                b'\'' => rest = single_quoted(tail, &mut word)?,
                b' ' | b'\n' | b'\r' | b'\t' | 0 => break,
                byte => {
                    word.push(*byte);
                    rest = tail;
                }
            }
        }
        words.push(word);
    }
}

fn skip_spaces(text: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b || *byte == 0;
    let start = text.iter().position(|byte| !is_space(byte)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
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
