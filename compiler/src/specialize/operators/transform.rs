//! The derivative operators that transform run-time values and undo that: `*j`, `*j-inverse`, `bundle`, `j*`, `primal`,
//! `tangent`, each below any number of transformations of its operands.
//!
//! `*j`, `*j-inverse` and `j*` cost nothing: they keep the leaves, since a tag has none and neither has the zero
//! tangent of a number. So does `primal` where the tangents are known to be zeros. Where data hold plain numbers beside
//! transformed ones, and for the operators that take bundles apart or make them, data are walked; the walk over boxed
//! data is a function of its own, made on demand.

use super::vector::Elements;
use crate::ad::base_and_tower;
use crate::ad::tower::{Tower, Transformation};
use crate::core::errors::RuntimeError;
use crate::core::ir::{Below, LambdaId, Program};
use crate::core::prim::{DIRECTIONS, Prim};
use crate::shape::algebra::Transform;
use crate::shape::lattice::{Class, Code, Head, Shape, Shapes, Site};
use crate::shape::operators::{Operator, is_environment_of, is_number};
use crate::shape::primitive::{Question, form_of, inside, satisfies};
use crate::specialize::Specializer;
use crate::specialize::emit::{Emitted, Emitter, Parts, Val};
use crate::specialize::helper::{Helper, Origin};
use crate::ssa::ir::{IntCompare, Op, Terminator, Type};
use rustc_hash::{FxHashMap, FxHashSet};

impl Specializer<'_> {
    /// What an operator makes of a value, as one of shape `target`.
    pub fn operator(&mut self, e: &mut Emitter, operator: Operator, value: &Val, target: Shape) -> Emitted<Val> {
        let always = self.always(operator, value.shape);
        if always
            && operator.prim != Prim::Tangent
            && self.layouts.unify(&self.flow.shapes, &mut self.out, value.shape, target)
        {
            return Some(Val { shape: target, leaves: value.leaves.clone() });
        }
        if self.may_recur(value.shape) || self.holds_large(value.shape) {
            let origin = if always { Origin::default() } else { self.origin(e) };
            let helper = Helper::Operator(operator, value.shape, target, origin);
            return Some(self.call_helper(e, helper, &[value], target));
        }
        self.operator_unfolded(e, operator, value, target)
    }

    /// [`operator`](Self::operator), alternative by alternative.
    pub fn operator_unfolded(
        &mut self,
        e: &mut Emitter,
        operator: Operator,
        value: &Val,
        target: Shape,
    ) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            let head = parts.alternative.head;
            match head {
                Head::Nothing => {
                    let value = this.single(e, parts);
                    this.convert(e, &value, target)
                }
                Head::Nil | Head::Bool(_) | Head::Text(_) => {
                    let value = match operator.prim {
                        Prim::Tangent => Val { shape: this.flow.shapes.nil(), leaves: Vec::new() },
                        _ => this.single(e, parts),
                    };
                    this.convert(e, &value, target)
                }
                Head::Real(_) | Head::Reverse | Head::Bundle => this.number_operator(e, operator, parts, target),
                Head::Series if operator.is_of_series() => this.number_operator(e, operator, parts, target),
                Head::Series | Head::Record(_) => this.each_part(e, operator, &parts, Some(head.class()), target),
                Head::ZeroOf(_) => {
                    let (operator, primal) = (operator.of_zero(), parts.children[0].clone());
                    let of = this.operator_shape(operator, primal.shape);
                    let wide = this.flow.shapes.find(target, Class::ZeroOf).map(|zero| zero.children[0]);
                    if !wide.is_some_and(|wide| this.flow.shapes.is_zero_of_own_zero(of, wide)) {
                        return this.each_part(e, operator, &parts, Some(Class::ZeroOf), target);
                    }
                    let primal = this.operator(e, operator, &primal, of)?;
                    let zero = this.flow.shapes.make(head, &[of]);
                    let zero = this.build(e, zero, 0, primal.leaves);
                    this.convert(e, &zero, target)
                }
                Head::Vector | Head::Beginning => {
                    if this.flow.shapes.single(value.shape).is_none() {
                        let vector = this.single(e, parts.clone());
                        if this.holds_large(vector.shape) {
                            return this.operator(e, operator, &vector, target);
                        }
                    }
                    let tag = this.tag_of(target, head.class())?;
                    let shape = this.flow.shapes.alternatives(target)[tag].children[0];
                    let vector = Elements::of(&parts);
                    let may_fail = !this.always(operator, vector.shape);
                    let result = this.map_elements(e, &vector, shape, may_fail, |this, e, element| {
                        this.operator(e, operator, element, shape)
                    });
                    Some(this.build(e, target, tag, result.leaves()))
                }
                Head::OneHot(_) => {
                    let tag = this.tag_of(target, Class::OneHot)?;
                    let shapes = this.flow.shapes.alternatives(target)[tag].children.clone();
                    let base = Elements::all(&parts);
                    let base = this.map_elements(e, &base, shapes[0], false, |this, e, element| {
                        this.operator(e, operator.of_zero(), element, shapes[0])
                    });
                    this.map_one_hot(e, &parts, base.elements, (target, tag), |this, e, part, shape| {
                        this.operator(e, operator, part, shape)
                    })
                }
                Head::Pair(of) => {
                    let of = of.and_then(|code| this.transformed(operator, code));
                    this.each_part(e, operator, &parts, Some(Class::Pair(of)), target)
                }
                Head::Closure(code, _) => match this.transformed(operator, code) {
                    Some(code) if operator.prim == Prim::Tangent => {
                        let mut items = Vec::with_capacity(parts.children.len());
                        for capture in &parts.children {
                            let shape = this.operator_shape(operator, capture.shape);
                            items.push(this.operator(e, operator, capture, shape)?);
                        }
                        let list = this.environment(e, code, items);
                        this.convert(e, &list, target)
                    }
                    Some(code) => this.each_part(e, operator, &parts, Some(Class::Closure(code)), target),
                    None => this.not_done(e, operator, head),
                },
            }
        })
    }

    /// The operator on every part of an alternative; the result is of that class in the target.
    fn each_part(
        &mut self,
        e: &mut Emitter,
        operator: Operator,
        parts: &Parts,
        class: Option<Class>,
        target: Shape,
    ) -> Emitted<Val> {
        let Some(tag) = class.and_then(|class| self.tag_of(target, class)) else {
            // It cannot be done on one of the parts: doing it on the parts in order finds which.
            for child in &parts.children {
                let shape = self.operator_shape(operator, child.shape);
                self.operator(e, operator, child, shape)?;
            }
            return self.not_done(e, operator, parts.alternative.head);
        };
        let wide = self.flow.shapes.alternatives(target)[tag].clone();
        let mut leaves = Vec::new();
        for (child, shape) in parts.children.iter().zip(wide.children.iter()) {
            leaves.extend(self.operator(e, operator, child, *shape)?.leaves);
        }
        Some(self.build(e, target, tag, leaves))
    }

    fn number_operator(&mut self, e: &mut Emitter, operator: Operator, parts: Parts, target: Shape) -> Emitted<Val> {
        let head = parts.alternative.head;
        if operator.is_inside() && !parts.children.is_empty() {
            return self.each_part(e, operator.inside(), &parts, Some(head.class()), target);
        }
        match (operator.prim, head) {
            (Prim::J | Prim::JStar | Prim::Lift | Prim::LiftDirections, _) => {
                let class = match operator.prim {
                    Prim::J => Class::Reverse,
                    Prim::JStar => Class::Bundle,
                    _ => Class::Series,
                };
                let Some(tag) = self.tag_of(target, class) else { return self.not_done(e, operator, head) };
                let wide = self.flow.shapes.alternatives(target)[tag].clone();
                let inner = self.single(e, parts);
                let mut leaves = self.convert(e, &inner, wide.children[0])?.leaves;
                if let Some(more) = wide.children.get(1) {
                    let none = Val { shape: self.flow.shapes.nil(), leaves: Vec::new() };
                    let more = match operator.prim {
                        Prim::Lift => self.convert(e, &none, *more)?,
                        Prim::LiftDirections => {
                            let zero = self.flow.shapes.zero(inner.shape);
                            let zero = self.zero(e, &inner, Site::Value, zero)?;
                            let shape = self.flow.shapes.list(&[zero.shape; DIRECTIONS]);
                            let leaves = (0..DIRECTIONS).flat_map(|_| zero.leaves.clone()).collect();
                            self.convert(e, &Val { shape, leaves }, *more)?
                        }
                        _ => self.zero(e, &inner, Site::Value, *more)?,
                    };
                    leaves.extend(more.leaves);
                }
                Some(self.build(e, target, tag, leaves))
            }
            (Prim::Unlift | Prim::UnliftDirections, Head::Series) => self.convert(e, &parts.children[0], target),
            _ if operator.is_inside() => self.not_done(e, operator, head),
            (Prim::JInverse, Head::Reverse) | (Prim::Primal, Head::Bundle) => {
                self.convert(e, &parts.children[0], target)
            }
            (Prim::Tangent, Head::Bundle) => self.convert(e, &parts.children[1], target),
            _ => self.not_done(e, operator, head),
        }
    }

    fn not_done(&mut self, e: &mut Emitter, operator: Operator, head: Head) -> Emitted<Val> {
        if operator.transforms() {
            // It can always be done; the analysis leaves out alternatives with a part that has no value.
            e.terminate(Terminator::Unreachable);
            return None;
        }
        let found = self.found(head);
        let error = match operator.prim {
            Prim::Primal | Prim::Tangent => RuntimeError::NotForward { prim: operator.prim, found },
            _ => RuntimeError::NotReversed { found },
        };
        self.fail(e, &error)
    }

    /// The adding form of code, or with `Prim::Plain` the code that this is the adding form of.
    pub fn form_of_code(&mut self, code: Code, prim: Prim) -> Code {
        self.codes.get_or_insert_with(|| Codes::new(self.core)).form(code, prim)
    }

    /// Backpropagators as their adding forms, or with `Prim::Plain` the other way round: what they captured stays.
    pub fn form(&mut self, e: &mut Emitter, prim: Prim, value: &Val, target: Shape) -> Emitted<Val> {
        self.dispatch(e, value, target, |this, e, parts| {
            let codes = this.codes.get_or_insert_with(|| Codes::new(this.core));
            let head = form_of(codes, prim, parts.alternative.head);
            if head == parts.alternative.head {
                let value = this.single(e, parts);
                return this.convert(e, &value, target);
            }
            let shape = this.flow.shapes.make(head, &parts.alternative.children);
            let leaves = parts.children.into_iter().flat_map(|child| child.leaves).collect();
            let value = this.build(e, shape, 0, leaves);
            this.convert(e, &value, target)
        })
    }

    /// What can be the list of one environment, as a value of the shape that the analysis found for it, or one to be
    /// converted to it.
    pub fn own_environment(&mut self, e: &mut Emitter, list: &Val, target: Shape) -> Emitted<Val> {
        let list = self.unfold_zeros(e, list)?;
        match self.is_plain(list.shape) {
            true => Some(list),
            false => self.form(e, Prim::Plain, &list, target),
        }
    }

    /// Whether all alternatives are plain forms. Each clause of a long choice asks that of the sum of all.
    fn is_plain(&mut self, shape: Shape) -> bool {
        if let Some(known) = self.plain.get(&shape) {
            return *known;
        }
        let codes = self.codes.get_or_insert_with(|| Codes::new(self.core));
        let is_plain = |head: Head| form_of(codes, Prim::Plain, head) == head;
        let plain = self.flow.shapes.alternatives(shape).iter().map(|list| list.head).all(is_plain);
        self.plain.insert(shape, plain);
        plain
    }

    /// The code that an operator makes of another.
    fn transformed(&mut self, operator: Operator, code: Code) -> Option<Code> {
        operator.code(self.codes.get_or_insert_with(|| Codes::new(self.core)), code)
    }

    /// The shape of what an operator makes of a part.
    fn operator_shape(&mut self, operator: Operator, shape: Shape) -> Shape {
        let codes = self.codes.get_or_insert_with(|| Codes::new(self.core));
        self.flow.shapes.operator(operator, shape, codes).unwrap_or(Shapes::BOTTOM)
    }

    /// Whether an operator can be done on every value of a shape.
    fn always(&mut self, operator: Operator, shape: Shape) -> bool {
        let mut seen = FxHashSet::default();
        let always = self.always_assuming(operator, shape, &mut seen);
        if always {
            self.always.extend(seen.into_iter().map(|seen| (seen, true)));
        }
        self.always.insert((operator, shape), always);
        always
    }

    /// [`always`](Self::always), where it can be done on the parts in `seen`.
    fn always_assuming(&self, operator: Operator, shape: Shape, seen: &mut FxHashSet<(Operator, Shape)>) -> bool {
        if operator.transforms() {
            return true;
        }
        if let Some(known) = self.always.get(&(operator, shape)) {
            return *known;
        }
        if !seen.insert((operator, shape)) {
            return true;
        }
        self.flow.shapes.alternatives(shape).iter().all(|a| match (a.head, operator.prim) {
            (Head::Nil | Head::Bool(_) | Head::Text(_) | Head::Nothing, _) => true,
            (Head::Series, Prim::Unlift | Prim::UnliftDirections) => true,
            (Head::Reverse | Head::Bundle, _) if operator.is_inside() => {
                a.children.iter().all(|child| self.always_assuming(operator.inside(), *child, seen))
            }
            (Head::Reverse, Prim::JInverse) | (Head::Bundle, Prim::Primal | Prim::Tangent) => true,
            (Head::Real(_) | Head::Reverse | Head::Bundle, _) => false,
            (Head::Closure(code, _), _)
                if code.tower.remove(operator.below.of_code(), operator.transformation()).is_none() =>
            {
                false
            }
            (Head::OneHot(_), _) => {
                self.always_assuming(operator.of_zero(), a.children[0], seen)
                    && self.always_assuming(operator, a.children[1], seen)
            }
            (
                Head::Pair(_)
                | Head::Record(_)
                | Head::Series
                | Head::ZeroOf(_)
                | Head::Closure(..)
                | Head::Vector
                | Head::Beginning,
                _,
            ) => a.children.iter().all(|child| self.always_assuming(operator, *child, seen)),
        })
    }

    /// `(bundle x t)`, below so many transformations, as a value of shape `target`.
    pub fn bundle(&mut self, e: &mut Emitter, below: Below, x: &Val, t: &Val, target: Shape) -> Emitted<Val> {
        let may_recur =
            |this: &mut Self, shape: Shape| this.is_large(shape) || this.tag_of(shape, Class::ZeroOf).is_some();
        let multiplies = self.meet_in_several_ways(x.shape, t.shape);
        let hold_large = self.holds_large(x.shape) && self.holds_large(t.shape);
        if multiplies || hold_large || may_recur(self, x.shape) && may_recur(self, t.shape) {
            let helper = Helper::Bundle(below, [x.shape, t.shape], target, self.origin(e));
            return Some(self.call_helper(e, helper, &[x, t], target));
        }
        self.bundle_unfolded(e, below, x, t, target)
    }

    /// [`bundle`](Self::bundle), alternative by alternative.
    pub fn bundle_unfolded(&mut self, e: &mut Emitter, below: Below, x: &Val, t: &Val, target: Shape) -> Emitted<Val> {
        let single = self.flow.shapes.single(t.shape).is_some();
        let both_single = single && self.flow.shapes.single(x.shape).is_some();
        self.dispatch(e, x, target, |this, e, x| {
            this.dispatch(e, t, target, |this, e, t| {
                if (x.alternative.head, t.alternative.head) == (Head::Vector, Head::Vector) && !both_single {
                    let (value, tangent) = (this.single(e, x.clone()), this.single(e, t.clone()));
                    if this.holds_large(value.shape) && this.holds_large(tangent.shape) {
                        return this.bundle(e, below, &value, &tangent, target);
                    }
                }
                this.bundle_parts(e, below, x.clone(), t, single, target)
            })
        })
    }

    fn bundle_parts(
        &mut self,
        e: &mut Emitter,
        below: Below,
        x: Parts,
        t: Parts,
        single: bool,
        target: Shape,
    ) -> Emitted<Val> {
        let perturb = Operator { prim: Prim::JStar, below };
        match (x.alternative.head, t.alternative.head) {
            (_, Head::ZeroOf(_)) => {
                let value = self.single(e, x);
                let shape = self.operator_shape(perturb, value.shape);
                let bundle = self.operator(e, perturb, &value, shape)?;
                self.convert(e, &bundle, target)
            }
            (Head::ZeroOf(_), _) => {
                let (zero, tangent) = (self.single(e, x), self.single(e, t));
                let value = self.unfold_zeros(e, &zero)?;
                self.bundle(e, below, &value, &tangent, target)
            }
            (Head::Nil | Head::Bool(_) | Head::Text(_), Head::Nil) | (Head::Nothing, Head::Nothing) => {
                let value = self.single(e, x);
                self.convert(e, &value, target)
            }
            (f, g) if is_number(f) && f.class() == g.class() => {
                if below.forward > 0 && !x.children.is_empty() {
                    let below = below.with_forward(below.forward - 1);
                    return self.bundle_each(e, below, [&x, &t], Some(f.class()), target);
                }
                let (value, tangent) = (self.single(e, x), self.single(e, t));
                match self.tag_of(target, Class::Bundle) {
                    Some(tag) if below.forward == 0 && self.flow.shapes.alike(value.shape, tangent.shape) => {
                        let wide = self.flow.shapes.alternatives(target)[tag].clone();
                        let mut leaves = self.convert(e, &value, wide.children[0])?.leaves;
                        leaves.extend(self.convert(e, &tangent, wide.children[1])?.leaves);
                        Some(self.build(e, target, tag, leaves))
                    }
                    _ => self.no_tangent(e, f, g),
                }
            }
            (Head::OneHot(_), _) | (_, Head::OneHot(_)) => {
                let (x, t) = (self.single(e, x), self.single(e, t));
                let (x, t) = (self.dense(e, &x)?, self.dense(e, &t)?);
                self.bundle(e, below, &x, &t, target)
            }
            (Head::Vector, Head::Vector) => {
                let (a, b) = (Elements::of(&x), Elements::of(&t));
                let error = self.not_a_tangent(x.alternative.head, t.alternative.head);
                let conform = e.value(Op::IntCompare(IntCompare::Eq), &[a.length, b.length], Type::Bool);
                self.demand(e, conform, |this, e| this.fail(e, &error));
                let Some(tag) = self.tag_of(target, Class::Vector) else { return self.fail(e, &error) };
                let shape = self.flow.shapes.alternatives(target)[tag].children[0];
                let result = self.build_vector(e, shape, a.length, true, |this, e, place| {
                    let (x, t) = (this.element(e, &a, place), this.element(e, &b, place));
                    this.bundle(e, below, &x, &t, shape)
                });
                Some(self.build(e, target, tag, result.leaves()))
            }
            (Head::Series, Head::Series) => self.bundle_each(e, below, [&x, &t], Some(Class::Series), target),
            (Head::Record(kind), Head::Record(other)) if kind == other => {
                self.bundle_each(e, below, [&x, &t], Some(Class::Record(kind)), target)
            }
            (Head::Pair(of), Head::Pair(_)) => {
                let of = of.and_then(|code| self.transformed(perturb, code));
                self.bundle_each(e, below, [&x, &t], Some(Class::Pair(of)), target)
            }
            (Head::Closure(code, _), list) if is_environment_of(list, code, single) => {
                self.bundle_closure(e, below, code, x, t, target)
            }
            (f, g) => self.no_tangent(e, f, g),
        }
    }

    /// A bundle of every part of a value and its tangent; the result is of that class in the target.
    fn bundle_each(
        &mut self,
        e: &mut Emitter,
        below: Below,
        [x, t]: [&Parts; 2],
        class: Option<Class>,
        target: Shape,
    ) -> Emitted<Val> {
        let pairs = || x.children.iter().zip(&t.children);
        let Some(tag) = class.and_then(|class| self.tag_of(target, class)) else {
            // One of the parts does not fit: bundling the parts in order finds which.
            for (x, t) in pairs() {
                self.bundle_somehow(e, below, x, t)?;
            }
            return self.no_tangent(e, x.alternative.head, t.alternative.head);
        };
        let wide = self.flow.shapes.alternatives(target)[tag].clone();
        let mut leaves = Vec::new();
        for ((x, t), shape) in pairs().zip(wide.children.iter()) {
            leaves.extend(self.bundle(e, below, x, t, *shape)?.leaves);
        }
        Some(self.build(e, target, tag, leaves))
    }

    /// A bundle of the shape that it has.
    fn bundle_somehow(&mut self, e: &mut Emitter, below: Below, x: &Val, t: &Val) -> Emitted<Val> {
        let codes = self.codes.get_or_insert_with(|| Codes::new(self.core));
        let shape = self.flow.shapes.bundle(below, [x.shape, t.shape], codes).unwrap_or(Shapes::BOTTOM);
        self.bundle(e, below, x, t, shape)
    }

    /// A closure with a list of tangents, one for each variable that it has captured.
    fn bundle_closure(
        &mut self,
        e: &mut Emitter,
        below: Below,
        code: Code,
        x: Parts,
        t: Parts,
        target: Shape,
    ) -> Emitted<Val> {
        let error = self.not_a_tangent(x.alternative.head, t.alternative.head);
        let mut rest = self.single(e, t.clone());
        let mut items = Vec::with_capacity(x.children.len());
        for _ in &x.children {
            items.push(self.part_of_list(e, &rest, 0, &error)?);
            rest = self.part_of_list(e, &rest, 1, &error)?;
        }
        self.end(e, &rest, |_, _| error.clone())?;
        let code = self.transformed(Operator { prim: Prim::JStar, below }, code);
        let tangents = Parts { children: items, ..t };
        self.bundle_each(e, below, [&x, &tangents], code.map(Class::Closure), target)
    }

    fn part_of_list(&mut self, e: &mut Emitter, list: &Val, index: usize, error: &RuntimeError) -> Emitted<Val> {
        let shape = crate::shape::primitive::part(&mut self.flow.shapes, list.shape, index);
        self.part(e, list, index, shape, |_, _| error.clone())
    }

    fn not_a_tangent(&self, value: Head, tangent: Head) -> RuntimeError {
        RuntimeError::NotATangent { value: self.found(value), found: self.found(tangent) }
    }

    fn no_tangent(&mut self, e: &mut Emitter, value: Head, tangent: Head) -> Emitted<Val> {
        let error = self.not_a_tangent(value, tangent);
        self.fail(e, &error)
    }

    /// A test of a number below some of its transformations.
    pub fn test_below(&mut self, e: &mut Emitter, below: Below, question: Question, value: &Val) -> Emitted<Val> {
        let value = self.unfold_zeros(e, value)?;
        let unknown = self.flow.shapes.boolean(None);
        self.dispatch(e, &value, unknown, |this, e, parts| {
            let class = parts.alternative.head.class();
            if let Some(below) = inside(class, below) {
                return this.test_below(e, below, question, &parts.children[0]);
            }
            Some(Val { shape: unknown, leaves: vec![e.boolean(satisfies(class, question))] })
        })
    }
}

/// The transforms that exist; nothing is transformed after the analysis.
#[derive(Debug)]
pub struct Codes {
    lambdas: FxHashMap<(LambdaId, Tower), LambdaId>,
    /// The adding forms of backpropagators, and what they are the adding forms of.
    adding: FxHashMap<LambdaId, LambdaId>,
    plain: FxHashMap<LambdaId, LambdaId>,
}

impl Codes {
    fn new(core: &Program) -> Codes {
        Codes {
            lambdas: core.lambdas.ids().map(|lambda| (base_and_tower(core, lambda), lambda)).collect(),
            adding: core.adding.clone(),
            plain: core.adding.iter().map(|(plain, adding)| (*adding, *plain)).collect(),
        }
    }

    fn find(&self, base: LambdaId, tower: Tower) -> Option<Code> {
        let lambda = *self.lambdas.get(&(base, tower))?;
        Some(Code { base, tower, lambda })
    }
}

impl Transform for Codes {
    fn insert(&mut self, code: Code, new: Transformation, below: u32) -> Option<Code> {
        self.find(code.base, code.tower.insert(below, new))
    }
    fn remove(&mut self, code: Code, old: Transformation, below: u32) -> Option<Code> {
        self.find(code.base, code.tower.remove(below, old)?)
    }
    fn form(&mut self, code: Code, prim: Prim) -> Code {
        let forms = if prim == Prim::Plain { &self.plain } else { &self.adding };
        let base = forms.get(&code.base).copied().unwrap_or(code.base);
        self.find(base, code.tower).unwrap_or(code)
    }
}
