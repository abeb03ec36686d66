//! The tools of the SSA language: textual form, verifier and evaluator.

use vlad::ssa::eval::{self, Error, Options};
use vlad::ssa::ir::Program;
use vlad::ssa::parse;
use vlad::ssa::verify::{Stage, verify};

const PURE: Options = Options { stage: Stage::Pure, fuel: Some(10_000_000), tape_memory: eval::LITTLE_MEMORY };
const COUNTED: Options = Options { stage: Stage::Counted, fuel: Some(10_000_000), tape_memory: eval::LITTLE_MEMORY };

fn parsed(text: &str) -> Program {
    parse::program(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn output(text: &str, input: &str, options: Options) -> Result<(u8, String, String), String> {
    let program = parsed(text);
    verify(&program, options.stage).map_err(|errors| errors[0].to_string())?;
    let (outcome, output, errors) = eval::run_on(&program, input, options).map_err(|e| e.to_string())?;
    Ok((outcome.exit_code, output, errors))
}

/// Builds the list of the numbers from 1 to 100000 and adds them up by a recursion that is not a tail call.
const SUM_OF_LIST: &str = r#"sum sum0 = "nil" | "pair"(f64, ptr)
text text0 "no input\n"
text text1 "\n"
slot slot0: ptr
main fn0

fn fn0 "main"() {
b0:
    v0 = read_real.text0
    v1 = immediate.sum0.0
    v2 = call fn1(v0, v1)  ; iota
    set.slot0 v2
    v3 = get.slot0
    v4 = call fn2(v3)  ; add
    write_real.out v4
    write_text.out.text1
    return
}

fn fn1 "iota"(v0: f64, v1: ptr) -> ptr {
b0:
    v2 = real 0.0
    v3 = eq v0, v2
    branch v3, b1, b2
b1:
    return v1
b2:
    v4 = real 1.0
    v5 = sub v0, v4
    v6 = box.sum0.1 v0, v1
    tail_call fn1(v5, v6)  ; iota
}

fn fn2 "add"(v0: ptr) -> f64 {
b0:
    v1 = tag.sum0 v0
    switch v1, b1, b2(v0)
b1:
    v2 = real -0.0
    return v2
b2(v3: ptr):
    v4 = field.sum0.1.0 v3
    v5 = field.sum0.1.1 v3
    v6 = call fn2(v5)  ; add
    v7 = add v4, v6
    return v7
}
"#;

#[test]
fn text_is_read_back() {
    let program = parsed(SUM_OF_LIST);
    assert_eq!(program.to_string(), SUM_OF_LIST);
    assert_eq!(parsed(&program.to_string()), program);
}

#[test]
fn deep_recursion_and_long_chains_are_fine() {
    assert_eq!(output(SUM_OF_LIST, "100000", PURE), Ok((0, "5000050000\n".to_owned(), String::new())));
}

#[test]
fn a_program_without_input_fails_with_the_text() {
    assert_eq!(output(SUM_OF_LIST, " ", PURE), Ok((1, String::new(), "no input\n".to_owned())));
}

fn main_of(body: &str) -> String {
    format!(
        "sum sum0 = \"nil\" | \"pair\"(f64, ptr)\nvec vec0 = \"record\"(f64, ptr)\ntext text0 \"x\"\nslot slot0: ptr\nmain fn0\nfn fn0 \"main\"() {{\n{body}\n}}\n"
    )
}

#[test]
fn the_verifier_names_what_is_wrong() {
    for (body, message) in [
        ("b0: v0 = real 1.0 v1 = not v0 return", "operands of `not`"),
        ("b0: jump b1 b1: v0 = real 1.0 jump b2 b2: write_real.out v1 v1 = real 2.0 return", "does not dominate"),
        ("b0: v0 = bool true branch v0, b1, b2 b1: v1 = real 1.0 jump b2 b2: write_real.out v1 return", "dominate"),
        ("b0: jump b0", "entry"),
        ("b0: jump b1 b1(v0: f64): return", "arguments of b1"),
        ("b0: v0 = real 1.0 return v0", "return"),
        ("b0: v0 = box.sum0.0 return", "must be an immediate"),
        ("b0: v0 = immediate.sum0.1 return", "has fields"),
        ("b0: v0 = immediate.sum0.0 release v0 return", "before owners are counted"),
        ("b0: v0 = int 1 branch v0, b1, b1 b1: return", "condition"),
        (
            "b0: v0 = int 1 v1 = new_vector.vec0 v0 v2 = with_element.vec0 v1, v0, v0 return",
            "operands of `with_element",
        ),
        ("b0: v0 = int 1 v1 = int_add v0 return", "operands of `int_add`"),
    ] {
        let found = output(&main_of(body), "", PURE).expect_err(body);
        assert!(found.contains(message), "{body}: {found}");
    }
}

const BOX: &str = "b0: v0 = real 1.0 v1 = immediate.sum0.0 v2 = box.sum0.1 v0, v1";

#[test]
fn the_evaluator_sees_leaks_and_uses_after_free() {
    for (rest, message) in [
        ("return", "1 boxes are alive"),
        ("release v2 release v2 return", "released after it was freed"),
        ("release v2 v3 = field.sum0.1.0 v2 return", "used after it was freed"),
        ("retain v2 release v2 return", "1 boxes are alive"),
        ("v3 = box.sum0.1 v0, v2 release v3 release v2 return", "released after it was freed"),
    ] {
        let found = output(&main_of(&format!("{BOX} {rest}")), "", COUNTED).expect_err(rest);
        assert!(found.contains(message), "{rest}: {found}");
    }
    for rest in ["release v2 return", "set.slot0 v2 return", "retain v2 release v2 release v2 return", "fail text0"] {
        assert!(output(&main_of(&format!("{BOX} {rest}")), "", COUNTED).is_ok(), "{rest}");
    }
}

/// A vector of two elements, the first of which is set, and what it holds.
const VECTOR: &str = "b0: v0 = real 1.0 v1 = immediate.sum0.0 v2 = box.sum0.1 v0, v1 v3 = int 2 v4 = int 0 v5 = int 1 \
    v6 = new_vector.vec0 v3 v7 = with_element.vec0 v6, v3, v4, v0, v2";

#[test]
fn the_evaluator_watches_vectors() {
    for (rest, message) in [
        ("return", "2 boxes are alive"),
        ("release v7 release v2 return", "released after it was freed"),
        ("release v6 return", "released after it was freed"),
        ("v8 = element.vec0.0 v6, v3, v4 return", "used after it was freed"),
        ("v8 = element.vec0.0 v7, v3, v5 return", "read before it is set"),
        ("v8 = element.vec0.0 v7, v3, v3 return", "place 2 of 2"),
        ("v8 = element.vec0.0 v7, v5, v4 return", "place 0 of 1"),
        ("v8 = with_element.vec0 v7, v3, v4, v0, v1 v9 = field.sum0.1.0 v2 return", "used after it was freed"),
        ("v8 = tag.sum0 v7 return", "not a boxed sum"),
        ("v8 = int 9007199254740993 v9 = real_of v8 return", "an integer that no real is"),
    ] {
        let found = output(&main_of(&format!("{VECTOR} {rest}")), "", COUNTED).expect_err(rest);
        assert!(found.contains(message), "{rest}: {found}");
    }
    for (rest, copies) in [
        ("release v7 return", 0),
        ("v8 = with_element.vec0 v7, v3, v5, v0, v1 release v8 return", 0),
        ("retain v7 v8 = with_element.vec0 v7, v3, v4, v0, v1 release v8 v9 = field.sum0.1.0 v2 release v7 return", 1),
        ("retain v7 v8 = with_element.vec0 v7, v3, v5, v0, v1 release v7 v9 = field.sum0.1.0 v2 release v8 return", 1),
    ] {
        let program = parsed(&main_of(&format!("{VECTOR} {rest}")));
        let (outcome, ..) = eval::run_on(&program, "", COUNTED).unwrap_or_else(|error| panic!("{rest}: {error}"));
        assert_eq!(outcome.counts.copies, copies, "{rest}");
    }
}

#[test]
fn integers_and_reals_become_each_other() {
    for (x, expected) in [("-2.9", -2.0), ("nan", 0.0), ("1e300", 2f64.powi(63)), ("-inf", -(2f64.powi(63)))] {
        let body = format!("b0: v0 = real {x} v1 = int_of v0 v2 = real_of v1 write_real.out v2 return");
        let written = output(&main_of(&body), "", PURE).map(|result| result.1);
        assert_eq!(written, Ok(vlad::core::number::format(expected).as_str().to_owned()));
    }
}

#[test]
fn fuel_bounds_a_run() {
    let program = parsed(&main_of("b0: jump b1 b1: jump b1"));
    let found =
        eval::run_on(&program, "", Options { stage: Stage::Pure, fuel: Some(1000), tape_memory: eval::LITTLE_MEMORY });
    assert!(matches!(found, Err(Error::OutOfFuel)));
}

#[test]
fn mistakes_in_a_text_have_a_line() {
    for (text, line) in
        [("main fn0\nfn fn0 \"f\"() {\nb0:\n    v0 = nothing\n    return\n}\n", 4), ("sum sum1 = \"a\"", 1)]
    {
        assert_eq!(parse::program(text).expect_err(text).line, line, "{text}");
    }
}

/// The passes before may leave blocks in any order: a field's uses can stand in blocks of smaller numbers.
#[test]
fn reference_counts_do_not_depend_on_the_order_of_blocks() {
    let text = "\
sum sum0 = \"nil\" | \"pair\"(f64, ptr)
sum sum1 = \"end\" | \"link\"(ptr, ptr)
main fn0
fn fn0 \"main\"() {
b0:
    v0 = real 1.0
    v1 = immediate.sum0.0
    v2 = box.sum0.1 v0, v1
    v3 = box.sum0.1 v0, v2
    v4 = immediate.sum1.0
    jump b3(v3, v4)
b1:
    write_real.out v0
    return
b2:
    v7 = field.sum0.1.1 v10
    v5 = box.sum0.1 v0, v10
    v6 = box.sum1.1 v5, v8
    jump b3(v7, v6)
b3(v9: ptr, v8: ptr):
    v11 = has_tag.sum0.0 v9
    branch v11, b1, b4
b4:
    v10 = field.sum0.1.1 v9
    v12 = has_tag.sum0.0 v10
    branch v12, b1, b2
}
";
    let mut program = parsed(text);
    vlad::memory::counting::run(&mut program);
    let (outcome, ..) = eval::run_on(&program, "", COUNTED).expect("every box is released once");
    assert_eq!(outcome.exit_code, 0);
}
