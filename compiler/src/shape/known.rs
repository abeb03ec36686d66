//! What has been worked out about shapes: operations that one shape is asked for again and again answer from here.

use crate::core::prim::{Levels, Prim};
use crate::shape::algebra::Atom;
use crate::shape::lattice::{Code, Head, Shape, Site};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// The positions of alternatives by the plain code that they are the list of the environment of; under `None`, those of
/// all others.
pub type Lists = FxHashMap<Option<Code>, Vec<usize>>;

/// Results by operands.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Shapes of one alternative.
    pub made: FxHashMap<(Head, SmallVec<[Shape; 4]>), Shape>,
    /// See [`own_environment`](crate::shape::primitive::own_environment).
    pub lists: FxHashMap<Shape, Rc<Lists>>,
    pub zeros: FxHashMap<(Shape, Site), Shape>,
    /// How many lengths of vectors zeros would hold.
    pub lengths: FxHashMap<Shape, u32>,
    /// Zeros with the outermost level unfolded.
    pub unfolded_zeros: FxHashMap<(Shape, Site), Shape>,
    pub sited: FxHashMap<(Shape, Site), Shape>,
    pub began: FxHashMap<(Shape, Shape), Shape>,
    pub unfolded: FxHashMap<Vec<Atom>, Shape>,
    pub without_zeros: FxHashMap<Shape, Shape>,
    pub without_numbers: FxHashMap<Shape, Shape>,
    pub sides: FxHashMap<(Shape, Prim, Levels), Shape>,
    pub hands_on: FxHashMap<(Shape, Levels), bool>,
}
