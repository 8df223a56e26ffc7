//! Reads one reply off a stream. Blocking reads make the parser a plain recursive descent: it never sees half a
//! reply, so nothing is parsed twice.

use std::io::{self, BufRead, Read};

use echomq_core::Reply;

/// How deep arrays may nest. Valkey's scripts cannot build replies near this deep; the stack ends later.
const MAX_DEPTH: usize = 512;

/// Memory is taken as data arrives, not as a length line promises.
const MAX_RESERVE: usize = 64 * 1024;

/// Reads one reply, RESP2 or RESP3: their type bytes don't overlap. Attributes are read and dropped.
///
/// # Errors
/// What the stream says, `UnexpectedEof` when it ends, and `InvalidData` for bytes that are no RESP.
pub fn read_reply(from: &mut impl BufRead) -> io::Result<Reply> {
    read_nested(from, 0)
}

fn read_nested(from: &mut impl BufRead, depth: usize) -> io::Result<Reply> {
    if depth > MAX_DEPTH {
        return Err(invalid("a reply nested too deep", b""));
    }
    let line = read_line(from)?;
    let (kind, rest) = line.split_first().ok_or_else(|| invalid("an empty line", b""))?;
    match kind {
        b'+' => Ok(Reply::Status(rest.to_vec().into())),
        b'-' => Ok(Reply::Error(rest.to_vec())),
        b':' => Ok(Reply::Integer(parse(rest)?)),
        b'(' => Ok(Reply::BigNumber(rest.to_vec())),
        b',' => Ok(Reply::Double(parse(rest)?)),
        b'_' => Ok(Reply::Nil),
        b'#' => match rest {
            b"t" => Ok(Reply::Boolean(true)),
            b"f" => Ok(Reply::Boolean(false)),
            _ => Err(invalid("a boolean that is neither t nor f", rest)),
        },
        b'$' => Ok(read_blob(from, rest)?.map_or(Reply::Nil, Reply::Bulk)),
        b'!' => required(read_blob(from, rest)?).map(Reply::Error),
        b'=' => verbatim(required(read_blob(from, rest)?)?),
        b'*' => Ok(read_items(from, rest, depth)?.map_or(Reply::NilArray, Reply::Array)),
        b'~' => required(read_items(from, rest, depth)?).map(Reply::Set),
        b'>' => required(read_items(from, rest, depth)?).map(Reply::Push),
        b'%' => read_pairs(from, rest, depth).map(Reply::Map),
        b'|' => {
            read_pairs(from, rest, depth)?;
            read_nested(from, depth + 1)
        }
        _ => Err(invalid("an unknown type byte", &line)),
    }
}

/// A line without its CRLF. Valkey keeps CR and LF out of what it sends as a line.
fn read_line(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\n") {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    match line.strip_suffix(b"\r\n") {
        Some(text) => Ok(text.to_vec()),
        None => Err(invalid("a line that ends without CR", &line)),
    }
}

fn read_blob(from: &mut impl BufRead, length: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let Some(length) = length_or_null(length)? else { return Ok(None) };
    let mut bytes = Vec::with_capacity(length.min(MAX_RESERVE));
    // A usize is never wider than 64 bits on what Rust runs on.
    from.by_ref().take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut end = [0; 2];
    from.read_exact(&mut end)?;
    if end != *b"\r\n" {
        return Err(invalid("a string longer than its length", &end));
    }
    Ok(Some(bytes))
}

fn read_items(from: &mut impl BufRead, length: &[u8], depth: usize) -> io::Result<Option<Vec<Reply>>> {
    let Some(length) = length_or_null(length)? else { return Ok(None) };
    let mut items = Vec::with_capacity(length.min(MAX_RESERVE / size_of::<Reply>()));
    for _ in 0..length {
        items.push(read_nested(from, depth + 1)?);
    }
    Ok(Some(items))
}

fn read_pairs(from: &mut impl BufRead, length: &[u8], depth: usize) -> io::Result<Vec<(Reply, Reply)>> {
    let length: usize = parse(length)?;
    let mut pairs = Vec::with_capacity(length.min(MAX_RESERVE / size_of::<(Reply, Reply)>()));
    for _ in 0..length {
        pairs.push((read_nested(from, depth + 1)?, read_nested(from, depth + 1)?));
    }
    Ok(pairs)
}

fn verbatim(bytes: Vec<u8>) -> io::Result<Reply> {
    match bytes.split_first_chunk::<4>() {
        Some(([a, b, c, b':'], text)) => Ok(Reply::Verbatim { format: [*a, *b, *c], text: text.to_vec() }),
        _ => Err(invalid("a verbatim string without its format", &bytes)),
    }
}

fn length_or_null(digits: &[u8]) -> io::Result<Option<usize>> {
    if digits == b"-1" { Ok(None) } else { parse(digits).map(Some) }
}

/// Only `$` and `*` have a null.
fn required<T>(value: Option<T>) -> io::Result<T> {
    value.ok_or_else(|| invalid("a null where RESP3 has none", b""))
}

fn parse<T: std::str::FromStr>(digits: &[u8]) -> io::Result<T> {
    let text = str::from_utf8(digits).ok();
    text.and_then(|text| text.parse().ok()).ok_or_else(|| invalid("a malformed number", digits))
}

fn invalid(what: &str, bytes: &[u8]) -> io::Error {
    let shown = &bytes[..bytes.len().min(40)];
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("what it sends is not RESP: {what} \"{}\"", shown.escape_ascii()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &str, expected: Reply) {
        let mut from = bytes.as_bytes();
        assert_eq!(read_reply(&mut from).unwrap(), expected);
        assert_eq!(from, b"", "all of it is read");
        for length in 0..bytes.len() {
            let error = read_reply(&mut &bytes.as_bytes()[..length]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "cut after {length} bytes");
        }
    }

    #[test]
    fn reads_each_type_of_both_protocols() {
        check("+OK\r\n", Reply::OK);
        check("-EMQSTALE no\r\n", Reply::error("EMQSTALE no"));
        check(":-9223372036854775808\r\n", Reply::Integer(i64::MIN));
        check("$4\r\n\r\n\0\u{7f}\r\n", Reply::bulk("\r\n\0\u{7f}"));
        check("$-1\r\n", Reply::Nil);
        check("*-1\r\n", Reply::NilArray);
        check("*2\r\n*0\r\n*1\r\n$0\r\n\r\n", {
            Reply::Array(vec![Reply::Array(vec![]), Reply::Array(vec![Reply::bulk("")])])
        });
        check("_\r\n", Reply::Nil);
        check("#t\r\n", Reply::Boolean(true));
        check(",-1.5e-9\r\n", Reply::Double(-1.5e-9));
        check(",-inf\r\n", Reply::Double(f64::NEG_INFINITY));
        check("(12345678901234567890\r\n", Reply::BigNumber(b"12345678901234567890".to_vec()));
        check("!5\r\nERR x\r\n", Reply::error("ERR x"));
        check("=7\r\nabc:x\r\n\r\n", Reply::Verbatim { format: *b"abc", text: b"x\r\n".to_vec() });
        check("~1\r\n*1\r\n:1\r\n", Reply::Set(vec![Reply::Array(vec![Reply::Integer(1)])]));
        check(">1\r\n+m\r\n", Reply::Push(vec![Reply::status("m")]));
        check("%2\r\n:2\r\n_\r\n:1\r\n#f\r\n", {
            Reply::Map(vec![(Reply::Integer(2), Reply::Nil), (Reply::Integer(1), Reply::Boolean(false))])
        });
    }

    #[test]
    fn drops_attributes() {
        let mut from: &[u8] = b"*2\r\n|1\r\n+ttl\r\n:3\r\n:1\r\n:2\r\n";
        assert_eq!(read_reply(&mut from).unwrap(), Reply::Array(vec![Reply::Integer(1), Reply::Integer(2)]));
    }

    #[test]
    fn refuses_what_is_no_resp() {
        let deep = "*1\r\n".repeat(MAX_DEPTH + 2);
        let cases = [
            "HTTP/1.1 400 Bad Request\r\n",
            "\r\n",
            ":1x\r\n",
            "$-2\r\n",
            "$1\r\nabc\r\n",
            "#x\r\n",
            "+a\n",
            "~-1\r\n",
            "=3\r\ntxt\r\n",
            deep.as_str(),
        ];
        for bytes in cases {
            let error = read_reply(&mut bytes.as_bytes()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{bytes:?}");
        }
    }
}
