//! The program `vlad`; see [`vlad::cli`].

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The passes make and drop small vectors by the million: the system's allocator took a quarter of the compile time.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: all memory comes from `MiMalloc`, and a failure ends the process.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligation.
        some(unsafe { MiMalloc.alloc(layout) })
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's obligation.
        some(unsafe { MiMalloc.alloc_zeroed(layout) })
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's obligation.
        some(unsafe { MiMalloc.realloc(memory, layout, size) })
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's obligation.
        unsafe { MiMalloc.dealloc(memory, layout) }
    }
}

fn some(memory: *mut u8) -> *mut u8 {
    if memory.is_null() { exhausted() } else { memory }
}

const EXHAUSTED: &[u8] = b"error[V0311]: out of memory: the system refuses more\n\
    help: the program may be too large, or the limit of the process (`ulimit -v`) too low\n";

/// Ends the process with exit code 3. Nothing here takes memory.
#[cold]
fn exhausted() -> ! {
    // There is nowhere to say that standard error cannot be written.
    let _ = std::io::stderr().write_all(EXHAUSTED);
    signal_hook::low_level::exit(3)
}

/// Whether standard output was closed when the process began. The standard library opens another file in its place
/// before `main`, which takes what is written as if somebody read it.
static IS_OUTPUT_CLOSED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn fcntl(file: i32, command: i32, ...) -> i32;
}

const GET_FLAGS: i32 = 1;
const SET_FLAGS: i32 = 2;
const CLOSE_ON_EXEC: i32 = 1;

/// Runs before the standard library does.
extern "C" fn look_at_output() {
    // SAFETY: always sound.
    let is_closed = unsafe { fcntl(1, GET_FLAGS) } == -1;
    IS_OUTPUT_CLOSED.store(is_closed, Ordering::Relaxed);
}

#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static LOOK_AT_OUTPUT: extern "C" fn() = look_at_output;

fn main() -> ExitCode {
    if IS_OUTPUT_CLOSED.load(Ordering::Relaxed) {
        // A program that takes the place of this one finds it closed as well.
        // SAFETY: always sound.
        unsafe { fcntl(1, SET_FLAGS, CLOSE_ON_EXEC) };
        vlad::cli::output_is_closed();
    }
    vlad::cli::main()
}
