//! What is the same in all boxes of a tape is not read from it: SSA → SSA.
//!
//! ```text
//! b1(v3: f64, v4: ptr):                    b1(v3: f64, v4: ptr):
//!     v5 = box.sum0.1 v0, v3, v4               v5 = box.sum0.1 v0, v3, v4     (and soon without v0)
//!     ...                                →     ...
//! b2(v6: ptr):                             b2(v6: ptr):
//!     v7 = field.sum0.1.0 v6                   v8 = mul v0, v3
//!     v8 = mul v7, v3
//! ```
//!
//! The forward loop of a derivative stores what its backward loop mentions, also what does not change in the loop; the
//! sensitivities of the terms of a sum are a list of equal numbers. Where such boxes are made, the program still knows
//! that, and it can tell the functions that read them. A field is the value that is stored there when
//!
//! - the boxes are made in one function, and neither it nor another returns them or keeps them in anything but boxes
//!   and vectors that are neither returned nor kept elsewhere (see [`crate::opt::analysis::points_to`]),
//! - all boxes of the alternative are given the same value,
//! - no box outlives the value: the block that defines it dominates all blocks that have a parameter for such boxes, or
//!   for what holds them, so that a box from before the value was defined anew cannot get there. (A box that no
//!   parameter carries is used only where its definition dominates, and the value's dominates that.)
//!
//! Other functions that read the field get the boxes as arguments, and then the value as one more: it has to be a
//! number, since a pointer would be owned for longer than the boxes need it, and at hand wherever they are called.
//!
//! Tests: `tests/opt/invariant-fields/`.

use crate::base::EntityVec;
use crate::opt::analysis::points_to::{Class, Classes, Field, Place};
use crate::opt::edit::rewrite::Replacements;
use crate::ssa::call_graph::callers;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{Block, BlockId, FuncId, Function, Op, Program, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let classes = Classes::new(program);
    let facts = Facts::new(program, &classes);
    let callers = callers(program);
    let mut graphs: FxHashMap<FuncId, Graph> = FxHashMap::default();
    let mut found: FxHashMap<FuncId, Vec<(Value, Value)>> = FxHashMap::default();
    let mut reaches: FxHashMap<(Class, FuncId), Option<Reach>> = FxHashMap::default();
    for ((class, field), reads) in &facts.reads {
        let Some(Some((maker, value))) = facts.stored.get(&(*class, *field)).copied() else { continue };
        let function = &program.functions[maker];
        let graph = graphs.entry(maker).or_insert_with(|| Graph::new(function));
        let known = Known { graph, value, home: facts.homes[&(maker, value)] };
        let reach =
            reaches.entry((*class, maker)).or_insert_with(|| facts.reach(*class, maker, program, &callers, graph));
        let Some(reach) = reach.as_ref().filter(|reach| reach.is_below(&known)) else { continue };
        let (own, others): (Vec<Read>, Vec<Read>) = reads.iter().partition(|read| read.function == maker);
        if !others.is_empty() {
            let ty = function.values[value];
            let takers = &reach.takers;
            let are_told = others.iter().all(|read| takers.contains(&read.function));
            if ty == Type::Ptr || !are_told || !reach.is_at_hand(&known, function) {
                continue;
            }
            let told = tell(program, (maker, value), takers, ty, &callers);
            for read in others {
                found.entry(read.function).or_default().push((read.result, told[&read.function]));
            }
        }
        for read in own.iter().filter(|read| known.is_below(read.block)) {
            found.entry(maker).or_default().push((read.result, value));
        }
    }
    let mut changed = false;
    for (id, reads) in found {
        let function = &mut program.functions[id];
        let mut replacements = Replacements::new(function);
        for (read, value) in reads {
            let by = replacements.resolve(value);
            if by != read {
                replacements.replace(read, by);
            }
        }
        changed |= replacements.apply(function);
    }
    changed
}

/// A read of a field.
#[derive(Clone, Copy)]
struct Read {
    function: FuncId,
    block: BlockId,
    result: Value,
}

/// Where the boxes of a class get to, by themselves or in what holds them.
struct Reach {
    /// The functions that have a parameter for them.
    takers: FxHashSet<FuncId>,
    /// The blocks of their maker with such a parameter, and the last block that all of them come after.
    carried: FxHashSet<BlockId>,
    common: Option<BlockId>,
    /// Whether these functions are called by each other and the maker only, and the blocks where it does.
    is_closed: bool,
    calling: Vec<BlockId>,
}

impl Reach {
    /// Whether whoever calls one of the functions is one of them, or the maker, where it has the value.
    fn is_at_hand(&self, known: &Known, maker: &Function) -> bool {
        let is_param = maker.blocks[known.home].params.contains(&known.value);
        let has_value = |block: &BlockId| known.is_below(*block) || *block == known.home && is_param;
        self.is_closed && self.calling.iter().all(has_value)
    }

    /// Whether all blocks of their maker that have them for a parameter come after the one that defines the value.
    fn is_below(&self, known: &Known) -> bool {
        let dominates = |common| known.graph.dominates(known.home, common);
        self.common.is_none_or(dominates) && !self.carried.contains(&known.home)
    }
}

/// What there is to know of classes of boxes.
#[derive(Default)]
struct Facts {
    /// The function and the value that are all that is stored in a field; `None` when there are several.
    stored: FxHashMap<(Class, Field), Option<(FuncId, Value)>>,
    reads: BTreeMap<(Class, Field), Vec<Read>>,
    /// The blocks with parameters for boxes of a class.
    carried: FxHashMap<(Class, FuncId), Vec<BlockId>>,
    /// The functions that have a parameter for boxes of a class.
    takers: FxHashMap<Class, FxHashSet<FuncId>>,
    /// The blocks that define the values that are stored.
    homes: FxHashMap<(FuncId, Value), BlockId>,
    /// The classes whose boxes are in anything but values, boxes and vectors.
    outside: FxHashSet<Class>,
    /// The other classes whose boxes or vectors hold boxes of a class.
    held: FxHashMap<Class, Vec<Class>>,
}

impl Facts {
    fn new(program: &Program, classes: &Classes) -> Facts {
        let mut facts = Facts::default();
        for (id, function) in program.functions.iter() {
            facts.function(id, function, classes);
        }
        let outside = classes.places().into_iter().filter(|(place, _)| !matches!(place, Place::Value(..)));
        facts.outside = outside.map(|(_, class)| class).collect();
        for (class, inner) in classes.holders() {
            facts.held.entry(inner).or_default().push(class);
        }
        facts
    }

    fn function(&mut self, id: FuncId, function: &Function, classes: &Classes) {
        let class_of = |value: Value| classes.class(Place::Value(id, value));
        let mut defined_in: FxHashMap<Value, BlockId> = FxHashMap::default();
        let mut stored: Vec<Value> = Vec::new();
        for (block, data) in function.blocks.iter() {
            for param in &data.params {
                defined_in.insert(*param, block);
                if let Some(class) = class_of(*param) {
                    self.carried.entry((class, id)).or_default().push(block);
                    if block == Function::ENTRY {
                        self.takers.entry(class).or_default().insert(id);
                    }
                }
            }
            for inst in &data.insts {
                defined_in.extend(inst.results.iter().map(|value| (*value, block)));
                match inst.op {
                    Op::Box(sum, tag) => {
                        let Some(class) = class_of(inst.results[0]) else { continue };
                        for (field, arg) in (0..).zip(&inst.args) {
                            self.store((class, (sum, tag, field)), (id, *arg));
                        }
                        stored.extend(&inst.args);
                    }
                    Op::Field(sum, tag, field) => {
                        let Some(class) = class_of(inst.args[0]) else { continue };
                        let reads = self.reads.entry((class, (sum, tag, field))).or_default();
                        reads.push(Read { function: id, block, result: inst.results[0] });
                    }
                    _ => {}
                }
            }
        }
        self.homes.extend(stored.iter().map(|value| ((id, *value), defined_in[value])));
    }

    /// A class and those whose boxes or vectors hold boxes of it, directly or not, if they are in nothing but these and
    /// values.
    fn holders(&self, class: Class) -> Option<FxHashSet<Class>> {
        let mut holders = FxHashSet::default();
        let mut waiting = vec![class];
        while let Some(class) = waiting.pop() {
            if self.outside.contains(&class) {
                return None;
            }
            if holders.insert(class) {
                waiting.extend(self.held.get(&class).into_iter().flatten());
            }
        }
        Some(holders)
    }

    /// Where the boxes of a class get to, if they are in nothing but values, boxes and vectors.
    fn reach(
        &self,
        class: Class,
        maker: FuncId,
        program: &Program,
        callers: &EntityVec<FuncId, Vec<FuncId>>,
        graph: &Graph,
    ) -> Option<Reach> {
        let holders = self.holders(class)?;
        let takers = holders.iter().filter_map(|holder| self.takers.get(holder));
        let takers: FxHashSet<FuncId> = takers.flatten().copied().collect();
        let carried = holders.iter().filter_map(|holder| self.carried.get(&(*holder, maker)));
        let carried: FxHashSet<BlockId> = carried.flatten().copied().filter(|id| graph.is_reachable(*id)).collect();
        let common = carried.iter().copied().reduce(|x, y| graph.common_dominator(x, y));
        let is_told = |caller: &FuncId| *caller == maker || takers.contains(caller);
        let is_closed = takers.iter().all(|taker| callers[*taker].iter().all(is_told));
        let calls = |block: &Block| {
            let leaves = matches!(block.terminator, Terminator::TailCall(callee, _) if takers.contains(&callee));
            leaves || block.insts.iter().any(|inst| matches!(inst.op, Op::Call(callee) if takers.contains(&callee)))
        };
        let blocks = program.functions[maker].blocks.iter();
        let calling = blocks.filter(|(_, block)| calls(block)).map(|(id, _)| id).collect();
        Some(Reach { takers, carried, common, is_closed, calling })
    }

    fn store(&mut self, field: (Class, Field), found: (FuncId, Value)) {
        match self.stored.entry(field) {
            Entry::Vacant(entry) => drop(entry.insert(Some(found))),
            Entry::Occupied(mut entry) if *entry.get() != Some(found) => drop(entry.insert(None)),
            Entry::Occupied(_) => {}
        }
    }
}

/// The value of a field, in the function that makes the boxes.
struct Known<'g> {
    graph: &'g Graph,
    value: Value,
    home: BlockId,
}

impl Known<'_> {
    /// Whether a block comes after the one that defines the value.
    fn is_below(&self, block: BlockId) -> bool {
        block != self.home && self.graph.dominates(self.home, block)
    }
}

/// Hands a number of one function to others, which hand it to each other; what it is called in each.
fn tell(
    program: &mut Program,
    (maker, value): (FuncId, Value),
    takers: &FxHashSet<FuncId>,
    ty: Type,
    callers: &EntityVec<FuncId, Vec<FuncId>>,
) -> FxHashMap<FuncId, Value> {
    let mut told = FxHashMap::default();
    let mut calling = FxHashSet::default();
    for taker in takers {
        let function = &mut program.functions[*taker];
        let param = function.values.push(ty);
        function.blocks[Function::ENTRY].params.push(param);
        told.insert(*taker, param);
        calling.extend(&callers[*taker]);
    }
    for caller in calling {
        let at_hand = if caller == maker { value } else { told[&caller] };
        for block in program.functions[caller].blocks.values_mut() {
            for inst in &mut block.insts {
                if matches!(inst.op, Op::Call(callee) if takers.contains(&callee)) {
                    inst.args.push(at_hand);
                }
            }
            if let Terminator::TailCall(callee, args) = &mut block.terminator
                && takers.contains(callee)
            {
                args.push(at_hand);
            }
        }
    }
    told
}
