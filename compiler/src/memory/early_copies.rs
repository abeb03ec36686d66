//! A vector that a loop changes is copied before the loop, if at all: SSA with counted owners → the same.
//!
//! ```text
//!     jump b1(v0, v1)                                   v9 = own.vec0 v1, v3
//! b1(v4: int, v5: ptr):                                 jump b1(v0, v9)
//!     v6 = with_element.vec0 v5, v3, v4, v7      →  b1(v4: int, v5: ptr):
//!     ...                                               (the same as before)
//!     branch v8, b1(v2, v6), b2(v6)
//! ```
//!
//! A change of a vector copies it if it has other owners, and has one owner afterwards. In a loop only the first
//! round may find others, but each round looks for them. Where all that the loop does to the vector is change it, it
//! can be owned before; then [`crate::ssa::sole_owners`] finds that nobody has to look.
//!
//! This is done only where each way through the loop changes the vector: so nothing is copied that would not be.

use crate::opt::analysis::loops::{Code, preheader};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Inst, Op, Terminator, Type, Value, VectorId};
use crate::ssa::sole_owners::sole_owners_given;
use rustc_hash::FxHashSet;
use smallvec::smallvec;

/// A vector that a loop carries and changes.
struct Carried {
    header: BlockId,
    position: usize,
    param: Value,
    kind: VectorId,
    length: Value,
}

/// Treats a function.
pub fn run(function: &mut Function) {
    if !function.blocks.values().flat_map(|block| &block.insts).any(|inst| inst.op.changes_vector()) {
        return;
    }
    let graph = Graph::new(function);
    for Carried { header, position, kind, length, .. } in carried(function) {
        let before = preheader(function, &graph, header);
        let own = function.values.push(Type::Ptr);
        let Terminator::Jump(target) = &mut function.blocks[before].terminator else { continue };
        let vector = std::mem::replace(&mut target.args[position], own);
        let inst = Inst { op: Op::Own(kind), args: smallvec![vector, length], results: smallvec![own], span: None };
        function.blocks[before].insts.push(inst);
    }
}

/// The vectors that have one owner in a loop if they have one before it, and are changed in each of its rounds.
fn carried(function: &Function) -> Vec<Carried> {
    let sole = sole_owners_given(function, &FxHashSet::default());
    let mut found: Vec<Carried> = candidates(function).into_iter().filter(|found| !sole[found.param]).collect();
    loop {
        let owned: FxHashSet<(BlockId, Value)> = found.iter().map(|found| (found.header, found.param)).collect();
        let sole = sole_owners_given(function, &owned);
        let before = found.len();
        found.retain(|found| sole[found.param]);
        if found.len() == before {
            return found;
        }
    }
}

fn candidates(function: &Function) -> Vec<Carried> {
    let code = Code::new(function);
    let mut found = Vec::new();
    for header in code.graph.order.iter().copied().filter(|block| code.graph.is_loop_header(*block)) {
        if header == Function::ENTRY {
            continue;
        }
        let body = code.body(header);
        let leads_on = |id: &BlockId| {
            let terminator = &function.blocks[*id].terminator;
            let ends = terminator.target_count() == 0;
            ends || terminator.targets().iter().any(|target| target.block == header || !body.contains(&target.block))
        };
        let ends: Vec<BlockId> = body.iter().copied().filter(leads_on).collect();
        for (position, param) in function.blocks[header].params.iter().enumerate() {
            let changes = body.iter().flat_map(|id| function.blocks[*id].insts.iter().map(|inst| (*id, inst)));
            let is_before = |value: Value| {
                let home = code.homes[value];
                !body.contains(&home) && code.graph.dominates(home, header)
            };
            let changes: Vec<(BlockId, &Inst)> = changes
                .filter(|(_, inst)| inst.op.changes_vector() && inst.args[0] == *param && is_before(inst.args[1]))
                .collect();
            let is_changed = |end: &BlockId| changes.iter().any(|(id, _)| code.graph.dominates(*id, *end));
            let change = changes.first().filter(|_| ends.iter().all(is_changed));
            if let Some((_, inst)) = change
                && let Op::WithElement(kind) | Op::WithElements(kind) = inst.op
            {
                found.push(Carried { header, position, param: *param, kind, length: inst.args[1] });
            }
        }
    }
    found
}
