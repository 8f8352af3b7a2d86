//! Results of fio as a plan with samples.
//!
//! Jobs that ran at the same time are the streams of one step. Counts, bytes, means, minima and maxima
//! are those of fio. With `json+` the latencies are those of its bins, 64 for each octave, so a percentile
//! differs by up to 0.8 % from the exact one; with `json` its percentiles are taken as they are. It must
//! never state what fio does not: the course in time is not known, and what the plan cannot express is a
//! finding.

use crate::documents;
use crate::group::import_group;
use crate::import_error::{ImportError, MAX_GROUPS};
use crate::imported::{Imported, ImportedStep};
use crate::left_out;
use crate::output::{Job, Output};
use crate::stream::capacity_of;
use ssdgauge_core::{
    Bytes, Chart, Detail, DriveInfo, Finding, FindingKind, Interval, Plan, Severity, SuiteIdentity,
    TargetKind, Test,
};
use std::collections::BTreeMap;

/// Reads `text`, the output of `fio --output-format=json` or `json+`, or those of several runs: the last
/// document of each run, where it has several (`--status-interval`). Other lines are skipped, and jobs
/// without results are left out.
///
/// # Errors
/// A text that is not such an output, was written by another version, or contradicts itself.
pub fn import(text: &str) -> Result<Imported, ImportError> {
    import_with_logs(text, &[], None)
}

/// Reads `text` as [`import`] does, and the course in time from the histogram logs of its one job
/// (`write_hist_log`), one for each thread. `size` is the capacity of the target, which fio does not state. All totals and percentiles stay those of `text`.
///
/// # Errors
/// The same; logs of another result, and a result with several jobs.
pub fn import_with_logs(
    text: &str,
    logs: &[String],
    size: Option<Bytes>,
) -> Result<Imported, ImportError> {
    let (mut outputs, mut findings) = documents::results(text)?;
    findings.extend(left_out::take_out(&mut outputs)?);
    let (capacity, capacity_from) = capacity_of(&outputs, size);
    let mut tests: Vec<Test> = Vec::new();
    let mut steps = Vec::new();
    for output in &outputs {
        let mut groups: BTreeMap<u32, Vec<&Job>> = BTreeMap::new();
        output.jobs.iter().for_each(|job| groups.entry(job.groupid).or_default().push(job));
        for jobs in groups.values() {
            let (mut test, step) = import_group(jobs, output, capacity)?;
            let same = tests.iter().filter(|other| other.title == test.title).count();
            if same > 0 {
                test.id = format!("{}-{}", test.id, same + 1);
            }
            tests.push(test);
            steps.push(step);
        }
    }
    if tests.is_empty() || tests.len() > MAX_GROUPS {
        return Err(ImportError::Groups(tests.len()));
    }
    let drive = drive_of(&outputs, &tests, (size, capacity, capacity_from));
    let mut plan = Plan {
        suite: SuiteIdentity { id: "fio".into(), revision: 1, title: "Jobs of fio".into() },
        shortened: 1,
        span_scaled: false,
        seed: 0,
        tests,
        repeat_until: None,
        verify: false,
        polled: false,
        pass_through: false,
    };
    if let Some(what) = plan.defect_of_imported(drive.capacity) {
        return Err(ImportError::unfit(&plan.tests[0].title, what));
    }
    if !logs.is_empty() {
        add_course(&outputs, logs, &mut steps, &mut plan)?;
    }
    findings.insert(0, imported_finding(&outputs, &steps, !logs.is_empty()));
    let last = outputs.pop().expect("a plan with tests has an output");
    let ended_unix_ms = last.timestamp_ms;
    Ok(Imported { program: last.version, ended_unix_ms, plan, drive, steps, findings })
}

/// Divides the one step into the seconds of its histogram logs.
fn add_course(
    outputs: &[Output],
    logs: &[String],
    steps: &mut [ImportedStep],
    plan: &mut Plan,
) -> Result<(), ImportError> {
    let [output] = outputs else {
        let what = "histogram logs need the result of one run";
        return Err(ImportError::unfit(&plan.tests[0].title, what));
    };
    let ([job], [step], [test]) = (output.jobs.as_slice(), steps, plan.tests.as_mut_slice()) else {
        let what = "histogram logs need a result with one job (group_reporting for its threads)";
        return Err(ImportError::unfit(&output.jobs[0].jobname, what));
    };
    let window = job.options.get("log_hist_msec").or_else(|| output.options.get("log_hist_msec"));
    let course = crate::hist_log::course(job, window, logs, step.elapsed)?;
    step.intervals = course.intervals;
    step.findings.extend(course.findings);
    test.figures.push(Chart::Timeline);
    Ok(())
}

fn imported_finding(outputs: &[Output], steps: &[ImportedStep], has_course: bool) -> Finding {
    let course = match has_course {
        true => "the course in time is that of its histogram log",
        false => "the course in time is not known",
    };
    let mut versions: Vec<&str> = outputs.iter().map(|output| output.version.as_str()).collect();
    versions.dedup();
    let has_bins = |one: &Interval| one.latency.count() > 0 && one.latency.has_buckets();
    let bins = match steps.iter().flat_map(|step| &step.intervals).any(has_bins) {
        true => "percentiles follow from its bins (64 for each octave), and ",
        false => "",
    };
    Finding::new(
        FindingKind::Imported,
        Severity::Warning,
        format!(
            "these numbers were measured by {}, not by ssdgauge: {bins}{course}",
            versions.join(", ")
        ),
        "run the same load with `ssdgauge run` for seconds, intervals and conditions of the drive",
    )
}

/// Returns what is stated about the target: its name, and its capacity: the size that the user stated, and what
/// the plan takes it for, with what states that.
fn drive_of(
    outputs: &[Output],
    tests: &[Test],
    (size, capacity, capacity_from): (Option<Bytes>, u64, &str),
) -> DriveInfo {
    let of_output = |output: &Output, key: &str| {
        let own = output.jobs.iter().find_map(|job| job.options.get(key));
        own.or_else(|| output.options.get(key)).cloned()
    };
    let stated = |key: &str| outputs.iter().find_map(|output| of_output(output, key));
    let target = stated("filename").or_else(|| stated("directory")).unwrap_or("not stated".into());
    let workloads = tests.iter().flat_map(|test| &test.phases).flat_map(|phase| &phase.steps);
    let streams = workloads.filter_map(|step| step.action.workload()).flat_map(|one| &one.streams);
    // A span is never shorter than a request.
    let spans = streams.map(|stream| stream.span.0).filter(|_| size.is_none());
    let capacity = spans.max().unwrap_or(0).max(capacity);
    let is_device = target.starts_with("/dev/");
    DriveInfo {
        kind: if is_device { TargetKind::Block } else { TargetKind::File },
        target,
        model: None,
        serial: None,
        firmware: None,
        capacity: Bytes(capacity),
        logical_block: Bytes(512),
        physical_block: Bytes(512),
        details: size
            .map(|size| (Detail::WholeCapacity.key().into(), size.0.to_string()))
            .into_iter()
            .chain([(Detail::CapacityFrom.key().into(), capacity_from.into())])
            .collect(),
    }
}
