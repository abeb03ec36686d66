//! Program text → core, as printed text; and checks that no input makes the front end panic.

use super::*;
use crate::core::{print, verify};

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

#[test]
fn the_library_is_well_formed() {
    assert_eq!(core(""), "");
}

#[test]
fn names_that_wrong_patterns_bind_are_no_further_mistakes() {
    assert_eq!(codes("(lambda ((car x)) (+ x y))"), ["V0215", "V0201"]);
    assert_eq!(codes("(define (f . rest) rest) (f 1)"), ["V0217"]);
}
