//! Judgement of claims: a value is compared only where all conditions of the claim are met, by the rule of all
//! stated numbers ([`Estimate::lies_in`]).

use crate::drives::report_drives::ReportDrives;
use crate::findings::finding_words;
use crate::findings::trust;
use crate::inputs::spec_file::{CacheSide, State};
use crate::inputs::specification::{Claim, Specification};
use crate::model::metrics;
use crate::model::{CachePlace, FallCause, PointRun, Run, StepFinding, TestRun};
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{
    Access, Estimate, FindingKind, Metric, PhaseKind, Scope, Score, Severity, Verdict, Window,
};

/// Returns the numbers of the drives that `specification` is about.
fn subject_drives(
    specification: &Specification,
    runs: &[Run],
    drives: &ReportDrives,
) -> Vec<usize> {
    let model = specification.model.to_lowercase();
    let fits = |drive: &usize| {
        let first = drives.runs_of(*drive).next();
        first.is_some_and(|run| {
            sanitize::device(runs[run].head.drive.name()).to_lowercase().contains(&model)
        })
    };
    (0..drives.count()).filter(fits).collect()
}

impl Specification {
    /// Returns whether any of `runs` is of the drive that the claims are about.
    pub fn is_about(&self, runs: &[Run]) -> bool {
        !subject_drives(self, runs, &ReportDrives::new(runs, None)).is_empty()
    }

    /// Returns each drive that the claims are about, by its number, with its runs.
    pub fn subjects<'a>(
        &self,
        runs: &'a [Run],
        drives: &ReportDrives,
    ) -> Vec<(usize, Vec<&'a Run>)> {
        let of = |drive: usize| (drive, drives.runs_of(drive).map(|run| &runs[run]).collect());
        subject_drives(self, runs, drives).into_iter().map(of).collect()
    }
}

/// The judgement of one claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// Where it is stated.
    pub source: &'a str,
    /// The measured value; `None` where no step meets the conditions.
    pub measured: Option<f64>,
    /// The verdict; `None` where the claim is not comparable.
    pub verdict: Option<Verdict>,
    /// The test and step, or which condition was not met.
    pub reason: String,
}

impl Judged<'_> {
    /// Returns the words used on pages.
    pub fn words(&self) -> &'static str {
        match self.verdict {
            Some(Verdict::Holds) => "met",
            Some(Verdict::Fails) => "not met",
            Some(Verdict::NotDecided) => "not decided",
            None => "not comparable",
        }
    }

    /// Returns the key used in JSON.
    pub fn key(&self) -> String {
        self.words().replace(' ', "-")
    }
}

/// A step that may answer a claim.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    run: &'a Run,
    test: &'a TestRun,
    point: &'a PointRun,
}

/// Returns what `runs`, all of one drive, say of each claim of `specification`.
pub fn judge<'a>(specification: &'a Specification, runs: &[&Run]) -> Vec<Judged<'a>> {
    let judged = |claim: &'a Claim| {
        let source = claim.source.as_deref().unwrap_or(&specification.source);
        let (from, until) = match claim.metric.more_is_better() {
            true => (claim.value * (1.0 - specification.tolerance), f64::INFINITY),
            false => (f64::NEG_INFINITY, claim.value * (1.0 + specification.tolerance)),
        };
        let (measured, reason) = match answer(claim, runs) {
            Err(reason) => (None, reason),
            Ok((measured, reason)) => (Some(measured), reason),
        };
        let verdict = measured.map(|measured| measured.lies_in(from, until));
        Judged { claim, source, measured: measured.map(|one| one.value), verdict, reason }
    };
    specification.claims.iter().map(judged).collect()
}

/// Returns the best value that meets every condition of `claim`, with its place, or the condition
/// that no step meets.
fn answer(claim: &Claim, runs: &[&Run]) -> Result<(Estimate, String), String> {
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for run in runs.iter().copied() {
        for test in &run.tests {
            let points = test.points.iter().filter(|point| is_load(claim, point));
            candidates.extend(points.map(|point| Candidate { run, test, point }));
        }
    }
    if candidates.is_empty() {
        return Err(format!("no run has a step with {}", load(claim)));
    }
    if let Some(depth) = claim.queue_depth {
        let depths = distinct(candidates.iter().map(|c| in_flight(c.point)));
        candidates.retain(|candidate| in_flight(candidate.point) == u64::from(depth));
        if candidates.is_empty() {
            let depths: Vec<String> = depths.iter().map(|depth| format!("QD{depth}")).collect();
            return Err(format!(
                "queue depth: measured at {}, claimed for QD{depth}",
                depths.join(", ")
            ));
        }
    }
    if let Some(state) = claim.state {
        candidates.retain(|candidate| self::state(candidate.test) == Some(state));
        if candidates.is_empty() {
            let other = match state {
                State::Fresh => "a drive that was not fresh",
                State::Steady => "a drive without preconditioning",
            };
            return Err(format!("state: measured on {other}, claimed for {}", state.word()));
        }
        if state == State::Fresh {
            candidates.retain(|candidate| was_purged(candidate));
            if candidates.is_empty() {
                return Err("state: the purge failed, so a fresh state is not confirmed".to_owned());
            }
        }
    }
    candidates.retain(|candidate| !candidate.run.is_shortened());
    if candidates.is_empty() {
        return Err("length: the runs were shortened".to_owned());
    }
    let mut invalid = None;
    candidates.retain(|candidate| {
        let why = invalidity(candidate);
        invalid = invalid.take().or_else(|| why.clone());
        why.is_none()
    });
    if let (true, Some(why)) = (candidates.is_empty(), invalid) {
        return Err(format!("invalid: {why}"));
    }
    best(claim, &candidates)
}

/// Returns the title of the finding by which the result of `candidate` must not be used; `None` without one.
fn invalidity(candidate: &Candidate<'_>) -> Option<String> {
    let Candidate { run, test, point } = *candidate;
    let label = sanitize::step(&point.point.label);
    let of_point = |one: &&StepFinding| {
        let is_here = one.step.as_deref().is_some_and(|step| sanitize::step(step) == label);
        is_here && one.finding.severity == Severity::Invalid
    };
    let own = || test.findings.iter().find(of_point);
    trust::invalid(run, test).or_else(|| own().map(|one| finding_words::title(one.finding.kind)))
}

fn best(claim: &Claim, candidates: &[Candidate<'_>]) -> Result<(Estimate, String), String> {
    let mut best: Option<(Estimate, String)> = None;
    let mut why = format!("{} was not measured", claim.metric.key());
    for candidate in candidates {
        match value(claim, candidate) {
            Err(reason) => why = reason,
            Ok((found, place)) => {
                let better =
                    best.as_ref().is_none_or(|(known, _)| match claim.metric.more_is_better() {
                        true => found.value > known.value,
                        false => found.value < known.value,
                    });
                if better {
                    best = Some((found, place));
                }
            }
        }
    }
    best.ok_or(why)
}

/// Returns the value of one step with its place, on the side of the cache that is claimed.
fn value(claim: &Claim, candidate: &Candidate<'_>) -> Result<(Estimate, String), String> {
    let Candidate { test, point, .. } = *candidate;
    let place =
        format!("{}, {}", sanitize::prose(&test.test.title), sanitize::step(&point.point.label));
    let unmeasured = || format!("{} was not measured", claim.metric.key());
    let whole = || -> Result<Estimate, String> {
        let value = metrics::value(point, claim.metric, Scope::All).ok_or_else(unmeasured)?;
        Ok(Estimate::new(value, point.interval(claim.metric, Scope::All).ends()))
    };
    if claim.state == Some(State::Steady)
        && claim.cache.is_none()
        && let Score::MeanOfLast { metric, window } = &test.test.score
        && *metric == claim.metric
    {
        let value = test.headline.value.ok_or_else(unmeasured)?;
        let measured = Estimate::new(value, test.headline.interval.ends());
        return Ok((measured, format!("{place}, {window}")));
    }
    let rate = |bytes: f64| match claim.metric {
        Metric::ThroughputMbS => Some(bytes / 1e6),
        Metric::Iops => Some(bytes / claim.block_size.0 as f64),
        _ => None,
    };
    let (edge, side) = match (point.falls.first(), claim.cache) {
        (None, side) => {
            check_side(claim, point)?;
            let words = side.map_or("", |side| match side {
                CacheSide::Inside => ", inside the SLC cache",
                CacheSide::Beyond => ", beyond the SLC cache",
            });
            return Ok((whole()?, format!("{place}{words}")));
        }
        (Some(fall), _) if fall.cause != FallCause::Cache => {
            return Err(format!(
                "cache: the write speed falls after {} GB, {}",
                number::text(fall.edge.bytes as f64 / 1e9),
                fall.cause.remark()
            ));
        }
        (Some(fall), None) => {
            return Err(format!(
                "cache: the step left the SLC cache after {} GB, and the claim does not state `cache`",
                number::text(fall.edge.bytes as f64 / 1e9)
            ));
        }
        (Some(fall), Some(side)) => (fall.edge, side),
    };
    let (bytes, words) = match side {
        CacheSide::Inside => (edge.before, "inside the SLC cache"),
        CacheSide::Beyond => (edge.after, "beyond the SLC cache"),
    };
    let measured = Estimate::exact(rate(bytes).ok_or_else(unmeasured)?);
    let measured = match side {
        // The fall may be in the first second: no second ran at the level before it.
        CacheSide::Inside if !edge.is_bounded_below() => {
            Estimate { high: f64::INFINITY, ..measured }
        }
        CacheSide::Inside | CacheSide::Beyond => measured,
    };
    Ok((measured, format!("{place}, {words}")))
}

/// Checks that the mean of the step `point`, whose speed shows no fall for good, is that of one speed, on the
/// side of the end of the SLC cache that `claim` states. Only writes in order have sides.
fn check_side(claim: &Claim, point: &PointRun) -> Result<(), String> {
    if claim.access != Access::Sequential || claim.read_percent != 0 {
        return Ok(());
    }
    if let Some(levels) = point.levels {
        let [before, after] = [levels.before, levels.after].map(|one| levels.metric.about(one));
        return Err(format!(
            "cache: the step has two levels, {before} and then {after}; the side of each is not known"
        ));
    }
    let side = |side| match side {
        CacheSide::Inside => "inside",
        CacheSide::Beyond => "beyond the end of",
    };
    match (claim.cache, point.cache) {
        (None, Some(CachePlace::Crossing)) => {
            Err("cache: the step left the SLC cache, and the claim does not state `cache`".into())
        }
        (None, Some(CachePlace::Inside | CachePlace::Beyond | CachePlace::Unknown) | None)
        | (Some(CacheSide::Inside), Some(CachePlace::Inside))
        | (Some(CacheSide::Beyond), Some(CachePlace::Beyond)) => Ok(()),
        (Some(claimed), Some(CachePlace::Inside | CachePlace::Beyond)) => {
            let other = match claimed {
                CacheSide::Inside => CacheSide::Beyond,
                CacheSide::Beyond => CacheSide::Inside,
            };
            Err(format!(
                "cache: the step wrote {} the SLC cache, claimed {} it",
                side(other),
                side(claimed)
            ))
        }
        (Some(_), Some(CachePlace::Crossing)) => {
            Err("cache: the step left the SLC cache, and its two speeds are not known".into())
        }
        (Some(_), Some(CachePlace::Unknown)) => {
            Err("cache: the side of its end on which the step wrote is not known".into())
        }
        (Some(_), None) => {
            Err("cache: no end of an SLC cache was found, so the side on which the \
                                step wrote is not known"
                .into())
        }
    }
}

fn is_load(claim: &Claim, point: &PointRun) -> bool {
    let [stream] = point.workload.streams.as_slice() else { return false };
    stream.operation.is_transfer()
        && !stream.has_sizes()
        && stream.is_all(claim.access)
        && (stream.block_size, stream.read_percent) == (claim.block_size, claim.read_percent)
}

fn load(claim: &Claim) -> String {
    Claim { queue_depth: None, state: None, cache: None, ..claim.clone() }.conditions()
}

fn in_flight(point: &PointRun) -> u64 {
    let depth = |s: &ssdgauge_core::Stream| u64::from(s.queue_depth) * u64::from(s.threads);
    point.workload.streams.iter().map(depth).fold(0, u64::saturating_add)
}

/// Returns the state that a test measures in: steady by a rule or by the last part of a long step
/// (definition D20), fresh after a purge without writes of the load; `None` where it is neither.
fn state(test: &TestRun) -> Option<State> {
    let first = test.test.phases.iter().position(|phase| phase.kind == PhaseKind::Measure)?;
    let before = &test.test.phases[..first];
    let has = |kind| before.iter().any(|phase| phase.kind == kind);
    let counts_the_end =
        matches!(test.test.score, Score::MeanOfLast { window: Window::Time(_), .. });
    match (has(PhaseKind::Precondition), has(PhaseKind::Purge)) {
        (true, _) => Some(State::Steady),
        _ if test.test.rounds.is_some() || counts_the_end => Some(State::Steady),
        (false, true) => Some(State::Fresh),
        (false, false) => None,
    }
}

fn was_purged(candidate: &Candidate<'_>) -> bool {
    let failed = |kind: FindingKind| kind == FindingKind::PurgeNotPossible;
    !candidate.run.findings.iter().any(|finding| failed(finding.kind))
        && !candidate.test.findings.iter().any(|of_step| failed(of_step.finding.kind))
}

fn distinct(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}
