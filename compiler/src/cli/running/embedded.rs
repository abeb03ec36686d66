//! Executables that embed the reference evaluator.
//!
//! Such an executable is a copy of `vlad` itself, followed by the sources of the program. At its start, `vlad` looks
//! whether its own file ends in such an addition.
//!
//! ```text
//! vlad's own bytes | items | length of the items (8 bytes) | "vladprog"
//! ```
//!
//! An item is a length (8 bytes, little-endian) and that many bytes of text. The items are the name of the main file,
//! whether operations are watched, the language, the number of files, the name and the text of each, the number of
//! imports of dependencies, for each the importing file, the name there and the file that it means, and the folders for
//! includes.

use crate::base::SourceMap;
use crate::cli::running::eval;
use crate::cli::{Dialect, FAULT, Input, terminal};
use crate::codegen::{Error, link};
use crate::pipeline::{Pipeline, Settings};
use clap::ValueEnum;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const MARK: &[u8; 8] = b"vladprog";

/// What an executable carries.
pub struct Program {
    main: String,
    trap_nan: bool,
    dialect: Dialect,
    files: Vec<(String, String)>,
    links: BTreeMap<(String, String), String>,
    include: Vec<PathBuf>,
}

/// The program that this process's executable carries, if it carries one.
pub fn find() -> Option<Program> {
    let mut file = File::open(std::env::current_exe().ok()?).ok()?;
    let end = file.seek(SeekFrom::End(0)).ok()?;
    let length = addition(&mut file, end)?;
    file.seek(SeekFrom::Start(end.checked_sub(16 + length)?)).ok()?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    file.read_exact(&mut bytes).ok()?;
    decode(&bytes)
}

/// The length of the items at the end of a file.
fn addition(file: &mut File, end: u64) -> Option<u64> {
    let mut tail = [0; 16];
    file.seek(SeekFrom::Start(end.checked_sub(16)?)).ok()?;
    file.read_exact(&mut tail).ok()?;
    let (length, mark) = tail.split_at(8);
    (mark == MARK).then_some(u64::from_le_bytes(length.try_into().ok()?))
}

fn decode(bytes: &[u8]) -> Option<Program> {
    let mut rest = bytes;
    let mut items = Vec::new();
    while !rest.is_empty() {
        let (length, tail) = rest.split_at_checked(8)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (item, tail) = tail.split_at_checked(length)?;
        items.push(String::from_utf8(item.to_vec()).ok()?);
        rest = tail;
    }
    let mut items = items.into_iter();
    let main = items.next()?;
    let trap_nan = items.next()?.parse().ok()?;
    let dialect = Dialect::from_str(&items.next()?, false).ok()?;
    let count: usize = items.next()?.parse().ok()?;
    let files = (0..count).map(|_| Some((items.next()?, items.next()?))).collect::<Option<_>>()?;
    let count: usize = items.next()?.parse().ok()?;
    let links = (0..count).map(|_| Some(((items.next()?, items.next()?), items.next()?))).collect::<Option<_>>()?;
    Some(Program { main, trap_nan, dialect, files, links, include: items.map(PathBuf::from).collect() })
}

fn encode(input: &Input, sources: &SourceMap, trap_nan: bool) -> Vec<u8> {
    let files: Vec<_> = sources.files().filter(|file| !file.is_library).collect();
    let dialect = input.dialect.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string());
    let mut items = vec![input.file.display().to_string(), trap_nan.to_string(), dialect, files.len().to_string()];
    for file in files {
        items.extend([file.name.clone(), file.text.clone()]);
    }
    items.push(sources.links().len().to_string());
    for ((from, name), file) in sources.links() {
        items.extend([from.clone(), name.clone(), file.clone()]);
    }
    items.extend(input.include.iter().map(|folder| folder.display().to_string()));
    let mut bytes = Vec::new();
    for item in items {
        bytes.extend((item.len() as u64).to_le_bytes());
        bytes.extend(item.into_bytes());
    }
    bytes
}

/// Runs a program that the executable carries; the result is the exit code.
pub fn run(program: Program) -> u8 {
    let dialect = program.dialect.of_sources();
    let mut pipeline = Pipeline::new(Settings { include: program.include, dialect, ..Settings::default() });
    pipeline.sources = SourceMap::carrying(program.files).linked(program.links);
    match pipeline.expand(Path::new(&program.main)) {
        Ok(mut core) => {
            let mut words = std::env::args_os();
            let path = PathBuf::from(words.next().unwrap_or_default());
            let name = path.file_name().unwrap_or("program".as_ref());
            let words: Vec<OsString> = words.collect();
            let reports = eval::Reports { trap_nan: program.trap_nan, ..eval::Reports::default() };
            eval::evaluate_program(&mut core, &pipeline.sources, &reports, (name, &words))
        }
        Err(diagnostics) => {
            terminal::report(&diagnostics, &pipeline.sources);
            FAULT
        }
    }
}

/// Writes an executable that evaluates the program.
pub fn write(input: &Input, sources: &SourceMap, trap_nan: bool, output: &Path) -> Result<(), Error> {
    let items = encode(input, sources, trap_nan);
    link::replace(output, |unfinished| {
        copy_self(&items, unfinished).map_err(|cause| Error::Write { path: output.to_path_buf(), cause })
    })
}

fn copy_self(items: &[u8], output: &Path) -> io::Result<()> {
    fs::copy(std::env::current_exe()?, output)?;
    fs::set_permissions(output, fs::Permissions::from_mode(0o755))?;
    let mut file = fs::OpenOptions::new().append(true).open(output)?;
    file.write_all(items)?;
    file.write_all(&(items.len() as u64).to_le_bytes())?;
    file.write_all(MARK)
}
