//! The stack that compiled code runs on.
//!
//! Recursion in VLAD may be as deep as there is memory. The program therefore runs on a thread of its own, whose stack
//! is a large reserved range of addresses. Only its upper end is open at first; touching the next page below raises a
//! signal, whose handler (on a stack of its own) asks for memory ([`crate::memory`]) and opens another piece, or ends
//! the program with a message. No code needs to check for overflow.

use crate::cell::Single;
use crate::memory::{self, Use};
use crate::system::{self, SigAction, SigStack, ThreadAttributes};
use crate::{output, start};
use core::ffi::{c_int, c_void};
use core::ptr;

/// Address space to reserve, halved until the system agrees.
const LARGEST: usize = 256 << 30;
const SMALLEST: usize = 8 << 20;
/// Open from the beginning.
const OPEN: usize = 1 << 20;
/// Never opened: a single frame may jump over this many bytes and still be caught.
const GUARD: usize = 1 << 20;
/// Pieces in which the stack grows while it is small.
const PIECE: usize = 1 << 20;
/// From this size on it grows by a quarter of its size, on large pages: first touching memory in small pages takes
/// longer than computing with it.
const LARGE: usize = 4 << 20;
const LARGE_PIECE: usize = 2 << 20;
const LARGEST_PIECE: usize = 32 << 20;
/// Stacks up to this size are not checked against the limits of the machine.
const FREE_OF_CHARGE: u64 = 16 << 20;
const SIGNAL_STACK: usize = 1 << 16;

const UNREACHABLE: &[u8] = b"error: mistake in the compiler: the program reached code that is never reached\n\
    help: please report this together with the program\n";

/// The reserved range and the lowest open address.
static BOTTOM: Single<usize> = Single::new(0);
static TOP: Single<usize> = Single::new(0);
static OPENED: Single<usize> = Single::new(0);
/// The frame pointer when the stack last had to grow.
static FRAME: Single<usize> = Single::new(0);
static GRANTED: Single<u64> = Single::new(FREE_OF_CHARGE);

static SIGNAL_STACK_BYTES: Single<[u8; SIGNAL_STACK]> = Single::new([0; SIGNAL_STACK]);

/// Runs the function on a large stack and returns when it does.
pub fn run(function: extern "C" fn(*mut c_void) -> *mut c_void) {
    let mut attributes = ThreadAttributes([0; 16]);
    let Some(size) = reserve() else { memory::exhausted(Use::Stack) };
    let mut thread = 0;
    // SAFETY: the attributes are initialised before use, the stack is a mapping that is never given back.
    let started = unsafe {
        system::pthread_attr_init(&mut attributes) == 0
            && system::pthread_attr_setstack(&mut attributes, BOTTOM.load() as *mut c_void, size) == 0
            && system::pthread_create(&mut thread, &attributes, begin, function as *mut c_void) == 0
    };
    if !started {
        memory::exhausted(Use::Stack);
    }
    // SAFETY: the thread was created and nobody else joins it.
    unsafe { system::pthread_join(thread, ptr::null_mut()) };
}

extern "C" fn begin(argument: *mut c_void) -> *mut c_void {
    watch();
    // SAFETY: `run` passes a function of this type.
    let function = unsafe { core::mem::transmute::<*mut c_void, extern "C" fn(*mut c_void) -> *mut c_void>(argument) };
    function(ptr::null_mut())
}

fn reserve() -> Option<usize> {
    let mut size = LARGEST;
    let bottom = loop {
        match system::map_pages(size, system::PROT_NONE) {
            Some(bottom) => break bottom as usize,
            None if size > SMALLEST => size /= 2,
            None => return None,
        }
    };
    BOTTOM.store(bottom);
    TOP.store(bottom + size);
    OPENED.store(bottom + size - OPEN);
    // SAFETY: the pages have just been mapped.
    unsafe { system::open_pages(OPENED.load() as *mut u8, OPEN) }.then_some(size)
}

/// Installs the handler for this thread.
fn watch() {
    let stack = SigStack { base: SIGNAL_STACK_BYTES.get().cast(), flags: 0, size: SIGNAL_STACK };
    let action = SigAction {
        handler: on_fault as *const () as usize,
        mask: [0; 16],
        flags: system::SA_SIGINFO | system::SA_ONSTACK,
        restorer: 0,
    };
    // SAFETY: both structures are complete, and the handler has the signature that SA_SIGINFO demands.
    unsafe {
        system::sigaltstack(&stack, ptr::null_mut());
        system::sigaction(system::SIGSEGV, &action, ptr::null_mut());
        system::sigaction(system::SIGBUS, &action, ptr::null_mut());
        system::sigaction(system::SIGILL, &action, ptr::null_mut());
    }
}

extern "C" fn on_fault(signal: c_int, info: *const usize, context: *const usize) {
    if signal == system::SIGILL {
        // Code that is never reached consists of an illegal instruction.
        output::flush();
        output::raw_error(UNREACHABLE);
        start::leave(start::FAULT);
    }
    // SAFETY: in `siginfo_t` of these signals, the address stands in the third word.
    let address = unsafe { *info.add(2) };
    if (BOTTOM.load()..OPENED.load()).contains(&address) {
        // SAFETY: the system's description of the registers has that form.
        FRAME.store(unsafe { *context.add(system::FRAME_POINTER) });
        grow(address);
    } else {
        // Not ours: with the default action restored, returning repeats the fault, which then ends the process.
        let default = SigAction { handler: system::SIG_DFL, mask: [0; 16], flags: 0, restorer: 0 };
        // SAFETY: the structure is complete.
        unsafe { system::sigaction(signal, &default, ptr::null_mut()) };
    }
}

/// The frame of a function that needed more stack than there was.
pub fn frame() -> usize {
    FRAME.load()
}

/// Whether an address lies in the open part of the stack.
pub fn holds(address: usize) -> bool {
    (OPENED.load()..TOP.load()).contains(&address)
}

/// Opens the stack down to the address and somewhat further.
fn grow(address: usize) {
    let lowest = BOTTOM.load() + GUARD;
    let size = TOP.load() - OPENED.load();
    let large = size >= LARGE;
    let piece = if large { (size / 4).next_power_of_two().clamp(LARGE_PIECE, LARGEST_PIECE) } else { PIECE };
    let below = (address & !(piece - 1)).max(lowest);
    if address < lowest {
        memory::exhausted(Use::Stack);
    }
    let total = (TOP.load() - below) as u64;
    if total > GRANTED.load() {
        GRANTED.store(memory::grant(Use::Stack, total));
    }
    let (start, size) = (below as *mut u8, OPENED.load() - below);
    // SAFETY: the range lies in the mapping of the stack.
    unsafe {
        if !system::open_pages(start, size) {
            memory::exhausted(Use::Stack);
        }
        if large {
            system::prefer_large_pages(start, size);
        }
    }
    OPENED.store(below);
}
