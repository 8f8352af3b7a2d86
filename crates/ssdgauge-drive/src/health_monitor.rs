//! The health of a drive before, during and after each step: readings, and findings about what
//! changed.
//!
//! A question wakes a drive and makes it warmer, so they are few: once before the first step, then
//! after each one, and every ten seconds in between. With one request in flight at a time, and
//! while the drive is left alone, nothing is asked at all.

use crate::pass_through::{CommandError, PassThrough};
use crate::query;
use crate::sysfs_device::SysfsDevice;
use ssdgauge_core::{Finding, FindingKind, Nanos, Reading, Severity, Sink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

/// How often a drive is asked within a step, where nobody says otherwise.
pub const USUAL: Duration = Duration::from_secs(10);
/// How often the thread that asks looks whether the step has ended.
const GLANCE: Duration = Duration::from_millis(100);
/// Answers that wait; a step of a day at the usual rate has 8,640.
const MOST_WAITING: usize = 16_384;

/// What a drive counts of itself, at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SmartSnapshot {
    /// The values, by quantity with its unit.
    values: Vec<(String, f64)>,
    /// Warnings in words.
    warnings: Vec<&'static str>,
}

impl SmartSnapshot {
    fn get(&self, quantity: &str) -> Option<f64> {
        self.values.iter().find(|(name, _)| name == quantity).map(|(_, value)| *value)
    }
}

/// Which questions a drive understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nvme,
    Ata,
}

/// Asks a drive how it feels.
pub struct HealthMonitor {
    pass_through: Arc<dyn PassThrough>,
    kind: Kind,
    every: Option<Duration>,
    last: Option<SmartSnapshot>,
    /// Whether it was said that the drive does not answer.
    is_silent: bool,
    beat: Option<Poller>,
}

impl std::fmt::Debug for HealthMonitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HealthMonitor").field("every", &self.every).finish_non_exhaustive()
    }
}

/// The thread that asks within a step; it ends by itself soon after this is dropped.
struct Poller {
    answers: Receiver<(Instant, SmartSnapshot)>,
    ended: Arc<AtomicBool>,
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl HealthMonitor {
    /// Returns what asks the drive at `place`; `None` where it understands no such question.
    pub fn of(place: &SysfsDevice, pass_through: Arc<dyn PassThrough>) -> Option<HealthMonitor> {
        let kind = match (place.namespace(), place.is_scsi()) {
            (Some(_), _) => Kind::Nvme,
            (None, true) => Kind::Ata,
            (None, false) => return None,
        };
        let every = Some(USUAL);
        Some(HealthMonitor { pass_through, kind, every, last: None, is_silent: false, beat: None })
    }

    /// Chooses how often the drive is asked within a step; `None` for never.
    pub fn ask_every(&mut self, period: Option<Duration>) {
        self.every = period;
    }

    /// Begins a step; `within` says whether the drive may be asked in it, too.
    pub fn begin(&mut self, within: bool, sink: &mut dyn Sink) {
        if self.last.is_none() && !self.is_silent {
            match ask_drive(self.pass_through.as_ref(), self.kind) {
                Ok(pulse) => self.keep(Nanos::ZERO, pulse, sink),
                Err(reason) => {
                    self.is_silent = true;
                    sink.finding(Finding::new(
                        FindingKind::NotMeasured,
                        Severity::Note,
                        format!("the health of the drive is not read in this run: {reason}"),
                        "",
                    ));
                }
            }
        }
        let every = self.every.filter(|_| within && !self.is_silent);
        self.beat = every.map(|every| beat(Arc::clone(&self.pass_through), self.kind, every));
    }

    /// Ends the step that began at `since` and lasted for `elapsed`. Where it went wrong the drive
    /// is not asked: it may be gone, or may never answer.
    pub fn end(&mut self, since: Instant, elapsed: Nanos, went_well: bool, sink: &mut dyn Sink) {
        let within = self.beat.take().map(|beat| beat.answers.try_iter().collect::<Vec<_>>());
        let before = self.last.clone();
        for (at, pulse) in within.into_iter().flatten() {
            let at = at.saturating_duration_since(since).as_nanos() as u64;
            self.keep(Nanos(at.min(elapsed.0)), pulse, sink);
        }
        if went_well
            && !self.is_silent
            && let Ok(pulse) = ask_drive(self.pass_through.as_ref(), self.kind)
        {
            self.keep(elapsed, pulse, sink);
        }
        if let (Some(before), Some(after)) = (before, &self.last) {
            changes(&before, after).into_iter().for_each(|finding| sink.finding(finding));
        }
    }

    fn keep(&mut self, at: Nanos, pulse: SmartSnapshot, sink: &mut dyn Sink) {
        for (quantity, value) in &pulse.values {
            let (instrument, quantity) = ("SMART".into(), quantity.clone());
            sink.reading(&Reading { at, instrument, quantity, value: *value });
        }
        self.last = Some(pulse);
    }
}

fn beat(pass_through: Arc<dyn PassThrough>, kind: Kind, every: Duration) -> Poller {
    let (sender, answers) = sync_channel(MOST_WAITING);
    let ended = Arc::new(AtomicBool::new(false));
    let is_over = Arc::clone(&ended);
    std::thread::spawn(move || {
        let mut due = Instant::now() + every;
        while !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(GLANCE.min(every));
            let now = Instant::now();
            if now < due || is_over.load(Ordering::Relaxed) {
                continue;
            }
            // A late turn is left out, never caught up with.
            due = now + every;
            if let Ok(pulse) = ask_drive(pass_through.as_ref(), kind)
                && sender.try_send((now, pulse)).is_err()
            {
                break;
            }
        }
    });
    Poller { answers, ended }
}

fn ask_drive(pass_through: &dyn PassThrough, kind: Kind) -> Result<SmartSnapshot, CommandError> {
    let mut pulse = SmartSnapshot::default();
    let mut add = |quantity: &str, value: Option<f64>| {
        pulse.values.extend(value.map(|value| (quantity.to_owned(), value)));
    };
    let count = |count: Option<u64>| count.map(|count| count as f64);
    match kind {
        Kind::Nvme => {
            let health = query::health(pass_through)?;
            add("smart_temperature_c", health.composite_c);
            for (number, celsius) in &health.sensors_c {
                add(&format!("smart_sensor_{number}_c"), Some(*celsius));
            }
            add("used_percent", Some(health.used_percent.into()));
            add("spare_percent", health.spare_percent.map(f64::from));
            add("host_written_bytes", count(health.written_bytes));
            add("host_read_bytes", count(health.read_bytes));
            add("media_errors", count(health.media_errors));
            add("critical_warning", Some(health.warning.into()));
            add("warning_minutes", Some(health.warning_minutes.into()));
            add("critical_minutes", Some(health.critical_minutes.into()));
            add("light_throttles", Some(health.light_throttles.into()));
            add("heavy_throttles", Some(health.heavy_throttles.into()));
            add("light_throttle_s", Some(health.light_throttle_s.into()));
            add("heavy_throttle_s", Some(health.heavy_throttle_s.into()));
            pulse.warnings = health.warnings();
        }
        Kind::Ata => {
            let statistics = query::ata_statistics(pass_through)?;
            add("smart_temperature_c", statistics.temperature_c.map(f64::from));
            add("used_percent", count(statistics.used_percent));
            add("host_written_sectors", count(statistics.sectors_written));
            add("host_read_sectors", count(statistics.sectors_read));
            add("media_errors", count(statistics.uncorrectable_errors));
            add("warning_minutes", count(statistics.overheated_minutes));
        }
    }
    Ok(pulse)
}

/// Counters that only grow, and that heat moves, in words.
const HEAT: [(&str, &str); 6] = [
    ("light_throttles", "light throttlings"),
    ("heavy_throttles", "heavy throttlings"),
    ("light_throttle_s", "s of light throttling"),
    ("heavy_throttle_s", "s of heavy throttling"),
    ("warning_minutes", "min above the warning temperature"),
    ("critical_minutes", "min above the critical temperature"),
];
/// Other counters that only grow.
const GROWING: [&str; 3] = ["host_written_bytes", "host_read_bytes", "media_errors"];

/// Returns what changed between two moments and bears on what was measured in between.
fn changes(before: &SmartSnapshot, after: &SmartSnapshot) -> Vec<Finding> {
    let grown = |quantity: &str| Some(after.get(quantity)? - before.get(quantity)?);
    let mut findings = Vec::new();
    let hot: Vec<String> = HEAT
        .iter()
        .filter_map(|(quantity, words)| {
            grown(quantity).filter(|more| *more > 0.0).map(|more| format!("{more} {words}"))
        })
        .collect();
    if !hot.is_empty() {
        findings.push(Finding::new(
            FindingKind::Throttled,
            Severity::Warning,
            format!("the drive slowed down because of heat: it counts {} more", hot.join(", ")),
            "cool the drive, or say with the numbers how it was cooled",
        ));
    }
    if let Some(more) = grown("media_errors").filter(|more| *more > 0.0) {
        findings.push(Finding::new(
            FindingKind::HealthWarning,
            Severity::Invalid,
            format!("the drive counts {more} media errors more than before this step"),
            "save what is on it; its numbers are those of a failing drive",
        ));
    }
    for warning in after.warnings.iter().filter(|one| !before.warnings.contains(one)) {
        findings.push(Finding::new(
            FindingKind::HealthWarning,
            Severity::Warning,
            format!("the drive began to warn in this step: {warning}"),
            "look at its health before you trust any number",
        ));
    }
    let heat = HEAT.iter().map(|(quantity, _)| *quantity);
    let back: Vec<&str> = heat
        .chain(GROWING)
        .filter(|quantity| grown(quantity).is_some_and(|more| more < 0.0))
        .collect();
    if !back.is_empty() {
        findings.push(Finding::new(
            FindingKind::Implausible,
            Severity::Warning,
            format!("counters of the drive went backwards: {}", back.join(", ")),
            "it was reset in the middle, or its counters cannot be believed",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Tree;
    use crate::fixture::{self, Fixture};
    use ssdgauge_core::Recording;

    fn vitals(drive: Fixture) -> HealthMonitor {
        let tree = Tree::new();
        let place = tree.plain_nvme("16.0 GT/s PCIe", "4");
        HealthMonitor::of(&place, Arc::new(drive)).unwrap()
    }

    fn later(change: impl FnOnce(&mut Vec<u8>)) -> Arc<dyn PassThrough> {
        let mut smart = fixture::smart();
        change(&mut smart);
        let mut drive = Fixture::nvme();
        drive.logs.insert(2, smart);
        Arc::new(drive)
    }

    #[test]
    fn a_drive_is_asked_before_the_first_step_and_after_each() {
        let mut vitals = vitals(Fixture::nvme());
        let mut seen = Recording::default();
        for _ in 0..2 {
            vitals.begin(false, &mut seen);
            vitals.end(Instant::now(), Nanos::SECOND, true, &mut seen);
        }
        let of = |quantity: &str| {
            let of = seen.readings.iter().filter(|reading| reading.quantity == quantity);
            of.map(|reading| (reading.at.0, reading.value)).collect::<Vec<_>>()
        };
        let second = Nanos::SECOND.0;
        let expected = [(0, 1_024_000_000.0), (second, 1_024_000_000.0), (second, 1_024_000_000.0)];
        assert_eq!(of("host_written_bytes"), expected);
        assert_eq!(of("smart_temperature_c")[0], (0, 36.85));
        assert_eq!(seen.findings, []);
    }

    #[test]
    fn what_heat_and_wear_did_in_a_step_are_findings() {
        type Change = fn(&mut Vec<u8>);
        let cases: [(Change, FindingKind, &str); 5] = [
            (|log| log[216] = 5, FindingKind::Throttled, "3 light throttlings"),
            (|log| log[192] = 1, FindingKind::Throttled, "1 min above the warning"),
            (|log| log[160] = 2, FindingKind::HealthWarning, "2 media errors"),
            (|log| log[0] = 2, FindingKind::HealthWarning, "temperature"),
            (|log| log[48] = 1, FindingKind::Implausible, "host_written_bytes"),
        ];
        for (change, kind, words) in cases {
            let mut vitals = vitals(Fixture::nvme());
            let mut seen = Recording::default();
            vitals.begin(false, &mut seen);
            vitals.pass_through = later(change);
            vitals.end(Instant::now(), Nanos::SECOND, true, &mut seen);
            assert_eq!(seen.findings.len(), 1, "{words}: {:?}", seen.findings);
            assert_eq!(seen.findings[0].kind, kind);
            assert!(seen.findings[0].text.contains(words), "{}", seen.findings[0].text);
        }
    }

    #[test]
    fn a_drive_that_does_not_answer_is_said_once_and_one_that_failed_is_not_asked() {
        let mut vitals = vitals(Fixture::mute());
        let mut seen = Recording::default();
        for _ in 0..3 {
            vitals.begin(true, &mut seen);
            vitals.end(Instant::now(), Nanos::SECOND, true, &mut seen);
        }
        let kinds: Vec<_> = seen.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::NotMeasured]);
        let mut vitals = super::tests::vitals(Fixture::nvme());
        let mut seen = Recording::default();
        vitals.begin(false, &mut seen);
        let asked = seen.readings.len();
        vitals.end(Instant::now(), Nanos::SECOND, false, &mut seen);
        assert_eq!(seen.readings.len(), asked);
    }

    #[test]
    fn a_long_step_is_asked_within() {
        let mut vitals = vitals(Fixture::nvme());
        vitals.ask_every(Some(Duration::from_millis(1)));
        let mut seen = Recording::default();
        let since = Instant::now();
        vitals.begin(true, &mut seen);
        // The first answer of the thread, however long that takes; it stays in the queue.
        let beat = vitals.beat.as_ref().unwrap();
        let first = beat.answers.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(first.0 > since);
        vitals.end(since, Nanos::SECOND, true, &mut seen);
        assert!(vitals.beat.is_none());
    }
}
