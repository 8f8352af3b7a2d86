//! Disturbance of drives by each other: phases of one load on a drive alone, and during the same load on
//! other drives.
//!
//! Each pair of phases gives one ratio, so that a drift from pair to pair is in both of its sides. The
//! intervals are those of the mean of the logarithms of these ratios (Student 1908). They hold together with
//! 95 %: each is wider by the number of comparisons (Bonferroni; Dunn 1961), because one of many separate
//! intervals misses its value more often.

use crate::estimate::Verdict;
use crate::{difference, student, summary};
use serde::{Deserialize, Serialize};

/// The minimum number of pairs with a verdict. Chosen: with four, an interval is 3.2 standard errors wide.
pub const FEWEST_PAIRS: usize = 5;
/// The minimum number of requests of a phase whose 99th percentile is compared: ten are beyond it.
pub const FEWEST_FOR_P99: u64 = 1_000;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Requests per second.
    Iops,
    /// The 99th percentile of the latency.
    LatP99,
}

impl Quantity {
    /// Every quantity, in the order of reports.
    pub const ALL: [Quantity; 2] = [Quantity::Iops, Quantity::LatP99];

    /// Returns the name used in JSON, with the unit as suffix.
    pub fn key(self) -> &'static str {
        match self {
            Quantity::Iops => "iops",
            Quantity::LatP99 => "lat_p99_us",
        }
    }

    /// Returns the name used in texts.
    pub fn title(self) -> &'static str {
        match self {
            Quantity::Iops => "IOPS",
            Quantity::LatP99 => "p99",
        }
    }

    /// Returns the largest loss that counts as none, as a share. Chosen: the noise
    /// between runs; percentiles of short phases differ by more.
    pub fn limit(self) -> f64 {
        match self {
            Quantity::Iops => difference::NOISE,
            Quantity::LatP99 => 0.10,
        }
    }
}

/// The figures of one phase of one drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseFigures {
    /// Requests per second.
    pub iops: f64,
    /// The 99th percentile of the latency in microseconds; `None` for fewer than 1,000 requests.
    pub lat_p99_us: Option<f64>,
}

impl PhaseFigures {
    fn value(&self, quantity: Quantity) -> Option<f64> {
        let value = match quantity {
            Quantity::Iops => Some(self.iops),
            Quantity::LatP99 => self.lat_p99_us,
        };
        value.filter(|value| *value > 0.0 && value.is_finite())
    }
}

/// One load on one drive: a phase alone, and one with the other drives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhasePair {
    /// Without load on the other drives.
    pub alone: PhaseFigures,
    /// With the same load on the other drives.
    pub together: PhaseFigures,
}

/// Whether a drive loses by the load on others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// The interval contains no loss beyond the limit.
    NotFound,
    /// The interval reaches beyond the limit, and no loss beyond it is shown, or there are too few phases.
    NotDecided,
    /// The loss is beyond the limit, and the interval contains losses only.
    Found,
}

impl Disturbance {
    /// Returns the word used in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Disturbance::NotFound => "not found",
            Disturbance::NotDecided => "not decided",
            Disturbance::Found => "found",
        }
    }
}

/// The change of one quantity from alone to together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// What changed.
    pub quantity: Quantity,
    /// The geometric mean of the phases alone.
    pub alone: f64,
    /// The geometric mean of the phases during which the others are active.
    pub together: f64,
    /// The value with the other drives ÷ that without them, less one.
    pub change: f64,
    /// The ends of the interval of the change.
    pub interval: (f64, f64),
    /// The verdict.
    pub disturbance: Disturbance,
}

impl Change {
    /// Returns the largest loss that the interval contains, as a share; 0 where it contains none.
    pub fn largest_loss(&self) -> f64 {
        let (low, high) = self.interval;
        let largest = match self.quantity {
            Quantity::Iops => -low,
            Quantity::LatP99 => high,
        };
        largest.max(0.0)
    }
}

/// Returns the number of changes that [`changes`] finds in `pairs`: the quantities that all phases have.
pub fn count(pairs: &[PhasePair]) -> usize {
    Quantity::ALL.into_iter().filter(|quantity| ratios(pairs, *quantity).is_some()).count()
}

/// Returns the change of each quantity that all phases of `pairs` have, with intervals that hold together with
/// 95 % for `comparisons` of them. Empty with fewer than [`FEWEST_PAIRS`].
pub fn changes(pairs: &[PhasePair], comparisons: usize) -> Vec<Change> {
    Quantity::ALL.into_iter().filter_map(|quantity| change(pairs, quantity, comparisons)).collect()
}

/// Returns the verdict on a drive: that of the change with the largest disturbance; not decided without any.
pub fn verdict(changes: &[Change]) -> Disturbance {
    let worst = changes.iter().map(|change| change.disturbance).max();
    worst.unwrap_or(Disturbance::NotDecided)
}

fn change(pairs: &[PhasePair], quantity: Quantity, comparisons: usize) -> Option<Change> {
    let logs = ratios(pairs, quantity)?;
    let mean = summary::mean(&logs)?;
    let degrees = logs.len() as u32 - 1;
    let outside = 0.05 / comparisons.max(1) as f64;
    let error = summary::sigma(&logs)? / (logs.len() as f64).sqrt();
    let half = student::quantile_beyond(outside, degrees) * error;
    let share = |log: f64| log.exp_m1();
    let side = |of: fn(&PhasePair) -> &PhaseFigures| {
        let logs: Option<Vec<f64>> =
            pairs.iter().map(|pair| Some(of(pair).value(quantity)?.ln())).collect();
        summary::mean(&logs?).map(f64::exp)
    };
    let mut change = Change {
        quantity,
        alone: side(|pair| &pair.alone)?,
        together: side(|pair| &pair.together)?,
        change: share(mean),
        interval: (share(mean - half), share(mean + half)),
        disturbance: Disturbance::NotDecided,
    };
    let interval = (1.0 + change.interval.0, 1.0 + change.interval.1);
    let more_is_better = quantity == Quantity::Iops;
    let ratio = 1.0 + change.change;
    change.disturbance =
        match difference::keeps_to(ratio, interval, more_is_better, quantity.limit()) {
            Verdict::Holds => Disturbance::NotFound,
            Verdict::Fails => Disturbance::Found,
            Verdict::NotDecided => Disturbance::NotDecided,
        };
    Some(change)
}

/// Returns the logarithms of together ÷ alone; `None` where a phase has no value, or there are too few.
fn ratios(pairs: &[PhasePair], quantity: Quantity) -> Option<Vec<f64>> {
    let ratio = |pair: &PhasePair| {
        Some((pair.together.value(quantity)? / pair.alone.value(quantity)?).ln())
    };
    let ratios: Option<Vec<f64>> = pairs.iter().map(ratio).collect();
    // A phase without a value drops the quantity, not its pair: pairs that lack their slowest phases would
    // look undisturbed.
    ratios.filter(|ratios| ratios.len() >= FEWEST_PAIRS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns pairs with these ratios of IOPS, alternately above and below by the share `noise`.
    fn pairs(n: usize, ratio: f64, noise: f64, p99: Option<f64>) -> Vec<PhasePair> {
        let pair = |k: usize| {
            let iops = 1_000.0 * (1.0 + k as f64);
            let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
            PhasePair {
                alone: PhaseFigures { iops, lat_p99_us: p99 },
                together: PhaseFigures {
                    iops: iops * ratio * (1.0 + sign * noise),
                    lat_p99_us: p99,
                },
            }
        };
        (0..n).map(pair).collect()
    }

    #[track_caller]
    fn check(ratio: f64, noise: f64, expected: Disturbance) {
        let changes = changes(&pairs(10, ratio, noise, None), 4);
        assert_eq!(changes.len(), 1, "no percentile without enough requests");
        assert_eq!(changes[0].disturbance, expected, "{changes:?}");
        let (low, high) = changes[0].interval;
        assert!(low <= changes[0].change && changes[0].change <= high);
        assert_eq!(verdict(&changes), expected);
    }

    #[test]
    fn every_verdict_follows_from_the_interval_of_the_loss() {
        use Disturbance::{Found, NotDecided, NotFound};
        check(1.0, 0.001, NotFound);
        check(0.98, 0.001, NotFound);
        check(0.5, 0.01, Found);
        check(0.96, 0.001, Found);
        // A loss within the limit whose interval reaches beyond it, as for a gate of `compare`.
        check(0.975, 0.006, NotDecided);
        check(1.0, 0.2, NotDecided);
        check(0.9, 0.2, NotDecided);
        // Faster with others is not a loss.
        check(1.5, 0.01, NotFound);
    }

    #[test]
    fn a_rate_that_differs_from_pair_to_pair_is_not_noise_of_the_change() {
        let changes = changes(&pairs(10, 0.5, 0.0, None), 1);
        let (low, high) = changes[0].interval;
        assert!((low + 0.5).abs() < 1e-9 && (high + 0.5).abs() < 1e-9, "{changes:?}");
        assert!((changes[0].largest_loss() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_longer_tail_is_a_loss_and_the_worst_change_decides() {
        let mut pairs = pairs(8, 1.0, 0.001, Some(100.0));
        assert_eq!(count(&pairs), 2);
        assert_eq!(verdict(&changes(&pairs, 2)), Disturbance::NotFound);
        pairs.iter_mut().for_each(|pair| pair.together.lat_p99_us = Some(130.0));
        let changes = changes(&pairs, 2);
        assert_eq!(changes[1].disturbance, Disturbance::Found);
        assert_eq!(verdict(&changes), Disturbance::Found);
    }

    #[test]
    fn too_few_pairs_and_silent_phases_decide_nothing() {
        assert!(changes(&pairs(FEWEST_PAIRS - 1, 0.5, 0.0, None), 1).is_empty());
        let mut silent = pairs(10, 1.0, 0.0, None);
        silent[3].together.iops = 0.0;
        assert!(changes(&silent, 1).is_empty());
        assert_eq!((count(&silent), verdict(&[])), (0, Disturbance::NotDecided));
    }

    #[test]
    fn in_nineteen_of_twenty_checks_all_intervals_contain_their_change() {
        let mut random = Random::new(5, 1);
        let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        // Eight changes of 10 pairs, of which each has a true ratio of 0.9.
        let mut one = || {
            let ratio = |noise: f64| PhasePair {
                alone: PhaseFigures { iops: 100.0, lat_p99_us: None },
                together: PhaseFigures { iops: 90.0 * (0.05 * noise).exp(), lat_p99_us: None },
            };
            let pairs: Vec<PhasePair> = (0..10).map(|_| ratio(normal())).collect();
            let (low, high) = changes(&pairs, 8)[0].interval;
            low <= -0.1 && -0.1 <= high
        };
        let held = (0..1_000).filter(|_| (0..8).all(|_| one())).count();
        assert!((930..=985).contains(&held), "{held} of 1000");
    }
}
