//! The calls that `vlad bench` measures, and the programs that call them again and again: datums → datums.
//!
//! Measured is every call of a library function that takes derivatives, outside of functions and forms:
//!
//! ```text
//! (define (f x) ...)                  (define (f x) ...)
//! ((gradient f) (list 1 2))      →    (define rounds (read-real))
//!                                     (((measured rounds) (gradient f)) (list 1 2))
//! ```
//!
//! and beside it the call of the function itself, `(f (list 1 2))`. In such a program the other expressions that take
//! derivatives are left out, and what stands behind the call; the function `measured` is `%measured` of the library,
//! under a name that no program can write.

use crate::base::Span;
use crate::expand::names::basis;
use crate::expand::program::outline;
use crate::syntax::{self, Datum, DatumKind};
use std::rc::Rc;

/// What a program is to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The position of the call among all that are measured.
    pub call: usize,
    /// The function itself, or its derivative.
    pub side: Side,
}

/// What of a derivative is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The call of the function.
    Value,
    /// The call of its derivative.
    Derivative,
}

/// A call that is measured.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The function of the library.
    pub operator: Rc<str>,
    /// The call.
    pub span: Span,
    /// The call of the function itself, as text: what takes several derivatives in the same place is computed once.
    pub value: String,
    /// The top-level datum around the call.
    item: usize,
    derivative: Call,
    primal: Call,
}

/// `(function operand ...)`
#[derive(Clone, Debug)]
struct Call {
    function: Datum,
    operands: Vec<Datum>,
}

/// The names of the library's functions in measuring programs.
pub const LIBRARY: [(&str, &str); 2] = [(" measured", "%measured"), (" rounds", "%measured-rounds")];

/// The calls that are measured, in order.
pub fn taken(datums: &[Datum]) -> Vec<Taken> {
    let own: Vec<Rc<str>> = outline::definitions(datums).into_iter().map(|found| found.name).collect();
    let own: Vec<&Rc<str>> = own.iter().collect();
    let mut found = Vec::new();
    for (item, datum) in datums.iter().enumerate() {
        find(datum, item, &own, &mut found);
    }
    found
}

/// The program that measures one of the calls.
pub fn program(datums: Vec<Datum>, measure: Measure) -> Vec<Datum> {
    let mut taken = taken(&datums);
    let items: Vec<usize> = taken.iter().map(|taken| taken.item).collect();
    if measure.call >= taken.len() {
        return datums;
    }
    let Taken { item, span, derivative, primal, .. } = taken.swap_remove(measure.call);
    let Call { function, operands } = if measure.side == Side::Value { primal } else { derivative };
    let name = |name: &str| Datum { kind: DatumKind::Symbol(name.into()), span };
    let list = |items| Datum { kind: DatumKind::List(items), span };
    let [measured, rounds] = LIBRARY.map(|row| name(row.0));
    let number = name(" number");
    let repeated = list(vec![measured, number.clone(), function]);
    let call = list([vec![repeated], operands].concat());
    let keep =
        |(at, datum): &(usize, Datum)| !items.contains(at) && (*at < item || outline::definition(datum).is_some());
    let kept = datums.into_iter().enumerate().filter(keep).map(|row| row.1);
    let first = list(vec![name("define"), number, list(vec![rounds])]);
    std::iter::once(first).chain(kept).chain([call]).collect()
}

/// Finds the calls in an expression, but not in forms, which may bind names.
fn find(datum: &Datum, item: usize, own: &[&Rc<str>], found: &mut Vec<Taken>) {
    let Some(items) = datum.list() else { return };
    if let Some((operator, derivative, primal)) = parts(items, own) {
        let value = syntax::print(std::slice::from_ref(&primal.function)) + &syntax::print(&primal.operands);
        found.push(Taken { operator, span: datum.span, value, item, derivative, primal });
        return;
    }
    let form = items.first().and_then(Datum::symbol).is_some_and(|name| basis::keyword(name).is_some());
    if !form {
        items.iter().for_each(|part| find(part, item, own, found));
    }
}

/// The operator of `((operator f) x ...)` or `(operator f x v)`, that call, and the call of the function.
fn parts(items: &[Datum], own: &[&Rc<str>]) -> Option<(Rc<str>, Call, Call)> {
    let (head, operands) = items.split_first()?;
    let operator = |datum: &Datum| {
        datum.symbol().filter(|name| basis::CHECKED.contains(&&***name) && !own.contains(name)).cloned()
    };
    if let Some([inner, function]) = head.list()
        && let Some(name) = operator(inner)
    {
        let derivative = Call { function: head.clone(), operands: operands.to_vec() };
        return Some((name, derivative, Call { function: function.clone(), operands: operands.to_vec() }));
    }
    let [function, place, _] = operands else { return None };
    let derivative = Call { function: head.clone(), operands: operands.to_vec() };
    Some((operator(head)?, derivative, Call { function: function.clone(), operands: vec![place.clone()] }))
}
