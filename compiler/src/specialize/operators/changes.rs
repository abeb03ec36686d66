//! Vectors that are filled element by element, and vectors with another element: `%fill` and `%with-element`.
//!
//! Both are stores to SSA ([`Op::WithElement`]), which are done in place where the vector has one owner. A vector that
//! is to hold values of more shapes than before is converted first; in a loop that happens before the first round.

use super::vector::Elements;
use crate::core::prim::Prim;
use crate::shape::lattice::{Class, Head, Shape};
use crate::specialize::Specializer;
use crate::specialize::emit::{Emitted, Emitter, Val};
use crate::ssa::ir::{Int2, IntCompare, Op, Terminator, Type};

impl Specializer<'_> {
    /// `(%fill beginning element)`.
    pub(in crate::specialize) fn fill(&mut self, e: &mut Emitter, args: &[Val], result: Shape) -> Emitted<Val> {
        self.beginning(e, Prim::Fill, &args[0], result, |this, e, beginning| {
            let tag = this.tag_of(result, Class::Beginning)?;
            let shape = this.flow.shapes.alternatives(result)[tag].children[0];
            let place = beginning.count();
            // The library keeps this law; a mistake there must not write elsewhere.
            let fits = e.value(Op::IntCompare(IntCompare::Below), &[place, beginning.length], Type::Bool);
            this.demand(e, fits, |_, e| {
                e.terminate(Terminator::Unreachable);
                None
            });
            let vector = this.convert_elements(e, beginning, shape);
            let element = this.convert(e, &args[1], shape)?;
            let vector = this.with_element(e, vector, place, &element);
            let one = e.int(1);
            let filled = e.value(Op::Int2(Int2::Add), &[place, one], Type::Int);
            let vector = Elements { filled: Some(filled), ..vector };
            Some(this.build(e, result, tag, vector.leaves()))
        })
    }

    /// Runs `each` on the beginning of a vector.
    pub(in crate::specialize) fn beginning(
        &mut self,
        e: &mut Emitter,
        prim: Prim,
        value: &Val,
        result: Shape,
        mut each: impl FnMut(&mut Self, &mut Emitter, Elements) -> Emitted<Val>,
    ) -> Emitted<Val> {
        self.dispatch(e, value, result, |this, e, parts| match parts.alternative.head {
            Head::Beginning => each(this, e, Elements::of(&parts)),
            head => this.not_a_vector(e, prim, head),
        })
    }

    /// `(%with-element vector index element)`.
    pub(in crate::specialize) fn with_changed_element(
        &mut self,
        e: &mut Emitter,
        args: &[Val],
        result: Shape,
    ) -> Emitted<Val> {
        let vector = self.dense(e, &args[0])?;
        self.dispatch(e, &vector, result, |this, e, parts| {
            let (Head::Vector, Some(tag)) = (parts.alternative.head, this.tag_of(result, Class::Vector)) else {
                return this.not_a_vector(e, Prim::VectorRef, parts.alternative.head);
            };
            let shape = this.flow.shapes.alternatives(result)[tag].children[0];
            let vector = Elements::of(&parts);
            let place = this.place_of(e, Prim::VectorRef, &args[1], vector.length)?;
            let vector = this.convert_elements(e, vector, shape);
            let element = this.convert(e, &args[2], shape)?;
            let vector = this.with_element(e, vector, place, &element);
            Some(this.build(e, result, tag, vector.leaves()))
        })
    }
}
