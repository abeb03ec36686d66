//! Texts that are no programs, or almost.

use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// The pieces that programs consist of.
pub const TOKENS: &[&str] = &[
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
    "export",
    "tuple",
    "boolean",
    "\"about\"",
    "\"\\x1F600;\"",
    "checkpoint",
    "primal",
    "read-matrix",
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
    "1e400",
    "-1e-400",
    "123456789012345678901234567890",
    "1e99999999999999999999",
    "1/3",
    "#x1.8",
    "1e",
    "\0",
    "\r",
    "\t",
    "\u{feff}",
    "\u{2028}",
    "𝒙",
    "\\",
    "é",
];

/// What forms look like; a hole is filled with a token or with a form.
const FORMS: &[&str] = &[
    "(export ◊ ◊)",
    "(export ◊ ◊ ◊)",
    "(export f ((x real)) ◊)",
    "(export (gradient ◊ ◊) ◊)",
    "(export (gradient f x) ((x ◊)) ◊)",
    "((x real) (y (vector real)))",
    "((◊ real))",
    "((x (tuple ◊ ◊)))",
    "(matrix ◊)",
    "(vector ◊ ◊)",
    "(tuple ◊ ◊)",
    "(arguments ◊ ◊)",
    "(arguments \"about\" (x real ◊ ◊) (y matrix ◊))",
    "(x integer 3 \"about\")",
    "(include ◊)",
    "(define ◊ ◊)",
    "(define (f x y) ◊ ◊)",
    "(define ((f ◊) ◊) ◊)",
    "(define (f (cons x ◊)) ◊)",
    "(lambda ◊ ◊)",
    "(lambda (x) ◊)",
    "(let ((x ◊) (y ◊)) ◊)",
    "(let* ((◊ ◊) (y ◊)) ◊)",
    "(letrec ((f (lambda (x) ◊))) ◊)",
    "(let f ((x ◊)) ◊)",
    "(if ◊ ◊ ◊)",
    "(cond (◊ ◊) (else ◊))",
    "(when ◊ ◊)",
    "(and ◊ ◊)",
    "(begin ◊ ◊)",
    "(f ◊)",
    "(+ ◊ ◊)",
    "(◊ . ◊)",
    "(◊ ◊)",
    "(◊)",
    "[◊ ◊]",
    "#(◊ ◊)",
    "'◊",
    "`(◊ ,◊)",
    "#;◊",
    "#|◊|#",
    "; ◊\n",
    "(cons ◊ ◊)",
    "(list ◊ ◊ ◊)",
    "(cons* ◊ ◊)",
    "(bundle ◊ ◊)",
    "(*j ◊)",
    "((gradient f) ◊)",
    "((derivative (lambda (x) ◊)) ◊)",
    "(build ◊ (lambda (i) ◊))",
    "(vector-ref ◊ ◊)",
    "(progress ◊ ◊ ◊)",
    "(with-derivative f ◊)",
];

/// A hole.
const HOLE: &str = "◊";

/// Forms that have about the right parts.
pub fn forms() -> impl Strategy<Value = String> {
    let token = prop::sample::select(TOKENS).prop_map(str::to_string);
    let form = token.prop_recursive(6, 60, 4, |part| {
        (prop::sample::select(FORMS), prop::collection::vec(part, 4)).prop_map(|(form, parts)| {
            let mut pieces = form.split(HOLE);
            let first = pieces.next().unwrap_or_default().to_string();
            pieces.zip(parts).fold(first, |text, (piece, part)| text + &part + piece)
        })
    });
    prop::collection::vec(form, 1..8).prop_map(|forms| forms.join("\n"))
}

/// What can be repeated: openings, marks, names, digits.
const REPEATED: &[&str] = &[
    "(",
    ")",
    "[",
    "(]",
    "#(",
    "'",
    "`",
    ",",
    "#;",
    "#|",
    "|#",
    "\"",
    "\\",
    ";",
    ".",
    " ",
    "\n",
    "\t",
    "x",
    "9",
    "1.",
    "e9",
    "1/",
    "#",
    "-",
    "\u{feff}",
    "é",
    "𝒙",
    "\0",
    "(f ",
    "(lambda (x) ",
    "(let ((x ",
    "(if 1 ",
    "(cond (",
    "(list ",
    "`(,",
    "(define (",
    "(begin ",
    "(define x ",
    "(cons x ",
    "(* 2 ",
    "x ",
    "1 ",
    "(x)",
    "(export f ",
    "(tuple real ",
    "((gradient ",
    "((derivative (lambda (x) ",
    "(include \"x\") ",
];

/// Few things, very often: deep nesting, very long lines, names, numbers and lists.
pub fn extremes() -> impl Strategy<Value = String> {
    let count = prop_oneof![1..20usize, 200..300usize, 900..1100usize, Just(5000), Just(60_000)];
    let part = (prop::sample::select(REPEATED), count).prop_map(|(piece, count)| piece.repeat(count));
    prop::collection::vec(part, 1..5).prop_map(|parts| parts.concat())
}

/// A change to bytes.
#[derive(Clone, Debug)]
pub enum Damage {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Cut(prop::sample::Index),
}

/// A change that is likely to hurt.
pub fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    let byte = prop_oneof![Just(0), Just(0xff), Just(0x80), Just(0xc3), Just(b'\r'), any::<u8>()];
    prop_oneof![
        (index(), byte).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (index(), prop::collection::vec(any::<u8>(), 1..6)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        index().prop_map(Damage::Cut),
    ]
}

/// Changes bytes.
pub fn hurt(bytes: &mut Vec<u8>, damage: &Damage) {
    let place = |at: &prop::sample::Index| at.index(bytes.len() + 1);
    match damage {
        Damage::Replace(at, byte) => {
            let place = place(at);
            if let Some(old) = bytes.get_mut(place) {
                *old = *byte;
            }
        }
        Damage::Insert(at, new) => {
            let place = place(at);
            bytes.splice(place..place, new.iter().copied());
        }
        Damage::Cut(at) => bytes.truncate(place(at)),
    }
}

/// Arrays of numbers, as texts and as NumPy writes them.
pub fn arrays() -> impl Strategy<Value = Vec<u8>> {
    let kind =
        prop::sample::select(&["<f8", ">f8", "<f4", "<i8", "|b1", "<u2", ">i4", "|u1", "<f2", "<c16", "|S3"][..]);
    let extent = prop_oneof![0..5u64, Just(u64::MAX), Just(1 << 53), Just(1 << 40)];
    let shape = prop::collection::vec(extent, 0..4);
    let data = prop::collection::vec(any::<u8>(), 0..100);
    let npy = (kind, any::<bool>(), shape, data, 1..4u8).prop_map(|(kind, fortran, shape, data, version)| {
        let fortran = if fortran { "True" } else { "False" };
        let shape: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
        let header = format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': ({shape}), }}\n");
        let length = header.len() as u32;
        let length = if version == 1 { (length as u16).to_le_bytes().to_vec() } else { length.to_le_bytes().to_vec() };
        [b"\x93NUMPY", &[version, 0][..], &length, header.as_bytes(), &data].concat()
    });
    let word = prop::sample::select(
        &[
            "1", "2.5", "-3e7", "nan", "inf", "1/3", "#x1f", ",", ", ", " ", "\n", "\n\n", "\t", "x", "1e999", "é",
            "\r\n",
        ][..],
    );
    let text = prop::collection::vec(word, 0..40).prop_map(|words| words.join(" ").into_bytes());
    prop_oneof![npy, text]
}

/// Programs of the tests and the examples.
pub fn right_programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> =
        ["tests", "examples", "stdlib", "benches", "compiler/tests/programs"].map(|folder| root.join(folder)).into();
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
    paths.iter().map(|path| String::from_utf8_lossy(&fs::read(path).expect("files can be read")).into_owned()).collect()
}

/// The text cut into words, brackets and marks.
pub fn pieces(text: &str) -> Vec<String> {
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
pub enum Change {
    Delete(prop::sample::Index),
    Double(prop::sample::Index),
    Exchange(prop::sample::Index, prop::sample::Index),
    Insert(prop::sample::Index, &'static str),
}

pub fn change() -> impl Strategy<Value = Change> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        index().prop_map(Change::Delete),
        index().prop_map(Change::Double),
        (index(), index()).prop_map(|(a, b)| Change::Exchange(a, b)),
        (index(), prop::sample::select(TOKENS)).prop_map(|(at, token)| Change::Insert(at, token)),
    ]
}

pub fn apply(change: &Change, pieces: &mut Vec<String>) {
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
