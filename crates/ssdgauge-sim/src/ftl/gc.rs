//! Garbage collection: the superblock with the fewest valid pages is copied and given back.
//!
//! The work is paced by what the host writes, so that free superblocks neither run out nor pile
//! up. Collection must never let the drive write without a free superblock.

use crate::drive::{Drive, Open, Victim};
use crate::flash::{Moment, Program};
use crate::ftl::map::{Found, Superblock};
use crate::profile::Geometry;
use crate::profile::{GcFigures, GcPacing, GcPolicy};

/// Where collection stands.
#[derive(Clone, Debug)]
pub(crate) struct Collection {
    policy: GcPolicy,
    pacing: GcPacing,
    /// The superblock that is being collected.
    victim: Option<Victim>,
    /// Slots of the victim that are looked at for each page that the host writes: all at once
    /// (infinite) if nothing is gained, or such victims would eat up the reserve.
    rate: f64,
    /// Pages of the host whose share of collection is due.
    due: f64,
    /// Slots of a burst.
    burst: f64,
}

impl Collection {
    pub(crate) fn new(figures: &GcFigures, geometry: &Geometry) -> Collection {
        // A burst beyond half a superblock could run into the reserve.
        let most = f64::from(geometry.superblock_pages) / 2.0;
        Collection {
            policy: figures.policy,
            pacing: figures.pacing,
            victim: None,
            rate: 0.0,
            due: 0.0,
            burst: (figures.burst_mib * 256.0).min(most),
        }
    }
}

impl Drive {
    /// Does the collection that `pages` written to native cells call for.
    pub(crate) fn make_room(&mut self, pages: u32, at: Moment) {
        if self.gc.victim.is_none() && self.map.free.len() > self.geometry.reserve as usize {
            return;
        }
        self.gc.due += f64::from(pages);
        // The same work, put off until there is a burst of it.
        let put_off = match self.gc.pacing {
            GcPacing::Proportional => false,
            GcPacing::Burst => {
                self.gc.victim.is_some() && self.gc.due * self.gc.rate < self.gc.burst
            }
        };
        if !put_off {
            self.collect_due(at);
        }
    }

    /// Looks at as many slots as are due.
    fn collect_due(&mut self, at: Moment) {
        loop {
            if self.gc.victim.is_none() {
                let needed = self.map.free.len() <= self.geometry.reserve as usize;
                if !needed || !self.next_victim() {
                    self.gc.due = 0.0;
                    return;
                }
            }
            let Some(mut victim) = self.gc.victim.take() else { return };
            let units_each = self.gc.rate / f64::from(victim.unit_pages);
            let units = match units_each.is_finite() {
                true => ((self.gc.due * units_each) as u32).min(victim.units_left()),
                false => victim.units_left(),
            };
            self.gc.due -= f64::from(units) / units_each;
            if units > 0 {
                self.collect_units(&mut victim, units, at);
            }
            if victim.remaining > 0 {
                self.gc.victim = Some(victim);
                return;
            }
            self.map.release(victim.superblock);
        }
    }

    /// Collects whole superblocks until `wanted` are free, or nothing can be gained.
    pub(crate) fn collect_until_free(&mut self, wanted: usize, at: Moment) {
        while self.map.free.len() < wanted {
            if self.gc.victim.is_none() && !self.next_victim() {
                return;
            }
            let Some(mut victim) = self.gc.victim.take() else { return };
            let units = victim.units_left();
            self.collect_units(&mut victim, units, at);
            self.map.release(victim.superblock);
        }
        self.gc.due = 0.0;
    }

    fn collect_units(&mut self, victim: &mut Victim, units: u32, at: Moment) {
        let moved = self.copy_units(victim, units, at);
        self.truth.collected(moved);
    }

    /// Picks the next victim; returns whether collecting it gains anything.
    fn next_victim(&mut self) -> bool {
        let picked = match self.gc.policy {
            GcPolicy::Greedy => self.map.emptiest(),
            GcPolicy::Fifo => self.map.oldest(),
        };
        let Some(superblock) = picked else { return false };
        let slc = self.cache.holds(superblock);
        let geometry = &self.geometry;
        let (size, unit_pages) = match slc {
            true => (geometry.slc_superblock_pages, geometry.slc_unit_pages),
            false => (geometry.superblock_pages, geometry.unit_pages),
        };
        let gain = geometry.superblock_pages.saturating_sub(self.map.valid(superblock));
        // In the order of writing, a full superblock has to be passed on all the same.
        if gain == 0 && self.gc.policy == GcPolicy::Greedy {
            return false;
        }
        self.map.hide(superblock);
        if slc {
            self.cache.give_up(superblock);
        }
        self.gc.rate = f64::from(size) / f64::from(gain);
        self.gc.victim = Some(Victim::new(superblock, size, unit_pages));
        true
    }

    /// Copies what is valid in the last `units` units of `victim` that were not looked at yet;
    /// returns how many pages moved.
    pub(crate) fn copy_units(&mut self, victim: &mut Victim, units: u32, at: Moment) -> u32 {
        let mut moved = 0;
        for _ in 0..units {
            if victim.found.is_empty() {
                self.look_ahead(victim);
            }
            victim.remaining -= victim.unit_pages;
            let die = (victim.remaining / victim.unit_pages) % self.geometry.dies;
            let Some((unit, pages)) = victim.found.take_unit() else { return moved };
            if unit.senses > 0 {
                self.flash.copy_out(die, at, unit.senses, unit.pages);
                moved += self.copy_in(victim.superblock, pages, at);
            }
        }
        moved
    }

    /// Finds the valid pages of the next stretch of `victim`.
    fn look_ahead(&mut self, victim: &mut Victim) {
        let unit_pages = victim.unit_pages;
        let units = (Found::MOST / unit_pages).min(victim.units_left());
        let slots = victim.remaining - units * unit_pages..victim.remaining;
        let group = self.geometry.sense_pages.min(unit_pages);
        self.map.find_valid(victim.superblock, slots, unit_pages, group, &mut victim.found);
    }

    /// Writes the pages found in `from` to the superblock that takes copies.
    fn copy_in(&mut self, from: Superblock, pages: &[u32], at: Moment) -> u32 {
        let mut rest = pages;
        let mut moved = 0;
        while !rest.is_empty() {
            let mut open = match self.copies.take() {
                Some(open) => open,
                None => self.open_for_copies(),
            };
            let room = open.unit_room();
            let (looked, n) = self.map.relocate(rest, from, open.superblock, open.filled, room);
            rest = &rest[looked..];
            open.filled += n;
            moved += n;
            if n == room {
                self.flash.program(open.program(self.geometry.dies), at);
            }
            match open.is_full() {
                true => self.map.close(open.superblock),
                false => self.copies = Some(open),
            }
        }
        self.truth.moved(moved);
        moved
    }

    fn open_for_copies(&mut self) -> Open {
        let superblock = self.map.free.pop_front().expect("the reserve holds one for copies");
        Open::new(superblock, false, &self.geometry)
    }
}

impl Open {
    /// Returns the program operation of the unit that was just filled.
    pub(crate) fn program(&self, dies: u32) -> Program {
        let unit = self.filled / self.unit_pages - 1;
        Program {
            die: unit % dies,
            pages: self.unit_pages,
            slc: self.slc,
            // The first row of a superblock: each die erases its block just before.
            erase: unit < dies,
        }
    }
}
