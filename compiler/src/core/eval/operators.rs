//! The derivative operators on values: `zero`, `plus`, `*j`, `*j-inverse`.
//!
//! All of them walk values with a stack of their own. A part that is shared is visited once and its result is shared:
//! a value of n nodes costs n steps however many paths lead through it. `zero` and `*j-inverse` of a node are computed
//! once in its life.

use super::value::{Closure, Pair, Real, Value};
use crate::core::errors::RuntimeError;
use crate::core::eval::print::found;
use crate::core::ir::{LambdaId, Program};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a unary operator makes of a value.
trait Operator {
    fn real(&mut self, real: Real) -> Result<Value, RuntimeError>;
    /// A boolean or a string.
    fn other(&mut self, value: &Value) -> Value;
    fn pair(&self) -> Build {
        Build::Pair
    }
    /// What to build from the results for a closure's captures.
    fn closure(&mut self, closure: &Value, lambda: LambdaId) -> Result<Build, RuntimeError>;
    /// The result for a node that has been operated on before.
    fn recall(&self, node: &Value) -> Option<Value>;
    fn remember(&mut self, node: &Value, result: &Value);
}

/// What to build from results.
enum Build {
    Pair,
    ZeroPair,
    Closure(LambdaId, usize),
    ZeroList(usize),
}

enum Task<'a> {
    Visit(&'a Value),
    Build(Build),
    /// The last result is that of this node.
    Remember(&'a Value),
}

/// The address of a node that more than one reference leads to.
fn shared_address(value: &Value) -> Option<*const ()> {
    match value {
        Value::Pair(pair) if Rc::strong_count(pair) > 1 => Some(Rc::as_ptr(pair).cast()),
        Value::Closure(closure) if Rc::strong_count(closure) > 1 => Some(Rc::as_ptr(closure).cast()),
        _ => None,
    }
}

fn rebuild(value: &Value, operator: &mut dyn Operator) -> Result<Value, RuntimeError> {
    let mut tasks = vec![Task::Visit(value)];
    let mut results: Vec<Value> = Vec::new();
    while let Some(task) = tasks.pop() {
        match task {
            Task::Build(build) => build_from(&mut results, build),
            Task::Remember(node) => operator.remember(node, results.last().unwrap_or(&Value::Nil)),
            Task::Visit(value) => match operator.recall(value) {
                Some(done) => results.push(done),
                None => visit(value, operator, &mut tasks, &mut results)?,
            },
        }
    }
    Ok(results.pop().unwrap_or_default())
}

fn visit<'a>(
    value: &'a Value,
    operator: &mut dyn Operator,
    tasks: &mut Vec<Task<'a>>,
    results: &mut Vec<Value>,
) -> Result<(), RuntimeError> {
    match value {
        Value::Nil => results.push(Value::Nil),
        Value::Bool(_) | Value::Str(_) => results.push(operator.other(value)),
        Value::Real(real) => results.push(operator.real(*real)?),
        Value::Pair(pair) => {
            tasks.extend([Task::Remember(value), Task::Build(operator.pair())]);
            tasks.extend([Task::Visit(pair.cdr()), Task::Visit(pair.car())]);
        }
        Value::Closure(closure) => {
            tasks.extend([Task::Remember(value), Task::Build(operator.closure(value, closure.lambda())?)]);
            tasks.extend(closure.captures().iter().rev().map(Task::Visit));
        }
    }
    Ok(())
}

/// Replaces the results for the parts, which stand last in order, by the result for the whole.
fn build_from(results: &mut Vec<Value>, build: Build) {
    let count = match build {
        Build::Pair | Build::ZeroPair => 2,
        Build::Closure(_, count) | Build::ZeroList(count) => count,
    };
    let mut parts = results.drain(results.len() - count..);
    let whole = match build {
        Build::Pair | Build::ZeroPair => {
            let car = parts.next().unwrap_or_default();
            let cdr = parts.next().unwrap_or_default();
            if matches!(build, Build::Pair) { Value::pair(car, cdr) } else { Value::zero_pair(car, cdr) }
        }
        Build::Closure(lambda, _) => Value::closure(lambda, parts.by_ref().collect()),
        Build::ZeroList(_) => parts.by_ref().rev().fold(Value::Nil, |tail, part| Value::zero_pair(part, tail)),
    };
    drop(parts);
    results.push(whole);
}

fn capture_count(closure: &Value) -> usize {
    match closure {
        Value::Closure(closure) => closure.captures().len(),
        _ => 0,
    }
}

struct Zero;

impl Operator for Zero {
    fn real(&mut self, real: Real) -> Result<Value, RuntimeError> {
        Ok(Value::Real(Real::symbolic_zero(real.tags)))
    }
    fn other(&mut self, _: &Value) -> Value {
        Value::Nil
    }
    fn closure(&mut self, closure: &Value, _: LambdaId) -> Result<Build, RuntimeError> {
        Ok(Build::ZeroList(capture_count(closure)))
    }
    fn pair(&self) -> Build {
        Build::ZeroPair
    }
    fn recall(&self, node: &Value) -> Option<Value> {
        match node {
            Value::Pair(pair) if pair.is_zero() => Some(node.clone()),
            _ => node.memo_so_far()?.zero.get().cloned(),
        }
    }
    fn remember(&mut self, node: &Value, result: &Value) {
        if let Some(memo) = node.memo() {
            memo.zero.get_or_init(|| result.clone());
        }
    }
}

/// The zero sensitivity of a value.
pub fn zero(value: &Value) -> Value {
    rebuild(value, &mut Zero).unwrap_or_default()
}

struct Reverse<'a> {
    transform: &'a mut dyn FnMut(LambdaId) -> LambdaId,
    /// The results for shared nodes of this value.
    shared: FxHashMap<*const (), Value>,
}

impl Operator for Reverse<'_> {
    fn real(&mut self, real: Real) -> Result<Value, RuntimeError> {
        Ok(Value::Real(Real { tags: real.tags + 1, ..real }))
    }
    fn other(&mut self, value: &Value) -> Value {
        value.clone()
    }
    fn closure(&mut self, closure: &Value, lambda: LambdaId) -> Result<Build, RuntimeError> {
        Ok(Build::Closure((self.transform)(lambda), capture_count(closure)))
    }
    fn recall(&self, node: &Value) -> Option<Value> {
        self.shared.get(&shared_address(node)?).cloned()
    }
    /// The original remembers nothing, since its transform remembers it.
    fn remember(&mut self, node: &Value, result: &Value) {
        if let Some(address) = shared_address(node) {
            self.shared.insert(address, result.clone());
        }
        if let Some(memo) = result.memo() {
            memo.inverse.get_or_init(|| node.clone());
        }
    }
}

/// `*j`, given the transform of each λ.
pub fn reverse(value: &Value, transform: &mut dyn FnMut(LambdaId) -> LambdaId) -> Result<Value, RuntimeError> {
    rebuild(value, &mut Reverse { transform, shared: FxHashMap::default() })
}

struct ReverseInverse<'a> {
    program: &'a Program,
    /// The λ that a λ is the transform of.
    inverse: &'a dyn Fn(LambdaId) -> Option<LambdaId>,
}

impl ReverseInverse<'_> {
    fn error(&self, value: &Value) -> RuntimeError {
        RuntimeError::NotReversed { found: found(self.program, value) }
    }
}

impl Operator for ReverseInverse<'_> {
    fn real(&mut self, real: Real) -> Result<Value, RuntimeError> {
        match real.tags.checked_sub(1) {
            Some(tags) => Ok(Value::Real(Real { tags, ..real })),
            None => Err(self.error(&Value::Real(real))),
        }
    }
    fn other(&mut self, value: &Value) -> Value {
        value.clone()
    }
    fn closure(&mut self, closure: &Value, lambda: LambdaId) -> Result<Build, RuntimeError> {
        match (self.inverse)(lambda) {
            Some(of) => Ok(Build::Closure(of, capture_count(closure))),
            None => Err(self.error(closure)),
        }
    }
    fn recall(&self, node: &Value) -> Option<Value> {
        node.memo_so_far()?.inverse.get().cloned()
    }
    fn remember(&mut self, node: &Value, result: &Value) {
        if let Some(memo) = node.memo() {
            memo.inverse.get_or_init(|| result.clone());
        }
    }
}

/// `*j-inverse`, given the λ that each λ is the transform of.
pub fn reverse_inverse(
    program: &Program,
    value: &Value,
    inverse: &dyn Fn(LambdaId) -> Option<LambdaId>,
) -> Result<Value, RuntimeError> {
    rebuild(value, &mut ReverseInverse { program, inverse })
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
                    (Value::Closure(x), Value::Closure(y)) if x.lambda() == y.lambda() => {
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
    tasks.push(PlusTask::Build(Build::Closure(x.lambda(), x.captures().len())));
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
    use super::*;
    use crate::core::eval::print::shortened;

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
        let closure = Value::closure(LambdaId(0), vec![Value::real(1.0), Value::Bool(true), Value::Nil]);
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
        let mut keep = |lambda| lambda;
        let reversed = reverse(&value, &mut keep).expect("`*j` never fails");
        let program = Program::default();
        assert!(reverse_inverse(&program, &reversed, &|lambda| Some(lambda)).is_ok());
        assert!(add(&value, &zero(&value)).is_ok());
        assert!(add(&value, &value).is_ok());
    }

    #[test]
    fn long_lists_need_no_native_stack() {
        let list = long_list(1_000_000);
        let mut keep = |lambda| lambda;
        let reversed = reverse(&list, &mut keep).expect("`*j` never fails");
        assert!(reverse_inverse(&Program::default(), &reversed, &|lambda| Some(lambda)).is_ok());
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
        assert!(reverse_inverse(&program, &long_list(1), &|_| None).is_err());
        assert!(reverse_inverse(&program, &Value::Nil, &|_| None).is_ok());
    }
}
