//! Background work: folding and collection while no command is in flight.
//!
//! The work is booked at points of simulated time that follow from the state of the drive alone,
//! so that it never depends on how often, or in which portions, the idle time is computed.

use crate::ftl::Ftl;
use crate::operations::Operations;
use crate::time::SimTime;

/// What an idle drive does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BackgroundWork {
    /// Copies a unit of the SLC cache to native cells.
    Folding,
    /// Copies a unit of a superblock under collection.
    Collection,
}

impl Ftl {
    /// Does the background work of a drive that has been idle since `from`, up to `until`.
    ///
    /// One unit is booked at a time, as soon as every die has at most two program operations left:
    /// the dies are kept busy, and a host that returns finds no longer backlog than that.
    /// `allowed_at` returns from when on more work is allowed, for the operations up to a time.
    pub(crate) fn work_in_background(
        &mut self,
        from: SimTime,
        until: SimTime,
        mut allowed_at: impl FnMut(SimTime, Operations) -> SimTime,
    ) {
        if self.media.geometry.in_place {
            return;
        }
        self.park_native_superblock();
        self.folding.begin_idle(from);
        let mut last = from;
        while let Some(work) = self.background_work() {
            let allowed = allowed_at(last, self.media.flash.operations);
            let ready = self.media.flash.ready_for_background_at().max(from).max(allowed);
            let at = match work {
                BackgroundWork::Folding => ready.max(self.folding.next_idle_unit_at()),
                BackgroundWork::Collection => ready,
            };
            if at >= until {
                break;
            }
            last = at;
            let Ftl { media, cache, folding, gc, .. } = self;
            match work {
                BackgroundWork::Folding => folding.fold_idle_unit(media, cache, gc, at),
                BackgroundWork::Collection => gc.collect_unit(media, cache, at),
            }
        }
        self.folding.end_idle(until);
    }

    /// Returns whether an idle drive has anything to do.
    pub(crate) fn has_background_work(&self) -> bool {
        !self.media.geometry.in_place && self.background_work().is_some()
    }

    /// Returns what an idle drive does next. Folding comes first: it frees borrowed superblocks
    /// without collection.
    fn background_work(&self) -> Option<BackgroundWork> {
        if self.folding.can_fold_when_idle(&self.media.map, &self.cache) {
            return Some(BackgroundWork::Folding);
        }
        let collects = self.gc.can_restore(&self.media, self.idle_superblocks);
        collects.then_some(BackgroundWork::Collection)
    }

    /// Parks the native superblock of the host where folding will make room in the cache: the next
    /// write goes to the cache.
    fn park_native_superblock(&mut self) {
        let native = self.host.is_some_and(|open| !open.slc);
        if native && self.folding.can_fold_when_idle(&self.media.map, &self.cache) {
            debug_assert!(self.parked.is_none(), "a parked superblock is used before another");
            self.parked = self.host.take();
        }
    }
}
