//! What one run contributes to the judgement of its drive.

use ssdgauge_analysis::findings::drive_faults::{self, DriveFault};
use ssdgauge_analysis::{
    PointRun, Run, RunOutcome, TestRun, power_meters, run_outcome, sanitize_device, sanitize_prose,
};
use ssdgauge_core::{Bytes, Detail, Direction, Metric, RequestPath, Scope, Severity, Workload};
use std::fmt;

/// The latencies that are judged: the mean, as in Perseus, and the 99th percentile, in which a drive that
/// repeats single reads shows first.
const JUDGED: [Metric; 2] = [Metric::LatMeanUs, Metric::LatP99Us];

/// The requests without which a 99th percentile is the latency of some ten single requests.
const LEAST_REQUESTS: u64 = 1_000;

/// The drives that are compared with each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriveModel {
    /// The model.
    pub model: String,
    /// The firmware; empty where it is not reported.
    pub firmware: String,
    /// The tested bytes.
    pub capacity: u64,
    /// The revision of the model of a virtual drive; empty for a drive.
    pub model_revision: String,
}

/// What one run says about its drive.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveRun {
    /// The drives that it is compared with.
    pub kind: DriveModel,
    /// The serial.
    pub serial: String,
    /// The label of the run.
    pub label: Option<String>,
    /// Whether the drive is a virtual one.
    pub is_model: bool,
    /// The id of the run.
    pub run_id: String,
    /// Its start, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// The id of the suite.
    pub suite: String,
    /// What held the drive back: heat, or its link.
    pub held_back: Vec<DriveFault>,
    /// The headlines.
    pub(super) headlines: Vec<HeadlineOfRun>,
    /// The latencies of the steps.
    pub(super) latencies: Vec<Latency>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct HeadlineOfRun {
    pub(super) test: TestKey,
    pub(super) metric: Metric,
    /// What its power was read by.
    pub(super) meters: Vec<String>,
    pub(super) value: f64,
}

/// A test that is the same in several runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestKey {
    /// The id of the suite.
    pub suite: String,
    /// The id of the test.
    pub test: String,
    /// The revision of the suite.
    pub suite_revision: u32,
    /// The revision of the test.
    pub test_revision: u32,
    /// The divisor of a shortened run, 1 for the full length.
    pub shortened: u32,
    /// Whether its spans were scaled to the drive.
    pub is_span_scaled: bool,
    /// How requests reached the drive.
    pub path: RequestPath,
}

impl fmt::Display for DriveModel {
    /// Writes all that separates drives, such as `Disk, firmware F1, 1.00 TB (1000204886016 bytes)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.model)?;
        if !self.firmware.is_empty() {
            write!(f, ", firmware {}", self.firmware)?;
        }
        write!(f, ", {} ({} bytes)", Bytes(self.capacity).about(), self.capacity)?;
        match self.model_revision.as_str() {
            "" => Ok(()),
            revision => write!(f, ", model revision {revision}"),
        }
    }
}

impl fmt::Display for TestKey {
    /// Writes all that separates tests, such as `quick/random-read (revisions 3 and 2, polled completions)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TestKey { suite, test, suite_revision, test_revision, .. } = self;
        write!(f, "{suite}/{test} (revisions {suite_revision} and {test_revision}")?;
        if self.shortened > 1 {
            write!(f, ", shortened to 1/{}", self.shortened)?;
        }
        if self.is_span_scaled {
            write!(f, ", scaled spans")?;
        }
        match self.path {
            RequestPath::Interrupts => f.write_str(")"),
            RequestPath::Polled | RequestPath::PassThrough => write!(f, ", {})", self.path.name()),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Latency {
    pub(super) test: TestKey,
    pub(super) step: String,
    pub(super) direction: Direction,
    pub(super) metric: Metric,
    /// What the regression is fitted over: steps that differ only in their rate, or one step of a closed
    /// loop.
    pub(super) load: String,
    /// ln of requests per second in an open loop; 0 in a closed loop.
    pub(super) throughput: f64,
    /// ln of the latency in microseconds.
    pub(super) latency: f64,
    /// Requests per second.
    pub(super) iops: f64,
}

/// Returns the serial of the drive of `run`, safe to show; `None` where it has none.
pub fn serial(run: &Run) -> Option<String> {
    let drive = &run.head.drive;
    let serial = drive.serial.as_deref().map(sanitize_device);
    let serial = serial.filter(|serial| !serial.is_empty())?;
    match drive.detail(Detail::Seed).filter(|_| run.is_model()) {
        // Virtual drives of one profile have one serial.
        Some(seed) => Some(format!("{serial} seed {}", sanitize_prose(seed))),
        None => Some(serial),
    }
}

/// Returns what `run` says about its drive, or why it says nothing.
///
/// # Errors
///
/// The run was imported, failed or was disturbed, its drive has no serial, or all of its results are invalid.
pub fn drive_run(run: &Run) -> Result<DriveRun, &'static str> {
    let (head, drive) = (&run.head, &run.head.drive);
    if head.imported_from().is_some() {
        return Err("it is a result of another program");
    }
    if run.findings.iter().any(|finding| finding.severity == Severity::Invalid) {
        return Err("its results are invalid");
    }
    match run_outcome(run) {
        RunOutcome::Complete | RunOutcome::Unfinished => {}
        RunOutcome::Failed => return Err("its run failed"),
        // What something outside of the drive changed is not a measure for others either.
        RunOutcome::Disturbed => return Err("its run was disturbed from outside"),
    }
    let serial = serial(run);
    let revision = drive.detail(Detail::ModelRevision).map_or(String::new(), sanitize_prose);
    let mut found = DriveRun {
        kind: DriveModel {
            model: sanitize_device(drive.name()),
            firmware: drive.firmware.as_deref().map_or(String::new(), sanitize_device),
            capacity: drive.capacity.0,
            model_revision: revision,
        },
        serial: serial.ok_or("its target has no serial")?,
        label: head.environment.get("label").map(|label| sanitize_prose(label)),
        is_model: run.is_model(),
        run_id: sanitize_prose(&head.id),
        started_unix_ms: head.started_unix_ms,
        suite: sanitize_prose(&head.plan.suite.id),
        held_back: drive_faults::held_back(run),
        headlines: Vec::new(),
        latencies: Vec::new(),
    };
    for test in &run.tests {
        let is_invalid =
            test.findings.iter().any(|of_step| of_step.finding.severity == Severity::Invalid);
        if is_invalid {
            continue;
        }
        let key = TestKey {
            suite: sanitize_prose(&head.plan.suite.id),
            test: sanitize_prose(&test.test.id),
            suite_revision: head.plan.suite.revision,
            test_revision: test.test.revision,
            shortened: head.plan.shortened.max(1),
            is_span_scaled: head.plan.span_scaled,
            path: head.plan.request_path(),
        };
        let metric = test.headline.metric;
        if let Some(value) = test.headline.value.filter(|value| *value > 0.0) {
            let meters = power_meters(metric, test).into_iter().map(|meter| sanitize_prose(&meter));
            let (test, meters) = (key.clone(), meters.collect());
            found.headlines.push(HeadlineOfRun { test, metric, meters, value });
        }
        found.latencies.extend(latencies(test, &key));
    }
    Ok(found)
}

fn latencies(test: &TestRun, key: &TestKey) -> Vec<Latency> {
    let mut found = Vec::new();
    for point in &test.points {
        for direction in point.directions() {
            let of = |metric: &Metric| latency(point, key, direction, *metric);
            found.extend(JUDGED.iter().filter_map(of));
        }
    }
    found
}

fn latency(
    point: &PointRun,
    key: &TestKey,
    direction: Direction,
    metric: Metric,
) -> Option<Latency> {
    let totals = &point.point.totals;
    let requests = totals.directions[direction as usize].ios;
    if metric == Metric::LatP99Us && requests < LEAST_REQUESTS {
        return None;
    }
    let positive =
        |metric| totals.value(metric, Scope::from(direction)).filter(|value: &f64| *value > 0.0);
    let (iops, latency) = (positive(Metric::Iops)?, positive(metric)?);
    let step = sanitize_prose(&point.point.label);
    let is_closed = point.workload.closed_depth().is_some();
    let load = match is_closed {
        // Throughput × latency is the queue depth (Little's law), so that throughput explains nothing.
        true => step.clone(),
        false => without_rates(&point.workload),
    };
    let throughput = if is_closed { 0.0 } else { iops.ln() };
    let (test, latency) = (key.clone(), latency.ln());
    Some(Latency { test, step, direction, metric, load, throughput, latency, iops })
}

/// Returns a text that is equal for workloads that differ only in their rates.
fn without_rates(workload: &Workload) -> String {
    let mut workload = workload.clone();
    for stream in &mut workload.streams {
        stream.arrival = stream.arrival.times(0.0);
    }
    format!("{workload:?}")
}
