//! Mistakes: when messages appear, several at a time, and what mends them.

use super::{Client, edited};
use lsp_server::Response;
use serde_json::{Value as Json, json};

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

impl Client {
    /// The text after all remedies for its mistakes, and what these are called.
    fn mended(&mut self, text: &str) -> (String, Vec<String>) {
        let messages = self.open("main.vlad", text);
        let document = json!({ "uri": self.uri("main.vlad") });
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
        let params = json!({ "textDocument": document, "range": whole, "context": { "diagnostics": messages } });
        let actions = self.ask("textDocument/codeAction", params);
        let actions = actions.as_array().expect("a list");
        let uri = self.uri("main.vlad");
        let edits: Vec<Json> = actions
            .iter()
            .flat_map(|action| action["edit"]["changes"][&uri].as_array().expect("a list").clone())
            .collect();
        let titles = actions.iter().map(|action| action["title"].as_str().expect("a text").to_string()).collect();
        (edited(text, &Json::from(edits)), titles)
    }
}

#[test]
fn mistakes_are_mended() {
    let mut client = Client::new(&[("part.vlad", "(provide area)\n(define (area w h) (* w h))\n")]);
    for (text, mended, title) in [
        ("; 𝐱\r\n(define (f width) (+ widht 1))\n", "; 𝐱\r\n(define (f width) (+ width 1))\n", "write `width`"),
        ("(gradeint (lambda (x) x))\n", "(gradient (lambda (x) x))\n", "write `gradient`"),
        ("(ln 2)\n", "(log 2)\n", "write `log`"),
        ("(let ((x 1)) (list x, x))\n", "(let ((x 1)) (list x x))\n", "write `x`"),
        ("(import \"part\" (only aera))\n", "(import \"part\" (only area))\n", "write `area`"),
        ("(provide lenght)\n(define (length x) x)\n", "(provide length)\n(define (length x) x)\n", "write `length`"),
        ("(+ 1 (* 2 [- 3)])\n", "(+ 1 (* 2 [- 3])\n", "write `]`"),
        ("(+ 1 2))\n", "(+ 1 2)\n", "remove `)`"),
        ("(define (f x)\n  (+ x [- 1\n\n(f 1)\n", "(define (f x)\n  (+ x [- 1]))\n\n(f 1)\n", "insert `]))`"),
        ("(f (g 1)\n", "(f (g 1))\n", "insert `)`"),
        ("(list #true)\n", "(list #t)\n", "write `#t`"),
    ] {
        let (text, titles) = client.mended(text);
        assert_eq!(titles.first().map(|title| &**title), Some(title));
        if titles.len() == 1 {
            assert_eq!(text, mended);
        }
    }
    assert_eq!(client.mended("(nowhere-to-be-found 1)\n").1, Vec::<String>::new());
    // What is offered fits the newest text, or is not offered.
    client.open("main.vlad", "(gradeint 1)\n");
    client.change("main.vlad", "(f)\n(gradeint 1)\n");
    let document = json!({ "uri": client.uri("main.vlad") });
    let place = json!({ "start": { "line": 1, "character": 2 }, "end": { "line": 1, "character": 2 } });
    let mut params = json!({ "textDocument": document, "range": place, "context": { "diagnostics": [] } });
    let actions = client.ask("textDocument/codeAction", params.clone());
    assert_eq!(actions.as_array().map(Vec::len), Some(1), "{actions}");
    params["context"]["only"] = json!(["refactor"]);
    assert_eq!(client.ask("textDocument/codeAction", params), json!([]));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn all_mistakes_of_separate_forms_are_reported() {
    let mut client = Client::new(&[]);
    let text = "(define (f x) (unknown x))\n(f 1 2)\n(if 1)\n(let ((x)) 1)\n(define (g) (other 1))\n(lambda)\n\
        (f another)\n(match)\n(cond ())\n'(a)\n(1 2)\n(define if 1)\n(provide nothing)\n";
    let codes: Vec<(u64, String)> = client
        .open("main.vlad", text)
        .iter()
        .map(|message| {
            let line = message["range"]["start"]["line"].as_u64().expect("a number");
            (line, message["code"].as_str().expect("a code").to_string())
        })
        .collect();
    let expected = [
        (0, "V0201"),
        (1, "V0217"),
        (2, "V0210"),
        (3, "V0211"),
        (4, "V0201"),
        (5, "V0210"),
        (6, "V0201"),
        (7, "V0210"),
        (8, "V0210"),
        (9, "V0219"),
        (10, "V0223"),
        (11, "V0204"),
        (12, "V0246"),
    ];
    let codes: Vec<(u64, &str)> = codes.iter().map(|row| (row.0, &*row.1)).collect();
    assert_eq!(codes, expected);
    assert_eq!(client.end(), Some(0));
}

/// What the editor shows of another file counts, saved or not.
#[test]
fn included_files_are_those_that_the_editor_shows() {
    let mut client = Client::new(&[("part.vlad", "(define (area w h) (* w h))\n")]);
    client.open("part.vlad", "(define (surface w h) (* w h))\n");
    let text = "(include \"part\")\n(surface 1 2)\n";
    assert_eq!(client.open("main.vlad", text), Vec::<Json>::new());
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
