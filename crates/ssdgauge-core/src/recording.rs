//! A sink that keeps everything in memory, for measurements without a run file and for tests.

use crate::rig::Sink;
use crate::sample::{Direction, Finding, FindingKind, Interval, Reading, Severity};
use crate::statistics::histogram::Histogram;
use crate::units::Nanos;

/// Keeps what a rig hands over.
///
/// What is announced counts as recorded unless `refuses` is set: a recording is as durable as its
/// reader needs it to be.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Every interval, in the order of arrival.
    pub intervals: Vec<Interval>,
    /// Every reading, in the order of arrival.
    pub readings: Vec<Reading>,
    /// Every finding, announced ones included, in the order of arrival.
    pub findings: Vec<Finding>,
    /// How many findings were announced.
    pub announced: usize,
    /// Whether announcements are answered with "not recorded".
    pub refuses: bool,
    /// The number of stop requests that are answered with "go on"; no limit where there is none.
    pub stop_after: Option<u32>,
    /// How often the rig asked whether to stop.
    pub asked: u32,
}

impl Recording {
    /// Returns the completed requests in `direction`.
    pub fn ios(&self, direction: Direction) -> u64 {
        let intervals = self.intervals.iter().filter(|one| one.direction == direction);
        intervals.map(|interval| interval.ios).sum()
    }

    /// Returns the failed requests.
    pub fn errors(&self) -> u64 {
        self.intervals.iter().map(|interval| interval.errors).sum()
    }
}

impl Sink for Recording {
    fn interval(&mut self, interval: &Interval) {
        self.intervals.push(interval.clone());
    }

    fn reading(&mut self, reading: &Reading) {
        self.readings.push(reading.clone());
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn announce(&mut self, finding: Finding) -> bool {
        self.announced += 1;
        self.findings.push(finding);
        !self.refuses
    }

    fn stop(&mut self) -> bool {
        self.asked += 1;
        self.stop_after.is_some_and(|most| self.asked > most)
    }
}

/// Panics unless a decorator of sinks forwards every call, with the answers of the sink behind it.
///
/// `decorate` wraps the sink that it is given and runs the check with the wrapped one. A decorator
/// that answers an announcement by itself would let a rig send a command that cannot be undone
/// without a durable record of it.
///
/// # Panics
/// When a call is not forwarded, or an answer is changed.
pub fn check_forwarding(decorate: impl Fn(&mut dyn Sink, &mut dyn FnMut(&mut dyn Sink))) {
    let interval = Interval {
        second: 0,
        stream: 0,
        direction: Direction::Read,
        length: Nanos::from_secs(1),
        ios: 1,
        bytes: 4_096,
        errors: 0,
        latency: Histogram::default(),
    };
    let finding = || Finding::new(FindingKind::Model, Severity::Note, "text", "advice");
    for (refuses, stop_after) in [(false, None), (true, Some(0))] {
        let mut inner = Recording { refuses, stop_after, ..Recording::default() };
        decorate(&mut inner, &mut |sink| {
            assert_eq!(sink.announce(finding()), !refuses, "the answer to an announcement changed");
            assert_eq!(sink.stop(), stop_after.is_some(), "the answer to a stop request changed");
            sink.finding(finding());
            sink.reading(&Reading {
                at: Nanos::ZERO,
                instrument: "meter".into(),
                quantity: "power".into(),
                value: 1.0,
            });
            sink.interval(&interval);
        });
        assert_eq!(inner.announced, 1, "an announcement was not forwarded");
        assert_eq!(inner.findings.len(), 2, "a finding was not forwarded");
        assert_eq!(inner.readings.len(), 1, "a reading was not forwarded");
        assert_eq!(inner.intervals.len(), 1, "an interval was not forwarded");
    }
}
