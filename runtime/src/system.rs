//! The functions of the C library that the run time calls, with Linux' constants.

use core::ffi::{c_char, c_int, c_long, c_void};

/// Standard streams.
pub const STDIN: c_int = 0;
/// Standard output.
pub const STDOUT: c_int = 1;
/// Standard error.
pub const STDERR: c_int = 2;

pub(crate) const PROT_NONE: c_int = 0;
pub(crate) const PROT_READ_WRITE: c_int = 1 | 2;
const MAP_PRIVATE: c_int = 0x02;
const MAP_ANONYMOUS: c_int = 0x20;
const MAP_NORESERVE: c_int = 0x4000;
const MADV_HUGEPAGE: c_int = 14;
pub(crate) const O_CLOEXEC: c_int = 0o2_000_000;
/// For writing only, created or emptied.
pub(crate) const O_NEW: c_int = 0o1101;

/// For writing only, without waiting for a reader.
pub(crate) const O_PRESENT: c_int = 0o4001;
/// Writing goes to the end.
pub(crate) const O_APPEND: c_int = 0o2000;

pub(crate) const SIGINT: c_int = 2;
pub(crate) const SIGPIPE: c_int = 13;
pub(crate) const SIGILL: c_int = 4;
pub(crate) const SIGBUS: c_int = 7;
pub(crate) const SIGSEGV: c_int = 11;
pub(crate) const SIGTERM: c_int = 15;
pub(crate) const SIGPROF: c_int = 27;
/// Where the frame pointer stands in what a handler gets, in words.
pub(crate) const FRAME_POINTER: usize = if cfg!(target_arch = "aarch64") { 52 } else { 15 };
pub(crate) const SIG_DFL: usize = 0;
pub(crate) const SIG_IGN: usize = 1;
pub(crate) const SA_SIGINFO: c_int = 4;
pub(crate) const SA_ONSTACK: c_int = 0x0800_0000;

pub(crate) const ENOENT: c_int = 2;
pub(crate) const EINTR: c_int = 4;
pub(crate) const EBADF: c_int = 9;
pub(crate) const EPIPE: c_int = 32;
pub(crate) const ENAMETOOLONG: c_int = 36;

/// `struct sigaction` of glibc and musl on 64-bit machines.
#[repr(C)]
pub(crate) struct SigAction {
    pub handler: usize,
    pub mask: [u64; 16],
    pub flags: c_int,
    pub restorer: usize,
}

/// `stack_t`
#[repr(C)]
pub(crate) struct SigStack {
    pub base: *mut c_void,
    pub flags: c_int,
    pub size: usize,
}

/// `pthread_attr_t`, generously.
#[repr(C, align(16))]
pub(crate) struct ThreadAttributes(pub [u64; 16]);

unsafe extern "C" {
    pub(crate) fn read(file: c_int, buffer: *mut c_void, size: usize) -> isize;
    pub(crate) fn write(file: c_int, buffer: *const c_void, size: usize) -> isize;
    pub(crate) fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub(crate) fn close(file: c_int) -> c_int;
    fn lseek(file: c_int, offset: i64, from: c_int) -> i64;
    fn ftruncate(file: c_int, size: i64) -> c_int;
    pub(crate) fn fsync(file: c_int) -> c_int;
    pub(crate) fn rename(from: *const c_char, to: *const c_char) -> c_int;
    pub(crate) fn unlink(path: *const c_char) -> c_int;
    pub(crate) fn isatty(file: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
    fn abort() -> !;
    fn getenv(name: *const c_char) -> *const c_char;
    fn strerror(error: c_int) -> *const c_char;
    fn strlen(text: *const c_char) -> usize;
    fn __errno_location() -> *mut c_int;
    pub(crate) fn mmap(
        address: *mut c_void,
        size: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(address: *mut c_void, size: usize) -> c_int;
    fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    pub(crate) fn free(memory: *mut c_void);
    fn mprotect(address: *mut c_void, size: usize, protection: c_int) -> c_int;
    fn madvise(address: *mut c_void, size: usize, advice: c_int) -> c_int;
    pub(crate) fn sigaction(signal: c_int, new: *const SigAction, old: *mut SigAction) -> c_int;
    pub(crate) fn sigaltstack(new: *const SigStack, old: *mut SigStack) -> c_int;
    fn pthread_sigmask(how: c_int, new: *const u64, old: *mut u64) -> c_int;
    pub(crate) fn pthread_attr_init(attributes: *mut ThreadAttributes) -> c_int;
    pub(crate) fn pthread_attr_setstack(attributes: *mut ThreadAttributes, base: *mut c_void, size: usize) -> c_int;
    pub(crate) fn pthread_create(
        thread: *mut usize,
        attributes: *const ThreadAttributes,
        start: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    pub(crate) fn pthread_join(thread: usize, result: *mut *mut c_void) -> c_int;
    fn sysconf(name: c_int) -> c_long;
    fn clock_gettime(clock: c_int, time: *mut [i64; 2]) -> c_int;
}

/// Ends the process at once.
pub fn exit_process(code: c_int) -> ! {
    // SAFETY: always sound.
    unsafe { _exit(code) }
}

/// Ends the process as a crash.
pub fn abort_process() -> ! {
    // SAFETY: always sound.
    unsafe { abort() }
}

/// Whether an open file is a regular one: devices and pipes have no length to be set to.
pub fn is_regular(file: c_int) -> bool {
    const SEEK_END: c_int = 2;
    // SAFETY: always sound; the length stays what it is.
    unsafe {
        let length = lseek(file, 0, SEEK_END);
        length >= 0 && ftruncate(file, length) == 0
    }
}

/// The cause of the last failure of a system call.
pub fn last_error() -> c_int {
    // SAFETY: the C library keeps this address valid for the thread.
    unsafe { *__errno_location() }
}

/// What the C library says about a failure.
pub fn describe_error(error: c_int) -> &'static [u8] {
    // SAFETY: the text ends in a zero byte, and is there at least until the next call.
    unsafe { text(strerror(error)) }
}

/// A text of the C library.
///
/// # Safety
///
/// `address` is that of a text that ends in a zero byte and stays as it is.
pub unsafe fn text(address: *const c_char) -> &'static [u8] {
    // SAFETY: the caller's obligation.
    unsafe { core::slice::from_raw_parts(address.cast(), strlen(address)) }
}

/// Keeps a signal from this thread and those that it starts.
pub fn keep_away(signal: c_int) {
    mask(signal, 0);
}

/// Lets a signal through to this thread.
pub fn let_through(signal: c_int) {
    mask(signal, 1);
}

/// Adds a signal to the ones that are kept away (0), or takes it from them (1).
fn mask(signal: c_int, how: c_int) {
    let mut signals = [0_u64; 16];
    signals[0] = 1 << (signal - 1);
    // SAFETY: a set of signals has 1024 bits at most.
    unsafe { pthread_sigmask(how, signals.as_ptr(), core::ptr::null_mut()) };
}

/// A clock that only goes forward, in nanoseconds.
pub fn time() -> u64 {
    const MONOTONIC: c_int = 1;
    clock(MONOTONIC)
}

/// An environment variable; `name` ends in a zero byte.
pub fn environment(name: &[u8]) -> Option<&'static [u8]> {
    debug_assert!(name.last() == Some(&0));
    // SAFETY: `name` ends in a zero byte, and nothing changes the environment of a compiled program.
    unsafe {
        let text = getenv(name.as_ptr().cast());
        if text.is_null() { None } else { Some(core::slice::from_raw_parts(text.cast(), strlen(text))) }
    }
}

/// Reads the beginning of a file; `path` ends in a zero byte. Empty when there is no such file.
pub fn read_file<'b>(path: &[u8], buffer: &'b mut [u8]) -> &'b [u8] {
    debug_assert!(path.last() == Some(&0));
    // SAFETY: `path` ends in a zero byte, and `read` gets the bounds of `buffer`.
    let length = unsafe {
        let file = open(path.as_ptr().cast(), O_CLOEXEC);
        if file < 0 {
            return &[];
        }
        let length = read(file, buffer.as_mut_ptr().cast(), buffer.len());
        close(file);
        length
    };
    buffer.get(..usize::try_from(length).unwrap_or(0)).unwrap_or(&[])
}

/// Fresh pages of zeros that take memory when they are first written; `None` when the system refuses.
pub fn map_pages(size: usize, protection: c_int) -> Option<*mut u8> {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    // SAFETY: a new mapping at an address of the system's choice touches nothing that exists.
    let address = unsafe { mmap(core::ptr::null_mut(), size, protection, flags, -1, 0) };
    if address as isize == -1 { None } else { Some(address.cast()) }
}

/// Fresh pages of zeros at an address where nothing else is; `false` when the system refuses.
pub fn map_pages_at(address: usize, size: usize) -> bool {
    const MAP_FIXED_NOREPLACE: c_int = 0x10_0000;
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    // SAFETY: a new mapping where nothing is touches nothing that exists.
    let found = unsafe { mmap(address as *mut c_void, size, PROT_READ_WRITE, flags, -1, 0) } as usize;
    if found as isize != -1 && found != address {
        // SAFETY: systems that do not know the flag give other pages, which nobody uses.
        unsafe { munmap(found as *mut c_void, size) };
    }
    found == address
}

/// Takes a mapping away.
///
/// # Safety
///
/// The pages belong to a mapping that the caller owns and does not use any more.
pub unsafe fn unmap_pages(address: *mut u8, size: usize) {
    // SAFETY: the caller's obligation.
    unsafe { munmap(address.cast(), size) };
}

/// Memory from the C library, aligned to so many bytes, for `free`; the size is a multiple of that. `None` when there
/// is none.
pub fn allocate(alignment: usize, size: usize) -> Option<*mut u8> {
    // SAFETY: always sound.
    let memory = unsafe { aligned_alloc(alignment, size) };
    if memory.is_null() { None } else { Some(memory.cast()) }
}

/// Makes pages readable and writable.
///
/// # Safety
///
/// The pages belong to a mapping that the caller owns.
pub unsafe fn open_pages(address: *mut u8, size: usize) -> bool {
    // SAFETY: the caller's obligation.
    unsafe { mprotect(address.cast(), size, PROT_READ_WRITE) == 0 }
}

/// Asks for large pages; only a hint.
///
/// # Safety
///
/// The pages belong to a mapping that the caller owns.
pub unsafe fn prefer_large_pages(address: *mut u8, size: usize) {
    // SAFETY: the caller's obligation; the hint does not change any content.
    unsafe { madvise(address.cast(), size, MADV_HUGEPAGE) };
}

/// The processor time that the process has taken, in nanoseconds.
pub fn processor_time() -> u64 {
    const PROCESS_CPUTIME: c_int = 2;
    clock(PROCESS_CPUTIME)
}

/// The processor time that this thread has taken, in nanoseconds.
pub fn thread_time() -> u64 {
    const THREAD_CPUTIME: c_int = 3;
    clock(THREAD_CPUTIME)
}

fn clock(clock: c_int) -> u64 {
    let mut time = [0; 2];
    // SAFETY: on 64-bit machines `struct timespec` is two words, seconds and nanoseconds.
    unsafe { clock_gettime(clock, &raw mut time) };
    time[0].unsigned_abs() * 1_000_000_000 + time[1].unsigned_abs()
}

/// Bytes of memory in the machine.
pub fn physical_memory() -> u64 {
    const SC_PAGESIZE: c_int = 30;
    const SC_PHYS_PAGES: c_int = 85;
    // SAFETY: always sound.
    let (pages, size) = unsafe { (sysconf(SC_PHYS_PAGES), sysconf(SC_PAGESIZE)) };
    if pages > 0 && size > 0 { pages as u64 * size as u64 } else { u64::MAX }
}
