//! Text → tokens.
//!
//! A token ends at white space and at any of ``()[]'";`` and backquote; so `a,b` and `#` inside a name belong to the
//! name, while `,` and `#` at the start of a token have their special meaning. Mistakes are collected and lexing goes
//! on behind them, so one run reports them all.

use crate::base::{FileId, Span};
use crate::syntax::datum::Prefix;
use crate::syntax::error::Error;
use crate::syntax::number::{self, Number};
use crate::syntax::token::{Bracket, Token};
use std::rc::Rc;

/// A token between its first byte and the byte after its last.
pub type Spanned = (usize, Token, usize);

/// All tokens of a text from the byte `start` on, and the mistakes in it.
pub fn tokens(file: FileId, text: &str, start: usize) -> (Vec<Spanned>, Vec<Error>) {
    let mut lexer = Lexer { file, text, at: start, tokens: Vec::new(), errors: Vec::new() };
    while let Some(first) = lexer.peek() {
        lexer.token(first);
    }
    (lexer.tokens, lexer.errors)
}

/// True for white space. The mark of byte order counts: it stands where a file begins, and in the middle where files
/// were joined.
fn is_white(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// True for the characters that end a name or number.
fn is_delimiter(c: char) -> bool {
    is_white(c) || matches!(c, '(' | ')' | '[' | ']' | '\'' | '"' | ';' | '`')
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    at: usize,
    tokens: Vec<Spanned>,
    errors: Vec<Error>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }
    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }
    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at)
    }
    fn push(&mut self, length: usize, token: Token) {
        self.tokens.push((self.at, token, self.at + length));
        self.at += length;
    }

    /// Reads the token, white space or comment that starts with `first`.
    fn token(&mut self, first: char) {
        match first {
            '(' => self.push(1, Token::Open(Bracket::Round)),
            ')' => self.push(1, Token::Close(Bracket::Round)),
            '[' => self.push(1, Token::Open(Bracket::Square)),
            ']' => self.push(1, Token::Close(Bracket::Square)),
            '\'' => self.push(1, Token::Prefix(Prefix::Quote)),
            '`' => self.push(1, Token::Prefix(Prefix::Quasiquote)),
            ',' => self.unquote(),
            ';' => self.at += self.rest().find('\n').unwrap_or(self.rest().len()),
            '"' => self.string(),
            '#' => self.hash(),
            c if is_white(c) => self.at += c.len_utf8(),
            _ => self.name_or_number(),
        }
    }

    fn unquote(&mut self) {
        if self.rest().starts_with(",@") {
            let start = self.at;
            self.at += 2;
            self.errors.push(Error::Splicing(self.span(start)));
            self.at = start;
        }
        self.push(1, Token::Prefix(Prefix::Unquote));
    }

    fn hash(&mut self) {
        let rest = self.rest();
        if rest.starts_with("#(") {
            self.push(2, Token::OpenVector);
        } else if rest.starts_with("#;") {
            self.push(2, Token::Skip);
        } else if rest.starts_with("#|") {
            self.block_comment();
        } else {
            self.hash_literal();
        }
    }

    fn block_comment(&mut self) {
        let start = self.at;
        let mut open = 0;
        loop {
            if self.rest().starts_with("#|") {
                open += 1;
                self.at += 2;
            } else if self.rest().starts_with("|#") {
                open -= 1;
                self.at += 2;
                if open == 0 {
                    return;
                }
            } else if self.next().is_none() {
                self.errors.push(Error::UnterminatedComment(Span::new(self.file, start, start + 2)));
                return;
            }
        }
    }

    /// The text up to the next delimiter, which is moved over.
    fn word(&mut self) -> (usize, Rc<str>) {
        let start = self.at;
        let length = self.rest().find(is_delimiter).unwrap_or(self.rest().len());
        self.at += length;
        (start, Rc::from(&self.text[start..self.at]))
    }

    fn hash_literal(&mut self) {
        let (start, word) = self.word();
        let token = match &*word {
            "#t" => Token::Bool(true),
            "#f" => Token::Bool(false),
            _ => match number::marked(&word) {
                Some((Number::Real(x), _)) => Token::Real(x),
                Some((Number::ZeroDenominator, _)) => {
                    return self.errors.push(Error::ZeroDenominator(self.span(start)));
                }
                Some((Number::None, radix)) => return self.errors.push(Error::BadDigits(self.span(start), radix)),
                None => return self.errors.push(Error::UnknownHash(self.span(start), word)),
            },
        };
        self.tokens.push((start, token, self.at));
    }

    fn name_or_number(&mut self) {
        let (start, word) = self.word();
        let token = match number::decimal(&word) {
            Number::Real(x) => Token::Real(x),
            Number::ZeroDenominator => return self.errors.push(Error::ZeroDenominator(self.span(start))),
            Number::None if &*word == "." => Token::Dot,
            Number::None => Token::Symbol(word),
        };
        self.tokens.push((start, token, self.at));
    }

    fn string(&mut self) {
        let start = self.at;
        self.at += 1;
        let mut value = String::new();
        loop {
            match self.next() {
                None => {
                    self.errors.push(Error::UnterminatedString(Span::new(self.file, start, start + 1)));
                    return;
                }
                Some('"') => break,
                Some('\\') => self.escape(&mut value),
                Some(c) => value.push(c),
            }
        }
        self.tokens.push((start, Token::Str(Rc::from(value)), self.at));
    }

    /// Reads the rest of an escape sequence, behind its backslash.
    fn escape(&mut self, value: &mut String) {
        let start = self.at - 1;
        match self.next() {
            Some('n') => value.push('\n'),
            Some('t') => value.push('\t'),
            Some('r') => value.push('\r'),
            Some('\\') => value.push('\\'),
            Some('"') => value.push('"'),
            Some('x') => match self.character_code() {
                Some(c) => value.push(c),
                None => self.errors.push(Error::BadEscape(self.span(start))),
            },
            Some('\n') => {
                while self.peek().is_some_and(|c| c == ' ' || c == '\t') {
                    self.at += 1;
                }
            }
            // The end of the text: the unterminated string is the mistake to report.
            None => {}
            Some(_) => self.errors.push(Error::BadEscape(self.span(start))),
        }
    }

    /// Reads `41;`, the rest of `\x41;`.
    fn character_code(&mut self) -> Option<char> {
        let length = self.rest().find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(self.rest().len());
        let code = u32::from_str_radix(&self.rest()[..length], 16);
        self.at += length;
        if self.peek() != Some(';') {
            return None;
        }
        self.at += 1;
        char::from_u32(code.ok()?)
    }
}
