//! The programs of the evals, compiled: an executable that answers as [`crate::session`] asks.

use crate::Result;
use crate::evals::{Eval, Function};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use vlad::base::{Diagnostic, SourceMap};
use vlad::pipeline::{Pipeline, Refusal, Settings};

/// The compiler works on structures as deep as programs are nested; only what it uses takes memory.
const STACK: usize = 1 << 30;

/// This folder.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Writes a program that serves a function, and returns its path.
pub fn write_program(eval: &Eval, function: &Function, directory: &Path) -> Result<PathBuf> {
    let name = eval.name;
    let Function { name: of, show, .. } = function;
    let text = format!(
        "(include \"{name}\")\n(include \"serve\")\n(define served (serve {name}/{of} {show} ({name}/read)))\n"
    );
    let path = directory.join(format!("{name}-{of}.vlad"));
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Compiles a function and returns the path of the executable.
pub fn vlad(eval: &Eval, function: &Function, directory: &Path) -> Result<PathBuf> {
    let program = write_program(eval, function, directory)?;
    let executable = program.with_extension("");
    let compile = || compile(&program, &executable);
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, compile);
        let thread = thread.map_err(|error| error.to_string())?;
        thread.join().map_err(|_| format!("the compiler fails on {}", program.display()))?
    })?;
    Ok(executable)
}

fn compile(program: &Path, executable: &Path) -> Result<()> {
    let mut pipeline = Pipeline::new(Settings { include: vec![folder().join("programs")], ..Settings::default() });
    let core = pipeline.expand(program).map_err(|errors| rendered(&errors, &pipeline.sources))?;
    let code = pipeline.native(&core).map_err(|refusal| match refusal {
        Refusal::Mistake(errors) => rendered(&errors, &pipeline.sources),
        Refusal::Unsupported(error) => error.render(&pipeline.sources, false),
    })?;
    let object = pipeline.object(&code).map_err(|error| error.to_diagnostic().render(&pipeline.sources, false))?;
    let linked = pipeline.link(&object, executable);
    linked.map_err(|error| error.to_diagnostic().render(&pipeline.sources, false))
}

fn rendered(errors: &[Diagnostic], sources: &SourceMap) -> String {
    errors.iter().map(|error| error.render(sources, false)).collect()
}

/// Compiles the primal that is written in C; `None` if there is none.
pub fn c(eval: &Eval, directory: &Path) -> Result<Option<PathBuf>> {
    let source = folder().join("c").join(eval.name).with_extension("c");
    if !source.exists() {
        return Ok(None);
    }
    let executable = directory.join(format!("{}-c", eval.name));
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-O3", "-ffp-contract=off", "-o"]).arg(&executable).arg(source).arg("-lm");
    let status = command.status().map_err(|error| format!("cc: {error}"))?;
    if status.success() { Ok(Some(executable)) } else { Err(format!("{command:?}: {status}")) }
}
