//! What of a loop is done in lanes, and whether it pays.

use crate::base::EntityVec;
use crate::opt::analysis::finite::Watched;
use crate::opt::edit::rewrite::{Definitions, is_constant};
use crate::opt::loops::vectorize::bounds::Bounds;
use crate::opt::loops::vectorize::shape::Loop;
use crate::opt::loops::vectorize::{APART, PARTS, Sums};
use crate::ssa::ir::{Function, Inst, LANES, Lanewise, Op, Real1, Real2, Type, Value, VectorId, VectorLayout};
use rustc_hash::{FxHashMap, FxHashSet};

/// A call of a function of reals costs what lanes have to save so often; one of lanes saves as much.
const CALL: usize = 2;

/// What is done for one loop.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) found: Loop,
    pub(super) bounds: Bounds,
    /// How many pairs of rounds a round of lanes makes.
    pub(super) pairs: usize,
    /// Whether places go up: then the first of two rounds is in the first lane.
    pub(super) is_upwards: bool,
    /// What is made in lanes.
    pub(super) laned: FxHashSet<Value>,
    /// The changes of the vectors that the loop carries, by their parameters.
    pub(super) changes: FxHashMap<Value, Inst>,
    /// The sums, products and truth values that are made in lanes, by their parameters: what puts lanes together.
    pub(super) sums: FxHashMap<Value, Gathering>,
    /// The elements in lanes that are tested for the symbolic zero, if that is done once for all tests.
    pub(super) tested: Vec<Value>,
    /// Tests from before the loop for the symbolic zero, by which the loop selects: there are lanes only where none
    /// holds.
    pub(super) failed: Vec<Value>,
    /// What has to be finite.
    pub(super) watched: Watched,
}

/// What is looked at behind the lanes.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// The parameter at this position.
    Carried(usize),
    /// A value from before the loop.
    Given(Value),
}

/// What makes one value of those of all rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gathering {
    /// A sum or a product: in lanes, its last digits are others.
    Real(Real2),
    /// Whether something is true in some round. The order does not matter.
    Or,
    /// Whether something is true in all rounds.
    And,
    /// A sum in interleaved parts, which are the parameters at these positions: each round adds to the first, and hands
    /// the others on one position to the front. After a round of lanes each part is back in its place.
    Parts([usize; PARTS]),
}

impl Gathering {
    /// The kind of an operation on a value that is gathered and another one.
    fn of(op: Op) -> Option<Gathering> {
        Some(match op {
            Op::Real2(Real2::Add | Real2::Sub) => Gathering::Real(Real2::Add),
            Op::Real2(Real2::Mul) => Gathering::Real(Real2::Mul),
            Op::Or => Gathering::Or,
            Op::And => Gathering::And,
            _ => return None,
        })
    }

    /// The operation of two values.
    pub(super) fn op(self) -> Op {
        match self {
            Gathering::Real(op) => Op::Real2(op),
            Gathering::Or => Op::Or,
            Gathering::And => Op::And,
            Gathering::Parts(_) => Op::Real2(Real2::Add),
        }
    }

    /// Whether it takes several lanes.
    fn is_apart(self) -> bool {
        matches!(self, Gathering::Real(_) | Gathering::Parts(_))
    }

    /// The position of the parameter that a round hands on what it has added for, given that of the sum.
    pub(super) fn end(self, own: usize) -> usize {
        match self {
            Gathering::Parts([.., last]) => last,
            _ => own,
        }
    }
}

/// The operation on lanes for one on single values.
pub(super) fn lanewise(op: Op) -> Option<Lanewise> {
    Some(match op {
        Op::Real1(op @ (Real1::Neg | Real1::Abs | Real1::Sqrt)) => Lanewise::Real1(op),
        Op::Real1(op) if op.has_lanes() => Lanewise::Real1(op),
        Op::Real2(op @ (Real2::Add | Real2::Sub | Real2::Mul | Real2::Div)) => Lanewise::Real2(op),
        Op::Compare(op) => Lanewise::Compare(op),
        Op::Not => Lanewise::Not,
        Op::And => Lanewise::And,
        Op::Or => Lanewise::Or,
        Op::RealIs(bits) => Lanewise::RealIs(bits),
        Op::Select => Lanewise::Select,
        _ => return None,
    })
}

fn is_call(op: Op) -> bool {
    matches!(op, Op::Real1(_) | Op::Real2(_)) && lanewise(op).is_none()
}

impl Plan {
    /// The plan for a loop, if it pays.
    pub(super) fn new(
        function: &Function,
        vectors: &EntityVec<VectorId, VectorLayout>,
        definitions: &Definitions,
        found: Loop,
        sums: Sums,
    ) -> Option<Plan> {
        let changes = changes(function, &found)?;
        let places: Vec<Value> = changes.values().map(|change| change.args[2]).collect();
        let failed = failed(function, definitions, &found);
        let mut search =
            Search { function, vectors, found: &found, changes, failed, sums: FxHashMap::default(), up: None };
        // Elements that are read may come from the other direction, those that are changed decide.
        if !places.into_iter().all(|place| search.goes_along(place)) {
            return None;
        }
        search.find_sums(sums);
        search.find_parts();
        let laned = search.laned();
        let is_apart = search.sums.values().any(|kind| kind.is_apart());
        if sums == Sums::Apart && !is_apart {
            return None;
        }
        let is_upwards = search.up?;
        if !search.pays(&laned) {
            return None;
        }
        let Search { changes, failed, sums, .. } = search;
        let tested = tested(&found, &laned);
        let pairs = if is_apart { APART } else { 1 };
        let bounds = Bounds::new(function, definitions, &found, pairs * LANES)?;
        let watched = Watched::default();
        Some(Plan { found, bounds, pairs, is_upwards, laned, changes, sums, tested, failed, watched })
    }

    /// The round of a pair whose number is in that lane.
    pub(super) fn round_of(&self, pair: usize, lane: usize) -> usize {
        pair * LANES + if self.is_upwards { lane } else { LANES - 1 - lane }
    }

    /// The position of the parameter that a result is handed on for, if it stays infinite there once it is.
    pub(super) fn carried(&self, root: Value) -> Option<usize> {
        let position = self.found.next.iter().position(|next| *next == root)?;
        self.watched.parts.contains(&self.found.params[position]).then_some(position)
    }

    /// Whether lanes hold the parameter at this position.
    pub(super) fn is_summed(&self, position: usize) -> bool {
        is_summed(&self.sums, &self.found, position)
    }

    /// What has to be finite behind the lanes, if that says it for all their rounds and these can be made again.
    pub(super) fn watched_at_end(&self) -> Option<Vec<End>> {
        let end = |root: &Value| match self.found.is_inside(*root) {
            true => self.carried(*root).filter(|_| !self.laned.contains(root)).map(End::Carried),
            false => Some(End::Given(*root)),
        };
        let ends: Option<Vec<End>> = self.watched.roots.iter().map(end).collect();
        ends.filter(|ends| !ends.is_empty() && self.changes.is_empty())
    }

    /// What a condition is if the elements that are tested are numbers, or in any case, where that tells it.
    pub(super) fn truth(&self, condition: Value, are_numbers: bool) -> Option<bool> {
        if self.failed.contains(&condition) {
            return Some(false);
        }
        self.truth_of_numbers(condition).filter(|_| are_numbers)
    }

    /// What a test in lanes is if the elements that are tested are numbers, where that tells it.
    pub(super) fn truth_of_numbers(&self, value: Value) -> Option<bool> {
        let inst = self.found.inst(value)?;
        match (inst.op, &inst.args[..]) {
            (Op::RealIs(_), [element]) => self.tested.contains(element).then_some(false),
            (Op::Not, [x]) => self.truth_of_numbers(*x).map(|truth| !truth),
            (Op::And | Op::Or, [x, y]) => {
                let decides = inst.op == Op::Or;
                match (self.truth_of_numbers(*x), self.truth_of_numbers(*y)) {
                    (Some(x), Some(y)) => Some(if decides { x || y } else { x && y }),
                    (Some(truth), None) | (None, Some(truth)) => (truth == decides).then_some(truth),
                    (None, None) => None,
                }
            }
            _ => None,
        }
    }
}

/// Whether the parameter at this position is gathered in lanes, or part of what is.
fn is_summed(sums: &FxHashMap<Value, Gathering>, found: &Loop, position: usize) -> bool {
    let is_among = |(param, kind): (&Value, &Gathering)| match kind {
        Gathering::Parts(positions) => positions.contains(&position),
        _ => found.params[position] == *param,
    };
    sums.iter().any(is_among)
}

/// The tests from before a loop for the symbolic zero by which the loop selects numbers.
fn failed(function: &Function, definitions: &Definitions, found: &Loop) -> Vec<Value> {
    let selects = |inst: &&Inst| inst.op == Op::Select && function.values[inst.results[0]] == Type::F64;
    let conditions = found.insts.iter().filter(selects).map(|inst| inst.args[0]);
    let is_test = |condition: &Value| {
        !found.is_inside(*condition) && matches!(definitions.op(function, *condition), Some(Op::RealIs(_)))
    };
    let mut failed: Vec<Value> = conditions.filter(is_test).collect();
    failed.sort_unstable();
    failed.dedup();
    failed
}

/// So many selections by tests for the symbolic zero are worth a way without them.
const WORTH_A_WAY: usize = 2;

/// The elements that are tested, if enough is selected by tests.
fn tested(found: &Loop, laned: &FxHashSet<Value>) -> Vec<Value> {
    let made_of = |value: Value| found.inst(value).filter(|_| laned.contains(&value));
    let mut tested = Vec::new();
    let mut tests = FxHashSet::default();
    for inst in &found.insts {
        let is_test = matches!(inst.op, Op::RealIs(_)) && laned.contains(&inst.results[0]);
        if is_test && made_of(inst.args[0]).is_some_and(|element| matches!(element.op, Op::Element(..))) {
            tests.insert(inst.results[0]);
            if !tested.contains(&inst.args[0]) {
                tested.push(inst.args[0]);
            }
        }
    }
    let is_selected = |inst: &&Inst| inst.op == Op::Select && tests.contains(&inst.args[0]);
    if found.insts.iter().filter(is_selected).count() < WORTH_A_WAY {
        tested.clear();
    }
    tested
}

/// The changes of the vectors that a loop carries; `None` if it carries other pointers that change, or does something
/// else with a vector.
fn changes(function: &Function, found: &Loop) -> Option<FxHashMap<Value, Inst>> {
    let mut changes: FxHashMap<Value, Inst> = FxHashMap::default();
    for (param, next) in found.params.iter().zip(&found.next) {
        if function.values[*param] == Type::Ptr && param != next {
            let change = found.inst(*next).filter(|inst| matches!(inst.op, Op::WithElement(_)))?;
            if change.args[0] != *param || found.stride(change.args[1]) != Some(0) {
                return None;
            }
            changes.insert(*param, change.clone());
        }
    }
    let results: FxHashSet<Value> = changes.values().map(|change| change.results[0]).collect();
    for inst in &found.insts {
        if matches!(inst.op, Op::WithElement(_)) && !results.contains(&inst.results[0]) {
            return None;
        }
        for (position, arg) in inst.args.iter().enumerate() {
            if results.contains(arg) {
                return None;
            }
            if let Some(change) = changes.get(arg) {
                // The place that is read is changed afterwards, or by this.
                let is_read = matches!(inst.op, Op::Element(..)) && inst.args[..3] == change.args[..3];
                if position != 0 || inst != change && !is_read {
                    return None;
                }
            }
        }
    }
    // Each is handed on once, in its own place.
    let handed = |value: &Value| found.next.iter().filter(|next| *next == value).count();
    let is_alone = |(param, change): (&Value, &Inst)| handed(param) == 0 && handed(&change.results[0]) == 1;
    changes.iter().all(is_alone).then_some(changes)
}

struct Search<'f> {
    function: &'f Function,
    vectors: &'f EntityVec<VectorId, VectorLayout>,
    found: &'f Loop,
    changes: FxHashMap<Value, Inst>,
    failed: Vec<Value>,
    sums: FxHashMap<Value, Gathering>,
    /// Whether the places of elements in lanes go up, once there are some.
    up: Option<bool>,
}

impl Search<'_> {
    fn ty(&self, value: Value) -> Type {
        self.function.values[value]
    }

    fn uses(&self, value: Value) -> usize {
        let args = self.found.insts.iter().flat_map(|inst| &inst.args);
        args.chain(&self.found.next).filter(|arg| **arg == value).count()
    }

    /// Finds the parameters that operations of one kind are applied to, and nothing else.
    fn find_sums(&mut self, sums: Sums) {
        for (param, next) in self.found.params.iter().zip(&self.found.next) {
            let (mut value, mut kind) = (*next, None);
            let is_sum = loop {
                if self.uses(value) != 1 {
                    break false;
                }
                if value == *param {
                    break true;
                }
                let Some(inst) = self.found.inst(value) else { break false };
                let Some(of_kind) = Gathering::of(inst.op) else { break false };
                if *kind.get_or_insert(of_kind) != of_kind {
                    break false;
                }
                let goes_on = |arg: &Value| self.depends_on(*arg, *param);
                value = match (goes_on(&inst.args[0]), goes_on(&inst.args[1])) {
                    (true, false) => inst.args[0],
                    (false, true) if inst.op != Op::Real2(Real2::Sub) => inst.args[1],
                    _ => break false,
                };
            };
            if let (true, Some(kind)) = (is_sum, kind)
                && (sums == Sums::Apart || !kind.is_apart())
            {
                self.sums.insert(*param, kind);
            }
        }
    }

    /// Finds sums in interleaved parts, by the parameter that a round adds to.
    fn find_parts(&mut self) {
        let found = self.found;
        for (first, param) in found.params.iter().enumerate() {
            let mut positions = [first; PARTS];
            let mut at = Some(first);
            for position in &mut positions {
                let Some(here) = at.filter(|here| self.uses(found.params[*here]) == 1) else { break };
                *position = here;
                at = found.param(found.next[here]);
            }
            let [.., last] = positions;
            let sum = found.next[last];
            let is_sum =
                found.inst(sum).is_some_and(|inst| inst.op == Op::Real2(Real2::Add) && inst.args.contains(param));
            let are_others = (1..PARTS).all(|at| !positions[..at].contains(&positions[at]));
            if is_sum && are_others && self.uses(sum) == 1 {
                self.sums.insert(*param, Gathering::Parts(positions));
            }
        }
    }

    fn depends_on(&self, value: Value, param: Value) -> bool {
        let mut waiting = vec![value];
        let mut seen = FxHashSet::default();
        while let Some(value) = waiting.pop() {
            if value == param {
                return true;
            }
            if seen.insert(value) {
                waiting.extend(self.found.inst(value).into_iter().flat_map(|inst| &inst.args));
            }
        }
        false
    }

    /// The values that are made in lanes.
    fn laned(&mut self) -> FxHashSet<Value> {
        let found = self.found;
        let mut laned: FxHashSet<Value> = self.sums.keys().copied().collect();
        // What depends on the round before is made round by round.
        let counts = |param: &Value| found.stride(*param).is_some();
        let in_order = found.params.iter().filter(|param| !counts(param) && !self.sums.contains_key(param));
        let mut in_order: FxHashSet<Value> = in_order.filter(|param| self.ty(**param) != Type::Ptr).copied().collect();
        for inst in &found.insts {
            let [result] = inst.results[..] else { continue };
            if inst.args.iter().any(|arg| in_order.contains(arg)) {
                in_order.insert(result);
            } else if found.stride(result) != Some(0) && self.fits(inst, &laned) {
                laned.insert(result);
            }
        }
        // Truth values are made in lanes for operations there; what else needs them makes them again.
        loop {
            let is_lost = |value: &Value| {
                self.ty(*value) == Type::Bool && !self.is_needed_in_lanes(*value, &laned)
                    || found.inst(*value).is_some_and(|inst| !self.has_operands(inst, &laned))
            };
            let lost: Vec<Value> = laned.iter().copied().filter(|value| is_lost(value)).collect();
            if lost.is_empty() {
                break;
            }
            laned.retain(|value| !lost.contains(value));
        }
        // A sum of what is made round by round is made so, too.
        let before = self.sums.len();
        let end = |param: &Value, kind: &Gathering| found.param(*param).map(|own| found.next[kind.end(own)]);
        self.sums.retain(|param, kind| end(param, kind).is_some_and(|end| laned.contains(&end)));
        if self.sums.len() < before { self.laned() } else { laned }
    }

    /// Whether an operation can be done in lanes, given what is.
    fn fits(&mut self, inst: &Inst, laned: &FxHashSet<Value>) -> bool {
        match inst.op {
            Op::Element(..) if self.ty(inst.results[0]) == Type::F64 => {
                let vector = inst.args[0];
                let stays = self.found.stride(vector) == Some(0) || self.changes.contains_key(&vector);
                stays && self.found.stride(inst.args[1]) == Some(0) && self.goes_along(inst.args[2])
            }
            Op::RealOf => self.goes_along(inst.args[0]),
            Op::Select if self.ty(inst.results[0]) != Type::F64 => false,
            op => lanewise(op).is_some() && self.has_operands(inst, laned),
        }
    }

    /// Whether a place goes from each element to the next, in the direction of all others.
    fn goes_along(&mut self, place: Value) -> bool {
        match self.found.stride(place) {
            Some(stride @ (1 | -1)) => *self.up.get_or_insert(stride > 0) == (stride > 0),
            _ => false,
        }
    }

    /// Whether operands can be brought into lanes: truth values have to be there.
    fn has_operands(&self, inst: &Inst, laned: &FxHashSet<Value>) -> bool {
        let is_decided = inst.op == Op::Select && self.failed.contains(&inst.args[0]);
        let is_there = |arg: &Value| self.ty(*arg) != Type::Bool || laned.contains(arg);
        lanewise(inst.op).is_none() || inst.args[usize::from(is_decided)..].iter().all(is_there)
    }

    fn is_needed_in_lanes(&self, value: Value, laned: &FxHashSet<Value>) -> bool {
        let is_gathered = |(param, next): (&Value, &Value)| *next == value && self.sums.contains_key(param);
        self.found.insts.iter().any(|inst| inst.args.contains(&value) && laned.contains(&inst.results[0]))
            || self.found.params.iter().zip(&self.found.next).any(is_gathered)
    }

    /// What is taken out of lanes when a value in lanes is needed for one round: of truth values, what they are made
    /// of.
    fn taken_out(&self, value: Value, laned: &FxHashSet<Value>, out_of_lanes: &mut FxHashSet<Value>) {
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            match self.found.inst(value) {
                Some(inst) if laned.contains(&value) && self.ty(value) == Type::Bool => waiting.extend(&inst.args),
                _ if laned.contains(&value) => _ = out_of_lanes.insert(value),
                _ => {}
            }
        }
    }

    /// Whether operations that are saved are more than what moves between lanes and single values.
    fn pays(&self, laned: &FxHashSet<Value>) -> bool {
        let found = self.found;
        let mut needed: FxHashSet<Value> = FxHashSet::default();
        let carried = found.params.iter().zip(&found.next).filter(|(param, next)| {
            found.stride(**param).is_none() && !self.changes.contains_key(param) && param != next
        });
        let mut waiting: Vec<Value> = carried.map(|(_, next)| *next).collect();
        let (mut saved, mut moved) = (0, 0);
        let mut into_lanes: FxHashSet<Value> = FxHashSet::default();
        let mut out_of_lanes: FxHashSet<Value> = FxHashSet::default();
        for (position, next) in found.next.iter().enumerate() {
            if !is_summed(&self.sums, found, position) {
                self.taken_out(*next, laned, &mut out_of_lanes);
            }
        }
        for change in self.changes.values() {
            let fields = &change.args[3..];
            // Who owns what is not decided in lanes.
            if fields.iter().any(|field| self.ty(*field) == Type::Ptr) {
                return false;
            }
            let alone = fields.len() == 1 && self.ty(fields[0]) == Type::F64;
            saved += usize::from(alone);
            moved += if alone { 0 } else { fields.iter().filter(|field| laned.contains(field)).count() };
            into_lanes.extend(fields.iter().filter(|field| alone && !laned.contains(field)));
            waiting.extend(fields);
        }
        while let Some(value) = waiting.pop() {
            if !needed.insert(value) {
                continue;
            }
            let Some(inst) = found.inst(value) else { continue };
            let in_lanes = laned.contains(&value);
            match inst.op {
                Op::Element(vector, _) if in_lanes => saved += usize::from(self.vectors[vector].fields.len() == 1),
                Op::Real1(op) if op.has_lanes() && in_lanes => saved += CALL,
                // Truth values need no instructions of their own.
                Op::Real1(_) | Op::Real2(_) | Op::Compare(_) | Op::RealIs(_) | Op::Select if in_lanes => saved += 1,
                op if is_call(op) => moved += CALL,
                _ => {}
            }
            if !matches!(inst.op, Op::Element(..) | Op::RealOf) {
                for arg in inst.args.iter().filter(|arg| laned.contains(arg) != in_lanes) {
                    if in_lanes {
                        into_lanes.insert(*arg);
                    } else {
                        self.taken_out(*arg, laned, &mut out_of_lanes);
                    }
                }
            }
            waiting.extend(&inst.args);
        }
        let changes_in_loop = |value: &&Value| found.stride(**value) != Some(0) && !self.is_constant(**value);
        moved += into_lanes.iter().filter(changes_in_loop).count() + out_of_lanes.len();
        saved > moved
    }

    fn is_constant(&self, value: Value) -> bool {
        self.found.inst(value).is_some_and(|inst| is_constant(inst.op))
    }
}
