//! Patterns: the places where a program binds variables.
//!
//! ```text
//! x   _   ()   (cons p q)   (list p ...)   (cons* p ... q)   (vector p ...)   (*j p)   (bundle p q)   (record p ...)
//! ```
//!
//! A pattern becomes a sequence of `Rhs::Destructure`, from the left, that demands the shape and names the parts. A
//! parameter list is the pattern of the tuple that a call passes.

use crate::base::{Span, spelling};
use crate::core::ir::{Const, Part, Rhs, Var};
use crate::core::prim::Prim;
use crate::expand::Dialect;
use crate::expand::build::{Callee, Expander, Usage};
use crate::expand::error::Error;
use crate::expand::names::basis;
use crate::syntax::{self, Datum, DatumKind};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A parameter list.
#[derive(Clone, Debug)]
pub struct Params<'a> {
    /// The parameters.
    pub patterns: Vec<&'a Datum>,
    /// Whether the last one stands behind a dot: it takes all operands that are left.
    pub rest: bool,
    /// The whole list, for messages.
    pub span: Span,
}

impl<'a> Params<'a> {
    /// The parameter list that a datum is, without the first `skipped` parts of it: `(p ...)`, `(p ... . rest)`, or
    /// `rest` alone.
    pub fn of(datum: &'a Datum, skipped: usize) -> Option<Params<'a>> {
        let (patterns, rest) = match &datum.kind {
            DatumKind::List(items) => (items.get(skipped..)?.iter().collect(), false),
            DatumKind::Dotted(items, tail) => (items.get(skipped..)?.iter().chain([&**tail]).collect(), true),
            DatumKind::Symbol(_) if skipped == 0 => (vec![datum], true),
            _ => return None,
        };
        Some(Params { patterns, rest, span: datum.span })
    }

    /// How many operands a call may have. A pattern at the end says itself what fits: `(cons a b)` takes two operands
    /// as well as a pair.
    pub fn arity(&self) -> Arity {
        let rest = self.rest || matches!(self.patterns.last(), Some(Datum { kind: DatumKind::List(_), .. }));
        Arity { named: self.patterns.len() - usize::from(rest), rest, curried: false }
    }

    /// How a function of that name with these parameters is called.
    pub fn usage(&self, name: &str, span: Span) -> Usage {
        let mut call = format!("({name}");
        for (index, pattern) in self.patterns.iter().enumerate() {
            let dot = if self.rest && index + 1 == self.patterns.len() { " ." } else { "" };
            call += &format!("{dot} {}", syntax::flat(pattern));
        }
        Usage { arity: self.arity(), span, call: (call + ")").into() }
    }
}

/// How many operands a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arity {
    /// The parameters that take one operand each.
    pub named: usize,
    /// Whether there is one for the others.
    pub rest: bool,
    /// Whether the value is a function with parameters of its own.
    pub curried: bool,
}

impl Arity {
    /// Whether a call with so many operands may be right. A single operand may be the tuple of all.
    pub fn takes(self, operands: usize) -> bool {
        match operands {
            0 => self.named == 0,
            1 => true,
            _ if self.rest => operands >= self.named,
            _ => operands == self.named,
        }
    }
}

/// The names that one parameter list or `let` binds, in order; they come into scope together.
#[derive(Default)]
pub struct Bound {
    vars: Vec<(Rc<str>, Var)>,
    first: FxHashMap<Rc<str>, Span>,
}

impl Expander {
    /// Creates the parameter of a function and brings the names of the parameter list into scope.
    pub fn parameter(&mut self, params: &Params) -> Var {
        let mut bound = Bound::default();
        let param = match *params.patterns {
            [Datum { kind: DatumKind::Symbol(name), span }] => {
                let param = self.new_var(name, *span);
                self.add(&mut bound, name, *span, param);
                if !params.rest {
                    self.core.single.insert(param);
                }
                param
            }
            _ => {
                let param = self.new_var("args", params.span);
                self.tuple_pattern(&params.patterns, params.span, param, &mut bound);
                param
            }
        };
        self.bring_into_scope(bound);
        param
    }

    /// Brings the names into scope.
    pub fn bring_into_scope(&mut self, bound: Bound) {
        for (name, var) in bound.vars {
            self.scope.push(name, var);
        }
    }

    /// Binds a pattern to the value of an expression.
    pub fn bind_pattern(&mut self, pattern: &Datum, value: &Datum, bound: &mut Bound) {
        match pattern.symbol() {
            Some(name) => {
                let rhs = self.named(value, name);
                let var = self.new_var(name, pattern.span);
                if let Some(params) = lambda_params(value) {
                    self.arities.insert(Callee::Local(var), params.usage(name, pattern.span));
                }
                self.bind(var, rhs, value.span);
                self.add(bound, name, pattern.span, var);
            }
            None => {
                let var = self.atom(value);
                self.destructure(pattern, var, bound);
            }
        }
    }

    /// Records that a name is bound, unless it cannot be.
    fn add(&mut self, bound: &mut Bound, name: &Rc<str>, span: Span, var: Var) {
        if &**name == "_" {
            return;
        }
        if basis::keyword(name).is_some() && !basis::may_be_defined(name) {
            self.errors.push(Error::KeywordBound(span, name.clone()));
        } else if let Some(&first) = bound.first.get(name) {
            self.errors.push(Error::DuplicateName { first, second: span, name: name.clone() });
        } else {
            bound.first.insert(name.clone(), span);
            bound.vars.push((name.clone(), var));
        }
    }

    /// Takes apart a chain of pairs whose last second part is the last pattern's: what a call with several operands
    /// passes.
    pub fn tuple_pattern(&mut self, patterns: &[&Datum], span: Span, value: Var, bound: &mut Bound) {
        let (heads, last) = match patterns {
            [] => return self.demand_nil(value, span),
            [only] => return self.destructure(only, value, bound),
            [heads @ .., last] => (heads, last),
        };
        let mut rest = value;
        for (index, head) in heads.iter().enumerate() {
            let at_end = index + 1 == heads.len();
            // A part that is ignored need not be taken out, as long as the other part shows that there is a pair.
            if !is_ignored(head) || at_end && is_ignored(last) {
                self.part(Part::Car, head, rest, span, bound);
            }
            if !at_end {
                rest = self.emit("rest", Rhs::Destructure(Part::Cdr, rest), span);
            }
        }
        if !is_ignored(last) {
            self.part(Part::Cdr, last, rest, span, bound);
        }
    }

    /// Takes apart a list of exactly these elements.
    fn list_pattern(&mut self, patterns: &[&Datum], span: Span, value: Var, bound: &mut Bound) {
        let mut rest = value;
        for pattern in patterns {
            if !is_ignored(pattern) {
                self.part(Part::Car, pattern, rest, span, bound);
            }
            rest = self.emit("rest", Rhs::Destructure(Part::Cdr, rest), span);
        }
        self.demand_nil(rest, span);
    }

    /// Takes apart a vector of exactly these elements.
    fn vector_pattern(&mut self, patterns: &[&Datum], span: Span, value: Var, bound: &mut Bound) {
        let length = u32::try_from(patterns.len()).expect("a file has less than 2^32 characters");
        self.emit("_", Rhs::Destructure(Part::Vector(length), value), span);
        for (index, pattern) in patterns.iter().enumerate().filter(|(_, pattern)| !is_ignored(pattern)) {
            let index = self.emit("i", Rhs::Const(Const::Real(index as f64)), span);
            self.component(Rhs::Prim(Prim::VectorRef, vec![value, index]), pattern, "element", span, bound);
        }
    }

    /// Binds a pattern to a part of a pair.
    pub fn part(&mut self, part: Part, pattern: &Datum, pair: Var, span: Span, bound: &mut Bound) {
        self.component(Rhs::Destructure(part, pair), pattern, "part", span, bound);
    }

    /// Binds a pattern to what is found inside a value; `role` names it if the pattern does not.
    fn component(&mut self, rhs: Rhs, pattern: &Datum, role: &str, span: Span, bound: &mut Bound) {
        match pattern.symbol() {
            Some(name) => {
                let var = self.new_var(name, pattern.span);
                self.bind(var, rhs, span);
                self.add(bound, name, pattern.span, var);
            }
            None => {
                let inside = self.emit(role, rhs, span);
                self.destructure(pattern, inside, bound);
            }
        }
    }

    /// Takes a value apart. A name binds the value under that name.
    pub fn destructure(&mut self, pattern: &Datum, value: Var, bound: &mut Bound) {
        match &pattern.kind {
            DatumKind::Symbol(name) if &**name == "_" => {}
            DatumKind::Symbol(name) => {
                let var = self.new_var(name, pattern.span);
                self.bind(var, Rhs::Var(value), pattern.span);
                self.add(bound, name, pattern.span, var);
            }
            DatumKind::List(items) if items.is_empty() => self.demand_nil(value, pattern.span),
            DatumKind::List(items) => self.constructor_pattern(pattern, items, value, bound),
            _ => self.wrong_pattern(pattern, Error::NotAPattern(pattern.span, None)),
        }
    }

    /// Reports a pattern, and excuses the names in it.
    pub fn wrong_pattern(&mut self, pattern: &Datum, error: Error) {
        self.errors.push(error);
        self.excuse(pattern);
    }

    fn constructor_pattern(&mut self, pattern: &Datum, items: &[Datum], value: Var, bound: &mut Bound) {
        let span = pattern.span;
        let parts: Vec<&Datum> = items[1..].iter().collect();
        match (items[0].symbol().map(|name| &**name), &*parts) {
            (Some("cons"), [_, _]) => self.tuple_pattern(&parts, span, value, bound),
            (Some("cons*"), [_, ..]) => self.tuple_pattern(&parts, span, value, bound),
            (Some("list"), _) => self.list_pattern(&parts, span, value, bound),
            (Some("*j"), [part]) => {
                self.component(Rhs::Prim(Prim::JInverse, vec![value]), part, "primal", span, bound);
            }
            (Some("bundle"), [primal, tangent]) => {
                self.component(Rhs::Prim(Prim::Primal, vec![value]), primal, "primal", span, bound);
                self.component(Rhs::Prim(Prim::Tangent, vec![value]), tangent, "tangent", span, bound);
            }
            (Some("reverse"), [part]) if self.dialect == Dialect::Stalingrad => {
                self.component(Rhs::Prim(Prim::JInverse, vec![value]), part, "primal", span, bound);
            }
            (Some("forward"), [primal]) if self.dialect == Dialect::Stalingrad => {
                self.component(Rhs::Prim(Prim::Primal, vec![value]), primal, "primal", span, bound);
            }
            (Some("vector"), _) => self.vector_pattern(&parts, span, value, bound),
            (Some(name @ ("cons" | "cons*" | "*j" | "bundle")), _) => {
                let usage = match name {
                    "cons" => "(cons p q)",
                    "cons*" => "(cons* p ... q)",
                    "bundle" => "(bundle p q)",
                    _ => "(*j p)",
                };
                self.wrong_pattern(pattern, Error::MalformedPattern(span, usage));
            }
            (Some(name), _) if let Some(kind) = self.record_of(name) => {
                self.record_pattern(kind, (pattern, value), &parts, bound);
            }
            (Some(name), _) if let Some(nearest) = self.nearest_pattern(name) => {
                let error = Error::MisspeltPattern { span, name: items[0].span, nearest };
                self.wrong_pattern(pattern, error);
            }
            _ => {
                let names: Option<Vec<&str>> = items.iter().map(|item| Some(&**item.symbol()?)).collect();
                let list = names.map(|names| format!("(list {})", names.join(" ")));
                self.wrong_pattern(pattern, Error::NotAPattern(span, list));
            }
        }
    }

    /// The word or the kind of records that a pattern may begin with and that is spelled most like `name`, if any is
    /// close.
    fn nearest_pattern(&self, name: &str) -> Option<Rc<str>> {
        let words = ["cons", "cons*", "list", "vector", "bundle"].map(Rc::from);
        let records = self.globals.user.names().filter(|name| self.record_of(name).is_some()).cloned();
        spelling::closest(name, words.into_iter().chain(records))
    }

    fn demand_nil(&mut self, value: Var, span: Span) {
        self.emit("_", Rhs::Destructure(Part::Nil, value), span);
    }
}

/// The parameter list of a datum that looks like a λ-expression.
pub fn lambda_params(datum: &Datum) -> Option<Params<'_>> {
    match datum.list()? {
        [head, params, _, ..] if head.is_symbol("lambda") => Params::of(params, 0),
        _ => None,
    }
}

fn is_ignored(pattern: &Datum) -> bool {
    pattern.is_symbol("_")
}
