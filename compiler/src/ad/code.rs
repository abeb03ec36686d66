//! What transformations write and read core code with.

use crate::base::Span;
use crate::core::ir::{Below, Binding, Body, Const, Program, Rhs, Var};
use crate::core::prim::Prim;
use std::rc::Rc;

/// A sequence of bindings under construction.
pub struct Code<'a> {
    pub program: &'a mut Program,
    pub bindings: Vec<Binding>,
    /// The source of what is being generated.
    pub span: Span,
}

impl Code<'_> {
    /// Binds a new variable of that name.
    pub fn bind(&mut self, name: &str, rhs: Rhs) -> Var {
        let var = self.program.new_var(name, self.span);
        self.bind_to(var, rhs)
    }
    /// Binds the given variable.
    pub fn bind_to(&mut self, var: Var, rhs: Rhs) -> Var {
        self.bindings.push(Binding { var, rhs, span: self.span });
        var
    }
    /// Calls a primitive, for a derivative.
    pub fn prim(&mut self, prim: Prim, args: &[Var]) -> Var {
        self.derived(Rhs::Prim(prim, args.to_vec()))
    }
    /// Calls a primitive below some transformations of its operands.
    pub fn lifted(&mut self, below: Below, prim: Prim, args: &[Var]) -> Var {
        self.derived(Rhs::lifted(below, prim, args.to_vec()))
    }
    fn derived(&mut self, rhs: Rhs) -> Var {
        let var = self.bind("t", rhs);
        self.program.vars[var].is_of_derivative = true;
        var
    }
    /// A number.
    pub fn number(&mut self, value: f64) -> Var {
        self.bind("k", Rhs::Const(Const::Real(value)))
    }
    /// No sensitivity.
    pub fn nothing(&mut self) -> Var {
        self.bind("n", Rhs::Const(Const::Nothing))
    }
    /// A list of variables.
    pub fn list(&mut self, items: &[Var]) -> Var {
        let mut tail = self.bind("nil", Rhs::Const(Const::Nil));
        for item in items.iter().rev() {
            tail = self.prim(Prim::Cons, &[*item, tail]);
        }
        tail
    }
    pub fn name(&self, var: Var) -> Rc<str> {
        self.program.vars[var].name.clone()
    }
}

/// Drops bindings that nothing uses and that can neither fail nor be observed.
pub fn prune(body: &mut Body) {
    body.drop_unused(&|binding| is_removable(&binding.rhs));
}

/// Whether a right-hand side can neither fail nor be observed.
fn is_removable(rhs: &Rhs) -> bool {
    match rhs {
        Rhs::Var(_) | Rhs::Const(_) | Rhs::Global(_) | Rhs::Closure(..) => true,
        Rhs::Prim(prim, _) | Rhs::Lifted(_, prim, _) => matches!(
            prim,
            Prim::Cons
                | Prim::Record
                | Prim::InElement
                | Prim::TakeElement
                | Prim::PutElement
                | Prim::Handed
                | Prim::HandedFew
                | Prim::Kept
                | Prim::Lent
                | Prim::SumCar
                | Prim::SumCdr
                | Prim::SplitCar
                | Prim::SplitCdr
                | Prim::Adding
                | Prim::Plain
                | Prim::Zero
                | Prim::J
                | Prim::JInverse
                | Prim::JStar
                | Prim::Primal
                | Prim::Tangent
                | Prim::Lift
                | Prim::Unlift
        ),
        Rhs::Destructure(..) | Rhs::Apply(..) | Rhs::If(..) => false,
    }
}
