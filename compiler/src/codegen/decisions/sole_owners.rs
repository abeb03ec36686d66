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
//! A new vector has one owner, and so has what a change gives. It has another one only after a `retain` of this value, or of
//! another one that is the same vector: what a jump passes it for, a selection, the result of a call that has seen it. Where it
//! is stored in a box, the owner goes there, and the value has no use after that.

use crate::base::EntityVec;
use crate::ssa::ir::{Function, Op, Terminator, Value};

/// For each value whether it is a vector that has one owner.
pub fn sole_owners(function: &Function) -> EntityVec<Value, bool> {
    let mut sole = function.values.same_ids(false);
    let mut lost: Vec<Value> = Vec::new();
    for (id, block) in function.blocks.iter() {
        if id != Function::ENTRY {
            block.params.iter().for_each(|param| sole[*param] = true);
        }
        for inst in &block.insts {
            match inst.op {
                op if op.changes_vector() => sole[inst.results[0]] = true,
                Op::NewVector(_) | Op::NewRow(_) | Op::Kernel(..) => sole[inst.results[0]] = true,
                Op::Retain | Op::Call(_) | Op::Select | Op::Opaque => lost.extend(&inst.args),
                _ => {}
            }
        }
        if let Terminator::TailCall(_, args) = &block.terminator {
            lost.extend(args);
        }
    }
    // What jumps pass for each parameter, and the other way round.
    let mut passed_on = function.values.same_ids(Vec::new());
    for target in function.blocks.values().flat_map(|block| block.terminator.targets()) {
        for (arg, param) in target.args.iter().zip(&function.blocks[target.block].params) {
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
