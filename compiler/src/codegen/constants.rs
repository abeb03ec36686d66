//! Boxes that are known when the program is compiled → data of the object file.
//!
//! ```text
//! v1 = immediate.list.nil
//! v2 = real 2.0                     boxes:  header(2^31 owners), v1, 2.0
//! v3 = box.list.pair v2, v1    →            header(2^31 owners), address of the first one, 1.0
//! v4 = real 1.0
//! v5 = box.list.pair v4, v3                 v5 = boxes + 24; one more owner
//! ```
//!
//! A box whose fields are constants, or such boxes, is made once, by the linker. Its data hold so many owners that it
//! never dies; otherwise it is a box like any other, and code that takes it apart, retains or releases it need not
//! know. Constants that only such boxes use have no code, so that a list of thousands of numbers in a program costs
//! neither instructions nor time to compile them.

use crate::base::EntityVec;
use crate::codegen::boxes::{BoxLayout, SumLayout};
use crate::codegen::layout;
use crate::ssa::ir::{Function, Inst, Op, SumId, Value};
use cranelift_module::{DataDescription, DataId, Module};
use cranelift_object::ObjectModule;
use rustc_hash::FxHashMap;

/// Owners that nobody ever gives up, so that the last one never goes.
const NEVER_DIES: u64 = 1 << 31;

/// The constant boxes of a program.
#[derive(Debug, Default)]
pub struct Boxes {
    bytes: Vec<u8>,
    /// Where the address of a place among the boxes stands.
    addresses: Vec<(usize, usize)>,
}

/// A value that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Constant {
    /// The word that stands for it in a box.
    Word(u64),
    /// The box at this place.
    Box(usize),
}

/// The constants of one function.
#[derive(Debug, Default)]
pub struct Constants {
    known: FxHashMap<Value, Constant>,
    /// How often each value is used, and how often of these by boxes that are constants.
    uses: FxHashMap<Value, (usize, usize)>,
}

impl Constants {
    /// Finds the constants of a function and adds its constant boxes to those of the program.
    pub fn new(function: &Function, sums: &EntityVec<SumId, SumLayout>, boxes: &mut Boxes) -> Constants {
        let mut constants = Constants::default();
        // A constant is found before its uses where its block has the smaller number, as the entry has, where constants
        // gather; elsewhere a box stays code.
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            let constant = match inst.op {
                Op::ConstReal(bits) => Constant::Word(bits),
                Op::ConstBool(value) => Constant::Word(u64::from(value)),
                Op::ConstInt(value) => Constant::Word(value as u64),
                Op::Immediate(_, tag) => Constant::Word(u64::from(tag)),
                Op::Box(sum, tag) => {
                    let fields: Option<Vec<Constant>> =
                        inst.args.iter().map(|arg| constants.known.get(arg).copied()).collect();
                    let layout = sums[sum].alternatives[tag as usize].as_ref();
                    let (Some(fields), Some(layout)) = (fields, layout) else { continue };
                    inst.args.iter().for_each(|arg| constants.uses.entry(*arg).or_default().1 += 1);
                    Constant::Box(boxes.add(layout, &fields))
                }
                _ => continue,
            };
            constants.known.insert(inst.results[0], constant);
        }
        if !boxes.bytes.is_empty() {
            for block in function.blocks.values() {
                block.for_each_value(|value| constants.uses.entry(value).or_default().0 += 1);
            }
        }
        constants
    }

    /// Where the box that the instruction makes stands among the constant boxes, if it is one.
    pub fn place(&self, inst: &Inst) -> Option<usize> {
        match self.known.get(inst.results.first()?) {
            Some(Constant::Box(place)) => Some(*place),
            _ => None,
        }
    }

    /// Whether the instruction gives a constant that only constant boxes use.
    pub fn needs_no_code(&self, inst: &Inst) -> bool {
        let Some(value) = inst.results.first().filter(|value| self.known.contains_key(value)) else { return false };
        self.uses.get(value).is_some_and(|(all, by_boxes)| all == by_boxes && *by_boxes > 0)
    }

    /// The boxes that a constant box has been given the owners of, by code: those that are used otherwise, too.
    pub fn given<'i>(&self, inst: &'i Inst) -> impl Iterator<Item = Value> + use<'_, 'i> {
        let is_given = |arg: &Value| {
            matches!(self.known.get(arg), Some(Constant::Box(_)))
                && self.uses.get(arg).is_some_and(|(all, by_boxes)| all != by_boxes)
        };
        inst.args.iter().copied().filter(is_given)
    }
}

impl Boxes {
    /// Adds a box and returns its place.
    fn add(&mut self, layout: &BoxLayout, fields: &[Constant]) -> usize {
        let place = self.bytes.len();
        let size = layout::class_words(layout.class) * layout::WORD;
        self.bytes.resize(place + size, 0);
        let header = (layout.header & 0xffff_ffff) | NEVER_DIES << 32;
        self.write(place, header);
        if layout.pointers >= layout::MANY_POINTERS {
            self.write(place + layout::WORD, layout.pointers as u64);
        }
        for (field, offset) in fields.iter().zip(&layout.offsets) {
            let at = place + *offset as usize;
            match *field {
                Constant::Word(word) => self.write(at, word),
                Constant::Box(to) => self.addresses.push((at, to)),
            }
        }
        place
    }

    fn write(&mut self, at: usize, word: u64) {
        self.bytes[at..at + layout::WORD].copy_from_slice(&word.to_le_bytes());
    }

    /// The bytes, and where in them the address of which place stands.
    pub fn into_image(self) -> (Vec<u8>, Vec<(usize, usize)>) {
        (self.bytes, self.addresses)
    }

    /// The data, whose symbol is `id`.
    pub fn into_data(self, module: &mut ObjectModule, id: DataId) -> DataDescription {
        let mut data = DataDescription::new();
        // Empty data have no place in an object file.
        let bytes = if self.bytes.is_empty() { vec![0; layout::WORD] } else { self.bytes };
        data.define(bytes.into_boxed_slice());
        data.set_align(layout::WORD as u64);
        let start = module.declare_data_in_data(id, &mut data);
        for (at, to) in self.addresses {
            data.write_data_addr(at as u32, start, to as i64);
        }
        data
    }
}
