//! The peers: where they come from, how they are built, and how each is started.
//!
//! ```text
//! PEERS/gradbench      GradBench: its evals, and its programs for the tools in C++ and Python
//! PEERS/json           what these need to read JSON
//! PEERS/codipack       a library, headers only
//! PEERS/adol-c         a library, built into PEERS/adol-c/out
//! PEERS/python         a virtual environment, with what pip installs
//! ```
//!
//! What has once been had is not fetched or built again: a file NAME.done says so. Libraries have the versions that
//! GradBench's own images have; packages of Python are the newest, and the table says which these are.

use crate::Result;
use crate::build;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A repository at one of its commits.
struct Source {
    folder: &'static str,
    url: &'static str,
    commit: &'static str,
}

const GRADBENCH: Source = Source {
    folder: "gradbench",
    url: "https://github.com/gradbench/gradbench",
    commit: "f26651a7bcc120654fa895adecaf371b8cc059c5",
};
const JSON: Source = Source {
    folder: "json",
    url: "https://github.com/nlohmann/json",
    // 3.11.3
    commit: "9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03",
};
const CODIPACK: Source = Source {
    folder: "codipack",
    url: "https://github.com/SciCompKL/CoDiPack",
    // 2.3.1
    commit: "02b10b6b8c1dc7868b97fc36a512ff1ef65cfff4",
};
const ADOL_C: Source = Source {
    folder: "adol-c",
    url: "https://github.com/coin-or/ADOL-C",
    // 2.7.2
    commit: "0e8f8a62715b7f71f05cbb3b371157aef5d24f94",
};

/// How a peer is had and started.
enum Kind {
    /// A program for each eval in GradBench's `tools`, perhaps with a library.
    Cpp(Option<&'static Source>),
    /// A program in GradBench's `python` that answers messages, run by `peers/NAME_tool.py`, and the package that it
    /// needs.
    Messages(&'static str),
    /// A script `peers/NAME_evals.py`, for these evals, and the packages that it needs.
    Script(&'static [&'static str], &'static [&'static str]),
}

/// A tool beside ours.
pub struct Peer {
    /// Its name, which is that of its folder.
    pub name: &'static str,
    /// What the table says about its version.
    version: &'static str,
    kind: Kind,
}

/// All peers.
pub const PEERS: &[Peer] = &[
    Peer { name: "manual", version: "derivatives by hand", kind: Kind::Cpp(None) },
    Peer { name: "codipack", version: "CoDiPack 2.3.1", kind: Kind::Cpp(Some(&CODIPACK)) },
    Peer { name: "adol-c", version: "ADOL-C 2.7.2", kind: Kind::Cpp(Some(&ADOL_C)) },
    Peer { name: "jax", version: "", kind: Kind::Messages("jax") },
    Peer { name: "casadi", version: "", kind: Kind::Script(&["gmm", "lse", "llsq", "ode"], &["casadi"]) },
    Peer { name: "enzyme-ad", version: "", kind: Kind::Script(&["gmm", "lse", "llsq", "ode"], &["enzyme-ad", "jax"]) },
];

/// How a peer is started for an eval; the function and the input are still to be told.
pub struct Start {
    /// The program.
    pub program: PathBuf,
    /// What comes before input and function.
    pub arguments: Vec<PathBuf>,
    /// Variables.
    pub environment: Vec<(String, String)>,
    /// The module, where the program answers messages.
    pub module: Option<String>,
}

/// Makes what all peers need: GradBench, and a Python that can run its evals.
pub fn prepare(peers: &Path) -> Result<()> {
    std::fs::create_dir_all(peers).map_err(|error| format!("{}: {error}", peers.display()))?;
    fetch(&GRADBENCH, peers)?;
    once("python", peers, || {
        run(Command::new("python3").args(["-m", "venv", "python"]).current_dir(peers))?;
        install(&["numpy", "scipy", "pydantic", "dataclasses-json"], peers)
    })
}

impl Peer {
    /// One of the peers.
    pub fn find(name: &str) -> Result<&'static Peer> {
        PEERS.iter().find(|peer| peer.name == name).ok_or_else(|| format!("there is no peer `{name}`"))
    }

    /// Fetches, builds or installs it, and says which version it is.
    pub fn have(&self, peers: &Path) -> Result<String> {
        match &self.kind {
            Kind::Cpp(library) => {
                if let Some(library) = library {
                    fetch(library, peers)?;
                }
                once(&format!("{}-programs", self.name), peers, || self.build(peers))?;
                Ok(self.version.into())
            }
            Kind::Messages(package) => install_once(self.name, &[package], peers),
            Kind::Script(_, packages) => install_once(self.name, packages, peers),
        }
    }

    /// Builds the library and the programs. Those that cannot be built are missed when they are to be started.
    fn build(&self, peers: &Path) -> Result<()> {
        fetch(&JSON, peers)?;
        let header = peers.join("json/single_include/nlohmann/json.hpp");
        let copy = peers.join("gradbench/cpp/json.hpp");
        std::fs::copy(&header, &copy).map_err(|error| format!("{}: {error}", header.display()))?;
        if self.name == ADOL_C.folder {
            let folder = peers.join(ADOL_C.folder);
            let prefix = format!("--prefix={}", folder.join("out").display());
            run(Command::new("./configure").args(["--enable-sparse", &prefix]).current_dir(&folder))?;
            // The files that configure reads are those of the release, though a checkout makes all of the same age.
            let tools = ["ACLOCAL", "AUTOCONF", "AUTOMAKE", "AUTOHEADER"].map(|tool| format!("{tool}=:"));
            run(Command::new("make").args(["-j2", "install"]).args(tools).current_dir(&folder))?;
        }
        let folder = peers.join("gradbench/tools").join(self.name);
        let mut make = Command::new("make");
        make.args(["-j2", "--keep-going"]).envs(self.environment(peers)).current_dir(&folder);
        run(&mut make).map(drop).or_else(|error| if folder.join("bin").exists() { Ok(()) } else { Err(error) })
    }

    /// How it is started for an eval.
    pub fn start(&self, eval: &str, peers: &Path) -> Result<Start> {
        let environment = self.environment(peers);
        let python = peers.join("python/bin/python");
        let script = |of: &str| build::folder().join("peers").join(format!("{}_{of}.py", self.name));
        let absent = || "-".to_owned();
        match &self.kind {
            Kind::Cpp(_) => {
                let folder = peers.join("gradbench/tools").join(self.name);
                let program = folder.join("bin").join(eval);
                let source = folder.join(eval).with_extension("cpp");
                if program.exists() {
                    Ok(Start { program, arguments: Vec::new(), environment, module: None })
                } else if source.exists() {
                    Err("not built".into())
                } else {
                    Err(absent())
                }
            }
            Kind::Messages(_) => {
                let folder = peers.join("gradbench/python/gradbench/gradbench/tools").join(self.name);
                if !folder.join(eval).with_extension("py").exists() {
                    return Err(absent());
                }
                let arguments = vec![script("tool"), folder.join("run.py")];
                Ok(Start { program: python, arguments, environment, module: Some(eval.into()) })
            }
            Kind::Script(evals, _) if evals.contains(&eval) => {
                Ok(Start { program: python, arguments: vec![script("evals"), eval.into()], environment, module: None })
            }
            Kind::Script(..) => Err(absent()),
        }
    }

    fn environment(&self, peers: &Path) -> Vec<(String, String)> {
        let pair = |name: &str, value: &Path| (name.to_owned(), value.display().to_string());
        let folder = peers.join(self.name);
        match &self.kind {
            Kind::Cpp(None) => Vec::new(),
            Kind::Cpp(Some(library)) if library.folder == ADOL_C.folder => vec![
                pair("CPATH", &folder.join("out/include")),
                pair("LIBRARY_PATH", &folder.join("out/lib64")),
                pair("LD_LIBRARY_PATH", &folder.join("out/lib64")),
            ],
            Kind::Cpp(Some(_)) => vec![pair("CPATH", &folder.join("include"))],
            Kind::Messages(_) | Kind::Script(..) => vec![
                pair("PYTHONPATH", &peers.join("gradbench/python/gradbench")),
                ("JAX_PLATFORMS".into(), "cpu".into()),
                ("OMP_NUM_THREADS".into(), "1".into()),
            ],
        }
    }
}

/// Does what has not been done yet.
fn once(name: &str, peers: &Path, step: impl FnOnce() -> Result<()>) -> Result<()> {
    let done = peers.join(format!("{name}.done"));
    if !done.exists() {
        step()?;
        std::fs::write(&done, "").map_err(|error| format!("{}: {error}", done.display()))?;
    }
    Ok(())
}

fn fetch(source: &Source, peers: &Path) -> Result<()> {
    once(source.folder, peers, || {
        let folder = peers.join(source.folder);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let git = |arguments: &[&str]| run(Command::new("git").args(arguments).current_dir(&folder)).map(drop);
        git(&["init", "--quiet"])?;
        git(&["fetch", "--quiet", "--depth", "1", source.url, source.commit])?;
        git(&["checkout", "--quiet", "--force", "FETCH_HEAD"])
    })
}

/// Installs packages once, and says which version of the first one is there.
fn install_once(name: &str, packages: &[&str], peers: &Path) -> Result<String> {
    once(name, peers, || install(packages, peers))?;
    let first = packages.first().copied().unwrap_or(name);
    let program = format!("import importlib.metadata as m; print(m.version('{first}'))");
    let version = run(Command::new(peers.join("python/bin/python")).args(["-c", &program]));
    Ok(format!("{first} {}", version?.trim()))
}

fn install(packages: &[&str], peers: &Path) -> Result<()> {
    let mut pip = Command::new(peers.join("python/bin/python"));
    run(pip.args(["-m", "pip", "install", "--quiet"]).args(packages)).map(drop)
}

/// Runs a command to its end; what it prints, or the last of its complaints.
fn run(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = complaints.lines().rev().find(|line| !line.trim().is_empty());
    Err(format!("{program}: {}", last.unwrap_or(&output.status.to_string())))
}
