//! A second model of a drive, only for the gate of the X-ray: event-driven, with other policies than
//! ssdgauge-sim. A page-mapped log for each die without superblocks, collection by benefit and age, a cache of
//! blocks of one bit for each die, stripes of several pages, planes that read alone, a buffer that is flushed as
//! a whole, a map that is not wholly available, and work between requests.
//!
//! Written from documents about drives: Rosenblum and Ousterhout 1992 (collection), Agrawal and others, USENIX
//! 2008 (allocation), Hu and others, ICS 2011 (planes and channels), Wu and He, FAST 2012 (suspension), Kim and
//! others, SSDcheck, MICRO 2018 (buffer that is flushed as a whole), Zhou and others, EuroSys 2015 (cached map).
//! It must never be changed to please the inference.

#[path = "second_model/agenda.rs"]
mod agenda;
#[path = "second_model/dies.rs"]
mod dies;
#[path = "second_model/drive.rs"]
mod drive;
#[path = "second_model/figures.rs"]
mod figures;
#[path = "second_model/flash.rs"]
mod flash;

pub(crate) use figures::{Figures, Suspension};

use drive::{Drive, TICK};
use figures::SLOT;
use ssdgauge_core::{
    Access, Bytes, Counted, Data, Direction, DriveInfo, Ended, Flush, Lane, LaneLimits, LaneRecord,
    LanesEnded, MediaWrites, Nanos, Preparation, Prepared, Random, Reading, Rig, RigError, Sink,
    TargetKind, ThermalReport, TimedLoads, TimedRequest, Timing, Timings, Until, Workload,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// A second, in nanoseconds.
const SECOND: u64 = 1_000_000_000;
/// A stop is polled after this many requests at the latest.
const POLL_STOP_AFTER: u64 = 65_536;

/// A drive of the second model.
pub(crate) struct SecondRig {
    drive: Drive,
    info: DriveInfo,
    seed: u64,
    /// Bytes that hosts have written, and the granules of media and hosts at the last reading.
    written: u64,
    counted: [u64; 2],
}

/// Pages that were programmed, and map pages that were read, since the drive was made.
pub(crate) struct Counters {
    /// Pages of the host in cells of one bit, and in native ones.
    pub(crate) host: [u64; 2],
    /// Pages that were copied from the cache, and by collection.
    pub(crate) copied: [u64; 2],
    /// Pages of the host before the first one in native cells.
    pub(crate) before_native: Option<u64>,
    /// Map pages read, and looked up.
    pub(crate) map: [u64; 2],
}

impl SecondRig {
    pub(crate) fn new(figures: Figures, seed: u64) -> SecondRig {
        let info = DriveInfo {
            kind: TargetKind::Virtual,
            target: format!("second model {seed}"),
            model: None,
            serial: None,
            firmware: None,
            capacity: Bytes(figures.capacity),
            logical_block: Bytes(figures.logical_block),
            physical_block: Bytes(SLOT),
            details: BTreeMap::new(),
        };
        SecondRig { drive: Drive::new(figures, seed), info, seed, written: 0, counted: [0; 2] }
    }

    pub(crate) fn counters(&self) -> Counters {
        let flash = &self.drive.flash;
        Counters {
            host: flash.host_pages,
            copied: flash.copied_pages,
            before_native: flash.before_native,
            map: self.drive.map_reads,
        }
    }

    /// Lets the time up to `at` pass without a command.
    fn pass(&mut self, at: u64, passage: &mut Passage<'_>) -> bool {
        while self.drive.agenda.next() <= at {
            self.drive.step();
            if passage.observe(&self.drive) {
                return false;
            }
        }
        self.drive.agenda.now = at;
        !passage.observe(&self.drive)
    }

    fn writes(&self, offset: u64, span: u64) -> Lane {
        Lane {
            direction: Direction::Write,
            access: Access::Sequential,
            block_size: Bytes(131_072),
            offset: Bytes(offset),
            span: Bytes(span),
            queue_depth: 32,
            think: Nanos::ZERO,
            latencies: 0,
            data: Data::Incompressible,
        }
    }
}

/// The clock of a load, for readings of the temperature and for stops.
struct Passage<'a> {
    begin: u64,
    next_second: u64,
    requests: u64,
    sink: &'a mut dyn Sink,
}

impl<'a> Passage<'a> {
    fn new(drive: &Drive, sink: &'a mut dyn Sink) -> Passage<'a> {
        let begin = drive.agenda.now;
        Passage { begin, next_second: begin + SECOND, requests: 0, sink }
    }

    /// Passes on the readings that are due; returns whether the load has to stop.
    fn observe(&mut self, drive: &Drive) -> bool {
        let mut stops = false;
        while drive.agenda.now >= self.next_second {
            let at = Nanos(self.next_second - self.begin);
            let (instrument, quantity) = ("second model".to_owned(), "temperature_c".to_owned());
            if drive.figures.has_sensor {
                self.sink.reading(&Reading { at, instrument, quantity, value: drive.celsius });
            }
            self.next_second += SECOND;
            stops |= self.sink.stop();
        }
        self.requests += 1;
        stops || self.requests.is_multiple_of(POLL_STOP_AFTER) && self.sink.stop()
    }
}

impl Rig for SecondRig {
    fn drive(&self) -> &DriveInfo {
        &self.info
    }

    fn prepare(
        &mut self,
        preparation: &Preparation,
        sink: &mut dyn Sink,
    ) -> Result<Prepared, RigError> {
        let begin = self.drive.agenda.now;
        let (method, written) = match *preparation {
            Preparation::Trim { offset, span } => {
                self.drive.flush();
                for page in offset.0.div_ceil(SLOT)..(offset.0 + span.0) / SLOT {
                    self.drive.flash.unmap(page);
                }
                ("trim", Bytes(0))
            }
            Preparation::Fill { access: Access::Sequential, offset, span, .. } => {
                let (time, bin) = (Nanos::from_secs(86_400), Nanos::SECOND);
                let lane = self.writes(offset.0, span.0);
                self.run_lanes(&[lane], LaneLimits { time, written: span, bin }, sink)?;
                ("sequential write", span)
            }
            _ => return Err(RigError::Refused("the second model has no such state".into())),
        };
        let elapsed = Nanos(self.drive.agenda.now - begin);
        Ok(Prepared { method: method.into(), written, elapsed, stopped: false })
    }

    fn run(&mut self, _: &Workload, _: &Until, _: &mut dyn Sink) -> Result<Ended, RigError> {
        Err(RigError::Refused("the second model runs no workloads".into()))
    }

    fn rest(&mut self, duration: Nanos, sink: &mut dyn Sink) -> Result<Nanos, RigError> {
        let end = self.drive.agenda.now + duration.0;
        let mut passage = Passage::new(&self.drive, sink);
        self.pass(end, &mut passage);
        Ok(duration)
    }

    fn flush(&mut self, _: &mut dyn Sink) -> Result<Option<Flush>, RigError> {
        let begin = self.drive.agenda.now;
        self.drive.flush();
        let elapsed = Nanos(self.drive.agenda.now - begin);
        Ok(Some(Flush { sent: 1, elapsed, device: None, counted: None }))
    }

    fn thermal_report(&mut self) -> Option<ThermalReport> {
        let [transitions, ticks] = self.drive.throttled;
        self.drive.figures.reports_heat.then(|| ThermalReport {
            limit_c: Some(self.drive.figures.throttling.upper_c),
            transitions: Some(transitions),
            throttled_s: Some(ticks * TICK / SECOND),
            above_minutes: None,
        })
    }

    fn timed_loads(&mut self) -> Option<&mut dyn TimedLoads> {
        Some(self)
    }

    fn media_writes(&mut self, _: &mut dyn Sink) -> Option<MediaWrites> {
        let granule = self.drive.figures.media_granule?;
        let Counters { host, copied, .. } = self.counters();
        let programmed = host.iter().chain(&copied).sum::<u64>() * SLOT;
        let now = [programmed, self.written].map(|bytes| bytes / granule);
        let amount = |which: usize| (now[which] - self.counted[which]) as f64 * granule as f64;
        let counted = |amount| Counted { amount, granule: granule as f64 };
        let (media, host) = (counted(amount(0)), counted(amount(1)));
        self.counted = now;
        Some(MediaWrites { media, host, is_in_pages: false })
    }
}

impl TimedLoads for SecondRig {
    fn send(
        &mut self,
        requests: &[TimedRequest],
        depth: u32,
        sink: &mut dyn Sink,
    ) -> Result<Option<Timings>, RigError> {
        let begin = self.drive.agenda.now;
        let mut passage = Passage::new(&self.drive, sink);
        let mut timings = vec![Timing::default(); requests.len()];
        let mut in_flight: BTreeMap<u32, usize> = BTreeMap::new();
        let mut next = 0;
        while next < requests.len() || !in_flight.is_empty() {
            let due = match requests.get(next) {
                Some(request) if in_flight.len() < depth as usize => {
                    self.drive.agenda.now.max(begin + request.due.0)
                }
                _ => u64::MAX,
            };
            if due <= self.drive.agenda.next() {
                self.drive.agenda.now = due;
                let TimedRequest { direction, offset, length, .. } = requests[next];
                let id = self.drive.submit(direction, offset, u64::from(length));
                timings[next].submitted = Nanos(due - begin);
                in_flight.insert(id, next);
                next += 1;
            } else if let Some(id) = self.drive.step() {
                let number = in_flight.remove(&id).expect("each command in flight has a number");
                timings[number].completed = Nanos(self.drive.agenda.now - begin);
            }
            if passage.observe(&self.drive) {
                return Ok(None);
            }
        }
        Ok(Some(Timings { requests: timings, host_load: 0.0 }))
    }

    fn run_lanes(
        &mut self,
        lanes: &[Lane],
        limits: LaneLimits,
        sink: &mut dyn Sink,
    ) -> Result<Option<LanesEnded>, RigError> {
        let begin = self.drive.agenda.now;
        let mut passage = Passage::new(&self.drive, sink);
        let mut states: Vec<(Random, u64, LaneRecord)> = (0..lanes.len() as u64)
            .map(|lane| (Random::new(begin ^ self.seed, lane), 0, LaneRecord::default()))
            .collect();
        let mut slots: BinaryHeap<Reverse<(u64, usize, u32)>> = BinaryHeap::new();
        for (lane, one) in lanes.iter().enumerate() {
            slots.extend((0..one.queue_depth).map(|slot| Reverse((begin, lane, slot))));
        }
        let mut in_flight: BTreeMap<u32, (u64, usize, u32)> = BTreeMap::new();
        let (mut written, mut last, mut has_ended) = (0, begin, false);
        while !slots.is_empty() || !in_flight.is_empty() {
            let due = slots.peek().map_or(u64::MAX, |slot| slot.0.0.max(self.drive.agenda.now));
            if due <= self.drive.agenda.next() && due < u64::MAX {
                let Some(Reverse((_, lane, slot))) = slots.pop() else { break };
                let one = &lanes[lane];
                let (bytes, writes) = (one.block_size.0, one.direction == Direction::Write);
                if due - begin >= limits.time.0 || writes && written + bytes > limits.written.0 {
                    has_ended = true;
                    slots.clear();
                    continue;
                }
                written += if writes { bytes } else { 0 };
                self.written += if writes { bytes } else { 0 };
                let (random, count, _) = &mut states[lane];
                let blocks = one.span.0 / bytes;
                let block = match one.access {
                    Access::Sequential => *count % blocks,
                    Access::Random => random.below(blocks),
                };
                *count += 1;
                self.drive.agenda.now = due;
                let id = self.drive.submit(one.direction, one.offset.0 + block * bytes, bytes);
                in_flight.insert(id, (due, lane, slot));
            } else if let Some(id) = self.drive.step() {
                let (at, lane, slot) = in_flight.remove(&id).expect("a command in flight");
                last = self.drive.agenda.now;
                let record = &mut states[lane].2;
                record.add(Nanos(last - begin), limits.bin, lanes[lane].block_size.0);
                if record.latencies.len() < lanes[lane].latencies {
                    record.latencies.push((Nanos(at - begin), Nanos(last - at)));
                }
                if !has_ended {
                    slots.push(Reverse((last + lanes[lane].think.0, lane, slot)));
                }
            }
            if passage.observe(&self.drive) {
                return Ok(None);
            }
        }
        let lanes = states.into_iter().map(|state| state.2).collect();
        Ok(Some(LanesEnded { lanes, elapsed: Nanos(last - begin) }))
    }
}
