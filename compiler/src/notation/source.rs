//! Terms as VLAD source, laid out by the formatter.

use super::labels::Labels;
use super::term::{Name, Names, Pattern, Step, Term};
use crate::base::{Diagnostic, SourceMap};
use crate::core::number;
use crate::core::prim::Prim;
use crate::syntax;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Functions that printed source may need, and what they are for.
pub const SIGN: &str = "(define (sign-of-number x) (if (> x 0) 1 (if (< x 0) -1 x)))";
/// The sensitivity of a vector that has `s` in one place.
pub const ONE_HOT: &str =
    "(define (one-hot-vector v i s) (build (vector-length v) (lambda (j) (if (= j i) s (zero (vector-ref v j))))))";

/// Words of the language that are written besides the names of primitives and functions.
const WORDS: &[&str] = &[
    "lambda",
    "let",
    "let*",
    "letrec",
    "if",
    "cons",
    "cons*",
    "list",
    "vector",
    "define",
    "quote",
    "cond",
    "else",
    "and",
    "or",
    "begin",
    "when",
    "unless",
    "include",
    "quasiquote",
    "unquote",
    "sign-of-number",
    "one-hot-vector",
    "_",
];

/// How many parameters the functions at top level have.
pub type Parameters = FxHashMap<Rc<str>, usize>;

/// The definition of a function, after those that it needs; `captures` are the variables that it has captured.
pub fn definition(name: &str, captures: &[Name], function: &Term, names: &Names, parameters: &Parameters) -> String {
    let mut reserved: FxHashSet<String> = WORDS.iter().map(|word| (*word).to_string()).collect();
    reserved.insert(name.to_string());
    mentioned(function, &mut reserved);
    let labels = Labels::new(captures, function, names, &reserved);
    let mut local = FxHashMap::default();
    count_parameters(function, &mut local);
    let writer = Writer { labels, local, parameters };
    let captured: String = captures.iter().map(|name| format!(" {}", writer.labels.of(*name))).collect();
    let head = if captures.is_empty() { name.to_string() } else { format!("({name}{captured})") };
    let text = match function {
        Term::Lambda(pattern, body) => format!("(define ({head}{})\n{})", writer.params(pattern), writer.term(body)),
        other if captures.is_empty() => format!("(define {name} {})", writer.term(other)),
        other => format!("(define {head} {})", writer.term(other)),
    };
    laid_out(&text)
}

/// The helpers that a term needs.
pub fn helpers(term: &Term) -> Vec<&'static str> {
    let mut words = FxHashSet::default();
    mentioned(term, &mut words);
    let wanted = [("sign-of-number", SIGN), ("one-hot-vector", ONE_HOT)];
    wanted.into_iter().filter(|(word, _)| words.contains(*word)).map(|(_, text)| text).collect()
}

/// The words that a term's primitives, helpers among them, and its pairs and patterns are written with.
pub fn primitives(term: &Term, found: &mut FxHashSet<&'static str>) {
    match term {
        Term::Prim(Prim::Cons, _) | Term::Block(..) | Term::Lambda(..) => {
            found.extend(["cons", "cons*", "list", "vector"])
        }
        Term::Prim(Prim::InElement, _) => {
            found.extend(["one-hot-vector", "build", "vector-length", "vector-ref", "=", "zero"])
        }
        Term::Prim(Prim::Sign, _) => found.extend(["sign-of-number", "<", ">", "-"]),
        Term::Prim(prim, _) => {
            found.insert(word(*prim));
        }
        Term::Vector(_) => {
            found.insert("vector");
        }
        _ => {}
    }
    term.parts(&mut |part| primitives(part, found));
}

/// The names of the library and of the program that a term mentions.
pub fn mentioned(term: &Term, found: &mut FxHashSet<String>) {
    match term {
        Term::Global(name) => {
            found.insert(name.to_string());
        }
        Term::Prim(prim, _) => {
            found.insert(word(*prim).to_string());
        }
        _ => {}
    }
    if let Term::Block(steps, _) = term {
        for step in steps {
            if let Step::Take(..) = step {
                found.extend(["vector", "cons"].map(str::to_string));
            }
        }
    }
    term.parts(&mut |part| mentioned(part, found));
}

/// How a program calls a primitive.
pub fn word(prim: Prim) -> &'static str {
    match prim {
        Prim::Neg => "-",
        Prim::Scale => "*",
        Prim::Unscale => "/",
        Prim::Sign => "sign-of-number",
        Prim::InElement => "one-hot-vector",
        Prim::Opaque => "black-box",
        prim => prim.name(),
    }
}

/// The text with the formatter's line breaks.
fn laid_out(text: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("derivative".to_string(), text, false);
    let laid_out: Result<String, Vec<Diagnostic>> = syntax::format::format(file, text);
    laid_out.unwrap_or_else(|_| format!("{text}\n"))
}

/// The numbers of parameters of the functions that a term gives names to.
fn count_parameters(term: &Term, found: &mut FxHashMap<Name, usize>) {
    if let Term::Block(steps, _) = term {
        let named = steps.iter().flat_map(|step| match step {
            Step::Let(name, function) => vec![(*name, function)],
            Step::Letrec(functions) => functions.iter().map(|(name, function)| (*name, function)).collect(),
            Step::Take(..) => Vec::new(),
        });
        found.extend(named.filter_map(|(name, function)| match function {
            Term::Lambda(pattern, _) => Some((name, parameters_in(pattern))),
            _ => None,
        }));
    }
    term.parts(&mut |part| count_parameters(part, found));
}

/// How many parameters stand in a list that is this pattern.
fn parameters_in(pattern: &Pattern) -> usize {
    match pattern {
        Pattern::Nil => 0,
        Pattern::Pair(_, second) if **second == Pattern::Nil => 2,
        Pattern::Pair(_, second) => 1 + parameters_in(second),
        _ => 1,
    }
}

struct Writer<'a> {
    labels: Labels,
    /// How many parameters functions have.
    local: FxHashMap<Name, usize>,
    parameters: &'a Parameters,
}

impl Writer<'_> {
    fn term(&self, term: &Term) -> String {
        match term {
            Term::Name(name) => self.labels.of(*name).to_string(),
            Term::Global(name) => name.to_string(),
            Term::Number(number) => number::format(*number).as_str().to_string(),
            Term::Zero => "0".to_string(),
            Term::Bool(true) => "#t".to_string(),
            Term::Bool(false) => "#f".to_string(),
            Term::Nil => "'()".to_string(),
            Term::Text(text) => string(text),
            Term::Prim(Prim::Cons, parts) => self.pair(parts),
            // What the error carries is the value that its text shows.
            Term::Prim(Prim::Error, operands) => self.list("error", &operands[..2]),
            Term::Prim(prim, operands) => self.list(word(*prim), operands),
            Term::Vector(elements) => self.list("vector", elements),
            Term::Apply(function, argument) => {
                let count = match &**function {
                    Term::Name(name) => self.local.get(name),
                    Term::Global(name) => self.parameters.get(name),
                    Term::Lambda(pattern, _) => Some(&parameters_in(pattern)),
                    _ => None,
                };
                format!("({}{})", self.term(function), self.arguments(argument, count.copied().unwrap_or(usize::MAX)))
            }
            Term::Lambda(pattern, body) => format!("(lambda ({})\n{})", self.params(pattern).trim(), self.term(body)),
            Term::If(condition, yes, no) => {
                format!("(if {}\n{}\n{})", self.term(condition), self.term(yes), self.term(no))
            }
            Term::Block(steps, value) => self.block(steps, value),
        }
    }

    fn list(&self, head: &str, operands: &[Term]) -> String {
        let operands: String = operands.iter().map(|operand| format!(" {}", self.term(operand))).collect();
        format!("({head}{operands})")
    }

    /// What a call passes: at most so many parts of a tuple.
    fn arguments(&self, argument: &Term, count: usize) -> String {
        match argument {
            Term::Nil if count != 1 => String::new(),
            Term::Prim(Prim::Cons, parts) if count > 1 && parts[1] == Term::Nil => {
                format!(" {} '()", self.term(&parts[0]))
            }
            Term::Prim(Prim::Cons, parts) if count > 1 => {
                format!(" {}{}", self.term(&parts[0]), self.arguments(&parts[1], count.saturating_sub(1)))
            }
            other => format!(" {}", self.term(other)),
        }
    }

    fn pair(&self, parts: &[Term]) -> String {
        let (mut items, mut rest) = (vec![&parts[0]], &parts[1]);
        while let Term::Prim(Prim::Cons, parts) = rest {
            items.push(&parts[0]);
            rest = &parts[1];
        }
        let items: Vec<String> = items.into_iter().map(|item| self.term(item)).collect();
        let separator = if matches!(rest, Term::Lambda(..)) { "\n" } else { " " };
        match (rest, items.len()) {
            (Term::Nil, _) => format!("(list {})", items.join(" ")),
            (rest, 1) => format!("(cons {}{separator}{})", items[0], self.term(rest)),
            (rest, _) => format!("(cons* {}{separator}{})", items.join(" "), self.term(rest)),
        }
    }

    fn params(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Nil => String::new(),
            Pattern::Pair(first, second) if **second == Pattern::Nil => {
                format!(" {} ()", self.pattern(first))
            }
            Pattern::Pair(first, second) => format!(" {}{}", self.pattern(first), self.params(second)),
            other => format!(" {}", self.pattern(other)),
        }
    }

    fn pattern(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Name(name) => self.labels.of(*name).to_string(),
            Pattern::Any => "_".to_string(),
            Pattern::Nil => "()".to_string(),
            Pattern::Pair(first, second) => format!("(cons {} {})", self.pattern(first), self.pattern(second)),
            Pattern::Vector(length) => format!("(vector{})", " _".repeat(*length as usize)),
        }
    }

    fn block(&self, steps: &[Step], value: &Term) -> String {
        let Some(first) = steps.first() else { return self.term(value) };
        if let Step::Letrec(functions) = first {
            let functions: Vec<String> = functions
                .iter()
                .map(|(name, function)| format!("({} {})", self.labels.of(*name), self.term(function)))
                .collect();
            return format!("(letrec ({})\n{})", functions.join("\n"), self.block(&steps[1..], value));
        }
        let bound = |step: &Step| match step {
            Step::Let(name, term) => Some(format!("({} {})", self.labels.of(*name), self.term(term))),
            Step::Take(pattern, term) => Some(format!("({} {})", self.pattern(pattern), self.term(term))),
            Step::Letrec(_) => None,
        };
        let together: Vec<String> = steps.iter().map_while(bound).collect();
        let rest = self.block(&steps[together.len()..], value);
        let form = if together.len() == 1 { "let" } else { "let*" };
        format!("({form} ({})\n{rest})", together.join("\n"))
    }
}

fn string(text: &str) -> String {
    let mut written = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            '\r' => written.push_str("\\r"),
            c if c.is_control() => written.push_str(&format!("\\x{:x};", u32::from(c))),
            c => written.push(c),
        }
    }
    written + "\""
}
