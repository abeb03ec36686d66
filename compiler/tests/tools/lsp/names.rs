//! Answers about names: what they are, where they are defined, and where else they stand.

use super::{Client, PART, marked};
use serde_json::{Value as Json, json};

#[test]
fn definitions_are_found() {
    let mut client = Client::new(&[("part.vlad", PART)]);
    let here = |line| Some(("main.vlad".to_string(), line));
    assert_eq!(client.definition("(define (f x) x)\n(define (g x)\n  (|f x))\n"), here(0));
    assert_eq!(client.definition("(define (f x)\n  (let ((x 2))\n    (+ x| 1)))\n"), here(1));
    assert_eq!(client.definition("(define (f x)\n  (define (g y) y)\n  (g| x))\n"), here(1));
    assert_eq!(client.definition("(include \"part\")\n(area| 1 2)\n"), Some(("part.vlad".to_string(), 1)));
    assert_eq!(client.definition("(include \"pa|rt\")\n"), Some(("part.vlad".to_string(), 0)));
    assert_eq!(client.definition("(define (f x)\n  (let ((y 1))\n    (+ |y\n"), here(1), "in what is unfinished, too");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_library_can_be_read() {
    let mut client = Client::new(&[]);
    let answer = client.at_mark("textDocument/definition", "main.vlad", "(ma|p car 1)\n");
    let path = answer["uri"].as_str().and_then(|uri| uri.strip_prefix("file://")).expect("it is in a file").to_string();
    let text = crate::text(path.as_ref());
    let line = answer["range"]["start"]["line"].as_u64().expect("a number") as usize;
    assert!(text.lines().nth(line).is_some_and(|line| line.starts_with("(define (map ")), "{path}:{line}");
    let import = client.definition("(import \"library/li|near\" (prefix l:))\n");
    assert_eq!(import, Some(("linear.vlad".to_string(), 0)));
    // There it can be read like any file, and is no program with mistakes.
    let uri = format!("file://{path}");
    let document = json!({ "uri": uri, "languageId": "vlad", "version": 1, "text": text });
    client.say("textDocument/didOpen", json!({ "textDocument": document }));
    let place = json!({ "line": line, "character": 10 });
    let params = json!({ "textDocument": { "uri": uri }, "position": place });
    assert!(client.ask("textDocument/hover", params.clone())["contents"]["value"].as_str().is_some());
    let refused = client.try_ask("textDocument/prepareRename", params);
    assert_eq!(refused, Err("`map` is a function of the library".to_string()));
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

impl Client {
    /// A text with marks around all places of the name at its mark.
    fn highlighted(&mut self, text: &str) -> String {
        let answer = self.at_mark("textDocument/documentHighlight", "main.vlad", text);
        let found = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        marked(&text.replacen('|', "", 1), found.iter().map(|found| &found["range"]))
    }

    /// The files, lines and columns where what is at the mark is used.
    fn references(&mut self, name: &str, text: &str, with_declaration: bool) -> Vec<String> {
        let mut params = self.open_marked(name, text);
        params["context"] = json!({ "includeDeclaration": with_declaration });
        let answer = self.ask("textDocument/references", params);
        let shown = |found: &Json| {
            let file = found["uri"].as_str().expect("a text").rsplit('/').next().expect("a name").to_string();
            let start = &found["range"]["start"];
            format!("{file}:{}:{}", start["line"], start["character"])
        };
        let mut found: Vec<String> = answer.as_array().expect("a list").iter().map(shown).collect();
        found.sort();
        found
    }
}

#[test]
fn inner_names_hide_outer_ones() {
    let mut client = Client::new(&[]);
    for (text, expected) in [
        ("(define (f |x) (let ((x x)) x) x)", "(define (f «x») (let ((x «x»)) x) «x»)"),
        ("(define (f x) (let ((x x)) |x) x)", "(define (f x) (let ((«x» x)) «x») x)"),
        ("(let* ((a 1) (a a|)) a)", "(let* ((«a» 1) (a «a»)) a)"),
        ("(letrec ((f (lambda (f) f)) (g f)) (|f g))", "(letrec ((«f» (lambda (f) f)) (g «f»)) («f» g))"),
        ("(let loop ((i 0) (loop 1)) (|loop i))", "(let loop ((i 0) («loop» 1)) («loop» i))"),
        ("(let loop ((i loop)) (|loop i))", "(let «loop» ((i loop)) («loop» i))"),
        ("(define ((f x) y) ((|f y) (f x)))", "(define ((«f» x) y) ((«f» y) («f» x)))"),
        ("(lambda (x (cons y _) . z) (|y z x y))", "(lambda (x (cons «y» _) . z) («y» z x «y»))"),
        ("(match x ((list a b) (when |a) a) (a a))", "(match x ((list «a» b) (when «a») «a») (a a))"),
        ("(define (f g) (define (g h) (h |g)) (g 1))", "(define (f g) (define («g» h) (h «g»)) («g» 1))"),
        ("(define x 1) (f '|x `(x ,x))", "(define x 1) (f 'x `(x ,x))"),
        ("(define 𝛼 1) ; 𝛼\n(+ 𝛼 |𝛼)", "(define «𝛼» 1) ; 𝛼\n(+ «𝛼» «𝛼»)"),
        ("(m|ap car (map f l))", "(«map» car («map» f l))"),
        ("(define (map f) f) (m|ap car)", "(define («map» f) f) («map» car)"),
        ("(if (ma|p) (let ((map 1)) map) 'map)", "(if («map») (let ((map 1)) map) 'map)"),
        ("(cond (|else 1))", "(cond (else 1))"),
        (
            "(define (f x)\n  (let ((y |x)\n    (+ x y\n(define (g x) x)",
            "(define (f «x»)\n  (let ((y «x»)\n    (+ «x» y\n(define (g x) x)",
        ),
        ("(arguments (rate real 0.1)) (* rat|e 2)", "(arguments («rate» real 0.1)) (* «rate» 2)"),
        ("(export (gradient f |w) ((w real)) (f w w))", "(export (gradient f «w») ((«w» real)) (f «w» «w»))"),
    ] {
        assert_eq!(client.highlighted(text), expected);
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn declarations_are_written_and_uses_read() {
    let mut client = Client::new(&[]);
    let answer = client.at_mark("textDocument/documentHighlight", "main.vlad", "(define (f x) (|f x))");
    let kinds: Vec<&Json> = answer.as_array().expect("a list").iter().map(|found| &found["kind"]).collect();
    assert_eq!(kinds, [&json!(3), &json!(2)]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn uses_are_found_in_all_files() {
    let mut client = Client::new(&[
        ("models.vlad", "(provide fit)\n(include \"part\")\n(define (step p) (area p 2))\n(define (fit x) (step x))\n"),
        ("part.vlad", PART),
        ("user.vlad", "(import \"models\" (only fit) (prefix m:))\n(define (fit x) (m:fit x))\n(fit (m:fit 1))\n"),
        ("again.vlad", "(import \"user\")\n(fit 1)\n"),
        ("other.vlad", "(define (fit x) (area x x))\n"),
    ]);
    let models = "(provide fit)\n(include \"part\")\n(define (step p) (area p 2))\n(define (|fit x) (step x))\n";
    let all = ["models.vlad:0:9", "models.vlad:3:9", "user.vlad:0:23", "user.vlad:1:17", "user.vlad:2:6"];
    assert_eq!(client.references("models.vlad", models, true), all);
    assert_eq!(client.references("models.vlad", models, false), [all[0], all[2], all[3], all[4]]);
    let user = "(import \"models\" (only fit) (prefix m:))\n(define (fit x) (m:fit x))\n(f|it (m:fit 1))\n";
    assert_eq!(client.references("user.vlad", user, false), ["again.vlad:1:1", "user.vlad:2:1"]);
    let part = "; (area w h): how much paint a wall needs.\n(define (ar|ea w h) (* w h))\n";
    assert_eq!(client.references("part.vlad", part, false), ["models.vlad:2:18"]);
    let library = client.references("main.vlad", "(vector-su|m x) (let ((vector-sum 1)) vector-sum)\n", true);
    assert_eq!(library, ["main.vlad:0:1"]);
    assert_eq!(client.end(), Some(0));
}

/// A part of a program may use what the file defines that includes it.
#[test]
fn names_of_including_files_are_known() {
    let mut client = Client::new(&[("whole.vlad", "(define (helper x) x)\n(include \"part\")\n")]);
    let answer = client.at_mark("textDocument/definition", "part.vlad", "(define (g x) (|helper x))\n");
    assert!(answer["uri"].as_str().is_some_and(|uri| uri.ends_with("/whole.vlad")), "{answer}");
    assert_eq!(client.end(), Some(0));
}
