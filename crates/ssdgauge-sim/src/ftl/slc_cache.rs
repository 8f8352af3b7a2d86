//! The fast cache: superblocks in SLC mode, fixed or borrowed, and their folding.
//!
//! A write goes to the cache while it has room; folding copies what is still valid to native
//! cells and gives the superblock back. The cache must never borrow a superblock that garbage
//! collection holds back.

use crate::drive::{Drive, Open, Victim};
use crate::flash::Moment;
use crate::ftl::map::Superblock;
use crate::profile::{Geometry, PAGE};
use crate::profile::{Overflow, SlcFigures};
use std::collections::VecDeque;

/// Free superblocks that the cache leaves alone beyond the reserve: those that are about to be
/// opened by the host and by the collection.
const LEFT_ALONE: usize = 2;

/// Indices of the two folding rates.
const IDLE: usize = 0;
const UNDER_LOAD: usize = 1;

/// The state of the fast cache.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    /// Superblocks in SLC mode that are full, the oldest first.
    full: VecDeque<Superblock>,
    /// How many of the superblocks in SLC mode are borrowed.
    borrowed: u32,
    may_borrow: u32,
    /// Whether the cache exists at all.
    exists: bool,
    overflow: Overflow,
    /// The superblock that is being folded.
    folding: Option<Victim>,
    /// Folding rates in pages per second, idle and under load.
    rate: [f64; 2],
    /// Whether the host found the cache full and has not found room in it since.
    exhausted: bool,
    /// Whether room in the cache is only what the host's own writes push out.
    forced: bool,
    /// Slots that may be folded before time goes on.
    allowance: f64,
    allowed_until: Moment,
}

impl Cache {
    pub(crate) fn new(geometry: &Geometry, slc: &SlcFigures) -> Cache {
        let rate = |mb_s: f64| mb_s * 1e6 / PAGE as f64;
        Cache {
            full: VecDeque::new(),
            borrowed: 0,
            may_borrow: geometry.slc_borrowed,
            exists: geometry.slc_superblocks + geometry.slc_borrowed > 0,
            overflow: slc.overflow,
            folding: None,
            exhausted: false,
            forced: false,
            rate: [rate(slc.fold_mb_s), rate(slc.fold_under_load_mb_s)],
            allowance: 0.0,
            allowed_until: 0,
        }
    }

    /// Returns whether `superblock` is full of cached data.
    pub(crate) fn holds(&self, superblock: Superblock) -> bool {
        self.full.contains(&superblock)
    }

    /// Forgets `superblock`, which garbage collection takes.
    pub(crate) fn give_up(&mut self, superblock: Superblock) {
        self.full.retain(|other| *other != superblock);
        self.borrowed -= 1;
    }

    /// Notes that a superblock in SLC mode is full.
    pub(crate) fn filled(&mut self, superblock: Superblock) {
        self.full.push_back(superblock);
    }
}

impl Drive {
    /// Returns a superblock of the cache for the host, if there is room.
    pub(crate) fn open_in_cache(&mut self, at: Moment) -> Option<Open> {
        if !self.cache.exists {
            return None;
        }
        let mut found = self.cache_superblock();
        if (found.is_none() || self.cache.forced) && !self.cache.exhausted {
            self.truth.exhausted_cache();
        }
        self.cache.exhausted = found.is_none() || self.cache.forced;
        if found.is_none() && self.cache.overflow == Overflow::FoldFirst {
            self.fold_one(at);
            found = self.cache_superblock();
        }
        let superblock = found?;
        Some(Open::new(superblock, true, &self.geometry))
    }

    fn cache_superblock(&mut self) -> Option<Superblock> {
        if let Some(superblock) = self.map.slc_free.pop_front() {
            return Some(superblock);
        }
        let keep = self.geometry.reserve as usize + LEFT_ALONE;
        if self.cache.borrowed < self.cache.may_borrow && self.map.free.len() > keep {
            self.cache.borrowed += 1;
            return self.map.free.pop_front();
        }
        None
    }

    /// Returns the bytes in the cache that were not folded yet, stale ones included.
    pub(crate) fn slc_occupancy(&self) -> u64 {
        let full = self.cache.full.len() as u64 * u64::from(self.geometry.slc_superblock_pages);
        let open = match &self.host {
            Some(open) if open.slc => u64::from(open.filled),
            Some(_) | None => 0,
        };
        let folding = self.cache.folding.as_ref().map_or(0, |victim| u64::from(victim.remaining));
        (full + open + folding) * PAGE
    }

    /// Folds while the host writes, as fast as the profile allows.
    pub(crate) fn fold_under_load(&mut self, pages: u32, at: Moment) {
        let cache = &self.cache;
        if cache.full.is_empty() && cache.folding.is_none() {
            self.cache.allowed_until = at;
            return;
        }
        match cache.rate[UNDER_LOAD] > 0.0 {
            true => self.fold_for(UNDER_LOAD, at),
            false => self.cache.allowed_until = at,
        }
        // Where writes wait for the cache, every page that enters pushes another one out.
        let must = self.cache.overflow == Overflow::FoldFirst && self.map.slc_free.is_empty();
        if must && self.cache_is_exhausted() {
            self.cache.forced = true;
            self.fold(pages, at);
        }
    }

    fn cache_is_exhausted(&self) -> bool {
        let keep = self.geometry.reserve as usize + LEFT_ALONE;
        self.cache.borrowed >= self.cache.may_borrow || self.map.free.len() <= keep
    }

    /// Folds during silence that lasts until `until`.
    pub(crate) fn fold_when_idle(&mut self, until: Moment) {
        if self.cache.full.is_empty() && self.cache.folding.is_none() {
            self.cache.allowed_until = until;
            return;
        }
        self.cache.forced = false;
        // The next write finds room in the cache, and leaves a native superblock half written.
        if self.cache.rate[IDLE] > 0.0 && self.host.is_some_and(|open| !open.slc) {
            self.parked = self.host.take();
        }
        self.fold_for(IDLE, until);
    }

    fn fold_for(&mut self, load: usize, until: Moment) {
        let cache = &mut self.cache;
        let seconds = until.saturating_sub(cache.allowed_until) as f64 / 1e9;
        cache.allowance += seconds * cache.rate[load];
        let from = cache.allowed_until;
        cache.allowed_until = until.max(from);
        let unit = f64::from(self.geometry.slc_unit_pages);
        let all = (self.cache.allowance / unit).floor();
        self.cache.allowance -= all * unit;
        for step in 0..all as u64 {
            let at = from + (seconds * 1e9 * step as f64 / all) as Moment;
            // In silence the dies are not asked for more than they can do: what they cannot is
            // not owed later.
            let behind = load == IDLE && self.flash.idle_at() > until;
            if behind || !self.fold(self.geometry.slc_unit_pages, at) {
                self.cache.allowance = 0.0;
                return;
            }
        }
    }

    /// Folds at least `pages` slots of the oldest superblock; returns whether there was any.
    fn fold(&mut self, pages: u32, at: Moment) -> bool {
        let mut units = pages.div_ceil(self.geometry.slc_unit_pages);
        while units > 0 {
            // Two superblocks may be under way to the native cells, this one and one that is
            // collected: each can call for a free one.
            if self.map.free.len() < 2 {
                return false;
            }
            let Some(mut victim) = self.cache.folding.take().or_else(|| self.next_to_fold()) else {
                return false;
            };
            let now = units.min(victim.units_left());
            let moved = self.copy_units(&mut victim, now, at);
            units -= now;
            match victim.remaining {
                0 => self.map.release(victim.superblock),
                _ => self.cache.folding = Some(victim),
            }
            // What was folded takes native room, as a write of the host does.
            self.make_room(moved, at);
        }
        true
    }

    /// Folds one whole superblock.
    fn fold_one(&mut self, at: Moment) {
        let size = self.geometry.slc_superblock_pages;
        let left = self.cache.folding.as_ref().map_or(size, |victim| victim.remaining);
        self.fold(left, at);
    }

    fn next_to_fold(&mut self) -> Option<Victim> {
        let superblock = self.cache.full.pop_front()?;
        if !self.map.is_fixed_slc(superblock) {
            self.cache.borrowed -= 1;
            self.map.hide(superblock);
        }
        let geometry = &self.geometry;
        Some(Victim::new(superblock, geometry.slc_superblock_pages, geometry.slc_unit_pages))
    }
}
