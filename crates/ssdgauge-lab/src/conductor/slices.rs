//! Verdict on a load by the worst slice of the requests that its search judges, the rule of Aerospike
//! ACT: a load passes where in each slice fewer requests than the limit take longer than each latency.

use super::By;
use ssdgauge_core::rounded::number;
use ssdgauge_core::search::{Judged, Limits, Search, SearchRule};
use ssdgauge_core::{
    Action, Arrival, Direction, EndedBy, FIRST_FAILED_SLICE, Finding, FindingKind, Histogram,
    Interval, Nanos, OpenLoop, PASSED, PASSED_BY_SERVICE_LATENCY, Reading, Severity, Sink, Stream,
    Workload,
};

/// The share of its requests that a stream may leave unsent at the end of a load that passes. In steps of
/// 1,000 s and more, the lag of 10 s that ends a step is the narrower limit; in shorter ones a drive can miss
/// most of the load without that lag. Chosen.
const MOST_UNSENT: f64 = 0.01;

/// Returns why a stream of a step of length `elapsed` was not carried; `None` where it was.
///
/// A latency from the submission does not contain the wait for it, and the limits are those of one stream,
/// so that no latency states it.
fn not_carried(open_loop: &OpenLoop, elapsed: Nanos) -> Option<String> {
    let asked = open_loop.asked_per_second * elapsed.as_secs_f64();
    // One request is due at the very end.
    let most = MOST_UNSENT * asked + 1.0;
    let unsent = open_loop.unsent as f64;
    (unsent > most).then(|| {
        let share = number(100.0 * unsent / asked.max(unsent));
        format!("{share} % of the requests of stream '{}' were not sent", open_loop.stream)
    })
}

/// The standard deviations by which the requests of a slice may exceed their mean: the variance of a
/// Poisson count is its mean, and five of them are exceeded once in 3.5 million slices.
const DEVIATIONS: f64 = 5.0;

/// Returns the maximum number of requests of `stream` in the judged direction that a slice of so many seconds offers;
/// `None` for a closed loop.
fn offered(stream: &Stream, of: Judged, seconds: f64) -> Option<f64> {
    let all = stream.arrival.per_second()? * seconds;
    let all = match stream.arrival {
        Arrival::Poisson { .. } => all + DEVIATIONS * all.sqrt(),
        Arrival::Closed
        | Arrival::Uniform { .. }
        | Arrival::InPhase { .. }
        | Arrival::Recorded { .. } => all,
    };
    let percent = match of.direction {
        Direction::Read | Direction::Write => stream.percent_of(of.direction),
        // At most one follows each write.
        Direction::Flush | Direction::Trim => 100,
    };
    // A share is exact over every 100 requests of a thread; of the last ones all may be in this direction.
    let rest = match percent {
        100 => 0.0,
        _ => 100.0 * f64::from(stream.threads),
    };
    Some((all * f64::from(percent) / 100.0 + rest).min(all))
}

/// Latencies of the judged requests of a step by slice.
#[derive(Debug)]
pub(super) struct Slices {
    limits: Limits,
    /// The judged requests in words.
    requests: String,
    /// Whether their stream has requests of other directions, which its service latencies contain.
    is_mixed: bool,
    slices: Vec<Histogram>,
    /// The index of the last slice of a step that has a limit of time.
    last: usize,
    /// Judged requests above each latency in the current slice.
    above: Vec<u64>,
    /// The most judged requests that a whole slice of this step offers; `None` where an attempt runs to
    /// its end anyway.
    offered: Option<f64>,
    cannot_pass: bool,
}

impl Slices {
    /// Returns the slices of a step of `search`.
    pub(super) fn new(search: &Search, action: &Action) -> Slices {
        let limits = search.limits.clone();
        assert!(
            limits.slice >= Nanos::SECOND,
            "a slice of {} holds no interval",
            limits.slice.about()
        );
        let no_load = Workload::no_load();
        let workload = action.workload().unwrap_or(no_load);
        let of = limits.of;
        let stream = workload.streams.get(usize::from(of.stream));
        let limit = action.until().and_then(|until| until.time);
        let time = limit.unwrap_or(limits.slice);
        let slice = limits.slice.min(time).as_secs_f64();
        let offered = match search.rule {
            SearchRule::DownFromProbe => None,
            SearchRule::FromOneState => stream.and_then(|stream| offered(stream, of, slice)),
        };
        let is_mixed = stream.is_some_and(|stream| stream.reads() && stream.writes());
        let (requests, above) = (of.words(workload), vec![0; limits.above.len()]);
        let slices = Vec::new();
        let of_time = |time: Nanos| (time.0.div_ceil(limits.slice.0).max(1) - 1) as usize;
        let last = limit.map_or(usize::MAX, of_time);
        Slices { limits, requests, is_mixed, slices, last, above, offered, cannot_pass: false }
    }

    /// Returns whether a limit is exceeded whatever the rest of the slice brings.
    pub(super) fn cannot_pass(&self) -> bool {
        self.cannot_pass
    }

    /// Adds a second of one stream and direction; a second belongs to the slice of its start.
    pub(super) fn interval(&mut self, interval: &Interval) {
        let begin = Nanos::SECOND * u64::from(interval.second);
        let Judged { stream, direction } = self.limits.of;
        if interval.stream != stream || interval.direction != direction {
            return;
        }
        // What completes after the end of the step belongs to its last slice: alone it would be one of the
        // slowest requests only.
        let slice = ((begin.0 / self.limits.slice.0) as usize).min(self.last);
        if self.slices.len() <= slice {
            self.slices.resize(slice + 1, Histogram::default());
            self.above.fill(0);
        }
        self.slices[slice].merge(&interval.latency);
        self.watch(&interval.latency);
    }

    /// Counts the requests of a second above each latency.
    fn watch(&mut self, latency: &Histogram) {
        let Some(offered) = self.offered else { return };
        for ((limit, percent), above) in self.limits.above.iter().zip(&mut self.above) {
            let share = latency.share_above(limit.0).unwrap_or(0.0);
            *above += (share * latency.count() as f64).round() as u64;
            self.cannot_pass |= *above as f64 > offered * percent / 100.0;
        }
    }

    /// Returns the number, from 1, of the first of several slices in which a load failed that ended at `at`: the
    /// first one that reaches a limit, otherwise the one in which it ended.
    fn first_failed(&self, at: Nanos) -> Option<u32> {
        let fails = |slice: &Histogram| {
            let shares = self.limits.worst(std::slice::from_ref(slice));
            self.limits.broken(&shares).is_some()
        };
        let ended = || (at.0.saturating_sub(1) / self.limits.slice.0) as usize;
        let first = self.slices.iter().position(fails).unwrap_or_else(|| ended().min(self.last));
        (self.last > 0).then(|| u32::try_from(first + 1).ok()).flatten()
    }

    /// Returns whether the load passed, and records the verdict `at` the end of the step: readings
    /// of the worst slice, and a finding where it did not pass.
    ///
    /// The verdict counts latencies by the clock of the stream. A second one counts them from submission,
    /// over the service times of the whole step, which are not divided into slices, and are given where
    /// all requests of the stream are judged. `open_loops` are the figures of the streams: a load that was
    /// not sent does not pass, whatever its latencies, and neither does one without a judged request.
    pub(super) fn judge(
        self,
        by: By,
        at: Nanos,
        open_loops: &[OpenLoop],
        sink: &mut dyn Sink,
    ) -> bool {
        let worst = self.limits.worst(&self.slices);
        let mut read = |quantity: String, value: f64| {
            let instrument = "limits".to_owned();
            sink.reading(&Reading { at, instrument, quantity, value });
        };
        for ((latency, _), share) in self.limits.above.iter().zip(&worst) {
            read(format!("worst_slice_above_{}_percent", latency.exact()), *share);
        }
        // A step that ended early by lag did not hold its load, whatever its latencies.
        let lag = match by {
            By::Limit(EndedBy::DeviceLag) => {
                Some("the drive fell more than 10 s behind the load".to_owned())
            }
            By::Limit(EndedBy::HostLag) => Some("the host could not send the load".to_owned()),
            By::Limit(EndedBy::Time | EndedBy::Bytes | EndedBy::Stop | EndedBy::Faults)
            | By::Steady
            | By::TooSlow
            | By::Done => open_loops.iter().find_map(|one| not_carried(one, at)),
        };
        let broken = self.limits.broken(&worst);
        let is_judged = self.slices.iter().any(|slice| slice.count() > 0);
        let passed = is_judged && lag.is_none() && broken.is_none() && !self.cannot_pass;
        read(PASSED.into(), f64::from(u8::from(passed)));
        let first_failed = if passed { None } else { self.first_failed(at) };
        if let Some(slice) = first_failed {
            read(FIRST_FAILED_SLICE.into(), f64::from(slice));
        }
        let open_loop = open_loops.get(usize::from(self.limits.of.stream));
        if let Some(service) = open_loop.filter(|_| !self.is_mixed).and_then(OpenLoop::service) {
            let shares = self.limits.worst(std::slice::from_ref(&service));
            for ((latency, _), share) in self.limits.above.iter().zip(&shares) {
                read(format!("from_sending_above_{}_percent", latency.exact()), *share);
            }
            let passed =
                lag.is_none() && self.limits.broken(&shares).is_none() && !self.cannot_pass;
            read(PASSED_BY_SERVICE_LATENCY.into(), f64::from(u8::from(passed)));
        }
        let text = match (lag, broken) {
            (Some(lag), _) => lag,
            (None, Some((latency, share))) => {
                let (share, latency) = (number(share), latency.about());
                let requests = &self.requests;
                let length = self.limits.slice.about();
                let first = first_failed.map(|slice| {
                    format!("; slice {slice}, each of {length}, is the first that fails")
                });
                let first = first.unwrap_or_default();
                format!(
                    "{share} % of the {requests} took longer than {latency} in the worst slice{first}"
                )
            }
            (None, None) if self.cannot_pass => {
                format!("more {} exceeded a latency than a whole slice allows", self.requests)
            }
            (None, None) if !is_judged => {
                format!("there were no {}, so that no latency was judged", self.requests)
            }
            (None, None) => return true,
        };
        let (severity, advice) = match by {
            By::Limit(EndedBy::HostLag) => (
                Severity::Warning,
                "the result is a lower bound: a faster host may pass a higher load",
            ),
            By::Limit(_) | By::Steady | By::TooSlow | By::Done => (Severity::Note, ""),
        };
        sink.finding(Finding::new(FindingKind::Overloaded, severity, text, advice));
        false
    }
}
