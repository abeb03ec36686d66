//! Results of calls that are remembered → Cranelift instructions, and calls of the run time. See
//! [`crate::opt::interprocedural::sharing`].

use crate::codegen::abi::clif_type;
use crate::codegen::function::{TRUSTED, Translator};
use crate::codegen::unit::External;
use crate::codegen::{Error, layout};
use crate::ssa::ir::{FuncId, Inst, Type, Value};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, StackSlotData, StackSlotKind, types};

/// Words of a question before the arguments.
const BEFORE: usize = 5;

/// Where the parts of a question stand in memory: behind the number of the function and the counts.
pub(in crate::codegen) struct Question {
    /// How many pointers are among the arguments, how many other arguments, and both for the results.
    pub(in crate::codegen) counts: [usize; 4],
    /// The word of each argument and then of each result.
    pub(in crate::codegen) places: Vec<usize>,
}

impl Question {
    /// That of a function, given which arguments and which results are pointers.
    pub(in crate::codegen) fn of(args: impl Iterator<Item = bool>, results: impl Iterator<Item = bool>) -> Question {
        let kinds = args.map(|is_pointer| usize::from(!is_pointer));
        let kinds: Vec<usize> = kinds.chain(results.map(|is_pointer| 2 + usize::from(!is_pointer))).collect();
        let counts: [usize; 4] = std::array::from_fn(|kind| kinds.iter().filter(|other| **other == kind).count());
        let mut next: [usize; 4] = std::array::from_fn(|kind| BEFORE + counts[..kind].iter().sum::<usize>());
        let place = |kind: &usize| {
            next[*kind] += 1;
            next[*kind] - 1
        };
        let places = kinds.iter().map(place).collect();
        Question { counts, places }
    }
}

impl Translator<'_, '_, '_> {
    /// Whether some of the values are boxes, and all of these have more than one owner.
    pub(in crate::codegen) fn is_shared(&mut self, values: &[Value]) -> ir::Value {
        let done = self.builder.create_block();
        let result = self.builder.append_block_param(done, types::I8);
        let [no, yes] = [0, 1].map(|number| self.builder.ins().iconst(types::I8, number));
        let mut found = no;
        for value in values.iter().filter(|value| self.function.values[**value] == Type::Ptr) {
            let value = self.value(*value);
            let [boxed, next] = [(); 2].map(|()| self.builder.create_block());
            let known = self.builder.append_block_param(next, types::I8);
            let is_immediate = self.is_immediate(value);
            self.builder.ins().brif(is_immediate, next, &[BlockArg::Value(found)], boxed, &[]);
            self.builder.switch_to_block(boxed);
            let count = self.builder.ins().load(types::I32, TRUSTED, value, layout::COUNT_OFFSET);
            let is_shared = self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, count, 1);
            self.builder.ins().brif(is_shared, next, &[BlockArg::Value(yes)], done, &[BlockArg::Value(no)]);
            self.builder.switch_to_block(next);
            found = known;
        }
        self.builder.ins().jump(done, &[BlockArg::Value(found)]);
        self.builder.switch_to_block(done);
        result
    }

    /// Whether the results of a call are remembered, and the results.
    pub(in crate::codegen) fn recall(&mut self, callee: FuncId, inst: &Inst) -> Result<(), Error> {
        let results = inst.results[1..].to_vec();
        let (question, places) = self.question(callee, &inst.args, &results)?;
        self.ask("vlad_recall", question)?;
        let known = self.builder.ins().load(types::I8, TRUSTED, question, 0);
        self.define(inst.results[0], known);
        for (result, place) in results.iter().zip(&places[inst.args.len()..]) {
            let ty = clif_type(self.function.values[*result]);
            let value = self.builder.ins().load(ty, TRUSTED, question, *place);
            self.define(*result, value);
        }
        Ok(())
    }

    /// Remembers the results of a call, which stand behind its arguments.
    pub(in crate::codegen) fn remember(&mut self, callee: FuncId, values: &[Value]) -> Result<(), Error> {
        let count = self.unit.program.functions[callee].params().len();
        let (question, places) = self.question(callee, &values[..count], &values[count..])?;
        for (result, place) in values.iter().zip(places).skip(count) {
            self.store_word(question, *result, place);
        }
        self.ask("vlad_remember", question)
    }

    /// Forgets all that is remembered.
    pub(in crate::codegen) fn forget(&mut self) -> Result<(), Error> {
        let [some, done] = [(); 2].map(|()| self.builder.create_block());
        self.builder.set_cold_block(some);
        let heap = self.home(self.unit.heap);
        let table = self.builder.ins().load(types::I64, TRUSTED, heap, layout::HEAP_REMEMBERED);
        self.builder.ins().brif(table, some, &[], done, &[]);
        self.builder.switch_to_block(some);
        self.call_external(External::Slow("vlad_forget"), &[table])?;
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
        Ok(())
    }

    /// A question with its arguments in memory: its address, and where each argument and each result stands.
    fn question(&mut self, callee: FuncId, args: &[Value], results: &[Value]) -> Result<(ir::Value, Vec<i32>), Error> {
        let is_pointer = |value: &Value| self.function.values[*value] == Type::Ptr;
        let Question { counts, places } = Question::of(args.iter().map(is_pointer), results.iter().map(is_pointer));
        let places: Vec<i32> = places.into_iter().map(|place| (place * layout::WORD) as i32).collect();
        let bytes = ((BEFORE + places.len()) * layout::WORD) as u32;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
        let slot = self.builder.create_sized_stack_slot(slot);
        let question = self.builder.ins().stack_addr(types::I64, slot, 0);
        let numbers = std::iter::once(callee.0 as usize).chain(counts);
        for (index, number) in (0..).zip(numbers) {
            let number = self.builder.ins().iconst(types::I64, number as i64);
            self.builder.ins().store(TRUSTED, number, question, index * layout::WORD as i32);
        }
        for (arg, place) in args.iter().zip(&places) {
            self.store_word(question, *arg, *place);
        }
        Ok((question, places))
    }

    /// Stores a value as a word.
    fn store_word(&mut self, address: ir::Value, value: Value, place: i32) {
        let is_small = self.function.values[value] == Type::Bool;
        let value = self.value(value);
        let word = if is_small { self.builder.ins().uextend(types::I64, value) } else { value };
        self.builder.ins().store(TRUSTED, word, address, place);
    }

    fn ask(&mut self, function: &'static str, question: ir::Value) -> Result<(), Error> {
        let heap = self.home(self.unit.heap);
        self.call_external(External::Runtime(function, &[types::I64; 2], None), &[question, heap])?;
        Ok(())
    }
}
