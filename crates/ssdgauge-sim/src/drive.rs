//! The virtual drive: a request is submitted at a point in time, and the time of its completion is
//! returned.
//!
//! It is a pure function of profile, seed and calls. It must never complete a request before it
//! was submitted.

use crate::effects::Effects;
use crate::ftl::Ftl;
use crate::host_interface::HostInterface;
use crate::losable::Losable;
use crate::media_counter::MediaCounter;
use crate::operations::Work;
use crate::power_thermal::{PowerThermal, PowerThermalSample};
use crate::profile::{Geometry, PAGE, Profile};
use crate::time::SimTime;
use ssdgauge_core::{Data, Direction, MediaWrites, PowerSaving, Request};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The time without a command after which background work begins, in nanoseconds. Chosen: longer
/// than the gaps of a load, short against the rests between steps.
const BACKGROUND_AFTER: SimTime = 10_000_000;

/// The bytes that one extent of a TRIM covers.
const TRIM_BYTES: u64 = 2 << 30;
/// The time that it takes where the profile states none, in microseconds.
const TRIM_EXTENT_US: f64 = 1_000.0;

/// A virtual drive.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    profile: Profile,
    host_interface: HostInterface,
    effects: Effects,
    pub(crate) ftl: Ftl,
    pub(crate) power_thermal: PowerThermal,
    media_counter: MediaCounter,
    commands: u64,
    link_bytes: u64,
    /// The pages that hosts had written at the last flush, and when it was done.
    flushed: (u64, SimTime),
    /// When the last command was completed.
    busy_until: SimTime,
    /// The time without a command after which the drive may work in the background, or sleep.
    idle_after: SimTime,
    /// Pages whose last write was damaged, where that fault is injected.
    damaged: BTreeMap<u32, Damage>,
    /// Pages that a loss of power takes, where that fault is injected.
    losable: Option<Losable>,
}

/// What happens to the data of a write: an injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// It is acknowledged and dropped.
    Dropped,
    /// One bit of its first page is stored changed, next to the header of that page.
    Flipped,
    /// None yet: the power is cut on the drive, and takes what is not programmed then.
    Losable,
}

impl Drive {
    /// Returns a drive that was never written; `seed` is that of its read retries.
    pub(crate) fn new(profile: Profile, geometry: Geometry, seed: u64) -> Drive {
        let cut = profile.fault.power_cut();
        Drive {
            host_interface: HostInterface::new(&profile),
            ftl: Ftl::new(&profile, geometry, seed),
            power_thermal: PowerThermal::new(&profile.power, &profile.thermal, &profile.effects),
            effects: Effects::new(&profile),
            media_counter: MediaCounter::new(&profile),
            commands: 0,
            link_bytes: 0,
            flushed: (0, 0),
            busy_until: 0,
            idle_after: 0,
            damaged: BTreeMap::new(),
            losable: cut.map(Losable::new),
            profile,
        }
    }

    /// Submits a request of `bytes` at `now` and returns when it is completed.
    pub(crate) fn submit(&mut self, now: SimTime, request: Request, bytes: u64) -> SimTime {
        self.submit_of_load::<false>(now, request, bytes)
    }

    /// Submits a request as [`Drive::submit`] does. With `DEFERRED`, its pages may enter the map later:
    /// [`Ftl::enter_deferred`] has to precede every other call.
    // Inlined always, as what it calls: it runs for each request of a load.
    #[inline(always)]
    pub(crate) fn submit_of_load<const DEFERRED: bool>(
        &mut self,
        now: SimTime,
        request: Request,
        bytes: u64,
    ) -> SimTime {
        let first = (request.offset / PAGE) as u32;
        let last = ((request.offset + bytes - 1) / PAGE) as u32;
        let pages = last - first + 1;
        self.commands += 1;
        self.link_bytes += bytes;
        let admitted = self.host_interface.admit(now);
        // Before the command is processed: an effect moves the time at which the controller is
        // free.
        if self.effects.is_on {
            let flash = self.ftl.media.flash.operations;
            self.effects.apply(admitted, request.direction, flash, &mut self.host_interface);
        }
        let command = self.host_interface.process(admitted, request.direction, bytes, pages);
        let done = match request.direction {
            Direction::Read => {
                if DEFERRED {
                    self.ftl.enter_deferred();
                }
                let mut at = self.host_interface.read_ahead(command.at, first, pages);
                if self.effects.reads_flush_buffer() {
                    at = at.max(self.ftl.empty_buffer(command.at));
                }
                // Data that was read ahead is not returned before the command was processed.
                self.ftl.read(at, first, pages).max(command.at)
            }
            Direction::Write | Direction::Flush | Direction::Trim => {
                let truth = &mut self.ftl.media.truth;
                truth.host_bytes += bytes;
                truth.host_pages += u64::from(pages);
                let copied_before = self.ftl.media.copied_pages;
                if !(request.offset | bytes).is_multiple_of(PAGE) {
                    if DEFERRED {
                        self.ftl.enter_deferred();
                    }
                    self.read_partial_pages(command.at, request.offset, bytes);
                    // What a page holds that is written in part is not known.
                    self.ftl.set_data(Data::Incompressible);
                }
                let done = self.ftl.write::<DEFERRED>(command.at, first, pages);
                if self.effects.has_copy_time() {
                    let copied = self.ftl.media.copied_pages - copied_before;
                    self.effects.add_copies(command.at, copied, &mut self.host_interface);
                }
                done
            }
        };
        // The link is booked in the order of the commands, not in that of their data: its rate is
        // never exceeded, and a slow flash operation does not hold up the data of other commands.
        let end = (done + command.transfer).max(command.link_free) + command.delay;
        // Time has to pass also where a profile has no time for a short request.
        let end = end.max(now + 1);
        self.host_interface.record_end(end);
        self.busy_until = self.busy_until.max(end);
        end
    }

    /// Submits a flush at `now` and returns when everything that was written before is durable. The
    /// controller processes it as it does a write without data.
    pub(crate) fn flush(&mut self, now: SimTime) -> SimTime {
        let processed = self.process_command(now);
        let durable = self.durable_at(processed);
        self.flushed = (self.ftl.media.truth.host_pages, durable);
        self.record_flush(durable);
        self.end_command(durable)
    }

    /// Records that everything that was written is durable at `end`.
    pub(crate) fn record_flush(&mut self, end: SimTime) {
        if let Some(losable) = &mut self.losable {
            losable.flush(end);
        }
    }

    /// Returns how long a flush takes that is submitted at `now` to the idle drive, without submitting it.
    pub(crate) fn flush_time(&self, now: SimTime) -> SimTime {
        let processed = now + self.host_interface.time_of_command();
        self.durable_at(processed) - now
    }

    /// Returns when everything that was written before `now` outlives a loss of power. A flush after another one has
    /// nothing left to write.
    fn durable_at(&self, now: SimTime) -> SimTime {
        let (pages, durable) = self.flushed;
        match pages == self.ftl.media.truth.host_pages {
            true => durable.max(now),
            false => self.ftl.durable_at(now).max(now),
        }
    }

    /// Returns the time that a trim of `bytes` takes.
    pub(crate) fn trim_time(&self, bytes: u64) -> SimTime {
        let effects = &self.profile.effects;
        let extents = bytes.div_ceil(TRIM_BYTES) as f64;
        let (extent, gib) = (effects.trim_extent_us, effects.trim_gib_us);
        let extent = if extent + gib == 0.0 { TRIM_EXTENT_US } else { extent };
        let us = extents * extent + bytes as f64 / f64::from(1 << 30) * gib;
        (us * 1e3).round() as SimTime
    }

    /// Submits a trim of `bytes` from `offset` on at `now`, which deallocates the whole pages in it; returns when it
    /// is completed.
    pub(crate) fn trim(&mut self, now: SimTime, offset: u64, bytes: u64) -> SimTime {
        let time = self.trim_time(bytes);
        let processed = self.process_command(now);
        let (first, end) = (offset.div_ceil(PAGE), (offset + bytes) / PAGE);
        self.ftl.trim(first as u32, end.saturating_sub(first) as u32);
        // One trim at a time: it changes the mapping table.
        self.host_interface.block_until(processed + time);
        self.end_command(processed + time)
    }

    /// Processes a command without data and returns when that is done.
    fn process_command(&mut self, now: SimTime) -> SimTime {
        self.commands += 1;
        let admitted = self.host_interface.admit(now);
        // One page, because `page_us` is charged from the second on; no bytes, so the link stays
        // free.
        let command = self.host_interface.process(admitted, Direction::Write, 0, 1);
        command.at + command.delay
    }

    fn end_command(&mut self, end: SimTime) -> SimTime {
        self.host_interface.record_end(end);
        self.busy_until = self.busy_until.max(end);
        end
    }

    /// Acknowledges a write of `bytes` at `now` and damages its data. Returns when it is completed.
    #[cold]
    #[inline(never)]
    pub(crate) fn damage_write(
        &mut self,
        now: SimTime,
        request: Request,
        bytes: u64,
        damage: Damage,
    ) -> SimTime {
        let first = (request.offset / PAGE) as u32;
        let last = ((request.offset + bytes - 1) / PAGE) as u32;
        match damage {
            Damage::Dropped => {
                self.damaged.extend((first..=last).map(|page| (page, damage)));
                self.drop_write(now, request, bytes)
            }
            Damage::Flipped => {
                // One bit of the request is changed, in its first page. The other pages hold good
                // data again.
                for page in first..=last {
                    self.damaged.remove(&page);
                }
                self.damaged.insert(first, damage);
                self.submit(now, request, bytes)
            }
            Damage::Losable => self.submit_losable(now, request, bytes, first..=last),
        }
    }

    /// Submits a write of `bytes` in `pages`, and records what of it a loss of power takes.
    fn submit_losable(
        &mut self,
        now: SimTime,
        request: Request,
        bytes: u64,
        pages: RangeInclusive<u32>,
    ) -> SimTime {
        let losable = self.losable.as_ref();
        // Before the write is submitted, which maps its pages: a lost page reads as zeros or as
        // older data, depending on whether it was mapped.
        let written = losable.map(|losable| losable.before_write(pages, |one| self.ftl.holds(one)));
        let end = self.submit(now, request, bytes);
        if let (Some(losable), Some(written)) = (&mut self.losable, written) {
            match self.ftl.acknowledges_early() {
                true => losable.record(written, end, &self.ftl.open_pages(), self.ftl.programs()),
                // It outlives a loss of power once it is acknowledged.
                false => losable.record(written, SimTime::MAX, &[], std::iter::empty()),
            }
        }
        end
    }

    /// Acknowledges a write of `bytes` at `now` whose data is dropped. Returns when it is completed.
    fn drop_write(&mut self, now: SimTime, request: Request, bytes: u64) -> SimTime {
        let first = (request.offset / PAGE) as u32;
        let last = ((request.offset + bytes - 1) / PAGE) as u32;
        self.commands += 1;
        self.link_bytes += bytes;
        let admitted = self.host_interface.admit(now);
        let pages = last - first + 1;
        let command = self.host_interface.process(admitted, request.direction, bytes, pages);
        let end = (command.at + command.transfer).max(command.link_free) + command.delay;
        let end = end.max(now + 1);
        self.host_interface.record_end(end);
        self.busy_until = self.busy_until.max(end);
        end
    }

    /// Returns what a read of the header of `page` at `now` finds where that is not the one that was written last.
    pub(crate) fn lost_write(&self, page: u32, now: SimTime) -> Option<&'static str> {
        if let Some(found) = self.losable.as_ref().and_then(|losable| losable.lost_at(page, now)) {
            return Some(found);
        }
        match (self.ftl.holds(page), self.damaged.get(&page)) {
            (false, _) => Some("zeros"),
            (true, Some(Damage::Dropped)) => Some("older data"),
            (true, Some(Damage::Flipped | Damage::Losable) | None) => None,
        }
    }

    /// Returns what a read of the whole `page` at `now` finds where that is not what was written last.
    pub(crate) fn wrong_contents(&self, page: u32, now: SimTime) -> Option<&'static str> {
        let is_flipped = || self.damaged.get(&page) == Some(&Damage::Flipped);
        self.lost_write(page, now)
            .or_else(|| is_flipped().then_some("other data (one bit differs)"))
    }

    /// Reads the pages that a write covers in part (read-modify-write); the dies are busy, but the
    /// host does not wait for them.
    fn read_partial_pages(&mut self, at: SimTime, offset: u64, bytes: u64) {
        let (first, last) = (offset / PAGE, (offset + bytes - 1) / PAGE);
        let starts_inside = !offset.is_multiple_of(PAGE);
        let ends_inside = !(offset + bytes).is_multiple_of(PAGE);
        if starts_inside || (ends_inside && first == last) {
            self.ftl.read(at, first as u32, 1);
        }
        if ends_inside && first != last {
            self.ftl.read(at, last as u32, 1);
        }
    }

    /// Ends the idle time before a command at `now`, if there was one: to be called before the first
    /// command of a step, and where no other one is in flight. A closed loop leaves no idle time.
    pub(crate) fn end_idle(&mut self, now: SimTime) {
        if now < self.busy_until + self.idle_after {
            return;
        }
        self.idle_until(now);
        let (work, active_until) = (self.work(), self.active_until(now));
        let exit_latency = self.power_thermal.wake(now, &work, active_until);
        self.host_interface.block_until(now + exit_latency);
        // The earlier of sleep and background work: before it there is nothing to catch up on.
        self.idle_after = self.power_thermal.sleeps_after().min(BACKGROUND_AFTER);
        self.occupy_until(now);
    }

    /// Begins a step in which the host keeps `depth` commands in flight.
    pub(crate) fn begin_step(&mut self, depth: usize) {
        self.ftl.begin_step();
        self.ftl.set_data(Data::Incompressible);
        self.effects.set_sync(false);
        self.host_interface.expect_depth(depth);
    }

    /// Counts the drive as busy up to `until`: a stall, or a command that is not a request.
    pub(crate) fn occupy_until(&mut self, until: SimTime) {
        self.busy_until = self.busy_until.max(until);
    }

    /// Does the work of an idle drive up to `until`; nothing where a command is in flight then.
    pub(crate) fn idle_until(&mut self, until: SimTime) {
        let from = self.busy_until + BACKGROUND_AFTER;
        // Work in the background would exceed the power of a state that the host has set (NVMe:
        // non-operational power state permissive mode, off by default).
        if from < until && !self.power_thermal.is_held_in_state() {
            let Drive { ftl, power_thermal, commands, link_bytes, .. } = self;
            ftl.work_in_background(from, until, |at, flash| {
                let work = Work { commands: *commands, link_bytes: *link_bytes, flash };
                power_thermal.work_allowed_at(at, &work)
            });
        }
    }

    /// Returns whether a load has to [`Drive::constrain`] its requests, of which some are synchronous
    /// or not.
    pub(crate) fn is_constrained(&self, any_sync: bool) -> bool {
        any_sync || self.power_thermal.is_limited()
    }

    /// Constrains the request that follows at `now`: with `sync` (O_DSYNC; NVMe: forced unit access) a
    /// write completes when it outlives a loss of power, and the controller waits with it until the
    /// power state allows more work.
    // Not inlined, and not part of `submit`: few loads are constrained.
    #[cold]
    #[inline(never)]
    pub(crate) fn constrain(&mut self, now: SimTime, sync: bool) {
        self.ftl.set_sync(sync);
        self.effects.set_sync(sync);
        let allowed = self.power_thermal.work_allowed_at(now, &self.work());
        self.host_interface.block_until(allowed);
    }

    /// Sets the power saving of the drive at `now`; returns whether the drive has the state.
    pub(crate) fn set_power_saving(&mut self, saving: PowerSaving, now: SimTime) -> bool {
        // The energy up to this point is that of the power saving set before.
        self.advance_power_thermal(now);
        self.occupy_until(now);
        // The next command has to be checked at once: a state that the host sets has no delay.
        self.idle_after = 0;
        self.power_thermal.set_saving(saving)
    }

    /// Returns up to when the drive is active, as known at `now`: until its last command and its
    /// last flash operation are done, and `now` where work in the background is left.
    fn active_until(&self, now: SimTime) -> SimTime {
        let done = self.busy_until.max(self.ftl.idle_at());
        let works = !self.power_thermal.is_held_in_state() && self.ftl.has_background_work();
        if now > done && works { now } else { done }
    }

    /// Takes over power, temperature and health counters of `purged`, which this one replaces at `now`: a purge
    /// neither cools a drive nor changes its power state, and resets no counter.
    pub(crate) fn inherit(&mut self, purged: Drive, now: SimTime) {
        self.media_counter = purged.media_counter.keep(&purged.ftl.media.truth);
        self.power_thermal = purged.power_thermal;
        self.occupy_until(now);
        self.power_thermal.restart_counts();
        // A drive that is hot is throttled after its purge, too.
        self.apply_speed();
    }

    /// Sets the speed that thermal throttling leaves.
    fn apply_speed(&mut self) {
        let (profile, factor) = (&self.profile, self.power_thermal.speed_factor());
        self.host_interface.set_speed(&profile.host_interface, factor);
        self.ftl.set_speed(&profile.nand, &profile.slc, factor);
    }

    /// Returns all operations since the drive was created or last purged.
    pub(crate) fn work(&self) -> Work {
        let flash = self.ftl.media.flash.operations;
        Work { commands: self.commands, link_bytes: self.link_bytes, flash }
    }

    /// Returns what was written to the flash and by hosts since the last call, where the drive counts it.
    pub(crate) fn host_writes(&self) -> ssdgauge_core::Bytes {
        self.media_counter.of_hosts(&self.ftl.media.truth)
    }

    pub(crate) fn media_writes(&mut self) -> Option<MediaWrites> {
        self.media_counter.since_last(&self.ftl.media.truth)
    }

    /// Advances energy, temperature and throttling to `now`.
    pub(crate) fn advance_power_thermal(&mut self, now: SimTime) -> PowerThermalSample {
        let before = self.power_thermal.speed_factor();
        let (work, active_until) = (self.work(), self.active_until(now));
        let sample = self.power_thermal.advance(now, &work, active_until);
        if self.power_thermal.speed_factor() != before {
            self.apply_speed();
        }
        self.effects.recalibrate(now, sample.body_c, &mut self.host_interface);
        sample
    }
}
