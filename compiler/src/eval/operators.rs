//! The derivative operators that can fail: `plus`, `bundle`, and `*j-inverse`, `primal`, `tangent`, which undo what
//! others have done.
//!
//! All walk values with a stack of their own. A part that is shared is visited once and its result is shared: a value
//! of n nodes costs n steps however many paths lead through it. `*j-inverse`, `primal` and `tangent` of a node are
//! computed once in its life, and `*j-inverse` of a transform is what was transformed. The operators that cannot fail
//! are in [`super::deferred`].

use super::deferred;
use super::value::{Closure, Function, Operator, Origin, Pair, Real, Value};
use crate::ad::tower::Transformation;
use crate::core::errors::RuntimeError;
use crate::core::ir::{Below, Program, RecordId};
use crate::core::prim::{Levels, Prim};
use crate::eval::print::found;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What to build from results.
enum Build {
    /// A pair, or a record of that kind; and whether it is a zero.
    Pair(Option<RecordId>, bool),
    Series,
    /// A bundle with so many tags.
    Bundle(u32),
    Closure(Function, usize),
    /// A list of so many elements.
    List(usize),
    /// A vector of so many elements.
    Vector(usize),
    /// The same of one that is a zero.
    ZeroVector(usize),
}

/// The address of a node that more than one reference leads to.
fn shared_address(value: &Value) -> Option<*const ()> {
    match value {
        Value::Pair(pair) | Value::Bundle(pair) | Value::Series(pair) | Value::Record(pair) if value.is_shared() => {
            Some(Rc::as_ptr(pair).cast())
        }
        Value::Closure(closure) if value.is_shared() => Some(Rc::as_ptr(closure).cast()),
        Value::Vector(vector) if value.is_shared() => Some(Rc::as_ptr(vector).cast()),
        _ => None,
    }
}

/// Replaces the results for the parts, which stand last in order, by the result for the whole.
fn build_from(results: &mut Vec<Value>, build: Build) {
    let count = match build {
        Build::Pair(..) | Build::Series | Build::Bundle(_) => 2,
        Build::Closure(_, count) | Build::List(count) | Build::Vector(count) | Build::ZeroVector(count) => count,
    };
    let mut parts = results.drain(results.len() - count..);
    let mut next = || parts.next().unwrap_or_default();
    let whole = match build {
        Build::Pair(kind, is_zero) => Value::pair_or_record(kind, [next(), next()], is_zero),
        Build::Series => Value::series(next(), next()),
        Build::Bundle(tags) => Value::bundle(tags, next(), next()),
        Build::Closure(function, _) => Value::closure(function, parts.by_ref().collect()),
        Build::Vector(_) => Value::vector(parts.by_ref().collect()),
        Build::ZeroVector(_) => Value::zero_vector(parts.by_ref().collect()),
        Build::List(_) => parts.by_ref().rfold(Value::Nil, |tail, item| Value::pair(item, tail)),
    };
    drop(parts);
    results.push(whole);
}

enum UndoTask<'a> {
    Visit(Operator, &'a Value),
    Build(Build),
    /// The last result is that of this node.
    Remember(Operator, &'a Value),
}

/// `*j-inverse`, `primal`, `tangent`, `%unlift` and `%unlift-directions`.
///
/// # Errors
///
/// When a part has not been transformed.
pub fn undo(program: &Program, operator: Operator, value: &Value) -> Result<Value, RuntimeError> {
    let mut tasks = vec![UndoTask::Visit(operator, value)];
    let mut results: Vec<Value> = Vec::new();
    while let Some(task) = tasks.pop() {
        match task {
            UndoTask::Build(build) => build_from(&mut results, build),
            UndoTask::Remember(operator, node) => {
                if let (Some(memo), Some(result)) = (node.memo(), results.last()) {
                    memo.undone.borrow_mut().push((operator, result.clone()));
                }
            }
            UndoTask::Visit(operator, value) => match undone(operator, value) {
                Some(known) => results.push(known),
                None => {
                    let done = visit(operator, value, &mut tasks).ok_or_else(|| not_done(program, operator, value))?;
                    results.extend(done);
                }
            },
        }
    }
    Ok(results.pop().unwrap_or_default())
}

fn not_done(program: &Program, operator: Operator, value: &Value) -> RuntimeError {
    let found = found(program, value);
    match operator {
        Operator::Primal(_) => RuntimeError::NotForward { prim: Prim::Primal, found },
        Operator::Tangent(_) => RuntimeError::NotForward { prim: Prim::Tangent, found },
        _ => RuntimeError::NotReversed { found },
    }
}

/// The result for a value, unless that is left to tasks. `None` when there is none.
fn visit<'a>(operator: Operator, value: &'a Value, tasks: &mut Vec<UndoTask<'a>>) -> Option<Option<Value>> {
    let is_tangent = matches!(operator, Operator::Tangent(_));
    match value {
        Value::Nil | Value::Bool(_) | Value::Str(_) if is_tangent => return Some(Some(Value::Nil)),
        Value::Nil | Value::Nothing | Value::Bool(_) | Value::Str(_) => return Some(Some(value.clone())),
        Value::Real(real) => {
            let Operator::ReverseInverse(below) = operator else { return None };
            let tags = real.tags.checked_sub(1).filter(|tags| below.forward <= *tags)?;
            return Some(Some(Value::Real(Real { tags, ..*real })));
        }
        Value::Bundle(bundle) => return visit_bundle(operator, value, bundle, tasks),
        Value::Series(series) if matches!(operator, Operator::Unlift(_) | Operator::UnliftDirections(_)) => {
            return Some(Some(series.car().clone()));
        }
        Value::Pair(pair) | Value::Series(pair) | Value::Record(pair) => {
            // What is undone of a zero is a zero.
            let build = match value {
                Value::Pair(pair) => Build::Pair(None, pair.is_zero()),
                Value::Record(pair) => Build::Pair(Some(pair.kind()), pair.is_zero()),
                _ => Build::Series,
            };
            tasks.extend([UndoTask::Remember(operator, value), UndoTask::Build(build)]);
            tasks.extend([UndoTask::Visit(operator, pair.cdr()), UndoTask::Visit(operator, pair.car())]);
        }
        Value::Vector(vector) => {
            let count = vector.elements().len();
            let build = if vector.is_zero() { Build::ZeroVector(count) } else { Build::Vector(count) };
            tasks.extend([UndoTask::Remember(operator, value), UndoTask::Build(build)]);
            tasks.extend(vector.elements().iter().rev().map(|element| UndoTask::Visit(operator, element)));
        }
        Value::Closure(closure) => {
            let Function { base, tower } = closure.function();
            let tower = match operator {
                Operator::Primal(below) | Operator::Tangent(below) => {
                    tower.remove(below.of_code(), Transformation::Forward)?
                }
                Operator::ReverseInverse(below) => tower.remove(below.of_code(), Transformation::Reverse)?,
                Operator::Unlift(below) => tower.remove(below.of_code(), Transformation::Series)?,
                Operator::UnliftDirections(below) => tower.remove(below.of_code(), Transformation::Directions)?,
                _ => tower,
            };
            let count = closure.captures().len();
            let build = if is_tangent { Build::List(count) } else { Build::Closure(Function { base, tower }, count) };
            tasks.extend([UndoTask::Remember(operator, value), UndoTask::Build(build)]);
            tasks.extend(closure.captures().iter().rev().map(|capture| UndoTask::Visit(operator, capture)));
        }
    }
    Some(None)
}

fn visit_bundle<'a>(
    operator: Operator,
    value: &'a Value,
    bundle: &'a Pair,
    tasks: &mut Vec<UndoTask<'a>>,
) -> Option<Option<Value>> {
    let tags = bundle.tags();
    let deeper = |below: Below| Some(below.with_forward(below.forward.checked_sub(tags + 1)?));
    let inside = match operator {
        Operator::ReverseInverse(below) if below.forward < tags => {
            return Some(Some(Value::bundle(tags - 1, bundle.car().clone(), bundle.cdr().clone())));
        }
        Operator::Primal(below) if below.forward == tags => return Some(Some(tagged(bundle.car(), tags))),
        Operator::Tangent(below) if below.forward == tags => return Some(Some(tagged(bundle.cdr(), tags))),
        Operator::ReverseInverse(below) => Operator::ReverseInverse(deeper(below)?),
        Operator::Primal(below) => Operator::Primal(deeper(below)?),
        Operator::Tangent(below) => Operator::Tangent(deeper(below)?),
        _ => return None,
    };
    tasks.extend([UndoTask::Remember(operator, value), UndoTask::Build(Build::Bundle(tags))]);
    tasks.extend([UndoTask::Visit(inside, bundle.cdr()), UndoTask::Visit(inside, bundle.car())]);
    Some(None)
}

/// A number with so many more tags.
fn tagged(number: &Value, tags: u32) -> Value {
    match number {
        Value::Real(real) => Value::Real(Real { tags: real.tags + tags, ..*real }),
        Value::Bundle(bundle) if tags > 0 => {
            Value::bundle(bundle.tags() + tags, bundle.car().clone(), bundle.cdr().clone())
        }
        other => other.clone(),
    }
}

/// What an operator makes of a node, where nothing is left to do: that of a transform, that of a node that has been
/// asked before, and the zeros of what these are transforms of.
fn undone(operator: Operator, value: &Value) -> Option<Value> {
    let remembered = |by: Operator, node: &Value| {
        let undone = node.memo_so_far()?.undone.borrow();
        undone.iter().find(|(operator, _)| *operator == by).map(|(_, result)| result.clone())
    };
    if let Some(result) = remembered(operator, value) {
        return Some(result);
    }
    let Origin::Made(made, of) = origin(value)? else { return None };
    match (operator, made) {
        (Operator::ReverseInverse(Below::NONE), Operator::Reverse(Below::NONE))
        | (Operator::Primal(Below::NONE), Operator::Forward(Below::NONE))
        | (Operator::Unlift(Below::NONE), Operator::Lift(Below::NONE))
        | (Operator::UnliftDirections(Below::NONE), Operator::LiftDirections(Below::NONE)) => Some(of.clone()),
        (Operator::Tangent(Below::NONE), Operator::Forward(Below::NONE)) => Some(deferred::zero(of)),
        (_, Operator::Zero) => {
            // Both parts of a zero are zeros of the primal.
            let operator = if let Operator::Tangent(below) = operator { Operator::Primal(below) } else { operator };
            let inverse = remembered(operator, of).or_else(|| match (operator, origin(of)?) {
                (Operator::ReverseInverse(Below::NONE), Origin::Made(Operator::Reverse(Below::NONE), inverse))
                | (Operator::Primal(Below::NONE), Origin::Made(Operator::Forward(Below::NONE), inverse)) => {
                    Some(inverse.clone())
                }
                _ => None,
            });
            inverse.map(|inverse| deferred::zero(&inverse))
        }
        _ => None,
    }
}

fn origin(value: &Value) -> Option<&Origin> {
    match value {
        Value::Pair(pair) | Value::Bundle(pair) | Value::Series(pair) | Value::Record(pair) => Some(&pair.origin),
        Value::Closure(closure) => Some(&closure.origin),
        Value::Vector(vector) => Some(&vector.origin),
        Value::Nil | Value::Nothing | Value::Bool(_) | Value::Real(_) | Value::Str(_) => None,
    }
}

/// A pair of nodes that more than one reference leads to, and how far below an operator works there.
type Shared = (Below, *const (), *const ());

enum BundleTask<'a> {
    Visit(Below, &'a Value, &'a Value),
    Build(Build),
    Remember(Shared),
}

/// `bundle`, below some transformations.
///
/// # Errors
///
/// When the second value is no tangent of the first.
pub fn bundle(program: &Program, below: Below, value: &Value, tangent: &Value) -> Result<Value, RuntimeError> {
    let mut tasks = vec![BundleTask::Visit(below, value, tangent)];
    let mut results: Vec<Value> = Vec::new();
    let mut shared: FxHashMap<Shared, Value> = FxHashMap::default();
    while let Some(task) = tasks.pop() {
        match task {
            BundleTask::Build(build) => build_from(&mut results, build),
            BundleTask::Remember(nodes) => {
                shared.insert(nodes, results.last().cloned().unwrap_or_default());
            }
            BundleTask::Visit(below, x, t) => {
                let nodes = shared_address(x).zip(shared_address(t)).map(|(x, t)| (below, x, t));
                if let Some(done) = nodes.and_then(|nodes| shared.get(&nodes)) {
                    results.push(done.clone());
                    continue;
                }
                tasks.extend(nodes.map(BundleTask::Remember));
                if bundle_parts(below, x, t, &mut tasks, &mut results).is_none() {
                    return Err(RuntimeError::NotATangent { value: found(program, x), found: found(program, t) });
                }
            }
        }
    }
    let result = results.pop().unwrap_or_default();
    if let Some(memo) = result.memo() {
        let known = [(Operator::Primal(below), value.clone()), (Operator::Tangent(below), tangent.clone())];
        memo.undone.borrow_mut().extend(known);
    }
    Ok(result)
}

/// `None` when `t` is no tangent of `x`, by what shows at the top.
fn bundle_parts<'a>(
    below: Below,
    x: &'a Value,
    t: &'a Value,
    tasks: &mut Vec<BundleTask<'a>>,
    results: &mut Vec<Value>,
) -> Option<()> {
    match (x, t) {
        (Value::Nil | Value::Bool(_) | Value::Str(_), Value::Nil) => results.push(x.clone()),
        (Value::Nothing, Value::Nothing) => results.push(Value::Nothing),
        (Value::Real(a), Value::Real(b)) if a.tags == b.tags => {
            let tags = a.tags.checked_sub(below.forward)?;
            let part = |real: &Real| Value::Real(Real { tags, ..*real });
            results.push(Value::bundle(below.forward, part(a), part(b)));
        }
        (Value::Bundle(a), Value::Bundle(b)) if a.tags() == b.tags() => match a.tags().checked_sub(below.forward) {
            Some(tags) => {
                let part = |bundle: &Pair| Value::bundle(tags, bundle.car().clone(), bundle.cdr().clone());
                results.push(Value::bundle(below.forward, part(a), part(b)));
            }
            None => {
                let inside = below.with_forward(below.forward - a.tags() - 1);
                tasks.push(BundleTask::Build(Build::Bundle(a.tags())));
                tasks
                    .extend([BundleTask::Visit(inside, a.cdr(), b.cdr()), BundleTask::Visit(inside, a.car(), b.car())]);
            }
        },
        (Value::Pair(a), Value::Pair(b)) => bundle_pairs(below, a, b, Build::Pair(None, false), tasks),
        (Value::Series(a), Value::Series(b)) => bundle_pairs(below, a, b, Build::Series, tasks),
        (Value::Record(a), Value::Record(b)) if a.kind() == b.kind() => {
            bundle_pairs(below, a, b, Build::Pair(Some(a.kind()), false), tasks);
        }
        (Value::Vector(a), Value::Vector(b)) if a.elements().len() == b.elements().len() => {
            tasks.push(BundleTask::Build(Build::Vector(a.elements().len())));
            let parts = a.elements().iter().zip(b.elements());
            tasks.extend(parts.rev().map(|(a, b)| BundleTask::Visit(below, a, b)));
        }
        (Value::Closure(closure), t) => {
            let Function { base, tower } = closure.function();
            let function = Function { base, tower: tower.insert(below.of_code(), Transformation::Forward) };
            tasks.push(BundleTask::Build(Build::Closure(function, closure.captures().len())));
            let mut parts = Vec::with_capacity(closure.captures().len());
            let mut rest = t;
            for capture in closure.captures() {
                let Value::Pair(pair) = rest else { return None };
                parts.push(BundleTask::Visit(below, capture, pair.car()));
                rest = pair.cdr();
            }
            tasks.extend(parts.into_iter().rev());
            return matches!(rest, Value::Nil).then_some(());
        }
        _ => return None,
    }
    Some(())
}

fn bundle_pairs<'a>(below: Below, a: &'a Pair, b: &'a Pair, build: Build, tasks: &mut Vec<BundleTask<'a>>) {
    tasks.push(BundleTask::Build(build));
    tasks.extend([BundleTask::Visit(below, a.cdr(), b.cdr()), BundleTask::Visit(below, a.car(), b.car())]);
}

enum PlusTask<'a> {
    Visit(&'a Value, &'a Value),
    Build(Build),
    Remember((*const (), *const ())),
    /// A part that is nothing to be added to.
    Keep(&'a Value),
}

/// `plus`; counts the pairs of numbers that it adds.
///
/// The zero of a pair or vector leaves the other one as it is, whatever that holds, and takes no time. All that tells a
/// zero is what it holds, so a pair of which the program says that it is one ([`Pair::is_zero`]) and one that only
/// consists of zeros are the same; the latter matters only where two pairs do not conform, and is looked for then.
///
/// # Errors
///
/// When the two do not conform.
pub fn plus(program: &Program, left: &Value, right: &Value, additions: &mut u64) -> Result<Value, RuntimeError> {
    let before = *additions;
    add(program, left, right, is_known_zero, additions).or_else(|_| {
        *additions = before;
        add(program, left, right, consists_of_zeros, additions)
    })
}

/// The same, but a zero has to conform to the other one.
///
/// # Errors
///
/// When the two do not conform.
pub fn strict_plus(program: &Program, left: &Value, right: &Value, additions: &mut u64) -> Result<Value, RuntimeError> {
    add(program, left, right, |_| false, additions)
}

fn add(
    program: &Program,
    left: &Value,
    right: &Value,
    is_zero: fn(&Value) -> bool,
    additions: &mut u64,
) -> Result<Value, RuntimeError> {
    let mut tasks = vec![PlusTask::Visit(left, right)];
    let mut results: Vec<Value> = Vec::new();
    let mut shared: FxHashMap<(*const (), *const ()), Value> = FxHashMap::default();
    while let Some(task) = tasks.pop() {
        match task {
            PlusTask::Build(build) => build_from(&mut results, build),
            PlusTask::Keep(value) => results.push(value.clone()),
            PlusTask::Remember(addresses) => {
                let result = results.last().cloned().unwrap_or_default();
                shared.insert(addresses, result);
            }
            PlusTask::Visit(left, right) => {
                let addresses = shared_address(left).zip(shared_address(right));
                if let Some(done) = addresses.and_then(|addresses| shared.get(&addresses)) {
                    results.push(done.clone());
                    continue;
                }
                tasks.extend(addresses.map(PlusTask::Remember));
                // A zero fills holes.
                let is_zero = |value: &Value| is_zero(value) && !left.has_holes() && !right.has_holes();
                match (left, right) {
                    (Value::Nothing, other) | (other, Value::Nothing) => results.push(other.clone()),
                    (Value::Nil, Value::Nil) => results.push(Value::Nil),
                    (Value::Bool(x), Value::Bool(y)) if x == y => results.push(Value::Bool(*x)),
                    (Value::Real(x), Value::Real(y)) if x.tags == y.tags => {
                        results.push(Value::Real(plus_reals(*x, *y, additions)));
                    }
                    // The zero of the beginning of a vector is shorter than that of the vector, and means the same.
                    (Value::Vector(x), Value::Vector(y))
                        if is_zero(right) && x.elements().len() > y.elements().len() =>
                    {
                        results.push(left.clone());
                    }
                    _ if is_zero(left) && are_alike(left, right) => results.push(right.clone()),
                    _ if is_zero(right) && are_alike(left, right) => results.push(left.clone()),
                    (Value::Vector(x), Value::Vector(y)) if x.elements().len() == y.elements().len() => {
                        tasks.push(PlusTask::Build(Build::Vector(x.elements().len())));
                        let parts = x.elements().iter().zip(y.elements());
                        tasks.extend(parts.rev().map(|(x, y)| PlusTask::Visit(x, y)));
                    }
                    (Value::Pair(x), Value::Pair(y)) => visit_pairs(x, y, Build::Pair(None, false), &mut tasks),
                    (Value::Record(x), Value::Record(y)) if x.kind() == y.kind() => {
                        visit_pairs(x, y, Build::Pair(Some(x.kind()), false), &mut tasks);
                    }
                    (Value::Series(x), Value::Series(y)) => visit_series(x, y, &mut tasks),
                    (Value::Bundle(x), Value::Bundle(y)) if x.tags() == y.tags() => {
                        visit_pairs(x, y, Build::Bundle(x.tags()), &mut tasks);
                    }
                    (Value::Closure(x), Value::Closure(y)) if x.function() == y.function() => {
                        visit_closures(x, y, &mut tasks);
                    }
                    _ => return Err(non_conformant(program, left, right)),
                }
            }
        }
    }
    Ok(results.pop().unwrap_or_default())
}

/// What [`Prim::Handed`], [`Prim::HandedFew`] or [`Prim::Kept`] makes of a sum, this deep in it.
pub fn split_sum(sum: &Value, side: Prim, levels: Levels) -> Value {
    match sum {
        Value::Pair(pair) | Value::Record(pair) if hands_on(sum, levels) => {
            let [car, cdr] = [(0, pair.car()), (1, pair.cdr())].map(|(part, value)| match levels.below(part) {
                Some(levels) => split_sum(value, side, levels),
                None if side == Prim::Kept => value.clone(),
                None => Value::Nothing,
            });
            match sum {
                Value::Record(pair) => Value::record(pair.kind(), car, cdr),
                _ => Value::pair(car, cdr),
            }
        }
        _ if hands_on(sum, levels) != (side == Prim::Kept) => sum.clone(),
        _ => Value::Nothing,
    }
}

/// Whether a sum has vectors that are handed on, this deep in it: zeros are not, as to begin with one costs nothing.
pub fn hands_on(sum: &Value, levels: Levels) -> bool {
    match sum {
        Value::Vector(vector) => !vector.is_zero(),
        Value::Pair(pair) | Value::Record(pair) if !pair.is_zero() => {
            let mut parts = [(0, pair.car()), (1, pair.cdr())].into_iter();
            parts.any(|(part, value)| levels.below(part).is_some_and(|levels| hands_on(value, levels)))
        }
        _ => false,
    }
}

/// Whether a value consists of symbolic zeros and empty lists, at any depth.
pub fn consists_of_zeros(value: &Value) -> bool {
    let mut seen = FxHashSet::default();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        if is_known_zero(value) {
            continue;
        }
        match value {
            Value::Nil | Value::Nothing => {}
            Value::Real(real) if real.symbolic => {}
            Value::Pair(pair) | Value::Bundle(pair) | Value::Series(pair) | Value::Record(pair) => {
                if seen.insert(Rc::as_ptr(pair).cast::<()>()) {
                    pending.extend(pair.parts());
                }
            }
            Value::Vector(vector) => {
                if seen.insert(Rc::as_ptr(vector).cast::<()>()) {
                    pending.extend(vector.elements());
                }
            }
            Value::Real(_) | Value::Bool(_) | Value::Str(_) | Value::Closure(_) => return false,
        }
    }
    true
}

/// Whether a value with parts was made as a zero.
fn is_known_zero(value: &Value) -> bool {
    match value {
        Value::Pair(pair) | Value::Bundle(pair) | Value::Series(pair) | Value::Record(pair) => pair.is_zero(),
        Value::Vector(vector) => vector.is_zero(),
        Value::Nil | Value::Nothing | Value::Bool(_) | Value::Real(_) | Value::Str(_) | Value::Closure(_) => false,
    }
}

/// Whether values are both pairs, vectors, or records of one kind.
fn are_alike(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Record(a), Value::Record(b)) => a.kind() == b.kind(),
        _ => matches!((left, right), (Value::Pair(_), Value::Pair(_)) | (Value::Vector(_), Value::Vector(_))),
    }
}

fn visit_pairs<'a>(x: &'a Pair, y: &'a Pair, build: Build, tasks: &mut Vec<PlusTask<'a>>) {
    tasks.push(PlusTask::Build(build));
    tasks.extend([PlusTask::Visit(x.cdr(), y.cdr()), PlusTask::Visit(x.car(), y.car())]);
}

/// A series without further coefficients is a constant, whatever the other one has.
fn visit_series<'a>(x: &'a Pair, y: &'a Pair, tasks: &mut Vec<PlusTask<'a>>) {
    tasks.push(PlusTask::Build(Build::Series));
    tasks.push(match (x.cdr(), y.cdr()) {
        (Value::Nil, others) | (others, Value::Nil) => PlusTask::Keep(others),
        (left, right) => PlusTask::Visit(left, right),
    });
    tasks.push(PlusTask::Visit(x.car(), y.car()));
}

fn visit_closures<'a>(x: &'a Closure, y: &'a Closure, tasks: &mut Vec<PlusTask<'a>>) {
    tasks.push(PlusTask::Build(Build::Closure(x.function(), x.captures().len())));
    let parts = x.captures().iter().zip(y.captures());
    tasks.extend(parts.rev().map(|(x, y)| PlusTask::Visit(x, y)));
}

fn plus_reals(x: Real, y: Real, additions: &mut u64) -> Real {
    if x.symbolic {
        return y;
    }
    if y.symbolic {
        return x;
    }
    *additions += 1;
    Real { number: x.number + y.number, ..x }
}

fn non_conformant(program: &Program, left: &Value, right: &Value) -> RuntimeError {
    RuntimeError::NonConformant { left: found(program, left), right: found(program, right) }
}

#[cfg(test)]
mod tests {
    use super::deferred::{reverse, zero};
    use super::*;
    use crate::ad::tower::Tower;
    use crate::core::ir::LambdaId;
    use crate::eval::print::shortened;

    fn text(value: &Value) -> String {
        shortened(&Program::default(), value, 200)
    }

    fn reverse_inverse(program: &Program, value: &Value) -> Result<Value, RuntimeError> {
        undo(program, Operator::ReverseInverse(Below::NONE), value)
    }

    fn sum(left: &Value, right: &Value) -> Result<Value, RuntimeError> {
        plus(&Program::default(), left, right, &mut 0)
    }

    /// `x1 = (cons 1 1); x2 = (cons x1 x1); ...`: as many nodes as levels, but 2^levels paths.
    fn doubled(levels: usize) -> Value {
        (0..levels).fold(Value::real(1.0), |value, _| Value::pair(value.clone(), value))
    }

    fn long_list(length: usize) -> Value {
        (0..length).fold(Value::Nil, |tail, _| Value::pair(Value::real(1.0), tail))
    }

    #[test]
    fn sums_with_symbolic_zeros_are_the_other_operand() {
        let negative_zero = Value::real(-0.0);
        let mut additions = 0;
        let program = Program::default();
        let sum = plus(&program, &zero(&Value::real(7.0)), &negative_zero, &mut additions);
        assert_eq!(sum.map(|sum| text(&sum)), Ok("-0".into()));
        assert_eq!(additions, 0);
        let sum = plus(&program, &Value::real(1.0), &Value::real(2.0), &mut additions);
        assert_eq!((sum.map(|sum| text(&sum)), additions), (Ok("3".into()), 1));
    }

    #[test]
    fn zero_of_a_closure_lists_its_captures() {
        let closure = Value::closure(
            Function { base: LambdaId(0), tower: Tower::EMPTY },
            vec![Value::real(1.0), Value::Bool(true), Value::Nil],
        );
        assert_eq!(text(&zero(&closure)), "(0 () ())");
    }

    #[test]
    fn what_does_not_conform_is_an_error() {
        let one = Value::real(1.0);
        let tagged = Value::Real(Real { tags: 1, ..Real::new(1.0) });
        for (left, right) in [(&one, &Value::Nil), (&one, &tagged), (&Value::Nil, &Value::Bool(true))] {
            assert!(matches!(sum(left, right), Err(RuntimeError::NonConformant { .. })));
        }
    }

    #[test]
    fn what_is_handed_and_what_is_kept_are_the_sum() {
        let vector = |number: f64| Value::vector(vec![Value::real(number)]);
        let program = Program::default();
        // A zero vector stays, whatever its sensitivity is.
        let sum = Value::pair(vector(1.0), Value::pair(zero(&vector(2.0)), Value::real(3.0)));
        let [handed, kept] = [Prim::Handed, Prim::Kept].map(|side| split_sum(&sum, side, Levels::ALL));
        assert!(handed.has_holes() && kept.has_holes());
        let again = plus(&program, &handed, &kept, &mut 0);
        assert_eq!(again.map(|again| text(&again)), Ok(text(&sum)));
    }

    #[test]
    fn constants_can_be_added_to_series() {
        let others = Value::pair(Value::real(2.0), Value::Nil);
        let series = |constant: f64, others: &Value| Value::series(Value::real(constant), others.clone());
        let (constant, changing) = (series(1.0, &Value::Nil), series(5.0, &others));
        for (left, right) in [(&constant, &changing), (&changing, &constant)] {
            let Ok(Value::Series(sum)) = sum(left, right) else { panic!("the two conform") };
            assert_eq!((text(sum.car()), text(sum.cdr())), ("6".into(), "(2)".into()));
        }
        assert!(matches!(sum(&constant, &constant), Ok(Value::Series(sum)) if matches!(sum.cdr(), Value::Nil)));
    }

    #[test]
    fn shared_structure_stays_linear() {
        let value = doubled(64);
        let reversed = reverse(&value);
        let program = Program::default();
        assert!(reverse_inverse(&program, &reversed).is_ok());
        assert!(sum(&value, &zero(&value)).is_ok());
        assert!(sum(&value, &value).is_ok());
    }

    #[test]
    fn long_lists_need_no_native_stack() {
        let list = long_list(1_000_000);
        let reversed = reverse(&list);
        assert!(reverse_inverse(&Program::default(), &reversed).is_ok());
        assert!(sum(&list, &zero(&list)).is_ok());
    }

    #[test]
    fn zeros_of_parts_and_sums_with_them_take_no_time() {
        let list = long_list(10_000);
        let mut rest = &list;
        let mut additions = 0;
        // Quadratic, this would be 10^8 steps.
        while let Value::Pair(pair) = rest {
            assert!(plus(&Program::default(), &list, &zero(&list), &mut additions).is_ok());
            assert!(matches!(zero(rest), Value::Pair(_)));
            rest = pair.cdr();
        }
        assert_eq!(additions, 0);
    }

    #[test]
    fn inverse_of_an_untransformed_value_is_an_error() {
        let program = Program::default();
        assert!(reverse_inverse(&program, &long_list(1)).is_err());
        assert!(reverse_inverse(&program, &Value::Nil).is_ok());
    }

    #[test]
    fn transforms_of_zeros_of_parts_take_no_time() {
        let program = Program::default();
        let reversed = reverse(&long_list(10_000));
        let mut rest = &reversed;
        // Quadratic, this would be 10^8 steps.
        while let Value::Pair(pair) = rest {
            let primal = reverse_inverse(&program, rest).expect("it is a transform");
            let again = reverse(&zero(&primal));
            assert!(matches!(&again, Value::Pair(pair) if pair.is_zero()));
            assert!(reverse_inverse(&program, &zero(rest)).is_ok());
            rest = pair.cdr();
        }
    }

    #[test]
    fn towers_of_transforms_need_no_native_stack() {
        let high = (0..1_000_000).fold(Value::pair(Value::real(1.0), Value::Nil), |value, _| reverse(&value));
        assert!(matches!(&high, Value::Pair(pair) if matches!(pair.car(), Value::Real(Real { tags: 1_000_000, .. }))));
    }
}
