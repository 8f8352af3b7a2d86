//! Repetitions of a test, merged into one result.

use crate::headlines::missing;
use crate::model::metrics;
use crate::model::plan::measured_steps;
use crate::model::{PointRun, Repetition, StepFinding, TestRun};
use ssdgauge_core::{
    Contribution, Finding, FindingKind, Headline, Metric, Scope, Severity, Totals, chosen_headline,
    chosen_point,
};
use ssdgauge_statistics::repetition::{self, Stopping};
use std::collections::BTreeMap;

/// A metric with the requests that it counts.
type MetricKey = (Metric, Scope);

/// Merges the repetitions of a test: headlines become means, and each point takes the samples of
/// all repetitions from `totals`, which is keyed by the number of the measured step.
///
/// Returns `None` where `tests` is empty. `stopping` is what decided the number of repetitions.
pub(crate) fn merge(
    mut tests: Vec<TestRun>,
    totals: &BTreeMap<usize, Totals>,
    stopping: Stopping,
) -> Option<TestRun> {
    if tests.len() < 2 {
        return tests.pop();
    }
    choose_points(&mut tests);
    let between = intervals(&tests, stopping);
    let repetitions: Vec<Repetition> = tests
        .iter()
        .map(|test| Repetition { headline: test.headline.clone(), also: test.also.clone() })
        .collect();
    let complete = tests.iter().all(|test| test.complete);
    let findings: Vec<StepFinding> =
        tests.iter_mut().flat_map(|test| std::mem::take(&mut test.findings)).collect();
    let mut run = tests.swap_remove(middle(&repetitions));
    run.complete = complete;
    run.findings = findings;
    let headlines: Vec<Headline> = repetitions.iter().map(|each| each.headline.clone()).collect();
    run.headline = Headline::of_repetitions(&headlines, stopping).unwrap_or(run.headline);
    if run.headline.interval.ends().is_some() {
        missing::with_interval(&mut run.findings);
    }
    run.findings = distinct(run.findings);
    for (place, also) in run.also.iter_mut().enumerate() {
        let each: Vec<Headline> =
            repetitions.iter().filter_map(|each| each.also.get(place).cloned()).collect();
        *also = Headline::of_repetitions(&each, stopping).unwrap_or_else(|| also.clone());
    }
    run.findings.extend(drift(&headlines));
    run.repetitions = repetitions;
    merge_points(totals, between, &mut run);
    Some(run)
}

/// Gives the numbers that are those of one point, such as the best one, the same point in all `tests`: that which
/// is chosen by the means over them.
fn choose_points(tests: &mut [TestRun]) {
    let Some(rule) = tests.first().map(|test| test.test.clone()) else { return };
    for (place, score) in std::iter::once(&rule.score).chain(&rule.also).enumerate() {
        let number = |test: &TestRun| match place {
            0 => Some(test.headline.clone()),
            further => test.also.get(further - 1).cloned(),
        };
        let contribution = |test: &TestRun| {
            let points = test.points.iter().map(|point| &point.point);
            Some(Contribution::new(&test.test, score, points, &number(test)?))
        };
        let Some(each) = tests.iter().map(contribution).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let Some(chosen) = chosen_point(score, &each.iter().collect::<Vec<_>>()) else { continue };
        for test in tests.iter_mut() {
            let points = test.points.iter().map(|point| &point.point);
            let found = chosen_headline(&test.test, score, points, chosen);
            match (found, place) {
                (Some(found), 0) => test.headline = found,
                (Some(found), further) => test.also[further - 1] = found,
                (None, _) => {}
            }
        }
    }
}

/// Returns the index of the repetition with the median headline; its seconds are shown.
fn middle(repetitions: &[Repetition]) -> usize {
    let mut places: Vec<usize> = (0..repetitions.len()).collect();
    let value = |place: &usize| repetitions[*place].headline.value.unwrap_or(f64::INFINITY);
    places.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let known = repetitions.iter().filter(|each| each.headline.value.is_some()).count();
    places[known.saturating_sub(1) / 2]
}

/// Returns `findings` without those that several repetitions share word for word.
fn distinct(findings: Vec<StepFinding>) -> Vec<StepFinding> {
    let mut distinct: Vec<StepFinding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !distinct.contains(&finding) {
            distinct.push(finding);
        }
    }
    distinct
}

/// Returns the point of each measured step of `run`, in the order of the plan; `None` for a step
/// that it has not reached.
fn points_in_order(run: &TestRun) -> Vec<Option<usize>> {
    let mut next = 0;
    let place = |step: &ssdgauge_core::Step| {
        let point = &run.points.get(next)?.point;
        let is_here = point.label == step.label && point.position == step.position;
        is_here.then(|| {
            next += 1;
            next - 1
        })
    };
    measured_steps(&run.test).map(place).collect()
}

/// A 95 % interval between repetitions.
struct Between {
    /// Half of its width.
    half: f64,
    /// By how much the values without a start that flatters exceed those of all samples, in the mean.
    settled: f64,
}

/// Returns the 95 % intervals between `tests`, for each metric of each measured step that all of them
/// have.
fn intervals(tests: &[TestRun], stopping: Stopping) -> Vec<BTreeMap<MetricKey, Between>> {
    let orders: Vec<Vec<Option<usize>>> = tests.iter().map(points_in_order).collect();
    let steps = orders.iter().map(Vec::len).min().unwrap_or(0);
    let of_step = |order: usize| {
        let points: Option<Vec<&PointRun>> = tests
            .iter()
            .zip(&orders)
            .map(|(test, places)| places[order].map(|place| &test.points[place]))
            .collect();
        let points = points.unwrap_or_default();
        let keys = points.first().map(|point| metrics::shown(point)).unwrap_or_default();
        let between = |(metric, scope, ..): (Metric, Scope, String, Option<f64>)| {
            let values: Option<Vec<f64>> =
                points.iter().map(|point| metrics::value(point, metric, scope)).collect();
            let (low, high) = repetition::interval(&values?, stopping)?;
            let moved = points.iter().filter_map(|point| {
                let protocol = metrics::protocol(point, metric, scope)?;
                Some(metrics::value(point, metric, scope)? - protocol)
            });
            let settled = moved.sum::<f64>() / points.len() as f64;
            Some(((metric, scope), Between { half: (high - low) / 2.0, settled }))
        };
        keys.into_iter().filter_map(between).collect()
    };
    (0..steps).map(of_step).collect()
}

/// Gives every point of `run` the samples of all repetitions, and the intervals `between` them
/// around its own values.
fn merge_points(
    totals: &BTreeMap<usize, Totals>,
    between: Vec<BTreeMap<MetricKey, Between>>,
    run: &mut TestRun,
) {
    for (order, place) in points_in_order(run).into_iter().enumerate() {
        let Some(point) = place.and_then(|place| run.points.get_mut(place)) else { continue };
        if let Some(all) = totals.get(&order) {
            point.point.totals = all.clone();
        }
        let around = |(key, Between { half, settled }): (&MetricKey, &Between)| {
            let value = metrics::whole(point, key.0, key.1)? + settled;
            Some((*key, (value - half, value + half)))
        };
        let intervals = between.get(order).into_iter().flatten().filter_map(around).collect();
        point.between = Some(intervals);
    }
}

/// Returns a finding where the result drifts over the repetitions.
fn drift(headlines: &[Headline]) -> Option<StepFinding> {
    let values: Option<Vec<f64>> = headlines.iter().map(|headline| headline.value).collect();
    let within: Vec<Option<(f64, f64)>> =
        headlines.iter().map(|headline| headline.interval.ends()).collect();
    let values = values?;
    let share = repetition::drift(&values, &within)?;
    let way = if share > 0.0 { "rises" } else { "falls" };
    Some(StepFinding {
        step: None,
        metrics: vec![headlines.first()?.metric.key().to_owned()],
        finding: Finding::new(
            FindingKind::OrderEffect,
            Severity::Warning,
            format!(
                "the result {way} monotonically over {} repetitions, by {:.1} % of the mean in \
                 total: they do not repeat one state",
                values.len(),
                share.abs() * 100.0
            ),
            "check temperature, drive state and other load on the host; the interval between \
             repetitions counts this drift as random variation",
        ),
    })
}
