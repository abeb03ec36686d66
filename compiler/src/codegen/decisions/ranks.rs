//! Which programs take part in a group of processes that MPI has started: those that ask how to go on with shards.

use crate::ssa::ir::{Function, Op, Program, Value};

/// The question, see the module `shards` of the run time.
const NEXT_FOR_RANKS: f64 = 105.0;

/// The function of the run time that such programs call first.
pub const JOIN: &str = "vlad_join";

/// Whether a program divides its work among such processes.
pub fn divides(program: &Program) -> bool {
    program.functions.values().any(asks)
}

fn asks(function: &Function) -> bool {
    let insts = || function.blocks.values().flat_map(|block| &block.insts);
    let questions: Vec<Value> = insts()
        .filter(|inst| inst.op == Op::ConstReal(NEXT_FOR_RANKS.to_bits()))
        .flat_map(|inst| inst.results.iter().copied())
        .collect();
    !questions.is_empty() && insts().any(|inst| inst.op == Op::Ask && questions.contains(&inst.args[0]))
}
