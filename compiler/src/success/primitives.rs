//! Primitives on what is known of their operands: what comes of them, when they certainly fail, and what is known of
//! the operands once they have not failed.

use super::interpreter::{Frame, Interpreter};
use super::value::{Head, Value, agreement};
use crate::core::arithmetic;
use crate::core::errors::{Found, RuntimeError};
use crate::core::ir::{RecordId, Var};
use crate::core::number;
use crate::core::prim::{Family, Prim};

/// The kinds of values that operands have to be of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    Real,
    Text,
    Vector,
    Pair,
    Nil,
    Record(RecordId),
}

impl Demand {
    /// What is known of any value of the kind.
    fn least(self) -> Value {
        match self {
            Demand::Real => Value::Real(None),
            Demand::Text => Value::Text(None),
            Demand::Vector => Value::Vector(None, Value::element(Some(&Value::Any), None)),
            Demand::Nil => Value::Nil,
            Demand::Pair => Value::pair(Value::Any, Value::Any),
            Demand::Record(kind) => Value::made(Head::Record(kind), vec![Value::pair(Value::Any, Value::Any)]),
        }
    }

    /// Whether a value is of the kind, if that is known.
    pub fn is_met(self, value: &Value) -> Option<bool> {
        agreement(value.kinds().iter().map(|value| {
            Some(match (self, value) {
                (_, Value::Any) => return None,
                (Demand::Nil, Value::Nil)
                | (Demand::Real, Value::Real(_))
                | (Demand::Text, Value::Text(_))
                | (Demand::Vector, Value::Vector(..))
                | (Demand::Pair, Value::Made(Head::Pair, _)) => true,
                (Demand::Record(kind), Value::Made(Head::Record(found), _)) => kind == *found,
                _ => false,
            })
        }))
    }

    /// What is known of a value that is of the kind.
    pub fn narrow(self, value: &Value) -> Value {
        if *value == Value::Any {
            return self.least();
        }
        let kinds = value.kinds();
        let left = kinds.iter().filter(|value| self.is_met(value) == Some(true)).cloned();
        Value::one_of(left).unwrap_or_else(|| self.least())
    }
}

/// What a test asks for, if it asks for one of these kinds.
fn demanded(prim: Prim, of: Option<&Value>) -> Option<Demand> {
    Some(match prim {
        Prim::IsReal => Demand::Real,
        Prim::IsString => Demand::Text,
        Prim::IsVector => Demand::Vector,
        Prim::IsPair => Demand::Pair,
        Prim::IsNull => Demand::Nil,
        Prim::IsOfKind => match of {
            Some(Value::Made(Head::Record(kind), _)) => Demand::Record(*kind),
            _ => return None,
        },
        _ => return None,
    })
}

/// How a test of a value comes out, if that is known.
fn asked(prim: Prim, value: &Value, of: Option<&Value>) -> Option<bool> {
    if let Some(demand) = demanded(prim, of) {
        return demand.is_met(value);
    }
    agreement(value.kinds().iter().map(|value| match (prim, value) {
        (_, Value::Any) => None,
        (Prim::IsBoolean, value) => Some(matches!(value, Value::Bool(_))),
        (Prim::IsProcedure, value) => Some(matches!(value, Value::Made(Head::Function(_), _))),
        (Prim::IsRecord, value) => Some(matches!(value, Value::Made(Head::Record(_), _))),
        _ => None,
    }))
}

/// What is known of a value of which a test has come out so.
pub fn tested(prim: Prim, value: &Value, of: Option<&Value>, outcome: bool) -> Option<Value> {
    match value {
        Value::Any if outcome && prim == Prim::IsBoolean => Some(Value::Bool(None)),
        Value::Any => demanded(prim, of).filter(|_| outcome).map(Demand::least),
        value => {
            let kinds = value.kinds();
            Value::one_of(kinds.iter().filter(|value| asked(prim, value, of) != Some(!outcome)).cloned())
        }
    }
}

impl Interpreter<'_> {
    /// Demands that a value is of a kind.
    pub fn demand(
        &self,
        frame: &mut Frame,
        var: Var,
        demand: Demand,
        error: impl FnOnce(Found) -> RuntimeError,
    ) -> Result<(), RuntimeError> {
        let value = frame.value(var);
        match demand.is_met(&value) {
            Some(true) => Ok(()),
            None => {
                frame.know(var, demand.narrow(&value));
                Ok(())
            }
            Some(false) => match value.found(&self.program.records) {
                Some(found) => Err(error(found)),
                None => Ok(()),
            },
        }
    }

    fn demand_reals(&self, frame: &mut Frame, prim: Prim, operands: &[Var]) -> Result<(), RuntimeError> {
        (0..).zip(operands).try_for_each(|(operand, var)| {
            self.demand(frame, *var, Demand::Real, |found| RuntimeError::NotAReal { prim, operand, found })
        })
    }

    /// What comes of a primitive. `result` is the variable that is bound to that.
    pub fn primitive(
        &self,
        frame: &mut Frame,
        result: Var,
        prim: Prim,
        operands: &[Var],
    ) -> Result<Value, RuntimeError> {
        let is_text = |found| RuntimeError::NotAString { prim, found };
        let is_vector = |found| RuntimeError::NotAVector { prim, found };
        Ok(match prim {
            // These are part of derivatives.
            Prim::Scale | Prim::Unscale => Value::Any,
            Prim::IsSameString => {
                for var in operands {
                    self.demand(frame, *var, Demand::Text, is_text)?;
                }
                Value::Bool(None)
            }
            Prim::IsZero | Prim::IsTransformed => Value::Bool(None),
            Prim::Cons => Value::pair(frame.value(operands[0]), frame.value(operands[1])),
            Prim::Car | Prim::Cdr => {
                self.demand(frame, operands[0], Demand::Pair, |found| RuntimeError::NotAPair { prim, found })?;
                frame.part(result, operands[0], usize::from(prim == Prim::Cdr))
            }
            Prim::Record => match frame.value(operands[0]) {
                Value::Made(head @ Head::Record(_), _) => Value::made(head, vec![frame.value(operands[1])]),
                _ => Value::Any,
            },
            Prim::RecordParts => match frame.value(operands[0]) {
                Value::Made(Head::Record(_), parts) => parts.values[0].clone(),
                _ => Value::Any,
            },
            Prim::NewVector => {
                self.demand_reals(frame, prim, operands)?;
                match frame.value(operands[0]).number() {
                    Some(length) if length < 0.0 || length.fract() != 0.0 => {
                        return Err(RuntimeError::NotALength { number: number::format(length).as_str().into() });
                    }
                    _ => Value::Beginning(Some(0), None),
                }
            }
            Prim::Fill => match frame.value(operands[0]) {
                Value::Beginning(count, element) => {
                    let element = Value::element(element.as_deref(), Some(&frame.value(operands[1])));
                    Value::Beginning(count.and_then(|count| count.checked_add(1)), element)
                }
                _ => Value::Beginning(None, Value::element(Some(&Value::Any), None)),
            },
            Prim::Finish => match frame.value(operands[0]) {
                Value::Beginning(count, element) => Value::Vector(count, element),
                _ => Demand::Vector.least(),
            },
            Prim::Filled => Value::Real(None),
            Prim::VectorLength => {
                self.demand(frame, operands[0], Demand::Vector, is_vector)?;
                match frame.value(operands[0]) {
                    Value::Vector(length, _) => Value::Real(length.map(f64::from)),
                    _ => Value::Real(None),
                }
            }
            Prim::VectorRef => {
                self.demand(frame, operands[0], Demand::Vector, is_vector)?;
                let (prim, operand) = (Prim::VectorRef, 1);
                self.demand(frame, operands[1], Demand::Real, |found| RuntimeError::NotAReal { prim, operand, found })?;
                let (vector, index) = (frame.value(operands[0]), frame.value(operands[1]).number());
                if let Some(index) = index {
                    let below = match &vector {
                        Value::Vector(Some(length), _) => f64::from(*length),
                        _ => f64::INFINITY,
                    };
                    if (index < 0.0 || index >= below || index.fract() != 0.0) && below.is_finite() {
                        let [index, length] = [index, below].map(|number| number::format(number).as_str().into());
                        return Err(RuntimeError::NotAnIndex { index, length });
                    }
                }
                match vector {
                    Value::Vector(_, Some(element)) => (*element).clone(),
                    _ => Value::Any,
                }
            }
            Prim::WithElement => match frame.value(operands[0]) {
                Value::Vector(length, element) => {
                    Value::Vector(length, Value::element(element.as_deref(), Some(&frame.value(operands[2]))))
                }
                _ => Value::Any,
            },
            Prim::ReadReal | Prim::ReadVector | Prim::ReadMatrix => Value::Real(None),
            Prim::WriteReal => {
                self.demand_reals(frame, prim, operands)?;
                frame.value(operands[0])
            }
            Prim::WriteString => {
                self.demand(frame, operands[0], Demand::Text, is_text)?;
                Value::Any
            }
            Prim::TextByte => {
                self.demand(frame, operands[0], Demand::Text, is_text)?;
                Value::Real(None)
            }
            Prim::EndText => Value::Text(None),
            Prim::Error => {
                let records = &self.program.records;
                let message = match frame.value(operands[0]) {
                    Value::Text(Some(text)) => text.to_string(),
                    other => other.printed(records),
                };
                return Err(RuntimeError::Raised { message, value: frame.value(operands[1]).printed(records) });
            }
            _ => match prim.family() {
                Family::Arithmetic => {
                    self.demand_reals(frame, prim, operands)?;
                    let numbers: Option<Vec<f64>> = operands.iter().map(|var| frame.value(*var).number()).collect();
                    Value::Real(numbers.and_then(|numbers| match numbers[..] {
                        // What `real` is applied to is to be forgotten.
                        _ if prim == Prim::Real => None,
                        [x] => arithmetic::real1(prim, x),
                        [x, y] => arithmetic::real2(prim, x, y),
                        _ => None,
                    }))
                }
                Family::Comparison => {
                    self.demand_reals(frame, prim, operands)?;
                    let numbers = [0, 1].map(|operand| frame.value(operands[operand]).number());
                    Value::Bool(match numbers {
                        [Some(x), Some(y)] => arithmetic::compare(prim, x, y),
                        _ => None,
                    })
                }
                Family::Test => {
                    let of = operands.get(1).map(|of| frame.value(*of));
                    let answer = asked(prim, &frame.value(operands[0]), of.as_ref());
                    if answer.is_none() {
                        frame.test(result, operands[0], prim, of);
                    }
                    Value::Bool(answer)
                }
                _ => Value::Any,
            },
        })
    }
}
