//! Copies of the process that help it, and what they share: see [`crate::shards`].

use crate::cell::Single;
use crate::records::{HEAD, WORDS};
use crate::shards::MOST;
use crate::{profile, system};
use core::ffi::{c_int, c_ulong};
use core::fmt;
use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

const O_CLOEXEC: c_int = system::O_CLOEXEC;
const SIGKILL: c_int = 9;
const SIG_IGN: usize = system::SIG_IGN;
const POLLIN: i16 = 1;
const PR_SET_PDEATHSIG: c_int = 1;
const F_SETPIPE_SZ: c_int = 1031;

/// A worker may be ahead of the program by so many bytes: what everybody may ask for.
const PIPE_SIZE: c_int = 1 << 20;

/// `struct pollfd`
#[repr(C)]
#[derive(Clone, Copy)]
struct Poll {
    file: c_int,
    events: i16,
    found: i16,
}

unsafe extern "C" {
    fn fork() -> c_int;
    fn pipe2(ends: *mut c_int, flags: c_int) -> c_int;
    fn fcntl(file: c_int, command: c_int, argument: c_int) -> c_int;
    fn poll(files: *mut Poll, count: c_ulong, timeout: c_int) -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn kill(process: c_int, signal: c_int) -> c_int;
    fn getpid() -> c_int;
    fn getppid() -> c_int;
    fn prctl(option: c_int, argument: c_ulong) -> c_int;
    fn sched_getaffinity(process: c_int, size: usize, set: *mut u64) -> c_int;
}

/// How many processors the process may use: those that it may run on, as far as its container has the time of so many.
pub fn processors() -> usize {
    let all = allowed().iter().map(|word| word.count_ones() as usize).sum::<usize>();
    all.min(share_of_time().unwrap_or(all)).max(1)
}

/// Words of a set of processors.
pub const SET_WORDS: usize = 128;

/// The processors that the process may run on, one bit each.
pub fn allowed() -> [u64; SET_WORDS] {
    let mut set = [0; SET_WORDS];
    // SAFETY: the set has so many bytes.
    if unsafe { sched_getaffinity(0, size_of_val(&set), set.as_mut_ptr()) } < 0 {
        set[0] = 1;
    }
    set
}

/// The process that has started this one; 0 if it is unknown.
pub fn parent() -> u32 {
    // SAFETY: always sound.
    u32::try_from(unsafe { getppid() }).unwrap_or(0)
}

/// The time that the container has, in processors: a file with what it gets of a period, or `max`, and the period.
pub fn share_of_time() -> Option<usize> {
    let mut text = [0_u8; 64];
    // SAFETY: the name ends in a zero byte, and the text has so much room.
    let length = unsafe {
        let file = system::open(c"/sys/fs/cgroup/cpu.max".as_ptr(), system::O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let length = system::read(file, text.as_mut_ptr().cast(), text.len());
        system::close(file);
        length
    };
    whole_processors(core::str::from_utf8(text.get(..usize::try_from(length).ok()?)?).ok()?)
}

/// The processors in such a text.
fn whole_processors(text: &str) -> Option<usize> {
    let mut words = text.split_ascii_whitespace().map(str::parse::<usize>);
    match (words.next()?, words.next()?) {
        (Ok(share), Ok(period)) => share.checked_div(period),
        _ => None,
    }
}

/// What all processes see.
pub struct SharedState {
    /// The next shard that nobody has taken.
    next: AtomicU64,
    /// The first shard that has been abandoned.
    limit: AtomicU64,
    /// The shard that each worker computes.
    current: [AtomicU64; MOST],
}

static SHARED: Single<*const SharedState> = Single::new(ptr::null());
/// Where a worker writes.
static PIPE: Single<c_int> = Single::new(-1);

/// Prepares what processes share; `None` if the system refuses.
pub fn share(first: u64) -> Option<()> {
    const READ_WRITE: c_int = 3;
    const SHARED_ANONYMOUS: c_int = 0x21;
    if SHARED.load().is_null() {
        // SAFETY: a new mapping at an address of the system's choice.
        let pages =
            unsafe { system::mmap(ptr::null_mut(), size_of::<SharedState>(), READ_WRITE, SHARED_ANONYMOUS, -1, 0) };
        if pages as isize == -1 {
            return None;
        }
        SHARED.store(pages.cast());
    }
    shared().next.store(first, Ordering::SeqCst);
    shared().limit.store(u64::MAX, Ordering::SeqCst);
    Some(())
}

/// What has been prepared.
pub fn shared() -> &'static SharedState {
    // SAFETY: zeros are a state, and the pages stay.
    unsafe { &*SHARED.load() }
}

impl SharedState {
    /// Takes so many shards: the first one, and the one behind the last one.
    pub fn claim(&self, portion: u64, count: u64) -> (u64, u64) {
        let first = self.next.fetch_add(portion, Ordering::SeqCst);
        (first, count.min(first + portion))
    }
    /// The first shard that has been abandoned, or a number that is larger than all.
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::SeqCst)
    }
    /// Abandons a shard.
    pub fn lower_limit(&self, shard: u64) {
        self.limit.fetch_min(shard, Ordering::SeqCst);
    }
    /// The shard that a worker computes.
    pub fn current(&self, worker: usize) -> u64 {
        self.current[worker].load(Ordering::SeqCst)
    }
    /// Says which one that is.
    pub fn set_current(&self, worker: usize, shard: u64) {
        self.current[worker].store(shard, Ordering::Relaxed);
    }
    /// Where this worker writes.
    pub fn pipe(&self) -> c_int {
        PIPE.load()
    }
}

/// A worker, as the program sees it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Process {
    process: c_int,
    pipe: c_int,
    is_open: bool,
    /// The record that is being read, how many of its bytes are there, and what it begins with.
    record: *mut u8,
    there: usize,
    head: [u64; HEAD],
}

/// How a worker has ended.
pub struct End(c_int);

impl End {
    /// Whether it was done.
    pub fn is_good(&self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 & 0x7f {
            0 => write!(f, "has ended with exit code {}", self.0 >> 8 & 0xff),
            signal => write!(f, "was killed by signal {signal}"),
        }
    }
}

/// Starts a worker; for itself, that is [`Process::NONE`]. `None` if the system refuses.
pub fn start(earlier: &[Process]) -> Option<Process> {
    let mut ends = [0; 2];
    // SAFETY: there is room for both ends; the copy goes on as the program does, on the same stack.
    unsafe {
        if pipe2(ends.as_mut_ptr(), O_CLOEXEC) != 0 {
            return None;
        }
        // If not, less fits, and the worker waits more often.
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
        let program = getpid();
        let process = fork();
        if process < 0 {
            ends.into_iter().for_each(|end| {
                system::close(end);
            });
            return None;
        }
        if process > 0 {
            system::close(ends[1]);
            return Some(Process { process, pipe: ends[0], is_open: true, ..Process::NONE });
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL as c_ulong);
        if getppid() != program {
            system::exit_process(0);
        }
        // Interruptions are the program's, which ends its workers.
        let ignore = system::SigAction { handler: SIG_IGN, mask: [0; 16], flags: 0, restorer: 0 };
        system::sigaction(system::SIGINT, &raw const ignore, ptr::null_mut());
        let default = system::SigAction { handler: system::SIG_DFL, mask: [0; 16], flags: 0, restorer: 0 };
        system::sigaction(system::SIGTERM, &raw const default, ptr::null_mut());
        system::close(ends[0]);
        earlier.iter().filter(|other| other.is_open).for_each(|other| {
            system::close(other.pipe);
        });
        PIPE.store(ends[1]);
        profile::resume();
        Some(Process::NONE)
    }
}

/// Waits until one of them has written something or ended.
pub fn wait(workers: &[Process]) {
    let mut files = [Poll { file: -1, events: POLLIN, found: 0 }; MOST];
    for (file, worker) in files.iter_mut().zip(workers) {
        file.file = if worker.is_open { worker.pipe } else { -1 };
    }
    // SAFETY: so many files are there. An interruption by a signal does no harm.
    unsafe { poll(files.as_mut_ptr(), workers.len() as c_ulong, -1) };
}

impl Process {
    /// No process: zeros, which take no room in executables.
    pub const NONE: Process =
        Process { process: 0, pipe: 0, is_open: false, record: ptr::null_mut(), there: 0, head: [0; HEAD] };

    /// Whether it may write more.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether there is something to read.
    fn is_ready(&self) -> bool {
        let mut file = Poll { file: self.pipe, events: POLLIN, found: 0 };
        // SAFETY: one file.
        unsafe { poll(&raw mut file, 1, 0) > 0 }
    }

    /// Reads as much as there is, and hands over each record that is whole, which is from `aligned_alloc`. How the
    /// worker has ended, if it has.
    pub fn read(&mut self, mut whole: impl FnMut(*mut u64)) -> Option<End> {
        const BEGINNING: usize = HEAD * 8;
        while self.is_ready() {
            // SAFETY: the record has room for what it says to have.
            let count = unsafe {
                let (place, room) = if self.record.is_null() {
                    (self.head.as_mut_ptr().cast::<u8>().add(self.there), BEGINNING - self.there)
                } else {
                    (self.record.add(self.there), self.size() - self.there)
                };
                system::read(self.pipe, place.cast(), room)
            };
            match usize::try_from(count) {
                Ok(0) => return Some(self.end()),
                Ok(count) => self.there += count,
                Err(_) if system::last_error() == system::EINTR => {}
                Err(_) => return Some(self.end()),
            }
            if self.record.is_null() && self.there == BEGINNING {
                let size = self.size().next_multiple_of(16);
                let Some(record) = system::allocate(16, size) else {
                    crate::memory::exhausted(crate::memory::Use::Heap)
                };
                // SAFETY: there is room for the beginning.
                unsafe { ptr::copy_nonoverlapping(self.head.as_ptr().cast(), record, BEGINNING) };
                self.record = record;
            }
            if !self.record.is_null() && self.there == self.size() {
                whole(self.record.cast());
                (self.record, self.there) = (ptr::null_mut(), 0);
            }
        }
        None
    }

    /// Bytes of the record that is being read.
    fn size(&self) -> usize {
        (HEAD + self.head[WORDS] as usize) * 8
    }

    /// Ends it.
    pub fn kill(&mut self) {
        if self.process > 0 {
            // SAFETY: a child that nobody has waited for.
            unsafe { kill(self.process, SIGKILL) };
        }
    }

    /// Waits for its end, and says how that was.
    pub fn end(&mut self) -> End {
        let mut status = 0;
        // SAFETY: the pipe is open until then, and the record is nobody else's.
        unsafe {
            if self.is_open {
                system::close(self.pipe);
            }
            while self.process > 0 && waitpid(self.process, &raw mut status, 0) < 0 {
                if system::last_error() != system::EINTR {
                    break;
                }
            }
            system::free(self.record.cast());
        }
        *self = Process::NONE;
        End(status)
    }
}

#[cfg(test)]
mod tests {
    use super::whole_processors;

    #[test]
    fn containers_have_a_part_of_the_time() {
        assert_eq!(whole_processors("200000 100000\n"), Some(2));
        assert_eq!(whole_processors("50000 100000\n"), Some(0));
        assert_eq!(whole_processors("max 100000\n"), None);
        assert_eq!(whole_processors("100000 0\n"), None);
        assert_eq!(whole_processors(""), None);
    }
}
