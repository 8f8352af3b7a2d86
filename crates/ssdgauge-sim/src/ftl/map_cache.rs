//! The part of the map that is available. Other parts are read from flash before the data, as on a drive without
//! memory for the whole map.
//!
//! Reads look it up; writes find their part of the map available, except on a drive that updates it: there they look it up
//! too, and a part that they changed is programmed when another one takes its place (Gupta et al., DFTL, ASPLOS 2009). A
//! drive whose whole map is available must never
//! book a read for it.

use crate::flash::{Flash, Program, SensedPage};
use crate::profile::{EffectFigures, Geometry};
use crate::time::SimTime;

/// Map entries in a part: a page of 4 KiB with four bytes for each entry.
const ENTRIES: u32 = 1_024;
/// Spreads the parts over the dies. Chosen: odd, and far from a multiple of any number of dies.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The parts of the map that are available, replaced in the order in which they were read.
#[derive(Clone, Debug)]
pub(super) struct MapCache {
    /// Host pages of a part.
    part_pages: u32,
    /// Parts that are available at most; 0 where the whole map is.
    most: usize,
    /// Whether each part is available.
    is_at_hand: Vec<bool>,
    /// Those parts, in a ring.
    held: Vec<u32>,
    /// The oldest one of a full ring.
    oldest: usize,
    /// Whether writes look up their part.
    updates: bool,
    /// Whether each part was changed since it was programmed.
    is_changed: Vec<bool>,
    /// Changed parts that gave way and wait for a whole program operation.
    waiting: u32,
    /// Program operations for them.
    programs: u32,
}

impl MapCache {
    pub(super) fn new(effects: &EffectFigures, geometry: &Geometry) -> MapCache {
        let part_pages = ENTRIES * geometry.map_unit_pages;
        let pages = effects.map_reach_mib * 256.0;
        let parts = geometry.user_pages.div_ceil(part_pages) as usize;
        let most = match effects.map_reach_mib > 0.0 {
            true => ((pages / f64::from(part_pages)).round() as usize).max(1),
            false => 0,
        };
        // A reach beyond the drive is the whole map.
        let most = if most < parts { most } else { 0 };
        let is_at_hand = if most > 0 { vec![false; parts] } else { Vec::new() };
        let updates = effects.map_updates && most > 0;
        MapCache {
            part_pages,
            most,
            is_at_hand,
            held: Vec::with_capacity(most),
            oldest: 0,
            updates,
            is_changed: if updates { vec![false; parts] } else { Vec::new() },
            waiting: 0,
            programs: 0,
        }
    }

    /// Returns whether parts of the map have to be read.
    #[inline]
    pub(super) fn is_partial(&self) -> bool {
        self.most > 0
    }

    /// Books the reads of the parts for `pages` pages from `first` on; returns when they are available.
    // Not inlined: few drives have a map that is not available.
    #[inline(never)]
    pub(super) fn look_up(
        &mut self,
        flash: &mut Flash,
        dies: u32,
        at: SimTime,
        first: u32,
        pages: u32,
    ) -> SimTime {
        let mut done = at;
        for part in first / self.part_pages..=(first + pages - 1) / self.part_pages {
            if self.is_at_hand[part as usize] {
                continue;
            }
            self.take(part);
            // The high bits of a product depend on all bits of the factor, the low ones only on its
            // low ones.
            let die = (u64::from(part).wrapping_mul(SPREAD) >> 40) as u32 % dies;
            // Of the fastest type: controllers keep their map in SLC mode.
            let sensed = SensedPage { superblock: 0, group: part, slc: true };
            done = done.max(flash.read(die, at, 1, sensed));
        }
        done
    }

    /// Returns whether writes look up their part.
    #[inline]
    pub(super) fn is_updated(&self) -> bool {
        self.updates
    }

    /// Notes that a write changes the parts for `pages` pages from `first` on, which are available. Parts that gave way
    /// before are programmed at `at`; returns how many of them.
    pub(super) fn change(
        &mut self,
        flash: &mut Flash,
        geometry: &Geometry,
        at: SimTime,
        (first, pages): (u32, u32),
    ) -> u64 {
        let parts = first / self.part_pages..=(first + pages - 1) / self.part_pages;
        parts.for_each(|part| self.is_changed[part as usize] = true);
        let mut programmed = 0;
        while self.waiting >= geometry.unit_pages {
            self.waiting -= geometry.unit_pages;
            let (unit, pages) = (self.programs, geometry.unit_pages);
            self.programs = unit.wrapping_add(1);
            let die = unit % geometry.dies;
            let program = Program { die, pages, slc: false, erase: false, superblock: 0, unit };
            flash.program(program, at);
            programmed += u64::from(pages);
        }
        programmed
    }

    // First in, first out: under uniform reads every order of replacement misses equally often, and
    // this one has nothing to do on a hit.
    fn take(&mut self, part: u32) {
        self.is_at_hand[part as usize] = true;
        if self.held.len() < self.most {
            self.held.push(part);
            return;
        }
        let gone = std::mem::replace(&mut self.held[self.oldest], part);
        self.is_at_hand[gone as usize] = false;
        if self.updates && std::mem::take(&mut self.is_changed[gone as usize]) {
            self.waiting += 1;
        }
        self.oldest = (self.oldest + 1) % self.most;
    }
}
