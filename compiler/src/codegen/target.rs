//! The machine to generate code for: the one that the compiler runs on. Code for others can only be looked at, since
//! the run time that the compiler embeds is for its own machine.

use crate::codegen::processor::EXTENSIONS;
use crate::codegen::{Error, Machine, Options};
use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};

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

/// Refuses what the embedded run time cannot be linked with.
///
/// # Errors
///
/// When the code would be for another machine, or would be a library where the run time knows no contexts: it changes
/// stacks by itself, which is written for x86-64 only.
pub fn demand_linkable(options: &Options) -> Result<(), Error> {
    let (wanted, own) = (isa(options)?.triple().architecture, std::env::consts::ARCH);
    if options.library && wanted.to_string() != "x86_64" {
        return Err(Error::Target(format!("libraries are made for x86_64, not for {wanted}")));
    }
    if wanted.to_string() != own {
        return Err(Error::Target(format!("the run time of this compiler is for {own}, not for {wanted}")));
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
    if options.library {
        // It holds the address of the context, see the run time's `library`.
        flags.set("enable_pinned_reg", "true").map_err(|error| Error::Target(error.to_string()))?;
    }
    let builder = match options.machine {
        Machine::Host => cranelift_native::builder_with_options(options.native_cpu).map_err(str::to_string),
        Machine::X86_64 => isa::lookup_by_name("x86_64-unknown-linux-gnu").map_err(|error| error.to_string()),
        Machine::Arm64 => isa::lookup_by_name("aarch64-unknown-linux-gnu").map_err(|error| error.to_string()),
    };
    let builder = builder.map_err(Error::Target)?;
    builder.finish(settings::Flags::new(flags)).map_err(|error| Error::Target(error.to_string()))
}
