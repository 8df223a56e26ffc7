//! Lua 5.4's runtime errors in the words of 5.1.
//!
//! Both name the variable, 5.4 behind the value and 5.1 before it: `attempt to index a nil value (local 'x')` is
//! `attempt to index local 'x' (a nil value)`. The few other texts that differ are listed. A message is changed only
//! where it reads as one of Lua's from the first word after the position, so a script's own text stays what it is.

/// `message` in 5.1's words; `None` when it is the same there.
pub(super) fn translate(message: &[u8]) -> Option<Vec<u8>> {
    if cfg!(not(feature = "dialect")) {
        return None;
    }
    let at = find(message, b"attempt to ").or_else(|| find_other(message))?;
    let (position, text) = message.split_at(at);
    let text = operand(text).or_else(|| other(text))?;
    Some([position, &text].concat())
}

/// `attempt to VERB a TYPE value (KIND 'NAME')`.
fn operand(text: &[u8]) -> Option<Vec<u8>> {
    let value = find(text, b" value (")?;
    let (head, tail) = text.split_at(value);
    let named = tail.strip_prefix(b" value (")?.strip_suffix(b")")?;
    let article = rfind(head, b" a ")?;
    let (verb, kind) = (&head[..article], &head[article + 3..]);
    // 5.1 knows no names for constants and looks for none behind a metamethod.
    if named.starts_with(b"constant ") || named.starts_with(b"metamethod ") {
        return Some([verb, b" a ", kind, b" value"].concat());
    }
    Some([verb, b" ", named, b" (a ", kind, b" value)"].concat())
}

/// What 5.4 says, and 5.1 for the same.
const OTHER: [(&[u8], &[u8]); 3] = [
    (b"attempt to yield across a C-call boundary", b"attempt to yield across metamethod/C-call boundary"),
    (b"attempt to yield from outside a coroutine", b"attempt to yield across metamethod/C-call boundary"),
    (b"bad argument #1 to 'char' (value out of range)", b"bad argument #1 to 'char' (invalid value)"),
];

/// Messages that 5.4 makes longer.
const LONGER: [&[u8]; 2] = [b"stack overflow", b"invalid capture index"];

/// Where a message begins that has another text in 5.1.
fn find_other(message: &[u8]) -> Option<usize> {
    let starts = LONGER.iter().copied().chain([&b"bad 'for' "[..], b"bad argument #1 to 'char'"]);
    starts.into_iter().find_map(|start| find(message, start))
}

fn other(text: &[u8]) -> Option<Vec<u8>> {
    let longer = LONGER.iter().find(|start| text.starts_with(start)).copied();
    let same = || OTHER.iter().find(|(newer, _)| text == *newer).map(|(_, older)| *older);
    longer.or_else(same).map(<[u8]>::to_vec).or_else(|| for_loop(text))
}

/// `bad 'for' limit (number expected, got string)`.
fn for_loop(text: &[u8]) -> Option<Vec<u8>> {
    let rest = text.strip_prefix(b"bad 'for' ")?;
    let what = &rest[..find(rest, b" (number expected")?];
    Some([b"'for' ", what, b" must be a number"].concat())
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn rfind(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).rposition(|window| window == part)
}

#[cfg(all(test, feature = "dialect"))]
mod tests {
    use super::translate;

    #[test]
    fn messages_take_the_form_of_5_1() {
        for (newer, older) in [
            (
                "user_script:1: attempt to index a nil value (local 'x')",
                "user_script:1: attempt to index local 'x' (a nil value)",
            ),
            ("attempt to call a nil value (field 'y')", "attempt to call field 'y' (a nil value)"),
            (
                "user_script:3: attempt to perform arithmetic on a string value (constant 'a')",
                "user_script:3: attempt to perform arithmetic on a string value",
            ),
            (
                "attempt to yield from outside a coroutine",
                "attempt to yield across metamethod/C-call boundary",
            ),
        ] {
            let text = translate(newer.as_bytes()).map(|text| String::from_utf8_lossy(&text).into_owned());
            assert_eq!(text.as_deref(), Some(older));
        }
        for same in ["user_script:1: boom", "attempt to compare number with nil"] {
            assert_eq!(translate(same.as_bytes()), None);
        }
    }
}
