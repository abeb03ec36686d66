//! `vlad completions` and `vlad man`: the arguments that `vlad` accepts → what shells complete, and manual pages.

use crate::base::Diagnostic;
use crate::cli::{FAULT, SUCCESS, terminal};
use clap::CommandFactory;
use clap_complete::Shell;
use std::fs;
use std::path::PathBuf;

/// What `vlad completions` accepts.
#[derive(clap::Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// What `vlad man` accepts.
#[derive(clap::Args)]
pub struct Man {
    /// The folder to write the pages to; it is made if there is none.
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

/// Prints what a shell has to know.
pub fn completions(arguments: &Completions) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::cli::Arguments::command(), "vlad", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))
}

/// Writes the pages: `vlad.1`, and `vlad-SUBCOMMAND.1` for each subcommand.
pub fn man(arguments: &Man) -> u8 {
    let folder = &arguments.out;
    let written =
        fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(crate::cli::Arguments::command(), folder));
    match written {
        Ok(()) => SUCCESS,
        Err(error) => {
            let message = format!("cannot write manual pages to `{}`: {error}", folder.display());
            terminal::report_plain(&Diagnostic::error_without_place("V0831", message));
            FAULT
        }
    }
}
