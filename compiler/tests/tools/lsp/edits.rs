//! Documents while they are being written: cut anywhere, and after many edits.

use super::{Client, PART, position};
use serde_json::{Value as Json, json};

/// Programs are unfinished most of the time: cut anywhere, with questions about any place.
#[test]
fn there_is_an_answer_at_every_place_of_unfinished_programs() {
    let mut client = Client::new(&[("part.vlad", PART)]);
    client.open("main.vlad", "");
    let program = "(include \"part\")\n; λ.\n(define ((f (cons a _)) . b)\n  \
        (let* ((x 1) ((list y z) '(1 \"(\" . 2)))\n    #;(g #| ( |# x)\n    \
        (letrec ((h (lambda (n) `(,n ,(h n))))) [h #(x y)])))\n\
        (let loop ((i 0)) (if (= i 3) 𝐱 (loop (+ i 1))))\n";
    let places: Vec<usize> = program.char_indices().map(|row| row.0).chain([program.len()]).collect();
    for (index, end) in places.iter().enumerate() {
        client.change("main.vlad", &program[..*end]);
        // The end, and a place that differs from cut to cut.
        for place in [*end, places[index * 31 % (index + 1)]] {
            for question in ["hover", "definition", "completion", "signatureHelp", "documentHighlight"] {
                let document = json!({ "uri": client.uri("main.vlad") });
                let params = json!({ "textDocument": document, "position": position(program, place) });
                let answer = client.ask(&format!("textDocument/{question}"), params);
                assert!(question != "completion" || answer.as_array().is_some_and(|items| items.len() > 100));
            }
        }
    }
    assert_eq!(client.end(), Some(0));
}

/// Numbers that look random, and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

const START: &str = "; λ\r\n(include \"part\")\r\n(define (f x)\n  (let ((y (area x 2)) (𝛼 1))\n    \
    (match y ((cons a b) (+ a 𝛼)) (_ x))))\n(define g (lambda (h) (h '(1 2))))\r\n(f 1)\n";

const PIECES: [&str; 24] = [
    "(",
    ")",
    "[",
    "]",
    "\"",
    "'",
    "`",
    ",",
    "#;",
    "#|",
    "|#",
    ";",
    ".",
    "\n",
    "\r",
    "\r\n",
    " ",
    "x",
    "𝛼 ",
    "\u{1F600}",
    "(define (k x) x)\n",
    "(let ((x y)) ",
    "\n(f x)",
    "#(1",
];

/// The position of a byte, where lines end in three ways.
fn place(text: &str, byte: usize) -> Json {
    let plain = text.replace("\r\n", " \n").replace('\r', "\n");
    position(&plain, byte)
}

/// What the server says about the whole of a document, and about one place.
fn answers(client: &mut Client, name: &str, at: &Json) -> Vec<Json> {
    let document = json!({ "uri": client.uri(name) });
    let whole = ["documentSymbol", "foldingRange", "semanticTokens/full", "codeLens", "formatting"];
    let here = ["hover", "completion", "signatureHelp", "documentHighlight"];
    let mut params = json!({ "textDocument": document, "options": { "tabSize": 2, "insertSpaces": true } });
    let mut found: Vec<Json> =
        whole.iter().map(|question| client.ask(&format!("textDocument/{question}"), params.clone())).collect();
    params["position"] = at.clone();
    found.extend(here.iter().map(|question| client.ask(&format!("textDocument/{question}"), params.clone())));
    params["newName"] = json!("another-name");
    // The other document may include the same file, so that names in it change as well.
    let uri = client.uri(name);
    let renamed = client.try_ask("textDocument/rename", params);
    found.push(renamed.map_or_else(Json::from, |answer| answer["changes"][&uri].clone()));
    serde_json::from_str(&Json::from(found).to_string().replace(name, "a document")).expect("it was JSON before")
}

/// A document that has been edited many times is as good as one that has just been opened. `VLAD_LSP_EDITS` says how
/// many times, and `VLAD_LSP_SEED` which edits.
#[test]
fn edited_documents_equal_fresh_ones() {
    let setting = |name: &str, other: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(other);
    let mut numbers = Numbers(setting("VLAD_LSP_SEED", 1));
    let mut client = Client::new(&[("part.vlad", PART)]);
    let mut text = START.to_string();
    client.open("edited.vlad", &text);
    for edit in 1..=setting("VLAD_LSP_EDITS", 2000) {
        let boundary = |mut at: usize, text: &str| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            // The protocol has no place between the two characters that end a line.
            if text[..at].ends_with('\r') && text[at..].starts_with('\n') { at - 1 } else { at }
        };
        let start = boundary(numbers.below(text.len() + 1), &text);
        let length = if numbers.below(3) == 0 { numbers.below(12) } else { 0 };
        let end = boundary((start + length).min(text.len()), &text).max(start);
        let piece = match numbers.below(60) {
            0 => START,
            // Once in a while most of the text goes, so that it does not grow for ever.
            _ if text.len() > 2000 => "",
            other => PIECES[other % PIECES.len()],
        };
        let end = if text.len() > 2000 { text.len() } else { end };
        let range = json!({ "start": place(&text, start), "end": place(&text, end) });
        text.replace_range(start..end, piece);
        let change = json!({ "range": range, "text": piece });
        let document = json!({ "uri": client.uri("edited.vlad"), "version": edit });
        let change = json!({ "textDocument": document, "contentChanges": [change] });
        client.say("textDocument/didChange", change);
        let at = place(&text, boundary(numbers.below(text.len() + 1), &text));
        let question = ["hover", "completion", "documentHighlight"][numbers.below(3)];
        let params = json!({ "textDocument": document, "position": at });
        client.ask(&format!("textDocument/{question}"), params);
        client.notes.clear();
        if edit % 100 == 0 {
            let old = answers(&mut client, "edited.vlad", &at);
            let document = json!({ "uri": client.uri("fresh.vlad"), "languageId": "vlad", "version": 1, "text": text });
            client.say("textDocument/didOpen", json!({ "textDocument": document }));
            let new = answers(&mut client, "fresh.vlad", &at);
            assert_eq!(old, new, "after {edit} edits: {text:?}");
            client.say("textDocument/didClose", json!({ "textDocument": document }));
        }
    }
    assert_eq!(client.end(), Some(0));
}
