//! The dies of a drive of the second model: senses, operations, suspension and channels.

use super::agenda::{Agenda, Event};
use super::figures::{Figures, SLOT};
use super::flash::{Copies, Flash, Room, Writer};
use std::collections::VecDeque;

/// A sense of a plane, or of all planes of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    /// The command that waits for it.
    command: Option<u32>,
    page: Option<(u32, u32)>,
    lane: u32,
    ns: u64,
    pub(super) bytes: u64,
}

impl Job {
    /// Returns the sense of a page of data.
    pub(super) fn page(
        command: u32,
        block: u32,
        row: u32,
        plane: u32,
        is_slc: bool,
        figures: &Figures,
    ) -> Job {
        Job {
            command: Some(command),
            page: Some((block, row)),
            lane: if figures.planes_read_alone { plane } else { 0 },
            ns: if is_slc { figures.slc_read_ns } else { figures.read_ns },
            bytes: SLOT,
        }
    }

    /// Returns the sense of a page of the map, in cells of one bit.
    pub(super) fn map(command: u32, plane: u32, figures: &Figures) -> Job {
        let lane = if figures.planes_read_alone { plane } else { 0 };
        let ns = figures.slc_read_ns;
        Job { command: Some(command), page: None, lane, ns, bytes: SLOT }
    }

    /// Returns a read that the drive makes by itself.
    pub(super) fn patrol(ns: u64) -> Job {
        Job { command: None, page: None, lane: 0, ns, bytes: 0 }
    }

    /// Returns whether one sense serves `other` as well.
    pub(super) fn is_with(&self, other: &Job) -> bool {
        self.page.is_some() && self.page == other.page && self.lane == other.lane
    }
}

/// A program operation of data of the host.
#[derive(Clone, Debug)]
struct Program {
    flush: u64,
    pages: Vec<(u32, u32)>,
    writer: Writer,
}

#[derive(Clone, Debug)]
enum Operation {
    Program(Program, Room),
    Copy(Copies),
}

#[derive(Clone, Debug)]
struct Running {
    operation: Operation,
    /// Whether it runs, or is suspended with so much left.
    remaining: Option<u64>,
    end: u64,
    /// Since when it runs without a break: the end of the transfer, or of the last suspension.
    since: u64,
}

#[derive(Clone, Debug, Default)]
struct Die {
    reads: VecDeque<Job>,
    /// The senses of its planes; a plane that transfers holds none but is busy.
    lanes: Vec<(bool, Option<Job>)>,
    programs: VecDeque<Program>,
    /// Operations for the cache that are collected or wait.
    queued: u64,
    running: Option<Running>,
    serial: u32,
    /// A suspension lasts until then.
    ready: u64,
    /// Pages to be copied before the next write of the host.
    debt: f64,
    folds: bool,
}

/// The dies and channels of a drive.
pub(super) struct Dies {
    figures: Figures,
    dies: Vec<Die>,
    channels: Vec<u64>,
    pub(super) is_folding: bool,
    next_fold: usize,
    worked: u64,
}

impl Dies {
    pub(super) fn new(figures: &Figures) -> Dies {
        let lanes = if figures.planes_read_alone { figures.planes } else { 1 };
        let die = Die { lanes: vec![(false, None); lanes as usize], ..Die::default() };
        Dies {
            dies: vec![die; figures.dies as usize],
            channels: vec![0; figures.channels as usize],
            figures: figures.clone(),
            is_folding: false,
            next_fold: 0,
            worked: 0,
        }
    }

    /// Returns the time that dies worked since the last call, in nanoseconds.
    pub(super) fn take_worked(&mut self) -> u64 {
        std::mem::take(&mut self.worked)
    }

    pub(super) fn reads(&mut self, die: usize, job: Job) {
        self.dies[die].reads.push_back(job);
    }

    pub(super) fn program(
        &mut self,
        die: usize,
        flush: u64,
        pages: Vec<(u32, u32)>,
        writer: Writer,
    ) {
        self.dies[die].programs.push_back(Program { flush, pages, writer });
    }

    /// Counts a program operation that is being collected for `die`.
    pub(super) fn queue(&mut self, die: usize, is_slc: bool) {
        self.dies[die].queued += u64::from(is_slc);
    }

    /// Returns the program operations for the cache of `die` that have no room yet.
    pub(super) fn queued_for_cache(&self, die: usize) -> u64 {
        self.dies[die].queued
    }

    fn transfer(&mut self, die: u32, bytes: u64, now: u64) -> u64 {
        let channel = die as usize % self.channels.len();
        let start = now.max(self.channels[channel]);
        self.channels[channel] = start + (bytes as f64 / self.figures.channel_rate) as u64;
        self.channels[channel]
    }

    /// Transfers what a plane has sensed.
    pub(super) fn sensed(&mut self, die: u32, lane: u32, agenda: &mut Agenda) {
        let job = self.dies[die as usize].lanes[lane as usize].1.take();
        let Some(job) = job else { return };
        let end = self.transfer(die, job.bytes, agenda.now);
        if let Some(command) = job.command {
            agenda.add(end, Event::Arrived(command));
        }
        let free = if self.figures.has_cache_register { agenda.now } else { end };
        agenda.add(free, Event::LaneFree(die, lane));
    }

    pub(super) fn lane_free(&mut self, die: u32, lane: u32) {
        self.dies[die as usize].lanes[lane as usize].0 = false;
    }

    /// Gives `die` its next work: reads first, then what was suspended, then programs and copies.
    pub(super) fn kick(&mut self, number: u32, flash: &mut Flash, agenda: &mut Agenda) {
        let die = &mut self.dies[number as usize];
        if agenda.now < die.ready {
            return;
        }
        let is_running = die.running.as_ref().is_some_and(|running| running.remaining.is_none());
        if !die.reads.is_empty() {
            match is_running {
                true => self.suspend(number, agenda),
                false => self.sense(number, agenda),
            }
            return;
        }
        if is_running || die.lanes.iter().any(|lane| lane.0) {
            return;
        }
        match die.running.as_mut() {
            Some(running) => {
                let pause = self.figures.suspension.map_or(0, |suspension| suspension.ns);
                running.since = agenda.now + pause;
                running.end = running.since + running.remaining.take().unwrap_or(0);
                agenda.add(running.end, Event::OpEnd(number, die.serial));
            }
            None => self.start(number, flash, agenda),
        }
    }

    /// Suspends the operation of `die`, as soon as it has run for long enough.
    fn suspend(&mut self, number: u32, agenda: &mut Agenda) {
        let Some(suspension) = self.figures.suspension else { return };
        let die = &mut self.dies[number as usize];
        let Some(running) = die.running.as_mut() else { return };
        let earliest = running.since + suspension.least_run_ns;
        if agenda.now < earliest {
            if earliest < running.end {
                agenda.add(earliest, Event::Kick(number));
            }
        } else if agenda.now + suspension.ns < running.end {
            running.remaining = Some(running.end - agenda.now);
            die.serial += 1;
            die.ready = agenda.now + suspension.ns;
            agenda.add(die.ready, Event::Kick(number));
        }
    }

    /// Senses as many waiting pages as there are free planes.
    fn sense(&mut self, number: u32, agenda: &mut Agenda) {
        let die = &mut self.dies[number as usize];
        let mut place = 0;
        while place < die.reads.len() {
            let lane = die.reads[place].lane as usize;
            if die.lanes[lane].0 {
                place += 1;
                continue;
            }
            if let Some(job) = die.reads.remove(place) {
                die.lanes[lane] = (true, Some(job));
                self.worked += job.ns;
                agenda.add(agenda.now + job.ns, Event::Sensed(number, lane as u32));
            }
        }
    }

    /// Starts the next program or copy of an idle die.
    fn start(&mut self, number: u32, flash: &mut Flash, agenda: &mut Agenda) {
        let Some(operation) = self.next(number, flash) else { return };
        let figures = &self.figures;
        let (bytes, erases, ns) = match &operation {
            Operation::Program(program, room) => match program.writer {
                Writer::Cache => {
                    (figures.unit() / figures.bits, room.erases, figures.slc_program_ns)
                }
                Writer::Host | Writer::Copies => (figures.unit(), room.erases, figures.program_ns),
            },
            Operation::Copy(copies) => {
                let [native, cached] = copies.senses;
                let senses = native * figures.read_ns + cached * figures.slc_read_ns;
                let program = if copies.pages() > 0 { figures.program_ns } else { 0 };
                (0, copies.erases(), senses + program)
            }
        };
        let ns = ns + if erases { figures.erase_ns } else { 0 };
        let since = if bytes > 0 { self.transfer(number, bytes, agenda.now) } else { agenda.now };
        self.worked += ns;
        let die = &mut self.dies[number as usize];
        die.serial += 1;
        die.running = Some(Running { operation, remaining: None, end: since + ns, since });
        agenda.add(since + ns, Event::OpEnd(number, die.serial));
    }

    fn next(&mut self, number: u32, flash: &mut Flash) -> Option<Operation> {
        let at = number as usize;
        let unit = f64::from(flash.unit_slots(false));
        if let Some(program) = self.dies[at].programs.front() {
            let writer = program.writer;
            let folds = flash.is_cached(at)
                && (writer == Writer::Cache || flash.available(at) <= self.figures.reserve);
            let owes = self.dies[at].debt >= unit;
            if owes {
                match flash.copies(at, folds) {
                    Some(copies) => return Some(self.copy(at, copies)),
                    None => self.dies[at].debt = 0.0,
                }
            }
            let mut room = flash.room(at, writer);
            if room.is_none() {
                if let Some(copies) = flash.copies(at, folds) {
                    return Some(self.copy(at, copies));
                }
                // The cache has no block left to empty, and the drive none to give.
                room = flash.room(at, Writer::Host);
                self.dies[at].programs.front_mut()?.writer = Writer::Host;
            }
            let room = room.expect("a drive with spare area finds room for a write");
            let program = self.dies[at].programs.pop_front()?;
            self.dies[at].queued -= u64::from(writer == Writer::Cache);
            self.pace(at, program.writer, flash);
            return Some(Operation::Program(program, room));
        }
        if self.is_folding && self.dies[at].folds {
            if flash.is_cached(at)
                && let Some(copies) = flash.copies(at, true)
            {
                return Some(self.copy(at, copies));
            }
            self.dies[at].folds = false;
        }
        None
    }

    fn copy(&mut self, die: usize, copies: Copies) -> Operation {
        self.dies[die].debt -= copies.pages() as f64;
        Operation::Copy(copies)
    }

    /// Counts what has to be copied for a program of the host: as much as it takes of what is kept free.
    fn pace(&mut self, die: usize, writer: Writer, flash: &mut Flash) {
        let figures = &self.figures;
        match writer {
            Writer::Cache => {
                let kept = figures.watermark * figures.block_slots() / figures.bits;
                let unit = f64::from(flash.unit_slots(true));
                let is_low = figures.is_through && flash.cache_room(die) <= kept;
                self.dies[die].debt = if is_low { self.dies[die].debt + unit } else { 0.0 };
            }
            Writer::Host | Writer::Copies if flash.available(die) <= figures.reserve => {
                let share = match flash.is_cached(die) {
                    true => 1.0 / figures.bits as f64,
                    false => flash.valid_share(die).min(0.99),
                };
                let unit = f64::from(flash.unit_slots(false));
                self.dies[die].debt += unit * share / (1.0 - share);
            }
            Writer::Host | Writer::Copies => self.dies[die].debt = 0.0,
        }
    }

    /// Ends the operation of a die; returns the flush that it was part of.
    pub(super) fn op_end(&mut self, number: u32, serial: u32, flash: &mut Flash) -> Option<u64> {
        let die = &mut self.dies[number as usize];
        if die.serial != serial {
            return None;
        }
        match die.running.take()?.operation {
            Operation::Program(program, room) => {
                flash.commit(room.first, &program.pages, program.writer == Writer::Cache);
                Some(program.flush)
            }
            Operation::Copy(copies) => {
                flash.finish(&copies);
                // In a rest, the next die has its turn after each block.
                die.folds &= copies.pages() > 0 && !copies.ends_block();
                None
            }
        }
    }

    /// Returns a die that begins to fold in a rest, where there are fewer than may.
    pub(super) fn next_to_fold(&mut self, flash: &Flash) -> Option<u32> {
        let active = self.dies.iter().filter(|die| die.folds).count();
        if !self.is_folding || active >= self.figures.fold_dies {
            return None;
        }
        for _ in 0..self.dies.len() {
            let number = self.next_fold;
            self.next_fold = (number + 1) % self.dies.len();
            if !self.dies[number].folds && flash.is_cached(number) {
                self.dies[number].folds = true;
                return Some(number as u32);
            }
        }
        None
    }

    /// Ends folding in a rest; operations that run are completed.
    pub(super) fn stop_folding(&mut self) {
        if std::mem::take(&mut self.is_folding) {
            self.dies.iter_mut().for_each(|die| die.folds = false);
        }
    }
}
