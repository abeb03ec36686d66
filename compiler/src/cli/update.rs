//! `vlad update`: which commits the dependencies of a project are, anew.

use super::{FAULT, USAGE, terminal};
use crate::base::{Diagnostic, SourceMap};
use crate::projects::{self, Update};
use std::path::Path;

/// What `vlad update` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    /// Dependencies to look up again; without any, all of them.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    let Some(root) = projects::root(Path::new("")) else {
        let error = Diagnostic::error_without_place("V0514", "there is no project here".to_string());
        let error = error.note("there is no file vlad.toml in this folder, nor above it");
        terminal::report_plain(&error.help("write one, or begin with `vlad new NAME`"));
        return USAGE;
    };
    let mut sources = SourceMap::new();
    match projects::update(&root, &arguments.names, &mut sources) {
        Ok(updates) if updates.is_empty() => terminal::print("nothing to update: no dependency by git\n"),
        Ok(updates) => {
            let lines = updates.iter().map(line).collect::<String>();
            terminal::print(&lines)
        }
        Err(mistakes) => {
            terminal::report(&mistakes, &sources);
            FAULT
        }
    }
}

fn line(Update { name, rev, before, now }: &Update) -> String {
    match (before, now) {
        (Some(before), Some(now)) if before == now => format!("{name}: {rev} is {now}, as before\n"),
        (Some(before), Some(now)) => format!("{name}: {rev} is {now}, and was {before}\n"),
        (None, Some(now)) => format!("{name}: {rev} is {now}\n"),
        (_, None) => format!("{name}: {rev} is not needed any more\n"),
    }
}
