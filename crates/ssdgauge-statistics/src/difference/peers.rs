//! Peers as the reference: whether a number stands out among many.

use crate::difference::{Outcome, are_apart, judge_by_range};
use crate::summary::quantile;

/// A number stands out beyond the quartiles by more than this many times their distance: the outer
/// fence of Tukey (1977), of the logarithms.
const FENCE: f64 = 3.0;

/// The numbers of many drives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peers {
    /// Their median.
    pub median: f64,
    /// The outer fence.
    fence: (f64, f64),
}

impl Peers {
    /// Returns the reference that `sorted` numbers are; `None` where a quarter of them or more is not above
    /// zero.
    pub fn new(sorted: &[f64]) -> Option<Peers> {
        // By logarithms, half of the median is as far from it as twice. That of zero is −∞, which makes the
        // lower quartile infinite where a quarter of the numbers is zero.
        let logarithms: Vec<f64> = sorted.iter().map(|value| value.max(0.0).ln()).collect();
        let [low, high] = [0.25, 0.75].map(|share| quantile(&logarithms, share));
        let (low, high) = (low.filter(|low| low.is_finite())?, high?);
        let reach = FENCE * (high - low);
        Some(Peers {
            median: quantile(sorted, 0.5)?,
            fence: ((low - reach).exp(), (high + reach).exp()),
        })
    }

    /// Judges `value`: it stands out where it is beyond the fence, and beyond the `margin` from the median,
    /// a share.
    pub fn judge(&self, value: f64, margin: f64) -> Outcome {
        // The fence of nearly equal drives lies within the noise.
        match are_apart(value, self.median, margin) {
            true => judge_by_range(value, self.fence, 0.0),
            false => Outcome::Equal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::NOISE;

    #[test]
    fn a_value_stands_out_beyond_the_fence_and_beyond_the_noise() {
        let sorted: Vec<f64> = (0..100).map(|number| 100.0 + 0.01 * f64::from(number)).collect();
        let peers = Peers::new(&sorted).unwrap();
        for (value, expected) in [
            (100.5, Outcome::Equal),
            (103.0, Outcome::Equal),
            (104.0, Outcome::Higher),
            (50.0, Outcome::Lower),
            (0.0, Outcome::Lower),
        ] {
            assert_eq!(peers.judge(value, NOISE), expected, "{value}");
        }
        assert_eq!(Peers::new(&[0.0, 0.0, 1.0, 2.0]), None);
        assert_eq!(Peers::new(&[]), None);
    }
}
