//! The counters of what a drive writes to its media, before and after each step.
//!
//! Within a step they are not read: one more query each ten seconds would answer nothing. What the
//! drive writes between two steps counts in the second one, so that the steps add up to the run.

use crate::media::{Counter, Source, Unit, Written};
use crate::pass_through::PassThrough;
use ssdgauge_core::{Finding, FindingKind, MediaWrites, Nanos, Reading, Severity, Sink};

/// The difference between the counter of the drive and the bytes of this program that is no finding,
/// as a share of the bytes. Chosen: the ownership label and the probes of a purge are far below it.
const DRIFT: f64 = 0.01;

/// The counters of one drive.
#[derive(Debug)]
pub(super) struct MediaWatch {
    source: Source,
    /// The counters before the step; `None` where they are not known.
    before: Option<Written>,
}

impl MediaWatch {
    /// Returns the counters of `source`, before their first reading.
    pub(super) fn new(source: Source) -> MediaWatch {
        MediaWatch { source, before: None }
    }

    /// Reads the counters before the first step; `host` is what hosts have written by the SMART log.
    pub(super) fn begin(&mut self, pass_through: &dyn PassThrough, host: Option<Counter>) {
        self.before = self.read(pass_through, host);
    }

    /// Forgets the counters: the next step has no amounts, because it would contain those of a step
    /// that failed.
    pub(super) fn lose(&mut self) {
        self.before = None;
    }

    /// Reads the counters after a step, and adds the amounts of the step to `sink`. The step ended
    /// after `elapsed` and sent `sent` bytes of writes.
    pub(super) fn end(
        &mut self,
        pass_through: &dyn PassThrough,
        host: Option<Counter>,
        (elapsed, sent): (Nanos, u64),
        sink: &mut dyn Sink,
    ) {
        let now = self.read(pass_through, host);
        let before = std::mem::replace(&mut self.before, now);
        let (Some(before), Some(now)) = (before, now) else { return };
        let (Some(host_before), Some(host_now)) = (before.host, now.host) else { return };
        let both = now.media.since(before.media).zip(host_now.since(host_before));
        let Some((media, host)) = both else {
            sink.finding(Finding::new(
                FindingKind::Implausible,
                Severity::Warning,
                format!("the counters of the {} decreased in this step", self.source.name()),
                "the drive was reset, or its counters are wrong; do not use its write amplification",
            ));
            return;
        };
        let is_in_pages = now.media.unit == Unit::Pages;
        let quantities = match is_in_pages {
            true => MediaWrites::PAGES,
            false => MediaWrites::BYTES,
        };
        let values = [media.0, media.1, host.0, host.1];
        let mut read = |quantity: &str, value| {
            let instrument = self.source.name().to_owned();
            sink.reading(&Reading { at: elapsed, instrument, quantity: quantity.into(), value });
        };
        if let Some(bytes) = now.media.bytes() {
            read("media_written_bytes", bytes as f64);
        }
        quantities.into_iter().zip(values).for_each(|(quantity, value)| read(quantity, value));
        if !is_in_pages && let Some(finding) = drift(self.source.name(), host, sent) {
            sink.finding(finding);
        }
    }

    fn read(&self, pass_through: &dyn PassThrough, host: Option<Counter>) -> Option<Written> {
        let written = self.source.read(pass_through).ok()?;
        Some(Written { host: written.host.or(host), ..written })
    }
}

/// Returns the finding that the drive counts other bytes than this program sent, where the counter is
/// fine enough to see it.
fn drift(source: &str, (counted, granule): (f64, f64), sent: u64) -> Option<Finding> {
    let sent = sent as f64;
    let most = counted.max(sent);
    let is_fine = most >= MediaWrites::LEAST_GRANULES * granule;
    let difference = (counted - sent).abs();
    if !is_fine || difference <= granule + DRIFT * most {
        return None;
    }
    let gigabytes = |bytes: f64| format!("{:.3} GB", bytes / 1e9);
    let advice = match counted > sent {
        true => {
            "end other writers, and use no other namespace of the drive; the write \
                 amplification counts their data as well"
        }
        false => {
            "the drive may update its counters late; measure longer steps before using its \
                  write amplification"
        }
    };
    Some(Finding::new(
        FindingKind::CounterDrift,
        Severity::Warning,
        format!(
            "hosts wrote {} in this step by the counter of the drive ({source}), this program sent {}",
            gigabytes(counted),
            gigabytes(sent)
        ),
        advice,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, SysfsTree, ocp_log, smart};
    use crate::health_monitor::HealthMonitor;
    use ssdgauge_core::Recording;
    use std::sync::Arc;
    use std::time::Instant;

    /// A drive for servers whose hosts have written `units` of 512,000 bytes, and its media `media` bytes.
    fn drive(units: u128, media: u128) -> Fixture {
        let mut drive = Fixture::nvme();
        let controller = drive.identify.get_mut(&(1, 0)).unwrap();
        controller[525] &= !1;
        let mut health = smart();
        health[48..64].copy_from_slice(&units.to_le_bytes());
        drive.logs.insert(2, health);
        drive.logs.insert(0xc0, ocp_log(media));
        drive
    }

    /// Returns what a monitor records of steps that end with the counters `after` and sent so many
    /// bytes; before the first one, they are those of a drive in use.
    fn steps(after: &[(Option<(u128, u128)>, u64)]) -> Recording {
        let tree = SysfsTree::new();
        let place = tree.nvme_without_multipath("16.0 GT/s PCIe", "4");
        let start = Arc::new(drive(2_000_001, 3_000_000_000_001));
        let mut monitor = HealthMonitor::for_device(&place, start).unwrap();
        assert_eq!(monitor.watch_media(&place), "OCP extended SMART log C0h");
        let mut seen = Recording::default();
        for (counters, sent) in after {
            monitor.begin(false, &mut seen);
            if let Some((units, media)) = counters {
                monitor.pass_through = Arc::new(drive(*units, *media));
            }
            let end = (counters.is_some(), *sent);
            monitor.end(Instant::now(), Nanos::SECOND, end, &mut seen);
        }
        seen
    }

    fn readings(seen: &Recording, quantity: &str) -> Vec<f64> {
        let of = seen.readings.iter().filter(|reading| reading.quantity == quantity);
        of.map(|reading| reading.value).collect()
    }

    #[test]
    fn the_amounts_of_a_step_are_differences_of_the_counters_of_the_drive() {
        let (one, two) = (1_000 * 512_000, 3_000 * 512_000);
        let seen = steps(&[
            (Some((2_001_001, 3_000_000_000_001 + 3 * u128::from(one))), one),
            (Some((2_004_001, 3_000_000_000_001 + 5 * u128::from(one))), two),
        ]);
        let [media, media_granule, host, host_granule] = MediaWrites::BYTES;
        assert_eq!(readings(&seen, media), [3.0 * one as f64, 2.0 * one as f64]);
        assert_eq!(readings(&seen, host), [one as f64, two as f64]);
        assert_eq!(readings(&seen, host_granule), [512_000.0, 512_000.0]);
        assert_eq!(readings(&seen, media_granule), [1.0, 1.0]);
        assert_eq!(seen.findings, []);
    }

    #[test]
    fn a_counter_that_differs_from_what_was_sent_is_a_finding() {
        let sent = 1_000 * 512_000;
        let media = 3_000_000_000_001 + 1_000_000_001;
        for (units, words) in [(2_001_101, "end other writers"), (2_000_001, "late")] {
            let seen = steps(&[(Some((units, media)), sent)]);
            let kinds: Vec<_> = seen.findings.iter().map(|finding| finding.kind).collect();
            assert_eq!(kinds, [FindingKind::CounterDrift], "{units}");
            assert!(seen.findings[0].advice.contains(words), "{}", seen.findings[0].advice);
            assert!(seen.findings[0].text.contains("sent 0.512 GB"), "{}", seen.findings[0].text);
        }
        // Within the granule, and too little for the counter to see.
        assert_eq!(steps(&[(Some((2_001_002, media)), sent)]).findings, []);
        assert_eq!(steps(&[(Some((2_000_001, media)), 4_096)]).findings, []);
    }

    #[test]
    fn a_step_behind_a_failed_one_and_counters_that_decrease_have_no_amounts() {
        let media = 3_000_000_000_001 + 512_000_000;
        let failed = steps(&[(None, 0), (Some((2_001_001, media)), 512_000_000)]);
        assert_eq!(readings(&failed, MediaWrites::BYTES[0]), [0.0; 0]);
        let reset = steps(&[(Some((2_001_001, 1)), 512_000_000)]);
        assert_eq!(readings(&reset, MediaWrites::BYTES[0]), [0.0; 0]);
        assert_eq!(reset.findings[0].kind, FindingKind::Implausible);
    }
}
