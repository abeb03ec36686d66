//! Applications of functions.

use super::Specializer;
use super::emit::{Emitted, Emitter, Val};
use crate::core::errors::RuntimeError;
use crate::core::ir::Var;
use crate::core::prim::Prim;
use crate::flow::analysis::Facts;
use crate::shape::lattice::{Head, Shape, Shapes};
use crate::specialize::errors::certain::Event;
use crate::ssa::ir::{BlockId, Terminator};

/// How a function is called.
#[derive(Clone, Copy)]
pub(super) struct Calls {
    /// The variable beside which the analysis has noted which variants are called.
    pub noted: Var,
    /// The form of the function that is called instead.
    pub form: Option<Prim>,
    /// Where control goes when the call fails: a block with the message and the value of the error as parameters.
    pub catches: Option<BlockId>,
}

impl Specializer<'_> {
    /// Applies a function to an argument: a call of each variant that it may be.
    pub(super) fn apply(
        &mut self,
        e: &mut Emitter,
        calls: Calls,
        function: &Val,
        argument: &Val,
        shape: Shape,
        facts: &Facts,
    ) -> Emitted<Val> {
        let Calls { noted, form, catches } = calls;
        let function = self.unfold_zeros(e, function)?;
        self.dispatch(e, &function, shape, |this, e, parts| {
            let Head::Closure(code, _) = parts.alternative.head else {
                let error = RuntimeError::NotAProcedure { found: this.found(parts.alternative.head) };
                return this.fail(e, &error);
            };
            let code = form.map_or(code, |form| this.form_of_code(code, form));
            let Some(variant) = facts.calls.get(&(noted, code.lambda)).copied() else {
                e.terminate(Terminator::Unreachable);
                return None;
            };
            let blame = this.blame_of_call(e, code, variant, argument.shape);
            let projection = this.projection(variant, blame);
            let key = this.flow.variants[variant].key.clone();
            let (closure, wanted) = this.signature(variant);
            let mut args = if function.shape == closure {
                function.leaves.clone()
            } else {
                let mut leaves = Vec::new();
                for (value, wanted) in parts.children.iter().zip(key.args.iter()) {
                    leaves.extend(this.convert(e, value, *wanted)?.leaves);
                }
                this.build(e, closure, 0, leaves).leaves
            };
            // Without sums to add to, the analysis calls the plain form with the sensitivity.
            let sensitivity = (key.lambda != code.lambda).then(|| this.parts(e, argument, 0).children.swap_remove(0));
            args.extend(this.convert(e, sensitivity.as_ref().unwrap_or(argument), wanted)?.leaves);
            let result = this.flow.variants[variant].result;
            if let Some(projection) = projection {
                let leaves = projection.apply(e, &args);
                return this.convert(e, &Val { shape: result, leaves }, shape);
            }
            let callee = this.function(variant, blame);
            let types = this.leaves(result);
            if let Some(handler) = catches {
                let leaves = this.call_and_catch(e, callee, &args, handler);
                if result == Shapes::BOTTOM {
                    e.terminate(Terminator::Unreachable);
                    return None;
                }
                return this.convert(e, &Val { shape: result, leaves }, shape);
            }
            if e.depth == 0 {
                // What is called last has no caller any more.
                let call = e.place().filter(|_| !e.is_endless_tail);
                this.events.push(Event::Call(callee, call));
            }
            if result == Shapes::BOTTOM && e.is_endless_tail {
                // A loop that runs for ever. No optimisation would see that this is a tail call: nothing returns after
                // it.
                e.terminate(Terminator::TailCall(callee, args));
                return None;
            }
            let leaves = e.call(callee, &args, &types);
            if result == Shapes::BOTTOM {
                e.terminate(Terminator::Unreachable);
                return None;
            }
            this.convert(e, &Val { shape: result, leaves }, shape)
        })
    }
}
