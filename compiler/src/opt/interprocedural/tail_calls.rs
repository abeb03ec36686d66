//! Tail calls and loops: SSA → SSA.
//!
//! ```text
//! fn fn1(v0: f64, v1: f64) -> f64 {        fn fn1(v0: f64, v1: f64) -> f64 {
//! b0:                                      b0:
//!     v2 = le v0, v1                           jump b1(v0, v1)
//!     branch v2, b1, b2                →   b1(v2: f64, v3: f64):
//! ...                                          v4 = le v2, v3
//! b2:                                          branch v4, b2, b3
//!     v5 = call fn1(v3, v4)                ...
//!     return v5                            b3:
//! }                                            jump b1(v5, v6)
//! ```
//!
//! A call whose results are returned as they are becomes a tail call; a tail call of the function itself becomes a
//! jump to a block that takes the place of the entry. Blocks that only return have been copied to where they are
//! jumped to by [`crate::opt::scalar::simplify_cfg`], so that calls stand right before returns.
//!
//! Not done: calls whose results are changed before they are returned (accumulators); loops of functions that walk data
//! which go on in several ways, as each of their calls will have to be asked whether it has been made before
//! ([`crate::opt::interprocedural::sharing`]).
//!
//! Tests: `tests/opt/tail-calls/`.

use crate::opt::edit::self_calls::form_loop;
use crate::ssa::ir::{Function, Inst, Op, Program, Terminator, Walk};

/// Treats every function.
pub fn run(program: &mut Program) -> bool {
    let mut changed = false;
    for id in program.functions.ids() {
        changed |= form_tail_calls(&mut program.functions[id]);
        if !walks_in_several_ways(program, &program.functions[id]) {
            changed |= form_loop(&mut program.functions[id], id);
        }
    }
    changed
}

/// Whether a function that walks data leaves a part of them to a call that it waits for.
fn walks_in_several_ways(program: &Program, function: &Function) -> bool {
    let walks = |inst: &Inst| matches!(inst.op, Op::Call(callee) if program.functions[callee].walk == Walk::Shared);
    function.walk == Walk::Shared && function.blocks.values().flat_map(|block| &block.insts).any(walks)
}

/// Turns calls right before returns into tail calls.
fn form_tail_calls(function: &mut Function) -> bool {
    let mut changed = false;
    for block in function.blocks.values_mut() {
        if let (Terminator::Return(values), Some(last)) = (&block.terminator, block.insts.last())
            && let Op::Call(callee) = last.op
            && values[..] == last.results[..]
            && let Some(call) = block.insts.pop()
        {
            block.terminator = Terminator::TailCall(callee, call.args.into_vec());
            changed = true;
        }
    }
    changed
}
