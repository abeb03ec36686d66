//! The walk over the datums of a file that finds out what its names stand for: scopes, and the forms that make them.

use super::{Binder, BinderId, BinderKind, Bindings, Call, Import, Named, Occurrence, Role};
use crate::expand::names::basis;
use crate::expand::names::records::{self, DEFINE_RECORD};
use crate::expand::program::export::TYPE_WORDS;
use crate::expand::program::outline::{self, Outline};
use crate::syntax::{self, Datum, DatumKind, Prefix};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

/// What patterns take apart that a program need not define.
const CONSTRUCTORS: [&str; 7] = ["cons", "cons*", "list", "vector", "*j", "bundle", "quote"];

/// What the names in the datums of a file stand for.
pub fn bindings(datums: &[Datum]) -> Bindings {
    let mut walk = Walk::default();
    walk.own.extend(outline::definitions(datums).into_iter().map(|definition| definition.name));
    datums.iter().for_each(|datum| walk.top(datum));
    walk.found.occurrences.sort_by_key(|occurrence| occurrence.span.start);
    walk.found
}

/// How a function is called whose parameters stand in a list.
fn call_of(name: &str, parameters: &[&Datum]) -> String {
    let texts = parameters.iter().map(|parameter| format!(" {}", syntax::flat(parameter)));
    format!("({name}{})", texts.collect::<String>())
}

/// How what is defined as a λ is called.
fn lambda_call(name: &str, value: &Datum) -> Option<String> {
    let [parameters, ..] = value.behind("lambda")? else { return None };
    match &parameters.kind {
        DatumKind::List(items) => Some(call_of(name, &items.iter().collect::<Vec<_>>())),
        DatumKind::Dotted(items, tail) => {
            let front = call_of(name, &items.iter().collect::<Vec<_>>());
            Some(format!("{} . {})", front.trim_end_matches(')'), syntax::flat(tail)))
        }
        DatumKind::Symbol(all) => Some(format!("({name} . {all})")),
        _ => None,
    }
}

#[derive(Default)]
struct Walk {
    found: Bindings,
    /// What the file defines: words that introduce something at top level may be among that.
    own: FxHashSet<Rc<str>>,
    /// The local variables of each name around the current place.
    scope: FxHashMap<Rc<str>, Vec<BinderId>>,
    /// Those of all names, in order.
    open: Vec<Rc<str>>,
    groups: usize,
}

impl Walk {
    fn occurs(&mut self, datum: &Datum, role: Role) {
        if let Some(name) = datum.symbol() {
            self.found.occurrences.push(Occurrence { name: name.clone(), span: datum.span, role });
        }
    }

    fn words<'d>(&mut self, datums: impl IntoIterator<Item = &'d Datum>) {
        for datum in datums {
            match &datum.kind {
                DatumKind::List(items) => self.words(items),
                _ => self.occurs(datum, Role::Word),
            }
        }
    }

    /// Whether a name stands for the word that introduces a form.
    fn is_word(&self, name: &str) -> bool {
        if basis::may_be_defined(name) && (self.own.contains(name) || self.local(name).is_some()) {
            return false;
        }
        basis::keyword(name).is_some()
    }

    fn local(&self, name: &str) -> Option<BinderId> {
        self.scope.get(name)?.last().copied()
    }

    // Scopes.

    fn group(&mut self) -> usize {
        self.groups += 1;
        self.groups
    }

    /// Binds the name that a datum is.
    fn bind(&mut self, datum: &Datum, scope: &Range<u32>, group: usize, kind: BinderKind, call: Option<String>) {
        let Some(name) = datum.symbol() else { return };
        if &**name == "_" {
            return self.occurs(datum, Role::Label);
        }
        let id = self.found.binders.len();
        let binder = Binder { name: name.clone(), span: datum.span, scope: scope.clone(), group, kind, call };
        self.found.binders.push(binder);
        self.occurs(datum, Role::Binds(id));
        self.scope.entry(name.clone()).or_default().push(id);
        self.open.push(name.clone());
    }

    fn leave(&mut self, mark: usize) {
        for name in self.open.drain(mark..) {
            self.scope.get_mut(&name).and_then(Vec::pop);
        }
    }

    /// What a pattern takes apart: something of the language, or the records of that name.
    fn constructor(&mut self, name: &Datum) {
        let is_own = name.symbol().is_some_and(|name| CONSTRUCTORS.contains(&&**name));
        self.occurs(name, if is_own { Role::Constructor } else { Role::Free });
    }

    /// Binds the names in a pattern.
    fn pattern(&mut self, pattern: &Datum, scope: &Range<u32>, group: usize, kind: BinderKind) {
        match &pattern.kind {
            DatumKind::Symbol(_) => self.bind(pattern, scope, group, kind, None),
            DatumKind::List(items) if !items.is_empty() => {
                self.constructor(&items[0]);
                // Only a name says what is taken apart; what is quoted binds nothing.
                let parts = if items[0].is_symbol("quote") { &[][..] } else { &items[1..] };
                parts.iter().for_each(|part| self.pattern(part, scope, group, kind));
            }
            DatumKind::Dotted(items, tail) => {
                self.constructor(&items[0]);
                let parts = items[1..].iter().chain([&**tail]);
                parts.for_each(|part| self.pattern(part, scope, group, kind));
            }
            _ => {}
        }
    }

    /// Binds the names in a parameter list, without the first `skipped` parts.
    fn parameters(&mut self, list: &Datum, skipped: usize, scope: &Range<u32>) {
        let group = self.group();
        let (front, tail) = match &list.kind {
            DatumKind::List(items) => (items.get(skipped..).unwrap_or_default(), None),
            DatumKind::Dotted(items, tail) => (items.get(skipped..).unwrap_or_default(), Some(&**tail)),
            DatumKind::Symbol(_) => (&[][..], Some(list)),
            _ => return,
        };
        front.iter().chain(tail).for_each(|part| self.pattern(part, scope, group, BinderKind::Parameter));
    }

    /// The parameters in a header, those of the first call first.
    fn header(&mut self, header: &Datum, scope: &Range<u32>) {
        if let DatumKind::List(items) | DatumKind::Dotted(items, _) = &header.kind {
            items.iter().take(1).for_each(|first| self.header(first, scope));
            self.parameters(header, 1, scope);
        }
    }

    /// A body, whose definitions see each other.
    fn body(&mut self, forms: &[Datum], scope: &Range<u32>) {
        let mark = self.open.len();
        let group = self.group();
        for form in forms {
            if let (Some(definition), Some(target)) = (outline::definition(form), target(form)) {
                self.bind(target, scope, group, BinderKind::Variable, called(form, &definition));
            }
        }
        for form in forms {
            match form.list() {
                Some([head, operands @ ..]) if outline::definition(form).is_some() => {
                    self.form(form, head, operands);
                    self.definition(form, &operands[0], &operands[1..]);
                }
                _ => self.expression(form, false),
            }
        }
        self.leave(mark);
    }

    // Forms.

    /// A definition, but for its name.
    fn definition(&mut self, datum: &Datum, header: &Datum, body: &[Datum]) {
        let scope = header.span.end..datum.span.end;
        let mark = self.open.len();
        self.header(header, &scope);
        self.body(body, &scope);
        self.leave(mark);
    }

    fn top(&mut self, datum: &Datum) {
        let head = datum.list().and_then(<[Datum]>::split_first);
        let Some((head, operands)) = head.filter(|(head, _)| head.symbol().is_some()) else {
            self.found.expressions.push(datum.span);
            return self.expression(datum, true);
        };
        let word = head.symbol().filter(|name| !self.own.contains(*name)).map(|name| &**name);
        match word {
            Some("include" | "import") => self.file(datum, head, operands),
            Some("provide") => {
                self.form(datum, head, operands);
                self.found.provides.get_or_insert_default().extend(operands.iter().filter_map(Datum::symbol).cloned());
                operands.iter().for_each(|name| self.occurs(name, Role::Provides));
            }
            Some("export") => self.export(datum, head, operands),
            Some("arguments") => self.arguments(datum, head, operands),
            Some(DEFINE_RECORD) if records::form(datum).is_some() => self.records(datum, head, operands),
            _ => {
                if let Some(definition) = outline::definition(datum) {
                    let header = called(datum, &definition).unwrap_or_else(|| definition.header.clone());
                    self.found.definitions.push(Outline { header, ..definition });
                } else {
                    self.found.expressions.push(datum.span);
                }
                self.expression(datum, true);
            }
        }
    }

    /// A definition of records. The names of fields are parts of what it defines, and stand nowhere else.
    fn records(&mut self, datum: &Datum, head: &Datum, operands: &[Datum]) {
        self.form(datum, head, operands);
        let constructor = Role::Defines(self.found.definitions.len());
        self.found.definitions.extend(outline::all(datum));
        for (index, name) in operands.iter().enumerate() {
            self.occurs(name, if index == 0 { constructor } else { Role::Label });
        }
    }

    /// Notes a form, and the word in front of it.
    fn form(&mut self, datum: &Datum, head: &Datum, operands: &[Datum]) {
        self.occurs(head, Role::Word);
        self.called(datum, head, operands.iter());
    }

    fn called<'d>(&mut self, datum: &Datum, head: &Datum, operands: impl Iterator<Item = &'d Datum>) {
        let (mut name, mut layer) = (head, 0);
        while let Some([inner, ..]) = name.list() {
            name = inner;
            layer += 1;
        }
        if name.symbol().is_some() {
            let operands = operands.map(|operand| operand.span).collect();
            self.found.calls.push(Call { span: datum.span, name: name.span, layer, operands });
        }
    }

    fn file(&mut self, datum: &Datum, head: &Datum, operands: &[Datum]) {
        self.form(datum, head, operands);
        let [Datum { kind: DatumKind::Str(name), span }, clauses @ ..] = operands else {
            return self.words(operands);
        };
        let mut import = Import::default();
        let position = self.found.files.len();
        for clause in clauses {
            let Some([word, parts @ ..]) = clause.list() else { continue };
            self.occurs(word, Role::Word);
            if word.is_symbol("only") {
                import.only = Some(parts.iter().filter_map(Datum::symbol).cloned().collect());
                parts.iter().for_each(|part| self.occurs(part, Role::Imports(position)));
            } else {
                import.prefix = parts.first().and_then(Datum::symbol).cloned().unwrap_or_default();
                parts.iter().for_each(|part| self.occurs(part, Role::Label));
            }
        }
        let import = head.is_symbol("import").then_some(import);
        self.found.files.push(Named { name: name.clone(), span: *span, import });
    }

    /// An export: what it exports is a name of the top level, unless it says what its value is.
    fn export(&mut self, datum: &Datum, head: &Datum, operands: &[Datum]) {
        self.form(datum, head, operands);
        let [target, list, body @ ..] = operands else { return self.words(operands) };
        let scope = list.span.end..datum.span.end;
        let mark = self.open.len();
        let (group, pairs) = (self.group(), list.list().unwrap_or_default());
        for pair in pairs {
            if let Some([name, kind @ ..]) = pair.list() {
                self.bind(name, &scope, group, BinderKind::Parameter, None);
                kind.iter().for_each(|kind| self.exported_type(kind));
            }
        }
        let (name, wanted) = match target.list() {
            Some([word, name, wanted @ ..]) => {
                self.occurs(word, Role::Word);
                (name, wanted)
            }
            _ => (target, &[][..]),
        };
        wanted.iter().for_each(|parameter| self.expression(parameter, false));
        body.iter().for_each(|form| self.expression(form, false));
        self.leave(mark);
        self.occurs(name, if body.is_empty() { Role::Free } else { Role::Label });
    }

    /// The type of a parameter of an export: words, and names of records.
    fn exported_type(&mut self, datum: &Datum) {
        match datum.symbol() {
            Some(name) => {
                let is_word = TYPE_WORDS.contains(&&**name);
                self.occurs(datum, if is_word { Role::Word } else { Role::Free });
            }
            None => datum.list().unwrap_or_default().iter().for_each(|part| self.exported_type(part)),
        }
    }

    fn arguments(&mut self, datum: &Datum, head: &Datum, operands: &[Datum]) {
        self.form(datum, head, operands);
        for operand in operands {
            let Some([target, rest @ ..]) = operand.list() else { continue };
            if let Some(name) = target.symbol() {
                let position = self.found.definitions.len();
                let (name, header_span, span) = (name.clone(), target.span, operand.span);
                let header = name.to_string();
                let definition =
                    Outline { name, name_span: header_span, span, header, header_span, is_of_records: false };
                self.found.definitions.push(definition);
                self.occurs(target, Role::Defines(position));
            }
            self.words(rest);
        }
    }

    fn expression(&mut self, datum: &Datum, is_top: bool) {
        match &datum.kind {
            DatumKind::Symbol(name) => {
                let role = match self.local(name) {
                    Some(binder) => Role::Local(binder),
                    None if self.is_word(name) => Role::Word,
                    None => Role::Free,
                };
                self.occurs(datum, role);
            }
            DatumKind::List(items) => {
                if let Some((head, operands)) = items.split_first() {
                    self.compound(datum, head, operands, is_top);
                }
            }
            DatumKind::Dotted(items, tail) => {
                self.called(datum, &items[0], items[1..].iter().chain([&**tail]));
                items.iter().chain([&**tail]).for_each(|item| self.expression(item, false));
            }
            DatumKind::Prefixed(Prefix::Quasiquote, inner) => self.quasiquoted(inner),
            DatumKind::Prefixed(Prefix::Unquote, inner) => self.expression(inner, false),
            _ => {}
        }
    }

    /// Data with expressions in them.
    fn quasiquoted(&mut self, datum: &Datum) {
        match &datum.kind {
            DatumKind::Prefixed(Prefix::Unquote, inner) => self.expression(inner, false),
            DatumKind::List(items) if items.len() == 2 && items[0].is_symbol("unquote") => {
                self.occurs(&items[0], Role::Word);
                self.expression(&items[1], false);
            }
            DatumKind::List(items) | DatumKind::Vector(items) => items.iter().for_each(|item| self.quasiquoted(item)),
            DatumKind::Dotted(items, tail) => items.iter().chain([&**tail]).for_each(|item| self.quasiquoted(item)),
            _ => {}
        }
    }

    fn compound(&mut self, datum: &Datum, head: &Datum, operands: &[Datum], is_top: bool) {
        let Some(word) = head.symbol().filter(|name| self.is_word(name)) else {
            self.called(datum, head, operands.iter());
            self.expression(head, false);
            return operands.iter().for_each(|operand| self.expression(operand, false));
        };
        self.form(datum, head, operands);
        let end = datum.span.end;
        let mark = self.open.len();
        match (&**word, operands) {
            ("define", [header, body @ ..]) => {
                let defines = Role::Defines(self.found.definitions.len().saturating_sub(1));
                if let Some(target) = target(datum) {
                    self.occurs(target, if is_top { defines } else { Role::Label });
                }
                self.definition(datum, header, body);
            }
            ("lambda", [parameters, body @ ..]) => {
                let scope = parameters.span.end..end;
                self.parameters(parameters, 0, &scope);
                self.body(body, &scope);
            }
            ("let", [name, bindings, body @ ..]) if name.symbol().is_some() => {
                let scope = bindings.span.end..end;
                let pairs = pairs(bindings);
                pairs.iter().flat_map(|pair| &pair[1..]).for_each(|value| self.expression(value, false));
                let parameters: Vec<&Datum> = pairs.iter().map(|pair| &pair[0]).collect();
                let call = name.symbol().map(|name| call_of(name, &parameters));
                let (own, group) = (self.group(), self.group());
                self.bind(name, &scope, own, BinderKind::Variable, call);
                parameters.iter().for_each(|part| self.pattern(part, &scope, group, BinderKind::Parameter));
                self.body(body, &scope);
            }
            ("let", [bindings, body @ ..]) => {
                let scope = bindings.span.end..end;
                let pairs = pairs(bindings);
                pairs.iter().flat_map(|pair| &pair[1..]).for_each(|value| self.expression(value, false));
                let group = self.group();
                pairs.iter().for_each(|pair| self.binding(pair, &scope, group));
                self.body(body, &scope);
            }
            ("let*", [bindings, body @ ..]) => {
                for pair in pairs(bindings) {
                    pair[1..].iter().for_each(|value| self.expression(value, false));
                    let (scope, group) = (pair[pair.len() - 1].span.end..end, self.group());
                    self.binding(pair, &scope, group);
                }
                self.body(body, &(bindings.span.end..end));
            }
            ("letrec", [bindings, body @ ..]) => {
                let (scope, group) = (bindings.span.start..end, self.group());
                let pairs = pairs(bindings);
                pairs.iter().for_each(|pair| self.binding(pair, &scope, group));
                pairs.iter().flat_map(|pair| &pair[1..]).for_each(|value| self.expression(value, false));
                self.body(body, &(bindings.span.end..end));
            }
            ("match", [value, clauses @ ..]) => {
                self.expression(value, false);
                clauses.iter().for_each(|clause| self.clause(clause));
            }
            ("cond", clauses) => {
                for clause in clauses {
                    match clause.list() {
                        Some(parts) => parts.iter().for_each(|part| self.expression(part, false)),
                        None => self.expression(clause, false),
                    }
                }
            }
            ("quote", _) => {}
            ("quasiquote", _) => operands.iter().for_each(|operand| self.quasiquoted(operand)),
            _ => operands.iter().for_each(|operand| self.expression(operand, false)),
        }
        self.leave(mark);
    }

    /// The pattern of a binding; a name with a λ is a function.
    fn binding(&mut self, pair: &[Datum], scope: &Range<u32>, group: usize) {
        match (pair[0].symbol(), pair.get(1)) {
            (Some(name), Some(value)) => {
                let call = lambda_call(name, value);
                self.bind(&pair[0], scope, group, BinderKind::Variable, call);
            }
            _ => self.pattern(&pair[0], scope, group, BinderKind::Variable),
        }
    }

    fn clause(&mut self, clause: &Datum) {
        let Some([pattern, forms @ ..]) = clause.list() else { return self.expression(clause, false) };
        let mark = self.open.len();
        let (scope, group) = (pattern.span.end..clause.span.end, self.group());
        self.pattern(pattern, &scope, group, BinderKind::Variable);
        let (guard, body) = match forms {
            [guard, body @ ..] if !body.is_empty() && guard.behind("when").is_some_and(|parts| parts.len() == 1) => {
                (guard.list(), body)
            }
            _ => (None, forms),
        };
        if let Some([word, condition]) = guard {
            self.occurs(word, Role::Word);
            self.expression(condition, false);
        }
        self.body(body, &scope);
        self.leave(mark);
    }
}

/// The bindings of a `let` that bind something.
fn pairs(bindings: &Datum) -> Vec<&[Datum]> {
    let items = bindings.list().unwrap_or_default();
    items.iter().filter_map(Datum::list).filter(|pair| !pair.is_empty()).collect()
}

/// The name in the header of a definition.
fn target(datum: &Datum) -> Option<&Datum> {
    let mut target = datum.list()?.get(1)?;
    while let DatumKind::List(items) | DatumKind::Dotted(items, _) = &target.kind {
        target = items.first()?;
    }
    Some(target)
}

/// How what a form defines is called, if it is a function.
fn called(form: &Datum, definition: &Outline) -> Option<String> {
    let [_, header, values @ ..] = form.list()? else { return None };
    match header.symbol() {
        None => Some(definition.header.clone()),
        Some(name) => lambda_call(name, values.first()?),
    }
}
