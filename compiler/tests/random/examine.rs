//! Program text and input → what evaluator and compiled program do, compared.
//!
//! The compiler runs inside this process; what can hang or crash is announced first, so that whoever started the
//! process knows what it was doing.

use super::common::{Outcome, run_command};
use super::differences;
use super::features;
use super::laws;
use super::library;
use super::settings;
use super::verdict::{Kind, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use vlad::base::{Diagnostic, SourceMap};
use vlad::codegen;
use vlad::core::ir::Program;
use vlad::eval;
use vlad::pipeline::passes as opt;
use vlad::pipeline::{Pipeline, Refusal, Settings};
use vlad::ssa::eval as ssa_eval;
use vlad::ssa::ir as ssa;
use vlad::ssa::verify::Stage;

/// How long a compiled program may run.
const RUN_LIMIT: Duration = Duration::from_secs(10);

/// Bytes that the evaluator may use.
const MEMORY: usize = 1 << 30;

/// Instructions after which the watched run ends.
const FUEL: u64 = 1_000_000;

const NAME: &str = "program.vlad";

/// What a run did, in a form that can be compared.
struct Run {
    code: Option<i32>,
    output: String,
    /// The code of the error and its place: `V0301 program.vlad:3:7`.
    place: String,
    messages: String,
}

/// Compares both ways to run a program, whose executable is written into the folder. `announce` is told which stage
/// begins.
pub fn examine(text: &str, input: &str, settings: &str, folder: &Path, announce: &mut dyn FnMut(&str)) -> Verdict {
    let (limits, passes) = match settings::read(settings) {
        Ok(settings) => settings,
        Err(message) => return Verdict::new(Kind::IllFormed, message),
    };
    let mut pipeline = Pipeline::new(Settings { limits, ..Settings::default() });
    pipeline.sources = SourceMap::carrying([(NAME.to_string(), text.to_string())]);
    announce("expand");
    let program = match pipeline.expand(Path::new(NAME)) {
        Ok(program) => program,
        Err(mistakes) => return Verdict::new(Kind::IllFormed, render(&mistakes, &pipeline.sources)),
    };
    announce("evaluate");
    let expected = match catch_unwind(AssertUnwindSafe(|| evaluate(program.clone(), &pipeline.sources, input, false))) {
        Ok(run) => run,
        Err(_) => return Verdict::new(Kind::Mistake, "the evaluator panics"),
    };
    if expected.code == Some(3) {
        return Verdict::new(Kind::Endless, "");
    }
    announce("compile");
    let mut features = features::of_run(expected.code, &expected.place);
    let compiled = catch_unwind(AssertUnwindSafe(|| compile(&mut pipeline, &program, &passes, &mut features)));
    let compiled = compiled.unwrap_or_else(|_| Err(Verdict::new(Kind::Mistake, super::last_panic())));
    let (kind, found) = match compiled {
        Err(Verdict { kind: Kind::Agree, text, .. }) => {
            features.push("refused".to_string());
            let found = Run { code: Some(1), output: String::new(), place: place(&text), messages: text };
            (compare_refusal(&expected), found)
        }
        Err(mut verdict) => {
            verdict.features = features;
            return verdict;
        }
        Ok((object, code)) => {
            announce("count");
            if let Err(message) = count_owners(&code, input, &expected) {
                return Verdict { kind: Kind::Owners, features, text: message };
            }
            announce("run");
            let outcome = run(&object, folder, input);
            let Ok(Outcome { code, output, messages }) = outcome else {
                return Verdict::new(Kind::Mistake, outcome.err().unwrap_or_default());
            };
            let (memory, messages): (Vec<&str>, Vec<&str>) =
                messages.lines().partition(|line| line.starts_with("memory: "));
            let leaks = code == Some(0) && !memory.iter().any(|line| line.starts_with("memory: 0 boxes"));
            let messages = messages.join("\n");
            let mut found = Run { code, output, place: place(&messages), messages };
            let mut kind = compare(&expected, &found);
            if matches!(kind, Kind::ExitCode | Kind::Place) && is_strict(&program, &pipeline.sources, input, &found) {
                features.push("unlike-zero".to_string());
                kind = Kind::Agree;
            }
            if leaks {
                found.messages.push_str(&memory.join("\n"));
            }
            (if leaks && kind == Kind::Agree { Kind::Leak } else { kind }, found)
        }
    };
    let (kind, wrong) =
        match differences::check(&expected.output).and_then(|word| Ok(word.or(laws::check(&expected.output)?))) {
            Err(wrong) if kind == Kind::Agree => (Kind::Derivative, wrong),
            Ok(checked) => {
                features.extend(checked.map(str::to_string));
                (kind, String::new())
            }
            Err(_) => (kind, String::new()),
        };
    let fails = kind == Kind::Agree && library::should_not_fail(expected.code, &expected.output, &expected.place);
    let kind = if fails { Kind::Fails } else { kind };
    let text = match kind {
        Kind::Agree => expected.output,
        Kind::Derivative => wrong,
        _ => format!("; eval   {}\n; native {}", describe(&expected), describe(&found)),
    };
    Verdict { kind, features, text }
}

/// Whether an executable did what the evaluator does where zeros have to conform to what they are added to. Compiled
/// code need not notice that they do not, nor that what does not conform is a zero.
fn is_strict(program: &Program, sources: &SourceMap, input: &str, found: &Run) -> bool {
    found.place.starts_with("V0305")
        && catch_unwind(AssertUnwindSafe(|| evaluate(program.clone(), sources, input, true)))
            .is_ok_and(|strict| compare(&strict, found) == Kind::Agree)
}

fn evaluate(mut program: Program, sources: &SourceMap, input: &str, strict_sums: bool) -> Run {
    let limits = eval::Limits { memory: MEMORY };
    let options = eval::Options { limits, strict_sums, ..eval::Options::default() };
    let mut output = Vec::new();
    let result = eval::run(&mut program, sources, &options, &mut input.as_bytes(), &mut output);
    let (code, messages) = match result {
        Ok(_) => (0, String::new()),
        Err(failure) => (failure.exit_code, failure.diagnostic.render(sources, false)),
    };
    let output = String::from_utf8_lossy(&output).into_owned();
    Run { code: Some(code), output, place: place(&messages), messages }
}

/// Runs optimised code in its evaluator, which watches reference counts: no box is used or freed after it was freed.
fn count_owners(code: &ssa::Program, input: &str, expected: &Run) -> Result<(), String> {
    let options = ssa_eval::Options { stage: Stage::Counted, fuel: Some(FUEL), tape_memory: ssa_eval::LITTLE_MEMORY };
    match ssa_eval::run_on(code, input, options) {
        Err(ssa_eval::Error::Broken(message)) => Err(format!("; {message}")),
        Ok((outcome, output, _)) if outcome.exit_code == 0 && output != expected.output => {
            Err(format!("; eval   {}\n; ssa    {output}", expected.output))
        }
        _ => Ok(()),
    }
}

/// Links object code and runs it.
///
/// # Errors
///
/// When it cannot be linked.
fn run(object: &codegen::Object, folder: &Path, input: &str) -> Result<Outcome, String> {
    // Workers share the folder.
    let executable = folder.join(std::process::id().to_string());
    codegen::link::executable(object, &executable)
        .map_err(|error| format!("the program cannot be linked: {error:?}"))?;
    let mut command = Command::new(executable);
    command.env("VLAD_REPORT_MEMORY", "1").env("VLAD_MAX_MEMORY", "2G");
    Ok(run_command(command, input, RUN_LIMIT))
}

/// Object code, and what it was made of. The error is `Agree` when the compiler says that the program is wrong.
fn compile(
    pipeline: &mut Pipeline,
    program: &Program,
    passes: &opt::Settings,
    features: &mut Vec<String>,
) -> Result<(codegen::Object, ssa::Program), Verdict> {
    let refused = |refusal, sources: &SourceMap| match refusal {
        Refusal::Mistake(mistakes) => Verdict::new(Kind::Agree, render(&mistakes, sources)),
        Refusal::Unsupported(warning) => {
            let tower = ["order", "code", "dynamic-order"].map(|limit| format!("the limit `{limit}`"));
            let tower = warning.notes.iter().any(|note| tower.iter().any(|limit| note.starts_with(limit)));
            let kind = if tower { Kind::Tower } else { Kind::Fallback };
            Verdict::new(kind, render(&[*warning], sources))
        }
    };
    let mut code = pipeline.first_order(program).map_err(|refusal| refused(refusal, &pipeline.sources))?;
    pipeline.optimize(&mut code, passes);
    features.extend(features::of_code(&code));
    let object = pipeline.object(&code);
    let refused = |error: codegen::Error| render(&[error.to_diagnostic()], &pipeline.sources);
    object.map(|object| (object, code)).map_err(|error| Verdict::new(Kind::Mistake, refused(error)))
}

fn render(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    diagnostics.iter().map(|diagnostic| diagnostic.render(sources, false)).collect()
}

/// The code of the first error in a message, and its place.
fn place(messages: &str) -> String {
    let code = messages.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(code, _)| code);
    let arrow = messages.split_once("--> ").and_then(|(_, rest)| rest.lines().next()).unwrap_or("");
    format!("{code} {arrow}")
}

fn compare(expected: &Run, found: &Run) -> Kind {
    match (expected.code, found.code) {
        (_, None | Some(101 | 128..)) => Kind::Killed,
        (e, f) if e != f => Kind::ExitCode,
        _ if expected.output != found.output && normal(&expected.output) == normal(&found.output) => Kind::ZeroSign,
        _ if expected.output != found.output => Kind::Output,
        _ => compare_messages(expected, found),
    }
}

/// A program that the compiler refuses is bound to fail so. What it writes before that is not written, and what it may
/// fail with earlier is not said: for want of input, say, or because of another part of the same value.
fn compare_refusal(expected: &Run) -> Kind {
    if expected.code == Some(0) { Kind::ExitCode } else { Kind::Agree }
}

fn compare_messages(expected: &Run, found: &Run) -> Kind {
    // Where a value may be of several kinds, compiled code does not know which argument was wrong.
    let line = |run: &Run| run.place.split_once(' ').map(|(_, line)| line.to_string());
    if expected.place.starts_with("V0326") && line(expected) == line(found) {
        return Kind::Agree;
    }
    if expected.place != found.place {
        Kind::Place
    } else if without_values(&expected.messages) != without_values(&found.messages) {
        Kind::Message
    } else {
        Kind::Agree
    }
}

/// The message without the value that was found, as compiled programs name its kind and do not print it, and without the
/// calls that led there, of which the optimiser leaves fewer.
fn without_values(messages: &str) -> Vec<&str> {
    let notes = ["= note: the value is", "= note: called from", "= note: ... and"];
    let is_alike = |line: &&str| line.trim() != "|" && !notes.iter().any(|note| line.contains(note));
    messages.lines().filter(is_alike).collect()
}

/// The output with every `-0` replaced by `0`.
pub fn normal(output: &str) -> String {
    let sign_counts = |after: Option<char>| after.is_some_and(|c| c.is_ascii_digit() || c == '.' || c == 'e');
    let mut text = String::new();
    let mut rest = output;
    while let Some(position) = rest.find("-0") {
        let (before, found) = rest.split_at(position);
        text.push_str(before);
        let negative_zero = !sign_counts(found[2..].chars().next()) && !text.ends_with('e');
        text.push_str(if negative_zero { "0" } else { "-0" });
        rest = &found[2..];
    }
    text + rest
}

fn describe(run: &Run) -> String {
    let code = run.code.map_or("killed".into(), |code| format!("exit {code}"));
    let comment = |text: &str| text.trim_end().replace('\n', "\n;   ");
    format!("{code}: {}\n;   {}", comment(&run.output), comment(&run.messages))
}
