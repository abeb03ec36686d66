//! Makes a group of the ranks that a launcher of MPI has started ([`crate::ranks`]), lets them agree, and divides
//! shards among them. Only programs that share something are linked with this.
//!
//! All ranks compute the same, so that they get to the same places. There each says something, and gets what all say:
//! whether shards are worth dividing (which rank 0 decides, by its time), how much each has found, that the program
//! ends. Who says something about another topic is not the same program any more, and all end.

use crate::cell::Single;
use crate::mpi::{self, Library, Missing, Request};
use crate::question::{BASIS, mixed};
use crate::ranks::{self, FIRST, Group, SECOND, Said, Topic};
use crate::rounds::{self, Part, Round};
use crate::shards::{self, State};
use crate::{command_line, input, output, processes, start, system, terminal, watch};
use core::ffi::c_int;
use core::fmt::Write;

struct Network {
    library: Library,
    rank: usize,
    count: usize,
    /// How many topics there have been.
    topics: u64,
    /// What all say, and for results how many words each rank has and where they begin.
    said: *mut Said,
    counts: *mut i64,
    places: *mut isize,
}

static NETWORK: Single<Option<Network>> = Single::new(None);

/// Bits of the topic in what is said.
const TOPIC_BITS: u32 = 8;

/// So long in nanoseconds a rank that ends waits for the others to end, too: rank 0, which has said why, and the
/// others, which let it say so.
const PATIENCE: u64 = 5_000_000_000;
const LONG_PATIENCE: u64 = 60_000_000_000;

/// After so many seconds a rank ends that cannot end in good order.
const LAST_WAY: u32 = 5;

/// So long in nanoseconds it is asked again and again whether others are ready, and then less and less often: who waits
/// leaves the processor to those that compute.
const AT_ONCE: u64 = 50_000;
const SELDOM: u64 = 1_000_000;

/// The variables in which launchers say how many processes they have started, and which of those on this machine it is.
const SIZES: [&[u8]; 2] = [b"PMI_SIZE\0", b"OMPI_COMM_WORLD_SIZE\0"];
const LOCAL_RANKS: [&[u8]; 5] = [
    b"MPI_LOCALRANKID\0",
    b"OMPI_COMM_WORLD_LOCAL_RANK\0",
    b"PMIX_LOCAL_RANK\0",
    b"PALS_LOCAL_RANKID\0",
    b"SLURM_LOCALID\0",
];

const HELP: &str = "help: VLAD_MPI=/path/of/libmpi_abi.so.1 in the environment names the library of an MPI with the \
standard binary interface (MPICH 5, for instance); VLAD_MPI=none lets each process compute everything\n";

/// Becomes one of the ranks, if a launcher has started several. Programs that share something call it first.
#[unsafe(no_mangle)]
pub extern "C" fn vlad_join() {
    let name = system::environment(b"VLAD_MPI\0").filter(|name| !name.is_empty());
    if name == Some(b"none") {
        return;
    }
    let number = |name: &&[u8]| core::str::from_utf8(system::environment(name)?).ok()?.trim().parse::<usize>().ok();
    let started = SIZES.iter().find_map(number);
    // Where a launcher does not say how many there are, the library knows.
    if started.map_or_else(|| system::environment(b"PMIX_RANK\0").is_none(), |count| count < 2) {
        return;
    }
    let is_first_here = LOCAL_RANKS.iter().find_map(number).is_none_or(|rank| rank == 0);
    let library = match mpi::open(name) {
        Ok(library) => library,
        Err(missing) => {
            if is_first_here {
                say_missing(started, &missing);
            }
            start::leave(command_line::USAGE)
        }
    };
    let (rank, count) = terminal::undisturbed(|| library.begin());
    if started.is_some_and(|started| started != count) {
        if is_first_here {
            let _ = write!(
                output::Stderr,
                "error: a launcher has started {} processes of this program, but the library of MPI knows {count}: it \
                 is that of another MPI\n{HELP}",
                started.unwrap_or(0)
            );
        }
        start::leave(command_line::USAGE)
    }
    if count > 1 {
        join(library, rank, count);
    } else {
        library.end();
    }
}

fn say_missing(started: Option<usize>, missing: &Missing) {
    let _ = match started {
        Some(count) => write!(output::Stderr, "error: a launcher has started {count} processes of this program, "),
        None => write!(output::Stderr, "error: a launcher has started this program, "),
    };
    output::raw_error(b"but its shards cannot be divided among them: ");
    match missing {
        Missing::Refused(reason) => output::raw_error(reason),
        Missing::Lacks(name) => {
            output::raw_error(b"the library of MPI has no function ");
            output::raw_error(name.to_bytes());
        }
    }
    output::raw_error(b"\n");
    output::raw_error(HELP.as_bytes());
}

fn join(library: Library, rank: usize, count: usize) {
    let (size, words) = (size_of::<Said>(), 2 * size_of::<i64>());
    let Some(pages) = system::map_pages(count * (size + words), system::PROT_READ_WRITE) else {
        crate::memory::exhausted(crate::memory::Use::Heap)
    };
    // SAFETY: there is room for three tables.
    let (counts, places) =
        unsafe { (pages.add(count * size).cast::<i64>(), pages.add(count * (size + 8)).cast::<isize>()) };
    let said = pages.cast();
    // SAFETY: nobody else refers to it.
    unsafe { *NETWORK.get() = Some(Network { library, rank, count, topics: 0, said, counts, places }) };
    let workers = network().workers();
    // Were the functions known, programs without a group would contain them.
    ranks::set(core::hint::black_box(Group { rank, count, workers, agree, read, consider, gather, leave }));
    if rank > 0 {
        // Rank 0 is interrupted, and ends the others.
        terminal::ignore_interruptions();
    }
    // Whether anybody sees how searches go on is a matter of rank 0, but what they do for that is done by all.
    terminal::show(ranks::agreed(|| f64::from(u8::from(terminal::is_shown()))) != 0.0);
}

/// The state, which nothing else refers to while a function of this module runs.
fn network() -> &'static mut Network {
    // SAFETY: see above; only those that have joined call this.
    match unsafe { &mut *NETWORK.get() } {
        Some(network) => network,
        None => start::leave(start::EXHAUSTED),
    }
}

impl Network {
    /// Waits until a request is finished; `false` if that takes longer than so many nanoseconds.
    fn wait(&self, mut request: Request, patience: u64) -> bool {
        let begun = system::time();
        loop {
            if terminal::undivided(|| self.library.is_finished(&mut request)) {
                return true;
            }
            let waited = system::time() - begun;
            if waited > patience {
                return false;
            }
            if waited > AT_ONCE {
                mpi::sleep((waited / 16).min(SELDOM));
            }
        }
    }

    /// How many workers a rank may have: it shares its processors with others on this machine, unless the launcher has
    /// given each its own.
    fn workers(&self) -> usize {
        const WORDS: usize = processes::SET_WORDS;
        let (neighbours, count) = self.library.neighbours();
        let own = processes::allowed();
        let Some(pages) = system::map_pages(count * WORDS * 8, system::PROT_READ_WRITE) else { return 1 };
        // SAFETY: there is room for the sets of all.
        let sets = unsafe {
            self.wait(self.library.gather_same(&own, pages.cast(), Some(neighbours)), u64::MAX);
            core::slice::from_raw_parts(pages.cast::<[u64; WORDS]>(), count)
        };
        let bits = |set: &[u64; WORDS]| set.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        let mut union = [0; WORDS];
        for set in sets {
            union.iter_mut().zip(set).for_each(|(all, word)| *all |= word);
        }
        // So many ranks share a processor, on the average.
        let (all, taken) = (bits(&union), sets.iter().map(bits).sum::<usize>().max(1));
        let by_time = processes::share_of_time().map_or(usize::MAX, |processors| processors / count);
        // SAFETY: the sets are not used any more.
        unsafe { system::unmap_pages(pages, count * WORDS * 8) };
        (bits(&own) * all / taken).min(by_time).clamp(1, shards::MOST)
    }

    /// Says something, and waits for what all say.
    fn say(&mut self, topic: Topic, same: u64, numbers: [u64; 2], patience: u64) -> Option<&'static [Said]> {
        self.topics += 1;
        let own = [self.topics << TOPIC_BITS | topic as u64, same, numbers[0], numbers[1]];
        // SAFETY: there is room for what all say, which nobody touches meanwhile; where the waiting is given up, the
        // process ends.
        unsafe {
            let request = terminal::undivided(|| self.library.gather_same(&own, self.said.cast(), None));
            self.wait(request, patience).then(|| core::slice::from_raw_parts(self.said, self.count))
        }
    }

    /// Ends all ranks, after it is said what only this one knows.
    fn abort(&self, code: c_int) -> ! {
        // Launchers send signals to those that end, too.
        terminal::ignore_interruptions();
        if self.rank > 0 && ranks::has_kept() {
            // Most likely rank 0 says the same, and ends all.
            mpi::sleep(900_000_000);
            ranks::say_kept(self.rank);
        }
        mpi::end_in(LAST_WAY);
        self.library.abort(code);
        system::exit_process(code)
    }

    /// Waits for being ended by a rank that knows why.
    fn await_end(&self) -> ! {
        for _ in 0..2 * LAST_WAY {
            mpi::sleep(999_999_999);
        }
        self.abort(start::EXHAUSTED)
    }
}

fn agree(topic: Topic, same: u64, numbers: [u64; 2]) -> &'static [Said] {
    let network = network();
    let Some(all) = network.say(topic, same, numbers, u64::MAX) else { network.abort(start::EXHAUSTED) };
    let own = all[network.rank];
    let Some(other) = all.iter().position(|said| said[..FIRST] != own[..FIRST]) else { return all };
    let ends = |said: &Said| said[0] & ((1 << TOPIC_BITS) - 1) == Topic::End as u64;
    if network.rank > 0 || all.iter().any(ends) {
        network.await_end();
    }
    output::flush();
    let _ = write!(
        output::Stderr,
        "error: rank {other} does not compute what rank 0 does\nhelp: all ranks need the same executable, arguments, \
         environment and files\n"
    );
    network.abort(start::EXHAUSTED)
}

fn broadcast(bytes: &mut [u8]) {
    let network = network();
    // SAFETY: nobody touches the bytes until this returns.
    let request = terminal::undivided(|| unsafe { network.library.broadcast(bytes) });
    network.wait(request, u64::MAX);
}

fn leave(code: c_int) -> ! {
    let network = network();
    // What ends in the middle of something, or may be in a handler, cannot wait for others.
    if code >= start::EXHAUSTED || ranks::is_interrupted() {
        network.abort(code);
    }
    let patience = match (code, network.rank) {
        (0, _) => u64::MAX,
        (_, 0) => PATIENCE,
        _ => LONG_PATIENCE,
    };
    let Some(all) = network.say(Topic::End, 0, [code as u64, 0], patience) else { network.abort(code) };
    let own = all[network.rank];
    if all.iter().any(|said| said[..FIRST] != own[..FIRST]) {
        network.abort(code);
    }
    let is_alone = all[0][FIRST] != own[FIRST];
    if is_alone {
        ranks::say_kept(network.rank);
    }
    // One exit code is enough. Launchers lose those of processes that end without letting the library take leave.
    terminal::undivided(|| network.library.end());
    mpi::exit_process(if network.rank == 0 || is_alone { code } else { 0 })
}

fn consider(state: &mut State, i: f64) -> f64 {
    let network = network();
    let same = mixed(mixed(mixed(BASIS, watch::identity()), state.count.to_bits()), i.to_bits());
    let count = state.count as u64;
    let pays = state.pays(i);
    let sizes =
        rounds::sizes(count - i as u64, network.count as u64, state.threads as u64, |time| state.lasting(time, i));
    let [.., portion, pieces] = agree(Topic::Shards, same, if pays { sizes } else { [0; 2] })[0];
    if portion == 0 {
        return i;
    }
    let (rank, ranks) = (network.rank as u64, network.count as u64);
    state.divide(Part { first: i as u64, count, rank, ranks, portion, pieces }, i)
}

fn gather(round: &mut Round, own: &[u64], number: u64, limit: u64) -> u64 {
    let network = network();
    let (mut place, mut lowest) = (0, u64::MAX);
    for (rank, said) in agree(Topic::Results, number, [own.len() as u64, limit]).iter().enumerate() {
        // SAFETY: the tables have a number for each rank.
        unsafe {
            *network.counts.add(rank) = said[FIRST] as i64;
            *network.places.add(rank) = place as isize;
        }
        place += said[FIRST] as usize;
        lowest = lowest.min(said[SECOND]);
    }
    let words = round.room(place);
    if place > 0 {
        // SAFETY: there is room for what all ranks have found, and nobody touches it meanwhile.
        unsafe {
            let request =
                terminal::undivided(|| network.library.gather(own, words, network.counts.cast_const(), network.places));
            network.wait(request, u64::MAX);
        }
    }
    lowest
}

fn read(bytes: &mut [u8]) -> Result<usize, c_int> {
    let network = network();
    let read = if network.rank == 0 { input::read(system::STDIN, bytes) } else { Ok(0) };
    let [count, error] = match read {
        Ok(count) => [count as u64, 0],
        Err(error) => [0, error as u64],
    };
    let [.., count, error] = agree(Topic::Input, 0, [count, error])[0];
    if error != 0 {
        return Err(error as c_int);
    }
    broadcast(&mut bytes[..count as usize]);
    Ok(count as usize)
}
