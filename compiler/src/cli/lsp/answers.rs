//! Answers to what editors ask about open documents.

use super::Depth;
use super::document::{self, Document};
use crate::base::{Diagnostic, Severity, SourceMap, Span};
use crate::cli::explain;
use crate::expand::program::documentation;
use crate::expand::program::documentation::Entry;
use crate::expand::program::outline;
use crate::expand::program::outline::{Named, Outline};
use crate::expand::{self};
use crate::pipeline::{Pipeline, Refusal, Settings};
use crate::syntax::{self, format};
use lsp_types as lsp;
use lsp_types::Uri;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Longer programs are not analysed to show shapes.
const MAX_ANALYZED: usize = 100_000;

/// More shapes than this are not shown.
const MAX_SHAPES: usize = 4;

/// The open documents, by URI.
pub struct Server {
    include: Vec<PathBuf>,
    documents: HashMap<String, Document>,
    /// The shapes of functions of a document: where the functions are, and their shapes.
    shapes: HashMap<String, Vec<(Span, Vec<String>)>>,
}

/// Where a name is defined.
enum Found {
    /// In a file, with its text.
    File(PathBuf, String, Outline),
    /// In the library.
    Library(&'static Entry),
    /// Bound in the document itself.
    Local(Span),
    /// The name of a form.
    Form,
}

impl Server {
    /// A server without documents.
    pub fn new(include: Vec<PathBuf>) -> Server {
        Server { include, documents: HashMap::new(), shapes: HashMap::new() }
    }

    /// Opens a document, or changes its text.
    pub fn open(&mut self, uri: Uri, text: String) {
        // What a document says may matter to all that include it.
        self.shapes.clear();
        self.documents.insert(uri.as_str().to_string(), Document::new(text));
    }

    /// Forgets a document.
    pub fn close(&mut self, uri: &Uri) {
        self.shapes.clear();
        self.documents.remove(uri.as_str());
    }

    fn document(&self, uri: &Uri) -> Option<&Document> {
        self.documents.get(uri.as_str())
    }

    fn pipeline(&self) -> Pipeline {
        Pipeline::new(Settings { include: self.include.clone(), ..Settings::default() })
    }

    /// The program of a document: what the compiler is to call it, and its text.
    fn program(&self, uri: &Uri) -> Option<(String, String)> {
        let document = self.document(uri)?;
        let path = document::path(uri).unwrap_or_else(|| PathBuf::from(uri.as_str()));
        Some((path.display().to_string(), document.text.clone()))
    }

    /// The messages about a document.
    pub fn diagnostics(&self, uri: &Uri, depth: Depth) -> Vec<lsp::Diagnostic> {
        let Some(program) = self.program(uri) else { return Vec::new() };
        let mut pipeline = self.pipeline();
        let found = match pipeline.expand_parts(std::slice::from_ref(&program)) {
            Err(diagnostics) => diagnostics,
            Ok(_) if depth == Depth::FrontEnd => Vec::new(),
            Ok(core) => match pipeline.first_order(&core) {
                Ok(_) => Vec::new(),
                Err(Refusal::Mistake(diagnostics)) => diagnostics,
                Err(Refusal::Unsupported(diagnostic)) => vec![*diagnostic],
            },
        };
        found.iter().map(|diagnostic| message(diagnostic, &pipeline.sources, uri, &program)).collect()
    }

    /// What the name at a place means.
    fn find(&self, uri: &Uri, name: &str, local: Option<Span>) -> Option<Found> {
        if let Some(span) = local {
            return Some(Found::Local(span));
        }
        if expand::keywords().any(|keyword| keyword == name) {
            return Some(Found::Form);
        }
        let path = document::path(uri)?;
        let mut seen = Vec::new();
        let document = self.document(uri)?;
        self.search(&path, document, name, &mut seen).or_else(|| library().get(name).map(Found::Library))
    }

    /// Looks for a definition in a file and those that it includes.
    fn search(&self, path: &Path, document: &Document, name: &str, seen: &mut Vec<PathBuf>) -> Option<Found> {
        if let Some(found) = document.definitions().into_iter().find(|found| *found.name == *name) {
            return Some(Found::File(path.to_path_buf(), document.text.clone(), found));
        }
        seen.push(path.to_path_buf());
        self.named(path, document).into_iter().find_map(|(path, named)| {
            let name = name.strip_prefix(&*named.prefix)?;
            let known = seen.contains(&path);
            let document = if known { None } else { self.read(&path) };
            self.search(&path, &document?, name, seen)
        })
    }

    /// The files that a file includes or imports, and how it names them.
    fn named(&self, path: &Path, document: &Document) -> Vec<(PathBuf, Named)> {
        let beside = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let find = |named: Named| {
            let ending = if named.name.ends_with(".vlad") { "" } else { ".vlad" };
            let file = format!("{}{ending}", named.name);
            let mut folders = std::iter::once(&beside).chain(&self.include);
            Some((folders.find_map(|folder| Some(folder.join(&file)).filter(|path| path.is_file()))?, named))
        };
        document.named().into_iter().filter_map(find).collect()
    }

    /// A file as the editor shows it, or as it is.
    fn read(&self, path: &Path) -> Option<Document> {
        let open = document::uri(path).and_then(|uri| self.document(&uri)).map(|document| document.text.clone());
        let text = open.or_else(|| std::fs::read_to_string(path).ok())?;
        Some(Document::new(text))
    }

    /// What to show of the name at a place.
    pub fn hover(&mut self, params: &lsp::HoverParams) -> Option<lsp::Hover> {
        let lsp::TextDocumentPositionParams { text_document, position } = &params.text_document_position_params;
        let uri = &text_document.uri;
        let document = self.document(uri)?;
        let visible = document.visible(document.byte(*position));
        let (name, span) = visible.name.clone()?;
        let range = document.range(span);
        let text = match self.find(uri, &name, visible.local(&name))? {
            Found::Form => format!("```vlad\n{name}\n```\na form of the language"),
            Found::Local(span) => {
                let line = document.position(span.start as usize).line + 1;
                format!("```vlad\n{name}\n```\nbound in line {line}")
            }
            Found::Library(entry) => shown(entry, "of the library"),
            Found::File(path, text, found) => {
                let here = document::path(uri).as_ref() == Some(&path);
                let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
                let entry = documentation::of(&text, &found);
                let mut shown = shown(&entry, &if here { String::new() } else { format!("in {file}") });
                for shapes in if here { self.shapes(uri, found.span) } else { Vec::new() } {
                    shown.push_str(&format!("\n\n`{shapes}`"));
                }
                shown
            }
        };
        let contents = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: text };
        Some(lsp::Hover { contents: lsp::HoverContents::Markup(contents), range: Some(range) })
    }

    /// The shapes that a function of a document is specialised for.
    fn shapes(&mut self, uri: &Uri, function: Span) -> Vec<String> {
        let Some(program) = self.program(uri).filter(|program| program.1.len() <= MAX_ANALYZED) else {
            return Vec::new();
        };
        if !self.shapes.contains_key(uri.as_str()) {
            let mut pipeline = self.pipeline();
            let core = pipeline.expand_parts(std::slice::from_ref(&program));
            let shapes = core.map(|mut core| explain::shapes(&mut pipeline, &mut core, &program.0)).unwrap_or_default();
            self.shapes.insert(uri.as_str().to_string(), shapes);
        }
        let known = self.shapes.get(uri.as_str()).into_iter().flatten();
        let of = known.filter(|row| (row.0.start, row.0.end) == (function.start, function.end));
        of.flat_map(|row| row.1.iter().cloned()).take(MAX_SHAPES).collect()
    }

    /// Where the name at a place is defined, or the file that is included there.
    pub fn definition(&self, params: &lsp::GotoDefinitionParams) -> Option<lsp::GotoDefinitionResponse> {
        let lsp::TextDocumentPositionParams { text_document, position } = &params.text_document_position_params;
        let uri = &text_document.uri;
        let document = self.document(uri)?;
        let visible = document.visible(document.byte(*position));
        let location = match visible.name.clone() {
            Some((name, _)) => match self.find(uri, &name, visible.local(&name))? {
                Found::Local(span) => lsp::Location::new(uri.clone(), document.range(span)),
                Found::File(path, text, found) => {
                    lsp::Location::new(document::uri(&path)?, document::range(&text, found.name_span))
                }
                Found::Library(_) | Found::Form => return None,
            },
            None => {
                let line = document.text.lines().nth(position.line as usize)?;
                let form = line.strip_prefix("(include \"").or_else(|| line.strip_prefix("(import \""));
                let name = form?.split('"').next()?;
                let only = Document::new(format!("(include \"{name}\")"));
                let (path, _) = self.named(&document::path(uri)?, &only).into_iter().next()?;
                lsp::Location::new(document::uri(&path)?, lsp::Range::default())
            }
        };
        Some(lsp::GotoDefinitionResponse::Scalar(location))
    }

    /// The names that mean something at a place.
    pub fn completion(&self, params: &lsp::CompletionParams) -> Vec<lsp::CompletionItem> {
        let lsp::TextDocumentPositionParams { text_document, position } = &params.text_document_position;
        let Some(document) = self.document(&text_document.uri) else { return Vec::new() };
        let item = |label: &str, kind, detail: Option<String>| lsp::CompletionItem {
            label: label.to_string(),
            kind: Some(kind),
            detail,
            ..lsp::CompletionItem::default()
        };
        let mut items: Vec<lsp::CompletionItem> = Vec::new();
        for (name, _) in document.visible(document.byte(*position)).locals.iter().rev() {
            items.push(item(name, lsp::CompletionItemKind::VARIABLE, None));
        }
        let path = document::path(&text_document.uri).unwrap_or_default();
        let mut waiting: Vec<(PathBuf, Option<(Named, Document)>)> = vec![(path.clone(), None)];
        let mut seen = vec![path];
        while let Some((path, file)) = waiting.pop() {
            let imported = file.as_ref().filter(|(named, _)| named.is_imported);
            if let Some((named, document)) = imported {
                for found in document.provided() {
                    let name = format!("{}{}", named.prefix, found.name);
                    items.push(item(&name, kind(&found), Some(found.header.clone())));
                }
                continue;
            }
            let document: &Document = file.as_ref().map_or(document, |file| &file.1);
            for found in document.definitions() {
                items.push(item(&found.name, kind(&found), Some(found.header.clone())));
            }
            for (path, named) in self.named(&path, document) {
                if !seen.contains(&path) {
                    seen.push(path.clone());
                    waiting.extend(self.read(&path).map(|document| (path, Some((named, document)))));
                }
            }
        }
        let keywords = expand::keywords().map(|name| item(name, lsp::CompletionItemKind::KEYWORD, None));
        items.extend(keywords);
        for name in expand::names().filter(|name| !expand::keywords().any(|keyword| keyword == *name)) {
            let call = library().get(name).map(|entry| entry.calls.join(" "));
            items.push(item(name, lsp::CompletionItemKind::FUNCTION, call));
        }
        // The first of a name is the one that is meant: the innermost.
        let mut labels = std::collections::HashSet::new();
        items.retain(|item| labels.insert(item.label.clone()));
        items
    }

    /// The definitions of a document.
    pub fn symbols(&self, params: &lsp::DocumentSymbolParams) -> Option<lsp::DocumentSymbolResponse> {
        let document = self.document(&params.text_document.uri)?;
        let symbol = |found: &Outline| {
            #[allow(deprecated)] // The field is required all the same.
            lsp::DocumentSymbol {
                name: found.name.to_string(),
                detail: Some(found.header.clone()),
                kind: match kind(found) {
                    lsp::CompletionItemKind::FUNCTION => lsp::SymbolKind::FUNCTION,
                    _ => lsp::SymbolKind::CONSTANT,
                },
                tags: None,
                deprecated: None,
                range: document.range(found.span),
                selection_range: document.range(found.name_span),
                children: None,
            }
        };
        Some(lsp::DocumentSymbolResponse::Nested(document.definitions().iter().map(symbol).collect()))
    }

    /// The document, formatted: one edit, or none. A document with mistakes stays as it is.
    pub fn formatting(&self, params: &lsp::DocumentFormattingParams) -> Option<Vec<lsp::TextEdit>> {
        let document = self.document(&params.text_document.uri)?;
        let file = SourceMap::new().add("", "", false);
        let formatted = format::format(file, &document.text).ok()?;
        if formatted == document.text {
            return Some(Vec::new());
        }
        let range = lsp::Range::new(lsp::Position::new(0, 0), document.position(document.text.len()));
        Some(vec![lsp::TextEdit::new(range, formatted)])
    }
}

fn kind(found: &Outline) -> lsp::CompletionItemKind {
    if found.header.starts_with('(') { lsp::CompletionItemKind::FUNCTION } else { lsp::CompletionItemKind::CONSTANT }
}

/// What the library says about its functions, by name.
fn library() -> &'static HashMap<String, Entry> {
    static LIBRARY: OnceLock<HashMap<String, Entry>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let mut found = HashMap::new();
        for file in expand::STDLIB {
            let (datums, _) = syntax::parse(SourceMap::new().add(file.name, "", true), file.text);
            for definition in outline::definitions(&datums).iter().filter(|found| !found.name.starts_with('%')) {
                found.insert(definition.name.to_string(), documentation::of(file.text, definition));
            }
        }
        found
    })
}

fn shown(entry: &Entry, place: &str) -> String {
    let separator = if entry.text.is_empty() || place.is_empty() { "" } else { "\n\n" };
    format!("```vlad\n{}\n```\n{}{separator}{place}", entry.calls.join("\n"), entry.text)
}

/// A message as the protocol has it. One about another file stands at the start of the document, and names the file.
fn message(found: &Diagnostic, sources: &SourceMap, uri: &Uri, program: &(String, String)) -> lsp::Diagnostic {
    let (name, text) = program;
    let is_here = |span: &Span| sources.file(span.file).name == *name;
    let mut words = found.message.clone();
    for more in found.notes.iter().chain(&found.help) {
        words.push('\n');
        words.push_str(more);
    }
    let range = match &found.primary {
        Some(label) if is_here(&label.span) => document::range(text, label.span),
        Some(label) => {
            let (line, column) = sources.line_column(label.span);
            words = format!("{}:{line}:{column}: {words}", sources.file(label.span.file).name);
            lsp::Range::default()
        }
        None => lsp::Range::default(),
    };
    let related = found.secondary.iter().filter(|label| is_here(&label.span));
    let related: Vec<_> = related
        .map(|label| lsp::DiagnosticRelatedInformation {
            location: lsp::Location::new(uri.clone(), document::range(text, label.span)),
            message: label.text.clone(),
        })
        .collect();
    lsp::Diagnostic {
        range,
        severity: Some(match found.severity {
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
        }),
        code: Some(lsp::NumberOrString::String(found.code.to_string())),
        source: Some("vlad".to_string()),
        message: words,
        related_information: Some(related),
        ..lsp::Diagnostic::default()
    }
}
