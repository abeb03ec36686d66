//! Terms in the notation of the papers, for TeX.
//!
//! ~~~text
//! \overleftarrow{f} = \begin{aligned}& \lambda \overleftarrow{x} \\ & \quad
//!   \begin{aligned}\mathbf{let}\; & x = \overleftarrow{\mathcal{J}}^{-1}\,\overleftarrow{x} \\
//!   ...
//! ~~~
//!
//! What is printed needs the package `amsmath`, as KaTeX and MathJax have it, and stands in display mathematics. It is
//! the text of [`super::papers`] in the same layout, with fractions, roots and powers.

use super::infix::{Around, elements};
use super::labels::Labels;
use super::source;
use super::term::{Name, Names, Pattern, Step, Term};
use crate::core::number;
use crate::core::prim::Prim;
use rustc_hash::FxHashSet;

/// `name = function`.
pub fn definition(name: &str, captures: &[Name], function: &Term, names: &Names) -> String {
    let mut reserved = FxHashSet::default();
    source::mentioned(function, &mut reserved);
    let writer = Writer { labels: Labels::new(captures, function, names, &reserved) };
    format!("{} = {}", word(name), writer.term(function, Around::Nothing))
}

struct Writer {
    labels: Labels,
}

impl Writer {
    fn term(&self, term: &Term, around: Around) -> String {
        let (text, inside) = match term {
            Term::Name(name) => (word(self.labels.of(*name)), None),
            Term::Global(name) => (word(name), None),
            Term::Number(number) => {
                let text = numeral(number::format(*number).as_str());
                let inside = text.starts_with('-').then_some(Around::Sum);
                (text, inside)
            }
            Term::Zero => ("0".to_string(), None),
            Term::Bool(value) => (format!("\\mathrm{{{value}}}"), None),
            Term::Nil => ("[\\,]".to_string(), None),
            Term::Text(text) => (format!("\\text{{\u{201c}{}\u{201d}}}", plain(text)), None),
            Term::Vector(elements) => (format!("\\langle {} \\rangle", self.all(elements.iter())), None),
            Term::Prim(Prim::Cons, parts) => (self.pair(parts), None),
            Term::Prim(Prim::J, operands) if matches!(operands[0], Term::Global(_)) => {
                (format!("\\overleftarrow{{{}}}", self.term(&operands[0], Around::Nothing)), None)
            }
            Term::Prim(prim, operands) => self.primitive(*prim, operands),
            Term::Apply(function, argument) => {
                let function = self.term(function, Around::Product);
                (format!("{function}\\;{}", self.term(argument, Around::Application)), Some(Around::Product))
            }
            Term::Lambda(pattern, body) => {
                let head = format!("\\lambda {}", self.pattern(pattern));
                let text = match &**body {
                    Term::Block(..) => {
                        let body = self.term(body, Around::Nothing);
                        format!("\\begin{{aligned}}& {head} \\\\ & \\quad {body}\\end{{aligned}}")
                    }
                    body => format!("{head}\\;{}", self.term(body, Around::Nothing)),
                };
                (text, Some(Around::Nothing))
            }
            Term::If(condition, yes, no) => {
                let [condition, yes, no] = [condition, yes, no].map(|part| self.term(part, Around::Nothing));
                let text = format!(
                    "\\begin{{cases}}{yes} & \\text{{if }} {condition} \\\\ {no} & \\text{{otherwise}}\\end{{cases}}"
                );
                (text, Some(Around::Product))
            }
            Term::Block(steps, value) => (self.block(steps, value), Some(Around::Nothing)),
        };
        if around.encloses(inside) { format!("\\left({text}\\right)") } else { text }
    }

    fn all<'t>(&self, terms: impl Iterator<Item = &'t Term>) -> String {
        terms.map(|term| self.term(term, Around::Nothing)).collect::<Vec<_>>().join(", ")
    }

    fn block(&self, steps: &[Step], value: &Term) -> String {
        let mut rows: Vec<String> = Vec::new();
        for step in steps {
            match step {
                Step::Let(name, term) => {
                    let term = self.term(term, Around::Nothing);
                    rows.push(format!("{} = {term}", word(self.labels.of(*name))));
                }
                Step::Take(pattern, term) => {
                    rows.push(format!("{} = {}", self.pattern(pattern), self.term(term, Around::Nothing)));
                }
                Step::Letrec(functions) => rows.extend(functions.iter().map(|(name, function)| {
                    format!("{} = {}", word(self.labels.of(*name)), self.term(function, Around::Nothing))
                })),
            }
        }
        let is_recursive = matches!(steps.first(), Some(Step::Letrec(_)));
        let head = if is_recursive { "\\mathbf{letrec}" } else { "\\mathbf{let}" };
        let value = self.term(value, Around::Nothing);
        let rows = rows.join(" \\\\ & ");
        format!("\\begin{{aligned}}{head}\\; & {rows} \\\\ \\mathbf{{in}}\\; & {value}\\end{{aligned}}")
    }

    fn pair(&self, parts: &[Term]) -> String {
        match elements(parts) {
            Some(items) => format!("[{}]", self.all(items.into_iter())),
            None => format!("\\left({}\\right)", self.all(parts.iter())),
        }
    }

    fn primitive(&self, prim: Prim, operands: &[Term]) -> (String, Option<Around>) {
        match (Around::of_infix(prim), prim, operands) {
            (_, Prim::Div | Prim::Unscale, [a, b]) => {
                let [a, b] = [a, b].map(|part| self.term(part, Around::Nothing));
                (format!("\\frac{{{a}}}{{{b}}}"), None)
            }
            (Some(inside), _, [a, b]) => {
                let [a, b] = [self.term(a, inside.of_first()), self.term(b, inside)];
                (format!("{a} {} {b}", sign(prim)), Some(inside))
            }
            (_, Prim::Expt, [a, b]) => {
                let (base, power) = (self.term(a, Around::Application), self.term(b, Around::Nothing));
                (format!("{{{base}}}^{{{power}}}"), Some(Around::Product))
            }
            (_, Prim::Sqrt, [a]) => (format!("\\sqrt{{{}}}", self.term(a, Around::Nothing)), None),
            (_, Prim::Abs, [a]) => (format!("\\left|{}\\right|", self.term(a, Around::Nothing)), None),
            (_, Prim::Neg, [a]) => (format!("-{}", self.term(a, Around::Sum)), Some(Around::Sum)),
            (_, Prim::VectorRef, [vector, index]) => {
                let vector = self.term(vector, Around::Application);
                (format!("{vector}_{{{}}}", self.term(index, Around::Nothing)), None)
            }
            _ => {
                let word = match prim {
                    Prim::J => "\\overleftarrow{\\mathcal{J}}".to_string(),
                    Prim::JInverse => "\\overleftarrow{\\mathcal{J}}^{-1}".to_string(),
                    Prim::JStar => "\\overrightarrow{\\mathcal{J}}".to_string(),
                    Prim::Zero => "0".to_string(),
                    prim => format!("\\mathrm{{{}}}", plain(source::word(prim))),
                };
                let operands = operands.iter().map(|operand| self.term(operand, Around::Application));
                (std::iter::once(word).chain(operands).collect::<Vec<_>>().join("\\,"), Some(Around::Product))
            }
        }
    }

    fn pattern(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Name(name) => word(self.labels.of(*name)),
            Pattern::Any => "\\_".to_string(),
            Pattern::Nil => "[\\,]".to_string(),
            Pattern::Pair(first, second) => {
                format!("\\left({}, {}\\right)", self.pattern(first), self.pattern(second))
            }
            Pattern::Vector(length) => {
                format!("\\langle {} \\rangle", vec!["\\_"; *length as usize].join(", "))
            }
        }
    }
}

/// The sign of an operation that is written between its operands.
fn sign(prim: Prim) -> &'static str {
    match prim {
        Prim::Plus => "\\oplus",
        Prim::Mul | Prim::Scale => "\\times",
        Prim::Le => "\\le",
        Prim::Ge => "\\ge",
        prim => source::word(prim),
    }
}

/// A name: marks above its letters, and numbers below them.
fn word(name: &str) -> String {
    if let Some(name) = name.strip_prefix('↼') {
        return format!("\\overleftarrow{{{}}}", word(name));
    }
    if let Some(name) = name.strip_prefix('∇') {
        return format!("\\nabla {}", word(name));
    }
    if let Some(name) = name.strip_suffix('′') {
        return format!("{{{}}}'", word(name));
    }
    let digit = |c: char| u32::from(c).checked_sub(0x2080).filter(|digit| *digit < 10);
    let letters = name.trim_end_matches(|c| digit(c).is_some());
    let below: String = name[letters.len()..].chars().filter_map(digit).map(|digit| digit.to_string()).collect();
    let marks = [('\u{304}', "\\bar"), ('\u{303}', "\\tilde"), ('\u{301}', "\\acute")];
    // A letter with such a mark may also be one character.
    let composed =
        [('ā', "\\bar{a}"), ('ē', "\\bar{e}"), ('ī', "\\bar{\\imath}"), ('ō', "\\bar{o}"), ('ū', "\\bar{u}")];
    let mut text = match marks.iter().find_map(|(mark, tex)| Some((letters.strip_suffix(*mark)?, *tex))) {
        Some((letters, tex)) => {
            let wide = if letters.chars().count() > 1 { tex.replace("\\bar", "\\overline") } else { tex.to_string() };
            format!(
                "{}{{{}}}",
                wide.replace("\\tilde", if wide == tex { "\\tilde" } else { "\\widetilde" }),
                word(letters)
            )
        }
        None => match composed.iter().find(|(letter, _)| letters.chars().eq([*letter])) {
            Some((_, tex)) => (*tex).to_string(),
            None if letters.chars().count() == 1 && letters != "_" && plain(letters) == letters => letters.to_string(),
            None => format!("\\mathit{{{}}}", plain(letters)),
        },
    };
    if !below.is_empty() {
        text += &format!("_{{{below}}}");
    }
    text
}

/// A number, with a power of ten where it has an exponent.
fn numeral(text: &str) -> String {
    match text.split_once('e') {
        Some((digits, power)) => format!("{digits} \\times 10^{{{}}}", power.trim_start_matches('+')),
        None => text.replace("inf.0", "\\infty").replace("nan.0", "\\mathrm{nan}"),
    }
}

/// A text in which no character means anything to TeX.
fn plain(text: &str) -> String {
    let mut result = String::new();
    for c in text.chars() {
        match c {
            '-' => result += "\\text{-}",
            '_' | '%' | '&' | '#' | '$' | '{' | '}' => result.extend(['\\', c]),
            '\\' => result += "\\backslash ",
            '^' => result += "\\hat{\\,}",
            '~' => result += "\\sim ",
            c => result.push(c),
        }
    }
    result
}
