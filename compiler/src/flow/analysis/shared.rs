//! What closures in data share.
//!
//! A closure that has been read from data ([`Site::Data`]) may be one of many that have captured the same vector. What
//! its body makes of that vector is known to be shared, too: other closures in it that capture the vector, functions
//! that it hands the vector to, and its zero, which stays folded. So the sum of a sensitivity of the vector begins with
//! a folded zero, however many calls and loops there are between the closure and the read, and costs what is added to
//! it. Sums of what no closure in data has captured begin with plain zeros, and are plain vectors in loops.
//!
//! Backpropagators are in data wherever there is a tape; their captures are numbers and zeros, not what the program
//! shares. But given ones, such as that of a checkpoint, capture what the program does. So in the derivative of a
//! reverse phase, where captures have sensitivities, a function that a backpropagator calls and that is none itself is
//! on the tape: what the functions in its environment have captured is shared. Vectors in its environment are its own,
//! such as the state of a loop.

use super::{Analyzer, Facts};
use crate::ad::tower::Transformation;
use crate::core::ir::{LambdaId, Origin, Part, Rhs, Var};
use crate::core::prim::Prim;
use crate::shape::lattice::{Code, Shape, Site};
use crate::shape::operators::is_number;
use std::rc::Rc;

/// Nested pairs have marks so deep.
const DEPTH: usize = 8;

/// Which parts of a value closures in data have captured.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Shared {
    #[default]
    Nothing,
    All,
    /// What the functions in it have captured.
    OfFunctions,
    /// Parts of the two parts of a pair, such as several arguments are.
    Parts(Rc<[Shared; 2]>),
}

impl Shared {
    fn pair(parts: [Shared; 2]) -> Shared {
        let depth = 1 + parts.iter().map(Shared::depth).max().unwrap_or(0);
        match parts {
            [Shared::Nothing, Shared::Nothing] => Shared::Nothing,
            _ if depth > DEPTH => Shared::Nothing,
            parts => Shared::Parts(Rc::new(parts)),
        }
    }

    fn depth(&self) -> usize {
        match self {
            Shared::Nothing | Shared::All | Shared::OfFunctions => 0,
            Shared::Parts(parts) => 1 + parts.iter().map(Shared::depth).max().unwrap_or(0),
        }
    }

    /// What is shared of one or the other.
    pub(super) fn join(self, other: Shared) -> Shared {
        match (self, other) {
            (Shared::Nothing, one) | (one, Shared::Nothing) => one,
            (Shared::OfFunctions, Shared::OfFunctions) => Shared::OfFunctions,
            (Shared::All | Shared::OfFunctions, _) | (_, Shared::All | Shared::OfFunctions) => Shared::All,
            (Shared::Parts(a), Shared::Parts(b)) => {
                Shared::pair([0, 1].map(|part| a[part].clone().join(b[part].clone())))
            }
        }
    }

    fn part(&self, index: usize) -> Shared {
        match self {
            Shared::Nothing | Shared::All | Shared::OfFunctions => self.clone(),
            Shared::Parts(parts) => parts[index].clone(),
        }
    }
}

impl Facts {
    /// What is shared of the value of a variable.
    pub(super) fn shared_of(&self, x: Var) -> Shared {
        self.shared.get(&x).cloned().unwrap_or_default()
    }

    /// Lets a variable hold what its right-hand side gives of what is shared, or the zero of that.
    pub(super) fn share(&mut self, x: Var, rhs: &Rhs) {
        if self.shared.is_empty() {
            return;
        }
        let shared = match rhs {
            Rhs::Var(y) | Rhs::Destructure(Part::Record(_), y) => self.shared_of(*y),
            Rhs::Destructure(Part::Car, y) => self.shared_of(*y).part(0),
            Rhs::Destructure(Part::Cdr, y) => self.shared_of(*y).part(1),
            Rhs::Prim(prim, args) | Rhs::Lifted(_, prim, args) => match prim {
                Prim::J | Prim::JInverse | Prim::JStar | Prim::Primal | Prim::Zero => self.shared_of(args[0]),
                Prim::Car => self.shared_of(args[0]).part(0),
                Prim::Cdr => self.shared_of(args[0]).part(1),
                Prim::VectorRef => self.shared_of(args[0]).part(0),
                Prim::Record => self.shared_of(args[1]),
                Prim::RecordParts => self.shared_of(args[0]),
                Prim::Cons => Shared::pair([self.shared_of(args[0]), self.shared_of(args[1])]),
                _ => Shared::Nothing,
            },
            Rhs::If(_, then, other) => self.shared_of(then.result).join(self.shared_of(other.result)),
            _ => return,
        };
        self.hold(x, shared);
    }

    /// Lets a variable hold that.
    pub(super) fn hold(&mut self, x: Var, shared: Shared) {
        if shared != Shared::Nothing {
            self.shared.insert(x, shared);
        }
    }

    /// Begins with what the captures of a λ and its parameter hold.
    pub(super) fn begin_with(&mut self, captures: &[Var], param: Var, [captured, argument]: &[Shared; 2]) {
        captures.iter().for_each(|x| self.hold(*x, captured.clone()));
        self.hold(param, argument.clone());
    }
}

impl Analyzer<'_> {
    /// Where a closure is that a body makes: in data, if what it captures of these is more than numbers.
    pub(super) fn site_of_closure(&self, lambda: LambdaId, captured: &[Var], facts: &Facts) -> Site {
        let shares = |x: &Var| {
            let alternatives = self.result.shapes.alternatives(facts.shapes[x]);
            !matches!(facts.shared_of(*x), Shared::Nothing | Shared::OfFunctions)
                && !alternatives.iter().all(|of| is_number(of.head))
        };
        if captured.iter().any(shares) && !self.is_backpropagator(self.codes.code(lambda)) {
            Site::Data
        } else {
            Site::Value
        }
    }

    /// What is shared of the environment and the argument of a call. A closure of recursive data has been read from
    /// these, whatever it was read by.
    pub(super) fn shared_by_call(
        &self,
        function: Var,
        called: (Code, Site),
        argument: Shared,
        facts: &Facts,
    ) -> [Shared; 2] {
        let (code, site) = called;
        let is_differentiated = |code: Code| code.tower.transformations().contains(&Transformation::Reverse);
        if self.is_derived(code) || self.is_backpropagator(code) && !is_differentiated(code) {
            return [Shared::Nothing, Shared::Nothing];
        }
        let caller = self.frames.last().and_then(|frame| frame.code);
        let is_on_tape = caller.is_some_and(|caller| self.is_derived(caller) && is_differentiated(caller));
        let is_data = site == Site::Data
            || self.result.shapes.is_recursive(facts.shapes[&function])
            || matches!(facts.shared_of(function), Shared::All | Shared::OfFunctions);
        let captured = match (is_data, is_on_tape) {
            (true, _) => Shared::All,
            (false, true) => Shared::OfFunctions,
            (false, false) => Shared::Nothing,
        };
        [captured, argument]
    }

    /// Whether the code is that of a backpropagator or transformed from it.
    fn is_backpropagator(&self, code: Code) -> bool {
        matches!(self.codes.program.lambdas[code.base].origin, Origin::Backpropagator(..) | Origin::Adding(_))
    }

    /// The same of one that no program and no library gives.
    fn is_derived(&self, code: Code) -> bool {
        let origin = |lambda: LambdaId| self.codes.program.lambdas[lambda].origin;
        match origin(code.base) {
            Origin::Adding(of) => matches!(origin(of), Origin::Backpropagator(..)),
            origin => matches!(origin, Origin::Backpropagator(..)),
        }
    }

    /// The zero of what is in a variable, folded and marked if that is a vector that is shared.
    pub(super) fn zero_of(&mut self, x: Var, zero: Shape, facts: &Facts) -> Shape {
        let site = if facts.shared_of(x) == Shared::All { Site::Data } else { Site::Value };
        self.result.shapes.zero_of_capture(zero, site)
    }
}
