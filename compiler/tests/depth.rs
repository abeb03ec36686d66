//! Depth: how much memory and stack programs take whose recursion and loops depend on their input.
//!
//! Each program runs compiled, on the number of steps that its input says. A limit says how much memory, heap and stack
//! together, it may take: so little that a loop which used stack for each step, or kept what it need not keep, would
//! end with exit code 3. `benches/scale` has the same with ten and a hundred million steps.

mod common;

use common::{Outcome, folder, run_command, vlad};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A folder with a program's executable, and that.
fn build(program: &str) -> (TempDir, PathBuf) {
    let folder = folder(&[("program.vlad", program)]);
    let mut command = vlad(&["build", "--native", "program.vlad"]);
    command.current_dir(&folder);
    let outcome = run_command(command, "", Duration::from_secs(60));
    assert_eq!(outcome.code, Some(0), "{}", outcome.messages);
    let executable = folder.path().join("program");
    (folder, executable)
}

/// Runs a program on an input, with so much memory.
fn run(program: &str, input: &str, memory: &str) -> Outcome {
    let (_folder, executable) = build(program);
    let mut command = Command::new(executable);
    command.env("VLAD_MAX_MEMORY", memory);
    run_command(command, input, Duration::from_secs(60))
}

/// The bytes that the boxes of an executable take at most.
fn most_memory(executable: &Path, input: &str) -> u64 {
    let mut command = Command::new(executable);
    command.env("VLAD_REPORT_MEMORY", "1");
    let outcome = run_command(command, input, Duration::from_secs(60));
    let bytes = outcome.messages.split("live, ").nth(1).and_then(|rest| rest.split(' ').next());
    bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or_else(|| panic!("no report in {:?}", outcome.messages))
}

/// The program computes this within the limit.
fn check(program: &str, input: &str, memory: &str, output: &str) {
    let outcome = run(program, input, memory);
    assert_eq!((outcome.code, outcome.output.trim()), (Some(0), output), "{}", outcome.messages);
}

const NUMBERS: &str = "(define (numbers n) (let loop ((i n) (l '())) (if (= i 0) l (loop (- i 1) (cons i l)))))\n";
const SUM: &str = "(define (sum l) (if (null? l) 0 (+ (car l) (sum (cdr l)))))\n";
const TOTAL: &str = "(define (total l) (let loop ((l l) (a 0)) (if (null? l) a (loop (cdr l) (+ a (car l))))))\n";

/// A number and a pointer in each of a million boxes: 24 MB, and the stack and heap that are free of charge.
#[test]
fn map_and_append_take_no_stack() {
    let program = "(total (append (map (lambda (x) (* 2 x)) (numbers (read-real))) (list 1)))";
    check(&format!("{NUMBERS}{TOTAL}{program}"), "1e6", "90M", "1000001000001");
}

#[test]
fn recursion_may_be_a_million_calls_deep() {
    check(&format!("{NUMBERS}{SUM}(sum (numbers (read-real)))"), "1e6", "200M", "500000500000");
}

#[test]
fn the_gradient_of_deep_recursion_takes_no_stack() {
    let program = "(total ((gradient (lambda (l) (sum (map (lambda (x) (* x x)) l)))) (numbers (read-real))))";
    check(&format!("{NUMBERS}{SUM}{TOTAL}{program}"), "1e6", "160M", "1000001000000");
}

/// One row of each of 200 matrices of 80 kB: rows that are kept do not keep their matrices.
#[test]
fn a_row_that_is_kept_is_all_that_is_kept() {
    let program = "(define n (read-real))
                   (define (matrix k) (build 100 (lambda (i) (build 100 (lambda (j) (+ i j k))))))
                   (define (rows k l) (if (= k 0) l (rows (- k 1) (cons (vector-ref (matrix k) (if (< k 3) 0 1)) l))))
                   (define (firsts l) (if (null? l) 0 (+ (vector-ref (car l) 0) (firsts (cdr l)))))
                   (firsts (rows n '()))";
    check(program, "200", "9M", "20298");
}

/// The tape of a tail loop: two numbers and a pointer for each step, 32 MB, built and read by loops.
#[test]
fn the_derivative_of_a_loop_takes_no_stack() {
    let program = "(define (steps n x) (if (= n 0) x (steps (- n 1) (* x (- 2 x)))))
                   ((derivative-R (lambda (x) (steps (read-real) x))) 1)";
    check(program, "1e6", "60M", "0");
}

/// No box for each step: a page of boxes for each of a few sizes, where the tape of the test above takes 32 MB. The
/// start is none that steps leave as it is, which would be known before the program runs, as would all of the tape.
#[test]
fn a_checkpointed_derivative_takes_next_to_no_memory() {
    let program = "(define n (read-real))
                   ((derivative-R (lambda (x) (checkpointed-iterate n (lambda (x) (* x (- 2 x))) x))) (/ n (+ n 1)))";
    let (_folder, executable) = build(program);
    let [few, many] = ["1e3", "1e6"].map(|steps| most_memory(&executable, steps));
    assert_eq!(few, many);
    assert!(many <= 3 * 4096, "{many}");
}

#[test]
fn an_implicit_derivative_takes_the_same_memory_for_any_number_of_steps() {
    let program = "(define step (/ (read-real)))
                   (define (close? x y) (< (abs (- x y)) (* 1e-6 step)))
                   (define (root a) (fixed-point close? (lambda (x) (+ x (* step (- a (* x x))))) 1))
                   (define x (real 2))
                   (list ((derivative-R root) x) ((derivative-F root) x) ((derivative-R (derivative-F root)) x))";
    let (_folder, executable) = build(program);
    assert_eq!(most_memory(&executable, "1e2"), most_memory(&executable, "1e6"));
}

#[test]
fn forward_mode_keeps_nothing() {
    let program = "(define n (read-real))
                   (define (f x) (let loop ((i 0) (s 0)) (if (= i n) s (loop (+ i 1) (+ (* s x) (sin (* i x)))))))
                   (list ((derivative-F f) 0.5) ((derivative-F (derivative-F f)) 0.5))";
    let (_folder, executable) = build(program);
    assert_eq!(most_memory(&executable, "1e6"), 0);
    let program = "(define n (read-real))
                   (define (deep x i) (if (= i n) x (+ (* 0.5 x) (deep (sin x) (+ i 1)))))
                   (define (make i) (if (= i n) '() (cons 1 (make (+ i 1)))))
                   (define (sum l) (reduce + 0 l))
                   (< ((derivative-F (lambda (x) (deep x 0))) 0.5) 20)
                   (jvp-F (lambda (l) (sum (map (lambda (x) (* x x)) l))) (make 0) (make 0))";
    check(program, "1e6", "1G", "#t\n2000000");
}

#[test]
fn functions_that_call_each_other_last_take_no_stack() {
    let program = "(define (ping n turns) (if (= n 0) turns (pong (- n 1) (+ turns 1) n)))
                   (define (pong n turns before)
                     (if (= n 0) turns (if (< before n) (error \"never\" n) (ping (- n 1) (+ turns 1)))))
                   (ping (read-real) 0)";
    check(program, "3e6", "20M", "3000000");
}

/// The primal phase of functions that call each other last keeps a tape, and takes no stack either.
#[test]
fn a_function_that_leaves_for_another_one_takes_no_stack() {
    let program = "(define (down n x) (if (= n 0) x (up (- n 1) (* x 0.5))))
                   (define (up n x) (if (= n 0) x (down (- n 1) (* x 2))))
                   ((derivative (lambda (x) (down (read-real) x))) 3)";
    check(program, "1e5", "60M", "1");
}

#[test]
fn a_long_chain_is_freed_without_recursion() {
    let program = "(let ((l (numbers (read-real)))) (+ (total l) (* 0 (car l))))";
    check(&format!("{NUMBERS}{TOTAL}{program}"), "1e6", "60M", "500000500000");
}

#[test]
fn recursion_that_is_too_deep_says_so() {
    let outcome = run(&format!("{NUMBERS}{SUM}(sum (numbers (read-real)))"), "1e6", "60M");
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.messages.contains("out of memory: recursion too deep"), "{}", outcome.messages);
}

#[test]
fn too_much_data_says_so() {
    let outcome = run(&format!("{NUMBERS}{TOTAL}(total (numbers (read-real)))"), "1e7", "60M");
    assert_eq!(outcome.code, Some(3));
    assert!(outcome.messages.contains("out of memory: too much data"), "{}", outcome.messages);
}

/// What is made in a function of the library is what the program's call makes.
#[test]
fn where_memory_is_exhausted_is_said() {
    let matrix = "(define n (read-real))\n(define m (build n (lambda (i) (build n (lambda (j) (* i j))))))\n";
    let reads = "(vector-ref (vector-ref m 3) 4)(vector-ref (vector-ref m (- n 1)) 2)(vector-length (vector-ref m 1))";
    let list = "(define n (read-real))\n(define (count i l) (if (= i 0) l (count (- i 1) (cons (sin i) l))))\n";
    let sums = "(define l (count n '()))(fold-left + 0 l)(fold-left * 1 l)";
    let tape = "(define n (read-real))\n(define (f x) (vector-fold (lambda (a i) (* a (sin (+ a i)))) x (build n (lambda (i) i))))\n";
    for text in [format!("{matrix}{reads}"), format!("{list}{sums}"), format!("{tape}((derivative-R f) 0.5)")] {
        let outcome = run(&text, "3e6", "20M");
        assert_eq!(outcome.code, Some(3), "{text}\n{}", outcome.messages);
        assert!(outcome.messages.contains("vlad:2:"), "{text}\n{}", outcome.messages);
    }
}

/// The analysis knows that nothing follows the calls, which are the last thing that the functions do all the same.
#[test]
fn loops_that_never_return_take_no_stack() {
    let one = "(define (serve left) (begin (if (= left 0) (car '()) 0) (serve (- left 1))))\n(serve (read-real))";
    let two = "(define (even left) (if (< left 0) (even 1) (let ((x (vector left left))) (odd (- (vector-ref x (if (= left 0) 2 1)) 1)))))
               (define (odd left) (even left))
               (even (read-real))";
    for (program, message) in [(one, "V0303"), (two, "V0317")] {
        let outcome = run(program, "3e6", "60M");
        assert_eq!(outcome.code, Some(1), "{}", outcome.messages);
        assert!(outcome.messages.contains(message), "{}", outcome.messages);
    }
}

/// Recursion that never ends, and would have something to do if it did, is no loop.
#[test]
fn recursion_that_never_returns_takes_stack() {
    let outcome = run("(define (f x) (+ 1 (f (+ x 1))))\n(f (read-real))", "1", "60M");
    assert_eq!(outcome.code, Some(3), "{}", outcome.messages);
    assert!(outcome.messages.contains("V0311"), "{}", outcome.messages);
}
