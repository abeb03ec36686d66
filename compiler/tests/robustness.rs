//! No text makes the compiler panic, and every message about one has a place. What the front end accepts is well-formed core;
//! what is compiled becomes object code, or a message with a place.
//!
//! Texts come from four sources: arbitrary characters, arbitrary sequences of tokens, programs of the tests and the examples with
//! pieces deleted, doubled, exchanged and taken from other programs, and the same cut off anywhere.
//!
//! `VLAD_FUZZ=100000 cargo test --release -p vlad --test robustness` tries so many texts of each kind instead of a few
//! hundred.

use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use vlad::base::SourceMap;
use vlad::core::{print, verify};
use vlad::expand::{Options, expand_text};
use vlad::flow;
use vlad::pipeline::{Pipeline, Refusal, Settings};
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
    "arguments",
    "real",
    "integer",
    "matrix",
    "progress",
    "gradient",
    "build",
    "vector-ref",
    "read-real",
    "custom-*j",
    "j*",
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

/// Programs of the tests and the examples.
fn right_programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> = ["tests/core", "tests/run", "examples"].map(|folder| root.join(folder)).into();
    let mut paths = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder exists").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "vlad") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).expect("programs are text")).collect()
}

/// How many texts of each kind are tried: this many, or as many as `VLAD_FUZZ` says.
fn cases(usual: u32) -> ProptestConfig {
    let wanted = std::env::var("VLAD_FUZZ").ok().and_then(|number| number.parse().ok());
    let cases = wanted.unwrap_or(usual);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() }
}

/// Compiles a text as far as object code. Whatever happens has a place.
fn compile(text: &str) {
    let limits = "work=300 variants=2000 code=20000 instructions=20000";
    let mut options = flow::Options::default();
    for limit in limits.split(' ') {
        let (name, value) = limit.split_once('=').expect("it has a value");
        options.set(name, value.parse().expect("it is a number")).expect("there is such a limit");
    }
    let mut pipeline = Pipeline::new(Settings { limits: options, ..Settings::default() });
    let parts = [("fuzz.vlad".to_string(), text.to_string())];
    let Ok(program) = pipeline.expand_parts(&parts) else { return };
    match pipeline.native(&program) {
        Ok(code) => {
            let object = pipeline.object(&code);
            assert!(object.is_ok(), "{object:?}\n{text}");
        }
        Err(Refusal::Mistake(mistakes)) => {
            assert!(mistakes.iter().all(|mistake| mistake.primary.is_some()), "{mistakes:?}\n{text}");
        }
        Err(Refusal::Unsupported(warning)) => assert!(warning.primary.is_some(), "{warning:?}\n{text}"),
    }
}

/// Runs a part of a test with the stack that the compiler has.
fn with_stack(part: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(part).expect("threads can be made");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
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
    #![proptest_config(cases(300))]

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
    fn programs_cut_off(program in prop::sample::select(right_programs()), start in any::<prop::sample::Index>(), end in any::<prop::sample::Index>()) {
        let places: Vec<usize> = program.char_indices().map(|place| place.0).chain([program.len()]).collect();
        let (a, b) = (start.index(places.len()), end.index(places.len()));
        examine(&program[places[a.min(b)]..places[a.max(b)]]);
    }

    #[test]
    fn programs_mixed(
        one in prop::sample::select(right_programs()),
        other in prop::sample::select(right_programs()),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5),
    ) {
        let (mut mixed, other) = (pieces(&one), pieces(&other));
        for (place, from) in places {
            let from = from.index(other.len());
            let part = &other[from..(from + 12).min(other.len())];
            let place = place.index(mixed.len());
            mixed.splice(place..(place + 6).min(mixed.len()), part.iter().cloned());
        }
        examine(&mixed.concat());
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

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn changed_programs_are_compiled(program in prop::sample::select(right_programs()), changes in prop::collection::vec(change(), 1..4)) {
        let mut pieces = pieces(&program);
        changes.iter().for_each(|change| apply(change, &mut pieces));
        with_stack(move || compile(&pieces.concat()));
    }
}
