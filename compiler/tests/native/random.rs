//! Random SSA programs: the executable does what the SSA evaluator does, with and without optimisation, and leaves no
//! box alive. `SEEDS=1000` runs more of them.

use crate::build::{live_boxes, run_with};
use crate::random_ssa;
use vlad::pipeline::passes::{Leave, Settings, optimize, pass_named};

fn seeds() -> u64 {
    std::env::var("SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(25)
}

#[test]
fn random_programs_do_the_same_as_in_the_evaluator() {
    for seed in 0..seeds() {
        let mut plain = random_ssa::program(seed);
        let mut optimized = plain.clone();
        let memory = pass_named("memory").expect("it places the reference counts");
        memory.run(&mut plain, Leave::default());
        optimize(&mut optimized, &Settings::default());
        for program in [&plain, &optimized] {
            let output = run_with(program, "0.75", &[("VLAD_MAX_MEMORY", "500M")]);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 1)), "seed {seed}: {code:?}");
            if code == Some(0) {
                assert_eq!(live_boxes(&output), 0, "seed {seed}\n{program}");
            }
        }
    }
}
