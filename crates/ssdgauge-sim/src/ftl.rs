//! The flash translation layer: write buffer, page map, SLC cache and garbage collection.
//!
//! A host write goes to the SLC cache while it has room, else to native cells. The layer must
//! never report a page as written that a later read would not find.

mod background;
mod contents;
mod folding;
mod gc;
mod ground_truth;
mod huge_array;
mod map;
mod map_cache;
mod mapping_units;
mod media;
mod media_limit;
mod occupancy;
mod slc_cache;
mod unit_writes;
mod valid_pages;
mod volume_commands;
mod volumes;
mod worn_in;
mod write_buffer;

pub use ground_truth::GroundTruth;

use crate::flash::{Program, SensedPage};
use crate::ftl::map::BARE;
use crate::profile::{Geometry, Profile};
use crate::time::SimTime;
use folding::Folding;
use gc::GarbageCollection;
use map_cache::MapCache;
use mapping_units::StagedUnits;
use media::{Media, OpenSuperblock};
use media_limit::MediaLimit;
use slc_cache::SlcCache;
use ssdgauge_core::Data;
use valid_pages::Superblock;
pub(crate) use valid_pages::UNMAPPED;
use volumes::Volumes;
use write_buffer::WriteBuffer;

/// Free superblocks at which the host opens one: one is always left for copies, without which
/// nothing could be collected.
const FREE_FOR_HOST: usize = 2;

/// Flash translation layer and flash of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Ftl {
    pub(crate) media: Media,
    buffer: WriteBuffer,
    /// The superblock that takes host writes.
    host: Option<OpenSuperblock>,
    /// The pages in its last slots that are not in the map yet; empty except within a plain load.
    deferred: Vec<u32>,
    /// A native superblock that was partly written when the host returned to the SLC cache.
    parked: Option<OpenSuperblock>,
    cache: SlcCache,
    /// The volumes of a drive that consists of several. Flash, map and cache are theirs then; what is left is shared.
    volumes: Volumes<Ftl>,
    /// The mapping units that were written in part.
    staged: StagedUnits,
    /// What the next writes hold.
    data: Data,
    map_cache: MapCache,
    folding: Folding,
    gc: GarbageCollection,
    /// Free superblocks that are restored while the host is idle.
    idle_superblocks: usize,
    /// The limit of writes in place.
    media_limit: MediaLimit,
    /// Whether the buffer outlives a loss of power, so that it is as durable as the flash.
    buffer_is_safe: bool,
    /// Whether the write cache is on.
    cache_is_on: bool,
    /// Whether the next write is acknowledged as soon as it is in the buffer; else when it is
    /// programmed.
    acknowledges_early: bool,
}

impl Ftl {
    /// Returns the layer of a drive that was never written; `seed` is that of its read retries.
    pub(crate) fn new(profile: &Profile, geometry: Geometry, seed: u64) -> Ftl {
        let volumes = Ftl::new_volumes(profile, &geometry, seed);
        let geometry = match volumes.are_none() {
            true => geometry,
            false => geometry.of_shared_part(),
        };
        Ftl {
            volumes,
            buffer: WriteBuffer::new(geometry.buffer_pages),
            host: None,
            deferred: Vec::new(),
            parked: None,
            staged: StagedUnits::new(geometry.map_unit_pages),
            data: Data::Incompressible,
            map_cache: MapCache::new(&profile.effects, &geometry),
            cache: SlcCache::new(&geometry, &profile.slc),
            folding: Folding::new(&profile.slc, &profile.effects, &geometry),
            gc: GarbageCollection::new(profile, &geometry),
            idle_superblocks: profile.gc.idle_superblocks as usize,
            media_limit: MediaLimit::new(
                profile.effects.in_place_write_mb_s,
                profile.host_interface.link_mb_s,
            ),
            buffer_is_safe: profile.host_interface.buffer_is_safe,
            cache_is_on: true,
            acknowledges_early: true,
            media: Media::new(profile, geometry, seed),
        }
    }

    /// Switches a volatile write cache on or off: without it, every write is acknowledged when it is
    /// programmed.
    pub(crate) fn switch_cache(&mut self, on: bool) {
        self.cache_is_on = on;
        // The switch takes effect through `acknowledges_early`, which this call computes.
        self.set_sync(false);
        self.volumes.parts_mut().iter_mut().for_each(|volume| volume.switch_cache(on));
    }

    /// Sets whether the next writes have to outlive a loss of power before they are acknowledged.
    pub(crate) fn set_sync(&mut self, sync: bool) {
        self.acknowledges_early = if sync { self.buffer_is_safe } else { self.cache_is_on };
        self.volumes.parts_mut().iter_mut().for_each(|volume| volume.set_sync(sync));
    }

    /// Returns whether the next write is acknowledged as soon as it is in a buffer that a loss of power empties.
    pub(crate) fn acknowledges_early(&self) -> bool {
        self.acknowledges_early && !self.buffer_is_safe
    }

    /// Returns the program operations whose slots of the buffer are not reused yet, each with its end and its pages.
    pub(crate) fn programs(&self) -> impl DoubleEndedIterator<Item = (SimTime, u32)> {
        self.buffer.programs()
    }

    /// Returns the pages in units that are not full, which no operation programs yet.
    pub(crate) fn open_pages(&self) -> Vec<u32> {
        let open = self.host.iter().chain(&self.parked);
        open.flat_map(|open| {
            let slots = open.filled - open.filled % open.unit_pages..open.filled;
            self.media.map.pages_in(open.superblock, slots)
        })
        .copied()
        .collect()
    }

    /// Returns whether the write cache is on.
    pub(crate) fn cache_is_on(&self) -> bool {
        self.cache_is_on
    }

    /// Returns the map entries of all host pages; none where data is overwritten in place, or volumes have maps of their
    /// own.
    pub(crate) fn entries(&self) -> &[Superblock] {
        match self.media.geometry.in_place {
            true => &[],
            false => self.media.map.entries(),
        }
    }

    /// Reads `pages` pages from `first`; returns when the last is in the controller.
    pub(crate) fn read(&mut self, at: SimTime, first: u32, pages: u32) -> SimTime {
        if !self.volumes.are_none() {
            return self.read_volumes(at, first, pages);
        }
        let group = self.media.geometry.sense_pages;
        let end = first + pages;
        let at = match self.map_cache.is_partial() {
            true => self.look_up(at, first, pages),
            false => at,
        };
        let mut page = first;
        let mut done = at;
        while page < end {
            let superblock = self.superblock_of(page);
            // Neighbours in one flash page and one superblock are taken as written together, so
            // that one sense operation reads them. The map does not store slots.
            let limit = ((page / group + 1) * group).min(end);
            let mut together = 1;
            while page + together < limit && self.superblock_of(page + together) == superblock {
                together += 1;
            }
            // An unmapped page is answered from the map alone, as drives return zeros after TRIM. One of a
            // staged unit is answered from memory, and one without flash from the map.
            if superblock != UNMAPPED && superblock != BARE {
                // The die is derived from page and superblock for the same reason: a fixed, even
                // distribution in place of the slot.
                let die = (page / group + u32::from(superblock)) % self.media.geometry.dies;
                let sensed = SensedPage {
                    superblock: superblock.into(),
                    group: page / group,
                    slc: self.media.flash.pages_differ() && self.is_slc(superblock),
                };
                done = done.max(self.media.flash.read(die, at, together, sensed));
            }
            page += together;
        }
        done
    }

    /// Returns whether `superblock` is in SLC mode.
    #[cold]
    fn is_slc(&self, superblock: Superblock) -> bool {
        let open = self.host.iter().any(|open| open.slc && open.superblock == superblock);
        open || self.cache.holds(superblock)
    }

    /// Reads the map of the pages that are mapped, and returns when it is available. A trimmed page is known without its
    /// part of the map, as the ranges of drives that keep trimmed ones apart.
    fn look_up(&mut self, at: SimTime, first: u32, pages: u32) -> SimTime {
        let is_mapped = |page: &u32| self.superblock_of(*page) != UNMAPPED;
        let mapped = (first..first + pages).find(is_mapped);
        let Some(from) = mapped else { return at };
        let dies = self.media.geometry.dies;
        let pages = first + pages - from;
        self.map_cache.look_up(&mut self.media.flash, dies, at, from, pages)
    }

    #[inline]
    fn superblock_of(&self, page: u32) -> Superblock {
        match self.media.geometry.in_place {
            true => 1,
            false if self.staged.holds(page) => UNMAPPED,
            false => self.media.map.lookup(page),
        }
    }

    /// Writes `pages` pages from `first`; returns when the last is in the buffer, or when it is
    /// programmed where it is not acknowledged before. With `DEFERRED`, a page may enter the map only at
    /// the end of its program unit: [`Ftl::enter_deferred`] has to precede anything else than a write.
    // Inlined always, as what it calls: it runs for each request.
    #[inline(always)]
    pub(crate) fn write<const DEFERRED: bool>(
        &mut self,
        at: SimTime,
        first: u32,
        pages: u32,
    ) -> SimTime {
        if self.media.geometry.is_unusual {
            return self.write_otherwise(at, first, pages);
        }
        let (buffered, programmed) = self.write_pages::<DEFERRED>(at, first, pages);
        match self.acknowledges_early {
            true => buffered,
            false => buffered.max(programmed).max(self.open_unit_programmed(buffered)),
        }
    }

    // Not inlined: few drives have another map than one of pages.
    #[cold]
    #[inline(never)]
    fn write_otherwise(&mut self, at: SimTime, first: u32, pages: u32) -> SimTime {
        match (self.media.geometry.in_place, self.volumes.are_none()) {
            (true, _) => self.write_in_place(at, first, pages),
            (false, true) => self.write_units(at, first, pages),
            (false, false) => self.write_volumes(at, first, pages),
        }
    }

    /// Writes `pages` pages from `first`; returns when the last is in the buffer, and when the last program
    /// operation ends that was booked for them.
    #[inline(always)]
    fn write_pages<const DEFERRED: bool>(
        &mut self,
        at: SimTime,
        first: u32,
        pages: u32,
    ) -> (SimTime, SimTime) {
        let (mut buffered, mut programmed) = (at, at);
        for page in first..first + pages {
            buffered = self.buffer.insert(at);
            if self.host.is_none() {
                self.host = Some(self.open_for_host(buffered));
            }
            let Some(open) = &mut self.host else { unreachable!("a superblock was opened") };
            match DEFERRED {
                true => self.deferred.push(page),
                false => self.media.map.write(page, open.superblock, open.filled),
            }
            open.filled += 1;
            if open.unit_is_full() {
                // The map has to be complete before the unit is programmed: folding and collection
                // follow, and look for valid pages in it.
                let open = *open;
                self.enter_deferred();
                programmed = self.program_host_unit(open, open.unit_pages, buffered);
            }
        }
        (buffered, programmed)
    }

    /// Enters the deferred pages of the open unit into the map.
    ///
    /// Together they take less time than one by one: their map entries are loaded and changed side by side,
    /// and the arrays are looked up once.
    #[inline]
    pub(crate) fn enter_deferred(&mut self) {
        let Some(open) = &self.host else { return };
        let first = open.filled - self.deferred.len() as u32;
        self.media.map.write_all(&self.deferred, open.superblock, first);
        self.deferred.clear();
    }

    /// Returns when everything that was written before `now` outlives a loss of power.
    pub(crate) fn durable_at(&self, now: SimTime) -> SimTime {
        let own = match self.buffer_is_safe || !self.cache_is_on {
            true => now,
            false => self.staged_programmed(now).max(self.buffer.last_program_end()).max(now),
        };
        self.volumes.parts().iter().fold(own, |at, volume| at.max(volume.durable_at(now)))
    }

    /// Returns whether `page` is mapped: a read finds data, not zeros.
    pub(crate) fn holds(&self, page: u32) -> bool {
        if let Some((volume, page)) = self.volumes.find(page) {
            return volume.holds(page);
        }
        self.superblock_of(page) != UNMAPPED || self.staged.holds(page)
    }

    /// Returns when the open unit of the host would be programmed if that began at `at`.
    ///
    /// The operation itself is booked once, when the unit is full: the additional wear of a drive
    /// without a write cache, which programs units in part, is not modelled.
    fn open_unit_programmed(&self, at: SimTime) -> SimTime {
        let open = self.host.iter().chain(&self.parked).filter(|open| !open.unit_is_full());
        open.fold(at, |last, open| {
            let mut full = *open;
            full.filled += open.unit_room();
            let media = &self.media;
            last.max(media.flash.would_program(full.program(media.geometry.dies), at))
        })
    }

    /// Programs what the write buffer holds at `at`; returns when it is empty. The slots that are left
    /// of the open unit are lost: they hold the last page of the unit a second time.
    // Not inlined: few drives empty their buffer before a read.
    #[cold]
    #[inline(never)]
    pub(crate) fn empty_buffer(&mut self, at: SimTime) -> SimTime {
        if !self.volumes.are_none() {
            return self.empty_buffers(at);
        }
        // First, because they go to the open unit and may fill it.
        self.write_staged(at);
        let mut empty = at.max(self.buffer.last_program_end());
        if let Some(mut open) = self.host
            && !open.unit_is_full()
        {
            let room = open.unit_room();
            self.media.map.repeat_last(open.superblock, open.filled, room);
            open.filled += room;
            self.host = Some(open);
            self.media.truth.unused_pages += u64::from(room);
            empty = empty.max(self.program_host_unit(open, open.unit_pages - room, at));
        }
        empty
    }

    /// Programs the unit of the host that was just completed with `pages` pages of it, and does the
    /// collection that is due for it; returns when it is programmed.
    // Not inlined: once for each unit, it would take registers from the loop over requests.
    #[inline(never)]
    fn program_host_unit(&mut self, open: OpenSuperblock, pages: u32, at: SimTime) -> SimTime {
        let at = at.max(self.staged.take_fetched());
        let end = self.media.flash.program(open.program(self.media.geometry.dies), at);
        self.buffer.add_program(end, pages);
        if open.is_full() {
            self.media.map.close(open.superblock);
            if open.slc {
                self.cache.push_full(open.superblock);
            }
            self.host = None;
        }
        let Ftl { media, cache, folding, gc, .. } = self;
        folding.fold_under_load(media, cache, gc, open.unit_pages, at);
        // A unit in SLC mode takes no native room yet. Its pages are charged when they are folded.
        if !open.slc {
            media.truth.direct_pages += u64::from(pages);
            gc.make_room(media, cache, open.unit_pages, at);
        }
        end
    }

    fn open_for_host(&mut self, at: SimTime) -> OpenSuperblock {
        if let Some(open) = self.open_in_cache(at) {
            return open;
        }
        // Before another one is opened: the geometry sets aside one native superblock for the host.
        if let Some(parked) = self.parked.take() {
            return parked;
        }
        let Ftl { media, cache, gc, .. } = self;
        if media.map.free_superblocks() < FREE_FOR_HOST {
            gc.collect_until_free(media, cache, FREE_FOR_HOST, at);
        }
        let superblock = media.map.take_free().expect("collection leaves a free superblock");
        OpenSuperblock::new(superblock, false, &media.geometry)
    }

    /// Opens a superblock of the SLC cache for the host, if there is room or room can be made.
    fn open_in_cache(&mut self, at: SimTime) -> Option<OpenSuperblock> {
        let Ftl { media, cache, folding, gc, .. } = self;
        if !cache.exists() {
            return None;
        }
        let mut open = cache.open(&mut media.map, &media.geometry);
        let exhausted = open.is_none() || cache.forced;
        if exhausted && !cache.exhausted {
            media.truth.record_cache_exhausted();
        }
        cache.exhausted = exhausted;
        if open.is_none() && cache.folds_first() {
            // The write has no wait of its own: its program operation queues on the dies that are
            // booked here.
            folding.fold_one(media, cache, gc, at);
            open = cache.open(&mut media.map, &media.geometry);
        }
        open
    }

    fn write_in_place(&mut self, at: SimTime, first: u32, pages: u32) -> SimTime {
        let geometry = &self.media.geometry;
        let (unit, dies) = (geometry.unit_pages, geometry.dies);
        let end = first + pages;
        let mut page = first;
        let (mut buffered, mut programmed) = (at, at);
        let lead = self.media_limit.lead(pages);
        while page < end {
            let together = ((page / unit + 1) * unit).min(end) - page;
            for _ in 0..together {
                buffered = self.buffer.insert(at);
            }
            let begin = self.media_limit.admit(buffered, together, lead);
            // The die that `read` derives, to which every page is in superblock 1.
            let die = (page / unit + 1) % dies;
            let unit = page / unit;
            let program =
                Program { die, pages: together, slc: false, erase: false, superblock: 1, unit };
            let done = self.media.flash.program(program, begin);
            self.buffer.add_program(done, together);
            programmed = programmed.max(done);
            page += together;
        }
        if self.acknowledges_early { buffered } else { programmed }
    }

    /// Deallocates `pages` pages from `first`.
    pub(crate) fn trim(&mut self, first: u32, pages: u32) {
        if !self.volumes.are_none() {
            self.trim_volumes(first, pages);
        } else if !self.media.geometry.in_place {
            self.deallocate(first, pages);
        }
    }

    /// Deallocates `pages` pages from `first` of a drive of one volume.
    fn deallocate(&mut self, first: u32, pages: u32) {
        self.drop_staged(first, first + pages);
        (first..first + pages).for_each(|page| self.media.map.deallocate(page));
    }

    /// Brings an empty drive to the state after one sequential fill, in zero time.
    pub(crate) fn fill(&mut self) {
        if !self.media.geometry.in_place {
            self.media.fill();
            self.media.map.verify();
        }
        self.volumes.parts_mut().iter_mut().for_each(Ftl::fill);
    }

    /// Brings an empty drive to the state after endless uniform random writes, in zero time.
    pub(crate) fn wear_in(&mut self, seed: u64) {
        if !self.volumes.are_none() {
            let volumes = self.volumes.parts_mut().iter_mut().zip(0..);
            volumes.for_each(|(volume, number)| volume.wear_in(seed.wrapping_add(number)));
        } else if !self.media.geometry.in_place {
            worn_in::wear_in(&mut self.media, seed);
            self.media.map.verify();
        }
    }

    /// Checks the map in debug builds: a checkpoint at the end of a step.
    pub(crate) fn verify(&self) {
        self.media.map.verify();
        self.volumes.parts().iter().for_each(Ftl::verify);
    }
}
