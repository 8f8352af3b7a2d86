//! The headlines of a test as planned: which points they need, and what must be there for them.

use crate::headline::Headline;
use crate::plan::Test;
use crate::point::Point;
use crate::score::{PASSED, Score};

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
            true => headline,
            false => Headline::unmeasured(headline.metric, headline.n),
        }
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
