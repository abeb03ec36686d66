//! Vectors that are changed in place are at one address: a function → the first name of each address.
//!
//! ```text
//!     v1 = new_vector.vec0 v0                          v1 = ...
//!     jump b1(v1, v9)                                  jump block1(v9)
//! b1(v2: ptr, v3: int):                            block1(v3: i64):
//!     v4 = with_element.vec0 v2, v0, v3, v8    →       store v8, v1 + 8 * v3 + 8
//!     ...                                              ...
//!     branch v7, b1(v4, v6), b2(v4)                    brif v7, block1(v6), block2
//! ```
//!
//! A change of a vector that has one owner gives the vector itself; so what a loop fills is one address in all rounds,
//! and behind it. As a parameter of blocks it would be allocated to registers with all the names that it has before and
//! after the loop, and where one of them has to be in memory, they all would be (compare
//! [`crate::codegen::decisions::loop_values`]).
//!
//! It is assumed that all names have one address, and refuted edge by edge, as in [`crate::opt::scalar::block_params`].

use crate::base::EntityVec;
use crate::ssa::graph::reverse_postorder;
use crate::ssa::ir::{BlockId, Function, Type, Value};

/// For each value the one that stands for it: itself, or a pointer that is the same and is defined on every way there.
pub fn first_names(function: &Function, sole_owners: &EntityVec<Value, bool>) -> EntityVec<Value, Value> {
    let mut names = function.values.same_ids(None);
    let changes = function.blocks.values().flat_map(|block| &block.insts).filter(|inst| inst.op.changes_vector());
    if changes.count() > 0 {
        let order = reverse_postorder(function);
        while refute(function, sole_owners, &order, &mut names) {}
    }
    names.iter().map(|(value, name)| name.unwrap_or(value)).collect()
}

/// Looks at all definitions once; true if a name is another one than before.
fn refute(
    function: &Function,
    sole_owners: &EntityVec<Value, bool>,
    order: &[BlockId],
    names: &mut EntityVec<Value, Option<Value>>,
) -> bool {
    let mut changed = false;
    let mut set = |names: &mut EntityVec<Value, Option<Value>>, value: Value, name: Value| {
        changed |= names[value].replace(name) != Some(name);
    };
    for id in order {
        let block = &function.blocks[*id];
        if *id == Function::ENTRY {
            block.params.iter().for_each(|param| set(names, *param, *param));
        }
        for inst in &block.insts {
            let is_same = inst.op.changes_vector() && sole_owners[inst.args[0]];
            for result in &inst.results {
                let name = if is_same { names[inst.args[0]] } else { Some(*result) };
                if let Some(name) = name {
                    set(names, *result, name);
                }
            }
        }
        for target in block.terminator.targets() {
            for (param, arg) in function.blocks[target.block].params.iter().zip(&target.args) {
                let name = match (names[*param], names[*arg]) {
                    _ if function.values[*param] != Type::Ptr => *param,
                    (_, None) => continue,
                    (None, Some(name)) => name,
                    (Some(old), Some(name)) if old == name => name,
                    _ => *param,
                };
                set(names, *param, name);
            }
        }
    }
    changed
}
