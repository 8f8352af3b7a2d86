//! Mean ÷ σ: how often its interval contains the truth, and how often it is refused. Trends within a
//! step: how often they are found.

use super::series::{Kind, autoregression, heavy_shocks, normal};
use ssdgauge_statistics::Random;
use ssdgauge_statistics::mean_interval::{self, MeanInterval};
use ssdgauge_statistics::mean_over_sigma::{self, MeanOverSigma};
use ssdgauge_statistics::trend::{self, Trend};

/// The standard deviation of a second as a share of the mean, where a spread has no other.
const NOISE: f64 = 0.05;

/// A kind of series whose mean ÷ σ follows from a formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spread {
    /// First-order autoregression with this coefficient.
    Correlated(f64),
    /// Two states, 1 and 0.7, that last 20 s and 5 s in the mean.
    TwoStates,
    /// Log-normal with this σ.
    LogNormal(f64),
    /// 2 % of the seconds at this share of the level.
    Rare(f64),
    /// First-order autoregression with this coefficient, whose shocks have Student's t with 3 degrees of freedom.
    HeavyShocks(f64),
    /// A saw tooth between 1 and 0.7 of this period.
    SawTooth(usize),
    /// A saw tooth with three teeth.
    ThreeTeeth,
}

/// The rows of the table, in its order.
pub(crate) const SPREADS: [Spread; 15] = [
    Spread::Correlated(0.0),
    Spread::Correlated(0.5),
    Spread::Correlated(0.9),
    Spread::Correlated(0.98),
    Spread::TwoStates,
    Spread::LogNormal(0.5),
    Spread::LogNormal(0.7),
    Spread::LogNormal(1.0),
    Spread::LogNormal(1.5),
    Spread::HeavyShocks(0.0),
    Spread::HeavyShocks(0.5),
    Spread::Rare(0.2),
    Spread::Rare(0.5),
    Spread::SawTooth(20),
    Spread::ThreeTeeth,
];

impl Spread {
    /// Returns the name in the table.
    pub(crate) fn name(self) -> String {
        match self {
            Spread::Correlated(phi) => format!("AR(1), φ {phi}"),
            Spread::TwoStates => "two states".into(),
            Spread::LogNormal(sigma) => format!("log-normal, σ {sigma}"),
            Spread::HeavyShocks(phi) => format!("t₃ shocks, φ {phi}"),
            Spread::Rare(level) => format!("2 % of the seconds at {level}"),
            Spread::SawTooth(period) => format!("saw tooth, {period} s"),
            Spread::ThreeTeeth => "saw tooth, n ÷ 3".into(),
        }
    }

    fn series(self, n: usize, random: &mut Random) -> Vec<f64> {
        match self {
            Spread::Correlated(phi) => {
                autoregression(phi, n, random).iter().map(|z| 1.0 + NOISE * z).collect()
            }
            Spread::TwoStates => Kind::TwoStates.series(n, random),
            Spread::LogNormal(sigma) => (0..n).map(|_| (sigma * normal(random)).exp()).collect(),
            Spread::HeavyShocks(phi) => {
                heavy_shocks(phi, n, random).iter().map(|z| 1.0 + NOISE * z).collect()
            }
            Spread::Rare(level) => {
                let one = |random: &mut Random| if random.unit() < 0.02 { level } else { 1.0 };
                (0..n).map(|_| one(random) * (1.0 + NOISE * normal(random))).collect()
            }
            Spread::SawTooth(period) => {
                let start = random.below(period as u64) as usize;
                let tooth = |at: usize| ((at + start) % period) as f64 / period as f64;
                (0..n).map(|at| 1.0 - 0.3 * tooth(at) + 0.02 * normal(random)).collect()
            }
            Spread::ThreeTeeth => Spread::SawTooth(n / 3).series(n, random),
        }
    }

    /// Returns mean ÷ σ of all series of `n` seconds.
    fn truth(self, n: usize) -> f64 {
        let of = |mean: f64, square: f64| mean / (square - mean * mean).sqrt();
        match self {
            Spread::Correlated(_) => 1.0 / NOISE,
            // Shocks have the variance 3.
            Spread::HeavyShocks(phi) => (1.0 - phi * phi).sqrt() / (3f64.sqrt() * NOISE),
            Spread::TwoStates => of(0.94, 0.8 + 0.2 * 0.49 + 0.02 * 0.02),
            Spread::LogNormal(sigma) => 1.0 / (sigma * sigma).exp_m1().sqrt(),
            Spread::Rare(level) => {
                of(0.98 + 0.02 * level, (1.0 + NOISE * NOISE) * (0.98 + 0.02 * level * level))
            }
            Spread::SawTooth(period) => {
                let level = |at: usize| 1.0 - 0.3 * at as f64 / period as f64;
                let mean = |power: i32| {
                    (0..period).map(|at| level(at).powi(power)).sum::<f64>() / period as f64
                };
                of(mean(1), mean(2) + 0.02 * 0.02)
            }
            Spread::ThreeTeeth => Spread::SawTooth(n / 3).truth(n),
        }
    }
}

/// What the intervals of many series did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// The share of series without an interval.
    pub(crate) refused: f64,
    /// The share of series whose interval does not contain the truth.
    pub(crate) wrong: f64,
    /// The median of upper end ÷ lower end.
    pub(crate) width: f64,
}

/// Tries `trials` series of `n` seconds.
pub(crate) fn measure(spread: Spread, n: usize, trials: usize) -> Outcome {
    let truth = spread.truth(n);
    let mut random = Random::new(n as u64, 29);
    let (mut refused, mut wrong, mut widths) = (0, 0, Vec::new());
    for _ in 0..trials {
        match mean_over_sigma::interval(&spread.series(n, &mut random)) {
            MeanOverSigma::Found { low, high, .. } => {
                wrong += usize::from(truth < low || high < truth);
                widths.push(high / low);
            }
            MeanOverSigma::TooFewSeconds
            | MeanOverSigma::RestsOnFewSeconds
            | MeanOverSigma::Undefined => refused += 1,
        }
    }
    widths.sort_by(f64::total_cmp);
    let share = |count: usize| count as f64 / trials as f64;
    let width = widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN);
    Outcome { refused: share(refused), wrong: share(wrong), width }
}

impl Outcome {
    /// Returns the share of right intervals among those that are given, in percent, the share of
    /// refusals, and the width.
    pub(crate) fn text(&self) -> String {
        let refused = format!("{:.1} refused", 100.0 * self.refused);
        if self.refused > 0.995 {
            return refused;
        }
        let right = 100.0 * (1.0 - self.wrong / (1.0 - self.refused));
        let width = self.width;
        match self.refused < 0.0005 {
            true => format!("{right:.1}, {width:.2}"),
            false => format!("{right:.1}, {width:.2}, {refused}"),
        }
    }
}

/// What is added to the seconds of an autoregression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Added {
    /// Nothing: what is found is a false alarm.
    Nothing,
    /// A drift of −10 %, from the first second to the last.
    Drift,
    /// A shift of −10 % after three quarters.
    Shift,
}

/// Returns the share of `trials` series of `n` seconds in which a trend is found after the cut: drifts, shifts.
pub(crate) fn trends(added: Added, phi: f64, n: usize, trials: usize) -> (f64, f64) {
    let mut random = Random::new(n as u64, 31);
    let (mut drifts, mut shifts) = (0, 0);
    for _ in 0..trials {
        let noise = autoregression(phi, n, &mut random);
        let more = |at: usize| match added {
            Added::Nothing => 0.0,
            Added::Drift => -0.1 * at as f64 / n as f64,
            Added::Shift => {
                if at < 3 * n / 4 {
                    0.0
                } else {
                    -0.1
                }
            }
        };
        let values: Vec<f64> =
            noise.iter().enumerate().map(|(at, z)| 1.0 + NOISE * z + more(at)).collect();
        let cut = match mean_interval::of_mean(&values, true) {
            MeanInterval::Found(found) => found.cut,
            MeanInterval::StillSettling | MeanInterval::TooFewSeconds => 0,
        };
        match trend::find(&values[cut..]) {
            Some(Trend::Drift { .. }) => drifts += 1,
            Some(Trend::Shift { .. }) => shifts += 1,
            None => {}
        }
    }
    (f64::from(drifts) / trials as f64, f64::from(shifts) / trials as f64)
}
