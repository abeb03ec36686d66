//! Which loops and which recursion are known to end.
//!
//! ```text
//! b1(v1: ptr):                        b1(v1: int, v2: f64):
//!     v2 = has_tag.sum0.0 v1              v3 = int_lt v1, v9
//!     branch v2, b3, b2                   branch v3, b2, b3
//! b2:                                 b2:
//!     v3 = field.sum0.1.0 v1              v4 = int_add v1, 1
//!     jump b1(v3)                         jump b1(v4, v2)
//! ```
//!
//! What never ends is part of what a program means, so a loop or a call whose results nobody needs may go only if it
//! ends. These arguments are known here:
//!
//! - *Descent.* Data are finite. A loop ends if each round goes on with a part of what the round before had; recursion
//!   ends if each call passes on a part of what the caller got. Of functions that call each other, each names the
//!   parameter that descends; calls that pass the same value on are put in order by the other parameters (a
//!   lexicographic order, as in termination checkers of proof assistants). Functions that are made to walk data
//!   ([`Walk`]) do nothing else.
//! - *Counting.* A loop ends if each round goes through a test that a counter fails sooner or later: one that each
//!   round moves by a constant towards a bound that does not change. A bound that must be met exactly has to be an
//!   integer on the way ([`counting`]).
//! - *Execution.* A loop ends if its first rounds, as far as they are known, lead out of it ([`execution`]).
//! - *Twins.* A loop ends if one that does the same has ended before ([`twins`]).
//!
//! Integers of SSA are lengths, places, tags and counts, and none of them is negative where it comes from memory or
//! from another function. Reals are anything: infinite, not a number, or so large that adding one changes nothing. So a
//! loop that counts by reals ends if both the start and the bound are constants or follow from integers.
//!
//! The answer errs on the side of not ending.

use crate::base::EntityVec;
use crate::opt::analysis::loops::{Homes, homes};
use crate::opt::analysis::summary::Summary;
use crate::opt::edit::rewrite::Definitions;
use crate::ssa::call_graph::components;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, FuncId, Function, Op, Program, Target, Terminator, Type, Value, Walk};
use rustc_hash::{FxHashMap, FxHashSet};

mod counting;
mod execution;
mod twins;

/// The functions a call of which may not end, whatever the functions that it calls do: those with a loop that may not,
/// and those that call themselves, directly or not, in a way that may not. Of those that nobody asks about all are
/// among them; who asks about one asks about what it calls, too.
pub fn endless_functions<S: AsRef<Summary> + AsRef<[FuncId]>>(
    program: &Program,
    summaries: &EntityVec<FuncId, S>,
    asked: &EntityVec<FuncId, bool>,
) -> EntityVec<FuncId, bool> {
    let summary = |id: FuncId| -> &Summary { summaries[id].as_ref() };
    let is_endless = |(id, function): (FuncId, &Function)| {
        !asked[id] || !walks_data(function) && summary(id).has_endless_loop(function)
    };
    let mut endless: EntityVec<FuncId, bool> = program.functions.iter().map(is_endless).collect();
    for component in components(summaries) {
        let is_recursive = component.len() > 1 || summary(component[0]).callees.contains(&component[0]);
        let walk_data = component.iter().all(|id| walks_data(&program.functions[*id]));
        let calls = |id: FuncId| summary(id).calls(&program.functions[id]);
        if is_recursive && !walk_data && asked[component[0]] && !Recursion::new(&component, calls).ends() {
            component.into_iter().for_each(|id| endless[id] = true);
        }
    }
    endless
}

/// Whether a function is one of those that the compiler makes to walk data part by part.
fn walks_data(function: &Function) -> bool {
    function.walk != Walk::None
}

/// Whether a function has a loop that may never end. The first one that has no end of its own has no twin before it.
pub fn has_endless_loop(function: &Function) -> bool {
    // Most functions have no loop, and need no analysis.
    has_cycle(function) && {
        let graph = Graph::new(function);
        headers(&graph).is_none_or(|headers| {
            let code = Code::new(function, &graph);
            headers.into_iter().any(|header| !code.ends(&code.study(header)))
        })
    }
}

/// Whether a block can be reached from itself.
fn has_cycle(function: &Function) -> bool {
    let mut state = function.blocks.same_ids(0_u8);
    let mut stack = vec![(Function::ENTRY, 0)];
    state[Function::ENTRY] = 1;
    while let Some((block, edge)) = stack.pop() {
        let terminator = &function.blocks[block].terminator;
        if edge == terminator.target_count() {
            state[block] = 2;
            continue;
        }
        stack.push((block, edge + 1));
        let target = terminator.target(edge).block;
        match state[target] {
            0 => {
                state[target] = 1;
                stack.push((target, 0));
            }
            1 => return true,
            _ => {}
        }
    }
    false
}

/// The headers of all loops; `None` where blocks go round without one being a header.
fn headers(graph: &Graph) -> Option<Vec<BlockId>> {
    let mut headers = Vec::new();
    for (place, block) in graph.order.iter().enumerate() {
        let mut is_header = false;
        for from in &graph.predecessors[*block] {
            let comes_later = graph.position[*from].is_some_and(|position| position as usize >= place);
            if comes_later && !graph.dominates(*block, *from) {
                return None;
            }
            is_header |= comes_later;
        }
        if is_header {
            headers.push(*block);
        }
    }
    Some(headers)
}

/// The headers of the loops that may not end, of those that are asked about; `None` where blocks go round without one
/// being a header.
pub fn endless_loops(function: &Function, graph: &Graph, asked: impl Fn(BlockId) -> bool) -> Option<Vec<BlockId>> {
    let headers = headers(graph)?;
    if !headers.iter().any(|header| asked(*header)) {
        return Some(Vec::new());
    }
    let code = Code::new(function, graph);
    let study = |header: &BlockId| Some(code.study(*header)).filter(|of| !code.ends(of));
    let mut open: Vec<Loop> = headers.iter().filter(|header| asked(**header)).filter_map(study).collect();
    if open.is_empty() {
        return Some(Vec::new());
    }
    open.extend(headers.iter().filter(|header| !asked(**header)).filter_map(study));
    open.sort_by_key(|of| graph.position[of.header]);
    // One that runs in step with another ends as often as that, with all loops inside.
    let (first, mut search) = (open.clone(), twins::Search::new());
    for (place, twin) in first.iter().enumerate() {
        if first[..place].iter().any(|first| code.is_twin(first, twin, &mut search)) {
            open.retain(|of| !twin.body[of.header]);
        }
    }
    Some(open.into_iter().map(|of| of.header).filter(|header| asked(*header)).collect())
}

/// A function with what is known about it.
struct Code<'f> {
    function: &'f Function,
    graph: &'f Graph,
    definitions: Definitions,
    homes: Homes,
}

/// A loop.
#[derive(Clone)]
struct Loop<'f> {
    header: BlockId,
    body: EntityVec<BlockId, bool>,
    /// What enters the header from inside.
    rounds: Vec<&'f Target>,
    /// What enters it from outside.
    starts: Vec<&'f Target>,
    latches: Vec<BlockId>,
}

impl<'f> Code<'f> {
    fn new(function: &'f Function, graph: &'f Graph) -> Code<'f> {
        Code { function, graph, definitions: Definitions::new(function), homes: homes(function) }
    }

    fn ends(&self, around: &Loop<'f>) -> bool {
        let params = &self.function.blocks[around.header].params;
        let descends = |position: usize, param: Value| {
            around.rounds.iter().all(|target| self.relation(target.args[position], param) == Relation::Part)
        };
        let mut params = params.iter().enumerate().filter(|(_, param)| self.function.values[**param] == Type::Ptr);
        params.any(|(position, param)| descends(position, *param)) || self.counts(around) || self.is_short(around)
    }

    fn study(&self, header: BlockId) -> Loop<'f> {
        let body = self.graph.loop_body(header);
        let mut from = self.graph.predecessors[header].clone();
        from.sort_unstable();
        from.dedup();
        let mut around = Loop { header, body, rounds: Vec::new(), starts: Vec::new(), latches: Vec::new() };
        for from in from {
            let targets = self.function.blocks[from].terminator.targets().into_iter();
            let targets = targets.filter(|target| target.block == header);
            if around.body[from] {
                around.rounds.extend(targets);
                around.latches.push(from);
            } else {
                around.starts.extend(targets);
            }
        }
        around
    }

    /// What a value is to a parameter of a block that dominates it.
    fn relation(&self, value: Value, root: Value) -> Relation {
        let mut found = Relation::Part;
        let mut seen = FxHashSet::default();
        let mut waiting = vec![(value, false)];
        while let Some((value, is_part)) = waiting.pop() {
            if value == root {
                if !is_part {
                    found = Relation::Same;
                }
                continue;
            }
            if !seen.insert((value, is_part)) {
                continue;
            }
            if let Some(inst) = self.definitions.inst(self.function, value) {
                match inst.op {
                    Op::Field(..) | Op::Element(..) | Op::TakeElement(..) => waiting.push((inst.args[0], true)),
                    Op::Select => waiting.extend(inst.args[1..].iter().map(|arg| (*arg, is_part))),
                    Op::Opaque => waiting.push((inst.args[0], is_part)),
                    _ => return Relation::None,
                }
                continue;
            }
            // A parameter of a block on the way is one of what jumps pass. That of a block above the root has nothing
            // to do with it.
            let Some((block, position)) = self.param(value) else { return Relation::None };
            let is_below = self.homes.get(root).is_some_and(|above| above != block && self.dominates(above, block));
            if !is_below {
                return Relation::None;
            }
            for from in &self.graph.predecessors[block] {
                let targets = self.function.blocks[*from].terminator.targets();
                let passed = targets.into_iter().filter(|target| target.block == block);
                waiting.extend(passed.map(|target| (target.args[position], is_part)));
            }
        }
        found
    }

    /// The block that a value is a parameter of, and the position.
    fn param(&self, value: Value) -> Option<(BlockId, usize)> {
        let home = self.homes.get(value)?;
        let position = self.function.blocks[home].params.iter().position(|param| *param == value)?;
        Some((home, position))
    }

    fn dominates(&self, above: BlockId, below: BlockId) -> bool {
        self.graph.is_reachable(above) && self.graph.is_reachable(below) && self.graph.dominates(above, below)
    }
}

/// What a value is to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// A part of it, and not all of it.
    Part,
    /// A part of it, or all of it.
    Same,
    /// Neither.
    None,
}

/// A call, and for each parameter of the callee those of the caller that it is passed (a part of).
#[derive(Clone, Debug)]
pub struct CallOf {
    callee: FuncId,
    passed: Vec<Vec<(usize, Relation)>>,
}

/// The calls of a function in the order of its code, tail calls included.
pub fn calls(function: &Function) -> Vec<CallOf> {
    let graph = Graph::new(function);
    let code = Code::new(function, &graph);
    let roots: Vec<(usize, Value)> = function.params().iter().copied().enumerate().collect();
    let related = |arg: &Value| {
        let same_type =
            roots.iter().filter(|(_, root)| function.values[*root] == Type::Ptr && function.values[*arg] == Type::Ptr);
        let relation = |(position, root): &(usize, Value)| (*position, code.relation(*arg, *root));
        same_type.map(relation).filter(|(_, relation)| *relation != Relation::None).collect::<Vec<_>>()
    };
    let mut calls = Vec::new();
    for block in &graph.order {
        let block = &function.blocks[*block];
        for inst in &block.insts {
            if let Op::Call(callee) = inst.op {
                calls.push(CallOf { callee, passed: inst.args.iter().map(related).collect() });
            }
        }
        if let Terminator::TailCall(callee, args) = &block.terminator {
            calls.push(CallOf { callee: *callee, passed: args.iter().map(related).collect() });
        }
    }
    calls
}

/// Functions that call each other, under names that count them only.
struct Recursion<'c> {
    functions: EntityVec<FuncId, FuncId>,
    calls: Vec<Call<'c>>,
}

/// A call among them.
struct Call<'c> {
    caller: FuncId,
    callee: FuncId,
    passed: &'c [Vec<(usize, Relation)>],
}

impl<'c> Recursion<'c> {
    fn new(members: &[FuncId], calls: impl Fn(FuncId) -> &'c [CallOf]) -> Recursion<'c> {
        let functions: EntityVec<FuncId, FuncId> = members.iter().copied().collect();
        let names: FxHashMap<FuncId, FuncId> = functions.iter().map(|(name, id)| (*id, name)).collect();
        let among = |(caller, id): (FuncId, &FuncId)| {
            let named =
                |call: &'c CallOf| Some(Call { caller, callee: *names.get(&call.callee)?, passed: &call.passed });
            calls(*id).iter().filter_map(named).collect::<Vec<_>>()
        };
        let calls = functions.iter().flat_map(among).collect();
        Recursion { functions, calls }
    }

    /// Whether there is an order in which the arguments of all calls descend.
    fn ends(mut self) -> bool {
        loop {
            // What cannot come back to itself ends.
            self.keep_cycles();
            let Some(first) = self.calls.first() else { return true };
            let positions = self.calls.iter().find(|call| call.callee == first.caller).map_or(0, |c| c.passed.len());
            let mut calls_of = self.functions.same_ids(Vec::new());
            self.calls.iter().for_each(|call| calls_of[call.caller].push(call));
            let choices = (0..positions).map(|position| choose(&calls_of, first.caller, position));
            let Some(chosen) = choices.flatten().next() else { return false };
            // Calls that go on with a part happen finitely often in a row without end, and so do not matter for it.
            self.calls.retain(|call| relation(call, &chosen) != Relation::Part);
        }
    }

    /// Drops the calls that are not part of a cycle of calls.
    fn keep_cycles(&mut self) {
        let mut edges: EntityVec<FuncId, Vec<FuncId>> = self.functions.same_ids(Vec::new());
        self.calls.iter().for_each(|call| edges[call.caller].push(call.callee));
        let mut component_of = self.functions.same_ids(0);
        for (number, component) in components(&edges).into_iter().enumerate() {
            component.into_iter().for_each(|member| component_of[member] = number);
        }
        self.calls.retain(|call| component_of[call.caller] == component_of[call.callee]);
    }
}

/// The parameters, one of each function that can be reached from this one, that no call makes larger and one call makes
/// smaller, beginning with this one.
fn choose(
    calls_of: &EntityVec<FuncId, Vec<&Call<'_>>>,
    first: FuncId,
    position: usize,
) -> Option<FxHashMap<FuncId, usize>> {
    let mut chosen = FxHashMap::default();
    chosen.insert(first, position);
    let mut waiting = vec![first];
    let mut descends = false;
    while let Some(caller) = waiting.pop() {
        for call in &calls_of[caller] {
            if !chosen.contains_key(&call.callee) {
                let from = chosen[&caller];
                let find = |wanted: Relation| call.passed.iter().position(|passed| passed.contains(&(from, wanted)));
                chosen.insert(call.callee, find(Relation::Part).or_else(|| find(Relation::Same))?);
                waiting.push(call.callee);
            }
            match relation(call, &chosen) {
                Relation::Part => descends = true,
                Relation::Same => {}
                Relation::None => return None,
            }
        }
    }
    descends.then_some(chosen)
}

/// What a call passes for the chosen parameter of its callee, to the chosen one of its caller.
fn relation(call: &Call<'_>, chosen: &FxHashMap<FuncId, usize>) -> Relation {
    let (Some(from), Some(to)) = (chosen.get(&call.caller), chosen.get(&call.callee)) else { return Relation::None };
    call.passed[*to].iter().find(|(position, _)| position == from).map_or(Relation::None, |(_, relation)| *relation)
}
