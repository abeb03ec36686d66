//! Where an error happened, and with how many arguments the function there was called.

use crate::base::{Diagnostic, Span};
use crate::core::ir::{Binding, Body, Item, LambdaId, Origin, Program, Rhs, Var};
use crate::core::operands::contract::{Contract, Misfit};
use crate::core::prim::Prim;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A parameter list that did not fit the arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Arguments {
    /// The function called.
    pub function: String,
    /// How many arguments it takes.
    pub expected: usize,
    /// How many it got.
    pub found: usize,
}

impl Arguments {
    /// What is wrong, as a headline.
    pub fn describe(&self) -> String {
        format!("`{}` takes {} but got {}", self.function, self.expected(), self.found)
    }

    /// How to mend it.
    pub fn help(&self) -> String {
        let expected = self.expected();
        format!(
            "call it with {expected}, or give it other parameters: `(f a b c)` passes the tuple `(a . (b . c))`, which \
             they take apart"
        )
    }

    fn expected(&self) -> String {
        format!("{} argument{}", self.expected, if self.expected == 1 { "" } else { "s" })
    }

    /// The message about an operation on the pair that several arguments are to one parameter: what is wrong is the
    /// call.
    pub fn instead_of(&self, mut message: Diagnostic, call: Option<Span>) -> Diagnostic {
        message.code = "V0304";
        let what = std::mem::replace(&mut message.message, self.describe());
        let here = message.primary.take();
        match (call, here) {
            (Some(call), Some(mut operation)) => {
                message = message.at(Some(call), "this call");
                operation.text = what;
                message.secondary.push(operation);
            }
            (None, Some(mut operation)) => {
                operation.text = what;
                message.primary = Some(operation);
                message.notes.push("the library calls it".into());
            }
            (_, None) => {}
        }
        message.help("one parameter gets several arguments as one pair: give the function more, or `. rest` for all")
    }
}

/// Where an error happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// What to blame: the operation, or, for an operation of the standard library, the user's call that led there.
    pub span: Span,
    /// The library function that the blamed call called, if the operation is in the library.
    pub library: Option<Library>,
    /// For a parameter list that does not fit: the call.
    pub call: Option<Span>,
    /// Set where the function has one parameter and was called with several arguments.
    pub tuple: Option<Arguments>,
}

/// A function of the library that the program has called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Library {
    /// Its name.
    pub name: Rc<str>,
    /// What it takes, if programs know it by that name.
    pub contract: Option<Rc<Contract>>,
    /// The argument of the call that is of a wrong kind.
    pub misfit: Option<Rc<Misfit>>,
}

impl Library {
    /// The function of that λ, which the program calls there, with arguments of which a misfit is known.
    pub fn new(program: &Program, callee: LambdaId, call: Span, misfit: Option<Rc<Misfit>>) -> Library {
        // What is copied to where it is called calls others there, with arguments of its own.
        let (callee, misfit) = match program.copied_calls.get(&call) {
            Some(written) if *written != callee => (*written, None),
            _ => (callee, misfit),
        };
        let contract = program.contracts.get(&callee).cloned();
        let own = &program.lambdas[callee].name;
        let name = contract.as_ref().map_or(own, |contract| &contract.name).clone();
        Library { name, contract, misfit }
    }

    /// The note that something happened in it.
    pub fn note(&self) -> String {
        inside(&self.name)
    }

    /// The same of what may come from its arguments: shows how it is called.
    pub fn note_with_call(&self) -> String {
        inside(self.contract.as_ref().map_or(&self.name, |contract| &contract.call))
    }
}

fn inside(function: &str) -> String {
    format!("this happened inside the library function `{function}`")
}

impl From<Span> for Place {
    fn from(span: Span) -> Place {
        Place { span, library: None, call: None, tuple: None }
    }
}

/// The calls of a program that pass several arguments, and how many.
#[derive(Clone, Debug, Default)]
pub struct Tuples {
    found: FxHashMap<Span, usize>,
}

impl Tuples {
    /// Those that are written in a program.
    pub fn new(program: &Program) -> Tuples {
        let mut tuples = Tuples::default();
        let written = program.lambdas.values().filter(|lambda| lambda.origin == Origin::Source);
        written.for_each(|lambda| tuples.add(program, &lambda.body));
        program.items.iter().map(Item::body).for_each(|body| tuples.add(program, body));
        tuples
    }

    fn add(&mut self, program: &Program, body: &Body) {
        let bindings = body.all_bindings();
        // The pairs that calls are passed stand where these do.
        let mut pairs: FxHashMap<Var, (Var, Span)> = FxHashMap::default();
        for Binding { var, rhs, span } in bindings {
            match rhs {
                Rhs::Prim(Prim::Cons, parts) if program.vars[*var].span == *span => {
                    pairs.insert(*var, (parts[1], *span));
                }
                Rhs::Apply(_, argument) => {
                    let (mut count, mut rest) = (1, argument);
                    while let Some((second, _)) = pairs.get(rest).filter(|(_, place)| place == span) {
                        (count, rest) = (count + 1, second);
                    }
                    if count > 1 {
                        self.found.insert(*span, count);
                    }
                }
                _ => {}
            }
        }
    }

    /// How many arguments a call passes, if there are several.
    pub fn count(&self, call: Span) -> Option<usize> {
        self.found.get(&call).copied()
    }

    /// What is wrong with a call, if it passes several arguments to a function of one parameter.
    pub fn passed(&self, program: &Program, callee: LambdaId, call: Span) -> Option<Arguments> {
        let lambda = &program.lambdas[callee];
        let found = self.count(call).filter(|_| program.single.contains(&lambda.param))?;
        Some(Arguments { function: lambda.name.to_string(), expected: 1, found })
    }
}
