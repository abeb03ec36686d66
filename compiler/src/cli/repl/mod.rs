//! `vlad repl`: read, evaluate, print, and again.
//!
//! Lines become inputs (a line that leaves brackets open goes on in the next one), inputs go to the session
//! ([`session`]), which evaluates them. A mistake is reported and ends nothing. At a terminal, lines are edited
//! ([`editor`]); from a pipe they are read as they come, and nobody is prompted.

pub(super) mod editor;

mod needed;

pub(super) mod session;

use crate::base::Diagnostic;
use crate::cli::tools::{emit, fmt};
use crate::cli::{Dialect, SUCCESS, terminal};
use crate::syntax;
use session::Session;
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};

/// What `vlad repl` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    /// Files to load first, as `:load` does.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A folder in which `(include "name")` looks for name.vlad, after the folder of the including file. May be
    /// repeated.
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    include: Vec<PathBuf>,
    /// The language of what is entered and loaded.
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value = "vlad", hide_default_value = true)]
    dialect: Dialect,
}

const HELP: &str = "\
An expression is evaluated, and its value printed. A definition stays, until one of the same name replaces it.

:load FILE          evaluate a file, keep its definitions
:emit STAGE EXPR    show an expression at a stage of the compiler, such as core, reverse, flow, opt, asm
:derivative NAME    show the reverse transform of a function
:help               show this
:quit               end

Programs here have no input: `read-real` finds its end.
";

/// What there is to do.
#[derive(Debug, PartialEq)]
enum Input<'t> {
    Program(&'t str),
    Load(&'t str),
    Emit(&'t str, &'t str),
    Derivative(&'t str),
    Help,
    Quit,
    Wrong(String),
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    if let Err(error) = terminal::demand_output() {
        return terminal::output_failed(&error);
    }
    let mut session = Session::new(arguments.include.clone(), arguments.dialect.of_sources());
    let is_terminal = io::stdin().is_terminal();
    if is_terminal {
        editor::handle_interruptions(&session);
    }
    for file in &arguments.files {
        if let Err(code) = load(&mut session, file) {
            return code;
        }
    }
    if is_terminal { editor::run(&mut session) } else { read_pipe(&mut session, io::stdin().lock()) }
}

/// Handles the lines of standard input.
fn read_pipe(session: &mut Session, mut lines: impl BufRead) -> u8 {
    let mut input = String::new();
    loop {
        let length = match lines.read_line(&mut input) {
            Ok(length) => length,
            Err(error) => {
                let message = format!("cannot read `-`: {error}");
                terminal::report_plain(&Diagnostic::error_without_place("V0807", message));
                return super::USAGE;
            }
        };
        if length > 0 && syntax::is_incomplete(&input) {
            continue;
        }
        if !handle(session, &input) || length == 0 {
            return SUCCESS;
        }
        input.clear();
    }
}

/// Does what an input asks for; false when that is to end.
pub fn handle(session: &mut Session, input: &str) -> bool {
    match parse(input) {
        Input::Quit => return false,
        Input::Program(text) => session.evaluate(text),
        Input::Load(file) => {
            // What cannot be read has been reported, and ends nothing.
            let _ = load(session, Path::new(file));
        }
        Input::Emit(stage, text) => match emit::Stage::named(stage) {
            Ok(stage) => session.emit(stage, text),
            Err(help) => wrong(&format!("`{stage}` is not a stage of the compiler"), &help),
        },
        Input::Derivative(name) => session.derivative(name),
        Input::Help => {
            terminal::print(HELP);
        }
        Input::Wrong(message) => wrong(&message, "`:help` lists the commands"),
    }
    true
}

fn wrong(message: &str, help: &str) {
    terminal::report_plain(&Diagnostic::error_without_place("V0829", message).help(help));
}

/// Loads a file. If it cannot be read, that is reported; the error is the exit code.
fn load(session: &mut Session, file: &Path) -> Result<(), u8> {
    let text = fmt::text(file)?;
    session.load(&file.display().to_string(), &text);
    Ok(())
}

fn parse(input: &str) -> Input<'_> {
    let Some(command) = input.trim_start().strip_prefix(':') else { return Input::Program(input) };
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = rest.trim();
    match name {
        "quit" | "q" => Input::Quit,
        "help" | "h" | "?" => Input::Help,
        "load" | "l" if !rest.is_empty() => Input::Load(rest),
        "derivative" if !rest.is_empty() => Input::Derivative(rest),
        "emit" => match rest.split_once(char::is_whitespace) {
            Some((stage, text)) => Input::Emit(stage, text),
            None => Input::Wrong("write `:emit STAGE EXPR`".to_string()),
        },
        "load" | "l" => Input::Wrong("write `:load FILE`".to_string()),
        "derivative" => Input::Wrong("write `:derivative NAME`".to_string()),
        _ => Input::Wrong(format!("there is no command `:{name}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_programs() {
        assert_eq!(parse("(f 1)\n"), Input::Program("(f 1)\n"));
        assert_eq!(parse(" :q\n"), Input::Quit);
        assert_eq!(parse(":load a b.vlad \n"), Input::Load("a b.vlad"));
        assert_eq!(parse(":emit core (f\n 1)\n"), Input::Emit("core", "(f\n 1)"));
        assert!(matches!(parse(":emit core"), Input::Wrong(_)));
        assert!(matches!(parse(":unknown"), Input::Wrong(_)));
    }
}
