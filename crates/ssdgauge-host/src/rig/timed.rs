//! Loads whose requests are timed one by one, on an admitted target: the checks before them, the
//! instruments during them, and the budget after them.

use super::LinuxRig;
use super::instruments::PollPolicy;
use ssdgauge_core::{
    Bytes, Direction, Lane, LaneLimits, LanesEnded, MediaWrites, Nanos, Recording, RigError, Sink,
    TimedLoads, TimedRequest, Timings,
};
use ssdgauge_engine::timed;
use std::fs::File;
use std::sync::Arc;
use std::time::Instant;

impl LinuxRig {
    /// Reads the counters of the drive, and returns what was written since the last reading.
    pub(super) fn read_media_writes(&mut self, sink: &mut dyn Sink) -> Option<MediaWrites> {
        let health = self.health.as_mut()?;
        let mut seen = Recording::default();
        health.begin(false, &mut seen);
        let written = self.timed.take_unread();
        health.end(Instant::now(), Nanos::ZERO, (true, written), &mut seen);
        seen.findings.into_iter().for_each(|finding| sink.finding(finding));
        let readings = &seen.readings;
        MediaWrites::from_readings(|quantity| {
            let reading = readings.iter().rfind(|reading| reading.quantity == quantity);
            reading.map(|reading| reading.value)
        })
    }

    fn timed_file(&self) -> Result<Arc<File>, RigError> {
        let missing = || RigError::Refused(format!("{} stores no blocks", self.info.target));
        self.file().cloned().ok_or_else(missing)
    }

    /// Checks reads that end at `end`: a scratch file is not read where it is not written.
    fn check_timed_reads(&self, end: u64) -> Result<(), RigError> {
        match end > self.filled_to {
            true => Err(RigError::Refused(format!(
                "a timed read would reach byte {end}; the scratch file is written up to {}",
                self.filled_to
            ))),
            false => Ok(()),
        }
    }

    /// Checks the target before writes of `planned` bytes to `ranges`, whose contents are then unknown.
    fn begin_timed_writes(
        &mut self,
        planned: Bytes,
        ranges: &[(u64, u64)],
        sink: &mut dyn Sink,
    ) -> Result<(), RigError> {
        if ranges.is_empty() {
            return Ok(());
        }
        self.budget.before_writing(&self.target, Some(planned), sink)?;
        self.verification.advance();
        for (from, to) in ranges {
            self.verification.invalidate(*from, *to);
        }
        Ok(())
    }
}

impl TimedLoads for LinuxRig {
    fn send(
        &mut self,
        requests: &[TimedRequest],
        depth: u32,
        sink: &mut dyn Sink,
    ) -> Result<Option<Timings>, RigError> {
        timed::check_requests(requests, depth, self.info.capacity)?;
        let file = self.timed_file()?;
        let end = |one: &TimedRequest| one.offset + u64::from(one.length);
        let of = |direction| requests.iter().filter(move |one| one.direction == direction);
        self.check_timed_reads(of(Direction::Read).map(end).max().unwrap_or(0))?;
        let writes = || of(Direction::Write);
        let ranges: Vec<(u64, u64)> = writes().map(|one| (one.offset, end(one))).collect();
        let written = Bytes(writes().map(|one| u64::from(one.length)).sum());
        self.begin_timed_writes(written, &ranges, sink)?;
        let result = self.with_instruments(PollPolicy::Poll, sink, |rig, sink| {
            let stop = Arc::clone(&rig.stop_requested);
            let mut go_on = || !stop.load(std::sync::atomic::Ordering::Relaxed) && !sink.stop();
            let timings = timed::send(&file, requests, depth, &mut go_on)
                .map_err(|error| rig.failed("cannot run the load on", &error))?;
            let times = timings.iter().flat_map(|timings| &timings.requests);
            let elapsed = times.map(|one| one.completed).max().unwrap_or_default();
            Ok((timings, elapsed))
        })?;
        self.timed.unread += written.0;
        self.budget.after_blocks(&self.info.target, written, &mut Recording::default())?;
        Ok(result)
    }

    fn run_lanes(
        &mut self,
        lanes: &[Lane],
        limits: LaneLimits,
        sink: &mut dyn Sink,
    ) -> Result<Option<LanesEnded>, RigError> {
        timed::check_lanes(lanes, self.info.capacity)?;
        let file = self.timed_file()?;
        let end = |lane: &Lane| (lane.offset + lane.span).0;
        let (reads, writes): (Vec<_>, Vec<_>) =
            lanes.iter().partition(|lane| lane.direction == Direction::Read);
        self.check_timed_reads(reads.iter().map(|lane| end(lane)).max().unwrap_or(0))?;
        let ranges: Vec<(u64, u64)> =
            writes.iter().map(|lane| (lane.offset.0, end(lane))).collect();
        self.begin_timed_writes(limits.written, &ranges, sink)?;
        self.timed.loads += 1;
        let number = self.timed.loads;
        let result = self.with_instruments(PollPolicy::Poll, sink, |rig, sink| {
            let stop = Arc::clone(&rig.stop_requested);
            let mut go_on = || !stop.load(std::sync::atomic::Ordering::Relaxed) && !sink.stop();
            let ended = timed::run_lanes(&file, lanes, limits, number, &mut go_on)
                .map_err(|error| rig.failed("cannot run the load on", &error))?;
            let elapsed = ended.as_ref().map(|(ended, _)| ended.elapsed).unwrap_or_default();
            Ok((ended, elapsed))
        })?;
        let Some((ended, written)) = result else {
            self.budget.after_blocks(
                &self.info.target,
                limits.written,
                &mut Recording::default(),
            )?;
            return Ok(None);
        };
        self.timed.unread += written.0;
        self.budget.after_blocks(&self.info.target, written, &mut Recording::default())?;
        self.extend_filled(&writes, written);
        Ok(Some(ended))
    }
}

impl LinuxRig {
    /// Extends the written part of a scratch file by ascending writes that join it.
    fn extend_filled(&mut self, writes: &[&Lane], written: Bytes) {
        let [lane] = writes else { return };
        // Threads take ascending blocks, and each completes the block that it took.
        let whole = written.0.min(lane.span.0);
        let is_ascending = lane.access == ssdgauge_core::Access::Sequential;
        if is_ascending && lane.offset.0 <= self.filled_to && self.filled_to < u64::MAX {
            self.filled_to = self.filled_to.max(lane.offset.0 + whole);
        }
    }
}
