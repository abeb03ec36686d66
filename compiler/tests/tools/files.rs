//! Files that cannot be read or written: a message that names the file, an exit code, and nothing left behind.
//!
//! Permissions say nothing to whoever may do everything, so the obstacles are others: a path below a file, a folder in
//! place of a file, a folder that there is not, a device that is full.

use crate::common::{TOOLS_LIMIT, names, run_command, vlad as command};
use crate::{folder, vlad};
use std::fs::OpenOptions;
use std::process::{Command, Stdio};

const PROGRAM: &str =
    "; Twice.\n(define (f x) (* 2 x))\n(export f ((x real)))\n(f 3)\n((derivative f) 3)\n;=> 6\n;=> 2\n";

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn an_input_that_cannot_be_read_is_named() {
    let folder = folder(&[("file", ""), ("folder.vlad/.keep", "")]);
    let before = names(folder.path());
    for arguments in [
        "run",
        "build",
        "build --lib static",
        "build --lib shared",
        "check",
        "eval",
        "gradcheck",
        "bench",
        "emit --stage opt",
        "explain",
        "explain --derivative f",
        "fmt",
        "fmt --check",
        "doc",
        "test",
        "repl",
    ] {
        for input in ["file/program.vlad", "folder.vlad", "missing/program.vlad"] {
            let (code, output, messages) = vlad(&folder, &[&words(arguments)[..], &[input]].concat(), "");
            assert_eq!(code, Some(2), "{arguments} {input}: {messages}");
            assert!(messages.starts_with(&format!("error[V0807]: cannot read `{input}`: ")), "{arguments}: {messages}");
            assert_eq!(messages.lines().count(), 1, "{arguments}: {messages}");
            assert!(output.is_empty() || arguments == "test", "{arguments}: {output}");
            assert_eq!(names(folder.path()), before, "{arguments} {input}");
        }
    }
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let folder = folder(&[("program.vlad", PROGRAM), ("file", "as it was"), ("folder/.keep", "")]);
    let before = names(folder.path());
    for (arguments, code, exits) in [
        ("build program.vlad -o", "V0805", 1),
        ("build --lib static program.vlad -o", "V0805", 1),
        ("build --lib shared program.vlad -o", "V0805", 1),
        ("doc program.vlad -o", "V0805", 1),
        ("emit --stage opt program.vlad -o", "V0805", 1),
        ("man --out", "V0831", 1),
        ("new", "V0828", 1),
    ] {
        let mut outputs = vec!["file/output"];
        if !arguments.starts_with("man") {
            outputs.push("missing/output");
        }
        if !arguments.contains("--lib") && arguments.contains(" -o") {
            outputs.push("folder");
        }
        for output in outputs {
            let (exit, printed, messages) = vlad(&folder, &[&words(arguments)[..], &[output]].concat(), "");
            assert_eq!(exit, Some(exits), "{arguments} {output}: {messages}");
            assert!(messages.starts_with(&format!("error[{code}]: cannot ")), "{arguments}: {messages}");
            let shown = if arguments.contains("--lib") { "/lib" } else { output };
            assert!(messages.contains(shown) && printed.is_empty(), "{arguments} {output}: {messages}{printed}");
            assert_eq!(names(folder.path()), before, "{arguments} {output}");
            assert_eq!(names(&folder.path().join("folder")), [".keep"], "{arguments} {output}");
        }
    }
    assert_eq!(crate::text(&folder.path().join("file")), "as it was");
}

#[test]
fn a_full_device_is_reported() {
    let folder = folder(&[("program.vlad", PROGRAM), ("unformatted.vlad", "(+  1 2)\n")]);
    for arguments in [
        "run program.vlad",
        "eval program.vlad",
        "gradcheck program.vlad",
        "emit --stage opt program.vlad",
        "explain program.vlad",
        "explain --derivative f program.vlad",
        "explain V0305",
        "test program.vlad",
        "doc",
        "doc program.vlad",
        "fmt --check unformatted.vlad",
        "completions bash",
        "--help",
        "new --help",
        "new pendulum",
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has this device");
        let mut command: Command = command(&words(arguments));
        command.current_dir(&folder).stdin(Stdio::null()).stdout(full).stderr(Stdio::piped());
        let output = command.output().expect("it starts");
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {messages}");
        assert!(messages.contains("cannot write to standard output"), "{arguments}: {messages}");
    }
    for arguments in ["build program.vlad -o /dev/full", "doc program.vlad -o /dev/full"] {
        let (code, _, messages) = vlad(&folder, &words(arguments), "");
        assert_eq!(code, Some(1), "{arguments}: {messages}");
        assert!(messages.starts_with("error[V0805]: cannot write `/dev/full`\n"), "{arguments}: {messages}");
    }
}

/// Where temporary files cannot be made, nothing can be linked.
#[test]
fn a_missing_folder_for_temporary_files_is_named() {
    let folder = folder(&[("program.vlad", PROGRAM)]);
    for arguments in ["run program.vlad", "build --back-end c program.vlad", "build --lib static program.vlad"] {
        let mut command = command(&words(arguments));
        command.current_dir(&folder).env("TMPDIR", folder.path().join("missing"));
        let outcome = run_command(command, "", TOOLS_LIMIT);
        assert_eq!(outcome.code, Some(1), "{arguments}: {}", outcome.messages);
        assert!(outcome.messages.contains("/missing"), "{arguments}: {}", outcome.messages);
        assert_eq!(names(folder.path()), ["program.vlad"], "{arguments}");
    }
}
