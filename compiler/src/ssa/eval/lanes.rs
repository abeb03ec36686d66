//! Operations on two lanes in the evaluator of SSA.

use crate::ssa::arithmetic;
use crate::ssa::eval::{Datum, Error, Machine, broken};
use crate::ssa::ir::{Inst, LANES, Lanewise, Op, Value};

impl Machine<'_, '_> {
    pub(super) fn reals(&self, base: usize, value: Value) -> Result<[f64; LANES], Error> {
        match self.get(base, value)? {
            Datum::Reals(lanes) => Ok(*lanes),
            other => broken(format!("{value} is {other:?}, not a real in each lane")),
        }
    }

    fn truths(&self, base: usize, value: Value) -> Result<[bool; LANES], Error> {
        match self.get(base, value)? {
            Datum::Truths(lanes) => Ok(*lanes),
            other => broken(format!("{value} is {other:?}, not a truth value in each lane")),
        }
    }

    /// An operation that gives or takes lanes, those on vectors excepted.
    pub(super) fn lanes(&mut self, base: usize, inst: &Inst) -> Result<Datum, Error> {
        let args = &inst.args;
        Ok(match inst.op {
            Op::Splat => Datum::Reals([self.real(base, args[0])?; LANES]),
            Op::Pair => Datum::Reals([self.real(base, args[0])?, self.real(base, args[1])?]),
            Op::Lane(second) => Datum::Real(self.reals(base, args[0])?[usize::from(second)]),
            Op::AnyLane => Datum::Bool(self.truths(base, args[0])?.contains(&true)),
            Op::Lanes(op) => self.lanewise(base, op, args)?,
            op => return broken(format!("`{op}` is no operation on lanes")),
        })
    }

    fn lanewise(&mut self, base: usize, op: Lanewise, args: &[Value]) -> Result<Datum, Error> {
        Ok(match op {
            Lanewise::Real1(op) => {
                self.counts.real1[op as usize] += LANES as u64;
                Datum::Reals(self.reals(base, args[0])?.map(|x| arithmetic::real1(op, x)))
            }
            Lanewise::Real2(op) => {
                self.counts.real2[op as usize] += LANES as u64;
                let ([x0, x1], [y0, y1]) = (self.reals(base, args[0])?, self.reals(base, args[1])?);
                Datum::Reals([arithmetic::real2(op, x0, y0), arithmetic::real2(op, x1, y1)])
            }
            Lanewise::Compare(op) => {
                self.counts.compares += LANES as u64;
                let ([x0, x1], [y0, y1]) = (self.reals(base, args[0])?, self.reals(base, args[1])?);
                Datum::Truths([arithmetic::compare(op, x0, y0), arithmetic::compare(op, x1, y1)])
            }
            Lanewise::RealIs(bits) => Datum::Truths(self.reals(base, args[0])?.map(|x| x.to_bits() == bits)),
            Lanewise::Not => Datum::Truths(self.truths(base, args[0])?.map(|x| !x)),
            Lanewise::And | Lanewise::Or => {
                let (x, y) = (self.truths(base, args[0])?, self.truths(base, args[1])?);
                let is_and = op == Lanewise::And;
                Datum::Truths([0, 1].map(|lane| if is_and { x[lane] & y[lane] } else { x[lane] | y[lane] }))
            }
            Lanewise::Select => {
                let (which, x, y) =
                    (self.truths(base, args[0])?, self.reals(base, args[1])?, self.reals(base, args[2])?);
                Datum::Reals([0, 1].map(|lane| if which[lane] { x[lane] } else { y[lane] }))
            }
        })
    }
}
