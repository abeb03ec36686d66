//! `vlad lsp`: a server of the language server protocol, on standard input and output.
//!
//! | file | |
//! |---|---|
//! | [`document`] | texts, their positions, and what is read of them |
//! | [`workspace`] | files that belong together, and what their top-level names stand for |
//! | [`library`] | what the library says, and files to read it in |
//! | [`checking`] | mistakes and shapes, found in other threads |
//! | [`server`] | the state: the above |
//! | [`names`] | answers about names: hover, definition, references, rename |
//! | [`writing`] | answers for those who write: completion, parameters, layout |
//! | [`structure`] | answers about whole documents: symbols, folding, tokens |
//! | [`actions`] | remedies, commands and hints |
//! | [`forms`] | how forms are written |
//!
//! Requests are answered one after the other, from what is read of the texts at hand; this takes milliseconds, so
//! nothing is cancelled. What takes longer, the compiler and commands, runs in threads. A document with mistakes is
//! read as far as possible ([`crate::syntax::recover`]), since that is what documents are while they are being written.

mod actions;

mod checking;

mod document;

mod forms;

pub(super) mod library;

mod names;

mod server;

mod structure;

mod workspace;

mod writing;

use super::{FAULT, SUCCESS, terminal};
use checking::Checker;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types as lsp;
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use server::Server;
use std::path::PathBuf;
use workspace::Workspace;

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
    let result = serve(&connection, &arguments.include);
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

fn capabilities() -> lsp::ServerCapabilities {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_string()).collect());
    lsp::ServerCapabilities {
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(lsp::TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
            save: Some(lsp::TextDocumentSyncSaveOptions::SaveOptions(lsp::SaveOptions { include_text: Some(false) })),
            ..lsp::TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
        definition_provider: Some(lsp::OneOf::Left(true)),
        references_provider: Some(lsp::OneOf::Left(true)),
        document_highlight_provider: Some(lsp::OneOf::Left(true)),
        rename_provider: Some(lsp::OneOf::Right(lsp::RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
        })),
        document_symbol_provider: Some(lsp::OneOf::Left(true)),
        workspace_symbol_provider: Some(lsp::OneOf::Left(true)),
        document_formatting_provider: Some(lsp::OneOf::Left(true)),
        document_range_formatting_provider: Some(lsp::OneOf::Left(true)),
        completion_provider: Some(lsp::CompletionOptions {
            trigger_characters: words(&["("]),
            ..lsp::CompletionOptions::default()
        }),
        signature_help_provider: Some(lsp::SignatureHelpOptions {
            trigger_characters: words(&["(", " "]),
            ..lsp::SignatureHelpOptions::default()
        }),
        folding_range_provider: Some(lsp::FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(lsp::SelectionRangeProviderCapability::Simple(true)),
        semantic_tokens_provider: Some(lsp::SemanticTokensServerCapabilities::SemanticTokensOptions(
            lsp::SemanticTokensOptions {
                legend: structure::legend(),
                range: Some(true),
                full: Some(lsp::SemanticTokensFullOptions::Bool(true)),
                ..lsp::SemanticTokensOptions::default()
            },
        )),
        inlay_hint_provider: Some(lsp::OneOf::Left(true)),
        code_action_provider: Some(lsp::CodeActionProviderCapability::Options(lsp::CodeActionOptions {
            code_action_kinds: Some(vec![lsp::CodeActionKind::QUICKFIX]),
            ..lsp::CodeActionOptions::default()
        })),
        code_lens_provider: Some(lsp::CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: vec![actions::RUN.to_string(), actions::SHOW_DERIVATIVE.to_string()],
            ..lsp::ExecuteCommandOptions::default()
        }),
        ..lsp::ServerCapabilities::default()
    }
}

fn serve(connection: &Connection, include: &[PathBuf]) -> Result<(), String> {
    let (id, params) = connection.initialize_start().map_err(|error| error.to_string())?;
    let result = json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "vlad", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, result).map_err(|error| error.to_string())?;
    // What an editor says wrongly about itself is as good as not said.
    let client: lsp::InitializeParams = serde_json::from_value(params).unwrap_or_default();
    let refreshes = client.capabilities.workspace.as_ref().and_then(|workspace| workspace.inlay_hint.as_ref());
    let refreshes = refreshes.and_then(|hints| hints.refresh_support).unwrap_or(false);
    let sender = connection.sender.clone();
    let send = Box::new(move |message| {
        // The editor may have gone.
        let _ = sender.send(message);
    });
    let mut workspace = Workspace::new(include.to_vec());
    workspace.folders = folders(&client);
    let mut server = Server { workspace, checker: Checker::new(include.to_vec(), refreshes, send) };
    let result = talk(connection, &mut server);
    server.checker.end();
    result
}

/// The folders that the editor has opened.
fn folders(client: &lsp::InitializeParams) -> Vec<PathBuf> {
    let named = client.workspace_folders.iter().flatten().filter_map(|folder| document::path(&folder.uri));
    let folders: Vec<PathBuf> = named.collect();
    #[allow(deprecated)] // Older editors say nothing else.
    let root = client.root_uri.as_ref().and_then(document::path);
    if folders.is_empty() { root.into_iter().collect() } else { folders }
}

fn talk(connection: &Connection, server: &mut Server) -> Result<(), String> {
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                    return Ok(());
                }
                if request.method == request::ExecuteCommand::METHOD {
                    execute(connection, server, request);
                    continue;
                }
                let response = answer(server, request);
                connection.sender.send(Message::Response(response)).map_err(|error| error.to_string())?;
            }
            Message::Notification(notification) => {
                // A notification has no answer, so a wrong one is passed over.
                let _ = terminal::catch(|| note(server, notification));
            }
            Message::Response(_) => {}
        }
    }
    Ok(())
}

/// Carries out a command, which answers when it is done.
fn execute(connection: &Connection, server: &Server, request: Request) {
    let sender = connection.sender.clone();
    let reply = move |response| {
        // The editor may have gone.
        let _ = sender.send(Message::Response(response));
    };
    match serde_json::from_value(request.params) {
        Ok(params) => server.execute(request.id, params, reply),
        Err(error) => reply(Response::new_err(request.id, ErrorCode::InvalidParams as i32, error.to_string())),
    }
}

/// The answer to a request.
fn answer(server: &mut Server, request: Request) -> Response {
    use lsp_types::request as on;
    let Request { id, method, params } = request;
    match &*method {
        on::HoverRequest::METHOD => reply(id, params, |params| server.hover(&params)),
        on::GotoDefinition::METHOD => reply(id, params, |params| server.definition(&params)),
        on::References::METHOD => reply(id, params, |params| server.references(&params)),
        on::DocumentHighlightRequest::METHOD => reply(id, params, |params| server.highlight(&params)),
        on::PrepareRenameRequest::METHOD => reply_or_refuse(id, params, |params| server.prepare_rename(&params)),
        on::Rename::METHOD => reply_or_refuse(id, params, |params| server.rename(&params)),
        on::Completion::METHOD => reply(id, params, |params| server.completion(&params)),
        on::SignatureHelpRequest::METHOD => reply(id, params, |params| server.signature(&params)),
        on::DocumentSymbolRequest::METHOD => reply(id, params, |params| server.symbols(&params)),
        on::WorkspaceSymbolRequest::METHOD => reply(id, params, |params| server.workspace_symbols(&params)),
        on::FoldingRangeRequest::METHOD => reply(id, params, |params| server.folding(&params)),
        on::SelectionRangeRequest::METHOD => reply(id, params, |params| server.selection(&params)),
        on::SemanticTokensFullRequest::METHOD => {
            reply(id, params, |params: lsp::SemanticTokensParams| server.tokens(&params.text_document.uri, None))
        }
        on::SemanticTokensRangeRequest::METHOD => reply(id, params, |params: lsp::SemanticTokensRangeParams| {
            server.tokens(&params.text_document.uri, Some(params.range))
        }),
        on::InlayHintRequest::METHOD => reply(id, params, |params| server.hints(&params)),
        on::CodeActionRequest::METHOD => reply(id, params, |params| server.code_actions(&params)),
        on::CodeLensRequest::METHOD => reply(id, params, |params| server.lenses(&params)),
        on::Formatting::METHOD => reply(id, params, |params| server.formatting(&params)),
        on::RangeFormatting::METHOD => reply(id, params, |params| server.range_formatting(&params)),
        _ => Response::new_err(id, ErrorCode::MethodNotFound as i32, format!("`{method}` is not provided")),
    }
}

/// Computes an answer; a mistake in the request, or in the compiler, becomes an error.
fn reply<P: DeserializeOwned, A: Serialize>(id: RequestId, params: Json, compute: impl FnOnce(P) -> A) -> Response {
    reply_or_refuse(id, params, |params| Ok(compute(params)))
}

/// The same, where the answer may be a refusal with a reason.
fn reply_or_refuse<P: DeserializeOwned, A: Serialize>(
    id: RequestId,
    params: Json,
    compute: impl FnOnce(P) -> Result<A, String>,
) -> Response {
    let fault = |code: ErrorCode, text| Response::new_err(id.clone(), code as i32, text);
    match serde_json::from_value(params) {
        Err(error) => fault(ErrorCode::InvalidParams, error.to_string()),
        Ok(params) => match terminal::catch(|| compute(params)) {
            Ok(Ok(answer)) => Response::new_ok(id, answer),
            Ok(Err(reason)) => fault(ErrorCode::RequestFailed, reason),
            Err(panic) => fault(ErrorCode::InternalError, format!("mistake in the compiler: {panic}")),
        },
    }
}

/// What a notification changes.
fn note(server: &mut Server, notification: Notification) -> Option<()> {
    let Notification { method, params } = notification;
    fn read<P: DeserializeOwned>(params: Json) -> Option<P> {
        serde_json::from_value(params).ok()
    }
    match &*method {
        notification::DidOpenTextDocument::METHOD => {
            let params: lsp::DidOpenTextDocumentParams = read(params)?;
            server.open(params.text_document);
        }
        notification::DidChangeTextDocument::METHOD => server.change(&read(params)?),
        notification::DidSaveTextDocument::METHOD => {
            let params: lsp::DidSaveTextDocumentParams = read(params)?;
            server.save(&params.text_document.uri);
        }
        notification::DidCloseTextDocument::METHOD => {
            let params: lsp::DidCloseTextDocumentParams = read(params)?;
            server.close(&params.text_document.uri);
        }
        _ => {}
    }
    Some(())
}
