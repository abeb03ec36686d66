//! The run times that the compiler contains: what its build script has compiled, by the processors that it is for.
//!
//! One is for the machine that the compiler was built for. Others are there if `VLAD_TARGETS` was set then.

/// What programs for a family of processors are linked with.
#[derive(Debug)]
pub struct RunTime {
    /// The family, as the first part of a target's name.
    pub architecture: &'static str,
    /// The run time of executables, an object file.
    pub executable: &'static [u8],
    /// That of libraries, an object file.
    pub library: &'static [u8],
    /// The kernels, an object file.
    pub kernels: &'static [u8],
    /// The elementary functions, an archive.
    pub math: &'static [u8],
}

const RUN_TIMES: &[RunTime] = include!(concat!(env!("OUT_DIR"), "/runtimes.rs"));

/// The run time for a family of processors.
pub fn find(architecture: &str) -> Option<&'static RunTime> {
    RUN_TIMES.iter().find(|runtime| runtime.architecture == architecture)
}
