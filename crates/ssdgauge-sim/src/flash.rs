//! Dies and channels: each is a moment at which it is free again.
//!
//! Work is booked where it falls, without an event queue. The flash must never do two things on
//! one die at a time: a read that overtakes programs pushes them back by its own length.

use crate::profile::{Geometry, PAGE};
use crate::profile::{NandFigures, SlcFigures};

/// A moment in nanoseconds since the birth of the drive.
pub(crate) type Moment = u64;

/// All dies and channels of the drive.
#[derive(Clone, Debug)]
pub(crate) struct Flash {
    dies: Vec<Die>,
    channels: Vec<Moment>,
    timing: FlashTiming,
    /// What was done so far.
    pub(crate) operations: Operations,
}

/// One die.
#[derive(Clone, Copy, Debug, Default)]
struct Die {
    /// When all booked work is done.
    free: Moment,
    /// When the last read of the host is done; never after `free`.
    read_free: Moment,
    /// How long the operation booked last takes.
    last: u64,
}

/// The durations of flash operations in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct FlashTiming {
    sense: u64,
    program: u64,
    slc_program: u64,
    erase: u64,
    suspend: Option<u64>,
    transfer_page: u64,
}

/// Counts of flash operations: what energy and truth are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Sense operations, of host reads and of copies.
    pub senses: u64,
    /// Program operations in native cells.
    pub programs: u64,
    /// Program operations in SLC mode.
    pub slc_programs: u64,
    /// Erased blocks, one for each die of a superblock.
    pub erases: u64,
}

/// What a program operation is like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) die: u32,
    pub(crate) pages: u32,
    pub(crate) slc: bool,
    /// Whether the block is erased just before: the first program of a block.
    pub(crate) erase: bool,
}

impl Flash {
    pub(crate) fn new(geometry: &Geometry, nand: &NandFigures, slc: &SlcFigures) -> Flash {
        Flash {
            dies: vec![Die::default(); geometry.dies as usize],
            channels: vec![0; geometry.channels as usize],
            timing: FlashTiming::of(nand, slc, 1.0),
            operations: Operations::default(),
        }
    }

    /// Makes the flash slower or faster from now on.
    pub(crate) fn set_factor(&mut self, nand: &NandFigures, slc: &SlcFigures, factor: f64) {
        self.timing = FlashTiming::of(nand, slc, factor);
    }

    /// Books a read of the host at `at` that takes one sense operation and moves `pages`;
    /// returns when the data is in the controller.
    #[inline]
    pub(crate) fn read(&mut self, die: u32, at: Moment, pages: u32) -> Moment {
        let timing = self.timing;
        let moved = self.transfer(die, at, pages);
        let die = &mut self.dies[die as usize];
        let begin = die.read_from(at, timing.suspend);
        let end = begin + timing.sense;
        die.read_free = end;
        // What was booked is done later by this read; an idle die is busy until its end.
        die.free = if die.free > at { (die.free + timing.sense).max(end) } else { end };
        self.operations.senses += 1;
        (end + u64::from(pages) * timing.transfer_page).max(moved)
    }

    /// Books `senses` sense operations of a copy that moves `pages` to the controller.
    #[inline]
    pub(crate) fn copy_out(&mut self, die: u32, at: Moment, senses: u32, pages: u32) {
        self.transfer(die, at, pages);
        let sense = self.timing.sense;
        let die = &mut self.dies[die as usize];
        die.free = die.free.max(at) + sense * u64::from(senses);
        die.last = sense;
        self.operations.senses += u64::from(senses);
    }

    /// Books a program operation and returns when it is done.
    #[inline]
    pub(crate) fn program(&mut self, program: Program, at: Moment) -> Moment {
        let there = self.transfer(program.die, at, program.pages);
        let timing = &self.timing;
        let die = &mut self.dies[program.die as usize];
        let length = match program.slc {
            true => timing.slc_program,
            false => timing.program,
        };
        let mut begin = die.free.max(there);
        if program.erase {
            begin += timing.erase;
            self.operations.erases += 1;
        }
        match program.slc {
            true => self.operations.slc_programs += 1,
            false => self.operations.programs += 1,
        }
        die.free = begin + length;
        die.last = length;
        die.free
    }

    /// Returns when a program operation would be done that were booked at `at`.
    pub(crate) fn would_program(&self, program: Program, at: Moment) -> Moment {
        let length = match program.slc {
            true => self.timing.slc_program,
            false => self.timing.program,
        };
        self.dies[program.die as usize].free.max(at) + length
    }

    /// Returns how many program operations each die still has to do at `now`.
    pub(crate) fn backlog(&self, now: Moment) -> impl Iterator<Item = f64> + '_ {
        let unit = self.timing.program.max(1) as f64;
        self.dies.iter().map(move |die| die.free.saturating_sub(now) as f64 / unit)
    }

    /// Returns when all dies are idle.
    pub(crate) fn idle_at(&self) -> Moment {
        self.dies.iter().map(|die| die.free).max().unwrap_or(0)
    }

    /// Takes a channel's time in the order of booking: the moment is the earliest at which it has
    /// moved the data, its own wait for the die not counted.
    #[inline]
    fn transfer(&mut self, die: u32, at: Moment, pages: u32) -> Moment {
        let channel = die as usize % self.channels.len();
        let free = &mut self.channels[channel];
        *free = (*free).max(at) + u64::from(pages) * self.timing.transfer_page;
        *free
    }
}

impl Die {
    /// Returns when a read that arrives at `at` can begin.
    #[inline]
    fn read_from(&self, at: Moment, suspend: Option<u64>) -> Moment {
        if self.read_free > at {
            return self.read_free;
        }
        if self.free <= at {
            return at;
        }
        match suspend {
            Some(pause) => at + pause.min(self.free - at),
            // Reads go before queued programs, and wait for the one at work.
            None => at + (self.free - at) % self.last.max(1),
        }
    }
}

impl FlashTiming {
    fn of(nand: &NandFigures, slc: &SlcFigures, factor: f64) -> FlashTiming {
        let ns = |us: f64| (us * 1e3 / factor).round() as u64;
        FlashTiming {
            sense: ns(nand.t_r_us),
            program: ns(nand.t_prog_us),
            slc_program: ns(slc.t_prog_us),
            erase: ns(nand.t_bers_us),
            suspend: nand.suspend.then(|| ns(nand.suspend_us)),
            transfer_page: (PAGE as f64 * 1e3 / nand.channel_mb_s / factor).round() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile;

    fn flash(query: &str) -> Flash {
        let order = profile::order(&format!("tiny?nand.channel_mb_s=1e6&{query}")).unwrap();
        let geometry = Geometry::of(&order).unwrap();
        Flash::new(&geometry, &order.profile.nand, &order.profile.slc)
    }

    fn program(die: u32) -> Program {
        Program { die, pages: 12, slc: false, erase: false }
    }

    #[test]
    fn a_read_suspends_a_program_and_pushes_it_back() {
        let mut flash = flash("nand.t_prog_us=1000&nand.t_r_us=50&nand.suspend_us=20");
        let first = flash.program(program(0), 0);
        assert!((1_000_000..1_000_100).contains(&first));
        let read = flash.read(0, 100_000, 1);
        assert!((170_000..170_100).contains(&read), "{read}");
        let second = flash.program(program(0), 100_000);
        assert!((2_050_000..2_050_200).contains(&second), "{second}");
    }

    #[test]
    fn without_suspension_a_read_waits_for_the_program_at_work_but_not_for_the_queue() {
        let mut flash = flash("nand.t_prog_us=1000&nand.t_r_us=50&nand.suspend=false");
        (0..5).for_each(|_| {
            flash.program(program(1), 0);
        });
        let read = flash.read(1, 100_000, 1);
        assert!((1_050_000..1_051_000).contains(&read), "{read}");
    }

    #[test]
    fn reads_of_one_die_never_overlap_and_others_do_not_wait() {
        let mut flash = flash("nand.t_r_us=50");
        let ends: Vec<u64> = (0..4).map(|_| flash.read(2, 0, 1)).collect();
        assert!(ends.windows(2).all(|pair| pair[1] - pair[0] >= 50_000), "{ends:?}");
        assert!(flash.read(3, 0, 1) < 50_100);
    }
}
