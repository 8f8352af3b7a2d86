//! Verdict on a load by the worst slice of the reads of its first stream, the rule of Aerospike
//! ACT: a load passes where in each slice fewer reads than the limit take longer than each latency.

use super::By;
use ssdgauge_core::rounded::number;
use ssdgauge_core::search::{Limits, Search, SearchRule};
use ssdgauge_core::{
    Action, Direction, EndedBy, Finding, FindingKind, Histogram, Interval, Nanos, OpenLoop, PASSED,
    PASSED_BY_SERVICE_LATENCY, Reading, Severity, Sink,
};

/// The share of its requests that a stream may leave unsent at the end of a load that passes. In steps of
/// 1,000 s and more, the lag of 10 s that ends a step is the narrower limit; in shorter ones a drive can miss
/// most of the load without that lag. Chosen.
const MOST_UNSENT: f64 = 0.01;

/// Returns why a stream of a step of length `elapsed` was not carried; `None` where it was.
///
/// A latency from the submission does not contain the wait for it, and the limits are those of the reads of
/// the first stream, so that no latency states it.
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

/// Read latencies of a step by slice.
#[derive(Debug)]
pub(super) struct Slices {
    limits: Limits,
    slices: Vec<Histogram>,
    /// Reads above each latency in the current slice.
    above: Vec<u64>,
    /// Reads that a whole slice of this step offers; `None` where an attempt runs to its end anyway.
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
        let rate = action.workload().and_then(|workload| workload.streams.first());
        let rate = rate.and_then(|stream| stream.arrival.per_second());
        let time = action.until().and_then(|until| until.time).unwrap_or(limits.slice);
        let slice = limits.slice.min(time).as_secs_f64();
        let offered = match search.rule {
            SearchRule::DownFromProbe => None,
            SearchRule::FromOneState => rate.map(|rate| rate * slice),
        };
        let above = vec![0; limits.above.len()];
        Slices { limits, slices: Vec::new(), above, offered, cannot_pass: false }
    }

    /// Returns whether a limit is exceeded whatever the rest of the slice brings.
    pub(super) fn cannot_pass(&self) -> bool {
        self.cannot_pass
    }

    /// Adds a second of one stream and direction; a second belongs to the slice of its start.
    pub(super) fn interval(&mut self, interval: &Interval) {
        let begin = Nanos::SECOND * u64::from(interval.second);
        if interval.stream != 0 || interval.direction != Direction::Read {
            return;
        }
        let slice = (begin.0 / self.limits.slice.0) as usize;
        if self.slices.len() <= slice {
            self.slices.resize(slice + 1, Histogram::default());
            self.above.fill(0);
        }
        self.slices[slice].merge(&interval.latency);
        self.watch(&interval.latency);
    }

    /// Counts the reads of a second above each latency.
    fn watch(&mut self, latency: &Histogram) {
        let Some(offered) = self.offered else { return };
        for ((limit, percent), above) in self.limits.above.iter().zip(&mut self.above) {
            let share = latency.share_above(limit.0).unwrap_or(0.0);
            *above += (share * latency.count() as f64).round() as u64;
            self.cannot_pass |= *above as f64 > offered * percent / 100.0;
        }
    }

    /// Returns whether the load passed, and records the verdict `at` the end of the step: readings
    /// of the worst slice, and a finding where it did not pass.
    ///
    /// The verdict counts latencies by the clock of the stream. A second one counts them from submission,
    /// over the service times of the whole step, which are not divided into slices. `open_loops` are the
    /// figures of the streams: a load that was not sent does not pass, whatever its latencies.
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
        let passed = lag.is_none() && broken.is_none() && !self.cannot_pass;
        read(PASSED.into(), f64::from(u8::from(passed)));
        if let Some(service) = open_loops.first().and_then(OpenLoop::service) {
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
                format!("{share} % of the reads took longer than {latency} in the worst slice")
            }
            (None, None) if self.cannot_pass => {
                "more reads exceeded a latency than a whole slice allows".to_owned()
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
