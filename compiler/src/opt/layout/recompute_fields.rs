//! Fields that follow from other fields are computed where they are read: SSA → SSA.
//!
//! ```text
//! v2 = sub v0, v1                          v2 = sub v0, v1          (and soon without v2: dead-across-calls)
//! v3 = box.sum0.0 v0, v1, v2         →     v3 = box.sum0.0 v0, v1, v2
//! ...                                      ...
//! v5 = field.sum0.0.2 v4                   v6 = field.sum0.0.0 v4
//!                                          v7 = field.sum0.0.1 v4
//!                                          v5 = sub v6, v7
//! ```
//!
//! A tape holds what the reverse phase mentions: operands and their negative, a number and its double, a value twice
//! because two backpropagators captured it. Memory costs more than arithmetic, so of these only what the others follow
//! from is kept. A field is recomputed when all boxes of its alternative, or all elements of its kind of vector, are
//! given the same expression of their other fields: at most [`MAX_OPERATIONS`] cheap operations, which are exact
//! repetitions of the ones in the builder, so the bits are the same.
//!
//! Invariant: an expression mentions only values that were computed before the field's, or fields with smaller
//! positions that hold the same value, so that no two fields follow from each other.
//!
//! The idea is the recomputation of Griewank and Walther's "Evaluating Derivatives" (taping by what is needed), decided
//! field by field.
//!
//! Tests: `tests/opt/recompute-fields/`.

use crate::base::EntityVec;
use crate::opt::analysis::holders::{Field, Holder, fills, holders, read_from, reads, stores};
use crate::opt::edit::rewrite::{Definitions, is_constant};
use crate::ssa::ir::{Function, Inst, Op, Program, Real1, Real2, Type, Value, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// What may be computed instead of being loaded.
const MAX_OPERATIONS: usize = 3;

/// How a field follows from others.
#[derive(Clone, Debug, PartialEq)]
enum Expression {
    /// The field at this position.
    Field(u32),
    Constant(Op),
    Operation(Op, Vec<Expression>),
}

impl Expression {
    fn operations(&self) -> usize {
        match self {
            Expression::Field(_) | Expression::Constant(_) => 0,
            // Value numbering leaves one of two equal operands.
            Expression::Operation(_, operands) if operands[1..].iter().all(|operand| *operand == operands[0]) => {
                1 + operands[0].operations()
            }
            Expression::Operation(_, operands) => 1 + operands.iter().map(Expression::operations).sum::<usize>(),
        }
    }
}

/// Treats the whole program.
pub fn run(program: &mut Program) -> bool {
    let plan = plan(program);
    if plan.is_empty() {
        return false;
    }
    let types: FxHashMap<Holder, Vec<Type>> =
        holders(program).map(|(holder, types)| (holder, types.to_vec())).collect();
    let mut changed = false;
    for function in program.functions.values_mut() {
        changed |= rewrite(function, &types, &plan);
    }
    changed
}

/// The fields to be recomputed.
fn plan(program: &Program) -> FxHashMap<Field, Expression> {
    // For all that has fields, their expressions that hold wherever these have been stored so far.
    let mut found: FxHashMap<Holder, Vec<Option<Expression>>> = FxHashMap::default();
    let mut filled: FxHashSet<Holder> = FxHashSet::default();
    for function in program.functions.values() {
        let definitions = Definitions::new(function);
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            if let Some(holder) = fills(inst.op) {
                filled.insert(holder);
            }
            let Some((holder, first)) = stores(inst.op) else { continue };
            let site = Site::new(function, &definitions, &inst.args[first..]);
            let here = (0..site.args.len()).map(|field| site.expression(field)).collect();
            found
                .entry(holder)
                .and_modify(|before| {
                    for (before, here) in before.iter_mut().zip::<&Vec<_>>(&here) {
                        if before != here {
                            *before = None;
                        }
                    }
                })
                .or_insert(here);
        }
    }
    let mut plan = FxHashMap::default();
    for (holder, expressions) in found.into_iter().filter(|(holder, _)| !filled.contains(holder)) {
        for (field, expression) in (0..).zip(resolve(&expressions)) {
            if let Some(expression) = expression {
                plan.insert((holder, field), expression);
            }
        }
    }
    plan
}

/// The expressions in terms of fields that have none, where they are short enough.
fn resolve(expressions: &[Option<Expression>]) -> Vec<Option<Expression>> {
    let mut resolved: Vec<Option<Option<Expression>>> = vec![None; expressions.len()];
    (0..expressions.len()).map(|field| resolve_field(field, expressions, &mut resolved)).collect()
}

fn resolve_field(
    field: usize,
    expressions: &[Option<Expression>],
    resolved: &mut [Option<Option<Expression>>],
) -> Option<Expression> {
    if let Some(known) = &resolved[field] {
        return known.clone();
    }
    let expression = expressions[field].as_ref().map(|expression| substitute(expression, expressions, resolved));
    let kept = expression.filter(|expression| expression.operations() <= MAX_OPERATIONS);
    resolved[field] = Some(kept.clone());
    kept
}

fn substitute(
    expression: &Expression,
    expressions: &[Option<Expression>],
    resolved: &mut [Option<Option<Expression>>],
) -> Expression {
    match expression {
        Expression::Field(field) => {
            resolve_field(*field as usize, expressions, resolved).unwrap_or_else(|| expression.clone())
        }
        Expression::Constant(_) => expression.clone(),
        Expression::Operation(op, operands) => {
            let operands = operands.iter().map(|operand| substitute(operand, expressions, resolved));
            Expression::Operation(*op, operands.collect())
        }
    }
}

/// A place where a box is made.
struct Site<'f> {
    function: &'f Function,
    definitions: &'f Definitions,
    args: &'f [Value],
    /// The first field with each value.
    fields: FxHashMap<Value, u32>,
}

impl<'f> Site<'f> {
    fn new(function: &'f Function, definitions: &'f Definitions, args: &'f [Value]) -> Site<'f> {
        let mut fields = FxHashMap::default();
        for (field, arg) in (0..).zip(args) {
            fields.entry(*arg).or_insert(field);
        }
        Site { function, definitions, args, fields }
    }

    /// How a field follows from others, if it does.
    fn expression(&self, field: usize) -> Option<Expression> {
        let value = self.args[field];
        if self.function.values[value] == Type::Ptr {
            return None;
        }
        match self.fields.get(&value) {
            Some(first) if (*first as usize) < field => Some(Expression::Field(*first)),
            _ => self.computed(value, MAX_OPERATIONS),
        }
    }

    /// The operation that computes a value, on values of fields and constants; at most so many deep.
    fn computed(&self, value: Value, depth: usize) -> Option<Expression> {
        let inst = self.definitions.inst(self.function, value)?;
        if is_constant(inst.op) {
            return Some(Expression::Constant(inst.op));
        }
        if !is_cheap(inst.op) || depth == 0 {
            return None;
        }
        let operand = |arg: &Value| match self.fields.get(arg) {
            Some(field) => Some(Expression::Field(*field)),
            None => self.computed(*arg, depth - 1),
        };
        Some(Expression::Operation(inst.op, inst.args.iter().map(operand).collect::<Option<_>>()?))
    }
}

/// What takes no longer than loading its result.
pub fn is_cheap(op: Op) -> bool {
    matches!(
        op,
        Op::Real1(Real1::Neg | Real1::Abs)
            | Op::Real2(Real2::Add | Real2::Sub | Real2::Mul)
            | Op::Compare(_)
            | Op::Int2(_)
            | Op::IntCompare(_)
            | Op::IntOf
            | Op::RealOf
            | Op::Not
            | Op::And
            | Op::Or
    )
}

fn rewrite(
    function: &mut Function,
    fields: &FxHashMap<Holder, Vec<Type>>,
    plan: &FxHashMap<Field, Expression>,
) -> bool {
    let mut changed = false;
    for block in function.blocks.values_mut() {
        let mut insts = Vec::with_capacity(block.insts.len());
        for inst in block.insts.drain(..) {
            let found = reads(inst.op).and_then(|field| Some((plan.get(&field)?, field.0)));
            let Some((expression, holder)) = found else {
                insts.push(inst);
                continue;
            };
            let types = &mut function.values;
            let mut reader = Reader { inst: &inst, fields: &fields[&holder], types, insts: &mut insts };
            reader.compute(expression, Some(inst.results[0]));
            changed = true;
        }
        block.insts = insts;
    }
    changed
}

/// A place where a field is read.
struct Reader<'f> {
    inst: &'f Inst,
    /// The types of the fields beside the one that is read.
    fields: &'f [Type],
    types: &'f mut EntityVec<Value, Type>,
    insts: &'f mut Vec<Inst>,
}

impl Reader<'_> {
    /// Computes an expression of fields of the box or element, as `result` or a new value.
    fn compute(&mut self, expression: &Expression, result: Option<Value>) -> Value {
        let (op, args, ty) = match expression {
            Expression::Field(field) => {
                (read_from(self.inst.op, *field), self.inst.args.clone(), self.fields[*field as usize])
            }
            Expression::Constant(op) => (*op, Values::new(), result_type(*op)),
            Expression::Operation(op, operands) => {
                let args = operands.iter().map(|operand| self.compute(operand, None)).collect();
                (*op, args, result_type(*op))
            }
        };
        let value = result.unwrap_or_else(|| self.types.push(ty));
        self.insts.push(Inst { op, args, results: smallvec![value], span: self.inst.span });
        value
    }
}

/// The type of what a constant or a cheap operation gives.
fn result_type(op: Op) -> Type {
    match op {
        Op::ConstReal(_) | Op::Real1(_) | Op::Real2(_) | Op::RealOf => Type::F64,
        Op::ConstInt(_) | Op::Int2(_) | Op::IntOf => Type::Int,
        Op::Immediate(..) => Type::Ptr,
        _ => Type::Bool,
    }
}
