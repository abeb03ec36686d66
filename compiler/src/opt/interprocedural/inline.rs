//! Inlining: SSA → SSA.
//!
//! ```text
//! fn fn1 "square"(v0: f64) -> f64 {        fn fn2(v0: f64) -> f64 {
//! b0:                                      b0:
//!     v1 = mul v0, v0                          jump b1
//!     return v1                            b1:
//! }                                    →       v3 = mul v0, v0
//! fn fn2(v0: f64) -> f64 {                     jump b2(v3)
//! b0:                                      b2(v1: f64):
//!     v1 = call fn1(v0)                        v2 = add v1, v1
//!     v2 = add v1, v1                          return v2
//!     return v2
//! }
//! ```
//!
//! Functions are treated callees first, except that a function which is called from one place is treated as a part of
//! its caller, so that its code is copied once. In every cycle of the call graph one function, at least, is a
//! *breaker*: its calls stay, so what is inlined never contains itself and the process ends. Of the rest are inlined:
//! functions that are called from one place only, small functions, and larger ones as long as the caller and the whole
//! program stay within their budgets. How large a function is that is called from several places is a matter of what
//! belongs to it, too: copies of it would share that, so that a gradient would lose its loops.
//!
//! Requires functions in the form that [`crate::opt::interprocedural::tail_calls`] leaves, or loops would be breakers
//! for nothing. Exposes what was a parameter or a result to all passes within functions.
//!
//! Tests: `tests/opt/inline/`.

use crate::base::EntityVec;
use crate::opt::edit::rewrite::{paste, size};
use crate::opt::interprocedural::compact;
use crate::opt::interprocedural::sharing;
use crate::opt::scalar::simplify_cfg;
use crate::ssa::call_graph::{callees, components};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{
    Block, BlockId, FuncId, Function, InlinedId, Inst, Op, Program, Source, Target, Terminator, Value, Walk,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Callees up to this size are always inlined: about what a call costs.
const SMALL: usize = 40;
/// Callees up to this size are inlined while the budgets last.
const MEDIUM: usize = 160;
/// Callees up to this size are inlined into a loop of which they are a part, as they call it in turn: what the loop
/// reads from a tape and what becomes of it should be in one function.
const MOST_OF_ROUND: usize = 4 * MEDIUM;
/// Callers larger than this only take small functions and those that nobody else calls.
const LARGEST_CALLER: usize = 2_000;
/// Nothing is inlined into functions of this size: what the later stages do takes time that grows faster than
/// functions.
const ENOUGH: usize = 4_000;

/// Inlines in every function. Copies of functions that are not small are made until the program has `most`
/// instructions.
pub fn run(program: &mut Program, most: usize) -> bool {
    let edges: EntityVec<FuncId, Vec<FuncId>> = program.functions.values().map(callees).collect();
    let mut sites = program.functions.same_ids(0u32);
    edges.values().flatten().for_each(|callee| sites[*callee] += 1);
    let mut cycles = program.functions.same_ids(0);
    let components = components(&edges);
    for (number, component) in components.iter().enumerate() {
        component.iter().for_each(|id| cycles[*id] = number);
    }
    let repeats = |id: FuncId| {
        edges[id].contains(&id) || calls_in_loop(&program.functions[id], |callee| cycles[callee] == cycles[id])
    };
    let loops: EntityVec<FuncId, bool> = program.functions.ids().map(repeats).collect();
    let (order, is_breaker) = order(&edges, &sites, &loops);
    let sizes: EntityVec<FuncId, usize> = program.functions.values().map(size).collect();
    let total: usize = sizes.values().sum();
    let owned = owned(&components, &edges, &sizes, &cycles);
    let apart = kept_apart(program, &cycles);
    let stays = too_large(&order, &edges, &sizes, |id| sites[id] == 1 && !is_breaker[id]);
    let is_waiting = program.functions.same_ids(false);
    let budget = most.saturating_sub(total);
    let mut inliner =
        Inliner { program, sites, is_breaker, loops, cycles, owned, apart, stays, is_waiting, sizes, budget };
    let mut changed = false;
    for id in order {
        changed |= inliner.function(id);
    }
    // Nobody should work on functions whose only call is gone.
    changed | compact::run(program)
}

/// The functions with callees first, except for calls of breakers.
fn order(
    edges: &EntityVec<FuncId, Vec<FuncId>>,
    sites: &EntityVec<FuncId, u32>,
    loops: &EntityVec<FuncId, bool>,
) -> (Vec<FuncId>, EntityVec<FuncId, bool>) {
    let mut is_breaker = edges.same_ids(false);
    for (id, callees) in edges.iter() {
        is_breaker[id] = callees.contains(&id);
    }
    let mut edges = edges.clone();
    loop {
        for callees in edges.values_mut() {
            callees.retain(|callee| !is_breaker[*callee]);
        }
        let components = components(&edges);
        let mut found = false;
        for component in &components {
            if component.len() > 1 {
                choose_breakers(component, sites, loops).for_each(|id| is_breaker[id] = true);
                found = true;
            }
        }
        if !found {
            return (components.into_iter().flatten().collect(), is_breaker);
        }
    }
}

/// The sizes of cycles of the call graph together with those that are called from one place outside of them, and so on.
fn owned(
    components: &[Vec<FuncId>],
    edges: &EntityVec<FuncId, Vec<FuncId>>,
    sizes: &EntityVec<FuncId, usize>,
    cycles: &EntityVec<FuncId, usize>,
) -> Vec<usize> {
    let mut calls = vec![0; components.len()];
    for (id, callees) in edges.iter() {
        callees.iter().filter(|callee| cycles[**callee] != cycles[id]).for_each(|callee| calls[cycles[*callee]] += 1);
    }
    let mut owned: Vec<usize> = Vec::with_capacity(components.len());
    // Callees come first.
    for (number, component) in components.iter().enumerate() {
        let called = component.iter().flat_map(|id| &edges[*id]).map(|callee| cycles[*callee]);
        let parts: usize =
            called.filter(|callee| *callee != number && calls[*callee] == 1).map(|part| owned[part]).sum();
        owned.push(parts + component.iter().map(|id| sizes[*id]).sum::<usize>());
    }
    owned
}

/// Which functions that are called from one place do not become part of their caller, because it would be too large
/// with them: as few as possible, so that what belongs to one of them, like both phases of a gradient, stays together.
fn too_large(
    order: &[FuncId],
    edges: &EntityVec<FuncId, Vec<FuncId>>,
    sizes: &EntityVec<FuncId, usize>,
    is_part: impl Fn(FuncId) -> bool,
) -> EntityVec<FuncId, bool> {
    let mut stays = sizes.same_ids(false);
    // Sizes together with all parts.
    let mut whole = sizes.clone();
    for id in order {
        let mut parts: Vec<FuncId> =
            edges[*id].iter().copied().filter(|callee| callee != id && is_part(*callee) && !stays[*callee]).collect();
        whole[*id] += parts.iter().map(|part| whole[*part]).sum::<usize>();
        parts.sort_by_key(|part| (whole[*part], *part));
        while whole[*id] > ENOUGH
            && let Some(largest) = parts.pop()
        {
            stays[largest] = true;
            whole[*id] -= whole[largest];
        }
    }
    stays
}

/// Cycles of more functions than this are broken in several places at once, so that few rounds break all of them.
const LARGE_CYCLE: usize = 64;

/// The functions of a cycle that are best not inlined: those that go round it in loops, so that what they do in a round
/// becomes a part of them, and of these those called from most places.
fn choose_breakers(
    component: &[FuncId],
    sites: &EntityVec<FuncId, u32>,
    loops: &EntityVec<FuncId, bool>,
) -> impl Iterator<Item = FuncId> {
    let mut functions = component.to_vec();
    functions.sort_by_key(|id| (!loops[*id], std::cmp::Reverse(sites[*id]), *id));
    functions.into_iter().take(1 + component.len() / LARGE_CYCLE)
}

/// Where a function is not inlined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Apart {
    No,
    InCycle,
    Everywhere,
}

/// The functions that walk data and have to be asked whether they have walked some before ([`sharing`]): those of a
/// cycle that goes on in several ways, for each other, and those that walk the elements of a vector. And those that
/// exchange values between processes: what one of them hands over and what another one takes has to pass the same
/// instruction, so that passes which change the layouts of data find that these belong together. As a part of a loop it
/// would be copied to the ways of both.
fn kept_apart(program: &Program, cycles: &EntityVec<FuncId, usize>) -> EntityVec<FuncId, Apart> {
    let mut apart = program.functions.same_ids(Apart::No);
    let mut branching: FxHashSet<usize> = FxHashSet::default();
    for (id, _) in program.functions.iter().filter(|(_, function)| function.walk == Walk::Shared) {
        let is_walker = |callee: FuncId| program.functions[callee].walk == Walk::Shared;
        if calls_in_loop(&program.functions[id], is_walker) {
            apart[id] = Apart::Everywhere;
        }
        let in_cycle = |callee: &FuncId| cycles[*callee] == cycles[id];
        let calls_on = callees(&program.functions[id]).iter().filter(|callee| in_cycle(callee)).count();
        // A call in a loop is one that there may be several of.
        if calls_on > 1 || calls_on == 1 && apart[id] == Apart::Everywhere {
            let pairs = sharing::calls_of_one_run(program, id);
            if pairs.iter().any(|pair| pair.iter().all(in_cycle)) {
                branching.insert(cycles[id]);
            }
        }
    }
    for (id, function) in program.functions.iter() {
        if function.blocks.values().flat_map(|block| &block.insts).any(|inst| inst.op == Op::Exchange) {
            apart[id] = Apart::Everywhere;
        }
        if function.walk == Walk::Shared && apart[id] == Apart::No && branching.contains(&cycles[id]) {
            apart[id] = Apart::InCycle;
        }
    }
    apart
}

/// Whether a loop of the function calls one of certain functions.
fn calls_in_loop(function: &Function, is_certain: impl Fn(FuncId) -> bool) -> bool {
    let calls =
        |block: &Block| block.insts.iter().any(|inst| matches!(inst.op, Op::Call(callee) if is_certain(callee)));
    let calling: Vec<BlockId> = function.blocks.iter().filter(|(_, block)| calls(block)).map(|(id, _)| id).collect();
    if calling.is_empty() {
        return false;
    }
    let graph = Graph::new(function);
    let headers = graph.order.iter().filter(|block| graph.is_loop_header(**block));
    headers.map(|header| graph.loop_body(*header)).any(|body| calling.iter().any(|block| body[*block]))
}

struct Inliner<'p> {
    program: &'p mut Program,
    /// From how many places each function is called.
    sites: EntityVec<FuncId, u32>,
    is_breaker: EntityVec<FuncId, bool>,
    /// Functions that call functions of their cycle again and again, be it themselves.
    loops: EntityVec<FuncId, bool>,
    /// The cycle of the call graph that each function belongs to.
    cycles: EntityVec<FuncId, usize>,
    /// How large each cycle is with what belongs to it.
    owned: Vec<usize>,
    /// Functions that walk data and stay what they are: in all callers, or in those of their cycle.
    apart: EntityVec<FuncId, Apart>,
    /// Functions that are called from one place and do not become part of their callers.
    stays: EntityVec<FuncId, bool>,
    /// Functions that were not treated because they become part of their callers.
    is_waiting: EntityVec<FuncId, bool>,
    sizes: EntityVec<FuncId, usize>,
    /// How much the program may still grow by inlining functions that are not small.
    budget: usize,
}

/// The function that takes in others.
struct Caller<'c> {
    id: FuncId,
    /// Its size so far.
    grown: &'c mut usize,
    /// The blocks whose calls are still to be looked at.
    blocks: &'c mut Vec<BlockId>,
    /// Functions that are called from here only and did not fit: they have to be treated on their own.
    refused: &'c mut Vec<FuncId>,
}

impl Inliner<'_> {
    fn function(&mut self, id: FuncId) -> bool {
        let is_part = self.sites[id] == 1 && !self.is_breaker[id] && !self.stays[id];
        if is_part && !std::mem::replace(&mut self.is_waiting[id], true) {
            // It becomes a part of its caller, which comes later in the order.
            return false;
        }
        let mut function = std::mem::replace(&mut self.program.functions[id], Function::new("".into(), &[], vec![]));
        let mut grown = self.sizes[id];
        let mut changed = false;
        let mut refused = Vec::new();
        let mut blocks: Vec<BlockId> = function.blocks.ids().collect();
        while let Some(block) = blocks.pop() {
            let mut site = Caller { id, grown: &mut grown, blocks: &mut blocks, refused: &mut refused };
            changed |= self.block(&mut function, block, &mut site);
        }
        if changed {
            simplify_cfg::simplify(&mut function);
            self.sizes[id] = size(&function);
        }
        self.program.functions[id] = function;
        for callee in refused {
            changed |= self.function(callee);
        }
        changed
    }

    /// Inlines the calls of one block, the last first, so that what follows a call moves only once.
    fn block(&mut self, function: &mut Function, block: BlockId, caller: &mut Caller) -> bool {
        let mut changed = false;
        if let Terminator::TailCall(callee, args) = &function.blocks[block].terminator
            && self.is_worth_it(*callee, caller)
        {
            let (callee, args) = (*callee, args.clone());
            let start = function.blocks.next_id();
            function.blocks[block].terminator = Terminator::Jump(Target { block: start, args: Vec::new() });
            self.paste(function, callee, &args, None, caller);
            changed = true;
        }
        for index in (0..function.blocks[block].insts.len()).rev() {
            let inst = &function.blocks[block].insts[index];
            if let Op::Call(callee) = inst.op
                && self.is_worth_it(callee, caller)
            {
                let inst = inst.clone();
                let rest = split(function, block, index, &inst);
                self.paste(function, callee, &inst.args, Some((rest, inst.span)), caller);
                changed = true;
            }
        }
        changed
    }

    fn is_worth_it(&mut self, callee: FuncId, caller: &mut Caller) -> bool {
        if caller.id == callee || self.is_breaker[callee] {
            return false;
        }
        let in_cycle = self.cycles[caller.id] == self.cycles[callee];
        let is_apart = match self.apart[callee] {
            Apart::No => false,
            Apart::InCycle => in_cycle,
            Apart::Everywhere => true,
        };
        let size = self.sizes[callee];
        let once = self.sites[callee] == 1 && self.is_waiting[callee];
        let fits = *caller.grown + size <= ENOUGH;
        let is_round = in_cycle && self.loops[caller.id] && !self.loops[callee];
        let most = if is_round { MOST_OF_ROUND } else { MEDIUM };
        let medium = size <= most && *caller.grown + size <= LARGEST_CALLER && size <= self.budget;
        let is_copied_whole = in_cycle || self.owned[self.cycles[callee]] <= MEDIUM;
        if is_apart || !fits || !(once || is_copied_whole && (size <= SMALL || medium)) {
            if once {
                caller.refused.push(callee);
            }
            return false;
        }
        *caller.grown += size;
        self.sites[callee] -= 1;
        if !once {
            self.budget -= if size > SMALL { size } else { 0 };
            callees(&self.program.functions[callee]).into_iter().for_each(|other| self.sites[other] += 1);
        }
        true
    }

    /// Appends the code of `callee` on `args`. Its results go to a block, for a call from some place, or are those of
    /// the function.
    fn paste(
        &mut self,
        function: &mut Function,
        callee: FuncId,
        args: &[Value],
        next: Option<(BlockId, Option<Source>)>,
        caller: &mut Caller,
    ) {
        let code = &self.program.functions[callee];
        if self.is_waiting[callee] {
            let first = function.blocks.next_id().0;
            caller.blocks.extend(code.blocks.ids().map(|block| BlockId(first + block.0)));
        }
        let pasted = paste(function, code, args);
        // What is called last has no caller but that of its function.
        let Some((next, call)) = next else { return };
        let mut places =
            call.map(|call| Places { inlined: &mut self.program.inlined, call, known: FxHashMap::default() });
        for block in pasted {
            if let Some(places) = &mut places {
                let Block { insts, terminator, .. } = &mut function.blocks[block];
                insts.iter_mut().filter_map(|inst| inst.span.as_mut()).for_each(|source| places.add_to(source));
                if let Terminator::Fail(_, Some(source)) = terminator {
                    places.add_to(source);
                }
            }
            leave(function, block, next, call);
        }
    }
}

/// Lets a block continue at `next` where it leaves its function, which was called from some place.
fn leave(function: &mut Function, last: BlockId, next: BlockId, call: Option<Source>) {
    match function.blocks[last].terminator.clone() {
        Terminator::Return(args) => {
            function.blocks[last].terminator = Terminator::Jump(Target { block: next, args });
        }
        Terminator::TailCall(callee, args) => {
            let types = &function.blocks[next].params.iter().map(|v| function.values[*v]).collect::<Vec<_>>();
            let results: Vec<Value> = types.iter().map(|ty| function.values.push(*ty)).collect();
            let call = Inst { op: Op::Call(callee), args: args.into(), results: results.clone().into(), span: call };
            function.blocks[last].insts.push(call);
            function.blocks[last].terminator = Terminator::Jump(Target { block: next, args: results });
        }
        _ => {}
    }
}

/// What says of inlined code that it was called.
struct Places<'p> {
    inlined: &'p mut EntityVec<InlinedId, Source>,
    /// The call.
    call: Source,
    /// The calls within the function, and what they are now.
    known: FxHashMap<Option<InlinedId>, InlinedId>,
}

impl Places<'_> {
    fn add_to(&mut self, source: &mut Source) {
        source.within = Some(self.call_around(source.within));
    }

    /// The call within the function, or the function's own, where there is none.
    fn call_around(&mut self, within: Option<InlinedId>) -> InlinedId {
        if let Some(known) = self.known.get(&within) {
            return *known;
        }
        let around = match within.map(|inner| self.inlined[inner]) {
            Some(inner) => Source { within: Some(self.call_around(inner.within)), ..inner },
            None => self.call,
        };
        let around = self.inlined.push(around);
        self.known.insert(within, around);
        around
    }
}

/// Cuts a block at a call: the rest becomes a block that takes the results of the call as parameters, and the first
/// part jumps to the block that will be added next but one. Returns the rest.
fn split(function: &mut Function, block: BlockId, index: usize, call: &Inst) -> BlockId {
    let before = &mut function.blocks[block];
    let insts = before.insts.split_off(index + 1);
    before.insts.pop();
    let terminator = std::mem::replace(&mut before.terminator, Terminator::Unreachable);
    let rest = function.blocks.push(Block { params: call.results.to_vec(), insts, terminator });
    let start = function.blocks.next_id();
    function.blocks[block].terminator = Terminator::Jump(Target { block: start, args: Vec::new() });
    rest
}
