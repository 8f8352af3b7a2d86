//! A run file, recomputed: the points, headlines and findings of every test of its plan.

use crate::cached::{self, CachePlace};
use crate::error::ReportError;
use crate::missing;
use crate::repetitions;
use crate::steadiness::{self, Tracked};
use crate::timeline::{Gatherer, Second};
use ssdgauge_core::search::{self, Next};
use ssdgauge_core::statistics::steady;
use ssdgauge_core::{
    Action, BORNE, Direction, Engine, Finding, Headline, Interval, Nanos, PhaseKind, Point, Ratio,
    Reading, Restart, Score, Step, Test, Workload,
};
use ssdgauge_runfile::{FindingRecord, Head, RunFile, StepId, StepRecord, StepState};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

/// More requests in one second than any drive completes. It keeps sums far from overflowing.
const MOST_IOS: u64 = 1 << 44;

/// More bytes, or nanoseconds, in one second than any drive moves.
const MOST_BYTES: u64 = 1 << 54;

/// More intervals of one step than a year of seconds has, for eight streams and two directions.
const MOST_INTERVALS: u64 = 1 << 29;

/// Pairs of a quantity and an instrument that are remembered as they were read.
const MOST_KNOWN: usize = 32;

/// The load of a step that leaves the drive alone.
pub(crate) const NO_LOAD: Workload = Workload { engine: Engine::IoUring, streams: Vec::new() };

/// One run file, recomputed.
#[derive(Clone, Debug)]
pub struct Run {
    /// What the run began with: plan, drive, environment.
    pub head: Head,
    /// The tests in the order of the plan; the repetitions of one test are one of these.
    pub tests: Vec<TestRun>,
    /// The findings that belong to the whole run.
    pub findings: Vec<Finding>,
    /// Whether every step of the plan has finished.
    pub complete: bool,
}

/// What a run has of one test.
#[derive(Clone, Debug)]
pub struct TestRun {
    /// The test as planned.
    pub test: Test,
    /// The headline; its value is `None` until every step that it needs has finished.
    pub headline: Headline,
    /// Further numbers by the other rules of the test, in its order.
    pub also: Vec<Headline>,
    /// The finished steps of all measure phases, in the order of the plan.
    pub points: Vec<PointRun>,
    /// The steps of measure phases in the plan.
    pub planned: usize,
    /// The findings that belong to the steps of this test, and what this crate found missing.
    pub findings: Vec<StepFinding>,
    /// Whether every step of the test has finished.
    pub complete: bool,
    /// The repetitions of a test that was carried out several times, in their order; empty where
    /// it was carried out once. The headlines above are then the means of these, and the seconds
    /// of the points are those of the repetition in the middle.
    pub repetitions: Vec<Repetition>,
    /// What was tracked from round to round by the rule of the SNIA Performance Test
    /// Specification, in the order of the plan.
    pub tracked: Vec<Tracked>,
}

/// One repetition of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Repetition {
    /// Its own headline, with the interval within it.
    pub headline: Headline,
    /// The further numbers of the test.
    pub also: Vec<Headline>,
}

/// What a run has of one measured step.
#[derive(Clone, Debug)]
pub struct PointRun {
    /// Label, position and all samples. The seconds carry sums without histogram buckets.
    pub point: Point,
    /// What was asked of the drive.
    pub workload: Workload,
    /// The seconds for figures.
    pub seconds: Vec<Second>,
    /// The instruments that read each quantity, such as `power_w`.
    pub instruments: BTreeMap<String, BTreeSet<String>>,
    /// Which limit ended the step.
    pub ended_by: String,
    /// What the engine says of itself, as JSON; empty where it said nothing.
    pub report: String,
    /// Where a step that writes lay of the drive's fast cache; `None` where no fill of the same
    /// run shows one.
    pub cache: Option<CachePlace>,
}

/// A finding with the step that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct StepFinding {
    /// The label of the step; `None` for the whole test.
    pub step: Option<String>,
    /// The keys of the metrics that it explains; empty for a finding of the run file.
    pub metrics: Vec<String>,
    /// The finding.
    pub finding: Finding,
}

/// A finding with everything that it touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedFinding<'a> {
    /// The test; `None` for the whole run.
    pub test: Option<&'a Test>,
    /// The label of the step; `None` for the whole test.
    pub step: Option<&'a str>,
    /// The keys of the metrics that it explains; empty for a finding of the run file.
    pub metrics: &'a [String],
    /// The finding.
    pub finding: &'a Finding,
}

/// Reads the run file at `path` and recomputes every number from its samples.
///
/// A run that was cut off is read as far as it goes. Refuses foreign, damaged and impossible
/// files with the reason; the file is left as it was.
pub fn read(path: &Path) -> Result<Run, ReportError> {
    let file = RunFile::open(path)?;
    let steps = file.steps()?;
    let findings = file.findings()?;
    let head = file.head().clone();
    let mut tests: Vec<(usize, TestRun)> = Vec::with_capacity(head.plan.tests.len());
    for (index, test) in head.plan.tests.iter().enumerate() {
        let attempts: Vec<&StepRecord> =
            steps.iter().filter(|step| step.place.test == index).collect();
        let is_searched = is_searched(&file, index, test)?;
        let mut run = read_test(&file, test, &attempts, &findings, is_searched)?;
        run.complete &= is_searched;
        if let Some(rounds) = test.rounds {
            run.complete &= file.has_steadiness_verdict(index, rounds.phase)?;
        }
        tests.push((index, run));
    }
    let complete = tests.iter().all(|(_, test)| test.complete);
    let mut tests = repetitions::gathered(&file, &steps, tests)?;
    cached::place(&mut tests);
    let findings = findings
        .into_iter()
        .filter(|record| record.step.is_none())
        .map(|record| record.finding)
        .collect();
    Ok(Run { head, tests, findings, complete })
}

/// Reads the run files at `paths` as [`read`] does, as many at once as there are processors, and
/// returns them in the order of `paths`, or the first failure in that order.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Run>, ReportError> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(paths.len());
    if workers < 2 {
        return paths.iter().map(|path| read(path)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut read_here = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(place) else { return read_here };
            read_here.push((place, read(path)));
        }
    };
    let mut runs: Vec<(usize, Result<Run, ReportError>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let join = |thread: ScopedJoinHandle<'_, Vec<_>>| match thread.join() {
            Ok(runs) => runs,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        threads.into_iter().flat_map(join).collect()
    });
    runs.sort_by_key(|(place, _)| *place);
    runs.into_iter().map(|(_, run)| run).collect()
}

/// Returns whether the search of `test` came to an answer; true where it has none.
fn is_searched(file: &RunFile, index: usize, test: &Test) -> Result<bool, ReportError> {
    let Some(search) = &test.search else { return Ok(true) };
    let probes = file.search_attempts(index, search.probes)?;
    let trials = file.search_attempts(index, search.trials)?;
    let rungs = test.phases.get(search.trials).map_or(0, |phase| phase.steps.len());
    Ok(matches!(search::next(rungs, &probes, &trials), Next::Done(_)))
}

fn read_test(
    file: &RunFile,
    test: &Test,
    attempts: &[&StepRecord],
    findings: &[FindingRecord],
    is_searched: bool,
) -> Result<TestRun, ReportError> {
    let counted = counted(test, attempts);
    let mut points = Vec::new();
    let mut planned = 0;
    let mut complete = true;
    for (phase_index, phase) in test.phases.iter().enumerate() {
        for (step_index, step) in phase.steps.iter().enumerate() {
            let records = counted.get(&(phase_index, step_index));
            complete &= records.is_some() || !test.is_in_order(phase_index);
            let workload = match &step.action {
                Action::Run { workload, .. } => workload.clone(),
                Action::Idle(_) => NO_LOAD,
                Action::Prepare(_) | Action::Rest(_) => continue,
            };
            if phase.kind == PhaseKind::Measure {
                let is_search = test.search.is_some() && !test.is_in_order(phase_index);
                planned += usize::from(records.is_some() || !is_search);
                if let Some(records) = records {
                    points.push(read_point(file, step, &workload, window(test, records))?);
                }
            }
        }
    }
    let mut run = TestRun {
        headline: headline(test, &test.score, &points, is_searched),
        also: test.also.iter().map(|also| headline(test, also, &points, is_searched)).collect(),
        test: test.clone(),
        points,
        planned,
        findings: of_steps(test, attempts, findings),
        complete,
        repetitions: Vec::new(),
        tracked: steadiness::tracked(file, test, &counted)?,
    };
    run.explain();
    Ok(run)
}

/// Returns the records of a step that are its result: the five rounds of a window are one.
pub(crate) fn window<'a, 'b>(test: &Test, records: &'a [&'b StepRecord]) -> &'a [&'b StepRecord] {
    let rounds = if test.rounds.is_some() { steady::WINDOW } else { 1 };
    &records[records.len().saturating_sub(rounds)..]
}

/// The attempts that count, by phase and step.
pub(crate) type Counted<'a> = BTreeMap<(usize, usize), Vec<&'a StepRecord>>;

/// Returns the finished attempts of each step that count, by phase and step: the last one, or all
/// of them where the test goes through rounds.
///
/// A test that makes sense only without a pause counts from its last beginning.
pub(crate) fn counted<'a>(test: &Test, attempts: &[&'a StepRecord]) -> Counted<'a> {
    let place = |step: &StepRecord| (step.place.phase, step.place.step);
    let begun = match test.restart {
        Restart::Step => StepId(i64::MIN),
        Restart::Test => {
            let first = attempts.iter().map(|step| place(step)).min();
            let beginnings = attempts.iter().filter(|step| Some(place(step)) == first);
            beginnings.map(|step| step.id).max().unwrap_or(StepId(i64::MIN))
        }
    };
    let mut counted = Counted::new();
    let finished = attempts.iter().filter(|step| step.state == StepState::Finished);
    for step in finished.filter(|step| step.id >= begun) {
        counted.entry(place(step)).or_default().push(step);
    }
    counted
}

pub(crate) fn read_point(
    file: &RunFile,
    step: &Step,
    workload: &Workload,
    records: &[&StepRecord],
) -> Result<PointRun, ReportError> {
    let mut gatherer = Gatherer::default();
    let mut wrong = None;
    let mut intervals = 0u64;
    let mut instruments: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut known: Vec<(String, String)> = Vec::new();
    let mut elapsed = Nanos::ZERO;
    let mut begin = 0;
    for record in records {
        file.intervals(record.id, |interval| {
            intervals += 1;
            wrong = wrong.take().or_else(|| impossible(&interval, intervals));
            if wrong.is_none() {
                let second = interval.second.saturating_add(begin);
                gatherer.interval(Interval { second, ..interval });
            }
        })?;
        let before = Nanos::SECOND * u64::from(begin);
        let time = record.elapsed.unwrap_or(Nanos::ZERO);
        if workload.streams.is_empty() {
            gatherer.seconds_without_load(begin, time);
        }
        file.readings(record.id, |reading| {
            // What was read while the drive rested afterwards is not of the step.
            if reading.at > time {
                return;
            }
            // The same few names come again with every reading.
            let is_known = |(quantity, instrument): &(String, String)| {
                *quantity == reading.quantity && *instrument == reading.instrument
            };
            if !known.iter().any(is_known) {
                let quantity = crate::clean::prose(&reading.quantity);
                let instrument = crate::clean::prose(&reading.instrument);
                instruments.entry(quantity).or_default().insert(instrument);
                if known.len() < MOST_KNOWN {
                    known.push((reading.quantity.clone(), reading.instrument.clone()));
                }
            }
            let at = Nanos(reading.at.0.saturating_add(before.0));
            gatherer.reading(&Reading { at, ..reading });
        })?;
        elapsed += time;
        // A round begins in a second of its own.
        let seconds = u32::try_from(time.0.div_ceil(Nanos::SECOND.0)).unwrap_or(u32::MAX);
        begin = begin.saturating_add(seconds);
    }
    if let Some(what) = wrong {
        return Err(ReportError::Impossible { path: file.path().to_owned(), what });
    }
    let last = records.last();
    let (totals, second_totals, seconds) = gatherer.finish(elapsed);
    Ok(PointRun {
        point: Point {
            label: step.label.clone(),
            position: step.position,
            totals,
            seconds: second_totals,
        },
        workload: workload.clone(),
        seconds,
        instruments,
        ended_by: last.and_then(|record| record.ended_by.clone()).unwrap_or_default(),
        report: last.and_then(|record| record.report.clone()).unwrap_or_default(),
        cache: None,
    })
}

/// Returns why `interval` cannot have been measured, if so.
fn impossible(interval: &Interval, number: u64) -> Option<String> {
    let too_large = interval.ios > MOST_IOS
        || interval.errors > MOST_IOS
        || interval.latency.count() > MOST_IOS
        || interval.bytes > MOST_BYTES
        || interval.length.0 > MOST_BYTES
        || number > MOST_INTERVALS;
    let second = interval.second;
    too_large.then(|| format!("second {second} of a step holds more than any drive can do"))
}

/// Returns the headline, without a value where steps are missing that it needs.
fn headline(test: &Test, score: &Score, points: &[PointRun], is_searched: bool) -> Headline {
    let (used, whole) = scored(test, score, points);
    let whole = whole && is_searched;
    let headline = Headline::of(score, &used);
    let finite = headline.value.is_some_and(f64::is_finite);
    match whole && finite {
        true => headline,
        false => Headline { value: None, low: None, high: None, ..headline },
    }
}

/// Returns the points that a score rests on, and whether none of them is missing.
///
/// The other points neither move the number nor carry seconds that it rests on.
fn scored(test: &Test, score: &Score, points: &[PointRun]) -> (Vec<Point>, bool) {
    let planned = measured(test).filter(|step| score.rests_on(step.position)).count();
    let used = points.iter().map(|point| &point.point);
    let used: Vec<Point> = used.filter(|point| score.rests_on(point.position)).cloned().collect();
    let borne = |point: &Point| point.totals.reading(BORNE).is_some_and(|borne| borne > 0.5);
    let whole = match test.search {
        // A search never visits every load, and ends with the first that is borne in full.
        Some(_) => used.iter().any(borne),
        None => !used.is_empty() && used.len() == planned,
    };
    (used, whole)
}

/// Returns the steps of `test` that are measured.
pub(crate) fn measured(test: &Test) -> impl Iterator<Item = &Step> {
    let phases = test.phases.iter().filter(|phase| phase.kind == PhaseKind::Measure);
    phases
        .flat_map(|phase| &phase.steps)
        .filter(|step| matches!(step.action, Action::Run { .. } | Action::Idle(_)))
}

/// Returns the findings of a test's steps, each with the label of its step.
fn of_steps(test: &Test, attempts: &[&StepRecord], findings: &[FindingRecord]) -> Vec<StepFinding> {
    let label = |step: StepId| {
        let place = attempts.iter().find(|attempt| attempt.id == step)?.place;
        Some(test.phases.get(place.phase)?.steps.get(place.step)?.label.clone())
    };
    findings
        .iter()
        .filter_map(|record| {
            let step = label(record.step?)?;
            let finding = record.finding.clone();
            Some(StepFinding { step: Some(step), metrics: Vec::new(), finding })
        })
        .collect()
}

impl TestRun {
    /// Computes the headline anew, after the rule changed.
    pub(crate) fn recompute(&mut self) {
        let is_searched = self.test.search.is_none() || self.complete;
        self.headline = headline(&self.test, &self.test.score, &self.points, is_searched);
        // The points have the samples of all repetitions; what each came to is of the old rule.
        self.repetitions.clear();
        self.findings.retain(|of_step| of_step.metrics.is_empty());
        self.explain();
    }

    /// Adds a finding for everything that is missing.
    fn explain(&mut self) {
        let missing = missing::of(self);
        self.findings.extend(missing);
        self.findings.extend(steadiness::left(self));
    }

    /// Returns the points that the headline rests on; `None` where one of them is missing.
    pub fn scored_points(&self) -> Option<Vec<Point>> {
        self.points_for(&self.test.score)
    }

    /// Returns the points that a number by `score` rests on; `None` where one of them is missing.
    pub(crate) fn points_for(&self, score: &Score) -> Option<Vec<Point>> {
        let (points, whole) = scored(&self.test, score, &self.points);
        whole.then_some(points)
    }

    /// Returns how many times the headline of `other` this test has; `None` where one of them has
    /// none. Where both were repeated the interval is that between repetitions, else that over the
    /// seconds of the runs.
    pub(crate) fn over(&self, other: &TestRun) -> Option<Ratio> {
        let (value, others) = (self.headline.value?, other.headline.value?);
        let headlines = |test: &TestRun| -> Vec<Headline> {
            test.repetitions.iter().map(|repetition| repetition.headline.clone()).collect()
        };
        let repeated = Ratio::of_repetitions(&headlines(other), &headlines(self));
        let once = || {
            let ratio =
                Ratio::of(&self.test.score, &other.scored_points()?, &self.scored_points()?)?;
            // Where one of the two was repeated, its headline is the mean of all repetitions.
            let is_one = self.repetitions.is_empty() && other.repetitions.is_empty();
            Some(if is_one { ratio } else { Ratio { value: value / others, ..ratio } })
        };
        repeated.or_else(once)
    }
}

impl PointRun {
    /// Returns the directions that the workload has, reads first.
    pub fn directions(&self) -> Vec<Direction> {
        let streams = &self.workload.streams;
        let present = |direction: &Direction| match direction {
            Direction::Read => streams.iter().any(|stream| stream.reads()),
            Direction::Write => streams.iter().any(|stream| stream.writes()),
        };
        Direction::BOTH.into_iter().filter(present).collect()
    }
}

impl Run {
    /// Returns whether all results are those of a model.
    pub fn is_model(&self) -> bool {
        self.head.drive.is_model()
    }

    /// Returns whether all durations and byte limits were divided for a trial.
    pub fn is_shortened(&self) -> bool {
        self.head.plan.shortened > 1
    }

    /// Returns every finding with the test and step that it touches, those of the run first.
    pub fn all_findings(&self) -> Vec<PlacedFinding<'_>> {
        let of_run = self.findings.iter().map(|finding| PlacedFinding {
            test: None,
            step: None,
            metrics: &[],
            finding,
        });
        let of_tests = self.tests.iter().flat_map(|run| {
            run.findings.iter().map(move |of_step| PlacedFinding {
                test: Some(&run.test),
                step: of_step.step.as_deref(),
                metrics: &of_step.metrics,
                finding: &of_step.finding,
            })
        });
        of_run.chain(of_tests).collect()
    }
}
