//! `vlad lsp`, spoken to by a client over pipes, as editors do.

mod edits;

mod mistakes;

mod names;

mod projects;

mod rename;

mod structure;

mod writing;

use crate::folder;
use lsp_server::{Message, Notification, Request, Response};
use serde_json::{Value as Json, json};
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// A server, and what its client knows.
struct Client {
    folder: TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    requests: i32,
    /// What the server has said without being asked.
    notes: Vec<Notification>,
}

impl Client {
    /// A server beside some files, which has been greeted.
    fn new(files: &[(&str, &str)]) -> Client {
        let folder = folder(files);
        let mut child = Command::new(env!("CARGO_BIN_EXE_vlad"))
            .args(["lsp", "--stdio"])
            .env_remove("VLAD_CACHE")
            .env("XDG_CACHE_HOME", folder.path().join(".cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().expect("it is piped")));
        let mut client = Client { folder, child, stdin, stdout, requests: 0, notes: Vec::new() };
        let root = format!("file://{}", client.folder.path().display());
        let answer = client.ask("initialize", json!({ "processId": null, "rootUri": root, "capabilities": {} }));
        assert_eq!(answer["serverInfo"]["name"], "vlad");
        assert_eq!(answer["capabilities"]["documentFormattingProvider"], true);
        client.say("initialized", json!({}));
        client
    }

    fn send(&mut self, message: Message) {
        let stdin = self.stdin.as_mut().expect("it is open");
        message.write(stdin).and_then(|()| stdin.flush()).expect("the server listens");
    }

    fn say(&mut self, method: &str, params: Json) {
        self.send(Message::Notification(Notification::new(method.to_string(), params)));
    }

    /// The whole answer to a request.
    fn response(&mut self, method: &str, params: Json) -> Response {
        self.requests += 1;
        self.send(Message::Request(Request::new(self.requests.into(), method.to_string(), params)));
        loop {
            match Message::read(&mut self.stdout).expect("the server answers").expect("it has not ended") {
                Message::Response(response) => return response,
                Message::Notification(note) => self.notes.push(note),
                Message::Request(request) => panic!("{request:?}"),
            }
        }
    }

    /// The answer to a request, or why there is none.
    fn try_ask(&mut self, method: &str, params: Json) -> Result<Json, String> {
        let response = self.response(method, params);
        let response = serde_json::to_value(&response).expect("it was JSON before");
        match response.get("error") {
            Some(error) => Err(error["message"].as_str().expect("a text").to_string()),
            None => Ok(response["result"].clone()),
        }
    }

    fn ask(&mut self, method: &str, params: Json) -> Json {
        self.try_ask(method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}/{name}", self.folder.path().display())
    }

    /// Opens a document, and returns the messages about it.
    fn open(&mut self, name: &str, text: &str) -> Vec<Json> {
        let document = json!({ "uri": self.uri(name), "languageId": "vlad", "version": 1, "text": text });
        self.say("textDocument/didOpen", json!({ "textDocument": document }));
        self.messages()
    }

    fn change(&mut self, name: &str, text: &str) -> Vec<Json> {
        let document = json!({ "uri": self.uri(name), "version": 2 });
        self.say("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [{ "text": text }] }));
        self.messages()
    }

    /// The messages that come next.
    fn messages(&mut self) -> Vec<Json> {
        loop {
            let note = match self.notes.pop() {
                Some(note) => note,
                None => match Message::read(&mut self.stdout).expect("the server speaks").expect("it has not ended") {
                    Message::Notification(note) => note,
                    message => panic!("{message:?}"),
                },
            };
            if note.method == "textDocument/publishDiagnostics" {
                return note.params["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    /// Opens a text without its mark `|`; what a request about the place of the mark says.
    fn open_marked(&mut self, name: &str, text: &str) -> Json {
        let byte = text.find('|').expect("there is a mark");
        let text = text.replacen('|', "", 1);
        self.open(name, &text);
        json!({ "textDocument": { "uri": self.uri(name) }, "position": position(&text, byte) })
    }

    /// Asks about the place of the mark `|` in a text that is opened without it.
    fn at_mark(&mut self, method: &str, name: &str, text: &str) -> Json {
        let params = self.open_marked(name, text);
        self.ask(method, params)
    }

    fn hover(&mut self, text: &str) -> String {
        let answer = self.at_mark("textDocument/hover", "main.vlad", text);
        answer["contents"]["value"].as_str().unwrap_or_default().to_string()
    }

    /// The file and the first line, from 0, where what is marked is defined.
    fn definition(&mut self, text: &str) -> Option<(String, u64)> {
        let answer = self.at_mark("textDocument/definition", "main.vlad", text);
        let file = answer["uri"].as_str()?.rsplit('/').next()?.to_string();
        Some((file, answer["range"]["start"]["line"].as_u64()?))
    }

    fn completion(&mut self, text: &str) -> Vec<String> {
        let answer = self.at_mark("textDocument/completion", "main.vlad", text);
        let items = answer.as_array().expect("a list");
        items.iter().map(|item| item["label"].as_str().expect("a name").to_string()).collect()
    }

    /// Says goodbye; the exit code.
    fn end(mut self) -> Option<i32> {
        assert_eq!(self.ask("shutdown", Json::Null), Json::Null);
        self.say("exit", Json::Null);
        self.stdin = None;
        self.child.wait().expect("it was started").code()
    }
}

/// The position of a byte, as the protocol counts.
fn position(text: &str, byte: usize) -> Json {
    let before = &text[..byte];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    json!({ "line": before.matches('\n').count(), "character": before[start..].encode_utf16().count() })
}

/// The byte at a position.
fn byte(text: &str, position: &Json) -> usize {
    let number = |name: &str| position[name].as_u64().expect("a number") as usize;
    let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
    let mut units = 0;
    let fits = |c: &char| {
        units += c.len_utf16();
        units <= number("character")
    };
    start + text[start..].chars().take_while(fits).map(char::len_utf8).sum::<usize>()
}

/// A text with marks around ranges.
fn marked<'j>(text: &str, ranges: impl Iterator<Item = &'j Json>) -> String {
    let mut ranges: Vec<(usize, usize)> =
        ranges.map(|range| (byte(text, &range["start"]), byte(text, &range["end"]))).collect();
    ranges.sort_unstable();
    let mut text = text.to_string();
    for (start, end) in ranges.into_iter().rev() {
        text.insert(end, '»');
        text.insert(start, '«');
    }
    text
}

/// A text after edits.
fn edited(text: &str, edits: &Json) -> String {
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("a list")
        .iter()
        .map(|edit| {
            let place = |name: &str| byte(text, &edit["range"][name]);
            (place("start"), place("end"), edit["newText"].as_str().expect("a text"))
        })
        .collect();
    edits.sort_unstable();
    let mut text = text.to_string();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}

const PART: &str = "; (area w h): how much paint a wall needs.\n(define (area w h) (* w h))\n";
