//! The machine to generate code for: the one that the compiler runs on.

use crate::codegen::{Error, Options};
use cranelift_codegen::isa::OwnedTargetIsa;
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
    let builder = cranelift_native::builder_with_options(options.native_cpu)
        .map_err(|message| Error::Target(message.to_string()))?;
    builder.finish(settings::Flags::new(flags)).map_err(|error| Error::Target(error.to_string()))
}
