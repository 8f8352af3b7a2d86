//! The summary of a trace.

use crate::error::TraceError;
use crate::reader::Trace;
use crate::record::{Kind, TraceRecord};
use crate::sizes::Sizes;
use crate::working_set::WorkingSet;
use serde::Serialize;
use ssdgauge_core::{Histogram, Nanos};
use std::collections::{BTreeMap, BTreeSet};

/// The lengths that a summary lists.
const LISTED_SIZES: usize = 10;
/// The idle times whose number and sum a summary gives: the cuts of the published trace tests.
const IDLE_FROM: [Nanos; 2] = [Nanos(25_000_000), Nanos::SECOND];
/// The maximum number of streams whose positions are followed for the sequential share.
const MAX_POSITIONS: usize = 16_384;

/// The summary of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The name of the format.
    pub format: &'static str,
    /// A number that follows from the requests alone: equal traces have equal ones in every format.
    pub id: String,
    /// Requests of all kinds.
    pub requests: u64,
    /// From the first submission to the last completion, or to the last submission where the trace has
    /// no response times.
    pub duration_s: f64,
    /// Requests by what they do, those that occur.
    pub directions: Vec<DirectionSummary>,
    /// The most frequent lengths of reads and writes.
    pub sizes: Vec<SizeShare>,
    /// The share of reads and writes of all other lengths.
    pub other_sizes_share: f64,
    /// Requests divided by the duration.
    pub requests_per_second: Option<f64>,
    /// The maximum number of requests that were submitted in one second, from the start of the trace.
    pub peak_per_second: u64,
    /// The mean of the requests in flight by the recorded times; `None` without response times.
    pub mean_depth: Option<f64>,
    /// Bytes of the blocks that reads and writes address, each counted once.
    pub working_set_bytes: u64,
    /// The length of these blocks.
    pub working_set_block: u64,
    /// The end of the addressed range.
    pub end_bytes: u64,
    /// The share of reads and writes that begin where the one before ended, of their stream and
    /// direction.
    pub sequential_share: Option<f64>,
    /// Idle times: without a request in flight, or between submissions where the trace has no response
    /// times.
    pub idle: Vec<IdleSummary>,
    /// The longest idle time.
    pub idle_longest_s: f64,
    /// Disks, volumes or streams.
    pub streams: u64,
    /// Whether requests have response times.
    pub has_response_times: bool,
    /// The largest unit of which all times are multiples, in nanoseconds: the resolution of the trace.
    pub time_resolution_ns: u64,
    /// Lines or records that hold no request.
    pub ignored: u64,
    /// Requests that the trace says it lacks.
    pub lost: u64,
    /// Requests that were rounded outward to whole sectors.
    pub rounded: u64,
}

/// The requests of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DirectionSummary {
    /// `read`, `write`, `discard` or `flush`.
    pub kind: &'static str,
    /// Requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
    /// The share of all requests.
    pub share: f64,
    /// The mean response time.
    pub response_mean_us: Option<f64>,
    /// The response time, 99th percentile.
    pub response_p99_us: Option<f64>,
}

/// One length of reads and writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeShare {
    /// The length.
    pub bytes: u64,
    /// Requests of this length.
    pub requests: u64,
    /// Their share of all reads and writes.
    pub share: f64,
}

/// Idle times from a length on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IdleSummary {
    /// The minimum length.
    pub from_s: f64,
    /// Their number.
    pub count: u64,
    /// Their sum.
    pub total_s: f64,
}

impl Summary {
    /// Reads a trace to its end.
    ///
    /// # Errors
    /// That of the trace; a trace without any request.
    pub fn of(trace: &mut Trace) -> Result<Summary, TraceError> {
        let mut sums = Sums::new();
        while let Some(record) = trace.read()? {
            sums.add(&record);
        }
        if sums.requests == 0 {
            return Err(TraceError::new("it has no request", "name a trace with requests"));
        }
        Ok(sums.summary(trace))
    }
}

/// The sums of a trace so far.
struct Sums {
    requests: u64,
    hash: u64,
    by_kind: [(u64, u64); 4],
    responses: [Histogram; 4],
    has_responses: bool,
    response_sum: u128,
    /// The last completion or submission.
    end: u64,
    last: u64,
    sizes: Sizes,
    second: (u64, u64),
    peak: u64,
    working_set: WorkingSet,
    end_bytes: u64,
    /// The end of the last request of each stream and kind.
    positions: BTreeMap<(u16, Kind), u64>,
    sequential: u64,
    idle: [(u64, u64); 2],
    /// The same between submissions.
    gaps: [(u64, u64); 2],
    longest: [u64; 2],
    streams: BTreeSet<u16>,
    resolution: u64,
}

impl Sums {
    fn new() -> Sums {
        Sums {
            requests: 0,
            // The offset basis of FNV-1a, whose steps over words follow in `mix`.
            hash: 0xcbf2_9ce4_8422_2325,
            by_kind: [(0, 0); 4],
            responses: Default::default(),
            has_responses: false,
            response_sum: 0,
            end: 0,
            last: 0,
            sizes: Sizes::default(),
            second: (0, 0),
            peak: 0,
            working_set: WorkingSet::new(),
            end_bytes: 0,
            positions: BTreeMap::new(),
            sequential: 0,
            idle: [(0, 0); 2],
            gaps: [(0, 0); 2],
            longest: [0; 2],
            streams: BTreeSet::new(),
            resolution: 0,
        }
    }

    fn mix(&mut self, word: u64) {
        self.hash = (self.hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    }

    fn add(&mut self, record: &TraceRecord) {
        let TraceRecord { at, kind, stream, offset, length, response } = *record;
        self.requests += 1;
        for word in [at.0, kind as u64, u64::from(stream), offset.0, length.0] {
            self.mix(word);
        }
        self.mix(response.map_or(0, |response| response.0 + 1));
        let (count, bytes) = &mut self.by_kind[kind as usize];
        (*count, *bytes) = (*count + 1, bytes.saturating_add(length.0));
        self.add_times(at.0, kind, response);
        self.streams.insert(stream);
        if kind.direction().is_some() {
            self.sizes.add(length.0);
            self.working_set.add(offset.0, length.0);
            self.end_bytes = self.end_bytes.max(record.end().0);
            let known = self.positions.len();
            match self.positions.get_mut(&(stream, kind)) {
                Some(end) => {
                    self.sequential += u64::from(*end == offset.0);
                    *end = record.end().0;
                }
                None if known < MAX_POSITIONS => {
                    self.positions.insert((stream, kind), record.end().0);
                }
                None => {}
            }
        }
    }

    fn add_times(&mut self, at: u64, kind: Kind, response: Option<Nanos>) {
        if let Some(response) = response {
            self.has_responses = true;
            self.response_sum += u128::from(response.0);
            self.responses[kind as usize].record(response.0);
        }
        let idle = [at.saturating_sub(self.end), at.saturating_sub(self.last)];
        if self.requests > 1 {
            for (sums, idle) in [(&mut self.idle, idle[0]), (&mut self.gaps, idle[1])] {
                for ((count, sum), from) in sums.iter_mut().zip(IDLE_FROM) {
                    if idle >= from.0 {
                        (*count, *sum) = (*count + 1, *sum + idle);
                    }
                }
            }
            self.longest = [self.longest[0].max(idle[0]), self.longest[1].max(idle[1])];
        }
        self.resolution = greatest_common_divisor(self.resolution, at - self.last);
        self.last = at;
        self.end = self.end.max(at.saturating_add(response.unwrap_or_default().0));
        let second = at / Nanos::SECOND.0;
        self.second =
            if second == self.second.0 { (second, self.second.1 + 1) } else { (second, 1) };
        self.peak = self.peak.max(self.second.1);
    }

    fn summary(&self, trace: &Trace) -> Summary {
        let notes = trace.notes();
        let duration = Nanos(self.end).as_secs_f64();
        let transfers = self.by_kind[0].0 + self.by_kind[1].0;
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        let (sizes, others) = self.sizes.most_frequent(LISTED_SIZES);
        let which = usize::from(!self.has_responses);
        let idle = if self.has_responses { self.idle } else { self.gaps };
        let kinds = Kind::ALL.into_iter().zip(self.by_kind).zip(&self.responses);
        Summary {
            format: trace.format().name(),
            id: format!("{:016x}", self.hash),
            requests: self.requests,
            duration_s: duration,
            directions: kinds
                .filter(|((_, (count, _)), _)| *count > 0)
                .map(|((kind, (count, bytes)), responses)| DirectionSummary {
                    kind: kind.name(),
                    requests: count,
                    bytes,
                    share: share(count, self.requests),
                    response_mean_us: responses.mean().map(|ns| ns / 1e3),
                    response_p99_us: responses.percentile(0.99).map(|ns| ns as f64 / 1e3),
                })
                .collect(),
            sizes: sizes
                .into_iter()
                .map(|(bytes, requests)| SizeShare {
                    bytes,
                    requests,
                    share: share(requests, transfers),
                })
                .collect(),
            other_sizes_share: share(others, transfers),
            requests_per_second: (duration > 0.0).then(|| self.requests as f64 / duration),
            peak_per_second: self.peak,
            mean_depth: (self.has_responses && self.end > 0)
                .then(|| self.response_sum as f64 / self.end as f64),
            working_set_bytes: self.working_set.bytes().0,
            working_set_block: self.working_set.bytes().1,
            end_bytes: self.end_bytes,
            sequential_share: (transfers > 0).then(|| share(self.sequential, transfers)),
            idle: idle
                .into_iter()
                .zip(IDLE_FROM)
                .map(|((count, sum), from)| IdleSummary {
                    from_s: from.as_secs_f64(),
                    count,
                    total_s: Nanos(sum).as_secs_f64(),
                })
                .collect(),
            idle_longest_s: Nanos(self.longest[which]).as_secs_f64(),
            streams: self.streams.len() as u64,
            has_response_times: self.has_responses,
            time_resolution_ns: self.resolution.max(1),
            ignored: notes.ignored,
            lost: notes.lost,
            rounded: notes.rounded,
        }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
