//! `zero`, `*j`, `j*`, `%lift` and `%lift-directions`, which take no time: their results get their parts when somebody
//! looks at them.
//!
//! ~~~text
//! (zero l)          one node: the zero of l
//! (cdr (zero l))    now that node has parts: the zero of (car l), the zero of (cdr l)
//! ~~~
//!
//! None of them can fail, so nobody can tell when it is done. A node that is shared has one zero and one transform
//! while these are alive: what l shares, they share. A node waits for its origin to have parts, which may wait in turn;
//! that chain is walked without recursion, since programs can make it as long as memory allows.
//!
//! `*j` and `j*` may have to be done below some transformations of the operand ([`Rhs::Lifted`]). Where a number has
//! not been through so many, they are done at the bottom: what comes of that is no value of the transformed function
//! that asked for it, and an operation that can fail will say so.
//!
//! [`Rhs::Lifted`]: crate::core::ir::Rhs::Lifted

use super::value::{Closure, Function, Operator, Origin, Pair, Real, Value, Vector};
use crate::ad::tower::Transformation;
use crate::core::ir::Below;
use crate::core::prim::DIRECTIONS;
use std::rc::Rc;

/// The zero sensitivity of a value.
pub fn zero(value: &Value) -> Value {
    apply(Operator::Zero, value)
}

/// `*j`
pub fn reverse(value: &Value) -> Value {
    apply(Operator::Reverse(Below::NONE), value)
}

/// What `zero`, `*j`, `j*`, `%lift` or `%lift-directions` makes of a value. Others leave it as it is.
pub fn apply(operator: Operator, value: &Value) -> Value {
    match value {
        Value::Real(_) | Value::Bundle(_) | Value::Series(_) if matches!(operator, Operator::Lift(_)) => {
            Value::series(value.clone(), Value::Nil)
        }
        Value::Real(_) | Value::Bundle(_) | Value::Series(_) if matches!(operator, Operator::LiftDirections(_)) => {
            let zeros = (0..DIRECTIONS).fold(Value::Nil, |tail, _| Value::pair(zero(value), tail));
            Value::series(value.clone(), zeros)
        }
        Value::Nil | Value::Bool(_) | Value::Str(_) if operator == Operator::Zero => Value::Nil,
        Value::Nil | Value::Nothing | Value::Bool(_) | Value::Str(_) => value.clone(),
        Value::Real(real) => of_real(operator, *real),
        Value::Pair(pair) if operator == Operator::Zero && pair.is_zero() => value.clone(),
        Value::Pair(pair) => {
            let is_zero = pair.is_zero() || operator == Operator::Zero;
            once(operator, value, |origin| Value::deferred_pair(origin, is_zero))
        }
        Value::Record(pair) if operator == Operator::Zero && pair.is_zero() => value.clone(),
        Value::Record(pair) => {
            let is_zero = pair.is_zero() || operator == Operator::Zero;
            once(operator, value, |origin| Value::deferred_record(pair.kind(), origin, is_zero))
        }
        Value::Vector(vector) if operator == Operator::Zero && vector.is_zero() => value.clone(),
        Value::Vector(vector) => {
            let is_zero = vector.is_zero() || operator == Operator::Zero;
            once(operator, value, |origin| Value::deferred_vector(origin, is_zero))
        }
        Value::Series(series) => {
            let is_zero = series.is_zero() || operator == Operator::Zero;
            once(operator, value, |origin| Value::deferred_series(origin, is_zero))
        }
        Value::Bundle(bundle) => {
            let is_zero = bundle.is_zero() || operator == Operator::Zero;
            let tags = match operator {
                Operator::Reverse(below) if below.forward <= bundle.tags() => bundle.tags() + 1,
                Operator::Forward(below) => below.forward.min(bundle.tags()),
                _ => bundle.tags(),
            };
            once(operator, value, |origin| Value::deferred_bundle(tags, origin, is_zero))
        }
        Value::Closure(closure) => {
            let Function { base, tower } = closure.function();
            let tower = match operator {
                Operator::Zero if closure.captures().is_empty() => return Value::Nil,
                Operator::Zero => return once(operator, value, |origin| Value::deferred_pair(origin, true)),
                Operator::Forward(below) => tower.insert(below.of_code(), Transformation::Forward),
                Operator::Reverse(below) => tower.insert(below.of_code(), Transformation::Reverse),
                Operator::Lift(below) => tower.insert(below.of_code(), Transformation::Series),
                Operator::LiftDirections(below) => tower.insert(below.of_code(), Transformation::Directions),
                _ => tower,
            };
            once(operator, value, |origin| Value::deferred_closure(Function { base, tower }, origin))
        }
    }
}

fn of_real(operator: Operator, real: Real) -> Value {
    match operator {
        Operator::Zero => Value::Real(Real::symbolic_zero(real.tags)),
        Operator::Reverse(_) => Value::Real(Real { tags: real.tags + 1, ..real }),
        Operator::Forward(below) => {
            let tags = below.forward.min(real.tags);
            let primal = Real { tags: real.tags - tags, ..real };
            Value::bundle(tags, Value::Real(primal), Value::Real(Real::symbolic_zero(primal.tags)))
        }
        _ => Value::Real(real),
    }
}

/// What an operator makes of a node; the same as before if that is still alive and others may ask.
fn once(operator: Operator, node: &Value, make: impl FnOnce(Origin) -> Value) -> Value {
    let known = |memo: &super::value::Memo| {
        let made = memo.made.borrow();
        made.iter().find(|(by, _)| *by == operator).and_then(|(_, result)| result.upgrade())
    };
    if let Some(result) = node.memo_so_far().and_then(known) {
        return result;
    }
    let shared = node.is_shared();
    let result = make(Origin::Made(operator, node.clone()));
    if let (true, Some(memo), Some(weak)) = (shared, node.memo(), result.downgrade()) {
        let mut made = memo.made.borrow_mut();
        made.retain(|(by, _)| *by != operator);
        made.push((operator, weak));
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

/// The elements of a vector.
pub(super) fn elements(vector: &Vector) -> &[Value] {
    if vector.elements.get().is_none() {
        force(Node::Vector(vector));
    }
    vector.elements.get().expect("a vector that has been forced has elements")
}

enum Node<'a> {
    Pair(&'a Pair),
    Closure(&'a Closure),
    Vector(&'a Vector),
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
    fn origin(&self) -> &'a Origin {
        match self {
            Node::Pair(pair) => &pair.origin,
            Node::Closure(closure) => &closure.origin,
            Node::Vector(vector) => &vector.origin,
        }
    }

    /// The node whose parts must be known first.
    fn waits_for(&self) -> Option<Node<'a>> {
        match self.origin() {
            Origin::Made(_, Value::Pair(of) | Value::Bundle(of) | Value::Series(of) | Value::Record(of))
                if of.parts.get().is_none() =>
            {
                Some(Node::Pair(of))
            }
            Origin::Made(_, Value::Closure(of)) if of.captures.get().is_none() => Some(Node::Closure(of)),
            Origin::Made(_, Value::Vector(of)) if of.elements.get().is_none() => Some(Node::Vector(of)),
            Origin::Built | Origin::Made(..) => None,
        }
    }

    fn fill(&self) {
        let Origin::Made(operator, of) = self.origin() else { return };
        match (self, of) {
            (Node::Pair(pair), Value::Pair(of) | Value::Series(of) | Value::Record(of)) => {
                pair.parts.get_or_init(|| of.parts().map(|part| apply(*operator, part)));
            }
            (Node::Pair(bundle), Value::Bundle(of)) => {
                bundle.parts.get_or_init(|| parts_of_bundle(*operator, of));
            }
            (Node::Pair(pair), Value::Closure(of)) => {
                pair.parts.get_or_init(|| zeros(of.captures()));
            }
            (Node::Vector(vector), Value::Vector(of)) => {
                vector.elements.get_or_init(|| of.elements().iter().map(|value| apply(*operator, value)).collect());
            }
            (Node::Closure(closure), Value::Closure(of)) => {
                closure.captures.get_or_init(|| of.captures().iter().map(|value| apply(*operator, value)).collect());
            }
            _ => {}
        }
    }
}

/// The parts of what an operator makes of a bundle.
fn parts_of_bundle(operator: Operator, of: &Rc<Pair>) -> [Value; 2] {
    let inside = match operator {
        // A tag more, above the bundle.
        Operator::Reverse(below) if below.forward <= of.tags() => return of.parts().map(Value::clone),
        Operator::Forward(below) if below.forward <= of.tags() => {
            let primal = match below.forward {
                0 => Value::Bundle(of.clone()),
                forward => Value::bundle(of.tags() - forward, of.car().clone(), of.cdr().clone()),
            };
            let tangent = zero(&primal);
            return [primal, tangent];
        }
        Operator::Reverse(below) => Operator::Reverse(below.with_forward(below.forward - of.tags() - 1)),
        Operator::Forward(below) => Operator::Forward(below.with_forward(below.forward - of.tags() - 1)),
        other => other,
    };
    of.parts().map(|part| apply(inside, part))
}

/// The two parts of the list of the zeros of values, of which there is at least one.
fn zeros(values: &[Value]) -> [Value; 2] {
    let (first, rest) = values.split_first().expect("a closure without captures has no pair as its zero");
    [zero(first), rest.iter().rev().fold(Value::Nil, |tail, value| Value::zero_pair(zero(value), tail))]
}
