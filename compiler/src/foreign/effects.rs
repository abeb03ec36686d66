//! What a library must not do: read from standard input, and write, unless what is written becomes a text.
//! Its callers have the process, and what they print is theirs to decide.
//!
//! The analysis knows what is called; so what only unused functions do is no mistake.

use crate::base::{Diagnostic, SourceMap, Span};
use crate::core::ir::{Body, Program, Rhs, Var};
use crate::core::prim::{Family, Prim};
use crate::flow::Analysis;
use crate::flow::analysis::{Facts, VariantId};
use rustc_hash::FxHashSet;

/// How the names of the library's functions begin that read arguments of the command line, as messages show them.
const ARGUMENT: &str = "argument-";

/// The first thing that the program reads or writes.
pub fn first(program: &Program, flow: &Analysis, sources: &SourceMap) -> Option<Diagnostic> {
    let mut search =
        Search { program, sources, seen: FxHashSet::default(), waiting: Vec::new(), found: None, is_argument: false };
    for (item, (facts, _)) in program.items.iter().zip(&flow.items) {
        search.body(item.body(), facts, (None, false));
    }
    while search.found.is_none() {
        let Some((variant, place)) = search.waiting.pop() else { break };
        let variant = &flow.variants[variant];
        let lambda = &program.lambdas[variant.key.lambda];
        search.is_argument = lambda.name.starts_with(ARGUMENT) && sources.is_library(lambda.span);
        search.body(&lambda.body, &variant.facts, place);
    }
    let (prim, span) = search.found?;
    if search.is_argument {
        let is_read = "is read from the command line";
        let help = "make it a parameter of the export; or write the exports and what they need into a file of their own, \
                    which this program can `include`";
        return Some(
            Diagnostic::error("V0853", "a library has no command line", span, is_read)
                .note("a program that declares arguments is one for the command line, also if its exports need none")
                .help(help),
        );
    }
    let reads = matches!(prim, Prim::ReadReal | Prim::ReadVector | Prim::ReadMatrix);
    let (does, help) = match reads {
        true => ("reads", "make what is read a parameter of the export"),
        false => ("writes", "return what is to be shown; whoever calls the library can print it"),
    };
    Some(
        Diagnostic::error("V0853", format!("a library {does} nothing"), span, format!("{does} when it is called"))
            .note("standard input and output belong to the program that calls the library")
            .help(help),
    )
}

/// The place in the program that calls a function, or calls what calls it, and whether that makes a text meanwhile.
type Place = (Option<Span>, bool);

struct Search<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    /// Functions that have been called, and whether a text was made meanwhile.
    seen: FxHashSet<(VariantId, bool)>,
    /// Functions to look at.
    waiting: Vec<(VariantId, Place)>,
    found: Option<(Prim, Span)>,
    /// The function looked at last reads an argument of the command line.
    is_argument: bool,
}

impl Search<'_> {
    fn body(&mut self, body: &Body, facts: &Facts, (caller, mut in_text): Place) {
        for binding in body.bindings.iter().filter(|binding| facts.shapes.contains_key(&binding.var)) {
            let here = if self.sources.is_library(binding.span) { caller } else { Some(binding.span) };
            match &binding.rhs {
                Rhs::Prim(Prim::BeginText, _) => in_text = true,
                Rhs::Prim(Prim::EndText, _) => in_text = false,
                Rhs::Prim(prim, _) | Rhs::Lifted(_, prim, _) if is_outside(*prim, in_text) => {
                    self.found.get_or_insert((*prim, here.unwrap_or(binding.span)));
                }
                Rhs::Apply(..) => self.calls(binding.var, facts, (here, in_text)),
                Rhs::Prim(Prim::Catch, operands) => {
                    self.calls(binding.var, facts, (here, in_text));
                    self.calls(operands[1], facts, (here, in_text));
                }
                Rhs::If(_, yes, no) => {
                    self.body(yes, facts, (caller, in_text));
                    self.body(no, facts, (caller, in_text));
                }
                _ => {}
            }
        }
    }

    fn calls(&mut self, var: Var, facts: &Facts, place: Place) {
        let mut called: Vec<VariantId> =
            facts.calls.iter().filter(|((of, _), _)| *of == var).map(|(_, variant)| *variant).collect();
        called.sort_unstable();
        for variant in called {
            if self.seen.insert((variant, place.1)) {
                self.waiting.push((variant, place));
            }
        }
        debug_assert!(self.program.library.is_some());
    }
}

fn is_outside(prim: Prim, in_text: bool) -> bool {
    let is_inside = match prim {
        Prim::Error | Prim::Catch | Prim::Opaque | Prim::Exchange | Prim::Ask | Prim::CheckNumber | Prim::TextByte => {
            true
        }
        Prim::WriteReal | Prim::WriteByte | Prim::Write | Prim::WriteString | Prim::Newline => in_text,
        _ => prim.is_of_library(),
    };
    prim.family() == Family::Effect && !is_inside
}
