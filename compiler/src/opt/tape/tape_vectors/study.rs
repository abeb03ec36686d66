//! How what is put on a tape follows from the place of its node.
//!
//! An expression repeats operations of the loop that builds the tape, on its counter and on what does not change in it.
//! So its bits are the same, and it is computed only where the original has been: fields of a box behind the test of
//! its tag.

use super::{Builder, Expression, HeldBox, Reader};
use crate::opt::analysis::loops::{Code, same};
use crate::opt::edit::rewrite::is_constant;
use crate::opt::layout::recompute_fields::is_cheap;
use crate::ssa::ir::{BlockId, FuncId, Function, Inst, Op, Program, SumId, Terminator, Type, Value};
use rustc_hash::FxHashSet;

/// So many operations compute what would be one field, whatever the others are.
const FEW: usize = 4;

/// So many operations compute what would be one of several fields that share most of their operations.
const MOST: usize = 10;

/// So many different operations there may be for each field then.
const MOST_FOR_EACH: usize = 4;

/// Whether fields are computed with fewer operations than keeping them is worth, taken together.
fn are_worth_it<'e>(fields: impl Iterator<Item = &'e Expression>) -> bool {
    let (mut distinct, mut number) = (Vec::new(), 0);
    for expression in fields {
        count(expression, &mut distinct);
        number += 1;
    }
    distinct.len() <= MOST_FOR_EACH * number
}

/// Lists the different operations in an expression, constants excepted.
fn count<'e>(expression: &'e Expression, distinct: &mut Vec<&'e Expression>) {
    if let Expression::Operation(op, _, operands) = expression
        && !is_constant(*op)
        && !distinct.contains(&expression)
    {
        distinct.push(expression);
        operands.iter().for_each(|operand| count(operand, distinct));
    }
}

/// The loop that puts values on a tape.
pub(super) struct Rounds<'f> {
    pub program: &'f Program,
    pub code: &'f Code<'f>,
    pub header: BlockId,
    pub body: &'f FxHashSet<BlockId>,
    /// The blocks that carry the tape, if it stays in the function.
    pub known: Option<Vec<BlockId>>,
}

/// What is known about the values that a builder puts on its tape.
pub(super) struct Study<'f> {
    pub rounds: Rounds<'f>,
    pub builder: &'f Builder,
}

impl Rounds<'_> {
    /// Whether a vector may be changed, perhaps under another name, after the tape has been begun: it would have to be
    /// kept as it was for those who read the tape.
    pub fn may_change(&self, vector: Value) -> bool {
        let Some(home) = self.code.homes.get(vector) else { return true };
        let (mut seen, mut waiting) = (FxHashSet::default(), vec![self.header]);
        while let Some(id) = waiting.pop() {
            let block = &self.code.function.blocks[id];
            let targets = block.terminator.targets();
            let is_change = |inst: &Inst| match inst.op {
                Op::WithElement(_) => inst.args[0] == vector,
                Op::Call(callee) => self.is_changed_by(inst, callee, vector),
                _ => false,
            };
            // Behind the loop, another name that is changed costs one copy; in it, one in each round.
            let is_renamed = self.body.contains(&id) && targets.iter().any(|to| to.args.contains(&vector));
            if is_renamed || block.insts.iter().any(is_change) {
                return true;
            }
            // Where it is defined, it is another one.
            let onward = targets.iter().map(|target| target.block).filter(|target| *target != home);
            waiting.extend(onward.filter(|target| seen.insert(*target)));
        }
        false
    }

    /// Whether a function that gets a vector may change it, or does anything with it but reading it and handing it on.
    fn is_changed_by(&self, call: &Inst, callee: FuncId, vector: Value) -> bool {
        let handed = |args: &[Value], vector: Value| -> Vec<usize> {
            (0..args.len()).filter(|position| args[*position] == vector).collect()
        };
        let first = handed(&call.args, vector).into_iter().map(|position| (callee, position));
        let mut waiting: Vec<(FuncId, usize)> = first.collect();
        let mut seen: FxHashSet<(FuncId, usize)> = waiting.iter().copied().collect();
        while let Some((callee, position)) = waiting.pop() {
            let function = &self.program.functions[callee];
            let vector = function.blocks[Function::ENTRY].params[position];
            for block in function.blocks.values() {
                for inst in &block.insts {
                    match inst.op {
                        Op::Element(..) => {}
                        Op::Call(next) => {
                            let more = handed(&inst.args, vector).into_iter().map(|position| (next, position));
                            waiting.extend(more.filter(|place| seen.insert(*place)));
                        }
                        _ if inst.args.contains(&vector) => return true,
                        _ => {}
                    }
                }
                let mut is_used = false;
                let mut terminator = block.terminator.clone();
                terminator.for_each_use(|value| is_used |= *value == vector);
                if is_used {
                    return true;
                }
            }
        }
        false
    }

    /// Whether a value is the same in all rounds.
    pub fn is_fixed(&self, value: Value) -> bool {
        self.code.homes.get(value).is_some_and(|home| !self.body.contains(&home))
    }

    /// Whether a value is the same, and at hand, wherever the tape is read.
    pub fn is_known(&self, value: Value) -> bool {
        let (Some(carrying), Some(home)) = (&self.known, self.code.homes.get(value)) else { return false };
        let graph = &self.code.graph;
        graph.is_reachable(home) && carrying.iter().all(|block| *block != home && graph.dominates(home, *block))
    }
}

impl Study<'_> {
    /// How the fields of a node follow from its place, those that are better computed again than kept.
    pub fn fields(&self, values: &[Value]) -> Vec<Option<Expression>> {
        let few: Vec<_> = values.iter().map(|value| self.expression(*value, FEW)).collect();
        let more = values.iter().zip(&few).map(|(value, few)| few.is_none().then(|| self.expression(*value, MOST))?);
        let more: Vec<_> = more.collect();
        let are_worth_it = are_worth_it(more.iter().flatten());
        few.into_iter().zip(more).map(|(few, more)| few.or(more.filter(|_| are_worth_it))).collect()
    }

    /// How a value follows from the place of its node, in at most so many operations.
    fn expression(&self, value: Value, most: usize) -> Option<Expression> {
        let mut left = most;
        self.within(value, &mut left)
    }

    fn within(&self, value: Value, left: &mut usize) -> Option<Expression> {
        if value == self.builder.counter {
            return Some(Expression::Counter);
        }
        let inst = self.rounds.code.definitions.inst(self.rounds.code.function, value);
        let ty = self.rounds.code.function.values[value];
        match inst {
            Some(inst) if is_constant(inst.op) && ty != Type::Ptr => {
                return Some(Expression::Operation(inst.op, ty, Vec::new()));
            }
            _ if self.rounds.is_known(value) => return Some(Expression::Known(value)),
            _ if self.rounds.is_fixed(value) => return Some(Expression::Held(value)),
            _ => {}
        }
        *left = left.checked_sub(1)?;
        let Some(inst) = inst else {
            let operands = self.selection(value).filter(|_| ty != Type::Ptr)?;
            let operands = operands.into_iter().map(|operand| self.within(operand, left));
            return Some(Expression::Operation(Op::Select, ty, operands.collect::<Option<_>>()?));
        };
        let is_read = matches!(inst.op, Op::Element(..)) && !self.rounds.may_change(inst.args[0]);
        let is_test = matches!(inst.op, Op::IntIs(_) | Op::RealIs(_));
        if !is_cheap(inst.op) && !is_read && !is_test {
            return None;
        }
        let operands = inst.args.iter().map(|arg| self.within(*arg, left)).collect::<Option<Vec<_>>>()?;
        // The vector itself is there, or it is an element of one that is.
        let is_at_hand = |vector: &Expression| {
            matches!(vector, Expression::Known(_) | Expression::Held(_) | Expression::Operation(Op::Element(..), ..))
        };
        if is_read && !is_at_hand(&operands[0]) {
            return None;
        }
        Some(Expression::Operation(inst.op, ty, operands))
    }

    /// The condition and both values of a parameter that a branch gives one of two values.
    fn selection(&self, value: Value) -> Option<[Value; 3]> {
        let code = self.rounds.code;
        let home = code.homes.get(value)?;
        let position = code.function.blocks[home].params.iter().position(|param| *param == value)?;
        let from = same(code.graph.predecessors[home].iter())?;
        let Terminator::Branch(condition, yes, no) = &code.function.blocks[*from].terminator else { return None };
        let both = yes.block == home && no.block == home && home != self.builder.header;
        both.then(|| [*condition, yes.args[position], no.args[position]])
    }

    /// What boxes that a node holds, in a field of it, have been given by the loop: each whose fields all follow from
    /// the place of the node, if nobody looks at them but the loops that read the tape.
    pub fn boxes(&self, held: Value, field: u32, readers: &[Reader], read: Op) -> Vec<HeldBox> {
        let Some(made) = self.origins(held) else { return Vec::new() };
        let mut found = Vec::new();
        for inst in &made {
            let Op::Box(sum, tag) = inst.op else { continue };
            let is_only = made.iter().filter(|other| other.op == inst.op).count() == 1;
            let fields = inst.args.iter().map(|arg| self.expression(*arg, MOST));
            let Some(fields) = fields.collect::<Option<Vec<_>>>().filter(|_| is_only) else { continue };
            if are_worth_it(fields.iter()) && !fields.is_empty() && self.is_read_by(sum, tag, readers, read) {
                found.push(HeldBox { field, sum, tag, fields });
            }
        }
        found
    }

    /// The instructions that make what a value of the loop is, if all are in it and in the same round.
    fn origins(&self, value: Value) -> Option<Vec<&Inst>> {
        let code = self.rounds.code;
        let (mut seen, mut waiting) = (FxHashSet::from_iter([value]), vec![value]);
        let mut found = Vec::new();
        while let Some(value) = waiting.pop() {
            let home = code.homes.get(value).filter(|home| self.builder.body.contains(home))?;
            if let Some(inst) = code.definitions.inst(code.function, value) {
                if !matches!(inst.op, Op::Box(..) | Op::Immediate(..)) {
                    return None;
                }
                found.push(inst);
                continue;
            }
            if home == self.builder.header {
                return None;
            }
            let position = code.function.blocks[home].params.iter().position(|param| *param == value)?;
            for from in &code.graph.predecessors[home] {
                let targets = code.function.blocks[*from].terminator.targets();
                let passed = targets.into_iter().filter(|target| target.block == home);
                waiting.extend(passed.map(|target| target.args[position]).filter(|value| seen.insert(*value)));
            }
        }
        Some(found)
    }

    /// Whether the fields of an alternative are read, and all of them by these loops, of what they have just read from
    /// the tape by `read`.
    fn is_read_by(&self, sum: SumId, tag: u32, readers: &[Reader], read: Op) -> bool {
        let mut reads = 0;
        for (id, function) in self.rounds.program.functions.iter() {
            let mut held: FxHashSet<Value> = FxHashSet::default();
            let here: Vec<&Reader> = readers.iter().filter(|reader| reader.function == id).collect();
            for inst in function.blocks.values().flat_map(|block| &block.insts) {
                if inst.op == read && here.iter().any(|reader| reader.tape == inst.args[0]) {
                    held.insert(inst.results[0]);
                }
            }
            for (block, data) in function.blocks.iter() {
                let is_inside = here.iter().any(|reader| reader.body.contains(&block));
                for inst in &data.insts {
                    if matches!(inst.op, Op::Field(of, other, _) if of == sum && other == tag) {
                        if !is_inside || !held.contains(&inst.args[0]) {
                            return false;
                        }
                        reads += 1;
                    }
                }
            }
        }
        reads > 0
    }

    /// Lists what an expression needs that is not at hand where the tape is read.
    pub fn hold(&self, expression: &Expression, held: &mut Vec<(Value, Type)>) {
        let value = match expression {
            Expression::Held(value) => *value,
            Expression::Counter => {
                let first = self.builder.first;
                if self.builder.constant.is_some() || self.rounds.is_known(first) {
                    return;
                }
                first
            }
            Expression::Known(_) => return,
            Expression::Operation(_, _, operands) => {
                return operands.iter().for_each(|operand| self.hold(operand, held));
            }
        };
        if held.iter().all(|(other, _)| *other != value) {
            held.push((value, self.rounds.code.function.values[value]));
        }
    }
}
