//! `define-record`: kinds of records, the functions on them, and their pattern.
//!
//! ```text
//! (define-record model weights bias)
//!
//! (model w b)                 %record kind (cons w b)
//! (model? x)                  %of-kind? x kind
//! (model-weights m)           (car (record parts of m))
//! (model-with-bias m b)       %record kind (cons (car (record parts of m)) b)
//! pattern (model p q)         the pattern (cons p q) of the record parts of a value
//! ```
//!
//! A record is made of the pair that a call passes for its fields: with two or more, the tuple of them. One field is
//! `(cons x ())`, none is `(cons () ())`.

use crate::base::Span;
use crate::core::ir::{Const, GlobalId, LambdaId, Part, Record, RecordId, Rhs, Var};
use crate::core::prim::Prim;
use crate::expand::build::{Callee, Expander, Meaning, Usage};
use crate::expand::error::Error;
use crate::expand::forms::pattern::{Arity, Bound, Params};
use crate::expand::names::basis::Keyword;
use crate::expand::names::records::{self, DEFINE_RECORD, Defined, Form, Role};
use crate::syntax::Datum;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How a definition of records is written.
const USAGE: &str = "(define-record name field ...)";

/// Patterns that are there without a definition.
const PATTERNS: [&str; 6] = ["cons", "cons*", "list", "vector", "*j", "bundle"];

impl Expander {
    /// The definition of records that a datum is: `Some(None)` stands for a wrong one.
    pub fn record_definition<'a>(&mut self, datum: &'a Datum) -> Option<Option<(RecordId, Form<'a>)>> {
        let (head, operands) = datum.list()?.split_first()?;
        if self.meaning(head.symbol()?) != Meaning::Keyword(Keyword::DefineRecord) {
            return None;
        }
        let Some(form) = records::form(datum) else {
            let names = operands.iter().flat_map(|part| part.list().unwrap_or(std::slice::from_ref(part)));
            let names: Option<Vec<&str>> = names.map(|name| Some(&**name.symbol()?)).collect();
            self.errors.push(match names.filter(|names| !names.is_empty()) {
                Some(names) => {
                    let right = format!("({DEFINE_RECORD} {})", names.join(" "));
                    Error::Miswritten { span: datum.span, form: DEFINE_RECORD, usage: USAGE, right }
                }
                None => Error::Malformed(datum.span, DEFINE_RECORD, USAGE),
            });
            operands.iter().for_each(|operand| self.excuse(operand));
            return Some(None);
        };
        Some(self.is_right(&form).then(|| {
            let fields: Vec<Rc<str>> = form.fields.iter().filter_map(Datum::symbol).cloned().collect();
            let name = form.name.symbol().cloned().unwrap_or_default();
            let kind = self.core.records.push(Record { name, fields, span: form.name.span });
            (kind, form)
        }))
    }

    fn is_right(&mut self, form: &Form) -> bool {
        let mistakes = self.errors.len();
        if let Some(name) = self.definable(form.name)
            && PATTERNS.contains(&&**name)
        {
            self.errors.push(Error::RecordName(form.name.span, name.clone()));
        }
        let mut first: FxHashMap<&Rc<str>, Span> = FxHashMap::default();
        for field in form.fields {
            let Some(name) = self.definable(field) else { continue };
            match first.get(name) {
                Some(first) => {
                    self.errors.push(Error::DefinedTwice { first: *first, second: field.span, name: name.clone() });
                }
                None => _ = first.insert(name, field.span),
            }
        }
        let is_right = self.errors.len() == mistakes;
        if !is_right {
            self.excused.extend(form.defined().into_iter().map(|defined| defined.name));
        }
        is_right
    }

    /// Remembers how a function on records is called, and what the name of the records is a pattern of.
    pub fn know_record(&mut self, global: GlobalId, kind: RecordId, defined: &Defined) {
        let named = match defined.role {
            Role::Constructor => self.core.records[kind].fields.len(),
            Role::Predicate | Role::Accessor(_) => 1,
            Role::Update(_) => 2,
        };
        if defined.role == Role::Constructor {
            self.records.insert(global, kind);
        }
        let arity = Arity { named, rest: false, curried: false };
        self.arities
            .insert(Callee::Global(global), Usage { arity, span: defined.span, call: defined.call.clone().into() });
    }

    /// The function that a name stands for which a definition of records defines.
    pub fn record_function(&mut self, kind: RecordId, form: &Form, defined: &Defined) -> LambdaId {
        let place = self.core.records[kind].span;
        self.lambda(&defined.name, place, place, |expander| match defined.role {
            Role::Constructor => {
                let params = Params { patterns: form.fields.iter().collect(), rest: false, span: place };
                let param = expander.parameter(&params);
                (param, expander.make_record(kind, form.fields.len(), param, place))
            }
            Role::Predicate => {
                let value = expander.new_var("x", place);
                let of = expander.emit("kind", Rhs::Const(Const::Record(kind)), place);
                (value, Rhs::Prim(Prim::IsOfKind, vec![value, of]))
            }
            Role::Accessor(field) => {
                let record = expander.new_var("record", place);
                let rests = expander.rests(kind, record, field + 1, place);
                (record, expander.field(kind, &rests, field))
            }
            Role::Update(field) => {
                let args = expander.new_var("args", place);
                let record = expander.emit("record", Rhs::Destructure(Part::Car, args), place);
                let new = expander.emit("value", Rhs::Destructure(Part::Cdr, args), place);
                let count = form.fields.len();
                let rests = expander.rests(kind, record, count, place);
                let mut fields = Vec::with_capacity(count);
                for index in 0..count {
                    let rhs = if index == field { Rhs::Var(new) } else { expander.field(kind, &rests, index) };
                    fields.push(expander.hold(rhs, place));
                }
                let tuple = expander.tuple(&fields, place);
                (args, expander.make_record(kind, count, tuple, place))
            }
        })
    }

    /// The record that is made of the tuple of so many fields.
    fn make_record(&mut self, kind: RecordId, count: usize, tuple: Var, place: Span) -> Rhs {
        let of = self.emit("kind", Rhs::Const(Const::Record(kind)), place);
        let pair = match count {
            0 => return Rhs::Var(of),
            1 => {
                let nil = self.emit("nil", Rhs::Const(Const::Nil), place);
                self.emit("parts", Rhs::Prim(Prim::Cons, vec![tuple, nil]), place)
            }
            _ => tuple,
        };
        Rhs::Prim(Prim::Record, vec![of, pair])
    }

    /// What a record is made of, from each of so many fields on.
    pub fn rests(&mut self, kind: RecordId, record: Var, count: usize, place: Span) -> Vec<Var> {
        let mut rests = vec![self.emit("parts", Rhs::Destructure(Part::Record(kind), record), place)];
        while rests.len() < count {
            let rest = rests[rests.len() - 1];
            rests.push(self.emit("rest", Rhs::Prim(Prim::Cdr, vec![rest]), place));
        }
        rests
    }

    /// A field: the last one of several has no pair of its own.
    pub fn field(&self, kind: RecordId, rests: &[Var], field: usize) -> Rhs {
        let is_last = field > 0 && field + 1 == self.core.records[kind].fields.len();
        if is_last { Rhs::Var(rests[field]) } else { Rhs::Prim(Prim::Car, vec![rests[field]]) }
    }

    /// The kind of records that a name at the head of a pattern stands for.
    pub fn record_of(&self, name: &str) -> Option<RecordId> {
        match self.meaning(name) {
            Meaning::User(global) => self.records.get(&global).copied(),
            _ => None,
        }
    }

    /// Takes a record apart.
    pub fn record_pattern(
        &mut self,
        kind: RecordId,
        (pattern, value): (&Datum, Var),
        parts: &[&Datum],
        bound: &mut Bound,
    ) {
        let record = &self.core.records[kind];
        if parts.len() != record.fields.len() {
            let fields: String = record.fields.iter().map(|field| format!(" {field}")).collect();
            let (definition, usage) = (record.span, format!("({}{fields})", record.name));
            return self.wrong_pattern(pattern, Error::RecordPattern { span: pattern.span, definition, usage });
        }
        let span = pattern.span;
        let pair = self.emit("parts", Rhs::Destructure(Part::Record(kind), value), span);
        match parts {
            [] => {}
            [only] => self.part(Part::Car, only, pair, span, bound),
            _ => self.tuple_pattern(parts, span, pair, bound),
        }
    }
}
