//! The submissions of open loops: each request at its due time, or as soon as a slot is free.

use super::completion_queue::MAX_IN_FLIGHT;
use super::fault_injection::InjectedFaults;
use super::load::{InFlight, Load};
use crate::drive::Drive;
use crate::time::SimTime;
use ssdgauge_core::{Finding, Histogram, LatencyClock, MAX_LAG, Nanos, OpenLoop, Workload};

impl Load {
    pub(super) fn find_next_due(&mut self) {
        let due = |index: &usize| {
            let thread = &self.threads[*index];
            let schedule = thread.schedule.as_ref().filter(|_| thread.free_slots > 0)?;
            Some((schedule.due(), *index))
        };
        self.next_due = self.open_loops.iter().filter_map(due).min();
    }

    /// Submits the requests of open loops that are due before the next completion, before `limit`
    /// and by `second_end`, up to `bytes` in total. Returns whether the next event is a request that
    /// is due after `second_end`.
    pub(crate) fn submit_due(
        &mut self,
        drive: &mut Drive,
        faults: &InjectedFaults,
        limit: SimTime,
        bytes: u64,
        second_end: SimTime,
    ) -> bool {
        while let Some((due, thread)) = self.next_due {
            // At the same time the request goes first, as in a replay: the replay of a recorded
            // load has to submit in the order of the load.
            let later = self.queue.first().is_some_and(|completion| completion < due);
            if later || due >= limit || self.submitted_bytes >= bytes {
                return false;
            }
            if due > second_end {
                return true;
            }
            let Some(slot) = self.take_slot(thread) else { return false };
            // A request that has to wait for a slot is submitted when one becomes free; its latency
            // counts from the due time all the same (no coordinated omission).
            let at = due.max(self.last);
            if self.is_idle() {
                drive.occupy_until(self.begin + self.last);
                drive.end_idle(self.begin + at);
            }
            self.submit::<false>(slot, at, drive, faults);
            let thread = &mut self.threads[thread];
            self.slots[slot].due = match thread.clock {
                LatencyClock::Due => due,
                LatencyClock::Submission => at,
            };
            let count = &mut self.counts[usize::from(thread.stream)];
            count.sent += 1;
            // The model submits on time to the nanosecond, unless no slot is free.
            match at == due {
                true => count.lateness.record(0),
                false => count.withheld.record(at - due),
            }
            self.has_fallen_behind |= at - due > MAX_LAG.0;
            thread.free_slots -= 1;
            if let Some(schedule) = &mut thread.schedule {
                schedule.advance();
            }
            self.find_next_due();
        }
        false
    }

    /// Takes a slot for a request of an open loop; `None` where all are in use.
    fn take_slot(&mut self, thread: usize) -> Option<usize> {
        if let Some(slot) = self.free_slots.pop() {
            self.slots[slot] = InFlight::for_thread(thread as u32);
            return Some(slot);
        }
        let room = (self.slots.len() as u64) < MAX_IN_FLIGHT;
        self.is_full |= !room;
        room.then(|| {
            self.slots.push(InFlight::for_thread(thread as u32));
            self.slots.len() - 1
        })
    }

    /// Returns the statistics of every open-loop stream and the findings about it, including
    /// requests that were due before `limit` and not submitted.
    pub(crate) fn open_loops(
        &mut self,
        workload: &Workload,
        elapsed: Nanos,
        limit: SimTime,
    ) -> (Vec<OpenLoop>, Vec<Finding>) {
        for thread in &mut self.threads {
            let Some(schedule) = &mut thread.schedule else { continue };
            let count = &mut self.counts[usize::from(thread.stream)];
            // All streams share the slots of the model: where these ended, they were the limit.
            if self.is_full {
                count.slots = MAX_IN_FLIGHT as u32;
            }
            while schedule.due() < limit {
                count.unsent += 1;
                schedule.advance();
            }
        }
        let pairs = workload.streams.iter().zip(&self.counts);
        let open = pairs.filter(|(stream, _)| stream.arrival.per_second().is_some());
        let mut findings = Vec::new();
        let open_loops = open.map(|(stream, count)| {
            let open_loop = OpenLoop::from_count(stream, elapsed, count);
            // The model is never late, so no latency is compared with its lateness.
            findings.extend(open_loop.findings(count, &Histogram::default()));
            open_loop
        });
        (open_loops.collect(), findings)
    }
}
