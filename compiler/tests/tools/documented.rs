//! The commands that the documentation shows do what it shows.
//!
//! [`commands_do_what_is_said`] says how. Commands that pages mention without their output have to be understood, at
//! least.

use crate::common::pages::commands_do_what_is_said;
use crate::folder;
use std::path::Path;

#[test]
fn the_tools_do_what_the_documentation_says() {
    commands_do_what_is_said("docs/tools.md", &[]);
}

#[test]
fn programs_do_what_the_documentation_says() {
    commands_do_what_is_said("docs/programs.md", &[]);
}

#[test]
fn projects_do_what_the_documentation_says() {
    commands_do_what_is_said("docs/projects.md", &[]);
}

#[test]
fn long_loops_do_what_the_documentation_says() {
    commands_do_what_is_said("docs/checkpointing.md", &[]);
}

#[test]
fn arrays_do_what_the_documentation_says() {
    commands_do_what_is_said("docs/language.md", &[]);
}

#[test]
fn sums_do_what_the_documentation_says() {
    commands_do_what_is_said("docs/numerics.md", &[]);
}

#[test]
fn programs_for_the_original_do_what_the_documentation_says() {
    commands_do_what_is_said("docs/stalingrad.md", &[]);
}

/// What stands for something in the commands of a page, and what might stand there.
const PLACEHOLDERS: &[(&str, &str)] = &[("STAGE", "opt"), ("SHELL", "bash"), ("SECONDS", "1")];

/// Options that pages mention without their value.
const WITHOUT_VALUE: &[&str] = &["--lib", "--derivative"];

/// The commands that a page mentions: those in its blocks for a shell, and those between backquotes. Only the words for
/// `vlad`.
fn mentioned(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut fence = None;
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("```") {
            fence = if fence.is_none() { Some(name) } else { None };
            continue;
        }
        let mut add = |command: &str| {
            let command = command.split(['|', '<', '>', ';', '&', '#']).next().unwrap_or_default();
            found.push(command.split_whitespace().take_while(|word| *word != "--").map(str::to_string).collect());
        };
        let command = line.strip_prefix("$ ").unwrap_or(line);
        match fence {
            None => line.split("`vlad ").skip(1).filter_map(|rest| rest.split('`').next()).for_each(add),
            Some(name) if name == "sh" || name.starts_with("console") => {
                let of_cargo = command.split_once("cargo run --release -p vlad -- ").map(|(_, rest)| rest);
                let own = command
                    .split_once("vlad ")
                    .filter(|(before, _)| before.is_empty() || before.ends_with(' ') && !before.ends_with("-p "));
                of_cargo.or(own.map(|(_, rest)| rest)).into_iter().for_each(&mut add);
            }
            Some(_) => {}
        }
    }
    found
}

/// A page that says how to call `vlad` in a way that there is not wastes time and trust.
#[test]
fn every_command_that_pages_mention_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages: Vec<_> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "editors/README.md"].map(|page| root.join(page)).into();
    let docs = std::fs::read_dir(root.join("docs")).expect("there is documentation");
    pages.extend(docs.map(|entry| entry.expect("a folder can be listed").path()));
    let (mut complaints, mut count) = (Vec::new(), 0);
    for page in pages {
        for words in mentioned(&crate::text(&page)) {
            let kind = words.first().map_or("", String::as_str);
            // These are fences, and a shell's way to write arguments.
            if matches!(kind, "wrong" | "right") || words.iter().any(|word| word.contains(['\'', '$'])) {
                continue;
            }
            let replaced = words
                .iter()
                .map(|word| PLACEHOLDERS.iter().find(|row| row.0 == word).map_or(word.as_str(), |row| row.1));
            let mut arguments: Vec<&str> = replaced.collect();
            if arguments.last().is_some_and(|last| WITHOUT_VALUE.contains(last)) {
                arguments.push("static");
            }
            // Help is shown where all in front of it is understood, and nothing is done.
            arguments.push("--help");
            let (code, _, messages) = crate::vlad(&folder(&[]), &arguments, "");
            count += 1;
            if code != Some(0) {
                complaints.push(format!("{}: vlad {}: {messages}", page.display(), words.join(" ")));
            }
        }
    }
    assert!(count > 150, "{count} commands");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
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
