//! Expected duration and bytes of one step on a drive of assumed rates, and the state that it leaves.
//!
//! Three facts about the drive change the rate of its writes by more than a half: the room in its
//! cache, the flash that was never written since a purge, and the data that random writes have to
//! share the flash with. Everything else is a rate. It is not a model of a drive: it knows no second and
//! no request.

use super::rates::AssumedRates;
use ssdgauge_core::{
    Access, Bytes, Direction, LatencyClock, MAX_LAG, Nanos, Operation, Preparation, Stream, Until,
    Workload,
};
use ssdgauge_statistics::spare_area;
use std::cell::Cell;

/// The unit in which flash is mapped: a smaller write rewrites all of it. 4 KiB in almost every drive.
const MAPPED: f64 = 4_096.0;

/// The share of the spare area that garbage collection can use; the rest is held free. Chosen: some
/// superblocks are open or reserved.
const USABLE_SPARE: f64 = 0.93;

/// The rate at which one die programs, in MB/s: what a single write that has to be non-volatile waits for.
/// Chosen: TLC flash programs 40 to 100 MB/s in each die.
const DIE_MB_S: f64 = 90.0;

/// The weight of requests and link relative to the flash: reads alone keep their latencies up to a higher share.
/// Chosen: loads passed on virtual drives up to 95 % of the requests, and 55 % of the flash.
const LATENCY_TOLERANCE: f64 = 0.58;

/// Time and bytes of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Effort {
    /// Its duration in seconds.
    pub(super) seconds: f64,
    /// The bytes that the host writes.
    pub(super) written: f64,
    /// The bytes of reads and writes together.
    pub(super) moved: f64,
    /// The requests, flushes and trims among them.
    pub(super) requests: f64,
}

impl Effort {
    /// Returns both together.
    pub(super) fn plus(self, other: Effort) -> Effort {
        Effort {
            seconds: self.seconds + other.seconds,
            written: self.written + other.written,
            moved: self.moved + other.moved,
            requests: self.requests + other.requests,
        }
    }

    /// Returns `factor` of it.
    pub(super) fn times(self, factor: f64) -> Effort {
        Effort {
            seconds: self.seconds * factor,
            written: self.written * factor,
            moved: self.moved * factor,
            requests: self.requests * factor,
        }
    }
}

/// A drive of assumed rates.
#[derive(Clone, Debug)]
pub(super) struct DriveState {
    rates: AssumedRates,
    capacity: f64,
    /// Bytes of flash that were written since the last purge; at most all of it.
    used: f64,
    /// Bytes that hold data.
    live: f64,
    /// Free bytes of the cache.
    cache: f64,
    /// The spare area that was asked for last, with its write amplification: steps and rounds after a
    /// preconditioning have the same one, and it takes 40 logarithms.
    amplification: Cell<(f64, f64)>,
}

/// The requests and bytes that a workload moves in a second.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Bytes written by the host.
    written: f64,
    /// Bytes of reads, writes and trims together.
    moved: f64,
    /// Requests.
    requests: f64,
    /// Bytes that the flash takes for the writes: at least a mapped unit for each request.
    programmed: f64,
    /// The share of the load of an open loop that the drive serves; `None` for a closed loop, which
    /// waits and so never falls behind.
    served: Option<f64>,
    /// The share of the time of the flash that the reads take, where the link is faster than the flash.
    reading: f64,
    /// The share of requests and link that a load with due times would use; above 1 it is not served. 0
    /// without due times.
    busy: f64,
    /// The same share of the slots of its streams.
    slots: f64,
}

impl DriveState {
    /// Returns a purged drive of `capacity`.
    ///
    /// The state of a drive before a run is not known; a suite that depends on it begins with a purge.
    pub(super) fn new(rates: &AssumedRates, capacity: Bytes) -> DriveState {
        let mut drive = DriveState {
            rates: *rates,
            capacity: capacity.0.max(1) as f64,
            used: 0.0,
            live: 0.0,
            cache: 0.0,
            amplification: Cell::new((f64::NAN, f64::NAN)),
        };
        drive.purge();
        drive
    }

    /// Returns a drive of other rates in the same state.
    pub(super) fn with_rates(&self, rates: &AssumedRates) -> DriveState {
        DriveState { rates: *rates, ..self.clone() }
    }

    fn purge(&mut self) {
        (self.used, self.live) = (0.0, 0.0);
        self.cache = self.capacity * self.rates.cache_share;
    }

    /// Returns the flash that can hold data.
    fn flash(&self) -> f64 {
        self.capacity * (1.0 + self.rates.spare * USABLE_SPARE)
    }

    /// Rests for `seconds`: the cache is emptied.
    pub(super) fn rest(&mut self, seconds: f64) {
        let full = self.capacity * self.rates.cache_share;
        self.cache = (self.cache + seconds * self.rates.refill_mb_s * 1e6).min(full);
    }

    /// Carries out `preparation`.
    pub(super) fn prepare(&mut self, preparation: &Preparation) -> Effort {
        let command = Effort { seconds: self.rates.purge_s, ..Effort::default() };
        match *preparation {
            Preparation::Purge | Preparation::PurgeBy(_) => {
                self.purge();
                command
            }
            Preparation::Trim { span, .. } => {
                self.live = (self.live - span.0 as f64).max(0.0);
                command
            }
            Preparation::Fill { access, block_size, offset, span } => {
                let is_random = access == Access::Random;
                self.write_once(block_size, offset, span, is_random)
            }
            Preparation::Power(_) | Preparation::WriteCache(_) => Effort::default(),
        }
    }

    /// Writes a range once, with enough requests in flight for the full rate.
    fn write_once(&mut self, block: Bytes, offset: Bytes, span: Bytes, is_random: bool) -> Effort {
        let end = (offset + span).0 as f64;
        let block = block.0.max(1) as f64;
        let written = self.rates.write_iops * MAPPED.max(block);
        let requests = written / block;
        let flow =
            Flow { written, moved: written, requests, programmed: written, ..Flow::default() };
        let random_span = is_random.then_some(span.0 as f64);
        self.advance(flow, None, Some(span.0 as f64), random_span, end)
    }

    /// Runs `workload` up to the first limit of `until`.
    pub(super) fn run(&mut self, workload: &Workload, until: &Until) -> Effort {
        let flow = self.demand(workload);
        let writes = || workload.streams.iter().filter(|stream| stream.writes());
        let end = writes().map(|stream| (stream.offset + stream.span).0 as f64).fold(0.0, f64::max);
        let random = writes().filter(|stream| !stream.is_sequential());
        let random_span = random.map(|stream| stream.span.0 as f64).fold(0.0, f64::max);
        let random_span = Some(random_span).filter(|span| *span > 0.0);
        let bytes = until.bytes.map(|bytes| workload.whole_requests(bytes).0 as f64);
        let effort =
            self.advance(flow, until.time.map(Nanos::as_secs_f64), bytes, random_span, end);
        effort.plus(self.last_bursts(workload, effort, bytes.unwrap_or(f64::INFINITY)))
    }

    /// Returns what streams with a think time send in the bursts that the mean rate of `effort` has only a
    /// part of: a burst begins with its first request. At most `bytes` are moved in all.
    fn last_bursts(&self, workload: &Workload, effort: Effort, bytes: f64) -> Effort {
        let mut sum = Effort::default();
        for stream in workload.streams.iter().filter(|stream| stream.think_time.is_some()) {
            let depth = f64::from(stream.total_depth());
            let bursts = effort.seconds * self.most_requests(stream) / depth;
            let moved = (bursts.ceil() - bursts) * depth * stream.mean_size();
            sum.moved += moved;
            sum.requests += moved / stream.mean_size();
            sum.written += moved * shares(stream)[1];
        }
        let share = ((bytes - effort.moved) / sum.moved.max(1.0)).clamp(0.0, 1.0);
        sum.times(share)
    }

    /// Moves `flow`, as far as the writes allow, until `seconds` or `bytes` are reached. The rate of
    /// the writes changes where the cache is full and where all flash is written.
    fn advance(
        &mut self,
        flow: Flow,
        seconds: Option<f64>,
        bytes: Option<f64>,
        random_span: Option<f64>,
        end: f64,
    ) -> Effort {
        let mut sum = Effort::default();
        let (mut seconds, mut bytes) =
            (seconds.unwrap_or(f64::INFINITY), bytes.unwrap_or(f64::INFINITY));
        debug_assert!(seconds.is_finite() || bytes.is_finite(), "a step has a limit");
        // Cache, flash that is free, garbage collection: at most one change from each.
        for _ in 0..4 {
            let (most, room) = self.write_limit(random_span);
            // Reads and programs take turns on the flash.
            let share = 1.0 / (flow.reading + flow.programmed / most).max(1.0);
            let (moved, programmed) = (flow.moved * share, flow.programmed * share);
            // An open loop that falls behind by this lag ends the step.
            let unserved = flow.served.map_or(0.0, |served| 1.0 - served * share);
            let lag = MAX_LAG.as_secs_f64() / unserved.max(1e-9);
            let lasts = seconds.min(bytes / moved.max(1.0)).min(lag);
            let until_change = room / programmed.max(1.0);
            let time = lasts.min(until_change);
            self.take(programmed * time, random_span.is_some(), end);
            sum.seconds += time;
            sum.written += flow.written * share * time;
            sum.moved += moved * time;
            sum.requests += flow.requests * share * time;
            (seconds, bytes) = (seconds - time, bytes - moved * time);
            if lasts <= until_change {
                break;
            }
        }
        sum
    }

    /// Returns the rate at which the drive takes writes, in bytes a second, and the bytes after which it
    /// changes.
    fn write_limit(&self, random_span: Option<f64>) -> (f64, f64) {
        let mb = 1e6;
        if self.cache >= 1.0 {
            return (self.rates.cached_write_mb_s * mb, self.cache);
        }
        let free = self.flash() - self.used;
        let large = self.rates.large_write_mb_s * mb;
        let (Some(span), true) = (random_span, free < 1.0) else {
            return (large, if random_span.is_some() { free } else { f64::INFINITY });
        };
        let spare = (self.flash() - self.live) / span.max(1.0);
        if self.amplification.get().0 != spare {
            self.amplification.set((spare, write_amplification(spare)));
        }
        let collected = self.rates.flash_write_mb_s * mb / self.amplification.get().1;
        (collected.min(large), f64::INFINITY)
    }

    /// Returns the largest share of requests, link, slots and flash that `workload` would use on the drive
    /// when all its flash was written; above 1 it cannot be served.
    ///
    /// A step of `within` shows full slots only where the load falls behind by the lag that ends it:
    /// latencies are those of the reads, which have slots of their own.
    pub(super) fn utilisation(&self, workload: &Workload, within: Nanos) -> f64 {
        let flow = self.demand(workload);
        let worn = DriveState { used: self.flash(), cache: 0.0, ..self.clone() };
        let span = workload.streams.iter().map(|stream| stream.span.0 as f64).fold(1.0, f64::max);
        let (most, _) = worn.write_limit(Some(span));
        let served = flow.served.unwrap_or(1.0).max(1e-9);
        let unserved = 1.0 - 1.0 / flow.slots.max(1.0);
        let is_seen = within.as_secs_f64() * unserved >= MAX_LAG.as_secs_f64();
        // Until all flash is written, garbage collection takes nothing of the writes.
        let is_worn = flow.programmed * within.as_secs_f64() >= self.flash() - self.used;
        let most = if is_worn { most } else { self.rates.large_write_mb_s * 1e6 };
        match is_seen {
            true => flow.busy.max(flow.slots).max(flow.programmed / served / most),
            false => (flow.busy * LATENCY_TOLERANCE).max(flow.programmed / most),
        }
    }

    /// Counts `bytes` that were written below `end`.
    fn take(&mut self, bytes: f64, is_random: bool, end: f64) {
        self.cache = (self.cache - bytes).max(0.0);
        // Random writes reach every block of their span sooner or later.
        let reached = if is_random { end } else { end.min(self.live + bytes) };
        self.live = self.live.max(reached).min(self.capacity);
        // A sequential pass over old data leaves whole blocks without valid data, which are free.
        self.used = match is_random {
            true => (self.used + bytes).min(self.flash()),
            false => self.used.max(self.live),
        };
    }

    /// Returns what `workload` asks of a drive that takes any writes: limited by latencies at its queue
    /// depth, by requests a second and by the link.
    fn demand(&self, workload: &Workload) -> Flow {
        let rates = &self.rates;
        let (mut flow, mut reads) = (Flow::default(), 0.0);
        // The use of the drive by the streams whose requests have a due time.
        let (mut due, mut busy, mut reading_requests) = (0.0_f64, 0.0, 0.0);
        let (mut has_due, mut trimmed) = (false, 0.0);
        for stream in &workload.streams {
            let [reading, writing] = shares(stream);
            let block = stream.mean_size();
            let offered = stream.arrival.per_second().unwrap_or(f64::INFINITY);
            let served = self.most_requests(stream);
            let per_second = offered.min(served) * stream.share_of_time();
            reading_requests += per_second * reading / rates.read_iops;
            busy += per_second * (reading / rates.read_iops + writing / rates.write_iops);
            reads += per_second * reading * block;
            flow.requests += per_second;
            if stream.trims() {
                trimmed += per_second * block;
            }
            flow.written += per_second * writing * block;
            flow.programmed += per_second * writing * block.max(MAPPED);
            if offered.is_finite() && stream.clock == LatencyClock::Due {
                has_due = true;
                due = due.max(offered / served);
            }
        }
        let link = rates.large_read_mb_s * 1e6;
        let link = match rates.is_half_duplex {
            true => (reads + flow.written) / link,
            false => reads.max(flow.written) / link,
        };
        let busy = busy.max(link);
        let share = 1.0 / busy.max(1.0);
        // A link that reads and writes share is slower than the flash, and is counted above.
        let reading = match rates.is_half_duplex {
            true => 0.0,
            false => reading_requests.max(reads / (rates.large_read_mb_s * 1e6)) * share,
        };
        Flow {
            reading,
            written: flow.written * share,
            moved: (reads + flow.written + trimmed) * share,
            requests: flow.requests * share,
            programmed: flow.programmed * share,
            served: has_due.then_some(share / due.max(1.0)),
            busy: if has_due { busy } else { 0.0 },
            slots: due,
        }
    }

    /// Returns the maximum number of requests a second of `stream` alone, by Little's law; no limit for an open loop
    /// with as many requests in flight as it needs.
    fn most_requests(&self, stream: &Stream) -> f64 {
        let rates = &self.rates;
        let [reading, writing] = shares(stream);
        let transfer = stream.mean_size() / rates.large_read_mb_s;
        let random = stream.random_share();
        let read_lat_us =
            random * rates.read_lat_us + (1.0 - random) * rates.sequential_read_lat_us;
        let write_lat_us = match stream.sync && rates.durable_write_lat_us > rates.write_lat_us {
            true => rates.durable_write_lat_us + stream.mean_size() / DIE_MB_S,
            false => rates.write_lat_us,
        };
        let seconds = match stream.operation {
            Operation::Transfer => {
                let flush_us = match stream.flush_every {
                    Some(every) => rates.durable_write_lat_us / f64::from(every.max(1)),
                    None => 0.0,
                };
                let write_us = write_lat_us + transfer + flush_us;
                (reading * (read_lat_us + transfer) + writing * write_us) / 1e6
            }
            // Assumed: a command without data takes as long as a write to the cache.
            Operation::Flush | Operation::Trim => write_lat_us / 1e6,
        };
        // A thread sends as many requests as its queue depth, and then none for the think time.
        let seconds = seconds + stream.think_time.map_or(0.0, |time| time.as_secs_f64());
        let in_flight = match (stream.arrival.per_second(), stream.clock) {
            // A service thread waits for its request.
            (None, _) | (Some(_), LatencyClock::Submission) => Some(stream.total_depth()),
            (Some(_), LatencyClock::Due) => stream.in_flight_limit(),
        };
        let depth = |requests: u32| f64::from(requests).min(rates.queue_depth) / seconds.max(1e-9);
        in_flight.map_or(f64::INFINITY, depth)
    }
}

/// Returns the shares of reads and of writes of a stream.
fn shares(stream: &Stream) -> [f64; 2] {
    [Direction::Read, Direction::Write].map(|one| f64::from(stream.percent_of(one)) / 100.0)
}

/// Returns the write amplification of uniform random writes at `spare`, as a share of the data that is
/// written: the inverse of [`spare_area::from_write_amplification`].
fn write_amplification(spare: f64) -> f64 {
    // A spare area below 1 % is held free by every drive: its collection would not end.
    let spare = spare.max(0.01);
    let (mut low, mut high) = (1.0, 100.0);
    // The spare area falls as the write amplification rises; 40 halvings give 10 digits.
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        match spare_area::from_write_amplification(middle, None) {
            Some(needed) if needed <= spare => high = middle,
            Some(_) | None => low = middle,
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests;
