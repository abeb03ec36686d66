//! The program `vlad`; see [`vlad::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    vlad::cli::main()
}
