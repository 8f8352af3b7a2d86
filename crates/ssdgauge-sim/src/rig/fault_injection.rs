//! Fault injection: errors in an address range, a stall, the disappearance of the drive, writes that
//! are dropped, and flushes that fail.
//!
//! Faults must never change the state of the drive, only completions; a write that is dropped changes
//! nothing at all.

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
    drop_at: Option<SimTime>,
    /// Whether every flush fails.
    pub(crate) flush_fails: bool,
}

impl InjectedFaults {
    /// Returns the faults that `figures` describe.
    pub(crate) fn new(figures: &FaultFigures) -> InjectedFaults {
        let time = |s: f64| (s * 1e9) as SimTime;
        let error_at = figures.error_at;
        let stall_at = figures.stall_at_s;
        InjectedFaults {
            errors: (error_at >= 0.0)
                .then_some(error_at as u64..(error_at + figures.error_bytes) as u64),
            error_on: [figures.error_reads, figures.error_writes],
            stall: (stall_at >= 0.0).then(|| time(stall_at)..time(stall_at + figures.stall_for_s)),
            gone_at: (figures.gone_at_s >= 0.0).then(|| time(figures.gone_at_s)),
            drop_at: (figures.drop_at_s >= 0.0).then(|| time(figures.drop_at_s)),
            flush_fails: figures.flush_fails,
        }
    }

    /// Returns whether a request of `bytes` fails.
    #[inline]
    pub(crate) fn fails(&self, request: Request, bytes: u64) -> bool {
        self.errors.as_ref().is_some_and(|range| {
            self.error_on[request.direction as usize]
                && request.offset < range.end
                && request.offset + bytes > range.start
        })
    }

    /// Returns whether the data of a request that is submitted at `now` is dropped.
    #[inline]
    pub(crate) fn drops(&self, request: Request, now: SimTime) -> bool {
        self.drop_at.is_some_and(|from| now >= from && request.direction == Direction::Write)
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
