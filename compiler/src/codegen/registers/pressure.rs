//! How hard it is to allocate registers: a function in Cranelift's form → which allocator to use.
//!
//! Cranelift's usual allocator looks, for each value, at everything else that is alive meanwhile, so its time grows
//! with the number of instructions that values stay alive for, all together: with the square of the length of a
//! function that computes a thousand numbers and then needs them all, as the forward phase of a long gradient does.
//! Nearly all values of such a function are in memory whoever allocates; the allocator that looks at each instruction
//! once loses little there, and its time is in proportion.
//!
//! A program may also consist of hundreds of short functions that hand hundreds of values on to each other, such as
//! functions that are told what to do with their result: a call is as long as what it hands on in memory.

use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Function, Value};

/// The usual allocator gets functions with less than this; the hot ones of most programs have a hundredth of it.
const MOST: u64 = 1_000_000;

/// Where so many values are alive at a time in the mean, which is many times the number of registers, it gets those
/// with less than this.
const MANY: u64 = 256;
const MOST_OF_MANY: u64 = 100_000;

/// So many values that an instruction mentions are in registers; each other one is an instruction.
const IN_REGISTERS: usize = 16;

/// True where the usual allocator would take too long.
pub fn is_high(function: &Function) -> bool {
    let Pressure { alive, length } = pressure(function);
    alive > MOST || alive > MOST_OF_MANY && alive > MANY * length
}

/// What a function asks of an allocator.
pub(in crate::codegen) struct Pressure {
    /// Over all values, the number of instructions between the definition of a value and its last use, in the order of
    /// the code: a value that is needed in another round of a loop counts for less than it should.
    pub alive: u64,
    /// The number of instructions.
    pub length: u64,
}

pub(in crate::codegen) fn pressure(function: &Function) -> Pressure {
    let mut defined: SecondaryMap<Value, u64> = SecondaryMap::new();
    let mut last_use: SecondaryMap<Value, u64> = SecondaryMap::new();
    let mut place = 0;
    for block in function.layout.blocks() {
        let params = function.dfg.block_params(block);
        for param in params {
            (defined[*param], last_use[*param]) = (place, place);
        }
        if function.layout.entry_block() == Some(block) {
            place += in_memory(params.len());
        }
        for inst in function.layout.block_insts(block) {
            place += 1 + in_memory(function.dfg.inst_values(inst).count());
            for value in function.dfg.inst_values(inst) {
                last_use[function.dfg.resolve_aliases(value)] = place;
            }
            for result in function.dfg.inst_results(inst) {
                (defined[*result], last_use[*result]) = (place, place);
            }
        }
    }
    let alive = defined.iter().map(|(value, defined)| last_use[value].saturating_sub(*defined)).sum();
    Pressure { alive, length: place }
}

fn in_memory(values: usize) -> u64 {
    u64::try_from(values.saturating_sub(IN_REGISTERS)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::is_high;
    use cranelift_codegen::ir::{AbiParam, ExtFuncData, ExternalName, Function, InstBuilder, UserExternalName, types};
    use cranelift_codegen::isa::{CallConv, TargetIsa};
    use cranelift_codegen::settings::{self, Flags};
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    /// A function that does nothing but hand on so many numbers.
    fn hands_on(isa: &dyn TargetIsa, count: usize) -> Function {
        let mut function = Function::new();
        function.signature.call_conv = CallConv::Tail;
        function.signature.params = vec![AbiParam::new(types::F64); count];
        let mut context = FunctionBuilderContext::new();
        let own = function.signature.clone();
        let signature = function.import_signature(own);
        let name = function.declare_imported_user_function(UserExternalName::new(0, 1));
        let callee = ExtFuncData { name: ExternalName::user(name), signature, colocated: true, patchable: false };
        let callee = function.import_function(callee);
        let mut builder = FunctionBuilder::new(&mut function, &mut context);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let numbers = builder.block_params(block).to_vec();
        builder.ins().return_call(callee, &numbers);
        builder.seal_all_blocks();
        builder.finalize(isa.frontend_config());
        function
    }

    #[test]
    fn what_hands_on_hundreds_of_numbers_is_not_short() {
        let flags = Flags::new(settings::builder());
        let isa = cranelift_native::builder().expect("the machine is known").finish(flags).expect("settings are right");
        for (count, expected) in [(10, false), (200, false), (700, true)] {
            assert_eq!(is_high(&hands_on(&*isa, count)), expected, "{count}");
        }
    }
}
