//! `vlad explain --derivative f`: the reverse transform of a function as the papers print it.
//!
//! The transform that [`crate::ad`] derives ([`convert`]) → the same [simplified](simplify) → both in the notation of
//! the papers ([`papers`], and [`tex`]) and as VLAD source ([`source`]), and what is left of the gradient. The text is
//! a program: what is not source stands in comments. Behind the definitions of the file it runs, and computes what the
//! operator computes. So the derivative of a derivative is that of the gradient in the text.
//!
//! The transform differs from the one that is compiled in one way: sums are not handed on to backpropagators, which the
//! papers do not do either.

mod convert;

mod infix;
mod labels;

mod papers;

mod simplify;

mod source;

mod term;

mod tex;

use crate::ad::Transforms;
use crate::ad::tower::Transformation;
use crate::base::{Diagnostic, SourceMap};
use crate::core::ir::{Definition, Global, Lambda, LambdaId, Origin, Program};
use crate::core::mismatch::parameter_position;
use crate::core::prim::{Family, Prim};
use convert::{Converter, Unwritable};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};
use source::Parameters;
use std::fmt::Write;
use std::rc::Rc;
use term::{Name, Names, Pattern, Step, Term};

/// The derivative of one function.
pub struct Derivative {
    name: String,
    place: String,
    helpers: Vec<&'static str>,
    /// In the notation of the papers and as source, before and after.
    before: [String; 2],
    after: [String; 2],
    /// What computes the gradient, or takes a sensitivity back, and its name.
    last: (String, String),
    /// The transform, the same simplified, and the last one, for TeX.
    tex: [String; 3],
}

impl Derivative {
    /// The name of what computes the gradient, or takes a sensitivity back.
    pub fn of_gradient(&self) -> &str {
        &self.last.0
    }
}

/// The derivatives of functions of the program, by name.
pub fn explain(
    program: &mut Program,
    sources: &SourceMap,
    wanted: &[String],
) -> Result<Vec<Derivative>, Vec<Diagnostic>> {
    let mut functions = Vec::new();
    for name in wanted {
        let found = functions_named(program, sources, name);
        if found.is_empty() {
            return Err(vec![unknown(program, sources, name)]);
        }
        functions.extend(found);
    }
    let mut shown: FxHashMap<LambdaId, Rc<str>> = FxHashMap::default();
    for lambda in &functions {
        shown.insert(*lambda, Rc::from(format!("↼{}", program.lambdas[*lambda].name)));
    }
    let own: Vec<String> = program
        .globals
        .values()
        .filter(|global| !sources.is_library(global.span))
        .map(|global| global.name.to_string())
        .collect();
    let mut parameters = parameters(program, sources);
    for (lambda, transform) in &shown {
        let count = parameter_count(program, *lambda);
        parameters.insert(transform.clone(), count);
        parameters.insert(Rc::from(format!("{transform}′")), count);
    }
    let mut transforms = Transforms::textbook();
    let mut derivatives = Vec::new();
    for lambda in functions {
        let derivative = derivative(program, sources, &mut transforms, lambda, &shown, (&own, &parameters));
        derivatives.push(derivative.map_err(|Unwritable(reason)| {
            let Lambda { name, span, .. } = &program.lambdas[lambda];
            let message = format!("the derivative of `{name}` cannot be written as a program: {reason}");
            let help = "`vlad emit --stage reverse` shows it in the language of the compiler";
            vec![Diagnostic::error("V0841", message, *span, "").help(help)]
        })?);
    }
    Ok(derivatives)
}

/// The functions of the program that have a name: the one at the top level, or else all nested ones.
fn functions_named(program: &Program, sources: &SourceMap, name: &str) -> Vec<LambdaId> {
    // Those of the program's own file come behind those of files that it imports.
    let top = program.globals.values().rev().find_map(|global| match global.definition {
        Definition::Function(lambda) if *global.name == *name && !sources.is_library(global.span) => Some(lambda),
        _ => None,
    });
    if let Some(lambda) = top {
        return vec![lambda];
    }
    let nested = |lambda: &Lambda| {
        lambda.origin == Origin::Source && *lambda.name == *name && !sources.is_library(lambda.span) && name != "lambda"
    };
    program.lambdas.iter().filter(|(_, lambda)| nested(lambda)).map(|(id, _)| id).collect()
}

fn unknown(program: &Program, sources: &SourceMap, name: &str) -> Diagnostic {
    let global =
        program.globals.values().rev().find(|global| *global.name == *name && !sources.is_library(global.span));
    if let Some(global) = global {
        let message = format!("`{name}` is no function that is written in this program");
        let diagnostic = Diagnostic::error("V0840", message, global.span, "a value that the program computes");
        return diagnostic.help("ask for the function that it is made of");
    }
    let mut names: Vec<&str> = program
        .lambdas
        .values()
        .filter(|lambda| {
            lambda.origin == Origin::Source && !sources.is_library(lambda.span) && &*lambda.name != "lambda"
        })
        .map(|lambda| &*lambda.name)
        .collect();
    names.sort_unstable();
    names.dedup();
    let help = match names.len() {
        0 => "the program defines no functions".to_string(),
        _ => {
            format!("its functions are {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
    };
    Diagnostic::error_without_place("V0840", format!("the program has no function `{name}`")).help(help)
}

fn derivative(
    program: &mut Program,
    sources: &SourceMap,
    transforms: &mut Transforms,
    lambda: LambdaId,
    shown: &FxHashMap<LambdaId, Rc<str>>,
    (own, parameters): (&[String], &Parameters),
) -> Result<Derivative, Unwritable> {
    let Lambda { name, span, .. } = program.lambdas[lambda].clone();
    let transform = transforms.apply(program, Transformation::Reverse, lambda);
    let mut names = Names::default();
    let mut converter = Converter::new(program, transforms, &mut names, shown);
    converter.minus_is_own = own.iter().any(|name| name == "-");
    let (captures, term) = converter.function(transform)?;
    let before = simplify::tidy(term, &mut names);
    let plain = format!("↼{name}");
    let simplified = format!("↼{name}′");
    let calls_simplified = before.clone().calls(&plain, &simplified);
    let after = simplify::simplify(calls_simplified, &mut names);
    let (last_name, last) = gradient(&name, &simplified, &captures, &after, &mut names);
    let mut words = FxHashSet::default();
    [&before, &after, &last].into_iter().for_each(|term| source::primitives(term, &mut words));
    // What stands for a primitive must mean that primitive.
    if let Some(name) = own.iter().find(|name| words.contains(name.as_str())) {
        return Err(Unwritable(format!("it needs the `{name}` of the library, and the program defines its own")));
    }
    let mut helpers = source::helpers(&before);
    helpers.extend(source::helpers(&last).into_iter().filter(|helper| !source::helpers(&before).contains(helper)));
    let last = simplify::with_parts(last);
    let in_tex = |name: &str, term: &Term, names: &Names| {
        tex::definition(name, &captures, &simplify::with_parts(term.clone()), names)
    };
    Ok(Derivative {
        tex: [in_tex(&plain, &before, &names), in_tex(&simplified, &after, &names), in_tex(&last_name, &last, &names)],
        place: sources.place(span),
        helpers,
        before: both(&plain, &captures, &before, &names, parameters),
        after: both(&simplified, &captures, &after, &names, parameters),
        last: (last_name.clone(), source::definition(&last_name, &captures, &last, &names, parameters)),
        name: name.to_string(),
    })
}

fn both(name: &str, captures: &[Name], term: &Term, names: &Names, parameters: &Parameters) -> [String; 2] {
    let term = simplify::with_parts(term.clone());
    [papers::definition(name, captures, &term, names), source::definition(name, captures, &term, names, parameters)]
}

/// How many parameters the functions at top level have; the program's own hide those of the library.
fn parameters(program: &Program, sources: &SourceMap) -> Parameters {
    let (library, own): (Vec<&Global>, Vec<&Global>) =
        program.globals.values().partition(|global| sources.is_library(global.span));
    let count = |global: &Global| match global.definition {
        Definition::Function(lambda) => Some((global.name.clone(), parameter_count(program, lambda))),
        Definition::Value => None,
    };
    library.into_iter().chain(own).filter_map(count).collect()
}

fn parameter_count(program: &Program, lambda: LambdaId) -> usize {
    let lambda = &program.lambdas[lambda];
    parameter_position(program, lambda, lambda.param).map_or(1, |(count, _)| count)
}

/// What is left of `(lambda (x) (cdr ((cdr (↼f (*j x))) 1)))`, or, if the value is not known to be a number, of the
/// function that also takes a sensitivity.
fn gradient(name: &str, transform: &str, captures: &[Name], after: &Term, names: &mut Names) -> (String, Term) {
    let recursive = after.mentions(transform) || !captures.is_empty();
    let (pattern, argument, function) = match after {
        Term::Lambda(pattern, _) if !recursive => {
            let (pattern, argument) = primal(pattern, names);
            (pattern, argument, after.renamed(names))
        }
        other => {
            let x = names.fresh("x");
            let function = match captures.is_empty() {
                true if matches!(other, Term::Lambda(..)) => Term::Global(Rc::from(transform)),
                _ => other.renamed(names),
            };
            (Pattern::Name(x), Term::prim(Prim::J, [Term::Name(x)]), function)
        }
    };
    let called = Term::apply(function, argument);
    let s = names.fresh("s");
    let is_number = is_number(after, after);
    let seed = if is_number { Term::Number(1.0) } else { Term::Name(s) };
    let back = Term::apply(Term::prim(Prim::Cdr, [called]), seed);
    let body = Box::new(Term::prim(Prim::Cdr, [back]));
    let (name, pattern) = match is_number {
        true => (format!("∇{name}"), pattern),
        // `(vjp f x s)`: the argument stands for itself, as one pattern.
        false => (format!("vjp-{name}"), Pattern::Pair(Box::new(pattern), Box::new(Pattern::Name(s)))),
    };
    (name, simplify::simplify(Term::Lambda(pattern, body), names))
}

/// A pattern for the argument itself, and its transform.
fn primal(pattern: &Pattern, names: &mut Names) -> (Pattern, Term) {
    match pattern {
        Pattern::Name(name) => {
            let called = names.called(*name);
            let x = names.fresh(called.strip_prefix('↼').unwrap_or(&called));
            (Pattern::Name(x), Term::prim(Prim::J, [Term::Name(x)]))
        }
        Pattern::Pair(first, second) => {
            let (first, car) = primal(first, names);
            let (second, cdr) = primal(second, names);
            (Pattern::Pair(Box::new(first), Box::new(second)), Term::prim(Prim::Cons, [car, cdr]))
        }
        Pattern::Nil => (Pattern::Nil, Term::Nil),
        other => {
            let x = names.fresh("_x");
            let _ = other;
            (Pattern::Name(x), Term::prim(Prim::J, [Term::Name(x)]))
        }
    }
}

/// Whether a transform returns the transform of a number beside the backpropagator.
fn is_number(transform: &Term, value: &Term) -> bool {
    match value {
        Term::Lambda(_, body) => is_number(transform, body),
        Term::Block(_, value) => is_number(transform, value),
        Term::If(_, yes, no) => is_number(transform, yes) && is_number(transform, no),
        Term::Prim(Prim::Cons, parts) => is_transformed_number(transform, &parts[0]),
        Term::Name(name) => transform.bound_to(*name).is_some_and(|bound| is_number(transform, bound)),
        _ => false,
    }
}

/// Whether a value is the transform of a number.
fn is_transformed_number(transform: &Term, value: &Term) -> bool {
    match value {
        Term::Block(_, value) => is_transformed_number(transform, value),
        Term::If(_, yes, no) => is_transformed_number(transform, yes) && is_transformed_number(transform, no),
        Term::Prim(Prim::J, operands) => match &operands[0] {
            Term::Number(_) => true,
            Term::Prim(prim, _) => prim.family() == Family::Arithmetic,
            Term::Name(name) => match transform.bound_to(*name) {
                Some(Term::Prim(prim, _)) => prim.family() == Family::Arithmetic,
                Some(Term::Number(_)) => true,
                _ => false,
            },
            _ => false,
        },
        Term::Name(name) => transform.bound_to(*name).is_some_and(|bound| is_transformed_number(transform, bound)),
        _ => false,
    }
}

impl Term {
    /// The same with calls of another top-level function.
    fn calls(self, old: &str, new: &str) -> Term {
        match self {
            Term::Global(name) if *name == *old => Term::Global(Rc::from(new)),
            other => other.map(&mut |part| part.calls(old, new)),
        }
    }
    /// Whether it mentions a top-level name.
    fn mentions(&self, global: &str) -> bool {
        if matches!(self, Term::Global(name) if **name == *global) {
            return true;
        }
        let mut found = false;
        self.parts(&mut |part| found |= part.mentions(global));
        found
    }
    /// What a name is bound to in it.
    fn bound_to(&self, name: Name) -> Option<&Term> {
        if let Term::Block(steps, value) = self {
            for step in steps {
                if let Step::Let(bound, term) = step {
                    if *bound == name {
                        return Some(term);
                    }
                    if let Some(found) = term.bound_to(name) {
                        return Some(found);
                    }
                }
            }
            return value.bound_to(name);
        }
        match self {
            Term::Lambda(_, body) => body.bound_to(name),
            Term::If(_, yes, no) => yes.bound_to(name).or_else(|| no.bound_to(name)),
            _ => None,
        }
    }
}

/// The derivatives as displays of a TeX document.
pub fn in_tex(derivatives: &[Derivative]) -> String {
    const WHAT: [&str; 3] = ["as the rules give it", "simplified", "the gradient"];
    let displays = derivatives.iter().flat_map(|Derivative { name, place, tex, .. }| {
        let display = move |(what, tex): (&str, &String)| {
            format!("% The derivative of {name} ({place}), {what}:\n\\[\n{tex}\n\\]\n")
        };
        WHAT.into_iter().zip(tex).map(display)
    });
    displays.collect::<Vec<_>>().join("\n")
}

/// The derivatives for people, as a program.
pub fn text(derivatives: &[Derivative]) -> String {
    let mut text = String::new();
    let mut helpers: Vec<&str> = derivatives.iter().flat_map(|derivative| derivative.helpers.iter().copied()).collect();
    helpers.sort_unstable();
    helpers.dedup();
    for helper in helpers {
        let _ = writeln!(text, "{helper}\n");
    }
    for derivative in derivatives {
        let Derivative { name, place, before, after, last, .. } = derivative;
        if !text.is_empty() && !text.ends_with("\n\n") {
            text.push('\n');
        }
        let _ = writeln!(text, "; The derivative of {name} ({place})\n;\n; as the rules give it:\n;");
        for line in before[0].lines() {
            let _ = writeln!(text, ";   {line}");
        }
        let _ = writeln!(text, ";\n; simplified:\n;");
        for line in after[0].lines() {
            let _ = writeln!(text, ";   {line}");
        }
        let _ = writeln!(text, "\n; In VLAD, as the rules give it:\n{}", before[1]);
        let _ = writeln!(text, "; Simplified:\n{}", after[1]);
        let what = match last.0.starts_with('∇') {
            true => "The gradient",
            false => "From an argument and the sensitivity of the value to that of the argument",
        };
        let _ = write!(text, "; {what}:\n{}", last.1);
    }
    text
}

/// The derivatives for programs.
pub fn object(derivatives: &[Derivative]) -> Json {
    let derivatives = derivatives.iter().map(|derivative| {
        let Derivative { name, place, helpers, before, after, last, tex } = derivative;
        let form = |form: &[String; 2], tex: &str| json!({ "notation": form[0], "source": form[1], "tex": tex });
        let gradient = json!({ "name": last.0, "source": last.1, "tex": tex[2] });
        json!({
            "name": name, "place": place, "before": form(before, &tex[0]), "after": form(after, &tex[1]),
            "gradient": gradient,
            "helpers": helpers
        })
    });
    json!({ "derivatives": derivatives.collect::<Vec<Json>>() })
}
