//! `--message-format json`: every command that reports mistakes reports them as objects, one in each line.

use crate::{folder, vlad};
use serde_json::{Value as Json, json};

/// The messages, each of which must be an object with all promised fields.
fn messages(err: &str) -> Vec<Json> {
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let messages: Vec<Json> = err.lines().map(read).collect();
    for message in &messages {
        for field in ["code", "severity", "message", "file", "spans", "notes", "help"] {
            assert!(message.get(field).is_some(), "{field}: {message}");
        }
    }
    messages
}

#[test]
fn places_are_given_by_lines_columns_and_bytes() {
    let folder = folder(&[("wrong.vlad", "; längst\n(define (λ x)\n  (car \"é\" y))\n")]);
    let (code, out, err) = vlad(&folder, &["check", "--message-format", "json", "wrong.vlad"], "");
    assert_eq!((code, out.as_str()), (Some(1), ""));
    let unbound = messages(&err).into_iter().find(|message| message["code"] == "V0201").expect("y is not defined");
    assert_eq!(unbound["file"], "wrong.vlad");
    assert_eq!(unbound["severity"], "error");
    assert_eq!(unbound["message"], "`y` is not defined");
    let span = json!({
        "file": "wrong.vlad",
        "primary": true,
        "label": "unknown name",
        "start": { "line": 3, "column": 12, "byte": 37 },
        "end": { "line": 3, "column": 13, "byte": 38 },
    });
    assert_eq!(unbound["spans"], json!([span]));
}

#[test]
fn certain_remedies_are_changes_of_the_program() {
    let folder = folder(&[("wrong.vlad", "; é\n(gradeint 1)\n(nowhere-to-be-found)\n")]);
    let (_, _, err) = vlad(&folder, &["check", "--message-format", "json", "wrong.vlad"], "");
    let found = messages(&err);
    let fix = json!({
        "file": "wrong.vlad",
        "start": { "line": 2, "column": 2, "byte": 6 },
        "end": { "line": 2, "column": 10, "byte": 14 },
        "text": "gradient",
    });
    assert_eq!([found[0].get("fix"), found[1].get("fix")], [Some(&fix), None]);
}

#[test]
fn related_places_follow() {
    let folder = folder(&[("wrong.vlad", "(define x 1)\n(define x 2)\n")]);
    let (_, _, err) = vlad(&folder, &["--message-format=json", "check", "wrong.vlad"], "");
    let message = messages(&err).remove(0);
    let lines: Vec<&Json> = message["spans"].as_array().expect("a list").iter().map(|span| &span["primary"]).collect();
    assert_eq!(lines, [&json!(true), &json!(false)]);
}

#[test]
fn all_commands_report_so() {
    let files = [("wrong.vlad", "(+ 1 (g 2))\n"), ("broken.vlad", "1 ;=> 2\n"), ("open.vlad", "(f\n")];
    let folder = folder(&files);
    let cases: &[(&[&str], &str)] = &[
        (&["run", "wrong.vlad"], "V0201"),
        (&["build", "wrong.vlad"], "V0201"),
        (&["check", "wrong.vlad"], "V0201"),
        (&["eval", "wrong.vlad"], "V0201"),
        (&["gradcheck", "wrong.vlad"], "V0201"),
        (&["explain", "wrong.vlad"], "V0201"),
        (&["bench", "open.vlad"], "V0102"),
        (&["emit", "wrong.vlad"], "V0201"),
        (&["emit", "--stage", "syntax", "open.vlad"], "V0102"),
        (&["fmt", "open.vlad"], "V0102"),
        (&["test", "broken.vlad"], "V0820"),
        (&["new", "wrong.vlad"], "V0827"),
        (&["repl", "wrong.vlad"], "V0201"),
        (&["run", "none.vlad"], "V0807"),
    ];
    for (arguments, code) in cases {
        let (_, _, err) = vlad(&folder, &[arguments, &["--message-format", "json"][..]].concat(), "");
        let codes: Vec<Json> = messages(&err).iter().map(|message| message["code"].clone()).collect();
        assert_eq!(codes, [json!(code)], "{arguments:?}: {err}");
    }
}

#[test]
fn warnings_and_run_time_errors_are_objects() {
    let tower = "(define (tower n f) (if (= n 0) f (tower (- n 1) (derivative f))))\n((tower (read-real) exp) 0)\n";
    let folder = folder(&[("tower.vlad", tower)]);
    let (code, out, err) = vlad(&folder, &["run", "--message-format", "json", "tower.vlad"], "2");
    assert_eq!((code, out.as_str()), (Some(0), "1\n"));
    assert_eq!(messages(&err)[0]["severity"], "warning");
    let (code, _, err) = vlad(&folder, &["eval", "--message-format", "json", "tower.vlad"], "");
    assert_eq!(code, Some(1));
    assert_eq!(messages(&err)[0]["code"], "V0307");
}
