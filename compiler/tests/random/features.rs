//! What random programs reach: properties of their runs and of their optimised code, for counting.

use vlad::ssa::graph::Graph;
use vlad::ssa::ir::{FuncId, Op, Program, Terminator};

/// How the program ended.
pub fn of_run(code: Option<i32>, place: &str) -> Vec<String> {
    match code {
        Some(0) => Vec::new(),
        _ => vec!["error".to_string(), place.split_whitespace().next().unwrap_or("").to_string()],
    }
}

/// What the optimiser left to do at run time.
pub fn of_code(program: &Program) -> Vec<String> {
    let mut found = std::collections::BTreeSet::new();
    let mut calls = Vec::new();
    for (id, function) in program.functions.iter() {
        let graph = Graph::new(function);
        for (block, content) in function.blocks.iter().filter(|(block, _)| graph.is_reachable(*block)) {
            if graph.is_loop_header(block) {
                found.insert("loop");
            }
            for inst in &content.insts {
                match inst.op {
                    Op::Box(..) => found.insert("box"),
                    Op::Tag(_) | Op::HasTag(..) => found.insert("boxed-sum"),
                    Op::IntIs(_) => found.insert("flat-sum"),
                    Op::Read(..) => found.insert("reads"),
                    Op::Real2(_) => found.insert("arithmetic"),
                    Op::Call(callee) => {
                        calls.push((id, callee));
                        false
                    }
                    _ => false,
                };
            }
            match content.terminator {
                Terminator::TailCall(callee, _) => calls.push((id, callee)),
                Terminator::Switch(..) => drop(found.insert("switch")),
                _ => {}
            }
        }
    }
    if calls.iter().any(|(caller, callee)| reaches(&calls, *callee, *caller)) {
        found.insert("recursion");
    }
    found.into_iter().map(str::to_string).collect()
}

/// Whether calls lead from one function to another.
fn reaches(calls: &[(FuncId, FuncId)], from: FuncId, to: FuncId) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while let Some(function) = seen.get(next).copied() {
        if function == to {
            return true;
        }
        for (_, callee) in calls.iter().filter(|(caller, _)| *caller == function) {
            if !seen.contains(callee) {
                seen.push(*callee);
            }
        }
        next += 1;
    }
    false
}
