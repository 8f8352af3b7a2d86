//! Results of fio as a plan with samples.
//!
//! Jobs that ran at the same time are the streams of one step. Counts, bytes, means, minima and maxima
//! are those of fio; the latencies are those of its bins, 64 for each octave, so a percentile differs by
//! up to 0.8 % from the exact one. It must never state what fio does not: the course in time is not
//! known, and what the plan cannot express is a finding.

use crate::block_sizes;
use crate::documents;
use crate::import_error::{ImportError, MAX_GROUPS};
use crate::left_out;
use crate::output::{Job, Options, Output};
use crate::samples::interval_of;
use crate::stream::{cpus, random_percent, stream_of};
use ssdgauge_core::{
    Action, Bytes, Detail, Direction, DriveInfo, Engine, EngineReport, Figure, Finding,
    FindingKind, Interval, Metric, Nanos, Phase, PhaseKind, Plan, Reading, Rest, Restart, Score,
    Severity, Step, Stream, SuiteIdentity, TargetKind, Test, Until, Workload,
};
use std::collections::BTreeMap;

/// The most jobs of a group.
const MAX_JOBS: usize = 1_000;
/// Requests from which on a score in bytes per second says more than one in requests: as in reviews.
const LARGE: u64 = 64 << 10;

/// The options of a job that the plan or the drive expresses, or that move no number.
const EXPRESSED: [&str; 26] = [
    "name",
    "filename",
    "directory",
    "size",
    "io_size",
    "rw",
    "readwrite",
    "rwmixread",
    "rwmixwrite",
    "bs",
    "blocksize",
    "iodepth",
    "ioengine",
    "numjobs",
    "runtime",
    "time_based",
    "direct",
    "group_reporting",
    "stonewall",
    "new_group",
    "thread",
    "description",
    "percentile_list",
    "lat_percentiles",
    "write_hist_log",
    "log_hist_msec",
];
/// The engines of fio with one request in flight for each job.
const SYNCHRONOUS: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];

/// A result of another program.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The program, such as `fio-3.33`.
    pub program: String,
    /// When the load ended, in milliseconds since 1970 (UTC); 0 where it is not known.
    pub ended_unix_ms: i64,
    /// The plan that does the same work, as far as a plan can express it.
    pub plan: Plan,
    /// What the program states about the target.
    pub drive: DriveInfo,
    /// The measured step of each test, in the order of the plan.
    pub steps: Vec<ImportedStep>,
    /// The findings about the whole result.
    pub findings: Vec<Finding>,
}

/// The samples of one step.
#[derive(Clone, Debug)]
pub struct ImportedStep {
    /// The duration: the longest of the jobs.
    pub elapsed: Nanos,
    /// One interval for each stream and direction, over the time that it ran.
    pub intervals: Vec<Interval>,
    /// Values that the other program computed from more than the intervals.
    pub readings: Vec<Reading>,
    /// The engine, as fio names it.
    pub report: EngineReport,
    /// The findings about this step.
    pub findings: Vec<Finding>,
}

/// Reads `text`, the output of `fio --output-format=json+`: its last document, where there are several of
/// one run (`--status-interval`). Other lines are skipped, and jobs without results are left out.
///
/// # Errors
/// A text that is not such an output, was written by another version, or contradicts itself.
pub fn import(text: &str) -> Result<Imported, ImportError> {
    import_with_logs(text, &[])
}

/// Reads `text` as [`import`] does, and the course in time from the histogram logs of its one job
/// (`write_hist_log`), one for each thread. All totals and percentiles stay those of `text`.
///
/// # Errors
/// The same; logs of another result, and a result with several jobs.
pub fn import_with_logs(text: &str, logs: &[String]) -> Result<Imported, ImportError> {
    let (mut output, mut findings) = documents::last(text)?;
    findings.extend(left_out::take_out(&mut output)?);
    let mut groups: BTreeMap<u32, Vec<&Job>> = BTreeMap::new();
    output.jobs.iter().for_each(|job| groups.entry(job.groupid).or_default().push(job));
    if groups.is_empty() || groups.len() > MAX_GROUPS {
        return Err(ImportError::Groups(groups.len()));
    }
    let mut tests: Vec<Test> = Vec::new();
    let mut steps = Vec::new();
    for jobs in groups.values() {
        let (mut test, step) = import_group(jobs, &output)?;
        let same = tests.iter().filter(|other| other.title == test.title).count();
        if same > 0 {
            test.id = format!("{}-{}", test.id, same + 1);
        }
        tests.push(test);
        steps.push(step);
    }
    let drive = drive_of(&output, &tests);
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
    if let Some(what) = plan.defect(drive.capacity) {
        return Err(ImportError::unfit(&plan.tests[0].title, what));
    }
    if !logs.is_empty() {
        add_course(&output, logs, &mut steps, &mut plan)?;
    }
    findings.insert(0, imported_finding(&output, !logs.is_empty()));
    let ended_unix_ms = output.timestamp_ms;
    Ok(Imported { program: output.version, ended_unix_ms, plan, drive, steps, findings })
}

/// Divides the one step into the seconds of its histogram logs.
fn add_course(
    output: &Output,
    logs: &[String],
    steps: &mut [ImportedStep],
    plan: &mut Plan,
) -> Result<(), ImportError> {
    let ([job], [step], [test]) = (output.jobs.as_slice(), steps, plan.tests.as_mut_slice()) else {
        let what = "histogram logs need a result with one job (group_reporting for its threads)";
        return Err(ImportError::unfit(&output.jobs[0].jobname, what));
    };
    let window = job.options.get("log_hist_msec").or_else(|| output.options.get("log_hist_msec"));
    let course = crate::hist_log::course(job, window, logs, step.elapsed)?;
    step.intervals = course.intervals;
    step.findings.extend(course.findings);
    test.figures.push(Figure::Timeline);
    Ok(())
}

fn imported_finding(output: &Output, has_course: bool) -> Finding {
    let course = match has_course {
        true => "the course in time is that of its histogram log",
        false => "the course in time is not known",
    };
    Finding::new(
        FindingKind::Imported,
        Severity::Warning,
        format!(
            "these numbers were measured by {}, not by ssdgauge: percentiles follow from its bins (64 \
             for each octave), and {course}",
            output.version
        ),
        "run the same load with `ssdgauge run` for seconds, intervals and conditions of the drive",
    )
}

/// Returns the test of jobs that ran at the same time, and its samples.
fn import_group(jobs: &[&Job], output: &Output) -> Result<(Test, ImportedStep), ImportError> {
    if jobs.len() > MAX_JOBS {
        let what = format!("{} jobs ran at the same time", jobs.len());
        return Err(ImportError::unfit(&jobs[0].jobname, what));
    }
    let mut streams: Vec<Stream> = Vec::new();
    let mut intervals: Vec<Interval> = Vec::new();
    let mut findings = Vec::new();
    let longest = |job: &Job| job.read.runtime.max(job.write.runtime);
    let millis = |count: u64| Nanos(count.saturating_mul(1_000_000));
    let elapsed = millis(jobs.iter().map(|job| longest(job)).max().unwrap_or(0));
    let mut depth = 0u32;
    let mut lengths: Vec<Nanos> = Vec::new();
    for job in jobs {
        let options = merged(&output.options, &job.options);
        let stream = stream_of(job, &options)?;
        // fio reports the jobs of `numjobs` one by one, without `group_reporting`.
        let known = streams.iter().position(|other| other.name == stream.name);
        let index = known.unwrap_or(streams.len());
        depth = depth.saturating_add(match known {
            Some(_) => 0,
            None => stream.queue_depth.saturating_mul(stream.threads),
        });
        for (direction, side) in [(Direction::Read, &job.read), (Direction::Write, &job.write)] {
            // Below a millisecond, the length of a direction is not stated.
            let length = millis(if side.runtime > 0 { side.runtime } else { longest(job) });
            let Some(interval) = interval_of(job, index as u16, direction, side, length)? else {
                continue;
            };
            lengths.push(interval.length);
            let same = |other: &&mut Interval| {
                (other.stream, other.direction) == (interval.stream, direction)
            };
            match intervals.iter_mut().find(same) {
                Some(other) => {
                    other.length = common_length(other, &interval);
                    other.ios += interval.ios;
                    other.bytes += interval.bytes;
                    other.errors += interval.errors;
                    other.latency.merge(&interval.latency);
                }
                None => intervals.push(interval),
            }
        }
        findings.extend(findings_of(job, &options));
        if known.is_none() {
            streams.push(stream);
        }
    }
    intervals.sort_by_key(|interval| (interval.stream, interval.direction as usize));
    findings.dedup();
    findings.extend(unequal_finding(&lengths));
    let engine = jobs[0].options.get("ioengine").or_else(|| output.options.get("ioengine"));
    let engine = engine.map_or("engine not stated", String::as_str);
    let report = EngineReport {
        engine: format!("{} {engine}", output.version),
        setup: "imported".into(),
        in_flight_asked: depth,
        clock: "that of fio".into(),
        ..EngineReport::default()
    };
    let test = test_of(jobs, streams, engine, elapsed);
    Ok((test, ImportedStep { elapsed, intervals, readings: Vec::new(), report, findings }))
}

/// Returns the length over which the requests of both have the sum of their rates: processes of one stream
/// do not end together.
fn common_length(one: &Interval, other: &Interval) -> Nanos {
    let rate = |interval: &Interval| interval.ios as f64 / interval.length.as_secs_f64();
    let seconds = (one.ios + other.ios) as f64 / (rate(one) + rate(other));
    Nanos((seconds * 1e9).round() as u64)
}

/// Returns the finding about jobs of one group that ran for unequal times.
fn unequal_finding(lengths: &[Nanos]) -> Option<Finding> {
    /// The lengths of jobs that were to end together differ by less. Chosen: fio ends them within
    /// milliseconds.
    const EQUAL: f64 = 1.05;
    let (first, last) = (lengths.iter().min()?, lengths.iter().max()?);
    (last.as_secs_f64() > first.as_secs_f64() * EQUAL).then(|| {
        let text = format!(
            "the jobs of this group ran for {} to {}: each rate counts over the time of its own job, \
             and the sum of them is reached only while all of them run",
            first.about(),
            last.about()
        );
        let advice = "for jobs that end together, run them with time_based=1 and one runtime";
        Finding::new(FindingKind::Imported, Severity::Warning, text, advice)
    })
}

fn test_of(jobs: &[&Job], streams: Vec<Stream>, engine: &str, elapsed: Nanos) -> Test {
    let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    let title = names.join(", ");
    let is_large = streams.iter().all(|stream| stream.block_size.0 >= LARGE);
    let engine = match SYNCHRONOUS.contains(&engine) {
        true => Engine::Synchronous,
        false => Engine::IoUring,
    };
    let workload = Workload { engine, streams };
    let until = Until { time: Some(elapsed), bytes: None };
    let step = Step {
        label: jobs[0].jobname.clone(),
        position: 1.0,
        action: Action::Run { workload, until, steady: None },
        rest: Rest::None,
    };
    Test {
        id: id_of(&title),
        revision: 1,
        title,
        source: "a job of fio".into(),
        score: Score::MeanOf(if is_large { Metric::ThroughputMbS } else { Metric::Iops }),
        also: vec![Score::MeanOf(Metric::LatP99Us)],
        figures: vec![Figure::Ranking, Figure::Distribution],
        chosen: Vec::new(),
        deviations: Vec::new(),
        restart: Restart::Step,
        phases: vec![Phase { kind: PhaseKind::Measure, steps: vec![step] }],
        search: None,
        rounds: None,
        repetition: 1,
    }
}

/// Returns the id of a test with `title`: lower-case letters, digits and hyphens.
fn id_of(title: &str) -> String {
    let kept = title.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { ' ' });
    let words: String = kept.collect::<String>().to_lowercase();
    let id = words.split_whitespace().collect::<Vec<_>>().join("-");
    let id: String = id.chars().take(60).collect();
    if id.is_empty() { "job".into() } else { id }
}

/// Returns the options of a job over the global ones.
fn merged(global: &Options, own: &Options) -> Options {
    global.iter().chain(own).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Returns what is to be said of a job: errors, and what the plan does not express.
fn findings_of(job: &Job, options: &Options) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = &job.jobname;
    if job.error != 0 || job.total_err > 0 {
        let text = match job.error {
            0 => {
                format!("{} requests of job '{name}' failed; they are in no number", job.total_err)
            }
            error => format!(
                "job '{name}' ended with {}: its numbers are those until then",
                left_out::describe(error)
            ),
        };
        let advice = "see the messages of fio and the kernel log (dmesg)";
        findings.push(Finding::new(FindingKind::Faults, Severity::Warning, text, advice));
    }
    let mut missing: Vec<String> = options
        .iter()
        .filter(|(key, _)| !EXPRESSED.contains(&key.as_str()))
        .filter(|(key, _)| match key.as_str() {
            "percentage_random" => random_percent(job, options).is_none(),
            "cpus_allowed" | "cpus_allowed_policy" => cpus(options).is_none(),
            _ => true,
        })
        .map(|(key, value)| if value.is_empty() { key.clone() } else { format!("{key}={value}") })
        .collect();
    let engine = options.get("ioengine").map(String::as_str);
    if let Some(engine) = engine.filter(|one| *one != "io_uring" && !SYNCHRONOUS.contains(one)) {
        missing.push(format!("ioengine={engine} (the plan shows io_uring)"));
    }
    if job.trim.as_ref().is_some_and(|trim| trim.total_ios > 0) {
        missing.push("its trims".into());
    }
    missing.extend(block_sizes::unexpressed(job, options));
    for side in [&job.read, &job.write].into_iter().filter(|side| side.total_ios > 0) {
        let whole = side.lat_ns.as_ref().and_then(|latency| latency.bins.as_ref());
        if whole.is_none_or(BTreeMap::is_empty) {
            missing.push("the time before the submission, which clat excludes".into());
            break;
        }
    }
    if !missing.is_empty() {
        findings.push(Finding::new(
            FindingKind::Imported,
            Severity::Note,
            format!(
                "the plan and the latencies of job '{name}' do not express: {}",
                missing.join(", ")
            ),
            "compare it only with results of the same job; for whole latencies run fio with \
             lat_percentiles=1",
        ));
    }
    findings
}

/// Returns what fio states about the target: its name, and the range that the jobs addressed.
fn drive_of(output: &Output, tests: &[Test]) -> DriveInfo {
    let stated = |key: &str| {
        let own = output.jobs.iter().find_map(|job| job.options.get(key));
        own.or_else(|| output.options.get(key)).cloned()
    };
    let target = stated("filename").or_else(|| stated("directory")).unwrap_or("not stated".into());
    let workloads = tests.iter().flat_map(|test| &test.phases).flat_map(|phase| &phase.steps);
    let streams = workloads.filter_map(|step| step.action.workload()).flat_map(|one| &one.streams);
    let capacity = streams.map(|stream| stream.span.0).max().unwrap_or(0);
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
        details: BTreeMap::from([(
            Detail::CapacityFrom.key().into(),
            "the largest span of a job".into(),
        )]),
    }
}
