//! The linker within the compiler: object files → an executable or a shared library, as the bytes of an ELF file.
//!
//! Its inputs are few and known: the object file of the program, that of the run time, the kernels, and an archive of
//! elementary functions. Functions of the C library are bound when the program starts, so nothing of the C library
//! has to be there when it is linked: neither its development files nor the library itself.
//!
//! | module | task |
//! |---|---|
//! | [`input`] | reads object files, takes from archives what is asked for, knows who defines which name |
//! | [`live`] | which sections the result needs, and what their relocations refer to |
//! | [`unwind`] | the unwind information of what is needed, and a table to search it by |
//! | [`layout`] | sections, segments and addresses |
//! | [`dynamic`] | what the loader reads: names, their hash table, relocations |
//! | [`relocate`] | what each kind of relocation needs and writes, for each machine |
//! | [`debug`] | what debuggers are told of the program |
//! | [`write`](mod@write) | the file |
//!
//! What holds: results are position independent, and equal for equal inputs. Sections that nothing refers to are left
//! out. All that the loader fills in is filled in before the program starts, and write-protected from then on (RELRO,
//! `BIND_NOW`). The table of symbols stays, for profilers and debuggers, and of debug information that of the first
//! file, which is the program.
//!
//! Imported names have no versions, so that executables run with any C library that has the names: the functions that
//! the run time calls have never changed what they do.
//!
//! Deliberately not done: merging of equal constants, thread-local data, constructors, indirect functions, static
//! executables. An input that has one of these is refused.
//!
//! Tests: `compiler/tests/linking.rs`.

pub mod debug;
pub mod dynamic;
pub mod input;
pub mod layout;
pub mod live;
pub mod relocate;
pub mod unwind;
pub mod write;

/// A family of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processor {
    /// x86-64.
    X86_64,
    /// AArch64, with the lowest byte first.
    Aarch64,
}

impl std::fmt::Display for Processor {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Processor::X86_64 => "x86_64",
            Processor::Aarch64 => "aarch64",
        })
    }
}

/// What is linked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs<'d> {
    /// Object files: they may be needed as a whole, and are searched in this order.
    pub objects: &'d [&'d [u8]],
    /// Archives, of which the members are taken that define what is asked for.
    pub archives: &'d [&'d [u8]],
}

/// What is made.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// An executable.
    Executable {
        /// The program that the system starts in its place, which loads the C library and then the executable.
        loader: &'a str,
    },
    /// A shared library.
    Shared {
        /// What programs that are linked with it look for.
        name: &'a str,
        /// The functions that callers see: their names in the object files, and outside.
        exports: &'a [(String, String)],
    },
}

/// The function that an executable begins with.
pub const ENTRY: &str = "vlad_start";

/// Links.
///
/// # Errors
///
/// When an input is not what this linker knows, which is a mistake of the compiler or of how it was built.
pub fn link(processor: Processor, inputs: Inputs, output: Output) -> Result<Vec<u8>, String> {
    let files = input::Files::read(processor, inputs)?;
    let roots = match output {
        Output::Executable { .. } => vec![ENTRY],
        Output::Shared { exports, .. } => exports.iter().map(|(name, _)| name.as_str()).collect(),
    };
    let live = live::Live::find(processor, &files, &roots)?;
    let frames = unwind::Frames::of(&files, &live)?;
    let linkage = dynamic::Linkage::new(&live, output);
    let layout = layout::Layout::new(processor, &live, &frames, &linkage)?;
    write::file(processor, &files, &live, &frames, &linkage, layout)
}
