//! `vlad emit`: show a program at a stage of the compiler.

use crate::ad::Transforms;
use crate::ad::tower::Transformation;
use crate::base::diagnostic::limited;
use crate::base::{Diagnostic, SourceMap};
use crate::cli::running::build;
use crate::cli::tools::fmt;
use crate::cli::{FAULT, Input, SUCCESS, TargetArgument, USAGE, terminal};
use crate::codegen;
use crate::core;
use crate::core::ir::{Lambda, LambdaId, Origin, Program};
use crate::flow;
use crate::pipeline::passes as opt;
use crate::pipeline::{Pipeline, Refusal};
use crate::syntax;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// A stage of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// The file as it was read.
    Syntax,
    /// The core language: A-normal form with closures.
    Core,
    /// The reverse transforms of the program's own functions.
    Reverse,
    /// The forward transforms of the program's own functions.
    Forward,
    /// The program's own functions on power series.
    Series,
    /// The forward transforms of the program's own functions for several directions.
    Directions,
    /// The functions that the program calls, with the shapes of their arguments and results.
    Flow,
    /// First-order code as it comes from the analysis.
    Ssa,
    /// First-order code after optimisation, with reference counts.
    Opt,
    /// C: one file, which compiles to the same program.
    C,
    /// Cranelift's intermediate form.
    Clif,
    /// Assembly language.
    Asm,
}

impl Stage {
    /// The stage of that name; otherwise, what there is instead.
    pub fn named(name: &str) -> Result<Stage, String> {
        let names = Stage::value_variants().iter().filter_map(Stage::to_possible_value);
        let names: Vec<String> = names.map(|value| format!("`{}`", value.get_name())).collect();
        Stage::from_str(name, false).map_err(|_| format!("the stages are {}", names.join(", ")))
    }
}

/// What `vlad emit` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// The stage after which to show the program.
    #[arg(long, value_enum, default_value = "opt")]
    stage: Stage,
    /// The file to write instead of standard output.
    #[arg(short, long, value_name = "TEXT")]
    output: Option<PathBuf>,
    /// Show the library that the program's exports make.
    #[arg(long)]
    lib: bool,
    /// Show the program after each run of this pass of the optimiser (a wrong name lists all). May be repeated.
    #[arg(long, value_name = "PASS", value_parser = passes(), hide_possible_values = true)]
    print_after: Vec<String>,
    /// Leave out this pass of the optimiser. May be repeated.
    #[arg(long, value_name = "PASS", value_parser = passes(), hide_possible_values = true)]
    disable_pass: Vec<String>,
    /// Show code for this machine in particular.
    #[arg(long)]
    native_cpu: bool,
    #[command(flatten)]
    target: TargetArgument,
    /// Make sums and products of loops in any order: faster, but their last digits are not those of the evaluator.
    #[arg(long)]
    fast_math: bool,
    #[command(flatten)]
    limits: crate::cli::LimitArguments,
}

/// The names of all passes.
fn passes() -> PossibleValuesParser {
    PossibleValuesParser::new(opt::PASSES.iter().map(|pass| PossibleValue::new(pass.name).help(pass.about)))
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    if let Err(code) = build::demand_file(&arguments.input.file) {
        return code;
    }
    if arguments.stage == Stage::C && (arguments.native_cpu || arguments.target.target.is_some()) {
        let message = "C is for every processor: `--native-cpu` and `--target` are no options of this stage";
        let help = "tell the C compiler instead, by `-march=native` for instance";
        terminal::report_plain(&Diagnostic::error_without_place("V0813", message.to_string()).help(help));
        return USAGE;
    }
    let mut settings = arguments.input.settings();
    settings.library = arguments.lib;
    settings.native_cpu = arguments.native_cpu;
    settings.machine = arguments.target.machine();
    settings.limits = arguments.limits.options();
    let mut disabled = arguments.disable_pass.clone();
    if arguments.stage == Stage::C {
        // The file of C stands alone, and has one process.
        disabled.push(opt::PROCESSES.to_string());
    }
    let passes = opt::Settings {
        disabled,
        dump_after: arguments.print_after.clone(),
        fast_math: arguments.fast_math,
        ..opt::Settings::default()
    };
    let mut pipeline = Pipeline::new(settings);
    let text = match arguments.stage {
        Stage::Syntax => match fmt::text(&arguments.input.file) {
            Ok(text) => datums(&mut pipeline.sources, &arguments.input.file, &text),
            Err(code) => return code,
        },
        stage => match build::read(&mut pipeline, &arguments.input) {
            Ok(program) => {
                let place = program.place();
                let own = |lambda: &Lambda, sources: &SourceMap| !sources.is_library(lambda.span);
                let shown = terminal::catch(|| show(&mut pipeline, program, stage, &passes, &own));
                shown.unwrap_or_else(|panic| Err(vec![build::mistake(&panic, place)]))
            }
            Err(code) => return code,
        },
    };
    match text {
        Ok(text) => write(&text, arguments.output.as_deref()),
        Err(diagnostics) => {
            terminal::report(&diagnostics, &pipeline.sources);
            FAULT
        }
    }
}

fn write(text: &str, output: Option<&Path>) -> u8 {
    match output {
        None => terminal::print(text),
        Some(output) => build::write_text(output, text).map_or_else(|code| code, |()| SUCCESS),
    }
}

fn datums(sources: &mut SourceMap, file: &Path, text: &str) -> Result<String, Vec<Diagnostic>> {
    let id = sources.add(file.display().to_string(), text, false);
    let (datums, diagnostics) = syntax::parse(id, text);
    if diagnostics.is_empty() { Ok(syntax::print(&datums)) } else { Err(limited(diagnostics)) }
}

/// The text of a program after a stage; of transforms, those of the λs that are `wanted`.
pub fn show_part(
    pipeline: &mut Pipeline,
    program: Program,
    stage: Stage,
    wanted: &dyn Fn(&Lambda, &SourceMap) -> bool,
) -> Result<String, Vec<Diagnostic>> {
    let place = program.place();
    let shown = terminal::catch(|| show(pipeline, program, stage, &opt::Settings::default(), wanted));
    shown.unwrap_or_else(|panic| Err(vec![build::mistake(&panic, place)]))
}

/// The text of the program after a stage behind the front end.
fn show(
    pipeline: &mut Pipeline,
    mut program: Program,
    stage: Stage,
    settings: &opt::Settings,
    wanted: &dyn Fn(&Lambda, &SourceMap) -> bool,
) -> Result<String, Vec<Diagnostic>> {
    let refused = |refusal| match refusal {
        Refusal::Mistake(diagnostics) => diagnostics,
        Refusal::Unsupported(diagnostic) => vec![*diagnostic],
    };
    let bad_code = |error: codegen::Error| vec![error.to_diagnostic()];
    match stage {
        Stage::Syntax => return Ok(String::new()),
        Stage::Core => return Ok(core::print::program(&program, &pipeline.sources)),
        Stage::Reverse => return Ok(transforms(&mut program, &pipeline.sources, Transformation::Reverse, wanted)),
        Stage::Forward => return Ok(transforms(&mut program, &pipeline.sources, Transformation::Forward, wanted)),
        Stage::Series => return Ok(transforms(&mut program, &pipeline.sources, Transformation::Series, wanted)),
        Stage::Directions => {
            return Ok(transforms(&mut program, &pipeline.sources, Transformation::Directions, wanted));
        }
        _ => {}
    }
    if stage == Stage::Flow {
        let flow = pipeline.analyze(&mut program).map_err(refused)?;
        return Ok(flow::print::analysis(&program, &flow));
    }
    let mut code = pipeline.first_order(&program).map_err(refused)?;
    if stage == Stage::Ssa {
        return Ok(code.to_string());
    }
    let report = pipeline.optimize(&mut code, settings);
    if !report.dumps.is_empty() {
        return Ok(report.dumps.into_iter().map(|(name, text)| format!("; {name}\n{text}\n")).collect());
    }
    let options = pipeline.codegen_options();
    match stage {
        Stage::C => {
            let name = pipeline.sources.files().find(|file| !file.is_library).map_or("", |file| &file.name);
            let form = codegen::c::Form::Whole(name);
            codegen::c::source(&code, &options, form).map(|source| source.text).map_err(bad_code)
        }
        Stage::Clif => codegen::clif(&code, &options).map_err(bad_code),
        Stage::Asm => codegen::assembly(&code, &options).map_err(bad_code),
        _ => Ok(code.to_string()),
    }
}

/// The transforms of all λs of the program that are `wanted` and not part of another one.
fn transforms(
    program: &mut Program,
    sources: &SourceMap,
    transformation: Transformation,
    wanted: &dyn Fn(&Lambda, &SourceMap) -> bool,
) -> String {
    let own = |lambda: &Lambda| lambda.origin == Origin::Source && wanted(lambda, sources);
    let inner: FxHashSet<LambdaId> = program.lambdas.values().flat_map(|lambda| lambda.body.closures()).collect();
    let lambdas = program.lambdas.iter().filter(|(id, lambda)| own(lambda) && !inner.contains(id));
    let lambdas: Vec<LambdaId> = lambdas.map(|(id, _)| id).collect();
    let mut transforms = Transforms::new();
    let transformed: Vec<LambdaId> =
        lambdas.into_iter().map(|lambda| transforms.apply(program, transformation, lambda)).collect();
    core::print::lambdas(program, &transformed)
}
