//! The kernel for notebooks: what it is installed as, what evaluates its cells, and what a client of Jupyter gets.
//!
//! The last needs the Python packages ipykernel and jupyter_client, which pip installs into `target/python-jupyter`;
//! where it cannot, that test says that it was skipped.

use crate::{folder, run, vlad};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// A folder with a program that is taken for a Python with all packages.
fn with_python() -> TempDir {
    let folder = folder(&[("python", "#!/bin/sh\necho /some/python\n")]);
    let python = folder.path().join("python");
    fs::set_permissions(python, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    folder
}

/// `vlad jupyter install` in the folder, with variables and further arguments.
fn install(folder: &TempDir, variables: &[(&str, &str)], arguments: &[&str]) -> crate::Outcome {
    let mut command = crate::common::vlad(&["jupyter", "install"]);
    command.args(arguments).current_dir(folder).env("HOME", folder.path().join("home"));
    command.env_remove("JUPYTER_DATA_DIR").env_remove("XDG_DATA_HOME");
    for (name, place) in variables {
        command.env(name, folder.path().join(place));
    }
    run(command, "")
}

#[test]
fn the_kernel_is_installed_where_jupyter_looks() {
    for (variables, arguments, place) in [
        (&[][..], &[][..], "home/.local/share/jupyter"),
        (&[("XDG_DATA_HOME", "data")], &[], "data/jupyter"),
        (&[("XDG_DATA_HOME", "data"), ("JUPYTER_DATA_DIR", "own")], &[], "own"),
        (&[("JUPYTER_DATA_DIR", "own")], &["--prefix", "environment"], "environment/share/jupyter"),
    ] {
        let folder = with_python();
        let (code, output, messages) = install(&folder, variables, &[&["--python", "./python"], arguments].concat());
        assert_eq!((code, messages.as_str()), (Some(0), ""), "{output}");
        let file = folder.path().join(place).join("kernels/vlad/kernel.json");
        let text = fs::read_to_string(file).expect("it was written");
        let spec: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!((&spec["display_name"], &spec["language"]), (&"VLAD".into(), &"vlad".into()));
        let command: Vec<&str> = spec["argv"].as_array().expect("a list").iter().filter_map(|a| a.as_str()).collect();
        assert_eq!(command[1..], ["jupyter", "run", "--python", "/some/python", "{connection_file}"]);
        assert!(Path::new(command[0]).is_absolute(), "{command:?}");
    }
}

#[test]
fn a_kernel_that_could_not_run_is_not_installed() {
    let folder = with_python();
    fs::write(folder.path().join("file"), "").expect("files can be written");
    for (arguments, expected) in [
        (&["--python", "./no-python"][..], "cannot run `./no-python`"),
        (&["--python", "false"], "`false` does not have the package ipykernel"),
        (&["--python", "./python", "--prefix", "file"], "cannot write `file/share/jupyter/kernels/vlad/kernel.json`"),
    ] {
        let (code, output, messages) = install(&folder, &[], arguments);
        assert_eq!((code, output.as_str()), (Some(2), ""));
        assert!(messages.starts_with("error[V0858]") && messages.contains(expected), "{messages}");
    }
    assert!(!folder.path().join("home").exists(), "nothing is left behind");
}

#[test]
fn cells_are_evaluated_one_after_another() {
    let folder = folder(&[]);
    let requests = [
        r#"{"execute": "; Squares.\n(define (square x) (* x x))"}"#,
        r#"{"execute": "(square 3)"}"#,
        r#"{"execute": "(square y)"}"#,
        r#"{"execute": "(define (square x) (* x x x)) (square 3)"}"#,
        r#"{"execute": "(write-file \"a.svg\" (lambda () (write 1)))"}"#,
        r#"{"inspect": "square"}"#,
        r#"{"inspect": "nothing-of-that-name"}"#,
        r#"{"complete": "squ"}"#,
        r#"{"is_complete": "(f (g 1)"}"#,
        r#"{"is_complete": "(f 1))"}"#,
        r#"{"is_complete": ":load file"}"#,
        r#"{"unknown": 1}"#,
    ];
    let (code, output, messages) = vlad(&folder, &["jupyter", "serve"], &(requests.join("\n") + "\n"));
    assert_eq!(code, Some(0), "{messages}");
    let answers: Vec<&str> = output.split('\n').map(|line| line.trim_start_matches("\u{2}vlad\u{3}")).collect();
    assert_eq!(
        answers,
        [
            r#"{"files":[],"has_value":false,"status":"ok"}"#,
            "9",
            r#"{"files":[],"has_value":true,"status":"ok"}"#,
            r#"{"files":[],"has_value":false,"status":"error"}"#,
            "27",
            r#"{"files":[],"has_value":true,"status":"ok"}"#,
            "1",
            r#"{"files":["a.svg"],"has_value":true,"status":"ok"}"#,
            r#"{"text":"(square x)"}"#,
            r#"{"text":null}"#,
            r#"{"names":["square"]}"#,
            r#"{"status":"incomplete"}"#,
            r#"{"status":"invalid"}"#,
            r#"{"status":"complete"}"#,
            "{}",
            ""
        ]
    );
    let said: Vec<&str> = messages.split("\u{2}vlad\u{3}").collect();
    assert_eq!(said.len(), requests.len() + 1);
    assert!(said[2].starts_with("error[V0201]: `y` is not defined"), "{messages}");
    assert_eq!(vlad(&folder, &["jupyter", "serve"], "no JSON\n").0, Some(2));
    assert_eq!(vlad(&folder, &["jupyter", "run", "no-file"], "").0, Some(2));
}

/// A Python with what clients of Jupyter need, if pip can install that.
fn python() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/python-jupyter");
    let python = std::env::var_os("VLAD_JUPYTER_PYTHON").map_or(place.join("bin/python"), PathBuf::from);
    let has_packages = |python: &Path| {
        let output = Command::new(python).args(["-c", "import ipykernel, jupyter_client"]).output();
        output.is_ok_and(|output| output.status.success())
    };
    if !has_packages(&python) {
        let _ = Command::new("python3").args(["-m", "venv"]).arg(&place).output();
        let pip = ["install", "--quiet", "--disable-pip-version-check", "ipykernel", "jupyter_client"];
        let _ = Command::new(place.join("bin/pip")).args(pip).output();
    }
    has_packages(&python).then_some(python)
}

#[test]
fn clients_of_jupyter_get_results_images_and_messages() {
    let Some(python) = python() else {
        eprintln!("SKIPPED: no Python with ipykernel and jupyter_client, and pip cannot install them");
        return;
    };
    let folder = folder(&[]);
    let own = [("JUPYTER_DATA_DIR", "data")];
    let installed = install(&folder, &own, &["--python", &python.display().to_string()]);
    assert_eq!(installed.0, Some(0), "{installed:?}");
    let mut command = Command::new(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/jupyter.py")).current_dir(&folder);
    command.env("JUPYTER_DATA_DIR", folder.path().join("data")).env("JUPYTER_RUNTIME_DIR", folder.path().join("run"));
    command.env("HOME", folder.path());
    let outcome = crate::common::run_command(command, "", Duration::from_secs(300));
    assert_eq!(outcome.code, Some(0), "{}\n{}", outcome.output, outcome.messages);
    insta::assert_snapshot!(outcome.output);
}
