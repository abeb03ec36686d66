//! `vlad completions` and `vlad man`: they know every subcommand, and shells accept what they get.

use crate::{folder, text, vlad};
use std::process::Command;

/// The names of all subcommands, from the help.
fn subcommands() -> Vec<String> {
    let (_, help, _) = vlad(&folder(&[]), &["--help"], "");
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<String> = names.filter_map(|line| line.split_whitespace().next()).map(str::to_string).collect();
    assert!(names.len() > 12, "{names:?}");
    names
}

#[test]
fn completions_know_all_subcommands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, script, err) = vlad(&folder(&[]), &["completions", shell], "");
        assert_eq!((code, err.as_str()), (Some(0), ""));
        for name in subcommands() {
            assert!(script.contains(&name), "{shell}: {name}");
        }
    }
    assert_eq!(vlad(&folder(&[]), &["completions", "tcsh"], "").0, Some(2));
}

/// Where bash is installed, as almost everywhere, it completes with the script.
#[test]
fn bash_completes() {
    let folder = folder(&[]);
    let (_, script, _) = vlad(&folder, &["completions", "bash"], "");
    let ask = "COMP_WORDS=(vlad em); COMP_CWORD=1; COMPREPLY=(); _vlad vlad em vlad; echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &format!("{script}\n{ask}")]);
    if Command::new("bash").arg("--version").output().is_err() {
        return;
    }
    assert_eq!(crate::run(bash, ""), (Some(0), "emit\n".to_string(), String::new()));
}

#[test]
fn there_is_a_page_for_each_subcommand() {
    let folder = folder(&[("file", "")]);
    assert_eq!(vlad(&folder, &["man", "--out", "share/man1"], ""), (Some(0), String::new(), String::new()));
    let pages = folder.path().join("share/man1");
    let main = text(&pages.join("vlad.1"));
    for name in subcommands().iter().filter(|name| *name != "help") {
        let page = text(&pages.join(format!("vlad-{name}.1")));
        assert!(page.contains(&format!(".TH vlad-{name} 1")), "{page}");
        assert!(main.contains(&format!("vlad\\-{name}(1)")), "{name}");
    }
    let (code, _, err) = vlad(&folder, &["man", "--out", "file/pages"], "");
    assert_eq!(code, Some(1));
    insta::assert_snapshot!(err);
}
