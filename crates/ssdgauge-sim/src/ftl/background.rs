//! Background work: folding and collection while no command is in flight.
//!
//! The work is booked at points of virtual time that follow from the state of the drive alone,
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
    /// One unit is booked at a time, as soon as every die has at most four program operations left:
    /// the dies are kept busy, and a host that returns finds no longer backlog than that.
    /// `allowed_at` returns from when on more work is allowed, for the operations up to a time.
    pub(crate) fn work_in_background(
        &mut self,
        from: SimTime,
        until: SimTime,
        allowed_at: impl FnMut(SimTime, Operations) -> SimTime,
    ) {
        if self.media.geometry.in_place {
            return;
        }
        match self.volumes.are_none() {
            true => work(std::slice::from_mut(self), from, until, allowed_at),
            false => {
                work(self.volumes.parts_mut(), from, until, allowed_at);
                self.add_up_volumes();
            }
        }
    }

    /// Returns whether an idle drive has anything to do.
    pub(crate) fn has_background_work(&self) -> bool {
        match self.volumes.are_none() {
            true => !self.media.geometry.in_place && self.background_work().is_some(),
            false => self.volumes.parts().iter().any(Ftl::has_background_work),
        }
    }

    /// Returns what is done next in an idle time since `from`, and from when on the dies have room for it.
    fn next_in_background(&self, from: SimTime) -> Option<(SimTime, BackgroundWork)> {
        let work = self.background_work()?;
        let ready = self.media.flash.ready_for_background_at().max(from);
        let at = match work {
            BackgroundWork::Folding => ready.max(self.folding.next_idle_unit_at()),
            BackgroundWork::Collection => ready,
        };
        Some((at, work))
    }

    fn do_in_background(&mut self, work: BackgroundWork, at: SimTime) {
        let Ftl { media, cache, folding, gc, .. } = self;
        match work {
            BackgroundWork::Folding => folding.fold_idle_unit(media, cache, gc, at),
            BackgroundWork::Collection => gc.collect_unit(media, cache, at),
        }
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

/// Does the background work of `parts`, a whole drive or its volumes, in the order in which it is due.
fn work(
    parts: &mut [Ftl],
    from: SimTime,
    until: SimTime,
    mut allowed_at: impl FnMut(SimTime, Operations) -> SimTime,
) {
    for part in &mut *parts {
        part.park_native_superblock();
        part.folding.begin_idle(from);
    }
    let mut last = from;
    loop {
        let due = parts.iter().enumerate();
        let due = due.filter_map(|(number, part)| Some((number, part.next_in_background(from)?)));
        let Some((number, (ready, work))) = due.min_by_key(|(_, (at, _))| *at) else { break };
        let flash = |part: &Ftl| part.media.flash.operations;
        let operations = parts.iter().map(flash).fold(Operations::default(), Operations::plus);
        // Paid for at the last unit, not at `ready`: this unit may be left to a later call, and the
        // budget must not depend on where an idle time is divided.
        let at = ready.max(allowed_at(last, operations));
        // A unit that is due at `until` is left to the next portion of the idle time, or to the
        // command that ends it: the same units are done however an idle time is divided.
        if at >= until {
            break;
        }
        last = at;
        parts[number].do_in_background(work, at);
    }
    parts.iter_mut().for_each(|part| part.folding.end_idle(until));
}
