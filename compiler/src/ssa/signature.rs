//! The types of what operations take and give: the comments of [`Op`], as a function.

use crate::ssa::ir::{Lanewise, Op, Piece, Program, Type, Types};
use smallvec::smallvec;

/// Operand and result types of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The types of the operands.
    pub operands: Types,
    /// The types of the results.
    pub results: Types,
}

/// The signature of `op`. `chosen` stands for the `T` of [`Op::Select`], [`Op::Opaque`] and [`Op::Exchange`], whose
/// operands decide.
///
/// `None` when `op` names a function, sum, alternative, vector, field or cell that the program does not have.
pub fn signature(program: &Program, op: Op, chosen: Type) -> Option<Signature> {
    use Type::{Bool, Boolx2, F64, F64x2, Int, Ptr};
    let fields = |sum, tag: u32| Some(&program.sums.get(sum)?.alternatives.get(tag as usize)?.fields[..]);
    let (operands, results): (Types, Types) = match op {
        Op::ConstReal(_) => (smallvec![], smallvec![F64]),
        Op::ConstBool(_) => (smallvec![], smallvec![Bool]),
        Op::ConstInt(_) => (smallvec![], smallvec![Int]),
        Op::Immediate(sum, tag) => (fields(sum, tag)?.into(), smallvec![Ptr]),
        Op::Real1(_) => (smallvec![F64], smallvec![F64]),
        Op::Real2(_) => (smallvec![F64, F64], smallvec![F64]),
        Op::Compare(_) => (smallvec![F64, F64], smallvec![Bool]),
        Op::Not => (smallvec![Bool], smallvec![Bool]),
        Op::And | Op::Or => (smallvec![Bool, Bool], smallvec![Bool]),
        Op::RealIs(_) => (smallvec![F64], smallvec![Bool]),
        Op::IntIs(_) => (smallvec![Int], smallvec![Bool]),
        Op::Int2(_) => (smallvec![Int, Int], smallvec![Int]),
        Op::IntCompare(_) => (smallvec![Int, Int], smallvec![Bool]),
        Op::IntOf => (smallvec![F64], smallvec![Int]),
        Op::RealOf => (smallvec![Int], smallvec![F64]),
        Op::Select => (smallvec![Bool, chosen, chosen], smallvec![chosen]),
        Op::Opaque | Op::Exchange => (smallvec![chosen], smallvec![chosen]),
        Op::Call(callee) => {
            let callee = program.functions.get(callee)?;
            (callee.param_types(), callee.results[..].into())
        }
        Op::Box(sum, tag) => (fields(sum, tag)?.into(), smallvec![Ptr]),
        Op::Tag(sum) => {
            program.sums.get(sum)?;
            (smallvec![Ptr], smallvec![Int])
        }
        Op::HasTag(sum, tag) => {
            fields(sum, tag)?;
            (smallvec![Ptr], smallvec![Bool])
        }
        Op::Field(sum, tag, field) => (smallvec![Ptr], smallvec![*fields(sum, tag)?.get(field as usize)?]),
        Op::NewVector(vector) => {
            program.vectors.get(vector)?;
            (smallvec![Int], smallvec![Ptr])
        }
        Op::Kernel(kernel, vector) => {
            if program.vectors.get(vector)?.fields != [F64] {
                return None;
            }
            let sizes = (0..kernel.sizes()).map(|_| F64);
            let vectors = (0..kernel.vectors()).flat_map(|_| [Ptr, Int]);
            ([Int].into_iter().chain(sizes).chain(vectors).collect(), smallvec![Ptr])
        }
        Op::NewRows(vector) | Op::NewRow(vector) => {
            if program.vectors.get(vector)?.fields.contains(&Ptr) {
                return None;
            }
            (if matches!(op, Op::NewRows(_)) { smallvec![Int, Int] } else { smallvec![Ptr, Int, Int] }, smallvec![Ptr])
        }
        Op::Element(vector, field) | Op::TakeElement(vector, field) => {
            (smallvec![Ptr, Int, Int], smallvec![*program.vectors.get(vector)?.fields.get(field as usize)?])
        }
        Op::WithElement(vector) => {
            let fields = program.vectors.get(vector)?.fields.iter();
            ([Ptr, Int, Int].iter().chain(fields).copied().collect(), smallvec![Ptr])
        }
        Op::Own(vector) => {
            program.vectors.get(vector)?;
            (smallvec![Ptr, Int], smallvec![Ptr])
        }
        Op::OfEach(function, vector) => {
            if !function.has_lanes() || program.vectors.get(vector)?.fields != [F64] {
                return None;
            }
            (smallvec![Ptr, Int], smallvec![Ptr])
        }
        Op::Lanes(op) => match op {
            Lanewise::Real1(_) => (smallvec![F64x2], smallvec![F64x2]),
            Lanewise::Real2(_) => (smallvec![F64x2, F64x2], smallvec![F64x2]),
            Lanewise::Compare(_) => (smallvec![F64x2, F64x2], smallvec![Boolx2]),
            Lanewise::Not => (smallvec![Boolx2], smallvec![Boolx2]),
            Lanewise::And | Lanewise::Or => (smallvec![Boolx2, Boolx2], smallvec![Boolx2]),
            Lanewise::RealIs(_) => (smallvec![F64x2], smallvec![Boolx2]),
            Lanewise::Select => (smallvec![Boolx2, F64x2, F64x2], smallvec![F64x2]),
        },
        Op::Splat => (smallvec![F64], smallvec![F64x2]),
        Op::Pair => (smallvec![F64, F64], smallvec![F64x2]),
        Op::Lane(_) => (smallvec![F64x2], smallvec![F64]),
        Op::AnyLane => (smallvec![Boolx2], smallvec![Bool]),
        Op::Elements(vector, field) => match program.vectors.get(vector)?.fields.get(field as usize)? {
            F64 => (smallvec![Ptr, Int, Int], smallvec![F64x2]),
            _ => return None,
        },
        Op::WithElements(vector) => {
            let fields = &program.vectors.get(vector)?.fields;
            if fields.iter().any(|ty| *ty != F64) {
                return None;
            }
            ([Ptr, Int, Int].into_iter().chain(fields.iter().map(|_| F64x2)).collect(), smallvec![Ptr])
        }
        Op::GlobalGet(slot) => (smallvec![], smallvec![*program.slots.get(slot)?]),
        Op::GlobalSet(slot) => (smallvec![*program.slots.get(slot)?], smallvec![]),
        Op::IsSet(slot) => match program.slots.get(slot)? {
            Bool => (smallvec![], smallvec![Bool]),
            _ => return None,
        },
        Op::Read(_, text) => {
            program.texts.get(text)?;
            (smallvec![], smallvec![F64])
        }
        Op::Argument(_) => (smallvec![], smallvec![F64]),
        Op::ArgumentElements(vector) | Op::ResultElements(vector) => {
            if program.vectors.get(vector)?.fields != [F64] {
                return None;
            }
            match op {
                Op::ArgumentElements(_) => (smallvec![Int], smallvec![Ptr]),
                _ => (smallvec![Ptr, Int], smallvec![]),
            }
        }
        Op::Result(Piece::Array) => (smallvec![F64, F64], smallvec![]),
        Op::Result(_) | Op::WriteReal(_) | Op::WriteByte | Op::WriteDouble => (smallvec![F64], smallvec![]),
        Op::HeapBytes | Op::TapeMemory => (smallvec![], smallvec![Int]),
        Op::Ask => (smallvec![F64, F64], smallvec![F64]),
        Op::WriteText(_, text) => {
            program.texts.get(text)?;
            (smallvec![], smallvec![])
        }
        Op::WriteTextOf(..) => (smallvec![Int], smallvec![]),
        Op::BeginText => (smallvec![], smallvec![]),
        Op::EndText => (smallvec![], smallvec![Int]),
        Op::TextByte => (smallvec![Int, F64], smallvec![F64]),
        Op::BeginFile(text) | Op::EndFile(text) => {
            program.texts.get(text)?;
            let operand = if matches!(op, Op::BeginFile(_)) { Int } else { F64 };
            (smallvec![operand], smallvec![])
        }
        Op::Vacant(ty) => (smallvec![], smallvec![ty]),
        Op::Hole(sum, tag, field) => {
            fields(sum, tag)?.get(field as usize)?;
            (smallvec![Ptr], smallvec![Int])
        }
        Op::Fill(ty) => (smallvec![Int, ty], smallvec![]),
        Op::IsShared(callee) => (program.functions.get(callee)?.param_types(), smallvec![Bool]),
        Op::Recall(callee) => {
            let callee = program.functions.get(callee)?;
            (callee.param_types(), std::iter::once(Bool).chain(callee.results.iter().copied()).collect())
        }
        Op::Remember(callee) => {
            let callee = program.functions.get(callee)?;
            (callee.param_types().into_iter().chain(callee.results.iter().copied()).collect(), smallvec![])
        }
        Op::Forget => (smallvec![], smallvec![]),
        Op::Retain | Op::Release => (smallvec![Ptr], smallvec![]),
    };
    Some(Signature { operands, results })
}
