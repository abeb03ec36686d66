//! `vlad lsp`: a server of the language server protocol, on standard input and output.
//!
//! Messages → answers ([`answers`]) from the open documents ([`document`]). The front end looks at a document whenever
//! it changes; when it is opened or saved, everything does that `vlad check` does. A document with mistakes is still
//! read as far as possible, since that is what documents are while they are being written.

mod answers;

mod document;

use super::{FAULT, SUCCESS, terminal};
use answers::Server;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CompletionOptions, HoverProviderCapability, OneOf, PublishDiagnosticsParams, SaveOptions, ServerCapabilities,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// What `vlad lsp` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    /// A folder in which `(include "name")` looks for name.vlad, after the folder of the including file. May be
    /// repeated.
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// Accepted, since editors pass it: there is no other way to talk.
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Runs the subcommand, until the editor says that it is done.
pub fn run(arguments: &Arguments) -> u8 {
    let (connection, threads) = Connection::stdio();
    let result = serve(&connection, Server::new(arguments.include.clone()));
    // The thread that writes ends when nobody can send to it any more.
    drop(connection);
    match result.and_then(|()| threads.join().map_err(|error| error.to_string())) {
        Ok(()) => SUCCESS,
        Err(error) => {
            eprintln!("error: the editor does not keep to the protocol: {error}");
            FAULT
        }
    }
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::FULL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec!["(".to_string()]),
            ..CompletionOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

fn serve(connection: &Connection, mut server: Server) -> Result<(), String> {
    let (id, _) = connection.initialize_start().map_err(|error| error.to_string())?;
    let result = json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "vlad", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, result).map_err(|error| error.to_string())?;
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                    return Ok(());
                }
                let response = answer(&mut server, request);
                connection.sender.send(Message::Response(response)).map_err(|error| error.to_string())?;
            }
            Message::Notification(notification) => {
                if let Some(published) = note(&mut server, notification) {
                    let method = notification::PublishDiagnostics::METHOD.to_string();
                    let message = Message::Notification(Notification::new(method, published));
                    connection.sender.send(message).map_err(|error| error.to_string())?;
                }
            }
            Message::Response(_) => {}
        }
    }
    Ok(())
}

/// The answer to a request.
fn answer(server: &mut Server, request: Request) -> Response {
    let Request { id, method, params } = request;
    match &*method {
        request::HoverRequest::METHOD => reply(id, params, |params| server.hover(&params)),
        request::GotoDefinition::METHOD => reply(id, params, |params| server.definition(&params)),
        request::Completion::METHOD => reply(id, params, |params| server.completion(&params)),
        request::DocumentSymbolRequest::METHOD => reply(id, params, |params| server.symbols(&params)),
        request::Formatting::METHOD => reply(id, params, |params| server.formatting(&params)),
        _ => Response::new_err(id, ErrorCode::MethodNotFound as i32, format!("`{method}` is not provided")),
    }
}

/// Computes an answer; a mistake in the request, or in the compiler, becomes an error.
fn reply<P: DeserializeOwned, A: Serialize>(id: RequestId, params: Json, compute: impl FnOnce(P) -> A) -> Response {
    match serde_json::from_value(params) {
        Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        Ok(params) => match terminal::catch(|| compute(params)) {
            Ok(answer) => Response::new_ok(id, answer),
            Err(panic) => {
                Response::new_err(id, ErrorCode::InternalError as i32, format!("mistake in the compiler: {panic}"))
            }
        },
    }
}

/// What a notification changes; messages about a document that is to be looked at anew.
fn note(server: &mut Server, notification: Notification) -> Option<PublishDiagnosticsParams> {
    let Notification { method, params } = notification;
    // Notifications have no answer, so a wrong one is passed over.
    fn read<P: DeserializeOwned>(params: Json) -> Option<P> {
        serde_json::from_value(params).ok()
    }
    let (uri, depth): (Uri, Depth) = match &*method {
        notification::DidOpenTextDocument::METHOD => {
            let params: lsp_types::DidOpenTextDocumentParams = read(params)?;
            server.open(params.text_document.uri.clone(), params.text_document.text);
            (params.text_document.uri, Depth::Everything)
        }
        notification::DidChangeTextDocument::METHOD => {
            let params: lsp_types::DidChangeTextDocumentParams = read(params)?;
            let text = params.content_changes.into_iter().next_back()?.text;
            server.open(params.text_document.uri.clone(), text);
            (params.text_document.uri, Depth::FrontEnd)
        }
        notification::DidSaveTextDocument::METHOD => {
            let params: lsp_types::DidSaveTextDocumentParams = read(params)?;
            (params.text_document.uri, Depth::Everything)
        }
        notification::DidCloseTextDocument::METHOD => {
            let params: lsp_types::DidCloseTextDocumentParams = read(params)?;
            server.close(&params.text_document.uri);
            return Some(PublishDiagnosticsParams::new(params.text_document.uri, Vec::new(), None));
        }
        _ => return None,
    };
    let diagnostics = terminal::catch(|| server.diagnostics(&uri, depth)).unwrap_or_default();
    Some(PublishDiagnosticsParams::new(uri, diagnostics, None))
}

/// How much of the compiler looks for mistakes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    FrontEnd,
    Everything,
}
