//! Loops whose rounds several processes compute: SSA → SSA.
//!
//! ```text
//!     jump b1(0, 0.0)                          jump b5(0, 0.0)
//! b1(v1: int, v2: f64):                    b5(v1: int, v2: f64): (a few rounds as before; then, with the round v1)
//!     branch (int_lt v1, v0), b2, b4           (ask: how to go on?)
//! b2: (an inner loop, which gives v3)          branch ..., b1, b6
//!     v4 = add v2, v3                  →   b6: branch (this process is a worker), b7, b8(0.0)
//!     jump b1(int_add v1, 1, v4)           b7: (the inner loop for another v1, which gives v3)
//!                                              jump b8(v3)
//!                                          b8(v5: f64):
//!                                              v6 = exchange v5
//!                                              branch (this process is a worker), b6, b9
//!                                          b9: v4 = add v2, v6
//!                                              jump b6 (for the next round, with v4)
//! ```
//!
//! What a round computes without what the round before has made, its *parallel stage*, processes can compute at the
//! same time; what is left, the *sequential stage*, the program does in the order of the rounds: a sum adds what they
//! have found, a vector takes it. So no operation changes, nor their order within a sum, and results have the same
//! bits with any number of processes. This is *parallel-stage decoupled software pipelining* (Raman, Ottoni, Raman,
//! Bridges and August, *Parallel-Stage Decoupled Software Pipelining*, 2008) with processes for threads.
//!
//! Whether it pays is decided while the program runs, by the time that the first rounds take: see the module `shards`
//! of the run time, which is asked. Until then, and where it does not pay, the loop is what it was, in portions of
//! rounds; a loop of few rounds does not even ask.
//!
//! Requires: loops in their final form, left at their headers only, where a counter is compared with a bound. A round
//! has no effect, but may fail: a process that meets an error leaves this round and those behind it to the program,
//! whose loop then reports it.
//!
//! Tests: `tests/opt/parallelize/`.

mod find;
mod write;

use crate::opt::analysis::effects::Effects;
use crate::opt::analysis::loops::Code;
use crate::ssa::ir::{Alternative, BlockId, FuncId, Program, Sum, SumId};
use find::Plan;

/// Treats a program.
pub fn run(program: &mut Program, effects: &Effects) -> bool {
    let plans: Vec<(FuncId, Vec<Plan>)> = program
        .functions
        .iter()
        .map(|(id, function)| (id, find_all(&Code::new(function), effects)))
        .filter(|(_, plans)| !plans.is_empty())
        .collect();
    let hand_over_pointers = plans.iter().flat_map(|(_, plans)| plans).any(Plan::hands_over_pointers);
    let nothing = if hand_over_pointers { add_nothing(program) } else { SumId(0) };
    for (id, plans) in &plans {
        plans.iter().for_each(|plan| write::write(&mut program.functions[*id], plan, nothing));
    }
    !plans.is_empty()
}

/// The outermost loops of a function whose rounds can be shared.
fn find_all(code: &Code<'_>, effects: &Effects) -> Vec<Plan> {
    let mut plans: Vec<Plan> = Vec::new();
    let headers: Vec<BlockId> =
        code.graph.order.iter().copied().filter(|block| code.graph.is_loop_header(*block)).collect();
    for header in headers {
        if !plans.iter().any(|plan| plan.contains(header)) {
            plans.extend(Plan::find(code, effects, header));
        }
    }
    plans
}

/// A sum of which there is one value: it stands where a pointer will be handed over.
fn add_nothing(program: &mut Program) -> SumId {
    let nothing = Alternative { name: "nothing".into(), fields: Vec::new() };
    program.sums.push(Sum { alternatives: vec![nothing] })
}
