//! Effects that stop the controller, or end what it has prepared, before it processes a command.
//!
//! They must never let a drive that has none of them differ by a nanosecond.

use crate::host_interface::HostInterface;
use crate::operations::Operations;
use crate::profile::Profile;
use crate::time::SimTime;
use ssdgauge_core::Direction;

/// The effects of a drive, with their state.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    /// Whether any of them is on.
    pub(crate) is_on: bool,
    write_ends_read_ahead: bool,
    direction_change: SimTime,
    sync_write: SimTime,
    journal: Option<Journal>,
    housekeeping: Option<Housekeeping>,
    /// Controller time of each page that is copied while the host writes.
    copy: SimTime,
    /// Whether a read waits until the write buffer is empty.
    read_flushes_buffer: bool,
    recalibration: Option<Recalibration>,
    last_direction: Option<Direction>,
    /// Whether the writes that follow are synchronous.
    is_sync: bool,
}

/// The map is written to flash each time so much was programmed.
#[derive(Clone, Debug)]
struct Journal {
    every: u64,
    duration: SimTime,
    /// Bytes of a native program operation, and of one in SLC mode.
    unit: [u64; 2],
    next_at: u64,
}

/// The controller does work of its own at equal intervals.
#[derive(Clone, Debug)]
struct Housekeeping {
    every: SimTime,
    duration: SimTime,
    next: SimTime,
}

/// The read thresholds are calibrated each time the temperature has changed by so much.
#[derive(Clone, Debug)]
struct Recalibration {
    every_k: f64,
    duration: SimTime,
    /// The body temperature of the last calibration, in degrees Celsius.
    calibrated_c: f64,
}

impl Effects {
    /// Returns the effects of a drive that was never written.
    pub(crate) fn new(profile: &Profile) -> Effects {
        let figures = &profile.effects;
        let ns = |us: f64| (us * 1e3).round() as SimTime;
        let unit = u64::from(profile.nand.program_kib) << 10;
        let every = (figures.journal_every_mib * f64::from(1u32 << 20)) as u64;
        let journal = (every > 0).then(|| Journal {
            every,
            duration: ns(figures.journal_ms * 1e3),
            unit: [unit, unit / u64::from(profile.nand.bits.max(1))],
            next_at: every,
        });
        let every = ns(figures.housekeeping_every_ms * 1e3);
        let housekeeping = (every > 0).then(|| Housekeeping {
            every,
            duration: ns(figures.housekeeping_us),
            next: every,
        });
        Effects {
            // What precedes a command. Copies, emptied buffers and calibrations have checks of
            // their own, at the places where they occur.
            is_on: figures.write_ends_read_ahead
                || figures.direction_change_us > 0.0
                || figures.sync_write_us > 0.0
                || journal.is_some()
                || housekeeping.is_some(),
            write_ends_read_ahead: figures.write_ends_read_ahead,
            direction_change: ns(figures.direction_change_us),
            sync_write: ns(figures.sync_write_us),
            journal,
            housekeeping,
            copy: ns(figures.copy_us),
            read_flushes_buffer: figures.read_flushes_buffer,
            recalibration: (figures.recalibrate_k > 0.0).then(|| Recalibration {
                every_k: figures.recalibrate_k,
                duration: ns(figures.recalibrate_ms * 1e3),
                // Thermal equilibrium at idle power, in which a drive is created: warming up from
                // it counts.
                calibrated_c: profile.thermal.ambient_c
                    + profile.thermal.r_c_per_w * profile.power.idle_w,
            }),
            last_direction: None,
            is_sync: false,
        }
    }

    /// Sets whether the writes that follow are synchronous.
    pub(crate) fn set_sync(&mut self, is_sync: bool) {
        self.is_sync = is_sync;
    }

    /// Applies the effects to a command in `direction` that is processed next, not before `now`, on a
    /// drive that has done `flash`.
    // Not inlined: few drives have effects.
    #[cold]
    #[inline(never)]
    pub(crate) fn apply(
        &mut self,
        now: SimTime,
        direction: Direction,
        flash: Operations,
        interface: &mut HostInterface,
    ) {
        if let Some(housekeeping) = &mut self.housekeeping
            && let Some(at) = housekeeping.due(now)
        {
            // From its start, not from `now`: a command that arrives late in the interruption waits
            // for the rest of it only, and one that arrives after its end does not wait.
            interface.occupy(at, housekeeping.duration);
        }
        if let Some(journal) = &mut self.journal
            && journal.is_due(flash)
        {
            interface.occupy(now, journal.duration);
        }
        if self.last_direction.replace(direction).is_some_and(|last| last != direction) {
            interface.occupy(now, self.direction_change);
        }
        if direction == Direction::Write {
            if self.write_ends_read_ahead {
                interface.end_read_ahead();
            }
            if self.is_sync {
                interface.occupy(now, self.sync_write);
            }
        }
    }

    /// Returns whether a read waits until the write buffer is empty.
    #[inline]
    pub(crate) fn reads_flush_buffer(&self) -> bool {
        self.read_flushes_buffer
    }

    /// Stops the controller from `now` on where the body temperature, now `body_c`, asks for a
    /// calibration of the read thresholds.
    pub(crate) fn recalibrate(&mut self, now: SimTime, body_c: f64, interface: &mut HostInterface) {
        if let Some(recalibration) = &mut self.recalibration
            && recalibration.is_due(body_c)
        {
            interface.occupy(now, recalibration.duration);
        }
    }

    /// Returns whether the controller is occupied by each page that is copied.
    #[inline]
    pub(crate) fn has_copy_time(&self) -> bool {
        self.copy > 0
    }

    /// Occupies the controller by the copies of `pages` that a write at `at` brought about.
    // Not inlined: few drives have effects.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_copies(&self, at: SimTime, pages: u64, interface: &mut HostInterface) {
        if pages > 0 {
            interface.occupy(at, pages * self.copy);
        }
    }
}

impl Journal {
    /// Returns whether enough was programmed since the last write of the map. Flash pages count, not
    /// those of the host: collection moves entries of the map too.
    fn is_due(&mut self, flash: Operations) -> bool {
        let programmed = flash.programs * self.unit[0] + flash.slc_programs * self.unit[1];
        let is_due = programmed >= self.next_at;
        if is_due {
            // One write of the map covers every interval that was completed since the last command.
            self.next_at = programmed - programmed % self.every + self.every;
        }
        is_due
    }
}

impl Recalibration {
    /// Returns whether the temperature has changed by enough since the last calibration, which then is
    /// that at `body_c`.
    fn is_due(&mut self, body_c: f64) -> bool {
        let is_due = (body_c - self.calibrated_c).abs() >= self.every_k;
        if is_due {
            self.calibrated_c = body_c;
        }
        is_due
    }
}

impl Housekeeping {
    /// Returns when the last interruption up to `now` began that was not applied yet.
    fn due(&mut self, now: SimTime) -> Option<SimTime> {
        if now < self.next {
            return None;
        }
        // Interruptions of an idle time are over. Only the last one can still hold up a command.
        let at = now - now % self.every;
        self.next = at + self.every;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_is_due_once_in_each_interval() {
        let mut work = Housekeeping { every: 100, duration: 5, next: 100 };
        let due: Vec<Option<SimTime>> =
            [99, 100, 101, 199, 205, 950, 951].into_iter().map(|now| work.due(now)).collect();
        assert_eq!(due, [None, Some(100), None, None, Some(200), Some(900), None]);
    }

    #[test]
    fn the_map_is_written_once_for_so_much_programmed_flash() {
        let mut journal = Journal { every: 100, duration: 5, unit: [40, 10], next_at: 100 };
        let programs =
            |programs, slc_programs| Operations { programs, slc_programs, ..Default::default() };
        let due: Vec<bool> = [(2, 0), (2, 2), (2, 3), (4, 3), (30, 0), (30, 0)]
            .into_iter()
            .map(|(native, slc)| journal.is_due(programs(native, slc)))
            .collect();
        assert_eq!(due, [false, true, false, false, true, false]);
    }
}
