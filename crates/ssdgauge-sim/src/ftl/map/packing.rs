//! Pages that a drive stores smaller than they are: without flash, or two of them in one slot.
//!
//! A page without flash has the entry [`BARE`]. Where two half pages share a slot, its log names the first one, and
//! a second log the other: both have to name each other.

use crate::ftl::huge_array::HugeArray;
use crate::ftl::valid_pages::Superblock;
use crate::profile::Geometry;

/// The map entry of a page that takes no flash. No drive has as many superblocks.
pub(crate) const BARE: Superblock = Superblock::MAX;

/// What the map of a drive has in addition that compresses or deduplicates.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    /// The second page of each slot, plus one; 0 where there is none. Empty where no slot has two.
    pub(super) second: HugeArray<u32>,
    /// The page with which each page shares its slot, plus one; 0 where it has the slot to itself. Likewise.
    pub(super) partner: HugeArray<u32>,
    /// The half page that was the last one to take a slot alone, with its superblock and slot.
    pub(super) open: Option<(u32, Superblock, u32)>,
    /// The generation of each second page; empty unless data is verified.
    pub(super) second_generations: Vec<u32>,
    /// That of each page without flash, likewise.
    pub(super) bare_generations: Vec<u32>,
}

impl Packing {
    /// Returns what the map of an empty drive has; `None` for a drive that stores every page as it is.
    pub(super) fn new(geometry: &Geometry, slots: usize) -> Option<Box<Packing>> {
        let (slots, pages) = match geometry.compresses {
            true => (slots, geometry.user_pages as usize),
            false => (0, 0),
        };
        (geometry.compresses || geometry.deduplicates).then(|| {
            Box::new(Packing {
                second: HugeArray::zeroed(slots),
                partner: HugeArray::zeroed(pages),
                open: None,
                second_generations: Vec::new(),
                bare_generations: Vec::new(),
            })
        })
    }

    /// Stores a generation with every page from this call on.
    pub(super) fn keep_generations(&mut self, pages: usize) {
        self.second_generations = vec![0; self.second.len()];
        self.bare_generations = vec![0; pages];
    }

    /// Returns the page that shares the slot of `page`.
    pub(super) fn partner(&self, page: u32) -> Option<u32> {
        self.partner.get(page as usize).and_then(|partner| partner.checked_sub(1))
    }

    /// Returns the second page of the slot at `index`.
    pub(super) fn second(&self, index: usize) -> Option<u32> {
        self.second.get(index).and_then(|second| second.checked_sub(1))
    }

    /// Forgets the second pages of `slots`, which are erased.
    pub(super) fn release(&mut self, slots: std::ops::Range<usize>) {
        if !self.second.is_empty() {
            self.second[slots.clone()].fill(0);
        }
        if !self.second_generations.is_empty() {
            self.second_generations[slots].fill(0);
        }
    }

    /// Lets `first` and `second` share the slot at `index`.
    pub(super) fn pair(&mut self, first: u32, second: u32, index: usize) {
        self.second[index] = second + 1;
        self.partner[first as usize] = second + 1;
        self.partner[second as usize] = first + 1;
    }
}
