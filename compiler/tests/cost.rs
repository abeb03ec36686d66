//! Derivatives preserve complexity: the number of arithmetic operations of a gradient in reverse mode, and of a
//! directional derivative in forward mode, is a small multiple of that of the function. The reference evaluator counts.
//!
//! Two kinds of programs are measured. `tests/cost/*.vlad` define a function `f` with a number as value and an argument
//! `x`; includes are looked up from the root of the tree. And every program of `tests/run` and the examples that takes
//! derivatives with the library's `derivative` or `gradient` runs with definitions of these that also compute the
//! function, or its derivative, once more. What the program does stays the same, so the differences between the runs
//! are the operations of all functions that it differentiates, and those of their derivatives. Programs with which the
//! evaluator is busy for long are left out.

mod common;

use common::{input, is_long, run_command, vlad};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is computed in a mode, and what it may cost.
#[derive(Clone, Copy)]
struct Mode {
    name: &'static str,
    /// The derivative of `f` at `x`, in the direction `t`.
    derivative: &'static str,
    /// For the functions of `tests/cost` it may take so many times their operations, all included.
    factor: u64,
}

/// A product in forward mode is four operations: the product itself, two more and their sum.
const MODES: [Mode; 2] = [
    Mode { name: "reverse", derivative: "((gradient-R f) x)", factor: 5 },
    Mode { name: "forward", derivative: "(jvp-F f x t)", factor: 4 },
];

/// The same for functions of any kind: some elementary functions alone are that dear in both modes.
const FACTOR: u64 = 5;

/// What taking a derivative costs beside the operations of the function, for each time one is taken: the library looks
/// at the value.
const BESIDE: u64 = 4;

/// No program here takes anything like this long.
const LIMIT: Duration = Duration::from_secs(120);

/// A program, and where its includes are looked up.
#[derive(Clone)]
struct Subject {
    name: String,
    text: String,
    folder: PathBuf,
}

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the compiler stands in the workspace");
    let mut trials = Vec::new();
    for mut subject in programs(&root.join("tests/cost")) {
        subject.folder = root.to_path_buf();
        trials.push(Trial::test(subject.name.clone(), move || function(&subject)));
    }
    for folder in [root.join("tests/run"), root.join("examples")] {
        for subject in programs(&folder).into_iter().filter(takes_derivatives) {
            trials.push(Trial::test(subject.name.clone(), move || program(&subject)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// The programs in a folder and the folders in it.
fn programs(folder: &Path) -> Vec<Subject> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths.into_iter().filter(|path| !is_long(path)) {
        if path.is_dir() {
            found.extend(programs(&path));
        } else if path.extension().is_some_and(|extension| extension == "vlad") {
            let text = fs::read_to_string(&path).expect("a program is text");
            found.push(Subject {
                name: path.with_extension("").components().rev().take(2).map(name).collect::<Vec<_>>().join(" of "),
                // What asks for one mode is measured in both.
                text: text.replace("(derivative-R ", "(derivative "),
                folder: folder.to_path_buf(),
            });
        }
    }
    found
}

fn name(component: std::path::Component) -> String {
    component.as_os_str().to_string_lossy().into_owned()
}

/// Whether a program that ends well uses the library's `derivative` or `gradient`, and gives no derivative itself,
/// which may cost anything. The reverse phase of a shard computes it once more, at each order.
fn takes_derivatives(subject: &Subject) -> bool {
    let has = |text: &str| subject.text.contains(text);
    let operators = ["derivative", "gradient"];
    operators.iter().any(|name| has(&format!("({name} ")))
        && !operators.iter().any(|name| has(&format!("(define ({name} ")) || has(&format!("(define (({name} ")))
        && !["custom-*j", "with-derivative", "with-vjp", "with-jvp", "sum-over", "map-over", ";=> error"]
            .iter()
            .any(|text| has(text))
}

/// The function that a program defines.
fn function(subject: &Subject) -> Result<(), Failed> {
    let with = |last: &str| operations(subject, &format!("{}(define t x)\n{last}\n", subject.text));
    compare(with("")?, with, |mode| mode.factor)
}

/// All functions whose derivatives a program takes, as they are: where a function is itself differentiated that takes a
/// derivative, what is computed once more is not. Where the value is no number, reverse mode has no single gradient to
/// compute.
fn program(subject: &Subject) -> Result<(), Failed> {
    let with = |more: &str| {
        let define = |operator: &str| {
            format!(
                "(define (({operator} f) x)
                   (let* ((number? (real? (f x)))
                          (t (if number? ((gradient-R f) x) '()))
                          (_ (if number? (once-more f x t) '())))
                     (({operator}-F f) x)))\n"
            )
        };
        let once_more = format!("(define once-more (with-vjp (lambda (f x t) {more}) (lambda (x y s) (zero x))))\n");
        operations(subject, &format!("{once_more}{}{}{}", define("derivative"), define("gradient"), subject.text))
    };
    let nothing = match with("'()") {
        // A function that reads cannot be computed once more.
        Err(_) if subject.text.contains(";<= ") => return Ok(()),
        operations => operations?,
    };
    compare(nothing, with, |_| FACTOR)
}

/// Compares the operations of derivatives with those of the function, both beside what takes so many without them.
fn compare(
    without: u64,
    with: impl Fn(&str) -> Result<u64, Failed>,
    factor: impl Fn(Mode) -> u64,
) -> Result<(), Failed> {
    let primal = with("(f x)")? - without;
    for mode in MODES {
        let (derived, factor) = (with(mode.derivative)? - without, factor(mode));
        if derived > factor * primal + BESIDE {
            let what = format!("{derived} operations in {} mode are more than {factor} times", mode.name);
            return Err(format!("{what} the {primal} of the function").into());
        }
    }
    Ok(())
}

/// How many arithmetic operations a program takes.
fn operations(subject: &Subject, text: &str) -> Result<u64, Failed> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = scratch.path().join("program.vlad");
    fs::write(&file, text).map_err(|error| error.to_string())?;
    let mut command = vlad(&["eval", "--count", "-I"]);
    command.arg(&subject.folder).arg(&file);
    let outcome = run_command(command, &input(&subject.text), LIMIT);
    let total = outcome.messages.lines().find_map(|line| line.strip_prefix("total"));
    let count = total.and_then(|count| count.trim().parse().ok());
    match count {
        Some(count) if outcome.code == Some(0) => Ok(count),
        _ => Err(format!("ended with {:?}\n{}", outcome.code, outcome.messages).into()),
    }
}
