//! A virtual drive that serves the commands of another program, one at a time.
//!
//! The caller owns the clock: it states when each command arrives and delivers the reply at the
//! time that is returned. The drive must never complete a command before it arrived. As in a run, a
//! request that fails by an injected fault takes the time and the flash operations of one that does
//! not.

use super::VirtualRig;
use crate::drive::Damage;
use crate::ftl::GroundTruth;
use crate::profile::PAGE;
use crate::time::SimTime;
use ssdgauge_core::{Bytes, Data, Direction, DriveInfo, Nanos, Request, Rig};

/// A command of a host. `Write` and `WriteZeroes` have `sync` where the data has to outlive a loss
/// of power before the command completes (NVMe: forced unit access).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedCommand {
    /// Reads a range.
    Read,
    /// Writes a range.
    Write {
        /// Forced unit access.
        sync: bool,
    },
    /// Overwrites a range with zeros.
    WriteZeroes {
        /// Forced unit access.
        sync: bool,
        /// Whether the range may be deallocated instead of written.
        may_deallocate: bool,
    },
    /// Deallocates a range.
    Trim,
    /// Makes everything that was written before durable; its range is not used.
    Flush,
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedOutcome {
    /// It was carried out.
    Done,
    /// It was acknowledged and its data dropped, by an injected fault.
    Dropped,
    /// It was carried out, and one bit of its data is stored changed, by an injected fault.
    Flipped,
    /// It failed, by an injected fault: its data is not stored.
    Failed,
}

/// The completion of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedCompletion {
    /// When it is due, from the creation of the drive.
    pub at: Nanos,
    /// Its outcome.
    pub outcome: ServedOutcome,
}

/// A virtual drive that serves single commands.
#[derive(Clone, Debug)]
pub struct ServedDrive {
    rig: VirtualRig,
    /// When the current second ends: power and temperature advance once a second, as in a run.
    second_end: SimTime,
}

impl ServedDrive {
    /// Takes over a drive that has carried out no step. Its time begins at 0.
    pub fn new(mut rig: VirtualRig) -> ServedDrive {
        assert_eq!(rig.now, 0, "the drive has carried out no step");
        // The host decides how many commands it keeps in flight.
        rig.drive.begin_step(usize::MAX);
        ServedDrive { rig, second_end: Nanos::SECOND.0 }
    }

    /// Returns identity and geometry of the drive.
    pub fn info(&self) -> &DriveInfo {
        self.rig.drive()
    }

    /// Returns whether the drive has a write cache that loses its data with the power.
    pub fn has_volatile_cache(&self) -> bool {
        !self.rig.spec.profile.host_interface.buffer_is_safe
    }

    /// Returns the ground truth since the drive was created.
    pub fn ground_truth(&self) -> GroundTruth {
        self.rig.ground_truth()
    }

    /// Returns whether the page of 4 KiB at `offset`, which lies within the capacity, is mapped: written, and not
    /// deallocated since. A drive that writes in place maps all of them.
    pub fn holds(&self, offset: Bytes) -> bool {
        self.rig.drive.ftl.holds((offset.0 / PAGE) as u32)
    }

    /// Ends the time of the drive at `now`; returns its ground truth and its energy in joules, both
    /// since its creation.
    pub fn end(mut self, now: Nanos) -> (GroundTruth, f64) {
        self.advance(now);
        let drive = &mut self.rig.drive;
        drive.idle_until(now.0);
        drive.advance_power_thermal(now.0);
        (drive.ftl.media.truth, drive.power_thermal.energy_j())
    }

    /// Lets the time up to `now` pass: to be called about once a second, so that the idle time of
    /// hours is not caught up on at the next command.
    pub fn advance(&mut self, now: Nanos) {
        while self.second_end <= now.0 {
            self.rig.drive.idle_until(self.second_end);
            self.rig.drive.advance_power_thermal(self.second_end);
            self.second_end += Nanos::SECOND.0;
        }
    }

    /// Submits `command` for the range of `length` bytes from `offset` at `now`, which must not be
    /// before an earlier command. The range must not be empty, except for a flush, and must lie within
    /// the capacity.
    pub fn submit(
        &mut self,
        now: Nanos,
        command: ServedCommand,
        offset: Bytes,
        length: Bytes,
    ) -> ServedCompletion {
        let is_flush = command == ServedCommand::Flush;
        let end = offset.0.checked_add(length.0);
        assert!(
            is_flush || (length.0 > 0 && end.is_some_and(|end| end <= self.rig.info.capacity.0)),
            "the range lies within the drive"
        );
        self.advance(now);
        let failed =
            |at: SimTime| ServedCompletion { at: Nanos(at), outcome: ServedOutcome::Failed };
        if self.rig.faults.is_gone(now.0) {
            return failed(now.0);
        }
        self.rig.drive.end_idle(now.0);
        // What a client writes is not looked at.
        self.rig.drive.ftl.set_data(match command {
            ServedCommand::WriteZeroes { .. } => Data::Zeros,
            ServedCommand::Read
            | ServedCommand::Write { .. }
            | ServedCommand::Trim
            | ServedCommand::Flush => Data::Incompressible,
        });
        let sync = match command {
            ServedCommand::Write { sync } | ServedCommand::WriteZeroes { sync, .. } => sync,
            ServedCommand::Read | ServedCommand::Trim | ServedCommand::Flush => false,
        };
        // Always: no load states beforehand whether any of its commands is synchronous.
        self.rig.drive.constrain(now.0, sync);
        let (done, outcome) = match command {
            ServedCommand::Read => self.transfer(now.0, Direction::Read, offset.0, length.0),
            ServedCommand::Write { .. }
            | ServedCommand::WriteZeroes { may_deallocate: false, .. } => {
                self.transfer(now.0, Direction::Write, offset.0, length.0)
            }
            ServedCommand::WriteZeroes { may_deallocate: true, .. } | ServedCommand::Trim => {
                (self.deallocate(now.0, offset.0, length.0), ServedOutcome::Done)
            }
            ServedCommand::Flush => match self.rig.faults.flush_fails {
                true => (now.0, ServedOutcome::Failed),
                false => (self.rig.drive.flush(now.0), ServedOutcome::Done),
            },
        };
        let at = self.rig.faults.delay(done);
        match self.rig.faults.gone_at() {
            Some(gone) if at >= gone => failed(gone),
            Some(_) | None => ServedCompletion { at: Nanos(at), outcome },
        }
    }

    /// Reads or writes a range; returns when it is completed, and its outcome.
    fn transfer(
        &mut self,
        now: SimTime,
        direction: Direction,
        offset: u64,
        length: u64,
    ) -> (SimTime, ServedOutcome) {
        let VirtualRig { drive, faults, .. } = &mut self.rig;
        let request = Request { direction, length: length as u32, offset };
        let damage = faults.damage(request, now);
        let done = match damage {
            None => drive.submit(now, request, length),
            Some(damage) => drive.damage_write(now, request, length, damage),
        };
        let outcome = match (faults.fails(request, length), damage) {
            (true, _) => ServedOutcome::Failed,
            (false, Some(Damage::Dropped)) => ServedOutcome::Dropped,
            (false, Some(Damage::Flipped)) => ServedOutcome::Flipped,
            (false, Some(Damage::Losable) | None) => ServedOutcome::Done,
        };
        (done, outcome)
    }

    /// Deallocates the whole pages of a range; returns when the command is completed.
    fn deallocate(&mut self, now: SimTime, offset: u64, length: u64) -> SimTime {
        let done = self.rig.drive.trim(now, offset, length);
        // A served drive has no steps, at whose end the map would be checked.
        self.rig.drive.ftl.verify();
        done
    }
}
