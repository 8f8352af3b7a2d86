//! Garbage collection: the valid pages of a superblock are copied, and the superblock is freed.
//!
//! The work is paced by host writes, so that free superblocks neither run out nor accumulate.
//! Collection must never let the drive write without a free superblock.

use crate::ftl::media::{Media, Victim};
use crate::ftl::slc_cache::SlcCache;
use crate::ftl::valid_pages::Superblock;
use crate::profile::{GcPacing, GcPolicy, Geometry, Profile};
use crate::time::SimTime;

/// Pages of 4 KiB in a MiB.
const PAGES_PER_MIB: f64 = 256.0;

/// The state of garbage collection.
#[derive(Clone, Debug)]
pub(crate) struct GarbageCollection {
    policy: GcPolicy,
    pacing: GcPacing,
    /// Free superblocks that are held back: collection begins when no more are left.
    reserve: usize,
    /// Free superblocks at which collection stops that has begun.
    stop_at: usize,
    /// Whether collection has begun and has not reached [`GarbageCollection::stop_at`].
    is_collecting: bool,
    /// How many times the work is done that keeps the number of free superblocks constant.
    pace: f64,
    /// The superblock under collection.
    victim: Option<Victim>,
    /// Slots of the victim that are examined for each page written to native cells. A victim of N
    /// slots frees `gain` pages, so N / gain slots for each page keep the number of free
    /// superblocks constant. Infinite where nothing is gained: such a victim is copied at once,
    /// or a series of them would use up the reserve.
    slots_per_page: f64,
    /// Pages written whose share of collection has not been done.
    due_pages: f64,
    /// Slots of a burst.
    burst_slots: f64,
}

impl GarbageCollection {
    /// Returns garbage collection that has not begun.
    pub(crate) fn new(profile: &Profile, geometry: &Geometry) -> GarbageCollection {
        let (figures, effects) = (&profile.gc, &profile.effects);
        let has_watermarks = effects.watermark_superblocks > 0;
        // Work that is deferred beyond half a superblock could use up the reserve.
        let max_burst = f64::from(geometry.superblock_pages) / 2.0;
        GarbageCollection {
            policy: figures.policy,
            pacing: figures.pacing,
            reserve: geometry.reserve as usize,
            // Without watermarks, one above the reserve: collection stops where it began.
            stop_at: (geometry.reserve + effects.watermark_superblocks.max(1)) as usize,
            is_collecting: false,
            pace: if has_watermarks { effects.watermark_pace } else { 1.0 },
            victim: None,
            slots_per_page: 0.0,
            due_pages: 0.0,
            burst_slots: (figures.burst_mib * PAGES_PER_MIB).min(max_burst),
        }
    }

    /// Returns whether the superblock with the fewest valid pages is collected.
    pub(crate) fn is_greedy(&self) -> bool {
        self.policy == GcPolicy::Greedy
    }

    /// Does the collection that is due for `pages` written to native cells.
    pub(crate) fn make_room(
        &mut self,
        media: &mut Media,
        cache: &mut SlcCache,
        pages: u32,
        at: SimTime,
    ) {
        if self.victim.is_none() && !self.is_needed(media) {
            return;
        }
        self.due_pages += f64::from(pages) * self.pace;
        // The same work in total, deferred until it fills a burst: bursts lengthen the tail of the
        // latency and leave the throughput as it is.
        let deferred = match self.pacing {
            GcPacing::Proportional => false,
            GcPacing::Burst => {
                // `slots_per_page` is that of the victim. Without one, the next has to be selected
                // first.
                self.victim.is_some() && self.due_pages * self.slots_per_page < self.burst_slots
            }
        };
        if !deferred {
            self.collect_due(media, cache, at);
        }
    }

    /// Returns whether superblocks are collected: from the reserve on, until collection may stop.
    fn is_needed(&mut self, media: &Media) -> bool {
        let free = media.map.free_superblocks();
        self.is_collecting = free <= self.reserve || (self.is_collecting && free < self.stop_at);
        self.is_collecting
    }

    /// Examines as many slots as are due, in whole units.
    fn collect_due(&mut self, media: &mut Media, cache: &mut SlcCache, at: SimTime) {
        loop {
            if self.victim.is_none()
                && (!self.is_needed(media) || !self.select_victim(media, cache))
            {
                self.due_pages = 0.0;
                return;
            }
            let Some(mut victim) = self.victim.take() else { return };
            let units_per_page = self.slots_per_page / f64::from(victim.unit_pages);
            let units = match units_per_page.is_finite() {
                true => ((self.due_pages * units_per_page) as u32).min(victim.units_left()),
                false => victim.units_left(),
            };
            // The part of a unit that was due and not done is carried over to the next write.
            self.due_pages -= f64::from(units) / units_per_page;
            if units > 0 {
                collect_units(media, &mut victim, units, at);
            }
            if victim.remaining > 0 {
                self.victim = Some(victim);
                return;
            }
            media.map.release(victim.superblock);
        }
    }

    /// Collects whole superblocks until `wanted` are free, or nothing can be gained.
    pub(crate) fn collect_until_free(
        &mut self,
        media: &mut Media,
        cache: &mut SlcCache,
        wanted: usize,
        at: SimTime,
    ) {
        while media.map.free_superblocks() < wanted {
            if self.victim.is_none() && !self.select_victim(media, cache) {
                return;
            }
            let Some(mut victim) = self.victim.take() else { return };
            let units = victim.units_left();
            collect_units(media, &mut victim, units, at);
            media.map.release(victim.superblock);
        }
        // Whole superblocks were collected, which is more than was due.
        self.due_pages = 0.0;
    }

    /// Returns whether an idle drive collects to have `wanted` free superblocks: fewer are free, and
    /// the next victim gains a page.
    pub(crate) fn can_restore(&self, media: &Media, wanted: usize) -> bool {
        if media.map.free_superblocks() >= wanted {
            return false;
        }
        // A full victim frees nothing: an idle drive would copy full superblocks without end.
        let gains = |superblock| media.map.valid(superblock) < media.geometry.superblock_pages;
        self.victim.is_some() || self.candidate(media).is_some_and(gains)
    }

    /// Collects one unit of the victim, or of the next one, at `at`.
    pub(crate) fn collect_unit(&mut self, media: &mut Media, cache: &mut SlcCache, at: SimTime) {
        if self.victim.is_none() && !self.select_victim(media, cache) {
            return;
        }
        let Some(mut victim) = self.victim.take() else { return };
        collect_units(media, &mut victim, 1, at);
        match victim.remaining {
            0 => media.map.release(victim.superblock),
            _ => self.victim = Some(victim),
        }
        // What was deferred is done.
        self.due_pages = 0.0;
    }

    /// Returns the superblock that is collected next.
    fn candidate(&self, media: &Media) -> Option<Superblock> {
        match self.policy {
            GcPolicy::Greedy => media.map.fewest_valid(),
            GcPolicy::Fifo => media.map.oldest(),
            GcPolicy::CostBenefit => media.map.most_worth(),
        }
    }

    /// Selects the next victim; returns whether there is one that is worth collecting.
    fn select_victim(&mut self, media: &mut Media, cache: &mut SlcCache) -> bool {
        let Some(superblock) = self.candidate(media) else { return false };
        let size = media.geometry.superblock_pages;
        let gain = size.saturating_sub(media.map.valid(superblock));
        // FIFO: a full superblock has to be copied all the same, because the next one waits behind it.
        // Else: where the superblock that gains most, or is worth most, gains nothing, none does.
        if gain == 0 && self.policy != GcPolicy::Fifo {
            return false;
        }
        let slc = cache.holds(superblock);
        media.map.exclude(superblock);
        if slc {
            cache.remove(superblock);
        }
        let victim = Victim::new(superblock, slc, &media.geometry);
        self.slots_per_page = f64::from(victim.remaining) / f64::from(gain);
        self.victim = Some(victim);
        true
    }
}

fn collect_units(media: &mut Media, victim: &mut Victim, units: u32, at: SimTime) {
    let moved = media.copy_units(victim, units, at);
    media.truth.record_collection(moved);
}
