//! Machine types: what a value of SSA is when the program runs.

/// A machine type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// An IEEE double.
    F64,
    /// A truth value.
    Bool,
    /// A 64-bit integer: the tag of an unboxed sum, the number of a text, the length of a vector or a place in it.
    Int,
    /// A boxed sum, an immediate (an alternative without fields) or a pointer to a box; or the elements of a vector.
    Ptr,
    /// Two doubles in one register: the *lanes* of a loop that makes two rounds at a time.
    F64x2,
    /// A truth value for each lane.
    Boolx2,
}

impl Type {
    /// True for values of two lanes, which never leave their function.
    pub fn is_lanes(self) -> bool {
        matches!(self, Type::F64x2 | Type::Boolx2)
    }
    /// The type of a lane, or the type itself.
    pub fn lane(self) -> Type {
        match self {
            Type::F64x2 => Type::F64,
            Type::Boolx2 => Type::Bool,
            ty => ty,
        }
    }
}

/// How many rounds of a loop one round of lanes makes.
pub const LANES: usize = 2;
