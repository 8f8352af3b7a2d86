//! The counters of what a drive writes to its media, before and after each step.
//!
//! Within a step they are not read: one more query each ten seconds would answer nothing. What the
//! drive writes between two steps counts in the second one, so that the steps add up to the run.

use crate::media::{Counter, Source, Steps, Unit, WIDE, Written};
use crate::pass_through::PassThrough;
use ssdgauge_core::{Bytes, Finding, FindingKind, MediaWrites, Nanos, Reading, Severity, Sink};

/// The difference between the counter of the drive and the bytes of this program that is not a finding,
/// as a share of the bytes. Chosen: the ownership label and the probes of a purge are far below it.
const DRIFT: f64 = 0.01;

/// The counters of one drive.
#[derive(Debug)]
pub(super) struct MediaWatch {
    source: Source,
    /// The counters before the step; `None` where they are not known.
    before: Option<Counters>,
    /// The steps of the counters, by all counts of the run: of the media, then of hosts.
    steps: [Steps; 2],
    /// Whether a failed reading was reported.
    is_failure_reported: bool,
}

/// The counters of the media and of hosts at one time.
#[derive(Clone, Copy, Debug)]
struct Counters {
    media: Counter,
    host: Counter,
    /// Whether the counter of hosts may be only the low 32 bits of the sectors.
    may_wrap: bool,
}

impl Counters {
    /// Returns the bytes at which the counter of hosts begins again, where it may have only 32 bits.
    fn round(&self) -> Option<u64> {
        match self.host.unit {
            Unit::Bytes(bytes) if self.may_wrap => bytes.checked_mul(WIDE),
            Unit::Bytes(_) | Unit::Pages => None,
        }
    }
}

impl MediaWatch {
    /// Returns the counters of `source`, before their first reading.
    pub(super) fn new(source: Source) -> MediaWatch {
        MediaWatch {
            source,
            before: None,
            steps: [Steps::default(); 2],
            is_failure_reported: false,
        }
    }

    /// Reads the counters before the first step; `host` is what hosts have written by the SMART log,
    /// or the reason why that is not known. It counts where the source does not count hosts.
    pub(super) fn begin(
        &mut self,
        pass_through: &dyn PassThrough,
        host: Result<Counter, String>,
        sink: &mut dyn Sink,
    ) {
        self.before = self.read(pass_through, host, sink);
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
        host: Result<Counter, String>,
        (elapsed, sent): (Nanos, u64),
        sink: &mut dyn Sink,
    ) {
        let now = self.read(pass_through, host, sink);
        let before = std::mem::replace(&mut self.before, now);
        let (Some(before), Some(now)) = (before, now) else { return };
        let media = now.media.since(before.media, self.steps[0]);
        let host = now.host.since(before.host, self.steps[1]);
        // A count that has more than 32 bits in either reading shows that the counter has them.
        let round = before.round().and(now.round());
        if media.is_some() && round.is_some_and(|round| host.is_none() || sent >= round) {
            return sink.finding(wrapped(self.source.name(), host.is_none()));
        }
        let Some((media, host)) = media.zip(host) else {
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
        if !is_in_pages && let Some(finding) = drift(&self.source, host, sent) {
            sink.finding(finding);
        }
    }

    /// Returns the counters; the first failure of the run is a finding.
    fn read(
        &mut self,
        pass_through: &dyn PassThrough,
        host: Result<Counter, String>,
        sink: &mut dyn Sink,
    ) -> Option<Counters> {
        let read = self.source.read(pass_through).map_err(|error| error.to_string());
        let counters = read.and_then(|Written { host: own, media, may_wrap }| {
            Ok(Counters { media, host: own.map_or(host, Ok)?, may_wrap })
        });
        match counters {
            Ok(counters) => {
                let [of_media, of_host] = self.steps;
                self.steps = [of_media.with(counters.media), of_host.with(counters.host)];
                Some(counters)
            }
            Err(reason) => {
                if !std::mem::replace(&mut self.is_failure_reported, true) {
                    sink.finding(unread(self.source.name(), &reason));
                }
                None
            }
        }
    }
}

/// Returns the finding that the counters could not be read.
fn unread(source: &str, reason: &str) -> Finding {
    Finding::new(
        FindingKind::NotMeasured,
        Severity::Note,
        format!(
            "the counters of media writes ({source}) could not be read: {reason}; the steps before \
             and after each such reading have no media writes, and further ones are not reported"
        ),
        "",
    )
}

/// Returns the finding about a step after which the counter of hosts may have begun again at 0; `has_fallen` where it is
/// lower than before the step.
fn wrapped(source: &str, has_fallen: bool) -> Finding {
    let what = match has_fallen {
        true => "is lower than before this step",
        false => "has only 32 bits as far as is known, and this step wrote more sectors",
    };
    Finding::new(
        FindingKind::NotMeasured,
        Severity::Note,
        format!(
            "the Device Statistics log, which counts what hosts wrote with the {source}, {what}: it may have begun \
             again at 0, and the step has no media writes"
        ),
        "",
    )
}

/// Returns the finding that the drive counts other bytes than this program sent, where the counter is
/// fine enough to see it.
fn drift(source: &Source, (counted, granule): (f64, f64), data: u64) -> Option<Finding> {
    let sent = source.host_bytes(data);
    let most = counted.max(sent);
    let is_fine = most >= MediaWrites::LEAST_GRANULES * granule;
    let difference = (counted - sent).abs();
    if !is_fine || difference <= granule + DRIFT * most {
        return None;
    }
    let [counted_gb, sent_gb] = [counted, sent].map(|bytes| Bytes(bytes as u64).about());
    let source = source.name();
    let text = match data {
        0 => format!(
            "the counter of hosts of the drive ({source}) rose by {counted_gb} in this step, while \
             this program wrote nothing: a late update, or another writer"
        ),
        _ => {
            let with = if sent > data as f64 { " with metadata" } else { "" };
            format!(
                "hosts wrote {counted_gb} in this step by the counter of the drive ({source}), this \
                 program sent {sent_gb}{with}"
            )
        }
    };
    let advice = match (data, counted > sent) {
        (0, _) => {
            "look for other writers; without one, the drive updates its counters late: measure \
             longer steps before using its write amplification"
        }
        (_, true) => {
            "end other writers, and use no other namespace of the drive; the write \
             amplification counts their data as well"
        }
        (_, false) => {
            "the drive may update its counters late; measure longer steps before using its \
             write amplification"
        }
    };
    Some(Finding::new(FindingKind::CounterDrift, Severity::Warning, text, advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Fixture, SysfsTree, fdp_statistics, namespace, ocp_log, smart};
    use crate::health_monitor::HealthMonitor;
    use crate::sysfs_device::SysfsDevice;
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

    /// A SATA drive with these counters of pages, of hosts and of the drive itself, without Device
    /// Statistics.
    fn sata_drive(counters: (u64, u64)) -> Fixture {
        let attributes = [(247, counters.0), (248, counters.1)];
        let mut drive = Fixture::sata_of_model("CT1000BX500SSD1", &attributes);
        drive.ata.retain(|(command, _), _| *command != 0x2f);
        drive
    }

    /// A drive with Flexible Data Placement, blocks of 512 + 8 bytes, and these statistics.
    fn placement_drive(host: u128, media: u128) -> Fixture {
        let mut drive = Fixture::nvme();
        drive.identify.get_mut(&(1, 0)).unwrap()[98] |= 1 << 3;
        let mut blocks = namespace();
        blocks[102] = 1;
        blocks[128..130].copy_from_slice(&8u16.to_le_bytes());
        drive.identify.insert((0, 1), blocks);
        drive.logs.insert(0x22, fdp_statistics(host, media));
        drive
    }

    /// Returns what `monitor` records of successful steps that end with the drives `after` and sent so
    /// many bytes.
    fn record(mut monitor: HealthMonitor, after: Vec<(Fixture, u64)>) -> Recording {
        let mut seen = Recording::default();
        for (drive, sent) in after {
            monitor.begin(false, &mut seen);
            monitor.pass_through = Arc::new(drive);
            monitor.end(Instant::now(), Nanos::SECOND, (true, sent), &mut seen);
        }
        seen
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
            assert!(seen.findings[0].text.contains("sent 512 MB"), "{}", seen.findings[0].text);
        }
        // Within the granule, and too little for the counter to see.
        assert_eq!(steps(&[(Some((2_001_002, media)), sent)]).findings, []);
        assert_eq!(steps(&[(Some((2_000_001, media)), 4_096)]).findings, []);
    }

    #[test]
    fn a_step_after_a_failed_one_and_counters_that_decrease_have_no_amounts() {
        let media = 3_000_000_000_001 + 512_000_000;
        let failed = steps(&[(None, 0), (Some((2_001_001, media)), 512_000_000)]);
        assert_eq!(readings(&failed, MediaWrites::BYTES[0]), [0.0; 0]);
        let reset = steps(&[(Some((2_001_001, 1)), 512_000_000)]);
        assert_eq!(readings(&reset, MediaWrites::BYTES[0]), [0.0; 0]);
        assert_eq!(reset.findings[0].kind, FindingKind::Implausible);
    }

    #[test]
    fn a_step_without_writes_in_which_the_counter_rises_says_so() {
        let media = 3_000_000_000_001;
        let seen = steps(&[(Some((2_001_001, media + 512_000_000)), 0)]);
        let [finding] = seen.findings.as_slice() else { panic!("{:?}", seen.findings) };
        assert_eq!(finding.kind, FindingKind::CounterDrift);
        assert!(finding.text.contains("rose by 512 MB"), "{}", finding.text);
        assert!(finding.text.contains("wrote nothing: a late update, or another writer"));
        assert!(finding.advice.contains("look for other writers"), "{}", finding.advice);
        assert_eq!(steps(&[(Some((2_000_001, media)), 0)]).findings, []);
    }

    /// A Samsung PM863 without attribute 241, whose log counts `sectors` of 512 bytes and whose attribute 251
    /// `media` of them.
    fn logged_drive(sectors: u64, media: u64) -> Fixture {
        let mut drive = Fixture::sata_of_model("SAMSUNG MZ7LM480HCHP", &[(251, media)]);
        let page = drive.ata.get_mut(&(0x2f, 1 << 8 | 4)).unwrap();
        page[24..32].copy_from_slice(&(0xc0u64 << 56 | sectors).to_le_bytes());
        drive
    }

    /// A SATA drive in a tree of sysfs, which lasts as long as its first value.
    fn sata_place() -> (SysfsTree, SysfsDevice) {
        let tree = SysfsTree::new();
        let folder = "devices/pci0/ata3/host2/block/sda";
        tree.file(&format!("{folder}/dev"), "8:0")
            .file(&format!("{folder}/device/scsi_level"), "6");
        tree.link("dev/block/8:0", folder);
        let place = SysfsDevice::from_number(&tree.root(), 8, 0).unwrap();
        (tree, place)
    }

    #[test]
    fn a_log_of_32_bits_that_begins_again_is_not_a_counter_that_fell() {
        let (_tree, place) = sata_place();
        let seen = |from: (u64, u64), after: Vec<((u64, u64), u64)>| {
            let start = Arc::new(logged_drive(from.0, from.1));
            let mut monitor = HealthMonitor::for_device(&place, start).unwrap();
            assert_eq!(monitor.watch_media(&place), "attributes 251 and 241 of Samsung");
            let drives =
                after.into_iter().map(|((host, media), sent)| (logged_drive(host, media), sent));
            record(monitor, drives.collect())
        };
        let round = 1u64 << 32;
        let [media, _, host, _] = MediaWrites::BYTES;
        let million = 512_000_000;
        // Three steps of 1,000,000 sectors; the second one crosses 2^32.
        let (base, after) = (9 * round, round - 1_500_000);
        let steps = vec![
            ((after + 1_000_000, base + 2_000_000), million),
            ((500_000, base + 4_000_000), million),
            ((1_500_000, base + 6_000_000), million),
        ];
        let wrapped = seen((after, base), steps);
        assert_eq!(readings(&wrapped, host), [512e6, 512e6], "the first and the third step");
        assert_eq!(readings(&wrapped, media), [1_024e6, 1_024e6]);
        let kinds: Vec<_> = wrapped.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::NotMeasured], "{:?}", wrapped.findings);
        assert!(wrapped.findings[0].text.contains("may have begun again at 0"));
        // A step of 2^32 sectors and 1,000: the log rises by 1,000.
        let steps = vec![((2_000, base + 2 * round), 512 * (round + 1_000))];
        let hidden = seen((1_000, base), steps);
        assert_eq!(readings(&hidden, host), [0.0; 0]);
        assert!(hidden.findings[0].text.contains("has only 32 bits as far as is known"));
        // A log that has shown more than 32 bits has fallen.
        let fallen = seen((round + 5_000_000, base), vec![((1_000, base + 1), million)]);
        assert_eq!(fallen.findings[0].kind, FindingKind::Implausible, "{:?}", fallen.findings);
    }

    #[test]
    fn a_sata_drive_without_device_statistics_has_amounts() {
        let (_tree, place) = sata_place();
        let start = Arc::new(sata_drive((1_000, 500)));
        let mut monitor = HealthMonitor::for_device(&place, start).unwrap();
        assert_eq!(monitor.watch_media(&place), "attributes 247 and 248 of Crucial and Micron");
        let after = vec![(sata_drive((2_000, 1_000)), 4_096), (sata_drive((4_000, 1_000)), 4_096)];
        let seen = record(monitor, after);
        let [media, _, host, _] = MediaWrites::PAGES;
        assert_eq!(readings(&seen, media), [1_500.0, 2_000.0]);
        assert_eq!(readings(&seen, host), [1_000.0, 2_000.0]);
        let kinds: Vec<_> = seen.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::NotMeasured], "the health alone is not recorded");
        assert!(seen.findings[0].text.contains("health"), "{}", seen.findings[0].text);
    }

    #[test]
    fn counters_that_cannot_be_read_are_one_finding_with_the_reason() {
        let counted =
            |kilo: u128| drive(2_000_001 + 1_000 * kilo, 3_000_000_000_001 + 512_000_000 * kilo);
        let closed = |kilo| {
            let mut drive = counted(kilo);
            drive.logs.remove(&0xc0);
            drive
        };
        let sent = 512_000_000;
        let tree = SysfsTree::new();
        let place = tree.nvme_without_multipath("16.0 GT/s PCIe", "4");
        let mut monitor = HealthMonitor::for_device(&place, Arc::new(counted(0))).unwrap();
        monitor.watch_media(&place);
        let after = vec![
            (closed(1), sent),
            (counted(2), sent),
            (counted(3), sent),
            (closed(4), sent),
            (counted(5), sent),
        ];
        let seen = record(monitor, after);
        assert_eq!(readings(&seen, MediaWrites::BYTES[0]), [512e6], "the third step alone");
        let [finding] = seen.findings.as_slice() else { panic!("{:?}", seen.findings) };
        assert_eq!(finding.kind, FindingKind::NotMeasured);
        for words in ["OCP extended SMART log C0h", "rejects", "have no media writes"] {
            assert!(finding.text.contains(words), "{}", finding.text);
        }
    }

    #[test]
    fn a_counter_with_metadata_is_compared_with_the_data_and_its_metadata() {
        let sent = 1_000_000 * 512;
        let recorded = |counted: u128| {
            let tree = SysfsTree::new();
            let place = tree.nvme_without_multipath("16.0 GT/s PCIe", "4");
            let start = Arc::new(placement_drive(1_000_000_007, 2_000_000_003));
            let mut monitor = HealthMonitor::for_device(&place, start).unwrap();
            assert_eq!(monitor.watch_media(&place), "FDP statistics, log 22h");
            let end = placement_drive(1_000_000_007 + counted, 2_000_000_003 + 2 * counted);
            record(monitor, vec![(end, sent)])
        };
        let seen = recorded(1_000_000 * 520);
        assert_eq!(seen.findings, []);
        assert_eq!(readings(&seen, MediaWrites::BYTES[2]), [520e6]);
        let without = recorded(1_000_000 * 512);
        assert_eq!(without.findings[0].kind, FindingKind::CounterDrift);
        let text = &without.findings[0].text;
        assert!(text.contains("this program sent 520 MB with metadata"), "{text}");
    }

    #[test]
    fn the_granule_of_a_step_follows_from_all_counts_of_the_run() {
        const STEP: u128 = 512_000;
        let tree = SysfsTree::new();
        let place = tree.nvme_without_multipath("16.0 GT/s PCIe", "4");
        let start = Arc::new(drive(2_000_001, 6 * STEP));
        let mut monitor = HealthMonitor::for_device(&place, start).unwrap();
        monitor.watch_media(&place);
        // The counts of the first step are even by chance, those of the second multiples of five.
        let after = vec![
            (drive(2_000_005, 10 * STEP), 2_048_000),
            (drive(2_000_010, 15 * STEP), 2_560_000),
        ];
        let granules = readings(&record(monitor, after), MediaWrites::BYTES[1]);
        assert_eq!(granules, [1_024_000.0, 512_000.0]);
    }
}
