//! Work that several processes share: the library's `map-over` and `sum-over` (`stdlib/shards.vlad`).
//!
//! A program computes its shards one after another and asks now and then whether it should go on so. If what is left
//! takes long enough, it is copied (`fork`): each *worker* has all that the program has, for nothing, and none of them
//! sees what another one does. Workers take shards in their order, each the next that nobody has taken, and write the
//! results to pipes. The program itself only reads these, and goes on with the results in the order of the shards; so
//! nothing that it computes depends on who has computed them.
//!
//! Whatever a worker cannot do as the program would (writing, reading, failing, memory, a new text), it does not do: it
//! *abandons* the shard, and the program computes this one and those after it by itself, with all that follows from
//! it. So outputs, messages, handlers and exit codes are those of a program that works alone. A worker that dies of
//! anything else ends the program.
//!
//! ~~~text
//! in a pipe:  shard | words | leaves | boxes | leaves ... | boxes ...       (one record for each shard)
//! reference:  immediate: n << 3 | address outside of the heap: a | 1 | box: its place in the record << 3 | 2
//! box:        header, with what its words are in place of the count | words
//! ~~~
//!
//! A value is a row of leaves, which compiled code hands over one by one ([`vlad_exchange`]). Behind them stand the
//! boxes that they lead to, each once, in the order in which they are found.

use crate::cell::Single;
use crate::heap::{self, Heap};
use crate::layout::{
    BASE_OFFSET, COUNT_OFFSET, ELEMENTS_OFFSET, IMMEDIATES, MANY_POINTERS, VIEW, VIEW_WORDS, WORD, class_of,
    class_words,
};
use crate::processes::{self, Process};
use crate::question::Words;
use crate::words::Pages;
use crate::{memory, output, start, system, watch};
use core::fmt::Write;

/// Questions of the library: how many shards there are, when the first one was begun, and how to go on with a shard.
pub const COUNT: f64 = 100.0;
const BEGUN: f64 = 101.0;
const NEXT: f64 = 102.0;

/// What answers mean.
const ALL_HERE: f64 = 0.0;
const TAKE: f64 = -1.0;
const WORK: f64 = -2.0;

/// At most so many workers.
pub const MOST: usize = 256;

/// What must be left to do for workers to be started, in seconds, unless the environment says otherwise.
const WORTH: f64 = 0.002;

/// Results are written when there are so many words of them, or so many nanoseconds after the last ones.
const ENOUGH: usize = 1 << 13;
const LATE: u64 = 2_000_000;

/// A worker takes no more shards at a time than take about so long, in seconds.
const PORTION: f64 = 0.0005;

/// What the words of a box are, in place of its count: as they stand; the first one an address within the box; a view,
/// whose first one counts from its base; a view of memory that is no box.
const PLAIN: u64 = 0;
const OWN: u64 = 1;
const SEEN: u64 = 2;
const FOREIGN: u64 = 3;

/// Says in the count of a box that the rest is its place in the record.
const MARK: u32 = 1 << 31;

const OUTSIDE: u64 = 1;
const INSIDE: u64 = 2;

/// How many words are in front of the leaves in a record.
pub const HEAD: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The program, which works alone.
    Alone,
    /// The program, which has workers.
    Leader,
    /// One of these.
    Worker,
}

struct State {
    role: Role,
    /// How many workers there may be, 0 if nobody has looked yet; and what must be left to do for them.
    threads: usize,
    worth: f64,
    /// The loop that asks, and the loop that has workers: the number of shards, and the time at which it began.
    count: f64,
    begun: f64,
    run: f64,
    // The leader.
    workers: [Process; MOST],
    started: usize,
    /// Where the result of each shard is: the address of its words, or 0. Those below `first` are not in it.
    results: Pages,
    first: usize,
    /// The result that is being taken: its words, the next leaf, the addresses of its boxes.
    taken: *mut u64,
    leaf: usize,
    boxes: Pages,
    // A worker.
    own: usize,
    /// The shard at hand, and the first one after it that is not to be computed here.
    shard: u64,
    end: u64,
    portion: u64,
    is_busy: bool,
    /// Records; where the last one begins.
    records: Pages,
    record: usize,
    /// The boxes of the record, and what stood in the headers of those that are marked.
    found: Pages,
    marked: Pages,
    /// The pointers among the leaves: where they stand in the record, and what they are.
    held: Pages,
    written: u64,
}

static STATE: Single<State> = Single::new(State {
    role: Role::Alone,
    threads: 0,
    worth: WORTH,
    count: 0.0,
    begun: 0.0,
    run: -1.0,
    workers: [Process::NONE; MOST],
    started: 0,
    results: Pages::new(),
    first: 0,
    taken: core::ptr::null_mut(),
    leaf: 0,
    boxes: Pages::new(),
    own: 0,
    shard: 0,
    end: 0,
    portion: 1,
    is_busy: false,
    records: Pages::new(),
    record: 0,
    found: Pages::new(),
    marked: Pages::new(),
    held: Pages::new(),
    written: 0,
});

/// The state, which nothing else refers to while a function of this module runs, except for those that do not return.
fn state() -> &'static mut State {
    // SAFETY: see above.
    unsafe { &mut *STATE.get() }
}

fn program_heap() -> *mut Heap {
    memory::vlad_heap.get()
}

/// Answers what the library asks about shards.
pub fn ask(what: f64, x: f64) -> f64 {
    let state = state();
    match what {
        COUNT => state.count = x,
        BEGUN => state.begun = x,
        NEXT => return state.next(x),
        _ => {}
    }
    0.0
}

/// In a worker, ends it without having computed its shard: what it is about to do is the program's.
pub fn demand_program() {
    if state().role == Role::Worker {
        state().abandon();
    }
}

/// Ends all workers, since the program ends. May be called in a signal handler.
pub fn end_workers() {
    let state = state();
    if state.role == Role::Leader {
        state.workers[..state.started].iter_mut().for_each(Process::kill);
    }
}

impl State {
    /// How to go on with the shard `i`.
    fn next(&mut self, i: f64) -> f64 {
        match self.role {
            Role::Worker if self.begun == self.run => self.work(),
            // Shards within shards.
            Role::Worker => ALL_HERE,
            Role::Leader if self.begun == self.run => self.take(i as usize),
            Role::Leader => {
                // An error has ended the loop that had workers, and the program has handled it.
                self.disband();
                self.consider(i)
            }
            Role::Alone => self.consider(i),
        }
    }

    /// Decides whether workers are started, now that `i` shards are done.
    fn consider(&mut self, i: f64) -> f64 {
        if self.threads == 0 {
            self.initialise();
        }
        let left = self.count - i;
        if self.threads == 1 || left < 2.0 {
            return ALL_HERE;
        }
        let now = watch::seconds();
        let each = (now - self.begun) / i;
        if each * left < self.worth {
            return i;
        }
        let portion = (PORTION / each).clamp(1.0, 1e9) as u64;
        self.start(i as usize, self.threads.min(left as usize), portion)
    }

    fn initialise(&mut self) {
        let number = |name: &[u8], complaint: &str| {
            let text = core::str::from_utf8(system::environment(name)?).unwrap_or("");
            match text.trim().parse::<f64>() {
                Ok(number) if number >= 0.0 => Some(number),
                _ => {
                    let _ = writeln!(output::Stderr, "error: {complaint}: `{text}`");
                    start::leave(crate::command_line::USAGE)
                }
            }
        };
        let threads = number(b"VLAD_THREADS\0", "VLAD_THREADS is no number of processors");
        self.threads = threads.map_or_else(processes::processors, |threads| threads as usize).clamp(1, MOST);
        self.worth = number(b"VLAD_THREADS_FROM\0", "VLAD_THREADS_FROM is no number of seconds").unwrap_or(WORTH);
    }

    /// Starts workers for the shards from the first one on.
    fn start(&mut self, first: usize, count: usize, portion: u64) -> f64 {
        if processes::share(first as u64).is_none() {
            return ALL_HERE;
        }
        self.drop_taken();
        (self.first, self.run, self.portion) = (first, self.begun, portion);
        self.results.clear();
        (0..self.count as usize - first).for_each(|_| self.results.push(0));
        self.started = 0;
        while self.started < count {
            let earlier = &self.workers[..self.started];
            match processes::start(earlier) {
                None => break,
                Some(Process::NONE) => {
                    self.own = self.started;
                    self.role = Role::Worker;
                    memory::divide(count as u64);
                    watch::silence();
                    (self.shard, self.end, self.written) = (0, 0, system::time());
                    return self.work();
                }
                Some(worker) => {
                    self.workers[self.started] = worker;
                    self.started += 1;
                }
            }
        }
        if self.started == 0 {
            return ALL_HERE;
        }
        self.role = Role::Leader;
        self.take(first)
    }

    /// Waits for the result of a shard. Those before it have been taken.
    fn take(&mut self, shard: usize) -> f64 {
        self.drop_taken();
        let place = shard - self.first;
        loop {
            let found = self.results.all()[place] as *mut u64;
            if !found.is_null() {
                self.results.set(place, 0);
                self.unpack(found);
                if shard + 1 == self.count as usize {
                    self.disband();
                }
                return TAKE;
            }
            if processes::shared().limit() <= shard as u64 {
                self.disband();
                return ALL_HERE;
            }
            self.receive();
        }
    }

    /// Reads what workers have written, and waits until some have.
    fn receive(&mut self) {
        let mut open = false;
        let results = &mut self.results;
        let (first, started) = (self.first as u64, self.started);
        processes::wait(&self.workers[..started]);
        for index in 0..started {
            let worker = &mut self.workers[index];
            if !worker.is_open() {
                continue;
            }
            open = true;
            let whole = worker.read(|record| {
                // SAFETY: a record begins with the number of its shard.
                let shard = unsafe { *record };
                results.set((shard - first) as usize, record as u64);
            });
            if let Some(end) = whole {
                if end.is_good() {
                    continue;
                }
                let shard = processes::shared().current(index);
                self.workers[..started].iter_mut().for_each(Process::kill);
                output::flush();
                let _ = write!(output::Stderr, "error: a process that computed shard {shard} {end}\n{HELP}");
                start::finish(start::EXHAUSTED);
            }
        }
        if !open {
            // Nobody is there any more, and the shard is neither computed nor abandoned.
            output::write_error(b"error: the processes that computed shards have ended too early\n");
            start::finish(start::EXHAUSTED);
        }
    }

    /// Ends the workers, and forgets what they have found beyond what has been taken.
    fn disband(&mut self) {
        for worker in &mut self.workers[..self.started] {
            worker.kill();
            worker.end();
        }
        for place in 0..self.results.all().len() {
            let found = self.results.all()[place] as *mut u64;
            if !found.is_null() {
                // SAFETY: a record that nobody else refers to.
                unsafe { system::free(found.cast()) };
            }
        }
        self.results.clear();
        (self.role, self.started, self.run) = (Role::Alone, 0, -1.0);
    }

    fn drop_taken(&mut self) {
        if !self.taken.is_null() {
            // SAFETY: all of it has been taken.
            unsafe { system::free(self.taken.cast()) };
            self.taken = core::ptr::null_mut();
        }
    }

    /// The next shard for a worker, after the last one has been handed over.
    fn work(&mut self) -> f64 {
        if self.is_busy {
            self.finish_record();
        }
        self.shard += 1;
        if self.shard >= self.end {
            let portion = self.portion.min(((self.count as u64) - self.shard.min(self.count as u64)) / 64 + 1);
            (self.shard, self.end) = processes::shared().claim(portion, self.count as u64);
        }
        if self.shard >= self.end || self.shard > processes::shared().limit() {
            self.write_records();
            system::exit_process(0);
        }
        let now = system::time();
        if self.records.all().len() > ENOUGH || now - self.written > LATE {
            self.write_records();
            self.written = now;
        }
        processes::shared().set_current(self.own, self.shard);
        self.record = self.records.all().len();
        [self.shard, 0, 0, 0].into_iter().for_each(|word| self.records.push(word));
        self.is_busy = true;
        WORK - self.shard as f64
    }

    /// Writes the whole records.
    fn write_records(&mut self) {
        let words = self.records.all();
        // SAFETY: the words are bytes, too.
        let bytes = unsafe { core::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * WORD) };
        if output::write_all(processes::shared().pipe(), bytes).is_err() {
            // Nobody reads any more.
            system::exit_process(0);
        }
        self.records.clear();
    }

    fn abandon(&mut self) -> ! {
        processes::shared().lower_limit(self.shard);
        self.records.shorten(self.record);
        self.write_records();
        system::exit_process(0)
    }

    /// A leaf of a worker's result.
    fn give(&mut self, is_pointer: bool, word: u64) {
        if is_pointer {
            if word >= IMMEDIATES {
                // It is to be there until the record is finished, and compiled code does not need it any more.
                // SAFETY: it is no immediate, so it is a box.
                unsafe { *(word as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>() += 1 };
            }
            self.held.push(self.records.all().len() as u64);
            self.held.push(word);
        }
        self.records.push(word);
        let leaves = self.records.all()[self.record + 2];
        self.records.set(self.record + 2, leaves + 1);
    }

    /// What stands for a pointer in a record.
    fn reference(&mut self, pointer: u64) -> u64 {
        if pointer < IMMEDIATES {
            return pointer << 3;
        }
        // SAFETY: it is no immediate, so it is a box; the heap is not in use.
        unsafe {
            if !(*program_heap()).contains(pointer as usize) {
                return pointer | OUTSIDE;
            }
            let count = (pointer as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>();
            if *count & MARK != 0 {
                return u64::from(*count & !MARK) << 3 | INSIDE;
            }
            let place = self.found.all().len() as u64;
            self.found.push(pointer);
            if *count > 1 {
                self.marked.push(pointer);
                self.marked.push(u64::from(*count));
                *count = MARK | place as u32;
            }
            place << 3 | INSIDE
        }
    }

    /// Adds the boxes that the leaves of the record lead to.
    fn finish_record(&mut self) {
        for index in 0..self.held.all().len() / 2 {
            let (place, pointer) = (self.held.all()[2 * index], self.held.all()[2 * index + 1]);
            let reference = self.reference(pointer);
            self.records.set(place as usize, reference);
        }
        let mut next = 0;
        while let Some(address) = self.found.all().get(next).copied() {
            // SAFETY: boxes are found by references to them.
            unsafe { self.give_box(address as *const u64) };
            next += 1;
        }
        for index in 0..self.marked.all().len() / 2 {
            let (address, count) = (self.marked.all()[2 * index], self.marked.all()[2 * index + 1]);
            // SAFETY: a box that has been marked.
            unsafe { *(address as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>() = count as u32 };
        }
        self.records.set(self.record + 1, (self.records.all().len() - self.record - HEAD) as u64);
        self.records.set(self.record + 3, next as u64);
        for index in 0..self.held.all().len() / 2 {
            // SAFETY: they have had one more owner since they were handed over; an immediate needs none.
            unsafe { heap::vlad_release(self.held.all()[2 * index + 1] as *mut u64, program_heap()) };
        }
        self.held.clear();
        self.found.clear();
        self.marked.clear();
        self.is_busy = false;
    }

    /// Adds a box.
    ///
    /// # Safety
    ///
    /// It is a box of the heap.
    unsafe fn give_box(&mut self, address: *const u64) {
        // SAFETY: the header of a box says which class it has and how many pointer fields follow.
        unsafe {
            let header = *address & 0xffff_ffff;
            let class = class(header);
            let first = *address.byte_add(ELEMENTS_OFFSET as usize);
            if class == VIEW {
                let base = *address.byte_add(BASE_OFFSET as usize);
                let kind = if base == 0 { FOREIGN } else { SEEN };
                let base_reference = self.reference(base);
                [header | kind << 32, first.wrapping_sub(base), base_reference]
                    .into_iter()
                    .for_each(|word| self.records.push(word));
                return;
            }
            let words = class_words(class);
            let mut pointers = (header & 0xff) as usize;
            let far = first.wrapping_sub(address as u64);
            // A number that looks like an address within its own box would be one of very few numbers near zero.
            if pointers == 0 && far < (words * WORD) as u64 && far > 0 && far.is_multiple_of(WORD as u64) {
                self.records.push(header | OWN << 32);
                self.records.push(far);
                (2..words).for_each(|at| self.records.push(*address.add(at)));
                return;
            }
            self.records.push(header | PLAIN << 32);
            let mut at = 1;
            if pointers == MANY_POINTERS {
                pointers = first as usize;
                self.records.push(first);
                at = 2;
            }
            for pointer in at..at + pointers {
                let reference = self.reference(*address.add(pointer));
                self.records.push(reference);
            }
            (at + pointers..words).for_each(|at| self.records.push(*address.add(at)));
        }
    }

    /// Makes the boxes of a record. Its leaves come next.
    fn unpack(&mut self, record: *mut u64) {
        (self.taken, self.leaf) = (record, HEAD);
        self.boxes.clear();
        // SAFETY: a record is as a worker has written it; boxes have room for the words of their class.
        unsafe {
            let (leaves, boxes) = (*record.add(2) as usize, *record.add(3) as usize);
            let start = record.add(HEAD + leaves);
            let mut at = start;
            for _ in 0..boxes {
                let class = class(*at);
                let new = heap::take(program_heap(), if class == VIEW { class_of(VIEW_WORDS) } else { class });
                // Nobody owns it yet.
                *new = *at & 0xffff_ffff;
                self.boxes.push(new as u64);
                at = at.add(size(class));
            }
            at = start;
            for place in 0..boxes {
                let new = self.boxes.all()[place] as *mut u64;
                let (class, kind) = (class(*at), *at >> 32);
                let words = size(class);
                let mut first_plain = 1;
                match kind {
                    OWN => {
                        *new.add(1) = new as u64 + *at.add(1);
                        first_plain = 2;
                    }
                    SEEN | FOREIGN => {
                        let base = if kind == SEEN { self.owned(*at.add(2)) } else { 0 };
                        *new.add(1) = base.wrapping_add(*at.add(1));
                        *new.add(2) = base;
                        first_plain = 3;
                    }
                    _ => {
                        let mut pointers = (*at & 0xff) as usize;
                        if pointers == MANY_POINTERS {
                            pointers = *at.add(1) as usize;
                            *new.add(1) = pointers as u64;
                            first_plain = 2;
                        }
                        for field in first_plain..first_plain + pointers {
                            *new.add(field) = self.owned(*at.add(field));
                        }
                        first_plain += pointers;
                    }
                }
                core::ptr::copy_nonoverlapping(at.add(first_plain), new.add(first_plain), words - first_plain);
                at = at.add(words);
            }
        }
    }

    /// What a reference in a record is to, with one more owner.
    fn owned(&self, reference: u64) -> u64 {
        let pointer = match reference & 7 {
            0 => return reference >> 3,
            OUTSIDE => reference & !7,
            _ => self.boxes.all()[(reference >> 3) as usize],
        };
        // SAFETY: a box of this record, or one that is no part of the heap.
        unsafe { *(pointer as *mut u64).byte_add(COUNT_OFFSET as usize).cast::<u32>() += 1 };
        pointer
    }

    /// The next leaf of the record that is being taken.
    fn next_leaf(&mut self, is_pointer: bool) -> u64 {
        // SAFETY: compiled code takes as many leaves as have been given.
        let word = unsafe { *self.taken.add(self.leaf) };
        self.leaf += 1;
        if is_pointer { self.owned(word) } else { word }
    }
}

/// The class of a box with this header.
const fn class(header: u64) -> usize {
    (header >> 8 & 0xff) as usize
}

/// Words of a box in a record.
const fn size(class: usize) -> usize {
    if class == VIEW { VIEW_WORDS } else { class_words(class) }
}

const HELP: &str = "help: with VLAD_THREADS=1 in the environment, the program works alone\n";

/// One leaf of a shard's value: a worker hands it over; the program has that of another process in its place.
///
/// # Safety
///
/// For compiled code, which owns `word` if that is a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vlad_exchange(is_pointer: u64, word: u64) -> u64 {
    let state = state();
    if state.role == Role::Worker {
        state.give(is_pointer == 1, word);
        return word;
    }
    if state.taken.is_null() {
        return word;
    }
    if is_pointer == 1 {
        // SAFETY: the caller's obligation.
        unsafe { heap::vlad_release(word as *mut u64, program_heap()) };
    }
    state.next_leaf(is_pointer == 1)
}
