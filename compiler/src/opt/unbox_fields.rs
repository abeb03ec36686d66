//! Boxes that are made only to be stored in another box become part of it: SSA → SSA.
//!
//! ```text
//! sum sum0 = "node"(ptr, ptr)              sum sum0 = "node"(f64, f64, ptr)
//! sum sum1 = "pair"(f64, f64)
//!
//! v2 = box.sum1.0 v0, v1              →    v3 = box.sum0.0 v0, v1, v4
//! v3 = box.sum0.0 v2, v4
//! ...                                      ...
//! v6 = field.sum0.0.0 v5                   v7 = field.sum0.0.1 v5
//! v7 = field.sum1.0.1 v6
//! ```
//!
//! What is known but large is boxed before it is known how much of it is needed. A field is replaced by the fields of
//! what it holds where
//!
//! - every box that has the field is given a box of the same sum, which has one alternative, is made in the same
//!   function and used for nothing else, so that there is one box less, and
//! - whoever reads the field only looks at fields of what it finds, so that nobody has to make the box again.
//!
//! A box of a sum with one alternative whose only field is a pointer is that pointer.
//!
//! Invariant: of two sums that contain each other, one is unboxed at a time, so that the pass ends.
//!
//! Tests: `tests/opt/unbox-fields/`.

use crate::opt::data_flow::Field;
use crate::opt::rewrite::{Definitions, Replacements, use_counts};
use crate::ssa::ir::{Function, Inst, Op, Program, SumId, Type, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};

/// A box has so many fields at most, since code that makes one mentions each.
const MAX_FIELDS: usize = 128;

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let changed = see_through(program);
    let plan = Plan::new(program);
    if plan.inner.is_empty() {
        return changed;
    }
    for function in program.functions.values_mut() {
        plan.rewrite(function);
    }
    plan.rewrite_sums(program);
    true
}

/// Lets the pointer in a box that holds nothing else stand for the box.
fn see_through(program: &mut Program) -> bool {
    let is_transparent = |sum: SumId| match &program.sums[sum].alternatives[..] {
        [only] => only.fields == [Type::Ptr],
        _ => false,
    };
    let mut changed = false;
    for function in program.functions.values_mut() {
        let mut replacements = Replacements::new(function);
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            match inst.op {
                Op::Box(sum, 0) | Op::Field(sum, 0, 0) if is_transparent(sum) => {
                    let by = replacements.resolve(inst.args[0]);
                    replacements.replace(inst.results[0], by);
                }
                _ => {}
            }
        }
        if replacements.apply(function) {
            changed = true;
            for block in function.blocks.values_mut() {
                block.insts.retain(|inst| match inst.op {
                    Op::Box(sum, 0) | Op::Field(sum, 0, 0) => !is_transparent(sum),
                    _ => true,
                });
                for inst in &mut block.insts {
                    let constant = match inst.op {
                        Op::HasTag(sum, tag) if is_transparent(sum) => Op::ConstBool(tag == 0),
                        Op::Tag(sum) if is_transparent(sum) => Op::ConstInt(0),
                        _ => continue,
                    };
                    (inst.op, inst.args) = (constant, Values::new());
                }
            }
        }
    }
    changed
}

/// Which fields to replace.
struct Plan {
    /// By field, the sum of the boxes that it holds.
    inner: FxHashMap<Field, SumId>,
    /// The position of every field of the alternatives concerned, after the change.
    positions: FxHashMap<Field, u32>,
}

/// What has been seen in fields.
#[derive(Default)]
struct Evidence {
    /// The sum of the boxes stored in the field.
    stored: FxHashMap<Field, SumId>,
    /// The sum whose fields are read of what is found in the field.
    read: FxHashMap<Field, SumId>,
    /// Fields that hold something else, or whose contents are used otherwise.
    excluded: FxHashSet<Field>,
}

impl Evidence {
    fn note(table: &mut FxHashMap<Field, SumId>, excluded: &mut FxHashSet<Field>, field: Field, sum: Option<SumId>) {
        match sum {
            Some(sum) if *table.entry(field).or_insert(sum) == sum => {}
            _ => drop(excluded.insert(field)),
        }
    }

    fn collect(&mut self, program: &Program, function: &Function) {
        let definitions = Definitions::new(function);
        let uses = use_counts(function);
        let field_read = |value: Value| match definitions.op(function, value)? {
            Op::Field(sum, tag, field) if function.values[value] == Type::Ptr => Some((sum, tag, field)),
            _ => None,
        };
        for block in function.blocks.values() {
            for inst in &block.insts {
                if let Op::Box(sum, tag) = inst.op {
                    for (field, arg) in (0..).zip(&inst.args).filter(|(_, arg)| function.values[**arg] == Type::Ptr) {
                        let stored = match definitions.op(function, *arg) {
                            Some(Op::Box(inner, 0))
                                if uses[*arg] == 1 && program.sums[inner].alternatives.len() == 1 =>
                            {
                                Some(inner)
                            }
                            _ => None,
                        };
                        Evidence::note(&mut self.stored, &mut self.excluded, (sum, tag, field), stored);
                    }
                }
                for field in inst.args.iter().filter_map(|arg| field_read(*arg)) {
                    let read = match inst.op {
                        Op::Field(inner, 0, _) => Some(inner),
                        _ => None,
                    };
                    Evidence::note(&mut self.read, &mut self.excluded, field, read);
                }
            }
            block.terminator.for_each_value(|value| self.excluded.extend(field_read(value)));
        }
    }
}

impl Plan {
    fn new(program: &Program) -> Plan {
        let mut evidence = Evidence::default();
        program.functions.values().for_each(|function| evidence.collect(program, function));
        let mut plan = Plan { inner: FxHashMap::default(), positions: FxHashMap::default() };
        let (mut outer_sums, mut inner_sums) = (FxHashSet::default(), FxHashSet::default());
        for (sum, data) in program.sums.iter() {
            for (tag, alternative) in (0..).zip(&data.alternatives) {
                let mut length = alternative.fields.len();
                for field in (0..).take(alternative.fields.len()).map(|field| (sum, tag, field)) {
                    let Some(inner) = evidence.stored.get(&field).filter(|_| !evidence.excluded.contains(&field))
                    else {
                        continue;
                    };
                    let is_read_as_another = evidence.read.get(&field).is_some_and(|read| read != inner);
                    let longer = length + program.sums[*inner].fields(0).len() - 1;
                    let is_free = *inner != sum && !inner_sums.contains(&sum) && !outer_sums.contains(inner);
                    if is_read_as_another || !is_free || longer > MAX_FIELDS {
                        continue;
                    }
                    length = longer;
                    outer_sums.insert(sum);
                    inner_sums.insert(*inner);
                    plan.inner.insert(field, *inner);
                }
            }
        }
        for sum in outer_sums {
            for (tag, alternative) in (0..).zip(&program.sums[sum].alternatives) {
                let mut position = 0;
                for field in (0..).take(alternative.fields.len()).map(|field| (sum, tag, field)) {
                    plan.positions.insert(field, position);
                    let length = plan.inner.get(&field).map_or(1, |inner| program.sums[*inner].fields(0).len());
                    position += u32::try_from(length).expect("few fields");
                }
            }
        }
        plan
    }

    fn rewrite(&self, function: &mut Function) {
        let mut boxes: FxHashMap<Value, Values> = FxHashMap::default();
        // Values found in fields that are replaced: the box that has the field, and the field.
        let mut found: FxHashMap<Value, (Value, Field)> = FxHashMap::default();
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            match inst.op {
                Op::Box(_, 0) => drop(boxes.insert(inst.results[0], inst.args.clone())),
                Op::Field(sum, tag, field) if self.inner.contains_key(&(sum, tag, field)) => {
                    found.insert(inst.results[0], (inst.args[0], (sum, tag, field)));
                }
                _ => {}
            }
        }
        for block in function.blocks.values_mut() {
            block.insts.retain(|inst| inst.results.first().is_none_or(|value| !found.contains_key(value)));
            block.insts.iter_mut().for_each(|inst| self.rewrite_inst(inst, &boxes, &found));
        }
    }

    fn rewrite_inst(
        &self,
        inst: &mut Inst,
        boxes: &FxHashMap<Value, Values>,
        found: &FxHashMap<Value, (Value, Field)>,
    ) {
        match inst.op {
            Op::Box(sum, tag) => {
                let args = std::mem::take(&mut inst.args);
                for (field, arg) in (0..).zip(args) {
                    match boxes.get(&arg).filter(|_| self.inner.contains_key(&(sum, tag, field))) {
                        Some(fields) => inst.args.extend_from_slice(fields),
                        None => inst.args.push(arg),
                    }
                }
            }
            Op::Field(sum, tag, field) => match found.get(&inst.args[0]) {
                Some((outer, place)) => {
                    inst.op = Op::Field(place.0, place.1, self.positions[place] + field);
                    inst.args[0] = *outer;
                }
                None => {
                    if let Some(position) = self.positions.get(&(sum, tag, field)) {
                        inst.op = Op::Field(sum, tag, *position);
                    }
                }
            },
            _ => {}
        }
    }

    fn rewrite_sums(&self, program: &mut Program) {
        for (sum, tag, field) in self.positions.keys().copied().filter(|(_, _, field)| *field == 0) {
            let before = program.sums[sum].fields(tag).to_vec();
            let fields = (field..).zip(before).flat_map(|(field, ty)| match self.inner.get(&(sum, tag, field)) {
                Some(inner) => program.sums[*inner].fields(0).to_vec(),
                None => vec![ty],
            });
            program.sums[sum].alternatives[tag as usize].fields = fields.collect();
        }
    }
}
