//! `zero` and `*j`, which take no time: their results get their parts when somebody looks at them.
//!
//! ~~~text
//! (zero l)          one node: the zero of l
//! (cdr (zero l))    now that node has parts: the zero of (car l), the zero of (cdr l)
//! ~~~
//!
//! Neither can fail, so nobody can tell when it is done. A node that is shared has one zero and one transform while
//! these are alive: what l shares, they share. A node waits for its origin to have parts, which may wait in turn; that
//! chain is walked without recursion, since programs can make it as long as memory allows.

use super::value::{Closure, Function, Memo, Origin, Pair, Real, Value, WeakNode};
use std::cell::RefCell;

/// The zero sensitivity of a value.
pub fn zero(value: &Value) -> Value {
    match value {
        Value::Nil | Value::Bool(_) | Value::Str(_) => Value::Nil,
        Value::Real(real) => Value::Real(Real::symbolic_zero(real.tags)),
        Value::Pair(pair) if pair.is_zero() => value.clone(),
        Value::Closure(closure) if closure.captures().is_empty() => Value::Nil,
        Value::Pair(_) | Value::Closure(_) => {
            once(value, |memo| &memo.zero, || Value::deferred_pair(Origin::Zero(value.clone()), true))
        }
    }
}

/// `*j`
pub fn reverse(value: &Value) -> Value {
    match value {
        Value::Nil | Value::Bool(_) | Value::Str(_) => value.clone(),
        Value::Real(real) => Value::Real(Real { tags: real.tags + 1, ..*real }),
        Value::Pair(pair) => {
            once(value, |memo| &memo.reverse, || Value::deferred_pair(Origin::Reverse(value.clone()), pair.is_zero()))
        }
        Value::Closure(closure) => {
            let Function { base, order } = closure.function();
            let function = Function { base, order: order + 1 };
            once(value, |memo| &memo.reverse, || Value::deferred_closure(function, Origin::Reverse(value.clone())))
        }
    }
}

/// What an operator makes of a node; the same as before if that is still alive and others may ask.
fn once(node: &Value, slot: impl Fn(&Memo) -> &RefCell<Option<WeakNode>>, make: impl FnOnce() -> Value) -> Value {
    let before = node.memo_so_far().and_then(|memo| slot(memo).borrow().as_ref()?.upgrade());
    if let Some(result) = before {
        return result;
    }
    let shared = node.is_shared();
    let result = make();
    if let (true, Some(memo)) = (shared, node.memo()) {
        *slot(memo).borrow_mut() = result.downgrade();
    }
    result
}

/// The parts of a pair.
pub(super) fn parts(pair: &Pair) -> &[Value; 2] {
    if pair.parts.get().is_none() {
        force(Node::Pair(pair));
    }
    pair.parts.get().expect("a pair that has been forced has parts")
}

/// The captures of a closure.
pub(super) fn captures(closure: &Closure) -> &[Value] {
    if closure.captures.get().is_none() {
        force(Node::Closure(closure));
    }
    closure.captures.get().expect("a closure that has been forced has captures")
}

enum Node<'a> {
    Pair(&'a Pair),
    Closure(&'a Closure),
}

/// Finds the parts of a node and, before them, of the nodes that it waits for.
fn force(node: Node<'_>) {
    let mut chain = vec![node];
    while let Some(next) = chain.last().and_then(Node::waits_for) {
        chain.push(next);
    }
    chain.iter().rev().for_each(Node::fill);
}

impl<'a> Node<'a> {
    /// The node whose parts must be known first.
    fn waits_for(&self) -> Option<Node<'a>> {
        let origin = match self {
            Node::Pair(pair) => &pair.origin,
            Node::Closure(closure) => &closure.origin,
        };
        match origin {
            Origin::Zero(Value::Pair(of)) | Origin::Reverse(Value::Pair(of)) if of.parts.get().is_none() => {
                Some(Node::Pair(of))
            }
            Origin::Zero(Value::Closure(of)) | Origin::Reverse(Value::Closure(of)) if of.captures.get().is_none() => {
                Some(Node::Closure(of))
            }
            Origin::Built | Origin::Zero(_) | Origin::Reverse(_) => None,
        }
    }

    fn fill(&self) {
        match self {
            Node::Pair(pair) => {
                let [car, cdr] = match &pair.origin {
                    Origin::Zero(Value::Pair(of)) => [zero(of.car()), zero(of.cdr())],
                    Origin::Zero(Value::Closure(of)) => zeros(of.captures()),
                    Origin::Reverse(Value::Pair(of)) => [reverse(of.car()), reverse(of.cdr())],
                    Origin::Built | Origin::Zero(_) | Origin::Reverse(_) => return,
                };
                pair.parts.get_or_init(|| [car, cdr]);
            }
            Node::Closure(closure) => {
                if let Origin::Reverse(Value::Closure(of)) = &closure.origin {
                    closure.captures.get_or_init(|| of.captures().iter().map(reverse).collect());
                }
            }
        }
    }
}

/// The two parts of the list of the zeros of values, of which there is at least one.
fn zeros(values: &[Value]) -> [Value; 2] {
    let (first, rest) = values.split_first().expect("a closure without captures has no pair as its zero");
    [zero(first), rest.iter().rev().fold(Value::Nil, |tail, value| Value::zero_pair(zero(value), tail))]
}
