//! Loops that compute nothing: SSA → SSA.
//!
//! ```text
//! b0:                                b0:
//!     jump b1(v0)                        jump b3
//! b1(v1: int):
//!     v2 = int_lt v1, v9
//!     branch v2, b2, b3         →
//! b2:
//!     v3 = int_add v1, v8
//!     jump b1(v3)
//! b3:                                b3:
//!     ...                                ...
//! ```
//!
//! A loop without effects goes when nobody needs a value of it and it has one way out, the same from wherever it is
//! left. (Ways to blocks that cannot be reached are none.) Such loops are left where the elements of a vector turn out
//! to need no computation, as zeros do. A loop that is not known to end stays ([`crate::opt::analysis::termination`]).
//!
//! Tests: `tests/opt/dead-loops/`.

use crate::base::EntityVec;
use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::termination;
use crate::opt::edit::rewrite::{is_constant, using_blocks};
use crate::opt::scalar::simplify_cfg;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Program, Target, Terminator, Value};

/// Treats every function.
pub fn run(program: &mut Program) -> bool {
    let effects = Effects::new(program);
    let mut changed = false;
    for function in program.functions.values_mut() {
        changed |= drop_loops(function, &effects);
    }
    changed
}

fn drop_loops(function: &mut Function, effects: &Effects) -> bool {
    let graph = Graph::new(function);
    let headers: Vec<BlockId> = graph.order.iter().copied().filter(|block| graph.is_loop_header(*block)).collect();
    if headers.is_empty() {
        return false;
    }
    let uses = using_blocks(function);
    // Which loops end takes longer to find out.
    let computes_nothing =
        |header: &BlockId| way_out(function, effects, &uses, *header, &graph.loop_body(*header)).is_some();
    if !headers.iter().any(computes_nothing) {
        return false;
    }
    let Some(endless) = termination::endless_loops(function, &graph) else { return false };
    if endless.len() == headers.len() {
        return false;
    }
    let mut gone = function.blocks.same_ids(false);
    let mut changed = false;
    // Outer loops come first and take inner ones with them.
    for header in headers {
        if gone[header] {
            continue;
        }
        let body = graph.loop_body(header);
        if endless.iter().any(|header| body[*header]) {
            continue;
        }
        let Some(way_out) = way_out(function, effects, &uses, header, &body) else { continue };
        for (block, _) in body.iter().filter(|(_, is_inside)| **is_inside) {
            gone[block] = true;
        }
        function.blocks[header].insts.retain(|inst| is_constant(inst.op));
        function.blocks[header].terminator = Terminator::Jump(way_out);
        changed = true;
    }
    if changed {
        simplify_cfg::simplify(function);
    }
    changed
}

/// Where a loop leads to, if it computes nothing.
fn way_out(
    function: &Function,
    effects: &Effects,
    uses: &EntityVec<Value, Vec<BlockId>>,
    header: BlockId,
    body: &EntityVec<BlockId, bool>,
) -> Option<Target> {
    let mut way_out: Option<&Target> = None;
    let mut defined = Vec::new();
    for (id, _) in body.iter().filter(|(_, is_inside)| **is_inside) {
        let block = &function.blocks[id];
        if block.insts.iter().any(|inst| !effects.is_removable(inst.op)) {
            return None;
        }
        // Constants of the first block stay there.
        let insts = block.insts.iter().filter(|inst| id != header || !is_constant(inst.op));
        defined.extend(block.params.iter().chain(insts.flat_map(|inst| &inst.results)));
        for target in block.terminator.targets() {
            if body[target.block] || is_unreachable(function, target.block) {
                continue;
            }
            if way_out.is_some_and(|other| other.block != target.block || other.args != target.args) {
                return None;
            }
            way_out = Some(target);
        }
    }
    let way_out = way_out?;
    let is_needed = |value: &Value| way_out.args.contains(value) || uses[*value].iter().any(|block| !body[*block]);
    (!defined.iter().any(is_needed)).then(|| way_out.clone())
}

fn is_unreachable(function: &Function, block: BlockId) -> bool {
    let block = &function.blocks[block];
    block.insts.is_empty() && matches!(block.terminator, Terminator::Unreachable)
}
