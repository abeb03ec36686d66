//! What has fields: boxes and elements of vectors.
//!
//! What is stored in an element is read from it as from a box: all its fields are set at once, and each is read by an
//! instruction of its own. Passes that change what fields hold treat both alike.

use crate::ssa::ir::{Op, Program, SumId, Type, VectorId};

/// What has fields: an alternative of a sum, or the elements of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Holder {
    Alternative(SumId, u32),
    Elements(VectorId),
}

/// A field, by holder and position.
pub type Field = (Holder, u32);

/// What an instruction stores, field by field from this operand on.
pub fn stores(op: Op) -> Option<(Holder, usize)> {
    match op {
        Op::Box(sum, tag) => Some((Holder::Alternative(sum, tag), 0)),
        Op::WithElement(vector) => Some((Holder::Elements(vector), 3)),
        _ => None,
    }
}

/// What an instruction fills with numbers that are not among its operands.
pub fn fills(op: Op) -> Option<Holder> {
    match op {
        Op::Kernel(_, vector) | Op::ArgumentElements(vector) => Some(Holder::Elements(vector)),
        _ => None,
    }
}

/// The field that an instruction reads.
pub fn reads(op: Op) -> Option<Field> {
    match op {
        Op::Field(sum, tag, field) => Some((Holder::Alternative(sum, tag), field)),
        Op::Element(vector, field) => Some((Holder::Elements(vector), field)),
        _ => None,
    }
}

/// The operation that reads another field of the same box or element.
pub fn read_from(op: Op, position: u32) -> Op {
    match op {
        Op::Field(sum, tag, _) => Op::Field(sum, tag, position),
        Op::Element(vector, _) => Op::Element(vector, position),
        other => other,
    }
}

/// All that has fields, with their types.
pub fn holders(program: &Program) -> impl Iterator<Item = (Holder, &[Type])> {
    let alternatives = program.sums.iter().flat_map(|(sum, data)| {
        let tagged = (0..).zip(&data.alternatives);
        tagged.map(move |(tag, alternative)| (Holder::Alternative(sum, tag), &alternative.fields[..]))
    });
    let elements = program.vectors.iter().map(|(id, layout)| (Holder::Elements(id), &layout.fields[..]));
    alternatives.chain(elements)
}
