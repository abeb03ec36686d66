//! Tapes of loops that count their rounds are vectors: SSA → SSA.
//!
//! ```text
//! b1(v1: int, v2: ptr):                            b1(v1: int, v2: ptr):
//!     branch (int_lt v1, v0), b2, b3                   branch (int_lt v1, v0), b2, b3
//! b2: v3 = box.sum0.0 v4, v2                       b2: v3 = with_element.vec0 v2, v0, v1, v4
//!     jump b1(int_add v1, 1, v3)                       jump b1(int_add v1, 1, v3)
//! b3: jump b4(v2)                          →       b3: jump b4(v2, v0)
//! b4(v5: ptr):                                     b4(v5: ptr, v8: int):
//!     branch (has_tag.sum0.1 v5), b6, b5               branch (int_lt 0, v8), b5, b6
//! b5: v6 = field.sum0.0.0 v5                       b5: v9 = int_add v8, -1
//!     v7 = field.sum0.0.1 v5                           v6 = element.vec0.0 v5, v0, v9
//!     jump b4(v7)                                      jump b4(v5, v9)
//! ```
//!
//! A loop that adds one node to a tape in each round and ends when a counter reaches a bound makes a vector of as many
//! elements before its first round. The loops that read the tape count downwards. So a tape is one piece of memory,
//! without a header and a pointer for each round.
//!
//! What is cheap to make again from the state of a round is not kept ([`again`]); that is done for all tapes, those
//! that stay chains included.
//!
//! Neither is kept what follows from the place of a node: the counter itself, and what few cheap operations compute
//! from it and from what does not change in the loop, elements of vectors among them. If nothing else was on the tape, it is
//! the number of rounds. A box on the tape all of whose fields follow from the place, and whose fields are read here
//! only, is not looked into any more, so that nothing but its tag is left of it.
//!
//! A loop that counts downwards, as those that read tapes do, counts upwards before that.
//!
//! Between the loops a tape is a box with its length and its vector, and with what did not change in the loop and is no
//! longer known where the tape is read. It can be there whatever happens to it between the loops: it may be stored on
//! the tape of an outer loop, or be returned. Required is that one loop makes the nodes of the sum, and that all who
//! look at them are loops that start at any tape and go from each node to the next.
//!
//! A loop that may fail, or that does what can be seen, may end before its counter does. Its tape is a vector only if
//! there is a vector of that length already, or if each round checks the counter against a bound such as the length of
//! a vector, which then bounds the length of the tape: memory for rounds that are never made should not be asked for.
//!
//! Left alone are loops of a great many rounds, each of which depends on numbers that the one before has left:
//! [`checkpointing`](super::checkpointing) makes their tapes again piece by piece.
//!
//! Loops are treated from the inside out: what the tape of an inner loop held on to becomes part of the nodes of the
//! outer one (by [`unbox_fields`](crate::opt::layout::unbox_fields)), where it may be the same in all rounds again.
//!
//! Runs when nothing more is found out about the fields of tapes.
//!
//! Tests: `tests/opt/tape-vectors/`.

mod again;

mod find;

mod study;

use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::Code;
use crate::opt::edit::rewrite::{Replacements, append};
use crate::opt::loops::upwards::count_upwards;
use crate::ssa::ir::{
    BlockId, FuncId, Function, Inst, Int2, IntCompare, Op, Program, SumId, Target, Terminator, Type, Value, VectorId,
    VectorLayout,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// What elements of vectors are called that are tapes.
pub const NAME: &str = "tape";

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let mut is_made_again = false;
    for tape in &find::tapes(program) {
        // What is made again adds functions, and changes no other tape.
        if let Some(again) = again::plan(program, tape) {
            again.apply(program);
            is_made_again = true;
        }
    }
    let tapes = find::tapes(program);
    if tapes.is_empty() {
        return is_made_again;
    }
    for tape in &tapes {
        find::enter_loops_once(&mut program.functions[tape.maker]);
        let chain = find::chain(&Code::new(&program.functions[tape.maker]), tape).map(|(_, header, _)| header);
        if let Some(header) = chain {
            count_upwards(&mut program.functions[tape.maker], header);
        }
    }
    // Plans change neither what functions do nor who calls them.
    let effects = Effects::new(program);
    let plans: Vec<Option<Plan>> = tapes.iter().map(|tape| find::plan(program, &effects, tape)).collect();
    let loops = plans.iter().flatten().map(|plan| (plan.builder.function, plan.builder.header));
    let loops: FxHashSet<(FuncId, BlockId)> = loops.collect();
    // The functions that plans have changed: what was found out about them before is no longer true.
    let mut touched: FxHashSet<FuncId> = FxHashSet::default();
    for (tape, plan) in tapes.iter().zip(plans) {
        let Some(plan) = plan.filter(|plan| !plan.builder.contains_any(&loops)) else { continue };
        let is_touched = tape.functions().any(|function| touched.contains(&function));
        let plan = if is_touched { find::plan(program, &effects, tape) } else { Some(plan) };
        if let Some(plan) = plan {
            plan.apply(program);
            touched.extend(tape.functions());
        }
    }
    is_made_again || !touched.is_empty()
}

/// The loop that makes the nodes of a tape.
#[derive(Debug)]
struct Builder {
    function: FuncId,
    header: BlockId,
    /// The block before the loop.
    before: BlockId,
    /// The blocks of the loop.
    body: FxHashSet<BlockId>,
    /// Which parameter of the loop is the tape.
    position: usize,
    tape: Value,
    counter: Value,
    /// The loop ends when the counter, which starts there, reaches the bound.
    first: Value,
    /// Where it starts, if that is a constant.
    constant: Option<i64>,
    bound: Value,
    /// Whether the bound is known not to be negative: it is the length of a vector that is there before the loop, or a
    /// test before the loop has said so.
    is_count: bool,
    /// What every round checks the counter to be below, where the loop may fail otherwise, too.
    limit: Option<Value>,
    /// The box of the node.
    node: Value,
}

impl Builder {
    /// Whether one of these loops is in this one.
    fn contains_any(&self, loops: &FxHashSet<(FuncId, BlockId)>) -> bool {
        self.body.iter().any(|block| *block != self.header && loops.contains(&(self.function, *block)))
    }
}

/// A loop that reads a tape.
#[derive(Debug)]
struct Reader {
    function: FuncId,
    header: BlockId,
    body: FxHashSet<BlockId>,
    position: usize,
    tape: Value,
    /// Whether it reads fields besides the chain.
    reads: bool,
    /// Where it can make again what it would read, if there is such a place.
    at: Option<BlockId>,
}

/// How a field of a node is read.
#[derive(Clone, Debug)]
enum Read {
    /// From this field of the element.
    Kept(u32),
    Computed(Expression),
}

/// What follows from the place of a node.
#[derive(Clone, Debug, PartialEq)]
enum Expression {
    /// The counter when the node was made.
    Counter,
    /// What the loops know.
    Known(Value),
    /// What the builder knows before its loop, and the box of the tape holds.
    Held(Value),
    Operation(Op, Type, Vec<Expression>),
}

/// A box that nodes hold, all of whose fields follow from the place of the node.
#[derive(Debug)]
struct HeldBox {
    /// The field of the node.
    field: u32,
    sum: SumId,
    tag: u32,
    fields: Vec<Expression>,
}

/// What is done for one sum.
#[derive(Debug)]
struct Plan {
    sum: SumId,
    /// The tags of nodes and of the start, and which of the fields of nodes is the rest of the tape.
    node: u32,
    start: u32,
    chain: u32,
    builder: Builder,
    readers: Vec<Reader>,
    /// For each field of a node but the chain, how it is read.
    reads: Vec<Read>,
    /// The types of the fields that are kept.
    kept: Vec<Type>,
    /// What the box of the tape holds besides, as values of the builder.
    held: Vec<(Value, Type)>,
    /// Boxes that nodes hold and that need not be looked into.
    boxes: Vec<HeldBox>,
}

/// Adds instructions to the end of a list.
struct Maker<'f> {
    function: &'f mut Function,
    insts: &'f mut Vec<Inst>,
}

impl Maker<'_> {
    fn make(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        append(&mut self.function.values, self.insts, op, args.to_vec(), ty, None)
    }

    fn int(&mut self, number: i64) -> Value {
        self.make(Op::ConstInt(number), &[], Type::Int)
    }

    fn below(&mut self, number: Value) -> Value {
        let one = self.int(-1);
        self.make(Op::Int2(Int2::Add), &[number, one], Type::Int)
    }

    /// Computes an expression; `held` has the values of the builder that the reader has under other names.
    fn compute(&mut self, expression: &Expression, counter: Value, held: &FxHashMap<Value, Value>) -> Value {
        match expression {
            Expression::Counter => counter,
            Expression::Known(value) => *value,
            Expression::Held(value) => held[value],
            Expression::Operation(op, ty, operands) => {
                let operands: Vec<Value> =
                    operands.iter().map(|operand| self.compute(operand, counter, held)).collect();
                self.make(*op, &operands, *ty)
            }
        }
    }
}

impl Plan {
    fn apply(&self, program: &mut Program) {
        let vector = (!self.kept.is_empty())
            .then(|| program.vectors.push(VectorLayout { name: NAME.into(), fields: self.kept.clone() }));
        let held = self.held.iter().map(|(_, ty)| *ty);
        let fields = [Type::Int].into_iter().chain(vector.map(|_| Type::Ptr)).chain(held).collect();
        program.sums[self.sum].alternatives[self.node as usize].fields = fields;
        // A loop may read several tapes: parameters that are taken away move those behind them.
        let mut readers: Vec<&Reader> = self.readers.iter().collect();
        readers.sort_by_key(|reader| std::cmp::Reverse(reader.position));
        for reader in readers {
            self.change_reader(&mut program.functions[reader.function], reader, vector);
        }
        self.change_builder(&mut program.functions[self.builder.function], vector);
    }

    fn change_builder(&self, function: &mut Function, vector: Option<VectorId>) {
        let Builder { header, before, position, tape, counter, first, bound, limit, node, is_count, .. } = self.builder;
        let mut nodes = self.builder.body.iter().flat_map(|block| &function.blocks[*block].insts);
        let span = nodes.find(|inst| inst.results.first() == Some(&node)).and_then(|inst| inst.span);
        let mut insts = std::mem::take(&mut function.blocks[before].insts);
        let mut maker = Maker { function, insts: &mut insts };
        // The loop is left when the counter has reached the bound, so that it has made all rounds. A vector for them
        // must be there before it is known that it will: it is no longer than what the rounds check.
        let rounds = if is_count && self.builder.constant == Some(0) {
            bound
        } else {
            let none = maker.int(0);
            let runs = maker.make(Op::IntCompare(IntCompare::Lt), &[first, bound], Type::Bool);
            let rounds = maker.make(Op::Int2(Int2::Sub), &[bound, first], Type::Int);
            maker.make(Op::Select, &[runs, rounds, none], Type::Int)
        };
        let length = match limit.filter(|_| vector.is_some()) {
            None => rounds,
            Some(limit) => {
                let below = Op::IntCompare(IntCompare::Below);
                let [none, zero] = [0; 2].map(|number| maker.int(number));
                let is_some = maker.make(Op::IntCompare(IntCompare::Lt), &[zero, rounds], Type::Bool);
                let passes = maker.make(below, &[first, limit], Type::Bool);
                let most = maker.make(Op::Int2(Int2::Sub), &[limit, first], Type::Int);
                let is_less = maker.make(below, &[rounds, most], Type::Bool);
                let least = maker.make(Op::Select, &[is_less, rounds, most], Type::Int);
                let runs = maker.make(Op::And, &[is_some, passes], Type::Bool);
                maker.make(Op::Select, &[runs, least, none], Type::Int)
            }
        };
        let start = vector.map(|vector| {
            append(&mut maker.function.values, maker.insts, Op::NewVector(vector), vec![length], Type::Ptr, span)
        });
        function.blocks[before].insts = insts;

        let mut is_seen = false;
        for block in self.builder.body.iter().copied() {
            let mut insts = Vec::new();
            for inst in std::mem::take(&mut function.blocks[block].insts) {
                if inst.results.first() != Some(&node) {
                    insts.push(inst);
                    continue;
                }
                is_seen = true;
                if let Some(vector) = vector {
                    let mut maker = Maker { function, insts: &mut insts };
                    let place = maker.make(Op::Int2(Int2::Sub), &[counter, first], Type::Int);
                    let fields = inst.args.iter().enumerate().filter(|(field, _)| *field != self.chain as usize);
                    let kept = fields.zip(&self.reads).filter(|(_, read)| matches!(read, Read::Kept(_)));
                    let args = [tape, length, place].into_iter().chain(kept.map(|((_, arg), _)| *arg)).collect();
                    insts.push(Inst { op: Op::WithElement(vector), args, ..inst });
                }
            }
            function.blocks[block].insts = insts;
        }
        debug_assert!(is_seen, "the node is made in the loop");

        // On the way out the tape becomes a box.
        let made = function.values.push(Type::Ptr);
        let held = self.held.iter().map(|(value, _)| *value);
        let args = [rounds].into_iter().chain(vector.map(|_| tape)).chain(held).collect();
        let inst = Inst { op: Op::Box(self.sum, self.node), args, results: smallvec![made], span };
        let mut terminator = function.blocks[header].terminator.clone();
        for target in terminator.targets_mut() {
            if !self.builder.body.contains(&target.block) {
                let after = function.new_block(&[]);
                let onward = std::mem::replace(target, Target { block: after, args: Vec::new() });
                function.blocks[after].insts.push(inst.clone());
                function.blocks[after].terminator = Terminator::Jump(onward);
            }
        }
        function.blocks[header].terminator = terminator;
        for id in function.blocks.ids() {
            if !self.builder.body.contains(&id) {
                let replace = |value: &mut Value| {
                    if *value == tape {
                        *value = made;
                    }
                };
                match vector {
                    // The new box holds the vector.
                    Some(_) if function.blocks[id].insts.first() == Some(&inst) => {
                        function.blocks[id].terminator.for_each_use(replace);
                    }
                    _ => function.blocks[id].for_each_use(replace),
                }
            }
        }

        // The loop carries the vector, or nothing.
        if start.is_none() {
            function.blocks[header].params.remove(position);
        }
        for id in function.blocks.ids() {
            for target in function.blocks[id].terminator.targets_mut().into_iter().filter(|to| to.block == header) {
                match start {
                    Some(start) if id == before => target.args[position] = start,
                    Some(_) => {}
                    None => drop(target.args.remove(position)),
                }
            }
        }
    }

    fn change_reader(&self, function: &mut Function, reader: &Reader, vector: Option<VectorId>) {
        let tape = reader.tape;
        let (left, length) = (function.values.push(Type::Int), function.values.push(Type::Int));
        let held: Vec<Value> = self.held.iter().map(|(_, ty)| function.values.push(*ty)).collect();
        let names: FxHashMap<Value, Value> =
            self.held.iter().map(|(value, _)| *value).zip(held.iter().copied()).collect();
        let in_boxes = self.in_boxes(function, reader);
        let mut replacements = Replacements::new(function);
        for id in function.blocks.ids() {
            let mut insts = Vec::new();
            for inst in std::mem::take(&mut function.blocks[id].insts) {
                let looks = inst.args.first() == Some(&tape);
                let mut maker = Maker { function, insts: &mut insts };
                let by = match inst.op {
                    Op::HasTag(of, tag) if looks && of == self.sum => {
                        let none = maker.int(0);
                        let is_node = maker.make(Op::IntCompare(IntCompare::Lt), &[none, left], Type::Bool);
                        if tag == self.node { is_node } else { maker.make(Op::Not, &[is_node], Type::Bool) }
                    }
                    Op::Tag(of) if looks && of == self.sum => {
                        let [none, node, start] = [0, self.node, self.start].map(|number| maker.int(i64::from(number)));
                        let is_node = maker.make(Op::IntCompare(IntCompare::Lt), &[none, left], Type::Bool);
                        maker.make(Op::Select, &[is_node, node, start], Type::Int)
                    }
                    Op::Field(of, _, field) if looks && of == self.sum && field == self.chain => tape,
                    Op::Field(..) if in_boxes.contains_key(&inst.results[0]) => {
                        let place = maker.below(left);
                        let counter = self.counter(&mut maker, place, &names);
                        maker.compute(in_boxes[&inst.results[0]], counter, &names)
                    }
                    Op::Field(of, _, field) if looks && of == self.sum => {
                        let place = maker.below(left);
                        let index = if field > self.chain { field - 1 } else { field };
                        match &self.reads[index as usize] {
                            Read::Kept(field) => {
                                let vector = vector.expect("there is a vector if a field is kept");
                                let ty = self.kept[*field as usize];
                                maker.make(Op::Element(vector, *field), &[tape, length, place], ty)
                            }
                            Read::Computed(expression) => {
                                let counter = self.counter(&mut maker, place, &names);
                                maker.compute(expression, counter, &names)
                            }
                        }
                    }
                    _ => {
                        insts.push(inst);
                        continue;
                    }
                };
                replacements.replace(inst.results[0], by);
            }
            self.pass_tape(function, (id, insts), reader, ([left, length], &held), vector);
        }
        let params = &mut function.blocks[reader.header].params;
        if vector.is_none() {
            params.remove(reader.position);
        }
        params.extend([left, length]);
        params.extend(held);
        replacements.apply(function);
    }

    /// The counter of the builder at a place.
    fn counter(&self, maker: &mut Maker<'_>, place: Value, names: &FxHashMap<Value, Value>) -> Value {
        let first = self.builder.first;
        let first = match self.builder.constant {
            Some(first) => maker.int(first),
            None => names.get(&first).copied().unwrap_or(first),
        };
        maker.make(Op::Int2(Int2::Add), &[place, first], Type::Int)
    }

    /// The reads of fields of boxes that nodes hold that are computed instead, by results.
    fn in_boxes(&self, function: &Function, reader: &Reader) -> FxHashMap<Value, &Expression> {
        let insts = || reader.body.iter().flat_map(|id| &function.blocks[*id].insts);
        let held = insts().filter(|inst| inst.args.first() == Some(&reader.tape)).filter_map(|inst| match inst.op {
            Op::Field(of, _, field) if of == self.sum => Some((inst.results[0], field)),
            _ => None,
        });
        let held: FxHashMap<Value, u32> = held.collect();
        let mut reads = FxHashMap::default();
        for inst in insts() {
            let Op::Field(sum, tag, position) = inst.op else { continue };
            let field = held.get(&inst.args[0]).copied();
            let found = self.boxes.iter().find(|found| (found.sum, found.tag, Some(found.field)) == (sum, tag, field));
            if let Some(found) = found {
                reads.insert(inst.results[0], &found.fields[position as usize]);
            }
        }
        reads
    }

    /// Ends a block with these instructions; its jumps to the loop pass what is left of the tape, its length, and what
    /// its box holds.
    fn pass_tape(
        &self,
        function: &mut Function,
        (id, mut insts): (BlockId, Vec<Inst>),
        reader: &Reader,
        ([left, length], held): ([Value; 2], &[Value]),
        vector: Option<VectorId>,
    ) {
        let mut terminator = function.blocks[id].terminator.clone();
        for target in terminator.targets_mut().into_iter().filter(|to| to.block == reader.header) {
            if reader.body.contains(&id) {
                let mut maker = Maker { function, insts: &mut insts };
                target.args.extend([maker.below(left), length]);
                target.args.extend(held);
                if vector.is_none() {
                    target.args.remove(reader.position);
                }
                continue;
            }
            // The way there may be the way out of the loop that makes the tape, where it is no box yet.
            let between = function.new_block(&[]);
            let mut onward = std::mem::replace(target, Target { block: between, args: Vec::new() });
            let mut insts = Vec::new();
            let mut maker = Maker { function, insts: &mut insts };
            let made = onward.args[reader.position];
            let all = maker.make(Op::Field(self.sum, self.node, 0), &[made], Type::Int);
            if vector.is_some() {
                onward.args[reader.position] = maker.make(Op::Field(self.sum, self.node, 1), &[made], Type::Ptr);
            } else {
                onward.args.remove(reader.position);
            }
            onward.args.extend([all, all]);
            for ((_, ty), field) in self.held.iter().zip(1 + u32::from(vector.is_some())..) {
                onward.args.push(maker.make(Op::Field(self.sum, self.node, field), &[made], *ty));
            }
            function.blocks[between].insts = insts;
            function.blocks[between].terminator = Terminator::Jump(onward);
        }
        function.blocks[id].insts = insts;
        function.blocks[id].terminator = terminator;
    }
}
