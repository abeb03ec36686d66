//! What a round has put on its tape, made again where it is read.
//!
//! ```text
//! b1(v1: f64, v2: ptr):                            b1(v1: f64, v2: ptr):
//!     branch v3, b2, b3                                branch v3, b2, b3
//! b2: v4 = mul v1, v1                              b2: v4 = mul v1, v1
//!     v5 = add v4, v0                                  v5 = add v4, v0
//!     v6 = box.sum0.0 v4, v5, v2             →         v6 = box.sum0.0 v2, v1
//!     jump b1(v5, v6)                                  jump b1(v5, v6)
//! b5: v8 = field.sum0.0.0 v7                       b5: v10 = field.sum0.0.1 v7
//!     v9 = field.sum0.0.1 v7                           v8, v9 = call fn1(v10, v0)
//! ```
//!
//! A backward slice of the round, from fields of the node, becomes a function: of what the round before has left, of
//! what does not change in the loop, and of fields that are kept. The loops that read the tape call it (and inlining
//! puts it there). So a tape keeps the state of each round instead of all that the round makes of it: vectors above
//! all, which are gone again before the next round is read. Where the state follows from the place of the node, nothing
//! is kept.
//!
//! The slice has the branches and the loops of the original, so that its bits are the same, and nothing is read or
//! computed that the original did not. What is dear to make is kept, and ends the slice; so are boxes and results of
//! calls.
//!
//! This is worth it as long as what is made again takes about as long as what is kept would take to be stored and
//! loaded: a few operations for each number, or, in a loop that makes vectors, for each element.
//!
//! Source: rematerialisation, as in Briggs, Cooper and Torczon, *Rematerialization* (1992), of whole loops; on tapes,
//! as in the round-by-round reverse of Schenck, Rønning, Henriksen and Oancea, *AD for an Array Language with Nested
//! Parallelism* (2022).

use super::Reader;
use super::find::{self, Tape};
use super::study::Rounds;
use crate::opt::analysis::loops::Code;
use crate::opt::edit::clone_region::cut_out;
use crate::opt::edit::rewrite::{Replacements, append, clear_unreachable, is_constant};
use crate::opt::layout::recompute_fields::is_cheap;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{
    Block, BlockId, FuncId, Function, Inst, IntCompare, Op, Program, Real1, Real2, Target, Terminator, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many operations may make a number again that is not kept.
const MOST_FOR_NUMBER: usize = 3;

/// So many operations of a round of a loop may make again an element of each vector that is not kept: it would have to
/// go to memory and back.
const MOST_FOR_ELEMENT: usize = 14;

/// What takes longer than loading its result, in operations.
const DIVISION: usize = 4;

/// The slice of a round.
#[derive(Debug)]
pub(super) struct Again<'t> {
    tape: &'t Tape,
    chain: u32,
    header: BlockId,
    body: FxHashSet<BlockId>,
    readers: Vec<Reader>,
    /// Arguments of the node.
    node: Vec<Value>,
    /// Which of them it makes.
    made: Vec<Value>,
    /// What it takes.
    takes: Vec<Value>,
    /// What it takes that is at hand where the tape is read.
    known: FxHashSet<Value>,
    /// What nodes hold for it besides their fields.
    added: Vec<Value>,
    needed: FxHashSet<Value>,
}

/// What values of a round depend on.
#[derive(Default)]
struct Slice {
    needed: FxHashSet<Value>,
    takes: Vec<Value>,
    /// Operations of a round, and of a round of the loops in it.
    cost: [usize; 2],
}

/// Finds out what of a tape is better made again than kept.
pub(super) fn plan<'t>(program: &Program, tape: &'t Tape) -> Option<Again<'t>> {
    let code = Code::new(&program.functions[tape.maker]);
    let (node, header, position) = find::chain(&code, tape)?;
    let body = code.body(header);
    let carried = code.function.blocks[header].params[position];
    let chain = node.args.iter().position(|arg| *arg == carried)?;
    if !body.contains(&code.homes.get(node.results[0])?) {
        return None;
    }
    let chain = u32::try_from(chain).ok()?;
    let rounds = Rounds { program, code: &code, header, body: &body, known: find::known(&code, tape) };
    let fields: Vec<Value> =
        (0..).zip(&node.args).filter(|(field, _)| *field != chain).map(|(_, value)| *value).collect();
    let is_state = |value: &Value| code.homes.get(*value) == Some(header) && code.op(*value).is_none();
    let is_made = |value: &Value| code.homes.get(*value).is_some_and(|home| body.contains(&home)) && !is_state(value);
    let (mut made, kept): (Vec<Value>, Vec<Value>) = fields.iter().partition(|value| is_made(value));
    let mut kept = FxHashSet::from_iter(kept);
    made.sort_unstable();
    made.dedup();
    if made.is_empty() {
        return None;
    }
    let readers = find::readers(program, tape, chain)?;
    if readers.iter().any(|reader| reader.reads && reader.at.is_none()) {
        return None;
    }
    let whole = Round::new(&rounds, carried);
    // What cannot be made of what is there, or is dear, is kept, and others are made of it.
    let slice = loop {
        if let Some(slice) = whole.slice(&made, &kept) {
            break slice;
        }
        let is_dear = |value: &Value| {
            let others = fields.iter().copied().filter(|other| other != value).collect();
            whole.slice(&[*value], &others).is_none()
        };
        let dear: FxHashSet<Value> = made.iter().copied().filter(is_dear).collect();
        made.retain(|value| !dear.contains(value));
        kept.extend(&dear);
        if dear.is_empty() || made.is_empty() {
            return None;
        }
    };
    let known: FxHashSet<Value> = slice.takes.iter().copied().filter(|value| rounds.is_known(*value)).collect();
    let added: Vec<Value> =
        slice.takes.iter().copied().filter(|value| !known.contains(value) && !kept.contains(value)).collect();
    // What does not change, or counts the rounds, takes no room in the end.
    let steps = code.steps(header);
    let counts = |value: Value| {
        let position = code.function.blocks[header].params.iter().position(|param| *param == value);
        position.is_some_and(|position| steps[position].is_some())
    };
    let instead: Vec<Value> = added.iter().copied().filter(|value| is_state(value) && !counts(*value)).collect();
    if !whole.is_worth_it(&made, &instead, &slice) {
        return None;
    }
    let (node, takes, needed) = (node.args.to_vec(), slice.takes, slice.needed);
    Some(Again { tape, chain, header, body, readers, node, made, takes, known, added, needed })
}

/// A round of the loop that makes a tape.
struct Round<'r> {
    rounds: &'r Rounds<'r>,
    tape: Value,
    /// In how many loops within this one blocks are.
    depths: FxHashMap<BlockId, usize>,
    /// The conditions that decide what a round does.
    conditions: Vec<Value>,
}

impl<'r> Round<'r> {
    fn new(rounds: &'r Rounds<'r>, tape: Value) -> Round<'r> {
        let Rounds { code, header, body, .. } = *rounds;
        let mut depths: FxHashMap<BlockId, usize> = body.iter().map(|block| (*block, 0)).collect();
        for inner in body.iter().filter(|block| **block != header && code.graph.is_loop_header(**block)) {
            code.body(*inner).iter().for_each(|block| *depths.entry(*block).or_default() += 1);
        }
        let mut conditions = Vec::new();
        for block in body {
            let terminator = &code.function.blocks[*block].terminator;
            let goes_on = |to: &&&Target| body.contains(&to.block) && to.block != header;
            if let Terminator::Branch(condition, ..) | Terminator::Switch(condition, _) = terminator
                && terminator.targets().iter().filter(goes_on).count() > 1
            {
                conditions.push(*condition);
            }
        }
        conditions.sort_unstable();
        conditions.dedup();
        Round { rounds, tape, depths, conditions }
    }

    /// What values of a round depend on, if that can be made again.
    fn slice(&self, values: &[Value], kept: &FxHashSet<Value>) -> Option<Slice> {
        let Rounds { code, header, body, .. } = *self.rounds;
        let function = code.function;
        let mut slice = Slice::default();
        let mut waiting: Vec<Value> = values.iter().chain(&self.conditions).copied().collect();
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        while let Some(value) = waiting.pop() {
            if !seen.insert(value) {
                continue;
            }
            let home = code.homes.get(value)?;
            let inst = code.definitions.inst(function, value);
            let is_outside = !body.contains(&home);
            if is_outside && inst.is_some_and(|inst| is_constant(inst.op)) {
                slice.needed.insert(value);
                continue;
            }
            if is_outside || kept.contains(&value) || (inst.is_none() && home == header) {
                if value == self.tape || (function.values[value] == Type::Ptr && self.rounds.may_change(value)) {
                    return None;
                }
                slice.takes.push(value);
                continue;
            }
            slice.needed.insert(value);
            if let Some(inst) = inst {
                *slice.cost.get_mut(self.depths[&home])? += cost(inst)?;
                waiting.extend(&inst.args);
                continue;
            }
            let position = function.blocks[home].params.iter().position(|param| *param == value)?;
            let from = code.graph.predecessors[home].iter();
            let targets = from.flat_map(|from| function.blocks[*from].terminator.targets());
            waiting.extend(targets.filter(|to| to.block == home).map(|to| to.args[position]));
        }
        slice.takes.sort_unstable();
        Some(slice)
    }

    /// Whether values are better made again than kept, if others are kept instead.
    fn is_worth_it(&self, made: &[Value], instead: &[Value], slice: &Slice) -> bool {
        let Rounds { code, header, body, .. } = *self.rounds;
        // Vectors that the round makes, by their lengths; a vector that is kept instead has the length of one of them.
        let mut lengths: Vec<Value> = made.iter().filter_map(|value| self.length(*value, false)).collect();
        let numbers = made.len() - lengths.len();
        let all: FxHashSet<Value> = lengths.iter().copied().collect();
        let mut others = 0;
        for value in instead {
            if code.function.values[*value] != Type::Ptr {
                others += 1;
                continue;
            }
            let length = self.length(*value, true);
            let Some(place) = lengths.iter().position(|other| Some(*other) == length) else { return false };
            lengths.swap_remove(place);
        }
        let [flat, deep] = slice.cost;
        if all.is_empty() {
            return deep == 0 && others < numbers && flat <= MOST_FOR_NUMBER * (numbers - others);
        }
        // The loops of the slice run over what it makes.
        let runs = |inner: &BlockId| {
            let function = code.function;
            let is_needed = |inst: &Inst| cost(inst) != Some(0) && slice.needed.contains(&inst.results[0]);
            let body = code.body(*inner);
            if !body.iter().flat_map(|block| &function.blocks[*block].insts).any(is_needed) {
                return true;
            }
            let Terminator::Branch(condition, ..) = &function.blocks[*inner].terminator else { return false };
            let test = code.definitions.inst(function, *condition);
            test.is_some_and(|test| test.op == Op::IntCompare(IntCompare::Lt) && all.contains(&test.args[1]))
        };
        let mut inner = body.iter().filter(|block| **block != header && code.graph.is_loop_header(**block));
        !lengths.is_empty() && deep <= MOST_FOR_ELEMENT * lengths.len() && inner.all(runs)
    }

    /// The length of a vector whose elements the round sets or, if asked, reads.
    fn length(&self, vector: Value, or_reads: bool) -> Option<Value> {
        let Rounds { code, body, .. } = *self.rounds;
        let touches = |inst: &&Inst| match inst.op {
            Op::WithElement(_) => inst.args[0] == vector || inst.results[0] == vector,
            Op::Element(..) => or_reads && inst.args[0] == vector,
            _ => false,
        };
        let mut insts = body.iter().flat_map(|block| &code.function.blocks[*block].insts);
        insts.find(touches).map(|inst| inst.args[1])
    }
}

/// How many operations an instruction counts for; `None` for what is dear, or makes more than vectors.
fn cost(inst: &Inst) -> Option<usize> {
    match inst.op {
        Op::Int2(_) | Op::IntCompare(_) | Op::IntIs(_) => Some(0),
        op if is_constant(op) => Some(0),
        Op::Element(..) | Op::WithElement(_) | Op::NewVector(_) | Op::Select | Op::RealIs(_) => Some(1),
        Op::Real2(Real2::Div) | Op::Real1(Real1::Sqrt) => Some(DIVISION),
        op => is_cheap(op).then_some(1),
    }
}

/// The block of a loop where what its tape holds can be made again: before any field is read, in no loop within it.
pub(super) fn place(code: &Code<'_>, reads: &[BlockId], header: BlockId, body: &FxHashSet<BlockId>) -> Option<BlockId> {
    let inner = body.iter().filter(|block| **block != header && code.graph.is_loop_header(**block));
    let inner: Vec<FxHashSet<BlockId>> = inner.map(|header| code.body(*header)).collect();
    let mut at = reads.iter().copied().reduce(|a, b| code.graph.common_dominator(a, b))?;
    while inner.iter().any(|body| body.contains(&at)) {
        at = code.graph.dominator[at]?;
    }
    (at != header && body.contains(&at)).then_some(at)
}

impl Again<'_> {
    /// The loops that the tape is made and read by do without what can be made again.
    pub fn apply(&self, program: &mut Program) {
        let function = self.function(&program.functions[self.tape.maker]);
        let again = program.functions.push(function);
        let types: Vec<Type> = self
            .node
            .iter()
            .chain(&self.added)
            .map(|value| program.functions[self.tape.maker].values[*value])
            .collect();
        let stays = |field: usize| field == self.chain as usize || !self.made.contains(&self.node[field]);
        let fields: Vec<usize> = (0..types.len()).filter(|field| *field >= self.node.len() || stays(*field)).collect();
        let alternative = &mut program.sums[self.tape.sum].alternatives[self.tape.node as usize];
        alternative.fields = fields.iter().map(|field| types[*field]).collect();
        for block in program.functions[self.tape.maker].blocks.values_mut() {
            for inst in block.insts.iter_mut().filter(|inst| inst.op == Op::Box(self.tape.sum, self.tape.node)) {
                inst.args.extend(self.added.iter().copied());
                inst.args = fields.iter().map(|field| inst.args[*field]).collect();
            }
        }
        for reader in &self.readers {
            self.change_reader(&mut program.functions[reader.function], reader, again, &fields, &types);
        }
    }

    fn change_reader(&self, function: &mut Function, reader: &Reader, again: FuncId, fields: &[usize], types: &[Type]) {
        let typed = |value: Value| {
            let field = (0..types.len()).find(|field| self.holds(*field) == value);
            types[field.expect("it is or was a field")]
        };
        let made: Vec<Value> = self.made.iter().map(|value| function.values.push(typed(*value))).collect();
        let mut insts = Vec::new();
        let takes = self.takes.iter().map(|value| {
            if self.known.contains(value) {
                return *value;
            }
            let field = fields.iter().position(|old| self.holds(*old) == *value).expect("the node holds it");
            let read = Op::Field(self.tape.sum, self.tape.node, field as u32);
            append(&mut function.values, &mut insts, read, vec![reader.tape], typed(*value), None)
        });
        let args = takes.collect();
        insts.push(Inst { op: Op::Call(again), args, results: made.clone().into(), span: None });
        let mut replacements = Replacements::new(function);
        for block in function.blocks.values_mut() {
            block.insts.retain_mut(|inst| {
                let Op::Field(sum, tag, field) = inst.op else { return true };
                if (sum, tag) != (self.tape.sum, self.tape.node) || inst.args[0] != reader.tape {
                    return true;
                }
                if let Some(field) = fields.iter().position(|old| *old == field as usize) {
                    inst.op = Op::Field(sum, tag, field as u32);
                    return true;
                }
                let position = self.made.iter().position(|value| *value == self.node[field as usize]);
                replacements.replace(inst.results[0], made[position.expect("it is made again")]);
                false
            });
        }
        if let Some(at) = reader.at.filter(|_| reader.reads) {
            function.blocks[at].insts.splice(0..0, insts);
        }
        replacements.apply(function);
    }

    /// What a field holds, of the node as it was with what is added.
    fn holds(&self, field: usize) -> Value {
        self.node.get(field).copied().unwrap_or_else(|| self.added[field - self.node.len()])
    }

    /// The function that makes it, of what it takes.
    fn function(&self, original: &Function) -> Function {
        let node = Op::Box(self.tape.sum, self.tape.node);
        let ends = |(_, block): &(BlockId, &Block)| block.insts.iter().any(|inst| inst.op == node);
        let (end, _) = original.blocks.iter().find(ends).expect("the node is made in the loop");
        let mut function = cut_out(original, &self.body, &self.needed, |block| block == self.header);
        function.name = format!("{} again", original.name).into();
        function.results = self.made.iter().map(|value| function.values[*value]).collect();
        function.blocks[end].terminator = Terminator::Return(self.made.clone());
        let entry = &mut function.blocks[Function::ENTRY];
        entry.params = self.takes.clone();
        entry.terminator = Terminator::Jump(Target { block: self.header, args: Vec::new() });
        let graph = Graph::new(&function);
        clear_unreachable(&mut function, |block| graph.is_reachable(block));
        function
    }
}
