//! Records in the order of their submission, from a file that has them nearly in order.

use crate::error::TraceError;
use crate::record::TraceRecord;
use ssdgauge_core::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Holds records back until all earlier ones have come.
pub(crate) struct InOrder {
    /// Time, number in the file, and the record.
    held: BinaryHeap<Reverse<(Nanos, u64, TraceRecord)>>,
    /// The maximum number of records that are held back.
    window: usize,
    number: u64,
    last: Nanos,
}

impl InOrder {
    /// Returns an order in which a record may be up to `window` records after its place.
    pub(crate) fn new(window: usize) -> InOrder {
        InOrder { held: BinaryHeap::new(), window, number: 0, last: Nanos::ZERO }
    }

    /// Takes the next record of the file; returns the first of those that are held, where there are
    /// enough of them.
    pub(crate) fn push(&mut self, record: TraceRecord) -> Result<Option<TraceRecord>, TraceError> {
        self.number += 1;
        if record.at < self.last {
            let before = Nanos(self.last.0 - record.at.0);
            return Err(TraceError::at_record(
                self.number,
                format!(
                    "it was submitted {} before a record that is more than {} records \
                     above it",
                    before.about(),
                    self.window
                ),
                "sort the trace by time",
            ));
        }
        self.held.push(Reverse((record.at, self.number, record)));
        Ok(if self.held.len() > self.window { self.pop() } else { None })
    }

    /// Takes the earliest record.
    pub(crate) fn pop(&mut self) -> Option<TraceRecord> {
        let Reverse((at, _, record)) = self.held.pop()?;
        self.last = at;
        Some(record)
    }
}
