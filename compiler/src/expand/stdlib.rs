//! The standard library, embedded in the compiler.

use crate::base::{Diagnostic, SourceMap};
use crate::syntax::{self, Datum};

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
    File { name: "lists.vlad", text: include_str!("../../../stdlib/lists.vlad") },
    File { name: "vectors.vlad", text: include_str!("../../../stdlib/vectors.vlad") },
    File { name: "input.vlad", text: include_str!("../../../stdlib/input.vlad") },
    File { name: "derivatives.vlad", text: include_str!("../../../stdlib/derivatives.vlad") },
    File { name: "series.vlad", text: include_str!("../../../stdlib/series.vlad") },
    File { name: "custom.vlad", text: include_str!("../../../stdlib/custom.vlad") },
    File { name: "check.vlad", text: include_str!("../../../stdlib/check.vlad") },
    File { name: "gradcheck.vlad", text: include_str!("../../../stdlib/gradcheck.vlad") },
    File { name: "measure.vlad", text: include_str!("../../../stdlib/measure.vlad") },
    File { name: "linear.vlad", text: include_str!("../../../stdlib/linear.vlad") },
    File { name: "roots.vlad", text: include_str!("../../../stdlib/roots.vlad") },
    File { name: "optimize.vlad", text: include_str!("../../../stdlib/optimize.vlad") },
    File { name: "ode.vlad", text: include_str!("../../../stdlib/ode.vlad") },
];

/// Adds all files to the source map and reads their datums, in order.
pub fn read(sources: &mut SourceMap) -> (Vec<Datum>, Vec<Diagnostic>) {
    let (mut datums, mut errors) = (Vec::new(), Vec::new());
    for file in FILES {
        let id = sources.add(format!("<stdlib>/{}", file.name), file.text, true);
        let (file_datums, file_errors) = syntax::parse(id, file.text);
        datums.extend(file_datums);
        errors.extend(file_errors);
    }
    (datums, errors)
}
