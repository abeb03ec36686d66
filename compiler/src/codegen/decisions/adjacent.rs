//! Vectors whose elements stand behind their headers: a function → for each value whether it is such a vector.
//!
//! ```text
//!     v1 = new_vector.vec0 v0                        the elements of v1, v2 and v3 begin two words behind it:
//!     jump b1(v1)                                    nobody has to read where
//! b1(v2: ptr):
//!     v3 = with_element.vec0 v2, v0, v4, v5
//!     ...
//!     jump b1(v3)
//! ```
//!
//! A box that has been made for elements holds them. A vector that comes from elsewhere may be a view of those of
//! another one (see [`crate::codegen::layout`]).

use crate::base::EntityVec;
use crate::ssa::ir::{Function, Op, Value};

/// For each value whether it is a vector whose elements stand behind its header.
pub fn adjacent(function: &Function) -> EntityVec<Value, bool> {
    let mut found = function.values.same_ids(false);
    let mut passed_on = function.values.same_ids(Vec::new());
    for (id, block) in function.blocks.iter() {
        if id != Function::ENTRY {
            block.params.iter().for_each(|param| found[*param] = true);
        }
        for inst in &block.insts {
            match inst.op {
                Op::NewVector(_) => found[inst.results[0]] = true,
                Op::Kernel(kernel, _) => found[inst.results[0]] = !kernel.shares(),
                op if op.changes_vector() => {
                    found[inst.results[0]] = true;
                    passed_on[inst.args[0]].push(inst.results[0]);
                }
                _ => {}
            }
        }
    }
    for target in function.blocks.values().flat_map(|block| block.terminator.targets()) {
        for (arg, param) in target.args.iter().zip(&function.blocks[target.block].params) {
            passed_on[*arg].push(*param);
        }
    }
    let elsewhere = found.iter().filter(|(_, found)| !**found).map(|(value, _)| value);
    let mut lost: Vec<Value> = elsewhere.flat_map(|value| passed_on[value].clone()).collect();
    while let Some(value) = lost.pop() {
        if std::mem::replace(&mut found[value], false) {
            lost.extend(&passed_on[value]);
        }
    }
    found
}
