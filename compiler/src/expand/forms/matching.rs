//! `match`: the first clause whose pattern fits a value.
//!
//! ```text
//! (match e                                t = e
//!   ((cons a b) (when (< a b)) x)         c = (pair? t) and then: a = (car t), b = (cdr t), (< a b)
//!   (() y)                           →    if c then { a = part of t; b = part of t; x }
//!   (_ z))                                else if (null? t) then y else z
//! ```
//!
//! A clause becomes a condition, which binds nothing, and a body behind the pattern's bindings; what both take out of
//! the value is the same to the optimiser. Besides the [patterns](super::pattern) of parameters there are constants:
//! numbers, booleans, texts, and quoted lists of them. Where no clause fits, the program ends with an error; the flow
//! analysis reports it at once if that is certain.

use crate::base::Span;
use crate::core::ir::{Binding, Const, Part, RecordId, Rhs, Var};
use crate::core::prim::Prim;
use crate::expand::build::{Expander, Meaning};
use crate::expand::error::Error;
use crate::expand::forms::pattern::Bound;
use crate::expand::names::basis::Keyword;
use crate::syntax::{Datum, DatumKind, Prefix};
use std::rc::Rc;

/// How a match is written.
const FORM: &str = "(match e (pattern e ...) (pattern (when c) e ...) ...)";

/// A clause as written.
struct Clause<'a> {
    pattern: Datum,
    guard: Option<&'a Datum>,
    forms: &'a [Datum],
    span: Span,
}

impl Clause<'_> {
    /// Whether every value fits.
    fn is_certain(&self) -> bool {
        self.guard.is_none() && self.pattern.symbol().is_some()
    }
}

/// What is left to test.
struct Rest<'a> {
    /// Patterns of parts, with these; the next is at the end.
    waiting: Vec<(Datum, Var)>,
    /// The clause, whose guard is last.
    clause: &'a Clause<'a>,
    /// The value of the whole pattern.
    whole: Var,
}

impl Expander {
    /// `match`, with what stands behind the word.
    pub fn match_form(&mut self, span: Span, operands: &[Datum]) -> Rhs {
        let [value, clauses @ ..] = operands else { return self.error(Error::Malformed(span, "match", FORM)) };
        let Some(clauses) = clauses.iter().map(|clause| self.clause(clause)).collect::<Option<Vec<_>>>() else {
            return self.error(Error::Malformed(span, "match", FORM));
        };
        if clauses.is_empty() {
            return self.error(Error::Malformed(span, "match", FORM));
        }
        if let Some(certain) = clauses.iter().position(Clause::is_certain).filter(|at| at + 1 < clauses.len()) {
            let (clause, behind) = (clauses[certain].pattern.span, clauses[certain + 1].span);
            return self.error(Error::NeverReached { clause, behind });
        }
        let value = self.atom(value);
        let mark = self.scope.mark();
        let rhs = self.clauses(value, &clauses, span);
        self.scope.reset(mark);
        rhs
    }

    fn clause<'a>(&self, datum: &'a Datum) -> Option<Clause<'a>> {
        let (pattern, forms) = datum.list()?.split_first()?;
        let (guard, forms) = match forms {
            [first, rest @ ..] if !rest.is_empty() => match first.list() {
                Some([head, guard])
                    if head.symbol().is_some_and(|name| self.meaning(name) == Meaning::Keyword(Keyword::When)) =>
                {
                    (Some(guard), rest)
                }
                _ => (None, forms),
            },
            _ => (None, forms),
        };
        (!forms.is_empty()).then(|| Clause { pattern: spelled_out(pattern), guard, forms, span: datum.span })
    }

    fn clauses(&mut self, value: Var, clauses: &[Clause], span: Span) -> Rhs {
        let Some((clause, rest)) = clauses.split_first() else {
            return Rhs::Destructure(Part::Never, value);
        };
        if clause.is_certain() {
            return self.clause_body(value, clause);
        }
        self.in_clause(clause.span, |expander| {
            let mark = expander.scope.mark();
            let condition =
                expander.fits(&mut Rest { waiting: vec![(clause.pattern.clone(), value)], clause, whole: value });
            let condition = expander.hold(condition, clause.pattern.span);
            expander.scope.reset(mark);
            let yes = expander.branch(clause.span, |expander| expander.clause_body(value, clause));
            let no = expander.branch(span, |expander| expander.clauses(value, rest, span));
            Rhs::If(condition, yes, no)
        })
    }

    fn clause_body(&mut self, value: Var, clause: &Clause) -> Rhs {
        self.bind_parts(value, clause);
        self.body(clause.forms, clause.span)
    }

    /// Binds the names of a pattern that fits.
    fn bind_parts(&mut self, value: Var, clause: &Clause) {
        let mut bound = Bound::default();
        self.destructure(&without_constants(&clause.pattern), value, &mut bound);
        self.bring_into_scope(bound);
    }

    /// Whether all the waiting values fit their patterns, and the whole fits the guard.
    fn fits(&mut self, rest: &mut Rest) -> Rhs {
        let Some((pattern, value)) = rest.waiting.pop() else {
            let Some(guard) = rest.clause.guard else { return Rhs::Const(Const::Bool(true)) };
            let mistakes = self.errors.len();
            self.bind_parts(rest.whole, rest.clause);
            // The body has the same names, and the same mistakes.
            self.errors.truncate(mistakes);
            return self.rhs(guard);
        };
        let span = pattern.span;
        match &pattern.kind {
            DatumKind::Symbol(_) => self.fits(rest),
            DatumKind::Real(x) => self.constant_fits([Prim::IsReal, Prim::Eq], Const::Real(*x), (span, value), rest),
            DatumKind::Str(text) => {
                self.constant_fits([Prim::IsString, Prim::IsSameString], Const::Str(text.clone()), (span, value), rest)
            }
            DatumKind::Bool(wanted) => {
                let wanted = *wanted;
                self.only_if(Rhs::Prim(Prim::IsBoolean, vec![value]), span, |expander| {
                    let yes = |expander: &mut Expander| expander.fits(rest);
                    let no = |_: &mut Expander| Rhs::Const(Const::Bool(false));
                    let (yes, no) = (expander.branch(span, yes), expander.branch(span, no));
                    if wanted { Rhs::If(value, yes, no) } else { Rhs::If(value, no, yes) }
                })
            }
            DatumKind::List(items) => match items.split_first() {
                None => self.only_if(Rhs::Prim(Prim::IsNull, vec![value]), span, |e| e.fits(rest)),
                Some((head, parts)) => {
                    let head = head.symbol().cloned();
                    self.parts_fit(head.as_deref(), parts, (span, value), rest)
                }
            },
            // What is no pattern is reported where its names are bound.
            _ => self.fits(rest),
        }
    }

    /// Whether a value is of the kind of a constant and the same, and the waiting values fit.
    fn constant_fits(&mut self, [kind, same]: [Prim; 2], constant: Const, at: (Span, Var), rest: &mut Rest) -> Rhs {
        let (span, value) = at;
        self.only_if(Rhs::Prim(kind, vec![value]), span, |expander| {
            let constant = expander.emit("c", Rhs::Const(constant), span);
            expander.only_if(Rhs::Prim(same, vec![value, constant]), span, |expander| expander.fits(rest))
        })
    }

    /// Whether a value is made of parts that fit, and the waiting values fit, too.
    fn parts_fit(&mut self, head: Option<&str>, parts: &[Datum], (span, value): (Span, Var), rest: &mut Rest) -> Rhs {
        match (head, parts) {
            (Some("list"), []) => self.only_if(Rhs::Prim(Prim::IsNull, vec![value]), span, |e| e.fits(rest)),
            (Some("cons*"), [only]) => {
                rest.waiting.push((only.clone(), value));
                self.fits(rest)
            }
            (Some(head @ ("list" | "cons*")), [first, others @ ..]) => {
                self.pair_fits([first, &sequence(head, others, span)], (span, value), rest)
            }
            (Some("cons"), [first, second]) => self.pair_fits([first, second], (span, value), rest),
            (Some("*j"), [part]) => self.only_if(Rhs::Prim(Prim::IsReverse, vec![value]), span, |expander| {
                let inside = expander.emit("primal", Rhs::Prim(Prim::JInverse, vec![value]), span);
                rest.waiting.push((part.clone(), inside));
                expander.fits(rest)
            }),
            (Some("bundle"), [primal, tangent]) => {
                self.only_if(Rhs::Prim(Prim::IsForward, vec![value]), span, |expander| {
                    for (pattern, prim) in [(tangent, Prim::Tangent), (primal, Prim::Primal)] {
                        let part = expander.emit("part", Rhs::Prim(prim, vec![value]), span);
                        rest.waiting.push((pattern.clone(), part));
                    }
                    expander.fits(rest)
                })
            }
            (Some("vector"), parts) => self.only_if(Rhs::Prim(Prim::IsVector, vec![value]), span, |expander| {
                let length = expander.emit("n", Rhs::Prim(Prim::VectorLength, vec![value]), span);
                let wanted = expander.emit("c", Rhs::Const(Const::Real(parts.len() as f64)), span);
                expander.only_if(Rhs::Prim(Prim::Eq, vec![length, wanted]), span, |expander| {
                    for (index, part) in parts.iter().enumerate().rev().filter(|(_, part)| part.symbol().is_none()) {
                        let index = expander.emit("i", Rhs::Const(Const::Real(index as f64)), span);
                        let element = expander.emit("element", Rhs::Prim(Prim::VectorRef, vec![value, index]), span);
                        rest.waiting.push((part.clone(), element));
                    }
                    expander.fits(rest)
                })
            }),
            (Some(head), parts) if let Some(kind) = self.record_of(head) => {
                self.record_fits(kind, parts, (span, value), rest)
            }
            _ => self.fits(rest),
        }
    }

    fn record_fits(&mut self, kind: RecordId, parts: &[Datum], (span, value): (Span, Var), rest: &mut Rest) -> Rhs {
        let of = self.emit("kind", Rhs::Const(Const::Record(kind)), span);
        self.only_if(Rhs::Prim(Prim::IsOfKind, vec![value, of]), span, |expander| {
            // How many parts there should be is said where their names are bound.
            let is_named = parts.iter().all(|part| part.symbol().is_some());
            if !is_named && parts.len() == expander.core.records[kind].fields.len() {
                let rests = expander.rests(kind, value, parts.len(), span);
                for (index, part) in parts.iter().enumerate().rev().filter(|(_, part)| part.symbol().is_none()) {
                    let field = expander.field(kind, &rests, index);
                    let field = expander.emit("part", field, span);
                    rest.waiting.push((part.clone(), field));
                }
            }
            expander.fits(rest)
        })
    }

    fn pair_fits(&mut self, parts: [&Datum; 2], (span, value): (Span, Var), rest: &mut Rest) -> Rhs {
        self.only_if(Rhs::Prim(Prim::IsPair, vec![value]), span, |expander| {
            for (pattern, prim) in [(parts[1], Prim::Cdr), (parts[0], Prim::Car)] {
                if pattern.symbol().is_none() {
                    let part = expander.emit("part", Rhs::Prim(prim, vec![value]), span);
                    rest.waiting.push((pattern.clone(), part));
                }
            }
            expander.fits(rest)
        })
    }

    /// What `then` computes if a condition is true, else false.
    fn only_if(&mut self, condition: Rhs, span: Span, then: impl FnOnce(&mut Expander) -> Rhs) -> Rhs {
        self.in_clause(span, |expander| {
            let condition = expander.hold(condition, span);
            let yes = expander.branch(span, then);
            if matches!(&yes.bindings[..], [Binding { rhs: Rhs::Const(Const::Bool(true)), .. }]) {
                return Rhs::Var(condition);
            }
            let no = expander.branch(span, |_| Rhs::Const(Const::Bool(false)));
            Rhs::If(condition, yes, no)
        })
    }
}

/// The pattern `(list p ...)` or `(cons* p ... q)` of some parts.
fn sequence(head: &str, parts: &[Datum], span: Span) -> Datum {
    let head = Datum { kind: DatumKind::Symbol(Rc::from(head)), span };
    Datum { kind: DatumKind::List([&[head], parts].concat()), span }
}

/// A pattern with `(list ...)` in place of quoted lists.
fn spelled_out(pattern: &Datum) -> Datum {
    let span = pattern.span;
    match &pattern.kind {
        DatumKind::Prefixed(Prefix::Quote, quoted) => unquoted(quoted),
        DatumKind::List(items) if items.len() == 2 && items[0].is_symbol("quote") => unquoted(&items[1]),
        DatumKind::List(items) => {
            let items = items.iter().enumerate();
            let items = items.map(|(at, item)| if at == 0 { item.clone() } else { spelled_out(item) });
            Datum { kind: DatumKind::List(items.collect()), span }
        }
        _ => pattern.clone(),
    }
}

/// The pattern that quoted data fit.
fn unquoted(quoted: &Datum) -> Datum {
    match &quoted.kind {
        DatumKind::List(items) if !items.is_empty() => {
            sequence("list", &items.iter().map(unquoted).collect::<Vec<_>>(), quoted.span)
        }
        DatumKind::Dotted(items, tail) => {
            let parts: Vec<Datum> = items.iter().chain([&**tail]).map(unquoted).collect();
            sequence("cons*", &parts, quoted.span)
        }
        DatumKind::Vector(items) => sequence("vector", &items.iter().map(unquoted).collect::<Vec<_>>(), quoted.span),
        // A name is no datum; so is what stands for it here, and is reported.
        DatumKind::Symbol(_) => {
            Datum { kind: DatumKind::Prefixed(Prefix::Quote, Box::new(quoted.clone())), span: quoted.span }
        }
        _ => quoted.clone(),
    }
}

/// A pattern with `_` in place of constants.
fn without_constants(pattern: &Datum) -> Datum {
    let kind = match &pattern.kind {
        DatumKind::Real(_) | DatumKind::Bool(_) | DatumKind::Str(_) => DatumKind::Symbol(Rc::from("_")),
        DatumKind::List(items) => DatumKind::List(items.iter().map(without_constants).collect()),
        kind => kind.clone(),
    };
    Datum { kind, span: pattern.span }
}
