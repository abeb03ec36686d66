//! Tail calls of a function to itself become a loop.

use crate::ssa::ir::{Block, BlockId, FuncId, Function, Target, Terminator};

/// Turns tail calls of the function itself into jumps.
pub fn form_loop(function: &mut Function, id: FuncId) -> bool {
    let is_self_call = |block: &Block| matches!(block.terminator, Terminator::TailCall(callee, _) if callee == id);
    if !function.blocks.values().any(is_self_call) {
        return false;
    }
    let header = move_entry(function);
    for block in function.blocks.values_mut() {
        if let Terminator::TailCall(callee, args) = &mut block.terminator
            && *callee == id
        {
            block.terminator = Terminator::Jump(Target { block: header, args: std::mem::take(args) });
        }
    }
    true
}

/// Moves the code of the entry into a block that can be jumped to.
fn move_entry(function: &mut Function) -> BlockId {
    let types = function.param_types();
    let params = types.into_iter().map(|ty| function.values.push(ty)).collect();
    let entry = Block { params, insts: Vec::new(), terminator: Terminator::Unreachable };
    let moved = std::mem::replace(&mut function.blocks[Function::ENTRY], entry);
    let header = function.blocks.push(moved);
    let args = function.params().to_vec();
    function.blocks[Function::ENTRY].terminator = Terminator::Jump(Target { block: header, args });
    header
}
