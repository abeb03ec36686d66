//! Kernels: operations on whole vectors of numbers that the run time has → an instruction of SSA.
//!
//! A kernel gets a list of numbers, sizes and flags, of which the first is the length of the result, and a list of
//! vectors. In SSA these are operands one by one, a vector with its length. The definitions around kernels in
//! `stdlib/kernels.vlad` give lists of the right lengths.

use crate::core::errors::RuntimeError;
use crate::core::prim::Prim;
use crate::shape::lattice::{Head, Shape};
use crate::shape::primitive::part;
use crate::specialize::Specializer;
use crate::specialize::emit::{Emitted, Emitter, Val, target};
use crate::specialize::errors::failure::HOLE;
use crate::specialize::operators::vector::Elements;
use crate::ssa::ir::{Compare, Op, Terminator, Type, Value};

impl Specializer<'_> {
    /// What a kernel makes of a list of numbers, of which the first is the length of the result, and of a list of
    /// vectors.
    pub fn kernel(&mut self, e: &mut Emitter, prim: Prim, args: &[Val], result: Shape) -> Emitted<Val> {
        let kernel = prim.kernel().expect("this is a kernel");
        let mut sizes = Vec::new();
        let mut rest = args[0].clone();
        for _ in 0..=kernel.sizes() {
            let (number, others) = self.taken_apart(e, prim, &rest)?;
            sizes.push(self.real_operand(e, prim, 0, &number)?);
            rest = others;
        }
        let mut vectors = Vec::new();
        let mut operands = vec![e.value(Op::IntOf, &sizes[..1], Type::Int)];
        operands.extend(&sizes[1..]);
        let element = self.flow.shapes.single(result)?.children[0];
        let vector = self.flow.shapes.make(Head::Vector, &[element]);
        rest = args[1].clone();
        for _ in 0..kernel.vectors() {
            let (operand, others) = self.taken_apart(e, prim, &rest)?;
            let numbers = self.numbers(e, prim, &operand, vector)?;
            operands.extend([numbers.elements.expect("numbers are leaves"), numbers.length]);
            vectors.push(numbers);
            rest = others;
        }
        let kind = self.vector_kind(element).expect("numbers are leaves");
        let elements = e.value(Op::Kernel(kernel, kind), &operands, Type::Ptr);
        if kernel.computes() {
            let made = Elements { elements: Some(elements), length: operands[0], filled: None, shape: element };
            self.watch_kernel(e, prim, &made, &vectors);
        }
        Some(self.build(e, result, 0, vec![operands[0], elements]))
    }

    /// Checks the numbers that a kernel has made of those in vectors, if that is asked for.
    fn watch_kernel(&mut self, e: &mut Emitter, prim: Prim, made: &Elements, operands: &[Elements]) {
        let Some(sweep) = self.sweep().filter(|_| self.watches) else { return };
        let number = self.one_not_finite(e, made);
        let fine = e.new_block(&[]);
        let mut is_finite = self.is_finite(e, number);
        for operand in operands {
            // Where an operand was no better, there is nothing to say.
            let better = e.new_block(&[]);
            e.terminate(Terminator::Branch(is_finite, target(fine), target(better)));
            e.switch_to(better);
            let number = self.one_not_finite(e, operand);
            let was_finite = self.is_finite(e, number);
            is_finite = e.value(Op::Not, &[was_finite], Type::Bool);
        }
        let worse = e.new_block(&[]);
        e.terminate(Terminator::Branch(is_finite, target(fine), target(worse)));
        e.switch_to(worse);
        e.depth += 1;
        let error = RuntimeError::not_finite_arrays(prim, HOLE.into(), sweep);
        let _: Emitted<()> = self.fail_with(e, &error, &[number]);
        e.depth -= 1;
        e.switch_to(fine);
    }

    /// A number in a vector that is not finite; 0 if all are.
    fn one_not_finite(&mut self, e: &mut Emitter, numbers: &Elements) -> Value {
        let none = e.real(0.0);
        let found = self.for_each_place(e, numbers.length, &[none], |this, e, place, found| {
            let number = this.element(e, numbers, place).leaves[0];
            let is_finite = this.is_finite(e, number);
            Some(vec![e.value(Op::Select, &[is_finite, found[0], number], Type::F64)])
        });
        found[0]
    }

    fn is_finite(&mut self, e: &mut Emitter, number: Value) -> Value {
        let [low, high] = [f64::MIN, f64::MAX].map(|limit| e.real(limit));
        let [above, below] =
            [(low, number), (number, high)].map(|(x, y)| e.value(Op::Compare(Compare::Le), &[x, y], Type::Bool));
        e.value(Op::And, &[above, below], Type::Bool)
    }

    /// A vector of numbers, whose shape is given.
    pub(in crate::specialize) fn numbers(
        &mut self,
        e: &mut Emitter,
        prim: Prim,
        operand: &Val,
        vector: Shape,
    ) -> Emitted<Elements> {
        let operand = self.dense(e, operand)?;
        let operand = self.dispatch(e, &operand, vector, |this, e, parts| match parts.alternative.head {
            Head::Vector => {
                let operand = this.single(e, parts);
                this.convert(e, &operand, vector)
            }
            head => this.not_a_vector(e, prim, head),
        })?;
        let parts = self.parts(e, &operand, 0);
        Some(Elements::of(&parts))
    }

    /// The parts of a pair.
    fn taken_apart(&mut self, e: &mut Emitter, prim: Prim, pair: &Val) -> Emitted<(Val, Val)> {
        let [first, second] = [0, 1].map(|index| part(&mut self.flow.shapes, pair.shape, index));
        let error = |this: &Self, head| RuntimeError::NotAPair { prim, found: this.found(head) };
        Some((self.part(e, pair, 0, first, error)?, self.part(e, pair, 1, second, error)?))
    }
}
