//! Program text → core, as printed text; and checks that no input makes the front end panic.

use super::*;
use crate::base::diagnostic::MAX_MESSAGES;
use crate::core::{print, verify};
use crate::expand::build::MAX_CLAUSES;
use crate::syntax::Datum;

/// The core of a program that must expand, after checking that it is well formed.
fn core(text: &str) -> String {
    let mut sources = SourceMap::new();
    match expand_text("test.vlad", text, &Options::default(), &mut sources) {
        Ok(program) => {
            let printed = print::program(&program, &sources);
            assert_eq!(verify::verify(&program), [] as [&str; 0], "{text}\n{printed}");
            printed
        }
        Err(errors) => panic!("{}", errors.iter().map(|error| error.render(&sources, false)).collect::<String>()),
    }
}

/// The codes of the messages that a program gets.
fn codes(text: &str) -> Vec<&'static str> {
    let mut sources = SourceMap::new();
    let result = expand_text("test.vlad", text, &Options::default(), &mut sources);
    result.map_or_else(|errors| errors.iter().map(|error| error.code).collect(), |_| Vec::new())
}

/// A program that mentions every function of the library that programs can name.
fn everything() -> String {
    let mut names: Vec<&str> = stdlib::names().filter(|name| !name.starts_with('%')).collect();
    names.sort();
    format!("(define all (list {}))", names.join(" "))
}

#[test]
fn the_library_is_well_formed() {
    core(&everything());
    for check_derivatives in [false, true] {
        let (options, mut sources) = (Options { check_derivatives, ..Options::default() }, SourceMap::new());
        let program = expand_text("test.vlad", &everything(), &options, &mut sources).expect("the library is right");
        assert_eq!(verify::verify(&program), [] as [&str; 0]);
    }
}

#[test]
fn every_definition_of_the_library_is_found() {
    let mut sources = SourceMap::new();
    let files = stdlib::add(&mut sources);
    let names: Vec<&str> = stdlib::names().collect();
    let (found, errors) = stdlib::needed(&files, &names, &[], false);
    assert!(errors.is_empty());
    let whole = files.iter().zip(STDLIB).flat_map(|(file, text)| crate::syntax::parse(*file, text.text).0);
    let spans = |datums: &[Datum]| datums.iter().map(|datum| datum.span).collect::<Vec<_>>();
    assert_eq!(spans(&found), spans(&whole.collect::<Vec<_>>()));
    assert_eq!(found.len(), names.len());
}

#[test]
fn a_program_gets_what_it_needs_of_the_library() {
    let defined = |text: &str| {
        let program = expand_text("test.vlad", text, &Options::default(), &mut SourceMap::new()).expect("it expands");
        program.globals.values().map(|global| global.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(defined("(fourth (read-real))"), ["car", "cdr", "read-real", "fourth"]);
    assert!(defined("(lambda (f l m) (map f l m))").contains(&"%map/2".to_string()));
}

#[test]
fn names_that_wrong_patterns_bind_are_no_further_mistakes() {
    assert_eq!(codes("(lambda ((car x)) (+ x y))"), ["V0215", "V0201"]);
}

#[test]
fn calls_have_as_many_operands_as_the_function_has_parameters() {
    assert_eq!(codes("(define (f a b) a) (f 1 2) (f 1) (f 1 2 3) (f)"), ["V0217"; 2]);
    assert_eq!(codes("(define (f a) a) (f 1) (f) (let ((g (lambda (x) x))) (g 1 2))"), ["V0217"; 2]);
    assert_eq!(codes("(define (f a . rest) a) (f 1) (f 1 2 3) ((lambda all all) 1 2) (f)"), ["V0217"]);
    assert_eq!(codes("(define (f (cons a b)) a) (f 1 2) (f (cons 1 2)) (define (g) 1) (g 1 2)"), ["V0217"]);
}

/// The captures of the function of that name, by name.
fn captures(text: &str, function: &str) -> Vec<String> {
    let program = expand_text("test.vlad", text, &Options::default(), &mut SourceMap::new()).expect("it expands");
    let lambda = program.lambdas.values().find(|lambda| &*lambda.name == function).expect("the function is there");
    lambda.captures.iter().map(|var| program.vars[*var].name.to_string()).collect()
}

#[test]
fn known_functions_are_not_captured() {
    let text = "(define (f a b c)
                  (define (g x) (* a x))
                  (define (h x) (+ (g x) b (g a)))
                  (define (even n) (if (= n 0) (h n) (odd (- n 1))))
                  (define (odd n) (if (= n 0) c (even (- n 1))))
                  (let ((k odd) (chosen (if (> a 0) g h)))
                    (define (both x) (cons (k x) (chosen x)))
                    (define (all y) (both (h y)))
                    all))";
    core(text);
    assert_eq!(captures(text, "g"), ["a"]);
    assert_eq!(captures(text, "h"), ["a", "b"]);
    assert_eq!(captures(text, "even"), ["a", "b", "c"]);
    assert_eq!(captures(text, "odd"), ["a", "b", "c"]);
    assert_eq!(captures(text, "both"), ["a", "b", "c", "chosen"]);
    assert_eq!(captures(text, "all"), ["a", "b", "c", "chosen"]);
}

#[test]
fn captures_of_long_chains_of_functions_are_found() {
    let functions: String = (1..4_000).map(|i| format!("(define (f{i} x) (f{} (f{} x))) ", i - 1, i / 2)).collect();
    let text = format!("(define (f k) (define (f0 x) (* k x)) {functions} f3999)");
    core(&text);
    assert_eq!(captures(&text, "f3999"), ["k"]);
}

/// Programs at the limits of nesting need no more than a small part of the stack that the compiler runs on.
#[test]
fn the_deepest_programs_expand() {
    let thread = std::thread::Builder::new().stack_size(16 << 20).spawn(deepest_programs).expect("a thread starts");
    thread.join().expect("no test in the thread fails");
}

/// The same of chains of clauses, on the smallest stack.
#[test]
fn the_longest_chains_expand() {
    let chains = || {
        for (form, clause) in [("cond", "((= 1 1) 1)"), ("or", "#f "), ("and", "#t ")] {
            core(&format!("({form} {})", clause.repeat(MAX_CLAUSES)));
        }
    };
    let thread = std::thread::Builder::new().stack_size(128 << 20).spawn(chains).expect("a thread starts");
    thread.join().expect("no test in the thread fails");
}

fn deepest_programs() {
    let wrapped = |open: &str, core: &str, close: &str, count: usize| open.repeat(count) + core + &close.repeat(count);
    for text in [
        wrapped("(+ 1 ", "1", ")", 999),
        wrapped("((lambda (x) ", "1", ") 2)", 499),
        wrapped("(let ((x 1)) ", "x", ")", 998),
        wrapped("(let loop ((x 1)) ", "x", ")", 998),
        wrapped("(let ((x ", "1", ")) x)", 333),
        wrapped("(if #t ", "1", " 2)", 999),
        wrapped("(cond (#f 1) (else ", "1", "))", 499),
        wrapped("(cond ((null? ", "1", ") 2))", 333),
        wrapped("((lambda () (define (f) ", "1", ") (f)))", 333),
        wrapped("(not ", "#t", ")", 999),
        format!("'{}", wrapped("(", "1", ")", 999)),
        format!("`{}", wrapped("(1 ,", "2", ")", 1)),
        format!("(define {} 1)", wrapped("(", "f", ")", 999)),
        format!("(lambda ({}) 1)", wrapped("(cons _ ", "x", ")", 990)),
    ] {
        core(&text);
    }
    let flat = "1 ".repeat(20_000);
    for text in [format!("(+ {flat})"), format!("(list {flat})"), format!("'({flat})"), format!("(< {flat})")] {
        core(&text);
    }
    let bindings: String = (0..20_000).map(|i| format!("(x{i} {i}) ")).collect();
    core(&format!("(let* ({bindings}) x19999)"));
    let definitions: String = (0..2_000).map(|i| format!("(define (f{i} x) (f{} x)) ", (i + 1) % 2000)).collect();
    core(&format!("(define (f) {definitions} (f0 1)) (f)"));
}

#[test]
fn a_flood_of_mistakes_is_cut_short() {
    let mut sources = SourceMap::new();
    let text = "(f)\n".repeat(100_000);
    let errors = expand_text("test.vlad", &text, &Options::default(), &mut sources).expect_err("f is not defined");
    assert_eq!(errors.len(), MAX_MESSAGES);
    assert_eq!(errors[MAX_MESSAGES - 1].notes.last().map(String::as_str), Some("99980 more mistakes are not shown"));
    assert_eq!(codes(&")".repeat(100_000)).len(), MAX_MESSAGES);
}
