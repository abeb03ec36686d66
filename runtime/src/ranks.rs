//! Ranks: the processes of one program that a launcher of MPI has started, on one machine or on many.
//!
//! Every rank computes the whole program, and shards ([`crate::shards`]) are divided among them. The first one, rank 0,
//! acts for all: what the others, its *followers*, would write goes nowhere, since it would be the same. What one of
//! them has to say about itself alone is kept until it is clear that rank 0 does not say it.
//!
//! Programs that share nothing are not linked with what makes a group ([`crate::group`]); so it is reached by
//! addresses.

use crate::cell::Single;
use crate::output;
use crate::rounds::Round;
use crate::shards::State;
use core::ffi::c_int;
use core::fmt::Write;

/// What ranks agree upon, at the same place of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Topic {
    /// How to go on with shards.
    Shards = 1,
    /// What each has found.
    Results = 2,
    /// What rank 0 has read.
    Input = 3,
    /// A number that rank 0 knows: a time.
    Number = 4,
    /// All have read a file, the same one.
    File = 5,
    /// The end of the program.
    End = 6,
}

/// What a rank says: the topic and how many there have been, a number that is the same for all, two that need not be.
pub type Said = [u64; 4];
/// Where the two numbers stand.
pub const FIRST: usize = 2;
/// The second one.
pub const SECOND: usize = 3;

/// The ranks, of which this process is one.
#[derive(Clone, Copy)]
pub struct Group {
    /// Its number.
    pub rank: usize,
    /// How many there are, at least two.
    pub count: usize,
    /// How many workers each of them may have, so that the processors of a machine have one each.
    pub workers: usize,
    /// What all say about a topic, when they have said it. A rank that says something else ends all.
    pub agree: fn(Topic, u64, [u64; 2]) -> &'static [Said],
    /// Reads from the standard input of rank 0, which all get: how many bytes, or the system's error.
    pub read: fn(&mut [u8]) -> Result<usize, c_int>,
    /// Decides how to go on with a shard.
    pub consider: fn(&mut State, f64) -> f64,
    /// Gives all ranks the records that each has found in the round with that number; the first shard that any of them
    /// has abandoned.
    pub gather: fn(&mut Round, &[u64], u64, u64) -> u64,
    /// Ends the program with that exit code, when all do.
    pub leave: fn(c_int) -> !,
}

static GROUP: Single<Option<Group>> = Single::new(None);

/// Messages of a follower, and how long they are. What does not fit is forgotten, the earlier ones first.
static KEPT: Single<[u8; ROOM]> = Single::new([0; ROOM]);
static KEPT_LENGTH: Single<usize> = Single::new(0);
static IS_FOLLOWER: Single<bool> = Single::new(false);
/// A signal ends the program.
static IS_INTERRUPTED: Single<bool> = Single::new(false);

const ROOM: usize = 4096;

/// The group, if there is one.
pub fn group() -> Option<Group> {
    GROUP.load()
}

/// Becomes one of a group.
pub fn set(group: Group) {
    GROUP.store(Some(group));
    IS_FOLLOWER.store(group.rank > 0);
}

/// This is a copy of the process, with which nobody communicates.
pub fn forget() {
    GROUP.store(None);
}

/// Whether what this process writes is written by another one.
pub fn is_follower() -> bool {
    IS_FOLLOWER.load()
}

/// Keeps a message of a follower.
#[cold]
#[inline(never)]
pub fn keep(message: &[u8]) {
    // SAFETY: nothing else refers to what is kept while this function runs.
    let kept = unsafe { &mut *KEPT.get() };
    let message = &message[..message.len().min(ROOM)];
    let used = if KEPT_LENGTH.load() + message.len() > ROOM { 0 } else { KEPT_LENGTH.load() };
    kept[used..used + message.len()].copy_from_slice(message);
    KEPT_LENGTH.store(used + message.len());
}

/// Writes what a follower has kept, for nobody else says it.
pub fn say_kept(rank: usize) {
    let length = KEPT_LENGTH.load();
    if length == 0 {
        return;
    }
    IS_FOLLOWER.store(false);
    let _ = writeln!(output::Stderr, "note: rank {rank} of this program says:");
    // SAFETY: nothing is kept any more.
    output::raw_error(unsafe { &(&*KEPT.get())[..length] });
    KEPT_LENGTH.store(0);
}

/// Whether a follower has something to say.
pub fn has_kept() -> bool {
    KEPT_LENGTH.load() > 0
}

/// Says that a signal ends the program.
pub fn interrupt() {
    IS_INTERRUPTED.store(true);
}

/// Whether a signal ends the program.
pub fn is_interrupted() -> bool {
    IS_INTERRUPTED.load()
}

/// A number that must be the same on all ranks, although each has one of its own: that of rank 0.
pub fn agreed(number: impl FnOnce() -> f64) -> f64 {
    match group() {
        None => number(),
        Some(group) => f64::from_bits((group.agree)(Topic::Number, 0, [number().to_bits(), 0])[0][FIRST]),
    }
}

/// Leaves the group, if there is one; the exit code to end with.
pub fn leave(code: c_int) -> c_int {
    match group() {
        None => code,
        Some(group) => {
            GROUP.store(None);
            (group.leave)(code)
        }
    }
}
