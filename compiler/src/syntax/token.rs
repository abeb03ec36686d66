//! Tokens: what the lexer hands to the grammar.

use crate::syntax::datum::Prefix;
use std::rc::Rc;

/// The two kinds of brackets; they mean the same but must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    /// `( )`
    Round,
    /// `[ ]`
    Square,
}

impl Bracket {
    /// What closes one of the kind.
    pub fn closing(self) -> char {
        match self {
            Bracket::Round => ')',
            Bracket::Square => ']',
        }
    }
}

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// `(` or `[`
    Open(Bracket),
    /// `)` or `]`
    Close(Bracket),
    /// `#(`
    OpenVector,
    /// `'`, `` ` `` or `,`
    Prefix(Prefix),
    /// `.` standing alone
    Dot,
    /// `#;`
    Skip,
    /// A number.
    Real(f64),
    /// `#t` or `#f`
    Bool(bool),
    /// A string, its escapes replaced.
    Str(Rc<str>),
    /// A name.
    Symbol(Rc<str>),
}
