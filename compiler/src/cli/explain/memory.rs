//! What a program keeps in memory: optimised code → every kind of box and of vector that is made, how large, how often,
//! and which operations need what is stored in it. For the tape of a derivative these are the operations of the reverse
//! phase.

use super::shortened;
use crate::base::{EntityVec, SourceMap};
use crate::codegen::layout;
use crate::opt::loops::parallelize;
use crate::opt::tape::tape_vectors;
use crate::ssa::graph::reverse_postorder;
use crate::ssa::ir::{
    self as ssa, BlockId, CHECKPOINT, FuncId, Function, Op, Source, SumId, Terminator, Type, Value, VectorId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What something is kept for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The reverse phase of a derivative.
    Tape,
    /// The tape of a long loop, in place of what its rounds keep.
    Checkpoint,
    /// Another process, which computes rounds of a loop.
    Rounds,
    /// Anything else.
    Data,
}

/// A kind of box or vector.
pub struct Kind {
    pub name: String,
    pub role: Role,
    pub is_vector: bool,
    /// Fields of a box, or of each element of a vector.
    pub numbers: usize,
    pub others: usize,
    /// Of a box, or of each element of a vector.
    pub bytes: usize,
    /// Where it is made, and how often.
    pub made: Vec<(String, &'static str)>,
    /// The operations that need what is in it, and how many fields.
    pub needed: Vec<(String, usize)>,
}

/// What has fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Data {
    Box(SumId, u32),
    Vector(VectorId),
}

impl Data {
    fn fields(self, code: &ssa::Program) -> &[Type] {
        match self {
            Data::Box(sum, tag) => code.sums[sum].fields(tag),
            Data::Vector(vector) => &code.vectors[vector].fields,
        }
    }
    fn role(self, code: &ssa::Program) -> Role {
        match self {
            Data::Box(..) if self.name(code) == CHECKPOINT => Role::Checkpoint,
            Data::Box(sum, tag) if code.sums[sum].alternatives[tag as usize].is_of_tape() => Role::Tape,
            Data::Vector(_) if self.name(code) == tape_vectors::NAME => Role::Tape,
            Data::Vector(_) if self.name(code) == parallelize::NAME => Role::Rounds,
            _ => Role::Data,
        }
    }
    fn name(self, code: &ssa::Program) -> &str {
        match self {
            Data::Box(sum, tag) => &code.sums[sum].alternatives[tag as usize].name,
            Data::Vector(vector) => &code.vectors[vector].name,
        }
    }
}

/// All kinds of boxes and vectors that the code makes.
pub fn kinds(code: &ssa::Program, sources: &SourceMap) -> Vec<Kind> {
    let mut made: BTreeMap<Data, Vec<(String, &'static str)>> = BTreeMap::new();
    let mut needs: FxHashMap<Data, Vec<(u32, String)>> = FxHashMap::default();
    // What runs rounds again makes what the loop has made.
    for (id, function) in code.functions.iter().filter(|(_, function)| !function.name.starts_with(CHECKPOINT)) {
        let users = users(function, sources);
        let looping = looping(function);
        for (block, data) in function.blocks.iter() {
            for inst in &data.insts {
                let (of, read) = match inst.op {
                    Op::Box(sum, tag) => (Data::Box(sum, tag), None),
                    Op::NewVector(vector) | Op::NewRow(vector) => (Data::Vector(vector), None),
                    Op::Field(sum, tag, field) => (Data::Box(sum, tag), Some(field)),
                    Op::Element(vector, field) | Op::TakeElement(vector, field) => (Data::Vector(vector), Some(field)),
                    _ => continue,
                };
                if let Some(field) = read {
                    let users = users.get(&inst.results[0]).into_iter().flatten();
                    needs.entry(of).or_default().extend(users.map(|user| (field, user.clone())));
                    continue;
                }
                let at = inst.span.map_or_else(|| function.name.to_string(), |source| sources.place(source.span));
                let often = if of.name(code) == CHECKPOINT {
                    "where a tape takes too much memory"
                } else {
                    often(code, id, looping[block])
                };
                let all = made.entry(of).or_default();
                if !all.contains(&(at.clone(), often)) {
                    all.push((at, often));
                }
            }
        }
    }
    let describe = |(of, made): (Data, Vec<(String, &'static str)>)| {
        let fields = of.fields(code);
        let count = |wanted: Type| fields.iter().filter(|ty| **ty == wanted).count();
        let (numbers, pointers) = (count(Type::F64), count(Type::Ptr));
        let mut needed: BTreeMap<String, FxHashSet<u32>> = BTreeMap::new();
        for (field, user) in needs.remove(&of).unwrap_or_default() {
            needed.entry(user).or_default().insert(field);
        }
        let is_vector = matches!(of, Data::Vector(_));
        let words = match of {
            Data::Vector(_) => fields.len(),
            Data::Box(..) => layout::class_words(layout::class_of(layout::header_words(pointers) + fields.len())),
        };
        Kind {
            name: of.name(code).to_string(),
            role: of.role(code),
            is_vector,
            numbers,
            others: fields.len() - numbers,
            bytes: words * layout::WORD,
            made,
            needed: needed.into_iter().map(|(user, fields)| (user, fields.len())).collect(),
        }
    };
    made.into_iter().filter(|(of, _)| !of.fields(code).is_empty()).map(describe).collect()
}

/// The arithmetic operations that use each value, with their places.
fn users(function: &Function, sources: &SourceMap) -> FxHashMap<Value, Vec<String>> {
    let mut users: FxHashMap<Value, Vec<String>> = FxHashMap::default();
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        if let (Op::Real1(_) | Op::Real2(_) | Op::Compare(_), Some(Source { span, .. })) = (inst.op, inst.span) {
            let user = format!("`{}` at {}", shortened(one_line(sources.text(span))), sources.place(span));
            inst.args.iter().for_each(|arg| users.entry(*arg).or_default().push(user.clone()));
        }
    }
    users
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The blocks that control can come back to within a call.
fn looping(function: &Function) -> EntityVec<BlockId, bool> {
    let mut looping = function.blocks.same_ids(false);
    for start in reverse_postorder(function) {
        let mut seen = FxHashSet::default();
        let mut waiting = vec![start];
        while let Some(block) = waiting.pop() {
            for target in function.blocks[block].terminator.targets() {
                looping[start] |= target.block == start;
                if seen.insert(target.block) {
                    waiting.push(target.block);
                }
            }
        }
    }
    looping
}

/// How often a function makes a box.
fn often(code: &ssa::Program, id: FuncId, looping: bool) -> &'static str {
    let function = &code.functions[id];
    let calls_itself = |block: &ssa::Block| {
        block.insts.iter().any(|inst| inst.op == Op::Call(id))
            || matches!(block.terminator, Terminator::TailCall(callee, _) if callee == id)
    };
    match (looping, function.blocks.values().any(calls_itself)) {
        (true, _) => "for each round of a loop",
        (false, true) => "for each step of a recursion",
        (false, false) if code.main == Some(id) => "once",
        (false, false) => "for each call",
    }
}
