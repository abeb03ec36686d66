//! What each primitive does in the reference evaluator.

use super::deferred;
use super::files::Target;
use super::operators;
use super::print::{found, print, shortened};
use super::value::{Function, Operator, Real, Value};
use super::{Counts, machine::World};
use crate::ad::{adding, plain};
use crate::core::arithmetic;
use crate::core::errors::RuntimeError;
use crate::core::input::Unread;
use crate::core::ir::{Below, Part, Program};
use crate::core::number;
use crate::core::prim::{Family, Levels, Prim};
use crate::core::question::{ENTER_SHARD, SHARD};
use std::rc::Rc;

/// Applies a primitive. Operands that it does not take are `()`.
pub fn apply(prim: Prim, operands: [Value; 3], world: &mut World<'_>) -> Result<Value, RuntimeError> {
    let [x, y, z] = operands;
    match prim.family() {
        Family::Arithmetic if prim.arity() == 1 => {
            let x = number_of(prim, 0, &x, world.program)?;
            world.counts.add(prim, 1);
            Ok(arithmetic::real1(prim, x).map(Value::real).unwrap_or_default())
        }
        Family::Arithmetic => arithmetic2(prim, &x, &y, world.program, &mut world.counts),
        Family::Comparison if prim == Prim::IsSameString => match (&x, &y) {
            (Value::Str(a), Value::Str(b)) => Ok(Value::Bool(a == b)),
            (Value::Str(_), other) | (other, _) => {
                Err(RuntimeError::NotAString { prim, found: found(world.program, other) })
            }
        },
        Family::Comparison => {
            let (x, y) = (number_of(prim, 0, &x, world.program)?, number_of(prim, 1, &y, world.program)?);
            Ok(Value::Bool(arithmetic::compare(prim, x, y) == Some(true)))
        }
        Family::Test => Ok(Value::Bool(test(Below::NONE, prim, &x, &y))),
        Family::Structure => structure(prim, x, y, world.program),
        Family::Vector if prim == Prim::WithElement => with_element(x, &y, z, world.program),
        Family::Vector => vector(prim, x, y, world.program),
        Family::Derivative => derivative(Below::NONE, prim, &x, &y, &z, world),
        Family::Kernel => kernel(prim, &x, &y, world.program),
        Family::Effect => effect(prim, x, y, z, world),
    }
}

/// Applies a derivative operator or a test below some transformations of its operands.
pub fn apply_below(
    below: Below,
    prim: Prim,
    [x, y, z]: [Value; 3],
    world: &mut World<'_>,
) -> Result<Value, RuntimeError> {
    match prim.family() {
        Family::Test => Ok(Value::Bool(test(below, prim, &x, &y))),
        _ => derivative(below, prim, &x, &y, &z, world),
    }
}

/// The number that an operand is; tags make it something else than a number.
fn number_of(prim: Prim, operand: usize, value: &Value, program: &Program) -> Result<f64, RuntimeError> {
    match value {
        Value::Real(Real { number, tags: 0, .. }) => Ok(*number),
        _ => Err(RuntimeError::NotAReal { prim, operand, found: found(program, value) }),
    }
}

fn arithmetic2(
    prim: Prim,
    x: &Value,
    y: &Value,
    program: &Program,
    counts: &mut Counts,
) -> Result<Value, RuntimeError> {
    let (left, right) = (number_of(prim, 0, x, program)?, number_of(prim, 1, y, program)?);
    let symbolic = |value: &Value| matches!(value, Value::Real(Real { symbolic: true, .. }));
    // A product of a sensitivity and a partial derivative is linear in both: in a derivative of higher order the
    // partial derivative can be a sensitivity itself.
    let vanishes = match prim {
        Prim::Scale => symbolic(x) || symbolic(y),
        Prim::Unscale => symbolic(x),
        _ => false,
    };
    if vanishes {
        return Ok(Value::Real(Real::symbolic_zero(0)));
    }
    counts.add(prim, 1);
    Ok(arithmetic::real2(prim, left, right).map(Value::real).unwrap_or_default())
}

fn test(below: Below, prim: Prim, x: &Value, y: &Value) -> bool {
    match prim {
        Prim::IsNull => matches!(x, Value::Nil),
        Prim::IsPair => matches!(x, Value::Pair(_)),
        Prim::IsReal | Prim::IsReverse | Prim::IsForward | Prim::IsSeries => number_is(below, prim, x),
        Prim::IsBoolean => matches!(x, Value::Bool(_)),
        Prim::IsString => matches!(x, Value::Str(_)),
        Prim::IsProcedure => matches!(x, Value::Closure(_)),
        Prim::IsVector => matches!(x, Value::Vector(_)),
        Prim::IsZero => is_zero(x),
        Prim::IsRecord => matches!(x, Value::Record(..)),
        Prim::IsOfKind => matches!((x, y), (Value::Record(x), Value::Record(wanted)) if x.kind() == wanted.kind()),
        _ => false,
    }
}

/// Whether a number consists of symbolic zeros, or `zero` made data.
fn is_zero(x: &Value) -> bool {
    match x {
        Value::Real(real) => real.symbolic,
        Value::Pair(pair) | Value::Record(pair) => pair.is_zero(),
        Value::Bundle(_) | Value::Series(_) => operators::consists_of_zeros(x),
        Value::Vector(vector) => vector.is_zero(),
        _ => false,
    }
}

/// What a value is below some transformations, if it is a number.
fn number_is(Below { forward: mut below, mut series }: Below, prim: Prim, mut x: &Value) -> bool {
    loop {
        match x {
            Value::Series(coefficients) if series > 0 => (series, x) = (series - 1, coefficients.car()),
            Value::Series(_) => return prim == Prim::IsSeries,
            _ if series > 0 => return false,
            Value::Real(real) => {
                return match prim {
                    Prim::IsReal => real.tags == below,
                    Prim::IsReverse => real.tags > below,
                    _ => false,
                };
            }
            Value::Bundle(bundle) if below > bundle.tags() => (below, x) = (below - bundle.tags() - 1, bundle.car()),
            Value::Bundle(bundle) => {
                return match prim {
                    Prim::IsForward => bundle.tags() == below,
                    Prim::IsReverse => bundle.tags() > below,
                    _ => false,
                };
            }
            _ => return false,
        }
    }
}

fn structure(prim: Prim, x: Value, y: Value, program: &Program) -> Result<Value, RuntimeError> {
    match (prim, &x) {
        (Prim::Cons, _) => Ok(Value::pair(x, y)),
        // In what is handed to backpropagators there may be nothing.
        (Prim::Record, Value::Record(of)) => match &y {
            Value::Nothing => Ok(Value::Nothing),
            Value::Pair(pair) => Ok(Value::renamed(pair, Some(of.kind()))),
            _ => Err(RuntimeError::NotAPair { prim, found: found(program, &y) }),
        },
        (Prim::RecordParts, Value::Nothing) => Ok(Value::Nothing),
        (Prim::RecordParts, Value::Record(pair)) => Ok(Value::renamed(pair, None)),
        (Prim::Record | Prim::RecordParts, _) => {
            Err(RuntimeError::Sensitivity { part: Part::Never, record: None, found: found(program, &x) })
        }
        (Prim::Car, Value::Pair(pair)) => Ok(pair.car().clone()),
        (_, Value::Pair(pair)) => Ok(pair.cdr().clone()),
        _ => Err(RuntimeError::NotAPair { prim, found: found(program, &x) }),
    }
}

/// More elements than fit into any memory.
const TOO_MANY: f64 = 1e15;

fn vector(prim: Prim, x: Value, y: Value, program: &Program) -> Result<Value, RuntimeError> {
    if prim == Prim::NewVector {
        let number = number_of(prim, 0, &x, program)?;
        if number.fract() != 0.0 || !(0.0..TOO_MANY).contains(&number) {
            return Err(RuntimeError::NotALength { number: number::format(number).as_str().into() });
        }
        let mut elements = Vec::new();
        elements.try_reserve_exact(number as usize).map_err(|_| RuntimeError::Exhausted)?;
        return Ok(Value::vector(elements));
    }
    let Value::Vector(vector) = x else {
        return Err(RuntimeError::NotAVector { prim, found: found(program, &x) });
    };
    match prim {
        Prim::VectorLength | Prim::Filled => Ok(Value::real(vector.elements().len() as f64)),
        Prim::Fill => Ok(vector.with(y)),
        Prim::Finish => Ok(Value::Vector(vector)),
        _ => Ok(vector.elements()[index_of(prim, &y, vector.elements().len(), program)?].clone()),
    }
}

/// What a kernel makes of a list of numbers, the first of which is the length of the result, and a list of vectors.
fn kernel(prim: Prim, sizes: &Value, vectors: &Value, program: &Program) -> Result<Value, RuntimeError> {
    let sizes = items(sizes).iter().map(|x| number_of(prim, 0, x, program)).collect::<Result<Vec<f64>, _>>()?;
    let mut operands = Vec::new();
    for vector in items(vectors) {
        let Value::Vector(vector) = &vector else {
            return Err(RuntimeError::NotAVector { prim, found: found(program, &vector) });
        };
        let numbers = vector.elements().iter().map(|x| number_of(prim, 1, x, program));
        operands.push(numbers.collect::<Result<Vec<f64>, _>>()?);
    }
    let operands: Vec<&[f64]> = operands.iter().map(|vector| &vector[..]).collect();
    let kernel = prim.kernel().expect("this is a kernel");
    let mut result = Vec::new();
    result.try_reserve_exact(sizes[0] as usize).map_err(|_| RuntimeError::Exhausted)?;
    result.resize(sizes[0] as usize, 0.0);
    kernel.run(&mut result, &sizes[1..], &operands).map_err(|_| RuntimeError::Exhausted)?;
    Ok(Value::vector(result.into_iter().map(Value::real).collect()))
}

/// The vector with another element at an index.
fn with_element(x: Value, index: &Value, element: Value, program: &Program) -> Result<Value, RuntimeError> {
    let Value::Vector(vector) = x else {
        return Err(RuntimeError::NotAVector { prim: Prim::VectorRef, found: found(program, &x) });
    };
    let index = index_of(Prim::VectorRef, index, vector.elements().len(), program)?;
    Ok(vector.with_element(index, element))
}

/// Whether the element of a sum at an index has vectors that are handed on.
fn gives_element(sum: &Value, index: &Value, program: &Program) -> Result<bool, RuntimeError> {
    match sum {
        Value::Nothing => Ok(false),
        _ => {
            let element = vector(Prim::VectorRef, sum.clone(), index.clone(), program)?;
            Ok(operators::hands_on(&element, Levels::ALL))
        }
    }
}

/// The zero of a vector with a sensitivity in the place of the zero at an index.
fn in_element(x: &Value, index: &Value, element: &Value, program: &Program) -> Result<Value, RuntimeError> {
    let Value::Vector(_) = x else {
        return Err(RuntimeError::NotAVector { prim: Prim::VectorRef, found: found(program, x) });
    };
    with_element(deferred::zero(x), index, element.clone(), program)
}

/// The index into a vector of so many elements that an operand is.
fn index_of(prim: Prim, index: &Value, length: usize, program: &Program) -> Result<usize, RuntimeError> {
    let number = number_of(prim, 1, index, program)?;
    if number.fract() != 0.0 || !(0.0..length as f64).contains(&number) {
        let index = number::format(number).as_str().into();
        return Err(RuntimeError::NotAnIndex { index, length: number::format(length as f64).as_str().into() });
    }
    Ok(number as usize)
}

fn derivative(
    below: Below,
    prim: Prim,
    x: &Value,
    y: &Value,
    z: &Value,
    world: &mut World<'_>,
) -> Result<Value, RuntimeError> {
    match prim {
        Prim::Zero => Ok(deferred::zero(x)),
        Prim::Plus => {
            let mut additions = 0;
            let sum = match world.strict_sums {
                true => operators::strict_plus(world.program, x, y, &mut additions),
                false => operators::plus(world.program, x, y, &mut additions),
            };
            world.counts.add(Prim::Plus, additions);
            sum
        }
        Prim::InCar | Prim::InCdr => match x {
            Value::Pair(pair) if prim == Prim::InCar => Ok(Value::pair(y.clone(), deferred::zero(pair.cdr()))),
            Value::Pair(pair) => Ok(Value::pair(deferred::zero(pair.car()), y.clone())),
            _ => {
                let prim = if prim == Prim::InCar { Prim::Car } else { Prim::Cdr };
                Err(RuntimeError::NotAPair { prim, found: found(world.program, x) })
            }
        },
        Prim::Handed | Prim::HandedFew | Prim::Kept => Ok(operators::split_sum(x, prim, Levels::ALL)),
        Prim::Lent => Ok(x.clone()),
        Prim::SumCar | Prim::SumCdr | Prim::SplitCar | Prim::SplitCdr => match x {
            Value::Nothing => Ok(Value::Nothing),
            Value::Pair(pair) if matches!(prim, Prim::SumCar | Prim::SplitCar) => Ok(pair.car().clone()),
            Value::Pair(pair) => Ok(pair.cdr().clone()),
            _ => Err(RuntimeError::NotAPair { prim, found: found(world.program, x) }),
        },
        Prim::Adding | Prim::Plain => Ok(match x {
            Value::Closure(closure) => {
                let Function { base, tower } = closure.function();
                let base = match prim {
                    Prim::Plain => plain(world.program, base).unwrap_or(base),
                    _ => adding(world.program, base),
                };
                Value::closure(Function { base, tower }, closure.captures().to_vec())
            }
            other => other.clone(),
        }),
        Prim::InElement => in_element(x, y, z, world.program),
        Prim::TakeElement if !gives_element(x, y, world.program)? => Ok(Value::Nothing),
        Prim::TakeElement => vector(Prim::VectorRef, x.clone(), y.clone(), world.program),
        Prim::PutElement if matches!(x, Value::Nothing) => Ok(z.clone()),
        Prim::PutElement if gives_element(x, y, world.program)? => {
            let new = vector(Prim::VectorRef, z.clone(), y.clone(), world.program)?;
            with_element(x.clone(), y, new, world.program)
        }
        Prim::PutElement => derivative(below, Prim::Plus, x, z, &Value::Nothing, world),
        Prim::J => Ok(deferred::apply(Operator::Reverse(below), x)),
        Prim::JStar => Ok(deferred::apply(Operator::Forward(below), x)),
        Prim::Lift => Ok(deferred::apply(Operator::Lift(below), x)),
        Prim::Unlift => operators::undo(world.program, Operator::Unlift(below), x),
        Prim::LiftDirections => Ok(deferred::apply(Operator::LiftDirections(below), x)),
        Prim::UnliftDirections => operators::undo(world.program, Operator::UnliftDirections(below), x),
        Prim::Series => match x {
            Value::Pair(pair) => Ok(Value::series(pair.car().clone(), pair.cdr().clone())),
            _ => Err(RuntimeError::NotAPair { prim, found: found(world.program, x) }),
        },
        Prim::SeriesParts => match x {
            Value::Series(series) => Ok(Value::pair(series.car().clone(), series.cdr().clone())),
            _ => Err(RuntimeError::NotAReal { prim, operand: 0, found: found(world.program, x) }),
        },
        Prim::Environment => match x {
            Value::Closure(closure) => Ok(list(closure.captures())),
            _ => Err(RuntimeError::NotAProcedure { found: found(world.program, x) }),
        },
        Prim::WithEnvironment => match (x, items(y)) {
            (Value::Closure(closure), items) if items.len() == closure.captures().len() => {
                Ok(Value::closure(closure.function(), items))
            }
            _ => Err(RuntimeError::NotAProcedure { found: found(world.program, x) }),
        },
        Prim::Bundle => operators::bundle(world.program, below, x, y),
        Prim::Primal => operators::undo(world.program, Operator::Primal(below), x),
        Prim::Tangent => operators::undo(world.program, Operator::Tangent(below), x),
        _ => operators::undo(world.program, Operator::ReverseInverse(below), x),
    }
}

fn list(values: &[Value]) -> Value {
    values.iter().rev().fold(Value::Nil, |tail, value| Value::pair(value.clone(), tail))
}

fn items(list: &Value) -> Vec<Value> {
    let (mut items, mut rest) = (Vec::new(), list);
    while let Value::Pair(pair) = rest {
        items.push(pair.car().clone());
        rest = pair.cdr();
    }
    items
}

fn effect(prim: Prim, x: Value, y: Value, carried: Value, world: &mut World<'_>) -> Result<Value, RuntimeError> {
    match prim {
        Prim::ReadReal | Prim::ReadVector | Prim::ReadMatrix => read(prim, world),
        Prim::Opaque | Prim::Exchange => Ok(x),
        Prim::CheckNumber => Ok(Value::real(0.0)),
        Prim::Warn => Ok(Value::Nil),
        Prim::Ask => {
            let (what, about) = (number_of(prim, 0, &x, world.program)?, number_of(prim, 1, &y, world.program)?);
            match what {
                ENTER_SHARD => world.shard = about,
                SHARD => return Ok(Value::real(world.shard)),
                _ => {}
            }
            // While a derivative is checked nobody listens.
            Ok(Value::real(world.answer.filter(|_| !world.in_check).map_or(0.0, |answer| answer(what, about))))
        }
        _ if prim.is_of_library() => {
            Err(RuntimeError::InputOutput { message: format!("`{prim}` works in libraries only") })
        }
        Prim::BeginFile => {
            let Value::Str(name) = &x else {
                return Err(RuntimeError::NotAString { prim, found: found(world.program, &x) });
            };
            world.files.begin(name)?;
            Ok(Value::Nil)
        }
        Prim::EndFile => {
            let whole = number_of(prim, 0, &x, world.program)?;
            world.files.end(whole != 0.0)?;
            Ok(Value::Nil)
        }
        Prim::BeginText => {
            world.files.begin_text();
            Ok(Value::Nil)
        }
        Prim::EndText => Ok(Value::Str(Rc::new(world.files.end_text().into()))),
        Prim::TextByte => {
            let Value::Str(text) = &x else {
                return Err(RuntimeError::NotAString { prim, found: found(world.program, &x) });
            };
            let place = number_of(prim, 1, &y, world.program)?;
            let byte = Some(place).filter(|place| *place >= 0.0).and_then(|place| text.as_bytes().get(place as usize));
            Ok(Value::real(byte.map_or(-1.0, |byte| f64::from(*byte))))
        }
        Prim::Error => {
            let error = raised(&x, &y, world.program);
            world.raised = Some((x, carried));
            Err(error)
        }
        _ => write(prim, x, world),
    }
}

fn read(prim: Prim, world: &mut World<'_>) -> Result<Value, RuntimeError> {
    if world.in_check {
        return Err(RuntimeError::ReadInCheck { prim });
    }
    // Whoever types the number must have seen the question.
    world.output.flush().map_err(failed)?;
    world.input.read(prim.item()).map(Value::real).map_err(|unread| match unread {
        Unread::End => RuntimeError::EndOfInput { prim },
        Unread::Malformed(report) => RuntimeError::MalformedInput { report },
        Unread::Failed(error) => failed(error),
    })
}

/// Effects that write. While a derivative is checked nothing is written.
fn write(prim: Prim, x: Value, world: &mut World<'_>) -> Result<Value, RuntimeError> {
    let World { program, in_check, output, files, .. } = world;
    let mut nowhere = std::io::sink();
    let output: &mut dyn std::io::Write = match files.current() {
        Some(Target::Text(text)) => text,
        _ if *in_check => &mut nowhere,
        Some(Target::File(file)) => file,
        None => *output,
    };
    match prim {
        Prim::WriteReal => {
            let number = number_of(prim, 0, &x, program)?;
            writeln!(output, "{}", number::format(number).as_str()).map_err(failed)?;
            Ok(x)
        }
        Prim::WriteByte => {
            let number = number_of(prim, 0, &x, program)?;
            output.write_all(&[number as u8]).map_err(failed)?;
            Ok(x)
        }
        Prim::WriteDouble => {
            let number = number_of(prim, 0, &x, program)?;
            output.write_all(&number.to_le_bytes()).map_err(failed)?;
            Ok(x)
        }
        Prim::WriteString => {
            let Value::Str(text) = &x else {
                return Err(RuntimeError::NotAString { prim, found: found(program, &x) });
            };
            output.write_all(text.as_bytes()).map_err(failed)?;
            Ok(Value::Nil)
        }
        Prim::Newline => {
            output.write_all(b"\n").map_err(failed)?;
            Ok(Value::Nil)
        }
        _ => {
            print(program, &x, output).map_err(failed)?;
            Ok(x)
        }
    }
}

/// Messages of a program itself are whole, as long as they fit well into memory: shared data can have texts without
/// end.
const LONGEST_MESSAGE: usize = 1 << 26;

/// `(error message value)`: the text of the message, the value as `write` prints it.
fn raised(message: &Value, value: &Value, program: &Program) -> RuntimeError {
    let message = match message {
        Value::Str(text) => text.to_string(),
        _ => shortened(program, message, LONGEST_MESSAGE),
    };
    RuntimeError::Raised { message, value: shortened(program, value, LONGEST_MESSAGE) }
}

/// The operating system's refusal as an error of the program.
pub fn failed(error: std::io::Error) -> RuntimeError {
    RuntimeError::InputOutput { message: error.to_string() }
}
