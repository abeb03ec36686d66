//! Values that are needed far from where they are made are kept in memory in between: Cranelift's form → Cranelift's
//! form.
//!
//! ```text
//! v1 = fadd v0, v0               v1 = fadd v0, v0
//!                                store v1, ss0
//! ... (thousands of blocks)  →   ...
//!                                v3 = load ss0
//! v2 = fmul v1, v1               v2 = fmul v3, v3
//! ```
//!
//! The quick register allocator puts whatever is alive at the start of a block into memory anyway. But it goes through
//! all of it at each block, and at each way that leads there, so its time is the product of the numbers of blocks and
//! of such values: the square of the length of a function that makes a thousand vectors or tapes and then needs them
//! all. Where such values are in memory from the start, few are alive at a time, and its time is in proportion to the
//! length.
//!
//! Constants and addresses are made anew where they are needed.

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{
    Function, Inst, InstBuilder, MemFlagsData, Opcode, StackSlot, StackSlotData, StackSlotKind, Value, ValueDef, types,
};

/// Values that are needed farther away than so many instructions are far.
const FAR: u32 = 100;

/// Where a value is between its definition and its far uses.
#[derive(Clone, Copy, Default)]
enum Home {
    #[default]
    Register,
    Memory(StackSlot),
    /// It is made again.
    Nowhere(Inst),
}

/// Treats one function.
pub fn keep_in_memory(function: &mut Function) {
    function.dfg.resolve_all_aliases();
    let places = places(function);
    let homes = homes(function, &places);
    let mut cursor = FuncCursor::new(function);
    while let Some(block) = cursor.next_block() {
        for param in cursor.func.dfg.block_params(block).to_vec() {
            if let Home::Memory(slot) = homes[param] {
                cursor.goto_first_insertion_point(block);
                store(&mut cursor, param, slot);
            }
        }
        cursor.goto_top(block);
        while let Some(inst) = cursor.next_inst() {
            // What this adds has no place, and uses nothing.
            if places.of_inst[inst] > 0 {
                load_far(&mut cursor, inst, &places, &homes);
                for result in cursor.func.dfg.inst_results(inst).to_vec() {
                    if let Home::Memory(slot) = homes[result] {
                        cursor.goto_after_inst(inst);
                        store(&mut cursor, result, slot);
                        cursor.goto_inst(inst);
                    }
                }
            }
        }
    }
}

/// The numbers of instructions, from 1, in the order of the code, and where values are defined.
struct Places {
    of_inst: SecondaryMap<Inst, u32>,
    of_value: SecondaryMap<Value, u32>,
}

impl Places {
    /// Whether a value is no longer in a register where an instruction needs it. Definitions dominate uses, so one that
    /// follows its use in the code is needed in a block that stands elsewhere.
    fn is_far(&self, value: Value, inst: Inst) -> bool {
        self.of_inst[inst].wrapping_sub(self.of_value[value]) > FAR
    }
}

fn places(function: &Function) -> Places {
    let mut places = Places { of_inst: SecondaryMap::new(), of_value: SecondaryMap::new() };
    let mut place = 0;
    for block in function.layout.blocks() {
        for param in function.dfg.block_params(block) {
            places.of_value[*param] = place;
        }
        for inst in function.layout.block_insts(block) {
            place += 1;
            places.of_inst[inst] = place;
            for result in function.dfg.inst_results(inst) {
                places.of_value[*result] = place;
            }
        }
    }
    places
}

/// What has a far use is kept in memory, or made again.
fn homes(function: &mut Function, places: &Places) -> SecondaryMap<Value, Home> {
    let mut far = Vec::new();
    let mut is_far: SecondaryMap<Value, bool> = SecondaryMap::new();
    for block in function.layout.blocks() {
        for inst in function.layout.block_insts(block) {
            for value in function.dfg.inst_values(inst) {
                // Lanes are alive within a loop.
                let is_scalar = !function.dfg.value_type(value).is_vector();
                if is_scalar && places.is_far(value, inst) && !is_far[value] {
                    is_far[value] = true;
                    far.push(value);
                }
            }
        }
    }
    let mut homes = SecondaryMap::new();
    for value in far {
        homes[value] = match constant(function, value) {
            Some(inst) => Home::Nowhere(inst),
            None => {
                let bytes = function.dfg.value_type(value).bytes();
                let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, bytes.trailing_zeros() as u8);
                Home::Memory(function.create_sized_stack_slot(slot))
            }
        };
    }
    homes
}

/// The instruction that makes a value of nothing.
fn constant(function: &Function, value: Value) -> Option<Inst> {
    let ValueDef::Result(inst, _) = function.dfg.value_def(value) else { return None };
    let made = [Opcode::Iconst, Opcode::F64const, Opcode::SymbolValue, Opcode::StackAddr];
    made.contains(&function.dfg.insts[inst].opcode()).then_some(inst)
}

fn store(cursor: &mut FuncCursor, value: Value, slot: StackSlot) {
    let address = cursor.ins().stack_addr(types::I64, slot, 0);
    cursor.ins().store(MemFlagsData::trusted(), value, address, 0);
}

/// Brings what an instruction needs from afar.
fn load_far(cursor: &mut FuncCursor, inst: Inst, places: &Places, homes: &SecondaryMap<Value, Home>) {
    let far = |value: &Value| places.is_far(*value, inst);
    let mut needed: Vec<Value> = cursor.func.dfg.inst_values(inst).filter(far).collect();
    needed.sort_unstable();
    needed.dedup();
    let loaded: Vec<Value> = needed.iter().map(|value| load(cursor, *value, homes[*value])).collect();
    cursor.func.dfg.map_inst_values(inst, |value| match needed.binary_search(&value) {
        Ok(index) => loaded[index],
        Err(_) => value,
    });
}

/// A value in front of the instruction at hand.
fn load(cursor: &mut FuncCursor, value: Value, home: Home) -> Value {
    match home {
        Home::Register => value,
        Home::Memory(slot) => {
            let ty = cursor.func.dfg.value_type(value);
            let address = cursor.ins().stack_addr(types::I64, slot, 0);
            cursor.ins().load(ty, MemFlagsData::trusted(), address, 0)
        }
        Home::Nowhere(inst) => {
            let again = cursor.func.dfg.clone_inst(inst);
            cursor.insert_inst(again);
            cursor.func.dfg.first_result(again)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::keep_in_memory;
    use crate::codegen::registers::pressure::pressure;
    use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, types};
    use cranelift_codegen::isa::TargetIsa;
    use cranelift_codegen::settings::{self, Flags};
    use cranelift_codegen::verifier::verify_function;
    use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

    /// A function that makes so many numbers, each in a block of its own, and then needs them all.
    fn long(isa: &dyn TargetIsa, count: usize) -> Function {
        let mut function = Function::new();
        function.signature.params.push(AbiParam::new(types::F64));
        function.signature.returns.push(AbiParam::new(types::F64));
        let mut context = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut function, &mut context);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        let x = builder.block_params(block)[0];
        let mut numbers = vec![x];
        for _ in 0..count {
            let block = builder.create_block();
            let number = builder.append_block_param(block, types::F64);
            let passed = builder.ins().fadd(numbers[numbers.len() - 1], x);
            builder.ins().jump(block, &[passed.into()]);
            builder.switch_to_block(block);
            numbers.push(number);
        }
        let sum = numbers.into_iter().reduce(|sum, number| builder.ins().fmul(sum, number)).unwrap_or(x);
        builder.ins().return_(&[sum]);
        builder.seal_all_blocks();
        builder.finalize(isa.frontend_config());
        function
    }

    #[test]
    fn values_are_alive_for_a_time_in_proportion() {
        let flags = Flags::new(settings::builder());
        let isa = cranelift_native::builder().expect("the machine is known").finish(flags).expect("settings are right");
        let pressures = [500, 1000].map(|count| {
            let mut function = long(&*isa, count);
            let before = pressure(&function).alive;
            keep_in_memory(&mut function);
            verify_function(&function, &*isa).expect("the function is well formed");
            assert!(pressure(&function).alive * 4 < before, "{count}");
            pressure(&function).alive
        });
        assert!(pressures[1] * 100 <= pressures[0] * 220, "{pressures:?}");
    }
}
