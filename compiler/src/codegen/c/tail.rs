//! Functions that end in calls of each other: a program → groups of functions that share one function of C.
//!
//! ```text
//! fn even(v0) { ... tail_call odd(v1) }            group(entry, arguments) { switch (entry) ...
//! fn odd(v0) { ... tail_call even(v1) }       →        even: ...; odd_v0 = even_v1; goto odd;
//!                                                      odd: ...; even_v0 = odd_v1; goto even; }
//! ```
//!
//! A call at the end of a C function may take stack. What calls itself in the end, directly or by way of others, is a
//! loop in the source language, so here it is one, too. All functions of a group have the same results. Other calls at
//! the end are followed by no more than so many others as there are groups, so they may take stack.

use crate::base::EntityVec;
use crate::base::entity::Entity;
use crate::ssa::call_graph::components;
use crate::ssa::ir::{FuncId, Program, Terminator};

/// The functions that each function calls at its end.
fn calls(program: &Program) -> EntityVec<FuncId, Vec<FuncId>> {
    let functions = program.functions.values();
    let calls = functions.map(|function| {
        let ends = function.blocks.values().map(|block| &block.terminator);
        ends.filter_map(|end| if let Terminator::TailCall(callee, _) = end { Some(*callee) } else { None }).collect()
    });
    calls.collect()
}

/// For each function the group that it is in, and the functions of each group, in order. A function that calls no other
/// one in a circle is a group of its own.
pub fn groups(program: &Program) -> (EntityVec<FuncId, usize>, Vec<Vec<FuncId>>) {
    let mut groups = components(&calls(program));
    let mut group_of = program.functions.same_ids(0);
    for (number, group) in groups.iter_mut().enumerate() {
        group.sort_by_key(|id| id.index());
        group.iter().for_each(|id| group_of[*id] = number);
    }
    (group_of, groups)
}

#[cfg(test)]
mod tests {
    use super::groups;
    use crate::ssa::ir::{FuncId, Function, Program, Terminator};

    #[test]
    fn functions_that_end_in_calls_of_each_other_are_one_group() {
        // 0 -> 1 -> 2 -> 0, 2 -> 3, 3 -> 3, 4 -> 0; and 3 calls 4, but not at its end.
        let ends: [&[u32]; 5] = [&[1], &[2], &[0, 3], &[3], &[0]];
        let mut program = Program::default();
        for ends in ends {
            let mut function = Function::new("f".into(), &[], Vec::new());
            for callee in ends {
                let block = function.new_block(&[]);
                function.blocks[block].terminator = Terminator::TailCall(FuncId(*callee), Vec::new());
            }
            program.functions.push(function);
        }
        let (of, mut groups) = groups(&program);
        groups.sort();
        assert_eq!(groups, [vec![FuncId(0), FuncId(1), FuncId(2)], vec![FuncId(3)], vec![FuncId(4)]]);
        assert_eq!((of[FuncId(0)], of[FuncId(1)]), (of[FuncId(2)], of[FuncId(2)]));
    }
}
