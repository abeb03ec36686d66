//! Operations that are written between their operands, and what has to be enclosed: the same for all notations of the
//! papers.

use super::term::Term;
use crate::core::prim::Prim;

/// How tightly what stands around an expression binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Around {
    Nothing,
    Comparison,
    Sum,
    Product,
    Application,
}

impl Around {
    /// How tightly an operation on two operands binds that is written between them.
    pub(super) fn of_infix(prim: Prim) -> Option<Around> {
        match prim {
            Prim::Add | Prim::Sub | Prim::Plus => Some(Around::Sum),
            Prim::Mul | Prim::Scale | Prim::Div | Prim::Unscale => Some(Around::Product),
            Prim::Eq | Prim::Lt | Prim::Gt | Prim::Le | Prim::Ge => Some(Around::Comparison),
            _ => None,
        }
    }

    /// What stands around the first operand of such an operation. From the left: the second operand of the same
    /// strength is enclosed.
    pub(super) fn of_first(self) -> Around {
        if self == Around::Sum { Around::Comparison } else { Around::Sum }
    }

    /// Whether what stands around binds as tightly as what stands inside, or more, so that this is enclosed.
    pub(super) fn encloses(self, inside: Option<Around>) -> bool {
        inside.is_some_and(|inside| inside <= self && self != Around::Nothing)
    }
}

/// The elements of the list that a pair begins, if it ends.
pub(super) fn elements(parts: &[Term]) -> Option<Vec<&Term>> {
    let (mut items, mut rest) = (vec![&parts[0]], &parts[1]);
    while let Term::Prim(Prim::Cons, parts) = rest {
        items.push(&parts[0]);
        rest = &parts[1];
    }
    (*rest == Term::Nil).then_some(items)
}
