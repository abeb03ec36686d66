//! `vlad fmt`: lay programs out as is usual. Files are rewritten, or compared, or standard input goes to standard
//! output.

use crate::base::diagnostic::limited;
use crate::base::{Diagnostic, SourceMap};
use crate::cli::running::build;
use crate::cli::{FAULT, SUCCESS, USAGE, terminal};
use crate::codegen;
use crate::expand;
use crate::syntax::format;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What `vlad fmt` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    /// The programs; `-` is standard input, which is written to standard output.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Change nothing, print the names of the files that are not formatted; exit code 1 if there are any.
    #[arg(long)]
    check: bool,
}

/// Runs the subcommand. A file with a mistake stays as it is, and the others are formatted.
pub fn run(arguments: &Arguments) -> u8 {
    arguments.files.iter().map(|file| format_file(file, arguments.check)).max().unwrap_or(SUCCESS)
}

fn format_file(path: &Path, check: bool) -> u8 {
    match formatted(path) {
        Err(code) => code,
        Ok((before, after)) if check && before != after => match terminal::print(&format!("{}\n", path.display())) {
            SUCCESS => FAULT,
            code => code,
        },
        Ok(_) if check => SUCCESS,
        Ok((_, after)) if is_stdin(path) => terminal::print(&after),
        Ok((before, after)) if before == after => SUCCESS,
        Ok((_, after)) => rewrite(path, &after),
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A file's text before and after; mistakes are reported.
fn formatted(path: &Path) -> Result<(String, String), u8> {
    let text = text(path)?;
    let mut sources = SourceMap::new();
    let name = shown(path);
    let file = sources.add(name, text.as_str(), false);
    match format::format(file, &text) {
        Ok(after) => Ok((text, after)),
        Err(errors) => {
            terminal::report(&limited(errors), &sources);
            Err(FAULT)
        }
    }
}

/// The text of a file or of standard input; failures are reported.
pub fn text(path: &Path) -> Result<String, u8> {
    let bytes = if is_stdin(path) {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        build::demand_file(path)?;
        fs::read(path)
    };
    let bytes = bytes.map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        terminal::report_plain(&Diagnostic::error_without_place("V0807", message));
        USAGE
    })?;
    let mut sources = SourceMap::new();
    expand::text_of(bytes, &shown(path), None, &mut sources).map_err(|error| {
        terminal::report([&error.to_diagnostic()], &sources);
        FAULT
    })
}

/// What messages call a file.
fn shown(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_string() } else { path.display().to_string() }
}

/// Replaces a file's text at once. The file that a link leads to is replaced, and keeps its permissions.
fn rewrite(path: &Path, text: &str) -> u8 {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let written = codegen::link::replace(&target, |unfinished| {
        let permissions = fs::metadata(&target).map(|metadata| metadata.permissions());
        fs::write(unfinished, text)
            .and_then(|()| fs::set_permissions(unfinished, permissions?))
            .map_err(|cause| codegen::Error::Write { path: path.to_path_buf(), cause })
    });
    match written {
        Ok(()) => SUCCESS,
        Err(error) => {
            terminal::report_plain(&error.to_diagnostic());
            FAULT
        }
    }
}
