//! Values that do not fit the patterns of a function: where the pattern stands → the error that says what is wrong.
//!
//! Core code has no patterns, only demands ([`Rhs::Destructure`]). What the program wrote follows from where a demand
//! stands in a function: a parameter list, a list of some length, a record, or what `define-record` defines.

use crate::base::Span;
use crate::core::errors::{Arguments, Found, Kind, Place, RuntimeError};
use crate::core::ir::{Lambda, Origin, Part, Program, Rhs, Var};
use rustc_hash::FxHashMap;

/// Whose call a value that does not fit a pattern comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// The function begins with the pattern: whoever has called it.
    Unknown,
    /// The same, and the function has been copied to where it is called.
    At(Span),
    /// Nobody's: the pattern takes apart what the function has looked at, or computed, before.
    Innocent,
}

impl Caller {
    /// The call, of an error with that place.
    pub fn call(self, place: &Place) -> Option<Span> {
        match self {
            Caller::Unknown => place.call,
            Caller::At(call) => Some(call),
            Caller::Innocent => None,
        }
    }
}

/// How `var` takes part in the parameter list of `lambda`: the number of parameters, and how many of them stand before
/// the place that `var` names (0 for the whole argument). `None` when it is no part of the parameter list's spine.
///
/// A parameter list of n names begins the body with `car` and `cdr` patterns along n - 1 pairs; an empty one begins it
/// with the pattern `()`.
pub fn parameter_position(program: &Program, lambda: &Lambda, var: Var) -> Option<(usize, usize)> {
    // A pattern that stands elsewhere takes something else apart, or a parameter that has a name.
    let place = program.vars[lambda.param].span;
    let mut spine = vec![lambda.param];
    let mut closed = false;
    // A function of a group begins with the others.
    for binding in lambda.body.bindings.iter().skip_while(|binding| matches!(binding.rhs, Rhs::Closure(..))) {
        match binding.rhs {
            Rhs::Destructure(..) if binding.span != place => {}
            Rhs::Destructure(Part::Cdr, whole) if spine.last() == Some(&whole) => spine.push(binding.var),
            Rhs::Destructure(Part::Nil, whole) => closed |= spine.last() == Some(&whole),
            Rhs::Destructure(..) => {}
            _ => break,
        }
    }
    let position = spine.iter().position(|part| *part == var)?;
    match (closed, spine.len()) {
        (true, 1) => Some((0, 0)),
        (true, _) => None,
        (false, count) => Some((count, position)),
    }
}

/// How many elements a pattern has taken from the front of a list when it gets to what `var` names.
fn elements_before(lambda: &Lambda, mut var: Var) -> usize {
    let bindings = lambda.body.all_bindings();
    let rest_of = bindings.iter().filter_map(|binding| match binding.rhs {
        Rhs::Destructure(Part::Cdr, whole) => Some((binding.var, whole)),
        _ => None,
    });
    let rest_of: FxHashMap<Var, Var> = rest_of.collect();
    let mut count = 0;
    while let Some(whole) = rest_of.get(&var) {
        (count, var) = (count + 1, *whole);
    }
    count
}

/// The error of a pattern `part` outside of functions that the value of `var` does not fit.
pub fn mismatch_at_top(program: &Program, part: Part, var: Var, found: Found) -> RuntimeError {
    if let Some(error) = mismatch_in_copy(program, part, var, &found) {
        return error;
    }
    match part {
        Part::Record(kind) => {
            let record = program.records[kind].name.clone();
            RuntimeError::NotARecord { record, function: None, found, caller: Caller::Innocent }
        }
        part => RuntimeError::Mismatch { part, found, arguments: None, behind: 0, caller: Caller::Innocent },
    }
}

/// The error of a pattern that has been copied from a function to where that is called.
fn mismatch_in_copy(program: &Program, part: Part, var: Var, found: &Found) -> Option<RuntimeError> {
    let copied = program.vars[var].copied.as_ref()?;
    let lambda = &program.lambdas[copied.lambda];
    let mut error = mismatch(program, &lambda.name, lambda, part, copied.var, found.clone());
    if let RuntimeError::Mismatch { caller, .. } | RuntimeError::NotARecord { caller, .. } = &mut error {
        *caller = Caller::At(copied.call);
    }
    Some(error)
}

/// The error of a pattern `part` of `lambda` that the value of `var` does not fit.
pub fn mismatch(
    program: &Program,
    function: &str,
    lambda: &Lambda,
    part: Part,
    var: Var,
    found: Found,
) -> RuntimeError {
    if let Some(error) = mismatch_in_copy(program, part, var, &found) {
        return error;
    }
    let record = match part {
        Part::Record(kind) => Some(&program.records[kind]),
        _ => None,
    };
    if matches!(lambda.origin, Origin::Backpropagator(..) | Origin::Adding(_)) {
        return RuntimeError::Sensitivity { part, record: record.map(|record| record.name.clone()), found };
    }
    let is_first = first_demands(lambda).any(|(_, whole)| whole == var);
    let caller = if is_first { Caller::Unknown } else { Caller::Innocent };
    if let Some(record) = record {
        // What the definition of the records defines stands where their name does.
        let function = (record.span == lambda.span).then(|| function.into());
        return RuntimeError::NotARecord { record: record.name.clone(), function, found, caller };
    }
    let position = if part == Part::Never { None } else { parameter_position(program, lambda, var) };
    let arguments = position.map(|(expected, position)| {
        let nothing = position == 0 && found.kind == Kind::Nil;
        Arguments { function: function.into(), expected, found: if nothing { 0 } else { position + 1 } }
    });
    // With as many arguments as it takes, one of them does not fit its pattern.
    let arguments = arguments.filter(|arguments| arguments.found != arguments.expected);
    let behind = elements_before(lambda, var);
    RuntimeError::Mismatch { part, found, arguments, behind, caller }
}

/// What a function takes apart before it calls others and decides anything: what is wrong with that is the caller's
/// fault.
pub fn first_demands(lambda: &Lambda) -> impl Iterator<Item = (Part, Var)> {
    let first = lambda.body.bindings.iter().take_while(|binding| !matches!(binding.rhs, Rhs::Apply(..) | Rhs::If(..)));
    first.filter_map(|binding| match binding.rhs {
        Rhs::Destructure(part, whole) => Some((part, whole)),
        _ => None,
    })
}
