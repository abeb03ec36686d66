//! Core λs → terms that can be written in a program.
//!
//! Requires a program as it is written: closures capture what has the same names where they are made.
//!
//! Functions that core code makes again wherever they are used are written once, where all that they capture is known,
//! and are called by name; groups of recursive ones become `letrec` again. Primitives that no program can name are
//! written with others. A transformed function that is called here is written as its transform. One that goes elsewhere
//! is written as `(*j (lambda ...))`, for other functions may ask what it is the transform of, and nobody can ask that
//! of a function that looks like a transform.

use super::term::{Name, Names, Pattern, Step, Term};
use crate::ad::Transforms;
use crate::ad::tower::Transformation;
use crate::core::ir::{Body, Const, LambdaId, Origin, Part, Program, Rhs, Var};
use crate::core::prim::Prim;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Why a function cannot be shown.
#[derive(Debug)]
pub struct Unwritable(pub String);

/// Translates λs of a program.
pub struct Converter<'a> {
    pub program: &'a mut Program,
    pub transforms: &'a mut Transforms,
    pub names: &'a mut Names,
    /// The top-level functions whose transforms are shown, and what these are called.
    pub shown: &'a FxHashMap<LambdaId, Rc<str>>,
    /// The program defines `-` itself.
    pub minus_is_own: bool,
    escaping: FxHashSet<Var>,
    /// At how many places a closure of a function is made.
    places: FxHashMap<LambdaId, usize>,
    scope: Scope,
}

#[derive(Clone, Default)]
struct Scope {
    names: FxHashMap<Var, Name>,
    /// The functions that can be called by name.
    functions: FxHashMap<LambdaId, Name>,
    /// What is known of variables: top-level functions, their transforms, vectors under construction.
    globals: FxHashMap<Var, LambdaId>,
    transformed: FxHashMap<Var, LambdaId>,
    vectors: FxHashMap<Var, Vec<Term>>,
}

impl<'a> Converter<'a> {
    /// A translation that begins.
    pub fn new(
        program: &'a mut Program,
        transforms: &'a mut Transforms,
        names: &'a mut Names,
        shown: &'a FxHashMap<LambdaId, Rc<str>>,
    ) -> Converter<'a> {
        let (minus_is_own, escaping, places, scope) = Default::default();
        Converter { program, transforms, names, shown, minus_is_own, escaping, places, scope }
    }

    /// A λ, and the names of what it has captured.
    pub fn function(&mut self, lambda: LambdaId) -> Result<(Vec<Name>, Term), Unwritable> {
        self.escaping = escaping(self.program, lambda);
        self.places = places(self.program, lambda);
        self.scope = Scope::default();
        let captures = self.program.lambdas[lambda].captures.clone();
        let captures = captures.into_iter().map(|var| self.bind(var)).collect();
        // What a nested function calls by its own name is not known by that name outside.
        let term = match self.group(lambda).is_empty() {
            true => self.lambda(lambda)?,
            false => self.closure(lambda)?,
        };
        Ok((captures, term))
    }

    fn bind(&mut self, var: Var) -> Name {
        let called = self.program.vars[var].name.clone();
        let name = self.names.fresh(&called);
        self.scope.names.insert(var, name);
        name
    }

    fn name(&self, var: Var) -> Term {
        Term::Name(*self.scope.names.get(&var).expect("variables are bound before they are used"))
    }

    fn lambda(&mut self, lambda: LambdaId) -> Result<Term, Unwritable> {
        let scope = self.scope.clone();
        let param = self.program.lambdas[lambda].param;
        let param = self.bind(param);
        let body = self.program.lambdas[lambda].body.clone();
        let body = self.body(&body)?;
        self.scope = scope;
        Ok(Term::Lambda(Pattern::Name(param), Box::new(body)))
    }

    fn body(&mut self, body: &Body) -> Result<Term, Unwritable> {
        let mut steps = Vec::new();
        for binding in &body.bindings {
            let x = binding.var;
            let term = match &binding.rhs {
                Rhs::Var(y) => {
                    if let Some(elements) = self.scope.vectors.get(y).cloned() {
                        self.scope.vectors.insert(x, elements);
                    }
                    self.name(*y)
                }
                Rhs::Const(constant) => literal(constant)?,
                Rhs::Global(global) => {
                    let global = &self.program.globals[*global];
                    if let crate::core::ir::Definition::Function(lambda) = global.definition {
                        self.scope.globals.insert(x, lambda);
                    }
                    if &*global.name == "-" && self.minus_is_own {
                        return Err(Unwritable("it calls a function `-` that the program defines again".to_string()));
                    }
                    visible(&global.name)?
                }
                Rhs::Apply(f, a) => {
                    let function = self.scope.transformed.get(f).and_then(|lambda| self.shown.get(lambda));
                    let function = function.cloned().map_or_else(|| self.name(*f), Term::Global);
                    Term::apply(function, self.name(*a))
                }
                Rhs::Prim(prim, operands) => self.prim(x, *prim, operands)?,
                Rhs::Lifted(..) => return Err(Unwritable("it works below another transformation".to_string())),
                Rhs::Destructure(Part::Car, y) => Term::prim(Prim::Car, [self.name(*y)]),
                Rhs::Destructure(Part::Cdr, y) => Term::prim(Prim::Cdr, [self.name(*y)]),
                Rhs::Destructure(Part::Never, _) => {
                    return Err(Unwritable("a value may fit no clause of a `match`".to_string()));
                }
                Rhs::Destructure(Part::Record(_), _) => return Err(with_records()),
                Rhs::Destructure(part, y) => {
                    let pattern = match part {
                        Part::Vector(length) => Pattern::Vector(*length),
                        _ => Pattern::Nil,
                    };
                    steps.push(Step::Take(pattern, self.name(*y)));
                    Term::Nil
                }
                Rhs::Closure(lambda, _) if self.escaping.contains(&x) => self.escaped(*lambda)?,
                Rhs::Closure(lambda, _) => {
                    self.made_again(*lambda, &mut steps)?;
                    match self.scope.functions.get(lambda) {
                        Some(name) => Term::Name(*name),
                        None => self.closure(*lambda)?,
                    }
                }
                Rhs::If(condition, yes, no) => {
                    let condition = self.name(*condition);
                    let scope = self.scope.clone();
                    let yes = self.body(yes)?;
                    self.scope = scope.clone();
                    let no = self.body(no)?;
                    self.scope = scope;
                    Term::If(Box::new(condition), Box::new(yes), Box::new(no))
                }
            };
            let name = self.bind(x);
            steps.push(Step::Let(name, term));
        }
        Ok(Term::block(steps, self.name(body.result)))
    }

    /// Writes what a function, itself included, makes again of what is in scope, unless that has been written.
    fn made_again(&mut self, lambda: LambdaId, steps: &mut Vec<Step>) -> Result<(), Unwritable> {
        for function in nested(self.program, lambda) {
            let captures = &self.program.lambdas[function].captures;
            if self.scope.functions.contains_key(&function)
                || self.places.get(&function).is_none_or(|places| *places < 2)
                || !captures.iter().all(|var| self.scope.names.contains_key(var))
            {
                continue;
            }
            let group = self.group(function);
            if group.is_empty() {
                let term = self.lambda(function)?;
                let name = self.names.fresh(&self.program.lambdas[function].name);
                self.scope.functions.insert(function, name);
                steps.push(Step::Let(name, term));
            } else {
                steps.push(self.letrec(&group)?);
            }
        }
        Ok(())
    }

    /// The functions that a function calls by their names and that call it; none if it does not call itself.
    fn group(&self, lambda: LambdaId) -> Vec<LambdaId> {
        let inside = |lambda| {
            let found = self.program.lambdas[lambda].body.closures();
            let all = found.iter().flat_map(|inner| nested(self.program, *inner));
            let mut once: FxHashSet<LambdaId> = FxHashSet::default();
            all.filter(|lambda| once.insert(*lambda)).collect::<Vec<LambdaId>>()
        };
        let found = inside(lambda);
        if !found.contains(&lambda) {
            return Vec::new();
        }
        let captures = &self.program.lambdas[lambda].captures;
        let same = |other: &LambdaId| self.program.lambdas[*other].captures == *captures;
        let mut group: Vec<LambdaId> =
            found.into_iter().filter(|other| same(other) && inside(*other).contains(&lambda)).collect();
        group.sort();
        group
    }

    fn letrec(&mut self, group: &[LambdaId]) -> Result<Step, Unwritable> {
        for lambda in group {
            let called = self.program.lambdas[*lambda].name.clone();
            let name = self.names.fresh(&called);
            self.scope.functions.insert(*lambda, name);
        }
        let functions: Result<Vec<(Name, Term)>, Unwritable> =
            group.iter().map(|lambda| Ok((self.scope.functions[lambda], self.lambda(*lambda)?))).collect();
        Ok(Step::Letrec(functions?))
    }

    fn closure(&mut self, lambda: LambdaId) -> Result<Term, Unwritable> {
        let group = self.group(lambda);
        if group.is_empty() {
            return self.lambda(lambda);
        }
        let step = self.letrec(&group)?;
        Ok(Term::block(vec![step], Term::Name(self.scope.functions[&lambda])))
    }

    /// `(*j (lambda ...))`, over what the transform has captured.
    fn escaped(&mut self, lambda: LambdaId) -> Result<Term, Unwritable> {
        let Origin::Reverse(of) = self.program.lambdas[lambda].origin else { return self.closure(lambda) };
        let scope = self.scope.clone();
        let captures = self.program.lambdas[of].captures.clone();
        let mut steps = Vec::new();
        for primal in captures {
            let transformed = self.transforms.variable(self.program, Transformation::Reverse, primal);
            let term = Term::prim(Prim::JInverse, [self.name(transformed)]);
            let name = self.bind(primal);
            steps.push(Step::Let(name, term));
        }
        self.scope.functions.clear();
        let function = self.closure(of)?;
        self.scope = scope;
        Ok(Term::prim(Prim::J, [Term::block(steps, function)]))
    }

    fn prim(&mut self, x: Var, prim: Prim, operands: &[Var]) -> Result<Term, Unwritable> {
        let named = |this: &Converter<'_>| -> Vec<Term> { operands.iter().map(|var| this.name(*var)).collect() };
        let elements = |this: &Converter<'_>, var: &Var| this.scope.vectors.get(var).cloned();
        let built = || Unwritable("it builds a vector step by step".to_string());
        Ok(match prim {
            Prim::NewVector => {
                self.scope.vectors.insert(x, Vec::new());
                Term::Nil
            }
            Prim::Fill => {
                let mut vector = elements(self, &operands[0]).ok_or_else(built)?;
                vector.push(self.name(operands[1]));
                self.scope.vectors.insert(x, vector);
                Term::Nil
            }
            Prim::Filled => {
                let length = elements(self, &operands[0]).ok_or_else(built)?.len();
                Term::Number(f64::from(u32::try_from(length).map_err(|_| built())?))
            }
            Prim::Finish => Term::Vector(elements(self, &operands[0]).ok_or_else(built)?),
            Prim::J => {
                if let Some(lambda) = self.scope.globals.get(&operands[0]).copied() {
                    self.scope.transformed.insert(x, lambda);
                }
                Term::Prim(prim, named(self))
            }
            Prim::InCar => {
                let [pair, part] = [self.name(operands[0]), self.name(operands[1])];
                let rest = Term::prim(Prim::Zero, [Term::prim(Prim::Cdr, [pair])]);
                Term::prim(Prim::Cons, [part, rest])
            }
            Prim::InCdr => {
                let [pair, part] = [self.name(operands[0]), self.name(operands[1])];
                let first = Term::prim(Prim::Zero, [Term::prim(Prim::Car, [pair])]);
                Term::prim(Prim::Cons, [first, part])
            }
            Prim::SumCar | Prim::SplitCar => Term::Prim(Prim::Car, named(self)),
            Prim::SumCdr | Prim::SplitCdr => Term::Prim(Prim::Cdr, named(self)),
            Prim::Handed | Prim::HandedFew | Prim::Kept | Prim::Lent | Prim::Adding | Prim::Plain => {
                return Err(Unwritable("it hands sums on".to_string()));
            }
            Prim::WithElement => return Err(Unwritable("it changes an element of a vector".to_string())),
            Prim::LiftDirections | Prim::UnliftDirections | Prim::IsTransformed => {
                return Err(Unwritable("it computes in several directions".to_string()));
            }
            Prim::Series | Prim::SeriesParts | Prim::Lift | Prim::Unlift | Prim::IsSeries => {
                return Err(Unwritable("it computes with power series".to_string()));
            }
            Prim::Record | Prim::RecordParts | Prim::IsRecord | Prim::IsOfKind => return Err(with_records()),
            Prim::Environment | Prim::WithEnvironment => {
                return Err(Unwritable("it looks at what functions have captured".to_string()));
            }
            Prim::ReadVector | Prim::ReadMatrix | Prim::WriteByte | Prim::WriteDouble => {
                return Err(Unwritable("it reads or writes step by step".to_string()));
            }
            _ => Term::Prim(prim, named(self)),
        })
    }
}

fn literal(constant: &Const) -> Result<Term, Unwritable> {
    Ok(match constant {
        Const::Nil => Term::Nil,
        Const::Bool(value) => Term::Bool(*value),
        Const::Real(number) => Term::Number(*number),
        Const::Str(text) => Term::Text(text.clone()),
        Const::Nothing => return Err(Unwritable("it hands sums on".to_string())),
        Const::Record(_) => return Err(with_records()),
    })
}

fn with_records() -> Unwritable {
    Unwritable("it makes records or takes them apart".to_string())
}

/// A top-level name as a program can write it.
fn visible(name: &str) -> Result<Term, Unwritable> {
    match name {
        "%max/2" => Ok(Term::Global(Rc::from("max"))),
        "%min/2" => Ok(Term::Global(Rc::from("min"))),
        "%map/2" => Ok(Term::Global(Rc::from("map"))),
        _ if name.starts_with('%') => Err(Unwritable(format!("it calls `{name}`, which only the library can name"))),
        _ => Ok(Term::Global(Rc::from(name))),
    }
}

/// A λ and all λs in it, each after those in it.
fn nested(program: &Program, lambda: LambdaId) -> Vec<LambdaId> {
    let mut seen: FxHashSet<LambdaId> = FxHashSet::default();
    let (mut found, mut work) = (Vec::new(), vec![(lambda, false)]);
    while let Some((lambda, done)) = work.pop() {
        if done {
            found.push(lambda);
        } else if seen.insert(lambda) {
            work.push((lambda, true));
            let inner = program.lambdas[lambda].body.closures();
            work.extend(inner.into_iter().rev().map(|lambda| (lambda, false)));
        }
    }
    found
}

/// At how many places in a λ and all λs in it a closure of each function is made.
fn places(program: &Program, lambda: LambdaId) -> FxHashMap<LambdaId, usize> {
    let mut places = FxHashMap::default();
    for lambda in nested(program, lambda) {
        let made = program.lambdas[lambda].body.closures();
        made.into_iter().for_each(|made| *places.entry(made).or_default() += 1);
    }
    places
}

/// The variables of a λ and all λs in it that hold transformed closures and do something else than being called.
fn escaping(program: &Program, lambda: LambdaId) -> FxHashSet<Var> {
    let mut closures: Vec<(Var, LambdaId)> = Vec::new();
    let mut used: FxHashSet<Var> = FxHashSet::default();
    for lambda in nested(program, lambda) {
        uses(&program.lambdas[lambda].body, &mut closures, &mut used);
    }
    closures.retain(|(_, lambda)| matches!(program.lambdas[*lambda].origin, Origin::Reverse(_)));
    // What an escaping function has captured must be a transform, too.
    loop {
        let before = used.len();
        for (var, lambda) in &closures {
            if used.contains(var) {
                used.extend(&program.lambdas[*lambda].captures);
            }
        }
        if used.len() == before {
            break;
        }
    }
    closures.into_iter().map(|closure| closure.0).filter(|var| used.contains(var)).collect()
}

/// The closures that a body makes, and the variables that it uses otherwise than to call them.
fn uses(body: &Body, closures: &mut Vec<(Var, LambdaId)>, used: &mut FxHashSet<Var>) {
    used.insert(body.result);
    for binding in &body.bindings {
        match &binding.rhs {
            Rhs::Closure(lambda, _) => closures.push((binding.var, *lambda)),
            Rhs::Apply(_, argument) => {
                used.insert(*argument);
            }
            Rhs::Prim(_, operands) | Rhs::Lifted(_, _, operands) => used.extend(operands),
            Rhs::Var(y) | Rhs::Destructure(_, y) => {
                used.insert(*y);
            }
            Rhs::If(condition, yes, no) => {
                used.insert(*condition);
                uses(yes, closures, used);
                uses(no, closures, used);
            }
            Rhs::Const(_) | Rhs::Global(_) => {}
        }
    }
}
