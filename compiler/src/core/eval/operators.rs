//! The derivative operators that can fail: `plus` and `*j-inverse`.
//!
//! Both walk values with a stack of their own. A part that is shared is visited once and its result is shared: a value
//! of n nodes costs n steps however many paths lead through it. `*j-inverse` of a node is computed once in its life, and
//! that of a transform is what was transformed. The operators that cannot fail are in [`super::deferred`].

use super::deferred;
use super::value::{Closure, Function, Origin, Pair, Real, Value};
use crate::core::errors::RuntimeError;
use crate::core::eval::print::found;
use crate::core::ir::Program;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What to build from results.
enum Build {
    Pair,
    Closure(Function, usize),
}

/// The address of a node that more than one reference leads to.
fn shared_address(value: &Value) -> Option<*const ()> {
    match value {
        Value::Pair(pair) if value.is_shared() => Some(Rc::as_ptr(pair).cast()),
        Value::Closure(closure) if value.is_shared() => Some(Rc::as_ptr(closure).cast()),
        _ => None,
    }
}

/// Replaces the results for the parts, which stand last in order, by the result for the whole.
fn build_from(results: &mut Vec<Value>, build: Build) {
    let count = match build {
        Build::Pair => 2,
        Build::Closure(_, count) => count,
    };
    let mut parts = results.drain(results.len() - count..);
    let whole = match build {
        Build::Pair => {
            let car = parts.next().unwrap_or_default();
            let cdr = parts.next().unwrap_or_default();
            Value::pair(car, cdr)
        }
        Build::Closure(function, _) => Value::closure(function, parts.by_ref().collect()),
    };
    drop(parts);
    results.push(whole);
}

enum InverseTask<'a> {
    Visit(&'a Value),
    Build(Build),
    /// The last result is that of this node.
    Remember(&'a Value),
}

/// `*j-inverse`
///
/// # Errors
///
/// When a part is not a reverse value.
pub fn reverse_inverse(program: &Program, value: &Value) -> Result<Value, RuntimeError> {
    let mut tasks = vec![InverseTask::Visit(value)];
    let mut results: Vec<Value> = Vec::new();
    while let Some(task) = tasks.pop() {
        match task {
            InverseTask::Build(build) => build_from(&mut results, build),
            InverseTask::Remember(node) => {
                if let (Some(memo), Some(result)) = (node.memo(), results.last()) {
                    memo.inverse.get_or_init(|| result.clone());
                }
            }
            InverseTask::Visit(value) => match known_inverse(value) {
                Some(inverse) => results.push(inverse),
                None => visit_inverse(program, value, &mut tasks, &mut results)?,
            },
        }
    }
    Ok(results.pop().unwrap_or_default())
}

fn visit_inverse<'a>(
    program: &Program,
    value: &'a Value,
    tasks: &mut Vec<InverseTask<'a>>,
    results: &mut Vec<Value>,
) -> Result<(), RuntimeError> {
    let error = || RuntimeError::NotReversed { found: found(program, value) };
    match value {
        Value::Nil | Value::Bool(_) | Value::Str(_) => results.push(value.clone()),
        Value::Real(real) => {
            let tags = real.tags.checked_sub(1).ok_or_else(error)?;
            results.push(Value::Real(Real { tags, ..*real }));
        }
        Value::Pair(pair) => {
            tasks.extend([InverseTask::Remember(value), InverseTask::Build(Build::Pair)]);
            tasks.extend([InverseTask::Visit(pair.cdr()), InverseTask::Visit(pair.car())]);
        }
        Value::Closure(closure) => {
            let Function { base, order } = closure.function();
            let function = Function { base, order: order.checked_sub(1).ok_or_else(error)? };
            let build = Build::Closure(function, closure.captures().len());
            tasks.extend([InverseTask::Remember(value), InverseTask::Build(build)]);
            tasks.extend(closure.captures().iter().rev().map(InverseTask::Visit));
        }
    }
    Ok(())
}

/// The `*j-inverse` of a node, where nothing is left to do: that of a transform, that of a node that has been asked
/// before, and the zeros of what these are transforms of.
fn known_inverse(value: &Value) -> Option<Value> {
    if let Some(inverse) = value.memo_so_far().and_then(|memo| memo.inverse.get()) {
        return Some(inverse.clone());
    }
    match origin(value)? {
        Origin::Reverse(of) => Some(of.clone()),
        Origin::Zero(of) => {
            let remembered = of.memo_so_far().and_then(|memo| memo.inverse.get());
            let inverse = match (remembered, origin(of)?) {
                (Some(inverse), _) | (None, Origin::Reverse(inverse)) => inverse,
                (None, Origin::Built | Origin::Zero(_)) => return None,
            };
            Some(deferred::zero(inverse))
        }
        Origin::Built => None,
    }
}

fn origin(value: &Value) -> Option<&Origin> {
    match value {
        Value::Pair(pair) => Some(&pair.origin),
        Value::Closure(closure) => Some(&closure.origin),
        Value::Nil | Value::Bool(_) | Value::Real(_) | Value::Str(_) => None,
    }
}

enum PlusTask<'a> {
    Visit(&'a Value, &'a Value),
    Build(Build),
    Remember((*const (), *const ())),
}

/// How `plus` is to be done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plus {
    /// The number of pairs of numbers that were added.
    pub additions: u64,
    /// True when the operands are known to conform, as all sensitivities of one variable do: adding the zero of a list
    /// then takes no time at all.
    pub conformant: bool,
}

/// `plus`.
pub fn plus(program: &Program, left: &Value, right: &Value, how: &mut Plus) -> Result<Value, RuntimeError> {
    let mut tasks = vec![PlusTask::Visit(left, right)];
    let mut results: Vec<Value> = Vec::new();
    let mut shared: FxHashMap<(*const (), *const ()), Value> = FxHashMap::default();
    while let Some(task) = tasks.pop() {
        match task {
            PlusTask::Build(build) => build_from(&mut results, build),
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
                match (left, right) {
                    (Value::Nil, Value::Nil) => results.push(Value::Nil),
                    (Value::Real(x), Value::Real(y)) if x.tags == y.tags => {
                        results.push(Value::Real(plus_reals(*x, *y, &mut how.additions)));
                    }
                    (Value::Pair(x), Value::Pair(_)) if how.conformant && x.is_zero() => results.push(right.clone()),
                    (Value::Pair(_), Value::Pair(y)) if how.conformant && y.is_zero() => results.push(left.clone()),
                    (Value::Pair(x), Value::Pair(y)) => visit_pairs(x, y, &mut tasks),
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

fn visit_pairs<'a>(x: &'a Pair, y: &'a Pair, tasks: &mut Vec<PlusTask<'a>>) {
    tasks.push(PlusTask::Build(Build::Pair));
    tasks.extend([PlusTask::Visit(x.cdr(), y.cdr()), PlusTask::Visit(x.car(), y.car())]);
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
    use crate::core::eval::print::shortened;
    use crate::core::ir::LambdaId;

    fn text(value: &Value) -> String {
        shortened(&Program::default(), value, 200)
    }

    fn add(left: &Value, right: &Value) -> Result<Value, RuntimeError> {
        plus(&Program::default(), left, right, &mut Plus::default())
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
        let mut how = Plus::default();
        let program = Program::default();
        let sum = plus(&program, &zero(&Value::real(7.0)), &negative_zero, &mut how);
        assert_eq!(sum.map(|sum| text(&sum)), Ok("-0".into()));
        assert_eq!(how.additions, 0);
        let sum = plus(&program, &Value::real(1.0), &Value::real(2.0), &mut how);
        assert_eq!((sum.map(|sum| text(&sum)), how.additions), (Ok("3".into()), 1));
    }

    #[test]
    fn zero_of_a_closure_lists_its_captures() {
        let closure = Value::closure(
            Function { base: LambdaId(0), order: 0 },
            vec![Value::real(1.0), Value::Bool(true), Value::Nil],
        );
        assert_eq!(text(&zero(&closure)), "(0 () ())");
    }

    #[test]
    fn what_does_not_conform_is_an_error() {
        let one = Value::real(1.0);
        let tagged = Value::Real(Real { tags: 1, ..Real::new(1.0) });
        for (left, right) in [(&one, &Value::Nil), (&one, &tagged), (&Value::Nil, &Value::Bool(true))] {
            assert!(matches!(add(left, right), Err(RuntimeError::NonConformant { .. })));
        }
    }

    #[test]
    fn shared_structure_stays_linear() {
        let value = doubled(64);
        let reversed = reverse(&value);
        let program = Program::default();
        assert!(reverse_inverse(&program, &reversed).is_ok());
        assert!(add(&value, &zero(&value)).is_ok());
        assert!(add(&value, &value).is_ok());
    }

    #[test]
    fn long_lists_need_no_native_stack() {
        let list = long_list(1_000_000);
        let reversed = reverse(&list);
        assert!(reverse_inverse(&Program::default(), &reversed).is_ok());
        assert!(add(&list, &zero(&list)).is_ok());
    }

    #[test]
    fn zeros_of_parts_and_sums_with_them_take_no_time() {
        let list = long_list(10_000);
        let mut rest = &list;
        let mut how = Plus { conformant: true, ..Plus::default() };
        // Quadratic, this would be 10^8 steps.
        while let Value::Pair(pair) = rest {
            assert!(plus(&Program::default(), &list, &zero(&list), &mut how).is_ok());
            assert!(matches!(zero(rest), Value::Pair(_)));
            rest = pair.cdr();
        }
        assert_eq!(how.additions, 0);
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
