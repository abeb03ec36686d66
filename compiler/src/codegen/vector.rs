//! Operations on vectors → Cranelift instructions.
//!
//! ```text
//! new_vector     a box to hand out, if the vector is small; else the run time makes it
//! element        a load; the address is computed from the place, and from the length behind pointer fields
//! take_element   a load, and a store or one more owner
//! with_element   stores, and a release of each pointer that is replaced; before that, if the vector has other owners,
//!                the run time copies it (see [`crate::codegen::sole_owners`])
//! ```
//!
//! The box of a vector holds the pointer fields of all elements before the other fields of all elements (see
//! [`crate::codegen::layout`]), so that the run time can release them as those of any other box.
//!
//! A vector that has one owner is changed in place. So loads of elements stay where they are among stores and calls: none
//! is marked as one that may move.

use crate::codegen::function::{TRUSTED, Translator};
use crate::codegen::unit::External;
use crate::codegen::{Error, layout};
use crate::ssa::ir::{Inst, Int2, Op, Type, VectorId};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, StackSlotData, StackSlotKind, types};

/// Bytes of what a new vector is asked for with: its length, and the numbers of fields of an element.
const MAKE_BYTES: u32 = 24;
/// Bytes of what a copy is asked for with: the vector, and its words.
const COPY_BYTES: u32 = 16;

/// Numbers of fields of one element.
#[derive(Clone, Copy)]
pub(super) struct Width {
    pub(super) pointers: usize,
    pub(super) others: usize,
}

impl Width {
    pub(super) fn of(fields: &[Type]) -> Width {
        let pointers = fields.iter().filter(|ty| **ty == Type::Ptr).count();
        Width { pointers, others: fields.len() - pointers }
    }

    fn header(self) -> usize {
        layout::vector_header_words(self.pointers)
    }
}

/// Where an element of a vector stands.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub(super) elements: ir::Value,
    pub(super) length: ir::Value,
    /// So many elements behind this place.
    pub(super) place: ir::Value,
    pub(super) behind: i32,
}

/// Farther from a place than this, the place of an element is computed.
const NEAR: i64 = 1 << 10;

impl Translator<'_, '_, '_> {
    /// Notes what an integer is, if it is another one and a constant.
    pub(super) fn note_sum(&mut self, op: Int2, inst: &Inst, first: ir::Value) {
        let second = match self.constant_of(inst.args[1]) {
            Some(Op::ConstInt(second)) if second.abs() <= NEAR => second,
            _ => return,
        };
        match op {
            Int2::Add => self.sums.insert(inst.results[0], (first, second)),
            Int2::Sub => self.sums.insert(inst.results[0], (first, -second)),
            Int2::Mul => None,
        };
    }

    /// The position that an instruction names with its first three operands.
    pub(super) fn position(&self, inst: &Inst, args: &[ir::Value]) -> Position {
        let (place, behind) = self.sums.get(&inst.args[2]).copied().unwrap_or((args[2], 0));
        Position { elements: args[0], length: args[1], place, behind: behind as i32 }
    }

    /// The elements of a new vector: a box to hand out of its class if it is small and holds no pointers, else the run time
    /// makes it.
    pub(super) fn new_vector(&mut self, vector: VectorId, length: ir::Value) -> Result<ir::Value, Error> {
        let width = Width::of(&self.unit.program.vectors[vector].fields);
        let slow = self.builder.create_block();
        let ready = self.builder.create_block();
        let new = self.builder.append_block_param(ready, types::I64);
        if width.pointers == 0 && width.others <= layout::EXACT {
            self.builder.set_cold_block(slow);
            let new = self.new_small_vector(width, length, slow);
            self.builder.ins().jump(ready, &[BlockArg::Value(new)]);
        } else {
            self.builder.ins().jump(slow, &[]);
        }

        self.builder.switch_to_block(slow);
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, MAKE_BYTES, 3);
        let slot = self.builder.create_sized_stack_slot(slot);
        let request = self.builder.ins().stack_addr(types::I64, slot, 0);
        let [pointers, others] =
            [width.pointers, width.others].map(|count| self.builder.ins().iconst(types::I64, count as i64));
        for (index, part) in (0..).zip([length, pointers, others]) {
            self.builder.ins().store(TRUSTED, part, request, index * layout::WORD as i32);
        }
        self.call_external(External::Slow("vlad_new_vector"), &[request])?;
        let made = self.builder.ins().load(types::I64, TRUSTED, request, 0);
        self.builder.ins().jump(ready, &[BlockArg::Value(made)]);

        self.builder.switch_to_block(ready);
        Ok(new)
    }

    /// A vector without pointers; control goes to another block if it is not small, or if there is no box to hand out.
    fn new_small_vector(&mut self, width: Width, length: ir::Value, otherwise: ir::Block) -> ir::Value {
        // Lengths have been compared with a bound that is far from what would not be represented.
        let words = self.times(length, width.others);
        let words = self.builder.ins().iadd_imm_s(words, width.header() as i64);
        let small = self.builder.create_block();
        let is_large = self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, words, layout::EXACT as i64);
        self.builder.ins().brif(is_large, otherwise, &[], small, &[]);

        self.builder.switch_to_block(small);
        let least = self.builder.ins().iconst(types::I64, layout::class_of(0) as i64);
        let class = self.builder.ins().umax(words, least);
        let lists = self.home(self.unit.heap);
        let list = self.after(lists, class, 1);
        let first = self.builder.ins().load(types::I64, TRUSTED, list, 0);
        let found = self.builder.create_block();
        self.builder.ins().brif(first, found, &[], otherwise, &[]);

        self.builder.switch_to_block(found);
        let next = self.builder.ins().load(types::I64, TRUSTED, first, 0);
        self.builder.ins().store(TRUSTED, next, list, 0);
        let header = self.builder.ins().iconst(types::I64, layout::header(0, 0, 0) as i64);
        let class = self.builder.ins().ishl_imm_u(class, 8);
        let header = self.builder.ins().bor(header, class);
        self.builder.ins().store(TRUSTED, header, first, 0);
        first
    }

    /// Where a field of an element stands: an address, and an offset from it.
    pub(super) fn place(
        &mut self,
        vector: VectorId,
        field: usize,
        Position { elements, length, place, behind }: Position,
    ) -> (ir::Value, i32) {
        let fields = &self.unit.program.vectors[vector].fields;
        let width = Width::of(fields);
        let is_pointer = fields[field] == Type::Ptr;
        let position = fields[..field].iter().filter(|ty| (**ty == Type::Ptr) == is_pointer).count();
        let offset = ((width.header() + position) * layout::WORD) as i32;
        if is_pointer || width.pointers == 0 {
            let step = if is_pointer { width.pointers } else { width.others };
            return (self.after(elements, place, step), offset + behind * (step * layout::WORD) as i32);
        }
        let others = self.after(elements, length, width.pointers);
        (self.after(others, place, width.others), offset + behind * (width.others * layout::WORD) as i32)
    }

    /// The address `count` times so many words after another.
    fn after(&mut self, address: ir::Value, count: ir::Value, words: usize) -> ir::Value {
        let distance = self.times(count, words * layout::WORD);
        self.builder.ins().iadd(address, distance)
    }

    fn times(&mut self, count: ir::Value, factor: usize) -> ir::Value {
        match factor {
            1 => count,
            _ if factor.is_power_of_two() => self.builder.ins().ishl_imm_u(count, i64::from(factor.trailing_zeros())),
            _ => self.builder.ins().imul_imm_s(count, factor as i64),
        }
    }

    /// A field of an element.
    pub(super) fn element(&mut self, vector: VectorId, field: usize, ty: ir::Type, position: Position) -> ir::Value {
        let (address, offset) = self.place(vector, field, position);
        self.builder.ins().load(ty, TRUSTED, address, offset)
    }

    /// A pointer of an element, which leaves the vector if that has one owner, and else has one more owner.
    pub(super) fn take_element(&mut self, vector: VectorId, field: usize, position: Position) -> ir::Value {
        let (address, offset) = self.place(vector, field, position);
        let taken = self.builder.ins().load(types::I64, TRUSTED, address, offset);
        let own = self.builder.create_block();
        let shared = self.builder.create_block();
        let done = self.builder.create_block();
        let is_own = self.has_one_owner(position.elements);
        self.builder.ins().brif(is_own, own, &[], shared, &[]);

        self.builder.switch_to_block(own);
        let vacant = self.builder.ins().iconst(types::I64, 0);
        self.builder.ins().store(TRUSTED, vacant, address, offset);
        self.builder.ins().jump(done, &[]);

        self.builder.switch_to_block(shared);
        self.retain(taken);
        self.builder.ins().jump(done, &[]);

        self.builder.switch_to_block(done);
        taken
    }

    fn has_one_owner(&mut self, elements: ir::Value) -> ir::Value {
        let count = self.builder.ins().load(types::I32, TRUSTED, elements, layout::COUNT_OFFSET);
        self.builder.ins().icmp_imm_u(IntCC::Equal, count, 1)
    }

    /// The elements of a vector when one of them has these fields, given whether nobody else can own it.
    pub(super) fn with_element(
        &mut self,
        vector: VectorId,
        position: Position,
        fields: &[ir::Value],
        is_sole: bool,
    ) -> Result<ir::Value, Error> {
        let Position { elements, length, .. } = position;
        let own = if is_sole { elements } else { self.own_vector(vector, elements, length)? };
        let position = Position { elements: own, ..position };
        let types = &self.unit.program.vectors[vector].fields;
        for (index, field) in fields.iter().enumerate() {
            let is_pointer = types[index] == Type::Ptr;
            let (address, offset) = self.place(vector, index, position);
            if is_pointer {
                let old = self.builder.ins().load(types::I64, TRUSTED, address, offset);
                self.builder.ins().store(TRUSTED, *field, address, offset);
                self.release(old)?;
            } else {
                self.builder.ins().store(TRUSTED, *field, address, offset);
            }
        }
        Ok(own)
    }

    /// The vector itself if it has one owner, else a copy, which takes the place of the owner at hand.
    pub(super) fn own_vector(
        &mut self,
        vector: VectorId,
        elements: ir::Value,
        length: ir::Value,
    ) -> Result<ir::Value, Error> {
        let width = Width::of(&self.unit.program.vectors[vector].fields);
        let shared = self.builder.create_block();
        let ready = self.builder.create_block();
        let own = self.builder.append_block_param(ready, types::I64);
        self.builder.set_cold_block(shared);
        let is_own = self.has_one_owner(elements);
        self.builder.ins().brif(is_own, ready, &[BlockArg::Value(elements)], shared, &[]);

        self.builder.switch_to_block(shared);
        let words = self.times(length, width.pointers + width.others);
        let words = self.builder.ins().iadd_imm_s(words, width.header() as i64);
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, COPY_BYTES, 3);
        let slot = self.builder.create_sized_stack_slot(slot);
        let copy = self.builder.ins().stack_addr(types::I64, slot, 0);
        self.builder.ins().store(TRUSTED, elements, copy, 0);
        self.builder.ins().store(TRUSTED, words, copy, layout::WORD as i32);
        self.call_external(External::Slow("vlad_copy_vector"), &[copy])?;
        let new = self.builder.ins().load(types::I64, TRUSTED, copy, 0);
        self.builder.ins().jump(ready, &[BlockArg::Value(new)]);

        self.builder.switch_to_block(ready);
        Ok(own)
    }
}
