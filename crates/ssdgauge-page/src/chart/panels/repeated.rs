//! Equal repetitions of one load: one value with its spread, in place of a flat line.

use ssdgauge_analysis::drives::report_drives::ReportDrives;
use ssdgauge_analysis::drives::run_lines::{self, LineOver};
use ssdgauge_analysis::groups::group::Group;
use ssdgauge_analysis::groups::measure::Measure;
use ssdgauge_analysis::groups::swept::{self, Swept};
use ssdgauge_analysis::model::metrics;
use ssdgauge_core::{Metric, Scope, ScoreFamily};
use ssdgauge_statistics::difference::class::FEWEST;
use ssdgauge_statistics::difference::{NOISE, are_apart};
use ssdgauge_statistics::summary;

/// Equal repetitions.
#[derive(Clone, Debug)]
pub(crate) struct Repeated {
    /// How many, and how equal, in words.
    pub(crate) words: String,
    /// What the value is of them: the `mean` where that is the result of the test, else the `median`.
    pub(crate) of: &'static str,
    /// Their mean or median.
    pub(crate) value: f64,
    /// Those of other drives.
    pub(crate) others: Vec<f64>,
    /// The metric.
    pub(crate) metric: Metric,
}

/// Returns the repetitions of the only drive of `group`; `None` where they differ after the first.
pub(crate) fn of_group(
    group: &Group<'_>,
    drives: &ReportDrives,
    measure: Measure,
) -> Option<Repeated> {
    let [member] = group.members.as_slice() else { return None };
    if drives.count() > 1 || swept::common(group).swept != Swept::Repeat {
        return None;
    }
    let metric = measure.metric_of_steps(&member.test.test);
    let value = |point| metrics::value(point, metric, Scope::All);
    let values: Vec<f64> = member.test.points.iter().map(value).collect::<Option<_>>()?;
    let (first, later) = values.split_first()?;
    let low = later.iter().copied().fold(f64::INFINITY, f64::min);
    let high = later.iter().copied().fold(0.0, f64::max);
    if later.len() < 2 || low <= 0.0 || are_apart(low, high, NOISE) {
        return None;
    }
    let percent = (1_000.0 * (high / low - 1.0)).ceil().max(1.0) / 10.0;
    let after = if are_apart(*first, low, percent / 100.0) { " after the first" } else { "" };
    let words = format!("{} repetitions, equal to within {percent}\u{a0}%{after}", values.len());
    let is_of_score = metric == member.test.test.score.metric().rate();
    let peers = drives.peers().filter(|_| is_of_score);
    let lines = peers.map(|peers| peers.lines(&run_lines::key(*member, LineOver::Steps)));
    let test = member.test;
    let is_mean = metric == test.headline.metric && test.test.score.family() == ScoreFamily::Mean;
    let of = if is_mean { "mean" } else { "median" };
    let centre = |values: Vec<f64>| match is_mean {
        true => Some(values.iter().sum::<f64>() / values.len().max(1) as f64),
        false => summary::median(values),
    };
    let of_line = |line: &Vec<(f64, f64)>| centre(line.iter().map(|place| place.1).collect());
    let mut others: Vec<f64> = lines.unwrap_or_default().iter().filter_map(of_line).collect();
    if others.len() < FEWEST {
        others.clear();
    }
    others.sort_by(f64::total_cmp);
    if metric.more_is_better() {
        others.reverse();
    }
    let result = test.headline.value.filter(|_| is_mean);
    let value = result.or_else(|| centre(values))?;
    Some(Repeated { words, of, value, others, metric })
}
