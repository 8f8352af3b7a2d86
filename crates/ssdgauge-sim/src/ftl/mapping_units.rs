//! Mapping units of more than one page: the map has one entry for a unit, so a unit is programmed as a whole.
//!
//! A unit that is written in part is staged: later writes can complete it. Staged data has its own memory
//! in addition to the write buffer. No page may be staged and lost.

use crate::time::SimTime;
use std::collections::VecDeque;
use std::ops::Range;

/// Staged units at most. Chosen: as many as sequential read streams are followed, so that as many ascending
/// writers complete their units.
pub(super) const MOST_STAGED: usize = 8;
/// Pages of the largest unit, of 64 KiB.
pub(super) const MOST_PAGES: usize = 16;

/// The units that were written in part.
#[derive(Clone, Debug)]
pub(super) struct StagedUnits {
    pub(super) unit_pages: u32,
    /// The oldest first.
    pub(super) units: VecDeque<StagedUnit>,
    /// When the data is in the controller that the open program unit needs from flash.
    pub(super) fetched_at: SimTime,
}

/// A unit that was written in part.
#[derive(Clone, Debug)]
pub(super) struct StagedUnit {
    pub(super) pages: Range<u32>,
    /// A bit for each page that was written.
    pub(super) written: u16,
    /// The generation of each page that was written, where data is verified.
    pub(super) generations: [u32; MOST_PAGES],
}

impl StagedUnit {
    /// Returns the place of `page` in the unit.
    pub(super) fn place(&self, page: u32) -> usize {
        (page - self.pages.start) as usize
    }

    /// Returns whether `page` was written.
    pub(super) fn holds(&self, page: u32) -> bool {
        self.pages.contains(&page) && self.written & 1 << self.place(page) != 0
    }

    /// Returns the ranges that hold the pages which were not written; two of them have no sense operation of
    /// `group` pages in common.
    pub(super) fn missing(&self, group: u32) -> Vec<Range<u32>> {
        let mut missing: Vec<Range<u32>> = Vec::new();
        for page in self.pages.clone().filter(|page| !self.holds(*page)) {
            match missing.last_mut() {
                Some(last) if last.end == page || (last.end - 1) / group == page / group => {
                    last.end = page + 1;
                }
                Some(_) | None => missing.push(page..page + 1),
            }
        }
        missing
    }
}

impl StagedUnits {
    /// Returns no staged unit, each of which would have `unit_pages`.
    pub(super) fn new(unit_pages: u32) -> StagedUnits {
        assert!(unit_pages as usize <= MOST_PAGES, "a profile states no larger unit");
        StagedUnits { unit_pages, units: VecDeque::new(), fetched_at: 0 }
    }

    /// Returns whether `page` was written and is not in the map yet.
    #[inline]
    pub(super) fn holds(&self, page: u32) -> bool {
        !self.units.is_empty() && self.units.iter().any(|unit| unit.holds(page))
    }

    /// Returns when the data is in the controller that the unit which is programmed now needs from flash.
    #[inline]
    pub(super) fn take_fetched(&mut self) -> SimTime {
        std::mem::take(&mut self.fetched_at)
    }

    /// Returns the pages of the unit of `page`, on a drive of `user_pages`.
    pub(super) fn unit_of(&self, page: u32, user_pages: u32) -> Range<u32> {
        let first = page / self.unit_pages * self.unit_pages;
        first..(first + self.unit_pages).min(user_pages)
    }
}
