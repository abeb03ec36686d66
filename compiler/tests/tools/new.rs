//! `vlad new`: the folder that it makes works, and nothing is overwritten.

use crate::{folder, text, vlad};
use std::fs;

#[test]
fn a_new_folder_runs_tests_and_is_formatted() {
    let folder = folder(&[]);
    let (code, out, err) = vlad(&folder, &["new", "pendulum"], "");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.contains("made pendulum"), "{out}");
    let inside = folder.path().join("pendulum");
    let mut names: Vec<String> = fs::read_dir(&inside)
        .expect("it was made")
        .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, [".gitignore", "README.md", "line.vlad", "main.vlad", "test.vlad", "vlad.toml"]);
    assert_eq!(fs::read_dir(&folder).expect("it exists").count(), 1, "nothing else is left");
    assert!(text(&inside.join("README.md")).starts_with("# pendulum\n"));
    let files = ["pendulum/main.vlad", "pendulum/line.vlad", "pendulum/test.vlad"];
    for command in [&["test"][..], &["fmt", "--check"]] {
        let (code, out, err) = vlad(&folder, &[command, &files].concat(), "");
        assert_eq!(code, Some(0), "{command:?}: {out}{err}");
    }
}

/// The commands of the new README are the commands that work there.
#[test]
fn its_readme_says_the_truth() {
    let folder = folder(&[]);
    vlad(&folder, &["new", "pendulum"], "");
    let inside = folder.path().join("pendulum");
    let readme = text(&inside.join("README.md"));
    let commands = readme.split("```").nth(1).expect("it shows commands");
    for line in commands.lines().filter(|line| line.starts_with("vlad ")) {
        let printed = crate::common::pages::shell(&inside, &[], line);
        assert!(!printed.contains("[exit code"), "{line}: {printed}");
    }
    assert!(inside.join("main").exists(), "the build left an executable");
    assert!(text(&inside.join(".gitignore")).contains("/main\n"));
}

#[test]
fn nothing_is_overwritten() {
    let folder = folder(&[("pendulum/mine", "precious"), ("file", "precious")]);
    for name in ["pendulum", "file", "..", "pendulum/../pendulum"] {
        let (code, _, err) = vlad(&folder, &["new", name], "");
        assert_eq!(code, Some(2), "{name}: {err}");
    }
    assert_eq!(fs::read_dir(folder.path().join("pendulum")).expect("it exists").count(), 1);
    insta::assert_snapshot!(vlad(&folder, &["new", "pendulum"], "").2);
    let (code, _, err) = vlad(&folder, &["new", "no/such/folder"], "");
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(err);
}
