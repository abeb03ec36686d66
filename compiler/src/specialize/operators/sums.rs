//! The operators of the vector space of sensitivities on run-time values: `zero`, `plus`, `in-car`, `in-cdr`.
//!
//! `zero` of a recursive value keeps it folded ([`Head::ZeroOf`]). `plus` of recursive values is a function of its own,
//! made on demand.

use crate::core::errors::RuntimeError;
use crate::core::prim::{Levels, Prim};
use crate::shape::algebra::{is_pair, sum_head};
use crate::shape::lattice::{Alternative, Class, Code, Fact, Head, Shape, Site};
use crate::shape::vector::{is_environment, is_handed};
use crate::specialize::dispatch::Among;
use crate::specialize::emit::{Emitted, Emitter, Hot, Parts, Val};
use crate::specialize::helper::{Helper, Origin};
use crate::specialize::operators::zeros;
use crate::specialize::{Sharing, Specializer};
use crate::ssa::ir::{Compare, Op, Real2, Terminator, Type, Value};
use rustc_hash::FxHashSet;

/// Zeros of more alternatives than this are unfolded by a function, since most operations unfold them.
const MAX_IN_PLACE: usize = 4;

impl Specializer<'_> {
    /// The position of the alternative of that class.
    pub fn tag_of(&self, shape: Shape, class: Class) -> Option<usize> {
        self.flow.shapes.position(shape, class)
    }

    /// `(zero value)` of what is in that place, as a value of shape `target`.
    pub fn zero(&mut self, e: &mut Emitter, value: &Val, site: Site, target: Shape) -> Emitted<Val> {
        // Closures that share what they capture have more paths than parts: nothing to walk when the shape says it all.
        if self.leaves(target).is_empty() {
            return Some(Val { shape: target, leaves: Vec::new() });
        }
        if self.flow.shapes.folds_zero(value.shape) || self.stays_folded(value.shape, site, target) {
            let zero = self.flow.shapes.make(Head::ZeroOf(Site::Value), &[value.shape]);
            let folded = self.build(e, zero, 0, value.leaves.clone());
            return self.convert(e, &folded, target);
        }
        if self.has_many_choices(value.shape) {
            return Some(self.call_helper(e, Helper::Zero(value.shape, site, target), &[value], target));
        }
        self.zero_in_one_form(e, value, site, target)
    }

    /// `(zero x)`, with the vectors in it folded that are shared.
    pub fn zero_of_variable(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        let zero = self.flow.shapes.zero(value.shape);
        if target == zero || !self.flow.shapes.is_with_folded(target, zero) {
            return self.zero(e, value, Site::Value, target);
        }
        // The folded zero of a vector has the leaves of the zero that it is the zero of.
        let zero = self.zero(e, value, Site::Value, zero)?;
        Some(Val { shape: target, leaves: zero.leaves })
    }

    /// Whether the target has zeros of values of a shape in folded form only. The shape at hand may be one of many that
    /// the analysis knows as one, of which the zero is folded.
    fn stays_folded(&mut self, shape: Shape, site: Site, target: Shape) -> bool {
        if self.tag_of(target, Class::ZeroOf).is_none() {
            return false;
        }
        let zero = self.flow.shapes.zero_at(shape, site);
        let zeros = self.flow.shapes.alternatives(zero);
        zeros.iter().any(|zero| self.tag_of(target, zero.head.class()).is_none())
    }

    /// [`zero`](Self::zero) of what has no folded zero; a plain vector's is folded where other forms may stand.
    pub fn zero_in_one_form(&mut self, e: &mut Emitter, value: &Val, site: Site, target: Shape) -> Emitted<Val> {
        let shapes = &mut self.flow.shapes;
        let zero = shapes.zero_unfolded(value.shape, site);
        if !shapes.is_to_have_one_form(zero, site) {
            return self.zero_unfolded(e, value, site, target);
        }
        let zero = self.zero_unfolded(e, value, site, zero)?;
        self.dispatch(e, &zero, target, |this, e, parts| {
            let is_vector = parts.alternative.head == Head::Vector;
            let mut zero = this.single(e, parts);
            if is_vector {
                // It has the leaves of what it is the zero of.
                zero.shape = this.flow.shapes.zero_of_capture(zero.shape, Site::Data);
            }
            this.convert(e, &zero, target)
        })
    }

    /// [`zero`](Self::zero) with its outermost level unfolded.
    pub fn zero_unfolded(&mut self, e: &mut Emitter, value: &Val, site: Site, target: Shape) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            let shapes = &mut this.flow.shapes;
            let within = site.within(parts.alternative.head);
            let zero = match parts.alternative.head {
                Head::Nil | Head::Bool(_) | Head::Text(_) => Val { shape: shapes.nil(), leaves: Vec::new() },
                head @ Head::Nothing => Val { shape: shapes.make(head, &[]), leaves: Vec::new() },
                Head::Real(_) => Val { shape: shapes.real(Fact::Zero), leaves: Vec::new() },
                head @ Head::ZeroOf(_) => {
                    let shape = shapes.make(head, &[parts.children[0].shape]);
                    Val { shape, leaves: parts.children[0].leaves.clone() }
                }
                Head::Reverse | Head::Bundle | Head::Series | Head::Pair(_) | Head::Record(_) => {
                    let zeros = this.zeros(e, &parts.children, within)?;
                    let shapes: Vec<Shape> = zeros.iter().map(|zero| zero.shape).collect();
                    let shape = this.flow.shapes.make(parts.alternative.head, &shapes);
                    this.build(e, shape, 0, zeros.into_iter().flat_map(|zero| zero.leaves).collect())
                }
                Head::Closure(code, _) => {
                    let mut zeros = this.zeros(e, &parts.children, within)?;
                    for zero in &mut zeros {
                        // The folded zero of a vector has the leaves of the zero that it is the zero of.
                        zero.shape = this.flow.shapes.zero_of_capture(zero.shape, within);
                    }
                    this.environment(e, code, zeros)
                }
                Head::Vector | Head::Beginning => this.zero_vector(e, &parts)?,
                Head::OneHot(places) => {
                    let mut zero = this.zero_of_one_hot(e, &parts)?;
                    zero.shape = this.flow.shapes.zero_of_capture(zero.shape, places.site());
                    zero
                }
            };
            this.convert(e, &zero, target)
        })
    }

    /// The list of the sensitivities of the environment of a closure of that code.
    pub fn environment(&mut self, e: &mut Emitter, code: Code, items: Vec<Val>) -> Val {
        let mut list = Val { shape: self.flow.shapes.nil(), leaves: Vec::new() };
        for (position, item) in items.into_iter().enumerate().rev() {
            let head = Head::Pair((position == 0).then_some(code));
            let shape = self.flow.shapes.make(head, &[item.shape, list.shape]);
            list = self.build(e, shape, 0, item.leaves.into_iter().chain(list.leaves).collect());
        }
        list
    }

    fn zeros(&mut self, e: &mut Emitter, values: &[Val], site: Site) -> Emitted<Vec<Val>> {
        let mut zeros = Vec::with_capacity(values.len());
        for value in values {
            let shape = self.flow.shapes.zero_at(value.shape, site);
            zeros.push(self.zero(e, value, site, shape)?);
        }
        Some(zeros)
    }

    /// The value with a folded zero at its top unfolded by one level.
    pub fn unfold_zeros(&mut self, e: &mut Emitter, value: &Val) -> Emitted<Val> {
        if self.tag_of(value.shape, Class::ZeroOf).is_none() {
            return Some(value.clone());
        }
        let target = self.flow.shapes.unfold_zeros(value.shape);
        if self.flow.shapes.alternatives(target).len() > MAX_IN_PLACE {
            let helper = Helper::UnfoldZeros(value.shape, target);
            return Some(self.call_helper(e, helper, &[value], target));
        }
        self.unfold_zeros_to(e, value, target)
    }

    /// [`unfold_zeros`](Self::unfold_zeros), to a shape that covers the result. A zero whose primal may be a folded
    /// zero itself is unfolded by a function that can call itself.
    pub fn unfold_zeros_to(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            if parts.alternative.head.class() != Class::ZeroOf {
                let value = this.single(e, parts);
                return this.convert(e, &value, target);
            }
            let zero = this.flow.shapes.zero_unfolded(parts.children[0].shape, Site::Data);
            let zero = this.zero_unfolded(e, &parts.children[0], Site::Data, zero)?;
            if this.tag_of(zero.shape, Class::ZeroOf).is_none() {
                return this.convert(e, &zero, target);
            }
            Some(this.call_helper(e, Helper::UnfoldZeros(zero.shape, target), &[&zero], target))
        })
    }

    /// What a value is, or what it is the zero of, through zeros of zeros.
    pub fn beneath_zeros(&mut self, e: &mut Emitter, value: &Val) -> Emitted<Val> {
        let Some(zero) = self.flow.shapes.find(value.shape, Class::ZeroOf) else { return Some(value.clone()) };
        let primal = zero.children[0];
        let target = self.flow.shapes.beneath_zeros(value.shape);
        if self.tag_of(primal, Class::ZeroOf).is_none() {
            return self.beneath_zeros_to(e, value, target);
        }
        Some(self.call_helper(e, Helper::BeneathZeros(value.shape, target), &[value], target))
    }

    /// [`beneath_zeros`](Self::beneath_zeros), one zero deep, to a shape that covers the result.
    pub fn beneath_zeros_to(&mut self, e: &mut Emitter, value: &Val, target: Shape) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            let value = match parts.alternative.head {
                Head::ZeroOf(_) => this.beneath_zeros(e, &parts.children[0])?,
                _ => this.single(e, parts),
            };
            this.convert(e, &value, target)
        })
    }

    /// The value of the single alternative that has been taken apart.
    pub fn single(&mut self, e: &mut Emitter, parts: Parts) -> Val {
        let shape = self.flow.shapes.make(parts.alternative.head, &parts.alternative.children);
        let own = parts.own.into_iter().chain(parts.place).chain(parts.elements);
        let own = own.chain(parts.children.into_iter().flat_map(|child| child.leaves));
        let own = own.chain(parts.more.into_iter().flat_map(Hot::leaves));
        let leaves: Vec<Value> = own.chain(parts.table.into_iter().flatten()).collect();
        self.build(e, shape, 0, leaves)
    }

    /// `(plus a b)`, as a value of shape `target`.
    pub fn plus(&mut self, e: &mut Emitter, a: &Val, b: &Val, target: Shape) -> Emitted<Val> {
        let (a, b) = (&self.unfolded_beside(e, a, b)?, &self.unfolded_beside(e, b, a)?);
        // Of two zeros either is the sum, but for vectors: where the right operand is sure to be one, nothing is left
        // to decide.
        let zero = self.flow.shapes.single(b.shape).filter(|zero| zero.head.class() == Class::ZeroOf);
        if zero.is_some_and(|zero| !self.may_meet_as_vectors(a.shape, &zero))
            && self.tag_of(a.shape, Class::Nothing).is_none()
        {
            return self.convert(e, a, target);
        }
        let multiplies = self.meet_in_several_ways(a.shape, b.shape);
        // What may have holes is decided part by part, however deep a zero has to be unfolded for that.
        let is_simple =
            [a, b].map(|value| self.flow.shapes.single(value.shape).is_some() && !self.is_large(value.shape));
        let multiplies = multiplies || is_simple != [true, true] && (self.has_holes(a) || self.has_holes(b));
        let are_large = |this: &mut Self| {
            this.is_large(a.shape) && this.is_large(b.shape) || this.holds_large(a.shape) && this.holds_large(b.shape)
        };
        if multiplies || are_large(self) {
            let always = self.always_conform(a.shape, b.shape, &mut FxHashSet::default());
            let helper = match self.sharing {
                _ if always && !self.watches => Helper::Plus(a.shape, b.shape, target, Origin::default()),
                Sharing::Shared if !always => Helper::SharedPlus(a.shape, b.shape, target),
                _ => Helper::Plus(a.shape, b.shape, target, self.origin(e)),
            };
            return Some(self.call_helper(e, helper, &[a, b], target));
        }
        self.plus_unfolded(e, a, b, target)
    }

    /// Whether values of a shape may be zeros of vectors, as may one of that alternative: the sum is the longer one.
    fn may_meet_as_vectors(&mut self, shape: Shape, with: &Alternative) -> bool {
        let alternatives = self.flow.shapes.alternatives(shape);
        alternatives.iter().any(|alternative| self.flow.shapes.may_be_zero_vectors(alternative, with))
    }

    /// A value to add to another one: a zero fills holes, so that it has to show what it consists of.
    fn unfolded_beside(&mut self, e: &mut Emitter, value: &Val, other: &Val) -> Emitted<Val> {
        match self.flow.shapes.has_parts_with_holes(other.shape) {
            true => self.unfold_zeros(e, value),
            false => Some(value.clone()),
        }
    }

    fn has_holes(&self, value: &Val) -> bool {
        self.flow.shapes.has_holes(value.shape)
    }

    /// Whether both values have parts to be put together, and one of them in several ways: in place, the code for the
    /// parts would multiply at every level.
    pub(in crate::specialize) fn meet_in_several_ways(&self, a: Shape, b: Shape) -> bool {
        let ways = |shape: Shape| {
            let alternatives = self.flow.shapes.alternatives(shape);
            alternatives.iter().filter(|a| a.head.class() != Class::ZeroOf && !a.children.is_empty()).count()
        };
        ways(a) * ways(b) > 1
    }

    /// Whether any two values of the shapes can be added.
    pub(in crate::specialize) fn always_conform(
        &self,
        a: Shape,
        b: Shape,
        seen: &mut FxHashSet<(Shape, Shape)>,
    ) -> bool {
        let (left, right) = (self.flow.shapes.alternatives(a), self.flow.shapes.alternatives(b));
        let single = left.len() == 1 && right.len() == 1;
        !seen.insert((a, b)) || left.iter().all(|x| right.iter().all(|y| self.conform(x, y, single, seen)))
    }

    /// The same of two alternatives.
    fn conform(&self, x: &Alternative, y: &Alternative, single: bool, seen: &mut FxHashSet<(Shape, Shape)>) -> bool {
        match (x.head, y.head) {
            (Head::ZeroOf(_) | Head::Nothing, _) | (_, Head::ZeroOf(_) | Head::Nothing) => true,
            (Head::Real(_), Head::Real(_)) => true,
            // Their lengths may differ.
            (Head::Vector | Head::OneHot(_), _) | (_, Head::Vector | Head::OneHot(_)) => false,
            (Head::Series, Head::Series) => {
                let [rest, other] = [x, y].map(|series| self.flow.shapes.alternatives(series.children[1]));
                let is_empty = |rest: &Alternative| rest.head == Head::Nil;
                self.always_conform(x.children[0], y.children[0], seen)
                    && rest
                        .iter()
                        .all(|x| other.iter().all(|y| is_empty(x) || is_empty(y) || self.conform(x, y, false, seen)))
            }
            (f, g) => {
                let mut parts = x.children.iter().zip(y.children.iter());
                sum_head(f, g, single).is_some()
                    && (self.flow.shapes.beside_zero(x, y).is_some()
                        || parts.all(|(x, y)| self.always_conform(*x, *y, seen)))
            }
        }
    }

    /// [`plus`](Self::plus), alternative by alternative.
    pub fn plus_unfolded(&mut self, e: &mut Emitter, a: &Val, b: &Val, target: Shape) -> Emitted<Val> {
        let single = self.flow.shapes.single(a.shape).is_some() && self.flow.shapes.single(b.shape).is_some();
        self.dispatch(e, a, target, |this, e, x| {
            if x.alternative.head == Head::Nothing && this.tag_of(b.shape, Class::ZeroOf).is_some() {
                return this.dispatch(e, b, target, |this, e, y| {
                    // Only a zero that fills a hole is settled: what else may stand there stays as it is.
                    let is_zero = y.alternative.head.class() == Class::ZeroOf;
                    let value = this.single(e, y);
                    let is_settled = this.flow.shapes.filling(value.shape) == value.shape;
                    let filled = if is_zero && !is_settled { this.settled(e, &value)? } else { value };
                    this.convert(e, &filled, target)
                });
            }
            if x.alternative.head.class() == Class::ZeroOf && this.tag_of(b.shape, Class::Nothing).is_some() {
                return this.dispatch(e, b, target, |this, e, y| {
                    let value = this.single(e, if y.alternative.head == Head::Nothing { x.clone() } else { y });
                    this.convert(e, &value, target)
                });
            }
            if this.may_meet_as_vectors(b.shape, &x.alternative) {
                return this.dispatch(e, b, target, |this, e, y| {
                    if this.flow.shapes.may_be_zero_vectors(&x.alternative, &y.alternative) {
                        return this.longer_zero(e, x.clone(), y, target);
                    }
                    if x.alternative.head.class() != Class::ZeroOf {
                        return this.plus_alternatives(e, x.clone(), y, single, target);
                    }
                    let value = this.single(e, y);
                    this.convert(e, &value, target)
                });
            }
            if matches!(x.alternative.head, Head::ZeroOf(_) | Head::Nothing)
                || x.alternative.head == Head::Real(Fact::Zero) && this.is_real(b)
            {
                return this.convert(e, b, target);
            }
            let among = this.perhaps_added(x.alternative.head, b.shape);
            this.dispatch_among(e, b, &among, target, |this, e, y| {
                this.plus_alternatives(e, x.clone(), y, single, target)
            })
        })
    }

    /// `(plus x y)` of zeros of vectors of which one at least is folded, and may be the zero of another value: the
    /// longer one, or the right one.
    fn longer_zero(&mut self, e: &mut Emitter, x: Parts, y: Parts, result: Shape) -> Emitted<Val> {
        let [x, y] = [x, y].map(|parts| self.single(e, parts));
        let lengths = [&y, &x].map(|zero| self.length_of_zero(e, zero));
        let [Some(right), Some(left)] = lengths else { return None };
        let is_longer = e.value(Op::Compare(Compare::Lt), &[right, left], Type::Bool);
        self.either(e, is_longer, result, |this, e, is_left| this.convert(e, if is_left { &x } else { &y }, result))
    }

    /// The length of a vector, or of what a folded zero is the zero of, as a real; -1 of other values.
    fn length_of_zero(&mut self, e: &mut Emitter, zero: &Val) -> Emitted<Value> {
        let number = self.flow.shapes.real(Fact::Unknown);
        let length = self.dispatch(e, zero, number, |this, e, parts| {
            let length = match parts.alternative.head {
                Head::Vector | Head::Beginning | Head::OneHot(_) => e.value(Op::RealOf, &[parts.own?], Type::F64),
                Head::ZeroOf(_) => {
                    let primal = this.ending_zeros(e, &parts.children[0])?;
                    this.length_of_zero(e, &primal)?
                }
                _ => e.real(-1.0),
            };
            Some(Val { shape: number, leaves: vec![length] })
        })?;
        length.leaves.first().copied()
    }

    fn plus_alternatives(&mut self, e: &mut Emitter, x: Parts, y: Parts, single: bool, target: Shape) -> Emitted<Val> {
        if (x.alternative.head, y.alternative.head) == (Head::Vector, Head::Vector) && !single {
            let (left, right) = (self.single(e, x.clone()), self.single(e, y.clone()));
            if self.holds_large(left.shape) && self.holds_large(right.shape) {
                return self.plus(e, &left, &right, target);
            }
        }
        self.plus_parts(e, x, y, single, target)
    }

    /// The alternatives of a shape that may be added to one with that head, and one that stands for most of those that
    /// may not: what is said of them is what kind of value they are. Of sums of hundreds of alternatives each, pairs
    /// would be many.
    fn perhaps_added(&mut self, head: Head, shape: Shape) -> Among {
        let alternatives = self.flow.shapes.alternatives(shape);
        let added = self.flow.shapes.perhaps_added(head, shape);
        // Where the place of an alternative takes what it holds, it stands for itself only.
        let is_opened = |this: &mut Self| {
            this.is_boxed(shape) && this.cases(shape).iter().any(|alternative| alternative.choice.is_some())
        };
        if added.len() == alternatives.len() || is_opened(self) {
            return Among { tags: (0..alternatives.len()).collect(), others: None };
        }
        let kind = |tag: usize| self.found(alternatives[tag].head).kind;
        let others = (0..alternatives.len()).find(|tag| !added.contains(tag));
        let stands_for = |tag: usize| others.is_some_and(|other| tag != other && kind(tag) == kind(other));
        let tags = (0..alternatives.len()).filter(|tag| added.contains(tag) || !stands_for(*tag)).collect();
        Among { tags, others }
    }

    fn is_real(&self, value: &Val) -> bool {
        self.flow.shapes.single(value.shape).is_some_and(|a| a.head.class() == Class::Real)
    }

    fn plus_parts(&mut self, e: &mut Emitter, x: Parts, y: Parts, single: bool, target: Shape) -> Emitted<Val> {
        match (x.alternative.head, y.alternative.head) {
            (_, Head::ZeroOf(_) | Head::Nothing) | (Head::Real(_), Head::Real(Fact::Zero)) => {
                let value = self.single(e, x);
                self.convert(e, &value, target)
            }
            (Head::Real(Fact::Zero), Head::Real(_)) => {
                let value = self.single(e, y);
                self.convert(e, &value, target)
            }
            (Head::Vector, Head::Vector)
                if self.flow.shapes.is_zero_vector(&x.alternative)
                    && self.flow.shapes.is_zero_vector(&y.alternative) =>
            {
                self.longer(e, x, y, target)
            }
            (Head::Vector, Head::Vector | Head::OneHot(_)) if self.flow.shapes.is_zero_vector(&x.alternative) => {
                let value = self.single(e, y);
                self.convert(e, &value, target)
            }
            (Head::Vector | Head::OneHot(_), Head::Vector) if self.flow.shapes.is_zero_vector(&y.alternative) => {
                let value = self.single(e, x);
                self.convert(e, &value, target)
            }
            (Head::Vector | Head::OneHot(_), Head::OneHot(_)) if self.flow.shapes.has_zero_parts(&y.alternative) => {
                let value = self.single(e, x);
                self.convert(e, &value, target)
            }
            (Head::OneHot(_), Head::Vector | Head::OneHot(_)) if self.flow.shapes.has_zero_parts(&x.alternative) => {
                let value = self.single(e, y);
                self.convert(e, &value, target)
            }
            (Head::Vector | Head::OneHot(_), Head::Vector | Head::OneHot(_)) => self.plus_vectors(e, x, y, target),
            (Head::Real(f), Head::Real(g)) => {
                let numbers = f.number().zip(g.number());
                if let Some(error) = numbers.and_then(|(f, g)| self.born_of_constants(Prim::Plus, &[f, g], f + g)) {
                    self.report_born(e, &error);
                }
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
            (f @ Head::Bool(p), g @ Head::Bool(q)) if p.is_none() || q.is_none() => {
                let [left, right] = [(p, x.own), (q, y.own)]
                    .map(|(known, own)| known.map_or_else(|| own, |known| Some(e.boolean(known))));
                let (left, right) = (left?, right?);
                let other = e.value(Op::Not, &[right], Type::Bool);
                let conform = e.value(Op::Select, &[left, right, other], Type::Bool);
                self.demand(e, conform, |this, e| {
                    let error = RuntimeError::NonConformant { left: this.found(f), right: this.found(g) };
                    this.fail(e, &error)
                });
                let value = self.single(e, if p.is_some() { x } else { y });
                self.convert(e, &value, target)
            }
            (f, g) => {
                let Some(head) = sum_head(f, g, single) else {
                    let error = RuntimeError::NonConformant { left: self.found(f), right: self.found(g) };
                    return self.fail(e, &error);
                };
                if let Some(other) = self.flow.shapes.beside_zero(&x.alternative, &y.alternative) {
                    let is_left = std::ptr::eq(other, &x.alternative);
                    let value = self.single(e, if is_left { x } else { y });
                    return self.convert(e, &value, target);
                }
                let parts = x.children.iter().zip(&y.children);
                let Some(tag) = self.tag_of(target, head.class()) else {
                    // The sum of some parts always fails, and says so; not that of a constant and further coefficients.
                    for (left, right) in parts.take(if head == Head::Series { 1 } else { usize::MAX }) {
                        let sum = self.flow.shapes.plus(left.shape, right.shape);
                        self.plus(e, left, right, sum)?;
                    }
                    e.terminate(Terminator::Unreachable);
                    return None;
                };
                let wide = self.flow.shapes.alternatives(target)[tag].clone();
                let mut leaves = Vec::new();
                for (position, ((left, right), shape)) in parts.zip(wide.children.iter()).enumerate() {
                    let sum = match (head, position) {
                        (Head::Series, 1) => self.plus_rests(e, left, right, *shape),
                        _ => self.plus(e, left, right, *shape),
                    };
                    leaves.extend(sum?.leaves);
                }
                Some(self.build(e, target, tag, leaves))
            }
        }
    }

    /// The sum of the further coefficients of two series, of which a constant has none.
    fn plus_rests(&mut self, e: &mut Emitter, a: &Val, b: &Val, target: Shape) -> Emitted<Val> {
        // Before anything is decided: the zero of a constant's further coefficients is empty, too.
        let (a, b) = (&self.unfolded_beside(e, a, b)?, &self.unfolded_beside(e, b, a)?);
        if ![a, b].into_iter().any(|rest| self.flow.shapes.may_be_empty(rest.shape)) {
            return self.plus(e, a, b, target);
        }
        if self.is_large(a.shape) && self.is_large(b.shape) {
            let helper = Helper::PlusRests(a.shape, b.shape, target, self.origin(e));
            return Some(self.call_helper(e, helper, &[a, b], target));
        }
        self.plus_rests_unfolded(e, a, b, target)
    }

    /// [`plus_rests`](Self::plus_rests), alternative by alternative.
    pub fn plus_rests_unfolded(&mut self, e: &mut Emitter, a: &Val, b: &Val, target: Shape) -> Emitted<Val> {
        self.dispatch(e, a, target, |this, e, x| {
            if x.alternative.head == Head::Nil {
                return this.convert(e, b, target);
            }
            let left = this.single(e, x);
            this.dispatch(e, b, target, |this, e, y| {
                if y.alternative.head == Head::Nil {
                    return this.convert(e, &left, target);
                }
                let right = this.single(e, y);
                this.plus(e, &left, &right, target)
            })
        })
    }

    /// What [`Prim::Handed`], [`Prim::HandedFew`] or [`Prim::Kept`] makes of sums, this deep in them, as a value of
    /// shape `target`.
    pub fn split_sum(&mut self, e: &mut Emitter, side: Prim, sum: &Val, levels: Levels, target: Shape) -> Emitted<Val> {
        if side == Prim::Kept && !self.flow.shapes.hands_on(sum.shape, levels) {
            return self.convert(e, sum, target);
        }
        if side != Prim::Kept && self.flow.shapes.split_sum(sum.shape, side, levels) == sum.shape {
            // All of it is handed on as it is, which is seen best where nothing is decided.
            return self.convert(e, sum, target);
        }
        if self.has_many_choices(sum.shape) || self.is_large(sum.shape) {
            return Some(self.call_helper(e, Helper::Side(side, sum.shape, levels, target), &[sum], target));
        }
        self.split_sum_unfolded(e, side, sum, levels, target)
    }

    /// [`split_sum`](Self::split_sum), alternative by alternative.
    pub fn split_sum_unfolded(
        &mut self,
        e: &mut Emitter,
        side: Prim,
        sum: &Val,
        levels: Levels,
        target: Shape,
    ) -> Emitted<Val> {
        self.dispatch(e, sum, target, |this, e, parts| {
            let alternative = parts.alternative.clone();
            if is_pair(alternative.head) && this.flow.shapes.parts_hand_on(&alternative, levels) {
                let tag = this.tag_of(target, alternative.head.class())?;
                let wide = this.flow.shapes.alternatives(target)[tag].children.clone();
                let levels = levels.within(is_environment(alternative.head));
                let mut leaves = Vec::new();
                for (part, child) in parts.children.iter().enumerate() {
                    let shape = this.flow.shapes.side_of_part(child.shape, side, levels.below(part));
                    let value = match levels.below(part) {
                        Some(levels) => this.split_sum(e, side, child, levels, shape)?,
                        None if side == Prim::Kept => child.clone(),
                        None => Val { shape, leaves: Vec::new() },
                    };
                    leaves.extend(this.convert(e, &value, wide[part])?.leaves);
                }
                return Some(this.build(e, target, tag, leaves));
            }
            let value = match is_handed(&this.flow.shapes, &alternative) != (side == Prim::Kept) {
                true if side == Prim::Kept => this.single(e, parts),
                true => {
                    let stays = matches!(alternative.head, Head::OneHot(_))
                        && this.flow.shapes.stays_few(sum.shape, side, levels);
                    let handed = this.single(e, parts);
                    if stays { handed } else { this.settled(e, &handed)? }
                }
                false => Val { shape: this.flow.shapes.make(Head::Nothing, &[]), leaves: Vec::new() },
            };
            this.convert(e, &value, target)
        })
    }

    /// A part of a sum; of nothing, nothing.
    pub fn sum_part(&mut self, e: &mut Emitter, prim: Prim, sum: &Val, target: Shape) -> Emitted<Val> {
        let index = usize::from(matches!(prim, Prim::SumCdr | Prim::SplitCdr));
        let sum = self.unfold_zeros(e, sum)?;
        self.dispatch(e, &sum, target, |this, e, parts| match parts.alternative.head {
            Head::Pair(_) => this.convert(e, &parts.children[index], target),
            Head::Nothing => {
                let nothing = this.single(e, parts);
                this.convert(e, &nothing, target)
            }
            head => {
                let error = RuntimeError::NotAPair { prim, found: this.found(head) };
                this.fail(e, &error)
            }
        })
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
            let mut values = this.zeros(e, &parts.children, Site::Value.within(head))?;
            values[index] = part.clone();
            let shapes: Vec<Shape> = values.iter().map(|value| value.shape).collect();
            let shape = this.flow.shapes.make(head, &shapes);
            let sensitivity = this.build(e, shape, 0, values.into_iter().flat_map(|value| value.leaves).collect());
            this.convert(e, &sensitivity, target)
        })
    }
}
