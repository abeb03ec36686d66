//! The form `export`: what a library offers its callers.
//!
//! ```text
//! (export norm ((v (vector real))))                   the program's function norm
//! (export scaled ((a real) (v (vector real))) e)      the value of an expression, or the function that a name or a λ stands for
//! (export (gradient loss w b) (...) e)                the same, and loss-gradient, with respect to w and b
//! (export (jacobian f w) (...) e)                     the same, and f-jacobian; so are hessian and hvp
//! ```
//!
//! The functions become λs. In a program that is to be a library, items behind the others call them:
//!
//! ```text
//! called = (%called)
//! (if (%is-called 0 called) (%give-result (norm (%vector-argument))) '())
//! ```
//!
//! What these items call are functions of the library, under names that no program can write. Other programs are only
//! checked.

use crate::base::Span;
use crate::core::interface::{Function, Parameter, Type, identifier};
use crate::core::ir::{Definition, Export, Item, LambdaId, Library};
use crate::expand::build::{Expander, Meaning};
use crate::expand::error::Error;
use crate::expand::forms::pattern::Params;
use crate::expand::names::basis;
use crate::syntax::{Datum, DatumKind};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The names of the standard library's functions in programs with exports.
pub const LIBRARY: [(&str, &str); 11] = [
    (" called", "%called"),
    (" is-called", "%is-called"),
    (" number", "%number-argument"),
    (" vector", "%vector-argument"),
    (" matrix", "%matrix-argument"),
    (" tuple", "%tuple-argument"),
    (" give", "%give-result"),
    (" value-and-gradient", "value-and-gradient-R"),
    (" jacobian", "jacobian"),
    (" hessian", "hessian"),
    (" hvp", "hvp"),
];

/// Derivatives with respect to one parameter whose results are values like any other.
const PLAIN_DERIVATIVES: [&str; 3] = ["jacobian", "hessian", "hvp"];

/// The further parameter of a product of the Hessian and a vector.
const DIRECTION: &str = "direction";

/// What the end of the name says of a function that computes a gradient.
const GRADIENT: &str = "-gradient";

/// Types that arguments may have, for messages.
pub const TYPES: &str = "`real`, `(vector real)`, `(matrix real)` or `(tuple type ...)`";

/// A form as written.
struct Form<'a> {
    name: &'a Rc<str>,
    name_span: Span,
    /// With respect to which parameters; none stands for all.
    gradient: Option<&'a [Datum]>,
    /// One of [`PLAIN_DERIVATIVES`], and with respect to which parameter.
    derivative: Option<(&'static str, usize)>,
    /// The list of parameters.
    list: Span,
    names: Vec<&'a Datum>,
    types: Vec<Type>,
    body: &'a [Datum],
    span: Span,
}

/// Whether a program has exports.
pub fn is_in(datums: &[Datum]) -> bool {
    datums.iter().any(|datum| datum.behind(basis::EXPORT).is_some())
}

impl Expander {
    /// Whether the datum is an export; the program may have a function of that name instead.
    pub fn is_export(&self, datum: &Datum) -> bool {
        datum.behind(basis::EXPORT).is_some() && matches!(self.meaning(basis::EXPORT), Meaning::Reserved(_))
    }

    /// Expands the exports of a program; the rest of it has been expanded.
    pub fn exports(&mut self, datums: &[&Datum], is_library: bool) {
        let mut exports = Vec::new();
        let mut first: FxHashMap<String, Span> = FxHashMap::default();
        for datum in datums {
            let Some(form) = self.export_form(datum) else { continue };
            let mut made = Vec::new();
            let value = self.export_value(&form);
            made.push((form.name.clone(), None, value));
            if let Some(wanted) = form.gradient {
                let Some((positions, lambda)) = self.export_gradient(&form, wanted, value) else { continue };
                made.push((Rc::from(format!("{}{GRADIENT}", form.name)), Some(positions), lambda));
            }
            let mut further = Vec::new();
            if let Some((operator, position)) = form.derivative {
                let name: Rc<str> = Rc::from(format!("{}-{operator}", form.name));
                let (lambda, parameters) = self.export_derivative(&form, &name, (operator, position), value);
                made.push((name, None, lambda));
                further = parameters;
            }
            for (position, (name, gradient, lambda)) in made.into_iter().enumerate() {
                let Some(shown) = identifier(&name) else { continue };
                if let Some(first) = first.insert(shown, form.name_span) {
                    self.errors.push(Error::ExportedTwice { first, second: form.name_span, name: name.clone() });
                }
                let parameter = |(name, ty): (&&Datum, &Type)| Parameter {
                    name: name.symbol().cloned().unwrap_or_else(|| Rc::from("_")),
                    ty: ty.clone(),
                };
                let mut parameters: Vec<Parameter> = form.names.iter().zip(&form.types).map(parameter).collect();
                if position > 0 {
                    parameters.extend(further.iter().cloned());
                }
                let function = Function { name, parameters, gradient, result: None };
                exports.push(Export { function, span: form.span, lambda });
            }
        }
        if is_library && self.errors.is_empty() {
            self.dispatch(exports);
        }
    }

    /// The items of a library behind its definitions.
    fn dispatch(&mut self, exports: Vec<Export>) {
        let first_item = self.core.items.len();
        for (number, export) in exports.iter().enumerate() {
            let make = Make(export.span);
            if number == 0 {
                self.hidden_item(" number called", &make.call(" called", Vec::new()), export.span);
            }
            let name = format!(" export {number}");
            self.hidden_function(&name, export.lambda, export.span);
            let arguments = export.function.parameters.iter().map(|parameter| make.argument(&parameter.ty)).collect();
            let result = make.call(" give", vec![make.call(&name, arguments)]);
            let is_called = make.call(" is-called", vec![make.number(number), make.name(" number called")]);
            let body = make.list(vec![make.name("begin"), result, make.list(Vec::new())]);
            let call = make.list(vec![make.name("if"), is_called, body, make.list(Vec::new())]);
            self.hidden_item(&format!(" call {number}"), &call, export.span);
        }
        self.core.library = Some(Library { first_item, exports });
    }

    /// An item that defines a name which no program can write.
    fn hidden_item(&mut self, name: &str, datum: &Datum, span: Span) {
        let body = self.branch(span, |expander| expander.rhs(datum));
        let name = Rc::from(name);
        let global = self.new_global(&name, span);
        self.globals.user.define(name, global);
        self.core.items.push(Item::Define(global, *body));
    }

    /// A name, which no program can write, of a function.
    fn hidden_function(&mut self, name: &str, lambda: LambdaId, span: Span) {
        let name = Rc::from(name);
        let global = self.new_global(&name, span);
        self.core.globals[global].definition = Definition::Function(lambda);
        self.globals.user.define(name, global);
    }

    /// The function that an export is about.
    fn export_value(&mut self, form: &Form) -> LambdaId {
        let make = Make(form.span);
        let names: Vec<Datum> = form.names.iter().map(|name| (*name).clone()).collect();
        let call_of = |function: Datum| vec![make.list([vec![function], names.clone()].concat())];
        let is_parameter = |datum: &Datum| form.names.iter().any(|name| name.symbol() == datum.symbol());
        let made = match form.body {
            [] => Some(call_of(Datum { kind: DatumKind::Symbol(form.name.clone()), span: form.name_span })),
            [body] if is_function(body) && !names.is_empty() && !is_parameter(body) => Some(call_of(body.clone())),
            _ => None,
        };
        let body = made.as_deref().unwrap_or(form.body);
        let params = Params { patterns: form.names.clone(), rest: false, span: form.list };
        self.function(form.name, &[params], body, form.span)
    }

    /// The positions of the parameters with respect to which a gradient is taken, and the function that takes it.
    fn export_gradient(&mut self, form: &Form, wanted: &[Datum], value: LambdaId) -> Option<(Vec<usize>, LambdaId)> {
        let mut positions = Vec::new();
        for datum in wanted {
            match form.names.iter().position(|name| name.symbol().is_some() && name.symbol() == datum.symbol()) {
                Some(position) if !positions.contains(&position) => positions.push(position),
                _ => {
                    self.errors.push(Error::NotAParameterOfExport(datum.span));
                    return None;
                }
            }
        }
        if wanted.is_empty() {
            positions = (0..form.names.len()).collect();
        }
        if positions.is_empty() {
            self.errors.push(Error::NotAParameterOfExport(form.name_span));
            return None;
        }
        positions.sort_unstable();
        let make = Make(form.span);
        let hidden = format!(" function {}", value.0);
        self.hidden_function(&hidden, value, form.span);
        let all = form.names.iter().map(|name| (*name).clone()).collect();
        let chosen: Vec<Datum> = positions.iter().map(|position| form.names[*position].clone()).collect();
        let function = make.list(vec![make.name("lambda"), make.list(chosen.clone()), make.call(&hidden, all)]);
        let operator = make.call(" value-and-gradient", vec![function]);
        let body = [make.list([vec![operator], chosen].concat())];
        let params = Params { patterns: form.names.clone(), rest: false, span: form.list };
        let name = Rc::from(format!("{}{GRADIENT}", form.name));
        Some((positions, self.function(&name, &[params], &body, form.span)))
    }

    /// The function that takes a derivative with respect to one parameter, and the parameters that it has besides.
    fn export_derivative(
        &mut self,
        form: &Form,
        name: &Rc<str>,
        (operator, position): (&'static str, usize),
        value: LambdaId,
    ) -> (LambdaId, Vec<Parameter>) {
        let make = Make(form.span);
        let hidden = format!(" function {}", value.0);
        self.hidden_function(&hidden, value, form.span);
        let all: Vec<Datum> = form.names.iter().map(|name| (*name).clone()).collect();
        let chosen = form.names[position].clone();
        let function = make.list(vec![make.name("lambda"), make.list(vec![chosen.clone()]), make.call(&hidden, all)]);
        let direction = make.name(DIRECTION);
        let operator_name = format!(" {operator}");
        let (body, further) = if operator == "hvp" {
            (make.call(&operator_name, vec![function, chosen, direction.clone()]), vec![&direction])
        } else {
            (make.list(vec![make.call(&operator_name, vec![function]), chosen]), Vec::new())
        };
        let patterns = form.names.iter().copied().chain(further.iter().copied()).collect();
        let params = Params { patterns, rest: false, span: form.list };
        let ty = form.types[position].clone();
        let parameters = further.iter().map(|_| Parameter { name: DIRECTION.into(), ty: ty.clone() }).collect();
        (self.function(name, &[params], &[body], form.span), parameters)
    }

    fn export_form<'a>(&mut self, datum: &'a Datum) -> Option<Form<'a>> {
        let usage = "(export name ((p type) ...) e ...) or (export (gradient name p ...) ((p type) ...) e ...) or \
                     (export (jacobian name p) ((p type) ...) e ...), and hessian and hvp in the same way";
        let malformed = Error::Malformed(datum.span, "export", usage);
        let Some([target, list, body @ ..]) = datum.behind(basis::EXPORT) else {
            self.errors.push(malformed);
            return None;
        };
        let plain = |word: &Datum| PLAIN_DERIVATIVES.iter().find(|known| word.is_symbol(known)).copied();
        let (name, gradient, derivative) = match target.list() {
            None => (target, None, None),
            Some([word, name, wanted @ ..]) if word.is_symbol("gradient") => (name, Some(wanted), None),
            Some([word, name, wanted @ ..]) if plain(word).is_some() && wanted.len() < 2 => {
                (name, None, plain(word).map(|operator| (operator, wanted.first())))
            }
            Some(_) => {
                self.errors.push(malformed);
                return None;
            }
        };
        let (Some(symbol), Some(parameters)) = (name.symbol(), list.list()) else {
            self.errors.push(malformed);
            return None;
        };
        if identifier(symbol).is_none() {
            self.errors.push(Error::NotAnExportedName(name.span, symbol.clone()));
            return None;
        }
        let (mut names, mut types) = (Vec::new(), Vec::new());
        for parameter in parameters {
            let Some([parameter_name, ty]) = parameter.list() else {
                self.errors.push(Error::NotAnExportedParameter(parameter.span));
                return None;
            };
            match parameter_name.symbol() {
                Some(symbol) if identifier(symbol).is_some() && basis::keyword(symbol).is_none() => {}
                Some(symbol) => {
                    self.errors.push(Error::NotAnExportedName(parameter_name.span, symbol.clone()));
                    return None;
                }
                None => {
                    self.errors.push(Error::NotAnExportedParameter(parameter.span));
                    return None;
                }
            }
            names.push(parameter_name);
            let Some(ty) = type_of(ty) else {
                self.errors.push(Error::NotAnExportedType(ty.span));
                return None;
            };
            types.push(ty);
        }
        let (name, name_span) = (symbol, name.span);
        let derivative = match derivative {
            None => None,
            Some((operator, wanted)) => {
                let position = match wanted {
                    Some(wanted) => names.iter().position(|name| name.symbol() == wanted.symbol()),
                    None => (names.len() == 1).then_some(0),
                };
                let Some(position) = position else {
                    self.errors.push(Error::NotAParameterOfExport(wanted.map_or(name_span, |wanted| wanted.span)));
                    return None;
                };
                if operator == "hvp" && names.iter().any(|name| name.is_symbol(DIRECTION)) {
                    self.errors.push(malformed);
                    return None;
                }
                Some((operator, position))
            }
        };
        Some(Form { name, name_span, gradient, derivative, list: list.span, names, types, body, span: datum.span })
    }
}

/// Whether an expression stands for a function, where a value is expected: no result is a function.
fn is_function(datum: &Datum) -> bool {
    let is_lambda = |list: &[Datum]| list.first().is_some_and(|head| head.is_symbol("lambda"));
    datum.symbol().is_some() || datum.list().is_some_and(is_lambda)
}

fn type_of(datum: &Datum) -> Option<Type> {
    if datum.is_symbol("real") {
        return Some(Type::Real);
    }
    let (head, parts) = datum.list()?.split_first()?;
    let parts: Vec<Type> = parts.iter().map(type_of).collect::<Option<_>>()?;
    match (&**head.symbol()?, &parts[..]) {
        ("vector", [Type::Real]) => Some(Type::Vector),
        ("matrix", [Type::Real]) => Some(Type::Matrix),
        ("tuple", [_, _, ..]) => Some(Type::Tuple(parts)),
        _ => None,
    }
}

/// Makes datums that stand at one place.
struct Make(Span);

impl Make {
    fn name(&self, name: &str) -> Datum {
        Datum { kind: DatumKind::Symbol(name.into()), span: self.0 }
    }
    fn number(&self, number: usize) -> Datum {
        Datum { kind: DatumKind::Real(number as f64), span: self.0 }
    }
    fn list(&self, items: Vec<Datum>) -> Datum {
        Datum { kind: DatumKind::List(items), span: self.0 }
    }
    fn call(&self, name: &str, operands: Vec<Datum>) -> Datum {
        self.list([vec![self.name(name)], operands].concat())
    }
    /// Reads an argument of this type.
    fn argument(&self, ty: &Type) -> Datum {
        match ty {
            Type::Real => self.call(" number", Vec::new()),
            Type::Vector => self.call(" vector", Vec::new()),
            Type::Matrix => self.call(" matrix", Vec::new()),
            Type::Tuple(parts) => {
                let (last, others) = parts.split_last().expect("a tuple has parts");
                let last = self.argument(last);
                others.iter().rev().fold(last, |rest, part| self.call(" tuple", vec![self.argument(part), rest]))
            }
        }
    }
}
