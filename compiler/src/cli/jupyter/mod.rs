//! `vlad jupyter`: notebooks whose cells are programs.
//!
//! | command | |
//! |---|---|
//! | `vlad jupyter install` | tells Jupyter of the kernel: writes a folder with `kernel.json` |
//! | `vlad jupyter run FILE` | the kernel, which Jupyter starts: a Python program, which is part of the compiler ([`KERNEL`]) |
//! | `vlad jupyter serve` | what evaluates the cells, which the kernel starts ([`serve`]) |
//!
//! The kernel speaks Jupyter's protocol by the Python package `ipykernel`, which is where Jupyter is.

mod serve;

use crate::base::Diagnostic;
use crate::cli::running::{build, run as running};
use crate::cli::{USAGE, terminal};
use serde_json::json;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The kernel, in Python.
const KERNEL: &str = include_str!("../../../../editors/jupyter/kernel.py");

/// What `vlad jupyter` accepts.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(clap::Subcommand)]
enum Subcommand {
    /// Tell Jupyter of the kernel.
    ///
    /// Writes kernels/vlad/kernel.json to the user's folder for Jupyter: $JUPYTER_DATA_DIR, or jupyter in
    /// $XDG_DATA_HOME or ~/.local/share.
    Install(Install),
    /// Run the kernel. Jupyter does that.
    Run(Run),
    /// Evaluate the cells of a kernel.
    #[command(hide = true)]
    Serve,
}

#[derive(clap::Args)]
struct Install {
    /// Write to share/jupyter in this folder instead, such as that of a Python environment.
    #[arg(long, value_name = "FOLDER")]
    prefix: Option<PathBuf>,
    /// The Python that runs the kernel; it has the package ipykernel.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
}

#[derive(clap::Args)]
struct Run {
    /// The Python that runs the kernel.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// The file that says how to reach Jupyter.
    #[arg(value_name = "FILE")]
    connection: PathBuf,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> u8 {
    match &arguments.command {
        Subcommand::Install(arguments) => install(arguments),
        Subcommand::Run(arguments) => start(arguments),
        Subcommand::Serve => serve::run(),
    }
}

/// Writes the folder in which Jupyter finds the kernel.
fn install(Install { prefix, python }: &Install) -> u8 {
    let python = match interpreter(python) {
        Ok(python) => python,
        Err(diagnostic) => {
            terminal::report_plain(&diagnostic);
            return USAGE;
        }
    };
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return running::cannot_run(&error),
    };
    let Some(data) = prefix.as_ref().map(|prefix| prefix.join("share/jupyter")).or_else(data) else {
        let message = "there is no folder for Jupyter: neither JUPYTER_DATA_DIR nor HOME is set";
        let diagnostic = Diagnostic::error_without_place("V0858", message);
        terminal::report_plain(&diagnostic.help("name one: `vlad jupyter install --prefix FOLDER`"));
        return USAGE;
    };
    let file = data.join("kernels/vlad/kernel.json");
    let text = json!({
        "argv": [own, "jupyter", "run", "--python", python, "{connection_file}"],
        "display_name": "VLAD",
        "language": "vlad",
        "interrupt_mode": "signal",
        "metadata": { "debugger": false },
    });
    if let Err(error) = file.parent().map_or(Ok(()), std::fs::create_dir_all) {
        let message = format!("cannot write `{}`: {error}", file.display());
        terminal::report_plain(&Diagnostic::error_without_place("V0858", message));
        return USAGE;
    }
    match build::write_text(&file, &format!("{text:#}\n")) {
        Ok(()) => terminal::print(&format!("wrote {}; try: jupyter lab\n", file.display())),
        Err(code) => code,
    }
}

/// The Python of that name, by its path; it must have what the kernel needs.
fn interpreter(python: &Path) -> Result<String, Box<Diagnostic>> {
    let program = "import sys, ipykernel; print(sys.executable)";
    let output = Command::new(python).args(["-c", program]).stdin(Stdio::null()).output();
    let error =
        |message: String, help: String| Err(Box::new(Diagnostic::error_without_place("V0858", message).help(help)));
    let name = python.display();
    match output {
        Err(cause) => error(
            format!("cannot run `{name}`: {cause}"),
            "name a Python that has the package ipykernel: `--python PROGRAM`".into(),
        ),
        Ok(output) if !output.status.success() => error(
            format!("`{name}` does not have the package ipykernel"),
            format!("install it (`{name} -m pip install ipykernel`), or name another Python: `--python PROGRAM`"),
        ),
        Ok(output) => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
    }
}

/// The user's folder for Jupyter.
fn data() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let shared = || folder("XDG_DATA_HOME").or_else(|| Some(folder("HOME")?.join(".local/share")));
    folder("JUPYTER_DATA_DIR").or_else(|| Some(shared()?.join("jupyter")))
}

/// Turns this process into the kernel.
fn start(Run { python, connection }: &Run) -> u8 {
    let own = match std::env::current_exe() {
        Ok(own) => own,
        Err(error) => return running::cannot_run(&error),
    };
    if let Err(code) = build::demand_file(connection) {
        return code;
    }
    let mut command = Command::new(python);
    command.arg("-c").arg(KERNEL).arg("-f").arg(connection).env("VLAD_KERNEL_COMMAND", own);
    let message = format!("cannot run `{}`: {}", python.display(), command.exec());
    let help = "tell Jupyter of another Python: `vlad jupyter install --python PROGRAM`";
    terminal::report_plain(&Diagnostic::error_without_place("V0858", message).help(help));
    USAGE
}
