//! What Lua 5.1 reads differently in a source: 5.4 must get a source that means there what this one means in 5.1, and
//! what 5.1 refuses must be refused in its words.
//!
//! [`lexer`] takes the source apart by 5.1's rules, [`parser`] checks it by 5.1's grammar and builds nothing. What 5.4
//! reads otherwise is rewritten on the way, in place where it can be, so that lines stay what they are: escapes that
//! 5.1 does not know (`\x41` is `x41` there), the name `goto`, which is no keyword there, and hexadecimal numbers,
//! which wrap around in 5.4.

mod lexer;
mod parser;

use std::borrow::Cow;

/// The source for 5.4 that means what `source` means in 5.1, or 5.1's message about what is wrong with it. `name` is the
/// chunk's name as Lua takes it (`@user_script`).
pub(super) fn translate<'a>(source: &'a [u8], name: &[u8]) -> Result<Cow<'a, [u8]>, Vec<u8>> {
    if cfg!(not(feature = "dialect")) {
        return Ok(Cow::Borrowed(source));
    }
    let edits = parser::check(source).map_err(|wrong| {
        let mut message = chunk_id(name);
        message.extend_from_slice(format!(":{}: ", wrong.line).as_bytes());
        message.extend_from_slice(&wrong.text);
        message
    })?;
    if edits.is_empty() {
        return Ok(Cow::Borrowed(source));
    }
    let mut out = Vec::with_capacity(source.len() + 16);
    let mut at = 0;
    for edit in edits {
        out.extend_from_slice(&source[at..edit.start]);
        out.extend_from_slice(&edit.text);
        at = edit.end;
    }
    out.extend_from_slice(&source[at..]);
    Ok(Cow::Owned(out))
}

/// Bytes `start..end` of the source become `text`.
#[derive(Debug)]
struct Edit {
    start: usize,
    end: usize,
    text: Vec<u8>,
}

/// What is wrong with a source, and where.
#[derive(Debug)]
struct Wrong {
    line: u32,
    text: Vec<u8>,
}

/// How messages name a chunk: a file or a title as it is, a source by its first line.
fn chunk_id(name: &[u8]) -> Vec<u8> {
    const ROOM: usize = 60;
    match name {
        [b'=', title @ ..] => title.iter().take(ROOM - 1).copied().collect(),
        [b'@', file @ ..] => {
            let room = ROOM - 1 - " '...' ".len();
            if file.len() <= room {
                return file.to_vec();
            }
            [b"...", &file[file.len() - room..]].concat()
        }
        source => {
            let source = source.split(|&byte| byte == 0).next().unwrap_or_default();
            let line = source.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
            let room = ROOM - 1 - " [string \"...\"] ".len();
            let cut = &line[..line.len().min(room)];
            let dots: &[u8] = if cut.len() < source.len() { b"..." } else { b"" };
            [b"[string \"", cut, dots, b"\"]"].concat()
        }
    }
}

#[cfg(all(test, feature = "dialect"))]
mod tests {
    use super::translate;

    #[track_caller]
    fn check(source: &str, expected: Result<&str, &str>) {
        let result = translate(source.as_bytes(), b"@user_script");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let result = result.map(|source| text(&source)).map_err(|message| text(&message));
        assert_eq!(result, expected.map(str::to_owned).map_err(str::to_owned));
    }

    #[test]
    fn a_source_is_rewritten_where_5_4_reads_it_otherwise() {
        check("return 'a\\n\\65\\'' --[[ goto ]]", Ok("return 'a\\n\\65\\'' --[[ goto ]]"));
        check("return \"\\x41\\z\\u{41}\\q\"", Ok("return \"x41zu{41}q\""));
        check("local goto = 1 return goto", Ok("local g0to = 1 return g0to"));
        check("return 0xff, 0xffffffffffffffff", Ok("return 0xff, 18446744073709551616.0"));
    }

    /// The messages are Valkey 9.1.2's.
    #[test]
    fn what_5_1_refuses_is_refused_in_its_words() {
        for (source, message) in [
            ("goto x", "user_script:1: '=' expected near 'x'"),
            ("::x::", "user_script:1: unexpected symbol near ':'"),
            ("return 7//2", "user_script:1: unexpected symbol near '/'"),
            ("return 7&2", "user_script:1: '<eof>' expected near '&'"),
            ("local x <const> = 1", "user_script:1: unexpected symbol near '<'"),
        ] {
            check(source, Err(message));
        }
    }
}
