//! Figures of the tree: its folders, what they import from each other, passes, and the sizes of types.
//!
//! Texts are read, not parsed: a path `crate::a::b` or `super::b`, in a `use` or elsewhere, imports the longest module
//! that it begins with.

use crate::files;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// So many methods are as many as a reader can learn.
const MOST_METHODS: usize = 60;

/// The parts of a path: of a module, or of a folder.
type Parts = Vec<String>;

fn parts(path: &str, separator: &str) -> Parts {
    path.split(separator).map(str::trim).filter(|part| !part.is_empty()).map(str::to_string).collect()
}

/// The folders under a folder of the workspace, and how many files each has.
pub fn folders(under: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (path, _) in files(under, "") {
        let folder = Path::new(&path).parent().map(|folder| folder.to_string_lossy().into_owned());
        *counts.entry(folder.unwrap_or_default()).or_insert(0) += 1;
    }
    counts
}

/// The modules of a crate, each with its folder and its code.
struct Modules(BTreeMap<Parts, (Parts, String)>);

impl Modules {
    fn of(under: &str) -> Modules {
        let module = |(path, text): (String, String)| {
            let inside = parts(path.trim_start_matches(under).trim_end_matches(".rs"), "/");
            let folder = inside[..inside.len() - 1].to_vec();
            let is_folder = matches!(inside.last().map(String::as_str), Some("mod" | "lib" | "main"));
            (if is_folder { folder.clone() } else { inside }, (folder, code(&text)))
        };
        Modules(files(under, ".rs").into_iter().map(module).collect())
    }

    /// The folder of the module that a path names an item of.
    fn folder(&self, path: &[String]) -> Option<&Parts> {
        (1..=path.len()).rev().find_map(|length| self.0.get(&path[..length])).map(|(folder, _)| folder)
    }

    /// The folders that a module imports from.
    fn imports(&self, module: &Parts, code: &str) -> BTreeSet<&Parts> {
        let resolved = paths(code).into_iter().filter_map(|path| absolute(module, path));
        resolved.filter_map(|path| self.folder(&path)).collect()
    }
}

/// The code of a file, without its comments and its tests.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    code.join("\n")
}

/// The modules at the root of the crate whose items a file names.
pub fn mentioned(text: &str) -> BTreeSet<String> {
    let from_root = |path: Parts| path.first().is_some_and(|first| first == "crate").then(|| path.get(1).cloned())?;
    paths(&code(text)).into_iter().filter_map(from_root).collect()
}

/// All paths in some code that begin with `crate` or `super`, those in braces one by one.
fn paths(code: &str) -> Vec<Parts> {
    let starts = code.match_indices("crate::").chain(code.match_indices("super::"));
    starts.flat_map(|(start, _)| expand(&code[start..])).collect()
}

/// The paths at the start of a text.
fn expand(text: &str) -> Vec<Parts> {
    let ends = |c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':');
    let stem = &text[..text.find(ends).unwrap_or(text.len())];
    let Some(group) = text[stem.len()..].strip_prefix('{') else { return vec![parts(stem, "::")] };
    let mut depth = 0;
    let mut starts = vec![0];
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => starts.push(at + 1),
            _ => {}
        }
    }
    let members = starts.into_iter().flat_map(|start| expand(group[start..].trim_start()));
    members.map(|member| [parts(stem, "::"), member].concat()).collect()
}

/// A path as seen from the root of the crate.
fn absolute(module: &Parts, path: Parts) -> Option<Parts> {
    let up = path.iter().take_while(|part| *part == "super").count();
    let base = match path.first()?.as_str() {
        "crate" => return Some(path[1..].to_vec()),
        _ => module.get(..module.len().checked_sub(up)?)?.to_vec(),
    };
    Some([base, path[up..].to_vec()].concat())
}

/// Folders that import from each other in a circle. A folder and the one that it stands in are one thing, seen from
/// far and from near: what is compared are folders side by side, each with all that is in it.
pub fn circles(under: &str) -> Vec<Vec<String>> {
    let modules = Modules::of(under);
    let mut edges: BTreeSet<(String, String)> = BTreeSet::new();
    for (module, (from, code)) in &modules.0 {
        for to in modules.imports(module, code) {
            let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            if let (Some(_), Some(_)) = (from.get(common), to.get(common)) {
                edges.insert((from[..=common].join("/"), to[..=common].join("/")));
            }
        }
    }
    let graph: DiGraphMap<&str, ()> = edges.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    let circles = tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1);
    circles.map(|circle| circle.into_iter().map(str::to_string).collect()).collect()
}

/// The types of the compiler with many methods, the largest first.
fn large_types() -> Vec<(usize, String)> {
    let mut methods: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (path, text) in files("compiler/src", ".rs") {
        let stage = path.split('/').nth(2).unwrap_or_default().to_string();
        let mut subject = None;
        for line in text.lines() {
            if line.starts_with("impl") {
                let head = line.split(" for ").last().unwrap_or_default();
                let head = head.trim_start_matches("impl").trim_start();
                let head =
                    head.strip_prefix('<').map_or(head, |rest| rest.split_once("> ").map_or(rest, |(_, name)| name));
                let name: String = head.chars().take_while(|c| c.is_alphanumeric()).collect();
                subject = Some((stage.clone(), name));
            } else if line == "}" {
                subject = None;
            } else if let Some(subject) = &subject
                && line.starts_with("    ")
                && !line.starts_with("     ")
                && line.contains("fn ")
            {
                *methods.entry(subject.clone()).or_insert(0) += 1;
            }
        }
    }
    let large = methods.into_iter().filter(|(_, count)| *count > MOST_METHODS);
    let mut large: Vec<_> = large.map(|((stage, name), count)| (count, format!("{stage}::{name}"))).collect();
    large.sort_by(|a, b| b.cmp(a));
    large
}

/// Prints the figures.
pub fn report() {
    let lines = |under: &str| -> usize { files(under, ".rs").iter().map(|(_, text)| text.lines().count()).sum() };
    let (opt, memory) = (lines("compiler/src/opt"), lines("compiler/src/memory"));
    println!("passes                       {}", vlad::pipeline::passes::PASSES.len());
    println!("lines of opt and memory      {} + {} = {}", opt, memory, opt + memory);
    println!("lines of the compiler        {}", lines("compiler/src"));
    let folders = folders("compiler/src");
    let (largest, count) = folders.iter().max_by_key(|(_, count)| **count).expect("there are folders");
    println!("files in the largest folder  {count} ({largest})");
    let wide = |text: &str| text.lines().filter(|line| line.chars().count() > 120).count();
    let wide: usize = crate::rust_files().iter().map(|(_, text)| wide(text)).sum();
    println!("lines over 120 columns       {wide}");
    println!("types with over {MOST_METHODS} methods");
    large_types().iter().for_each(|(count, name)| println!("  {count:5} {name}"));
    println!("circles of imports           {}", circles("compiler/src").len());
    circles("compiler/src").iter().for_each(|circle| println!("  {}", circle.join(" → ")));
}
