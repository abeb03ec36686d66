//! Vectors that have one owner, wherever they are used.
//!
//! ```text
//!     v1 = new_vector.vec0 v0
//!     jump b1(v1)
//! b1(v2: ptr):                                   v2 is v1 or v3, which nobody has retained: it is changed in place,
//!     v3 = with_element.vec0 v2, v0, v4, v5      and its count need not be looked at
//!     ...
//!     jump b1(v3)
//! ```
//!
//! A new vector has one owner, and so has what a change gives. It has another one only after a `retain` of this value,
//! or of another one that is the same vector: what a jump passes it for, a selection, the result of a call that has
//! seen it. Where it is stored in a box, the owner goes there, and the value has no use after that.

use crate::base::EntityVec;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, Op, Terminator, Value};
use rustc_hash::FxHashSet;

/// For each value whether it is a vector that has one owner.
pub fn sole_owners(function: &Function) -> EntityVec<Value, bool> {
    sole_owners_given(function, &FxHashSet::default())
}

/// The same if the parameters of some loops, named with the headers, had one owner when the loops begin.
pub fn sole_owners_given(function: &Function, owned: &FxHashSet<(BlockId, Value)>) -> EntityVec<Value, bool> {
    let graph = (!owned.is_empty()).then(|| Graph::new(function));
    let is_before = |from: BlockId, header: BlockId| graph.as_ref().is_some_and(|graph| !graph.dominates(header, from));
    let mut sole = function.values.same_ids(false);
    let mut lost: Vec<Value> = Vec::new();
    for (id, block) in function.blocks.iter() {
        if id != Function::ENTRY {
            block.params.iter().for_each(|param| sole[*param] = true);
        }
        for inst in &block.insts {
            match inst.op {
                op if op.changes_vector() => sole[inst.results[0]] = true,
                // Views share what they look at.
                Op::Kernel(kernel, _) if kernel.shares() => lost.extend(&inst.args),
                Op::NewVector(_) | Op::NewRow(_) | Op::Kernel(..) => sole[inst.results[0]] = true,
                Op::Retain | Op::Call(_) | Op::Select | Op::Opaque | Op::Exchange => lost.extend(&inst.args),
                _ => {}
            }
        }
        if let Terminator::TailCall(_, args) = &block.terminator {
            lost.extend(args);
        }
    }
    // What jumps pass for each parameter, and the other way round.
    let mut passed_on = function.values.same_ids(Vec::new());
    let targets = function
        .blocks
        .iter()
        .flat_map(|(id, block)| block.terminator.targets().into_iter().map(move |target| (id, target)));
    for (from, target) in targets {
        for (arg, param) in target.args.iter().zip(&function.blocks[target.block].params) {
            if owned.contains(&(target.block, *param)) && is_before(from, target.block) {
                continue;
            }
            passed_on[*arg].push(*param);
            if !sole[*arg] {
                lost.push(*param);
            }
        }
    }
    while let Some(value) = lost.pop() {
        if std::mem::replace(&mut sole[value], false) {
            lost.extend(&passed_on[value]);
        }
    }
    sole
}
