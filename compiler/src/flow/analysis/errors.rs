//! Errors that the program handles: which ones reach a handler.
//!
//! A variant has the errors that it may end in, as it has a result: those that it raises, and those of what it calls
//! that it does not handle. So a handler gets the errors of what it was made for. All errors of the program in one
//! place would mix the values of a function and of its derivatives, and handlers would make towers of these.

use super::{Abort, Analyzer, Facts, Shared};
use crate::core::ir::Var;
use crate::shape::lattice::{Head, Shape, Shapes};

/// No message, and no value.
pub const NO_ERROR: [Shape; 2] = [Shapes::BOTTOM; 2];

impl Analyzer<'_> {
    /// `(%catch f handler x)`: what `f` gives, or its handler of the errors of `f`.
    pub(super) fn catch(&mut self, var: Var, [f, handler, x]: [Var; 3], facts: &mut Facts) -> Result<Shape, Abort> {
        let around = std::mem::replace(&mut self.frame().raises, NO_ERROR);
        let value = self.apply(var, f, x, facts)?;
        let raised = std::mem::replace(&mut self.frame().raises, around);
        let caught = self.beside_own_errors(raised);
        let error = self.result.shapes.make(Head::Pair(None), &caught);
        facts.caught.insert(var, error);
        self.result.raised.get_or_insert(NO_ERROR);
        self.frame().dynamic += 1;
        let (handled, _) = self.apply_to(handler, handler, (error, Default::default(), Shared::Nothing), facts)?;
        self.frame().dynamic -= 1;
        Ok(self.result.shapes.join(value, handled))
    }

    /// Messages and values of errors beside those of errors that the program does not raise itself.
    pub(super) fn beside_own_errors(&mut self, raised: [Shape; 2]) -> [Shape; 2] {
        let shapes = &mut self.result.shapes;
        let own = [shapes.make(Head::Text(None), &[]), shapes.nil()];
        [0, 1].map(|part| shapes.join(raised[part], own[part]))
    }

    /// The program raises an error with that message and that value.
    pub(super) fn raise(&mut self, error: [Shape; 2]) {
        let shapes = &mut self.result.shapes;
        self.raised = [0, 1].map(|part| shapes.widen(self.raised[part], error[part]));
        self.hand_on(error);
    }

    /// What the body at hand does may end in an error with that message and that value.
    pub(super) fn hand_on(&mut self, error: [Shape; 2]) {
        let before = self.frame().raises;
        self.frame().raises = [0, 1].map(|part| self.result.shapes.join(before[part], error[part]));
    }
}
