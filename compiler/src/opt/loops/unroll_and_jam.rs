//! Loops that make sums are made for several rounds of the loop around them at a time: SSA → SSA.
//!
//! ```text
//!     jump b1(0, v0)                                  jump b6(0, v0)
//!                                                 b6(v20: int, v21: ptr):
//!                                                     branch (int_lt v20, v8), b7, b1(v20, v21)
//!                                                 b7: v22 = element.vec1.0 v7, v8, v20
//!                                                     v23 = int_add v20, 1
//!                                                     branch (int_lt v23, v8), b8, b1(v20, v21)
//!                                                 b8: v24 = element.vec1.0 v7, v8, v23
//!                                                     jump b9(0, 0.0, 0.0)
//!                                                 b9(v25: int, v26: f64, v27: f64):
//!                                                     branch (int_lt v25, v9), b10, b11
//!                                                 b10: (adds to both sums)
//!                                                     jump b9(int_add v25, 1, v28, v29)
//!                                                 b11: v30 = with_element.vec0 v21, v8, v20, v26
//!                                                     jump b12(v30)
//!                                                 b12(v31: ptr):
//!                                                     v32 = with_element.vec0 v31, v8, v23, v27
//!                                                     jump b6(int_add v20, 2, v32)
//! b1(v1: int, v2: ptr):                           b1(v1: int, v2: ptr):
//!     branch (int_lt v1, v8), b2, b5                  (the same as before)
//! b2: v3 = element.vec1.0 v7, v8, v1
//!     jump b3(0, 0.0)                      →
//! b3(v4: int, v5: f64):
//!     branch (int_lt v4, v9), b4, ...
//! b4: (adds to the sum)
//!     jump b3(int_add v4, 1, v6)
//! ... v10 = with_element.vec0 v2, v8, v1, v5
//!     jump b1(int_add v1, 1, v10)
//! ```
//!
//! An addition has to wait for the one before, and a processor can make several in the meantime. Those of one sum stay
//! in their order, so that numbers are the same; those of the next round of the loop around it are independent, if
//! nothing that the round needs for its sum comes from the round before. This is *unroll and jam* (Callahan, Carr and
//! Kennedy, *Improving register allocation for subscripted variables*, 1990). What both read is read once.
//!
//! In front of the loop goes one that makes several of its rounds in each of its own, as long as all of them are made,
//! pass the checks before their sums and make as many additions; the loop itself stays for what is left, and for
//! errors. What comes behind a sum is done for one round after the other.
//!
//! Where operations are watched, the sums are looked at when they are complete: if one is not finite, the loop itself
//! makes the rounds once more, and all that follow ([`crate::opt::analysis::finite`]).
//!
//! Tests: `tests/opt/unroll-and-jam/`.

use crate::opt::Context;
use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::finite;
use crate::opt::analysis::finite::{Watched, unwatched};
use crate::opt::analysis::loops::{Code, ends, linear};
use crate::opt::edit::rewrite::append;
use crate::ssa::ir::{Block, BlockId, Function, Inst, Int2, IntCompare, Op, Target, Terminator, Type, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many rounds are made at a time: enough to hide most of the time that an addition takes.
const ROUNDS: usize = 3;
/// The most instructions of an inner loop, and of the rest of the loop around it.
const LARGEST_INNER: usize = 24;
const LARGEST_REST: usize = 80;

/// Treats a function.
pub fn run(function: &mut Function, context: &Context) -> bool {
    let nests = {
        let code = Code::new(function);
        let headers = code.graph.order.iter().copied().filter(|block| code.graph.is_loop_header(*block));
        let headers: Vec<BlockId> = headers.collect();
        let earlier = finite::earlier(function);
        let find = |header: &BlockId| {
            let nest = Nest::find(&code, context.effects, &headers, *header)?;
            nest.watching(function, &earlier)
        };
        headers.iter().filter_map(find).collect::<Vec<Nest>>()
    };
    for nest in &nests {
        Writer::new(function, nest).write();
    }
    !nests.is_empty()
}

/// A loop around a loop that makes sums.
struct Nest {
    header: BlockId,
    /// The ways into the header from outside the loop.
    outside: Vec<BlockId>,
    /// What of each parameter of the header is added in each round, if it counts.
    steps: Vec<Option<i64>>,
    /// The blocks from the header to the inner loop, without both.
    before: Vec<BlockId>,
    inner: BlockId,
    body: BlockId,
    /// Which parameters of the inner loop count.
    counts: Vec<bool>,
    /// Integers from before the inner loop that decide how many rounds it makes.
    bounds: Vec<Value>,
    /// The blocks behind the inner loop.
    behind: Vec<BlockId>,
    /// What has to be finite at the end of the inner loop.
    roots: Vec<Value>,
}

impl Nest {
    fn find(code: &Code<'_>, effects: &Effects, headers: &[BlockId], header: BlockId) -> Option<Nest> {
        let function = code.function;
        let body = code.body(header);
        let mut inner = headers.iter().copied().filter(|other| *other != header && body.contains(other));
        let (Some(inner), None) = (inner.next(), inner.next()) else { return None };
        let steps = code.steps(header);
        let (before, entry) = Self::way_to(code, &body, header, inner)?;
        let (inner_body, counts) = Self::sums(code, inner)?;
        let after = Self::after(code, &body, header, (inner, inner_body));
        if !after.iter().chain([&inner, &inner_body]).all(|block| code.goes_on(*block, &body)) {
            return None;
        }
        let is_behind = |block: &BlockId| after.contains(block);
        // Blocks that end in an error may use what the loop defines, whoever else leads there.
        let targets =
            body.iter().filter(|block| is_behind(block)).flat_map(|block| function.blocks[*block].terminator.targets());
        let errors: FxHashSet<BlockId> = targets.map(|target| target.block).filter(|to| !body.contains(to)).collect();
        let is_behind = |block: &BlockId| is_behind(block) || errors.contains(block);
        let behind: Vec<BlockId> = code.graph.order.iter().copied().filter(is_behind).collect();

        let size =
            |blocks: &[BlockId]| blocks.iter().map(|block| function.blocks[*block].insts.len() + 1).sum::<usize>();
        if size(&[inner, inner_body]) > LARGEST_INNER || size(&before) + size(&behind) > LARGEST_REST {
            return None;
        }
        // The sums of a round need nothing that the round before has made.
        let ahead: Vec<BlockId> = [header].into_iter().chain(before.clone()).chain([inner, inner_body]).collect();
        let is_pure = |inst: &Inst| {
            effects.is_removable(inst.op)
                && !inst.op.makes_vectors()
                && !inst.op.changes_vector()
                && !matches!(inst.op, Op::Call(_) | Op::Box(..) | Op::GlobalGet(_))
        };
        let carried = function.blocks[header].params.iter().zip(&steps).filter(|(_, step)| step.is_none());
        let carried: FxHashSet<Value> = carried.map(|(param, _)| *param).collect();
        let mut needs_carried = false;
        for block in &ahead {
            let block = &function.blocks[*block];
            if !block.insts.iter().all(is_pure) {
                return None;
            }
            block.insts.iter().flat_map(|inst| &inst.args).for_each(|arg| needs_carried |= carried.contains(arg));
            match &block.terminator {
                Terminator::Branch(condition, yes, no) => {
                    let leads_on = |target: &&Target| ahead.contains(&target.block);
                    let passed = [yes, no].into_iter().filter(leads_on).flat_map(|target| &target.args);
                    needs_carried |= carried.contains(condition) || passed.into_iter().any(|arg| carried.contains(arg));
                }
                Terminator::Jump(target) => needs_carried |= target.args.iter().any(|arg| carried.contains(arg)),
                _ => return None,
            }
        }
        let bounds = Self::bounds(code, &ahead, inner, (&counts, &entry))?;
        let outside = code.graph.predecessors[header].iter().copied().filter(|from| !body.contains(from)).collect();
        let roots = Vec::new();
        let nest = Nest { header, outside, steps, before, inner, body: inner_body, counts, bounds, behind, roots };
        (!needs_carried && nest.steps.iter().any(Option::is_some)).then_some(nest)
    }

    /// The same with what has to be finite; `None` if what is watched in the inner loop does not all become part of its
    /// sums.
    fn watching(mut self, function: &Function, earlier: &FxHashSet<Value>) -> Option<Nest> {
        let insts = |blocks: Vec<BlockId>| blocks.into_iter().flat_map(|block| &function.blocks[block].insts);
        let before = Watched::new(insts([&[self.header], &self.before[..]].concat()), earlier);
        let inner = Watched::new(insts(vec![self.inner, self.body]), earlier);
        let Terminator::Jump(back) = &function.blocks[self.body].terminator else { return None };
        self.roots = before.roots;
        for root in inner.roots {
            let position = back.args.iter().position(|arg| *arg == root);
            let param = position.map(|position| function.blocks[self.inner].params[position]);
            match param {
                Some(param) if inner.parts.contains(&param) => self.roots.push(param),
                None if earlier.contains(&root) => self.roots.push(root),
                _ => return None,
            }
        }
        Some(self)
    }

    /// The blocks from the header to the inner loop, of which each leads only there, to an error, or where a test from
    /// before the outer loop decides; and what the last passes.
    fn way_to(
        code: &Code<'_>,
        body: &FxHashSet<BlockId>,
        header: BlockId,
        inner: BlockId,
    ) -> Option<(Vec<BlockId>, Target)> {
        let leading = code.blocks_before(header, inner);
        let leads_on = |block: BlockId| block == inner || block != header && leading.contains(&block);
        let mut way = Vec::new();
        let mut here = header;
        loop {
            let terminator = &code.function.blocks[here].terminator;
            let (onward, others): (Vec<&Target>, Vec<&Target>) =
                terminator.targets().into_iter().partition(|target| leads_on(target.block));
            let [next] = onward[..] else { return None };
            let is_decided = match terminator {
                Terminator::Branch(test, ..) => !body.contains(&code.homes[*test]),
                _ => false,
            };
            let is_left = |target: &&Target| match body.contains(&target.block) {
                true => is_decided && target.block != header,
                false => here == header || is_decided || ends(code.function, target.block),
            };
            if !others.iter().all(is_left) {
                return None;
            }
            if next.block == inner {
                return (here != header).then(|| (way, next.clone()));
            }
            if code.graph.predecessors[next.block].len() != 1 {
                return None;
            }
            here = next.block;
            way.push(here);
        }
    }

    /// The blocks of the outer loop that come after the inner one.
    fn after(
        code: &Code<'_>,
        body: &FxHashSet<BlockId>,
        header: BlockId,
        inner: (BlockId, BlockId),
    ) -> FxHashSet<BlockId> {
        let (mut after, mut waiting) = (FxHashSet::default(), vec![inner.0]);
        while let Some(block) = waiting.pop() {
            for target in code.function.blocks[block].terminator.targets() {
                let is_new = body.contains(&target.block) && ![header, inner.0, inner.1].contains(&target.block);
                if is_new && after.insert(target.block) {
                    waiting.push(target.block);
                }
            }
        }
        after
    }

    /// The body of an inner loop that adds up numbers and does nothing else; and which of its parameters count.
    fn sums(code: &Code<'_>, inner: BlockId) -> Option<(BlockId, Vec<bool>)> {
        let function = code.function;
        let blocks = code.body(inner);
        let mut others = blocks.iter().copied().filter(|block| *block != inner);
        let (Some(body), None) = (others.next(), others.next()) else { return None };
        let Terminator::Jump(back) = &function.blocks[body].terminator else { return None };
        let Terminator::Branch(_, yes, no) = &function.blocks[inner].terminator else { return None };
        if (yes.block == body) == (no.block == body) || !function.blocks[body].params.is_empty() {
            return None;
        }
        let counts: Vec<bool> = code.steps(inner).iter().map(Option::is_some).collect();
        let params = &function.blocks[inner].params;
        let is_sum = |position: usize| {
            let made = code.definitions.inst(function, back.args[position]);
            made.is_some_and(|made| matches!(made.op, Op::Real2(_)) && made.args.contains(&params[position]))
        };
        let is_number = |(param, counts): (&Value, &bool)| *counts || function.values[*param] != Type::Ptr;
        let fits = params.iter().zip(&counts).all(is_number) && (0..params.len()).any(is_sum);
        (fits && counts.contains(&true)).then_some((body, counts))
    }

    /// The integers from before the inner loop that its test depends on; `None` if it depends on anything but these,
    /// what counts, and what is the same in all rounds.
    fn bounds(
        code: &Code<'_>,
        ahead: &[BlockId],
        inner: BlockId,
        (counts, entry): (&[bool], &Target),
    ) -> Option<Vec<Value>> {
        let block = &code.function.blocks[inner];
        let is_varying = |value: &Value| ahead.contains(&code.homes[*value]);
        let own: FxHashSet<Value> = block.insts.iter().flat_map(|inst| inst.results.iter().copied()).collect();
        let mut bounds: Vec<Value> = Vec::new();
        let starts = entry.args.iter().zip(counts).filter(|(_, counts)| **counts).map(|(arg, _)| *arg);
        for value in block.insts.iter().flat_map(|inst| inst.args.iter().copied()).chain(starts) {
            let position = block.params.iter().position(|param| *param == value);
            let is_known = own.contains(&value) || position.is_some_and(|position| counts[position]);
            if is_known || !is_varying(&value) {
                continue;
            }
            // What counts rounds is another number in each.
            let base = linear(code.function, &code.definitions, value).0;
            let counts_rounds = base.is_some_and(|base| code.homes[base] == ahead[0]);
            if position.is_some() || counts_rounds || code.function.values[value] != Type::Int {
                return None;
            }
            if !bounds.contains(&value) && !matches!(code.op(value), Some(Op::ConstInt(_))) {
                bounds.push(value);
            }
        }
        let Terminator::Branch(condition, ..) = &block.terminator else { return None };
        own.contains(condition).then_some(bounds)
    }
}

/// Writes the loop that makes several rounds at a time.
struct Writer<'f, 'n> {
    function: &'f mut Function,
    nest: &'n Nest,
    /// What the values of the loop are in each round.
    rounds: [FxHashMap<Value, Value>; ROUNDS],
    /// The way to the loop as it was.
    back_out: Target,
    first: BlockId,
}

impl<'f, 'n> Writer<'f, 'n> {
    fn new(function: &'f mut Function, nest: &'n Nest) -> Writer<'f, 'n> {
        let types: Vec<Type> =
            function.blocks[nest.header].params.iter().map(|param| function.values[*param]).collect();
        let first = function.new_block(&types);
        let args = function.blocks[first].params.clone();
        let back_out = Target { block: nest.header, args };
        Writer { function, nest, rounds: Default::default(), back_out, first }
    }

    fn write(mut self) {
        let end = self.before();
        let exit = self.inner(end);
        let exit = self.looked_at(exit);
        self.behind(exit);
        for from in &self.nest.outside {
            for target in self.function.blocks[*from].terminator.targets_mut() {
                if target.block == self.nest.header {
                    target.block = self.first;
                }
            }
        }
    }

    fn value(&self, round: usize, value: Value) -> Value {
        self.rounds[round].get(&value).copied().unwrap_or(value)
    }

    fn values(&self, round: usize, values: &[Value]) -> Vec<Value> {
        values.iter().map(|value| self.value(round, *value)).collect()
    }

    /// Copies instructions for a round. What `seen` has computed already is not computed again.
    fn copy(&mut self, round: usize, insts: &[Inst], seen: &mut FxHashMap<(Op, Values), Values>) -> Vec<Inst> {
        let mut copies = Vec::new();
        for inst in insts {
            let args: Values = inst.args.iter().map(|arg| self.value(round, *arg)).collect();
            let known = seen.get(&(inst.op, args.clone())).cloned();
            let results = known.clone().unwrap_or_else(|| {
                inst.results.iter().map(|result| self.function.values.push(self.function.values[*result])).collect()
            });
            self.rounds[round].extend(inst.results.iter().copied().zip(results.iter().copied()));
            if known.is_none() {
                seen.insert((inst.op, args.clone()), results.clone());
                copies.push(Inst { op: inst.op, args, results, span: inst.span });
            }
        }
        copies
    }

    /// The ways to the inner loop of all rounds, one behind another. The last block, which has no end yet.
    fn before(&mut self) -> BlockId {
        let nest = self.nest;
        let mut seen = FxHashMap::default();
        let mut here = self.first;
        for round in 0..ROUNDS {
            let params = self.function.blocks[nest.header].params.clone();
            let mut code = Vec::new();
            for (position, (param, step)) in params.into_iter().zip(&nest.steps).enumerate() {
                let mut value = self.back_out.args[position];
                if let Some(step) = step.filter(|_| round > 0) {
                    let values = &mut self.function.values;
                    let step = append(values, &mut code, Op::ConstInt(step * round as i64), vec![], Type::Int, None);
                    value = append(values, &mut code, Op::Int2(Int2::Add), vec![value, step], Type::Int, None);
                }
                self.rounds[round].insert(param, value);
            }
            self.function.blocks[here].insts.extend(code);
            for from in [nest.header].into_iter().chain(nest.before.iter().copied()) {
                let insts = self.function.blocks[from].insts.clone();
                let copies = self.copy(round, &insts, &mut seen);
                self.function.blocks[here].insts.extend(copies.iter().map(unwatched));
                let next = self.function.new_block(&[]);
                let terminator = self.function.blocks[from].terminator.clone();
                let leads_on = |target: &Target| nest.before.contains(&target.block) || target.block == nest.inner;
                self.function.blocks[here].terminator = match &terminator {
                    Terminator::Branch(condition, yes, _) => {
                        let condition = self.value(round, *condition);
                        let onward = Target { block: next, args: Vec::new() };
                        let out = self.back_out.clone();
                        if leads_on(yes) {
                            Terminator::Branch(condition, onward, out)
                        } else {
                            Terminator::Branch(condition, out, onward)
                        }
                    }
                    _ => Terminator::Jump(Target { block: next, args: Vec::new() }),
                };
                // The parameters of the next block on the way.
                let mut targets = terminator.targets().into_iter();
                if let Some(onward) = targets.find(|target| nest.before.contains(&target.block)) {
                    let params = self.function.blocks[onward.block].params.clone();
                    let args = self.values(round, &onward.args);
                    self.rounds[round].extend(params.into_iter().zip(args));
                }
                here = next;
            }
        }
        here
    }

    /// The inner loop of all rounds, entered from a block; the block where it ends, which has no end yet.
    fn inner(&mut self, entry: BlockId) -> BlockId {
        let nest = self.nest;
        let from = *nest.before.last().expect("there is a block before the inner loop");
        let onward =
            self.function.blocks[from].terminator.targets().into_iter().find(|target| target.block == nest.inner);
        let starts = onward.expect("the last block leads to the inner loop").args.clone();
        let params = self.function.blocks[nest.inner].params.clone();
        let header = self.function.new_block(&[]);
        let mut args = Vec::new();
        for round in 0..ROUNDS {
            for (position, param) in params.iter().enumerate() {
                let new = if nest.counts[position] && round > 0 {
                    self.value(0, *param)
                } else {
                    let new = self.function.values.push(self.function.values[*param]);
                    self.function.blocks[header].params.push(new);
                    args.push(self.value(round, starts[position]));
                    new
                };
                self.rounds[round].insert(*param, new);
            }
        }

        // As many additions in all rounds.
        let mut code = Vec::new();
        let mut condition: Option<Value> = None;
        for round in 1..ROUNDS {
            for bound in &nest.bounds {
                let operands = vec![self.value(0, *bound), self.value(round, *bound)];
                if operands[0] == operands[1] {
                    continue;
                }
                let values = &mut self.function.values;
                let equal = Op::IntCompare(IntCompare::Eq);
                let is_equal = append(values, &mut code, equal, operands, Type::Bool, None);
                condition = Some(match condition {
                    Some(all) => append(values, &mut code, Op::And, vec![all, is_equal], Type::Bool, None),
                    None => is_equal,
                });
            }
        }
        let onward = Target { block: header, args };
        self.function.blocks[entry].insts.extend(code);
        self.function.blocks[entry].terminator = match condition {
            Some(condition) => Terminator::Branch(condition, onward, self.back_out.clone()),
            None => Terminator::Jump(onward),
        };

        let (body, exit) = (self.function.new_block(&[]), self.function.new_block(&[]));
        let mut seen = FxHashMap::default();
        for (from, to) in [(nest.inner, header), (nest.body, body)] {
            let insts = self.function.blocks[from].insts.clone();
            for round in 0..ROUNDS {
                let copies = self.copy(round, &insts, &mut seen);
                self.function.blocks[to].insts.extend(copies.iter().map(unwatched));
            }
        }
        let Terminator::Branch(condition, yes, _) = self.function.blocks[nest.inner].terminator.clone() else {
            unreachable!("an inner loop tests at its beginning")
        };
        let [onward, out] = [body, exit].map(|block| Target { block, args: Vec::new() });
        let condition = self.value(0, condition);
        self.function.blocks[header].terminator = if yes.block == nest.body {
            Terminator::Branch(condition, onward, out)
        } else {
            Terminator::Branch(condition, out, onward)
        };
        let Terminator::Jump(back) = self.function.blocks[nest.body].terminator.clone() else {
            unreachable!("the body of an inner loop leads to its beginning")
        };
        let mut args = Vec::new();
        for round in 0..ROUNDS {
            let next = self.values(round, &back.args).into_iter().enumerate();
            args.extend(next.filter(|(position, _)| round == 0 || !nest.counts[*position]).map(|(_, arg)| arg));
        }
        self.function.blocks[body].terminator = Terminator::Jump(Target { block: header, args });
        exit
    }

    /// The block behind the end of the inner loop where all that is watched is finite.
    fn looked_at(&mut self, exit: BlockId) -> BlockId {
        let of_round = |round: usize| self.values(round, &self.nest.roots);
        let mut numbers: Vec<Value> = (0..ROUNDS).flat_map(of_round).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut insts = Vec::new();
        let Some(are_finite) = finite::are_finite(self.function, &mut insts, &numbers) else { return exit };
        let next = self.function.new_block(&[]);
        let onward = Target { block: next, args: Vec::new() };
        self.function.blocks[exit].insts = insts;
        self.function.blocks[exit].terminator = Terminator::Branch(are_finite, onward, self.back_out.clone());
        next
    }

    /// What comes behind the inner loop, for one round after another.
    fn behind(&mut self, exit: BlockId) {
        let nest = self.nest;
        let targets = self.function.blocks[nest.inner].terminator.clone();
        let out = targets.targets().into_iter().find(|target| target.block != nest.body).cloned();
        let out = out.expect("the inner loop ends");
        let params = self.function.blocks[nest.header].params.clone();
        let types: Vec<Type> = params.iter().map(|param| self.function.values[*param]).collect();
        let mut here = exit;
        for round in 0..ROUNDS {
            let blocks: FxHashMap<BlockId, BlockId> =
                nest.behind.iter().map(|block| (*block, self.function.new_block(&[]))).collect();
            let next = if round + 1 < ROUNDS { self.function.new_block(&types) } else { self.first };
            let target = |target: &Target| match blocks.get(&target.block) {
                Some(copy) => *copy,
                None if target.block == nest.header => next,
                None => target.block,
            };
            let onward = Target { block: target(&out), args: self.values(round, &out.args) };
            self.function.blocks[here].terminator = Terminator::Jump(onward);
            for from in &nest.behind {
                let Block { params, insts, mut terminator } = self.function.blocks[*from].clone();
                let copy = blocks[from];
                for param in params {
                    let new = self.function.values.push(self.function.values[param]);
                    self.function.blocks[copy].params.push(new);
                    self.rounds[round].insert(param, new);
                }
                // Nothing is left out here: operations with effects are among them.
                for inst in insts {
                    let copies = self.copy(round, &[inst], &mut FxHashMap::default());
                    self.function.blocks[copy].insts.extend(copies);
                }
                terminator.for_each_use(|value| *value = self.rounds[round].get(value).copied().unwrap_or(*value));
                for to in terminator.targets_mut() {
                    to.block = target(to);
                }
                self.function.blocks[copy].terminator = terminator;
            }
            // What the next round finds.
            if round + 1 < ROUNDS {
                let found = self.function.blocks[next].params.clone();
                let steps = nest.steps.iter();
                let carried = params.iter().copied().zip(found).zip(steps).filter(|(_, step)| step.is_none());
                self.rounds[round + 1].extend(carried.map(|(names, _)| names));
                here = next;
            }
        }
    }
}
