//! The 95 % interval of a number, or the reason why there is none.
//!
//! A mean over seconds has the interval of [`ssdgauge_statistics::mean_interval`], a latency percentile
//! that of [`ssdgauge_statistics::percentile_interval`], and a number of several repetitions that of
//! [`ssdgauge_statistics::repetition`]. Intervals of independent steps are combined by
//! the method of variance estimates recovery (MOVER; Zou and Donner 2008).

use ssdgauge_statistics::Estimate;
use ssdgauge_statistics::mean_interval::MeanInterval;

/// The 95 % interval of a number, or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConfidenceInterval {
    /// Over the seconds of one run. It does not cover the change from one run to the next.
    WithinRun(WithinRun),
    /// Between the repetitions of a run, by Student's t.
    BetweenRepetitions {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// From the granules of the counters of a drive: bounds, not 95 %.
    OfCounters {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// From trials of a search that disagree: the highest load that passed every trial, and the highest
    /// that passed one. Bounds, not 95 %.
    OfTrials {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// The first seconds are better than the last ones: there is no mean yet that an interval
    /// could contain.
    StillSettling,
    /// Fewer full seconds than the interval needs.
    TooFewSeconds,
    /// A few seconds make most of a mean ÷ σ: others could make it any other number.
    RestsOnFewSeconds,
    /// The number is not a mean or a percentile over seconds, or was not measured in each second.
    Undefined,
}

/// A 95 % interval over the seconds of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithinRun {
    /// The estimate that the interval belongs to: the mean of the seconds behind the cut, or the
    /// percentile of all requests.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end; infinite where too few requests lie beyond it.
    pub high: f64,
    /// The seconds cut at the start, because they flatter.
    pub cut: usize,
    /// The seconds behind the cut.
    pub n: usize,
    /// True for a percentile over so few seconds that the interval is one of what was seen, see
    /// [`ssdgauge_statistics::percentile_interval::REPRESENTATIVE`].
    pub of_what_was_seen: bool,
}

impl ConfidenceInterval {
    /// Returns both ends where there is an interval with two ends.
    pub fn ends(&self) -> Option<(f64, f64)> {
        match *self {
            ConfidenceInterval::WithinRun(WithinRun { low, high, .. })
            | ConfidenceInterval::BetweenRepetitions { low, high }
            | ConfidenceInterval::OfCounters { low, high }
            | ConfidenceInterval::OfTrials { low, high } => {
                (low.is_finite() && high.is_finite()).then_some((low, high))
            }
            ConfidenceInterval::StillSettling
            | ConfidenceInterval::TooFewSeconds
            | ConfidenceInterval::RestsOnFewSeconds
            | ConfidenceInterval::Undefined => None,
        }
    }

    /// Returns the number that belongs to the interval: `whole`, which counts all samples of a step, or
    /// the mean of the seconds of the interval where a start that flatters is left out, or where a
    /// shorter last second moves `whole` out of the interval.
    pub fn settled(&self, whole: f64) -> f64 {
        match self.within_run() {
            Some(within) if within.cut > 0 || !(within.low <= whole && whole <= within.high) => {
                within.mean
            }
            Some(_) | None => whole,
        }
    }

    /// Returns the interval over the seconds of one run, where it is one.
    pub fn within_run(&self) -> Option<WithinRun> {
        match *self {
            ConfidenceInterval::WithinRun(within) => Some(within),
            ConfidenceInterval::BetweenRepetitions { .. }
            | ConfidenceInterval::OfCounters { .. }
            | ConfidenceInterval::OfTrials { .. }
            | ConfidenceInterval::StillSettling
            | ConfidenceInterval::TooFewSeconds
            | ConfidenceInterval::RestsOnFewSeconds
            | ConfidenceInterval::Undefined => None,
        }
    }

    /// Returns the key of the kind in JSON.
    pub fn key(&self) -> &'static str {
        match self {
            ConfidenceInterval::WithinRun(within) if within.of_what_was_seen => "of-what-was-seen",
            ConfidenceInterval::WithinRun(_) => "within-run",
            ConfidenceInterval::BetweenRepetitions { .. } => "between-repetitions",
            ConfidenceInterval::OfCounters { .. } => "of-counters",
            ConfidenceInterval::OfTrials { .. } => "of-trials",
            ConfidenceInterval::StillSettling => "still-settling",
            ConfidenceInterval::TooFewSeconds => "too-few-seconds",
            ConfidenceInterval::RestsOnFewSeconds => "rests-on-few-seconds",
            ConfidenceInterval::Undefined => "undefined",
        }
    }

    /// Returns the interval of the mean of several numbers from independent steps, by MOVER; one
    /// without an interval leaves the mean without one, for the same reason. Bounds are averaged.
    pub fn of_average(each: &[ConfidenceInterval]) -> ConfidenceInterval {
        if let Some(bounds) = all_of_counters(each) {
            let n = bounds.len() as f64;
            let (low, high): (Vec<f64>, Vec<f64>) = bounds.into_iter().unzip();
            let mean = |ends: Vec<f64>| ends.iter().sum::<f64>() / n;
            return ConfidenceInterval::OfCounters { low: mean(low), high: mean(high) };
        }
        let Some(found) = all_within_run(each) else {
            let missing = each.iter().filter(|one| one.within_run().is_none());
            return missing.min_by_key(|one| one.rank()).copied().unwrap_or(Self::Undefined);
        };
        let k = found.len() as f64;
        let root = |distance: &dyn Fn(&WithinRun) -> f64| {
            found.iter().map(|one| distance(one).powi(2)).sum::<f64>().sqrt() / k
        };
        let mean = found.iter().map(|one| one.mean).sum::<f64>() / k;
        ConfidenceInterval::WithinRun(WithinRun {
            mean,
            low: mean - root(&|one| one.mean - one.low),
            high: mean + root(&|one| one.high - one.mean),
            cut: found.iter().map(|one| one.cut).sum(),
            n: found.iter().map(|one| one.n).sum(),
            of_what_was_seen: found.iter().any(|one| one.of_what_was_seen),
        })
    }

    /// Returns the interval that contains all of `each`, of which the first belongs to the number.
    pub(crate) fn hull(each: &[ConfidenceInterval]) -> ConfidenceInterval {
        match all_within_run(each).as_deref() {
            Some([first, others @ ..]) => ConfidenceInterval::WithinRun(WithinRun {
                low: others.iter().fold(first.low, |low, one| low.min(one.low)),
                high: others.iter().fold(first.high, |high, one| high.max(one.high)),
                ..*first
            }),
            Some([]) | None => Self::of_average(each),
        }
    }

    /// Returns the order of the reasons against an interval, the most fundamental first.
    pub fn rank(&self) -> u8 {
        match self {
            ConfidenceInterval::Undefined => 0,
            ConfidenceInterval::StillSettling => 1,
            ConfidenceInterval::RestsOnFewSeconds => 2,
            ConfidenceInterval::TooFewSeconds => 3,
            ConfidenceInterval::WithinRun(_)
            | ConfidenceInterval::BetweenRepetitions { .. }
            | ConfidenceInterval::OfCounters { .. }
            | ConfidenceInterval::OfTrials { .. } => 4,
        }
    }
}

impl From<MeanInterval> for ConfidenceInterval {
    fn from(interval: MeanInterval) -> ConfidenceInterval {
        match interval {
            MeanInterval::Found(found) => ConfidenceInterval::WithinRun(WithinRun {
                mean: found.mean,
                // What is never below zero has no interval that is.
                low: if found.mean < 0.0 {
                    found.mean - found.half
                } else {
                    (found.mean - found.half).max(0.0)
                },
                high: found.mean + found.half,
                cut: found.cut,
                n: found.n,
                of_what_was_seen: false,
            }),
            MeanInterval::StillSettling => ConfidenceInterval::StillSettling,
            MeanInterval::TooFewSeconds => ConfidenceInterval::TooFewSeconds,
        }
    }
}

/// Returns the intervals where all of `each` are intervals over seconds, and there is one.
fn all_within_run(each: &[ConfidenceInterval]) -> Option<Vec<WithinRun>> {
    let found: Option<Vec<WithinRun>> = each.iter().map(|one| one.within_run()).collect();
    found.filter(|found| !found.is_empty())
}

/// Returns the bounds where all of `each` are those of counters, and there is one.
fn all_of_counters(each: &[ConfidenceInterval]) -> Option<Vec<(f64, f64)>> {
    let bounds = |one: &ConfidenceInterval| match *one {
        ConfidenceInterval::OfCounters { low, high } => Some((low, high)),
        ConfidenceInterval::WithinRun(_)
        | ConfidenceInterval::BetweenRepetitions { .. }
        | ConfidenceInterval::OfTrials { .. }
        | ConfidenceInterval::StillSettling
        | ConfidenceInterval::TooFewSeconds
        | ConfidenceInterval::RestsOnFewSeconds
        | ConfidenceInterval::Undefined => None,
    };
    let found: Option<Vec<_>> = each.iter().map(bounds).collect();
    found.filter(|found| !found.is_empty())
}

/// Returns `b` ÷ `a` with its 95 % interval, both from independent runs ([`Estimate::over`]); `None` where one
/// of them has no two-sided interval above zero. The quotient is calculated from the estimates of
/// the intervals, so the interval contains it.
pub(crate) fn of_ratio(a: ConfidenceInterval, b: ConfidenceInterval) -> Option<Estimate> {
    let side = |one: ConfidenceInterval| {
        let (low, high) = one.ends()?;
        let value = match one {
            // Student's t: the mean lies in the middle.
            ConfidenceInterval::BetweenRepetitions { low, high } => (low + high) / 2.0,
            ConfidenceInterval::WithinRun(_)
            | ConfidenceInterval::OfCounters { .. }
            | ConfidenceInterval::OfTrials { .. }
            | ConfidenceInterval::StillSettling
            | ConfidenceInterval::TooFewSeconds
            | ConfidenceInterval::RestsOnFewSeconds
            | ConfidenceInterval::Undefined => one.within_run()?.mean,
        };
        // A number that may be zero has no ratio, whichever of the two it is.
        (low > 0.0).then_some(Estimate { value, low, high })
    };
    side(b)?.over(side(a)?)
}
