//! Global value numbering with known conditions: SSA → SSA.
//!
//! ```text
//! b0:                               b0:
//!     v2 = mul v0, v1                   v2 = mul v0, v1
//!     v3 = mul v1, v0                   v4 = add v2, v2
//!     v4 = add v2, v3                   v5 = lt v0, v1
//!     v5 = lt v0, v1           →        branch v5, b1, b2
//!     branch v5, b1, b2             b1:
//! b1:                                   branch true, b3, b4
//!     v6 = lt v0, v1
//!     branch v6, b3, b4
//! ```
//!
//! Walks the dominator tree with a table of the operations on the way from the entry; an operation that stands in the
//! table has its result already. Operations are simplified by [`crate::opt::scalar::fold`] first. All operations
//! without effect count, calls of functions without effect among them, and so do boxes, since data are immutable.
//!
//! Where a block has one predecessor, and that one ends in a choice, the block knows the outcome: the condition is a
//! constant there, and so is everything that follows from it (parts of conjunctions, tags of boxed sums, alternatives
//! without fields, equal numbers, the opposite comparison, how small an integer is not). Comparisons of counters with
//! what they never fall below are decided ([`crate::opt::analysis::least`]).
//!
//! Invariant: every entry of the table is defined by, or holds in, a block that dominates the block being visited.
//!
//! Not done: no reassociation, which would change results. Parameters of loop headers that are equal because they are
//! (see [`crate::opt::scalar::block_params`]).
//!
//! Tests: `tests/opt/gvn/`.

use crate::base::EntityVec;
use crate::opt::Context;
use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::least::Least;
use crate::opt::edit::rewrite::{Constants, Definitions, Replacements, is_constant};
use crate::opt::scalar::fold::{Folded, fold};
use crate::ssa::graph::{Blocks, Graph};
use crate::ssa::ir::{
    BlockId, Compare, Function, Inst, Op, Real1, Source, Sum, SumId, Target, Terminator, Type, Value, Values,
};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// So many operations are looked back at for changes of a vector that is read.
const FAR: usize = 48;

/// Numbers the values of a function.
pub fn run(function: &mut Function, context: &Context) -> bool {
    number(function, context.effects, context.sums)
}

fn number(function: &mut Function, effects: &Effects, sums: &EntityVec<SumId, Sum>) -> bool {
    let graph = Graph::new(function);
    let definitions = Definitions::new(function);
    let mut numbering = Numbering {
        least: Least::new(function, &graph, &definitions),
        definitions,
        replacements: Replacements::new(function),
        children: graph.dominator_children(),
        function,
        graph,
        effects,
        sums,
        table: FxHashMap::default(),
        facts: FxHashMap::default(),
        undo: Vec::new(),
        constants: Constants::default(),
        added: Vec::new(),
        changed: false,
    };
    numbering.walk();
    let Numbering { replacements, constants, added, changed, function, .. } = numbering;
    for (block, index, inst) in added.into_iter().rev() {
        function.blocks[block].insts.insert(index, inst);
    }
    let replaced = replacements.apply(function);
    constants.insert(function);
    changed || replaced
}

/// An operation on known values.
type Key = (Op, Values);

/// What an operation is known to give.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    Value(Value),
    /// A constant.
    Constant(Op),
}

/// An entry to be restored when the walk leaves a block.
enum Undo {
    Table(Key, Option<Known>),
    Fact(Value, Option<Op>),
    Least(Value, Option<f64>),
}

struct Numbering<'f> {
    function: &'f mut Function,
    graph: Graph,
    children: EntityVec<BlockId, Blocks>,
    definitions: Definitions,
    least: Least,
    replacements: Replacements,
    effects: &'f Effects,
    sums: &'f EntityVec<SumId, Sum>,
    table: FxHashMap<Key, Known>,
    /// Values that are constants in the block being visited.
    facts: FxHashMap<Value, Op>,
    undo: Vec<Undo>,
    constants: Constants,
    /// Operations to be inserted, in the order of their places within a block.
    added: Vec<(BlockId, usize, Inst)>,
    changed: bool,
}

impl Numbering<'_> {
    fn walk(&mut self) {
        let mut stack = vec![(Function::ENTRY, None)];
        while let Some((block, entered)) = stack.pop() {
            if let Some(mark) = entered {
                self.leave(mark);
                continue;
            }
            stack.push((block, Some(self.undo.len())));
            self.visit(block);
            stack.extend(self.children[block].iter().rev().map(|child| (*child, None)));
        }
    }

    fn leave(&mut self, mark: usize) {
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Table(key, Some(known)) => drop(self.table.insert(key, known)),
                Undo::Table(key, None) => drop(self.table.remove(&key)),
                Undo::Fact(value, Some(op)) => drop(self.facts.insert(value, op)),
                Undo::Fact(value, None) => drop(self.facts.remove(&value)),
                Undo::Least(value, before) => self.least.forget(value, before),
            }
        }
    }

    fn remember(&mut self, key: Key, known: Known) {
        let before = self.table.insert(key.clone(), known);
        self.undo.push(Undo::Table(key, before));
    }

    fn visit(&mut self, block: BlockId) {
        self.learn_from_edge(block);
        self.merge_params(block);
        for index in 0..self.function.blocks[block].insts.len() {
            self.visit_inst(block, index);
        }
        let mut terminator = self.function.blocks[block].terminator.clone();
        terminator.for_each_use(|value| self.rewrite(value));
        self.function.blocks[block].terminator = terminator;
    }

    /// What stands for a value here: another value, or a constant when that is known in this block.
    fn rewrite(&mut self, value: &mut Value) {
        let mut found = self.replacements.resolve(*value);
        if let Some(op) = self.facts.get(&found).copied() {
            found = self.constant(op);
            self.changed = true;
        }
        *value = found;
    }

    fn constant(&mut self, op: Op) -> Value {
        self.constants.value(self.function, &mut self.definitions, op)
    }

    /// Parameters that have one value, or the same values as another parameter.
    fn merge_params(&mut self, block: BlockId) {
        if block == Function::ENTRY || self.graph.is_loop_header(block) {
            return;
        }
        let params = self.function.blocks[block].params.clone();
        if params.is_empty() {
            return;
        }
        let mut columns: Vec<Vec<Value>> = vec![Vec::new(); params.len()];
        let mut note = |target: &Target| {
            target.args.iter().zip(&mut columns).for_each(|(arg, column)| column.push(*arg));
        };
        match self.graph.only_edge(block) {
            Some((from, position)) => note(self.function.blocks[from].terminator.target(position)),
            None => {
                let mut predecessors = self.graph.predecessors[block].clone();
                predecessors.dedup();
                let targets = predecessors.iter().flat_map(|from| self.function.blocks[*from].terminator.targets());
                targets.filter(|target| target.block == block).for_each(&mut note);
            }
        }
        let mut seen: FxHashMap<Vec<Value>, Value> = FxHashMap::default();
        for (param, column) in params.into_iter().zip(columns) {
            let same = column.first().copied().filter(|first| column.iter().all(|arg| arg == first));
            match same.or_else(|| seen.get(&column).copied()) {
                Some(value) => self.replacements.replace(param, value),
                None => drop(seen.insert(column, param)),
            }
        }
    }

    fn visit_inst(&mut self, block: BlockId, index: usize) {
        let mut inst = self.function.blocks[block].insts[index].clone();
        inst.args.iter_mut().for_each(|arg| self.rewrite(arg));
        if let Some(holds) = self.least.decide(self.function, &self.definitions, inst.op, &inst.args) {
            (inst.op, inst.args) = (Op::ConstBool(holds), Values::new());
            self.changed = true;
        }
        if let [_] = inst.results[..] {
            match fold(self.function, &self.definitions, &self.least, inst.op, &inst.args) {
                Folded::Unchanged => {}
                Folded::Value(value) => {
                    self.function.blocks[block].insts[index] = inst.clone();
                    return self.replace(inst.results[0], Known::Value(value));
                }
                Folded::Op(op, args) => {
                    (inst.op, inst.args) = (op, args);
                    self.changed = true;
                }
                Folded::Negated(op, args) => {
                    let operand = self.computed(block, index, op, args, inst.span);
                    (inst.op, inst.args) = (Op::Real1(Real1::Neg), smallvec![operand]);
                    self.changed = true;
                }
            }
        }
        if let Op::Element(..) = inst.op {
            self.read_before_changes(block, index, &mut inst);
        }
        self.function.blocks[block].insts[index] = inst.clone();
        match inst.op {
            Op::Call(callee) if self.effects.is_repeatable(callee) => {
                self.number_call(&inst.args, inst.op, &inst.results)
            }
            Op::GlobalSet(slot) => self.remember((Op::GlobalGet(slot), Values::new()), Known::Value(inst.args[0])),
            // Two vectors that are one would be copied when they are changed.
            op if op.has_effect() || matches!(op, Op::Call(_) | Op::NewVector(_)) => {}
            op => {
                let key = (op, inst.args);
                match self.table.get(&key).copied() {
                    Some(known) => self.replace(inst.results[0], known),
                    None => self.remember(key, Known::Value(inst.results[0])),
                }
            }
        }
    }

    /// Lets an element be read before changes of others, as far as these can move behind the read: they are in the same
    /// block, and nothing between them needs what they make. A change that is replaced later may be one for nobody
    /// then.
    fn read_before_changes(&mut self, block: BlockId, index: usize, read: &mut Inst) {
        for inst in self.function.blocks[block].insts[..index].iter().rev().take(FAR) {
            if !inst.results.contains(&read.args[0]) {
                if inst.args.contains(&read.args[0]) {
                    return;
                }
                continue;
            }
            let Op::WithElement(_) = inst.op else { return };
            if !self.least.are_apart(self.function, &self.definitions, [inst.args[2], read.args[2]]) {
                return;
            }
            read.args[0] = self.replacements.resolve(inst.args[0]);
            self.changed = true;
        }
    }

    /// The result of an operation on reals, which is inserted at a place of the block unless it is known.
    fn computed(&mut self, block: BlockId, index: usize, op: Op, args: Values, span: Option<Source>) -> Value {
        let (op, args) = match fold(self.function, &self.definitions, &self.least, op, &args) {
            Folded::Value(value) => return value,
            Folded::Op(op, args) => (op, args),
            Folded::Unchanged | Folded::Negated(..) => (op, args),
        };
        if let Some(Known::Value(value)) = self.table.get(&(op, args.clone())) {
            return self.replacements.resolve(*value);
        }
        let value = self.function.values.push(Type::F64);
        let inst = Inst { op, args: args.clone(), results: smallvec![value], span };
        self.definitions.add(inst.clone());
        self.added.push((block, index, inst));
        self.remember((op, args), Known::Value(value));
        value
    }

    fn replace(&mut self, value: Value, known: Known) {
        let by = match known {
            Known::Value(by) => self.replacements.resolve(by),
            Known::Constant(op) => self.constant(op),
        };
        if by != value {
            self.replacements.replace(value, by);
        }
    }

    /// The table knows a call by its first result; the others follow it.
    fn number_call(&mut self, args: &[Value], op: Op, results: &[Value]) {
        let Some(first) = results.first() else { return };
        let key = (op, Values::from(args));
        let earlier = match self.table.get(&key) {
            Some(Known::Value(earlier)) => *earlier,
            _ => return self.remember(key, Known::Value(*first)),
        };
        let Some(call) = self.definitions.inst(self.function, earlier) else { return };
        for (value, by) in results.iter().zip(call.results.clone()) {
            self.replacements.replace(*value, by);
        }
    }

    /// When control comes from one choice only, its outcome is known, in all rounds if it is that of a loop.
    fn learn_from_edge(&mut self, block: BlockId) {
        let Some((from, position)) = self.graph.way_in(self.function, block) else { return };
        let (value, outcome) = match &self.function.blocks[from].terminator {
            Terminator::Branch(condition, ..) => (*condition, Op::ConstBool(position == 0)),
            Terminator::Switch(value, _) => (*value, Op::ConstInt(position as i64)),
            _ => return,
        };
        self.assume(value, outcome);
    }

    /// Notes that `value` is a constant from here on, and what follows from that.
    fn assume(&mut self, value: Value, constant: Op) {
        let mut waiting = vec![(self.replacements.resolve(value), constant)];
        while let Some((value, constant)) = waiting.pop() {
            let inst = self.definitions.inst(self.function, value);
            let inst = inst.map(|inst| (inst.op, inst.args.clone()));
            if inst.as_ref().is_some_and(|inst| is_constant(inst.0)) || self.facts.get(&value) == Some(&constant) {
                continue;
            }
            let before = self.facts.insert(value, constant);
            self.undo.push(Undo::Fact(value, before));
            if let Some((op, args)) = inst {
                self.consequences(op, &args, constant, &mut waiting);
                if let Op::ConstBool(holds) = constant {
                    self.learn_least((op, &args), holds);
                }
            }
        }
    }

    fn consequences(&mut self, op: Op, args: &[Value], constant: Op, waiting: &mut Vec<(Value, Op)>) {
        match (op, constant) {
            (Op::Not, Op::ConstBool(x)) => waiting.push((args[0], Op::ConstBool(!x))),
            (Op::And, Op::ConstBool(true)) | (Op::Or, Op::ConstBool(false)) => {
                waiting.extend(args.iter().map(|arg| (*arg, constant)));
            }
            (Op::IntIs(x), Op::ConstBool(true)) => waiting.push((args[0], Op::ConstInt(x))),
            (Op::HasTag(sum, tag), Op::ConstBool(has)) => {
                let other = tag ^ 1;
                if has {
                    self.learn_tag(sum, tag, args[0], waiting);
                } else if self.sums[sum].alternatives.len() == 2 {
                    self.learn_tag(sum, other, args[0], waiting);
                }
            }
            (Op::Tag(sum), Op::ConstInt(tag)) => {
                if let Ok(tag) = u32::try_from(tag) {
                    self.learn_tag(sum, tag, args[0], waiting);
                }
            }
            (Op::Compare(op), Op::ConstBool(x)) => self.learn_comparison(op, args, x, waiting),
            _ => {}
        }
    }

    /// Notes how small values cannot be after a test.
    fn learn_least(&mut self, test: (Op, &[Value]), holds: bool) {
        for (value, least) in self.least.consequences(self.function, &self.definitions, test, holds) {
            let value = self.replacements.resolve(value);
            let before = self.least.learn(value, least);
            self.undo.push(Undo::Least(value, before));
        }
    }

    fn learn_tag(&mut self, sum: SumId, tag: u32, value: Value, waiting: &mut Vec<(Value, Op)>) {
        let alternatives = &self.sums[sum].alternatives;
        if alternatives.get(tag as usize).is_some_and(|alternative| alternative.fields.is_empty()) {
            waiting.push((value, Op::Immediate(sum, tag)));
        }
        self.remember((Op::Tag(sum), smallvec![value]), Known::Constant(Op::ConstInt(i64::from(tag))));
        self.remember((Op::HasTag(sum, tag), smallvec![value]), Known::Constant(Op::ConstBool(true)));
        if alternatives.len() == 2 {
            self.remember((Op::HasTag(sum, tag ^ 1), smallvec![value]), Known::Constant(Op::ConstBool(false)));
        }
    }

    fn learn_comparison(&mut self, op: Compare, args: &[Value], holds: bool, waiting: &mut Vec<(Value, Op)>) {
        let [x, y] = args[..] else { return };
        let sorted = if x < y { smallvec![x, y] } else { smallvec![y, x] };
        let mut learn = |op: Compare, args: Values, holds: bool| {
            self.remember((Op::Compare(op), args), Known::Constant(Op::ConstBool(holds)));
        };
        match (op, holds) {
            (Compare::Lt, true) => {
                learn(Compare::Le, smallvec![x, y], true);
                learn(Compare::Le, smallvec![y, x], false);
                learn(Compare::Lt, smallvec![y, x], false);
                learn(Compare::Eq, sorted.clone(), false);
                learn(Compare::Ne, sorted, true);
            }
            (Compare::Le, true) => learn(Compare::Lt, smallvec![y, x], false),
            (Compare::Le, false) => {
                learn(Compare::Lt, smallvec![x, y], false);
                learn(Compare::Eq, sorted.clone(), false);
                learn(Compare::Ne, sorted, true);
            }
            (Compare::Eq, true) | (Compare::Ne, false) => {
                learn(Compare::Le, smallvec![x, y], true);
                learn(Compare::Le, smallvec![y, x], true);
                learn(Compare::Lt, smallvec![x, y], false);
                learn(Compare::Lt, smallvec![y, x], false);
                self.learn_equality(x, y, waiting);
            }
            (Compare::Eq, false) | (Compare::Ne, true) | (Compare::Lt, false) => {}
            (Compare::Gt | Compare::Ge, _) => {}
        }
    }

    /// Equal numbers have the same bits, except for the two zeros.
    fn learn_equality(&mut self, x: Value, y: Value, waiting: &mut Vec<(Value, Op)>) {
        for (known, other) in [(x, y), (y, x)] {
            if let Some(Op::ConstReal(bits)) = self.definitions.op(self.function, known)
                && f64::from_bits(bits) != 0.0
            {
                waiting.push((other, Op::ConstReal(bits)));
            }
        }
    }
}
