//! The kinds of operations on numbers, and of output: what [`Op`](crate::ssa::ir::Op) has as its parts.

/// Operations on one real.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Real1 {
    Neg,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Log1p,
    Expm1,
    Erf,
    Erfc,
    Gamma,
    /// Of the modulus of the gamma function.
    LogGamma,
    Abs,
    Floor,
    Ceiling,
    /// To the nearest integer, ties to even.
    Round,
    Truncate,
}

impl Real1 {
    /// Whether it is a function that the run time has of several numbers at a time.
    pub fn has_lanes(self) -> bool {
        matches!(self, Real1::Exp | Real1::Log | Real1::Log1p | Real1::Tanh)
    }
}

/// Operations on two reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Real2 {
    Add,
    Sub,
    Mul,
    Div,
    Atan2,
    Pow,
}

/// Comparisons of two reals; all are false when an operand is not a number, `Ne` is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Operations on two integers, modulo 2⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Int2 {
    Add,
    Sub,
    Mul,
}

/// Comparisons of two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IntCompare {
    Eq,
    Lt,
    /// Whether the first is less than the second, both without sign: `0 <= x < y` for a `y` that is not negative.
    Below,
    /// Whether they are equal: the lengths of two terms of a sum of sensitivities. Who does not need both lengths needs
    /// no error where they differ.
    Conform,
}

/// Operations on reals or truth values that there are for each of two lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lanewise {
    Real1(Real1),
    Real2(Real2),
    Compare(Compare),
    Not,
    And,
    Or,
    /// See [`Op::RealIs`].
    RealIs(u64),
    /// See [`Op::Select`]: of reals.
    Select,
}

/// Where output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
    /// Standard output, for the results of a program: the values of its expressions.
    Result,
}

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// As it is.
    Plain,
    /// In quotes, as in a program.
    Quoted,
}

/// Stands for what is wrong with the input in the message of [`Op::Read`].
pub const INPUT_FAULT: char = '\u{FFFC}';

/// Stands in the last note of the message of an error for a call that led there. There is one such note for each call,
/// or none.
pub const CALLERS: &str = "\u{E001}";

/// A message without the note for [`CALLERS`], and what this note begins with, in characters: the spaces before it, and
/// whether a line without text is to stand before it.
pub fn without_callers(message: &str) -> (&str, Option<(usize, bool)>) {
    let note = message.strip_suffix('\n').and_then(|message| message.strip_suffix(CALLERS));
    let Some(rest) = note.and_then(|note| note.strip_suffix("= note: ")) else { return (message, None) };
    let lines = rest.trim_end_matches(' ');
    let indent = rest.len() - lines.len();
    match lines.strip_suffix("|\n").map(|lines| lines.trim_end_matches(' ')).filter(|lines| lines.ends_with('\n')) {
        Some(lines) => (lines, Some((indent, true))),
        None => (lines, Some((indent, false))),
    }
}
