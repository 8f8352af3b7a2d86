//! Faults on demand: an error at an address, a stall, a vanishing drive.
//!
//! They change completions, never the state of the drive behind them.

use crate::flash::Moment;
use crate::profile::FaultFigures;
use ssdgauge_core::Request;
use std::ops::Range;

/// The faults of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    error: Option<Range<u64>>,
    error_on: [bool; 2],
    stall: Option<Range<Moment>>,
    gone_at: Option<Moment>,
}

impl Faults {
    pub(crate) fn new(figures: &FaultFigures) -> Faults {
        let moment = |s: f64| (s * 1e9) as Moment;
        let error_at = figures.error_at;
        let stall_at = figures.stall_at_s;
        Faults {
            error: (error_at >= 0.0)
                .then_some(error_at as u64..(error_at + figures.error_bytes) as u64),
            error_on: [figures.error_reads, figures.error_writes],
            stall: (stall_at >= 0.0)
                .then(|| moment(stall_at)..moment(stall_at + figures.stall_for_s)),
            gone_at: (figures.gone_at_s >= 0.0).then(|| moment(figures.gone_at_s)),
        }
    }

    /// Returns whether a request of `bytes` fails.
    #[inline]
    pub(crate) fn fails(&self, request: Request, bytes: u64) -> bool {
        self.error.as_ref().is_some_and(|range| {
            self.error_on[request.direction as usize]
                && request.offset < range.end
                && request.offset + bytes > range.start
        })
    }

    /// Returns when a completion due at `end` really comes.
    #[inline]
    pub(crate) fn delay(&self, end: Moment) -> Moment {
        match &self.stall {
            Some(stall) if stall.contains(&end) => stall.end,
            Some(_) | None => end,
        }
    }

    /// Returns when the drive vanishes.
    pub(crate) fn gone_at(&self) -> Option<Moment> {
        self.gone_at
    }

    /// Returns whether the drive has vanished by `now`.
    pub(crate) fn is_gone(&self, now: Moment) -> bool {
        self.gone_at.is_some_and(|gone| now >= gone)
    }
}
