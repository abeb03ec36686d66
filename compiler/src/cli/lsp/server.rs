//! The state of the server: documents, the files beside them, and what looks for mistakes in them.

use super::checking::{Checker, Depth};
use super::document::Document;
use super::library;
use super::workspace::Workspace;
use crate::expand::program::bindings::Occurrence;
use crate::projects::cache;
use lsp_types as lsp;
use std::path::PathBuf;
use std::rc::Rc;

/// The server.
pub struct Server {
    /// The files.
    pub workspace: Workspace,
    /// What looks for mistakes.
    pub checker: Checker,
}

/// A place in a document.
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Its document.
    pub document: Rc<Document>,
    /// The byte.
    pub byte: usize,
    /// The name there.
    pub occurrence: Option<Occurrence>,
}

impl Server {
    /// Opens a document.
    pub fn open(&mut self, item: lsp::TextDocumentItem) {
        self.workspace.open(item.uri.clone(), Document::new(item.text));
        self.workspace.scan();
        self.check(&item.uri, Depth::Everything);
    }

    /// Changes a document.
    pub fn change(&mut self, params: &lsp::DidChangeTextDocumentParams) {
        let uri = &params.text_document.uri;
        let Some((_, document)) = self.workspace.shown(uri) else {
            // The protocol wants documents to be opened first; one whose whole text comes is as good as open.
            let whole = params.content_changes.iter().rev().find(|change| change.range.is_none());
            if let Some(change) = whole {
                self.workspace.open(uri.clone(), Document::new(change.text.clone()));
                self.check(uri, Depth::FrontEnd);
            }
            return;
        };
        let mut changes = params.content_changes.iter();
        let Some(first) = changes.next() else { return };
        let changed = changes.fold(document.changed(first), |document, change| document.changed(change));
        self.workspace.open(uri.clone(), changed);
        self.check(uri, Depth::FrontEnd);
    }

    /// Looks at a document that has been saved.
    pub fn save(&mut self, uri: &lsp::Uri) {
        self.workspace.refresh();
        self.check(uri, Depth::Everything);
    }

    /// Forgets a document.
    pub fn close(&mut self, uri: &lsp::Uri) {
        self.workspace.close(uri);
        self.checker.forget(uri);
    }

    /// Looks for mistakes in a document. What the library's files and those of dependencies hold is no program.
    fn check(&mut self, uri: &lsp::Uri, depth: Depth) {
        let Some((path, _)) = self.workspace.shown(uri) else { return };
        if library::is_in(&path) || cache::holds(&path) {
            return;
        }
        let shown = self.workspace.all_shown();
        let texts = shown.map(|(path, _, document)| (path.clone(), document.text().to_string())).collect();
        self.checker.check(uri.clone(), path, texts, depth);
    }

    /// An open document.
    pub fn document(&self, uri: &lsp::Uri) -> Option<(PathBuf, Rc<Document>)> {
        self.workspace.refresh();
        self.workspace.shown(uri)
    }

    /// A place in an open document.
    pub fn place(&self, params: &lsp::TextDocumentPositionParams) -> Option<Place> {
        let (path, document) = self.document(&params.text_document.uri)?;
        let byte = document.byte(params.position);
        let occurrence = document.bindings().at(byte).cloned();
        Some(Place { path, document, byte, occurrence })
    }
}
