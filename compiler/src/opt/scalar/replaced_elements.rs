//! Changes of vectors that nobody sees.
//!
//! An element is stored for nobody if all that happens to its vector before it is replaced are other changes, and reads
//! in other places:
//!
//! ```text
//! v5 = with_element.vec0 v0, v1, v2, v3
//! v6 = with_element.vec0 v5, v1, v2, v4     →     v6 = with_element.vec0 v0, v1, v2, v4
//! ```
//!
//! That is more than a store: where elements are vectors, and `v4` is made of `v3`, this would have two owners as long
//! as `v5` holds it, and would have to be copied.

use crate::base::EntityVec;
use crate::opt::edit::rewrite::use_counts;
use crate::ssa::ir::{Function, Inst, Op, Value, VectorId};
use rustc_hash::FxHashMap;

/// So many changes of a vector are looked at for one of the same place.
const MOST_CHANGES: usize = 8;

/// Drops changes of elements that are replaced before anybody looks at them.
pub fn skip_replaced_elements(function: &mut Function) -> bool {
    let found = function.blocks.values().flat_map(|block| &block.insts).filter_map(change);
    let mut changes: FxHashMap<Value, Change> = found.collect();
    if changes.len() < 2 {
        return false;
    }
    let mut looks = Looks::new(function, &changes);
    // What a vector is made of, or read from, instead of another.
    let (mut begin, mut instead) = (FxHashMap::default(), FxHashMap::default());
    for block in function.blocks.values() {
        for (last, _) in block.insts.iter().filter_map(change) {
            let Change { vector, at, mut before } = changes[&last];
            let mut after = last;
            for _ in 0..MOST_CHANGES {
                let Some(earlier) = changes.get(&before).copied() else { break };
                if earlier.vector != vector || !looks.only_elsewhere(before, at[1]) {
                    break;
                }
                if earlier.at == at {
                    begin.insert(after, earlier.before);
                    instead.insert(before, earlier.before);
                    looks.hand_on(before, earlier.before);
                    changes.entry(after).and_modify(|change| change.before = earlier.before);
                } else {
                    after = before;
                }
                before = earlier.before;
            }
        }
    }
    for inst in function.blocks.values_mut().flat_map(|block| &mut block.insts) {
        match inst.op {
            Op::Element(..) => {
                while let Some(before) = instead.get(&inst.args[0]) {
                    inst.args[0] = *before;
                }
            }
            _ => {
                if let Some(before) = inst.results.first().and_then(|result| begin.get(result)) {
                    inst.args[0] = *before;
                }
            }
        }
    }
    !begin.is_empty()
}

/// Who looks at vectors that are made by changes.
struct Looks {
    uses: EntityVec<Value, u32>,
    /// The places in which each is read, where these are known.
    places: FxHashMap<Value, Vec<i64>>,
    constants: FxHashMap<Value, i64>,
}

impl Looks {
    fn new(function: &Function, changes: &FxHashMap<Value, Change>) -> Looks {
        let insts = || function.blocks.values().flat_map(|block| &block.insts);
        let constant = |inst: &Inst| match inst.op {
            Op::ConstInt(number) => Some((inst.results[0], number)),
            _ => None,
        };
        let constants: FxHashMap<Value, i64> = insts().filter_map(constant).collect();
        let mut places: FxHashMap<Value, Vec<i64>> = FxHashMap::default();
        for inst in insts().filter(|inst| matches!(inst.op, Op::Element(..)) && changes.contains_key(&inst.args[0])) {
            if let Some(place) = constants.get(&inst.args[2]) {
                places.entry(inst.args[0]).or_default().push(*place);
            }
        }
        Looks { uses: use_counts(function), places, constants }
    }

    /// Whether all but one use of a vector read it in places that are known not to be this one.
    fn only_elsewhere(&self, vector: Value, place: Value) -> bool {
        let elsewhere = match (self.constants.get(&place), self.places.get(&vector)) {
            (Some(place), Some(places)) => places.iter().filter(|other| *other != place).count(),
            _ => 0,
        };
        self.uses[vector] as usize == 1 + elsewhere
    }

    /// Lets another vector be read instead of this one; who else used this one uses the other one, too.
    fn hand_on(&mut self, from: Value, to: Value) {
        let places = self.places.remove(&from).unwrap_or_default();
        self.uses[to] = self.uses[to].saturating_add(u32::try_from(places.len()).unwrap_or(u32::MAX));
        self.places.entry(to).or_default().extend(places);
    }
}

/// How a vector is made of another by the change of an element: its kind, its length and the place.
#[derive(Clone, Copy)]
struct Change {
    vector: VectorId,
    before: Value,
    at: [Value; 2],
}

/// The vector that an instruction makes by the change of an element.
fn change(inst: &Inst) -> Option<(Value, Change)> {
    let Op::WithElement(vector) = inst.op else { return None };
    Some((inst.results[0], Change { vector, before: inst.args[0], at: [inst.args[1], inst.args[2]] }))
}
