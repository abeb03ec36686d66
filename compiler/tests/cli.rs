//! The program `vlad` from outside: exit codes, messages, files that it leaves and does not leave.

mod common;

use common::{folder, names};
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

fn vlad(arguments: &[&str]) -> Command {
    let mut command = common::vlad(arguments);
    command.stdin(Stdio::null());
    command
}

fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A tower of derivatives whose height is read: only the evaluator can run it.
const TOWER: &str = "(define (tower n f) (if (= n 0) f (tower (- n 1) (derivative f))))
((tower (read-real) exp) 0)
";

#[test]
fn programs_run_with_their_input_and_output() {
    let folder = folder(&[("sum.vlad", "(+ (read-real) (read-real))\n")]);
    let path = folder.path().join("sum.vlad");
    fs::write(folder.path().join("input"), "2 3").expect("temporary files can be written");
    for subcommand in ["run", "eval"] {
        let input = fs::File::open(folder.path().join("input")).expect("it was just written");
        let output = output(vlad(&[subcommand]).arg(&path).stdin(input));
        assert_eq!((out(&output).as_str(), output.status.code()), ("5\n", Some(0)), "{}", err(&output));
    }
}

/// Sums and products of loops, for lengths from none to many rounds of lanes.
const SUMS: &str = "(define (ramp n) (build n (lambda (i) (/ (+ i 0.1) 7))))
(define (product v) (vector-fold (lambda (p x) (* p (- 1.3 x))) 1 v))
(define (least-squares v) (vector-fold (lambda (s x) (- s (* (- x 2) (- x 2)))) 0.5 v))
(let loop ((n (read-real)))
  (when (>= n 0)
    (let ((v (ramp n)))
      (write-real (dot v v)) (newline)
      (write-real (product v)) (newline)
      (write-real (vector-sum v)) (newline)
      (write-real (least-squares v)) (newline)
      (write-real (vector-sum ((gradient least-squares) v))) (newline))
    (loop (- n 1))))
";

#[test]
fn fast_math_is_close_to_the_evaluator() {
    let folder = folder(&[("sums.vlad", SUMS), ("input", "40")]);
    let run = |arguments: &[&str]| {
        let input = fs::File::open(folder.path().join("input")).expect("it was just written");
        let output = output(vlad(arguments).arg(folder.path().join("sums.vlad")).stdin(input));
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let lines = out(&output);
        lines.lines().filter_map(|line| line.parse().ok()).collect::<Vec<f64>>()
    };
    let (expected, exact, fast) = (run(&["eval"]), run(&["run"]), run(&["run", "--fast-math"]));
    assert_eq!(exact, expected);
    assert_ne!(fast, expected, "some sum is long enough to differ");
    assert_eq!(fast.len(), expected.len());
    for (fast, expected) in fast.iter().zip(&expected) {
        assert!((fast - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{fast} {expected}");
    }
}

#[test]
fn a_failing_program_has_exit_code_1() {
    let folder = folder(&[("fail.vlad", "1\n(error \"no\" (read-real))\n")]);
    for subcommand in ["run", "eval"] {
        let output = output(vlad(&[subcommand]).arg(folder.path().join("fail.vlad")));
        assert_eq!((out(&output).as_str(), output.status.code()), ("1\n", Some(1)), "{}", err(&output));
        assert!(err(&output).contains("`read-real` at the end of the input"), "{}", err(&output));
    }
}

#[test]
fn a_wrong_program_has_exit_code_1() {
    let folder = folder(&[("wrong.vlad", "(+ 1 undefined-name)\n")]);
    let path = folder.path().join("wrong.vlad");
    for subcommand in ["run", "build", "eval", "check", "emit"] {
        let output = output(vlad(&[subcommand]).arg(&path).current_dir(folder.path()));
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(out(&output), "");
        assert!(err(&output).contains("undefined-name"), "{}", err(&output));
    }
    assert_eq!(names(folder.path()), ["wrong.vlad"]);
}

#[test]
fn wrong_usage_has_exit_code_2() {
    let folder = folder(&[("right.vlad", "1\n")]);
    let path = folder.path().join("right.vlad").display().to_string();
    let cases: &[&[&str]] = &[
        &[],
        &["compile", &path],
        &["run"],
        &["run", "--fast", &path],
        &["emit", "--stage", "nothing", &path],
        &["run", "no-such-file.vlad"],
        &["emit", "--stage", "syntax", "no-such-file.vlad"],
        &["eval", "/"],
    ];
    for arguments in cases {
        let output = output(&mut vlad(arguments));
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", err(&output));
        assert!(!err(&output).is_empty());
    }
}

#[test]
fn a_missing_file_is_named() {
    let output = output(&mut vlad(&["run", "no-such-file.vlad"]));
    insta::assert_snapshot!(err(&output));
}

#[test]
fn build_writes_an_executable_and_nothing_else() {
    let folder =
        folder(&[("lib/main.vlad", "(include \"part\")\n(f 3)\n"), ("parts/part.vlad", "(define (f x) (* x x))")]);
    let output1 = output(vlad(&["build", "lib/main.vlad", "-I", "parts"]).current_dir(folder.path()));
    assert_eq!(output1.status.code(), Some(0), "{}", err(&output1));
    assert_eq!(names(folder.path()), ["lib", "main", "parts"]);
    assert_eq!(names(&folder.path().join("lib")), ["main.vlad"]);
    let run = output(&mut Command::new(folder.path().join("main")));
    assert_eq!(out(&run), "9\n");
    let output2 = output(vlad(&["build", "lib/main.vlad", "-I", "parts", "-o", "lib/x"]).current_dir(folder.path()));
    assert_eq!(output2.status.code(), Some(0), "{}", err(&output2));
    assert_eq!(out(&output(&mut Command::new(folder.path().join("lib/x")))), "9\n");
}

#[test]
fn a_failed_build_leaves_what_was_there() {
    let folder = folder(&[("right.vlad", "1\n"), ("old", "something")]);
    let cases = [("CC", "false"), ("CC", "no-such-linker --flag")];
    for (name, value) in cases {
        let output = output(vlad(&["build", "right.vlad", "-o", "old"]).env(name, value).current_dir(folder.path()));
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert_eq!(names(folder.path()), ["old", "right.vlad"]);
        assert_eq!(fs::read_to_string(folder.path().join("old")).ok().as_deref(), Some("something"));
    }
}

#[test]
fn a_missing_linker_is_named() {
    let folder = folder(&[("right.vlad", "1\n")]);
    let output = output(vlad(&["run", "right.vlad"]).env("CC", "no-such-linker").current_dir(folder.path()));
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(err(&output));
}

#[test]
fn the_executable_may_not_replace_the_program() {
    let folder = folder(&[("program", "1\n"), ("other.vlad", "1\n")]);
    let same = output(vlad(&["build", "program"]).current_dir(folder.path()));
    assert_eq!(same.status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("program")).ok().as_deref(), Some("1\n"));
    insta::assert_snapshot!(err(&same));
    let into_folder = output(vlad(&["build", "other.vlad", "-o", "."]).current_dir(folder.path()));
    assert_eq!(into_folder.status.code(), Some(1));
    let nowhere = output(vlad(&["build", "other.vlad", "-o", "no/such/folder"]).current_dir(folder.path()));
    assert_eq!(nowhere.status.code(), Some(1));
    insta::assert_snapshot!(err(&nowhere));
    assert_eq!(names(folder.path()), ["other.vlad", "program"]);
}

#[test]
fn what_only_the_evaluator_can_run_is_compiled_with_a_warning() {
    let folder = folder(&[("tower.vlad", TOWER), ("input", "2")]);
    let input = || fs::File::open(folder.path().join("input")).expect("it was just written");
    let run = output(vlad(&["run", "tower.vlad"]).current_dir(folder.path()).stdin(input()));
    assert_eq!((out(&run).as_str(), run.status.code()), ("1\n", Some(0)), "{}", err(&run));
    assert!(err(&run).starts_with("warning"), "{}", err(&run));
    let build = output(vlad(&["build", "tower.vlad"]).current_dir(folder.path()));
    assert_eq!(build.status.code(), Some(0), "{}", err(&build));
    fs::remove_file(folder.path().join("tower.vlad")).expect("it exists");
    let execute = |input: Stdio| output(Command::new(folder.path().join("tower")).current_dir("/").stdin(input));
    let built = execute(input().into());
    assert_eq!((out(&built).as_str(), built.status.code()), ("1\n", Some(0)), "{}", err(&built));
    let failed = execute(Stdio::null());
    assert_eq!(failed.status.code(), Some(1));
    assert!(err(&failed).contains("tower.vlad:2"), "{}", err(&failed));
}

#[test]
fn a_mistake_of_the_compiler_costs_time_and_no_result() {
    let folder = folder(&[("right.vlad", "(* 6 7)\n(export f ((x real)) x)\n")]);
    let run = output(vlad(&["run", "--panic", "right.vlad"]).current_dir(folder.path()));
    assert_eq!((out(&run).as_str(), run.status.code()), ("42\n", Some(0)), "{}", err(&run));
    assert!(err(&run).starts_with("warning[V0800]: mistake in the compiler\n --> right.vlad:1:1\n"), "{}", err(&run));
    assert!(err(&run).contains("the program runs in the reference evaluator instead"), "{}", err(&run));
    let built = output(vlad(&["build", "--lib", "static", "--panic", "right.vlad"]).current_dir(folder.path()));
    assert_eq!(built.status.code(), Some(1));
    assert!(err(&built).starts_with("error[V0800]: mistake in the compiler\n --> right.vlad:2:1\n"), "{}", err(&built));
    assert!(!err(&built).contains("instead"), "{}", err(&built));
    assert_eq!(names(folder.path()), ["right.vlad"]);
}

#[test]
fn native_makes_the_evaluator_an_error() {
    let folder = folder(&[("tower.vlad", TOWER)]);
    for subcommand in ["run", "build", "check"] {
        let output = output(vlad(&[subcommand, "--native", "tower.vlad"]).current_dir(folder.path()));
        assert_eq!(output.status.code(), Some(1));
        assert!(err(&output).starts_with("error"), "{}", err(&output));
    }
    assert_eq!(names(folder.path()), ["tower.vlad"]);
}

#[test]
fn every_stage_can_be_shown() {
    let folder = folder(&[("square.vlad", "(define (square x) (* x x))\n(square (read-real))\n")]);
    for stage in ["syntax", "core", "reverse", "forward", "series", "flow", "ssa", "opt", "clif", "asm"] {
        let shown = output(vlad(&["emit", "--stage", stage, "square.vlad"]).current_dir(folder.path()));
        assert_eq!(shown.status.code(), Some(0), "{stage}: {}", err(&shown));
        assert!(out(&shown).lines().count() > 1, "{stage}: {}", out(&shown));
        let mut to_file = vlad(&["emit", "--stage", stage, "square.vlad", "-o", "text"]);
        assert_eq!(output(to_file.current_dir(folder.path())).status.code(), Some(0));
        assert_eq!(fs::read_to_string(folder.path().join("text")).ok(), Some(out(&shown)));
    }
}

#[test]
fn nothing_is_left_behind_by_run() {
    let folder = folder(&[("right.vlad", "1\n"), ("tmp/.keep", "")]);
    let run = output(vlad(&["run", "right.vlad"]).current_dir(folder.path()).env("TMPDIR", folder.path().join("tmp")));
    assert_eq!((out(&run).as_str(), run.status.code()), ("1\n", Some(0)), "{}", err(&run));
    assert_eq!(names(&folder.path().join("tmp")), [".keep"]);
    assert_eq!(names(folder.path()), ["right.vlad", "tmp"]);
}

#[test]
fn a_reader_that_goes_away_is_no_catastrophe() {
    let text = "(define (loop n) (if (= n 0) 0 (begin (write-real n) (loop (- n 1)))))\n(loop 100000)\n";
    let folder = folder(&[("long.vlad", text)]);
    for subcommand in ["run", "eval"] {
        let mut command = vlad(&[subcommand]);
        command.arg(folder.path().join("long.vlad")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("vlad starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("vlad ends");
        assert_eq!(err(&output), "");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn operations_are_counted() {
    let folder = folder(&[("square.vlad", "(define (square x) (* x x))\n(+ (square 3) (square 4))\n")]);
    let output = output(vlad(&["eval", "--count", "square.vlad"]).current_dir(folder.path()));
    assert_eq!(out(&output), "25\n");
    assert!(err(&output).contains("total                 3"), "{}", err(&output));
}

/// Arguments for `vlad bench` that give figures soon, but not good ones.
const HASTY: [&str; 5] = ["bench", "--runs", "1", "--min-time", "0"];

#[test]
fn derivatives_are_measured() {
    let folder = folder(&[(
        "two.vlad",
        "(define a (read-real))\n(define (f x) (* a x x))\n(list ((gradient f)\n 3))\n((hessian f) 3)\n(jvp sin 1 1)\n",
    )]);
    let measure = |arguments: &[&str]| {
        fs::write(folder.path().join("input"), "2").expect("temporary files can be written");
        let input = fs::File::open(folder.path().join("input")).expect("it was just written");
        let output = output(vlad(&HASTY).arg("two.vlad").args(arguments).current_dir(folder.path()).stdin(input));
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        out(&output)
    };
    let text = measure(&["--svg", "two.svg", "--html", "two.html"]);
    for expected in ["((gradient f) 3)  (two.vlad:3)", "\n  value  ", "\n  gradient  ", "\n  hessian  ", "\n  jvp  "] {
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(names(folder.path()), ["input", "two.html", "two.svg", "two.vlad"]);
    let svg = fs::read_to_string(folder.path().join("two.svg")).expect("it was written");
    assert_eq!((svg.matches("<rect").count(), svg.matches("<text").count()), (5, 12), "{svg}");
    let html = fs::read_to_string(folder.path().join("two.html")).expect("it was written");
    assert!(html.contains(&svg) && html.matches("<tr><td>").count() == 5, "{html}");
    let json: serde_json::Value = serde_json::from_str(&measure(&["--format", "json"])).expect("it is JSON");
    let names = |call: usize| {
        let rows = json["calls"][call]["measured"].as_array().expect("there are rows");
        rows.iter().map(|row| row["name"].as_str().unwrap_or_default().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        (names(0), names(1)),
        (
            vec!["value", "gradient", "hessian"].into_iter().map(String::from).collect(),
            vec!["value".to_string(), "jvp".to_string()]
        )
    );
    assert!(json["calls"][0]["measured"][1]["seconds"]["median"].as_f64().is_some_and(|time| time > 0.0));
}

#[test]
fn functions_and_memory_are_explained() {
    let folder = folder(&[(
        "decay.vlad",
        "(define n (read-real))\n(define (step a x) (- x (* a (sin x))))\n\
         (define (decay a)\n  (let loop ((i n) (x 1)) (if (<= i 0) x (loop (- i 1) (step a x)))))\n\
         ((gradient decay) (read-real))\n",
    )]);
    let explain = |arguments: &[&str]| {
        let output = output(vlad(&["explain", "decay.vlad"]).args(arguments).current_dir(folder.path()));
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        out(&output)
    };
    insta::assert_snapshot!(explain(&[]));
    let json: serde_json::Value = serde_json::from_str(&explain(&["--format", "json"])).expect("it is JSON");
    assert!(json["functions"].as_array().is_some_and(|functions| !functions.is_empty()));
    assert!(json["boxes"].as_array().is_some_and(|boxes| !boxes.is_empty()));
}

#[test]
fn what_cannot_be_measured_is_explained() {
    let folder = folder(&[
        ("none.vlad", "(define (f x) x)\n(let ((x 1)) ((derivative f) x))\n"),
        ("input.vlad", "(define a (read-real))\n((derivative (lambda (x) (* a x))) 1)\n"),
        ("tower.vlad", &format!("{TOWER}((derivative (tower (read-real) exp)) 1)\n")),
        ("wrong.vlad", "((derivative f) 1)\n"),
    ]);
    let fail = |name: &str, input: Stdio| {
        let output = output(vlad(&HASTY).arg(name).current_dir(folder.path()).stdin(input));
        assert_eq!((out(&output).lines().count() <= 1, output.status.success()), (true, false), "{}", out(&output));
        err(&output)
    };
    let mut messages =
        ["none.vlad", "input.vlad", "tower.vlad", "wrong.vlad"].map(|name| fail(name, Stdio::null())).concat();
    let unreadable = fs::File::open(folder.path()).expect("folders can be opened");
    messages += &fail("input.vlad", unreadable.into());
    insta::assert_snapshot!(messages);
}

#[test]
fn numbers_that_go_wrong_in_derivatives_are_trapped() {
    let value = "(exp 100)\n(log (- (exp (* 10 100)) 1))\n";
    let forward = "(exp 100)\n((derivative-R (lambda (x) (log (+ 1 (exp x))))) 1000)\n";
    let reverse = "((derivative-R (lambda (x) (* x (sqrt x)))) 0)\n";
    let tangent = "(exp 100)\n((derivative-F (lambda (x) (* x (sqrt x)))) 0)\n";
    let mixed = "((derivative-F (derivative-R (lambda (x) (* x x (log x))))) 0)\n";
    let sum = "(tangent ((j* +) (bundle (cons 1 1) (cons 1e308 1e308))))\n";
    let read = "(define (f x) (let loop ((i 0) (s 0)) (if (= i 100) s (loop (+ i 1) (+ s (/ 1 (- x i)))))))\n((gradient f) (read-real))\n";
    let in_library =
        "(define (norm l) (sqrt (dot l l)))\n((gradient norm) (list 0 (read-real)))\n(norm (list 1 1e300))\n";
    let given = "(define (f x) (if (> x 100) x (log (+ 1 (exp x)))))
((derivative-R (with-derivative f (lambda (x) (/ 1 (+ 1 (exp (- x))))))) 100)
((derivative-R (with-derivative f (lambda (x) (/ (exp x) (+ 1 (exp x)))))) 1000)
";
    // Before the backpropagator is called.
    let transform = "(define (r x) (let ((d (/ 1 (*j-inverse x)))) (cons (*j (log (*j-inverse x))) (lambda (s) (cons '() (* s d))))))
((gradient (custom-*j log r)) 0)
";
    let programs = [
        ("value", value),
        ("read", read),
        ("in-library", in_library),
        ("forward", forward),
        ("reverse", reverse),
        ("tangent", tangent),
        ("mixed", mixed),
        ("sum", sum),
        ("given", given),
        ("transform", transform),
    ];
    let folder = folder(&programs);
    fs::write(folder.path().join("input"), "7\n").expect("a file can be written");
    let trapped = |command: &str, name: &str| {
        let input = fs::File::open(folder.path().join("input")).expect("it has been written");
        let output = output(vlad(&[command, "--trap-nan", name]).current_dir(folder.path()).stdin(input));
        assert_eq!(output.status.code(), Some(1), "{command} {name}: {}", err(&output));
        err(&output)
    };
    let messages = programs.map(|(name, _)| trapped("eval", name));
    insta::assert_snapshot!(messages.concat());
    for ((name, _), message) in programs.iter().zip(&messages) {
        // Compiled code does not tell which derivatives the program gives.
        let told = match *name {
            "given" | "transform" => message.replace(" in a derivative that the program gives", ""),
            _ => message.clone(),
        };
        let line = |text: &str| text.lines().take_while(|line| !line.contains("= help")).collect::<Vec<_>>().join("\n");
        assert_eq!(line(&trapped("run", name)), line(&told), "{name}");
    }
}

/// What the optimiser computes is watched no more, and searches that are fine go through nothing infinite.
#[test]
fn programs_that_are_fine_run_when_numbers_are_trapped() {
    const ARRAYS: (&str, &str) = ("arrays", "#(#(+inf.0 +inf.0) #(3 4))\n#(#(11))\n");
    let folder = folder(&[
        ("constants", "(vector-map (lambda (a) (+ a 3)) #(1 2 3))\n(vector-sum (build 4 (lambda (i) (* i 2))))\n"),
        ("argmin", "(round (argmin (lambda (w) (- (* w w) (* w 4))) 0))\n"),
        ("bfgs", "(map round (bfgs (lambda ((list a b)) (+ (* (- a 3) (- a 3)) (* b b))) (list 0 1) 1e-9))\n"),
        ("arrays", "(matmul #(#(+inf.0 1) #(0 1)) #(#(1 2) #(3 4)))\n(matmul #(#(1 2)) #(#(3) #(4)))\n"),
    ]);
    for (name, printed) in [("constants", "#(4 5 6)\n12\n"), ("argmin", "2\n"), ("bfgs", "(3 0)\n"), ARRAYS] {
        for command in ["eval", "run"] {
            let output = output(vlad(&[command, "--trap-nan", name]).current_dir(folder.path()));
            assert_eq!((out(&output).as_str(), err(&output).as_str()), (printed, ""), "{command} {name}");
        }
    }
}

/// Loops that make several rounds at a time leave what is to be reported to those that make one after the other, and
/// nothing is printed that would not have been.
#[test]
fn what_is_trapped_is_the_first_and_comes_before_later_output() {
    // Row 1 goes wrong in its first element, row 0 in its last: row 0 is first.
    let rows = "(define n (read-real))
(define m (build 9 (lambda (i) (build n (lambda (j) (if (= (+ j (* i (- n 1))) (- n 1)) 1e200 1))))))
(define v (build n (lambda (j) 1e200)))
(build 9 (lambda (i) (let loop ((j 0) (s i)) (if (= j n) s (loop (+ j 1) (+ s (* (matrix-ref m i j) (vector-ref v j))))))))
";
    let programs = [
        ("rows", rows),
        // Arithmetic of the library on whole arrays.
        ("outer", "(outer (vector (read-real) 1e200) #(1e200 1e306))\n"),
        ("inverse", "(list (read-real) (inverse (vector (vector 1e-320 0) (vector 0 1))))\n"),
        (
            "product",
            "(define n (read-real))
(define m (build 20 (lambda (i) (build 20 (lambda (j) (if (= i j) (* n 1e180) 1))))))
(matmul m m)
",
        ),
        ("solve", "(linear-solve #(#(1e-200 0) #(0 1)) (vector (* 1e300 (read-real)) 1))\n"),
        // What is stored is the same in all rounds.
        ("stored", "(define n (read-real))\n(build n (lambda (i) (* n 1e307)))\n"),
        ("alone", "(define n (read-real))\n(vector (* n 1e307))\n"),
        // In lanes: a sum, elements that are kept, elements that are changed.
        (
            "sum",
            "(define v (build (read-real) (lambda (i) (- i 37))))
(vector-sum (vector-map (lambda (e) (/ 2 e)) v))
",
        ),
        (
            "total",
            "(define v (build (read-real) (lambda (i) (if (= i 50) 1e160 i))))
(vector-sum (vector-map (lambda (e) (* e e 3)) v))
",
        ),
        (
            "order",
            "(define v (build (read-real) (lambda (i) (- i 36))))
(vector-map (lambda (e) (* (sqrt (- e)) (/ 2 (* e (- e 1))))) v)
",
        ),
        (
            "gradient",
            "(define v (build (read-real) (lambda (i) (- 40 i))))
((gradient (lambda (v) (vector-sum (vector-map (lambda (e) (* e (sqrt (* e e)))) v)))) v)
",
        ),
        // Nothing to report before the end: what is infinite was so before.
        (
            "meant",
            "(define v (build (read-real) (lambda (i) (if (= i 9) +inf.0 i))))
(vector-sum (vector-map (lambda (e) (+ (* e 2) 1)) v))
(vector-ref (vector-map (lambda (e) (* e e)) v) 99)
(/ 1 (- (vector-ref v 3) 3))
",
        ),
        ("printed", "(define (f x) (vector-map (lambda (e) (/ e x)) (vector 1 2)))\n(f (- (read-real) 100))\n"),
        ("listed", "(define (f x) (map (lambda (e) (/ e x)) (list 1 2)))\n(f (- (read-real) 100))\n"),
        ("constants", "(list +inf.0 (* +inf.0 (real 0)) (- +inf.0 +inf.0))\n"),
        ("branch", "(define (f x) (if (> x 1e300) (- +inf.0 +inf.0) x))\n(f (read-real))\n(f 1e301)\n"),
    ];
    let folder = folder(&programs);
    fs::write(folder.path().join("input"), "100").expect("the folder is writable");
    for (name, _) in programs {
        let [evaluated, compiled] = ["eval", "run"].map(|command| {
            let input = fs::File::open(folder.path().join("input")).expect("it has been written");
            output(vlad(&[command, "--trap-nan", name]).current_dir(folder.path()).stdin(input))
        });
        assert_eq!(evaluated.status.code(), Some(1), "{name}: {}", err(&evaluated));
        // Executables seldom say who called what is trapped.
        let [told, said] = [&evaluated, &compiled].map(|output| {
            let messages = err(output);
            messages.lines().filter(|line| !line.contains("= note: called")).collect::<Vec<_>>().join("\n")
        });
        assert_eq!((out(&compiled), said), (out(&evaluated), told), "{name}");
    }
}

#[test]
fn kinks_are_listed() {
    const KINKS: &str = "(define (distance x y) (abs (- x y)))
(abs 0)
(write-string \"distance: \")
((gradient distance) 2 2)
((gradient-F distance) 3 3)
((gradient distance) 3 2)
((derivative-F (lambda (x) (max x (* x x)))) 1)
((gradient (lambda (l) (reduce + 0 (map sqrt l)))) (list 0 1))
((derivative-F (derivative-R (lambda (x) (* x (atan x (- x)))))) 0)
((derivative (lambda (x) (abs (asin x)))) 0.5)
((gradient (lambda (x) (if (< (abs x) 1) (* 2 x) (* 0 x)))) 0)
((derivative (lambda (x) (max x (real x)))) 1)
((gradient (lambda (x) (+ x (sqrt 0)))) 1)
(taylor abs 0 1)
";
    let folder = folder(&[("kinks.vlad", KINKS)]);
    let listed = output(vlad(&["eval", "--warn-kinks", "kinks.vlad"]).current_dir(folder.path()));
    assert_eq!(listed.status.code(), Some(0));
    insta::assert_snapshot!(out(&listed) + &err(&listed));
    let silent = output(vlad(&["eval", "kinks.vlad"]).current_dir(folder.path()));
    assert_eq!(err(&silent), "");
}

#[test]
fn colours_are_used_on_demand() {
    let folder = folder(&[("wrong.vlad", "(f)\n")]);
    let colored = output(vlad(&["check", "--color", "always", "wrong.vlad"]).current_dir(folder.path()));
    assert!(err(&colored).contains('\u{1b}'));
    let plain = output(vlad(&["check", "wrong.vlad"]).current_dir(folder.path()).env_remove("NO_COLOR"));
    assert!(!err(&plain).contains('\u{1b}'));
}

#[test]
fn help_explains() {
    let mut text = String::new();
    for subcommand in ["", "run", "build", "eval", "gradcheck", "bench", "explain", "check", "emit"] {
        let mut arguments = vec!["--help"];
        if !subcommand.is_empty() {
            arguments.insert(0, subcommand);
        }
        let output = output(&mut vlad(&arguments));
        assert_eq!(output.status.code(), Some(0));
        text.push_str(&out(&output));
        text.push_str("\n----\n\n");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn output_that_cannot_be_written_is_reported() {
    let folder = folder(&[("right.vlad", "1\n")]);
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has this device");
    let evaluated = output(vlad(&["eval", "right.vlad"]).current_dir(folder.path()).stdout(full()));
    assert_eq!(evaluated.status.code(), Some(1));
    insta::assert_snapshot!(err(&evaluated));
    let run = output(vlad(&["run", "right.vlad"]).current_dir(folder.path()).stdout(full()));
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(err(&run), "error: cannot write to standard output\n");
    let help = output(vlad(&["build", "--help"]).stdout(full()));
    assert_eq!((help.status.code(), err(&help)), (Some(1), err(&evaluated)));
}

#[test]
fn output_that_is_closed_is_reported_whatever_is_asked() {
    for arguments in ["--help", "--version", "help", "run --help", "repl", "doc"] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" {arguments} >&-"), &vlad(&[]).get_program().to_string_lossy()]);
        let output = output(shell.stdin(Stdio::null()));
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        assert!(err(&output).contains("cannot write to standard output"), "{arguments}: {}", err(&output));
    }
}

/// What is no file is written to, not replaced.
#[test]
fn devices_and_pipes_stay_what_they_are() {
    let folder = folder(&[("right.vlad", "1\n(export f ((x real)) x)\n")]);
    let status = Command::new("mkfifo").arg(folder.path().join("pipe")).status().expect("it starts");
    assert!(status.success());
    for arguments in [&["emit", "right.vlad", "-o", "pipe"][..], &["build", "right.vlad", "-o", "pipe"]] {
        let mut child = vlad(arguments).current_dir(folder.path()).spawn().expect("it starts");
        let read = fs::read(folder.path().join("pipe")).expect("it is a pipe");
        assert!(child.wait().expect("it was started").success());
        assert!(read.len() > 10, "{arguments:?}");
    }
    assert_eq!(names(folder.path()), ["pipe", "right.vlad"]);
    assert!(!fs::metadata(folder.path().join("pipe")).expect("it is there").is_file());
}

#[test]
fn an_interrupted_build_leaves_nothing() {
    // A linker that never ends, and says that it has begun.
    let folder = folder(&[("right.vlad", "1\n"), ("linker.sh", "touch begun\nexec sleep 1000\n")]);
    let temporary = folder.path().join("temporary");
    fs::create_dir(&temporary).expect("folders can be made");
    let mut command = vlad(&["build", "right.vlad", "-o", "program"]);
    command.current_dir(folder.path()).env("CC", "sh linker.sh").env("TMPDIR", &temporary).process_group(0);
    let mut child = command.spawn().expect("it starts");
    while !folder.path().join("begun").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // As Ctrl-C does, to the whole group.
    // SAFETY: the group is that of our child, which has not been waited for.
    assert_eq!(unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGINT) }, 0);
    assert_eq!(child.wait().expect("it was started").code(), Some(130));
    assert_eq!(names(folder.path()), ["begun", "linker.sh", "right.vlad", "temporary"]);
    assert_eq!(names(&temporary), [] as [&str; 0]);
}

#[test]
fn a_program_that_cannot_be_started_is_reported() {
    // A linker that writes something, but no program.
    let folder = folder(&[("right.vlad", "1\n"), ("linker.sh", "echo nothing > \"$2\"\n")]);
    let output = output(vlad(&["run", "right.vlad"]).current_dir(folder.path()).env("CC", "sh linker.sh"));
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(err(&output));
}

#[test]
fn exhaustion_has_exit_code_3() {
    let folder = folder(&[("deep.vlad", "(define (f n) (+ 1 (f (+ n 1))))\n(f (real 0))\n")]);
    for subcommand in ["run", "eval"] {
        let mut command = vlad(&[subcommand, "deep.vlad"]);
        let output = output(command.current_dir(folder.path()).env("VLAD_MAX_MEMORY", "200M"));
        assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(3)), "{}", err(&output));
        assert!(err(&output).starts_with("error[V0311]: out of memory: recursion too deep"), "{}", err(&output));
        assert!(err(&output).contains("the limit was set by VLAD_MAX_MEMORY"), "{}", err(&output));
    }
}
