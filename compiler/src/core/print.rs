//! Core programs as text for people.
//!
//! ```text
//! (define (f x)
//!   square = (* x x)
//!   g = λ g (y) over (x)
//!     sum = (+ x y)
//!     return sum
//!   h = global h
//!   result = (call g square)
//!   t = (call h result)
//!   return t)
//! ```
//!
//! A λ is shown where its closure is first made. Variables have their source names, with a number where several of a
//! function's variables share a name. Functions of the standard library and the bodies of primitives used as values
//! are left out, because every program would begin with them.

use crate::base::SourceMap;
use crate::core::ir::{Binding, Body, Const, Definition, Item, Lambda, LambdaId, Origin, Part, Program, Rhs, Var};
use crate::core::number;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// The program's own functions and items.
pub fn program(program: &Program, sources: &SourceMap) -> String {
    let mut printer = Printer::new(program);
    for global in program.globals.values() {
        if let (Definition::Function(lambda), false) = (global.definition, sources.is_library(global.span)) {
            printer.top_level(lambda);
        }
    }
    for item in &program.items {
        match item {
            Item::Define(global, body) => printer.item(&format!("define {}", program.globals[*global].name), body),
            Item::Print(body, _) => printer.item("print", body),
        }
    }
    printer.out
}

/// Some λs with everything inside them.
pub fn lambdas(program: &Program, lambdas: &[LambdaId]) -> String {
    let mut printer = Printer::new(program);
    for lambda in lambdas {
        printer.top_level(*lambda);
    }
    printer.out
}

struct Printer<'p> {
    program: &'p Program,
    out: String,
    indent: usize,
    /// λs whose code has been shown.
    shown: FxHashSet<LambdaId>,
    /// How the variables of the current function are called.
    names: FxHashMap<Var, String>,
}

impl<'p> Printer<'p> {
    fn new(program: &'p Program) -> Printer<'p> {
        let (shown, names) = Default::default();
        Printer { program, out: String::new(), indent: 0, shown, names }
    }

    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = 2 * self.indent);
    }

    fn top_level(&mut self, id: LambdaId) {
        if !self.shown.insert(id) {
            return;
        }
        let lambda = &self.program.lambdas[id];
        self.choose_names(|find| find.lambda(lambda));
        let head = format!(
            "(define ({} {}){}",
            self.label(lambda),
            self.name(lambda.param),
            self.over(lambda, &lambda.captures)
        );
        self.line(&head);
        self.indented(&lambda.body);
        self.close();
    }

    fn item(&mut self, head: &str, body: &Body) {
        self.choose_names(|find| find.body(body));
        self.line(&format!("({head}"));
        self.indented(body);
        self.close();
    }

    fn close(&mut self) {
        self.out.truncate(self.out.trim_end().len());
        self.out.push_str(")\n\n");
    }

    /// The name of a λ, with a mark for what transformation has made of it.
    fn label(&self, lambda: &Lambda) -> String {
        match lambda.origin {
            Origin::Source | Origin::Primitive(_) => lambda.name.to_string(),
            Origin::Reverse(of) => format!("↼{}", self.label(&self.program.lambdas[of])),
            Origin::Forward(of) => format!("⇀{}", self.label(&self.program.lambdas[of])),
            Origin::Series(of) => format!("{}\u{302}", self.label(&self.program.lambdas[of])),
            Origin::Directions(of) => format!("⇶{}", self.label(&self.program.lambdas[of])),
            Origin::Backpropagator(of, 0) => format!("{}~", self.label(&self.program.lambdas[of])),
            Origin::Backpropagator(of, branch) => format!("{}~{branch}", self.label(&self.program.lambdas[of])),
            Origin::Adding(of) => format!("{}+", self.label(&self.program.lambdas[of])),
        }
    }

    /// What a λ captures, with what that is where a closure is made if it has another name there.
    fn over(&self, lambda: &Lambda, captured: &[Var]) -> String {
        let captures = lambda.captures.iter().zip(captured).map(|(inside, outside)| {
            let [inside, outside] = [inside, outside].map(|var| self.name(*var).to_string());
            if inside == outside { inside } else { format!("{inside} = {outside}") }
        });
        let captures: Vec<String> = captures.collect();
        if captures.is_empty() { String::new() } else { format!(" over ({})", captures.join(" ")) }
    }

    fn indented(&mut self, body: &Body) {
        self.indent += 1;
        for binding in &body.bindings {
            self.binding(binding);
        }
        let result = format!("return {}", self.name(body.result));
        self.line(&result);
        self.indent -= 1;
    }

    fn binding(&mut self, binding: &Binding) {
        let program = self.program;
        let var = self.name(binding.var).to_string();
        match &binding.rhs {
            Rhs::Closure(id, captured) => {
                let lambda = &program.lambdas[*id];
                let first = self.shown.insert(*id) && !matches!(lambda.origin, Origin::Primitive(_));
                let head = format!(
                    "{var} = λ {} ({}){}",
                    self.label(lambda),
                    self.name(lambda.param),
                    self.over(lambda, captured)
                );
                self.line(&if first { head } else { format!("{head} ...") });
                if first {
                    self.indented(&lambda.body);
                }
            }
            Rhs::If(condition, yes, no) => {
                let head = format!("{var} = if {}", self.name(*condition));
                self.line(&head);
                self.indented(yes);
                self.line("else");
                self.indented(no);
            }
            simple => {
                let text = format!("{var} = {}", self.simple(simple));
                self.line(&text);
            }
        }
    }

    fn simple(&self, rhs: &Rhs) -> String {
        match rhs {
            Rhs::Var(var) => self.name(*var).to_string(),
            Rhs::Const(constant) => self.constant(constant),
            Rhs::Global(global) => format!("global {}", self.program.globals[*global].name),
            Rhs::Apply(function, argument) => format!("(call {} {})", self.name(*function), self.name(*argument)),
            Rhs::Prim(prim, operands) => {
                let operands = operands.iter().map(|var| format!(" {}", self.name(*var)));
                format!("({prim}{})", operands.collect::<String>())
            }
            Rhs::Lifted(below, prim, operands) => {
                let operands = operands.iter().map(|var| format!(" {}", self.name(*var)));
                format!("({prim}^{}{})", below.of_code(), operands.collect::<String>())
            }
            Rhs::Destructure(part, var) => {
                let part = match part {
                    Part::Car => "first part of",
                    Part::Cdr => "second part of",
                    Part::Nil => "empty",
                    Part::Never => "no clause for",
                    Part::Vector(length) => return format!("vector of {length} {}", self.name(*var)),
                    Part::Record(kind) => {
                        return format!("record {} {}", self.program.records[*kind].name, self.name(*var));
                    }
                };
                format!("{part} {}", self.name(*var))
            }
            Rhs::Closure(..) | Rhs::If(..) => String::new(),
        }
    }

    fn constant(&self, constant: &Const) -> String {
        match constant {
            Const::Nil => "()".to_string(),
            Const::Nothing => "nothing".to_string(),
            Const::Bool(true) => "#t".to_string(),
            Const::Bool(false) => "#f".to_string(),
            Const::Real(number) => number::format(*number).as_str().to_string(),
            Const::Str(text) => format!("{text:?}"),
            Const::Record(kind) => format!("kind {}", self.program.records[*kind].name),
        }
    }

    fn name(&self, var: Var) -> &str {
        self.names.get(&var).map_or("?", String::as_str)
    }

    /// Gives every variable that `visit` finds a name of its own.
    fn choose_names(&mut self, visit: impl FnOnce(&mut Variables)) {
        let mut variables = Variables { program: self.program, vars: Vec::new(), lambdas: FxHashSet::default() };
        visit(&mut variables);
        let mut seen: FxHashSet<Var> = FxHashSet::default();
        variables.vars.retain(|var| seen.insert(*var));
        // The first variable of a name has it as it is, the others with a number. A source name may look numbered.
        let mut taken: FxHashSet<String> = FxHashSet::default();
        let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
        self.names.clear();
        for var in variables.vars {
            let name: &str = &self.program.vars[var].name;
            let mut unique = name.to_string();
            while !taken.insert(unique.clone()) {
                let number = numbers.entry(name).or_insert(0);
                *number += 1;
                unique = format!("{name}.{number}");
            }
            self.names.insert(var, unique);
        }
    }
}

/// Collects the variables of a function and of all λs in it.
struct Variables<'p> {
    program: &'p Program,
    vars: Vec<Var>,
    lambdas: FxHashSet<LambdaId>,
}

impl Variables<'_> {
    fn lambda(&mut self, lambda: &Lambda) {
        self.vars.push(lambda.param);
        self.vars.extend(&lambda.captures);
        self.body(&lambda.body);
    }

    fn body(&mut self, body: &Body) {
        for binding in &body.bindings {
            self.vars.push(binding.var);
            match &binding.rhs {
                Rhs::Closure(id, _) if self.lambdas.insert(*id) => self.lambda(&self.program.lambdas[*id]),
                Rhs::If(_, yes, no) => {
                    self.body(yes);
                    self.body(no);
                }
                _ => {}
            }
        }
    }
}
