//! Folding: valid pages of the SLC cache are copied to native cells, and the superblock is freed.
//!
//! Folding must never take the last free superblocks from garbage collection.

use crate::ftl::gc::GarbageCollection;
use crate::ftl::map::Map;
use crate::ftl::media::{Media, Victim};
use crate::ftl::slc_cache::SlcCache;
use crate::ftl::valid_pages::Superblock;
use crate::profile::{EffectFigures, Geometry, PAGE, SlcFigures};
use crate::time::SimTime;

/// Free superblocks that folding needs: it and garbage collection can each have to open one before
/// either frees one.
const FREE_TO_FOLD: usize = 2;

/// By how much folding may fall behind its rate and make it up: time that is lost to an erase is, a
/// rate that the dies do not reach is not, nor a time in which the host only reads. Chosen.
const CATCH_UP: SimTime = 10_000_000;

/// The state of folding.
#[derive(Clone, Debug)]
pub(crate) struct Folding {
    /// The superblock that is being folded.
    victim: Option<Victim>,
    /// The time of one unit while the host is idle; `None` where the drive does not fold then.
    idle_interval: Option<SimTime>,
    /// When the next unit of an idle drive is due.
    next_idle_unit: SimTime,
    /// Pages per second while the host writes.
    writing_rate: f64,
    /// Slots that may be folded by `allowed_until`, less than one unit between calls.
    allowance: f64,
    allowed_until: SimTime,
    /// Between which levels of the cache it is folded while the host writes; `None` for all.
    levels: Option<FoldingLevels>,
}

/// The levels of the cache, in full superblocks, at which folding under load begins and ends.
#[derive(Clone, Debug)]
struct FoldingLevels {
    from: u64,
    until: u64,
    is_folding: bool,
}

impl FoldingLevels {
    /// Returns whether a cache of `full` superblocks is folded.
    fn is_due(&mut self, full: u64) -> bool {
        self.is_folding = full >= self.from || (self.is_folding && full > self.until);
        self.is_folding
    }
}

impl Folding {
    /// Returns folding that has not begun.
    pub(crate) fn new(slc: &SlcFigures, effects: &EffectFigures, geometry: &Geometry) -> Folding {
        let cache = f64::from(geometry.slc_superblocks + geometry.slc_borrowed);
        let superblocks = |share: f64| (share * cache).round() as u64;
        let rate = |mb_s: f64| mb_s * 1e6 / PAGE as f64;
        let unit_ns = f64::from(geometry.slc_unit_pages) * 1e9 / rate(slc.fold_mb_s);
        Folding {
            victim: None,
            idle_interval: (slc.fold_mb_s > 0.0).then_some((unit_ns.round() as SimTime).max(1)),
            next_idle_unit: 0,
            writing_rate: rate(slc.fold_under_load_mb_s),
            allowance: 0.0,
            allowed_until: 0,
            levels: (effects.fold_from_share > 0.0).then(|| FoldingLevels {
                from: superblocks(effects.fold_from_share).max(1),
                until: superblocks(effects.fold_until_share),
                is_folding: false,
            }),
        }
    }

    /// Returns the slots of the superblock under folding that were not copied yet.
    pub(crate) fn remaining(&self) -> u64 {
        self.victim.as_ref().map_or(0, |victim| u64::from(victim.remaining))
    }

    /// Returns the superblock under folding.
    pub(crate) fn superblock(&self) -> Option<Superblock> {
        self.victim.as_ref().map(|victim| victim.superblock)
    }

    /// Returns whether an idle drive has something to fold, and free superblocks to fold it to.
    pub(crate) fn can_fold_when_idle(&self, map: &Map, cache: &SlcCache) -> bool {
        let room = map.free_superblocks() >= FREE_TO_FOLD;
        self.idle_interval.is_some() && self.has_work(cache) && room
    }

    /// Begins an idle time at `from`: what could have been folded before is not made up.
    pub(crate) fn begin_idle(&mut self, from: SimTime) {
        self.next_idle_unit = self.next_idle_unit.max(from);
    }

    /// Returns when the next unit of an idle drive is due.
    pub(crate) fn next_idle_unit_at(&self) -> SimTime {
        self.next_idle_unit
    }

    /// Returns whether there is anything to fold.
    fn has_work(&self, cache: &SlcCache) -> bool {
        !cache.is_empty() || self.victim.is_some()
    }

    /// Folds at the rate of a writing host up to `at`, after `pages` were written.
    pub(crate) fn fold_under_load(
        &mut self,
        media: &mut Media,
        cache: &mut SlcCache,
        gc: &mut GarbageCollection,
        pages: u32,
        at: SimTime,
    ) {
        if !self.has_work(cache) {
            // Time with nothing to fold earns no allowance, or a burst of folding would follow it.
            self.allowed_until = at;
            return;
        }
        let filled = cache.full_superblocks();
        let is_due = self.levels.as_mut().is_none_or(|levels| levels.is_due(filled));
        // Time between the levels of the cache earns none either.
        match is_due && self.writing_rate > 0.0 {
            true => self.fold_until(media, cache, gc, at),
            false => self.allowed_until = at,
        }
        // Where writes wait for the cache, each page that enters forces another one out.
        let full = media.map.fixed_slc_is_used_up() && cache.borrows_no_more(&media.map);
        if cache.folds_first() && full {
            media.truth.record_forced();
            cache.forced = true;
            self.fold(media, cache, gc, pages, at);
        }
    }

    /// Folds one unit of an idle drive at `at`.
    pub(crate) fn fold_idle_unit(
        &mut self,
        media: &mut Media,
        cache: &mut SlcCache,
        gc: &mut GarbageCollection,
        at: SimTime,
    ) {
        // Room that an idle drive makes is not taken from a page that the host waits for.
        cache.forced = false;
        let interval = self.idle_interval.unwrap_or(0);
        self.next_idle_unit = self.next_idle_unit.max(at.saturating_sub(CATCH_UP)) + interval;
        let unit = media.geometry.slc_unit_pages;
        let folded = self.fold(media, cache, gc, unit, at);
        debug_assert!(folded, "there was something to fold");
    }

    /// Ends an idle time at `until`: the rate of a writing host counts from then on.
    pub(crate) fn end_idle(&mut self, until: SimTime) {
        self.allowed_until = self.allowed_until.max(until);
    }

    /// Folds at the rate of a writing host up to `until`.
    fn fold_until(
        &mut self,
        media: &mut Media,
        cache: &mut SlcCache,
        gc: &mut GarbageCollection,
        until: SimTime,
    ) {
        let from = self.allowed_until.max(until.saturating_sub(CATCH_UP));
        let seconds = until.saturating_sub(from) as f64 / 1e9;
        self.allowance += seconds * self.writing_rate;
        self.allowed_until = until.max(from);
        let unit = media.geometry.slc_unit_pages;
        let units = (self.allowance / f64::from(unit)).floor();
        self.allowance -= units * f64::from(unit);
        for step in 0..units as u64 {
            // Spread evenly over the time, so that the dies are not loaded in one burst.
            let at = from + (seconds * 1e9 * step as f64 / units) as SimTime;
            if !self.fold(media, cache, gc, unit, at) {
                // What could not be folded for want of free superblocks is not made up for in a
                // burst.
                self.allowance = 0.0;
                return;
            }
        }
    }

    /// Folds at least `pages` slots of the oldest superblocks; returns whether that was possible.
    fn fold(
        &mut self,
        media: &mut Media,
        cache: &mut SlcCache,
        gc: &mut GarbageCollection,
        pages: u32,
        at: SimTime,
    ) -> bool {
        let mut units = pages.div_ceil(media.geometry.slc_unit_pages);
        while units > 0 {
            if media.map.free_superblocks() < FREE_TO_FOLD {
                return false;
            }
            let next = self.victim.take();
            let next = next.or_else(|| cache.take_oldest(&mut media.map, &media.geometry));
            let Some(mut victim) = next else { return false };
            let now = units.min(victim.units_left());
            let moved = media.copy_units(&mut victim, now, at);
            units -= now;
            // Released before collection is asked for: a borrowed superblock that returns can spare
            // it.
            match victim.remaining {
                0 => media.map.release(victim.superblock),
                _ => self.victim = Some(victim),
            }
            // Folded pages take native room, as host writes do.
            gc.make_room(media, cache, moved, at);
        }
        true
    }

    /// Folds the rest of the superblock under folding, or one whole superblock.
    pub(crate) fn fold_one(
        &mut self,
        media: &mut Media,
        cache: &mut SlcCache,
        gc: &mut GarbageCollection,
        at: SimTime,
    ) {
        let size = media.geometry.slc_superblock_pages;
        let rest = self.victim.as_ref().map_or(size, |victim| victim.remaining);
        self.fold(media, cache, gc, rest, at);
    }
}
