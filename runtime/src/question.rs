//! What programs ask of the system that they run on, `(%ask what x)`: the time, whether it is up, and that the state of
//! a search is kept; and what they tell of how far they have come. All of it is numbers, and none changes others unless
//! somebody has set a limit, or has let the program go on from what was kept.
//!
//! A search has a number, counted from 1 when it begins. Of searches within others (the function that is minimised
//! searches itself) only the outermost one is watched: it is shown, stopped by the time limit of the program, and kept,
//! so that whatever it computes is computed to the end. The first search that makes a step is the outermost one,
//! until it leaves.
//!
//! What is kept is a row of words:
//!
//! ~~~text
//! mark | program | arguments | records ... | check
//! record: kind, 1 for an outcome, 2 for the state of the search that runs | number of the search | number of searches
//!         begun until then | how many words follow | these
//! ~~~
//!
//! The state of a search is handed over at its steps, not so often that this takes much time, and written now and then,
//! and when the program is interrupted or its time is up. After that nothing is written, so that what the program makes
//! of a search that was stopped does not take the place of its state.
//!
//! When the program goes on from there, searches that have their outcome in the file return it, and the one whose state
//! is there begins with it. They have the same numbers, because everything else happens as before.
//!
//! This file uses nothing but `core` and no allocation: the compiler includes it as a module of its own.

use super::progress::{Progress, Shown, Told};
use super::report::{Bytes, Report};

/// Says that a file was kept by a program.
const MARK: u64 = u64::from_le_bytes(*b"vlad\x00kp1");

/// What comes in front of the records.
const HEADER: usize = 3;

/// Handing over the state takes this part of the time at most.
const SHARE: u64 = 20;

const OUTCOME: u64 = 1;
const STATE: u64 = 2;

/// What is asked. The library has the same numbers; from 100 on, questions are about shards, for executables only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How far the program has come.
    Tell(Told),
    /// Begins a search: its number.
    Begin,
    /// Whether anybody wants to know of a step of the search `x`, or may want it to stop: 1 if so.
    Watch,
    /// Whether the search `x` has to stop because of the time: 1 if so.
    IsLate,
    /// The search `x` has ended.
    Leave,
    /// The time in seconds since the program began.
    Clock,
    /// What is kept of the search `x`: 1 for its outcome, 2 for its state, 0 for nothing.
    Kept,
    /// 1 when the search `x` has to take its state from what is kept, the first time.
    Resume,
    /// The next number that is kept.
    Get,
    /// Whether the state of the search `x` is to be handed over now: 1 if so.
    IsDue,
    /// The next number to keep.
    Put,
    /// All numbers of the state of the search `x` are put.
    KeepState,
    /// Whether the outcome of the search `x` is to be kept: 1 if so.
    IsKept,
    /// All numbers of the outcome of the search `x` are put.
    KeepOutcome,
    /// Whether [`Question::Resume`] would be answered by 1: 1 if so.
    WillResume,
    /// Whether what the search `x` has found is to be put for the page about the run: 1 if so.
    IsReported,
    /// It is put.
    Found,
}

impl Question {
    /// The question with a number.
    fn of(number: f64) -> Option<Question> {
        use Question::{
            Begin, Clock, Found, Get, IsDue, IsKept, IsLate, IsReported, KeepOutcome, KeepState, Kept, Leave, Put,
            Resume, Tell, Watch, WillResume,
        };
        const ALL: [Question; 21] = [
            Tell(Told::Total),
            Tell(Told::Iteration),
            Tell(Told::Objective),
            Tell(Told::Gradient),
            Tell(Told::Search),
            Begin,
            Watch,
            IsLate,
            Leave,
            Clock,
            Kept,
            Resume,
            Get,
            IsDue,
            Put,
            KeepState,
            IsKept,
            KeepOutcome,
            WillResume,
            IsReported,
            Found,
        ];
        ALL.get(number as usize).copied()
    }
}

/// Told and asked by programs that watch their numbers, and by evaluated ones: the shard at hand from now on; which one
/// that is, -1 for none; and to say so in a message.
pub const ENTER_SHARD: f64 = 106.0;
/// See [`ENTER_SHARD`].
pub const SHARD: f64 = 107.0;
/// See [`ENTER_SHARD`].
pub const SAY_SHARD: f64 = 108.0;

/// Asked by libraries: calls a function of the caller; says that nobody gives its second derivative; says why that
/// went wrong, in the message at hand; and ends the call of the library with this message. See `callbacks`.
pub const CALL_BACK: f64 = 304.0;
/// See [`CALL_BACK`].
pub const SECOND_DERIVATIVE: f64 = 308.0;
/// See [`CALL_BACK`].
pub const SAY_FAILURE: f64 = 316.0;
/// See [`CALL_BACK`].
pub const END_FAILED: f64 = 317.0;

/// The question that libraries answer, too.
pub const CLOCK: f64 = 9.0;
/// [`Question::IsLate`]
pub const IS_LATE: f64 = 7.0;

/// Words in a row, as many as are needed.
pub trait Words {
    /// All of them.
    fn all(&self) -> &[u64];
    /// Adds one.
    fn push(&mut self, word: u64);
    /// Forgets all.
    fn clear(&mut self);
}

/// The system that a program runs on.
pub trait System: Shown {
    /// Nanoseconds since the program began.
    fn time(&mut self) -> u64;
    /// Writes what is kept to its file. Where that cannot be done it says so.
    fn keep(&mut self, words: &[u64]);
    /// What rows of bytes are.
    type Bytes: Bytes;
    /// The page about the run.
    fn report(&mut self) -> &mut Report<Self::Bytes>;
}

/// Why a program does not go on from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No program has kept it, or it is not as it was written.
    Damaged,
    /// Another program has.
    OtherProgram,
    /// It had other arguments.
    OtherArguments,
}

impl Refusal {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Refusal::Damaged => "it is no file that `--checkpoint` has written, or it is damaged",
            Refusal::OtherProgram => "another program has written it, or another version of this one",
            Refusal::OtherArguments => "the program had other arguments when it wrote this",
        }
    }
}

/// What a program was asked to do beside its work, and how far that is.
pub struct Watch<W> {
    /// What is shown.
    pub progress: Progress,
    is_shown: bool,
    limit: Option<u64>,
    /// How many searches have begun, and had begun when one was reported.
    searches: u64,
    counted: u64,
    /// The number of the outermost one, if it has made a step.
    outermost: u64,
    program: u64,
    arguments: u64,
    /// The time between two states that are kept, and when that was done last.
    every: Option<u64>,
    last: u64,
    /// The outcomes so far, as records; those that have not been written yet are many.
    outcomes: W,
    is_new: bool,
    /// The numbers that were put.
    put: W,
    /// When the putting of the state began, and when the next one may be put.
    begun: u64,
    next_state: u64,
    /// The last state that was put, of a search, when so many had begun.
    state: W,
    state_of: Option<(u64, u64)>,
    /// The time is up, and what there was has been written.
    is_closed: bool,
    /// What is written.
    image: W,
    /// What the program goes on from, and where the next number in it is.
    old: W,
    next: usize,
    /// The search that has to take its state from there.
    resumed: u64,
    /// Whether that still holds what no search has taken.
    is_waiting: bool,
}

impl<W: Words> Watch<W> {
    /// Nothing is watched.
    pub const fn new(outcomes: W, put: W, state: W, image: W, old: W) -> Watch<W> {
        Watch {
            progress: Progress::new(),
            is_shown: false,
            limit: None,
            searches: 0,
            counted: 0,
            outermost: 0,
            program: 0,
            arguments: BASIS,
            every: None,
            last: 0,
            outcomes,
            is_new: true,
            put,
            begun: 0,
            next_state: 0,
            state,
            state_of: None,
            is_closed: false,
            image,
            old,
            next: 0,
            resumed: 0,
            is_waiting: false,
        }
    }

    /// Progress is shown somewhere.
    pub fn show(&mut self) {
        self.is_shown = true;
    }

    /// Neither shows nor keeps anything any more.
    pub fn silence(&mut self) {
        (self.is_shown, self.every, self.is_waiting) = (false, None, false);
    }

    /// Searches stop after so many seconds.
    pub fn limit(&mut self, seconds: f64) {
        let limit = nanoseconds(seconds);
        self.limit = Some(limit);
        self.progress.limit(limit);
    }

    /// Whether searches stop after some time.
    pub fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Says what program this is.
    pub fn program(&mut self, identity: u64) {
        self.program = identity;
    }

    /// What says so.
    pub fn identity(&self) -> u64 {
        self.program
    }

    /// A number of the arguments.
    pub fn argument(&mut self, number: f64) {
        self.arguments = mixed(self.arguments, number.to_bits());
    }

    /// States are kept.
    pub fn checkpoint(&mut self) {
        self.every.get_or_insert(60_000_000_000);
    }

    /// States are kept so often, in seconds.
    pub fn every(&mut self, seconds: f64) {
        if self.every.is_some() {
            self.every = Some(nanoseconds(seconds));
        }
    }

    /// Whether anything is kept: not while the file holds what no search has taken yet, and must stay as it is.
    fn keeps(&self) -> bool {
        self.every.is_some() && !self.is_closed && !self.is_waiting && self.resumed == 0
    }

    /// The words that the program goes on from.
    pub fn resumed_words(&mut self) -> &mut W {
        &mut self.old
    }

    /// Goes on from these.
    ///
    /// # Errors
    ///
    /// When they are not those of this program with these arguments.
    pub fn resume(&mut self) -> Result<(), Refusal> {
        let [mark, program, arguments, .., check] = self.old.all() else { return Err(Refusal::Damaged) };
        let kept = self.old.all().len() - 1;
        if *mark != MARK || *check != self.old.all()[..kept].iter().fold(BASIS, |hash, word| mixed(hash, *word)) {
            return Err(Refusal::Damaged);
        }
        if *program != self.program {
            return Err(Refusal::OtherProgram);
        }
        if *arguments != self.arguments {
            return Err(Refusal::OtherArguments);
        }
        // A program that was stopped before there was anything to keep begins from its beginning.
        self.is_waiting = kept > HEADER;
        Ok(())
    }

    /// The kind of the record of a search, the number of searches at that time, and where its numbers are.
    fn record(&self, search: u64) -> Option<(u64, u64, usize)> {
        let words = self.old.all();
        let mut at = HEADER;
        while let Some([kind, number, searches, length]) = words.get(at..at + 4) {
            if *number == search {
                return Some((*kind, *searches, at + 4));
            }
            at += 4 + *length as usize;
        }
        None
    }

    /// What is kept of a search.
    fn begin_kept(&mut self, search: u64) -> f64 {
        let Some((kind, searches, place)) = self.record(search).filter(|_| self.is_waiting) else { return 0.0 };
        let length = self.old.all()[place - 1] as usize;
        (self.searches, self.next) = (searches, place);
        self.is_waiting = place + length + 1 < self.old.all().len();
        if kind == STATE {
            self.resumed = search;
            return 2.0;
        }
        for at in place - 4..place + length {
            self.outcomes.push(self.old.all()[at]);
        }
        1.0
    }

    /// Adds what was put as the outcome of a search.
    fn keep_outcome(&mut self, search: u64) {
        let length = self.put.all().len();
        [OUTCOME, search, self.searches, length as u64].into_iter().for_each(|word| self.outcomes.push(word));
        for at in 0..length {
            self.outcomes.push(self.put.all()[at]);
        }
        (self.is_new, self.state_of) = (true, None);
    }

    /// Writes the outcomes so far, and the last state of the search that runs.
    fn write(&mut self, system: &mut impl System) {
        self.image.clear();
        [MARK, self.program, self.arguments].into_iter().for_each(|word| self.image.push(word));
        self.outcomes.all().iter().for_each(|word| self.image.push(*word));
        if let Some((search, searches)) = self.state_of {
            let length = self.state.all().len() as u64;
            [STATE, search, searches, length].into_iter().for_each(|word| self.image.push(word));
            self.state.all().iter().for_each(|word| self.image.push(*word));
        }
        let check = self.image.all().iter().fold(BASIS, |hash, word| mixed(hash, *word));
        self.image.push(check);
        system.keep(self.image.all());
        (self.is_new, self.last) = (false, system.time());
    }

    /// The program ends before its time: writes what has not been written.
    pub fn interrupted(&mut self, system: &mut impl System) {
        if self.keeps() && self.is_new {
            self.write(system);
        }
    }

    /// Answers a question.
    pub fn ask(&mut self, what: f64, x: f64, system: &mut impl System) -> f64 {
        let Some(question) = Question::of(what) else { return 0.0 };
        let search = x as u64;
        match question {
            Question::Tell(told) => {
                if self.is_shown {
                    let now = if matches!(told, Told::Gradient | Told::Search) { system.time() } else { 0 };
                    self.progress.tell(told, x, now, system);
                }
                let within = self.outermost != 0;
                let report = system.report();
                if report.is_wanted() {
                    report.tell(told, x, within);
                }
                0.0
            }
            Question::Begin => {
                self.searches += 1;
                self.searches as f64
            }
            Question::Watch => {
                if self.outermost == 0 {
                    self.outermost = search;
                }
                let wanted = self.is_shown || self.limit.is_some() || self.every.is_some() || self.resumed == search;
                answer(self.outermost == search && (wanted || system.report().is_wanted()))
            }
            Question::IsLate => {
                let is_late = self.outermost == search && self.limit.is_some_and(|limit| system.time() >= limit);
                if is_late {
                    self.interrupted(system);
                    self.is_closed = true;
                }
                answer(is_late)
            }
            Question::Leave => {
                if self.outermost == search {
                    self.outermost = 0;
                }
                0.0
            }
            Question::Clock => system.time() as f64 / 1e9,
            Question::Kept => self.begin_kept(search),
            Question::Resume => {
                let resumed = self.resumed == search;
                if resumed {
                    self.resumed = 0;
                }
                answer(resumed)
            }
            Question::WillResume => answer(self.resumed == search),
            Question::Get => {
                let word = self.old.all().get(self.next).copied();
                self.next += 1;
                word.map_or(f64::NAN, f64::from_bits)
            }
            Question::IsDue => {
                if self.outermost != search || !self.keeps() {
                    return 0.0;
                }
                self.put.clear();
                self.begun = system.time();
                answer(self.begun >= self.next_state)
            }
            Question::Put => {
                self.put.push(x.to_bits());
                0.0
            }
            Question::KeepState => {
                ::core::mem::swap(&mut self.put, &mut self.state);
                self.state_of = Some((search, self.searches));
                self.is_new = true;
                let now = system.time();
                self.next_state = now + SHARE * now.saturating_sub(self.begun);
                if self.every.is_some_and(|every| now.saturating_sub(self.last) >= every) {
                    self.write(system);
                }
                0.0
            }
            Question::IsKept => {
                self.put.clear();
                answer(self.outermost == search && self.keeps())
            }
            Question::KeepOutcome => {
                self.keep_outcome(search);
                0.0
            }
            Question::IsReported => {
                if self.outermost == 0 {
                    self.outermost = search;
                }
                self.put.clear();
                // The function is computed for the page, and searches in it do not count.
                self.counted = self.searches;
                answer(self.outermost == search && system.report().is_wanted())
            }
            Question::Found => {
                self.searches = self.counted;
                system.report().found(self.put.all());
                0.0
            }
        }
    }
}

fn answer(yes: bool) -> f64 {
    if yes { 1.0 } else { 0.0 }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// The beginning of a check, and the factor of its steps: those of Fowler, Noll and Vo's hash.
pub const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// One step of a check over words.
pub fn mixed(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(PRIME).rotate_left(29)
}

/// The check over bytes.
pub fn digest(hash: u64, bytes: &[u8]) -> u64 {
    let step = |hash, chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mixed(hash, u64::from_le_bytes(word))
    };
    bytes.chunks(8).fold(mixed(hash, bytes.len() as u64), step)
}
