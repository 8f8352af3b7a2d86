//! Verdict on a load by the worst slice of the reads of its first stream, the rule of Aerospike
//! ACT: a load passes where in each slice fewer reads than the limit take longer than each latency.

use super::By;
use ssdgauge_core::search::Limits;
use ssdgauge_core::{
    Direction, EndedBy, Finding, FindingKind, Histogram, Interval, Nanos, PASSED,
    PASSED_BY_SERVICE_LATENCY, Reading, Severity, Sink,
};

/// Read latencies of a step by slice.
#[derive(Debug)]
pub(super) struct Slices {
    limits: Limits,
    slices: Vec<Histogram>,
}

impl Slices {
    pub(super) fn new(limits: &Limits) -> Slices {
        assert!(limits.slice >= Nanos::SECOND, "a slice of {} holds no interval", limits.slice);
        Slices { limits: limits.clone(), slices: Vec::new() }
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
        }
        self.slices[slice].merge(&interval.latency);
    }

    /// Returns whether the load passed, and records the verdict `at` the end of the step: readings
    /// of the worst slice, and a finding where it did not pass.
    ///
    /// The verdict counts latencies from the due time. A second one counts them from submission,
    /// over `service`, the service times of the whole step, which are not divided into slices.
    pub(super) fn judge(
        self,
        by: By,
        at: Nanos,
        service: Option<&Histogram>,
        sink: &mut dyn Sink,
    ) -> bool {
        let worst = self.limits.worst(&self.slices);
        let mut read = |quantity: String, value: f64| {
            let instrument = "limits".to_owned();
            sink.reading(&Reading { at, instrument, quantity, value });
        };
        for ((latency, _), share) in self.limits.above.iter().zip(&worst) {
            read(format!("worst_slice_above_{latency}_percent"), *share);
        }
        // A step that ended early by lag did not hold its load, whatever its latencies.
        let lag = match by {
            By::Limit(EndedBy::DeviceLag) => Some("the drive fell more than 10 s behind the load"),
            By::Limit(EndedBy::HostLag) => Some("the host could not send the load"),
            By::Limit(EndedBy::Time | EndedBy::Bytes | EndedBy::Stop | EndedBy::Faults)
            | By::Steady
            | By::Done => None,
        };
        let broken = self.limits.broken(&worst);
        let passed = lag.is_none() && broken.is_none();
        read(PASSED.into(), f64::from(u8::from(passed)));
        if let Some(service) = service {
            let shares = self.limits.worst(std::slice::from_ref(service));
            for ((latency, _), share) in self.limits.above.iter().zip(&shares) {
                read(format!("from_sending_above_{latency}_percent"), *share);
            }
            let passed = lag.is_none() && self.limits.broken(&shares).is_none();
            read(PASSED_BY_SERVICE_LATENCY.into(), f64::from(u8::from(passed)));
        }
        let text = match (lag, broken) {
            (Some(lag), _) => lag.to_owned(),
            (None, Some((latency, share))) => {
                format!("{share:.3} % of the reads took longer than {latency} in the worst slice")
            }
            (None, None) => return true,
        };
        let (severity, advice) = match by {
            By::Limit(EndedBy::HostLag) => (
                Severity::Warning,
                "the result is a lower bound: a faster host may pass a higher load",
            ),
            By::Limit(_) | By::Steady | By::Done => (Severity::Note, ""),
        };
        sink.finding(Finding::new(FindingKind::Overloaded, severity, text, advice));
        false
    }
}
