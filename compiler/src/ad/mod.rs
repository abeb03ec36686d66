//! Derivative transformations of code: core λ → core λ, once per λ.

mod adding;

mod code;

mod directions;

mod forward;

mod reverse;

mod rules;

mod series;

pub mod tower;

pub use adding::{adding, plain, plain_without_sums};

use crate::base::entity::Entity;
use crate::core::ir::{Body, Const, Lambda, LambdaId, Origin, Program, Rhs, Var};
use crate::core::prim::Prim;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use tower::{Tower, Transformation};

/// Which λs and variables have been transformed so far.
///
/// Transforming a λ appends its transform to the program; asking again gives the same one. A transform is a λ like any
/// other and can be transformed again, in the same way or in another: that is the next order.
#[derive(Clone, Debug, Default)]
pub struct Transforms {
    lambdas: FxHashMap<(Transformation, LambdaId), LambdaId>,
    /// ↼x, ⇀x, x̂ or ⇶x for each variable x of a transformed λ. The same for every λ that captures x, so that `closure
    /// ↼λ` finds its captures under the names that they have where it stands.
    /// There are about as many as variables, so each transformation has a table by the numbers of these.
    vars: [Vec<Option<Var>>; 4],
    /// The λs that have no body yet.
    incomplete: FxHashSet<LambdaId>,
    /// Backpropagators hand no sums on: what they return is added where they are called, as in the papers.
    textbook: bool,
}

impl Transforms {
    /// Nothing transformed yet.
    pub fn new() -> Transforms {
        Transforms::default()
    }

    /// Nothing transformed yet; transforms are for readers, and look as in the papers.
    pub fn textbook() -> Transforms {
        Transforms { textbook: true, ..Transforms::default() }
    }

    /// The transform of a λ, ↼λ, ⇀λ, λ̂ or ⇶λ: the one that [the library gives](Program::given), or else derived. Its
    /// parameter and captures are the transformed ones. Its body is made when somebody [asks for it](Self::complete):
    /// most functions that a program makes of others are never called, least of all those of higher orders.
    pub fn declare(&mut self, program: &mut Program, transformation: Transformation, lambda: LambdaId) -> LambdaId {
        let given = program.given.get(&lambda).map(|given| match transformation {
            Transformation::Reverse => given.reverse,
            Transformation::Forward => given.forward,
            Transformation::Series => given.series,
            Transformation::Directions => given.directions,
        });
        if let Some(done) = given.or_else(|| self.lambdas.get(&(transformation, lambda)).copied()) {
            return done;
        }
        let Lambda { name, span, param, captures, .. } = program.lambdas[lambda].clone();
        let name = Rc::from(marked(transformation, &name));
        let body = Body { bindings: Vec::new(), result: param };
        let origin = origin(transformation, lambda);
        // Known before its captures are: a function that refers to itself refers to its transform there.
        let id = program.lambdas.push(Lambda { name, span, origin, param, captures: Vec::new(), body });
        self.lambdas.insert((transformation, lambda), id);
        self.incomplete.insert(id);
        let captures = captures.iter().map(|x| self.variable(program, transformation, *x)).collect();
        let param = self.variable(program, transformation, param);
        let transformed = &mut program.lambdas[id];
        (transformed.captures, transformed.param, transformed.body.result) = (captures, param, param);
        id
    }

    /// Makes the body of a λ that was [declared](Self::declare), if it has none yet. See [`reverse`], [`forward`],
    /// [`series`] and [`directions`] for its form.
    pub fn complete(&mut self, program: &mut Program, lambda: LambdaId) {
        if !self.incomplete.remove(&lambda) {
            return;
        }
        let (transformation, of) = transformed_from(program, lambda).expect("only transforms are declared");
        self.complete(program, of);
        let mut body = match transformation {
            Transformation::Reverse => reverse::body(self, program, of),
            Transformation::Forward => forward::body(self, program, of),
            Transformation::Series => series::body(self, program, of),
            Transformation::Directions => directions::body(self, program, of),
        };
        code::prune(&mut body);
        program.lambdas[lambda].body = body;
    }

    /// The transform of a λ, with the bodies of all closures that it may make.
    pub fn apply(&mut self, program: &mut Program, transformation: Transformation, lambda: LambdaId) -> LambdaId {
        let transform = self.declare(program, transformation, lambda);
        let (mut made, mut work) = (FxHashSet::default(), vec![transform]);
        while let Some(lambda) = work.pop() {
            if made.insert(lambda) {
                self.complete(program, lambda);
                work.extend(program.lambdas[lambda].body.closures());
            }
        }
        transform
    }

    /// ↼x, ⇀x, x̂ or ⇶x.
    pub fn variable(&mut self, program: &mut Program, transformation: Transformation, x: Var) -> Var {
        let table = transformation as usize;
        if let Some(Some(var)) = self.vars[table].get(x.index()) {
            return *var;
        }
        let info = program.vars[x].clone();
        let var = program.new_var(&marked(transformation, &info.name), info.span);
        let transformed = info.environment_of.map(|lambda| self.declare(program, transformation, lambda));
        program.vars[var].environment_of = transformed;
        program.vars[var].is_of_derivative = info.is_of_derivative;
        program.vars[var].copied = info.copied;
        let known = &mut self.vars[table];
        if known.len() <= x.index() {
            known.resize(program.vars.len(), None);
        }
        known[x.index()] = Some(var);
        var
    }

    /// The λ that all transformations of a tower make of `base`, declared.
    pub fn raise(&mut self, program: &mut Program, base: LambdaId, tower: Tower) -> LambdaId {
        let transformations = tower.transformations().into_iter();
        transformations.fold(base, |lambda, transformation| self.declare(program, transformation, lambda))
    }
}

/// The body of a λ that is to be transformed. In what becomes of it, `%transformed?` is true.
fn source(program: &Program, lambda: LambdaId) -> Body {
    let mut body = program.lambdas[lambda].body.clone();
    is_transformed(&mut body);
    body
}

fn is_transformed(body: &mut Body) {
    for binding in &mut body.bindings {
        match &mut binding.rhs {
            Rhs::Prim(Prim::IsTransformed, _) => binding.rhs = Rhs::Const(Const::Bool(true)),
            Rhs::If(_, then, other) => {
                is_transformed(then);
                is_transformed(other);
            }
            _ => {}
        }
    }
}

/// The name of what a transformation makes of something with a name.
fn marked(transformation: Transformation, name: &str) -> String {
    match transformation {
        Transformation::Reverse => format!("↼{name}"),
        Transformation::Forward => format!("⇀{name}"),
        Transformation::Series => format!("{name}\u{302}"),
        Transformation::Directions => format!("⇶{name}"),
    }
}

fn origin(transformation: Transformation, lambda: LambdaId) -> Origin {
    match transformation {
        Transformation::Reverse => Origin::Reverse(lambda),
        Transformation::Forward => Origin::Forward(lambda),
        Transformation::Series => Origin::Series(lambda),
        Transformation::Directions => Origin::Directions(lambda),
    }
}

/// The λ that `lambda` is a transform of, if it is one, and how it was transformed.
pub fn transformed_from(program: &Program, lambda: LambdaId) -> Option<(Transformation, LambdaId)> {
    match program.lambdas[lambda].origin {
        Origin::Reverse(of) => Some((Transformation::Reverse, of)),
        Origin::Forward(of) => Some((Transformation::Forward, of)),
        Origin::Series(of) => Some((Transformation::Series, of)),
        Origin::Directions(of) => Some((Transformation::Directions, of)),
        Origin::Source | Origin::Primitive(_) | Origin::Backpropagator(..) | Origin::Adding(_) => None,
    }
}

/// A λ as the transform of another: the λ at the start of that chain, and the transformations.
pub fn base_and_tower(program: &Program, lambda: LambdaId) -> (LambdaId, Tower) {
    let (mut base, mut transformations) = (lambda, Vec::new());
    while let Some((transformation, of)) = transformed_from(program, base) {
        transformations.push(transformation);
        base = of;
    }
    (base, transformations.into_iter().rev().fold(Tower::EMPTY, Tower::push))
}
