//! The help of a program: what it can be told, and what that is about.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::declaration::{Declared, Kind, RECORD, Text, arguments, options, write_limits};
use ::core::fmt::{self, Write};

/// Writes the help of a program with that declaration and that name.
pub fn write(declaration: &str, program: &str, out: &mut dyn Write) -> fmt::Result {
    let about = declaration.split(RECORD).next().unwrap_or("");
    if !about.is_empty() {
        writeln!(out, "{about}\n")?;
    }
    write!(out, "Usage: {program} [OPTIONS]")?;
    for argument in arguments(declaration).filter(|argument| argument.default.is_none()) {
        write!(out, " --{}", argument.name)?;
        if argument.kind != Kind::Boolean {
            write!(out, " {}", argument.kind.value())?;
        }
    }
    out.write_char('\n')?;
    if !declaration.is_empty() {
        out.write_str("\nArguments:\n")?;
        let widest = arguments(declaration).map(width).fold(0, usize::max);
        arguments(declaration).try_for_each(|argument| row(argument, widest, out))?;
    }
    out.write_str("\nOptions of every program:\n")?;
    let widest = options(declaration).map(width).fold("version".len(), usize::max);
    options(declaration).try_for_each(|option| row(option, widest, out))?;
    writeln!(out, "  --version{:pad$}  show the version", "", pad = widest - "version".len())?;
    writeln!(out, "  --help{:pad$}  show this", "", pad = widest - "help".len())
}

/// How wide the name and what stands for the value are.
fn width(argument: Declared<'_>) -> usize {
    let space = usize::from(argument.kind != Kind::Boolean);
    argument.name.chars().count() + space + argument.kind.value().len()
}

#[inline(never)]
fn row(argument: Declared<'_>, widest: usize, out: &mut dyn Write) -> fmt::Result {
    let space = if argument.kind == Kind::Boolean { "" } else { " " };
    write!(out, "  --{}{space}{}", argument.name, argument.kind.value())?;
    write!(out, "{:pad$}  {}", "", argument.about, pad = widest - width(argument))?;
    let gap = if argument.about.is_empty() { "" } else { " " };
    let is_limited = matches!(argument.kind, Kind::Real | Kind::Integer) && argument.limits().next().is_some();
    if argument.kind == Kind::Choice {
        write!(out, "{gap}[")?;
        for (position, choice) in argument.choices().enumerate() {
            write!(out, "{}{choice}", if position == 0 { "" } else { ", " })?;
        }
        out.write_char(']')?;
    } else if is_limited {
        let mut text = Text::new();
        write_limits(&mut text, argument)?;
        write!(out, "{gap}[{}]", text.as_str().trim_start_matches(", "))?;
    }
    let is_described = !argument.about.is_empty() || argument.kind == Kind::Choice || is_limited;
    let gap = if is_described { " " } else { "" };
    match argument.default {
        None => write!(out, "{gap}[required]")?,
        Some("") if argument.purpose.is_some() => {}
        Some("false") if argument.kind == Kind::Boolean => {}
        Some("true") if argument.kind == Kind::Boolean => {
            write!(out, "{gap}[default; --no-{} for the contrary]", argument.name)?;
        }
        Some(default) => write!(out, "{gap}[default: {default}]")?,
    }
    out.write_char('\n')
}
