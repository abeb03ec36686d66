//! Functions for operations on boxed data, made on demand: each operation has one for each combination of shapes that
//! it meets, and the operation on a box's parts calls such functions again.

use super::convert::parameter_types;
use super::emit::{Emitter, Val};
use super::write::{self, Position};
use super::{Specializer, Task};
use crate::base::Span;
use crate::core::ir::{Below, LambdaId};
use crate::core::prim::{Levels, Prim};
use crate::shape::lattice::{Shape, Site};
use crate::shape::operators::Operator;
use crate::specialize::errors::failure::Call;
use crate::ssa::ir::{FuncId, Function, Phase, Stream, Terminator, Type, Value, Walk};

/// An operation on shapes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Helper {
    /// From one shape to another that covers it.
    Convert(Shape, Shape),
    /// `zero` of a shape, as another.
    Zero(Shape, Site, Shape),
    /// `plus` of two shapes, as a third.
    Plus(Shape, Shape, Shape, Origin),
    /// The same, told what to say when it fails.
    SharedPlus(Shape, Shape, Shape),
    /// `plus` of one-hot vectors of which one has a table, or the sum.
    PlusTables(Shape, Shape, Shape, Origin),
    /// `plus` of the further coefficients of two series.
    PlusRests(Shape, Shape, Shape, Origin),
    /// `*j`, `primal` and the like from a shape to the result's.
    Operator(Operator, Shape, Shape, Origin),
    /// `bundle` below some transformations, from the shapes of value and tangent to that of the result.
    Bundle(Below, [Shape; 2], Shape, Origin),
    /// Unfolding a folded zero, to a shape without one at its top.
    UnfoldZeros(Shape, Shape),
    /// What a value is the zero of, through zeros of zeros.
    BeneathZeros(Shape, Shape),
    /// `handed` or `kept` of sums, this deep in them, as another shape.
    Side(Prim, Shape, Levels, Shape),
    /// Printing.
    Write(Shape, Position, Stream),
    /// Writing the name of the kind of a record into an error.
    WriteKind(Shape),
}

/// The place that a helper's run-time errors blame. The default is for those that cannot fail.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Origin {
    span: Option<Span>,
    blame: Option<Call>,
    lambda: Option<LambdaId>,
}

impl Specializer<'_> {
    /// The place at hand.
    pub fn origin(&self, e: &Emitter) -> Origin {
        Origin { span: e.span, blame: self.blame, lambda: self.lambda }
    }

    /// Calls the function for an operation; the result has shape `target`.
    pub fn call_helper(&mut self, e: &mut Emitter, helper: Helper, args: &[&Val], target: Shape) -> Val {
        let function = self.helper(helper);
        let mut args: Vec<Value> = args.iter().flat_map(|arg| arg.leaves.iter().copied()).collect();
        if let Helper::SharedPlus(..) = helper {
            args.extend(self.around_sums(e));
        }
        let types = self.leaves(target);
        Val { shape: target, leaves: e.call(function, &args, &types) }
    }

    /// The function for an operation, to be emitted later if it is not yet.
    pub fn helper(&mut self, helper: Helper) -> FuncId {
        if let Some(function) = self.helpers.get(&helper) {
            return *function;
        }
        let (name, params, results) = match helper {
            Helper::Convert(from, to) => ("convert", vec![from], Some(to)),
            Helper::Zero(from, _, to) => ("zero", vec![from], Some(to)),
            Helper::Plus(a, b, to, _)
            | Helper::SharedPlus(a, b, to)
            | Helper::PlusRests(a, b, to, _)
            | Helper::PlusTables(a, b, to, _) => ("plus", vec![a, b], Some(to)),
            Helper::Operator(operator, from, to, _) => (operator.prim.name(), vec![from], Some(to)),
            Helper::Bundle(_, parts, to, _) => ("bundle", parts.to_vec(), Some(to)),
            Helper::UnfoldZeros(from, to) => ("unfold", vec![from], Some(to)),
            Helper::BeneathZeros(from, to) => ("beneath", vec![from], Some(to)),
            Helper::Side(side, from, _, to) => (side.name(), vec![from], Some(to)),
            Helper::Write(shape, ..) | Helper::WriteKind(shape) => ("write", vec![shape], None),
        };
        let mut params = parameter_types(self, &params);
        if let Helper::SharedPlus(..) = helper {
            params.extend([Type::Int; 2]);
        }
        let results: Vec<Type> = results.map_or_else(Vec::new, |shape| self.leaves(shape).to_vec());
        let mut function = Function::new(name.into(), &params, results);
        if !matches!(helper, Helper::Write(..) | Helper::WriteKind(_)) {
            function.walk = Walk::Shared;
        }
        let function = self.out.functions.push(function);
        self.helpers.insert(helper, function);
        self.tasks.push((function, Task::Helper(helper)));
        function
    }

    /// Emits the body of the function for an operation.
    pub fn emit_helper(&mut self, e: &mut Emitter, helper: Helper) {
        let origin = match helper {
            Helper::Plus(.., origin)
            | Helper::PlusRests(.., origin)
            | Helper::PlusTables(.., origin)
            | Helper::Operator(.., origin)
            | Helper::Bundle(.., origin) => origin,
            _ => Origin::default(),
        };
        (self.blame, self.lambda) = (origin.blame, origin.lambda);
        self.stand_at(e, origin.span);
        let adds = matches!(
            helper,
            Helper::Plus(..) | Helper::SharedPlus(..) | Helper::PlusTables(..) | Helper::PlusRests(..)
        );
        e.phase = if adds { Phase::Derivative } else { Phase::Value };
        let params = e.function.params().to_vec();
        let value = |shape: Shape| Val { shape, leaves: params.clone() };
        let result = match helper {
            Helper::Convert(from, to) => self.convert_unfolded(e, &value(from), to),
            Helper::Zero(from, site, to) => self.zero_in_one_form(e, &value(from), site, to),
            Helper::Plus(a, b, to, _) => {
                let values = self.split(&[a, b], &params);
                self.plus_unfolded(e, &values[0], &values[1], to)
            }
            Helper::PlusTables(a, b, to, _) => {
                let values = self.split(&[a, b], &params);
                self.plus_tables_unfolded(e, &values[0], &values[1], to)
            }
            Helper::PlusRests(a, b, to, _) => {
                let values = self.split(&[a, b], &params);
                self.plus_rests_unfolded(e, &values[0], &values[1], to)
            }
            Helper::SharedPlus(a, b, to) => {
                let (values, texts) = params.split_at(params.len() - 2);
                e.around_errors = Some([texts[0], texts[1]]);
                let values = self.split(&[a, b], values);
                self.plus_unfolded(e, &values[0], &values[1], to)
            }
            Helper::Operator(operator, from, to, _) => self.operator_unfolded(e, operator, &value(from), to),
            Helper::Bundle(below, parts, to, _) => {
                let values = self.split(&parts, &params);
                self.bundle_unfolded(e, below, &values[0], &values[1], to)
            }
            Helper::UnfoldZeros(from, to) => self.unfold_zeros_to(e, &value(from), to),
            Helper::BeneathZeros(from, to) => self.beneath_zeros_to(e, &value(from), to),
            Helper::Side(side, from, levels, to) => self.split_sum_unfolded(e, side, &value(from), levels, to),
            Helper::Write(shape, position, stream) => {
                write::print_unfolded(self, e, &value(shape), position, stream);
                e.terminate(Terminator::Return(Vec::new()));
                None
            }
            Helper::WriteKind(shape) => self.write_kind(e, &value(shape)),
        };
        if let Some(result) = result {
            e.terminate(Terminator::Return(result.leaves));
        }
    }
}
