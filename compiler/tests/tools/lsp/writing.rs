//! Help with writing: completion, parameters, layout.

use super::{Client, PART, edited, position};
use serde_json::{Value as Json, json};

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

impl Client {
    /// How the function at the mark is called, with a mark around the parameter that comes next.
    fn signature(&mut self, text: &str) -> Option<String> {
        let answer = self.at_mark("textDocument/signatureHelp", "main.vlad", text);
        let signature = answer["signatures"].get(0)?;
        let label: Vec<u16> = signature["label"].as_str()?.encode_utf16().collect();
        let active = answer["activeParameter"].as_u64().expect("a number") as usize;
        let place = |end: usize| signature["parameters"][active]["label"][end].as_u64().expect("a number") as usize;
        let part = |range: std::ops::Range<usize>| String::from_utf16(&label[range]).expect("whole characters");
        let (start, end) = (place(0), place(1));
        Some(format!("{}«{}»{}", part(0..start), part(start..end), part(end..label.len())))
    }
}

#[test]
fn parameters_are_shown() {
    let mut client = Client::new(&[("part.vlad", PART)]);
    let shown = |text: &str| Some(text.to_string());
    for (text, expected) in [
        ("(include \"part\") (area |)", shown("(area «w» h)")),
        ("(include \"part\") (area 1 |", shown("(area w «h»)")),
        ("(include \"part\") (area 1|)", shown("(area «w» h)")),
        ("(include \"part\") (area 1 2 |)", None),
        ("(import \"part\" (prefix p:)) (p:area 1 |)", shown("(area w «h»)")),
        ("(define ((f (cons 𝐚 b)) c) c) (f |)", shown("((f «(cons 𝐚 b)») c)")),
        ("(define ((f (cons 𝐚 b)) c) c) ((f 1) |)", shown("((f (cons 𝐚 b)) «c»)")),
        ("(define (f x . others) x) (f 1 2 3 |)", shown("(f x . «others»)")),
        ("(define (f x y) (let loop ((i 0) (j 1)) (loop x |", shown("(loop i «j»)")),
        ("(define (f g) (define g (lambda (a b) a)) (g |))", shown("(g «a» b)")),
        ("(let ((car (lambda (one two) one))) (car 1 |))", shown("(car one «two»)")),
        ("(map car |)", shown("(map f «l» ...)")),
        ("(map car x y |)", shown("(map f «l» ...)")),
        ("((gradient f) |)", shown("((gradient f) «x»)")),
        ("(if x |)", shown("(if c «a» b)")),
        ("(define (f g) (g |))", None),
        ("(map| car x)", None),
        ("'(map |)", None),
    ] {
        assert_eq!(client.signature(text), expected, "{text}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn ranges_are_formatted() {
    let mut client = Client::new(&[]);
    let text = "(define  (f x)\r\n(+ x  1))\r\n\r\n(g   1) ; 𝐱\r\n(h   2)\r\n";
    client.open("main.vlad", text);
    let mut format = |start: usize, end: usize| {
        let range = json!({ "start": position(text, start), "end": position(text, end) });
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        let params = json!({ "textDocument": { "uri": client.uri("main.vlad") }, "range": range, "options": options });
        edited(text, &client.ask("textDocument/rangeFormatting", params))
    };
    let second = text.find("(g").expect("it is there");
    assert_eq!(format(second + 2, second + 3), text.replace("(g   1)", "(g 1)"));
    assert_eq!(
        format(3, second + 3),
        text.replace("(g   1)", "(g 1)").replace("(define  (f x)\r\n(+ x  1))", "(define (f x)\r\n  (+ x 1))")
    );
    assert_eq!(client.end(), Some(0));
}

#[test]
fn lines_keep_their_ends() {
    let mut client = Client::new(&[]);
    client.open("main.vlad", "(define  x 1)\r\n(f   x)\r\n");
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": client.uri("main.vlad") }, "options": options });
    let edits = client.ask("textDocument/formatting", params.clone());
    assert_eq!(edits[0]["newText"], "(define x 1)\r\n(f x)\r\n");
    client.change("main.vlad", "(define x 1)\r\n(f x)\r\n");
    assert_eq!(client.ask("textDocument/formatting", params), json!([]));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn imported_names_are_completed_as_the_import_says() {
    let mut client =
        Client::new(&[("part.vlad", "(provide area)\n(define (area w h) (side w))\n(define (side x) x)\n")]);
    let names = client.completion("(import \"part\" (prefix p:))\n(define (own x) x)\n(|)\n");
    assert!(names.contains(&"p:area".to_string()) && names.contains(&"own".to_string()));
    assert!(!names.iter().any(|name| ["area", "side", "p:side"].contains(&&**name)), "{names:?}");
    let answer = client.at_mark("textDocument/completion", "main.vlad", "(define (own x) x)\n(ow|)\n");
    let own = answer.as_array().expect("a list").iter().find(|item| item["label"] == "own");
    assert_eq!(own.map(|item| &item["detail"]), Some(&Json::from("(own x)")));
    assert_eq!(client.end(), Some(0));
}
