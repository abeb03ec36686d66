//! Programs with arguments: the evaluator and compiled programs say the same about every command line; what a terminal
//! shows of a search; and interruptions.

use crate::repl::{terminal, wait_for};
use crate::{Outcome, folder, run, vlad};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const PROGRAM: &str = "\
(arguments
  \"Adds things up.\"
  (rate real 0.1 \"step size\")
  (steps integer 3 \"how many\")
  (verbose boolean #f \"say more\")
  (fast boolean #t)
  (start vector #(1 2 3) \"where to begin\")
  (data matrix \"file with the samples\"))
(list rate steps verbose fast start data)
(define (search i x) (if (= i steps) x (begin (progress i x 0) (search (+ i 1) (+ x rate)))))
(search 0 1)
";

/// The command line, in words.
fn words(text: &str) -> Vec<&str> {
    text.split(' ').filter(|word| !word.is_empty()).collect()
}

/// A folder with the program, compiled, and some files.
fn compiled(program: &str) -> TempDir {
    let files = [
        ("program.vlad", program),
        ("data.csv", "1,2\n3,4\n"),
        ("wrong.csv", "1,2\n3,x\n"),
        ("ragged.csv", "1,2\n3\n"),
        ("two.csv", "1 2\n\n3 4\n"),
        ("empty.csv", "\n"),
        ("7", "8\n9\n"),
    ];
    let folder = folder(&files);
    let (code, _, message) = vlad(&folder, &["build", "--native", "program.vlad"], "");
    assert_eq!(code, Some(0), "{message}");
    folder
}

fn both(folder: &TempDir, arguments: &str, input: &str) -> Outcome {
    let evaluated = vlad(folder, &[&["eval", "program.vlad", "--"], &words(arguments)[..]].concat(), input);
    let mut command = Command::new(folder.path().join("program"));
    command.args(words(arguments)).current_dir(folder);
    let executed = run(command, input);
    assert_eq!(executed, evaluated, "{arguments}");
    executed
}

#[test]
fn arguments_are_what_the_program_declares() {
    let folder = compiled(PROGRAM);
    let usual = "(0.1 3 #f #t #(1 2 3) #(#(1 2) #(3 4)))\n1.3000000000000003\n";
    for arguments in
        ["data.csv", "--data data.csv", "--data=data.csv --no-verbose", "--data 1,2;3,4 --fast", "-- data.csv"]
    {
        assert_eq!(both(&folder, arguments, ""), (Some(0), usual.to_string(), String::new()), "{arguments}");
    }
    assert_eq!(both(&folder, "--data -", "1 2\n3 4\n").1, usual);
    let all = "--rate=-1e-1 --steps 0 --verbose=yes --no-fast --start=./7 --data 5";
    assert_eq!(both(&folder, all, "").1, "(-0.1 0 #t #f #(8 9) #(#(5)))\n1\n");
    // A number is no file, and a word behind a name is its value, whatever it looks like.
    assert_eq!(both(&folder, "--start 7 --rate -2 data.csv", "").1, "(-2 3 #f #t #(7) #(#(1 2) #(3 4)))\n-5\n");
    let (code, help, message) = both(&folder, "--rate oops --help", "");
    assert_eq!((code, message.as_str()), (Some(0), ""));
    insta::assert_snapshot!(help);
}

#[test]
fn wrong_usage_is_explained() {
    let folder = compiled(PROGRAM);
    let mut messages = String::new();
    for arguments in [
        "",
        "data.csv more",
        "--bogus 1",
        "--no-rate data.csv",
        "--rate abc data.csv",
        "--rate",
        "--rate 1 --rate 2 data.csv",
        "--steps 1.5 data.csv",
        "--steps 1e300 data.csv",
        "--verbose=perhaps data.csv",
        "--start 1,,2 data.csv",
        "--start 1;2 data.csv",
        "--data 1,2;3",
        "--data nowhere.csv",
        "--data wrong.csv",
        "--data ragged.csv",
        "--data two.csv",
        "--data empty.csv",
        "--data .",
        "--data=",
        "\u{1b}[1m",
    ] {
        let (code, output, message) = both(&folder, arguments, "");
        assert_eq!((code, output.as_str()), (Some(2), ""), "{arguments}: {message}");
        messages += &format!("$ program {arguments:?}\n{message}");
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn the_evaluator_in_an_executable_has_arguments_too() {
    // The height of the tower depends on the input.
    let program = "(arguments (n integer 2 \"how often\"))\n\
                   (define (raise n f) (if (= n 0) f (raise (- n 1) (lambda (x) ((derivative f) x)))))\n\
                   ((raise n (lambda (x) (* x x x))) 2)\n";
    let folder = folder(&[("program.vlad", program)]);
    assert_eq!(vlad(&folder, &["build", "program.vlad"], "").0, Some(0));
    for (arguments, expected) in [("", "12\n"), ("--n 1", "12\n"), ("--n 3", "6\n")] {
        let (_, evaluated, _) = vlad(&folder, &[&["eval", "program.vlad", "--"], &words(arguments)[..]].concat(), "");
        let mut command = Command::new(folder.path().join("program"));
        command.args(words(arguments));
        assert_eq!(run(command, "").1, evaluated);
        let (_, ran, _) = vlad(&folder, &[&["run", "program.vlad", "--"], &words(arguments)[..]].concat(), "");
        assert_eq!(ran, evaluated);
        assert_eq!(evaluated, expected, "{arguments}");
    }
}

#[test]
fn a_program_may_call_a_function_arguments() {
    let program = "(define (arguments a b) (+ a b))\n(arguments 1 2)\n";
    let folder = folder(&[("program.vlad", program)]);
    assert_eq!(vlad(&folder, &["run", "program.vlad"], "").1, "3\n");
}

/// Progress changes no number, and derivatives pass by it.
#[test]
fn progress_does_not_disturb() {
    let search = "(define (f x) (let loop ((i 0) (x x)) (if (= i 5) x (begin PROGRESS (loop (+ i 1) (* x (sin x)))))))\n\
                  (f 2)\n((derivative f) 2)\n((derivative-R f) 2)\n(taylor f 2 2)\n";
    let shown = search.replace("PROGRESS", "(progress i x (* x x))");
    let silent = search.replace("PROGRESS", "'()");
    let outputs = [&shown, &silent].map(|program| {
        let folder = folder(&[("program.vlad", program)]);
        let evaluated = vlad(&folder, &["eval", "program.vlad"], "");
        assert_eq!(vlad(&folder, &["run", "--native", "program.vlad"], ""), evaluated);
        evaluated
    });
    assert_eq!(outputs[0], outputs[1]);
    assert_eq!((outputs[0].0, outputs[0].2.as_str()), (Some(0), ""), "nothing is shown where there is no terminal");
}

const ENDLESS: &str = "\
(write-string \"begun\")
(define (forever i) (begin (progress i (* 2 i) 1) (forever (+ i 1))))
(define x (begin (newline) (write-string \"half a line\") (forever 0)))
";

/// The ways to run a program of a folder.
fn ways(folder: &Path) -> [Command; 2] {
    let mut evaluate = Command::new(env!("CARGO_BIN_EXE_vlad"));
    evaluate.arg("eval").arg(folder.join("program.vlad"));
    [interruptible(evaluate), interruptible(Command::new(folder.join("program")))]
}

/// A command that can be interrupted, even if the tests cannot, as in the background of a shell script.
fn interruptible(mut command: Command) -> Command {
    // SAFETY: between `fork` and `exec` nothing but this system call happens.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    command
}

#[test]
fn a_terminal_shows_progress() {
    let folder = compiled(ENDLESS);
    for mut command in ways(folder.path()) {
        let (mut user, program) = terminal();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(program);
        let mut child = command.spawn().expect("it starts");
        drop(command);
        let mut seen = String::new();
        wait_for("\r\u{1b}[Kiteration 0  objective 0  gradient norm 1", &mut user, &mut seen);
        wait_for("\r\u{1b}[Kiteration ", &mut user, &mut seen);
        // SAFETY: the process is our child and has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) }, 0);
        // The line is ended.
        wait_for("gradient norm 1\r\n", &mut user, &mut seen);
        assert_eq!(child.wait().expect("it was started").code(), Some(130));
    }
}

#[test]
fn interruptions_leave_whole_lines() {
    let folder = compiled(ENDLESS);
    for mut command in ways(folder.path()) {
        let (mut user, program) = terminal();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(program);
        let mut child = command.spawn().expect("it starts");
        drop(command);
        wait_for("iteration ", &mut user, &mut String::new());
        // SAFETY: the process is our child and has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) }, 0);
        let mut output = String::new();
        child.stdout.take().expect("it is piped").read_to_string(&mut output).expect("it is text");
        assert_eq!(child.wait().expect("it was started").code(), Some(130));
        assert_eq!(output, "begun()\n\n");
    }
}

/// A program that prints without end is interrupted in the midst of writing; what has come is whole lines.
#[test]
fn output_without_end_is_interrupted_between_lines() {
    let program = "(define (forever i) (begin (write i) (write-string \" and \") (write i) (newline) (forever (+ i 1))))\n(forever 0)\n";
    let folder = compiled(program);
    for milliseconds in [20, 50, 90] {
        let mut command = interruptible(Command::new(folder.path().join("program")));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut stream = child.stdout.take().expect("it is piped");
        let reader = std::thread::spawn(move || {
            let mut output = Vec::new();
            stream.read_to_end(&mut output).map(|_| output)
        });
        std::thread::sleep(Duration::from_millis(milliseconds));
        // SAFETY: the process is our child and has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) }, 0);
        let output = reader.join().expect("it does not panic").expect("the pipe can be read");
        assert_eq!(child.wait().expect("it was started").code(), Some(130));
        let text = String::from_utf8(output).expect("it is text");
        assert!(text.is_empty() || text.ends_with('\n'), "{:?}", text.lines().last());
        for (number, line) in text.lines().enumerate() {
            assert_eq!(line, format!("{number} and {number}"));
        }
    }
}

#[test]
fn examples_take_arguments() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let numbers = "1 2 1.5 1.2 1.7\n7 7.5 8 6.9 7.3 7.7\n";
    let students = "0.5,6,0\n1,8,0\n2,7,1\n2.5,6,0\n4,8,1\n5,7,1\n";
    let folder = folder(&[("numbers.txt", numbers), ("students.csv", students)]);
    let example = |name: &str, arguments: &str| {
        let file = root.join(name);
        let file = file.to_str().expect("paths here are text");
        let (code, output, message) = vlad(&folder, &[&["run", file, "--"], &words(arguments)[..]].concat(), "");
        assert_eq!(code, Some(0), "{message}");
        output
    };
    let picture = example("catapult.vlad", "--svg --distance 50 --steps 20");
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    let points = picture.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("there is a path");
    assert_eq!(words(points).len(), 21);
    // The path ends where the target is, within a quarter of a metre.
    let (x, y) = words(points)[20].split_once(',').expect("a point has two numbers");
    let number = |text: &str| text.parse::<f64>().expect("it is a number");
    assert!((number(x) - 500.0).abs() < 2.5 && (number(y) - 600.0).abs() < 2.5, "{x} {y}");
    let kinds = example("mixture.vlad", "--data numbers.txt");
    assert!(kinds.starts_with("first kind:  45.455 % around 1.48"), "{kinds}");
    // Two kinds that are plainly there are found, whatever the numbers count and however many there are.
    let many: String =
        (0..400).map(|i| format!("{} ", if i % 4 == 0 { 900.0 } else { 500.0 } + f64::from(i * 37 % 100))).collect();
    std::fs::write(folder.path().join("many.txt"), many).expect("files can be written");
    let kinds = example("mixture.vlad", "--data many.txt");
    let expected = "first kind:  75 % around 550, spread 28.856\nsecond kind: 25 % around 948, spread 28.844\n";
    assert!(kinds.starts_with(expected), "{kinds}");
    assert!(example("logistic-regression.vlad", "--data students.csv --steps 10").starts_with("(6 3)\n"));
}

#[test]
fn sessions_use_defaults() {
    let folder = folder(&[("program.vlad", "(arguments (n real 20) (v vector #(1 2)))\n")]);
    let (_, output, message) = vlad(&folder, &["repl"], ":load program.vlad\n(+ n (vector-sum v))\n");
    assert_eq!((output.as_str(), message.as_str()), ("23\n", ""));
}
