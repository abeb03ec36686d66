//! `vlad lsp`, spoken to by a client over pipes, as editors do.

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
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().expect("it is piped")));
        let mut client = Client { folder, child, stdin, stdout, requests: 0, notes: Vec::new() };
        let answer = client.ask("initialize", json!({ "processId": null, "rootUri": null, "capabilities": {} }));
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

    fn ask(&mut self, method: &str, params: Json) -> Json {
        let response = self.response(method, params);
        let response = serde_json::to_value(&response).expect("it was JSON before");
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
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

    /// Asks about the place of the mark `|` in a text that is opened without it.
    fn at_mark(&mut self, method: &str, name: &str, text: &str) -> Json {
        let byte = text.find('|').expect("there is a mark");
        let before = &text[..byte];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count();
        let character = before[start..].encode_utf16().count();
        self.open(name, &text.replacen('|', "", 1));
        let document = json!({ "uri": self.uri(name) });
        self.ask(method, json!({ "textDocument": document, "position": { "line": line, "character": character } }))
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

#[test]
fn mistakes_are_published_while_a_program_is_written() {
    let mut client = Client::new(&[]);
    let messages = client.open("main.vlad", "; ü\n(define (f x)\n  (+ 𝐱 x))\n");
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["code"], "V0201");
    let range = json!({ "start": { "line": 2, "character": 5 }, "end": { "line": 2, "character": 7 } });
    assert_eq!(messages[0]["range"], range);
    assert!(messages[0]["message"].as_str().is_some_and(|text| text.contains("`𝐱` is not defined\n")));
    assert_eq!(client.change("main.vlad", "(define (f x) x)\n"), Vec::<Json>::new());
    let messages = client.change("main.vlad", "(define (f x) x\n");
    assert_eq!(messages[0]["code"], "V0102");
    assert_eq!(messages[0]["relatedInformation"].as_array().map(Vec::len), Some(1));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_whole_compiler_looks_when_a_file_is_opened_or_saved() {
    let mut client = Client::new(&[]);
    let text = "(define (f x) (car x))\n(f 1)\n";
    assert_eq!(client.open("main.vlad", text)[0]["code"], "V0303");
    assert_eq!(client.change("main.vlad", text), Vec::<Json>::new(), "the front end sees nothing");
    let document = json!({ "textDocument": { "uri": client.uri("main.vlad") } });
    client.say("textDocument/didSave", document.clone());
    assert_eq!(client.messages()[0]["code"], "V0303");
    client.say("textDocument/didClose", document);
    assert_eq!(client.messages(), Vec::<Json>::new());
    assert_eq!(client.end(), Some(0));
}

const PART: &str = "; (area w h): how much paint a wall needs.\n(define (area w h) (* w h))\n";

#[test]
fn definitions_are_found() {
    let mut client = Client::new(&[("part.vlad", PART)]);
    let here = |line| Some(("main.vlad".to_string(), line));
    assert_eq!(client.definition("(define (f x) x)\n(define (g x)\n  (|f x))\n"), here(0));
    assert_eq!(client.definition("(define (f x)\n  (let ((x 2))\n    (+ x| 1)))\n"), here(1));
    assert_eq!(client.definition("(define (f x)\n  (define (g y) y)\n  (g| x))\n"), here(1));
    assert_eq!(client.definition("(include \"part\")\n(area| 1 2)\n"), Some(("part.vlad".to_string(), 1)));
    assert_eq!(client.definition("(include \"pa|rt\")\n"), Some(("part.vlad".to_string(), 0)));
    assert_eq!(client.definition("(ma|p car 1)\n"), None, "the library is in no file");
    assert_eq!(client.definition("(define (f x)\n  (let ((y 1))\n    (+ |y\n"), here(1), "in what is unfinished, too");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_records_define_is_found() {
    let mut client = Client::new(&[]);
    let record = "; A place in the plane.\n(define-record point x y)\n";
    let definition = |client: &mut Client, text: &str| client.definition(&format!("{record}{text}"));
    let here = |line| Some(("main.vlad".to_string(), line));
    assert_eq!(definition(&mut client, "(define (f p) (point-with-x| p 1))\n"), here(1));
    assert_eq!(definition(&mut client, "(define (f (poi|nt x y)) x)\n"), here(1));
    assert_eq!(definition(&mut client, "(define (f (point x y)) x|)\n"), here(2));
    let hover = client.hover(&format!("{record}(point-y| (point 1 2))\n"));
    assert!(hover.contains("```vlad\n(point-y point)\n```\nA place in the plane."), "{hover}");
    assert!(client.hover("(define-re|cord point x y)\n").contains("a form"));
    let names = client.completion(&format!("{record}(point|)\n"));
    for name in ["point", "point?", "point-x", "point-with-y", "define-record"] {
        assert!(names.iter().any(|found| found == name), "{name}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn names_are_described() {
    let mut client = Client::new(&[("part.vlad", PART)]);
    let own = client.hover("; Twice x.\n(define (f x) (* 2 x))\n(|f (real 3))\n");
    assert!(own.contains("```vlad\n(f x)\n```\nTwice x."), "{own}");
    assert!(own.contains("`real -> real`"), "{own}");
    let included = client.hover("(include \"part\")\n(|area 1 2)\n");
    assert!(included.contains("(area w h)\n```\nhow much paint a wall needs.\n\nin part.vlad"), "{included}");
    let library = client.hover("(map| f '())\n");
    assert!(library.contains("(map f l ...)") && library.contains("of the library"), "{library}");
    assert!(client.hover("(let ((x 1)) |x)\n").contains("bound in line 1"));
    assert!(client.hover("(le|t ((x 1)) x)\n").contains("a form"));
    assert_eq!(client.hover("(f \"a|b\")\n"), "");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn names_in_scope_are_completed() {
    let mut client = Client::new(&[("part.vlad", PART)]);
    let names = client.completion("(include \"part\")\n(define (f map) (let ((inner 1)) (+ |\n\n(define (g x) x)\n");
    for name in ["inner", "map", "f", "g", "area", "vector-fold", "letrec", "vector"] {
        assert_eq!(names.iter().filter(|found| *found == name).count(), 1, "{name}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.starts_with('%') || name == "x"), "{names:?}");
    assert_eq!(names[..2], ["inner", "map"], "the innermost first");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn documents_are_formatted_and_outlined() {
    let mut client = Client::new(&[]);
    client.open("main.vlad", "(define  ((f x) y)(+ x y))\n(define a 1)");
    let document = json!({ "uri": client.uri("main.vlad") });
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let params = json!({ "textDocument": document, "options": options });
    let edits = client.ask("textDocument/formatting", params.clone());
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 12 } });
    assert_eq!(edits, json!([{ "range": range, "newText": "(define ((f x) y) (+ x y))\n(define a 1)\n" }]));
    let symbols = client.ask("textDocument/documentSymbol", json!({ "textDocument": document }));
    let symbols: Vec<(&Json, &Json)> =
        symbols.as_array().expect("a list").iter().map(|symbol| (&symbol["name"], &symbol["detail"])).collect();
    assert_eq!(symbols, [(&json!("f"), &json!("((f x) y)")), (&json!("a"), &json!("a"))]);
    client.change("main.vlad", "(define (f x)\n");
    assert_eq!(client.ask("textDocument/formatting", params), Json::Null);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_is_unknown_or_wrong_ends_nothing() {
    let mut client = Client::new(&[]);
    client.say("textDocument/didChange", json!({ "nonsense": 1 }));
    client.say("$/unknown", json!({}));
    let error = |response: Response| serde_json::to_value(&response).expect("JSON")["error"]["code"].clone();
    assert_eq!(error(client.response("textDocument/unknown", json!({}))), -32601);
    assert_eq!(error(client.response("textDocument/hover", json!({ "position": 1 }))), -32602);
    let nowhere = json!({ "textDocument": { "uri": "untitled:1" }, "position": { "line": 9, "character": 9 } });
    assert_eq!(client.ask("textDocument/hover", nowhere), Json::Null);
    let text = "(define (f x) (f x))\n'(";
    let document = json!({ "uri": "untitled:1", "languageId": "vlad", "version": 1, "text": text });
    client.say("textDocument/didOpen", json!({ "textDocument": document }));
    assert_eq!(client.messages()[0]["code"], "V0102");
    assert_eq!(client.end(), Some(0));
}

/// Programs are unfinished most of the time: cut anywhere, with questions about any place.
#[test]
fn there_is_an_answer_at_every_place_of_unfinished_programs() {
    let mut client = Client::new(&[("part.vlad", PART)]);
    client.open("main.vlad", "");
    let program = "(include \"part\")\n; λ.\n(define ((f (cons a _)) . b)\n  (let* ((x 1) ((list y z) '(1 \"(\" . 2)))\n    #;(g #| ( |# x)\n    (letrec ((h (lambda (n) `(,n ,(h n))))) [h #(x y)])))\n(let loop ((i 0)) (if (= i 3) 𝐱 (loop (+ i 1))))\n";
    let places: Vec<usize> = program.char_indices().map(|row| row.0).chain([program.len()]).collect();
    for (index, end) in places.iter().enumerate() {
        client.change("main.vlad", &program[..*end]);
        // The end, and a place that differs from cut to cut.
        for place in [*end, places[index * 31 % (index + 1)]] {
            let before = &program[..place];
            let line = before.matches('\n').count();
            let character = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
            for question in ["hover", "definition", "completion"] {
                let document = json!({ "uri": client.uri("main.vlad") });
                let position = json!({ "line": line, "character": character });
                let params = json!({ "textDocument": document, "position": position });
                let answer = client.ask(&format!("textDocument/{question}"), params);
                assert!(question != "completion" || answer.as_array().is_some_and(|items| items.len() > 100));
            }
        }
    }
    assert_eq!(client.end(), Some(0));
}
