//! The index of errors: its wrong programs get the message that they stand for, its right ones run, and every code has an entry.

use crate::{folder, text, vlad};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use vlad::promises::{Outcome, Promises};

/// A program of the index.
struct Program {
    code: String,
    line: usize,
    is_wrong: bool,
    /// The command that shows the mistake.
    command: Vec<String>,
    text: String,
}

fn index() -> String {
    text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md"))
}

fn programs(index: &str) -> Vec<Program> {
    let (mut found, mut code, mut open): (Vec<Program>, String, bool) = Default::default();
    for (number, line) in index.lines().enumerate() {
        if let Some(title) = line.strip_prefix("## ") {
            code = title.split(':').next().unwrap_or_default().to_string();
        }
        match (line.strip_prefix("```vlad "), found.last_mut()) {
            (Some(fence), _) => {
                let mut words = fence.split(' ').map(str::to_string);
                let is_wrong = words.next().as_deref() == Some("wrong");
                let command: Vec<String> = words.collect();
                let command = if command.is_empty() { vec!["run".to_string()] } else { command };
                found.push(Program { code: code.clone(), line: number + 2, is_wrong, command, text: String::new() });
                open = true;
            }
            (None, _) if line == "```" => open = false,
            (None, Some(program)) if open => program.text += &format!("{line}\n"),
            _ => {}
        }
    }
    found
}

#[test]
fn the_programs_of_the_index_do_what_it_says() {
    let index = index();
    let programs = programs(&index);
    assert!(programs.len() > 120, "{} programs", programs.len());
    for program in &programs {
        let Program { code, line, is_wrong, command, text } = program;
        let place = format!("docs/errors.md:{line}");
        let folder = folder(&[("program.vlad", text), ("more.vlad", "(define (more x) (+ x 1))\n")]);
        fs::write(folder.path().join("cycle.vlad"), "(include \"cycle\")\n").expect("files can be written");
        fs::write(folder.path().join("binary.vlad"), b"\xff\xfe").expect("files can be written");
        let promises = Promises::read(text);
        let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
        arguments.push("program.vlad");
        let (exit, output, messages) = vlad(&folder, &arguments, &promises.input);
        let marked = format!("[{code}]");
        if *is_wrong {
            assert!(messages.contains(&marked), "{place}: {messages}");
            assert!(exit == Some(1) || messages.contains(&format!("warning{marked}")), "{place}: {exit:?}");
            continue;
        }
        let broken = promises.broken(&Outcome { code: exit, output, messages: messages.clone() }, true);
        assert!(broken.is_empty(), "{place}: {broken:?}\n{messages}");
        assert_eq!(messages, "", "{place}");
    }
}

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
