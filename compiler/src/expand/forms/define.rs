//! Top-level definitions and expressions, and the syntax of `define`.

use crate::base::{Diagnostic, FileId, Span};
use crate::core::ir::{Body, Checks, Const, Definition, Given, GlobalId, Item, LambdaId, Origin, Rhs};
use crate::expand::Dialect;
use crate::expand::build::{Callee, Expander, Meaning, closure};
use crate::expand::error::Error;
use crate::expand::forms::pattern::Params;
use crate::expand::names::basis;
use crate::expand::names::basis::Keyword;
use crate::expand::names::contracts;
use crate::expand::names::modules::{ModuleId, Modules};
use crate::expand::stdlib;
use crate::syntax::{self, Datum, DatumKind};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A definition as written.
pub struct Define<'a> {
    /// The name defined.
    pub name: &'a Rc<str>,
    /// Where the name stands.
    pub name_span: Span,
    /// What it is defined as.
    pub value: Defined<'a>,
}

/// Where names were defined first.
type FirstDefinitions = FxHashMap<(ModuleId, u32, Rc<str>), Span>;

/// What a name is defined as.
pub enum Defined<'a> {
    /// A function.
    Function(Function<'a>),
    /// The value of an expression.
    Value(&'a Datum),
}

/// A function as written.
pub struct Function<'a> {
    /// Its parameter lists, that of the first call first.
    pub layers: Vec<Params<'a>>,
    /// Its body.
    pub forms: &'a [Datum],
    /// The whole form.
    pub span: Span,
}

impl Expander {
    /// Expands what a program needs of the library, by its datums and further names. The library consists of functions
    /// that may call each other across files. When derivatives are to be checked, the program gets the functions that do so under the names of those that do
    /// not, which the library itself goes on to use. Of `names`, each is a name for the program of a function of the
    /// library.
    ///
    /// # Errors
    ///
    /// When the library cannot be read.
    pub fn library(
        &mut self,
        files: &[FileId],
        (program, also): (&[Datum], &[&str]),
        names: &[(&str, &str)],
        check_derivatives: bool,
    ) -> Result<(), Vec<Diagnostic>> {
        let also: Vec<&str> = names.iter().map(|row| row.1).chain(also.iter().copied()).collect();
        let (datums, errors) = stdlib::needed(files, &also, program, check_derivatives);
        if !errors.is_empty() {
            return Err(errors);
        }
        self.primitives_file = files.first().copied();
        self.top_level(&datums);
        for (name, transforms) in basis::given(check_derivatives) {
            let Some(of) = self.library_lambda(name) else { continue };
            let [reverse, forward, series, directions] =
                transforms.map(|name| self.library_lambda(name).expect("transforms come with what they belong to"));
            self.core.given.insert(of, Given { reverse, forward, series, directions });
            self.core.lambdas[reverse].origin = Origin::Reverse(of);
            self.core.lambdas[forward].origin = Origin::Forward(of);
            self.core.lambdas[series].origin = Origin::Series(of);
            self.core.lambdas[directions].origin = Origin::Directions(of);
        }
        let series = basis::SERIES.iter().filter_map(|(prim, name)| Some((*prim, *self.globals.library.get(*name)?)));
        self.core.series = series.collect();
        if let [Some(taken), Some(given), Some(probe)] = basis::CHECKS.map(|name| self.library_lambda(name)) {
            self.core.checks = Some(Checks { taken, given, probe });
        }
        for name in stdlib::names().filter(|name| !name.starts_with('%')) {
            let functions = contracts::functions(name).filter_map(|name| self.library_lambda(name));
            let functions: Vec<LambdaId> = functions.collect();
            if !functions.is_empty() {
                let contract = Rc::new(contracts::contract(name));
                self.core.contracts.extend(functions.into_iter().map(|function| (function, Rc::clone(&contract))));
            }
        }
        self.core.kinked = basis::KINKED.iter().filter_map(|name| self.library_lambda(name)).collect();
        for name in basis::CHECKED.iter().filter(|_| check_derivatives) {
            if let Some(checked) = self.globals.library.get(&*format!("%{name}/checked")).copied() {
                self.globals.library.insert(Rc::from(*name), checked);
            }
        }
        for (name, of) in names {
            let function = self.library_function(of);
            self.globals.library.insert(Rc::from(*name), function);
        }
        self.in_library = false;
        Ok(())
    }

    /// The λ of a library function, if the program needs it.
    fn library_lambda(&self, name: &str) -> Option<LambdaId> {
        match self.core.globals[*self.globals.library.get(name)?].definition {
            Definition::Function(lambda) => Some(lambda),
            Definition::Value => None,
        }
    }

    /// Expands the program; one that is to be a library does nothing but what its callers ask for.
    pub fn program(&mut self, datums: &[Datum], modules: Modules, is_library: bool) {
        self.globals.user = modules;
        self.top_level(datums);
        if is_library {
            // A library does not do what the program itself does.
            self.core.items.retain(|item| matches!(item, Item::Define(..)));
        }
        self.globals.user.enter_program();
        let exports: Vec<&Datum> = datums.iter().filter(|datum| self.is_export(datum)).collect();
        self.exports(&exports, is_library);
    }

    /// Excuses names that are no mistakes of their own: what stands behind a word without its brackets belongs to it,
    /// behind a mark of comments in other languages nobody knows where the program goes on, and `x = e` is to define x.
    fn excuse_around_misplaced(&mut self, datums: &[Datum]) {
        for (index, datum) in datums.iter().enumerate() {
            let DatumKind::Symbol(name) = &datum.kind else { continue };
            let behind = &datums[index + 1..];
            match &**name {
                "//" => behind.iter().for_each(|datum| self.excuse(datum)),
                "/*" => {
                    let end = behind.iter().position(|datum| datum.is_symbol("*/"));
                    behind.iter().take(end.map_or(0, |end| end + 1)).for_each(|datum| self.excuse(datum));
                }
                _ if matches!(self.meaning(name), Meaning::Reserved(_)) => {
                    behind.iter().take(1).for_each(|datum| self.excuse(datum));
                }
                _ if behind.first().is_some_and(|sign| sign.is_symbol("="))
                    && self.meaning(name) == Meaning::Unbound =>
                {
                    let value = behind.get(1).map(syntax::flat).unwrap_or_else(|| "e".into());
                    self.errors.push(Error::Unbound {
                        span: datum.span,
                        name: name.clone(),
                        nearest: None,
                        hint: Some((format!("write `(define {name} {value})`").into(), "".into())),
                    });
                    self.excused.insert(name.clone());
                }
                _ => {}
            }
        }
    }

    /// A top-level name of the current module; `first` says where others are defined.
    fn defined_global(&mut self, name: &Rc<str>, span: Span, first: &mut FirstDefinitions) -> GlobalId {
        let (module, block) = (self.globals.user.current(), self.globals.user.block());
        if let Some(&first) = first.get(&(module, block, name.clone())) {
            self.errors.push(Error::DefinedTwice { first, second: span, name: name.clone() });
        } else {
            first.insert((module, block, name.clone()), span);
        }
        let global = self.new_global(name, span);
        if self.in_library {
            self.globals.library.insert(name.clone(), global);
        } else {
            self.globals.user.define(name.clone(), global);
        }
        global
    }

    /// Expands definitions, which see each other, and expressions.
    fn top_level(&mut self, datums: &[Datum]) {
        let mut pieces = Vec::new();
        let mut first = FirstDefinitions::default();
        let (mut block, mut in_block) = (0, true);
        for datum in datums {
            self.globals.user.enter(datum.span.file, block);
            if let Some(records) = self.record_definition(datum) {
                let Some((kind, form)) = records else { continue };
                for defined in form.defined() {
                    let global = self.defined_global(&defined.name, defined.span, &mut first);
                    self.know_record(global, kind, &defined);
                    let lambda = self.record_function(kind, &form, &defined);
                    self.core.globals[global].definition = Definition::Function(lambda);
                }
                continue;
            }
            let Some(define) = self.definition(datum) else {
                in_block = false;
                pieces.push((datum, block, None));
                continue;
            };
            if !in_block && self.dialect == Dialect::Stalingrad {
                block += 1;
                self.globals.user.enter(datum.span.file, block);
            }
            in_block = true;
            let Some(define) = define else { continue };
            let global = self.defined_global(define.name, define.name_span, &mut first);
            self.know_arity(Callee::Global(global), &define);
            if matches!(define.value, Defined::Value(_)) {
                self.pending.insert(global);
            }
            pieces.push((datum, block, Some((global, define))));
        }
        if !self.in_library {
            let mut errors = self.globals.user.resolve(&self.globals.library);
            let is_excused = |name: &Rc<str>| self.excuses_all || self.excused.contains(name);
            errors.retain(|error| !matches!(error, Error::NotProvided { name, .. } if is_excused(name)));
            self.errors.extend(errors);
        }
        self.excuse_around_misplaced(datums);
        for (datum, block, define) in pieces {
            self.globals.user.enter(datum.span.file, block);
            match define {
                Some((global, Define { name, value: Defined::Function(function), .. })) => {
                    let name = if self.in_library { &public_name(name) } else { name };
                    let lambda = self.function(name, &function.layers, function.forms, function.span);
                    self.core.globals[global].definition = Definition::Function(lambda);
                }
                Some((global, Define { name, value: Defined::Value(value), .. })) => {
                    let body = self.item(value, Some(name));
                    self.pending.remove(&global);
                    self.core.items.push(Item::Define(global, body));
                }
                None if self.is_export(datum) => {}
                None => {
                    let body = self.item(datum, None);
                    self.core.items.push(Item::Print(body, datum.span));
                }
            }
        }
    }

    /// The body that computes a top-level expression.
    fn item(&mut self, datum: &Datum, name: Option<&Rc<str>>) -> Body {
        *self.branch(datum.span, |expander| match name {
            Some(name) => expander.named(datum, name),
            None => expander.rhs(datum),
        })
    }

    /// The definition when the datum is one: `Some(None)` stands for a wrong one.
    pub fn definition<'a>(&mut self, datum: &'a Datum) -> Option<Option<Define<'a>>> {
        let (head, operands) = datum.list()?.split_first()?;
        if self.meaning(head.symbol()?) != Meaning::Keyword(Keyword::Define) {
            return None;
        }
        let define = self.define_form(datum, operands);
        if let (None, Some(target)) = (&define, operands.first()) {
            self.excuse(target);
        }
        Some(define)
    }

    fn define_form<'a>(&mut self, datum: &'a Datum, operands: &'a [Datum]) -> Option<Define<'a>> {
        let span = datum.span;
        let usage = "(define name e) or (define (name p ...) e ...)";
        let malformed = Error::Malformed(span, "define", usage);
        let Some((target, rest)) = operands.split_first() else {
            self.errors.push(malformed);
            return None;
        };
        let mut layers = Vec::new();
        let mut header = target;
        while let DatumKind::List(items) | DatumKind::Dotted(items, _) = &header.kind
            && let (Some(inner), Some(params)) = (items.first(), Params::of(header, 1))
        {
            layers.push(params);
            header = inner;
        }
        layers.reverse();
        let name = self.definable(header)?;
        let value = match rest {
            [] if !layers.is_empty() => {
                self.errors.push(Error::EmptyBody(span, "define"));
                return None;
            }
            _ if !layers.is_empty() => Defined::Function(Function { layers, forms: rest, span }),
            [value] => match self.lambda_form(value) {
                Some(function) => Defined::Function(Function { span, ..function? }),
                None => Defined::Value(value),
            },
            [first, forms @ ..] if !forms.is_empty() && (first.list().is_some() || first.is_symbol("=")) => {
                let forms: Vec<String> = forms.iter().map(syntax::flat).collect();
                let target = match first.list() {
                    Some(params) => {
                        let params: String = params.iter().map(|param| format!(" {}", syntax::flat(param))).collect();
                        format!("({name}{params})")
                    }
                    None => name.to_string(),
                };
                let right = format!("(define {target} {})", forms.join(" "));
                self.errors.push(Error::Miswritten { span, form: "define", usage, right });
                return None;
            }
            _ => {
                self.errors.push(malformed);
                return None;
            }
        };
        Some(Define { name, name_span: header.span, value })
    }

    /// The name, when the datum is one that can be defined.
    pub fn definable<'a>(&mut self, datum: &'a Datum) -> Option<&'a Rc<str>> {
        match &datum.kind {
            DatumKind::Symbol(name) if basis::keyword(name).is_some() && !basis::may_be_defined(name) => {
                self.errors.push(Error::KeywordBound(datum.span, name.clone()));
                None
            }
            DatumKind::Symbol(name) if &**name != "_" => Some(name),
            _ => {
                self.errors.push(Error::NotAName(datum.span));
                None
            }
        }
    }

    /// The function when the datum is a λ-expression: `Some(None)` stands for a wrong one.
    pub fn lambda_form<'a>(&mut self, datum: &'a Datum) -> Option<Option<Function<'a>>> {
        let (head, operands) = datum.list()?.split_first()?;
        if self.meaning(head.symbol()?) != Meaning::Keyword(Keyword::Lambda) {
            return None;
        }
        let span = datum.span;
        let error = match operands {
            [params, forms @ ..] => match Params::of(params, 0) {
                Some(_) if forms.is_empty() => Error::EmptyBody(span, "lambda"),
                Some(params) => return Some(Some(Function { layers: vec![params], forms, span })),
                None => Error::NotAParameterList(params.span),
            },
            [] => Error::Malformed(span, "lambda", "(lambda (p ...) e ...)"),
        };
        self.errors.push(error);
        Some(None)
    }

    /// Remembers how many operands a function takes that is called by its name.
    pub fn know_arity(&mut self, callee: Callee, define: &Define) {
        if let Defined::Function(Function { layers, .. }) = &define.value
            && let Some(params) = layers.first()
        {
            let mut usage = params.usage(define.name, define.name_span);
            usage.arity.curried = layers.len() > 1;
            self.arities.insert(callee, usage);
        }
    }

    /// The value of an expression that gets a name: a λ is called by it.
    pub fn named(&mut self, datum: &Datum, name: &Rc<str>) -> Rhs {
        match self.lambda_form(datum) {
            Some(Some(function)) => closure(self.function(name, &function.layers, function.forms, function.span)),
            Some(None) => Rhs::Const(Const::Nil),
            None => self.rhs(datum),
        }
    }
}

/// What messages call a function of the library: `%map/2` is the part of `map` that deals with two lists.
fn public_name(name: &Rc<str>) -> Rc<str> {
    match name.strip_prefix('%') {
        Some(hidden) => Rc::from(hidden.split('/').next().unwrap_or(hidden)),
        None => name.clone(),
    }
}
