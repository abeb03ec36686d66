//! The files in `editors/vscode/`: valid, and in step with the compiler.
//!
//! `BLESS=1 cargo test --test editors` writes the names of forms and of library functions into the grammar; read the
//! difference before committing it.

use fancy_regex::Regex;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use vlad::base::SourceMap;
use vlad::expand;
use vlad::syntax::{self, Datum, DatumKind};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/vscode")
}

fn read(name: &str) -> Json {
    let text = fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All regular expressions in a grammar or configuration.
fn expressions(json: &Json, found: &mut Vec<String>) {
    match json {
        Json::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Json::String(text) if ["match", "begin", "end", "while", "wordPattern"].contains(&&**name) => {
                        found.push(text.clone());
                    }
                    _ => expressions(value, found),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

#[test]
fn every_regular_expression_compiles() {
    let mut found = Vec::new();
    for name in ["vlad.tmLanguage.json", "language-configuration.json"] {
        expressions(&read(name), &mut found);
    }
    assert!(found.len() > 10);
    for expression in found {
        Regex::new(&expression).unwrap_or_else(|error| panic!("{expression}: {error}"));
    }
}

/// An editor ignores a rule that is not there without a word.
#[test]
fn included_rules_and_files_exist() {
    fn check(json: &Json, rules: &Json) {
        match json {
            Json::Object(fields) => {
                if let Some(name) = fields.get("include").and_then(Json::as_str) {
                    assert!(rules.get(name.trim_start_matches('#')).is_some(), "{name}");
                }
                fields.values().for_each(|value| check(value, rules));
            }
            Json::Array(items) => items.iter().for_each(|item| check(item, rules)),
            _ => {}
        }
    }
    let grammar = read("vlad.tmLanguage.json");
    check(&grammar, &grammar["repository"]);
    let contributes = &read("package.json")["contributes"];
    assert_eq!(contributes["grammars"][0]["scopeName"], grammar["scopeName"]);
    let main = &read("package.json")["main"];
    for file in [&contributes["grammars"][0]["path"], &contributes["languages"][0]["configuration"], main] {
        assert!(folder().join(file.as_str().expect("it is a path")).is_file(), "{file}");
    }
}

/// The rule for names: behind an opening bracket, or anywhere.
fn rule(names: &BTreeSet<&str>, behind: &str) -> String {
    // Longer names first: the first alternative that fits is taken.
    let mut names: Vec<String> = names.iter().map(|name| fancy_regex::escape(name).into_owned()).collect();
    names.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    format!(r#"{behind}(?:{})(?=$|[\s()\[\]'\";`])"#, names.join("|"))
}

#[test]
fn names_are_those_of_the_compiler() {
    let forms: BTreeSet<&str> = expand::keywords().collect();
    let library: BTreeSet<&str> = expand::names().filter(|name| !forms.contains(name)).collect();
    let mut grammar = read("vlad.tmLanguage.json");
    let rules = [("keyword", rule(&forms, r"(?<=[(\[])")), ("library", rule(&library, r#"(?<![^\s()\[\]'\";`,])"#))];
    if std::env::var_os("BLESS").is_some() {
        for (name, rule) in &rules {
            grammar["repository"][name]["match"] = Json::String(rule.clone());
        }
        let text = serde_json::to_string_pretty(&grammar).expect("it was JSON before") + "\n";
        fs::write(folder().join("vlad.tmLanguage.json"), text).expect("it can be written");
    }
    for (name, rule) in rules {
        assert_eq!(grammar["repository"][name]["match"], rule, "BLESS=1 writes it anew");
    }
}

/// Whether the rule of that name fits the place of a text, and how far.
fn fit(rules: &Json, name: &str, line: &str, at: usize) -> Option<usize> {
    let expression = rules[name]["match"].as_str().expect("the rule has one expression");
    let found =
        Regex::new(expression).expect("it compiles").find_from_pos(line, at).expect("no expression is too slow");
    found.filter(|found| found.start() == at).map(|found| found.end())
}

fn leaves<'d>(datum: &'d Datum, found: &mut Vec<&'d Datum>) {
    match &datum.kind {
        DatumKind::List(items) | DatumKind::Vector(items) => items.iter().for_each(|item| leaves(item, found)),
        DatumKind::Dotted(items, tail) => {
            items.iter().for_each(|item| leaves(item, found));
            leaves(tail, found);
        }
        DatumKind::Prefixed(_, inner) => leaves(inner, found),
        _ => found.push(datum),
    }
}

/// In programs with every kind of literal, the rules for numbers and constants fit what the compiler reads as such.
#[test]
fn literals_are_those_of_the_compiler() {
    let text = "(+ 1 -2.5 +.5 1. 1e-5 2E+3 1/3 -1/3 +inf.0 -inf.0 +nan.0 #b101 #o-17 #xfF #x1/F #t #f)
(f - + 1+ -x 1e 1/ e5 ... 1.2.3 a#b 1x +inf .e1 /2 #(1 2) '3 `(,4 5) x,6 #;7 8)[9](10)";
    let file = SourceMap::new().add("", "", false);
    let (datums, errors) = syntax::parse(file, text);
    assert_eq!(errors, []);
    let mut found = Vec::new();
    datums.iter().for_each(|datum| leaves(datum, &mut found));
    assert!(found.len() > 40);
    let rules = &read("vlad.tmLanguage.json")["repository"];
    for datum in found {
        let (start, end) = (datum.span.start as usize, datum.span.end as usize);
        let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[line..].find('\n').map_or(text.len(), |length| line + length);
        let fit = |rule| fit(rules, rule, &text[line..line_end], start - line).map(|place| place + line);
        let what = &text[start..end];
        assert_eq!(fit("number"), matches!(datum.kind, DatumKind::Real(_)).then_some(end), "{what}");
        assert_eq!(fit("constant"), matches!(datum.kind, DatumKind::Bool(_)).then_some(end), "{what}");
    }
}

#[test]
fn names_are_found_whole() {
    let rules = &read("vlad.tmLanguage.json")["repository"];
    assert_eq!(fit(rules, "keyword", "(let* ((x 1)) x)", 1), Some(5));
    assert_eq!(fit(rules, "keyword", "(letter 1)", 1), None);
    assert_eq!(fit(rules, "keyword", "(f let)", 3), None);
    assert_eq!(fit(rules, "library", "(map *j-inverse l)", 5), Some(15));
    assert_eq!(fit(rules, "library", "(my-map l)", 4), None);
    assert_eq!(fit(rules, "definition", "(define ((f x) y) 1)", 1), Some(11));
    assert_eq!(fit(rules, "promise", "1 ;=> 1", 2), Some(7));
}
