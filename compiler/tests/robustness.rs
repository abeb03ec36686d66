//! No text makes the front end panic, and whatever it accepts is well-formed core.
//!
//! Texts come from three sources: arbitrary characters, arbitrary sequences of tokens, and the right programs of
//! `tests/core` with pieces deleted, doubled and exchanged.

use proptest::prelude::*;
use std::fs;
use std::path::Path;
use vlad::base::SourceMap;
use vlad::core::{print, verify};
use vlad::expand::{Options, expand_text};
use vlad::syntax;

/// The pieces that programs consist of.
const TOKENS: &[&str] = &[
    "(",
    "(",
    "(",
    "(",
    ")",
    ")",
    ")",
    ")",
    "[",
    "]",
    "#(",
    "'",
    "`",
    ",",
    ",@",
    ".",
    "#;",
    "#|",
    "|#",
    ";",
    "\n",
    "\"",
    "\"a\"",
    "define",
    "lambda",
    "let",
    "let*",
    "letrec",
    "if",
    "cond",
    "else",
    "=>",
    "and",
    "or",
    "when",
    "unless",
    "begin",
    "quote",
    "quasiquote",
    "unquote",
    "include",
    "cons",
    "cons*",
    "list",
    "vector",
    "bundle",
    "*j",
    "*j-inverse",
    "_",
    "x",
    "y",
    "f",
    "g",
    "+",
    "-",
    "<",
    "map",
    "append",
    "max",
    "atan",
    "not",
    "error",
    "car",
    "zero",
    "1",
    "2.5",
    "1/0",
    "#t",
    "#f",
    "#b2",
    "#xff",
    "+nan.0",
    "\\",
    "é",
];

/// Expands a text; what comes out must be well formed and printable.
fn examine(text: &str) {
    let mut sources = SourceMap::new();
    match expand_text("fuzz.vlad", text, &Options::default(), &mut sources) {
        Ok(program) => {
            assert_eq!(verify::verify(&program), [] as [&str; 0], "{text}");
            print::program(&program, &sources);
        }
        Err(errors) => {
            assert!(!errors.is_empty(), "a program is rejected without a message: {text}");
            for error in errors {
                assert!(error.primary.is_some() && error.help.is_some() && !error.notes.is_empty(), "{error:?}");
                error.render(&sources, false);
            }
        }
    }
}

fn right_programs() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/core");
    let mut paths: Vec<_> = fs::read_dir(&folder).expect("tests/core exists").flatten().map(|e| e.path()).collect();
    paths.sort();
    let programs = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "vlad"));
    programs.map(|path| fs::read_to_string(path).expect("programs are text")).collect()
}

/// The text cut into words, brackets and marks.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in text.chars() {
        let alone = c.is_whitespace() || "()[]'`,".contains(c);
        if alone {
            pieces.extend([c.to_string(), String::new()]);
        } else if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// One change to a sequence of pieces.
#[derive(Clone, Debug)]
enum Change {
    Delete(prop::sample::Index),
    Double(prop::sample::Index),
    Exchange(prop::sample::Index, prop::sample::Index),
    Insert(prop::sample::Index, &'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        index().prop_map(Change::Delete),
        index().prop_map(Change::Double),
        (index(), index()).prop_map(|(a, b)| Change::Exchange(a, b)),
        (index(), prop::sample::select(TOKENS)).prop_map(|(at, token)| Change::Insert(at, token)),
    ]
}

fn apply(change: &Change, pieces: &mut Vec<String>) {
    if pieces.is_empty() {
        return;
    }
    let count = pieces.len();
    match change {
        Change::Delete(at) => drop(pieces.remove(at.index(count))),
        Change::Double(at) => pieces.insert(at.index(count), pieces[at.index(count)].clone()),
        Change::Exchange(a, b) => pieces.swap(a.index(count), b.index(count)),
        Change::Insert(at, token) => pieces.insert(at.index(count), format!(" {token} ")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_characters(text in any::<String>()) {
        examine(&text);
    }

    #[test]
    fn arbitrary_tokens(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        examine(&tokens.join(" "));
        examine(&tokens.concat());
    }

    #[test]
    fn changed_programs(program in prop::sample::select(right_programs()), changes in prop::collection::vec(change(), 1..6)) {
        let mut pieces = pieces(&program);
        changes.iter().for_each(|change| apply(change, &mut pieces));
        examine(&pieces.concat());
    }

    #[test]
    fn data_print_as_they_are_read(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..60)) {
        let mut sources = SourceMap::new();
        let text = tokens.join(" ");
        let file = sources.add("fuzz.vlad", text.clone(), false);
        let (data, errors) = syntax::parse(file, &text);
        if errors.is_empty() {
            let printed = syntax::print(&data);
            let (again, errors) = syntax::parse(file, &printed);
            prop_assert!(errors.is_empty(), "{}", printed);
            prop_assert_eq!(syntax::print(&again), printed);
        }
    }
}
