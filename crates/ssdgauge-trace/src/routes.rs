//! The streams of a replay to which the requests of a trace belong.

use ssdgauge_core::{Operation, Replay};
use std::collections::BTreeMap;

/// The streams of the requests of a replay, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routes {
    /// Those of the trace: to count the requests of each, before a replay is planned.
    Trace {
        /// Whether the target has trims.
        has_trim: bool,
    },
    /// Those of the workload of a replay.
    Workload {
        /// The stream of each stream of the trace that has its own.
        own: BTreeMap<u16, u16>,
        /// The stream of all others.
        others: u16,
        /// The stream of the trims; `None` where discards are left out.
        trims: Option<u16>,
        /// The stream of the flushes; `None` where they are left out.
        flushes: Option<u16>,
    },
}

impl Routes {
    /// Returns the streams of `replay`.
    pub fn of(replay: &Replay) -> Routes {
        let streams = || (0u16..).zip(&replay.workload.streams);
        let first = |operation: Operation| {
            streams().find(|(_, stream)| stream.operation == operation).map(|(number, _)| number)
        };
        let transfers = streams().filter(|(_, stream)| stream.operation.is_transfer());
        let own = replay.streams.iter().copied().zip(transfers.clone().map(|(number, _)| number));
        Routes::Workload {
            own: own.collect(),
            others: transfers.last().map_or(0, |(number, _)| number),
            trims: first(Operation::Trim),
            flushes: first(Operation::Flush),
        }
    }

    /// Returns the stream of the reads and writes of stream `number` of the trace.
    pub(crate) fn transfers(&self, number: u16) -> u16 {
        match self {
            Routes::Trace { .. } => number,
            Routes::Workload { own, others, .. } => own.get(&number).copied().unwrap_or(*others),
        }
    }

    /// Returns the stream of trims; `None` where there are none.
    pub(crate) fn trims(&self) -> Option<u16> {
        match self {
            Routes::Trace { has_trim } => has_trim.then_some(0),
            Routes::Workload { trims, .. } => *trims,
        }
    }

    /// Returns the stream of flushes; `None` where there are none.
    pub(crate) fn flushes(&self) -> Option<u16> {
        match self {
            Routes::Trace { .. } => Some(0),
            Routes::Workload { flushes, .. } => *flushes,
        }
    }
}
