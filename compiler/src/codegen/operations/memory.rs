//! Operations on boxes → Cranelift instructions, with the run time behind cold paths.
//!
//! ```text
//! box          take the first box of the free list of its size; if there is none, refill the list first
//! tag          the pointer itself if it is an immediate, else the tag in the header
//! retain       nothing for an immediate, else add 1 to the count
//! release      nothing for an immediate, else subtract 1 from the count, or free the box if it was 1
//!              (a box of a known alternative goes to the free list of its page right here)
//! ```
//!
//! The run time's part is called through functions that preserve all registers (see
//! [`crate::codegen::unit::External::Slow`]).

use crate::codegen::decisions::ownership::KnownRelease;
use crate::codegen::function::{TRUSTED, Translator};
use crate::codegen::unit::External;
use crate::codegen::{Error, layout};
use crate::ssa::ir::{SumId, Value};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use cranelift_frontend::Variable;

/// Boxes with more pointer fields to release than this are left to the run time.
pub(in crate::codegen) const MANY_DYING: usize = 3;

impl Translator<'_, '_, '_> {
    /// A new box with these fields, those excepted that are vacant; an immediate when the alternative has none. Takes
    /// the place of the box of its class that is kept aside, if there may be one.
    pub(in crate::codegen) fn new_box(
        &mut self,
        sum: SumId,
        tag: u32,
        fields: &[Option<ir::Value>],
        reuses: bool,
    ) -> Result<ir::Value, Error> {
        let Some(layout) = self.unit.sums[sum].alternatives[tag as usize].clone() else {
            return Ok(self.builder.ins().iconst(types::I64, i64::from(tag)));
        };
        let address = match self.kept.get(&layout.class).copied().filter(|_| reuses) {
            Some(kept) => self.kept_or_new(kept, layout.class)?,
            None => self.allocate(layout.class)?,
        };
        let header = self.builder.ins().iconst(types::I64, layout.header as i64);
        self.builder.ins().store(TRUSTED, header, address, 0);
        if layout.pointers >= layout::MANY_POINTERS {
            let pointers = self.builder.ins().iconst(types::I64, layout.pointers as i64);
            self.builder.ins().store(TRUSTED, pointers, address, layout::WORD as i32);
        }
        for (field, offset) in fields.iter().zip(&layout.offsets) {
            if let Some(field) = field {
                self.builder.ins().store(TRUSTED, *field, address, *offset);
            }
        }
        Ok(address)
    }

    /// A constant box, which gets an owner more; the boxes that it holds lose the one that it was given.
    pub(in crate::codegen) fn constant_box(&mut self, result: Value, place: usize, given: impl Iterator<Item = Value>) {
        let boxes = self.home(self.unit.constants);
        let address = self.builder.ins().iadd_imm_s(boxes, place as i64);
        self.count(address, 1);
        for value in given {
            let address = self.value(value);
            self.count(address, -1);
        }
        self.define(result, address);
    }

    /// Changes the count of a box, which does not die of it.
    pub(in crate::codegen) fn count(&mut self, address: ir::Value, change: i64) {
        let count = self.builder.ins().load(types::I32, TRUSTED, address, layout::COUNT_OFFSET);
        let count = self.builder.ins().iadd_imm_s(count, change);
        self.builder.ins().store(TRUSTED, count, address, layout::COUNT_OFFSET);
    }

    /// The box that is kept aside, of which no more is kept then, or a new one.
    fn kept_or_new(&mut self, kept: Variable, class: usize) -> Result<ir::Value, Error> {
        let address = self.builder.use_var(kept);
        let none = self.builder.create_block();
        let ready = self.builder.create_block();
        let result = self.builder.append_block_param(ready, types::I64);
        self.builder.ins().brif(address, ready, &[BlockArg::Value(address)], none, &[]);
        self.builder.switch_to_block(none);
        let address = self.allocate(class)?;
        self.builder.ins().jump(ready, &[BlockArg::Value(address)]);
        self.builder.switch_to_block(ready);
        self.keep_nothing(kept);
        Ok(result)
    }

    /// No box is kept aside from here on.
    pub(in crate::codegen) fn keep_nothing(&mut self, kept: Variable) {
        let null = self.builder.ins().iconst(types::I64, 0);
        self.builder.def_var(kept, null);
    }

    /// Takes a box from the free list of its class.
    pub(in crate::codegen) fn allocate(&mut self, class: usize) -> Result<ir::Value, Error> {
        let list = (class * layout::WORD) as i32;
        let lists = self.home(self.unit.heap);
        let first = self.builder.ins().load(types::I64, TRUSTED, lists, list);
        let refill = self.builder.create_block();
        let ready = self.builder.create_block();
        let address = self.builder.append_block_param(ready, types::I64);
        self.builder.set_cold_block(refill);
        self.builder.ins().brif(first, ready, &[BlockArg::Value(first)], refill, &[]);

        self.builder.switch_to_block(refill);
        self.prepare_complaint();
        let number = self.builder.ins().iconst(types::I64, class as i64);
        self.call_external(External::Slow("vlad_refill"), &[number])?;
        let first = self.builder.ins().load(types::I64, TRUSTED, lists, list);
        self.builder.ins().jump(ready, &[BlockArg::Value(first)]);

        self.builder.switch_to_block(ready);
        let next = self.builder.ins().load(types::I64, TRUSTED, address, 0);
        self.builder.ins().store(TRUSTED, next, lists, list);
        Ok(address)
    }

    /// Where in a box a field is.
    pub(in crate::codegen) fn field_offset(&self, sum: SumId, tag: u32, index: u32) -> i32 {
        let alternative = self.unit.sums[sum].alternatives[tag as usize].as_ref();
        alternative.expect("an alternative with a field is a box").offsets[index as usize]
    }

    /// A field of a box.
    pub(in crate::codegen) fn field(
        &mut self,
        sum: SumId,
        tag: u32,
        index: u32,
        ty: ir::Type,
        address: ir::Value,
    ) -> ir::Value {
        let offset = self.field_offset(sum, tag, index);
        self.builder.ins().load(ty, TRUSTED, address, offset)
    }

    /// The address of a field of a box.
    pub(in crate::codegen) fn hole(&mut self, sum: SumId, tag: u32, index: u32, address: ir::Value) -> ir::Value {
        let offset = self.field_offset(sum, tag, index);
        self.builder.ins().iadd_imm_s(address, i64::from(offset))
    }

    /// The tag of a value.
    pub(in crate::codegen) fn tag(&mut self, sum: SumId, value: ir::Value) -> ir::Value {
        let layout = &self.unit.sums[sum];
        let (immediates, only_box) = (layout.has_immediates(), layout.only_box());
        if !layout.has_boxes() {
            return value;
        }
        match (immediates, only_box) {
            (false, Some(tag)) => self.builder.ins().iconst(types::I64, tag as i64),
            (false, None) => self.header_tag(value),
            (true, Some(tag)) => {
                let tag = self.builder.ins().iconst(types::I64, tag as i64);
                let is_immediate = self.is_immediate(value);
                self.builder.ins().select(is_immediate, value, tag)
            }
            (true, None) => {
                let done = self.builder.create_block();
                let boxed = self.builder.create_block();
                let tag = self.builder.append_block_param(done, types::I64);
                let is_immediate = self.is_immediate(value);
                self.builder.ins().brif(is_immediate, done, &[BlockArg::Value(value)], boxed, &[]);
                self.builder.switch_to_block(boxed);
                let in_header = self.header_tag(value);
                self.builder.ins().jump(done, &[BlockArg::Value(in_header)]);
                self.builder.switch_to_block(done);
                tag
            }
        }
    }

    /// Whether a value is the alternative with this tag.
    pub(in crate::codegen) fn has_tag(&mut self, sum: SumId, tag: u32, value: ir::Value) -> ir::Value {
        let layout = &self.unit.sums[sum];
        let is_box = layout.alternatives[tag as usize].is_some();
        let (immediates, only_box) = (layout.has_immediates(), layout.only_box().is_some());
        if !is_box {
            return self.builder.ins().icmp_imm_u(IntCC::Equal, value, i64::from(tag));
        }
        match (immediates, only_box) {
            (false, true) => self.builder.ins().iconst(types::I8, 1),
            (false, false) => self.header_tag_is(value, tag),
            (true, true) => {
                self.builder.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, value, layout::IMMEDIATES as i64)
            }
            (true, false) => {
                let done = self.builder.create_block();
                let boxed = self.builder.create_block();
                let result = self.builder.append_block_param(done, types::I8);
                let is_immediate = self.is_immediate(value);
                let no = self.builder.ins().iconst(types::I8, 0);
                self.builder.ins().brif(is_immediate, done, &[BlockArg::Value(no)], boxed, &[]);
                self.builder.switch_to_block(boxed);
                let same = self.header_tag_is(value, tag);
                self.builder.ins().jump(done, &[BlockArg::Value(same)]);
                self.builder.switch_to_block(done);
                result
            }
        }
    }

    fn header_tag(&mut self, address: ir::Value) -> ir::Value {
        self.builder.ins().uload16(types::I64, TRUSTED, address, layout::TAG_OFFSET)
    }

    fn header_tag_is(&mut self, address: ir::Value, tag: u32) -> ir::Value {
        let found = self.builder.ins().load(types::I16, TRUSTED, address, layout::TAG_OFFSET);
        self.builder.ins().icmp_imm_u(IntCC::Equal, found, i64::from(tag))
    }

    pub(in crate::codegen) fn is_immediate(&mut self, value: ir::Value) -> ir::Value {
        self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, value, layout::IMMEDIATES as i64)
    }

    /// One more owner.
    pub(in crate::codegen) fn retain(&mut self, value: ir::Value) {
        let boxed = self.builder.create_block();
        let done = self.builder.create_block();
        let is_immediate = self.is_immediate(value);
        self.builder.ins().brif(is_immediate, done, &[], boxed, &[]);
        self.builder.switch_to_block(boxed);
        self.count(value, 1);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
    }

    /// One owner less.
    pub(in crate::codegen) fn release(&mut self, value: ir::Value) -> Result<(), Error> {
        let boxed = self.builder.create_block();
        let shared = self.builder.create_block();
        let last = self.builder.create_block();
        let done = self.builder.create_block();
        let is_immediate = self.is_immediate(value);
        self.builder.ins().brif(is_immediate, done, &[], boxed, &[]);

        self.builder.switch_to_block(boxed);
        let count = self.builder.ins().load(types::I32, TRUSTED, value, layout::COUNT_OFFSET);
        let is_last = self.builder.ins().icmp_imm_u(IntCC::Equal, count, 1);
        self.builder.ins().brif(is_last, last, &[], shared, &[]);

        self.builder.switch_to_block(shared);
        let count = self.builder.ins().iadd_imm_s(count, -1);
        self.builder.ins().store(TRUSTED, count, value, layout::COUNT_OFFSET);
        self.builder.ins().jump(done, &[]);

        self.builder.switch_to_block(last);
        self.call_external(External::Free, &[value])?;
        self.builder.ins().jump(done, &[]);

        self.builder.switch_to_block(done);
        Ok(())
    }

    /// One owner less for a box of a known alternative, some of whose fields have been read and get an owner.
    ///
    /// If it was the last owner, the fields' owner is the box's former one, and the box itself is kept aside or goes to
    /// its free list.
    pub(in crate::codegen) fn release_known(
        &mut self,
        value: Value,
        known: &KnownRelease,
        keeps: bool,
    ) -> Result<(), Error> {
        let address = self.value(value);
        let layout = self.unit.sums[known.sum].alternatives[known.tag as usize].clone();
        let layout = layout.expect("an alternative with a field is a box");
        let types = self.unit.program.sums[known.sum].fields(known.tag);
        let dying: Vec<i32> = known.dying(types).into_iter().map(|field| layout.offsets[field]).collect();
        let shared = self.builder.create_block();
        let last = self.builder.create_block();
        let done = self.builder.create_block();
        let count = self.builder.ins().load(types::I32, TRUSTED, address, layout::COUNT_OFFSET);
        let is_last = self.builder.ins().icmp_imm_u(IntCC::Equal, count, 1);
        self.builder.ins().brif(is_last, last, &[], shared, &[]);

        let kept = self.kept.get(&layout.class).copied().filter(|_| keeps);

        self.builder.switch_to_block(shared);
        kept.iter().for_each(|kept| self.keep_nothing(*kept));
        let count = self.builder.ins().iadd_imm_s(count, -1);
        self.builder.ins().store(TRUSTED, count, address, layout::COUNT_OFFSET);
        for (_, value) in &known.moved {
            let value = self.value(*value);
            self.retain(value);
        }
        self.builder.ins().jump(done, &[]);

        self.builder.switch_to_block(last);
        if dying.len() > MANY_DYING && known.moved.is_empty() && kept.is_none() {
            self.call_external(External::Free, &[address])?;
        } else {
            for offset in dying {
                let field = self.builder.ins().load(types::I64, TRUSTED, address, offset);
                self.release(field)?;
            }
            match kept {
                Some(kept) => self.builder.def_var(kept, address),
                None => self.take_back(address, layout.class)?,
            }
        }
        self.builder.ins().jump(done, &[]);

        self.builder.switch_to_block(done);
        Ok(())
    }

    /// A box of this class that nobody owns any more goes back to where free boxes are.
    fn take_back(&mut self, address: ir::Value, class: usize) -> Result<(), Error> {
        if !layout::is_in_page(class) {
            let list = (class * layout::WORD) as i32;
            let lists = self.home(self.unit.heap);
            let first = self.builder.ins().load(types::I64, TRUSTED, lists, list);
            self.builder.ins().store(TRUSTED, first, address, 0);
            self.builder.ins().store(TRUSTED, address, lists, list);
            return Ok(());
        }
        let page = self.builder.ins().band_imm_s(address, -(layout::PAGE as i64));
        let first = self.builder.ins().load(types::I64, TRUSTED, page, layout::PAGE_FREE_OFFSET);
        self.builder.ins().store(TRUSTED, first, address, 0);
        self.builder.ins().store(TRUSTED, address, page, layout::PAGE_FREE_OFFSET);
        let is_only = self.builder.create_block();
        let done = self.builder.create_block();
        self.builder.set_cold_block(is_only);
        self.builder.ins().brif(first, done, &[], is_only, &[]);
        self.builder.switch_to_block(is_only);
        self.call_external(External::Slow("vlad_queue_page"), &[page])?;
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
        Ok(())
    }
}
