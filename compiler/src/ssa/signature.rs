//! The types of what operations take and give: the comments of [`Op`], as a function.

use crate::ssa::ir::{Lanewise, Op, Piece, Program, Type};

/// Operand and result types of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The types of the operands.
    pub operands: Vec<Type>,
    /// The types of the results.
    pub results: Vec<Type>,
}

/// The signature of `op`. `chosen` stands for the `T` of [`Op::Select`] and [`Op::Opaque`], whose operands decide.
///
/// `None` when `op` names a function, sum, alternative, vector, field or cell that the program does not have.
pub fn signature(program: &Program, op: Op, chosen: Type) -> Option<Signature> {
    use Type::{Bool, Boolx2, F64, F64x2, Int, Ptr};
    let fields = |sum, tag: u32| Some(program.sums.get(sum)?.alternatives.get(tag as usize)?.fields.clone());
    let (operands, results) = match op {
        Op::ConstReal(_) => (vec![], vec![F64]),
        Op::ConstBool(_) => (vec![], vec![Bool]),
        Op::ConstInt(_) => (vec![], vec![Int]),
        Op::Immediate(sum, tag) => (fields(sum, tag)?, vec![Ptr]),
        Op::Real1(_) => (vec![F64], vec![F64]),
        Op::Real2(_) => (vec![F64, F64], vec![F64]),
        Op::Compare(_) => (vec![F64, F64], vec![Bool]),
        Op::Not => (vec![Bool], vec![Bool]),
        Op::And | Op::Or => (vec![Bool, Bool], vec![Bool]),
        Op::RealIs(_) => (vec![F64], vec![Bool]),
        Op::IntIs(_) => (vec![Int], vec![Bool]),
        Op::Int2(_) => (vec![Int, Int], vec![Int]),
        Op::IntCompare(_) => (vec![Int, Int], vec![Bool]),
        Op::IntOf => (vec![F64], vec![Int]),
        Op::RealOf => (vec![Int], vec![F64]),
        Op::Select => (vec![Bool, chosen, chosen], vec![chosen]),
        Op::Opaque => (vec![chosen], vec![chosen]),
        Op::Call(callee) => {
            let callee = program.functions.get(callee)?;
            (callee.param_types(), callee.results.clone())
        }
        Op::Box(sum, tag) => (fields(sum, tag)?, vec![Ptr]),
        Op::Tag(sum) => {
            program.sums.get(sum)?;
            (vec![Ptr], vec![Int])
        }
        Op::HasTag(sum, tag) => {
            fields(sum, tag)?;
            (vec![Ptr], vec![Bool])
        }
        Op::Field(sum, tag, field) => (vec![Ptr], vec![*fields(sum, tag)?.get(field as usize)?]),
        Op::NewVector(vector) => {
            program.vectors.get(vector)?;
            (vec![Int], vec![Ptr])
        }
        Op::NewRows(vector) | Op::NewRow(vector) => {
            if program.vectors.get(vector)?.fields.contains(&Ptr) {
                return None;
            }
            (if matches!(op, Op::NewRows(_)) { vec![Int, Int] } else { vec![Ptr, Int, Int] }, vec![Ptr])
        }
        Op::Element(vector, field) | Op::TakeElement(vector, field) => {
            (vec![Ptr, Int, Int], vec![*program.vectors.get(vector)?.fields.get(field as usize)?])
        }
        Op::WithElement(vector) => {
            let fields = program.vectors.get(vector)?.fields.iter();
            ([Ptr, Int, Int].iter().chain(fields).copied().collect(), vec![Ptr])
        }
        Op::Lanes(op) => match op {
            Lanewise::Real1(_) => (vec![F64x2], vec![F64x2]),
            Lanewise::Real2(_) => (vec![F64x2, F64x2], vec![F64x2]),
            Lanewise::Compare(_) => (vec![F64x2, F64x2], vec![Boolx2]),
            Lanewise::Not => (vec![Boolx2], vec![Boolx2]),
            Lanewise::And | Lanewise::Or => (vec![Boolx2, Boolx2], vec![Boolx2]),
            Lanewise::RealIs(_) => (vec![F64x2], vec![Boolx2]),
            Lanewise::Select => (vec![Boolx2, F64x2, F64x2], vec![F64x2]),
        },
        Op::Splat => (vec![F64], vec![F64x2]),
        Op::Pair => (vec![F64, F64], vec![F64x2]),
        Op::Lane(_) => (vec![F64x2], vec![F64]),
        Op::AnyLane => (vec![Boolx2], vec![Bool]),
        Op::Elements(vector, field) => match program.vectors.get(vector)?.fields.get(field as usize)? {
            F64 => (vec![Ptr, Int, Int], vec![F64x2]),
            _ => return None,
        },
        Op::WithElements(vector) => {
            let fields = &program.vectors.get(vector)?.fields;
            if fields.iter().any(|ty| *ty != F64) {
                return None;
            }
            ([Ptr, Int, Int].into_iter().chain(fields.iter().map(|_| F64x2)).collect(), vec![Ptr])
        }
        Op::GlobalGet(slot) => (vec![], vec![*program.slots.get(slot)?]),
        Op::GlobalSet(slot) => (vec![*program.slots.get(slot)?], vec![]),
        Op::IsSet(slot) => match program.slots.get(slot)? {
            Bool => (vec![], vec![Bool]),
            _ => return None,
        },
        Op::Read(_, text) => {
            program.texts.get(text)?;
            (vec![], vec![F64])
        }
        Op::Argument(_) => (vec![], vec![F64]),
        Op::Result(Piece::Array) => (vec![F64, F64], vec![]),
        Op::Result(_) | Op::WriteReal(_) | Op::WriteByte | Op::WriteDouble | Op::Progress => (vec![F64], vec![]),
        Op::WriteText(_, text) => {
            program.texts.get(text)?;
            (vec![], vec![])
        }
        Op::WriteTextOf(_) => (vec![Int], vec![]),
        Op::Vacant(ty) => (vec![], vec![ty]),
        Op::Hole(sum, tag, field) => {
            fields(sum, tag)?.get(field as usize)?;
            (vec![Ptr], vec![Int])
        }
        Op::Fill(ty) => (vec![Int, ty], vec![]),
        Op::IsShared(callee) => (program.functions.get(callee)?.param_types(), vec![Bool]),
        Op::Recall(callee) => {
            let callee = program.functions.get(callee)?;
            (callee.param_types(), std::iter::once(Bool).chain(callee.results.iter().copied()).collect())
        }
        Op::Remember(callee) => {
            let callee = program.functions.get(callee)?;
            (callee.param_types().into_iter().chain(callee.results.iter().copied()).collect(), vec![])
        }
        Op::Forget => (vec![], vec![]),
        Op::Retain | Op::Release => (vec![Ptr], vec![]),
    };
    Some(Signature { operands, results })
}
