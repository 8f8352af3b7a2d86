//! The generation of the data in each slot: which write a read has to find. It is kept where data is verified.
//!
//! A generation must move with its page.

use super::Map;
use crate::ftl::valid_pages::{Superblock, UNMAPPED};

/// The generation of a slot of zeros: it completes a mapping unit by a page that holds no data.
const ZEROS: u32 = u32::MAX;

impl Map {
    /// Stores a generation number with every slot from this call on, so that reads can be verified.
    pub(crate) fn keep_generations(&mut self) {
        self.generations = vec![0; self.log.len()];
        let pages = self.entries.len();
        if let Some(packing) = &mut self.packing {
            packing.keep_generations(pages);
        }
    }

    /// Returns the generation of a write that enters the map later; 0 unless data is verified.
    pub(crate) fn next_generation(&mut self) -> u32 {
        self.generation += u32::from(!self.generations.is_empty());
        self.generation
    }

    /// Returns the generation of the last write.
    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// Continues after `generation`, which another volume has reached.
    pub(crate) fn continue_after(&mut self, generation: u32) {
        self.generation = generation;
    }

    /// Returns whether a generation is stored with every slot.
    pub(crate) fn keeps_generations(&self) -> bool {
        !self.generations.is_empty()
    }

    /// Gives the last slot of `page`, which was just written, the `generation` of its data.
    pub(crate) fn set_generation(&mut self, page: u32, generation: u32) {
        let slots = self.slots(self.entries[page as usize]);
        // 0 is a slot that was not written since its erase, of which the log still names a page.
        let slot = slots.rev().find(|slot| self.log[*slot] == page && self.generations[*slot] != 0);
        self.generations[slot.expect("the page was written")] = generation;
        // `write` has used up a number without a write of the host, and tests count those by it.
        self.generation -= 1;
    }

    /// Moves pages one by one as [`Map::relocate`] does, with their generations.
    pub(super) fn relocate_with_generations(
        &mut self,
        pages: &[u32],
        from: Superblock,
        to: Superblock,
        slot: u32,
        room: u32,
    ) -> (usize, u32) {
        let examined = pages.len().min(room as usize);
        let mut moved = 0;
        for page in &pages[..examined] {
            if self.entries[*page as usize] == from {
                let generation = self.stored_generation(*page);
                self.write(*page, to, slot + moved);
                let index = self.first[to as usize] + (slot + moved) as usize;
                self.generations[index] = generation;
                // As in `set_generation`: a move is not a write of the host.
                self.generation -= 1;
                moved += 1;
            }
        }
        (examined, moved)
    }

    /// Returns the generation of the data that a read of `page` finds; 0 where that is zeros.
    pub(crate) fn generation_of(&self, page: u32) -> u32 {
        Some(self.stored_generation(page)).filter(|generation| *generation != ZEROS).unwrap_or(0)
    }

    /// Returns the generation in the last slot of `page`; [`ZEROS`] where it is unmapped.
    pub(crate) fn stored_generation(&self, page: u32) -> u32 {
        let superblock = self.entries[page as usize];
        if superblock == UNMAPPED {
            return ZEROS;
        }
        if let Some(generation) = self.generation_without_slot(page) {
            return generation;
        }
        self.slots(superblock)
            .rev()
            .find(|slot| self.log[*slot] == page && self.generations[*slot] != 0)
            .map_or(ZEROS, |slot| self.generations[slot])
    }
}
