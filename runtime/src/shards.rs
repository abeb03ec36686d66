//! Work that several processes share: the library's `map-over` and `sum-over` (`stdlib/shards.vlad`), and loops that the
//! compiler has divided (its pass `parallelize`), whose shards are rounds.
//!
//! A program computes its shards one after another and asks now and then whether it should go on so. If what is left
//! takes long enough, it is copied (`fork`): each *worker* has all that the program has, for nothing, and none of them
//! sees what another one does. Workers take shards in their order, each the next that nobody has taken, and write the
//! results to pipes. The program itself only reads these, and goes on with the results in the order of the shards; so
//! nothing that it computes depends on who has computed them. What is written is a matter of [`crate::records`].
//!
//! Whatever a worker cannot do as the program would (writing, reading, failing, memory, a new text), it does not do: it
//! *abandons* the shard, and the program computes this one and those after it by itself, with all that follows from
//! it. So outputs, messages, handlers and exit codes are those of a program that works alone. A worker that dies of
//! anything else ends the program.
//!
//! Where a launcher of MPI has started several processes, the *ranks* ([`crate::ranks`]), each has workers for its own
//! part of the shards of `map-over` and `sum-over`, and gets the records of all ranks ([`crate::rounds`]). What one of
//! them abandons, all ranks compute.

use crate::cell::Single;
use crate::heap;
use crate::layout::WORD;
use crate::processes::{self, Process};
use crate::question::{ENTER_SHARD, SAY_SHARD, SHARD};
use crate::records::{Queue, Received, Sent};
use crate::rounds::{Part, Round};
use crate::words::Pages;
use crate::{memory, output, ranks, start, system, text, watch};
use core::fmt::Write;

/// Questions: how many shards there are, when the first one was begun, and how to go on with a shard. Behind an answer
/// that begins with [`TAKE`] or [`WORK`]: how many shards it is true of, from that one on, if all are treated before the
/// next question; without this question, one. The time; and how to go on with a shard that other ranks may compute, too.
pub const COUNT: f64 = 100.0;
const BEGUN: f64 = 101.0;
const NEXT: f64 = 102.0;
const SPAN: f64 = 103.0;
const NOW: f64 = 104.0;
const NEXT_FOR_RANKS: f64 = 105.0;

/// What answers mean.
const ALL_HERE: f64 = 0.0;
const TAKE: f64 = -1.0;
const WORK: f64 = -2.0;

/// At most so many workers.
pub const MOST: usize = 256;

/// What must be left to do for workers to be started, in seconds, unless the environment says otherwise.
const WORTH: f64 = 0.002;

/// What is left takes at least so many times what starting workers took the last time: large programs take longer to be
/// copied.
const STARTS: f64 = 4.0;

/// Before so many seconds, nothing can be said about how long a shard takes: the first ones wait for memory.
const SAMPLE: f64 = 1e-4;

/// Shorter shards, in seconds, are computed before their results are sent.
const SHORTEST: f64 = 5e-8;

/// Results are written when there are so many words of them, or so many nanoseconds after the last ones.
const ENOUGH: usize = 1 << 13;
const LATE: u64 = 2_000_000;

/// A worker takes no more shards at a time than take about so long, in seconds.
pub const PORTION: f64 = 0.0005;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The program, which works alone.
    Alone,
    /// The program, which has workers.
    Leader,
    /// One of these.
    Worker,
}

/// What a process knows of the shards at hand.
pub struct State {
    role: Role,
    /// How many workers there may be, 0 if nobody has looked yet; what must be left to do for them; how long it took to
    /// start them.
    pub(crate) threads: usize,
    worth: f64,
    cost: f64,
    /// The loop that asks, and the loop that has workers: the number of shards, and the time at which it began.
    pub(crate) count: f64,
    begun: f64,
    run: f64,
    /// The number of the shard at hand and 1, or 0 for none.
    at_hand: f64,
    // The leader.
    workers: [Process; MOST],
    pub(crate) started: usize,
    /// Records of each worker that have not been taken, the first and the last one; each leads to the next.
    pub(crate) arrived: [Queue; MOST],
    pub(crate) taken: Received,
    /// The shards of this rank, if ranks share them; the results of all ranks, and those of this one, as records.
    pub(crate) part: Option<Part>,
    pub(crate) round: Round,
    pub(crate) found: Pages,
    // A worker.
    own: usize,
    /// The shard behind the last one that workers compute.
    last: u64,
    /// The shard at hand, for how many from there on that holds, and the first one that is not to be computed here. The
    /// leader knows the first one, too.
    shard: u64,
    span: u64,
    end: u64,
    portion: u64,
    sent: Sent,
    written: u64,
}

/// Zeros, which take no room in executables.
static STATE: Single<State> = Single::new(State {
    role: Role::Alone,
    threads: 0,
    worth: 0.0,
    cost: 0.0,
    count: 0.0,
    begun: 0.0,
    run: 0.0,
    at_hand: 0.0,
    workers: [Process::NONE; MOST],
    started: 0,
    arrived: [Queue::EMPTY; MOST],
    taken: Received::new(),
    part: None,
    round: Round::NONE,
    found: Pages::new(),
    own: 0,
    last: 0,
    shard: 0,
    span: 0,
    end: 0,
    portion: 0,
    sent: Sent::new(),
    written: 0,
});

/// The state, which nothing else refers to while a function of this module runs, except for those that do not return.
fn state() -> &'static mut State {
    // SAFETY: see above.
    unsafe { &mut *STATE.get() }
}

/// Answers what the library asks about shards.
pub fn ask(what: f64, x: f64) -> f64 {
    let state = state();
    match what {
        COUNT => state.count = x,
        BEGUN => state.begun = x,
        NEXT => return state.next(x, false),
        NEXT_FOR_RANKS => return state.next(x, true),
        NOW => return watch::seconds(),
        ENTER_SHARD => state.at_hand = x + 1.0,
        SHARD => return state.at_hand - 1.0,
        SAY_SHARD if state.at_hand > 0.0 => {
            let _ = writeln!(output::Stderr, "note: this happened in shard {}", state.at_hand as u64 - 1);
        }
        SPAN => return state.span(),
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
    /// How to go on with the shard `i`, which other ranks may compute, or only this one.
    fn next(&mut self, i: f64, is_for_ranks: bool) -> f64 {
        match self.role {
            Role::Worker if self.begun == self.run => self.work(),
            // Shards within shards.
            Role::Worker => ALL_HERE,
            Role::Leader if self.begun == self.run => self.take(i as u64),
            Role::Leader => {
                // An error has ended the loop that had workers, and the program has handled it.
                self.disband();
                self.consider(i, is_for_ranks)
            }
            Role::Alone => self.consider(i, is_for_ranks),
        }
    }

    /// Of how many shards the last answer is true.
    fn span(&mut self) -> f64 {
        if self.role == Role::Worker {
            self.span = self.end - self.shard;
            return self.span as f64;
        }
        let span = self.taken.ready + 1;
        self.taken.ready = 0;
        if self.role == Role::Leader && self.shard + span == self.count as u64 {
            self.disband();
        }
        span as f64
    }

    /// Decides whether workers are started, now that `i` shards are done.
    fn consider(&mut self, i: f64, is_for_ranks: bool) -> f64 {
        if self.threads == 0 {
            self.initialise();
        }
        if let Some(group) = ranks::group().filter(|_| is_for_ranks) {
            return (group.consider)(self, i);
        }
        let left = self.count - i;
        if self.threads == 1 || left < 2.0 {
            return ALL_HERE;
        }
        if !self.pays(i) {
            return i;
        }
        if self.start((i as u64, self.count as u64), self.threads.min(left as usize), i) {
            return self.work();
        }
        if self.started == 0 {
            return ALL_HERE;
        }
        self.take(i as u64)
    }

    /// How many shards take so many seconds, judged by the first `i`.
    pub fn lasting(&self, seconds: f64, i: f64) -> u64 {
        let each = (watch::seconds() - self.begun) / i;
        (seconds / each).clamp(1.0, 1e9) as u64
    }

    /// Whether starting workers pays, after `i` shards.
    pub fn pays(&self, i: f64) -> bool {
        let passed = watch::seconds() - self.begun;
        let each = passed / i;
        let left_time = each * (self.count - i);
        let may_not_pay = passed < SAMPLE || each < SHORTEST || left_time < STARTS * self.cost;
        !(left_time < self.worth || self.worth > 0.0 && may_not_pay)
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
        let processors = || ranks::group().map_or_else(processes::processors, |group| group.workers);
        self.threads = threads.map_or_else(processors, |threads| threads as usize).clamp(1, MOST);
        self.worth = number(b"VLAD_THREADS_FROM\0", "VLAD_THREADS_FROM is no number of seconds").unwrap_or(WORTH);
    }

    /// Starts workers for the shards from one to another, after `i` shards. `true` in each of these.
    pub fn start(&mut self, (first, last): (u64, u64), count: usize, i: f64) -> bool {
        let begun = watch::seconds();
        self.taken.forget();
        self.started = 0;
        if processes::share(first).is_none() {
            return false;
        }
        (self.run, self.last, self.portion) = (self.begun, last, self.lasting(PORTION, i));
        while self.started < count {
            let earlier = &self.workers[..self.started];
            match processes::start(earlier) {
                None => break,
                Some(Process::NONE) => {
                    self.own = self.started;
                    self.role = Role::Worker;
                    memory::divide(count as u64);
                    watch::silence();
                    ranks::forget();
                    text::begin_work();
                    (self.shard, self.end, self.written) = (0, 0, system::time());
                    return true;
                }
                Some(worker) => {
                    self.workers[self.started] = worker;
                    self.started += 1;
                }
            }
        }
        if self.started > 0 {
            self.role = Role::Leader;
            self.cost = watch::seconds() - begun;
        }
        false
    }

    /// Goes on as the leader of the loop at hand, whoever computes its shards.
    pub fn lead(&mut self) {
        (self.role, self.run) = (Role::Leader, self.begun);
    }

    /// Waits for the result of a shard. Those before it have been taken.
    pub fn take(&mut self, shard: u64) -> f64 {
        self.shard = shard;
        if let Some(part) = self.part.filter(|_| self.taken.ready == 0)
            && self.next_record(part, shard).is_none()
        {
            self.disband();
            return ALL_HERE;
        }
        if self.taken.ready == 0 {
            loop {
                let found = self.arrived[..self.started].iter_mut().find_map(|queue| queue.pop(|first| first == shard));
                if let Some(record) = found {
                    // SAFETY: records arrive whole, and have left the queue.
                    unsafe { self.taken.unpack(record) };
                    break;
                }
                if processes::shared().limit() <= shard {
                    self.disband();
                    return ALL_HERE;
                }
                self.await_workers();
            }
        }
        self.taken.ready -= 1;
        if shard + 1 == self.count as u64 {
            self.disband();
        }
        TAKE
    }

    /// Reads what workers have written, and waits until some have.
    pub fn await_workers(&mut self) {
        let started = self.started;
        if !self.workers[..started].iter().any(Process::is_open) {
            // Nobody is there any more, and the shard is neither computed nor abandoned.
            output::write_error(b"error: the processes that computed shards have ended too early\n");
            start::finish(start::EXHAUSTED);
        }
        processes::wait(&self.workers[..started]);
        for index in 0..started {
            let worker = &mut self.workers[index];
            if !worker.is_open() {
                continue;
            }
            // SAFETY: the record has just been made.
            let whole = worker.read(|record| unsafe { self.arrived[index].push(record) });
            if let Some(end) = whole {
                if end.is_good() {
                    continue;
                }
                let shard = processes::shared().current(index);
                self.workers[..started].iter_mut().for_each(Process::kill);
                output::flush();
                let help = if ranks::group().is_none() { HELP } else { "" };
                let _ = write!(output::Stderr, "error: a process that computed shard {shard} {end}\n{help}");
                start::finish(start::EXHAUSTED);
            }
        }
    }

    /// Ends the workers, and forgets what they have found beyond what has been taken.
    fn disband(&mut self) {
        for worker in &mut self.workers[..self.started] {
            worker.kill();
            worker.end();
        }
        for queue in &mut self.arrived[..self.started] {
            while let Some(record) = queue.pop(|_| true) {
                // SAFETY: a record that nobody else refers to.
                unsafe { system::free(record.cast()) };
            }
        }
        self.taken.forget_in_place();
        self.round.free();
        self.part = None;
        (self.role, self.started, self.run, self.taken.ready) = (Role::Alone, 0, -1.0, 0);
    }

    /// The next shard for a worker, after the last ones have been handed over.
    pub fn work(&mut self) -> f64 {
        let now = system::time();
        let is_enough = self.sent.words().len() > ENOUGH || now - self.written > LATE;
        if self.sent.is_open {
            self.shard += self.span;
            self.sent.add_shards(self.span);
            let is_last = self.shard >= self.end || self.shard > processes::shared().limit();
            // The program may leave its loop between two shards, and then nobody owns the boxes of others.
            if is_last || is_enough || self.sent.has_pointers() {
                self.sent.finish();
            }
        }
        if self.shard >= self.end {
            let portion = self.portion.min((self.last - self.shard.min(self.last)) / 64 + 1);
            (self.shard, self.end) = match self.part {
                None => processes::shared().claim(portion, self.last),
                Some(part) => part.piece(processes::shared().claim(1, u64::MAX).0),
            };
        }
        if self.shard >= self.end || self.shard > processes::shared().limit() {
            self.write_records();
            system::exit_process(0);
        }
        if is_enough {
            self.write_records();
            self.written = now;
        }
        processes::shared().set_current(self.own, self.shard);
        if !self.sent.is_open {
            self.sent.begin(self.shard);
        }
        self.span = 1;
        WORK - self.shard as f64
    }

    /// Writes the whole records.
    fn write_records(&mut self) {
        let words = self.sent.words();
        // SAFETY: the words are bytes, too.
        let bytes = unsafe { core::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * WORD) };
        if output::write_all(processes::shared().pipe(), bytes).is_err() {
            // Nobody reads any more.
            system::exit_process(0);
        }
        self.sent.clear();
    }

    /// Ends the worker. Shards of the same record that it has computed are computed again.
    fn abandon(&mut self) -> ! {
        if self.sent.is_open {
            processes::shared().lower_limit(self.sent.first());
            self.sent.drop_last();
        }
        self.write_records();
        system::exit_process(0)
    }
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
        state.sent.give(is_pointer == 1, word);
        return word;
    }
    if state.taken.is_none() {
        return word;
    }
    if is_pointer == 1 {
        // SAFETY: the caller's obligation.
        unsafe { heap::vlad_release(word as *mut u64, memory::vlad_heap.get()) };
    }
    state.taken.next_leaf(is_pointer == 1)
}
