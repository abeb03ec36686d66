//! How much memory the program may use, heap and stack together.
//!
//! Memory is granted in steps. Each step is checked against the limit (`VLAD_MAX_MEMORY`, else most of what the
//! machine or the control group of the process has) and against what the machine has left at that moment, so that a
//! program that never stops growing ends with a message before the system starts killing processes.

use crate::cell::Single;
use crate::heap::{self, Heap, Supply};
use crate::{command_line, output, stack, start, system, trace};

/// The least that is granted at a time; machines are asked no more often than this.
pub const STEP: u64 = 64 << 20;

static LIMIT: Single<u64> = Single::new(u64::MAX);
static USER_LIMIT: Single<bool> = Single::new(false);
static RESERVE: Single<u64> = Single::new(0);

static HEAP: Single<u64> = Single::new(0);
static STACK: Single<u64> = Single::new(0);

/// What the memory is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Boxes.
    Heap,
    /// Calls that have not returned.
    Stack,
}

/// Boxes of an executable.
static PROCESS: Supply = Supply { grant: grant_to_heap, chunk: map_chunk, exhausted: heap_exhausted };

/// Heaps up to this size are not checked against the limits of the machine.
const FREE_OF_CHARGE: u64 = 1 << 20;

/// The heap of an executable.
#[unsafe(no_mangle)]
pub static vlad_heap: Single<Heap> = Single::new(Heap::new(&PROCESS, FREE_OF_CHARGE));

unsafe fn grant_to_heap(_: *mut Heap, bytes: u64) -> u64 {
    grant(Use::Heap, bytes)
}

unsafe fn map_chunk(size: usize) -> Option<*mut u8> {
    let start = system::map_pages(size, system::PROT_READ_WRITE)?;
    if size >= heap::WITH_LARGE_PAGES {
        // SAFETY: the pages have just been mapped.
        unsafe { system::prefer_large_pages(start, size) };
    }
    Some(start)
}

unsafe fn heap_exhausted(_: *mut Heap) -> ! {
    exhausted(Use::Heap)
}

/// Reads the limits.
pub fn initialise() {
    let physical = system::physical_memory();
    RESERVE.store(physical / 16);
    limit_to(physical / 8 * 7);
    let Some(text) = system::environment(b"VLAD_MAX_MEMORY\0") else { return };
    let Some(limit) = parse_size(text) else {
        output::raw_error(b"error: VLAD_MAX_MEMORY is no size of memory: `");
        output::raw_error(text);
        output::raw_error(b"`\nhelp: sizes are written as 500000, 64K, 512M or 2G\n");
        start::leave(command_line::USAGE);
    };
    limit_to(limit);
    USER_LIMIT.store(true);
}

/// Sets the limit, and that of the tapes of loops to a part of it.
fn limit_to(limit: u64) {
    LIMIT.store(limit);
    // SAFETY: nobody else refers to the heap meanwhile.
    unsafe { (*vlad_heap.get()).tape_memory = limit / heap::TAPE_PART };
}

/// Leaves a part of the memory that is not used yet: so many processes have it from now on.
pub fn divide(processes: u64) {
    let used = HEAP.load() + STACK.load();
    limit_to(used + LIMIT.load().saturating_sub(used) / processes);
}

/// Asks to use `total` bytes for `what`. Returns the total that is granted, at least as much; ends the program with a
/// message when that is too much. May be called in a signal handler.
pub fn grant(what: Use, total: u64) -> u64 {
    let (mine, other) = match what {
        Use::Heap => (&HEAP, &STACK),
        Use::Stack => (&STACK, &HEAP),
    };
    if HEAP.load() + STACK.load() < STEP && !USER_LIMIT.load() {
        // Small programs never get here twice, and do not pay for looking at the control group.
        limit_to(LIMIT.load().min(group_limit() / 8 * 7));
    }
    let mut limit = LIMIT.load().saturating_sub(other.load());
    if what == Use::Stack && !USER_LIMIT.load() {
        // Recursion that needs more hardly has an end, and nobody should wait until all memory is filled.
        limit = limit.min(LIMIT.load() / 4);
    }
    let wish = (total + STEP).min(limit);
    if wish < total || available() < RESERVE.load() + (wish - mine.load()) {
        exhausted(what);
    }
    mine.store(wish);
    wish
}

/// As in the reference evaluator.
const HELP: &[u8] = b"help: a recursion without end looks like this; a loop that calls itself last needs no memory\n";

/// Ends the program because there is no more memory.
pub fn exhausted(what: Use) -> ! {
    output::flush();
    let message: &[u8] = match what {
        // SAFETY: nothing changes the heap any more.
        Use::Heap => unsafe { (*vlad_heap.get()).take_complaint() },
        Use::Stack => b"error[V0311]: out of memory: recursion too deep\n",
    };
    output::raw_error(message);
    output::raw_error(HELP);
    if USER_LIMIT.load() {
        output::raw_error(b"note: the limit was set by VLAD_MAX_MEMORY\n");
    } else if what == Use::Stack {
        output::raw_error(
            b"help: VLAD_MAX_MEMORY=20G lets the program use so much, all of it for recursion if need be\n",
        );
    }
    if what == Use::Stack {
        trace::write_callers_of(stack::frame());
    }
    start::leave(start::EXHAUSTED)
}

/// Bytes that the machine can give without harm to other processes.
fn available() -> u64 {
    let mut buffer = [0; 512];
    let text = system::read_file(b"/proc/meminfo\0", &mut buffer);
    number_after(text, b"MemAvailable:").map_or(u64::MAX, |kilobytes| kilobytes.saturating_mul(1024))
}

/// The most memory that the process has had, in bytes; 0 if the system does not say.
pub fn peak() -> u64 {
    let mut buffer = [0; 4096];
    let text = system::read_file(b"/proc/self/status\0", &mut buffer);
    number_after(text, b"VmHWM:").map_or(0, |kilobytes| kilobytes.saturating_mul(1024))
}

/// The limit of the control group of the process; without one, a number that limits nothing.
fn group_limit() -> u64 {
    let mut buffer = [0; 4096];
    let groups = system::read_file(b"/proc/self/cgroup\0", &mut buffer);
    let mut limit = u64::MAX;
    for line in groups.split(|byte| *byte == b'\n') {
        if let Some(path) = line.strip_prefix(b"0::") {
            limit = limit.min(limit_in(&[b"/sys/fs/cgroup", path, b"/memory.max"]));
            limit = limit.min(limit_in(&[b"/sys/fs/cgroup/memory.max"]));
        } else if let Some(at) = find(line, b":memory:") {
            let path = line.get(at + b":memory:".len()..).unwrap_or(&[]);
            limit = limit.min(limit_in(&[b"/sys/fs/cgroup/memory", path, b"/memory.limit_in_bytes"]));
            limit = limit.min(limit_in(&[b"/sys/fs/cgroup/memory/memory.limit_in_bytes"]));
        }
    }
    limit
}

/// The number in the file whose name is the parts one after another.
fn limit_in(parts: &[&[u8]]) -> u64 {
    let mut name = [0; 1024];
    let mut length = 0;
    for part in parts {
        let Some(place) = name.get_mut(length..length + part.len()) else { return u64::MAX };
        place.copy_from_slice(part);
        length += part.len();
    }
    // The name ends in a zero byte as long as the array is not full.
    let Some(name) = name.get(..length + 1) else { return u64::MAX };
    let mut buffer = [0; 64];
    number_after(system::read_file(name, &mut buffer), b"").unwrap_or(u64::MAX)
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    if word.is_empty() {
        return Some(0);
    }
    text.windows(word.len()).position(|window| window == word)
}

/// The whole number that follows `key` and spaces.
fn number_after(text: &[u8], key: &[u8]) -> Option<u64> {
    let rest = text.get(find(text, key)? + key.len()..)?.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    core::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

/// A number of bytes: `500000`, `64K`, `512M`, `2G`.
fn parse_size(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let (digits, shift) = match text.last()? {
        b'k' | b'K' => (text.get(..text.len() - 1)?, 10),
        b'm' | b'M' => (text.get(..text.len() - 1)?, 20),
        b'g' | b'G' => (text.get(..text.len() - 1)?, 30),
        _ => (text, 0),
    };
    let number: u64 = core::str::from_utf8(digits).ok()?.parse().ok()?;
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size(b"4096"), Some(4096));
        assert_eq!(parse_size(b"64K"), Some(64 << 10));
        assert_eq!(parse_size(b" 3g "), Some(3 << 30));
        assert_eq!(parse_size(b"lots"), None);
        assert_eq!(parse_size(b""), None);
        assert_eq!(parse_size(b"99999999999999G"), None);
    }

    #[test]
    fn numbers_are_found_behind_their_key() {
        assert_eq!(number_after(b"MemTotal: 7 kB\nMemAvailable:   42 kB\n", b"MemAvailable:"), Some(42));
        assert_eq!(number_after(b"max\n", b""), None);
        assert_eq!(number_after(b"1000\n", b""), Some(1000));
    }

    #[test]
    fn the_machine_says_what_it_has() {
        assert!(available() > 0);
        assert!(group_limit() > 0);
    }
}
