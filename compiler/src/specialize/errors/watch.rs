//! What to say about arithmetic operations that make something worse than a finite number of what is finite, for
//! programs that are asked to say so. Each operation gets a number in place of its source;
//! [`crate::opt::scalar::watch`] puts in the checks.

use super::failure::HOLE;
use crate::ad::tower::Transformation;
use crate::ad::{base_and_tower, transformed_from};
use crate::base::Span;
use crate::core::errors::{Place, RuntimeError, Sweep};
use crate::core::ir::Origin;
use crate::core::number;
use crate::core::prim::Prim;
use crate::specialize::Specializer;
use crate::specialize::emit::Emitter;
use crate::ssa::arithmetic;
use crate::ssa::ir::{Compare, Function, Op, Source, Type};

impl Specializer<'_> {
    /// Numbers the operations of the function at hand.
    pub fn watch(&mut self, function: &mut Function) {
        let Some(sweep) = self.sweep() else { return };
        for inst in function.blocks.values_mut().flat_map(|block| &mut block.insts) {
            if let Some(prim) = primitive(inst.op) {
                let place = self.place_at(inst.span.map(|source| source.span));
                let span = self.watched(prim, inst.args.len(), place, sweep);
                let phase = inst.span.map(|source| source.phase).unwrap_or_default();
                inst.span = Some(Source { span, phase, is_in_library: false, within: None });
            }
        }
    }

    /// The number of an operation.
    fn watched(&mut self, prim: Prim, operands: usize, place: Place, sweep: Sweep) -> Span {
        let error = RuntimeError::NotFinite { prim, operands: vec![HOLE.into(); operands], result: HOLE.into(), sweep };
        let key = (place, error);
        if let Some(number) = self.watched.get(&key) {
            return Span::numbered(*number);
        }
        let text = key.1.to_diagnostic(&key.0).render(self.sources, false);
        let mut pieces = text.split(HOLE);
        let mut piece = || pieces.next().unwrap_or_default().to_string();
        let (before, between) = (piece(), piece());
        (1..operands).for_each(|_| drop(piece()));
        let texts = [before, between, piece()].map(|text| self.text(&text));
        let number = u32::try_from(self.out.watched.len()).expect("fewer than instructions");
        self.out.watched.push(texts);
        self.watched.insert(key, number);
        Span::numbered(number)
    }

    /// The error of an operation on known numbers that is to be reported.
    pub fn born_of_constants(&self, prim: Prim, operands: &[f64], result: f64) -> Option<RuntimeError> {
        let better = |x: &f64| if result.is_nan() { !x.is_nan() } else { x.is_finite() };
        if !self.watches || result.is_finite() || !operands.iter().all(better) {
            return None;
        }
        let printed = |x: f64| number::format(x).as_str().to_string();
        let operands = operands.iter().copied().map(printed).collect();
        Some(RuntimeError::NotFinite { prim, operands, result: printed(result), sweep: self.sweep()? })
    }

    /// Fails with that error. Nobody is to know before the program runs: what comes first is watched only if it is
    /// needed, and nothing is where the program is known to fail.
    pub fn report_born(&mut self, e: &mut Emitter, error: &RuntimeError) {
        let [one, zero] = [1.0, 0.0].map(|number| e.real(number));
        let one = e.value(Op::Opaque, &[one], Type::F64);
        let goes_on = e.value(Op::Compare(Compare::Eq), &[one, zero], Type::Bool);
        self.demand(e, goes_on, |this, e| this.fail_with(e, error, &[]));
    }

    /// What the function at hand is part of; `None` for power series.
    pub(in crate::specialize) fn sweep(&self) -> Option<Sweep> {
        let Some(lambda) = self.lambda else { return Some(Sweep::Value) };
        let (base, _) = base_and_tower(self.core, lambda);
        if let Origin::Backpropagator(..) | Origin::Adding(_) = self.core.lambdas[base].origin {
            return Some(Sweep::Reverse);
        }
        match transformed_from(self.core, lambda) {
            Some((Transformation::Reverse, _)) => Some(Sweep::Forward),
            Some((Transformation::Forward | Transformation::Directions, _)) => Some(Sweep::Tangent),
            Some((Transformation::Series, _)) => None,
            None => Some(Sweep::Value),
        }
    }
}

/// The primitive that an operation is called after.
fn primitive(op: Op) -> Option<Prim> {
    match op {
        Op::Real1(op) => Some(arithmetic::prim1(op)),
        Op::Real2(op) => Some(arithmetic::prim2(op)),
        _ => None,
    }
}
