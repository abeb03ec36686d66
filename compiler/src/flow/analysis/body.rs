//! Bodies on shapes: bindings in their order, and conditionals.
//!
//! A body whose last binding is a conditional has several outcomes. They are joined once, for the whole chain of
//! conditionals that end each other, as those of the clauses of a `cond` do.

use super::filling::Filling;
use super::{Abort, Analyzer, Facts, Key, Shared, Test, VariantId, truth};
use crate::core::ir::{Below, Binding, Body, Rhs, Var};
use crate::core::prim::{Family, Prim};
use crate::shape::lattice::{Head, Shape, Shapes};
use crate::shape::primitive::Question;
use std::rc::Rc;

/// What a conditional may come to. A conditional that a branch ends with is part of the one around it, and so is of its
/// shape: a chain of clauses is joined once, instead of at each clause with all that follow.
#[derive(Default)]
struct Outcomes {
    shapes: Vec<Shape>,
    /// The variables that conditionals at ends of branches are bound to.
    conditionals: Vec<Var>,
    /// What all outcomes have been made by the body.
    new: Option<Shared>,
}

impl Outcomes {
    /// A body returns the value of that variable.
    fn add(&mut self, result: Var, facts: &Facts) {
        self.shapes.push(facts.shapes[&result]);
        self.new = Shared::met(self.new.take(), facts.new_of(result));
    }

    fn join(self, shapes: &mut Shapes, facts: &mut Facts) -> Shape {
        let shape = shapes.join_all(&self.shapes);
        let new = self.new.unwrap_or_default();
        for var in self.conditionals {
            facts.shapes.insert(var, shape);
            facts.note_new(var, new.clone());
        }
        shape
    }
}

impl Analyzer<'_> {
    pub(super) fn body(&mut self, body: &Body, facts: &mut Facts) -> Result<Shape, Abort> {
        let mut outcomes = Outcomes::default();
        self.outcomes(body, facts, &mut outcomes)?;
        Ok(outcomes.join(&mut self.result.shapes, facts))
    }

    /// Interprets a body that returns one of several outcomes of a conditional.
    fn outcomes(&mut self, body: &Body, facts: &mut Facts, outcomes: &mut Outcomes) -> Result<(), Abort> {
        self.result.shapes.work(body.bindings.len());
        let (mut bindings, mut choice) = (&body.bindings[..], None);
        if let Some((last, before)) = bindings.split_last()
            && let Rhs::If(condition, then, other) = &last.rhs
            && last.var == body.result
        {
            (bindings, choice) = (before, Some((last, *condition, then, other)));
        }
        if !self.bindings(bindings, facts)? {
            return Ok(());
        }
        let Some((binding, condition, then, other)) = choice else {
            outcomes.add(body.result, facts);
            return Ok(());
        };
        self.span = Some(binding.span);
        let before = outcomes.shapes.len();
        self.conditional(condition, then, other, facts, outcomes)?;
        if outcomes.shapes.len() > before {
            outcomes.conditionals.push(binding.var);
            facts.note_choice(binding, true);
        }
        Ok(())
    }

    /// Interprets bindings; false if one of them never completes.
    fn bindings(&mut self, bindings: &[Binding], facts: &mut Facts) -> Result<bool, Abort> {
        let mut filling: Option<Filling> = None;
        let mut completes = true;
        for binding in bindings {
            self.span = Some(binding.span);
            if filling.as_mut().is_some_and(|filling| filling.goes_on(binding, facts)) {
                continue;
            }
            if let Some(filled) = filling.take_if(|filling| filling.is_used(binding, facts)) {
                filled.end(&mut self.result.shapes, facts);
            }
            let shape = self.rhs(binding, facts)?;
            self.check_work()?;
            if shape == Shapes::BOTTOM {
                completes = false;
                break;
            }
            facts.shapes.insert(binding.var, shape);
            self.share(binding, shape, facts);
            facts.note_choice(binding, false);
            if let Some(begun) = Filling::of(binding, shape) {
                if let Some(filled) = filling.replace(begun) {
                    filled.end(&mut self.result.shapes, facts);
                }
                continue;
            }
            let (below, prim, args) = match &binding.rhs {
                Rhs::Prim(prim, args) => (Below::NONE, *prim, args),
                Rhs::Lifted(below, prim, args) => (*below, *prim, args),
                _ => continue,
            };
            if prim.family() == Family::Test {
                let shapes: Vec<Shape> = args.iter().map(|arg| facts.shapes[arg]).collect();
                if let [question] = Question::all(&self.result.shapes, prim, &shapes)[..] {
                    let subjects = self.subjects(args[0], below);
                    facts.tests.insert(binding.var, Test { question, below, subjects });
                }
            } else if prim == Prim::JInverse {
                self.inverse_of.insert(binding.var, (args[0], below));
            } else if prim == Prim::J
                && let Some(test) = facts.tests.get(&args[0]).cloned()
            {
                // A truth value is its own transform.
                facts.tests.insert(binding.var, test);
            }
        }
        if let Some(filled) = filling {
            filled.end(&mut self.result.shapes, facts);
        }
        Ok(completes)
    }

    /// The variable that is tested below some transformations, the one that it is `*j-inverse` of, and so on.
    fn subjects(&self, var: Var, below: Below) -> Vec<Var> {
        let mut subjects = vec![var];
        let inverse_of = |var: &Var, depth: u32| {
            self.inverse_of.get(var).filter(|(_, at)| at.forward <= depth && at.series <= below.series)
        };
        let mut depth = below.forward;
        while let Some((of, _)) = inverse_of(&subjects[subjects.len() - 1], depth) {
            subjects.push(*of);
            depth += 1;
        }
        subjects
    }

    /// The shape of a conditional that is not the end of a body, and is bound to a variable.
    pub(super) fn choice(
        &mut self,
        var: Var,
        condition: Var,
        then: &Body,
        other: &Body,
        facts: &mut Facts,
    ) -> Result<Shape, Abort> {
        let mut outcomes = Outcomes { conditionals: vec![var], ..Outcomes::default() };
        self.conditional(condition, then, other, facts, &mut outcomes)?;
        Ok(outcomes.join(&mut self.result.shapes, facts))
    }

    fn conditional(
        &mut self,
        condition: Var,
        then: &Body,
        other: &Body,
        facts: &mut Facts,
        outcomes: &mut Outcomes,
    ) -> Result<(), Abort> {
        match truth(&self.result.shapes, facts.shapes[&condition]) {
            Some(true) => self.outcomes(then, facts, outcomes),
            Some(false) => self.outcomes(other, facts, outcomes),
            None => {
                self.frame().dynamic += 1;
                self.branch(condition, true, then, facts, outcomes)?;
                self.branch(condition, false, other, facts, outcomes)?;
                self.frame().dynamic -= 1;
                Ok(())
            }
        }
    }

    /// A branch that run time decides on, where the condition's test has come out as `outcome`.
    fn branch(
        &mut self,
        condition: Var,
        outcome: bool,
        body: &Body,
        facts: &mut Facts,
        outcomes: &mut Outcomes,
    ) -> Result<(), Abort> {
        let refined = facts.refinements(&mut self.result.shapes, condition, outcome, |var| facts.shapes[&var]);
        let before: Vec<(Var, Shape)> = refined.iter().map(|(var, _)| (*var, facts.shapes[var])).collect();
        facts.shapes.extend(refined);
        let result = self.outcomes(body, facts, outcomes);
        facts.shapes.extend(before);
        result
    }

    pub(super) fn apply(&mut self, var: Var, function: Var, operand: Var, facts: &mut Facts) -> Result<Shape, Abort> {
        let twice = self.twice_in_operand(function, operand, facts);
        let shared = [facts.shared_of(operand), twice];
        let new = facts.new_of(operand);
        let (shape, measured) = self.apply_to(var, function, (facts.shapes[&operand], shared, new), facts)?;
        facts.measure(operand, &measured);
        Ok(shape)
    }

    /// The call of a function to whose argument something belongs twice. What the function asks the length of it reads
    /// as a whole, as far as anybody can tell, so that a sum of its own costs no more than the call; otherwise the
    /// second occurrence is shared.
    fn call_unless_shared(&mut self, key: Key, twice: &Shared) -> Result<(VariantId, Shape), Abort> {
        if *twice == Shared::Nothing {
            return self.call(key);
        }
        let [captured, argument] = key.shared.clone();
        let shared = [captured, argument.join(twice.clone())];
        let plain = self.call(key.clone())?;
        let variant = &self.result.variants[plain.0];
        if variant.complete && twice.is_within(&variant.measures) {
            return Ok(plain);
        }
        self.call(Key { shared, ..key })
    }

    /// Applies a function to an argument of that shape: the result, and which parts of the argument it asks the length
    /// of. The calls are noted beside `var`.
    pub(super) fn apply_to(
        &mut self,
        var: Var,
        function: Var,
        (operand, [operand_shared, twice], operand_new): (Shape, [Shared; 2], Shared),
        facts: &mut Facts,
    ) -> Result<(Shape, Shared), Abort> {
        let alternatives = self.result.shapes.alternatives(facts.shapes[&function]);
        let dynamic = usize::from(alternatives.len() > 1);
        let (mut results, mut gives, mut made, mut measured) = (Vec::new(), Shared::Nothing, None, None);
        self.frame().dynamic += dynamic;
        for alternative in alternatives.iter() {
            let Head::Closure(code, site) = alternative.head else { continue };
            let is_differentiated = self.has_sensitivities(code);
            let (shared, new) = if is_differentiated {
                (self.shared_by_call(function, site, operand_shared.clone(), facts), operand_new.clone())
            } else {
                Default::default()
            };
            let (lambda, argument) = self.without_sums(code, operand);
            let args: Rc<[Shape]> = alternative.children.iter().copied().chain([argument]).collect();
            let key = Key { lambda, args, shared, new };
            let (variant, shape) = if is_differentiated {
                self.note_recursion(&key);
                self.call_unless_shared(key, &twice)?
            } else {
                self.call(key)?
            };
            facts.calls.insert((var, code.lambda), variant);
            self.frame().loops |= self.result.variants[variant].recursive || self.result.variants[variant].loops;
            self.hand_on(self.result.variants[variant].raises);
            results.push(shape);
            gives = gives.join(self.result.variants[variant].gives.clone());
            made = Shared::met(made, self.result.variants[variant].makes.clone());
            measured = Shared::met(measured, self.result.variants[variant].measures.clone());
        }
        facts.note_new(var, made.unwrap_or_default());
        facts.hold(var, gives);
        self.frame().dynamic -= dynamic;
        Ok((self.result.shapes.join_all(&results), measured.unwrap_or_default()))
    }
}
