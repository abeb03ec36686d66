//! Boxes that are made only to be stored in another box, or in an element of a vector, become part of it: SSA → SSA.
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
//! - every box or element of a vector that has the field is given a box of the same sum, which has one alternative, is
//!   made in the same function and used for nothing else, so that there is one box less, and
//! - whoever reads the field only looks at fields of what it finds, so that nobody has to make the box again.
//!
//! A box of a sum with one alternative whose only field is a pointer is that pointer.
//!
//! Invariant: of two sums that contain each other, one is unboxed at a time, so that the pass ends.
//!
//! Tests: `tests/opt/unbox-fields/`.

use crate::base::EntityVec;
use crate::opt::analysis::holders::{Field, Holder, holders, read_from, reads, stores};
use crate::opt::edit::rewrite;
use crate::opt::edit::rewrite::{Definitions, Replacements, use_counts};
use crate::opt::layout::sole_alternatives::drop_others;
use crate::ssa::ir::{Function, Inst, Op, Program, Sum, SumId, Type, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// A box has so many fields at most, since code that makes one mentions each.
const MAX_FIELDS: usize = 128;

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let changed = drop_others(program) | see_through(program);
    let plan = Plan::new(program);
    if plan.inner.is_empty() {
        return changed;
    }
    let Program { functions, sums, .. } = program;
    for function in functions.values_mut() {
        plan.rewrite(sums, function);
    }
    plan.rewrite_layouts(program);
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
        if rewrite::see_through(function, |sum, _| is_transparent(sum)) {
            changed = true;
            for inst in function.blocks.values_mut().flat_map(|block| &mut block.insts) {
                let constant = match inst.op {
                    Op::HasTag(sum, tag) if is_transparent(sum) => Op::ConstBool(tag == 0),
                    Op::Tag(sum) if is_transparent(sum) => Op::ConstInt(0),
                    _ => continue,
                };
                (inst.op, inst.args) = (constant, Values::new());
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
        let field_read = |value: Value| {
            let is_pointer = function.values[value] == Type::Ptr;
            definitions.op(function, value).filter(|_| is_pointer).and_then(reads)
        };
        for block in function.blocks.values() {
            for inst in &block.insts {
                if let Some((holder, first)) = stores(inst.op) {
                    for (field, arg) in
                        (0..).zip(&inst.args[first..]).filter(|(_, arg)| function.values[**arg] == Type::Ptr)
                    {
                        let stored = match definitions.op(function, *arg) {
                            Some(Op::Box(inner, 0))
                                if uses[*arg] == 1 && program.sums[inner].alternatives.len() == 1 =>
                            {
                                Some(inner)
                            }
                            _ => None,
                        };
                        Evidence::note(&mut self.stored, &mut self.excluded, (holder, field), stored);
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
        let (mut outer, mut inner_sums) = (FxHashSet::default(), FxHashSet::default());
        for (holder, fields) in holders(program) {
            let mut length = fields.len();
            for field in (0..).take(fields.len()).map(|field| (holder, field)) {
                let Some(inner) = evidence.stored.get(&field).filter(|_| !evidence.excluded.contains(&field)) else {
                    continue;
                };
                let is_read_as_another = evidence.read.get(&field).is_some_and(|read| read != inner);
                let longer = length + program.sums[*inner].fields(0).len() - 1;
                let own = match holder {
                    Holder::Alternative(sum, _) => Some(sum),
                    Holder::Elements(_) => None,
                };
                let is_free = own.is_none_or(|own| own != *inner && !inner_sums.contains(&own));
                if is_read_as_another || !is_free || outer.contains(inner) || longer > MAX_FIELDS {
                    continue;
                }
                length = longer;
                outer.extend(own);
                inner_sums.insert(*inner);
                plan.inner.insert(field, *inner);
            }
        }
        let changed: FxHashSet<Holder> = plan.inner.keys().map(|(holder, _)| *holder).collect();
        for (holder, fields) in holders(program).filter(|(holder, _)| changed.contains(holder)) {
            let mut position = 0;
            for field in (0..).take(fields.len()).map(|field| (holder, field)) {
                plan.positions.insert(field, position);
                let length = plan.inner.get(&field).map_or(1, |inner| program.sums[*inner].fields(0).len());
                position += u32::try_from(length).expect("few fields");
            }
        }
        plan
    }

    fn rewrite(&self, sums: &EntityVec<SumId, Sum>, function: &mut Function) {
        let mut boxes: FxHashMap<Value, Values> = FxHashMap::default();
        // Values found in fields that are replaced: what reads them, and the field.
        let mut found: FxHashMap<Value, (Inst, Field)> = FxHashMap::default();
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            match inst.op {
                Op::Box(_, 0) => drop(boxes.insert(inst.results[0], inst.args.clone())),
                op => {
                    if let Some(field) = reads(op).filter(|field| self.inner.contains_key(field)) {
                        found.insert(inst.results[0], (inst.clone(), field));
                    }
                }
            }
        }
        // The fields of what is found in elements of vectors.
        let mut parts: FxHashMap<(Value, u32), Value> = FxHashMap::default();
        for id in function.blocks.ids() {
            let mut insts = Vec::new();
            for mut inst in std::mem::take(&mut function.blocks[id].insts) {
                match inst.results.first().and_then(|value| found.get(value)) {
                    Some((_, (Holder::Elements(_), _))) => {
                        self.read_parts(sums, function, &inst, &mut insts, &mut parts);
                    }
                    Some(_) => {}
                    None => {
                        self.rewrite_inst(&mut inst, &boxes, &found);
                        insts.push(inst);
                    }
                }
            }
            function.blocks[id].insts = insts;
        }
        if parts.is_empty() {
            return;
        }
        let mut replacements = Replacements::new(function);
        for block in function.blocks.values_mut() {
            block.insts.retain(|inst| {
                let part = match inst.op {
                    Op::Field(_, _, field) => parts.get(&(inst.args[0], field)),
                    _ => None,
                };
                part.map(|part| replacements.replace(inst.results[0], *part)).is_none()
            });
        }
        replacements.apply(function);
    }

    /// Reads all fields of what was in a field of an element, where that was read: later the element may be another
    /// one, and nobody should have to keep the vector as it was.
    fn read_parts(
        &self,
        sums: &EntityVec<SumId, Sum>,
        function: &mut Function,
        inst: &Inst,
        insts: &mut Vec<Inst>,
        parts: &mut FxHashMap<(Value, u32), Value>,
    ) {
        let Some((field, inner)) = reads(inst.op).and_then(|field| Some((field, self.inner.get(&field)?))) else {
            return;
        };
        for (part, ty) in (0..).zip(sums[*inner].fields(0)) {
            let value = function.values.push(*ty);
            let op = read_from(inst.op, self.positions[&field] + part);
            insts.push(Inst { op, args: inst.args.clone(), results: smallvec![value], span: inst.span });
            parts.insert((inst.results[0], part), value);
        }
    }

    fn rewrite_inst(&self, inst: &mut Inst, boxes: &FxHashMap<Value, Values>, found: &FxHashMap<Value, (Inst, Field)>) {
        if let Some((holder, first)) = stores(inst.op) {
            let args = std::mem::take(&mut inst.args);
            inst.args.extend_from_slice(&args[..first]);
            for (field, arg) in (0..).zip(&args[first..]) {
                match boxes.get(arg).filter(|_| self.inner.contains_key(&(holder, field))) {
                    Some(fields) => inst.args.extend_from_slice(fields),
                    None => inst.args.push(*arg),
                }
            }
        } else if let Some(field) = reads(inst.op) {
            match found.get(&inst.args[0]) {
                Some((outer, place @ (Holder::Alternative(..), _))) => {
                    inst.op = read_from(outer.op, self.positions[place] + field.1);
                    inst.args = outer.args.clone();
                }
                // These have been read already.
                Some((_, (Holder::Elements(_), _))) => {}
                None => {
                    if let Some(position) = self.positions.get(&field) {
                        inst.op = read_from(inst.op, *position);
                    }
                }
            }
        }
    }

    fn rewrite_layouts(&self, program: &mut Program) {
        for (holder, field) in self.positions.keys().copied().filter(|(_, field)| *field == 0) {
            let before = match holder {
                Holder::Alternative(sum, tag) => program.sums[sum].fields(tag).to_vec(),
                Holder::Elements(vector) => program.vectors[vector].fields.clone(),
            };
            let fields = (field..).zip(before).flat_map(|(field, ty)| match self.inner.get(&(holder, field)) {
                Some(inner) => program.sums[*inner].fields(0).to_vec(),
                None => vec![ty],
            });
            let fields = fields.collect();
            match holder {
                Holder::Alternative(sum, tag) => program.sums[sum].alternatives[tag as usize].fields = fields,
                Holder::Elements(vector) => program.vectors[vector].fields = fields,
            }
        }
    }
}
