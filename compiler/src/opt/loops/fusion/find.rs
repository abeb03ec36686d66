//! Fillings, who uses their vectors, and what can be done about it.

use super::{Change, Read, Recipe};
use crate::base::EntityVec;
use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops;
use crate::opt::analysis::loops::{Code, Linear, linear, same};
use crate::opt::edit::rewrite::{is_constant, use_counts};
use crate::opt::layout::recompute_fields::is_cheap;
use crate::ssa::ir::{BlockId, Function, Inst, IntCompare, Op, Terminator, Type, Value, Values, VectorId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;
use std::rc::Rc;

/// What costs no more than this is recomputed for every read, if each happens once for each element at most.
pub(super) const CHEAP: usize = 2;
/// The same if some happen more often.
const TRIVIAL: usize = 1;
/// The cost of an operation that is not cheap.
const EXPENSIVE: usize = 20;
/// So many instructions compute one element.
const MOST_INSTRUCTIONS: usize = 64;

/// A loop that writes one element of a vector in each round.
pub(super) struct Filling {
    pub(super) header: BlockId,
    pub(super) body: Rc<FxHashSet<BlockId>>,
    /// The vector, a parameter of the loop, and its position.
    pub(super) vector: Value,
    pub(super) position: usize,
    pub(super) layout: VectorId,
    pub(super) length: Value,
    /// Where it is written: so much more than a counter of the loop.
    pub(super) place: Value,
    pub(super) counter: Value,
    pub(super) offset: i64,
    /// The fields that are written.
    pub(super) fields: Vec<Value>,
    pub(super) is_complete: bool,
    /// From where the loop is entered, and with which vector.
    pub(super) entry: (BlockId, Value),
}

/// How a value is used.
#[derive(Clone, Copy)]
pub(super) enum Use {
    Inst(BlockId, usize),
    /// From a block to another, for this parameter.
    Passed(BlockId, BlockId, usize),
    Other,
}

/// An element that somebody reads.
pub(super) struct Site {
    pub(super) block: BlockId,
    pub(super) index: usize,
    pub(super) field: usize,
    pub(super) place: Value,
    pub(super) is_once: bool,
}

pub(super) struct Finder<'f> {
    pub(super) code: Code<'f>,
    /// The header of the innermost loop of each block, and of the loop around each header.
    pub(super) innermost: FxHashMap<BlockId, BlockId>,
    pub(super) around: FxHashMap<BlockId, BlockId>,
    pub(super) use_counts: EntityVec<Value, u32>,
    /// The uses of pointers.
    pub(super) uses: FxHashMap<Value, Vec<Use>>,
    pub(super) fillings: Vec<Filling>,
    /// The fillings by their vectors.
    pub(super) by_vector: FxHashMap<Value, usize>,
}

/// What can be done next.
pub(super) fn change(function: &Function, effects: &Effects) -> Option<Change> {
    let mut finder = Finder {
        code: Code::new(function),
        innermost: FxHashMap::default(),
        around: FxHashMap::default(),
        use_counts: use_counts(function),
        uses: FxHashMap::default(),
        fillings: Vec::new(),
        by_vector: FxHashMap::default(),
    };
    finder.find_fillings();
    if finder.fillings.is_empty() {
        return None;
    }
    finder.find_uses();
    let small =
        |filling| finder.copied(filling).or_else(|| finder.recomputed(filling)).or_else(|| finder.begun(filling));
    let rounds = |filling| finder.rounds(filling, effects).map(Change::RunRounds);
    finder.fillings.iter().find_map(small).or_else(|| finder.fillings.iter().find_map(rounds))
}

impl Finder<'_> {
    pub(super) fn linear(&self, value: Value) -> Linear {
        linear(self.code.function, &self.code.definitions, value)
    }

    fn find_fillings(&mut self) {
        let Code { function, graph, .. } = &self.code;
        let headers: Vec<BlockId> = graph.order.iter().copied().filter(|block| graph.is_loop_header(*block)).collect();
        for header in headers {
            let body = Rc::new(self.code.body(header));
            self.around.extend(self.innermost.get(&header).map(|outer| (header, *outer)));
            // Outer loops come first.
            self.innermost.extend(body.iter().map(|block| (*block, header)));
            for (position, vector) in function.blocks[header].params.iter().enumerate() {
                if function.values[*vector] == Type::Ptr
                    && let Some(filling) = self.filling(header, &body, *vector, position)
                {
                    self.by_vector.insert(*vector, self.fillings.len());
                    self.fillings.push(filling);
                }
            }
        }
    }

    fn filling(
        &self,
        header: BlockId,
        body: &Rc<FxHashSet<BlockId>>,
        vector: Value,
        position: usize,
    ) -> Option<Filling> {
        let [outside, inside] = self.code.passed(header, position, body);
        let [entry] = outside[..] else { return None };
        let written = same(inside.iter().map(|(_, value)| *value))?;
        let write = self.code.definitions.inst(self.code.function, written)?;
        let Op::WithElement(layout) = write.op else { return None };
        let (length, place) = (write.args[1], write.args[2]);
        if write.args[0] != vector || !self.is_outside(length, body) {
            return None;
        }
        let (Some(counter), offset) = self.linear(place) else { return None };
        let counted = self.counter(header, counter)?;
        let is_complete =
            self.code.is_left_at_header(header, body) && self.covers((header, counter), counted, offset, length, body);
        let body = body.clone();
        let fields = write.args[3..].to_vec();
        Some(Filling {
            header,
            body,
            vector,
            position,
            layout,
            length,
            place,
            counter,
            offset,
            fields,
            is_complete,
            entry,
        })
    }

    /// Whether a counter of a loop, and so much, is each place of a vector of that length once.
    pub(super) fn covers(
        &self,
        (header, counter): (BlockId, Value),
        (start, step): (Linear, i64),
        offset: i64,
        length: Value,
        body: &FxHashSet<BlockId>,
    ) -> bool {
        let Some(first) = start.1.checked_add(offset) else { return false };
        match (step, self.bound(header, counter, body)) {
            (1, Some(Bound::Below(end))) => {
                (start.0, first) == (None, 0) && self.is_length_up_to(length, (end.0, end.1 + offset))
            }
            (-1, Some(Bound::From(least))) => (start.0, first + 1) == self.linear(length) && least + offset == 0,
            _ => false,
        }
    }

    /// Whether a length is this number, or zero if that is negative.
    fn is_length_up_to(&self, length: Value, end: Linear) -> bool {
        let is = |value: Value, number: Linear| self.linear(value) == number;
        let inst = |value: Value| self.code.definitions.inst(self.code.function, value);
        let is_positive = |condition: Value| {
            let test = inst(condition).filter(|test| test.op == Op::IntCompare(IntCompare::Lt));
            test.is_some_and(|test| is(test.args[0], (None, 0)) && is(test.args[1], end))
        };
        let chosen = inst(length).filter(|inst| inst.op == Op::Select);
        let is_chosen = |inst: &Inst| is_positive(inst.args[0]) && is(inst.args[1], end) && is(inst.args[2], (None, 0));
        is(length, end) || chosen.is_some_and(is_chosen)
    }

    /// Where a counter of a loop starts, and how each round changes it.
    pub(super) fn counter(&self, header: BlockId, counter: Value) -> Option<(Linear, i64)> {
        let Code { function, graph, definitions, .. } = &self.code;
        let position = function.blocks[header].params.iter().position(|param| *param == counter)?;
        loops::counter(function, graph, definitions, header, position).filter(|(_, step)| *step != 0)
    }

    /// How far a counter goes before the loop is left at its header.
    fn bound(&self, header: BlockId, counter: Value, body: &FxHashSet<BlockId>) -> Option<Bound> {
        let Terminator::Branch(condition, yes, no) = &self.code.function.blocks[header].terminator else { return None };
        let test = self.code.definitions.inst(self.code.function, *condition)?;
        if test.op != Op::IntCompare(IntCompare::Lt) {
            return None;
        }
        let goes_on = match (body.contains(&yes.block), body.contains(&no.block)) {
            (true, false) => true,
            (false, true) => false,
            _ => return None,
        };
        let (x, y) = (self.linear(test.args[0]), self.linear(test.args[1]));
        match (x, y, goes_on) {
            ((Some(base), plus), (end, limit), true) if base == counter => Some(Bound::Below((end, limit - plus))),
            ((None, limit), (Some(base), plus), true) if base == counter => Some(Bound::From(limit + 1 - plus)),
            ((Some(base), plus), (None, limit), false) if base == counter => Some(Bound::From(limit - plus)),
            _ => None,
        }
    }

    pub(super) fn is_outside(&self, value: Value, body: &FxHashSet<BlockId>) -> bool {
        self.code.homes.get(value).is_some_and(|home| !body.contains(&home))
    }

    fn find_uses(&mut self) {
        let function = self.code.function;
        for (id, block) in function.blocks.iter() {
            let mut note = |value: Value, used: Use| {
                if function.values[value] == Type::Ptr {
                    self.uses.entry(value).or_default().push(used);
                }
            };
            for (index, inst) in block.insts.iter().enumerate() {
                inst.args.iter().for_each(|arg| note(*arg, Use::Inst(id, index)));
            }
            if block.terminator.targets().is_empty() {
                block.terminator.for_each_value(|value| note(value, Use::Other));
            }
            for target in block.terminator.targets() {
                for (position, arg) in target.args.iter().enumerate() {
                    note(*arg, Use::Passed(id, target.block, position));
                }
            }
        }
    }

    pub(super) fn uses(&self, value: Value) -> &[Use] {
        self.uses.get(&value).map_or(&[], |uses| &uses[..])
    }

    pub(super) fn inst(&self, block: BlockId, index: usize) -> &Inst {
        &self.code.function.blocks[block].insts[index]
    }

    /// The loops that a block is in, inner ones first.
    pub(super) fn loops(&self, block: BlockId) -> Vec<BlockId> {
        std::iter::successors(self.innermost.get(&block).copied(), |inner| self.around.get(inner).copied()).collect()
    }

    /// Recomputes elements of a filling where they are read.
    fn recomputed(&self, filling: &Filling) -> Option<Change> {
        if !filling.is_complete {
            return None;
        }
        let (sites, mut is_all) = self.sites(filling);
        let mut reads = Vec::new();
        let mut most = 0;
        let mut is_shared = false;
        for site in &sites {
            match self.recipe(filling, filling.fields[site.field]) {
                Some((recipe, cost)) if !self.is_too_late(filling, site, &recipe) => {
                    most = most.max(cost);
                    // Somebody but the filling needs what it writes.
                    is_shared |= self.use_counts[recipe.result] > 1;
                    reads.push((Read { block: site.block, index: site.index, recipe }, cost));
                }
                _ => is_all = false,
            }
        }
        let places: FxHashSet<(BlockId, Value)> = sites.iter().map(|site| (site.block, site.place)).collect();
        let limit = match sites.iter().all(|site| site.is_once) {
            true if places.len() == 1 && !is_shared => usize::MAX,
            true => CHEAP,
            false => TRIVIAL,
        };
        let limit = if is_all && most <= limit { usize::MAX } else { 0 };
        let reads: Vec<Read> = reads.into_iter().filter(|(_, cost)| *cost <= limit).map(|(read, _)| read).collect();
        (!reads.is_empty()).then_some(Change::Recompute(reads))
    }

    /// Whether a recipe computes what is watched, and something is said between the filling and the read: it would not
    /// have been said if the filling had reported an operation.
    fn is_too_late(&self, filling: &Filling, site: &Site, recipe: &Recipe) -> bool {
        if recipe.insts.iter().all(|inst| inst.watched().is_none()) {
            return false;
        }
        let Code { function, graph, .. } = &self.code;
        let is_said = |inst: &Inst| inst.op.has_effect() || matches!(inst.op, Op::Call(_));
        let from_filling = reached(filling.header, |block| {
            let targets = function.blocks[block].terminator.targets();
            targets.into_iter().map(|target| target.block).collect()
        });
        let to_read = reached(site.block, |block| graph.predecessors[block].to_vec());
        from_filling.intersection(&to_read).any(|block| {
            let insts = &function.blocks[*block].insts;
            let is_end = *block == site.block && !self.innermost.contains_key(block);
            insts[..if is_end { site.index } else { insts.len() }].iter().any(is_said)
        })
    }

    /// The reads of a filling's elements, and whether nothing else is done with its vector.
    fn sites(&self, filling: &Filling) -> (Vec<Site>, bool) {
        let mut sites = Vec::new();
        let mut is_all = true;
        for used in self.uses(filling.vector) {
            match *used {
                Use::Inst(block, _) if filling.body.contains(&block) => is_all &= self.is_write(filling, used),
                Use::Inst(block, index) => match self.site(filling, block, index) {
                    Some(site) => sites.push(site),
                    None => is_all = false,
                },
                Use::Passed(from, to, position) => match self.goes_on_in(filling, from, to, position) {
                    Some(next) => {
                        is_all &= next.is_complete;
                        for used in self.uses(next.vector) {
                            match *used {
                                Use::Inst(block, index) if next.body.contains(&block) => {
                                    let is_here = self.inst(block, index).args.get(2) == Some(&next.place);
                                    let site = self.site(filling, block, index).filter(|_| is_here);
                                    is_all &= site.is_some() || self.is_write(next, used);
                                    sites.extend(site);
                                }
                                Use::Passed(from, ..) if next.body.contains(&from) && from != next.header => {
                                    is_all = false
                                }
                                _ => {}
                            }
                        }
                    }
                    None => is_all = false,
                },
                Use::Other => is_all = false,
            }
        }
        (sites, is_all)
    }

    pub(super) fn is_write(&self, filling: &Filling, used: &Use) -> bool {
        let Use::Inst(block, index) = *used else { return false };
        let inst = self.inst(block, index);
        matches!(inst.op, Op::WithElement(_))
            && inst.args[0] == filling.vector
            && !inst.args[1..].contains(&filling.vector)
    }

    /// The filling of the same vector by a later loop.
    fn goes_on_in(&self, filling: &Filling, from: BlockId, to: BlockId, position: usize) -> Option<&Filling> {
        if filling.body.contains(&to) || filling.body.contains(&from) && from != filling.header {
            return None;
        }
        let next = self.fillings.iter().find(|next| next.header == to && next.position == position)?;
        (next.entry == (from, filling.vector) && next.layout == filling.layout).then_some(next)
    }

    /// A read of an element, where everything that the filling knew before its loop is still known.
    pub(super) fn site(&self, filling: &Filling, block: BlockId, index: usize) -> Option<Site> {
        let inst = self.inst(block, index);
        // Where alternatives share a slot, code for one may read vectors of another, as what they are not. It never
        // runs.
        let Op::Element(layout, field) = inst.op else { return None };
        if layout != filling.layout {
            return None;
        }
        let loops = self.loops(block);
        let outer = self.around.get(&filling.header);
        let inner = match outer {
            Some(outer) => loops.iter().position(|header| header == outer)?,
            None => loops.len(),
        };
        let place = inst.args[2];
        let is_once = match loops[..inner] {
            [] => true,
            [header] => self.linear(place).0.is_some_and(|counter| self.counter(header, counter).is_some()),
            _ => false,
        };
        Some(Site { block, index, field: usize::try_from(field).ok()?, place, is_once })
    }

    /// How a value that the filling writes is computed from the place, and what that costs.
    fn recipe(&self, filling: &Filling, value: Value) -> Option<(Recipe, usize)> {
        let mut collector = Collector { finder: self, filling, insts: Vec::new(), seen: FxHashSet::default(), cost: 0 };
        collector.collect(value)?;
        let Collector { insts, cost, .. } = collector;
        let Filling { place, counter, offset, .. } = *filling;
        Some((Recipe { place, counter, offset, insts, result: value }, cost))
    }

    /// Whether a vector is read only, from the place where it is defined.
    fn is_read_only(&self, vector: Value) -> bool {
        let own = self.by_vector.get(&vector).map(|index| &self.fillings[*index]);
        self.uses(vector).iter().all(|used| match *used {
            Use::Inst(block, index) => {
                matches!(self.inst(block, index).op, Op::Element(..))
                    || own.is_some_and(|own| own.body.contains(&block) && self.is_write(own, used))
            }
            _ => false,
        })
    }

    /// Lets the vector that a filling copies stand for the copy.
    fn copied(&self, filling: &Filling) -> Option<Change> {
        let copy = filling.vector;
        let leaves = |used: &Use| match *used {
            Use::Inst(block, _) => !filling.body.contains(&block),
            Use::Passed(from, to, _) => !filling.body.contains(&from) || !filling.body.contains(&to),
            Use::Other => true,
        };
        if !filling.is_complete || !self.uses(copy).iter().any(leaves) {
            return None;
        }
        let originals = (0..).zip(&filling.fields).map(|(field, value)| {
            let read = self.code.definitions.inst(self.code.function, *value)?;
            let is_same = read.op == Op::Element(filling.layout, field)
                && self.linear(read.args[1]) == self.linear(filling.length)
                && self.linear(read.args[2]) == self.linear(filling.place)
                && self.is_outside(read.args[0], &filling.body);
            is_same.then(|| read.args[0])
        });
        let originals: Option<Vec<Value>> = originals.collect();
        let original = *same(originals?.iter())?;
        Some(Change::Forget { copy, original, body: filling.body.clone() })
    }

    /// Lets a filling that does not look at its vector begin with a new one, instead of another filling's.
    fn begun(&self, filling: &Filling) -> Option<Change> {
        let (from, vector) = filling.entry;
        let [Use::Passed(..)] = self.uses_outside(vector)[..] else { return None };
        let looks = self.uses(filling.vector).iter().any(|used| match *used {
            Use::Inst(block, _) => filling.body.contains(&block) && !self.is_write(filling, used),
            Use::Passed(from, to, _) => {
                filling.body.contains(&from) && (from != filling.header || filling.body.contains(&to))
            }
            Use::Other => false,
        });
        let length = filling.length;
        let is_at_hand = self.code.graph.dominates(self.code.homes.get(length)?, from);
        let Filling { header: to, position, layout, .. } = *filling;
        (filling.is_complete && !looks && is_at_hand).then_some(Change::Begin { from, to, position, layout, length })
    }

    /// The uses of a filling's vector, but for those by itself.
    fn uses_outside(&self, vector: Value) -> Vec<Use> {
        let Some(own) = self.by_vector.get(&vector).map(|index| &self.fillings[*index]) else { return Vec::new() };
        let is_own = |used: &Use| match *used {
            Use::Inst(block, _) => own.body.contains(&block),
            _ => false,
        };
        self.uses(vector).iter().copied().filter(|used| !is_own(used)).collect()
    }
}

/// All blocks that steps lead to from one.
fn reached(from: BlockId, steps: impl Fn(BlockId) -> Vec<BlockId>) -> FxHashSet<BlockId> {
    let (mut seen, mut waiting) = (FxHashSet::default(), vec![from]);
    while let Some(block) = waiting.pop() {
        if seen.insert(block) {
            waiting.extend(steps(block));
        }
    }
    seen
}

/// How far a counter goes.
enum Bound {
    /// It stays below this.
    Below(Linear),
    /// It is never less than this.
    From(i64),
}

/// Collects what an element is computed by.
struct Collector<'c> {
    finder: &'c Finder<'c>,
    filling: &'c Filling,
    insts: Vec<Inst>,
    seen: FxHashSet<Value>,
    cost: usize,
}

impl Collector<'_> {
    /// Collects the instructions that compute a value.
    fn collect(&mut self, value: Value) -> Option<()> {
        let Filling { place, counter, ref body, .. } = *self.filling;
        let is_given = value == place || value == counter || self.finder.is_outside(value, body);
        if is_given || !self.seen.insert(value) {
            return Some(());
        }
        let code = &self.finder.code;
        let inst = code.definitions.inst(code.function, value)?;
        if let Some(read) = self.written_too(value).filter(|_| !is_constant(inst.op)) {
            self.cost += cost(read.op)?;
            self.insts.push(Inst { results: smallvec![value], span: inst.span, ..read });
            return Some(());
        }
        self.cost += cost(inst.op)?;
        if matches!(inst.op, Op::Element(..)) && !self.finder.is_read_only(inst.args[0]) {
            return None;
        }
        inst.args.iter().try_for_each(|arg| self.collect(*arg))?;
        self.insts.push(inst.clone());
        (self.insts.len() <= MOST_INSTRUCTIONS).then_some(())
    }

    /// The read of an element of another vector that the same loop writes this value to.
    fn written_too(&self, value: Value) -> Option<Inst> {
        let own = self.filling;
        let other = self.finder.fillings.iter().find(|other| {
            other.header == own.header
                && other.position < own.position
                && other.is_complete
                && other.place == own.place
                && other.fields.contains(&value)
                && self.finder.is_read_only(other.vector)
        })?;
        let field = u32::try_from(other.fields.iter().position(|field| *field == value)?).ok()?;
        let args = smallvec![other.vector, other.length, own.place];
        Some(Inst { op: Op::Element(other.layout, field), args, results: Values::new(), span: None })
    }
}

/// What an operation that can be computed again costs.
pub(super) fn cost(op: Op) -> Option<usize> {
    match op {
        op if is_constant(op) => Some(0),
        Op::Element(..) | Op::GlobalGet(_) | Op::Select => Some(1),
        op if is_cheap(op) || op.is_logic() => Some(1),
        Op::Real1(_) | Op::Real2(_) => Some(EXPENSIVE),
        _ => None,
    }
}
