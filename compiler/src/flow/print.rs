//! Shapes and the result of the analysis as text.
//!
//! | text | shape |
//! |---|---|
//! | `real`, `bool`, `text`, `()` | leaves that run time decides, and the empty list |
//! | `3`, `#t`, `zero` | known ones; `zero` is the symbolic zero sensitivity |
//! | `(a . b)` | a pair |
//! | `f:(a . b)` | the list of the sensitivities of the environment of `f` |
//! | `[f a b]` | a closure of the function `f` over an environment |
//! | `reverse a`, `zero-of a` | a reverse value, a zero sensitivity that is not unfolded |
//! | `{a \| b}` | a sum |
//! | `T1={... T1 ...}` | a recursive shape, named where it is first met |
//! | `nothing` | no value |

use super::analysis::{Analysis, Facts, VariantId};
use crate::base::entity::Entity;
use crate::core::ir::{Body, Item, Program, Rhs};
use crate::shape::lattice::{Fact, Head, Shape, Shapes};
use crate::shape::vector::{Most, Places};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Longer shapes are cut.
const MAX_LENGTH: usize = 2000;

/// A shape as text.
pub fn shape(program: &Program, shapes: &Shapes, shape: Shape) -> String {
    let mut printer = Printer { program, shapes, names: FxHashMap::default(), text: String::new() };
    printer.shape(shape);
    printer.text
}

struct Printer<'a> {
    program: &'a Program,
    shapes: &'a Shapes,
    names: FxHashMap<Shape, usize>,
    text: String,
}

impl Printer<'_> {
    fn shape(&mut self, shape: Shape) {
        if self.text.len() > MAX_LENGTH {
            self.text.push('…');
            return;
        }
        if let Some(name) = self.names.get(&shape) {
            let _ = write!(self.text, "T{name}");
            return;
        }
        if self.shapes.is_recursive(shape) {
            let name = self.names.len() + 1;
            self.names.insert(shape, name);
            let _ = write!(self.text, "T{name}=");
        }
        let alternatives = self.shapes.alternatives(shape);
        match &alternatives[..] {
            [] => self.text.push_str("nothing"),
            [one] => self.alternative(one.head, &one.children),
            several => {
                for (index, alternative) in several.iter().enumerate() {
                    self.text.push_str(if index == 0 { "{" } else { " | " });
                    self.alternative(alternative.head, &alternative.children);
                }
                self.text.push('}');
            }
        }
    }

    fn alternative(&mut self, head: Head, children: &[Shape]) {
        match head {
            Head::Nil => self.text.push_str("()"),
            Head::Nothing => self.text.push_str("nothing"),
            Head::Bool(None) => self.text.push_str("bool"),
            Head::Bool(Some(known)) => self.text.push_str(if known { "#t" } else { "#f" }),
            Head::Text(None) => self.text.push_str("text"),
            Head::Text(Some(number)) => {
                let _ = write!(self.text, "text{number}");
            }
            Head::Real(Fact::Unknown) => self.text.push_str("real"),
            Head::Real(Fact::PerhapsZero) => self.text.push_str("real-or-zero"),
            Head::Real(Fact::Zero) => self.text.push_str("zero"),
            Head::Real(Fact::Known(bits)) => {
                let _ = write!(self.text, "{}", f64::from_bits(bits));
            }
            Head::Reverse => self.sequence("reverse ", children, "", ""),
            Head::Bundle => self.sequence("forward ", children, "", ""),
            Head::Series => self.sequence("series ", children, " ", ""),
            Head::ZeroOf(_) => self.sequence("zero-of ", children, "", ""),
            Head::Vector => self.sequence("#(", children, "", ")"),
            Head::Beginning => self.sequence("#(", children, "", " ...)"),
            Head::OneHot(Places { most: Most::Few(1), .. }) => self.sequence("one-hot ", children, " ", ""),
            Head::OneHot(Places { most: Most::Few(most), .. }) => {
                self.sequence(&format!("{most}-hot "), children, " ", "");
            }
            Head::OneHot(Places { most: Most::Any, .. }) => self.sequence("many-hot ", children, " ", ""),
            Head::Record(kind) => {
                let record = &self.program.records[kind];
                let fields = self.fields(children, record.fields.len());
                let space = if fields.is_empty() { "" } else { " " };
                self.sequence(&format!("({}{space}", record.name), &fields, " ", ")");
            }
            Head::Pair(None) => self.sequence("(", children, " . ", ")"),
            Head::Pair(Some(code)) => {
                let open = format!("{}:(", self.program.lambdas[code.lambda].name);
                self.sequence(&open, children, " . ", ")");
            }
            Head::Closure(code, _) => {
                let name = self.program.lambdas[code.lambda].name.clone();
                self.text.push('[');
                self.text.push_str(&name);
                for child in children {
                    self.text.push(' ');
                    self.shape(*child);
                }
                self.text.push(']');
            }
        }
    }

    /// The shapes of so many fields of a record that is made of these two parts.
    fn fields(&self, parts: &[Shape], count: usize) -> Vec<Shape> {
        let (mut fields, mut rest) = (Vec::new(), parts.to_vec());
        while fields.len() + 2 < count
            && let Some(pair) = self.shapes.single(rest[1]).filter(|rest| matches!(rest.head, Head::Pair(_)))
        {
            fields.push(rest[0]);
            rest = pair.children.to_vec();
        }
        fields.extend(rest.into_iter().take(count - fields.len()));
        fields
    }

    fn sequence(&mut self, open: &str, children: &[Shape], between: &str, close: &str) {
        self.text.push_str(open);
        for (index, child) in children.iter().enumerate() {
            if index > 0 {
                self.text.push_str(between);
            }
            self.shape(*child);
        }
        self.text.push_str(close);
    }
}

/// All variants that the program reaches, with the shapes of their variables.
pub fn analysis(program: &Program, analysis: &Analysis) -> String {
    let mut text = String::new();
    let mut pending: Vec<VariantId> = Vec::new();
    let mut seen = FxHashSet::default();
    for (item, (facts, result)) in program.items.iter().zip(&analysis.items) {
        let (name, body) = match item {
            Item::Define(global, body) => (format!("define {}", program.globals[*global].name), body),
            Item::Print(body, _) => ("print".to_string(), body),
        };
        let _ = writeln!(text, "{name}: {}", shape(program, &analysis.shapes, *result));
        listing(program, &analysis.shapes, body, facts, 1, &mut text);
        enqueue(facts, &mut pending, &mut seen);
    }
    pending.reverse();
    while let Some(id) = pending.pop() {
        let variant = &analysis.variants[id];
        let lambda = &program.lambdas[variant.key.lambda];
        let args: Vec<String> = variant.key.args.iter().map(|arg| shape(program, &analysis.shapes, *arg)).collect();
        let recursive = if variant.recursive { " recursive" } else { "" };
        let result = shape(program, &analysis.shapes, variant.result);
        let _ = writeln!(text, "\n{id}{recursive} {} {} -> {result}", lambda.name, args.join(" "));
        listing(program, &analysis.shapes, &lambda.body, &variant.facts, 1, &mut text);
        enqueue(&variant.facts, &mut pending, &mut seen);
    }
    text
}

/// All variants that the program reaches.
pub fn reached(program: &Program, analysis: &Analysis) -> Vec<VariantId> {
    let (mut pending, mut seen) = (Vec::new(), FxHashSet::default());
    analysis.items.iter().take(program.items.len()).for_each(|(facts, _)| enqueue(facts, &mut pending, &mut seen));
    let mut found = Vec::new();
    while let Some(id) = pending.pop() {
        found.push(id);
        enqueue(&analysis.variants[id].facts, &mut pending, &mut seen);
    }
    found
}

fn enqueue(facts: &Facts, pending: &mut Vec<VariantId>, seen: &mut FxHashSet<VariantId>) {
    let mut called: Vec<VariantId> = facts.calls.values().copied().filter(|id| seen.insert(*id)).collect();
    called.sort_by_key(|id| std::cmp::Reverse(id.index()));
    pending.extend(called);
}

fn listing(program: &Program, shapes: &Shapes, body: &Body, facts: &Facts, depth: usize, text: &mut String) {
    for binding in &body.bindings {
        let indent = "  ".repeat(depth);
        let name = &program.vars[binding.var].name;
        if let Rhs::If(_, then, other) = &binding.rhs {
            for (word, branch) in [("then", then), ("else", other)] {
                if branch.bindings.iter().any(|inner| facts.shapes.contains_key(&inner.var)) {
                    let _ = writeln!(text, "{indent}{word}");
                    listing(program, shapes, branch, facts, depth + 1, text);
                }
            }
        }
        let Some(known) = facts.shapes.get(&binding.var) else { continue };
        let mut callees: Vec<String> = facts
            .calls
            .iter()
            .filter(|((var, _), _)| *var == binding.var)
            .map(|(_, callee)| format!(" {callee}"))
            .collect();
        callees.sort();
        let call = if callees.is_empty() { String::new() } else { format!("  ; call{}", callees.concat()) };
        let _ = writeln!(text, "{indent}{name}: {}{call}", shape(program, shapes, *known));
    }
}
