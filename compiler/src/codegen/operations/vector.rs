//! Operations on vectors → Cranelift instructions.
//!
//! ```text
//! new_vector     a box to hand out, if the vector is small; else the run time makes it
//! new_rows       a box to hand out, if all of them are small; else the run time makes it
//! new_row        a box for a view, of elements whose address is computed; the box of the rows has one more owner
//! element        a load; the address is computed from the place, and from the length behind pointer fields
//! take_element   a load, and a store or one more owner
//! with_element   stores, and a release of each pointer that is replaced; before that, if the vector has other owners,
//!                the run time copies it (see [`crate::ssa::sole_owners`])
//! ```
//!
//! The box of a vector holds the pointer fields of all elements before the other fields of all elements (see
//! [`crate::codegen::layout`]), so that the run time can release them as those of any other box. Elements without
//! pointer fields may lie elsewhere: where they begin is read before they are (see [`Translator::start`]).
//!
//! A vector that has one owner is changed in place. So loads of elements stay where they are among stores and calls:
//! none is marked as one that may move.

use crate::codegen::function::{TRUSTED, Translator};
use crate::codegen::unit::External;
use crate::codegen::{Error, layout};
use crate::ssa::ir::{Inst, Int2, Kernel, Op, Type, VectorId};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, StackSlotData, StackSlotKind, types};

/// Numbers of fields of one element.
#[derive(Clone, Copy)]
pub(in crate::codegen) struct Width {
    pub(in crate::codegen) pointers: usize,
    pub(in crate::codegen) others: usize,
}

impl Width {
    pub(in crate::codegen) fn of(fields: &[Type]) -> Width {
        let pointers = fields.iter().filter(|ty| **ty == Type::Ptr).count();
        Width { pointers, others: fields.len() - pointers }
    }
}

/// Where an element of a vector stands.
#[derive(Clone, Copy)]
pub(in crate::codegen) struct Position {
    pub(in crate::codegen) elements: ir::Value,
    /// Where elements without pointer fields begin.
    start: Option<(ir::Value, i32)>,
    pub(in crate::codegen) length: ir::Value,
    /// So many elements behind this place.
    pub(in crate::codegen) place: ir::Value,
    pub(in crate::codegen) behind: i32,
}

/// Farther from a place than this, the place of an element is computed.
const NEAR: i64 = 1 << 10;

impl Translator<'_, '_, '_> {
    /// Notes what an integer is, if it is another one and a constant.
    pub(in crate::codegen) fn note_sum(&mut self, op: Int2, inst: &Inst, first: ir::Value) {
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
    pub(in crate::codegen) fn position(&mut self, vector: VectorId, inst: &Inst, args: &[ir::Value]) -> Position {
        let (place, behind) = self.sums.get(&inst.args[2]).copied().unwrap_or((args[2], 0));
        let is_changed = inst.op.changes_vector() && !self.sole_owners[inst.args[0]];
        let has_start = !is_changed && !self.unit.program.vectors[vector].has_pointers();
        let start = has_start.then(|| self.start(inst.args[0]));
        Position { elements: args[0], start, length: args[1], place, behind: behind as i32 }
    }

    /// The elements of a new vector: a box to hand out of its class if it is small and holds no pointers, else the run
    /// time makes it.
    pub(in crate::codegen) fn new_vector(&mut self, vector: VectorId, length: ir::Value) -> Result<ir::Value, Error> {
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
        let [pointers, others] =
            [width.pointers, width.others].map(|count| self.builder.ins().iconst(types::I64, count as i64));
        let made = self.request("vlad_new_vector", [length, pointers, others])?;
        self.builder.ins().jump(ready, &[BlockArg::Value(made)]);

        self.builder.switch_to_block(ready);
        Ok(new)
    }

    /// A box for so many vectors of a length: one to hand out of its class if it is small, else the run time makes it.
    pub(in crate::codegen) fn new_rows(
        &mut self,
        vector: VectorId,
        count: ir::Value,
        length: ir::Value,
    ) -> Result<ir::Value, Error> {
        let fields = self.unit.program.vectors[vector].fields.len();
        let [slow, ready] = std::array::from_fn(|_| self.builder.create_block());
        let new = self.builder.append_block_param(ready, types::I64);
        self.builder.set_cold_block(slow);
        // Short rows, and few of them, so that no product is too large.
        let [some, few] = std::array::from_fn(|_| self.builder.create_block());
        let is_short = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, length, layout::EXACT as i64);
        self.builder.ins().brif(is_short, some, &[], slow, &[]);
        self.builder.switch_to_block(some);
        let are_few = self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, count, layout::EXACT as i64);
        self.builder.ins().brif(are_few, few, &[], slow, &[]);
        self.builder.switch_to_block(few);
        let distance = self.times(length, fields);
        let room = self.builder.ins().imul(distance, count);
        let words = self.builder.ins().iadd_imm_s(room, (layout::ROWS_FIRST / layout::WORD) as i64);
        let rows = self.new_small_box(words, slow);
        let first = self.builder.ins().iadd_imm_s(rows, layout::ROWS_FIRST as i64);
        for (part, offset) in [(first, layout::ELEMENTS_OFFSET), (room, layout::ROWS_ROOM)] {
            self.builder.ins().store(TRUSTED, part, rows, offset);
        }
        self.builder.ins().jump(ready, &[BlockArg::Value(rows)]);

        self.builder.switch_to_block(slow);
        let fields = self.builder.ins().iconst(types::I64, fields as i64);
        let rows = self.request("vlad_new_rows", [count, length, fields])?;
        self.builder.ins().jump(ready, &[BlockArg::Value(rows)]);

        self.builder.switch_to_block(ready);
        Ok(new)
    }

    /// A view of the elements of a vector without pointer fields from a place on.
    fn part(&mut self, vector: ir::Value, place: ir::Value) -> Result<ir::Value, Error> {
        let [view, ready, counted, done] = std::array::from_fn(|_| self.builder.create_block());
        let base = self.builder.append_block_param(ready, types::I64);
        let kind = self.builder.ins().uload16(types::I64, TRUSTED, vector, 0);
        let is_view = self.builder.ins().icmp_imm_u(IntCC::Equal, kind, (layout::VIEW as i64) << 8);
        self.builder.ins().brif(is_view, view, &[], ready, &[BlockArg::Value(vector)]);

        self.builder.switch_to_block(view);
        let shared = self.builder.ins().iconst(types::I16, i64::from(layout::SHARED));
        self.builder.ins().store(TRUSTED, shared, vector, layout::TAG_OFFSET);
        let viewed = self.builder.ins().load(types::I64, TRUSTED, vector, layout::BASE_OFFSET);
        self.builder.ins().jump(ready, &[BlockArg::Value(viewed)]);

        self.builder.switch_to_block(ready);
        let start = self.elements_start(vector);
        let start = self.after(start, place, 1);
        let new = self.new_view(start, base, layout::SHARED)?;
        self.builder.ins().brif(base, counted, &[], done, &[]);

        self.builder.switch_to_block(counted);
        self.count(base, 1);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
        Ok(new)
    }

    /// A view of elements of a box, which is another owner of it already.
    pub(in crate::codegen) fn new_view(
        &mut self,
        start: ir::Value,
        base: ir::Value,
        tag: u32,
    ) -> Result<ir::Value, Error> {
        let view = self.allocate(layout::class_of(layout::VIEW_WORDS))?;
        let header = self.builder.ins().iconst(types::I64, layout::header(0, layout::VIEW, tag) as i64);
        for (part, offset) in [(header, 0), (start, layout::ELEMENTS_OFFSET), (base, layout::BASE_OFFSET)] {
            self.builder.ins().store(TRUSTED, part, view, offset);
        }
        Ok(view)
    }

    /// The vector that a kernel makes. It finds the address and the length of the result in memory, then its sizes,
    /// then the address and the length of each vector.
    pub(in crate::codegen) fn kernel(
        &mut self,
        kernel: Kernel,
        vector: VectorId,
        args: &[ir::Value],
    ) -> Result<ir::Value, Error> {
        if kernel == Kernel::Part {
            let place = self.builder.ins().fcvt_to_sint_sat(types::I64, args[1]);
            return self.part(args[2], place);
        }
        if kernel == Kernel::Joined {
            return self.request("vlad_joined", [args[2], args[3], args[4], args[5], args[1]]);
        }
        let result = self.new_vector(vector, args[0])?;
        let (sizes, vectors) = args[1..].split_at(kernel.sizes());
        let mut request = vec![self.elements_start(result), args[0]];
        request.extend(sizes);
        for operand in vectors.chunks_exact(2) {
            request.extend([self.elements_start(operand[0]), operand[1]]);
        }
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, (request.len() * layout::WORD) as u32, 3);
        let slot = self.builder.create_sized_stack_slot(slot);
        let address = self.builder.ins().stack_addr(types::I64, slot, 0);
        for (index, part) in (0..).zip(request) {
            self.builder.ins().store(TRUSTED, part, address, index * layout::WORD as i32);
        }
        let function = External::Runtime(kernel.symbol(), &[types::I64], Some(types::I64));
        let failed = self.call_external(function, &[address])?.expect("the signature has a result");
        let [none, done] = std::array::from_fn(|_| self.builder.create_block());
        self.builder.set_cold_block(none);
        self.builder.ins().brif(failed, none, &[], done, &[]);
        self.builder.switch_to_block(none);
        self.prepare_complaint();
        self.call_external(External::Slow("vlad_exhausted"), &[failed])?;
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
        Ok(result)
    }

    /// What a function of the run time gives, which finds its operands in memory and puts there what it makes.
    fn request<const OPERANDS: usize>(
        &mut self,
        function: &'static str,
        operands: [ir::Value; OPERANDS],
    ) -> Result<ir::Value, Error> {
        let bytes = (OPERANDS * layout::WORD) as u32;
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
        let slot = self.builder.create_sized_stack_slot(slot);
        let request = self.builder.ins().stack_addr(types::I64, slot, 0);
        for (index, part) in (0..).zip(operands) {
            self.builder.ins().store(TRUSTED, part, request, index * layout::WORD as i32);
        }
        self.prepare_complaint();
        self.call_external(External::Slow(function), &[request])?;
        Ok(self.builder.ins().load(types::I64, TRUSTED, request, 0))
    }

    /// The vector at a place of a box of rows; one of its own if the place is not there.
    pub(in crate::codegen) fn new_row(&mut self, vector: VectorId, args: &[ir::Value]) -> Result<ir::Value, Error> {
        let (rows, length, place) = (args[0], args[1], args[2]);
        let [inside, outside, ready] = std::array::from_fn(|_| self.builder.create_block());
        let new = self.builder.append_block_param(ready, types::I64);
        self.builder.set_cold_block(outside);
        let room = self.builder.ins().load(types::I64, TRUSTED, rows, layout::ROWS_ROOM);
        let words = self.times(length, self.unit.program.vectors[vector].fields.len());
        let before = self.builder.ins().imul(words, place);
        // Memory is there for all rows, or for none.
        let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, before, room);
        self.builder.ins().brif(is_inside, inside, &[], outside, &[]);

        self.builder.switch_to_block(inside);
        let first = self.builder.ins().load(types::I64, TRUSTED, rows, layout::ELEMENTS_OFFSET);
        let start = self.after(first, before, 1);
        let row = self.new_view(start, rows, 0)?;
        self.count(rows, 1);
        self.builder.ins().jump(ready, &[BlockArg::Value(row)]);

        self.builder.switch_to_block(outside);
        let other = self.new_vector(vector, length)?;
        self.builder.ins().jump(ready, &[BlockArg::Value(other)]);

        self.builder.switch_to_block(ready);
        Ok(new)
    }

    /// A vector without pointers; control goes to another block if it is not small, or if there is no box to hand out.
    fn new_small_vector(&mut self, width: Width, length: ir::Value, otherwise: ir::Block) -> ir::Value {
        // Lengths have been compared with a bound that is far from what would not be represented.
        let words = self.times(length, width.others);
        let words = self.builder.ins().iadd_imm_s(words, layout::VECTOR_HEADER_WORDS as i64);
        let new = self.new_small_box(words, otherwise);
        let start = self.builder.ins().iadd_imm_s(new, (layout::VECTOR_HEADER_WORDS * layout::WORD) as i64);
        self.builder.ins().store(TRUSTED, start, new, layout::ELEMENTS_OFFSET);
        new
    }

    /// Where the elements of a vector without pointer fields begin.
    pub(in crate::codegen) fn elements_start(&mut self, vector: ir::Value) -> ir::Value {
        self.builder.ins().load(types::I64, TRUSTED, vector, layout::ELEMENTS_OFFSET)
    }

    /// A box of so many words, which has no pointer fields; control goes to another block if it is not small, or if
    /// there is no box to hand out.
    fn new_small_box(&mut self, words: ir::Value, otherwise: ir::Block) -> ir::Value {
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
    pub(in crate::codegen) fn place(
        &mut self,
        vector: VectorId,
        field: usize,
        Position { elements, start, length, place, behind }: Position,
    ) -> (ir::Value, i32) {
        let fields = &self.unit.program.vectors[vector].fields;
        let width = Width::of(fields);
        let is_pointer = fields[field] == Type::Ptr;
        let position = fields[..field].iter().filter(|ty| (**ty == Type::Ptr) == is_pointer).count();
        let of_field = (position * layout::WORD) as i32;
        let header = (layout::VECTOR_HEADER_WORDS * layout::WORD) as i32;
        if let Some((start, offset)) = start {
            let offset = offset + of_field + behind * (width.others * layout::WORD) as i32;
            return (self.after(start, place, width.others), offset);
        }
        let offset = header + of_field;
        if is_pointer {
            let behind = behind * (width.pointers * layout::WORD) as i32;
            return (self.after(elements, place, width.pointers), offset + behind);
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
    pub(in crate::codegen) fn element(
        &mut self,
        vector: VectorId,
        field: usize,
        ty: ir::Type,
        position: Position,
    ) -> ir::Value {
        let (address, offset) = self.place(vector, field, position);
        self.builder.ins().load(ty, TRUSTED, address, offset)
    }

    /// A pointer of an element, which leaves the vector if that has one owner, and else has one more owner.
    pub(in crate::codegen) fn take_element(&mut self, vector: VectorId, field: usize, position: Position) -> ir::Value {
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

    /// Whether a vector has one owner, and no view of another vector shares its elements.
    fn is_unshared(&mut self, width: Width, elements: ir::Value) -> ir::Value {
        let has_one_owner = self.has_one_owner(elements);
        if width.pointers > 0 {
            return has_one_owner;
        }
        let tag = self.builder.ins().load(types::I16, TRUSTED, elements, layout::TAG_OFFSET);
        let is_own = self.builder.ins().icmp_imm_u(IntCC::Equal, tag, 0);
        self.builder.ins().band(has_one_owner, is_own)
    }

    fn has_one_owner(&mut self, elements: ir::Value) -> ir::Value {
        let count = self.builder.ins().load(types::I32, TRUSTED, elements, layout::COUNT_OFFSET);
        self.builder.ins().icmp_imm_u(IntCC::Equal, count, 1)
    }

    /// A position in a vector that may be changed: this one if nobody else can own it, or else that in a copy.
    pub(in crate::codegen) fn own_position(
        &mut self,
        vector: VectorId,
        position: Position,
        is_sole: bool,
    ) -> Result<Position, Error> {
        if is_sole {
            return Ok(position);
        }
        let elements = self.own_vector(vector, position.elements, position.length)?;
        let has_start = !self.unit.program.vectors[vector].has_pointers();
        let start = has_start.then(|| (self.elements_start(elements), 0));
        Ok(Position { elements, start, ..position })
    }

    /// The elements of a vector when one of them has these fields, given whether nobody else can own it.
    pub(in crate::codegen) fn with_element(
        &mut self,
        vector: VectorId,
        position: Position,
        fields: &[ir::Value],
        is_sole: bool,
    ) -> Result<ir::Value, Error> {
        let position = self.own_position(vector, position, is_sole)?;
        let own = position.elements;
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

    /// The vector itself if nobody else can see its elements, else a copy, which takes the place of the owner at hand.
    pub(in crate::codegen) fn own_vector(
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
        let is_own = self.is_unshared(width, elements);
        self.builder.ins().brif(is_own, ready, &[BlockArg::Value(elements)], shared, &[]);

        self.builder.switch_to_block(shared);
        let words = self.times(length, width.pointers + width.others);
        let words = self.builder.ins().iadd_imm_s(words, layout::VECTOR_HEADER_WORDS as i64);
        let new = self.request("vlad_copy_vector", [elements, words])?;
        self.builder.ins().jump(ready, &[BlockArg::Value(new)]);

        self.builder.switch_to_block(ready);
        Ok(own)
    }
}
