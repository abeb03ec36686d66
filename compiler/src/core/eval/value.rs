//! Values of the reference evaluator.
//!
//! Values are immutable and acyclic, so they are reference-counted. Only numbers carry reverse tags: `*j` of anything
//! else transforms its parts. Lists and chains of closures get millions of nodes long, so everything here that walks a
//! value, freeing it included, keeps its own stack.
//!
//! Nodes remember what the derivative operators made of them ([`Memo`]), so that a loop over a list does not transform
//! the whole rest of the list at every step. Memos point from transforms to originals and from values to their zeros,
//! never back, so values stay acyclic.

use crate::core::errors::Kind;
use crate::core::ir::{Const, LambdaId};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

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
    /// A closure.
    Closure(Rc<Closure>),
}

/// What the derivative operators made of a node, each at most once.
#[derive(Debug, Default)]
pub struct Memo {
    /// Its `*j-inverse`.
    pub inverse: OnceCell<Value>,
    /// Its `zero`.
    pub zero: OnceCell<Value>,
}

/// The two parts of a pair.
#[derive(Debug)]
pub struct Pair {
    car: Value,
    cdr: Value,
    memo: OnceCell<Box<Memo>>,
    is_zero: bool,
}

/// A λ with the values of its captures.
#[derive(Debug)]
pub struct Closure {
    lambda: LambdaId,
    captures: Box<[Value]>,
    memo: OnceCell<Box<Memo>>,
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
const PAIR_BYTES: usize = 80;

fn closure_bytes(captures: usize) -> usize {
    80 + captures * size_of::<Value>()
}

impl Value {
    /// An untagged number.
    pub fn real(number: f64) -> Value {
        Value::Real(Real::new(number))
    }
    /// A pair.
    pub fn pair(car: Value, cdr: Value) -> Value {
        Value::new_pair(car, cdr, false)
    }
    /// A pair that `zero` makes, of parts that it has made.
    pub fn zero_pair(car: Value, cdr: Value) -> Value {
        Value::new_pair(car, cdr, true)
    }
    fn new_pair(car: Value, cdr: Value, is_zero: bool) -> Value {
        LIVE.set(LIVE.get() + PAIR_BYTES);
        Value::Pair(Rc::new(Pair { car, cdr, memo: OnceCell::new(), is_zero }))
    }
    /// A closure.
    pub fn closure(lambda: LambdaId, captures: Vec<Value>) -> Value {
        LIVE.set(LIVE.get() + closure_bytes(captures.len()));
        Value::Closure(Rc::new(Closure { lambda, captures: captures.into(), memo: OnceCell::new() }))
    }
    /// The value of a literal.
    pub fn constant(constant: &Const) -> Value {
        match constant {
            Const::Nil => Value::Nil,
            Const::Bool(truth) => Value::Bool(*truth),
            Const::Real(number) => Value::real(*number),
            Const::Str(text) => Value::Str(Rc::new(text.as_ref().into())),
        }
    }
    /// What operators made of this node, if they made anything.
    pub fn memo_so_far(&self) -> Option<&Memo> {
        match self {
            Value::Pair(pair) => pair.memo.get().map(Box::as_ref),
            Value::Closure(closure) => closure.memo.get().map(Box::as_ref),
            Value::Nil | Value::Bool(_) | Value::Real(_) | Value::Str(_) => None,
        }
    }
    /// What operators made of this node, to be added to; `None` for a leaf.
    pub fn memo(&self) -> Option<&Memo> {
        match self {
            Value::Pair(pair) => Some(pair.memo.get_or_init(Box::default)),
            Value::Closure(closure) => Some(closure.memo.get_or_init(Box::default)),
            Value::Nil | Value::Bool(_) | Value::Real(_) | Value::Str(_) => None,
        }
    }
    /// Only `#f` is false.
    pub fn is_true(&self) -> bool {
        !matches!(self, Value::Bool(false))
    }
    /// What kind of value this is, for messages.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Nil => Kind::Nil,
            Value::Bool(_) => Kind::Boolean,
            Value::Real(Real { tags: 0, .. }) => Kind::Real,
            Value::Real(_) => Kind::Reverse,
            Value::Str(_) => Kind::Text,
            Value::Pair(_) => Kind::Pair,
            Value::Closure(_) => Kind::Procedure,
        }
    }
}

impl Pair {
    /// The first part.
    pub fn car(&self) -> &Value {
        &self.car
    }
    /// The second part.
    pub fn cdr(&self) -> &Value {
        &self.cdr
    }
    /// True when the pair is a zero as a whole.
    pub fn is_zero(&self) -> bool {
        self.is_zero
    }
}

impl Closure {
    /// The code.
    pub fn lambda(&self) -> LambdaId {
        self.lambda
    }
    /// The environment, in the order of the λ's captures.
    pub fn captures(&self) -> &[Value] {
        &self.captures
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
        LIVE.set(LIVE.get().saturating_sub(closure_bytes(self.captures.len())));
        let mut pending = Vec::new();
        detach_closure(self, &mut pending);
        release(pending);
    }
}

/// Frees values whose last reference is given up, without recursion: a node is emptied before it is dropped.
fn release(mut pending: Vec<Value>) {
    while let Some(value) = pending.pop() {
        match value {
            Value::Pair(pair) => {
                if let Some(mut pair) = Rc::into_inner(pair) {
                    detach_pair(&mut pair, &mut pending);
                }
            }
            Value::Closure(closure) => {
                if let Some(mut closure) = Rc::into_inner(closure) {
                    detach_closure(&mut closure, &mut pending);
                }
            }
            Value::Nil | Value::Bool(_) | Value::Real(_) | Value::Str(_) => {}
        }
    }
}

fn detach_pair(pair: &mut Pair, pending: &mut Vec<Value>) {
    detach(&mut pair.car, pending);
    detach(&mut pair.cdr, pending);
    detach_memo(pair.memo.take(), pending);
}

fn detach_closure(closure: &mut Closure, pending: &mut Vec<Value>) {
    closure.captures.iter_mut().for_each(|value| detach(value, pending));
    detach_memo(closure.memo.take(), pending);
}

fn detach_memo(memo: Option<Box<Memo>>, pending: &mut Vec<Value>) {
    if let Some(mut memo) = memo {
        let values = [memo.inverse.take(), memo.zero.take()];
        values.into_iter().flatten().for_each(|mut value| detach(&mut value, pending));
    }
}

fn detach(value: &mut Value, pending: &mut Vec<Value>) {
    if matches!(value, Value::Pair(_) | Value::Closure(_)) {
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
            list = Value::pair(Value::closure(LambdaId(0), vec![list]), Value::Nil);
        }
        assert!(live_bytes() > before);
        drop(list);
        assert_eq!(live_bytes(), before);
    }
}
