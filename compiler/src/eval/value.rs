//! Values of the reference evaluator.
//!
//! Values are immutable and acyclic, so they are reference-counted. Only numbers are tagged and bundled: `*j` and `j*`
//! of anything else transform its parts. A number that has been bundled is a node with two parts, its primal and its
//! tangent. Lists and chains of closures get millions of nodes long, so everything here that walks a value, freeing it
//! included, keeps its own stack.
//!
//! `zero`, `*j` and `j*` of a node are deferred: the node that they make refers to its [`Origin`], and gets its parts
//! when somebody looks at them ([`super::deferred`]). So a loop over a list does not transform the whole rest of the
//! list at every step, nor make zeros of it. Nodes remember what became of them ([`Memo`]). Strong references point
//! from transforms and zeros to originals, never back, so values stay acyclic.

use super::deferred;
use super::print::found;
use crate::ad::base_and_tower;
use crate::ad::tower::Tower;
use crate::core::errors::{Found, Kind};
use crate::core::ir::{Below, Const, LambdaId, Program, RecordId};
use crate::core::operands::contract::Values;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

/// A number with its tags.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real {
    /// The number.
    pub number: f64,
    /// How many times `*j` was applied.
    pub tags: u32,
    /// A zero that `zero` made: `plus` with it returns the other operand bit for bit. `number` is 0.
    pub symbolic: bool,
}

impl Real {
    /// An untagged number.
    pub fn new(number: f64) -> Real {
        Real { number, tags: 0, symbolic: false }
    }
    /// The zero sensitivity of a number with that many tags.
    pub fn symbolic_zero(tags: u32) -> Real {
        Real { number: 0.0, tags, symbolic: true }
    }
}

/// A value.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// `()`
    #[default]
    Nil,
    /// `#t`, `#f`
    Bool(bool),
    /// A number.
    Real(Real),
    /// A text.
    Str(Rc<Box<str>>),
    /// A pair.
    Pair(Rc<Pair>),
    /// A bundle of numbers: the primal and the tangent.
    Bundle(Rc<Pair>),
    /// A power series: the constant term and the list of the further coefficients.
    Series(Rc<Pair>),
    /// A record; [`Pair::kind`] is its kind.
    Record(Rc<Pair>),
    /// A closure.
    Closure(Rc<Closure>),
    /// A vector.
    Vector(Rc<Vector>),
    /// No sensitivity, see [`Const::Nothing`].
    Nothing,
}

/// A λ of the program and what has been applied to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// A λ that is no transform.
    pub base: LambdaId,
    /// The transformations.
    pub tower: Tower,
}

impl Function {
    /// A λ of the program, which may be the transform of another.
    pub fn of(program: &Program, lambda: LambdaId) -> Function {
        let (base, tower) = base_and_tower(program, lambda);
        Function { base, tower }
    }
}

/// How the parts of a node are found when they are asked for.
#[derive(Debug)]
pub(super) enum Origin {
    /// The program built it of its parts.
    Built,
    /// An operator made it of a node.
    Made(Operator, Value),
}

/// An operator that makes a node of a node, below some transformations of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `zero`
    Zero,
    /// `*j`
    Reverse(Below),
    /// `*j-inverse`
    ReverseInverse(Below),
    /// `j*`
    Forward(Below),
    /// `primal`
    Primal(Below),
    /// `tangent`
    Tangent(Below),
    /// `%lift`
    Lift(Below),
    /// `%unlift`
    Unlift(Below),
    /// `%lift-directions`
    LiftDirections(Below),
    /// `%unlift-directions`
    UnliftDirections(Below),
}

/// What the derivative operators made of a node. What is alive is made only once, so that shared parts stay shared.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// What `*j-inverse`, `primal` and `tangent` made of it.
    pub undone: RefCell<Vec<(Operator, Value)>>,
    /// What `zero`, `*j` and `j*` made of it, which refers back to it.
    pub made: RefCell<Vec<(Operator, WeakNode)>>,
}

/// A pair or closure for as long as others need it.
#[derive(Debug)]
pub(super) enum WeakNode {
    Pair(Weak<Pair>),
    Bundle(Weak<Pair>),
    Series(Weak<Pair>),
    Record(Weak<Pair>),
    Closure(Weak<Closure>),
    Vector(Weak<Vector>),
}

/// The two parts of a pair, a bundle, a power series or a record.
#[derive(Debug)]
pub struct Pair {
    pub(super) parts: OnceCell<[Value; 2]>,
    pub(super) origin: Origin,
    memo: OnceCell<Box<Memo>>,
    is_zero: bool,
    /// Whether there is [`Value::Nothing`] in it.
    has_holes: bool,
    /// How many times `*j` was applied to a bundle; the number of the kind of a record.
    label: u32,
}

/// A function with the values of its captures.
#[derive(Debug)]
pub struct Closure {
    function: Function,
    pub(super) captures: OnceCell<Box<[Value]>>,
    pub(super) origin: Origin,
    memo: OnceCell<Box<Memo>>,
}

/// A sequence of values.
#[derive(Debug)]
pub struct Vector {
    pub(super) elements: OnceCell<Vec<Value>>,
    pub(super) origin: Origin,
    memo: OnceCell<Box<Memo>>,
    is_zero: bool,
}

thread_local! {
    /// Bytes in pairs and closures that are alive, roughly.
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

/// Roughly how many bytes the pairs and closures of this thread occupy.
pub fn live_bytes() -> usize {
    LIVE.get()
}

/// Two counters, the pair, and what the allocator adds.
const PAIR_BYTES: usize = 96;

/// The bytes of a closure or a vector with so many values.
fn sequence_bytes(values: usize) -> usize {
    96 + values * size_of::<Value>()
}

impl Value {
    /// An untagged number.
    pub fn real(number: f64) -> Value {
        Value::Real(Real::new(number))
    }
    /// A pair.
    pub fn pair(car: Value, cdr: Value) -> Value {
        Value::Pair(new_pair(Some([car, cdr]), Origin::Built, false, 0))
    }
    /// A pair that is a zero, of parts that are zeros.
    pub fn zero_pair(car: Value, cdr: Value) -> Value {
        Value::Pair(new_pair(Some([car, cdr]), Origin::Built, true, 0))
    }
    /// A pair whose parts are found when they are asked for.
    pub(super) fn deferred_pair(origin: Origin, is_zero: bool) -> Value {
        Value::Pair(new_pair(None, origin, is_zero, 0))
    }
    /// A bundle with so many tags.
    pub fn bundle(tags: u32, primal: Value, tangent: Value) -> Value {
        Value::Bundle(new_pair(Some([primal, tangent]), Origin::Built, false, tags))
    }
    /// A bundle whose parts are found when they are asked for.
    pub(super) fn deferred_bundle(tags: u32, origin: Origin, is_zero: bool) -> Value {
        Value::Bundle(new_pair(None, origin, is_zero, tags))
    }
    /// A power series.
    pub fn series(constant: Value, others: Value) -> Value {
        Value::Series(new_pair(Some([constant, others]), Origin::Built, false, 0))
    }
    /// A power series whose parts are found when they are asked for.
    pub(super) fn deferred_series(origin: Origin, is_zero: bool) -> Value {
        Value::Series(new_pair(None, origin, is_zero, 0))
    }
    /// A record of that kind.
    pub fn record(kind: RecordId, car: Value, cdr: Value) -> Value {
        Value::Record(new_pair(Some([car, cdr]), Origin::Built, false, kind.0))
    }
    /// A record whose parts are found when they are asked for.
    pub(super) fn deferred_record(kind: RecordId, origin: Origin, is_zero: bool) -> Value {
        Value::Record(new_pair(None, origin, is_zero, kind.0))
    }
    /// A pair as a record of that kind, or a record as a pair. It is a node of its own, as what operators make of one
    /// is not what they make of the other.
    pub fn renamed(pair: &Pair, kind: Option<RecordId>) -> Value {
        Value::pair_or_record(kind, pair.parts().map(Value::clone), pair.is_zero)
    }
    /// A pair, or a record of that kind, which may be a zero.
    pub fn pair_or_record(kind: Option<RecordId>, parts: [Value; 2], is_zero: bool) -> Value {
        let pair = |label| new_pair(Some(parts), Origin::Built, is_zero, label);
        match kind {
            Some(kind) => Value::Record(pair(kind.0)),
            None => Value::Pair(pair(0)),
        }
    }
    /// A closure.
    pub fn closure(function: Function, captures: Vec<Value>) -> Value {
        LIVE.set(LIVE.get() + sequence_bytes(captures.len()));
        let captures = OnceCell::from(captures.into_boxed_slice());
        Value::Closure(Rc::new(Closure { function, captures, origin: Origin::Built, memo: OnceCell::new() }))
    }
    /// A closure whose captures are found when they are asked for.
    pub(super) fn deferred_closure(function: Function, origin: Origin) -> Value {
        LIVE.set(LIVE.get() + sequence_bytes(0));
        Value::Closure(Rc::new(Closure { function, captures: OnceCell::new(), origin, memo: OnceCell::new() }))
    }
    /// A vector.
    pub fn vector(elements: Vec<Value>) -> Value {
        Value::built_vector(elements, false)
    }
    /// A vector that is a zero, of elements that are zeros.
    pub fn zero_vector(elements: Vec<Value>) -> Value {
        Value::built_vector(elements, true)
    }
    fn built_vector(elements: Vec<Value>, is_zero: bool) -> Value {
        LIVE.set(LIVE.get() + sequence_bytes(elements.len()));
        let elements = OnceCell::from(elements);
        let (origin, memo) = (Origin::Built, OnceCell::new());
        Value::Vector(Rc::new(Vector { elements, origin, memo, is_zero }))
    }
    /// A vector whose elements are found when they are asked for.
    pub(super) fn deferred_vector(origin: Origin, is_zero: bool) -> Value {
        LIVE.set(LIVE.get() + sequence_bytes(0));
        Value::Vector(Rc::new(Vector { elements: OnceCell::new(), origin, memo: OnceCell::new(), is_zero }))
    }
    /// The value of a literal.
    pub fn constant(constant: &Const) -> Value {
        match constant {
            Const::Nil => Value::Nil,
            Const::Nothing => Value::Nothing,
            Const::Bool(truth) => Value::Bool(*truth),
            Const::Real(number) => Value::real(*number),
            Const::Str(text) => Value::Str(Rc::new(text.as_ref().into())),
            Const::Record(kind) => Value::record(*kind, Value::Nil, Value::Nil),
        }
    }
    /// What operators made of this node, if they made anything.
    pub(super) fn memo_so_far(&self) -> Option<&Memo> {
        match self {
            Value::Pair(pair) | Value::Bundle(pair) | Value::Series(pair) | Value::Record(pair) => {
                pair.memo.get().map(Box::as_ref)
            }
            Value::Closure(closure) => closure.memo.get().map(Box::as_ref),
            Value::Vector(vector) => vector.memo.get().map(Box::as_ref),
            Value::Nil | Value::Nothing | Value::Bool(_) | Value::Real(_) | Value::Str(_) => None,
        }
    }
    /// What operators made of this node, to be added to; `None` for a leaf.
    pub(super) fn memo(&self) -> Option<&Memo> {
        match self {
            Value::Pair(pair) | Value::Bundle(pair) | Value::Series(pair) | Value::Record(pair) => {
                Some(pair.memo.get_or_init(Box::default))
            }
            Value::Closure(closure) => Some(closure.memo.get_or_init(Box::default)),
            Value::Vector(vector) => Some(vector.memo.get_or_init(Box::default)),
            Value::Nil | Value::Nothing | Value::Bool(_) | Value::Real(_) | Value::Str(_) => None,
        }
    }
    /// True when more than one reference leads to this node.
    pub(super) fn is_shared(&self) -> bool {
        match self {
            Value::Pair(pair) | Value::Bundle(pair) | Value::Series(pair) | Value::Record(pair) => {
                Rc::strong_count(pair) > 1
            }
            Value::Closure(closure) => Rc::strong_count(closure) > 1,
            Value::Vector(vector) => Rc::strong_count(vector) > 1,
            Value::Nil | Value::Nothing | Value::Bool(_) | Value::Real(_) | Value::Str(_) => false,
        }
    }
    /// A reference that does not keep the node alive; `None` for a leaf.
    pub(super) fn downgrade(&self) -> Option<WeakNode> {
        match self {
            Value::Pair(pair) => Some(WeakNode::Pair(Rc::downgrade(pair))),
            Value::Bundle(pair) => Some(WeakNode::Bundle(Rc::downgrade(pair))),
            Value::Series(pair) => Some(WeakNode::Series(Rc::downgrade(pair))),
            Value::Record(pair) => Some(WeakNode::Record(Rc::downgrade(pair))),
            Value::Closure(closure) => Some(WeakNode::Closure(Rc::downgrade(closure))),
            Value::Vector(vector) => Some(WeakNode::Vector(Rc::downgrade(vector))),
            Value::Nil | Value::Nothing | Value::Bool(_) | Value::Real(_) | Value::Str(_) => None,
        }
    }
    /// Only `#f` is false.
    pub fn is_true(&self) -> bool {
        !matches!(self, Value::Bool(false))
    }
    /// Whether it is or contains [`Value::Nothing`].
    pub fn has_holes(&self) -> bool {
        match self {
            Value::Nothing => true,
            Value::Pair(pair) | Value::Record(pair) => pair.has_holes,
            _ => false,
        }
    }
    /// Whether there is nothing but holes in it.
    pub fn is_nothing(&self) -> bool {
        match self {
            Value::Nothing | Value::Nil => true,
            Value::Pair(pair) | Value::Record(pair) => {
                pair.has_holes && pair.parts().into_iter().all(Value::is_nothing)
            }
            _ => false,
        }
    }
    /// What kind of value of a program this is, for messages.
    pub fn kind(&self, program: &Program) -> Kind {
        match self {
            Value::Nil | Value::Nothing => Kind::Nil,
            Value::Bool(_) => Kind::Boolean,
            // What a function of the program computes with is a number to it.
            Value::Real(Real { tags: 0, .. }) | Value::Series(_) => Kind::Real,
            Value::Real(_) => Kind::Reverse,
            Value::Bundle(bundle) => {
                if bundle.label == 0 {
                    Kind::Forward
                } else {
                    Kind::Reverse
                }
            }
            Value::Str(_) => Kind::Text,
            Value::Pair(_) => Kind::Pair,
            Value::Record(pair) => Kind::Record(program.records[pair.kind()].name.clone()),
            Value::Closure(_) => Kind::Procedure,
            Value::Vector(_) => Kind::Vector,
        }
    }
}

impl Values for Program {
    type Value = Value;

    fn kind(&self, value: &Value) -> Option<Kind> {
        (!matches!(value, Value::Nothing)).then(|| value.kind(self))
    }

    fn pair(&self, value: &Value) -> Option<[Value; 2]> {
        match value {
            Value::Pair(pair) => Some(pair.parts().map(Value::clone)),
            _ => None,
        }
    }

    fn element(&self, value: &Value) -> Option<Value> {
        match value {
            // What nobody has asked for is not computed for this.
            Value::Vector(vector) if matches!(vector.origin, Origin::Built) => vector.elements().first().cloned(),
            _ => None,
        }
    }

    fn found(&self, value: &Value) -> Option<Found> {
        Some(found(self, value))
    }
}

fn new_pair(parts: Option<[Value; 2]>, origin: Origin, is_zero: bool, label: u32) -> Rc<Pair> {
    LIVE.set(LIVE.get() + PAIR_BYTES);
    let has_holes = match (&parts, &origin) {
        (Some(parts), _) => parts.iter().any(Value::has_holes),
        (None, Origin::Made(_, of)) => of.has_holes(),
        (None, Origin::Built) => false,
    };
    let parts = parts.map_or_else(OnceCell::new, OnceCell::from);
    Rc::new(Pair { parts, origin, memo: OnceCell::new(), is_zero, has_holes, label })
}

impl WeakNode {
    /// The node, if it is still alive.
    pub fn upgrade(&self) -> Option<Value> {
        match self {
            WeakNode::Pair(pair) => pair.upgrade().map(Value::Pair),
            WeakNode::Bundle(pair) => pair.upgrade().map(Value::Bundle),
            WeakNode::Series(pair) => pair.upgrade().map(Value::Series),
            WeakNode::Record(pair) => pair.upgrade().map(Value::Record),
            WeakNode::Closure(closure) => closure.upgrade().map(Value::Closure),
            WeakNode::Vector(vector) => vector.upgrade().map(Value::Vector),
        }
    }
}

impl Pair {
    /// The first part.
    pub fn car(&self) -> &Value {
        &deferred::parts(self)[0]
    }
    /// The second part.
    pub fn cdr(&self) -> &Value {
        &deferred::parts(self)[1]
    }
    /// The parts.
    pub fn parts(&self) -> [&Value; 2] {
        [self.car(), self.cdr()]
    }
    /// How many times `*j` was applied to the bundle.
    pub fn tags(&self) -> u32 {
        self.label
    }
    /// The kind of the record.
    pub fn kind(&self) -> RecordId {
        RecordId(self.label)
    }
    /// Whether there is [`Value::Nothing`] in it.
    pub fn has_holes(&self) -> bool {
        self.has_holes
    }
    /// True when the pair is a zero as a whole.
    pub fn is_zero(&self) -> bool {
        self.is_zero
    }
}

impl Closure {
    /// The code.
    pub fn function(&self) -> Function {
        self.function
    }
    /// The environment, in the order of the λ's captures.
    pub fn captures(&self) -> &[Value] {
        deferred::captures(self)
    }
}

impl Vector {
    /// The elements.
    pub fn elements(&self) -> &[Value] {
        deferred::elements(self)
    }
    /// True when the vector is a zero as a whole.
    pub fn is_zero(&self) -> bool {
        self.is_zero
    }
    /// The elements, if nobody else has the vector and they may change.
    fn own_elements(vector: &mut Rc<Vector>) -> Option<&mut Vec<Value>> {
        match Rc::get_mut(vector)? {
            Vector { elements, origin: Origin::Built, memo, is_zero: false } => {
                let elements = elements.get_mut()?;
                memo.take();
                Some(elements)
            }
            _ => None,
        }
    }
    /// The vector with one more element.
    pub fn with(mut self: Rc<Vector>, element: Value) -> Value {
        if let Some(elements) = Vector::own_elements(&mut self) {
            elements.push(element);
            LIVE.set(LIVE.get() + size_of::<Value>());
            return Value::Vector(self);
        }
        let mut elements = self.elements().to_vec();
        elements.push(element);
        Value::vector(elements)
    }
    /// The vector with another element in a place that it has.
    pub fn with_element(mut self: Rc<Vector>, place: usize, element: Value) -> Value {
        if let Some(elements) = Vector::own_elements(&mut self) {
            elements[place] = element;
            return Value::Vector(self);
        }
        let mut elements = self.elements().to_vec();
        elements[place] = element;
        Value::vector(elements)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        LIVE.set(LIVE.get().saturating_sub(PAIR_BYTES));
        let mut pending = Vec::new();
        detach_pair(self, &mut pending);
        release(pending);
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        let captures = match self.origin {
            Origin::Built => self.captures.get().map_or(0, |captures| captures.len()),
            Origin::Made(..) => 0,
        };
        LIVE.set(LIVE.get().saturating_sub(sequence_bytes(captures)));
        let mut pending = Vec::new();
        detach_closure(self, &mut pending);
        release(pending);
    }
}

impl Drop for Vector {
    fn drop(&mut self) {
        let elements = match self.origin {
            Origin::Built => self.elements.get().map_or(0, Vec::len),
            Origin::Made(..) => 0,
        };
        LIVE.set(LIVE.get().saturating_sub(sequence_bytes(elements)));
        let mut pending = Vec::new();
        detach_vector(self, &mut pending);
        release(pending);
    }
}

/// Frees values whose last reference is given up, without recursion: a node is emptied before it is dropped.
fn release(mut pending: Vec<Value>) {
    while let Some(value) = pending.pop() {
        match value {
            Value::Pair(pair) | Value::Bundle(pair) | Value::Series(pair) | Value::Record(pair) => {
                if let Some(mut pair) = Rc::into_inner(pair) {
                    detach_pair(&mut pair, &mut pending);
                }
            }
            Value::Closure(closure) => {
                if let Some(mut closure) = Rc::into_inner(closure) {
                    detach_closure(&mut closure, &mut pending);
                }
            }
            Value::Vector(vector) => {
                if let Some(mut vector) = Rc::into_inner(vector) {
                    detach_vector(&mut vector, &mut pending);
                }
            }
            Value::Nil | Value::Nothing | Value::Bool(_) | Value::Real(_) | Value::Str(_) => {}
        }
    }
}

fn detach_pair(pair: &mut Pair, pending: &mut Vec<Value>) {
    pair.parts.get_mut().into_iter().flatten().for_each(|part| detach(part, pending));
    detach_origin(&mut pair.origin, pending);
    detach_memo(pair.memo.take(), pending);
}

fn detach_closure(closure: &mut Closure, pending: &mut Vec<Value>) {
    closure.captures.get_mut().into_iter().flatten().for_each(|value| detach(value, pending));
    detach_origin(&mut closure.origin, pending);
    detach_memo(closure.memo.take(), pending);
}

fn detach_vector(vector: &mut Vector, pending: &mut Vec<Value>) {
    vector.elements.get_mut().into_iter().flatten().for_each(|value| detach(value, pending));
    detach_origin(&mut vector.origin, pending);
    detach_memo(vector.memo.take(), pending);
}

fn detach_origin(origin: &mut Origin, pending: &mut Vec<Value>) {
    if let Origin::Made(_, of) = origin {
        detach(of, pending);
    }
}

fn detach_memo(memo: Option<Box<Memo>>, pending: &mut Vec<Value>) {
    if let Some(memo) = memo {
        memo.undone.into_inner().iter_mut().for_each(|(_, value)| detach(value, pending));
    }
}

fn detach(value: &mut Value, pending: &mut Vec<Value>) {
    if !matches!(value, Value::Nil | Value::Nothing | Value::Bool(_) | Value::Real(_) | Value::Str(_)) {
        pending.push(std::mem::take(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_small() {
        assert_eq!(size_of::<Value>(), 16);
    }

    #[test]
    fn long_chains_are_freed_without_recursion() {
        let before = live_bytes();
        let mut list = Value::Nil;
        for _ in 0..1_000_000 {
            list = Value::pair(
                Value::closure(Function { base: LambdaId(0), tower: Tower::EMPTY }, vec![list]),
                Value::Nil,
            );
        }
        assert!(live_bytes() > before);
        drop(list);
        assert_eq!(live_bytes(), before);
    }
}
