//! The derivative operators on run-time values: `zero`, `plus`, `*j`, `*j-inverse`.
//!
//! `*j` and `*j-inverse` cost nothing: they keep the leaves. `zero` of a recursive value keeps it folded
//! ([`Head::ZeroOf`]). `plus` of recursive values is a function of its own, made on demand.

use super::emit::{Emitted, Emitter, Parts, Val, reached};
use super::layout::TooLarge;
use super::{Helper, Specializer, zeros};
use crate::ad::tower::{Tower, Transformation};
use crate::ad::{base_and_tower, transformed_from};
use crate::core::errors::RuntimeError;
use crate::core::prim::Prim;
use crate::flow::algebra::sum_head;
use crate::flow::shape::{Class, Code, Fact, Head, Shape};
use crate::ssa::ir::{Op, Real2, Terminator, Type, Value};
use rustc_hash::FxHashSet;

impl Specializer<'_> {
    /// The position of the alternative of that class.
    pub fn tag_of(&self, shape: Shape, class: Class) -> Option<usize> {
        self.flow.shapes.alternatives(shape).iter().position(|a| a.head.class() == class)
    }

    /// `(zero value)`, as a value of shape `target`.
    pub fn zero(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        // Closures that share what they capture have more paths than parts: nothing to walk when the shape says it all.
        if self.leaves(target)?.is_empty() {
            return Ok(Some(Val { shape: target, leaves: Vec::new() }));
        }
        if self.flow.shapes.is_recursive(value.shape) {
            let zero = self.flow.shapes.make(Head::ZeroOf, &[value.shape]);
            let folded = self.build(e, zero, 0, value.leaves.clone())?;
            return self.convert(e, &folded, target);
        }
        self.zero_unfolded(e, value, target)
    }

    /// `(zero value)` with its outermost level unfolded.
    fn zero_unfolded(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            let shapes = &mut this.flow.shapes;
            let zero = match parts.alternative.head {
                Head::Nil | Head::Bool(_) | Head::Text(_) => Val { shape: shapes.nil(), leaves: Vec::new() },
                Head::Real(_) => Val { shape: shapes.real(Fact::Zero), leaves: Vec::new() },
                Head::ZeroOf => {
                    let shape = shapes.make(Head::ZeroOf, &[parts.children[0].shape]);
                    Val { shape, leaves: parts.children[0].leaves.clone() }
                }
                Head::Reverse | Head::Pair(_) => {
                    let zeros = reached!(this.zeros(e, &parts.children));
                    let shapes: Vec<Shape> = zeros.iter().map(|zero| zero.shape).collect();
                    let shape = this.flow.shapes.make(parts.alternative.head, &shapes);
                    Val { shape, leaves: zeros.into_iter().flat_map(|zero| zero.leaves).collect() }
                }
                Head::Closure(code) => {
                    let zeros = reached!(this.zeros(e, &parts.children));
                    let shapes: Vec<Shape> = zeros.iter().map(|zero| zero.shape).collect();
                    let shape = this.flow.shapes.environment(code, &shapes);
                    Val { shape, leaves: zeros.into_iter().flat_map(|zero| zero.leaves).collect() }
                }
            };
            this.convert(e, &zero, target)
        })
    }

    fn zeros(&mut self, e: &mut Emitter, values: &[Val]) -> Emitted<Vec<Val>> {
        let mut zeros = Vec::with_capacity(values.len());
        for value in values {
            let shape = self.flow.shapes.zero(value.shape);
            zeros.push(reached!(self.zero(e, value, shape)));
        }
        Ok(Some(zeros))
    }

    /// The value with a folded zero at its top unfolded by one level.
    pub fn unfold_zeros(&mut self, e: &mut Emitter, value: &Val) -> Emitted<Val> {
        if self.tag_of(value.shape, Class::ZeroOf).is_none() {
            return Ok(Some(value.clone()));
        }
        let target = self.flow.shapes.unfold_zeros(value.shape);
        self.unfold_zeros_to(e, value, target)
    }

    /// [`unfold_zeros`](Self::unfold_zeros), to a shape that covers the result. A zero whose primal may be a folded zero
    /// itself is unfolded by a function that can call itself.
    pub fn unfold_zeros_to(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            if parts.alternative.head != Head::ZeroOf {
                let value = this.single(e, parts)?;
                return this.convert(e, &value, target);
            }
            let zero = this.flow.shapes.zero_unfolded(parts.children[0].shape);
            let zero = reached!(this.zero_unfolded(e, &parts.children[0], zero));
            if this.tag_of(zero.shape, Class::ZeroOf).is_none() {
                return this.convert(e, &zero, target);
            }
            let helper = this.helper(Helper::UnfoldZeros(zero.shape, target))?;
            let types = this.leaves(target)?;
            Ok(Some(Val { shape: target, leaves: e.call(helper, &zero.leaves, &types) }))
        })
    }

    /// The value of the single alternative that has been taken apart.
    pub fn single(&mut self, e: &mut Emitter, parts: Parts) -> Result<Val, TooLarge> {
        let shape = self.flow.shapes.make(parts.alternative.head, &parts.alternative.children);
        let leaves: Vec<Value> =
            parts.own.into_iter().chain(parts.children.into_iter().flat_map(|child| child.leaves)).collect();
        self.build(e, shape, 0, leaves)
    }

    /// `(plus a b)`, as a value of shape `target`.
    pub fn plus(&mut self, e: &mut Emitter, a: &Val, b: &Val, target: Shape) -> Emitted<Val> {
        let shapes = &self.flow.shapes;
        // Of two zeros either is the sum: where the right operand is sure to be one, nothing is left to decide.
        if shapes.single(b.shape).is_some_and(|alternative| alternative.head == Head::ZeroOf) {
            return self.convert(e, a, target);
        }
        if shapes.is_recursive(a.shape) && shapes.is_recursive(b.shape) && shapes.is_recursive(target) {
            let helper = self.helper(Helper::Plus(a.shape, b.shape, target))?;
            let args: Vec<Value> = a.leaves.iter().chain(&b.leaves).copied().collect();
            let types = self.leaves(target)?;
            return Ok(Some(Val { shape: target, leaves: e.call(helper, &args, &types) }));
        }
        self.plus_unfolded(e, a, b, target)
    }

    /// [`plus`](Self::plus), alternative by alternative.
    pub fn plus_unfolded(&mut self, e: &mut Emitter, a: &Val, b: &Val, target: Shape) -> Emitted<Val> {
        let single = self.flow.shapes.single(a.shape).is_some() && self.flow.shapes.single(b.shape).is_some();
        self.dispatch(e, a, target, |this, e, x| {
            if x.alternative.head == Head::ZeroOf || x.alternative.head == Head::Real(Fact::Zero) && this.is_real(b) {
                return this.convert(e, b, target);
            }
            this.dispatch(e, b, target, |this, e, y| this.plus_parts(e, x.clone(), y, single, target))
        })
    }

    fn is_real(&self, value: &Val) -> bool {
        self.flow.shapes.single(value.shape).is_some_and(|a| a.head.class() == Class::Real)
    }

    fn plus_parts(&mut self, e: &mut Emitter, x: Parts, y: Parts, single: bool, target: Shape) -> Emitted<Val> {
        match (x.alternative.head, y.alternative.head) {
            (_, Head::ZeroOf) | (Head::Real(_), Head::Real(Fact::Zero)) => {
                let value = self.single(e, x)?;
                self.convert(e, &value, target)
            }
            (Head::Real(Fact::Zero), Head::Real(_)) => {
                let value = self.single(e, y)?;
                self.convert(e, &value, target)
            }
            (Head::Real(f), Head::Real(g)) => {
                let sum = match (f.number(), g.number()) {
                    (Some(f), Some(g)) => Val { shape: self.flow.shapes.real(Fact::of(f + g)), leaves: Vec::new() },
                    _ if f == Fact::PerhapsZero || g == Fact::PerhapsZero => {
                        let left = self.addend(e, x.alternative.head, x.own);
                        let right = self.addend(e, y.alternative.head, y.own);
                        let sum = zeros::plus(e, (left, f == Fact::PerhapsZero), (right, g == Fact::PerhapsZero));
                        let fact = if f == g { Fact::PerhapsZero } else { Fact::Unknown };
                        Val { shape: self.flow.shapes.real(fact), leaves: vec![sum] }
                    }
                    _ => {
                        let left = self.number(e, x.alternative.head, x.own);
                        let right = self.number(e, y.alternative.head, y.own);
                        let sum = e.value(Op::Real2(Real2::Add), &[left, right], Type::F64);
                        Val { shape: self.flow.shapes.real(Fact::Unknown), leaves: vec![sum] }
                    }
                };
                self.convert(e, &sum, target)
            }
            (f, g) => {
                let Some(head) = sum_head(f, g, single) else {
                    let error = RuntimeError::NonConformant { left: self.found(f), right: self.found(g) };
                    return self.fail(e, &error);
                };
                let parts = x.children.iter().zip(&y.children);
                let Some(tag) = self.tag_of(target, head.class()) else {
                    // The sum of some parts always fails, and says so.
                    for (left, right) in parts {
                        let sum = self.flow.shapes.plus(left.shape, right.shape);
                        reached!(self.plus(e, left, right, sum));
                    }
                    e.terminate(Terminator::Unreachable);
                    return Ok(None);
                };
                let wide = self.flow.shapes.alternatives(target)[tag].clone();
                let mut leaves = Vec::new();
                for ((left, right), shape) in parts.zip(wide.children.iter()) {
                    leaves.extend(reached!(self.plus(e, left, right, *shape)).leaves);
                }
                Ok(Some(self.build(e, target, tag, leaves)?))
            }
        }
    }

    /// The leaf of a real, or the number if it has none.
    fn addend(&mut self, e: &mut Emitter, head: Head, own: Option<Value>) -> Value {
        own.unwrap_or_else(|| self.number(e, head, None))
    }

    /// `(in-car pair part)` (index 0) and `(in-cdr pair part)` (index 1).
    pub fn in_part(&mut self, e: &mut Emitter, index: usize, pair: &Val, part: &Val, target: Shape) -> Emitted<Val> {
        let pair = reached!(self.unfold_zeros(e, pair));
        self.dispatch(e, &pair, target, |this, e, parts| {
            let head = parts.alternative.head;
            let Head::Pair(_) = head else {
                let prim = if index == 0 { Prim::Car } else { Prim::Cdr };
                let error = RuntimeError::NotAPair { prim, found: this.found(head) };
                return this.fail(e, &error);
            };
            let mut values = reached!(this.zeros(e, &parts.children));
            values[index] = part.clone();
            let shapes: Vec<Shape> = values.iter().map(|value| value.shape).collect();
            let shape = this.flow.shapes.make(head, &shapes);
            let sensitivity = Val { shape, leaves: values.into_iter().flat_map(|value| value.leaves).collect() };
            this.convert(e, &sensitivity, target)
        })
    }

    /// `(*j value)`: the same leaves under the transformed shape.
    pub fn reverse(&mut self, value: &Val, target: Shape) -> Result<Val, TooLarge> {
        self.retype(value, target)?.ok_or(TooLarge)
    }

    /// The same leaves under another shape that is laid out alike; `None` when it is not.
    fn retype(&mut self, value: &Val, target: Shape) -> Result<Option<Val>, TooLarge> {
        let mut seen = FxHashSet::default();
        let alike = self.layouts.unify(&self.flow.shapes, &mut self.out, value.shape, target, &mut seen)?;
        Ok(alike.then(|| Val { shape: target, leaves: value.leaves.clone() }))
    }

    /// `(*j-inverse value)`: the same leaves, behind a check of the alternatives that are no reverse values.
    pub fn reverse_inverse(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        let mut seen = FxHashSet::default();
        if self.all_reversed(value.shape, &mut seen) {
            return Ok(Some(self.retype(value, target)?.ok_or(TooLarge)?));
        }
        if self.flow.shapes.is_recursive(value.shape) {
            // Data that hold reverse and other values side by side without bound have no checked conversion.
            return Err(TooLarge);
        }
        self.dispatch(e, value, target, |this, e, parts| {
            let head = parts.alternative.head;
            let inverse = match head {
                Head::Reverse => return this.convert(e, &parts.children[0], target),
                Head::Nil | Head::Bool(_) | Head::Text(_) => this.single(e, parts)?,
                Head::Closure(code) if code.tower == Tower::EMPTY => return this.not_reversed(e, head),
                Head::Real(_) => return this.not_reversed(e, head),
                Head::Pair(_) | Head::ZeroOf | Head::Closure(_) => {
                    let tag = this.inverse_tag(target, head);
                    let Some(tag) = tag else {
                        // A part of it has no inverse: undoing the parts in order finds it.
                        for child in &parts.children {
                            let shape = this.inverse_shape(child.shape);
                            reached!(this.reverse_inverse(e, child, shape));
                        }
                        return this.not_reversed(e, head);
                    };
                    let wide = this.flow.shapes.alternatives(target)[tag].clone();
                    let mut leaves = Vec::new();
                    for (child, shape) in parts.children.iter().zip(wide.children.iter()) {
                        leaves.extend(reached!(this.reverse_inverse(e, child, *shape)).leaves);
                    }
                    return Ok(Some(this.build(e, target, tag, leaves)?));
                }
            };
            this.convert(e, &inverse, target)
        })
    }

    fn not_reversed(&mut self, e: &mut Emitter, head: Head) -> Emitted<Val> {
        let error = RuntimeError::NotReversed { found: self.found(head) };
        self.fail(e, &error)
    }

    fn inverse_tag(&self, target: Shape, head: Head) -> Option<usize> {
        let inverse = |code: Code| {
            let (Transformation::Reverse, lambda) = transformed_from(self.core, code.lambda)? else { return None };
            let (base, tower) = base_and_tower(self.core, lambda);
            Some(Code { base, tower, lambda })
        };
        let class = match head {
            Head::Closure(code) => Class::Closure(inverse(code)?),
            Head::Pair(of) => Class::Pair(of.and_then(inverse)),
            head => head.class(),
        };
        self.tag_of(target, class)
    }

    /// The shape of the inverse of a part.
    fn inverse_shape(&mut self, shape: Shape) -> Shape {
        let mut codes = ExistingCodes { core: self.core };
        self.flow.shapes.reverse_inverse(shape, &mut codes).unwrap_or(crate::flow::shape::Shapes::BOTTOM)
    }

    /// Whether every value of a shape can be given to `*j-inverse`.
    fn all_reversed(&self, shape: Shape, seen: &mut FxHashSet<Shape>) -> bool {
        !seen.insert(shape)
            || self.flow.shapes.alternatives(shape).iter().all(|a| match a.head {
                Head::Nil | Head::Bool(_) | Head::Text(_) | Head::Reverse => true,
                Head::Real(_) => false,
                Head::Closure(code) if code.tower == Tower::EMPTY => false,
                Head::Pair(_) | Head::ZeroOf | Head::Closure(_) => {
                    a.children.iter().all(|child| self.all_reversed(*child, seen))
                }
            })
    }
}

/// Transforms that exist already; nothing is transformed after the analysis.
struct ExistingCodes<'a> {
    core: &'a crate::core::ir::Program,
}

impl crate::flow::algebra::Transform for ExistingCodes<'_> {
    fn reverse(&mut self, _: crate::core::ir::LambdaId) -> Option<Code> {
        None
    }
    fn reverse_inverse(&mut self, lambda: crate::core::ir::LambdaId) -> Option<Code> {
        let (Transformation::Reverse, lambda) = transformed_from(self.core, lambda)? else { return None };
        let (base, tower) = base_and_tower(self.core, lambda);
        Some(Code { base, tower, lambda })
    }
}
