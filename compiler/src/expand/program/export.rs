//! The form `export`: what a library offers its callers.
//!
//! ```text
//! (export norm ((v (vector real))))                   the program's function norm
//! (export scaled ((a real) (v (vector real))) e)      the value of an expression, or the function that a name or a λ stands for
//! (export (gradient loss w b) (...) e)                the same, and loss-gradient, with respect to w and b
//! (export (jacobian f w) (...) e)                     the same, and f-jacobian; so are hessian and hvp
//! (export f ((m (model (vector real) real))))         a record, with the types of its fields
//! (export f ((g (function (vector real) real))))      a function of the caller: what it takes, and what it gives
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
use crate::core::interface::{self, Function, GRADIENT, Parameter, Signature, Type};
use crate::core::interface::{field_name, identifier, type_name};
use crate::core::ir::{Definition, Export, GlobalId, Item, LambdaId, Library, RecordId};
use crate::expand::build::{Expander, Meaning};
use crate::expand::error::Error;
use crate::expand::forms::pattern::Params;
use crate::expand::names::basis;
use crate::expand::names::unbound::type_meant;
use crate::syntax::{Datum, DatumKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The names of the standard library's functions in programs with exports.
pub const LIBRARY: [(&str, &str); 14] = [
    (" called", "%called"),
    (" is-called", "%is-called"),
    (" number", "%number-argument"),
    (" boolean", "%boolean-argument"),
    (" text", "%text-argument"),
    (" vector", "%vector-argument"),
    (" matrix", "%matrix-argument"),
    (" tuple", "%tuple-argument"),
    (" function", "%function-argument"),
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

/// Words that types of arguments are made of.
pub const TYPE_WORDS: [&str; 8] = ["real", "integer", "boolean", "text", "vector", "matrix", "tuple", "function"];

/// Types that arguments may have, for messages.
pub const TYPES: &str = "`real`, `integer`, `boolean`, `text`, `(vector real)`, `(matrix real)`, `(tuple type ...)`, \
                         `(record type ...)` with the name of a record and the types of its fields, or \
                         `(function type ... result)`";

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

/// What exports have said about records.
type Records = FxHashMap<RecordId, Rc<interface::Record>>;

/// The name of what makes records of a kind, in the items of a library.
fn constructor(kind: RecordId) -> String {
    format!(" record {}", kind.0)
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
        let mut exports: Vec<Export> = Vec::new();
        let mut first: FxHashMap<String, Span> = FxHashMap::default();
        let mut records = FxHashMap::default();
        // Exports that stand for functions of the program by their names.
        let mut named: FxHashSet<Rc<str>> = FxHashSet::default();
        for datum in datums {
            let Some(form) = self.export_form(datum, &mut records) else { continue };
            let parameter = |(name, ty): (&&Datum, &Type)| Parameter {
                name: name.symbol().cloned().unwrap_or_else(|| Rc::from("_")),
                ty: ty.clone(),
            };
            let parameters = form.names.iter().zip(&form.types).map(parameter).collect();
            let name = form.name.clone();
            let plain = Function { name, parameters, gradient: None, derivative_at: None, result: None };
            let value = self.export_value(&form);
            let mut made = Vec::new();
            if let Some(wanted) = form.gradient {
                let Some((positions, lambda)) = self.export_gradient(&form, wanted, value) else { continue };
                let name = Rc::from(format!("{}{GRADIENT}", form.name));
                made.push((Function { name, gradient: Some(positions), ..plain.clone() }, lambda));
            }
            if let Some((operator, position)) = form.derivative {
                let name: Rc<str> = Rc::from(format!("{}-{operator}", form.name));
                let (lambda, further) = self.export_derivative(&form, &name, (operator, position), value);
                let parameters = [plain.parameters.clone(), further].concat();
                made.push((Function { name, parameters, derivative_at: Some(position), ..plain.clone() }, lambda));
            }
            // A function that has several derivatives is the same in all these exports.
            let is_same = |export: &Export| export.function == plain && named.contains(&plain.name);
            if made.is_empty() || !form.body.is_empty() || !exports.iter().any(is_same) {
                made.insert(0, (plain, value));
            }
            if form.body.is_empty() {
                named.insert(form.name.clone());
            }
            for (function, lambda) in made {
                let Some(shown) = identifier(&function.name) else { continue };
                if let Some(first) = first.insert(shown, form.name_span) {
                    let name = function.name.clone();
                    self.errors.push(Error::ExportedTwice { first, second: form.name_span, name });
                }
                exports.push(Export { function, span: form.span, lambda });
            }
        }
        if is_library && self.errors.is_empty() {
            self.name_constructors(&records);
            self.dispatch(exports);
        }
    }

    /// Gives the constructors of records names that no program can write.
    fn name_constructors(&mut self, records: &Records) {
        let known = |(global, kind): (&GlobalId, &RecordId)| records.contains_key(kind).then_some((*global, *kind));
        for (global, kind) in self.records.iter().filter_map(known) {
            self.globals.user.define(Rc::from(constructor(kind)), global);
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
            let is_plain = |ty: &Type| matches!(ty, Type::Integer | Type::Boolean | Type::Text | Type::Function(_));
            positions = (0..form.names.len()).filter(|position| !is_plain(&form.types[*position])).collect();
        }
        for position in &positions {
            self.demand_reals(form.names[*position], &form.types[*position])?;
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

    /// Complains about a derivative with respect to what is not made of real numbers.
    fn demand_reals(&mut self, parameter: &Datum, ty: &Type) -> Option<()> {
        let leaves = ty.leaves().into_iter();
        let what = leaves.map(|(_, ty)| ty).find_map(|ty| match ty {
            Type::Integer => Some("an integer"),
            Type::Boolean => Some("a boolean"),
            Type::Text => Some("a text"),
            Type::Function(_) => Some("a function"),
            _ => None,
        });
        let Some(what) = what else { return Some(()) };
        self.errors.push(Error::NotReal(parameter.span, what));
        None
    }

    fn export_form<'a>(&mut self, datum: &'a Datum, records: &mut Records) -> Option<Form<'a>> {
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
            match self.exported_type(ty, records) {
                Ok(ty) => types.push(ty),
                Err(error) => {
                    self.errors.push(error);
                    return None;
                }
            }
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
                self.demand_reals(names[position], &types[position])?;
                if operator == "hvp" && names.iter().any(|name| name.is_symbol(DIRECTION)) {
                    self.errors.push(malformed);
                    return None;
                }
                Some((operator, position))
            }
        };
        Some(Form { name, name_span, gradient, derivative, list: list.span, names, types, body, span: datum.span })
    }

    /// The type that a datum stands for. What is said of a record once need not be said again.
    fn exported_type(&mut self, datum: &Datum, records: &mut Records) -> Result<Type, Error> {
        let (head, parts) = match datum.list() {
            Some([head, parts @ ..]) => (head, parts),
            _ => (datum, &[][..]),
        };
        let mistake = || Error::NotAnExportedType(datum.span, type_meant(datum, true));
        let name = head.symbol().ok_or_else(mistake)?;
        let Some(kind) = self.record_of(name) else {
            let parts = parts.iter().map(|part| self.exported_type(part, records)).collect::<Result<Vec<_>, _>>()?;
            if let ("function", [arguments @ .., result]) = (&**name, &parts[..]) {
                let is_leaf = |ty: &Type| !matches!(ty, Type::Tuple(_) | Type::Record(_) | Type::Function(_));
                let can_be = arguments.iter().all(is_leaf) && matches!(result, Type::Real | Type::Vector);
                let signature = Signature { arguments: arguments.to_vec(), result: result.clone() };
                return match !arguments.is_empty() && can_be {
                    true => Ok(Type::Function(Rc::new(signature))),
                    false => Err(Error::FunctionType(datum.span)),
                };
            }
            if let Some(at) = parts.iter().position(|part| part.signature().is_some()) {
                return Err(Error::FunctionWithin(datum.list().expect("it has parts")[at + 1].span));
            }
            return match (&**name, &parts[..], datum.list().is_some()) {
                ("real", [], false) => Ok(Type::Real),
                ("integer", [], false) => Ok(Type::Integer),
                ("boolean", [], false) => Ok(Type::Boolean),
                ("text", [], false) => Ok(Type::Text),
                ("vector", [Type::Real], true) => Ok(Type::Vector),
                ("matrix", [Type::Real], true) => Ok(Type::Matrix),
                ("tuple", [_, _, ..], true) => Ok(Type::Tuple(parts)),
                _ => Err(mistake()),
            };
        };
        if let Some(known) = records.get(&kind).filter(|_| datum.list().is_none()) {
            return Ok(Type::Record(known.clone()));
        }
        let record = self.core.records[kind].clone();
        if record.fields.is_empty() || parts.len() != record.fields.len() {
            let (definition, name) = (record.span, record.name);
            return Err(Error::RecordType { span: datum.span, definition, name, fields: record.fields });
        }
        type_name(&record.name).ok_or_else(|| Error::NotAnExportedName(head.span, record.name.clone()))?;
        let mut fields = Vec::new();
        for (name, part) in record.fields.iter().zip(parts) {
            field_name(name).ok_or_else(|| Error::NotAnExportedName(part.span, name.clone()))?;
            let ty = self.exported_type(part, records)?;
            if ty.leaves().iter().any(|(_, ty)| matches!(ty, Type::Text | Type::Function(_))) {
                return Err(Error::FunctionWithin(part.span));
            }
            fields.push(Parameter { name: name.clone(), ty });
        }
        let made = Rc::new(interface::Record { kind, name: record.name, fields });
        let known = records.entry(kind).or_insert_with(|| made.clone());
        if *known == made { Ok(Type::Record(made)) } else { Err(Error::RecordTypes(datum.span, made.name.clone())) }
    }
}

/// Whether an expression stands for a function, where a value is expected: no result is a function.
fn is_function(datum: &Datum) -> bool {
    let is_lambda = |list: &[Datum]| list.first().is_some_and(|head| head.is_symbol("lambda"));
    datum.symbol().is_some() || datum.list().is_some_and(is_lambda)
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
            // The function of C has made a number of it.
            Type::Real | Type::Integer => self.call(" number", Vec::new()),
            Type::Boolean => self.call(" boolean", Vec::new()),
            Type::Text => self.call(" text", Vec::new()),
            Type::Vector => self.call(" vector", Vec::new()),
            Type::Matrix => self.call(" matrix", Vec::new()),
            Type::Tuple(parts) => {
                let (last, others) = parts.split_last().expect("a tuple has parts");
                let last = self.argument(last);
                others.iter().rev().fold(last, |rest, part| self.call(" tuple", vec![self.argument(part), rest]))
            }
            Type::Record(record) => {
                let fields = record.fields.iter().map(|field| self.argument(&field.ty)).collect();
                self.call(&constructor(record.kind), fields)
            }
            Type::Function(signature) => {
                // What it gives, and then what it takes, as the library tells them apart.
                let types = [&signature.result].into_iter().chain(&signature.arguments);
                let kinds = types.map(|ty| match ty {
                    Type::Vector => self.number(1),
                    Type::Matrix => self.number(2),
                    Type::Integer => self.number(3),
                    Type::Boolean => self.number(4),
                    Type::Text => self.number(5),
                    _ => self.number(0),
                });
                self.call(" function", [vec![self.call(" number", Vec::new())], kinds.collect()].concat())
            }
        }
    }
}
