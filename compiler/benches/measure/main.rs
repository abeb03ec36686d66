//! The measured programs beside their C references, with their answers checked.
//!
//! benches/classic, benches/objectives → two tables, one for each folder: see [`classic`] and [`objectives`]. Each
//! program is built (`vlad build --native`, `cc -O2`) and run several times; the contenders of a row take turns, so
//! that a change of the machine's speed meets all of them alike. Times of runs are processor time, which other work on
//! the machine disturbs least, and medians; the spread beside a time is the distance of the quartiles, in percent of
//! it. Compile time is what passes on the clock.
//!
//! Usage: `cargo measure [-- [--runs N] [NAME...]]`, where a name is that of a table or of a row.

#[path = "../common/mod.rs"]
mod common;

mod classic;

mod contender;

mod objectives;

use common::Result;
use std::path::{Path, PathBuf};

/// What the command line asks for.
struct Options {
    runs: usize,
    names: Vec<String>,
}

impl Options {
    fn read() -> Result<Options> {
        let mut options = Options { runs: 7, names: Vec::new() };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                // Cargo passes this to every bench target.
                "--bench" => {}
                "--runs" => {
                    let number = arguments.next().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
                    options.runs = number.ok_or("--runs wants a number")?;
                }
                name => options.names.push(name.to_string()),
            }
        }
        Ok(options)
    }

    /// The programs of a folder, or those of them that were named.
    fn programs(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let named = |name: Option<&std::ffi::OsStr>| self.names.iter().any(|wanted| name == Some(wanted.as_ref()));
        let all = self.names.is_empty() || named(folder.file_name());
        let mut programs = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "vlad") && (all || named(path.file_stem())) {
                programs.push(path);
            }
        }
        programs.sort();
        Ok(programs)
    }
}

fn main() -> Result<()> {
    let options = Options::read()?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches");
    let scratch = tempfile::tempdir()?;
    let mut wrong = Vec::new();
    println!("medians of {} runs", options.runs);
    for (name, table) in [("classic", classic::table as Table), ("objectives", objectives::table)] {
        let programs = options.programs(&folder.join(name))?;
        if !programs.is_empty() {
            println!();
            wrong.extend(table(&programs, options.runs, scratch.path())?);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Prints the table of some programs, each measured so many times, with a folder to work in; returns what is wrong with
/// the answers.
type Table = fn(&[PathBuf], usize, &Path) -> Result<Vec<String>>;
