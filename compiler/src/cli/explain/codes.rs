//! `vlad explain V0305`: what the index of errors says about a code.
//!
//! The index is a page of the documentation, which the compiler carries; its programs run as tests.

use super::super::{FAULT, terminal};
use crate::base::Diagnostic;

/// The page.
pub const INDEX: &str = include_str!("../../../../docs/errors.md");

/// Whether a word on the command line is a code and not the name of a file.
pub fn is_code(word: &str) -> bool {
    word.strip_prefix(['V', 'v']).is_some_and(|digits| digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Prints what there is to say about a code; the exit code.
pub fn explain(code: &str) -> u8 {
    let code = code.to_uppercase();
    let Some(text) = section(&code) else {
        let message = format!("there is no code {code}");
        let help = "a code is what stands in the brackets of a message, such as V0201";
        terminal::report_plain(&Diagnostic::error_without_place("V0842", message).help(help));
        return FAULT;
    };
    terminal::print(&text)
}

/// The section about a code, for a terminal: programs are indented instead of fenced.
fn section(code: &str) -> Option<String> {
    let mut sections = INDEX.split("\n## ").skip(1);
    let section = sections.find(|section| section.starts_with(&format!("{code}: ")))?;
    let (mut text, mut is_program) = (String::new(), false);
    for line in section.trim_end().lines() {
        match line.strip_prefix("```") {
            Some("") => is_program = false,
            Some(fence) => {
                let words: Vec<&str> = fence.split(' ').collect();
                let kind = if words.get(1) == Some(&"wrong") { "Wrong" } else { "Right" };
                text += &match (words[0], &words[2.min(words.len())..]) {
                    ("console", _) => format!("{kind}, by commands:\n\n"),
                    (_, []) => format!("{kind}:\n\n"),
                    (_, how) => format!("{kind}, as `vlad {}` says:\n\n", how.join(" ")),
                };
                is_program = true;
            }
            None if is_program => text += &format!("    {line}\n"),
            None => text += &format!("{line}\n"),
        }
    }
    Some(text)
}
