//! The page map: where each page of the host lies, and what each superblock holds.
//!
//! An entry is the number of a superblock in 16 bits; each superblock has a log of the pages that
//! were written to it, in order. A slot of the log is valid if the entry of its page names that
//! superblock. A page that was written twice to the same superblock has two such slots, and the
//! later one counts: whoever reads a log reads it from its end. The map must never hold more
//! valid pages in a superblock than it has slots.

use crate::ftl::huge_array::Table;
use crate::profile::Geometry;
use ssdgauge_core::Random;
use std::collections::VecDeque;

/// The number of a superblock; 0 means that a page lies nowhere.
pub(crate) type Superblock = u16;

/// Where a page lies that was never written, or was trimmed.
pub(crate) const NOWHERE: Superblock = 0;

/// Added to the count of a superblock that must not be collected.
const HIDDEN: u32 = 1 << 31;

/// Page map, logs and superblocks.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    /// The superblock of each page of the host.
    entries: Table<Superblock>,
    /// The pages in the slots of all superblocks.
    log: Table<u32>,
    /// The first slot of each superblock in `log`.
    first: Vec<usize>,
    /// Valid pages of each superblock.
    valid: Vec<u32>,
    /// `HIDDEN` for each superblock that must not be collected.
    hidden: Vec<u32>,
    /// Superblocks for host data that hold nothing.
    pub(crate) free: VecDeque<Superblock>,
    /// Superblocks of the fixed part of the cache that hold nothing.
    pub(crate) slc_free: VecDeque<Superblock>,
    /// Superblocks for host data, in the order in which they were filled.
    pub(crate) closed: VecDeque<Superblock>,
    native: u32,
    /// Generation of the data in each slot; empty unless data is verified.
    generations: Vec<u32>,
    generation: u32,
}

impl Map {
    pub(crate) fn new(geometry: &Geometry) -> Map {
        let native = geometry.superblocks as usize;
        let slc = geometry.slc_superblocks as usize;
        let mut first = vec![0; 1 + native + slc];
        let mut next = 0usize;
        for (number, slot) in first.iter_mut().enumerate().skip(1) {
            *slot = next;
            next += match number <= native {
                true => geometry.superblock_pages,
                false => geometry.slc_superblock_pages,
            } as usize;
        }
        let all = 1 + native + slc;
        Map {
            // Zero is `NOWHERE`.
            entries: Table::zeroed(geometry.user_pages as usize),
            log: Table::zeroed(next),
            first,
            valid: vec![0; all],
            hidden: vec![HIDDEN; all],
            free: (1..=native as Superblock).collect(),
            slc_free: (native as Superblock + 1..all as Superblock).collect(),
            closed: VecDeque::new(),
            native: native as u32,
            generations: Vec::new(),
            generation: 0,
        }
    }

    /// Keeps a generation number with every slot from now on, so that reads can be verified.
    pub(crate) fn keep_generations(&mut self) {
        self.generations = vec![0; self.log.len()];
    }

    /// Returns where `page` lies.
    #[inline]
    pub(crate) fn entry(&self, page: u32) -> Superblock {
        self.entries[page as usize]
    }

    /// Returns whether `superblock` belongs to the fixed part of the cache.
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

    /// Writes `page` to `slot` of `superblock`; what it held elsewhere is no longer valid.
    #[inline]
    pub(crate) fn place(&mut self, page: u32, superblock: Superblock, slot: u32) {
        let entry = &mut self.entries[page as usize];
        let old = std::mem::replace(entry, superblock);
        // The count of NOWHERE takes the place of a branch: it is corrected with each superblock.
        self.valid[old as usize] = self.valid[old as usize].wrapping_sub(1);
        self.valid[superblock as usize] += 1;
        let index = self.first[superblock as usize] + slot as usize;
        self.log[index] = page;
        if !self.generations.is_empty() {
            self.generation += 1;
            self.generations[index] = self.generation;
        }
        self.valid[NOWHERE as usize] = 0;
    }

    /// Deals all pages to `superblocks` of `size` slots in proportion to `populations`, fills
    /// what is left with stale slots, and closes them.
    pub(crate) fn populate(
        &mut self,
        superblocks: &[Superblock],
        populations: &[f64],
        size: u32,
        random: &mut Random,
    ) {
        // Tickets instead of sums: one load finds the superblock of a random number.
        const TICKETS: usize = 1 << 20;
        let all: f64 = populations.iter().sum();
        let mut tickets = Vec::with_capacity(TICKETS);
        let mut sum = 0.0;
        for (index, population) in populations.iter().enumerate() {
            sum += population;
            let end = (sum / all * TICKETS as f64).round() as usize;
            tickets.resize(end.clamp(tickets.len(), TICKETS), index as u16);
        }
        tickets.resize(TICKETS, populations.len() as u16 - 1);
        let mut dealt: Vec<Dealt> = populations
            .iter()
            .map(|population| Dealt {
                filled: 0,
                owed: 0.0,
                stale: f64::from(size) / population - 1.0,
            })
            .collect();
        // The last page, and the last one before it that lies in another superblock.
        let mut recent = [(0, NOWHERE); 2];
        for page in 0..self.entries.len() as u32 {
            let index = loop {
                let ticket = usize::from(tickets[random.below(TICKETS as u64) as usize]);
                if dealt[ticket].filled < size {
                    break ticket;
                }
            };
            let superblock = superblocks[index];
            let dealt = &mut dealt[index];
            self.place(page, superblock, dealt.filled);
            dealt.filled += 1;
            dealt.owed += dealt.stale;
            if recent[0].1 != superblock {
                recent[1] = recent[0];
            }
            recent[0] = (page, superblock);
            while dealt.owed >= 1.0 && dealt.filled < size {
                dealt.owed -= 1.0;
                self.log[self.first[superblock as usize] + dealt.filled as usize] = recent[1].0;
                dealt.filled += 1;
            }
        }
        for (superblock, dealt) in superblocks.iter().zip(dealt) {
            let stale = if recent[0].1 == *superblock { recent[1].0 } else { recent[0].0 };
            let first = self.first[*superblock as usize];
            self.log[first + dealt.filled as usize..first + size as usize].fill(stale);
            self.close(*superblock);
        }
    }

    /// Forgets where `page` lies; returns whether it lay anywhere.
    pub(crate) fn trim(&mut self, page: u32) -> bool {
        let old = std::mem::replace(&mut self.entries[page as usize], NOWHERE);
        if old != NOWHERE {
            self.valid[old as usize] -= 1;
        }
        old != NOWHERE
    }

    /// Finds the pages of `slots` of `superblock` that are valid, from the last unit of
    /// `unit_pages` slots to the first, and in each how many groups of `group` slots hold any.
    ///
    /// The loads of the entries depend on nothing but the log, so the processor overlaps as many
    /// misses as it can. A page that has two slots in the range is found twice.
    pub(crate) fn find_valid(
        &self,
        superblock: Superblock,
        slots: std::ops::Range<u32>,
        unit_pages: u32,
        group: u32,
        found: &mut Found,
    ) {
        let first = self.first[superblock as usize];
        let log = &self.log[first + slots.start as usize..first + slots.end as usize];
        let entries = &self.entries[..];
        // Loads first, and nothing else: the processor overlaps their misses.
        let looked = &mut found.entries[..log.len()];
        looked.iter_mut().zip(log).for_each(|(entry, page)| *entry = entries[*page as usize]);
        let mut n = 0;
        found.units.clear();
        let units = log.rchunks(unit_pages as usize).zip(looked.rchunks(unit_pages as usize));
        for (pages, entries) in units {
            let (begin, mut senses) = (n, 0);
            let groups = pages.rchunks(group as usize).zip(entries.rchunks(group as usize));
            for (pages, entries) in groups {
                let before = n;
                for (page, entry) in pages.iter().zip(entries).rev() {
                    found.pages[n % FOUND] = *page;
                    n += usize::from(*entry == superblock);
                }
                senses += u32::from(n > before);
            }
            found.units.push_back(FoundUnit { pages: (n - begin) as u32, senses });
        }
        found.next = 0;
    }

    /// Moves `pages` of `from` that are still valid there to the slots from `slot` of `to`, and
    /// returns how many pages were looked at and how many moved; at most `room` move.
    #[inline]
    pub(crate) fn relocate(
        &mut self,
        pages: &[u32],
        from: Superblock,
        to: Superblock,
        slot: u32,
        room: u32,
    ) -> (usize, u32) {
        if !self.generations.is_empty() {
            return self.relocate_with_generations(pages, from, to, slot, room);
        }
        let start = self.first[to as usize] + slot as usize;
        let target = &mut self.log[start..start + room as usize];
        let mut moved = 0;
        let mut looked = 0;
        for page in pages {
            if moved == target.len() {
                break;
            }
            looked += 1;
            let entry = &mut self.entries[*page as usize];
            // The second slot of a page is stale by now: the later one, found first, has moved.
            if *entry == from {
                *entry = to;
                target[moved] = *page;
                moved += 1;
            }
        }
        self.valid[from as usize] -= moved as u32;
        self.valid[to as usize] += moved as u32;
        (looked, moved as u32)
    }

    /// Does the same as [`Map::relocate`], page by page, and carries the generations over.
    fn relocate_with_generations(
        &mut self,
        pages: &[u32],
        from: Superblock,
        to: Superblock,
        slot: u32,
        room: u32,
    ) -> (usize, u32) {
        let (mut looked, mut moved) = (0, 0);
        for page in pages {
            if moved == room {
                break;
            }
            looked += 1;
            if self.entries[*page as usize] == from {
                let generation = self.generation_of(*page);
                self.place(*page, to, slot + moved);
                let index = self.first[to as usize] + (slot + moved) as usize;
                self.generations[index] = generation;
                self.generation -= 1;
                moved += 1;
            }
        }
        (looked, moved)
    }

    /// Returns the generation of the data that a read of `page` finds; 0 where it lies nowhere.
    pub(crate) fn generation_of(&self, page: u32) -> u32 {
        let superblock = self.entries[page as usize];
        if superblock == NOWHERE {
            return 0;
        }
        let first = self.first[superblock as usize];
        let end = self.first.get(superblock as usize + 1).copied().unwrap_or(self.log.len());
        (first..end)
            .rev()
            .find(|slot| self.log[*slot] == page && self.generations[*slot] != 0)
            .map_or(0, |slot| self.generations[slot])
    }

    /// Lets `superblock` be collected from now on.
    pub(crate) fn close(&mut self, superblock: Superblock) {
        if !self.is_fixed_slc(superblock) {
            self.hidden[superblock as usize] = 0;
            self.closed.push_back(superblock);
        }
    }

    /// Takes `superblock` out of what can be collected.
    pub(crate) fn hide(&mut self, superblock: Superblock) {
        self.hidden[superblock as usize] = HIDDEN;
        if let Some(index) = self.closed.iter().position(|other| *other == superblock) {
            self.closed.remove(index);
        }
    }

    /// Gives back a superblock that holds nothing valid.
    pub(crate) fn release(&mut self, superblock: Superblock) {
        assert_eq!(self.valid[superblock as usize], 0, "nothing valid is erased");
        if !self.generations.is_empty() {
            let first = self.first[superblock as usize];
            let end = self.first.get(superblock as usize + 1).copied().unwrap_or(self.log.len());
            self.generations[first..end].fill(0);
        }
        match self.is_fixed_slc(superblock) {
            true => self.slc_free.push_back(superblock),
            false => self.free.push_back(superblock),
        }
    }

    /// Returns the superblock with the fewest valid pages among those that can be collected.
    pub(crate) fn emptiest(&self) -> Option<Superblock> {
        let native = 1..=self.native as usize;
        let counts = || self.valid[native.clone()].iter().zip(&self.hidden[native.clone()]);
        let fewest = counts().map(|(valid, hidden)| valid | hidden).min()?;
        if fewest >= HIDDEN {
            return None;
        }
        counts().position(|(valid, hidden)| valid | hidden == fewest).map(|i| i as Superblock + 1)
    }

    /// Returns the superblock that was filled first among those that can be collected.
    pub(crate) fn oldest(&self) -> Option<Superblock> {
        self.closed.front().copied()
    }
}

/// How far a superblock is dealt.
struct Dealt {
    filled: u32,
    /// Stale slots that are due.
    owed: f64,
    /// Stale slots for each valid one.
    stale: f64,
}

/// Slots that are looked at together: enough misses at a time to hide their latency, few enough
/// to stay in the second-level cache until their pages move.
const FOUND: usize = 2_048;

/// The valid pages of a stretch of a log, unit by unit.
///
/// What is not valid in a superblock that is being given back never becomes valid there again;
/// what is valid may still be overwritten before it moves, and is looked at once more then.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pages: Box<[u32; FOUND]>,
    units: VecDeque<FoundUnit>,
    next: usize,
    /// The entries of the slots that are looked at.
    entries: Box<[Superblock; FOUND]>,
}

/// The valid pages of one unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundUnit {
    pub(crate) pages: u32,
    /// Sense operations that bring them all.
    pub(crate) senses: u32,
}

impl Default for Found {
    fn default() -> Self {
        Found {
            pages: Box::new([0; FOUND]),
            units: VecDeque::new(),
            next: 0,
            entries: Box::new([NOWHERE; FOUND]),
        }
    }
}

impl Found {
    /// The most slots that may be looked at together; one less than there are places, because
    /// each slot is written down before it is known to be valid.
    pub(crate) const MOST: u32 = FOUND as u32 - 1;

    /// Returns whether every unit was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Takes the next unit and its pages.
    pub(crate) fn take_unit(&mut self) -> Option<(FoundUnit, &[u32])> {
        let unit = self.units.pop_front()?;
        let begin = self.next;
        self.next += unit.pages as usize;
        Some((unit, &self.pages[begin..self.next]))
    }
}
