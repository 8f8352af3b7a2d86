//! The page map: the superblock of each host page, and the log of pages written to each superblock.
//!
//! A map entry (logical to physical) is the number of a superblock, in 16 bits. Each superblock has
//! a log (physical to logical) of the pages that were written to its slots, in order. A slot is
//! valid if the entry of its page names that superblock. A page that was written twice to one
//! superblock has two such slots, and the later one counts: a log is read from its end. Slots are
//! not stored in the map because 2 bytes for each page instead of 4 halve the cache misses.
//!
//! The map must never hold more valid pages in a superblock than it has slots.

mod generations;
mod packed_pages;
mod packing;

pub(crate) use packing::BARE;

use crate::ftl::huge_array::HugeArray;
use crate::ftl::valid_pages::{Superblock, UNMAPPED, ValidPages};
use crate::profile::Geometry;
use packing::Packing;
use std::collections::VecDeque;
use std::ops::Range;

/// Set in the count of a superblock that must not be collected. A flag in the same word keeps
/// the search for the fewest valid pages free of branches, so that it is vectorised.
const EXCLUDED: u32 = 1 << 31;

/// Drives up to this many pages (4 GiB) are verified in full by [`Map::verify`].
const MAX_VERIFIED_PAGES: usize = 1 << 20;

/// Page map, logs, and the state of each superblock.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    /// The superblock of each host page.
    entries: HugeArray<Superblock>,
    /// The host pages in the slots of all superblocks.
    log: HugeArray<u32>,
    /// The first slot of each superblock in `log`, and the end of the last.
    first: Vec<usize>,
    /// Valid pages of each superblock; the count of [`UNMAPPED`] is always 0.
    valid: Vec<u32>,
    /// `EXCLUDED` or 0 for each superblock.
    excluded: Vec<u32>,
    /// Native superblocks that are erased, in the order in which they were released.
    free: VecDeque<Superblock>,
    /// The same for the superblocks of the fixed SLC cache.
    free_slc: VecDeque<Superblock>,
    /// Native superblocks that can be collected, in the order in which they were filled.
    closed: VecDeque<Superblock>,
    /// The superblocks that were filled so far, and how many they were when each one was filled.
    fillings: u64,
    filled_at: Vec<u64>,
    native: u32,
    /// The generation of the data in each slot; empty unless data is verified.
    generations: Vec<u32>,
    generation: u32,
    /// What drives have in addition that compress or deduplicate.
    packing: Option<Box<Packing>>,
}

impl Map {
    /// Returns the map of an empty drive.
    pub(crate) fn new(geometry: &Geometry) -> Map {
        let native = geometry.superblocks as usize;
        let all = 1 + native + geometry.slc_superblocks as usize;
        let mut first = vec![0; all + 1];
        for number in 1..all {
            let slots = match number <= native {
                true => geometry.superblock_pages,
                false => geometry.slc_superblock_pages,
            };
            first[number + 1] = first[number] + slots as usize;
        }
        Map {
            // Zero is `UNMAPPED`.
            entries: HugeArray::zeroed(geometry.user_pages as usize),
            log: HugeArray::zeroed(first[all]),
            packing: Packing::new(geometry, first[all]),
            first,
            valid: vec![0; all],
            excluded: vec![EXCLUDED; all],
            free: (1..=native as Superblock).collect(),
            free_slc: (native as Superblock + 1..all as Superblock).collect(),
            closed: VecDeque::new(),
            fillings: 0,
            filled_at: vec![0; all],
            native: native as u32,
            generations: Vec::new(),
            generation: 0,
        }
    }

    /// Returns the superblock that holds `page`, or [`UNMAPPED`].
    #[inline]
    pub(crate) fn lookup(&self, page: u32) -> Superblock {
        self.entries[page as usize]
    }

    /// Returns whether `page` is mapped.
    pub(crate) fn holds(&self, page: u32) -> bool {
        self.lookup(page) != UNMAPPED
    }

    /// Returns the superblock of each host page, or [`UNMAPPED`].
    pub(crate) fn entries(&self) -> &[Superblock] {
        &self.entries
    }

    /// Returns the number of host pages.
    pub(crate) fn host_pages(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Returns whether `superblock` belongs to the fixed part of the SLC cache.
    pub(crate) fn is_fixed_slc(&self, superblock: Superblock) -> bool {
        u32::from(superblock) > self.native
    }

    /// Returns the valid pages of `superblock`.
    pub(crate) fn valid(&self, superblock: Superblock) -> u32 {
        self.valid[superblock as usize]
    }

    /// Returns the valid pages of the drive.
    pub(crate) fn valid_pages(&self) -> u64 {
        self.valid.iter().map(|n| u64::from(*n)).sum()
    }

    /// Returns the valid pages of the fixed part of the SLC cache.
    pub(crate) fn valid_pages_of_fixed_slc(&self) -> u64 {
        self.valid[self.native as usize + 1..].iter().map(|n| u64::from(*n)).sum()
    }

    /// Writes `page` to `slot` of `superblock`; an earlier slot of the page becomes stale.
    #[inline]
    pub(crate) fn write(&mut self, page: u32, superblock: Superblock, slot: u32) {
        let entry = &mut self.entries[page as usize];
        let old = std::mem::replace(entry, superblock);
        // The count of UNMAPPED is corrected below instead of being spared by a branch here: the
        // branch would be mispredicted on a drive that is filled in part.
        self.valid[old as usize] = self.valid[old as usize].wrapping_sub(1);
        self.valid[superblock as usize] += 1;
        let index = self.first[superblock as usize] + slot as usize;
        debug_assert!(index < self.first[superblock as usize + 1], "a slot lies in its superblock");
        debug_assert!(
            self.valid[superblock as usize] <= slot + 1,
            "no superblock holds more valid pages than slots were written"
        );
        self.log[index] = page;
        if !self.generations.is_empty() {
            self.generation += 1;
            self.generations[index] = self.generation;
        }
        self.valid[UNMAPPED as usize] = 0;
    }

    /// Writes `pages` to the slots of `superblock` from `slot` on, as [`Map::write`] does one by one.
    pub(crate) fn write_all(&mut self, pages: &[u32], superblock: Superblock, slot: u32) {
        if !self.generations.is_empty() {
            for (page, slot) in pages.iter().zip(slot..) {
                self.write(*page, superblock, slot);
            }
            return;
        }
        let start = self.first[superblock as usize] + slot as usize;
        self.log[start..start + pages.len()].copy_from_slice(pages);
        let entries: &mut [Superblock] = &mut self.entries;
        let valid = &mut self.valid[..];
        for page in pages {
            let old = std::mem::replace(&mut entries[*page as usize], superblock);
            valid[old as usize] = valid[old as usize].wrapping_sub(1);
        }
        let count = &mut valid[superblock as usize];
        // Wrapping, because pages that were already in this superblock, or are written twice, have
        // just been subtracted: the count may be below zero until all are added.
        *count = count.wrapping_add(pages.len() as u32);
        debug_assert!(
            *count <= slot + pages.len() as u32,
            "no superblock holds more valid pages than slots were written"
        );
        // See `write`.
        valid[UNMAPPED as usize] = 0;
    }

    /// Marks `slot` of `superblock` as written with old data of `page`, which lies in another
    /// superblock. Where it lies in the same one, it only has one slot more.
    #[inline]
    pub(crate) fn write_stale(&mut self, superblock: Superblock, slot: u32, page: u32) {
        let index = self.first[superblock as usize] + slot as usize;
        self.log[index] = page;
    }

    /// Marks `slots` slots of `superblock` from `slot` on as written with the page of the slot before.
    /// Of several slots of one page, collection moves the page once.
    pub(crate) fn repeat_last(&mut self, superblock: Superblock, slot: u32, slots: u32) {
        let page = self.log[self.first[superblock as usize] + slot as usize - 1];
        (slot..slot + slots).for_each(|slot| self.write_stale(superblock, slot, page));
    }

    /// Unmaps `page`.
    pub(crate) fn deallocate(&mut self, page: u32) {
        if self.packing.is_some() {
            return self.forget(page);
        }
        let old = std::mem::replace(&mut self.entries[page as usize], UNMAPPED);
        if old != UNMAPPED {
            self.valid[old as usize] -= 1;
        }
    }

    /// Finds the valid pages in `slots` of `superblock`; see [`ValidPages::find`]. A page that has
    /// two slots in the range is found twice.
    pub(crate) fn find_valid(
        &self,
        superblock: Superblock,
        slots: Range<u32>,
        unit_pages: u32,
        group: u32,
        found: &mut ValidPages,
    ) {
        let first = self.first[superblock as usize];
        let log = &self.log[first + slots.start as usize..first + slots.end as usize];
        match &self.packing {
            // Slots are shared by compression, not by deduplication.
            Some(packing) if !packing.second.is_empty() => {
                let second = first + slots.start as usize..first + slots.end as usize;
                let logs = (log, &packing.second[second]);
                found.find_packed(superblock, logs, &self.entries, unit_pages, group);
            }
            Some(_) | None => found.find(superblock, log, &self.entries, unit_pages, group),
        }
    }

    /// Moves those of the first `room` of `pages` that are still valid in `from` to the slots from
    /// `slot` of `to`. Returns how many pages were examined and how many moved.
    #[inline]
    pub(crate) fn relocate(
        &mut self,
        pages: &[u32],
        from: Superblock,
        to: Superblock,
        slot: u32,
        room: u32,
    ) -> (usize, u32) {
        if self.packing.is_some() {
            return self.relocate_packed(pages, from, to, slot, room);
        }
        if !self.generations.is_empty() {
            return self.relocate_with_generations(pages, from, to, slot, room);
        }
        let start = self.first[to as usize] + slot as usize;
        let target = &mut self.log[start..start + room as usize];
        let entries: &mut [Superblock] = &mut self.entries;
        let examined = pages.len().min(target.len());
        let mut moved = 0;
        for page in &pages[..examined] {
            let entry = &mut entries[*page as usize];
            // Of two slots of one page the later one was found first and has moved, so the entry
            // names `to` when the earlier one is examined.
            let is_valid = *entry == from;
            // Stored always, counted where valid: no branch that is mispredicted.
            *entry = if is_valid { to } else { *entry };
            target[moved] = *page;
            moved += usize::from(is_valid);
        }
        let moved = moved as u32;
        assert!(moved <= self.valid[from as usize], "only valid pages move");
        self.valid[from as usize] -= moved;
        self.valid[to as usize] += moved;
        assert!(
            self.valid[to as usize] <= slot + moved,
            "no superblock holds more valid pages than slots were written"
        );
        (examined, moved)
    }

    /// Returns the pages that were written to `slots` of `superblock`.
    pub(crate) fn pages_in(&self, superblock: Superblock, slots: Range<u32>) -> &[u32] {
        let first = self.first[superblock as usize];
        &self.log[first + slots.start as usize..first + slots.end as usize]
    }

    /// Returns the slots of `superblock` in the log of the drive.
    fn slots(&self, superblock: Superblock) -> Range<usize> {
        self.first[superblock as usize]..self.first[superblock as usize + 1]
    }

    /// Returns how many native superblocks are free.
    #[inline]
    pub(crate) fn free_superblocks(&self) -> usize {
        self.free.len()
    }

    /// Returns whether the fixed SLC cache has no free superblock.
    pub(crate) fn fixed_slc_is_used_up(&self) -> bool {
        self.free_slc.is_empty()
    }

    /// Takes the native superblock that has been free for longest.
    pub(crate) fn take_free(&mut self) -> Option<Superblock> {
        let superblock = self.free.pop_front()?;
        assert_eq!(self.valid[superblock as usize], 0, "a free superblock holds no valid page");
        Some(superblock)
    }

    /// Takes the superblock of the fixed SLC cache that has been free for longest.
    pub(crate) fn take_free_slc(&mut self) -> Option<Superblock> {
        let superblock = self.free_slc.pop_front()?;
        assert_eq!(self.valid[superblock as usize], 0, "a free superblock holds no valid page");
        Some(superblock)
    }

    /// Makes `superblock`, which is full, available to collection. Superblocks of the fixed SLC
    /// cache are never collected, only folded.
    pub(crate) fn close(&mut self, superblock: Superblock) {
        assert!(
            self.valid[superblock as usize] as usize <= self.slots(superblock).len(),
            "no superblock holds more valid pages than slots"
        );
        self.fillings += 1;
        self.filled_at[superblock as usize] = self.fillings;
        if !self.is_fixed_slc(superblock) {
            self.excluded[superblock as usize] = 0;
            self.closed.push_back(superblock);
        }
    }

    /// Excludes `superblock` from collection.
    pub(crate) fn exclude(&mut self, superblock: Superblock) {
        self.excluded[superblock as usize] = EXCLUDED;
        if let Some(index) = self.closed.iter().position(|other| *other == superblock) {
            self.closed.remove(index);
        }
    }

    /// Frees a superblock that holds no valid page.
    pub(crate) fn release(&mut self, superblock: Superblock) {
        assert_eq!(self.valid[superblock as usize], 0, "no valid page is erased");
        assert_eq!(self.excluded[superblock as usize], EXCLUDED, "no free superblock is collected");
        if !self.generations.is_empty() {
            let slots = self.slots(superblock);
            self.generations[slots].fill(0);
        }
        // The log keeps its pages: no entry names the superblock any more, so none of them is
        // valid.
        let slots = self.slots(superblock);
        if let Some(packing) = &mut self.packing {
            packing.release(slots);
        }
        match self.is_fixed_slc(superblock) {
            true => self.free_slc.push_back(superblock),
            false => self.free.push_back(superblock),
        }
    }

    /// Returns the superblock with the fewest valid pages among those that can be collected.
    pub(crate) fn fewest_valid(&self) -> Option<Superblock> {
        let native = 1..=self.native as usize;
        let counts = || self.valid[native.clone()].iter().zip(&self.excluded[native.clone()]);
        // Two passes instead of one that carries the index along: the plain minimum is vectorised.
        let fewest = counts().map(|(valid, excluded)| valid | excluded).min()?;
        if fewest >= EXCLUDED {
            return None;
        }
        counts()
            .position(|(valid, excluded)| valid | excluded == fewest)
            .map(|index| index as Superblock + 1)
    }

    /// Returns the superblock that was filled first among those that can be collected.
    pub(crate) fn oldest(&self) -> Option<Superblock> {
        self.closed.front().copied()
    }

    /// Returns the superblock with the highest (1 − u) × age ÷ (1 + u) among those that can be collected: u is
    /// its share of valid pages, the age that of its last slot, in superblocks filled since.
    pub(crate) fn most_worth(&self) -> Option<Superblock> {
        let worth = |superblock: &Superblock| {
            let size = self.slots(*superblock).len() as f64;
            let valid = f64::from(self.valid(*superblock));
            // At least 1: a superblock that was filled last is still worth more the less is valid
            // in it.
            let age = self.fillings - self.filled_at[*superblock as usize] + 1;
            (size - valid) * age as f64 / (size + valid)
        };
        self.closed.iter().copied().max_by(|one, other| worth(one).total_cmp(&worth(other)))
    }

    /// Checks in debug builds that entries, logs and counts agree: a checkpoint between steps.
    ///
    /// # Panics
    /// Where a count differs from the entries, a mapped page has no slot in its superblock, or a
    /// free superblock holds a valid page.
    pub(crate) fn verify(&self) {
        if !cfg!(debug_assertions) || self.entries.len() > MAX_VERIFIED_PAGES {
            return;
        }
        assert_eq!(self.count_slots(), self.valid, "the counts are those of the map");
        // Each use of a `HugeArray` checks its type: once is enough for all pages.
        let (entries, log) = (&*self.entries, &*self.log);
        let mut has_slot = vec![false; entries.len()];
        for superblock in 1..self.valid.len() as Superblock {
            let slots = self.slots(superblock);
            assert!(self.valid(superblock) as usize <= slots.len(), "valid pages fit their slots");
            for slot in slots {
                let second = self.packing.as_ref().and_then(|packing| packing.second(slot));
                for page in [Some(log[slot]), second].into_iter().flatten() {
                    has_slot[page as usize] |= entries[page as usize] == superblock;
                }
            }
        }
        for (page, superblock) in entries.iter().enumerate() {
            let needs_slot = *superblock != UNMAPPED && *superblock != BARE;
            assert!(!needs_slot || has_slot[page], "page {page} has a slot");
        }
        for superblock in self.free.iter().chain(&self.free_slc) {
            assert_eq!(self.valid(*superblock), 0, "a free superblock holds no valid page");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ProfileSpec;

    fn map() -> Map {
        let spec = ProfileSpec::parse("tiny?capacity=10MB&over_provisioning=2").unwrap();
        Map::new(&Geometry::from_spec(&spec).unwrap())
    }

    #[test]
    fn an_overwrite_leaves_one_valid_slot() {
        let mut map = map();
        let (a, b) = (map.take_free().unwrap(), map.take_free().unwrap());
        map.write(7, a, 0);
        map.write(7, a, 1);
        assert_eq!((map.lookup(7), map.valid(a)), (a, 1));
        map.write(7, b, 0);
        assert_eq!((map.lookup(7), map.valid(a), map.valid(b)), (b, 0, 1));
        map.deallocate(7);
        assert_eq!((map.lookup(7), map.valid_pages()), (UNMAPPED, 0));
        map.verify();
    }

    #[test]
    fn pages_written_together_equal_pages_written_one_by_one() {
        let (mut one_by_one, mut together) = (map(), map());
        let pages = [7, 8, 7, 9, 9];
        for map in [&mut one_by_one, &mut together] {
            let (a, b) = (map.take_free().unwrap(), map.take_free().unwrap());
            assert_eq!((a, b), (1, 2));
            map.write(8, a, 0);
            map.write(3, b, 0);
        }
        pages.iter().zip(1..).for_each(|(page, slot)| one_by_one.write(*page, 2, slot));
        together.write_all(&pages, 2, 1);
        assert_eq!(together.valid, one_by_one.valid);
        assert_eq!(together.entries[..], one_by_one.entries[..]);
        assert_eq!(together.log[..], one_by_one.log[..]);
        together.verify();
    }

    #[test]
    fn a_page_with_two_slots_moves_once() {
        let mut map = map();
        let (a, b) = (map.take_free().unwrap(), map.take_free().unwrap());
        (0..3).for_each(|slot| map.write([5, 6, 5][slot as usize], a, slot));
        let mut found = ValidPages::default();
        map.find_valid(a, 0..3, 3, 1, &mut found);
        let (unit, pages) = found.take_unit().unwrap();
        assert_eq!((unit.pages, unit.senses, pages), (3, 3, &[5, 6, 5][..]));
        assert_eq!(map.relocate(pages, a, b, 0, 3), (3, 2));
        assert_eq!((map.valid(a), map.valid(b)), (0, 2));
        map.verify();
        map.release(a);
    }

    #[test]
    #[should_panic(expected = "no valid page is erased")]
    fn a_superblock_with_a_valid_page_is_not_released() {
        let mut map = map();
        let superblock = map.take_free().unwrap();
        map.write(0, superblock, 0);
        map.release(superblock);
    }
}
