//! Inputs from a terminal: line editing, history, completion of names.
//!
//! The history is kept in the user's folder for such things (`$XDG_STATE_HOME`, or `~/.local/state`), in
//! `vlad/history`.

use super::{Session, handle};
use crate::base::Diagnostic;
use crate::cli::{SUCCESS, USAGE, terminal};
use crate::expand;
use crate::syntax;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};
use signal_hook::consts::SIGINT;
use std::path::PathBuf;

/// What the editor knows: the names that can be completed.
struct Names(Vec<String>);

impl Validator for Names {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let incomplete = syntax::is_incomplete(context.input());
        Ok(if incomplete { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let ends_a_name = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | '\'' | '"' | ';' | '`');
        let start = line[..at].rfind(ends_a_name).map_or(0, |place| place + 1);
        let begun = &line[start..at];
        Ok((start, self.0.iter().filter(|name| name.starts_with(begun)).cloned().collect()))
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}

impl Helper for Names {}

/// While a line is edited, Ctrl-C is a key. While something is evaluated, it stops that; if that does not stop, the
/// second time ends the process. Without the handlers, the first time does.
pub fn handle_interruptions(session: &Session) {
    let flag = &session.interrupted;
    let _ = signal_hook::flag::register_conditional_shutdown(SIGINT, 130, flag.clone());
    let _ = signal_hook::flag::register(SIGINT, flag.clone());
}

/// Handles inputs until there are no more.
pub fn run(session: &mut Session) -> u8 {
    let mut editor: Editor<Names, DefaultHistory> = match Editor::new() {
        Ok(editor) => editor,
        Err(error) => return failed(&error),
    };
    let history = history();
    if let Some(history) = &history {
        // The first time, there is none.
        let _ = editor.load_history(history);
    }
    println!("vlad {}. `:help` shows what there is to do, `:quit` or Ctrl-D ends.", env!("CARGO_PKG_VERSION"));
    let code = loop {
        editor.set_helper(Some(Names(names(session))));
        match editor.readline("> ") {
            Ok(input) => {
                let _ = editor.add_history_entry(input.as_str());
                if !handle(session, &input) {
                    break SUCCESS;
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break SUCCESS,
            Err(error) => break failed(&error),
        }
    };
    if let Some(history) = &history {
        let _ = history.parent().map(std::fs::create_dir_all);
        // A history that cannot be kept is no reason to complain at the end.
        let _ = editor.save_history(history);
    }
    code
}

fn failed(error: &ReadlineError) -> u8 {
    let message = format!("cannot read `-`: {error}");
    terminal::report_plain(&Diagnostic::error_without_place("V0807", message));
    USAGE
}

/// All names that mean something, sorted.
pub fn names(session: &Session) -> Vec<String> {
    let mut names: Vec<String> = expand::names().map(str::to_string).collect();
    names.extend(session.names().iter().map(|name| name.to_string()));
    names.extend([":load", ":emit", ":derivative", ":help", ":quit"].map(str::to_string));
    names.sort();
    names.dedup();
    names
}

/// The file that keeps the history.
fn history() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_STATE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")))?;
    Some(folder.join("vlad/history"))
}
