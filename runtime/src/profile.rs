//! Where a program spends its time: what `vlad profile` asks a program for.
//!
//! Only programs that are compiled for that call [`vlad_profile`], before they do anything else. A timer then
//! interrupts the program four times in a millisecond, and a handler writes down where it was: the address of the
//! instruction, and where the functions around it go on, which frame pointers lead to. That goes into a file that is
//! mapped into memory, so it is there however the program ends. [`crate::layout`] says what the file looks like.
//!
//! Functions without a frame (the elementary functions, and those of the C library) have their return addresses
//! somewhere above the stack pointer. So words from there that may be addresses of code are kept, too, and who reads them
//! knows which of them is one.

use crate::cell::Single;
use crate::layout::{PROFILE_BASE, PROFILE_BYTES, PROFILE_FILE, PROFILE_FIRST, PROFILE_LOST, PROFILE_USED};
use crate::system::{self, SigAction};
use crate::{stack, start};
use core::ffi::{c_int, c_long, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds between two samples.
const INTERVAL: i64 = 250_000;
/// So many frames are kept, the inner ones.
const FRAMES: usize = 128;
/// So many words are searched for the caller of a function without a frame, and so many kept.
const SEARCHED: usize = 512;
const WORDS: usize = 32;
/// Code is no further than that from where the program begins.
const REACH: u64 = 1 << 26;

/// The mapped file, in words.
static FILE_WORDS: Single<*mut u64> = Single::new(ptr::null_mut());
/// The processor time at the last sample.
static LAST: Single<u64> = Single::new(0);

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
}

#[cfg(target_arch = "x86_64")]
mod numbers {
    use core::ffi::c_long;
    pub const GETTID: c_long = 186;
    pub const TIMER_CREATE: c_long = 222;
    pub const TIMER_SETTIME: c_long = 223;
    /// Where instruction and stack pointers stand in what a handler gets, in words.
    pub const REGISTERS: [usize; 2] = [21, 20];
}

#[cfg(target_arch = "aarch64")]
mod numbers {
    use core::ffi::c_long;
    pub const GETTID: c_long = 178;
    pub const TIMER_CREATE: c_long = 107;
    pub const TIMER_SETTIME: c_long = 110;
    pub const REGISTERS: [usize; 2] = [55, 54];
}

/// `struct sigevent`
#[repr(C)]
struct Event {
    value: usize,
    signal: c_int,
    notify: c_int,
    thread: c_int,
    rest: [c_int; 11],
}

/// Begins to write down where the program is, if there is a file for that.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_profile() {
    let Some(path) = system::environment(PROFILE_FILE.as_bytes()) else { return };
    const READ_WRITE: c_int = 2;
    // SAFETY: what the environment holds ends in a zero byte; a new mapping touches nothing that exists.
    let words = unsafe {
        let file = system::open(path.as_ptr().cast(), READ_WRITE | system::O_CLOEXEC);
        let shared = 1;
        system::mmap(ptr::null_mut(), PROFILE_BYTES, system::PROT_READ_WRITE, shared, file, 0)
    };
    if words as isize == -1 {
        return;
    }
    FILE_WORDS.store(words.cast());
    // SAFETY: the file has that length.
    unsafe { *FILE_WORDS.load().add(PROFILE_BASE) = start::program_address() as u64 };
    let restart = 0x1000_0000;
    let flags = system::SA_SIGINFO | system::SA_ONSTACK | restart;
    let action = SigAction { handler: sample as *const () as usize, mask: [0; 16], flags, restorer: 0 };
    // SAFETY: the structure is complete, and the handler has the signature that SA_SIGINFO demands.
    unsafe { system::sigaction(system::SIGPROF, &raw const action, ptr::null_mut()) };
    resume();
}

/// Starts the timer of this process, if the program is profiled: copies of a process have none.
pub fn resume() {
    if FILE_WORDS.load().is_null() {
        return;
    }
    const MONOTONIC: c_int = 1;
    const THREAD: c_int = 4;
    let mut timer: c_int = 0;
    let interval: [[i64; 2]; 2] = [[0, INTERVAL]; 2];
    LAST.store(system::thread_time());
    // SAFETY: the structures are complete.
    unsafe {
        let thread = syscall(numbers::GETTID) as c_int;
        let event = Event { value: 0, signal: system::SIGPROF, notify: THREAD, thread, rest: [0; 11] };
        syscall(numbers::TIMER_CREATE, MONOTONIC as c_long, &raw const event, &raw mut timer);
        syscall(numbers::TIMER_SETTIME, timer as c_long, 0 as c_long, &raw const interval, ptr::null::<c_void>());
    }
}

extern "C" fn sample(_: c_int, _: *const usize, context: *const u64) {
    let now = system::thread_time();
    let spent = now - LAST.load();
    LAST.store(now);
    // SAFETY: the system's description of the registers has that form.
    let [at, bottom] = numbers::REGISTERS.map(|register| unsafe { *context.add(register) });
    // SAFETY: the same.
    let frame = unsafe { *context.add(system::FRAME_POINTER) };
    let mut record = [0; 2 + WORDS + FRAMES];
    record[1] = at;
    let words = near(bottom as usize, &mut record[2..2 + WORDS]);
    let frames = walk(bottom as usize, frame as usize, &mut record[2 + words..2 + words + FRAMES]);
    record[0] = spent.min(u64::from(u32::MAX)) << 32 | (words as u64) << 16 | frames as u64;
    append(&record[..2 + words + frames]);
}

/// Copies the words above the stack pointer that may be addresses of code, as far as there is room; how many these are.
/// The frame pointer says nothing about their end: functions without a frame use its register for other things.
fn near(bottom: usize, room: &mut [u64]) -> usize {
    let first = (start::program_address() as u64).saturating_sub(REACH);
    let mut kept = 0;
    for number in 0..SEARCHED {
        let address = bottom + number * size_of::<u64>();
        if !stack::holds(address) || !stack::holds(address + 7) || kept == room.len() {
            break;
        }
        // SAFETY: it lies in the open part of the stack.
        let word = unsafe { (address as *const u64).read_unaligned() };
        if word.wrapping_sub(first) < 2 * REACH {
            room[kept] = word;
            kept += 1;
        }
    }
    kept
}

/// Follows the frame pointers; how many functions there are around this one.
fn walk(bottom: usize, mut frame: usize, room: &mut [u64]) -> usize {
    let mut lowest = bottom;
    for (number, place) in room.iter_mut().enumerate() {
        if frame < lowest
            || !frame.is_multiple_of(size_of::<usize>())
            || !stack::holds(frame)
            || !stack::holds(frame + 15)
        {
            return number;
        }
        lowest = frame + 1;
        // SAFETY: both words lie in the open part of the stack.
        unsafe {
            *place = *(frame as *const u64).add(1);
            frame = *(frame as *const usize);
        }
    }
    room.len()
}

/// Appends to the file. Processes that share the work write to the same one.
fn append(record: &[u64]) {
    let words = FILE_WORDS.load();
    // SAFETY: the file has these words, and whoever writes has taken those that nobody else writes.
    unsafe {
        let used = AtomicU64::from_ptr(words.add(PROFILE_USED));
        let place = PROFILE_FIRST + used.fetch_add(record.len() as u64, Ordering::Relaxed) as usize;
        if place + record.len() > PROFILE_BYTES / size_of::<u64>() {
            AtomicU64::from_ptr(words.add(PROFILE_LOST)).fetch_add(1, Ordering::Relaxed);
            return;
        }
        ptr::copy_nonoverlapping(record.as_ptr(), words.add(place), record.len());
    }
}
