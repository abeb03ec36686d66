//! Answers about whole documents: symbols, layout, folding, selection, tokens, hints, lenses.

use super::{Client, byte, position};
use serde_json::{Value as Json, json};

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
fn symbols_of_all_files_are_found() {
    let files = [("a.vlad", "(define (fit-line x) x)\n"), ("deep/b.vlad", "(define line 1)\n(define (other x) x)\n")];
    let mut client = Client::new(&files);
    client.open("c.vlad", "(arguments (lines integer 1))\n");
    let answer = client.ask("workspace/symbol", json!({ "query": "LINE" }));
    let shown =
        |found: &Json| format!("{} {} {}", found["name"], found["containerName"], found["kind"]).replace('"', "");
    let found: Vec<String> = answer.as_array().expect("a list").iter().map(shown).collect();
    assert_eq!(found, ["line b.vlad 14", "lines c.vlad 14", "fit-line a.vlad 12"]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn brackets_and_comments_fold() {
    let mut client = Client::new(&[]);
    let text = "; One\n; two.\n(define (f x)\n  (let ((y 1)\n        (z 2))\n    x)) ; end\n\n; Alone.\n(f\n \
        1)\n#| a\nb |#\n(g\n  (h\n";
    client.open("main.vlad", text);
    let answer = client.ask("textDocument/foldingRange", json!({ "textDocument": { "uri": client.uri("main.vlad") } }));
    let shown = |found: &Json| {
        let kind = found["kind"].as_str().expect("a text").chars().next().expect("a letter");
        format!("{kind}{}-{}", found["startLine"], found["endLine"])
    };
    let found: Vec<String> = answer.as_array().expect("a list").iter().map(shown).collect();
    assert_eq!(found, ["c0-1", "r2-5", "r3-5", "r8-9", "c10-11", "r12-13"]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn selections_grow() {
    let mut client = Client::new(&[]);
    let text = "(define (f 𝐱) '(1 2))\n";
    client.open("main.vlad", text);
    let at = position(text, text.find('1').expect("it is there"));
    let params = json!({ "textDocument": { "uri": client.uri("main.vlad") }, "positions": [at] });
    let mut selection = client.ask("textDocument/selectionRange", params)[0].clone();
    let mut found = Vec::new();
    while selection.is_object() {
        let range = &selection["range"];
        found.push(text[byte(text, &range["start"])..byte(text, &range["end"])].to_string());
        selection = selection["parent"].clone();
    }
    assert_eq!(found, ["1", "(1 2)", "'(1 2)", text.trim_end(), text]);
    assert_eq!(client.end(), Some(0));
}

/// What each name of a text is, as the server says.
fn tokens(client: &mut Client, text: &str, range: Option<Json>) -> Vec<String> {
    client.open("main.vlad", text);
    let document = json!({ "uri": client.uri("main.vlad") });
    let answer = match range {
        None => client.ask("textDocument/semanticTokens/full", json!({ "textDocument": document })),
        Some(range) => {
            client.ask("textDocument/semanticTokens/range", json!({ "textDocument": document, "range": range }))
        }
    };
    let numbers: Vec<u64> =
        answer["data"].as_array().expect("a list").iter().map(|number| number.as_u64().expect("a number")).collect();
    let (mut line, mut column) = (0, 0);
    let mut found = Vec::new();
    for token in numbers.chunks(5) {
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        let start = byte(text, &json!({ "line": line, "character": column }));
        let end = byte(text, &json!({ "line": line, "character": column + token[2] }));
        let kind = ["keyword", "function", "variable", "parameter", "namespace"][token[3] as usize];
        let more = ["", " declared", " library", " declared library"][token[4] as usize];
        found.push(format!("{} {kind}{more}", &text[start..end]));
    }
    found
}

#[test]
fn names_have_kinds() {
    let mut client = Client::new(&[("part.vlad", "(define (area w h) (* w h))\n")]);
    let text = "(import \"part\" (only area) (prefix p:))\n(define (f 𝐱)\n  \
        (let ((y 'q)) (match y ((cons a _) (else? a 𝐱)))))\n(define c (map f (p:area c)))\n";
    let expected = [
        "import keyword",
        "only keyword",
        "area function",
        "prefix keyword",
        "p: namespace",
        "define keyword",
        "f function declared",
        "𝐱 parameter declared",
        "let keyword",
        "y variable declared",
        "match keyword",
        "y variable",
        "cons function library",
        "a variable declared",
        "a variable",
        "𝐱 parameter",
        "define keyword",
        "c variable declared",
        "map function library",
        "f function",
        "p:area function",
        "c variable",
    ];
    assert_eq!(tokens(&mut client, text, None), expected);
    let range = json!({ "start": { "line": 3, "character": 0 }, "end": { "line": 4, "character": 0 } });
    assert_eq!(tokens(&mut client, text, Some(range)), expected[16..]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn shapes_are_hinted() {
    let mut client = Client::new(&[]);
    let text =
        "(define c (real 2))\n(define (f x y) (+ x (car y)))\n(define g (lambda (x) (* 2 x)))\n(f (g c) (list c))\n";
    client.open("main.vlad", text);
    let document = json!({ "uri": client.uri("main.vlad") });
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let params = json!({ "textDocument": document, "range": whole });
    let shown = |answer: Json| -> Vec<String> {
        let shown = |hint: &Json| {
            let mut text = text.to_string();
            text.insert_str(byte(&text, &hint["position"]), hint["label"].as_str().expect("a text"));
            text.lines().find(|line| line.contains(": ")).expect("it was inserted").to_string()
        };
        answer.as_array().expect("a list").iter().map(shown).collect()
    };
    let expected = [
        "(define c: real (real 2))",
        "(define (f x y): (real . (real . ())) -> real (+ x (car y)))",
        "(define g: real -> real (lambda (x) (* 2 x)))",
    ];
    assert_eq!(shown(client.ask("textDocument/inlayHint", params.clone())), expected);
    // What has changed since is not known.
    client.change("main.vlad", &text.replace("(* 2 x)", "(* 3 x)"));
    assert_eq!(shown(client.ask("textDocument/inlayHint", params)), expected[..2]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn programs_are_run_and_derivatives_shown() {
    let program = "(define c 3)\n(define (f x) (* x x))\n(f c)\n(f 4)\n";
    let mut client = Client::new(&[("main.vlad", program), ("wrong.vlad", "(car 1)\n")]);
    client.open("main.vlad", program);
    let answer = client.ask("textDocument/codeLens", json!({ "textDocument": { "uri": client.uri("main.vlad") } }));
    let lenses: Vec<(u64, String, Json)> = answer
        .as_array()
        .expect("a list")
        .iter()
        .map(|lens| {
            let line = lens["range"]["start"]["line"].as_u64().expect("a number");
            (line, lens["command"]["title"].as_str().expect("a text").to_string(), lens["command"].clone())
        })
        .collect();
    let shown: Vec<(u64, &str)> = lenses.iter().map(|lens| (lens.0, &*lens.1)).collect();
    assert_eq!(shown, [(2, "run"), (1, "show derivative")]);
    let execute = |client: &mut Client, command: &Json| {
        let params = json!({ "command": command["command"], "arguments": command["arguments"] });
        client.try_ask("workspace/executeCommand", params)
    };
    assert_eq!(execute(&mut client, &lenses[0].2), Ok(json!("9\n16\n")));
    let derivative = execute(&mut client, &lenses[1].2).expect("it can be written");
    assert!(derivative.as_str().is_some_and(|text| text.contains("↼f")), "{derivative}");
    let of = |client: &Client, command: &str, name: &str, more: &[&str]| {
        let more = more.iter().map(|text| text.to_string());
        let arguments: Vec<String> = std::iter::once(client.uri(name)).chain(more).collect();
        json!({ "command": command, "arguments": arguments })
    };
    let wrong = of(&client, "vlad.run", "wrong.vlad", &[]);
    assert!(execute(&mut client, &wrong).is_ok_and(|text| text.as_str().is_some_and(|text| text.contains("V0303"))));
    let unknown = of(&client, "vlad.showDerivative", "main.vlad", &["nothing"]);
    assert!(execute(&mut client, &unknown).is_err_and(|text| text.contains("V0840")));
    let other = of(&client, "vlad.other", "main.vlad", &[]);
    assert_eq!(execute(&mut client, &other), Err("there is no command `vlad.other`".to_string()));
    assert_eq!(client.end(), Some(0));
}
