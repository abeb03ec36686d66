//! Mistakes in documents, found while the editor goes on asking.
//!
//! ```text
//! change ──▶ front end ──────────────────▶ messages
//! open, save ──▶ front end ──▶ compiler ──▶ messages, shapes
//! ```
//!
//! Two threads wait for documents: one for the front end, which takes milliseconds, and one for the whole compiler,
//! which may take long. Each looks at the newest text of a document only, and what it finds is published only if that
//! is still the text. So messages and what they offer as remedies always fit the document.

use super::document::{self, Document};
use super::library;
use crate::base::source::normal;
use crate::base::{Diagnostic, Severity, SourceMap, Span};
use crate::cli::{SMALL_STACK, explain, terminal};
use crate::pipeline::{Pipeline, Refusal, Settings};
use crate::projects::Access;
use lsp_server::{Message, Notification, Request};
use lsp_types as lsp;
use lsp_types::notification::{Notification as _, PublishDiagnostics};
use lsp_types::request::{InlayHintRefreshRequest, Request as _};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Longer programs are not analysed to show shapes.
const MAX_ANALYZED: usize = 400_000;

/// How much of the compiler looks for mistakes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// What finds names and forms.
    FrontEnd,
    /// Everything that `vlad check` does.
    Everything,
}

/// A document to look at.
#[derive(Clone)]
struct Job {
    uri: lsp::Uri,
    path: PathBuf,
    /// The open documents, with their files.
    texts: Arc<Vec<(PathBuf, String)>>,
    version: u64,
    depth: Depth,
}

/// A message, and the change that mends the mistake: its place, the new text, and what to call that.
#[derive(Clone)]
pub struct Found {
    /// The message.
    pub message: lsp::Diagnostic,
    /// The remedy.
    pub fix: Option<(lsp::Range, String, String)>,
}

/// Shapes of the definitions of a file, by the names and texts of these.
type Shapes = FxHashMap<(String, String), Vec<String>>;

/// What the threads and the server share.
#[derive(Default)]
struct Shared {
    include: Vec<PathBuf>,
    /// Whether the editor wants to know when there are new hints.
    refreshes: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The newest text of each document, by URI.
    versions: FxHashMap<String, u64>,
    published: FxHashMap<String, Vec<Found>>,
    shapes: FxHashMap<PathBuf, Shapes>,
    /// Sends to the editor, until it has said goodbye.
    send: Option<Box<dyn Fn(Message) + Send>>,
    requests: i32,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What looks for mistakes.
pub struct Checker {
    shared: Arc<Shared>,
    jobs: Sender<Job>,
    version: u64,
}

impl Checker {
    /// Starts the threads. Messages go where `send` says.
    pub fn new(include: Vec<PathBuf>, refreshes: bool, send: Box<dyn Fn(Message) + Send>) -> Checker {
        let state = Mutex::new(State { send: Some(send), ..State::default() });
        let shared = Arc::new(Shared { include, refreshes, state });
        let (jobs, waiting) = channel();
        let (deep, waiting_deep) = channel();
        let threads = [(Some(deep), waiting), (None, waiting_deep)];
        for (deeper, waiting) in threads {
            let shared = shared.clone();
            let thread = std::thread::Builder::new().stack_size(SMALL_STACK);
            // Without memory for a thread there are no messages, and all else works.
            let _ = thread.spawn(move || work(&shared, &waiting, deeper.as_ref()));
        }
        Checker { shared, jobs, version: 0 }
    }

    /// Looks at a document that has changed.
    pub fn check(&mut self, uri: lsp::Uri, path: PathBuf, texts: Vec<(PathBuf, String)>, depth: Depth) {
        self.version += 1;
        self.shared.state().versions.insert(uri.as_str().to_string(), self.version);
        let _ = self.jobs.send(Job { uri, path, texts: Arc::new(texts), version: self.version, depth });
    }

    /// Takes back what has been said about a document that is closed.
    pub fn forget(&self, uri: &lsp::Uri) {
        let mut state = self.shared.state();
        state.versions.remove(uri.as_str());
        state.published.remove(uri.as_str());
        publish(&state, uri, Vec::new());
    }

    /// What has been said about a document, if that is about its newest text.
    pub fn found(&self, uri: &lsp::Uri) -> Vec<Found> {
        self.shared.state().published.get(uri.as_str()).cloned().unwrap_or_default()
    }

    /// The shapes of a definition with that text, as far as they have been found out.
    pub fn shapes(&self, path: &Path, name: &str, text: &str) -> Vec<String> {
        let state = self.shared.state();
        let key = (name.to_string(), text.to_string());
        state.shapes.get(path).and_then(|shapes| shapes.get(&key)).cloned().unwrap_or_default()
    }

    /// The folders in which includes are looked up.
    pub fn include(&self) -> Vec<PathBuf> {
        self.shared.include.clone()
    }

    /// Says nothing any more.
    pub fn end(&self) {
        self.shared.state().send = None;
    }
}

fn publish(state: &State, uri: &lsp::Uri, messages: Vec<lsp::Diagnostic>) {
    let params = lsp::PublishDiagnosticsParams::new(uri.clone(), messages, None);
    if let Some(send) = &state.send {
        send(Message::Notification(Notification::new(PublishDiagnostics::METHOD.to_string(), params)));
    }
}

/// What a thread does: looks at documents, and hands on those that the next one is to look at.
fn work(shared: &Shared, waiting: &Receiver<Job>, deeper: Option<&Sender<Job>>) {
    if deeper.is_none() {
        // What the library says will be asked for soon.
        library::has("map");
    }
    while let Ok(first) = waiting.recv() {
        let mut jobs: Vec<Job> = vec![first];
        while let Ok(mut job) = waiting.try_recv() {
            if let Some(old) = jobs.iter().position(|old| old.uri == job.uri) {
                job.depth = job.depth.max(jobs.remove(old).depth);
            }
            jobs.push(job);
        }
        for job in jobs {
            let is_current = || shared.state().versions.get(job.uri.as_str()) == Some(&job.version);
            if !is_current() {
                continue;
            }
            let found = terminal::catch(|| look(shared, &job, deeper.is_some())).unwrap_or_default();
            if let (true, Depth::Everything, Some(deeper)) = (found.is_empty(), job.depth, deeper) {
                let _ = deeper.send(job);
                continue;
            }
            let mut state = shared.state();
            if state.versions.get(job.uri.as_str()) == Some(&job.version) {
                publish(&state, &job.uri, found.iter().map(|found| found.message.clone()).collect());
                state.published.insert(job.uri.as_str().to_string(), found);
            }
            if let (None, true, Some(send)) = (deeper, shared.refreshes, &state.send) {
                let (id, method) = (format!("hints {}", state.requests), InlayHintRefreshRequest::METHOD.to_string());
                send(Message::Request(Request::new(id.into(), method, ())));
                state.requests += 1;
            }
        }
    }
}

/// The messages about a document: those of the front end, or those of the compiler behind it.
fn look(shared: &Shared, job: &Job, is_front: bool) -> Vec<Found> {
    let Some((_, text)) = job.texts.iter().find(|(path, _)| *path == job.path) else { return Vec::new() };
    let program = (job.path.display().to_string(), text.clone());
    let (include, access) = (shared.include.clone(), Access::Look);
    let mut pipeline = Pipeline::new(Settings { include, access, ..Settings::default() });
    pipeline.sources = SourceMap::showing(job.texts.iter().cloned());
    let found = match pipeline.expand_parts(std::slice::from_ref(&program)) {
        Err(diagnostics) => diagnostics,
        Ok(_) if is_front => Vec::new(),
        Ok(mut core) => {
            let mistakes = pipeline.never_succeeding(&core);
            let found = match pipeline.first_order(&core) {
                _ if !mistakes.is_empty() => mistakes,
                Ok(_) => Vec::new(),
                Err(Refusal::Mistake(diagnostics)) => diagnostics,
                Err(Refusal::Unsupported(diagnostic)) => vec![*diagnostic],
            };
            if text.len() <= MAX_ANALYZED {
                let rows = explain::shapes(&mut pipeline, &mut core, &program.0);
                shared.state().shapes.insert(job.path.clone(), keyed(rows, text));
            }
            found
        }
    };
    let document = Document::new(program.1);
    found.iter().map(|found| message(found, &pipeline.sources, &job.uri, &program.0, &document)).collect()
}

/// Shapes by the definitions that they are of, which are known by what is written there.
fn keyed(rows: Vec<(Span, Vec<String>)>, text: &str) -> Shapes {
    let document = Document::new(text.to_string());
    let mut shapes = Shapes::default();
    for (span, mut found) in rows {
        let is_it = |place: Span| (place.start, place.end) == (span.start, span.end);
        let definitions = &document.bindings().definitions;
        let Some(definition) = definitions.iter().find(|row| is_it(row.span) || is_it(row.name_span)) else { continue };
        let key = (definition.name.to_string(), document.covered(definition.span).to_string());
        found.retain(|shape| !shape.is_empty());
        shapes.entry(key).or_default().extend(found);
    }
    shapes
}

/// A message as the protocol has it. One about another file names it, and stands at a place in the document that the
/// message is about as well, or else at the start.
fn message(found: &Diagnostic, sources: &SourceMap, uri: &lsp::Uri, name: &str, document: &Document) -> Found {
    let is_here = |span: &Span| sources.file(span.file).name == *name;
    let mut words = found.message.clone();
    for more in found.notes.iter().chain(&found.help) {
        words.push('\n');
        words.push_str(more);
    }
    let mut here = found.primary.iter().chain(&found.secondary).map(|label| label.span).filter(is_here);
    let range = here.next().map_or_else(lsp::Range::default, |span| document.range(span));
    if let Some(label) = found.primary.as_ref().filter(|label| !is_here(&label.span)) {
        words = format!("{}: {words}", sources.place(label.span));
    }
    let related = |label: &crate::base::Label| {
        let file = sources.file(label.span.file);
        let location = match is_here(&label.span) {
            true => lsp::Location::new(uri.clone(), document.range(label.span)),
            false if file.is_library => return None,
            false => {
                let other = Document::new(file.text.clone());
                let path = normal(&sources.real(Path::new(&file.name)));
                lsp::Location::new(document::uri(&path)?, other.range(label.span))
            }
        };
        Some(lsp::DiagnosticRelatedInformation { location, message: label.text.clone() })
    };
    let fix = found.fix.as_ref().filter(|fix| is_here(&fix.span));
    let fix = fix.map(|fix| (document.range(fix.span), fix.text.clone(), fix.title(document.covered(fix.span))));
    let message = lsp::Diagnostic {
        range,
        severity: Some(match found.severity {
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        }),
        code: Some(lsp::NumberOrString::String(found.code.to_string())),
        source: Some("vlad".to_string()),
        message: words,
        related_information: Some(found.secondary.iter().filter_map(related).collect()),
        ..lsp::Diagnostic::default()
    };
    Found { message, fix }
}
