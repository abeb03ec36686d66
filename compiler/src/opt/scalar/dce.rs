//! Aggressive dead code elimination: SSA → SSA.
//!
//! ```text
//! b1: branch v1, b2, b3                    b1: jump b4
//! b2: v2 = new_vector.vec0 v0
//!     jump b4(v2)
//! b3: jump b4(v3)                     →
//! b4(v4: ptr):                             b4:
//!     v5 = mul v0, v0                          return v0
//!     return v0
//! ```
//!
//! Nothing is needed until something with an effect turns out to need it: instructions, parameters of blocks and
//! branches. A call of a function that can only return has no effect; one that is not known to end has
//! ([`crate::opt::analysis::termination`]). A branch is needed if something that is needed happens on one of its ways
//! and not on the other: control dependence, as computed from postdominators (Cytron, Ferrante, Rosen, Wegman and
//! Zadeck, *Efficiently Computing Static Single Assignment Form and the Control Dependence Graph*, 1991, section 7.1).
//! Other branches go where their ways meet. So loops that compute nothing go, as are left where the elements of a
//! vector turn out to need no computation; and so do sensitivities of what nobody differentiates by: loops carry along
//! a choice of what they are, nothing or a vector, and in each round branches look at the choice to make the next one.
//!
//! Ways that lead to an error are needed, with the branches that take them, and do not count as ways otherwise; nor do
//! those to blocks that cannot be reached. In a function that never returns errors are where ways lead. Where a loop
//! that is not known to end is left is needed as well.
//!
//! [`drop_checks`] keeps the check that two vectors that are added have one length only where both lengths are needed:
//! a sum of sensitivities that nobody asks for must not keep these alive. It is a pass of its own because `tape-loops`
//! recognises the readers of tapes by the lengths that they hand on.
//!
//! Changes of vectors that nobody sees go, too ([`super::replaced_elements`]).
//!
//! Not done: parameters and results of functions, fields of boxes (see
//! [`crate::opt::interprocedural::dead_across_calls`]).
//!
//! Tests: `tests/opt/dce/`.

use crate::base::EntityVec;
use crate::opt::Context;
use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::termination;
use crate::opt::edit::rewrite::{Definitions, is_constant};
use crate::opt::scalar::replaced_elements::skip_replaced_elements;
use crate::opt::scalar::simplify_cfg;
use crate::opt::scalar::unused::{Sources, drop_dead, eliminate};
use crate::ssa::graph::{Blocks, Graph, Positions, immediate_dominators, reverse_postorder};
use crate::ssa::ir::{Block, BlockId, Function, IntCompare, Op, Target, Terminator, Value};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// Cleans a function.
pub fn run(function: &mut Function, context: &Context) -> bool {
    clean(function, context, Conformity::Checked)
}

/// Cleans a function, and drops checks of lengths of which nobody needs both.
pub fn drop_checks(function: &mut Function, context: &Context) -> bool {
    clean(function, context, Conformity::WhereNeeded)
}

/// Which checks that two lengths are equal stay ([`IntCompare::Conform`]).
#[derive(Clone, Copy, PartialEq)]
enum Conformity {
    /// All.
    Checked,
    /// Those of two lengths that both are needed by something else.
    WhereNeeded,
}

fn clean(function: &mut Function, context: &Context, conformity: Conformity) -> bool {
    let mut changed = skip_replaced_elements(function);
    // Where branches have gone, less is needed.
    loop {
        let (has_dropped, again) = drop_unneeded(function, context.effects, conformity);
        changed |= has_dropped;
        if !again {
            return changed;
        }
    }
}

/// Drops what is not needed: whether that changes anything, and whether branches are among it.
fn drop_unneeded(function: &mut Function, effects: &Effects, conformity: Conformity) -> (bool, bool) {
    let branches = function.blocks.values().any(|block| block.terminator.target_count() > 1);
    let Some(ways) = branches.then(|| Ways::new(function)).flatten() else {
        return (eliminate(function, effects), false);
    };
    let find_dead = |leaving: &[BlockId]| {
        let Needed { values, branches, .. } = Needed::new(function, effects, conformity, &ways, leaving);
        let is_dead = |id: &BlockId| function.blocks[*id].terminator.target_count() > 1 && !branches[*id];
        let dead = ways.order.iter().filter(|id| is_dead(id)).filter_map(|id| Some((*id, ways.meeting(*id)?)));
        (dead.collect::<Vec<(BlockId, BlockId)>>(), values)
    };
    let (mut dead, mut values) = find_dead(&[]);
    if !dead.is_empty() {
        // Which loops end takes longer to find out, and matters only for those that are left by such a branch.
        let graph = Graph::new(function);
        let leaving: FxHashMap<BlockId, Vec<BlockId>> = left_by(function, &graph, &dead);
        let asked = |header: BlockId| leaving.contains_key(&header);
        let Some(endless) = termination::endless_loops(function, &graph, asked) else {
            return (eliminate(function, effects), false);
        };
        if !endless.is_empty() {
            let leaving: Vec<BlockId> = endless.iter().flat_map(|header| leaving[header].iter().copied()).collect();
            (dead, values) = find_dead(&leaving);
        }
    }
    let has_dropped = drop_dead(function, effects, &values);
    if dead.is_empty() {
        return (has_dropped, false);
    }
    for (id, block) in dead {
        let target = function.blocks[id].terminator.targets().into_iter().find(|target| target.block == block);
        let args = target.map_or_else(Vec::new, |target| target.args.clone());
        debug_assert!(function.blocks[block].params.len() == args.len(), "what is needed there tells the ways apart");
        function.blocks[id].terminator = Terminator::Jump(Target { block, args });
    }
    simplify_cfg::simplify(function);
    (true, true)
}

/// The loops that are left by one of these branches: the blocks that lead out, by headers.
fn left_by(function: &Function, graph: &Graph, branches: &[(BlockId, BlockId)]) -> FxHashMap<BlockId, Vec<BlockId>> {
    let mut found = FxHashMap::default();
    for header in graph.order.iter().filter(|block| graph.is_loop_header(**block)) {
        let body = graph.loop_body(*header);
        let is_way = |target: &&Target| !body[target.block] && !is_unreachable(&function.blocks[target.block]);
        let leads_out = |id: &BlockId| function.blocks[*id].terminator.targets().iter().any(is_way);
        if branches.iter().any(|(id, _)| body[*id] && leads_out(id)) {
            let inside = body.iter().filter(|(_, is_inside)| **is_inside).map(|(id, _)| id);
            found.insert(*header, inside.filter(leads_out).collect());
        }
    }
    found
}

fn is_unreachable(block: &Block) -> bool {
    block.insts.is_empty() && block.terminator == Terminator::Unreachable
}

/// How blocks get to where the function returns; or fails, if it never returns.
struct Ways {
    /// The blocks that can be reached and can get there.
    order: Vec<BlockId>,
    /// Where each of these stands in `order`.
    position: EntityVec<BlockId, Option<usize>>,
    /// For each of these the block on all its ways that comes first, by position; for those without one, the number of
    /// positions.
    meeting: Vec<usize>,
    /// For each of these, the blocks whose branch decides whether it is reached.
    deciding: Vec<Vec<BlockId>>,
}

impl Ways {
    fn new(function: &Function) -> Option<Ways> {
        let reachable = reverse_postorder(function);
        let mut predecessors = function.blocks.same_ids(Blocks::new());
        let mut returns = function.blocks.same_ids(false);
        let mut waiting = Vec::new();
        for id in &reachable {
            let terminator = &function.blocks[*id].terminator;
            terminator.targets().iter().for_each(|target| predecessors[target.block].push(*id));
            if matches!(terminator, Terminator::Return(_) | Terminator::TailCall(..)) {
                waiting.push(*id);
            }
        }
        mark_with_predecessors(waiting, &predecessors, &mut returns);
        if !returns[Function::ENTRY] {
            let fails = |id: &&BlockId| matches!(function.blocks[**id].terminator, Terminator::Fail(..));
            let waiting = reachable.iter().filter(fails).copied().collect();
            mark_with_predecessors(waiting, &predecessors, &mut returns);
        }
        if !returns[Function::ENTRY] {
            return None;
        }
        let order: Vec<BlockId> = reachable.into_iter().filter(|id| returns[*id]).collect();
        let mut position = function.blocks.same_ids(None);
        order.iter().enumerate().for_each(|(place, id)| position[*id] = Some(place));
        let mut ways = Ways { meeting: Vec::new(), deciding: vec![Vec::new(); order.len()], order, position };
        ways.find_meetings(function, &predecessors);
        ways.find_deciding(function);
        Some(ways)
    }

    /// Where a block leads to: positions.
    fn successors(&self, function: &Function, id: BlockId) -> Positions {
        let targets = function.blocks[id].terminator.targets();
        let mut found: Positions = targets.iter().filter_map(|target| self.position[target.block]).collect();
        found.dedup();
        if found.is_empty() { smallvec![self.order.len()] } else { found }
    }

    /// The first block on all ways from a block.
    fn meeting(&self, id: BlockId) -> Option<BlockId> {
        self.order.get(self.meeting[self.position[id]?]).copied()
    }

    /// Immediate postdominators: dominators of the graph turned around, whose entry is where the function returns.
    fn find_meetings(&mut self, function: &Function, predecessors: &EntityVec<BlockId, Blocks>) {
        let exit = self.order.len();
        let successors: Vec<Positions> = self.order.iter().map(|id| self.successors(function, *id)).collect();
        let mut postorder = Vec::new();
        let mut seen = vec![false; exit];
        for (last, _) in successors.iter().enumerate().filter(|(_, next)| next[..] == [exit]) {
            let mut stack = vec![(last, 0)];
            seen[last] = true;
            while let Some((place, edge)) = stack.pop() {
                let Some(from) = predecessors[self.order[place]].get(edge) else {
                    postorder.push(place);
                    continue;
                };
                stack.push((place, edge + 1));
                if let Some(from) = self.position[*from]
                    && !std::mem::replace(&mut seen[from], true)
                {
                    stack.push((from, 0));
                }
            }
        }
        let nodes: Vec<usize> = std::iter::once(exit).chain(postorder.into_iter().rev()).collect();
        let mut numbers = vec![0; exit + 1];
        nodes.iter().enumerate().for_each(|(number, place)| numbers[*place] = number);
        let before = |place: &usize| successors[*place].iter().map(|next| numbers[*next]).collect();
        let before: Vec<Positions> = std::iter::once(Positions::new()).chain(nodes[1..].iter().map(before)).collect();
        let meetings = immediate_dominators(&before);
        self.meeting = (0..exit).map(|place| nodes[meetings[numbers[place]]]).collect();
    }

    fn find_deciding(&mut self, function: &Function) {
        for (place, id) in self.order.iter().enumerate() {
            let successors = self.successors(function, *id);
            if successors.len() < 2 {
                continue;
            }
            for mut next in successors {
                while next != self.meeting[place] {
                    if self.deciding[next].last() != Some(id) {
                        self.deciding[next].push(*id);
                    }
                    next = self.meeting[next];
                }
            }
        }
    }
}

/// Marks blocks, and all that can get to them.
fn mark_with_predecessors(
    mut waiting: Vec<BlockId>,
    predecessors: &EntityVec<BlockId, Blocks>,
    marked: &mut EntityVec<BlockId, bool>,
) {
    while let Some(id) = waiting.pop() {
        if !std::mem::replace(&mut marked[id], true) {
            waiting.extend_from_slice(&predecessors[id]);
        }
    }
}

/// What a function needs to do what it does.
struct Needed<'f> {
    function: &'f Function,
    ways: &'f Ways,
    values: EntityVec<Value, bool>,
    /// Blocks whose branch is needed.
    branches: EntityVec<BlockId, bool>,
    /// Blocks that have to be reached.
    blocks: EntityVec<BlockId, bool>,
    /// Blocks of which it matters how they are entered.
    entered: EntityVec<BlockId, bool>,
    waiting: Vec<Value>,
    waiting_blocks: Vec<BlockId>,
    conformity: Conformity,
    /// Checks that lead to errors and are needed where two lengths are, by either length: the block and the other
    /// length.
    checks: FxHashMap<Value, Vec<(BlockId, Value)>>,
}

impl<'f> Needed<'f> {
    /// Of a function these branches of which are needed whatever the rest does.
    fn new(
        function: &'f Function,
        effects: &Effects,
        conformity: Conformity,
        ways: &'f Ways,
        branches: &[BlockId],
    ) -> Needed<'f> {
        let mut needed = Needed {
            function,
            ways,
            values: function.values.same_ids(false),
            branches: function.blocks.same_ids(false),
            blocks: function.blocks.same_ids(false),
            entered: function.blocks.same_ids(false),
            waiting: Vec::new(),
            waiting_blocks: Vec::new(),
            conformity,
            checks: FxHashMap::default(),
        };
        let definitions = Definitions::new(function);
        let sources = Sources::new(function);
        function.blocks.ids().for_each(|id| needed.begin(id, effects, &definitions));
        branches.iter().for_each(|id| needed.branch(*id));
        loop {
            if let Some(id) = needed.waiting_blocks.pop() {
                if let Some(place) = ways.position[id]
                    && !std::mem::replace(&mut needed.blocks[id], true)
                {
                    ways.deciding[place].iter().for_each(|decider| needed.branch(*decider));
                }
            } else if let Some(value) = needed.waiting.pop() {
                if !std::mem::replace(&mut needed.values[value], true) {
                    needed.checks_of(value);
                    sources.collect(function, value, &mut needed.waiting);
                    let entered = sources.entered(value);
                    entered.iter().for_each(|block| needed.enter(*block, &sources.edges[*block]));
                }
            } else {
                return needed;
            }
        }
    }

    /// Notes what a block does that is needed whatever the rest does.
    fn begin(&mut self, id: BlockId, effects: &Effects, definitions: &Definitions) {
        let block = &self.function.blocks[id];
        let is_way = self.ways.position[id].is_some();
        let has_effect = block.insts.iter().any(|inst| !effects.is_removable(inst.op));
        for inst in block.insts.iter().filter(|inst| !effects.is_removable(inst.op)) {
            self.waiting.extend(&inst.args);
        }
        if has_effect {
            self.waiting_blocks.push(id);
        }
        let leads_to_error = |target: &&&Target| {
            // What is called before control would get to the end may be what does not return.
            let Block { insts, terminator, .. } = &self.function.blocks[target.block];
            let is_reached = || insts.iter().any(|inst| !effects.is_removable(inst.op));
            self.ways.position[target.block].is_none() && (*terminator != Terminator::Unreachable || is_reached())
        };
        let targets = block.terminator.targets();
        let errors: Vec<&&Target> = targets.iter().filter(leads_to_error).collect();
        if !errors.is_empty() {
            errors.iter().for_each(|target| self.waiting.extend(&target.args));
            match self.compared(block, definitions) {
                Some([left, right]) => {
                    self.checks.entry(left).or_default().push((id, right));
                    self.checks.entry(right).or_default().push((id, left));
                }
                None => self.branch(id),
            }
        }
        let ends = matches!(block.terminator, Terminator::Return(_) | Terminator::TailCall(..) | Terminator::Fail(..));
        if !is_way || ends {
            self.waiting_blocks.push(id);
            block.terminator.for_each_value(|value| self.waiting.push(value));
        }
    }

    /// The two lengths that a block compares at its end, if whoever does not need both needs no check. A constant is
    /// there for everybody, so the other length stands for it.
    fn compared(&self, block: &Block, definitions: &Definitions) -> Option<[Value; 2]> {
        if self.conformity == Conformity::Checked {
            return None;
        }
        let Terminator::Branch(condition, ..) = block.terminator else { return None };
        let inst = definitions.inst(self.function, condition)?;
        let is_constant = |value: Value| definitions.op(self.function, value).is_some_and(is_constant);
        match (inst.op, &inst.args[..]) {
            (Op::IntCompare(IntCompare::Conform), &[left, right]) => match [is_constant(left), is_constant(right)] {
                [true, true] => None,
                [true, false] => Some([right, right]),
                [false, true] => Some([left, left]),
                [false, false] => Some([left, right]),
            },
            _ => None,
        }
    }

    /// Notes the checks that are needed now that a length is.
    fn checks_of(&mut self, length: Value) {
        for (block, other) in self.checks.remove(&length).unwrap_or_default() {
            if self.values[other] {
                self.branch(block);
            }
        }
    }

    /// Notes that it matters by which of these edges a block is entered last.
    fn enter(&mut self, block: BlockId, edges: &[(BlockId, usize)]) {
        // A block that many values come together in asks once for all of them.
        if std::mem::replace(&mut self.entered[block], true) {
            return;
        }
        for (from, edge) in edges {
            let targets = self.function.blocks[*from].terminator.targets();
            let same = |target: &&Target| target.block != block || target.args == targets[*edge].args;
            let ways = self.ways;
            match ways.position[*from].filter(|_| ways.meeting(*from) == Some(block) && targets.iter().all(same)) {
                // All its ways come together here. If they do not come by this edge, another block tells; and how often
                // they come back to it before makes no difference.
                Some(place) => {
                    let deciders = ways.deciding[place].iter().filter(|decider| *decider != from);
                    deciders.for_each(|decider| self.branch(*decider));
                }
                None => self.branch(*from),
            }
        }
    }

    /// Notes that a block has to be reached, and that it matters where it goes on.
    fn branch(&mut self, id: BlockId) {
        self.waiting_blocks.push(id);
        if !std::mem::replace(&mut self.branches[id], true)
            && let Terminator::Branch(value, ..) | Terminator::Switch(value, _) = &self.function.blocks[id].terminator
        {
            self.waiting.push(*value);
        }
    }
}
