//! `ssdgauge bench`: the processor time of the engine per request, with full histograms.

use crate::arguments::{self, ConsentOptions};
use crate::failure::{Failure, FailureKind};
use crate::permitted_writes::{self, Expected};
use crate::request_path;
use serde::Serialize;
use ssdgauge_core::{
    Access, Arrival, Bytes, Data, DriveInfo, Engine, EngineReport, Finding, Histogram, Interval,
    KernelQueue, Nanos, OpenLoop, Preparation, Reading, RequestPath, Rig, RigError, Sink, Stream,
    TargetKind, Until, Workload, rounded,
};
use ssdgauge_guard::{Candidate, LookPlace, TargetOptions, TargetPlace, check_answer};
use ssdgauge_host::LinuxRig;
use ssdgauge_lab::{Expectation, PlanError};
use ssdgauge_watch::terminal;
use std::path::Path;

/// Measures and prints the processor time per request.
///
/// # Errors
///
/// Fails where the target is refused, a request fails, or the path of the requests is not available.
pub(crate) fn execute(arguments: &arguments::BenchArguments) -> Result<(), Failure> {
    let (mut rig, span) = open(arguments)?;
    // The clock is calibrated first: a single run has no warm-up in which that could happen.
    rig.settle();
    if arguments.polled {
        rig.poll().map_err(|cause| request_path::refused(RequestPath::Polled, cause))?;
    }
    if let Some(path) = &arguments.log_ios {
        crate::request_log::start(&mut rig, path)?;
    }
    let warm_up = u32::from(arguments.runs > 1);
    let mut runs = Vec::new();
    for number in 0..arguments.runs + warm_up {
        let run = run_once(&mut rig, arguments, span)?;
        if number < warm_up {
            continue;
        }
        if arguments.json {
            let value = serde_json::to_value(run.document()).expect("keys are strings");
            terminal::print(&format!("{value}\n"));
        }
        runs.push(run);
    }
    if !arguments.json {
        print_summary(arguments, &runs)?;
    }
    match runs.iter().map(|run| run.totals.errors).sum::<u64>() {
        0 => Ok(()),
        failed => {
            let what = format!("{failed} requests failed; the figures are those of the others");
            let hint = "check the findings and the kernel log (dmesg)";
            Err(Failure::new(FailureKind::Failed, what, hint))
        }
    }
}

/// Refuses block sizes that are not multiples of the logical block of `drive`.
fn check_block_size(block: Bytes, drive: &DriveInfo) -> Result<(), Failure> {
    if block.0.is_multiple_of(drive.logical_block.0) {
        return Ok(());
    }
    Err(Failure::from(PlanError::Misaligned {
        what: "the benchmark".into(),
        block_size: block,
        target: drive.target.clone(),
        logical_block: drive.logical_block,
    }))
}

/// Refuses polled completions and pass-through that `drive` does not have, before anything is written.
fn check_path(arguments: &arguments::BenchArguments, drive: &DriveInfo) -> Result<(), Failure> {
    let path = RequestPath::chosen(arguments.polled, arguments.pass_through);
    request_path::check_drive(path, drive)
}

/// Opens and fills the target; returns the rig and the size of the tested range.
fn open(arguments: &arguments::BenchArguments) -> Result<(LinuxRig, Bytes), Failure> {
    let path = Path::new(&arguments.target);
    check_answer(&LookPlace::own_process(), path)?;
    if path.is_file() {
        let refused =
            |cause: String| Failure::new(FailureKind::Refused, cause, "nothing was written");
        if arguments.read_percent < 100 {
            return Err(refused(format!("{} exists already", path.display())));
        }
        let rig = LinuxRig::reading(path, !arguments.cached)
            .map_err(|error| refused(format!("cannot read {}: {error}", path.display())))?;
        check_path(arguments, rig.drive())?;
        if !arguments.cached {
            check_block_size(arguments.block_size, rig.drive())?;
        }
        let span = Bytes(rig.drive().capacity.0.min(arguments.size.0));
        return Ok((rig, span));
    }
    let found = Candidate::find_in(LookPlace::own_process(), &arguments.target)?;
    let candidate = match found.place {
        TargetPlace::Null => found,
        TargetPlace::Folder(_) | TargetPlace::NewFile(_) | TargetPlace::Block(_) => {
            found.sized(arguments.size)?
        }
    };
    check_block_size(arguments.block_size, &candidate.info)?;
    check_path(arguments, &candidate.info)?;
    let span = Bytes(candidate.info.capacity.0.min(arguments.size.0));
    let written = expected_writes(arguments, &candidate.info, span);
    let expected = Expected::new("a benchmark of the engine", written);
    let is_scratch = matches!(candidate.place, TargetPlace::Folder(_) | TargetPlace::NewFile(_));
    let (name, consent) = ("bench", &arguments.consent);
    let max_writes = permitted_writes::ask(name, &candidate.info, is_scratch, consent, expected)?;
    let options = TargetOptions {
        confirm: ConsentOptions::named(&arguments.consent.confirm, None),
        erase: ConsentOptions::named(&arguments.consent.erase, None),
        confined: ConsentOptions::named(&arguments.consent.confined, None),
        pass_through: arguments.pass_through,
        allowed_writes: max_writes,
        ..TargetOptions::default()
    };
    let mut rig = LinuxRig::open_with(candidate, &options, 1)?;
    let fill = Preparation::Fill {
        access: Access::Sequential,
        block_size: Bytes(128 << 10),
        offset: Bytes(0),
        span,
    };
    if !arguments.no_fill {
        rig.prepare(&fill, &mut Totals::default()).map_err(rig_failure)?;
    }
    Ok((rig, span))
}

fn rig_failure(error: RigError) -> Failure {
    Failure::new(FailureKind::Failed, error.to_string(), "check the kernel log (dmesg)")
}

/// The result of one run of the benchmark.
struct BenchRun {
    report: EngineReport,
    elapsed: Nanos,
    totals: Totals,
}

/// `bench --json`, one for each engine.
#[derive(Serialize)]
struct Document<'a> {
    ios: u64,
    bytes: u64,
    errors: u64,
    elapsed_s: f64,
    cpu_ns_per_io: Option<u64>,
    lat_p50_us: Option<f64>,
    lat_p95_us: Option<f64>,
    lat_p99_us: Option<f64>,
    lat_p999_us: Option<f64>,
    lat_mean_us: Option<f64>,
    engine: &'a EngineReport,
    findings: &'a [Finding],
}

impl BenchRun {
    fn document(&self) -> Document<'_> {
        let us = |share| self.totals.latency.percentile(share).map(|ns| ns as f64 / 1e3);
        Document {
            ios: self.totals.ios,
            bytes: self.totals.bytes,
            errors: self.totals.errors,
            elapsed_s: self.elapsed.as_secs_f64(),
            cpu_ns_per_io: self.report.cpu_per_io.map(|cost| cost.0),
            lat_p50_us: us(0.5),
            lat_p95_us: us(0.95),
            lat_p99_us: us(0.99),
            lat_p999_us: us(0.999),
            lat_mean_us: self.totals.latency.mean().map(|ns| ns / 1e3),
            engine: &self.report,
            findings: &self.totals.findings,
        }
    }
}

/// Returns the workload of `arguments` on the first `span` bytes, and its limits.
fn load(arguments: &arguments::BenchArguments, span: Bytes) -> (Workload, Until) {
    let until = Until {
        time: Some(Nanos((arguments.seconds * 1e9) as u64)),
        bytes: arguments.requests.map(|n| Bytes(n.saturating_mul(arguments.block_size.0))),
    };
    let per_second = arguments.rate.unwrap_or_default();
    let arrival = match (arguments.rate.is_some(), arguments.poisson) {
        (false, _) => Arrival::Closed,
        (true, false) => Arrival::Uniform { per_second },
        (true, true) => Arrival::Poisson { per_second },
    };
    let stream = Stream {
        name: "main".into(),
        access: if arguments.sequential { Access::Sequential } else { Access::Random },
        block_size: arguments.block_size,
        read_percent: arguments.read_percent,
        queue_depth: arguments.queue_depth,
        threads: arguments.threads,
        offset: Bytes(0),
        span,
        arrival,
        data: Data::Incompressible,
        sync: false,
        ..Stream::default()
    };
    let engine = if arguments.synchronous { Engine::Synchronous } else { Engine::IoUring };
    (Workload { engine, streams: vec![stream] }, until)
}

/// Returns the bytes that the benchmark is expected to write on `drive`: its fill of `span`, and its loads.
fn expected_writes(
    arguments: &arguments::BenchArguments,
    drive: &DriveInfo,
    span: Bytes,
) -> Expectation<Bytes> {
    let (workload, until) = load(arguments, span);
    let fill = if arguments.no_fill { Bytes(0) } else { span };
    let runs = u64::from(arguments.runs) + u64::from(arguments.runs > 1);
    let once = match drive.kind {
        // It writes nothing.
        TargetKind::Null => return Expectation::default(),
        TargetKind::Block | TargetKind::File | TargetKind::Virtual => {
            permitted_writes::of_load(&workload, &until, drive)
        }
    };
    once.map(|bytes| Bytes(bytes.0.saturating_mul(runs)) + fill)
}

/// Runs the workload of `arguments` on the first `span` bytes.
fn run_once(
    rig: &mut LinuxRig,
    arguments: &arguments::BenchArguments,
    span: Bytes,
) -> Result<BenchRun, Failure> {
    if span.blocks_of(arguments.block_size) == 0 {
        let text = "the tested range is smaller than one request";
        return Err(Failure::new(FailureKind::Usage, text, "use a larger --size"));
    }
    let (workload, until) = load(arguments, span);
    let mut totals = Totals::default();
    let ended = rig.run(&workload, &until, &mut totals).map_err(rig_failure)?;
    Ok(BenchRun { report: ended.engine, elapsed: ended.elapsed, totals })
}

/// Prints the run with the median cost, the range of all costs, and the findings of the last run.
fn print_summary(arguments: &arguments::BenchArguments, runs: &[BenchRun]) -> Result<(), Failure> {
    for finding in runs.last().iter().flat_map(|run| &run.totals.findings) {
        terminal::print_message(&format!("finding: {}", finding.text));
    }
    let mut costs: Vec<(u64, &BenchRun)> =
        runs.iter().filter_map(|run| Some((run.report.cpu_per_io?.0, run))).collect();
    costs.sort_by_key(|(cost, _)| *cost);
    let Some((median, run)) = costs.get(costs.len() / 2) else {
        let hint = "check the findings, or raise --seconds";
        return Err(Failure::new(FailureKind::Failed, "no request completed", hint));
    };
    let (least, most) = (costs[0].0, costs[costs.len() - 1].0);
    let report = &run.report;
    terminal::print_folded(&format!(
        "engine {} ({}), {}\n{} QD{}: {} ns of processor time per I/O [{}-{}], \
         median of {} of {} s; {} I/Os per system call, {} in flight; full histograms\n",
        report.engine,
        report.setup,
        report.clock,
        arguments.target,
        arguments.queue_depth,
        rounded::count(*median),
        rounded::count(least),
        rounded::count(most),
        rounded::count_of(runs.len(), "run"),
        arguments.seconds,
        rounded::number(report.ios_per_enter.unwrap_or_default()),
        rounded::number(report.in_flight.unwrap_or_default()),
    ));
    print_queue(report);
    report.open_loop.iter().for_each(print_open_loop);
    Ok(())
}

/// Prints the use of the device by the counters of the kernel, where it is known.
fn print_queue(report: &EngineReport) {
    if let Some(KernelQueue { device, in_flight, time_mean_us, .. }) = &report.kernel {
        terminal::print_folded(&format!(
            "by the counters of the kernel for {device}: {} in flight, {} in the device on average\n",
            rounded::number(*in_flight),
            rounded::latency(*time_mean_us)
        ));
    }
}

/// Prints the rate of an open loop, and how late its requests were sent.
fn print_open_loop(open: &OpenLoop) {
    let lateness = |us: Option<f64>| us.map_or_else(|| "-".to_owned(), rounded::latency);
    terminal::print_folded(&format!(
        "scheduled {} requests/s, submitted {} requests/s; sent late: p50 {}, p90 {}, p99 {}, \
         p99.9 {}, max {}; withheld {}, unsent {}\n",
        rounded::number(open.asked_per_second),
        rounded::number(open.sent_per_second),
        lateness(open.lateness_p50_us),
        lateness(open.lateness_p90_us),
        lateness(open.lateness_p99_us),
        lateness(open.lateness_p999_us),
        lateness(open.lateness_max_us),
        rounded::count(open.withheld),
        rounded::count(open.unsent),
    ));
}

/// The sums over all intervals of a run, and its findings.
#[derive(Default)]
struct Totals {
    ios: u64,
    bytes: u64,
    errors: u64,
    latency: Histogram,
    findings: Vec<Finding>,
}

impl Sink for Totals {
    fn interval(&mut self, interval: &Interval) {
        self.ios += interval.ios;
        self.bytes += interval.bytes;
        self.errors += interval.errors;
        self.latency.merge(&interval.latency);
    }
    fn reading(&mut self, _: &Reading) {}
    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
    // A benchmark of the engine sends no command that cannot be undone.
    fn announce(&mut self, _: Finding) -> bool {
        false
    }
    fn stop(&mut self) -> bool {
        false
    }
}
