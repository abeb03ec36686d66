//! `vlad repl`, fed by a pipe: values, definitions that are replaced, mistakes that end nothing, commands.

use crate::{folder, vlad};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::process::Command;

/// What a session prints: values and messages.
fn session(input: &str) -> (String, String) {
    let (code, out, err) = vlad(&folder(&[]), &["repl"], input);
    assert_eq!(code, Some(0), "{out}{err}");
    (out, err)
}

/// The values that a session without mistakes prints.
fn values(input: &str) -> String {
    let (out, err) = session(input);
    assert_eq!(err, "");
    out
}

#[test]
fn inputs_reach_over_lines_and_to_the_end() {
    assert_eq!(values("(+ 1\n  2)\n\"a\nb\"\n#| (\n|# 3 4\n5"), "3\n\"a\\nb\"\n3\n4\n5\n");
    assert_eq!(values(""), "");
    assert_eq!(values("1\n:quit\n2\n"), "1\n");
}

#[test]
fn definitions_stay_and_are_replaced() {
    let input = "(define (f x) (g x))\n(define (g x) (* 2 x))\n";
    let (out, err) = session(input);
    assert_eq!(out, "");
    assert!(err.contains("`g` is not defined"), "{err}");
    let together = "(define (f x) (g x)) (define (g x) (* 2 x)) (f 2)\n(define (g x) (* 3 x))\n(f 2)\n";
    assert_eq!(values(together), "4\n6\n");
    assert_eq!(values("(define (map x) (+ x 1))\n(map 2)\n"), "3\n", "library functions, too");
}

#[test]
fn records_are_replaced_as_a_whole() {
    let input =
        "(define-record point x y)\n(define p (point 1 2))\n(point-x p)\n(define-record point y x)\n(point-x p)\np\n";
    assert_eq!(values(input), "1\n2\n(point 1 2)\n");
    let (out, err) = session("(define-record point x y)\n(define (point-x p) 5)\n(point-x (point 1 2))\n");
    assert_eq!(out, "1\n");
    assert!(err.contains("`point-x` is defined twice"), "{err}");
}

#[test]
fn values_follow_those_that_they_depend_on() {
    assert_eq!(values("(define a 1)\n(define b (+ a 1))\n(define a 5)\nb\n"), "6\n");
    assert_eq!(values("(define a 1)\n(define c 2)\n(define a (+ c 1))\na\n"), "3\n");
}

#[test]
fn what_definitions_print_is_shown_once() {
    let input = "(define a (write-real 3))\na\n(define (write-string x) x)\n(define b (write-real 4))\n(+ a b)\n";
    assert_eq!(values(input), "3\n3\n4\n7\n");
}

#[test]
fn a_definition_that_fails_changes_nothing() {
    let (out, err) = session("(define a 1)\n(define a (car 2))\na\n(define b (error \"no\" 1))\nb\n");
    assert_eq!(out, "1\n");
    assert!(err.contains("`car` of a value that is not a pair"), "{err}");
    assert!(err.contains("no: 1") && err.contains("`b` is not defined"), "{err}");
}

#[test]
fn mistakes_are_shown_where_they_were_typed() {
    let (out, err) = session("(define (f x)\n  (car x))\n)\n(f 1)\n(read-real)\n(f '(2))\n");
    assert_eq!(out, "2\n");
    insta::assert_snapshot!(err);
}

#[test]
fn files_are_loaded_and_their_definitions_replaced() {
    let files =
        [("lib/one.vlad", "(include \"two\")\n(define (one) (two))\n(one)\n"), ("lib/two.vlad", "(define (two) 2)")];
    let folder = folder(&files);
    let input = ":load lib/one.vlad\n(one)\n(define (one) 11)\n(one)\n:load lib/none.vlad\n";
    let (code, out, err) = vlad(&folder, &["repl"], input);
    assert_eq!((code, out.as_str()), (Some(0), "2\n2\n11\n"));
    assert!(err.contains("cannot read `lib/none.vlad`"), "{err}");
    let (_, out, _) = vlad(&folder, &["repl", "lib/one.vlad"], "(one)\n");
    assert_eq!(out, "2\n2\n");
}

#[test]
fn what_included_files_print_is_shown_once() {
    let folder = folder(&[("two.vlad", "(define two (write-real 2))\n(+ two 1)\n")]);
    let (_, out, err) = vlad(&folder, &["repl"], "(include \"two\")\ntwo\n(include \"two\") 7\n(define three 3)\n");
    assert_eq!((out.as_str(), err.as_str()), ("2\n3\n2\n7\n", ""));
}

#[test]
fn loading_a_file_again_shows_what_it_prints_again() {
    let folder = folder(&[("one.vlad", "(define a (write-real 1)) (define (f x) (* x 2)) (f a)\n")]);
    let input = ":load one.vlad\n(define b (+ a 4))\n:load one.vlad\nb\n(define (f x) 0)\n:load one.vlad\n(f b)\n";
    let (_, out, err) = vlad(&folder, &["repl"], input);
    assert_eq!((out.as_str(), err.as_str()), ("1\n2\n1\n2\n5\n1\n2\n10\n", ""));
}

/// Only what an input needs is computed again; what it changes reaches all values.
#[test]
fn values_are_those_of_the_whole_program() {
    let definitions = "(define (f x) (* x x))\n(define k 3)\n(define g (gradient f))\n(define slope (g k))\n\
                       (define both (lambda (x) (list k (f x) slope)))\n";
    let with = |inputs: &str| values(&format!("{definitions}{inputs}"));
    assert_eq!(with("(both 2)\n"), "(3 4 6)\n");
    assert_eq!(with("(define k 4)\n(both 2)\nslope\n"), "(4 4 8)\n8\n");
    assert_eq!(with("(define (f x) (* x (* x x)))\n(both 2)\n"), "(3 8 27)\n");
    assert_eq!(with("(define (* a b) (+ a b))\n(both 2)\n"), "(3 4 2)\n", "a name of the library");
    assert_eq!(with("(define other 1) (define k 5) (+ other k)\n(both 2)\n"), "6\n(5 4 10)\n");
    // What would make a value fail is refused, whether the input needs that value or not.
    let (out, err) = session(&format!("{definitions}(define (f x) (car x))\n(define (gradient f) 3)\n(both 2)\n"));
    assert_eq!(out, "(3 4 6)\n");
    assert!(err.contains("`car` of a value that is not a pair") && err.contains("not a procedure"), "{err}");
}

#[test]
fn derivatives_and_stages_are_shown() {
    let (out, err) = session(":derivative f\n(define (f x) (* x (sin x)))\n:derivative f\n:emit syntax '(a\n b)\n");
    assert!(err.contains("`f` is not defined"), "{err}");
    insta::assert_snapshot!(out);
    let (out, err) = session(":emit opt ((lambda (x) (+ x 1)) (real 2))\n:emit reverse (lambda (x) x)\n");
    assert!(out.contains("write_real") && out.contains("(define (↼lambda ↼x)"), "{out}{err}");
}

#[test]
fn wrong_commands_are_explained() {
    let (out, err) = session(":unknown\n:emit\n:emit nothing 1\n(define x 1)\n:derivative x\n:derivative\n:load\n");
    assert_eq!(out, "");
    insta::assert_snapshot!(err);
    assert!(values(":help\n").contains(":derivative NAME"));
}

/// A terminal: what the user types goes to the first file, which shows what the program prints; the program has the
/// second.
pub fn terminal() -> (File, File) {
    let (mut user, mut program) = (0, 0);
    let null = std::ptr::null_mut();
    // SAFETY: the places are valid for writing, and all else may be null.
    let result = unsafe { libc::openpty(&mut user, &mut program, null, null.cast(), null.cast()) };
    assert_eq!(result, 0);
    // SAFETY: both have just been opened and belong to nobody else.
    unsafe { (File::from_raw_fd(user), File::from_raw_fd(program)) }
}

/// What the editor writes last before it reads, behind an empty input. What is typed earlier, the terminal drops.
pub const READY: &str = "> \r\u{1b}[2C\u{1b}[?2026l";

/// Reads until a text has come, for a minute; what came before it.
pub fn wait_for(text: &str, user: &mut File, seen: &mut String) -> String {
    let mut buffer = [0; 4096];
    while !seen.contains(text) {
        let mut waiting = libc::pollfd { fd: user.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the place is one `pollfd`, valid for reading and writing.
        assert_eq!(unsafe { libc::poll(&mut waiting, 1, 60_000) }, 1, "no {text:?} within a minute, but {seen:?}");
        let length = user.read(&mut buffer).expect("the program has not ended");
        seen.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    // What has come behind it is waited for next.
    let start = seen.find(text).unwrap_or(0);
    let before = seen.drain(..start).collect();
    seen.drain(..text.len());
    before
}

#[test]
fn terminals_have_prompts_completion_history_and_interruption() {
    let folder = folder(&[]);
    let start = || {
        let (user, program) = terminal();
        let other = || program.try_clone().expect("it is open");
        let mut command = Command::new(env!("CARGO_BIN_EXE_vlad"));
        command.arg("repl").env("XDG_STATE_HOME", folder.path()).env("TERM", "xterm").env("NO_COLOR", "1");
        let child = command.stdin(other()).stdout(other()).stderr(other()).spawn().expect("it starts");
        (user, child)
    };
    let (mut user, mut child) = start();
    let mut seen = String::new();
    wait_for(READY, &mut user, &mut seen);
    let mut dialogue = |typed: &str, answers: &[&str]| {
        user.write_all(typed.as_bytes()).expect("the program reads");
        for answer in answers {
            wait_for(answer, &mut user, &mut seen);
        }
    };
    dialogue("(vector-le\t #(1 2 3))\r", &["\n3\r\n", READY]);
    dialogue("(define (forever n)\r(forever (+ n 1)))\r", &[READY]);
    dialogue("(write-string \"begun\") (newline) (forever 0)\r", &["\nbegun"]);
    // SAFETY: the process is our child and has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) }, 0);
    dialogue("", &["error[V0324]: interrupted", READY]);
    dialogue("(+ 40 2)\r", &["\n42\r\n", READY]);
    user.write_all(b"\x04").expect("the program reads");
    assert_eq!(child.wait().expect("it was started").code(), Some(0));
    // Another session remembers.
    let (mut user, mut child) = start();
    seen.clear();
    wait_for(READY, &mut user, &mut seen);
    user.write_all(b"\x1b[A\r").expect("the program reads");
    wait_for("\n42\r\n", &mut user, &mut seen);
    wait_for(READY, &mut user, &mut seen);
    user.write_all(b":quit\r").expect("the program reads");
    assert_eq!(child.wait().expect("it was started").code(), Some(0));
}
