//! Forms: operations that only some passes know.
//!
//! Most passes run while programs consist of operations that all of them know. Late ones bring in operations that
//! others would get wrong, so that the order of passes matters. What each may meet is part of the table of passes
//! (`pipeline::passes`), and checked.

use crate::ssa::ir::{Op, Program};
use rustc_hash::FxHashSet;

/// Operations that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// Operations on two lanes at a time.
    Lanes,
    /// Results of calls that are remembered, which nobody can observe but by the time that it takes.
    Remembered,
    /// Boxes with fields that are filled later.
    Holes,
    /// Vectors that lie in one piece of memory with others.
    Rows,
    /// Owners that are counted.
    Counts,
}

/// The form of an operation, if not every pass knows it.
#[must_use]
pub fn of(op: Op) -> Option<Form> {
    match op {
        Op::Lanes(_)
        | Op::Splat
        | Op::Pair
        | Op::Lane(_)
        | Op::AnyLane
        | Op::Elements(..)
        | Op::WithElements(_)
        | Op::OfEach(..) => Some(Form::Lanes),
        Op::IsShared(_) | Op::Recall(_) | Op::Remember(_) | Op::Forget => Some(Form::Remembered),
        Op::Vacant(_) | Op::Hole(..) | Op::Fill(_) => Some(Form::Holes),
        Op::NewRows(_) | Op::NewRow(_) => Some(Form::Rows),
        Op::Retain | Op::Release | Op::TakeElement(..) | Op::Own(_) => Some(Form::Counts),
        Op::ConstReal(_)
        | Op::ConstBool(_)
        | Op::ConstInt(_)
        | Op::Immediate(..)
        | Op::Real1(_)
        | Op::Real2(_)
        | Op::Compare(_)
        | Op::Not
        | Op::And
        | Op::Or
        | Op::IntIs(_)
        | Op::Int2(_)
        | Op::IntCompare(_)
        | Op::IntOf
        | Op::RealOf
        | Op::RealIs(_)
        | Op::Select
        | Op::Opaque
        | Op::Exchange
        | Op::Call(_)
        | Op::Box(..)
        | Op::Tag(_)
        | Op::HasTag(..)
        | Op::Field(..)
        | Op::NewVector(_)
        | Op::Kernel(..)
        | Op::Element(..)
        | Op::WithElement(_)
        | Op::GlobalGet(_)
        | Op::GlobalSet(_)
        | Op::IsSet(_)
        | Op::Read(..)
        | Op::Argument(_)
        | Op::ArgumentElements(_)
        | Op::Result(_)
        | Op::ResultElements(_)
        | Op::WriteReal(_)
        | Op::WriteByte
        | Op::WriteDouble
        | Op::HeapBytes
        | Op::TapeMemory
        | Op::Ask
        | Op::WriteText(..)
        | Op::WriteTextOf(..)
        | Op::BeginText
        | Op::EndText
        | Op::TextByte
        | Op::BeginFile(_)
        | Op::EndFile(_) => None,
    }
}

/// The forms that a program has.
#[must_use]
pub fn found(program: &Program) -> FxHashSet<Form> {
    let blocks = program.functions.values().flat_map(|function| function.blocks.values());
    blocks.flat_map(|block| &block.insts).filter_map(|inst| of(inst.op)).collect()
}
