//! Loops that end because their first rounds are known: see the module above.
//!
//! A loop that begins with constants is executed, with what else there is unknown; a test of something unknown leads
//! both ways. If all ways are out of the loop after a few steps, it ends. Loops over short literals are such, where
//! tests tell their elements apart.

use super::{Code, Loop};
use crate::ssa::arithmetic;
use crate::ssa::ir::{BlockId, Op, Target, Terminator, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// How many blocks are executed at most.
const BUDGET: usize = 100;

/// A value that is known.
#[derive(Clone, Copy)]
enum Known {
    Real(f64),
    Int(i64),
    Bool(bool),
}

type Env = FxHashMap<Value, Known>;

impl Code<'_> {
    /// Whether the rounds of a loop are few and known.
    pub(super) fn is_short(&self, around: &Loop<'_>) -> bool {
        let mut budget = BUDGET;
        around.starts.iter().all(|start| {
            let env = self.enter(start, &Env::default());
            !env.is_empty() && self.is_left_soon(around, env, &mut budget)
        })
    }

    fn is_left_soon(&self, around: &Loop<'_>, env: Env, budget: &mut usize) -> bool {
        let mut waiting = vec![(around.header, env)];
        while let Some((block, mut env)) = waiting.pop() {
            if *budget == 0 {
                return false;
            }
            *budget -= 1;
            let block = &self.function.blocks[block];
            for inst in &block.insts {
                if let [result] = inst.results[..]
                    && let Some(known) = self.compute(inst.op, &inst.args, &env)
                {
                    env.insert(result, known);
                }
            }
            let targets: SmallVec<[&Target; 2]> = match &block.terminator {
                Terminator::Branch(condition, yes, no) => match self.known(*condition, &env) {
                    Some(Known::Bool(holds)) => smallvec![if holds { yes } else { no }],
                    _ => smallvec![yes, no],
                },
                Terminator::Switch(value, targets) => match self.known(*value, &env) {
                    Some(Known::Int(tag)) => {
                        usize::try_from(tag).ok().and_then(|tag| targets.get(tag)).into_iter().collect()
                    }
                    _ => targets.iter().collect(),
                },
                terminator => terminator.targets(),
            };
            for target in targets.into_iter().filter(|target| around.body[target.block]) {
                waiting.push((target.block, self.enter(target, &env)));
            }
        }
        true
    }

    /// What is known in a block that is entered.
    fn enter(&self, target: &Target, env: &Env) -> Env {
        let passed: Vec<Option<Known>> = target.args.iter().map(|arg| self.known(*arg, env)).collect();
        let mut env = env.clone();
        for (param, known) in self.params(target.block).iter().zip(passed) {
            match known {
                Some(known) => drop(env.insert(*param, known)),
                None => drop(env.remove(param)),
            }
        }
        env
    }

    fn params(&self, block: BlockId) -> &[Value] {
        &self.function.blocks[block].params
    }

    fn known(&self, value: Value, env: &Env) -> Option<Known> {
        env.get(&value).copied().or_else(|| match self.definitions.op(self.function, value)? {
            Op::ConstReal(bits) => Some(Known::Real(f64::from_bits(bits))),
            Op::ConstInt(x) => Some(Known::Int(x)),
            Op::ConstBool(x) => Some(Known::Bool(x)),
            _ => None,
        })
    }

    fn compute(&self, op: Op, args: &[Value], env: &Env) -> Option<Known> {
        let real = |position: usize| match self.known(args[position], env)? {
            Known::Real(x) => Some(x),
            _ => None,
        };
        let int = |position: usize| match self.known(args[position], env)? {
            Known::Int(x) => Some(x),
            _ => None,
        };
        let bool = |position: usize| match self.known(args[position], env)? {
            Known::Bool(x) => Some(x),
            _ => None,
        };
        match op {
            Op::Real1(op) => Some(Known::Real(arithmetic::real1(op, real(0)?))),
            Op::Real2(op) => Some(Known::Real(arithmetic::real2(op, real(0)?, real(1)?))),
            Op::Compare(op) => Some(Known::Bool(arithmetic::compare(op, real(0)?, real(1)?))),
            Op::RealIs(bits) => Some(Known::Bool(real(0)?.to_bits() == bits)),
            Op::Not => Some(Known::Bool(!bool(0)?)),
            Op::And => match (bool(0), bool(1)) {
                (Some(false), _) | (_, Some(false)) => Some(Known::Bool(false)),
                (x, y) => Some(Known::Bool(x? && y?)),
            },
            Op::Or => match (bool(0), bool(1)) {
                (Some(true), _) | (_, Some(true)) => Some(Known::Bool(true)),
                (x, y) => Some(Known::Bool(x? || y?)),
            },
            Op::IntIs(number) => Some(Known::Bool(int(0)? == number)),
            Op::Int2(op) => Some(Known::Int(arithmetic::int2(op, int(0)?, int(1)?))),
            Op::IntCompare(op) => Some(Known::Bool(arithmetic::int_compare(op, int(0)?, int(1)?))),
            Op::RealOf => arithmetic::real_of(int(0)?).map(Known::Real),
            Op::Select => self.known(args[if bool(0)? { 1 } else { 2 }], env),
            _ => None,
        }
    }
}
