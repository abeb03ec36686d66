//! What names are called in a text: as in the program, told apart where they clash.

use super::term::{Name, Names, Pattern, Step, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The texts of the names in a term.
pub struct Labels(FxHashMap<Name, Rc<str>>);

impl Labels {
    /// For some names and those bound in a term, none of which may be called as one that is reserved.
    pub fn new(first: &[Name], term: &Term, names: &Names, reserved: &FxHashSet<String>) -> Labels {
        let mut bound = first.to_vec();
        collect(term, &mut bound);
        let mut labels: FxHashMap<Name, Rc<str>> = FxHashMap::default();
        let mut taken: FxHashSet<Rc<str>> = reserved.iter().map(|name| Rc::from(name.as_str())).collect();
        for name in bound {
            if labels.contains_key(&name) {
                continue;
            }
            let called = names.called(name);
            let numbered = (1..).map(|number| Rc::from(format!("{called}{}", subscript(number))));
            let label = std::iter::once(called.clone()).chain(numbered).find(|label| !taken.contains(label));
            let label = label.expect("there are enough numbers");
            taken.insert(label.clone());
            labels.insert(name, label);
        }
        Labels(labels)
    }

    /// What a name is called.
    pub fn of(&self, name: Name) -> &str {
        self.0.get(&name).map_or("?", |label| label)
    }
}

/// The names that a term binds, in order.
fn collect(term: &Term, found: &mut Vec<Name>) {
    match term {
        Term::Lambda(pattern, body) => {
            Pattern::names(pattern, found);
            collect(body, found);
        }
        Term::Block(steps, value) => {
            for step in steps {
                match step {
                    Step::Let(name, term) => {
                        found.push(*name);
                        collect(term, found);
                    }
                    Step::Letrec(functions) => {
                        found.extend(functions.iter().map(|function| function.0));
                        functions.iter().for_each(|function| collect(&function.1, found));
                    }
                    Step::Take(pattern, term) => {
                        pattern.names(found);
                        collect(term, found);
                    }
                }
            }
            collect(value, found);
        }
        other => other.parts(&mut |part| collect(part, found)),
    }
}

fn subscript(number: usize) -> String {
    let digit = |digit: char| char::from_u32(0x2080 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit);
    number.to_string().chars().map(digit).collect()
}
