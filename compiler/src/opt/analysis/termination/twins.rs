//! Loops that end because another one has ended: see the module above.
//!
//! A loop that begins as another one has begun, and does the same as far as its tests are concerned, leaves no later
//! than that has left. The loops of a function and of its derivative are such twins. They may differ in form: a test
//! may stand before one and inside the other.
//!
//! Both are executed side by side with unknown numbers, from the last block before the first one that leads to both.
//! What the way to the second one has tested holds. Operations on equal operands are equal (hash consing); a test whose
//! outcome is not known yet is tried both ways, and both loops get the same answer. Where both begin a round, what is
//! equal of what they carry is noted, and whether the first one has made the test that the second one begins with; the
//! next round begins with that (an invariant, which only becomes smaller until it holds). The second loop has no end of
//! its own if it could go on on no way on which the first one has been left.

use super::{Code, Loop};
use crate::ssa::ir::{BlockId, Op, Target, Terminator, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// How many steps and operations are executed at most for a function.
const BUDGET: usize = 60_000;

/// How many of these for two loops.
const BUDGET_OF_TWO: usize = 2_500;

/// So many blocks on the way to a loop are walked in the time of a step.
const WALKED_AT_ONCE: usize = 8;

/// So many values of a state are copied in the time of a step.
const COPIED_AT_ONCE: usize = 16;

/// A search for twins among the loops of a function.
pub(super) struct Search {
    /// What is left of the budget.
    left: usize,
    /// The ways to a loop, by its header and the block where they begin: one loop is compared with many.
    ways: FxHashMap<(BlockId, BlockId), Rc<FxHashSet<BlockId>>>,
}

impl Search {
    /// Nothing has been compared yet.
    pub(super) fn new() -> Search {
        Search { left: BUDGET, ways: FxHashMap::default() }
    }
}

impl Code<'_> {
    /// Whether the second loop ends, given that the first one does if it is before it.
    pub(super) fn is_twin(&self, first: &Loop<'_>, second: &Loop<'_>, search: &mut Search) -> bool {
        let [start] = second.starts[..] else { return false };
        if search.left == 0 || first.body[second.header] || second.body[first.header] {
            return false;
        }
        let nearest = self.graph.common_dominator(first.header, second.header);
        let before_first = self.graph.dominator[first.header];
        let Some(common) = (if nearest == first.header { before_first } else { Some(nearest) }) else { return false };
        let before = search.ways.get(&(first.header, common)).cloned().unwrap_or_else(|| {
            let ways = Rc::new(self.ways(first, common));
            search.left = search.left.saturating_sub(ways.len() / WALKED_AT_ONCE);
            search.ways.insert((first.header, common), ways.clone());
            ways
        });
        if common == second.header || before.contains(&second.header) {
            return false;
        }
        let (ids, outer, outcomes) = (FxHashMap::default(), FxHashMap::default(), Vec::new());
        let budget = BUDGET_OF_TWO.min(search.left);
        let mut twins = Twins { code: self, first, second, common, before, ids, outer, outcomes, budget };
        let is_twin = twins.run(start).is_some();
        search.left -= budget - twins.budget;
        is_twin
    }

    /// The blocks on the ways from a block that dominates a loop to that, with its header.
    fn ways(&self, to: &Loop<'_>, from: BlockId) -> FxHashSet<BlockId> {
        let (mut ways, mut waiting) = (FxHashSet::default(), vec![to.header]);
        while let Some(block) = waiting.pop() {
            if block != from && ways.insert(block) {
                waiting.extend(self.graph.predecessors[block].iter().filter(|before| !to.body[**before]));
            }
        }
        ways
    }
}

/// A number for what is equal.
type Id = u32;

/// What a number stands for.
#[derive(PartialEq, Eq, Hash)]
enum Meaning {
    /// What was there before both loops.
    Outer(Value),
    /// A value that only one of them knows, and that does not change but where a block is entered.
    Own(bool, Value),
    /// What one operation has given, once.
    Fresh(usize),
    /// What the first loop carries when a round begins.
    Carried(usize),
    /// An operation.
    Result(Op, Vec<Id>),
}

/// Where an execution is.
#[derive(Clone)]
enum Place {
    /// At the beginning of a block.
    In(BlockId),
    /// At the beginning of a round of the first loop, which carries this.
    Round(Vec<Id>),
    /// Behind the loop.
    Left,
}

/// The values of an execution.
#[derive(Clone, Default)]
struct Known {
    /// The parameters of blocks.
    params: FxHashMap<Value, Id>,
    /// What has been computed of them since the last block that has parameters, or that begins a round.
    computed: FxHashMap<Value, Id>,
}

/// What both executions have come to.
#[derive(Clone)]
struct State {
    first: Place,
    second: BlockId,
    /// Of the first and of the second one.
    known: [Known; 2],
    outcomes: FxHashMap<Id, usize>,
    /// Where the second one has begun rounds since the first one has been left.
    alone: Vec<BlockId>,
}

impl State {
    /// How many values there are in it.
    fn size(&self) -> usize {
        self.known.iter().map(|known| known.params.len() + known.computed.len()).sum()
    }
}

/// What is equal where both begin a round: the positions of parameters of the first loop, and values of the second.
type Equal = FxHashSet<(usize, Value)>;

/// What holds whenever both begin a round.
#[derive(Clone, PartialEq, Eq)]
struct Invariant {
    equal: Equal,
    /// The outcome of the test that the second one begins with, where the first one has made it.
    outcome: Option<usize>,
}

impl Invariant {
    /// What holds in both.
    fn meet(&self, other: &Invariant) -> Invariant {
        let equal = self.equal.intersection(&other.equal).copied().collect();
        Invariant { equal, outcome: self.outcome.filter(|outcome| other.outcome == Some(*outcome)) }
    }
}

/// The invariants, by the header where the second loop begins a round.
type Invariants = FxHashMap<BlockId, Invariant>;

struct Twins<'c, 'f> {
    code: &'c Code<'f>,
    first: &'c Loop<'f>,
    second: &'c Loop<'f>,
    /// The last block before both.
    common: BlockId,
    before: Rc<FxHashSet<BlockId>>,
    ids: FxHashMap<Meaning, Id>,
    /// Those of values that are there before both, and so are the same in all executions.
    outer: FxHashMap<Value, Id>,
    /// The outcomes of tests, by number, that are constants.
    outcomes: Vec<Option<usize>>,
    budget: usize,
}

impl Twins<'_, '_> {
    /// `None` unless the second loop always ends.
    fn run(&mut self, start: &Target) -> Option<()> {
        let mut invariants = Invariants::default();
        let mut known = [Known::default(), Known::default()];
        let passed = self.ids(true, &start.args, &mut known[1])?;
        self.enter(self.second.header, &passed, &mut known[1]);
        let outcomes = self.tested(&mut known[1])?;
        let state =
            State { first: Place::In(self.common), second: self.second.header, known, outcomes, alone: Vec::new() };
        let mut waiting = self.follow(state, false, &mut invariants)?;
        while let Some(header) = waiting.pop() {
            let state = self.round(header, &invariants[&header])?;
            waiting.extend(self.follow(state, true, &mut invariants)?);
        }
        Some(())
    }

    /// The tests that the way to the second loop has passed since the common block, with their outcomes.
    fn tested(&mut self, known: &mut Known) -> Option<FxHashMap<Id, usize>> {
        let code = self.code;
        let mut outcomes = FxHashMap::default();
        let mut block = self.second.header;
        while block != self.common {
            let mut outside = code.graph.predecessors[block].iter().filter(|from| !code.graph.dominates(block, **from));
            if let (Some(from), None) = (outside.next(), outside.next()) {
                let terminator = &code.function.blocks[*from].terminator;
                let mut leading = (0..terminator.target_count()).filter(|way| terminator.target(*way).block == block);
                if let (Terminator::Branch(test, ..) | Terminator::Switch(test, _), Some(way), None) =
                    (terminator, leading.next(), leading.next())
                {
                    let test = self.value(true, *test, known)?;
                    outcomes.insert(test, way);
                }
            }
            block = code.graph.dominator[block]?;
        }
        Some(outcomes)
    }

    /// The state in which both begin a round.
    fn round(&mut self, header: BlockId, invariant: &Invariant) -> Option<State> {
        let params = &self.code.function.blocks[self.first.header].params;
        let mut known = [Known::default(), Known::default()];
        for (position, param) in params.iter().enumerate() {
            let id = self.id(Meaning::Carried(position));
            known[0].params.insert(*param, id);
        }
        let mut pairs: Vec<&(usize, Value)> = invariant.equal.iter().collect();
        pairs.sort_unstable();
        for (position, value) in pairs {
            let id = known[0].params[&params[*position]];
            // Two that are equal to the same one are equal.
            if let Some(other) = known[1].params.insert(*value, id) {
                known[1].params.insert(*value, other);
                known[0].params.insert(params[*position], other);
            }
        }
        let (first, outcomes) = (Place::In(self.first.header), FxHashMap::default());
        let mut state = State { first, second: header, known, outcomes, alone: Vec::new() };
        if let (Some(outcome), Some((Some(test), _))) = (invariant.outcome, self.choice(&mut state, true)?) {
            state.outcomes.insert(test, outcome);
        }
        Some(state)
    }

    /// Executes until both begin a round or the second one ends, and at least a step of the second one if it begins a
    /// round; the result are the headers of the second loop that more has to be found out about. `None` if the second
    /// one may go on alone.
    fn follow(&mut self, state: State, begins: bool, invariants: &mut Invariants) -> Option<Vec<BlockId>> {
        let mut again = Vec::new();
        let mut waiting = vec![(state, begins)];
        while let Some((mut state, begins)) = waiting.pop() {
            self.budget = self.budget.checked_sub(1)?;
            let first = self.choice(&mut state, false)?;
            if let Some((_, Some(way))) = first {
                if self.advance(&mut state, false, way)? {
                    waiting.push((state, begins));
                }
                continue;
            }
            let is_header = self.code.graph.is_loop_header(state.second);
            if let (Place::Round(carried), true, false) = (&state.first, is_header, begins) {
                let carried = carried.clone();
                let outcome = self.choice(&mut state, true)?.and_then(|(_, outcome)| outcome);
                let now = Invariant { equal: self.equal(state.second, &carried, &mut state.known[1])?, outcome };
                let before = invariants.get(&state.second);
                let holds = before.map_or_else(|| now.clone(), |before| before.meet(&now));
                if before != Some(&holds) {
                    invariants.insert(state.second, holds);
                    again.push(state.second);
                }
                continue;
            }
            let second = self.choice(&mut state, true)?;
            match (first, second) {
                (_, Some((_, Some(way)))) => {
                    if self.advance(&mut state, true, way)? {
                        waiting.push((state, false));
                    }
                }
                (Some((Some(test), None)), _) | (None, Some((Some(test), None))) => {
                    let is_first = matches!((&state.first, first), (Place::In(_), Some(_)));
                    let place = match state.first {
                        Place::In(block) if is_first => block,
                        _ => state.second,
                    };
                    let terminator = &self.code.function.blocks[place].terminator;
                    let mut outcomes: Vec<usize> = (0..terminator.target_count()).collect();
                    outcomes.sort_by_key(|outcome| self.may_fail(is_first, terminator.target(*outcome).block));
                    for outcome in outcomes {
                        // A large state takes as long to copy as many steps take.
                        self.budget = self.budget.checked_sub(state.size() / COPIED_AT_ONCE)?;
                        let mut state = state.clone();
                        state.outcomes.insert(test, outcome);
                        waiting.push((state, begins));
                    }
                }
                _ => return None,
            }
        }
        Some(again)
    }

    /// Whether a way may lead to where the second loop goes on alone. Such ways are tried first: after one of them that
    /// does, the others do not matter.
    fn may_fail(&self, is_first: bool, next: BlockId) -> bool {
        match is_first {
            true => !self.first.body[next] && !self.before.contains(&next),
            false => self.second.body[next],
        }
    }

    /// What an execution tests, and the way that it goes if that is known; nothing if it waits.
    fn choice(&mut self, state: &mut State, is_second: bool) -> Option<Option<(Option<Id>, Option<usize>)>> {
        let block = match (&state.first, is_second) {
            (_, true) => state.second,
            (Place::In(block), false) => *block,
            _ => return Some(None),
        };
        Some(match &self.code.function.blocks[block].terminator {
            Terminator::Jump(_) => Some((None, Some(0))),
            Terminator::Branch(test, ..) | Terminator::Switch(test, _) => {
                let test = self.value(is_second, *test, &mut state.known[usize::from(is_second)])?;
                let known = self.outcomes[test as usize].or_else(|| state.outcomes.get(&test).copied());
                Some((Some(test), known))
            }
            // The function is left, and so is the loop.
            _ if !is_second => None,
            _ => return None,
        })
    }

    /// Goes one way; false if there is nothing more to find out on it.
    fn advance(&mut self, state: &mut State, is_second: bool, way: usize) -> Option<bool> {
        let code = self.code;
        let block = match (&state.first, is_second) {
            (Place::In(block), false) => *block,
            _ => state.second,
        };
        let targets = code.function.blocks[block].terminator.targets();
        let target = *targets.get(way)?;
        let passed = self.ids(is_second, &target.args, &mut state.known[usize::from(is_second)])?;
        if is_second {
            // What goes round alone seldom ends by what has been tested.
            if matches!(state.first, Place::Left) && code.graph.is_loop_header(target.block) {
                if state.alone.contains(&target.block) {
                    return None;
                }
                state.alone.push(target.block);
            }
            state.second = target.block;
            self.enter(target.block, &passed, &mut state.known[1]);
            return Some(self.second.body[target.block]);
        }
        state.first = if target.block == self.first.header {
            Place::Round(passed)
        } else if self.first.body[target.block] || self.before.contains(&target.block) {
            self.enter(target.block, &passed, &mut state.known[0]);
            Place::In(target.block)
        } else {
            Place::Left
        };
        // Where the program ends, nothing follows.
        Some(!matches!(code.function.blocks[target.block].terminator, Terminator::Fail(..) | Terminator::Unreachable))
    }

    /// What is equal of what the first loop carries and what the second one holds at a header.
    fn equal(&mut self, header: BlockId, carried: &[Id], known: &mut Known) -> Option<Equal> {
        let code = self.code;
        let mut found = Equal::default();
        let around = |block: &BlockId| self.second.body[*block] && code.dominates(*block, header);
        for block in code.graph.order.iter().copied().filter(around).collect::<Vec<_>>() {
            for param in &code.function.blocks[block].params {
                let id = self.value(true, *param, known)?;
                found.extend(
                    (0..).zip(carried).filter(|(_, other)| **other == id).map(|(position, _)| (position, *param)),
                );
            }
        }
        Some(found)
    }

    fn enter(&self, block: BlockId, passed: &[Id], known: &mut Known) {
        if !passed.is_empty() || self.code.graph.is_loop_header(block) {
            known.computed.clear();
        }
        known.params.extend(self.code.function.blocks[block].params.iter().copied().zip(passed.iter().copied()));
    }

    fn ids(&mut self, is_second: bool, values: &[Value], known: &mut Known) -> Option<Vec<Id>> {
        values.iter().map(|value| self.value(is_second, *value, known)).collect()
    }

    fn id(&mut self, meaning: Meaning) -> Id {
        let next = Id::try_from(self.ids.len()).expect("the budget is small");
        let outcome = match meaning {
            Meaning::Result(Op::ConstBool(holds), _) => Some(usize::from(!holds)),
            _ => None,
        };
        let id = *self.ids.entry(meaning).or_insert(next);
        if id == next {
            self.outcomes.push(outcome);
        }
        id
    }

    /// Whether a value is there before both loops.
    fn is_outer(&self, value: Value) -> bool {
        self.code.homes.get(value).is_some_and(|home| self.code.dominates(home, self.common))
    }

    /// What a value is in an execution; `None` if that takes too long to find out.
    fn value(&mut self, is_second: bool, value: Value, known: &mut Known) -> Option<Id> {
        // The operations that wait for their operands, which are computed one after another.
        let mut open: Vec<(Value, Op, &Values, Vec<Id>)> = Vec::new();
        let mut next = value;
        let code = self.code;
        loop {
            self.budget = self.budget.checked_sub(1)?;
            let found = known.params.get(&next).or_else(|| known.computed.get(&next)).or_else(|| self.outer.get(&next));
            let mut done = match (found, code.definitions.inst(code.function, next)) {
                (Some(id), _) => *id,
                (None, Some(inst)) if is_pure(inst.op) => {
                    if let Some(first) = inst.args.first() {
                        open.push((next, inst.op, &inst.args, Vec::new()));
                        next = *first;
                        continue;
                    }
                    self.id(Meaning::Result(inst.op, Vec::new()))
                }
                (None, inst) => {
                    let home = code.homes.get(next);
                    let is_outer = self.is_outer(next);
                    let is_inside = home.is_none_or(|home| self.first.body[home] || self.second.body[home]);
                    self.id(match inst {
                        _ if is_outer => Meaning::Outer(next),
                        Some(_) if is_inside => Meaning::Fresh(self.ids.len()),
                        _ => Meaning::Own(is_second, next),
                    })
                }
            };
            loop {
                let Some((result, op, args, ids)) = open.last_mut() else { return Some(done) };
                ids.push(done);
                if let Some(arg) = args.get(ids.len()) {
                    next = *arg;
                    break;
                }
                let (result, op, ids) = (*result, *op, std::mem::take(ids));
                open.pop();
                done = self.id(Meaning::Result(op, ids));
                let computed = if self.is_outer(result) { &mut self.outer } else { &mut known.computed };
                computed.insert(result, done);
            }
        }
    }
}

/// Whether equal operands give equal results, one for each operation.
fn is_pure(op: Op) -> bool {
    let reads = matches!(op, Op::Field(..) | Op::Tag(_) | Op::HasTag(..) | Op::Element(..));
    reads
        || op.is_logic()
        || matches!(op, Op::Real1(_) | Op::Real2(_) | Op::Immediate(..))
        || matches!(op, Op::ConstReal(_) | Op::ConstBool(_) | Op::ConstInt(_))
}
