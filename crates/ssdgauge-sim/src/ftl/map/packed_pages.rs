//! Writes and moves of pages that a drive stores smaller than they are.
//!
//! A slot is valid while one of its pages is, and its pages move together; a page whose partner was written elsewhere
//! keeps the slot. No page of a slot may be lost when the slot moves.

use super::Map;
use super::packing::{BARE, Packing};
use crate::ftl::valid_pages::{Superblock, UNMAPPED};

impl Map {
    fn packing_mut(&mut self) -> &mut Packing {
        self.packing.as_mut().expect("only a drive that reduces data has such pages")
    }

    /// Unmaps `page`, of a drive with a packing.
    pub(super) fn forget(&mut self, page: u32) {
        let packing = self.packing.as_mut().expect("a drive with a packing");
        if packing.open.is_some_and(|(open, _, _)| open == page) {
            packing.open = None;
        }
        let old = std::mem::replace(&mut self.entries[page as usize], UNMAPPED);
        match packing.partner(page) {
            Some(partner) => {
                packing.partner[page as usize] = 0;
                packing.partner[partner as usize] = 0;
            }
            // With a partner, the slot is still needed, and its superblock holds as many valid
            // slots.
            None if old != UNMAPPED && old != BARE => self.valid[old as usize] -= 1,
            None => {}
        }
    }

    /// Writes `page` without flash.
    pub(crate) fn write_bare(&mut self, page: u32) {
        self.forget(page);
        self.entries[page as usize] = BARE;
        if self.keeps_generations() {
            let generation = self.next_generation();
            self.packing_mut().bare_generations[page as usize] = generation;
        }
    }

    /// Writes `page` to `slot` of `superblock`, which it has to itself.
    pub(crate) fn write_whole(&mut self, page: u32, superblock: Superblock, slot: u32) {
        self.forget(page);
        self.write(page, superblock, slot);
    }

    /// Writes one half page, or two of them, to `slot` of `superblock`. Another one may join a single one.
    pub(crate) fn write_halves(
        &mut self,
        first: u32,
        second: Option<u32>,
        superblock: Superblock,
        slot: u32,
    ) {
        self.write_whole(first, superblock, slot);
        match second {
            Some(second) => self.add_second(first, second, superblock, slot),
            None => self.packing_mut().open = Some((first, superblock, slot)),
        }
    }

    /// Writes a half page to the slot of `superblock` that another one has to itself, where there is one in the
    /// slots from `from` on; returns whether there is.
    pub(crate) fn join_half(&mut self, page: u32, superblock: Superblock, from: u32) -> bool {
        // First, because the page may be the one in the slot.
        self.forget(page);
        let open = self.packing_mut().open.take();
        let joined = open.filter(|(_, of, slot)| *of == superblock && *slot >= from);
        if let Some((first, _, slot)) = joined {
            self.add_second(first, page, superblock, slot);
        }
        joined.is_some()
    }

    fn add_second(&mut self, first: u32, second: u32, superblock: Superblock, slot: u32) {
        self.forget(second);
        self.entries[second as usize] = superblock;
        let index = self.first[superblock as usize] + slot as usize;
        let generation = self.next_generation();
        let packing = self.packing_mut();
        packing.pair(first, second, index);
        if let Some(stored) = packing.second_generations.get_mut(index) {
            *stored = generation;
        }
    }

    /// Moves pages one by one as [`Map::relocate`] does, each with the one that shares its slot.
    pub(super) fn relocate_packed(
        &mut self,
        pages: &[u32],
        from: Superblock,
        to: Superblock,
        slot: u32,
        room: u32,
    ) -> (usize, u32) {
        let examined = pages.len().min(room as usize);
        // A partner moves with the first of the two that is examined. When its own turn comes, its
        // entry names `to`, and it is skipped.
        let mut moved = 0;
        for page in &pages[..examined] {
            if self.entries[*page as usize] == from {
                self.move_slot(*page, to, slot + moved);
                moved += 1;
            }
        }
        assert!(moved <= self.valid[from as usize], "only valid slots move");
        self.valid[from as usize] -= moved;
        self.valid[to as usize] += moved;
        (examined, moved)
    }

    /// Moves `page`, and the one that shares its slot, to `slot` of `to`; the counts are those of before.
    fn move_slot(&mut self, page: u32, to: Superblock, slot: u32) {
        let index = self.first[to as usize] + slot as usize;
        // Generations are read before the entries change, which state where they are stored.
        let partner = self.packing.as_ref().and_then(|packing| packing.partner(page));
        if self.keeps_generations() {
            let generation = self.stored_generation(page);
            let of_partner = partner.map(|partner| self.stored_generation(partner));
            self.generations[index] = generation;
            let second = self.packing_mut().second_generations.get_mut(index);
            if let (Some(second), Some(of_partner)) = (second, of_partner) {
                *second = of_partner;
            }
        }
        self.entries[page as usize] = to;
        self.log[index] = page;
        if let Some(partner) = partner {
            self.entries[partner as usize] = to;
            self.packing_mut().second[index] = partner + 1;
        }
    }

    /// Returns the generation of `page` where it has no slot of its own: it takes no flash, or is the second one of
    /// a slot.
    pub(super) fn generation_without_slot(&self, page: u32) -> Option<u32> {
        let packing = self.packing.as_ref()?;
        let superblock = self.entries[page as usize];
        if superblock == BARE {
            return Some(packing.bare_generations[page as usize]);
        }
        let holds = |slot: &usize| packing.second(*slot) == Some(page);
        // The last slot of the page, which may name it first or second.
        let slot = self
            .slots(superblock)
            .rev()
            .find(|slot| holds(slot) || self.log[*slot] == page && self.generations[*slot] != 0)?;
        holds(&slot).then(|| packing.second_generations[slot])
    }

    /// Returns how many slots of each superblock are valid by the entries of all pages.
    pub(super) fn count_slots(&self) -> Vec<u32> {
        let mut halves = vec![0; self.valid.len()];
        for (page, superblock) in (0..).zip(&*self.entries) {
            let Some(count) = halves.get_mut(*superblock as usize) else { continue };
            let partner = self.packing.as_ref().and_then(|packing| packing.partner(page));
            if let Some(partner) = partner {
                let of_partner = self.packing.as_ref().and_then(|one| one.partner(partner));
                assert_eq!(of_partner, Some(page), "two pages share a slot");
                assert_eq!(self.lookup(partner), *superblock, "both lie in one superblock");
            }
            // In half slots: two pages that share a slot add up to it.
            *count += if partner.is_some() { 1 } else { 2 };
        }
        halves[UNMAPPED as usize] = 0;
        assert!(halves.iter().all(|halves| halves % 2 == 0), "no page shares a slot alone");
        halves.iter().map(|halves| halves / 2).collect()
    }
}
