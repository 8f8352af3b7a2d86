//! A log of ACT as the test of the suite `act` that does the same load, with the shares of slow reads.

use crate::act_bins::ActForm;
use crate::act_log::{ActLog, LARGE_READS, LARGE_WRITES, READS};
use crate::import_error::ImportError;
use crate::imported::{Imported, ImportedStep};
use ssdgauge_core::{
    Action, Arrival, Bytes, Chart, Detail, Deviation, Direction, DriveInfo, EngineReport, Finding,
    FindingKind, Histogram, Interval, Nanos, Phase, PhaseKind, Plan, Severity, Step, Stream, Test,
    Workload,
};

/// The smallest request of a device that states none, in bytes.
const SECTOR: u64 = 512;

/// The configuration of the protocol that the suite follows; another one is a load of its own.
const PROTOCOL: [(&str, &str); 8] = [
    ("record-bytes", "1536"),
    ("record-bytes-range-max", "0"),
    ("large-block-op-kbytes", "128"),
    ("replication-factor", "1"),
    ("update-pct", "0"),
    ("defrag-lwm-pct", "50"),
    ("commit-to-device", "no"),
    ("tomb-raider", "no"),
];

impl ActLog {
    /// Returns the id of the test of the suite `act` with the same start of its latencies.
    pub fn test_id(&self) -> &'static str {
        match self.form {
            ActForm::FromQueue => "act-5",
            ActForm::FromCall => "act-6",
        }
    }

    /// Returns the devices of the log, as it names them.
    pub fn device_names(&self) -> &str {
        self.configuration.get("device-names").map_or("not stated", String::as_str)
    }

    /// Returns the result as the test of `plan`, which is that of [`ActLog::test_id`] on `drive`.
    ///
    /// # Errors
    /// A configuration without its rates, or one that no plan can hold.
    pub fn into_imported(self, plan: Plan, drive: DriveInfo) -> Result<Imported, ImportError> {
        let unfit = |what: &str| ImportError::unfit("act_storage", what);
        let mut plan = plan;
        let [planned] = plan.tests.as_mut_slice() else {
            return Err(unfit("the suite has no such test"));
        };
        let other = self.other_protocol();
        let elapsed = Nanos::from_secs(self.judged.seconds);
        let step = self.step(planned, elapsed)?;
        let streams = step.action.workload().map_or(&[][..], |one| &one.streams).to_vec();
        let judgement = self.judge(planned, &step)?;
        if !other.is_empty() {
            planned.id = format!("act-log-{}", if self.form == ActForm::FromCall { 6 } else { 5 });
            planned.title = "Load of ACT with another configuration".into();
        }
        arrange(planned, step, &self.version);
        if let Some(what) = plan.defect_of_imported(drive.capacity) {
            return Err(ImportError::unfit("act_storage", what));
        }
        let mut findings = vec![self.imported_finding(&drive)];
        findings.extend(self.other_finding(&other));
        let depth = streams.iter().filter_map(Stream::in_flight_limit).sum();
        let step = ImportedStep {
            elapsed,
            intervals: self.intervals(&streams, elapsed),
            readings: judgement.readings,
            report: EngineReport {
                engine: format!("ACT {}", self.version),
                setup: "imported".into(),
                in_flight_asked: depth,
                clock: "that of ACT".into(),
                ..EngineReport::default()
            },
            findings: judgement.findings,
        };
        let program = format!("ACT {}", self.version);
        Ok(Imported { program, ended_unix_ms: 0, plan, drive, steps: vec![step], findings })
    }

    /// Returns the entries of the configuration that differ from the protocol.
    fn other_protocol(&self) -> Vec<String> {
        let differs = |(key, expected): &(&str, &str)| {
            let value = self.configuration.get(*key)?;
            (value != expected).then(|| format!("{key}: {value}"))
        };
        let mut other: Vec<String> = PROTOCOL.iter().filter_map(differs).collect();
        if self.device_names().split_whitespace().count() > 1 {
            other.push(format!("device-names: {}", self.device_names()));
        }
        if self.minimum_io() > SECTOR {
            other.push(format!("minimum IO size = {} bytes", self.minimum_io()));
        }
        let rate = |key| self.rate(key).unwrap_or(0.0);
        let (reads, writes) = (rate("read-reqs-per-sec"), rate("write-reqs-per-sec"));
        if reads != 2.0 * writes {
            other.push(format!("{writes} writes for {reads} reads per second"));
        }
        other.iter_mut().for_each(|text| *text = text.chars().take(200).collect());
        other
    }

    /// Returns the capacity of the devices together; `None` where the log does not describe all of them.
    pub fn capacity(&self) -> Option<Bytes> {
        let named = self.device_names().split_whitespace().count();
        let all = self.devices.iter().map(|device| device.bytes).sum();
        (!self.devices.is_empty() && self.devices.len() == named.max(1)).then_some(Bytes(all))
    }

    /// Returns the length of the smallest and of the largest read in bytes (act_storage.c,
    /// discover_read_pattern): those of the records, rounded up to whole smallest requests of the device.
    fn read_bytes(&self) -> Option<(u64, u64)> {
        let key = |key: &str| self.configuration.get(key).map(String::as_str);
        let number = |text: &str| text.trim().parse::<u64>().ok().filter(|one| *one > 0);
        let stored = key("record-stored-bytes").and_then(|text| text.split_once("..."));
        let stored = stored.and_then(|(least, most)| number(least).zip(number(most)));
        let stated = || {
            let least = key("record-bytes").and_then(number)?;
            Some((least, key("record-bytes-range-max").and_then(number).unwrap_or(least)))
        };
        let (least, most) = stored.or_else(stated)?;
        let whole = |bytes: u64| bytes.checked_next_multiple_of(self.minimum_io());
        whole(least).zip(whole(most.max(least)))
    }

    /// Returns the smallest request of the devices in bytes.
    fn minimum_io(&self) -> u64 {
        let largest = self.devices.iter().map(|device| device.minimum_io).max();
        largest.unwrap_or(SECTOR).max(SECTOR)
    }

    /// Returns the step of `test` with the load of the log: its first load, multiplied.
    fn step(&self, test: &Test, elapsed: Nanos) -> Result<Step, ImportError> {
        let unfit = |what: &str| ImportError::unfit("act_storage", what);
        let attempts = test.search.as_ref().map_or(0, |search| search.attempts);
        let first = test.phases.get(attempts).and_then(|phase| phase.steps.first());
        let Some(Step { action: Action::Run { workload, until, .. }, position, rest, .. }) = first
        else {
            return Err(unfit("the suite has no load"));
        };
        let rate = self.rate("read-reqs-per-sec").filter(|rate| *rate > 0.0);
        let rate = rate.ok_or_else(|| unfit("its read-reqs-per-sec is not a rate"))?;
        let one = workload.streams.first().and_then(|stream| stream.arrival.per_second());
        let load = rate / one.ok_or_else(|| unfit("the suite has no rate"))?;
        let mut workload: Workload = workload.clone();
        for stream in &mut workload.streams {
            stream.arrival = stream.arrival.times(load);
            self.set_threads(stream);
            self.set_block_size(stream);
        }
        let (until, steady) = (ssdgauge_core::Until { time: Some(elapsed), ..*until }, None);
        let action = Action::Run { workload, until, steady };
        Ok(Step { label: format!("{load}x"), position: position * load, action, rest: *rest })
    }

    /// Sets the threads of the small reads.
    fn set_threads(&self, stream: &mut Stream) {
        let count = |key: &str| self.configuration.get(key)?.parse::<u32>().ok();
        if stream.name != READS {
            return;
        }
        match stream.arrival {
            Arrival::InPhase { .. } => {
                stream.threads =
                    count("service-threads").filter(|n| *n > 0).unwrap_or(stream.threads);
            }
            Arrival::Closed
            | Arrival::Uniform { .. }
            | Arrival::Poisson { .. }
            | Arrival::Recorded { .. } => {
                let threads = count("num-queues").zip(count("threads-per-queue"));
                let threads = threads.and_then(|(queues, each)| queues.checked_mul(each));
                stream.in_flight_at_most = threads.filter(|n| *n > 0).or(stream.in_flight_at_most);
            }
        }
    }

    /// Sets the length of the requests, of several ones the mean in whole sectors.
    fn set_block_size(&self, stream: &mut Stream) {
        let mean = match stream.name.as_str() {
            READS => self.read_bytes().map(|(least, most)| least.midpoint(most)),
            _ => {
                let kibibytes = self.configuration.get("large-block-op-kbytes");
                kibibytes.and_then(|text| text.parse::<u64>().ok()?.checked_mul(1_024))
            }
        };
        let whole = mean.and_then(|bytes| bytes.checked_next_multiple_of(SECTOR));
        stream.block_size = whole.map_or(stream.block_size, Bytes);
    }

    /// Returns the requests of each stream, without latencies: a bin is not a latency.
    fn intervals(&self, streams: &[Stream], elapsed: Nanos) -> Vec<Interval> {
        let interval = |(index, stream): (usize, &Stream)| {
            // A failed read does not state its size.
            let (name, errors) = match stream.name.as_str() {
                READS => (READS, self.judged.failed.reads),
                "large-reads" => (LARGE_READS, 0),
                _ => (LARGE_WRITES, self.judged.failed.writes),
            };
            let ios = self.judged.histograms.get(name).map_or(0, |bins| bins.total);
            (ios > 0 || errors > 0).then(|| Interval {
                second: 0,
                stream: index as u16,
                direction: if stream.reads() { Direction::Read } else { Direction::Write },
                length: elapsed,
                ios,
                bytes: ios.saturating_mul(stream.block_size.0),
                errors,
                latency: Histogram::default(),
            })
        };
        streams.iter().enumerate().filter_map(interval).collect()
    }

    fn imported_finding(&self, drive: &DriveInfo) -> Finding {
        let slices = match self.slices.len() {
            1 => "1 slice".to_owned(),
            slices => format!("{slices} slices"),
        };
        let capacity = drive.detail(Detail::CapacityFrom).unwrap_or("");
        Finding::new(
            FindingKind::Imported,
            Severity::Warning,
            format!(
                "these numbers were measured by ACT {}, not by ssdgauge: the shares of slow reads of \
                 {slices} are known from bins of powers of two, but no mean and no percentile; the \
                 preparation is not known (capacity: {capacity})",
                self.version
            ),
            "run the suite `act` with `ssdgauge run` for latencies, seconds and conditions of the drive",
        )
    }

    fn other_finding(&self, other: &[String]) -> Option<Finding> {
        (!other.is_empty()).then(|| {
            Finding::new(
                FindingKind::Imported,
                Severity::Warning,
                format!("the load is not that of the suite `act`: {}", other.join(", ")),
                "compare it only with logs of the same configuration",
            )
        })
    }
}

/// Reduces `test` to the one load of the log.
fn arrange(test: &mut Test, step: Step, version: &str) {
    test.source = format!("a log of ACT {version}");
    test.figures = vec![Chart::Ranking];
    test.deviations = vec![Deviation {
        key: "prepare".into(),
        value: "not known".into(),
        reason: "the log of act_storage does not state how the drive was prepared".into(),
    }];
    let phase = |kind, step: Step| Phase { kind, steps: vec![step] };
    test.phases = vec![phase(PhaseKind::Measure, step.clone()), phase(PhaseKind::Search, step)];
    if let Some(search) = &mut test.search {
        (search.attempts, search.probes) = (0, 1);
        search.recondition.clear();
        // A log has one trial of its load.
        search.repeats = false;
    }
}

/// The capacity that a plan assumes where it is not stated.
pub const ASSUMED_CAPACITY: Bytes = Bytes(1_000_000_000_000);
