//! How much work compiling takes, in counts that are the same on every machine: programs of families that grow take
//! steps of the analysis, shapes and instructions in proportion to their length.

#[allow(dead_code, reason = "the bench prints what each kind is about")]
#[path = "../benches/compile/kinds.rs"]
mod kinds;

use kinds::KINDS;
use vlad::core::ir::Program;
use vlad::pipeline::{Pipeline, Settings};
use vlad::specialize::Sharing;
use vlad::ssa::ir::Block;

/// All stages are recursive, and so are the programs.
const STACK: usize = 256 << 20;

/// Steps of the analysis, steps of specialising, and instructions before optimisation, with those that end blocks.
fn work(text: &str) -> [usize; 3] {
    compiled(text, |pipeline, mut program| {
        let mut analysis = pipeline.analyze(&mut program).expect("the analysis ends");
        let steps = analysis.shapes.steps();
        let code = pipeline.specialize(&program, &mut analysis, Sharing::Apart).expect("the program is not too large");
        let more = analysis.shapes.steps() - steps;
        let blocks = code.functions.values().flat_map(|function| function.blocks.values());
        [steps, more, blocks.map(|block| block.insts.len() + 1).sum()]
    })
}

/// Instructions after optimisation, with the values that jumps hand on.
fn optimized(text: &str) -> usize {
    compiled(text, |pipeline, program| {
        let code = pipeline.native(&program).expect("the program is compiled");
        let blocks = code.functions.values().flat_map(|function| function.blocks.values());
        let passed = |block: &Block| block.terminator.targets().iter().map(|target| target.args.len()).sum::<usize>();
        blocks.map(|block| block.insts.len() + 1 + passed(block)).sum()
    })
}

/// What is found out about a program, on a large stack.
fn compiled<T: Send>(text: &str, find: impl FnOnce(&mut Pipeline, Program) -> T + Send) -> T {
    let run = || {
        let mut pipeline = Pipeline::new(Settings::default());
        let parts = [("program.vlad".to_string(), text.to_string())];
        let program = pipeline.expand_parts(&parts).expect("the program is right");
        find(&mut pipeline, program)
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).expect("a thread starts");
        thread.join().expect("the program is compiled")
    })
}

/// A family of `kinds.rs`, the size to begin with, and by how many hundredths its steps and its instructions may grow
/// when the size doubles.
fn grows_in_proportion(name: &str, size: usize, most: [usize; 2]) {
    let kind = KINDS.iter().find(|kind| kind.name == name).expect("a kind of program");
    let [steps, instructions] = most;
    let counts: Vec<[usize; 3]> = [1, 2, 4].iter().map(|times| work(&(kind.program)(size * times))).collect();
    for pair in counts.windows(2) {
        for (count, most) in [steps, steps, instructions].iter().enumerate() {
            let (small, large) = (pair[0][count], pair[1][count]);
            assert!(large * 100 <= small * most, "{name} from {size} on: {counts:?}");
        }
    }
}

#[test]
fn clauses() {
    grows_in_proportion("clause-chain", 200, [220, 220]);
}

/// Each clause has a backpropagator of its own, which is handed the sensitivity of any of the functions.
#[test]
fn clauses_that_give_functions() {
    grows_in_proportion("pick", 100, [220, 220]);
}

/// That each clause may come back to the function makes no more of it.
#[test]
fn interpreters() {
    grows_in_proportion("interpreter", 25, [220, 220]);
}

/// What is wrong with a record of another kind is said once for each place, not for each kind.
#[test]
fn kinds_of_records() {
    grows_in_proportion("kinds", 20, [220, 220]);
}

/// The zero of a closure, which captures two that capture the same, is made once for each of these. What each captures
/// is as deep as there are functions.
#[test]
fn continuations() {
    grows_in_proportion("continuations", 8, [400, 300]);
}

/// A place in a list is looked for from its beginning: there are as many ways to get there as pairs of places.
#[test]
fn records_as_lists() {
    grows_in_proportion("places", 10, [500, 450]);
}

/// The steps to known places leave nothing to run time, and no code is made for them.
#[test]
fn walks_to_known_places_need_no_code() {
    let size = |fields: usize| {
        let made: String = (0..fields).map(|i| format!(" (* x {i})")).collect();
        let read: String = (0..fields).map(|i| format!(" (sin (list-ref r {i}))")).collect();
        let f = format!("(define (f x) (let ((r (list{made}))) (+{read})))");
        work(&format!("(define a (read-real))\n{f}\n(f a)\n((gradient-R f) a)\n"))[2]
    };
    let (small, large) = (size(20), size(40));
    assert!(large * 100 <= small * 220, "{small} instructions for 20 fields, {large} for 40");
}

#[test]
fn circles_of_calls() {
    grows_in_proportion("circle", 16, [300, 220]);
}

#[test]
fn lists_of_matrices() {
    grows_in_proportion("layers", 16, [260, 220]);
}

#[test]
fn vectors_of_functions() {
    grows_in_proportion("table", 50, [260, 220]);
    grows_in_proportion("captures", 100, [260, 220]);
}

/// What run time takes of known data is data of any length, and not a choice between all that it may be.
#[test]
fn rests_of_lists_of_functions() {
    grows_in_proportion("rest", 25, [260, 220]);
}

/// Known numbers that a sensitivity of unknown form is taken apart for: each form that is told apart early makes a way
/// of its own through all that follow.
#[test]
fn parts_of_vectors() {
    let kind = KINDS.iter().find(|kind| kind.name == "parts").expect("a kind of program");
    // Smaller ones are unrolled further.
    let [small, large] = [400, 800].map(|size| optimized(&(kind.program)(size)));
    assert!(large * 100 <= small * 220, "{small} and {large}");
}

#[test]
fn sequences_of_functions() {
    grows_in_proportion("sequence", 160, [240, 220]);
}

/// Shapes of thousands of parts, as long programs have them, are exact.
#[test]
fn long_lists_of_numbers() {
    grows_in_proportion("weights", 1600, [220, 220]);
}

#[test]
fn local_functions_that_call_each_other_last() {
    grows_in_proportion("states-of-closures", 50, [300, 220]);
}

#[test]
fn matrices_and_layers() {
    grows_in_proportion("matrix", 25, [220, 220]);
    grows_in_proportion("network", 10, [220, 220]);
}

#[test]
fn choices_and_updates() {
    grows_in_proportion("choices", 100, [260, 220]);
    grows_in_proportion("updates", 100, [240, 220]);
}

#[test]
fn vectors() {
    grows_in_proportion("vector", 100, [220, 220]);
}

/// Searches in what searches look at: nothing of a search is differentiated, whose derivative is given.
#[test]
fn searches_in_what_searches_look_at() {
    grows_in_proportion("roots", 4, [220, 250]);
}

/// The derivatives that searches for minima take nest, to a height that the program's text tells.
#[test]
fn nested_searches_have_towers_of_known_height() {
    let level = |i: usize| format!("(define (f{i} p) (argmin (lambda (x) (* (- x p) (- x (f{} x)))) 0))\n", i - 1);
    let levels: String = (1..4).map(level).collect();
    work(&format!("(define a (read-real))\n(define (f0 p) (* 0.5 p))\n{levels}(f3 a)\n"));
}

/// A height hidden behind `real` is known where otherwise nothing of the program would be compiled.
#[test]
fn towers_behind_real_are_compiled() {
    work(
        "(define (nth-derivative n f) (if (= n 0) f (nth-derivative (- n 1) (derivative f))))
         (define order (real 3))
         ((nth-derivative order (lambda (x) (* x x x x))) 2)",
    );
}

/// Each of ten recursions by known numbers is unrolled as the first is, though together they have many rounds.
#[test]
fn recursions_by_known_numbers_do_not_use_each_other_up() {
    let program = |count: usize| {
        let calls: String = (0..count).map(|i| format!("(power a {i} {})\n", i + 12)).collect();
        format!("(define a (read-real))\n(define (power x i n) (if (= i n) 1 (* x i (power x (+ i 1) n))))\n{calls}")
    };
    let [one, ten] = [1, 10].map(|count| work(&program(count))[2]);
    assert!(ten > 8 * one, "{one} instructions for one recursion, {ten} for ten");
}

/// Loops around loops stay loops, whether their numbers of rounds are known or not, and so do their derivatives.
#[test]
fn loops_around_loops_are_not_unrolled() {
    let program = |rounds: &str| {
        format!(
            "(define (step u) (build (vector-length u) (lambda (i) (sin (vector-ref u i)))))
             (define (f u) (let loop ((t 0) (u u)) (if (< t {rounds}) (loop (+ t 1) (step u)) (vector-sum u))))
             ((gradient-R f) (read-vector))"
        )
    };
    let [known, read] = ["20", "(real 20)"].map(|rounds| work(&program(rounds))[2]);
    assert!(known <= read, "{known} instructions for a known number of rounds, {read} for others");
}

/// Where the numbers of rounds decide a tower of derivatives, they stay known.
#[test]
fn loops_that_decide_a_tower_are_unrolled() {
    work(
        "(define (nth-derivative f k) (if (= k 0) f (nth-derivative (derivative f) (- k 1))))
         (define v (read-vector))
         (let loop ((k 0) (sum 0))
           (if (< k 4) (loop (+ k 1) (+ sum (vector-sum (vector-map (nth-derivative exp k) v)))) sum))",
    );
}
