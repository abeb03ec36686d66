//! What `vlad explain --derivative` prints is a program, and computes what the operator computes.
//!
//! Of a program, every function at the top level gets a printed transform instead of its own, by `custom-*j`; the
//! program must then print what it printed before, at every order that it asks for.

use crate::common::is_long;
use crate::{folder, text, vlad};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use vlad::base::parallel;

/// The functions that a program defines at the left margin, but those that are reserved for the test.
fn functions(program: &str) -> Vec<&str> {
    let names = program.lines().filter_map(|line| {
        let rest = line.strip_prefix("(define (").map(|rest| rest.trim_start_matches('('))?;
        rest.split([' ', ')', '(']).next()
    });
    names.filter(|name| !name.is_empty()).collect()
}

/// The functions of a program that can be written, with what is printed of them.
fn printed(file: &Path) -> Vec<(String, String)> {
    let directory = folder(&[]);
    let path = file.to_str().expect("paths here are text");
    let mut found = Vec::new();
    for name in functions(&text(file)) {
        let (code, printed, message) = vlad(&directory, &["explain", "--derivative", name, path], "");
        match code {
            Some(0) => found.push((name.to_string(), printed)),
            _ => assert!(message.contains("V0841"), "{path}: {name}: {message}"),
        }
    }
    found
}

/// The program with other transforms of its functions: the ones printed under names that end in `suffix`.
fn with_printed(program: &str, functions: &[(String, String)], suffix: &str) -> String {
    let mut changed = format!("\n{program}");
    for (name, printed) in functions {
        for head in ["(define (", "(define ((", "(define (((", "(define ((((("] {
            for end in [" ", ")"] {
                changed = changed.replace(&format!("\n{head}{name}{end}"), &format!("\n{head}{name}°{end}"));
            }
        }
        // Helpers may be printed for several functions.
        let printed = printed
            .replace("one-hot-vector", &format!("one-hot-vector-{name}"))
            .replace("sign-of-number", &format!("sign-of-number-{name}"));
        changed += &format!("\n{printed}\n(define ({name} . x) ((custom-*j {name}° ↼{name}{suffix}) . x))\n");
    }
    changed
}

/// Whether two outputs say the same, up to the last digits of numbers: sums are made in another order.
fn agree(printed: &str, expected: &str) -> bool {
    let separator = |c: char| c.is_whitespace() || "()[]#".contains(c);
    let number = |word: &str| word.parse::<f64>().ok();
    let mut words = printed.split(separator).zip(expected.split(separator));
    let close = |(a, b): (&str, &str)| match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b || (a - b).abs() <= 1e-9 * (1.0 + b.abs()),
        // Functions have other names.
        _ => a == b || a.trim_end_matches('°') == b,
    };
    printed.split(separator).count() == expected.split(separator).count() && words.all(close)
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "vlad") {
            found.push(path);
        }
    }
}

#[test]
fn printed_transforms_are_the_operator_s() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the compiler stands in the workspace");
    let mut files = Vec::new();
    programs(&root.join("examples"), &mut files);
    for folder in ["ad", "closures", "control", "custom", "pairs", "patterns", "recursion", "vectors"] {
        programs(&root.join("tests/run").join(folder), &mut files);
    }
    let compared = AtomicUsize::new(0);
    let compare = |file: PathBuf| {
        let program = text(&file);
        let is_simple = !program.contains(";=> error") && !program.contains(";<= ") && !program.contains("(include");
        if !is_simple || is_long(&file) {
            return Vec::new();
        }
        let path = file.to_str().expect("paths here are text");
        let (code, expected, _) = vlad(&folder(&[]), &["eval", path], "");
        let functions = if code == Some(0) { printed(&file) } else { Vec::new() };
        let mut wrong = Vec::new();
        for suffix in ["", "′"].into_iter().filter(|_| !functions.is_empty()) {
            let directory = folder(&[("changed.vlad", &with_printed(&program, &functions, suffix))]);
            let (code, printed, message) = vlad(&directory, &["eval", "changed.vlad"], "");
            if code != Some(0) || !agree(&printed, &expected) {
                wrong.push(format!("{path}{suffix}: {printed}{message}\ninstead of\n{expected}"));
            }
            compared.fetch_add(1, Ordering::Relaxed);
        }
        wrong
    };
    let wrong = parallel::map(files, compare).concat();
    let compared = compared.into_inner();
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 10, "only {compared} programs could be compared");
}

/// Gradients and products with sensitivities that are printed beside the transforms are what the library computes.
#[test]
fn printed_gradients_are_the_library_s() {
    let program = "\
(define (f x) (* x (sin x)))
(define (g x y) (/ (* x (+ x y)) (exp (- y))))
(define (h x) (if (> x 0) (* x x) (sqrt (- x))))
(define (k x y) (f (g x y)))
(define (norm v)
  (let loop ((i 0) (s 0))
    (if (= i (vector-length v)) (sqrt s) (loop (+ i 1) (+ s (* (vector-ref v i) (vector-ref v i)))))))
(define (m l) (reduce + 0 (map (lambda (x) (* x x)) l)))
(define (fact n) (if (= n 0) 1 (* n (fact (- n 1)))))
(define (local a b) (let ((q (lambda (x) (* a x)))) (+ (q b) (q 2))))
(define (tupled (cons x (list y z))) (+ x (* y z)))
(define (clipped x y) (max (abs x) (min y 3)))
(define (choices x) (+ (if (< x 1) (* 2 x) (* x x)) (if (< x 2) 1 (/ 1 x)) (if (= x 3) x 0)))
(define (vectors x) (vector x (* x x)))
(define (first-of x y) x)
(define (recursive x) (let loop ((i 3) (y x)) (if (= i 0) y (loop (- i 1) (* y (cos y))))))
";
    let calls = [
        ("f", "2"),
        ("g", "2 3"),
        ("h", "2"),
        ("h", "-2"),
        ("k", "1 2"),
        ("norm", "#(3 4)"),
        ("m", "'(1 2 3)"),
        ("fact", "4"),
        ("local", "3 5"),
        ("tupled", "(cons 2 (list 3 4))"),
        ("clipped", "-2 1"),
        ("choices", "0.5"),
        ("choices", "3"),
        ("first-of", "1 2"),
        ("recursive", "0.5"),
    ];
    let mut checks = program.to_string();
    let directory = folder(&[("program.vlad", program)]);
    let mut functions: Vec<&str> = calls.iter().map(|call| call.0).chain(["vectors"]).collect();
    functions.dedup();
    let arguments: Vec<&str> = functions.iter().flat_map(|name| ["--derivative", name]).collect();
    let (code, printed, message) = vlad(&directory, &[&["explain"], &arguments[..], &["program.vlad"]].concat(), "");
    assert_eq!(code, Some(0), "{message}");
    checks += &printed;
    for (name, arguments) in calls {
        let call = match printed.contains(&format!("(define (∇{name}")) {
            true => format!("(∇{name} {arguments})"),
            // The function that takes a sensitivity takes the argument as one.
            false if arguments.contains(' ') && !arguments.starts_with(['(', '\'', '#']) => {
                format!("(vjp-{name} (cons {arguments}) 1)")
            }
            false => format!("(vjp-{name} {arguments} 1)"),
        };
        checks += &format!("{call}\n((gradient {name}) {arguments})\n");
    }
    checks += "(vjp-vectors 3 #(10 100))\n(vjp vectors 3 #(10 100))\n";
    let directory = folder(&[("checks.vlad", &checks)]);
    let (code, output, message) = vlad(&directory, &["eval", "checks.vlad"], "");
    assert_eq!(code, Some(0), "{message}{checks}");
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 2 * (calls.len() + 1));
    for (pair, (name, arguments)) in lines.chunks(2).zip(calls.iter().chain([&("vectors", "3")])) {
        assert!(agree(pair[0], pair[1]), "{name} {arguments}: {} instead of {}", pair[0], pair[1]);
    }
    assert!(printed.contains("(define (∇f x)\n  (+ (sin x) (* (cos x) x)))"), "{printed}");
}

#[test]
fn derivatives_of_gradients_are_printed_as_well() {
    let program = "\
(define (f x) (* x (sin x)))
(define (g x y) (/ (* x x x) (exp y)))
(define (h x) (if (> x 0) (* x x) 1))
(f 1)
";
    let directory = folder(&[("program.vlad", program)]);
    let arguments = ["explain", "--order", "2", "--derivative", "f", "--derivative", "g", "--derivative", "h"];
    let (code, printed, message) = vlad(&directory, &[&arguments[..], &["program.vlad"]].concat(), "");
    assert_eq!(code, Some(0), "{message}");
    let second = |x: &str| format!("(∇∇f {x})\n((derivative (derivative f)) {x})\n");
    let product = "(vjp-∇g (cons 2 3) 5 7)\n(hvp (lambda (p) (g . p)) (cons 2 3) (cons 5 7))\n";
    let checks = format!("{program}{printed}{}{product}{}", second("2"), "(∇∇h 2)\n((derivative (derivative h)) 2)\n");
    let directory = folder(&[("checks.vlad", &checks)]);
    let (code, output, message) = vlad(&directory, &["eval", "checks.vlad"], "");
    assert_eq!(code, Some(0), "{message}{checks}");
    let lines: Vec<&str> = output.lines().skip(1).collect();
    assert_eq!(lines.len(), 6, "{output}");
    for pair in lines.chunks(2) {
        assert!(agree(pair[0], pair[1]), "{} instead of {}", pair[0], pair[1]);
    }
}

#[test]
fn derivatives_are_printed_for_tex() {
    let program = "\
(define (hypotenuse a b) (sqrt (+ (* a a) (/ b 2e-9))))
(define (one-of x_1) (if (> x_1 0) (expt x_1 -3) 1))
";
    let directory = folder(&[("program.vlad", program)]);
    let arguments = ["explain", "--format", "tex", "--derivative", "hypotenuse", "--derivative", "one-of"];
    let (code, printed, message) = vlad(&directory, &[&arguments[..], &["program.vlad"]].concat(), "");
    assert_eq!(code, Some(0), "{message}");
    let count = |text: &str| printed.matches(text).count();
    assert_eq!(count("{"), count("}"));
    assert_eq!(count("\\left"), count("\\right"));
    assert_eq!(count("\\begin{"), count("\\end{"));
    assert!(printed.is_ascii(), "{printed}");
    insta::assert_snapshot!(printed);
}

#[test]
fn functions_that_there_are_not_are_named() {
    let program = "(define (square x) (* x x))\n(define slope (derivative square))\n(define (all l) (map (lambda (a b c) a) l l l))\n(define (cos x) 1)\n(define (mixed x) (sin (cos x)))\n";
    let directory = folder(&[("program.vlad", program)]);
    let mut messages = String::new();
    for name in ["cube", "slope", "all", "mixed"] {
        let (code, printed, message) = vlad(&directory, &["explain", "--derivative", name, "program.vlad"], "");
        assert_eq!((code, printed.as_str()), (Some(1), ""));
        messages += &message;
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn a_derivative_is_shown_as_in_the_papers() {
    let program = "; The payment for x and y.\n(define (payment x y) (if (> x y) (* x (sin y)) (- x)))\n";
    let directory = folder(&[("program.vlad", program)]);
    let (code, printed, message) = vlad(&directory, &["explain", "--derivative", "payment", "program.vlad"], "");
    assert_eq!(code, Some(0), "{message}");
    insta::assert_snapshot!(printed);
    let (code, printed, message) =
        vlad(&directory, &["explain", "--derivative", "payment", "--format", "json", "program.vlad"], "");
    assert_eq!(code, Some(0), "{message}");
    let object: serde_json::Value = serde_json::from_str(&printed).expect("it is JSON");
    let derivative = &object["derivatives"][0];
    assert_eq!(derivative["name"], "payment");
    assert_eq!(derivative["gradient"]["name"], "∇payment");
    for form in ["before", "after"] {
        assert!(derivative[form]["notation"].as_str().is_some_and(|text| text.contains("J⃖⁻¹")), "{derivative}");
        assert!(derivative[form]["source"].as_str().is_some_and(|text| text.contains("(*j-inverse ")), "{derivative}");
    }
}
