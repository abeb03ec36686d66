//! Running compiled programs without linking a whole executable for each of them.
//!
//! The real run time is linked once, into a *host*: an executable whose `vlad_main` loads a shared object and calls the
//! `vlad_main` in there. The object code of a program becomes such a shared object by one call of `ld`, which reads no
//! library and takes a few milliseconds. Machine code, run time, process, signals and exit code are those of an
//! ordinary executable.

use super::common::{Outcome, run_command};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vlad_runtime.o"));
const KERNELS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vlad_kernels.o"));
const MATH: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libvlad_math.a"));

const HOST: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
const unsigned long long vlad_needed_processor[2] = {0, 0};
static void *program;
static void call(const char *name) {
    void (*function)(void) = (void (*)(void)) dlsym(program, name);
    if (!function) { fputs(dlerror(), stderr); abort(); }
    function();
}
void vlad_main(void) {
    program = dlopen(getenv("VLAD_RANDOM_PROGRAM"), RTLD_NOW);
    if (!program) { fputs(dlerror(), stderr); abort(); }
    call("vlad_main");
}
void vlad_release_globals(void) { call("vlad_release_globals"); }
"#;

/// A folder with the host, and room for one program at a time.
pub struct Host {
    folder: PathBuf,
}

impl Host {
    /// Builds the host.
    pub fn build(folder: &Path) {
        let file = |name: &str| folder.join(name);
        fs::write(file("host.c"), HOST).expect("temporary files can be written");
        fs::write(file("runtime.o"), RUNTIME).expect("temporary files can be written");
        fs::write(file("kernels.o"), KERNELS).expect("temporary files can be written");
        fs::write(file("math.a"), MATH).expect("temporary files can be written");
        let mut command = Command::new("cc");
        command.arg("-rdynamic").arg(file("host.c")).arg(file("runtime.o")).arg(file("kernels.o"));
        command.arg("-o").arg(file("host"));
        // The elementary functions are for the programs.
        command.arg("-Wl,--whole-archive").arg(file("math.a")).arg("-Wl,--no-whole-archive");
        command.args(["-lm", "-lpthread", "-ldl"]);
        assert!(command.status().is_ok_and(|status| status.success()), "the host of programs can be linked");
    }

    /// Uses the host in this folder.
    pub fn in_folder(folder: &Path) -> Host {
        Host { folder: folder.to_path_buf() }
    }

    /// Runs a program given as object code.
    ///
    /// # Errors
    ///
    /// When it cannot be linked.
    pub fn run(&self, object: &[u8], input: &str, limit: Duration) -> Result<Outcome, String> {
        // Workers share the folder.
        let file = |ending: &str| self.folder.join(format!("{}.{ending}", std::process::id()));
        let (object_file, program) = (file("o"), file("so"));
        fs::write(&object_file, object).expect("temporary files can be written");
        let mut linker = Command::new("ld");
        linker.arg("-shared").arg(&object_file).arg("-o").arg(&program);
        let linked = run_command(linker, "", limit);
        if linked.code != Some(0) {
            return Err(format!("`ld` fails: {:?} {}", linked.code, linked.messages));
        }
        let mut command = Command::new(self.folder.join("host"));
        command.env("VLAD_RANDOM_PROGRAM", &program).env("VLAD_REPORT_MEMORY", "1").env("VLAD_MAX_MEMORY", "2G");
        Ok(run_command(command, input, limit))
    }
}
