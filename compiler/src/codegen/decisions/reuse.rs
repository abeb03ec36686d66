//! Which new boxes take the place of boxes that have just died.
//!
//! ```text
//! v2 = field.list.cons.0 v0
//! v3 = field.list.cons.1 v0
//! retain v3
//! release v0                      if this was the last owner, the box is kept aside...
//! v4 = mul v2, v2
//! v5 = call fn1(v3)
//! v6 = box.list.cons v4, v5       ...and used here
//! ```
//!
//! Mapping over a list that nobody else needs changes the list in place, and what is made of a tape lies where the tape
//! lay (Reinking, Xie, de Moura and Leijen, *Perceus*, 2021). At most one box of each size class is kept aside at a
//! time, in a variable that is null when there is none.
//!
//! A box is kept aside where every path from its release gets to a new box of its class before another such release, or
//! ends in an error. So nothing that is kept is ever lost.

use crate::base::EntityVec;
use crate::base::entity::Entity;
use crate::codegen::boxes::SumLayout;
use crate::codegen::constants::Constants;
use crate::codegen::decisions::ownership::Plan;
use crate::codegen::layout;
use crate::ssa::ir::{BlockId, Function, Op, SumId, Terminator};

/// A set of size classes.
type Classes = u128;

const _: () = assert!(layout::CLASSES <= Classes::BITS as usize, "a set has a bit for each class");

/// The plan for one function.
#[derive(Debug, Default)]
pub struct Reuse {
    /// Positions of releases that keep the box, and of new boxes that may find one, block by block.
    places: Vec<Vec<usize>>,
    /// The classes of all boxes that are kept.
    classes: Classes,
}

/// What a block does with a class, at a position.
struct Event {
    position: usize,
    class: Classes,
    is_release: bool,
}

impl Reuse {
    /// The plan for a function, given its reachable blocks, each after those that dominate it, and which of its
    /// releases are of boxes of known alternatives, by block.
    pub fn new(
        function: &Function,
        order: &[BlockId],
        plans: &EntityVec<BlockId, Plan>,
        sums: &EntityVec<SumId, SumLayout>,
        constants: &Constants,
    ) -> Reuse {
        let events = plans.iter().map(|(block, plan)| events(function, block, plan, sums, constants));
        let events: EntityVec<BlockId, Vec<Event>> = events.collect();
        let of = |is_release: bool| {
            let all = events.values().flatten().filter(|event| event.is_release == is_release);
            all.fold(0, |classes, event| classes | event.class)
        };
        let mut reuse = Reuse { places: vec![Vec::new(); function.blocks.len()], classes: 0 };
        if of(true) & of(false) != 0 {
            reuse.keep(function, order, &events);
            if reuse.classes != 0 {
                reuse.find(function, order, &events);
            }
        }
        reuse
    }

    /// The classes of boxes that are kept somewhere.
    pub fn classes(&self) -> impl Iterator<Item = usize> {
        (0..layout::CLASSES).filter(|class| self.classes & bit(*class) != 0)
    }

    /// Whether the release at this place keeps its box, or the new box there may find one.
    pub fn is_at(&self, block: BlockId, position: usize) -> bool {
        self.places[block.index()].contains(&position)
    }

    /// Finds the releases from which every path gets to a new box.
    fn keep(&mut self, function: &Function, order: &[BlockId], events: &EntityVec<BlockId, Vec<Event>>) {
        // The classes for which every path from the start of a block does; all, until the opposite shows.
        let mut at_start = function.blocks.same_ids(Classes::MAX);
        let mut changed = true;
        while changed {
            changed = false;
            for block in order.iter().rev() {
                let before = events[*block].iter().rev().fold(at_end(function, *block, &at_start), |wanted, event| {
                    if event.is_release { wanted & !event.class } else { wanted | event.class }
                });
                changed |= std::mem::replace(&mut at_start[*block], before) != before;
            }
        }
        for block in order {
            let mut wanted = at_end(function, *block, &at_start);
            for event in events[*block].iter().rev() {
                if !event.is_release {
                    wanted |= event.class;
                } else if wanted & event.class != 0 {
                    self.places[block.index()].push(event.position);
                    self.classes |= event.class;
                    wanted &= !event.class;
                }
            }
        }
    }

    /// Finds the new boxes that some path leads to with a box kept.
    fn find(&mut self, function: &Function, order: &[BlockId], events: &EntityVec<BlockId, Vec<Event>>) {
        let mut at_start: EntityVec<BlockId, Classes> = function.blocks.same_ids(0);
        let mut changed = true;
        while changed {
            changed = false;
            for block in order {
                let after = events[*block].iter().fold(at_start[*block], |kept, event| self.after(*block, event, kept));
                for target in function.blocks[*block].terminator.targets() {
                    changed |= after & !at_start[target.block] != 0;
                    at_start[target.block] |= after;
                }
            }
        }
        for block in order {
            let mut kept = at_start[*block];
            for event in &events[*block] {
                if !event.is_release && kept & event.class != 0 {
                    self.places[block.index()].push(event.position);
                }
                kept = self.after(*block, event, kept);
            }
        }
    }

    /// The classes of which a box may be kept after an event.
    fn after(&self, block: BlockId, event: &Event, kept: Classes) -> Classes {
        if !event.is_release {
            kept & !event.class
        } else if self.is_at(block, event.position) {
            kept | event.class
        } else {
            kept
        }
    }
}

fn bit(class: usize) -> Classes {
    1 << class
}

fn at_end(function: &Function, block: BlockId, at_start: &EntityVec<BlockId, Classes>) -> Classes {
    let terminator = &function.blocks[block].terminator;
    match terminator {
        Terminator::Return(_) | Terminator::TailCall(..) => 0,
        _ => terminator.targets().iter().fold(Classes::MAX, |all, target| all & at_start[target.block]),
    }
}

fn events(
    function: &Function,
    block: BlockId,
    plan: &Plan,
    sums: &EntityVec<SumId, SumLayout>,
    constants: &Constants,
) -> Vec<Event> {
    let class_of = |sum: SumId, tag: u32| sums[sum].alternatives[tag as usize].as_ref().map(|layout| bit(layout.class));
    let mut events = Vec::new();
    for (position, inst) in function.blocks[block].insts.iter().enumerate() {
        if let Some(known) = plan.releases.get(&position) {
            let class = class_of(known.sum, known.tag);
            events.extend(class.map(|class| Event { position, class, is_release: true }));
        } else if let Op::Box(sum, tag) = inst.op
            && constants.place(inst).is_none()
        {
            events.extend(class_of(sum, tag).map(|class| Event { position, class, is_release: false }));
        }
    }
    events
}
