//! What belongs beside a headline: the ladder of a knee, the other mean.

use crate::figure::fill;
use crate::missing;
use crate::number;
use crate::rests;
use crate::run::TestRun;
use crate::settings;
use ssdgauge_core::statistics::consistency::{self, Consistency};
use ssdgauge_core::statistics::{steady, summary};
use ssdgauge_core::{Bytes, Metric, Nanos, Scope, Score, Totals, Window};

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
        Score::MeanOfLast { metric, window } | Score::MeanOverSigmaOfLast { metric, window } => {
            over_last(test, metric, window)
        }
        Score::At { .. } | Score::HighestBorne => Vec::new(),
    };
    remarks.extend(also(test));
    remarks.extend(cache(test));
    remarks
}

/// How the last part of a single step varies, and whether it is steady by the SNIA rule, which
/// knows no fixed window.
fn over_last(test: &TestRun, metric: Metric, window: Window) -> Vec<String> {
    let [point] = test.points.as_slice() else { return Vec::new() };
    let full: Vec<&Totals> =
        point.point.seconds.iter().filter(|second| second.elapsed == Nanos::SECOND).collect();
    let rate = |second: &&Totals| second.value(metric, Scope::All).unwrap_or(0.0);
    let mut remarks = Vec::new();
    let last: Option<Vec<f64>> = window.of(&full).map(|last| last.iter().map(rate).collect());
    let kind = last.and_then(|last| consistency::classify(&last));
    remarks.extend(kind.map(|kind| match kind {
        Consistency::Steady => format!("steady in the {window}, in samples of 1 s"),
        Consistency::Periodic { period, depth } => format!(
            "drops of {:.0} % every {} s in the {window}, in samples of 1 s",
            depth * 100.0,
            number::text(period)
        ),
        Consistency::Wide => format!("constantly wide in the {window}, in samples of 1 s"),
    }));
    let minutes: Vec<f64> =
        full.chunks_exact(60).map(|minute| minute.iter().map(rate).sum::<f64>() / 60.0).collect();
    if minutes.len() >= steady::WINDOW {
        remarks.push(match steady::find(&minutes) {
            Some((round, _)) => {
                format!("steady by the SNIA rule after {} rounds of a minute", round + 1)
            }
            None => format!("not steady by the SNIA rule in {} rounds of a minute", minutes.len()),
        });
    }
    remarks
}

/// The end of the fast cache, where a single step writes sequentially.
fn cache(test: &TestRun) -> Option<String> {
    let edge = fill::edge(fill::sequential_write(test)?)?;
    Some(format!(
        "fast cache of {} ± {}: {:.0} MB/s before its end, {:.0} MB/s behind",
        Bytes(edge.bytes).about(),
        Bytes(edge.uncertainty).about(),
        edge.before / 1e6,
        edge.behind / 1e6
    ))
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
    let (rungs, found) = rests::ladder(test, metric)?;
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
