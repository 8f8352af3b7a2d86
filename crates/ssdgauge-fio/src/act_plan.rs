//! A log of ACT as the test of the suite `act` that does the same load, with the shares of slow reads.

use crate::act_log::{ActForm, ActLog, BinUnit, Bins, READS};
use crate::import_error::ImportError;
use crate::imported::{Imported, ImportedStep};
use ssdgauge_core::rounded::number;
use ssdgauge_core::{
    Action, Arrival, Bytes, Chart, Detail, Deviation, Direction, DriveInfo, EngineReport, Finding,
    FindingKind, Histogram, Interval, Nanos, PASSED, Phase, PhaseKind, Plan, Reading, Severity,
    Step, Stream, Test, Workload,
};

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
    pub fn devices(&self) -> &str {
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
        let elapsed = Nanos::from_secs(self.seconds);
        let step = self.step(planned, elapsed)?;
        let streams = step.action.workload().map_or(&[][..], |one| &one.streams).to_vec();
        let (step_readings, step_findings) = self.verdict(planned, &step, elapsed)?;
        if !other.is_empty() {
            planned.id = format!("act-log-{}", if self.form == ActForm::FromCall { 6 } else { 5 });
            planned.title = "Load of ACT with another configuration".into();
        }
        arrange(planned, step, &self.version);
        if let Some(what) = plan.defect(drive.capacity) {
            return Err(ImportError::unfit("act_storage", what));
        }
        let mut findings = vec![self.imported_finding(&drive)];
        findings.extend(self.other_finding(&other));
        let depth = streams.iter().filter_map(Stream::in_flight_limit).sum();
        let step = ImportedStep {
            elapsed,
            intervals: self.intervals(&streams, elapsed),
            readings: step_readings,
            report: EngineReport {
                engine: format!("ACT {}", self.version),
                setup: "imported".into(),
                in_flight_asked: depth,
                clock: "that of ACT".into(),
                ..EngineReport::default()
            },
            findings: step_findings,
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
        if self.devices().split_whitespace().count() > 1 {
            other.push(format!("device-names: {}", self.devices()));
        }
        let rate = |key| self.rate(key).unwrap_or(0.0);
        let (reads, writes) = (rate("read-reqs-per-sec"), rate("write-reqs-per-sec"));
        if reads != 2.0 * writes {
            other.push(format!("{writes} writes for {reads} reads per second"));
        }
        other.iter_mut().for_each(|text| *text = text.chars().take(200).collect());
        other
    }

    fn rate(&self, key: &str) -> Option<f64> {
        let rate: f64 = self.configuration.get(key)?.parse().ok()?;
        (rate.is_finite() && rate >= 0.0).then_some(rate)
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

    /// Returns the requests of each stream, without latencies: a bin is not a latency.
    fn intervals(&self, streams: &[Stream], elapsed: Nanos) -> Vec<Interval> {
        let interval = |(index, stream): (usize, &Stream)| {
            let name = match stream.name.as_str() {
                READS => READS,
                "large-reads" => "large-block-reads",
                _ => "large-block-writes",
            };
            let ios = self.whole.get(name).map_or(0, |bins| bins.total);
            (ios > 0).then(|| Interval {
                second: 0,
                stream: index as u16,
                direction: if stream.reads() { Direction::Read } else { Direction::Write },
                length: elapsed,
                ios,
                bytes: ios.saturating_mul(stream.block_size.0),
                errors: 0,
                latency: Histogram::default(),
            })
        };
        streams.iter().enumerate().filter_map(interval).collect()
    }

    /// Returns the shares of slow reads and the verdict on the load, as a search records them.
    fn verdict(
        &self,
        test: &Test,
        step: &Step,
        at: Nanos,
    ) -> Result<(Vec<Reading>, Vec<Finding>), ImportError> {
        let search = test.search.as_ref();
        let limits = search.ok_or_else(|| ImportError::unfit("act_storage", "it has no limits"))?;
        let reading = |quantity: String, value: f64| {
            let instrument = "limits".to_owned();
            Reading { at, instrument, quantity, value }
        };
        let worst = |nanos: u64| {
            let shares = self.slices.iter().map(|slice: &Bins| slice.share_above(nanos, self.unit));
            shares.fold((0.0, 0.0), |(a, b): (f64, f64), (least, most)| (a.max(least), b.max(most)))
        };
        let mut readings = Vec::new();
        let mut findings = Vec::new();
        let (mut fails, mut passes) = (self.stopped.is_some(), true);
        for (latency, allowed) in &limits.limits.above {
            let (least, most) = worst(latency.0);
            readings.push(reading(format!("worst_slice_above_{}_percent", latency.exact()), least));
            fails |= least >= *allowed;
            passes &= most < *allowed;
            if least >= *allowed {
                let text = format!(
                    "{} % of the reads took longer than {} in the worst slice",
                    number(least),
                    latency.about()
                );
                findings.push(Finding::new(FindingKind::Overloaded, Severity::Note, text, ""));
            }
        }
        match (fails, passes) {
            (true, _) => readings.push(reading(PASSED.into(), 0.0)),
            (false, true) => readings.push(reading(PASSED.into(), 1.0)),
            (false, false) => findings.push(Finding::new(
                FindingKind::Imported,
                Severity::Warning,
                format!(
                    "whether load {} passed is not known: the bins of microseconds have no border \
                     at its limits",
                    step.label
                ),
                "run ACT without microsecond-histograms",
            )),
        }
        findings.extend(self.findings_of_end());
        Ok((readings, findings))
    }

    /// Returns the findings about the end of the log.
    fn findings_of_end(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut warn = |kind, text: String, advice: &str| {
            findings.push(Finding::new(kind, Severity::Warning, text, advice));
        };
        if let Some((line, message)) = &self.stopped {
            let text = format!("ACT reported in line {line}: {message}");
            warn(FindingKind::Overloaded, text, "the load counts as not passed");
        }
        if let Some(line) = self.cut_at {
            let text = format!("the log ends within the block of line {line}, which is left out");
            warn(FindingKind::Imported, text, "import the whole log");
        }
        let planned = self.rate("test-duration-sec").unwrap_or(0.0);
        if (self.seconds as f64) < planned {
            let (is, planned) = (Nanos::from_secs(self.seconds), planned * 1e9);
            let planned = Nanos(planned as u64).about();
            let text = format!("the log ends after {} of {planned}", is.about());
            warn(FindingKind::Imported, text, "a test that ends early says less than a whole one");
        }
        if self.unit == BinUnit::Microsecond {
            let text = "shares are those above 1.024, 8.192 and 65.536 ms: bins of microseconds have no \
                        border at 1, 8 and 64 ms";
            warn(FindingKind::Imported, text.into(), "run ACT without microsecond-histograms");
        }
        findings
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
