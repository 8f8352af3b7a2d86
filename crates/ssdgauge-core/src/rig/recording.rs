//! A sink in memory, for measurements without a run file and for tests.

use crate::finding::{Finding, FindingKind, Severity};
use crate::rig::Sink;
use crate::sample::{Direction, Interval, LogPage, Reading};
use crate::units::Nanos;
use ssdgauge_statistics::histogram::Histogram;

/// A sink that stores all calls of a rig in memory.
///
/// Announced findings count as recorded unless `refuses` is set: without a run file there is no
/// record that must survive the program.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Every interval, in the order of arrival.
    pub intervals: Vec<Interval>,
    /// Every reading, in the order of arrival.
    pub readings: Vec<Reading>,
    /// Every log page, in the order of arrival.
    pub log_pages: Vec<LogPage>,
    /// Every finding, announced ones included, in the order of arrival.
    pub findings: Vec<Finding>,
    /// The number of announced findings.
    pub announced: usize,
    /// Whether announcements return `false`, not recorded.
    pub refuses: bool,
    /// The number of calls of `stop` that return `false`; all of them where it is `None`.
    pub stop_after: Option<u32>,
    /// The number of calls of `stop`.
    pub stop_checks: u32,
}

impl Recording {
    /// Returns the completed requests in `direction`.
    pub fn ios(&self, direction: Direction) -> u64 {
        let intervals = self.intervals.iter().filter(|one| one.direction == direction);
        intervals.map(|interval| interval.ios).sum()
    }

    /// Returns the failed requests in both directions.
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

    fn log_page(&mut self, page: LogPage) {
        self.log_pages.push(page);
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
        self.stop_checks += 1;
        self.stop_after.is_some_and(|most| self.stop_checks > most)
    }
}

/// Checks that a decorator of sinks forwards every call and returns the results of the inner sink.
///
/// `decorate` wraps the sink that it is given and calls the check with the wrapped one. A decorator
/// that returns its own result for an announcement would let a rig send a command that cannot be
/// undone without a durable record of it.
///
/// # Panics
/// When a call is not forwarded, or a result is changed.
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
            assert_eq!(sink.announce(finding()), !refuses, "the result of an announcement changed");
            assert_eq!(sink.stop(), stop_after.is_some(), "the result of a stop request changed");
            sink.finding(finding());
            sink.reading(&Reading {
                at: Nanos::ZERO,
                instrument: "meter".into(),
                quantity: "power".into(),
                value: 1.0,
            });
            sink.interval(&interval);
            sink.log_page(LogPage { at: Nanos::ZERO, page: "page".into(), content: vec![1] });
        });
        assert_eq!(inner.announced, 1, "an announcement was not forwarded");
        assert_eq!(inner.findings.len(), 2, "a finding was not forwarded");
        assert_eq!(inner.readings.len(), 1, "a reading was not forwarded");
        assert_eq!(inner.intervals.len(), 1, "an interval was not forwarded");
        assert_eq!(inner.log_pages.len(), 1, "a log page was not forwarded");
    }
}
