//! What evaluates the cells of a notebook, for the kernel that has started it.
//!
//! The kernel writes a request into one line of standard input, an object of JSON, and reads the answer behind a mark
//! on standard output, on a line of its own. What a cell prints stands in front of the mark, its messages on standard
//! error in front of the same mark there.
//!
//! ~~~text
//! {"execute": "(* 6 7)"}        42⏎ MARK {"status":"ok","has_value":true,"files":[]}⏎
//! {"complete": "deriv"}         MARK {"names":["derivative","derivative-F","derivative-R"]}⏎
//! {"inspect": "hypot"}          MARK {"text":"(hypot x y)\n..."}⏎, or null instead of the text
//! {"is_complete": "(f"}         MARK {"status":"incomplete"}⏎
//! ~~~
//!
//! An interruption (SIGINT) stops what is evaluated, and nothing else.

use crate::base::{Diagnostic, SourceMap};
use crate::cli::lsp::library;
use crate::cli::repl::{editor, handle, session::Session};
use crate::cli::running::eval;
use crate::cli::{SUCCESS, USAGE, terminal};
use crate::expand::Dialect;
use crate::expand::program::documentation::Entry;
use crate::syntax;
use serde_json::{Value as Json, json};
use signal_hook::consts::SIGINT;
use std::io::{self, BufRead, Write};

/// What is written behind the output of a cell.
const MARK: &str = "\u{2}vlad\u{3}";

/// Answers requests until there are no more.
pub fn run() -> u8 {
    let mut session = Session::new(Vec::new(), Dialect::default());
    // Without the handler, an interruption ends the session.
    let _ = signal_hook::flag::register(SIGINT, session.interrupted.clone());
    for line in io::stdin().lock().lines() {
        let request = line.map_err(|error| error.to_string());
        let request = request.and_then(|line| serde_json::from_str(&line).map_err(|error| error.to_string()));
        let answer = match request {
            Ok(request) => answer(&mut session, &request),
            Err(error) => {
                let message = format!("cannot read `-`: {error}");
                terminal::report_plain(&Diagnostic::error_without_place("V0807", message));
                return USAGE;
            }
        };
        eprint!("{MARK}");
        let code = terminal::print(&format!("{MARK}{answer}\n"));
        if code != SUCCESS {
            return code;
        }
    }
    SUCCESS
}

fn answer(session: &mut Session, request: &Json) -> Json {
    let text = |what: &str| request.get(what).and_then(Json::as_str);
    if let Some(cell) = text("execute") {
        eval::take_files();
        session.failed = false;
        session.has_value = false;
        // `:quit` has nothing to end.
        handle(session, cell);
        let _ = io::stdout().flush();
        let status = if session.failed { "error" } else { "ok" };
        return json!({ "status": status, "has_value": session.has_value, "files": eval::take_files() });
    }
    if let Some(begun) = text("complete") {
        let names = editor::names(session).into_iter().filter(|name| name.starts_with(begun));
        return json!({ "names": names.collect::<Vec<_>>() });
    }
    if let Some(name) = text("inspect") {
        let described = session.describe(name).or_else(|| library::entry(name).cloned());
        return json!({ "text": described.map(|entry| shown(&entry)) });
    }
    if let Some(cell) = text("is_complete") {
        return json!({ "status": completeness(cell) });
    }
    json!({})
}

/// Whether a cell can be evaluated, in Jupyter's words. A command of the session can.
fn completeness(cell: &str) -> &'static str {
    let file = SourceMap::new().add("", "", false);
    if syntax::is_incomplete(cell) {
        "incomplete"
    } else if cell.trim_start().starts_with(':') || syntax::parse(file, cell).1.is_empty() {
        "complete"
    } else {
        "invalid"
    }
}

/// What is said about a definition.
fn shown(Entry { calls, text, .. }: &Entry) -> String {
    let heading = calls.join("\n");
    if text.is_empty() { heading } else { format!("{heading}\n\n{text}") }
}
