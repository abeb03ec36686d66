//! Terms in the notation of the papers.
//!
//! ~~~text
//! ↼f = λ(↼x, ↼y)
//!        let x = J⃖⁻¹ ↼x
//!            t = x × x
//!        in (J⃖ t, λt̄ ([], x × t̄ ⊕ x × t̄))
//! ~~~
//!
//! `J⃖` is `*j`, application is juxtaposition, `(a, b)` is a pair, `[a, b]` a list, `0 x` the zero of x.

use super::infix::{Around, elements};
use super::labels::Labels;
use super::term::{Name, Names, Pattern, Step, Term};
use crate::core::number;
use crate::core::prim::Prim;
use rustc_hash::FxHashSet;

/// Lines that fit are not broken.
const WIDTH: usize = 96;

/// `name = function`.
pub fn definition(name: &str, captures: &[Name], function: &Term, names: &Names) -> String {
    let mut reserved = FxHashSet::default();
    super::source::mentioned(function, &mut reserved);
    let labels = Labels::new(captures, function, names, &reserved);
    let writer = Writer { labels };
    let mut text = String::new();
    for line in joined(&format!("{name} = "), writer.lines(function)) {
        text += line.trim_end();
        text.push('\n');
    }
    text
}

struct Writer {
    labels: Labels,
}

impl Writer {
    /// The lines of an expression that may be long.
    fn lines(&self, term: &Term) -> Vec<String> {
        let flat = self.flat(term, Around::Nothing);
        if let Some(flat) = flat.filter(|flat| width(flat) <= WIDTH) {
            return vec![flat];
        }
        match term {
            Term::Block(steps, value) => {
                let mut lines = Vec::new();
                for step in steps {
                    let head = if lines.is_empty() { "let " } else { "    " };
                    match step {
                        Step::Let(name, term) => {
                            lines.extend(joined(&format!("{head}{} = ", self.labels.of(*name)), self.lines(term)));
                        }
                        Step::Take(pattern, term) => {
                            lines.extend(joined(&format!("{head}{} = ", self.pattern(pattern)), self.lines(term)));
                        }
                        Step::Letrec(functions) => {
                            for (number, (name, function)) in functions.iter().enumerate() {
                                let head = if number == 0 { head } else { "    " };
                                let head = if number == 0 && head == "let " { "letrec " } else { head };
                                lines.extend(joined(
                                    &format!("{head}{} = ", self.labels.of(*name)),
                                    self.lines(function),
                                ));
                            }
                        }
                    }
                }
                lines.extend(joined("in ", self.lines(value)));
                lines
            }
            Term::Lambda(pattern, body) => {
                let mut lines = vec![format!("λ{}", self.pattern(pattern))];
                lines.extend(self.lines(body).into_iter().map(|line| format!("  {line}")));
                lines
            }
            Term::If(condition, yes, no) => {
                let mut lines = joined("if ", self.lines(condition));
                lines.extend(joined("then ", self.lines(yes)));
                lines.extend(joined("else ", self.lines(no)));
                lines
            }
            Term::Prim(Prim::Cons, parts) => {
                let mut lines = joined("(", self.lines(&parts[0]));
                if let Some(last) = lines.last_mut() {
                    last.push(',');
                }
                lines.extend(joined(" ", self.lines(&parts[1])));
                if let Some(last) = lines.last_mut() {
                    last.push(')');
                }
                lines
            }
            Term::Prim(prim, operands) => {
                let mut lines = vec![super::source::word(*prim).to_string()];
                for operand in operands {
                    let mut operand = joined("  (", self.lines(operand));
                    if let Some(last) = operand.last_mut() {
                        last.push(')');
                    }
                    lines.extend(operand);
                }
                lines
            }
            Term::Apply(function, argument) => {
                let mut lines = self.lines(function);
                lines.extend(joined("  ", self.lines(argument)));
                lines
            }
            other => vec![self.flat(other, Around::Nothing).unwrap_or_default()],
        }
    }

    /// An expression on one line; `None` if it has to be broken.
    fn flat(&self, term: &Term, around: Around) -> Option<String> {
        let (text, inside) = match term {
            Term::Name(name) => (self.labels.of(*name).to_string(), None),
            Term::Global(name) => (name.to_string(), None),
            Term::Number(number) => {
                let text = number::format(*number).as_str().to_string();
                let inside = text.starts_with('-').then_some(Around::Sum);
                (text, inside)
            }
            Term::Zero => ("0".to_string(), None),
            Term::Bool(true) => ("true".to_string(), None),
            Term::Bool(false) => ("false".to_string(), None),
            Term::Nil => ("[]".to_string(), None),
            Term::Text(text) => (format!("{text:?}"), None),
            Term::Vector(elements) => {
                let elements: Option<Vec<String>> =
                    elements.iter().map(|element| self.flat(element, Around::Nothing)).collect();
                (format!("⟨{}⟩", elements?.join(", ")), None)
            }
            Term::Prim(Prim::Cons, parts) => (self.pair(parts)?, None),
            Term::Prim(Prim::J, operands) if matches!(operands[0], Term::Global(_)) => {
                (format!("↼{}", self.flat(&operands[0], Around::Nothing)?), None)
            }
            Term::Prim(prim, operands) => return self.primitive(*prim, operands, around),
            Term::Apply(function, argument) => {
                let function = self.flat(function, Around::Product)?;
                (format!("{function} {}", self.flat(argument, Around::Application)?), Some(Around::Product))
            }
            Term::Lambda(pattern, body) => {
                (format!("λ{} {}", self.pattern(pattern), self.flat(body, Around::Nothing)?), Some(Around::Nothing))
            }
            Term::If(condition, yes, no) => {
                let [condition, yes, no] = [condition, yes, no].map(|part| self.flat(part, Around::Nothing));
                (format!("if {} then {} else {}", condition?, yes?, no?), Some(Around::Nothing))
            }
            Term::Block(..) => return None,
        };
        Some(enclosed(text, inside, around))
    }

    fn pair(&self, parts: &[Term]) -> Option<String> {
        if let Some(items) = elements(parts) {
            let items: Option<Vec<String>> = items.into_iter().map(|item| self.flat(item, Around::Nothing)).collect();
            return Some(format!("[{}]", items?.join(", ")));
        }
        let [first, second] = [&parts[0], &parts[1]].map(|part| self.flat(part, Around::Nothing));
        Some(format!("({}, {})", first?, second?))
    }

    fn primitive(&self, prim: Prim, operands: &[Term], around: Around) -> Option<String> {
        if let (Some(inside), [a, b]) = (Around::of_infix(prim), operands) {
            let [a, b] = [self.flat(a, inside.of_first())?, self.flat(b, inside)?];
            return Some(enclosed(format!("{a} {} {b}", sign(prim)), Some(inside), around));
        }
        let text = match (prim, operands) {
            (Prim::Neg, [a]) => format!("−{}", self.flat(a, Around::Application)?),
            (Prim::VectorRef, [vector, index]) => {
                let vector = self.flat(vector, Around::Application)?;
                return Some(format!("{vector}[{}]", self.flat(index, Around::Nothing)?));
            }
            _ => {
                let word = match prim {
                    Prim::J => "J⃖",
                    Prim::JInverse => "J⃖⁻¹",
                    Prim::JStar => "J⃗",
                    Prim::Zero => "0",
                    Prim::Sqrt => "√",
                    Prim::Sign => "sign",
                    prim => super::source::word(prim),
                };
                let operands: Option<Vec<String>> =
                    operands.iter().map(|operand| self.flat(operand, Around::Application)).collect();
                std::iter::once(word.to_string()).chain(operands?).collect::<Vec<_>>().join(" ")
            }
        };
        Some(enclosed(text, Some(Around::Product), around))
    }

    fn pattern(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Name(name) => self.labels.of(*name).to_string(),
            Pattern::Any => "_".to_string(),
            Pattern::Nil => "[]".to_string(),
            Pattern::Pair(first, second) => format!("({}, {})", self.pattern(first), self.pattern(second)),
            Pattern::Vector(length) => format!("⟨{}⟩", vec!["_"; *length as usize].join(", ")),
        }
    }
}

/// The sign of an operation that is written between its operands.
fn sign(prim: Prim) -> &'static str {
    match prim {
        Prim::Sub => "−",
        Prim::Plus => "⊕",
        Prim::Mul | Prim::Scale => "×",
        Prim::Div | Prim::Unscale => "/",
        Prim::Le => "≤",
        Prim::Ge => "≥",
        prim => super::source::word(prim),
    }
}

/// Parentheses where they are needed.
fn enclosed(text: String, inside: Option<Around>, around: Around) -> String {
    if around.encloses(inside) { format!("({text})") } else { text }
}

/// Lines behind a head; all but the first are indented by its width.
fn joined(head: &str, lines: Vec<String>) -> Vec<String> {
    let indent = " ".repeat(width(head));
    let lines = lines.into_iter().enumerate();
    lines.map(|(number, line)| format!("{}{line}", if number == 0 { head } else { &indent })).collect()
}

/// The number of columns of a text: marks above letters take none.
fn width(text: &str) -> usize {
    text.chars().filter(|c| !matches!(u32::from(*c), 0x300..=0x36f | 0x20d0..=0x20ff)).count()
}
