//! Executables and libraries that the compiler links by itself: what they need, that nothing has to be installed for
//! them, and what tools for ELF files find in them.

mod common;

use common::{folder, names, run_command};
use object::elf;
use object::read::elf::{Dynamic, ElfFile64, ProgramHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

type File<'d> = ElfFile64<'d, LittleEndian>;

const LIMIT: Duration = Duration::from_secs(120);

/// Reads, computes with elementary functions and with kernels, recurs deeply, and prints texts.
const PROGRAM: &str = "\
(define n (read-real))
(define (sum k) (if (= k 0) 0 (+ k (sum (- k 1)))))
(sum (* n 100000))
((derivative (lambda (x) (* (sin x) (expt x 2.5) (exp (- x)) (floor x)))) (/ n 4))
(linear-solve #(#(4 1) #(1 3)) (vector 1 n))
\"done\"
";
const INPUT: &str = "7\n";
const OUTPUT: &str = "\
245000350000
0.17140020361940966
#(-0.36363636363636365 2.4545454545454546)
\"done\"
";

/// `vlad` in a folder, without a way to any other program.
fn alone(arguments: &[&str], folder: &Path) -> Command {
    let mut command = common::vlad(arguments);
    command.current_dir(folder).env("PATH", "");
    command
}

fn succeed(command: Command, input: &str) -> String {
    let outcome = run_command(command, input, LIMIT);
    assert_eq!(outcome.code, Some(0), "{}", outcome.messages);
    outcome.output
}

/// The bytes of the executable that the compiler makes of a program, with further arguments.
fn built(program: &str, arguments: &[&str]) -> Vec<u8> {
    let place = folder(&[("program.vlad", program)]);
    let arguments = [&["build", "program.vlad"], arguments].concat();
    succeed(alone(&arguments, place.path()), "");
    fs::read(place.path().join("program")).expect("it was built")
}

#[test]
fn programs_are_built_and_run_without_a_c_compiler() {
    let place = folder(&[("program.vlad", PROGRAM)]);
    assert_eq!(succeed(alone(&["run", "program.vlad"], place.path()), INPUT), OUTPUT);
    succeed(alone(&["build", "program.vlad"], place.path()), "");
    assert_eq!(names(place.path()), ["program", "program.vlad"]);
    let mut program = Command::new(place.path().join("program"));
    program.env_clear();
    assert_eq!(succeed(program, INPUT), OUTPUT);
}

#[test]
fn a_c_compiler_that_is_named_links() {
    let place = folder(&[("program.vlad", PROGRAM)]);
    let mut command = common::vlad(&["build", "program.vlad"]);
    command.current_dir(place.path()).env("CC", "cc");
    succeed(command, "");
    assert_eq!(succeed(Command::new(place.path().join("program")), INPUT), OUTPUT);
    let bytes = fs::read(place.path().join("program")).expect("it was built");
    let file = File::parse(&*bytes).expect("the C compiler makes ELF files");
    assert!(file.section_by_name(".comment").is_some(), "made by the compiler itself");
}

#[test]
fn memory_is_protected() {
    let bytes = built(PROGRAM, &[]);
    let file = File::parse(&*bytes).expect("it is an ELF file");
    let endian = LittleEndian;
    assert_eq!(file.kind(), object::ObjectKind::Dynamic);
    let flags = |kind: u32| {
        let found = file.elf_program_headers().iter().filter(move |header| header.p_type(endian) == kind);
        found.map(|header| header.p_flags(endian)).collect::<Vec<_>>()
    };
    let (read, write, execute) = (elf::PF_R, elf::PF_W, elf::PF_X);
    assert_eq!(flags(elf::PT_LOAD), [read, read | execute, read | write]);
    assert_eq!(flags(elf::PT_GNU_STACK), [read | write]);
    assert_eq!(flags(elf::PT_GNU_RELRO), [read]);
    let address = |name: &str| file.section_by_name(name).expect("it is there").address();
    let protected = file.elf_program_headers().iter().find(|header| header.p_type(endian) == elf::PT_GNU_RELRO);
    let protected = protected.map(|header| header.p_vaddr(endian)..header.p_vaddr(endian) + header.p_memsz(endian));
    let protected = protected.expect("it is there");
    assert!(protected.contains(&address(".got")) && protected.contains(&address(".data.rel.ro")));
    assert!(!protected.contains(&address(".data")) && protected.end % 4096 == 0);
    let table = file.elf_dynamic_table().expect("it can be read");
    let flags = table.iter().find(|row| row.tag == elf::DT_FLAGS_1);
    assert_eq!(flags.map(|row| row.val), Some(u64::from(elf::DF_1_NOW | elf::DF_1_PIE)));
}

#[test]
fn what_is_not_needed_is_left_out() {
    let names = |program: &str| {
        let bytes = built(program, &[]);
        let file = File::parse(&*bytes).expect("it is an ELF file");
        let names = file.symbols().filter_map(|symbol| symbol.name().ok().map(str::to_string));
        (names.collect::<Vec<_>>(), bytes.len())
    };
    let (small, size) = names("(+ 1 2)\n");
    let has = |names: &[String], name: &str| names.iter().any(|symbol| symbol == name);
    assert!(has(&small, "vlad_main") && has(&small, "vlad_start"), "{small:?}");
    assert!(!small.iter().any(|name| name.starts_with("vlad_kernel_") || name.contains("cr_")), "{small:?}");
    assert!(size < 200_000, "{size}");
    let (larger, _) = names(PROGRAM);
    assert!(has(&larger, "vlad_sin_cos") && has(&larger, "vlad_kernel_lu"), "{larger:?}");
    assert!(!has(&larger, "vlad_tgamma") && !has(&larger, "vlad_kernel_fourier"), "{larger:?}");
}

#[test]
fn executables_need_the_c_library_only() {
    const KNOWN: &str = "__errno_location __libc_start_main _exit abort aligned_alloc bcmp clock_gettime close exit \
        feclearexcept fegetexceptflag fegetround feholdexcept feraiseexcept fesetexceptflag fetestexcept feupdateenv \
        floor fma fmax fmin free fsync ftruncate getenv isatty kill ldexp lseek madvise memcmp memcpy memmove memset \
        mmap mprotect munmap open printf pthread_attr_init pthread_attr_setstack pthread_create pthread_join \
        pthread_sigmask puts read rename rint round sigaction sigaltstack signgam sqrt strerror strlen sysconf \
        unlink write";
    let every = "(define x (read-real))\n(map (lambda (f) (f x)) (list acos asin atan cos cosh erf erfc exp expm1 \
        log-gamma log log1p sin sinh tan tanh gamma floor round sqrt))\n(expt x x)\n(atan x x)\n";
    for (program, libraries) in [("1\n", &["libc.so.6"][..]), (every, &["libm.so.6", "libc.so.6"])] {
        let bytes = built(program, &[]);
        let file = File::parse(&*bytes).expect("it is an ELF file");
        let imports: Vec<&str> = file.dynamic_symbols().filter_map(|symbol| symbol.name().ok()).collect();
        assert!(imports.contains(&"__libc_start_main"), "{imports:?}");
        let unknown = imports.iter().filter(|name| !KNOWN.split(' ').any(|known| known == **name));
        assert_eq!(unknown.collect::<Vec<_>>(), [&""; 0]);
        assert_eq!(needed(&file), libraries);
    }
}

/// The libraries that a file needs.
fn needed<'d>(file: &File<'d>) -> Vec<&'d str> {
    let table = file.elf_dynamic_table().expect("it can be read");
    let rows = table.iter().filter(|row| row.tag == elf::DT_NEEDED);
    let strings = file.section_by_name(".dynstr").and_then(|section| section.data().ok()).expect("it is there");
    let name = |row: Dynamic| {
        let name = strings[row.val as usize..].split(|byte| *byte == 0).next();
        std::str::from_utf8(name.expect("it has an end")).expect("it is a name")
    };
    rows.map(name).collect()
}

#[test]
fn the_table_of_unwind_information_is_in_order() {
    let bytes = built(PROGRAM, &[]);
    let file = File::parse(&*bytes).expect("it is an ELF file");
    let section = |name: &str| {
        let section = file.section_by_name(name).expect("it is there");
        (section.address(), section.size(), section.data().expect("it can be read"))
    };
    let ((start, _, table), (code, length, _), (records, ..)) =
        (section(".eh_frame_hdr"), section(".text"), section(".eh_frame"));
    let word = |at: usize| i64::from(i32::from_le_bytes(table[at..at + 4].try_into().expect("four bytes")));
    assert_eq!(start as i64 + 4 + word(4), records as i64);
    let rows: Vec<(i64, i64)> = (12..table.len()).step_by(8).map(|at| (word(at), word(at + 4))).collect();
    assert!(rows.len() as i64 == word(8) && rows.len() > 50, "{}", rows.len());
    assert!(rows.is_sorted());
    let functions: Vec<u64> = file.symbols().map(|symbol| symbol.address()).collect();
    for (function, record) in rows {
        let function = start.wrapping_add_signed(function);
        assert!((code..code + length).contains(&function) && functions.contains(&function), "{function:x}");
        // The record says which function it is about, relative to where that stands.
        let record = start.wrapping_add_signed(record);
        let (_, _, bytes) = section(".eh_frame");
        let at = (record - records) as usize + 8;
        let relative = i32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        assert_eq!((record + 8).wrapping_add_signed(i64::from(relative)), function);
    }
}

#[test]
fn shared_libraries_are_built_without_a_c_compiler() {
    let place = folder(&[("model.vlad", "(define (f x) (* (sin x) x))\n(export (gradient f x) ((x real)))\n")]);
    succeed(alone(&["build", "--lib", "shared", "model.vlad"], place.path()), "");
    let bytes = fs::read(place.path().join("libmodel.so")).expect("it was built");
    let file = File::parse(&*bytes).expect("it is an ELF file");
    let exports = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let mut exports: Vec<&str> = exports.filter_map(|symbol| symbol.name().ok()).collect();
    exports.sort_unstable();
    let own = ["abi_version", "context_free", "context_new", "f", "f_gradient", "memory", "message"];
    assert_eq!(exports, own.map(|name| format!("model_{name}")));
    // Who has only the library can call it.
    let caller = "import ctypes, sys\nf = ctypes.CDLL('./libmodel.so').model_abi_version\nprint(f() > 0)\n";
    let mut python = Command::new("python3");
    python.args(["-c", caller]).current_dir(place.path());
    assert_eq!(succeed(python, ""), "True\n");
}

#[test]
fn a_library_that_has_to_be_archived_needs_tools() {
    let place = folder(&[("model.vlad", "(define (f x) x)\n(export f ((x real)))\n")]);
    let outcome = run_command(alone(&["build", "--lib", "static", "model.vlad"], place.path()), "", LIMIT);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.messages.starts_with("error[V0803]: cannot run the linker `cc"), "{}", outcome.messages);
    assert_eq!(names(place.path()), ["model.vlad"]);
}

#[test]
fn the_loader_is_that_of_the_target() {
    let loaders = [("gnu", "/lib64/ld-linux-x86-64.so.2"), ("musl", "/lib/ld-musl-x86_64.so.1")];
    for (library, loader) in loaders {
        let bytes = built("(exp 1)\n", &["--target", &format!("x86_64-unknown-linux-{library}")]);
        let file = File::parse(&*bytes).expect("it is an ELF file");
        let section = file.section_by_name(".interp").expect("it is there");
        assert_eq!(section.data().ok(), Some([loader.as_bytes(), &[0]].concat().as_slice()));
    }
}

#[test]
fn unknown_targets_are_wrong_usage() {
    let place = folder(&[("program.vlad", "1\n")]);
    for target in ["riscv64gc-unknown-linux-gnu", "x86_64-apple-darwin", "x86_64-unknown-linux-gnux32", "toaster", ""] {
        let outcome = run_command(alone(&["build", "program.vlad", "--target", target], place.path()), "", LIMIT);
        assert_eq!(outcome.code, Some(2), "{target}");
        assert!(outcome.messages.contains("aarch64-unknown-linux-musl"), "{}", outcome.messages);
        assert_eq!(names(place.path()), ["program.vlad"]);
    }
}
