//! Boxed values: which alternatives their sum has in the SSA program, taking them apart, making them.
//!
//! ```text
//! shape    {leaf, node(x, choice)}, choice = {one(a), other(b, c)}
//! sum      "leaf" | "node one"(x, a) | "node other"(x, b, c)
//! ```
//!
//! A box has one tag: a choice within an alternative (the first one, if it has several) is a choice between
//! alternatives of the box. So what it holds is what the value needs, and neither a second tag nor room for what other
//! values need.

use crate::shape::lattice::{Alternative, Head, Shape, Shapes};
use crate::specialize::Specializer;
use crate::specialize::emit::{Emitter, target, u32_of};
use crate::specialize::layout::leaves::{Layout, Layouts};
use crate::ssa::ir::{self, Op, SumId, Terminator, Type, Value};
use std::ops::Range;
use std::rc::Rc;

/// An alternative of a shape for which the sum has several has so many at most...
const MAX_CASES: usize = 16;
/// ...and so many fields in all of them together, since code to take it apart and to make it mentions each.
const MAX_FIELDS: usize = 400;

/// A choice within an alternative.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Its shape, which is laid out as a union.
    pub shape: Shape,
    /// How many leaves of the alternative stand before it.
    pub start: usize,
    /// How many leaves it has.
    pub length: usize,
}

/// An alternative of a shape, as alternatives of its sum.
#[derive(Clone, Debug)]
pub struct Cases {
    /// Their tags.
    pub tags: Range<usize>,
    /// The choice that they make, if there are several.
    pub choice: Option<Choice>,
    /// The fields of each.
    pub fields: Vec<Vec<Type>>,
}

impl Layouts {
    /// The alternatives of a boxed shape, as alternatives of its sum.
    pub fn cases(&mut self, shapes: &Shapes, program: &mut ir::Program, shape: Shape) -> Rc<[Cases]> {
        if let Some(cases) = self.cases.get(&shape) {
            return Rc::clone(cases);
        }
        let mut next = 0;
        let mut all = Vec::new();
        for alternative in shapes.alternatives(shape).iter() {
            let leaves = self.types(shapes, program, alternative);
            let choice = self.choice(shapes, program, alternative).filter(|choice| {
                let cases = shapes.alternatives(choice.shape).len();
                cases <= MAX_CASES && cases * leaves.len() <= MAX_FIELDS
            });
            let fields = match choice {
                None => vec![leaves],
                Some(Choice { shape, start, length }) => {
                    let (before, after) = (&leaves[..start], &leaves[start + length..]);
                    let fields = |inner| [before, &self.types(shapes, program, inner), after].concat();
                    shapes.alternatives(shape).iter().map(fields).collect()
                }
            };
            let tags = next..next + fields.len();
            next = tags.end;
            all.push(Cases { tags, choice, fields });
        }
        let cases: Rc<[Cases]> = all.into();
        self.cases.insert(shape, Rc::clone(&cases));
        cases
    }

    /// The first choice among the parts of an alternative.
    fn choice(&mut self, shapes: &Shapes, program: &mut ir::Program, alternative: &Alternative) -> Option<Choice> {
        // What vectors hold is in boxes of their own.
        if alternative.head.holds_elements() || matches!(alternative.head, Head::OneHot(_)) {
            return None;
        }
        let mut start = 0;
        for child in alternative.children.iter() {
            let length = self.leaves(shapes, program, *child).len();
            match self.layout(shapes, program, *child) {
                Layout::Union { .. } => return Some(Choice { shape: *child, start, length }),
                Layout::Product => {
                    // Parts of long rows are asked about again and again.
                    let known = self.choices.get(child).copied();
                    let found = known.unwrap_or_else(|| {
                        let only = shapes.single(*child);
                        let found = only.and_then(|only| self.choice(shapes, program, &only));
                        self.choices.insert(*child, found);
                        found
                    });
                    if let Some(choice) = found {
                        return Some(Choice { start: start + choice.start, ..choice });
                    }
                }
                Layout::Boxed(_) => {}
            }
            start += length;
        }
        None
    }
}

impl Specializer<'_> {
    /// The alternatives of a boxed shape, as alternatives of its sum.
    pub fn cases(&mut self, shape: Shape) -> Rc<[Cases]> {
        self.layouts.cases(&self.flow.shapes, &mut self.out, shape)
    }

    /// The leaves of a boxed value, which is known to be one case of an alternative.
    fn fields(&mut self, e: &mut Emitter, sum: SumId, value: &[Value], cases: &Cases, case: usize) -> Vec<Value> {
        let tag = u32_of(cases.tags.start + case);
        let field = |(index, ty): (usize, &Type)| e.value(Op::Field(sum, tag, u32_of(index)), value, *ty);
        let mut leaves: Vec<Value> = cases.fields[case].iter().enumerate().map(field).collect();
        if let Some(choice) = cases.choice {
            let alternative = self.flow.shapes.alternatives(choice.shape)[case].clone();
            let length = self.layouts.alternative(&self.flow.shapes, &mut self.out, &alternative).len();
            let own = leaves.splice(choice.start..choice.start + length, []).collect();
            let inner = self.build(e, choice.shape, case, own);
            leaves.splice(choice.start..choice.start, inner.leaves);
        }
        leaves
    }

    /// Control goes on in the block of the alternative that a boxed value is. What alternatives with several cases hold
    /// is passed to their blocks, which have parameters for it.
    pub fn switch_box(
        &mut self,
        e: &mut Emitter,
        sum: SumId,
        shape: Shape,
        value: &[Value],
        blocks: &[Option<ir::BlockId>],
    ) {
        let all = self.cases(shape);
        let mut open = Vec::new();
        let mut targets = Vec::new();
        let mut nowhere = None;
        for (cases, block) in all.iter().zip(blocks) {
            for case in 0..cases.fields.len() {
                let block = match block {
                    Some(block) if cases.choice.is_some() => {
                        let own = e.new_block(&[]);
                        open.push((own, cases.clone(), case, *block));
                        own
                    }
                    Some(block) => *block,
                    None => *nowhere.get_or_insert_with(|| e.new_block(&[])),
                };
                targets.push(target(block));
            }
        }
        let tag = e.value(Op::Tag(sum), value, Type::Int);
        e.terminate(Terminator::Switch(tag, targets));
        for (own, cases, case, block) in open {
            e.switch_to(own);
            let leaves = self.fields(e, sum, value, &cases, case);
            e.jump(block, leaves);
        }
    }

    /// The leaves of a boxed value, which is known to be the alternative at position `tag`.
    pub fn open_box(&mut self, e: &mut Emitter, sum: SumId, shape: Shape, value: &[Value], tag: usize) -> Vec<Value> {
        let all = self.cases(shape);
        if all[tag].choice.is_none() {
            return self.fields(e, sum, value, &all[tag], 0);
        }
        let alternative = self.flow.shapes.alternatives(shape)[tag].clone();
        let types = self.layouts.types(&self.flow.shapes, &mut self.out, &alternative);
        let join = e.new_block(&types);
        let blocks: Vec<_> = (0..all.len()).map(|other| (other == tag).then_some(join)).collect();
        self.switch_box(e, sum, shape, value, &blocks);
        e.switch_to(join);
        e.function.blocks[join].params.clone()
    }

    /// A box, or an immediate, for the alternative at position `tag`, from its leaves.
    pub fn make_box(&mut self, e: &mut Emitter, sum: SumId, shape: Shape, tag: usize, leaves: &[Value]) -> Value {
        let cases = self.cases(shape)[tag].clone();
        let make = |e: &mut Emitter, case: usize, fields: &[Value]| {
            let tag = u32_of(cases.tags.start + case);
            let op = if fields.is_empty() { Op::Immediate(sum, tag) } else { Op::Box(sum, tag) };
            e.value(op, fields, Type::Ptr)
        };
        let Some(Choice { shape, start, length }) = cases.choice else { return make(e, 0, leaves) };
        let (before, after) = (&leaves[..start], &leaves[start + length..]);
        let choice = &leaves[start..start + length];
        let blocks: Vec<_> = cases.fields.iter().map(|_| e.new_block(&[])).collect();
        e.terminate(Terminator::Switch(choice[0], blocks.iter().map(|block| target(*block)).collect()));
        let join = e.new_block(&[Type::Ptr]);
        for (case, block) in blocks.into_iter().enumerate() {
            e.switch_to(block);
            let own = self.union_leaves(shape, choice, case);
            let made = make(e, case, &[before, &own, after].concat());
            e.jump(join, vec![made]);
        }
        e.switch_to(join);
        e.function.blocks[join].params[0]
    }
}
