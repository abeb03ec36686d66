//! Derivative transformations of code: core λ → core λ, once per λ.

mod code;

mod forward;

mod reverse;

mod rules;

mod series;

pub mod tower;

use crate::core::ir::{LambdaId, Origin, Program, Var};
use rustc_hash::FxHashMap;
use tower::{Tower, Transformation};

/// Which λs and variables have been transformed so far.
///
/// Transforming a λ appends its transform to the program; asking again gives the same one. A transform is a λ like any
/// other and can be transformed again, in the same way or in another: that is the next order.
#[derive(Clone, Debug, Default)]
pub struct Transforms {
    reversed: Transformed,
    forwarded: Transformed,
    series: Transformed,
}

/// What one transformation has made so far.
#[derive(Clone, Debug, Default)]
struct Transformed {
    lambdas: FxHashMap<LambdaId, LambdaId>,
    /// ↼x, ⇀x or x̂ for each variable x of a transformed λ. The same for every λ that captures x, so that `closure ↼λ` finds
    /// its captures under the names that they have where it stands.
    vars: FxHashMap<Var, Var>,
}

impl Transforms {
    /// Nothing transformed yet.
    pub fn new() -> Transforms {
        Transforms::default()
    }

    /// The transform of a λ, ↼λ, ⇀λ or λ̂: the one that [the library gives](Program::given), or else derived. See
    /// [`reverse`], [`forward`] and [`series`] for their form.
    pub fn apply(&mut self, program: &mut Program, transformation: Transformation, lambda: LambdaId) -> LambdaId {
        match transformation {
            Transformation::Reverse => reverse::reverse(self, program, lambda),
            Transformation::Forward => forward::forward(self, program, lambda),
            Transformation::Series => series::series(self, program, lambda),
        }
    }

    /// The λ that all transformations of a tower make of `base`.
    pub fn raise(&mut self, program: &mut Program, base: LambdaId, tower: Tower) -> LambdaId {
        let transformations = tower.transformations().into_iter();
        transformations.fold(base, |lambda, transformation| self.apply(program, transformation, lambda))
    }
}

/// The λ that `lambda` is a transform of, if it is one, and how it was transformed.
pub fn transformed_from(program: &Program, lambda: LambdaId) -> Option<(Transformation, LambdaId)> {
    match program.lambdas[lambda].origin {
        Origin::Reverse(of) => Some((Transformation::Reverse, of)),
        Origin::Forward(of) => Some((Transformation::Forward, of)),
        Origin::Series(of) => Some((Transformation::Series, of)),
        Origin::Source | Origin::Primitive(_) | Origin::Backpropagator(..) => None,
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
