//! Transformed code keeps the law of core: every λ of all programs in the tree and, once, of the library, transformed
//! twice, is well formed.

use std::fs;
use std::path::{Path, PathBuf};
use vlad::ad::Transforms;
use vlad::ad::tower::Transformation;
use vlad::base::SourceMap;
use vlad::core::ir::{Lambda, LambdaId};
use vlad::core::verify::verify;
use vlad::expand::{Options, expand_file};

/// Folders with right programs, from the root of the workspace.
const FOLDERS: [&str; 4] = ["tests/core", "tests/run", "examples", "benches"];

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("a folder can be listed").path()) {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "vlad") {
            found.push(path);
        }
    }
}

#[test]
fn transforms_are_well_formed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the compiler stands in the workspace");
    let mut paths = Vec::new();
    FOLDERS.iter().for_each(|folder| programs(&root.join(folder), &mut paths));
    assert!(paths.len() > 50);
    let mut library_is_done = false;
    for path in paths {
        let mut sources = SourceMap::new();
        // Some programs are there to be rejected.
        let Ok(mut program) = expand_file(&path, &Options::default(), &mut sources) else { continue };
        assert_eq!(verify(&program), [] as [&str; 0], "{}", path.display());
        let mut transforms = Transforms::new();
        for _ in 0..2 {
            let wanted = |lambda: &Lambda| !library_is_done || !sources.is_library(lambda.span);
            let lambdas = program.lambdas.iter().filter(|(_, lambda)| wanted(lambda));
            let lambdas: Vec<LambdaId> = lambdas.map(|(id, _)| id).collect();
            for lambda in lambdas {
                for transformation in [Transformation::Reverse, Transformation::Forward, Transformation::Series] {
                    transforms.apply(&mut program, transformation, lambda);
                }
            }
        }
        assert_eq!(verify(&program), [] as [&str; 0], "transformed twice: {}", path.display());
        library_is_done = true;
    }
}
