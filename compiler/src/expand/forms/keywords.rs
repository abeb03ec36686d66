//! Expressions and the forms that keywords introduce.

use crate::base::Span;
use crate::core::ir::{Const, Rhs, Var};
use crate::expand::build::{Expander, Meaning};
use crate::expand::error::Error;
use crate::expand::forms::define::{Define, Defined, Function};
use crate::expand::forms::pattern::{Bound, Params};
use crate::expand::forms::recursion::{Grouping, Part};
use crate::expand::names::basis::Keyword;
use crate::expand::names::modules::Found;
use crate::expand::names::records;
use crate::syntax::{self, Datum, DatumKind, Prefix};
use std::rc::Rc;

impl Expander {
    /// The value of an expression, held in a variable.
    pub fn atom(&mut self, datum: &Datum) -> Var {
        let rhs = self.rhs(datum);
        self.hold(rhs, datum.span)
    }

    /// The right-hand side that computes an expression; what it needs goes into the current body.
    pub fn rhs(&mut self, datum: &Datum) -> Rhs {
        self.nested(datum.span, |expander| expander.expression(datum))
    }

    fn expression(&mut self, datum: &Datum) -> Rhs {
        let span = datum.span;
        match &datum.kind {
            DatumKind::Real(x) => Rhs::Const(Const::Real(*x)),
            DatumKind::Bool(b) => Rhs::Const(Const::Bool(*b)),
            DatumKind::Str(text) => Rhs::Const(Const::Str(text.clone())),
            DatumKind::Symbol(name) => self.variable(name, span),
            DatumKind::List(items) => match items.split_first() {
                None => Rhs::Const(Const::Nil),
                Some((head, operands)) => self.compound(datum, head, operands),
            },
            DatumKind::Prefixed(Prefix::Quote, quoted) => self.quotation(quoted),
            DatumKind::Prefixed(Prefix::Quasiquote, quoted) => self.quasiquotation(quoted),
            DatumKind::Prefixed(Prefix::Unquote, _) => self.error(Error::MisplacedUnquote(span)),
            DatumKind::Vector(_) => self.quotation(datum),
            DatumKind::Dotted(items, tail) => self.dotted_call(span, items, tail),
        }
    }

    fn variable(&mut self, name: &Rc<str>, span: Span) -> Rhs {
        match self.meaning(name) {
            Meaning::Local(var) => self.local(var, span),
            Meaning::User(global) => {
                if self.functions_around == 0 && self.pending.contains(&global) {
                    let definition = self.core.globals[global].span;
                    return self.error(Error::UsedBeforeDefinition { used: span, definition, name: name.clone() });
                }
                Rhs::Global(global)
            }
            Meaning::Library(global) => Rhs::Global(global),
            Meaning::Keyword(_) => self.error(Error::KeywordValue(span, name.clone())),
            Meaning::List | Meaning::Vector => self.error(Error::ListValue(span, name.clone())),
            Meaning::Reserved(word) => self.error(Error::Bare(span, word)),
            Meaning::Several => {
                let Some(Found::Several(files)) = self.globals.user.find(name) else { unreachable!("it was found") };
                self.error(Error::ImportedTwice { span, name: name.clone(), files })
            }
            Meaning::Internal(_) | Meaning::Unbound => self.unbound(name, span),
        }
    }

    fn compound(&mut self, datum: &Datum, head: &Datum, operands: &[Datum]) -> Rhs {
        match head.symbol().map(|name| self.meaning(name)) {
            Some(Meaning::Keyword(keyword)) => self.form(keyword, datum, operands),
            meaning => self.call(datum.span, head, meaning, operands),
        }
    }

    fn form(&mut self, keyword: Keyword, datum: &Datum, operands: &[Datum]) -> Rhs {
        let span = datum.span;
        match (keyword, operands) {
            (Keyword::Lambda, _) => self.named(datum, &Rc::from("lambda")),
            (Keyword::If, [condition, yes, no]) => {
                self.conditional(condition, |s| s.rhs(yes), yes.span, |s| s.rhs(no), no.span)
            }
            (Keyword::If, _) => self.error(Error::Malformed(span, "if", "(if c a b)")),
            (Keyword::Cond, clauses) => self.cond(span, clauses),
            (Keyword::And, operands) => self.and(operands, span),
            (Keyword::Or, operands) => self.or(operands, span),
            (Keyword::When, [condition, forms @ ..]) if !forms.is_empty() => {
                self.conditional(condition, |s| s.sequence(forms), span, |_| Rhs::Const(Const::Nil), span)
            }
            (Keyword::When, _) => self.error(Error::Malformed(span, "when", "(when c e ...)")),
            (Keyword::Unless, [condition, forms @ ..]) if !forms.is_empty() => {
                self.conditional(condition, |_| Rhs::Const(Const::Nil), span, |s| s.sequence(forms), span)
            }
            (Keyword::Unless, _) => self.error(Error::Malformed(span, "unless", "(unless c e ...)")),
            (Keyword::Begin, []) => self.error(Error::Malformed(span, "begin", "(begin e ...)")),
            (Keyword::Begin, forms) => self.sequence(forms),
            (Keyword::Let, [name, ..]) if name.symbol().is_some() => self.named_let(span, operands),
            (Keyword::Let, [bindings, forms @ ..]) => self.let_form(span, bindings, forms, "let"),
            (Keyword::LetStar, [bindings, forms @ ..]) => self.let_form(span, bindings, forms, "let*"),
            (Keyword::Letrec, [bindings, forms @ ..]) => self.letrec(span, bindings, forms),
            (Keyword::Let | Keyword::LetStar | Keyword::Letrec, []) => {
                let (form, usage) = let_usage(keyword);
                self.error(Error::Malformed(span, form, usage))
            }
            (Keyword::Match, operands) => self.match_form(span, operands),
            (Keyword::Quote, [quoted]) => self.quotation(quoted),
            (Keyword::Quote, _) => self.error(Error::Malformed(span, "quote", "(quote datum)")),
            (Keyword::Quasiquote, [quoted]) => self.quasiquotation(quoted),
            (Keyword::Quasiquote, _) => self.error(Error::Malformed(span, "quasiquote", "(quasiquote datum)")),
            (Keyword::Unquote, _) => self.error(Error::MisplacedUnquote(span)),
            (Keyword::Define, operands) => {
                operands.iter().take(1).for_each(|target| self.excuse(target));
                self.error(Error::MisplacedDefine(span))
            }
            (Keyword::DefineRecord, operands) => {
                let defined = records::form(datum).map(|form| form.defined()).unwrap_or_default();
                self.excused.extend(defined.into_iter().map(|defined| defined.name));
                operands.iter().take(1).for_each(|name| self.excuse(name));
                self.error(Error::MisplacedRecord(span))
            }
            (Keyword::Include, _) => self.error(Error::MisplacedInclude(span)),
            (Keyword::Else, _) => self.error(Error::MisplacedElse(span)),
        }
    }

    /// `if`, with what makes its branches.
    fn conditional(
        &mut self,
        condition: &Datum,
        yes: impl FnOnce(&mut Expander) -> Rhs,
        yes_span: Span,
        no: impl FnOnce(&mut Expander) -> Rhs,
        no_span: Span,
    ) -> Rhs {
        let condition = self.atom(condition);
        let yes = self.branch(yes_span, yes);
        let no = self.branch(no_span, no);
        Rhs::If(condition, yes, no)
    }

    fn cond(&mut self, span: Span, clauses: &[Datum]) -> Rhs {
        if let [test, value, ..] = clauses
            && test.list().is_some()
            && value.list().is_none()
        {
            let right = format!("(cond ({} {}) ...)", syntax::flat(test), syntax::flat(value));
            return self.error(Error::Miswritten { span: value.span, form: "cond", usage: COND, right });
        }
        let Some((clause, rest)) = clauses.split_first() else { return Rhs::Const(Const::Nil) };
        let Some((test, forms)) = clause.list().and_then(<[Datum]>::split_first) else {
            return self.error(Error::Malformed(clause.span, "cond", COND));
        };
        if forms.first().is_some_and(|form| form.is_symbol("=>")) {
            return self.error(Error::CondArrow(forms[0].span));
        }
        if test.symbol().is_some_and(|name| self.meaning(name) == Meaning::Keyword(Keyword::Else)) {
            if !rest.is_empty() {
                return self.error(Error::ElseNotLast(test.span));
            }
            if forms.is_empty() {
                return self.error(Error::Malformed(clause.span, "cond", "(else e ...)"));
            }
            return self.sequence(forms);
        }
        self.in_clause(clause.span, |expander| {
            let condition = expander.atom(test);
            let value = forms.last().unwrap_or(test).span;
            let yes = expander.branch(value, |expander| match forms {
                [] => Rhs::Var(condition),
                _ => expander.sequence(forms),
            });
            let no = expander.branch(span, |expander| expander.cond(span, rest));
            Rhs::If(condition, yes, no)
        })
    }

    fn and(&mut self, operands: &[Datum], span: Span) -> Rhs {
        match operands {
            [] => Rhs::Const(Const::Bool(true)),
            [last] => self.rhs(last),
            [first, rest @ ..] => self.in_clause(span, |expander| {
                let no = |_: &mut Expander| Rhs::Const(Const::Bool(false));
                expander.conditional(first, |s| s.and(rest, span), rest[0].span, no, span)
            }),
        }
    }

    fn or(&mut self, operands: &[Datum], span: Span) -> Rhs {
        match operands {
            [] => Rhs::Const(Const::Bool(false)),
            [last] => self.rhs(last),
            [first, rest @ ..] => self.in_clause(span, |expander| {
                let value = expander.atom(first);
                let yes = expander.branch(first.span, |_| Rhs::Var(value));
                let no = expander.branch(rest[0].span, |expander| expander.or(rest, span));
                Rhs::If(value, yes, no)
            }),
        }
    }

    /// Expressions whose last one is the value.
    pub fn sequence(&mut self, forms: &[Datum]) -> Rhs {
        let Some((last, effects)) = forms.split_last() else { return Rhs::Const(Const::Nil) };
        for form in effects {
            let rhs = self.rhs(form);
            self.discard(rhs, form.span);
        }
        self.last(last)
    }

    /// The last form of a sequence. What may fail is bound here: where it stands is not where the form around the
    /// sequence does.
    fn last(&mut self, form: &Datum) -> Rhs {
        match self.rhs(form) {
            rhs @ (Rhs::Apply(..) | Rhs::Prim(..)) => Rhs::Var(self.hold(rhs, form.span)),
            rhs => rhs,
        }
    }

    /// A body: expressions, and definitions that see each other. The definitions' names stay in scope.
    pub fn body(&mut self, forms: &[Datum], span: Span) -> Rhs {
        let Some((last, front)) = forms.split_last() else { return Rhs::Const(Const::Nil) };
        if !front.iter().any(|form| self.is_define(form)) && !self.is_define(last) {
            return self.sequence(forms);
        }
        let mut parts = Vec::new();
        for form in front {
            match self.definition(form) {
                None => parts.push(Part::Effect(form)),
                Some(define) => parts.extend(define.map(Part::Define)),
            }
        }
        if self.is_define(last) {
            return self.error(Error::NoValue(last.span, span));
        }
        self.local_definitions(&parts, Grouping::Circles);
        self.last(last)
    }

    fn is_define(&self, form: &Datum) -> bool {
        let head = form.list().and_then(<[Datum]>::first).and_then(Datum::symbol);
        head.is_some_and(|name| self.meaning(name) == Meaning::Keyword(Keyword::Define))
    }

    /// A body in a scope of its own.
    fn scoped_body(&mut self, forms: &[Datum], span: Span, form: &'static str) -> Rhs {
        if forms.is_empty() {
            return self.error(Error::EmptyBody(span, form));
        }
        let mark = self.scope.mark();
        let rhs = self.body(forms, span);
        self.scope.reset(mark);
        rhs
    }

    /// `let` and `let*`.
    fn let_form(&mut self, span: Span, bindings: &Datum, forms: &[Datum], form: &'static str) -> Rhs {
        let mark = self.scope.mark();
        let mut bound = Bound::default();
        let pairs = self.let_bindings(bindings, form);
        let around = self.beside.len();
        if form == "let" {
            pairs.iter().for_each(|(pattern, _)| pattern.names(&mut |name| self.beside.push(name.clone())));
        }
        for (pattern, value) in pairs {
            self.bind_pattern(pattern, value, &mut bound);
            if form == "let*" {
                self.bring_into_scope(std::mem::take(&mut bound));
            }
        }
        self.beside.truncate(around);
        self.bring_into_scope(bound);
        let rhs = self.scoped_body(forms, span, form);
        self.scope.reset(mark);
        rhs
    }

    /// The bindings of a `let` as pairs; wrong ones are reported and left out.
    fn let_bindings<'a>(&mut self, bindings: &'a Datum, form: &'static str) -> Vec<(&'a Datum, &'a Datum)> {
        let Some(items) = bindings.list() else {
            self.errors.push(Error::MalformedBinding(bindings.span, form));
            return Vec::new();
        };
        if let [pattern, value] = items
            && pattern.symbol().is_some()
        {
            let right = format!("({})", syntax::flat(bindings));
            self.errors.push(Error::BareBinding(bindings.span, form, right));
            return vec![(pattern, value)];
        }
        let mut pairs = Vec::new();
        for item in items {
            match item.list() {
                Some([pattern, value]) => pairs.push((pattern, value)),
                _ => {
                    self.errors.push(Error::MalformedBinding(item.span, form));
                    self.excuse(item);
                }
            }
        }
        pairs
    }

    fn letrec(&mut self, span: Span, bindings: &Datum, forms: &[Datum]) -> Rhs {
        let mut parts = Vec::new();
        for (target, value) in self.let_bindings(bindings, "letrec") {
            let Some(name) = self.definable(target) else {
                self.excuse(target);
                continue;
            };
            let value = match self.lambda_form(value) {
                Some(Some(function)) => Defined::Function(function),
                Some(None) => {
                    self.excuse(target);
                    continue;
                }
                None => Defined::Value(value),
            };
            parts.push(Part::Define(Define { name, name_span: target.span, value }));
        }
        let mark = self.scope.mark();
        self.local_definitions(&parts, Grouping::Together);
        let rhs = self.scoped_body(forms, span, "letrec");
        self.scope.reset(mark);
        rhs
    }

    fn named_let(&mut self, span: Span, operands: &[Datum]) -> Rhs {
        let [target, bindings, forms @ ..] = operands else {
            return self.error(Error::Malformed(span, "let", "(let name ((p e) ...) e ...)"));
        };
        let pairs = self.let_bindings(bindings, "let");
        let values: Vec<Var> = pairs.iter().map(|(_, value)| self.atom(value)).collect();
        let Some(name) = self.definable(target) else { return Rhs::Const(Const::Nil) };
        if forms.is_empty() {
            return self.error(Error::EmptyBody(span, "let"));
        }
        let params =
            Params { patterns: pairs.iter().map(|(pattern, _)| *pattern).collect(), rest: false, span: bindings.span };
        let function = Function { layers: vec![params], forms, span };
        let value = Defined::Function(function);
        let mark = self.scope.mark();
        let definition = Part::Define(Define { name, name_span: target.span, value });
        self.local_definitions(&[definition], Grouping::Together);
        let function = self.scope.get(name).expect("the name of the loop was just brought into scope");
        self.scope.reset(mark);
        let argument = self.tuple(&values, span);
        Rhs::Apply(function, argument)
    }
}

/// How a `cond` is written.
const COND: &str = "(cond (c e ...) ... (else e ...))";

fn let_usage(keyword: Keyword) -> (&'static str, &'static str) {
    match keyword {
        Keyword::LetStar => ("let*", "(let* ((p e) ...) e ...)"),
        Keyword::Letrec => ("letrec", "(letrec ((name (lambda (p ...) e ...)) ...) e ...)"),
        _ => ("let", "(let ((p e) ...) e ...)"),
    }
}
