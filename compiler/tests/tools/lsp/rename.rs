//! Renaming: what changes, what is refused and why, and that programs mean the same afterwards.

use super::{Client, edited};
use crate::common::folder;
use crate::vlad;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

impl Client {
    /// The texts of all files that change when the name at the mark of a document gets another name.
    fn renamed(&mut self, name: &str, text: &str, new: &str) -> Result<BTreeMap<String, String>, String> {
        let mut params = self.open_marked(name, text);
        params["newName"] = json!(new);
        let answer = self.try_ask("textDocument/rename", params)?;
        let changes = answer["changes"].as_object().expect("there are changes").clone();
        let of_file = |(uri, edits): (&String, &Json)| {
            let path = uri.strip_prefix("file://").expect("it is a file");
            let file =
                path.strip_prefix(&format!("{}/", self.folder.path().display())).expect("it is here").to_string();
            let before = if file == name { text.replacen('|', "", 1) } else { crate::text(path.as_ref()) };
            (file, edited(&before, edits))
        };
        Ok(changes.iter().map(of_file).collect())
    }

    /// The text after the name at its mark has got another name.
    fn renamed_here(&mut self, text: &str, new: &str) -> Result<String, String> {
        let mut changed = self.renamed("main.vlad", text, new)?;
        Ok(changed.remove("main.vlad").expect("the document changes"))
    }
}

#[test]
fn names_change_where_they_stand_for_the_same() {
    let mut client = Client::new(&[]);
    for (text, new, expected) in [
        ("(define (f |x) (let ((x x)) x) x)", "y", "(define (f y) (let ((x y)) x) y)"),
        ("(let loop ((i 0)) (|loop i))", "again", "(let again ((i 0)) (again i))"),
        ("(let* ((a 1) (a |a)) a)", "b", "(let* ((b 1) (a b)) a)"),
        ("(match l ((cons |a b) (when a) (list a b)))", "λ", "(match l ((cons λ b) (when λ) (list λ b)))"),
        ("(define (f) (define (g x) (g x)) (g| 1))", "h", "(define (f) (define (h x) (h x)) (h 1))"),
        ("(define (f x) (f '(1) `(1 ,(f| x))))", "g", "(define (g x) (g '(1) `(1 ,(g x))))"),
        ("(provide f)\n; 𝐱 f\n(define |f 𝐱)\n(g \"f\" f)", "ff", "(provide ff)\n; 𝐱 f\n(define ff 𝐱)\n(g \"f\" ff)"),
        (
            "(define (f x) (let ((y |x)\n    (+ x y\n(define (g x) x)",
            "z",
            "(define (f z) (let ((y z)\n    (+ z y\n(define (g x) x)",
        ),
        ("(define (f x) x) (let ((abs |f)) (abs 1))", "exp", "(define (exp x) x) (let ((abs exp)) (abs 1))"),
    ] {
        assert_eq!(client.renamed_here(text, new), Ok(expected.to_string()));
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_would_change_the_meaning_is_refused() {
    let mut client = Client::new(&[("part.vlad", "(define (area w) w)\n(define (volume w) w)\n")]);
    for (text, new, reason) in [
        ("(ma|p car '())", "f", "`map` is a function of the library"),
        ("(l|et ((x 1)) x)", "f", "`let` is a word of the language here"),
        ("(lambda ((co|ns a b)) a)", "f", "`cons` is a word of the language here"),
        ("(un|known 1)", "f", "nothing defines `unknown`"),
        ("(f \"te|xt\")", "f", "there is no name here"),
        ("(define |x 1)", "let", "`let` is a word of the language"),
        ("(define |x 1)", "a b", "`a b` is not a name"),
        ("(define |x 1)", "12", "`12` is not a name"),
        ("(define |x 1)", "", "`` is not a name"),
        ("(define |x 1)", "%x", "names that begin with `%` are the library's"),
        ("(define |x 1)", "provide", "`provide` introduces a form at the top level"),
        ("(define |x 1) (define y 2)", "y", "`y` is defined already"),
        ("(include \"part\") (define |x 1)", "area", "`area` is defined already"),
        ("(lambda (|x y) 1)", "y", "`y` is bound beside it, in line 1"),
        ("(define (f |x)\n  (let ((y 1)) x))", "y", "`x` in line 2 would stand for the `y` that is bound in line 2"),
        ("(define (f |x)\n  (let ((y 1)) (y y)))\n(define y 1)", "y", ""),
        ("(define (f |x)\n  (y x))\n(define y 1)", "y", "`y` in line 2 would stand for what is renamed"),
        ("(define |x 1)\n(abs x)", "abs", "`abs` in line 2 would stand for what is renamed"),
        ("(define |g 1)\n(lambda (y) (g y))", "y", "`g` in line 2 would stand for the `y` that is bound in line 2"),
        ("(import \"part\")\n(define |g 1)\n(area g)", "area", "`area` in line 3 would stand for what is renamed"),
        ("(arguments (ra|te real 1))", "the/rate", "`the/rate` is no name for an argument on a command line"),
    ] {
        let refused = client.renamed_here(text, new);
        match reason {
            "" => assert!(refused.is_ok(), "{text}: {refused:?}"),
            reason => assert_eq!(refused, Err(reason.to_string()), "{text}"),
        }
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn editors_learn_what_can_be_renamed() {
    let mut client = Client::new(&[("part.vlad", "(define (area w) w)\n")]);
    let prepared =
        client.at_mark("textDocument/prepareRename", "main.vlad", "(import \"part\" (prefix p:))\n(p:ar|ea 1)\n");
    let range = json!({ "start": { "line": 1, "character": 3 }, "end": { "line": 1, "character": 7 } });
    assert_eq!(prepared, json!({ "range": range, "placeholder": "area" }));
    assert_eq!(client.at_mark("textDocument/prepareRename", "main.vlad", "(f | )"), Json::Null);
    let params = client.open_marked("main.vlad", "(|vector 1)");
    let refused = client.try_ask("textDocument/prepareRename", params);
    assert_eq!(refused, Err("`vector` is a function of the library".to_string()));
    assert_eq!(client.end(), Some(0));
}

const MODELS: &str = "(provide fit)\n(include \"part\")\n(define (fit x) (half (step x)))\n(fit 3)\n";
const HALF: &str = "(define (half x) (/ x 2))\n(define (step p) (+ p 1))\n";
const USER: &str = "(import \"models\" (only fit) (prefix m:))\n(import \"part\" (prefix fit:))\n(provide m:fit)\n\
    (define (fit x) (m:fit (fit:half x)))\n(fit 5)\n";
const AGAIN: &str = "(import \"user\" (only m:fit) (prefix u:))\n(u:m:fit 1)\n(define (half fit) fit)\n";

const FILES: [(&str, &str); 4] =
    [("models.vlad", MODELS), ("part.vlad", HALF), ("user.vlad", USER), ("again.vlad", AGAIN)];

#[test]
fn names_change_in_all_files() {
    let mut client =
        Client::new(&[("models.vlad", MODELS), ("part.vlad", HALF), ("user.vlad", USER), ("again.vlad", AGAIN)]);
    let text = MODELS.replace("(define (fit", "(define (f|it");
    let changed = client.renamed("models.vlad", &text, "train").expect("nothing is in the way");
    let expected = [
        ("again.vlad", AGAIN.replace("m:fit", "m:train")),
        ("models.vlad", MODELS.replace("fit", "train")),
        ("user.vlad", USER.replace("only fit", "only train").replace("m:fit", "m:train")),
    ];
    assert_eq!(changed, expected.map(|(file, text)| (file.to_string(), text)).into());
    // From a use with two prefixes.
    let back = client.renamed("again.vlad", &AGAIN.replace("(u:m:f", "(u:m:f|"), "train");
    assert_eq!(back, Ok(changed));
    let half = client.renamed("part.vlad", &HALF.replace("(define (half", "(define (hal|f"), "third");
    let files: Vec<String> = half.expect("nothing is in the way").into_keys().collect();
    assert_eq!(files, ["models.vlad", "part.vlad", "user.vlad"]);
    let clash = client.renamed("part.vlad", &HALF.replace("(define (half", "(define (hal|f"), "fit");
    assert_eq!(clash, Err("`fit` is defined already".to_string()));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn programs_of_several_files_mean_the_same_under_other_names() {
    let mut client = Client::new(&FILES);
    let before = folder(&FILES);
    let expected = vlad(&before, &["eval", "again.vlad"], "");
    assert_eq!(expected.0, Some(0), "{expected:?}");
    for (file, marked) in [
        ("models.vlad", MODELS.replace("(define (fit", "(define (f|it")),
        ("part.vlad", HALF.replace("(define (half", "(define (|half")),
        ("part.vlad", HALF.replace("(step", "(|step")),
        ("user.vlad", USER.replace("(define (fit", "(define (|fit")),
    ] {
        let changed = client.renamed(file, &marked, "new-name").expect("nothing is in the way");
        let mut all: BTreeMap<String, String> = FILES.map(|(name, text)| (name.to_string(), text.to_string())).into();
        all.extend(changed);
        let all: Vec<(&str, &str)> = all.iter().map(|(name, text)| (&**name, &**text)).collect();
        assert_eq!(vlad(&folder(&all), &["eval", "again.vlad"], ""), expected, "{marked}");
    }
    assert_eq!(client.end(), Some(0));
}

/// Every kind of name, hidden and hiding.
const PROGRAM: &str = "(define (f x) (let ((x (* 2 x)) (y x)) (+ x y)))
(define ((g (cons a b)) a-b) (list a b a-b (f a)))
(define h (lambda (f . rest) (if (pair? rest) (f . rest) (f rest))))
(define (even n)
  (define (go n k) (if (= n 0) k (back (- n 1) k)))
  (define (back n k) (go n (+ k one)))
  (define one 1)
  (go n 0))
(let loop ((i 0) (loop 3)) (+ i loop))
(let again ((i 0)) (if (< i 3) (again (+ i 1)) i))
(letrec ((odd (lambda (n) (if (= n 0) #f (ev (- n 1))))) (ev (lambda (n) (if (= n 0) #t (odd (- n 1)))))) (ev 7))
(let* ((a 1) (a (+ a 1)) (b a)) `(1 ,a (,b)))
(match (list 1 (vector 2 3) \"s\") ((list x (vector y z) \"s\") (when (< x y)) (let ((z (+ z x))) z)) (x x))
(match '(1 2) ('(1 2) (let ((q 1)) q)) ((cons q _) q))
(list (f 1) ((g (cons 1 2)) 3) (h f 4) (h + 1 2) (even 5))
((gradient (lambda (v) (let (((vector p q) v)) (* p q)))) #(2 5))
";

/// Each name becomes another, and that becomes the first again.
#[test]
fn names_can_be_changed_there_and_back() {
    let mut client = Client::new(&[]);
    let run = |text: &str| vlad(&folder(&[("main.vlad", text)]), &["eval", "main.vlad"], "");
    let expected = run(PROGRAM);
    assert_eq!(expected.0, Some(0), "{expected:?}");
    let mut seen: Vec<String> = Vec::new();
    let starts_name = |at: &usize| PROGRAM[..*at].ends_with([' ', '(', ',', '\n']) && PROGRAM.is_char_boundary(*at);
    for at in (1..PROGRAM.len()).filter(starts_name) {
        let mark = |text: &str| format!("{}|{}", &text[..at], &text[at..]);
        let Ok(changed) = client.renamed_here(&mark(PROGRAM), "zz-top") else { continue };
        if seen.contains(&changed) {
            continue;
        }
        assert_eq!(run(&changed), expected, "{changed}");
        let place = changed.find("zz-top").expect("it is there");
        let back = format!("{}|{}", &changed[..place], &changed[place..]);
        let end = PROGRAM[at..].find([' ', ')', '\n']).expect("names end");
        let name = PROGRAM[at..at + end].trim_end_matches(')');
        assert_eq!(client.renamed_here(&back, name), Ok(PROGRAM.to_string()), "{changed}");
        seen.push(changed);
    }
    assert_eq!(seen.len(), 42);
    assert_eq!(client.end(), Some(0));
}
