//! What the user sees when a program is wrong: `tests/ui/<stage>/<name>.vlad` and the message in `<name>.stderr`.
//!
//! Every program there must be rejected by the front end; so must `no-such-file`, which has a message but no program. `BLESS=1 cargo test --test ui` writes the messages anew; read
//! the difference before committing it. A folder `include/` beside the programs holds files that they include.

use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use vlad::base::SourceMap;
use vlad::expand::{Options, expand_file};

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/ui");
    // Messages show paths as they are given, so they are given relative to the folder of the tests.
    std::env::set_current_dir(&root).expect("tests/ui exists");
    let trials = programs()
        .into_iter()
        .map(|path| Trial::test(path.with_extension("").display().to_string(), move || check(&path)));
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// All programs, in order.
fn programs() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for stage in entries(Path::new("")) {
        let files = entries(&stage).into_iter().filter(|path| path.is_file());
        found.extend(files.map(|path| path.with_extension("vlad")));
    }
    found.dedup();
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(shown).unwrap_or_else(|error| panic!("{}: {error}", shown.display()));
    let names = entries.map(|entry| entry.expect("a folder can be listed").file_name());
    let mut paths: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    paths.sort();
    paths
}

fn check(path: &Path) -> Result<(), Failed> {
    let mut sources = SourceMap::new();
    let options = Options { include_dirs: vec![PathBuf::from("expand/include/more")] };
    let message: String = match expand_file(path, &options, &mut sources) {
        Ok(_) => return Err("the program is accepted".into()),
        Err(errors) => errors.iter().map(|error| error.render(&sources, false)).collect::<Vec<_>>().join("\n"),
    };
    let expected_path = path.with_extension("stderr");
    if std::env::var_os("BLESS").is_some() {
        return fs::write(&expected_path, message).map_err(Failed::from);
    }
    let expected = fs::read_to_string(&expected_path).unwrap_or_default();
    if message != expected {
        return Err(format!("expected:\n{expected}\nfound:\n{message}\nBLESS=1 accepts what was found").into());
    }
    Ok(())
}
