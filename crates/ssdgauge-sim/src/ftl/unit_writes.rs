//! Writes to a drive with mapping units of more than one page: read-modify-write.
//!
//! The staged unit that is oldest makes room for another one; what is missing of it is read from flash, and its
//! program operation waits for that. No unit may be programmed before its missing data was read.

use crate::ftl::Ftl;
use crate::ftl::contents::Stored;
use crate::ftl::mapping_units::{MOST_PAGES, MOST_STAGED, StagedUnit};
use crate::time::SimTime;
use std::ops::Range;

/// When the last page is in the buffer, and when the last program operation ends that was booked.
type Times = (SimTime, SimTime);

fn later(one: Times, other: Times) -> Times {
    (one.0.max(other.0), one.1.max(other.1))
}

impl Ftl {
    /// Writes `pages` pages from `first` as [`Ftl::write`] does: whole units at once, others are staged.
    pub(super) fn write_units(&mut self, at: SimTime, first: u32, pages: u32) -> SimTime {
        let at = if self.map_cache.is_updated() { self.change_map(at, first, pages) } else { at };
        let (end, user_pages) = (first + pages, self.media.geometry.user_pages);
        let mut page = first;
        let mut times = (at, at);
        while page < end {
            let unit = self.staged.unit_of(page, user_pages);
            let is_whole = page == unit.start && unit.end <= end;
            let next = match is_whole {
                // The last unit of a drive may be shorter than the others.
                true if end == user_pages => end,
                true => end / self.staged.unit_pages * self.staged.unit_pages,
                false => unit.end.min(end),
            };
            let of_part = match is_whole {
                true => {
                    self.drop_staged(page, next);
                    self.write_stored(at, page..next, self.stored())
                }
                false => self.stage(at, unit, page..next),
            };
            times = later(times, of_part);
            page = next;
        }
        let (buffered, programmed) = times;
        match self.acknowledges_early {
            true => buffered,
            false => buffered.max(programmed).max(self.staged_programmed(buffered)),
        }
    }

    /// Changes the parts of the map for `pages` pages from `first`; returns when they are available.
    fn change_map(&mut self, at: SimTime, first: u32, pages: u32) -> SimTime {
        let Ftl { media, map_cache, .. } = self;
        let dies = media.geometry.dies;
        let at = map_cache.look_up(&mut media.flash, dies, at, first, pages);
        let programmed = map_cache.change(&mut media.flash, &media.geometry, at, (first, pages));
        media.truth.map_pages += programmed;
        at
    }

    /// Stages `pages` of `unit`; a unit that is complete then is written.
    fn stage(&mut self, at: SimTime, unit: Range<u32>, pages: Range<u32>) -> Times {
        let mut times = (at, at);
        let known = self.staged.units.iter().position(|staged| staged.pages == unit);
        let index = known.unwrap_or_else(|| {
            if self.staged.units.len() >= MOST_STAGED {
                times = later(times, self.write_oldest(at));
            }
            let generations = [0; MOST_PAGES];
            self.staged.units.push_back(StagedUnit { pages: unit, written: 0, generations });
            self.staged.units.len() - 1
        });
        let staged = &mut self.staged.units[index];
        for page in pages {
            self.media.truth.replaced_pages += u64::from(staged.holds(page));
            let place = staged.place(page);
            staged.written |= 1 << place;
            staged.generations[place] = self.media.map.next_generation();
        }
        if staged.written.count_ones() as usize == staged.pages.len() {
            let complete = self.staged.units.remove(index).expect("the unit is staged");
            times = later(times, self.complete(at, &complete));
        }
        times
    }

    fn write_oldest(&mut self, at: SimTime) -> Times {
        let oldest = self.staged.units.pop_front();
        oldest.map_or((at, at), |oldest| self.complete(at, &oldest))
    }

    /// Reads what `staged` lacks, and writes the whole unit.
    fn complete(&mut self, at: SimTime, staged: &StagedUnit) -> Times {
        let missing = staged.missing(self.media.geometry.sense_pages);
        let fetched = missing
            .iter()
            .fold(at, |fetched, range| fetched.max(self.read(at, range.start, range.len() as u32)));
        // Before the pages are written, which gives them other places in the map.
        let generations = self.media.map.keeps_generations().then(|| self.generations(staged));
        let pages = staged.pages.len() as u32;
        self.media.truth.completing_pages += u64::from(pages - staged.written.count_ones());
        self.staged.fetched_at = self.staged.fetched_at.max(fetched);
        // As a whole: writes of different data may have met in the unit, and nothing states which.
        let times = self.write_stored(at, staged.pages.clone(), Stored::Whole);
        if self.host.is_some_and(|open| !open.unit_is_full()) {
            // The unit may lie in two program units.
            self.staged.fetched_at = self.staged.fetched_at.max(fetched);
        }
        for (page, generation) in generations.into_iter().flatten() {
            self.media.map.set_generation(page, generation);
        }
        times
    }

    /// Returns the generation of the data of each page of `staged`.
    fn generations(&self, staged: &StagedUnit) -> Vec<(u32, u32)> {
        let generation = |page| match staged.holds(page) {
            true => staged.generations[staged.place(page)],
            false => self.media.map.stored_generation(page),
        };
        staged.pages.clone().map(|page| (page, generation(page))).collect()
    }

    /// Returns the generation of the data that a read of `page` finds; see [`crate::ftl::map::Map::generation_of`].
    pub(crate) fn generation_of(&self, page: u32) -> u32 {
        if let Some((volume, page)) = self.volumes.find(page) {
            return volume.generation_of(page);
        }
        let staged = self.staged.units.iter().find(|unit| unit.holds(page));
        staged.map_or_else(
            || self.media.map.generation_of(page),
            |unit| unit.generations[unit.place(page)],
        )
    }

    /// Writes every staged unit.
    pub(super) fn write_staged(&mut self, at: SimTime) {
        while !self.staged.units.is_empty() {
            self.write_oldest(at);
        }
    }

    /// Forgets staged data of the pages from `first` to `end`, which are written again or trimmed.
    pub(super) fn drop_staged(&mut self, first: u32, end: u32) {
        for unit in &mut self.staged.units {
            for page in first.max(unit.pages.start)..end.min(unit.pages.end) {
                if unit.holds(page) {
                    unit.written ^= 1 << unit.place(page);
                    self.media.truth.replaced_pages += 1;
                }
            }
        }
        self.staged.units.retain(|unit| unit.written != 0);
    }

    /// Returns when the staged units and the open unit of the host would be programmed if that began at `at`.
    /// As with the open unit alone, no operation is booked.
    pub(super) fn staged_programmed(&self, at: SimTime) -> SimTime {
        if self.staged.units.is_empty() {
            return self.open_unit_programmed(at);
        }
        // Pages without data are completed by zeros, without a read.
        let is_mapped = |pages: &Range<u32>| pages.clone().any(|page| self.media.map.holds(page));
        let group = self.media.geometry.sense_pages;
        let missing = self.staged.units.iter().flat_map(|unit| unit.missing(group));
        let missing = missing.filter(is_mapped);
        let longest = missing.map(|pages| pages.len() as u32).max();
        let fetched = at + longest.map_or(0, |pages| self.media.flash.read_time(pages));
        match &self.host {
            Some(open) if !open.unit_is_full() => self.open_unit_programmed(fetched),
            open => fetched + self.media.flash.program_time(open.is_some_and(|open| open.slc)),
        }
    }
}
