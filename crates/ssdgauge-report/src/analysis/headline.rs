//! The headline of a test: its number by its rule, and what must be there for it.

use crate::analysis::{missing, state_check, steady_state, step_levels};
use crate::model::plan::measured_steps;
use crate::model::{PointRun, RecordedRepetition, TestRun};
use ssdgauge_core::{Headline, PASSED, Point, Ratio, Score, Test};

/// Returns the result of one repetition: its headlines, and a finding for everything missing.
pub(crate) fn score(recorded: RecordedRepetition) -> TestRun {
    let RecordedRepetition {
        test,
        points,
        checks,
        planned,
        findings,
        complete,
        is_searched,
        tracked,
    } = recorded;
    let mut run = TestRun {
        headline: headline(&test, &test.score, &points, is_searched),
        also: test.also.iter().map(|also| headline(&test, also, &points, is_searched)).collect(),
        test,
        points,
        checks,
        planned,
        findings,
        complete,
        repetitions: Vec::new(),
        tracked,
    };
    run.explain();
    run
}

/// Returns the headline, without a value where steps are missing that it needs.
fn headline(test: &Test, score: &Score, points: &[PointRun], is_searched: bool) -> Headline {
    let (used, whole) = scored_points(test, score, points);
    let whole = whole && is_searched;
    let headline = Headline::from_points(score, &used);
    let finite = headline.value.is_some_and(f64::is_finite);
    match whole && finite {
        true => headline,
        false => Headline { value: None, low: None, high: None, ..headline },
    }
}

/// Returns the points that a score rests on, and whether none of them is missing.
///
/// The other points neither move the number nor carry seconds that it rests on.
fn scored_points(test: &Test, score: &Score, points: &[PointRun]) -> (Vec<Point>, bool) {
    let planned = measured_steps(test).filter(|step| score.needs(step.position)).count();
    let used = points.iter().map(|point| &point.point);
    let used: Vec<Point> = used.filter(|point| score.needs(point.position)).cloned().collect();
    let passed = |point: &Point| point.totals.reading(PASSED).is_some_and(|value| value > 0.5);
    let whole = match test.search {
        // A search never visits every load, and ends with the first that passes in full length.
        Some(_) => used.iter().any(passed),
        None => !used.is_empty() && used.len() == planned,
    };
    (used, whole)
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
        let missing = missing::findings(self);
        self.findings.extend(missing);
        self.findings.extend(steady_state::left_findings(self));
        self.findings.extend(state_check::changed_findings(self));
        step_levels::annotate(self);
    }

    /// Returns the points that the headline rests on; `None` where one of them is missing.
    pub fn scored_points(&self) -> Option<Vec<Point>> {
        self.points_for(&self.test.score)
    }

    /// Returns the points that a number by `score` rests on; `None` where one of them is missing.
    pub(crate) fn points_for(&self, score: &Score) -> Option<Vec<Point>> {
        let (points, whole) = scored_points(&self.test, score, &self.points);
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
            let ratio = Ratio::from_points(
                &self.test.score,
                &other.scored_points()?,
                &self.scored_points()?,
            )?;
            // Where one of the two was repeated, its headline is the mean of all repetitions.
            let is_one = self.repetitions.is_empty() && other.repetitions.is_empty();
            Some(if is_one { ratio } else { Ratio { value: value / others, ..ratio } })
        };
        repeated.or_else(once)
    }
}
