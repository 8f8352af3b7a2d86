//! The numbers of one run by which its drive is compared with others: those of the first screen of a page of one
//! drive.
//!
//! Each number is that of one named setting, never a mean over depths or mixes, and of the settled part of its step.
//! Which step it comes from follows from the plan, so that every drive is asked the same question.

use crate::drives::fill_state;
use crate::findings::{finding_words, trust};
use crate::groups::group::{self, Member};
use crate::groups::uses::{self, Use};
use crate::groups::workload_text;
use crate::model::metrics;
use crate::model::{CachePlace, FallCause, PointRun, Run, SpeedFall, TestRun};
use crate::steps::{headline_points, lasting_level, slc_cache};
use crate::text::{number, sanitize};
use ssdgauge_core::{
    Bytes, ConfidenceInterval, FindingKind, Metric, Scope, Score, ScoreFamily, Stream, rounded,
};
use ssdgauge_statistics::summary;

/// The maximum number of numbers of a run.
const MOST: usize = 6;

/// Requests up to this size are small. Chosen: pages of databases are not larger.
const SMALL: Bytes = Bytes(16 << 10);

/// Requests from this size on are large. Chosen: copies of files use at least that.
const LARGE: Bytes = Bytes(64 << 10);

/// The queue depth at which a large file is read, at most. Chosen: copies keep no more in flight.
const DEEP: u32 = 8;

/// A step below this many seconds and bytes is a burst.
const BURST: (f64, f64) = (10.0, 8e9);

/// What a number answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Small reads, one at a time.
    SmallReads,
    /// Small writes, one at a time.
    SmallWrites,
    /// Large reads.
    LargeReads,
    /// Large writes, once a cache is full.
    LargeWrites,
    /// Small reads and writes together.
    Mixed,
    /// The slowest of 10,000 requests.
    Slowest,
    /// The result of another test.
    Test,
}

impl Question {
    const KINDS: [Question; 6] = [
        Question::SmallReads,
        Question::SmallWrites,
        Question::LargeReads,
        Question::LargeWrites,
        Question::Mixed,
        Question::Slowest,
    ];

    /// Returns the words of its key.
    fn key(self) -> &'static str {
        match self {
            Question::SmallReads => "small-reads",
            Question::SmallWrites => "small-writes",
            Question::LargeReads => "large-reads",
            Question::LargeWrites => "large-writes",
            Question::Mixed => "mixed",
            Question::Slowest => "slowest",
            Question::Test => "test",
        }
    }
}

/// One number of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The text that is equal for numbers that may be compared.
    pub key: String,
    /// What it answers.
    pub question: Question,
    /// The question in words, such as `Everyday reads`.
    pub title: String,
    /// The setting that it belongs to, such as `4 KiB, one at a time`.
    pub setting: String,
    /// Its metric.
    pub metric: Metric,
    /// Its value.
    pub value: f64,
    /// Why it is questionable; empty for a clear one.
    pub doubts: Vec<String>,
    /// The place of its test in the run.
    pub test: usize,
}

/// The steps of one load of one test.
struct Load<'a> {
    place: usize,
    member: Member<'a>,
    points: Vec<&'a PointRun>,
    stream: &'a Stream,
}

/// Returns the numbers of `run`, six at most.
pub fn numbers(run: &Run) -> Vec<Number> {
    let valid: Vec<(usize, Member<'_>)> = run
        .tests
        .iter()
        .enumerate()
        .map(|(place, test)| (place, Member { index: 0, run, test }))
        .filter(|(_, member)| trust::invalid(run, member.test).is_none())
        .collect();
    // The numbers side by side are about one state of the drive; a test of another state has its title.
    let of_one_state =
        valid.iter().filter(|(_, member)| !fill_state::is_another_state(run, member.test));
    let loads: Vec<Load<'_>> =
        of_one_state.flat_map(|(place, member)| loads(*place, *member)).collect();
    let mut numbers: Vec<Number> =
        Question::KINDS.iter().filter_map(|question| answer(*question, &loads)).collect();
    let used: Vec<usize> = numbers.iter().map(|number| number.test).collect();
    let others = valid.iter().filter(|(place, _)| !used.contains(place));
    numbers.extend(others.filter_map(|(place, member)| of_test(*place, *member)));
    numbers.truncate(MOST);
    numbers
}

/// Returns the loads of a test that one stream sends as fast as the drive completes it, equal repetitions together.
fn loads<'a>(place: usize, member: Member<'a>) -> Vec<Load<'a>> {
    let mut loads: Vec<Load<'a>> = Vec::new();
    if member.test.test.search.is_some() || member.test.test.rounds.is_some() {
        return loads;
    }
    for point in &member.test.points {
        let [stream] = point.workload.streams.as_slice() else { continue };
        let is_durable = stream.flush_every.is_some() || stream.sync;
        let is_paced = stream.pauses() || stream.arrival.per_second().is_some();
        if !stream.operation.is_transfer() || is_durable || is_paced || stream.has_sizes() {
            continue;
        }
        match loads.iter_mut().find(|load| is_same(load.stream, stream)) {
            Some(load) => load.points.push(point),
            None => loads.push(Load { place, member, points: vec![point], stream }),
        }
    }
    loads
}

fn is_same(a: &Stream, b: &Stream) -> bool {
    let load = |one: &Stream| {
        (one.block_size, one.read_percent, one.total_depth(), one.is_random(), one.is_sequential())
    };
    load(a) == load(b)
}

/// Returns the number that answers `question`, from the first of the fitting loads with a settled value.
fn answer(question: Question, loads: &[Load<'_>]) -> Option<Number> {
    let mut fitting: Vec<&Load<'_>> =
        loads.iter().filter(|load| fits(question, load.stream)).collect();
    fitting.sort_by_key(|load| rank(question, load));
    fitting.into_iter().find_map(|load| number(question, load))
}

fn fits(question: Question, stream: &Stream) -> bool {
    let small = stream.is_random() && stream.block_size <= SMALL;
    let large = stream.is_sequential() && stream.block_size >= LARGE;
    let (reads, writes) = (stream.reads(), stream.writes());
    match question {
        Question::SmallReads => small && reads && !writes,
        Question::SmallWrites => small && writes && !reads,
        Question::LargeReads => large && reads && !writes,
        Question::LargeWrites => large && writes && !reads,
        Question::Mixed => small && reads && writes,
        Question::Slowest => small && reads != writes,
        Question::Test => false,
    }
}

/// Returns the place of `load` among those that answer `question`: the most usual setting first.
fn rank(question: Question, load: &Load<'_>) -> (u32, u32, u32) {
    let stream = load.stream;
    let depth = stream.total_depth();
    let unusual = u32::from(stream.block_size != Bytes(4 << 10));
    let is_short = u32::from(!load.ends_late());
    match question {
        Question::SmallReads | Question::SmallWrites => (depth, unusual, 0),
        // The deepest up to what a copy has, then the next ones.
        Question::LargeReads => (u32::from(depth > DEEP), depth.abs_diff(DEEP), 0),
        Question::LargeWrites => (is_short, u32::from(depth > DEEP), depth.abs_diff(DEEP)),
        Question::Mixed => (u32::from(stream.read_percent.abs_diff(50)), depth, unusual),
        Question::Slowest => (u32::from(stream.writes()), depth, unusual),
        Question::Test => (0, 0, 0),
    }
}

impl Load<'_> {
    /// Returns whether its test writes beyond a cache by its plan.
    fn ends_late(&self) -> bool {
        uses::classify(&self.member.test.test) == Use::Sustained
    }

    fn is_burst(&self) -> bool {
        let (seconds, bytes) = BURST;
        self.points.iter().all(|point| {
            let elapsed = point.point.totals.elapsed.as_secs_f64();
            // A fast drive ends a long step soon.
            let rate = metrics::value(point, Metric::ThroughputMbS, Scope::All).unwrap_or(0.0);
            elapsed < seconds && rate * 1e6 * elapsed < bytes
        })
    }

    /// Returns the fall of its speed before the level that it is quoted by.
    fn fall(&self) -> Option<SpeedFall> {
        self.points.iter().find_map(|point| lasting_level::fall(point))
    }

    /// Returns whether a finding of `kind` is about it.
    fn has(&self, kind: FindingKind) -> bool {
        let of_load = |step: &Option<String>| match step {
            None => true,
            Some(step) => self.points.iter().any(|point| point.point.label == *step),
        };
        let mut findings = self.member.test.findings.iter();
        findings.any(|one| one.finding.kind == kind && of_load(&one.step))
    }

    /// Returns whether its last level has not settled either, with no fall that explains the change.
    fn is_unsettled(&self, is_end: bool) -> bool {
        let is_explained = self.stream.writes() && self.fall().is_some();
        is_end && !is_explained && self.has(FindingKind::StillSettling)
    }

    /// Returns the values of its repetitions, where the result of its test is their mean.
    fn mean_of(&self, metric: Metric) -> Option<Vec<f64>> {
        let test = self.member.test;
        let is_result = test.test.score.family() == ScoreFamily::Mean
            && test.headline.metric == metric
            && self.points.len() == test.points.len()
            && self.points.len() > 1
            && test.points.iter().all(|point| test.test.score.needs(point.point.position))
            && !self.points.iter().any(|point| has_fall(point));
        let value = |point: &&PointRun| metrics::value(point, metric, Scope::All);
        if is_result { self.points.iter().map(value).collect() } else { None }
    }
}

fn number(question: Question, load: &Load<'_>) -> Option<Number> {
    let test = load.member.test;
    let metric = match (question, test.headline.metric) {
        (Question::Slowest, _) => Metric::LatP9999Us,
        (Question::LargeReads | Question::LargeWrites, _) => Metric::ThroughputMbS,
        (_, Metric::ThroughputMbS) => Metric::ThroughputMbS,
        (_, _) => Metric::Iops,
    };
    let values: Vec<f64> = load
        .points
        .iter()
        .map(|point| settled(load.member.test, point, metric))
        .collect::<Option<_>>()?;
    let repetitions = load.mean_of(metric);
    let value = match (&repetitions, test.headline.value) {
        (Some(_), Some(mean)) => mean,
        (_, _) => summary::median(values)?,
    };
    let is_end = load.points.iter().any(|point| has_fall(point));
    Some(Number {
        key: format!(
            "{} {} {}",
            question.key(),
            sanitize::prose(&load.points[0].point.label),
            group::background_key(load.member)
        ),
        question,
        title: title(question, load.stream).to_owned(),
        setting: setting(load, is_end, metric, repetitions.as_deref()),
        metric,
        value,
        doubts: doubts(load, is_end),
        test: load.place,
    })
}

fn title(question: Question, stream: &Stream) -> &'static str {
    match question {
        Question::SmallReads => "Small reads",
        Question::SmallWrites => "Small writes",
        Question::LargeReads => "Reading large files",
        Question::LargeWrites => "Writing large files",
        Question::Mixed => "Reads and writes mixed",
        Question::Slowest if stream.writes() => "Worst-case write latency",
        Question::Slowest => "Worst-case read latency",
        Question::Test => "",
    }
}

fn has_fall(point: &PointRun) -> bool {
    slc_cache::first_fall(point).is_some() || point.levels.is_some()
}

/// Returns `metric` of the settled part of `point`; `None` where it does not settle, and for a percentile of a step
/// that changes.
pub(crate) fn settled(test: &TestRun, point: &PointRun, metric: Metric) -> Option<f64> {
    if metric.percentile().is_some() {
        let rate = point.interval(Metric::Iops, Scope::All);
        let is_settled = match rate {
            ConfidenceInterval::WithinRun(within) => within.cut == 0,
            ConfidenceInterval::StillSettling => false,
            ConfidenceInterval::BetweenRepetitions { .. }
            | ConfidenceInterval::OfCounters { .. }
            | ConfidenceInterval::OfTrials { .. }
            | ConfidenceInterval::TooFewSeconds
            | ConfidenceInterval::RestsOnFewSeconds
            | ConfidenceInterval::Undefined => true,
        };
        return metrics::value(point, metric, Scope::All)
            .filter(|_| is_settled && !has_fall(point));
    }
    // What the score of a last part states is the settled value.
    let is_last_part = test.test.score.mean_of_last().is_some_and(|(of, _)| of == metric);
    if is_last_part && test.points.len() == 1 {
        return test.headline.value;
    }
    let block = point.workload.streams.first()?.block_size.0 as f64;
    if let Some(fall) = lasting_level::fall(point) {
        let bytes = fall.edge.after;
        return Some(if metric == Metric::Iops { bytes / block } else { bytes / 1e6 });
    }
    if let Some(levels) = point.levels {
        let bytes = if levels.metric == Metric::Iops { block } else { 1e6 } * levels.after;
        return Some(if metric == Metric::Iops { bytes / block } else { bytes / 1e6 });
    }
    match point.interval(metric, Scope::All) {
        ConfidenceInterval::StillSettling => None,
        _ => metrics::value(point, metric, Scope::All),
    }
}

/// Returns the setting of `load` in words: size, depth, and the state of the drive.
fn setting(load: &Load<'_>, is_end: bool, metric: Metric, repetitions: Option<&[f64]>) -> String {
    let stream = load.stream;
    let depth = match stream.total_depth() {
        1 => "one at a time".to_owned(),
        depth => format!("{} at once", number::count(u64::from(depth))),
    };
    let size = number::spaced(&stream.size_words());
    let mut parts = vec![size, depth];
    if stream.reads() && stream.writes() {
        parts.insert(0, format!("{}\u{a0}% reads", stream.read_percent));
    }
    // Which percentile a latency is.
    if metric == Metric::LatP9999Us {
        parts.insert(0, "p99.99".to_owned());
    }
    match load.fall() {
        Some(fall) if stream.writes() => parts.push(match fall.cause {
            FallCause::Cache => "once the cache is full".to_owned(),
            FallCause::Heat | FallCause::SpareArea | FallCause::GiveBack | FallCause::Unknown => {
                format!("after {}", rounded::edge(&fall.edge).replace("at most", "up to"))
            }
        }),
        Some(_) | None if load.is_unsettled(is_end) => {
            parts.push("the later of two levels".to_owned());
        }
        Some(_) | None if is_end => parts.push("once it has settled".to_owned()),
        Some(_) | None => match (repetitions, load.is_burst()) {
            (Some(values), true) => parts.push(mean_of(values, metric, "short bursts")),
            (Some(values), false) => parts.push(mean_of(values, metric, "repetitions")),
            (None, true) => parts.push("short bursts".to_owned()),
            (None, false) => {}
        },
    }
    parts.join(", ")
}

/// Returns what a mean is of, with its spread: `mean of 32 short bursts, 210 to 231 MB/s`.
fn mean_of(values: &[f64], metric: Metric, noun: &str) -> String {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    let [least, most] = [low, high].map(number::text);
    let spread = match least == most {
        true => String::new(),
        false => format!(", {least} to {}", number::measured(high, metric)),
    };
    format!("mean of {} {noun}{spread}", number::count(values.len() as u64))
}

/// Returns why a number of `load` is questionable. Two levels in one step are none: the settled one is quoted.
fn doubts(load: &Load<'_>, is_end: bool) -> Vec<String> {
    let test = load.member.test;
    let is_unsettled = load.is_unsettled(is_end);
    let is_of_levels = |kind: FindingKind| match kind {
        FindingKind::TwoLevels | FindingKind::CacheExceeded | FindingKind::FallUnexplained => true,
        FindingKind::StillSettling => !is_unsettled,
        _ => false,
    };
    let of_load = |step: &Option<String>| match step {
        None => true,
        Some(step) => load.points.iter().any(|point| point.point.label == *step),
    };
    let mut doubts: Vec<String> = Vec::new();
    let of_test = test.findings.iter().filter(|one| of_load(&one.step));
    let of_test = of_test.filter(|one| !trust::is_beyond_knee(one, test)).map(|one| &one.finding);
    for finding in load.member.run.findings.iter().chain(of_test) {
        if trust::is_doubt(finding, Some(&test.test)) && !is_of_levels(finding.kind) {
            let words = finding_words::title(finding.kind);
            if !doubts.contains(&words) {
                doubts.push(words);
            }
        }
    }
    let crosses = load.points.iter().any(|point| point.cache == Some(CachePlace::Crossing));
    if crosses && !is_end {
        doubts.push(finding_words::title(FindingKind::CacheExceeded));
    }
    doubts
}

/// Returns the result of a test at one setting; `None` for a mean over several, and where it has none.
fn of_test(place: usize, member: Member<'_>) -> Option<Number> {
    let test = member.test;
    let value = test.headline.value?;
    let has_one_setting = match test.test.score.family() {
        ScoreFamily::Mean => {
            let mut streams = test.points.iter().map(|point| &point.workload.streams);
            let first = streams.next();
            streams.all(|other| Some(other) == first)
        }
        ScoreFamily::Point
        | ScoreFamily::LastPart
        | ScoreFamily::Knee
        | ScoreFamily::HighestLoad => true,
    };
    has_one_setting.then(|| Number {
        key: format!("test {}", group::background_key(member)),
        question: Question::Test,
        title: sanitize::prose(&test.test.title),
        setting: match (test.test.score.family(), test.points.len()) {
            (ScoreFamily::Mean, 1) => match commit_us(test) {
                Some(mean) => format!("{} each on average", number::latency(mean)),
                None => String::new(),
            },
            (ScoreFamily::Mean, steps) => format!("mean of {steps} steps"),
            (_, _) => result_setting(test),
        },
        metric: test.headline.metric,
        value,
        doubts: trust::doubts(test),
        test: place,
    })
}

/// Returns the mean time from one commit to the next in microseconds, where `test` is one thread that writes and flushes
/// each write.
pub(crate) fn commit_us(test: &TestRun) -> Option<f64> {
    let [point] = test.points.as_slice() else { return None };
    let [stream] = point.workload.streams.as_slice() else { return None };
    let is_commit = stream.flush_every == Some(1) && stream.total_depth() == 1 && stream.writes();
    if !is_commit || stream.reads() || stream.arrival.per_second().is_some() {
        return None;
    }
    let per_second = metrics::value(point, Metric::Iops, Scope::All);
    Some(1e6 / per_second.filter(|rate| *rate > 0.0)?)
}

/// Returns which of the steps of `test` its result is of.
fn result_setting(test: &TestRun) -> String {
    let rule = number::spaced(&workload_text::rule(&test.test, &test.test.score));
    let points = headline_points::points(test);
    let ([point], true) = (points.as_slice(), test.points.len() > 1) else {
        return rule;
    };
    let rate = match point.workload.streams.as_slice() {
        [stream] => stream.arrival.per_second(),
        [] | [_, _, ..] => None,
    };
    let label = match rate {
        Some(rate) => format!("{}/s", number::text(rate)),
        None => sanitize::step(&point.point.label),
    };
    match test.test.score {
        Score::BestOf(_) => format!("best of {} steps: {label}", test.points.len()),
        Score::Knee(_) | Score::KneeOfLoad(_) => format!("{label}: {rule}"),
        Score::At { .. } => label,
        _ => rule,
    }
}
