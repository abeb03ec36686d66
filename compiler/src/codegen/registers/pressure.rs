//! How hard it is to allocate registers: a function in Cranelift's form → which allocator to use.
//!
//! Cranelift's usual allocator looks, for each value, at everything else that is alive meanwhile, so its time grows with
//! the number of instructions that values stay alive for, all together: with the square of the length of a function that
//! computes a thousand numbers and then needs them all, as the forward phase of a long gradient does. Nearly all values
//! of such a function are in memory whoever allocates; the allocator that looks at each instruction once loses little
//! there, and its time is in proportion.

use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Function, Value};

/// The usual allocator gets functions with less than this; the hot ones of most programs have a hundredth of it.
const MOST: u64 = 1_000_000;

/// True where the usual allocator would take too long.
pub fn is_high(function: &Function) -> bool {
    pressure(function) > MOST
}

/// Over all values, the number of instructions between the definition of a value and its last use, in the order of the
/// code: a value that is needed in another round of a loop counts for less than it should.
pub(in crate::codegen) fn pressure(function: &Function) -> u64 {
    let mut defined: SecondaryMap<Value, u64> = SecondaryMap::new();
    let mut last_use: SecondaryMap<Value, u64> = SecondaryMap::new();
    let mut place = 0;
    for block in function.layout.blocks() {
        for param in function.dfg.block_params(block) {
            (defined[*param], last_use[*param]) = (place, place);
        }
        for inst in function.layout.block_insts(block) {
            place += 1;
            for value in function.dfg.inst_values(inst) {
                last_use[function.dfg.resolve_aliases(value)] = place;
            }
            for result in function.dfg.inst_results(inst) {
                (defined[*result], last_use[*result]) = (place, place);
            }
        }
    }
    defined.iter().map(|(value, defined)| last_use[value].saturating_sub(*defined)).sum()
}
