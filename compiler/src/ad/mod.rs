//! Derivative transformations of code: core λ → core λ, once per λ and order.

mod reverse;

mod rules;

use crate::core::ir::{LambdaId, Origin, Program, Var};
use rustc_hash::FxHashMap;

/// Which λs and variables have been transformed so far.
///
/// Transforming a λ appends its transform to the program; asking again gives the same one. A transform is a λ like any
/// other and can be transformed again: that is the next order.
#[derive(Clone, Debug, Default)]
pub struct Transforms {
    reversed: FxHashMap<LambdaId, LambdaId>,
    /// ↼x for each variable x of a transformed λ. The same for every λ that captures x, so that `closure ↼λ` finds its
    /// captures under the names that they have where it stands.
    reversed_vars: FxHashMap<Var, Var>,
}

impl Transforms {
    /// Nothing transformed yet.
    pub fn new() -> Transforms {
        Transforms::default()
    }

    /// The reverse transform ↼λ of a λ: the one that [the library gives](Program::given_reverse), or else derived. See
    /// [`reverse`] for its form.
    pub fn reverse(&mut self, program: &mut Program, lambda: LambdaId) -> LambdaId {
        reverse::reverse(self, program, lambda)
    }

    /// The λ that `lambda` is the reverse transform of, if it is one.
    pub fn reverse_inverse(program: &Program, lambda: LambdaId) -> Option<LambdaId> {
        match program.lambdas[lambda].origin {
            Origin::Reverse(of) => Some(of),
            Origin::Source | Origin::Primitive(_) | Origin::Backpropagator(..) => None,
        }
    }
}

/// A λ as the transform of another: the λ at the start of that chain and the number of reverse transforms.
///
/// Ordering λs by this pair gives an order that transformation preserves.
pub fn base_and_order(program: &Program, lambda: LambdaId) -> (LambdaId, u32) {
    let (mut base, mut order) = (lambda, 0);
    while let Some(of) = Transforms::reverse_inverse(program, base) {
        (base, order) = (of, order + 1);
    }
    (base, order)
}
