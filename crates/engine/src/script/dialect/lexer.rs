//! Lua 5.1's tokens.

use lua54::num::{self, Conversion};

use super::{Edit, Wrong};
use crate::value::parse_decimal;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A keyword, by its place in [`KEYWORDS`].
    Keyword(Keyword),
    Name,
    Number,
    String,
    Concat,
    Dots,
    Equal,
    GreaterEqual,
    LessEqual,
    NotEqual,
    /// Any other character.
    Byte(u8),
    End,
}

macro_rules! keywords {
    ($($name:ident $text:literal),* $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Keyword { $($name),* }

        impl Keyword {
            pub fn text(self) -> &'static str {
                match self { $(Keyword::$name => $text),* }
            }
        }

        const KEYWORDS: &[(Keyword, &str)] = &[$((Keyword::$name, $text)),*];
    };
}

keywords! {
    And "and", Break "break", Do "do", Else "else", Elseif "elseif", End "end", False "false", For "for",
    Function "function", If "if", In "in", Local "local", Nil "nil", Not "not", Or "or", Repeat "repeat",
    Return "return", Then "then", True "true", Until "until", While "while",
}

pub(super) struct Lexer<'a> {
    source: &'a [u8],
    at: usize,
    pub line: u32,
    /// Where the current token begins.
    pub start: usize,
    pub edits: Vec<Edit>,
}

impl<'a> Lexer<'a> {
    pub fn new(source: &'a [u8]) -> Lexer<'a> {
        Lexer { source, at: 0, line: 1, start: 0, edits: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.get(self.at + ahead).copied()
    }

    /// The source text of the current token.
    pub fn text(&self) -> &'a [u8] {
        &self.source[self.start..self.at]
    }

    pub fn next(&mut self) -> Result<Token, Wrong> {
        loop {
            self.start = self.at;
            let Some(byte) = self.peek(0) else { return Ok(Token::End) };
            match byte {
                b'\n' | b'\r' => self.new_line(),
                b' ' | b'\t' | 0x0b | 0x0c => self.at += 1,
                b'-' if self.peek(1) == Some(b'-') => self.comment()?,
                b'[' => match self.long_bracket() {
                    Some(level) => return self.long(level, "string").map(|()| Token::String),
                    None if self.peek(1) == Some(b'=') => {
                        self.at += 1;
                        self.at += self.source[self.at..].iter().take_while(|&&byte| byte == b'=').count();
                        return Err(self.wrong_near("invalid long string delimiter"));
                    }
                    None => return Ok(self.take(1, Token::Byte(b'['))),
                },
                b'=' if self.peek(1) == Some(b'=') => return Ok(self.take(2, Token::Equal)),
                b'<' if self.peek(1) == Some(b'=') => return Ok(self.take(2, Token::LessEqual)),
                b'>' if self.peek(1) == Some(b'=') => return Ok(self.take(2, Token::GreaterEqual)),
                b'~' if self.peek(1) == Some(b'=') => return Ok(self.take(2, Token::NotEqual)),
                b'"' | b'\'' => return self.string(byte).map(|()| Token::String),
                b'.' if self.peek(1) == Some(b'.') && self.peek(2) == Some(b'.') => {
                    return Ok(self.take(3, Token::Dots));
                }
                b'.' if self.peek(1) == Some(b'.') => return Ok(self.take(2, Token::Concat)),
                b'.' if self.peek(1).is_some_and(|byte| byte.is_ascii_digit()) => return self.number(),
                b'0'..=b'9' => return self.number(),
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => return Ok(self.name()),
                _ => return Ok(self.take(1, Token::Byte(byte))),
            }
        }
    }

    fn take(&mut self, length: usize, token: Token) -> Token {
        self.at += length;
        token
    }

    /// A line break of one or two characters.
    fn new_line(&mut self) {
        let pair =
            matches!((self.peek(0), self.peek(1)), (Some(b'\n'), Some(b'\r')) | (Some(b'\r'), Some(b'\n')));
        self.at += if pair { 2 } else { 1 };
        self.line += 1;
    }

    fn comment(&mut self) -> Result<(), Wrong> {
        self.at += 2;
        self.start = self.at;
        if self.peek(0) == Some(b'[')
            && let Some(level) = self.long_bracket()
        {
            return self.long(level, "comment");
        }
        while self.peek(0).is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
            self.at += 1;
        }
        Ok(())
    }

    /// How many `=` the long bracket has that begins here.
    fn long_bracket(&self) -> Option<usize> {
        let level = self.source[self.at + 1..].iter().take_while(|&&byte| byte == b'=').count();
        (self.peek(1 + level) == Some(b'[')).then_some(level)
    }

    fn long(&mut self, level: usize, what: &str) -> Result<(), Wrong> {
        self.at += level + 2;
        loop {
            match self.peek(0) {
                None => {
                    let text = format!("unfinished long {what} near '<eof>'");
                    return Err(Wrong { line: self.line, text: text.into_bytes() });
                }
                Some(b']') => {
                    let equals = self.source[self.at + 1..].iter().take_while(|&&byte| byte == b'=').count();
                    if equals == level && self.peek(1 + level) == Some(b']') {
                        self.at += level + 2;
                        return Ok(());
                    }
                    self.at += 1;
                }
                Some(b'\n' | b'\r') => self.new_line(),
                Some(_) => self.at += 1,
            }
        }
    }

    fn string(&mut self, quote: u8) -> Result<(), Wrong> {
        self.at += 1;
        loop {
            match self.peek(0) {
                None => {
                    let text = b"unfinished string near '<eof>'".to_vec();
                    return Err(Wrong { line: self.line, text });
                }
                Some(b'\n' | b'\r') => return Err(self.wrong_near("unfinished string")),
                Some(b'\\') => self.escape()?,
                Some(byte) => {
                    self.at += 1;
                    if byte == quote {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// In 5.1 a backslash before a character that means nothing is that character.
    fn escape(&mut self) -> Result<(), Wrong> {
        let at = self.at;
        self.at += 1;
        match self.peek(0) {
            None => {}
            Some(b'\n' | b'\r') => self.new_line(),
            Some(b'0'..=b'9') => {
                let digits = self.source[self.at..].iter().take(3).take_while(|byte| byte.is_ascii_digit());
                let digits: Vec<u8> = digits.copied().collect();
                self.at += digits.len();
                let code = digits.iter().fold(0_u32, |code, digit| code * 10 + u32::from(digit - b'0'));
                if code > 255 {
                    // The escape is no part of the string yet.
                    self.at = at;
                    return Err(self.wrong_near("escape sequence too large"));
                }
            }
            Some(byte) => {
                if !b"abfnrtv\\\"'".contains(&byte) {
                    self.edits.push(Edit { start: at, end: at + 1, text: Vec::new() });
                }
                self.at += 1;
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Token, Wrong> {
        let is_part = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
        while self.peek(0).is_some_and(|byte| byte.is_ascii_digit() || byte == b'.') {
            self.at += 1;
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(0), Some(b'+' | b'-')) {
                self.at += 1;
            }
        }
        while is_part(self.peek(0)) {
            self.at += 1;
        }
        let text = self.text();
        let hex = matches!(text, [b'0', b'x' | b'X', ..]).then(|| &text[2..]);
        let is_number = match hex {
            Some(digits) => is_hexadecimal(digits),
            None => parse_decimal(text).is_some(),
        };
        if !is_number {
            return Err(self.wrong_near("malformed number"));
        }
        let is_long = |digits: &&[u8]| digits.len() > 15 && digits.iter().all(u8::is_ascii_hexdigit);
        if let Some(digits) = hex.filter(is_long) {
            // 5.4 keeps the low 64 bits of these.
            let digit = |byte: &u8| f64::from(char::from(*byte).to_digit(16).unwrap_or(0));
            let x = digits.iter().fold(0.0, |x, byte| x * 16.0 + digit(byte));
            let text = num::fmt(x, Conversion::Fixed, Some(1)).into_bytes();
            self.edits.push(Edit { start: self.start, end: self.at, text });
        }
        Ok(Token::Number)
    }

    fn name(&mut self) -> Token {
        while self.peek(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            self.at += 1;
        }
        let text = self.text();
        if let Some((keyword, _)) = KEYWORDS.iter().find(|(_, word)| word.as_bytes() == text) {
            return Token::Keyword(*keyword);
        }
        // Names that mean something to 5.4 only.
        let other: &[u8] = match text {
            b"goto" => b"g0to",
            b"_ENV" => b"_3NV",
            _ => return Token::Name,
        };
        self.edits.push(Edit { start: self.start, end: self.at, text: other.to_vec() });
        Token::Name
    }

    /// An error at the current token.
    pub fn wrong_near(&self, what: &str) -> Wrong {
        let text = [what.as_bytes(), b" near '", self.text(), b"'"].concat();
        Wrong { line: self.line, text }
    }
}

/// Digits, a fraction and a power of two, as C reads them after `0x`.
fn is_hexadecimal(text: &[u8]) -> bool {
    let (mantissa, power) = match text.iter().position(|byte| matches!(byte, b'p' | b'P')) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let points = mantissa.iter().filter(|&&byte| byte == b'.').count();
    let is_digits = mantissa.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'.');
    is_digits
        && points <= 1
        && mantissa.len() > points
        && power.is_none_or(|power| !power.is_empty() && power.iter().all(u8::is_ascii_digit))
}
