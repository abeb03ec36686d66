//! Choices between alternatives and truth values, and where control comes together again.
//!
//! Of many alternatives often one only fits what else is known, and all others fail in the same way. What is emitted is
//! in proportion to the different ways: alternatives that come to the same end share a block, and where few are left
//! that come to another, they are tested for one by one.
//!
//! ```text
//! switch tag, b1, b2, b3, ...      b2: fail text1   b3: fail text1 ...    is one test:  branch has_tag 0, b1, b2
//! ```

use super::Specializer;
use super::emit::{Emitted, Emitter, Parts, Val, target};
use crate::base::entity::Entity;
use crate::shape::lattice::Shape;
use crate::specialize::layout::leaves::Layout;
use crate::ssa::ir::{Block, BlockId, Inst, Op, Terminator, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many alternatives are tested for one by one, if all others come to the same end.
const MAX_TESTS: usize = 2;

/// What a choice is between.
pub struct Among {
    /// The positions of the alternatives that are told apart.
    pub tags: Vec<usize>,
    /// The one of these that all others come to the same end as. Without it there are no others: the value is one of
    /// these.
    pub others: Option<usize>,
}

/// The block of an alternative, and how much there was before it.
struct Attempt {
    block: BlockId,
    values: usize,
}

impl Attempt {
    fn new(e: &mut Emitter, params: &[Type]) -> Attempt {
        let values = e.function.values.len();
        let block = e.new_block(params);
        e.switch_to(block);
        Attempt { block, values }
    }

    /// The block that stands for this one, from which control does not go on: one that ends as it does, if there is
    /// one.
    fn end(&self, e: &mut Emitter, ends: &mut Vec<(Terminator, BlockId)>) -> BlockId {
        // Nobody needs the parts of what does not fit, and of two sums most combinations do not.
        let block = &mut e.function.blocks[self.block];
        drop_unneeded(block);
        if !block.insts.is_empty() || !block.params.is_empty() {
            return self.block;
        }
        let Some((_, same)) = ends.iter().find(|(end, _)| *end == block.terminator) else {
            ends.push((block.terminator.clone(), self.block));
            return self.block;
        };
        if e.function.blocks.len() == self.block.index() + 1 {
            e.function.blocks.truncate(self.block.index());
            e.function.values.truncate(self.values);
        }
        *same
    }
}

fn most_frequent(targets: &[(usize, BlockId)]) -> BlockId {
    let mut counts: FxHashMap<BlockId, usize> = FxHashMap::default();
    targets.iter().for_each(|(_, block)| *counts.entry(*block).or_insert(0) += 1);
    // The first of those that come as often, whatever order the table has.
    let most = counts.values().copied().max().unwrap_or(0);
    targets.iter().map(|(_, block)| *block).find(|block| counts[block] == most).expect("a value has an alternative")
}

impl Specializer<'_> {
    /// Runs `each` on every alternative of a value, behind a test of the tag where there are several, and joins the
    /// results, which are values of shape `out`.
    pub fn dispatch(
        &mut self,
        e: &mut Emitter,
        value: &Val,
        out: Shape,
        each: impl FnMut(&mut Self, &mut Emitter, Parts) -> Emitted<Val>,
    ) -> Emitted<Val> {
        let tags = (0..self.flow.shapes.alternatives(value.shape).len()).collect();
        self.dispatch_among(e, value, &Among { tags, others: None }, out, each)
    }

    /// [`dispatch`](Self::dispatch) among some alternatives. What is emitted is in proportion to those.
    pub fn dispatch_among(
        &mut self,
        e: &mut Emitter,
        value: &Val,
        among: &Among,
        out: Shape,
        mut each: impl FnMut(&mut Self, &mut Emitter, Parts) -> Emitted<Val>,
    ) -> Emitted<Val> {
        let tags = &among.tags[..];
        if let [only] = tags {
            let parts = self.parts(e, value, *only);
            return each(self, e, parts);
        }
        if tags.is_empty() {
            e.terminate(Terminator::Unreachable);
            return None;
        }
        // Alternatives that a box holds in several ways are opened on the way to them.
        let is_boxed = self.is_boxed(value.shape);
        let cases = is_boxed.then(|| self.cases(value.shape));
        let opens = |tag: usize| cases.as_ref().is_some_and(|cases| cases[tag].choice.is_some());
        let from = e.block;
        let (mut targets, mut ends, mut arrived) = (Vec::with_capacity(tags.len()), Vec::new(), Vec::new());
        e.depth += 1;
        for tag in tags.iter().copied() {
            let opened = opens(tag);
            let alternative = self.flow.shapes.alternatives(value.shape)[tag].clone();
            let params = if opened { self.alternative_leaves(&alternative) } else { Vec::new() };
            let attempt = Attempt::new(e, &params);
            let parts = if opened {
                let leaves = e.function.blocks[attempt.block].params.clone();
                self.parts_of(alternative, leaves)
            } else {
                self.parts(e, value, tag)
            };
            let result = each(self, e, parts);
            let block = match &result {
                None if e.block == attempt.block => attempt.end(e, &mut ends),
                _ => attempt.block,
            };
            targets.push((tag, block));
            if let Some(result) = result {
                debug_assert_eq!(result.shape, out, "every alternative gives the announced shape");
                arrived.push((e.block, result.leaves));
            }
        }
        e.depth -= 1;
        e.switch_to(from);
        let others = among.others.and_then(|tag| targets.iter().find(|(other, _)| *other == tag));
        let usual = others.map(|(_, block)| *block);
        self.go_to_targets(e, value, &targets, usual, tags.iter().copied().any(opens));
        let types = self.leaves(out);
        let joined = !arrived.is_empty();
        let join = e.new_block(&types);
        for (block, leaves) in arrived {
            e.switch_to(block);
            e.jump(join, leaves);
        }
        self.continue_at(e, join, joined, out)
    }

    /// Ends the block with a choice between the targets for the alternatives that a value may be. All others go on in
    /// the block `others`, if there is one.
    fn go_to_targets(
        &mut self,
        e: &mut Emitter,
        value: &Val,
        targets: &[(usize, BlockId)],
        others: Option<BlockId>,
        opens: bool,
    ) {
        let usual = others.unwrap_or_else(|| most_frequent(targets));
        let mut rare: Vec<(usize, BlockId)> = targets.iter().copied().filter(|(_, block)| *block != usual).collect();
        if rare.is_empty() {
            return e.jump(usual, Vec::new());
        }
        let count = self.flow.shapes.alternatives(value.shape).len();
        let are_two = others.is_none() && targets.len() == 2;
        if are_two {
            rare = vec![targets[0]];
        }
        let all = if others.is_some() { count } else { targets.len() };
        let is_tested = rare.len() <= MAX_TESTS && rare.len() * 2 <= all;
        let other = if are_two { targets[1].1 } else { usual };
        if is_tested && !opens {
            for (place, (tag, block)) in rare.iter().enumerate() {
                let test = self.is_one_of(e, value, &[*tag]);
                let next = if place + 1 == rare.len() { other } else { e.new_block(&[]) };
                e.terminate(Terminator::Branch(test, target(*block), target(next)));
                e.switch_to(next);
            }
            return;
        }
        if let Layout::Boxed(sum) = self.layout(value.shape) {
            let mut blocks = vec![others; count];
            targets.iter().for_each(|(tag, block)| blocks[*tag] = Some(*block));
            return self.switch_box(e, sum, value.shape, &value.leaves, &blocks);
        }
        let mut blocks = vec![target(usual); count];
        targets.iter().for_each(|(tag, block)| blocks[*tag] = target(*block));
        e.terminate(Terminator::Switch(value.leaves[0], blocks));
    }

    /// Runs `each` for both outcomes of a condition, and joins the results, which are values of shape `out`.
    pub fn either(
        &mut self,
        e: &mut Emitter,
        condition: Value,
        out: Shape,
        mut each: impl FnMut(&mut Self, &mut Emitter, bool) -> Emitted<Val>,
    ) -> Emitted<Val> {
        let types = self.leaves(out);
        let (yes, no, join) = (e.new_block(&[]), e.new_block(&[]), e.new_block(&types));
        e.terminate(Terminator::Branch(condition, target(yes), target(no)));
        let mut joined = false;
        e.depth += 1;
        for (block, outcome) in [(yes, true), (no, false)] {
            e.switch_to(block);
            if let Some(value) = each(self, e, outcome) {
                e.jump(join, value.leaves);
                joined = true;
            }
        }
        e.depth -= 1;
        self.continue_at(e, join, joined, out)
    }

    /// Continues at a join block, if anything jumps there.
    pub fn continue_at(&mut self, e: &mut Emitter, join: BlockId, joined: bool, shape: Shape) -> Option<Val> {
        joined.then(|| {
            e.switch_to(join);
            Val { shape, leaves: e.function.blocks[join].params.clone() }
        })
    }
}

/// Removes what neither has an effect nor is needed for one from a block that nothing follows.
fn drop_unneeded(block: &mut Block) {
    if !matches!(block.terminator, Terminator::Fail(..) | Terminator::Unreachable) {
        return;
    }
    let mut needed: FxHashSet<Value> = FxHashSet::default();
    let mut kept: Vec<Inst> = Vec::new();
    for inst in block.insts.drain(..).rev() {
        let is_call = matches!(inst.op, Op::Call(_));
        if is_call || inst.op.has_effect() || inst.results.iter().any(|result| needed.contains(result)) {
            needed.extend(inst.args.iter().copied());
            kept.push(inst);
        }
    }
    kept.reverse();
    block.insts = kept;
}
