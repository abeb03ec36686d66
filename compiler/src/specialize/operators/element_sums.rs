//! Elements of sums on run-time values: they are taken out of the sum of a vector, handed on, and put back.
//!
//! What is put back into a vector is settled. What closures in data share is not: its sum is a table, and the parts in
//! that may be tables again.
//!
//! Nothing is moved here. That nobody looks at a place between `take-element` and `put-element` is what the transform
//! sees to, and what later lets the element be changed in place.

use super::vector::Elements;
use crate::core::prim::Prim;
use crate::shape::lattice::{Class, Head, Shape};
use crate::shape::vector::{Places, has_one_place};
use crate::specialize::Specializer;
use crate::specialize::emit::{Emitted, Emitter, Parts, Val};
use crate::ssa::ir::{Op, Terminator, Type, Value};

impl Specializer<'_> {
    /// `(take-element sum index)`. The index has been checked.
    pub fn take_element(&mut self, e: &mut Emitter, args: &[Val], result: Shape) -> Emitted<Val> {
        let place = self.checked_place(e, &args[1])?;
        self.dispatch(e, &args[0], result, |this, e, parts| {
            if !this.flow.shapes.gives_elements(&parts.alternative) {
                let nothing = Val { shape: this.flow.shapes.make(Head::Nothing, &[]), leaves: Vec::new() };
                return this.convert(e, &nothing, result);
            }
            let sum = this.single(e, parts);
            this.element_at(e, &sum, place, false, result)
        })
    }

    /// `(put-element sum index element)`. The index has been checked.
    pub fn put_element(&mut self, e: &mut Emitter, args: &[Val], result: Shape) -> Emitted<Val> {
        let place = self.checked_place(e, &args[1])?;
        let one_hot = self.dense_part(e, &args[2])?;
        self.dispatch(e, &args[0], result, |this, e, parts| {
            if parts.alternative.head == Head::Nothing {
                return this.convert(e, &one_hot, result);
            }
            if !this.flow.shapes.gives_elements(&parts.alternative) {
                let sum = this.single(e, parts);
                return this.plus(e, &sum, &one_hot, result);
            }
            let shape = this.flow.shapes.hot_element(one_hot.shape);
            let element = this.hot_element(e, &one_hot, place, shape)?;
            this.replace_element(e, &parts, place, &element, result)
        })
    }

    /// The index of an element, as a number of elements before it.
    pub(in crate::specialize) fn checked_place(&mut self, e: &mut Emitter, index: &Val) -> Emitted<Value> {
        let number = self.real_operand(e, Prim::VectorRef, 1, index)?;
        Some(e.value(Op::IntOf, &[number], Type::Int))
    }

    /// A one-hot vector with a vector as its part if that is one-hot or a folded zero.
    fn dense_part(&mut self, e: &mut Emitter, one_hot: &Val) -> Emitted<Val> {
        let shape = self.flow.shapes.dense_part(one_hot.shape);
        if shape == one_hot.shape {
            return Some(one_hot.clone());
        }
        let parts = self.parts(e, one_hot, 0);
        let part = self.settled(e, &parts.children[0])?;
        let wide = self.flow.shapes.alternatives(shape)[0].children.clone();
        let part = self.convert(e, &part, wide[1])?;
        let base = self.convert_base(e, &parts, wide[0]);
        let leaves = parts.own.into_iter().chain(parts.place).chain(base).chain(part.leaves).collect();
        Some(self.build(e, shape, 0, leaves))
    }

    /// The element of a one-hot vector that is no zero.
    fn hot_element(&mut self, e: &mut Emitter, one_hot: &Val, place: Value, shape: Shape) -> Emitted<Val> {
        match self.flow.shapes.single(one_hot.shape) {
            Some(alternative) if has_one_place(alternative.head) => {
                let parts = self.parts(e, one_hot, 0);
                Some(parts.children[0].clone())
            }
            _ => self.element_at(e, one_hot, place, false, shape),
        }
    }

    /// A vector with another element at a place.
    fn replace_element(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        place: Value,
        element: &Val,
        result: Shape,
    ) -> Emitted<Val> {
        if matches!(parts.alternative.head, Head::OneHot(Places { is_of_data: true, .. })) {
            return self.replace_part(e, parts, place, element, result);
        }
        let Some(tag) = self.tag_of(result, Class::Vector) else {
            e.terminate(Terminator::Unreachable);
            return None;
        };
        let shape = self.flow.shapes.alternatives(result)[tag].children[0];
        let vector = match parts.alternative.head {
            Head::Vector => self.settled_elements(e, Elements::of(parts), shape),
            Head::OneHot(_) => self.dense_elements(e, parts, shape)?,
            _ => {
                e.terminate(Terminator::Unreachable);
                return None;
            }
        };
        let element = self.settled_element(e, element, shape)?;
        let vector = self.with_element(e, vector, place, &element);
        Some(self.build(e, result, tag, vector.leaves()))
    }
}
