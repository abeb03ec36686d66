//! Packages that a project depends on, as editors see them.

use super::Client;
use crate::run;
use serde_json::{Value as Json, json};
use std::fs;
use std::process::Command;

const A: &str = "[package]\nname = \"a\"\n";
const USER: &str = "(import \"a\")\n(import \"a/more\" (prefix m:))\n(list (f 1) (m:g 2))\n";

/// A client beside a project that depends on a package; what its manifest says of that.
fn client(dependency: &str) -> Client {
    Client::new(&[
        ("fit/vlad.toml", &format!("[package]\nname = \"fit\"\n[dependencies]\na = {dependency}\n")),
        ("a/vlad.toml", A),
        ("a/a.vlad", "(define (f x) x)\n"),
        ("a/more.vlad", "(import \"a\")\n(define (g x) (f x))\n"),
    ])
}

fn target(answer: &Json) -> &str {
    answer["uri"].as_str().unwrap_or_default()
}

#[test]
fn names_of_packages_in_folders_are_found() {
    let mut client = client("{ path = \"../a\" }");
    assert_eq!(client.open("fit/main.vlad", USER), [] as [Json; 0]);
    for (marked, file) in [
        ("(import \"|a\")\n", "a/a.vlad"),
        ("(import \"a/mo|re\")\n", "a/more.vlad"),
        ("(import \"a\")\n(|f 1)\n", "a/a.vlad"),
        ("(import \"a/more\" (prefix m:))\n(m:|g 1)\n", "a/more.vlad"),
    ] {
        let answer = client.at_mark("textDocument/definition", "fit/main.vlad", marked);
        assert_eq!(target(&answer), client.uri(file), "{marked}");
    }
    // Those of a package are its own, and change with it.
    let answer = client.at_mark("textDocument/definition", "a/more.vlad", "(import \"a\")\n(define (g x) (|f x))\n");
    assert_eq!(target(&answer), client.uri("a/a.vlad"));
    let answer = client.at_mark("textDocument/prepareRename", "fit/main.vlad", "(import \"a\")\n(|f 1)\n");
    assert_eq!(answer["placeholder"], "f");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_is_not_fetched_is_said_at_the_import() {
    let mut client = client("{ git = \"../a\", rev = \"v1\" }");
    let said = client.open("fit/main.vlad", USER);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(
        (&said[0]["code"], &said[0]["range"]["start"]),
        (&json!("V0511"), &json!({ "line": 0, "character": 0 }))
    );
    let message = said[0]["message"].as_str().expect("a text");
    assert!(message.contains("fit/vlad.toml:4:1: ") && message.contains("`vlad update`"), "{message}");
    assert!(!client.folder.path().join("fit/vlad.lock").exists());
    let folder = client.folder.path().to_path_buf();
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "."],
        &["-c", "user.name=Ann", "-c", "user.email=a@b.c", "commit", "--quiet", "--message", "first"],
        &["tag", "v1"],
    ] {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(folder.join("a")).env("HOME", &folder);
        let (code, _, said) = run(git, "");
        assert_eq!(code, Some(0), "{said}");
    }
    let mut update = crate::common::vlad(&["update"]);
    update.current_dir(folder.join("fit")).env("XDG_CACHE_HOME", folder.join(".cache"));
    let (code, _, said) = run(update, "");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(client.change("fit/main.vlad", USER), [] as [Json; 0]);
    fs::remove_dir_all(folder.join("a")).expect("it is there");
    let marked = "(import \"a\")\n(|f 1)\n";
    let answer = client.at_mark("textDocument/definition", "fit/main.vlad", marked);
    let found = target(&answer).to_string();
    assert!(found.contains("/.cache/vlad/packages/a-") && found.ends_with("/a.vlad"), "{found}");
    // From there names lead on, and nothing there can be changed.
    let more = found.replace("/a.vlad", "/more.vlad");
    let document =
        json!({ "uri": more, "languageId": "vlad", "version": 1, "text": "(import \"a\")\n(define (g x) (f x))\n" });
    client.say("textDocument/didOpen", json!({ "textDocument": document }));
    let place = json!({ "line": 1, "character": 15 });
    let answer = client.ask("textDocument/definition", json!({ "textDocument": { "uri": more }, "position": place }));
    assert_eq!(target(&answer), found);
    let mark = client.open_marked("fit/main.vlad", marked);
    let refused = client.try_ask("textDocument/prepareRename", mark);
    assert!(refused.expect_err("it is not ours").contains("in a dependency"));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn mistakes_in_manifests_are_said_at_the_import() {
    let mut client = client("{ pth = \"../a\" }");
    let said = client.open("fit/main.vlad", "(define x 1)\n(import \"a\")\n(f x)\n");
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!((&said[0]["code"], &said[0]["range"]["start"]["line"]), (&json!("V0502"), &json!(1)));
    assert!(said[0]["message"].as_str().is_some_and(|said| said.contains("fit/vlad.toml:4:7: ")), "{said:?}");
    assert_eq!(client.end(), Some(0));
}
