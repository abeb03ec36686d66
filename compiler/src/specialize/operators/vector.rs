//! Vectors on run-time values: the primitives, and the operators of the vector space of sensitivities.
//!
//! ```text
//! vector     length, elements          one box that holds the leaves of all elements; none if they have no leaves
//! one-hot    length, place, part       what reading an element gives as the sensitivity of the vector, and the sum of a
//!                                      few reads: see [`super::hots`]
//! ```
//!
//! A sum of a vector and a one-hot one changes one element: of a copy, unless nobody else owns the vector. So a loop
//! that reads elements adds up their sensitivities in place.

use crate::core::errors::RuntimeError;
use crate::core::prim::Prim;
use crate::shape::lattice::{Class, Fact, Head, Shape, Shapes, Site};
use crate::shape::vector::{Places, may_be_vector};
use crate::specialize::Specializer;
use crate::specialize::emit::{Emitted, Emitter, Parts, Val, target};
use crate::specialize::errors::failure::HOLE;
use crate::specialize::operators::tables::has_table;
use crate::ssa::ir::{Compare, Int2, IntCompare, Op, Terminator, Type, Value, VectorId, VectorLayout};
use rustc_hash::FxHashSet;

/// Lengths are below this number.
const TOO_MANY: i64 = 1_000_000_000_000_000;

/// Zeros of zeros are taken apart one by one as long as there are fewer than this.
const MAX_ZEROS: usize = 4;

/// A vector under construction or taken apart: the shape of its elements, its length, and the elements if they have
/// leaves.
#[derive(Clone, Copy)]
pub(in crate::specialize) struct Elements {
    pub shape: Shape,
    pub length: Value,
    /// How many there are so far, if this is a beginning.
    pub filled: Option<Value>,
    pub elements: Option<Value>,
}

impl Elements {
    /// What an alternative that is a vector consists of.
    pub fn of(parts: &Parts) -> Elements {
        let length = parts.own.expect("a vector has a length");
        Elements { shape: parts.alternative.children[0], length, filled: parts.place, elements: parts.elements }
    }
    /// The same with all elements: of a one-hot vector, or a beginning, those that its zeros are zeros of.
    pub fn all(parts: &Parts) -> Elements {
        Elements { filled: None, ..Elements::of(parts) }
    }
    /// The leaves of the vector.
    pub fn leaves(&self) -> Vec<Value> {
        [self.length].into_iter().chain(self.filled).chain(self.elements).collect()
    }
    /// The number of elements that there are.
    pub(super) fn count(&self) -> Value {
        self.filled.unwrap_or(self.length)
    }
}

impl Specializer<'_> {
    /// The kind of vectors whose elements have that shape, if these have leaves.
    pub fn vector_kind(&mut self, element: Shape) -> Option<VectorId> {
        let fields = self.leaves(element).to_vec();
        if fields.is_empty() {
            return None;
        }
        if let Some(kind) = self.vectors.get(&fields) {
            return Some(*kind);
        }
        let kind = self.out.vectors.push(VectorLayout { name: "vector".into(), fields: fields.clone() });
        self.vectors.insert(fields, kind);
        Some(kind)
    }

    /// A vector of vacant elements.
    pub(in crate::specialize) fn vacant(&mut self, e: &mut Emitter, shape: Shape, length: Value) -> Elements {
        let kind = self.vector_kind(shape);
        let elements = kind.map(|kind| e.value(Op::NewVector(kind), &[length], Type::Ptr));
        Elements { shape, length, filled: None, elements }
    }

    /// An element, whose place is in range.
    pub(in crate::specialize) fn element(&mut self, e: &mut Emitter, vector: &Elements, place: Value) -> Val {
        let types = self.leaves(vector.shape);
        let leaves = match (self.vector_kind(vector.shape), vector.elements) {
            (Some(kind), Some(elements)) => {
                let operands = [elements, vector.length, place];
                let fields = (0..).zip(types.iter());
                fields.map(|(field, ty)| e.value(Op::Element(kind, field), &operands, *ty)).collect()
            }
            _ => Vec::new(),
        };
        Val { shape: vector.shape, leaves }
    }

    /// The vector with another element of the same shape in a place, which is in range.
    pub(in crate::specialize) fn with_element(
        &mut self,
        e: &mut Emitter,
        vector: Elements,
        place: Value,
        element: &Val,
    ) -> Elements {
        debug_assert_eq!(vector.shape, element.shape);
        let (Some(kind), Some(elements)) = (self.vector_kind(vector.shape), vector.elements) else { return vector };
        let operands: Vec<Value> = [elements, vector.length, place].iter().chain(&element.leaves).copied().collect();
        Elements { elements: Some(e.value(Op::WithElement(kind), &operands, Type::Ptr)), ..vector }
    }

    /// The vector of what `each` makes for every place, from the first to the last.
    pub(in crate::specialize) fn build_vector(
        &mut self,
        e: &mut Emitter,
        shape: Shape,
        length: Value,
        may_fail: bool,
        each: impl FnOnce(&mut Self, &mut Emitter, Value) -> Emitted<Val>,
    ) -> Elements {
        let vector = self.vacant(e, shape, length);
        self.replace_elements(e, vector, may_fail, |this, e, _, place| each(this, e, place))
    }

    /// The vector with every element replaced by what `each` makes of the vector so far and the place; if that may
    /// fail, also where the elements have no leaves.
    pub(in crate::specialize) fn replace_elements(
        &mut self,
        e: &mut Emitter,
        vector: Elements,
        may_fail: bool,
        each: impl FnOnce(&mut Self, &mut Emitter, &Elements, Value) -> Emitted<Val>,
    ) -> Elements {
        if vector.elements.is_none() && !may_fail {
            return vector;
        }
        let state: Vec<Value> = vector.elements.into_iter().collect();
        let state = self.for_each_place(e, vector.count(), &state, |this, e, place, state| {
            let vector = Elements { elements: state.first().copied(), ..vector };
            let element = each(this, e, &vector, place)?;
            let vector = this.with_element(e, vector, place, &element);
            Some(vector.elements.into_iter().collect())
        });
        Elements { elements: state.first().copied(), ..vector }
    }

    /// The vector, or beginning of one, of what `each` makes of every element.
    pub(in crate::specialize) fn map_elements(
        &mut self,
        e: &mut Emitter,
        vector: &Elements,
        shape: Shape,
        may_fail: bool,
        each: impl FnOnce(&mut Self, &mut Emitter, &Val) -> Emitted<Val>,
    ) -> Elements {
        let new = self.vacant(e, shape, vector.length);
        let new = Elements { filled: vector.filled, ..new };
        self.replace_elements(e, new, may_fail, |this, e, _, place| {
            let element = this.element(e, vector, place);
            each(this, e, &element)
        })
    }

    /// A loop over the places of a vector, with values that it carries along.
    pub(in crate::specialize) fn for_each_place(
        &mut self,
        e: &mut Emitter,
        length: Value,
        state: &[Value],
        each: impl FnOnce(&mut Self, &mut Emitter, Value, &[Value]) -> Emitted<Vec<Value>>,
    ) -> Vec<Value> {
        let carried = state.iter().map(|value| e.function.values[*value]);
        let types: Vec<Type> = [Type::Int].into_iter().chain(carried).collect();
        let (head, body, done) = (e.new_block(&types), e.new_block(&[]), e.new_block(&[]));
        let first = e.int(0);
        e.jump(head, [first].iter().chain(state).copied().collect());
        e.switch_to(head);
        let params = e.function.blocks[head].params.clone();
        let more = e.value(Op::IntCompare(IntCompare::Lt), &[params[0], length], Type::Bool);
        e.terminate(Terminator::Branch(more, target(body), target(done)));
        e.switch_to(body);
        e.depth += 1;
        if let Some(state) = each(self, e, params[0], &params[1..]) {
            let one = e.int(1);
            let next = e.value(Op::Int2(Int2::Add), &[params[0], one], Type::Int);
            e.jump(head, [next].into_iter().chain(state).collect());
        }
        e.depth -= 1;
        e.switch_to(done);
        params[1..].to_vec()
    }

    /// Goes on where a condition holds; where not, `otherwise` ends the program.
    pub(in crate::specialize) fn demand(
        &mut self,
        e: &mut Emitter,
        condition: Value,
        otherwise: impl FnOnce(&mut Self, &mut Emitter) -> Emitted<()>,
    ) {
        let (fine, wrong) = (e.new_block(&[]), e.new_block(&[]));
        e.terminate(Terminator::Branch(condition, target(fine), target(wrong)));
        e.switch_to(wrong);
        e.depth += 1;
        let _: Option<()> = otherwise(self, e);
        e.depth -= 1;
        e.switch_to(fine);
    }

    /// The integer that a number is, if it is below a limit; else `otherwise` ends the program.
    fn integer(
        &mut self,
        e: &mut Emitter,
        number: Value,
        limit: Value,
        otherwise: impl FnOnce(&mut Self, &mut Emitter) -> Emitted<()>,
    ) -> Value {
        let integer = e.value(Op::IntOf, &[number], Type::Int);
        let back = e.value(Op::RealOf, &[integer], Type::F64);
        let whole = e.value(Op::Compare(Compare::Eq), &[back, number], Type::Bool);
        let below = e.value(Op::IntCompare(IntCompare::Below), &[integer, limit], Type::Bool);
        let fits = e.value(Op::And, &[whole, below], Type::Bool);
        self.demand(e, fits, otherwise);
        integer
    }

    /// The place in a vector of that length that an operand is, checked.
    pub(in crate::specialize) fn place_of(
        &mut self,
        e: &mut Emitter,
        prim: Prim,
        index: &Val,
        length: Value,
    ) -> Emitted<Value> {
        let number = self.real_operand(e, prim, 1, index)?;
        Some(self.integer(e, number, length, |this, e| {
            let error = RuntimeError::NotAnIndex { index: HOLE.into(), length: HOLE.into() };
            let length = e.value(Op::RealOf, &[length], Type::F64);
            this.fail_with(e, &error, &[number, length])
        }))
    }

    /// A primitive of the family of vectors.
    pub fn vector_primitive(&mut self, e: &mut Emitter, prim: Prim, args: &[Val], result: Shape) -> Emitted<Val> {
        match prim {
            Prim::NewVector => {
                let number = self.real_operand(e, prim, 0, &args[0])?;
                let limit = e.int(TOO_MANY);
                let length = self.integer(e, number, limit, |this, e| {
                    this.fail_with(e, &RuntimeError::NotALength { number: HOLE.into() }, &[number])
                });
                let filled = Some(e.int(0));
                let shape = self.flow.shapes.alternatives(result)[0].children[0];
                let vector = Elements { filled, ..self.vacant(e, shape, length) };
                Some(self.build(e, result, 0, vector.leaves()))
            }
            Prim::Fill => self.fill(e, args, result),
            Prim::Finish => self.beginning(e, prim, &args[0], result, |this, e, beginning| {
                let vector = Elements { filled: None, ..beginning };
                Some(this.build(e, result, 0, vector.leaves()))
            }),
            Prim::Filled => self.beginning(e, prim, &args[0], result, |_, e, beginning| {
                let number = e.value(Op::RealOf, &[beginning.count()], Type::F64);
                Some(Val { shape: result, leaves: vec![number] })
            }),
            Prim::WithElement => self.with_changed_element(e, args, result),
            Prim::VectorLength => {
                let length = self.length(e, prim, &args[0])?;
                let number = e.value(Op::RealOf, &[length], Type::F64);
                Some(Val { shape: result, leaves: vec![number] })
            }
            _ => {
                let length = self.length(e, prim, &args[0])?;
                let place = self.place_of(e, prim, &args[1], length)?;
                self.element_at(e, &args[0], place, false, result)
            }
        }
    }

    pub fn not_a_vector<T>(&mut self, e: &mut Emitter, prim: Prim, head: Head) -> Emitted<T> {
        let error = RuntimeError::NotAVector { prim, found: self.found(head) };
        self.fail(e, &error)
    }

    /// The length of a vector in any form, checked to be one.
    fn length(&mut self, e: &mut Emitter, prim: Prim, vector: &Val) -> Emitted<Value> {
        if self.flow.shapes.single(vector.shape).is_some() {
            let parts = self.parts(e, vector, 0);
            return self.length_of_parts(e, prim, &parts);
        }
        let number = self.flow.shapes.real(Fact::Unknown);
        let length = self.dispatch(e, vector, number, |this, e, parts| {
            let length = this.length_of_parts(e, prim, &parts)?;
            Some(Val { shape: number, leaves: vec![e.value(Op::RealOf, &[length], Type::F64)] })
        })?;
        Some(e.value(Op::IntOf, &length.leaves, Type::Int))
    }

    fn length_of_parts(&mut self, e: &mut Emitter, prim: Prim, parts: &Parts) -> Emitted<Value> {
        match parts.alternative.head {
            Head::Vector | Head::Beginning | Head::OneHot(_) => parts.own,
            Head::ZeroOf(_) => {
                let primal = self.ending_zeros(e, &parts.children[0])?;
                self.length(e, prim, &primal)
            }
            head => self.not_a_vector(e, prim, head),
        }
    }

    /// The element of a vector in any form, or of its zero, at a place in range, as a value of shape `result`.
    pub(in crate::specialize) fn element_at(
        &mut self,
        e: &mut Emitter,
        vector: &Val,
        place: Value,
        is_zero: bool,
        result: Shape,
    ) -> Emitted<Val> {
        self.dispatch(e, vector, result, |this, e, parts| match parts.alternative.head {
            Head::Vector | Head::Beginning => {
                let element = this.element(e, &Elements::of(&parts), place);
                if is_zero { this.zero(e, &element, Site::Data, result) } else { this.convert(e, &element, result) }
            }
            Head::ZeroOf(_) => {
                let primal = this.ending_zeros(e, &parts.children[0])?;
                this.element_at(e, &primal, place, true, result)
            }
            head if has_table(head) => this.table_or_zero(e, &parts, place, is_zero, result),
            Head::OneHot(_) => this.hot_or_zero(e, &parts, &parts.hots(), place, is_zero, result),
            // `length` has been asked before.
            _ => {
                e.terminate(Terminator::Unreachable);
                None
            }
        })
    }

    /// What a zero is the zero of, in a form that can be taken apart until that is no zero: zeros of zeros of known
    /// depth stay as they are. To go through all at once would make one vector of all kinds, element by element.
    pub(super) fn ending_zeros(&mut self, e: &mut Emitter, primal: &Val) -> Emitted<Val> {
        let mut shape = primal.shape;
        for _ in 0..MAX_ZEROS {
            let Some(zero) = self.flow.shapes.find(shape, Class::ZeroOf) else { return Some(primal.clone()) };
            shape = zero.children[0];
        }
        self.beneath_zeros(e, primal)
    }

    /// A zero of a one-hot vector, as a value of shape `result`.
    pub(in crate::specialize) fn zero_element(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        place: Value,
        result: Shape,
    ) -> Emitted<Val> {
        let base = Elements::all(parts);
        let element = self.element(e, &base, place);
        self.zero(e, &element, Site::Data, result)
    }

    /// The zero of a one-hot vector.
    pub(in crate::specialize) fn zero_of_one_hot(&mut self, e: &mut Emitter, parts: &Parts) -> Emitted<Val> {
        let base = Elements::all(parts);
        let shape = self.flow.shapes.make(Head::Vector, &[base.shape]);
        let vector = self.build(e, shape, 0, base.leaves());
        let zero = self.flow.shapes.zero(shape);
        self.zero(e, &vector, Site::Value, zero)
    }

    /// What the elements of a one-hot vector are zeros of, converted to another shape.
    pub(in crate::specialize) fn convert_base(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        shape: Shape,
    ) -> Option<Value> {
        let base = Elements::all(parts);
        if self.flow.shapes.is_constant(shape) { None } else { self.convert_elements(e, base, shape).elements }
    }

    /// `(in-element vector index sensitivity)`. The index has been checked: only the reverse phase of a read does this.
    pub fn in_element(&mut self, e: &mut Emitter, args: &[Val], result: Shape) -> Emitted<Val> {
        let length = self.length(e, Prim::VectorRef, &args[0])?;
        let place = self.checked_place(e, &args[1])?;
        let tag = self.tag_of(result, Class::OneHot)?;
        let shapes = self.flow.shapes.alternatives(result)[tag].children.clone();
        let mut leaves = vec![length, place];
        if !self.flow.shapes.is_constant(shapes[0]) {
            leaves.extend(self.zero_base(e, &args[0], shapes[0])?.elements);
        }
        leaves.extend(self.convert(e, &args[2], shapes[1])?.leaves);
        let one = self.flow.shapes.make(Head::OneHot(Places::ONE), &shapes);
        let one = self.build(e, one, 0, leaves);
        self.convert(e, &one, result)
    }

    /// The vector of elements of that shape which the elements of the zero of a vector in any form are zeros of.
    fn zero_base(&mut self, e: &mut Emitter, vector: &Val, shape: Shape) -> Emitted<Elements> {
        let result = self.flow.shapes.make(Head::Vector, &[shape]);
        let base = self.dispatch(e, vector, result, |this, e, parts| {
            let base = match parts.alternative.head {
                Head::Vector | Head::Beginning | Head::OneHot(_) => Elements::all(&parts),
                Head::ZeroOf(_) => {
                    let primal = this.beneath_zeros(e, &parts.children[0])?;
                    this.zero_base(e, &primal, shape)?
                }
                _ => {
                    e.terminate(Terminator::Unreachable);
                    return None;
                }
            };
            let base = this.convert_elements(e, base, shape);
            Some(this.build(e, result, 0, base.leaves()))
        })?;
        let parts = self.parts(e, &base, 0);
        Some(Elements::of(&parts))
    }

    /// A vector of so many elements, as a pattern demands; `error` says what is wrong with anything else.
    pub fn demand_length(
        &mut self,
        e: &mut Emitter,
        value: &Val,
        expected: u32,
        error: impl Fn(&Self, Head) -> RuntimeError,
    ) -> Emitted<Val> {
        let nil = self.flow.shapes.nil();
        self.dispatch(e, value, nil, |this, e, parts| {
            let head = parts.alternative.head;
            if !may_be_vector(head) {
                let error = error(this, head);
                return this.fail(e, &error);
            }
            let length = this.length_of_parts(e, Prim::VectorRef, &parts)?;
            let fits = e.value(Op::IntIs(i64::from(expected)), &[length], Type::Bool);
            this.demand(e, fits, |this, e| {
                let found = e.value(Op::RealOf, &[length], Type::F64);
                this.fail_with(e, &RuntimeError::VectorLength { expected, found: HOLE.into() }, &[found])
            });
            Some(Val { shape: nil, leaves: Vec::new() })
        })
    }

    /// The value with a vector in place of one that is one-hot, or a folded zero, at its top.
    pub fn dense(&mut self, e: &mut Emitter, value: &Val) -> Emitted<Val> {
        let value = self.unfold_zeros(e, value)?;
        if self.tag_of(value.shape, Class::OneHot).is_none() {
            return Some(value);
        }
        let shape = self.flow.shapes.dense(value.shape);
        self.dispatch(e, &value, shape, |this, e, parts| {
            let (Head::OneHot(_), Some(tag)) = (parts.alternative.head, this.tag_of(shape, Class::Vector)) else {
                let value = this.single(e, parts);
                return this.convert(e, &value, shape);
            };
            let element = this.flow.shapes.alternatives(shape)[tag].children[0];
            let vector = this.dense_elements(e, &parts, element)?;
            Some(this.build(e, shape, tag, vector.leaves()))
        })
    }

    /// The value with vectors in place of one-hot ones and zeros of vectors, and so on for elements that are vectors.
    pub fn settled(&mut self, e: &mut Emitter, value: &Val) -> Emitted<Val> {
        let dense = self.dense(e, value)?;
        let shape = self.flow.shapes.settled(dense.shape);
        if shape == dense.shape {
            return Some(dense);
        }
        let parts = self.parts(e, &dense, 0);
        let wide = self.flow.shapes.alternatives(shape)[0].children[0];
        let vector = Elements::of(&parts);
        let settled = self.settled_elements(e, vector, wide);
        Some(self.build(e, shape, 0, settled.leaves()))
    }

    /// A one-hot vector as a vector of elements of that shape.
    pub(in crate::specialize) fn dense_elements(
        &mut self,
        e: &mut Emitter,
        parts: &Parts,
        shape: Shape,
    ) -> Emitted<Elements> {
        let zero = self.flow.shapes.zero_at(parts.alternative.children[0], Site::Data);
        let vector = self.build_vector(e, shape, parts.own?, false, |this, e, place| {
            let zero = this.zero_element(e, parts, place, zero)?;
            this.settled_element(e, &zero, shape)
        });
        self.with_hots(e, vector, parts, |this, e, _, part| this.settled_element(e, part, shape))
    }

    /// The part of a one-hot vector, settled if elements of that shape are and it is no sum with a plain vector. A
    /// plain vector of zeros is not added to: the part would stay as it is, while the elements of the sum are plain.
    fn settled_part(&mut self, e: &mut Emitter, part: &Val, shape: Shape) -> Emitted<Val> {
        let element = self.flow.shapes.single(shape).filter(|alternative| alternative.head == Head::Vector);
        let adds = element.is_some_and(|vector| !self.flow.shapes.is_zero_vector(&vector));
        match adds || self.flow.shapes.join(part.shape, shape) == shape {
            true => Some(part.clone()),
            false => self.settled(e, part),
        }
    }

    /// An element as one of that shape, settled if that is.
    pub(in crate::specialize) fn settled_element(
        &mut self,
        e: &mut Emitter,
        element: &Val,
        shape: Shape,
    ) -> Emitted<Val> {
        let settled = self.flow.shapes.settled_element(element.shape);
        let is_wide = settled == element.shape || self.flow.shapes.join(element.shape, shape) == shape;
        let element = if is_wide { element.clone() } else { self.settled(e, element)? };
        self.convert(e, &element, shape)
    }

    /// A vector with elements of that shape, settled if that is.
    pub(in crate::specialize) fn settled_elements(
        &mut self,
        e: &mut Emitter,
        vector: Elements,
        shape: Shape,
    ) -> Elements {
        let is_wide = self.flow.shapes.settled_element(vector.shape) == vector.shape
            || self.flow.shapes.join(vector.shape, shape) == shape;
        match is_wide {
            true => self.convert_elements(e, vector, shape),
            false => {
                self.map_elements(e, &vector, shape, false, |this, e, element| this.settled_element(e, element, shape))
            }
        }
    }

    /// The vector with elements converted to a shape that covers theirs.
    pub(in crate::specialize) fn convert_elements(
        &mut self,
        e: &mut Emitter,
        vector: Elements,
        shape: Shape,
    ) -> Elements {
        let nothing = vector.shape == Shapes::BOTTOM;
        if vector.shape == shape || !nothing && self.same_leaves(vector.shape, shape) {
            return Elements { shape, ..vector };
        }
        if nothing {
            return Elements { filled: vector.filled, ..self.vacant(e, shape, vector.length) };
        }
        self.map_elements(e, &vector, shape, false, |this, e, element| this.convert(e, element, shape))
    }

    /// Whether the leaves of a value stay what they are when it is converted.
    pub(in crate::specialize) fn same_leaves(&mut self, from: Shape, to: Shape) -> bool {
        if from == to {
            return true;
        }
        if self.leaves(from) != self.leaves(to) || self.may_recur(from) || self.may_recur(to) {
            return false;
        }
        let (Some(a), Some(b)) = (self.flow.shapes.single(from), self.flow.shapes.single(to)) else { return false };
        match (a.head, b.head) {
            (Head::Real(Fact::Unknown), Head::Real(Fact::Unknown | Fact::PerhapsZero)) => true,
            (Head::Real(_), _) => a.head == b.head,
            (Head::Vector, Head::Vector) => self.same_leaves(a.children[0], b.children[0]),
            _ => {
                a.head.class() == b.head.class()
                    && a.children.iter().zip(b.children.iter()).all(|(a, b)| self.same_leaves(*a, *b))
            }
        }
    }

    /// The zero of a vector.
    pub(in crate::specialize) fn zero_vector(&mut self, e: &mut Emitter, parts: &Parts) -> Emitted<Val> {
        let vector = Elements::of(parts);
        let shape = self.flow.shapes.zero_at(vector.shape, Site::Data);
        let zero =
            self.map_elements(e, &vector, shape, false, |this, e, element| this.zero(e, element, Site::Data, shape));
        let zero = Elements { filled: None, ..zero };
        let shape = self.flow.shapes.make(Head::Vector, &[shape]);
        Some(self.build(e, shape, 0, zero.leaves()))
    }

    /// `(plus x y)` of vectors that are zeros: the longer one, or the right one.
    pub(in crate::specialize) fn longer(&mut self, e: &mut Emitter, x: Parts, y: Parts, result: Shape) -> Emitted<Val> {
        let (x_length, y_length) = (x.own?, y.own?);
        let [x, y] = [x, y].map(|parts| self.single(e, parts));
        if x_length == y_length {
            return self.convert(e, &y, result);
        }
        let is_longer = e.value(Op::IntCompare(IntCompare::Lt), &[y_length, x_length], Type::Bool);
        self.either(e, is_longer, result, |this, e, is_left| this.convert(e, if is_left { &x } else { &y }, result))
    }

    /// `(plus x y)` of vectors that are not known to be zeros, one-hot ones among them.
    pub(in crate::specialize) fn plus_vectors(
        &mut self,
        e: &mut Emitter,
        x: Parts,
        y: Parts,
        result: Shape,
    ) -> Emitted<Val> {
        let (f, g) = (x.alternative.head, y.alternative.head);
        let tag = match (f, g) {
            (Head::OneHot(_), Head::OneHot(_)) => self.tag_of_hot_sum(&x, &y, result),
            _ => self.tag_of(result, Class::Vector).map(|tag| (tag, Head::Vector)),
        };
        let Some((tag, head)) = tag else {
            e.terminate(Terminator::Unreachable);
            return None;
        };
        let lengths = [&x, &y].map(|parts| self.length_of_parts(e, Prim::VectorRef, parts));
        let [Some(left), Some(right)] = lengths else { return None };
        let conform = e.value(Op::IntCompare(IntCompare::Conform), &[left, right], Type::Bool);
        self.demand(e, conform, |this, e| {
            let error = RuntimeError::NonConformant { left: this.found(f), right: this.found(g) };
            this.fail(e, &error)
        });
        match head {
            Head::Vector => self.plus_to_vector(e, &x, &y, result, tag),
            head if has_table(head) => self.plus_tables(e, x, y, result, tag),
            _ => self.plus_hots(e, [&x, &y], result, tag),
        }
    }

    /// `(plus x y)` of vectors of one length, as a vector.
    pub(in crate::specialize) fn plus_to_vector(
        &mut self,
        e: &mut Emitter,
        x: &Parts,
        y: &Parts,
        result: Shape,
        tag: usize,
    ) -> Emitted<Val> {
        let left = x.own?;
        let shape = self.flow.shapes.alternatives(result)[tag].children[0];
        let sum = match (x.alternative.head, y.alternative.head) {
            (Head::Vector, Head::Vector) => {
                let (augend, addend) = (Elements::of(x), Elements::of(y));
                let may_fail = !self.always_conform(augend.shape, addend.shape, &mut FxHashSet::default());
                let is_wide = self.flow.shapes.join(augend.shape, shape) == shape;
                if !is_wide || self.leaves(shape).is_empty() {
                    // The sum has forms of its own, say no folded zeros. Or there is nothing to store, but perhaps a
                    // sum that fails.
                    let sums = self.vacant(e, shape, left);
                    self.replace_elements(e, sums, may_fail, |this, e, _, place| {
                        let (a, b) = (this.element(e, &augend, place), this.element(e, &addend, place));
                        this.plus(e, &a, &b, shape)
                    })
                } else {
                    let vector = self.convert_elements(e, augend, shape);
                    self.replace_elements(e, vector, false, |this, e, vector, place| {
                        let (a, b) = (this.element(e, vector, place), this.element(e, &addend, place));
                        this.plus(e, &a, &b, shape)
                    })
                }
            }
            (Head::OneHot(_), Head::Vector) => {
                let vector = self.settled_elements(e, Elements::of(y), shape);
                self.with_hots(e, vector, x, |this, e, element, part| {
                    let part = this.settled_part(e, part, shape)?;
                    this.plus(e, &part, element, shape)
                })?
            }
            (f, _) => {
                let vector = match f {
                    Head::Vector => self.settled_elements(e, Elements::of(x), shape),
                    _ => self.dense_elements(e, x, shape)?,
                };
                self.with_hots(e, vector, y, |this, e, element, part| {
                    let part = this.settled_part(e, part, shape)?;
                    this.plus(e, element, &part, shape)
                })?
            }
        };
        Some(self.build(e, result, tag, sum.leaves()))
    }
}
