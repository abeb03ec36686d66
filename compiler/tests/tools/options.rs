//! The options that every program has: arguments from files, a log, limits of time, results that must be finite, and
//! searches that go on where they were interrupted; alike in the evaluator and in compiled programs.

use crate::{Outcome, folder, run, vlad};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = "\
(arguments
  (rate real 0.1 (at-least 0) \"step size\")
  (steps integer 3 (at-least 1))
  (loud boolean #f)
  (start vector #(1 2))
  (data matrix)
  (method (choice \"slow\" \"quick\") \"slow\"))
(list rate steps loud start data method)
";

fn words(text: &str) -> Vec<&str> {
    text.split(' ').filter(|word| !word.is_empty()).collect()
}

/// The two ways to run `program.vlad`, which is compiled.
pub fn ways(folder: &Path, arguments: &str) -> [Command; 2] {
    let mut evaluate = Command::new(env!("CARGO_BIN_EXE_vlad"));
    evaluate.args(["eval", "program.vlad", "--"]);
    [evaluate, Command::new(folder.join("program"))].map(|mut command| {
        command.args(words(arguments)).current_dir(folder).env("NO_COLOR", "1");
        // SAFETY: between `fork` and `exec` nothing but this system call happens.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                Ok(())
            });
        }
        command
    })
}

pub fn compiled(program: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = folder(&[&[("program.vlad", program)], files].concat());
    let (code, _, message) = vlad(&folder, &["build", "--native", "program.vlad"], "");
    assert_eq!(code, Some(0), "{message}");
    folder
}

pub fn both(folder: &TempDir, arguments: &str) -> Outcome {
    let [evaluated, executed] = ways(folder.path(), arguments).map(|command| run(command, ""));
    assert_eq!(executed, evaluated, "{arguments}");
    executed
}

#[test]
fn files_say_what_the_command_line_may_say() {
    let files = [
        ("a.toml", "# a run\nrate = 0.5\nsteps=7 # seven\nloud = true\nstart = [4, 5,\n 6]\ndata = [[1, 2], [3, 4]]\n"),
        ("b.txt", "method = \"quick\"\ndata='data.csv'\n\"start\" = 1,2,3\nlog = 'b.log'\r\n"),
        (
            "c.json",
            "{\"rate\": 5e-1, \"steps\": 7, \"loud\": true, \"start\": [4, 5, 6],\n\"data\": [[1, 2], [3, 4]]}\n",
        ),
        ("data.csv", "8,9\n"),
        ("empty", ""),
    ];
    let folder = compiled(PROGRAM, &files);
    let said = "(0.5 7 #t #(4 5 6) #(#(1 2) #(3 4)) \"slow\")\n";
    assert_eq!(both(&folder, "--config a.toml"), (Some(0), said.into(), String::new()));
    assert_eq!(both(&folder, "--config=c.json").1, said);
    // The command line comes first, also where it names nothing.
    let mixed = "(2 7 #f #(4 5 6) #(#(8 9)) \"slow\")\n";
    assert_eq!(both(&folder, "data.csv --rate 2 --config a.toml --no-loud").1, mixed);
    assert_eq!(both(&folder, "--config b.txt").1, "(0.1 3 #f #(1 2 3) #(#(8 9)) \"quick\")\n");
    assert!(folder.path().join("b.log").exists());
    assert_eq!(both(&folder, "--config empty --data 1").1, "(0.1 3 #f #(1 2) #(#(1)) \"slow\")\n");
}

#[test]
fn mistakes_in_files_have_their_places() {
    let many = format!("data = 1\nstart = [{}x]\n", "1, ".repeat(2000));
    let files = [
        ("unknown.toml", "data = 1\nstep = 7\n"),
        ("twice.toml", "data = 1\nrate = 1\n\nrate = 2\n"),
        ("kind.toml", "data = 1\nsteps = 1.5\n"),
        ("range.toml", "data = 1\nrate = -1\n"),
        ("choice.toml", "data = 1\nmethod = \"quik\"\n"),
        ("truth.json", "{\"data\": 1,\n \"loud\": null}"),
        ("array.toml", "data = 1\nrate = [1]\n"),
        ("ragged.toml", "data = [[1, 2], [3]]\n"),
        ("flat.toml", "data = [1, 2]\n"),
        ("many.toml", &many),
        ("escape.toml", "data = 1\nmethod = \"\\q\"\n"),
        ("table.toml", "[table]\ndata = 1\n"),
        ("value.toml", "data =\n"),
        ("line.toml", "data = \"a\" b\n"),
        ("brace.json", "{\"data\": {\"x\": 1}}\n"),
        ("comma.json", "{\"data\": 1\n \"rate\": 2}\n"),
        ("itself.toml", "data = 1\nconfig = \"x\"\n"),
        ("time.toml", "data = 1\ntime-limit = \"soon\"\n"),
        ("missing.toml", "rate = 1\n"),
        ("file.toml", "data = \"nowhere.csv\"\n"),
    ];
    let folder = compiled(PROGRAM, &files);
    let mut messages = String::new();
    let arguments = files.iter().map(|(file, _)| format!("--config {file}"));
    let more =
        ["--config nowhere.toml", "--config .", "--config", "--config=", "--confg x", "--data 1 --time-limit -1s"];
    for arguments in arguments.chain(more.map(String::from)) {
        let (code, output, message) = both(&folder, &arguments);
        assert_eq!((code, output.as_str()), (Some(2), ""), "{arguments}: {message}");
        messages += &format!("$ program {arguments}\n{message}");
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn arguments_of_the_program_come_before_options() {
    let folder = compiled("(arguments (log real 3) (finite boolean #f))\n(list log finite)\n", &[]);
    assert_eq!(both(&folder, "--log 4 --finite").1, "(4 #t)\n");
    let help = both(&folder, "--help").1;
    assert_eq!((help.matches("--log").count(), help.matches("--finite").count()), (1, 1), "{help}");
}

#[test]
fn programs_without_arguments_have_options() {
    let folder = compiled("(/ 0 0)\n", &[]);
    assert_eq!(both(&folder, "").0, Some(0));
    assert_eq!(both(&folder, "--finite").0, Some(1));
    assert_eq!(both(&folder, "more").0, Some(2));
    insta::assert_snapshot!(both(&folder, "--help").1);
}

#[test]
fn results_that_are_not_finite_are_errors_in_programs_with_arguments() {
    let program = "(arguments (k real 0))\n(define (f x) (/ x k))\n(list \"+inf.0\" k)\n\
                   (define shown (begin (write (f 1)) (newline)))\n(vector 1 (f 1) (f 0))\n";
    let folder = compiled(program, &[]);
    let (code, output, message) = both(&folder, "");
    assert_eq!((code, output.as_str()), (Some(1), "(\"+inf.0\" 0)\n+inf.0\n#(1 +inf.0 +nan.0)\n"));
    assert!(message.starts_with("error: result 2 is not finite at element 2: +inf.0\n"), "{message}");
    assert_eq!(both(&folder, "--no-finite").0, Some(0));
    assert_eq!(both(&folder, "--k 1"), (Some(0), "(\"+inf.0\" 1)\n1\n#(1 1 0)\n".into(), String::new()));
}

const ENDLESS: &str = "\
(arguments (n integer 1000000000) (wait real 0))
(define (f (list x y)) (+ (* (- x 1) (- x 1)) (* 3 (- y 2) (- y 2))))
(define r
  (minimise by-gradient-descent f '(0 0) (at-most-steps n) (at-most-evaluations (+ n 2)) (gradient-tolerance 0)))
(found-status r)
(list (found-place r) (= (found-steps r) n))
";

#[test]
fn searches_stop_in_time() {
    let folder = compiled(ENDLESS, &[]);
    for command in ways(folder.path(), "--time-limit 300ms") {
        let begun = Instant::now();
        let (code, output, message) = run(command, "");
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!((code, message.as_str()), (Some(0), ""));
        assert!(output.starts_with("\"stopped: the time is up\"\n("), "{output}");
    }
    assert!(both(&folder, "--n 3 --time-limit 1h").1.starts_with("\"stopped: as many steps as allowed\"\n"));
}

#[test]
fn the_log_has_lines() {
    let program = "(define (go i) (begin (progress-of 3 i (* i i) 0.5) (if (= i 3) i (go (+ i 1)))))\n(go 0)\n";
    let folder = compiled(program, &[]);
    for command in ways(folder.path(), "--log run.csv") {
        assert_eq!(run(command, ""), (Some(0), "3\n".into(), String::new()));
        let log = fs::read_to_string(folder.path().join("run.csv")).expect("it is there");
        let lines: Vec<&str> = log.lines().collect();
        assert_eq!(lines[0], "seconds,what,value");
        // The last numbers are there.
        let last: Vec<&str> =
            lines[lines.len() - 3..].iter().map(|line| line.split_once(',').expect("a row").1).collect();
        assert_eq!(last, ["iteration,3", "objective,9", "gradient norm,0.5"]);
        for line in &lines[1..] {
            let seconds: f64 = line.split(',').next().and_then(|text| text.parse().ok()).expect("a number");
            assert!((0.0..60.0).contains(&seconds));
        }
    }
    let (code, _, message) = both(&folder, "--log nowhere/run.csv");
    assert_eq!(code, Some(2), "{message}");
    assert!(message.starts_with("error: cannot write `nowhere/run.csv`: No such file or directory"), "{message}");
}

/// Searches by all methods, one after another, and a loop.
const SEARCHES: &str = "\
(arguments (pause integer 0))
; Takes its time.
(define (slow x) (let loop ((i 0) (z 0)) (if (= i pause) (+ x (* 0 z)) (loop (+ i 1) (sin (+ z i))))))
(define (rosenbrock (vector x y)) (slow (+ (* (- 1 x) (- 1 x)) (* 100 (- y (* x x)) (- y (* x x))))))
(define start #(-1.2 1))
(define (tell r) (list (found-place r) (found-value r) (found-status r) (found-steps r) (found-evaluations r)))
(tell (minimise by-bfgs rosenbrock start))
(tell (minimise by-lbfgs rosenbrock start))
(tell (minimise by-lbfgs rosenbrock start (within -2 0.5)))
(tell (minimise by-conjugate-gradients rosenbrock start))
(tell (minimise by-newton rosenbrock start))
(tell (minimise by-newton-cg rosenbrock start))
(define (residuals (vector x y)) (list (- 1 x) (slow (* 10 (- y (* x x))))))
(tell (minimise by-levenberg-marquardt residuals start))
(tell (minimise by-sqp rosenbrock start (such-that-positive (lambda ((vector x y)) (- 1 (* x x) (* y y))))))
(tell (minimise by-augmented-lagrangian rosenbrock start (such-that-zero (lambda ((vector x y)) (- (+ x y) 1)))))
(tell (minimise by-nelder-mead rosenbrock start))
(tell (minimise by-cma-es rosenbrock start (at-most-steps 60)))
(tell (minimise by-adam rosenbrock start (at-most-steps 60)))
(tell (minimise by-momentum rosenbrock start (at-most-steps 60) (learning-rate 1e-4)))
(tell (minimise by-proximal-gradient rosenbrock start (at-most-steps 40) (l1-penalty 0.1)))
(tell (minimise by-adam (lambda (p places) (+ (rosenbrock p) (* (vector-ref p 0) (vector-sum places)))) start
                (in-batches 10 3) (at-most-steps 40)))
(tell (minimise (from-starts 4 1 by-bfgs) rosenbrock start))
(tell (minimise (basin-hopping 3 1 by-bfgs) rosenbrock start))
(define (inner a) (found-value (minimise by-newton (lambda (x) (+ (* (- x a) (- x a)) (* x x))) 0)))
(tell (minimise by-bfgs inner 3))
(define (heron (cons a v)) (cons (slow (* 0.5 (+ a (/ 2 a)))) v))
(iterate-with-progress 50 heron (cons 1 #(1 2)) (lambda ((cons a _)) a))
";

/// However often a program is stopped, by signals and by its time, it ends as it would have without that.
#[test]
fn interrupted_searches_go_on() {
    let folder = compiled(SEARCHES, &[]);
    let whole = both(&folder, "");
    assert_eq!((whole.0, whole.2.as_str()), (Some(0), ""));
    let state = folder.path().join("state");
    for (signal, exit) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
        let _ = fs::remove_file(&state);
        let (mut stops, mut wait) = (0, 40);
        let end = loop {
            let resume = if state.exists() { "--resume state" } else { "" };
            // The numbers of the arguments are compared: each run has the same.
            let arguments = format!("--pause 10000 --checkpoint state --checkpoint-every 0s {resume}");
            let [_, mut command] = ways(folder.path(), &arguments);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
            std::thread::sleep(Duration::from_millis(wait));
            // SAFETY: the process is our child and has not been waited for.
            unsafe { libc::kill(child.id() as libc::pid_t, signal) };
            let output = child.wait_with_output().expect("it was started");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
            match output.status.code() {
                Some(0) => break String::from_utf8(output.stdout).expect("it is text"),
                code => assert_eq!(code, Some(exit)),
            }
            // Machines may be too busy to come far in that time.
            (stops, wait) = (stops + 1, wait + wait / 4);
            assert!(stops < 60);
        };
        assert!(stops > 1);
        assert_eq!(end, whole.1);
        assert!(!folder.path().join("state.part").exists());
    }
}

/// A search that its time has stopped goes on, too, also in the evaluator, which goes on from what the executable has
/// kept.
#[test]
fn searches_stopped_by_time_go_on() {
    let program = ENDLESS.replace("1000000000", "20000");
    let folder = compiled(&program, &[]);
    let whole = both(&folder, "");
    for first in 0..2 {
        let stop = "--time-limit 0s --checkpoint state";
        let stopped = run(ways(folder.path(), stop).into_iter().nth(first).expect("there are two"), "");
        assert!(stopped.1.starts_with("\"stopped: the time is up\""), "{}", stopped.1);
        for command in ways(folder.path(), "--resume state") {
            assert_eq!(run(command, ""), whole);
        }
    }
}

/// Searches that consist of others begin anew if they were stopped before the first of these had ended: before there
/// was anything to keep.
#[test]
fn searches_stopped_in_their_first_round_begin_anew() {
    let head = &SEARCHES[..SEARCHES.find("(tell (minimise by-bfgs").expect("it is there")];
    for method in ["(from-starts 2 1 by-lbfgs)", "(basin-hopping 2 1 by-bfgs)"] {
        let folder = compiled(&format!("{head}(tell (minimise {method} rosenbrock start))\n"), &[]);
        let whole = both(&folder, "");
        for first in 0..2 {
            let stop = "--time-limit 0s --checkpoint state";
            let stopped = run(ways(folder.path(), stop).into_iter().nth(first).expect("there are two"), "");
            assert!(stopped.1.contains("stopped: the time is up"), "{}", stopped.1);
            for command in ways(folder.path(), "--resume state") {
                assert_eq!(run(command, ""), whole);
            }
            fs::remove_file(folder.path().join("state")).expect("it is there");
        }
    }
}

#[test]
fn states_of_other_programs_are_refused() {
    let folder =
        compiled(ENDLESS, &[("other.vlad", "(arguments (n integer 5) (wait real 0))\nn\n"), ("text", "no state\n")]);
    assert_eq!(both(&folder, "--n 5 --checkpoint state --checkpoint-every 0s").0, Some(0));
    assert_eq!(both(&folder, "--n 5 --resume state").0, Some(0));
    let (code, _, message) = both(&folder, "--n 6 --resume state");
    assert_eq!(code, Some(2));
    assert!(message.contains("the program had other arguments when it wrote this"), "{message}");
    let (code, _, message) = vlad(&folder, &["run", "other.vlad", "--", "--resume", "state"], "");
    assert_eq!(code, Some(2));
    assert!(message.contains("another program has written it"), "{message}");
    let mut bytes = fs::read(folder.path().join("state")).expect("it is there");
    bytes[40] ^= 1;
    fs::write(folder.path().join("damaged"), bytes).expect("it can be written");
    for file in ["text", "damaged"] {
        let (code, _, message) = both(&folder, &format!("--n 5 --resume {file}"));
        assert_eq!(code, Some(2));
        assert!(message.contains("it is no file that `--checkpoint` has written, or it is damaged"), "{message}");
    }
    assert_eq!(both(&folder, "--n 5 --resume nowhere").0, Some(2));
    assert_eq!(both(&folder, "--n 5 --checkpoint nowhere/state").0, Some(2));
    for (file, reason) in [(".", "Is a directory"), ("/dev/null", "it is no regular file")] {
        let (code, _, message) = both(&folder, &format!("--n 5 --checkpoint {file}"));
        assert_eq!(code, Some(2));
        assert!(message.starts_with(&format!("error: cannot write `{file}`: {reason}\n")), "{message}");
    }
}
