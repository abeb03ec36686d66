//! `vlad gradcheck`: compile a program in which the library compares derivatives with differences
//! (`stdlib/check.vlad`, `stdlib/gradcheck.vlad`), and run it.

use crate::base::{Diagnostic, SourceMap};
use crate::cli::running::build::{self, Compiled};
use crate::cli::running::{eval, run};
use crate::cli::{Input, Native, USAGE, terminal};
use crate::core::ir::{Binding, Body, Const, Definition, LambdaId, Program, Rhs};
use crate::expand;
use crate::pipeline::{Pipeline, Settings};
use rustc_hash::FxHashSet;
use std::ffi::OsString;

/// What `vlad gradcheck` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    input: Input,
    /// Do not check the derivatives of functions of this name: those that differ on purpose, and those that use them.
    /// May be repeated.
    #[arg(long, value_name = "FUNCTION")]
    skip: Vec<String>,
    /// In how many directions to compare, where an argument has more than 16 numbers; of fewer, each is varied.
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    directions: u32,
    /// Check that many calls of each function; of those that follow, the 16th, 32nd, 64th and so on.
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    calls: u32,
    /// Run in the reference evaluator, which takes long, and says which operations have no derivative.
    #[arg(long)]
    eval: bool,
    #[command(flatten)]
    native: Native,
    /// Arguments for the program.
    #[arg(last = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    let Arguments { input, skip, calls, native, .. } = arguments;
    let settings = Settings { check_derivatives: true, ..native.settings(input) };
    let mut pipeline = Pipeline::new(settings);
    let mut program = match build::read(&mut pipeline, input) {
        Ok(program) => program,
        Err(code) => return code,
    };
    if let Some(diagnostic) = skip.iter().find_map(|name| unknown(&program, name)) {
        terminal::report_plain(&diagnostic);
        return USAGE;
    }
    if program.checks.is_none() {
        let message = "the program takes no derivative by a function of the library, so there is nothing to check";
        let warning = Diagnostic::error_without_place("V0857", message.to_string()).as_warning();
        terminal::report_plain(
            &warning.help("call a function that takes derivatives, such as `gradient`, in the program"),
        );
    }
    prepare(&mut program, &pipeline.sources, arguments);
    let compiled = if arguments.eval {
        Ok(Compiled::Evaluate)
    } else {
        build::compile_program(&mut pipeline, program.clone(), native)
    };
    match compiled {
        Err(code) => code,
        Ok(Compiled::Code(code)) => run::link_and_run(&mut pipeline, &code, (input, native), &arguments.arguments),
        Ok(Compiled::Evaluate) => {
            let reports = eval::Reports {
                warn_kinks: true,
                trap_nan: native.trap_nan,
                checked_calls: u64::from(*calls),
                ..eval::Reports::default()
            };
            let name = input.file.file_stem().unwrap_or("program".as_ref());
            eval::evaluate_program(&mut program, &pipeline.sources, &reports, (name, &arguments.arguments))
        }
    }
}

/// The message about a function that is not to be checked, if there is none of that name.
fn unknown(program: &Program, name: &str) -> Option<Diagnostic> {
    let is_known = program.lambdas.values().any(|lambda| *lambda.name == *name) || expand::names().any(|n| n == name);
    (!is_known).then(|| {
        let message = format!("`{name}` is not a function with a definition");
        let help = "`--skip` takes the name of a function of the program or of the library";
        Diagnostic::error_without_place("V0830", message).help(help)
    })
}

/// Tells a program what to check: all but what is to be left out, and what the library has for itself.
fn prepare(program: &mut Program, sources: &SourceMap, arguments: &Arguments) {
    let is_skipped = |name: &str| arguments.skip.iter().any(|skipped| skipped == name);
    let functions = program.globals.values().filter_map(|global| match global.definition {
        Definition::Function(lambda) => Some((global.name.clone(), lambda)),
        Definition::Value => None,
    });
    let functions: Vec<_> = functions.collect();
    let is_hidden =
        |name: &str, lambda: LambdaId| name.starts_with('%') && sources.is_library(program.lambdas[lambda].span);
    let hidden = functions.iter().filter(|(name, lambda)| is_hidden(name, *lambda)).map(|(_, lambda)| *lambda);
    let skipped = program.lambdas.iter().filter(|(_, lambda)| is_skipped(&lambda.name)).map(|(id, _)| id);
    let public: FxHashSet<&str> = functions.iter().map(|(name, _)| &**name).filter(|n| !n.starts_with('%')).collect();
    let lambdas = program.lambdas.iter().filter(|(_, lambda)| sources.is_library(lambda.span));
    program.own = lambdas.filter(|(_, lambda)| !public.contains(&*lambda.name)).map(|(id, _)| id).collect();
    program.trusted = hidden.chain(skipped).collect();
    for (name, number) in [("%directions", arguments.directions), ("%all-calls", arguments.calls)] {
        for (_, lambda) in functions.iter().filter(|(function, _)| **function == *name) {
            let span = program.lambdas[*lambda].span;
            let var = program.new_var(name, span);
            let rhs = Rhs::Const(Const::Real(f64::from(number)));
            program.lambdas[*lambda].body = Body { bindings: vec![Binding { var, rhs, span }], result: var };
        }
    }
}
