//! Numbers of repeated tests that are those of one point, such as the best one: the repetitions choose it
//! together.
//!
//! The best point of each repetition by itself is the best of noisy values: its mean over the repetitions is
//! that of no point, and the larger the noisier the drive is.

use crate::plan::Test;
use crate::score::headline::Headline;
use crate::score::point::Point;
use crate::score::{Score, ScoreFamily};
use crate::totals::metric::Metric;
use crate::totals::scope::Scope;
use ssdgauge_statistics::{knee, summary};

/// What one repetition of a test contributes to a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Contribution {
    /// The number of the repetition by itself; `None` where it was not measured.
    value: Option<f64>,
    /// The points among which the score chooses one; empty for a score that does not choose, and where the
    /// repetition has no value.
    candidates: Vec<Candidate>,
}

/// A point among which a score chooses.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    position: f64,
    value: f64,
    /// Completed requests per second, and their mean latency, for the knee of a load.
    rate: Option<f64>,
    latency: Option<f64>,
}

impl Contribution {
    /// Returns what the `points` of one repetition of `test` contribute to its number by `score`, which is
    /// `headline` in this repetition.
    pub fn new<'a>(
        test: &Test,
        score: &Score,
        points: impl Iterator<Item = &'a Point>,
        headline: &Headline,
    ) -> Contribution {
        let candidates = match headline.value.is_some() && chooses(score) {
            true => candidates(score, &test.scored_points(score, points).0),
            false => None,
        };
        Contribution { value: headline.value, candidates: candidates.unwrap_or_default() }
    }

    /// Returns the number of the repetition where the point `chosen` has been chosen, if any.
    pub fn value(&self, chosen: Option<usize>) -> Option<f64> {
        match chosen.and_then(|place| self.candidates.get(place)) {
            Some(candidate) => Some(candidate.value),
            None => self.value,
        }
    }
}

/// Returns the place, among the points that `score` needs, of the one that the means over all repetitions
/// choose; `None` for a score that does not choose one, and where a repetition has other points.
pub fn chosen_point(score: &Score, each: &[&Contribution]) -> Option<usize> {
    let first = each.first()?.candidates.as_slice();
    if first.is_empty() || each.iter().any(|one| one.candidates.len() != first.len()) {
        return None;
    }
    let means = |of: &dyn Fn(&Candidate) -> Option<f64>| -> Option<Vec<f64>> {
        let mean = |place: usize| {
            let values: Option<Vec<f64>> =
                each.iter().map(|one| of(&one.candidates[place])).collect();
            summary::mean(&values?)
        };
        (0..first.len()).map(mean).collect()
    };
    let values = means(&|one| Some(one.value))?;
    match score.family() {
        ScoreFamily::Knee if score.depth_knee().is_none() => {
            knee::of_load(&means(&|one| one.rate)?, &means(&|one| one.latency)?)
        }
        ScoreFamily::Knee => {
            let point = |(one, value): (&Candidate, &f64)| knee::SweepPoint {
                depth: one.position as u32,
                value: *value,
                interval: (*value, *value),
            };
            let sweep: Vec<knee::SweepPoint> = first.iter().zip(&values).map(point).collect();
            let depth = knee::find(&sweep)?.depth;
            sweep.iter().position(|one| one.depth == depth)
        }
        ScoreFamily::Point => {
            let is_more = score.metric().more_is_better();
            let order = |a: &usize, b: &usize| match is_more {
                true => values[*a].total_cmp(&values[*b]).then(b.cmp(a)),
                false => values[*b].total_cmp(&values[*a]).then(b.cmp(a)),
            };
            (0..values.len()).max_by(order)
        }
        ScoreFamily::Mean | ScoreFamily::LastPart | ScoreFamily::HighestLoad => None,
    }
}

/// Returns the number of `points`, those of one repetition of `test`, where the point `chosen` of those that
/// `score` needs has been chosen.
pub fn chosen_headline<'a>(
    test: &Test,
    score: &Score,
    points: impl Iterator<Item = &'a Point>,
    chosen: usize,
) -> Option<Headline> {
    let point = *test.scored_points(score, points).0.get(chosen)?;
    Some(Headline::from_points(&Score::BestOf(score.metric()), &[point]))
}

/// Returns whether the number by `score` is that of one of several points. The highest load that passes is a
/// load, and not a measured value.
fn chooses(score: &Score) -> bool {
    match score.family() {
        ScoreFamily::Point => score.position().is_none() && score.stream().is_none(),
        ScoreFamily::Knee => true,
        ScoreFamily::Mean | ScoreFamily::LastPart | ScoreFamily::HighestLoad => false,
    }
}

fn candidates(score: &Score, points: &[&Point]) -> Option<Vec<Candidate>> {
    let candidate = |point: &&Point| {
        Some(Candidate {
            position: point.position,
            value: point.score(score).filter(|value| value.is_finite())?,
            rate: point.value(Metric::Iops, Scope::All),
            latency: point.value(Metric::LatMeanUs, Scope::All),
        })
    };
    points.iter().map(candidate).collect()
}
