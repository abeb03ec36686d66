//! What is known of a value: of what kind it is, and what it is made of.

use crate::base::{EntityVec, Span};
use crate::core::errors::{Found, Kind};
use crate::core::ir::{Const, LambdaId, Record, RecordId};
use crate::core::number;
use crate::core::operands::contract::Values;
use std::borrow::Cow;
use std::rc::Rc;

/// Of data that are deeper, nothing is known of the deeper part: values are walked by recursion.
const DEEPEST: u32 = 64;

/// Of a value that may be of more kinds than this, nothing is known.
const MOST_KINDS: usize = 8;

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
    /// A vector, perhaps of known length, and what each of its elements is. Nothing is known that has no elements.
    Vector(Option<u32>, Option<Rc<Value>>),
    /// The beginning of a vector, with as many elements, and what these are.
    Beginning(Option<u32>, Option<Rc<Value>>),
    /// A list of any length, and what each of its elements is.
    List(Rc<Value>),
    /// A value that is made of others.
    Made(Head, Rc<Parts>),
    /// One of several values of different kinds.
    OneOf(Rc<[Value]>),
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
            Value::Vector(_, Some(element)) | Value::Beginning(_, Some(element)) | Value::List(element) => {
                1 + element.depth()
            }
            Value::OneOf(values) => values.iter().map(Value::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// What each element is that may be one or the other.
    pub fn element(one: Option<&Value>, other: Option<&Value>) -> Option<Rc<Value>> {
        let element = match (one, other) {
            (Some(one), Some(other)) => one.clone().join(other.clone()),
            (one, other) => one.or(other)?.clone(),
        };
        Some(Rc::new(if element.depth() < DEEPEST { element } else { Value::Any }))
    }

    /// What it may be, each of another kind.
    pub fn kinds(&self) -> Cow<'_, [Value]> {
        match self {
            Value::OneOf(values) => Cow::Borrowed(values),
            Value::List(element) => Cow::Owned(vec![Value::Nil, Value::pair((**element).clone(), self.clone())]),
            one => Cow::Borrowed(std::slice::from_ref(one)),
        }
    }

    /// One of these; `None` if there are none.
    pub fn one_of(values: impl IntoIterator<Item = Value>) -> Option<Value> {
        values.into_iter().reduce(Value::join)
    }

    /// What each element is, if this is a list that ends.
    fn elements(&self) -> Option<Option<Rc<Value>>> {
        match self {
            Value::Nil => Some(None),
            Value::List(element) => Some(Some(element.clone())),
            Value::Made(Head::Pair, parts) => {
                let rest = parts.values[1].elements()?;
                Some(Value::element(Some(&parts.values[0]), rest.as_deref()))
            }
            _ => None,
        }
    }

    /// Whether the other value is one of those that this is known to be.
    pub fn covers(&self, other: &Value) -> bool {
        *self == Value::Any || self.clone().join(other.clone()) == *self
    }

    /// What is known of a value that is one or the other.
    pub fn join(self, other: Value) -> Value {
        if self == Value::Any || other == Value::Any {
            return Value::Any;
        }
        // Lists of different lengths are lists.
        if (self.is_empty_or_list() || other.is_empty_or_list())
            && let (Some(one), Some(other)) = (self.elements(), other.elements())
            && let Some(element) = Value::element(one.as_deref(), other.as_deref())
        {
            return Value::List(element);
        }
        let mut found = self.kinds().into_owned();
        for value in other.kinds().iter() {
            match found.iter_mut().find(|found| found.is_of_kind_of(value)) {
                Some(found) => *found = found.clone().join_alike(value.clone()),
                None => found.push(value.clone()),
            }
        }
        match found.len() {
            1 => found.remove(0),
            2..=MOST_KINDS => Value::OneOf(found.into()),
            _ => Value::Any,
        }
    }

    fn is_empty_or_list(&self) -> bool {
        matches!(self, Value::Nil | Value::List(_))
    }

    fn is_of_kind_of(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Made(head, _), Value::Made(other, _)) => head == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    fn join_alike(self, other: Value) -> Value {
        fn agreed<T: PartialEq>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.filter(|one| Some(one) == other.as_ref())
        }
        match (self, other) {
            (Value::Nil, Value::Nil) => Value::Nil,
            (Value::Bool(x), Value::Bool(y)) => Value::Bool(agreed(x, y)),
            (Value::Real(x), Value::Real(y)) => Value::Real(agreed(x, y)),
            (Value::Text(x), Value::Text(y)) => Value::Text(agreed(x, y)),
            (Value::Vector(x, one), Value::Vector(y, other)) => {
                Value::Vector(agreed(x, y), Value::element(one.as_deref(), other.as_deref()))
            }
            (Value::Beginning(x, one), Value::Beginning(y, other)) => {
                Value::Beginning(agreed(x, y), Value::element(one.as_deref(), other.as_deref()))
            }
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

    /// Whether it is a function.
    pub fn is_function(&self) -> bool {
        matches!(self, Value::Made(Head::Function(_), _))
    }

    /// Whether it counts as true, if that is known.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Value::Any | Value::Bool(None) => None,
            Value::Bool(Some(value)) => Some(*value),
            Value::OneOf(values) => agreement(values.iter().map(Value::truth)),
            _ => Some(true),
        }
    }

    /// What is known of it where it counts as true, or as false.
    pub fn counting_as(&self, outcome: bool) -> Option<Value> {
        let kinds = self.kinds();
        let left = kinds.iter().filter(|value| value.truth() != Some(!outcome));
        Value::one_of(left.map(|value| match value {
            Value::Bool(_) => Value::Bool(Some(outcome)),
            Value::Any if !outcome => Value::Bool(Some(false)),
            value => value.clone(),
        }))
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
        let one = |value: &Value| value.found(records).map(|found| found.kind);
        Some(Found::from(match self {
            Value::Any => return None,
            Value::List(_) => Kind::OneOf([Kind::Nil, Kind::Pair].into()),
            Value::OneOf(values) => Kind::OneOf(values.iter().map(one).collect::<Option<_>>()?),
            Value::Nil => Kind::Nil,
            Value::Bool(_) => Kind::Boolean,
            Value::Real(_) => Kind::Real,
            Value::Text(_) => Kind::Text,
            Value::Vector(..) | Value::Beginning(..) => Kind::Vector,
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

impl Values for EntityVec<RecordId, Record> {
    type Value = Value;

    fn kind(&self, value: &Value) -> Option<Kind> {
        value.found(self).map(|found| found.kind)
    }

    fn pair(&self, value: &Value) -> Option<[Value; 2]> {
        match value {
            Value::Made(Head::Pair, parts) => Some([parts.values[0].clone(), parts.values[1].clone()]),
            _ => None,
        }
    }

    fn element(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Vector(_, element) => element.as_deref().cloned(),
            _ => None,
        }
    }

    fn found(&self, value: &Value) -> Option<Found> {
        value.found(self)
    }
}

/// What all of these say, if they say the same.
pub fn agreement(mut answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let first = answers.next()??;
    answers.all(|answer| answer == Some(first)).then_some(first)
}

/// A call on the way to a failure.
#[derive(Clone, Debug)]
pub struct Call {
    /// Where it stands.
    pub span: Span,
    /// The function called.
    pub callee: LambdaId,
    /// What it was called with.
    pub argument: Value,
}
