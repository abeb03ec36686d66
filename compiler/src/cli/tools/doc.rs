//! `vlad doc`: comments of the standard library, or of programs → a reference, in Markdown.
//!
//! [`crate::expand::program::documentation`] says which comments describe what.

use crate::base::SourceMap;
use crate::base::diagnostic::limited;
use crate::cli::running::build;
use crate::cli::tools::fmt;
use crate::cli::{FAULT, SUCCESS, terminal};
use crate::expand::program::documentation;
use crate::expand::program::documentation::Part;
use crate::expand::{self};
use crate::syntax;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What `vlad doc` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    /// The programs [default: the standard library].
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The file to write instead of standard output.
    #[arg(short, long, value_name = "MARKDOWN")]
    output: Option<PathBuf>,
}

const LIBRARY: &str = "\
# The standard library

Every program can use these functions. [The language](language.md) describes the forms, and functions that are part of it;
[derivatives](derivatives.md) and [numerics](numerics.md) explain how to use the library. This page is made from the comments in
`stdlib/` by `vlad doc`.
";

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    let page = if arguments.files.is_empty() { Ok(library()) } else { programs(&arguments.files) };
    match (page, &arguments.output) {
        (Err(code), _) => code,
        (Ok(page), None) => terminal::print(&page),
        (Ok(page), Some(output)) => build::write_text(output, &page).map_or_else(|code| code, |()| SUCCESS),
    }
}

/// The reference of the standard library.
pub fn library() -> String {
    let mut page = LIBRARY.to_string();
    for file in expand::STDLIB {
        let id = SourceMap::new().add(file.name, "", true);
        let parts = documentation::read(file.text, &syntax::parse(id, file.text).0);
        if parts.iter().any(|part| matches!(part, Part::Entry(_))) {
            let _ = writeln!(page, "\n## {}", file.name.trim_end_matches(".vlad"));
            write_parts(&parts, &mut page);
        }
    }
    page
}

/// The reference of some programs; mistakes in them are reported.
fn programs(files: &[PathBuf]) -> Result<String, u8> {
    let mut page = String::new();
    for path in files {
        if !page.is_empty() {
            page.push('\n');
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let _ = writeln!(page, "# {}", escaped(&name));
        write_parts(&program(path)?, &mut page);
    }
    Ok(page)
}

fn program(path: &Path) -> Result<Vec<Part>, u8> {
    let text = fmt::text(path)?;
    let mut sources = SourceMap::new();
    let file = sources.add(path.display().to_string(), text.as_str(), false);
    let (datums, errors) = syntax::parse(file, &text);
    if errors.is_empty() {
        return Ok(documentation::read(&text, &datums));
    }
    terminal::report(&limited(errors), &sources);
    Err(FAULT)
}

fn write_parts(parts: &[Part], page: &mut String) {
    for part in parts {
        let text = match part {
            Part::Prose(text) => text,
            Part::Entry(entry) => {
                let calls: Vec<String> = entry.calls.iter().map(|call| format!("`{call}`")).collect();
                let _ = writeln!(page, "\n### {}", calls.join(", "));
                &entry.text
            }
        };
        if !text.is_empty() {
            let _ = writeln!(page, "\n{}", escaped(text));
        }
    }
}

/// The text with what has a meaning in Markdown taken literally, except for what is between backquotes, which is code.
fn escaped(text: &str) -> String {
    let mut result = String::new();
    for (index, piece) in text.split('`').enumerate() {
        if index > 0 {
            result.push('`');
        }
        for c in piece.chars() {
            if index % 2 == 0 && matches!(c, '*' | '_' | '<' | '>' | '[' | ']' | '#' | '\\') {
                result.push('\\');
            }
            result.push(c);
        }
    }
    result
}
