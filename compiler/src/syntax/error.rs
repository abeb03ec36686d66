//! The mistakes in the text of a program, and their messages.

use crate::base::{Diagnostic, FileId, Span};
use crate::syntax::MAX_NESTING;
use crate::syntax::token::{Bracket, Token};
use lalrpop_util::ParseError;
use std::rc::Rc;

/// A mistake in the text of a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A closing bracket that closes nothing.
    UnexpectedClose(Span),
    /// A bracket that is never closed; `others` more enclose it. `next` starts a line although it is inside. `closing`
    /// stands in front of that, or at the end, if all are closed.
    Unclosed { open: Span, end: Span, others: usize, next: Option<Span>, closing: (Span, Rc<str>) },
    /// A bracket closed by one of the other kind.
    Mismatched { open: Span, close: Span, expected: Bracket },
    /// A string that does not end.
    UnterminatedString(Span),
    /// A block comment that does not end.
    UnterminatedComment(Span),
    /// A backslash in a string that is not followed by a known escape.
    BadEscape(Span),
    /// `#` followed by something unknown.
    UnknownHash(Span, Rc<str>),
    /// `#b`, `#o` or `#x` not followed by digits of that radix.
    BadDigits(Span, u32),
    /// A fraction with denominator zero.
    ZeroDenominator(Span),
    /// A dot that does not stand between the elements of a list and its tail.
    MisplacedDot(Span),
    /// More than one datum, or none, after the dot of a list.
    DottedTail(Span),
    /// A quotation mark or `#;` without a datum.
    NothingQuoted(Span),
    /// More open brackets and quotation marks than [`MAX_NESTING`].
    TooDeep(Span),
    /// `,@`
    Splicing(Span),
}

impl Error {
    /// The mistake that made the parser stop.
    pub fn from_parser(file: FileId, length: usize, error: ParseError<usize, Token, Error>) -> Error {
        let end = Span::new(file, length, length);
        match error {
            ParseError::User { error } => error,
            ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
                let span = Span::new(file, start, end);
                // Every datum can follow a quotation mark and the dot, only a bracket closes a list.
                match token {
                    Token::Dot => Error::MisplacedDot(span),
                    Token::Close(_) if expected.iter().any(|name| name == "\".\"") => Error::UnexpectedClose(span),
                    Token::Close(_) => Error::NothingQuoted(span),
                    _ => Error::DottedTail(span),
                }
            }
            ParseError::UnrecognizedEof { .. } => Error::NothingQuoted(end),
            ParseError::InvalidToken { location } => Error::UnexpectedClose(Span::new(file, location, location + 1)),
            ParseError::ExtraToken { token: (start, _, end) } => Error::UnexpectedClose(Span::new(file, start, end)),
        }
    }

    /// The message for the user.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            Error::UnexpectedClose(span) => {
                Diagnostic::error("V0101", "this bracket closes nothing", *span, "no bracket is open here")
                    .note("every closing bracket needs an opening one before it")
                    .help("remove it, or look for a missing opening bracket above")
                    .fix(*span, "")
            }
            Error::Unclosed { open, end, others, next, closing: (place, closing) } => {
                unclosed(*open, *end, *others, *next).fix(*place, &**closing)
            }
            Error::Mismatched { open, close, expected } => {
                let (right, wrong) = match expected {
                    Bracket::Round => (")", "]"),
                    Bracket::Square => ("]", ")"),
                };
                Diagnostic::error("V0103", format!("expected `{right}`, found `{wrong}`"), *close, "wrong kind of bracket")
                    .secondary(*open, "opened here")
                    .note("round and square brackets mean the same, but each closes its own kind")
                    .help(format!("write `{right}` here, or close the inner brackets first"))
                    .fix(*close, right)
            }
            Error::UnterminatedString(span) => {
                Diagnostic::error("V0104", "this string does not end", *span, "the string starts here")
                    .note("a string reaches to the next `\"`; one that belongs to the string is written `\\\"`")
                    .help("add the closing `\"`")
            }
            Error::UnterminatedComment(span) => {
                Diagnostic::error("V0105", "this comment does not end", *span, "the comment starts here")
                    .note("comments nest: every `#|` needs its own `|#`")
                    .help("add the closing `|#`")
            }
            Error::BadEscape(span) => Diagnostic::error("V0106", "unknown escape in a string", *span, "not an escape")
                .note("the escapes are `\\n`, `\\t`, `\\r`, `\\\"`, `\\\\`, `\\x41;` and a backslash at the end of a line")
                .help("write `\\\\` for a backslash"),
            Error::UnknownHash(span, word) => unknown_hash(*span, word),
            Error::BadDigits(span, radix) => bad_digits(*span, *radix),
            Error::ZeroDenominator(span) => {
                Diagnostic::error("V0109", "this fraction has a zero denominator", *span, "is no number")
                    .note("a fraction such as `1/3` is a number, read when the program is compiled")
                    .help("write `+inf.0`, `-inf.0` or `+nan.0` if that is what you mean")
            }
            Error::MisplacedDot(span) => {
                Diagnostic::error("V0110", "a dot may not stand here", *span, "unexpected dot")
                    .note("a lone dot stands between the elements of a list and its tail, as in `'(1 2 . 3)`")
                    .help("remove the dot, or put a digit beside it if it belongs to a number")
            }
            Error::DottedTail(span) => {
                Diagnostic::error("V0111", "expected the end of the list", *span, "a second datum after the dot")
                    .note("exactly one datum follows the dot, as in `'(1 2 . 3)`")
                    .help("remove the dot, or close the list before this")
            }
            Error::NothingQuoted(span) => {
                Diagnostic::error("V0112", "a datum is missing", *span, "expected a datum before this")
                    .note("a quotation mark, `#;` and the dot of a list must be followed by a datum")
                    .help("add the datum, or remove the mark; texts stand in double quotes: `\"a\"`")
            }
            Error::TooDeep(span) => {
                Diagnostic::error("V0113", "the program is nested too deeply", *span, "too many open brackets")
                    .note(format!("at most {MAX_NESTING} brackets and quotation marks may be open at one place"))
                    .help("name the inner parts with `define` or `let*`; long lists need no nesting: `(list 1 2 3)`")
            }
            Error::Splicing(span) => {
                Diagnostic::error("V0114", "`,@` is not part of the language", *span, "splicing")
                    .note("in a quasi-quotation, `,e` inserts the value of `e` as one element")
                    .help("put lists together with `append`, or insert a tail: `` `(1 2 . ,rest)``")
            }
        }
    }
}

fn unclosed(open: Span, end: Span, others: usize, next: Option<Span>) -> Diagnostic {
    let message = match others {
        0 => "this bracket is never closed".to_string(),
        1 => "this bracket and one around it are never closed".to_string(),
        n => format!("this bracket and {n} around it are never closed"),
    };
    let place = match next {
        Some(next) => (next, "it should probably be closed before this"),
        None => (end, "the file ends here"),
    };
    Diagnostic::error("V0102", message, open, "opened here")
        .secondary(place.0, place.1)
        .note("every opening bracket needs a closing one")
        .help(match others {
            0 => "add the closing bracket".to_string(),
            n => format!("add {} closing brackets", n + 1),
        })
}

fn unknown_hash(span: Span, word: &str) -> Diagnostic {
    let base = Diagnostic::error("V0107", format!("unknown literal `{word}`"), span, "not a literal")
        .note("`#` starts `#t`, `#f`, `#(`, `#;`, `#|` and numbers such as `#b101`, `#o17`, `#d99` and `#xff`");
    match word {
        "#true" | "#T" => base.help("write `#t`").fix(span, "#t"),
        "#false" | "#F" => base.help("write `#f`").fix(span, "#f"),
        _ if word.starts_with("#\\") => base.help("the language has no characters; use a number or a string"),
        _ => base.help("a name may contain `#`, but not start with it"),
    }
}

fn bad_digits(span: Span, radix: u32) -> Diagnostic {
    let (mark, digits) = match radix {
        2 => ("#b", "0 and 1"),
        8 => ("#o", "0 to 7"),
        10 => ("#d", "0 to 9, with a point and an exponent,"),
        _ => ("#x", "0 to 9 and a to f"),
    };
    Diagnostic::error("V0108", "this is not a number", span, format!("expected digits of radix {radix}"))
        .note(format!("after `{mark}` only the digits {digits} may follow, perhaps with a sign before them"))
        .help("correct the digits, or write the number in decimal")
}
