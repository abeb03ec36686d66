//! The types that keep generated programs well-formed. The language has none; these are the generator's own.

use super::rng::Rng;
use std::rc::Rc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A number.
    Real,
    /// `#t` or `#f`.
    Bool,
    /// A pair.
    Pair(Rc<Type>, Rc<Type>),
    /// A record `duo` with two fields.
    Duo(Rc<Type>, Rc<Type>),
    /// A list of any length with elements of one type.
    List(Rc<Type>),
    /// A vector of any length with elements of one type.
    Vector(Rc<Type>),
    /// A number or a pair: values of which the program must test what they are.
    RealOr(Rc<Type>),
    /// A number, or a pair of trees.
    Tree,
    /// A number, or a vector of nests.
    Nest,
    /// A record of a sort that the program declares.
    Record(usize),
    /// A function.
    Function(Rc<Type>, Rc<Type>),
}

impl Type {
    /// A type of values that can be differentiated with respect to: a gradient has the same type.
    pub fn random_space(rng: &mut Rng, depth: usize) -> Type {
        match rng.below(if depth == 0 { 1 } else { 8 }) {
            0 | 1 => Type::Real,
            7 => Type::Nest,
            6 => Type::Vector(Rc::new(Type::random_space(rng, depth - 1))),
            5 => Type::Tree,
            2 => Type::pair(Type::random_space(rng, depth - 1), Type::random_space(rng, depth - 1)),
            3 => Type::two(rng, |rng| Type::random_space(rng, depth - 1)),
            _ => Type::List(Rc::new(Type::random_space(rng, depth - 1))),
        }
    }
    /// A type of values without functions, which can be printed and compared.
    pub fn random_data(rng: &mut Rng, depth: usize) -> Type {
        match rng.below(if depth == 0 { 3 } else { 9 }) {
            0 | 1 => Type::Real,
            8 => Type::Vector(Rc::new(Type::random_data(rng, depth - 1))),
            2 => Type::Bool,
            3 => Type::List(Rc::new(Type::random_data(rng, depth - 1))),
            4 => {
                Type::RealOr(Rc::new(Type::pair(Type::random_data(rng, depth - 1), Type::random_data(rng, depth - 1))))
            }
            5 => Type::two(rng, |rng| Type::random_data(rng, depth - 1)),
            _ => Type::random_space(rng, depth),
        }
    }
    /// Any type.
    pub fn random(rng: &mut Rng, depth: usize) -> Type {
        match rng.below(if depth == 0 { 1 } else { 5 }) {
            0 | 1 => Type::random_data(rng, depth),
            2 => Type::function(Type::Real, Type::Real),
            3 => Type::function(Type::random_data(rng, depth - 1), Type::random_data(rng, depth - 1)),
            _ => match rng.below(4) {
                3 => Type::Vector(Rc::new(Type::random(rng, depth - 1))),
                0 => Type::two(rng, |rng| Type::random(rng, depth - 1)),
                1 => Type::List(Rc::new(Type::random(rng, depth - 1))),
                _ => Type::function(Type::random(rng, depth - 1), Type::random(rng, depth - 1)),
            },
        }
    }
    /// A pair or a record of two values of some types.
    fn two(rng: &mut Rng, mut part: impl FnMut(&mut Rng) -> Type) -> Type {
        let is_record = rng.percent(40);
        let (first, second) = (Rc::new(part(rng)), Rc::new(part(rng)));
        if is_record { Type::Duo(first, second) } else { Type::Pair(first, second) }
    }
    /// A pair type.
    pub fn pair(car: Type, cdr: Type) -> Type {
        Type::Pair(Rc::new(car), Rc::new(cdr))
    }
    /// A function type.
    pub fn function(argument: Type, result: Type) -> Type {
        Type::Function(Rc::new(argument), Rc::new(result))
    }
    /// True for types whose values can be printed in the same words by every engine.
    pub fn is_data(&self) -> bool {
        match self {
            Type::Real | Type::Bool | Type::Tree | Type::Nest => true,
            Type::Pair(car, cdr) | Type::Duo(car, cdr) => car.is_data() && cdr.is_data(),
            Type::List(item) | Type::Vector(item) | Type::RealOr(item) => item.is_data(),
            Type::Record(_) | Type::Function(..) => false,
        }
    }
    /// True for types whose sensitivities have the same type.
    pub fn is_space(&self) -> bool {
        match self {
            Type::Real | Type::Tree | Type::Nest => true,
            Type::Pair(car, cdr) | Type::Duo(car, cdr) => car.is_space() && cdr.is_space(),
            Type::List(item) | Type::Vector(item) => item.is_space(),
            Type::RealOr(item) => item.is_space(),
            Type::Bool | Type::Record(_) | Type::Function(..) => false,
        }
    }
}
