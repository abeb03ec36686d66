//! The derivative operators on run-time values: `zero`, `plus`, `*j`, `*j-inverse`.
//!
//! `*j` and `*j-inverse` cost nothing: they keep the leaves. `zero` of a recursive value keeps it folded
//! ([`Head::ZeroOf`]). `plus` of recursive values is a function of its own, made on demand.

use super::emit::{Emitted, Emitter, Parts, Val};
use super::helper::{Helper, Origin};
use super::{Specializer, zeros};
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
        if self.leaves(target).is_empty() {
            return Some(Val { shape: target, leaves: Vec::new() });
        }
        if self.flow.shapes.is_recursive(value.shape) {
            let zero = self.flow.shapes.make(Head::ZeroOf, &[value.shape]);
            let folded = self.build(e, zero, 0, value.leaves.clone());
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
                    let zeros = this.zeros(e, &parts.children)?;
                    let shapes: Vec<Shape> = zeros.iter().map(|zero| zero.shape).collect();
                    let shape = this.flow.shapes.make(parts.alternative.head, &shapes);
                    this.build(e, shape, 0, zeros.into_iter().flat_map(|zero| zero.leaves).collect())
                }
                Head::Closure(code) => {
                    let zeros = this.zeros(e, &parts.children)?;
                    this.environment(e, code, zeros)
                }
            };
            this.convert(e, &zero, target)
        })
    }

    /// The list of the sensitivities of the environment of a closure of that code.
    fn environment(&mut self, e: &mut Emitter, code: Code, items: Vec<Val>) -> Val {
        let mut list = Val { shape: self.flow.shapes.nil(), leaves: Vec::new() };
        for (position, item) in items.into_iter().enumerate().rev() {
            let head = Head::Pair((position == 0).then_some(code));
            let shape = self.flow.shapes.make(head, &[item.shape, list.shape]);
            list = self.build(e, shape, 0, item.leaves.into_iter().chain(list.leaves).collect());
        }
        list
    }

    fn zeros(&mut self, e: &mut Emitter, values: &[Val]) -> Emitted<Vec<Val>> {
        let mut zeros = Vec::with_capacity(values.len());
        for value in values {
            let shape = self.flow.shapes.zero(value.shape);
            zeros.push(self.zero(e, value, shape)?);
        }
        Some(zeros)
    }

    /// The value with a folded zero at its top unfolded by one level.
    pub fn unfold_zeros(&mut self, e: &mut Emitter, value: &Val) -> Emitted<Val> {
        if self.tag_of(value.shape, Class::ZeroOf).is_none() {
            return Some(value.clone());
        }
        let target = self.flow.shapes.unfold_zeros(value.shape);
        self.unfold_zeros_to(e, value, target)
    }

    /// [`unfold_zeros`](Self::unfold_zeros), to a shape that covers the result. A zero whose primal may be a folded zero
    /// itself is unfolded by a function that can call itself.
    pub fn unfold_zeros_to(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            if parts.alternative.head != Head::ZeroOf {
                let value = this.single(e, parts);
                return this.convert(e, &value, target);
            }
            let zero = this.flow.shapes.zero_unfolded(parts.children[0].shape);
            let zero = this.zero_unfolded(e, &parts.children[0], zero)?;
            if this.tag_of(zero.shape, Class::ZeroOf).is_none() {
                return this.convert(e, &zero, target);
            }
            let helper = this.helper(Helper::UnfoldZeros(zero.shape, target));
            let types = this.leaves(target);
            Some(Val { shape: target, leaves: e.call(helper, &zero.leaves, &types) })
        })
    }

    /// The value of the single alternative that has been taken apart.
    pub fn single(&mut self, e: &mut Emitter, parts: Parts) -> Val {
        let shape = self.flow.shapes.make(parts.alternative.head, &parts.alternative.children);
        let leaves: Vec<Value> =
            parts.own.into_iter().chain(parts.children.into_iter().flat_map(|child| child.leaves)).collect();
        self.build(e, shape, 0, leaves)
    }

    /// `(plus a b)`, as a value of shape `target`.
    pub fn plus(&mut self, e: &mut Emitter, a: &Val, b: &Val, target: Shape) -> Emitted<Val> {
        // Of two zeros either is the sum: where the right operand is sure to be one, nothing is left to decide.
        if self.flow.shapes.single(b.shape).is_some_and(|alternative| alternative.head == Head::ZeroOf) {
            return self.convert(e, a, target);
        }
        if self.is_large(a.shape) && self.is_large(b.shape) {
            let always = self.always_conform(a.shape, b.shape, &mut FxHashSet::default());
            let origin = if always { Origin::default() } else { self.origin(e) };
            let helper = Helper::Plus(a.shape, b.shape, target, origin);
            return Some(self.call_helper(e, helper, &[a, b], target));
        }
        self.plus_unfolded(e, a, b, target)
    }

    /// Whether any two values of the shapes can be added.
    fn always_conform(&self, a: Shape, b: Shape, seen: &mut FxHashSet<(Shape, Shape)>) -> bool {
        let (left, right) = (self.flow.shapes.alternatives(a), self.flow.shapes.alternatives(b));
        !seen.insert((a, b))
            || left.iter().all(|x| {
                right.iter().all(|y| match (x.head, y.head) {
                    (Head::ZeroOf, _) | (_, Head::ZeroOf) | (Head::Real(_), Head::Real(_)) => true,
                    (f, g) => {
                        sum_head(f, g, left.len() == 1 && right.len() == 1).is_some()
                            && x.children.iter().zip(y.children.iter()).all(|(x, y)| self.always_conform(*x, *y, seen))
                    }
                })
            })
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
                let value = self.single(e, x);
                self.convert(e, &value, target)
            }
            (Head::Real(Fact::Zero), Head::Real(_)) => {
                let value = self.single(e, y);
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
                        self.plus(e, left, right, sum)?;
                    }
                    e.terminate(Terminator::Unreachable);
                    return None;
                };
                let wide = self.flow.shapes.alternatives(target)[tag].clone();
                let mut leaves = Vec::new();
                for ((left, right), shape) in parts.zip(wide.children.iter()) {
                    leaves.extend(self.plus(e, left, right, *shape)?.leaves);
                }
                Some(self.build(e, target, tag, leaves))
            }
        }
    }

    /// The leaf of a real, or the number if it has none.
    fn addend(&mut self, e: &mut Emitter, head: Head, own: Option<Value>) -> Value {
        own.unwrap_or_else(|| self.number(e, head, None))
    }

    /// `(in-car pair part)` (index 0) and `(in-cdr pair part)` (index 1).
    pub fn in_part(&mut self, e: &mut Emitter, index: usize, pair: &Val, part: &Val, target: Shape) -> Emitted<Val> {
        let pair = self.unfold_zeros(e, pair)?;
        self.dispatch(e, &pair, target, |this, e, parts| {
            let head = parts.alternative.head;
            let Head::Pair(_) = head else {
                let prim = if index == 0 { Prim::Car } else { Prim::Cdr };
                let error = RuntimeError::NotAPair { prim, found: this.found(head) };
                return this.fail(e, &error);
            };
            let mut values = this.zeros(e, &parts.children)?;
            values[index] = part.clone();
            let shapes: Vec<Shape> = values.iter().map(|value| value.shape).collect();
            let shape = this.flow.shapes.make(head, &shapes);
            let sensitivity = this.build(e, shape, 0, values.into_iter().flat_map(|value| value.leaves).collect());
            this.convert(e, &sensitivity, target)
        })
    }

    /// `(*j value)`: the same leaves under the transformed shape. Data that hold a number beside a reverse value in one
    /// sum change their tags and are copied.
    pub fn reverse(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        if let Some(same) = self.retype(value, target) {
            return Some(same);
        }
        if self.is_boxed(value.shape) {
            return Some(self.call_helper(e, Helper::Reverse(value.shape, target), &[value], target));
        }
        self.reverse_unfolded(e, value, target)
    }

    /// [`reverse`](Self::reverse), alternative by alternative.
    pub fn reverse_unfolded(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            let head = parts.alternative.head;
            if let Head::Nil | Head::Bool(_) | Head::Text(_) = head {
                let value = this.single(e, parts);
                return this.convert(e, &value, target);
            }
            let Some(tag) = this.reverse_tag(target, head) else {
                // The analysis leaves out alternatives with a part that has no value.
                e.terminate(Terminator::Unreachable);
                return None;
            };
            let wide = this.flow.shapes.alternatives(target)[tag].clone();
            let mut leaves = Vec::new();
            if let Head::Real(_) | Head::Reverse = head {
                let inner = this.single(e, parts);
                leaves = this.convert(e, &inner, wide.children[0])?.leaves;
            } else {
                for (child, shape) in parts.children.iter().zip(wide.children.iter()) {
                    leaves.extend(this.reverse(e, child, *shape)?.leaves);
                }
            }
            Some(this.build(e, target, tag, leaves))
        })
    }

    /// The position of the transform of an alternative.
    fn reverse_tag(&self, target: Shape, head: Head) -> Option<usize> {
        let transform_of = |code: Code, of: Code| {
            transformed_from(self.core, code.lambda) == Some((Transformation::Reverse, of.lambda))
        };
        self.flow.shapes.alternatives(target).iter().position(|a| match (head, a.head) {
            (Head::Real(_) | Head::Reverse, Head::Reverse) => true,
            (Head::Closure(of), Head::Closure(code)) => transform_of(code, of),
            (Head::Pair(Some(of)), Head::Pair(Some(code))) => transform_of(code, of),
            (Head::Pair(None), Head::Pair(None)) | (Head::ZeroOf, Head::ZeroOf) => true,
            _ => false,
        })
    }

    /// The same leaves under another shape that is laid out alike; `None` when it is not.
    fn retype(&mut self, value: &Val, target: Shape) -> Option<Val> {
        let alike = self.layouts.unify(&self.flow.shapes, &mut self.out, value.shape, target);
        alike.then(|| Val { shape: target, leaves: value.leaves.clone() })
    }

    /// `(*j-inverse value)`: the same leaves where all parts are reverse values. Else they are taken apart, checked, and
    /// built anew.
    pub fn reverse_inverse(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        if self.all_reversed(value.shape, &mut FxHashSet::default())
            && let Some(same) = self.retype(value, target)
        {
            return Some(same);
        }
        if self.is_boxed(value.shape) {
            let helper = Helper::ReverseInverse(value.shape, target, self.origin(e));
            return Some(self.call_helper(e, helper, &[value], target));
        }
        self.reverse_inverse_unfolded(e, value, target)
    }

    /// [`reverse_inverse`](Self::reverse_inverse), alternative by alternative.
    pub fn reverse_inverse_unfolded(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            let head = parts.alternative.head;
            let inverse = match head {
                Head::Reverse => return this.convert(e, &parts.children[0], target),
                Head::Nil | Head::Bool(_) | Head::Text(_) => this.single(e, parts),
                Head::Closure(code) if code.tower == Tower::EMPTY => return this.not_reversed(e, head),
                Head::Real(_) => return this.not_reversed(e, head),
                Head::Pair(_) | Head::ZeroOf | Head::Closure(_) => {
                    let tag = this.inverse_tag(target, head);
                    let Some(tag) = tag else {
                        // A part of it has no inverse: undoing the parts in order finds it.
                        for child in &parts.children {
                            let shape = this.inverse_shape(child.shape);
                            this.reverse_inverse(e, child, shape)?;
                        }
                        return this.not_reversed(e, head);
                    };
                    let wide = this.flow.shapes.alternatives(target)[tag].clone();
                    let mut leaves = Vec::new();
                    for (child, shape) in parts.children.iter().zip(wide.children.iter()) {
                        leaves.extend(this.reverse_inverse(e, child, *shape)?.leaves);
                    }
                    return Some(this.build(e, target, tag, leaves));
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
