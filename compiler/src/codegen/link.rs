//! Linking: object code and the embedded run time → executable or library.
//!
//! Executables and shared libraries are linked by the compiler itself ([`elf`]), so that nothing has to be installed
//! for them. Where the environment names a C compiler (`$CC`), or the machine is one that [`elf`] does not know, the
//! driver of the C compiler links, as it does static libraries: their callers have a C compiler anyway.
//!
//! Most of the time that starting takes the loader spends with the libraries that an executable needs, and the names
//! that it uses of them, which are some thirty: so they are few. Only programs that call elementary functions get the C
//! library's mathematical part (on machines without fused multiply-add, that is where it comes from), and nothing
//! needs the C compiler's shared library.
//!
//! The executable is written under a temporary name in its own folder and renamed when it is complete, so a failed
//! build leaves nothing behind and never harms a file that was there before.

use crate::codegen::runtimes::{self, RunTime};
use crate::codegen::target::Target;
use crate::codegen::{Error, Machine, Object, elf};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;

/// What names of the run time that callers of a library call begin with; the name of the library takes its place.
const INTERFACE: &str = "vlad_library";

/// The functions of the run time that callers of a library call.
const INTERFACE_FUNCTIONS: [&str; 5] = ["abi_version", "context_new", "context_free", "message", "memory"];

/// The run time for a machine.
fn run_time(machine: Machine) -> Result<&'static RunTime, Error> {
    let architecture = match machine {
        Machine::Host => std::env::consts::ARCH.to_string(),
        Machine::Other(target) => target.processor.to_string(),
    };
    runtimes::find(&architecture).ok_or(Error::NoRunTime { architecture })
}

/// The C compiler that the environment names. The variable may hold arguments after the name.
pub(super) fn named_driver() -> Option<Vec<String>> {
    let words = std::env::var("CC").unwrap_or_default();
    let words: Vec<String> = words.split_whitespace().map(str::to_string).collect();
    if words.is_empty() { None } else { Some(words) }
}

/// What a program needs besides the run time.
#[derive(Clone, Copy, Debug)]
pub(super) struct With {
    /// Elementary functions.
    pub(super) math: bool,
    /// Kernels.
    pub(super) kernels: bool,
    /// What debuggers are told.
    pub(super) description: bool,
    /// The machine that it is for.
    pub(super) machine: Machine,
}

/// Links the object with the run time into the executable `output`.
pub fn executable(object: &Object, output: &Path) -> Result<(), Error> {
    uninterrupted(|| match embedded(object) {
        Some(target) => {
            let kind = elf::Output::Executable { loader: target.loader() };
            let bytes = link_here(object, target, run_time(object.machine)?.executable, kind)?;
            replace(output, |unfinished| write_executable(unfinished, &bytes, output))
        }
        None => {
            let (math, kernels, description) = (object.has_math, object.has_kernels, object.is_described);
            let with = With { math, kernels, description, machine: object.machine };
            driven_executable(driver(), ("program.o", &object.bytes), with, output)
        }
    })
}

/// The machine of an object, if the compiler itself links for it.
fn embedded(object: &Object) -> Option<Target> {
    let target = match object.machine {
        Machine::Host => Target::own(),
        Machine::Other(target) => Some(target),
    };
    target.filter(|_| named_driver().is_none())
}

/// Links with the linker of the compiler.
fn link_here(object: &Object, target: Target, runtime: &[u8], kind: elf::Output) -> Result<Vec<u8>, Error> {
    let RunTime { kernels, math, .. } = run_time(object.machine)?;
    let mut objects = vec![&object.bytes[..], runtime];
    if object.has_kernels {
        objects.push(kernels);
    }
    let inputs = elf::Inputs { objects: &objects, archives: if object.has_math { &[math] } else { &[] } };
    let linked = elf::link(target.processor, inputs, kind);
    linked.map_err(|message| Error::Bug { name: "the linked file".to_string(), message })
}

/// Writes a file that may be executed by those who may read it, and has that name in the end.
fn write_executable(path: &Path, bytes: &[u8], name: &Path) -> Result<(), Error> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o777);
    let written = options.open(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|cause| Error::Write { path: name.to_path_buf(), cause })
}

/// Lets a command make the executable `output` of a file and the run time.
pub(super) fn executable_with(
    command: Command,
    program: (&str, &[u8]),
    with: With,
    output: &Path,
) -> Result<(), Error> {
    uninterrupted(|| driven_executable(command, program, with, output))
}

fn driven_executable(command: Command, program: (&str, &[u8]), with: With, output: &Path) -> Result<(), Error> {
    let folder = tempfile::Builder::new()
        .prefix("vlad-")
        .tempdir()
        .map_err(|cause| Error::Write { path: std::env::temp_dir(), cause })?;
    let runtime = run_time(with.machine)?;
    let mut parts = vec![program, ("runtime.o", runtime.executable)];
    let mut libraries = vec!["-lpthread"];
    if with.math {
        parts.push(("math.a", runtime.math));
        libraries.push("-lm");
    }
    if with.kernels {
        parts.push(("kernels.o", runtime.kernels));
    }
    let mut objects = Vec::new();
    for (name, bytes) in parts {
        let path = folder.path().join(name);
        fs::write(&path, bytes).map_err(|cause| Error::Write { path: path.clone(), cause })?;
        objects.push(path);
    }
    replace(output, |unfinished| link(command, &objects, &libraries, with.description, unfinished))
}

/// A kind of library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryKind {
    /// An archive.
    Static,
    /// A shared object.
    Shared,
}

/// Links the object code of a library of that name, with `functions` (their names in C), into the file `output`, and
/// writes the texts `beside` it. If one of these files cannot be made, all stay as they were.
///
/// Everything becomes one object file whose other symbols are local, so that several libraries fit into one program.
pub fn library(
    object: &Object,
    name: &str,
    functions: &[String],
    kind: LibraryKind,
    output: &Path,
    beside: &[(PathBuf, String)],
) -> Result<(), Error> {
    uninterrupted(|| {
        let unfinished = Unfinished::begin(output)?;
        let mut texts = Vec::new();
        for (path, text) in beside {
            let file = Unfinished::begin(path)?;
            fs::write(&file.path, text).map_err(|cause| Error::Write { path: path.clone(), cause })?;
            texts.push(file);
        }
        link_library(object, name, functions, kind, output, &unfinished.path)?;
        unfinished.finish()?;
        texts.into_iter().try_for_each(Unfinished::finish)
    })
}

fn link_library(
    object: &Object,
    name: &str,
    functions: &[String],
    kind: LibraryKind,
    output: &Path,
    unfinished: &Path,
) -> Result<(), Error> {
    if let (LibraryKind::Shared, Some(target)) = (kind, embedded(object)) {
        let own = functions.iter().map(|function| (function.clone(), function.clone()));
        let interface = INTERFACE_FUNCTIONS.iter();
        let interface = interface.map(|function| (format!("{INTERFACE}_{function}"), format!("{name}_{function}")));
        let exports: Vec<(String, String)> = own.chain(interface).collect();
        let shared = elf::Output::Shared { name: &format!("lib{name}.so"), exports: &exports };
        let bytes = link_here(object, target, run_time(object.machine)?.library, shared)?;
        return write_executable(unfinished, &bytes, output);
    }
    let folder = tempfile::Builder::new()
        .prefix("vlad-")
        .tempdir()
        .map_err(|cause| Error::Write { path: std::env::temp_dir(), cause })?;
    let write = |file: &str, bytes: &[u8]| {
        let path = folder.path().join(file);
        fs::write(&path, bytes).map_err(|cause| Error::Write { path: path.clone(), cause }).map(|()| path)
    };
    let runtime = run_time(object.machine)?;
    // No library has a name with a hyphen, so none of these is the result.
    let mut parts = vec![write("its-program.o", &object.bytes)?, write("its-runtime.o", runtime.library)?];
    if object.has_math {
        parts.push(write("its-math.a", runtime.math)?);
    }
    if object.has_kernels {
        parts.push(write("its-kernels.o", runtime.kernels)?);
    }
    let renamed: String =
        INTERFACE_FUNCTIONS.iter().map(|function| format!("{INTERFACE}_{function} {name}_{function}\n")).collect();
    let kept: String = functions
        .iter()
        .cloned()
        .chain(INTERFACE_FUNCTIONS.iter().map(|function| format!("{name}_{function}")))
        .map(|function| function + "\n")
        .collect();
    let (renamed, kept) = (write("renamed", renamed.as_bytes())?, write("kept", kept.as_bytes())?);
    let whole = folder.path().join(format!("{name}.o"));
    let mut command = driver();
    run(command.args(["-r", "-nostdlib", "-o"]).arg(&whole).args(&parts))?;
    let mut command = Command::new("objcopy");
    command.args(strip(object.is_described)).arg(argument("--keep-global-symbols=", &kept));
    run(command.arg(argument("--redefine-syms=", &renamed)).arg(&whole))?;
    match kind {
        LibraryKind::Static => run(Command::new("ar").args(["rcsD"]).arg(unfinished).arg(&whole)),
        LibraryKind::Shared => {
            let mut command = driver();
            command.args(["-shared", "-o"]).arg(unfinished).arg(&whole);
            command.arg(format!("-Wl,-soname,lib{name}.so")).args(["-Wl,--gc-sections", "-static-libgcc"]);
            run(command.args(["-Wl,--no-undefined", "-lm", "-lc"]))
        }
    }
}

fn argument(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}

/// How many parts of the compiler have unfinished files.
static UNFINISHED: AtomicUsize = AtomicUsize::new(0);

/// Lets signals that end the process wait until what `work` leaves behind has been removed.
pub fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    static SIGNALS: LazyLock<(Arc<AtomicBool>, Arc<AtomicUsize>)> = LazyLock::new(|| {
        let (may_end, signalled) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // Where there are no signals, nothing interrupts.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, may_end.clone());
            let _ = flag::register_usize(signal, signalled.clone(), signal as usize);
        }
        (may_end, signalled)
    });
    let (may_end, signalled) = &*SIGNALS;
    UNFINISHED.fetch_add(1, Ordering::SeqCst);
    may_end.store(false, Ordering::SeqCst);
    let result = work();
    if UNFINISHED.fetch_sub(1, Ordering::SeqCst) == 1 {
        may_end.store(true, Ordering::SeqCst);
        match signalled.load(Ordering::SeqCst) {
            0 => {}
            signal => std::process::exit(128 + signal as i32),
        }
    }
    result
}

/// Lets `make` write a file under a temporary name next to `output`, then gives it its name. What is there and is no
/// file, such as a device, is written to instead.
pub fn replace(output: &Path, make: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    uninterrupted(|| replace_now(output, make))
}

fn replace_now(output: &Path, make: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let file = Unfinished::begin(output)?;
    make(&file.path)?;
    file.finish()
}

/// A file under a temporary name, until it is complete.
struct Unfinished {
    output: PathBuf,
    path: PathBuf,
    /// A folder, because the linker may leave parts of its output behind when it fails.
    _folder: TempDir,
}

impl Unfinished {
    fn begin(output: &Path) -> Result<Unfinished, Error> {
        let unwritable = |cause: io::Error| Error::Write { path: output.to_path_buf(), cause };
        let name = output.file_name().ok_or_else(|| unwritable(io::Error::other("this is not the name of a file")))?;
        if output.is_dir() {
            return Err(unwritable(io::Error::other("this is a folder")));
        }
        let parent = match output.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !parent.is_dir() {
            return Err(unwritable(io::Error::other(format!("there is no folder `{}`", parent.display()))));
        }
        let folder = if is_device(output) {
            tempfile::tempdir()
        } else {
            let mut prefix = OsString::from(".");
            prefix.push(name);
            tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)
        };
        let folder = folder.map_err(|cause| unwritable(cause.kind().into()))?;
        Ok(Unfinished { output: output.to_path_buf(), path: folder.path().join(name), _folder: folder })
    }

    fn finish(self) -> Result<(), Error> {
        let finished = if is_device(&self.output) {
            let write = |bytes: Vec<u8>| fs::OpenOptions::new().write(true).open(&self.output)?.write_all(&bytes);
            fs::read(&self.path).and_then(write)
        } else {
            fs::rename(&self.path, &self.output)
        };
        finished.map_err(|cause| Error::Write { path: self.output.clone(), cause })
    }
}

/// Whether there is something which is no file, and so cannot be replaced.
fn is_device(output: &Path) -> bool {
    output.metadata().is_ok_and(|metadata| !metadata.is_file())
}

fn link(
    mut command: Command,
    objects: &[PathBuf],
    libraries: &[&str],
    is_described: bool,
    output: &Path,
) -> Result<(), Error> {
    command.arg("-o").arg(output).args(objects).arg("-Wl,--gc-sections");
    command.args(strip(is_described).map(|option| format!("-Wl,{option}")));
    run(command.arg("-static-libgcc").args(libraries))
}

/// What leaves out what debuggers are told, where it is not asked for.
fn strip(is_described: bool) -> Option<&'static str> {
    (!is_described).then_some("--strip-debug")
}

fn driver() -> Command {
    let words = named_driver().unwrap_or_else(|| vec!["cc".to_string()]);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

fn run(command: &mut Command) -> Result<(), Error> {
    let result = command.output().map_err(|cause| {
        let words = [command.get_program()].into_iter().chain(command.get_args().take_while(|arg| *arg != "-o"));
        let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
        Error::NoLinker { command: words.join(" "), cause }
    })?;
    if !result.status.success() {
        let mut text = String::from_utf8_lossy(&result.stderr).into_owned();
        text.push_str(&String::from_utf8_lossy(&result.stdout));
        return Err(Error::Linker { command: format!("{command:?}"), output: text });
    }
    Ok(())
}
