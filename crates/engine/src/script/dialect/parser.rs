//! Lua 5.1's grammar by recursive descent: it accepts or refuses and builds nothing.

use super::lexer::{Keyword, Lexer, Token};
use super::{Edit, Wrong};

/// How deep constructs may nest; 5.1's limit.
const MAX_LEVELS: u32 = 200;

/// The edits that make the source one for 5.4.
pub(super) fn check(source: &[u8]) -> Result<Vec<Edit>, Wrong> {
    let mut parser = Parser::new(source)?;
    parser.block()?;
    if parser.token != Token::End {
        return Err(parser.expected("<eof>"));
    }
    Ok(parser.lexer.edits)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    text: &'a [u8],
    line: u32,
    /// The line of the token before the current one.
    last_line: u32,
    ahead: Option<(Token, &'a [u8], u32)>,
    levels: u32,
    /// Loops around the current place, in the current function; and whether it takes `...`.
    loops: u32,
    is_vararg: bool,
}

type Checked = Result<(), Wrong>;

/// What a prefix expression turned out to be.
#[derive(PartialEq, Eq)]
enum Prefix {
    Place,
    Call,
    Value,
}

impl<'a> Parser<'a> {
    fn new(source: &'a [u8]) -> Result<Parser<'a>, Wrong> {
        let mut parser = Parser {
            lexer: Lexer::new(source),
            token: Token::End,
            text: b"",
            line: 1,
            last_line: 1,
            ahead: None,
            levels: 0,
            loops: 0,
            is_vararg: true,
        };
        parser.advance()?;
        Ok(parser)
    }

    fn advance(&mut self) -> Checked {
        self.last_line = self.line;
        let next = match self.ahead.take() {
            Some(next) => next,
            None => self.read()?,
        };
        (self.token, self.text, self.line) = next;
        Ok(())
    }

    fn read(&mut self) -> Result<(Token, &'a [u8], u32), Wrong> {
        let token = self.lexer.next()?;
        Ok((token, self.lexer.text(), self.lexer.line))
    }

    fn peek(&mut self) -> Result<Token, Wrong> {
        if self.ahead.is_none() {
            self.ahead = Some(self.read()?);
        }
        Ok(self.ahead.map_or(Token::End, |(token, ..)| token))
    }

    fn near(&self, what: &str) -> Wrong {
        let mut text = what.as_bytes().to_vec();
        text.extend_from_slice(b" near '");
        match self.token {
            Token::End => text.extend_from_slice(b"<eof>"),
            Token::Byte(byte) if byte.is_ascii_control() => {
                text.extend_from_slice(format!("char({byte})").as_bytes());
            }
            _ => text.extend_from_slice(self.text),
        }
        text.push(b'\'');
        Wrong { line: self.line, text }
    }

    fn expected(&self, what: &str) -> Wrong {
        self.near(&format!("'{what}' expected"))
    }

    fn is(&self, keyword: Keyword) -> bool {
        self.token == Token::Keyword(keyword)
    }

    fn accept(&mut self, token: Token) -> Result<bool, Wrong> {
        let found = self.token == token;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, token: Token, text: &str) -> Checked {
        if self.accept(token)? { Ok(()) } else { Err(self.expected(text)) }
    }

    fn expect_byte(&mut self, byte: u8) -> Checked {
        self.expect(Token::Byte(byte), char::from(byte).encode_utf8(&mut [0; 4]))
    }

    fn expect_keyword(&mut self, keyword: Keyword) -> Checked {
        self.expect(Token::Keyword(keyword), keyword.text())
    }

    /// The end of what `opener` began at `line`.
    fn expect_end(&mut self, end: Token, text: &str, opener: &str, line: u32) -> Checked {
        if self.accept(end)? {
            return Ok(());
        }
        if line == self.line {
            return Err(self.expected(text));
        }
        Err(self.near(&format!("'{text}' expected (to close '{opener}' at line {line})")))
    }

    fn name(&mut self) -> Checked {
        if self.token != Token::Name {
            return Err(self.expected("<name>"));
        }
        self.advance()
    }

    fn nested(&mut self, body: impl FnOnce(&mut Self) -> Checked) -> Checked {
        self.levels += 1;
        if self.levels > MAX_LEVELS {
            let text = b"chunk has too many syntax levels".to_vec();
            return Err(Wrong { line: self.line, text });
        }
        let result = body(self);
        self.levels -= 1;
        result
    }

    fn block_ends(&self) -> bool {
        use Keyword::{Else, Elseif, End, Until};
        matches!(self.token, Token::End | Token::Keyword(Else | Elseif | End | Until))
    }

    fn block(&mut self) -> Checked {
        self.nested(|parser| {
            let mut is_last = false;
            while !is_last && !parser.block_ends() {
                is_last = parser.statement()?;
                parser.accept(Token::Byte(b';'))?;
            }
            Ok(())
        })
    }

    fn loop_body(&mut self) -> Checked {
        self.loops += 1;
        self.block()?;
        self.loops -= 1;
        Ok(())
    }

    /// Whether it must be the last one of its block.
    fn statement(&mut self) -> Result<bool, Wrong> {
        let line = self.line;
        let Token::Keyword(keyword) = self.token else {
            self.expression_statement()?;
            return Ok(false);
        };
        let end =
            |parser: &mut Self| parser.expect_end(Token::Keyword(Keyword::End), "end", keyword.text(), line);
        match keyword {
            Keyword::If => self.if_statement(line)?,
            Keyword::While => {
                self.advance()?;
                self.expression()?;
                self.expect_keyword(Keyword::Do)?;
                self.loop_body()?;
                end(self)?;
            }
            Keyword::Do => {
                self.advance()?;
                self.block()?;
                end(self)?;
            }
            Keyword::For => {
                self.for_head()?;
                self.loop_body()?;
                end(self)?;
            }
            Keyword::Repeat => {
                self.advance()?;
                self.loop_body()?;
                self.expect_end(Token::Keyword(Keyword::Until), "until", "repeat", line)?;
                self.expression()?;
            }
            Keyword::Function => self.function_statement(line)?,
            Keyword::Local => self.local()?,
            Keyword::Return => {
                self.advance()?;
                if !self.block_ends() && self.token != Token::Byte(b';') {
                    self.expressions()?;
                }
                return Ok(true);
            }
            Keyword::Break => {
                self.advance()?;
                if self.loops == 0 {
                    return Err(self.near("no loop to break"));
                }
                return Ok(true);
            }
            _ => self.expression_statement()?,
        }
        Ok(false)
    }

    fn if_statement(&mut self, line: u32) -> Checked {
        loop {
            self.advance()?;
            self.expression()?;
            self.expect_keyword(Keyword::Then)?;
            self.block()?;
            if !self.is(Keyword::Elseif) {
                break;
            }
        }
        if self.accept(Token::Keyword(Keyword::Else))? {
            self.block()?;
        }
        self.expect_end(Token::Keyword(Keyword::End), "end", "if", line)
    }

    fn for_head(&mut self) -> Checked {
        self.advance()?;
        self.name()?;
        match self.token {
            Token::Byte(b'=') => {
                self.advance()?;
                self.expression()?;
                self.expect_byte(b',')?;
                self.expression()?;
                if self.accept(Token::Byte(b','))? {
                    self.expression()?;
                }
            }
            Token::Byte(b',') | Token::Keyword(Keyword::In) => {
                while self.accept(Token::Byte(b','))? {
                    self.name()?;
                }
                self.expect_keyword(Keyword::In)?;
                self.expressions()?;
            }
            _ => return Err(self.near("'=' or 'in' expected")),
        }
        self.expect_keyword(Keyword::Do)
    }

    fn function_statement(&mut self, line: u32) -> Checked {
        self.advance()?;
        self.name()?;
        while self.accept(Token::Byte(b'.'))? {
            self.name()?;
        }
        if self.accept(Token::Byte(b':'))? {
            self.name()?;
        }
        self.function_body(line)
    }

    fn local(&mut self) -> Checked {
        self.advance()?;
        let line = self.line;
        if self.accept(Token::Keyword(Keyword::Function))? {
            self.name()?;
            return self.function_body(line);
        }
        self.name()?;
        while self.accept(Token::Byte(b','))? {
            self.name()?;
        }
        if self.accept(Token::Byte(b'='))? {
            self.expressions()?;
        }
        Ok(())
    }

    fn function_body(&mut self, line: u32) -> Checked {
        let (loops, is_vararg) = (std::mem::take(&mut self.loops), std::mem::take(&mut self.is_vararg));
        self.expect_byte(b'(')?;
        if self.token != Token::Byte(b')') {
            loop {
                match self.token {
                    Token::Name => self.advance()?,
                    Token::Dots => {
                        self.advance()?;
                        self.is_vararg = true;
                        break;
                    }
                    _ => return Err(self.near("<name> or '...' expected")),
                }
                if !self.accept(Token::Byte(b','))? {
                    break;
                }
            }
        }
        self.expect_byte(b')')?;
        self.block()?;
        self.expect_end(Token::Keyword(Keyword::End), "end", "function", line)?;
        (self.loops, self.is_vararg) = (loops, is_vararg);
        Ok(())
    }

    fn expression_statement(&mut self) -> Checked {
        let mut prefix = self.prefix()?;
        if prefix == Prefix::Call {
            return Ok(());
        }
        loop {
            if prefix != Prefix::Place {
                return Err(self.near("syntax error"));
            }
            if !self.accept(Token::Byte(b','))? {
                break;
            }
            prefix = self.prefix()?;
        }
        self.expect_byte(b'=')?;
        self.expressions()
    }

    fn expressions(&mut self) -> Checked {
        self.expression()?;
        while self.accept(Token::Byte(b','))? {
            self.expression()?;
        }
        Ok(())
    }

    fn expression(&mut self) -> Checked {
        self.operation(0)
    }

    /// An expression of operators that bind closer than `limit`.
    fn operation(&mut self, limit: u8) -> Checked {
        const UNARY: u8 = 8;
        self.nested(|parser| {
            if matches!(parser.token, Token::Byte(b'-' | b'#') | Token::Keyword(Keyword::Not)) {
                parser.advance()?;
                parser.operation(UNARY)?;
            } else {
                parser.simple()?;
            }
            while let Some((left, right)) = binding(parser.token)
                && left > limit
            {
                parser.advance()?;
                parser.operation(right)?;
            }
            Ok(())
        })
    }

    fn simple(&mut self) -> Checked {
        match self.token {
            Token::Number | Token::String | Token::Keyword(Keyword::Nil | Keyword::True | Keyword::False) => {
                self.advance()
            }
            Token::Dots if !self.is_vararg => Err(self.near("cannot use '...' outside a vararg function")),
            Token::Dots => self.advance(),
            Token::Byte(b'{') => self.table(),
            Token::Keyword(Keyword::Function) => {
                let line = self.line;
                self.advance()?;
                self.function_body(line)
            }
            _ => self.prefix().map(drop),
        }
    }

    fn table(&mut self) -> Checked {
        let line = self.line;
        self.advance()?;
        while self.token != Token::Byte(b'}') {
            let is_field = self.token == Token::Name && self.peek()? == Token::Byte(b'=');
            match self.token {
                _ if is_field => {
                    self.advance()?;
                    self.advance()?;
                    self.expression()?;
                }
                Token::Byte(b'[') => {
                    self.index()?;
                    self.expect_byte(b'=')?;
                    self.expression()?;
                }
                _ => self.expression()?,
            }
            if !self.accept(Token::Byte(b','))? && !self.accept(Token::Byte(b';'))? {
                break;
            }
        }
        self.expect_end(Token::Byte(b'}'), "}", "{", line)
    }

    fn index(&mut self) -> Checked {
        self.advance()?;
        self.expression()?;
        self.expect_byte(b']')
    }

    fn prefix(&mut self) -> Result<Prefix, Wrong> {
        let line = self.line;
        let mut kind = match self.token {
            Token::Name => {
                self.advance()?;
                Prefix::Place
            }
            Token::Byte(b'(') => {
                self.advance()?;
                self.expression()?;
                self.expect_end(Token::Byte(b')'), ")", "(", line)?;
                Prefix::Value
            }
            _ => return Err(self.near("unexpected symbol")),
        };
        loop {
            match self.token {
                Token::Byte(b'.') => {
                    self.advance()?;
                    self.name()?;
                    kind = Prefix::Place;
                }
                Token::Byte(b'[') => {
                    self.index()?;
                    kind = Prefix::Place;
                }
                Token::Byte(b':') => {
                    self.advance()?;
                    self.name()?;
                    self.arguments()?;
                    kind = Prefix::Call;
                }
                Token::Byte(b'(' | b'{') | Token::String => {
                    self.arguments()?;
                    kind = Prefix::Call;
                }
                _ => return Ok(kind),
            }
        }
    }

    fn arguments(&mut self) -> Checked {
        let line = self.line;
        match self.token {
            Token::Byte(b'(') => {
                if line != self.last_line {
                    return Err(self.near("ambiguous syntax (function call x new statement)"));
                }
                self.advance()?;
                if self.token != Token::Byte(b')') {
                    self.expressions()?;
                }
                self.expect_end(Token::Byte(b')'), ")", "(", line)
            }
            Token::Byte(b'{') => self.table(),
            Token::String => self.advance(),
            _ => Err(self.near("function arguments expected")),
        }
    }
}

/// How close a binary operator binds on its left and on its right.
fn binding(token: Token) -> Option<(u8, u8)> {
    Some(match token {
        Token::Byte(b'+' | b'-') => (6, 6),
        Token::Byte(b'*' | b'/' | b'%') => (7, 7),
        Token::Byte(b'^') => (10, 9),
        Token::Concat => (5, 4),
        Token::NotEqual | Token::Equal | Token::LessEqual | Token::GreaterEqual => (3, 3),
        Token::Byte(b'<' | b'>') => (3, 3),
        Token::Keyword(Keyword::And) => (2, 2),
        Token::Keyword(Keyword::Or) => (1, 1),
        _ => return None,
    })
}
