//! The machine to generate code for: the one that the compiler runs on, or another one that it has a run time for. Code
//! for any can be looked at.

use crate::codegen::elf::Processor;
use crate::codegen::processor::EXTENSIONS;
use crate::codegen::{Error, Machine, Options, runtimes};
use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use std::fmt;
use std::str::FromStr;
use target_lexicon::{Aarch64Architecture, Architecture, Environment, OperatingSystem, Triple};

/// A C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CLibrary {
    /// GNU's.
    Gnu,
    /// That of Alpine Linux, for instance.
    Musl,
}

/// A machine with Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The family of its processor.
    pub processor: Processor,
    /// Its C library, which is there when a program starts.
    pub library: CLibrary,
}

/// All of them.
const TARGETS: [Target; 4] = [
    Target { processor: Processor::X86_64, library: CLibrary::Gnu },
    Target { processor: Processor::X86_64, library: CLibrary::Musl },
    Target { processor: Processor::Aarch64, library: CLibrary::Gnu },
    Target { processor: Processor::Aarch64, library: CLibrary::Musl },
];

impl Target {
    /// The machine that the compiler runs on, if it is one of these.
    pub fn own() -> Option<Target> {
        let processor = match (std::env::consts::OS, std::env::consts::ARCH) {
            ("linux", "x86_64") => Processor::X86_64,
            ("linux", "aarch64") => Processor::Aarch64,
            _ => return None,
        };
        let library = if cfg!(target_env = "musl") { CLibrary::Musl } else { CLibrary::Gnu };
        Some(Target { processor, library })
    }

    /// The machine with that name: a target triple, or a family of processors alone.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn parse(name: &str) -> Result<Target, String> {
        let found = match name {
            "x86-64" => Some(TARGETS[0]),
            "arm64" => Some(TARGETS[2]),
            _ => Triple::from_str(name).ok().and_then(|triple| Target::of(&triple)),
        };
        found.ok_or_else(|| {
            let names: Vec<String> = TARGETS.iter().map(Target::to_string).collect();
            format!("programs can be made for {}", names.join(", "))
        })
    }

    fn of(triple: &Triple) -> Option<Target> {
        let processor = match triple.architecture {
            Architecture::X86_64 => Processor::X86_64,
            Architecture::Aarch64(Aarch64Architecture::Aarch64) => Processor::Aarch64,
            _ => return None,
        };
        let library = match (triple.operating_system, triple.environment) {
            (OperatingSystem::Linux, Environment::Gnu) => CLibrary::Gnu,
            (OperatingSystem::Linux, Environment::Musl) => CLibrary::Musl,
            _ => return None,
        };
        Some(Target { processor, library })
    }

    /// What loads executables: where the C library puts its own loader.
    pub fn loader(self) -> &'static str {
        match (self.processor, self.library) {
            (Processor::X86_64, CLibrary::Gnu) => "/lib64/ld-linux-x86-64.so.2",
            (Processor::X86_64, CLibrary::Musl) => "/lib/ld-musl-x86_64.so.1",
            (Processor::Aarch64, CLibrary::Gnu) => "/lib/ld-linux-aarch64.so.1",
            (Processor::Aarch64, CLibrary::Musl) => "/lib/ld-musl-aarch64.so.1",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let library = match self.library {
            CLibrary::Gnu => "gnu",
            CLibrary::Musl => "musl",
        };
        write!(f, "{}-unknown-linux-{library}", self.processor)
    }
}

/// Settings of Cranelift, with the reason for each that is not obvious.
const SETTINGS: &[(&str, &str)] = &[
    // What it would optimise has been; and it would undo the order that `opt::schedule` chose.
    ("opt_level", "none"),
    // Executables are position independent on most systems; such code also links where they are not.
    ("is_pic", "true"),
    // Demanded by tail calls; also lets profilers walk the stack.
    ("preserve_frame_pointers", "true"),
    ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    // The run time opens the stack page by page on demand and leaves a wide guard at its end.
    ("enable_probestack", "false"),
    ("unwind_info", "false"),
    ("log2_min_function_alignment", "4"),
];

/// What differs for functions that the usual register allocator takes too long for.
const QUICK: &[(&str, &str)] = &[("regalloc_algorithm", "single_pass")];

/// The target.
pub fn isa(options: &Options) -> Result<OwnedTargetIsa, Error> {
    with_settings(options, SETTINGS.iter())
}

/// The same, with the register allocator that looks at each instruction once.
pub fn quick(options: &Options) -> Result<OwnedTargetIsa, Error> {
    with_settings(options, SETTINGS.iter().chain(QUICK))
}

/// Refuses what the compiler has nothing to link with.
///
/// # Errors
///
/// When there is no run time for the machine, or the code would be a library of another machine than the compiler's,
/// or for one where the run time knows no contexts: it changes stacks by itself, which is written for x86-64 only.
pub fn demand_linkable(options: &Options) -> Result<(), Error> {
    let wanted = isa(options)?.triple().architecture.to_string();
    if options.library && wanted != "x86_64" {
        return Err(Error::Target(format!("libraries are made for x86_64, not for {wanted}")));
    }
    if let (true, Machine::Other(target)) = (options.library, options.machine)
        && Target::own() != Some(target)
    {
        return Err(Error::Target(format!("libraries are made on the machine that they are for, not for {target}")));
    }
    if runtimes::find(&wanted).is_none() {
        return Err(Error::NoRunTime { architecture: wanted });
    }
    Ok(())
}

/// The extensions of the processor that the code may use beside those that all have, by their bits in
/// [`EXTENSIONS`]; none unless the code is for the processor of this machine only.
pub fn needed_processor(options: &Options, isa: &dyn TargetIsa) -> u64 {
    if !options.native_cpu {
        return 0;
    }
    let flags = isa.isa_flags();
    let is_on = |name: &str| flags.iter().any(|flag| flag.name == name && flag.as_bool() == Some(true));
    EXTENSIONS.iter().enumerate().filter(|(_, row)| is_on(row.0)).fold(0, |needed, (bit, _)| needed | 1 << bit)
}

fn with_settings(
    options: &Options,
    settings: impl Iterator<Item = &'static (&'static str, &'static str)>,
) -> Result<OwnedTargetIsa, Error> {
    let mut flags = settings::builder();
    for (name, value) in settings {
        flags.set(name, value).map_err(|error| Error::Target(format!("{name}: {error}")))?;
    }
    if options.debug {
        // Code does not change by that, but how to find its callers is kept.
        flags.set("unwind_info", "true").map_err(|error| Error::Target(error.to_string()))?;
    }
    if options.library {
        // It holds the address of the context, see the run time's `library`.
        flags.set("enable_pinned_reg", "true").map_err(|error| Error::Target(error.to_string()))?;
    }
    let builder = match options.machine {
        Machine::Host => cranelift_native::builder_with_options(options.native_cpu).map_err(str::to_string),
        Machine::Other(target) => isa::lookup_by_name(&target.to_string()).map_err(|error| error.to_string()),
    };
    let builder = builder.map_err(Error::Target)?;
    builder.finish(settings::Flags::new(flags)).map_err(|error| Error::Target(error.to_string()))
}
