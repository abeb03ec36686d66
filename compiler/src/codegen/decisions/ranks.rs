//! Which programs take part in a group of processes that MPI has started: those that have shards.

use crate::ssa::ir::{Function, Op, Program, Value};

/// The question that the library asks first where it has shards, see the module `shards` of the run time. However few
/// there are, it stays: what is printed must not depend on what the optimiser knows of them.
const NOW: f64 = 104.0;

/// The function of the run time that such programs call first.
pub const JOIN: &str = "vlad_join";

/// Whether a program divides its work among such processes.
pub fn divides(program: &Program) -> bool {
    program.functions.values().any(asks)
}

fn asks(function: &Function) -> bool {
    let insts = || function.blocks.values().flat_map(|block| &block.insts);
    let questions: Vec<Value> = insts()
        .filter(|inst| inst.op == Op::ConstReal(NOW.to_bits()))
        .flat_map(|inst| inst.results.iter().copied())
        .collect();
    !questions.is_empty() && insts().any(|inst| inst.op == Op::Ask && questions.contains(&inst.args[0]))
}
