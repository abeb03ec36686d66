//! What one file of C needs so that it stands alone: the parts of the run time that the program uses, as C.
//!
//! | part | |
//! |---|---|
//! | elementary functions | the sources of core-math, of those that are called |
//! | `runtime/c/*.c` | boxes, vectors, output, and, where needed, input, texts, kernels...; `main` |
//!
//! There is no C for most kernels, arguments of the command line, files, and arrays as input: a program that uses these
//! names their functions and does not link alone. The first lines of the file say so.

use crate::codegen::layout;
use std::collections::BTreeSet;
use std::fmt::Write;

include!(concat!(env!("OUT_DIR"), "/math_text.rs"));

const HEADERS: &[&str] = &[
    "errno.h",
    "fenv.h",
    "inttypes.h",
    "math.h",
    "signal.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "string.h",
    "strings.h",
    "sys/mman.h",
    "time.h",
    "ucontext.h",
    "unistd.h",
];

/// What every program needs, before and behind it.
const BASE: &[&str] = &[include_str!("../../../../runtime/c/output.c"), include_str!("../../../../runtime/c/heap.c")];
const START: &str = include_str!("../../../../runtime/c/start.c");

/// What the base defines.
const IN_BASE: &[&str] =
    &["vlad_fail", "vlad_write_byte", "vlad_write_double", "vlad_write_quoted", "vlad_write_real", "vlad_write_text"];

/// Other parts, and what they define.
const PARTS: &[(&str, &[&str])] = &[
    (include_str!("../../../../runtime/c/input.c"), &["vlad_read"]),
    (include_str!("../../../../runtime/c/texts.c"), &["vlad_begin_text", "vlad_end_text"]),
    (include_str!("../../../../runtime/c/results.c"), &["vlad_recall", "vlad_remember", "vlad_forget"]),
    (include_str!("../../../../runtime/c/questions.c"), &["vlad_ask", "vlad_exchange"]),
    (
        include_str!("../../../../runtime/c/kernels.c"),
        &["vlad_kernel_dot", "vlad_kernel_product", "vlad_kernel_transpose"],
    ),
];

/// The parts of a file that stands alone.
pub struct Whole {
    /// What stands before everything else.
    pub head: String,
    /// What stands behind the prelude and the declarations.
    pub runtime: String,
    /// What stands at the end.
    pub start: &'static str,
    /// The functions for which there is no C.
    pub missing: BTreeSet<&'static str>,
}

/// The elementary functions that a function of the run time consists of.
fn elementary(name: &str) -> Vec<&str> {
    match name {
        "vlad_sin_cos" => vec!["sin", "cos"],
        _ => {
            let of = name.strip_prefix("vlad_").unwrap_or_default();
            let of = ["_pair", "_all"].iter().find_map(|end| of.strip_suffix(end)).unwrap_or(of);
            Some(of).into_iter().filter(|name| source(name).is_some()).collect()
        }
    }
}

fn source(name: &str) -> Option<&'static str> {
    MATH.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// What a program needs that needs these functions, and that perhaps reads arrays.
pub fn parts(externals: &BTreeSet<&'static str>, reads_arrays: bool) -> Whole {
    let mut functions = BTreeSet::new();
    let mut missing = BTreeSet::new();
    let (mut runtime, mut pairs) = (BASE.concat(), String::new());
    let needs = |part: &&(&str, &[&str])| part.1.iter().any(|name| externals.contains(name));
    let can = |name: &str| name != "vlad_read" || !reads_arrays;
    for (text, _) in PARTS.iter().filter(needs).filter(|part| part.1.iter().all(|name| can(name))) {
        runtime.push_str(text);
    }
    for name in externals {
        let used = elementary(name);
        let is_known = IN_BASE.contains(name)
            || PARTS.iter().any(|part| part.1.contains(name)) && can(name)
            || matches!(*name, "floor" | "ceil" | "rint" | "trunc" | "sqrt" | "vlad_prepare_options");
        if used.is_empty() && !is_known {
            missing.insert(*name);
        }
        let _ = match &used[..] {
            [sine, cosine] => {
                writeln!(pairs, "static lanes {name}(double x) {{ return (lanes){{cr_{sine}(x), cr_{cosine}(x)}}; }}")
            }
            [of] if name.ends_with("_pair") => {
                writeln!(pairs, "static lanes {name}(lanes x) {{ return (lanes){{cr_{of}(x[0]), cr_{of}(x[1])}}; }}")
            }
            [of] if name.ends_with("_all") => writeln!(
                pairs,
                "static void {name}(double *x, size_t count) {{\n    \
                 for (size_t at = 0; at < count; at++) x[at] = cr_{of}(x[at]);\n}}"
            ),
            [of] => writeln!(pairs, "#define {name} cr_{of}"),
            _ => Ok(()),
        };
        functions.extend(used);
    }
    let mut head = String::from("#define _GNU_SOURCE\n");
    for header in HEADERS {
        let _ = writeln!(head, "#include <{header}>");
    }
    if !functions.is_empty() {
        head.push_str(
            "#ifdef __x86_64__\n#include <x86intrin.h>\n#endif\n\n\
             // Elementary functions, rounded correctly: from CORE-MATH (https://core-math.gitlabpages.inria.fr), without\n\
             // comments, and with names that do not meet.\n",
        );
        functions.iter().filter_map(|name| source(name)).for_each(|text| head.push_str(text));
    }
    for (name, number) in [
        ("CLASSES", layout::CLASSES),
        ("MANY_POINTERS", layout::MANY_POINTERS),
        ("MAX_WORDS", layout::MAX_WORDS),
        ("STACK_GUARD", 1 << 20),
    ] {
        let _ = writeln!(head, "#define {name} UINT64_C({number})");
    }
    let _ = writeln!(head, "#define JOINED UINT64_C({})", layout::JOINED);
    Whole { head, runtime: runtime + &pairs, start: START, missing }
}
