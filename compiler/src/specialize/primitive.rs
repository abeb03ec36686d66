//! Primitives on run-time values. Operands of unknown kind are checked; the failing alternatives end in an error.

use super::emit::{Emitted, Emitter, Parts, Val};
use crate::ad::base_and_tower;
use crate::core::errors::{Found, RuntimeError};
use crate::core::ir::{Below, Part, Var};
use crate::core::mismatch::{mismatch, mismatch_at_top};
use crate::core::prim::{Family, Levels, Prim};
use crate::core::question::{CALL_BACK, ENTER_SHARD, SECOND_DERIVATIVE, SHARD};
use crate::shape::lattice::{Class, Fact, Head, Shape};
use crate::shape::operators::Operator;
use crate::shape::primitive::{Question, known_zero, part, real_fact, satisfies};
use crate::specialize::operators::vector::Elements;
use crate::specialize::operators::zeros;
use crate::specialize::{Specializer, write};
use crate::ssa::ir::{Compare, IntCompare, Op, Piece, Real1, Real2, Stream, Type, Value};

impl Specializer<'_> {
    /// A call of a primitive below some transformations of its operands; `result` is the shape that the analysis found
    /// for it.
    pub fn primitive(
        &mut self,
        e: &mut Emitter,
        below: Below,
        prim: Prim,
        args: &[Val],
        result: Shape,
    ) -> Emitted<Val> {
        match prim.family() {
            Family::Arithmetic => self.arithmetic(e, prim, args, result),
            Family::Comparison if prim == Prim::IsSameString => self.same_string(e, args, result),
            Family::Comparison => self.comparison(e, prim, args, result),
            Family::Test => self.test(e, below, prim, args, result),
            Family::Structure => match prim {
                Prim::Record => self.record(e, &args[0], &args[1], result),
                Prim::RecordParts => self.record_parts(e, None, &args[0], result, |_, found| {
                    RuntimeError::Sensitivity { part: Part::Never, record: None, found }
                }),
                Prim::Cons => {
                    let leaves = args.iter().flat_map(|arg| arg.leaves.iter().copied()).collect();
                    Some(self.build(e, result, 0, leaves))
                }
                _ => {
                    let index = usize::from(prim == Prim::Cdr);
                    self.part(e, &args[0], index, result, |this, head| RuntimeError::NotAPair {
                        prim,
                        found: this.found(head),
                    })
                }
            },
            Family::Vector => self.vector_primitive(e, prim, args, result),
            Family::Derivative => match prim {
                Prim::Zero => self.zero_of_variable(e, &args[0], result),
                Prim::Plus => self.plus(e, &args[0], &args[1], result),
                Prim::Bundle => self.bundle(e, below, &args[0], &args[1], result),
                Prim::Environment => self.environment_of(e, &args[0], result),
                Prim::WithEnvironment => self.with_environment(e, &args[0], &args[1], result),
                Prim::Series => {
                    self.rename(e, &args[0], (Head::Series, |head| matches!(head, Head::Pair(_))), result, {
                        |_, found| RuntimeError::NotAPair { prim, found }
                    })
                }
                Prim::SeriesParts => {
                    let takes = |head| head == Head::Series;
                    self.rename(e, &args[0], (Head::Pair(None), takes), result, |_, found| RuntimeError::NotAReal {
                        prim,
                        operand: 0,
                        found,
                    })
                }
                Prim::InCar => self.in_part(e, 0, &args[0], &args[1], result),
                Prim::InCdr => self.in_part(e, 1, &args[0], &args[1], result),
                Prim::Handed | Prim::HandedFew | Prim::Kept => self.split_sum(e, prim, &args[0], Levels::ALL, result),
                Prim::Lent => self.convert(e, &args[0], result),
                Prim::SumCar | Prim::SumCdr | Prim::SplitCar | Prim::SplitCdr => {
                    self.sum_part(e, prim, &args[0], result)
                }
                Prim::Adding | Prim::Plain => self.form(e, prim, &args[0], result),
                Prim::InElement => self.in_element(e, args, result),
                Prim::TakeElement => self.take_element(e, args, result),
                Prim::PutElement => self.put_element(e, args, result),
                _ => self.operator(e, Operator { prim, below }, &args[0], result),
            },
            Family::Kernel => self.kernel(e, prim, args, result),
            Family::Effect => self.effect(e, prim, args, result),
        }
    }

    /// A part of a value that a pattern takes apart.
    pub fn destructure(&mut self, e: &mut Emitter, part: Part, var: Var, value: &Val, result: Shape) -> Emitted<Val> {
        if let Part::Vector(length) = part {
            return self.demand_length(e, value, length, |this, head| this.mismatch(part, var, head));
        }
        if let Part::Record(kind) = part {
            return self.record_parts(e, Some(kind), value, result, |this, found| this.mismatch_of(part, var, found));
        }
        if part == Part::Never {
            return self.dispatch(e, value, result, |this, e, parts| {
                let error = this.mismatch(part, var, parts.alternative.head);
                this.fail(e, &error)
            });
        }
        if part != Part::Nil {
            let index = usize::from(part == Part::Cdr);
            return self.part(e, value, index, result, |this, head| this.mismatch(part, var, head));
        }
        self.end(e, value, |this, head| this.mismatch(part, var, head))
    }

    fn mismatch(&self, part: Part, var: Var, head: Head) -> RuntimeError {
        self.mismatch_of(part, var, self.found(head))
    }

    fn mismatch_of(&self, part: Part, var: Var, found: Found) -> RuntimeError {
        match self.lambda {
            Some(lambda) => {
                // The name that the source has, for transforms too.
                let (base, _) = base_and_tower(self.core, lambda);
                mismatch(self.core, &self.core.lambdas[base].name, &self.core.lambdas[lambda], part, var, found)
            }
            None => mismatch_at_top(self.core, part, var, found),
        }
    }

    /// The end of a list; `error` says what is wrong with anything else.
    pub fn end(&mut self, e: &mut Emitter, value: &Val, error: impl Fn(&Self, Head) -> RuntimeError) -> Emitted<Val> {
        let value = self.unfold_zeros(e, value)?;
        let nil = self.flow.shapes.nil();
        self.dispatch(e, &value, nil, |this, e, parts| match parts.alternative.head {
            Head::Nil => Some(Val { shape: nil, leaves: Vec::new() }),
            head => {
                let error = error(this, head);
                this.fail(e, &error)
            }
        })
    }

    /// A part of a pair; `error` says what is wrong with anything else.
    pub fn part(
        &mut self,
        e: &mut Emitter,
        value: &Val,
        index: usize,
        result: Shape,
        error: impl Fn(&Self, Head) -> RuntimeError,
    ) -> Emitted<Val> {
        let value = self.unfold_zeros(e, value)?;
        self.dispatch(e, &value, result, |this, e, parts| match parts.alternative.head {
            Head::Pair(_) => this.convert(e, &parts.children[index], result),
            head => {
                let error = error(this, head);
                this.fail(e, &error)
            }
        })
    }

    /// The list of what a function has captured.
    fn environment_of(&mut self, e: &mut Emitter, function: &Val, result: Shape) -> Emitted<Val> {
        self.dispatch(e, function, result, |this, e, parts| match parts.alternative.head {
            Head::Closure(code, _) => {
                let list = this.environment(e, code, parts.children);
                this.convert(e, &list, result)
            }
            head => {
                let error = RuntimeError::NotAProcedure { found: this.found(head) };
                this.fail(e, &error)
            }
        })
    }

    /// A function with the values in a list as what it has captured.
    fn with_environment(&mut self, e: &mut Emitter, function: &Val, list: &Val, result: Shape) -> Emitted<Val> {
        self.dispatch(e, function, result, |this, e, parts| {
            let head = parts.alternative.head;
            let error = RuntimeError::NotAProcedure { found: this.found(head) };
            let Some(tag) = this.tag_of(result, head.class()) else { return this.fail(e, &error) };
            let shapes = this.flow.shapes.alternatives(result)[tag].children.clone();
            let (mut rest, mut leaves) = (list.clone(), Vec::new());
            for shape in shapes.iter() {
                leaves.extend(this.part(e, &rest, 0, *shape, |_, _| error.clone())?.leaves);
                let tail = part(&mut this.flow.shapes, rest.shape, 1);
                rest = this.part(e, &rest, 1, tail, |_, _| error.clone())?;
            }
            Some(this.build(e, result, tag, leaves))
        })
    }

    /// The number that a value is, checked.
    pub(super) fn real_operand(&mut self, e: &mut Emitter, prim: Prim, operand: usize, value: &Val) -> Emitted<Value> {
        self.real_leaf(e, prim, operand, value, Fact::Unknown)
    }

    /// The leaf of a real of which only this much is known, checked.
    fn real_leaf(&mut self, e: &mut Emitter, prim: Prim, operand: usize, value: &Val, fact: Fact) -> Emitted<Value> {
        let value = self.unfold_zeros(e, value)?;
        let unknown = self.flow.shapes.real(fact);
        let number = self.dispatch(e, &value, unknown, |this, e, parts| match parts.alternative.head {
            Head::Real(_) => {
                let value = this.single(e, parts);
                this.convert(e, &value, unknown)
            }
            head => {
                let error = RuntimeError::NotAReal { prim, operand, found: this.found(head) };
                this.fail(e, &error)
            }
        })?;
        Some(number.leaves[0])
    }

    fn real_operands(&mut self, e: &mut Emitter, prim: Prim, args: &[Val]) -> Emitted<Vec<Value>> {
        let mut values = Vec::with_capacity(args.len());
        for (operand, arg) in args.iter().enumerate() {
            values.push(self.real_operand(e, prim, operand, arg)?);
        }
        Some(values)
    }

    fn arithmetic(&mut self, e: &mut Emitter, prim: Prim, args: &[Val], result: Shape) -> Emitted<Val> {
        if let Some(Head::Real(Fact::PerhapsZero)) = self.flow.shapes.single(result).map(|a| a.head) {
            return self.scaling(e, prim, args, result);
        }
        let operands = self.real_operands(e, prim, args)?;
        if let Some(Head::Real(fact @ (Fact::Known(_) | Fact::Zero))) = self.flow.shapes.single(result).map(|a| a.head)
        {
            let numbers = args.iter().map(|arg| real_fact(&mut self.flow.shapes, arg.shape).and_then(Fact::number));
            let numbers: Option<Vec<f64>> = numbers.collect();
            let error = numbers.zip(fact.number()).and_then(|(xs, y)| self.born_of_constants(prim, &xs, y));
            if let Some(error) = error {
                self.report_born(e, &error);
            }
            return Some(Val { shape: result, leaves: Vec::new() });
        }
        let leaf = match operands[..] {
            [x] => unary(e, prim, x),
            [x, y] => e.value(Op::Real2(real2(prim)), &[x, y], Type::F64),
            _ => e.real(f64::NAN),
        };
        Some(Val { shape: result, leaves: vec![leaf] })
    }

    /// `scale` and `unscale` of what may be the symbolic zero, which is then the result.
    fn scaling(&mut self, e: &mut Emitter, prim: Prim, args: &[Val], result: Shape) -> Emitted<Val> {
        let (mut operands, mut vanishing) = (Vec::new(), Vec::new());
        for (operand, arg) in args.iter().enumerate() {
            // A quotient vanishes with its dividend only.
            let linear = prim == Prim::Scale || operand == 0;
            let fact = real_fact(&mut self.flow.shapes, arg.shape).filter(|_| linear);
            let fact = if fact == Some(Fact::PerhapsZero) { Fact::PerhapsZero } else { Fact::Unknown };
            let leaf = self.real_leaf(e, prim, operand, arg, fact)?;
            operands.push(leaf);
            if fact == Fact::PerhapsZero {
                vanishing.push(leaf);
            }
        }
        let number = e.value(Op::Real2(real2(prim)), &operands, Type::F64);
        Some(Val { shape: result, leaves: vec![zeros::unless_zero(e, &vanishing, number)] })
    }

    fn comparison(&mut self, e: &mut Emitter, prim: Prim, args: &[Val], result: Shape) -> Emitted<Val> {
        let operands = self.real_operands(e, prim, args)?;
        let leaves = match self.flow.shapes.single(result).map(|a| a.head) {
            Some(Head::Bool(None)) => vec![e.value(Op::Compare(compare(prim)), &operands, Type::Bool)],
            _ => Vec::new(),
        };
        Some(Val { shape: result, leaves })
    }

    /// The number of the text that an operand must be.
    fn text_number(&mut self, e: &mut Emitter, prim: Prim, value: &Val) -> Emitted<Value> {
        let text = self.flow.shapes.make(Head::Text(None), &[]);
        let value = self.dispatch(e, value, text, |this, e, parts| {
            if parts.alternative.head.class() != Class::Text {
                let found = this.found(parts.alternative.head);
                return this.fail(e, &RuntimeError::NotAString { prim, found });
            }
            let own = this.single(e, parts);
            this.convert(e, &own, text)
        })?;
        Some(value.leaves[0])
    }

    /// `(string=? a b)`: every text has one number.
    fn same_string(&mut self, e: &mut Emitter, args: &[Val], result: Shape) -> Emitted<Val> {
        let numbers =
            [self.text_number(e, Prim::IsSameString, &args[0])?, self.text_number(e, Prim::IsSameString, &args[1])?];
        let leaves = match self.flow.shapes.single(result).map(|a| a.head) {
            Some(Head::Bool(None)) => vec![e.value(Op::IntCompare(IntCompare::Eq), &numbers, Type::Bool)],
            _ => Vec::new(),
        };
        Some(Val { shape: result, leaves })
    }

    fn test(&mut self, e: &mut Emitter, below: Below, prim: Prim, args: &[Val], result: Shape) -> Emitted<Val> {
        let value = &args[0];
        if let [_, of] = args
            && self.flow.shapes.single(of.shape).is_none_or(|a| a.head.class() == Class::ZeroOf)
        {
            let of = self.unfold_zeros(e, of)?;
            return self.dispatch(e, &of, result, |this, e, parts| {
                this.ask(e, below, Question::about(parts.alternative.head), value, result)
            });
        }
        let shapes: Vec<Shape> = args.iter().map(|arg| arg.shape).collect();
        let questions = Question::all(&self.flow.shapes, prim, &shapes);
        self.ask(e, below, questions[0], value, result)
    }

    fn ask(&mut self, e: &mut Emitter, below: Below, question: Question, value: &Val, result: Shape) -> Emitted<Val> {
        let prim = question.prim;
        if below != Below::NONE && self.flow.shapes.single(result).is_some_and(|a| a.head == Head::Bool(None)) {
            return self.test_below(e, below, question, value);
        }
        if prim == Prim::IsZero && self.flow.shapes.single(result).is_some_and(|a| a.head == Head::Bool(None)) {
            return self.is_zero(e, value, result);
        }
        let value = self.unfold_zeros(e, value)?;
        let leaves = match self.flow.shapes.single(result).map(|a| a.head) {
            Some(Head::Bool(None)) => {
                let alternatives = self.flow.shapes.alternatives(value.shape);
                let tags: Vec<usize> = (0..alternatives.len())
                    .filter(|tag| satisfies(alternatives[*tag].head.class(), question))
                    .collect();
                vec![self.is_one_of(e, &value, &tags)]
            }
            _ => Vec::new(),
        };
        Some(Val { shape: result, leaves })
    }

    /// `(%zero? value)`, where run time decides.
    fn is_zero(&mut self, e: &mut Emitter, value: &Val, result: Shape) -> Emitted<Val> {
        self.dispatch(e, value, result, |this, e, parts| {
            let is_zero = match (known_zero(&this.flow.shapes, &parts.alternative), parts.own) {
                (Some(known), _) => e.boolean(known),
                (None, Some(number)) => zeros::is_symbolic(e, number),
                (None, None) => {
                    let mut all = e.boolean(true);
                    for part in &parts.children {
                        let part = this.is_zero(e, part, result)?;
                        all = e.value(Op::And, &[all, part.leaves[0]], Type::Bool);
                    }
                    all
                }
            };
            Some(Val { shape: result, leaves: vec![is_zero] })
        })
    }

    fn effect(&mut self, e: &mut Emitter, prim: Prim, args: &[Val], result: Shape) -> Emitted<Val> {
        match prim {
            Prim::ReadReal | Prim::ReadVector | Prim::ReadMatrix => {
                self.demand_no_check(e, prim);
                let text = self.input_error_text(e, prim);
                Some(Val { shape: result, leaves: vec![e.value(Op::Read(prim.item(), text), &[], Type::F64)] })
            }
            Prim::Argument | Prim::ArgumentArray => {
                let op = Op::Argument(piece(prim));
                Some(Val { shape: result, leaves: vec![e.value(op, &[], Type::F64)] })
            }
            Prim::Ask => {
                let what = real_fact(&mut self.flow.shapes, args[0].shape).and_then(Fact::number);
                // Only messages about numbers that are watched name the shard.
                if !self.watches && what.is_some_and(|what| [ENTER_SHARD, SHARD].contains(&what)) {
                    return Some(Val { shape: result, leaves: vec![e.real(0.0)] });
                }
                let asked = self.real_operands(e, prim, args)?;
                let answer = match what {
                    Some(what @ (CALL_BACK | SECOND_DERIVATIVE)) => self.call_back(e, what, &asked),
                    _ => e.value(Op::Ask, &asked, Type::F64),
                };
                Some(Val { shape: result, leaves: vec![answer] })
            }
            Prim::CheckNumber => {
                let number = self.flow.shapes.single(result).and_then(|a| match a.head {
                    Head::Real(fact) => fact.number(),
                    _ => None,
                });
                // What the analysis knows needs no leaf.
                let leaves = if self.leaves(result).is_empty() { vec![] } else { vec![e.real(number.unwrap_or(0.0))] };
                Some(Val { shape: result, leaves })
            }
            Prim::Warn => {
                self.warn(e, &args[0], &args[1]);
                Some(Val { shape: result, leaves: Vec::new() })
            }
            Prim::ResultArray => {
                let sizes = self.real_operands(e, prim, args)?;
                e.inst(Op::Result(Piece::Array), &sizes, &[]);
                Some(Val { shape: result, leaves: Vec::new() })
            }
            Prim::ArgumentElements => {
                let length = self.real_operand(e, prim, 0, &args[0])?;
                let length = e.value(Op::IntOf, &[length], Type::Int);
                let element = self.flow.shapes.single(result)?.children[0];
                let kind = self.vector_kind(element).expect("numbers are leaves");
                let elements = e.value(Op::ArgumentElements(kind), &[length], Type::Ptr);
                Some(self.build(e, result, 0, vec![length, elements]))
            }
            Prim::ResultElements => {
                let number = self.flow.shapes.real(Fact::Unknown);
                let vector = self.flow.shapes.make(Head::Vector, &[number]);
                let Elements { length, elements, .. } = self.numbers(e, prim, &args[0], vector)?;
                let kind = self.vector_kind(number).expect("numbers are leaves");
                e.inst(Op::ResultElements(kind), &[elements.expect("numbers are leaves"), length], &[]);
                Some(Val { shape: result, leaves: Vec::new() })
            }
            Prim::Result | Prim::WriteReal | Prim::WriteByte | Prim::WriteDouble => {
                let number = self.real_operand(e, prim, 0, &args[0])?;
                let op = match prim {
                    Prim::Result => Op::Result(piece(prim)),
                    Prim::WriteByte => Op::WriteByte,
                    Prim::WriteDouble => Op::WriteDouble,
                    _ => Op::WriteReal(Stream::Out),
                };
                e.inst(op, &[number], &[]);
                let number = match self.flow.shapes.single(result).map(|a| a.head) {
                    Some(Head::Real(fact @ Fact::PerhapsZero)) => self.real_leaf(e, prim, 0, &args[0], fact)?,
                    _ => number,
                };
                if prim == Prim::WriteReal {
                    self.write_text(e, Stream::Out, "\n");
                }
                let leaves = if self.leaves(result).is_empty() { Vec::new() } else { vec![number] };
                Some(Val { shape: result, leaves })
            }
            Prim::Write => {
                write::write(self, e, &args[0], Stream::Out);
                Some(args[0].clone())
            }
            Prim::Opaque | Prim::Exchange => {
                let op = if prim == Prim::Opaque { Op::Opaque } else { Op::Exchange };
                let mut value = self.convert(e, &args[0], result)?;
                for (leaf, ty) in value.leaves.iter_mut().zip(self.leaves(result).iter()) {
                    *leaf = e.value(op, &[*leaf], *ty);
                }
                Some(value)
            }
            Prim::Newline => {
                self.write_text(e, Stream::Out, "\n");
                Some(Val { shape: result, leaves: Vec::new() })
            }
            Prim::BeginFile => {
                let name = self.text_number(e, prim, &args[0])?;
                let text = self.output_error_text(e);
                e.inst(Op::BeginFile(text), &[name], &[]);
                Some(Val { shape: result, leaves: Vec::new() })
            }
            Prim::EndFile => {
                let whole = self.real_operand(e, prim, 0, &args[0])?;
                let text = self.output_error_text(e);
                e.inst(Op::EndFile(text), &[whole], &[]);
                Some(Val { shape: result, leaves: Vec::new() })
            }
            Prim::BeginText => {
                e.inst(Op::BeginText, &[], &[]);
                Some(Val { shape: result, leaves: Vec::new() })
            }
            Prim::EndText => Some(Val { shape: result, leaves: vec![e.value(Op::EndText, &[], Type::Int)] }),
            Prim::TextByte => {
                let text = self.text_number(e, prim, &args[0])?;
                let place = self.real_operand(e, prim, 1, &args[1])?;
                Some(Val { shape: result, leaves: vec![e.value(Op::TextByte, &[text, place], Type::F64)] })
            }
            Prim::WriteString => {
                self.dispatch(e, &args[0], result, |this, e, parts| this.write_string(e, parts, result))
            }
            _ => self.raise(e, &args[0], &args[1], &args[2]),
        }
    }

    fn write_string(&mut self, e: &mut Emitter, parts: Parts, result: Shape) -> Emitted<Val> {
        if parts.alternative.head.class() != Class::Text {
            let error = RuntimeError::NotAString { prim: Prim::WriteString, found: self.found(parts.alternative.head) };
            return self.fail(e, &error);
        }
        let text = self.single(e, parts);
        write::display(self, e, &text, Stream::Out);
        Some(Val { shape: result, leaves: Vec::new() })
    }

    /// The condition of a branch: true unless the value is `#f`. `None` if the shape decides.
    pub fn condition(&mut self, e: &mut Emitter, value: &Val) -> Emitted<Value> {
        let unknown = self.flow.shapes.boolean(None);
        let result = self.dispatch(e, value, unknown, |_, e, parts| {
            let leaf = match (parts.alternative.head, parts.own) {
                (Head::Bool(None), Some(leaf)) => leaf,
                (Head::Bool(Some(known)), _) => e.boolean(known),
                _ => e.boolean(true),
            };
            Some(Val { shape: unknown, leaves: vec![leaf] })
        })?;
        Some(result.leaves[0])
    }

    /// A sum with one alternative without fields: what fills unused pointer slots.
    pub fn empty_sum(&mut self) -> crate::ssa::ir::SumId {
        if let Some(sum) = self.empty {
            return sum;
        }
        let nothing = crate::ssa::ir::Alternative { name: "nothing".into(), fields: Vec::new() };
        let sum = self.out.sums.push(crate::ssa::ir::Sum { alternatives: vec![nothing] });
        self.empty = Some(sum);
        sum
    }
}

/// What of a call of a library a primitive is about.
fn piece(prim: Prim) -> Piece {
    match prim {
        Prim::ArgumentArray | Prim::ResultArray => Piece::Array,
        _ => Piece::Number,
    }
}

fn unary(e: &mut Emitter, prim: Prim, x: Value) -> Value {
    let op = match prim {
        Prim::Real => return x,
        Prim::Sign => return sign(e, x),
        Prim::Neg => Real1::Neg,
        Prim::Sqrt => Real1::Sqrt,
        Prim::Exp => Real1::Exp,
        Prim::Log => Real1::Log,
        Prim::Sin => Real1::Sin,
        Prim::Cos => Real1::Cos,
        Prim::Tan => Real1::Tan,
        Prim::Asin => Real1::Asin,
        Prim::Acos => Real1::Acos,
        Prim::Atan => Real1::Atan,
        Prim::Sinh => Real1::Sinh,
        Prim::Cosh => Real1::Cosh,
        Prim::Tanh => Real1::Tanh,
        Prim::Log1p => Real1::Log1p,
        Prim::Expm1 => Real1::Expm1,
        Prim::Erf => Real1::Erf,
        Prim::Erfc => Real1::Erfc,
        Prim::Gamma => Real1::Gamma,
        Prim::LogGamma => Real1::LogGamma,
        Prim::Abs => Real1::Abs,
        Prim::Floor => Real1::Floor,
        Prim::Ceiling => Real1::Ceiling,
        Prim::Round => Real1::Round,
        _ => Real1::Truncate,
    };
    e.value(Op::Real1(op), &[x], Type::F64)
}

/// -1, 0 or 1; not a number stays so.
fn sign(e: &mut Emitter, x: Value) -> Value {
    let zero = e.real(0.0);
    let mut result = x;
    for (test, value) in [(Compare::Eq, 0.0), (Compare::Gt, 1.0), (Compare::Lt, -1.0)] {
        let holds = e.value(Op::Compare(test), &[x, zero], Type::Bool);
        let value = e.real(value);
        result = e.value(Op::Select, &[holds, value, result], Type::F64);
    }
    result
}

fn real2(prim: Prim) -> Real2 {
    match prim {
        Prim::Add => Real2::Add,
        Prim::Sub => Real2::Sub,
        Prim::Mul | Prim::Scale => Real2::Mul,
        Prim::Div | Prim::Unscale => Real2::Div,
        Prim::Atan2 => Real2::Atan2,
        _ => Real2::Pow,
    }
}

fn compare(prim: Prim) -> Compare {
    match prim {
        Prim::Eq => Compare::Eq,
        Prim::Lt => Compare::Lt,
        Prim::Gt => Compare::Gt,
        Prim::Le => Compare::Le,
        _ => Compare::Ge,
    }
}
