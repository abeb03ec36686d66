//! Conversion of a value to a shape that covers its own: known numbers become constants, alternatives get a tag, data
//! that join a recursive shape are boxed.
//!
//! Between two boxed shapes a conversion is a function of its own, made on demand, which may call itself. So is that of
//! a large constant, such as the zero of a closure whose captures share what they capture: in place, each occurrence of
//! a shared part would be made anew.

use super::dispatch::Among;
use super::emit::{Emitted, Emitter, Parts, Val};
use super::helper::Helper;
use crate::shape::lattice::{Class, Fact, Head, Shape};
use crate::specialize::Specializer;
use crate::specialize::operators::vector::Elements;
use crate::specialize::operators::zeros;
use crate::ssa::ir::Type;
use crate::ssa::ir::Value;

impl Specializer<'_> {
    /// The value as one of shape `target`. `None` where that shape has no alternative for it, which no execution
    /// reaches.
    pub fn convert(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        if value.shape == target {
            return Some(value.clone());
        }
        let is_wide = self.is_large(value.shape) || value.leaves.is_empty() && self.has_many_parts(value.shape);
        if is_wide && self.is_large(target) || self.changes_large(value.shape, target) {
            return Some(self.call_helper(e, Helper::Convert(value.shape, target), &[value], target));
        }
        self.convert_unfolded(e, value, target)
    }

    /// [`convert`](Self::convert), alternative by alternative.
    pub fn convert_unfolded(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        let is_single = self.flow.shapes.single(value.shape).is_some();
        let among = Among { tags: self.common_alternatives(value.shape, target), others: None };
        self.dispatch_among(e, value, &among, target, |this, e, parts| this.convert_parts(e, parts, is_single, target))
    }

    /// The positions of the alternatives that `target` has, too: what the value is. Where a wide sum meets a narrow
    /// one, no more than the narrow one is looked through.
    fn common_alternatives(&self, shape: Shape, target: Shape) -> Vec<usize> {
        let shapes = &self.flow.shapes;
        let (own, wanted) = (shapes.alternatives(shape), shapes.alternatives(target));
        if own.len() <= wanted.len() {
            return (0..own.len()).filter(|tag| shapes.position(target, own[*tag].head.class()).is_some()).collect();
        }
        let mut tags: Vec<usize> =
            wanted.iter().filter_map(|alternative| shapes.position(shape, alternative.head.class())).collect();
        tags.sort_unstable();
        tags
    }

    /// The conversion of one alternative, which is the only one of its shape or not.
    fn convert_parts(&mut self, e: &mut Emitter, parts: Parts, is_single: bool, target: Shape) -> Emitted<Val> {
        let Some(tag) = self.tag_of(target, parts.alternative.head.class()) else {
            e.terminate(crate::ssa::ir::Terminator::Unreachable);
            return None;
        };
        let wide = self.flow.shapes.alternatives(target)[tag].clone();
        if parts.alternative.head.holds_elements() {
            if !is_single {
                let vector = self.single(e, parts.clone());
                if self.changes_large(vector.shape, target) {
                    return self.convert(e, &vector, target);
                }
            }
            let vector = self.convert_elements(e, Elements::of(&parts), wide.children[0]);
            return Some(self.build(e, target, tag, vector.leaves()));
        }
        let mut leaves: Vec<Value> = Vec::new();
        if wide.children.is_empty() {
            leaves.extend(own_leaf(self, e, parts.alternative.head, parts.own, wide.head));
        }
        if let Head::OneHot(_) = wide.head {
            let base = self.convert_base(e, &parts, wide.children[0]);
            return self.convert_one_hot(e, &parts, base, target, tag);
        }
        if let (Head::ZeroOf(_), [primal]) = (wide.head, &parts.children[..])
            && self.flow.shapes.is_zero_of_own_zero(primal.shape, wide.children[0])
        {
            let zero = self.flow.shapes.make(wide.head, &[primal.shape]);
            let zero = self.build(e, zero, 0, primal.leaves.clone());
            let zero = self.convert(e, &zero, wide.children[0])?;
            return Some(self.build(e, target, tag, zero.leaves));
        }
        for (child, shape) in parts.children.iter().zip(wide.children.iter()) {
            leaves.extend(self.convert(e, child, *shape)?.leaves);
        }
        Some(self.build(e, target, tag, leaves))
    }

    /// Whether a conversion changes all elements of a vector, which are large.
    fn changes_large(&mut self, shape: Shape, target: Shape) -> bool {
        if !self.holds_large(shape) {
            return false;
        }
        let wide = self.flow.shapes.find(target, Class::Vector);
        let elements = self.flow.shapes.single(shape).map(|vector| vector.children[0]);
        elements.zip(wide).is_some_and(|(from, to)| !self.same_leaves(from, to.children[0]))
    }

    /// The number that a real alternative stands for.
    pub fn number(&mut self, e: &mut Emitter, head: Head, own: Option<Value>) -> Value {
        match (head, own) {
            (Head::Real(Fact::PerhapsZero), Some(value)) => zeros::number(e, value),
            (_, Some(value)) => value,
            (Head::Real(fact), None) => e.real(fact.number().unwrap_or(f64::NAN)),
            _ => e.real(f64::NAN),
        }
    }
}

/// The leaf that an alternative of head `wide` has for a value of head `head`, if it has one.
fn own_leaf(this: &mut Specializer<'_>, e: &mut Emitter, head: Head, own: Option<Value>, wide: Head) -> Option<Value> {
    match (wide, head) {
        (Head::Real(Fact::Unknown), _) => Some(this.number(e, head, own)),
        (Head::Real(Fact::PerhapsZero), Head::Real(Fact::PerhapsZero)) => own,
        (Head::Real(Fact::PerhapsZero), Head::Real(Fact::Zero)) => Some(zeros::symbolic(e)),
        (Head::Real(Fact::PerhapsZero), _) => Some(this.number(e, head, own)),
        (Head::Bool(None), Head::Bool(Some(known))) => Some(e.boolean(known)),
        (Head::Text(None), Head::Text(Some(number))) => Some(e.int(i64::from(number))),
        (Head::Bool(None) | Head::Text(None), _) => own,
        _ => None,
    }
}

/// The parameter types of a helper that takes values of these shapes.
pub fn parameter_types(this: &mut Specializer<'_>, shapes: &[Shape]) -> Vec<Type> {
    let mut types = Vec::new();
    for shape in shapes {
        types.extend_from_slice(&this.leaves(*shape));
    }
    types
}
