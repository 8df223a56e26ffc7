//! Requests off a stream: arrays of bulk strings, or lines as they are typed (inline commands).
//!
//! The framing is tokio's codec; the grammar is read here, because a request that breaks it must be refused in
//! Valkey's words and as early as there, which a crate's decoder, made for replies, does neither.

use bytes::{Buf, BytesMut};
use tokio_util::codec::Decoder;

use crate::words::split;

/// How long a line may be: an inline command, or a length.
const MAX_LINE_BYTES: usize = 64 * 1024;
const MAX_BULK_BYTES: i64 = 512 * 1024 * 1024;

/// The arguments of one request, the command's name first.
pub type Request = Vec<Vec<u8>>;

/// Decodes requests; keeps what it knows of the one that has not all arrived.
#[derive(Debug, Default)]
pub struct Requests {
    /// How many arguments of the current request are missing; 0 between requests.
    missing: usize,
    arguments: Request,
    /// The length of the argument that comes next, once its line was read.
    length: Option<usize>,
}

/// What ends a connection, in Valkey's words.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    #[error("Protocol error: too big inline request")]
    LongInline,
    #[error("Protocol error: unbalanced quotes in request")]
    Quotes,
    #[error("Protocol error: too big mbulk count string")]
    LongCount,
    #[error("Protocol error: invalid multibulk length")]
    Count,
    #[error("Protocol error: too big bulk count string")]
    LongLength,
    #[error("Protocol error: invalid bulk length")]
    Length,
    #[error("Protocol error: expected '$', got '{0}'")]
    NoBulk(char),
    #[error("Protocol error: invalid CRLF in request")]
    LineEnd,
    #[error("the connection broke: {0}")]
    Broken(#[from] std::io::Error),
}

impl Decoder for Requests {
    type Item = Request;
    type Error = ProtocolError;

    fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<Request>, ProtocolError> {
        while self.missing == 0 {
            match bytes.first() {
                None => return Ok(None),
                Some(b'*') => {
                    let Some(line) = take_line(bytes, ProtocolError::LongCount)? else { return Ok(None) };
                    let count = number(&line[1..]).filter(|count| *count <= i64::from(i32::MAX));
                    let count = count.ok_or(ProtocolError::Count)?;
                    // Nothing is asked by an array without elements, and nothing answered.
                    self.missing = usize::try_from(count).unwrap_or(0);
                }
                Some(_) => match take_inline(bytes)? {
                    Inline::Partial => return Ok(None),
                    Inline::Empty => {}
                    Inline::Request(request) => return Ok(Some(request)),
                },
            }
        }
        while self.missing > 0 {
            let Some(argument) = self.argument(bytes)? else { return Ok(None) };
            self.arguments.push(argument);
            self.missing -= 1;
        }
        Ok(Some(std::mem::take(&mut self.arguments)))
    }

    /// What is left of a request when a client goes away is of no use.
    fn decode_eof(&mut self, bytes: &mut BytesMut) -> Result<Option<Request>, ProtocolError> {
        let request = self.decode(bytes)?;
        if request.is_none() {
            bytes.clear();
        }
        Ok(request)
    }
}

impl Requests {
    fn argument(&mut self, bytes: &mut BytesMut) -> Result<Option<Vec<u8>>, ProtocolError> {
        let length = match self.length {
            Some(length) => length,
            None => {
                let whole = bytes.contains(&b'\r');
                if let Some(&found) = bytes.first().filter(|found| whole && **found != b'$') {
                    return Err(ProtocolError::NoBulk(char::from(found)));
                }
                let Some(line) = take_line(bytes, ProtocolError::LongLength)? else { return Ok(None) };
                let length = number(&line[1..]).filter(|length| (0..=MAX_BULK_BYTES).contains(length));
                let length = length.and_then(|length| usize::try_from(length).ok());
                *self.length.insert(length.ok_or(ProtocolError::Length)?)
            }
        };
        if bytes.len() < length + 2 {
            return Ok(None);
        }
        if bytes.get(length..length + 2) != Some(b"\r\n") {
            return Err(ProtocolError::LineEnd);
        }
        let argument = bytes.split_to(length).to_vec();
        bytes.advance(2);
        self.length = None;
        Ok(Some(argument))
    }
}

/// A line up to its CR and LF, once all of it is there.
fn take_line(bytes: &mut BytesMut, too_long: ProtocolError) -> Result<Option<BytesMut>, ProtocolError> {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\r') else {
        return if bytes.len() > MAX_LINE_BYTES { Err(too_long) } else { Ok(None) };
    };
    match bytes.get(end + 1) {
        None => Ok(None),
        Some(b'\n') => {
            let line = bytes.split_to(end);
            bytes.advance(2);
            Ok(Some(line))
        }
        Some(_) => Err(ProtocolError::LineEnd),
    }
}

enum Inline {
    Partial,
    Empty,
    Request(Request),
}

fn take_inline(bytes: &mut BytesMut) -> Result<Inline, ProtocolError> {
    let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else {
        let too_long = bytes.len() > MAX_LINE_BYTES;
        return if too_long { Err(ProtocolError::LongInline) } else { Ok(Inline::Partial) };
    };
    let line = bytes.split_to(end);
    bytes.advance(1);
    let line = line.strip_suffix(b"\r").unwrap_or(&line);
    let words = split(line).ok_or(ProtocolError::Quotes)?;
    Ok(if words.is_empty() { Inline::Empty } else { Inline::Request(words) })
}

/// A decimal number as Valkey's parser takes it: no plus sign, no leading zeros.
fn number(digits: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(digits).ok()?;
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}
