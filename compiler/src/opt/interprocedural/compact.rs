//! Compaction: dense tables again, behind passes that leave functions and blocks that nothing reaches.
//!
//! Drops functions that the main function cannot reach, blocks that control cannot reach, and numbers that nothing
//! defines, and numbers blocks and values again in the order of the code. Passes only ever append to the tables of a
//! function.
//!
//! Tests: `tests/opt/merge-functions/compact-*`.

use crate::base::EntityVec;
use crate::ssa::call_graph::reachable;
use crate::ssa::graph::reverse_postorder;
use crate::ssa::ir::{Block, FuncId, Function, Op, Program, Terminator, Value};

/// Compacts a program.
pub fn run(program: &mut Program) -> bool {
    let mut changed = drop_functions(program);
    for function in program.functions.values_mut() {
        changed |= compact(function);
    }
    changed
}

/// Drops the functions that the main function cannot reach.
pub fn drop_functions(program: &mut Program) -> bool {
    let reachable = reachable(program);
    if reachable.values().all(|seen| *seen) {
        return false;
    }
    let mut renamed: EntityVec<FuncId, Option<FuncId>> = program.functions.same_ids(None);
    let mut kept = EntityVec::new();
    for id in program.functions.ids() {
        if reachable[id] {
            let empty = Function::new("".into(), &[], Vec::new());
            renamed[id] = Some(kept.push(std::mem::replace(&mut program.functions[id], empty)));
        }
    }
    program.functions = kept;
    let rename = |id: &mut FuncId| *id = renamed[*id].expect("callees of reachable functions are reachable");
    program.main.iter_mut().for_each(rename);
    for block in program.functions.values_mut().flat_map(|function| function.blocks.values_mut()) {
        for inst in &mut block.insts {
            if let Op::Call(callee) = &mut inst.op {
                rename(callee);
            }
        }
        if let Terminator::TailCall(callee, _) = &mut block.terminator {
            rename(callee);
        }
    }
    true
}

/// Compacts one function.
pub fn compact(function: &mut Function) -> bool {
    let order = reverse_postorder(function);
    let mut values: EntityVec<Value, Option<Value>> = function.values.same_ids(None);
    let mut types = EntityVec::new();
    let mut blocks = function.blocks.same_ids(None);
    let mut kept: EntityVec<_, Block> = EntityVec::new();
    for id in order {
        let empty = Block { params: Vec::new(), insts: Vec::new(), terminator: Terminator::Unreachable };
        let mut block = std::mem::replace(&mut function.blocks[id], empty);
        for value in block.params.iter_mut().chain(block.insts.iter_mut().flat_map(|inst| &mut inst.results)) {
            let fresh = types.push(function.values[*value]);
            values[*value] = Some(fresh);
            *value = fresh;
        }
        blocks[id] = Some(kept.push(block));
    }
    for block in kept.values_mut() {
        block.for_each_use(|value| *value = values[*value].expect("reachable uses have reachable definitions"));
        for target in block.terminator.targets_mut() {
            target.block = blocks[target.block].expect("targets of reachable blocks are reachable");
        }
    }
    let changed = kept.len() < function.blocks.len() || types.len() < function.values.len();
    function.blocks = kept;
    function.values = types;
    changed
}
