//! What belongs beside a headline: the ladder of a knee, the other mean.

use crate::missing;
use crate::number;
use crate::run::TestRun;
use crate::settings;
use ssdgauge_core::statistics::{knee, summary};
use ssdgauge_core::{Metric, Scope, Score};

/// Returns what a reader must know beside the headline of `test`; empty where it has no value.
pub(crate) fn of(test: &TestRun) -> Vec<String> {
    if test.headline.value.is_none() {
        return Vec::new();
    }
    let mut remarks: Vec<String> = match test.test.score {
        Score::Knee(metric) => knee_words(test, metric).into_iter().collect(),
        Score::MeanOf(metric) | Score::MeanAt { metric, .. } => {
            harmonic(test, metric).into_iter().collect()
        }
        Score::BestOf(metric) => best(test, metric).into_iter().collect(),
        Score::At { .. } | Score::MeanOfLast { .. } | Score::MeanOverSigmaOfLast { .. } => {
            Vec::new()
        }
    };
    remarks.extend(also(test));
    remarks
}

/// The further numbers of the protocol from the same samples.
fn also(test: &TestRun) -> impl Iterator<Item = String> {
    test.test.also.iter().zip(&test.also).filter_map(|(score, headline)| {
        let value = number::with_unit(headline.value?, headline.metric);
        Some(format!(
            "{}: {value} ({})",
            headline.metric.title(),
            settings::rule(&test.test, score)
        ))
    })
}

/// The ladder and the interpolated depth, because the rule is fragile where throughput still
/// creeps up at the end of the ladder (definition D7).
fn knee_words(test: &TestRun, metric: Metric) -> Option<String> {
    let rungs: Option<Vec<knee::Rung>> = test
        .points
        .iter()
        .map(|point| {
            let value = missing::value(point, metric, Scope::All)?;
            let depth = point.point.position as u32;
            Some(knee::Rung { depth, value, interval: (value, value) })
        })
        .collect();
    let rungs = rungs?;
    let found = knee::find(&rungs)?;
    let ladder: Vec<String> = rungs.iter().map(|rung| rung.depth.to_string()).collect();
    let end = match rungs.last() {
        Some(last) if last.depth == found.peak_depth => {
            "; the best is the last, so the peak may lie beyond the ladder"
        }
        Some(_) | None => "",
    };
    Some(format!(
        "reached at QD{}, interpolated at {}; best at QD{}; ladder {}{end}",
        found.depth,
        number::text(found.interpolated),
        found.peak_depth,
        ladder.join(", ")
    ))
}

/// The harmonic mean, which is the rate at which equal parts take the same total time (D5).
fn harmonic(test: &TestRun, metric: Metric) -> Option<String> {
    let points =
        || test.points.iter().filter(|point| test.test.score.rests_on(point.point.position));
    if !metric.more_is_better() || points().count() < 2 {
        return None;
    }
    let values: Option<Vec<f64>> =
        points().map(|point| missing::value(point, metric, Scope::All)).collect();
    let mean = summary::harmonic_mean(&values?)?;
    Some(format!("harmonic mean {}", number::with_unit(mean, metric)))
}

fn best(test: &TestRun, metric: Metric) -> Option<String> {
    let value = test.headline.value?;
    let same =
        |point: &&crate::run::PointRun| missing::value(point, metric, Scope::All) == Some(value);
    let point = test.points.iter().find(same)?;
    (test.points.len() > 1).then(|| format!("at {}", crate::clean::prose(&point.point.label)))
}
