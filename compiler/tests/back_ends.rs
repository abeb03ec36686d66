//! A second opinion: programs print the same bytes, and end with the same code and messages, whichever back end has
//! compiled them.
//!
//! | | |
//! |---|---|
//! | some programs of `tests/run` and `compiler/tests/programs`, all of `examples` | `vlad run` with either back end |
//! | some of the same | `vlad emit --stage c`, and the executable that a C compiler alone makes of it |
//! | others, below | what a loop may not take, what options mean, what is refused |
//!
//! The notes that name callers are left out: only executables of the first back end have them.
//!
//! `BACK_ENDS=all` takes all programs instead of some: those whose names say so, so that a new program leaves the others
//! in their places. The C compiler optimises little here, to be quick.

mod common;

use common::{Outcome, TOOLS_LIMIT, folder, run_command, vlad};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use vlad::promises::Promises;

const LIMIT: Duration = Duration::from_secs(120);

/// One program in so many is taken, and one of these in so many as one file of C.
const SOME: u64 = 15;
const AS_FILE: u64 = 4;

/// What a C compiler takes long for is left out: more bytes of C than this.
const LONGEST: usize = 500_000;

/// The options of the second back end. Tapes of loops may take no memory, so that all are made again.
const C: [&str; 6] = ["--back-end", "c", "--cc", "cc -O1", "--tape-memory", "1"];

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let all = std::env::var("BACK_ENDS").is_ok_and(|which| which == "all");
    let corpora = ["tests/run", "compiler/tests/programs"].map(|corpus| programs(&root.join(corpus)));
    let is_taken =
        |path: &Path, one_in: u64| all || number(path.strip_prefix(&root).unwrap_or(path)).is_multiple_of(one_in);
    let corpora = corpora.into_iter().flatten().filter(|path| is_taken(path, SOME));
    let paths: Vec<PathBuf> = corpora.chain(programs(&root.join("examples"))).collect();
    let mut trials = vec![
        Trial::test("functions that end in calls of each other take no stack", calls_at_the_end_take_no_stack),
        Trial::test("recursion is as deep as there is memory", recursion_is_deep),
        Trial::test("tapes take as much memory as they may", tapes_take_as_much_as_they_may),
        Trial::test("numbers are written and read alike", numbers_are_written_and_read_alike),
        Trial::test("elementary functions are the same", elementary_functions_are_the_same),
        Trial::test("a file says what it lacks", a_file_says_what_it_lacks),
        Trial::test("options that do not go together are refused", options_are_refused),
    ];
    for path in paths {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        let file = path.clone();
        trials.push(Trial::test(format!("{name} (back ends)"), move || same_by_both(&path)));
        if is_taken(&file, AS_FILE) {
            trials.push(Trial::test(format!("{name} (file of C)"), move || same_as_file(&file)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// A number that the name of a file decides (32-bit FNV-1a).
fn number(path: &Path) -> u64 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    path.to_string_lossy().bytes().fold(0x811C_9DC5, step).into()
}

/// All programs in a folder and those in it, in order.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let is_program = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "vlad");
    let inside = |path: PathBuf| if path.is_dir() { programs(&path) } else { vec![path] };
    paths.into_iter().flat_map(inside).filter(is_program).collect()
}

fn run(path: &Path, options: &[&str], input: &str) -> Outcome {
    let mut command = vlad(&["run"]);
    command.args(options).arg(path).env("VLAD_REPORT_MEMORY", "1");
    run_command(command, input, LIMIT)
}

fn input(path: &Path) -> Result<String, Failed> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    Ok(Promises::read(&text).input)
}

/// Exit code, output and messages; how much memory boxes took is no part of it, but that none is left is.
fn demand_same(expected: &Outcome, found: &Outcome) -> Result<(), Failed> {
    let names_caller =
        |line: &&str| ["called from", "..."].iter().any(|it| line.trim_start_matches(" =note:").starts_with(it));
    let messages = |outcome: &Outcome| {
        let lines = outcome.messages.split_inclusive('\n').filter(|line| !names_caller(line));
        lines.collect::<String>().split("live, ").next().unwrap_or_default().to_string()
    };
    let all = |outcome: &Outcome| (outcome.code, outcome.output.clone(), messages(outcome));
    if all(expected) == all(found) {
        return Ok(());
    }
    Err(format!("{:#?}\n{:#?}", all(expected), all(found)).into())
}

fn same_by_both(path: &Path) -> Result<(), Failed> {
    let input = input(path)?;
    if file(path)?.is_some_and(|text| text.len() > LONGEST) {
        return Ok(());
    }
    demand_same(&run(path, &[], &input), &run(path, &C, &input))
}

/// A program as one file of C; `None` if it has none: it is wrong, or needs the evaluator.
fn file(path: &Path) -> Result<Option<String>, Failed> {
    let mut emit = vlad(&["emit", "--stage", "c"]);
    emit.arg(path);
    let emitted = run_command(emit, "", LIMIT);
    match emitted.code {
        Some(0) => Ok(Some(emitted.output)),
        Some(1) => Ok(None),
        _ => Err(emitted.messages.into()),
    }
}

/// The executable that a C compiler makes of the file; `None` if the file says that it does not stand alone, or is longer
/// than that.
fn file_of_c(path: &Path, folder: &Path, longest: usize) -> Result<Option<PathBuf>, Failed> {
    let (source, program) = (folder.join("program.c"), folder.join("program"));
    let Some(text) = file(path)? else { return Ok(None) };
    if text.contains("It does not stand alone") || text.len() > longest {
        return Ok(None);
    }
    fs::write(&source, text)?;
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-std=c11", "-ffp-contract=off", "-Wall", "-Wno-unused", "-o"])
        .arg(&program)
        .arg(&source)
        .arg("-lm");
    let compiled = run_command(cc, "", LIMIT);
    match compiled.code {
        Some(0) => Ok(Some(program)),
        _ => Err(compiled.messages.into()),
    }
}

fn same_as_file(path: &Path) -> Result<(), Failed> {
    let input = input(path)?;
    let folder = folder(&[]);
    let Some(program) = file_of_c(path, folder.path(), LONGEST)? else { return Ok(()) };
    let mut expected = vlad(&["run", "--native"]);
    expected.arg(path);
    demand_same(&run_command(expected, &input, LIMIT), &run_command(Command::new(program), &input, LIMIT))
}

/// What both back ends and the file of C make of a program: the same.
fn same_everywhere(text: &str, input: &str) -> Result<Outcome, Failed> {
    let folder = folder(&[("program.vlad", text)]);
    let path = folder.path().join("program.vlad");
    let expected = run(&path, &[], input);
    demand_same(&expected, &run(&path, &C, input))?;
    let program = file_of_c(&path, folder.path(), usize::MAX)?.ok_or("the file does not stand alone")?;
    let mut found = run_command(Command::new(program), input, LIMIT);
    if expected.messages.ends_with(" bytes at most\n") {
        let line = expected.messages.lines().next_back().unwrap_or_default();
        found.messages += &format!("{line}\n");
    }
    demand_same(&expected, &found)?;
    Ok(expected)
}

fn calls_at_the_end_take_no_stack() -> Result<(), Failed> {
    let text = "(define (even n) (if (= n 0) #t (odd (- n 1))))
                (define (odd n) (if (= n 0) #f (third (- n 1) (* 2 n) n)))
                (define (third n x y) (if (< (+ x y) 0) #t (even n)))
                (even (* 2 (read-real)))";
    let outcome = same_everywhere(text, "15000000")?;
    if outcome.output != "#t\n" { Err(format!("{outcome:?}").into()) } else { Ok(()) }
}

fn recursion_is_deep() -> Result<(), Failed> {
    let text = "(define (depth n) (if (= n 0) 0 (+ 1 (* 0.5 (depth (- n 1))))))
                (depth (read-real))";
    let outcome = same_everywhere(text, "1000000")?;
    if outcome.output != "2\n" { Err(format!("{outcome:?}").into()) } else { Ok(()) }
}

/// Loops of numbers, of a vector, of one that is changed in place, and in another loop; second derivatives; a
/// backpropagator that is called twice.
const LONG_LOOPS: &[&str] = &[
    "(define (f x) (let loop ((i 0) (y x)) (if (= i n) y (loop (+ i 1) (sin (* y (+ x 1)))))))
     (define derivative-of-f (gradient-R f))
     (derivative-of-f (real 0.5))",
    "(define (f x) (let loop ((i 0) (y x)) (if (= i n) y (loop (+ i 1) (sin (* y (+ x 1)))))))
     (define second (derivative-F (gradient-R f)))
     (second (real 0.5))",
    "(define (f x) (let loop ((i 0) (y x)) (if (= i n) y (loop (+ i 1) (sin (* y (+ x 1)))))))
     (define back (cdr ((*j f) (*j (real 0.5)))))
     (define once (back 1))
     (cons (cdr once) (cdr (back 2)))",
    "(define (step u) (build 30 (lambda (k) (let ((a (vector-ref u k)) (b (vector-ref u (if (= k 29) 0 (+ k 1)))))
       (+ a (* 0.1 (sin (- b a))))))))
     (define (f u) (let loop ((i 0) (u u)) (if (= i (/ n 10)) (vector-sum (vector-map sin u)) (loop (+ i 1) (step u)))))
     ((gradient-R f) (build 30 (lambda (k) (real (/ k 30)))))",
    "(define (f u) (let loop ((i 0) (u u)) (if (= i n) (vector-sum (vector-map sin u))
       (let ((k (- i (* 20 (floor (/ i 20)))))) (loop (+ i 1) (vector-update u k (lambda (x) (* 0.999 (sin x)))))))))
     ((gradient-R f) (build 20 (lambda (k) (real (/ k 20)))))",
    "(define (inner x m) (let loop ((i 0) (y x)) (if (= i m) y (loop (+ i 1) (+ y (* 0.001 (cos (* x y))))))))
     (define (f x) (let loop ((i 0) (y x)) (if (= i (/ n 100)) y (loop (+ i 1) (+ (* 0.9 y) (* 0.1 (inner (* x y) 100)))))))
     ((gradient-R f) (real 0.3))",
];

fn tapes_take_as_much_as_they_may() -> Result<(), Failed> {
    for text in LONG_LOOPS {
        let folder = folder(&[("program.vlad", &format!("(define n (read-real))\n{text}\n"))]);
        let path = folder.path().join("program.vlad");
        let most = |outcome: &Outcome| {
            let bytes = outcome.messages.split("live, ").nth(1).and_then(|rest| rest.split(' ').next());
            bytes.and_then(|bytes| bytes.parse::<u64>().ok()).ok_or(format!("{outcome:?}"))
        };
        let expected = run(&path, &[], "20000");
        for memory in ["0", "20K", "100K"] {
            for back_end in ["cranelift", "c"] {
                let found = run(&path, &["--back-end", back_end, "--tape-memory", memory], "20000");
                demand_same(&expected, &found)?;
                // The heap of C counts what it has asked for, in large pieces.
                if back_end == "cranelift" && most(&found)? > most(&expected)?.min(400_000) {
                    return Err(format!("{text}: {found:?} where all of the tape takes {expected:?}").into());
                }
            }
        }
    }
    Ok(())
}

fn numbers_are_written_and_read_alike() -> Result<(), Failed> {
    let text = "(define (echo n) (if (= n 0) 0 (begin (write-real (read-real)) (echo (- n 1)))))
                (echo (read-real))";
    let mut numbers: Vec<String> = "0 -0 1 -2.5 .5 5. 1e-5 1E+2 1/4 -3/4 #b101 #o17 #xff #x-Ff #d10 +inf.0 -inf.0 nan \
        -Infinity 5e-324 2.2250738585072014e-308 1e308 123456789012345678901234567890 5.684341886080802e-14 1e21 1e20 \
        0.0001 0.00001234 9007199254740993 0.1 4.450147717014403e-308"
        .split(' ')
        .map(str::to_string)
        .collect();
    let mut bits: u64 = 0x9E37_79B9_7F4A_7C15;
    for round in 0..3000 {
        bits = bits.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let any = f64::from_bits(bits ^ (bits >> 29));
        let power = 2f64.powi(round - 1500);
        numbers.extend([any, power, 1.0 / f64::from(round + 1)].iter().filter(|x| x.is_finite()).map(f64::to_string));
    }
    let outcome = same_everywhere(text, &format!("{}\n{}\n", numbers.len(), numbers.join("\r\n")))?;
    if outcome.output.lines().count() != numbers.len() + 1 {
        return Err(outcome.output.into());
    }
    let wrong = same_everywhere(text, "3 1\n\r  2 #b12\n")?;
    if wrong.code == Some(1) && wrong.messages.contains("#b12") { Ok(()) } else { Err(format!("{wrong:?}").into()) }
}

fn elementary_functions_are_the_same() -> Result<(), Failed> {
    let names = "exp log sin cos tan asin acos atan sinh cosh tanh log1p expm1 erf erfc gamma log-gamma sqrt floor ceiling \
                 round truncate";
    let all: String = names.split_whitespace().map(|name| format!("({name} x) ")).collect();
    let text = format!(
        "(define (all x y) (list {all} (atan x y) (expt (abs x) y)))
         (define (go n) (if (= n 0) 0 (begin (write (all (read-real) (read-real))) (newline) (go (- n 1)))))
         (go (read-real))"
    );
    let pairs: String = (1..200).map(|i| format!("{} {}\n", 0.37 * f64::from(i) - 20.1, 3.3 / f64::from(i))).collect();
    same_everywhere(&text, &format!("199\n{pairs}")).map(|_| ())
}

fn a_file_says_what_it_lacks() -> Result<(), Failed> {
    let folder = folder(&[("program.vlad", "(arguments (x real 2 \"a number\"))\n(* x x)")]);
    let path = folder.path().join("program.vlad");
    let mut emit = vlad(&["emit", "--stage", "c"]);
    emit.arg(&path);
    let emitted = run_command(emit, "", LIMIT);
    if !emitted.output.contains("It does not stand alone: there is no C for vlad_prepare_arguments.") {
        return Err(emitted.output.into());
    }
    // But linked it is complete.
    demand_same(&run(&path, &[], ""), &run(&path, &C, ""))
}

fn options_are_refused() -> Result<(), Failed> {
    let folder = folder(&[("program.vlad", "(* 6 7)\n(define (f x) x)\n(export f)")]);
    let path = folder.path().join("program.vlad");
    let refused: [&[&str]; 6] = [
        &["--cc", "cc -O3"],
        &["--back-end", "c", "--native-cpu"],
        &["--back-end", "c", "--lib", "shared"],
        &["--back-end", "c", "--cc", "cc -Ofast"],
        &["--back-end", "c", "--cc", ""],
        &["--back-end", "llvm"],
    ];
    for options in refused {
        let mut build = vlad(&["build"]);
        build.args(options).arg(&path).current_dir(folder.path());
        let outcome = run_command(build, "", TOOLS_LIMIT);
        if outcome.code != Some(2) || fs::exists(folder.path().join("program"))? {
            return Err(format!("{options:?}: {outcome:?}").into());
        }
    }
    Ok(())
}
