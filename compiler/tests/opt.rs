//! Tests of the optimiser.
//!
//! `tests/opt/PASS/*.ssa` holds a program, a line of dashes, and what the pass makes of it; with `BLESS=1` the
//! expectations are written anew. Every program also runs before and after the pass, on the input that a line
//! `; input: ...` gives. A line `; fast-math` lets sums be made in another order. Besides, all passes and the whole pipeline run on random programs.

use std::path::{Path, PathBuf};
use std::time::Duration;
use vlad::opt::interprocedural::compact::compact;
use vlad::pipeline::passes::order::{INLINE, Phase, Row, SIMPLIFY};
use vlad::pipeline::passes::{Leave, PASSES, Pass, SCHEDULE, Settings, optimize, pass_named};
use vlad::ssa::eval::{self, Options};
use vlad::ssa::forms::Form;
use vlad::ssa::ir::Program;
use vlad::ssa::parse;
use vlad::ssa::verify::{Stage, verify};

#[path = "support/random_ssa.rs"]
mod random_ssa;

const SEPARATOR: &str = "\n---\n";
const FUEL: u64 = 3_000_000;

/// Exit code, output and errors of a run; `None` when it takes too long.
type Behaviour = Option<(u8, String, String)>;

fn behaviour(program: &Program, input: &str, stage: Stage) -> Result<Behaviour, String> {
    verify(program, stage).map_err(|errors| errors[0].to_string())?;
    match eval::run_on(program, input, Options { stage, fuel: Some(FUEL), tape_memory: eval::LITTLE_MEMORY }) {
        Ok((outcome, output, errors)) => Ok(Some((outcome.exit_code, output, errors))),
        Err(eval::Error::OutOfFuel) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs a pass and checks that the program still does the same, and that the pass has done all that it can if it says so.
fn run_pass(pass: &Pass, program: &Program, input: &str, fast_math: bool) -> Result<Program, String> {
    let before = behaviour(program, input, Stage::Pure)?;
    let mut result = program.clone();
    let leave = Leave { most: usize::MAX, fast_math };
    pass.run(&mut result, leave);
    let after = behaviour(&result, input, pass.stage())
        .map_err(|error| format!("after {}: {error}\n{program}\n{result}", pass.name))?;
    if pass.settles {
        let mut again = result.clone();
        if pass.run(&mut again, leave) || again != result {
            return Err(format!("{} is not done with\n{program}\nafter\n{result}", pass.name));
        }
    }
    if before.is_some() && before != after {
        return Err(format!("{} changed {before:?} to {after:?}\n{program}\n{result}", pass.name));
    }
    Ok(result)
}

fn check_file(pass: &Pass, path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (source, expected) = text.split_once(SEPARATOR).unwrap_or((text.trim_end(), ""));
    let program = parse::program(source).map_err(|error| error.to_string())?;
    let input = source.lines().find_map(|line| line.strip_prefix("; input: ")).unwrap_or("");
    let fast_math = source.lines().any(|line| line == "; fast-math");
    let mut result = run_pass(pass, &program, input, fast_math)?;
    for function in result.functions.values_mut() {
        compact(function);
    }
    let found = result.to_string();
    if found == expected {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(path, format!("{source}{SEPARATOR}{found}")).map_err(|error| error.to_string());
    }
    Err(format!("expected\n{expected}\nfound\n{found}"))
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/opt")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let mut paths: Vec<PathBuf> = entries.unwrap_or_default();
    paths.sort();
    paths
}

#[test]
fn passes_do_what_the_files_say() {
    let mut failures = Vec::new();
    for folder in files(&directory()) {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(pass) = pass_named(&name) else {
            failures.push(format!("{name} is not a pass"));
            continue;
        };
        for path in files(&folder) {
            if let Err(message) = check_file(pass, &path) {
                failures.push(format!("{}: {message}", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The forms of operations that a row's pass meets are those that rows before it have brought in.
#[test]
fn the_schedule_keeps_what_passes_ask_for() {
    let mut made: Vec<Form> = Vec::new();
    let mut follow = |rows: &[Row]| {
        for (name, _) in rows {
            let pass = pass_named(name).unwrap_or_else(|| panic!("`{name}` is not a pass"));
            assert!(made.iter().all(|form| pass.meets.contains(form)), "`{name}` cannot meet {made:?}");
            made.extend(pass.makes.filter(|form| !made.contains(form)));
        }
    };
    for phase in SCHEDULE {
        match phase {
            Phase::Once(rows) | Phase::Large(rows, _) => follow(rows),
            Phase::Inline(_) => [INLINE, SIMPLIFY].into_iter().for_each(&mut follow),
            Phase::Repeat(rows, _) => [rows, INLINE, SIMPLIFY, rows].into_iter().for_each(&mut follow),
        }
    }
}

#[test]
fn every_pass_has_tests() {
    for pass in PASSES {
        let count = files(&directory().join(pass.name)).len();
        assert!(count >= 2, "`{}` needs a test that shows what it does and one where it must not", pass.name);
    }
}

fn seeds() -> std::ops::Range<u64> {
    match std::env::var("SEEDS").ok().and_then(|count| count.parse().ok()) {
        Some(count) => 0..count,
        None => 0..300,
    }
}

#[test]
fn random_programs_survive_every_pass() {
    for seed in seeds() {
        let program = random_ssa::program(seed);
        for pass in PASSES {
            if let Err(message) = run_pass(pass, &program, "0.75", false) {
                panic!("seed {seed}: {message}");
            }
        }
    }
}

#[test]
fn random_programs_survive_the_pipeline() {
    for seed in seeds() {
        let program = random_ssa::program(seed);
        let before = behaviour(&program, "0.75", Stage::Pure).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let mut result = program.clone();
        optimize(&mut result, &Settings::default());
        let after = behaviour(&result, "0.75", vlad::pipeline::passes::RESULT)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{program}\n{result}"));
        assert!(before.is_none() || before == after, "seed {seed}: {before:?} {after:?}\n{program}\n{result}");
    }
}

/// A program of `count` functions of about fifty operations each, most of which call two others.
fn large_program(count: usize) -> String {
    let mut random = random_ssa::Random::new(7);
    let mut text =
        String::from("text text0 \"no input\"\nmain fn0\nfn fn0 \"main\"() {\nb0:\n    v0 = read_real.text0\n");
    text += "    v1 = call fn1(v0)\n    write_real.out v1\n    return\n}\n";
    for function in 1..=count {
        text += &format!("fn fn{function} \"f{function}\"(v0: f64) -> f64 {{\nb0:\n");
        for value in 1..=50 {
            let (x, y) = (random.below(value), value - 1);
            if matches!(value, 20 | 40) && function < count {
                let callee = function + 1 + random.below(20.min(count - function));
                text += &format!("    v{value} = call fn{callee}(v{y})\n");
            } else {
                let op = ["add", "mul", "sub"][random.below(3)];
                text += &format!("    v{value} = {op} v{x}, v{y}\n");
            }
        }
        text += "    v51 = lt v50, v0\n    branch v51, b1, b2\nb1:\n    return v49\nb2:\n    return v50\n}\n";
    }
    text
}

/// How long this thread has run, without the time in which others kept it waiting.
fn time_on_processor() -> Duration {
    let numbers = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the system tells");
    let first = numbers.split(' ').next().expect("there are three numbers");
    Duration::from_nanos(first.parse().expect("it is a number"))
}

#[test]
fn time_is_in_proportion_to_size() {
    let time = |count: usize| {
        let mut program = parse::program(&large_program(count)).unwrap_or_else(|error| panic!("{error}"));
        let start = time_on_processor();
        let report = optimize(&mut program, &Settings::default());
        let time = time_on_processor() - start;
        println!("{count} functions: {time:?} {:?}", report.times);
        time
    };
    time(20);
    let (small, large) = (time(100), time(1000));
    assert!(large < 40 * small, "100 functions take {small:?}, 1000 take {large:?}");
}

/// Thousands of functions that differ in nothing but what they say when they fail take no longer than others.
#[test]
fn functions_that_differ_in_their_errors_are_told_apart_at_once() {
    const COUNT: usize = 15000;
    let time = |number: fn(usize) -> usize, error: fn(usize) -> usize| {
        let mut text: String = (0..COUNT).map(|i| format!("text text{i} \"error {i}\"\n")).collect();
        text += "main fn0\nfn fn0 \"main\"() {\nb0:\n    v0 = read_real.text0\n    v1 = lt v0, v0\n";
        (1..=COUNT).for_each(|i| text += &format!("    call fn{i}(v1)\n"));
        text += "    return\n}\n";
        for i in 0..COUNT {
            text += &format!("fn fn{} \"f\"(v0: bool) {{\nb0:\n    v1 = int {}\n", i + 1, number(i));
            text += &format!("    branch v0, b1, b2\nb1:\n    return\nb2:\n    fail text{}\n}}\n", error(i));
        }
        let mut program = parse::program(&text).unwrap_or_else(|error| panic!("{error}"));
        let start = std::time::Instant::now();
        let changed = pass_named("merge-functions").expect("a pass").run(&mut program, Leave::default());
        assert!(!changed, "functions that fail in other ways are not equal");
        start.elapsed()
    };
    let (numbers, errors) = (time(|i| i, |_| 0), time(|_| 0, |i| i));
    assert!(errors < 8 * numbers, "other numbers take {numbers:?}, other errors {errors:?}");
}

/// So many functions call each other that only an algorithm in proportion to the calls ends before the tests do.
#[test]
fn large_circles_of_calls_are_found_to_end() {
    const COUNT: usize = 8000;
    let mut text = String::from("text text0 \"no input\"\nsum sum0 = \"nil\" | \"pair\"(f64, ptr)\nmain fn0\n");
    text +=
        "fn fn0 \"main\"() {\nb0:\n    v0 = read_real.text0\n    v1 = immediate.sum0.0\n    v2 = box.sum0.1 v0, v1\n";
    text += "    v3 = call fn1(v2)\n    write_real.out v0\n    return\n}\n";
    for function in 1..=COUNT {
        let (next, other) = (function % COUNT + 1, (function + 6) % COUNT + 1);
        text += &format!("fn fn{function} \"f{function}\"(v0: ptr) -> f64 {{\nb0:\n    v1 = has_tag.sum0.0 v0\n");
        text += "    branch v1, b1, b2\nb1:\n    v2 = real 0.0\n    return v2\nb2:\n    v3 = field.sum0.1.1 v0\n";
        text += &format!(
            "    v4 = call fn{next}(v3)\n    v5 = call fn{other}(v3)\n    v6 = add v4, v5\n    return v6\n}}\n"
        );
    }
    let mut program = parse::program(&text).unwrap_or_else(|error| panic!("{error}"));
    assert!(pass_named("dce").expect("a pass").run(&mut program, Leave::default()));
    let main = program.function_text(program.main.expect("a program has a main function"));
    assert!(!main.contains("call"), "the call whose result nobody needs is left: {main}");
}
