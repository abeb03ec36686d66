//! What only errors need is computed where they are reported: SSA → SSA.
//!
//! ```text
//! b1(v1: int):                          b1(v1: int):
//!     v2 = real_of v1                       v3 = int_below v1, v0
//!     v3 = int_below v1, v0                 branch v3, b2, b3
//!     branch v3, b2, b3          →      ...
//! ...                                   b3: v4 = real_of v1
//! b3: write_real.err v2                     write_real.err v4
//!     fail text0                            fail text0
//! ```
//!
//! An operation that can be computed anywhere, and whose results are used only in blocks from which control cannot but
//! get to an error, moves to each of these blocks. So a loop does not make the numbers of a message in every round.
//!
//! Runs when nothing looks for equal operations any more. Tests: `tests/opt/sink/`.

use crate::opt::Context;
use crate::opt::analysis::liveness::doomed_blocks;
use crate::opt::edit::rewrite::{can_move, using_blocks};
use crate::ssa::graph::reverse_postorder;
use crate::ssa::ir::{BlockId, Function, Inst, Value};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    sink(function)
}

fn sink(function: &mut Function) -> bool {
    let order = reverse_postorder(function);
    let doomed = doomed_blocks(function, &order);
    if !doomed.values().any(|doomed| *doomed) {
        return false;
    }
    let mut users = using_blocks(function);
    let mut changed = false;
    for block in order.iter().rev().filter(|block| !doomed[**block]) {
        // How often the block itself uses each value.
        let mut uses: FxHashMap<Value, u32> = FxHashMap::default();
        function.blocks[*block].for_each_value(|value| *uses.entry(value).or_default() += 1);
        let insts = std::mem::take(&mut function.blocks[*block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts.into_iter().rev() {
            let users_of = match inst.results[..] {
                [result] if can_move(inst.op) => std::mem::take(&mut users[result]),
                _ => Vec::new(),
            };
            if users_of.is_empty() || !users_of.iter().all(|user| doomed[*user]) {
                if !users_of.is_empty() {
                    users[inst.results[0]] = users_of;
                }
                kept.push(inst);
                continue;
            }
            changed = true;
            for user in users_of {
                inst.args.iter().for_each(|arg| add(&mut users[*arg], user));
                copy_to(function, user, &inst);
            }
            // The operands are used there, and perhaps no longer here.
            for arg in &inst.args {
                let left = uses.entry(*arg).or_default();
                *left = left.saturating_sub(1);
                if *left == 0 {
                    users[*arg].retain(|user| user != block);
                }
            }
        }
        kept.reverse();
        function.blocks[*block].insts = kept;
    }
    changed
}

fn add(blocks: &mut Vec<BlockId>, block: BlockId) {
    if !blocks.contains(&block) {
        blocks.push(block);
    }
}

/// Computes anew at the start of a block what it uses of an instruction elsewhere.
fn copy_to(function: &mut Function, block: BlockId, inst: &Inst) {
    let old = inst.results[0];
    let new = function.values.push(function.values[old]);
    function.blocks[block].for_each_use(|value| {
        if *value == old {
            *value = new;
        }
    });
    function.blocks[block].insts.insert(0, Inst { results: smallvec![new], ..inst.clone() });
}
