//! Dead parameters, results, fields (of boxes and of elements of vectors) and globals of the whole program: SSA → SSA.
//!
//! ```text
//! sum sum0 = "nil" | "node"(f64, f64, ptr)              sum sum0 = "nil" | "node"(f64, ptr)
//!
//! fn fn1(v0: f64, v1: f64, v2: ptr) -> ptr, f64 {       fn fn1(v0: f64, v2: ptr) -> ptr {
//!     v3 = box.sum0.1 v0, v1, v2                    →       v3 = box.sum0.1 v0, v2
//!     v4, v5 = call fn1(v0, v1, v3)                         v4 = call fn1(v0, v3)
//!     return v4, v5                                         return v4
//! ```
//!
//! One marking phase over the program: what an effect or a decision about control needs is live, and so is what
//! something live is computed from. A parameter is live when the function's code needs it, and then so are the
//! arguments of the calls that are live; a result is live when a call needs it; a field of an alternative is live when
//! a live `field` reads it, and then so is what live boxes hold there. Everything else goes: a parameter that is only
//! handed to itself, a result that nobody looks at, the parts of a tape that no derivative uses.
//!
//! The same holds for fields of elements of vectors and what live changes of vectors set them to, but elements keep one
//! field at least.
//!
//! Functions that call each other in tail position keep the same results, or the calls could not stay.
//!
//! Not done: decisions that only choose between values that are dead.
//!
//! Tests: `tests/opt/dead-across-calls/`.

use crate::base::{EntityVec, entity_id};
use crate::opt::analysis::effects::Effects;
use crate::opt::edit::rewrite::{keep, keep_params, keep_values};
use crate::ssa::ir::{
    BlockId, FuncId, Function, Op, Program, SlotId, SumId, Terminator, Type, Value, Values, VectorId,
};

/// Treats the whole program.
pub fn run(program: &mut Program, effects: &Effects) -> bool {
    let Some(main) = program.main else { return false };
    let mut marking = Marking::new(program, effects);
    marking.waiting.push(Item::Function(main));
    marking.finish();
    let live = marking.live;
    sweep(program, effects, &live)
}

entity_id! {
    /// A place that calls a function.
    SiteId, "site"
}

/// What was found to be needed.
struct Live {
    functions: EntityVec<FuncId, bool>,
    values: EntityVec<FuncId, EntityVec<Value, bool>>,
    results: EntityVec<FuncId, Vec<bool>>,
    /// By tag and position.
    fields: EntityVec<SumId, Vec<Vec<bool>>>,
    elements: EntityVec<VectorId, Vec<bool>>,
    slots: EntityVec<SlotId, bool>,
}

/// Something that was marked and whose consequences are to be marked.
#[derive(Clone, Copy)]
enum Item {
    /// The function runs.
    Function(FuncId),
    /// The call happens.
    Site(SiteId),
    Value(FuncId, Value),
    Result(FuncId, usize),
    Field(SumId, u32, u32),
    Element(VectorId, u32),
    Slot(SlotId),
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Source {
    Nothing,
    /// A parameter of the function.
    Argument(usize),
    /// A parameter of a block.
    Param(BlockId, usize),
    Inst(BlockId, usize),
    /// A result of a call.
    Result(SiteId, usize),
}

struct Site<'p> {
    caller: FuncId,
    callee: FuncId,
    args: &'p [Value],
    is_live: bool,
}

/// The fields that a box or an element of a vector is given, and the function that they belong to.
type Fields<'p> = (FuncId, &'p [Value]);

struct Marking<'p> {
    program: &'p Program,
    effects: &'p Effects,
    live: Live,
    sources: EntityVec<FuncId, EntityVec<Value, Source>>,
    sites: EntityVec<SiteId, Site<'p>>,
    /// The calls of each function, by the function called.
    calls_of: EntityVec<FuncId, Vec<SiteId>>,
    /// The calls that happen whenever the function runs, by the calling function.
    calls_that_stay: EntityVec<FuncId, Vec<SiteId>>,
    /// The functions that call each function in tail position.
    tail_callers: EntityVec<FuncId, Vec<FuncId>>,
    /// The arguments of the jumps to each block.
    jumps: EntityVec<FuncId, EntityVec<BlockId, Vec<&'p [Value]>>>,
    /// The live boxes of each alternative.
    boxes: EntityVec<SumId, Vec<Vec<Fields<'p>>>>,
    /// The live changes of each kind of vector.
    changes: EntityVec<VectorId, Vec<Fields<'p>>>,
    /// What running functions store in each cell.
    stores: EntityVec<SlotId, Vec<(FuncId, Value)>>,
    waiting: Vec<Item>,
}

impl<'p> Marking<'p> {
    fn new(program: &'p Program, effects: &'p Effects) -> Marking<'p> {
        let fields =
            program.sums.values().map(|sum| sum.alternatives.iter().map(|a| vec![false; a.fields.len()]).collect());
        let live = Live {
            functions: program.functions.same_ids(false),
            values: program.functions.values().map(|function| function.values.same_ids(false)).collect(),
            results: program.functions.values().map(|function| vec![false; function.results.len()]).collect(),
            fields: fields.collect(),
            elements: program.vectors.values().map(|vector| vec![false; vector.fields.len()]).collect(),
            slots: program.slots.same_ids(false),
        };
        let mut marking = Marking {
            program,
            effects,
            live,
            sources: EntityVec::new(),
            sites: EntityVec::new(),
            calls_of: program.functions.same_ids(Vec::new()),
            calls_that_stay: program.functions.same_ids(Vec::new()),
            tail_callers: program.functions.same_ids(Vec::new()),
            jumps: EntityVec::new(),
            boxes: program.sums.values().map(|sum| vec![Vec::new(); sum.alternatives.len()]).collect(),
            changes: program.vectors.same_ids(Vec::new()),
            stores: program.slots.same_ids(Vec::new()),
            waiting: Vec::new(),
        };
        program.functions.iter().for_each(|(id, function)| marking.index(id, function));
        marking
    }

    /// Notes definitions, jumps and calls of one function.
    fn index(&mut self, id: FuncId, function: &'p Function) {
        let mut sources = function.values.same_ids(Source::Nothing);
        let mut jumps = function.blocks.same_ids(Vec::new());
        for (block, data) in function.blocks.iter() {
            for (position, param) in data.params.iter().enumerate() {
                let is_entry = block == Function::ENTRY;
                sources[*param] = if is_entry { Source::Argument(position) } else { Source::Param(block, position) };
            }
            for (index, inst) in data.insts.iter().enumerate() {
                if let Op::Call(callee) = inst.op {
                    let site = self.site(id, callee, &inst.args, !self.effects.can_be_dropped(callee));
                    inst.results.iter().enumerate().for_each(|(i, value)| sources[*value] = Source::Result(site, i));
                } else {
                    inst.results.iter().for_each(|value| sources[*value] = Source::Inst(block, index));
                }
            }
            for target in data.terminator.targets() {
                jumps[target.block].push(&target.args[..]);
            }
            if let Terminator::TailCall(callee, args) = &data.terminator {
                self.site(id, *callee, args, true);
                self.tail_callers[*callee].push(id);
            }
        }
        self.sources.push(sources);
        self.jumps.push(jumps);
    }

    fn site(&mut self, caller: FuncId, callee: FuncId, args: &'p [Value], stays: bool) -> SiteId {
        let site = self.sites.push(Site { caller, callee, args, is_live: false });
        self.calls_of[callee].push(site);
        if stays {
            self.calls_that_stay[caller].push(site);
        }
        site
    }

    fn need(&mut self, function: FuncId, value: Value) {
        if !std::mem::replace(&mut self.live.values[function][value], true) {
            self.waiting.push(Item::Value(function, value));
        }
    }

    fn need_all(&mut self, function: FuncId, values: &[Value]) {
        values.iter().for_each(|value| self.need(function, *value));
    }

    fn need_result(&mut self, function: FuncId, position: usize) {
        if !std::mem::replace(&mut self.live.results[function][position], true) {
            self.waiting.push(Item::Result(function, position));
        }
    }

    fn need_field(&mut self, sum: SumId, tag: u32, field: u32) {
        if !std::mem::replace(&mut self.live.fields[sum][tag as usize][field as usize], true) {
            self.waiting.push(Item::Field(sum, tag, field));
        }
    }

    fn need_element(&mut self, vector: VectorId, field: u32) {
        if !std::mem::replace(&mut self.live.elements[vector][field as usize], true) {
            self.waiting.push(Item::Element(vector, field));
        }
    }

    fn need_slot(&mut self, slot: SlotId) {
        if !std::mem::replace(&mut self.live.slots[slot], true) {
            self.waiting.push(Item::Slot(slot));
        }
    }

    /// Marks until nothing new follows.
    fn finish(&mut self) {
        self.follow();
        // Vectors that are changed but never read keep the field that costs least.
        for vector in self.program.vectors.ids() {
            if !self.changes[vector].is_empty() && !self.live.elements[vector].contains(&true) {
                let fields = &self.program.vectors[vector].fields;
                let field = fields.iter().position(|ty| *ty != Type::Ptr).unwrap_or(0);
                self.need_element(vector, u32::try_from(field).expect("few fields"));
                return self.finish();
            }
        }
    }

    fn follow(&mut self) {
        while let Some(item) = self.waiting.pop() {
            match item {
                Item::Function(id) => self.function_runs(id),
                Item::Site(site) => self.call_happens(site),
                Item::Value(function, value) => self.value_is_needed(function, value),
                Item::Result(function, position) => self.result_is_needed(function, position),
                Item::Field(sum, tag, field) => {
                    for (function, args) in self.boxes[sum][tag as usize].clone() {
                        self.need(function, args[field as usize]);
                    }
                }
                Item::Element(vector, field) => {
                    for (function, args) in self.changes[vector].clone() {
                        self.need(function, args[field as usize]);
                    }
                }
                Item::Slot(slot) => {
                    self.stores[slot].clone().into_iter().for_each(|(function, value)| self.need(function, value));
                }
            }
        }
    }

    fn function_runs(&mut self, id: FuncId) {
        if std::mem::replace(&mut self.live.functions[id], true) {
            return;
        }
        for block in self.program.functions[id].blocks.values() {
            for inst in &block.insts {
                match inst.op {
                    Op::GlobalSet(slot) => {
                        self.stores[slot].push((id, inst.args[0]));
                        if self.live.slots[slot] {
                            self.need(id, inst.args[0]);
                        }
                    }
                    // What nobody needs of a shard is not handed over.
                    Op::Exchange => {}
                    op if op.has_effect() => self.need_all(id, &inst.args),
                    _ => {}
                }
            }
            if let Terminator::Branch(value, ..) | Terminator::Switch(value, _) = &block.terminator {
                self.need(id, *value);
            }
        }
        self.waiting.extend(self.calls_that_stay[id].iter().map(|site| Item::Site(*site)));
    }

    fn call_happens(&mut self, site: SiteId) {
        let Site { caller, callee, args, is_live } = &mut self.sites[site];
        if std::mem::replace(is_live, true) {
            return;
        }
        let (caller, callee, args) = (*caller, *callee, *args);
        for (param, arg) in self.program.functions[callee].params().iter().zip(args) {
            if self.live.values[callee][*param] {
                self.need(caller, *arg);
            }
        }
        self.waiting.push(Item::Function(callee));
    }

    fn value_is_needed(&mut self, id: FuncId, value: Value) {
        match self.sources[id][value] {
            Source::Nothing => {}
            Source::Argument(position) => {
                for site in self.calls_of[id].clone() {
                    let Site { caller, args, is_live, .. } = &self.sites[site];
                    if *is_live {
                        self.need(*caller, args[position]);
                    }
                }
            }
            Source::Param(block, position) => {
                for args in self.jumps[id][block].clone() {
                    self.need(id, args[position]);
                }
            }
            Source::Result(site, position) => {
                self.waiting.push(Item::Site(site));
                self.need_result(self.sites[site].callee, position);
            }
            Source::Inst(block, index) => self.inst_is_needed(id, block, index),
        }
    }

    fn inst_is_needed(&mut self, id: FuncId, block: BlockId, index: usize) {
        let inst = &self.program.functions[id].blocks[block].insts[index];
        match inst.op {
            Op::Box(sum, tag) => {
                self.boxes[sum][tag as usize].push((id, &inst.args));
                for (field, arg) in inst.args.iter().enumerate() {
                    if self.live.fields[sum][tag as usize][field] {
                        self.need(id, *arg);
                    }
                }
                return;
            }
            Op::WithElement(vector) | Op::WithElements(vector) => {
                let (place, fields) = inst.args.split_at(3);
                self.changes[vector].push((id, fields));
                self.need_all(id, place);
                for (field, arg) in fields.iter().enumerate() {
                    if self.live.elements[vector][field] {
                        self.need(id, *arg);
                    }
                }
                return;
            }
            Op::Field(sum, tag, field) => self.need_field(sum, tag, field),
            Op::Element(vector, field) | Op::Elements(vector, field) => self.need_element(vector, field),
            // What it reads and what it makes are vectors of one kind.
            Op::Kernel(_, vector) | Op::ArgumentElements(vector) | Op::ResultElements(vector) => {
                self.need_element(vector, 0);
            }
            Op::GlobalGet(slot) | Op::IsSet(slot) => self.need_slot(slot),
            _ => {}
        }
        self.need_all(id, &inst.args);
    }

    fn result_is_needed(&mut self, id: FuncId, position: usize) {
        for block in self.program.functions[id].blocks.values() {
            match &block.terminator {
                Terminator::Return(values) => self.need(id, values[position]),
                Terminator::TailCall(callee, _) => self.need_result(*callee, position),
                _ => {}
            }
        }
        for caller in self.tail_callers[id].clone() {
            self.need_result(caller, position);
        }
    }
}

/// Drops what is not needed.
fn sweep(program: &mut Program, effects: &Effects, live: &Live) -> bool {
    let params: EntityVec<FuncId, Vec<bool>> = program
        .functions
        .iter()
        .map(|(id, function)| function.params().iter().map(|param| live.values[id][*param]).collect())
        .collect();
    let fields = live.fields.values().map(|tags| tags.iter().map(|kept| positions(kept)).collect()).collect();
    let elements = live.elements.values().map(|kept| positions(kept)).collect();
    let sweep = Sweep { effects, live, params, fields, elements };
    let mut changed = false;
    for id in program.functions.ids() {
        let function = &mut program.functions[id];
        if live.functions[id] {
            changed |= sweep.function(id, function);
        } else {
            // Nothing calls it any more.
            let empty = Function::new(function.name.clone(), &[], Vec::new());
            changed |= *function != empty;
            *function = empty;
        }
    }
    for (id, tags) in live.fields.iter() {
        for (alternative, kept) in program.sums[id].alternatives.iter_mut().zip(tags) {
            changed |= kept.contains(&false);
            keep(&mut alternative.fields, kept);
        }
    }
    // No code is left for a vector that has no live field.
    for (id, kept) in live.elements.iter().filter(|(_, kept)| kept.contains(&true)) {
        changed |= kept.contains(&false);
        keep(&mut program.vectors[id].fields, kept);
    }
    changed
}

/// The positions of fields among those that are kept.
fn positions(kept: &[bool]) -> Vec<u32> {
    let before = kept.iter().scan(0, |next, kept| {
        let position = *next;
        *next += u32::from(*kept);
        Some(position)
    });
    before.collect()
}

struct Sweep<'l> {
    effects: &'l Effects,
    live: &'l Live,
    /// The parameters that each function keeps.
    params: EntityVec<FuncId, Vec<bool>>,
    /// Where each field will be.
    fields: EntityVec<SumId, Vec<Vec<u32>>>,
    elements: EntityVec<VectorId, Vec<u32>>,
}

impl Sweep<'_> {
    fn function(&self, id: FuncId, function: &mut Function) -> bool {
        let live = &self.live.values[id];
        let mut changed = self.params[id].contains(&false) || self.live.results[id].contains(&false);
        let mut kept = function.blocks.same_ids(None);
        kept[Function::ENTRY] = Some(self.params[id].clone());
        for block in function.blocks.ids().skip(1) {
            let params: Vec<bool> = function.blocks[block].params.iter().map(|param| live[*param]).collect();
            if params.contains(&false) {
                kept[block] = Some(params);
                changed = true;
            }
        }
        keep_params(function, &kept);
        keep(&mut function.results, &self.live.results[id]);
        for block in function.blocks.values_mut() {
            let before = block.insts.len();
            block.insts.retain(|inst| match inst.op {
                Op::GlobalSet(slot) => self.live.slots[slot],
                op => !self.effects.is_removable(op) || inst.results.iter().any(|value| live[*value]),
            });
            changed |= block.insts.len() < before;
            for inst in &mut block.insts {
                self.inst(&mut inst.op, &mut inst.args, &mut inst.results);
            }
            match &mut block.terminator {
                Terminator::Return(values) => keep(values, &self.live.results[id]),
                Terminator::TailCall(callee, args) => keep(args, &self.params[*callee]),
                _ => {}
            }
        }
        changed
    }

    fn inst(&self, op: &mut Op, args: &mut Values, results: &mut Values) {
        match *op {
            Op::Call(callee) => {
                keep_values(args, &self.params[callee]);
                keep_values(results, &self.live.results[callee]);
            }
            Op::Box(sum, tag) => {
                keep_values(args, &self.live.fields[sum][tag as usize]);
                if args.is_empty() {
                    *op = Op::Immediate(sum, tag);
                }
            }
            Op::Field(sum, tag, field) => {
                *op = Op::Field(sum, tag, self.fields[sum][tag as usize][field as usize]);
            }
            Op::Element(vector, field) => *op = Op::Element(vector, self.elements[vector][field as usize]),
            Op::Elements(vector, field) => *op = Op::Elements(vector, self.elements[vector][field as usize]),
            Op::WithElement(vector) | Op::WithElements(vector) => {
                let mut fields: Values = args.drain(3..).collect();
                keep_values(&mut fields, &self.live.elements[vector]);
                args.extend(fields);
            }
            _ => {}
        }
    }
}
