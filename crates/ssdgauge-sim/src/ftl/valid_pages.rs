//! The valid pages in a range of slots of one superblock, program unit by program unit.

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
    // Two for each slot: a drive that compresses may store two pages in one.
    pages: Box<[u32; 2 * PLACES]>,
    /// The units from the last to the first, and how many of them were taken.
    units: Vec<ValidUnit>,
    taken: usize,
    /// The first of `pages` that was not taken yet.
    next: usize,
    /// Scratch: the map entries of the slots under examination.
    entries: Box<[Superblock; PLACES]>,
    /// Scratch: how many valid pages were found before each slot, counted from the last slot.
    found: Box<[u16; PLACES]>,
}

/// The valid pages of one program unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValidUnit {
    /// How many they are.
    pub(crate) pages: u32,
    /// Slots that hold them; fewer where two share one.
    pub(crate) slots: u32,
    /// Sense operations that read them all.
    pub(crate) senses: u32,
}

impl Default for ValidPages {
    fn default() -> Self {
        ValidPages {
            pages: Box::new([0; 2 * PLACES]),
            units: Vec::new(),
            taken: 0,
            next: 0,
            entries: Box::new([UNMAPPED; PLACES]),
            found: Box::new([0; PLACES]),
        }
    }
}

impl ValidPages {
    /// The maximum number of slots that can be examined together. One less than there are places: each page is
    /// stored before it is known whether it is valid.
    pub(crate) const MAX_SLOTS: u32 = PLACES as u32 - 1;

    /// Returns whether every unit was taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.units.len()
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
        let found = &mut self.found[..log.len() + 1];
        for ((page, entry), found) in log.iter().zip(&*loaded).rev().zip(&mut *found) {
            *found = n as u16;
            // Stored always, counted where valid: no branch that is mispredicted.
            // `n` is always below PLACES. With the remainder, the compiler can omit the bounds check.
            self.pages[n % PLACES] = *page;
            n += usize::from(*entry == superblock);
        }
        found[log.len()] = n as u16;
        self.units.clear();
        self.units.extend((0..log.len()).step_by(unit_pages as usize).map(|begin| {
            let end = (begin + unit_pages as usize).min(log.len());
            let mut senses = 0;
            let mut before = found[begin];
            for end in (begin..end).step_by(group as usize).map(|at| (at + group as usize).min(end))
            {
                senses += u32::from(found[end] > before);
                before = found[end];
            }
            let pages = u32::from(before - found[begin]);
            ValidUnit { pages, slots: pages, senses }
        }));
        (self.taken, self.next) = (0, 0);
    }

    /// Finds pages as [`ValidPages::find`] does, of slots that two pages may share: each has one in both of `logs`,
    /// and in the second one plus one.
    pub(crate) fn find_packed(
        &mut self,
        superblock: Superblock,
        (log, second): (&[u32], &[u32]),
        entries: &[Superblock],
        unit_pages: u32,
        group: u32,
    ) {
        debug_assert!(self.is_empty(), "units found earlier are taken first");
        let is_valid = |page: &u32| entries[*page as usize] == superblock;
        let mut n = 0;
        self.units.clear();
        for unit in (0..log.len()).step_by(unit_pages as usize).rev() {
            let end = (unit + unit_pages as usize).min(log.len());
            let begin = n;
            let (mut slots, mut senses) = (0, 0);
            // Groups are counted from the end of the unit, as in `find`.
            let mut sensed = usize::MAX;
            for slot in (unit..end).rev() {
                let pages = [Some(log[slot]), second[slot].checked_sub(1)];
                let valid = pages.into_iter().flatten().filter(is_valid);
                let before = n;
                for page in valid {
                    self.pages[n] = page;
                    n += 1;
                }
                if n > before {
                    slots += 1;
                    let place = (end - 1 - slot) / group as usize;
                    senses += u32::from(place != sensed);
                    sensed = place;
                }
            }
            self.units.push(ValidUnit { pages: (n - begin) as u32, slots, senses });
        }
        (self.taken, self.next) = (0, 0);
    }

    /// Takes the next unit and its pages.
    pub(crate) fn take_unit(&mut self) -> Option<(ValidUnit, &[u32])> {
        let unit = *self.units.get(self.taken)?;
        self.taken += 1;
        let begin = self.next;
        self.next += unit.pages as usize;
        Some((unit, &self.pages[begin..self.next]))
    }
}
