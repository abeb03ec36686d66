//! Program texts as trees, for making and shrinking them.

use std::fmt;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sexp {
    /// A name or literal.
    Atom(String),
    /// `( ... )`
    List(Vec<Sexp>),
}

/// An atom.
pub fn atom(text: impl Into<String>) -> Sexp {
    Sexp::Atom(text.into())
}

/// The expression written in `template`, each `?` in it replaced by the next part.
pub fn form<const N: usize>(template: &str, parts: [Sexp; N]) -> Sexp {
    let mut parts = parts.into_iter();
    let mut forms = parse(template);
    assert_eq!(forms.len(), 1, "a template is one expression: {template}");
    let filled = fill(forms.remove(0), &mut parts);
    assert!(parts.next().is_none(), "a template has a `?` for each part: {template}");
    filled
}

fn fill(template: Sexp, parts: &mut impl Iterator<Item = Sexp>) -> Sexp {
    match template {
        Sexp::Atom(text) if text == "?" => parts.next().expect("a part for each `?`"),
        Sexp::Atom(text) => Sexp::Atom(text),
        Sexp::List(items) => Sexp::List(items.into_iter().map(|item| fill(item, parts)).collect()),
    }
}

/// The expressions in a text. Knows as much of the syntax as generated programs need: no comments, no strings with
/// parentheses in them, no quotes but `'()`.
pub fn parse(text: &str) -> Vec<Sexp> {
    let spaced = text.replace("'()", " nil ").replace('(', " ( ").replace(')', " ) ");
    let mut open = vec![Vec::new()];
    for token in spaced.split_whitespace() {
        match token {
            "(" => open.push(Vec::new()),
            ")" => {
                let list = Sexp::List(open.pop().expect("parentheses match"));
                open.last_mut().expect("parentheses match").push(list);
            }
            "nil" => open.last_mut().expect("parentheses match").push(atom("'()")),
            _ => open.last_mut().expect("parentheses match").push(atom(token)),
        }
    }
    assert_eq!(open.len(), 1, "parentheses match in {text}");
    open.remove(0)
}

impl Sexp {
    /// How many atoms and lists there are.
    pub fn size(&self) -> usize {
        match self {
            Sexp::Atom(_) => 1,
            Sexp::List(items) => 1 + items.iter().map(Sexp::size).sum::<usize>(),
        }
    }
}

impl fmt::Display for Sexp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sexp::Atom(text) => f.write_str(text),
            Sexp::List(items) => {
                f.write_str("(")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        f.write_str(" ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// A program: one form on each line.
pub fn print(program: &[Sexp]) -> String {
    program.iter().map(|form| format!("{form}\n")).collect()
}
