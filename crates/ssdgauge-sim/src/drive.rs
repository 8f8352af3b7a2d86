//! The drive as a whole: one request goes in at a moment, and the moment of its completion comes
//! out.
//!
//! It is a pure function of profile, seed and calls. It must never complete a request before it
//! was submitted.

use crate::flash::{Flash, Moment, Operations, Program};
use crate::ftl::gc::Collection;
use crate::ftl::map::{Found, Map, NOWHERE, Superblock};
use crate::ftl::slc_cache::Cache;
use crate::ftl::write_buffer::Buffer;
use crate::ground_truth::Truth;
use crate::host_interface::Front;
use crate::mean_field::MeanField;
use crate::power_thermal::{Environment, EnvironmentSecond};
use crate::profile::Profile;
use crate::profile::{Geometry, PAGE};
use ssdgauge_core::{Direction, Random, Request};

/// A virtual drive.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    pub(crate) geometry: Geometry,
    pub(crate) profile: Profile,
    pub(crate) front: Front,
    pub(crate) buffer: Buffer,
    /// The superblock that takes what the host writes.
    pub(crate) host: Option<Open>,
    /// A native superblock that the host left half written for the fast cache.
    pub(crate) parked: Option<Open>,
    pub(crate) cache: Cache,
    pub(crate) map: Map,
    /// The superblock that takes copies.
    pub(crate) copies: Option<Open>,
    pub(crate) gc: Collection,
    pub(crate) flash: Flash,
    pub(crate) environment: Environment,
    pub(crate) truth: Truth,
    /// Whether a write is acknowledged as soon as the buffer has it; else when it is programmed.
    pub(crate) acknowledges_early: bool,
    commands: u64,
    link_bytes: u64,
    /// When the last command was completed.
    busy_until: Moment,
    /// Takes what was loaded ahead of use.
    touched: u32,
}

/// A superblock that is being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) superblock: Superblock,
    pub(crate) filled: u32,
    pub(crate) unit_pages: u32,
    pub(crate) slc: bool,
    size: u32,
}

impl Open {
    pub(crate) fn new(superblock: Superblock, slc: bool, geometry: &Geometry) -> Open {
        let (size, unit_pages) = match slc {
            true => (geometry.slc_superblock_pages, geometry.slc_unit_pages),
            false => (geometry.superblock_pages, geometry.unit_pages),
        };
        Open { superblock, filled: 0, unit_pages, slc, size }
    }

    /// Returns how many pages the unit at work still takes.
    #[inline]
    pub(crate) fn unit_room(&self) -> u32 {
        self.unit_pages - self.filled % self.unit_pages
    }

    pub(crate) fn is_full(&self) -> bool {
        self.filled == self.size
    }
}

/// A superblock that is being copied and given back, from its last slot to its first.
#[derive(Clone, Debug)]
pub(crate) struct Victim {
    pub(crate) superblock: Superblock,
    pub(crate) remaining: u32,
    pub(crate) unit_pages: u32,
    /// What was found ahead of being copied.
    pub(crate) found: Found,
}

impl Victim {
    pub(crate) fn new(superblock: Superblock, size: u32, unit_pages: u32) -> Victim {
        Victim { superblock, remaining: size, unit_pages, found: Found::default() }
    }

    pub(crate) fn units_left(&self) -> u32 {
        self.remaining / self.unit_pages
    }
}

/// All operations so far: what the energy is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Commands of the host.
    pub commands: u64,
    /// Bytes that went over the link.
    pub link_bytes: u64,
    /// Operations of the flash.
    pub flash: Operations,
}

impl Drive {
    /// Returns a drive on which nothing was ever written.
    pub(crate) fn fresh(profile: Profile, geometry: Geometry) -> Drive {
        Drive {
            front: Front::new(&profile.front, 1.0),
            buffer: Buffer::new(geometry.buffer_pages),
            host: None,
            parked: None,
            cache: Cache::new(&geometry, &profile.slc),
            map: Map::new(&geometry),
            copies: None,
            gc: Collection::new(&profile.gc, &geometry),
            flash: Flash::new(&geometry, &profile.nand, &profile.slc),
            environment: Environment::new(&profile.power, &profile.thermal),
            truth: Truth::default(),
            acknowledges_early: true,
            commands: 0,
            link_bytes: 0,
            busy_until: 0,
            touched: 0,
            profile,
            geometry,
        }
    }

    /// Takes a request of `bytes` at `now` and returns when it is completed.
    #[inline]
    pub(crate) fn submit(&mut self, now: Moment, request: Request, bytes: u64) -> Moment {
        let first = (request.offset / PAGE) as u32;
        let last = ((request.offset + bytes - 1) / PAGE) as u32;
        let pages = last - first + 1;
        self.commands += 1;
        self.link_bytes += bytes;
        let admitted = self.front.admit(now);
        let taken = self.front.take(admitted, request.direction, bytes, pages);
        let done = match request.direction {
            Direction::Read => {
                let at = match self.profile.front.read_ahead {
                    true => self.front.read_ahead(taken.at, first, pages),
                    false => taken.at,
                };
                self.read(at, first, pages).max(taken.at)
            }
            Direction::Write => {
                self.truth.host_bytes += bytes;
                self.truth.host_pages += u64::from(pages);
                if !(request.offset | bytes).is_multiple_of(PAGE) {
                    self.read_parts(taken.at, request.offset, bytes);
                }
                self.write(taken.at, first, pages)
            }
        };
        let end = (done + taken.transfer).max(taken.link_free) + taken.delay;
        self.front.ends(end);
        self.busy_until = self.busy_until.max(end);
        end
    }

    /// Prepares for a step in which the host keeps `depth` commands in flight: the drive leaves
    /// its power state.
    pub(crate) fn begin_step(&mut self, now: Moment, depth: usize) {
        self.truth.cache_exhausted = None;
        self.front.expect_depth(depth);
        let busy_until = self.busy_until.max(self.flash.idle_at());
        self.front.wake_until(now + self.environment.wake_time(now, busy_until));
    }

    /// Loads the map entry of `offset` ahead of its use.
    #[inline]
    pub(crate) fn touch(&mut self, offset: u64) {
        if !self.geometry.in_place {
            self.touched ^= u32::from(self.map.entry((offset / PAGE) as u32));
        }
    }

    /// Reads `pages` from `first`; returns when the last is in the controller.
    fn read(&mut self, at: Moment, first: u32, pages: u32) -> Moment {
        let group = self.geometry.sense_pages;
        let end = first + pages;
        let mut page = first;
        let mut done = at;
        while page < end {
            let place = self.place_of(page);
            // Neighbours of one flash page in one superblock were written together.
            let limit = ((page / group + 1) * group).min(end);
            let mut together = 1;
            while page + together < limit && self.place_of(page + together) == place {
                together += 1;
            }
            if place != NOWHERE {
                let die = (page / group + u32::from(place)) % self.geometry.dies;
                done = done.max(self.flash.read(die, at, together));
            }
            page += together;
        }
        done
    }

    /// Reads the pages of which a write holds only a part; the host does not wait for them.
    fn read_parts(&mut self, at: Moment, offset: u64, bytes: u64) {
        let (first, last) = (offset / PAGE, (offset + bytes - 1) / PAGE);
        let starts_inside = !offset.is_multiple_of(PAGE);
        let ends_inside = !(offset + bytes).is_multiple_of(PAGE);
        if starts_inside || (ends_inside && first == last) {
            self.read(at, first as u32, 1);
        }
        if ends_inside && first != last {
            self.read(at, last as u32, 1);
        }
    }

    #[inline]
    fn place_of(&self, page: u32) -> Superblock {
        match self.geometry.in_place {
            true => 1,
            false => self.map.entry(page),
        }
    }

    /// Writes `pages` from `first`; returns when the last has its place in the buffer, or is
    /// programmed where the drive must not acknowledge it before.
    #[inline]
    fn write(&mut self, at: Moment, first: u32, pages: u32) -> Moment {
        if self.geometry.in_place {
            return self.write_in_place(at, first, pages);
        }
        let (mut placed, mut programmed) = (at, at);
        for page in first..first + pages {
            placed = self.buffer.insert(at);
            let mut open = match self.host {
                Some(open) => open,
                None => self.open_for_host(placed),
            };
            self.map.place(page, open.superblock, open.filled);
            open.filled += 1;
            self.host = Some(open);
            if open.filled.is_multiple_of(open.unit_pages) {
                programmed = self.program_host_unit(open, placed);
            }
        }
        match self.acknowledges_early {
            true => placed,
            false => placed.max(programmed).max(self.programmed_alone(placed)),
        }
    }

    /// Returns when the unit of the host that is not yet full would be programmed if that began at
    /// `at`. The operation is booked once, when the unit is full: that a drive without a cache also
    /// wears faster, because it programs parts of units, is not modelled.
    fn programmed_alone(&self, at: Moment) -> Moment {
        match &self.host {
            Some(open) if !open.filled.is_multiple_of(open.unit_pages) => {
                let full = Open { filled: open.filled + open.unit_room(), ..*open };
                self.flash.would_program(full.program(self.geometry.dies), at)
            }
            Some(_) | None => at,
        }
    }

    /// Programs the unit of the host that was just filled, and does the collection it calls for;
    /// returns when it is programmed.
    fn program_host_unit(&mut self, open: Open, at: Moment) -> Moment {
        let end = self.flash.program(open.program(self.geometry.dies), at);
        self.buffer.programmed(end, open.unit_pages);
        if open.is_full() {
            self.map.close(open.superblock);
            if open.slc {
                self.cache.filled(open.superblock);
            }
            self.host = None;
        }
        self.fold_under_load(open.unit_pages, at);
        if !open.slc {
            self.make_room(open.unit_pages, at);
        }
        end
    }

    fn open_for_host(&mut self, at: Moment) -> Open {
        if let Some(open) = self.open_in_cache(at) {
            return open;
        }
        if let Some(parked) = self.parked.take() {
            return parked;
        }
        // One superblock is always left for copies.
        if self.map.free.len() < 2 {
            self.collect_until_free(2, at);
        }
        let superblock = self.map.free.pop_front().expect("collection leaves a free superblock");
        Open::new(superblock, false, &self.geometry)
    }

    fn write_in_place(&mut self, at: Moment, first: u32, pages: u32) -> Moment {
        let unit = self.geometry.unit_pages;
        let end = first + pages;
        let mut page = first;
        let (mut placed, mut programmed) = (at, at);
        while page < end {
            let together = ((page / unit + 1) * unit).min(end) - page;
            for _ in 0..together {
                placed = self.buffer.insert(at);
            }
            let die = (page / unit + 1) % self.geometry.dies;
            let program = Program { die, pages: together, slc: false, erase: false };
            let done = self.flash.program(program, placed);
            self.buffer.programmed(done, together);
            programmed = programmed.max(done);
            page += together;
        }
        if self.acknowledges_early { placed } else { programmed }
    }

    /// Forgets `pages` from `first`.
    pub(crate) fn trim(&mut self, first: u32, pages: u32) {
        if !self.geometry.in_place {
            (first..first + pages).for_each(|page| {
                self.map.trim(page);
            });
        }
    }

    /// Writes every page once in ascending order, in no time.
    pub(crate) fn fill(&mut self) {
        if self.geometry.in_place {
            return;
        }
        for page in 0..self.geometry.user_pages {
            let mut open = match self.copies.take() {
                Some(open) => open,
                None => {
                    let free = self.map.free.pop_front().expect("the data fits into the flash");
                    Open::new(free, false, &self.geometry)
                }
            };
            self.map.place(page, open.superblock, open.filled);
            open.filled += 1;
            match open.is_full() {
                true => self.map.close(open.superblock),
                false => self.copies = Some(open),
            }
        }
    }

    /// Brings the drive to where endless uniform random writes would bring it, in no time: the
    /// mean field says how many valid pages each superblock holds, chance says which.
    pub(crate) fn age(&mut self, seed: u64) {
        if self.geometry.in_place {
            return;
        }
        let size = f64::from(self.geometry.superblock_pages);
        let superblocks = self.full_superblocks();
        let mut field = MeanField::new(superblocks, size, f64::from(self.geometry.user_pages));
        field.settle(8);
        let taken: Vec<Superblock> = self.map.free.drain(..superblocks).collect();
        let mut random = Random::new(seed, 0xa6e);
        self.map.populate(
            &taken,
            &field.populations(),
            self.geometry.superblock_pages,
            &mut random,
        );
    }

    /// Returns how many superblocks for host data can be full at a time: those that are free or
    /// open hold no old data.
    fn full_superblocks(&self) -> usize {
        (self.geometry.superblocks - self.geometry.reserve - 1) as usize
    }

    /// Returns the flash that can hold data beyond what it holds, as a share of that: the true
    /// over-provisioning. `None` where nothing is held.
    pub(crate) fn over_provisioning(&self) -> Option<f64> {
        let valid = self.map.valid_pages() as f64;
        let pages = self.full_superblocks() as f64 * f64::from(self.geometry.superblock_pages);
        (valid > 0.0 && !self.geometry.in_place).then(|| pages / valid - 1.0)
    }

    /// Returns the pages that hold valid data.
    pub(crate) fn valid_pages(&self) -> u64 {
        match self.geometry.in_place {
            true => u64::from(self.geometry.user_pages),
            false => self.map.valid_pages(),
        }
    }

    /// Takes over the surroundings of the drive that this one replaces at `now`.
    pub(crate) fn restore_environment(&mut self, environment: Environment, now: Moment) {
        self.environment = environment;
        self.busy_until = now;
        let factor = self.environment.begin_anew();
        self.front.set_factor(&self.profile.front, factor);
        self.flash.set_factor(&self.profile.nand, &self.profile.slc, factor);
    }

    /// Returns all operations so far.
    pub(crate) fn work(&self) -> Work {
        Work { commands: self.commands, link_bytes: self.link_bytes, flash: self.flash.operations }
    }

    /// Lets the drive's surroundings go on to `now`: energy, temperature, throttle.
    pub(crate) fn pass(&mut self, now: Moment) -> EnvironmentSecond {
        let work = self.work();
        let before = self.environment.factor();
        let busy_until = self.busy_until.max(self.flash.idle_at());
        let second = self.environment.pass(now, &work, busy_until);
        let factor = self.environment.factor();
        if factor != before {
            self.front.set_factor(&self.profile.front, factor);
            self.flash.set_factor(&self.profile.nand, &self.profile.slc, factor);
        }
        second
    }

    /// Lets the drive do its own work during silence up to `until`.
    pub(crate) fn idle(&mut self, until: Moment) {
        if self.geometry.in_place {
            return;
        }
        self.fold_when_idle(until);
        let wanted = self.profile.gc.idle_superblocks as usize;
        if wanted > self.map.free.len() && self.flash.idle_at() < until {
            // At most one superblock in each stretch of silence, so that the host never finds
            // the drive busy with much more.
            let next = self.map.free.len() + 1;
            self.collect_until_free(next.min(wanted), until);
        }
    }
}
