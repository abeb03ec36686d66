//! Mistakes that a program makes while it runs: what happened as data, and the words for it.
//!
//! The reference evaluator reports them as they happen; compiled programs carry the same texts, rendered when they are
//! compiled. What only the evaluator knows (the value itself) stands in a note of its own, so the rest agrees.

use crate::base::{Diagnostic, Span};
use crate::core::ir::Part;
use crate::core::mismatch::Caller;
use crate::core::operands::not_a_number;
pub use crate::core::place::{Arguments, Place};
use crate::core::prim::Prim;
use std::borrow::Cow;
use std::rc::Rc;

/// What kind of value was found where another was expected.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `()`
    Nil,
    /// `#t`, `#f`
    Boolean,
    /// An untagged number.
    Real,
    /// A reverse-tagged number.
    Reverse,
    /// A bundle.
    Forward,
    /// A pair.
    Pair,
    /// A record of the kind of that name.
    Record(Rc<str>),
    /// A vector.
    Vector,
    /// A text.
    Text,
    /// A closure.
    Procedure,
    /// A value of one of these kinds, where it is not known of which.
    OneOf(Rc<[Kind]>),
}

impl Kind {
    /// The words for such a value, with article.
    pub fn describe(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Kind::Record(name) => return Cow::Owned(format!("a record `{name}`")),
            Kind::OneOf(kinds) if kinds[..] == [Kind::Nil, Kind::Pair] => "a list",
            Kind::OneOf(kinds) => {
                let words: Vec<_> = kinds.iter().map(Kind::describe).collect();
                return Cow::Owned(words.join(" or "));
            }
            Kind::Nil => "the empty list",
            Kind::Boolean => "a boolean",
            Kind::Real => "a real number",
            Kind::Reverse => "a reverse value",
            Kind::Forward => "a forward value",
            Kind::Pair => "a pair",
            Kind::Vector => "a vector",
            Kind::Text => "a string",
            Kind::Procedure => "a procedure",
        })
    }

    /// Whether lists are of this kind.
    pub fn is_list(&self) -> bool {
        match self {
            Kind::Nil | Kind::Pair => true,
            Kind::OneOf(kinds) => kinds.iter().all(Kind::is_list),
            _ => false,
        }
    }

    /// The words for a tangent of such a value.
    fn describe_tangent(&self) -> String {
        match self {
            Kind::Nil | Kind::Boolean | Kind::Text => format!("the empty list, for {}", self.describe()),
            Kind::Vector => "a vector of that length".into(),
            Kind::Real | Kind::Reverse | Kind::Forward | Kind::Pair | Kind::Record(_) => {
                format!("{}, as the value is", self.describe())
            }
            Kind::Procedure => "the list of the tangents of what the procedure has captured".into(),
            Kind::OneOf(_) => "a tangent of the value".into(),
        }
    }
}

/// A value found where another was expected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// Its kind.
    pub kind: Kind,
    /// The value, printed and shortened, where it is known.
    pub value: Option<String>,
}

impl From<Kind> for Found {
    fn from(kind: Kind) -> Found {
        Found { kind, value: None }
    }
}

/// A run-time error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RuntimeError {
    /// `(5 1)`
    NotAProcedure {
        /// What was called.
        found: Found,
    },
    /// `(+ 1 #t)`
    NotAReal {
        /// The primitive.
        prim: Prim,
        /// Which operand, from 0.
        operand: usize,
        /// The operand's value.
        found: Found,
    },
    /// `(car 5)`
    NotAPair {
        /// `car` or `cdr`.
        prim: Prim,
        /// The operand.
        found: Found,
    },
    /// `(vector-ref 5 0)`
    NotAVector {
        /// What wants a vector.
        prim: Prim,
        /// The operand.
        found: Found,
    },
    /// `(vector-ref #(1 2) 2)`
    NotAnIndex {
        /// The index, printed.
        index: String,
        /// How many elements the vector has, printed.
        length: String,
    },
    /// `(build -1 f)`
    NotALength {
        /// The number, printed.
        number: String,
    },
    /// `(let (((vector a b) #(1 2 3))) ...)`
    VectorLength {
        /// How many elements the pattern wants.
        expected: u32,
        /// How many there are, printed.
        found: String,
    },
    /// `(write-string 5)`
    NotAString {
        /// What wants a string.
        prim: Prim,
        /// The operand.
        found: Found,
    },
    /// A value does not fit a pattern.
    Mismatch {
        /// What the pattern demands.
        part: Part,
        /// The value in that place.
        found: Found,
        /// Set when the pattern is a parameter list.
        arguments: Option<Arguments>,
        /// How many elements of a list the pattern has taken before.
        behind: usize,
        caller: Caller,
    },
    /// A value is no record of the kind that a pattern, or a function that `define-record` defines, wants.
    NotARecord {
        /// The name of the kind.
        record: Rc<str>,
        /// The function, unless it is a pattern of the program.
        function: Option<Rc<str>>,
        /// The value in that place.
        found: Found,
        caller: Caller,
    },
    /// A backpropagator got a sensitivity that does not have the shape of the value: `((gradient (lambda (x) (list x)))
    /// 1)`
    Sensitivity {
        /// What the value has in that place.
        part: Part,
        /// The name of the kind of record that it is, if it is one.
        record: Option<Rc<str>>,
        /// What the sensitivity has there.
        found: Found,
    },
    /// `(plus 1 '())`
    NonConformant {
        /// The part of the first operand that differs.
        left: Found,
        /// What stands in the same place of the second.
        right: Found,
    },
    /// `(*j-inverse 1)`
    NotReversed {
        /// The part that is no reverse value.
        found: Found,
    },
    /// `(primal 1)`
    NotForward {
        /// `primal` or `tangent`.
        prim: Prim,
        /// The part that is no bundle.
        found: Found,
    },
    /// `(bundle 1 '())`
    NotATangent {
        /// The part of the value that the tangent does not fit.
        value: Found,
        /// What stands in the same place of the tangent.
        found: Found,
    },
    /// A read with nothing left.
    EndOfInput {
        /// What reads.
        prim: Prim,
    },
    /// A read met something else than a number or an array of numbers.
    MalformedInput {
        /// What it met, and where.
        report: String,
    },
    /// A read in a function whose derivative is checked.
    ReadInCheck {
        /// What reads.
        prim: Prim,
    },
    /// `(error message value)`
    Raised {
        /// The message as text.
        message: String,
        /// The value, printed.
        value: String,
    },
    /// A value used before its definition has run.
    Undefined {
        /// The name.
        name: String,
        /// Where it is defined.
        definition: Span,
    },
    /// An operation gave something that is not a finite number, from operands that were better; where that is asked
    /// for.
    NotFinite {
        /// The operation.
        prim: Prim,
        /// Its operands, printed.
        operands: Vec<String>,
        /// What it gave, printed.
        result: String,
        /// What the operation is part of.
        sweep: Sweep,
    },
    /// Recursion too deep or too much data for the memory.
    Exhausted,
    /// The user has stopped the program.
    Interrupted,
    /// The operating system failed to read or write.
    InputOutput {
        /// What it said.
        message: String,
    },
}

/// The part of a derivative that an operation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sweep {
    /// None: the operation computes a value.
    Value,
    /// The forward phase of reverse mode: what the program computes.
    Forward,
    /// The reverse phase.
    Reverse,
    /// Forward mode: what the program computes, and tangents.
    Tangent,
    /// A backpropagator that the program gives.
    Given,
}

impl Sweep {
    /// The words for it, and for what the place is to it.
    fn describe(self) -> (&'static str, &'static str) {
        match self {
            Sweep::Value => ("", "here"),
            Sweep::Forward => ("in the forward phase of a derivative", "here"),
            Sweep::Reverse => ("in the reverse phase of a derivative", "in the derivative of this"),
            Sweep::Tangent => ("in a derivative in forward mode", "here, or in the tangent of this"),
            Sweep::Given => ("in a derivative that the program gives", "here"),
        }
    }
}

/// The warning that a derivative is taken at a kink of `name`, and what it is `taken` to be.
pub fn at_kink(name: &str, operands: &[String], taken: &str, place: &Place) -> Diagnostic {
    let operands = operands.join(", ");
    let message = format!("a derivative is taken where `{name}` has none");
    let diagnostic = Diagnostic::error("V0322", message, place.span, format!("`{name}` of {operands}")).as_warning();
    let diagnostic = diagnostic.note(format!("what is taken as the derivative: {taken}"));
    match &place.library {
        Some(library) => diagnostic.note(library.note()),
        None => diagnostic,
    }
}

/// The warning that a function has no derivative where one is taken, from compiled code.
pub fn no_derivative(message: &str, value: &str, place: &Place) -> Diagnostic {
    let diagnostic = Diagnostic::error("V0322", format!("{message}: {value}"), place.span, "this call").as_warning();
    let diagnostic = match &place.library {
        Some(library) => diagnostic.note(library.note()),
        None => diagnostic,
    };
    diagnostic.help("`vlad gradcheck --eval` shows the operation that has none")
}

impl RuntimeError {
    /// A kernel made a number that is not finite of arrays of finite ones.
    pub fn not_finite_arrays(prim: Prim, result: String, sweep: Sweep) -> RuntimeError {
        RuntimeError::NotFinite { prim, operands: vec!["arrays of finite numbers".into()], result, sweep }
    }

    /// The exit code of a program that stops with this error.
    pub fn exit_code(&self) -> i32 {
        match self {
            RuntimeError::Exhausted => 3,
            _ => 1,
        }
    }

    /// Whether a program can survive the error: what it does wrong itself, not what its surroundings do.
    pub fn is_survivable(&self) -> bool {
        match self {
            RuntimeError::EndOfInput { .. }
            | RuntimeError::MalformedInput { .. }
            | RuntimeError::ReadInCheck { .. }
            | RuntimeError::NotFinite { .. }
            | RuntimeError::Exhausted
            | RuntimeError::Interrupted
            | RuntimeError::InputOutput { .. } => false,
            RuntimeError::NotAProcedure { .. }
            | RuntimeError::NotAReal { .. }
            | RuntimeError::NotAPair { .. }
            | RuntimeError::NotAVector { .. }
            | RuntimeError::NotAnIndex { .. }
            | RuntimeError::NotALength { .. }
            | RuntimeError::VectorLength { .. }
            | RuntimeError::NotAString { .. }
            | RuntimeError::Mismatch { .. }
            | RuntimeError::NotARecord { .. }
            | RuntimeError::Sensitivity { .. }
            | RuntimeError::NonConformant { .. }
            | RuntimeError::NotReversed { .. }
            | RuntimeError::NotForward { .. }
            | RuntimeError::NotATangent { .. }
            | RuntimeError::Raised { .. }
            | RuntimeError::Undefined { .. } => true,
        }
    }

    /// The message that a handler gets of an error that the program did not raise itself: that to the user, without
    /// the numbers that only run time knows.
    pub fn caught(&self, place: &Place) -> String {
        match self {
            RuntimeError::NotAnIndex { .. } => "no index of the vector".into(),
            RuntimeError::NotALength { .. } => "no length of a vector".into(),
            RuntimeError::VectorLength { expected, .. } => {
                format!("a vector of another length does not fit a pattern of {expected}")
            }
            _ => self.headline(place, place.span).message,
        }
    }

    /// The message to the user.
    pub fn to_diagnostic(&self, place: &Place) -> Diagnostic {
        // What is wrong is the call: what a definition of records defines is written nowhere, and parameters are right.
        let mut diagnostic = match (self, place.call) {
            (RuntimeError::NotARecord { function: Some(_), .. }, Some(call)) => {
                self.headline(place, call).secondary(place.span, "defined here")
            }
            (RuntimeError::Mismatch { arguments: Some(_), caller, .. }, _) if let Some(call) = caller.call(place) => {
                let mut diagnostic = self.headline(place, call);
                let label =
                    diagnostic.primary.as_mut().map(|label| std::mem::replace(&mut label.text, "this call".into()));
                diagnostic.secondary(place.span, label.unwrap_or_default())
            }
            _ => self.headline(place, place.span),
        };
        if let (Some(label), true) = (&mut diagnostic.primary, place.library.is_some()) {
            label.text = "this call".into();
        }
        if let RuntimeError::Mismatch { arguments: None, caller, .. }
        | RuntimeError::NotARecord { function: None, caller, .. } = self
            && let Some(call) = caller.call(place)
        {
            diagnostic = diagnostic.secondary(call, "called here");
        }
        // How many arguments there are says all about arguments that are missing.
        let is_counted = matches!(self, RuntimeError::Mismatch { arguments: Some(_), .. });
        if let Some((expected, found)) = self.expectation().filter(|_| !is_counted) {
            let mut words = found.kind.describe();
            if expected.starts_with(&*words) && matches!(found.kind, Kind::Record(_)) {
                words += " of another definition";
            }
            diagnostic = diagnostic.note(format!("expected {expected}, found {words}"));
            if let Some(value) = &found.value {
                diagnostic = diagnostic.note(format!("the value is {value}"));
            }
        }
        if let RuntimeError::NotFinite { operands, .. } = self {
            diagnostic = diagnostic.note(format!("the operands: {}", operands.join(", ")));
        }
        diagnostic.help = self.help();
        if let Some(library) = &place.library {
            // Sums of sensitivities come from derivatives, and know nothing of arguments.
            let may_be_argument = self.is_survivable() && !matches!(self, RuntimeError::NonConformant { .. });
            if let (Some(misfit), Some(contract), true) = (&library.misfit, &library.contract, may_be_argument) {
                return misfit.instead_of(diagnostic, contract);
            }
            match (self, &library.contract) {
                // Nobody can change the parameters of the library.
                (RuntimeError::Mismatch { arguments: Some(arguments), .. }, Some(contract))
                    if *arguments.function == *contract.name =>
                {
                    diagnostic.notes = vec![contract.describe()];
                    diagnostic.help = Some(contract.help());
                }
                _ if may_be_argument => diagnostic.notes.push(library.note_with_call()),
                _ => diagnostic.notes.push(library.note()),
            }
        }
        match (&place.tuple, self.expectation()) {
            (Some(arguments), Some((_, Found { kind: Kind::Pair, .. }))) => {
                arguments.instead_of(diagnostic, place.call)
            }
            _ => diagnostic,
        }
    }

    fn headline(&self, place: &Place, span: Span) -> Diagnostic {
        // Programs do not know the names of what only the library can call, but the function that they have called.
        let shown = |prim: &Prim| match &place.library {
            Some(function) if prim.to_string().starts_with('%') => function.name.to_string(),
            _ => prim.to_string(),
        };
        let (code, message, label) = match self {
            RuntimeError::NotAProcedure { .. } => {
                ("V0301", "called a value that is not a procedure".into(), "this call")
            }
            RuntimeError::Sensitivity { .. } | RuntimeError::NotAReal { prim: Prim::Scale | Prim::Unscale, .. } => {
                ("V0314", "a sensitivity does not have the shape of its value".into(), "the value comes from here")
            }
            RuntimeError::NotAReal { prim, operand, .. } => {
                ("V0302", not_a_real(prim.arity(), *operand, &shown(prim)), "")
            }
            RuntimeError::NotAPair { prim, .. } => {
                ("V0303", format!("`{}` of a value that is not a pair", shown(prim)), "")
            }
            RuntimeError::NotAVector { prim, .. } => {
                ("V0316", format!("`{}` of a value that is not a vector", shown(prim)), "")
            }
            RuntimeError::NotAnIndex { index, length } => {
                ("V0317", format!("{index} is no index of a vector of length {length}"), "")
            }
            RuntimeError::NotALength { number } => ("V0318", format!("{number} is no length of a vector"), ""),
            RuntimeError::VectorLength { expected, found } => {
                ("V0304", format!("a vector of length {found} does not fit a pattern of {expected}"), "this pattern")
            }
            RuntimeError::Mismatch { arguments: Some(arguments), .. } => {
                ("V0304", arguments.describe(), "the parameters")
            }
            RuntimeError::Mismatch { part: Part::Never, .. } => {
                ("V0304", "a value fits no clause of a `match`".into(), "this match")
            }
            RuntimeError::NotARecord { function: Some(function), record, .. } => {
                ("V0325", format!("`{function}` of a value that is no record `{record}`"), "")
            }
            RuntimeError::NotARecord { function: None, .. } => {
                ("V0304", "a value does not fit its pattern".into(), "this pattern")
            }
            RuntimeError::Mismatch { arguments: None, .. } => {
                ("V0304", "a value does not fit its pattern".into(), "this pattern")
            }
            RuntimeError::NonConformant { .. } => ("V0305", "`plus` of values that do not conform".into(), ""),
            RuntimeError::NotReversed { .. } => {
                ("V0306", "`*j-inverse` of a value that `*j` has not transformed".into(), "")
            }
            RuntimeError::NotForward { prim, .. } => ("V0320", format!("`{prim}` of a value that is not a bundle"), ""),
            RuntimeError::NotATangent { .. } => {
                ("V0321", "`bundle` of a value and what is no tangent of it".into(), "")
            }
            RuntimeError::EndOfInput { prim } => {
                ("V0307", format!("`{}` at the end of the input", reader_name(*prim)), "this read")
            }
            RuntimeError::MalformedInput { report } => ("V0308", report.clone(), "this read"),
            RuntimeError::ReadInCheck { prim } => {
                let name = reader_name(*prim);
                ("V0323", format!("`{name}` in a function whose derivative is checked"), "this read")
            }
            RuntimeError::Raised { message, value } => {
                ("V0309", format!("{message}: {value}"), "the program says so here")
            }
            RuntimeError::Undefined { name, .. } => {
                ("V0310", format!("`{name}` is used before its definition"), "has no value yet")
            }
            RuntimeError::Exhausted => {
                ("V0311", "out of memory: recursion too deep or too much data".into(), "stopped here")
            }
            RuntimeError::Interrupted => ("V0324", "interrupted".into(), "stopped here"),
            RuntimeError::NotFinite { prim, result, sweep, .. } => {
                // Products with partial derivatives cannot be written, but understood.
                let prim = match prim {
                    Prim::Scale => Prim::Mul,
                    Prim::Unscale => Prim::Div,
                    Prim::Plus => Prim::Add,
                    prim => *prim,
                };
                let (message, label) = sweep.describe();
                // Programs do not know the names of kernels, but the function that is called.
                let what = match prim.name().strip_prefix("%kernel-") {
                    Some(kernel) => format!("arithmetic on arrays ({kernel})"),
                    None => format!("`{prim}`"),
                };
                ("V0315", format!("{what} gives {result} {message}").trim_end().to_string(), label)
            }
            RuntimeError::NotAString { prim, .. } => {
                ("V0312", format!("`{}` of a value that is not a string", shown(prim)), "")
            }
            RuntimeError::InputOutput { message } => ("V0313", format!("cannot read or write: {message}"), ""),
        };
        let diagnostic = Diagnostic::error(code, message, span, label);
        match self {
            RuntimeError::Undefined { definition, .. } => diagnostic.secondary(*definition, "defined here, later"),
            _ => diagnostic,
        }
    }

    /// What was expected and what was found.
    fn expectation(&self) -> Option<(String, &Found)> {
        Some(match self {
            RuntimeError::NotAProcedure { found } => ("a procedure".into(), found),
            RuntimeError::NotAReal { found, .. } => ("a real number".into(), found),
            RuntimeError::NotAPair { found, .. } => ("a pair".into(), found),
            RuntimeError::NotAString { found, .. } => ("a string".into(), found),
            RuntimeError::NotAVector { found, .. } | RuntimeError::Mismatch { part: Part::Vector(_), found, .. } => {
                ("a vector".into(), found)
            }
            RuntimeError::Mismatch { part: Part::Nil, found, behind: behind @ 1.., .. } => {
                (format!("the end of the list behind {}", elements(*behind)), found)
            }
            RuntimeError::Mismatch {
                part: Part::Car | Part::Cdr,
                found: found @ Found { kind: Kind::Nil, .. },
                behind: behind @ 1..,
                ..
            } => (format!("one more element behind {}", elements(*behind)), found),
            RuntimeError::Mismatch { part: Part::Car | Part::Cdr, found, .. }
            | RuntimeError::Sensitivity { part: Part::Car | Part::Cdr, found, .. } => ("a pair".into(), found),
            RuntimeError::NotARecord { record, found, .. }
            | RuntimeError::Sensitivity { record: Some(record), found, .. } => (format!("a record `{record}`"), found),
            RuntimeError::Sensitivity { part: Part::Never | Part::Record(_), found, .. } => ("a record".into(), found),
            RuntimeError::Mismatch { part: Part::Never | Part::Record(_), found, .. } => {
                ("a value that one of the clauses fits".into(), found)
            }
            RuntimeError::Mismatch { part: Part::Nil, found, .. }
            | RuntimeError::Sensitivity { part: Part::Nil | Part::Vector(_), found, .. } => {
                ("the empty list".into(), found)
            }
            RuntimeError::NonConformant { left: Found { kind: Kind::Vector, .. }, right }
                if right.kind == Kind::Vector =>
            {
                ("a vector of the length of the one on the left".into(), right)
            }
            RuntimeError::NonConformant { left: Found { kind: Kind::Boolean, .. }, right }
                if right.kind == Kind::Boolean =>
            {
                ("the truth value on the left".into(), right)
            }
            RuntimeError::NonConformant { left, right } => (format!("{}, as on the left", left.kind.describe()), right),
            RuntimeError::NotForward { found, .. } => ("a forward value".into(), found),
            RuntimeError::NotATangent { value, found } => (value.kind.describe_tangent(), found),
            RuntimeError::NotReversed { found } => ("a reverse value".into(), found),
            _ => return None,
        })
    }

    fn help(&self) -> Option<String> {
        let text = match self {
            RuntimeError::NotAProcedure { .. } => {
                "what stands first in parentheses is called: write `(* x 2)` for x * 2, and no parentheses around what is no call"
            }
            RuntimeError::Sensitivity { .. } | RuntimeError::NotAReal { prim: Prim::Scale | Prim::Unscale, .. } => {
                "backpropagators take sensitivities shaped like the value; `gradient` passes 1 and wants a function whose \
                 value is a number (`jacobian` takes any)"
            }
            RuntimeError::NotAReal { found: Found { kind: Kind::Reverse, .. }, .. } => {
                "apply the transform of the function, `(*j f)`, or take the tag off with `*j-inverse`"
            }
            RuntimeError::NotAReal { found: Found { kind: Kind::Forward, .. }, .. } => {
                "apply the transform of the function, `(j* f)`, or take the bundle apart with `primal` and `tangent`"
            }
            RuntimeError::NotAReal { prim, found, .. } => not_a_number(*prim, &found.kind),
            RuntimeError::NotAPair { found: Found { kind: Kind::Nil, .. }, .. } => {
                "test with `null?` before taking a list apart"
            }
            RuntimeError::NotAPair { found: Found { kind: Kind::Vector, .. }, .. } => {
                "lists are made of pairs, vectors are not: `vector-map`, `vector-length` and others take vectors, and \
                 `vector->list` makes a list of one"
            }
            RuntimeError::NotAPair { found: Found { kind: Kind::Record(_), .. }, .. } => {
                "records are no pairs: the functions that `define-record` defines take them apart, and so does a pattern"
            }
            RuntimeError::NotAPair { .. } => "test with `pair?` before taking a value apart",
            RuntimeError::NotAVector { found, .. } if found.kind.is_list() => {
                "lists are no vectors: `list-ref`, `length`, `map` and others take lists, and `list->vector` makes a vector of \
                 one"
            }
            RuntimeError::NotAVector { .. } => {
                "make a vector with `vector`, `build` or `list->vector`; test with `vector?` if the value can vary"
            }
            RuntimeError::NotAnIndex { .. } => {
                "indices are whole numbers from 0 to the length of the vector, which is not one of them"
            }
            RuntimeError::NotALength { .. } => "lengths are whole numbers, 0 or more, that fit into the memory",
            RuntimeError::VectorLength { .. } => {
                "a pattern fits only vectors of its own length: ask for the `vector-length` if that can vary"
            }
            RuntimeError::Mismatch { arguments: Some(arguments), .. } => return Some(arguments.help()),
            RuntimeError::Mismatch { part: Part::Never, .. } => {
                "add a clause for such a value, or `(_ e)` for all others"
            }
            RuntimeError::NotARecord { record, .. } => {
                return Some(format!(
                    "test with `{record}?` first if the value can vary; every definition makes a kind of its own"
                ));
            }
            RuntimeError::Mismatch { arguments: None, .. } => {
                "a pattern fits only values built in the same way: `cons` a pair, `list` a list of that length, `vector` a \
                 vector of that length"
            }
            RuntimeError::NonConformant { .. } => {
                "`plus` adds sensitivities of one and the same value: numbers, empty lists, or pairs and vectors of such"
            }
            RuntimeError::NotReversed { .. } => "`(*j-inverse x)` undoes `(*j x)` and nothing else",
            RuntimeError::NotForward { .. } => "`primal` and `tangent` take apart what `bundle` and `j*` have made",
            RuntimeError::NotATangent { .. } => {
                "a tangent has the shape of its value: numbers for numbers, pairs for pairs, vectors for vectors, `()` for booleans and empty \
                 lists, the list of the tangents of what it has captured for a function"
            }
            RuntimeError::EndOfInput { prim: Prim::ReadReal } => {
                "give one number for each `(read-real)` on the standard input"
            }
            RuntimeError::EndOfInput { .. } => "an array in the input has at least one number; an empty line ends it",
            RuntimeError::ReadInCheck { .. } => {
                "a check calls the function many times: read outside of it, or leave the function out with `--skip NAME`"
            }
            RuntimeError::MalformedInput { .. } => {
                "numbers look like 1, -2.5, 1e-5 or 1/3, with white space between them; in arrays commas may stand there, too"
            }
            RuntimeError::Undefined { .. } => {
                "move the definition up; only functions can be used before they are defined"
            }
            RuntimeError::Exhausted => {
                "a recursion without end looks like this; a loop that calls itself last needs no memory"
            }
            RuntimeError::NotAString { prim: Prim::IsSameString, .. } => {
                "test with `string?` first if the value can vary; `equal?` compares all values"
            }
            RuntimeError::NotAString { .. } => "`write` prints any value",
            RuntimeError::NotFinite { sweep: Sweep::Value, .. } => {
                "if its operands can be these, test them before; an infinite number that is meant is written `+inf.0`"
            }
            RuntimeError::NotFinite { .. } => "if the function has a derivative here, give it: `with-derivative`",
            RuntimeError::Raised { .. } | RuntimeError::InputOutput { .. } | RuntimeError::Interrupted => return None,
        };
        Some(text.into())
    }
}

fn not_a_real(arity: usize, operand: usize, name: &str) -> String {
    if arity == 1 {
        return format!("the operand of `{name}` is not a real number");
    }
    let which = if operand == 0 { "first" } else { "second" };
    format!("the {which} operand of `{name}` is not a real number")
}

fn elements(count: usize) -> String {
    format!("{count} element{}", if count == 1 { "" } else { "s" })
}

/// What programs call a primitive that reads; of arrays the library has the rest.
fn reader_name(prim: Prim) -> &'static str {
    prim.name().trim_start_matches('%')
}
