//! Tapes built and read by loops: SSA → SSA.
//!
//! ```text
//! fn fn1 "build"(v0: f64) -> f64, ptr {             fn fn1 "build"(v0: f64, v1: ptr) -> f64, ptr {
//!     branch v2, b1, b2                                 branch v2, b1, b2
//! b1: v3 = immediate.sum0.0                         b1: v3 = box.sum0.0 v1
//!     return v0, v3                                     return v0, v3
//! b2: v4, v5 = call fn1(v6)                    →    b2: v7 = box.sum0.1 v0, v1
//!     v7 = box.sum0.1 v0, v5                            tail_call fn1(v6, v7)
//!     return v4, v7
//! }                                                 }
//! fn fn2 "read"(v0: ptr) -> f64 {                   fn fn2 "read"(v0: ptr) -> f64 {
//!     branch (has_tag.sum0.1 v0), b1, b2                v1 = field.sum0.0.0 v0
//! b1: v1 = field.sum0.1.0 v0                            v2 = real 1.0
//!     v2 = field.sum0.1.1 v0                            jump b1(v2, v1)
//!     v3 = call fn2(v2)                             b1(v3: f64, v4: ptr):
//!     v4 = mul v1, v3                                   branch (has_tag.sum0.2 v4), b3, b2
//!     return v4                                     b2: v5 = field.sum0.1.0 v4; v6 = field.sum0.1.1 v4
//! b2: v5 = real 1.0                                     v7 = mul v5, v3
//!     return v5                                         jump b1(v7, v6)
//! }                                                 b3: return v3
//! ```
//!
//! The forward phase of a loop builds its tape behind the recursive call and is no loop any more; the reverse phase
//! starts at the far end, deep in a recursion. Both become loops again when the tape is chained the other way round:
//! each node points to the one before it, and the end, which is what the builder returns now, to the last node.
//!
//! This is done for a sum when one function, the *builder*, makes all its boxes, and others, the *readers*, look at
//! them, so that nobody else can see the difference. (A backpropagator reads its tape in two forms, one that begins
//! sums and one that adds to them.)
//!
//! - The builder returns its boxes as one certain result. They are *nodes*, made of that result of a call of itself
//!   right before, whose other results are returned unchanged, or *ends*, which are not.
//! - A reader looks only at one of its parameters, and uses the chain in a node only to call itself with it and its
//!   other parameters unchanged. Calls of builders and readers for other tapes, as of a loop within a loop that is the
//!   same by recursion, are like any other.
//! - What it does to a node is without effects and cannot fail, or comes after that call, so that the far end is done
//!   first already.
//!
//! The sum gets one more alternative, for the start of the chain, and ends get one more field.
//!
//! Tests: `tests/opt/tape-loops/`.

use crate::base::EntityVec;
use crate::opt::analysis::effects::Effects;
use crate::opt::edit::rewrite::{Replacements, append, paste, use_counts};
use crate::opt::scalar::simplify_cfg;
use crate::ssa::call_graph::callers;
use crate::ssa::ir::{
    Alternative, Block, BlockId, FuncId, Function, Inst, Op, Program, SumId, Target, Terminator, Type, Value, Values,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// Treats the whole program.
///
/// What is done for one sum gives other sums no new users, and functions neither new callers nor effects, so all of
/// these are looked up once.
pub fn run(program: &mut Program) -> bool {
    let (effects, callers) = (Effects::new(program), callers(program));
    let mut changed = false;
    for (sum, users) in users(program).iter() {
        if let Some(tape) = Tape::find(program, &effects, sum, users) {
            tape.reverse(program, &callers[tape.builder]);
            changed = true;
        }
    }
    changed
}

/// A sum that can be chained the other way round.
#[derive(Debug)]
struct Tape {
    sum: SumId,
    builder: FuncId,
    /// Who reads it, and which of its parameters is the tape.
    readers: Vec<Reader>,
    /// Which result of the builder is the tape.
    result: usize,
    /// For alternatives that are nodes, which field is the chain. Others are ends.
    chain: FxHashMap<u32, u32>,
    /// The blocks of the builder that return a node, with the position of the call.
    nodes: Vec<(BlockId, usize)>,
}

/// A function that reads a tape.
#[derive(Clone, Copy, Debug)]
struct Reader {
    function: FuncId,
    param: usize,
}

/// What the builder returns in a block.
enum Form {
    /// A box made of the result of the call at this position, which stands in this field.
    Node(usize, u32),
    /// A box that is not made of such a result.
    End,
}

/// The functions that make boxes of a sum, and those that look at them.
#[derive(Clone, Default)]
struct Users {
    makers: FxHashSet<FuncId>,
    lookers: FxHashSet<FuncId>,
}

fn users(program: &Program) -> EntityVec<SumId, Users> {
    let mut users = program.sums.same_ids(Users::default());
    for (id, function) in program.functions.iter() {
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            match inst.op {
                Op::Box(sum, _) | Op::Immediate(sum, _) => drop(users[sum].makers.insert(id)),
                Op::Tag(sum) | Op::HasTag(sum, _) | Op::Field(sum, ..) => drop(users[sum].lookers.insert(id)),
                _ => {}
            }
        }
    }
    users
}

fn only(set: &FxHashSet<FuncId>) -> Option<FuncId> {
    if set.len() == 1 { set.iter().next().copied() } else { None }
}

/// The tag, when the instruction makes a box of the sum.
fn made(inst: &Inst, sum: SumId) -> Option<u32> {
    match inst.op {
        Op::Box(of, tag) | Op::Immediate(of, tag) if of == sum => Some(tag),
        _ => None,
    }
}

impl Reader {
    /// Whether an instruction is its call of itself with one of these.
    fn goes_on(self, inst: &Inst, chains: &FxHashSet<Value>) -> bool {
        inst.op == Op::Call(self.function) && chains.contains(&inst.args[self.param])
    }
}

impl Tape {
    fn find(program: &Program, effects: &Effects, sum: SumId, users: &Users) -> Option<Tape> {
        let builder = only(&users.makers)?;
        if users.lookers.is_empty() || users.lookers.contains(&builder) || program.main == Some(builder) {
            return None;
        }
        let (chain, nodes) = (FxHashMap::default(), Vec::new());
        let mut tape = Tape { sum, builder, readers: Vec::new(), result: 0, chain, nodes };
        tape.study_builder(&program.functions[builder], effects)?;
        let mut lookers: Vec<FuncId> = users.lookers.iter().copied().collect();
        lookers.sort_unstable();
        for function in lookers {
            let code = &program.functions[function];
            let reader = tape.study_reader(function, code)?;
            if !effects.is_silent(function) && !tape.starts_at_the_end(reader, code, effects) {
                return None;
            }
            tape.readers.push(reader);
        }
        Some(tape)
    }

    /// Finds nodes and ends; `None` when the function does anything else with the sum.
    fn study_builder(&mut self, function: &Function, effects: &Effects) -> Option<()> {
        let mut makers: FxHashMap<Value, (BlockId, usize, u32)> = FxHashMap::default();
        for (id, block) in function.blocks.iter() {
            for (index, inst) in block.insts.iter().enumerate() {
                if let Some(tag) = made(inst, self.sum) {
                    makers.insert(inst.results[0], (id, index, tag));
                }
            }
        }
        let uses = use_counts(function);
        let mut returned: FxHashMap<Value, u32> = FxHashMap::default();
        let mut ends: FxHashSet<u32> = FxHashSet::default();
        let mut result = None;
        for (id, block) in function.blocks.iter() {
            let values = match &block.terminator {
                Terminator::Return(values) => values,
                Terminator::TailCall(callee, _) if *callee != self.builder => return None,
                _ => continue,
            };
            let position = values.iter().position(|value| makers.contains_key(value))?;
            if *result.get_or_insert(position) != position {
                return None;
            }
            let value = values[position];
            *returned.entry(value).or_default() += 1;
            let (home, index, tag) = makers[&value];
            match self.form(function, id, (home, index), position, effects)? {
                Form::Node(call, field) => {
                    if *self.chain.entry(tag).or_insert(field) != field {
                        return None;
                    }
                    self.nodes.push((id, call));
                }
                Form::End => drop(ends.insert(tag)),
            }
        }
        self.result = result?;
        let all_returned = makers.keys().all(|value| uses[*value] == returned.get(value).copied().unwrap_or(0));
        let apart = ends.iter().all(|tag| !self.chain.contains_key(tag));
        (all_returned && apart && !self.nodes.is_empty()).then_some(())
    }

    /// What a returned box is; `None` when the block is neither of one form nor the other.
    fn form(
        &self,
        function: &Function,
        id: BlockId,
        made_at: (BlockId, usize),
        result: usize,
        effects: &Effects,
    ) -> Option<Form> {
        let block = &function.blocks[id];
        let is_self_call = |inst: &Inst| inst.op == Op::Call(self.builder);
        let box_inst = &function.blocks[made_at.0].insts[made_at.1];
        let calls = function.blocks.values().flat_map(|block| &block.insts).filter(|inst| is_self_call(inst));
        let chains: FxHashSet<Value> = calls.map(|inst| inst.results[result]).collect();
        if !box_inst.args.iter().any(|arg| chains.contains(arg)) {
            return Some(Form::End);
        }
        // The last call of the block: those before are for other tapes.
        let call_at = block.insts.iter().rposition(is_self_call)?;
        let field = box_inst.args.iter().position(|arg| *arg == block.insts[call_at].results[result])?;
        let call = &block.insts[call_at];
        let Terminator::Return(values) = &block.terminator else { return None };
        let passes_on =
            (0..values.len()).all(|position| position == result || values[position] == call.results[position]);
        let uses = use_counts(function);
        // Every result of the call is used once, where it has been found.
        let used_once = call.results.iter().all(|value| uses[*value] == 1);
        let can_be_before = |inst: &Inst| {
            effects.is_movable(inst.op)
                && (made(inst, self.sum).is_some() || !inst.args.iter().any(|arg| call.results.contains(arg)))
        };
        let fits = made_at.0 == id && passes_on && used_once && block.insts[call_at + 1..].iter().all(can_be_before);
        if fits { Some(Form::Node(call_at, u32::try_from(field).ok()?)) } else { None }
    }

    /// Finds the parameter; `None` when the function does anything else with the sum.
    fn study_reader(&self, id: FuncId, function: &Function) -> Option<Reader> {
        let insts = || function.blocks.values().flat_map(|block| &block.insts);
        let looks =
            |inst: &&Inst| matches!(inst.op, Op::Tag(of) | Op::HasTag(of, _) | Op::Field(of, ..) if of == self.sum);
        let value = insts().find(looks)?.args[0];
        let reader = Reader { function: id, param: function.params().iter().position(|param| *param == value)? };
        if insts().filter(looks).any(|inst| inst.args[0] != value) {
            return None;
        }
        let chains = self.chains(insts());
        let uses = use_counts(function);
        if insts().filter(looks).count() != uses[value] as usize {
            return None;
        }
        let mut uses_left: FxHashMap<Value, u32> = chains.iter().map(|chain| (*chain, uses[*chain])).collect();
        let mut calls = 0;
        for inst in insts().filter(|inst| reader.goes_on(inst, &chains)) {
            let unchanged =
                |(position, (arg, param)): (usize, (&Value, &Value))| position == reader.param || arg == param;
            *uses_left.get_mut(&inst.args[reader.param])? -= 1;
            if !inst.args.iter().zip(function.params()).enumerate().all(unchanged) {
                return None;
            }
            calls += 1;
        }
        let tail_calls_itself =
            function.blocks.values().any(|block| matches!(&block.terminator, Terminator::TailCall(..)));
        (calls > 0 && !tail_calls_itself && uses_left.values().all(|left| *left == 0)).then_some(reader)
    }

    /// What these instructions find to be the rest of a tape.
    fn chains<'i>(&self, insts: impl Iterator<Item = &'i Inst>) -> FxHashSet<Value> {
        let is_chain = |inst: &&Inst| match inst.op {
            Op::Field(of, tag, field) => of == self.sum && self.chain.get(&tag) == Some(&field),
            _ => false,
        };
        insts.filter(is_chain).map(|inst| inst.results[0]).collect()
    }

    /// Whether a reader of a node does nothing that matters before it has read the rest of the chain, and always reads
    /// that.
    fn starts_at_the_end(&self, reader: Reader, code: &Function, effects: &Effects) -> bool {
        self.chain.keys().all(|tag| {
            let mut code = code.clone();
            code.blocks.values_mut().for_each(|block| self.know_tag(block, *tag));
            simplify_cfg::simplify(&mut code);
            let insts = || code.blocks.values().flat_map(|block| &block.insts);
            let chains = self.chains(insts());
            let is_call = |inst: &Inst| reader.goes_on(inst, &chains);
            let calls = insts().filter(|inst| is_call(inst)).count();
            let entry = &code.blocks[Function::ENTRY].insts;
            let call = entry.iter().position(is_call);
            calls == 1 && call.is_some_and(|call| entry[..call].iter().all(|inst| effects.is_movable(inst.op)))
        })
    }

    /// Decides the tests for the tag in code for values that have that tag.
    fn know_tag(&self, block: &mut Block, tag: u32) {
        for inst in &mut block.insts {
            match inst.op {
                Op::HasTag(of, tested) if of == self.sum => {
                    (inst.op, inst.args) = (Op::ConstBool(tested == tag), Values::new());
                }
                Op::Tag(of) if of == self.sum => (inst.op, inst.args) = (Op::ConstInt(i64::from(tag)), Values::new()),
                _ => {}
            }
        }
    }

    /// Changes the sum, the builder, its calls, and the readers.
    fn reverse(&self, program: &mut Program, callers: &[FuncId]) {
        let types = &mut program.sums[self.sum].alternatives;
        let start = u32::try_from(types.len()).expect("few alternatives");
        for (tag, alternative) in (0..).zip(types.iter_mut()) {
            if !self.chain.contains_key(&tag) {
                alternative.fields.push(Type::Ptr);
            }
        }
        types.push(Alternative { name: "start".into(), fields: Vec::new() });
        let ends = (0..start).filter(|tag| !self.chain.contains_key(tag));
        let ends: Vec<(u32, u32)> =
            ends.map(|tag| (tag, u32::try_from(types[tag as usize].fields.len() - 1).expect("few fields"))).collect();
        self.reverse_builder(&mut program.functions[self.builder]);
        for caller in callers {
            self.pass_start(&mut program.functions[*caller], *caller, start);
        }
        for reader in &self.readers {
            let code = &program.functions[reader.function];
            program.functions[reader.function] = self.reversed_reader(*reader, code, start, &ends);
        }
    }

    fn reverse_builder(&self, function: &mut Function) {
        let before = function.values.push(Type::Ptr);
        function.blocks[Function::ENTRY].params.push(before);
        let mut tags: FxHashMap<Value, Inst> = FxHashMap::default();
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if made(inst, self.sum).is_some() {
                tags.insert(inst.results[0], inst.clone());
            }
        }
        let nodes: FxHashMap<BlockId, usize> = self.nodes.iter().copied().collect();
        for id in function.blocks.ids() {
            let call = nodes.get(&id).map(|index| function.blocks[id].insts[*index].clone());
            let is_kept = |inst: &Inst| made(inst, self.sum).is_none() && Some(inst) != call.as_ref();
            function.blocks[id].insts.retain(is_kept);
            let mut terminator = function.blocks[id].terminator.clone();
            match &mut terminator {
                Terminator::Return(values) => {
                    let mut inst = tags[&values[self.result]].clone();
                    let fresh = function.values.push(Type::Ptr);
                    inst.results = smallvec![fresh];
                    values[self.result] = fresh;
                    let tag = made(&inst, self.sum).expect("the table holds boxes");
                    match self.chain.get(&tag) {
                        Some(field) => inst.args[*field as usize] = before,
                        None => inst.args.push(before),
                    }
                    inst.op = Op::Box(self.sum, tag);
                    function.blocks[id].insts.push(inst);
                    if let Some(mut call) = call {
                        call.args.push(fresh);
                        terminator = Terminator::TailCall(self.builder, call.args.into_vec());
                    }
                }
                Terminator::TailCall(callee, args) if *callee == self.builder => args.push(before),
                _ => {}
            }
            function.blocks[id].terminator = terminator;
        }
    }

    /// Lets calls of the builder start new chains. Its own tail calls go on with theirs.
    fn pass_start(&self, function: &mut Function, id: FuncId, start: u32) {
        for block in function.blocks.ids() {
            let types = &mut function.values;
            let data = &mut function.blocks[block];
            let mut insts = Vec::with_capacity(data.insts.len());
            let mut fresh = |insts: &mut Vec<Inst>| {
                append(types, insts, Op::Immediate(self.sum, start), Vec::new(), Type::Ptr, None)
            };
            for mut inst in std::mem::take(&mut data.insts) {
                if inst.op == Op::Call(self.builder) {
                    inst.args.push(fresh(&mut insts));
                }
                insts.push(inst);
            }
            if let Terminator::TailCall(callee, args) = &mut data.terminator
                && *callee == self.builder
                && id != self.builder
            {
                args.push(fresh(&mut insts));
            }
            data.insts = insts;
        }
    }

    /// The reader as a loop: the code for an end, then round by round the code for a node.
    fn reversed_reader(&self, reader: Reader, code: &Function, start: u32, ends: &[(u32, u32)]) -> Function {
        let mut function = Function::new(code.name.clone(), &code.param_types(), code.results.clone());
        let tape = function.params()[reader.param];
        let mut types = code.results.clone();
        types.push(Type::Ptr);
        let header = function.new_block(&types);
        let mut results = function.blocks[header].params.clone();
        let node = results.pop().expect("the chain is the last parameter");
        let exit = function.new_block(&[]);
        function.blocks[exit].terminator = Terminator::Return(results.clone());
        let mut end_blocks = FxHashMap::default();
        for (tag, field) in ends {
            end_blocks.insert(*tag, self.copy(&mut function, (reader, code), (*tag, *field), tape, header, None));
        }
        let mut node_blocks = FxHashMap::default();
        node_blocks.insert(start, exit);
        let mut tags: Vec<(u32, u32)> = self.chain.iter().map(|(tag, field)| (*tag, *field)).collect();
        tags.sort_unstable();
        for (tag, field) in tags {
            let block = self.copy(&mut function, (reader, code), (tag, field), node, header, Some(&results));
            node_blocks.insert(tag, block);
        }
        self.choose(&mut function, Function::ENTRY, tape, &end_blocks);
        self.choose(&mut function, header, node, &node_blocks);
        simplify_cfg::simplify(&mut function);
        function
    }

    /// Ends a block with a choice by the tag of `value`, which has one of the tags given.
    fn choose(&self, function: &mut Function, block: BlockId, value: Value, by_tag: &FxHashMap<u32, BlockId>) {
        let mut tags: Vec<u32> = by_tag.keys().copied().collect();
        tags.sort_unstable();
        let to = |block: BlockId| Target { block, args: Vec::new() };
        let test = |function: &mut Function, op: Op, ty: Type| {
            let result = function.values.push(ty);
            function.blocks[block].insts.push(Inst {
                op,
                args: smallvec![value],
                results: smallvec![result],
                span: None,
            });
            result
        };
        function.blocks[block].terminator = match tags[..] {
            [tag] => Terminator::Jump(to(by_tag[&tag])),
            [first, second] => {
                let is_second = test(function, Op::HasTag(self.sum, second), Type::Bool);
                Terminator::Branch(is_second, to(by_tag[&second]), to(by_tag[&first]))
            }
            _ => {
                let tag = test(function, Op::Tag(self.sum), Type::Int);
                let other = function.new_block(&[]);
                let last = tags.last().copied().unwrap_or(0);
                let target = |tag: u32| to(by_tag.get(&tag).copied().unwrap_or(other));
                Terminator::Switch(tag, (0..=last).map(target).collect())
            }
        };
    }

    /// Code for one alternative of `value`, which goes on at `header` with its results and with the node before. The
    /// results of the rest of the tape are known in nodes.
    fn copy(
        &self,
        function: &mut Function,
        (reader, code): (Reader, &Function),
        (tag, field): (u32, u32),
        value: Value,
        header: BlockId,
        rest: Option<&[Value]>,
    ) -> BlockId {
        let start = function.new_block(&[]);
        let before = function.values.push(Type::Ptr);
        let op = Op::Field(self.sum, tag, field);
        function.blocks[start].insts.push(Inst { op, args: smallvec![value], results: smallvec![before], span: None });
        let mut args = function.params().to_vec();
        args[reader.param] = value;
        let pasted: Vec<BlockId> = paste(function, code, &args).collect();
        function.blocks[start].terminator = Terminator::Jump(Target { block: pasted[0], args: Vec::new() });
        let chains = self.chains(pasted.iter().flat_map(|block| &function.blocks[*block].insts));
        let goes_on = |inst: &Inst| reader.goes_on(inst, &chains);
        let mut replacements = Replacements::new(function);
        for block in pasted {
            let data = &mut function.blocks[block];
            self.know_tag(data, tag);
            for inst in data.insts.iter().filter(|inst| goes_on(inst)) {
                let known = inst.results.iter().zip(rest.into_iter().flatten());
                known.for_each(|(result, known)| replacements.replace(*result, *known));
            }
            if rest.is_some() {
                data.insts.retain(|inst| !goes_on(inst));
            }
            if let Terminator::Return(values) = &mut data.terminator {
                let mut args = std::mem::take(values);
                args.push(before);
                data.terminator = Terminator::Jump(Target { block: header, args });
            }
        }
        replacements.apply(function);
        start
    }
}
