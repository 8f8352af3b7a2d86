//! What caused the falls of the write speed of each step: a full cache, heat, used-up spare area, a cache
//! given back, or what the run does not show.
//!
//! A fall is seen in the bytes of each second. Its cause follows from everything else: throttled seconds,
//! the state of the drive at the start of the step, and how much was written since the drive was empty.
//! `docs/reference/definitions.md` has the conditions.

use crate::model::{FallCause, PointRun, SpeedFall, StepFinding, TestRun};
use crate::steps::drive_state::{self, DriveState};
use crate::steps::slc_cache;
use crate::steps::stalls;
use crate::text::{number, sanitize};
use ssdgauge_core::{
    Direction, DriveInfo, Finding, FindingKind, Severity, Stream, Totals, rounded,
};
use ssdgauge_statistics::cache::{self, Edge, FALL, FEWEST, Fall};
use ssdgauge_statistics::mean_interval::{self, MeanInterval};
use ssdgauge_statistics::summary;

/// The largest share of free space that a cache in SLC mode takes: half of it with two bits a cell, and
/// spare area of 10 %.
const CACHE_MOST: f64 = 0.55;

/// The share of free space from which on a first fall is the end of that space. Chosen: above what
/// [`CACHE_MOST`] is with the spare area of any drive.
const SPACE_ENDS: f64 = 0.75;

/// The same for a fall after the end of a cache, which has borrowed a part of that space. Chosen.
const LATER_SPACE_ENDS: f64 = 0.4;

/// Falls of two repetitions are at one place where they differ by one part in so many, beyond their
/// uncertainties. Chosen.
const SAME_PLACE: u64 = 10;

/// The seconds before a fall in which throttling that causes it begins, at most. Chosen: buffers hide it
/// for a moment.
const NEAR: usize = 3;

/// The share of the capacity that may be overwritten out of order and leaves spare area for certain.
/// Chosen: drives have 7 % or more.
const SCATTERED_LEAST: f64 = 0.05;

/// The share of the rate within a cache from which on a rate is that of the cache. Chosen.
const AT_CACHE_RATE: f64 = 0.85;

/// The share of the rate beyond a cache up to which a rate is that beyond it. Chosen.
const AT_NATIVE_RATE: f64 = 1.15;

/// Returns the labels of the steps whose first fall is not at the same place in all `repetitions` of a test.
pub(crate) fn unrepeated(repetitions: &[TestRun]) -> Vec<String> {
    let Some((first, others)) = repetitions.split_first() else { return Vec::new() };
    let edge = |point: &PointRun| cache::edge(&Seconds::of(point, false).written);
    let differs = |point: &&PointRun| {
        let same = |test: &TestRun| {
            test.points.iter().find(|one| one.point.label == point.point.label).map(edge)
        };
        let own = edge(point);
        others.iter().filter_map(same).any(|other| match (own, other) {
            (Some(a), Some(b)) => {
                let allowed = a.uncertainty + b.uncertainty + a.bytes.max(b.bytes) / SAME_PLACE;
                a.bytes.abs_diff(b.bytes) > allowed
            }
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        })
    };
    let writing = first.points.iter().filter(|point| !others.is_empty() && only_writes(point));
    writing.filter(differs).map(|point| point.point.label.clone()).collect()
}

/// Finds the falls of every step of `tests` that only writes, and their causes. The cache is not the cause
/// of a fall of an `unrepeated` step.
pub(crate) fn annotate(
    drive: &DriveInfo,
    findings: &[Finding],
    tests: &mut [TestRun],
    unrepeated: &[Vec<String>],
) {
    let states = drive_state::before_steps(drive, findings, tests);
    let is_whole = drive.kind.is_drive() && !drive.is_limited();
    let capacity = if is_whole { Some(drive.capacity.0) } else { None };
    let mut known = None;
    // What a fresh drive shows of its cache decides about steps on a used one, before or after it.
    for finds_known in [true, false] {
        for ((test, states), unrepeated) in tests.iter_mut().zip(&states).zip(unrepeated) {
            let hot: Vec<bool> =
                test.points.iter().map(|point| is_throttled(test, point)).collect();
            for ((point, state), is_hot) in test.points.iter_mut().zip(states).zip(hot) {
                if !only_writes(point) || (finds_known && (known.is_some() || !state.is_empty())) {
                    continue;
                }
                let seconds = Seconds::of(point, is_hot);
                let step = Step { state: *state, capacity, point, known };
                point.falls = seconds.falls(&step);
                if unrepeated.contains(&point.point.label) {
                    point.falls.iter_mut().for_each(SpeedFall::is_not_repeated);
                }
                if finds_known {
                    known = known_cache(point, &seconds, capacity);
                }
            }
        }
    }
    for test in tests {
        let found: Vec<StepFinding> = test.points.iter().filter_map(unexplained).collect();
        test.findings.extend(found);
    }
}

/// Returns the finding of the step `point` where it writes in order and its speed falls for a cause that
/// the run does not show: sentences and headlines state the speeds before and after such a fall.
fn unexplained(point: &PointRun) -> Option<StepFinding> {
    let is_unknown = |fall: &&SpeedFall| fall.cause == FallCause::Unknown;
    let unknown = point.falls.iter().filter(is_unknown);
    let unknown: Vec<&SpeedFall> = unknown.filter(|_| slc_cache::writes_in_order(point)).collect();
    let mb_s = |bytes: f64| number::text(bytes / 1e6);
    let words = unknown.iter().map(|fall| {
        let (edge, before) = (fall.edge, fall.edge.before_in_words(mb_s));
        format!("from {before} to {} MB/s after {}", mb_s(edge.after), rounded::edge(&edge))
    });
    let text = format!(
        "the write speed falls {}, and the run does not show why",
        words.collect::<Vec<_>>().join(", ")
    );
    let finding = Finding::new(
        FindingKind::FallUnexplained,
        Severity::Warning,
        text,
        "purge the drive and let it rest before the step, repeat the test, and read its temperature",
    );
    let step = Some(sanitize::prose(&point.point.label));
    (!unknown.is_empty()).then_some(StepFinding { step, metrics: Vec::new(), finding })
}

fn is_throttled(test: &TestRun, point: &PointRun) -> bool {
    let is_here = |step: &String| *step == point.point.label;
    test.findings.iter().any(|one| {
        one.finding.kind == FindingKind::Throttled && one.step.as_ref().is_none_or(is_here)
    })
}

impl SpeedFall {
    /// Takes back that the cache is the cause: it would end at the same place again.
    fn is_not_repeated(&mut self) {
        if self.cause == FallCause::Cache {
            self.cause = FallCause::Unknown;
        }
    }
}

/// The cache of a drive, as a sequential write of the empty drive shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum KnownCache {
    /// The speed does not fall where the largest cache would have ended.
    None,
    /// The first fall is its end.
    Ends(Edge),
}

/// Returns what the step `point` on an empty drive shows.
fn known_cache(point: &PointRun, seconds: &Seconds, capacity: Option<u64>) -> Option<KnownCache> {
    if !point.workload.streams.iter().all(Stream::is_sequential) {
        return None;
    }
    match point.falls.first() {
        Some(fall) => (fall.cause == FallCause::Cache).then_some(KnownCache::Ends(fall.edge)),
        None => {
            let is_cold = seconds.hot.as_ref().is_some_and(|hot| !hot.contains(&true));
            let written = seconds.written.iter().sum::<u64>() as f64;
            (is_cold && written >= SPACE_ENDS * capacity? as f64).then_some(KnownCache::None)
        }
    }
}

/// Returns whether `point` writes as fast as the drive takes it, and nothing else: the drive alone
/// changes its rate.
fn only_writes(point: &PointRun) -> bool {
    point.workload.never_pauses()
        && point.workload.streams.iter().all(|stream| stream.writes() && !stream.reads())
        && point.workload.streams.iter().all(|one| one.flush_every.is_none() && !one.sync)
}

/// A step with what is known when it begins.
struct Step<'a> {
    state: DriveState,
    /// The capacity of the drive; `None` where the run has a part of one.
    capacity: Option<u64>,
    point: &'a PointRun,
    /// What the run shows of the cache elsewhere.
    known: Option<KnownCache>,
}

/// The full seconds of a step, without stalls: in these nothing is written, and no speed is seen.
struct Seconds {
    /// The bytes written in each.
    written: Vec<u64>,
    /// Whether the drive was throttled in each; `None` where nothing says when.
    hot: Option<Vec<bool>>,
}

impl Seconds {
    fn of(point: &PointRun, is_hot: bool) -> Seconds {
        let full = point.point.seconds.full();
        let bytes = |totals: Totals| totals.directions[Direction::Write as usize].bytes;
        let (numbers, written): (Vec<u32>, Vec<u64>) = full
            .numbers()
            .zip(full.counts().map(bytes))
            .zip(stalls::shows_speed(point))
            .filter_map(|(second, shows_speed)| shows_speed.then_some(second))
            .unzip();
        let hot = hot_seconds(point, &numbers);
        let says_when = hot.iter().any(|hot| *hot);
        // A step that was throttled and has no throttled second was so at a time that is not known.
        Seconds { written, hot: (says_when || !is_hot).then_some(hot) }
    }

    fn falls(&self, step: &Step<'_>) -> Vec<SpeedFall> {
        let found = cache::falls(&self.written);
        let mut falls: Vec<SpeedFall> = Vec::with_capacity(found.len());
        for fall in &found {
            let cause = match self.heat(fall) {
                Heat::Caused => FallCause::Heat,
                Heat::Open => FallCause::Unknown,
                Heat::Excluded => by_volume(fall, falls.last(), step),
            };
            falls.push(SpeedFall {
                edge: fall.edge,
                before_interval: self.interval(fall.start, fall.from, fall.edge.before),
                after_interval: self.interval(fall.to, fall.end, fall.edge.after),
                cause,
            });
        }
        falls
    }

    /// Returns the 95 % interval of the level from one second to another around its `mean`; a speed is never
    /// below zero.
    fn interval(&self, from: usize, to: usize, mean: f64) -> Option<(f64, f64)> {
        let inner: Vec<f64> = self.written[from..to].iter().map(|one| *one as f64).collect();
        let inner = inner.get(1..inner.len().saturating_sub(1))?;
        match mean_interval::of_mean(inner, true) {
            MeanInterval::Found(found) => Some(((mean - found.half).max(0.0), mean + found.half)),
            MeanInterval::StillSettling | MeanInterval::TooFewSeconds => None,
        }
    }

    /// Returns whether heat caused `fall`: throttling begins at the fall, and the seconds after it that are
    /// not throttled are as fast as those before it, or there are none.
    fn heat(&self, fall: &Fall) -> Heat {
        let Some(hot) = &self.hot else { return Heat::Open };
        let near = fall.at.saturating_sub(NEAR).max(fall.start);
        if !hot[near..fall.end].contains(&true) {
            return Heat::Excluded;
        }
        let begins = |second: usize| hot[second] && (second == 0 || !hot[second - 1]);
        let begins_here = (near..(fall.at + 2).min(fall.end)).any(begins);
        // Throttling may end within a second, so the one after a throttled one is left out.
        let cold: Vec<f64> = (fall.at + 1..fall.end)
            .filter(|second| !hot[*second] && !hot[second - 1])
            .map(|second| self.written[second] as f64)
            .collect();
        let cold = summary::mean(&cold).filter(|_| cold.len() >= FEWEST);
        match (begins_here, cold) {
            (false, Some(mean)) if mean <= FALL * fall.edge.before => Heat::Excluded,
            (true, Some(mean)) if mean <= FALL * fall.edge.before => Heat::Open,
            (true, _) => Heat::Caused,
            (false, _) => Heat::Open,
        }
    }
}

/// Whether a fall was caused by heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heat {
    Caused,
    Excluded,
    /// The readings leave it open.
    Open,
}

/// Returns in which of the seconds with these numbers `point` was throttled: by readings of each second,
/// else between two readings of a counter of throttled seconds that has risen. One of transitions stands
/// still while the drive stays throttled: where only such a counter rises, the drive may be throttled until
/// the end of the step.
fn hot_seconds(point: &PointRun, numbers: &[u32]) -> Vec<bool> {
    const OF_SECONDS: [&str; 2] = ["light_throttle_s", "heavy_throttle_s"];
    const OF_TRANSITIONS: [&str; 2] = ["light_throttles", "heavy_throttles"];
    let seconds = &point.point.seconds;
    let mut spans: Vec<(u32, u32)> = seconds
        .readings("throttled")
        .filter(|(_, value)| *value > 0.0)
        .map(|(number, _)| (number, number))
        .collect();
    let risen = |counter: &str| {
        let readings: Vec<(u32, f64)> = seconds.readings(counter).collect();
        let risen = readings.windows(2).filter(|two| two[1].1 > two[0].1);
        risen.map(|two| (two[0].0 + 1, two[1].0)).collect::<Vec<_>>()
    };
    spans.extend(OF_SECONDS.into_iter().flat_map(risen));
    if spans.is_empty() {
        let begins = OF_TRANSITIONS.into_iter().flat_map(risen);
        spans.extend(begins.map(|(from, _)| (from, u32::MAX)));
    }
    let is_hot = |number: &u32| spans.iter().any(|(from, to)| (from..=to).contains(&number));
    numbers.iter().map(is_hot).collect()
}

/// Returns the cause of a `fall` that heat did not cause, by the amount written until it; `last` is the
/// fall before it.
fn by_volume(fall: &Fall, last: Option<&SpeedFall>, step: &Step<'_>) -> FallCause {
    let Step { state, point, .. } = step;
    let bytes = fall.edge.bytes as f64;
    let Some(capacity) = step.capacity.map(|capacity| capacity as f64) else {
        // Of a part of a drive, or a file, the state of the rest is not known.
        return match last.is_none() && state.since_rest == Some(0) {
            true => FallCause::Cache,
            false => FallCause::Unknown,
        };
    };
    // The bytes that have gone into the cache since it was empty, at most.
    let in_cache = state.since_rest.map(|before| before as f64 + bytes);
    let fits_cache = last.is_none() && in_cache.is_some_and(|bytes| bytes <= CACHE_MOST * capacity);
    let free = state.written.map(|written| capacity - written as f64);
    if let Some(free) = free.filter(|free| bytes <= *free) {
        // Nothing has to be collected yet.
        let space_ends = match last.is_some_and(|last| last.cause == FallCause::Cache) {
            true => LATER_SPACE_ENDS,
            false => SPACE_ENDS,
        };
        return match bytes / free {
            share if share <= CACHE_MOST && fits_cache => FallCause::Cache,
            share if share >= space_ends => FallCause::GiveBack,
            _ => FallCause::Unknown,
        };
    }
    let is_random = !point.workload.streams.iter().all(Stream::is_sequential);
    let own = if is_random { bytes } else { 0.0 };
    let scattered = state.scattered.map(|before| before as f64 + own);
    match (scattered, last) {
        (Some(scattered), _) if scattered <= SCATTERED_LEAST * capacity => match fits_cache {
            true => FallCause::Cache,
            false => FallCause::Unknown,
        },
        (None, None) if state.since_rest == Some(0) && fits_cache => FallCause::Cache,
        (None, _) => FallCause::Unknown,
        (Some(_), Some(last)) if last.cause == FallCause::Cache => FallCause::SpareArea,
        (Some(_), Some(_)) => FallCause::Unknown,
        (Some(_), None) => match state.since_rest {
            Some(before) if before as f64 >= CACHE_MOST * capacity => FallCause::SpareArea,
            _ => by_known_cache(fall, step),
        },
    }
}

/// Returns the cause of the first fall of a drive that has written more than its capacity, out of order:
/// its cache and its spare area may have recovered in a rest, and what a fresh drive shows decides.
fn by_known_cache(fall: &Fall, step: &Step<'_>) -> FallCause {
    let in_order = step.point.workload.streams.iter().all(Stream::is_sequential);
    match step.known {
        Some(KnownCache::None) => FallCause::SpareArea,
        Some(KnownCache::Ends(cache)) if in_order => {
            let before = fall.edge.before;
            if before >= AT_CACHE_RATE * cache.before {
                FallCause::Cache
            } else if before <= AT_NATIVE_RATE * cache.after && fall.edge.is_bounded_below() {
                FallCause::SpareArea
            } else {
                FallCause::Unknown
            }
        }
        Some(KnownCache::Ends(_)) | None => FallCause::Unknown,
    }
}

#[cfg(test)]
mod tests;
