//! `vlad explain`: what the compiler makes of a program's functions, and what is kept in memory while they run, and why.
//!
//! The analysis → the specialisations of each function that the program defines, by shapes, those of its transforms beside
//! it. The optimised code → every kind of box that is made, how often, and which operations need what is stored in it:
//! for the tape of a derivative these are the operations of the reverse phase.

use super::{FAULT, Input, LimitArguments, build, terminal};
use crate::base::{Diagnostic, EntityVec, SourceMap, Span};
use crate::core::ir::{LambdaId, Origin, Program};
use crate::flow::{self, analysis::Analysis};
use crate::opt::pipeline as opt;
use crate::pipeline::{Pipeline, Refusal, Settings};
use crate::specialize::Sharing;
use crate::ssa::graph::reverse_postorder;
use crate::ssa::ir::{self as ssa, BlockId, FuncId, Function, Op, SumId, Terminator, Type, Value};
use clap::ValueEnum;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Longer shapes are cut.
const MAX_SHAPE: usize = 100;

/// What `vlad explain` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
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
}

/// A function of the program, with its specialisations: what of it (itself, a transform), and at which shapes.
struct Explained {
    name: String,
    place: String,
    specialisations: Vec<(String, String)>,
}

/// A kind of box.
struct Boxes {
    name: String,
    numbers: usize,
    others: usize,
    /// Where it is made, and how often.
    made: Vec<(String, &'static str)>,
    /// The operations that need what is in it, and how many fields.
    needed: Vec<(String, usize)>,
}

/// Runs the subcommand; the exit code.
pub fn run(arguments: &Arguments) -> u8 {
    let settings = Settings { limits: arguments.limits.options(), ..arguments.input.settings() };
    let mut pipeline = Pipeline::new(settings);
    let program = match build::read(&mut pipeline, &arguments.input) {
        Ok(program) => program,
        Err(code) => return code,
    };
    let explained = terminal::catch(|| explain(&mut pipeline, program));
    match explained.unwrap_or_else(|panic| Err(vec![build::mistake(&panic)])) {
        Ok((functions, boxes)) => terminal::print(&match arguments.format {
            Format::Text => text(&functions, &boxes),
            Format::Json => format!("{}\n", object(&functions, &boxes)),
        }),
        Err(diagnostics) => {
            terminal::report(&diagnostics, &pipeline.sources);
            FAULT
        }
    }
}

fn explain(pipeline: &mut Pipeline, mut program: Program) -> Result<(Vec<Explained>, Vec<Boxes>), Vec<Diagnostic>> {
    let refused = |refusal| match refusal {
        Refusal::Mistake(diagnostics) => diagnostics,
        Refusal::Unsupported(diagnostic) => vec![*diagnostic],
    };
    let analysis = pipeline.analyze(&mut program).map_err(refused)?;
    let functions = functions(&program, &analysis, &pipeline.sources);
    let mut code = pipeline.specialize(&program, analysis, Sharing::Apart).map_err(refused)?;
    pipeline.optimize(&mut code, &opt::Settings::default());
    Ok((functions, boxes(&code, &pipeline.sources)))
}

fn place(sources: &SourceMap, span: Span) -> String {
    let (line, column) = sources.line_column(span);
    format!("{}:{line}:{column}", sources.file(span.file).name)
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
            place: place(sources, lambda.span),
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
            Origin::Backpropagator(of, _) => (of, "backpropagator"),
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

/// All kinds of boxes that the code makes.
fn boxes(code: &ssa::Program, sources: &SourceMap) -> Vec<Boxes> {
    let mut made: BTreeMap<(SumId, u32), Vec<(String, &'static str)>> = BTreeMap::new();
    let mut needs: FxHashMap<(SumId, u32), Vec<(u32, String)>> = FxHashMap::default();
    for (id, function) in code.functions.iter() {
        let users = users(function, sources);
        let looping = looping(function);
        for (block, data) in function.blocks.iter() {
            for inst in &data.insts {
                match inst.op {
                    Op::Box(sum, tag) => {
                        let at = inst.span.map_or_else(|| function.name.to_string(), |span| place(sources, span));
                        let often = often(code, id, looping[block]);
                        let all = made.entry((sum, tag)).or_default();
                        if !all.contains(&(at.clone(), often)) {
                            all.push((at, often));
                        }
                    }
                    Op::Field(sum, tag, field) => {
                        let all = needs.entry((sum, tag)).or_default();
                        all.extend(users.get(&inst.results[0]).into_iter().flatten().map(|user| (field, user.clone())));
                    }
                    _ => {}
                }
            }
        }
    }
    let mut describe = |((sum, tag), made): ((SumId, u32), Vec<(String, &'static str)>)| {
        let alternative = &code.sums[sum].alternatives[tag as usize];
        let numbers = alternative.fields.iter().filter(|ty| **ty == Type::F64).count();
        let mut needed: BTreeMap<String, FxHashSet<u32>> = BTreeMap::new();
        for (field, user) in needs.remove(&(sum, tag)).unwrap_or_default() {
            needed.entry(user).or_default().insert(field);
        }
        let needed = needed.into_iter().map(|(user, fields)| (user, fields.len())).collect();
        let others = alternative.fields.len() - numbers;
        Boxes { name: alternative.name.to_string(), numbers, others, made, needed }
    };
    made.into_iter().filter(|((sum, tag), _)| !code.sums[*sum].fields(*tag).is_empty()).map(&mut describe).collect()
}

/// The arithmetic operations that use each value, with their places.
fn users(function: &Function, sources: &SourceMap) -> FxHashMap<Value, Vec<String>> {
    let mut users: FxHashMap<Value, Vec<String>> = FxHashMap::default();
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        if let (Op::Real1(_) | Op::Real2(_) | Op::Compare(_), Some(span)) = (inst.op, inst.span) {
            let user = format!("`{}` at {}", shortened(one_line(sources.text(span))), place(sources, span));
            inst.args.iter().for_each(|arg| users.entry(*arg).or_default().push(user.clone()));
        }
    }
    users
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The blocks that control can come back to within a call.
fn looping(function: &Function) -> EntityVec<BlockId, bool> {
    let mut looping = function.blocks.same_ids(false);
    for start in reverse_postorder(function) {
        let mut seen = FxHashSet::default();
        let mut waiting = vec![start];
        while let Some(block) = waiting.pop() {
            for target in function.blocks[block].terminator.targets() {
                looping[start] |= target.block == start;
                if seen.insert(target.block) {
                    waiting.push(target.block);
                }
            }
        }
    }
    looping
}

/// How often a function makes a box.
fn often(code: &ssa::Program, id: FuncId, looping: bool) -> &'static str {
    let function = &code.functions[id];
    let calls_itself = |block: &ssa::Block| {
        block.insts.iter().any(|inst| inst.op == Op::Call(id))
            || matches!(block.terminator, Terminator::TailCall(callee, _) if callee == id)
    };
    match (looping, function.blocks.values().any(calls_itself)) {
        (true, _) => "for each round of a loop",
        (false, true) => "for each step of a recursion",
        (false, false) if code.main == Some(id) => "once",
        (false, false) => "for each call",
    }
}

fn text(functions: &[Explained], boxes: &[Boxes]) -> String {
    let mut text = String::new();
    for function in functions {
        let count = function.specialisations.len();
        let plural = if count == 1 { "" } else { "s" };
        let _ = writeln!(text, "{} ({}): {count} specialisation{plural}", function.name, function.place);
        for (what, shapes) in &function.specialisations {
            let _ = writeln!(text, "  {what}: {shapes}");
        }
    }
    let _ = writeln!(text, "\nmemory: {}", if boxes.is_empty() { "nothing is allocated" } else { "kinds of boxes" });
    for kind in boxes {
        let _ = writeln!(text, "{}: {} numbers, {} other fields", kind.name, kind.numbers, kind.others);
        for (at, often) in &kind.made {
            let _ = writeln!(text, "  made {often} at {at}");
        }
        for (user, fields) in &kind.needed {
            let plural = if *fields == 1 { "" } else { "s" };
            let _ = writeln!(text, "  {fields} field{plural} needed by {user}");
        }
    }
    text
}

fn object(functions: &[Explained], boxes: &[Boxes]) -> Json {
    let functions: Vec<Json> = functions
        .iter()
        .map(|function| {
            let specialisations = function.specialisations.iter();
            let specialisations: Vec<Json> =
                specialisations.map(|(what, shapes)| json!({ "of": what, "shapes": shapes })).collect();
            json!({ "name": function.name, "place": function.place, "specialisations": specialisations })
        })
        .collect();
    let boxes: Vec<Json> = boxes
        .iter()
        .map(|kind| {
            let made: Vec<Json> = kind.made.iter().map(|(at, often)| json!({ "place": at, "often": often })).collect();
            let needed: Vec<Json> =
                kind.needed.iter().map(|(user, fields)| json!({ "by": user, "fields": fields })).collect();
            json!({ "name": kind.name, "numbers": kind.numbers, "others": kind.others, "made": made, "needed": needed })
        })
        .collect();
    json!({ "functions": functions, "boxes": boxes })
}
