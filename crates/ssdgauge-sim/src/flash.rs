//! Dies and channels: each is represented by the time at which it is free.
//!
//! Operations are booked in the order of the calls, without an event queue: a booking costs a few
//! additions. The flash must never execute two operations on one die at a time: a read that
//! suspends programs delays them by its own length.

use crate::operations::Operations;
use crate::page_times::{PageTimes, Place};
use crate::profile::{Geometry, NandFigures, PAGE, Profile, SlcFigures};
use crate::read_retries::ReadRetries;
use crate::time::SimTime;

/// Program operations that background work leaves on a die at most. Chosen: with fewer, dies wait
/// while others are still busy; with more, a host that returns waits longer.
pub(crate) const BACKGROUND_PROGRAMS: u64 = 4;

/// All dies and channels of the drive.
#[derive(Clone, Debug)]
pub(crate) struct Flash {
    dies: Vec<Die>,
    channels: Vec<SimTime>,
    timing: FlashTiming,
    page_times: PageTimes,
    retries: ReadRetries,
    blocks: f64,
    /// Time of one repetition of a sense operation, in nanoseconds.
    retry: u64,
    suspension: Suspension,
    /// Operations booked so far.
    pub(crate) operations: Operations,
}

/// One die.
#[derive(Clone, Copy, Debug, Default)]
struct Die {
    /// When all booked operations are done.
    free: SimTime,
    /// When the last host read is done; never after `free`.
    read_free: SimTime,
    /// Length of the operation booked last, in nanoseconds.
    last: u64,
}

/// How a host read suspends a program or erase operation, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Suspension {
    /// Duration of the pulses between which an operation can be suspended; 0 at any time.
    pulse: u64,
    /// Time of the die that each suspended operation loses.
    resume: u64,
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

/// A program operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) die: u32,
    /// Pages that cross the channel.
    pub(crate) pages: u32,
    /// Whether the block is in SLC mode.
    pub(crate) slc: bool,
    /// Whether the block is erased immediately before: the first program of a block.
    pub(crate) erase: bool,
    /// Its superblock, and the number of the unit in it.
    pub(crate) superblock: u32,
    pub(crate) unit: u32,
}

/// A flash page that is sensed: its superblock, and its number in the order of the host's pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SensedPage {
    pub(crate) superblock: u32,
    pub(crate) group: u32,
    /// Whether it is in SLC mode.
    pub(crate) slc: bool,
}

impl Flash {
    /// Returns idle flash at full speed; `seed` is that of its read retries.
    pub(crate) fn new(geometry: &Geometry, profile: &Profile, seed: u64) -> Flash {
        Flash {
            dies: vec![Die::default(); geometry.dies as usize],
            channels: vec![0; geometry.channels as usize],
            timing: FlashTiming::new(&profile.nand, &profile.slc, 1.0),
            page_times: PageTimes::new(profile),
            retries: ReadRetries::new(&profile.effects, geometry.numbered(), seed),
            blocks: f64::from(geometry.numbered() * geometry.dies),
            retry: (profile.effects.read_retry_us * 1e3).round() as u64,
            suspension: Suspension {
                pulse: (profile.effects.pulse_us * 1e3).round() as u64,
                resume: (profile.effects.resume_us * 1e3).round() as u64,
            },
            operations: Operations::default(),
        }
    }

    /// Sets the speed of operations booked from this call on, as a share of full speed.
    pub(crate) fn set_speed(&mut self, nand: &NandFigures, slc: &SlcFigures, factor: f64) {
        self.timing = FlashTiming::new(nand, slc, factor);
    }

    /// Returns whether the times of any two pages differ.
    #[inline]
    pub(crate) fn pages_differ(&self) -> bool {
        self.page_times.are_different
    }

    /// Returns the time of a sense operation of `page` on `die`.
    #[inline]
    fn sense(&self, die: u32, page: SensedPage) -> u64 {
        if !self.page_times.are_different {
            return self.timing.sense;
        }
        let row = page.group / self.dies.len() as u32;
        let place = Place { superblock: page.superblock, die, row };
        self.page_times.sense(place, page.slc, self.timing.sense)
    }

    /// Books a host read at `at` of one sense operation of `page` that transfers `pages`; returns when
    /// the data is in the controller.
    #[inline]
    pub(crate) fn read(&mut self, die: u32, at: SimTime, pages: u32, page: SensedPage) -> SimTime {
        let timing = self.timing;
        // Booked at the arrival, not at the end of the sense operation: a later read on another die
        // may end earlier, and could not fill the gap before this one's transfer.
        let moved = self.transfer(die, at, pages);
        let repetitions = u64::from(match self.retries.grow() {
            true => {
                let cycles = self.operations.erases as f64 / self.blocks;
                self.retries.repetitions_at(page.superblock, die, at, cycles)
            }
            false => self.retries.repetitions(),
        });
        let length = self.sense(die, page) + repetitions * self.retry;
        let die = &mut self.dies[die as usize];
        let begin = die.read_from(at, timing.suspend, self.suspension.pulse);
        let end = begin + length;
        // A read right after another one finds the operation suspended: both cost one resumption.
        let is_suspended = timing.suspend.is_some() && die.read_free <= at && begin < die.free;
        let lost = if is_suspended { self.suspension.resume } else { 0 };
        die.read_free = end;
        // Booked operations are delayed by this read; an idle die is busy until its end.
        die.free = if die.free > at { (die.free + length + lost).max(end) } else { end };
        self.operations.senses += 1 + repetitions;
        (end + u64::from(pages) * timing.transfer_page).max(moved)
    }

    /// Books `senses` sense operations of a copy that transfers `pages` to the controller.
    ///
    /// They take the time of the die; the program operation of the copy does not wait for them,
    /// because a copy has no latency that a host sees.
    #[inline]
    pub(crate) fn copy_out(&mut self, die: u32, at: SimTime, senses: u32, pages: u32) {
        self.transfer(die, at, pages);
        let sense = self.timing.sense;
        let die = &mut self.dies[die as usize];
        die.free = die.free.max(at) + sense * u64::from(senses);
        die.last = sense;
        self.operations.senses += u64::from(senses);
    }

    /// Books a program operation at `at` and returns when it is done.
    #[inline]
    pub(crate) fn program(&mut self, program: Program, at: SimTime) -> SimTime {
        let transferred = self.transfer(program.die, at, program.pages);
        let timing = &self.timing;
        let mut length = match program.slc {
            true => timing.slc_program,
            false => timing.program,
        };
        if self.page_times.are_different {
            let row = program.unit / self.dies.len() as u32;
            let place = Place { superblock: program.superblock, die: program.die, row };
            length = self.page_times.program(place, length);
        }
        let die = &mut self.dies[program.die as usize];
        let mut begin = die.free.max(transferred);
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
        let end = die.free;
        if self.retries.grow() {
            self.retries.note_program(program.superblock, end);
        }
        end
    }

    /// Returns when `program` would be done if it were booked at `at`.
    pub(crate) fn would_program(&self, program: Program, at: SimTime) -> SimTime {
        let length = match program.slc {
            true => self.timing.slc_program,
            false => self.timing.program,
        };
        self.dies[program.die as usize].free.max(at) + length
    }

    /// Returns the time of a native program operation, or of one in SLC mode.
    pub(crate) fn program_time(&self, slc: bool) -> SimTime {
        if slc { self.timing.slc_program } else { self.timing.program }
    }

    /// Returns the time of one sense operation on an idle die that transfers `pages`.
    pub(crate) fn read_time(&self, pages: u32) -> SimTime {
        self.timing.sense + u64::from(pages) * self.timing.transfer_page
    }

    /// Returns the booked work of each die at `now`, in native program operations.
    pub(crate) fn backlog(&self, now: SimTime) -> impl Iterator<Item = f64> + '_ {
        let unit = self.timing.program.max(1) as f64;
        self.dies.iter().map(move |die| die.free.saturating_sub(now) as f64 / unit)
    }

    /// Returns when all dies are idle.
    pub(crate) fn idle_at(&self) -> SimTime {
        self.dies.iter().map(|die| die.free).max().unwrap_or(0)
    }

    /// Returns when background work may be booked: when each die has at most
    /// [`BACKGROUND_PROGRAMS`] native program operations left.
    pub(crate) fn ready_for_background_at(&self) -> SimTime {
        self.idle_at().saturating_sub(BACKGROUND_PROGRAMS * self.timing.program)
    }

    /// Books the channel of `die` for `pages`, in the order of the calls; returns the earliest time
    /// at which the data is transferred, the wait for the die not included.
    #[inline]
    fn transfer(&mut self, die: u32, at: SimTime, pages: u32) -> SimTime {
        // Neighbouring dies are on different channels: a row of program units uses all of them.
        let channel = die as usize % self.channels.len();
        let free = &mut self.channels[channel];
        *free = (*free).max(at) + u64::from(pages) * self.timing.transfer_page;
        *free
    }
}

impl Die {
    /// Returns when a host read that arrives at `at` can begin. `suspend` is the time to suspend an
    /// operation in progress, where the flash can, after the `pulse` in progress.
    #[inline]
    fn read_from(&self, at: SimTime, suspend: Option<u64>, pulse: u64) -> SimTime {
        if self.read_free > at {
            return self.read_free;
        }
        if self.free <= at {
            return at;
        }
        match suspend {
            Some(suspension) if pulse == 0 => at + suspension.min(self.free - at),
            // Pulses end with the operation: the phase follows from the time that is left.
            Some(suspension) => {
                let left = self.free - at;
                at + (left % pulse + suspension).min(left)
            }
            // The read overtakes queued operations and waits for the one in progress. That one is
            // taken to be as long as the last: exact where a die does one kind of operation.
            None => at + (self.free - at) % self.last.max(1),
        }
    }
}

impl FlashTiming {
    fn new(nand: &NandFigures, slc: &SlcFigures, factor: f64) -> FlashTiming {
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
    use crate::profile::ProfileSpec;

    fn flash(query: &str) -> Flash {
        let query = format!("tiny?nand.channel_mb_s=1e6&{query}");
        let spec = ProfileSpec::parse(&query).unwrap();
        let geometry = Geometry::from_spec(&spec).unwrap();
        Flash::new(&geometry, &spec.profile, 1)
    }

    fn program(die: u32) -> Program {
        Program { die, pages: 12, slc: false, erase: false, superblock: 1, unit: 0 }
    }

    fn read(flash: &mut Flash, die: u32, at: SimTime) -> SimTime {
        flash.read(die, at, 1, SensedPage { superblock: 1, group: 0, slc: false })
    }

    #[test]
    fn a_read_suspends_a_program_and_pushes_it_back() {
        let mut flash = flash("nand.t_prog_us=1000&nand.t_r_us=50&nand.suspend_us=20");
        let first = flash.program(program(0), 0);
        assert!((1_000_000..1_000_100).contains(&first));
        let read = read(&mut flash, 0, 100_000);
        assert!((170_000..170_100).contains(&read), "{read}");
        let second = flash.program(program(0), 100_000);
        assert!((2_050_000..2_050_200).contains(&second), "{second}");
    }

    #[test]
    fn reads_that_arrive_at_any_time_wait_evenly_for_up_to_a_pulse() {
        let mut waits: Vec<u64> = (0..1_000)
            .map(|at| {
                let text = "nand.t_prog_us=1000&nand.t_r_us=50&nand.suspend_us=20";
                let mut flash = flash(&format!("{text}&effects.pulse_us=100"));
                flash.program(program(0), 0);
                read(&mut flash, 0, at * 900) - at * 900 - 50_000
            })
            .collect();
        waits.sort_unstable();
        // Uniform from 20 to 120 us: each quantile is its share of the pulse.
        for (rank, wait) in waits.iter().enumerate() {
            let expected = 20_000.0 + 100_000.0 * (rank as f64 + 0.5) / 1_000.0;
            assert!((*wait as f64 - expected).abs() < 2_000.0, "{rank}: {wait} {expected}");
        }
    }

    #[test]
    fn a_suspended_program_loses_the_time_to_resume_it_once_for_reads_in_a_row() {
        let end = |reads: u64| {
            let text = "nand.t_prog_us=1000&nand.t_r_us=50&nand.suspend_us=20";
            let mut flash = flash(&format!("{text}&effects.resume_us=30"));
            flash.program(program(0), 0);
            (0..reads).for_each(|_| {
                read(&mut flash, 0, 100_000);
            });
            flash.program(program(0), 100_000) - 2_000_000
        };
        let [none, one, three] = [0, 1, 3].map(end);
        assert_eq!((one - none, three - none), (80_000, 180_000));
    }

    #[test]
    fn without_suspension_a_read_waits_for_the_program_in_progress_but_not_for_the_queue() {
        let mut flash = flash("nand.t_prog_us=1000&nand.t_r_us=50&nand.suspend=false");
        (0..5).for_each(|_| {
            flash.program(program(1), 0);
        });
        let read = read(&mut flash, 1, 100_000);
        assert!((1_050_000..1_051_000).contains(&read), "{read}");
    }

    #[test]
    fn reads_on_one_die_do_not_overlap_and_reads_on_another_do_not_wait() {
        let mut flash = flash("nand.t_r_us=50");
        let ends: Vec<u64> = (0..4).map(|_| read(&mut flash, 2, 0)).collect();
        assert!(ends.windows(2).all(|pair| pair[1] - pair[0] >= 50_000), "{ends:?}");
        assert!(read(&mut flash, 3, 0) < 50_100);
    }
}
