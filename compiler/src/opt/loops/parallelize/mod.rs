//! Loops whose rounds several processes compute: SSA → SSA.
//!
//! ```text
//!     jump b1(0, 0.0)                          jump b5(0, 0.0)
//! b1(v1: int, v2: f64):                    b5(v1: int, v2: f64): (a few rounds, as before)
//!     branch (int_lt v1, v0), b2, b4           (ask: how to go on with round v1? gives v6, a number of rounds)
//! b2: (an inner loop, which gives v3)          branch (this process is a worker), b6, b8(new_vector 0)
//!     v4 = add v2, v3                  →   b6: (a loop over v6 rounds from another v1: the inner loop, which gives v3)
//!     jump b1(int_add v1, 1, v4)               v7 = (the vector of what these rounds give)
//!                                              jump b8(v7)
//!                                          b8(v8: ptr):
//!                                              v9 = exchange v8
//!                                              branch (this process is a worker), b5(v1, v2), b9
//!                                          b9: (a loop over v6 rounds: v4 = add v2, (element of v9))
//!                                              jump b5(int_add v1, v6, v4)
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
use crate::ssa::ir::{BlockId, FuncId, Program, VectorLayout};
use find::Plan;

/// What elements of vectors are called that hold what rounds hand over.
pub const NAME: &str = "rounds";

/// Treats a program.
pub fn run(program: &mut Program, effects: &Effects) -> bool {
    let plans: Vec<(FuncId, Vec<Plan>)> = program
        .functions
        .iter()
        .map(|(id, function)| (id, find_all(&Code::new(function), effects)))
        .filter(|(_, plans)| !plans.is_empty())
        .collect();
    for (id, plans) in &plans {
        for plan in plans {
            let fields = plan.leaves.iter().map(|(_, ty)| *ty).collect();
            let leaves = program.vectors.push(VectorLayout { name: NAME.into(), fields });
            write::write(&mut program.functions[*id], plan, leaves);
        }
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
