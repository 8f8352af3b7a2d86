//! A drive of the second model in virtual time: its controller and write buffer. Everything that happens is an
//! event.

use super::agenda::{Agenda, Event};
use super::dies::{Dies, Job};
use super::figures::{Figures, Order, SLOT};
use super::flash::{Flash, Place, Writer};
use ssdgauge_core::{Direction, Random};
use std::collections::VecDeque;

/// The time between two looks at the temperature, in nanoseconds.
pub(super) const TICK: u64 = 250_000_000;
/// Watts of the controller, of a die that works, and joules per byte on the link. Chosen.
const POWER: (f64, f64, f64) = (0.8, 0.15, 1.5e-9);

/// Pages of the host, each with what tells its write apart.
type Pages = Vec<(u32, u32)>;

#[derive(Clone, Copy, Debug)]
struct Command {
    direction: Direction,
    offset: u64,
    length: u64,
    /// Pages that were admitted to the buffer, or that are still to be read.
    pages: u64,
    /// Whether a read waits for its map.
    reads_map: bool,
}

impl Command {
    /// Returns the pages that it touches.
    fn range(&self) -> std::ops::Range<u64> {
        self.offset / SLOT..(self.offset + self.length).div_ceil(SLOT)
    }
}

/// A drive.
pub(super) struct Drive {
    pub(super) figures: Figures,
    pub(super) flash: Flash,
    pub(super) dies: Dies,
    pub(super) agenda: Agenda,
    random: Random,
    commands: Vec<Command>,
    unused: Vec<u32>,
    /// Commands beyond the queue of the drive.
    waiting: VecDeque<u32>,
    /// Commands in the queue.
    held: usize,
    controller_free: u64,
    link_free: [u64; 2],
    /// Writes whose data waits for the buffer.
    writes: VecDeque<u32>,
    /// Pages in the open buffer.
    open: u64,
    /// Pages by die that do not fill a program operation yet, and whether they go to the cache.
    pending: Vec<(Pages, bool)>,
    /// Program operations that are complete and wait for the flush.
    complete: Vec<(usize, Pages, bool)>,
    /// Buffers that are flushed: number, and programs left.
    flushes: VecDeque<(u64, usize)>,
    flush_number: u64,
    /// The place in the order of dies, the pages that its stripe has, and the rounds before.
    cursor: (usize, u64, u64),
    order: Vec<usize>,
    map_at_hand: Vec<bool>,
    map_kept: Vec<u32>,
    last_command: u64,
    last_write: u64,
    next_patrol: u64,
    timers: [bool; 2],
    pub(super) celsius: f64,
    is_hot: bool,
    /// How often it began to throttle, and the ticks for which it did.
    pub(super) throttled: [u64; 2],
    bytes_linked: u64,
    /// What heats the writes that they have not cooled from: bytes, when that was, and whether they are throttled.
    write_heat: (f64, u64, bool),
    /// Map pages that were read, and looked up.
    pub(super) map_reads: [u64; 2],
}

impl Drive {
    pub(super) fn new(figures: Figures, seed: u64) -> Drive {
        let mut random = Random::new(seed, 0x5ec1);
        let dies = figures.dies as usize;
        let mut order: Vec<usize> = (0..dies).collect();
        match figures.order {
            Order::DieFirst => order.sort_by_key(|die| die % figures.channels as usize),
            Order::ChannelFirst => {}
            Order::Shuffled => random.shuffle(&mut order),
        }
        let segments = figures.capacity.div_ceil(figures.map_segment) as usize;
        let mut drive = Drive {
            flash: Flash::new(&figures),
            dies: Dies::new(&figures),
            agenda: Agenda::default(),
            random,
            commands: Vec::new(),
            unused: Vec::new(),
            waiting: VecDeque::new(),
            held: 0,
            controller_free: 0,
            link_free: [0; 2],
            writes: VecDeque::new(),
            open: 0,
            pending: vec![(Vec::new(), false); dies],
            complete: Vec::new(),
            flushes: VecDeque::new(),
            flush_number: 0,
            cursor: (0, 0, 0),
            order,
            map_at_hand: vec![figures.map_reach.is_none(); segments],
            map_kept: Vec::new(),
            last_command: 0,
            last_write: 0,
            next_patrol: 0,
            timers: [false; 2],
            celsius: figures.air_c + 10.0,
            is_hot: false,
            throttled: [0; 2],
            bytes_linked: 0,
            write_heat: (0.0, 0, false),
            map_reads: [0; 2],
            figures,
        };
        drive.agenda.add(TICK, Event::Tick);
        drive
    }

    /// Sends a command now; returns its number, which is free again when it is completed.
    pub(super) fn submit(&mut self, direction: Direction, offset: u64, length: u64) -> u32 {
        let command = Command { direction, offset, length, pages: 0, reads_map: false };
        let id = match self.unused.pop() {
            Some(id) => {
                self.commands[id as usize] = command;
                id
            }
            None => {
                self.commands.push(command);
                self.commands.len() as u32 - 1
            }
        };
        self.last_command = self.agenda.now;
        self.dies.stop_folding();
        match self.held < self.figures.queue {
            true => self.decode(id),
            false => self.waiting.push_back(id),
        }
        id
    }

    fn decode(&mut self, id: u32) {
        self.held += 1;
        let ns = match self.commands[id as usize].direction {
            Direction::Read => self.figures.read_command_ns,
            Direction::Write | Direction::Flush | Direction::Trim => self.figures.write_command_ns,
        };
        let start = self.awake(self.agenda.now.max(self.controller_free));
        self.controller_free = start + (ns as f64 / self.speed()) as u64;
        self.agenda.add(self.controller_free, Event::Decoded(id));
    }

    /// Returns the speed of a drive that works more slowly while it is hot.
    fn speed(&self) -> f64 {
        let throttling = &self.figures.throttling;
        let slows = self.is_hot && throttling.period_ns.is_none();
        if slows { throttling.factor } else { 1.0 }
    }

    /// Returns the first time from `at` on at which a drive that pauses while it is hot works.
    fn awake(&self, at: u64) -> u64 {
        let throttling = &self.figures.throttling;
        let Some(period) = throttling.period_ns.filter(|_| self.is_hot) else { return at };
        let works = (period as f64 * throttling.factor) as u64;
        if at % period < works { at } else { at / period * period + period }
    }

    /// Transfers `bytes` over the link; returns the end.
    fn link(&mut self, bytes: u64, is_read: bool) -> u64 {
        let lane = usize::from(is_read && !self.figures.is_half_duplex);
        let start = self.awake(self.agenda.now.max(self.link_free[lane]));
        let rate = if is_read { f64::INFINITY } else { self.rate_of_hot_writes(bytes) };
        let ns = bytes as f64 / (self.figures.link_rate * self.speed()).min(rate);
        self.link_free[lane] = start + ns as u64;
        self.bytes_linked += bytes;
        self.link_free[lane]
    }

    /// Heats the writes by `bytes`; returns the rate that throttling leaves them.
    fn rate_of_hot_writes(&mut self, bytes: u64) -> f64 {
        let Some((most, cools, share)) = self.figures.write_heat else { return f64::INFINITY };
        let (heat, at, is_hot) = &mut self.write_heat;
        let passed = self.agenda.now.saturating_sub(*at) as f64 / 1e9;
        *heat = (*heat - cools * passed).max(0.0) + bytes as f64;
        *at = self.agenda.now;
        *is_hot = *heat > if *is_hot { 0.5 * most } else { most };
        if *is_hot { share * self.figures.native() } else { f64::INFINITY }
    }

    /// Lets the next event happen; returns the command that it completes.
    pub(super) fn step(&mut self) -> Option<u32> {
        match self.agenda.take()? {
            Event::Decoded(id) => match self.commands[id as usize].direction {
                Direction::Read => self.read(id),
                Direction::Write | Direction::Flush | Direction::Trim => {
                    let end = self.link(self.commands[id as usize].length, false);
                    self.agenda.add(end, Event::Linked(id));
                }
            },
            Event::Linked(id) => {
                self.writes.push_back(id);
                self.admit();
            }
            Event::Arrived(id) => self.arrived(id),
            Event::Done(id) => {
                self.done(id);
                return Some(id);
            }
            Event::Sensed(die, lane) => self.dies.sensed(die, lane, &mut self.agenda),
            Event::LaneFree(die, lane) => {
                self.dies.lane_free(die, lane);
                self.kick(die);
            }
            Event::OpEnd(die, serial) => {
                if let Some(flush) = self.dies.op_end(die, serial, &mut self.flash) {
                    self.programmed(flush);
                }
                self.start_folding();
                self.kick(die);
            }
            Event::Kick(die) => self.kick(die),
            Event::Idle => self.idle(),
            Event::BufferIdle => self.buffer_idle(),
            Event::Tick => self.tick(),
        }
        None
    }

    fn kick(&mut self, die: u32) {
        self.dies.kick(die, &mut self.flash, &mut self.agenda);
    }

    /// Begins a read whose command is decoded: with the pages of its map that are not available.
    fn read(&mut self, id: u32) {
        let jobs = self.map_jobs(id);
        match jobs.is_empty() {
            true => self.read_data(id),
            false => self.sense(id, jobs, true),
        }
    }

    fn read_data(&mut self, id: u32) {
        let jobs = self.page_jobs(id);
        match jobs.is_empty() {
            true => self.send_data(id),
            false => self.sense(id, jobs, false),
        }
    }

    fn sense(&mut self, id: u32, jobs: Vec<(usize, Job)>, reads_map: bool) {
        let command = &mut self.commands[id as usize];
        (command.pages, command.reads_map) = (jobs.len() as u64, reads_map);
        for (die, job) in jobs {
            self.dies.reads(die, job);
            self.kick(die as u32);
        }
    }

    /// Returns reads of the map pages that are not available.
    fn map_jobs(&mut self, id: u32) -> Vec<(usize, Job)> {
        let Some(reach) = self.figures.map_reach else { return Vec::new() };
        let mut jobs = Vec::new();
        let (mut before, range) = (u64::MAX, self.commands[id as usize].range());
        for page in range {
            let segment = page * SLOT / self.figures.map_segment;
            if segment == before || self.flash.place(page) == Place::Nowhere {
                continue;
            }
            before = segment;
            self.map_reads[1] += 1;
            if self.map_at_hand[segment as usize] {
                continue;
            }
            self.map_reads[0] += 1;
            let kept = (reach / self.figures.map_segment).max(1) as usize;
            self.map_at_hand[segment as usize] = true;
            if self.map_kept.len() < kept {
                self.map_kept.push(segment as u32);
            } else {
                let place = self.random.below(kept as u64) as usize;
                let gone = std::mem::replace(&mut self.map_kept[place], segment as u32);
                self.map_at_hand[gone as usize] = false;
            }
            let mixed = segment.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
            let die = (mixed % self.figures.dies) as usize;
            let plane = (mixed / self.figures.dies % self.figures.planes) as u32;
            jobs.push((die, Job::map(id, plane, &self.figures)));
        }
        jobs
    }

    /// Returns reads of the pages of flash that hold the data of a command.
    fn page_jobs(&self, id: u32) -> Vec<(usize, Job)> {
        let mut jobs: Vec<(usize, Job)> = Vec::new();
        for page in self.commands[id as usize].range() {
            let Place::Flash { die, block, row, plane, is_slc } = self.flash.place(page) else {
                continue;
            };
            let job = Job::page(id, block, row, plane, is_slc, &self.figures);
            match jobs.iter_mut().find(|(on, known)| *on == die && known.is_with(&job)) {
                Some((_, known)) => known.bytes += SLOT,
                None => jobs.push((die, job)),
            }
        }
        jobs
    }

    fn arrived(&mut self, id: u32) {
        let command = &mut self.commands[id as usize];
        command.pages -= 1;
        match (command.pages, command.reads_map) {
            (0, true) => self.read_data(id),
            (0, false) => self.send_data(id),
            _ => {}
        }
    }

    fn send_data(&mut self, id: u32) {
        let length = self.commands[id as usize].length;
        let end = self.link(length, true) + self.figures.read_delay_ns;
        self.agenda.add(end, Event::Done(id));
    }

    fn done(&mut self, id: u32) {
        self.unused.push(id);
        self.held -= 1;
        self.last_command = self.agenda.now;
        if let Some(next) = self.waiting.pop_front() {
            self.decode(next);
        }
        if self.held == 0 {
            self.patrol();
            if !std::mem::replace(&mut self.timers[0], true) {
                self.agenda.add(self.agenda.now + self.figures.fold_delay_ns, Event::Idle);
            }
        }
    }

    /// Works between two requests, where it is time for that.
    fn patrol(&mut self) {
        let Some((every, on_die, on_controller)) = self.figures.patrol else { return };
        if self.agenda.now < self.next_patrol {
            return;
        }
        self.next_patrol = self.agenda.now + every;
        self.controller_free = self.agenda.now + on_controller;
        let die = self.random.below(self.figures.dies) as usize;
        self.dies.reads(die, Job::patrol(on_die));
        self.kick(die as u32);
    }

    fn idle(&mut self) {
        self.timers[0] = false;
        let due = self.last_command + self.figures.fold_delay_ns;
        if self.held > 0 || self.agenda.now < due {
            if self.held == 0 {
                self.timers[0] = true;
                self.agenda.add(due, Event::Idle);
            }
            return;
        }
        self.dies.is_folding = true;
        self.start_folding();
    }

    fn start_folding(&mut self) {
        while let Some(die) = self.dies.next_to_fold(&self.flash) {
            self.kick(die);
        }
    }

    /// Takes the data of waiting writes into the buffer, as far as there is one that is not flushed.
    fn admit(&mut self) {
        while let Some(id) = self.writes.front().copied() {
            let range = self.commands[id as usize].range();
            while range.start + self.commands[id as usize].pages < range.end {
                if self.flushes.len() >= self.figures.buffers {
                    return;
                }
                let page = range.start + self.commands[id as usize].pages;
                self.commands[id as usize].pages += 1;
                self.take(page);
            }
            self.writes.pop_front();
            self.agenda.add(self.agenda.now + self.figures.write_delay_ns, Event::Done(id));
        }
        self.last_write = self.agenda.now;
        if !std::mem::replace(&mut self.timers[1], true) {
            self.agenda.add(self.agenda.now + self.figures.buffer_idle_ns, Event::BufferIdle);
        }
    }

    /// Takes a page into the open buffer: stripe by stripe to the dies in their order.
    fn take(&mut self, page: u64) {
        let token = self.flash.buffer(page);
        let die = self.order[self.cursor.0];
        if self.pending[die].0.is_empty() {
            let queued = self.dies.queued_for_cache(die) * u64::from(self.flash.unit_slots(true));
            let is_slc = self.flash.takes_cache(die, queued);
            self.pending[die].1 = is_slc;
            self.dies.queue(die, is_slc);
        }
        let (pages, is_slc) = &mut self.pending[die];
        pages.push((page as u32, token));
        if pages.len() as u32 == self.flash.unit_slots(*is_slc) {
            self.complete.push((die, std::mem::take(pages), *is_slc));
        }
        self.cursor.1 += 1;
        if self.cursor.1 == self.figures.stripe_pages * self.figures.page / SLOT {
            self.next_stripe();
        }
        self.open += 1;
        if self.open * SLOT >= self.figures.buffer {
            self.flush_buffer(false);
        }
    }

    /// Goes on to the next die of the order, or to the one after it where that holds parity.
    fn next_stripe(&mut self) {
        let dies = self.order.len();
        let (place, _, rounds) = self.cursor;
        for next in [place + 1, place + 2] {
            let rounds = rounds + (next / dies) as u64;
            self.cursor = (next % dies, 0, rounds);
            // The last die first, so that a new drive begins at the first one.
            let parity = (rounds / self.figures.rounds_per_block()) as usize % dies + 1;
            if !self.figures.has_parity || next % dies != dies - parity {
                return;
            }
        }
    }

    /// Programs the buffer: all complete operations, and with `pads` the incomplete ones as well.
    fn flush_buffer(&mut self, pads: bool) {
        self.open = 0;
        if pads {
            for (die, (pages, is_slc)) in self.pending.iter_mut().enumerate() {
                if !pages.is_empty() {
                    self.complete.push((die, std::mem::take(pages), *is_slc));
                }
            }
        }
        if self.complete.is_empty() {
            return;
        }
        self.flush_number += 1;
        self.flushes.push_back((self.flush_number, self.complete.len()));
        for (die, pages, is_slc) in std::mem::take(&mut self.complete) {
            let writer = if is_slc { Writer::Cache } else { Writer::Host };
            self.dies.program(die, self.flush_number, pages, writer);
            self.kick(die as u32);
        }
    }

    fn programmed(&mut self, number: u64) {
        if let Some(flush) = self.flushes.iter_mut().find(|flush| flush.0 == number) {
            flush.1 -= 1;
        }
        let before = self.flushes.len();
        self.flushes.retain(|flush| flush.1 > 0);
        if self.flushes.len() < before && !self.writes.is_empty() {
            self.admit();
        }
    }

    fn buffer_idle(&mut self) {
        self.timers[1] = false;
        let due = self.last_write + self.figures.buffer_idle_ns;
        if self.agenda.now < due {
            self.timers[1] = true;
            self.agenda.add(due, Event::BufferIdle);
        } else if self.flushes.is_empty() {
            self.flush_buffer(true);
        } else {
            self.timers[1] = true;
            self.agenda.add(self.agenda.now + self.figures.buffer_idle_ns, Event::BufferIdle);
        }
    }

    /// Programs everything that was written, and waits for it.
    pub(super) fn flush(&mut self) {
        self.flush_buffer(true);
        while !self.flushes.is_empty() {
            self.step();
        }
    }

    fn tick(&mut self) {
        let seconds = TICK as f64 / 1e9;
        let (controller, die, byte) = POWER;
        let worked = self.dies.take_worked() as f64 / 1e9;
        let joules = die * worked + byte * std::mem::take(&mut self.bytes_linked) as f64;
        let watts = controller + joules / seconds;
        let throttling = self.figures.throttling;
        let (resistance, capacity) = throttling.thermal;
        let end = self.figures.air_c + watts * resistance;
        let share = 1.0 - (-seconds / (resistance * capacity)).exp();
        self.celsius += (end - self.celsius) * share;
        let was_hot = self.is_hot;
        self.is_hot = match was_hot {
            true => self.celsius > throttling.lower_c,
            false => self.celsius >= throttling.upper_c,
        };
        self.throttled[0] += u64::from(self.is_hot && !was_hot);
        self.throttled[1] += u64::from(was_hot);
        self.agenda.add(self.agenda.now + TICK, Event::Tick);
    }
}
