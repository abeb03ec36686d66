//! What a cheap call has made for a tape is made again where it is read: SSA → SSA.
//!
//! ```text
//! fn0 (builder)                              fn0
//!     v3, v4 = call fn2(v0, v1)                  v3, v4 = call fn2(v0, v1)    (and soon without v4: dead-across-calls)
//!     v5 = box.sum0.1 v4, v2             →       v5 = box.sum0.1 v4, v2, v0, v1
//! fn1 (reader)                               fn1
//!     v1 = field.sum0.1.0 v0                     v3 = field.sum0.1.2 v0
//!                                                v4 = field.sum0.1.3 v0
//!     v2 = call fn3(v1)                          v5, v1 = call fn4(v3, v4)    (a copy of fn2)
//!                                                v2 = call fn3(v1)
//! ```
//!
//! Recursion within recursion, such as `map` in `map`, keeps a tape in each box of a tape: n² numbers, where the
//! function itself keeps none at a time. Here the inner tape follows from what there was before it. It is made again
//! when its turn has come, and is gone before the next one is made, so it stays in the cache; with cheap operations
//! that takes less time than keeping all of them.
//!
//! A field is treated if all boxes of its alternative are given results of the same call, and
//!
//! - the boxes are environments of backpropagators, which are read once for each time that derivatives are asked for,
//! - the call walks data, so that what it makes may be large,
//! - what leads to this result are cheap operations on numbers and boxes, with so much recursion within recursion at
//!   most: what it takes is in proportion to the forward phase, once more for each depth,
//! - its arguments are numbers, in the box already, parts of what the builder has been given, or made in the same way.
//!   So the tape keeps nothing alive that was not there before,
//! - it calls neither builder nor reader, so that nothing is made again for each depth of their recursion.
//!
//! What is made again is computed by the same operations, so the bits are the same. Loops that count are left out, and
//! so are those over vectors: their tapes become vectors, which [`crate::opt::loops::fusion`] and others make small.
//!
//! Source: the reverse sweep of a scope re-executes its forward sweep, as in Schenck, Rønning, Henriksen and Oancea,
//! "AD for an Array Language with Nested Parallelism" (2022).
//!
//! Tests: `tests/opt/recompute-calls/`.

use crate::base::EntityVec;
use crate::opt::analysis::effects::Effects;
use crate::opt::edit::rewrite::{Definitions, is_constant, size, use_counts};
use crate::opt::scalar::unused::Sources;
use crate::ssa::call_graph::{callees, components};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{
    BlockId, FuncId, Function, Inst, Op, Program, Real1, Real2, SumId, Terminator, Type, Value, Values, Walk,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What is made again may need so many calls one after the other.
const MOST_CALLS: usize = 3;

/// So many recursive functions or groups of them may do it.
const MOST_RECURSION: usize = 2;

/// So many fields may come in place of one.
const MOST_FIELDS: usize = 8;

/// A field of an alternative.
type Field = (SumId, u32, u32);

/// So many alternatives are treated at a time.
const MOST_ALTERNATIVES: usize = 8;

/// Treats the whole program, which may grow to so many instructions.
pub fn run(program: &mut Program, most: usize) -> bool {
    let mut changed = false;
    // What is copied for one alternative may make boxes of another: so they are treated one after the other.
    for _ in 0..MOST_ALTERNATIVES {
        if !treat_one(program, most) {
            break;
        }
        changed = true;
    }
    changed
}

/// Treats one alternative.
fn treat_one(program: &mut Program, most: usize) -> bool {
    let boxes = boxes(program);
    if boxes.is_empty() {
        return false;
    }
    let room = most.saturating_sub(program.functions.values().map(size).sum::<usize>());
    let mut plan = Planner::new(program).plan(&boxes);
    plan.retain(|_, again| {
        let growth: usize = again.made.calls().map(|callee| size(&program.functions[callee])).sum();
        growth <= room
    });
    let Some((sum, tag, _)) = plan.keys().next().copied() else { return false };
    let mut copies = FxHashMap::default();
    for (field, again) in plan.iter().filter(|(field, _)| (field.0, field.1) == (sum, tag)) {
        apply(program, *field, &boxes[&(sum, tag)], again, &mut copies);
    }
    true
}

/// How a value is made again.
#[derive(Clone, PartialEq)]
enum Made {
    /// One of the values that it follows from.
    Leaf(usize),
    Constant(Op),
    /// The result of a call at this position.
    Call(FuncId, usize, Vec<Made>),
}

impl Made {
    /// The functions that are called.
    fn calls(&self) -> Box<dyn Iterator<Item = FuncId> + '_> {
        match self {
            Made::Leaf(_) | Made::Constant(_) => Box::new(std::iter::empty()),
            Made::Call(callee, _, args) => Box::new(args.iter().flat_map(Made::calls).chain([*callee])),
        }
    }
}

/// How a field is made again.
struct Again {
    made: Made,
    /// For each box, in order, the values that it follows from.
    leaves: Vec<Vec<Value>>,
    /// The fields of other boxes that it follows from.
    reads: Vec<Field>,
}

/// A place where a box is made.
struct Site {
    function: FuncId,
    result: Value,
    args: Values,
}

/// The places where boxes of tapes are made that hold others.
fn boxes(program: &Program) -> BTreeMap<(SumId, u32), Vec<Site>> {
    let mut boxes: BTreeMap<(SumId, u32), Vec<Site>> = BTreeMap::new();
    for (id, function) in program.functions.iter() {
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Op::Box(sum, tag) = inst.op
                && program.sums[sum].alternatives[tag as usize].is_of_tape()
            {
                let site = Site { function: id, result: inst.results[0], args: inst.args.clone() };
                boxes.entry((sum, tag)).or_default().push(site);
            }
        }
    }
    boxes
}

/// Results of functions, by their positions.
type Results = Rc<[(FuncId, usize)]>;

struct Planner<'p> {
    program: &'p Program,
    effects: Effects,
    /// What each function calls.
    edges: EntityVec<FuncId, Vec<FuncId>>,
    /// The group of functions that call each other which a function belongs to.
    group: EntityVec<FuncId, usize>,
    /// Whether it has a loop or calls itself.
    repeats: EntityVec<FuncId, bool>,
    /// What is known about the functions that make boxes.
    makers: FxHashMap<FuncId, Maker>,
    /// The functions that read each field of a box.
    readers: FxHashMap<Field, Vec<FuncId>>,
    /// Whether it is cheap to compute a result of a function again.
    cheap: FxHashMap<(FuncId, usize), bool>,
    /// What a result of a function needs; see [`needs`].
    needs: FxHashMap<(FuncId, usize), Option<Results>>,
}

struct Maker {
    definitions: Definitions,
    sources: Sources,
    uses: EntityVec<Value, u32>,
}

impl<'p> Planner<'p> {
    fn new(program: &'p Program) -> Planner<'p> {
        let edges: EntityVec<FuncId, Vec<FuncId>> = program.functions.values().map(callees).collect();
        let mut group = program.functions.same_ids(0);
        let mut repeats: EntityVec<FuncId, bool> = program.functions.values().map(has_loop).collect();
        for (number, members) in components(&edges).into_iter().enumerate() {
            for id in &members {
                group[*id] = number;
                repeats[*id] |= members.len() > 1 || edges[*id].contains(id);
            }
        }
        Planner {
            program,
            effects: Effects::without_ends(program),
            edges,
            group,
            repeats,
            makers: FxHashMap::default(),
            readers: readers(program),
            cheap: FxHashMap::default(),
            needs: FxHashMap::default(),
        }
    }

    fn plan(mut self, boxes: &BTreeMap<(SumId, u32), Vec<Site>>) -> BTreeMap<Field, Again> {
        let mut plan = BTreeMap::new();
        for ((sum, tag), sites) in boxes {
            for field in 0..sites[0].args.len() {
                if let Some(again) = self.again(sites, field)
                    && let Ok(field) = u32::try_from(field)
                {
                    plan.insert((*sum, *tag, field), again);
                }
            }
        }
        plan.retain(|field, again| self.fits(*field, &boxes[&(field.0, field.1)], again));
        // What follows from a field that is treated is looked at next time.
        let treated: FxHashSet<Field> = plan.keys().copied().collect();
        plan.retain(|_, again| !again.reads.iter().any(|field| treated.contains(field)));
        plan
    }

    /// How a field is made again, if it is the same for all boxes.
    fn again(&mut self, sites: &[Site], field: usize) -> Option<Again> {
        let mut all: Option<Again> = None;
        for site in sites {
            let (made, leaves, reads) = self.again_at(site, field)?;
            match &mut all {
                Some(before) if before.made == made => {
                    before.leaves.push(leaves);
                    before.reads.extend(reads);
                }
                Some(_) => return None,
                None => all = Some(Again { made, leaves: vec![leaves], reads }),
            }
        }
        all
    }

    fn again_at(&mut self, site: &Site, field: usize) -> Option<(Made, Vec<Value>, Vec<Field>)> {
        let function = &self.program.functions[site.function];
        let value = site.args[field];
        if function.values[value] != Type::Ptr {
            return None;
        }
        let maker = self.makers.remove(&site.function).unwrap_or_else(|| Maker {
            definitions: Definitions::new(function),
            sources: Sources::new(function),
            uses: use_counts(function),
        });
        let is_call = matches!(maker.definitions.op(function, value), Some(Op::Call(_)));
        let mut leaves = Vec::new();
        let found = (is_call && maker.uses[value] == 1)
            .then(|| self.made(function, &maker, site, value, &mut leaves))
            .flatten()
            .filter(|made| leaves.len() <= MOST_FIELDS && made.calls().count() <= MOST_CALLS);
        let read = |value: &Value| match maker.definitions.op(function, *value)? {
            Op::Field(sum, tag, field) => Some((sum, tag, field)),
            _ => None,
        };
        let reads = leaves.iter().filter_map(read).collect();
        self.makers.insert(site.function, maker);
        found.map(|made| (made, leaves, reads))
    }

    fn made(
        &mut self,
        function: &Function,
        maker: &Maker,
        site: &Site,
        value: Value,
        leaves: &mut Vec<Value>,
    ) -> Option<Made> {
        if let Some(known) = leaves.iter().position(|leaf| *leaf == value) {
            return Some(Made::Leaf(known));
        }
        let inst = maker.definitions.inst(function, value);
        if let Some(inst) = inst.filter(|inst| is_constant(inst.op)) {
            return Some(Made::Constant(inst.op));
        }
        let is_field = site.args.contains(&value) && maker.uses[value] > 1;
        if is_field || function.values[value] != Type::Ptr || is_old(function, maker, value) {
            leaves.push(value);
            return Some(Made::Leaf(leaves.len() - 1));
        }
        let inst = inst?;
        let Op::Call(callee) = inst.op else { return None };
        let position = inst.results.iter().position(|result| *result == value)?;
        if !self.is_cheap(callee, position) {
            return None;
        }
        let args = inst.args.iter().map(|arg| self.made(function, maker, site, *arg, leaves));
        Some(Made::Call(callee, position, args.collect::<Option<_>>()?))
    }

    /// Whether it is cheap to compute a result of a function again.
    fn is_cheap(&mut self, callee: FuncId, position: usize) -> bool {
        if let Some(known) = self.cheap.get(&(callee, position)) {
            return *known;
        }
        let found = self.effects.is_repeatable(callee) && self.looks_cheap(callee, position).unwrap_or(false);
        self.cheap.insert((callee, position), found);
        found
    }

    fn looks_cheap(&mut self, callee: FuncId, position: usize) -> Option<bool> {
        let mut needed: FxHashSet<(FuncId, usize)> = FxHashSet::default();
        let (mut repeating, mut walks) = (FxHashSet::default(), false);
        let mut waiting = vec![(callee, position)];
        while let Some((id, result)) = waiting.pop() {
            if !needed.insert((id, result)) {
                continue;
            }
            let function = &self.program.functions[id];
            if function.walk != Walk::None {
                return None;
            }
            if self.repeats[id] {
                repeating.insert(self.group[id]);
                walks = walks || has_field(function);
            }
            if repeating.len() > MOST_RECURSION {
                return None;
            }
            let needs = self.needs.entry((id, result)).or_insert_with(|| needs(function, result).map(Rc::from));
            waiting.extend_from_slice(needs.as_deref()?);
        }
        Some(walks)
    }

    /// Whether a field can be made again wherever it is read.
    fn fits(&mut self, field: Field, sites: &[Site], again: &Again) -> bool {
        let mut called: FxHashSet<FuncId> = FxHashSet::default();
        let mut waiting: Vec<FuncId> = again.made.calls().collect();
        while let Some(id) = waiting.pop() {
            if called.insert(id) {
                waiting.extend(&self.edges[id]);
            }
        }
        if sites.iter().any(|site| called.contains(&site.function)) {
            return false;
        }
        let mut is_read = false;
        for id in self.readers.get(&field).into_iter().flatten().copied() {
            let function = &self.program.functions[id];
            let blocks = || function.blocks.iter();
            let is_read_here = |inst: &Inst| inst.op == Op::Field(field.0, field.1, field.2);
            let uses = use_counts(function);
            let graph = Graph::new(function);
            let headers = || graph.order.iter().filter(|block| graph.is_loop_header(**block));
            let loops: Vec<_> = headers().map(|header| graph.loop_body(*header)).collect();
            for (block, data) in blocks() {
                for inst in data.insts.iter().filter(|inst| is_read_here(inst)) {
                    match uses[inst.results[0]] {
                        0 => {}
                        1 if !called.contains(&id) => {
                            let once = |user: BlockId| loops.iter().all(|body| !body[user] || body[block]);
                            if !call_with(function, inst.results[0]).is_some_and(|(user, _)| once(user)) {
                                return false;
                            }
                            is_read = true;
                        }
                        _ => return false,
                    }
                }
            }
        }
        is_read
    }
}

/// The functions that read each field.
fn readers(program: &Program) -> FxHashMap<Field, Vec<FuncId>> {
    let mut readers: FxHashMap<Field, Vec<FuncId>> = FxHashMap::default();
    for (id, function) in program.functions.iter() {
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Op::Field(sum, tag, field) = inst.op {
                let of_field = readers.entry((sum, tag, field)).or_default();
                if of_field.last() != Some(&id) {
                    of_field.push(id);
                }
            }
        }
    }
    readers
}

/// Whether a function has a loop.
fn has_loop(function: &Function) -> bool {
    let graph = Graph::new(function);
    graph.order.iter().any(|block| graph.is_loop_header(*block))
}

/// Whether a function reads boxes.
fn has_field(function: &Function) -> bool {
    function.blocks.values().flat_map(|block| &block.insts).any(|inst| matches!(inst.op, Op::Field(..)))
}

/// Whether a pointer is to a part of what the function has been given.
fn is_old(function: &Function, maker: &Maker, value: Value) -> bool {
    let (mut seen, mut waiting) = (FxHashSet::default(), vec![value]);
    while let Some(value) = waiting.pop() {
        if !seen.insert(value) {
            continue;
        }
        match maker.definitions.op(function, value) {
            None => maker.sources.collect(function, value, &mut waiting),
            Some(Op::Field(..)) => maker.sources.collect(function, value, &mut waiting),
            Some(Op::Immediate(..) | Op::GlobalGet(_)) => {}
            Some(_) => return false,
        }
    }
    true
}

/// The call that a value is an operand of: its block and its position there.
fn call_with(function: &Function, value: Value) -> Option<(BlockId, usize)> {
    function.blocks.iter().find_map(|(id, block)| {
        let is_call = |inst: &Inst| matches!(inst.op, Op::Call(_)) && inst.args.contains(&value);
        Some((id, block.insts.iter().position(is_call)?))
    })
}

/// The results of others that a result of a function needs, if computing it is cheap but for that.
fn needs(function: &Function, result: usize) -> Option<Vec<(FuncId, usize)>> {
    let sources = Sources::new(function);
    let (mut waiting, mut found) = (Vec::new(), Vec::new());
    for block in function.blocks.values() {
        match &block.terminator {
            Terminator::Return(values) => waiting.push(values[result]),
            Terminator::TailCall(callee, args) => {
                waiting.extend(args);
                found.push((*callee, result));
            }
            Terminator::Branch(condition, ..) | Terminator::Switch(condition, _) => waiting.push(*condition),
            Terminator::Jump(_) | Terminator::Fail(..) | Terminator::Unreachable => {}
        }
    }
    let mut live = function.values.same_ids(false);
    while let Some(value) = waiting.pop() {
        if !std::mem::replace(&mut live[value], true) {
            sources.collect(function, value, &mut waiting);
        }
    }
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        let mut wanted = (0..inst.results.len()).filter(|position| live[inst.results[*position]]).peekable();
        match inst.op {
            _ if wanted.peek().is_none() => {}
            Op::Call(callee) => found.extend(wanted.map(|position| (callee, position))),
            op if !is_cheap(op) => return None,
            _ => {}
        }
    }
    Some(found)
}

/// What takes no longer than keeping its result, and has to do with numbers and boxes.
fn is_cheap(op: Op) -> bool {
    match op {
        Op::Real1(op) => matches!(
            op,
            Real1::Neg | Real1::Abs | Real1::Sqrt | Real1::Floor | Real1::Ceiling | Real1::Round | Real1::Truncate
        ),
        Op::Real2(op) => !matches!(op, Real2::Pow | Real2::Atan2),
        Op::Select | Op::Box(..) | Op::Tag(_) | Op::HasTag(..) | Op::Field(..) | Op::GlobalGet(_) => true,
        op => is_constant(op) || op.is_logic(),
    }
}

/// Makes a field again wherever it is read.
fn apply(program: &mut Program, field: Field, sites: &[Site], again: &Again, copies: &mut Copies) {
    let (sum, tag, _) = field;
    let count = again.leaves[0].len();
    // Where each of the values that it follows from is in the box.
    let mut places = Vec::new();
    for leaf in 0..count {
        let fields = u32::try_from(program.sums[sum].fields(tag).len()).unwrap_or(u32::MAX);
        let is_there = |place: u32| {
            let holds = |(site, leaves): (&Site, &Vec<Value>)| site.args.get(place as usize) == Some(&leaves[leaf]);
            sites.iter().zip(&again.leaves).all(holds)
        };
        let place = (0..fields).find(|place| is_there(*place)).unwrap_or(fields);
        places.push(place);
        if place == fields {
            let ty = program.functions[sites[0].function].values[again.leaves[0][leaf]];
            program.sums[sum].alternatives[tag as usize].fields.push(ty);
            for (site, leaves) in sites.iter().zip(&again.leaves) {
                let insts = program.functions[site.function].blocks.values_mut().flat_map(|block| &mut block.insts);
                insts.filter(|inst| inst.results.first() == Some(&site.result)).for_each(|inst| {
                    inst.args.push(leaves[leaf]);
                });
            }
        }
    }
    let made = with_copies(program, &again.made, copies);
    for id in program.functions.ids() {
        let is_read = |inst: &Inst| inst.op == Op::Field(field.0, field.1, field.2);
        let reads = |function: &Function| {
            function.blocks.iter().find_map(|(id, block)| {
                let uses = |inst: &Inst| is_read(inst) && call_with(function, inst.results[0]).is_some();
                Some((id, block.insts.iter().position(uses)?))
            })
        };
        while let Some((block, index)) = reads(&program.functions[id]) {
            let reader = Reader { function: id, block, index };
            reader.make(program, (sum, tag), &places, &made);
        }
    }
}

/// Copies of the functions that make fields of an alternative again.
type Copies = FxHashMap<FuncId, FuncId>;

/// The same with copies of the functions that are called, so that these compute what is needed here only.
fn with_copies(program: &mut Program, made: &Made, copies: &mut Copies) -> Made {
    let Made::Call(callee, position, args) = made else { return made.clone() };
    let args = args.iter().map(|arg| with_copies(program, arg, copies)).collect();
    if !copies.contains_key(callee) {
        let edges: EntityVec<FuncId, Vec<FuncId>> = program.functions.values().map(callees).collect();
        let group = components(&edges).into_iter().find(|members| members.contains(callee)).unwrap_or_default();
        copies.extend(copy_group(program, &group));
    }
    Made::Call(copies[callee], *position, args)
}

/// Copies functions that call each other; the copies do, too.
fn copy_group(program: &mut Program, group: &[FuncId]) -> FxHashMap<FuncId, FuncId> {
    let mut copies: FxHashMap<FuncId, FuncId> = FxHashMap::default();
    for id in group {
        let copy = program.functions[*id].clone();
        copies.insert(*id, program.functions.push(copy));
    }
    let redirect = |callee: &mut FuncId| *callee = copies.get(callee).copied().unwrap_or(*callee);
    for copy in copies.values() {
        for block in program.functions[*copy].blocks.values_mut() {
            for inst in &mut block.insts {
                if let Op::Call(callee) = &mut inst.op {
                    redirect(callee);
                }
            }
            if let Terminator::TailCall(callee, _) = &mut block.terminator {
                redirect(callee);
            }
        }
    }
    copies
}

/// A place where a field is read.
struct Reader {
    function: FuncId,
    block: BlockId,
    index: usize,
}

impl Reader {
    /// Reads what the field follows from instead, and makes it before the call that needs it.
    fn make(&self, program: &mut Program, (sum, tag): (SumId, u32), places: &[u32], made: &Made) {
        let types = program.sums[sum].fields(tag).to_vec();
        let results: FxHashMap<FuncId, Vec<Type>> =
            made.calls().map(|callee| (callee, program.functions[callee].results.clone())).collect();
        let function = &mut program.functions[self.function];
        let read = function.blocks[self.block].insts[self.index].clone();
        let mut reads = Vec::new();
        for place in places {
            let result = function.values.push(types[*place as usize]);
            let op = Op::Field(sum, tag, *place);
            reads.push(Inst { op, args: read.args.clone(), results: smallvec![result], span: read.span });
        }
        let leaves: Vec<Value> = reads.iter().map(|inst| inst.results[0]).collect();
        function.blocks[self.block].insts.splice(self.index..=self.index, reads);
        let Some((block, index)) = call_with(function, read.results[0]) else { return };
        let mut insts = Vec::new();
        Again::make(made, Some(read.results[0]), &leaves, &results, function, &mut insts);
        function.blocks[block].insts.splice(index..index, insts);
    }
}

impl Again {
    /// Adds the instructions that make a value, as `result` or a new one.
    fn make(
        made: &Made,
        result: Option<Value>,
        leaves: &[Value],
        results: &FxHashMap<FuncId, Vec<Type>>,
        function: &mut Function,
        insts: &mut Vec<Inst>,
    ) -> Value {
        let (op, args, types, position) = match made {
            Made::Leaf(leaf) => return leaves[*leaf],
            Made::Constant(op) => (*op, Values::new(), vec![type_of_constant(*op)], 0),
            Made::Call(callee, position, args) => {
                let args = args.iter().map(|arg| Again::make(arg, None, leaves, results, function, insts)).collect();
                (Op::Call(*callee), args, results[callee].clone(), *position)
            }
        };
        let mut values: Values = types.iter().map(|ty| function.values.push(*ty)).collect();
        if let Some(result) = result {
            values[position] = result;
        }
        let value = values[position];
        insts.push(Inst { op, args, results: values, span: None });
        value
    }
}

fn type_of_constant(op: Op) -> Type {
    match op {
        Op::ConstReal(_) => Type::F64,
        Op::ConstBool(_) => Type::Bool,
        Op::ConstInt(_) => Type::Int,
        _ => Type::Ptr,
    }
}
