//! A cursor that appends code to one function.
//!
//! Types of results follow from the operation, so producers state operations and operands only:
//!
//! ```text
//! let mut b = Builder::new(&mut function);
//! let square = b.real2(Real2::Mul, x, x);
//! b.ret(vec![square]);
//! ```

use crate::ssa::ir::{
    BlockId, Compare, FuncId, Function, Inst, Op, Program, Real1, Real2, Source, Target, Terminator, TextId, Type,
    Value,
};
use crate::ssa::signature::signature;

/// Appends instructions at the end of its current block.
#[derive(Debug)]
pub struct Builder<'f> {
    /// The function that grows.
    pub function: &'f mut Function,
    /// Where the next instruction goes.
    pub block: BlockId,
    /// The source of the next instructions.
    pub span: Option<Source>,
}

impl<'f> Builder<'f> {
    /// A cursor at the end of the entry block.
    pub fn new(function: &'f mut Function) -> Builder<'f> {
        Builder { function, block: Function::ENTRY, span: None }
    }
    /// Continues at the end of `block`.
    pub fn switch_to(&mut self, block: BlockId) {
        self.block = block;
    }
    /// A new block with parameters of the given types; the cursor stays.
    pub fn new_block(&mut self, params: &[Type]) -> BlockId {
        self.function.new_block(params)
    }
    /// The parameters of a block.
    pub fn block_params(&self, block: BlockId) -> Vec<Value> {
        self.function.blocks[block].params.clone()
    }

    /// Appends an operation with results of the given types.
    pub fn inst(&mut self, op: Op, args: &[Value], results: &[Type]) -> Vec<Value> {
        let results: Vec<Value> = results.iter().map(|ty| self.function.values.push(*ty)).collect();
        let inst = Inst { op, args: args.into(), results: results.clone().into(), span: self.span };
        self.function.blocks[self.block].insts.push(inst);
        results
    }
    /// Appends an operation whose result types `program` knows (calls, boxes, fields, globals and all others).
    pub fn op(&mut self, program: &Program, op: Op, args: &[Value]) -> Vec<Value> {
        let chosen = args.last().map_or(Type::F64, |v| self.function.values[*v]);
        let signature = signature(program, op, chosen).expect("producers name existing entities");
        self.inst(op, args, &signature.results)
    }
    /// Appends an operation with one result of type `ty`.
    pub fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.inst(op, args, &[ty])[0]
    }
    /// A constant real.
    pub fn real(&mut self, x: f64) -> Value {
        self.value(Op::ConstReal(x.to_bits()), &[], Type::F64)
    }
    /// A constant truth value.
    pub fn boolean(&mut self, x: bool) -> Value {
        self.value(Op::ConstBool(x), &[], Type::Bool)
    }
    /// A constant integer.
    pub fn int(&mut self, x: i64) -> Value {
        self.value(Op::ConstInt(x), &[], Type::Int)
    }
    /// An operation on one real.
    pub fn real1(&mut self, op: Real1, x: Value) -> Value {
        self.value(Op::Real1(op), &[x], Type::F64)
    }
    /// An operation on two reals.
    pub fn real2(&mut self, op: Real2, x: Value, y: Value) -> Value {
        self.value(Op::Real2(op), &[x, y], Type::F64)
    }
    /// A comparison.
    pub fn compare(&mut self, op: Compare, x: Value, y: Value) -> Value {
        self.value(Op::Compare(op), &[x, y], Type::Bool)
    }

    /// Ends the current block.
    pub fn terminate(&mut self, terminator: Terminator) {
        self.function.blocks[self.block].terminator = terminator;
    }
    /// Ends the current block with a jump.
    pub fn jump(&mut self, block: BlockId, args: Vec<Value>) {
        self.terminate(Terminator::Jump(Target { block, args }));
    }
    /// Ends the current block with a two-way choice.
    pub fn branch(&mut self, condition: Value, yes: Target, no: Target) {
        self.terminate(Terminator::Branch(condition, yes, no));
    }
    /// Ends the current block with a return.
    pub fn ret(&mut self, values: Vec<Value>) {
        self.terminate(Terminator::Return(values));
    }
    /// Ends the current block with a tail call.
    pub fn tail_call(&mut self, callee: FuncId, args: Vec<Value>) {
        self.terminate(Terminator::TailCall(callee, args));
    }
    /// Ends the current block with a run-time error.
    pub fn fail(&mut self, text: TextId) {
        self.terminate(Terminator::Fail(text, self.span));
    }
}
