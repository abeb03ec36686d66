//! The formatter: programs keep their datums and their comments, formatting twice changes nothing, and lines stay
//! short.
//!
//! The programs are those of the tree, and generated ones with line breaks and comments in all places. What formatted
//! programs look like is shown by `snapshots/format__*`.

use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use vlad::base::SourceMap;
use vlad::syntax::{self, format};

/// The formatted text; `None` when the text is wrong.
fn formatted(text: &str) -> Option<String> {
    let file = SourceMap::new().add("program.vlad", text, false);
    format::format(file, text).ok()
}

/// The datums of a text, printed without what surrounds them.
fn datums(text: &str) -> String {
    let file = SourceMap::new().add("program.vlad", text, false);
    let (datums, errors) = syntax::parse(file, text);
    assert_eq!(errors, [], "{text}");
    datums.iter().map(|datum| syntax::flat(datum) + "\n").collect()
}

/// All comments, without the white space at their ends.
fn comments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => string_length(rest),
            ';' => rest.find('\n').unwrap_or(rest.len()),
            '#' if rest.starts_with("#|") => block_length(rest),
            // `#;` hides a datum, and its semicolon does not begin a comment.
            '#' if rest.starts_with("#;") => 2,
            // A name that holds `#` does not begin anything.
            c if c.is_alphanumeric() => rest.find(|c: char| !c.is_alphanumeric() && c != '#').unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        if matches!(token.as_bytes(), [b';', ..] | [b'#', b'|', ..]) {
            found.push(token.trim_end().to_string());
        }
        rest = behind;
    }
    found
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(place, _)| place + 1)
}

fn block_length(text: &str) -> usize {
    let mut open = 0;
    for (place, _) in text.match_indices(['#', '|']) {
        if text[place..].starts_with("#|") {
            open += 1;
        } else if text[place..].starts_with("|#") {
            open -= 1;
            if open == 0 {
                return place + 2;
            }
        }
    }
    text.len()
}

/// What must hold of every text.
fn check(text: &str) -> Result<(), String> {
    let once = formatted(text).ok_or_else(|| format!("is wrong:\n{text}"))?;
    let twice = formatted(&once).ok_or_else(|| format!("{text}\nbecomes wrong:\n{once}"))?;
    if twice != once {
        return Err(format!("{text}\nis formatted as\n{once}\nand then as\n{twice}"));
    }
    if datums(text) != datums(&once) {
        return Err(format!("{text}\nhas other datums:\n{once}"));
    }
    if comments(text) != comments(&once) {
        return Err(format!("{text}\nhas other comments:\n{once}"));
    }
    if once.contains("\n\n\n") && !text.contains('"') && !text.contains("#|") {
        return Err(format!("two blank lines:\n{once}"));
    }
    Ok(())
}

/// The programs of the tree that can be read.
fn programs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the compiler stands in the workspace");
    let mut folders: Vec<PathBuf> =
        ["tests", "examples", "stdlib", "benches", "compiler/tests"].iter().map(|folder| root.join(folder)).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("folders can be listed") {
            let path = entry.expect("folders can be listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "vlad")
                && let Ok(text) = fs::read_to_string(&path)
                && formatted(&text).is_some()
            {
                found.push((path, text));
            }
        }
    }
    found
}

#[test]
fn programs_of_the_tree_keep_their_meaning() {
    let programs = programs();
    assert!(programs.len() > 400, "{} programs", programs.len());
    for (path, text) in programs {
        check(&text).unwrap_or_else(|complaint| panic!("{}: {complaint}", path.display()));
    }
}

#[test]
fn lines_stay_short() {
    for (path, text) in programs() {
        for line in formatted(&text).expect("it was formatted before").lines() {
            // Nothing breaks comments and texts.
            let breakable = !line.contains(';') && !line.contains('"') && !line.contains("#|");
            assert!(line.chars().count() <= format::WIDTH || !breakable, "{}: {line}", path.display());
        }
    }
}

#[test]
fn library_and_examples_are_formatted() {
    for (path, text) in programs() {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        if folder == "stdlib" || folder == "examples" {
            assert!(formatted(&text).as_deref() == Some(&text), "run `vlad fmt {}`", path.display());
        }
    }
}

#[test]
fn what_is_nested_as_deeply_as_possible_is_formatted() {
    let depth = syntax::MAX_NESTING;
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(move || {
        check(&format!("{}x{}", "(f ".repeat(depth), ")".repeat(depth)))?;
        check(&format!("{}x", "'".repeat(depth)))
    });
    assert_eq!(thread.expect("there is memory for a stack").join().expect("it does not panic"), Ok(()));
}

/// Forms and how they are laid out.
const FORMS: &str = "\u{feff}(define   pi 3.14159)   ; a constant



(define (f x)(let* ((y (* x x)) ; its square
 (z (+ y 1)))
; the sum
(+ y z)))
(define ((curried a) b) (cond ((< a b) (write-string \"less\") (newline) a) ((> a b) (write-string \"more\") (newline)
b)
 (else
0))
)
(define (long-call) (some-function-of-many-operands (first-operand 1 2 3) (second-operand 4 5 6) (third-operand 7 8 9)))
(define (loops n) (let loop ((i 0) (sum 0)) (if (= i n) sum (loop (+ i 1) (+ sum (* i i (sqrt i) (exp (/ i n)) (sin i)))))))
(map (lambda (x)
(* x x)) '(1 2 3))
(vector-fold
   + 0 #(1 2 3) ; hanging
)
(define matrix '((1 2 3)
  (4 5 6)))
(define numbers '(100000 200000 300000 400000 500000 600000 700000 800000 900000 1000000 1100000 1200000 1300000))
#;(hidden   datum) #| block |# (shown [square
brackets])
(a . (b   . c)) `(1 ,(+ 1   1) . ,rest)
(f ; why
 x)";

#[test]
fn forms_are_laid_out() {
    check(FORMS).unwrap_or_else(|complaint| panic!("{complaint}"));
    insta::assert_snapshot!(formatted(FORMS).expect("it can be read"));
}

/// What stands between the elements of lists.
fn separator() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        8 => Just(" "),
        4 => Just("\n"),
        1 => Just("\n\n\n  "),
        1 => Just(" ; behind\n"),
        1 => Just("\n; above\n"),
        1 => Just("\n\n  ;; apart\n\n"),
        1 => Just(" #| block |# "),
        1 => Just("\n#| two\n  #| lines |# |#\n"),
        1 => Just(" #| at the end |#\n"),
        1 => Just(" #;(hidden (if a b\n  c)) "),
        1 => Just("\n#; ; why\n 'hidden\n"),
        1 => Just("\t\r\n"),
    ]
}

/// Names, literals, and the names of forms.
fn atom() -> impl Strategy<Value = String> {
    const NAMES: &[&str] =
        &["x", "f", "long-name-of-a-function", "define", "let", "let*", "cond", "else", "if", "lambda", "begin"];
    const LITERALS: &[&str] = &["1", "-2.5e3", "#t", "\"text\"", "\"two\nlines\"", "a#b", "()", "#()", "[]"];
    let long = proptest::collection::vec("[a-z]{20}", 1..8).prop_map(|parts| parts.concat());
    prop_oneof![
        8 => proptest::sample::select(NAMES).prop_map(str::to_string),
        4 => proptest::sample::select(LITERALS).prop_map(str::to_string),
        1 => long,
    ]
}

/// A datum, with comments in it.
fn datum() -> impl Strategy<Value = String> {
    atom().prop_recursive(6, 60, 7, |inner| {
        let elements = || proptest::collection::vec((separator(), inner.clone()), 1..7);
        let brackets = proptest::sample::select(vec![("(", ")"), ("(", ")"), ("(", ")"), ("[", "]"), ("#(", ")")]);
        let list = (elements(), separator(), brackets).prop_map(|(elements, end, (open, close))| {
            let inside: String = elements.into_iter().flat_map(|(space, datum)| [space.to_string(), datum]).collect();
            format!("{open}{inside}{end}{close}")
        });
        let dotted =
            (elements(), separator(), separator(), inner.clone()).prop_map(|(elements, before, behind, tail)| {
                let inside: String =
                    elements.into_iter().flat_map(|(space, datum)| [datum, space.to_string()]).collect();
                format!("({inside}{before}.{behind}{tail})")
            });
        let quoted = (proptest::sample::select(vec!["'", "`", "' ; why\n", "'#;x\n"]), inner.clone())
            .prop_map(|(mark, datum)| format!("{mark}{datum}"));
        prop_oneof![8 => list, 1 => dotted, 1 => quoted]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_programs_keep_their_meaning(
        data in proptest::collection::vec((separator(), datum()), 0..4),
        end in separator(),
    ) {
        let text: String = data.into_iter().flat_map(|(space, datum)| [space.to_string(), datum]).collect();
        prop_assert_eq!(check(&(text + end)), Ok(()));
    }
}
