//! Texts that a program makes: what it writes meanwhile is kept and becomes a text.
//!
//! Compiled code knows a text by a number. Those of the program have numbers from 0 on; a made one has its address,
//! which is larger. Equal texts have the same number, so that comparing numbers compares texts; a made text that the
//! program has as well is the program's. Texts are kept for good: a program that makes the same text again gets the
//! same.
//!
//! ```text
//! made text:  length (8 bytes) | hash (8 bytes) | bytes
//! ```

use crate::cell::Single;
use crate::{memory, output, ranks, shards, system};
use core::ptr;

/// What stands in front of the bytes of a made text.
#[repr(C)]
struct Text {
    length: usize,
    hash: u64,
}

/// The made texts: a hash table with open addressing, at most half full, whose size is a power of two.
struct Texts {
    places: *mut *mut Text,
    size: usize,
    count: usize,
}

static TEXTS: Single<Texts> = Single::new(Texts { places: ptr::null_mut(), size: 0, count: 0 });

/// The size of the table at first.
const SMALLEST: usize = 256;

/// What has been written since the beginning of each text that is being made, innermost last. Before the bytes of one
/// stands the place where the text around it began.
struct Kept {
    bytes: *mut u8,
    capacity: usize,
    used: usize,
    /// Where the innermost text begins; 0 when none is being made.
    start: usize,
}

static KEPT: Single<Kept> = Single::new(Kept { bytes: ptr::null_mut(), capacity: 0, used: 0, start: 0 });

/// In a worker: where the text begins that was being made before it was started, which is the program's.
static BEFORE_WORK: Single<usize> = Single::new(0);

/// From here on this is a worker.
pub fn begin_work() {
    // SAFETY: nothing else refers to what is kept while this function runs.
    BEFORE_WORK.store(unsafe { &*KEPT.get() }.start);
}

/// Bytes in front of a text that is being made.
const BEFORE: usize = size_of::<usize>();

/// Memory for texts. It counts as the heap's.
fn allocate(bytes: usize) -> *mut u8 {
    let size = bytes.next_multiple_of(16);
    // SAFETY: nothing else refers to the heap while this function runs.
    let heap = unsafe { &mut *memory::vlad_heap.get() };
    heap.charge(size as u64);
    system::allocate(16, size).unwrap_or_else(|| heap.exhausted())
}

/// Where all ranks have their texts, so that each has the same number on all of them: nothing else is there, and this
/// is the address of the next one. Pages come in chunks.
static ALIKE: Single<usize> = Single::new(0x10_0000_0000);
static ALIKE_END: Single<usize> = Single::new(0x10_0000_0000);
const CHUNK: usize = 1 << 20;

/// Memory for texts that ranks have, which all ask for in the same order.
fn allocate_alike(bytes: usize) -> *mut u8 {
    let (address, size) = (ALIKE.load(), bytes.next_multiple_of(16));
    // SAFETY: nothing else refers to the heap while this function runs.
    let heap = unsafe { &mut *memory::vlad_heap.get() };
    heap.charge(size as u64);
    if address + size > ALIKE_END.load() {
        let more = size.next_multiple_of(CHUNK);
        if !system::map_pages_at(ALIKE_END.load(), more) {
            heap.exhausted();
        }
        ALIKE_END.store(ALIKE_END.load() + more);
    }
    ALIKE.store(address + size);
    core::ptr::with_exposed_provenance_mut(address)
}

/// Whether a text is being made; then it gets what is written.
pub fn keep(bytes: &[u8]) -> bool {
    // SAFETY: nothing else refers to what is kept while this function runs.
    let kept = unsafe { &mut *KEPT.get() };
    if kept.start == 0 {
        return false;
    }
    if kept.start == BEFORE_WORK.load() {
        shards::demand_program();
    }
    kept.append(bytes);
    true
}

impl Kept {
    fn append(&mut self, bytes: &[u8]) {
        let used = self.used + bytes.len();
        if used > self.capacity {
            let capacity = used.max(2 * self.capacity).max(256);
            let new = allocate(capacity);
            // SAFETY: both have room for what is used, and the old memory is not used any more.
            unsafe {
                ptr::copy_nonoverlapping(self.bytes, new, self.used);
                system::free(self.bytes.cast());
            }
            (self.bytes, self.capacity) = (new, capacity);
        }
        // SAFETY: there is room.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.bytes.add(self.used), bytes.len()) };
        self.used = used;
    }
}

/// Begins a text: what is written to standard output from now on belongs to it.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_begin_text() {
    // SAFETY: nothing else refers to what is kept while this function runs.
    let kept = unsafe { &mut *KEPT.get() };
    kept.append(&kept.start.to_ne_bytes());
    kept.start = kept.used;
}

/// Ends the innermost text; its number. The program has `count` texts; `offsets` says where they begin in `texts`, and
/// where the last one ends.
///
/// # Safety
///
/// For compiled code, which ends what it has begun.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_end_text(texts: *const u8, offsets: *const usize, count: usize) -> u64 {
    // SAFETY: the caller's obligation; the bytes are below what is used, and nothing appends to them meanwhile.
    unsafe {
        let kept = &mut *KEPT.get();
        let bytes = core::slice::from_raw_parts(kept.bytes.add(kept.start), kept.used - kept.start);
        kept.used = kept.start - BEFORE;
        kept.start = ptr::read_unaligned(kept.bytes.add(kept.used).cast());
        let offsets = core::slice::from_raw_parts(offsets, count + 1);
        let of_program = offsets.windows(2).position(|ends| {
            ends[1] - ends[0] == bytes.len() && core::slice::from_raw_parts(texts.add(ends[0]), bytes.len()) == bytes
        });
        of_program.map_or_else(|| made(bytes) as u64, |number| number as u64)
    }
}

impl Texts {
    /// The place of the text with these bytes, or the free one where it would be.
    ///
    /// # Safety
    ///
    /// There is a free place.
    unsafe fn place(&self, hash: u64, bytes: &[u8]) -> *mut *mut Text {
        let mut index = (hash ^ (hash >> 32)) as usize;
        loop {
            // SAFETY: the index is below the size; texts in the table stay.
            unsafe {
                let place = self.places.add(index & (self.size - 1));
                let text = *place;
                if text.is_null() || (*text).hash == hash && content(text) == bytes {
                    return place;
                }
            }
            index = index.wrapping_add(1);
        }
    }

    /// Makes room for one more text.
    fn grow(&mut self) {
        let larger = (2 * self.size).max(SMALLEST);
        let places: *mut *mut Text = allocate(larger * size_of::<*mut Text>()).cast();
        // SAFETY: the new table has so many places, and the old one is not used any more.
        unsafe {
            ptr::write_bytes(places, 0, larger);
            let old = core::mem::replace(self, Texts { places, size: larger, count: self.count });
            for index in 0..old.size {
                let text = *old.places.add(index);
                if !text.is_null() {
                    *self.place((*text).hash, content(text)) = text;
                }
            }
            system::free(old.places.cast());
        }
    }
}

/// The made text with these bytes.
fn made(bytes: &[u8]) -> *mut Text {
    // FNV-1a, see http://www.isthe.com/chongo/tech/comp/fnv/.
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    // SAFETY: nothing else refers to the table while this function runs, and it is never full.
    unsafe {
        let texts = &mut *TEXTS.get();
        if 2 * texts.count >= texts.size {
            texts.grow();
        }
        let place = texts.place(hash, bytes);
        if (*place).is_null() {
            // Its number would be another one in each process.
            shards::demand_program();
            let size = size_of::<Text>() + bytes.len();
            let new = if ranks::group().is_some() { allocate_alike(size) } else { allocate(size) }.cast::<Text>();
            new.write(Text { length: bytes.len(), hash });
            ptr::copy_nonoverlapping(bytes.as_ptr(), new.add(1).cast(), bytes.len());
            *place = new;
            texts.count += 1;
        }
        *place
    }
}

unsafe fn content(text: *const Text) -> &'static [u8] {
    // SAFETY: the bytes stand behind the text, and both stay.
    unsafe { core::slice::from_raw_parts(text.add(1).cast(), (*text).length) }
}

/// Writes a text in quotes, as a program has it.
///
/// # Safety
///
/// `text` points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_write_quoted(stream: u64, text: *const u8, length: usize) {
    // SAFETY: the caller's obligation.
    let text = unsafe { core::slice::from_raw_parts(text, length) };
    crate::number::quoted(text, |piece| output::write_stream(stream, piece));
}
