//! The rate of a closed loop, from the times of its completions.

use ssdgauge_core::Nanos;
use ssdgauge_statistics::{student, summary};

/// Parts of the load whose rates give the interval.
const PARTS: usize = 8;
/// The share of completions at the start and at the end that does not count: the queue fills and drains.
pub(crate) const LEFT_OUT: usize = 10;

/// The requests of a load whose start no longer shows in its rate. Chosen.
const LONG: usize = 1_000;

/// The completions of a closed loop of equal requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Completions {
    /// Bytes of each request.
    pub block: u64,
    /// Requests in flight.
    pub depth: u32,
    /// When each was completed, in any order.
    pub at: Vec<Nanos>,
    /// Share of the processors' time that the host took.
    pub host_load: f64,
}

/// A rate with the half width of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    /// Requests per second.
    pub(crate) per_second: f64,
    /// Half width of the interval of the mean over the parts, in requests per second.
    pub(crate) half: f64,
}

impl Completions {
    /// Returns the rate in 10^6 bytes per second; `None` for too few requests.
    pub fn mb_s(&self) -> Option<f64> {
        Some(self.rate()?.per_second * self.block as f64 / 1e6)
    }

    /// Returns the rate in 10^6 bytes per second; `None` for fewer requests than a ceiling is refuted with: the start of
    /// a short load runs ahead of its rate.
    pub fn long_mb_s(&self) -> Option<f64> {
        self.mb_s().filter(|_| self.at.len() >= LONG)
    }

    /// Returns the requests in a second, as [`Completions::long_mb_s`].
    pub fn long_per_s(&self) -> Option<f64> {
        Some(self.rate()?.per_second).filter(|_| self.at.len() >= LONG)
    }

    /// Returns the rate; `None` for too few requests.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let mut at: Vec<u64> = self.at.iter().map(|at| at.0).collect();
        at.sort_unstable();
        let edge = at.len() / LEFT_OUT;
        let at = at.get(edge..at.len() - edge)?;
        let part = at.len().checked_sub(1)? / PARTS;
        if part < 8 {
            return None;
        }
        let seconds = |from: usize, to: usize| (at[to] - at[from]) as f64 / 1e9;
        let rates: Vec<f64> = (0..PARTS)
            .map(|number| part as f64 / seconds(number * part, (number + 1) * part).max(1e-9))
            .collect();
        let whole = part * PARTS;
        let sigma = summary::sigma(&rates)?;
        let half = student::quantile(PARTS as u32 - 1) * sigma / (PARTS as f64).sqrt();
        Some(Rate { per_second: whole as f64 / seconds(0, whole).max(1e-9), half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_leaves_out_the_start_and_the_end_of_a_load() {
        let mut at: Vec<Nanos> = (0..1_000).map(|i| Nanos(5_000_000 + i * 10_000)).collect();
        at[0] = Nanos(1);
        at[999] = Nanos(900_000_000);
        let rate = Completions { block: 1, depth: 1, at, host_load: 0.0 }.rate().unwrap();
        assert!((rate.per_second - 100_000.0).abs() < 1.0 && rate.half < 1.0, "{rate:?}");
        let few = Completions { block: 1, depth: 1, at: vec![Nanos(1); 60], host_load: 0.0 };
        assert_eq!(few.rate(), None);
    }
}
