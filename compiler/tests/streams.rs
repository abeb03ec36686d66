//! Streams that cannot be read or written, ends of lines, and limits: programs, compiled and evaluated, and
//! the compiler itself.

mod common;

use common::folder;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Both ways to run a program.
const ENGINES: [&str; 2] = ["run", "eval"];

fn run(subcommand: &str, file: &str, folder: &Path, prepare: impl FnOnce(&mut Command)) -> Output {
    let mut command = common::vlad(&[subcommand, file]);
    command.current_dir(folder).stdin(Stdio::null());
    prepare(&mut command);
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Through a shell, which can close streams and set limits.
fn shell(script: &str, folder: &Path) -> Output {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).current_dir(folder).stdin(Stdio::null()).env("VLAD", env!("CARGO_BIN_EXE_vlad"));
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn input_that_cannot_be_read_has_not_ended() {
    let folder = folder(&[("real.vlad", "(read-real)\n"), ("vector.vlad", "(read-vector)\n")]);
    for file in ["real.vlad", "vector.vlad"] {
        for engine in ENGINES {
            let output = run(engine, file, folder.path(), |command| {
                command.stdin(File::open(folder.path()).expect("folders can be opened"));
            });
            assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(1)));
            let expected = "error[V0313]: cannot read or write: Is a directory (os error 21)\n";
            assert!(err(&output).starts_with(expected), "{}", err(&output));
        }
    }
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let folder = folder(&[("five.vlad", "5\n"), ("nothing.vlad", "(define x 5)\n")]);
    for engine in ["run five.vlad", "eval five.vlad", "emit --stage core five.vlad"] {
        for target in ["&-", "/dev/full"] {
            let output = shell(&format!("\"$VLAD\" {engine} >{target}"), folder.path());
            assert_eq!(output.status.code(), Some(1), "{engine} >{target}");
            assert!(err(&output).contains("cannot write to standard output"), "{}", err(&output));
        }
    }
    for engine in ["run nothing.vlad", "eval nothing.vlad", "check five.vlad"] {
        let output = shell(&format!("\"$VLAD\" {engine} >&-"), folder.path());
        assert_eq!((err(&output).as_str(), output.status.code()), ("", Some(0)), "{engine}");
    }
}

#[test]
fn a_limit_that_is_no_size_is_refused() {
    let folder = folder(&[("five.vlad", "5\n")]);
    for text in ["lots", "", "5X", "-1", "1.5G", "99999999999999G"] {
        for engine in ENGINES {
            let output = run(engine, "five.vlad", folder.path(), |command| {
                command.env("VLAD_MAX_MEMORY", text);
            });
            let expected = format!("error: VLAD_MAX_MEMORY is no size of memory: `{text}`\n");
            assert!(err(&output).starts_with(&expected), "{}", err(&output));
            assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(2)));
        }
    }
}

#[test]
fn a_carriage_return_ends_a_line() {
    let program = "; a comment\r(write-real 1)\r(write-real (car (read-vector)))\r";
    let folder = folder(&[("old.vlad", program), ("vector.vlad", "(read-vector)\r")]);
    for engine in ENGINES {
        let output = run(engine, "old.vlad", folder.path(), |_| {});
        assert!(err(&output).contains("old.vlad:3:"), "{}", err(&output));
        for (input, expected) in [
            ("1 2\r3\r\r7", "#(1 2 3)\n"),
            ("1 2\r\n3\r\n\r\n7", "#(1 2 3)\n"),
            ("1 2\n3\n\n7", "#(1 2 3)\n"),
            ("\r\r1\r2", "#(1 2)\n"),
        ] {
            fs::write(folder.path().join("input"), input).expect("files can be written");
            let output = run(engine, "vector.vlad", folder.path(), |command| {
                command.stdin(File::open(folder.path().join("input")).expect("it was just written"));
            });
            assert_eq!(out(&output), expected, "{input:?}");
        }
        fs::write(folder.path().join("input"), "1\r\n2\r3 x\r").expect("files can be written");
        let output = run(engine, "vector.vlad", folder.path(), |command| {
            command.stdin(File::open(folder.path().join("input")).expect("it was just written"));
        });
        assert!(err(&output).contains("line 3, column 3 of the input: `x` is not a number"), "{}", err(&output));
    }
    assert!(run("fmt", "old.vlad", folder.path(), |_| {}).status.success());
}

#[test]
fn a_source_that_is_too_large_for_the_memory_is_reported() {
    let folder = folder(&[("large.vlad", &"(write-real 1)\n".repeat(700_000))]);
    for subcommand in ["check", "eval"] {
        let output = shell(&format!("ulimit -v 600000; \"$VLAD\" {subcommand} large.vlad"), folder.path());
        assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(3)), "{}", err(&output));
        assert!(err(&output).starts_with("error[V0311]: out of memory: the system refuses more\n"), "{}", err(&output));
    }
}

#[test]
fn a_program_for_another_processor_says_so() {
    let folder = folder(&[("five.vlad", "5\n")]);
    let built = run("build", "five.vlad", folder.path(), |command| {
        command.args(["--native-cpu", "-o", "five"]);
    });
    assert!(built.status.success(), "{}", err(&built));
    let path = folder.path().join("five");
    let started = || Command::new(&path).output().expect("it runs");
    assert_eq!(out(&started()), "5\n");
    // An extension that no processor has.
    let mut bytes = fs::read(&path).expect("it was built");
    let mark = bytes.windows(8).position(|bytes| bytes == b"vlad-cpu").expect("it says what it needs");
    bytes[mark + 15] |= 0x80;
    File::create(&path).and_then(|mut file| file.write_all(&bytes)).expect("files can be written");
    let output = started();
    assert_eq!((out(&output).as_str(), output.status.code()), ("", Some(2)));
    assert!(err(&output).starts_with("error: this program was compiled with --native-cpu"), "{}", err(&output));
}
