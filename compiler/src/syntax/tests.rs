//! Texts and the datums or messages that they become.

use super::*;

fn reprinted(text: &str) -> String {
    let (datums, errors) = read(FileId(0), text, 0);
    assert_eq!(errors, [], "{text}");
    print(&datums)
}

fn mistakes(text: &str) -> Vec<&'static str> {
    parse(FileId(0), text).1.iter().map(|message| message.code).collect()
}

#[test]
fn datums_of_every_kind_are_read() {
    assert_eq!(reprinted("(a [b \"c\\n\"] . d) #t #f #(1 2)"), "(a (b \"c\\n\") . d)\n#t\n#f\n#(1 2)\n");
    assert_eq!(reprinted("'x `(y ,z) #xff 1/4 .5"), "'x\n`(y ,z)\n255\n0.25\n0.5\n");
    assert_eq!(reprinted("(1 . (2 . (3 . ())))"), "(1 2 3)\n");
    assert_eq!(reprinted("(1 . (2 . 3))"), "(1 2 . 3)\n");
    assert_eq!(reprinted("a,b c#d ... 1+"), "a,b\nc#d\n...\n1+\n");
}

#[test]
fn comments_of_every_kind_are_skipped() {
    assert_eq!(reprinted("; line\n(a #| b #| c |# d |# e) #;(f g) h"), "(a e)\nh\n");
    assert_eq!(reprinted("#;#;a b c"), "c\n");
    assert_eq!(reprinted("(a #;b) (a . #;b c #;d) '#;x y #;z"), "(a)\n(a . c)\n'y\n");
    assert_eq!(reprinted(""), "");
    assert_eq!(reprinted("#;x"), "");
}

#[test]
fn every_mistake_has_its_code() {
    for (text, codes) in [
        (")", vec!["V0101"]),
        ("((a)", vec!["V0102"]),
        ("(a]", vec!["V0103"]),
        ("\"a", vec!["V0104"]),
        ("#| a", vec!["V0105"]),
        ("\"\\q\"", vec!["V0106"]),
        ("#true", vec!["V0107"]),
        ("#b12", vec!["V0108"]),
        ("1/0", vec!["V0109"]),
        ("( . a)", vec!["V0110"]),
        (".", vec!["V0110"]),
        ("(a . b c)", vec!["V0111"]),
        ("(a . )", vec!["V0112"]),
        ("(')", vec!["V0112"]),
        ("'", vec!["V0112"]),
        ("`(,@a)", vec!["V0114"]),
        ("#q (]", vec!["V0107", "V0103"]),
    ] {
        assert_eq!(mistakes(text), codes, "{text}");
    }
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [("(", ")"), ("[", "]"), ("#(", ")"), ("'", "x"), ("#;", "x"), ("('", ")")] {
        let deep = open.repeat(100_000) + &close.repeat(100_000);
        assert_eq!(mistakes(&deep).first(), Some(&"V0113"), "{open}");
    }
    let allowed = "(".repeat(MAX_NESTING) + &")".repeat(MAX_NESTING);
    assert_eq!(mistakes(&allowed), [] as [&str; 0]);
    assert_eq!(mistakes(&"(".repeat(100_000)), ["V0113"]);
}

#[test]
fn long_data_is_broken_into_lines() {
    let long = format!("(define (f x) (+ {}))", "x ".repeat(60));
    let printed = reprinted(&long);
    assert!(printed.lines().all(|line| line.len() <= 100), "{printed}");
    assert!(printed.starts_with("(define (f x)\n  (+\n    x\n"), "{printed}");
    assert_eq!(reprinted(&printed), printed);
}
