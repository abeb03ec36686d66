//! What editors ask about a name: what it is, where it is defined and used, and what if it were another.
//!
//! A name is changed in all files at once, and only if the program means the same afterwards. That is not argued but
//! tried: the changed texts are read again, and each name must stand for what it stood for before.

use super::document::Document;
use super::library;
use super::server::{Place, Server};
use super::workspace::{Symbol, Target, Workspace};
use crate::base::{SourceMap, Span};
use crate::expand;
use crate::expand::program::bindings::{Binder, Bindings, Occurrence, Role};
use crate::expand::program::documentation::{self, Entry};
use crate::projects::cache;
use crate::syntax;
use lsp_types as lsp;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// More shapes than this are not shown.
const MAX_SHAPES: usize = 4;

/// Words that introduce something at the top level of a file, unless it defines them.
const TOP_WORDS: [&str; 4] = ["import", "provide", "export", "arguments"];

/// Where a name stands, in the file with that document.
type Places = Vec<(PathBuf, Rc<Document>, Vec<Occurrence>)>;

impl Server {
    /// What to show of the name at a place.
    pub fn hover(&mut self, params: &lsp::HoverParams) -> Option<lsp::Hover> {
        let place = self.place(&params.text_document_position_params)?;
        let occurrence = place.occurrence.as_ref()?;
        let (name, document) = (&occurrence.name, &place.document);
        let form = |what| Some(format!("```vlad\n{name}\n```\n{what}"));
        let text = match self.workspace.symbol(&place.path, document, occurrence) {
            Symbol::Local(binder) => {
                let binder = &document.bindings().binders[binder];
                let call = binder.call.as_deref().unwrap_or(name);
                let line = document.line_of(binder.span.start) + 1;
                Some(format!("```vlad\n{call}\n```\nbound in line {line}"))
            }
            Symbol::Top(targets) => match targets.first() {
                Some(Target::Library(name)) => match library::entry(name) {
                    Some(entry) => Some(shown(entry, "of the library")),
                    None => form("a form of the language"),
                },
                Some(target) => self.described(&place, target),
                None => None,
            },
            Symbol::Word if occurrence.role == Role::Constructor => form("takes a value apart in a pattern"),
            Symbol::Word if is_form(name) => form("a form of the language"),
            Symbol::Word => None,
        };
        let contents = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: text? };
        let range = Some(document.range(occurrence.span));
        Some(lsp::Hover { contents: lsp::HoverContents::Markup(contents), range })
    }

    /// What to show of a definition of the program.
    fn described(&self, place: &Place, target: &Target) -> Option<String> {
        let (path, document, found) = self.workspace.definition(target)?;
        let is_here = path == place.path;
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let entry = documentation::of(document.text(), &found);
        let mut text = shown(&entry, &if is_here { String::new() } else { format!("in {file}") });
        let shapes = self.checker.shapes(&path, &found.name, document.covered(found.span));
        shapes.iter().take(MAX_SHAPES).for_each(|shape| text.push_str(&format!("\n\n`{shape}`")));
        Some(text)
    }

    /// Where the name at a place is defined, or the file that is included there.
    pub fn definition(&mut self, params: &lsp::GotoDefinitionParams) -> Option<lsp::GotoDefinitionResponse> {
        let place = self.place(&params.text_document_position_params)?;
        let workspace = &self.workspace;
        let Some(occurrence) = &place.occurrence else {
            let around = |span: Span| (span.start as usize..=span.end as usize).contains(&place.byte);
            let named = place.document.bindings().files.iter().find(|named| around(named.span))?;
            let path = match named.import {
                Some(_) => workspace.find_import(&place.path, &named.name).or_else(|| library::file(&named.name))?,
                None => workspace.find(&place.path, &named.name)?,
            };
            let location = lsp::Location::new(workspace.uri(&path)?, lsp::Range::default());
            return Some(lsp::GotoDefinitionResponse::Scalar(location));
        };
        let mut locations = Vec::new();
        match workspace.symbol(&place.path, &place.document, occurrence) {
            Symbol::Local(binder) => {
                let range = place.document.range(place.document.bindings().binders[binder].span);
                locations.push(lsp::Location::new(workspace.uri(&place.path)?, range));
            }
            Symbol::Top(targets) => {
                for target in targets {
                    let found = match &target {
                        Target::Library(name) => {
                            library::place(name).map(|(path, document, span)| (path, document.range(span)))
                        }
                        target => workspace
                            .definition(target)
                            .map(|(path, document, found)| (path, document.range(found.name_span))),
                    };
                    locations
                        .extend(found.and_then(|(path, range)| Some(lsp::Location::new(workspace.uri(&path)?, range))));
                }
            }
            Symbol::Word => {}
        }
        match locations.len() {
            0 => None,
            1 => locations.pop().map(lsp::GotoDefinitionResponse::Scalar),
            _ => Some(lsp::GotoDefinitionResponse::Array(locations)),
        }
    }

    /// Where in all files the name at a place is used.
    pub fn references(&mut self, params: &lsp::ReferenceParams) -> Option<Vec<lsp::Location>> {
        self.workspace.scan();
        let place = self.place(&params.text_document_position)?;
        let symbol = self.workspace.symbol(&place.path, &place.document, place.occurrence.as_ref()?);
        let mut locations = Vec::new();
        for (path, document, found) in places(&self.workspace, &place, &symbol) {
            let Some(uri) = self.workspace.uri(&path) else { continue };
            for occurrence in found.iter().filter(|found| params.context.include_declaration || !is_declaration(found))
            {
                locations.push(lsp::Location::new(uri.clone(), document.range(occurrence.span)));
            }
        }
        Some(locations)
    }

    /// Where in its file the name at a place is used.
    pub fn highlight(&mut self, params: &lsp::DocumentHighlightParams) -> Option<Vec<lsp::DocumentHighlight>> {
        let place = self.place(&params.text_document_position_params)?;
        let symbol = self.workspace.symbol(&place.path, &place.document, place.occurrence.as_ref()?);
        let found = occurrences(&self.workspace, &place.path, &place.document, &symbol);
        let highlight = |occurrence: &Occurrence| lsp::DocumentHighlight {
            range: place.document.range(occurrence.span),
            kind: Some(match is_declaration(occurrence) {
                true => lsp::DocumentHighlightKind::WRITE,
                false => lsp::DocumentHighlightKind::READ,
            }),
        };
        Some(found.iter().map(highlight).collect())
    }

    /// The name at a place without its prefix, if it can be changed; otherwise why it cannot.
    pub fn prepare_rename(
        &mut self,
        params: &lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>, String> {
        let Some(place) = self.place(params) else { return Ok(None) };
        let Some(occurrence) = place.occurrence.clone() else { return Ok(None) };
        let (_, name) = self.renamable(&place, &occurrence)?;
        let range = place.document.range(without_prefix(&occurrence, &name));
        Ok(Some(lsp::PrepareRenameResponse::RangeWithPlaceholder { range, placeholder: name.to_string() }))
    }

    /// What a name stands for that can be changed, and the name without prefix.
    fn renamable(&self, place: &Place, occurrence: &Occurrence) -> Result<(Symbol, Rc<str>), String> {
        let name = &occurrence.name;
        let symbol = self.workspace.symbol(&place.path, &place.document, occurrence);
        let base = match &symbol {
            Symbol::Local(_) => name.clone(),
            Symbol::Word => return Err(format!("`{name}` is a word of the language here")),
            Symbol::Top(targets) => match &targets[..] {
                [] => return Err(format!("nothing defines `{name}`")),
                targets if targets.contains(&Target::Several) => {
                    return Err(format!("`{name}` is imported with two meanings"));
                }
                [Target::Library(_), ..] => return Err(format!("`{name}` is a function of the library")),
                [target, ..] => {
                    let found = self.workspace.definition(target).ok_or("the definition is not there any more")?;
                    if library::is_in(&found.0) {
                        return Err(format!("`{name}` is a function of the library"));
                    }
                    if cache::holds(&found.0) {
                        return Err(format!("`{name}` is defined in a dependency"));
                    }
                    found.2.name
                }
            },
        };
        Ok((symbol, base))
    }

    /// The changes that give another name to what the name at a place stands for.
    pub fn rename(&mut self, params: &lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>, String> {
        self.workspace.scan();
        let Some(place) = self.place(&params.text_document_position) else { return Ok(None) };
        let Some(occurrence) = place.occurrence.clone() else { return Err("there is no name here".to_string()) };
        let (symbol, name) = self.renamable(&place, &occurrence)?;
        let new = params.new_name.trim();
        demand_name(new)?;
        let found = places(&self.workspace, &place, &symbol);
        #[allow(clippy::mutable_key_type)] // The type is the protocol's, and nobody changes an address.
        let mut changes: HashMap<lsp::Uri, Vec<lsp::TextEdit>> = HashMap::new();
        let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
        for (path, document, found) in &found {
            let mut text = document.written().to_string();
            let mut edits = Vec::new();
            for occurrence in found.iter().rev() {
                let span = without_prefix(occurrence, &name);
                text.replace_range(span.start as usize..span.end as usize, new);
                edits.push(lsp::TextEdit::new(document.range(span), new.to_string()));
            }
            edits.reverse();
            texts.insert(path.clone(), text);
            let uri = self.workspace.uri(path).ok_or("a file has no name that editors know")?;
            changes.insert(uri, edits);
        }
        if new != &*name {
            self.demand_same_meaning(&place, &symbol, &name, new, &texts)?;
        }
        Ok(Some(lsp::WorkspaceEdit::new(changes)))
    }

    /// Whether all names stand for the same when the texts have changed; otherwise which does not.
    fn demand_same_meaning(
        &self,
        place: &Place,
        symbol: &Symbol,
        name: &str,
        new: &str,
        texts: &BTreeMap<PathBuf, String>,
    ) -> Result<(), String> {
        let before = &self.workspace;
        let after = before.with(texts.iter().map(|(path, text)| (path.clone(), text.clone())));
        let at = |path: &Path, document: &Document, span: Span| {
            let line = document.line_of(span.start) + 1;
            let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            if path == place.path { format!("line {line}") } else { format!("{file}:{line}") }
        };
        let touched: Vec<PathBuf> = match symbol {
            Symbol::Local(binder) => {
                let binders = &place.document.bindings().binders;
                let group = binders[*binder].group;
                if let Some(other) = binders.iter().find(|other| other.group == group && *other.name == *new) {
                    return Err(format!(
                        "`{new}` is bound beside it, in {}",
                        at(&place.path, &place.document, other.span)
                    ));
                }
                vec![place.path.clone()]
            }
            Symbol::Top(targets) => {
                self.demand_free_at_top(targets, new, &after)?;
                before
                    .files()
                    .into_iter()
                    .filter(|path| texts.contains_key(path) || sees(before, path, targets))
                    .collect()
            }
            Symbol::Word => Vec::new(),
        };
        for path in touched {
            let (Some(old), Some(changed)) = (before.document(&path), after.document(&path)) else { continue };
            let (was, is) = (old.bindings(), changed.bindings());
            if was.occurrences.len() != is.occurrences.len() {
                return Err(format!("`{new}` would be read as something else"));
            }
            for (was, is) in was.occurrences.iter().zip(&is.occurrences) {
                if before.symbol(&path, &old, was) == after.symbol(&path, &changed, is) {
                    continue;
                }
                let place = at(&path, &old, was.span);
                return Err(match changed_by(is, changed.bindings()) {
                    _ if *was.name == *is.name => format!("`{}` in {place} would stand for what is renamed", was.name),
                    Some(binder) => {
                        let bound = at(&path, &changed, binder.span);
                        format!("`{name}` in {place} would stand for the `{new}` that is bound in {bound}")
                    }
                    None => format!("`{new}` would have another meaning in {place}"),
                });
            }
        }
        Ok(())
    }

    /// Whether a definition at top level can have a name.
    fn demand_free_at_top(&self, targets: &[Target], new: &str, after: &Workspace) -> Result<(), String> {
        if TOP_WORDS.contains(&new) {
            return Err(format!("`{new}` introduces a form at the top level"));
        }
        for target in targets {
            let Some((path, document, found)) = self.workspace.definition(target) else { continue };
            let is_plain = |c: char| c.is_alphanumeric() || "-_?".contains(c);
            if !document.covered(found.span).starts_with("(define")
                && (!new.starts_with(char::is_alphabetic) || !new.chars().all(is_plain))
            {
                return Err(format!("`{new}` is no name for an argument on a command line"));
            }
            for (old, changed) in self.workspace.modules_of(&path).iter().zip(after.modules_of(&path)) {
                if changed.twice.iter().filter(|name| ***name == *new).count()
                    > old.twice.iter().filter(|name| ***name == *new).count()
                {
                    return Err(format!("`{new}` is defined already"));
                }
            }
        }
        Ok(())
    }
}

/// Whether a file has a module that knows one of the targets.
fn sees(workspace: &Workspace, path: &Path, targets: &[Target]) -> bool {
    let modules = workspace.modules_of(path);
    modules.iter().any(|module| module.names.values().any(|target| targets.contains(target)))
}

/// What binds a name that was not bound so before.
fn changed_by<'b>(occurrence: &Occurrence, bindings: &'b Bindings) -> Option<&'b Binder> {
    match occurrence.role {
        Role::Local(binder) => bindings.binders.get(binder),
        _ => None,
    }
}

/// Whether a text is a name that can be bound.
fn demand_name(text: &str) -> Result<(), String> {
    let (datums, errors) = syntax::parse(SourceMap::new().add("", "", false), text);
    let is_name = errors.is_empty() && matches!(&datums[..], [datum] if datum.is_symbol(text));
    match text {
        _ if !is_name => Err(format!("`{text}` is not a name")),
        "_" => Err("`_` ignores a value".to_string()),
        _ if text.starts_with('%') => Err("names that begin with `%` are the library's".to_string()),
        _ if expand::keywords().any(|word| word == text) => Err(format!("`{text}` is a word of the language")),
        _ => Ok(()),
    }
}

/// All places of what a name stands for.
fn places(workspace: &Workspace, place: &Place, symbol: &Symbol) -> Places {
    let files = match symbol {
        Symbol::Top(_) => workspace.files(),
        _ => vec![place.path.clone()],
    };
    let mut found = Vec::new();
    for path in files {
        let Some(document) = workspace.document(&path) else { continue };
        let occurrences = occurrences(workspace, &path, &document, symbol);
        if !occurrences.is_empty() {
            found.push((path, document, occurrences));
        }
    }
    found
}

/// The places in a file of what a name stands for.
fn occurrences(workspace: &Workspace, path: &Path, document: &Document, symbol: &Symbol) -> Vec<Occurrence> {
    let all = || document.bindings().occurrences.iter();
    match symbol {
        Symbol::Local(binder) => {
            let is_it = |found: &&Occurrence| matches!(found.role, Role::Binds(id) | Role::Local(id) if id == *binder);
            all().filter(is_it).cloned().collect()
        }
        Symbol::Top(targets) => {
            let names: Vec<Rc<str>> = targets.iter().filter_map(|target| name_of(workspace, target)).collect();
            // Most files have nothing of that name.
            if !names.iter().any(|name| document.text().contains(&**name)) {
                return Vec::new();
            }
            let named = all().filter(|found| names.iter().any(|name| found.name.ends_with(&**name)));
            let is_it = |found: &&Occurrence| match workspace.symbol(path, document, found) {
                Symbol::Top(others) => others.iter().any(|other| targets.contains(other)),
                _ => false,
            };
            named.filter(is_it).cloned().collect()
        }
        Symbol::Word => Vec::new(),
    }
}

/// The name of what a top-level name stands for, where it is defined.
fn name_of(workspace: &Workspace, target: &Target) -> Option<Rc<str>> {
    match target {
        Target::Library(name) => Some(name.clone()),
        target => Some(workspace.definition(target)?.2.name),
    }
}

/// Where a name stands, without a prefix that an import has put in front.
fn without_prefix(occurrence: &Occurrence, name: &str) -> Span {
    let length = u32::try_from(name.len()).unwrap_or(0);
    Span { start: occurrence.span.end - length, ..occurrence.span }
}

fn is_declaration(occurrence: &Occurrence) -> bool {
    matches!(occurrence.role, Role::Binds(_) | Role::Defines(_))
}

fn is_form(name: &str) -> bool {
    expand::keywords().any(|word| word == name) || TOP_WORDS.contains(&name)
}

fn shown(entry: &Entry, place: &str) -> String {
    let separator = if entry.text.is_empty() || place.is_empty() { "" } else { "\n\n" };
    format!("```vlad\n{}\n```\n{}{separator}{place}", entry.calls.join("\n"), entry.text)
}
