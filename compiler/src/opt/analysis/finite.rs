//! What has to be finite for all operations that are watched in some code to have finite results
//! ([`crate::opt::scalar::watch`]).
//!
//! Loops that make several rounds at a time watch nothing themselves: with their rounds in each other's way they would
//! not know what came first. They ask once for many operations, and where the answer is no they leave their rounds to
//! the loop that they were made of, which makes one after the other and says what there is to say.

use crate::opt::edit::rewrite::append;
use crate::ssa::ir::{Compare, Function, Inst, Op, Real1, Real2, Type, Value};
use rustc_hash::FxHashSet;

/// True for operations of which the result is not finite where an operand is not.
pub fn keeps_infinity(op: Op) -> bool {
    matches!(op, Op::Real2(Real2::Add | Real2::Sub | Real2::Mul) | Op::Real1(Real1::Neg | Real1::Abs | Real1::Sqrt))
}

/// Operations that are watched, and what they are made of.
#[derive(Debug, Default)]
pub struct Watched {
    /// Results that do not only become part of others.
    pub roots: Vec<Value>,
    /// Operands of operations that keep infinity.
    pub parts: FxHashSet<Value>,
}

impl Watched {
    /// Those among instructions all of which are executed, given what is computed earlier than it is watched.
    pub fn new<'i>(insts: impl Iterator<Item = &'i Inst> + Clone, earlier: &FxHashSet<Value>) -> Watched {
        let watched = insts.filter(|inst| inst.watched().is_some());
        let keeping = watched.clone().filter(|inst| keeps_infinity(inst.op));
        let parts: FxHashSet<Value> = keeping.flat_map(|inst| inst.args.iter().copied()).collect();
        let mut seen = FxHashSet::default();
        let values = watched.flat_map(|inst| {
            let earlier = inst.args.iter().filter(|arg| earlier.contains(arg));
            earlier.chain(&inst.results).copied()
        });
        let roots = values.filter(|value| !parts.contains(value) && seen.insert(*value)).collect();
        Watched { roots, parts }
    }
}

/// The results of operations that are computed earlier than they are watched.
pub fn earlier(function: &Function) -> FxHashSet<Value> {
    let insts = function.blocks.values().flat_map(|block| &block.insts);
    insts.filter(|inst| inst.watched_later().is_some()).flat_map(|inst| inst.results.iter().copied()).collect()
}

/// An instruction without its number, for code that watches nothing.
pub fn unwatched(inst: &Inst) -> Inst {
    let span = inst.span.filter(|source| source.span.number().is_none());
    Inst { span, ..inst.clone() }
}

/// Whether all numbers are finite, or their sum is not although they are. `None` for no numbers.
pub fn are_finite(function: &mut Function, insts: &mut Vec<Inst>, numbers: &[Value]) -> Option<Value> {
    let mut make = |op, args, ty| append(&mut function.values, insts, op, args, ty, None);
    let mut numbers = numbers.iter().copied();
    let first = numbers.next()?;
    let sum = numbers.fold(first, |sum, number| make(Op::Real2(Real2::Add), vec![sum, number], Type::F64));
    let zero = make(Op::Real2(Real2::Sub), vec![sum, sum], Type::F64);
    Some(make(Op::Compare(Compare::Eq), vec![zero, zero], Type::Bool))
}
