//! The words of 95 % intervals: what they come from, and why there is none.

use crate::text::number;
use ssdgauge_core::{ConfidenceInterval, Headline, Metric, rounded};
use ssdgauge_statistics::difference::{NOISE, are_apart};

/// What the intervals of a report with several runs come from.
pub const BASIS: &str = "over the seconds of its run, or between repetitions where a run has them";

/// The mark of a value without the faster start of its load, where the value with it differs.
pub const FLATTERED: &str = "†";

/// What [`FLATTERED`] means.
pub const FLATTERED_WORDS: &str =
    "† excludes the faster start of the load, which the rule of the test includes";

/// Returns the heading of a column of intervals.
pub fn heading(is_repeated: bool) -> &'static str {
    if is_repeated { "95 %, repetitions" } else { "95 %, one run" }
}

/// Returns both ends of the interval of a value of `metric`, or `still settling`; `None` where there is
/// no interval for another reason. Latencies have their unit; it is that of the value elsewhere.
pub fn words(interval: &ConfidenceInterval, metric: Metric) -> Option<String> {
    match interval {
        ConfidenceInterval::StillSettling => Some("still settling".to_owned()),
        ConfidenceInterval::WithinRun(_)
        | ConfidenceInterval::BetweenRepetitions { .. }
        | ConfidenceInterval::OfCounters { .. }
        | ConfidenceInterval::OfTrials { .. }
        | ConfidenceInterval::TooFewSeconds
        | ConfidenceInterval::RestsOnFewSeconds
        | ConfidenceInterval::Undefined => {
            let (low, high) = interval.ends()?;
            Some(rounded::range(&end(low, metric), &end(high, metric)))
        }
    }
}

/// Returns the value of `headline` with its unit: both ends where trials of a load disagree, such as `6 to
/// 7×`; a dash without a value.
pub fn headline(headline: &Headline) -> String {
    let metric = headline.metric;
    match (headline.value, headline.interval) {
        (None, _) => number::NOTHING.to_owned(),
        (Some(_), ConfidenceInterval::OfTrials { low, high }) => range(low, high, metric),
        (
            Some(value),
            ConfidenceInterval::WithinRun(_)
            | ConfidenceInterval::BetweenRepetitions { .. }
            | ConfidenceInterval::OfCounters { .. }
            | ConfidenceInterval::StillSettling
            | ConfidenceInterval::TooFewSeconds
            | ConfidenceInterval::RestsOnFewSeconds
            | ConfidenceInterval::Undefined,
        ) => match number::has_own_unit(value, metric) && !metric.is_latency() {
            // As the ends of its interval have it: below 0.1 W in mW.
            true => number::measured(value, metric),
            false => metric.about(value),
        },
    }
}

/// The events of which a step has to show so many before the interval of its mean holds: with fewer, 34 to
/// 86 % of the intervals contain the mean (`docs/explanation/intervals.md`).
const FEWEST_EVENTS: usize = 6;

/// Returns what the intervals over the seconds of `headlines` do not cover, by the one with the fewest
/// seconds; `None` where there is no such interval.
pub fn unseen<'a>(headlines: impl Iterator<Item = &'a Headline>) -> Option<String> {
    let (fewest, apart) = rarest(headlines)?;
    Some(format!(
        "An interval over seconds describes the seconds measured. The shortest test with one, {fewest} s, says nothing \
         about stalls or cycles rarer than one in {apart} s, nor about a slow drift; a percentile from less \
         than an hour describes that time only."
    ))
}

/// Returns the same in few words, for a card.
pub fn unseen_in_short<'a>(headlines: impl Iterator<Item = &'a Headline>) -> Option<String> {
    let (fewest, apart) = rarest(headlines)?;
    Some(format!(
        "intervals describe the seconds measured: the shortest test with one, {fewest} s, says nothing about stalls \
         rarer than one in {apart} s, nor about a slow drift"
    ))
}

/// Returns the minimum number of seconds of an interval over seconds, and how far apart the events are at most that it
/// covers.
fn rarest<'a>(headlines: impl Iterator<Item = &'a Headline>) -> Option<(usize, usize)> {
    let seconds = headlines.filter_map(|headline| headline.interval.within_run());
    let fewest = seconds.map(|within| within.n).min()?;
    Some((fewest, (fewest / FEWEST_EVENTS).max(1)))
}

/// Returns two loads as a range: `6 to 7×`.
pub fn range(low: f64, high: f64, metric: Metric) -> String {
    let low = metric.about(low);
    format!("{} to {}", low.trim_end_matches('×'), metric.about(high))
}

/// Returns the loads between which the trials of `headline` disagree; `None` where they agree.
pub(crate) fn range_of_trials(headline: &Headline) -> Option<(f64, f64)> {
    headline.interval.ends().filter(|_| is_of_trials(headline) && headline.value.is_some())
}

/// Returns whether the value of `headline` is a range, because trials of one load disagree.
pub fn is_of_trials(headline: &Headline) -> bool {
    matches!(headline.interval, ConfidenceInterval::OfTrials { .. })
}

/// Returns the value of `headline` as [`headline`] does, for a page: with spaces at which no line breaks;
/// `None` without a value.
pub fn headline_measured(headline: &Headline) -> Option<String> {
    let (value, metric) = (headline.value?, headline.metric);
    Some(match headline.interval {
        ConfidenceInterval::OfTrials { low, high } => {
            let low = number::measured(low, metric);
            let low = low.trim_end_matches('×');
            format!("{low}\u{a0}to\u{a0}{}", number::measured(high, metric))
        }
        ConfidenceInterval::WithinRun(_)
        | ConfidenceInterval::BetweenRepetitions { .. }
        | ConfidenceInterval::OfCounters { .. }
        | ConfidenceInterval::StillSettling
        | ConfidenceInterval::TooFewSeconds
        | ConfidenceInterval::RestsOnFewSeconds
        | ConfidenceInterval::Undefined => number::measured(value, metric),
    })
}

/// Returns one end of the interval of a value of `metric`.
pub fn end(value: f64, metric: Metric) -> String {
    if metric.is_latency() { metric.about(value) } else { number::words(value, metric) }
}

/// The value of the protocol where a start that flatters is left out of the settled one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flattered {
    /// The value of the protocol, which counts every second.
    pub protocol: f64,
    /// The seconds that the settled value leaves out; `None` for the mean of several steps or repetitions.
    pub seconds: Option<usize>,
    /// Whether they make the value better; by the rule of a test they may not.
    pub is_better: bool,
}

/// Returns the value of the protocol where it differs from that of `headline` by more than the noise between
/// runs, 3 %: less changes no order of drives (definition D17).
pub fn flattered(headline: &Headline) -> Option<Flattered> {
    let (value, protocol) = (headline.value?, headline.protocol?);
    are_apart(value, protocol, NOISE).then(|| by_protocol(headline))?
}

fn by_protocol(headline: &Headline) -> Option<Flattered> {
    let protocol = headline.protocol?;
    let cut = headline.interval.within_run().map(|within| within.cut);
    let is_higher = headline.value.is_some_and(|value| protocol > value);
    let is_better = is_higher == headline.metric.more_is_better();
    (cut != Some(0)).then_some(Flattered { protocol, seconds: cut, is_better })
}

impl Flattered {
    /// Returns the value of the protocol, with what it counts and the settled one does not.
    pub fn words(&self, metric: Metric) -> String {
        let value = number::measured(self.protocol, metric);
        let faster = if self.is_better { "faster " } else { "" };
        let start = match self.seconds {
            Some(seconds) => format!("the {faster}first {seconds}\u{a0}s"),
            None => format!("{faster}starts"),
        };
        format!("{value} with {start}")
    }
}

/// Returns a remark with the value of the protocol, where it is shown as another one than that of
/// `headline`.
pub fn start_left_out(headline: &Headline) -> Option<String> {
    let found = by_protocol(headline)?;
    let shown = |value: f64| number::measured(value, headline.metric);
    let is_other = shown(found.protocol) != shown(headline.value?);
    let faster = if found.is_better { "faster " } else { "" };
    is_other.then(|| format!("{faster}start excluded; {}", found.words(headline.metric)))
}

/// Returns the reason why a number with this interval is not compared with others.
pub fn reason(interval: &ConfidenceInterval) -> Option<&'static str> {
    match interval {
        ConfidenceInterval::StillSettling => {
            Some("still settling: the start is faster than the end")
        }
        ConfidenceInterval::TooFewSeconds => Some("too few full seconds for a 95 % interval"),
        ConfidenceInterval::RestsOnFewSeconds => {
            Some("no 95 % interval: a few seconds make most of σ")
        }
        ConfidenceInterval::Undefined => {
            Some("no 95 % interval: the number is not a mean or percentile of seconds")
        }
        ConfidenceInterval::OfTrials { .. } => {
            Some("two trials of one load disagree, so the result is a range of loads")
        }
        ConfidenceInterval::WithinRun(within) if within.high.is_infinite() => {
            Some("no upper end of the 95 % interval: too few requests beyond it")
        }
        ConfidenceInterval::WithinRun(_)
        | ConfidenceInterval::BetweenRepetitions { .. }
        | ConfidenceInterval::OfCounters { .. } => None,
    }
}

/// Returns the reason why a number that follows from several has no interval: the most fundamental of theirs, in whatever
/// order they are given.
pub(crate) fn reason_of<const N: usize>(
    intervals: [&ConfidenceInterval; N],
) -> Option<&'static str> {
    let with_reason = intervals.into_iter().filter(|one| reason(one).is_some());
    with_reason.min_by_key(|one| one.rank()).and_then(reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdgauge_core::WithinRun;

    #[test]
    fn the_ends_of_a_latency_have_the_unit_of_their_size_and_those_of_a_rate_none() {
        let words = |low, high, metric| {
            let (mean, cut) = ((low + high) / 2.0, 0);
            let within = WithinRun { mean, low, high, cut, n: 60, of_what_was_seen: false };
            super::words(&ConfidenceInterval::WithinRun(within), metric)
        };
        let expected = |text: &str| Some(text.to_owned());
        assert_eq!(words(8_010.0, 8_120.0, Metric::LatP99Us), expected("8.01 to 8.12 ms"));
        assert_eq!(words(950.0, 1_200.0, Metric::LatP99Us), expected("950 µs to 1.20 ms"));
        assert_eq!(words(8_010.0, 8_120.0, Metric::Iops), expected("8,010 to 8,120"));
    }

    #[test]
    fn a_settled_value_is_followed_by_the_one_of_the_protocol_where_they_differ() {
        let headline = |protocol: f64, cut: usize| {
            let (mean, low, high) = (35_300.0, 32_101.0, 38_506.0);
            let within = WithinRun { mean, low, high, cut, n: 20 - cut, of_what_was_seen: false };
            let interval = ConfidenceInterval::WithinRun(within);
            let protocol = Some(protocol).filter(|_| cut > 0);
            Headline { metric: Metric::Iops, value: Some(mean), protocol, n: 20, interval }
        };
        let remark = |protocol, cut| start_left_out(&headline(protocol, cut));
        let words = "faster start excluded; 38,768\u{a0}IOPS with the faster first 3\u{a0}s";
        assert_eq!(remark(38_768.0, 3).as_deref(), Some(words));
        assert_eq!(remark(35_300.0, 0), None);
        assert_eq!(remark(35_300.1, 3), None);
        // A rule that makes less of the start has no better value with it.
        let words = "start excluded; 30,000\u{a0}IOPS with the first 1\u{a0}s";
        assert_eq!(remark(30_000.0, 1).as_deref(), Some(words));
        assert!(flattered(&headline(38_768.0, 3)).is_some());
        assert_eq!(flattered(&headline(35_500.0, 3)), None, "less than 3 %");
    }
}
