//! The program `vlad`; see [`vlad::cli`].

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// The passes make and drop small vectors by the million: the system's allocator took a quarter of the compile time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    vlad::cli::main()
}
