//! The headline of a test: its number by its rule, and what must be there for it.

use crate::headlines::fill_speed;
use crate::headlines::missing;
use crate::model::{PointRun, RecordedRepetition, TestRun};
use crate::steps::stalls;
use crate::steps::state_check;
use crate::steps::steady_state;
use crate::steps::step_levels;
use ssdgauge_core::{Headline, Point, Ratio, Score, Test};

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
        separation: None,
    };
    run.explain();
    run
}

/// Returns the headline, without a value where steps are missing that it needs.
fn headline(test: &Test, score: &Score, points: &[PointRun], is_searched: bool) -> Headline {
    test.headline(score, points.iter().map(|point| &point.point), is_searched)
}

impl TestRun {
    /// Computes the headline again, after the rule changed.
    pub(crate) fn recompute(&mut self) {
        let is_searched = self.test.search.is_none() || self.complete;
        self.headline = headline(&self.test, &self.test.score, &self.points, is_searched);
        // The points have the samples of all repetitions; what each came to is of the old rule.
        self.repetitions.clear();
        self.findings.retain(|of_step| of_step.metrics.is_empty());
        self.explain();
        fill_speed::settle(self);
    }

    /// Adds a finding for everything that is missing.
    fn explain(&mut self) {
        let missing = missing::findings(self);
        self.findings.extend(missing);
        self.findings.extend(steady_state::left_findings(self));
        self.findings.extend(state_check::changed_findings(self));
        self.findings.extend(stalls::findings(self));
        step_levels::annotate(self);
    }

    /// Returns the points that the headline rests on; `None` where one of them is missing.
    pub fn scored_points(&self) -> Option<Vec<&Point>> {
        self.points_for(&self.test.score)
    }

    /// Returns the points that a number by `score` rests on; `None` where one of them is missing.
    pub(crate) fn points_for(&self, score: &Score) -> Option<Vec<&Point>> {
        let points = self.points.iter().map(|point| &point.point);
        let (points, whole) = self.test.scored_points(score, points);
        whole.then_some(points)
    }

    /// Returns how many times the headline of `other` this test has; `None` where one of them has
    /// none. Where one was repeated the interval is that between repetitions, which one that was not widens by its own
    /// ([`Ratio::of_repetitions`]), else that over the seconds of the runs.
    pub(crate) fn over(&self, other: &TestRun) -> Option<Ratio> {
        fn number(test: &TestRun) -> Number<'_> {
            Number {
                headline: test.headline.clone(),
                each: test.repetitions.iter().map(|each| each.headline.clone()).collect(),
                points: test.scored_points(),
            }
        }
        number(self).over(&number(other), &self.test.score)
    }

    /// Returns how many times the further number by `score` of `other` this test has, as
    /// [`TestRun::over`] does.
    pub(crate) fn also_over(&self, other: &TestRun, score: &Score) -> Option<Ratio> {
        fn number<'a>(test: &'a TestRun, score: &Score) -> Option<Number<'a>> {
            let place = test.test.also.iter().position(|also| also == score)?;
            let each = test.repetitions.iter().filter_map(|each| each.also.get(place).cloned());
            Some(Number {
                headline: test.also.get(place)?.clone(),
                each: each.collect(),
                points: test.points_for(score),
            })
        }
        number(self, score)?.over(&number(other, score)?, score)
    }
}

/// Returns the second headline divided by the first, each with those of its repetitions, as [`TestRun::over`] does for
/// results whose samples are not available.
pub(crate) fn ratio_of(
    (first, each_first): (&Headline, Vec<Headline>),
    (second, each_second): (&Headline, Vec<Headline>),
) -> Option<Ratio> {
    let number =
        |headline: &Headline, each| Number { headline: headline.clone(), each, points: None };
    number(second, each_second).over(&number(first, each_first), &Score::MeanOf(first.metric))
}

/// A number of a test with everything that its interval can come from.
struct Number<'a> {
    headline: Headline,
    /// The same number of each repetition; empty where the test was carried out once.
    each: Vec<Headline>,
    /// The points that it rests on; `None` where one of them is missing.
    points: Option<Vec<&'a Point>>,
}

impl Number<'_> {
    fn over(&self, other: &Number<'_>, score: &Score) -> Option<Ratio> {
        let (value, others) = (self.headline.value?, other.headline.value?);
        let each = |number: &Number<'_>| match number.each.is_empty() {
            true => vec![number.headline.clone()],
            false => number.each.clone(),
        };
        if let Some(ratio) = Ratio::of_repetitions(&each(other), &each(self)) {
            return Some(ratio);
        }
        if self.each.is_empty() && other.each.is_empty() {
            return Ratio::of_headlines(&other.headline, &self.headline);
        }
        let (others_points, points) = (other.points.as_ref()?, self.points.as_ref()?);
        let ratio = Ratio::from_points(score, others_points, points)?;
        // One of the two was repeated, and its number is the mean of all repetitions. A ratio with an
        // interval is that of the seconds of the interval instead, so that the interval contains it.
        let is_whole = ratio.interval.is_some();
        Some(if is_whole { ratio } else { Ratio { value: value / others, ..ratio } })
    }
}
