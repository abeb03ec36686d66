//! Two rounds of a loop at a time, in two lanes: SSA → SSA.
//!
//! ```text
//!     jump b1(v0, v1)                              jump b4(v0, v1)
//!                                              b4(v9: int, v10: ptr):
//!                                                  v11 = int_add v2, -1
//!                                                  branch (int_lt v9, v11), b5(v9, v10), b1(v9, v10)
//!                                              b5(v12: int, v13: ptr):
//!                                                  v14 = elements.vec0.0 v3, v2, v12
//!                                          →       v15 = lanes.mul v14, v14
//!                                                  v16 = with_elements.vec0 v13, v2, v12, v15
//!                                                  v17 = int_add v12, 2
//!                                                  branch (int_lt v17, v11), b5(v17, v16), b1(v17, v16)
//! b1(v4: int, v5: ptr):                        b1(v4: int, v5: ptr):
//!     branch (int_lt v4, v2), b2, b3               (the same as before)
//! b2: v6 = element.vec0.0 v3, v2, v4
//!     v7 = mul v6, v6
//!     v8 = with_element.vec0 v5, v2, v4, v7
//!     jump b1(int_add v4, 1, v8)
//! ```
//!
//! In front of a loop goes one that makes two of its rounds in each of its own, as long as none of the tests that the
//! loop makes would leave it in either. The loop itself stays as it is for what is left: an odd round, or the one that
//! fails.
//!
//! Arithmetic that does not depend on the round before is done in lanes, on elements of vectors at places that follow
//! each other; everything else, sums from round to round too, is done for one round after the other, as it was. So
//! every number is computed by the same operations from the same numbers. It pays if more is done in lanes than has to
//! be brought into them and out of them.
//!
//! A sum in eight interleaved parts, such as the library makes, takes eight rounds at a time: a part of it is a lane.
//!
//! Under `--fast-math`, sums and products from round to round are made in lanes, too: several at a time, which are put
//! together behind the loop. That changes the order of operations, and so the last digits.
//!
//! Where operations are watched, each round of the lanes asks whether all that it has computed is finite, before it
//! changes anything. If not, the loop itself makes its rounds, and all that follow ([`crate::opt::analysis::finite`]).
//!
//! A loop is a chain of blocks that is left by tests of integers that count, against what the loop does not change. Of
//! pointers it may carry vectors, each changed at one place that counts, and read there only.
//!
//! Runs late: nothing but the placing of reference counts knows lanes.
//!
//! Tests: `tests/opt/vectorize/`.

mod bounds;
mod plan;
mod shape;
mod write;

use crate::opt::Context;
use crate::opt::analysis::finite;
use crate::opt::analysis::finite::Watched;
use crate::opt::edit::rewrite::Definitions;
use crate::ssa::graph::Graph;
use crate::ssa::ir::{BlockId, Function, LANES};
use plan::Plan;
use shape::Loop;

/// How sums are made from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sums {
    /// In the order of the rounds.
    InOrder,
    /// In lanes.
    Apart,
}

/// How many pairs of rounds a round of lanes makes of a loop that makes sums apart: as many as hide how long an
/// addition takes.
const APART: usize = 4;

/// The interleaved parts of a sum for which lanes are made: one for each round in a round of lanes.
const PARTS: usize = APART * LANES;

/// Treats a function. Numbers stay the same, unless sums and products may be made in another order.
pub fn run(function: &mut Function, context: &Context) -> bool {
    // What is made in lanes of its own leaves the rest of the rounds to others.
    let apart = context.fast_math && treat(function, context, Sums::Apart);
    treat(function, context, Sums::InOrder) || apart
}

fn treat(function: &mut Function, context: &Context, sums: Sums) -> bool {
    let graph = Graph::new(function);
    let headers: Vec<BlockId> = graph.order.iter().copied().filter(|block| graph.is_loop_header(*block)).collect();
    if headers.is_empty() {
        return false;
    }
    // New blocks go between the old ones, so that what is known about the old ones stays true.
    let definitions = Definitions::new(function);
    let earlier = finite::earlier(function);
    // What a loop that makes many rounds in lanes has left may still be enough for one that makes two.
    let is_done = |block| has_lanes(function, block) && (sums == Sums::Apart || graph.is_loop_header(block));
    let found = headers.iter().filter_map(|header| Loop::find(function, &graph, &definitions, *header, is_done));
    let mut plans: Vec<Plan> =
        found.filter_map(|found| Plan::new(function, context.vectors, &definitions, found, sums)).collect();
    plans.iter_mut().for_each(|plan| plan.watched = Watched::new(plan.found.insts.iter(), &earlier));
    for plan in &plans {
        write::write(function, plan);
    }
    !plans.is_empty()
}

/// Whether a block computes with lanes.
fn has_lanes(function: &Function, block: BlockId) -> bool {
    let insts = function.blocks[block].insts.iter();
    insts.flat_map(|inst| inst.args.iter().chain(&inst.results)).any(|value| function.values[*value].is_lanes())
}
