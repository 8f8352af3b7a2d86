//! The submissions of threads whose writes are flushed, and of threads that pause: a thread waits for its
//! requests in flight, then sends the flush and waits for that, or sends nothing until the pause ends.
//!
//! Nothing here runs for a load without such flushes and pauses. The end of a pause is an entry in the queue of
//! completions, in one of the slots that wait for it.

use super::completion_queue::Completion;
use super::fault_injection::InjectedFaults;
use super::load::Load;
use crate::drive::Drive;
use crate::time::SimTime;
use ssdgauge_core::{Direction, Request};

impl Load {
    /// Submits the next request after `completion`, in a load of which some threads flush.
    #[cold]
    #[inline(never)]
    pub(super) fn submit_after(
        &mut self,
        completion: &Completion,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) {
        let thread = &mut self.threads[self.slots[completion.slot].thread as usize];
        if let Some(commits) = &mut thread.commits {
            commits.in_flight -= 1;
        }
        if thread.schedule.is_none() {
            self.submit_between_flushes(completion.slot, completion.at, drive, faults);
        }
    }

    /// Returns whether the thread of `completion` sends a flush before it ends for a limit of bytes.
    #[cold]
    #[inline(never)]
    pub(super) fn owes_flush(&self, completion: &Completion) -> bool {
        let thread = &self.threads[self.slots[completion.slot].thread as usize];
        thread.commits.as_ref().is_some_and(|commits| commits.unflushed == commits.every)
    }

    /// Submits a request in `slot` at `at`, and in the slots that wait, or the flush that is due.
    #[cold]
    #[inline(never)]
    pub(super) fn submit_between_flushes(
        &mut self,
        slot: usize,
        at: SimTime,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) {
        let number = self.slots[slot].thread as usize;
        if self.threads[number].commits.is_none() {
            if self.submitted_bytes < self.most_bytes {
                self.submit::<false>(slot, at, drive, faults);
            }
            return;
        }
        let mut next = Some(slot);
        while let Some(slot) = next {
            let Some(commits) = &mut self.threads[number].commits else { return };
            // Before a pause, as in the engine: the flush belongs to the writes that were sent.
            if commits.unflushed == commits.every {
                commits.held.push(slot);
                if commits.in_flight == 0 {
                    self.submit_flush(number, at, drive, faults);
                }
                return;
            }
            if let Some((batch, time)) = commits.think
                && commits.sent == batch
            {
                commits.held.push(slot);
                if commits.in_flight == 0 {
                    commits.sent = 0;
                    self.wait_until(number, at + time);
                }
                return;
            }
            if let Some(on) = commits.pulse.and_then(|pulse| pulse.next_on(at)) {
                commits.held.push(slot);
                self.wait_until(number, on);
                return;
            }
            if self.submitted_bytes >= self.most_bytes {
                return;
            }
            commits.in_flight += 1;
            commits.sent += 1;
            self.submit::<false>(slot, at, drive, faults);
            let is_write = self.slots[slot].direction == Direction::Write;
            let Some(commits) = &mut self.threads[number].commits else { return };
            commits.unflushed += u32::from(is_write && commits.every < u32::MAX);
            next = commits.held.pop();
        }
    }

    /// Lets thread `number` send nothing until `end`.
    fn wait_until(&mut self, number: usize, end: SimTime) {
        let Some(commits) = &mut self.threads[number].commits else { return };
        // One entry in the queue for a thread: at its end, the other slots that wait are submitted,
        // too.
        if commits.is_waiting {
            return;
        }
        let Some(slot) = commits.held.pop() else { return };
        commits.is_waiting = true;
        self.slots[slot].is_pause = true;
        self.queue.push(end, slot);
    }

    /// Returns whether `completion` is the end of a pause.
    #[inline]
    pub(crate) fn is_pause(&self, completion: &Completion) -> bool {
        self.slots[completion.slot].is_pause
    }

    /// Ends the pause whose end `completion` is: its thread sends again.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_pause(
        &mut self,
        completion: &Completion,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) {
        let Completion { at, slot } = *completion;
        self.slots[slot].is_pause = false;
        if self.busy == 0 {
            // As before a request of an open loop that is due on an idle drive.
            drive.occupy_until(self.begin + self.last);
            drive.end_idle(self.begin + at);
        }
        let number = self.slots[slot].thread as usize;
        if let Some(commits) = &mut self.threads[number].commits {
            commits.is_waiting = false;
        }
        self.submit_between_flushes(slot, at, drive, faults);
    }

    /// Submits the flush of thread `number`, in one of the slots that wait for it.
    fn submit_flush(
        &mut self,
        number: usize,
        at: SimTime,
        drive: &mut Drive,
        faults: &InjectedFaults,
    ) {
        let Some(commits) = &mut self.threads[number].commits else { return };
        let Some(slot) = commits.held.pop() else { return };
        (commits.unflushed, commits.in_flight) = (0, 1);
        let request = Request::FLUSH;
        let end = faults.delay(drive.flush(self.begin + at));
        let in_flight = &mut self.slots[slot];
        (in_flight.due, in_flight.submitted) = (at, at);
        (in_flight.direction, in_flight.failed) = (request.direction, faults.fails(request, 0));
        self.queue.push(end - self.begin, slot);
        self.note(slot, 0);
        if let Some(log) = &mut self.log {
            log.submitted(slot, request);
        }
    }
}
