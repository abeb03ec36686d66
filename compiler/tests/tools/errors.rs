//! The index of errors: its wrong programs get the message that they stand for, its right ones run, and every code has
//! an entry.

use crate::common::pages::{Block, blocks, shell};
use crate::repl::{READY, terminal, wait_for};
use crate::{folder, text, vlad};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;
use vlad::base::parallel;
use vlad::promises::{Outcome, Promises};

/// A program of the index, or commands.
#[derive(Default)]
struct Program {
    code: String,
    line: usize,
    is_wrong: bool,
    /// The command that shows the mistake.
    command: Vec<String>,
    /// Commands for a shell instead.
    commands: String,
    text: String,
}

fn index() -> String {
    text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md"))
}

/// The programs in blocks fenced with `vlad wrong` or `vlad right`, and the commands in blocks fenced with `console
/// wrong` or `console right`. Commands behind a program are about it.
fn programs(index: &str) -> Vec<Program> {
    let mut titles =
        index.lines().enumerate().filter_map(|(number, line)| Some((number + 1, line.strip_prefix("## ")?))).peekable();
    let mut found: Vec<Program> = Vec::new();
    let mut code = String::new();
    for Block { fence, line, text } in blocks(index) {
        while let Some((_, title)) = titles.next_if(|(number, _)| *number < line) {
            code = title.split(':').next().unwrap_or_default().to_string();
        }
        let words: Vec<&str> = fence.split(' ').collect();
        if words[0] == "text" {
            continue;
        }
        let is_wrong = words.get(1) == Some(&"wrong");
        let program = Program { code: code.clone(), line, is_wrong, ..Program::default() };
        if words[0] == "vlad" {
            let command = if words.len() > 2 { &words[2..] } else { &["run"] };
            let command = command.iter().map(|word| (*word).to_string()).collect();
            found.push(Program { command, text, ..program });
            continue;
        }
        assert_eq!(words[0], "console", "docs/errors.md:{line}");
        let commands: String =
            text.lines().map(|line| line.strip_prefix("$ ").expect("a command").to_string() + "\n").collect();
        match found.last_mut().filter(|last| last.code == code && last.is_wrong == is_wrong && last.commands.is_empty())
        {
            Some(last) => last.commands = commands,
            None => found.push(Program { commands, ..program }),
        }
    }
    found
}

/// The codes that a text mentions as messages do.
fn codes(text: &str) -> BTreeSet<&str> {
    let words = text.split("[V").skip(1).filter_map(|rest| rest.get(..4).filter(|_| rest[4..].starts_with(']')));
    words.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit())).collect()
}

/// What a wrong program gets, and only that; complaints about the index.
fn run_wrong(program: &Program, complaints: &mut Vec<String>) -> String {
    let folder = folder_of(program);
    let (failed, output) = if program.command == ["repl"] {
        (true, interrupted(&folder))
    } else if program.commands.is_empty() {
        let input = Promises::read(&program.text).input;
        let (exit, _, messages) = vlad(&folder, &arguments(program), &input);
        (exit == Some(1) || messages.contains(&format!("warning[{}]", program.code)), messages)
    } else {
        let output = shell(folder.path(), &[], &program.commands);
        (output.contains("[exit code ") || program.commands.contains("vlad repl"), output)
    };
    let mut others = codes(&output);
    let is_there = others.remove(&program.code[1..]);
    // What tools say is about programs, of which something may be said, too.
    if !failed || !is_there || !(others.is_empty() || program.code.starts_with("V08")) {
        complaints.push(format!("docs/errors.md:{}: {}: {output}", program.line, program.code));
    }
    let output = output.replace(&folder.path().display().to_string(), "FOLDER");
    without_depths(&without_temporary_names(&output.replace(&std::env::temp_dir().display().to_string(), "TEMPORARY")))
}

/// The text without how deep a recursion has come that ends for want of memory.
fn without_depths(text: &str) -> String {
    let mut result = String::new();
    for (number, piece) in text.split(" times)").enumerate() {
        result += if number > 0 { " times)" } else { "" };
        match piece.rsplit_once('(') {
            Some((before, depth)) if depth.len() > 5 && depth.bytes().all(|b| b.is_ascii_digit()) => {
                result += &format!("{before}(so many");
            }
            _ => result += piece,
        }
    }
    result
}

/// What a session at a terminal says whose user presses Ctrl-C as soon as the program says so.
fn interrupted(folder: &TempDir) -> String {
    let (mut user, program) = terminal();
    let other = || program.try_clone().expect("it is open");
    let mut command = crate::common::vlad(&["repl", "program.vlad"]);
    command.current_dir(folder).env("TERM", "xterm").env("XDG_STATE_HOME", folder.path());
    let mut child = command.stdin(other()).stdout(other()).stderr(program).spawn().expect("it starts");
    drop(command);
    let mut seen = String::new();
    wait_for("Ctrl-C\r\n", &mut user, &mut seen);
    // SAFETY: the process is our child and has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) }, 0);
    let said = wait_for("vlad 0", &mut user, &mut seen);
    wait_for(READY, &mut user, &mut seen);
    user.write_all(b"\x04").expect("the program reads");
    assert_eq!(child.wait().expect("it was started").code(), Some(0));
    said.replace('\r', "")
}

/// The text without places in the compiler, and without the six letters that names of temporary files end in.
fn without_temporary_names(text: &str) -> String {
    let mut result = text.to_string();
    // A panic tells its place in the compiler.
    if let Some((before, rest)) = result.clone().split_once(" (at compiler/src/") {
        result = format!("{before}{}", rest.split_once(')').map_or("", |place| place.1));
    }
    for before in ["/vlad-", "/.program"] {
        let mut pieces = result.split(before);
        let first = pieces.next().unwrap_or_default().to_string();
        result = pieces.fold(first, |text, piece| text + before + "......" + piece.get(6..).unwrap_or(piece));
    }
    result
}

/// A right program keeps its promises, and nothing is said about it.
fn run_right(program: &Program, complaints: &mut Vec<String>) {
    let folder = folder_of(program);
    let place = format!("docs/errors.md:{}: {}", program.line, program.code);
    if !program.commands.is_empty() {
        let output = shell(folder.path(), &[], &program.commands);
        if output.contains("[exit code ") || !codes(&output).is_empty() {
            complaints.push(format!("{place}: {output}"));
        }
        return;
    }
    let promises = Promises::read(&program.text);
    let (code, output, messages) = vlad(&folder, &arguments(program), &promises.input);
    let broken = promises.broken(&Outcome { code, output, messages: messages.clone() }, true);
    if !broken.is_empty() || !messages.is_empty() {
        complaints.push(format!("{place}: {broken:?}\n{messages}"));
    }
}

fn arguments(program: &Program) -> Vec<&str> {
    program.command.iter().map(String::as_str).chain(["program.vlad"]).collect()
}

/// A folder with the program, and with what programs may include.
fn folder_of(program: &Program) -> TempDir {
    let folder = folder(&[
        ("program.vlad", &program.text),
        ("more.vlad", "(define (more x) (+ x 1))\n"),
        ("cycle.vlad", "(include \"cycle\")\n"),
        ("other.vlad", "(define (more x) (+ x 10))\n"),
        ("declared.vlad", "(arguments (n integer 1))\n"),
    ]);
    fs::write(folder.path().join("binary.vlad"), b"\xff\xfe").expect("files can be written");
    folder
}

/// `tests/messages/index/` has the messages of the wrong programs; `BLESS=1` writes them anew.
#[test]
fn the_programs_of_the_index_do_what_it_says() {
    let index = index();
    let programs = programs(&index);
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/messages/index");
    let bless = std::env::var_os("BLESS").is_some();
    let run = |program: &Program| {
        let mut complaints = Vec::new();
        let message = program.is_wrong.then(|| run_wrong(program, &mut complaints));
        if !program.is_wrong {
            run_right(program, &mut complaints);
        }
        (message, complaints)
    };
    let mut complaints = Vec::new();
    let mut messages: BTreeMap<&str, String> = BTreeMap::new();
    for (program, (message, others)) in programs.iter().zip(parallel::map(programs.iter().collect(), run)) {
        if let Some(message) = message {
            *messages.entry(&program.code).or_default() += &message;
        }
        complaints.extend(others);
    }
    for (code, found) in &messages {
        let path = snapshots.join(format!("{code}.stderr"));
        if bless {
            fs::write(path, found).expect("the folder can be written");
        } else if *found != fs::read_to_string(&path).unwrap_or_default() {
            complaints.push(format!("tests/messages/index/{code}.stderr is not what is said now:\n{found}"));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Every code has an entry with a program that gets it and one that does not, so a new code needs both.
#[test]
fn every_code_has_an_entry() {
    let index = index();
    let mut sources = String::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the sources are there") {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources += text(&path).split("#[cfg(test)]").next().unwrap_or_default();
            }
        }
    }
    let is_code =
        |word: &&str| word.len() == 5 && word.starts_with("V0") && word[1..].bytes().all(|b| b.is_ascii_digit());
    let used: BTreeSet<&str> = sources.split('"').filter(is_code).collect();
    let explained: Vec<&str> = index.lines().filter_map(|line| line.strip_prefix("## ")?.split(':').next()).collect();
    assert!(explained.is_sorted(), "the index is in order");
    assert_eq!(used, explained.iter().copied().collect::<BTreeSet<&str>>());
    let programs = programs(&index);
    for is_wrong in [true, false] {
        let shown = programs.iter().filter(|program| program.is_wrong == is_wrong).map(|program| program.code.as_str());
        assert_eq!(
            used,
            shown.collect::<BTreeSet<&str>>(),
            "codes with a program that is {}",
            if is_wrong { "wrong" } else { "right" }
        );
    }
}

#[test]
fn codes_are_explained() {
    let folder = folder(&[]);
    let (code, text, messages) = vlad(&folder, &["explain", "V0315"], "");
    assert_eq!((code, messages.as_str()), (Some(0), ""));
    insta::assert_snapshot!(text);
    assert_eq!(vlad(&folder, &["explain", "v0315"], "").1, text);
    let (code, text, messages) = vlad(&folder, &["explain", "V0999"], "");
    assert_eq!((code, text.as_str()), (Some(1), ""));
    insta::assert_snapshot!(messages);
}
