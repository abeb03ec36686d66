//! The commands that the documentation shows do what it shows.
//!
//! In a block fenced with `console`, a line `$ command` is a command, and what follows is what it prints, standard error
//! included; a line `[exit code 1]` behind it is its exit code, if that is not 0. All commands of a file run in order, by
//! `sh`, in one new folder. A block fenced with `vlad FILE` is a file that stands there.

use crate::folder;
use std::path::Path;
use std::process::Command;

#[test]
fn the_tools_do_what_the_documentation_says() {
    commands_do_what_is_said("docs/tools.md");
}

#[test]
fn programs_do_what_the_documentation_says() {
    commands_do_what_is_said("docs/programs.md");
}

/// Runs the commands of a page.
fn commands_do_what_is_said(page: &str) {
    let document = crate::text(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page));
    let folder = folder(&[]);
    let mut lines = document.lines().enumerate();
    let mut commands = 0;
    while let Some((number, line)) = lines.next() {
        let Some(fence) = line.strip_prefix("```").filter(|fence| !fence.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let text: String = block.iter().flat_map(|line| [line, "\n"]).collect();
        if let Some(file) = fence.strip_prefix("vlad ") {
            std::fs::write(folder.path().join(file), &text).expect("files can be written");
        } else if fence == "console" {
            for step in text.split("$ ").skip(1) {
                let (command, expected) = step.split_once('\n').expect("a command ends its line");
                commands += 1;
                assert_eq!(shell(folder.path(), command), expected, "{page}:{}: {command}", number + 1);
            }
        }
    }
    assert!(commands > 0);
}

/// What a command prints; its exit code if that is not 0.
pub fn shell(folder: &Path, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_vlad"));
    let path = std::env::var("PATH").expect("there is a path");
    let path = format!("{}:{path}", program.parent().expect("it stands in a folder").display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1; {command}")]).current_dir(folder);
    shell.env("PATH", path).env("NO_COLOR", "1").env("HOME", folder).env_remove("CC");
    let (code, mut printed, _) = crate::run(shell, "");
    if code != Some(0) {
        printed += &format!("[exit code {}]\n", code.unwrap_or(-1));
    }
    printed
}

/// Pages that nobody can reach, and links that lead nowhere.
#[test]
fn the_book_has_every_page_and_links_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let summary = crate::text(&root.join("docs/SUMMARY.md"));
    let mut complaints = Vec::new();
    let mut pages = vec!["README.md".to_string(), "ARCHITECTURE.md".to_string(), "CONTRIBUTING.md".to_string()];
    for entry in std::fs::read_dir(root.join("docs")).expect("there is documentation") {
        let name = entry.expect("a folder can be listed").file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            if name != "SUMMARY.md" && !summary.contains(&format!("({name})")) {
                complaints.push(format!("docs/SUMMARY.md does not name {name}"));
            }
            pages.push(format!("docs/{name}"));
        }
    }
    for page in pages {
        let path = root.join(&page);
        let text = crate::text(&path);
        let folder = path.parent().expect("a page stands in a folder");
        let mut in_code = false;
        for line in text.lines() {
            in_code ^= line.starts_with("```");
            for link in line.split("](").skip(1).filter(|_| !in_code) {
                let target = link.split(')').next().unwrap_or_default();
                let file = target.split('#').next().unwrap_or_default();
                if !target.contains("://") && !file.is_empty() && !folder.join(file).exists() {
                    complaints.push(format!("{page}: there is no {target}"));
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
