//! Response times of traces that report submission and completion as events of their own.

use crate::formats::Event;
use crate::record::{Kind, TraceRecord};
use ssdgauge_core::Nanos;
use std::collections::{BTreeMap, VecDeque};

/// The maximum number of requests that wait for their completion, and the longest time of trace that they wait, in
/// nanoseconds: the command timeout of Linux. After them a request has no response time.
const MOST: usize = 65_536;
const LONGEST: u64 = 30_000_000_000;

/// Requests that wait for their completion, in the order of submission.
#[derive(Default)]
pub(crate) struct Pairing {
    waiting: VecDeque<TraceRecord>,
    /// The number of the first of them.
    first: u64,
    by_place: BTreeMap<(u16, Kind, u64), u64>,
    /// The latest time of an event.
    now: u64,
}

impl Pairing {
    /// Takes the next event.
    pub(crate) fn push(&mut self, event: Event) {
        match event {
            Event::Request(record) => {
                self.now = self.now.max(record.at.0);
                let number = self.first + self.waiting.len() as u64;
                self.by_place.insert((record.stream, record.kind, record.offset.0), number);
                self.waiting.push_back(record);
            }
            Event::Completion { stream, kind, offset, at } => {
                self.now = self.now.max(at);
                // The completion of a request from before the trace has no partner.
                let Some(number) = self.by_place.remove(&(stream, kind, offset)) else { return };
                let index = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
                if let Some(record) = index.and_then(|index| self.waiting.get_mut(index)) {
                    record.response = Some(Nanos(at.saturating_sub(record.at.0)));
                }
            }
        }
    }

    /// Takes the first request, where its response time is known or no longer awaited.
    pub(crate) fn pop(&mut self, at_end: bool) -> Option<TraceRecord> {
        let first = self.waiting.front()?;
        let is_ready = at_end
            || first.response.is_some()
            || self.waiting.len() > MOST
            || self.now.saturating_sub(first.at.0) > LONGEST;
        if !is_ready {
            return None;
        }
        let place = (first.stream, first.kind, first.offset.0);
        if self.by_place.get(&place) == Some(&self.first) {
            self.by_place.remove(&place);
        }
        self.first += 1;
        self.waiting.pop_front()
    }
}
