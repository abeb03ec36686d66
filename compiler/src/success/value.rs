//! What is known of a value: of what kind it is, and what it is made of.

use crate::base::{EntityVec, Span};
use crate::core::errors::{Found, Kind};
use crate::core::ir::{Const, LambdaId, Record, RecordId};
use crate::core::number;
use std::rc::Rc;

/// Of data that are deeper, nothing is known of the deeper part: values are walked by recursion.
const DEEPEST: u32 = 64;

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    Any,
    /// It is `()`.
    Nil,
    /// A boolean, perhaps a known one.
    Bool(Option<bool>),
    /// A number, perhaps a known one.
    Real(Option<f64>),
    /// A text, perhaps a known one.
    Text(Option<Rc<str>>),
    /// A vector, perhaps of known length.
    Vector(Option<u32>),
    /// The beginning of a vector, with as many elements.
    Beginning(Option<u32>),
    /// A value that is made of others.
    Made(Head, Rc<Parts>),
}

/// What makes a value of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A pair, of two values.
    Pair,
    /// A record of that kind, of the pair that it is another name of.
    Record(RecordId),
    /// A function, of what it has captured.
    Function(LambdaId),
}

/// What a value is made of.
#[derive(Debug, PartialEq)]
pub struct Parts {
    depth: u32,
    /// The parts, in order.
    pub values: Vec<Value>,
}

impl Value {
    /// The value that is made of others.
    pub fn made(head: Head, mut values: Vec<Value>) -> Value {
        let mut depth = 1 + values.iter().map(Value::depth).max().unwrap_or(0);
        if depth > DEEPEST {
            values.fill(Value::Any);
            depth = 1;
        }
        Value::Made(head, Rc::new(Parts { depth, values }))
    }

    /// A pair of which that is known.
    pub fn pair(first: Value, second: Value) -> Value {
        Value::made(Head::Pair, vec![first, second])
    }

    /// A constant.
    pub fn of(constant: &Const) -> Value {
        match constant {
            Const::Nil => Value::Nil,
            Const::Bool(value) => Value::Bool(Some(*value)),
            Const::Real(value) => Value::Real(Some(*value)),
            Const::Str(text) => Value::Text(Some(text.clone())),
            Const::Record(kind) => Value::made(Head::Record(*kind), vec![Value::pair(Value::Nil, Value::Nil)]),
            Const::Nothing => Value::Any,
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Value::Made(_, parts) => parts.depth,
            _ => 0,
        }
    }

    /// What is known of a value that is one or the other.
    pub fn join(self, other: Value) -> Value {
        fn agreed<T: PartialEq>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.filter(|one| Some(one) == other.as_ref())
        }
        match (self, other) {
            (Value::Nil, Value::Nil) => Value::Nil,
            (Value::Bool(x), Value::Bool(y)) => Value::Bool(agreed(x, y)),
            (Value::Real(x), Value::Real(y)) => Value::Real(agreed(x, y)),
            (Value::Text(x), Value::Text(y)) => Value::Text(agreed(x, y)),
            (Value::Vector(x), Value::Vector(y)) => Value::Vector(agreed(x, y)),
            (Value::Beginning(x), Value::Beginning(y)) => Value::Beginning(agreed(x, y)),
            (Value::Made(head, x), Value::Made(other, y)) if head == other => {
                if Rc::ptr_eq(&x, &y) {
                    return Value::Made(head, x);
                }
                Value::made(
                    head,
                    x.values.iter().cloned().zip(y.values.iter().cloned()).map(|(x, y)| x.join(y)).collect(),
                )
            }
            _ => Value::Any,
        }
    }

    /// What it is made of, if it has that head.
    pub fn parts(&self, head: Head) -> Option<&[Value]> {
        match self {
            Value::Made(found, parts) if *found == head => Some(&parts.values),
            _ => None,
        }
    }

    /// Whether it counts as true, if that is known.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Value::Any | Value::Bool(None) => None,
            Value::Bool(Some(value)) => Some(*value),
            _ => Some(true),
        }
    }

    /// The number, if it is known.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Real(number) => *number,
            _ => None,
        }
    }

    /// What messages call it; `None` where its kind is not known.
    pub fn found(&self, records: &EntityVec<RecordId, Record>) -> Option<Found> {
        Some(Found::from(match self {
            Value::Any => return None,
            Value::Nil => Kind::Nil,
            Value::Bool(_) => Kind::Boolean,
            Value::Real(_) => Kind::Real,
            Value::Text(_) => Kind::Text,
            Value::Vector(_) | Value::Beginning(_) => Kind::Vector,
            Value::Made(Head::Pair, _) => Kind::Pair,
            Value::Made(Head::Record(kind), _) => Kind::Record(records[*kind].name.clone()),
            Value::Made(Head::Function(_), _) => Kind::Procedure,
        }))
    }

    /// It in the message of an error that was raised with it: printed, with `...` for what is not known.
    pub fn printed(&self, records: &EntityVec<RecordId, Record>) -> String {
        match self {
            Value::Nil => "()".into(),
            Value::Bool(Some(value)) => if *value { "#t" } else { "#f" }.into(),
            Value::Real(Some(value)) => number::format(*value).as_str().into(),
            Value::Text(Some(text)) => format!("{text:?}"),
            Value::Made(Head::Pair, parts) => {
                let (mut text, mut rest) = (format!("({}", parts.values[0].printed(records)), &parts.values[1]);
                while let Value::Made(Head::Pair, parts) = rest {
                    text += &format!(" {}", parts.values[0].printed(records));
                    rest = &parts.values[1];
                }
                match rest {
                    Value::Nil => text + ")",
                    other => text + &format!(" . {})", other.printed(records)),
                }
            }
            known => known.found(records).map_or("...".into(), |found| found.kind.describe().into()),
        }
    }
}

/// A call on the way to a failure.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Where it stands.
    pub span: Span,
    /// The function called.
    pub callee: LambdaId,
}
