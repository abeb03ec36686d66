//! The layout of boxes: where each field of each alternative of each sum stands in memory.
//!
//! Pointer fields stand first, so that the run time can release them without knowing the sum (see
//! [`crate::codegen::layout`]); otherwise fields keep their order. Every field takes a word.

use crate::base::EntityVec;
use crate::codegen::{Error, layout};
use crate::ssa::ir::{Alternative, Program, Sum, SumId, Type};

/// The layout of a boxed alternative.
#[derive(Clone, Debug)]
pub struct BoxLayout {
    /// The header of a new box.
    pub header: u64,
    /// The size class.
    pub class: usize,
    /// Number of pointer fields.
    pub pointers: usize,
    /// The offset of every field in bytes.
    pub offsets: Vec<i32>,
}

/// The layout of a sum.
#[derive(Clone, Debug)]
pub struct SumLayout {
    /// One entry for each alternative; `None` for those without fields, which are immediates.
    pub alternatives: Vec<Option<BoxLayout>>,
}

impl SumLayout {
    /// The tag of the one alternative that is a box; `None` when there are none or several.
    pub fn only_box(&self) -> Option<usize> {
        let mut boxes = self.alternatives.iter().enumerate().filter(|(_, layout)| layout.is_some());
        let first = boxes.next()?.0;
        boxes.next().is_none().then_some(first)
    }
    /// Whether some alternative is an immediate.
    pub fn has_immediates(&self) -> bool {
        self.alternatives.iter().any(Option::is_none)
    }
    /// Whether some alternative is a box.
    pub fn has_boxes(&self) -> bool {
        self.alternatives.iter().any(Option::is_some)
    }
}

/// The layouts of all sums of the program.
pub fn layouts(program: &Program) -> Result<EntityVec<SumId, SumLayout>, Error> {
    program.sums.values().map(sum_layout).collect::<Result<Vec<_>, _>>().map(EntityVec::from_iter)
}

fn sum_layout(sum: &Sum) -> Result<SumLayout, Error> {
    let count = sum.alternatives.len();
    let immediate_tags_fit =
        sum.alternatives.iter().rposition(|a| a.fields.is_empty()).is_none_or(|tag| (tag as u64) < layout::IMMEDIATES);
    if count > layout::MAX_TAGS || !immediate_tags_fit {
        return Err(Error::TooLarge { what: format!("values of {count} kinds meet in one place") });
    }
    let alternatives =
        sum.alternatives.iter().enumerate().map(|(tag, alternative)| box_layout(tag as u32, alternative));
    Ok(SumLayout { alternatives: alternatives.collect::<Result<_, _>>()? })
}

fn box_layout(tag: u32, alternative: &Alternative) -> Result<Option<BoxLayout>, Error> {
    if alternative.fields.is_empty() {
        return Ok(None);
    }
    let is_pointer = |ty: &&Type| **ty == Type::Ptr;
    let pointers = alternative.fields.iter().filter(is_pointer).count();
    let first = layout::header_words(pointers);
    let words = first + alternative.fields.len();
    if words > layout::MAX_WORDS {
        return Err(Error::TooLarge { what: format!("`{}` has {words} words", alternative.name) });
    }
    let (mut next_pointer, mut next_other) = (first, first + pointers);
    let offsets = alternative.fields.iter().map(|ty| {
        let next = if *ty == Type::Ptr { &mut next_pointer } else { &mut next_other };
        *next += 1;
        ((*next - 1) * layout::WORD) as i32
    });
    let offsets = offsets.collect();
    let class = layout::class_of(words);
    Ok(Some(BoxLayout { header: layout::header(pointers, class, tag), class, pointers, offsets }))
}
