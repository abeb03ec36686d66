//! Every function of every eval, on small inputs: the evaluator and the executable print the same, derivatives are
//! those that differences say, and GradBench's messages are answered.

use serde_json::{Value, json};
use std::path::Path;
use std::thread;
use vlad::eval;
use vlad::pipeline::{Pipeline, Settings};
use vlad_gradbench::build;
use vlad_gradbench::check::{Subject, compare, numbers};
use vlad_gradbench::encode::Language;
use vlad_gradbench::evals::{EVALS, Eval};
use vlad_gradbench::inputs::{Size, input, simple_hand};
use vlad_gradbench::protocol::Tool;

/// What a function of an eval prints in the evaluator.
fn evaluated(eval: &Eval, function: &str, input: &Value, directory: &Path) -> Vec<f64> {
    let function = eval.function(function).expect("the eval has the function");
    let program = build::write_program(eval, function, directory).expect("the program can be written");
    let mut pipeline =
        Pipeline::new(Settings { include: vec![build::folder().join("programs")], ..Settings::default() });
    let mut core = pipeline.expand(&program).expect("the program is right");
    let mut bytes = Language::Vlad.input(eval.fields, input).expect("the input fits");
    bytes.extend(b"0\n");
    let mut output = Vec::new();
    eval::run(&mut core, &pipeline.sources, &eval::Options::default(), &mut &*bytes, &mut output)
        .expect("the program ends");
    let output = String::from_utf8(output).expect("programs print text");
    let parse = |line| vlad::core::number::parse(line).expect("a number");
    output.lines().take_while(|line| *line != ".").map(parse).collect()
}

fn check(eval: &'static Eval, input: &Value) {
    let directory = tempfile::tempdir().expect("there are temporary folders");
    let subject = Subject::new(eval, input, directory.path()).unwrap_or_else(|error| panic!("{}: {error}", eval.name));
    subject.check().unwrap_or_else(|error| panic!("{}: {error}", eval.name));
    for function in eval.functions {
        let executable = directory.path().join(format!("{}-{}", eval.name, function.name));
        let compiled = numbers(eval, &executable, input).expect("the program runs");
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        let evaluated = evaluated(eval, function.name, input, directory.path());
        assert_eq!(bits(&compiled), bits(&evaluated), "{}/{}", eval.name, function.name);
        function.output(input, &compiled).unwrap_or_else(|error| panic!("{}: {error}", eval.name));
    }
}

/// Deep recursion of the compiler and the evaluator needs more than the stack of a test.
fn with_stack(test: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(1 << 30).spawn(test).expect("threads can be made");
    thread.join().expect("the test passes");
}

#[test]
fn functions_are_right() {
    with_stack(|| {
        for eval in EVALS.iter().filter(|eval| !matches!(eval.name, "saddle" | "particle")) {
            check(eval, &input(eval.name, Size::Small).expect("every eval has inputs"));
        }
    });
}

#[test]
fn nested_derivatives_are_right() {
    with_stack(|| {
        for name in ["saddle", "particle"] {
            let eval = Eval::find(name).expect("there is such an eval");
            let input = input(name, Size::Small).expect("every eval has inputs");
            let directory = tempfile::tempdir().expect("there are temporary folders");
            let subject = Subject::new(eval, &input, directory.path()).expect("the programs run");
            subject.check().unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    });
}

#[test]
fn hands_without_triangles_are_right() {
    with_stack(|| check(Eval::find("ht").expect("there is such an eval"), &simple_hand()));
}

#[test]
fn primals_in_c_are_the_same() {
    let directory = tempfile::tempdir().expect("there are temporary folders");
    for eval in EVALS {
        let Some(executable) = build::c(eval, directory.path()).expect("the program in C can be compiled") else {
            continue;
        };
        let input = input(eval.name, Size::Small).expect("every eval has inputs");
        let bytes = Language::C.input(eval.fields, &input).expect("the input fits");
        let start = |path: &Path, language, bytes: &[u8]| {
            let session = vlad_gradbench::session::Session::of(path, language, bytes);
            session.unwrap_or_else(|error| panic!("{}: {error}", eval.name)).1
        };
        let c = start(&executable, Language::C, &bytes);
        let primal = build::vlad(eval, &eval.functions[0], directory.path()).expect("the program can be compiled");
        let bytes = Language::Vlad.input(eval.fields, &input).expect("the input fits");
        compare(&c, &start(&primal, Language::Vlad, &bytes)).unwrap_or_else(|error| panic!("{}: {error}", eval.name));
    }
}

#[test]
fn messages_are_answered() {
    let messages = [
        json!({ "id": 0, "kind": "start", "eval": "lse" }),
        json!({ "id": 1, "kind": "define", "module": "nothing" }),
        json!({ "id": 2, "kind": "define", "module": "lse" }),
        json!({ "id": 3, "kind": "evaluate", "module": "lse", "function": "gradient",
                "input": { "x": [1.0, 1.0], "min_runs": 3, "min_seconds": 0.001 } }),
        json!({ "id": 4, "kind": "evaluate", "module": "lse", "function": "gradient", "input": { "y": [] } }),
        json!({ "id": 5, "kind": "analysis", "of": 3, "valid": true }),
    ];
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let mut output = Vec::new();
    Tool::new().expect("a tool").run(input.as_bytes(), &mut output).expect("messages are answered");
    let output = String::from_utf8(output).expect("responses are text");
    let responses: Vec<Value> =
        output.lines().map(|line| serde_json::from_str(line).expect("responses are JSON")).collect();
    assert_eq!(responses.len(), messages.len());
    assert_eq!(responses[0], json!({ "id": 0, "tool": "vlad" }));
    assert_eq!(responses[1]["success"], json!(false));
    assert_eq!(responses[2]["success"], json!(true));
    assert_eq!(responses[3]["output"], json!([0.5, 0.5]));
    let timings = responses[3]["timings"].as_array().expect("there are timings");
    assert!(timings.len() >= 3 && timings.iter().all(|timing| timing["name"] == "evaluate"));
    assert_eq!(responses[4], json!({ "id": 4, "success": false, "error": "the input has no `/x` of the right kind" }));
    assert_eq!(responses[5], json!({ "id": 5 }));
}
