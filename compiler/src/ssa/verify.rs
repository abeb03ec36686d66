//! The law of SSA. A program is well formed when:
//!
//! - `main` exists, has no parameters and no results;
//! - every entity that is mentioned (function, block, value, sum, alternative, vector, field, cell, text) exists;
//! - elements of vectors have fields;
//! - values of two lanes are in no box, vector or cell, and are passed between blocks of a function only;
//! - every value has exactly one definition, as parameter of a block or result of an instruction;
//! - every use in a reachable block is dominated by the definition;
//! - operands and results have the types of [`signature`]; `box` and `immediate` fit the alternative: the former has
//!   fields, the latter none;
//! - what is vacant is only an operand of `box`;
//! - jumps pass one value of the right type for each parameter; conditions are `bool`, switches are over `int`;
//! - nothing jumps to the entry block;
//! - returns and tail calls agree with the results of the function;
//! - `retain`, `release` and `take_element` appear only in stage [`Stage::Counted`].

use crate::base::EntityVec;
use crate::ssa::forms::{self, Form};
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, FuncId, Function, Inst, Op, Program, Target, Terminator, Type, Types, Value};
use crate::ssa::signature::signature;
use std::fmt;

/// Whether owners of boxes are counted explicitly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Before the pass that places `retain` and `release`.
    Pure,
    /// After it.
    Counted,
}

/// A violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The function and block, where there is one.
    pub place: Option<(FuncId, BlockId)>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((function, block)) => write!(f, "{function} {block}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// All violations of the law in `program`.
pub fn verify(program: &Program, stage: Stage) -> Result<(), Vec<Error>> {
    let mut errors = Vec::new();
    check_main(program, &mut errors);
    for (id, _) in program.vectors.iter().filter(|(_, vector)| vector.fields.is_empty()) {
        errors.push(Error { place: None, message: format!("the elements of {id} have no fields") });
    }
    check_lanes(program, &mut errors);
    for id in program.functions.ids() {
        verify_function(program, id, stage, &mut errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_main(program: &Program, errors: &mut Vec<Error>) {
    let message = match program.main.map(|id| program.functions.get(id)) {
        None => "there is no main function",
        Some(None) => "the main function does not exist",
        Some(Some(main)) if !main.results.is_empty() => "the main function has results",
        Some(Some(main)) if main.blocks.get(Function::ENTRY).is_some_and(|b| !b.params.is_empty()) => {
            "the main function has parameters"
        }
        Some(Some(_)) => return,
    };
    errors.push(Error { place: None, message: message.to_owned() });
}

fn check_lanes(program: &Program, errors: &mut Vec<Error>) {
    let mut check = |types: &[Type], what: fmt::Arguments| {
        if types.iter().any(|ty| ty.is_lanes()) {
            errors.push(Error { place: None, message: format!("{what} holds lanes") });
        }
    };
    for (id, sum) in program.sums.iter() {
        sum.alternatives.iter().for_each(|alternative| check(&alternative.fields, format_args!("{id}")));
    }
    program.vectors.iter().for_each(|(id, vector)| check(&vector.fields, format_args!("{id}")));
    program.slots.iter().for_each(|(id, ty)| check(&[*ty], format_args!("{id}")));
    for (id, function) in program.functions.iter().filter(|(_, function)| !function.blocks.is_empty()) {
        check(&function.param_types(), format_args!("a parameter of {id}"));
        check(&function.results, format_args!("a result of {id}"));
    }
}

/// Adds the violations in one function.
pub fn verify_function(program: &Program, id: FuncId, stage: Stage, errors: &mut Vec<Error>) {
    let function = &program.functions[id];
    let definitions = function.values.same_ids(None);
    let mut check = Check { program, function, id, stage, block: Function::ENTRY, definitions, errors };
    if function.blocks.is_empty() {
        return check.fail("the function has no blocks".to_owned());
    }
    let before = check.errors.len();
    check.targets();
    check.definitions();
    if check.errors.len() > before {
        return;
    }
    let graph = Graph::new(function);
    for block in graph.order.clone() {
        check.block = block;
        check.code(&graph);
    }
}

struct Check<'p> {
    program: &'p Program,
    function: &'p Function,
    id: FuncId,
    stage: Stage,
    block: BlockId,
    /// Block and position of each value's definition; parameters have position 0, instructions start at 1.
    definitions: EntityVec<Value, Option<(BlockId, usize)>>,
    errors: &'p mut Vec<Error>,
}

impl Check<'_> {
    fn fail(&mut self, message: String) {
        self.errors.push(Error { place: Some((self.id, self.block)), message });
    }

    fn targets(&mut self) {
        for (block, data) in self.function.blocks.iter() {
            self.block = block;
            for target in data.terminator.targets() {
                if self.function.blocks.get(target.block).is_none() {
                    self.fail(format!("jump to {}, which does not exist", target.block));
                } else if target.block == Function::ENTRY {
                    self.fail("jump to the entry block".to_owned());
                }
            }
        }
    }

    fn definitions(&mut self) {
        for (block, data) in self.function.blocks.iter() {
            self.block = block;
            let results =
                data.insts.iter().enumerate().flat_map(|(n, inst)| inst.results.iter().map(move |v| (*v, n + 1)));
            for (value, position) in data.params.iter().map(|v| (*v, 0)).chain(results) {
                match self.definitions.get(value) {
                    None => self.fail(format!("{value} does not exist")),
                    Some(Some(_)) => self.fail(format!("{value} is defined twice")),
                    Some(None) => self.definitions[value] = Some((block, position)),
                }
            }
        }
    }

    fn code(&mut self, graph: &Graph) {
        let block = &self.function.blocks[self.block];
        for (index, inst) in block.insts.iter().enumerate() {
            for value in &inst.args {
                self.is_available(graph, *value, index + 1);
                if !matches!(inst.op, Op::Box(..)) {
                    self.is_there(*value);
                }
            }
            self.inst(inst);
        }
        let end = block.insts.len() + 1;
        block.terminator.for_each_value(|value| {
            self.is_available(graph, value, end);
            self.is_there(value);
        });
        self.terminator(&block.terminator);
    }

    fn is_available(&mut self, graph: &Graph, value: Value, position: usize) {
        let Some(Some((block, defined))) = self.definitions.get(value).copied() else {
            return self.fail(format!("{value} is used but not defined"));
        };
        let available = if block == self.block {
            defined < position
        } else {
            graph.is_reachable(block) && graph.dominates(block, self.block)
        };
        if !available {
            self.fail(format!("{value} is used where its definition does not dominate"));
        }
    }

    fn is_there(&mut self, value: Value) {
        let Some(Some((block, position @ 1..))) = self.definitions.get(value).copied() else { return };
        if matches!(self.function.blocks[block].insts[position - 1].op, Op::Vacant(_)) {
            self.fail(format!("{value} is used and vacant"));
        }
    }

    fn types(&self, values: &[Value]) -> impl Iterator<Item = Type> {
        values.iter().filter_map(|v| self.function.values.get(*v)).copied()
    }

    fn expect_types(&mut self, what: fmt::Arguments, values: &[Value], expected: &[Type]) {
        if !self.types(values).eq(expected.iter().copied()) {
            let found: Vec<Type> = self.types(values).collect();
            self.fail(format!("{what}: expected types {expected:?}, found {found:?}"));
        }
    }

    fn inst(&mut self, inst: &Inst) {
        let chosen = inst.results.first().and_then(|v| self.function.values.get(*v)).copied().unwrap_or(Type::F64);
        let Some(signature) = signature(self.program, inst.op, chosen) else {
            return self.fail(format!("`{}` names something that does not exist", inst.op));
        };
        match inst.op {
            Op::Immediate(..) if !signature.operands.is_empty() => {
                return self.fail(format!("`{}` has fields", inst.op));
            }
            Op::Box(..) if signature.operands.is_empty() => {
                return self.fail(format!("`{}` has no fields and must be an immediate", inst.op));
            }
            op if self.stage == Stage::Pure && forms::of(op) == Some(Form::Counts) => {
                return self.fail(format!("`{}` before owners are counted", inst.op));
            }
            _ => {}
        }
        self.expect_types(format_args!("operands of `{}`", inst.op), &inst.args, &signature.operands);
        self.expect_types(format_args!("results of `{}`", inst.op), &inst.results, &signature.results);
    }

    fn terminator(&mut self, terminator: &Terminator) {
        match terminator {
            Terminator::Branch(condition, ..) => {
                self.expect_types(format_args!("condition"), &[*condition], &[Type::Bool])
            }
            Terminator::Switch(value, targets) => {
                self.expect_types(format_args!("switch"), &[*value], &[Type::Int]);
                if targets.is_empty() {
                    self.fail("switch without targets".to_owned());
                }
            }
            Terminator::Return(values) => self.expect_types(format_args!("return"), values, &self.function.results),
            Terminator::TailCall(callee, args) => self.tail_call(*callee, args),
            Terminator::Fail(text, _) if self.program.texts.get(*text).is_none() => {
                self.fail(format!("{text} does not exist"));
            }
            Terminator::Jump(_) | Terminator::Fail(..) | Terminator::Unreachable => {}
        }
        terminator.targets().into_iter().for_each(|target| self.target(target));
    }

    fn tail_call(&mut self, callee: FuncId, args: &[Value]) {
        let Some(function) = self.program.functions.get(callee) else {
            return self.fail(format!("{callee} does not exist"));
        };
        self.expect_types(format_args!("tail call"), args, &function.param_types());
        if function.results != self.function.results {
            self.fail(format!("tail call of {callee}, whose results differ"));
        }
    }

    fn target(&mut self, target: &Target) {
        let expected: Types = self.types(&self.function.blocks[target.block].params).collect();
        self.expect_types(format_args!("arguments of {}", target.block), &target.args, &expected);
    }
}
