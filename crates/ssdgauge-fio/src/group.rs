//! The jobs of a group, which ran at the same time, as the streams of one step.
//!
//! Processes of one job (`numjobs` without `group_reporting`) are one stream where their latencies can be
//! merged. Percentiles without a histogram cannot: there each process is a stream of its own.

use crate::import_error::ImportError;
use crate::imported::ImportedStep;
use crate::output::{Job, Options, Output};
use crate::samples::{MAX_LATENCY_SUM, interval_of};
use crate::stream::{stream_of, trims_of};
use crate::unexpressed::{SYNCHRONOUS, findings_of, is_of_report, merged};
use ssdgauge_core::{
    Action, Chart, Direction, Engine, EngineReport, Finding, FindingKind, Interval, Metric, Nanos,
    Phase, PhaseKind, Rest, Restart, Score, Severity, Step, Stream, Test, Until, Workload,
};

/// The maximum number of jobs of a group.
const MAX_JOBS: usize = 1_000;
/// The maximum number of failed requests of a job: no drive reaches them.
const MAX_ERRORS: u64 = 1 << 40;
/// Requests from which on a score in bytes per second says more than one in requests: as in reviews.
const LARGE: u64 = 64 << 10;

/// A stream and its intervals.
struct Part {
    stream: Stream,
    intervals: Vec<Interval>,
    /// The processes of a job whose intervals are in it.
    processes: usize,
}

/// Returns the test of jobs that ran at the same time on a target of `capacity` bytes, and its samples.
pub(crate) fn import_group(
    jobs: &[&Job],
    output: &Output,
    capacity: u64,
) -> Result<(Test, ImportedStep), ImportError> {
    let unfit = |what: String| ImportError::unfit(&jobs[0].jobname, what);
    if jobs.len() > MAX_JOBS {
        return Err(unfit(format!("{} jobs ran at the same time", jobs.len())));
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut findings = Vec::new();
    for job in jobs {
        let options = merged(&output.options, &job.options);
        parts.extend(parts_of(job, &options, capacity)?);
        findings.extend(findings_of(job, &options));
    }
    let lengths = parts.iter().flat_map(|part| &part.intervals).map(|one| one.length);
    let lengths: Vec<Nanos> = lengths.collect();
    let elapsed = lengths.iter().copied().max().unwrap_or(Nanos::ZERO);
    findings.dedup();
    findings.extend(unequal_finding(&lengths));
    let parts = united(parts);
    if parts.len() > Workload::MAX_STREAMS {
        return Err(unfit(format!("it has {} streams", parts.len())));
    }
    let streams: Vec<Stream> = parts.iter().map(|part| part.stream.clone()).collect();
    findings.extend(percentiles_finding(&parts));
    let numbered = |(index, part): (usize, Part)| {
        let with_stream = move |one| Interval { stream: index as u16, ..one };
        part.intervals.into_iter().map(with_stream)
    };
    let mut intervals: Vec<Interval> = parts.into_iter().enumerate().flat_map(numbered).collect();
    intervals.sort_by_key(|interval| (interval.stream, interval.direction as usize));
    if intervals.iter().any(|one| one.latency.sum() as f64 > MAX_LATENCY_SUM * 8.0) {
        return Err(unfit("the sum of its latencies is beyond that of any drive".into()));
    }
    let engine = jobs[0].options.get("ioengine").or_else(|| output.options.get("ioengine"));
    let engine = engine.map_or("engine not stated", String::as_str);
    let depth = |stream: &Stream| stream.queue_depth.saturating_mul(stream.threads);
    let report = EngineReport {
        engine: format!("{} {engine}", output.version),
        setup: "imported".into(),
        in_flight_asked: streams.iter().map(depth).fold(0, u32::saturating_add),
        clock: "that of fio".into(),
        ..EngineReport::default()
    };
    let has_latencies = |one: &Interval| one.latency.count() > 0 && one.latency.has_buckets();
    let has_distribution = intervals.iter().all(has_latencies);
    let mut test = test_of(&jobs[0].jobname, streams, engine, (elapsed, has_distribution));
    test.source = source_of(jobs, output);
    Ok((test, ImportedStep { elapsed, intervals, readings: Vec::new(), report, findings }))
}

/// Returns the reads and writes of `job`, and its trims, each as a stream.
fn parts_of(job: &Job, options: &Options, capacity: u64) -> Result<Vec<Part>, ImportError> {
    let sides = [(Direction::Read, Some(&job.read)), (Direction::Write, Some(&job.write))];
    let sides = sides.into_iter().chain([(Direction::Trim, job.trim.as_ref())]);
    let longest = [Some(&job.read), Some(&job.write), job.trim.as_ref()].into_iter().flatten();
    let longest = longest.map(|side| side.runtime).max().unwrap_or(0);
    let mut transfers: Vec<Interval> = Vec::new();
    let mut trims: Vec<Interval> = Vec::new();
    for (direction, side) in sides {
        let Some(side) = side else { continue };
        // Below a millisecond, the length of a direction is not stated.
        let length = if side.runtime > 0 { side.runtime } else { longest };
        let length = Nanos(length.saturating_mul(1_000_000));
        let interval = interval_of(job, direction, side, length)?;
        let list = if direction.is_transfer() { &mut transfers } else { &mut trims };
        list.extend(interval);
    }
    // fio does not divide them by direction. An error that ended the job is that of one request.
    let errors = job.total_err.max(u64::from(job.error != 0)).min(MAX_ERRORS);
    let all = transfers.iter_mut().chain(&mut trims);
    if let Some(interval) = all.max_by_key(|interval| interval.ios) {
        interval.errors = errors;
    }
    let mut parts = Vec::new();
    if !transfers.is_empty() {
        let stream = stream_of(job, options, capacity)?;
        parts.push(Part { stream, intervals: transfers, processes: 1 });
    }
    if let Some(side) = job.trim.as_ref().filter(|_| !trims.is_empty()) {
        let stream = trims_of(job, side, options, capacity, !parts.is_empty());
        parts.push(Part { stream, intervals: trims, processes: 1 });
    }
    Ok(parts)
}

/// Unites the processes of one job: where their latencies have bins, and where there would be more streams
/// than a workload has.
fn united(parts: Vec<Part>) -> Vec<Part> {
    let has_percentiles =
        |part: &Part| part.intervals.iter().any(|one| !one.latency.stated().is_empty());
    let is_too_many = parts.len() > Workload::MAX_STREAMS;
    let mut kept: Vec<Part> = Vec::new();
    for part in parts {
        let is_apart = has_percentiles(&part) && !is_too_many;
        match kept.iter_mut().find(|one| one.stream.name == part.stream.name && !is_apart) {
            Some(one) => unite(one, part),
            None => kept.push(part),
        }
    }
    let names: Vec<String> = kept.iter().map(|part| part.stream.name.clone()).collect();
    for (index, part) in kept.iter_mut().enumerate() {
        let of = names.iter().filter(|name| **name == names[index]).count();
        if of > 1 {
            let number = names[..index].iter().filter(|name| **name == names[index]).count() + 1;
            part.stream.name = format!("{} ({number} of {of})", names[index]);
            part.stream.threads = 1;
        }
    }
    kept
}

/// Adds the requests of `part` to those of `to`.
fn unite(to: &mut Part, part: Part) {
    to.processes += part.processes;
    for interval in part.intervals {
        match to.intervals.iter_mut().find(|other| other.direction == interval.direction) {
            Some(other) => {
                other.length = common_length(other, &interval);
                other.ios += interval.ios;
                other.bytes += interval.bytes;
                other.errors += interval.errors;
                other.latency.merge(&interval.latency);
            }
            None => to.intervals.push(interval),
        }
    }
}

/// Returns the length over which the requests of both have the sum of their rates: processes of one stream
/// do not end together.
fn common_length(one: &Interval, other: &Interval) -> Nanos {
    let rate = |interval: &Interval| interval.ios as f64 / interval.length.as_secs_f64();
    let seconds = (one.ios + other.ios) as f64 / (rate(one) + rate(other));
    Nanos((seconds * 1e9).round() as u64)
}

/// Returns the options of `jobs` that make the load: only results with the same ones are compared.
fn source_of(jobs: &[&Job], output: &Output) -> String {
    let options = |job: &Job| {
        let all = merged(&output.options, &job.options);
        let of_load = all.iter().filter(|(key, _)| !is_of_report(key));
        let words = of_load.map(|(key, value)| match value.is_empty() {
            true => key.clone(),
            false => format!("{key}={}", value.replace(',', "/")),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    let mut each: Vec<(String, &str)> = Vec::new();
    for job in jobs {
        let one = options(job);
        if !each.iter().any(|(other, _)| *other == one) {
            each.push((one, &job.jobname));
        }
    }
    let [(only, _)] = each.as_slice() else {
        let words = each.iter().map(|(options, name)| {
            let of_job = options.split(", ").map(|option| format!("{name}: {option}"));
            of_job.collect::<Vec<_>>().join(", ")
        });
        return format!("a job of fio: {}", words.collect::<Vec<_>>().join(", "));
    };
    format!("a job of fio: {only}")
}

/// Returns the finding about percentiles without a histogram.
fn percentiles_finding(parts: &[Part]) -> Option<Finding> {
    let without = |part: &&Part| part.intervals.iter().any(|one| !one.latency.has_buckets());
    let mut lost = parts.iter().filter(without).filter(|part| part.processes > 1).peekable();
    let intervals = parts.iter().flat_map(|part| &part.intervals).count();
    parts.iter().find(without)?;
    let has_stated = |one: &Interval| !one.latency.stated().is_empty();
    if lost.peek().is_none() && !parts.iter().flat_map(|part| &part.intervals).any(has_stated) {
        let text = "fio stated neither percentiles nor the histogram that they follow from: mean, minimum and \
                    maximum are known";
        let advice = "run fio with --output-format=json+ and clat_percentiles=1";
        return Some(Finding::new(
            FindingKind::ImportedPercentiles,
            Severity::Warning,
            text,
            advice,
        ));
    }
    let mut text =
        "fio stated percentiles without the histogram that they follow from: they are shown as \
                    stated, without a distribution"
            .to_owned();
    if intervals > 1 {
        text += "; there are none of several streams or of both directions together, because \
                 percentiles cannot be merged";
    }
    if let Some(part) = lost.peek() {
        let (name, processes) = (&part.stream.name, part.processes);
        text += &format!("; those of the {processes} processes of '{name}' are left out");
    }
    let advice = "for distributions and percentiles of all requests, run fio with \
                  --output-format=json+";
    Some(Finding::new(FindingKind::ImportedPercentiles, Severity::Warning, text, advice))
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

fn test_of(
    label: &str,
    streams: Vec<Stream>,
    engine: &str,
    (elapsed, has_distribution): (Nanos, bool),
) -> Test {
    let names: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    let title = title_of(&names);
    let is_large = streams.iter().all(|stream| stream.mean_size() >= LARGE as f64);
    let engine = match SYNCHRONOUS.contains(&engine) {
        true => Engine::Synchronous,
        false => Engine::IoUring,
    };
    let workload = Workload { engine, streams };
    let until = Until { time: Some(elapsed), bytes: None };
    let step = Step {
        label: label.to_owned(),
        position: 1.0,
        action: Action::Run { workload, until, steady: None },
        rest: Rest::None,
    };
    let distribution = has_distribution.then_some(Chart::Distribution);
    Test {
        id: id_of(&title),
        revision: 1,
        title,
        source: String::new(),
        score: Score::MeanOf(if is_large { Metric::ThroughputMbS } else { Metric::Iops }),
        also: vec![Score::MeanOf(Metric::LatP99Us)],
        figures: [Chart::Ranking].into_iter().chain(distribution).collect(),
        chosen: Vec::new(),
        deviations: Vec::new(),
        restart: Restart::Step,
        phases: vec![Phase { kind: PhaseKind::Measure, steps: vec![step] }],
        search: None,
        rounds: None,
        repetition: 1,
    }
}

/// Returns the title of a test with streams of these names, some of them at most.
fn title_of(names: &[&str]) -> String {
    const MOST: usize = 8;
    let mut title = names.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        title += &format!(" and {} more", names.len() - MOST);
    }
    title
}

/// Returns the id of a test with `title`: lower-case letters, digits and hyphens.
fn id_of(title: &str) -> String {
    let kept = title.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { ' ' });
    let words: String = kept.collect::<String>().to_lowercase();
    let id = words.split_whitespace().collect::<Vec<_>>().join("-");
    let id: String = id.chars().take(60).collect();
    if id.is_empty() { "job".into() } else { id }
}
