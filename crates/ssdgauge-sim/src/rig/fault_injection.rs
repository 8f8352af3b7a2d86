//! Fault injection: errors in an address range, a stall, the disappearance of the drive, writes that
//! are dropped, bits that are changed, flushes that fail, and a cut of the power.
//!
//! Faults must never change the state of the drive, only completions and contents; a write that is
//! dropped changes nothing at all.

use crate::drive::Damage;
use crate::profile::FaultFigures;
use crate::time::SimTime;
use ssdgauge_core::{Direction, Request};
use std::ops::Range;

/// The injected faults of a drive.
#[derive(Clone, Debug)]
pub(crate) struct InjectedFaults {
    /// Bytes in which requests fail.
    errors: Option<Range<u64>>,
    /// Whether reads fail there, and whether writes do.
    error_on: [bool; 2],
    stall: Option<Range<SimTime>>,
    gone_at: Option<SimTime>,
    /// From when data is dropped, and from when it is changed; `SimTime::MAX` for never.
    drop_at: SimTime,
    flip_at: SimTime,
    /// From when a write is not an ordinary one.
    damage_at: SimTime,
    /// Whether every flush fails.
    pub(crate) flush_fails: bool,
}

impl InjectedFaults {
    /// Returns the faults that `figures` describe.
    pub(crate) fn new(figures: &FaultFigures) -> InjectedFaults {
        let time = |s: f64| (s * 1e9) as SimTime;
        let from = |s: f64| if s >= 0.0 { time(s) } else { SimTime::MAX };
        let error_at = figures.error_at;
        let stall_at = figures.stall_at_s;
        let (drop_at, flip_at) = (from(figures.drop_at_s), from(figures.flip_at_s));
        // Before a cut of the power, every write may be lost, so each is noted from the first one
        // on.
        let damage_at = figures.power_cut().map_or(drop_at.min(flip_at), |_| 0);
        InjectedFaults {
            errors: (error_at >= 0.0)
                .then_some(error_at as u64..(error_at + figures.error_bytes) as u64),
            error_on: [figures.error_reads, figures.error_writes],
            stall: (stall_at >= 0.0).then(|| time(stall_at)..time(stall_at + figures.stall_for_s)),
            gone_at: (figures.gone_at_s >= 0.0).then(|| time(figures.gone_at_s)),
            drop_at,
            flip_at,
            damage_at,
            flush_fails: figures.flush_fails,
        }
    }

    /// Returns whether no fault is injected into reads and writes.
    pub(crate) fn are_none(&self) -> bool {
        let never = self.damage_at == SimTime::MAX;
        never && self.errors.is_none() && self.stall.is_none() && self.gone_at.is_none()
    }

    /// Returns whether a request of `bytes` fails.
    #[inline]
    pub(crate) fn fails(&self, request: Request, bytes: u64) -> bool {
        if request.direction == Direction::Flush {
            return self.flush_fails;
        }
        self.errors.as_ref().is_some_and(|range| {
            self.error_on[request.direction.side()]
                && request.offset < range.end
                && request.offset + bytes > range.start
        })
    }

    /// Returns what happens to the data of a request that is submitted at `now`.
    #[inline]
    pub(crate) fn damage(&self, request: Request, now: SimTime) -> Option<Damage> {
        if now < self.damage_at || request.direction != Direction::Write {
            return None;
        }
        Some(match (now >= self.drop_at, now >= self.flip_at) {
            (true, _) => Damage::Dropped,
            (false, true) => Damage::Flipped,
            (false, false) => Damage::Losable,
        })
    }

    /// Returns when a completion due at `end` arrives: at the end of the stall it falls into.
    #[inline]
    pub(crate) fn delay(&self, end: SimTime) -> SimTime {
        match &self.stall {
            Some(stall) if stall.contains(&end) => stall.end,
            Some(_) | None => end,
        }
    }

    /// Returns when the drive disappears.
    pub(crate) fn gone_at(&self) -> Option<SimTime> {
        self.gone_at
    }

    /// Returns whether the drive has disappeared by `now`.
    pub(crate) fn is_gone(&self, now: SimTime) -> bool {
        self.gone_at.is_some_and(|gone| now >= gone)
    }
}
