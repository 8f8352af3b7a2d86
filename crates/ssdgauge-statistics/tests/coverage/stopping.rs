//! Runs that end when the interval between their repetitions is narrow: how often the interval
//! contains the mean, and after how many repetitions.

use super::series;
use ssdgauge_statistics::repetition::{self, Stopping};
use ssdgauge_statistics::{Random, RepeatUntil};

/// The kinds of repetitions: their distribution, and their correlation from one to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spread {
    /// Normal and independent.
    Normal,
    /// First-order autoregression with this coefficient: neighbours are alike.
    Correlated(f64),
    /// Log-normal with σ = 0.5, shifted and scaled: a skewness of 1.75.
    LogNormal,
    /// Exponential, shifted and scaled: a skewness of 2.
    Exponential,
}

impl Spread {
    /// Returns `n` repetitions with mean 0 and standard deviation 1.
    fn repetitions(self, n: usize, random: &mut Random) -> Vec<f64> {
        match self {
            Spread::Normal => (0..n).map(|_| series::normal(random)).collect(),
            Spread::Correlated(phi) => series::autoregression(phi, n, random),
            Spread::LogNormal => {
                let variance = 0.25f64;
                let mean = (variance / 2.0).exp();
                let sigma = mean * (variance.exp() - 1.0).sqrt();
                let one = |z: f64| ((variance.sqrt() * z).exp() - mean) / sigma;
                (0..n).map(|_| one(series::normal(random))).collect()
            }
            Spread::Exponential => (0..n).map(|_| random.exponential() - 1.0).collect(),
        }
    }
}

/// A rule that ends a run, and the interval that it is reported with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// The minimum and the maximum number of repetitions, and the goal.
    pub(crate) until: RepeatUntil,
    /// The interval.
    pub(crate) stopping: Stopping,
}

/// What many runs of one kind did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// The share of intervals that contain the mean, of all tests of all runs.
    pub(crate) coverage: f64,
    /// The same of the runs with a narrow interval for every test.
    pub(crate) coverage_of_narrow: f64,
    /// The mean number of repetitions.
    pub(crate) repetitions: f64,
    /// The share of runs with a narrow interval for every test.
    pub(crate) narrow: f64,
}

/// Tries `trials` runs of `tests` tests, whose repetitions have a standard deviation of `sigma` goals.
pub(crate) fn measure(
    rule: Rule,
    spread: Spread,
    tests: usize,
    sigma: f64,
    trials: usize,
) -> Outcome {
    let Rule { until, stopping } = rule;
    let most = until.at_most as usize;
    let mut random = Random::new(23, 0);
    let (mut held, mut held_narrow, mut repetitions, mut narrow) = (0, 0, 0, 0);
    for _ in 0..trials {
        let of_test = |random: &mut Random| -> Vec<f64> {
            let noise = spread.repetitions(most, random);
            noise.iter().map(|z| 1.0 + sigma * until.half_width * z).collect()
        };
        let values: Vec<Vec<f64>> = (0..tests).map(|_| of_test(&mut random)).collect();
        let is_narrow = |values: &[f64]| {
            repetition::relative_half_width(values, stopping)
                .is_some_and(|half| half <= until.half_width)
        };
        let all = |n: usize| values.iter().all(|values| is_narrow(&values[..n]));
        let found = (until.at_least as usize..=most).find(|n| all(*n));
        let n = found.unwrap_or(most);
        narrow += u32::from(found.is_some());
        repetitions += n;
        let contains = |values: &&Vec<f64>| {
            repetition::interval(&values[..n], stopping)
                .is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high)
        };
        let contain = values.iter().filter(contains).count();
        held += contain;
        held_narrow += if found.is_some() { contain } else { 0 };
    }
    let trials = trials as f64;
    Outcome {
        coverage: held as f64 / trials / tests as f64,
        coverage_of_narrow: held_narrow as f64 / f64::from(narrow) / tests as f64,
        repetitions: repetitions as f64 / trials,
        narrow: f64::from(narrow) / trials,
    }
}
