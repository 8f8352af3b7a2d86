//! Judges a load by the worst slice of its first stream's reads, as Aerospike ACT does.

use super::By;
use ssdgauge_core::search::Limits;
use ssdgauge_core::{
    BORNE, BORNE_FROM_SENDING, Direction, EndedBy, Finding, FindingKind, Histogram, Interval,
    Nanos, Reading, Severity, Sink,
};

/// The latencies of a step, slice by slice.
#[derive(Debug)]
pub(super) struct Slices {
    limits: Limits,
    slices: Vec<Histogram>,
}

impl Slices {
    pub(super) fn new(limits: &Limits) -> Slices {
        Slices { limits: limits.clone(), slices: Vec::new() }
    }

    /// Takes a second of one stream and direction.
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

    /// Tells, `at` the end of the step, the worst slice and whether the load was borne, as readings
    /// and in words.
    ///
    /// The verdict goes by the due times. Beside it stands the one by the clock that starts with
    /// the sending, over `service`, the times of the whole step: its slices are not kept apart.
    pub(super) fn tell(
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
        let lag = match by {
            By::Limit(EndedBy::DeviceLag) => Some("the drive fell more than 10 s behind"),
            By::Limit(EndedBy::HostLag) => Some("this host could not send the load"),
            By::Limit(EndedBy::Time | EndedBy::Bytes | EndedBy::Stop | EndedBy::Faults)
            | By::Steady
            | By::Done => None,
        };
        let broken = self.limits.broken(&worst);
        let borne = lag.is_none() && broken.is_none();
        read(BORNE.into(), f64::from(u8::from(borne)));
        if let Some(service) = service {
            let shares = self.limits.worst(std::slice::from_ref(service));
            for ((latency, _), share) in self.limits.above.iter().zip(&shares) {
                read(format!("from_sending_above_{latency}_percent"), *share);
            }
            let borne = lag.is_none() && self.limits.broken(&shares).is_none();
            read(BORNE_FROM_SENDING.into(), f64::from(u8::from(borne)));
        }
        let text = match (lag, broken) {
            (Some(lag), _) => lag.to_owned(),
            (None, Some((latency, share))) => {
                format!("{share:.3} % of the reads took longer than {latency} in the worst slice")
            }
            (None, None) => return true,
        };
        let (severity, advice) = match by {
            By::Limit(EndedBy::HostLag) => {
                (Severity::Warning, "the answer is a lower bound: a faster host may find more")
            }
            By::Limit(_) | By::Steady | By::Done => (Severity::Note, ""),
        };
        sink.finding(Finding::new(FindingKind::Overloaded, severity, text, advice));
        false
    }
}
