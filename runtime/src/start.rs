//! The beginning and the end of a compiled program.
//!
//! Exit codes: 0, 1 when the program is at fault or has a result that is not finite and must be, 2 when its arguments
//! are wrong, 130 when it is interrupted, 143 when it is told to end (SIGTERM), 3 when memory or stack is exhausted.
//! With `VLAD_REPORT_MEMORY` set in the environment, the program says at its end how many boxes are still alive and how
//! much memory boxes took; with `VLAD_REPORT_USE`, how much processor time it took, and how much memory for boxes and
//! in all.

#[cfg(all(vlad_archive, not(test)))]
use crate::{command_line::USAGE, processor};
use crate::{heap, memory, output, ranks, shards, system, terminal, trace, watch};
use core::ffi::{c_int, c_void};
use core::fmt::Write;

/// The exit code of a run-time error.
pub const FAULT: c_int = 1;
/// The exit code when memory or stack is exhausted.
pub const EXHAUSTED: c_int = 3;

/// Ends the program with a message.
pub fn fail(message: &[u8]) -> ! {
    output::write_error(message);
    finish(FAULT)
}

/// Ends the program with a message.
///
/// # Safety
///
/// `message` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_fail(message: *const u8, length: usize) -> ! {
    // SAFETY: the caller's obligation.
    fail(unsafe { core::slice::from_raw_parts(message, length) })
}

/// The same for an error in a function of the program with that frame: behind the message stand the calls that led there,
/// see [`trace::write_callers`].
///
/// # Safety
///
/// `message` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_fail_within(message: *const u8, length: usize, frame: usize, place: u64) -> ! {
    // SAFETY: the caller's obligation.
    output::write_error(unsafe { core::slice::from_raw_parts(message, length) });
    trace::write_callers(place, frame);
    finish(FAULT)
}

/// Ends the program without writing out what standard output still has in its buffer.
pub fn leave(code: c_int) -> ! {
    shards::demand_program();
    shards::end_workers();
    output::forget_file();
    watch::write_report(code);
    system::exit_process(ranks::leave(code))
}

/// Ends the program with an exit code, after its output is written out.
pub fn finish(code: c_int) -> ! {
    output::flush();
    terminal::end_line();
    if system::environment(b"VLAD_REPORT_MEMORY\0").is_some() {
        let (live, bytes) = census();
        let _ = writeln!(output::Stderr, "memory: {live} boxes live, {bytes} bytes at most");
    }
    if system::environment(b"VLAD_REPORT_USE\0").is_some() {
        let (nanoseconds, (_, boxes), peak) = (system::processor_time(), census(), memory::peak());
        let _ = writeln!(output::Stderr, "use: {nanoseconds} ns, {boxes} bytes of boxes, {peak} bytes in all");
    }
    leave(code)
}

fn census() -> (u64, u64) {
    // SAFETY: the program's own thread asks.
    unsafe { heap::census(memory::vlad_heap.get()) }
}

#[cfg(all(vlad_archive, not(test)))]
unsafe extern "C" {
    /// The compiled program.
    fn vlad_main();
    /// Gives up the values of all globals.
    fn vlad_release_globals();
    /// A mark, and the extensions of the processor that the program may use.
    static vlad_needed_processor: [u64; 2];
}

/// Where the compiled program is in memory.
pub fn program_address() -> usize {
    #[cfg(all(vlad_archive, not(test)))]
    return vlad_main as *const () as usize;
    #[cfg(not(all(vlad_archive, not(test))))]
    0
}

/// Ends the program if the processor lacks what the program was compiled for.
#[cfg(all(vlad_archive, not(test)))]
fn demand_processor() {
    // SAFETY: the code generator defines it, and it never changes.
    let needed = unsafe { vlad_needed_processor[1] };
    if needed == 0 {
        return;
    }
    let mut missing = processor::missing(needed, processor::available()).peekable();
    if missing.peek().is_none() {
        return;
    }
    output::raw_error(b"error: this program was compiled with --native-cpu for a processor with ");
    for (index, name) in missing.enumerate() {
        output::raw_error(if index == 0 { b"" } else { b", " });
        output::raw_error(name.as_bytes());
    }
    output::raw_error(b", which this one has not\nhelp: compile it on this machine, or without --native-cpu\n");
    leave(USAGE)
}

#[cfg(all(vlad_archive, not(test)))]
extern "C" fn program(_: *mut c_void) -> *mut c_void {
    terminal::catch_interruptions();
    // SAFETY: the code generator defines these functions, and the second one runs after the first one.
    unsafe {
        vlad_main();
        if system::environment(b"VLAD_REPORT_MEMORY\0").is_some() {
            vlad_release_globals();
        }
    }
    match output::fault() {
        None => finish(0),
        Some(fault) => {
            output::flush();
            terminal::end_line();
            let _ = write!(output::Stderr, "{fault}");
            finish(FAULT)
        }
    }
}

/// The function that the C library calls.
#[cfg(all(vlad_archive, not(test)))]
#[unsafe(no_mangle)]
pub extern "C" fn main(count: c_int, words: *const *const core::ffi::c_char) -> c_int {
    ignore_closed_pipes();
    // The program's own thread gets interruptions.
    terminal::INTERRUPTIONS.into_iter().for_each(system::keep_away);
    crate::command_line::initialise(count, words);
    terminal::initialise();
    watch::initialise();
    output::initialise();
    demand_processor();
    crate::memory::initialise();
    crate::stack::run(program);
    0
}

/// Where an executable begins that the compiler has linked itself: what is at the start of those that the C compiler
/// links. `main` is called by the C library, which gets the arguments from the stack and from a register that function
/// of the loader's which is to be called at the end.
#[cfg(all(vlad_archive, not(test), target_arch = "x86_64"))]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_start() -> ! {
    core::arch::naked_asm!(
        "xor ebp, ebp",
        "mov r9, rdx",
        "pop rsi",
        "mov rdx, rsp",
        "and rsp, -16",
        "push rax",
        "push rsp",
        "xor r8d, r8d",
        "xor ecx, ecx",
        "lea rdi, [rip + {main}]",
        "call {start}@PLT",
        "ud2",
        main = sym main,
        start = sym __libc_start_main,
    )
}

/// The same for AArch64.
#[cfg(all(vlad_archive, not(test), target_arch = "aarch64"))]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_start() -> ! {
    core::arch::naked_asm!(
        "mov x29, #0",
        "mov x30, #0",
        "mov x5, x0",
        "ldr x1, [sp]",
        "add x2, sp, #8",
        "mov x6, sp",
        "adrp x0, {main}",
        "add x0, x0, :lo12:{main}",
        "mov x3, #0",
        "mov x4, #0",
        "bl {start}",
        "brk #1",
        main = sym main,
        start = sym __libc_start_main,
    )
}

#[cfg(all(vlad_archive, not(test)))]
unsafe extern "C" {
    /// The C library's beginning: prepares itself and calls `main`.
    fn __libc_start_main();
}

/// Lets writing to a closed pipe fail instead of killing the process.
pub fn ignore_closed_pipes() {
    let ignore = system::SigAction { handler: system::SIG_IGN, mask: [0; 16], flags: 0, restorer: 0 };
    // SAFETY: the structure is complete.
    unsafe { system::sigaction(system::SIGPIPE, &ignore, core::ptr::null_mut()) };
}

/// What a program without the code generator's functions would run; keeps the types checked.
#[cfg(not(all(vlad_archive, not(test))))]
pub fn finish_empty(_: *mut c_void) -> ! {
    finish(0)
}
