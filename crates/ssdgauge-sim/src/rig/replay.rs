//! Replay of recorded requests in virtual time.
//!
//! The drive receives the calls that it receives in an open loop with the same due times, so the replay
//! of a recorded open loop has the latencies of the original, to the nanosecond.

use super::command::command;
use super::completion_queue::{Completion, CompletionQueue, MAX_IN_FLIGHT};
use super::instruments::{StepClock, disappeared, end_second, end_step, failed, hung};
use super::validation::check_workload;
use super::{LONG_STALL, VirtualRig};
use crate::time::SimTime;
use ssdgauge_core::{
    Bytes, Direction, Ended, EndedBy, EngineReport, Histogram, Interval, KernelQueue, MAX_LAG,
    Nanos, OpenLoop, OpenLoopCount, RecordedRequest, RecordedRequests, Recorder, Replay,
    ReplayClock, Request, RigError, Sink, Workload,
};

/// The last writes whose places are kept, to be read back.
const KEPT_WRITES: usize = 256;
/// A stop is polled after this many completions at the latest.
const POLL_STOP_AFTER: u64 = 65_536;

/// A request in flight.
#[derive(Clone, Copy)]
struct InFlight {
    due: SimTime,
    submitted: SimTime,
    direction: Direction,
    stream: u16,
    length: u64,
    failed: bool,
}

/// The current second of one stream and direction.
#[derive(Default)]
struct Record {
    latency: Recorder,
    bytes: u64,
    errors: u64,
}

/// The requests in flight, and the records of the current second.
struct Load {
    requests: Box<dyn RecordedRequests>,
    times: ReplayClock,
    next: Option<RecordedRequest>,
    /// When the next request is due; `None` while that is not known.
    due: Option<SimTime>,
    slots: Vec<InFlight>,
    free: Vec<usize>,
    queue: CompletionQueue,
    in_flight: usize,
    /// Whether the drive has to constrain each request, as of the start of the step.
    is_constrained: bool,
    begin: SimTime,
    /// The last completion, from the start of the step.
    last: SimTime,
    /// By stream and direction.
    records: Vec<[Record; Direction::COUNT]>,
    /// By stream.
    counts: Vec<OpenLoopCount>,
    completed: u64,
    failed: u64,
    held: u128,
    writes: Vec<u64>,
}

impl VirtualRig {
    /// Replays `requests`.
    pub(super) fn replay_requests(
        &mut self,
        replay: &Replay,
        requests: Box<dyn RecordedRequests>,
        sink: &mut dyn Sink,
    ) -> Result<Ended, RigError> {
        self.check_gone(self.now)?;
        let (workload, until) = (&replay.workload, &replay.until);
        check_workload(&self.info, workload, until)?;
        self.record_spans(workload);
        self.step_numbers.next(workload, until);
        let (begin, before) = (self.now, self.ground_truth());
        let mut load = Load::new(requests, workload.streams.len(), begin);
        // A trace states no queue depth, so that requests can exceed the queue of the drive.
        self.drive.begin_step(usize::MAX);
        load.is_constrained = self.drive.is_constrained(false);
        let mut clock = StepClock::new(begin, &self.drive);
        let (by, elapsed) = self.drive_replay(&mut load, replay, &mut clock, sink)?;
        self.now = begin + elapsed;
        self.drive.occupy_until(begin + load.last);
        let length = clock.elapsed_of_second(self.now);
        if length > Nanos::ZERO {
            load.end_second(clock.second, length, replay, sink);
        }
        end_step(&mut self.drive, &clock, self.now, &before, sink);
        if load.failed > 0 {
            sink.finding(failed(load.failed, load.completed));
        }
        self.record_written(std::mem::take(&mut load.writes));
        self.record_trims(workload);
        let open_loop = load.open_loops(workload, Nanos(elapsed), sink);
        Ok(Ended {
            by,
            elapsed: Nanos(elapsed),
            engine: EngineReport {
                engine: "virtual".into(),
                setup: "virtual time, replay of a trace".into(),
                in_flight_asked: 0,
                in_flight: None,
                kernel: KernelQueue::new("virtual", load.completed, load.held, Nanos(elapsed)),
                ios_per_enter: None,
                cpu_per_io: None,
                clock: "virtual".into(),
                open_loop,
            },
        })
    }

    /// Sends every request when it is due and waits for all of them; returns what ended the load, and
    /// the last completion from the start of the step.
    fn drive_replay(
        &mut self,
        load: &mut Load,
        replay: &Replay,
        clock: &mut StepClock,
        sink: &mut dyn Sink,
    ) -> Result<(EndedBy, SimTime), RigError> {
        let begin = clock.begin;
        let gone_at = self.faults.gone_at().map_or(u64::MAX, |gone| gone.saturating_sub(begin));
        let mut ended = None;
        load.read_next()?;
        loop {
            let due = if ended.is_none() { load.find_due() } else { None };
            let first = load.queue.first();
            // At the same time the request goes first, as in an open loop.
            let is_next = due.filter(|due| first.is_none_or(|first| first >= *due));
            let (due, is_due) = (due.unwrap_or_default(), is_next.is_some() && load.has_slot());
            let second_end = clock.second_end - begin;
            // A request that waited for a slot is submitted at the last completion, not when it was
            // due.
            if is_due && due.max(load.last) <= second_end && due < gone_at {
                self.submit_recorded(load, due)?;
                continue;
            }
            let event = if is_due { Some(due) } else { first };
            let Some(event) = event else { break };
            if gone_at <= event && gone_at <= second_end {
                load.fail_all(gone_at);
                sink.finding(disappeared(Nanos(gone_at)));
                return Ok((EndedBy::Faults, gone_at));
            }
            if event > second_end {
                end_second(&mut self.drive, clock, sink);
                load.end_second(clock.second - 1, Nanos::SECOND, replay, sink);
                if sink.stop() {
                    ended = ended.or(Some(EndedBy::Stop));
                }
                continue;
            }
            let Some(completion) = load.queue.pop() else { continue };
            let stalled = Nanos(completion.at - load.last);
            let latency = load.record(&completion);
            // Both, as in a load: gaps of a trace leave long times in which no request waits.
            if stalled >= LONG_STALL && latency >= LONG_STALL {
                sink.finding(hung(stalled));
            }
            if latency > MAX_LAG {
                ended = ended.or(Some(EndedBy::DeviceLag));
            }
            if load.completed.is_multiple_of(POLL_STOP_AFTER) && sink.stop() {
                ended = ended.or(Some(EndedBy::Stop));
            }
        }
        Ok((ended.unwrap_or(EndedBy::Bytes), load.last))
    }

    /// Submits the next request, which is due.
    fn submit_recorded(&mut self, load: &mut Load, due: SimTime) -> Result<(), RigError> {
        let Some(recorded) = load.next.take() else { return Ok(()) };
        let RecordedRequest { direction, stream, offset, length: bytes, .. } = recorded;
        let is_empty = bytes == 0 && direction != Direction::Flush;
        if is_empty || offset.saturating_add(bytes) > self.info.capacity.0 {
            let what =
                format!("{} at byte {offset} lie beyond the target", Bytes(bytes).as_block());
            return Err(RigError::Refused(what));
        }
        let at = due.max(load.last);
        let now = load.begin + at;
        if load.in_flight == 0 {
            load.counts[usize::from(stream)].idle += Nanos(at - load.last);
            self.drive.occupy_until(load.begin + load.last);
            self.drive.end_idle(now);
        }
        if load.is_constrained {
            self.drive.constrain(now, false);
        }
        // A recorded trim can be longer than a request, so the length goes next to it.
        let in_request = u32::try_from(bytes).unwrap_or(u32::MAX);
        let request = Request { direction, length: in_request, offset };
        let done = match self.faults.damage(request, now) {
            _ if !direction.is_transfer() => command(now, request, bytes, &mut self.drive),
            None => self.drive.submit(now, request, bytes),
            Some(damage) => self.drive.damage_write(now, request, bytes, damage),
        };
        let end = self.faults.delay(done);
        assert!(end > now || bytes == 0, "nothing completes before it was submitted");
        let failed = self.faults.fails(request, bytes);
        let (submitted, length) = (at, bytes);
        load.submit(InFlight { due, submitted, direction, stream, length, failed }, end);
        if direction == Direction::Write {
            // Twice as many as are kept, so that the vector is moved once in 256 writes.
            if load.writes.len() == 2 * KEPT_WRITES {
                load.writes.drain(..KEPT_WRITES);
            }
            load.writes.push(offset);
        }
        load.due = None;
        load.read_next()
    }
}

impl Load {
    fn new(requests: Box<dyn RecordedRequests>, streams: usize, begin: SimTime) -> Load {
        let slots = MAX_IN_FLIGHT as u32;
        Load {
            requests,
            times: ReplayClock::default(),
            next: None,
            due: None,
            slots: Vec::new(),
            free: Vec::new(),
            queue: CompletionQueue::default(),
            in_flight: 0,
            is_constrained: false,
            begin,
            last: 0,
            records: (0..streams).map(|_| Default::default()).collect(),
            counts: vec![OpenLoopCount { slots, ..OpenLoopCount::default() }; streams],
            completed: 0,
            failed: 0,
            held: 0,
            writes: Vec::new(),
        }
    }

    fn read_next(&mut self) -> Result<(), RigError> {
        let what = || "cannot read the trace".to_owned();
        let next = self.requests.next_request();
        self.next = next.map_err(|cause| RigError::System { what: what(), cause })?;
        Ok(())
    }

    /// Returns when the next request is due; `None` where there is none, or it waits for completions.
    fn find_due(&mut self) -> Option<SimTime> {
        if self.due.is_none() {
            let (in_flight, last) = (self.in_flight > 0, Nanos(self.last));
            let due = self.next.and_then(|next| self.times.due(next.time, in_flight, last));
            self.due = due.map(|due| due.0);
        }
        self.due
    }

    fn has_slot(&self) -> bool {
        !self.free.is_empty() || (self.slots.len() as u64) < MAX_IN_FLIGHT
    }

    fn submit(&mut self, request: InFlight, end: SimTime) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot] = request;
                slot
            }
            None => {
                self.slots.push(request);
                self.slots.len() - 1
            }
        };
        let count = &mut self.counts[usize::from(request.stream)];
        count.sent += 1;
        match request.submitted - request.due {
            0 => count.lateness.record(0),
            late => count.withheld.record(late),
        }
        self.in_flight += 1;
        self.queue.push(end - self.begin, slot);
    }

    /// Records a completion in the current second; returns its latency.
    fn record(&mut self, completion: &Completion) -> Nanos {
        let request = self.slots[completion.slot];
        let stream = usize::from(request.stream);
        let record = &mut self.records[stream][request.direction as usize];
        let latency = completion.at - request.due;
        self.completed += 1;
        self.last = completion.at;
        self.held += u128::from(completion.at - request.submitted);
        match request.failed {
            true => {
                record.errors += 1;
                self.failed += 1;
            }
            false => {
                record.latency.record(latency);
                record.bytes += request.length;
            }
        }
        self.counts[stream].service.record(completion.at - request.submitted);
        self.free.push(completion.slot);
        self.in_flight -= 1;
        Nanos(latency)
    }

    /// Records every request in flight as failed at `at`.
    fn fail_all(&mut self, at: SimTime) {
        while let Some(completion) = self.queue.pop() {
            self.slots[completion.slot].failed = true;
            let at = at.max(self.slots[completion.slot].due);
            self.record(&Completion { at, slot: completion.slot });
        }
    }

    /// Emits the intervals of a second, which lasted `length`.
    fn end_second(&mut self, second: u32, length: Nanos, replay: &Replay, sink: &mut dyn Sink) {
        let streams = replay.workload.streams.iter().zip(&mut self.records);
        for (stream, (workload, records)) in (0..).zip(streams) {
            for direction in Direction::ALL.into_iter().filter(|one| workload.sends(*one)) {
                let record = &mut records[direction as usize];
                let mut latency = Histogram::default();
                record.latency.drain_into(&mut latency);
                sink.interval(&Interval {
                    second,
                    stream,
                    direction,
                    length,
                    ios: latency.count(),
                    bytes: std::mem::take(&mut record.bytes),
                    errors: std::mem::take(&mut record.errors),
                    latency,
                });
            }
        }
    }

    /// Returns the figures of each stream, and emits the findings about them.
    fn open_loops(
        &self,
        workload: &Workload,
        elapsed: Nanos,
        sink: &mut dyn Sink,
    ) -> Vec<OpenLoop> {
        let streams = workload.streams.iter().zip(&self.counts);
        let figures = streams.map(|(stream, count)| {
            let open_loop = OpenLoop::from_count(stream, elapsed, count);
            // The model is never late, so no latency is compared with its lateness.
            let findings = open_loop.findings(count, &Histogram::default());
            findings.into_iter().for_each(|finding| sink.finding(finding));
            open_loop
        });
        figures.collect()
    }
}
