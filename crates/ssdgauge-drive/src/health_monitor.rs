//! The health monitor: SMART readings before, during and after steps, and findings about changes.
//!
//! A query can wake a drive and delays other commands, so queries are few: one before the first
//! step, one after each step, and one every ten seconds within a step. The rig sends none within a
//! step that measures an idle drive or a single request in flight.

mod log_pages;
mod media_watch;
mod thermal;

use crate::health::DATA_UNIT;
use crate::media::{Counter, Source};
use crate::pass_through::{CommandError, PassThrough};
use crate::query::{self, CommandSet};
use crate::sysfs_device::SysfsDevice;
use log_pages::KeptPages;
use media_watch::MediaWatch;
use ssdgauge_core::{Finding, FindingKind, Nanos, Reading, Severity, Sink};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

/// The default period of queries within a step.
pub const DEFAULT_PERIOD: Duration = Duration::from_secs(10);
/// The period at which the poller checks whether the step has ended.
const STOP_CHECK_PERIOD: Duration = Duration::from_millis(100);
/// The length of the queue of snapshots; a step of a day has 8,640 at the default period.
const MAX_QUEUED: usize = 16_384;

/// The SMART data of a drive at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SmartSnapshot {
    /// The values, by quantity with its unit as suffix.
    values: Vec<(String, f64)>,
    /// The critical warnings in words.
    warnings: Vec<&'static str>,
    /// What hosts have written, by the SMART log of an NVMe drive.
    host: Option<Counter>,
}

impl SmartSnapshot {
    fn get(&self, quantity: &str) -> Option<f64> {
        self.values.iter().find(|(name, _)| name == quantity).map(|(_, value)| *value)
    }
}

/// Queries the SMART data of a drive during a run.
pub struct HealthMonitor {
    pass_through: Arc<dyn PassThrough>,
    command_set: CommandSet,
    /// The period of queries within a step; `None` for none.
    period: Option<Duration>,
    last: Option<SmartSnapshot>,
    /// Whether the first query failed. No other is sent then, and one finding reports it.
    is_unavailable: bool,
    poller: Option<Poller>,
    /// The counters of what the drive writes to its media; `None` where they are not known.
    media: Option<MediaWatch>,
    /// The lowest temperature from which the drive warns or throttles, once it was asked for.
    limit_c: Option<Option<f64>>,
}

impl std::fmt::Debug for HealthMonitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HealthMonitor").field("period", &self.period).finish_non_exhaustive()
    }
}

/// The thread that queries within a step. It ends soon after this value is dropped.
struct Poller {
    snapshots: Receiver<(Instant, SmartSnapshot)>,
    ended: Arc<AtomicBool>,
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl HealthMonitor {
    /// Returns the health monitor of `device`; `None` for a device without SMART queries.
    pub fn for_device(
        device: &SysfsDevice,
        pass_through: Arc<dyn PassThrough>,
    ) -> Option<HealthMonitor> {
        let command_set = match (device.namespace(), device.is_scsi()) {
            (Some(_), _) => CommandSet::Nvme,
            (None, true) => CommandSet::Ata,
            (None, false) => return None,
        };
        Some(HealthMonitor {
            pass_through,
            command_set,
            period: Some(DEFAULT_PERIOD),
            last: None,
            is_unavailable: false,
            poller: None,
            media: None,
            limit_c: None,
        })
    }

    /// Finds out what counts the media writes of `device`, and reads it around each step from now on.
    /// Returns the name of the source, or the reason why the media writes are not known.
    pub fn watch_media(&mut self, device: &SysfsDevice) -> String {
        match Source::find(self.pass_through.as_ref(), device.namespace()) {
            Ok(source) => {
                self.media = Some(MediaWatch::new(source));
                source.name().to_owned()
            }
            Err(reason) => reason,
        }
    }

    /// Sets the period of queries within a step; `None` for none.
    pub fn set_period(&mut self, period: Option<Duration>) {
        self.period = period;
    }

    /// Begins a step. `within` allows queries during the step.
    pub fn begin(&mut self, within: bool, sink: &mut dyn Sink) {
        if self.last.is_none() && !self.is_unavailable {
            let drive = KeptPages::new(self.pass_through.as_ref());
            let snapshot = read_snapshot(&drive, self.command_set);
            if let Some(media) = &mut self.media {
                media.begin(&drive, host_of(&snapshot), sink);
            }
            drive.pass_on(Nanos::ZERO, sink);
            match snapshot {
                Ok(snapshot) => self.record(Nanos::ZERO, snapshot, sink),
                Err(reason) => {
                    self.is_unavailable = true;
                    sink.finding(Finding::new(
                        FindingKind::NotMeasured,
                        Severity::Note,
                        format!("the health of the drive is not recorded in this run: {reason}"),
                        "",
                    ));
                }
            }
        }
        let period = self.period.filter(|_| within && !self.is_unavailable);
        self.poller = period
            .map(|period| Poller::start(Arc::clone(&self.pass_through), self.command_set, period));
    }

    /// Ends the step that began at `since`, lasted for `elapsed` and wrote `written` bytes. After a
    /// step that failed no query is sent: a drive that is gone or hangs would delay the run by the
    /// time limit.
    pub fn end(
        &mut self,
        since: Instant,
        elapsed: Nanos,
        (has_succeeded, written): (bool, u64),
        sink: &mut dyn Sink,
    ) {
        let within =
            self.poller.take().map(|poller| poller.snapshots.try_iter().collect::<Vec<_>>());
        let before = self.last.clone();
        for (at, snapshot) in within.into_iter().flatten() {
            let at = at.saturating_duration_since(since).as_nanos() as u64;
            self.record(Nanos(at.min(elapsed.0)), snapshot, sink);
        }
        if has_succeeded {
            let drive = KeptPages::new(self.pass_through.as_ref());
            let snapshot = match self.is_unavailable {
                true => Err(CommandError::System("the health of the drive is not recorded".into())),
                false => read_snapshot(&drive, self.command_set),
            };
            if let Some(media) = &mut self.media {
                let host = host_of(&snapshot);
                media.end(&drive, host, (elapsed, written), sink);
            }
            drive.pass_on(elapsed, sink);
            if let Ok(snapshot) = snapshot {
                self.record(elapsed, snapshot, sink);
            }
        } else if let Some(media) = &mut self.media {
            media.lose();
        }
        if let (Some(before), Some(after)) = (before, &self.last) {
            changes(&before, after).into_iter().for_each(|finding| sink.finding(finding));
        }
    }

    fn record(&mut self, at: Nanos, snapshot: SmartSnapshot, sink: &mut dyn Sink) {
        for (quantity, value) in &snapshot.values {
            let (instrument, quantity) = ("SMART".into(), quantity.clone());
            sink.reading(&Reading { at, instrument, quantity, value: *value });
        }
        self.last = Some(snapshot);
    }
}

impl Poller {
    fn start(
        pass_through: Arc<dyn PassThrough>,
        command_set: CommandSet,
        period: Duration,
    ) -> Poller {
        debug_assert!(!period.is_zero(), "a period of zero would query without a pause");
        let (sender, snapshots) = sync_channel(MAX_QUEUED);
        let ended = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&ended);
        std::thread::spawn(move || {
            let mut due = Instant::now() + period;
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(STOP_CHECK_PERIOD.min(period));
                let now = Instant::now();
                if now < due || is_over.load(Ordering::Relaxed) {
                    continue;
                }
                // A late query is skipped: two in a row would disturb the step for one value.
                due = now + period;
                if let Ok(snapshot) = read_snapshot(pass_through.as_ref(), command_set)
                    && sender.try_send((now, snapshot)).is_err()
                {
                    break;
                }
            }
        });
        Poller { snapshots, ended }
    }
}

/// Returns what hosts have written by the SMART log of an NVMe drive, or why it is not known.
fn host_of(snapshot: &Result<SmartSnapshot, CommandError>) -> Result<Counter, String> {
    match snapshot {
        Ok(snapshot) => {
            snapshot.host.ok_or_else(|| "the drive does not report what hosts wrote".into())
        }
        Err(reason) => Err(reason.to_string()),
    }
}

fn read_snapshot(
    pass_through: &dyn PassThrough,
    command_set: CommandSet,
) -> Result<SmartSnapshot, CommandError> {
    let mut snapshot = SmartSnapshot::default();
    let mut add = |quantity: &str, value: Option<f64>| {
        snapshot.values.extend(value.map(|value| (quantity.to_owned(), value)));
    };
    let count = |count: Option<u64>| count.map(|count| count as f64);
    match command_set {
        CommandSet::Nvme => {
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
            let units =
                |bytes: u64| Counter::of_bytes(u128::from(bytes) / DATA_UNIT, DATA_UNIT as u64);
            snapshot.host = health.written_bytes.map(units);
            snapshot.warnings = health.warnings();
        }
        CommandSet::Ata => {
            let statistics = query::ata_statistics(pass_through)?;
            add("smart_temperature_c", statistics.temperature_c.map(f64::from));
            add("used_percent", count(statistics.used_percent));
            add("host_written_sectors", count(statistics.sectors_written));
            add("host_read_sectors", count(statistics.sectors_read));
            add("media_errors", count(statistics.uncorrectable_errors));
            add("warning_minutes", count(statistics.overheated_minutes));
        }
    }
    Ok(snapshot)
}

/// Counters of throttling and overheating, which never decrease, with their units in words.
const THROTTLE_COUNTERS: [(&str, &str); 6] = [
    ("light_throttles", "transitions to light throttling"),
    ("heavy_throttles", "transitions to heavy throttling"),
    ("light_throttle_s", "s of light throttling"),
    ("heavy_throttle_s", "s of heavy throttling"),
    ("warning_minutes", "min above the warning temperature"),
    ("critical_minutes", "min above the critical temperature"),
];
/// Other counters that never decrease.
const OTHER_COUNTERS: [&str; 3] = ["host_written_bytes", "host_read_bytes", "media_errors"];

/// Returns findings about the changes within a step.
fn changes(before: &SmartSnapshot, after: &SmartSnapshot) -> Vec<Finding> {
    let increase = |quantity: &str| Some(after.get(quantity)? - before.get(quantity)?);
    let mut findings = Vec::new();
    let throttling: Vec<String> = THROTTLE_COUNTERS
        .iter()
        .filter_map(|(quantity, words)| {
            increase(quantity).filter(|more| *more > 0.0).map(|more| format!("{more} {words}"))
        })
        .collect();
    if !throttling.is_empty() {
        findings.push(Finding::new(
            FindingKind::Throttled,
            Severity::Warning,
            format!("the drive was throttled in this step: {}", throttling.join(", ")),
            "cool the drive, or publish the cooling with the results",
        ));
    }
    if let Some(more) = increase("media_errors").filter(|more| *more > 0.0) {
        findings.push(Finding::new(
            FindingKind::HealthWarning,
            Severity::Invalid,
            format!("the media errors of the drive increased by {more} in this step"),
            "back up its data; the results are those of a failing drive",
        ));
    }
    for warning in after.warnings.iter().filter(|one| !before.warnings.contains(one)) {
        findings.push(Finding::new(
            FindingKind::HealthWarning,
            Severity::Warning,
            format!("a critical warning of the drive appeared in this step: {warning}"),
            "check its health before using any result",
        ));
    }
    let throttle = THROTTLE_COUNTERS.iter().map(|(quantity, _)| *quantity);
    let decreased: Vec<&str> = throttle
        .chain(OTHER_COUNTERS)
        .filter(|quantity| increase(quantity).is_some_and(|more| more < 0.0))
        .collect();
    if !decreased.is_empty() {
        findings.push(Finding::new(
            FindingKind::Implausible,
            Severity::Warning,
            format!("counters of the drive decreased: {}", decreased.join(", ")),
            "the drive was reset, or its counters are wrong; do not use them",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, Fixture, SysfsTree};
    use ssdgauge_core::{LogPage, Recording};

    fn monitor_of(drive: Fixture) -> HealthMonitor {
        let tree = SysfsTree::new();
        let place = tree.nvme_without_multipath("16.0 GT/s PCIe", "4");
        HealthMonitor::for_device(&place, Arc::new(drive)).unwrap()
    }

    fn changed(change: impl FnOnce(&mut Vec<u8>)) -> Arc<dyn PassThrough> {
        let mut smart = fixture::smart();
        change(&mut smart);
        let mut drive = Fixture::nvme();
        drive.logs.insert(2, smart);
        Arc::new(drive)
    }

    #[test]
    fn smart_is_read_before_the_first_step_and_after_each() {
        let mut monitor = monitor_of(Fixture::nvme());
        let mut seen = Recording::default();
        for _ in 0..2 {
            monitor.begin(false, &mut seen);
            monitor.end(Instant::now(), Nanos::SECOND, (true, 0), &mut seen);
        }
        let values = |quantity: &str| {
            let readings = seen.readings.iter().filter(|reading| reading.quantity == quantity);
            readings.map(|reading| (reading.at.0, reading.value)).collect::<Vec<_>>()
        };
        let second = Nanos::SECOND.0;
        let expected = [(0, 1_024_000_000.0), (second, 1_024_000_000.0), (second, 1_024_000_000.0)];
        assert_eq!(values("host_written_bytes"), expected);
        assert_eq!(values("smart_temperature_c")[0], (0, 36.85));
        let page =
            |at| LogPage { at: Nanos(at), page: "nvme-02h".into(), content: fixture::smart() };
        assert_eq!(seen.log_pages, [page(0), page(second), page(second)]);
        assert_eq!(seen.findings, []);
    }

    #[test]
    fn throttling_media_errors_and_warnings_of_a_step_are_findings() {
        type Change = fn(&mut Vec<u8>);
        let cases: [(Change, FindingKind, &str); 5] = [
            (|log| log[216] = 5, FindingKind::Throttled, "3 transitions to light throttling"),
            (|log| log[192] = 1, FindingKind::Throttled, "1 min above the warning"),
            (
                |log| log[160] = 2,
                FindingKind::HealthWarning,
                "media errors of the drive increased by 2",
            ),
            (|log| log[0] = 2, FindingKind::HealthWarning, "temperature"),
            (|log| log[48] = 1, FindingKind::Implausible, "host_written_bytes"),
        ];
        for (change, kind, words) in cases {
            let mut monitor = monitor_of(Fixture::nvme());
            let mut seen = Recording::default();
            monitor.begin(false, &mut seen);
            monitor.pass_through = changed(change);
            monitor.end(Instant::now(), Nanos::SECOND, (true, 0), &mut seen);
            assert_eq!(seen.findings.len(), 1, "{words}: {:?}", seen.findings);
            assert_eq!(seen.findings[0].kind, kind);
            assert!(seen.findings[0].text.contains(words), "{}", seen.findings[0].text);
        }
    }

    #[test]
    fn an_unsupported_log_is_reported_once_and_a_failed_step_sends_no_query() {
        let mut monitor = monitor_of(Fixture::without_responses());
        let mut seen = Recording::default();
        for _ in 0..3 {
            monitor.begin(true, &mut seen);
            monitor.end(Instant::now(), Nanos::SECOND, (true, 0), &mut seen);
        }
        let kinds: Vec<_> = seen.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::NotMeasured]);
        let mut monitor = monitor_of(Fixture::nvme());
        let mut seen = Recording::default();
        monitor.begin(false, &mut seen);
        let before = seen.readings.len();
        monitor.end(Instant::now(), Nanos::SECOND, (false, 0), &mut seen);
        assert_eq!(seen.readings.len(), before);
    }

    #[test]
    fn a_long_step_is_queried_within() {
        let mut monitor = monitor_of(Fixture::nvme());
        monitor.set_period(Some(Duration::from_millis(1)));
        let mut seen = Recording::default();
        let since = Instant::now();
        monitor.begin(true, &mut seen);
        // The first snapshot of the thread, however long that takes.
        let poller = monitor.poller.as_ref().unwrap();
        let first = poller.snapshots.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(first.0 > since);
        monitor.end(since, Nanos::SECOND, (true, 0), &mut seen);
        assert!(monitor.poller.is_none());
    }
}
