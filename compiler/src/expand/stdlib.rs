//! The standard library, embedded in the compiler: names → the definitions that a program with these names needs.
//!
//! A program needs the definitions that it mentions, those that they mention, and those that come with them: the
//! functions that natively expanded calls call, given transforms, what primitives do on power series. The rest is not
//! even read. A name counts as mentioned wherever it stands, so that a program may get more than it uses, and never
//! less.
//!
//! What makes it possible to find a definition without reading those before it: each begins with `(define` at the start
//! of a line, and in front of the next nothing but comments follows.

use crate::base::{Diagnostic, FileId, SourceMap};
use crate::expand::names::basis;
use crate::expand::names::basis::Native;
use crate::expand::program::documentation;
use crate::syntax::{self, Datum};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::OnceLock;

/// A file of the library.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its name in the `stdlib` folder.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All files. The functions of the first are the primitives as values.
pub const FILES: &[File] = &[
    File { name: "primitives.vlad", text: include_str!("../../../stdlib/primitives.vlad") },
    File { name: "arithmetic.vlad", text: include_str!("../../../stdlib/arithmetic.vlad") },
    File { name: "special.vlad", text: include_str!("../../../stdlib/special.vlad") },
    File { name: "lists.vlad", text: include_str!("../../../stdlib/lists.vlad") },
    File { name: "vectors.vlad", text: include_str!("../../../stdlib/vectors.vlad") },
    File { name: "sorting.vlad", text: include_str!("../../../stdlib/sorting.vlad") },
    File { name: "kernels.vlad", text: include_str!("../../../stdlib/kernels.vlad") },
    File { name: "random.vlad", text: include_str!("../../../stdlib/random.vlad") },
    File { name: "input.vlad", text: include_str!("../../../stdlib/input.vlad") },
    File { name: "watch.vlad", text: include_str!("../../../stdlib/watch.vlad") },
    File { name: "shards.vlad", text: include_str!("../../../stdlib/shards.vlad") },
    File { name: "output.vlad", text: include_str!("../../../stdlib/output.vlad") },
    File { name: "texts.vlad", text: include_str!("../../../stdlib/texts.vlad") },
    File { name: "plot.vlad", text: include_str!("../../../stdlib/plot.vlad") },
    File { name: "export.vlad", text: include_str!("../../../stdlib/export.vlad") },
    File { name: "derivatives.vlad", text: include_str!("../../../stdlib/derivatives.vlad") },
    File { name: "directions.vlad", text: include_str!("../../../stdlib/directions.vlad") },
    File { name: "series.vlad", text: include_str!("../../../stdlib/series.vlad") },
    File { name: "custom.vlad", text: include_str!("../../../stdlib/custom.vlad") },
    File { name: "errors.vlad", text: include_str!("../../../stdlib/errors.vlad") },
    File { name: "check.vlad", text: include_str!("../../../stdlib/check.vlad") },
    File { name: "gradcheck.vlad", text: include_str!("../../../stdlib/gradcheck.vlad") },
    File { name: "measure.vlad", text: include_str!("../../../stdlib/measure.vlad") },
    File { name: "linear.vlad", text: include_str!("../../../stdlib/linear.vlad") },
    File { name: "dense.vlad", text: include_str!("../../../stdlib/dense.vlad") },
    File { name: "sparse.vlad", text: include_str!("../../../stdlib/sparse.vlad") },
    File { name: "colouring.vlad", text: include_str!("../../../stdlib/colouring.vlad") },
    File { name: "fourier.vlad", text: include_str!("../../../stdlib/fourier.vlad") },
    File { name: "interpolation.vlad", text: include_str!("../../../stdlib/interpolation.vlad") },
    File { name: "stalingrad.vlad", text: include_str!("../../../stdlib/stalingrad.vlad") },
    File { name: "roots.vlad", text: include_str!("../../../stdlib/roots.vlad") },
    File { name: "quadrature.vlad", text: include_str!("../../../stdlib/quadrature.vlad") },
    File { name: "minimise.vlad", text: include_str!("../../../stdlib/minimise.vlad") },
    File { name: "verdicts.vlad", text: include_str!("../../../stdlib/verdicts.vlad") },
    File { name: "descent.vlad", text: include_str!("../../../stdlib/descent.vlad") },
    File { name: "newton.vlad", text: include_str!("../../../stdlib/newton.vlad") },
    File { name: "conditions.vlad", text: include_str!("../../../stdlib/conditions.vlad") },
    File { name: "derivative-free.vlad", text: include_str!("../../../stdlib/derivative-free.vlad") },
    File { name: "first-order.vlad", text: include_str!("../../../stdlib/first-order.vlad") },
    File { name: "global.vlad", text: include_str!("../../../stdlib/global.vlad") },
    File { name: "optimize.vlad", text: include_str!("../../../stdlib/optimize.vlad") },
    File { name: "ode.vlad", text: include_str!("../../../stdlib/ode.vlad") },
    File { name: "distributions.vlad", text: include_str!("../../../stdlib/distributions.vlad") },
];

/// The file whose functions say what primitives do on power series.
const SERIES_FILE: &str = "series.vlad";

/// Where a definition stands: the position of its file among [`FILES`], and bytes of that.
type Place = (usize, Range<usize>);

/// All definitions, by their names.
fn definitions() -> &'static FxHashMap<&'static str, Place> {
    static DEFINITIONS: OnceLock<FxHashMap<&'static str, Place>> = OnceLock::new();
    DEFINITIONS
        .get_or_init(|| FILES.iter().enumerate().flat_map(|(file, File { text, .. })| places(file, text)).collect())
}

/// The definitions in a file.
fn places(file: usize, text: &'static str) -> impl Iterator<Item = (&'static str, Place)> {
    const BEGINNING: &str = "(define ";
    let at_line = move |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    let mut starts = text.match_indices(BEGINNING).map(|row| row.0).filter(at_line).peekable();
    std::iter::from_fn(move || {
        let start = starts.next()?;
        let end = starts.peek().copied().unwrap_or(text.len());
        let header = text[start + BEGINNING.len()..end].trim_start_matches('(');
        let name = header.split(|c: char| c.is_whitespace() || c == ')').next()?;
        Some((name, (file, start..end)))
    })
}

/// The names that the library defines.
pub fn names() -> impl Iterator<Item = &'static str> {
    definitions().keys().copied()
}

/// The names that a file of the library defines.
pub fn names_in(file: usize) -> impl Iterator<Item = &'static str> {
    definitions().iter().filter(move |(_, place)| place.0 == file).map(|(name, _)| *name)
}

/// A call of a function of the library, and the first sentence about it, if that is short.
pub fn description(name: &str) -> (Rc<str>, Rc<str>) {
    const LONGEST: usize = 120;
    let Some((file, range)) = definitions().get(name) else { return (name.into(), "".into()) };
    let text = FILES[*file].text;
    let (call, about) = documentation::described(text, range.start, name);
    let is_end = |(at, _): &(usize, &str)| {
        !about[..*at].ends_with('.') && about[at + 1..].chars().next().is_none_or(char::is_whitespace)
    };
    let end = about.match_indices(['.', ';']).find(is_end).map_or(about.len(), |(at, _)| at);
    let sentence = about[..end].replace('\n', " ");
    let sentence = if sentence.len() <= LONGEST { sentence } else { String::new() };
    (call.into(), sentence.into())
}

/// The position of a file of the library, by its name without ending.
pub fn file_of(name: &str) -> Option<usize> {
    FILES.iter().position(|file| file.name.strip_suffix(".vlad") == Some(name))
}

/// Adds the library's files to the source map; the first has the primitives as values.
pub fn add(sources: &mut SourceMap) -> Vec<FileId> {
    FILES.iter().map(|file| sources.add(format!("<stdlib>/{}", file.name), file.text, true)).collect()
}

/// The definitions that a program with these `names` and `datums` needs, in the order of the library. With `checked`,
/// derivatives are checked.
pub fn needed(files: &[FileId], names: &[&str], datums: &[Datum], checked: bool) -> (Vec<Datum>, Vec<Diagnostic>) {
    let mut search = Search { checked, seen: FxHashSet::default(), waiting: Vec::new() };
    names.iter().for_each(|name| search.name(name));
    datums.iter().for_each(|datum| search.datum(datum));
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    while let Some((file, range)) = search.waiting.pop() {
        let (datums, mistakes) = syntax::parse_part(files[*file], FILES[*file].text, range.clone());
        datums.iter().for_each(|datum| search.datum(datum));
        found.extend(datums);
        errors.extend(mistakes);
    }
    found.sort_by_key(|datum| datum.span);
    (found, errors)
}

/// The names that have been met.
struct Search {
    checked: bool,
    seen: FxHashSet<&'static str>,
    /// Needed definitions whose text is still to be read.
    waiting: Vec<&'static Place>,
}

impl Search {
    fn datum(&mut self, datum: &Datum) {
        datum.names(&mut |name| self.name(name));
    }

    fn name(&mut self, name: &str) {
        let Some((name, place)) = definitions().get_key_value(name) else { return };
        if self.seen.insert(name) {
            self.waiting.push(place);
            self.companions(name, place.0);
        }
    }

    /// What comes with a definition without being mentioned in it.
    fn companions(&mut self, name: &str, file: usize) {
        match basis::native(name) {
            Some(Native::FoldCall(helper) | Native::Options(helper)) => self.name(helper),
            Some(Native::Lists(two, many)) => two.into_iter().chain([many]).for_each(|helper| self.name(helper)),
            _ => {}
        }
        for (_, transforms) in basis::given(self.checked).filter(|(of, _)| *of == name) {
            transforms.iter().for_each(|transform| self.name(transform));
        }
        if self.checked && basis::CHECKED.contains(&name) {
            self.name(&format!("%{name}/checked"));
        }
        if basis::CHECKS.contains(&name) {
            basis::CHECKS.iter().for_each(|check| self.name(check));
        }
        if FILES[file].name == SERIES_FILE {
            basis::SERIES.iter().for_each(|(_, function)| self.name(function));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_has_a_name_of_its_own() {
        let all = || FILES.iter().enumerate().flat_map(|(file, File { text, .. })| places(file, text));
        let mut seen = FxHashSet::default();
        for (name, _) in all() {
            assert!(seen.insert(name), "`{name}` is defined twice");
            assert!(basis::internal(name).is_none(), "`{name}` is a primitive");
        }
    }
}
