//! `vlad profile`: the lines and functions that take time are named, whatever becomes of the program.

use crate::{folder, vlad};
use std::fs;

/// Most of the time goes to line 4, for values and derivatives, and little of it to line 8.
const PROGRAM: &str = "\
(define (work n)
  (lambda (x)
    (let loop ((i 0) (s 0))
      (if (= i n) s (loop (+ i 1) (+ (* 0.5 s) (/ x (+ 1 (* s s)))))))))
(define n (read-real))
((work n) 0.5)
((derivative (work n)) 0.5)
(let loop ((i 0) (s n)) (if (= i 100000) s (loop (+ i 1) (sin s))))
";

/// A share in per cent: the number in front of the first `%` behind what stands there.
fn share(text: &str, before: &str) -> f64 {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("no `{before}` in {text}")).1;
    rest.split(" %").next().and_then(|number| number.trim().parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn lines_and_functions_that_take_time_come_first() {
    let folder = folder(&[("program.vlad", PROGRAM)]);
    let (code, output, messages) = vlad(&folder, &["profile", "program.vlad", "-o", "flame.svg"], "1e7\n");
    assert_eq!(code, Some(0), "{messages}");
    let (_, plain, _) = vlad(&folder, &["run", "program.vlad"], "1e7\n");
    assert_eq!(output, plain);
    let rows: Vec<&str> = messages.lines().collect();
    assert!(rows[0].starts_with("profile: ") && rows[0].contains(" samples; values "), "{messages}");
    assert!(share(rows[0], "values ") > 10.0 && share(rows[0], "derivatives ") > 10.0, "{messages}");
    assert!(share(rows[0], "elsewhere ") < 20.0, "{messages}");
    assert_eq!(rows[2].split_whitespace().collect::<Vec<_>>(), ["share", "value", "derivative", "line"]);
    let cells: Vec<&str> = rows[3].split_whitespace().collect();
    assert!(share(rows[3], "") > 60.0 && cells[6] == "program.vlad:4", "{messages}");
    assert!(rows[3].ends_with("(if (= i n) s (loop (+ i 1) (+ (* 0.5 s) (/ x (+ 1 (* s s)))"), "{messages}");
    let functions = messages.split_once("derivative  function\n").expect("there is a second table").1;
    assert!(functions.lines().next().is_some_and(|row| row.trim_end().ends_with("loop")), "{messages}");
    let flame = fs::read_to_string(folder.path().join("flame.svg")).expect("it was written");
    assert!(flame.starts_with("<svg ") && flame.ends_with("</svg>\n"));
    for name in ["all", "main", "work", "program.vlad:4"] {
        assert!(flame.contains(&format!("<title>{name}: ")), "{name}: {flame}");
    }
    assert_eq!(fs::read_dir(&folder).expect("it can be read").count(), 2);
}

#[test]
fn programs_that_fail_are_shown_and_have_their_exit_code() {
    let program = format!("{PROGRAM}(if (> n 1) (error \"over\" n) 0)\n");
    let folder = folder(&[("program.vlad", &program)]);
    let (code, _, messages) = vlad(&folder, &["profile", "program.vlad"], "1e7\n");
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("over") && messages.contains("program.vlad:4"), "{messages}");
    let (code, _, messages) = vlad(&folder, &["profile", "program.vlad"], "two\n");
    assert_eq!(code, Some(1), "{messages}");
    assert!(messages.contains("error[V0308]") && messages.contains("profile: "), "{messages}");
}

#[test]
fn a_program_without_work_has_no_tables() {
    let folder = folder(&[("program.vlad", "1\n")]);
    let (code, output, messages) = vlad(&folder, &["profile", "program.vlad"], "");
    assert_eq!((code, output.as_str()), (Some(0), "1\n"), "{messages}");
    assert!(messages.starts_with("profile: ") && messages.lines().count() < 12, "{messages}");
}

#[test]
fn the_work_of_other_processes_counts() {
    let program = "\
(define (work k) (let loop ((i 0) (s k)) (if (= i 5000000) s (loop (+ i 1) (+ (* 0.5 s) (/ k (+ 1 (* s s))))))))
(define n (read-real))
(sum-over n work)
";
    let folder = folder(&[("program.vlad", program)]);
    let mut command = crate::common::vlad(&["profile", "program.vlad"]);
    command.current_dir(&folder).env("VLAD_THREADS", "2").env("VLAD_THREADS_FROM", "0");
    let (code, _, messages) = crate::run(command, "8\n");
    assert_eq!(code, Some(0), "{messages}");
    let first = messages.lines().nth(3).expect("there is a table");
    assert!(share(first, "") > 50.0 && first.contains("program.vlad:1"), "{messages}");
}

#[test]
fn wrong_usage_and_wrong_programs_are_told_apart() {
    let folder = folder(&[("wrong.vlad", "(car\n"), ("number.vlad", "(+ 1 x)\n"), ("right.vlad", "1\n")]);
    let code = |arguments: &[&str]| vlad(&folder, arguments, "");
    assert_eq!(code(&["profile"]).0, Some(2));
    assert_eq!(code(&["profile", "nowhere.vlad"]).0, Some(2));
    assert_eq!(code(&["profile", "right.vlad", "--rows", "many"]).0, Some(2));
    assert_eq!(code(&["profile", "wrong.vlad"]).0, Some(1));
    assert_eq!(code(&["profile", "number.vlad"]).0, Some(1));
    let (code, _, messages) = code(&["profile", "right.vlad", "-o", "nowhere/flame.svg"]);
    assert_eq!(code, Some(1));
    assert!(messages.contains("error[V0805]"), "{messages}");
}

#[test]
fn a_program_that_needs_the_evaluator_is_refused() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/messages/compile/tower-of-unknown-height.vlad");
    let program = fs::read_to_string(path).expect("it is there");
    let folder = folder(&[("tower.vlad", &program)]);
    let (code, output, messages) = vlad(&folder, &["profile", "tower.vlad"], "");
    assert_eq!((code, output.as_str()), (Some(1), ""), "{messages}");
    assert!(messages.starts_with("error["), "{messages}");
}
