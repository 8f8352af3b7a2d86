//! The valid pages in a range of slots of one superblock, program unit by program unit.

use std::collections::VecDeque;

/// The number of a superblock, from 1; 0 is [`UNMAPPED`].
pub(crate) type Superblock = u16;

/// The map entry of a page that was never written, or was deallocated.
pub(crate) const UNMAPPED: Superblock = 0;

/// Places in the scratch arrays: enough independent loads to hide the latency of cache misses, few
/// enough that the entries are still in the second-level cache when their pages move.
const PLACES: usize = 2_048;

/// The valid pages in a range of slots of one superblock.
///
/// A stale slot of a superblock under collection never becomes valid again. A valid one may be
/// overwritten by the host before it moves, so the move checks each page once more.
#[derive(Clone, Debug)]
pub(crate) struct ValidPages {
    pages: Box<[u32; PLACES]>,
    units: VecDeque<ValidUnit>,
    /// The first of `pages` that was not taken yet.
    next: usize,
    /// Scratch: the map entries of the slots under examination.
    entries: Box<[Superblock; PLACES]>,
}

/// The valid pages of one program unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValidUnit {
    /// How many they are.
    pub(crate) pages: u32,
    /// Sense operations that read them all.
    pub(crate) senses: u32,
}

impl Default for ValidPages {
    fn default() -> Self {
        ValidPages {
            pages: Box::new([0; PLACES]),
            units: VecDeque::new(),
            next: 0,
            entries: Box::new([UNMAPPED; PLACES]),
        }
    }
}

impl ValidPages {
    /// The most slots that can be examined together. One less than there are places: each page is
    /// stored before it is known whether it is valid.
    pub(crate) const MAX_SLOTS: u32 = PLACES as u32 - 1;

    /// Returns whether every unit was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Finds the pages of `log`, a range of slots of `superblock`, that `entries` maps to it.
    ///
    /// Units of `unit_pages` slots are stored from the last to the first. Each is read by one sense
    /// operation for every group of `group` slots with a valid page.
    pub(crate) fn find(
        &mut self,
        superblock: Superblock,
        log: &[u32],
        entries: &[Superblock],
        unit_pages: u32,
        group: u32,
    ) {
        debug_assert!(self.is_empty(), "units found earlier are taken first");
        // A loop of loads that do not depend on each other: the processor overlaps their cache
        // misses, which dominate the cost of collection.
        let loaded = &mut self.entries[..log.len()];
        loaded.iter_mut().zip(log).for_each(|(entry, page)| *entry = entries[*page as usize]);
        let mut n = 0;
        self.units.clear();
        let units = log.rchunks(unit_pages as usize).zip(loaded.rchunks(unit_pages as usize));
        for (pages, entries) in units {
            let (begin, mut senses) = (n, 0);
            let groups = pages.rchunks(group as usize).zip(entries.rchunks(group as usize));
            for (pages, entries) in groups {
                let before = n;
                for (page, entry) in pages.iter().zip(entries).rev() {
                    // Stored always, counted where valid: no branch that is mispredicted.
                    self.pages[n % PLACES] = *page;
                    n += usize::from(*entry == superblock);
                }
                senses += u32::from(n > before);
            }
            self.units.push_back(ValidUnit { pages: (n - begin) as u32, senses });
        }
        self.next = 0;
    }

    /// Takes the next unit and its pages.
    pub(crate) fn take_unit(&mut self) -> Option<(ValidUnit, &[u32])> {
        let unit = self.units.pop_front()?;
        let begin = self.next;
        self.next += unit.pages as usize;
        Some((unit, &self.pages[begin..self.next]))
    }
}
