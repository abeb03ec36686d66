//! Loop-invariant code motion: SSA → SSA.
//!
//! ```text
//! b0:                                b0:
//!     jump b1(v0)                        v3 = exp v1
//! b1(v2: f64):                           jump b1(v0)
//!     v3 = exp v1               →    b1(v2: f64):
//!     v4 = sub v2, v3                    v4 = sub v2, v3
//!     ...                                ...
//! ```
//!
//! An operation whose operands do not change in a loop is computed once, in the block before the loop. Only operations
//! that can be computed anywhere are moved (arithmetic and tests, which neither fail nor have effects), and only from
//! blocks that every round of the loop goes through, so that few are computed in vain. Fields stay where their tag is
//! known, elements of vectors where their places have been compared with the length, boxes and vectors where they are
//! needed: a vector that is made anew in each round is changed in place.
//!
//! A global is read before the loop unless the loop sets it; only the function of the main program sets globals. Where
//! a function asks whether globals are set, they stay where they are read.
//!
//! An operation that is watched is reported where the loop uses it in another one that is watched, as the loop may make
//! no round (see [`crate::opt::scalar::watch`]). So it is not moved where it is stored, said or handed on as it is.
//!
//! Loops are natural loops whose header has one predecessor outside that jumps there; others get such a predecessor
//! first. Inner loops come first, so an operation can leave several loops in one run.
//!
//! Tests: `tests/opt/licm/`.

use crate::base::EntityVec;
use crate::opt::Context;
use crate::opt::analysis::loops::preheader;
use crate::opt::edit::rewrite::{can_move, is_constant};
use crate::opt::scalar::simplify_cfg;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Op, Source, Value};
use rustc_hash::FxHashSet;

/// Treats a function.
pub fn run(function: &mut Function, _: &Context) -> bool {
    hoist(function)
}

fn hoist(function: &mut Function) -> bool {
    let graph = Graph::new(function);
    let headers: Vec<BlockId> = graph.order.iter().copied().filter(|block| graph.is_loop_header(*block)).collect();
    if headers.is_empty() {
        return false;
    }
    let before: Vec<BlockId> = headers.iter().map(|header| preheader(function, &graph, *header)).collect();
    let graph = Graph::new(function);
    let shown = shown(function);
    let asks = has(function, |_| true, |op| matches!(op, Op::IsSet(_)));
    let mut changed = false;
    for (header, before) in headers.into_iter().zip(before).rev() {
        let body = graph.loop_body(header);
        let sets = || has(function, |block| body[block], |op| matches!(op, Op::GlobalSet(_)));
        let moves = Moves { globals: !asks && !sets(), shown: &shown };
        let moved = invariants(function, &graph, header, &body, &moves);
        changed |= !moved.is_empty();
        function.blocks[before].insts.extend(moved);
    }
    // Blocks before loops where nothing has moved go again.
    simplify_cfg::simplify(function);
    changed
}

/// Whether one of these blocks has such an operation.
fn has(function: &Function, within: impl Fn(BlockId) -> bool, is_such: impl Fn(Op) -> bool) -> bool {
    let mut blocks = function.blocks.iter().filter(|(id, _)| within(*id));
    blocks.any(|(_, block)| block.insts.iter().any(|inst| is_such(inst.op)))
}

/// What may leave a loop.
struct Moves<'a> {
    /// Whether reads of globals may.
    globals: bool,
    /// Results of operations that are watched which must not.
    shown: &'a FxHashSet<Value>,
}

/// Takes the invariant instructions out of the loop, those that may leave it.
fn invariants(
    function: &mut Function,
    graph: &Graph,
    header: BlockId,
    body: &EntityVec<BlockId, bool>,
    moves: &Moves<'_>,
) -> Vec<Inst> {
    let mut varies = function.values.same_ids(false);
    let blocks: Vec<BlockId> = graph.order.iter().copied().filter(|block| body[*block]).collect();
    for block in &blocks {
        let data = &function.blocks[*block];
        let results = data.insts.iter().flat_map(|inst| &inst.results);
        data.params.iter().chain(results).for_each(|value| varies[*value] = true);
    }
    let latches: Vec<BlockId> =
        graph.predecessors[header].iter().copied().filter(|from| graph.dominates(header, *from)).collect();
    let mut moved = Vec::new();
    for block in blocks {
        let always = latches.iter().all(|latch| graph.dominates(block, *latch));
        let mut kept = Vec::new();
        for inst in std::mem::take(&mut function.blocks[block].insts) {
            let is_shown = inst.watched().is_some() && inst.results.iter().any(|result| moves.shown.contains(result));
            let may_move = can_move(inst.op) || moves.globals && matches!(inst.op, Op::GlobalGet(_));
            let fits = is_constant(inst.op) || always && may_move && !is_shown;
            if fits && inst.args.iter().all(|arg| !varies[*arg]) {
                inst.results.iter().for_each(|value| varies[*value] = false);
                // The loop may make no round.
                let marked = |source: Source| Source { span: source.span.marked(), ..source };
                let span = if inst.watched().is_some() { inst.span.map(marked) } else { inst.span };
                moved.push(Inst { span, ..inst });
            } else {
                kept.push(inst);
            }
        }
        function.blocks[block].insts = kept;
    }
    // Constants alone are not worth a block; the code generator puts them where it likes.
    if moved.iter().all(|inst| is_constant(inst.op)) { put_back(function, header, moved) } else { moved }
}

/// Results of operations that are watched and become part of data, of output, or of what a block hands on.
fn shown(function: &Function) -> FxHashSet<Value> {
    let insts = || function.blocks.values().flat_map(|block| &block.insts);
    let watched: FxHashSet<Value> =
        insts().filter(|inst| inst.watched().is_some()).flat_map(|inst| inst.results.iter().copied()).collect();
    if watched.is_empty() {
        return watched;
    }
    let shows = |inst: &&Inst| inst.op.has_effect() || inst.op.allocates() || matches!(inst.op, Op::Call(_));
    let mut shown: FxHashSet<Value> = insts().filter(shows).flat_map(|inst| inst.args.iter().copied()).collect();
    for block in function.blocks.values() {
        block.terminator.for_each_value(|value| shown.extend([value]));
    }
    shown.retain(|value| watched.contains(value));
    shown
}

fn put_back(function: &mut Function, header: BlockId, moved: Vec<Inst>) -> Vec<Inst> {
    function.blocks[header].insts.splice(0..0, moved);
    Vec::new()
}
