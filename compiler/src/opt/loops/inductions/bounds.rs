//! What tests on the way to a block tell about integers, and places that are in range for that.

use crate::opt::analysis::least::Least;
use crate::opt::analysis::loops::{Linear, counter, each_outcome, linear};
use crate::opt::edit::rewrite::{Definitions, Replacements};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Compare, Function, Inst, IntCompare, Op, Type, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many tests are looked at for a fact.
const MOST_TESTS: usize = 32;

/// Integers that reals were found equal to, by the reals, with the blocks where that is known.
#[derive(Debug, Default)]
pub(super) struct Equal {
    known: FxHashMap<Value, Vec<(BlockId, Value)>>,
}

impl Equal {
    /// One of the integers that a real is in a block.
    pub(super) fn at(&self, graph: &Graph, block: BlockId, real: Value) -> Option<Value> {
        self.all_at(graph, block, real).next()
    }

    /// The integers that a real is in a block.
    pub(super) fn all_at(&self, graph: &Graph, block: BlockId, real: Value) -> impl Iterator<Item = Value> {
        let known = self.known.get(&real).into_iter().flatten();
        known.filter(move |(home, _)| graph.dominates(*home, block)).map(|(_, integer)| *integer)
    }
}

/// Finds reals that tests have found equal to integers. The sign of a zero may differ.
pub(super) fn equal_integers(function: &Function, graph: &Graph, definitions: &Definitions) -> Equal {
    let mut equal = Equal::default();
    for block in &graph.order {
        each_outcome(function, graph, definitions, *block, |inst, holds| {
            if inst.op != Op::Compare(Compare::Eq) || !holds {
                return;
            }
            for (real, other) in [(inst.args[0], inst.args[1]), (inst.args[1], inst.args[0])] {
                let other = definitions.inst(function, other).filter(|other| other.op == Op::RealOf);
                if let Some(other) = other {
                    let known = equal.known.entry(real).or_default();
                    if known.len() < MOST_TESTS {
                        known.push((*block, other.args[0]));
                    }
                }
            }
        });
    }
    equal
}

/// A parameter of a loop that is changed by a constant in each round.
#[derive(PartialEq)]
struct Counter {
    start: Linear,
    step: i64,
}

struct Facts<'f> {
    function: &'f Function,
    graph: Graph,
    definitions: Definitions,
    counters: FxHashMap<Value, Counter>,
}

/// Leaves one of counters that are alike, and decides tests for places that are in range. True when there were some.
pub(super) fn decide(function: &mut Function) -> bool {
    let is_check = |inst: &Inst| inst.op == Op::IntCompare(IntCompare::Below);
    let graph = Graph::new(function);
    let definitions = Definitions::new(function);
    let mut facts = Facts { function, graph, definitions, counters: FxHashMap::default() };
    facts.find_counters();
    if facts.counters.is_empty() {
        return false;
    }
    let alike = facts.alike();
    if alike.any() {
        return alike.apply(function);
    }
    let mut least = Least::new(function, &facts.graph, &facts.definitions);
    let mut in_range: FxHashSet<Value> = FxHashSet::default();
    for block in &facts.graph.order {
        for inst in function.blocks[*block].insts.iter().filter(|inst| is_check(inst)) {
            if facts.is_below(*block, facts.linear(inst.args[0]), facts.linear(inst.args[1])) {
                least.stand_in(function, &facts.graph, &facts.definitions, *block);
                if least.of(function, &facts.definitions, inst.args[0]) >= 0.0 {
                    in_range.insert(inst.results[0]);
                }
            }
        }
    }
    let found = !in_range.is_empty();
    for inst in function.blocks.values_mut().flat_map(|block| &mut block.insts) {
        if inst.results.first().is_some_and(|result| in_range.contains(result)) {
            (inst.op, inst.args) = (Op::ConstBool(true), Values::new());
        }
    }
    found
}

impl Facts<'_> {
    fn linear(&self, value: Value) -> Linear {
        linear(self.function, &self.definitions, value)
    }

    fn find_counters(&mut self) {
        for header in self.graph.order.iter().filter(|block| self.graph.is_loop_header(**block)) {
            for (position, param) in self.function.blocks[*header].params.iter().enumerate() {
                if self.function.values[*param] == Type::Int
                    && let Some((start, step)) =
                        counter(self.function, &self.graph, &self.definitions, *header, position)
                {
                    self.counters.insert(*param, Counter { start, step });
                }
            }
        }
    }

    /// Counters of a loop that always are another one.
    fn alike(&self) -> Replacements {
        let mut alike = Replacements::new(self.function);
        for header in self.graph.order.iter().filter(|block| self.graph.is_loop_header(**block)) {
            let params = &self.function.blocks[*header].params;
            let counters: Vec<_> =
                params.iter().filter_map(|param| Some((*param, self.counters.get(param)?))).collect();
            for (index, (param, counter)) in counters.iter().enumerate() {
                if let Some((first, _)) = counters[..index].iter().find(|(_, other)| other == counter) {
                    alike.replace(*param, *first);
                }
            }
        }
        alike
    }

    /// Whether a place is known to be below a length. Nothing is the base of constants, which is like a counter that
    /// stays 0.
    fn is_below(&self, block: BlockId, (base, offset): Linear, length: Linear) -> bool {
        let constant = Counter { start: (None, 0), step: 0 };
        let counter = base.map_or(Some(&constant), |base| self.counters.get(&base));
        let Some(counter) = counter else { return false };
        let mut starts_below = Vec::new();
        if counter.step <= 0 && counter.start.1 + offset < length.1 {
            starts_below.push(counter.start.0);
        }
        let mut same: Vec<Option<Value>> = vec![length.0];
        let mut below = starts_below.iter().any(|start| same.contains(start));
        let mut bounds: Vec<Option<Value>> = Vec::new();
        let mut here = Some(block);
        for _ in 0..MOST_TESTS {
            let Some(block) = here else { break };
            each_outcome(self.function, &self.graph, &self.definitions, block, |inst, holds| match (inst.op, holds) {
                (Op::IntCompare(IntCompare::Eq | IntCompare::Conform), true) => {
                    if let [x, y] = inst.args[..] {
                        same.extend(
                            [(x, y), (y, x)]
                                .iter()
                                .filter(|(x, _)| same.contains(&Some(*x)))
                                .map(|(_, y)| Some(*y))
                                .collect::<Vec<_>>(),
                        );
                    }
                }
                (Op::IntCompare(IntCompare::Lt), true) => {
                    let (x, y) = (self.linear(inst.args[0]), self.linear(inst.args[1]));
                    if x.0 == base && y.1 - x.1 + offset <= length.1 {
                        bounds.push(y.0);
                    }
                }
                // Lengths are not negative, so those that are not 0 are more than that.
                (Op::IntIs(0), false) => {
                    below |= (base, offset, length.1) == (None, 0, 0) && same.contains(&Some(inst.args[0]));
                }
                _ => {}
            });
            below |= bounds.iter().chain(&starts_below).any(|bound| same.contains(bound));
            if below {
                return true;
            }
            here = self.graph.dominator[block];
        }
        false
    }
}
