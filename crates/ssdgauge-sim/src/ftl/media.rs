//! Flash and map together: superblocks that are written, and copies from one to another.
//!
//! A copy must never change the data that a read finds.

use crate::flash::{Flash, Program};
use crate::ftl::ground_truth::GroundTruth;
use crate::ftl::map::Map;
use crate::ftl::valid_pages::{Superblock, UNMAPPED, ValidPages};
use crate::profile::{Geometry, Profile};
use crate::time::SimTime;

/// Flash, map, and the superblock that copies are written to.
#[derive(Clone, Debug)]
pub(crate) struct Media {
    pub(crate) geometry: Geometry,
    pub(crate) map: Map,
    pub(crate) flash: Flash,
    /// The superblock that takes copies. Copies and host writes are kept apart because copied data
    /// is colder: mixed with it, each superblock would age unevenly and cost more copies later.
    copies: Option<OpenSuperblock>,
    /// Pages copied since the drive was created or last purged.
    pub(crate) copied_pages: u64,
    pub(crate) truth: GroundTruth,
}

/// A superblock that is being written, slot by slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenSuperblock {
    pub(crate) superblock: Superblock,
    /// Slots written.
    pub(crate) filled: u32,
    /// Slots of one program operation.
    pub(crate) unit_pages: u32,
    /// Whether it is written in SLC mode.
    pub(crate) slc: bool,
    /// Slots in all.
    size: u32,
}

impl OpenSuperblock {
    /// Returns `superblock` with no slot written.
    pub(crate) fn new(superblock: Superblock, slc: bool, geometry: &Geometry) -> OpenSuperblock {
        assert!(superblock != UNMAPPED, "superblocks are numbered from 1");
        let (size, unit_pages) = match slc {
            true => (geometry.slc_superblock_pages, geometry.slc_unit_pages),
            false => (geometry.superblock_pages, geometry.unit_pages),
        };
        OpenSuperblock { superblock, filled: 0, unit_pages, slc, size }
    }

    /// Returns how many slots of the current unit are not written.
    #[inline]
    pub(crate) fn unit_room(&self) -> u32 {
        self.unit_pages - self.filled % self.unit_pages
    }

    /// Returns whether the last slot written completes a unit.
    #[inline]
    pub(crate) fn unit_is_full(&self) -> bool {
        self.filled.is_multiple_of(self.unit_pages)
    }

    /// Returns whether every slot is written.
    pub(crate) fn is_full(&self) -> bool {
        self.filled == self.size
    }

    /// Returns the program operation of the unit that was just completed.
    pub(crate) fn program(&self, dies: u32) -> Program {
        let unit = self.filled / self.unit_pages - 1;
        Program {
            die: unit % dies,
            pages: self.unit_pages,
            slc: self.slc,
            // The first row of a superblock: each die erases its block immediately before.
            erase: unit < dies,
            superblock: self.superblock.into(),
            unit,
        }
    }
}

/// A superblock whose valid pages are being copied elsewhere, from its last slot to its first.
#[derive(Clone, Debug)]
pub(crate) struct Victim {
    pub(crate) superblock: Superblock,
    /// Slots that were not examined yet.
    pub(crate) remaining: u32,
    /// Slots of one program operation.
    pub(crate) unit_pages: u32,
    /// Whether it was written in SLC mode.
    slc: bool,
    /// Valid pages found ahead of the copies.
    found: ValidPages,
}

impl Victim {
    /// Returns `superblock` with all its slots remaining; `slc` where it was written in SLC mode.
    pub(crate) fn new(superblock: Superblock, slc: bool, geometry: &Geometry) -> Victim {
        let (remaining, unit_pages) = match slc {
            true => (geometry.slc_superblock_pages, geometry.slc_unit_pages),
            false => (geometry.superblock_pages, geometry.unit_pages),
        };
        Victim { superblock, remaining, unit_pages, slc, found: ValidPages::default() }
    }

    /// Returns how many units were not examined yet.
    pub(crate) fn units_left(&self) -> u32 {
        self.remaining / self.unit_pages
    }
}

impl Media {
    /// Returns empty flash; `seed` is that of its read retries.
    pub(crate) fn new(profile: &Profile, geometry: Geometry, seed: u64) -> Media {
        Media {
            map: Map::new(&geometry),
            flash: Flash::new(&geometry, profile, seed),
            copies: None,
            copied_pages: 0,
            truth: GroundTruth::default(),
            geometry,
        }
    }

    /// Copies the valid pages of the last `units` units of `victim` that were not examined yet;
    /// returns how many pages moved.
    pub(crate) fn copy_units(&mut self, victim: &mut Victim, units: u32, at: SimTime) -> u32 {
        let mut moved = 0;
        for _ in 0..units {
            if victim.found.is_empty() {
                self.find_valid_pages(victim);
            }
            victim.remaining -= victim.unit_pages;
            // A superblock is written unit by unit, die by die, so that the place of a unit gives
            // its die.
            let die = (victim.remaining / victim.unit_pages) % self.geometry.dies;
            let Some((unit, pages)) = victim.found.take_unit() else { break };
            if unit.senses > 0 {
                self.flash.copy_out(die, at, unit.senses, unit.slots);
                moved += self.write_copies(victim.superblock, pages, at);
            }
        }
        self.copied_pages += u64::from(moved);
        self.truth.add_moved(moved, victim.slc);
        moved
    }

    /// Finds the valid pages of the next units of `victim`, as many as are examined together.
    fn find_valid_pages(&mut self, victim: &mut Victim) {
        let unit_pages = victim.unit_pages;
        let units = (ValidPages::MAX_SLOTS / unit_pages).min(victim.units_left());
        let slots = victim.remaining - units * unit_pages..victim.remaining;
        // A program operation in SLC mode can be smaller than a flash page.
        let group = self.geometry.sense_pages.min(unit_pages);
        self.map.find_valid(victim.superblock, slots, unit_pages, group, &mut victim.found);
    }

    /// Writes `pages` of `from` to the superblock that takes copies; returns how many were still
    /// valid and moved.
    fn write_copies(&mut self, from: Superblock, pages: &[u32], at: SimTime) -> u32 {
        let mut rest = pages;
        let mut moved = 0;
        while !rest.is_empty() {
            let mut open = match self.copies.take() {
                Some(open) => open,
                None => self.open_for_copies(),
            };
            let room = open.unit_room();
            let (examined, n) = self.map.relocate(rest, from, open.superblock, open.filled, room);
            rest = &rest[examined..];
            open.filled += n;
            moved += n;
            // Otherwise the unit waits for pages of the next victim: copies are never padded.
            if n == room {
                self.flash.program(open.program(self.geometry.dies), at);
            }
            match open.is_full() {
                true => self.map.close(open.superblock),
                false => self.copies = Some(open),
            }
        }
        moved
    }

    fn open_for_copies(&mut self) -> OpenSuperblock {
        let superblock = self.map.take_free().expect("the reserve holds one for copies");
        OpenSuperblock::new(superblock, false, &self.geometry)
    }

    /// Writes every page once in ascending order, in zero time: the state after one sequential
    /// fill.
    pub(crate) fn fill(&mut self) {
        // The superblock that stays open takes copies next: data of a fill is as cold as they are,
        // and the host begins with one of its own.
        for page in 0..self.geometry.user_pages {
            let mut open = match self.copies.take() {
                Some(open) => open,
                None => self.open_for_copies(),
            };
            self.map.write(page, open.superblock, open.filled);
            open.filled += 1;
            match open.is_full() {
                true => self.map.close(open.superblock),
                false => self.copies = Some(open),
            }
        }
    }

    /// Returns how many native superblocks can be full of old data at a time: the reserve is free,
    /// and the one that the host writes to holds only new data.
    pub(crate) fn full_superblocks(&self) -> usize {
        (self.geometry.superblocks - self.geometry.reserve - 1) as usize
    }
}
