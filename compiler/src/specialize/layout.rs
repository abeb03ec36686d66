//! How values of a shape are represented: as a tuple of SSA values, its *leaves*.
//!
//! | shape | leaves |
//! |---|---|
//! | `()`, a known number, boolean or text | none |
//! | a real, a boolean, a text | one |
//! | a product | those of its parts, in order |
//! | a sum that does not contain itself | the tag, then slots that the alternatives share, by type |
//! | a sum that contains itself | one pointer to a box, which holds the alternative's leaves |
//!
//! Invariant: `*j` and `*j-inverse` keep the leaves of a shape; boxed sums that they turn into each other are one sum
//! of the SSA program ([`Layouts::unify`]).

use crate::core::ir::Program;
use crate::flow::shape::{Alternative, Fact, Head, Shape, Shapes};
use crate::ssa::ir::{self, SumId, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// More leaves than this in one value are taken as a sign that flattening is the wrong choice.
pub const MAX_LEAVES: usize = 4096;

/// The representation of a shape.
#[derive(Clone, Debug)]
pub enum Layout {
    /// At most one alternative: its leaves follow each other.
    Product,
    /// A tag and shared slots.
    Union {
        /// How many slots of each type (in the order of [`SLOT_TYPES`]) follow the tag.
        slots: [usize; 4],
    },
    /// A pointer to a box.
    Boxed(SumId),
}

/// The order of the slots in a union.
pub const SLOT_TYPES: [Type; 4] = [Type::F64, Type::Bool, Type::Int, Type::Ptr];

/// The position of a type in [`SLOT_TYPES`].
pub fn slot_class(ty: Type) -> usize {
    match ty {
        Type::F64 => 0,
        Type::Bool => 1,
        Type::Int => 2,
        Type::Ptr => 3,
    }
}

/// A value would have more than [`MAX_LEAVES`] leaves, or has no finite representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Memoised layouts.
#[derive(Debug, Default)]
pub struct Layouts {
    leaves: FxHashMap<Shape, Rc<[Type]>>,
    layouts: FxHashMap<Shape, Layout>,
    sums: FxHashMap<Shape, SumId>,
    open: FxHashSet<Shape>,
    /// Sums that are the same as another.
    same: FxHashMap<SumId, SumId>,
    /// Shapes of boxed sums whose alternatives have not been written to the program yet.
    unwritten: Vec<Shape>,
}

impl Layouts {
    /// The types of the leaves of a shape.
    pub fn leaves(&mut self, shapes: &Shapes, program: &mut ir::Program, shape: Shape) -> Result<Rc<[Type]>, TooLarge> {
        if let Some(leaves) = self.leaves.get(&shape) {
            return Ok(leaves.clone());
        }
        let alternatives = shapes.alternatives(shape);
        let leaves: Rc<[Type]> = if shapes.is_recursive(shape) && alternatives.len() > 1 {
            let sum = self.sum(program, shape);
            self.layouts.insert(shape, Layout::Boxed(sum));
            [Type::Ptr].into()
        } else {
            if !self.open.insert(shape) {
                return Err(TooLarge);
            }
            let result = self.flat(shapes, program, shape, &alternatives);
            self.open.remove(&shape);
            result?
        };
        if leaves.len() > MAX_LEAVES {
            return Err(TooLarge);
        }
        self.leaves.insert(shape, leaves.clone());
        Ok(leaves)
    }

    fn flat(
        &mut self,
        shapes: &Shapes,
        program: &mut ir::Program,
        shape: Shape,
        alternatives: &[Alternative],
    ) -> Result<Rc<[Type]>, TooLarge> {
        if let [] | [_] = alternatives {
            self.layouts.insert(shape, Layout::Product);
            return match alternatives.first() {
                None => Ok([].into()),
                Some(alternative) => Ok(self.alternative(shapes, program, alternative)?.into()),
            };
        }
        let mut slots = [0; 4];
        for alternative in alternatives {
            let mut counts = [0; 4];
            for ty in self.alternative(shapes, program, alternative)? {
                counts[slot_class(ty)] += 1;
            }
            for (slot, count) in slots.iter_mut().zip(counts) {
                *slot = count.max(*slot);
            }
        }
        self.layouts.insert(shape, Layout::Union { slots });
        let mut leaves = vec![Type::Int];
        for (ty, count) in SLOT_TYPES.into_iter().zip(slots) {
            leaves.extend(std::iter::repeat_n(ty, count));
        }
        Ok(leaves.into())
    }

    /// The leaves of one alternative: its own, or those of its parts in order.
    pub fn alternative(
        &mut self,
        shapes: &Shapes,
        program: &mut ir::Program,
        alternative: &Alternative,
    ) -> Result<Vec<Type>, TooLarge> {
        Ok(match alternative.head {
            Head::Real(Fact::Unknown | Fact::PerhapsZero) => vec![Type::F64],
            Head::Bool(None) => vec![Type::Bool],
            Head::Text(None) => vec![Type::Int],
            _ => {
                let mut leaves = Vec::new();
                for child in alternative.children.iter() {
                    leaves.extend_from_slice(&self.leaves(shapes, program, *child)?);
                    if leaves.len() > MAX_LEAVES {
                        return Err(TooLarge);
                    }
                }
                leaves
            }
        })
    }

    /// The representation of a shape.
    pub fn layout(&mut self, shapes: &Shapes, program: &mut ir::Program, shape: Shape) -> Result<Layout, TooLarge> {
        self.leaves(shapes, program, shape)?;
        Ok(self.layouts[&shape].clone())
    }

    fn sum(&mut self, program: &mut ir::Program, shape: Shape) -> SumId {
        if let Some(sum) = self.sums.get(&shape) {
            return *sum;
        }
        let sum = program.sums.push(ir::Sum::default());
        self.sums.insert(shape, sum);
        self.unwritten.push(shape);
        sum
    }

    /// Writes the alternatives of all sums mentioned so far; the fields of a sum may mention further ones.
    pub fn write_sums(&mut self, core: &Program, shapes: &Shapes, program: &mut ir::Program) -> Result<(), TooLarge> {
        while let Some(shape) = self.unwritten.pop() {
            let mut alternatives = Vec::new();
            for alternative in shapes.alternatives(shape).iter() {
                let name = match alternative.head {
                    Head::Nil => "nil".into(),
                    Head::Bool(_) => "boolean".into(),
                    Head::Text(_) => "text".into(),
                    Head::Real(_) => "real".into(),
                    Head::Reverse => "reverse".into(),
                    Head::Pair(_) => "pair".into(),
                    Head::Closure(code) => core.lambdas[code.lambda].name.clone(),
                    Head::ZeroOf => "zero".into(),
                };
                let fields = self.alternative(shapes, program, alternative)?;
                alternatives.push(ir::Alternative { name, fields });
            }
            let sum = self.sums[&shape];
            program.sums[sum].alternatives = alternatives;
        }
        Ok(())
    }

    /// Makes the boxed sums of two shapes that `*j` turns into each other the same. False when the two are not laid
    /// out alike.
    pub fn unify(
        &mut self,
        shapes: &Shapes,
        program: &mut ir::Program,
        a: Shape,
        b: Shape,
        seen: &mut FxHashSet<(Shape, Shape)>,
    ) -> Result<bool, TooLarge> {
        if a == b || !seen.insert((a, b)) {
            return Ok(true);
        }
        if self.leaves(shapes, program, a)? != self.leaves(shapes, program, b)? {
            return Ok(false);
        }
        let (x, y) = (strip(shapes, a), strip(shapes, b));
        let (left, right) = (shapes.alternatives(x), shapes.alternatives(y));
        if left.len() != right.len() {
            return Ok(false);
        }
        if let (Layout::Boxed(p), Layout::Boxed(q)) =
            (self.layout(shapes, program, x)?, self.layout(shapes, program, y)?)
        {
            let (p, q) = (self.representative(p), self.representative(q));
            if p != q {
                self.same.insert(q.max(p), p.min(q));
            }
        }
        for (x, y) in left.iter().zip(right.iter()) {
            if x.head == Head::Reverse || y.head == Head::Reverse {
                let x = if x.head == Head::Reverse { x.children[0] } else { continue };
                let y = if y.head == Head::Reverse { y.children[0] } else { continue };
                if !self.unify(shapes, program, x, y, seen)? {
                    return Ok(false);
                }
                continue;
            }
            if x.children.len() != y.children.len() {
                return Ok(false);
            }
            for (x, y) in x.children.iter().zip(y.children.iter()) {
                if !self.unify(shapes, program, *x, *y, seen)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The sum that stands for all that are the same.
    pub fn representative(&self, mut sum: SumId) -> SumId {
        while let Some(same) = self.same.get(&sum) {
            sum = *same;
        }
        sum
    }
}

/// A shape without reverse tags around it, which have no representation.
fn strip(shapes: &Shapes, mut shape: Shape) -> Shape {
    while let Some(alternative) = shapes.single(shape)
        && alternative.head == Head::Reverse
    {
        shape = alternative.children[0];
    }
    shape
}
