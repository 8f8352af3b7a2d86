//! The speed of a fill: that of one level between its falls, never a mean across a fall.

use crate::headlines::missing;
use crate::model::{PointRun, TestRun};
use crate::steps::lasting_level::{is_of_one_level, levels, longest};
use crate::steps::slc_cache;
use crate::text::number;
use ssdgauge_core::{ConfidenceInterval, Direction, Headline, Metric, ScoreFamily, WithinRun};

/// Gives the result of `test`, a fill, the speed of one level where its rule counts a fall: the longest of the levels
/// that it counts. The value of the rule stays the one of the protocol.
pub(crate) fn settle(test: &mut TestRun) {
    let Some(headline) = of_one_level(test) else { return };
    if headline.interval.ends().is_some() {
        missing::with_interval(&mut test.findings);
    }
    test.headline = headline;
}

fn of_one_level(test: &TestRun) -> Option<Headline> {
    let (point, headline) = (slc_cache::sequential_write(test)?, &test.headline);
    let is_rate = headline.metric == Metric::ThroughputMbS && test.repetitions.is_empty();
    if !is_rate || !slc_cache::fills(point) {
        return None;
    }
    let from = counted_from(test, point)?;
    let counts_fall = point.falls.iter().any(|fall| fall.edge.bytes > from);
    let level = longest(levels(point).filter(|level| counts_fall && level.until > from))?;
    let n = level.seconds().round() as usize;
    let mean = level.fall.edge.after / 1e6;
    let interval = match level.fall.after_interval {
        Some((low, high)) => ConfidenceInterval::WithinRun(WithinRun {
            mean,
            low: low / 1e6,
            high: high / 1e6,
            cut: 0,
            n,
            of_what_was_seen: false,
        }),
        None => ConfidenceInterval::TooFewSeconds,
    };
    let protocol = headline.protocol.or(headline.value);
    Some(Headline { metric: headline.metric, value: Some(mean), protocol, n: n as u64, interval })
}

/// Returns the bytes written before the seconds that the result of `test` counts.
fn counted_from(test: &TestRun, point: &PointRun) -> Option<u64> {
    let full = point.point.seconds.full();
    let written =
        |second: ssdgauge_core::Totals| second.directions[Direction::Write as usize].bytes;
    let seconds = match test.test.score.mean_of_last() {
        Some((_, window)) => full.len() - window.select(point.point.seconds.full())?.len(),
        None if test.test.score.family() == ScoreFamily::Mean => {
            test.headline.interval.within_run().map_or(0, |within| within.cut)
        }
        None => return None,
    };
    Some(full.totals().take(seconds).map(written).sum())
}

/// Returns a remark with the value of the protocol where the result of `test` is the speed of one level and the rule
/// of the test counts a fall: `140 MB/s in the last 16 GB, across a fall`.
pub(crate) fn remark(test: &TestRun) -> Option<String> {
    let (value, protocol) = (test.headline.value?, test.headline.protocol?);
    let is_of_level = is_of_one_level(test);
    let [own, protocol] = [value, protocol].map(|one| number::measured(one, test.headline.metric));
    let part = test.test.score.mean_of_last().map_or_else(
        || "over the whole fill".to_owned(),
        |(_, window)| format!("in the {}", number::spaced(&window.to_string())),
    );
    (is_of_level && own != protocol).then(|| format!("{protocol} {part}, across a fall"))
}
