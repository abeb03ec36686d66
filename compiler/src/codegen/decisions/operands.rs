//! Which fields are read where they are needed instead of once.
//!
//! A processor adds from memory as it adds from a register, so a real that lies in a box and is used a few times needs
//! no register, as long as the box keeps it. What was a box keeps its fields even when it has been released: the run
//! time writes to the first word of free boxes only, until one of them becomes a new box. So a field may be read
//! anywhere between its place in the code and the next new box or vector, or call.
//!
//! And which operands of sums and products change places: an instruction of x86-64 leaves its result where its first
//! operand was, so that had better be in a register, and not be needed any more.

use crate::base::entity::Entity;
use crate::ssa::ir::{BlockId, Function, Lanewise, Op, Real2, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is used more often should be in a register.
const FEW: usize = 12;

/// Which values other blocks use than the one that makes them.
pub struct Homes {
    leaves: Vec<bool>,
}

impl Homes {
    /// Looks at a function.
    pub fn new(function: &Function) -> Homes {
        let mut home: FxHashMap<Value, BlockId> = FxHashMap::default();
        for (id, block) in function.blocks.iter() {
            let results = block.insts.iter().flat_map(|inst| &inst.results);
            home.extend(block.params.iter().chain(results).map(|value| (*value, id)));
        }
        let mut leaves = vec![false; function.values.len()];
        for (id, block) in function.blocks.iter() {
            block.for_each_value(|value| leaves[value.index()] |= home.get(&value) != Some(&id));
        }
        Homes { leaves }
    }

    fn leaves(&self, value: Value) -> bool {
        self.leaves[value.index()]
    }
}

/// The positions of the fields in a block that can be read for each use, given which values other blocks use.
pub fn fields_in_place(function: &Function, block: BlockId, homes: &Homes) -> Vec<bool> {
    let block = &function.blocks[block];
    // For each value the position of its last use, and how many there are.
    let mut uses: FxHashMap<Value, (usize, usize)> = FxHashMap::default();
    block.terminator.for_each_value(|value| uses.entry(value).or_insert((block.insts.len(), 0)).1 += 1);
    let mut in_place = vec![false; block.insts.len()];
    let mut next_change = usize::MAX;
    for (position, inst) in block.insts.iter().enumerate().rev() {
        if let (Op::Field(..), [value]) = (inst.op, &inst.results[..])
            && function.values[*value] == Type::F64
        {
            let fits = |(last, count): &(usize, usize)| *last <= next_change && *count <= FEW;
            in_place[position] = uses.get(value).is_some_and(fits) && !homes.leaves(*value);
        }
        if inst.op.changes_vector() || inst.op.makes_vectors() || matches!(inst.op, Op::Box(..) | Op::Call(_)) {
            next_change = position;
        }
        for arg in &inst.args {
            uses.entry(*arg).or_insert((position, 0)).1 += 1;
        }
    }
    in_place
}

/// How well a value does as a first operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// In a register that nobody needs any more.
    Dying,
    Loaded,
    Alive,
    /// Made in two instructions.
    Constant,
}

/// The positions of the sums and products in a block whose operands should change places, given which fields are read
/// in place.
pub fn to_swap(function: &Function, block: BlockId, homes: &Homes, in_place: &[bool]) -> Vec<bool> {
    let block = &function.blocks[block];
    let mut uses: FxHashMap<Value, usize> = FxHashMap::default();
    block.for_each_value(|value| *uses.entry(value).or_insert(0) += 1);
    // What is in memory is loaded into a register of its own; as a second operand, it need not be.
    let mut ranks: FxHashMap<Value, Rank> = FxHashMap::default();
    for (inst, in_place) in block.insts.iter().zip(in_place) {
        let rank = match inst.op {
            Op::ConstReal(_) => Rank::Constant,
            Op::Field(..) if *in_place => Rank::Loaded,
            Op::Field(..) | Op::Element(..) if uses.get(&inst.results[0]) == Some(&1) => Rank::Loaded,
            _ => continue,
        };
        ranks.extend(inst.results.iter().map(|result| (*result, rank)));
    }
    let mut needed: FxHashSet<Value> = FxHashSet::default();
    block.terminator.for_each_value(|value| {
        needed.insert(value);
    });
    let mut swapped = vec![false; block.insts.len()];
    for (position, inst) in block.insts.iter().enumerate().rev() {
        if matches!(inst.op, Op::Real2(Real2::Add | Real2::Mul) | Op::Lanes(Lanewise::Real2(Real2::Add | Real2::Mul))) {
            let rank = |value: Value| {
                let is_alive = needed.contains(&value) || homes.leaves(value);
                ranks.get(&value).copied().unwrap_or(if is_alive { Rank::Alive } else { Rank::Dying })
            };
            swapped[position] = rank(inst.args[1]) < rank(inst.args[0]);
        }
        needed.extend(inst.args.iter().copied());
    }
    swapped
}
