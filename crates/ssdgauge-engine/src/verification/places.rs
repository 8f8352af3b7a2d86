//! Places to read back after writes, and what they hold.
//!
//! Nothing is recorded in the loop over requests. The pool of write data still holds the headers of
//! the last writes, up to its length, so the places that were written last are read from there; the
//! other places lie spread over the ranges that the run has filled. No request may be in flight.

use super::{
    EPOCH_SHIFT, Expected, HEADER_LENGTH, HEADER_SPACING, Mismatch, SECTOR, Verification, gather,
};
use crate::positioned::transfer;
use crate::positioned::{Shared, carry_out};
use crate::request_error::RequestError;
use ssdgauge_core::{LostWrite, Random, ReadBack};
use ssdgauge_os::memory::{Region, words_at};
use std::cmp::Reverse;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximum number of positions of the pool that are searched for headers: all of the usual 64 MiB. A longer
/// pool is searched in larger steps.
const MAX_POSITIONS: usize = 1 << 17;

/// The minimum number of blocks of one workload for a verdict on the order of its writes, and the share of them
/// that is older than the last write from which on writes were lost.
///
/// Two writes to one block that are in flight together may be carried out in either order, so a single
/// older block proves nothing. Chosen: at 32 requests in flight on 32 blocks, about a third of them is
/// older on a correct drive; on one that drops every write, all of them are.
const LEAST_COMPARED: u64 = 16;
const MAX_OLDER: f64 = 0.75;

/// A block of 4 KiB that this run wrote, with what it must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its start on the target, in bytes.
    pub offset: u64,
    /// The workload that wrote it: what it holds must not be older.
    epoch: u32,
    /// The generation of the write, where that was one of the last.
    generation: Option<u64>,
}

impl Verification {
    /// Returns up to `count` places below byte `end` that this run wrote and whose contents are
    /// known, in ascending order: half of them from the last writes, which left their headers in
    /// `pool`, and half spread over the filled ranges. Where one half has fewer, the other has more. A
    /// write gives one place, however long it is.
    pub fn places(
        &self,
        pool: Option<&Arc<Region>>,
        end: u64,
        count: usize,
        seed: u64,
    ) -> Vec<Place> {
        let mut random = Random::new(seed, u64::from(self.epoch));
        let mut last = pool.map_or_else(Vec::new, |pool| self.last_written(pool, end));
        random.shuffle(&mut last);
        // The newest first: by workload, and in it by the count of each thread.
        last.sort_by_key(|place| {
            Reverse((place.epoch, count_of(place.generation), place.generation))
        });
        last.dedup_by_key(|place| place.generation);
        let of_fills = count - last.len().min(count.div_ceil(2));
        let mut places = self.spread(of_fills, end, &mut random);
        places.extend(last.iter().take(count - places.len()));
        // Where a place was written several times, the newest write counts.
        places.sort_unstable_by_key(|place| {
            (place.offset, Reverse((place.epoch, count_of(place.generation))))
        });
        places.dedup_by_key(|place| place.offset);
        places
    }

    /// Returns the places whose headers `pool` holds.
    fn last_written(&self, pool: &Region, end: u64) -> Vec<Place> {
        let length = pool.length() - HEADER_LENGTH as usize;
        let step = (length / MAX_POSITIONS).next_multiple_of(SECTOR as usize).max(SECTOR as usize);
        let positions = (0..length).step_by(step);
        positions
            .filter_map(|position| {
                // SAFETY: the words lie within the region, and no load runs that writes to it.
                let [address, word] = unsafe { words_at(pool.at(position)) };
                self.place_of(address, gather(word), end)
            })
            .collect()
    }

    /// Returns the place of a header of this run whose contents are still known; `None` for other
    /// words.
    fn place_of(&self, address: u64, generation: u64, end: u64) -> Option<Place> {
        let sector = address ^ self.tag;
        let epoch = u32::try_from(generation >> EPOCH_SHIFT).ok()?;
        let offset = sector.checked_mul(SECTOR)?;
        let is_header = offset.is_multiple_of(HEADER_SPACING)
            && offset.checked_add(HEADER_SPACING).is_some_and(|after| after <= end)
            && (self.first_epoch..=self.epoch).contains(&epoch);
        let place = Place { offset, epoch, generation: Some(generation) };
        (is_header && !self.is_unknown(offset, epoch)).then_some(place)
    }

    /// Returns whether the contents at `offset` became unknown after the workload `epoch` wrote it.
    pub(super) fn is_unknown(&self, offset: u64, epoch: u32) -> bool {
        let covers = |&(from, to, since): &(u64, u64, u32)| {
            since >= epoch && from < offset + HEADER_SPACING && offset < to
        };
        self.unknown.iter().any(covers)
    }

    /// Returns `count` places spread evenly over the filled ranges, each at a random place of its
    /// share.
    fn spread(&self, count: usize, end: u64, random: &mut Random) -> Vec<Place> {
        let whole = |&(from, to, epoch): &(u64, u64, u32)| {
            let from = from.next_multiple_of(HEADER_SPACING);
            let blocks = to.min(end).saturating_sub(from) / HEADER_SPACING;
            (from, blocks, epoch)
        };
        let ranges: Vec<(u64, u64, u32)> = self.filled.iter().map(whole).collect();
        let total: u64 = ranges.iter().map(|(_, blocks, _)| blocks).sum();
        let share = |number: usize| u128::from(total) * number as u128 / count as u128;
        let at = |number: usize| {
            let (from, to) = (share(number) as u64, share(number + 1) as u64);
            let mut block = (from < to).then(|| from + random.below(to - from))?;
            for &(from, blocks, epoch) in &ranges {
                match block < blocks {
                    true => {
                        let offset = from + block * HEADER_SPACING;
                        return Some(Place { offset, epoch, generation: None });
                    }
                    false => block -= blocks,
                }
            }
            None
        };
        (0..count).filter_map(at).collect()
    }
}

/// The share of its time in which a read-back begins reads: a slow drive returns fewer blocks, and one that
/// hangs is recognised.
const BEGIN_SHARE: u32 = 4;

/// Reads `places` of `file`, whose headers carry the tag of `verification`, within `at_most`.
///
/// # Errors
/// The first read that fails, or [`RequestError::Hung`] where it takes longer.
pub fn read_back(
    file: &Arc<File>,
    verification: &Verification,
    places: Vec<Place>,
    at_most: Duration,
) -> Result<ReadBack, RequestError> {
    let tag = verification.tag;
    let until = Instant::now() + at_most / BEGIN_SHARE;
    // One at a time, and none is counted: the limit covers all reads together.
    let body = move |file: &File, _: &Shared, _| read_places(file, tag, &places, until);
    let ended = carry_out(file, 1, at_most, &mut |_| true, body)?;
    Ok(ended.parts.into_iter().next().unwrap_or_default())
}

/// Reads `places`, whose headers carry `tag`; no read begins after `until`.
fn read_places(
    file: &File,
    tag: u64,
    places: &[Place],
    until: Instant,
) -> Result<ReadBack, RequestError> {
    let region = transfer::buffer(HEADER_SPACING as usize)?;
    let mut read_back = ReadBack::default();
    let (mut compared, mut older) = (0, Vec::new());
    for &Place { offset, epoch, generation } in places {
        if Instant::now() >= until {
            break;
        }
        transfer::read(file, &region, HEADER_SPACING as usize, offset)?;
        read_back.read += 1;
        let to = offset + HEADER_SPACING;
        let expected = Expected { tag, from: offset, to, oldest: epoch };
        // SAFETY: the region holds a block, and the read into it has completed.
        let mismatch = unsafe { expected.check(region.at(0), offset, HEADER_SPACING) };
        let lost = |mismatch| LostWrite { offset, found: describe(mismatch) };
        read_back.lost.extend(mismatch.map(lost));
        if mismatch == Some(Mismatch::Foreign) {
            read_back.foreign_at = read_back.foreign_at.or(Some(offset));
        }
        // SAFETY: as above.
        let [_, found] = unsafe { words_at(region.at(0)) }.map(gather);
        let same = generation.filter(|last| mismatch.is_none() && last >> 32 == found >> 32);
        if let Some(last) = same {
            compared += 1;
            // The count of a thread wraps after 2^32 writes.
            let is_older = (found as u32).wrapping_sub(last as u32) > u32::MAX / 2;
            older.extend(is_older.then(|| lost(Mismatch::Stale)));
        }
    }
    if compared >= LEAST_COMPARED && older.len() as f64 > MAX_OLDER * compared as f64 {
        read_back.lost.extend(older);
    }
    Ok(read_back)
}

/// Returns the count of the writes of a thread in a generation.
fn count_of(generation: Option<u64>) -> u32 {
    generation.unwrap_or(0) as u32
}

/// Returns the contents of a block in words.
pub(super) fn describe(mismatch: Mismatch) -> String {
    match mismatch {
        Mismatch::Zeros => "zeros".to_owned(),
        Mismatch::OtherOffset(other) => format!("data that this run wrote at byte {other}"),
        Mismatch::Stale => "older data of this run".to_owned(),
        Mismatch::Foreign => "data that this run never wrote".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::WriteBuffer;
    use std::os::unix::fs::FileExt;

    const END: u64 = 16 << 20;

    /// Reads `places` without a limit of time that matters.
    fn read(file: &Arc<File>, verification: &Verification, places: Vec<Place>) -> ReadBack {
        read_back(file, verification, places, Duration::from_secs(240)).unwrap()
    }

    /// Returns a pool into which the current workload wrote `offsets`.
    fn pool_with(verification: &Verification, offsets: &[u64]) -> Arc<Region> {
        let pool = Arc::new(Region::new(1 << 20).unwrap());
        let writer = verification.header_writer(3);
        let mut buffer = WriteBuffer::new(pool.clone(), 0..1 << 20, 8_192, 4, writer);
        offsets.iter().for_each(|offset| {
            buffer.prepare(2, *offset, 8_192);
        });
        pool
    }

    fn offsets(places: &[Place]) -> Vec<u64> {
        places.iter().map(|place| place.offset).collect()
    }

    #[test]
    fn each_of_the_last_writes_in_the_pool_gives_one_place() {
        let mut verification = Verification::new(77);
        verification.advance();
        let pool = pool_with(&verification, &[0, 40_960, 81_920]);
        let places = verification.places(Some(&pool), END, 64, 1);
        let writes: Vec<u64> = offsets(&places).iter().map(|offset| offset / 8_192).collect();
        assert_eq!(writes, [0, 5, 10]);
        // A place that does not exist, and the pool of another run.
        assert_eq!(verification.places(Some(&pool), 50_000, 64, 1).len(), 2);
        assert_eq!(Verification::new(78).places(Some(&pool), END, 64, 1), []);
    }

    #[test]
    fn trimmed_and_overwritten_places_are_left_out_until_they_are_written_again() {
        let mut verification = Verification::new(77);
        verification.advance();
        let pool = pool_with(&verification, &[0, 40_960]);
        verification.invalidate(0, 8_192);
        verification.invalidate(40_960, 45_056);
        let found = |verification: &Verification, pool| {
            offsets(&verification.places(Some(pool), END, 64, 1))
        };
        assert_eq!(found(&verification, &pool), [45_056]);
        verification.advance();
        let pool = pool_with(&verification, &[0]);
        assert_eq!(found(&verification, &pool).len(), 1, "a later write is known again");
        verification.invalidate(0, u64::MAX);
        assert_eq!(verification.places(Some(&pool), END, 64, 1), [], "behind a purge");
    }

    #[test]
    fn data_of_an_earlier_process_is_older_than_all_that_a_resumed_run_writes() {
        let mut earlier = Verification::new(77);
        (0..5).for_each(|_| earlier.advance());
        let pool = pool_with(&earlier, &[0]);
        let mut resumed = Verification::after(77, 5);
        resumed.advance();
        assert_eq!(resumed.places(Some(&pool), END, 64, 1), [], "it knows nothing of that data");
        resumed.fill(0, 8_192);
        let places = resumed.places(None, END, 64, 1);
        let file = Arc::new(tempfile::tempfile().unwrap());
        // SAFETY: the pool has no other user; its third slot holds the block.
        let data = unsafe { std::slice::from_raw_parts(pool.at(2 * 8_192), 8_192) };
        file.write_all_at(data, 0).unwrap();
        let read_back = read(&file, &resumed, places);
        assert_eq!((read_back.read, read_back.lost.len()), (2, 2), "{read_back:?}");
    }

    #[test]
    fn half_of_the_places_lie_spread_over_the_filled_ranges() {
        let mut verification = Verification::new(77);
        verification.advance();
        verification.fill(0, 4 << 20);
        verification.fill(8 << 20, END);
        let last: Vec<u64> = (0..32).map(|block| block * 8_192).collect();
        let pool = pool_with(&verification, &last);
        let places = verification.places(Some(&pool), END, 64, 9);
        assert!((60..=64).contains(&places.len()), "{}", places.len());
        for quarter in [0, 2, 3] {
            let range = quarter * (4 << 20)..(quarter + 1) * (4 << 20);
            let n = places.iter().filter(|place| range.contains(&place.offset)).count();
            assert!(n >= 8, "{n} in {range:?}");
        }
        assert_eq!(places, verification.places(Some(&pool), END, 64, 9), "the seed decides");
        // Without a pool, all of them.
        assert_eq!(verification.places(None, END, 64, 9).len(), 64);
    }

    #[test]
    fn zeros_older_data_and_foreign_data_are_lost_writes() {
        let mut verification = Verification::new(77);
        verification.advance();
        let file = Arc::new(tempfile::tempfile().unwrap());
        let write = |verification: &Verification, offset: u64| {
            let pool = pool_with(verification, &[offset]);
            // SAFETY: the pool has no other user; its third slot holds the block.
            let data = unsafe { std::slice::from_raw_parts(pool.at(2 * 8_192), 8_192) };
            file.write_all_at(data, offset).unwrap();
            pool
        };
        (0..4).for_each(|block| {
            write(&verification, block * 8_192);
        });
        verification.fill(0, 32_768);
        let check = |verification: &Verification| {
            let places = verification.places(None, 32_768, 64, 1);
            let read_back = read(&file, verification, places);
            assert!(read_back.read >= 8, "{}", read_back.read);
            read_back.lost
        };
        assert_eq!(check(&verification), []);
        let lost = |offset, found: &str| LostWrite { offset, found: found.into() };
        file.write_all_at(&[0; 4_096], 4_096).unwrap();
        assert_eq!(check(&verification), [lost(4_096, "zeros")]);
        file.write_all_at(&[9; 4_096], 4_096).unwrap();
        assert_eq!(check(&verification), [lost(4_096, "data that this run never wrote")]);
        // The next workload fills the range again, and the drive drops one of its writes.
        verification.advance();
        [0, 8_192, 16_384].into_iter().for_each(|offset| {
            write(&verification, offset);
        });
        verification.fill(0, 32_768);
        let older = [24_576, 28_672].map(|offset| lost(offset, "older data of this run"));
        assert_eq!(check(&verification), older);
    }

    /// Writes `offsets` to `file`; returns the pool after them.
    fn write(file: &File, buffer: &mut WriteBuffer, pool: &Region, offsets: &[u64]) {
        for offset in offsets {
            let data = buffer.prepare(2, *offset, 4_096);
            let place = data as usize - pool.at(0) as usize;
            // SAFETY: the pool has no other user, and the block lies in it.
            let data = unsafe { std::slice::from_raw_parts(pool.at(place), 4_096) };
            file.write_all_at(data, *offset).unwrap();
        }
    }

    #[test]
    fn writes_dropped_within_a_workload_are_found_by_the_order_of_its_writes() {
        let mut verification = Verification::new(77);
        verification.advance();
        let file = Arc::new(tempfile::tempfile().unwrap());
        let dropped = tempfile::tempfile().unwrap();
        let pool = Arc::new(Region::new(1 << 20).unwrap());
        let writer = verification.header_writer(3);
        let mut buffer = WriteBuffer::new(pool.clone(), 0..1 << 20, 4_096, 4, writer);
        let blocks: Vec<u64> = (0..32).map(|block| block * 4_096).collect();
        let lost = || {
            let places = verification.places(Some(&pool), END, 64, 1);
            assert!(places.len() >= 24, "{}", places.len());
            read(&file, &verification, places).lost.len()
        };
        write(&file, &mut buffer, &pool, &blocks);
        assert_eq!(lost(), 0);
        // A third of the blocks was written in another order than it was sent.
        write(&file, &mut buffer, &pool, &blocks[10..]);
        write(&dropped, &mut buffer, &pool, &blocks[..10]);
        assert_eq!(lost(), 0);
        write(&dropped, &mut buffer, &pool, &blocks);
        assert!(lost() >= 24, "{}", lost());
    }
}
