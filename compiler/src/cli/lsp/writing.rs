//! Help with writing: names that may follow, the parameters of the function that is being called, and layout.

use super::document::Document;
use super::server::Server;
use super::structure;
use super::workspace::{Symbol, Target};
use super::{forms, library};
use crate::base::SourceMap;
use crate::expand;
use crate::expand::program::bindings::{Call, Role};
use crate::expand::program::documentation;
use crate::syntax::{self, DatumKind, format};
use lsp_types as lsp;
use rustc_hash::FxHashSet;

impl Server {
    /// The names that mean something at a place.
    pub fn completion(&mut self, params: &lsp::CompletionParams) -> Vec<lsp::CompletionItem> {
        let Some(place) = self.place(&params.text_document_position) else { return Vec::new() };
        let mut labels = FxHashSet::default();
        let mut items: Vec<lsp::CompletionItem> = Vec::new();
        // The first of a name is the one that is meant: the innermost.
        let mut add = |label: &str, kind, detail: Option<String>| {
            if labels.insert(label.to_string()) {
                let label = label.to_string();
                items.push(lsp::CompletionItem { label, kind: Some(kind), detail, ..lsp::CompletionItem::default() });
            }
        };
        for binder in place.document.bindings().visible(place.byte) {
            // What is being written is no name yet.
            if place.occurrence.as_ref().is_none_or(|occurrence| occurrence.span != binder.span) {
                add(&binder.name, lsp::CompletionItemKind::VARIABLE, binder.call.clone());
            }
        }
        for (name, target) in self.workspace.visible(&place.path) {
            let call = self.workspace.call(&target);
            add(&name, kind(call.as_deref().unwrap_or_default()), call);
        }
        expand::keywords().for_each(|name| add(name, lsp::CompletionItemKind::KEYWORD, forms::usage(name)));
        for name in expand::names() {
            let call = library::entry(name).map(|entry| entry.calls.join(" ")).or_else(|| forms::usage(name));
            add(name, lsp::CompletionItemKind::FUNCTION, call);
        }
        items
    }

    /// How the function is called whose operands are at a place, and which of them.
    pub fn signature(&mut self, params: &lsp::SignatureHelpParams) -> Option<lsp::SignatureHelp> {
        let place = self.place(&params.text_document_position_params)?;
        let bindings = place.document.bindings();
        let call = bindings.call_at(place.byte, place.document.text())?;
        let occurrence = bindings.at(call.name.start as usize)?;
        let mut documentation = None;
        let shown = match self.workspace.symbol(&place.path, &place.document, occurrence) {
            Symbol::Local(binder) => bindings.binders[binder].call.clone()?,
            Symbol::Top(targets) => {
                let target = targets.first()?;
                documentation = match target {
                    Target::Library(name) => library::entry(name).map(|entry| entry.text.clone()),
                    target => self
                        .workspace
                        .definition(target)
                        .map(|(_, document, found)| documentation::of(document.text(), &found).text),
                };
                match target {
                    Target::Library(name) => self.workspace.call(target).or_else(|| forms::usage(name))?,
                    target => self.workspace.call(target)?,
                }
            }
            Symbol::Word if occurrence.role == Role::Word => forms::usage(&occurrence.name)?,
            Symbol::Word => return None,
        };
        let operand = operand_at(&place.document, call, place.byte)?;
        let (parameters, repeated) = parameters(&shown, call.layer)?;
        let active = match repeated {
            Some(repeated) if operand >= repeated => repeated,
            _ if operand >= parameters.len() => return None,
            _ => operand,
        };
        let labels = parameters.iter().map(|range| lsp::ParameterInformation {
            label: lsp::ParameterLabel::LabelOffsets(*range),
            documentation: None,
        });
        let documentation = documentation.filter(|text| !text.is_empty()).map(|value| {
            lsp::Documentation::MarkupContent(lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value })
        });
        let active = u32::try_from(active).ok();
        let information = lsp::SignatureInformation {
            label: shown.clone(),
            documentation,
            parameters: Some(labels.collect()),
            active_parameter: active,
        };
        Some(lsp::SignatureHelp { signatures: vec![information], active_signature: Some(0), active_parameter: active })
    }

    /// The document, laid out: one edit, or none. A document with mistakes stays as it is.
    pub fn formatting(&mut self, params: &lsp::DocumentFormattingParams) -> Option<Vec<lsp::TextEdit>> {
        let (_, document) = self.document(&params.text_document.uri)?;
        let text = document.written();
        let formatted = formatted(text, text)?;
        if formatted == text {
            return Some(Vec::new());
        }
        let range = lsp::Range::new(lsp::Position::new(0, 0), document.position(text.len()));
        Some(vec![lsp::TextEdit::new(range, formatted)])
    }

    /// The forms at top level that a range touches, laid out.
    pub fn range_formatting(&mut self, params: &lsp::DocumentRangeFormattingParams) -> Option<Vec<lsp::TextEdit>> {
        let (_, document) = self.document(&params.text_document.uri)?;
        let (start, end) = (document.byte(params.range.start), document.byte(params.range.end));
        let touched = |datum: &&syntax::Datum| {
            let span = datum.span;
            span.start as usize <= end && start <= span.end as usize && structure::begins_line(&document, span.start)
        };
        let mut edits = Vec::new();
        for datum in document.datums().iter().filter(touched) {
            let text = &document.written()[datum.span.start as usize..datum.span.end as usize];
            let Some(formatted) = formatted(text, document.written()) else { continue };
            let formatted = formatted.trim_end();
            if formatted != text {
                edits.push(lsp::TextEdit::new(document.range(datum.span), formatted.to_string()));
            }
        }
        Some(edits)
    }
}

/// A part of a text, laid out, with lines that end as those of the text do.
fn formatted(part: &str, text: &str) -> Option<String> {
    let file = SourceMap::new().add("", "", false);
    let formatted = format::format(file, &part.replace("\r\n", "\n")).ok()?;
    Some(if text.contains("\r\n") { formatted.replace('\n', "\r\n") } else { formatted })
}

/// What a name is that is called so.
pub fn kind(call: &str) -> lsp::CompletionItemKind {
    if call.starts_with('(') { lsp::CompletionItemKind::FUNCTION } else { lsp::CompletionItemKind::CONSTANT }
}

/// Which operand of a call a byte belongs to; none if it belongs to what is called.
fn operand_at(document: &Document, call: &Call, byte: usize) -> Option<usize> {
    let inside = document.bindings().calls.iter().filter(|inner| inner.name == call.name && inner.layer < call.layer);
    let head_end = inside.map(|inner| inner.span.end).max().unwrap_or(call.name.end) as usize;
    if byte <= head_end {
        return None;
    }
    Some(call.operands.iter().filter(|operand| (operand.end as usize) < byte).count())
}

/// Where the parameters stand in a text such as `((f a) b ...)`, counted in units of UTF-16, of the call that has so
/// many brackets inside; and the position of the one that may be repeated.
fn parameters(shown: &str, layer: usize) -> Option<(Vec<[u32; 2]>, Option<usize>)> {
    let datum = syntax::recover(SourceMap::new().add("", "", false), shown).into_iter().next()?;
    // From the innermost call outwards: the first one is called first.
    let mut layers = Vec::new();
    let mut at = &datum;
    while let DatumKind::List(items) | DatumKind::Dotted(items, _) = &at.kind {
        layers.push(at);
        at = items.first()?;
    }
    let called = layers.iter().rev().nth(layer)?;
    let (items, tail) = match &called.kind {
        DatumKind::List(items) => (items, None),
        DatumKind::Dotted(items, tail) => (items, Some(&**tail)),
        _ => return None,
    };
    let units = |byte: u32| shown[..byte as usize].encode_utf16().count() as u32;
    let mut found: Vec<[u32; 2]> = Vec::new();
    let mut repeated = None;
    for item in items[1..].iter().chain(tail) {
        if item.is_symbol("...") {
            repeated = found.len().checked_sub(1);
            continue;
        }
        found.push([units(item.span.start), units(item.span.end)]);
    }
    if tail.is_some() {
        repeated = found.len().checked_sub(1);
    }
    Some((found, repeated))
}
