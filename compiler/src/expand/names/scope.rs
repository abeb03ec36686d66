//! Names in scope: local variables, and the two worlds of top-level names.

use crate::core::ir::{GlobalId, Var};
use crate::expand::names::modules::Modules;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The local variables in scope; inner ones shadow outer ones.
#[derive(Default)]
pub struct Scope {
    names: FxHashMap<Rc<str>, Vec<Var>>,
    order: Vec<Rc<str>>,
}

/// A point to which a [`Scope`] can go back.
#[derive(Clone, Copy)]
pub struct Mark(usize);

impl Scope {
    /// Brings a variable into scope.
    pub fn push(&mut self, name: Rc<str>, var: Var) {
        self.names.entry(name.clone()).or_default().push(var);
        self.order.push(name);
    }
    /// The innermost variable of that name.
    pub fn get(&self, name: &str) -> Option<Var> {
        self.names.get(name)?.last().copied()
    }
    /// The current point.
    pub fn mark(&self) -> Mark {
        Mark(self.order.len())
    }
    /// Takes all variables out of scope that came in since `mark`.
    pub fn reset(&mut self, mark: Mark) {
        for name in self.order.drain(mark.0..) {
            self.names.get_mut(&name).expect("a name in scope has variables").pop();
        }
    }
    /// The names in scope.
    pub fn names(&self) -> impl Iterator<Item = &Rc<str>> {
        self.order.iter()
    }
}

/// Top-level names. A program sees its own before the library's; the library sees only its own.
#[derive(Default)]
pub struct Globals {
    /// The library's.
    pub library: FxHashMap<Rc<str>, GlobalId>,
    /// The program's.
    pub user: Modules,
}
