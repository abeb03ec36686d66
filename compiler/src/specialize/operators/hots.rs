//! One-hot vectors: what a few reads of a vector give as its sensitivity.
//!
//! Reading an element gives a place and a part. The sum of two such vectors has the places of both, as long as these
//! are few; parts in the same place are added at run time, which leaves a place vacant. So what reads a few elements
//! costs as much as it reads, also where its sensitivity is kept in data, as that of a closure in a list is.
//!
//! What closures in data share, and what is handed on within the environment of a closure, may have any number of
//! places: see [`tables`](super::tables).
//!
//! Invariant: the places of a vector differ, but for vacant ones, and the first is not vacant. So the sum with another
//! vector adds to each element at most once, as it would if both had all their elements.

use super::vector::Elements;
use crate::shape::lattice::{Alternative, Class, Head, Shape, Site};
use crate::shape::vector::{Most, Places};
use crate::specialize::Specializer;
use crate::specialize::emit::{Emitted, Emitter, Hot, Parts, Val};
use crate::ssa::ir::{IntCompare, Op, Terminator, Type, Value};

/// The place where there is nothing.
const VACANT: i64 = -1;

impl Specializer<'_> {
    /// A one-hot vector with that base (the length, the first place, and perhaps elements) and those places.
    pub(in crate::specialize) fn build_hot(
        &mut self,
        e: &mut Emitter,
        target: Shape,
        tag: usize,
        base: Vec<Value>,
        hots: Vec<Hot>,
    ) -> Val {
        let alternative = self.flow.shapes.alternatives(target)[tag].clone();
        let Head::OneHot(places) = alternative.head else { unreachable!("the tag is that of a one-hot vector") };
        let mut leaves = base;
        let Most::Few(most) = places.most else { unreachable!("tables are built of cells") };
        let vacant = usize::from(most).checked_sub(hots.len()).expect("no more places than the shape has");
        for (position, hot) in hots.into_iter().enumerate() {
            leaves.extend(hot.leaves().skip(usize::from(position == 0)));
        }
        for _ in 0..vacant {
            leaves.push(e.int(VACANT));
            leaves.extend(self.anything(e, alternative.children[1]).leaves);
        }
        self.build(e, target, tag, leaves)
    }

    /// A part that nobody looks at.
    fn anything(&mut self, e: &mut Emitter, shape: Shape) -> Val {
        let leaves = self.leaves(shape).iter().map(|ty| self.filler(e, *ty)).collect();
        Val { shape, leaves }
    }

    /// Whether a place is not vacant. The length of the vector is above all places.
    pub(super) fn is_taken(e: &mut Emitter, parts: &Parts, place: Value) -> Option<Value> {
        Some(e.value(Op::IntCompare(IntCompare::Below), &[place, parts.own?], Type::Bool))
    }

    /// The places of a one-hot vector with what `each` makes of their parts, values of the given shape.
    pub(in crate::specialize) fn map_hots(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        shape: Shape,
        each: impl Fn(&mut Self, &mut Emitter, &Val, Shape) -> Emitted<Val>,
    ) -> Emitted<Vec<Hot>> {
        let mut hots = Vec::new();
        for (position, Hot { place, part }) in parts.hots().into_iter().enumerate() {
            // What is in no box is computed in any case: that is cheaper than to decide.
            let is_sure = position == 0 || !self.leaves(part.shape).contains(&Type::Ptr);
            let part = if is_sure {
                each(self, e, &part, shape)?
            } else {
                let taken = Self::is_taken(e, parts, place)?;
                self.either(e, taken, shape, |this, e, is_taken| match is_taken {
                    true => each(this, e, &part, shape),
                    false => Some(this.anything(e, shape)),
                })?
            };
            hots.push(Hot { place, part });
        }
        Some(hots)
    }

    /// The element at a place, which is in range, as a value of shape `result`.
    pub(in crate::specialize) fn hot_or_zero(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        hots: &[Hot],
        place: Value,
        is_zero: bool,
        result: Shape,
    ) -> Emitted<Val> {
        let Some((hot, others)) = hots.split_first() else { return self.zero_element(e, parts, place, result) };
        let same = e.value(Op::IntCompare(IntCompare::Eq), &[place, hot.place], Type::Bool);
        self.either(e, same, result, |this, e, is_here| match is_here {
            true => this.part_or_its_zero(e, &hot.part, is_zero, result),
            false => this.hot_or_zero(e, parts, others, place, is_zero, result),
        })
    }

    /// The part in a place, or its zero.
    pub(super) fn part_or_its_zero(
        &mut self,
        e: &mut Emitter,
        part: &Val,
        is_zero: bool,
        result: Shape,
    ) -> Emitted<Val> {
        if is_zero { self.zero(e, part, Site::Data, result) } else { self.convert(e, part, result) }
    }

    /// The vector with what `each` makes of the elements in the places of a one-hot vector and of its parts.
    pub(in crate::specialize) fn with_hots(
        &mut self,
        e: &mut Emitter,
        vector: Elements,
        parts: &Parts,
        each: impl Fn(&mut Self, &mut Emitter, &Val, &Val) -> Emitted<Val>,
    ) -> Emitted<Elements> {
        let shape = self.flow.shapes.make(Head::Vector, &[vector.shape]);
        let vector = self.build(e, shape, 0, vector.leaves());
        let changed = self.fold_hots(e, parts, vector, |this, e, vector, Hot { place, part }| {
            let vector = Elements::of(&this.parts(e, &vector, 0));
            let element = this.element(e, &vector, place);
            let element = each(this, e, &element, &part)?;
            let vector = this.with_element(e, vector, place, &element);
            Some(this.build(e, shape, 0, vector.leaves()))
        })?;
        Some(Elements::of(&self.parts(e, &changed, 0)))
    }

    /// What `each` makes of a state and of every place of a one-hot vector with its part. The state keeps its shape.
    pub(super) fn fold_hots(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        state: Val,
        each: impl Fn(&mut Self, &mut Emitter, Val, Hot) -> Emitted<Val>,
    ) -> Emitted<Val> {
        if let Some(table) = self.table(parts) {
            return Some(self.fold_table(e, &table.cells, state, each));
        }
        let mut state = state;
        for (position, hot) in parts.hots().into_iter().enumerate() {
            if position == 0 {
                state = each(self, e, state, hot)?;
                continue;
            }
            let is_taken = Self::is_taken(e, parts, hot.place)?;
            let before = state;
            state = self.either(e, is_taken, before.shape, |this, e, is_taken| match is_taken {
                true => each(this, e, before.clone(), hot.clone()),
                false => Some(before.clone()),
            })?;
        }
        Some(state)
    }

    /// A one-hot vector with other elements that its zeros are zeros of, and what `each` makes of its parts.
    pub(in crate::specialize) fn map_one_hot(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        base: Option<Value>,
        (target, tag): (Shape, usize),
        each: impl Fn(&mut Self, &mut Emitter, &Val, Shape) -> Emitted<Val>,
    ) -> Emitted<Val> {
        let alternative = self.flow.shapes.alternatives(target)[tag].clone();
        let Head::OneHot(places) = alternative.head else { unreachable!("the tag is that of a one-hot vector") };
        let part = alternative.children[1];
        if places.most == Most::Any {
            let shape = self.flow.shapes.make(alternative.head, &alternative.children);
            let table = self.map_to_table(e, parts, base, [shape, part], each)?;
            return Some(self.build(e, target, tag, table.leaves));
        }
        if parts.table.is_some() {
            e.terminate(Terminator::Unreachable);
            return None;
        }
        let hots = self.map_hots(e, parts, part, each)?;
        let hots = self.fitted(e, parts, hots, places)?;
        let base = parts.own.into_iter().chain(parts.place).chain(base).collect();
        Some(self.build_hot(e, target, tag, base, hots))
    }

    /// A one-hot vector as another alternative of that class.
    pub(in crate::specialize) fn convert_one_hot(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        base: Option<Value>,
        target: Shape,
        tag: usize,
    ) -> Emitted<Val> {
        let part = self.flow.shapes.alternatives(target)[tag].children[1];
        if let Some(table) = parts.table
            && self.same_leaves(parts.alternative.children[1], part)
        {
            let leaves = parts.own.into_iter().chain(parts.place).chain(base).chain(table).collect();
            return Some(self.build(e, target, tag, leaves));
        }
        self.map_one_hot(e, parts, base, (target, tag), |this, e, part, shape| this.convert(e, part, shape))
    }

    /// Which alternative of a shape the sum of two one-hot vectors is. Where it can be no vector, the places that are
    /// taken fit, which the shapes at hand may not show.
    pub(in crate::specialize) fn tag_of_hot_sum(&self, x: &Parts, y: &Parts, result: Shape) -> Option<(usize, Head)> {
        let places = |parts: &Parts| match parts.alternative.head {
            Head::OneHot(places) => Some(places),
            _ => None,
        };
        let sum = places(x)?.plus(places(y)?);
        let alternatives = self.flow.shapes.alternatives(result);
        let find = |wanted: &dyn Fn(&Alternative) -> bool| alternatives.iter().position(wanted);
        let fits = |of: &Alternative| match (of.head, sum) {
            (Head::OneHot(wide), Some(sum)) => wide.most >= sum.most,
            _ => false,
        };
        // A vector of zeros has no place for their parts.
        let holds_all = |of: &Alternative| of.head == Head::Vector && !self.flow.shapes.is_zero_vector(of);
        let tag = find(&fits).or_else(|| find(&holds_all)).or_else(|| find(&|of| of.head.class() == Class::OneHot))?;
        Some((tag, alternatives[tag].head))
    }

    /// `(plus x y)` of one-hot vectors, as a one-hot vector that has place for what is not in the same places.
    pub(in crate::specialize) fn plus_hots(
        &mut self,
        e: &mut Emitter,
        [x, y]: [&Parts; 2],
        result: Shape,
        tag: usize,
    ) -> Emitted<Val> {
        let alternative = self.flow.shapes.alternatives(result)[tag].clone();
        let Head::OneHot(held @ Places { most: Most::Few(places), .. }) = alternative.head else {
            unreachable!("the tag is that of a one-hot vector with few places")
        };
        let (places, wide) = (usize::from(places), alternative.children);
        let (x, y) = (&self.narrowed(e, x, held)?, &self.narrowed(e, y, held)?);
        let convert = |this: &mut Self, e: &mut Emitter, part: &Val, shape| this.convert(e, part, shape);
        let mut sums = self.map_hots(e, x, wide[1], convert)?;
        let others = self.map_hots(e, y, wide[1], convert)?;
        let fit = sums.len() + others.len() <= places;
        while !fit && sums.len() < places {
            sums.push(Hot { place: e.int(VACANT), part: self.anything(e, wide[1]) });
        }
        for (position, (addend, mut other)) in y.hots().into_iter().zip(others).enumerate() {
            for (sum, augend) in x.hots().iter().enumerate() {
                let mut same = e.value(Op::IntCompare(IntCompare::Eq), &[augend.place, addend.place], Type::Bool);
                if sum > 0 && position > 0 {
                    let taken = Self::is_taken(e, y, addend.place)?;
                    same = e.value(Op::And, &[same, taken], Type::Bool);
                }
                let part = sums[sum].part.clone();
                sums[sum].part = self.either(e, same, wide[1], |this, e, is_same| match is_same {
                    true => this.plus(e, &augend.part, &addend.part, wide[1]),
                    false => Some(part.clone()),
                })?;
                let vacant = e.int(VACANT);
                other.place = e.value(Op::Select, &[same, vacant, other.place], Type::Int);
            }
            if fit {
                sums.push(other);
                continue;
            }
            self.fill_vacant(e, y, &mut sums, &mut other)?;
        }
        let base = self.convert_base(e, x, wide[0]);
        let base = x.own.into_iter().chain(x.place).chain(base).collect();
        Some(self.build_hot(e, result, tag, base, sums))
    }

    /// The places of a one-hot vector in no more than so many. Those that are taken fit, which the shape at hand may
    /// not show.
    pub(in crate::specialize) fn fitted(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        mut hots: Vec<Hot>,
        places: Places,
    ) -> Emitted<Vec<Hot>> {
        while !places.hold(hots.len()) {
            let Some(mut other) = hots.pop() else { break };
            self.fill_vacant(e, parts, &mut hots, &mut other)?;
        }
        Some(hots)
    }

    /// A one-hot vector as one with no more than so many places, see [`fitted`](Self::fitted).
    fn narrowed(&mut self, e: &mut Emitter, parts: &Parts, places: Places) -> Emitted<Parts> {
        let mut hots = self.fitted(e, parts, parts.hots(), places)?;
        Some(Parts { more: hots.split_off(1), ..parts.clone() })
    }

    /// Puts what is in one place of a one-hot vector into the first of its other places that is vacant. The first place
    /// of all never is.
    fn fill_vacant(&mut self, e: &mut Emitter, parts: &Parts, hots: &mut [Hot], other: &mut Hot) -> Option<()> {
        for hot in hots.iter_mut().skip(1) {
            let [taken, comes] = [hot.place, other.place].map(|place| Self::is_taken(e, parts, place));
            let vacant = e.value(Op::Not, &[taken?], Type::Bool);
            let fills = e.value(Op::And, &[vacant, comes?], Type::Bool);
            let types = self.leaves(hot.part.shape);
            for ((leaf, other), ty) in hot.part.leaves.iter_mut().zip(&other.part.leaves).zip(types.iter()) {
                *leaf = e.value(Op::Select, &[fills, *other, *leaf], *ty);
            }
            hot.place = e.value(Op::Select, &[fills, other.place, hot.place], Type::Int);
            let nothing = e.int(VACANT);
            other.place = e.value(Op::Select, &[fills, nothing, other.place], Type::Int);
        }
        Some(())
    }
}
