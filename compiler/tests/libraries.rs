//! Libraries and their callers.
//!
//! `tests/libraries/functions.vlad` is compiled to a library, statically and shared. Programs in C, Rust and Python
//! beside it call all of its functions from several threads at a time, check what happens when a call fails, and print
//! the bits of the results, which have to be those that the evaluator prints for `answers.vlad`. Valgrind looks for
//! what they leave behind. The same for `passed.vlad`, whose functions take functions and texts of the caller. And
//! executables that MPICH starts.
//!
//! Needs a C compiler, valgrind, and a Python with NumPy, SciPy, JAX, mpi4py and MPICH (`target/python`, made with pip if
//! it is missing). What is for PyTorch is tested where a Python has it.

mod common;

use common::pages::commands_do_what_is_said;
use common::{Outcome, TOOLS_LIMIT as LIMIT, names, run_command};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/libraries")
}

/// Runs a command that has to succeed.
fn succeed(command: Command) -> Outcome {
    let shown = format!("{command:?}");
    let outcome = run_command(command, "", LIMIT);
    assert_eq!(outcome.code, Some(0), "{shown}\n{}{}", outcome.output, outcome.messages);
    outcome
}

fn vlad(arguments: &[&str], file: &Path) -> Command {
    let mut command = common::vlad(arguments);
    command.arg(file);
    command
}

/// A folder with the library of `functions.vlad`, which is called as the program.
fn library(kind: &'static str) -> tempfile::TempDir {
    library_of("functions", kind)
}

/// A folder with the library of a program.
fn library_of(name: &'static str, kind: &'static str) -> tempfile::TempDir {
    /// The kinds that have been built.
    static BUILT: Mutex<Vec<(&str, &str)>> = Mutex::new(Vec::new());
    let original = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries").join(name).join(kind);
    {
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        if !built.contains(&(name, kind)) {
            _ = fs::remove_dir_all(&original);
            fs::create_dir_all(&original).expect("the folder can be made");
            let output = original.join(name).display().to_string();
            let program = folder().join(format!("{name}.vlad"));
            let outcome = succeed(vlad(&["build", "--lib", kind, "-o", &output], &program));
            assert_eq!(outcome.messages, "");
            built.push((name, kind));
        }
    }
    let copy = common::folder(&[]);
    let mut command = Command::new("cp");
    command.arg("-r").arg(original.join(".")).arg(copy.path());
    succeed(command);
    copy
}

/// The bits of the numbers that the evaluator prints, as the clients print them.
fn answers() -> Vec<String> {
    let outcome = succeed(vlad(&["eval"], &folder().join("answers.vlad")));
    // The first two lines are those of the program that becomes the library.
    let text: String = outcome.output.lines().skip(2).map(|line| line.to_string() + " ").collect();
    let words = text
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '#'))
        .filter(|word| !matches!(*word, "" | "."));
    words.map(|word| format!("{:016x}", word.parse::<f64>().expect("a number").to_bits())).collect()
}

fn demand_answers(outcome: &Outcome) {
    let found: Vec<&str> = outcome.output.lines().collect();
    let wanted = answers();
    assert!(wanted.len() > 70, "the evaluator prints {wanted:?}");
    assert_eq!(found, wanted, "{}", outcome.messages);
}

fn compile_c(arguments: &[&str], folder_of_library: &Path, output: &Path) {
    compile_client("client.c", arguments, folder_of_library, output);
}

fn compile_client(source: &str, arguments: &[&str], folder_of_library: &Path, output: &Path) {
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pedantic", "-g", "-pthread", "-I"]);
    command.arg(folder_of_library).arg(folder().join(source)).args(arguments).arg("-o").arg(output);
    succeed(command);
}

#[test]
fn a_c_program_gets_the_evaluators_bits_and_loses_no_memory() {
    let place = library("static");
    let client = place.path().join("client");
    let archive = place.path().join("libfunctions.a").display().to_string();
    compile_c(&["-O2", &archive, "-lm"], place.path(), &client);
    demand_answers(&succeed(Command::new(&client)));
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all"]);
    valgrind.arg(&client);
    demand_answers(&succeed(valgrind));
}

#[test]
fn threads_share_nothing_that_changes_and_sanitizers_find_nothing() {
    let place = library("static");
    let client = place.path().join("client");
    let archive = place.path().join("libfunctions.a").display().to_string();
    compile_c(&["-O1", "-fsanitize=address,undefined", &archive, "-lm"], place.path(), &client);
    let outcome = succeed(Command::new(&client));
    demand_answers(&outcome);
    assert_eq!(outcome.messages, "");
    compile_c(&["-O1", "-DROUNDS=2", &archive, "-lm"], place.path(), &client);
    let mut helgrind = Command::new("valgrind");
    helgrind.args(["--quiet", "--tool=helgrind", "--error-exitcode=9"]).arg(&client);
    demand_answers(&succeed(helgrind));
}

#[test]
fn a_context_in_use_refuses_calls() {
    let place = library("static");
    let client = place.path().join("busy");
    let archive = place.path().join("libfunctions.a").display().to_string();
    compile_client("busy.c", &["-O2", &archive, "-lm"], place.path(), &client);
    assert_eq!(succeed(Command::new(&client)).output, "some refused none wrong good afterwards\n");
}

#[test]
fn a_c_program_passes_functions_and_texts_and_loses_no_memory() {
    let place = library_of("passed", "static");
    let client = place.path().join("client");
    let archive = place.path().join("libpassed.a").display().to_string();
    compile_client("passed.c", &["-O1", "-fsanitize=address,undefined", &archive, "-lm"], place.path(), &client);
    let outcome = succeed(Command::new(&client));
    assert_eq!((&*outcome.output, &*outcome.messages), ("all right\n", ""));
    compile_client("passed.c", &["-O2", &archive, "-lm"], place.path(), &client);
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all"]).arg(&client);
    assert_eq!(succeed(valgrind).output, "all right\n");
}

#[test]
fn a_rust_program_passes_closures_and_texts() {
    let place = library_of("passed", "static");
    let (client, source) = (place.path().join("client"), place.path().join("client.rs"));
    fs::copy(folder().join("passed.rs"), &source).expect("the folder can be written");
    let mut command = Command::new("rustc");
    command.args(["--edition", "2024", "-Dwarnings", "-L"]).arg(place.path()).arg("-o").arg(&client).arg(&source);
    succeed(command);
    assert_eq!(succeed(Command::new(&client)).output, "all right\n");
}

#[test]
fn a_python_process_passes_functions_and_texts() {
    let place = library_of("passed", "shared");
    let mut command = Command::new(python().join("python"));
    command.arg("-Werror").arg(folder().join("passed.py")).arg(place.path());
    assert_eq!(succeed(command).output, "all right\n");
}

#[test]
fn the_header_is_c_plus_plus_and_the_shared_library_exports_nothing_else() {
    let place = library("shared");
    let client = place.path().join("client");
    let search = format!("-L{}", place.path().display());
    let rpath = format!("-Wl,-rpath,{}", place.path().display());
    compile_c(&["-O2", &search, &rpath, "-lfunctions"], place.path(), &client);
    demand_answers(&succeed(Command::new(&client)));

    let mut names = Command::new("nm");
    names.args(["--dynamic", "--defined-only", "--format=posix"]).arg(place.path().join("libfunctions.so"));
    let listing = succeed(names).output;
    assert!(listing.contains("functions_loss_gradient T"), "{listing}");
    assert!(listing.lines().all(|line| line.starts_with("functions_")), "{listing}");
    let mut names = Command::new("nm");
    names.args(["--dynamic", "--undefined-only", "--format=posix"]).arg(place.path().join("libfunctions.so"));
    let listing = succeed(names).output;
    for absent in ["exit", "abort", "signal", "sigaction", "pthread", "write", "printf", "getenv"] {
        assert!(!listing.contains(absent), "the library can call {absent}:\n{listing}");
    }

    let header = place.path().join("main.cpp");
    fs::write(
        &header,
        "#include \"functions.h\"\nint main() { return functions_abi_version() - FUNCTIONS_ABI_VERSION; }\n",
    )
    .expect("the folder can be written");
    let mut command = Command::new("cc");
    command.args(["-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]).arg(&header);
    succeed(command);
}

#[test]
fn a_rust_program_gets_the_evaluators_bits() {
    for kind in ["static", "shared"] {
        let place = library(kind);
        let client = place.path().join("client");
        fs::copy(folder().join("client.rs"), place.path().join("client.rs")).expect("the folder can be written");
        let mut command = Command::new("rustc");
        command.args(["--edition", "2024", "-Dwarnings", "-O", "-L"]).arg(place.path()).arg("-o").arg(&client);
        command.arg(format!("-Clink-arg=-Wl,-rpath,{}", place.path().display())).arg(place.path().join("client.rs"));
        succeed(command);
        demand_answers(&succeed(Command::new(&client)));
        if kind == "static" {
            // What Rust's own library keeps to the end is still reachable.
            let mut valgrind = Command::new("valgrind");
            let kinds = "definite,indirect,possible";
            valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full"]);
            valgrind.args([format!("--show-leak-kinds={kinds}"), format!("--errors-for-leak-kinds={kinds}")]);
            demand_answers(&succeed({
                valgrind.arg(&client);
                valgrind
            }));
        }
    }
}

/// What pip installs.
const PACKAGES: [&str; 5] = ["numpy", "scipy", "jax", "mpi4py", "mpich"];

/// The folder of a Python with these packages.
fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/python");
        let installed = place.join("installed");
        let packages = PACKAGES.join(" ");
        if fs::read_to_string(&installed).unwrap_or_default() != packages {
            let mut command = Command::new("python3");
            command.args(["-m", "venv"]).arg(&place);
            succeed(command);
            let mut command = Command::new(place.join("bin/pip"));
            succeed({
                command.args(["install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES);
                command
            });
            fs::write(installed, packages).expect("the folder can be written");
        }
        place.join("bin")
    })
}

#[test]
fn a_python_process_gets_the_evaluators_bits() {
    let place = library("shared");
    let mut command = Command::new(python().join("python"));
    command.arg("-Werror").arg(folder().join("client.py")).arg(place.path());
    demand_answers(&succeed(command));
}

/// Runs what is for another package, with a Python that has it.
fn adapt(package: &str, python: &Path) {
    let (place, passed) = (library("shared"), library_of("passed", "shared"));
    let mut command = Command::new(python);
    command.arg(folder().join("adapters.py")).arg(place.path()).arg(package).arg(passed.path());
    succeed(command);
}

#[test]
fn scipy_minimises_exported_functions() {
    adapt("scipy", &python().join("python"));
}

#[test]
fn jax_differentiates_exported_functions() {
    adapt("jax", &python().join("python"));
}

/// PyTorch comes in many kinds, most of them large, so it is not installed for this.
#[test]
fn pytorch_differentiates_exported_functions() {
    let pythons = [python().join("python"), PathBuf::from("python3"), PathBuf::from("/usr/bin/python3")];
    let has_torch = |python: &&PathBuf| {
        if python.is_absolute() && !python.exists() {
            return false;
        }
        let mut command = Command::new(python);
        command.args(["-c", "import numpy, torch"]);
        run_command(command, "", LIMIT).code == Some(0)
    };
    match pythons.iter().find(has_torch) {
        Some(python) => adapt("torch", python),
        // Not by a macro, whose text is hidden where tests succeed.
        None => _ = writeln!(std::io::stderr(), "note: what is for PyTorch is not tested, since no Python here has it"),
    }
}

#[test]
fn packages_that_are_missing_are_named() {
    let place = library("shared");
    for package in ["torch", "jax"] {
        let program = format!(
            "import sys\nsys.path.insert(0, sys.argv[1])\nsys.modules['{package}'] = None\nimport functions\ntry:\n    \
             functions.loss.{package}\nexcept ImportError as error:\n    print(error)\n"
        );
        let mut command = Command::new(python().join("python"));
        command.args(["-c", &program]).arg(place.path());
        assert_eq!(
            succeed(command).output,
            format!("loss.{package} needs the package {package}: pip install {package}\n")
        );
    }
}

#[test]
fn a_wheel_is_installed_and_gives_the_evaluators_bits() {
    let place = library("wheel");
    let wheels = fs::read_dir(place.path()).expect("the folder can be read").map(|file| file.expect("a file").path());
    let wheels: Vec<PathBuf> = wheels.collect();
    assert!(matches!(&wheels[..], [wheel] if wheel.extension().is_some_and(|ending| ending == "whl")), "{wheels:?}");
    let site = place.path().join("site");
    let mut command = Command::new(python().join("pip"));
    command.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", "--target"]);
    command.arg(&site).arg(&wheels[0]);
    succeed(command);
    let mut command = Command::new(python().join("python"));
    command.arg("-Werror").arg(folder().join("client.py")).arg(&site);
    demand_answers(&succeed(command));
}

#[test]
fn a_crate_is_a_dependency_and_gives_the_evaluators_bits() {
    let place = library("crate");
    let client = fs::read_to_string(folder().join("client.rs")).expect("the client is there");
    let own = client.replace("mod functions;\n", "");
    assert_ne!(own, client);
    let manifest = "[package]\nname = \"client\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
                    functions = { path = \"../functions\" }\n";
    fs::create_dir_all(place.path().join("client/src")).expect("the folder can be written");
    fs::write(place.path().join("client/Cargo.toml"), manifest).expect("the folder can be written");
    fs::write(place.path().join("client/src/main.rs"), own).expect("the folder can be written");
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--offline", "--manifest-path"]).arg(place.path().join("client/Cargo.toml"));
    command.arg("--target-dir").arg(place.path().join("target"));
    demand_answers(&succeed(command));
}

/// One context that is not given back, with its heap and what its stack uses, is more than a page, and there are 600.
#[test]
fn a_python_process_does_not_grow() {
    let place = library("shared");
    let mut command = Command::new(python().join("python"));
    command.arg("-Werror").arg(folder().join("leaks.py")).arg(place.path());
    let printed = succeed(command).output;
    let pages: i64 = printed.trim().parse().expect("a number");
    assert!(pages < 400, "{pages} pages");
}

/// What `shards.py` prints on so many ranks, on this machine only.
fn ranks(count: usize, what: &str, folder_of_library: &Path) -> Vec<String> {
    let mut command = Command::new(python().join("mpiexec"));
    command.args(["-n", &count.to_string(), "-hosts", "localhost", "-iface", "lo"]).arg(python().join("python"));
    command.arg(folder().join("shards.py")).arg(folder_of_library).arg(what);
    let mut lines: Vec<String> = succeed(command).output.lines().map(str::to_string).collect();
    lines.sort();
    lines
}

#[test]
fn gradients_have_the_same_bits_on_one_rank_and_on_several() {
    let place = library("shared");
    let mut command = Command::new(python().join("python"));
    command.arg(folder().join("shards.py")).arg(place.path()).arg("local");
    let local = succeed(command).output.trim_end().to_string();
    assert_eq!(local.len(), 64);
    for count in [1, 2, 3] {
        assert_eq!(ranks(count, "succeed", place.path()), vec![local.clone(); count], "{count} ranks");
    }
}

#[test]
fn a_rank_that_fails_lets_nobody_wait() {
    let place = library("shared");
    let said = ranks(2, "fail", place.path());
    let cause = "RuntimeError: the file of this shard is missing";
    assert_eq!(said, [format!("rank 0 of 2: Error: rank 1 failed: {cause}"), format!("rank 1 of 2: {cause}")]);
    // So does one that leaves, which in Python is no error.
    let said = ranks(2, "leave", place.path());
    let cause = "SystemExit: there is nothing to do";
    assert_eq!(said, [format!("rank 0 of 2: Error: rank 1 failed: {cause}"), format!("rank 1 of 2: {cause}")]);
    let said = ranks(2, "differ", place.path());
    let cause = "ValueError: ranks add up different numbers of shards: [13, 12]";
    assert_eq!(said, [format!("rank 0 of 2: {cause}"), format!("rank 1 of 2: {cause}")]);
}

#[test]
fn the_documentation_does_what_it_says() {
    for page in ["README.md", "docs/libraries.md", "docs/distributed.md", "docs/from-cpp.md"] {
        commands_do_what_is_said(page, &[python()]);
    }
}

#[test]
fn the_name_of_a_library_is_a_name() {
    let built =
        run_command(vlad(&["build", "--lib", "static", "-o", "no-name"], &folder().join("functions.vlad")), "", LIMIT);
    assert_eq!(built.code, Some(2));
    let message = "error[V0854]: `no-name` is no name for a library\n |\n = help: names of functions begin with it: `-o NAME`, of \
                   letters, digits and underscores\n";
    assert_eq!(built.messages, message);
}

/// Also where the compiler itself needs names for files.
#[test]
fn a_library_can_have_any_name() {
    let place = common::folder(&[]);
    let program = place.path().join("named.vlad");
    fs::write(&program, "(define (f x) (exp x))\n(export f ((x real)))\n").expect("the folder can be written");
    for name in ["program", "runtime", "math", "kept", "renamed", "vlad_library"] {
        for kind in ["static", "shared"] {
            let output = place.path().join(name).display().to_string();
            succeed(vlad(&["build", "--lib", kind, "-o", &output], &program));
        }
        assert!(place.path().join(format!("lib{name}.so")).exists());
    }
}

/// A new library beside the header of an old one is worse than none.
#[test]
fn if_one_file_of_a_library_cannot_be_written_none_is() {
    for (kind, ending) in [("shared", "pyi"), ("static", "h")] {
        let place = common::folder(&[]);
        let obstacle = place.path().join("functions").with_extension(ending);
        fs::create_dir(&obstacle).expect("the folder can be written");
        let output = place.path().join("functions").display().to_string();
        let arguments = ["build", "--lib", kind, "-o", &output];
        let built = run_command(vlad(&arguments, &folder().join("functions.vlad")), "", LIMIT);
        assert_eq!(built.code, Some(1));
        let message = format!("error[V0805]: cannot write `{}`\n |\n = note: this is a folder\n", obstacle.display());
        assert_eq!(built.messages, message);
        assert_eq!(names(place.path()), [format!("functions.{ending}")]);
    }
}

#[test]
fn there_are_no_libraries_for_other_machines() {
    let place = common::folder(&[]);
    let output = place.path().join("functions").display().to_string();
    for kind in ["static", "shared"] {
        let arguments = ["build", "--lib", kind, "--target", "arm64", "-o", &output];
        let built = run_command(vlad(&arguments, &folder().join("functions.vlad")), "", LIMIT);
        assert_eq!(built.code, Some(1));
        let message =
            "error[V0801]: cannot generate code for this machine: libraries are made for x86_64, not for aarch64\n";
        assert!(built.messages.starts_with(message), "{}", built.messages);
        assert_eq!(names(place.path()), [""; 0]);
    }
}

#[test]
fn stubs_are_python() {
    let place = library("shared");
    let mut command = Command::new(python().join("python"));
    let program = "import ast, sys; print(ast.dump(ast.parse(open(sys.argv[1]).read())))";
    command.args(["-c", program]).arg(place.path().join("functions.pyi"));
    let parsed = succeed(command).output;
    assert!(parsed.contains("name='_energy_gradient'") && parsed.contains("AnnAssign"), "{parsed}");
}

/// A search that takes some tenths of a second, and adds shards.
const SEARCH: &str = "\
(define (work x i)
  (let loop ((k 0) (s x)) (if (< k 20000) (loop (+ k 1) (+ (sin s) (* 1e-3 i))) s)))
(define (objective v)
  (let ((a (vector-ref v 0)) (b (vector-ref v 1)))
    (+ (expt (- 1 a) 2) (* 100 (expt (- b (* a a)) 2)) (* 1e-6 (sum-over 8 (lambda (i) (work (+ a b) i)))))))
(define found (minimise by-bfgs objective #(-1.2 1)))
(found-place found)
(found-value found)
";

/// The process with that name among those that a process has started, and those that these have.
fn descendant(of: u32, name: &str, choice: usize) -> Option<u32> {
    let [mut waiting, mut found] = [vec![of], Vec::new()];
    while let Some(process) = waiting.pop() {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        let children = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
        let children: Vec<u32> = children.collect::<String>().split_whitespace().flat_map(str::parse).collect();
        for child in children {
            if fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|text| text.trim_end() == name) {
                found.push(child);
            }
            waiting.push(child);
        }
    }
    found.get(choice % found.len().max(1)).copied()
}

/// Ranks, and the processes that help them, are killed; whoever goes on, on however many ranks, finds the same.
#[test]
fn executables_on_ranks_that_are_killed_end_and_go_on() {
    let place = common::folder(&[("search.vlad", SEARCH)]);
    let program = place.path().join("search");
    succeed(vlad(&["build", "--native", "-o", &program.display().to_string()], &place.path().join("search.vlad")));
    let whole = succeed(Command::new(&program)).output;
    let state = place.path().join("state");
    let mut kills = 0;
    for attempt in 0..40 {
        let mut command = Command::new(python().join("mpiexec"));
        command.args(["-n", &(1 + attempt % 4).to_string(), "-hosts", "localhost", "-iface", "lo"]).arg(&program);
        command.args(["--checkpoint", "state", "--checkpoint-every", "0s"]).current_dir(place.path());
        command.args(if state.exists() { &["--resume", "state"][..] } else { &[] });
        command.env("VLAD_THREADS_FROM", "0").stdout(Stdio::piped()).stderr(Stdio::piped());
        let launcher = command.spawn().expect("MPICH is there");
        std::thread::sleep(Duration::from_millis(100 + 37 * attempt));
        if let Some(process) = descendant(launcher.id(), "search", attempt as usize).filter(|_| kills < 8) {
            kills += 1;
            let mut command = Command::new("kill");
            command.args(["-9", &process.to_string()]);
            let _ = run_command(command, "", LIMIT);
        }
        let begun = Instant::now();
        let output = launcher.wait_with_output().expect("it ends");
        if output.status.success() {
            assert_eq!(String::from_utf8_lossy(&output.stdout), whole);
            if kills == 8 {
                return;
            }
            let _ = fs::remove_file(&state);
        } else {
            assert!(begun.elapsed() < Duration::from_secs(10));
        }
    }
    panic!("it does not get to its end");
}
