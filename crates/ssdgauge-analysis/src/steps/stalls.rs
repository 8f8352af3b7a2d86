//! Stalls within a step: full seconds in which no request completed, although many do in the others.
//!
//! A stall is an event, no level of the speed. Levels, falls and their causes leave its seconds out; the
//! mean of the step contains them.

use crate::model::metrics;
use crate::model::{PointRun, StepFinding, TestRun};
use crate::text::number;
use crate::text::sanitize;
use ssdgauge_core::{Finding, FindingKind, Metric, Scope, Severity};

/// The completed requests in each second with any, on average, from which on an empty second is a stall.
/// Chosen: fewer may leave a second empty by chance.
const USUAL: f64 = 10.0;

/// The maximum number of stalls of a step that its levels leave out. Chosen: more are how the drive works, as
/// rare events are counted for intervals (`docs/explanation/intervals.md`).
const RARE: usize = 5;

/// One stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stall {
    /// Its first empty second, by the number in the step.
    first: u32,
    /// Its empty seconds: it is at least so many seconds long.
    seconds: u32,
}

/// Returns the stalls in `empty_seconds`, in their order.
fn stalls(empty_seconds: &[(u32, bool)]) -> Vec<Stall> {
    let mut found: Vec<Stall> = Vec::new();
    for &(number, is_empty) in empty_seconds {
        let last = found.last_mut().filter(|last| last.first + last.seconds == number);
        match (is_empty, last) {
            (true, Some(last)) => last.seconds += 1,
            (true, None) => found.push(Stall { first: number, seconds: 1 }),
            (false, _) => {}
        }
    }
    found
}

/// Returns the full seconds of `point` with their numbers, and whether each belongs to a stall: none does where
/// seconds may be empty without the drive.
fn empty_seconds(point: &PointRun) -> Vec<(u32, bool)> {
    let full = point.point.seconds.full();
    let rates = full.rates(Metric::Iops);
    let filled = rates.iter().filter(|rate| **rate > 0.0).count();
    let usual = rates.iter().sum::<f64>() / filled.max(1) as f64;
    let may_stall = point.workload.never_pauses() && usual >= USUAL;
    full.numbers().zip(rates).map(|(number, rate)| (number, may_stall && rate == 0.0)).collect()
}

/// Returns for each full second of `point` whether it shows a speed: it belongs to no rare stall.
pub(crate) fn shows_speed(point: &PointRun) -> Vec<bool> {
    let seconds = empty_seconds(point);
    let are_rare = stalls(&seconds).len() <= RARE;
    seconds.into_iter().map(|(_, is_empty)| !(is_empty && are_rare)).collect()
}

/// Returns the longest time of `point` without a completed request in words, with its empty seconds:
/// `at least 4 s (the slowest request took 5.00 s)`. It may begin and end within the seconds around them, and
/// lasts no longer than the slowest request of a closed loop.
pub(crate) fn longest(point: &PointRun) -> Option<(f64, String)> {
    let seconds = metrics::whole(point, Metric::LongestStallS, Scope::All);
    let seconds = seconds.filter(|seconds| *seconds > 0.0)?;
    let slowest = metrics::whole(point, Metric::LatMaxUs, Scope::All);
    let slowest = slowest.filter(|slowest| *slowest >= seconds * 1e6);
    let slowest = slowest.map_or_else(String::new, |us| {
        format!(" (the slowest request took {})", number::latency(us))
    });
    Some((seconds, format!("at least {}{slowest}", number::duration(seconds))))
}

/// Returns a finding for each measured step of `test` with a stall, unless the run file has one: on a real
/// drive, a request of a second or longer is one already.
pub(crate) fn findings(test: &TestRun) -> Vec<StepFinding> {
    let is_known = |point: &PointRun| {
        let kinds = [FindingKind::Stalled, FindingKind::Hung];
        test.findings.iter().any(|one| {
            kinds.contains(&one.finding.kind) && one.step.as_ref() == Some(&point.point.label)
        })
    };
    test.points.iter().filter(|point| !is_known(point)).filter_map(finding).collect()
}

fn finding(point: &PointRun) -> Option<StepFinding> {
    let found = stalls(&empty_seconds(point));
    let first = found.iter().rev().max_by_key(|stall| stall.seconds)?.first;
    let (_, words) = longest(point)?;
    let mut text = format!("no request completed for {words}, from second {first} of the step on");
    if found.len() > 1 {
        text += &format!("; the longest of {} stalls", found.len());
    }
    let advice = "see the timeline: the drive, its link or the host stalled; the mean of the step \
                  contains the stall";
    Some(StepFinding {
        step: Some(sanitize::prose(&point.point.label)),
        metrics: vec![Metric::LongestStallS.key().to_owned()],
        finding: Finding::new(FindingKind::Stalled, Severity::Warning, text, advice),
    })
}
