//! The alternatives that a pointer can be, across calls and boxes: SSA → SSA.
//!
//! ```text
//! fn fn1 "build"(v0: ptr) -> ptr {                 fn fn1 "build"(v0: ptr) -> ptr {
//!     branch (has_tag.sum0.0 v0), b1, b2               branch (has_tag.sum0.0 v0), b1, b2
//! b2: v2 = field.sum0.1.1 v0                       b2: v2 = field.sum0.1.1 v0
//!     v3 = call fn1(v2)                                v3 = call fn1(v2)
//!     v4 = box.sum1.1 v0, v3                           v4 = box.sum1.1 v0, v3
//! ...                                          →   ...
//! fn fn2 "read"(v0: ptr) -> f64 {                  fn fn2 "read"(v0: ptr) -> f64 {
//! b2: v1 = field.sum1.1.0 v0                       b2: v1 = field.sum1.1.0 v0
//!     branch (has_tag.sum0.0 v1), b3, b4               branch false, b3, b4
//! ```
//!
//! A tape holds the data that its forward phase has looked at, and the reverse phase looks again: what the forward
//! phase has found out by then is known here. For every pointer, result, field and global the tags that it can have are
//! collected: those of the boxes and alternatives without fields that flow there, less those that the tests on the way
//! exclude. The join is a union and starts from nothing, so that what a recursion hands on stays what it was. Each set
//! grows at most as often as there are tags.
//!
//! Not done: paths that the result itself excludes still count.
//!
//! Tests: `tests/opt/tags-across-calls/`.

use crate::base::EntityVec;
use crate::opt::edit::rewrite::Definitions;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{
    Block, BlockId, FuncId, Function, Inst, Op, Program, SlotId, SumId, Target, Terminator, Type, Value, Values,
    VectorId,
};
use rustc_hash::FxHashMap;

/// A set of tags; the last bit stands for that tag and all higher ones.
type Tags = u64;

/// All tags.
const ALL: Tags = !0;

fn bit(tag: u32) -> Tags {
    1 << tag.min(63)
}

/// The tags of the set, when it holds one only.
fn only(tags: Tags) -> Option<u32> {
    (tags.is_power_of_two() && tags != bit(63)).then(|| tags.trailing_zeros())
}

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let tests: EntityVec<FuncId, Tests> = program.functions.values().map(Tests::new).collect();
    let found = Analysis::run(program, &tests);
    let mut changed = false;
    for id in program.functions.ids() {
        changed |= rewrite(&mut program.functions[id], &tests[id], &found[id]);
    }
    changed
}

/// What tests exclude in one function.
struct Tests {
    graph: Graph,
    /// For each block and each value that it uses or is passed and that was tested on every way there, the tags that
    /// are left.
    left: EntityVec<BlockId, FxHashMap<Value, Tags>>,
}

impl Tests {
    fn new(function: &Function) -> Tests {
        let graph = Graph::new(function);
        let definitions = Definitions::new(function);
        let children = graph.dominator_children();
        let mut left = function.blocks.same_ids(FxHashMap::default());
        // What is known on the way from the entry to the block at hand, and what was known before.
        let mut known: FxHashMap<Value, Tags> = FxHashMap::default();
        let mut undo: Vec<(Value, Tags)> = Vec::new();
        let mut stack = vec![(Function::ENTRY, None)];
        while let Some((block, entered)) = stack.pop() {
            if let Some(mark) = entered {
                known.extend(undo.drain(mark..).rev());
                continue;
            }
            stack.push((block, Some(undo.len())));
            let entry =
                graph.way_in(function, block).map(|(from, position)| (&function.blocks[from].terminator, position));
            if let Some((value, tags)) = entry.and_then(|entry| learn(function, &definitions, entry)) {
                let before = known.get(&value).copied().unwrap_or(ALL);
                undo.push((value, before));
                known.insert(value, before & tags);
            }
            let mut note = |value: Value| {
                if let Some(tags) = known.get(&value).filter(|tags| **tags != ALL) {
                    left[block].insert(value, *tags);
                }
            };
            function.blocks[block].for_each_value(&mut note);
            let passed = entry.map(|(terminator, position)| terminator.target(position));
            passed.into_iter().flat_map(|target| &target.args).copied().for_each(note);
            stack.extend(children[block].iter().rev().map(|child| (*child, None)));
        }
        Tests { graph, left }
    }

    fn left(&self, block: BlockId, value: Value) -> Tags {
        self.left[block].get(&value).copied().unwrap_or(ALL)
    }
}

/// What the only way into a block, by this target of a terminator, says about the tags of a value.
fn learn(
    function: &Function,
    definitions: &Definitions,
    (terminator, position): (&Terminator, usize),
) -> Option<(Value, Tags)> {
    let defined = |value: Value| definitions.inst(function, value);
    match terminator {
        Terminator::Branch(condition, ..) => {
            let mut outcome = position == 0;
            let mut test = defined(*condition)?;
            while test.op == Op::Not {
                outcome = !outcome;
                test = defined(test.args[0])?;
            }
            let Op::HasTag(_, tag) = test.op else { return None };
            Some((test.args[0], if outcome { bit(tag) } else { without(tag) }))
        }
        Terminator::Switch(value, _) => {
            let test = defined(*value).filter(|inst| matches!(inst.op, Op::Tag(_)))?;
            Some((test.args[0], bit(u32::try_from(position).ok()?)))
        }
        _ => None,
    }
}

/// All tags but one; the last bit stands for several.
fn without(tag: u32) -> Tags {
    if tag < 63 { !bit(tag) } else { ALL }
}

/// Something that has a set of tags, by number.
type Node = usize;

/// A field of an alternative of a sum, or of all elements of a kind of vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Field(SumId, u32, u32),
    Element(VectorId, u32),
}

/// A graph along which tags flow.
struct Analysis<'p> {
    program: &'p Program,
    tests: &'p EntityVec<FuncId, Tests>,
    tags: Vec<Tags>,
    /// Where the tags of each node flow, less those that are excluded there.
    edges: Vec<Vec<(Node, Tags)>>,
    values: EntityVec<FuncId, Node>,
    results: EntityVec<FuncId, Node>,
    slots: EntityVec<SlotId, Node>,
    parts: FxHashMap<Part, Node>,
    waiting: Vec<Node>,
}

impl<'p> Analysis<'p> {
    /// The tags of all values of all functions.
    fn run(program: &'p Program, tests: &'p EntityVec<FuncId, Tests>) -> EntityVec<FuncId, Vec<Tags>> {
        let mut analysis = Analysis {
            program,
            tests,
            tags: Vec::new(),
            edges: Vec::new(),
            values: EntityVec::new(),
            results: EntityVec::new(),
            slots: EntityVec::new(),
            parts: FxHashMap::default(),
            waiting: Vec::new(),
        };
        for function in program.functions.values() {
            let (values, results) = (analysis.nodes(function.values.len()), analysis.nodes(function.results.len()));
            analysis.values.push(values);
            analysis.results.push(results);
        }
        for _ in program.slots.ids() {
            let slot = analysis.nodes(1);
            analysis.slots.push(slot);
        }
        for (id, function) in program.functions.iter() {
            for block in &tests[id].graph.order {
                analysis.block(id, function, *block);
            }
        }
        analysis.finish();
        let of = |(id, function): (FuncId, &Function)| {
            let first = analysis.values[id];
            analysis.tags[first..first + function.values.len()].to_vec()
        };
        program.functions.iter().map(of).collect()
    }

    fn nodes(&mut self, count: usize) -> Node {
        let first = self.tags.len();
        self.tags.resize(first + count, 0);
        self.edges.resize(first + count, Vec::new());
        first
    }

    fn part(&mut self, part: Part) -> Node {
        if let Some(node) = self.parts.get(&part) {
            return *node;
        }
        let node = self.nodes(1);
        self.parts.insert(part, node);
        node
    }

    fn value(&self, id: FuncId, value: Value) -> Node {
        self.values[id] + value.0 as usize
    }

    fn add(&mut self, node: Node, tags: Tags) {
        if tags & !self.tags[node] != 0 {
            self.tags[node] |= tags;
            self.waiting.push(node);
        }
    }

    /// Lets the tags of one node be tags of another.
    fn flow(&mut self, from: Node, to: Node, left: Tags) {
        self.edges[from].push((to, left));
    }

    /// Lets a value that is used in a block flow to a node, if it is a pointer.
    fn flow_used(&mut self, id: FuncId, block: BlockId, value: Value, to: Node) {
        if self.program.functions[id].values[value] == Type::Ptr {
            self.flow(self.value(id, value), to, self.tests[id].left(block, value));
        }
    }

    fn finish(&mut self) {
        while let Some(node) = self.waiting.pop() {
            let tags = self.tags[node];
            for index in 0..self.edges[node].len() {
                let (to, left) = self.edges[node][index];
                self.add(to, tags & left);
            }
        }
    }

    fn block(&mut self, id: FuncId, function: &Function, block: BlockId) {
        let Block { insts, terminator, .. } = &function.blocks[block];
        for inst in insts {
            self.inst(id, block, inst);
        }
        for target in terminator.targets() {
            self.jump(id, function, block, target);
        }
        match terminator {
            Terminator::Return(values) => {
                for (position, value) in values.iter().enumerate() {
                    self.flow_used(id, block, *value, self.results[id] + position);
                }
            }
            Terminator::TailCall(callee, args) => {
                self.arguments(id, block, *callee, args);
                for position in 0..function.results.len() {
                    self.flow(self.results[*callee] + position, self.results[id] + position, ALL);
                }
            }
            _ => {}
        }
    }

    /// Passes arguments; where the jump is one side of a choice, its target may know more than this block.
    fn jump(&mut self, id: FuncId, function: &Function, block: BlockId, target: &Target) {
        let alone = self.tests[id].graph.predecessors[target.block].len() == 1;
        let place = if alone { target.block } else { block };
        for (arg, param) in target.args.iter().zip(&function.blocks[target.block].params) {
            self.flow_used(id, place, *arg, self.value(id, *param));
        }
    }

    fn arguments(&mut self, id: FuncId, block: BlockId, callee: FuncId, args: &[Value]) {
        for (arg, param) in args.iter().zip(self.program.functions[callee].params()) {
            self.flow_used(id, block, *arg, self.value(callee, *param));
        }
    }

    fn inst(&mut self, id: FuncId, block: BlockId, inst: &Inst) {
        let result = |analysis: &Self| analysis.value(id, inst.results[0]);
        match inst.op {
            Op::Immediate(_, tag) => self.add(result(self), bit(tag)),
            Op::Box(sum, tag) => {
                self.add(result(self), bit(tag));
                for (field, arg) in (0..).zip(&inst.args) {
                    let field = self.part(Part::Field(sum, tag, field));
                    self.flow_used(id, block, *arg, field);
                }
            }
            Op::Field(sum, tag, field) => {
                let field = self.part(Part::Field(sum, tag, field));
                self.flow(field, result(self), ALL);
            }
            // Vectors have no tags; what holds one has them all.
            Op::NewVector(_) | Op::Kernel(..) | Op::ArgumentElements(_) | Op::WithElements(_) => {
                self.add(result(self), ALL)
            }
            Op::Element(vector, field) => {
                let field = self.part(Part::Element(vector, field));
                self.flow(field, result(self), ALL);
            }
            Op::WithElement(vector) => {
                self.add(result(self), ALL);
                for (field, arg) in (0..).zip(&inst.args[3..]) {
                    let field = self.part(Part::Element(vector, field));
                    self.flow_used(id, block, *arg, field);
                }
            }
            Op::Select => {
                for arg in &inst.args[1..] {
                    self.flow_used(id, block, *arg, result(self));
                }
            }
            Op::Opaque | Op::Exchange => self.flow_used(id, block, inst.args[0], result(self)),
            Op::GlobalSet(slot) => self.flow_used(id, block, inst.args[0], self.slots[slot]),
            Op::GlobalGet(slot) => self.flow(self.slots[slot], result(self), ALL),
            Op::Call(callee) => {
                self.arguments(id, block, callee, &inst.args);
                for (position, value) in inst.results.iter().enumerate() {
                    self.flow(self.results[callee] + position, self.value(id, *value), ALL);
                }
            }
            _ => {}
        }
    }
}

/// Decides the tests whose outcome is known. What no tag flows to is never computed, and stays.
fn rewrite(function: &mut Function, tests: &Tests, found: &[Tags]) -> bool {
    let mut changed = false;
    for block in &tests.graph.order {
        for inst in &mut function.blocks[*block].insts {
            let Some(value) = inst.args.first() else { continue };
            let tags = found[value.0 as usize] & tests.left(*block, *value);
            let outcome = match inst.op {
                _ if tags == 0 => None,
                Op::HasTag(_, tag) if tags & bit(tag) == 0 => Some(Op::ConstBool(false)),
                Op::HasTag(_, tag) if only(tags) == Some(tag) => Some(Op::ConstBool(true)),
                Op::Tag(_) => only(tags).map(|tag| Op::ConstInt(i64::from(tag))),
                _ => None,
            };
            if let Some(op) = outcome {
                (inst.op, inst.args) = (op, Values::new());
                changed = true;
            }
        }
    }
    changed
}
