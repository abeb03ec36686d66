//! The structure of documents: what they define, what can be folded and selected, and what each name is.

use super::document::Document;
use super::server::Server;
use super::workspace::{Symbol, Target};
use super::writing;
use crate::base::Span;
use crate::expand::program::bindings::{BinderKind, Role};
use crate::expand::program::outline::Outline;
use crate::syntax::{self, Datum, DatumKind};
use lsp_types as lsp;
use lsp_types::SemanticTokenType as Type;
use rustc_hash::FxHashMap;

/// More symbols of a workspace than this are not listed.
const MAX_SYMBOLS: usize = 500;

/// More ranges around a place than this are not told: they nest, and readers of JSON have limits.
const MAX_SELECTIONS: usize = 50;

/// What names are; tokens refer to these by their positions.
const TYPES: [Type; 5] = [Type::KEYWORD, Type::FUNCTION, Type::VARIABLE, Type::PARAMETER, Type::NAMESPACE];
const KEYWORD: u32 = 0;
const FUNCTION: u32 = 1;
const VARIABLE: u32 = 2;
const PARAMETER: u32 = 3;
const NAMESPACE: u32 = 4;

/// What is said about names besides, as bits.
const DECLARATION: u32 = 1;
const LIBRARY: u32 = 2;

/// The names of types and bits.
pub fn legend() -> lsp::SemanticTokensLegend {
    use lsp::SemanticTokenModifier as Modifier;
    lsp::SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        token_modifiers: vec![Modifier::DECLARATION, Modifier::DEFAULT_LIBRARY],
    }
}

impl Server {
    /// The definitions of a document.
    pub fn symbols(&mut self, params: &lsp::DocumentSymbolParams) -> Option<lsp::DocumentSymbolResponse> {
        let (_, document) = self.document(&params.text_document.uri)?;
        let symbol = |found: &Outline| {
            #[allow(deprecated)] // The field is required all the same.
            lsp::DocumentSymbol {
                name: found.name.to_string(),
                detail: Some(found.header.clone()),
                kind: symbol_kind(found),
                tags: None,
                deprecated: None,
                range: document.range(found.span),
                selection_range: document.range(found.name_span),
                children: None,
            }
        };
        let symbols = document.bindings().definitions.iter().map(symbol).collect();
        Some(lsp::DocumentSymbolResponse::Nested(symbols))
    }

    /// The definitions in all files whose names have the letters of a query in them, in that order.
    pub fn workspace_symbols(&mut self, params: &lsp::WorkspaceSymbolParams) -> Vec<lsp::SymbolInformation> {
        self.workspace.scan();
        let query: Vec<char> = params.query.chars().flat_map(char::to_lowercase).collect();
        let fits = |name: &str| {
            let mut letters = name.chars().flat_map(char::to_lowercase);
            query.iter().all(|wanted| letters.any(|letter| letter == *wanted))
        };
        let mut symbols = Vec::new();
        for path in self.workspace.files() {
            let (Some(document), Some(uri)) = (self.workspace.document(&path), self.workspace.uri(&path)) else {
                continue;
            };
            for found in document.bindings().definitions.iter().filter(|found| fits(&found.name)) {
                #[allow(deprecated)] // The field is required all the same.
                symbols.push(lsp::SymbolInformation {
                    name: found.name.to_string(),
                    kind: symbol_kind(found),
                    tags: None,
                    deprecated: None,
                    location: lsp::Location::new(uri.clone(), document.range(found.name_span)),
                    container_name: path.file_name().map(|name| name.to_string_lossy().into_owned()),
                });
            }
        }
        symbols.sort_by_key(|symbol| symbol.name.len());
        symbols.truncate(MAX_SYMBOLS);
        symbols
    }

    /// The brackets and comments that take several lines.
    pub fn folding(&mut self, params: &lsp::FoldingRangeParams) -> Option<Vec<lsp::FoldingRange>> {
        let (_, document) = self.document(&params.text_document.uri)?;
        // The outermost of those that begin in a line.
        let mut lines: FxHashMap<u32, (u32, lsp::FoldingRangeKind)> = FxHashMap::default();
        let mut add = |start: u32, end: u32, kind| {
            let (start, end) = (document.line_of(start), document.line_of(end));
            if start < end {
                lines.entry(start).and_modify(|known| known.0 = known.0.max(end)).or_insert((end, kind));
            }
        };
        let mut waiting: Vec<&Datum> = document.datums().iter().collect();
        while let Some(datum) = waiting.pop() {
            if !children(datum).is_empty() {
                // A bracket that is not there stands in front of the next form.
                let text = document.covered(datum.span).trim_end();
                add(datum.span.start, datum.span.start + text.len() as u32, lsp::FoldingRangeKind::Region);
                waiting.extend(children(datum));
            }
        }
        let mut block: Option<(u32, u32)> = None;
        for comment in syntax::comments(document.text()) {
            let (start, end) = (comment.start as u32, comment.end as u32);
            let follows = |block: &(u32, u32)| document.line_of(block.1) + 1 == document.line_of(start);
            block = match block.filter(|block| follows(block) && begins_line(&document, start)) {
                Some(block) => Some((block.0, end)),
                None => {
                    block.inspect(|block| add(block.0, block.1, lsp::FoldingRangeKind::Comment));
                    Some((start, end))
                }
            };
        }
        block.inspect(|block| add(block.0, block.1, lsp::FoldingRangeKind::Comment));
        let range = |(start_line, (end_line, kind))| lsp::FoldingRange {
            start_line,
            end_line,
            kind: Some(kind),
            ..lsp::FoldingRange::default()
        };
        let mut ranges: Vec<lsp::FoldingRange> = lines.into_iter().map(range).collect();
        ranges.sort_by_key(|range| range.start_line);
        Some(ranges)
    }

    /// What is around places, from the innermost datum outwards.
    pub fn selection(&mut self, params: &lsp::SelectionRangeParams) -> Option<Vec<lsp::SelectionRange>> {
        let (_, document) = self.document(&params.text_document.uri)?;
        let around = |position: &lsp::Position| {
            let byte = document.byte(*position);
            let whole = lsp::Range::new(lsp::Position::new(0, 0), document.position(document.text().len()));
            let mut ranges = vec![whole];
            let mut datums: Vec<&Datum> = document.datums().iter().collect();
            let holds = |span: Span| (span.start as usize..=span.end as usize).contains(&byte);
            // Where two touch, the one behind the place is meant.
            while let Some(datum) = datums.iter().rev().find(|datum| holds(datum.span)) {
                ranges.push(document.range(datum.span));
                datums = children(datum);
            }
            ranges.dedup();
            let inner = ranges.len().saturating_sub(MAX_SELECTIONS);
            let nested = ranges[inner..]
                .iter()
                .fold(None, |parent, range| Some(Box::new(lsp::SelectionRange { range: *range, parent })));
            nested.map_or(lsp::SelectionRange { range: whole, parent: None }, |selection| *selection)
        };
        Some(params.positions.iter().map(around).collect())
    }

    /// What each name of a document is.
    pub fn tokens(&mut self, uri: &lsp::Uri, range: Option<lsp::Range>) -> Option<lsp::SemanticTokens> {
        let (path, document) = self.document(uri)?;
        let bytes = range.map(|range| document.byte(range.start)..document.byte(range.end));
        let mut known: FxHashMap<&str, Option<(u32, u32)>> = FxHashMap::default();
        let mut tokens = Vec::new();
        let mut before = lsp::Position::new(0, 0);
        for occurrence in &document.bindings().occurrences {
            let (start, end) = (occurrence.span.start as usize, occurrence.span.end as usize);
            if bytes.as_ref().is_some_and(|bytes| end < bytes.start || bytes.end < start) {
                continue;
            }
            let meaning = match occurrence.role {
                Role::Binds(id) | Role::Local(id) => {
                    let binder = &document.bindings().binders[id];
                    let kind = match binder.kind {
                        _ if binder.call.is_some() => FUNCTION,
                        BinderKind::Parameter => PARAMETER,
                        BinderKind::Variable => VARIABLE,
                    };
                    Some((kind, if occurrence.role == Role::Binds(id) { DECLARATION } else { 0 }))
                }
                Role::Word => Some((KEYWORD, 0)),
                Role::Constructor => Some((FUNCTION, LIBRARY)),
                Role::Label => Some((NAMESPACE, 0)).filter(|_| occurrence.name.ends_with(':')),
                Role::Imports(_) => self.token(&self.workspace.symbol(&path, &document, occurrence)),
                Role::Defines(_) => {
                    let symbol = self.workspace.symbol(&path, &document, occurrence);
                    self.token(&symbol).map(|token| (token.0, DECLARATION))
                }
                // The same name stands for the same everywhere at top level.
                Role::Free | Role::Provides => *known
                    .entry(&occurrence.name)
                    .or_insert_with(|| self.token(&self.workspace.symbol(&path, &document, occurrence))),
            };
            let Some((token_type, token_modifiers_bitset)) = meaning else { continue };
            let position = document.position(start);
            let same_line = position.line == before.line;
            tokens.push(lsp::SemanticToken {
                delta_line: position.line - before.line,
                delta_start: position.character - if same_line { before.character } else { 0 },
                length: occurrence.name.encode_utf16().count() as u32,
                token_type,
                token_modifiers_bitset,
            });
            before = position;
        }
        Some(lsp::SemanticTokens { result_id: None, data: tokens })
    }

    /// What a top-level name is.
    fn token(&self, symbol: &Symbol) -> Option<(u32, u32)> {
        let Symbol::Top(targets) = symbol else { return None };
        let target = targets.first()?;
        let library = if matches!(target, Target::Library(_)) { LIBRARY } else { 0 };
        let call = self.workspace.call(target);
        let is_function = library != 0 || call.is_some_and(|call| call.starts_with('('));
        Some((if is_function { FUNCTION } else { VARIABLE }, library))
    }
}

fn symbol_kind(found: &Outline) -> lsp::SymbolKind {
    match writing::kind(&found.header) {
        lsp::CompletionItemKind::FUNCTION => lsp::SymbolKind::FUNCTION,
        _ => lsp::SymbolKind::CONSTANT,
    }
}

/// Whether nothing but space stands in front of a byte in its line.
pub fn begins_line(document: &Document, byte: u32) -> bool {
    let before = &document.text()[..byte as usize];
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    before[line..].trim().is_empty()
}

/// The datums in a datum.
fn children(datum: &Datum) -> Vec<&Datum> {
    match &datum.kind {
        DatumKind::List(items) | DatumKind::Vector(items) => items.iter().collect(),
        DatumKind::Dotted(items, tail) => items.iter().chain([&**tail]).collect(),
        DatumKind::Prefixed(_, inner) => vec![inner],
        _ => Vec::new(),
    }
}
