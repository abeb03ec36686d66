//! Loops test at their end whether there is another round: SSA → SSA.
//!
//! ```text
//! b0:                                  b0:
//!     jump b1(0, v0)                       branch (int_lt 0, v9), b2(0, v0), b3(v0)
//! b1(v1: int, v2: f64):                b2(v1: int, v2: f64):
//!     branch (int_lt v1, v9), b2, b3       v3 = mul v2, v2
//! b2:                              →       v4 = int_add v1, 1
//!     v3 = mul v2, v2                      branch (int_lt v4, v9), b2(v4, v3), b3(v3)
//!     v4 = int_add v1, 1               b3(v5: f64):
//!     jump b1(v4, v3)
//! b3:
//! ```
//!
//! A round then takes one jump instead of two (loop inversion). The block with the test is copied: what it was decides
//! whether there is a first round, and its copy stands where rounds end. What the block has made has two definitions
//! then ([`crate::opt::edit::repair`]).
//!
//! Runs after every pass that looks for loops by the test at their beginning. Parameters that are the same in all
//! rounds, and the jump to the copy, are left to [`crate::opt::scalar::block_params`] and
//! [`crate::opt::scalar::simplify_cfg`].
//!
//! Tests: `tests/opt/rotate/`.

use crate::opt::Context;
use crate::opt::edit::repair::{Definitions, repair};
use crate::opt::edit::rewrite::is_constant;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{Block, BlockId, Function, Terminator, Value};
use rustc_hash::FxHashMap;

/// Tests with more instructions, constants excepted, are not copied.
const LARGEST_TEST: usize = 8;

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    rotate(function)
}

fn rotate(function: &mut Function) -> bool {
    let graph = Graph::new(function);
    let is_test = |header: &BlockId| graph.is_loop_header(*header) && begins_with_test(function, &graph, *header);
    let headers: Vec<BlockId> = graph.order.iter().copied().filter(is_test).collect();
    let mut copies: FxHashMap<BlockId, BlockId> = FxHashMap::default();
    let mut definitions = Vec::new();
    for header in &headers {
        copies.insert(*header, copy(function, *header, &mut definitions));
    }
    for header in &headers {
        let rounds = graph.predecessors[*header].iter().filter(|from| graph.dominates(*header, **from));
        for end in rounds.flat_map(|from| [Some(*from), copies.get(from).copied()]).flatten().collect::<Vec<_>>() {
            for target in function.blocks[end].terminator.targets_mut() {
                if target.block == *header {
                    target.block = copies[header];
                }
            }
        }
    }
    repair(function, &definitions);
    !headers.is_empty()
}

/// Whether a loop begins with a small block that either stays in the loop or leaves it.
fn begins_with_test(function: &Function, graph: &Graph, header: BlockId) -> bool {
    let Block { insts, terminator, .. } = &function.blocks[header];
    let Terminator::Branch(_, yes, no) = terminator else { return false };
    if header == Function::ENTRY || insts.iter().filter(|inst| !is_constant(inst.op)).count() > LARGEST_TEST {
        return false;
    }
    let body = graph.loop_body(header);
    let is_round = |block: BlockId| block == header;
    body[yes.block] != body[no.block] && !is_round(yes.block) && !is_round(no.block)
}

/// Copies a block under new names; constants need none.
fn copy(function: &mut Function, block: BlockId, definitions: &mut Vec<Definitions>) -> BlockId {
    let mut copied = function.blocks[block].clone();
    copied.insts.retain(|inst| !is_constant(inst.op));
    let new = function.blocks.next_id();
    let mut names: FxHashMap<Value, Value> = FxHashMap::default();
    for value in copied.params.iter_mut().chain(copied.insts.iter_mut().flat_map(|inst| &mut inst.results)) {
        let name = function.values.push(function.values[*value]);
        definitions.push(Definitions { value: *value, at_end: vec![(block, *value), (new, name)] });
        names.insert(*value, name);
        *value = name;
    }
    copied.for_each_use(|value| *value = names.get(value).copied().unwrap_or(*value));
    function.blocks.push(copied)
}
