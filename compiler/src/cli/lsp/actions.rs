//! What editors offer to do: mend mistakes, run programs, show derivatives; and hints between the lines.
//!
//! | command | arguments | answer |
//! |---|---|---|
//! | `vlad.showDerivative` | URI, name of a function | its derivative, as `vlad explain --derivative` writes it |
//! | `vlad.run` | URI | what the program prints, and its messages; the file is run as it is saved |
//!
//! The answers are texts, which the editor shows as it likes. Commands may take long, so each has a thread.

use super::document;
use super::server::Server;
use crate::base::SourceMap;
use crate::cli::{SMALL_STACK, terminal};
use crate::notation;
use crate::pipeline::{Pipeline, Settings};
use crate::projects::Access;
use lsp_server::{ErrorCode, RequestId, Response};
use lsp_types as lsp;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The commands.
pub const SHOW_DERIVATIVE: &str = "vlad.showDerivative";
/// Runs a program.
pub const RUN: &str = "vlad.run";

/// A program that runs for longer is stopped.
const MAX_TIME: Duration = Duration::from_secs(20);

/// So much of what a program prints is read.
const MAX_OUTPUT: u64 = 1 << 20;

/// Longer hints are cut.
const MAX_HINT: usize = 40;

impl Server {
    /// The remedies for the mistakes in a range.
    pub fn code_actions(&mut self, params: &lsp::CodeActionParams) -> lsp::CodeActionResponse {
        let uri = &params.text_document.uri;
        let wanted = params.context.only.as_ref().is_none_or(|kinds| kinds.contains(&lsp::CodeActionKind::QUICKFIX));
        let touched = |range: &lsp::Range| range.start <= params.range.end && params.range.start <= range.end;
        let mut actions = Vec::new();
        for found in self.checker.found(uri) {
            let Some((range, text, title)) = found.fix.filter(|_| wanted && touched(&found.message.range)) else {
                continue;
            };
            let edit = lsp::TextEdit::new(range, text);
            actions.push(lsp::CodeActionOrCommand::CodeAction(lsp::CodeAction {
                title,
                kind: Some(lsp::CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![found.message]),
                edit: Some(lsp::WorkspaceEdit::new(HashMap::from([(uri.clone(), vec![edit])]))),
                is_preferred: Some(true),
                ..lsp::CodeAction::default()
            }));
        }
        actions
    }

    /// What can be done with a program, and with each of its functions.
    pub fn lenses(&mut self, params: &lsp::CodeLensParams) -> Option<Vec<lsp::CodeLens>> {
        let uri = &params.text_document.uri;
        let (_, document) = self.document(uri)?;
        let lens = |span, title: &str, command: &str, arguments: Vec<Json>| {
            let command = lsp::Command::new(title.to_string(), command.to_string(), Some(arguments));
            lsp::CodeLens { range: document.range(span), command: Some(command), data: None }
        };
        let bindings = document.bindings();
        let first = bindings.expressions.iter().take(1);
        let mut lenses: Vec<lsp::CodeLens> =
            first.map(|span| lens(*span, "run", RUN, vec![json!(uri.as_str())])).collect();
        let functions =
            bindings.definitions.iter().filter(|found| found.header.starts_with('(') && !found.is_of_records);
        for found in functions {
            let arguments = vec![json!(uri.as_str()), json!(&*found.name)];
            lenses.push(lens(found.name_span, "show derivative", SHOW_DERIVATIVE, arguments));
        }
        Some(lenses)
    }

    /// Carries out a command in a thread, which hands its answer to `reply`.
    pub fn execute(
        &self,
        id: RequestId,
        params: lsp::ExecuteCommandParams,
        reply: impl FnOnce(Response) + Send + 'static,
    ) {
        let argument = |position: usize| params.arguments.get(position).and_then(Json::as_str).map(str::to_string);
        let wrong = |id, text: String| Response::new_err(id, ErrorCode::InvalidParams as i32, text);
        let Some(uri) = argument(0).and_then(|uri| uri.parse::<lsp::Uri>().ok()) else {
            return reply(wrong(id, "the first argument is the URI of a program".to_string()));
        };
        let path = document::file(&uri);
        let include = self.checker.include();
        let work: Box<dyn FnOnce() -> Result<String, String> + Send> = match (&*params.command, argument(1)) {
            (SHOW_DERIVATIVE, Some(name)) => {
                let shown = self.workspace.all_shown();
                let texts = shown.map(|(path, _, document)| (path.clone(), document.text().to_string())).collect();
                Box::new(move || derivative(include, &path, texts, name))
            }
            (SHOW_DERIVATIVE, None) => {
                return reply(wrong(id, "the second argument is the name of a function".to_string()));
            }
            (RUN, _) => Box::new(move || run(&include, &path)),
            (other, _) => return reply(wrong(id, format!("there is no command `{other}`"))),
        };
        let thread = std::thread::Builder::new().stack_size(SMALL_STACK);
        // Without memory for a thread there is no answer, and the editor goes on.
        let _ = thread.spawn(move || {
            let done = terminal::catch(work).unwrap_or_else(|panic| Err(format!("mistake in the compiler: {panic}")));
            reply(match done {
                Ok(text) => Response::new_ok(id, text),
                Err(text) => Response::new_err(id, ErrorCode::RequestFailed as i32, text),
            });
        });
    }

    /// The shapes of definitions at top level, where they are known.
    pub fn hints(&mut self, params: &lsp::InlayHintParams) -> Option<Vec<lsp::InlayHint>> {
        let (path, document) = self.document(&params.text_document.uri)?;
        let (start, end) = (document.byte(params.range.start), document.byte(params.range.end));
        let bindings = document.bindings();
        let mut hints = Vec::new();
        for found in bindings.definitions.iter().filter(|found| !found.is_of_records) {
            if (found.span.end as usize) < start || end < found.span.start as usize {
                continue;
            }
            let shapes = self.checker.shapes(&path, &found.name, document.covered(found.span));
            let Some(first) = shapes.first() else { continue };
            let more = if shapes.len() > 1 { format!(" and {} more", shapes.len() - 1) } else { String::new() };
            hints.push(lsp::InlayHint {
                position: document.position(found.header_span.end as usize),
                label: lsp::InlayHintLabel::String(format!(": {}{more}", shortened(first))),
                kind: Some(lsp::InlayHintKind::TYPE),
                text_edits: None,
                tooltip: Some(lsp::InlayHintTooltip::String(shapes.join("\n"))),
                padding_left: Some(true),
                padding_right: None,
                data: None,
            });
        }
        Some(hints)
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_HINT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// The derivative of a function of a program, written out.
fn derivative(
    include: Vec<PathBuf>,
    path: &Path,
    texts: Vec<(PathBuf, String)>,
    name: String,
) -> Result<String, String> {
    let mut pipeline =
        Pipeline::new(Settings { include, as_written: true, access: Access::Look, ..Settings::default() });
    pipeline.sources = SourceMap::showing(texts.clone());
    let shown = texts.into_iter().find(|row| row.0 == *path).map(|row| row.1);
    let core = match shown {
        Some(text) => pipeline.expand_parts(&[(path.display().to_string(), text)]),
        None => pipeline.expand(path),
    };
    let derivatives = core.and_then(|mut core| notation::explain(&mut core, &pipeline.sources, &[name]));
    derivatives.map(|derivatives| notation::text(&derivatives)).map_err(|diagnostics| {
        diagnostics.iter().map(|diagnostic| diagnostic.render(&pipeline.sources, false)).collect::<String>()
    })
}

/// What a program prints, and its messages.
fn run(include: &[PathBuf], path: &Path) -> Result<String, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|error| error.to_string())?);
    command.args(["run", "--color", "never"]).arg(path).stdin(Stdio::null());
    for folder in include {
        command.arg("-I").arg(folder);
    }
    path.parent().map(|folder| command.current_dir(folder));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let read = |stream: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What cannot be read is as good as not printed.
            let _ = stream.map(|stream| stream.take(MAX_OUTPUT).read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let output = read(child.stdout.take().map(|stream| Box::new(stream) as _));
    let messages = read(child.stderr.take().map(|stream| Box::new(stream) as _));
    let start = Instant::now();
    let ended = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(_) => break true,
            None if start.elapsed() > MAX_TIME => break false,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    if !ended {
        child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
    }
    let stopped = if ended { String::new() } else { format!("stopped after {} s\n", MAX_TIME.as_secs()) };
    let text = |thread: std::thread::JoinHandle<String>| thread.join().unwrap_or_default();
    Ok(format!("{}{}{stopped}", text(output), text(messages)))
}
