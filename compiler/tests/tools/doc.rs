//! `vlad doc`: the reference of programs and of the library, and that the one in `docs/` is that of this library.

use crate::{folder, text, vlad};
use std::path::Path;

const PROGRAM: &str = "; Shapes.

; (area w h): the *area* of a `w*h` rectangle.
(define (area w h) (* w h))

; Circles.

; Their area...
(define (disk r) (* pi r r))
(define ((cylinder r) h) (* (disk r) h))

(define pi 3.14159)

(define (%hidden x) x)

; An expression.
(area 2 3)
";

#[test]
fn programs_are_described_by_their_comments() {
    let folder = folder(&[("shapes.vlad", PROGRAM), ("wrong.vlad", "(define (f x) x")]);
    let (code, page, err) = vlad(&folder, &["doc", "shapes.vlad"], "");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(page);
    assert_eq!(vlad(&folder, &["doc", "shapes.vlad", "-o", "shapes.md"], "").0, Some(0));
    assert_eq!(text(&folder.path().join("shapes.md")), page);
    let (code, page, err) = vlad(&folder, &["doc", "wrong.vlad"], "");
    assert_eq!((code, page.as_str()), (Some(1), ""));
    assert!(err.contains("V0102"), "{err}");
}

#[test]
fn the_reference_of_the_library_is_up_to_date() {
    let (code, page, err) = vlad(&folder(&[]), &["doc"], "");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/library.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).expect("it can be written");
    }
    assert!(text(&path) == page, "write it anew: `vlad doc -o docs/library.md`");
}

/// A heading without a text explains nothing.
#[test]
fn every_function_of_the_library_is_described() {
    let (_, page, _) = vlad(&folder(&[]), &["doc"], "");
    let blocks: Vec<&str> = page.split("\n\n").collect();
    for pair in blocks.windows(2) {
        assert!(!pair[0].starts_with("### ") || !pair[1].starts_with('#'), "{}", pair[0]);
    }
    assert!(blocks.iter().filter(|block| block.starts_with("### ")).count() > 100);
}
