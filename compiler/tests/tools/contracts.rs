//! Functions of the library with one wrong argument at a time: which one it is must be said, and nothing else.

use std::io::Write;
use vlad::base::parallel;
use vlad::core::operands::contract::{Contract, Wanted};
use vlad::eval;
use vlad::expand;
use vlad::pipeline::{Pipeline, Settings};

/// Expressions that a parameter takes, and others that it does not take.
fn examples(wanted: Wanted) -> (&'static str, &'static [&'static str]) {
    match wanted {
        Wanted::Any => ("1", &[]),
        Wanted::Number => ("0.5", &["\"text\"", "#t", "(list 1 2)", "(vector 1 2)", "(lambda (x) x)"]),
        Wanted::Count => ("2", &["\"text\"", "#t", "(list 1 2)", "(vector 1 2)", "(lambda (x) x)"]),
        Wanted::Text => ("\"text\"", &["3", "#t", "(list 1 2)", "(vector 1 2)", "(lambda (x) x)"]),
        Wanted::Function => ("(lambda (x) x)", &["3", "\"text\"", "#t", "(list 1 2)", "(vector 1 2)"]),
        Wanted::List => ("(list 1 2)", &["3", "\"text\"", "#t", "(vector 1 2)", "(lambda (x) x)"]),
        Wanted::Vector => ("(vector 1 2)", &["3", "\"text\"", "#t", "(list 1 2)", "(lambda (x) x)"]),
        Wanted::Numbers => ("(vector 1 2)", &["3", "\"text\"", "#t", "(list 1 2)", "(lambda (x) x)"]),
        Wanted::Matrix | Wanted::Row => {
            ("(vector (vector 2 0) (vector 0 2))", &["3", "\"text\"", "#t", "(list 1 2)", "(lambda (x) x)"])
        }
    }
}

/// The calls of a function with a wrong argument, and how the messages about them have to begin.
fn wrong_calls(contract: &Contract) -> Vec<(String, String)> {
    let words = ["first", "second", "third", "fourth", "fifth"];
    let mut calls = Vec::new();
    for (place, wanted) in contract.wanted.iter().enumerate() {
        let which = match (contract.wanted.len(), contract.is_folded) {
            (1, _) => "the argument".to_string(),
            (_, true) => "an argument".to_string(),
            _ => format!("the {} argument", words[place]),
        };
        for wrong in examples(*wanted).1 {
            let mut arguments: Vec<&str> = contract.wanted.iter().map(|wanted| examples(*wanted).0).collect();
            arguments[place] = wrong;
            let call = format!("({} {})", contract.name, arguments.join(" "));
            calls.push((call, format!("{which} of `{}` is not ", contract.name)));
        }
    }
    calls
}

/// The code of the message that a program ends with, and the message.
fn message(text: &str) -> Option<(&'static str, String)> {
    let mut pipeline = Pipeline::new(Settings::default());
    let parts = [("call.vlad".to_string(), text.to_string())];
    let mut program = pipeline.expand_parts(&parts).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:?}"));
    let (mut input, mut output): (&[u8], _) = (&[], std::io::sink());
    let result = eval::run(&mut program, &pipeline.sources, &eval::Options::default(), &mut input, &mut output);
    let _ = output.flush();
    result.err().map(|failure| (failure.diagnostic.code, failure.diagnostic.message.clone()))
}

#[test]
fn a_wrong_argument_is_named_whatever_it_is() {
    let calls: Vec<(String, String)> = expand::contracts().flat_map(|contract| wrong_calls(&contract)).collect();
    assert!(calls.len() > 1000, "there are {} calls", calls.len());
    let wrong = parallel::map(calls, |(call, expected)| match message(&call) {
        Some(("V0326", message)) if message.starts_with(&expected) => None,
        other => Some(format!("{call}: {other:?}")),
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} calls:\n{}", wrong.len(), wrong.join("\n"));
}
