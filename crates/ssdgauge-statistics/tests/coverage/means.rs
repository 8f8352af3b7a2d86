//! Coverage and width of the intervals of means.

use super::series::Kind;
use ssdgauge_statistics::Random;
use ssdgauge_statistics::mean_interval::{self, MeanInterval};

/// What the intervals of many series of one kind and length did.
pub(crate) struct Cell {
    /// The number of intervals that were given.
    pub(crate) given: usize,
    /// The share of given intervals that contain the truth.
    pub(crate) coverage: f64,
    /// The median half-width ÷ 1.96 standard errors of the mean.
    pub(crate) width: f64,
    /// The share of series that were found to be settling.
    pub(crate) settling: f64,
    /// The variance of a second ÷ the variance of the mean.
    pub(crate) effective: f64,
}

/// Tries `trials` series of one kind and length.
pub(crate) fn measure(kind: Kind, n: usize, trials: usize) -> Cell {
    let level = kind.level().unwrap_or_else(|| simulated_level(kind));
    let mut random = Random::new(n as u64, 17);
    let (mut held, mut halves) = (0, Vec::with_capacity(trials));
    let (mut of_mean, mut of_second) = (0.0, 0.0);
    for _ in 0..trials {
        let values = kind.series(n, &mut random);
        // After a transient, the second half is as far as the mean can be known.
        let settled = if kind.is_stationary() { &values } else { &values[n / 2..] };
        let mean = settled.iter().sum::<f64>() / settled.len() as f64;
        of_mean += (mean - level).powi(2);
        of_second +=
            settled.iter().map(|value| (value - level).powi(2)).sum::<f64>() / settled.len() as f64;
        match mean_interval::of_mean(&values, true) {
            MeanInterval::Found(found) => {
                held += usize::from((found.mean - level).abs() <= found.half);
                halves.push(found.half);
            }
            MeanInterval::StillSettling => {}
            MeanInterval::TooFewSeconds => unreachable!("every length has an interval"),
        }
    }
    halves.sort_by(f64::total_cmp);
    let ideal = 1.96 * (of_mean / trials as f64).sqrt();
    Cell {
        given: halves.len(),
        coverage: held as f64 / halves.len() as f64,
        width: halves.get(halves.len() / 2).map_or(f64::NAN, |half| half / ideal),
        settling: 1.0 - halves.len() as f64 / trials as f64,
        effective: of_second / of_mean,
    }
}

/// Returns the mean of a kind whose true mean has no simple formula.
fn simulated_level(kind: Kind) -> f64 {
    const SECONDS: usize = 10_000_000;
    let values = kind.series(SECONDS, &mut Random::new(1, 0));
    values.iter().sum::<f64>() / SECONDS as f64
}

impl Cell {
    /// Returns coverage and width; the coverage in brackets where the goals leave the cell out, with
    /// the share of series that are still settling where there are any.
    pub(crate) fn text(&self, kind: Kind, n: usize) -> String {
        let Cell { coverage, width, settling, .. } = self;
        let coverage = format!("{:.1}", 100.0 * coverage);
        let coverage = if self.counts(kind, n) { coverage } else { format!("({coverage})") };
        match *settling >= 0.0005 {
            true => format!("{coverage}, {width:.2}, {:.1} settling", 100.0 * settling),
            false => format!("{coverage}, {width:.2}"),
        }
    }

    /// Returns whether the goal for the coverage counts the cell: stationary series that hold enough
    /// information, and show their rare events often enough.
    fn counts(&self, kind: Kind, n: usize) -> bool {
        kind.is_stationary()
            && n >= 30
            && self.effective >= 8.0
            && n as f64 >= EVENTS * kind.seconds_between_events()
            && !kind.is_beyond_the_method()
    }

    /// Returns the goals that the cell misses, in words.
    pub(crate) fn missed(&self, kind: Kind, n: usize) -> Vec<String> {
        let mut missed = Vec::new();
        let least = if kind == Kind::TimeScales { 0.90 } else { 0.92 };
        if self.counts(kind, n) && self.coverage < least - noise(least, self.given) {
            missed.push(format!(
                "{}, n = {n}: {:.1} % of the intervals hold at an effective size of {:.0}",
                kind.name(),
                100.0 * self.coverage,
                self.effective
            ));
        }
        let narrow = [0.0, 0.5, 0.7, 0.9].map(Kind::Correlated).contains(&kind);
        if narrow && n >= 1_200 && self.width > 1.3 {
            missed.push(format!("{}, n = {n}: width {:.2} × ideal", kind.name(), self.width));
        }
        missed
    }
}

/// Returns two standard errors of a share that was measured in so many trials.
pub(crate) fn noise(share: f64, trials: usize) -> f64 {
    2.0 * (share * (1.0 - share) / trials as f64).sqrt()
}

/// The minimum number of rare events in a series that the goals count. Chosen: with fewer, one series in some
/// hundred shows none at all, and nothing in it says what the others hold.
const EVENTS: f64 = 6.0;
