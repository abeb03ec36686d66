//! How the shards of a loop are divided among ranks ([`crate::ranks`]), and how each gets the results of all.
//!
//! Shards come in *rounds*, in each of which every rank has a row of them, its *turn*: of one shard if these are long,
//! of many if they are short. So the shards of a rank are spread over the whole loop, and results are sent while later
//! shards are being computed. The workers of a rank take its shards in *pieces*, and are ahead of the rounds.

use crate::question::Words;
use crate::shards::{PORTION, State};
use crate::{memory, processes, ranks, records, system};

/// A turn takes at least about so many seconds, so that ranks seldom wait for messages.
const TURN: f64 = 0.004;

/// How many shards a piece has, and how many pieces a turn, for so many shards, ranks and workers of each. `lasting`
/// says how many shards take a time. All ranks have as much to do, as far as shards are as long as each other.
pub fn sizes(shards: u64, ranks: u64, workers: u64, lasting: impl Fn(f64) -> u64) -> [u64; 2] {
    let each = shards.div_ceil(ranks);
    let turn = each.div_ceil(each.div_ceil(lasting(TURN)));
    let portion = lasting(PORTION).min(turn.div_ceil(4 * workers));
    [portion, turn.div_ceil(portion)]
}

/// The shards of a rank.
#[derive(Clone, Copy)]
pub struct Part {
    /// The first shard that is divided, and the one behind the last one.
    pub first: u64,
    /// The one behind the last one.
    pub count: u64,
    /// The number of the rank, and how many there are.
    pub rank: u64,
    /// How many ranks there are.
    pub ranks: u64,
    /// How many shards a piece has, and how many pieces a turn has.
    pub portion: u64,
    /// How many pieces a turn has.
    pub pieces: u64,
}

impl Part {
    fn turn(self) -> u64 {
        self.portion * self.pieces
    }

    /// The first shard of a round.
    fn begin(self, round: u64) -> u64 {
        self.count.min(self.first + round * self.ranks * self.turn())
    }

    /// The shards of a rank in a round: the first one, and the one behind the last one.
    pub fn own(self, round: u64) -> (u64, u64) {
        let first = self.begin(round) + self.rank * self.turn();
        (self.count.min(first), self.count.min(first + self.turn()))
    }

    /// The shards of a piece.
    pub fn piece(self, number: u64) -> (u64, u64) {
        let (round, place) = (number / self.pieces, number % self.pieces);
        let first = self.begin(round) + self.rank * self.turn() + place * self.portion;
        (self.count.min(first), self.count.min(first + self.portion))
    }
}

/// The results of a round, as records in the order of the shards, in pages of their own.
pub struct Round {
    words: *mut u64,
    length: usize,
    next: usize,
    /// The number of the next round, the shard behind those of the last one, and the first one that has been abandoned.
    number: u64,
    end: u64,
    limit: u64,
}

impl Round {
    /// None.
    pub const NONE: Round = Round { words: core::ptr::null_mut(), length: 0, next: 0, number: 0, end: 0, limit: 0 };

    /// Gives the pages back.
    pub fn free(&mut self) {
        if !self.words.is_null() {
            // SAFETY: nobody refers to the pages any more.
            unsafe { system::unmap_pages(self.words.cast(), self.length * 8) };
            (self.words, self.length, self.next) = (core::ptr::null_mut(), 0, 0);
        }
    }

    /// Room for the results of the next round.
    pub fn room(&mut self, length: usize) -> *mut u64 {
        if length > 0 {
            let Some(pages) = system::map_pages(length * 8, system::PROT_READ_WRITE) else {
                memory::exhausted(memory::Use::Heap)
            };
            (self.words, self.length) = (pages.cast(), length);
        }
        self.words
    }
}

impl State {
    /// Divides the shards of the loop at hand, from `i` on, among ranks: how to go on.
    pub fn divide(&mut self, part: Part, i: f64) -> f64 {
        let own = part.count.saturating_sub(part.own(0).0).div_ceil(part.ranks);
        self.part = Some(part);
        self.round = Round { end: part.first, limit: u64::MAX, ..Round::NONE };
        if self.start((0, part.count), self.threads.min(own as usize), i) {
            return self.work();
        }
        if self.started == 0 && own > 0 {
            // What a rank cannot compute, all do.
            self.round.limit = part.own(0).0;
        }
        self.lead();
        self.take(part.first)
    }

    /// Gets the next record, of a shard; `None` if this has been abandoned.
    pub fn next_record(&mut self, part: Part, shard: u64) -> Option<()> {
        if shard >= self.round.end && shard < self.round.limit {
            let (number, mut limit) = (self.round.number, self.round.limit);
            self.collect(part.own(number));
            self.taken.forget();
            self.round.free();
            if self.started > 0 {
                limit = limit.min(processes::shared().limit());
            }
            // Only a program that has a group gets here.
            let gather = ranks::group()?.gather;
            self.round.limit = gather(&mut self.round, self.found.all(), number, limit);
            (self.round.number, self.round.end) = (number + 1, part.begin(number + 1));
        }
        if shard >= self.round.limit {
            return None;
        }
        // SAFETY: the records of all shards of the round that have not been abandoned follow each other.
        unsafe {
            let record = self.round.words.add(self.round.next);
            self.round.next += records::length(record);
            if self.round.next < self.round.length {
                self.taken.unpack_in_place(record);
            } else {
                // The pages may go before its leaves are taken.
                self.taken.unpack(records::copy(record));
            }
        }
        Some(())
    }

    /// Waits for the results of these shards, or of those that have not been abandoned.
    fn collect(&mut self, (mut shard, end): (u64, u64)) {
        self.found.clear();
        while self.started > 0 && shard < end.min(processes::shared().limit()) {
            let found = self.arrived[..self.started].iter_mut().find_map(|queue| queue.pop(|first| first == shard));
            // SAFETY: records arrive whole, and have left the queue.
            match found {
                Some(record) => unsafe {
                    self.found.extend(core::slice::from_raw_parts(record, records::length(record)));
                    shard += records::shards(record);
                    system::free(record.cast());
                },
                None if processes::shared().limit() > shard => self.await_workers(),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, sizes};

    #[test]
    fn turns_share_the_shards_evenly() {
        // Long ones: one for each.
        assert_eq!(sizes(63, 4, 2, |_| 1), [1, 1]);
        // Milliseconds: as many for each, in turns of about four.
        let milliseconds = |seconds: f64| (seconds / 0.001).max(1.0) as u64;
        assert_eq!(sizes(64, 4, 2, milliseconds), [1, 4]);
        assert_eq!(sizes(100, 4, 2, milliseconds), [1, 4]);
        assert_eq!(sizes(20, 4, 2, milliseconds), [1, 3]);
        // Microseconds, in pieces.
        let microseconds = |seconds: f64| (seconds / 1e-6) as u64;
        assert_eq!(sizes(1_000_000, 4, 2, microseconds), [497, 8]);
        assert_eq!(sizes(2, 4, 2, microseconds), [1, 1]);
    }

    #[test]
    fn every_shard_is_in_one_piece_of_one_rank() {
        for (first, count, ranks, portion, pieces) in
            [(1, 64, 3, 1, 1), (1, 7, 4, 2, 3), (5, 5, 2, 1, 1), (2, 100, 3, 4, 2)]
        {
            let mut found = Vec::new();
            let row = |(first, end): (u64, u64)| first..end;
            for rank in 0..ranks {
                let part = Part { first, count, rank, ranks, portion, pieces };
                let of_rank: Vec<u64> = (0..200).map(|number| part.piece(number)).flat_map(row).collect();
                let in_rounds: Vec<u64> = (0..200).map(|round| part.own(round)).flat_map(row).collect();
                assert_eq!(of_rank, in_rounds);
                found.extend(of_rank);
            }
            found.sort_unstable();
            assert_eq!(found, (first..count).collect::<Vec<_>>());
        }
    }
}
