//! Vectors: layouts of elements, changes in place and copies, and how much memory they take.

use crate::build::{live_boxes, run_with, stdout};
use vlad::pipeline::passes::{Leave, Settings, optimize, pass_named};
use vlad::ssa::eval::{self, Options};
use vlad::ssa::ir::Program;
use vlad::ssa::parse;
use vlad::ssa::verify::{Stage, verify};

const LIMIT: (&str, &str) = ("VLAD_MAX_MEMORY", "100M");

fn parsed(text: &str) -> Program {
    let program = parse::program(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&program, Stage::Pure).unwrap_or_else(|errors| panic!("{}\n{program}", errors[0]));
    program
}

/// The program with changes in their places and reference counts, and optimised.
fn forms(program: &Program) -> [Program; 2] {
    let (mut plain, mut optimized) = (program.clone(), program.clone());
    for pass in ["late-changes", "memory"] {
        pass_named(pass).expect("it exists").run(&mut plain, Leave::default());
    }
    optimize(&mut optimized, &Settings::default());
    [plain, optimized]
}

/// Runs a program in the evaluator and as machine code, with and without optimisation. Everything must write the same
/// and free all that it allocates. Returns what was written, and how many copies were made at most.
fn check(text: &str, input: &str) -> (String, u64) {
    let program = parsed(text);
    let pure = Options { stage: Stage::Pure, fuel: None, tape_memory: eval::LITTLE_MEMORY };
    let (_, expected, _) = eval::run_on(&program, input, pure).unwrap_or_else(|error| panic!("{error}\n{program}"));
    let mut copies = 0;
    for program in forms(&program) {
        let counted = Options { stage: Stage::Counted, fuel: None, tape_memory: eval::LITTLE_MEMORY };
        let run = eval::run_on(&program, input, counted);
        let (outcome, written, _) = run.unwrap_or_else(|error| panic!("{error}\n{program}"));
        assert_eq!(written, expected, "{program}");
        copies = copies.max(outcome.counts.copies);
        let output = run_with(&program, input, &[LIMIT]);
        assert_eq!(stdout(&output), expected, "{program}");
        assert_eq!(live_boxes(&output), 0, "{program}");
    }
    (expected, copies)
}

/// Fills a vector, then lets each element be the sum of itself and the one before, and returns the last.
const RUNNING_SUMS: &str = r#"
vec vec0 = "real"(f64)
text text0 "no input"
main fn0
fn fn0 "main"() {
b0:
    v0 = read_real.text0
    v1 = int_of v0
    v2 = new_vector.vec0 v1
    v3 = int 0
    jump b1(v3, v2)
b1(v4: int, v5: ptr):
    v6 = int_below v4, v1
    branch v6, b2, b3
b2:
    v7 = real_of v4
    v8 = with_element.vec0 v5, v1, v4, v7
    v9 = int 1
    v10 = int_add v4, v9
    jump b1(v10, v8)
b3:
    v20 = int 1
    v21 = call fn1(v5, v1, v20)
    v22 = int_sub v1, v20
    v23 = element.vec0.0 v21, v1, v22
    write_real.out v23
    return
}
fn fn1 "sums"(v0: ptr, v1: int, v2: int) -> ptr {
b0:
    v3 = int_below v2, v1
    branch v3, b1, b2
b1:
    v4 = int 1
    v5 = int_sub v2, v4
    v6 = element.vec0.0 v0, v1, v5
    v7 = element.vec0.0 v0, v1, v2
    v8 = add v6, v7
    v9 = with_element.vec0 v0, v1, v2, v8
    v10 = int_add v2, v4
    tail_call fn1(v9, v1, v10)
b2:
    return v0
}
"#;

#[test]
fn loops_change_their_vectors_in_place() {
    assert_eq!(check(RUNNING_SUMS, "5"), ("10".to_owned(), 0));
    assert_eq!(check(RUNNING_SUMS, "1"), ("0".to_owned(), 0));
    // A copy for each element would take gigabytes, and hours.
    for program in forms(&parsed(RUNNING_SUMS)) {
        let output = run_with(&program, "1000000", &[LIMIT]);
        assert_eq!(stdout(&output), "499999500000");
    }
}

/// What is still needed is copied, once.
#[test]
fn shared_vectors_are_copied() {
    let text = r#"
vec vec0 = "real"(f64)
text text0 "no input"
text text1 " "
slot slot0: ptr
main fn0
fn fn0 "main"() {
b0:
    v0 = read_real.text0
    v1 = int 2
    v2 = int 0
    v3 = int 1
    v4 = new_vector.vec0 v1
    v5 = with_element.vec0 v4, v1, v2, v0
    v6 = with_element.vec0 v5, v1, v3, v0
    set.slot0 v6
    v7 = real 7.0
    v8 = call fn1(v6, v1, v7)
    v9 = get.slot0
    v10 = call fn1(v9, v1, v7)
    v11 = element.vec0.0 v9, v1, v2
    write_real.out v11
    return
}
fn fn1 "change twice"(v0: ptr, v1: int, v2: f64) -> f64 {
b0:
    v3 = int 0
    v4 = int 1
    v5 = with_element.vec0 v0, v1, v3, v2
    v6 = with_element.vec0 v5, v1, v4, v2
    v7 = element.vec0.0 v6, v1, v3
    v8 = element.vec0.0 v6, v1, v4
    write_real.out v7
    write_real.out v8
    write_text.out.text1
    return v7
}
"#;
    assert_eq!(check(text, "3"), ("77 77 3".to_owned(), 2));
}

/// Elements with fields of all types; pointers are released, shared and replaced with their elements.
#[test]
fn elements_own_what_they_refer_to() {
    let text = r#"
sum sum0 = "nil" | "pair"(f64, ptr)
vec vec0 = "record"(f64, ptr, bool, ptr, int)
text text0 "no input"
text text1 "\n"
main fn0
fn fn0 "main"() {
b0:
    v0 = read_real.text0
    v1 = int_of v0
    v2 = new_vector.vec0 v1
    v3 = int 0
    v4 = immediate.sum0.0
    jump b1(v3, v2, v4)
b1(v5: int, v6: ptr, v7: ptr):
    v8 = int_lt v5, v1
    branch v8, b2, b3
b2:
    v9 = real_of v5
    v10 = box.sum0.1 v9, v7
    v11 = box.sum0.1 v0, v10
    v12 = real 1.0
    v13 = lt v9, v12
    v14 = with_element.vec0 v6, v1, v5, v9, v10, v13, v11, v5
    v15 = int 1
    v16 = int_add v5, v15
    jump b1(v16, v14, v10)
b3:
    v20 = call fn1(v6, v1)
    write_real.out v20
    write_text.out.text1
    v21 = int 1
    v22 = bool true
    v23 = with_element.vec0 v6, v1, v21, v0, v7, v22, v7, v21
    v24 = call fn1(v23, v1)
    write_real.out v24
    write_text.out.text1
    v25 = element.vec0.1 v6, v1, v21
    v26 = with_element.vec0 v23, v1, v3, v0, v25, v22, v25, v21
    v27 = call fn1(v26, v1)
    write_real.out v27
    write_text.out.text1
    v28 = call fn1(v6, v1)
    write_real.out v28
    return
}
fn fn1 "show"(v0: ptr, v1: int) -> f64 {
b0:
    v2 = int 0
    v3 = real 0.0
    jump b1(v2, v3)
b1(v4: int, v5: f64):
    v6 = int_below v4, v1
    branch v6, b2, b5
b2:
    v7 = element.vec0.0 v0, v1, v4
    v8 = element.vec0.1 v0, v1, v4
    v9 = element.vec0.2 v0, v1, v4
    v10 = element.vec0.3 v0, v1, v4
    v11 = element.vec0.4 v0, v1, v4
    v12 = field.sum0.1.0 v8
    v13 = field.sum0.1.0 v10
    v14 = add v12, v13
    v15 = real 10.0
    v16 = mul v5, v15
    v17 = add v16, v14
    v18 = real_of v11
    v19 = add v17, v18
    branch v9, b3, b4(v19)
b3:
    v20 = add v19, v7
    jump b4(v20)
b4(v21: f64):
    v22 = int 1
    v23 = int_add v4, v22
    jump b1(v23, v21)
b5:
    return v5
}
"#;
    let (written, copies) = check(text, "4");
    // Elements show as 4, 6, 8 and 10, each in its place; then the second as 11, and then the first as 7.
    assert_eq!(written, "4690\n5190\n8190\n4690");
    assert_eq!(copies, 1);
}

/// A vector in a box that dies changes in place, and so does one in a vector's element that is replaced by it.
#[test]
fn vectors_in_boxes_are_handed_over() {
    let text = r#"
sum sum0 = "state"(ptr, f64)
vec vec0 = "real"(f64)
text text0 "no input"
main fn0
fn fn0 "main"() {
b0:
    v0 = read_real.text0
    v1 = int_of v0
    v2 = new_vector.vec0 v1
    v3 = box.sum0.0 v2, v0
    v4 = call fn1(v3, v1)
    v5 = field.sum0.0.0 v4
    v6 = int 2
    v7 = element.vec0.0 v5, v1, v6
    write_real.out v7
    return
}
fn fn1 "fill"(v0: ptr, v1: int) -> ptr {
b0:
    v2 = field.sum0.0.0 v0
    v3 = field.sum0.0.1 v0
    v4 = real 0.0
    v5 = le v3, v4
    branch v5, b1, b2
b1:
    return v0
b2:
    v6 = real 1.0
    v7 = sub v3, v6
    v8 = int_of v7
    v9 = with_element.vec0 v2, v1, v8, v7
    v10 = box.sum0.0 v9, v7
    v11 = call fn1(v10, v1)
    return v11
}
"#;
    assert_eq!(check(text, "5"), ("2".to_owned(), 0));
}

/// Rows of a matrix change in place, and so do its elements when they are exchanged.
#[test]
fn rows_of_matrices_are_changed_in_place() {
    assert_eq!(check(MATRIX, "4"), ("3 6".to_owned(), 0));
    for program in forms(&parsed(MATRIX)) {
        let output = run_with(&program, "1000", &[LIMIT]);
        assert_eq!(stdout(&output), "999 499500");
    }
}

/// Makes a matrix, lets each element be its column, reverses the first row, and writes the first element of this row
/// and the sum of the second.
const MATRIX: &str = r#"
vec vec0 = "real"(f64)
vec vec1 = "row"(int, ptr)
text text0 "no input"
text text1 " "
text text2 "no such place"
main fn0
fn fn0 "main"() {
b0:
    v0 = read_real.text0
    v1 = int_of v0
    v2 = new_vector.vec1 v1
    v3 = int 0
    v4 = int 1
    jump b1(v3, v2)
b1(v5: int, v6: ptr):
    v7 = int_below v5, v1
    branch v7, b2, b3
b2:
    v8 = new_vector.vec0 v1
    v9 = with_element.vec1 v6, v1, v5, v1, v8
    v10 = int_add v5, v4
    jump b1(v10, v9)
b3:
    v11 = call fn1(v6, v1, v3, v3)
    v12 = element.vec1.0 v11, v1, v3
    v13 = element.vec1.1 v11, v1, v3
    v14 = call fn3(v13, v12)
    v15 = with_element.vec1 v11, v1, v3, v12, v14
    v16 = element.vec1.1 v15, v1, v3
    v17 = element.vec0.0 v16, v1, v3
    write_real.out v17
    write_text.out.text1
    v18 = element.vec1.1 v15, v1, v4
    v19 = real 0.0
    v20 = call fn4(v18, v1, v3, v19)
    write_real.out v20
    return
}
fn fn1 "fill"(v0: ptr, v1: int, v2: int, v3: int) -> ptr {
b0:
    v4 = int_below v2, v1
    branch v4, b1, b4
b1:
    v5 = int_below v3, v1
    branch v5, b2, b3
b2:
    v6 = real_of v3
    v7 = call fn2(v0, v1, v2, v3, v6)
    v8 = int 1
    v9 = int_add v3, v8
    tail_call fn1(v7, v1, v2, v9)
b3:
    v10 = int 1
    v11 = int_add v2, v10
    v12 = int 0
    tail_call fn1(v0, v1, v11, v12)
b4:
    return v0
}
fn fn2 "set"(v0: ptr, v1: int, v2: int, v3: int, v4: f64) -> ptr {
b0:
    v5 = element.vec1.1 v0, v1, v2
    v6 = element.vec1.0 v0, v1, v2
    v7 = int_below v3, v6
    branch v7, b1, b2
b1:
    v8 = with_element.vec0 v5, v6, v3, v4
    v9 = with_element.vec1 v0, v1, v2, v6, v8
    return v9
b2:
    fail text2
}
fn fn3 "reverse"(v0: ptr, v1: int) -> ptr {
b0:
    v2 = int 0
    v3 = int 1
    v4 = int_sub v1, v3
    jump b1(v0, v2, v4)
b1(v5: ptr, v6: int, v7: int):
    v8 = int_lt v6, v7
    branch v8, b2, b4
b2:
    v9 = element.vec0.0 v5, v1, v7
    v10 = with_element.vec0 v5, v1, v6, v9
    v11 = int_below v7, v1
    branch v11, b3, b5
b3:
    v12 = element.vec0.0 v5, v1, v6
    v13 = with_element.vec0 v10, v1, v7, v12
    v14 = int_add v6, v3
    v15 = int_sub v7, v3
    jump b1(v13, v14, v15)
b4:
    return v5
b5:
    fail text2
}
fn fn4 "sum"(v0: ptr, v1: int, v2: int, v3: f64) -> f64 {
b0:
    v4 = int_below v2, v1
    branch v4, b1, b2
b1:
    v5 = element.vec0.0 v0, v1, v2
    v6 = add v3, v5
    v7 = int 1
    v8 = int_add v2, v7
    tail_call fn4(v0, v1, v8, v6)
b2:
    return v3
}
"#;

/// Vectors that no memory can hold end the program as other data do.
#[test]
fn vectors_that_are_too_large_exhaust_the_memory() {
    let text = r#"
vec vec0 = "reals"(f64, ptr, f64)
text text0 "no input"
main fn0
fn fn0 "main"() {
b0:
    v0 = read_real.text0
    v1 = int_of v0
    v2 = new_vector.vec0 v1
    v3 = int 0
    v4 = immediate.sum0.0
    v5 = with_element.vec0 v2, v1, v3, v0, v4, v0
    v6 = element.vec0.2 v5, v1, v3
    v7 = opaque.ptr v5
    write_real.out v6
    return
}
sum sum0 = "nil"
"#;
    let [program, _] = forms(&parsed(text));
    for size in ["1e6", "1e7", "1e9", "6e18", "3074457345618258603", "1e19", "-1"] {
        let output = run_with(&program, size, &[("VLAD_MAX_MEMORY", "100M")]);
        let expected = if size == "1e6" { Some(0) } else { Some(3) };
        assert_eq!(output.status.code(), expected, "{size}");
        let message = String::from_utf8_lossy(&output.stderr).contains("out of memory: too much data");
        assert_eq!(message, size != "1e6");
    }
}
