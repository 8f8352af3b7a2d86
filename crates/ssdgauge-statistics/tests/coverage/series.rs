//! Kinds of series of seconds with known means, on which intervals are tried.

use ssdgauge_statistics::Random;

/// The standard deviation of a second as a share of the mean, where a kind has no other.
const NOISE: f64 = 0.05;

/// A kind of series. Its level is 1 in arbitrary units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// First-order autoregression with this coefficient.
    Correlated(f64),
    /// Half of the variance autoregressive, half white.
    CorrelatedAndWhite(f64),
    /// Drops to 0.6 for a tenth of a period of this many seconds (at least one second).
    Periodic(u64),
    /// Drops to 0.6 for 3 s, at distances between 20 and 60 s.
    Jittered,
    /// Log-normal with σ = 1.
    LogNormal,
    /// Log-normal with σ = 1.5.
    LogNormalWide,
    /// Log-normal with σ = 0.7 of an autoregression with coefficient 0.7.
    LogNormalCorrelated,
    /// 2 % of the seconds at a tenth of the level.
    Stalls,
    /// The sum of three autoregressions with coefficients 0.5, 0.9 and 0.99.
    TimeScales,
    /// Fractional noise with memory d = 0.3.
    LongMemory,
    /// The first tenth at four times the level.
    Shift,
    /// Starts at three times the level and decays with a time constant of n ÷ this.
    Settling(f64),
    /// Second-order autoregression that oscillates with a period of about 12 s.
    Oscillating,
    /// Two states, 1 and 0.7, that last 20 s and 5 s in the mean.
    TwoStates,
    /// Moving average over 10 s.
    MovingAverage,
    /// Autoregression with coefficient 0.5 whose shocks have Student's t with 3 degrees of freedom.
    HeavyShocks,
    /// White noise whose volatility changes slowly.
    Volatility,
    /// A saw tooth between 1 and 0.7 whose teeth last between 10 and 40 s.
    SawTooth,
    /// Counts of requests whose rate is autoregressive with coefficient 0.8.
    Counts,
    /// Outages that last 1 to 10 s, heavy-tailed, after 50 s in the mean.
    Outages,
}

/// The kinds on which the method was chosen.
pub(crate) const CHOSEN_ON: [Kind; 17] = [
    Kind::Correlated(0.0),
    Kind::Correlated(0.5),
    Kind::Correlated(0.7),
    Kind::Correlated(0.9),
    Kind::Correlated(0.97),
    Kind::CorrelatedAndWhite(0.9),
    Kind::CorrelatedAndWhite(0.97),
    Kind::Periodic(7),
    Kind::Periodic(40),
    Kind::Jittered,
    Kind::LogNormal,
    Kind::LogNormalWide,
    Kind::LogNormalCorrelated,
    Kind::Stalls,
    Kind::Shift,
    Kind::Settling(20.0),
    Kind::Settling(6.0),
];

/// The kinds that no part of the method was chosen on.
pub(crate) const HELD_OUT: [Kind; 10] = [
    Kind::TimeScales,
    Kind::LongMemory,
    Kind::Oscillating,
    Kind::TwoStates,
    Kind::MovingAverage,
    Kind::HeavyShocks,
    Kind::Volatility,
    Kind::SawTooth,
    Kind::Counts,
    Kind::Outages,
];

impl Kind {
    /// Returns the name in tables.
    pub(crate) fn name(self) -> String {
        match self {
            Kind::Correlated(phi) => format!("AR(1), φ {phi}"),
            Kind::CorrelatedAndWhite(phi) => format!("AR(1), φ {phi}, and white"),
            Kind::Periodic(period) => format!("periodic, {period} s"),
            Kind::Jittered => "periodic, 20 to 60 s".into(),
            Kind::LogNormal => "log-normal".into(),
            Kind::LogNormalWide => "log-normal, σ 1.5".into(),
            Kind::LogNormalCorrelated => "log-normal, φ 0.7".into(),
            Kind::Stalls => "stalls".into(),
            Kind::TimeScales => "three time scales".into(),
            Kind::LongMemory => "long memory, d 0.3".into(),
            Kind::Shift => "shift of the start".into(),
            Kind::Settling(speed) => format!("settling, τ = n/{speed}"),
            Kind::Oscillating => "AR(2), period 12 s".into(),
            Kind::TwoStates => "two states".into(),
            Kind::MovingAverage => "moving average, 10 s".into(),
            Kind::HeavyShocks => "t₃ shocks, φ 0.5".into(),
            Kind::Volatility => "changing volatility".into(),
            Kind::SawTooth => "saw tooth, 10 to 40 s".into(),
            Kind::Counts => "counts, φ 0.8".into(),
            Kind::Outages => "outages".into(),
        }
    }

    /// Returns whether the distribution of all seconds is the same.
    pub(crate) fn is_stationary(self) -> bool {
        !matches!(self, Kind::Shift | Kind::Settling(_))
    }

    /// Returns the mean distance of rare events that carry much of the variance, in seconds; 0 where
    /// there are none.
    pub(crate) fn seconds_between_events(self) -> f64 {
        match self {
            Kind::Periodic(period) => period as f64,
            Kind::Jittered => 40.0,
            Kind::Stalls => 50.0,
            Kind::TwoStates => 25.0,
            Kind::SawTooth => 25.0,
            // One outage in eight lasts 4 s or longer, and these have most of the variance.
            Kind::Outages => 8.0 * 52.0,
            // A tenth of the values holds half of the variance of the log-normal with σ = 1.
            Kind::LogNormal | Kind::LogNormalCorrelated => 10.0,
            // With σ = 1.5 one value in 740 holds half of the mean square.
            Kind::LogNormalWide => 740.0,
            Kind::Correlated(_)
            | Kind::CorrelatedAndWhite(_)
            | Kind::TimeScales
            | Kind::LongMemory
            | Kind::Shift
            | Kind::Settling(_)
            | Kind::Oscillating
            | Kind::MovingAverage
            | Kind::HeavyShocks
            | Kind::Volatility
            | Kind::Counts => 0.0,
        }
    }

    /// Returns whether the correlation has no time scale, which no model of the method has.
    pub(crate) fn is_beyond_the_method(self) -> bool {
        self == Kind::LongMemory
    }

    /// Returns the true mean after any transient; `None` where the caller has to find it by
    /// simulation.
    pub(crate) fn level(self) -> Option<f64> {
        match self {
            Kind::Periodic(period) => Some(1.0 - 0.4 * drop_length(period) as f64 / period as f64),
            // One drop of 3 s in every 40 s, the mean of 20 to 60.
            Kind::Jittered => Some(1.0 - 0.4 * 3.0 / 40.0),
            Kind::Stalls => Some(1.0 - 0.9 * 0.02),
            Kind::TwoStates => Some(1.0 - 0.3 * 5.0 / 25.0),
            Kind::SawTooth | Kind::Outages => None,
            Kind::Correlated(_)
            | Kind::CorrelatedAndWhite(_)
            | Kind::LogNormal
            | Kind::LogNormalWide
            | Kind::LogNormalCorrelated
            | Kind::TimeScales
            | Kind::LongMemory
            | Kind::Shift
            | Kind::Settling(_)
            | Kind::Oscillating
            | Kind::MovingAverage
            | Kind::HeavyShocks
            | Kind::Volatility
            | Kind::Counts => Some(1.0),
        }
    }

    /// Returns a series of `n` seconds.
    pub(crate) fn series(self, n: usize, random: &mut Random) -> Vec<f64> {
        let around = |noise: Vec<f64>| noise.iter().map(|z| 1.0 + NOISE * z).collect();
        match self {
            Kind::Correlated(phi) => around(autoregression(phi, n, random)),
            Kind::CorrelatedAndWhite(phi) => {
                let red = autoregression(phi, n, random);
                around(red.iter().map(|z| 0.5f64.sqrt() * (z + normal(random))).collect())
            }
            Kind::Periodic(period) => {
                let phase = random.below(period);
                let drops = |t: usize| (t as u64 + phase) % period < drop_length(period);
                (0..n).map(|t| if drops(t) { 0.6 } else { 1.0 } + 0.02 * normal(random)).collect()
            }
            Kind::Jittered => {
                levels(n, random, |random| vec![(20 + random.below(41) - 3, 1.0), (3, 0.6)])
            }
            Kind::LogNormal => (0..n).map(|_| (normal(random) - 0.5).exp()).collect(),
            Kind::LogNormalWide => (0..n).map(|_| (1.5 * normal(random) - 1.125).exp()).collect(),
            Kind::LogNormalCorrelated => {
                let red = autoregression(0.7, n, random);
                red.iter().map(|z| (0.7 * z - 0.245).exp()).collect()
            }
            Kind::Stalls => {
                let level = |random: &mut Random| if random.unit() < 0.02 { 0.1 } else { 1.0 };
                (0..n).map(|_| level(random) + 0.02 * normal(random)).collect()
            }
            Kind::Shift => {
                let noise = autoregression(0.5, n, random);
                let level = |t: usize| if t < n / 10 { 4.0 } else { 1.0 };
                noise.iter().enumerate().map(|(t, z)| level(t) + NOISE * z).collect()
            }
            Kind::Settling(speed) => {
                let noise = autoregression(0.5, n, random);
                let level = |t: usize| 1.0 + 2.0 * (-(t as f64) * speed / n as f64).exp();
                noise.iter().enumerate().map(|(t, z)| level(t) + NOISE * z).collect()
            }
            Kind::TimeScales
            | Kind::LongMemory
            | Kind::Oscillating
            | Kind::TwoStates
            | Kind::MovingAverage
            | Kind::HeavyShocks
            | Kind::Volatility
            | Kind::SawTooth
            | Kind::Counts
            | Kind::Outages => self.held_out_series(n, random),
        }
    }

    fn held_out_series(self, n: usize, random: &mut Random) -> Vec<f64> {
        match self {
            Kind::TimeScales => {
                let parts = [0.5, 0.9, 0.99].map(|phi| autoregression(phi, n, random));
                let sum = |t: usize| parts.iter().map(|part| part[t]).sum::<f64>();
                (0..n).map(|t| 1.0 + NOISE / 3f64.sqrt() * sum(t)).collect()
            }
            Kind::LongMemory => {
                fractional(0.3, n, random).iter().map(|z| 1.0 + NOISE * z).collect()
            }
            Kind::Oscillating => {
                // Roots of modulus 0.9 at an angle of 2π/12.
                let (a, b) = (2.0 * 0.9 * (std::f64::consts::PI / 6.0).cos(), -0.81);
                let (mut one, mut two) = (0.0, 0.0);
                let mut next = || {
                    (one, two) = (a * one + b * two + normal(random), one);
                    1.0 + NOISE * 0.4 * one
                };
                for _ in 0..100 {
                    next();
                }
                (0..n).map(|_| next()).collect()
            }
            Kind::TwoStates => {
                let mut fast = random.unit() < 0.8;
                let mut next = || {
                    let leaves = if fast { 1.0 / 20.0 } else { 1.0 / 5.0 };
                    fast ^= random.unit() < leaves;
                    let level = if fast { 1.0 } else { 0.7 };
                    level + 0.02 * normal(random)
                };
                (0..n).map(|_| next()).collect()
            }
            Kind::MovingAverage => {
                let white: Vec<f64> = (0..n + 9).map(|_| normal(random)).collect();
                let mean = |window: &[f64]| window.iter().sum::<f64>() / 10f64.sqrt();
                white.windows(10).map(|window| 1.0 + NOISE * mean(window)).collect()
            }
            Kind::HeavyShocks => {
                heavy_shocks(0.5, n, random).iter().map(|value| 1.0 + NOISE * value).collect()
            }
            Kind::Volatility => {
                let slow = autoregression(0.95, n, random);
                slow.iter().map(|z| 1.0 + NOISE * z.exp() * normal(random)).collect()
            }
            Kind::SawTooth => {
                let (mut length, mut at) = (25u64, random.below(25));
                let mut next = || {
                    if at >= length {
                        (length, at) = (10 + random.below(31), 0);
                    }
                    at += 1;
                    1.0 - 0.3 * (at - 1) as f64 / length as f64 + 0.02 * normal(random)
                };
                for _ in 0..200 {
                    next();
                }
                (0..n).map(|_| next()).collect()
            }
            Kind::Counts => {
                let rates = autoregression(0.8, n, random);
                // Poisson counts with a mean of 400, in their normal approximation.
                let count =
                    |rate: f64, random: &mut Random| rate + (rate / 400.0).sqrt() * normal(random);
                rates.iter().map(|z| count((1.0 + NOISE * z).max(0.1), random)).collect()
            }
            Kind::Outages => levels(n, random, |random| {
                // A Pareto distribution with index 1.5.
                let outage = (1.0 - random.unit()).powf(-1.0 / 1.5).min(10.0) as u64;
                vec![((50.0 * random.exponential()).ceil() as u64, 1.0), (outage, 0.2)]
            }),
            Kind::Correlated(_)
            | Kind::CorrelatedAndWhite(_)
            | Kind::Periodic(_)
            | Kind::Jittered
            | Kind::LogNormal
            | Kind::LogNormalWide
            | Kind::LogNormalCorrelated
            | Kind::Stalls
            | Kind::Shift
            | Kind::Settling(_) => unreachable!("the kinds of the choice have their own series"),
        }
    }
}

fn drop_length(period: u64) -> u64 {
    (period / 10).max(1)
}

/// Returns a normal number with mean 0 and variance 1 (Box and Muller 1958).
pub(crate) fn normal(random: &mut Random) -> f64 {
    let radius = (2.0 * random.exponential()).sqrt();
    radius * (2.0 * std::f64::consts::PI * random.unit()).cos()
}

/// Returns a stationary first-order autoregression with variance 1.
pub(crate) fn autoregression(phi: f64, n: usize, random: &mut Random) -> Vec<f64> {
    let shock = (1.0 - phi * phi).sqrt();
    let mut value = normal(random);
    let mut next = || {
        let now = value;
        value = phi * value + shock * normal(random);
        now
    };
    (0..n).map(|_| next()).collect()
}

/// Returns stretches of equal level in turn, from a random second of the process on.
fn levels(
    n: usize,
    random: &mut Random,
    cycle: impl Fn(&mut Random) -> Vec<(u64, f64)>,
) -> Vec<f64> {
    const WARM_UP: usize = 500;
    let start = WARM_UP + random.below(100) as usize;
    let mut values = Vec::with_capacity(start + n);
    while values.len() < start + n {
        for (length, level) in cycle(random) {
            values.extend((0..length).map(|_| level));
        }
    }
    values[start..start + n].iter().map(|level| level + 0.02 * normal(random)).collect()
}

/// Returns fractional noise (0, d, 0) with variance 1 by its exact recursion (Hosking 1984).
fn fractional(d: f64, n: usize, random: &mut Random) -> Vec<f64> {
    let mut values: Vec<f64> = vec![normal(random)];
    let mut weights: Vec<f64> = Vec::new();
    let mut variance = 1.0;
    for t in 1..n {
        let partial = d / (t as f64 - d);
        let before = weights.clone();
        for (weight, mirrored) in weights.iter_mut().zip(before.iter().rev()) {
            *weight -= partial * mirrored;
        }
        weights.push(partial);
        variance *= 1.0 - partial * partial;
        let mean: f64 = weights.iter().zip(values.iter().rev()).map(|(w, v)| w * v).sum();
        values.push(mean + variance.sqrt() * normal(random));
    }
    values
}

/// Returns a first-order autoregression with the coefficient `phi`, whose shocks have Student's t with 3 degrees of
/// freedom.
pub(crate) fn heavy_shocks(phi: f64, n: usize, random: &mut Random) -> Vec<f64> {
    let mut value = 0.0;
    let mut next = || {
        let squares: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
        value = phi * value + normal(random) / (squares / 3.0).sqrt();
        value
    };
    for _ in 0..50 {
        next();
    }
    (0..n).map(|_| next()).collect()
}
