//! Same input, same bits.
//!
//! A program prints the same whichever passes of the optimiser run, for whichever machine it is compiled, and however
//! often and beside how many others it runs. The same program is the same executable, wherever it is compiled.

mod common;

use common::run_command;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use vlad::pipeline::passes::{PASSES, RESULT, Settings as Passes, optimize};
use vlad::pipeline::{Pipeline, Settings};
use vlad::ssa::eval::{self, Options};
use vlad::ssa::verify::Stage;

/// Sums, elementary functions, loops of two lanes, closures, tapes, lists, nested derivatives; depends on what it
/// reads.
const PROGRAM: &str = "\
(define n (read-real))
(define data (build n (lambda (i) (+ (sin (* i 0.37)) (/ i 7)))))
(define (model (list a b c) x) (+ (* a (exp (* b x))) (tanh (* c x))))
(define (loss p) (/ (vector-sum (vector-map (lambda (x) (expt (- (model p x) (cos x)) 2)) data)) n))
(define (descend i p) (if (= i 0) p (descend (- i 1) (v- p (k*v 0.001 ((gradient loss) p))))))
(define p (descend 20 '(0.1 0.2 0.3)))
p
(loss p)
((hessian loss) p)
((derivative (lambda (a) (reduce + 0 (map (lambda (x) (* x (log1p (* a x)))) (iota 9))))) 0.7)
(define (chaos k) (let loop ((i 0) (x 0.3)) (if (= i 300) x (loop (+ i 1) (* k x (- 1 x))))))
((derivative chaos) 3.7)
((gradient (lambda (l) (fold-left (lambda (s x) (+ (* s 0.9) (sqrt x))) 0 l))) '(1 2 3 4 5))
((derivative (lambda (x) (* x ((derivative (lambda (y) (expt (+ x y) 3))) x)))) 1.1)
";
const INPUT: &str = "173\n";

fn vlad(folder: &Path, arguments: &[&str]) -> String {
    let mut command = common::vlad(arguments);
    command.current_dir(folder);
    run(command)
}

/// What a command prints.
fn run(command: Command) -> String {
    let shown = format!("{command:?}");
    let outcome = run_command(command, INPUT, Duration::from_secs(300));
    assert_eq!(outcome.code, Some(0), "{shown}\n{}", outcome.messages);
    outcome.output
}

fn folder() -> (TempDir, PathBuf) {
    let folder = common::folder(&[("program.vlad", PROGRAM)]);
    let file = folder.path().join("program.vlad");
    (folder, file)
}

#[test]
fn eighty_runs_print_the_same_bits() {
    let (folder, _) = folder();
    let expected = vlad(folder.path(), &["eval", "program.vlad"]);
    assert!(expected.lines().count() >= 7, "{expected}");
    for flags in [&["build", "--native", "program.vlad"][..], &["build", "--native", "--native-cpu", "program.vlad"]] {
        vlad(folder.path(), flags);
        let program = folder.path().join("program");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..10).for_each(|_| assert_eq!(run(Command::new(&program)), expected)));
            }
        });
    }
}

#[test]
fn no_pass_of_the_optimiser_changes_numbers() {
    let (folder, file) = folder();
    // Many variants are compiled: the part that takes longest is left out.
    let program: String =
        PROGRAM.lines().filter(|line| !line.contains("hessian")).map(|line| format!("{line}\n")).collect();
    fs::write(&file, program).expect("temporary files can be written");
    let expected = vlad(folder.path(), &["eval", "program.vlad"]);
    // The last passes say who owns which box: without them there is no program.
    let optional = PASSES.iter().filter(|pass| pass.stage() == Stage::Pure);
    let every: Vec<&str> = optional.map(|pass| pass.name).collect();
    assert!(every.len() > 20, "{every:?}");
    let mut settings: Vec<Vec<String>> = every.iter().map(|pass| vec![(*pass).to_string()]).collect();
    settings.push(every.iter().map(|pass| (*pass).to_string()).collect());
    let mut pipeline = Pipeline::new(Settings::default());
    let program = pipeline.expand(&file).expect("it is right");
    let code = pipeline.first_order(&program).expect("it can be compiled");
    for disabled in settings {
        let mut code = code.clone();
        optimize(&mut code, &Passes { disabled: disabled.clone(), ..Passes::default() });
        let options = Options { stage: RESULT, fuel: None, tape_memory: eval::ALL_MEMORY };
        let (outcome, output, errors) = eval::run_on(&code, INPUT, options).expect("the program ends");
        assert_eq!((outcome.exit_code, output, errors), (0, expected.clone(), String::new()), "without {disabled:?}");
    }
}

/// All that commands print and leave in a new folder, beside copies of some files; the name of the folder must not be
/// in it.
fn everything(folder: &Path, files: &[PathBuf], commands: &[Vec<&str>]) -> Vec<(String, Vec<u8>)> {
    fs::create_dir_all(folder).expect("folders can be made");
    for file in files {
        fs::copy(file, folder.join(file.file_name().expect("it has a name"))).expect("files can be copied");
    }
    let mut found = Vec::new();
    for arguments in commands {
        let mut command = common::vlad(arguments);
        command.current_dir(folder).env("HOME", folder).env("TMPDIR", folder);
        found.push((arguments.join(" "), run(command).into_bytes()));
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be listed").path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        found.push((name, fs::read(&path).expect("it is a file")));
    }
    let own = folder.to_str().expect("it is text").as_bytes();
    for (what, bytes) in &found {
        assert!(!bytes.windows(own.len()).any(|part| part == own), "{what} mentions the folder");
    }
    found
}

/// Executables at each level, libraries of both kinds with headers and modules, every stage, explanations, references.
#[test]
fn whatever_the_compiler_writes_is_the_same_in_every_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let examples: Vec<PathBuf> = ["saddle", "logistic-regression", "xor", "sorting"]
        .map(|name| root.join("examples").join(name).with_extension("vlad"))
        .into();
    let names: Vec<String> =
        examples.iter().map(|path| path.file_name().expect("it has a name").to_string_lossy().into_owned()).collect();
    let outputs: Vec<String> =
        names.iter().flat_map(|name| (0..3).map(move |level| format!("{name}.{level}"))).collect();
    let mut commands: Vec<Vec<&str>> = vec![vec!["doc"], vec!["explain", "V0305"], vec!["man", "--out", "."]];
    for (name, outputs) in names.iter().zip(outputs.chunks(3)) {
        for (level, output) in [&[][..], &["--fast-math"], &["--native-cpu"]].iter().zip(outputs) {
            commands.push([&["build", "-o", output, name], *level].concat());
        }
        commands.push(vec!["emit", "--stage", "asm", name]);
        commands.push(vec!["explain", name]);
        commands.push(vec!["doc", name]);
    }
    for stage in ["syntax", "core", "reverse", "forward", "series", "flow", "ssa", "opt", "clif"] {
        commands.push(vec!["emit", "--stage", stage, &names[0]]);
    }
    let library = root.join("tests/libraries/functions.vlad");
    for kind in ["static", "shared"] {
        commands.push(vec!["build", "--lib", kind, "functions.vlad"]);
    }
    let files: Vec<PathBuf> = examples.iter().cloned().chain([library]).collect();
    let place = common::folder(&[]);
    let folders = [place.path().join("one"), place.path().join("another place, further/away")];
    let [one, other] = folders.map(|folder| everything(&folder, &files, &commands));
    assert!(one.len() > commands.len() + 20, "{} things", one.len());
    for ((what, bytes), (name, others)) in one.iter().zip(&other) {
        assert_eq!(what, name);
        assert!(bytes == others, "{what} differs");
    }
    assert_eq!(one.len(), other.len());
}

#[test]
fn executables_are_the_same_wherever_they_are_made() {
    let folders: Vec<TempDir> = (0..3).map(|_| folder().0).collect();
    let executables: Vec<Vec<u8>> = folders
        .iter()
        .enumerate()
        .map(|(number, folder)| {
            let mut command = common::vlad(&["build", "--native", "program.vlad"]);
            command.current_dir(folder);
            command
                .env("HOME", folder.path())
                .env("TMPDIR", folder.path())
                .env("SOURCE_DATE_EPOCH", number.to_string());
            run(command);
            fs::read(folder.path().join("program")).expect("it is there")
        })
        .collect();
    assert!(executables.windows(2).all(|pair| pair[0] == pair[1]), "executables differ");
    // Nor does it matter where the compiler was made.
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the compiler stands in the workspace");
    let checkout = checkout.to_str().expect("paths here are text").as_bytes();
    assert!(!executables[0].windows(checkout.len()).any(|part| part == checkout), "the checkout is mentioned");
}
