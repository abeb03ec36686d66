//! `vlad explain`: what the compiler makes of a program: what derivatives keep, which loops run on all processors, what
//! else is kept in memory, and why; and how functions are specialised.
//!
//! The optimised code → what is kept in memory (see [`memory`]). The analysis → the specialisations of each function
//! that the program defines, by shapes, those of its transforms beside it. Or: derivatives of functions (see
//! [`derivative`]), or a code of a message (see [`codes`]).

mod codes;

mod memory;

use crate::base::{Diagnostic, SourceMap, Span};
use crate::cli::running::build;
use crate::cli::{FAULT, Input, LimitArguments, terminal};
use crate::core::ir::{GlobalId, LambdaId, Origin, Program};
use crate::flow::{self, analysis::Analysis};
use crate::notation;
use crate::pipeline::passes as opt;
use crate::pipeline::{Pipeline, Refusal, Settings};
use crate::shape::lattice::Shape;
use crate::specialize::Sharing;
use clap::ValueEnum;
use memory::{Kind, Role};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Longer shapes are cut.
const MAX_SHAPE: usize = 100;

/// What `vlad explain` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Show the derivative of this function instead, as the papers print it and as a program, before and after it is
    /// simplified. May be repeated.
    #[arg(long, value_name = "FUNCTION")]
    derivative: Vec<String>,
    /// How many times to take it: the derivative of the gradient is the second one.
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4),
        requires = "derivative")]
    order: u32,
    /// Show, too, for which shapes of arguments each function is specialised.
    #[arg(long)]
    functions: bool,
    /// How to print it.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    limits: LimitArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// One JSON object.
    Json,
    /// Derivatives, for a TeX document.
    Tex,
}

/// A function of the program, with its specialisations: what of it (itself, a transform), and at which shapes.
struct Explained {
    name: String,
    span: Span,
    place: String,
    specialisations: Vec<(String, String)>,
}

/// Runs the subcommand; the exit code.
pub fn run(arguments: &Arguments) -> u8 {
    let file = &arguments.input.file;
    // A file of that name is meant where there is one.
    if let Some(code) = file.to_str().filter(|word| codes::is_code(word) && !file.exists()) {
        return codes::explain(code);
    }
    let as_written = !arguments.derivative.is_empty();
    let settings = Settings { as_written, limits: arguments.limits.options(), ..arguments.input.settings() };
    let mut pipeline = Pipeline::new(settings);
    let program = match build::read(&mut pipeline, &arguments.input) {
        Ok(program) => program,
        Err(code) => return code,
    };
    if !arguments.derivative.is_empty() {
        return derivatives(&mut pipeline, program, arguments);
    }
    let place = program.place();
    let explained = terminal::catch(|| explain(&mut pipeline, program));
    match explained.unwrap_or_else(|panic| Err(vec![build::mistake(&panic, place)])) {
        Ok((functions, kinds)) => terminal::print(&match arguments.format {
            Format::Text => text(&functions, &kinds, arguments.functions),
            Format::Json => format!("{}\n", object(&functions, &kinds)),
            Format::Tex => unreachable!("that is asked for with derivatives only"),
        }),
        Err(diagnostics) => {
            terminal::report(&diagnostics, &pipeline.sources);
            FAULT
        }
    }
}

/// Shows derivatives of functions; the exit code.
fn derivatives(pipeline: &mut Pipeline, program: Program, arguments: &Arguments) -> u8 {
    let place = program.place();
    let explained = terminal::catch(|| all_derivatives(pipeline, program, arguments));
    match explained.unwrap_or_else(|panic| Err(vec![build::mistake(&panic, place)])) {
        Ok(derivatives) => terminal::print(&match arguments.format {
            Format::Text => notation::text(&derivatives),
            Format::Json => format!("{}\n", notation::object(&derivatives)),
            Format::Tex => notation::in_tex(&derivatives),
        }),
        Err(diagnostics) => {
            terminal::report(&diagnostics, &pipeline.sources);
            FAULT
        }
    }
}

/// The derivatives of the functions, and those of their gradients, which are programs.
fn all_derivatives(
    pipeline: &mut Pipeline,
    mut program: Program,
    arguments: &Arguments,
) -> Result<Vec<notation::Derivative>, Vec<Diagnostic>> {
    let mut wanted = arguments.derivative.clone();
    let mut all: Vec<notation::Derivative> = Vec::new();
    for order in 1..=arguments.order {
        let found = notation::explain(&mut program, &pipeline.sources, &wanted)?;
        wanted = found.iter().map(|derivative| derivative.of_gradient().to_string()).collect();
        all.extend(found);
        if order < arguments.order {
            program = pipeline.expand_with(&arguments.input.file, ("the derivative", &notation::text(&all)))?;
        }
    }
    Ok(all)
}

fn explain(pipeline: &mut Pipeline, mut program: Program) -> Result<(Vec<Explained>, Vec<Kind>), Vec<Diagnostic>> {
    let refused = |refusal| match refusal {
        Refusal::Mistake(diagnostics) => diagnostics,
        Refusal::Unsupported(diagnostic) => vec![*diagnostic],
    };
    let mut analysis = pipeline.analyze(&mut program).map_err(refused)?;
    let functions = functions(&program, &analysis, &pipeline.sources);
    let mut code = pipeline.specialize(&program, &mut analysis, Sharing::Apart).map_err(refused)?;
    pipeline.optimize(&mut code, &opt::Settings::default());
    Ok((functions, memory::kinds(&code, &pipeline.sources)))
}

/// The functions and values of a file, with the places of the definitions or of the names defined, and the shapes that
/// the functions themselves (not their transforms) are specialised for; none if the program cannot be analysed.
pub fn shapes(pipeline: &mut Pipeline, program: &mut Program, file: &str) -> Vec<(Span, Vec<String>)> {
    let Ok(analysis) = pipeline.analyze(program) else { return Vec::new() };
    let functions = functions(program, &analysis, &pipeline.sources).into_iter();
    let itself = |function: Explained| {
        let shapes = function.specialisations.into_iter().filter(|row| row.0 == "itself").map(|row| row.1);
        (function.span, shapes.collect())
    };
    let value = |(global, shape): (&GlobalId, &Shape)| {
        let shape = shortened(flow::print::shape(program, &analysis.shapes, *shape));
        (program.globals[*global].span, vec![shape])
    };
    let all = functions.map(itself).chain(analysis.globals.iter().map(value));
    all.filter(|(span, _)| pipeline.sources.file(span.file).name == file).collect()
}

/// The functions of the program's own files that it calls, in the order of the source.
fn functions(program: &Program, analysis: &Analysis, sources: &SourceMap) -> Vec<Explained> {
    let mut found: BTreeMap<_, Explained> = BTreeMap::new();
    for id in flow::print::reached(program, analysis) {
        let key = &analysis.variants[id].key;
        let (base, what) = base(program, key.lambda);
        let lambda = &program.lambdas[base];
        if lambda.origin != Origin::Source || sources.is_library(lambda.span) {
            continue;
        }
        let shape = |shape| shortened(flow::print::shape(program, &analysis.shapes, shape));
        let args: Vec<String> = key.args.iter().map(|arg| shape(*arg)).collect();
        let shapes = format!("{} -> {}", args.join(" "), shape(analysis.variants[id].result));
        let entry = found.entry((lambda.span.file, lambda.span.start, base)).or_insert_with(|| Explained {
            name: lambda.name.to_string(),
            span: lambda.span,
            place: sources.place(lambda.span),
            specialisations: Vec::new(),
        });
        entry.specialisations.push((what, shapes));
    }
    let mut functions: Vec<Explained> = found.into_values().collect();
    functions.iter_mut().for_each(|function| function.specialisations.sort());
    functions
}

/// The function that code was made of, and what has been made of it.
fn base(program: &Program, mut lambda: LambdaId) -> (LambdaId, String) {
    let mut made = Vec::new();
    loop {
        let (of, word) = match program.lambdas[lambda].origin {
            Origin::Reverse(of) => (of, "reverse"),
            Origin::Forward(of) => (of, "forward"),
            Origin::Series(of) => (of, "series"),
            Origin::Directions(of) => (of, "directions"),
            Origin::Backpropagator(of, _) => (of, "backpropagator"),
            Origin::Adding(of) => (of, "adding"),
            Origin::Source | Origin::Primitive(_) => break,
        };
        made.push(word);
        lambda = of;
    }
    (lambda, if made.is_empty() { "itself".to_string() } else { made.join(" of ") })
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_SHAPE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn text(functions: &[Explained], kinds: &[Kind], with_functions: bool) -> String {
    let mut text = String::new();
    let kept = |role: Role| kinds.iter().filter(move |kind| kind.role == role);
    if kept(Role::Tape).next().is_none() {
        text.push_str("tape: derivatives keep nothing for a reverse phase\n");
    } else {
        text.push_str("tape: what derivatives keep until their reverse phase\n");
    }
    kept(Role::Tape).for_each(|kind| describe(&mut text, kind));
    for kind in kept(Role::Checkpoint) {
        let _ = writeln!(text, "  where that takes too much memory: checkpoints of {} bytes", kind.bytes);
    }
    let shared: BTreeSet<&str> = kept(Role::Rounds).flat_map(|kind| &kind.made).map(|(at, _)| at.as_str()).collect();
    if shared.is_empty() {
        text.push_str("\nprocessors: all rounds of all loops are computed by one\n");
    } else {
        text.push_str("\nprocessors: where it pays, all of them compute rounds of the loops at\n");
    }
    shared.iter().for_each(|at| writeln!(text, "  {at}").unwrap_or_default());
    if kept(Role::Data).next().is_none() {
        text.push_str("\ndata: no memory is taken for any\n");
    } else {
        text.push_str("\ndata: for which memory is taken\n");
    }
    kept(Role::Data).for_each(|kind| describe(&mut text, kind));
    let count: usize = functions.iter().map(|function| function.specialisations.len()).sum();
    let _ = write!(text, "\nfunctions: {} with {count} specialisations", functions.len());
    if !with_functions {
        text.push_str(", which `--functions` shows\n");
        return text;
    }
    text.push('\n');
    for function in functions {
        let _ = writeln!(text, "  {} ({})", function.name, function.place);
        for (what, shapes) in &function.specialisations {
            let _ = writeln!(text, "    {what}: {shapes}");
        }
    }
    text
}

/// Lines about a kind of box or vector.
fn describe(text: &mut String, kind: &Kind) {
    let Kind { name, numbers, others, bytes, .. } = kind;
    let mut fields = match numbers {
        0 => Vec::new(),
        1 => vec!["1 number".to_string()],
        _ => vec![format!("{numbers} numbers")],
    };
    fields.extend((*others > 0).then(|| format!("{others} other field{}", if *others == 1 { "" } else { "s" })));
    let fields = fields.join(", ");
    let per = if kind.is_vector { " for each element of a vector" } else { "" };
    let name = if kind.role == Role::Data { format!("{name}: ") } else { String::new() };
    let _ = writeln!(text, "  {name}{bytes} bytes{per} ({fields})");
    for (at, often) in &kind.made {
        let _ = writeln!(text, "    {often} at {at}");
    }
    for (user, fields) in &kind.needed {
        let _ = match fields {
            1 => writeln!(text, "    needed by {user}"),
            _ => writeln!(text, "    {fields} fields needed by {user}"),
        };
    }
}

fn object(functions: &[Explained], kinds: &[Kind]) -> Json {
    let functions: Vec<Json> = functions
        .iter()
        .map(|function| {
            let specialisations = function.specialisations.iter();
            let specialisations: Vec<Json> =
                specialisations.map(|(what, shapes)| json!({ "of": what, "shapes": shapes })).collect();
            json!({ "name": function.name, "place": function.place, "specialisations": specialisations })
        })
        .collect();
    let describe = |kind: &Kind| {
        let made: Vec<Json> = kind.made.iter().map(|(at, often)| json!({ "place": at, "often": often })).collect();
        let needed: Vec<Json> =
            kind.needed.iter().map(|(user, fields)| json!({ "by": user, "fields": fields })).collect();
        let Kind { name, numbers, others, bytes, .. } = kind;
        let role = match kind.role {
            Role::Tape => "tape",
            Role::Checkpoint => "checkpoint",
            Role::Rounds => "rounds",
            Role::Data => "data",
        };
        json!({
            "name": name, "role": role, "numbers": numbers, "others": others, "bytes": bytes, "made": made, "needed": needed
        })
    };
    let described =
        |vectors: bool| -> Vec<Json> { kinds.iter().filter(|kind| kind.is_vector == vectors).map(describe).collect() };
    json!({ "functions": functions, "boxes": described(false), "vectors": described(true) })
}
