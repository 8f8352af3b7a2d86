//! The headlines of a test as planned: which points they need, and what must be there for them.

use crate::plan::{Action, Test};
use crate::score::headline::Headline;
use crate::score::point::Point;
use crate::score::{PASSED, Score, ScoreFamily};
use crate::units::Bytes;
use ssdgauge_statistics::repetition::{self, Stopping};

/// The minimum number of equal steps that are a sample. Chosen: the interval of two is 12.7 standard errors wide.
const FEWEST_EQUAL: usize = 3;

impl Test {
    /// Returns the number by `score` from the `points` that were measured, without a value where
    /// points are missing that it needs. `is_searched` says whether the search of the test has ended,
    /// true where it has none.
    pub fn headline<'a>(
        &self,
        score: &Score,
        points: impl Iterator<Item = &'a Point>,
        is_searched: bool,
    ) -> Headline {
        let (used, whole) = self.scored_points(score, points);
        let whole = whole && is_searched;
        let headline = Headline::from_points(score, &used);
        let finite = headline.value.is_some_and(f64::is_finite);
        match whole && finite {
            true => match self.between_equal_steps(score, &used) {
                Some((low, high)) => headline.between(low, high),
                None => headline,
            },
            false => Headline::unmeasured(headline.metric, headline.n),
        }
    }

    /// Returns the 95 % interval of a mean over steps that are equal, such as 32 bursts: they are a sample,
    /// and its variation is more than that of the seconds of one of them. `None` where a step has fewer
    /// than [`FEWEST_EQUAL`] of its kind.
    ///
    /// Several kinds, such as two sizes, are combined as independent means (MOVER).
    fn between_equal_steps(&self, score: &Score, used: &[&Point]) -> Option<(f64, f64)> {
        if score.family() != ScoreFamily::Mean {
            return None;
        }
        let mut kinds: Vec<(Action, Vec<f64>)> = Vec::new();
        let needed = self.measured_steps().filter(|(_, step)| score.needs(step.position));
        for ((_, step), point) in needed.zip(used) {
            let action = anywhere(&step.action);
            let is_here = step.label == point.label && step.position == point.position;
            let value = point.score(score).filter(|_| is_here)?;
            match kinds.iter_mut().find(|(kind, _)| *kind == action) {
                Some((_, values)) => values.push(value),
                None => kinds.push((action, vec![value])),
            }
        }
        let n = used.len() as f64;
        let (mut mean, mut squares) = (0.0, 0.0);
        for (_, values) in &kinds {
            if values.len() < FEWEST_EQUAL {
                return None;
            }
            let (low, high) = repetition::interval(values, Stopping::Fixed)?;
            let share = values.len() as f64 / n;
            mean += share * (low + high) / 2.0;
            squares += (share * (high - low) / 2.0).powi(2);
        }
        let half = squares.sqrt();
        Some((mean - half, mean + half)).filter(|_| !kinds.is_empty())
    }

    /// Returns those of `points` that `score` rests on, and whether none of them is missing.
    ///
    /// The other points neither move the number nor carry seconds that it rests on.
    pub fn scored_points<'a>(
        &self,
        score: &Score,
        points: impl Iterator<Item = &'a Point>,
    ) -> (Vec<&'a Point>, bool) {
        let needed = self.measured_steps().filter(|(_, step)| score.needs(step.position));
        let planned = needed.count();
        let used: Vec<&Point> = points.filter(|point| score.needs(point.position)).collect();
        // Where one of two trials passed, the answer is a range from 0 on.
        let passed = |point: &&Point| point.totals.reading(PASSED).is_some_and(|value| value > 0.0);
        let whole = match self.search {
            // A search never visits every load, and ends with the first that passes in full length.
            Some(_) => used.iter().any(passed),
            None => !used.is_empty() && used.len() == planned,
        };
        (used, whole)
    }
}

/// Returns `action` without the place of its data: each of several bursts has a part of the drive.
fn anywhere(action: &Action) -> Action {
    let mut action = action.clone();
    if let Action::Run { workload, .. } = &mut action {
        workload.streams.iter_mut().for_each(|stream| stream.offset = Bytes(0));
    }
    action
}
