//! Calls: tuples as arguments, saturated primitives, and calls of library functions that show their operands.
//!
//! Operands are evaluated from the left, after the operator; then the tuple is built.

use crate::base::Span;
use crate::core::ir::{Const, Rhs, Var};
use crate::core::prim::Prim;
use crate::expand::Dialect;
use crate::expand::build::{Callee, Expander, Meaning};
use crate::expand::error::Error;
use crate::expand::forms::pattern::lambda_params;
use crate::expand::names::basis;
use crate::expand::names::basis::Native;
use crate::syntax::{self, Datum, DatumKind};

/// Chained comparisons nest in each other; longer ones are left to the library.
const MAX_CHAIN: usize = 64;

impl Expander {
    /// A call. `meaning` is what the operator's name stands for, if it is a name.
    pub fn call(&mut self, span: Span, head: &Datum, meaning: Option<Meaning>, operands: &[Datum]) -> Rhs {
        match (meaning, head.symbol()) {
            (Some(Meaning::List), _) => return self.list(operands, span),
            (Some(Meaning::Vector), _) => {
                let values = self.atoms(operands);
                return self.vector(&values, span);
            }
            (Some(Meaning::Internal(prim)), _) if operands.len() == prim.arity() => {
                return Rhs::Prim(prim, self.atoms(operands));
            }
            (Some(Meaning::Library(global)), _) => {
                let name = self.core.globals[global].name.clone();
                if let Some(rhs) = basis::native(&name).and_then(|native| self.native(native, &name, operands, span)) {
                    return rhs;
                }
            }
            _ => {}
        }
        if let Some(Meaning::Reserved(word)) = meaning {
            return self.error(Error::Misplaced(head.span, word));
        }
        if is_constant(head) {
            self.errors.push(Error::CallOfConstant(head.span, operands.is_empty().then(|| syntax::flat(head))));
            self.atoms(operands);
            return Rhs::Const(Const::Nil);
        }
        if let Some(name) = head.symbol().filter(|name| self.is_foreign_form(name)).cloned() {
            operands.iter().for_each(|operand| self.excuse(operand));
            return self.unbound(&name, head.span);
        }
        self.check_arity(span, head, meaning, operands.len());
        let function = self.atom(head);
        let operands = self.atoms(operands);
        let argument = self.tuple(&operands, span);
        Rhs::Apply(function, argument)
    }

    /// A call whose operands end in a tuple with the others: `(f a . others)`.
    pub fn dotted_call(&mut self, span: Span, items: &[Datum], tail: &Datum) -> Rhs {
        let Some((head, operands)) = items.split_first() else { return self.error(Error::DottedExpression(span)) };
        if let Some(Meaning::Keyword(_) | Meaning::List | Meaning::Vector) =
            head.symbol().map(|name| self.meaning(name))
        {
            return self.error(Error::DottedExpression(span));
        }
        let function = self.atom(head);
        let mut operands = self.atoms(operands);
        operands.push(self.atom(tail));
        let argument = self.tuple(&operands, span);
        Rhs::Apply(function, argument)
    }

    /// Reports a call of a known function that cannot take so many operands.
    fn check_arity(&mut self, span: Span, head: &Datum, meaning: Option<Meaning>, operands: usize) {
        if self.dialect == Dialect::Stalingrad {
            return;
        }
        let callee = match meaning {
            Some(Meaning::Local(var)) => Some(Callee::Local(var)),
            Some(Meaning::User(global) | Meaning::Library(global)) => Some(Callee::Global(global)),
            _ => None,
        };
        let known = match callee {
            Some(callee) => self.arities.get(&callee).cloned(),
            None => lambda_params(head).map(|params| params.usage("f", params.span)),
        };
        if let Some(usage) = known.filter(|usage| !usage.arity.takes(operands)) {
            let name = head.symbol().cloned();
            let is_library = matches!(meaning, Some(Meaning::Library(_)));
            self.errors.push(Error::WrongNumber { call: span, name, usage, is_library, operands });
        }
    }

    /// The operands' values, evaluated from the left.
    fn atoms(&mut self, operands: &[Datum]) -> Vec<Var> {
        operands.iter().map(|operand| self.atom(operand)).collect()
    }

    /// What a call with these operands passes: `()`, the operand, or a tuple.
    pub fn tuple(&mut self, operands: &[Var], span: Span) -> Var {
        match operands {
            [] => self.hold(Rhs::Const(Const::Nil), span),
            [only] => *only,
            [front @ .., last] => {
                let rhs = self.chain(front, Rhs::Var(*last), span);
                self.emit("args", rhs, span)
            }
        }
    }

    fn list(&mut self, operands: &[Datum], span: Span) -> Rhs {
        let values = self.atoms(operands);
        self.chain(&values, Rhs::Const(Const::Nil), span)
    }

    /// The expansion of a call of a library function; `None` when the call is an ordinary one.
    fn native(&mut self, native: Native, name: &str, operands: &[Datum], span: Span) -> Option<Rhs> {
        let count = operands.len();
        Some(match native {
            Native::Prim(prim) if count == prim.arity() => Rhs::Prim(prim, self.atoms(operands)),
            Native::Fold(prim) if count >= 2 => {
                let values = self.atoms(operands);
                self.fold_left(&values, span, |_, a, b| Rhs::Prim(prim, vec![a, b]))
            }
            Native::FoldCall(helper) if count >= 2 => {
                let values = self.atoms(operands);
                self.fold_left(&values, span, |expander, a, b| expander.library_call(helper, &[a, b], span))
            }
            Native::FoldRight if count >= 3 => {
                let values = self.atoms(operands);
                self.fold_right(name, &values, span)
            }
            Native::Chain(prim) if (2..=MAX_CHAIN).contains(&count) => {
                let values = self.atoms(operands);
                self.comparisons(prim, &values, span)
            }
            Native::Lists(two, many) if count >= 3 => {
                let values = self.atoms(operands);
                self.call_with_lists(two, many, &values, span)
            }
            Native::Options(function) if count >= 3 => {
                let mut values = self.atoms(operands);
                let options = self.chain(&values.split_off(3), Rhs::Const(Const::Nil), span);
                values.push(self.emit("options", options, span));
                self.library_call(function, &values, span)
            }
            Native::Not if count == 1 => {
                let condition = self.atom(&operands[0]);
                let yes = self.branch(span, |_| Rhs::Const(Const::Bool(false)));
                let no = self.branch(span, |_| Rhs::Const(Const::Bool(true)));
                Rhs::If(condition, yes, no)
            }
            Native::ConsStar if count >= 2 => {
                let values = self.atoms(operands);
                let (last, front) = values.split_last()?;
                self.chain(front, Rhs::Var(*last), span)
            }
            Native::Error if count == 2 => {
                let values = self.atoms(operands);
                Rhs::Prim(Prim::Error, vec![values[0], values[1], values[1]])
            }
            Native::Error if matches!(operands, [Datum { kind: DatumKind::Str(_), .. }]) => {
                self.error(Error::Malformed(span, "error", "(error \"message\" value)"))
            }
            _ => return None,
        })
    }

    fn library_call(&mut self, name: &str, operands: &[Var], span: Span) -> Rhs {
        let function = self.hold(Rhs::Global(self.library_function(name)), span);
        let argument = self.tuple(operands, span);
        Rhs::Apply(function, argument)
    }

    /// `(f (f a b) c) ...`; there are at least two values.
    fn fold_left(&mut self, values: &[Var], span: Span, f: impl Fn(&mut Expander, Var, Var) -> Rhs) -> Rhs {
        let mut rhs = f(self, values[0], values[1]);
        for value in &values[2..] {
            let so_far = self.hold(rhs, span);
            rhs = f(self, so_far, *value);
        }
        rhs
    }

    /// `(f a (f b c)) ...` with the library function `name`; there are at least two values.
    fn fold_right(&mut self, name: &str, values: &[Var], span: Span) -> Rhs {
        let (pair, front) = (&values[values.len() - 2..], &values[..values.len() - 2]);
        let mut rhs = self.library_call(name, pair, span);
        for value in front.iter().rev() {
            let so_far = self.hold(rhs, span);
            rhs = self.library_call(name, &[*value, so_far], span);
        }
        rhs
    }

    /// `(and (< a b) (< b c) ...)` over values; there are at least two.
    fn comparisons(&mut self, prim: Prim, values: &[Var], span: Span) -> Rhs {
        let first = Rhs::Prim(prim, vec![values[0], values[1]]);
        if values.len() == 2 {
            return first;
        }
        let condition = self.hold(first, span);
        let yes = self.branch(span, |expander| expander.comparisons(prim, &values[1..], span));
        let no = self.branch(span, |_| Rhs::Const(Const::Bool(false)));
        Rhs::If(condition, yes, no)
    }

    /// A function and two or more lists.
    fn call_with_lists(&mut self, two: Option<&str>, many: &str, values: &[Var], span: Span) -> Rhs {
        match (two, values) {
            (Some(two), [_, _, _]) => self.library_call(two, values, span),
            _ => {
                let lists = self.chain(&values[1..], Rhs::Const(Const::Nil), span);
                let lists = self.hold(lists, span);
                self.library_call(many, &[values[0], lists], span)
            }
        }
    }
}

/// True for datums whose value is certainly not a function.
fn is_constant(datum: &Datum) -> bool {
    match &datum.kind {
        DatumKind::Real(_) | DatumKind::Bool(_) | DatumKind::Str(_) => true,
        DatumKind::List(items) => items.is_empty(),
        _ => false,
    }
}
